"""Do the scores of two answers differ the way people prefer one: the share of the pairs in which both say the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotators.alignment.statistics.base import declare
from annotators.alignment.statistics.systems import order
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray, ratio
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned

PREFERRED_ALIKE = declare("pairwise_accuracy", "Pairwise accuracy", "people prefer neither answer of any pair")


def preferred_alike(pairs: Pairs, asked: Resampling | None = None, **about: Any) -> Aligned:
    """`pairwise_accuracy`: of the pairs of answers in which people prefer one, the share where the metric does too.

    A row is a pair of answers: `pairs.human` is the preference and `pairs.metric` the difference of the two scores,
    both below zero for the first answer and above it for the second. A difference of zero counts by half, so that a
    metric which says nothing has 0.5 (0..1; Kocmi et al., 2021, To Ship or Not to Ship, WMT, of systems). `n` is how
    many rows prefer one; without any it is undefined. Which answer of a pair comes first does not matter.
    """
    asked = asked or Resampling()
    decided = np.sign(pairs.human) != 0
    n = int(decided.sum())
    if not n:
        reason = PREFERRED_ALIKE.undefined if pairs.n else "no pair has both a preference and two scores"
        return PREFERRED_ALIKE.without_value(reason, 0, **about)
    said, preferred = order(pairs.metric), np.sign(pairs.human)
    credit = np.where(decided, (1 + said * preferred) / 2, 0.0)
    sample = DrawnRows.of([credit, decided.astype(np.float64)], pairs.cluster)
    right, counts = sample.columns.T

    def share(weights: FloatArray) -> FloatArray:
        return ratio(right @ weights, counts @ weights)

    found = sample.resampled(share, asked)
    even, ties = int((decided & (said == 0)).sum()), pairs.n - n
    notes = [f"{even:,} with equal scores, which count by half"] * bool(even)
    notes += [f"{ties:,} without a preference left out"] * bool(ties)
    notes += [f"{pairs.left_out:,} without a label or a score left out"] * bool(pairs.left_out)
    entry = PREFERRED_ALIKE.about(n, **about)
    return PREFERRED_ALIKE.measured(entry, found, 0, asked, note="; ".join(notes))
