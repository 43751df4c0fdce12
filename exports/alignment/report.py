"""The alignment report: its sections with their plots, for files and for the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotators.alignment import Pairs, title_of
from annotators.figures import held_in_words
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from exports.agreement import plots as agreement_plots
from exports.alignment import plots
from exports.alignment.data import grade_titles, grades_by_group
from exports.alignment.sections import chosen, means_called, sections, titled
from exports.alignment.study import AlignmentReport, HumanRows, comparable
from exports.alignment.table import TableAlignment
from exports.drawing.forest import forest
from exports.drawing.report_files import Section, made_by, slug

MOST_SCATTERS = 4
"""Metrics of one criterion whose scatter and calibration plots are drawn: those that go best with people."""

Plot = tuple[str, str, Any]


@dataclass(frozen=True)
class AlignmentDocument:
    """What a report says: a title, facts about it, statistics, notes, and the rows that plots are drawn from.

    `rows` is (criterion, the scale that metrics are calibrated on or None, metric, rows, of how many).
    """

    title: str
    facts: Sequence[tuple[str, str]]
    statistics: Sequence[Aligned]
    notes: Sequence[str]
    rows: Sequence[tuple[str, tuple[float, float] | None, str, Pairs, str]]
    grades: Sequence[tuple[str, str, Sequence[str], Mapping[str, Mapping[str, int]]]] = ()
    """Of criteria that ask agreement with a score: (criterion, grouping, its grades, group → grade → how often)."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """What readers call the criteria, by name; files of plots keep the names."""

    @classmethod
    def of_study(cls, report: AlignmentReport) -> AlignmentDocument:
        """The report of a study."""
        data = report.data
        facts = [
            ("Study", report.study),
            ("Protocol", report.protocol),
            ("Labels", {"item": "one value a unit", "each": "each label", "settled": "settled"}[report.labels]),
            ("Pairs of items" if data.protocol.about_pairs else "Items", f"{data.study.n_items:,}"),
            *_how(report.asked),
        ]
        rows = [
            (human.criterion.name, human.calibrated_on, metric.name, rows.pairs(metric), rows.held(metric))
            for human in data.humans
            if human.about_score is None and human.reason is None
            for rows in [HumanRows.of(data, human, report.labels)]
            for metric in comparable(human, data.metrics)
        ]
        grades = [
            (human.criterion.name, by, grade_titles(human), counts)
            for human in data.humans
            if human.about_score is not None
            for by, counts in grades_by_group(data, human).items()
        ]
        return cls(
            f"Alignment in study {report.study}",
            facts,
            report.statistics,
            [*report.notes, *report.warnings],
            rows,
            grades,
            {name: criterion.title for name, criterion in data.protocol.criteria_by_name().items()},
        )

    @classmethod
    def of_table(cls, found: TableAlignment) -> AlignmentDocument:
        """The report of a table."""
        rows = []
        for name, pairs in found.pairs.items():
            scale = (0.0, 1.0) if pairs.binary else None
            if scale is None and pairs.n and np.ptp(pairs.human) > 0:
                scale = (float(pairs.human.min()), float(pairs.human.max()))
            criterion = next((statistic.criterion for statistic in found.statistics if statistic.metric == name), None)
            held = held_in_words(pairs.n, {"without both values": found.n_rows - pairs.n}, "row")
            rows.append((criterion or "human", scale, name, pairs, held))
        facts = [("Table", found.table), ("Rows", f"{found.n_rows:,}"), *_how(found.asked)]
        facts += [("Read", sentence) for sentence in found.read]
        return cls(f"Alignment in {found.table}", facts, found.statistics, [*found.notes, *found.warnings], rows)

    def sections(self) -> list[Section]:
        """The tables, and with each criterion its plots."""
        found = []
        for section in sections(self.statistics):
            about = section.title
            drawn = list(self.plots_of(about))
            if about == means_called(chosen(self.statistics, name="mean_agreement")):
                drawn = [*self._means(), *self._likert()]
            tables = [titled(table, self.titles) for table in section.tables]
            found.append(Section(self._called(about), tables, drawn, section.words, name=slug(about)))
        return found

    def _called(self, criterion: str) -> str:
        return self.titles.get(criterion, criterion)

    def _means(self) -> Iterator[Plot]:
        """A forest of mean agreement by group for every criterion."""
        found = chosen(self.statistics, name="mean_agreement")
        for criterion in dict.fromkeys(mean.criterion for mean in found):
            rows = [(mean.group or "All units", mean) for mean in found if mean.criterion == criterion]
            top = max((mean.high or mean.value or 0.0) for _, mean in rows)
            bottom = min((mean.low if mean.low is not None else mean.value or 0.0) for _, mean in rows)
            likert = bottom >= 1 and top <= 5
            chart = forest(rows, means_called(found), domain=(1, 5) if likert else (min(0.0, bottom), top))
            if chart is not None:
                caption = f"{self._called(criterion or 'mean')}: the means by group, with intervals."
                yield f"{slug(criterion or 'mean')}-means", caption, chart

    def _likert(self) -> Iterator[Plot]:
        """Grades by group as bars that part in the middle."""
        for criterion, by, grades, counts in self.grades:
            chart = agreement_plots.likert(counts, grades)
            if chart is not None:
                called = self._called(criterion)
                caption = f"{called}: grades by {by}, disagreement to the left; n is the number of grades."
                yield f"{slug(criterion)}-grades-by-{by}", caption, chart

    def plots_of(self, criterion: str) -> Iterator[Plot]:
        """The plots of one criterion: name of the file, caption, chart."""
        rows = [(scale, metric, pairs, held) for name, scale, metric, pairs, held in self.rows if name == criterion]
        best = self._best_first(criterion)
        rows.sort(key=lambda row: best.index(row[1]) if row[1] in best else len(best))
        place_of, called = slug(criterion), self._called(criterion)
        values = chosen(self.statistics, criterion=criterion, name="spearman", group=None, against=None)
        named = [(value.metric or "", value) for value in values if value.metric is not None]
        chart = forest(named, f"{title_of('spearman')}, {_level(values)} interval")
        if chart is not None:
            yield f"{place_of}-forest", f"{called}: Spearman's ρ of every metric with its interval.", chart
        curves = plots.roc([(metric, pairs) for _, metric, pairs, _ in rows])
        if curves is not None:
            yield f"{place_of}-roc", f"{called}: ROC curves of the metrics.", curves
        for place, (scale, metric, pairs, held) in enumerate(rows[:MOST_SCATTERS]):
            if pairs.why_not() is not None:
                continue
            caption = plots.scatter_caption(pairs, called, metric, held)
            yield f"{place_of}-scatter-{place + 1}", caption, plots.scatter(pairs, called, metric)
            curve = plots.calibration_of(pairs, scale, called, metric) if scale else None
            if curve is not None:
                caption = f"{called}: calibration of {metric}; the dashed line is a perfect one."
                yield f"{place_of}-calibration-{place + 1}", caption, curve

    def _best_first(self, criterion: str) -> list[str]:
        """The metrics by how well they go with people."""
        values = chosen(self.statistics, criterion=criterion, name="spearman", group=None, against=None)
        defined = [value for value in values if value.value is not None and value.metric is not None]
        return [entry.metric or "" for entry in sorted(defined, key=lambda entry: -(entry.value or 0.0))]


# Parts ----------------------------------------------------------------------------------------------------------------


def _how(asked: Resampling) -> list[tuple[str, str]]:
    made = f"{asked.kind} bootstrap, {asked.resamples:,} resamples, seed {asked.seed}, {100 * asked.level:g} %"
    return [("Intervals", made), made_by()]


def _level(values: Sequence[Aligned]) -> str:
    level = next((value.interval.level for value in values if value.interval is not None), 0.95)
    return f"{100 * level:g} %"
