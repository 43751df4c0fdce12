"""The κ of pairs of raters: Cohen's, weighted or not, Scott's π, and Light's, the mean over all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Self

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import (
    LANDIS_KOCH,
    Asked,
    Coefficient,
    DistanceOf,
    Measurement,
    Sample,
    Sampling,
    by_number,
    of_own_weights,
    register,
)
from annotators.agreement.statistics.fleiss import FLEISS
from annotators.agreement.statistics.of_pairs import OfPair
from annotators.agreement.tables.cross import CrossTable
from annotators.agreement.tables.distances import Distance, Linear, Nominal, Quadratic
from annotators.agreement.tables.pairs import PairSums
from annotators.agreement.tables.patterns import Grouped
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, np, ratio
from annotators.intervals.analytic import of_parts, t_interval
from annotators.intervals.bootstrap import Evaluate
from annotators.intervals.result import Interval

# One pair -------------------------------------------------------------------------------------------------------------


def cohen(table: CrossTable, _: Distance, weights: FloatArray) -> FloatArray:
    """Cohen's κ of one pair; see `cohen_kappa`, which is the same for many pairs at once."""
    n = weights.sum(axis=1)
    chance = ((weights @ table.left) * (weights @ table.right)).sum(axis=1)
    return ratio(n * (weights @ table.alike) - chance, n * n - chance)


def weighted_cohen(table: CrossTable, distance: Distance, weights: FloatArray) -> FloatArray:
    """Weighted κ = 1 - Σ δ_ij p_ij / Σ δ_ij p_ai p_bj, δ over the labels of `table.used`; NaN as for Cohen's κ (0/0).

    Cohen (1968), Psychological Bulletin 70, 213-220. With linear weights 1 - δ / δ_max, δ = |x - y|; quadratic
    (x - y)²: Fleiss & Cohen (1973), Educational and Psychological Measurement 33, 613-619.
    """
    n = weights.sum(axis=1)
    expected = distance.cross(weights @ table.left, weights @ table.right)
    return ratio(expected - n * (weights @ distance.between(table.a, table.b)), expected)


def of_cohen(table: CrossTable, distance: Distance, value: float, level: float) -> Interval:
    """The interval of Cohen's κ, weighted or (nominal distance) not: Fleiss, Cohen & Everitt (1969), eq. 8, with t.

    Psychological Bulletin 72, 323-327. `distance` is over the labels of `table.used`.
    """
    m = table.multiplicity.astype(np.float64)
    n = float(m.sum())
    shares = [m @ side / n for side in (table.left, table.right)]
    scale = distance.greatest
    weight = 1 - distance.between(table.a, table.b) / scale
    toward = [1 - distance.toward(share) / scale for share in (shares[1], shares[0])]
    observed, expected = float(m @ weight) / n, float(shares[0] @ toward[0])
    both = toward[0][table.a] + toward[1][table.b]
    squares = float(m @ (weight * (1 - expected) - both * (1 - observed)) ** 2) / n
    variance = (squares - (observed * expected - 2 * expected + observed) ** 2) / (n * (1 - expected) ** 4)
    return t_interval(value, float(np.sqrt(max(variance, 0.0))), n - 1, level, "Fleiss-Cohen-Everitt")


def scott(table: CrossTable, _: Distance, weights: FloatArray) -> FloatArray:
    """Scott's π: as κ, but chance agreement from the labels of both raters pooled. NaN with one label (0/0).

    Scott (1955), Public Opinion Quarterly 19, 321-325.
    """
    n = weights.sum(axis=1)
    chance = ((weights @ table.left + weights @ table.right) ** 2).sum(axis=1) / 4
    return ratio(n * (weights @ table.alike) - chance, n * n - chance)


def of_scott(table: CrossTable, _: Distance, value: float, level: float) -> Interval:
    """The interval of Scott's π: the variance of Fleiss' κ of two raters (Gwet 2014, chapter 5)."""
    m = table.multiplicity.astype(np.float64)
    shares = (m @ table.left + m @ table.right) / (2 * m.sum())
    toward = 1 - Nominal(len(shares)).toward(shares)
    expected = float(shares @ toward)
    by_unit = (toward[table.a] + toward[table.b]) / 2
    parts = (table.alike - expected) / (1 - expected) - 2 * (1 - value) * (by_unit - expected) / (1 - expected)
    return of_parts(value, parts, m, level)


# Many pairs -----------------------------------------------------------------------------------------------------------


def cohen_kappa(sums: PairSums, weights: FloatArray) -> FloatArray:
    """Cohen's κ of each pair of raters (B × J) over the units that both rated; chance from their own label shares.

    κ = (p_o - p_e) / (1 - p_e), p_e = Σ_k p_ak p_bk. NaN where both used one and the same label throughout (0/0) or
    share no unit. Cohen (1960), Educational and Psychological Measurement 20, 37-46, eq. 1.
    """
    n = weights @ sums.shared
    chance = np.zeros_like(n)
    if len(sums.starts):
        products = (weights @ sums.left) * (weights @ sums.right)
        chance[:, sums.owner] = np.add.reduceat(products, sums.starts, axis=1)
    return ratio(n * (weights @ sums.agreed) - chance, n * n - chance)


