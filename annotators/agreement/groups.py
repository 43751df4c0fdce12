"""Agreement of parts of the units: by category, and over time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotators.agreement.measure import measure
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, np
from annotators.errors import InvalidInput
from annotators.intervals.result import IntervalKind, Statistic


@dataclass(frozen=True, eq=False)
class GroupAgreement:
    """The statistics of one group of units. `group` is its name, `n_units` how many units it has, rated or not.

    For a stretch of time `group` is its place (from 0), and `first`, `last` are the earliest and latest time of its
    units; both are None for a category.
    """

    group: Hashable
    n_units: int
    statistics: tuple[Statistic, ...]
    first: float | None = None
    last: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The group for JSON."""
        found: dict[str, Any] = {"group": self.group, "n_units": self.n_units}
        if self.first is not None:
            found |= {"first": self.first, "last": self.last}
        return found | {"statistics": [statistic.to_json() for statistic in self.statistics]}


def agreement_by_group(
    ratings: Ratings,
    groups: Mapping[Hashable, Hashable],
    statistics: Sequence[str] | None = None,
    *,
    clusters: Mapping[Hashable, Hashable] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    kind: IntervalKind = "BCa",
) -> tuple[GroupAgreement, ...]:
    """The statistics of `measure` in each group of units, in the order in which the groups first appear.

    `groups` has the group of every unit (a category, a system, a question's language); units without one are together
    in the group None, the last. A coefficient that is corrected for chance is corrected by the group's own label
    shares: two groups with the same raw agreement may differ in it. Labels that a group does not use stay declared.
    `clusters` has the question of every unit, where questions are resampled.
    Raises InvalidInput as `measure` does.
    """
    members: dict[Hashable, list[int]] = {}
    for i, unit in enumerate(ratings.units):
        members.setdefault(groups.get(unit), []).append(i)
    names = [name for name in members if name is not None] + [None] * (None in members)
    found = []
    for name in names:
        chosen = np.array(members[name], dtype=np.int64)
        part = ratings.of_units(chosen)
        measured = measure(part, statistics, resamples, seed, level, kind=kind, clusters=clusters)
        found.append(GroupAgreement(name, len(chosen), tuple(measured)))
    return tuple(found)


def agreement_over_time(
    ratings: Ratings,
    times: FloatArray,
    stretches: int = 8,
    statistics: Sequence[str] | None = None,
    *,
    clusters: Mapping[Hashable, Hashable] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    kind: IntervalKind = "BCa",
) -> tuple[GroupAgreement, ...]:
    """The statistics of `measure` in consecutive stretches of time with as many units each (the same but for one).

    `times` says when each rating was given, as a number, in the order of `ratings`. A
    unit belongs to the time of its last rating, when its agreement became known; units with fewer than two ratings, and
    those of which a rating has no time, are left out. There are fewer stretches when there are fewer units. `clusters`
    has the question of every unit, where questions are resampled.
    Raises InvalidInput when there is not one time a rating, and as `measure` does.
    """
    if times.shape != (ratings.n_ratings,):
        raise InvalidInput(f"{len(times)} times for {ratings.n_ratings} ratings: give one a rating, NaN for none")
    if stretches < 1:
        raise InvalidInput(f"{stretches} stretches: give 1 or more")
    last = np.full(len(ratings.units), -np.inf)
    with np.errstate(invalid="ignore"):
        np.maximum.at(last, ratings.unit, times)  # NaN stays NaN
    known = np.flatnonzero((ratings.sizes > 1) & ~np.isnan(last))
    known = known[np.argsort(last[known], kind="stable")]
    if not len(known):
        return ()
    found = []
    for place, chosen in enumerate(np.array_split(known, min(stretches, len(known)))):
        part = ratings.of_units(np.sort(chosen))
        measured = measure(part, statistics, resamples, seed, level, kind=kind, clusters=clusters)
        first, latest = float(last[chosen[0]]), float(last[chosen[-1]])
        found.append(GroupAgreement(place, len(chosen), tuple(measured), first, latest))
    return tuple(found)
