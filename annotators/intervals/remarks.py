"""When intervals of any figure fall short of what they say: few units, few clusters."""

from __future__ import annotations

FEW_UNITS = 30
"""Below so many units intervals are rough."""

TAKEN_AS_RIGHT = (
    "What people settled on counts as right: how often they err themselves is in none of these intervals, and shifts "
    "accuracies and shares. Rater models, on the page Agreement, estimate it."
)
"""Said wherever one label a unit, made from several people's, is taken for the truth: with raters who are right four
times of five, a majority of three is wrong on a tenth of the units."""
FEW_CLUSTERS = 20
"""Below so many clusters intervals over clusters fall short of what they say: docs/statistics.md has the figures."""


def few_units_warning(units: int, one: str, several: str) -> str:
    """That there are fewer than 30 units; the words say what `one` of them, or `several`, did or had."""
    what = f"unit {one}" if units == 1 else f"units {several}"
    return f"Only {units} {what}: with fewer than {FEW_UNITS}, intervals are rough and tend to be too narrow."


def cluster_warning(clusters: int, over: str = "questions") -> str | None:
    """That there are too few clusters for an interval over clusters to be trusted, or None; `over` is their name."""
    if not 0 < clusters < FEW_CLUSTERS:
        return None
    what = f"1 {over.removesuffix('s')}, which is" if clusters == 1 else f"{clusters} {over}, each of which is"
    return f"The intervals rest on only {what} drawn as a whole: with fewer than {FEW_CLUSTERS} they are too narrow."
