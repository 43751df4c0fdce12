"""QA verification: the share of positive labels of each criterion, as UniDoc-Bench reports them in its Table 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlmodel import Session, col

from annotators.intervals.bootstrap import Resampling
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from db.models import Evidence, StudyItem
from db.query import pick
from exports.drawing.forest import forest
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import GROUPINGS, WHOSE, CriterionLabels, Grouping, StudyLabels, Whose
from exports.results.shares import cell, share_of

GROUNDING = "Grounding"
COLUMNS = {
    "question_factual": ("Fact.-Q", "factual"),
    "answer_factual": ("Fact.-R", "factual"),
    "complete": ("Complete.", "complete"),
    "self_contained": ("Self-Cont.", "true"),
    "human_like": ("Human-like", "true"),
    "grounding": (GROUNDING, "required"),
}
"""Criterion → the column of the table, and the label that is counted in it, in the order of the paper."""

HOW_GROUNDING = "accuracy of the pipeline's used flags against people's labels"


class Verification:
    """Table 2 of UniDoc-Bench, for protocols that ask some of its criteria with its labels.

    Each column is the share of the positive label. Grounding is something else: people's labels (required, not
    required) are taken as the truth, and the share is of the units whose `used` flag, set by the pipeline, says the
    same (section 3.3). Units without a flag are left out and counted.
    """

    name = "verification"
    order = 10
    of_judges = True

    def fits(self, protocol: Protocol) -> bool:
        """Protocols that ask at least one of the criteria."""
        return bool(_asked(protocol))

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """The table of all items, then of each system and category."""
        criteria = _asked(labels.protocol)
        flags = _Flags(labels) if "grounding" in criteria else None
        figures: list[Figure] = []
        for name in criteria:
            for whose in labels.whose:
                given = labels.labels(name, whose)
                figures.append(_figure(labels, given, flags, asked))
                for by in GROUPINGS:
                    for group in labels.groups(by):
                        part = labels.of_group(given, by, group)
                        figures.append(_figure(labels, part, flags, asked, group=group, by=by))
        tables = [
            table
            for by in (None, *GROUPINGS)
            if (table := _table([figure for figure in figures if figure.by == by], by))
        ]
        words = ["Positive labels in percent, with the columns of UniDoc-Bench, Table 2."]
        if flags is not None:
            words.append(f"{GROUNDING} is the {HOW_GROUNDING}: the share of units on which they are the same.")
            words += flags.words()
        return Findings(figures, [Section("Verified quality", tables, words=words)], plots=lambda: _plots(figures))


REPORTS.register(Verification())


def _asked(protocol: Protocol) -> list[str]:
    """The criteria of the table that a protocol asks, in the table's order."""
    known = {
        criterion.name: {str(label.value) for label in criterion.label_list()}
        for criterion in protocol.criteria
        if criterion.target == (TargetKind.EVIDENCE if criterion.name == "grounding" else TargetKind.ITEM)
    }
    return [name for name, (_, label) in COLUMNS.items() if label in known.get(name, ())]


class _Flags:
    """What the pipeline said was used: (place of the item in the study, target) → its flag, where there is one."""

    def __init__(self, labels: StudyLabels) -> None:
        with labels.db.read() as session:
            self._of = {(place, f"evidence:{key}"): used for place, key, used in _used(session, labels)}
        self.unflagged = 0

    def split(self, labels: CriterionLabels) -> tuple[CriterionLabels, Any]:
        """The labels on units with a flag, and for each whether the flag says the same (1 or 0)."""
        flags = [self._of.get(unit) for unit in zip(labels.item.tolist(), labels.about, strict=True)]
        there = np.array([flag is not None for flag in flags], dtype=bool)
        kept = labels.chosen(np.flatnonzero(there))
        said = np.array([float(bool(flag)) for flag in flags if flag is not None], dtype=np.float64)
        required = kept.hits(COLUMNS["grounding"][1])
        self.unflagged = max(self.unflagged, labels.n - kept.n)
        return kept, (said == required).astype(np.float64)

    def words(self) -> list[str]:
        """What was left out."""
        if not self.unflagged:
            return []
        return [
            f"{self.unflagged:,} labels are on units that no pipeline has flagged, and are left out of {GROUNDING}."
        ]


def _used(session: Session, labels: StudyLabels) -> Iterable[tuple[int, str, bool]]:
    rows = session.execute(
        pick(StudyItem.id, Evidence.key, Evidence.used)
        .join(Evidence, col(Evidence.item_version_id) == StudyItem.item_version_id)
        .where(col(StudyItem.study_id) == labels.study_id, col(Evidence.used).is_not(None))
    ).all()
    places = np.searchsorted(labels.items.study_item, np.array([row[0] for row in rows], dtype=np.int64)).tolist()
    return ((place, row[1], row[2]) for place, row in zip(places, rows, strict=True))


def _figure(
    study: StudyLabels,
    labels: CriterionLabels,
    flags: _Flags | None,
    asked: Resampling,
    *,
    group: str | None = None,
    by: Grouping | None = None,
) -> Figure:
    column, label = COLUMNS[labels.criterion.name]
    if column == GROUNDING and flags is not None:
        kept, same = flags.split(labels)
        found = share_of(study, kept, same, asked, name=column, group=group, by=by)
        if labels.n and not kept.n:
            return found.undefined("no unit that was labelled has a used flag of the pipeline")
        return found
    return share_of(study, labels, labels.hits(label), asked, name=column, group=group, by=by)


def _table(figures: Sequence[Figure], by: Grouping | None) -> TextTable | None:
    """A row for settled labels and one for single annotators', of all items or of each group."""
    rows: dict[tuple[str | None, Whose | None], dict[str, Figure]] = {}
    for figure in figures:
        rows.setdefault((figure.group, figure.labels), {})[figure.name] = figure
    if not rows:
        return None
    columns = list(dict.fromkeys(figure.name for figure in figures))
    lines = [
        [
            *([group or ""] if by else []),
            WHOSE[whose or "each"],
            *(part for column in columns for part in (cell(cells[column]), f"{cells[column].n:,}")),
        ]
        for (group, whose), cells in sorted(rows.items(), key=lambda row: row[0][0] or "")
    ]  # fmt: skip
    titles = [*([by.capitalize()] if by else []), "Labels", *(part for column in columns for part in (column, "n"))]
    return TextTable.of("Verified quality" + (f" by {by}" if by else ""), titles, lines)


def _plots(figures: Sequence[Figure]) -> Iterable[tuple[str, str, Any]]:
    rows = [(figure.name, figure) for figure in figures if figure.by is None and figure.labels == "settled"]
    chart = forest(rows, "Share of positive labels, settled")
    if chart is not None:
        yield "verified-quality", "Share of positive settled labels of each criterion, with its interval.", chart
