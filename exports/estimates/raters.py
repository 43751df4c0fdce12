"""Whose error an estimate's interval holds, in words and JSON; and designs of equal cost as a table and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotators.estimates.designs import DesignPlan, PlannedDesign, components_of
from annotators.estimates.raters import Leniency
from annotators.estimates.sample import Units
from exports.alignment.sections import number
from exports.drawing.tables import TextTable

MEASURED, WITH_ITEMS, LEFT_OUT, UNKNOWN = "measured", "with_items", "left_out", "unknown"
"""How the interval holds what raters differ by: as it was measured on items that several rated; as a part of what items
differ by, of a population without end; not at all; or it is not said who gave which label."""


@dataclass(frozen=True)
class RatersPart:
    """What an interval says of raters: `how` it holds what they differ by, from how many labels and items."""

    how: str
    labels: int
    items: int
    several: int
    icc: float | None
    variance: float | None
    leniency: Leniency | None

    @property
    def tags(self) -> list[str]:
        """What a sentence for a paper says of it."""
        return {MEASURED: ["raters' error included"], LEFT_OUT: ["raters' error left out"]}.get(self.how, [])

    @property
    def in_words(self) -> list[str]:
        """What has to be known beside the figure."""
        found = list[str]()
        if self.how == MEASURED:
            icc = "" if self.icc is None else f", intraclass correlation {number(self.icc, 2)}"
            found.append(
                f"the interval holds what raters differ by on an item, as {self.several:,} "
                f"item{'s' * (self.several != 1)} that several rated say{'s' * (self.several == 1)} it{icc}"
            )
        elif self.how == WITH_ITEMS:
            found.append(
                "each item has one label: what another rater would have said is in the interval, as part of what "
                "items differ by"
            )
        elif self.how == LEFT_OUT:
            found.append(
                "each item has one label: the interval leaves out what another rater would have said. Have some items "
                "labelled by two, drawn at random"
            )
        if self.leniency is not None and self.leniency.variance > 0:
            reach = 2 * math.sqrt(self.leniency.of_mean)
            found.append(
                f"these {self.leniency.raters} raters differ in how high they label by "
                f"{number(math.sqrt(self.leniency.variance))} (standard deviation): others like them could move the "
                f"mean by about ±{number(reach)}, which its interval leaves out and that of raters like these holds"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """As `assay estimate --json` has it."""
        lenient = self.leniency
        return {
            "error": self.how,
            "labels": self.labels,
            "items": self.items,
            "items_by_several": self.several,
            "icc": self.icc,
            "variance": self.variance,
            "leniency": None
            if lenient is None
            else {"raters": lenient.raters, "sd": math.sqrt(lenient.variance), "error": math.sqrt(lenient.of_mean)},
        }


def raters_part(units: Units) -> RatersPart:
    """What the intervals of these units hold of what raters differ by."""
    labels, noise = units.labels, units.noise
    known = components_of(units)
    icc = None if isinstance(known, str) else known.icc
    if labels is None or not units.n_labelled:
        how = UNKNOWN
    elif noise is not None:
        how = MEASURED
    else:
        how = WITH_ITEMS if units.beyond == 1 else LEFT_OUT
    variance = None if noise is None else noise.variance
    return RatersPart(how, units.n_ratings, units.n_labelled, units.n_several, icc, variance, units.leniency)


# Designs --------------------------------------------------------------------------------------------------------------


def designs_table(plan: DesignPlan, title: str) -> TextTable:
    """One row a design: what so many labels buy, what agreement is known to, and what the wanted width takes."""
    columns = ["Design", "Items", "Labels", "Width", "With predictions", "Items by several", "Agreement (ICC) width"]
    if plan.width is not None:
        columns += [f"Labels for {plan.width:g}", "With predictions, labels"]
    rows = [_row(plan, row) for row in plan.rows]
    return TextTable.of(f"{title}: designs of {plan.labels:,} labels", columns, rows)


def _row(plan: DesignPlan, row: PlannedDesign) -> list[str]:
    cells = [
        row.design.in_words,
        f"{row.items:,}",
        f"{row.labels:,}",
        number(row.width),
        number(row.width_predicted) if row.width_predicted is not None else "–",
        f"{row.several:,}" if row.several else "none",
        number(row.agreement_width, 2) if row.agreement_width is not None else "cannot be measured",
    ]
    if plan.width is not None:
        cells += [
            "–" if needed is None else f"{needed:,}" for needed in (row.labels_needed, row.labels_needed_predicted)
        ]
    return cells


def designs_in_words(plan: DesignPlan) -> list[str]:
    """The cheapest design of a wanted width, and what is to be known beside the table."""
    if plan.reason is not None or plan.components is None:
        return [f"No designs: {plan.reason}."]
    known = plan.components
    found = list[str]()
    best = plan.best_with_agreement
    if best is not None and plan.width is None:
        found.append(
            f"The shortest interval of {plan.labels:,} labels that leaves agreement to be measured: "
            f"{best.design.in_words}, {best.items:,} items."
        )
    if plan.width is not None:
        found.append(_cheapest(plan))
    found.append(
        f"From {known.items:,} items of the pilot, {known.several:,} of them by several raters: intraclass correlation "
        f"{number(known.icc, 2)}; predictions explain {100 * max(0.0, known.r2 or 0.0):.0f} % of what one rater says."
    )
    return found


def _cheapest(plan: DesignPlan) -> str:
    cheapest, measured = plan.cheapest, plan.cheapest_with_agreement
    if cheapest is None:
        return f"No design gives an interval {plan.width:g} wide: it takes more items than there are."
    words = f"The fewest labels for an interval {plan.width:g} wide: {_said(cheapest)}"
    if measured is None or measured is cheapest:
        return f"{words}."
    return f"{words}. With agreement to be measured: {_said(measured)}."


def _said(row: PlannedDesign) -> str:
    how = " with predictions" if row.fewest == row.labels_needed_predicted else ""
    return f"{row.design.in_words}, {row.fewest:,} labels of {row.items_of_fewest:,} items{how}"


def options_of(row: PlannedDesign, items: int | None) -> Sequence[str]:
    """The options of `assay study create` that make a study of this design."""
    found = ["--overlap", str(row.design.raters)]
    if row.design.part:
        found += ["--part", f"{row.design.part:g}", "--part-overlap", str(row.design.several)]
    return found if items is None else [*found, "--sample", str(items)]
