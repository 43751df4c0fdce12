"""What people, or a judge, said in a study, settled or each, in columns: what reports of results are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from annotators.arrays import FloatArray, IntArray
from annotators.criteria import Criterion
from annotators.criteria.base import written
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from db.engine import Database
from db.models import Study
from db.permissions import Actor
from db.studies.ratings import StudyItems, StudyRatings, ratings
from db.studies.settlements import stream_settled

Whose = Literal["settled", "each", "judge"]
WHOSE: dict[Whose, str] = {
    "settled": "Settled labels",
    "each": "Labels of single annotators",
    "judge": "Labels of the judge",
}

Grouping = Literal["system", "category"]
GROUPINGS: tuple[Grouping, ...] = ("system", "category")

NO_CATEGORY = "no category"


def is_preference(criterion: Criterion) -> bool:
    """Whether it asks which of two answers is better, by a number: below zero the first, above it the second."""
    values = [label.value for label in criterion.label_list()]
    numbers = not values or all(isinstance(value, int) for value in values)
    return criterion.target == TargetKind.PAIR and criterion.ordered and numbers


@dataclass(frozen=True, eq=False)
class CriterionLabels:
    """Labels of one criterion, one entry each: of settled units one a unit, of annotators and judges one a label.

    `value` (n) has places in `distinct`, `target` (n) places in `targets`, `item` (n) places in the study's items.
    """

    criterion: Criterion
    whose: Whose
    distinct: list[Any]
    value: IntArray
    targets: list[str]
    target: IntArray
    item: IntArray

    @property
    def n(self) -> int:
        """How many labels there are."""
        return len(self.value)

    @property
    def values(self) -> list[Any]:
        """The labels themselves (n)."""
        return [self.distinct[place] for place in self.value.tolist()]

    @property
    def about(self) -> list[str]:
        """What each label is about (n), written out: `item`, `evidence:e1`, …"""
        return [self.targets[place] for place in self.target.tolist()]

    def chosen(self, entries: IntArray) -> CriterionLabels:
        """Only these entries (their places)."""
        return CriterionLabels(
            self.criterion,
            self.whose,
            self.distinct,
            self.value[entries],
            self.targets,
            self.target[entries],
            self.item[entries],
        )

    def hits(self, *labels: str) -> FloatArray:
        """1 for each entry (n) that has one of these labels, else 0; a set of labels has all that are in it."""
        wanted = set(labels)
        has = [float(bool(wanted & set(self.criterion.labels_in(value)))) for value in self.distinct]
        return np.array(has, dtype=np.float64)[self.value] if self.n else np.empty(0)


@dataclass(frozen=True, eq=False)
class StudyLabels:
    """A study's labels: those that count of single annotators (`found`), and what they settle as.

    `db` and `actor` are for what a report needs besides; the actor may read the study's labels. `judge` is the one
    whose labels these are; None: they are people's.
    """

    db: Database
    actor: Actor | None
    study_id: int
    found: StudyRatings
    settled: dict[str, list[tuple[int, str, str, Any]]]
    """Criterion → (study item, target, state, value) of each unit; one that is open has no value yet."""
    judge: str | None = None

    @classmethod
    def of(cls, db: Database, actor: Actor | None, study_id: int, *, judge: str | None = None) -> StudyLabels:
        """Read those of people, or of a judge; NotFound for one who has labelled nothing here.

        Permissions are those of reading the study's labels.
        """
        if judge is not None:
            return cls(db, actor, study_id, ratings(db, actor, study_id, kinds=(), judges=(judge,)), {}, judge)
        found = ratings(db, actor, study_id, named=False)
        settled: dict[str, list[tuple[int, str, str, Any]]] = {}
        with db.read() as session:
            for unit in stream_settled(session, study_id):
                given = (unit.study_item_id, unit.target, unit.state, unit.value)
                settled.setdefault(unit.criterion, []).append(given)
        return cls(db, actor, study_id, found, settled)

    @property
    def whose(self) -> Sequence[Whose]:
        """Whose labels reports are made of: the settled ones and those of each annotator, or the judge's."""
        return ("settled", "each") if self.judge is None else ("judge",)

    @property
    def called(self) -> str:
        """Whose labels they are, in words."""
        return self.judge or "people"

    @property
    def study(self) -> Study:
        """The study."""
        return self.found.study

    @property
    def protocol(self) -> Protocol:
        """The protocol that it is frozen with."""
        return self.found.protocol

    @property
    def items(self) -> StudyItems:
        """Its items."""
        return self.found.items

    def labels(self, criterion: str, whose: Whose) -> CriterionLabels:
        """The labels of a criterion: what is settled, or what each annotator (or the judge) gave.

        `cannot judge` is in neither.
        """
        column = next(report for report in self.found.criteria if report.criterion.name == criterion)
        if whose != "settled":
            item, target = column.item[column.unit], column.target[column.unit]
            return CriterionLabels(column.criterion, whose, column.distinct, column.value, column.targets, target, item)
        given = [unit for unit in self.settled.get(criterion, ()) if unit[2] != "open"]
        texts = [written(value) for _, _, _, value in given]
        distinct = dict(zip(texts, (value for *_, value in given), strict=True))
        values, targets = _places(distinct), _places(target for _, target, _, _ in given)
        return CriterionLabels(
            column.criterion,
            whose,
            list(distinct.values()),
            _integers([values[text] for text in texts]),
            list(targets),
            _integers([targets[target] for _, target, _, _ in given]),
            np.searchsorted(self.items.study_item, _integers([unit[0] for unit in given])),
        )

    def states(self, criterion: str) -> Counter[str]:
        """How many units of a criterion are agreed on, adjudicated, or still open."""
        return Counter(state for _, _, state, _ in self.settled.get(criterion, ()))

    def cannot_judge(self, criterion: str) -> int:
        """How often somebody said that they cannot judge."""
        return next(report.cannot_judge for report in self.found.criteria if report.criterion.name == criterion)

    # What items are grouped by, and what is drawn together

    @cached_property
    def over(self) -> str:
        """What a cluster is: items, or questions where some question has several items of the study."""
        return "items" if len(np.unique(self.items.question)) == len(self.items.question) else "questions"

    @cached_property
    def cluster(self) -> IntArray:
        """The cluster of each item, by numbers from 0."""
        return np.unique(self.items.question, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def _groups(self) -> dict[Grouping, tuple[list[str], IntArray]]:
        """The systems and the categories that there are, sorted, and which of them each item is of."""
        given = {
            "system": self.items.system,
            "category": [category or NO_CATEGORY for category in self.items.category],
        }
        found: dict[Grouping, tuple[list[str], IntArray]] = {}
        for by in GROUPINGS:
            names, places = np.unique(np.array(given[by], dtype=object), return_inverse=True)
            found[by] = names.tolist(), places.astype(np.int64)
        return found

    def grouped(self, by: Grouping) -> tuple[list[str], IntArray]:
        """The systems or the categories that there are, and which of them (its place) each item is of."""
        return self._groups[by]

    def groups(self, by: Grouping) -> list[str]:
        """The systems or categories that there are, sorted; none where all items are of one."""
        names, _ = self._groups[by]
        return names if len(names) > 1 else []

    def group_of(self, labels: CriterionLabels, by: Grouping) -> list[str]:
        """The system or the category of each label's item (n)."""
        names, of = self._groups[by]
        return [names[place] for place in of[labels.item].tolist()]

    def places_of(self, by: Grouping, name: str) -> list[int]:
        """The places of the items of one system or category."""
        names, of = self._groups[by]
        return np.flatnonzero(of == names.index(name)).tolist()

    def of_group(self, labels: CriterionLabels, by: Grouping, name: str) -> CriterionLabels:
        """The labels of the items of one system or category."""
        names, of = self._groups[by]
        return labels.chosen(np.flatnonzero(of[labels.item] == names.index(name)))


def _places(names: Any) -> dict[str, int]:
    """Name → its place among those that there are, in order of appearance."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _integers(numbers: Sequence[int]) -> IntArray:
    return np.array(numbers, dtype=np.int64)
