"""The report that every protocol has: the share of each label of each criterion, and the mean of what is a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from annotators.alignment.statistics.means import mean_agreement
from annotators.arrays import FloatArray
from annotators.criteria import Criterion
from annotators.criteria.base import written
from annotators.figures import count
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.remarks import TAKEN_AS_RIGHT
from annotators.intervals.shares import share_interval
from annotators.protocols import Protocol
from exports.drawing.figures import figure, percent
from exports.drawing.report_files import Section
from exports.drawing.tables import DASH, TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import (
    GROUPINGS,
    WHOSE,
    CriterionLabels,
    Grouping,
    StudyLabels,
    Whose,
    is_preference,
)

NOBODY = "nobody has given such a label yet"


def share_of(
    study: StudyLabels,
    labels: CriterionLabels,
    hits: FloatArray,
    asked: Resampling,
    *,
    name: str = "share",
    label: str | None = None,
    group: str | None = None,
    by: Grouping | None = None,
) -> Figure:
    """The share (0..1) of these labels that are hits (n: 1 or 0), with its interval over items or questions.

    What is not labelled is in no denominator: what a condition left out, what nobody could judge, what is not settled.
    """
    about = Figure(
        name=name,
        n=labels.n,
        criterion=labels.criterion.name,
        group=group,
        by=by,
        label=label,
        labels=labels.whose,
    )
    if not labels.n:
        return about.undefined(NOBODY)
    clusters = study.cluster[labels.item]
    size = int(clusters.max()) + 1
    found = np.bincount(clusters, hits, size).astype(np.float64)
    sizes = np.bincount(clusters, minlength=size).astype(np.float64)
    interval = share_interval(found, sizes, asked.level, over=study.over)
    return about.measured(float(hits.sum()) / labels.n, [interval])


class Shares:
    """The share of each label of each criterion, settled and of single annotators, in all and by system and category.

    Of ordered labels and of numbers the mean comes with it, and the unweighted mean of the groups; criteria about
    scores have theirs in a report of their own (`agreement_with_scores.py`). Texts and orders are counted only.
    """

    name = "shares"
    order = 100
    of_judges = True

    def fits(self, protocol: Protocol) -> bool:
        """Every protocol."""
        del protocol
        return True

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A section a criterion."""
        figures: list[Figure] = []
        sections = []
        for criterion in (column.criterion for column in labels.found.criteria):  # those that are derived as well
            mine = [*_shares(labels, criterion, asked), *_means(labels, criterion, asked)]
            figures += mine
            sections.append(_section(labels, criterion, mine))
        return Findings(figures, sections)


REPORTS.register(Shares())


_Part = tuple[Grouping | None, str | None, CriterionLabels]


def _parts(study: StudyLabels, labels: CriterionLabels) -> Iterator[_Part]:
    """All labels, then those of each system and each category where there are several: (by, group, labels)."""
    yield None, None, labels
    for by in GROUPINGS:
        for name in study.groups(by):
            yield by, name, study.of_group(labels, by, name)


def _shares(study: StudyLabels, criterion: Criterion, asked: Resampling) -> Iterator[Figure]:
    for whose in _whose(study, criterion):
        labels = study.labels(criterion.name, whose)
        for by, group, part in _parts(study, labels):
            for label in criterion.label_list():
                word = written(label.value)
                yield share_of(study, part, part.hits(word), asked, label=word, group=group, by=by)


def _whose(study: StudyLabels, criterion: Criterion) -> Sequence[Whose]:
    return study.whose if criterion.compared else study.whose[-1:]


def _means(study: StudyLabels, criterion: Criterion, asked: Resampling) -> Iterator[Figure]:
    """Means of numbers, by the one function for means; none of criteria about scores, whose report has them."""
    if not criterion.ordered or study.protocol.scores_judged_by(criterion):
        return
    numbers = criterion.as_numbers()
    for whose in _whose(study, criterion):
        labels = study.labels(criterion.name, whose)
        given = [numbers.number(value) for value in labels.values]
        clusters = study.cluster[labels.item].tolist()
        for place, by in enumerate((None, *GROUPINGS)):
            if by is not None and not study.groups(by):
                continue
            names = study.group_of(labels, by) if by else None
            found = mean_agreement(given, names, asked, clusters=clusters, scale=numbers.scale, by=by)
            for entry in found[1:] if place else found:
                yield Figure(
                    is_share=False,
                    name="mean" if entry.name == "mean_agreement" else "macro_mean",
                    value=entry.value,
                    interval=entry.interval,
                    method=entry.method,
                    reason=entry.reason,
                    n=entry.n,
                    criterion=criterion.name,
                    group=entry.group,
                    by=by,
                    labels=whose,
                )


