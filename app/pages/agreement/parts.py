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
    criterion = view.criterion
    if criterion is None or criterion.ratings is None or criterion.headline is None:
        nobody(view)
        return
    _by(view, criterion, "category")
    _by(view, criterion, "system")
    note("Chance agreement is each part's own: parts with the same raw agreement may differ in the coefficient.")
    _over_time(view, criterion)


def _by(view: View, criterion: CriterionReport, by: Grouping) -> None:
    report = view.report
    found = kept(view, f"by-{by}", None, by_part, criterion, by, resamples=report.resamples, seed=report.seed)
    if not found:
        note(f"All labelled items are of one {by}.")
        return
    shown = parts_table(criterion, by, found)
    rows = [
        [units_link(view, called(group, by), criterion.criterion.name, **{by: str(group.group or "")}), *row[1:]]
        for group, row in zip(found, shown.rows, strict=True)
    ]
    table(shown, f"by-{by}-{view.slug}", rows)
    plot(
        parts_plot(by, found),
        f"by-{by}-{view.slug}",
        f"{shown.caption}: {shown.columns[-1]}.",
        otherwise=f"There is no plot by {by}: the coefficient is defined for none of the parts, as the table says why.",
    )
    _grades(view, criterion, by)


def _grades(view: View, criterion: CriterionReport, by: Grouping) -> None:
    """How the grades of an ordered criterion fall in each part."""
    if criterion.ratings is None or criterion.ratings.scale != "ordinal" or len(criterion.ratings.labels) > MOST_LABELS:
        return
    labels = [word(label) for label in criterion.ratings.labels]
    counts = labels_by_part(criterion, by)
    plot(
        agreement_plots.likert(counts, [titled(criterion, label) for label in labels]),
        f"grades-by-{by}-{view.slug}",
        f"{criterion.title}: grades by {by}, those below the middle to the left; n is the number of labels.",
    )


def _over_time(view: View, criterion: CriterionReport) -> None:
    report = view.report
    found = kept(view, "over-time", None, over_time, criterion, resamples=report.resamples, seed=report.seed)
    if not found:
        note(
            f"Agreement over time appears with {FEWEST} units that two annotators have labelled; labels that were "
            "imported without a time are left out."
        )
        return
    shown = time_table(criterion, found)
    rows = [
        [row[0], _when(group.first), _when(group.last), *row[3:]] for group, row in zip(found, shown.rows, strict=True)
    ]
    table(TextTable.of(shown.caption, shown.columns, rows), f"over-time-{view.slug}")
    caption = f"{criterion.title}: {shown.columns[-1]} in stretches of units, in the order of their last label."
    plot(
        time_plot(found),
        f"over-time-{view.slug}",
        caption,
        otherwise="There is no plot over time: it takes two stretches in which the coefficient is defined.",
    )
    note("Items that come in another mixture later look like a change of the annotators, too.")


def _when(at: float | None) -> str:
    return "" if at is None else ui.when(datetime.fromtimestamp(at, UTC))
