"""Suggestions: what people did with the labels that models proposed, in studies that show them before or after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import select as sql_select
from sqlmodel import col, select

from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray, IntArray, ratio
from annotators.criteria import Criterion
from annotators.criteria.base import written
from annotators.criteria.suggested import Proposals, suggested_by, suggestion
from annotators.intervals.bootstrap import Resampling
from annotators.items.targets import TargetKind, target_kind
from annotators.protocols import Material, Protocol
from db.annotating.presentations import load_materials, sources_of, suggests_at
from db.items.proposed import ItemOrPair
from db.models import Annotation, AnnotationKind, Assignment, StoredLabel, Study, StudyItem, Submission
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
    "agreed_unseen": "Label of people who did not see it is the one suggested",
    "suggestion_anchoring": "Drawn to the suggestion by seeing it",
}
_OF_BOTH = ("agreed_unseen", "suggestion_anchoring")
_LONE = (
    "Nobody has labelled these items by this protocol without seeing what is suggested, so that what seeing it does is "
    "not measured: an arm of the study without suggestions would tell."
)
_NOBODY_BESIDES = "nobody has labelled these items by this protocol without seeing what is suggested"
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

    Where suggestions come before, `agreed_unseen` is the same share of labels that people gave the same units by the
    same protocol in other studies of the project (arms, say) without having seen it. `suggestion_anchoring` is how
    much larger the share is once the suggestion is seen (-1 to 1): of the same labels before and after, or of the
    units that both sorts of people labelled. Its interval is a bootstrap over items or questions.
    """

    name = "suggestions"
    order = 90
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Every protocol: a judge may propose labels of any."""
        return True

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A table of the criteria, in all and by system and category; nothing where the study shows no suggestions."""
        when = labels.study.settings.get("suggestions", "never")
        if when == "never":
            return Findings()
        steps = _steps(labels)
        proposed, seen = _proposals(labels), _seen(labels, steps)
        first = _own(labels, set(steps)) if when == "after" else None
        unseen = _unseen(labels, set(steps)) if when == "before" else {}
        figures: list[Figure] = []
        for criterion in labels.protocol.criteria:
            if criterion.name in steps:
                said = _said(labels, criterion, steps[criterion.name], proposed=proposed, seen=seen, first=first)
                beside = _beside(labels, criterion, unseen.get(criterion.name, []), proposed)
                figures += _figures(labels, said, beside, asked)
        lone = when == "before" and not any(one.n for one in figures if one.name == "agreed_unseen")
        shown = [one for one in figures if not (lone and one.name in _OF_BOTH)]
        tables = [table for by in (None, *GROUPINGS) if (table := _table(labels, shown, by)) is not None]
        words = {
            "before": "Annotators saw the suggestions before they labelled: people tend to follow what they see.",
            "after": "Annotators labelled by themselves, then saw what is suggested and could change their labels.",
        }
        judge = labels.study.settings.get("suggested_judge")
        whose = f" They are the labels of {judge['name']}." if judge else ""
        told = [words[when] + whose, *([_LONE] if lone else [])]
        return Findings(figures, [Section("What people did with suggestions", tables, words=told)])


REPORTS.register(Suggestions())


def _steps(labels: StudyLabels) -> dict[str, int]:
    """Criterion → its step, of those whose labels are suggested where they are asked."""
    protocol, judge = labels.protocol, "suggested_judge" in labels.study.settings
    return {
        criterion.name: step
        for step in range(len(protocol.steps))
        if suggests_at(labels.study, protocol, step)
        for criterion in protocol.step_criteria(step)
        if judge or suggested_by(criterion)
    }


def _proposals(labels: StudyLabels) -> dict[int, Proposals]:
    """Study item → what models say of it."""
    found: dict[int, Proposals] = {}
    ids = labels.items.study_item.tolist()
    with labels.db.read() as session:
        for start in range(0, len(ids), _AT_ONCE):
            block = ids[start : start + _AT_ONCE]
            loaded = load_materials(session, block, set(), suggested=sources_of(labels.study))
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


