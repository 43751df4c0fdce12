"""Comparisons: a coefficient in two studies, in two groups of annotators or items, and of several criteria at once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from annotators.agreement.catalogue import all_statistics, headline
from annotators.agreement.differences import CoefficientDifference, by_raters, difference
from annotators.agreement.simultaneous import Simultaneous, jointly
from annotators.agreement.statistics.base import named, title_of
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from annotators.figures import ends, p_in_words
from annotators.later import Later
from exports.agreement.study import CriterionReport, Grouping
from exports.drawing.figures import Estimated, between, figure, number, p_value
from exports.drawing.forest import forest
from exports.drawing.tables import TextTable

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Later("altair")


@dataclass(frozen=True)
class Comparison:
    """The difference of a coefficient between two tables, what they are called, and what is compared."""

    title: str
    names: tuple[str, str]
    found: CoefficientDifference
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What a paper says about it."""
        found, (a, b) = self.found, self.names
        name = title_of(found.statistic)
        if found.value is None:
            return f"{self.title}: the difference of {name} between {a} and {b} is not defined: {found.reason}."
        words = (
            f"{self.title}: {name} is {figure(found.a)} for {a} and {figure(found.b)} for {b}; the difference is "
            f"{number(found.value, 2, sign=True)}{between(found, 2, sign=True)} ({found.method})"
        )
        if found.p_value is None:
            return f"{words}; no p: {found.p_reason}." if found.p_reason else f"{words}."
        return f"{words}, {p_in_words(found.p_value)}."


def comparable_statistics(ratings: Ratings) -> list[str]:
    """The coefficients that have one value for a table on this scale, its headline first."""
    names = [
        coefficient.name
        for coefficient in named(all_statistics(ratings))
        if not (coefficient.by_pair or coefficient.by_label) and coefficient.misfit(ratings) is None
    ]
    first = headline(ratings.scale)
    return [first, *(name for name in names if name != first)]


def between_studies(
    a: CriterionReport, b: CriterionReport, names: tuple[str, str], statistic: str, *, seed: int, resamples: int
) -> Comparison:
    """The difference between the same criterion of two studies.

    Items that both studies have are resampled together: as pairs where both labelled exactly the same units, else as
    clusters; questions, where a study's report draws those. Raises InvalidInput when the two cannot be on one scale.
    """
    sides = [_by_item(report) for report in (a, b)]
    units = [set(side.units) for side in sides]
    shared = len(units[0] & units[1])
    clusters: dict[Hashable, Hashable] | None = None
    if questions := questions_of(a, b):
        clusters = {
            unit: asked
            for side, of in zip(sides, questions, strict=True)
            for unit, asked in zip(side.units, of, strict=True)
        }
    elif shared > 0 and units[0] != units[1]:
        clusters = {unit: unit for side in units for unit in side}
    found = difference(sides[0], sides[1], statistic, clusters=clusters, resamples=resamples, seed=seed)
    notes = [_QUESTIONS] if questions else []
    if shared and clusters:
        notes.append(f"{shared:,} units are in both studies; they were drawn together.")
    return Comparison(a.title, names, found, tuple(notes))


_QUESTIONS = "Questions were drawn, with all that is about them."


def questions_of(a: CriterionReport, b: CriterionReport) -> tuple[list[Hashable], list[Hashable]] | None:
    """The question of each unit of both studies, where the report of one of them draws questions; else None."""
    if a.clusters() is None and b.clusters() is None:
        return None
    return list(a.questions().values()), list(b.questions().values())


def between_annotators(
    report: CriterionReport,
    groups: tuple[Sequence[str], Sequence[str]],
    names: tuple[str, str],
    statistic: str,
    *,
    seed: int,
    resamples: int,
) -> Comparison:
    """The difference between two groups of the annotators of a study, on the units that they labelled."""
    ratings = _measurable(report)
    twice = set(groups[0]) & set(groups[1])
    if twice:
        raise InvalidInput(f"{sorted(twice)[0]!r} is in both groups: put everybody into one of them.")
    small = next((name for name, group in zip(names, groups, strict=True) if len(group) < 2), None)
    if small is not None:
        raise InvalidInput(f"{small} has fewer than two annotators: agreement needs two in each group.")
    member: dict[Hashable, Hashable] = {who: place for place, group in enumerate(groups) for who in group}
    tables, clusters = by_raters(ratings, member), report.clusters()
    found = difference(tables[0], tables[1], statistic, clusters=clusters, resamples=resamples, seed=seed, paired=True)
    return Comparison(report.title, names, found, (_QUESTIONS,) if clusters else ())


