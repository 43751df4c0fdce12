"""The plan of a study as a table and a plot: how many items and annotators give an interval of a wanted width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annotators.agreement.catalogue import headline
from annotators.agreement.planning import Plan, PlannedStudy, plan, plannable
from annotators.agreement.statistics.base import named, title_of
from annotators.agreement.tables.ratings import COMPOSED, Ratings
from annotators.later import Later
from exports.drawing import charts
from exports.drawing.charts import COLOURS, QUIET
from exports.drawing.figures import number
from exports.drawing.tables import TextTable, as_text

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

ITEMS = (50, 100, 200, 400, 800)
SIMULATIONS = 200


def planned_statistics(ratings: Ratings) -> list[str]:
    """The coefficients that can be planned on this scale, its headline first; none for sets and texts."""
    if ratings.scale in COMPOSED:
        return []
    names = [coefficient.name for coefficient in named(plannable()) if coefficient.misfit(ratings) is None]
    first = headline(ratings.scale)
    return [first, *(name for name in names if name != first)] if first in names else names


def study_plan(
    ratings: Ratings,
    statistic: str,
    *,
    items: Sequence[int] = ITEMS,
    annotators: Sequence[int] | None = None,
    simulations: int = SIMULATIONS,
    seed: int = 0,
) -> Plan:
    """Studies simulated from the labels of a criterion; `annotators` None: the pilot's own number, one less, one more.

    Raises InvalidInput as `plan` does.
    """
    if annotators is None:
        sizes = ratings.sizes[ratings.sizes > 1]
        own = int(np.bincount(sizes).argmax()) if len(sizes) else 2
        annotators = sorted({max(2, own - 1), own, own + 1})
    return plan(ratings, statistic, items, annotators, simulations=simulations, seed=seed)


@dataclass(frozen=True)
class CriterionPlan:
    """The plan of one criterion for an interval of some width; `found` is None where nothing can be planned."""

    title: str
    width: float
    found: Plan | None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The entry `plan` of a criterion in `agreement` JSON."""
        if self.found is None:
            return {"width": self.width, "reason": self.reason, "studies": [], "items_needed": []}
        needed = [
            {"n_annotators": annotators, "n_items": items}
            for annotators, items in self.found.items_needed(self.width).items()
        ]
        return {"width": self.width, **self.found.to_json(), "items_needed": needed}

    def in_words(self) -> str:
        """The table and the sentences, in columns of text."""
        if self.found is None:
            return f"{self.title}: no plan: {self.reason}."
        table = plan_table(self.found, self.title, self.width)
        shown = [table.caption, as_text(table), ""] if self.found.studies else []
        return "\n".join([*shown, *(f"{self.title}: {words}" for words in plan_words(self.found, self.width))])


def criterion_plan(title: str, ratings: Ratings | None, width: float, *, seed: int = 0) -> CriterionPlan:
    """A plan with the criterion's labels as the pilot and its scale's coefficient, or why there is none."""
    if ratings is None or not ratings.n_ratings:
        return CriterionPlan(title, width, None, "there are no labels that can be measured")
    names = planned_statistics(ratings)
    if not names:
        return CriterionPlan(title, width, None, f"labels of the scale {ratings.scale} cannot be planned with")
    return CriterionPlan(title, width, study_plan(ratings, names[0], seed=seed))


def plan_table(found: Plan, title: str, width: float | None = None) -> TextTable:
    """One row a study size: expected width, the width that nine of ten stay below, and whether that is enough."""
    rows = [
        [
            str(study.n_annotators),
            f"{study.n_items:,}",
            f"{study.n_ratings:,}",
            f"not defined: {study.reason}" if study.width is None else number(study.width),
            "" if study.width_high is None else number(study.width_high),
            "" if study.value is None else number(study.value, 2),
            _enough(study, width),
            study.source,
        ]
        for study in found.studies
    ]
    columns = (
        "Annotators an item", "Items", "Ratings", "Expected width", "9 of 10 below", "Coefficient", "Enough",
        "Simulated from",
    )  # fmt: skip
    return TextTable.of(f"{title}: width of the 95 % interval of {title_of(found.statistic)}", columns, rows)


def _enough(study: PlannedStudy, width: float | None) -> str:
    """Whether nine of ten simulated studies are as narrow as wanted, or only the mean of them."""
    if width is None or study.width is None or study.width_high is None:
        return ""
    return "surely" if study.width_high <= width else "on average" if study.width <= width else "no"


def plan_words(found: Plan, width: float) -> list[str]:
    """How many items give the wanted width, for each number of annotators, and what is to be known beside it."""
    if found.reason is not None:
        return [f"No plan: {found.reason}."]
    least, most = min(study.n_items for study in found.studies), max(study.n_items for study in found.studies)
    words = []
    for annotators, items in found.items_needed(width).items():
        many = f"about {items:,} items ({annotators * items:,} ratings) give" if items >= least else (
            f"fewer than {least:,} items, the smallest number simulated, give"
        )  # fmt: skip
        beyond = "; that is beyond what was simulated, so simulate it to be sure" if items > most else ""
        words.append(f"{annotators} annotators an item: {many} an interval {number(width, 2)} wide{beyond}.")
    cheapest = found.enough(width, assured=True)
    if cheapest is not None:
        words.append(
            f"The fewest ratings in the table that give this width or less nine times of ten: {cheapest.n_items:,} "
            f"items with {cheapest.n_annotators} annotators each."
        )
    return [*words, *(f"{note[0].upper()}{note[1:]}." for note in found.notes)]


def plan_plot(found: Plan, width: float | None = None) -> alt.LayerChart | None:
    """Expected width by number of items, one line a number of annotators; the wanted width dashed."""
    rows = [
        {
            "items": study.n_items,
            "annotators": f"{study.n_annotators} annotators",
            "width": study.width,
            "low": study.width_low,
            "high": study.width_high,
        }
        for study in found.studies
        if study.width is not None
    ]
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    sizes = sorted({*frame["items"].tolist()})
    axis = charts.axis(values=sizes[:: -(-len(sizes) // 6)], format=",d")
    x = alt.X("items:Q", scale=alt.Scale(type="log", nice=False), title="Items", axis=axis)
    colour = alt.Color("annotators:N", title=None, scale=alt.Scale(range=COLOURS))
    base = alt.Chart(frame).encode(x=x, color=colour)
    y = alt.Y("low:Q", title="Width of the 95 % interval", axis=charts.axis())
    points = base.mark_point(filled=True, size=50, opacity=1).encode(
        y=alt.Y("width:Q"),
        tooltip=[
            alt.Tooltip("annotators:N"),
            alt.Tooltip("items:Q"),
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("width", "high")),
        ],
    )
    if len(sizes) > 2:
        layers = (
            base.mark_area(opacity=0.15).encode(y=y, y2=alt.Y2("high:Q"))
            + base.mark_line().encode(y=alt.Y("width:Q"))
            + points
        )
    else:  # a line through two points says no more than the points
        layers = base.mark_rule(strokeWidth=2).encode(y=y, y2=alt.Y2("high:Q")) + points
    if width is not None:
        wanted = alt.Chart(pd.DataFrame({"wanted": [width]}))
        layers += wanted.mark_rule(color=QUIET, strokeDash=[4, 3]).encode(y=alt.Y("wanted:Q"))
    layered: alt.LayerChart = layers.properties(height=260)
    return layered
