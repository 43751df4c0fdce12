"""Hugging Face: a folder that `datasets.load_dataset` opens, Parquet with a card; read also as `save_to_disk` left it.

Configurations of what we write: `items`, and of a study `labels` (a row a label), `label_arrays` (a row a unit, an
array a criterion), `adjudicated` and `soft_labels`; of a release, and of several studies, the last two alone. Nothing
that a card names is ever fetched.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from annotators.errors import AssayError, InvalidInput, shown
from annotators.figures import count, ends
from annotators.figures import number as figure
from annotators.items.normal import Normal
from annotators.items.parsed import ForeignFinalLabel, ForeignLabel, ParsedDocument, ParsedItem, Rejected
from annotators.later import Later
from annotators.times import time_of
from exports.cells import vote_text
from exports.formats._dataset_files import ARROW, PARQUET, TEXTS, Classes, DatasetFile, open_dataset_file, pictures_of
from exports.formats._dataset_files import Picture as PictureThere
from exports.formats._described import described
from exports.formats._files import FilesReading
from exports.formats._losing import usual
from exports.formats._one_type import PICTURES, has_own_pictures, in_columns
from exports.formats._page_columns import rule_of
from exports.formats._parquet import ParquetFiles, parquet_files
from exports.formats._writing import (
    OPEN,
    Files,
    Items,
    Judged,
    Picture,
    SettledOut,
    StudyOut,
    Written,
    cell_of,
    metadata_of,
    parts_of,
)
from exports.formats.base import DOCUMENTS_ALONE as NATIVE
from exports.formats.base import FORMATS, FileReading, Misnamed
from exports.formats.table import guessed, items_of_table, mapped
from exports.reading.sources import SourceFile, Sources

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from annotators.protocols import Protocol
else:
    pa, pq = Later("pyarrow"), Later("pyarrow.parquet")

CARD = "README.md"
LICENCE = "licence"
SPLIT = "test"
"""The split of items that name none: what people verified is what systems are tried on."""

SCORER = "imported:huggingface"
RATER = "huggingface-verified"
"""The annotator of final labels, which are nobody's."""
_LABELS = ("item", "annotator", "criterion", "target", "value", "time", "comment", "other")
_FINAL = "adjudicated"
_PROTOCOL = "protocol.json"
_FRONT = re.compile(rb"\A---\r?\n(.*?)\r?\n---\s*(?:\n|\Z)", re.DOTALL)
_SAYS_DATA = re.compile(rb"^(configs|dataset_info)\s*:", re.MULTILINE)
_STATE = re.compile(rb'"_data_files"\s*:')
_NO_FILES = re.compile(rb'"_data_files"\s*:\s*\[\s*\]')
_SPLITS = re.compile(rb'\A\s*\{\s*"splits"\s*:')
_OF_NAME = re.compile(r"(?:^|/)(\w+?)(?:-\d{5}-of-\d{5})?\.parquet$")
_SPLITS_KNOWN = ("train", "test", "validation", "valid", "val", "dev", "eval")
_LICENCE_FORM = re.compile(r"[A-Za-z0-9][\w.+-]{0,60}").fullmatch
_SPLIT_FORM = re.compile(r"\w+(\.\w+)*").fullmatch
_MOST_PICTURES = 4 << 30
"""Bytes of all pictures of a source."""


