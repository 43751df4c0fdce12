"""What a study's people said and what metrics and judges gave, unit by unit: the material of alignment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.criteria import Criterion
from annotators.errors import NotFound
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from db.designing.by_score import Beginning, judged_beginning
from db.engine import Database
from db.models import Annotation, AnnotationKind, Item, ItemVersion, Purpose, Study, StudyItem
from db.permissions import Actor
from db.query import pick
from db.studies.ratings import CriterionRatings, StudyRatings, pair_name, ratings
from db.studies.selection import strata_of
from db.studies.settlements import stream_settled
from exports.alignment.scores import Metric, scores_of, study_item_of, unit_key

NOTHING = "(none)"
"""The group of items that lack what they are grouped by."""


@dataclass(frozen=True)
class UnitFacts:
    """What is known of a unit besides its labels: the item it is of, its target, and what it is grouped by.

    Of a pair the item is the first of the two, and the group of systems the pair of theirs.
    """

    unit: str
    item_id: int
    item: str
    target: str
    question: int
    version_id: int
    groups: Mapping[str, str]


@dataclass(frozen=True)
class Human:
    """What people said on one criterion, as numbers: person → unit → number, and settled labels by unit.

    A label of two is 1 (the label `positive`) or 0; ordered labels are their numbers, or ranks from 0. `about_score` is
    the value that the criterion asks agreement with. Where labels cannot be numbers, `reason` says why. What is said of
    a pair is below zero for its first answer and above it for the second, where the labels are such numbers. `added`
    are the labels (person, unit) that the study did not plan, but asked for as people disagreed.
    """

    criterion: Criterion
    people: Mapping[str, Mapping[str, float]]
    settled: Mapping[str, float]
    scale: tuple[float, float] | None
    binary: bool = False
    positive: str | None = None
    about_score: str | None = None
    cannot_judge: int = 0
    reason: str | None = None
    added: Collection[tuple[str, str]] = ()

    @property
    def about_pairs(self) -> bool:
        """Whether two answers are judged against each other."""
        return self.criterion.target == TargetKind.PAIR

    @property
    def preferences(self) -> bool:
        """Whether the labels are preferences: of pairs, with neither answer preferred at zero."""
        return self.about_pairs and self.scale is not None and self.scale[0] < 0 < self.scale[1]

    @property
    def calibrated_on(self) -> tuple[float, float] | None:
        """The scale that scores from 0 to 1 are calibrated on; none of pairs, whose scores are differences."""
        return None if self.about_pairs else self.scale

    def by_unit(self) -> dict[str, list[float]]:
        """Unit → everybody's labels."""
        found: dict[str, list[float]] = defaultdict(list)
        for labels in self.people.values():
            for unit, value in labels.items():
                found[unit].append(value)
        return dict(found)

    def one_each(self) -> tuple[dict[str, float], int]:
        """Unit → one value: the mean of numbers, the majority of two labels; and how many majorities are ties."""
        found, ties = {}, 0
        for unit, values in self.by_unit().items():
            mean = sum(values) / len(values)
            if self.binary and mean == 0.5:
                ties += 1
            else:
                found[unit] = float(mean > 0.5) if self.binary else mean
        return found, ties


@dataclass(frozen=True)
class ItemFacts:
    """What is known of an item of the study."""

    item_id: int
    name: str
    question: int
    version_id: int
    groups: Mapping[str, str]

    def unit(self, unit: str) -> UnitFacts:
        """What is known of one of its units."""
        target = unit.partition("|")[2] or "item"
        return UnitFacts(unit, self.item_id, self.name, target, self.question, self.version_id, self.groups)


@dataclass(frozen=True)
class StudyData:
    """A study's units, what people said on every criterion, and every metric with values of these units.

    Of a study ordered by a score also the beginning of it that is judged. `items` has all items of the study,
    `called` what people are called here, by person id, and `strata` what `strata_of` says of the sample.
    """

    study: Study
    protocol: Protocol
    units: Mapping[str, UnitFacts]
    items: Mapping[int, ItemFacts]
    humans: Sequence[Human]
    metrics: Sequence[Metric]
    called: Mapping[int, str]
    beginning: Beginning | None = None
    strata: Mapping[int, str] = field(default_factory=dict)

    def human(self, criterion: str) -> Human:
        """What people said on a criterion; NotFound lists them."""
        for said in self.humans:
            if said.criterion.name == criterion:
                return said
        known = ", ".join(human.criterion.name for human in self.humans)
        raise NotFound(f"The protocol has no criterion {criterion!r}. Known: {known}.")


def grade_titles(human: Human) -> list[str]:
    """The grades of an ordered criterion with their titles, from the lowest."""
    return [f"{label.value} {label.title}".strip() for label in human.criterion.label_list()]


def grades_by_group(data: StudyData, human: Human) -> dict[str, dict[str, dict[str, int]]]:
    """system and category → group → grade with its title → how often people gave it; nothing of other criteria."""
    numbers = {_grade_number(human, place): title for place, title in enumerate(grade_titles(human))}
    found: dict[str, dict[str, dict[str, int]]] = {}
    for by in ("system", "category"):
        groups: dict[str, dict[str, int]] = {}
        for labels in human.people.values():
            for unit, number in labels.items():
                if number in numbers:
                    given = groups.setdefault(data.units[unit].groups[by], {})
                    given[numbers[number]] = given.get(numbers[number], 0) + 1
        if groups:
            found[by] = dict(sorted(groups.items()))
    return found


def _grade_number(human: Human, place: int) -> float:
    """The number that a criterion's label at a place (from the lowest) has in `Human.people`."""
    value = human.criterion.label_list()[place].value
    try:
        return float(value)
    except ValueError:
        return float(place)


