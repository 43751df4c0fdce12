"""What the writers of formats share: files of records that are written as they come, several open at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

import orjson

from annotators.items.normal import Normal
from exports.sinks import Out, plain_name

if TYPE_CHECKING:
    from annotators.criteria import Criterion
    from annotators.protocols import Protocol as AskedProtocol

Items = Callable[[], Iterator[Normal]]
"""The items that are exported, in normal form with their scores, each time from the beginning."""


class FinalLabels(dict[tuple[str, str], Any]):
    """Criterion and target (written out) → the final label of an item; and the criteria that its studies ask (`asked`).

    What is asked and not settled is open: a label of it that came in with the item's file is not written in its place.
    """

    def __init__(self, settled: Mapping[tuple[str, str], Any], asked: Collection[str]) -> None:
        super().__init__(settled)
        self.asked = frozenset(asked)


LABELS = "labels"
"""Under which name an item that is to be written, or a part of it, has the fields that say its final labels."""


class Written(NamedTuple):
    """How many items a format took, and how many it cannot hold."""

    items: int
    left_out: int

    @classmethod
    def records(
        cls, items: Items, files: Files, record: Callable[[Normal], Any], named: Callable[[Normal], str]
    ) -> Self:
        """Add the record of each item to the file that `named` says; an item whose record is None is left out."""
        n = left_out = 0
        for item in items():
            written = record(item)
            if written is None:
                left_out += files.leave_out(item)
                continue
            files.add(named(item), written)
            n += 1
        return cls(n, left_out)


@runtime_checkable
class Writer(Protocol):
    """A format that items can be written in. Its reader makes the same items of what it writes."""

    name: str
    title: str

    def write(self, items: Items, files: Files) -> Written:
        """Write those of the items that the format can hold."""


@runtime_checkable
class VerdictWriter(Protocol):
    """A format that has a place for what studies say of claims, which is taken as a scorer takes it."""

    scorer: str
    """The name of the scorer."""

    def with_verdicts(self, item: Normal, verdicts: Sequence[Mapping[str, Any]]) -> Normal:
        """The item with these verdicts (as `annotators.scorers.shared.verdicts` reads them) and no others."""


@runtime_checkable
class LabelledWriter(Protocol):
    """A format that has a place for what people said of an item in a study."""

    def with_labels(self, item: Normal, labels: FinalLabels) -> Normal:
        """The item as it is written where it has these labels, and no others of the criteria that are asked."""


class Given(NamedTuple):
    """One label that somebody gave an item: by whom (a pseudonym, or a name where asked for), for what, and when.

    `time` is in ISO 8601; a label that says that it cannot be judged is none of these. One of a pair names its `other`
    item and stands with the first. `seconds` are those that the annotation took, `rationale` the places that support
    the label, which are counted as lost where a format has no place for them.
    """

    annotator: str
    criterion: str
    target: str
    value: Any
    time: str | None = None
    comment: str | None = None
    other: str | None = None
    seconds: float | None = None
    rationale: list[dict[str, Any]] | None = None


class Unit(NamedTuple):
    """One criterion and target of an item: its final label (None while it is open), how it was reached, its votes.

    `study` is the name of the study that says so.
    """

    criterion: str
    target: str
    label: Any
    how: str
    votes: Mapping[str, int]
    other: str | None = None
    study: str = ""


class Judged(NamedTuple):
    """An item with what everybody said of it in a study, and where each of its units stands.

    `version` is the id of its version, or another number that differs from item to item and stays the same. `pages`
    is by the keys of documents how many pages they have, as far as that is known; None where nobody has looked.
    `fell` counts further labels, which say nothing of the item as it is now: they fell when it was revised (`fallen`,
    where they are final labels). `asked` are the criteria, and what is derived from them, of the studies in which the
    item stands by itself. `scores` are those that the study's annotators are shown, as the browser gets them.
    """

    item: Normal
    labels: Sequence[Given]
    units: Sequence[Unit]
    version: int = 0
    pages: Mapping[str, int] | None = None
    fell: int = 0
    asked: Collection[str] = ()
    fallen: Sequence[Unit] = ()
    scores: Sequence[Mapping[str, Any]] = ()

    @property
    def settled(self) -> dict[tuple[str, str, str | None], Unit]:
        """Criterion, target and other item → what is settled; where several studies settled it, by the last."""
        return {(unit.criterion, unit.target, unit.other): unit for unit in self.units if unit.how != OPEN}

    @property
    def final(self) -> FinalLabels:
        """The final labels of the item by itself."""
        alone = {about[:2]: unit.label for about, unit in self.settled.items() if unit.other is None}
        return FinalLabels(alone, self.asked)


OPEN = "open"
"""How a unit is called whose final label is not known."""


class Coefficient(NamedTuple):
    """How far people agree on a criterion: a coefficient with its interval, or the reason why there is none.

    `title` is what the coefficient is called, `method` says how the interval was made.
    """

    criterion: str
    title: str
    value: float | None
    low: float | None
    high: float | None
    n_units: int
    n_raters: int
    reason: str | None
    method: str | None = None


class PairOut(NamedTuple):
    """Two items that a study has judged against each other; `turned`: the second stands left before the annotators."""

    item: str
    other: str
    turned: bool = False


def _itself(item: str) -> str:
    return item


@dataclass(frozen=True)
class StudyOut:
    """A study whose labels go out with its items: its name, what it asks, the items, each time from the beginning.

    `known_as` is what an item is called by its id where people are to judge it: ids may say what a study hides.
    `pairs` are those of a study of pairs.
    """

    name: str
    protocol: AskedProtocol
    judged: Callable[[], Iterator[Judged]]
    agreement: Callable[[], Sequence[Coefficient]] = tuple
    known_as: Callable[[str], str] = _itself
    pairs: Callable[[], Sequence[PairOut]] = tuple


@runtime_checkable
class StudyWriter(Protocol):
    """A format that has a place for what every annotator said. Without labels it is written by `Writer.write`.

    Labels of pairs go to those that say so (`takes_pairs`), and to no other.
    """

    name: str

    def write_study(self, study: StudyOut, files: Files) -> Written:
        """Write those of the study's items that the format can hold, with their labels."""


