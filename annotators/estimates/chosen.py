"""Do the labelled units look like a random part of all: what they are predicted, beside what the others are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from annotators.arrays import FloatArray
from annotators.estimates.sample import Units
from annotators.figures import p_in_words

LEVEL = 0.001
"""Below this p, over all predictions together, labels are said not to be drawn; once in a thousand draws wrongly."""


@dataclass(frozen=True)
class Unlike:
    """A prediction whose mean differs between labelled units and the others; `p_value` is of Welch's t, two-sided."""

    prediction: str
    labelled: float
    others: float
    p_value: float

    def in_words(self) -> str:
        """What this says of the labels."""
        return (
            f"The labels do not look drawn at random: {self.prediction} is {self.labelled:.3g} on average where there "
            f"is a label and {self.others:.3g} elsewhere ({p_in_words(self.p_value)}). The interval holds for random "
            "draws, or for draws with known probabilities."
        )


def unlike_a_draw(units: Units) -> Unlike | None:
    """The prediction that tells labelled units most clearly from the others, or None where none does.

    Clusters are compared by their means, as their units were drawn together; units that were drawn with known
    probabilities, or within strata, may differ and are not compared. Welch (1947), Biometrika 34, 28-35; p counts for
    as many predictions as there are (Bonferroni).
    """
    if units.probability is not None or len(units.strata) > 1 or units.n_labelled in (0, units.n):
        return None
    worst: Unlike | None = None
    for name, values in zip(units.names, units.predictions.T, strict=True):
        sides = [_of_clusters(values, units, side) for side in (units.labelled, ~units.labelled)]
        if min(map(len, sides)) < 3 or max(map(np.ptp, sides)) <= 0:
            continue
        p = float(stats.ttest_ind(*sides, equal_var=False).pvalue) * len(units.names)
        if p < LEVEL and (worst is None or p < worst.p_value):
            worst = Unlike(name, float(sides[0].mean()), float(sides[1].mean()), p)
    return worst


def _of_clusters(values: FloatArray, units: Units, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> FloatArray:
    """The mean of the chosen units of each cluster that has some with a prediction."""
    there = chosen & ~np.isnan(values)
    sizes = np.bincount(units.cluster[there])
    sums = np.bincount(units.cluster[there], weights=values[there])
    found: FloatArray = sums[sizes > 0] / sizes[sizes > 0]
    return found
