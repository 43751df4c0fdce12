"""What a format is: it can tell its own files, read them into the neutral form, and perhaps write them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from annotators.errors import AssayError, InvalidInput
from annotators.figures import count, some
from annotators.items.parsed import ForeignFinalLabel, ForeignLabel, Reading, Rejected, items_in
from annotators.items.targets import target_kind
from annotators.registry import Registry
from exports.checks import check_there
from exports.formats._described import described, describing
from exports.formats._key import is_of_key
from exports.reading.archives import is_archive
from exports.reading.encodings import encoding_of
from exports.reading.json_files import Meter
from exports.reading.records import has_rows
from exports.reading.sources import SourceFile, Sources, open_sources
from exports.reading.tables import heading_of, named_table

if TYPE_CHECKING:
    from annotators.protocols import Protocol as AskedProtocol


class FileReading(Reading, Protocol):
    """The files of one source, as a format reads them."""

    @property
    def meter(self) -> Meter:
        """How far the stream of items has come."""


class Misnamed(str):
    """Why a file is not one of a format's, which its name says already. No such clause tells what is wrong inside."""

    __slots__ = ()


class Format(Protocol):
    """One format. Its reader, and its writer if it has one, share its file.

    `title` and `help` are for people: what it is called and what it takes.
    """

    name: str
    title: str
    help: str

    def refusal(self, file: SourceFile) -> str | None:
        """Why the file is not one of this format's, in a clause; None if it looks like one.

        From its name and first bytes only. Where the name alone says so the clause is `Misnamed`.
        """

    def read(self, sources: Sources) -> FileReading:
        """The sources as documents and items; InvalidInput when there is nothing of this format in them."""


Columns = Mapping[str, Sequence[str]]
"""Field → the columns that it is read from; none where it is read from no column."""


@runtime_checkable
class MappedFormat(Protocol):
    """A format whose columns can be said to be fields."""

    def read_mapped(self, sources: Sources, mapping: Columns) -> FileReading:
        """As `Format.read`, with these columns for fields; InvalidInput for a field or column that is none."""


@runtime_checkable
class MappedReading(Protocol):
    """A reading whose items were made of columns: `columns` says which, `headings` are all that there are."""

    columns: dict[str, list[str]]
    headings: list[str]


@runtime_checkable
class LabelledFormat(Protocol):
    """A format whose files can hold what people said of the items; its readings have that beside each item."""

    name: str

    def label_protocol(self) -> AskedProtocol | None:
        """What a study asks that is made for these labels; None where that differs from file to file."""


@runtime_checkable
class LabelledReading(Protocol):
    """A reading that says itself what was asked, because that stands in its files."""

    def label_protocol(self) -> AskedProtocol | None:
        """What a study asks that is made for the labels of these files; None where the files do not say."""


@runtime_checkable
class SettledReading(Protocol):
    """A reading whose files may have final labels beside those of annotators. Asked when its items have been read."""

    def final_labels(self) -> Sequence[ForeignFinalLabel]:
        """Of each unit the final label, or that it is open; none where the files do not say."""


def final_labels_in(reading: FileReading) -> Sequence[ForeignFinalLabel]:
    """The final labels that stand beside those of annotators in the files of a reading, whose items have been read."""
    return reading.final_labels() if isinstance(reading, SettledReading) else ()


def protocol_of_labels(reading: FileReading) -> AskedProtocol | None:
    """What a study asks that is made for the labels of a reading; None where neither files nor format say."""
    if isinstance(reading, LabelledReading):
        return reading.label_protocol()
    found = FORMATS.get(reading.format)
    return found.label_protocol() if isinstance(found, LabelledFormat) else None


def labels_of(reading: FileReading) -> Iterator[ForeignLabel]:
    """The labels of people in the items of a reading."""
    for row in items_in(reading):
        if not isinstance(row, Rejected):
            yield from row.labels


def inferred(labels: Iterable[ForeignLabel]) -> AskedProtocol:
    """A protocol that labels fit of which nothing else is known; InvalidInput where there are none."""
    from annotators.asking.inferred_protocols import LabelColumn, infer_protocol  # noqa: PLC0415 - loads pydantic

    values: dict[str, dict[str, None]] = {}
    targets: dict[str, str] = {}
    for label in labels:
        values.setdefault(label.criterion, {})[label.value] = None
        targets.setdefault(label.criterion, label.target)
    columns = [
        LabelColumn(name, list(given), target=target_kind(targets[name]), per_hop="|hop:" in targets[name])
        for name, given in values.items()
    ]
    return infer_protocol("imported labels", columns)


LOST = "Lost: "
"""How a note of a reading begins that names something of the files which cannot come in."""