@dataclass(frozen=True)
class SettledOut:
    """Items that go out with their final labels alone, each time from the beginning: of a release, or of studies.

    No item has labels of single annotators; what `fell` are final labels. `protocols` is by the names of the studies
    what they ask, the one that counts most last. `sha256` is that of a release.
    """

    name: str
    protocols: Mapping[str, AskedProtocol]
    judged: Callable[[], Iterator[Judged]]
    sha256: str | None = None

    @property
    def criteria(self) -> dict[str, Criterion]:
        """What is asked, by name; where several studies ask something of one name, as the last does."""
        return {name: one for asks in self.protocols.values() for name, one in asks.criteria_by_name().items()}


@runtime_checkable
class SettledWriter(Protocol):
    """A format that has a place for final labels and how they were reached. Without any it is written by `write`."""

    name: str

    def write_settled(self, settled: SettledOut, files: Files) -> Written:
        """Write those of the items that the format can hold, with their final labels."""


@runtime_checkable
class ChoosingWriter(SettledWriter, Protocol):
    """One that has a place for some of the final labels alone."""

    def takes(self, unit: Unit, asked: AskedProtocol) -> bool:
        """Whether there is a place for a final label of a study that asks this."""


@runtime_checkable
class AskingWriter(Protocol):
    """A format whose files say something that nobody can know but who exports."""

    def check_options(self, options: Mapping[str, str]) -> None:
        """InvalidInput with the remedy where something is missing or unfit."""


def check_options(writers: Iterable[object], options: Mapping[str, str]) -> None:
    """InvalidInput with the remedy where one of these formats needs to be told something."""
    for writer in writers:
        if isinstance(writer, AskingWriter):
            writer.check_options(options)


