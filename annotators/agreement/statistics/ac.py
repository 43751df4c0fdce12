"""Gwet's AC1 and AC2 and the coefficient of Brennan and Prediger: chance agreement that declared labels bound."""

from __future__ import annotations

from annotators.agreement.statistics.base import OfCounts, by_number, nominal, of_own_weights, register
from annotators.agreement.statistics.fleiss import of_chance_corrected
from annotators.agreement.tables.distances import Linear, Ordinal, Quadratic, Spread
from annotators.arrays import FloatArray, np, ratio
from annotators.intervals.result import Interval


def gwet_ac(spread: Spread, weights: FloatArray) -> FloatArray:
    """Gwet's AC1 (nominal distance) and AC2; declared labels count used or not, and single ratings count in chance.

    p_e = T_w / (K (K - 1)) Σ_k π_k (1 - π_k), T_w the sum of the weights, π_k as in `fleiss_kappa`. Needs two declared
    labels; where one of them was used throughout it is 1, unlike κ. NaN where no unit of a sample has two ratings.
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48; with gaps and weights Gwet
    (2014), Handbook of Inter-Rater Reliability, chapters 4 and 5.
    """
    shares = spread.mean_shares(weights)
    chance = _factor(spread) * (shares * (1 - shares)).sum(axis=1)
    observed = spread.observed(weights)
    return ratio(observed - chance, 1 - chance)


def _factor(spread: Spread) -> float:
    k = spread.distance.n_labels
    return spread.sum_of_weights / (k * (k - 1))


def _of_spread(spread: Spread, _: int, value: float, level: float) -> Interval:
    table, m = spread.table, spread.multiplicity
    shares = (m / table.sizes) @ table.counts / float(m.sum())
    factor = _factor(spread)
    by_unit = factor * (table.counts @ (1 - shares)) / table.sizes
    return of_chance_corrected(spread, factor * float(shares @ (1 - shares)), by_unit, value, level)


def brennan_prediger(spread: Spread, weights: FloatArray) -> FloatArray:
    """Brennan & Prediger's coefficient: chance agreement is that of K declared labels given blindly, T_w / K².

    Brennan & Prediger (1981), Educational and Psychological Measurement 41, 687-699; weighted: Gwet (2014).
    """
    chance = spread.sum_of_weights / spread.distance.n_labels**2
    return np.asarray((spread.observed(weights) - chance) / (1 - chance))


def _of_labels(spread: Spread, _: int, value: float, level: float) -> Interval:
    expected = spread.sum_of_weights / spread.distance.n_labels**2
    by_unit = np.full(len(spread.multiplicity), expected)
    return of_chance_corrected(spread, expected, by_unit, value, level)


register(
    50,
    OfCounts(
        name="gwet_ac1", title="Gwet's AC1", short="AC1", smallest=1, declared=True, plannable=True,
        value=gwet_ac, interval=_of_spread, distance=nominal,
    ),
    OfCounts(
        name="gwet_ac2_linear", title="Gwet's AC2 (linear weights)", needs="order", smallest=1, declared=True,
        plannable=True, value=gwet_ac, interval=_of_spread, distance=by_number(Linear),
    ),
    OfCounts(
        name="gwet_ac2_quadratic", title="Gwet's AC2 (quadratic weights)", needs="order", smallest=1, declared=True,
        plannable=True, value=gwet_ac, interval=_of_spread, distance=by_number(Quadratic),
    ),
    OfCounts(
        name="gwet_ac2_ordinal", title="Gwet's AC2 (ordinal weights)", short="AC2", needs="order", smallest=1,
        declared=True, plannable=True, value=gwet_ac, interval=_of_spread, distance=by_number(Ordinal),
    ),
    OfCounts(
        name="gwet_ac2_weighted", title="Gwet's AC2 (own weights)", own_weights=True, smallest=1, declared=True,
        value=gwet_ac, interval=_of_spread, distance=of_own_weights,
    ),
    OfCounts(
        name="brennan_prediger", title="Brennan-Prediger coefficient", smallest=1, estimated=False, declared=True,
        plannable=True, value=brennan_prediger, interval=_of_labels, distance=nominal,
    ),
    OfCounts(
        name="brennan_prediger_linear", title="Brennan-Prediger coefficient (linear weights)", needs="order",
        smallest=1, estimated=False, declared=True,
        value=brennan_prediger, interval=_of_labels, distance=by_number(Linear),
    ),
    OfCounts(
        name="brennan_prediger_quadratic", title="Brennan-Prediger coefficient (quadratic weights)", needs="order",
        smallest=1, estimated=False, declared=True,
        value=brennan_prediger, interval=_of_labels, distance=by_number(Quadratic),
    ),
    OfCounts(
        name="brennan_prediger_ordinal", title="Brennan-Prediger coefficient (ordinal weights)", needs="order",
        smallest=1, estimated=False, declared=True,
        value=brennan_prediger, interval=_of_labels, distance=by_number(Ordinal),
    ),
    OfCounts(
        name="brennan_prediger_weighted", title="Brennan-Prediger coefficient (own weights)", own_weights=True,
        smallest=1, estimated=False, declared=True,
        value=brennan_prediger, interval=_of_labels, distance=of_own_weights,
    ),
)  # fmt: skip
