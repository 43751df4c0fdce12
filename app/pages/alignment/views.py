"""What the page Alignment draws of a report: tables, plots, the units that differ most, and those to label next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

from annotators.alignment import Pairs, confusion, cross_validated, decide, title_of
from annotators.intervals.result import Aligned
from app import ui, wording
from app.widgets import blocks
from app.widgets.measuring import measured
from app.widgets.plots import plot
from app.worker.report_tasks import Alignment, ReportView
from exports.agreement import plots as agreement_plots
from exports.alignment import plots
from exports.alignment.sections import (
    HEADLINES,
    OTHERS,
    chosen,
    equivalence_table,
    groups_table,
    matrix_table,
    means_tables,
    metrics_table,
    plain_table,
    reasons_of,
    titled,
)
from exports.alignment.views import (
    AdvisedItem,
    CriterionOutline,
    Differing,
    MetricOutline,
    MetricPlots,
    Outline,
    advised_draw,
    advised_items,
    differing_units,
    grade_counts,
    metric_plots,
)
from exports.drawing.forest import forest
from exports.drawing.tables import TextTable

SHOWN = 50
OF_PAIRS = "A pair's value is the second answer's score less the first's; below zero is for the first answer."


@dataclass(frozen=True)
class ShownReport:
    """A study's report as the page has it; `task` is what made it, and makes what else is shown of it.

    `margin` is that within which two metrics are tested for equivalence; None where nobody asked.
    """

    task: Alignment
    outline: Outline
    statistics: Sequence[Aligned]
    notes: Sequence[str]
    margin: float | None = None

    def view(self, function: Callable[..., Any], *given: Any, with_db: bool = False, **named: Any) -> Any:
        """What `function` gives of the report, made where its labels are, once for everybody."""
        key = (self.task.key, function.__name__, given, tuple(named.items()))
        return measured(key, ReportView(self.task, function, given, named, with_db))[-1]

    def spearman(self, criterion: str, metric: str) -> Aligned | None:
        """Spearman's ρ of a metric on all units."""
        found = chosen(self.statistics, criterion=criterion, metric=metric, name="spearman", group=None, against=None)
        return next(iter(found), None)


def table(shown: TextTable, outline: Outline, name: str | None = None) -> None:
    """Draw a table of the report, its caption above it, criteria by their titles; its files keep their names."""
    told = titled(shown, {criterion.name: criterion.title for criterion in outline.criteria})
    st.caption(ui.plain(told.caption))
    rows = [[blocks.short(cell, 24) for cell in row] for row in told.rows]
    blocks.table(shown.caption, shown.columns, shown.rows, name=name, seen=(told.caption, told.columns, rows))


# Coefficients ---------------------------------------------------------------------------------------------------------


def coefficients(report: ShownReport, human: CriterionOutline) -> None:
    """The tables: mean agreement, metric × criterion, and those of the chosen criterion."""
    for place, shown in enumerate(means_tables(report.statistics)):
        table(shown, report.outline, f"mean-agreement-{place}")
    criteria = {
        statistic.criterion for statistic in report.statistics if statistic.name == "spearman" and statistic.metric
    }
    if len(criteria) > 1:
        picked = st.selectbox(
            "Coefficient", [headline for headline in HEADLINES if headline != "precision"], index=1,
            format_func=title_of, key="alignment-matrix",
        )  # fmt: skip
        table(matrix_table(report.statistics, picked), report.outline, "alignment-matrix")
    name = human.name
    if human.about_score is None:
        shown = metrics_table(report.statistics, name, 2)
        if shown.rows:
            table(shown, report.outline, f"alignment-{name}")
        equivalent = equivalence_table(report.statistics, name)
        if equivalent is not None:
            table(equivalent, report.outline, f"alignment-equivalence-{name}")
        words = reasons_of(report.statistics, name)
        if words:
            with st.expander(f"What is not defined, and why ({len(words)})", expanded=not shown.rows):
                st.html("".join(f'<p class="assay-soft">{escape(line)}</p>' for line in words))
        used = [headline for headline in HEADLINES if groups_table(report.statistics, name, headline) is not None]
        if used:
            with st.expander("By system and category"):
                picked = st.selectbox(
                    "Coefficient by group", used, index=used.index("spearman"), format_func=title_of,
                    key=f"alignment-groups-{name}",
                )  # fmt: skip
                grouped = groups_table(report.statistics, name, picked)
                if grouped is not None:
                    table(grouped, report.outline, f"alignment-groups-{name}")
    for place, (caption, names) in enumerate(OTHERS):
        made = plain_table(report.statistics, name, names, caption)
        if made is not None:
            with st.expander(caption, expanded=human.about_score is not None):
                ui.table(caption, made.columns, made.rows, name=f"alignment-{name}-{place}")