NAME_A_STUDY = "They become labels of a study where one is named for them."
"""What the notes of a reading say of labels that come in with the items."""

DOCUMENTS_ALONE = "native"
"""The format that takes documents which come without items: they are documents in every format."""

TABLES = "table"
"""The format whose files may lie beside those of any other, which then takes all of them."""

_SHOWN = 5

FORMATS: Registry[Format] = Registry("format", "exports.formats")
"""All formats that items are imported from, by name."""


def read_sources(sources: Sources, format_name: str | None, mapping: Columns | None = None) -> FileReading:
    """The sources as the format of this name reads them, or (None) the one that recognises them.

    With a mapping of columns that is a table, unless another format with columns is named, or recognises them. Raises
    NotFound for an unknown format and InvalidInput where nothing can be read.
    """
    if mapping:
        with suppress(InvalidInput):
            found = None if format_name else recognise(sources)
            format_name = found.name if isinstance(found, MappedFormat) else format_name
        return _mapped(format_name).read_mapped(sources, mapping)
    return (FORMATS.get(format_name) if format_name else recognise(sources)).read(sources)


def _mapped(format_name: str | None) -> MappedFormat:
    found = FORMATS.get(format_name or TABLES)
    if not isinstance(found, MappedFormat):
        raise InvalidInput(f"{found.name} has no columns to map. Leave --map out, or take --format {TABLES}.")
    return found


def labelled_format(name: str) -> LabelledFormat:
    """The format of this name; InvalidInput for one whose files hold no labels of people."""
    found = FORMATS.get(name)
    if not isinstance(found, LabelledFormat):
        raise InvalidInput(
            f"Files of the format {name} hold no labels of people; those of {labelled_formats()} do. Import the items "
            "without a study for their labels, or the labels as a table (`assay labels import`)."
        )
    return found


def labelled_formats() -> str:
    """The formats whose files can hold labels of people, in words."""
    return _words([format_.name for format_ in FORMATS if isinstance(format_, LabelledFormat)])


def check_files(
    paths: Sequence[Path | str], format_name: str | None, mapping: Columns | None = None, *, labels: bool = False
) -> None:
    """NotFound or InvalidInput for paths where nothing is, an unknown format, and plain files that no format takes.

    With `labels` also for a format whose files hold none.

    What is in folders and archives is left to the import, which looks at all of it.
    """
    check_there(paths)
    if mapping:
        _mapped(format_name)
    elif format_name:
        (labelled_format if labels else FORMATS.get)(format_name)
    elif paths and all(Path(path).is_file() and not is_archive(Path(path)) for path in paths):
        with open_sources(paths) as sources:
            found = recognise(sources).name
        if labels:
            labelled_format(found)


def recognise(sources: Sources) -> Format:
    """The one format that takes some of these files; InvalidInput when there is none, or more than one.

    Documents that come alone, or with the rows that describe them, are taken by the native format, and tables that lie
    beside files of another format are none of its. A format whose config names the files of its data
    (`names_its_data`) takes them, whatever they look like. One that does so for any data takes them from the formats of
    its `takes_over` alone: a benchmark that was downloaded with its card is read as that benchmark. The key of a folder
    has whole items, and is the other files' of the folder. Where no format takes a file, each says why.
    """
    looked_at = [file for file in sources.files if is_of_key(file) is None] or sources.files
    found = [format_ for format_ in FORMATS if any(format_.refusal(file) is None for file in looked_at)]
    if len(found) > 1:
        found = _first_among(found)
    if len(found) == 1:
        return found[0]
    if not found:
        rows = describing(sources)
        documents = {file.path for _, file in sources.loose_documents()} | (described(sources).named if rows else set())
        others = [file for file in looked_at if file.path not in documents]
        if (documents or rows) and all(file in rows and b'"key"' in file.head() for file in others):
            return FORMATS.get(DOCUMENTS_ALONE)
        raise InvalidInput(_refused(sources.description, others))
    names = _words([format_.name for format_ in found])
    raise InvalidInput(
        f"{sources.description}: {names} {'both' if len(found) == 2 else 'all'} recognise these files. "
        "Say which with --format."
    )


def passed_over(reading: FileReading) -> list[str]:
    """A sentence on tables of items that lie beside the files of another format, which does not read them; or none."""
    sources, read = getattr(reading, "sources", None), {file.name for file in getattr(reading, "files", ())}
    known = FORMATS.get(reading.format)
    if sources is None or known.name == TABLES or getattr(known, "names_its_data", False):
        return []
    tables = FORMATS.get(TABLES)
    names = [file.name for file in sources.files if file.name not in read and tables.refusal(file) is None]
    if not names:
        return []
    return [f"Not read, as files of {reading.format} lie beside: {some(names, 5)}. Import tables by themselves."]