# Tables ---------------------------------------------------------------------------------------------------------------


def _section(study: StudyLabels, criterion: Criterion, figures: Sequence[Figure]) -> Section:
    # Each two systems in each order are a group; of more than two systems the report of preferences sets each against
    # each instead.
    tables = [
        table
        for by in (None, *GROUPINGS)
        if not (by == "system" and is_preference(criterion) and len(study.groups(by)) > 2)
        and (table := _table(criterion, [entry for entry in figures if entry.by == by], by)) is not None
    ]
    return Section(criterion.title, tables, words=_words(study, criterion))


def _table(criterion: Criterion, figures: Sequence[Figure], by: Grouping | None) -> TextTable | None:
    """A row a label (of all, or of a group), then the means; columns for settled and for single annotators' labels."""
    rows: dict[tuple[str | None, str, str | None], dict[str, Figure]] = {}
    for entry in figures:
        rows.setdefault((entry.group, entry.name, entry.label), {})[entry.labels or ""] = entry
    whose = [name for name in WHOSE if any(name in cells for cells in rows.values())]
    if not rows or not any(entry.n for entry in figures):
        return None
    titles = {written(label.value): label.title for label in criterion.label_list()}
    named = {"mean": "Mean", "macro_mean": f"Unweighted mean of the {_plural(by)}"}
    lines = []
    # Some groups have labels of single annotators only: their means stand with the others', before the mean of all.
    by_mean = sorted(rows, key=lambda row: (_PLACE[row[1]], row[0] or "" if row[1] == "mean" else ""))
    for group, name, label in by_mean:
        cells = rows[group, name, label]
        line = [titles.get(label or "", label or "")] if name == "share" else [named[name]]
        if by is not None:
            line.insert(0, group or "")
        for each in whose:
            made = cells.get(each)
            line += ["", ""] if made is None else [cell(made), f"{made.n:,}"]
        lines.append(line)
    columns = [part for each in whose for part in (WHOSE[each], "n")]
    first = ["Label"] if by is None else [by.capitalize(), "Label"]
    caption = f"{criterion.title}: share of each label" + (f" by {by}" if by else "")
    return TextTable.of(caption, [*first, *columns], lines)


_PLACE = {"share": 0, "mean": 1, "macro_mean": 2}
"""Name of a figure → where it stands in its table."""


def cell(entry: Figure) -> str:
    """A figure as tables show it: a share in percent, anything else as a number; a dash where it is not defined."""
    if entry.value is None:
        return DASH
    return percent(entry) if entry.is_share else figure(entry)


def _plural(by: str | None) -> str:
    return {"system": "systems", "category": "categories"}.get(by or "", "groups")


def _words(study: StudyLabels, criterion: Criterion) -> list[str]:
    """What is not in the figures: units that are not settled, labels that nobody could give, texts."""
    found = []
    if is_preference(criterion):
        found.append("Answer A, the left one, is that of the first of the two systems here, whichever stood left.")
    states = study.states(criterion.name)
    if states["open"]:
        found.append(f"{count(states['open'], 'unit is', 'units are')} not settled and not among the settled labels.")
    if criterion.label_list() and study.labels(criterion.name, "settled").n and "settled" in _whose(study, criterion):
        found.append(TAKEN_AS_RIGHT)
    cannot = study.cannot_judge(criterion.name)
    if cannot:
        found.append(f"{count(cannot, 'time', 'times')} somebody could not judge; that is in no share.")
    if not criterion.label_list() and not criterion.ordered:
        n = study.labels(criterion.name, "each").n
        found.append(f"{count(n, 'answer was', 'answers were')} given; the export of labels has them.")
    return found