class HuggingFace:
    """A config called `items` gives the items and one called `labels` what people said; else every config is a table.

    Columns are known as those of tables are (`exports.formats.table`). A column of pictures gives each item a figure as
    evidence, whose picture is a document.
    """

    name = "huggingface"
    title = "Hugging Face datasets folder"
    help = (
        "a folder with a README.md card and the Parquet, JSON or CSV files of its configs; or what save_to_disk wrote"
    )
    loses = usual("labels.seconds", "labels.rationale", labels="labels that say that it cannot be judged")
    takes_pairs = True
    takes_pictures = True
    takes_over = (NATIVE,)

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a card that tells of data, and the description of what `save_to_disk` wrote."""
        if file.basename == CARD.lower():
            front = _FRONT.match(file.head().removeprefix(b"\xef\xbb\xbf"))
            return None if front and _SAYS_DATA.search(front[1]) else "its front matter has no configs or dataset_info"
        if file.basename == "state.json":
            return None if _STATE.search(file.head()) else "it names no data files of a saved dataset"
        if file.basename == "dataset_dict.json":
            return None if _SPLITS.match(file.head()) else "it names no splits"
        return Misnamed(f"it is no card ({CARD}), and no state.json or dataset_dict.json of a saved dataset")

    def read(self, sources: Sources) -> FileReading:
        """The Parquet or Arrow files of the sources, by configuration and split."""
        return self.read_mapped(sources, {})

    def read_mapped(self, sources: Sources, mapping: Mapping[str, Sequence[str]]) -> FileReading:
        """The same, with these columns for fields."""
        card = _card_of(sources)
        parts = [*_parts(sources, card)]
        if not parts and not any(sources.loose_documents()):
            saved = [file for file in sources.files if file.basename == "state.json"]
            if saved and all(_NO_FILES.search(file.head()) for file in saved):
                raise InvalidInput(
                    f"{sources.description}: the saved dataset has no rows: the `_data_files` of {saved[0].name} name "
                    "none. Save one that has some, or leave it out."
                )
            raise InvalidInput(
                f"{sources.description}: there is no {PARQUET} or {ARROW} file in it, nor one that a configuration "
                "names. Download the dataset's files into the folder: nothing is fetched. Files that are compressed "
                "are unpacked first."
            )
        return _Reading(sources, card, parts, mapping)

    def label_protocol(self) -> Protocol | None:
        """The folder says what was asked, or its labels show it."""
        return None

    def check_options(self, options: Mapping[str, str]) -> None:
        """A card needs a licence."""
        licence = options.get(LICENCE, "")
        if not licence:
            raise InvalidInput(
                "The card of a Hugging Face dataset names a licence. Give one, such as cc-by-4.0 (--licence on the "
                "command line)."
            )
        if not _LICENCE_FORM(licence):
            raise InvalidInput(f"{licence[:80]!r} is no licence's short name. Write one such as cc-by-4.0 or mit.")

    def write(self, items: Items, files: Files) -> Written:
        """Write the card and the configuration `items`."""
        return self._written((Judged(item, (), ()) for item in items()), None, files)

    def write_study(self, study: StudyOut, files: Files) -> Written:
        """Write the card, the items and what was said of them."""
        return self._written(study.judged(), study, files)

    def write_settled(self, settled: SettledOut, files: Files) -> Written:
        """Write the card, the items and their final labels."""
        return self._written(settled.judged(), settled, files)

    def _written(self, judged: Iterable[Judged], said: StudyOut | SettledOut | None, files: Files) -> Written:
        self.check_options(files.options)
        facts = _Facts()
        with parquet_files(files) as tables:
            out = _Configs(tables, said, files.picture)
            for row in judged:
                facts.note(row)
                out.add(row)
            facts.pictures, facts.without_picture = out.n_pictures, out.without_picture
            if not facts.items:
                tables.begin(out.path_of(SPLIT), out.items)
            configs = [*out.configs()]
        protocols = _protocols(said, files)
        for name, protocol in protocols.items():
            files.begin(name, orjson.dumps(protocol.model_dump(mode="json"), option=orjson.OPT_INDENT_2), b"\n")
        pictured = files.picture is not None
        files.begin(CARD).write_text(_card(files.options[LICENCE], configs, facts, said, protocols, pictured=pictured))
        return Written(facts.items, 0)


FORMATS.register(HuggingFace())


# Reading --------------------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """One data file: of which configuration and split it is."""

    config: str
    split: str
    file: SourceFile


class _Card(NamedTuple):
    """A card: its file, and what its front matter says."""

    file: SourceFile
    said: Mapping[str, Any]


def _card_of(sources: Sources) -> _Card | None:
    """The card that lies highest."""
    cards = [file for file in sources.files if file.basename == CARD.lower()]
    found = min(cards, key=lambda file: (file.name.count("/"), file.name), default=None)
    return None if found is None else _Card(found, _front_matter(found))


def _parts(sources: Sources, card: _Card | None) -> Iterator[_Part]:
    data = [file for file in sources.files if file.basename.endswith((PARQUET, ARROW))]
    texts = [file for file in sources.files if file.basename.endswith(TEXTS)]
    taken: set[str] = set()
    for config, split, pattern, _ in _data_files(card) if card else ():
        for file in (*data, *texts):
            if file.name not in taken and _fits(file, card, pattern):
                taken.add(file.name)
                yield _Part(config, split, file)
    if taken:
        return
    loose = [*_by_their_names(data)]
    splits = {part.split for part in loose}
    for part in loose:
        # One file of whatever name is no split of that name.
        yield part if len(splits) > 1 or part.split in _SPLITS_KNOWN else part._replace(split="")


def _by_their_names(data: Iterable[SourceFile]) -> Iterator[_Part]:
    """The files of which no card says what they are, with the splits that their names say."""
    for file in data:
        parent = PurePosixPath(file.name).parent.name
        if file.basename.endswith(ARROW):
            saved = file.path.parent.parent / "dataset_dict.json"
            if not file.basename.startswith("cache-"):
                yield _Part("default", parent if saved.is_file() else "", file)
        else:
            found = _OF_NAME.search(file.name)
            yield _Part("default", found[1] if found else "", file)


def _missing(card: _Card, sources: Sources) -> Iterator[str]:
    """What a card names of its data that is not among the files, a sentence each."""
    for config, split, pattern, implied in _data_files(card):
        if not implied and not any(_fits(file, card, pattern) for file in sources.files):
            where = f"{config!r}, split {split!r}" if split else repr(config)
            yield f"The card names {pattern!r} ({where}), which is not among the files: it is left out."


def _fits(file: SourceFile, card: _Card | None, pattern: str) -> bool:
    root = PurePosixPath(card.file.name).parent if card else PurePosixPath()
    relative = file.name if str(root) == "." else file.name.removeprefix(f"{root}/")
    return fnmatchcase(relative, pattern) or fnmatchcase(relative, pattern.replace("**/", ""))


def _data_files(card: _Card) -> Iterator[tuple[str, str, str, bool]]:
    """Configuration, split and pattern of the data files that a card names; InvalidInput for what leads elsewhere.

    The last says that it only names their folder, so that their names say of which split they are.
    """
    configs = card.said.get("configs")
    for config in configs if isinstance(configs, list) else ():
        if not isinstance(config, dict):
            continue
        name, given = str(config.get("config_name", "default")), config.get("data_files")
        below = f"{config['data_dir'].strip('/')}/" if isinstance(config.get("data_dir"), str) else ""
        implied = given is None and bool(below)
        if implied:
            given = [{"split": split, "path": f"*{split}*"} for split in _SPLITS_KNOWN] + [
                {"split": "train", "path": "*"}
            ]
        for entry in given if isinstance(given, list) else [given]:
            split, paths = (entry.get("split", ""), entry.get("path")) if isinstance(entry, dict) else ("train", entry)
            for path in paths if isinstance(paths, list) else [paths]:
                if not isinstance(path, str):
                    continue
                if "://" in path or path.startswith("/") or ".." in PurePosixPath(path).parts:
                    raise InvalidInput(
                        f"{card.file.name}: the configuration {name!r} names {path[:80]!r}, which lies outside of the "
                        "folder. Put the file into it; nothing is fetched."
                    )
                yield name, str(split), below + path.removeprefix("./"), implied


def _front_matter(card: SourceFile) -> dict[str, Any]:
    from annotators.asking.yaml_files import YamlFile  # noqa: PLC0415 - a format is listed without it

    with card.path.open("rb") as file:
        front = _FRONT.match(file.read(1 << 20).removeprefix(b"\xef\xbb\xbf"))
    if front is None:
        return {}
    text = "\n" + front[1].decode(errors="replace")  # in place of its first line, so that lines count as in the card
    try:
        return YamlFile(card.name, kind="card", begins="license: cc-by-4.0").read(text)
    except RecursionError:
        raise InvalidInput(f"{card.name}: its front matter is nested too deeply. Write a plainer one.") from None


class _Reading(FilesReading):
    """The data files of one source. `columns` and `headings` are those of the tables that were read last."""

    format = HuggingFace.name

    def __init__(
        self, sources: Sources, card: _Card | None, parts: list[_Part], mapping: Mapping[str, Sequence[str]]
    ) -> None:
        super().__init__(sources, [part.file for part in parts])
        self._card, self._parts, self._mapping = card, parts, mapping
        self._names = _names_of_classes(card)
        self._ours = any(part.config == "items" for part in parts)
        self._said: dict[str, list[ForeignLabel]] | None = None
        self._final: list[ForeignFinalLabel] = []
        self._bad: list[Rejected] = []
        self._notes: list[str] = []
        self._pictures: TemporaryDirectory[str] | None = None
        self.columns: dict[str, list[str]] = {}
        self.headings: list[str] = []

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        yield from super().documents()
        said = described(self.sources, elsewhere=True)
        seen: set[str] = set()
        spent = 0
        for part in self._of_items():
            try:
                table = self._opened(part)
                if not table.pictures:
                    continue
                for line, cells in table.rows():
                    if isinstance(cells, str):
                        continue
                    for column in table.pictures:
                        for picture in pictures_of(cells[table.place(column)]):
                            spent += len(picture.data)
                            if picture.key not in seen and picture.ending and spent <= _MOST_PICTURES:
                                seen.add(picture.key)
                                path = self._kept(picture)
                                stays = said.stays(path, picture.key)
                                yield ParsedDocument(part.file.name, line, picture.key, path=path, kept=stays)
            except AssayError:
                continue  # `items` names it

    def _kept(self, picture: PictureThere) -> Path:
        if self._pictures is None:
            self._pictures = TemporaryDirectory(prefix="assay-pictures-")
        path = Path(self._pictures.name) / picture.key.replace("/", "-")
        path.write_bytes(picture.data)
        return path

    def _of_items(self) -> list[_Part]:
        """The parts that hold items: those of the configuration `items`, else all."""
        return [part for part in self._parts if part.config == "items"] if self._ours else self._parts

    def items(self) -> Iterator[ParsedItem | Rejected]:
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        self._notes, self.columns, self.headings = [], {}, []
        if self._card is not None:
            self._notes += _missing(self._card, self.sources)
        if self._said is None:
            self._said, self._bad = {}, []
            for label in self._labels():
                self._said.setdefault(label.item, []).append(label)
            self._final = [*self._settled()]
        yield from self._bad
        parts = self._of_items()
        configs = {part.config for part in parts}
        for part in parts:
            try:
                table = self._opened(part)
                self._notes += table.notes
                self.headings = list(dict.fromkeys([*self.headings, *table.columns]))
                if not self._mapping and "question" not in guessed(table.columns) and len(configs) > 1:
                    self._notes.append(f"{part.file.name}: no column is known as the question. It is passed over.")
                    continue
                columns = mapped(table.columns, self._mapping)
                self.columns |= columns
                self._notes += [rule] if (rule := rule_of(columns)) and rule not in self._notes else []
                about = {}
                if len(configs) > 1:
                    about["config"] = part.config
                if part.split and (part.split != SPLIT or not self._ours):
                    about["split"] = part.split
                for row in items_of_table(part.file, table.as_table(about), _with_pictures(columns, table)):
                    yield row if isinstance(row, Rejected) else self._labelled(row)
                if table.bad_pictures:
                    self._notes.append(
                        f"{part.file.name}: {count(table.bad_pictures, 'picture')} without bytes (a path alone is a "
                        f"name), or of no kind that is known: left out."
                    )
            except AssayError as error:
                yield Rejected(part.file.name, 1, str(error))
            self.meter.done += part.file.size

    def _labelled(self, row: ParsedItem) -> ParsedItem:
        return row._replace(labels=tuple((self._said or {}).get(row.item.id, ())))

    def _labels(self) -> Iterator[ForeignLabel]:
        """Those of single annotators; where there are none the final labels, as somebody's."""
        if any(part.config == "labels" for part in self._parts):
            yield from self._labels_in("labels", _LABELS, needed=("item", "annotator", "criterion", "value"))
            return
        names = tuple("label" if name == "value" else name for name in _LABELS)
        found = self._labels_in(_FINAL, names, needed=("item", "criterion", "label"))
        asked = self.label_protocol()
        there = {criterion.name for criterion in asked.criteria} if asked is not None else None
        yield from {
            (label.item, label.other, label.criterion, label.target): label
            for label in found
            if there is None or label.criterion in there
        }.values()

    def _labels_in(self, config: str, names: Sequence[str], *, needed: Sequence[str]) -> Iterator[ForeignLabel]:
        """The labels in a configuration, whose columns for `_LABELS` have these names."""
        for file, line, said in self._rows_in(config, names, needed):
            item, annotator, criterion, target, value, time, comment, other = said
            if "annotator" not in needed:
                annotator = RATER
            if item and annotator and criterion and value is not None:
                about = (str(item), str(annotator), str(criterion), str(target or "item"))
                remark, second = (str(cell) if cell else None for cell in (comment, other))
                if (written := self._written(file, line, value)) is not None:
                    yield ForeignLabel(line, *about, written, _time(time), remark, second, file)

    def _rows_in(
        self, config: str, names: Sequence[str], needed: Sequence[str]
    ) -> Iterator[tuple[str, int, list[Any]]]:
        """The rows of a configuration with file and line: the cells of these columns, None for one that is not there.

        Files without the columns that are `needed` have none; rows that cannot be read are noted as bad.
        """
        for part in self._parts:
            if part.config != config:
                continue
            table = self._opened(part)
            if not set(needed) <= set(table.columns):
                continue
            places = [table.columns.index(name) if name in table.columns else None for name in names]
            for line, cells in table.rows():
                if isinstance(cells, str):
                    self._bad.append(Rejected(part.file.name, line, cells))
                else:
                    yield part.file.name, line, [None if place is None else cells[place] for place in places]

    def _written(self, file: str, line: int, value: Any) -> str | None:
        """A label as a text; None for what is none, which is noted as a bad row."""
        try:
            return cell_of(value)
        except TypeError:
            reason = f"`value` is {shown(value)}, no label. Write it as a text."
            self._bad.append(Rejected(file, line, reason))
            return None

    def _settled(self) -> Iterator[ForeignFinalLabel]:
        """The final labels, where there are labels of annotators beside; of several for one unit the last."""
        if not any(part.config == "labels" for part in self._parts):
            return
        votes: dict[_About, Counter[str]] = {}
        for file, line, (*about, label, n) in self._rows_in("soft_labels", (*_UNIT, "label", "n"), (*_UNIT[:2], "n")):
            if isinstance(n, int | float) and (said := self._written(file, line, label)) is not None:
                votes.setdefault(_about(*about), Counter())[said] += int(n)
        found: dict[_About, ForeignFinalLabel] = {}
        for file, line, (*about, label, how) in self._rows_in(
            _FINAL, (*_UNIT, "label", "how"), (*_UNIT[:2], "label", "how")
        ):
            unit = _about(*about)
            said = None if label is None or how == OPEN else self._written(file, line, label)
            reached = OPEN if said is None else str(how)
            found[unit] = ForeignFinalLabel(*unit[:3], said, reached, votes.get(unit, {}), unit[3])
        yield from found.values()

    def final_labels(self) -> Sequence[ForeignFinalLabel]:
        """Those of the configuration of final labels, where there are labels of annotators beside them."""
        return self._final

    def _opened(self, part: _Part) -> DatasetFile:
        """A data file, of ours without the pictures of pages that its items point at anyway."""
        found = open_dataset_file(part.file, self._names.get(part.config, {}))
        if found.pictures == [PICTURES] and has_own_pictures(found.columns):
            found.pass_over(PICTURES)
        return found

    def label_protocol(self) -> Protocol | None:
        """What the folder says was asked."""
        from annotators.protocols import Protocol as Asked  # noqa: PLC0415 - most imports have no labels

        for file in self.sources.files:
            if file.basename == _PROTOCOL and file.size < 1 << 20:
                try:
                    return Asked.model_validate(orjson.loads(file.path.read_bytes()))
                except ValueError:
                    self._notes.append(f"{file.name} is no protocol; what was asked is read off the labels.")
        return None

    def notes(self) -> Sequence[str]:
        return self._notes


