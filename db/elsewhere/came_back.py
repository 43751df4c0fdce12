"""What was labelled in another program, as imported annotations: the same ones twice are stored once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from annotators.asking.submissions import GivenLabel
from annotators.criteria.base import written
from annotators.errors import InvalidInput
from annotators.items.pairs import BETWEEN
from annotators.items.parsed import ForeignLabel, Rejected
from db.elsewhere.known import Whose, remember, skipped_by, taken_in
from db.elsewhere.label_checks import StudyParts
from db.elsewhere.labels import (
    ALL_COUNT,
    Earlier,
    LabelImport,
    NotCounted,
    Standing,
    add_labels,
    checked_labels,
    misfits,
    people_named,
    rejections,
)
from db.engine import Database
from db.items.current import withdrawn_batches
from db.models import (
    IMPORTED,
    Account,
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    Batch,
    StoredLabel,
    Study,
    StudyState,
    now,
)
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.query import fresh_ids
from db.studies.design import protocol_of
from db.studies.items import items_of_study
from db.studies.tallies import Tallies

_AT_ONCE = 500
_NAMED = 20
_REMEDY = "Mend them there, or take in the others with --skip-bad."

HANDED_OVER = "label_studio"
"""The format of an import whose labels were given where this study had been handed over: it fixed what was shown."""


@dataclass(frozen=True)
class AnnotationElsewhere:
    """What one annotator did with one item there: the labels by the item's own keys, or that it was skipped.

    `line` says which annotation of the source it is, and `task` of which task; `seconds` is the time it took; `marks`
    is what it is known as there, of each part of it.
    """

    study_item_id: int
    annotator: str
    line: int
    labels: Sequence[GivenLabel] = ()
    skipped: bool = False
    at: datetime | None = None
    seconds: float | None = None
    marks: Sequence[str] = ()
    task: str = "?"


@dataclass(frozen=True)
class Unfit:
    """An annotation that does not fit: its task and its number there, whose it is (None: it does not say), and why."""

    task: str
    line: int | str
    annotator: str | None
    reason: str

    def __str__(self) -> str:
        by = "" if self.annotator is None else f" by {self.annotator!r}"
        return f"task {self.task}, annotation {self.line}{by}: {self.reason}"

    def to_json(self, source: str) -> dict[str, Any]:
        """As `assay labels import --json` prints a row that does not fit, with task and annotator."""
        about = {"file": source, "line": self.line, "task": self.task}
        return {**about, "annotator": self.annotator, "reason": self.reason}


def refusal(source: str, unfit: Sequence[Unfit]) -> InvalidInput:
    """That nothing was taken in because of these, of which the first are named."""
    more = [f"… and {len(unfit) - _NAMED:,} more"] if len(unfit) > _NAMED else []
    return InvalidInput("\n".join([f"{source}: nothing was taken in.", *map(str, unfit[:_NAMED]), *more, _REMEDY]))


@dataclass
class CameBack:
    """What came of them: annotations that are new, that take the place of earlier ones, that were there, and skips.
    A skip that is somebody else's now has changed.

    `not_counted` are among those that are new or changed. `left` says, a sentence each, of which annotations nothing
    was stored, and why; `problems` has those that do not fit, where these are skipped. `gone` has item and annotator of
    those that came before, still count, and are not there any more, or not all of it; `waiting` counts those that are
    begun there, and come when they are finished.
    """

    source: str
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    skipped: int = 0
    stored: LabelImport | None = None
    not_counted: NotCounted = ALL_COUNT
    new_people: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    problems: list[Unfit] = field(default_factory=list)
    gone: list[tuple[str, str]] = field(default_factory=list)
    waiting: int = 0

    def to_json(self) -> dict[str, Any]:
        """As `assay labels import --json` prints it, with what is said only of annotations from elsewhere."""
        stored = self.stored or LabelImport(0, 0, 0, [])
        return {
            **stored.to_json(),
            "batch": stored.batch or None,
            "new": self.new,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "skipped": self.skipped,
            "not_counted": self.not_counted.to_json(),
            "new_people": self.new_people,
            "left": self.left,
            "problems": [one.to_json(self.source) for one in self.problems],
            "gone": [{"item": item, "annotator": annotator} for item, annotator in self.gone],
        }


@operation(On.STUDY, RESEARCHERS)
def take_back(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    annotations: Sequence[AnnotationElsewhere],
    source: str,
    dry_run: bool = False,
    skip_bad: bool = False,
    seen: Collection[Whose] | None = None,
    unfinished: Collection[Whose] = (),
) -> CameBack:
    """Store annotations from another program in the study, all or none; with `dry_run` only say what that would do.

    With `skip_bad` those that fit, and the others are among the problems: what came in of these before stands.

    `seen`: whose annotations there are in that program at all, with those that are left, or are `unfinished`: of which
    a part is there, and another has yet to be given, or is not there any more.
    One that is there with the same labels adds nothing. One whose labels changed there supersedes the earlier one,
    which stays; one that is older than the labels that it would take the place of is left, as is one by somebody who
    has labelled the item here. A skip ends where labels come in its place, and where it comes again as somebody else's.
    In a study that is closed new ones are surplus, and nothing is corrected; where it is started again, they count when
    they come again. What comes of somebody who is left out is left out. Annotators without an account become people
    without a login. Raises InvalidInput naming every annotation that does not fit the protocol or the item.
    """
    with db.read() as session:
        named = {of: name for name, of in items_of_study(session, study_id).items()}
        rows = _rows(annotations, named)
        problems = [
            Rejected(source, one.line, "its item is not in the study")
            for one in annotations
            if one.study_item_id not in named
        ]
        if problems:
            raise InvalidInput(rejections(problems))
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        parts = StudyParts.of(session, study_id, protocol, rows)
        items = {name: of for of, name in named.items()}

        def unfit_rows(rows: Sequence[ForeignLabel]) -> list[Rejected]:
            return misfits(protocol, rows=rows, items=items, source=source, parts=parts)

        unfit: list[Unfit] = []
        if unfit_rows(rows):
            annotations, unfit = _fitting(annotations, named, unfit_rows)
            if not skip_bad:
                raise refusal(source, unfit)
        if dry_run:
            known = _known(session, (one.annotator for one in annotations))
            standing = Standing(session, study)
            found, fresh, *_, ends = _sorted(session, study, annotations, known, source, named=named)
            found.gone, found.waiting = _missing(session, study_id, seen, unfinished, named=named, ends=ends)
            found.not_counted = standing.not_counted((known.get(one.annotator), one.at) for one in fresh)
            found.problems = unfit
            return found
    with db.write() as session:
        study = session.get_one(Study, study_id)
        before = _known(session, (one.annotator for one in annotations))
        people = people_named(session, (one.annotator for one in annotations))
        found, fresh, earlier, skips, there, ends = _sorted(session, study, annotations, people, source, named=named)
        found.gone, found.waiting = _missing(session, study_id, seen, unfinished, named=named, ends=ends)
        found.problems = unfit
        found.new_people = sorted(set(people) - set(before))
        if fresh:
            rows = _rows(fresh, named)
            checked = checked_labels(protocol, rows=rows, items=items, source=source, parts=parts)
            found.stored = add_labels(
                session, actor, study, checked=checked, source=source, earlier=earlier, batch_format=HANDED_OVER
            )
            found.not_counted = found.stored.not_counted
        if skips or ends:
            _change_skips(session, actor, study, skips, people, ends=ends)
        there += [(one, found.stored.batch if found.stored else None) for one in fresh]
        there += [(one, None) for one in skips]
        whose = ((one.marks, Whose(one.study_item_id, one.annotator), batch) for one, batch in there)
        remember(session, study_id, whose, people)
        return found


def _fitting(
    annotations: Iterable[AnnotationElsewhere],
    named: Mapping[int, str],
    unfit_rows: Callable[[Sequence[ForeignLabel]], Sequence[Rejected]],
) -> tuple[list[AnnotationElsewhere], list[Unfit]]:
    """The annotations all of whose labels fit, and the others with what is wrong."""
    fitting, unfit = [], []
    for one in annotations:
        reasons = [problem.reason for problem in unfit_rows(_rows([one], named))]
        if reasons:
            unfit.append(Unfit(one.task, one.line, one.annotator, " ".join(reasons)))
        else:
            fitting.append(one)
    return fitting, unfit


def _missing(
    session: Session,
    study_id: int,
    seen: Collection[Whose] | None,
    unfinished: Collection[Whose],
    *,
    named: Mapping[int, str],
    ends: Collection[_Key],
) -> tuple[list[tuple[str, str]], int]:
    """Item and annotator of each annotation that was taken in, counts, and is not whole among those there; and how many
    have yet to be finished.

    Labels that count here were finished once. A skip is not: who goes on to label the item has yet to finish it.
    `ends`: whose skips count no more.
    """
    if seen is None:
        return [], len(unfinished)
    missing = sorted(set(taken_in(session, study_id)) - (set(seen) - set(unfinished)))
    people = _known(session, (one.annotator for one in missing))
    there, skipped, _ = _standing(session, study_id, {one.study_item_id for one in missing})
    labelled, skips = {key for key, one in there.items() if one.from_elsewhere}, skipped.keys() - set(ends)
    gone = []
    for one in missing:
        key = (one.study_item_id, people[one.annotator])
        if one.study_item_id in named and (key in labelled or (key in skips and one not in unfinished)):
            gone.append(one)
    return [(named[one.study_item_id], one.annotator) for one in gone], len(set(unfinished) - set(gone))


def _rows(annotations: Iterable[AnnotationElsewhere], named: Mapping[int, str]) -> list[ForeignLabel]:
    rows = []
    for one in annotations:
        item, _, other = named.get(one.study_item_id, "").partition(BETWEEN)
        rows += [
            ForeignLabel(
                one.line,
                item,
                one.annotator,
                label.criterion,
                label.target,
                written(label.value),
                one.at,
                label.comment,
                other or None,
                seconds=one.seconds,
                rationale=label.rationale,
            )
            for label in one.labels
        ]
    return rows


def _known(session: Session, names: Iterable[str]) -> dict[str, int]:
    query = select(Account.name, Account.person_id).where(col(Account.name).in_(sorted(set(names))))
    return dict(session.execute(query).all())


_Key = tuple[int, int]
"""Study item and person."""


@dataclass(frozen=True)
class _There:
    """An annotation that stands; `at` is None where nobody knows when its labels were given."""

    annotation: int
    assignment: int
    sitting: int
    surplus: bool
    batch: int | None
    from_elsewhere: bool
    at: datetime | None


class _Sorted(NamedTuple):
    """What came back, and of it: to store, with which earlier ones that takes the place of; skips; what is there.

    What is there has the batch that it came with, where it came with one. `ends` has the skips that end.
    """

    found: CameBack
    fresh: list[AnnotationElsewhere]
    earlier: dict[_Key, Earlier]
    skips: list[AnnotationElsewhere]
    there: list[tuple[AnnotationElsewhere, int | None]]
    ends: dict[_Key, Assignment]


def _sorted(
    session: Session,
    study: Study,
    annotations: Sequence[AnnotationElsewhere],
    people: Mapping[str, int],
    source: str,
    *,
    named: Mapping[int, str],
) -> _Sorted:
    found = CameBack(source, new_people=sorted({one.annotator for one in annotations} - set(people)))
    assert study.id is not None
    is_closed = study.state == StudyState.CLOSED
    there, skipped, ended = _standing(session, study.id, {one.study_item_id for one in annotations})
    said = _labels_of(session, [one for one in there.values() if one.from_elsewhere])
    skippers = skipped_by(session, study.id)
    fresh, skips, earlier = [], [], {}
    known: list[tuple[AnnotationElsewhere, int | None]] = []
    ends, stay = set[_Key](), set[_Key]()
    for one in annotations:
        key = (one.study_item_id, people.get(one.annotator, 0))
        standing = there.get(key)
        # The skips that this annotation was: who made it may have had another name then.
        was = {key, *((one.study_item_id, skippers[mark]) for mark in one.marks if mark in skippers)} & skipped.keys()
        # What came while the study was closed counts now that it goes on.
        late = standing is not None and standing.surplus and not is_closed
        same = standing is not None and not late and said.get(standing.annotation) == _as_stored(one)
        if why := _why_left(one, named.get(one.study_item_id, ""), standing, same=same, is_closed=is_closed):
            found.left.append(why)
            continue
        if one.skipped:
            if key in skipped:
                stay.add(key)
                found.unchanged += 1
                known.append((one, None))
            else:
                skips.append(one)
                found.changed += bool(was)
                found.skipped += not was
        elif standing is None:
            fresh.append(one)
            found.new += 1
            if key in ended:  # what took the place of earlier labels was withdrawn, and they do not come back by that
                earlier[key] = ended[key]
        elif same:
            found.unchanged += 1
            known.append((one, standing.batch))
        else:
            fresh.append(one)
            found.new += late
            found.changed += not late
            earlier[key] = Earlier(standing.assignment, standing.sitting, standing.annotation)
        ends |= was
    return _Sorted(found, fresh, earlier, skips, known, {key: skipped[key] for key in ends - stay})


def _why_left(
    one: AnnotationElsewhere, item: str, standing: _There | None, *, same: bool, is_closed: bool
) -> str | None:
    """Why nothing is stored of an annotation, beside what stands of the same person; None where something is."""
    if not one.skipped and not one.labels:
        return f"Annotation {one.line} by {one.annotator!r} has no labels."
    if standing is None or (same and not one.skipped):
        return None
    begins = f"Annotation {one.line}: {one.annotator!r}"
    if one.skipped:
        return f"{begins} skips {item!r} there, and has labels of it here, which count as before."
    if not standing.from_elsewhere:
        return f"{begins} has labels of this item here already, which stand."
    if one.at is not None and standing.at is not None and one.at < standing.at:
        return (
            f"{begins} gave these labels of {item!r} before those that stand here, which came in from a later state of "
            "the project."
        )
    if is_closed:
        return (
            f"{begins} changed their labels of {item!r} there. The study is closed, so that those that came before "
            "stay as they are."
        )
    return None


def _standing(
    session: Session, study_id: int, of_items: Iterable[int]
) -> tuple[dict[_Key, _There], dict[_Key, Assignment], dict[_Key, Earlier]]:
    """The annotation that stands; the skip that came in; and the last annotation of those who have had some that stand
    no more, since what took their place was withdrawn.
    """
    items = sorted(of_items)
    newer = aliased(Annotation)
    there: dict[_Key, _There] = {}
    skipped: dict[_Key, Assignment] = {}
    ended: dict[_Key, Earlier] = {}
    for start in range(0, len(items), _AT_ONCE):
        ids = items[start : start + _AT_ONCE]
        rows = session.execute(
            select(Annotation, Batch.format, Batch.created_at)
            .outerjoin(Batch, col(Batch.id) == Annotation.batch_id)
            .where(
                Annotation.study_id == study_id,
                col(Annotation.study_item_id).in_(ids),
                col(Annotation.batch_id).is_(None) | col(Annotation.batch_id).not_in(withdrawn_batches()),
                ~select(newer.id).where(newer.supersedes_id == Annotation.id).exists(),
            )
        )
        for row, batch_format, imported_at in rows:
            there[row.study_item_id, row.person_id] = _There(
                row.id,
                row.assignment_id,
                row.sitting,
                row.kind == AnnotationKind.SURPLUS,
                row.batch_id,
                batch_format == HANDED_OVER,
                None if row.created_at == imported_at else row.created_at,
            )
        last = select(Annotation).where(
            Annotation.study_id == study_id,
            col(Annotation.study_item_id).in_(ids),
            col(Annotation.supersedes_id).is_not(None),
            col(Annotation.batch_id).in_(withdrawn_batches()),
            ~select(newer.id).where(newer.supersedes_id == Annotation.id).exists(),
        )
        for row in session.scalars(last):
            assert row.id is not None
            ended[row.study_item_id, row.person_id] = Earlier(row.assignment_id, row.sitting, row.id, stands=False)
        query = select(Assignment).where(
            Assignment.study_id == study_id,
            col(Assignment.study_item_id).in_(ids),
            Assignment.state == AssignmentState.SKIPPED.value,
            Assignment.kind == IMPORTED,
        )
        skipped |= {(one.study_item_id, one.person_id): one for one in session.scalars(query) if one.person_id}
    return there, skipped, ended


_Stored = dict[tuple[str, str], tuple[Any, Any]]
"""Criterion and target → value and rationale."""


def _labels_of(session: Session, annotations: Sequence[_There]) -> dict[int, _Stored]:
    by_place = {(one.assignment, one.sitting): one.annotation for one in annotations}
    ids = sorted({one.assignment for one in annotations})
    found: dict[int, _Stored] = defaultdict(dict)
    for start in range(0, len(ids), _AT_ONCE):
        query = select(StoredLabel).where(col(StoredLabel.assignment_id).in_(ids[start : start + _AT_ONCE]))
        for label in session.scalars(query):
            annotation = by_place.get((label.assignment_id, label.sitting))
            if annotation is not None:
                found[annotation][label.criterion, label.target] = label.value, label.rationale
    return found


def _as_stored(one: AnnotationElsewhere) -> _Stored:
    return {(label.criterion, label.target): (label.value, label.rationale) for label in one.labels}


def _change_skips(
    session: Session,
    actor: Actor,
    study: Study,
    skips: Sequence[AnnotationElsewhere],
    people: Mapping[str, int],
    *,
    ends: Mapping[_Key, Assignment],
) -> None:
    """Add skips, and take away those that are labels now, or somebody else's."""
    assert study.id is not None
    counts = Tallies(study.id)
    for (_, person_id), skip in ends.items():
        session.delete(skip)
        counts.move(AssignmentState.SKIPPED, None, person_id)
    for identifier, one in zip(fresh_ids(session, "assignment", len(skips)), skips, strict=True):
        person_id = people[one.annotator]
        session.add(
            Assignment(
                id=identifier,
                study_id=study.id,
                study_item_id=one.study_item_id,
                person_id=person_id,
                kind=IMPORTED,
                state=AssignmentState.SKIPPED,
                queue=0,
                reason="skipped in Label Studio",
                ended_at=one.at or now(),
            )
        )
        counts.move(None, AssignmentState.SKIPPED, person_id)
    session.flush()
    counts.write(session.connection())
    details = {"skips": len(skips), "ended": len(ends), "from": "Label Studio"}
    record(session, actor, "skips imported", "study", study.id, project_id=study.project_id, details=details)
