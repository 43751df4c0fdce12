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
    criterion = view.criterion
    if criterion is None or criterion.ratings is None or not criterion.n_ratings:
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
    parts[picked](view, criterion)


def _beside(view: View, criterion: CriterionReport) -> None:
    """Agreement, κ and bias of each annotator with the rest."""
    ratings, report = criterion.ratings, view.report
    assert ratings is not None
    found = kept(view, "rest", None, agreement_with_rest, ratings, resamples=report.resamples, seed=report.seed)
    shown = beside_table(criterion.title, found)
    table(shown, f"annotators-{view.slug}")
    if ratings.scale in COMPOSED:
        note("Two labels agree here when they are the same as a whole.")
    note(
        "Agreement: the share of the others' labels of the same units that are the annotator's. κ: the same, corrected "
        "for chance. Both rest on the units that somebody else labelled, too."
    )
    _bias(view, criterion, found)


def _bias(view: View, criterion: CriterionReport, found: tuple[AnnotatorAgreement, ...]) -> None:
    biases = bias_table(criterion.title, found)
    if biases is None or criterion.ratings is None or criterion.ratings.scale in COMPOSED:
        return
    table(biases, f"bias-{view.slug}")
    plot(
        bias_plot(found),
        f"bias-{view.slug}",
        f"{criterion.title}: how much more often each annotator gives a label than the others do on the same units. "
        "Of many intervals one in twenty misses 0 by chance.",
        otherwise="There is no plot of biases: nobody labelled a unit that somebody else labelled, too.",
    )


def _labels(view: View, criterion: CriterionReport) -> None:
    """The share of each label by annotator."""
    assert criterion.ratings is not None
    shown = shares_table(criterion.title, criterion.ratings)
    if shown is None:
        ui.empty("There are too many different labels for a table of them.", "The tab One criterion lists them.")
        return
    table(shown, f"shares-{view.slug}")
    labels = [word(label) for label in criterion.ratings.labels]
    plot(
        agreement_plots.shares(
            shares_by_rater(criterion.ratings), labels, ordered=criterion.ratings.scale == "ordinal"
        ),
        f"shares-{view.slug}",
        f"{criterion.title}: the share of each label by annotator. They need not have labelled the same units.",
    )


def _alike(view: View, criterion: CriterionReport) -> None:
    """Agreement of all pairs, those who label alike side by side."""
    assert criterion.ratings is not None
    if len(criterion.ratings.raters) < 2:
        ui.empty("Only one annotator has labelled this.", "Pairs appear with the second.")
        return
    called = st.segmented_control(
        "Coefficient of each pair", list(COEFFICIENTS), default="Cohen's κ", required=True, key="agreement-similarity"
    )
    ratings = criterion.ratings
    found = kept(view, "similarity", called, similarity, ratings, COEFFICIENTS[called])
    if len(ratings.raters) <= MOST_IN_A_TABLE:
        shown = similarity_table(criterion.title, found)
        names = shown.columns[1:]
        rows = [
            [row[0], *(_pair(view, criterion, row[0], other, cell) for other, cell in zip(names, row[1:], strict=True))]
            for row in shown.rows
        ]
        table(shown, f"similarity-{view.slug}", rows)
    caption = f"{criterion.title}: {called} of each pair of annotators; those who label alike stand together."
    why = f"There is no plot of pairs: {called} is not defined for any pair of annotators here."
    plot(agreement_plots.similarity(found, called), f"similarity-{view.slug}", caption, otherwise=why)


def _pair(view: View, criterion: CriterionReport, first: str, second: str, cell: str) -> object:
    """A coefficient of a pair as a link to their units."""
    if first == second or cell in ("", "–"):
        return cell
    a, b = sorted((first, second))
    return units_link(view, cell, criterion.criterion.name, first=a, second=b)


def _pace(view: View, criterion: CriterionReport) -> None:
    """Time an item, and how time and agreement change from the first item to the last."""
    assert criterion.ratings is not None
    speeds, changes = kept(view, "pace", None, item_pace, criterion.found)
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
    ratings, times = criterion.ratings, criterion.times
    found = kept(view, "drift", None, drifts, ratings, times)
    table(drift_table(criterion.title, found), f"drift-{view.slug}")
    plot(
        drift_plot(found),
        f"drift-{view.slug}",
        f"{criterion.title}: agreement with the others, first label to last.",
        otherwise="There is no plot of drift: it takes two stretches of units that others labelled, too; "
        "labels that were imported without a time are left out.",
    )
    note("Harder items later look like drift, too: compare annotators who saw the same items.")


def _decided(view: View, criterion: CriterionReport) -> None:
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
    ratings, report = criterion.ratings, view.report
    assert ratings is not None
    decided = decided_labels(ui.db(), ui.actor(), view.study.study_id)
    values = decided.get(criterion.criterion.name, {})
    mine = {unit: values[name] for unit, name in enumerate(criterion.column.unit_names) if values.get(name) is not None}
    if not mine or ratings.scale in COMPOSED:
        why = "Nobody has adjudicated a unit of it." if not mine else "Sets and texts are not compared this way."
        ui.empty(f"{criterion.title} cannot be set beside adjudicated labels.", why)
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
    shown: TextTable = beside_table(criterion.title, found, "adjudicated labels")
    table(shown, f"adjudicated-{view.slug}")
