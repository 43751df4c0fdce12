"""What judges and people said of a study's units, criterion by criterion: the material of reports about judges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.agreement.tables.ratings import COMPOSED
from annotators.criteria import Criterion
from annotators.criteria.base import AsNumbers
from annotators.errors import NotFound
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from db.engine import Database
from db.models import AnnotationKind, Item, ItemVersion, StudyItem
from db.permissions import Actor
from db.query import pick
from db.studies.ratings import CriterionRatings, StudyRatings, ratings, unit_name
from db.studies.settlements import stream_settled

Labels = Mapping[str, str]
"""Unit → vote: the label as it is counted."""

PeopleBy = Literal["majority", "settled"]
"""What stands for people: the label that most of them gave, or the one that is settled."""


@dataclass(frozen=True)
class JudgedUnits:
    """What is known of the units besides their labels: the question of each, its system and category."""

    question: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """system and category → unit → group; units without one are in none."""


@dataclass(frozen=True, eq=False)
class CriterionLabels:
    """The labels of one criterion: of each judge and each person, as votes."""

    criterion: Criterion
    judges: Mapping[str, Labels]
    people: Mapping[str, Labels]
    numbers: AsNumbers
    values: Mapping[str, Any]
    settled: Labels = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The criterion's name."""
        return self.criterion.name

    @property
    def title(self) -> str:
        """What people know the criterion as."""
        return self.criterion.title

    @property
    def about_pairs(self) -> bool:
        """Whether two answers are judged against each other."""
        return self.criterion.target == TargetKind.PAIR

    @property
    def labels(self) -> list[str]:
        """The declared labels in their order, as votes; of numbers those that occur, by size."""
        declared = [self.criterion.vote(label.value) for label in self.criterion.label_list()]
        return declared or sorted(self.values, key=lambda vote: (self.number(vote) or 0.0, vote))

    @property
    def scale(self) -> tuple[float, float] | None:
        """The ends of the labels where they are numbers, or one of two; None of labels without order."""
        return self.numbers.scale if self.numbers.reason is None else None

    def number(self, vote: str) -> float | None:
        """The number that a vote stands for."""
        return self.numbers.number(self.values[vote]) if vote in self.values else None

    @cached_property
    def majority(self) -> tuple[dict[str, str], int]:
        """The label that most people gave each unit, and how many units are ties, which have none."""
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for given in self.people.values():
            for unit, vote in given.items():
                votes[unit][vote] += 1
        found, ties = {}, 0
        for unit, counts in votes.items():
            (vote, n), *others = counts.most_common(2)
            if others and others[0][1] == n:
                ties += 1
            else:
                found[unit] = vote
        return found, ties

    def as_numbers(self, given: Labels) -> dict[str, float]:
        """Unit → number, of labels that have one."""
        found = ((unit, self.number(vote)) for unit, vote in given.items())
        return {unit: number for unit, number in found if number is not None}

    @cached_property
    def mean(self) -> dict[str, float]:
        """Unit → the mean of people's numbers."""
        values: dict[str, list[float]] = defaultdict(list)
        for given in self.people.values():
            for unit, number in self.as_numbers(given).items():
                values[unit].append(number)
        return {unit: sum(numbers) / len(numbers) for unit, numbers in values.items()}

    def of_people(self, by: PeopleBy = "majority") -> Labels:
        """The one label of people, as a vote."""
        return self.settled if by == "settled" else self.majority[0]

    def reference(self, by: PeopleBy = "majority") -> Mapping[str, Any]:
        """What a judge is held against: the mean of numbers, the majority of labels that are none, or are two.

        With `settled` the settled label, as a number where labels are numbers.
        """
        if by == "settled" or self.scale is None or self.numbers.binary:
            said = self.of_people(by)
            return said if self.scale is None else self.as_numbers(said)
        return self.mean

    def comparable(self, given: Labels) -> Mapping[str, Any]:
        """Labels of a judge in the terms of `reference`."""
        return given if self.scale is None else self.as_numbers(given)


@dataclass(frozen=True, eq=False)
class JudgedStudy:
    """A study with what was said of it: all `judges` that labelled there, and why criteria are `left_out`."""

    study_id: int
    project_id: int
    name: str
    protocol: Protocol
    judges: Sequence[str]
    criteria: Sequence[CriterionLabels]
    units: JudgedUnits
    left_out: Mapping[str, str]

    @property
    def notes_on_left_out(self) -> list[str]:
        """Why criteria are left out, in words."""
        return [f"{self.protocol.criterion(name).title}: {why}" for name, why in self.left_out.items()]

    def check_judges(self, wanted: Iterable[str]) -> None:
        """NotFound for a judge that has labelled nothing here, with those that have."""
        for name in wanted:
            if name not in self.judges:
                known = ", ".join(repr(judge) for judge in self.judges) or "nobody yet: start one with `assay judge`"
                raise NotFound(f"No judge {name!r} has labelled the study {self.name!r}. Judges of it: {known}.")

    def criterion(self, name: str) -> CriterionLabels:
        """The labels of a criterion; NotFound lists them."""
        for labels in self.criteria:
            if labels.name == name:
                return labels
        known = ", ".join(labels.name for labels in self.criteria) or "none"
        why = f" ({self.left_out[name]})" if name in self.left_out else ""
        raise NotFound(f"The study has no criterion {name!r} that judges are held against{why}. It has: {known}.")


