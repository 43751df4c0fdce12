"""Intraclass correlations: the share of the variance of numbers that is between units, one-way and two-way.

Names are McGraw & Wong's (1996), Psychological Methods 1, 30-46: (1,1) every unit its own raters; (A,1) absolute
agreement and (C,1) consistency with raters as the second factor; k: of the mean of k ratings instead of one. Shrout &
Fleiss (1979), Psychological Bulletin 86, 420-428, call them (1,1), (2,1), (3,1), (1,k), (2,k), (3,k).

With gaps the variances are estimated by Henderson's first method (1953, Biometrics 9, 226-252), whose sums of squares
have expectations that are linear in them; without gaps that is the analysis of variance. Units with a single rating do
not count. k is the number of raters; with gaps it is the mean number of ratings of a unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Self

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import Asked, Coefficient, Measurement, Needs, Sample, Sampling, register
from annotators.agreement.tables.patterns import Grouped, Rows
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, np, ratio, sparse, stats
from annotators.intervals.result import F_TEST, RANDOM_RATERS, Interval

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
    """ICC(A,1), (C,1), (A,k) and (C,k) (B × 4); NaN where the variances are 0 or cannot be told apart."""
    # A sample without any of these units has no variances; it takes every unit, so that its sums can be divided.
    empty = weights.sum(axis=1) <= 0
    weights = np.where(empty[:, None], 1.0, weights)
    units, total = weights.sum(axis=1), weights @ numbers.sizes
    by_rater, sum_by_rater = np.asarray(weights @ numbers.rated), np.asarray(weights @ numbers.gave)
    raters = (by_rater > 0).sum(axis=1).astype(np.float64)
    mean = (weights @ numbers.sums) ** 2 / total
    all_squares = weights @ numbers.squares
    unit_squares = weights @ (numbers.sums**2 / numbers.sizes)
    rater_squares = (sum_by_rater**2 / np.maximum(by_rater, 1.0)).sum(axis=1)
    k1, k3 = weights @ numbers.sizes**2 / total, (by_rater**2).sum(axis=1) / total
    expectations = np.stack(
        [
            np.stack([total - k1, units - k3, units - 1], axis=-1),
            np.stack([raters - k1, total - k3, raters - 1], axis=-1),
            np.stack([k1 - raters, k3 - units, total - units - raters + 1], axis=-1),
        ],
        axis=-2,
    )
    found = np.stack(
        [unit_squares - mean, rater_squares - mean, all_squares - unit_squares - rater_squares + mean], axis=-1
    )
    found = np.where(np.abs(found) <= LITTLE * all_squares[:, None], 0.0, found)
    solvable = np.linalg.matrix_rank(expectations) == 3
    expectations[~solvable] = np.eye(3)
    of_units, of_raters, error = np.moveaxis(np.linalg.solve(expectations, found[..., None])[..., 0], -1, 0)
    k = total / units
    forms = [
        _share(of_units, of_raters, error),
        _share(of_units, error),
        _share(of_units, of_raters / k, error / k),
        _share(of_units, error / k),
    ]
    return np.where((solvable & ~empty)[:, None], np.column_stack(forms), np.nan)


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


def _f(level: float, above: float, below: float) -> float:
    return float(stats.f.ppf((1 + level) / 2, above, below))


@dataclass(frozen=True, kw_only=True, eq=False)
class Icc(Coefficient):
    """An intraclass correlation of this `form`, which is one `column` of what `ways` gives for weights (B × P).

    `of_mean` says that it is the reliability of a mean of k ratings.
    """

    form: str
    ways: Callable[[Numbers, FloatArray], FloatArray]
    column: int
    of_mean: bool = False
    needs: Needs = "numbers"

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        ratings = grouped.ratings
        numbers = Numbers.of(ratings)
        used = np.bincount(numbers.rows.code, minlength=len(ratings.labels)).astype(np.float64)
        units = int(numbers.rows.multiplicity.sum())
        sample = Sample(numbers.rows.multiplicity, numbers.rows.of_unit, 4 * len(ratings.raters) + 12)
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
            part = Measurement(
                [member.entry(ratings, reason)],
                partial(member._value, numbers),
                partial(member._interval, numbers),
                reasons.NO_VARIANCE,
                "; ".join(filter(None, notes)),
            )
            sample.parts.append(part)
        yield sample

    def _value(self, numbers: Numbers, weights: FloatArray) -> FloatArray:
        return self.ways(numbers, weights)[:, self.column]

    def _interval(self, numbers: Numbers, _: int, __: float, level: float) -> Interval | None:
        ends = f_ends(numbers, level).get(self.form)
        if ends is None:
            return None
        about = RANDOM_RATERS if self.random_raters else ""
        return Interval(min(ends[0], 1.0), min(ends[1], 1.0), F_TEST, level, raters=about)


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