def between_parts(
    report: CriterionReport, by: Grouping, names: tuple[str, str], statistic: str, *, seed: int, resamples: int
) -> Comparison:
    """The difference between two categories, or systems.

    Where both answer the same questions those go together; questions are drawn too where the report draws them.
    """
    ratings, groups, questions = _measurable(report), report.groups(by), report.questions()
    sides = [_part(ratings, groups, name) for name in names]
    asked = [{questions[unit] for unit in side.units} for side in sides]
    shared = bool(asked[0] & asked[1])
    clusters = questions if shared else report.clusters()
    found = difference(sides[0], sides[1], statistic, clusters=clusters, resamples=resamples, seed=seed)
    notes = (
        ("The two parts share questions, which were drawn together.",) if shared else (_QUESTIONS,) if clusters else ()
    )
    return Comparison(report.title, (names[0] or "no category", names[1] or "no category"), found, notes)


def difference_table(comparison: Comparison) -> TextTable:
    """Both values, their difference with its interval, and p."""
    found, (a, b) = comparison.found, comparison.names
    rows = [
        [a, figure(found.a, 3), f"{found.a.n_units:,}", str(found.a.n_raters), f"{found.a.n_ratings:,}", ""],
        [b, figure(found.b, 3), f"{found.b.n_units:,}", str(found.b.n_raters), f"{found.b.n_ratings:,}", ""],
        [
            f"{a} − {b}",
            figure(found, 3, sign=True),
            "",
            "",
            "",
            p_value(found.p_value) if found.p_value is not None else found.p_reason or "",
        ],
    ]
    columns = ("", title_of(found.statistic), "Units", "Raters", "Ratings", "p")
    return TextTable.of(f"{comparison.title}: {a} and {b}", columns, rows)


def difference_plot(comparison: Comparison) -> alt.LayerChart | None:
    """Both values and their difference with intervals, around 0; None where there is no difference."""
    found, (a, b) = comparison.found, comparison.names
    if found.value is None:
        return None
    rows: list[tuple[str, Estimated]] = [(a, found.a), (b, found.b), (f"{a} − {b}", found)]
    return forest(rows, f"{title_of(found.statistic)}, 95 % interval", around_zero=True)


# Several criteria at once ---------------------------------------------------------------------------------------------


def criteria_at_once(
    criteria: Sequence[CriterionReport], *, seed: int, resamples: int, by_question: bool, statistic: str | None = None
) -> Simultaneous:
    """The coefficients of criteria on the same resamples of items, with intervals that hold together.

    Raises InvalidInput for fewer than two criteria.
    """
    tables = [table for criterion in criteria if criterion.n_ratings and (table := criterion.table()) is not None]
    if len(tables) < 2:
        raise InvalidInput("Criteria are compared when two of them have labels that can be measured. Choose two.")
    return jointly(tables, statistic, resamples=resamples, seed=seed, by_question=by_question)


def members_table(found: Simultaneous, titles: Mapping[str, str]) -> TextTable:
    """Each criterion's coefficient with the interval that holds together with the others'."""
    rows = [
        [
            titles.get(member.criterion, member.criterion),
            title_of(member.statistic),
            figure(member, 3),
            "" if member.error is None else number(member.error),
        ]
        for member in found.members
    ]
    columns = ("Criterion", "Coefficient", "Value, interval for all at once", "Standard error")
    return TextTable.of("Criteria at once", columns, rows)


def contrasts_table(found: Simultaneous, titles: Mapping[str, str]) -> TextTable:
    """The difference of each pair of criteria, with p adjusted for how many pairs there are."""
    rows = [
        [
            f"{titles.get(contrast.a, contrast.a)} − {titles.get(contrast.b, contrast.b)}",
            number(contrast.value, 3, sign=True) + ends(contrast.low, contrast.high, 3, sign=True),
            p_value(contrast.p_value),
            p_value(contrast.p_adjusted),
        ]
        for contrast in found.contrasts
    ]
    return TextTable.of("Differences of criteria", ("Criteria", "Difference", "p", "p, Holm"), rows)


def members_plot(found: Simultaneous, titles: Mapping[str, str]) -> alt.LayerChart | None:
    """The intervals that hold together."""
    rows = [(titles.get(member.criterion, member.criterion), member) for member in found.members]
    return forest(rows, "Coefficient, 95 % for all together")


# Parts ----------------------------------------------------------------------------------------------------------------


def _by_item(report: CriterionReport) -> Ratings:
    """The table with units that are called alike in every study: the item's id, and the target."""
    ratings, column = _measurable(report), report.column
    targets = [column.targets[place] for place in column.target.tolist()]
    return replace(ratings, units=tuple(zip(report.items(), targets, strict=True)))


def _part(ratings: Ratings, groups: Mapping[Hashable, str | None], name: str) -> Ratings:
    chosen = np.array([i for i, unit in enumerate(ratings.units) if (groups[unit] or "") == name], dtype=np.int64)
    if not len(chosen):
        raise InvalidInput(f"No labelled unit is of {name!r}. Choose another part.")
    return ratings.of_units(chosen)


def _measurable(report: CriterionReport) -> Ratings:
    if report.ratings is None or not report.n_ratings:
        raise InvalidInput(f"{report.title!r} has no labels that can be measured there. Choose another criterion.")
    return report.ratings
