"""What annotators of another tool are shown of an item: what its protocol shows, as texts, a task for each unit.

Nothing of what a protocol hides is in a task: no role, system, score or label of anybody. Scores are shown where they
are what is judged, and never beside what is asked before they are seen. Parts of items are called as our own annotators
know them (`db.annotating.presentations`): their keys, and the order in which evidence came, can give away what they
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from annotators.items.item import ItemContent, ItemEvidence
from annotators.items.normal import read_item
from annotators.items.pairs import question_of_pair
from annotators.items.targets import TargetKind
from exports.formats._writing import Given, Judged, PairOut, StudyOut

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


SCORES = "scores"
"""The field of a task that holds the scores that are judged."""


class Together(NamedTuple):
    """What is asked in one folder of tasks: of which kind of target, beside the scores or not, and which criteria."""

    folder: str
    kind: str
    scores: bool
    criteria: list[Criterion]

    def task_id(self, item: str, target: str) -> str:
        """What a task of an item is called: no other task of it, in whatever folder, is called so."""
        with_scores = self.folder.removeprefix(self.kind).lstrip("-")
        return "|".join(filter(None, [item, "" if target == ALONE else target, with_scores]))


def asked_together(protocol: Protocol) -> list[Together]:
    """The folders of tasks that ask a protocol, in the order of its criteria. Where pairs are judged it is one.

    There is one for each kind of target. All of a task is seen at once, so what is asked when the scores have come, in
    a protocol that asks something before, is asked in a folder of its own (`item-scores`), to be handed on later.
    """
    from annotators.criteria.material import Material  # noqa: PLC0415 - loads pydantic

    if protocol.about_pairs:
        return [Together(PAIR, PAIR, scores=False, criteria=list(protocol.criteria))]
    steps = {name: number for number, step in enumerate(protocol.steps) for name in step.criteria}
    first = protocol.first_step_showing(Material.SCORES)
    found: dict[str, Together] = {}
    for criterion in protocol.criteria:
        kind = str(criterion.target)
        scores = first is not None and steps[criterion.name] >= first
        folder = f"{kind}-{SCORES}" if scores and first else kind
        found.setdefault(folder, Together(folder, kind, scores, [])).criteria.append(criterion)
    return list(found.values())


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
    item: ItemContent
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
        self._held[name] = _Side(content_of(judged), judged.labels)
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
        texts = ShownItem(question_of_pair(first.item, second.item), self._protocol).texts(scores=False)
        return PairTask(left.item.id, right.item.id, texts, (left.item.answer, right.item.answer), said)


def _of_pair(side: _Side, other: str, asked: Mapping[str, Criterion], *, turned: bool) -> Iterator[Given]:
    """What was said of an item and another one, with the values from left to right."""
    for label in side.labels:
        if label.other == other and label.criterion in asked:
            criterion = asked[label.criterion]
            turns = turned and criterion.target == TargetKind.PAIR
            yield label._replace(value=criterion.turned(label.value)) if turns else label


_FIELDS = {
    "question": "question",
    "hops": "hops",
    "answer": "answer",
    "references": "reference",
    "claims": "claims",
    "evidence": "evidence",
    "images": "images",
    "scores": SCORES,
}
"""Material that a task has a text for → its field."""


def fields_of_tasks(protocol: Protocol, *, scores: bool) -> list[str]:
    """The texts that tasks of a protocol may have, in their order: beside the scores, or before they are seen."""
    shown = {str(material) for step in protocol.steps for material in step.shows}
    shown -= set() if scores else {SCORES}
    return [name for material, name in _FIELDS.items() if material in shown] or ["question"]


def content_of(judged: Judged) -> ItemContent:
    """The item as it is presented here."""
    return read_item(judged.item)._replace(version_id=judged.version)


class ShownItem:
    """What the steps of a protocol show of an item, all at once, its parts under neutral names.

    Evidence stands in the order that it has before our annotators where roles are hidden, as no task shows any. Pages
    are all those of its documents, where `pages` says how many they are: those of its evidence alone would tell which
    these are. `scores` are those that are judged, as the browser gets them.
    """

    def __init__(
        self,
        content: ItemContent,
        protocol: Protocol,
        pages: Mapping[str, int] | None = None,
        scores: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        from db.annotating.presentations import Materials, Wire, materials_at, units_of  # noqa: PLC0415 - loads SQL

        last = len(protocol.steps) - 1
        materials = Materials(0, content, ())
        seen = materials_at(materials, protocol, last)
        # What is hidden has names too, behind the others, as labels from elsewhere may be about it.
        whole = materials_at(materials, protocol, last, hidden=True).item
        behind = {unit.key for unit in whole.evidence} - {unit.key for unit in seen.item.evidence}
        self._names = Wire(whole, roles_shown=False, behind=behind)
        # Our own page counts the steps of a question and shows no key of one; `Wire` has no names for them.
        self._steps = {f"hop:{hop.key}": f"hop:H{number}" for number, hop in enumerate(whole.hops, 1)}
        units = {unit.key: unit for unit in seen.item.evidence}
        self._evidence = [units[key] for key in self._names.evidence if key in units]
        self._item, self._protocol, self._scores = seen.item, protocol, scores
        shown = tuple(unit.key for unit in self._evidence)
        of_evidence = ((unit.document, page) for unit in self._evidence for page in unit.pages if unit.document)
        on_pages = [*(unit.document for unit in seen.item.evidence), *(image.document for image in seen.item.images)]
        keys = dict.fromkeys([*seen.item.documents, *filter(None, on_pages)])
        of_documents = ((key, number) for key in keys for number in range(1, (pages or {}).get(key, 0) + 1))
        judged = tuple(dict.fromkeys(of_evidence if pages is None else of_documents))
        self._units = replace(units_of(seen, self._names), evidence=shown, pages=judged)
        self.parts = {
            name: part
            for part in [
                *(f"evidence:{unit.key}" for unit in whole.evidence),
                *(f"claim:{claim.key}" for claim in whole.claims),
                *(f"image:{image.key}" for image in whole.images),
                *self._steps,
            ]
            if (name := self._out(part)) != part
        }
        """Neutral name → part, of each that has another name here."""

    def texts(self, *, scores: bool) -> dict[str, str]:
        """The texts that some step shows, by their fields; one that the item does not have is not there.

        The `scores` are among them or not.
        """
        from annotators.asking.shown_scores import score_lines  # noqa: PLC0415 - loads pydantic

        item, fields = self._item, fields_of_tasks(self._protocol, scores=scores)
        answers = "answer" in fields
        hops = [f"{hop.question} → {hop.answer}" if hop.answer and answers else hop.question for hop in item.hops]
        found = {
            "question": item.question,
            "hops": "\n".join(hops),
            "answer": item.answer,
            "reference": "\n\n".join(map(_reference, item.references)),
            "claims": self._listed((f"claim:{claim.key}", claim.text) for claim in item.claims),
            "evidence": self._listed((f"evidence:{unit.key}", _words_of(unit)) for unit in self._evidence),
            "images": self._listed((f"image:{image.key}", image.caption) for image in item.images),
            SCORES: score_lines(self._scores, self._protocol),
        }
        return {name: found[name] for name in fields if found[name] or name == "question"}

    def tasks(self, asked: Together, labelled: Iterable[str]) -> Iterator[Task]:
        """The tasks of one folder: one for the item, or one for each part that a criterion is about.

        Behind them one for each other target that is `labelled`, by its neutral name: nothing is shown of it.
        """
        texts = self.texts(scores=asked.scores)
        if asked.kind == ALONE:
            yield Task(ALONE, "", texts)
            return
        item = self._item
        words = {f"evidence:{unit.key}": _words_of(unit) for unit in self._evidence}
        words |= {f"claim:{claim.key}": claim.text for claim in item.claims}
        words |= {f"image:{image.key}": image.caption for image in item.images}
        words |= {f"hop:{hop.key}": hop.question for hop in item.hops}
        words = {part: said or self._called(part) for part, said in words.items()}
        words |= {f"page:{key}:{number}": f"{key}, page {number}" for key, number in self._units.pages}
        seen = set()
        for target in dict.fromkeys(one for criterion in asked.criteria for one in criterion.targets(self._units)):
            unit = " | ".join(words.get(part, part) for part in target.split("|"))
            seen.add(name := self._out(target))
            yield Task(name, unit, texts)
        for target in labelled:
            if target not in seen:
                yield Task(target, target, {"question": item.question})

    def said(self, labels: Iterable[Given], criteria: Iterable[Criterion]) -> Iterator[Given]:
        """Those of the labels that answer one of the criteria, by the neutral names."""
        asked = {criterion.name: criterion for criterion in criteria}
        for label in labels:
            if label.criterion in asked:
                value = asked[label.criterion].rekeyed(label.value, self._out)
                yield label._replace(target=self._out(label.target), value=value)

    def _listed(self, parts: Iterable[tuple[str, str]]) -> str:
        """Parts with their words, a paragraph each, under their neutral names."""
        return "\n\n".join(f"[{self._called(part)}] {words}".rstrip() for part, words in parts)

    def _out(self, target: str) -> str:
        """A target by the neutral names of its parts."""
        return "|".join(self._steps.get(part, part) for part in self._names.out(target).split("|"))

    def _called(self, part: str) -> str:
        """A part by its neutral name without what it is: E1, C2, H1."""
        return self._out(part).partition(":")[2]


def _words_of(unit: ItemEvidence) -> str:
    """What a unit says, or else where it stands."""
    pages = ", ".join(map(str, unit.pages))
    return unit.text or ", ".join(filter(None, [unit.document or "", f"page {pages}" if pages else ""]))


def _reference(one: str | list[str]) -> str:
    return one if isinstance(one, str) else "; ".join(one)