_UNIT = ("item", "criterion", "target", "other")
_About = tuple[str, str, str, str | None]
"""Item, criterion, target and other item of a unit."""


def _about(item: Any, criterion: Any, target: Any, other: Any) -> _About:
    return str(item), str(criterion), str(target or "item"), str(other) if other else None


def _names_of_classes(card: _Card | None) -> dict[str, Mapping[str, Classes]]:
    """Configuration → column → the names of its classes, in the order of their numbers, as the card says them."""
    told = card.said.get("dataset_info") if card else None
    found: dict[str, Mapping[str, Classes]] = {}
    for info in told if isinstance(told, list) else [told]:
        classes = _classes_said(info.get("features")) if isinstance(info, dict) else None
        if isinstance(info, dict) and isinstance(classes, Mapping):
            found[str(info.get("config_name") or "default")] = classes
    return found


def _classes_said(feature: Any) -> Classes | None:
    """The names of classes in a feature of a card; the fields of an object are a list there."""
    if isinstance(feature, list):
        fields = {str(one.get("name")): _classes_said(one) for one in feature if isinstance(one, dict)}
        return {name: classes for name, classes in fields.items() if classes}
    if not isinstance(feature, dict):
        return None
    label = feature.get("class_label")
    names = label.get("names") if isinstance(label, dict) else None
    if isinstance(names, dict | list):
        return [str(name) for name in (names.values() if isinstance(names, dict) else names)]
    return next((_classes_said(feature[kind]) for kind in _KINDS_SAID if kind in feature), None)


