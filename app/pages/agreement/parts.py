"""Agreement in parts of the items, and over time: a table, then the plot."""

from __future__ import annotations

from datetime import UTC, datetime

from app import ui
from app.pages.agreement.shared import View, kept, nobody, note, table, units_link
from app.widgets.plots import plot
from exports.agreement import plots as agreement_plots
from exports.agreement.counts import labels_by_part, titled, word
from exports.agreement.parts import FEWEST, by_part, called, over_time, parts_plot, parts_table, time_plot, time_table
from exports.agreement.report import MOST_LABELS
from exports.agreement.study import CriterionReport, Grouping
from exports.drawing.tables import TextTable


def draw(view: View) -> None:
    """By category, by system, over time."""
    one = view.criterion
    if one is None or one.ratings is None or one.headline is None:
        nobody(view)
        return
    _by(view, one, "category")
    _by(view, one, "system")
    note("Chance agreement is each part's own: parts with the same raw agreement may differ in the coefficient.")
    _over_time(view, one)


def _by(view: View, one: CriterionReport, by: Grouping) -> None:
    report = view.report
    found = kept(view, f"by-{by}", None, by_part, one, by, resamples=report.resamples, seed=report.seed)
    if not found:
        note(f"All labelled items are of one {by}.")
        return
    shown = parts_table(one, by, found)
    rows = [
        [units_link(view, called(group, by), one.criterion.name, **{by: str(group.group or "")}), *row[1:]]
        for group, row in zip(found, shown.rows, strict=True)
    ]
    table(shown, f"by-{by}-{view.slug}", rows)
    plot(
        parts_plot(by, found),
        f"by-{by}-{view.slug}",
        f"{shown.caption}: {shown.columns[-1]}.",
        otherwise=f"There is no plot by {by}: the coefficient is defined for none of the parts, as the table says why.",
    )
    _grades(view, one, by)


def _grades(view: View, one: CriterionReport, by: Grouping) -> None:
    """How the grades of an ordered criterion fall in each part."""
    if one.ratings is None or one.ratings.scale != "ordinal" or len(one.ratings.labels) > MOST_LABELS:
        return
    labels = [word(label) for label in one.ratings.labels]
    counts = labels_by_part(one, by)
    plot(
        agreement_plots.likert(counts, [titled(one, label) for label in labels]),
        f"grades-by-{by}-{view.slug}",
        f"{one.title}: grades by {by}, those below the middle to the left; n is the number of labels.",
    )


def _over_time(view: View, one: CriterionReport) -> None:
    report = view.report
    found = kept(view, "over-time", None, over_time, one, resamples=report.resamples, seed=report.seed)
    if not found:
        note(f"Agreement over time appears with {FEWEST} units that two annotators have labelled.")
        return
    shown = time_table(one, found)
    rows = [
        [row[0], _when(group.first), _when(group.last), *row[3:]] for group, row in zip(found, shown.rows, strict=True)
    ]
    table(TextTable.of(shown.caption, shown.columns, rows), f"over-time-{view.slug}")
    caption = f"{one.title}: {shown.columns[-1]} in stretches of units, in the order of their last label."
    plot(
        time_plot(found),
        f"over-time-{view.slug}",
        caption,
        otherwise="There is no plot over time: it takes two stretches in which the coefficient is defined.",
    )
    note("Items that come in another mixture later look like a change of the annotators, too.")


def _when(at: float | None) -> str:
    return "" if at is None else ui.when(datetime.fromtimestamp(at, UTC))
