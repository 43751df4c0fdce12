"""What a reader must know beside the figures: prevalence, small samples, undefined resamples, and verbal benchmarks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from annotators.agreement.result import Statistic
from annotators.agreement.table import Ratings
from annotators.agreement.words import percent, prevalence_warning
from annotators.coefficient_names import CATALOGUE, TITLES

FEW_UNITS = 30
FEW_CLUSTERS = 20
"""Below so many clusters intervals over clusters fall short of what they say: docs/statistics.md has the figures."""

SHORT_OF_THE_REST = ((2, "half"), (4, "80 %"), (6, "90 %"))
"""With up to so many units that carry any label but the commonest, 95 % intervals of α and κ covered the truth in about
this share of simulated studies (three raters, two labels, 30 to 200 units); with seven and more they covered as they
say. docs/statistics.md has the figures."""

FEW_RATERS = 5
"""Up to so many raters the two-way bootstrap covers less often than it says: docs/statistics.md has the figures."""

LANDIS_KOCH = ((0.0, "poor"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
KRIPPENDORFF = ((0.667, "below what tentative conclusions need"), (0.8, "for tentative conclusions"))
KAPPAS = ("cohen", "light", "scott", "fleiss", "conger")


def warnings_about(
    ratings: Ratings,
    statistics: Sequence[Statistic],
    clusters: Mapping[Hashable, Hashable] | None = None,
    over: str = "questions",
) -> list[str]:
    """Everything that limits what the figures say, in words: prevalence, small samples, undefined resamples.

    `clusters` has the cluster of each unit where clusters are resampled, and `over` is what they are called.
    """
    found = [prevalence_warning(ratings, statistics), small_sample_warning(ratings)]
    if clusters is not None:
        counting = np.flatnonzero(ratings.sizes >= 2)
        found.append(cluster_warning(len({clusters[ratings.units[place]] for place in counting.tolist()}), over))
    found.append(_few_raters(ratings, statistics))
    undefined = [
        one
        for one in statistics
        if one.interval is not None and one.value is not None and 20 * one.interval.undefined > one.interval.resamples
    ]
    if undefined:
        worst = max(undefined, key=lambda one: one.interval.undefined if one.interval else 0)
        assert worst.interval is not None
        share = worst.interval.undefined / worst.interval.resamples
        names = ", ".join(dict.fromkeys(TITLES[one.name] for one in undefined))
        found.append(
            f"In up to {percent(share, 0)} of the resamples {names} could not be computed; the intervals rest on the "
            "others and are too narrow."
        )
    return [words for words in found if words]


def small_sample_warning(ratings: Ratings) -> str | None:
    """That intervals are known to fall short here, or None.

    It is said below 30 units with two ratings, and when at most six of them carry any label but the commonest one: see
    `SHORT_OF_THE_REST`.
    """
    counting = ratings.counting(2)
    units = int((ratings.sizes >= 2).sum())
    if not units or ratings.scale in ("set", "text", "interval", "ratio"):
        few = 0 < units < FEW_UNITS
        return _few_units(units) if few else None
    shares = np.bincount(ratings.code[counting], minlength=len(ratings.labels))
    commonest = int(shares.argmax())
    others = len(np.unique(ratings.unit[counting & (ratings.code != commonest)]))
    covered = next((share for most, share in SHORT_OF_THE_REST if others <= most), None)
    if covered and others < units:
        what = "No unit carries" if not others else f"Only {others} unit{'s carry' if others > 1 else ' carries'}"
        return (
            f'{what} any label other than "{ratings.labels[commonest]}": with so few, 95 % intervals of α and κ '
            f"covered the truth in only about {covered} of simulated studies."
        )
    return _few_units(units) if units < FEW_UNITS else None


def cluster_warning(clusters: int, over: str = "questions") -> str | None:
    """That there are too few clusters for an interval over clusters to be trusted, or None; `over` is their name."""
    if not 0 < clusters < FEW_CLUSTERS:
        return None
    what = f"1 {over.removesuffix('s')}, which is" if clusters == 1 else f"{clusters} {over}, each of which is"
    return f"The intervals rest on only {what} drawn as a whole: with fewer than {FEW_CLUSTERS} they are too narrow."


def _few_raters(ratings: Ratings, statistics: Sequence[Statistic]) -> str | None:
    n = len(ratings.raters)
    two_way = any(one.interval is not None and one.interval.kind == "two-way bootstrap" for one in statistics)
    if n > FEW_RATERS or not two_way:
        return None
    return (
        f"Only {n} raters: 95 % intervals about raters like these covered the truth in about 88 % of simulated studies "
        "with three to five."
    )


def _few_units(units: int) -> str:
    one = units == 1
    return (
        f"Only {units} {'unit was' if one else 'units were'} rated twice or more: "
        "with fewer than 30, intervals are rough and tend to be too narrow."
    )


def benchmarks(statistic: Statistic) -> list[str]:
    """What authors call such a value, for the value and both ends of its interval; nothing without an interval.

    Landis & Koch (1977), Biometrics 33, 159-174, for κ and π; Krippendorff (2004), Content Analysis, chapter 11, for α.
    The cuts are conventions, not tests: show them only beside the interval. None for other statistics.
    """
    if statistic.value is None or statistic.low is None or statistic.high is None:
        return []
    values = (statistic.value, statistic.low, statistic.high)
    if statistic.name.startswith(KAPPAS):
        return [_spoken([_landis_koch(value) for value in values], "Landis & Koch 1977")]
    if statistic.name.startswith("krippendorff") and statistic.name in CATALOGUE:
        return [_spoken([_krippendorff(value) for value in values], "Krippendorff 2004")]
    return []


def _landis_koch(value: float) -> str:
    if value < 0:
        return "poor"
    return next((word for top, word in LANDIS_KOCH[1:] if value <= top), "almost perfect")


def _krippendorff(value: float) -> str:
    return next((word for top, word in KRIPPENDORFF if value < top), "reliable")


def _spoken(words: list[str], source: str) -> str:
    value, low, high = words
    reach = f"the whole interval is {value}" if low == high else f"the interval reaches from {low} to {high}"
    return f"{value} ({source}); {reach}"
