"""Intraclass correlations: the share of the variance of numbers that is between units, one-way and two-way.

Names are McGraw & Wong's (1996), Psychological Methods 1, 30-46: (1,1) every unit its own raters; (A,1) absolute
agreement and (C,1) consistency with raters as the second factor; k: of the mean of k ratings instead of one. Shrout &
Fleiss (1979), Psychological Bulletin 86, 420-428, call them (1,1), (2,1), (3,1), (1,k), (2,k), (3,k).

Without gaps all come from the analysis of variance and have McGraw & Wong's intervals. With gaps the one-way forms
still do, with Wald's intervals; for the two-way forms see `crossed`. Units with a single rating do not count. k is the
number of raters; with gaps it is the mean number of ratings of a unit.

Of two-way forms with gaps units are not resampled: a unit that is drawn twice brings the same errors of the same raters
twice, which look like differences between raters, and the variance of error comes out too small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

from annotators.agreement.statistics import crossed, reasons
from annotators.agreement.statistics.base import Asked, Coefficient, Measurement, Needs, Sample, Sampling, register
from annotators.agreement.tables.patterns import Grouped, Rows
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, np, optimize, ratio, sparse, stats
from annotators.intervals.result import F_TEST, GENERALIZED, RANDOM_RATERS, WALD, Interval, Statistic

LITTLE = 1e-12  # a variance this small beside the squares it comes from is none


@dataclass(frozen=True, eq=False)
class Numbers:
    """The ratings of P patterns of units as numbers: how many, their sum and the sum of their squares, by rater.

    `sizes`, `sums`, `squares` (P) are of a unit's ratings, `rated` and `gave` (P × R) of each rater's.
    """

    rows: Rows
    sizes: FloatArray
    sums: FloatArray
    squares: FloatArray
    rated: sparse.csr_array
    gave: sparse.csr_array

    @classmethod
    def of(cls, ratings: Ratings) -> Numbers:
        """From a table of ratings; numbers are counted from their mean, so that sums round less."""
        rows = Rows.of(ratings, smallest=2)
        numbers = ratings.numbers
        if len(rows.code):
            numbers = numbers - float(np.average(numbers[rows.code], weights=rows.multiplicity[rows.pattern]))
        x, shape = numbers[rows.code], (len(rows.lengths), rows.n_raters)
        place = (rows.pattern, rows.rater)
        return cls(
            rows,
            rows.lengths.astype(np.float64),
            np.bincount(rows.pattern, weights=x, minlength=shape[0]).astype(np.float64),
            np.bincount(rows.pattern, weights=x**2, minlength=shape[0]).astype(np.float64),
            sparse.csr_array((np.ones(len(x)), place), shape=shape),
            sparse.csr_array((x, place), shape=shape),
        )

    @cached_property
    def complete(self) -> bool:
        """Whether all raters who rated any of these units rated every one of them."""
        raters = len(np.unique(self.rows.rater))
        return bool((self.rows.lengths == raters).all())


def one_way(numbers: Numbers, weights: FloatArray) -> FloatArray:
    """ICC(1,1) and ICC(1,k) (B × 2); NaN where the numbers do not vary or there are no two units.

    (MS_b - MS_w) / (MS_b + (n_0 - 1) MS_w), n_0 = (N - Σ n_u² / N) / (units - 1), which is k without gaps.
    """
    empty = weights.sum(axis=1) <= 0
    weights = np.where(empty[:, None], 1.0, weights)
    units, total = weights.sum(axis=1), weights @ numbers.sizes
    squares = weights @ numbers.squares
    within = weights @ (numbers.squares - numbers.sums**2 / numbers.sizes)
    between = weights @ (numbers.sums**2 / numbers.sizes) - (weights @ numbers.sums) ** 2 / total
    within, between = (np.where(sums <= LITTLE * squares, 0.0, sums) for sums in (within, between))
    mean_within = ratio(within, total - units, cut=False)
    mean_between = ratio(between, units - 1, cut=False)
    size = ratio(total - weights @ numbers.sizes**2 / total, units - 1, cut=False)
    single = ratio(mean_between - mean_within, mean_between + (size - 1) * mean_within)
    forms = np.column_stack([single, _stepped_up(single, total / units)])
    return np.where(empty[:, None], np.nan, forms)


def two_way(numbers: Numbers, weights: FloatArray) -> FloatArray:
    """ICC(A,1), (C,1), (A,k) and (C,k) (B × 4) without gaps, by the analysis of variance; NaN where nothing varies."""
    empty = weights.sum(axis=1) <= 0
    weights = np.where(empty[:, None], 1.0, weights)
    units, k = weights.sum(axis=1), float(numbers.sizes.max(initial=1))
    mean = (weights @ numbers.sums) ** 2 / (units * k)
    all_squares = weights @ numbers.squares
    rows = weights @ numbers.sums**2 / k - mean
    columns = (np.asarray(weights @ numbers.gave) ** 2).sum(axis=1) / units - mean
    found = (rows, columns, all_squares - mean - rows - columns)
    rows, columns, rest = (np.where(np.abs(sums) <= LITTLE * all_squares, 0.0, sums) for sums in found)
    error = ratio(rest, (units - 1) * (k - 1), cut=False)
    of_units = (ratio(rows, units - 1, cut=False) - error) / k
    of_raters = (columns / (k - 1) - error) / units
    forms = [
        _share(of_units, of_raters, error),
        _share(of_units, error),
        _share(of_units, of_raters / k, error / k),
        _share(of_units, error / k),
    ]
    return np.where(empty[:, None], np.nan, np.column_stack(forms))


def _share(part: FloatArray, *others: FloatArray) -> FloatArray:
    """part / (part + others), NaN where estimates, which may be negative, leave no variance to share."""
    whole, size = sum(others, part), sum(map(np.abs, others), np.abs(part))
    return np.where(whole > LITTLE * size, ratio(part, whole), np.nan)


def _stepped_up(single: FloatArray, k: FloatArray) -> FloatArray:
    """The reliability of the mean of k from that of one: Spearman-Brown; NaN where that of one is as low as it goes."""
    whole = 1 + (k - 1) * single
    return np.where(np.abs(whole) > LITTLE, ratio(k * single, whole), np.nan)


def f_ends(numbers: Numbers, level: float) -> dict[str, tuple[float, float]]:
    """The ends of the F-based interval of each form, for complete data: McGraw & Wong (1996), table 7; none with gaps.

    Those of the A forms are Satterthwaite's approximation; (A,k) steps the ends of (A,1) up.
    """
    weights = numbers.rows.multiplicity.astype(np.float64)
    n, k = float(weights.sum()), float(numbers.sizes.max(initial=0))
    if not numbers.complete or n < 2 or k < 2:
        return {}
    mean = float(weights @ numbers.sums) ** 2 / (n * k)
    squares = float(weights @ numbers.squares)
    of_units = float(weights @ numbers.sums**2) / k - mean
    of_raters = float(((weights @ numbers.gave) ** 2).sum()) / n - mean
    rest = squares - mean - of_units - of_raters
    if min(of_units, rest) <= LITTLE * squares:
        return {}
    rows, columns = of_units / (n - 1), of_raters / (k - 1)
    error, within = rest / ((n - 1) * (k - 1)), (of_raters + rest) / (n * (k - 1))
    ends: dict[str, tuple[float, float]] = {}
    for form, residual, freedom in (("1", within, n * (k - 1)), ("C", error, (n - 1) * (k - 1))):
        low = rows / residual / _f(level, n - 1, freedom)
        high = rows / residual * _f(level, freedom, n - 1)
        ends[f"{form},1"] = ((low - 1) / (low + k - 1), (high - 1) / (high + k - 1))
        ends[f"{form},k"] = (1 - 1 / low, 1 - 1 / high)
    single = (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n)
    if single < 1:
        a = k * single / (n * (1 - single))
        b = 1 + k * single * (n - 1) / (n * (1 - single))
        freedom = (a * columns + b * error) ** 2 / (
            (a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
        )
        rest_of = k * columns + (k * n - k - n) * error
        above, below = _f(level, n - 1, freedom), _f(level, freedom, n - 1)
        low = n * (rows - above * error) / (above * rest_of + n * rows)
        high = n * (below * rows - error) / (rest_of + n * below * rows)
        ends["A,1"] = (low, high)
        if 1 + (k - 1) * low > 0:  # else the stepped-up interval has no lower end
            ends["A,k"] = (k * low / (1 + (k - 1) * low), k * high / (1 + (k - 1) * high))
    return ends


def wald_ends(numbers: Numbers, level: float) -> dict[str, tuple[float, float]]:
    """The ends of ICC(1,1) and ICC(1,k) where units have different numbers of ratings; none without any error.

    Wald (1940), Annals of Mathematical Statistics 11, 96-100: the mean square of the means of units about their mean,
    each weighted by 1 / (γ + 1 / n_u), has with that within units the F distribution at the true ratio γ = σ²_u / σ²_e.
    Without gaps these are the ends of the analysis of variance; (1,k) steps them up to the mean number of ratings.
    """
    m, sizes = numbers.rows.multiplicity.astype(np.float64), numbers.sizes
    units, total = float(m.sum()), float(m @ sizes)
    within = float(m @ (numbers.squares - numbers.sums**2 / sizes))
    if units < 2 or within <= LITTLE * float(m @ numbers.squares):
        return {}
    means, floor = numbers.sums / sizes, -0.5 / float(sizes.max())

    def between(ratio: float) -> float:
        weights = m / (ratio + 1 / sizes)
        return float(weights @ (means - (weights @ means) / weights.sum()) ** 2)

    def end(quantile: float) -> float:
        target = quantile * (units - 1) * within / (total - units)
        low, high = (math.log(bound) for bound in (1e-12, 1e12))
        if between(floor + math.exp(low)) <= target:
            return floor
        return floor + math.exp(optimize.brentq(lambda x: between(floor + math.exp(x)) - target, low, high))

    above = _f(level, units - 1, total - units), 1 / _f(level, total - units, units - 1)
    ends = np.array([ratio / (1 + ratio) for ratio in map(end, above)])
    single, mean = ends.tolist(), _stepped_up(ends, np.array(total / units)).tolist()
    return {"1,1": (single[0], single[1]), "1,k": (mean[0], mean[1])}


def _f(level: float, above: float, below: float) -> float:
    return float(stats.f.ppf((1 + level) / 2, above, below))


@dataclass(eq=False)
class WithGaps:
    """The two-way forms of data with gaps: all of them are made at once, and kept for the next of the same weights."""

    numbers: Numbers
    table: crossed.Table
    _weights: FloatArray | None = None
    _forms: FloatArray | None = None

    @classmethod
    def of(cls, numbers: Numbers) -> WithGaps:
        """Of numbers that are not complete."""
        return cls(numbers, crossed.Table.of(numbers.rated, numbers.gave))

    @cached_property
    def fit(self) -> crossed.Fit:
        """The fit of the data."""
        return crossed.fit(self.table, self.numbers.rows.multiplicity[None, :].astype(np.float64))

    @cached_property
    def k(self) -> float:
        """The mean number of ratings of a unit."""
        m = self.numbers.rows.multiplicity
        return float(self.numbers.sizes @ m) / float(m.sum())

    def forms(self, _: Numbers, weights: FloatArray) -> FloatArray:
        """ICC(A,1), (C,1), (A,k) and (C,k) (B × 4); NaN where the variances are 0 or cannot be told apart."""
        if self._weights is weights and self._forms is not None:
            return self._forms
        found = crossed.fit(self.table, weights)
        units = weights.sum(axis=1)
        k = np.divide(weights @ self.numbers.sizes, units, out=np.ones_like(units), where=units > 0)
        agreement, consistency = found.agreement(), found.consistency()
        forms = [agreement, consistency, _stepped_up(agreement, k), _stepped_up(consistency, k)]
        self._forms = np.where((units > 0)[:, None], np.minimum(np.column_stack(forms), 1.0), np.nan)
        self._weights = weights
        return self._forms

    def interval(self, form: str, sampling: Sampling, level: float) -> Interval:
        """Wald's exact interval of a C form, the generalized one of an A form; none where there is no error at all.

        Wald's holds whatever the raters are like, so that it is about these raters and about raters like these.
        """
        agreement, seed = form.startswith("A"), sampling.seed
        kind = GENERALIZED if agreement else WALD
        about = RANDOM_RATERS if agreement or sampling.raters == "random" else ""
        if self.fit.error[0] <= 0:
            return Interval(None, None, kind, level, note=reasons.NO_ERROR, raters=about)
        ends = crossed.agreement_ends(self.fit, level, seed) if agreement else crossed.consistency_ends(self.fit, level)
        if form.endswith("k"):
            low, high = _stepped_up(np.array(ends), np.array(self.k)).tolist()
        else:
            low, high = ends
        note = f"{crossed.DRAWS:,} draws, seed {seed}" if agreement else ""
        return Interval(low, high, kind, level, note=note, raters=about)


@dataclass(frozen=True, kw_only=True, eq=False)
class Icc(Coefficient):
    """An intraclass correlation of this `form`, which is one `column` of what `ways` gives for weights (B × P).

    With gaps `WithGaps` has the same columns for the two-way forms (`who_matters`).

    `of_mean` says that it is the reliability of a mean of k ratings, `random_raters` that the interval without gaps is
    about raters like these.
    """

    form: str
    ways: Callable[[Numbers, FloatArray], FloatArray]
    column: int
    of_mean: bool = False
    random_raters: bool = False
    needs: Needs = "numbers"

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        ratings = grouped.ratings
        numbers = Numbers.of(ratings)
        used = np.bincount(numbers.rows.code, minlength=len(ratings.labels)).astype(np.float64)
        units = int(numbers.rows.multiplicity.sum())
        gaps = None if numbers.complete else WithGaps.of(numbers)
        plain = Sample(numbers.rows.multiplicity, numbers.rows.of_unit, 4 * len(ratings.raters) + 12)
        once = replace(plain, width=gaps.table.width, parts=[], once=True) if gaps else plain
        for member in members:
            reason = reasons.of_counts(
                ratings,
                used,
                units,
                misfit=member.misfit(ratings, any_scale=asked.any_scale),
                constant=reasons.NO_VARIANCE_TO_SHARE,
            )
            notes = [member.by_rank(ratings)]
            if member.of_mean:
                k = numbers.rows.lengths @ numbers.rows.multiplicity / max(1, units)
                notes.insert(0, f"k = {k:g}" if numbers.complete else f"k = {k:.3g} on average")
            words = "; ".join(filter(None, notes))
            if gaps and member.who_matters:
                reason = reason or (None if gaps.fit.apart[0] else reasons.NOT_APART)
                once.parts.append(member._with_gaps(gaps, member.entry(ratings, reason), words, sampling))
            else:
                ways, interval = partial(member._value, member.ways, numbers), partial(member._interval, numbers)
                entries = [member.entry(ratings, reason)]
                made = Measurement(entries, ways, interval, reasons.NO_VARIANCE, words, best="analytic")
                plain.parts.append(made)
        yield from [plain] * bool(plain.parts) + [once] * bool(gaps and once.parts)

    def _with_gaps(self, gaps: WithGaps, entry: Statistic, note: str, sampling: Sampling) -> Measurement:
        def interval(_: int, __: float, level: float) -> Interval:
            return gaps.interval(self.form, sampling, level)

        ways = partial(self._value, gaps.forms, gaps.numbers)
        return Measurement([entry], ways, interval, reasons.NO_VARIANCE, note, once=True)

    def _value(
        self, ways: Callable[[Numbers, FloatArray], FloatArray], numbers: Numbers, weights: FloatArray
    ) -> FloatArray:
        return ways(numbers, weights)[:, self.column]

    def _interval(self, numbers: Numbers, _: int, __: float, level: float) -> Interval | None:
        of, kind = (f_ends, F_TEST) if numbers.complete else (wald_ends, WALD)
        ends = of(numbers, level).get(self.form)
        if ends is None:
            return None
        about = RANDOM_RATERS if self.random_raters else ""
        return Interval(min(ends[0], 1.0), min(ends[1], 1.0), kind, level, raters=about)


register(
    60,
    Icc(name="icc_1_1", title="ICC(1,1)", form="1,1", ways=one_way, column=0),
    Icc(name="icc_a_1", title="ICC(A,1)", form="A,1", ways=two_way, column=0, who_matters=True, random_raters=True),
    Icc(name="icc_c_1", title="ICC(C,1)", form="C,1", ways=two_way, column=1, who_matters=True),
    Icc(name="icc_1_k", title="ICC(1,k)", form="1,k", ways=one_way, column=1, of_mean=True),
    Icc(
        name="icc_a_k", title="ICC(A,k)", form="A,k", ways=two_way, column=2, of_mean=True, who_matters=True,
        random_raters=True,
    ),
    Icc(name="icc_c_k", title="ICC(C,k)", form="C,k", ways=two_way, column=3, of_mean=True, who_matters=True),
)  # fmt: skip
