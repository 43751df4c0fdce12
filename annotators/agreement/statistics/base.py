"""What a coefficient of agreement is: what it needs, how it is measured on a sample of units, how it registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Literal, Self

from annotators.agreement.statistics import reasons
from annotators.agreement.tables.distances import Distance, Nominal, Spread
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.patterns import Counts, Grouped
from annotators.agreement.tables.ratings import Ratings, Scale
from annotators.arrays import FloatArray, IntArray, np, sparse
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import STACKED, Evaluate, Resampled, Resampling, resample
from annotators.intervals.remarks import FEW_UNITS
from annotators.intervals.result import FIXED_RATERS, RANDOM_RATERS, Interval, IntervalKind, Raters, Statistic
from annotators.intervals.shares import interval_where_few_differ
from annotators.registry import Registry

LEAST_SHARED = 10  # with three raters and more, a pair needs so many shared units for a κ unless told otherwise
OVERLAP = 0.5  # two boxes are the same find from this intersection over union on
FURTHER: tuple[IntervalKind, ...] = ("percentile", "jackknife")
FEW_GROUPS = replace(STACKED, groups=50)
"""Where only the jackknife is made, which is then of what takes longer to evaluate than sums do."""
QUICK = 2_000
"""Up to so many patterns of units this jackknife is made whether it is needed or not."""


@dataclass(frozen=True)
class Asked:
    """How the labels are to be taken.

    `any_scale` measures what needs an order or numbers whatever the scale, by number or by rank; `own_weights` are the
    agreement weights of the coefficients with own weights; `overlap` (0..1) is from which intersection over union on
    two boxes are one find. With three raters and more a pair needs `least_shared` units for a κ; `each_pair` lists
    statistics of pairs that have a value over all raters besides, too.
    """

    any_scale: bool = False
    own_weights: OwnWeights | None = None
    overlap: float = OVERLAP
    least_shared: int = LEAST_SHARED
    each_pair: bool = True


@dataclass(frozen=True)
class Sampling(Resampling):
    """How intervals are made for a table of ratings: see `Resampling`; and over what.

    `clusters` (U) is the cluster (from 0) of each unit of the table, when clusters of units are resampled together;
    `over` is what they are called. `drawn_from`, when it is not 0, is how many clusters there are, those without any
    unit that counts included, so that tables with the same clusters see the same resamples. `raters` says about which
    raters the intervals are to be, all of them.
    """

    over: str = "units"
    clusters: IntArray | None = None
    drawn_from: int = 0
    raters: Raters = "fixed"

    @property
    def leaves_out(self) -> bool:
        """Whether an analytic interval of what is not resampled does not do, so that units are left out."""
        return self.clusters is not None or self.kind == "jackknife" or self.raters == "fixed"


# What is measured on one set of resamples -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Measurement:
    """A coefficient on a sample: its entries (one a label, for some), how they are evaluated, their analytic interval.

    `evaluate` takes weights (B × P) and gives B or B × entries. `analytic` (entry, value, level) is None where there is
    no accepted one. `undefined` is the reason of a value that turns out to be NaN, `note` what the method adds. `once`:
    a unit that is drawn twice would count as two that agree, so that units are left out and never drawn. `share`
    (entry) is there of a figure that is a share: its hits and what they are of, by pattern. `best` is the kind of
    interval that covers best, which stands first; None is BCa.
    """

    entries: list[Statistic]
    evaluate: Evaluate
    analytic: Callable[[int, float, float], Interval | None] | None = None
    undefined: str = reasons.NOTHING_LEFT
    note: str = ""
    once: bool = False
    share: Callable[[int], tuple[FloatArray, FloatArray]] | None = None
    best: IntervalKind | None = None

    @classmethod
    def without_value(cls, *entries: Statistic) -> Measurement:
        """Entries that have a reason and are not measured."""
        return cls(list(entries), lambda weights: np.full((len(weights), len(entries)), np.nan))

    @property
    def is_measured(self) -> bool:
        """Whether some entry has no reason why it cannot be."""
        return any(entry.reason is None for entry in self.entries)

    def figure(
        self, i: int, sampled: Resampled, place: int, sampling: Sampling, of_share: Interval | None = None
    ) -> Statistic:
        """Entry i with its value (at this place of what was sampled), intervals and method, or its reason.

        `of_share` is the interval of a share: it stands first where hardly any unit differs from the others, of whom no
        resample then tells enough, unless another is asked for.

        An interval about raters like these stands first only where these are asked for. What resamples units is about
        these raters, and says so.
        """
        entry = self.entries[i]
        if entry.reason is not None:
            return entry
        value, level = float(sampled.values[place]), sampling.level
        if np.isnan(value):
            return entry.undefined(self.undefined)
        analytic = self.analytic(i, value, level) if self.analytic and sampling.clusters is None else None
        if self.once:
            made = _without_draws(_of_left_out(sampled, place, sampling), analytic, sampling)
        else:
            made = _with_draws(sampled, place, analytic, sampling, self._best(entry, sampled.n_units))
        if of_share is not None:
            made = [of_share, *made] if sampling.kind == "BCa" or made[0].low is None else [*made, of_share]
        if asks_which_raters(entry):
            made = [interval if interval.raters else replace(interval, raters=FIXED_RATERS) for interval in made]
        return entry.measured(value, made, self.note)

    def _best(self, entry: Statistic, drawn: int) -> list[IntervalKind]:
        """The kinds of interval that cover best: of few units with numbers or an order also the jackknife's."""
        known = _by_name().get(entry.name)
        by_size = known is not None and known.needs in ("order", "numbers", "ratio")
        few: list[IntervalKind] = ["jackknife"] if by_size and drawn < FEW_UNITS else []
        return [*([] if self.best is None else [self.best]), *few]


