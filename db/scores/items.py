"""The items behind scores: those of one cell, how values are distributed, and two scorers against each other."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Float, Integer, Select, and_, cast, func, or_
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.scorers.base import GivenParameters, value_kind
from annotators.scorers.shared.group_means import JointSums
from db.engine import Database
from db.models import Item, ItemVersion, Score
from db.permissions import READERS, Actor, On, operation
from db.query import is_sqlite, pick
from db.scores.summaries import Which, is_counted, latest_scores, which_scores

BINS = 20
_CLIP = 400


@dataclass(frozen=True)
class ScoresOf:
    """Which scores: a scorer, its parameters (None: the default), and one of its values (None: the main one)."""

    scorer: str
    parameters: GivenParameters = None
    value: str | None = None


@dataclass(frozen=True)
class ScoredItem:
    """An item with its score, or the reason why it has none. Texts are their beginnings."""

    item_id: int
    external_id: str
    system: str
    category: str | None
    question: str
    answer: str
    value: float | None
    reason: str | None
    details: dict[str, Any] | None
    key: tuple[float, int]


@dataclass(frozen=True)
class ComparedItem:
    """An item with the values of two scorers."""

    item_id: int
    external_id: str
    system: str
    category: str | None
    question: str
    answer: str
    first: float
    second: float
    key: tuple[float, int]


@dataclass(frozen=True)
class Distribution:
    """How many items of each system have a value in each bin, and how many are unscored for which reason.

    Bin i goes from `low` + i · `width`, its end left out but for the last.
    """

    low: float
    width: float
    counts: dict[str, list[int]]
    reasons: list[tuple[str, int]]

    def edges(self, place: int) -> tuple[float, float]:
        """Where a bin begins and ends."""
        return self.low + place * self.width, self.low + (place + 1) * self.width


@dataclass(frozen=True)
class ScoreComparison:
    """Two scorers on the items that both have scored: their joint sums, and counts by bin of both."""

    sums: JointSums
    first: Distribution
    second: Distribution
    joint: dict[tuple[int, int], int]
    n_one_only: int


# One scorer -----------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, READERS)
def list_scored(
    db: Database,
    _actor: Actor,
    project_id: int,
    *,
    of: ScoresOf,
    system: str | None = None,
    category: str | None = None,
    low: float | None = None,
    high: float | None = None,
    unscored: bool = False,
    after: tuple[float, int] | None = None,
    limit: int = 50,
) -> list[ScoredItem]:
    """Current items by their score, the lowest first, from the one after the `key` of the last one shown.

    `category` "" finds those without one; `low` and `high` are the ends of what the value may be. `unscored` gives the
    items without a value instead. Raises NotFound when the project has no such scores.
    """
    with db.read() as session:
        which = which_scores(session, project_id, of.scorer, of.parameters, of.value)
        v, s = ItemVersion, Score
        order = cast(func.coalesce(s.value, 0.0), Float)
        query = _items(which, project_id, order, s.value, s.reason, s.details).where(*_in(system, category))
        query = query.where(col(s.value).is_(None) if unscored else col(s.value).is_not(None))
        if low is not None:
            query = query.where(col(s.value) >= low)
        if high is not None:
            query = query.where(col(s.value) <= high)
        if after is not None:
            query = query.where(or_(order > after[0], and_(order == after[0], col(v.id) > after[1])))
        found = session.execute(query.order_by(order, col(v.id)).limit(limit))
        return [
            ScoredItem(i, external, system_, category_, question, answer, value, reason, details, (float(key), version))
            for i, external, system_, category_, question, answer, version, key, value, reason, details in found
        ]


def _items(which: Which, project_id: int, *columns: Any) -> Select[Any]:
    i, v = Item, ItemVersion
    question, answer = func.substr(v.question, 1, _CLIP), func.substr(v.answer, 1, _CLIP)
    return (
        pick(i.id, i.external_id, i.system, v.category, question, answer, v.id, *columns)
        .select_from(Score)
        .join(v, col(v.id) == col(Score.item_version_id))
        .join(i, col(i.id) == col(v.item_id))
        .where(*is_counted(which, project_id))
    )


def _in(system: str | None, category: str | None) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if system is not None:
        conditions.append(col(Item.system) == system)
    if category is not None:
        category_is = col(ItemVersion.category)
        conditions.append(category_is == category if category else category_is.is_(None))
    return conditions


@operation(On.PROJECT, READERS)
def score_distribution(db: Database, _actor: Actor, project_id: int, *, of: ScoresOf) -> Distribution:
    """How the values of a scorer are distributed in each system, and why items have none."""
    with db.read() as session:
        which = which_scores(session, project_id, of.scorer, of.parameters, of.value)
        low, width = _range(session, project_id, which)
        place = _bin(session, col(Score.value), low, width)
        rows = session.execute(
            _counted(which, project_id, col(Item.system), place).where(col(Score.value).is_not(None))
        ).all()
        counts: dict[str, list[int]] = defaultdict(lambda: [0] * BINS)
        for system, number, n in rows:
            counts[system][min(max(int(number), 0), BINS - 1)] += n
        without = _counted(which, project_id, col(Score.reason)).where(col(Score.value).is_(None))
        reasons = session.execute(without.order_by(func.count().desc()).limit(BINS)).all()
        return Distribution(low, width, dict(sorted(counts.items())), [(str(reason), n) for reason, n in reasons])


def _counted(which: Which, project_id: int, *by: Any) -> Select[Any]:
    return (
        pick(*by, func.count())
        .select_from(Score)
        .join(ItemVersion, col(ItemVersion.id) == col(Score.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(*is_counted(which, project_id))
        .group_by(*by)
    )


def _range(session: Session, project_id: int, which: Which) -> tuple[float, float]:
    """(low, width of a bin): from what the value may be, else from the values there are."""
    kind = value_kind(which.scorer, which.value)
    low, high = kind.low, kind.high
    if low is None or high is None:
        query = pick(func.min(Score.value), func.max(Score.value)).where(
            col(Score.run_id).in_(which.runs), col(Score.name) == which.value
        )
        low, high = session.execute(query).one()
    low, high = float(low or 0.0), float(high if high is not None else 1.0)
    return low, (high - low) / BINS or 1 / BINS


def _bin(session: Session, value: Any, low: float, width: float) -> Any:
    """The number of the bin: the whole part of a number that is not negative."""
    place = (value - low) / width + 1e-9  # 0.15 / 0.05 is 2.9999999999999996
    return cast(place, Integer) if is_sqlite(session) else cast(func.floor(place), Integer)


# Two scorers ----------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, READERS)
def compare_scores(
    db: Database, _actor: Actor, project_id: int, *, first: ScoresOf, second: ScoresOf
) -> ScoreComparison:
    """Two scorers on the current items that have a value of both."""
    with db.read() as session:
        of_x, of_y = (which_scores(session, project_id, of.scorer, of.parameters, of.value) for of in (first, second))
        (low_x, width_x), (low_y, width_y) = (_range(session, project_id, which) for which in (of_x, of_y))
        both, x, y = _both(of_x, of_y, project_id)
        sums = session.execute(
            both.with_only_columns(
                func.count(), func.sum(x), func.sum(y), func.sum(x * x), func.sum(y * y), func.sum(x * y)
            )
        ).one()
        places = _bin(session, x, low_x, width_x), _bin(session, y, low_y, width_y)
        joint: dict[tuple[int, int], int] = defaultdict(int)
        for a, b, n in session.execute(both.with_only_columns(*places, func.count()).group_by(*places)):
            joint[min(max(int(a), 0), BINS - 1), min(max(int(b), 0), BINS - 1)] += n
        n_scored = [
            session.execute(_counted(which, project_id).where(col(Score.value).is_not(None))).scalar_one()
            for which in (of_x, of_y)
        ]
        n = int(sums[0])
        return ScoreComparison(
            JointSums(n, *(float(part or 0) for part in sums[1:])),
            Distribution(low_x, width_x, {}, []),
            Distribution(low_y, width_y, {}, []),
            dict(joint),
            sum(n_scored) - 2 * n,
        )


def _both(of_x: Which, of_y: Which, project_id: int) -> tuple[Select[Any], Any, Any]:
    """Items joined with their scores of both scorers, and the two values."""
    other = aliased(Score)
    x, y = col(Score.value), col(other.value)
    query = (
        pick(Item.id)
        .select_from(Score)
        .join(ItemVersion, col(ItemVersion.id) == col(Score.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .join(other, col(other.item_version_id) == col(Score.item_version_id))
        .where(
            *is_counted(of_x, project_id),
            col(other.name) == of_y.value,
            col(other.target) == "item",
            col(other.run_id) == of_y.runs[0] if len(of_y.runs) == 1 else col(other.id).in_(latest_scores(of_y)),
            x.is_not(None),
            y.is_not(None),
        )
    )
    return query, x, y


@operation(On.PROJECT, READERS)
def list_differences(
    db: Database,
    _actor: Actor,
    project_id: int,
    *,
    first: ScoresOf,
    second: ScoresOf,
    bins: tuple[int, int] | None = None,
    after: tuple[float, int] | None = None,
    limit: int = 50,
) -> list[ComparedItem]:
    """The items on which two scorers differ most, the largest difference first; `bins` chooses one joint bin."""
    with db.read() as session:
        of_x, of_y = (which_scores(session, project_id, of.scorer, of.parameters, of.value) for of in (first, second))
        both, x, y = _both(of_x, of_y, project_id)
        i, v = Item, ItemVersion
        order = func.abs(x - y)
        question, answer = func.substr(v.question, 1, _CLIP), func.substr(v.answer, 1, _CLIP)
        columns: list[Any] = [i.id, i.external_id, i.system, v.category, question, answer, x, y, order, v.id]
        query = both.with_only_columns(*columns)
        if bins is not None:
            for place, (value, which) in enumerate(((x, of_x), (y, of_y))):
                query = query.where(_bin(session, value, *_range(session, project_id, which)) == bins[place])
        if after is not None:
            query = query.where(or_(order < after[0], and_(order == after[0], col(v.id) > after[1])))
        rows = session.execute(query.order_by(order.desc(), col(v.id)).limit(limit))
        return [
            ComparedItem(i_, external, system, category, question, answer, a, b, (float(key), version))
            for i_, external, system, category, question, answer, a, b, key, version in rows
        ]
