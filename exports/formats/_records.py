"""What the formats of JSON files share: which fields a file's beginning has, its records as items, and their documents.

The files of such a format are read one after another, each whole; a bad record is named with its line and its number.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from annotators.errors import AssayError, InvalidInput
from annotators.items.checks import called
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from exports.formats._files import FilesReading
from exports.formats.base import Misnamed
from exports.reading.json_files import Meter, element_lines, json_file, json_lines
from exports.reading.sources import SourceFile, Sources

Record = dict[str, Any]
"""One record of a file: a JSON object as it stands there."""

JSON_ENDING = ".json"
LINES_ENDING = ".jsonl"
_SMALL = 8 << 20
_NAME = re.compile(rb'"([^"\\]{1,100})"\s*:')


@lru_cache(maxsize=16)
def names_in(beginning: bytes) -> frozenset[str]:
    """The names of fields, at whatever depth, that stand in the beginning of a JSON text.

    Kept for the last texts, since every format asks about the same files one after another.
    """
    return frozenset(found.decode(errors="replace") for found in _NAME.findall(beginning))


def refusal_of_list(file: SourceFile, needed: Sequence[str]) -> str | None:
    """Why a file is not a JSON list of records with the fields `needed`, in a clause; None if it looks like one."""
    if not file.basename.endswith(JSON_ENDING):
        return Misnamed(f"it does not end with {JSON_ENDING}")
    if not file.beginning().startswith(b"["):
        return "it does not begin with a list […]"
    return lacking(names_in(file.head()), needed)


def lacking(there: frozenset[str], needed: Sequence[str]) -> str | None:
    """Which of the fields `needed` are not there, in a clause; None if all are."""
    missing = ", ".join(f"`{name}`" for name in needed if name not in there)
    return f"its records lack {missing}" if missing else None


def need(record: Record, *fields: str) -> None:
    """InvalidInput for the first of these fields that is missing or null."""
    for name in fields:
        if record.get(name) is None:
            raise InvalidInput(f"`{name}` is missing. Add it, or leave the entry out.")


def text_of(record: Record, name: str) -> str:
    """The text in a field; InvalidInput when it is missing or no text."""
    value = record.get(name)
    if isinstance(value, str):
        return value
    need(record, name)
    raise InvalidInput(f"`{name}` is {called(value)}, not a text. Put it in quotes.")


def list_of(record: Record, name: str) -> list[Any]:
    """The list in a field, empty when it is missing; InvalidInput when it is no list."""
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidInput(f"`{name}` is {called(value)}, not a list. Write […], or [] where there is nothing.")
    return value


def rest_of(record: Record, *taken: str) -> Record:
    """The fields of a record that are none of these: they are kept as metadata."""
    return {name: value for name, value in record.items() if name not in taken}


class Said(NamedTuple):
    """What people say of an item in its record: by whom the format calls it, and (criterion, target, value) of each."""

    annotator: str
    labels: Callable[[Record], Iterable[tuple[str, str, str]]]

    def of(self, record: Record, item: str, file: str, line: int) -> Iterator[ForeignLabel]:
        """As labels of the item of this id, whose record stands there."""
        for criterion, target, value in self.labels(record):
            yield ForeignLabel(line, item, self.annotator, criterion, target, value, None, None, None, file)


NOTHING_SAID = Said("", lambda _record: ())


def items_of(
    file: SourceFile,
    field: str | None,
    records: Sequence[Any],
    item: Callable[[Record], Normal],
    scorer: str,
    *,
    said: Said = NOTHING_SAID,
) -> Iterator[ParsedItem | Rejected]:
    """The items that `item` makes of the records of the list in `field` (None: the list that the file is).

    What people said of them there are labels beside them. A record that is no object, or that `item` or the item's own
    checks refuse, is a Rejected with its line and number.
    """
    where = f" of `{field}`" if field else ""
    for number, (record, line) in enumerate(zip(records, element_lines(file, field, len(records)), strict=True), 1):
        try:
            if not isinstance(record, dict):
                raise InvalidInput("it is not an object")
            read = read_item(item(record), scorer=scorer)
            yield ParsedItem(file.name, line, read, tuple(said.of(record, read.id, file.name, line)))
        except AssayError as error:
            yield Rejected(file.name, line, f"entry {number}{where}: {error}")


def items_of_lines(
    file: SourceFile, meter: Meter, item: Callable[[Record], Normal], scorer: str
) -> Iterator[ParsedItem | Rejected]:
    """The items that `item` makes of the lines of a file, an object each; a line that it refuses is a Rejected."""
    for found in json_lines(file, meter):
        if isinstance(found, Rejected):
            yield found
            continue
        line, record = found
        try:
            if not isinstance(record, dict):
                raise InvalidInput("the line is not an object. Write one {…} a line.")
            yield ParsedItem(file.name, line, read_item(item(record), scorer=scorer))
        except AssayError as error:
            yield Rejected(file.name, line, str(error))


class RecordReading(FilesReading):
    """The JSON files of one source, read one after another, each whole."""

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items of every file of the format; any other that only lies beside them is passed over."""
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        self._ahead: dict[str, Any] = {}
        self.begin()
        for file in self.whole():
            data = self._ahead.pop(file.name) if file.name in self._ahead else json_file(file)
            self.meter.done += file.size
            if isinstance(data, Rejected):
                yield data
                continue
            found = self.read(file, data)
            if found is not None:
                yield from found
            elif file.given:
                yield Rejected(file.name, 1, self.not_ours())

    def whole(self) -> Sequence[SourceFile]:
        """The files that are read whole: all of them, unless a format reads some in another way."""
        return self.files

    def look_ahead(self, file: SourceFile) -> Any | Rejected:
        """What a file holds, for `begin`; of files that are small together it is kept until their items are read."""
        data = json_file(file)
        if self.meter.of <= _SMALL:
            self._ahead[file.name] = data
        return data

    @abstractmethod
    def begin(self) -> None:
        """Forget what was counted, and look ahead where a format must; called each time before the items are read."""

    @abstractmethod
    def read(self, file: SourceFile, data: Any) -> Iterator[ParsedItem | Rejected] | None:
        """The items of a file, which holds `data`; None if it is none of the format's."""

    @abstractmethod
    def not_ours(self) -> str:
        """What is said of a file that was named and is none of the format's."""