def _with_draws(
    sampled: Resampled, place: int, analytic: Interval | None, sampling: Sampling, best: Sequence[IntervalKind]
) -> list[Interval]:
    """The bootstrap's interval, the analytic one and the others, in their order.

    First stands the kind that is asked for, and where none is the `best`, if it is there. Where BCa is not defined,
    every resample being on one side of the value, the jackknife's stands before that of the percentiles.
    """
    level = sampling.level
    made = [sampled.interval(place, level, "BCa" if sampling.kind == "analytic" else sampling.kind)]
    if analytic is not None:
        asked_for = sampling.kind == "analytic" or (analytic.raters == RANDOM_RATERS and sampling.raters == "random")
        made.insert(0 if asked_for else 1, analytic)
    if made[0].low is not None or made[0] is analytic:
        kinds = [interval.kind for interval in made]
        made += [sampled.interval(place, level, kind) for kind in FURTHER if kind not in (*kinds, sampling.kind)]
    if sampling.kind != "BCa" or made[0] is analytic or made[0].low is None:
        return made
    wanted = [*best, "jackknife"] if made[0].kind == "percentile" else best
    by_kind = {"analytic" if interval is analytic else interval.kind: interval for interval in made}
    there = (by_kind[kind] for kind in wanted if kind in by_kind)
    fits = (interval for interval in there if interval.low is not None and _fits(interval, sampling))
    first = next(fits, made[0])
    return [first, *(interval for interval in made if interval is not first)]


def _fits(interval: Interval, sampling: Sampling) -> bool:
    """Whether an interval is about the raters that are asked for."""
    return interval.raters != RANDOM_RATERS or sampling.raters == "random"


def _of_left_out(sampled: Resampled, place: int, sampling: Sampling) -> Interval:
    if sampling.leaves_out and not sampling.resamples:
        return Interval(None, None, "jackknife", sampling.level, note="no resamples were asked for", over=sampled.over)
    return sampled.interval(place, sampling.level, "jackknife")


def _without_draws(jackknife: Interval, analytic: Interval | None, sampling: Sampling) -> list[Interval]:
    """The analytic interval before the jackknife's, unless that is asked for or the other is about other raters."""
    if analytic is None:
        return [jackknife]
    if analytic.low is None:
        return [analytic]
    if sampling.kind == "jackknife" or (analytic.raters == RANDOM_RATERS and sampling.raters == "fixed"):
        return [jackknife, analytic]
    return [analytic, jackknife]