def said_of_encodings(reading: FileReading) -> list[str]:
    """A sentence on each text file of a reading that is not in UTF-8; tables say it themselves."""
    files = getattr(reading, "files", ())
    notes = (
        encoding_of(file.path).note(file.name)
        for file in files
        if reading.format != TABLES and file.basename.endswith((".json", ".jsonl"))
    )
    return [note for note in notes if note]


def decided_and_left_out(reading: FileReading) -> list[str]:
    """A sentence on final labels that adjudicators decided, which an import leaves out; or none.

    It is of the files that are read, whose items have been, else of tables of final labels beside them.
    """
    n = sum(final.how == _DECIDED for final in final_labels_in(reading))
    found = [_decided(n, "")] if n else []
    return found or decided_in_tables(reading)


def decided_in_tables(reading: FileReading) -> list[str]:
    """A sentence on each table of final labels beside the files of a reading in which adjudicators decided some."""
    sources, read = getattr(reading, "sources", None), {file.name for file in getattr(reading, "files", ())}
    there = [] if sources is None else [file for file in sources.files if file.name not in read]
    tables = [file for file in there if file.basename.endswith((".csv", ".tsv"))]
    counted = [(file.name, _decided_in(file)) for file in tables if set(_OF_FINAL) <= set(heading_of(file.head()))]
    return [_decided(n, f" in {name}") for name, n in counted if n]


def _decided_in(file: SourceFile) -> int:
    """How many rows of a table adjudicators decided; none of one that cannot be read, as nothing is read of it."""
    try:
        table = named_table(file.path)
        place = table.columns.index("how")
        return sum(not isinstance(cells, str) and cells[place] == _DECIDED for _, cells in table.rows)
    except (AssayError, ValueError):
        return 0


_DECIDED = "adjudicated"
_OF_FINAL = ("item", "criterion", "target", "label", "how")
"""Columns by which a table of final labels is known (`adjudicated.csv` of an export)."""


def _decided(n: int, where: str) -> str:
    return f"{LOST}{count(n, 'final label')}{where} that adjudicators decided: only labels of annotators are taken."


def _first_among(found: Sequence[Format]) -> list[Format]:
    """Of formats that all take some of the files those that come before the others."""
    named = [format_ for format_ in found if getattr(format_, "names_its_data", False)]
    if named:
        return named
    left = [format_ for format_ in found if format_.name != TABLES]
    for format_ in left:
        over: Collection[str] = getattr(format_, "takes_over", ())
        if over:
            others = [other for other in left if other is not format_]
            return others if any(other.name not in over for other in others) else [format_]
    return left


def _refused(description: str, files: Sequence[SourceFile]) -> str:
    """Why no format takes these files, of each file the reasons that there are."""
    if not files:
        return f"{description}: there is no file in it. Name the files or the folder that holds them."
    if not any(file.beginning() for file in files):
        return f"{description}: {'the file is' if len(files) == 1 else 'all files are'} empty. Choose another."
    lines = [f"{description}: no format recognises these files. Why each refused them:"]
    for file in files[:_SHOWN]:
        lines += _reasons(file)
    if len(files) > _SHOWN:
        lines.append(f"… and {len(files) - _SHOWN:,} more files")
    if all(has_rows(file) for file in files):
        lines.append(
            "Rows of JSON are a table, too: say which field is the question with --map question=FIELD, or choose the "
            f"format {TABLES}."
        )
    lines.append(
        "Choose another file, or write your data as native items.jsonl (docs/importing.md). A table of labels is "
        "imported as labels."
    )
    return "\n".join(lines)


def _reasons(file: SourceFile) -> list[str]:
    """Why no format takes a file, a line for each reason; first those of formats that anybody's data is written in."""
    if not file.beginning():
        return [f"{file.name}: it is empty."]
    refused: dict[str, list[str]] = {}
    misnamed = 0
    for format_ in sorted(FORMATS, key=lambda format_: format_.name not in (TABLES, DOCUMENTS_ALONE)):
        why = format_.refusal(file) or ""
        if isinstance(why, Misnamed):
            misnamed += 1
        else:
            refused.setdefault(why, []).append(format_.name)
    lines = [f"{file.name}, {_words(names)}: {why}." for why, names in refused.items()]
    if misnamed:
        who = f"the other {misnamed} formats take" if lines else "no format takes"
        lines.append(f"{file.name}: {who} {'no file' if lines else 'a file'} of this name or ending.")
    return lines


def _words(names: Sequence[str]) -> str:
    return " and ".join(", ".join(names).rsplit(", ", 1))
