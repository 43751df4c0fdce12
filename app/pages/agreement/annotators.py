"""Each annotator beside the rest: agreement, bias, labels, who labels like whom, time, adjudicated labels, models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from annotators.agreement.annotators import AnnotatorAgreement, agreement_with_rest, similarity
from annotators.agreement.pace import drifts
from annotators.agreement.tables.ratings import COMPOSED
from app import ui
from app.pages.agreement import models
from app.pages.agreement.shared import View, ask, kept, nobody, note, table, units_link
from app.widgets.plots import plot
from db.studies.ratings import decided_labels
from exports.agreement import plots as agreement_plots
from exports.agreement.annotators import (
    beside_table,
    bias_plot,
    bias_table,
    drift_plot,
    drift_table,
    item_pace,
    reference_agreement,
    shares_table,
    similarity_table,
    speed_table,
)
from exports.agreement.counts import shares_by_rater, word
from exports.agreement.study import CriterionReport
from exports.drawing.tables import TextTable

COEFFICIENTS: dict[str, Literal["cohen_kappa", "percent_agreement"]] = {
    "Cohen's κ": "cohen_kappa",
    "Raw agreement": "percent_agreement",
}
MOST_IN_A_TABLE = 40
"""More annotators than this make a similarity table that nobody can read; the heat map still shows them."""


def draw(view: View) -> None:
    """The part that is chosen; only that one is computed."""
    one = view.criterion
    if one is None or one.ratings is None or not one.n_ratings:
        nobody(view)
        return
    parts: dict[str, Callable[[View, CriterionReport], None]] = {
        "Beside the rest": _beside,
        "Labels": _labels,
        "Who labels like whom": _alike,
        "Time and drift": _pace,
        "Adjudicated labels": _decided,
        "Rater models": models.draw,
    }
    picked = st.segmented_control(
        "About annotators", list(parts), default="Beside the rest", required=True, label_visibility="collapsed",
        key="agreement-annotators",
    )  # fmt: skip
    parts[picked](view, one)


def _beside(view: View, one: CriterionReport) -> None:
    """Agreement, κ and bias of each annotator with the rest."""
    ratings, report = one.ratings, view.report
    assert ratings is not None
    found = kept(view, "rest", None, agreement_with_rest, ratings, resamples=report.resamples, seed=report.seed)
    shown = beside_table(one.title, found)
    table(shown, f"annotators-{view.slug}")
    if ratings.scale in COMPOSED:
        note("Two labels agree here when they are the same as a whole.")
    note(
        "Agreement: the share of the others' labels of the same units that are the annotator's. κ: the same, corrected "
        "for chance. Both rest on the units that somebody else labelled, too."
    )
    _bias(view, one, found)


def _bias(view: View, one: CriterionReport, found: tuple[AnnotatorAgreement, ...]) -> None:
    biases = bias_table(one.title, found)
    if biases is None or one.ratings is None or one.ratings.scale in COMPOSED:
        return
    table(biases, f"bias-{view.slug}")
    plot(
        bias_plot(found),
        f"bias-{view.slug}",
        f"{one.title}: how much more often each annotator gives a label than the others do on the same units. "
        "Of many intervals one in twenty misses 0 by chance.",
        otherwise="There is no plot of biases: nobody labelled a unit that somebody else labelled, too.",
    )


def _labels(view: View, one: CriterionReport) -> None:
    """The share of each label by annotator."""
    assert one.ratings is not None
    shown = shares_table(one.title, one.ratings)
    if shown is None:
        ui.empty("There are too many different labels for a table of them.", "The tab One criterion lists them.")
        return
    table(shown, f"shares-{view.slug}")
    labels = [word(label) for label in one.ratings.labels]
    plot(
        agreement_plots.shares(shares_by_rater(one.ratings), labels, ordered=one.ratings.scale == "ordinal"),
        f"shares-{view.slug}",
        f"{one.title}: the share of each label by annotator. They need not have labelled the same units.",
    )


def _alike(view: View, one: CriterionReport) -> None:
    """Agreement of all pairs, those who label alike side by side."""
    assert one.ratings is not None
    if len(one.ratings.raters) < 2:
        ui.empty("Only one annotator has labelled this.", "Pairs appear with the second.")
        return
    called = st.segmented_control(
        "Coefficient of each pair", list(COEFFICIENTS), default="Cohen's κ", required=True, key="agreement-similarity"
    )
    ratings = one.ratings
    found = kept(view, "similarity", called, similarity, ratings, COEFFICIENTS[called])
    if len(ratings.raters) <= MOST_IN_A_TABLE:
        shown = similarity_table(one.title, found)
        names = shown.columns[1:]
        rows = [
            [row[0], *(_pair(view, one, row[0], other, cell) for other, cell in zip(names, row[1:], strict=True))]
            for row in shown.rows
        ]
        table(shown, f"similarity-{view.slug}", rows)
    caption = f"{one.title}: {called} of each pair of annotators; those who label alike stand together."
    why = f"There is no plot of pairs: {called} is not defined for any pair of annotators here."
    plot(agreement_plots.similarity(found), f"similarity-{view.slug}", caption, otherwise=why)


def _pair(view: View, one: CriterionReport, first: str, second: str, cell: str) -> object:
    """A coefficient of a pair as a link to their units."""
    if first == second or cell in ("", "–"):
        return cell
    a, b = sorted((first, second))
    return units_link(view, cell, one.criterion.name, first=a, second=b)


def _pace(view: View, one: CriterionReport) -> None:
    """Time an item, and how time and agreement change from the first item to the last."""
    assert one.ratings is not None
    speeds, changes = kept(view, "pace", None, item_pace, one.found)
    table(speed_table(view.report.study, speeds, changes), f"speed-{view.study.study_id}")
    note(
        "Whole items, of all criteria together. Times the others': the time as a multiple of the others' on the same "
        "items. Last over first: 0.5 is twice as fast at the end."
    )
    chart = drift_plot(changes, speed=True)
    plot(
        chart,
        f"speed-{view.study.study_id}",
        "Median seconds an item, in stretches of each annotator's work.",
        otherwise="There is no plot of the time an item: it takes an annotator with two stretches of timed items; "
        "labels that were imported have no times.",
    )
    ratings, times = one.ratings, one.times
    found = kept(view, "drift", None, drifts, ratings, times)
    table(drift_table(one.title, found), f"drift-{view.slug}")
    plot(
        drift_plot(found),
        f"drift-{view.slug}",
        f"{one.title}: agreement with the others, first label to last.",
        otherwise="There is no plot of drift: it takes two stretches of units that others labelled, too.",
    )
    note("Harder items later look like drift, too: compare annotators who saw the same items.")


def _decided(view: View, one: CriterionReport) -> None:
    """Each annotator beside what adjudicators decided."""
    note(
        "Only units that somebody adjudicated count. Those are mostly the disputed ones, so these figures are lower "
        "than agreement in the whole study, and compare annotators with each other."
    )
    if view.hidden:
        ui.empty("You annotate in this study and have not judged everything yet.", "Come back when you have.")
        return
    if not ask(view, "decided", None, "Measure beside adjudicated labels"):
        return
    ratings, report = one.ratings, view.report
    assert ratings is not None
    decided = decided_labels(ui.db(), ui.actor(), view.study.study_id)
    values = decided.get(one.criterion.name, {})
    mine = {unit: values[name] for unit, name in enumerate(one.column.unit_names) if values.get(name) is not None}
    if not mine or ratings.scale in COMPOSED:
        why = "Nobody has adjudicated a unit of it." if not mine else "Sets and texts are not compared this way."
        ui.empty(f"{one.title} cannot be set beside adjudicated labels.", why)
        return
    found = kept(
        view,
        "reference",
        None,
        reference_agreement,
        ratings,
        mine,
        resamples=report.resamples,
        seed=report.seed,
    )
    shown: TextTable = beside_table(one.title, found, "adjudicated labels")
    table(shown, f"adjudicated-{view.slug}")
