"""Metrics: what each system has by each of them, and how far they and judges go with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from annotators.figures import number, percent
from annotators.scorers.base import readable, value_kind
from annotators.scorers.shared.group_means import METHOD, SHARES_METHOD, Sums
from db.scores.summaries import ScoreSummary, list_scorers_in, score_summary
from exports.dataset.base import Numbers, OfStudy, Part, Source, figure_numbers, once
from exports.drawing import charts
from exports.drawing.radar import MOST_LINES, left_undrawn, radar
from exports.drawing.report_files import Section, slug
from exports.drawing.tables import TextTable
from exports.results.labels import NO_CATEGORY

MOST_CATEGORIES = 12
"""Categories that the table of systems has columns for; with more the report has one table a metric of all."""

MOST_METRICS = 8
"""Metrics that stand side by side in a table of one category."""

Plot = tuple[str, str, Any]


def scores(source: Source) -> Part:
    """What each system has by each metric, by category, as benchmarks print it (MRAMG-Bench, Table 4); radars of it.

    A table a metric: a column a category, a row a system, the mean of each cell, the mean over all items, and the
    unweighted mean of the categories. Then a table a category, with the metrics side by side and their average.
    """
    found = list(_summaries(source))
    if not found:
        return Part()
    numbers: Numbers = {}
    tables, plots = [_overall(found)], list[Plot]()
    for name, summary in found:
        tables.append(_by_category(name, summary))
        numbers |= {f"scores.{name}": summary.mean, f"scores.{name}.macro": summary.macro_mean,
                    f"scores.{name}.n": summary.n_scored}  # fmt: skip
        numbers |= {f"scores.{name}.{group.by}.{group.group or NO_CATEGORY}": group.mean for group in summary.groups}
        plots += _radar(name, summary)
    rows = _rows(found)
    tables += _side_by_side(found, rows)
    numbers |= {f"scores.average.{row.category or NO_CATEGORY}.{row.system}": row.average for row in rows
                if row.average is not None}  # fmt: skip
    words = [
        "Means are of the current items of the project. The macro mean gives every category the same weight. In "
        f"brackets: the interval ({METHOD}, of shares in percent {SHARES_METHOD}).",
        *_about_average(found, rows),
    ]
    unscored = [(name, summary) for name, summary in found if summary.n_unscored]
    limits = [
        f"{summary.n_unscored:,} of {summary.n_scored + summary.n_unscored:,} items have no {name}."
        for name, summary in unscored
    ]
    return Part([Section("Systems by metric", tables, plots, words, name="scores")], numbers, limits)


def _summaries(source: Source) -> Iterator[tuple[str, ScoreSummary]]:
    """Each value of each scorer in its newest state, as the page Scores has it."""
    for used in list_scorers_in(source.db, source.actor, source.project_id):
        if not used.newest:
            continue
        settings = ", ".join(readable(used.parameters, digits=10))
        for value in used.values:
            summary = score_summary(
                source.db, source.actor, source.project_id, scorer=used.scorer, parameters=used.parameters, value=value
            )
            name = f"{used.scorer} ({settings})" if settings else used.scorer
            yield (name if len(used.values) == 1 else f"{name}: {value}"), summary


def _figure(summary: ScoreSummary, value: float | None, ends: tuple[float, float] | None = None) -> str:
    """A mean as the page Scores prints it: flags as a share in percent."""
    if value is None:
        return ""
    share = value_kind(summary.scorer, summary.value).kind == "flag"
    shown = percent(value) if share else number(value, 3)
    if ends is None:
        return shown
    low, high = (number(100 * end, 1) if share else number(end, 3) for end in ends)
    return f"{shown} [{low}, {high}]"


def _overall(found: Sequence[tuple[str, ScoreSummary]]) -> TextTable:
    rows = [
        [name, f"{summary.n_scored:,}", _figure(summary, summary.mean, summary.interval),
         _figure(summary, summary.macro_mean, summary.macro_interval)]
        for name, summary in found
    ]  # fmt: skip
    return TextTable.of("Metrics over all items", ("Metric", "Items", "Mean", "Macro mean"), rows, words=("Metric",))


def _by_category(name: str, summary: ScoreSummary) -> TextTable:
    """Systems by category; of many categories only the means."""
    categories = sorted({cell.category for cell in summary.cells}, key=lambda category: category or "")
    shown = categories if 1 < len(categories) <= MOST_CATEGORIES else []
    cells = {(cell.system, cell.category): cell.sums for cell in summary.cells}
    rows = []
    for group in summary.groups:
        if group.by != "system" or group.group is None:
            continue
        parts = [_figure(summary, cells.get((group.group, category), Sums()).mean) for category in shown]
        mean, macro = _figure(summary, group.mean, group.interval), _figure(summary, group.macro_mean)
        rows.append([group.group, *parts, mean, macro])
    columns = ("System", *(category or NO_CATEGORY for category in shown), "Mean", "Macro mean")
    return TextTable.of(f"{name}: systems by category", columns, rows, words=("System",))


class _Row(NamedTuple):
    """What a system has in a category: by metric, the mean of those that may be averaged, and of how many items."""

    category: str | None
    system: str
    means: list[float | None]
    average: float | None
    items: int


def _of_merit(summary: ScoreSummary) -> bool:
    """Whether a value may be averaged with others: more of it is better, and 1 is the most."""
    kind = value_kind(summary.scorer, summary.value)
    return kind.merit and kind.high == 1.0


def _rows(found: Sequence[tuple[str, ScoreSummary]]) -> list[_Row]:
    """Each system in each category, where there are several metrics and categories, and not too many."""
    cells = [{(cell.system, cell.category): cell.sums for cell in summary.cells} for _, summary in found]
    categories = sorted({category for of in cells for _, category in of}, key=lambda name: name or "")
    if not 1 < len(found) <= MOST_METRICS or not 1 < len(categories) <= MOST_CATEGORIES:
        return []
    merit = [_of_merit(summary) for _, summary in found]
    rows = []
    for category in categories:
        there = [any(name == category for _, name in of) for of in cells]
        for system in sorted({system for of in cells for system, name in of if name == category}):
            means = [of.get((system, category), Sums()).mean for of in cells]
            averaged = [
                mean for mean, is_of in zip(means, map(all, zip(merit, there, strict=True)), strict=True) if is_of
            ]
            whole = [mean for mean in averaged if mean is not None]
            average = sum(whole) / len(whole) if len(averaged) == len(whole) > 1 else None
            n = max(of[system, category].n for of in cells if (system, category) in of)
            rows.append(_Row(category, system, means, average, n))
    return rows


def _side_by_side(found: Sequence[tuple[str, ScoreSummary]], rows: Sequence[_Row]) -> Iterator[TextTable]:
    """A table a category: a row a system, a column a metric, and the average of those that may be averaged."""
    for category in dict.fromkeys(row.category for row in rows):
        of_category = [row for row in rows if row.category == category]
        averaged = any(row.average is not None for row in of_category)
        listed = [
            [
                row.system,
                *(_figure(summary, mean) for (_, summary), mean in zip(found, row.means, strict=True)),
                *([number(row.average, 3) if row.average is not None else ""] if averaged else []),
                f"{row.items:,}",
            ]
            for row in of_category
        ]
        columns = ("System", *(name for name, _ in found), *(["Avg."] if averaged else []), "Items")
        yield TextTable.of(f"{category or NO_CATEGORY}: systems by metric", columns, listed, words=("System",))


def _about_average(found: Sequence[tuple[str, ScoreSummary]], rows: Sequence[_Row]) -> list[str]:
    """What is averaged, in a sentence or two."""
    if all(row.average is None for row in rows):
        return []
    averaged = [name for name, summary in found if _of_merit(summary)]
    others = [name for name, summary in found if not _of_merit(summary)]
    said = [
        f"Avg. is the unweighted mean of {', '.join(averaged)}, as far as they are measured in the category; it stands "
        "only where a system has them all."
    ]
    if others:
        said.append(f"Not averaged, as more is not better or 1 is not the most: {', '.join(others)}.")
    return said


def _radar(name: str, summary: ScoreSummary) -> Iterator[Plot]:
    there = sorted({cell.system for cell in summary.cells})
    systems = there[:MOST_LINES]
    categories = sorted({cell.category or NO_CATEGORY for cell in summary.cells})
    values = {
        system: {cell.category or NO_CATEGORY: cell.sums.mean for cell in summary.cells if cell.system == system}
        for system in systems
    }
    high = value_kind(summary.scorer, summary.value).high or 1.0
    chart = radar(values, categories, charts.PRINTED, high=high)
    if chart is not None:
        caption = f"{name}: the mean of each category on its axis, a line a system.{left_undrawn(len(there))}"
        yield f"scores-{slug(name)}-radar", caption, chart


def metrics(source: Source, of: OfStudy) -> Part:
    """How far metrics and judges go with the people of a study, as the page Alignment shows it."""
    found = of.alignment
    if not of.is_labelled or not found.statistics:
        return Part()
    document = of.alignment_document
    numbers: Numbers = {}
    for entry in found.statistics:
        about = [entry.criterion, entry.metric, entry.against, entry.group]
        name = ".".join([f"alignment.{entry.name}", *(part for part in about if part)])
        numbers |= figure_numbers(source.named(name, of), entry)
    sections = [
        replace(
            section,
            title=source.titled(f"Metrics against people: {section.title}", of),
            plots=[(f"metrics-{of.study_id}-{name}", caption, chart) for name, caption, chart in section.plots],
            name=f"metrics-{of.study_id}-{section.name}",
        )
        for section in document.sections()
        if section.plots or any(table.rows for table in section.tables)
    ]
    parts = (warning.partition(": ") for warning in found.warnings)
    limits = [
        f"Study {of.name}, metrics against {limit}"
        for limit in once((document.titles.get(name, name), sentence) for name, _, sentence in parts)
    ]
    return Part(sections, numbers, limits, [entry.name for entry in found.statistics])
