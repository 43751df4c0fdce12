"""How often a judge contradicts itself: the same unit in another order, with words hidden in it, or asked once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotators.alignment.statistics.base import AlignmentStatistic
from annotators.arrays import np
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.judges.trust.base import Clusters, Label, declare, share

FLIP_ORDER = declare("flip_rate_order", "Flips when the two answers change sides")
FLIP_EVIDENCE = declare("flip_rate_evidence", "Flips when the evidence is reordered")
FLIP_LABELS = declare("flip_rate_labels", "Flips when the labels are reordered")
INJECTED = declare("injection_flips", "Flips when the evidence holds instructions")
HARMLESS = declare("injection_control", "Flips when the evidence holds a harmless sentence")
SELF_AGREEMENT = declare("self_agreement", "Agreement with itself when asked again")


def flip_rate(
    statistic: AlignmentStatistic,
    before: Mapping[Any, Label],
    after: Mapping[Any, Label],
    asked: Resampling | None = None,
    *,
    clusters: Clusters | None = None,
    **about: Any,
) -> Aligned:
    """The share (0..1) of units whose label is another `after` the change than `before` it; both unit → label.

    Labels must be in the same terms: a preference as seen from the first of the two systems, whichever stood left.
    Units that lack one of the two labels are left out, and the method says how many. Wilson's interval over clusters.
    """
    units = sorted(before.keys() & after.keys(), key=str)
    flips = np.array([before[unit] != after[unit] for unit in units], dtype=np.float64)
    left_out = len(before.keys() | after.keys()) - len(units)
    return share(
        statistic,
        units,
        flips,
        np.ones(len(units)),
        asked or Resampling(),
        clusters=clusters,
        nothing="no unit has a label both before and after the change",
        note=f"{left_out:,} without one of the two labels left out" if left_out else "",
        **about,
    )


def self_agreement(
    samples: Mapping[Any, Sequence[Label]],
    asked: Resampling | None = None,
    *,
    clusters: Clusters | None = None,
    **about: Any,
) -> Aligned:
    """The share (0..1) of pairs among the labels of one call that are equal; `samples` is unit → its k labels.

    A unit with k labels has k (k - 1) / 2 pairs, which are not independent: the interval is over units or clusters.
    Units with fewer than two labels are left out.
    """
    units = sorted((unit for unit, labels in samples.items() if len(labels) > 1), key=str)
    equal, pairs = np.zeros(len(units)), np.zeros(len(units))
    for place, unit in enumerate(units):
        labels = list(samples[unit])
        pairs[place] = len(labels) * (len(labels) - 1) / 2
        equal[place] = sum(n * (n - 1) / 2 for n in Counter(labels).values())
    left_out = len(samples) - len(units)
    return share(
        SELF_AGREEMENT,
        units,
        equal,
        pairs,
        asked or Resampling(),
        clusters=clusters,
        nothing="no unit has two labels from the same call",
        note=f"{left_out:,} with fewer than two labels left out" if left_out else "",
        **about,
    )