def meanwhile(outline: Outline, statistics: Sequence[Aligned]) -> bool:
    """The tables that there are while the rest is measured, without anything to choose; whether there is one."""
    shown = means_tables(statistics)
    criteria = {
        statistic.criterion: None for statistic in statistics if statistic.name == "spearman" and statistic.metric
    }
    shown += [metrics_table(statistics, name, 2) for name in criteria if name is not None]
    there = [shown_table for shown_table in shown if shown_table.rows]
    for shown_table in there:
        table(shown_table, outline)
    return bool(there)


# Plots ----------------------------------------------------------------------------------------------------------------


def draw_grades(report: ShownReport, human: CriterionOutline) -> None:
    """How people graded a score: Likert bars by system and by category, each with its n."""
    drawn = False
    grades, groups = report.view(grade_counts, human.name)
    for by, counts in groups.items():
        caption = f"{human.title}: grades by {by}, disagreement to the left; n is the number of grades."
        drawn |= plot(agreement_plots.likert(counts, grades), f"grades-by-{by}-{human.name}", caption)
    if not drawn:
        ui.empty("Nobody has graded this score yet.", "The bars appear with the first labels.")


def draw_plots(report: ShownReport, human: CriterionOutline, metric: MetricOutline) -> None:
    """Forest and ROC of all metrics, scatter and calibration of one, and its decisions."""
    name, slug = human.name, f"{human.name}-{human.metrics.index(metric)}"
    made: MetricPlots = report.view(metric_plots, name, metric.name)
    if human.about_pairs:
        st.caption(OF_PAIRS)
    left, right = st.columns(2, gap="large")
    system, systems = ("pair of systems", "pairs of systems") if human.about_pairs else ("system", "systems")
    found = chosen(report.statistics, criterion=name, name="spearman", group=None, against=None)
    with left:
        rows = [(statistic.metric or "", statistic) for statistic in found if statistic.metric]
        title = f"{title_of('spearman')}, {100 * report.outline.asked.level:g} % interval"
        why = "There is no plot of coefficients: ρ is not defined for any metric, as the first tab says why."
        plot(
            forest(rows, title),
            f"alignment-forest-{name}",
            "Spearman's ρ of every metric with its interval.",
            otherwise=why,
        )
        plot(
            made.scatter,
            f"alignment-scatter-{slug}",
            made.scatter_caption,
            otherwise=f"There is no plot of {name} against {metric.name}: {made.reason}.",
        )
        plot(
            made.systems,
            f"alignment-systems-{slug}",
            f"Means of each {system}, by people and by the metric.",
            otherwise=f"There is no plot of systems: it takes labels and scores of two {systems}.",
        )
    with right:
        plot(
            made.roc,
            f"alignment-roc-{name}",
            "ROC curves: each point is a threshold.",
            otherwise=f"There is no ROC curve: it takes a criterion of two labels, both given; {name} has none."
            if not made.pairs.binary
            else "There is no ROC curve: everybody gave the same label, and it takes both.",
        )
        if not human.about_pairs:  # a difference of two scores is not calibrated
            plot(
                made.calibration,
                f"alignment-calibration-{slug}",
                f"Calibration of {metric.name}; dashed: a perfect metric.",
                otherwise=f"There is no calibration of {metric.name}: it takes labels on a scale with two ends, and "
                "scores of the labelled units.",
            )
        if made.pairs.binary and made.reason is None:
            _decisions(made.pairs, made.held, name, metric, slug)


