"""Before and after annotators talked: how far they agreed blind, and how far now that they could see and change."""

from __future__ import annotations

import numpy as np

from annotators.criteria import Criterion
from annotators.designing.talk import ALL, NEVER
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.shares import share_interval
from annotators.protocols import Protocol
from db.adjudicating.threads import TwoTimes, before_and_after
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.coefficients import raw_and_coefficient
from exports.results.labels import StudyLabels
from exports.results.shares import cell

BEFORE, AFTER = "before", "after"


class Talk:
    """Agreement on the labels that people gave before they could see the others', and on those they have now.

    Over items that all have labelled. `changed_labels` is the share of labels that are others now. Nothing where
    annotators of a study do not talk.
    """

    name = "talk"
    order = 92
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Every protocol with labels that are compared."""
        return any(criterion.compared for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A row a criterion."""
        talk = labels.study.settings.get("talk", NEVER)
        if talk == NEVER:
            return Findings()
        times = before_and_after(labels.db, labels.actor, labels.study_id)
        figures: list[Figure] = []
        rows: list[list[object]] = []
        for criterion in labels.protocol.criteria:
            own = [row for row in times if row.criterion == criterion.name]
            both = {}
            for name in (BEFORE, AFTER):
                given = [row for row in own if getattr(row, name) is not None]
                both[name] = raw_and_coefficient(
                    labels,
                    criterion,
                    [(row.study_item_id, row.target) for row in given],
                    [row.person_id for row in given],
                    [getattr(row, name) for row in given],
                    asked=asked,
                    name=name,
                )
            before, after = both[BEFORE], both[AFTER]
            if before is None or after is None:
                continue
            changed = _changed(labels, criterion, own, asked)
            figures += [*before[:2], *after[:2], changed]
            raw = f"{cell(before[0])} → {cell(after[0])}"
            rows.append([criterion.title, raw, before[2], cell(before[1]), cell(after[1]), cell(changed)])
        words = (
            "Everybody labelled blind, then saw the others' labels of "
            f"{'every item' if talk == ALL else 'what was disputed'}, could talk and change theirs. What they said "
            "before is kept. Labels that agree as people talked do not say how far they agree by themselves."
        )
        columns = ["Criterion", "Raw agreement", "Coefficient", "Before", "After", "Labels changed"]
        table = TextTable.of(
            "Agreement before and after talking", columns, rows, words=["Criterion", "Raw agreement", "Coefficient"]
        )
        return Findings(figures, [Section("Before and after talking", [table] if rows else [], words=[words])])


REPORTS.register(Talk())


def _changed(study: StudyLabels, criterion: Criterion, rows: list[TwoTimes], asked: Resampling) -> Figure:
    """The share of labels that are others now."""
    of = dict(zip(study.items.study_item.tolist(), study.cluster.tolist(), strict=True))
    n = max(of.values()) + 1
    hits, sizes = np.zeros(n), np.zeros(n)
    for row in rows:
        if row.before is not None:
            sizes[of[row.study_item_id]] += 1
            same = row.after is not None and criterion.vote(row.before) == criterion.vote(row.after)
            hits[of[row.study_item_id]] += not same
    about = Figure(name="changed_labels", n=int(sizes.sum()), criterion=criterion.name, labels="each")
    return about.measured(float(hits.sum() / sizes.sum()), [share_interval(hits, sizes, asked.level, over=study.over)])