def weighted_kappa(sums: PairSums, weights: FloatArray) -> FloatArray:
    """Cohen's weighted κ of each pair of raters (B × J), with the distance of `sums`; see `weighted_cohen`."""
    assert sums.distance is not None
    shape = (len(weights), -1, sums.distance.n_labels)
    sides = [np.asarray(weights @ side).reshape(shape) for side in (sums.left, sums.right)]
    expected = sums.distance.cross(sides[0], sides[1])
    return ratio(expected - (weights @ sums.shared) * (weights @ sums.agreed), expected)


def light_kappa(sums: PairSums, weights: FloatArray) -> FloatArray:
    """Light's κ: the plain mean of Cohen's κ over all pairs of raters; NaN where it is undefined for one of them.

    Of weighted κ when `sums` has a distance. Light (1971), Psychological Bulletin 76, 365-377; with gaps each pair is
    measured on the units that it shares. Pairs are not left out: κ is 0/0 where two raters agree on one label
    throughout, so that a mean of the others is one of the pairs that disagree.
    """
    kappa = cohen_kappa(sums, weights) if sums.distance is None else weighted_kappa(sums, weights)
    return np.asarray(kappa.mean(axis=1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Light(Coefficient):
    """Light's κ; with a `distance` of labels it is that of weighted κ."""

    distance: DistanceOf | None = None
    mean_of_pairs: bool = True
    who_matters: bool = True

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        for member in members:
            yield member._sample(grouped, asked, sampling)

    def _sample(self, grouped: Grouped, asked: Asked, sampling: Sampling) -> Sample:
        """The mean over all pairs, or why one of them has none."""
        ratings = grouped.ratings
        reason = reasons.too_few(ratings) or self.misfit(ratings, any_scale=asked.any_scale)
        reason = reason or reasons.pairs_without_kappa(ratings, grouped.cells, asked.least_shared)
        entry = self.entry(ratings, reason)
        if reason:
            return Sample.without_units(Measurement.without_value(entry))
        sums = PairSums.of_ratings(
            ratings,
            grouped.cells.shared()[0],
            sampling.seed,
            distance=self.distance(ratings, asked, None) if self.distance else None,
            clusters=sampling.clusters,
            blocks=not sampling.drawn_from,
        )
        notes = [self.by_rank(ratings)]
        if sums.blocked:
            what = "units" if sampling.clusters is None else sampling.over
            notes.append(f"{what} resampled in {len(sums.multiplicity):,} random blocks")
        part = Measurement([entry], partial(light_kappa, sums), note="; ".join(filter(None, notes)), best="jackknife")
        return Sample(sums.multiplicity, sums.of_unit, sums.width, [part], blocked=sums.blocked)

    def of_units(self, ratings: Ratings) -> tuple[Evaluate, Sample]:
        """See `Coefficient`."""
        n = len(ratings.raters)
        pairs = np.array([a * n + b for a, b in combinations(range(n), 2)], dtype=np.int64)
        sums = PairSums.of_ratings(ratings, pairs, 0, blocks=False)
        return partial(light_kappa, sums), Sample(sums.multiplicity, sums.of_unit, sums.width)


register(
    30,
    OfPair(
        name="cohen_kappa",
        title="Cohen's κ",
        scarce=True,
        benchmark=LANDIS_KOCH,
        value=cohen,
        interval=of_cohen,
        at_once=cohen_kappa,
    ),
    OfPair(
        name="cohen_kappa_linear",
        title="Cohen's κ (linear weights)",
        needs="order",
        scarce=True,
        benchmark=LANDIS_KOCH,
        value=weighted_cohen,
        interval=of_cohen,
        distance=by_number(Linear),
    ),
    OfPair(
        name="cohen_kappa_quadratic",
        title="Cohen's κ (quadratic weights)",
        needs="order",
        scarce=True,
        benchmark=LANDIS_KOCH,
        value=weighted_cohen,
        interval=of_cohen,
        distance=by_number(Quadratic),
    ),
    OfPair(
        name="cohen_kappa_weighted",
        title="Cohen's κ (own weights)",
        own_weights=True,
        scarce=True,
        benchmark=LANDIS_KOCH,
        value=weighted_cohen,
        interval=of_cohen,
        distance=of_own_weights,
    ),
    Light(name="light_kappa", title="Light's κ (mean of Cohen's κ over pairs)", benchmark=LANDIS_KOCH, plannable=True),
    Light(
        name="light_kappa_linear",
        title="Light's κ (mean over pairs, linear weights)",
        needs="order",
        benchmark=LANDIS_KOCH,
        distance=by_number(Linear),
    ),
    Light(
        name="light_kappa_quadratic",
        title="Light's κ (mean over pairs, quadratic weights)",
        needs="order",
        benchmark=LANDIS_KOCH,
        distance=by_number(Quadratic),
    ),
    Light(
        name="light_kappa_weighted",
        title="Light's κ (mean over pairs, own weights)",
        own_weights=True,
        benchmark=LANDIS_KOCH,
        distance=of_own_weights,
    ),
    OfPair(
        name="scott_pi",
        title="Scott's π",
        over_all=True,
        benchmark=LANDIS_KOCH,
        value=scott,
        interval=of_scott,
        of_all=FLEISS,
    ),
)
