"""Units crossed with raters with gaps: how variances of units and of raters compare with that of error, with intervals.

x_ij = mean + u_i + r_j + e_ij. With gaps the sums of squares of units and raters overlap, so that each is adjusted for
the other. Of units adjusted for raters, Wald's (1947, Annals of Mathematical Statistics 18, 586-589) ratio

    F(γ) = Σ t_i² / (1 + γ Δ_i) / q : SSE / f,    γ = σ²_u / σ²_e,

has the F distribution with q and f degrees of freedom for any design, whatever the raters are like; Δ_i and t_i are the
eigenvalues of the information on units and the contrasts along its eigenvectors. Its quantiles give an exact interval
of γ: Harville & Fenech (1985), Biometrics 41, 137-152. The estimate is where F(γ) = 1. Without gaps this is the
analysis of variance and McGraw & Wong's interval. The same of raters, adjusted for units, gives that of raters.

Eigenvalues and contrasts come from Lanczos' method, started at the sums of deviations: all of them for small tables,
for large ones those few with which Σ t_i² / (1 + γ Δ_i) is a Gauss quadrature (Golub & Meurant 2010, Matrices, Moments
and Quadrature, chapter 6), in time that grows with the number of ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotators.arrays import BoolArray, FloatArray, np, sparse, special

STEPS, NUMBERS = 60, 20_000_000  # most steps of Lanczos' method, and how many numbers of one sample they may keep
FEWEST_STEPS = 15
CONVERGED = 1e-11  # what a further step adds, beside all before, when there are enough of them
DENSE = 50_000  # cells of a table up to which it is dense
HALVINGS = 60
DRAWS, KNOTS = 10_000, 500
TINY = 1e-9  # eigenvalues and lengths this small beside the largest, and what they leave of the squares, are none
LITTLE = 1e-12  # sums of squares this small beside the squares they come from are none


if TYPE_CHECKING:
    Matrix = sparse.csr_array | FloatArray


@dataclass(frozen=True, eq=False)
class Table:
    """Ratings of P patterns of units by R raters: who `rated` (P × R, ones) and what each `gave` (P × R).

    `raters_of` (R × P) is `rated` turned. `sizes`, `sums`, `squares` (P) are of the ratings of a unit. Small tables are
    dense, for which products take less time.
    """

    rated: Matrix
    raters_of: Matrix
    gave: Matrix
    sizes: FloatArray
    sums: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, rated: sparse.csr_array, gave: sparse.csr_array) -> Table:
        """From who rated and what they gave."""
        sizes, sums, squares = (
            np.asarray(x.sum(axis=1), dtype=np.float64).ravel() for x in (rated, gave, gave.power(2))
        )
        if rated.shape[0] * rated.shape[1] <= DENSE:
            dense = rated.toarray()
            return cls(dense, np.ascontiguousarray(dense.T), gave.toarray(), sizes, sums, squares)
        return cls(rated, rated.T.tocsr(), gave, sizes, sums, squares)

    @property
    def width(self) -> int:
        """How many numbers one sample needs at once."""
        return int(max(self.rated.shape)) * STEPS

    def on_raters(self, units: FloatArray) -> FloatArray:
        """Sums over the units that each rater rated (B × R), of numbers of units (B × P)."""
        return np.asarray(units @ self.rated)

    def on_units(self, raters: FloatArray) -> FloatArray:
        """Sums over the raters that rated each unit (B × P), of numbers of raters (B × R)."""
        return np.asarray(raters @ self.raters_of)


@dataclass(frozen=True, eq=False)
class Side:
    """What B samples say of the variance of units, or raters, adjusted for the others.

    `information` (Δ) and `squares` (t²) are B × steps, `freedom` (B) the number of contrasts, and `floor` (B) the least
    ratio to the variance of error: that at which the mean of the most ratings of one of them has a reliability of -1.
    """

    information: FloatArray
    squares: FloatArray
    freedom: FloatArray
    floor: FloatArray

    def ratio_at(self, target: FloatArray) -> FloatArray:
        """The ratio γ at which Σ t² / (1 + γ Δ) has this value (B), by halving; no less than the floor."""
        low, high = np.full(target.shape, np.log(1e-12)), np.full(target.shape, np.log(1e12))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            ratio = self.floor + np.exp(middle)
            above = (self.squares / (1 + ratio[:, None] * self.information)).sum(axis=1) > target
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.asarray(self.floor + np.exp((low + high) / 2))


@dataclass(frozen=True, eq=False)
class Fit:
    """Units and raters of B samples, the sum of squares of error (B) with its degrees of freedom, and mean squares.

    `apart` (B) says in which samples the three variances can be told apart; `within_units` and `within_raters` (B) are
    the mean squares about the means of units and of raters.
    """

    units: Side
    raters: Side
    error: FloatArray
    freedom: FloatArray
    apart: BoolArray
    within_units: FloatArray
    within_raters: FloatArray

    @property
    def ratios(self) -> tuple[FloatArray, FloatArray]:
        """The variances of units and of raters, as multiples of that of error (B, B)."""
        found = [side.ratio_at(side.freedom * self.error / self.freedom) for side in (self.units, self.raters)]
        return found[0], found[1]

    def consistency(self) -> FloatArray:
        """ICC(C,1) (B): 1 where raters differ by constants only, NaN where nothing varies or cannot be told apart."""
        ratio = self.ratios[0]
        found = np.where(self.error > 0, ratio / (ratio + 1), np.where(self.within_raters > 0, 1.0, np.nan))
        return np.where(self.apart, found, np.nan)

    def agreement(self) -> FloatArray:
        """ICC(A,1) (B); without any error the two mean squares are the variances."""
        of_units, of_raters = self.ratios
        whole = self.within_raters + self.within_units
        exact = np.divide(self.within_raters, whole, out=np.full_like(whole, np.nan), where=whole > 0)
        found = np.where(self.error > 0, of_units / (of_units + of_raters + 1), exact)
        return np.where(self.apart, found, np.nan)


def fit(table: Table, weights: FloatArray) -> Fit:
    """The fit of B samples, in which each pattern of units is there `weights` (B × P) times."""
    weights = np.where((weights.sum(axis=1) > 0)[:, None], weights, 1.0)
    sizes, sums = table.sizes, table.sums
    by_rater, sums_by_rater = table.on_raters(weights), np.asarray(weights @ table.gave)
    rated = np.maximum(by_rater, 1.0)
    units, total, all_squares = weights.sum(axis=1), weights @ sizes, weights @ table.squares
    raters = (by_rater > 0).sum(axis=1).astype(np.float64)
    parts = _parts(table, weights)
    within_units = all_squares - weights @ (sums**2 / sizes)
    within_raters = all_squares - (sums_by_rater**2 / rated).sum(axis=1)

    def on_units(v: FloatArray) -> FloatArray:
        return np.asarray(sizes * v - table.on_units(table.on_raters(weights * v) / rated))

    def on_raters(v: FloatArray) -> FloatArray:
        return np.asarray(by_rater * v - table.on_raters(weights * table.on_units(v) / sizes))

    of_units = sums - table.on_units(sums_by_rater / rated)
    of_raters = sums_by_rater - table.on_raters(weights * (sums / sizes))
    free_units, free_raters = units - parts, raters - parts
    there = (weights > 0) * sizes
    sides = (
        Side(*_spectrum(on_units, of_units, weights), free_units, -0.5 / there.max(axis=1)),
        Side(*_spectrum(on_raters, of_raters, np.ones_like(by_rater)), free_raters, -0.5 / by_rater.max(axis=1)),
    )
    left = within_raters - sides[0].squares.sum(axis=1)
    freedom = total - units - raters + parts
    sums_left = ((left, TINY), (within_units, LITTLE), (within_raters, LITTLE))
    found = [np.where(x <= least * all_squares, 0.0, x) for x, least in sums_left]
    error = np.minimum(found[0], np.minimum(found[1], found[2]))
    apart = (freedom > 0) & (free_units > 0)
    means = (found[1] / np.maximum(total - units, 1.0), found[2] / np.maximum(total - raters, 1.0))
    return Fit(*sides, error, np.maximum(freedom, 1.0), apart, *means)


def _parts(table: Table, weights: FloatArray) -> FloatArray:
    """Into how many parts without a rater in common the units of each sample fall (B)."""
    pattern, rater = table.rated.nonzero()
    patterns, raters = table.rated.shape
    found = []
    for there in weights > 0:
        ends = pattern[there[pattern]], patterns + rater[there[pattern]]
        links = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(patterns + raters,) * 2)
        parts, _ = sparse.csgraph.connected_components(links, directed=False)
        alone = patterns - int(there.sum()) + raters - len(np.unique(ends[1]))
        found.append(parts - alone)
    return np.array(found, dtype=np.float64)


def _spectrum(
    apply: Callable[[FloatArray], FloatArray], start: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Δ and t² (B × steps) of an operator that is symmetric in the inner product with these weights (B × n).

    Lanczos' method with every vector kept orthogonal to all before it. It ends when a step adds nothing to Σ t², which
    it adds to as the method of conjugate gradients does to what it minimises (Golub & Meurant 2010, chapter 12).
    """
    samples, n = start.shape
    steps = max(1, min(STEPS, n, max(FEWEST_STEPS, NUMBERS // n)))
    size = np.sqrt((weights * start**2).sum(axis=1))
    basis = np.zeros((samples, steps, n))
    matrix = np.zeros((samples, steps, steps))
    vector, scale = _unit(start, size, np.zeros(samples)), np.zeros(samples)
    length, pivot, share, total, step = np.zeros(samples), np.ones(samples), np.ones(samples), np.zeros(samples), 0
    while True:
        basis[:, step] = vector
        moved = apply(vector)
        along = (weights * vector * moved).sum(axis=1)
        matrix[:, step, step] = along
        scale = np.maximum(scale, along)
        pivot = along - length**2 / pivot
        going = pivot > TINY * scale
        added = np.where(going, share / np.where(going, pivot, 1.0), 0.0)
        total += added
        if step + 1 == steps or (added <= CONVERGED * total).all():
            break
        before = basis[:, : step + 1]
        for _ in range(2):
            moved = moved - ((before @ (weights * moved)[:, :, None]).transpose(0, 2, 1) @ before)[:, 0]
        length = np.sqrt((weights * moved**2).sum(axis=1))
        vector = _unit(moved, length, TINY * scale)
        length = np.where(length > TINY * scale, length, 0.0)
        pivot = np.where(going, pivot, 1.0)
        share = np.where(going, share * (length / pivot) ** 2, 0.0)
        step += 1
        matrix[:, step - 1, step] = matrix[:, step, step - 1] = length
    values, vectors = np.linalg.eigh(matrix[:, : step + 1, : step + 1])
    weight = (size[:, None] * vectors[:, 0, :]) ** 2
    real = (values > TINY * scale[:, None]) & (weight > 0)
    information = np.where(real, values, 1.0)
    return information, np.where(real, weight / information, 0.0)


def _unit(vector: FloatArray, length: FloatArray, least: FloatArray) -> FloatArray:
    """Vectors (B × n) of length 1; 0 where the length is no more than the least."""
    there = length > least
    return np.asarray(np.where(there, 1 / np.where(there, length, 1.0), 0.0)[:, None] * vector)


# Intervals of one sample ----------------------------------------------------------------------------------------------


def consistency_ends(found: Fit, level: float) -> tuple[float, float]:
    """The ends of ICC(C,1) for the first sample: exact, see the top of this module."""
    q, f = float(found.units.freedom[0]), float(found.freedom[0])
    quantiles = special.fdtri(q, f, np.array([(1 + level) / 2, (1 - level) / 2]))
    ratios = _first(found.units, 2).ratio_at(quantiles * q * found.error[0] / f)
    low, high = (ratios / (1 + ratios)).tolist()
    return low, high


def agreement_ends(found: Fit, level: float, seed: int) -> tuple[float, float]:
    """The ends of ICC(A,1) for the first sample: a generalized confidence interval.

    SSE / σ²_e, and the sums of squares of units and raters at their true ratios, have χ² distributions; these are drawn
    and solved for the variances. Weerahandi (1993), Journal of the American Statistical Association 88, 899-905; for
    ICC(A,1) without gaps Ionan et al. (2014), BMC Medical Research Methodology 14, 121. With gaps the two sums are not
    quite independent, which is passed over.
    """
    rng = np.random.default_rng(seed)
    error = found.error[0] / rng.chisquare(found.freedom[0], DRAWS)
    ratios = [_solved(side, error * rng.chisquare(side.freedom[0], DRAWS)) for side in (found.units, found.raters)]
    low, high = np.quantile(ratios[0] / (1 + ratios[0] + ratios[1]), [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def _solved(side: Side, targets: FloatArray) -> FloatArray:
    """The ratio at each of many sums for the first sample, between knots that are solved."""
    knots = np.geomspace(targets.min(), targets.max(), KNOTS)
    above = np.log(_first(side, KNOTS).ratio_at(knots) - side.floor[0])
    return np.asarray(side.floor[0] + np.exp(np.interp(np.log(targets), np.log(knots), above)))


def _first(side: Side, times: int) -> Side:
    """The first sample so many times."""

    def repeated(x: FloatArray) -> FloatArray:
        return np.broadcast_to(x[:1], (times, *x.shape[1:]))

    return Side(repeated(side.information), repeated(side.squares), repeated(side.freedom), repeated(side.floor))