_KINDS_SAID = ("dtype", "struct", "list", "sequence", "large_list")
"""Under which words a card says of what a feature is."""


def _with_pictures(columns: dict[str, list[str]], table: DatasetFile) -> dict[str, list[str]]:
    """The columns of fields, and those of pictures as evidence."""
    if not table.pictures:
        return columns
    others = {name: kept for name, of in columns.items() if (kept := [one for one in of if one not in table.pictures])}
    return {**others, "evidence": [*others.get("evidence", ()), *table.pictures]}


def _time(said: Any) -> datetime | None:
    try:
        return time_of(said.isoformat() if isinstance(said, datetime) else said)
    except (ValueError, TypeError, AttributeError):
        return None


# Writing --------------------------------------------------------------------------------------------------------------


def items_schema() -> pa.Schema:
    """The columns of the configuration `items`: the fields of an item (docs/importing.md)."""
    text, number, texts = pa.string(), pa.float64(), pa.list_(pa.string())
    place = {"box": pa.list_(number), "metadata": text}

    def parts(**fields: pa.DataType) -> pa.DataType:
        return pa.list_(pa.struct(list(fields.items())))

    return pa.schema(
        [
            *((name, text) for name in ("id", "question_key", "question", "answer", "system", "category", "language")),
            ("references", parts(text=text, phrases=texts)),
            ("documents", texts),
            (
                "evidence",
                parts(
                    key=text, kind=text, role=text, document=text, pages=pa.list_(pa.int64()), text=text,
                    used=pa.bool_(), hop=pa.int64(), rank=pa.int64(), **place,
                ),
            ),
            ("claims", parts(key=text, text=text, of=text, metadata=text)),
            ("images", parts(key=text, document=text, page=pa.int64(), caption=text, **place)),
            ("hops", parts(key=text, question=text, answer=text, metadata=text)),
            ("scores", parts(scorer=text, name=text, value=number, target=text, parameters=text, reason=text)),
            ("metadata", text),
        ]
    )  # fmt: skip