def _decisions(pairs: Pairs, held: str, name: str, metric: MetricOutline, slug: str) -> None:
    """The confusion matrix at a threshold that can be moved."""
    best = cross_validated(pairs).on_all
    low, high = float(pairs.metric[0]), float(pairs.metric[-1])
    own = metric.threshold
    start = own if own is not None and low <= own <= high else min(max(best, low), high)
    threshold = st.slider(
        "Threshold", low, high, start, key=f"alignment-threshold-{slug}",
        help=f"The metric says yes from here on. Best by κ on all units: {best:.3g}.",
    )  # fmt: skip
    plot(
        plots.confusion_plot(pairs, threshold, name, metric.name),
        f"alignment-confusion-{slug}",
        f"{name} (rows) and the decision of {metric.name} (columns); {held}.",
    )
    counts = confusion(decide(pairs.metric, threshold), pairs.human)
    right = counts.get((1.0, 1.0), 0) + counts.get((0.0, 0.0), 0)
    st.caption(f"{right:,} of {pairs.n:,} decisions agree with people: {wording.percent(right / max(1, pairs.n))}.")


# Units ----------------------------------------------------------------------------------------------------------------


def draw_differences(report: ShownReport, human: CriterionOutline, metric: MetricOutline) -> Sequence[str]:
    """The units on which metric and people differ most, each a link to its item; the items, in their order."""
    against = report.spearman(human.name, metric.name)
    turned = st.checkbox(
        "Read the metric the other way round: low is good",
        value=against is not None and against.high is not None and against.high < 0,
        key=f"alignment-turned-{human.name}-{metric.name}",
    )
    found: Differing = report.view(differing_units, human.name, metric.name, turned=turned, most=SHOWN)
    if not found.units:
        ui.empty("No unit has both a label and a score.", "Score the study's items, or choose another metric.")
        return []
    ranked = human.scale is None or metric.scale is None
    rows = [
        [
            blocks.item(unit.item, unit.item_id), unit.target, unit.system, wording.number(unit.human, 2),
            wording.number(unit.metric, 3), wording.number(unit.difference, 2),
        ]
        for unit in found.units
    ]  # fmt: skip
    blocks.table(
        f"Where {metric.name} and people differ most on {human.name}",
        ["Item", "Target", "System", "People", metric.name, "Difference"],
        rows,
        name=f"differences-{human.name}",
    )
    about = "of the places in the two rankings" if ranked else "of the values on a common scale from 0 to 1"
    st.caption(f"Metric less people, {about}; the first {len(found.units):,} of {wording.count(found.n, 'unit')}.")
    if human.about_pairs:
        st.caption(OF_PAIRS)
    return found.items


def draw_next(report: ShownReport, human: CriterionOutline, metric: MetricOutline) -> int:
    """The items without a label whose label would tell most about the metric; how many there are to draw among."""
    found: tuple[list[AdvisedItem], int] = report.view(advised_items, human.name, metric.name, most=SHOWN, with_db=True)
    advised, n = found
    if not n:
        ui.empty("Every item with a score has a label on this criterion.", "Score more items, or import some.")
        return 0
    rows = [
        [
            blocks.item(item.item, item.item_id), item.system, wording.number(item.score, 3),
            wording.number(item.worth.disagreement, 2), wording.number(item.worth.uncertainty, 2),
            wording.number(item.worth.worth, 2),
        ]
        for item in advised
    ]  # fmt: skip
    blocks.table(
        f"Items whose label would tell most about {metric.name}",
        ["Item", "System", metric.name, "Metrics disagree", "Score says little", "Worth"],
        rows,
        name="label-next",
    )
    st.caption(
        "Metrics disagree: how far apart they rank the item. Score says little: how mixed people's labels are at such "
        "a score. Worth is the mean of the two. One item of each question comes first. A new study draws among all of "
        "them, the more telling more often, and keeps with which probability, so that means stay unbiased."
    )
    return n


def drawn_next(
    report: ShownReport, human: CriterionOutline, metric: MetricOutline, n: int
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """n items drawn among these, and what the settings of their study keep of the draw."""
    drawn: tuple[tuple[str, ...], dict[str, Any]] = report.view(
        advised_draw, human.name, metric.name, n=n, with_db=True
    )
    return drawn


def choices(report: ShownReport, human: CriterionOutline) -> list[MetricOutline]:
    """The metrics that this criterion can be set against, the one that goes best with it first."""
    if human.about_score is not None:
        return list(human.metrics)

    def strength(metric: MetricOutline) -> float:
        found = report.spearman(human.name, metric.name)
        return 0.0 if found is None or found.value is None else -abs(found.value)

    return sorted(human.metrics, key=strength)