Picture = Callable[[str, int, Sequence[float] | None], bytes | None]
"""Key of a document, page from 1, box in fractions or None → the bytes of a picture file, or None."""


def takes_pictures(writer: object) -> bool:
    """Whether a format has a place for pictures of pages."""
    return bool(getattr(writer, "takes_pictures", False))


def takes_pairs(writer: object) -> bool:
    """Whether a format has a place for labels of pairs."""
    return bool(getattr(writer, "takes_pairs", False))


class Files:
    """The files of one format in an export, opened when their first record comes; closed with the block.

    A file whose name ends with .json is a list, unless it was begun otherwise; any other has a record a line.
    """

    def __init__(
        self,
        opened: Callable[[str], AbstractContextManager[Out]],
        put: Callable[[str, Path, int], None],
        options: Mapping[str, str] | None = None,
        picture: Picture | None = None,
    ) -> None:
        self._opened, self._stack = opened, ExitStack()
        self.put = put
        """Takes a file that was made elsewhere: its name, its path, its rows."""
        self.options: Mapping[str, str] = options or {}
        """What was said of the export as a whole, such as its licence."""
        self.picture = picture
        """Gives the picture of a page, or of a part of it, where pictures were asked for."""
        self._files: dict[str, Out] = {}
        self._tails: dict[str, bytes] = {}
        self._names: dict[tuple[str, str], str] = {}
        self.left_out: set[str] = set()
        """Ids of the items that the format cannot hold."""
        self.verdicts = 0
        """How many verdicts on claims a `VerdictWriter` wrote."""

    def leave_out(self, item: Normal) -> int:
        """Note an item that the format cannot hold; how many items that is, for whoever counts them."""
        self.left_out.add(item["id"])
        return 1

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            for name, tail in self._tails.items():
                self._files[name].write(tail)
        self._stack.__exit__(*error)

    def begin(self, name: str, head: bytes = b"[\n", tail: bytes = b"\n]\n") -> Out:
        """Open a file that has this before its records and this after them, if it is not open."""
        if name not in self._files:
            out = self._files[name] = self._stack.enter_context(self._opened(name))
            out.rows = 0
            if name.endswith(".json"):
                out.write(head)
                self._tails[name] = tail
        return self._files[name]

    def add(self, name: str, record: Any) -> None:
        """Append a record."""
        out = self.begin(name)
        rows = out.rows or 0
        if name in self._tails:
            out.write((b",\n" if rows else b"") + orjson.dumps(record))
        else:
            out.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        out.rows = rows + 1

    def named(self, kind: str, about: str, ending: str) -> str:
        """The name of the file of one kind that is about this, such as a system: plain, and no other one's."""
        if (kind, about) not in self._names:
            plain = plain_name(about)
            taken = {name.casefold() for name in self._names.values()}
            name, number = f"{plain}{ending}", 1
            while name.casefold() in taken:
                number += 1
                name = f"{plain}-{number}{ending}"
            self._names[kind, about] = name
        return self._names[kind, about]


def cell_of(value: Any) -> str:
    """A label's value as one text: a word as it is, a number in digits, a list as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def without(values: Normal, *names: str) -> Normal:
    """An object without these fields."""
    return {name: value for name, value in values.items() if name not in names}


def beside(record: Normal, metadata: Normal, known: Collection[str] = ()) -> Normal:
    """A record with metadata beside its fields.

    What is called as a field of the record, or as any that the format's reader knows, is left out: it would be taken
    for that field.
    """
    return record | {name: value for name, value in metadata.items() if name not in record and name not in known}


def given(**fields: Any) -> Normal:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def metadata_of(part: Normal) -> Normal:
    """The metadata of an item or of one of its parts."""
    found: Normal = part.get("metadata", {})
    return found


def parts_of(item: Normal, name: str) -> list[Normal]:
    """The parts of one kind."""
    found: list[Normal] = item.get(name, [])
    return found