def json_files(sources: Sources) -> list[SourceFile]:
    """The JSON files of the sources; InvalidInput when there are none, nor any document."""
    files = [file for file in sources.files if file.basename.endswith(JSON_ENDING)]
    if not files and not any(sources.loose_documents()):
        raise InvalidInput(
            f"{sources.description}: there is no {JSON_ENDING} file in it. Name the files or their folder."
        )
    return files


def is_records(data: Any, *fields: str) -> bool:
    """Whether a file's value is a list in which some record has all of these fields.

    Any other record of the list is then named, rather than the whole file passed over.
    """
    return isinstance(data, list) and any(
        isinstance(record, dict) and all(name in record for name in fields) for record in data
    )


def claim_text(claim: Any) -> Normal:
    """The text of a claim, and its three parts as metadata where it is a triplet; InvalidInput if it is neither."""
    if isinstance(claim, str):
        return {"text": claim}
    if isinstance(claim, list) and claim:
        try:
            return {"text": " ".join(claim), "metadata": {"triplet": claim}}
        except TypeError:
            pass  # one of them is no text
    raise InvalidInput(f"a claim is {called(claim)}. Write a text, or subject, relation and object as three texts.")


def as_claim(claim: Normal) -> Any:
    """A claim as files have it: the triplet that its text is, where its metadata keeps that, else the text."""
    kept = claim.get("metadata", {}).get("triplet")
    is_text = isinstance(kept, list) and all(isinstance(part, str) for part in kept) and " ".join(kept) == claim["text"]
    return kept if is_text else claim["text"]


def verdicts_in(metadata: Normal) -> list[Normal]:
    """The verdicts that metadata keeps, with labels that there are; anything else of that name is passed over."""
    kept = metadata.get("verdicts")
    return [verdict for verdict in (kept if isinstance(kept, list) else []) if _is_verdict(verdict)]


def _is_verdict(verdict: Any) -> bool:
    if not isinstance(verdict, dict) or not isinstance(label := verdict.get("label"), str):
        return False
    places = (verdict.get(name) for name in ("claim", "against", "evidence", "source"))
    return label.capitalize() in _verdict_labels() and all(isinstance(place, str | None) for place in places)


def verdict_label(value: Any, name: str) -> str:
    """A label of a claim, as verdicts write it; InvalidInput, naming the field, for any other."""
    if isinstance(value, str):
        known = _verdict_labels()
        label = known.get(value) or known.get(value.strip().capitalize())
        if label is not None:
            return label
    raise InvalidInput(f"`{name}` holds {called(value)}. Allowed: {', '.join(_verdict_labels())}.")


@cache
def _verdict_labels() -> Mapping[str, str]:
    """Labels by how files write them."""
    from annotators.scorers.shared.verdicts import LABELS  # noqa: PLC0415 - a file is recognised without any scorer

    return {label.capitalize(): label for label in LABELS}