_DTYPES = {"string": "string", "double": "float64", "int64": "int64", "bool": "bool"}


def _with_features(schema: pa.Schema) -> pa.Schema:
    """The schema with a column of pictures, and what `datasets` is told of each: that these are images."""
    bare = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    features = {field.name: _feature(field.type) for field in schema}
    features[PICTURES] = {"feature": {"_type": "Image"}, "_type": "List"}
    told = {b"huggingface": orjson.dumps({"info": {"features": features}})}
    return schema.append(pa.field(PICTURES, bare)).with_metadata(told)


def _feature(kind: pa.DataType) -> Any:
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {kind.field(place).name: _feature(kind.field(place).type) for place in range(kind.num_fields)}
    return {"dtype": _DTYPES[str(kind)], "_type": "Value"}


def _shown(item: Normal, picture: Picture) -> Iterator[Normal]:
    """The pictures of an item: its images, and the pages of its evidence, each once, by document and page."""
    pictures = [one for one in parts_of(item, "images") if "document" in one]
    places = [(one["document"], one.get("page", 1), one.get("box")) for one in pictures]  # 1 is left out where it is
    places += [
        (unit["document"], page, unit.get("box"))
        for unit in parts_of(item, "evidence")
        if "document" in unit
        for page in unit.get("pages", ())
    ]
    seen: set[str] = set()
    for document, page, box in places:
        name = f"{document}#{page}" + ("" if box is None else f"#{','.join(map(str, box))}")
        data = None if name in seen else picture(document, page, box)
        seen.add(name)
        if data is not None:
            yield {"bytes": data, "path": name}


