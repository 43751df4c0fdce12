"""What studies ordered by a score say of all their items while only a part is judged: shares and means, weighed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from annotators.alignment import prediction_powered_mean
from annotators.arrays import FloatArray
from annotators.criteria import Criterion
from annotators.criteria.base import written
from annotators.intervals.bootstrap import Resampling
from annotators.protocols import Protocol
from db.designing.by_score import NOT_ALIKE, Beginning, judged_beginning
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import CriterionLabels, StudyLabels
from exports.results.shares import cell


class Estimates:
    """The share of each label, and the mean of what is a number, of all items of a study that is ordered by a score.

    They are made of the judged beginning of the study alone (db/designing/by_score.py); a unit has the mean of what its
    annotators said. `n` is how many units that is.
    """

    name = "estimates"
    order = 1
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Every protocol."""
        del protocol
        return True

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """One section, where a score ordered the items and not all of them are judged yet."""
        with labels.db.read() as session:
            beginning = judged_beginning(session, labels.study)
        if beginning is None or beginning.n == beginning.n_items:
            return Findings()
        figures = [
            figure
            for criterion in (column.criterion for column in labels.found.criteria)
            for figure in _estimates(labels, criterion, beginning, asked)
        ]
        return Findings(figures, [_section(labels, figures, beginning)], [NOT_ALIKE])


REPORTS.register(Estimates())


def _estimates(study: StudyLabels, criterion: Criterion, beginning: Beginning, asked: Resampling) -> Iterator[Figure]:
    labels = study.labels(criterion.name, "each")
    shares = [
        (Figure(name="estimated_share", n=0, criterion=criterion.name, label=written(label.value)), (0.0, 1.0))
        for label in criterion.label_list()
    ]
    for figure, scale in shares:
        yield _estimate(study, labels, labels.hits(figure.label or ""), beginning, asked, about=figure, scale=scale)
    if criterion.ordered and not study.protocol.scores_judged_by(criterion):
        numbers = criterion.as_numbers()
        given = [numbers.number(value) for value in labels.values]
        values = np.array([np.nan if value is None else value for value in given], dtype=np.float64)
        mean = Figure(name="estimated_mean", n=0, criterion=criterion.name, is_share=False)
        yield _estimate(study, labels, values, beginning, asked, about=mean, scale=numbers.scale)


def _estimate(
    study: StudyLabels,
    labels: CriterionLabels,
    values: FloatArray,
    beginning: Beginning,
    asked: Resampling,
    *,
    about: Figure,
    scale: tuple[float, float] | None,
) -> Figure:
    """The weighed mean over units of what was said of them; `values` has one entry a label, NaN for none."""
    chance = np.array([beginning.chance.get(place, np.nan) for place in study.items.study_item.tolist()])
    kept = np.flatnonzero(~np.isnan(values) & ~np.isnan(chance[labels.item]))
    unit, first, of_label = np.unique(
        labels.item[kept] * (len(labels.targets) + 1) + labels.target[kept], return_index=True, return_inverse=True
    )
    item = labels.item[kept][first]
    means = np.bincount(of_label, values[kept], len(unit)) / np.maximum(np.bincount(of_label, minlength=len(unit)), 1)
    made = prediction_powered_mean(
        means, np.zeros(len(unit)), asked, clusters=study.cluster[item], probabilities=chance[item], scale=scale
    )[0]
    about = replace(about, n=made.n, labels="each", value=made.value, interval=made.interval, reason=made.reason)
    if made.interval is None:
        return about
    return replace(about, method=f"{beginning.in_words}; {made.interval.in_words()}")


def _section(study: StudyLabels, figures: list[Figure], beginning: Beginning) -> Section:
    rows = []
    for entry in figures:
        criterion = next(c.criterion for c in study.found.criteria if c.criterion.name == entry.criterion)
        titles = {written(label.value): label.title for label in criterion.label_list()}
        label = "Mean" if entry.label is None else titles.get(entry.label) or entry.label
        rows.append([criterion.title, label, cell(entry), f"{entry.n:,}"])
    title = f"Estimated for all {beginning.n_items:,} items"
    words = (
        f"From {beginning.in_words}. The shares and means below are of the items as they came, which overstates what "
    )
    words += "the score puts first."
    return Section(title, [TextTable.of(title, ("Criterion", "Label", "Estimate", "n"), rows)], words=[words])
