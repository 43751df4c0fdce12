"""What annotators of another tool are shown of an item: what its protocol shows, as texts, a task for each unit.

Nothing of what a protocol hides is in a task: no role, system, score or label of anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from annotators.items.item import image_side
from annotators.items.normal import Normal
from annotators.items.targets import TargetKind
from exports.formats._writing import Given, Judged, PairOut, StudyOut, metadata_of, parts_of

if TYPE_CHECKING:
    from annotators.criteria import Criterion
    from annotators.protocols import Protocol

ALONE = "item"
"""The kind of the tasks that are about the whole item."""


class Task(NamedTuple):
    """What is judged at once: the target, what it is in words (empty for the item), and the texts beside it."""

    target: str
    unit: str
    texts: dict[str, str]


PAIR = str(TargetKind.PAIR)
"""The kind of the tasks that are about two items."""

ANSWERS = "answers"
"""The field of a task that holds the two answers of a pair."""


def criteria_by_kind(protocol: Protocol) -> dict[str, list[Criterion]]:
    """Kind of target → its criteria, in the order of the protocol. Where pairs are judged all are asked of the pair."""
    if protocol.about_pairs:
        return {PAIR: list(protocol.criteria)}
    found: dict[str, list[Criterion]] = {}
    for criterion in protocol.criteria:
        found.setdefault(str(criterion.target), []).append(criterion)
    return found


class PairTask(NamedTuple):
    """Two items as they are judged: left and right by their ids, the texts beside them, the answers, what was said.

    The values of what was said count from left to right.
    """

    left: str
    right: str
    texts: dict[str, str]
    answers: tuple[str, str]
    said: list[Given]


class _Side(NamedTuple):
    item: Normal
    labels: Sequence[Given]


class PairTasks:
    """The pairs of a study, each as soon as both its items have come. Items are held until their last pair is out."""

    def __init__(self, study: StudyOut) -> None:
        self._protocol = study.protocol
        self._pairs: dict[str, list[PairOut]] = {}
        self._held: dict[str, _Side] = {}
        for pair in study.pairs():
            for item in (pair.item, pair.other):
                self._pairs.setdefault(item, []).append(pair)

    def with_item(self, judged: Judged) -> Iterator[PairTask]:
        """The tasks of the pairs that are whole with this item."""
        name = judged.item["id"]
        self._held[name] = _Side(judged.item, judged.labels)
        whole = [one for one in self._pairs.get(name, ()) if one.item in self._held and one.other in self._held]
        for pair in whole:
            yield self._task(pair)
            for item in (pair.item, pair.other):
                self._pairs[item].remove(pair)
        for item in {name, *(item for pair in whole for item in (pair.item, pair.other))}:
            if not self._pairs.get(item):
                del self._held[item]

    def _task(self, pair: PairOut) -> PairTask:
        first, second = self._held[pair.item], self._held[pair.other]
        asked = {criterion.name: criterion for criterion in self._protocol.criteria}
        said = [*_of_pair(first, pair.other, asked, turned=pair.turned),
                *_of_pair(second, pair.item, asked, turned=not pair.turned)]  # fmt: skip
        left, right = (second, first) if pair.turned else (first, second)
        units = parts_of(left.item, "evidence") + [
            unit for unit in parts_of(right.item, "evidence") if unit not in parts_of(left.item, "evidence")
        ]
        texts = texts_of({**first.item, "answer": "", "evidence": units}, self._protocol)
        answers = (str(left.item["answer"]), str(right.item["answer"]))
        return PairTask(left.item["id"], right.item["id"], texts, answers, said)


def _of_pair(side: _Side, other: str, asked: Mapping[str, Criterion], *, turned: bool) -> Iterator[Given]:
    """What was said of an item and another one, with the values from left to right."""
    for label in side.labels:
        if label.other == other and label.criterion in asked:
            criterion = asked[label.criterion]
            turns = turned and criterion.target == TargetKind.PAIR
            yield label._replace(value=criterion.turned(label.value)) if turns else label


def texts_of(item: Normal, protocol: Protocol) -> dict[str, str]:
    """The texts of an item that the protocol shows in some step: question, answer, reference, evidence."""
    shown = {str(material) for step in protocol.steps for material in step.shows}
    found = {"question": item["question"]} if "question" in shown or not shown else {}
    if "answer" in shown and item["answer"]:
        found["answer"] = item["answer"]
    if "references" in shown and item.get("references"):
        found["reference"] = "\n\n".join(_reference(one) for one in item["references"])
    if "evidence" in shown:
        units = [f"[{number}] {_unit(unit)}" for number, unit in enumerate(parts_of(item, "evidence"), 1)]
        if units:
            found["evidence"] = "\n\n".join(units)
    return found


def fields_of_tasks(protocol: Protocol) -> list[str]:
    """The texts that tasks of a protocol may have, in their order."""
    shown = {str(material) for step in protocol.steps for material in step.shows}
    names = [("question", "question"), ("answer", "answer"), ("references", "reference"), ("evidence", "evidence")]
    return [name for material, name in names if material in shown] or ["question"]


def tasks(item: Normal, kind: str, criteria: Sequence[Criterion], protocol: Protocol) -> Iterator[Task]:
    """The tasks of one kind that an item has: one for the item, or one for each part that a criterion is about."""
    texts = texts_of(item, protocol)
    if kind == ALONE:
        yield Task(ALONE, "", texts)
        return
    seen: dict[str, None] = {}
    for criterion in criteria:
        for target in targets_of(item, criterion):
            seen.setdefault(target)
    words = _words(item)
    for target in seen:
        yield Task(target, " | ".join(words.get(part, part) for part in target.split("|")), texts)


def targets_of(item: Normal, criterion: Criterion) -> Sequence[str]:
    """Every target on an item that a criterion is about, written out; of pages those that evidence is on."""
    from annotators.items.targets import ChosenBy, Units  # noqa: PLC0415 - beside its use

    evidence, claims, images = (parts_of(item, name) for name in ("evidence", "claims", "images"))
    parts = {f"claim:{one['key']}": ChosenBy(of=one.get("of", "answer")) for one in claims}
    parts |= {f"image:{one['key']}": ChosenBy(of=image_side(metadata_of(one))) for one in images}
    parts |= {
        f"evidence:{one['key']}": ChosenBy(kind=one["kind"], role=one.get("role"), rank=one.get("rank"))
        for one in evidence
    }
    pages = dict.fromkeys(
        (one["document"], page) for one in evidence for page in one.get("pages", ()) if "document" in one
    )
    units = Units(
        evidence=tuple(one["key"] for one in evidence),
        claims=tuple(one["key"] for one in claims),
        pages=tuple(pages),
        images=tuple(one["key"] for one in images),
        hops=tuple(one["key"] for one in parts_of(item, "hops")),
        answer=item["answer"],
        parts=parts,
    )
    return criterion.targets(units)


def _words(item: Normal) -> dict[str, str]:
    """Written part → what it is, in words."""
    found = {f"evidence:{one['key']}": _unit(one) for one in parts_of(item, "evidence")}
    found |= {f"claim:{one['key']}": one["text"] for one in parts_of(item, "claims")}
    found |= {f"image:{one['key']}": one.get("caption") or one["key"] for one in parts_of(item, "images")}
    return found | {f"hop:{one['key']}": one.get("question") or one["key"] for one in parts_of(item, "hops")}


def _unit(unit: Normal) -> str:
    pages = ", ".join(map(str, unit.get("pages", ())))
    place = ", ".join(filter(None, [unit.get("document", ""), f"page {pages}" if pages else ""]))
    return unit.get("text") or place or str(unit["key"])


def _reference(one: str | list[str]) -> str:
    return one if isinstance(one, str) else "; ".join(one)