class _Facts:
    """What the card says of the items and labels."""

    def __init__(self) -> None:
        self.items = self.labels = self.fell = self.settled = self.pictures = 0
        self.without_picture: set[tuple[str, int]] = set()
        self.questions: set[str] = set()
        self.systems, self.categories, self.languages, self.how = (Counter[str]() for _ in range(4))
        self.annotators: Counter[str] = Counter()

    def note(self, row: Judged) -> None:
        item = row.item
        self.items += 1
        self.questions.add(item["question_key"])
        self.systems[item["system"]] += 1
        for counter, name in ((self.categories, "category"), (self.languages, "language")):
            if name in item:
                counter[item[name]] += 1
        self.labels += len(row.labels)
        self.fell += row.fell
        self.annotators.update(label.annotator for label in row.labels)
        self.how.update(unit.how for unit in row.units)
        self.settled += sum(unit.how != OPEN for unit in row.units)


_Columns = list[tuple[str, "pa.DataType"]]


def _of_study(numbers: Mapping[str, bool]) -> dict[str, _Columns]:
    """The configurations with what every annotator said; `numbers`: criterion → whether its labels are numbers."""
    text = pa.string()
    arrays: _Columns = []
    for name, numeric in numbers.items():
        arrays += [(name, pa.list_(pa.float64() if numeric else text)), (f"{name}_annotators", pa.list_(text))]
    return {
        "labels": [(name, text) for name in _LABELS],
        "label_arrays": [("item", text), ("target", text), ("other", text), *arrays],
    }


def _of_units(*more: tuple[str, pa.DataType]) -> dict[str, _Columns]:
    """The configurations with where units stand, which may have more columns."""
    text = pa.string()
    unit = [("item", text), ("criterion", text), ("target", text), ("other", text)]
    return {
        _FINAL: [*unit, ("label", text), ("how", text), ("n", pa.int64()), *more],
        "soft_labels": [*unit, ("label", text), ("n", pa.int64()), ("share", pa.float64()), *more],
    }


class _Config(NamedTuple):
    """A configuration: its name, the file of each split, and a hash of all its rows."""

    name: str
    splits: Mapping[str, str]
    sha256: str


