"""What the planner simulates with: the coefficients it can plan, as functions of how often a sample holds each unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from annotators.agreement import coefficients
from annotators.agreement.coefficients import Spread
from annotators.agreement.distances import Distance, Linear, Nominal, Ordinal, Quadratic, ratio_distance
from annotators.agreement.pairs import PairSums
from annotators.agreement.patterns import Counts
from annotators.agreement.table import FloatArray, IntArray, Ratings
from annotators.errors import InvalidInput

Evaluate = Callable[[FloatArray], FloatArray]
OfCounts = Callable[[Counts, FloatArray], FloatArray]
OfSpread = Callable[[Spread, FloatArray], FloatArray]

_PLAIN: dict[str, tuple[int, OfCounts]] = {  # the fewest ratings a unit needs to count, and the coefficient
    "percent_agreement": (2, coefficients.percent_agreement),
    "fleiss_kappa": (1, coefficients.fleiss_kappa),
    "krippendorff_alpha_nominal": (2, coefficients.krippendorff_alpha_nominal),
    "krippendorff_alpha_ordinal": (2, coefficients.krippendorff_alpha_ordinal),
    "krippendorff_alpha_interval": (2, coefficients.krippendorff_alpha_interval),
}
_BY_DISTANCE: dict[str, tuple[int, OfSpread, Callable[[Ratings], Distance]]] = {
    "krippendorff_alpha_ratio": (2, coefficients.krippendorff_alpha, lambda ratings: ratio_distance(ratings.numbers)),
    "gwet_ac1": (1, coefficients.gwet_ac, lambda ratings: Nominal(len(ratings.labels))),
    "gwet_ac2_linear": (1, coefficients.gwet_ac, lambda ratings: Linear(ratings.numbers)),
    "gwet_ac2_quadratic": (1, coefficients.gwet_ac, lambda ratings: Quadratic(ratings.numbers)),
    "gwet_ac2_ordinal": (1, coefficients.gwet_ac, lambda ratings: Ordinal(ratings.numbers)),
    "brennan_prediger": (1, coefficients.brennan_prediger, lambda ratings: Nominal(len(ratings.labels))),
}
WHO_MATTERS = ("light_kappa",)  # coefficients that ask who gave which label


def plannable() -> tuple[str, ...]:
    """The names of the coefficients that can be planned. `light_kappa` of two annotators is Cohen's κ."""
    return (*_PLAIN, *_BY_DISTANCE, *WHO_MATTERS)


@dataclass(frozen=True, eq=False)
class UnitTable:
    """A coefficient over P patterns of units: `evaluate` takes weights (B × P) and returns B values, NaN undefined.

    `multiplicity` (P) is how many units of the table show the pattern, `of_unit` (U) the pattern of each unit, -1 for
    one that does not count.
    """

    evaluate: Evaluate
    multiplicity: IntArray
    of_unit: IntArray

    @property
    def value(self) -> float | None:
        """The coefficient of the table itself, None where it is undefined or rests on one unit."""
        if self.multiplicity.sum() < 2:
            return None
        found = float(self.evaluate(self.multiplicity[None, :].astype(np.float64))[0])
        return None if np.isnan(found) else found


def unit_table(ratings: Ratings, statistic: str) -> UnitTable:
    """The coefficient over the units of a table. Raises InvalidInput when the scale does not fit the coefficient."""
    ordered = statistic.startswith(("krippendorff_alpha_ordinal", "gwet_ac2"))
    numeric = statistic.endswith(("_interval", "_ratio"))
    if (ordered or numeric) and ratings.scale not in ("ordinal", "interval", "ratio"):
        raise InvalidInput(f"{statistic} needs ordered labels: the scale is {ratings.scale}")
    if numeric and not ratings.numeric:
        raise InvalidInput(f"{statistic} needs labels that are numbers: plan krippendorff_alpha_ordinal")
    if statistic in WHO_MATTERS:
        n = len(ratings.raters)
        pairs = np.array([a * n + b for a, b in combinations(range(n), 2)], dtype=np.int64)
        sums = PairSums.of_ratings(ratings, pairs, 0, blocks=False)
        return UnitTable(partial(coefficients.light_kappa, sums), sums.multiplicity, sums.of_unit)
    if statistic in _PLAIN:
        smallest, plain = _PLAIN[statistic]
        table = Counts.of(ratings, smallest)
        return UnitTable(partial(plain, table), table.multiplicity, table.of_unit)
    smallest, by_distance, distance = _BY_DISTANCE[statistic]
    if len(ratings.labels) < 2:
        raise InvalidInput(f"{statistic} needs two declared labels: there are {len(ratings.labels)}")
    table = Counts.of(ratings, smallest)
    return UnitTable(partial(by_distance, Spread(table, distance(ratings))), table.multiplicity, table.of_unit)


def rated(pilot: Ratings, codes: IntArray) -> Ratings:
    """A table on the pilot's scale whose units × raters have these codes, without gaps."""
    items, annotators = codes.shape
    return replace(
        pilot,
        units=tuple(range(items)),
        raters=tuple(range(annotators)),
        unit=np.repeat(np.arange(items), annotators),
        rater=np.tile(np.arange(annotators), items),
        code=codes.ravel().astype(np.int64),
    )
