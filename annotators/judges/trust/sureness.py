"""How sure a judge is, and whether it may be: probabilities of its labels, calibration and Brier score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotators.alignment.statistics.calibration import BINS, Bin, calibration
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import np
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.judges.trust.base import Clusters, Label, declare, numbered

BRIER = declare("brier_score", "Brier score")

Chances = Mapping[Any, Mapping[Label, float]]
"""Unit → label → its probability (0..1); what is not named has 0."""


def shares_of_samples(samples: Mapping[Any, Sequence[Label]]) -> dict[Any, dict[Label, float]]:
    """The probabilities that k labels of one call stand for: the share of each label."""
    return {
        unit: {label: n / len(labels) for label, n in Counter(labels).items()}
        for unit, labels in samples.items()
        if labels
    }


def sureness(
    chances: Chances,
    people: Mapping[Any, Label],
    asked: Resampling | None = None,
    *,
    clusters: Clusters | None = None,
    bins: int = BINS,
    **about: Any,
) -> tuple[list[Aligned], list[Bin]]:
    """`calibration_error` and `brier_score` of a judge against the label of people, and the curve behind the first.

    A judge that gives a label 0.8 ought to be right in 80 of 100 such cases. The error is that of its likeliest label,
    over `bins` bins of equal width (`annotators.alignment.statistics.calibration`, which says the source); of equally
    likely ones the first that was given counts. The Brier score is the mean of Σ (p - y)² / 2 over all labels, with y
    = 1 for the label of people: 0 is best, 1 worst, and of two labels it is the (p - y)² of Brier (1950), Monthly
    Weather Review 78, 1-3.
    """
    asked = asked or Resampling()
    units = sorted(chances.keys() & people.keys(), key=str)
    likeliest = [max(chances[unit], key=lambda label, own=chances[unit]: own[label]) for unit in units]  # type: ignore[misc]
    right = np.array([label == people[unit] for unit, label in zip(units, likeliest, strict=True)], dtype=np.float64)
    sure = np.array([chances[unit][label] for unit, label in zip(units, likeliest, strict=True)], dtype=np.float64)
    cluster = numbered(units, clusters)
    entry, curve = calibration(Pairs.of(right, sure, clusters=cluster, binary=True), asked, bins=bins, **about)
    if not units:
        return [entry, BRIER.without_value("no unit has both a probability and a label of people", 0, **about)], []
    missed = np.array([_brier(chances[unit], people[unit]) for unit in units], dtype=np.float64)
    sample = DrawnRows.of([missed], cluster)
    values = sample.columns[:, 0]
    found = sample.resampled(lambda weights: (values @ weights) / weights.sum(axis=0), asked)
    return [entry, BRIER.measured(BRIER.about(len(units), **about), found, 0, asked)], curve


def _brier(chances: Mapping[Label, float], label: Label) -> float:
    others = sum(p * p for other, p in chances.items() if other != label)
    return float(others + (1 - chances.get(label, 0.0)) ** 2) / 2
