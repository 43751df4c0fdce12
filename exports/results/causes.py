"""Causes of disagreement: what adjudicators said it came from, criterion by criterion."""

from __future__ import annotations

import numpy as np

from annotators.asking.asides import CONFIDENCES
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.shares import share_interval
from annotators.protocols import Protocol
from db.adjudicating.causes import CAUSES, CauseCount, cause_counts
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import StudyLabels


class Causes:
    """Of the decided units for which a cause was given, the share of each cause; how many have none is said beside.

    Nothing where no adjudicator has given one.
    """

    name = "causes"
    order = 95
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Every protocol with labels that are compared."""
        return any(criterion.compared for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A table of the criteria, a column a cause and a confidence."""
        counts = cause_counts(labels.db, labels.actor, labels.study_id)
        given = [row for row in counts if any(row.causes.values()) or any(row.confidences.values())]
        if not given:
            return Findings()
        figures = [_figure(row, cause, asked) for row in given for cause in CAUSES if any(row.causes.values())]
        sure = (f"Confidence {word.lower()}" for word in CONFIDENCES.values())
        columns = ("Criterion", "Decided", *CAUSES.values(), *sure)
        rows = [(row.title, row.units, *row.causes.values(), *row.confidences.values()) for row in given]
        table = TextTable.of("Causes of disagreement by criterion", columns, rows, words=["Criterion"])
        words = "What adjudicators said that disagreements came from, where they said it, and how sure they were."
        return Findings(figures, [Section("Causes of disagreement", [table], words=[words])])


REPORTS.register(Causes())


def _figure(row: CauseCount, cause: str, asked: Resampling) -> Figure:
    """The share of a cause among the units of a criterion that have one, with its interval over items."""
    hits = np.array([found.get(cause, 0) for found in row.by_item], dtype=np.float64)
    sizes = np.array([sum(found.values()) for found in row.by_item], dtype=np.float64)
    n = int(sizes.sum())
    about = Figure(name="cause", n=n, criterion=row.criterion, label=cause, labels="settled")
    return about.measured(float(hits.sum()) / n, [share_interval(hits, sizes, asked.level, over="items")])
