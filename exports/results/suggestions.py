"""Suggestions: what people did with the labels that models proposed, in studies that show them before or after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import select as sql_select
from sqlmodel import col, select

from annotators.arrays import FloatArray
from annotators.criteria import Criterion
from annotators.criteria.base import written
from annotators.criteria.suggested import Proposals, suggested_by, suggestion
from annotators.intervals.bootstrap import Resampling
from annotators.protocols import Material, Protocol
from db.annotating.presentations import load_materials, suggested_scores
from db.models import Assignment, StoredLabel, Submission
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import GROUPINGS, WHOSE, CriterionLabels, Grouping, StudyLabels
from exports.results.shares import cell, share_of

NAMES = {
    "agreed_before_suggestion": "Own label was the one suggested",
    "changed_after_suggestion": "Label changed after the suggestion was seen",
    "changed_to_suggestion": "Other labels that became the one suggested",
    "suggestion_followed": "Label is the one suggested",
}
_WHY_NONE = "nobody has given a label for which something is suggested yet"
_ALL_AGREED = "every label was the one suggested before it was seen"
_AT_ONCE = 500
_Key = tuple[int, int, str, str]
"""A label: the study's item, the person, the criterion, the target."""


class Suggestions:
    """What people did with suggestions that they saw, criterion by criterion, over labels of single annotators.

    Only labels count for which something is suggested and whose step showed it; labels made elsewhere saw nothing.
    `suggestion_followed` is the share of labels that are the one suggested. Where suggestions come after one's own
    labels, three more: of one's own labels the share that was the one suggested before it was seen
    (`agreed_before_suggestion`), the share that was changed afterwards (`changed_after_suggestion`), and of those that
    were another the share that became the one suggested (`changed_to_suggestion`). A label that was left as it was
    counts as not changed.
    """

    name = "suggestions"
    order = 90

    def fits(self, protocol: Protocol) -> bool:
        """Protocols for whose labels something may be proposed."""
        return not protocol.about_pairs and any(map(protocol.suggests_at, range(len(protocol.steps))))

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A table of the criteria, in all and by system and category; nothing where the study shows no suggestions."""
        when = labels.study.settings.get("suggestions", "never")
        if when == "never":
            return Findings()
        steps = _steps(labels.protocol)
        proposed, seen = _proposals(labels), _seen(labels, steps)
        first = _own(labels, set(steps)) if when == "after" else None
        figures: list[Figure] = []
        for criterion in labels.protocol.criteria:
            if criterion.name in steps:
                figures += _figures(labels, criterion, asked, proposed=proposed, seen=seen, first=first)
        tables = [table for by in (None, *GROUPINGS) if (table := _table(labels, figures, by)) is not None]
        words = {
            "before": "Annotators saw the suggestions before they labelled: people tend to follow what they see.",
            "after": "Annotators labelled by themselves, then saw what is suggested and could change their labels.",
        }
        return Findings(figures, [Section("What people did with suggestions", tables, words=[words[when]])])


REPORTS.register(Suggestions())


def _steps(protocol: Protocol) -> dict[str, int]:
    """Criterion → its step, of those whose labels are suggested where they are asked."""
    return {
        criterion.name: step
        for step in range(len(protocol.steps))
        if protocol.suggests_at(step)
        for criterion in protocol.step_criteria(step)
        if suggested_by(criterion)
    }


def _proposals(labels: StudyLabels) -> dict[int, Proposals]:
    """Study item → what models say of it."""
    found: dict[int, Proposals] = {}
    ids = labels.items.study_item.tolist()
    with labels.db.read() as session:
        for start in range(0, len(ids), _AT_ONCE):
            block = ids[start : start + _AT_ONCE]
            loaded = load_materials(session, block, set(), suggested=suggested_scores(labels.study))
            found |= {item: materials.proposals or Proposals() for item, materials in loaded.items()}
    return found


def _seen(labels: StudyLabels, steps: Mapping[str, int]) -> set[tuple[int, int, int]]:
    """(study item, person, step) of what was labelled here with suggestions before it, or at once after it."""
    after = labels.study.settings.get("suggestions") == "after"
    rows = (
        select(Assignment.study_item_id, Submission.person_id, Submission.step, Submission.shown)
        .join(Submission, col(Submission.assignment_id) == Assignment.id)
        .where(Assignment.study_id == labels.study_id, col(Submission.step).in_(set(steps.values())))
    )
    with labels.db.read() as session:
        return {
            (item, person, step)
            for item, person, step, shown in session.exec(rows)
            if (shown if after else Material.SUGGESTIONS in shown)
        }


def _own(labels: StudyLabels, criteria: set[str]) -> dict[_Key, str]:
    """What each person said by themselves: the labels of the first sitting, written out."""
    rows = (
        sql_select(
            col(Assignment.study_item_id),
            col(Assignment.person_id),
            col(StoredLabel.criterion),
            col(StoredLabel.target),
            col(StoredLabel.value),
        )
        .join(StoredLabel, col(StoredLabel.assignment_id) == Assignment.id)
        .where(
            col(Assignment.study_id) == labels.study_id,
            col(StoredLabel.sitting) == 1,
            col(StoredLabel.criterion).in_(criteria),
            col(StoredLabel.cannot_judge).is_(False),
        )
    )
    with labels.db.read() as session:
        return {
            (item, person or 0, criterion, target): written(value)
            for item, person, criterion, target, value in session.execute(rows)
        }


def _figures(
    study: StudyLabels,
    criterion: Criterion,
    asked: Resampling,
    *,
    proposed: Mapping[int, Proposals],
    seen: set[tuple[int, int, int]],
    first: Mapping[_Key, str] | None,
) -> Iterator[Figure]:
    """The shares of one criterion, of all items and of each group."""
    given = study.labels(criterion.name, "each")
    column = next(column for column in study.found.criteria if column.criterion.name == criterion.name)
    step = _steps(study.protocol)[criterion.name]
    places: list[int] = []
    rows: list[tuple[float, float, float]] = []
    people = zip(given.item.tolist(), column.raters, given.about, given.values, strict=True)
    for place, (item, person, target, value) in enumerate(people):
        study_item = int(study.items.study_item[item])
        offered = suggestion(criterion, target, proposed[study_item])
        own = None if first is None else first.get((study_item, person, criterion.name, target))
        if offered is None or (study_item, person, step) not in seen or (first is not None and own is None):
            continue
        places.append(place)
        is_it = written(value) == written(offered)
        rows.append((float(is_it), float(own == written(offered)), float(own != written(value))))
    kept = given.chosen(np.array(places, dtype=np.int64))
    followed, agreed, changed = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    whole: list[tuple[str, CriterionLabels, FloatArray]] = [("suggestion_followed", kept, followed)]
    if first is not None:
        others = np.flatnonzero(agreed == 0)
        whole = [
            ("agreed_before_suggestion", kept, agreed),
            ("changed_after_suggestion", kept, changed),
            ("changed_to_suggestion", kept.chosen(others), followed[others]),
            *whole,
        ]
    groups: list[tuple[Grouping | None, str | None]] = [(None, None)]
    groups += [(by, name) for by in GROUPINGS for name in study.groups(by)]
    for by, group in groups:
        for name, part, hits in whole:
            mine = np.arange(part.n)
            if by is not None and group is not None:
                mine = np.flatnonzero(np.isin(part.item, study.places_of(by, group)))
            found = share_of(study, part.chosen(mine), hits[mine], asked, name=name, group=group, by=by)
            why = _ALL_AGREED if name == "changed_to_suggestion" and kept.n else _WHY_NONE
            yield found if len(mine) else found.undefined(why)


def _table(study: StudyLabels, figures: Sequence[Figure], by: Grouping | None) -> TextTable | None:
    """A row a share, criterion by criterion."""
    titles = {criterion.name: criterion.title for criterion in study.protocol.criteria}
    lines: list[list[Any]] = []
    for figure in figures:
        if figure.by == by:
            line = [titles[figure.criterion or ""], NAMES[figure.name], cell(figure), f"{figure.n:,}"]
            lines.append([figure.group or "", *line] if by else line)
    if not lines:
        return None
    columns = ["Criterion", "Share", WHOSE["each"], "n"]
    caption = "Labels and suggestions" + (f" by {by}" if by else "")
    return TextTable.of(caption, [by.capitalize(), *columns] if by else columns, lines)
