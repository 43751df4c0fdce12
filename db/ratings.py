"""The labels of a study as statistics take them: columns of numbers for a million of them, and the items behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import ColumnElement, Select, String, cast, func, type_coerce
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.criteria import Criterion
from annotators.protocols import Protocol
from db.current import withdrawn_batches
from db.engine import Database
from db.models import (
    AdjudicatedLabel,
    Adjudication,
    Annotation,
    AnnotationKind,
    GivenLabel,
    Item,
    ItemVersion,
    Study,
    StudyItem,
    Withdrawal,
)
from db.permissions import READERS, Actor, On, operation
from db.pseudonyms import pseudonyms, real_names
from db.query import is_sqlite, pick
from db.settlements import COUNTING
from db.studies import protocol_of

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class StudyItems:
    """The items of a study in columns, one entry each, in the order of `study_item`, the id of the study's item."""

    study_item: IntArray
    item: IntArray
    external_id: list[str]
    question: IntArray
    category: list[str | None]
    system: list[str]


@dataclass(frozen=True, eq=False)
class Annotations:
    """The annotations that count in columns: place of the item in `StudyItems`, person, time, seconds spent.

    `time` is in seconds since 1970; `seconds` is NaN where nobody measured them.
    """

    item: IntArray
    person: IntArray
    time: FloatArray
    seconds: FloatArray


@dataclass(frozen=True, eq=False)
class CriterionRatings:
    """All counting labels of one criterion, one entry a label, sorted by unit, then person.

    `unit`, `rater`, `value`, `annotation` are places in `unit_names`, `people` (person ids), `distinct` (the values
    that occur) and `Annotations`. A unit is called `study item id` or `study item id|target`; `item` has the place of
    its item in `StudyItems`, `target` its target. `cannot_judge` counts what was left out.
    """

    criterion: Criterion
    unit_names: list[str]
    item: IntArray
    target: list[str]
    people: list[int]
    distinct: list[Any]
    unit: IntArray
    rater: IntArray
    value: IntArray
    annotation: IntArray
    cannot_judge: int = 0

    @cached_property
    def units(self) -> list[str]:
        """The name of each label's unit."""
        return [self.unit_names[place] for place in self.unit.tolist()]

    @cached_property
    def raters(self) -> list[int]:
        """The person of each label."""
        return [self.people[place] for place in self.rater.tolist()]

    @cached_property
    def values(self) -> list[Any]:
        """The value of each label."""
        return [self.distinct[place] for place in self.value.tolist()]


@dataclass(frozen=True, eq=False)
class StudyRatings:
    """A study's ratings by criterion, in the protocol's order, with the raters' names or pseudonyms by person id."""

    study: Study
    protocol: Protocol
    criteria: list[CriterionRatings]
    names: dict[int, str]
    items: StudyItems
    annotations: Annotations


