"""Agreement in parts of the items, and over time: a table, then the plot."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from annotators.agreement import TITLES
from annotators.agreement.groups import GroupAgreement, agreement_by_group, agreement_over_time
from app import ui
from app.widgets.agreement_shared import View, kept, nobody, note, plot, table, units_link
from exports import agreement_plots
from exports.agreement import CriterionReport, Grouping
from exports.figures import figure
from exports.tables import TextTable

STRETCHES = 8
FEWEST = 40
"""Units with two labels below which agreement over time is not shown: it would be two stretches of less than 20."""


def draw(view: View) -> None:
    """By category, by system, over time."""
    one = view.criterion
    if one is None or one.ratings is None or one.headline is None:
        nobody(view)
        return
    _by(view, one, "category")
    _by(view, one, "system")
    _over_time(view, one)


def _by(view: View, one: CriterionReport, by: Grouping) -> None:
    assert one.ratings is not None
    assert one.headline is not None
    groups = one.groups(by)
    if len(set(groups.values())) < 2:
        note(f"All labelled items are of one {by}.")
        return
    ratings, name, report = one.ratings, one.headline.name, view.report
    found = kept(
        view,
        f"by-{by}",
        None,
        lambda: agreement_by_group(
            ratings, groups, ["percent_agreement", name], resamples=report.resamples, seed=report.seed
        ),
    )
    rows = [
        [
            units_link(view, str(group.group or f"no {by}"), one.criterion.name, **{by: str(group.group or "")}),
            f"{group.n_units:,}",
            *(figure(statistic) for statistic in group.statistics),
        ]
        for group in found
    ]
    columns = (by.capitalize(), "Units", *(TITLES[statistic.name] for statistic in found[0].statistics))
    table(TextTable.of(f"{one.title} by {by} of the item", columns, rows), f"by-{by}-{view.slug}", rows)
    chart = agreement_plots.forest(
        [(str(group.group or f"no {by}"), group.statistics[1]) for group in found], f"{TITLES[name]}, 95 % interval"
    )
    plot(chart, f"by-{by}-{view.slug}", f"{one.title} by {by} of the item: {TITLES[name]}.")
    note("Chance agreement is each part's own: parts with the same raw agreement may differ in the coefficient.")


def _over_time(view: View, one: CriterionReport) -> None:
    assert one.ratings is not None
    assert one.headline is not None
    units = int((one.ratings.sizes > 1).sum())
    if units < FEWEST:
        note(f"Agreement over time appears with {FEWEST} units that two annotators have labelled; there are {units}.")
        return
    ratings, times, name, report = one.ratings, one.times, one.headline.name, view.report
    found = kept(
        view,
        "over-time",
        None,
        lambda: agreement_over_time(
            ratings, times, min(STRETCHES, units // 20), ["percent_agreement", name], resamples=report.resamples,
            seed=report.seed,
        ),
    )  # fmt: skip
    rows = [
        [str(place), _when(group, first=True), _when(group, first=False), f"{group.n_units:,}",
         *(figure(statistic) for statistic in group.statistics)]
        for place, group in enumerate(found, 1)
    ]  # fmt: skip
    columns = ("Stretch", "From", "To", "Units", TITLES["percent_agreement"], TITLES[name])
    table(TextTable.of(f"{one.title} over time", columns, rows), f"over-time-{view.slug}")
    points = [(str(place), group.statistics[1]) for place, group in enumerate(found, 1)]
    caption = f"{one.title}: {TITLES[name]} in stretches of units, in the order of their last label."
    plot(agreement_plots.over_time(points, TITLES[name]), f"over-time-{view.slug}", caption)
    st.caption("Items that come in another mixture later look like a change of the annotators, too.")


def _when(group: GroupAgreement, *, first: bool) -> str:
    at = group.first if first else group.last
    return "" if at is None else ui.when(datetime.fromtimestamp(at, UTC))