def study_data(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    scorers: Sequence[str] = (),
    named: bool = True,
    by: str | None = None,
    settled: bool = True,
) -> StudyData:
    """Gather a study's labels and the scores of its item versions.

    A study about scores gives the scores that it was frozen with; others, and all with `scorers` named, give each
    scorer's latest version with each set of parameters, and of an item version the latest score. Imports that were
    withdrawn are left out. Of a study about pairs a score is the difference of the two answers', see `scores_of`.
    `settled` says whether settled labels are wanted. `by` names a field of the items' metadata
    to group by, besides system and category. NotFound
    for a scorer without scores here; permissions are those of reading the study's labels.
    """
    people = ratings(db, actor, study_id, named=named)
    with db.read() as session:
        of_models = pick(Annotation.id).where(
            col(Annotation.study_id) == study_id, col(Annotation.kind) == AnnotationKind.MODEL
        )
        judged = session.execute(of_models.limit(1)).first() is not None
    models = ratings(db, actor, study_id, kinds=(AnnotationKind.MODEL,), named=True) if judged else None
    with db.read() as session:
        items = _items(session, people.study.id, by)
        pairs = people.protocol.about_pairs
        final: dict[tuple[str, str], Any] = {}
        for label in stream_settled(session, study_id) if settled else ():
            if label.state != "open":
                final[label.criterion, unit_key(label.study_item_id, label.target)] = label.value
        metrics = scores_of(session, people.study, scorers, pairs=pairs)
        beginning = judged_beginning(session, people.study)
        strata = strata_of(session, people.study)
    scored = {metric.value for metric in metrics}
    humans = [_human(column, people, final, scored) for column in people.criteria]
    judges = [] if models is None else [j for column in models.criteria for j in _judges(column, models, scored)]
    if scorers:
        judges = [judge for judge in judges if judge.scorer in scorers]
    everything = _all_units(humans, [*metrics, *judges])
    facts = {unit: items[study_item_of(unit)].unit(unit) for unit in everything}
    return StudyData(
        people.study, people.protocol, facts, items, humans, [*metrics, *judges], people.names, beginning, strata
    )


def _all_units(humans: Iterable[Human], metrics: Iterable[Metric]) -> set[str]:
    found = {unit for human in humans for labels in human.people.values() for unit in labels}
    found |= {unit for human in humans for unit in human.settled}
    return found | {unit for metric in metrics for unit in metric.values}


def _items(session: Session, study_id: int | None, by: str | None) -> dict[int, ItemFacts]:
    """Study item → its item, with what it is grouped by; of a pair the first, under the names of both systems."""
    second, other = aliased(ItemVersion), aliased(Item)
    rows = session.execute(
        pick(
            StudyItem.id, Item.id, Item.external_id, Item.question_id, Item.system, other.system, ItemVersion.category,
            ItemVersion.extra, ItemVersion.id,
        )
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .outerjoin(second, col(second.id) == StudyItem.other_version_id)
        .outerjoin(other, col(other.id) == second.item_id)
        .where(col(StudyItem.study_id) == study_id, col(StudyItem.purpose) == Purpose.SAMPLE)
    )  # fmt: skip
    found = {}
    for place, item_id, name, question, system, beside, category, extra, version_id in rows:
        groups = {"system": pair_name(system, beside), "category": category or NOTHING}
        if by is not None and by not in groups:
            value = (extra or {}).get(by)
            groups[by] = NOTHING if value is None else str(value)
        found[place] = ItemFacts(item_id, name, question, version_id, groups)
    return found


# People and judges ----------------------------------------------------------------------------------------------------


def _human(
    column: CriterionRatings,
    found: StudyRatings,
    settled: Mapping[tuple[str, str], Any],
    scored: Collection[str],
) -> Human:
    criterion = column.criterion
    numbers = criterion.as_numbers(scored)
    people: dict[str, dict[str, float]] = defaultdict(dict)
    added = set[tuple[str, str]]()
    more = found.added[column.annotation].tolist() if len(found.added) else [False] * len(column.values)
    for unit, person, value, beyond in zip(column.units, column.raters, column.values, more, strict=True):
        number = numbers.number(value)
        if number is not None:
            people[found.names[person]][unit] = number
            if beyond:
                added.add((found.names[person], unit))
    final = {
        unit: number
        for (name, unit), value in settled.items()
        if name == criterion.name and (number := numbers.number(value)) is not None
    }
    about = None
    judged = found.protocol.scores_judged_by(criterion)
    if judged:
        about = judged[0]
    return Human(
        criterion=criterion,
        people=dict(people),
        settled=final,
        scale=numbers.scale,
        binary=numbers.binary,
        positive=numbers.positive,
        about_score=about,
        cannot_judge=column.cannot_judge,
        reason=numbers.reason,
        added=added,
    )


def _judges(column: CriterionRatings, found: StudyRatings, scored: Collection[str]) -> Iterable[Metric]:
    """Every judge that filled in this criterion, as a metric on the criterion's own scale."""
    numbers = column.criterion.as_numbers(scored)
    values: dict[int, dict[str, float]] = defaultdict(dict)
    for unit, person, value in zip(column.units, column.raters, column.values, strict=True):
        number = numbers.number(value)
        if number is not None:
            values[person][unit] = number
    for person, given in values.items():
        judge = found.names.get(person, f"model {person}")
        name = f"{judge}: {column.criterion.name}"
        yield Metric(name, judge, column.criterion.name, numbers.scale, numbers.binary, judge=True, values=given)
