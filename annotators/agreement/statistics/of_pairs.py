"""Coefficients of one pair of raters: each pair on its own units, and many pairs at once where that is quicker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Self

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import (
    Asked,
    Coefficient,
    DistanceOf,
    Measurement,
    OfCounts,
    Sample,
    Sampling,
    nominal,
)
from annotators.agreement.tables.cross import CrossTable
from annotators.agreement.tables.distances import Distance, Nominal
from annotators.agreement.tables.pairs import PairSums
from annotators.agreement.tables.patterns import Cells, Grouped, cells_of_pair
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, np
from annotators.intervals.result import Interval, Statistic

MANY_PAIRS = 20  # so many pairs that share all units are quicker resampled at once than one by one


@dataclass(frozen=True, kw_only=True, eq=False)
class OfPair(Coefficient):
    """A coefficient of the cross table of two raters, all of them measured on one set of resamples for each pair.

    `value` takes the table, the distance of its labels and weights (B × P) and gives B values, NaN where it is not
    defined for a sample; `interval` is the analytic one, from the table, the distance, the value and the level.
    `distance` is that of the labels, 0 or 1 if not given. `at_once` gives the plain coefficient of many pairs, and
    `of_all` is what it is over more than two raters. `scarce` says that two of several raters need enough shared units,
    `spread` that both have to give several labels. Up to `square` labels it makes an array of labels × labels.
    """

    value: Callable[[CrossTable, Distance, FloatArray], FloatArray]
    interval: Callable[[CrossTable, Distance, float, float], Interval | None]
    distance: DistanceOf | None = None
    at_once: Callable[[PairSums, FloatArray], FloatArray] | None = None
    of_all: OfCounts | None = None
    scarce: bool = False
    spread: bool = False
    square: int = 0
    by_pair: bool = True
    who_matters: bool = True

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        ratings, each = grouped.ratings, list(members)
        for member in members:
            if member.of_all is not None and len(ratings.raters) > 2:
                yield member._over_all(grouped, asked, sampling, member.of_all)
                if not asked.each_pair:
                    each.remove(member)
        if len(ratings.raters) < 2:
            reason = reasons.too_few(ratings)
            parts = [Measurement.without_value(member.entry(ratings, reason)) for member in each]
            yield Sample.without_units(*parts)
            return
        done: dict[Coefficient, set[int]] = {}
        for member in each:
            if member.at_once is not None and sampling.clusters is None:
                all_at_once, done[member] = member._together(grouped, asked, sampling)
                yield from all_at_once
        for a, b in combinations(range(len(ratings.raters)), 2):
            pair = a * len(ratings.raters) + b
            here = [member for member in each if pair not in done.get(member, ())]
            if here:
                yield _of_pair(here, grouped, asked, sampling, (a, b))

    def pair_entry(self, ratings: Ratings, cells: Cells, pair: tuple[int, int], asked: Asked) -> Statistic:
        """The entry of one pair of raters, that is still to be measured or cannot be."""
        shared = int(cells.multiplicity.sum())
        reason = reasons.too_few(ratings) or self.misfit(ratings, any_scale=asked.any_scale)
        least_shared = asked.least_shared if self.scarce else 2
        return Statistic(
            name=self.name,
            reason=reason
            or reasons.of_pair(ratings, cells, shared, correlation=self.spread, least_shared=least_shared),
            n_units=shared,
            n_raters=2,
            n_ratings=2 * shared,
            raters=(ratings.raters[pair[0]], ratings.raters[pair[1]]),
        )

    def pair_part(self, entry: Statistic, table: CrossTable, ratings: Ratings, asked: Asked) -> Measurement:
        """The coefficient over the cross table of one pair of raters."""
        if entry.reason is not None:
            return Measurement.without_value(entry)
        distance = (self.distance or nominal)(ratings, asked, table.used)
        return Measurement(
            [entry],
            partial(self.value, table, distance),
            lambda _, value, level: self.interval(table, distance, value, level),
            reasons.NO_SPREAD if self.spread else reasons.NOTHING_LEFT,
            self.by_rank(ratings),
        )

    def _over_all(self, grouped: Grouped, asked: Asked, sampling: Sampling, of_all: OfCounts) -> Sample:
        sample = next(type(of_all).samples([of_all], grouped, asked, sampling))
        (part,) = sample.parts
        entries = [replace(entry, name=self.name) for entry in part.entries]
        return replace(sample, parts=[replace(part, entries=entries, note=f"over all raters: {of_all.title}")])

    def _together(self, grouped: Grouped, asked: Asked, sampling: Sampling) -> tuple[list[Sample], set[int]]:
        """The pairs that share all units as one sample, and which they are; none when that is not quicker."""
        ratings = grouped.ratings
        pairs, shared = grouped.cells.shared()
        complete = pairs[shared == (ratings.sizes >= 2).sum()]
        if len(complete) < MANY_PAIRS:
            return [], set()
        sums = PairSums.of_ratings(ratings, complete, sampling.seed)
        if sums.blocked:
            return [], set()
        entries, tables = [], []
        for pair in complete.tolist():
            cells = grouped.cells.of_pair(pair)
            entries.append(self.pair_entry(ratings, cells, divmod(pair, len(ratings.raters)), asked))
            tables.append(CrossTable.of(cells, ratings.numbers))

        def analytic(i: int, value: float, level: float) -> Interval | None:
            return self.interval(tables[i], Nominal(len(tables[i].used)), value, level)

        assert self.at_once is not None
        part = Measurement(entries, partial(self.at_once, sums), analytic)
        return [Sample(sums.multiplicity, sums.of_unit, sums.width, [part])], set(complete.tolist())


def _of_pair(
    members: Sequence[OfPair], grouped: Grouped, asked: Asked, sampling: Sampling, pair: tuple[int, int]
) -> Sample:
    """All coefficients of one pair, on resamples of the units that the two share."""
    ratings = grouped.ratings
    if sampling.clusters is None:
        cells = grouped.cells.of_pair(pair[0] * len(ratings.raters) + pair[1])
        of_unit = np.repeat(np.arange(len(cells.a)), cells.multiplicity)
    else:
        cells, of_unit = cells_of_pair(ratings, *pair)
    table = CrossTable.of(cells, ratings.numbers)
    size = len(table.used)
    width = max(size**2 if size <= max(member.square for member in members) else 0, size)
    entries = [member.pair_entry(ratings, cells, pair, asked) for member in members]
    parts = [member.pair_part(entry, table, ratings, asked) for member, entry in zip(members, entries, strict=True)]
    return Sample(cells.multiplicity, of_unit, width, parts)
