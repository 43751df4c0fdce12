"""What the page Alignment draws of a report: tables, plots, the units that differ most, and those to label next."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotators.alignment import (
    TITLES,
    Pairs,
    confusion,
    cross_validated,
    decide,
    differences,
    system_means,
)
from app import ui, wording
from app.widgets import blocks
from app.widgets.plots import plot
from db.engine import Database
from exports import agreement_plots
from exports import alignment_plots as plots
from exports.alignment import AlignmentReport, comparable, pairs_of
from exports.alignment_advice import Advice, advice
from exports.alignment_data import Human, grade_titles, grades_by_group
from exports.alignment_scores import Metric, metrics_about
from exports.alignment_sections import (
    HEADLINES,
    OTHERS,
    chosen,
    groups_table,
    matrix_table,
    means_tables,
    metrics_table,
    plain_table,
    reasons_of,
)
from exports.forest import forest
from exports.tables import TextTable

SHOWN = 50


def table(shown: TextTable, name: str) -> None:
    """Draw a table of the report, with its files; its caption above it."""
    st.caption(ui.plain(shown.caption))
    blocks.table(
        shown.caption, shown.columns, [[blocks.short(cell, 24) for cell in row] for row in shown.rows], name=name
    )


# Coefficients ---------------------------------------------------------------------------------------------------------


def coefficients(report: AlignmentReport, human: Human | None) -> None:
    """The tables: mean agreement, metric × criterion, and those of the chosen criterion."""
    for place, shown in enumerate(means_tables(report.statistics)):
        table(shown, f"mean-agreement-{place}")
    criteria = {one.criterion for one in report.statistics if one.name == "spearman" and one.metric}
    if len(criteria) > 1:
        picked = st.selectbox(
            "Coefficient", [one for one in HEADLINES if one != "precision"], index=1, format_func=TITLES.__getitem__,
            key="alignment-matrix",
        )  # fmt: skip
        table(matrix_table(report.statistics, picked), "alignment-matrix")
    if human is None:
        return
    name = human.criterion.name
    if human.about_score is None:
        shown = metrics_table(report.statistics, name, 2)
        if shown.rows:
            table(shown, f"alignment-{name}")
        words = reasons_of(report.statistics, name)
        if words:
            with st.expander(f"What is not defined, and why ({len(words)})", expanded=not shown.rows):
                st.html("".join(f'<p class="assay-soft">{escape(line)}</p>' for line in words))
        used = [one for one in HEADLINES if groups_table(report.statistics, name, one) is not None]
        if used:
            with st.expander("By system and category"):
                picked = st.selectbox(
                    "Coefficient by group", used, index=used.index("spearman"), format_func=TITLES.__getitem__,
                    key=f"alignment-groups-{name}",
                )  # fmt: skip
                grouped = groups_table(report.statistics, name, picked)
                if grouped is not None:
                    table(grouped, f"alignment-groups-{name}")
    for place, (caption, names) in enumerate(OTHERS):
        made = plain_table(report.statistics, name, names, caption)
        if made is not None:
            with st.expander(caption, expanded=human.about_score is not None):
                ui.table(caption, made.columns, made.rows, name=f"alignment-{name}-{place}")


# Plots ----------------------------------------------------------------------------------------------------------------


def draw_grades(report: AlignmentReport, human: Human) -> None:
    """How people graded a score: Likert bars by system and by category, each with its n."""
    drawn = False
    for by, counts in grades_by_group(report.data, human).items():
        caption = f"{human.criterion.title}: grades by {by}, disagreement to the left; n is the number of grades."
        drawn |= plot(
            agreement_plots.likert(counts, grade_titles(human)), f"grades-by-{by}-{human.criterion.name}", caption
        )
    if not drawn:
        ui.empty("Nobody has graded this score yet.", "The bars appear with the first labels.")


def draw_plots(report: AlignmentReport, human: Human, metric: Metric, metrics: Sequence[Metric]) -> None:
    """Forest and ROC of all metrics, scatter and calibration of one, and its decisions."""
    name, slug = human.criterion.name, f"{human.criterion.name}-{metrics.index(metric)}"
    pairs = pairs_of(report.data, human, metric, report.labels)
    left, right = st.columns(2, gap="large")
    found = chosen(report.statistics, criterion=name, name="spearman", group=None, against=None)
    with left:
        rows = [(one.metric or "", one) for one in found if one.metric]
        title = f"{TITLES['spearman']}, {100 * report.asked.level:g} % interval"
        why = "There is no plot of coefficients: ρ is not defined for any metric, as the first tab says why."
        plot(
            forest(rows, title),
            f"alignment-forest-{name}",
            "Spearman's ρ of every metric with its interval.",
            otherwise=why,
        )
        reason = pairs.why_not()
        names = [report.data.units[str(unit)].item for unit in pairs.units]
        plot(
            plots.scatter(pairs, name, metric.name, names) if reason is None else None,
            f"alignment-scatter-{slug}",
            plots.scatter_caption(pairs, name, metric.name),
            otherwise=f"There is no plot of {name} against {metric.name}: {reason}.",
        )
        plot(
            plots.systems(system_means(pairs), name, metric.name) if len(pairs.groups) > 1 else None,
            f"alignment-systems-{slug}",
            "Means of each system, by people and by the metric.",
            otherwise="There is no plot of systems: it takes labels and scores of two systems.",
        )
    with right:
        curves = plots.roc([(one.name, pairs_of(report.data, human, one, report.labels)) for one in metrics])
        plot(
            curves,
            f"alignment-roc-{name}",
            "ROC curves: each point is a threshold.",
            otherwise=f"There is no ROC curve: it takes a criterion of two labels, both given; {name} has none."
            if not pairs.binary
            else "There is no ROC curve: everybody gave the same label, and it takes both.",
        )
        plot(
            plots.calibration_of(pairs, human.scale, name, metric.name) if human.scale is not None else None,
            f"alignment-calibration-{slug}",
            f"Calibration of {metric.name}; dashed: a perfect metric.",
            otherwise=f"There is no calibration of {metric.name}: it takes labels on a scale with two ends, and "
            "scores of the labelled units.",
        )
        if pairs.binary and pairs.why_not() is None:
            _decisions(pairs, name, metric, slug)


def _decisions(pairs: Pairs, name: str, metric: Metric, slug: str) -> None:
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
        f"{name} and the decision of {metric.name}.",
    )
    counts = confusion(decide(pairs.metric, threshold), pairs.human)
    right = counts.get((1.0, 1.0), 0) + counts.get((0.0, 0.0), 0)
    st.caption(f"{right:,} of {pairs.n:,} decisions agree with people: {wording.percent(right / max(1, pairs.n))}.")


# Units ----------------------------------------------------------------------------------------------------------------


def draw_differences(report: AlignmentReport, human: Human, metric: Metric) -> list[str]:
    """The units on which metric and people differ most, each a link to its item; the items, in their order."""
    pairs = pairs_of(report.data, human, metric, "item" if report.labels == "each" else report.labels)
    against = report.find("spearman", criterion=human.criterion.name, metric=metric.name)
    turned = st.checkbox(
        "Read the metric the other way round: low is good",
        value=against is not None and against.high is not None and against.high < 0,
        key=f"alignment-turned-{human.criterion.name}-{metric.name}",
    )
    ends = metric.scale[::-1] if turned and metric.scale else metric.scale
    found = differences(pairs, scale=human.scale, metric_scale=ends, turned=turned)
    if not found:
        ui.empty("No unit has both a label and a score.", "Score the study's items, or choose another metric.")
        return []
    ranked = human.scale is None or metric.scale is None
    rows = []
    for one in found[:SHOWN]:
        facts = report.data.units[str(one.unit)]
        rows.append(
            [
                blocks.item(facts.item, facts.item_id), facts.target, facts.groups["system"],
                wording.number(one.human, 2),
                wording.number(one.metric, 3), wording.number(one.difference, 2),
            ]
        )  # fmt: skip
    blocks.table(
        f"Where {metric.name} and people differ most on {human.criterion.name}",
        ["Item", "Target", "System", "People", metric.name, "Difference"],
        rows,
        name=f"differences-{human.criterion.name}",
    )
    about = "of the places in the two rankings" if ranked else "of the values on a common scale from 0 to 1"
    st.caption(
        f"Metric less people, {about}; the first {min(SHOWN, len(found)):,} of {wording.count(len(found), 'unit')}."
    )
    return list(dict.fromkeys(report.data.units[str(one.unit)].item for one in found))


def draw_next(db: Database, report: AlignmentReport, human: Human, metric: Metric) -> Advice | None:
    """The items without a label whose label would tell most about the metric; None where there are none."""
    found = advice(db, report, human, metric)
    if not found.candidates:
        ui.empty("Every item with a score has a label on this criterion.", "Score more items, or import some.")
        return None
    rows = []
    for candidate in found.candidates[:SHOWN]:
        item = found.items[str(candidate.unit)]
        rows.append(
            [
                blocks.item(item.item, item.item_id), item.system, wording.number(item.scores.get(metric.name), 3),
                wording.number(candidate.disagreement, 2), wording.number(candidate.uncertainty, 2),
                wording.number(candidate.worth, 2),
            ]
        )  # fmt: skip
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
    return found


def choices(report: AlignmentReport, human: Human) -> list[Metric]:
    """The metrics that this criterion can be set against, the one that goes best with it first."""
    if human.about_score is not None:
        return metrics_about(report.data.metrics, human.about_score)
    if human.reason is not None:
        return []

    def strength(metric: Metric) -> float:
        found = report.find("spearman", criterion=human.criterion.name, metric=metric.name)
        return 0.0 if found is None or found.value is None else -abs(found.value)

    return sorted(comparable(human, report.data.metrics), key=strength)
