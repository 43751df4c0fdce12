"""What became of labels on the way through a format: which do not come back, and what of the others is otherwise."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from annotators.errors import AssayError
from annotators.items.normal import Normal
from annotators.items.parsed import ForeignLabel
from annotators.items.targets import TargetKind
from exports.formats._losing import WORDS, Lost

if TYPE_CHECKING:
    from annotators.criteria import Criterion

Plain = Callable[[ForeignLabel], Any]
"""The value of a label, the same for texts that mean the same, and of a pair whichever of the two stands first."""

_BESIDES: dict[str, Callable[[ForeignLabel], Any]] = {
    "labels.time": lambda label: label.time,
    "labels.seconds": lambda label: None if label.seconds is None else round(label.seconds, 3),
    "labels.comment": lambda label: label.comment or None,
    "labels.rationale": lambda label: label.rationale or None,
}
"""What a label may have beside its value → how it says it, None where it does not."""


FINAL_WORDS = {
    "labels": "final labels",
    "labels.value": "values of final labels, which come back otherwise",
    "labels.fell": "final labels that fell when their items were revised",
}
"""What of final labels is lost, as `WORDS` says it of those of people."""


class SameItems:
    """Which items and parts are the same on either side of a format that gives some another key: told as they pass by.

    An item whose id is gone is the next new one that asks and answers the same, else that answers the same. A part is
    the one at its place where an item has as many as before, else the next one with the same text.
    """

    def __init__(self) -> None:
        self._before, self._after = dict[str, _Known](), dict[str, _Known]()

    def before(self, items: Iterable[Normal]) -> Iterator[Normal]:
        """Those that were there, as they are."""
        return _noted(items, self._before)

    def after(self, items: Iterable[Normal]) -> Iterator[Normal]:
        """Those that are there now, as they are."""
        return _noted(items, self._after)

    def moved(self, label: ForeignLabel) -> ForeignLabel:
        """A label that was there, of the item and parts as they are called now."""
        item = self._renamed.get(label.item, label.item)
        other = label.other and self._renamed.get(label.other, label.other)
        target = label.target
        if target not in _WHOLE:
            parts = self._parts(label.item, item)
            target = "|".join(parts.get(part, part) for part in target.split("|"))
        return label._replace(item=item, other=other, target=target)

    @cached_property
    def _renamed(self) -> dict[str, str]:
        """Id that is gone → the new one."""
        gone = [(name, known.says) for name, known in self._before.items() if name not in self._after]
        new = [(name, known.says) for name, known in self._after.items() if name not in self._before]
        found = _alike(gone, new)
        return found | _alike([(name, said[1:]) for name, said in gone if name not in found],
                              [(name, said[1:]) for name, said in new if name not in found.values()])  # fmt: skip

    def _parts(self, before: str, after: str) -> dict[str, str]:
        """Part of an item → what it is called now, written as targets are."""
        if before not in self._before or after not in self._after:
            return {}
        were, are = self._before[before].parts, self._after[after].parts
        if were.keys() == are.keys():
            return {}
        found: dict[str, str] = {}
        for kind in _PARTS.values():
            old = [(part, (says,)) for part, says in were.items() if part.startswith(kind)]
            new = [(part, (says,)) for part, says in are.items() if part.startswith(kind)]
            if len(old) == len(new):
                gone = (part for part, _ in old if part not in are)
                found |= zip(gone, (part for part, _ in new if part not in were), strict=True)
            else:
                found |= _alike(old, new)
        return found


class _Known(NamedTuple):
    """What question and answer of an item say, and the text of each of its parts; texts by their hash."""

    says: tuple[int, ...]
    parts: dict[str, int]


_WHOLE = ("item", "pair")
_PARTS = {"evidence": "evidence:", "claims": "claim:", "images": "image:", "hops": "hop:"}
"""The field of an item's parts → how a target that is one of them begins."""


def _noted(items: Iterable[Normal], seen: dict[str, _Known]) -> Iterator[Normal]:
    for item in items:
        parts = {
            f"{begins}{part['key']}": hash(part.get("text", part.get("caption", part.get("question"))))
            for field, begins in _PARTS.items()
            for part in item.get(field, ())
        }
        seen[item["id"]] = _Known((hash(item["question"]), hash(item["answer"])), parts)
        yield item


def _alike(gone: Sequence[tuple[str, tuple[int, ...]]], new: Sequence[tuple[str, tuple[int, ...]]]) -> dict[str, str]:
    """Of those that say the same the first is the first, the second the second."""
    free: defaultdict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, says in reversed(new):
        free[says].append(name)
    return {name: free[says].pop() for name, says in gone if free[says]}


def lost_labels(
    before: Iterable[ForeignLabel],
    after: Iterable[ForeignLabel],
    plain: Plain,
    *,
    moved: Callable[[ForeignLabel], ForeignLabel] = lambda label: label,
    final: bool = False,
) -> list[Lost]:
    """What labels said before and do not say after: the labels themselves, who gave them, their values, what is beside.

    A label comes back in one about the same unit: of the same annotator, else of somebody, whose value is the same
    where there is such a one. What a label that is gone said besides counts no more. `moved` gives a label
    before as its item and parts are called after. `final` labels are called so.
    """
    there: defaultdict[tuple[Any, ...], list[ForeignLabel]] = defaultdict(list)
    for label in after:
        there[_unit(label)].append(label)
    gone, there_were = Counter[str](), Counter[str]()
    left: list[ForeignLabel] = []
    for label in map(moved, before):
        there_were.update(["labels", "labels.annotator", "labels.value"])
        there_were.update(path for path, said in _BESIDES.items() if said(label) is not None)
        own = next((one for one in there[_unit(label)] if one.annotator == label.annotator), None)
        if own is None:
            left.append(label)
        else:
            there[_unit(label)].remove(own)
            gone.update(_otherwise(label, own, plain))
    for label in left:
        free = there[_unit(label)]
        if not free:
            gone["labels"] += 1
            continue
        anybodys = next((one for one in free if plain(one) == plain(label)), free[0])
        free.remove(anybodys)
        gone["labels.annotator"] += 1
        gone.update(_otherwise(label, anybodys, plain))
    words = WORDS | FINAL_WORDS if final else WORDS
    return [Lost(path, words[path], gone[path], there_were[path]) for path in WORDS if gone[path]]


def _unit(label: ForeignLabel) -> tuple[Any, ...]:
    return frozenset((label.item, label.other)), label.criterion, label.target


def _otherwise(before: ForeignLabel, after: ForeignLabel, plain: Plain) -> Iterable[str]:
    if plain(before) != plain(after):
        yield "labels.value"
    for path, said in _BESIDES.items():
        if said(before) is not None and said(before) != said(after):
            yield path


def plain_by(criteria: Mapping[str, Criterion]) -> Plain:
    """Values as their criteria read them, by name; of any other criterion the number or the text that stands there."""

    def plain(label: ForeignLabel) -> Any:
        criterion = criteria.get(label.criterion)
        value: Any
        try:
            value = _value(label.value) if criterion is None else criterion.parse(label.value)
        except AssayError:
            value = _value(label.value)
        if criterion is not None and criterion.target == TargetKind.PAIR and (label.other or "") < label.item:
            value = criterion.turned(value)
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            return [(one.get("start"), one.get("end"), one.get("label")) for one in value]
        return value

    return plain


def _value(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
