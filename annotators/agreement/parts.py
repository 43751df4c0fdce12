"""What is measured together on one set of resamples: statistics over patterns of units, values and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from annotators.agreement import reasons, sets
from annotators.agreement.bootstrap import Evaluate, Resampled, Sampling
from annotators.agreement.catalogue import LEAST_SHARED
from annotators.agreement.distances import (
    Distance,
    Linear,
    Nominal,
    Ordinal,
    Quadratic,
    Table,
    ratio_distance,
)
from annotators.agreement.own_weights import OwnWeights
from annotators.agreement.result import FIXED_RATERS, RANDOM_RATERS, Interval, IntervalKind, Statistic
from annotators.agreement.table import FloatArray, IntArray, Ratings
from annotators.coefficient_names import CATALOGUE

Analytic = Callable[[int, float, float], Interval | None]
FURTHER: tuple[IntervalKind, ...] = ("percentile", "jackknife")


@dataclass(frozen=True)
class Asked:
    """How the labels are to be taken.

    `any_scale` measures what needs an order or numbers whatever the scale, by number or by rank; `own_weights` are the
    agreement weights of the statistics that end in _weighted; `overlap` (0..1) is from which intersection over union
    on two boxes are one find. With three raters and more a pair needs `least_shared` units for a κ; `each_pair` lists
    statistics of pairs that have a value over all raters besides, too.
    """

    any_scale: bool = False
    own_weights: OwnWeights | None = None
    overlap: float = sets.OVERLAP
    least_shared: int = LEAST_SHARED
    each_pair: bool = True


@dataclass(frozen=True, eq=False)
class Part:
    """One statistic on a sample: its entries (one a label, for some), how they are evaluated, their analytic interval.

    `evaluate` takes weights (B × P) and gives B or B × entries. `analytic` (entry, value, level) is None where there is
    no accepted one. `undefined` is the reason of a value that turns out to be NaN, `note` what the method adds.
    """

    entries: list[Statistic]
    evaluate: Evaluate
    analytic: Analytic | None = None
    undefined: str = reasons.NOTHING_LEFT
    note: str = ""

    def about(self, entry: int) -> About:
        """What is said of one of the entries."""
        return About(partial(self.analytic, entry) if self.analytic else None, self.undefined, self.note)


@dataclass(frozen=True, eq=False)
class About:
    """What is said of one entry beside its value: see `Part`."""

    analytic: Callable[[float, float], Interval | None] | None
    undefined: str
    note: str


@dataclass(frozen=True, eq=False)
class Sample:
    """Units as P patterns, `multiplicity` (P) alike, `of_unit` (U) each one's pattern (-1: none), and what is measured.

    `width` is the length of the longest array that one resample needs. `blocked`: a pattern is a block of units, or of
    clusters of them, so that clusters are resampled together already.
    """

    multiplicity: IntArray
    of_unit: IntArray
    width: int
    parts: list[Part] = field(default_factory=list)
    blocked: bool = False

    def measured(self, sampling: Sampling) -> Iterator[Statistic]:
        """The statistics with their values and intervals, part after part."""
        wanted = [part for part in self.parts if any(entry.reason is None for entry in part.entries)]
        sampled = self.resampled(wanted, sampling) if wanted else None
        place = 0
        for part in self.parts:
            if sampled is None or part not in wanted:
                yield from part.entries
                continue
            for i, entry in enumerate(part.entries):
                yield with_value(entry, sampled, place + i, part.about(i), sampling)
            place += len(part.entries)

    def resampled(self, parts: Sequence[Part], sampling: Sampling) -> Resampled:
        """The values of all entries of these parts, on the same resamples."""

        def together(weights: FloatArray) -> FloatArray:
            return np.column_stack([part.evaluate(weights) for part in parts])

        if self.blocked:
            sampling = replace(sampling, clusters=None)
        return sampling.run(together, self.multiplicity, self.of_unit, max(self.width, len(self.multiplicity)))


def with_value(entry: Statistic, sampled: Resampled, place: int, part: About, sampling: Sampling) -> Statistic:
    """The entry with its value, intervals and method, unless it has a reason already.

    ICC(A,1) and (A,k) are about raters like these, so that McGraw & Wong's interval, where there is one, stands first
    unless these raters are asked for. What resamples units is about these raters, and says so.
    """
    if entry.reason is not None:
        return entry
    value, level = float(sampled.values[place]), sampling.level
    if np.isnan(value):
        return replace(entry, reason=part.undefined)
    clustered = sampling.clusters is not None
    analytic = part.analytic(value, level) if part.analytic and not clustered else None
    boot = "BCa" if sampling.kind == "analytic" else sampling.kind
    made = [sampled.interval(place, level, boot)]
    if analytic is not None:
        of_random = analytic.raters == RANDOM_RATERS and sampling.raters != "fixed"
        first = sampling.kind == "analytic" or of_random
        made.insert(0 if first else 1, analytic)
    if made[0].low is not None or made[0] is analytic:
        kinds = [one.kind for one in made]
        made += [sampled.interval(place, level, kind) for kind in FURTHER if kind not in (*kinds, sampling.kind)]
    if asks_which_raters(entry):
        made = [one if one.raters else replace(one, raters=FIXED_RATERS) for one in made]
    return with_intervals(replace(entry, value=value), made, part.note)


def with_intervals(entry: Statistic, made: Sequence[Interval], note: str) -> Statistic:
    """The entry with the first of the intervals as its own and the others beside, and all of it in words."""
    interval, *others = made
    notes = [interval.in_words()]
    if entry.left_out:
        notes.append(f"{entry.left_out:,} {'unit' if entry.left_out == 1 else 'units'} with a single rating left out")
    notes += [note] if note else []
    return replace(
        entry,
        low=interval.low,
        high=interval.high,
        method="; ".join(notes),
        interval=interval,
        beside=tuple(other for other in others if other.low is not None),
        note=note,
    )


def asks_which_raters(entry: Statistic) -> bool:
    """Whether other raters could have been asked: not of two who are named."""
    return entry.raters is None


def distance_of(name: str, ratings: Ratings, asked: Asked, codes: IntArray | None = None) -> Distance:
    """The distance that the end of a statistic's name says, over all labels or the labels with these codes."""
    numbers = ratings.numbers if codes is None else ratings.numbers[codes]
    end = name.rsplit("_", 1)[-1]
    if end == "weighted":
        assert asked.own_weights is not None, name  # `measure` asks for none without them
        whole = asked.own_weights.distance(ratings.labels)
        return whole if codes is None else _part_of_table(whole, codes)
    if end == "masi" or name == "mean_jaccard":
        return (sets.masi_distance if end == "masi" else sets.jaccard_distance)(ratings.labels)
    kinds: dict[str, Callable[[FloatArray], Distance]] = {
        "linear": Linear,
        "quadratic": Quadratic,
        "ordinal": Ordinal,
        "interval": Quadratic,
        "ratio": ratio_distance,
    }
    return kinds[end](numbers) if end in kinds else Nominal(len(numbers))


def _part_of_table(whole: Distance, codes: IntArray) -> Distance:
    grid = np.repeat(codes, len(codes)), np.tile(codes, len(codes))
    return Table(whole.between(*grid).reshape(len(codes), len(codes)))


def entry_of(ratings: Ratings, name: str, reason: str | None, smallest: int) -> Statistic:
    """The entry of a statistic that is still to be measured, with its numbers."""
    units, raters, rated = ratings.numbers_at(smallest)
    return Statistic.pending(
        name,
        reason,
        n_units=units,
        n_raters=raters,
        n_ratings=rated,
        left_out=ratings.numbers_at(1)[0] - units if smallest == 2 else 0,
    )


def ranked_note(ratings: Ratings, name: str) -> str:
    """The note that the labels went by their rank."""
    by_rank = CATALOGUE[name].needs in ("order", "numbers", "ratio") and not ratings.numeric
    return "labels by their rank" if by_rank and len(ratings.labels) > 2 else ""


def nothing(entries: int, weights: FloatArray) -> FloatArray:
    """The values (B × entries) of what is not defined."""
    return np.full((len(weights), entries), np.nan)
