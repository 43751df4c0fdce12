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

from annotators.arrays import BoolArray, FloatArray, np, sparse, special

STEPS, NUMBERS = 60, 20_000_000  # most steps of Lanczos' method, and how many numbers of one sample they may keep
FEWEST_STEPS = 15
HALVINGS = 60
DRAWS = 5_000
LITTLE = 1e-12  # sums of squares this small beside the squares they come from are none


@dataclass(frozen=True, eq=False)
class Table:
    """Ratings of P patterns of units by R raters: who `rated` (P × R, ones) and what each `gave` (P × R)."""

    rated: sparse.csr_array
    gave: sparse.csr_array

    @property
    def width(self) -> int:
        """How many numbers one sample needs at once."""
        return max(self.rated.shape) * STEPS


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
    sizes, sums = np.asarray(table.rated.sum(axis=1)).ravel(), np.asarray(table.gave.sum(axis=1)).ravel()
    squares = np.asarray(table.gave.power(2).sum(axis=1)).ravel()
    by_rater, sums_by_rater = np.asarray(weights @ table.rated), np.asarray(weights @ table.gave)
    rated = np.maximum(by_rater, 1.0)
    units, total, all_squares = weights.sum(axis=1), weights @ sizes, weights @ squares
    raters = (by_rater > 0).sum(axis=1).astype(np.float64)
    parts = _parts(table, weights)
    within_units = all_squares - weights @ (sums**2 / sizes)
    within_raters = all_squares - (sums_by_rater**2 / rated).sum(axis=1)

    def on_units(v: FloatArray) -> FloatArray:
        return np.asarray(sizes * v - ((weights * v) @ table.rated / rated) @ table.rated.T)

    def on_raters(v: FloatArray) -> FloatArray:
        return np.asarray(by_rater * v - (weights * (v @ table.rated.T) / sizes) @ table.rated)

    of_units = sums - (sums_by_rater / rated) @ table.rated.T
    of_raters = sums_by_rater - (weights * (sums / sizes)) @ table.rated
    free_units, free_raters = units - parts, raters - parts
    there = (weights > 0) * sizes
    sides = (
        Side(*_spectrum(on_units, of_units, weights), free_units, -0.5 / there.max(axis=1)),
        Side(*_spectrum(on_raters, of_raters, np.ones_like(by_rater)), free_raters, -0.5 / by_rater.max(axis=1)),
    )
    left = within_raters - sides[0].squares.sum(axis=1)
    freedom = total - units - raters + parts
    found = [np.where(x <= LITTLE * all_squares, 0.0, x) for x in (left, within_units, within_raters)]
    error = np.minimum(found[0], np.minimum(found[1], found[2]))
    apart = (freedom > 0) & (free_units > 0)
    means = (found[1] / np.maximum(total - units, 1.0), found[2] / np.maximum(total - raters, 1.0))
    return Fit(*sides, error, np.maximum(freedom, 1.0), apart, *means)


def _parts(table: Table, weights: FloatArray) -> FloatArray:
    """Into how many parts without a rater in common the units of each sample fall (B)."""
    patterns, raters = table.rated.shape
    found = []
    for there in weights > 0:
        here = table.rated[np.flatnonzero(there)].tocoo()
        of_rater = raters + here.coords[0]
        size = raters + int(there.sum())
        links = sparse.csr_array((np.ones(len(of_rater)), (here.coords[1], of_rater)), shape=(size, size))
        parts, _ = sparse.csgraph.connected_components(links, directed=False)
        found.append(parts - (raters - len(np.unique(here.coords[1]))))
    return np.array(found, dtype=np.float64)


def _spectrum(
    apply: Callable[[FloatArray], FloatArray], start: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Δ and t² (B × steps) of an operator that is symmetric in the inner product with these weights (B × n).

    Lanczos' method with every vector kept orthogonal to all before it.
    """
    samples, n = start.shape
    steps = max(1, min(STEPS, n, max(FEWEST_STEPS, NUMBERS // n)))
    size = np.sqrt((weights * start**2).sum(axis=1))
    basis = np.zeros((samples, steps, n))
    matrix = np.zeros((samples, steps, steps))
    vector, scale = _unit(start, size, np.zeros(samples)), np.zeros(samples)
    for step in range(steps):
        basis[:, step] = vector
        moved = apply(vector)
        along = (weights * vector * moved).sum(axis=1)
        matrix[:, step, step] = along
        scale = np.maximum(scale, along)
        before = basis[:, : step + 1]
        for _ in range(2):
            moved = moved - np.einsum("bs,bsn->bn", np.einsum("bsn,bn->bs", before, weights * moved), before)
        length = np.sqrt((weights * moved**2).sum(axis=1))
        vector = _unit(moved, length, 1e-9 * scale)
        if step + 1 < steps:
            matrix[:, step, step + 1] = matrix[:, step + 1, step] = np.where(length > 1e-9 * scale, length, 0.0)
    values, vectors = np.linalg.eigh(matrix)
    weight = (size[:, None] * vectors[:, 0, :]) ** 2
    real = (values > 1e-9 * scale[:, None]) & (weight > 0)
    information = np.where(real, values, 1.0)
    return information, np.where(real, weight / information, 0.0)


def _unit(vector: FloatArray, length: FloatArray, least: FloatArray) -> FloatArray:
    """Vectors (B × n) of length 1; 0 where the length is no more than the least."""
    there = length > least
    return np.asarray(np.where(there, 1 / np.where(there, length, 1.0), 0.0)[:, None] * vector)


# Intervals of one sample -----------------------------------------------------------------------------------------------


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
    ratios = [
        _first(side, DRAWS).ratio_at(error * rng.chisquare(side.freedom[0], DRAWS))
        for side in (found.units, found.raters)
    ]
    low, high = np.quantile(ratios[0] / (1 + ratios[0] + ratios[1]), [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def _first(side: Side, times: int) -> Side:
    """The first sample so many times."""
    return Side(
        *(np.broadcast_to(x[:1], (times, *x.shape[1:])) for x in (side.information, side.squares)),
        np.full(times, side.freedom[0]),
        np.full(times, side.floor[0]),
    )
