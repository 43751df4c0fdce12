"""When intervals of alignment fall short of what they say: few units, few clusters, few of the rarer label."""

from __future__ import annotations

from annotators.alignment.tables.pairs import Pairs
from annotators.intervals.remarks import FEW_UNITS, cluster_warning, few_units_warning

FEW_OF_A_LABEL = 10


def small_sample_warnings(rows: Pairs, over: str = "questions") -> list[str]:
    """What limits the figures on these rows, in words; `over` is what clusters are called, in the plural.

    Fewer than 30 units or 20 clusters, and fewer than ten units of one of two labels, on which AUROC, recall and κ
    rest: docs/statistics.md says how often intervals covered.
    """
    if not rows.n:
        return []
    found = []
    if rows.n < FEW_UNITS:
        found.append(few_units_warning(rows.n, "has a human value", "have a human value"))
    clusters = cluster_warning(rows.n_clusters, over) if rows.clustered else None
    found += [clusters] if clusters else []
    if rows.binary:
        positive = int(rows.human.sum())
        rarer = min(positive, rows.n - positive)
        if rarer < FEW_OF_A_LABEL and rows.n >= FEW_UNITS:
            found.append(
                f"Only {rarer} unit{'s carry' if rarer != 1 else ' carries'} the rarer of the two labels: with fewer "
                f"than {FEW_OF_A_LABEL}, intervals of what rests on it are too narrow."
            )
    return found
