"""Agreement in parts of the items, and over time, as tables and plots: the same on the page and in reports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from annotators.agreement.groups import GroupAgreement, agreement_by_group, agreement_over_time
from annotators.agreement.statistics.base import title_of
from annotators.later import Later
from exports.agreement import plots
from exports.agreement.study import CriterionReport, Grouping
from exports.drawing.figures import figure
from exports.drawing.forest import forest
from exports.drawing.tables import TextTable

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Later("altair")

STRETCHES = 8
FEWEST = 40
"""Units with two labels and times below which agreement over time is not measured: two stretches of less than 20."""

Parts = tuple[GroupAgreement, ...]


def by_part(report: CriterionReport, by: Grouping, *, resamples: int, seed: int) -> Parts:
    """Raw agreement and the headline of each category, or system; nothing where there is only one, or no headline."""
    if report.ratings is None or report.headline is None:
        return ()
    groups = report.groups(by)
    if len(set(groups.values())) < 2:
        return ()
    return agreement_by_group(
        report.ratings, groups, _names(report), clusters=report.clusters(), resamples=resamples, seed=seed
    )


def over_time(report: CriterionReport, *, resamples: int, seed: int) -> Parts:
    """Raw agreement and the headline in stretches of 20 units and more; nothing with too few whose times are known."""
    if report.ratings is None or report.headline is None:
        return ()
    untimed = report.ratings.unit[np.isnan(report.times)]
    units = len(np.setdiff1d(np.flatnonzero(report.ratings.sizes > 1), untimed))
    if units < FEWEST:
        return ()
    stretches = min(STRETCHES, units // 20)
    return agreement_over_time(
        report.ratings,
        report.times,
        stretches,
        _names(report),
        clusters=report.clusters(),
        resamples=resamples,
        seed=seed,
    )


def parts_table(report: CriterionReport, by: Grouping, found: Parts) -> TextTable:
    """One row a part."""
    rows = [
        [called(group, by), f"{group.n_units:,}", *(figure(statistic) for statistic in group.statistics)]
        for group in found
    ]
    columns = (by.capitalize(), "Units", *_titles(found))
    return TextTable.of(f"{report.title} by {by} of the item", columns, rows)


def parts_plot(by: Grouping, found: Parts) -> alt.LayerChart | None:
    """The headline of each part with its interval."""
    rows = [(called(group, by), group.statistics[-1]) for group in found]
    return forest(rows, f"{_titles(found)[-1]}, 95 % interval") if found else None


def time_table(report: CriterionReport, found: Parts) -> TextTable:
    """One row a stretch, with the times (UTC) of its first and last unit."""
    rows = [
        [str(place), _at(group.first), _at(group.last), f"{group.n_units:,}", *map(figure, group.statistics)]
        for place, group in enumerate(found, 1)
    ]
    return TextTable.of(f"{report.title} over time", ("Stretch", "From", "To", "Units", *_titles(found)), rows)


def time_plot(found: Parts) -> alt.LayerChart | None:
    """The headline of each stretch with its interval."""
    points = [(str(place), group.statistics[-1]) for place, group in enumerate(found, 1)]
    return plots.over_time(points, _titles(found)[-1]) if found else None


def called(group: GroupAgreement, by: Grouping) -> str:
    """What a part is called."""
    return f"no {by}" if group.group is None else str(group.group)


def _names(report: CriterionReport) -> list[str]:
    assert report.headline is not None
    raw = {"set": "mean_jaccard", "text": "text_identical"}.get(report.criterion.scale, "percent_agreement")
    return [raw, report.headline.name]


def _titles(found: Parts) -> Sequence[str]:
    return [title_of(statistic.name) for statistic in found[0].statistics] if found else [""]


def _at(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y, %H:%M} UTC"