class _Configs:
    """The Parquet files of a folder, row by row. `paths` has the files of each configuration, by split."""

    def __init__(self, tables: ParquetFiles, said: StudyOut | SettledOut | None, picture: Picture | None) -> None:
        self._tables, self._picture = tables, picture
        self.n_pictures, self.without_picture = 0, set[tuple[str, int]]()
        self.items = items_schema() if picture is None else _with_features(items_schema())
        self.paths: dict[str, dict[str, str]] = {"items": {}}
        self._schemas: dict[str, pa.Schema] = {}
        self._numbers: dict[str, bool] = {}
        schemas: dict[str, _Columns] = {}
        if isinstance(said, StudyOut):
            self._numbers = {criterion.name: criterion.scale == "interval" for criterion in said.protocol.criteria}
            schemas = _of_study(self._numbers) | _of_units()
        elif said is not None:
            schemas = _of_units(("study", pa.string()))
        self._names_studies = isinstance(said, SettledOut)
        for config, columns in schemas.items():
            self.paths[config] = {SPLIT: f"{config}/{SPLIT}{PARQUET}"}
            self._schemas[config] = pa.schema(columns)

    def configs(self) -> Iterator[_Config]:
        """The configurations that have a file."""
        for config, splits in self.paths.items():
            hashes = [self._tables.rows[path].sha256 for path in splits.values() if path in self._tables.rows]
            if hashes:
                yield _Config(config, splits, hashlib.sha256("".join(hashes).encode()).hexdigest())

    def path_of(self, split: str) -> str:
        """The file of a split of the items, which the card names from now on."""
        return self.paths["items"].setdefault(split, f"items/{split}{PARQUET}")

    def add(self, row: Judged) -> None:
        item = row.item
        metadata = metadata_of(item)
        split = metadata.get("split")
        if isinstance(split, str) and _SPLIT_FORM(split) and split != SPLIT and len(split) < 60:
            rest = {name: value for name, value in metadata.items() if name != "split"}
            item = {**item, "metadata": rest} if rest else {k: v for k, v in item.items() if k != "metadata"}
        else:
            split = SPLIT
        path = self.path_of(split)
        cells = in_columns(item)
        if self._picture is not None:
            cells[PICTURES] = [*_shown(item, self._drawn)]
            self.n_pictures += len(cells[PICTURES])
        self._tables.begin(path, self.items).add(cells)
        self._add_labels(row)

    def _drawn(self, document: str, page: int, box: Sequence[float] | None) -> bytes | None:
        assert self._picture is not None
        data = self._picture(document, page, box)
        if data is None:
            self.without_picture.add((document, page))
        return data

    def _add(self, config: str, row: Mapping[str, Any]) -> None:
        """Append a row to what is said of items; its file begins with it, as `datasets` opens none without rows."""
        self._tables.begin(self.paths[config][SPLIT], self._schemas[config]).add(row)

    def _add_labels(self, row: Judged) -> None:
        name = row.item["id"]
        arrays: dict[tuple[str, str | None], dict[str, list[Any]]] = {}
        for label in row.labels:
            self._add("labels", {"item": name, **label._asdict(), "value": cell_of(label.value)})
            if label.criterion in self._numbers:
                value = float(label.value) if self._numbers[label.criterion] else cell_of(label.value)
                unit = arrays.setdefault((label.target, label.other), {})
                unit.setdefault(label.criterion, []).append(value)
                unit.setdefault(f"{label.criterion}_annotators", []).append(label.annotator)
        for (target, other), unit in arrays.items():
            self._add("label_arrays", {"item": name, "target": target, "other": other, **unit})
        for settled in row.units:
            about = {"item": name, "criterion": settled.criterion, "target": settled.target, "other": settled.other}
            if self._names_studies:
                about["study"] = settled.study
            n = sum(settled.votes.values())
            said = None if settled.how == OPEN else cell_of(settled.label)
            self._add(_FINAL, {**about, "label": said, "how": settled.how, "n": n})
            for vote, times in settled.votes.items():
                self._add("soft_labels", {**about, "label": vote_text(vote), "n": times, "share": times / n})