def _unseen(labels: StudyLabels, criteria: set[str]) -> dict[str, list[tuple[int, str, Any]]]:
    """Criterion → (study item here, target, label) of what people said elsewhere of the same, without suggestions.

    A pair whose items are the other way round there is the same, and what was said of the two as seen from here.
    """
    here = _places(labels)
    rows = (
        sql_select(
            col(StudyItem.item_version_id),
            col(StudyItem.other_version_id),
            col(StoredLabel.criterion),
            col(StoredLabel.target),
            col(StoredLabel.value),
            col(Submission.shown),
        )
        .join(Annotation, col(Annotation.study_item_id) == StudyItem.id)
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == Annotation.assignment_id)
            & (col(StoredLabel.sitting) == Annotation.sitting),
        )
        .join(Submission, col(Submission.id) == StoredLabel.submission_id)
        .join(Study, col(Study.id) == StudyItem.study_id)
        .where(
            col(Study.project_id) == labels.study.project_id,
            col(Study.protocol_hash) == labels.study.protocol_hash,
            col(Study.id) != labels.study_id,
            col(Annotation.kind) == AnnotationKind.REGULAR.value,
            col(Annotation.sitting) == 1,
            col(StoredLabel.criterion).in_(criteria),
            col(StoredLabel.cannot_judge).is_(False),
        )
        .order_by(col(StoredLabel.id))
    )
    found: dict[str, list[tuple[int, str, Any]]] = {}
    with labels.db.read() as session:
        for first, second, criterion, target, value, shown in session.execute(rows):
            if Material.SUGGESTIONS in shown:
                continue
            if (first, second) in here:
                found.setdefault(criterion, []).append((here[first, second], target, value))
            elif second is not None and (second, first) in here and target_kind(target) == TargetKind.PAIR:
                turned = labels.protocol.criterion(criterion).turned(value)
                found.setdefault(criterion, []).append((here[second, first], target, turned))
    return found


def _places(labels: StudyLabels) -> dict[ItemOrPair, int]:
    """The item version, or those of a pair, of each item of the study → the study item."""
    among = set(labels.items.study_item.tolist())
    with labels.db.read() as session:
        rows = session.execute(
            sql_select(col(StudyItem.item_version_id), col(StudyItem.other_version_id), col(StudyItem.id)).where(
                col(StudyItem.study_id) == labels.study_id
            )
        )
        return {(first, second): of for first, second, of in rows if of in among}


@dataclass(frozen=True, eq=False)
class _Said:
    """Labels for which something is suggested (n): whether each is that, and what it was before (own labels first)."""

    labels: CriterionLabels
    followed: FloatArray
    agreed: FloatArray | None = None
    changed: FloatArray | None = None


def _said(
    study: StudyLabels,
    criterion: Criterion,
    step: int,
    *,
    proposed: Mapping[int, Proposals],
    seen: set[tuple[int, int, int]],
    first: Mapping[_Key, str] | None,
) -> _Said:
    """The labels of people who saw what is suggested."""
    given = study.labels(criterion.name, "each")
    column = next(column for column in study.found.criteria if column.criterion.name == criterion.name)
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
    followed, agreed, changed = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    kept = given.chosen(np.array(places, dtype=np.int64))
    return _Said(kept, followed) if first is None else _Said(kept, followed, agreed, changed)


def _beside(
    study: StudyLabels,
    criterion: Criterion,
    unseen: Sequence[tuple[int, str, Any]],
    proposed: Mapping[int, Proposals],
) -> _Said:
    """The labels of people who did not see it."""
    offered = [suggestion(criterion, target, proposed[item]) for item, target, _ in unseen]
    kept = [(*row, other) for row, other in zip(unseen, offered, strict=True) if other is not None]
    targets = list(dict.fromkeys(target for _, target, _, _ in kept))
    place = {target: number for number, target in enumerate(targets)}
    labels = CriterionLabels(
        criterion,
        "each",
        [value for *_, value, _ in kept],
        np.arange(len(kept), dtype=np.int64),
        targets,
        np.array([place[target] for _, target, _, _ in kept], dtype=np.int64),
        np.searchsorted(study.items.study_item, np.array([item for item, *_ in kept], dtype=np.int64)),
    )
    hits = np.array([float(written(value) == written(other)) for *_, value, other in kept], dtype=np.float64)
    return _Said(labels, hits)


