"""Rater models of a criterion: how good each annotator is, what each unit's label most likely is, how the fits went."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.pages.agreement.shared import View, ask, item_link, kept, note, table
from app.server.routes import downloads
from app.widgets.plots import plot
from exports.agreement.models import (
    HARD_COLUMNS,
    SMOOTHING,
    RaterModels,
    classes_table,
    competence_plot,
    confusion_plot,
    confusion_table,
    hard_cells,
    hardest_units,
    posterior_table,
    rater_models,
    raters_table,
    uncertain_units,
)
from exports.agreement.study import CriterionReport
from exports.drawing.figures import number
from exports.drawing.tables import TextTable, as_csv

UNCERTAIN = 50


def draw(view: View, criterion: CriterionReport) -> None:
    """The choices, and the models once they were asked for."""
    ratings = criterion.all_ratings
    assert ratings is not None
    note(
        "Dawid–Skene gives every annotator a confusion matrix, MACE a competence, GLAD (an item-response model) an "
        "ability and every unit a difficulty; all find them together with each unit's most likely label. They take "
        "annotators to err independently of each other, and are no adjudication."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-models-choice"):
        resamples = st.selectbox(
            "Intervals",
            [0, 100, 500],
            format_func=lambda n: f"{n} resamples" if n else "none",
            key="agreement-models-resamples",
        )
        smooth = st.checkbox(
            "Smooth", key="agreement-models-smooth",
            help=f"Adds {SMOOTHING:g} to every expected count: what somebody never gave is rare, not impossible.",
        )  # fmt: skip
        ready = ask(view, "models", (resamples, smooth), "Fit rater models")
    if not ready:
        return
    found = kept(
        view,
        "models",
        (resamples, smooth),
        rater_models,
        criterion.title,
        ratings,
        seed=view.report.seed,
        resamples=resamples,
        smoothing=SMOOTHING if smooth else 0.0,
    )
    if found.skene is None or found.reason is not None:
        ui.empty("There is no rater model of these labels.", f"{found.reason}.")
        return
    _fitted(view, criterion, found)


def _fitted(view: View, criterion: CriterionReport, found: RaterModels) -> None:
    assert found.skene is not None
    if not found.converged:
        st.warning("A fit did not converge: its figures may change with more iterations.")
    for line in found.notes:
        note(line)
    table(raters_table(found), f"models-{view.slug}")
    plot(
        competence_plot(found),
        f"models-{view.slug}",
        f"{criterion.title}: how good each annotator is, by three models.",
    )
    table(classes_table(found), f"classes-{view.slug}")
    raters = list(found.skene.raters)
    picked = st.selectbox(
        "Confusion matrix of", range(len(raters)), format_func=lambda place: str(raters[place]),
        key=f"agreement-models-rater-{criterion.criterion.name}",
    )  # fmt: skip
    shown = confusion_table(found, picked)
    table(shown, f"model-confusion-{view.slug}-{picked}")
    plot(
        confusion_plot(found, picked),
        f"model-confusion-{view.slug}-{picked}",
        f"{shown.caption}, as shares of each row.",
        otherwise=f"There is no plot of {raters[picked]}: the model expects nothing that this annotator has seen.",
    )
    if view.hidden:
        note("The units appear when you have judged everything in this study.")
    else:
        _hardest(view, criterion, found)
        _units(view, criterion, found)


def _hardest(view: View, criterion: CriterionReport, found: RaterModels) -> None:
    """The units that are hardest by the item-response model: what to look at first."""
    items = criterion.found.items
    rows = []
    for unit in hardest_units(found, UNCERTAIN):
        item, target = int(criterion.column.item[unit.unit]), criterion.column.target_of(unit.unit)
        link = item_link(view, int(items.item[item]), items.external_id[item])
        rows.append([link, "" if target == "item" else target, *hard_cells(unit)])
    caption = f"{criterion.title}: the {len(rows)} units that are hardest to judge, by GLAD"
    table(TextTable.of(caption, ("Item", "Target", *HARD_COLUMNS), rows), f"hardest-{view.slug}", rows)


def _units(view: View, criterion: CriterionReport, found: RaterModels) -> None:
    """The units of which the models know least, and the posterior of all as a file."""
    items = criterion.found.items
    rows = []
    for unit in uncertain_units(found, UNCERTAIN):
        item, target = int(criterion.column.item[unit.unit]), criterion.column.target_of(unit.unit)
        rows.append(
            [
                item_link(view, int(items.item[item]), items.external_id[item]),
                "" if target == "item" else target,
                unit.skene,
                number(unit.probability, 2),
                number(unit.bits, 2),
                unit.mace,
            ]
        )
    columns = ("Item", "Target", "Dawid–Skene", "Probability", "Uncertainty, bits", "MACE")
    caption = f"{criterion.title}: the {len(rows)} units of which the models know least"
    if rows:
        table(TextTable.of(caption, columns, rows), f"uncertain-{view.slug}", rows)
    else:
        note("Dawid–Skene is sure of every unit, which with few annotators is more than can be known.")
    names = [
        (items.external_id[item], criterion.column.targets[target])
        for item, target in zip(criterion.column.item.tolist(), criterion.column.target.tolist(), strict=True)
    ]
    name = f"posterior-{view.slug}"
    file = downloads.File("CSV", f"{name}.csv", "text/csv", lambda: as_csv(posterior_table(found, names)))
    downloads.menu(name, [file], "the posterior of every unit", label="Download the posterior of every unit")