_MEANINGS = {
    "items": "the items: a question, an answer, who wrote it, its evidence, claims, images and scores",
    "labels": "every label of every annotator, a row each",
    "label_arrays": "a row a unit (an item or a part of it), an array of labels a criterion, and who gave them",
    _FINAL: "the final label of each unit, and how it was reached",
    "soft_labels": "how often each label was given to each unit: its share of the votes",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def _protocols(said: StudyOut | SettledOut | None, files: Files) -> dict[str, Protocol]:
    """Name of a file → the protocol that it holds: one beside the card, several in a folder, by the studies' names."""
    if said is None:
        return {}
    found = [(said.name, said.protocol)] if isinstance(said, StudyOut) else [*said.protocols.items()]
    if len(found) == 1:
        return {_PROTOCOL: found[0][1]}
    return {f"protocols/{files.named('protocol', study, '.json')}": protocol for study, protocol in found}


def _card(
    licence: str,
    configs: Sequence[_Config],
    facts: _Facts,
    said: StudyOut | SettledOut | None,
    protocols: Mapping[str, Protocol],
    *,
    pictured: bool,
) -> str:
    size = next((name for most, name in _SIZES if facts.items < most), "n>1M")
    head: list[str] = [f"license: {licence}"]
    languages = [name for name in facts.languages if re.fullmatch(r"[a-z]{2,3}", name)]
    if languages:
        head += ["language:", *(f"- {name}" for name in sorted(languages))]
    head += ["tags:", "- assay", "- human-verified" if said is not None else "- evaluation", "size_categories:"]
    head += [f"- {size}", "configs:"]
    for config in configs:
        head += [f"- config_name: {config.name}", *(["  default: true"] if config.name == "items" else [])]
        # `datasets` keeps what it has loaded by the folder's name and what is said here: other rows need other words.
        head += [f'  description: "Rows with SHA-256 {config.sha256}"', "  data_files:"]
        for split, path in config.splits.items():
            head += [f'  - split: "{split}"', f'    path: "{path}"']  # a name may be what YAML takes for a number
    lines = ["---", *head, "---", "", f"# {_word(said.name) if said else 'Items'}", ""]
    if isinstance(said, SettledOut) and said.sha256:
        lines += [
            f"A release: the items that were accepted, and their final labels. Its SHA-256 is `{said.sha256}`.",
            "",
        ]
    lines += [*_counted(facts), "", "## Configurations", "", "| configuration | what is in it |", "|---|---|"]
    lines += [f"| `{config.name}` | {_MEANINGS[config.name]} |" for config in configs]
    if pictured:
        lines += ["", *_pictured(facts)]
    first = next(iter(configs[0].splits))
    lines += ["", "```python", "from datasets import load_dataset", "", f'items = load_dataset("PATH")["{first}"]']
    if any(config.name == "labels" for config in configs):
        lines += ['labels = load_dataset("PATH", "labels")["test"]']
    lines += ["```", ""]
    if said is not None:
        lines += ["## How it was annotated", ""]
        lines += _annotated(facts, said, protocols) if isinstance(said, StudyOut) else _settled(facts, said, protocols)
    lines += ["## Licence", "", licence, ""]
    return "\n".join(lines)


def _counted(facts: _Facts) -> list[str]:
    lines = [f"{count(facts.items, 'item')} of {count(len(facts.questions), 'question')}.", ""]
    lines += ["| statistic | value |", "|---|---|", f"| items | {facts.items:,} |"]
    lines += [f"| questions | {len(facts.questions):,} |"]
    for title, counter in (("system", facts.systems), ("category", facts.categories), ("language", facts.languages)):
        lines += [f"| {title} {_word(name)} | {n:,} |" for name, n in sorted(counter.items())]
    if facts.labels:
        lines += [f"| labels | {facts.labels:,} |", f"| annotators | {len(facts.annotators):,} |"]
    return lines


def _pictured(facts: _Facts) -> list[str]:
    lines = [
        f"The column `{PICTURES}` of the items has {count(facts.pictures, 'picture')}: of their images and of the "
        "pages of their evidence, each named by `DOCUMENT#PAGE` and in an item once. Pages of PDFs are 1,200 pixels "
        "wide."
    ]
    if facts.without_picture:
        lines += [
            "",
            f"{count(len(facts.without_picture), 'page')} that items point at have no picture: their document is not "
            "supplied, must not leave where it is, or could not be drawn.",
        ]
    return lines


def _settled(facts: _Facts, settled: SettledOut, protocols: Mapping[str, Protocol]) -> list[str]:
    lines = [
        f"- In the study *{_word(study)}* by {_asked(protocol)}, which `{file}` has in full."
        for (file, protocol), study in zip(protocols.items(), settled.protocols, strict=True)
    ]
    lines += ["", "| study | criterion | what it is about | scale |", "|---|---|---|---|"]
    for study, protocol in settled.protocols.items():
        lines += [f"| {_word(study)} {row}" for row in _criteria(protocol)]
    reached = ", ".join(f"{how} {n:,}" for how, n in facts.how.most_common())
    lines += ["", f"{count(facts.settled, 'final label')}{f' ({reached})' if reached else ''}. "]
    lines[-1] += "Agreement is measured on the labels of single annotators, which the export of a study has."
    if facts.fell:
        lines += [
            "",
            f"{count(facts.fell, 'further one')} fell when items were revised, and {_are(facts.fell)} not here.",
        ]
    return [*lines, ""]


def _asked(protocol: Protocol) -> str:
    return f"the protocol *{_word(protocol.title)}* (`{protocol.name}`, version {protocol.version})"


def _criteria(protocol: Protocol) -> list[str]:
    return [f"| {_word(one.title)} (`{one.name}`) | {one.target} | {one.scale} |" for one in protocol.criteria]


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _annotated(facts: _Facts, study: StudyOut, protocols: Mapping[str, Protocol]) -> list[str]:
    [(file, protocol)] = protocols.items()
    lines = [
        f"By {_asked(protocol)}, which `{file}` has in full: {count(len(facts.annotators), 'annotator')} gave "
        f"{count(facts.labels, 'label')}.",
        "",
        "| criterion | what it is about | scale |",
        "|---|---|---|",
        *_criteria(protocol),
    ]
    if facts.how:
        reached = ", ".join(f"{how} {n:,}" for how, n in facts.how.most_common() if how != OPEN)
        settled = f"{facts.settled:,} are settled ({reached})" if reached else "none is settled"
        lines += ["", f"Of {count(facts.how.total(), 'unit')}, {settled}, {facts.how[OPEN]:,} open."]
    lines += ["", "## Agreement", ""]
    found = study.agreement()
    if not found:
        return [*lines, "It was not measured here; `assay agreement` measures it on the labels.", ""]
    lines += ["| criterion | coefficient | value | units | annotators | how |", "|---|---|---|---|---|---|"]
    for row in found:
        value = figure(row.value, reason=row.reason) + ends(row.low, row.high)
        cells = [_word(row.title), value, f"{row.n_units:,}", f"{row.n_raters:,}", _word(row.method or "")]
        lines.append(f"| `{row.criterion}` | {' | '.join(cells)} |")
    if facts.fell:
        lines += [
            "",
            f"{count(facts.fell, 'label')} of earlier versions fell when items were revised, and {_are(facts.fell)} "
            "not here. Agreement is measured on the items as they were sampled: of what fell it counts the labels of "
            "these versions, and it counts none that was given again after a revision.",
        ]
    return [*lines, ""]


def _word(text: str) -> str:
    """A name on one line of Markdown, which neither marks nor links anything."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