_Shares = list[tuple[str, CriterionLabels, FloatArray]]


def _figures(study: StudyLabels, said: _Said, beside: _Said, asked: Resampling) -> Iterator[Figure]:
    """The figures of one criterion, of all items and of each group."""
    whole: _Shares = [("suggestion_followed", said.labels, said.followed)]
    if said.agreed is not None and said.changed is not None:
        others = np.flatnonzero(said.agreed == 0)
        whole = [
            ("agreed_before_suggestion", said.labels, said.agreed),
            ("changed_after_suggestion", said.labels, said.changed),
            ("changed_to_suggestion", said.labels.chosen(others), said.followed[others]),
            *whole,
        ]
    else:
        whole.append(("agreed_unseen", beside.labels, beside.followed))
    reasons = {"agreed_unseen": _NOBODY_BESIDES, "changed_to_suggestion": _ALL_AGREED if said.labels.n else _WHY_NONE}
    groups: list[tuple[Grouping | None, str | None]] = [(None, None)]
    groups += [(by, name) for by in GROUPINGS for name in study.groups(by)]
    for by, group in groups:
        for name, part, hits in whole:
            mine = _of_group(study, part, by, group)
            found = share_of(study, part.chosen(mine), hits[mine], asked, name=name, group=group, by=by)
            yield found if len(mine) else found.undefined(reasons.get(name, _WHY_NONE))
        yield _anchoring(study, said, beside, asked, (by, group))


def _of_group(study: StudyLabels, part: CriterionLabels, by: Grouping | None, group: str | None) -> IntArray:
    """The places of the labels of items of a group; all of them without one."""
    if by is None or group is None:
        return np.arange(part.n)
    return np.flatnonzero(np.isin(part.item, study.places_of(by, group)))


def _anchoring(
    study: StudyLabels, said: _Said, beside: _Said, asked: Resampling, of: tuple[Grouping | None, str | None]
) -> Figure:
    """How much more often labels are the one suggested where it was seen, on the same units."""
    by, group = of
    mine = _of_group(study, said.labels, by, group)
    seen, hits = said.labels.chosen(mine), said.followed[mine]
    if said.agreed is not None:
        unseen, other = seen, said.agreed[mine]
    else:
        theirs = _of_group(study, beside.labels, by, group)
        unseen, other = beside.labels.chosen(theirs), beside.followed[theirs]
        both = set(_units(seen)) & set(_units(unseen))
        first, second = (np.array([unit in both for unit in _units(part)], dtype=bool) for part in (seen, unseen))
        seen, hits = seen.chosen(np.flatnonzero(first)), hits[first]
        unseen, other = unseen.chosen(np.flatnonzero(second)), other[second]
    about = Figure(
        name="suggestion_anchoring", n=seen.n, criterion=said.labels.criterion.name, group=group, by=by, labels="each",
        is_share=False,
    )  # fmt: skip
    if not seen.n:
        return about.undefined(_WHY_NONE if said.agreed is not None or not len(mine) else _NOBODY_BESIDES)
    clusters = np.r_[study.cluster[seen.item], study.cluster[unseen.item]]
    clusters = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    was_seen = np.r_[np.ones(seen.n), np.zeros(unseen.n)]
    sample = DrawnRows.of([np.r_[hits, other], was_seen], clusters)
    hit, saw = (np.ascontiguousarray(column) for column in sample.columns.T)

    def apart(weights: FloatArray) -> FloatArray:
        of_seen, of_unseen = saw @ weights, (1 - saw) @ weights
        share = ratio((hit * saw) @ weights, of_seen, cut=False)
        return share - ratio((hit * (1 - saw)) @ weights, of_unseen, cut=False)

    found = sample.resampled(apart, replace(asked, over=study.over))
    return about.measured(float(found.values[0]), [found.interval(0, asked.level, asked.kind)])


def _units(labels: CriterionLabels) -> list[tuple[int, str]]:
    return list(zip(labels.item.tolist(), labels.about, strict=True))


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