def asks_which_raters(entry: Statistic) -> bool:
    """Whether other raters could have been asked: not of two who are named."""
    return entry.raters is None


@dataclass(frozen=True, eq=False)
class Sample:
    """Units as P patterns, `multiplicity` (P) alike, `of_unit` (U) each one's pattern (-1: none), and what is measured.

    `width` is the length of the longest array that one resample needs. `blocked`: a pattern is a block of units, or of
    clusters of them, so that clusters are resampled together already. `once`: see `Measurement`.
    """

    multiplicity: IntArray
    of_unit: IntArray
    width: int
    parts: list[Measurement] = field(default_factory=list)
    blocked: bool = False
    once: bool = False

    @classmethod
    def without_units(cls, *parts: Measurement) -> Sample:
        """Parts that nothing can be measured of."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, 1, list(parts))

    def measured(self, sampling: Sampling) -> Iterator[Statistic]:
        """The statistics with their values and intervals, part after part."""
        wanted = [part for part in self.parts if part.is_measured]
        sampled = self.resampled(wanted, sampling) if wanted else None
        place = 0
        for part in self.parts:
            if sampled is None or part not in wanted:
                yield from part.entries
                continue
            for i in range(len(part.entries)):
                of_share = self.share_of(part, i, sampling) if sampling.resamples else None
                yield part.figure(i, sampled, place + i, sampling, of_share)
            place += len(part.entries)

    def share_of(self, part: Measurement, i: int, sampling: Sampling) -> Interval | None:
        """The interval of entry i, if it is a share of which few units (or clusters) differ from the rest."""
        if part.share is None:
            return None
        hits, sizes = (numbers[self.of_unit[self.of_unit >= 0]] for numbers in part.share(i))
        if sampling.clusters is not None:
            cluster = sampling.clusters[self.of_unit >= 0]
            hits, sizes = (np.bincount(cluster, weights=numbers).astype(np.float64) for numbers in (hits, sizes))
        return interval_where_few_differ(hits, sizes, sampling.level, over=sampling.over)

    def resampled(self, parts: Sequence[Measurement], sampling: Sampling) -> Resampled:
        """The values of all entries of these parts, on the same resamples of units, or of clusters of them."""

        def together(weights: FloatArray) -> FloatArray:
            return np.column_stack([part.evaluate(weights) for part in parts])

        measured = partial(resample, resamples=sampling.resamples, seed=sampling.seed)
        if self.once:
            leaves_out = sampling.leaves_out or len(self.multiplicity) <= QUICK
            measured = partial(measured, resamples=min(int(leaves_out), sampling.resamples), layout=FEW_GROUPS)
        if sampling.clusters is None or self.blocked:
            return measured(together, self.multiplicity, width=self.width)
        counting = self.of_unit >= 0
        cluster, drawn_from = sampling.clusters[counting], sampling.drawn_from
        if not drawn_from:
            there, cluster = np.unique(cluster, return_inverse=True)
            drawn_from = len(there)
        patterns = len(self.multiplicity)
        content = sparse.csr_array(
            (np.ones(len(cluster)), (cluster, self.of_unit[counting])), shape=(drawn_from, patterns)
        )
        return measured(
            lambda draws: together(np.asarray(draws @ content)),
            np.ones(drawn_from, dtype=np.int64),
            width=max(self.width, patterns),
            over=sampling.over,
        )


# Coefficients ---------------------------------------------------------------------------------------------------------

Benchmark = Literal["Landis & Koch 1977", "Krippendorff 2004"]
LANDIS_KOCH: Benchmark = "Landis & Koch 1977"
KRIPPENDORFF: Benchmark = "Krippendorff 2004"
"""Who has words for the size of a coefficient: see `remarks.benchmarks`."""

Needs = Literal["nothing", "order", "numbers", "ratio", "sets", "rankings", "spans", "texts"]
DistanceOf = Callable[[Ratings, Asked, "IntArray | None"], Distance]
"""The distance of the labels of a table, or of the labels with these codes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Coefficient:
    """A coefficient of agreement; each kind of it (a subclass) says how it is measured.

    `title` is what it is called, `short` in narrow columns where that is something else. `needs` says what the labels
    must be; `smallest` how many ratings a unit needs to count; `estimated` that it is corrected for a chance agreement
    that is estimated from the labels, so that it needs two units and two labels; `declared` that the declared labels
    count in it, used or not; `own_weights` that it takes those of the study.

    `by_label`, `by_pair` say that it has one entry a label or a pair of raters, `over_all` one over all raters besides,
    `mean_of_pairs` that it is a mean over pairs; `who_matters` that it depends on who gave which label;
    `headline_of` is the scale that it stands for, `benchmark` whose words are used for its size, `plannable` that
    studies are planned by it.
    """

    name: str
    title: str
    short: str | None = None
    needs: Needs = "nothing"
    smallest: int = 2
    estimated: bool = True
    declared: bool = False
    own_weights: bool = False
    by_label: bool = False
    by_pair: bool = False
    over_all: bool = False
    mean_of_pairs: bool = False
    who_matters: bool = False
    headline_of: Scale | None = None
    benchmark: Benchmark | None = None
    plannable: bool = False

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """The samples on which some coefficients of this kind are measured, as few as there can be."""
        raise NotImplementedError

    def of_units(self, ratings: Ratings) -> tuple[Evaluate, Sample]:
        """The plain coefficient as a function of how often a sample holds each unit: what is `plannable`."""
        raise NotImplementedError

    def misfit(self, ratings: Ratings, *, any_scale: bool = False) -> str | None:
        """Why it does not fit the labels, or None; `any_scale` takes labels in order, or by rank, on any scale."""
        return reasons.misfit(ratings, self.needs, any_scale=any_scale)

    def entry(self, ratings: Ratings, reason: str | None) -> Statistic:
        """The entry that is still to be measured, or cannot be, with its numbers."""
        units, raters, rated = ratings.numbers_at(self.smallest)
        left_out = ratings.numbers_at(1)[0] - units if self.smallest == 2 else 0
        return Statistic(
            name=self.name, reason=reason, n_units=units, n_raters=raters, n_ratings=rated, left_out=left_out
        )

    def by_rank(self, ratings: Ratings) -> str:
        """The note that the labels went by their rank, where they did."""
        ranked = self.needs in ("order", "numbers", "ratio") and not ratings.numeric and len(ratings.labels) > 2
        return "labels by their rank" if ranked else ""


