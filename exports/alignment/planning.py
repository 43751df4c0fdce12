"""How many labels the figures of an alignment report take for intervals of a wanted width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotators.estimates.planning import needed_for
from annotators.intervals.result import Aligned
from exports.drawing.tables import TextTable

PLANNED = ("pearson", "spearman", "kendall_tau_b", "auroc", "accuracy", "f1", "cohen_kappa", "mean_agreement")
NEEDED = "labels_needed_"


def planned(statistics: Sequence[Aligned], width: float) -> list[Aligned]:
    """Of every headline coefficient, and of every difference of two metrics, how many labels an interval so wide takes.

    By its own width with the labels that there are, which goes with 1 / √n.
    """
    wanted = [
        entry
        for entry in statistics
        if entry.group is None and entry.name.removeprefix("difference_") in PLANNED and entry.value is not None
    ]
    found = []
    for entry, n in zip(wanted, needed_for([(entry, entry.n) for entry in wanted], width), strict=True):
        about = replace(
            entry,
            name=f"{NEEDED}{entry.name}",
            value=None,
            interval=None,
            beside=(),
            method=None,
            p_value=None,
            note="",
        )
        if n is None:
            found.append(about.undefined("it has no interval"))
        else:
            words = f"for an interval {width:g} wide, by its width with {entry.n:,} labels"
            found.append(replace(about, value=float(n), method=words))
    return found


def planned_table(found: Sequence[Aligned], width: float) -> TextTable:
    """The same as a table."""
    rows = [
        [
            entry.name.removeprefix(NEEDED),
            entry.criterion or "",
            entry.metric or "",
            entry.against or "",
            f"{entry.n:,}",
            "–" if entry.value is None else f"{entry.value:,.0f}",
        ]
        for entry in found
    ]
    columns = ("Figure", "Criterion", "Metric", "Against", "Labels now", "Labels needed")
    return TextTable.of(f"Labels for intervals {width:g} wide", columns, rows)