@operation(On.STUDY, READERS)
def ratings(
    db: Database, actor: Actor, study_id: int, *, kinds: Sequence[AnnotationKind] = COUNTING, named: bool = True
) -> StudyRatings:
    """The current labels of a study for every criterion, `cannot judge` counted and left out."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        items = _items(session, study_id)
        ids, annotations = _annotations(session, items, _counting(study_id, kinds))
        read = _labels(session, _counting(study_id, kinds))
        names = real_names(session, study_id) if named else pseudonyms(session, study_id)
    criteria = [_of_criterion(criterion, read, ids, items, annotations) for criterion in protocol.criteria]
    return StudyRatings(study, protocol, criteria, names, items, annotations)


@operation(On.STUDY, READERS)
def ratings_stamp(db: Database, actor: Actor, study_id: int) -> tuple[int, int, int]:
    """Three numbers that change whenever what `ratings` gives does: the newest annotation, withdrawal, adjudication."""
    with db.read() as session:
        newest = pick(func.max(col(Annotation.id))).where(col(Annotation.study_id) == study_id).scalar_subquery()
        decided = pick(func.max(col(Adjudication.id))).where(col(Adjudication.study_id) == study_id).scalar_subquery()
        withdrawn = pick(func.max(col(Withdrawal.id))).scalar_subquery()
        found = session.execute(pick(newest, withdrawn, decided)).one()
    return (found[0] or 0, found[1] or 0, found[2] or 0)


@operation(On.STUDY, READERS)
def decided_labels(db: Database, actor: Actor, study_id: int) -> dict[str, dict[str, Any]]:
    """Criterion → unit (named as in `CriterionRatings`) → what adjudicators decided in their last round."""
    with db.read() as session:
        rows = session.execute(
            pick(
                Adjudication.study_item_id, AdjudicatedLabel.criterion, AdjudicatedLabel.target, AdjudicatedLabel.value
            )
            .join(AdjudicatedLabel, col(AdjudicatedLabel.adjudication_id) == Adjudication.id)
            .where(col(Adjudication.study_id) == study_id)
            .order_by(col(Adjudication.round))
        )
        found: dict[str, dict[str, Any]] = {}
        for study_item_id, criterion, target, value in rows:
            found.setdefault(criterion, {})[unit_name(study_item_id, target)] = value
        return found


def unit_name(study_item_id: int, target: str) -> str:
    """What a unit is called: its item in the study, and its target unless that is the item itself."""
    return str(study_item_id) if target == "item" else f"{study_item_id}|{target}"


# Reading --------------------------------------------------------------------------------------------------------------


def _counting(study_id: int, kinds: Sequence[AnnotationKind]) -> list[ColumnElement[bool]]:
    """The conditions on the annotations that count."""
    newer = aliased(Annotation)
    return [
        col(Annotation.study_id) == study_id,
        col(Annotation.kind).in_(kinds),
        ~pick(newer.id).where(col(newer.supersedes_id) == Annotation.id).exists(),
        col(Annotation.batch_id).is_(None) | col(Annotation.batch_id).not_in(withdrawn_batches()),
    ]


def _items(session: Session, study_id: int) -> StudyItems:
    rows = session.execute(
        pick(StudyItem.id, Item.id, Item.external_id, Item.question_id, ItemVersion.category, Item.system)
        .select_from(StudyItem)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .where(col(StudyItem.study_id) == study_id)
        .order_by(col(StudyItem.id))
    ).all()
    place, item, external_id, question, category, system = zip(*rows, strict=True) if rows else ((),) * 6
    return StudyItems(
        _integers(place), _integers(item), list(external_id), _integers(question), list(category), list(system)
    )


def _annotations(
    session: Session, items: StudyItems, counting: list[ColumnElement[bool]]
) -> tuple[IntArray, Annotations]:
    """The ids of the annotations that count, sorted, and their columns in that order."""
    moment = col(Annotation.created_at)
    on_sqlite = is_sqlite(session)
    when: Any = type_coerce(cast(moment, String), String) if on_sqlite else func.extract("epoch", moment)
    rows = session.execute(
        pick(Annotation.id, Annotation.study_item_id, Annotation.person_id, when, Annotation.seconds)
        .where(*counting)
        .order_by(col(Annotation.id))
    ).all()
    ids, item, person, moments, seconds = zip(*rows, strict=True) if rows else ((),) * 5
    time = np.array(moments, dtype="datetime64[us]").astype(np.int64) / 1e6 if on_sqlite else _floats(moments)
    return _integers(ids), Annotations(
        np.searchsorted(items.study_item, _integers(item)), _integers(person), time, _floats(seconds)
    )


@dataclass(frozen=True, eq=False)
class _Labels:
    """Every label of the study, one entry each: annotation id, places in `criteria`, `targets`, `texts`, the flag."""

    annotation: IntArray
    criterion: IntArray
    target: IntArray
    text: IntArray
    cannot: npt.NDArray[np.bool_]
    criteria: list[str]
    targets: list[str]
    texts: list[str | None]


def _labels(session: Session, counting: list[ColumnElement[bool]]) -> _Labels:
    """Read the labels through the driver, a block of rows at a time: a million rows as objects would take minutes."""
    query: Select[Any] = (
        pick(
            Annotation.id,
            GivenLabel.criterion,
            GivenLabel.target,
            type_coerce(cast(col(GivenLabel.value), String), String),
            GivenLabel.cannot_judge,
        )
        .select_from(Annotation)
        .join(
            GivenLabel,
            (col(GivenLabel.assignment_id) == Annotation.assignment_id)
            & (col(GivenLabel.sitting) == Annotation.sitting),
        )
        .where(*counting)
    )
    places: tuple[dict[Any, int], ...] = ({}, {}, {})
    parts: list[tuple[IntArray, ...]] = []
    found = session.connection().execute(query.execution_options(yield_per=_AT_ONCE))
    for block in found.partitions():
        ids, criterion, target, text, cannot = zip(*block, strict=True)
        coded = (_coded(place, column) for place, column in zip(places, (criterion, target, text), strict=True))
        parts.append((_integers(ids), *coded, _integers(cannot)))
    whole = [np.concatenate(part) for part in zip(*parts, strict=True)] or [_integers([])] * 5
    names, targets, texts = (list(place) for place in places)
    return _Labels(whole[0], whole[1], whole[2], whole[3], whole[4].astype(bool), names, targets, texts)


def _coded(places: dict[Any, int], column: Sequence[Any]) -> IntArray:
    """The place of every entry of a column; new entries are given one."""
    for new in set(column) - places.keys():
        places[new] = len(places)
    return np.fromiter(map(places.__getitem__, column), dtype=np.int64, count=len(column))


def _of_criterion(
    criterion: Criterion, read: _Labels, ids: IntArray, items: StudyItems, annotations: Annotations
) -> CriterionRatings:
    """The labels of one criterion."""
    code = read.criteria.index(criterion.name) if criterion.name in read.criteria else -1
    of_it = read.criterion == code
    rows = np.flatnonzero(of_it & ~read.cannot)
    annotation = np.searchsorted(ids, read.annotation[rows])
    names = sorted(range(len(read.targets)), key=read.targets.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[names] = np.arange(len(names))
    cell = annotations.item[annotation] * max(1, len(names)) + rank[read.target[rows]]
    cells, unit = np.unique(cell, return_inverse=True)
    item, target = np.divmod(cells, max(1, len(names)))
    targets = [read.targets[names[place]] for place in target.tolist()]
    people, rater = np.unique(annotations.person[annotation], return_inverse=True)
    texts, value = np.unique(read.text[rows], return_inverse=True)
    order = np.lexsort((rater, unit))
    study_items = items.study_item[item].tolist()
    return CriterionRatings(
        criterion=criterion,
        unit_names=[unit_name(*about) for about in zip(study_items, targets, strict=True)],
        item=item,
        target=targets,
        people=people.tolist(),
        distinct=[orjson.loads(read.texts[place] or "null") for place in texts.tolist()],
        unit=unit[order],
        rater=rater[order],
        value=value[order],
        annotation=annotation[order],
        cannot_judge=int((of_it & read.cannot).sum()),
    )


def _integers(numbers: Iterable[Any]) -> IntArray:
    return np.array(numbers, dtype=np.int64)


def _floats(numbers: Iterable[Any]) -> FloatArray:
    return np.array(numbers, dtype=np.float64)