@dataclass(frozen=True, kw_only=True, eq=False)
class OfCounts(Coefficient):
    """A coefficient of how many raters gave each label, all of them measured on one set of resamples.

    `value` takes the patterns and weights (B × P) and gives B (or B × K) values, NaN where it is not defined for a
    sample; `interval` is the analytic one of entry i, from the patterns, i, its value and the level; `share` is as of
    `Measurement`. `distance` is that
    of the labels in them, 0 or 1 if not given. `never` says why some labels have no value, whatever they are.
    """

    value: Callable[[Spread, FloatArray], FloatArray]
    interval: Callable[[Spread, int, float, float], Interval]
    share: Callable[[Spread, int], tuple[FloatArray, FloatArray]] | None = None
    distance: DistanceOf | None = None
    never: Callable[[Ratings], str | None] | None = None

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        for smallest in (1, 2):
            chosen = [member for member in members if member.smallest == smallest]
            if chosen:
                table = Counts.of(grouped.ratings, smallest)
                parts = [member.part(table, grouped.ratings, asked) for member in chosen]
                yield Sample(table.multiplicity, table.of_unit, len(table.numbers), parts)

    def part(self, table: Counts, ratings: Ratings, asked: Asked) -> Measurement:
        """The coefficient over these patterns of units."""
        reason = reasons.of_counts(
            ratings,
            table.marginals,
            table.n_units,
            misfit=self.misfit(ratings, any_scale=asked.any_scale),
            declared=self.declared,
            estimated=self.estimated,
        )
        reason = reason or (self.never(ratings) if self.never else None)
        entries = [self.entry(ratings, reason)]
        if self.by_label:
            used = table.marginals > 0
            entries = [
                replace(entries[0], label=label, reason=reason or (None if used[i] else reasons.unused(label)))
                for i, label in enumerate(ratings.labels)
            ] or entries
        if all(entry.reason is not None for entry in entries):
            return Measurement.without_value(*entries)
        spread = self._spread(table, ratings, asked)
        return Measurement(
            entries,
            partial(self.value, spread),
            partial(self.interval, spread),
            note=self.by_rank(ratings),
            share=None if self.share is None else partial(self.share, spread),
        )

    def of_units(self, ratings: Ratings) -> tuple[Evaluate, Sample]:
        """See `Coefficient`."""
        if self.distance is not None and len(ratings.labels) < 2:
            raise InvalidInput(f"{self.name} needs two declared labels: there are {len(ratings.labels)}")
        table = Counts.of(ratings, self.smallest)
        sample = Sample(table.multiplicity, table.of_unit, len(table.numbers))
        return partial(self.value, self._spread(table, ratings, Asked())), sample

    def _spread(self, table: Counts, ratings: Ratings, asked: Asked) -> Spread:
        return Spread(table, (self.distance or nominal)(ratings, asked, None))


