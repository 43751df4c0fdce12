"""What a format hands to an import: items, documents and labels, and the rows it could not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol, TypeVar

from annotators.errors import InvalidInput, shown
from annotators.items.item import ItemContent
from annotators.items.pairs import pair_name

N_PAGES = "n_pages"
"""The field of a document's row, kept in its metadata, that says how many pages it has."""

MOST_PAGES = 100_000

KEPT_HERE = "kept_here"
"""The field of a document's row that says that it must not leave the machine it is on."""


class ParsedItem(NamedTuple):
    """One item, with the file and line (from 1) it came from, and what people said of it there.

    What was said of a pair stands with its first item.
    """

    file: str
    line: int
    item: ItemContent
    labels: tuple[ForeignLabel, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document by its key, with the place of its bytes when they are supplied.

    `kept`: the source says that it must not leave the machine it is on.
    """

    file: str
    line: int
    key: str
    title: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    kept: bool = False

    @property
    def own_title(self) -> str:
        """The title, none where it only is the name of the file, which a format gives that knows no other."""
        return "" if self.title == PurePosixPath(self.key).name else self.title

    @property
    def n_pages(self) -> int | None:
        """How many pages the source says that it has (`n_pages` of its metadata); what counts until it has bytes."""
        given = self.metadata.get(N_PAGES)
        return given if isinstance(given, int) and not isinstance(given, bool) and given >= 1 else None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row or file that cannot be imported: where it is (lines from 1), why, and what to do about it."""

    file: str
    line: int
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As the `import` JSON has it."""
        return {"file": self.file, "line": self.line, "reason": self.reason}


class Reading(Protocol):
    """Something that can be imported. Both streams may be read more than once, each time from the beginning."""

    @property
    def format(self) -> str:
        """The format's name."""

    @property
    def source(self) -> str:
        """Where it comes from, in words: the paths as they were given."""

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """The documents that are described or supplied."""

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items, in the order of the source."""

    def notes(self) -> Sequence[str]:
        """What is worth reading about the source as a whole; asked when its items have been read."""


def items_in(reading: Reading) -> Iterator[ParsedItem | Rejected]:
    """The items of a reading; InvalidInput for what is none: a format of somebody's own package may give anything."""
    for row in _rows(reading, "items", reading.items(), ParsedItem):
        if isinstance(row, ParsedItem):
            _hold(reading, "as the item of a ParsedItem", [row.item], ItemContent)
            _hold(reading, "as the labels of a ParsedItem", [row.labels], tuple)
            _hold(reading, "among the labels of a ParsedItem", row.labels, ForeignLabel)
        yield row


def documents_in(reading: Reading) -> Iterator[ParsedDocument | Rejected]:
    """The documents of a reading; InvalidInput for what is none, as of `items_in`."""
    return _rows(reading, "documents", reading.documents(), ParsedDocument)


_Row = TypeVar("_Row")


def _rows(reading: Reading, of: str, rows: Iterator[_Row], kind: type) -> Iterator[_Row]:
    _hold(reading, f"for its {of}", [rows], Iterable)
    for row in rows:
        _hold(reading, f"among its {of}", [row], kind, Rejected)
        yield row


def _hold(reading: Reading, place: str, given: Iterable[object], *kinds: type) -> None:
    for one in given:
        if not isinstance(one, kinds):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise InvalidInput(
                f"Format {reading.format!r} gave {shown(one)} {place}, where {expected} is expected. The package that "
                "it is of has to be mended."
            )


def faults_in(rejected: Iterable[Rejected]) -> dict[tuple[str, str], list[int]]:
    """The bad rows by file and what is wrong, each with its lines: a fault of 5,000 rows is told once."""
    faults: dict[tuple[str, str], list[int]] = {}
    for row in rejected:
        faults.setdefault((row.file, row.reason), []).append(row.line)
    return faults


class ForeignLabel(NamedTuple):
    """One row of a table of labels: who gave which value to which target of which item, and the row's line.

    A row about a pair also names the `other` item; its value says which of the two by its number, below zero `item`.
    `file` is the one that the line is of, where the source has several; `seconds` is the time that the whole annotation
    took, and `rationale` the places that support the label (`GivenLabel` of annotators/asking/submissions.py).
    """

    line: int
    item: str
    annotator: str
    criterion: str
    target: str
    value: str
    time: datetime | None = None
    comment: str | None = None
    other: str | None = None
    file: str | None = None
    seconds: float | None = None
    rationale: list[dict[str, Any]] | None = None

    @property
    def name(self) -> str:
        """What it is about, as a study knows it: an item, or a pair of two (`annotators.items.pairs.pair_name`)."""
        return pair_name(self.item, self.other) if self.other else self.item


class ForeignFinalLabel(NamedTuple):
    """What stands in the end of a target of an item, or of a pair, as its files say beside the labels of annotators.

    `value` is None while it is open, `how` says how it was reached (`unanimous`, `majority`, `adjudicated`, `open`),
    `votes` how often each value was given, where the files say it.
    """

    item: str
    criterion: str
    target: str
    value: str | None
    how: str
    votes: Mapping[str, int]
    other: str | None = None
