"""Agreed items that adjudicators looked at: the share of their labels, and of the items, that they overturned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotators.intervals.bootstrap import Resampling
from annotators.intervals.shares import share_interval
from annotators.protocols import Protocol
from db.adjudicating.reviewed import ReviewedItem, reviewed_items
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import StudyLabels
from exports.results.shares import cell


class ReviewedAgreements:
    """Of the agreed items that were drawn and decided, the share of labels that adjudicators overturned.

    A row a criterion, and one for items of which any label was overturned; it estimates the same share of all agreed
    items. Nothing where the study has none of them looked at.
    """

    name = "reviewed"
    order = 93
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Every protocol with labels that are compared."""
        return any(criterion.compared for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """The shares with their intervals over items, or questions."""
        if not (share := labels.study.settings.get("review_agreed")):
            return Findings()
        found = reviewed_items(labels.db, labels.actor, labels.study_id)
        figures = [_figure(labels, found.decided, None, asked)]
        rows: list[list[object]] = [["Items with any overturned label", cell(figures[0]), f"{figures[0].n:,}"]]
        for criterion in labels.protocol.criteria:
            if criterion.compared:
                figure = _figure(labels, found.decided, criterion.name, asked)
                figures.append(figure)
                rows.append([criterion.title, cell(figure), f"{figure.n:,}"])
        words = (
            f"{100 * share:.3g} % of the agreed items were drawn: {found.drawn:,} so far, of which adjudicators have "
            f"decided {len(found.decided):,}. They saw the labels, and nothing that said that the item was agreed on."
        )
        table = TextTable.of("Agreed labels that were overturned", ["About", "Overturned", "n"], rows, words=["About"])
        return Findings(figures, [Section("Agreed items that were looked at", [table], words=[words])])


REPORTS.register(ReviewedAgreements())


def _figure(study: StudyLabels, items: Sequence[ReviewedItem], criterion: str | None, asked: Resampling) -> Figure:
    """The share of overturned labels of a criterion; None: of items with any."""
    n = int(study.cluster.max()) + 1 if len(study.cluster) else 0
    hits, sizes = np.zeros(n), np.zeros(n)
    cluster = dict(zip(study.items.study_item.tolist(), study.cluster.tolist(), strict=True))
    for item in items:
        said = [over for (name, _), over in item.overturned.items() if criterion in (None, name)]
        if criterion is None:
            said = [any(said)]
        hits[cluster[item.study_item_id]] += sum(said)
        sizes[cluster[item.study_item_id]] += len(said)
    about = Figure(name="agreed_overturned", n=int(sizes.sum()), criterion=criterion, labels="settled")
    if not sizes.sum():
        return about.undefined("no agreed item has been looked at yet")
    return about.measured(float(hits.sum() / sizes.sum()), [share_interval(hits, sizes, asked.level, over=study.over)])