def nominal(ratings: Ratings, asked: Asked, codes: IntArray | None = None) -> Distance:
    """0 for the same label, 1 for two labels."""
    return Nominal(len(ratings.labels) if codes is None else len(codes))


def by_number(kind: Callable[[FloatArray], Distance]) -> DistanceOf:
    """The distance that goes by the labels' numbers or ranks."""

    def made(ratings: Ratings, asked: Asked, codes: IntArray | None = None) -> Distance:
        return kind(ratings.numbers if codes is None else ratings.numbers[codes])

    return made


def of_own_weights(ratings: Ratings, asked: Asked, codes: IntArray | None = None) -> Distance:
    """1 less the study's own agreement weights."""
    if asked.own_weights is None:
        raise InvalidInput("there are no own weights for these labels: give a row and a column a label")
    return asked.own_weights.distance(ratings.labels, codes)


# Names ----------------------------------------------------------------------------------------------------------------

COEFFICIENTS: Registry[Coefficient] = Registry("coefficient", "annotators.agreement.statistics", extended=False)
_places: dict[str, tuple[int, int]] = {}


def register(place: int, *coefficients: Coefficient) -> None:
    """Enter coefficients of a family; families with a lower `place` come first where all are listed."""
    for i, coefficient in enumerate(coefficients):
        COEFFICIENTS.register(coefficient)
        _places[coefficient.name] = (place, i)


@cache
def _by_name() -> dict[str, Coefficient]:
    """Every coefficient by its name, in the order in which they are listed."""
    listed = sorted(COEFFICIENTS, key=lambda coefficient: _places[coefficient.name])
    return {coefficient.name: coefficient for coefficient in listed}


def all_coefficients() -> list[Coefficient]:
    """Every coefficient, in the order in which they are listed."""
    return list(_by_name().values())


def coefficient_named(name: str) -> Coefficient:
    """The coefficient of this name; InvalidInput lists the known ones."""
    return named([name])[0]


def named(names: Iterable[str]) -> list[Coefficient]:
    """The coefficients of these names; InvalidInput for the first name that none has."""
    known, found = _by_name(), []
    for name in names:
        if name not in known:
            raise InvalidInput(f"statistic {name!r} is unknown: use some of {', '.join(known)}")
        found.append(known[name])
    return found


def title_of(name: str, *, short: bool = False) -> str:
    """What the coefficient of this name is called in sentences and tables, or in a narrow column (`short`)."""
    coefficient = coefficient_named(name)
    return coefficient.short or coefficient.title if short else coefficient.title


def samples(
    ratings: Ratings, coefficients: Iterable[Coefficient], asked: Asked, sampling: Sampling
) -> Iterator[Sample]:
    """All that is to be measured, kind by kind, each coefficient in one or several samples."""
    kinds: dict[type[Coefficient], list[Coefficient]] = {}
    for wanted in coefficients:
        kinds.setdefault(type(wanted), []).append(wanted)
    grouped = Grouped(ratings)
    for kind, members in kinds.items():
        yield from kind.samples(members, grouped, asked, sampling)