def judged_study(
    db: Database,
    actor: Actor | None,
    study_id: int,
    judges: Sequence[str] | None = None,
    *,
    settled: bool = False,
    named: bool = True,
) -> JudgedStudy:
    """What judges and people said; of `judges` alone where some are named (NotFound for one without labels here).

    `settled` says whether settled labels are wanted, which take longer to find out; without `named` people are under
    their pseudonyms, and judges by their names all the same.

    Criteria whose values are composed (texts, spans, orders, sets) are left out: two of them are hardly ever the same.
    Permissions are those of reading the study's labels.
    """
    people = ratings(db, actor, study_id, named=named)
    models = ratings(db, actor, study_id, kinds=(AnnotationKind.MODEL,))
    by_name = {column.criterion.name: column for column in models.criteria}
    criteria, left_out = [], {}
    names: dict[str, None] = {}
    final = _settled(db, study_id) if settled else {}
    for column in people.criteria:
        criterion = column.criterion
        said = by_name[criterion.name]
        names.update(dict.fromkeys(models.names.get(person, f"model {person}") for person in said.people))
        if criterion.measured_scale in COMPOSED:
            left_out[criterion.name] = "its values are composed of parts, which are hardly ever the same"
            continue
        values: dict[str, Any] = {}
        by_judge = _votes(said, models, values)
        decided = final.get(criterion.name, {})
        values.update({criterion.vote(value): value for value in decided.values()})
        criteria.append(
            CriterionLabels(
                criterion,
                {judge: given for judge, given in by_judge.items() if judges is None or judge in judges},
                _votes(column, people, values),
                criterion.as_numbers(()),
                values,
                {unit: criterion.vote(value) for unit, value in decided.items()},
            )
        )
    study = people.study
    assert study.id is not None
    found = JudgedStudy(
        study.id,
        study.project_id,
        study.name,
        people.protocol,
        sorted(names),
        criteria,
        _units([*people.criteria, *models.criteria]),
        left_out,
    )
    found.check_judges(judges or ())
    return found


def _settled(db: Database, study_id: int) -> dict[str, dict[str, Any]]:
    """Criterion → unit → settled value, of the units that are settled."""
    found: dict[str, dict[str, Any]] = {}
    with db.read() as session:
        for unit in stream_settled(session, study_id):
            if unit.state != "open" and unit.value is not None:
                found.setdefault(unit.criterion, {})[unit_name(unit.study_item_id, unit.target)] = unit.value
    return found


def _votes(column: CriterionRatings, found: StudyRatings, values: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Rater → unit → vote; `values` gets the value of each vote."""
    votes = [column.criterion.vote(value) for value in column.distinct]
    values.update(zip(votes, column.distinct, strict=True))
    given: dict[str, dict[str, str]] = {}
    for unit, person, place in zip(column.units, column.raters, column.value.tolist(), strict=True):
        given.setdefault(found.names.get(person, f"model {person}"), {})[unit] = votes[place]
    return given


def _units(columns: Iterable[CriterionRatings]) -> JudgedUnits:
    question: dict[str, int] = {}
    system: dict[str, str] = {}
    category: dict[str, str] = {}
    for column in columns:
        items = column.items
        for unit, place in zip(column.unit_names, column.item.tolist(), strict=True):
            question[unit] = int(items.question[place])
            system[unit] = items.system[place]
            if (named := items.category[place]) is not None:
                category[unit] = named
    return JudgedUnits(question, {"system": system, "category": category})


@dataclass(frozen=True)
class AnswerFacts:
    """The answer under judgement, or the two of a pair: how many words each has, and who wrote it."""

    words: tuple[int, ...]
    systems: tuple[str, ...]


def answers_of(session: Session, study_id: int) -> dict[int, AnswerFacts]:
    """Study item → its answer or answers; those of items without an answer have no words."""
    second, other = aliased(ItemVersion), aliased(Item)
    rows = session.execute(
        pick(StudyItem.id, ItemVersion.answer, Item.system, second.answer, other.system)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .outerjoin(second, col(second.id) == StudyItem.other_version_id)
        .outerjoin(other, col(other.id) == second.item_id)
        .where(col(StudyItem.study_id) == study_id)
        .execution_options(yield_per=1000)
    )
    found = {}
    for place, answer, system, beside, beside_system in rows:
        texts = [answer or ""] if beside_system is None else [answer or "", beside or ""]
        systems = (system,) if beside_system is None else (system, beside_system)
        found[place] = AnswerFacts(tuple(len(text.split()) for text in texts), systems)
    return found
