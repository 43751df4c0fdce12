"""Labels that were made elsewhere: stored as annotations of kind `imported`, all or none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, select

from annotators.asking.settling import ItemLabels
from annotators.asking.submissions import check_kept, checked_rationale, stored_text
from annotators.errors import AssayError, InvalidInput
from annotators.figures import count
from annotators.items.checks import check_seen
from annotators.items.pairs import BETWEEN, in_words, pair_name, turned_round
from annotators.items.parsed import ForeignLabel, Rejected
from annotators.items.targets import WRITTEN, TargetKind, target_kind
from annotators.protocols import Protocol
from db.allotting.ledger import end_leases_of
from db.allotting.settling import settle_batch, update_settlements
from db.elsewhere.label_checks import StudyParts
from db.engine import Database, dumps, insert_many
from db.items.current import withdrawn_batches
from db.models import (
    IMPORTED,
    Account,
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    Batch,
    Person,
    StoredLabel,
    Study,
    StudyMember,
    StudyState,
    now,
)
from db.people.pseudonyms import called_in_exports
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.query import fresh_ids, is_sqlite, pick
from db.studies.design import protocol_of
from db.studies.items import items_of_study
from db.studies.settlements import parsed_value
from db.studies.tallies import Tallies

NOTHING_KNOWN = StudyParts()
"""Of a study that is still to be made."""

_SHOWN = 20
_REMEMBERED = 10_000


@dataclass(frozen=True)
class NotCounted:
    """Annotations that come in and do not count: `surplus` in a study that is closed, or `left_out` with their
    annotators.
    """

    surplus: int = 0
    left_out: int = 0

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it of what comes in."""
        return {"surplus": self.surplus, "left_out": self.left_out}

    def notes(self) -> list[str]:
        """A sentence for each reason."""
        found = []
        if self.surplus:
            found.append(
                f"{count(self.surplus, 'annotation is', 'annotations are')} surplus, as the study is closed: kept, and "
                "not counted."
            )
        if self.left_out:
            found.append(
                f"{count(self.left_out, 'annotation is', 'annotations are')} left out, as what these annotators have "
                "given since some moment is: kept, and not counted until it is restored."
            )
        return found


ALL_COUNT = NotCounted()


@dataclass(frozen=True)
class LabelImport:
    """What an import of labels added; `not_counted` are among its annotations."""

    batch: int
    labels: int
    annotations: int
    annotators: list[str]
    not_counted: NotCounted = ALL_COUNT

    def to_json(self) -> dict[str, Any]:
        """As `assay labels import --json` prints it."""
        return {
            "batch": self.batch,
            "labels": self.labels,
            "annotations": self.annotations,
            "annotators": self.annotators,
            "not_counted": self.not_counted.to_json(),
        }


class Standing:
    """How annotations that come into a study count, by who gave them when: as what is submitted here would.

    In a closed study they are surplus. Those of somebody who is left out are left out from the same moment on.
    """

    def __init__(self, session: Session, study: Study, *, locked: Collection[int] = ()) -> None:
        """`locked`: people whose places are locked first, so that a decision stands before what comes in or after."""
        if locked:
            places = select(StudyMember).where(StudyMember.study_id == study.id, col(StudyMember.person_id).in_(locked))
            session.execute(places.order_by(col(StudyMember.person_id)).with_for_update())
            session.refresh(study)
        self.closed = study.state == StudyState.CLOSED
        query = select(StudyMember.person_id, StudyMember.left_out_from).where(
            StudyMember.study_id == study.id, col(StudyMember.left_out_from).is_not(None)
        )
        self._left_out: dict[int, datetime] = dict(session.execute(query).all())
        self._moment = now()

    @property
    def all_count(self) -> bool:
        """Whether there is nothing that would not count."""
        return not self.closed and not self._left_out

    @property
    def counted(self) -> AssignmentState:
        """The state of what nobody is left out of."""
        return AssignmentState.SURPLUS if self.closed else AssignmentState.SUBMITTED

    def state(self, person_id: int | None, at: datetime | None) -> AssignmentState:
        """The state of what somebody gave then; what has no time is given now."""
        since = self._left_out.get(person_id or 0)
        return AssignmentState.LEFT_OUT if since and (at or self._moment) >= since else self.counted

    def not_counted(self, given: Iterable[tuple[int | None, datetime | None]]) -> NotCounted:
        """How many of these (by whom, when) would not count."""
        if self.all_count:
            return ALL_COUNT
        states = Counter(self.state(*one) for one in given)
        return NotCounted(states[AssignmentState.SURPLUS], states[AssignmentState.LEFT_OUT])


@dataclass(frozen=True)
class LabelPlan:
    """What an import of labels would store, counted as `LabelImport` counts it; nothing while there are `problems`.

    `matched` and `unmatched` are the external ids that the rows name, in their order; `new_people` those annotators who
    would become people without a login.
    """

    labels: int
    annotations: int
    annotators: list[str]
    new_people: list[str]
    matched: list[str]
    unmatched: list[str]
    problems: list[Rejected]
    not_counted: NotCounted = ALL_COUNT

    def to_json(self) -> dict[str, Any]:
        """As `assay labels import --dry-run --json` prints it."""
        return {
            "batch": None,
            "labels": self.labels,
            "annotations": self.annotations,
            "annotators": self.annotators,
            "not_counted": self.not_counted.to_json(),
            "new_people": self.new_people,
            "items_matched": len(self.matched),
            "items_unmatched": self.unmatched,
            "problems": [problem.to_json() for problem in self.problems],
        }


@operation(On.STUDY, RESEARCHERS)
def plan_labels(db: Database, _actor: Actor, study_id: int, *, rows: Sequence[ForeignLabel], source: str) -> LabelPlan:
    """What `import_labels` would do with these rows, and everything that stands against it. Nothing is written."""
    with db.read() as session:
        protocol, items = protocol_of(session.get_one(Study, study_id)), items_of_study(session, study_id)
        return planned(
            session,
            study_id,
            protocol,
            items,
            rows=rows,
            there=items.keys(),
            source=source,
        )


def planned(
    session: Session,
    study_id: int | None,
    protocol: Protocol,
    items: Mapping[str, int],
    *,
    rows: Sequence[ForeignLabel],
    there: Container[str],
    source: str,
    parts: StudyParts = NOTHING_KNOWN,
) -> LabelPlan:
    """The plan for rows about these items (external id → id), of which those in `there` are not new; reads only.

    `parts` is what is known of the items where there is no study yet.
    """
    named = list(dict.fromkeys(row.name for row in rows))

    def is_there(name: str, among: Container[str]) -> bool:
        return name in among or (BETWEEN in name and turned_round(name) in among)

    there_rows = [row for row in rows if is_there(row.name, items)]
    parts = parts if study_id is None else StudyParts.of(session, study_id, protocol, there_rows)
    grouped, problems = _grouped(there_rows, protocol, items, source, parts)
    annotators = sorted({annotator for _, annotator in grouped})
    known = dict(session.execute(_accounts(annotators)).all())
    not_counted = ALL_COUNT
    if study_id is not None:
        standing = Standing(session, session.get_one(Study, study_id))
        not_counted = standing.not_counted((known.get(name), _given_at(cells)) for (_, name), cells in grouped.items())
        problems += [Rejected(source, 1, reason) for reason in _repeats(session, study_id, grouped, known)]
    return LabelPlan(
        sum(map(len, grouped.values())),
        len(grouped),
        annotators,
        [annotator for annotator in annotators if annotator not in known],
        [in_words(name) for name in named if is_there(name, there)],
        [in_words(name) for name in named if not is_there(name, there)],
        problems,
        not_counted,
    )


@operation(On.STUDY, RESEARCHERS)
def import_labels(
    db: Database, actor: Actor, study_id: int, *, rows: Sequence[ForeignLabel], source: str
) -> LabelImport:
    """Store judgements that were made elsewhere as annotations of kind `imported`, all or none.

    Annotators that have no account become persons without a login. In a study that is closed they are surplus; those
    of somebody who is left out are left out as well (`Standing`). Raises InvalidInput naming file and line of every
    item that is not in the study, criterion, target or value that the protocol does not have, text that is too long or
    cannot be stored, and repeated cell; and every annotator whose labels of an item are there already, whether the file
    calls them by name or as exports of the study do (`db.people.pseudonyms`).
    """
    with db.read() as session:  # a study's items and protocol are frozen: what is checked now holds when it is written
        checked = checked_for_study(session, study_id, rows=rows, source=source)
    with db.write() as session:
        return add_labels(session, actor, session.get_one(Study, study_id), checked=checked, source=source)


def checked_for_study(session: Session, study_id: int, *, rows: Sequence[ForeignLabel], source: str) -> CheckedLabels:
    """The rows, each checked against a study that is there; InvalidInput as `import_labels`."""
    protocol, items = protocol_of(session.get_one(Study, study_id)), items_of_study(session, study_id)
    parts = StudyParts.of(session, study_id, protocol, rows)
    return checked_labels(protocol, rows=rows, items=items, source=source, parts=parts)


@dataclass(frozen=True)
class CheckedLabels:
    """Labels that fit a protocol, by (item's number, annotator), and how many there are."""

    grouped: _Grouped
    n: int

    def renumbered(self, numbers: Mapping[int, int]) -> CheckedLabels:
        """With other numbers for the items."""
        return CheckedLabels({(numbers[item], name): cells for (item, name), cells in self.grouped.items()}, self.n)


def checked_labels(
    protocol: Protocol,
    *,
    rows: Sequence[ForeignLabel],
    items: Mapping[str, int],
    source: str,
    parts: StudyParts = NOTHING_KNOWN,
) -> CheckedLabels:
    """The rows, each checked, about these items (external id → a number of theirs); InvalidInput as `import_labels`."""
    if not rows:
        raise InvalidInput(f"{source} has no labels. Give a table with the columns item, annotator, criterion, value.")
    grouped, problems = _grouped(rows, protocol, items, source, parts)
    if problems:
        raise InvalidInput(rejections(problems))
    return CheckedLabels(grouped, len(rows))


def misfits(
    protocol: Protocol, *, rows: Sequence[ForeignLabel], items: Mapping[str, int], source: str, parts: StudyParts
) -> list[Rejected]:
    """The rows that do not fit; arguments as `checked_labels` takes them."""
    return _grouped(rows, protocol, items, source, parts)[1]


class Earlier(NamedTuple):
    """An imported annotation that a later one takes the place of: its assignment, its sitting and its id.

    It may stand no more, and then counts no more: its batch was withdrawn.
    """

    assignment: int
    sitting: int
    annotation: int
    stands: bool = True


FROM_FILES = "labels"
"""The format of an import whose annotators are called as files call them, perhaps by pseudonyms of the study's own."""

NOTHING_BEFORE: Mapping[tuple[int, int], Earlier] = {}


def add_labels(
    session: Session,
    actor: Actor,
    study: Study,
    *,
    checked: CheckedLabels,
    source: str,
    earlier: Mapping[tuple[int, int], Earlier] = NOTHING_BEFORE,
    batch_format: str = FROM_FILES,
) -> LabelImport:
    """Store labels that are checked, by the ids of study items, in the caller's transaction.

    `earlier`: (study item, person) → the annotation that the one which comes now supersedes; any other that is there
    already is InvalidInput, also where the annotator is called as exports of the study call who gave it.
    """
    assert study.id is not None
    protocol, grouped = protocol_of(study), checked.grouped
    people = people_named(session, {annotator for _, annotator in grouped})
    repeats = _repeats(
        session, study.id, grouped, people, instead=earlier.keys(), from_files=batch_format == FROM_FILES
    )
    if repeats:
        raise InvalidInput("\n".join(f"{source}: {reason}" for reason in repeats))
    batch = Batch(project_id=study.project_id, format=batch_format, source=source, person_id=actor.person_id)
    session.add(batch)
    session.flush()
    assert batch.id is not None
    standing = Standing(session, study, locked=people.values())
    states = {of: standing.state(people[of[1]], _given_at(cells)) for of, cells in grouped.items()}
    _insert(session, study, batch, grouped, people, earlier=earlier, states=states, surplus=standing.closed)
    counting = {of: cells for of, cells in grouped.items() if states[of] == AssignmentState.SUBMITTED}
    _end_leases(session, study, {(item, people[name]) for item, name in counting})
    if counting:
        settle_batch(session.connection(), study, protocol, _by_item(counting), batch.id)
    if len(counting) < len(grouped):  # what they took the place of counts no more
        changed = sorted({item for item, _ in grouped} - {item for item, _ in counting})
        counts = Tallies(study.id)
        update_settlements(session.connection(), study, protocol, changed, counts)
        counts.write(session.connection())
    n = Counter(states.values())
    not_counted = NotCounted(n[AssignmentState.SURPLUS], n[AssignmentState.LEFT_OUT])
    details = {"source": source, "labels": checked.n, "batch": batch.id}
    record(session, actor, "labels imported", "study", study.id, project_id=study.project_id, details=details)
    return LabelImport(batch.id, checked.n, len(grouped), sorted(people), not_counted)


def _end_leases(session: Session, study: Study, given: Collection[tuple[int, int]]) -> None:
    """Take back what people have before them whose labels of it (study item, person) have come in."""
    assert study.id is not None
    counts = Tallies(study.id)
    end_leases_of(session.connection(), study, given, counts)
    counts.write(session.connection())


_Cell = tuple[str, str, str, str | None, datetime | None, float | None, str | None]
"""Criterion, target, value as JSON, comment, time, seconds of the annotation, and rationale as JSON."""
_Grouped = dict[tuple[int, str], list[_Cell]]


def _given_at(cells: Iterable[_Cell]) -> datetime | None:
    """When an annotation was given: the last of the times of its labels."""
    return max((cell[4] for cell in cells if cell[4]), default=None)


def _grouped(
    rows: Sequence[ForeignLabel],
    protocol: Protocol,
    items: Mapping[str, int],
    source: str,
    parts: StudyParts,
) -> tuple[_Grouped, list[Rejected]]:
    """(study item, annotator) → cells, every row checked against the protocol; and the rows that do not fit."""
    seen: dict[tuple[str, str, str, str], int] = {}
    grouped: _Grouped = defaultdict(list)
    problems: list[Rejected] = []
    criteria = {criterion.name: criterion for criterion in protocol.criteria}

    @lru_cache(_REMEMBERED)  # few rows differ in more than their item and annotator
    def fitting(name: str, target: str, value: str, turned: bool) -> str:
        """The value as JSON, when there is such a criterion, it has such a value and is about such a target."""
        if name not in criteria:
            raise InvalidInput(f"{name!r} is no criterion of the protocol. Known: {', '.join(criteria)}.")
        criterion = criteria[name]
        kind, parsed = target_kind(target), criterion.parse(value)
        if turned:
            parsed = criterion.turned(parsed)
        if kind != criterion.target:
            form = WRITTEN[criterion.target]
            raise InvalidInput(f"target {target!r} is no {criterion.target}, which {name!r} is about. Write {form}.")
        check_kept(target, "the target")
        check_kept(parsed, repr(name))
        return dumps(parsed)

    for line, item, annotator, named, given, value, time, comment, other, file, seconds, places in rows:
        criterion = named if named in criteria else protocol.name_of(named)
        target = given or "item"
        name, turned = item, False
        if other:  # the study may have the pair the other way round
            name = pair_name(item, other)
            if name not in items and (turned := (round_ := pair_name(other, item)) in items):
                name = round_
        try:
            if name not in items:
                what = f"pair of {item!r} and {other!r}" if other else f"item {item!r}"
                raise InvalidInput(
                    f"{what} is not in the study, whose items are fixed. Name one that has it, or leave it out."
                )
            fits = fitting(criterion, target, value, turned)
            parts.check_target(item, target_kind(target), target)
            if parts.units is not None:
                fits = dumps(parts.fitted(item, criteria[criterion], parsed_value(fits)))
            about = f"{criterion!r} of {item!r} ({target})"
            support = checked_rationale(places, about) if places else None
            remark = stored_text(comment, f"{about}: the comment") if comment else None
            check_kept(annotator, "the annotator")
            check_seen(annotator, "the annotator")
            first = seen.setdefault((name, annotator, criterion, target), line)
            if first != line:
                raise InvalidInput(
                    f"{annotator!r} labels {criterion!r} of {item!r} ({target}) again; the first time is line {first}. "
                    "Keep one of the two."
                )
        except AssayError as error:
            # Records of a file may all stand in one line.
            whose = f"{annotator} gave {criterion!r} of {item}: " if file else ""
            problems.append(Rejected(file or source, line, f"{whose}{error}"))
            continue
        stored = None if support is None else dumps(support)
        grouped[items[name], annotator].append((criterion, target, fits, remark, time, seconds, stored))
    return grouped, problems


def _by_item(grouped: _Grouped) -> dict[int, ItemLabels]:
    """Study item → its labels, in the order in which they are stored."""
    found: dict[int, ItemLabels] = defaultdict(ItemLabels)
    for study_item_id, annotator in sorted(grouped):
        labels = found[study_item_id]
        labels.n_annotations += 1
        for criterion, target, value, *_ in grouped[study_item_id, annotator]:
            labels.values[criterion, target].append(parsed_value(value))
    return found


def rejections(problems: Sequence[Rejected]) -> str:
    """Bad rows as the words of an error: a line each, the first 20."""
    lines = [f"{problem.file}, line {problem.line}: {problem.reason}" for problem in problems[:_SHOWN]]
    return "\n".join([*lines, *([f"… and {len(problems) - _SHOWN:,} more"] if len(problems) > _SHOWN else [])])


def _accounts(names: Iterable[str]) -> Any:
    """A query for the accounts with these names: (name, person id)."""
    return select(Account.name, Account.person_id).where(col(Account.name).in_(list(names)))


def people_named(session: Session, names: Iterable[str]) -> dict[str, int]:
    """Annotator name → person id; a person without a login is made for a name that is not known."""
    wanted = sorted(set(names))
    known: dict[str, int] = dict(session.execute(_accounts(wanted)).all())
    for name in wanted:
        if name not in known:
            person = Person()
            session.add(person)
            session.flush()
            assert person.id is not None
            session.add(Account(person_id=person.id, name=name))
            known[name] = person.id
    return known


def _repeats(
    session: Session,
    study_id: int,
    grouped: _Grouped,
    known: Mapping[str, int],
    *,
    instead: Collection[tuple[int, int]] = (),
    from_files: bool = True,
) -> list[str]:
    """Why labels that come in may not come again, a line for each annotator of whom the study has them.

    An annotator is the person with that account (`known`). In files it may also be who exports of this very study call
    so (`from_files`). `instead`: (study item, person) of what is there and which the labels take the place of.
    """
    items = defaultdict[str, set[int]](set)
    for study_item_id, annotator in grouped:
        items[annotator].add(study_item_id)
    called = called_in_exports(session, study_id) if from_files else {}
    may_be = {name: dict.fromkeys([*filter(None, [known.get(name)]), *called.get(name, ())]) for name in sorted(items)}
    whose = {person_id for people in may_be.values() for person_id in people}
    there = defaultdict[int, set[int]](set)
    of_study = (col(Annotation.study_id) == study_id, col(Annotation.person_id).in_(whose), _stands())
    for study_item_id, person_id in session.execute(
        pick(Annotation.study_item_id, Annotation.person_id).where(*of_study)
    ):
        there[person_id].add(study_item_id)
    names = dict(session.execute(pick(Account.person_id, Account.name).where(col(Account.person_id).in_(whose))).all())
    found = []
    for annotator, people in may_be.items():
        for person_id in people:
            again = {of for of in items[annotator] & there[person_id] if (of, person_id) not in instead}
            # Somebody of the study may be called as exports call another: then it takes the same labels to be that one.
            own = known.get(annotator)
            unsure = person_id != own and own is not None and bool(there[own])
            if again and not (
                unsure and not _is_said(session, person_id, {of: grouped[of, annotator] for of in again})
            ):
                found.append(_repeat(annotator, names.get(person_id), len(again)))
                break
    return found


def _stands() -> ColumnElement[bool]:
    """The condition on `Annotation` that no withdrawal of its import took it away."""
    return col(Annotation.batch_id).is_(None) | col(Annotation.batch_id).not_in(withdrawn_batches())


def _is_said(session: Session, person_id: int, given: Mapping[int, Sequence[_Cell]]) -> bool:
    """Whether a person has given these labels, by study item, as far as both have labelled the same."""
    said = defaultdict[tuple[int, str, str], list[Any]](list)
    query = (
        pick(Annotation.study_item_id, StoredLabel.criterion, StoredLabel.target, StoredLabel.value)
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == Annotation.assignment_id)
            & (col(StoredLabel.sitting) == Annotation.sitting),
        )
        .where(col(Annotation.study_item_id).in_(given), col(Annotation.person_id) == person_id, _stands())
    )
    for study_item_id, criterion, target, value in session.execute(query):
        said[study_item_id, criterion, target].append(value)
    both = [
        parsed_value(value) in said[of, criterion, target]
        for of, cells in given.items()
        for criterion, target, value, *_ in cells
        if (of, criterion, target) in said
    ]
    return bool(both) and all(both)


def _repeat(annotator: str, name: str | None, n: int) -> str:
    """That the study has labels by the person of this name (None: erased), whom a file calls so, for n of its items."""
    if annotator == name:
        return (
            f"the study has labels by {name!r} for {n:,} of these items already. Import into a new study, or leave "
            "these rows out."
        )
    who = "somebody who was erased" if name is None else repr(name)
    return (
        f"the study has labels by {who} for {n:,} of these items already, and its exports call them {annotator!r}. "
        f"Import into a new study, or leave these rows out. If {annotator!r} is somebody else, give them another name "
        "in the file."
    )


def _insert(
    session: Session,
    study: Study,
    batch: Batch,
    grouped: _Grouped,
    people: dict[str, int],
    *,
    earlier: Mapping[tuple[int, int], Earlier],
    states: Mapping[tuple[int, str], AssignmentState],
    surplus: bool,
) -> None:
    """Write the annotations; `states` is how each stands, and `surplus` whether they are so where none is left out."""
    assert study.id is not None
    connection, study_id, steps = session.connection(), study.id, len(study.protocol["steps"])
    n, sqlite, batch_id = len(grouped), is_sqlite(session), batch.id
    # Without a time they have that of their batch, by which `ratings` and exports know that they have none.
    moment = batch.created_at
    assignment_ids, submission_ids = fresh_ids(session, "assignment", n), fresh_ids(session, "submission", n)
    assignments, submissions, annotations, labels = [], [], [], []
    kind = (AnnotationKind.SURPLUS if surplus else AnnotationKind.IMPORTED).value
    restored_as = (AssignmentState.SURPLUS if surplus else AssignmentState.SUBMITTED).value
    left_out: dict[int, int] = {}
    counts = Tallies(study_id)

    @cache  # people judge many items in the same second
    def stored(at: datetime) -> Any:
        return at.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds") if sqlite else at

    for number, ((study_item_id, annotator), assignment_id, submission_id) in enumerate(
        zip(sorted(grouped), assignment_ids, submission_ids, strict=True)
    ):
        cells, person_id = grouped[study_item_id, annotator], people[annotator]
        when = stored(_given_at(cells) or moment)
        seconds, state = cells[0][5], states[study_item_id, annotator]
        is_left_out = state == AssignmentState.LEFT_OUT
        before = earlier.get((study_item_id, person_id)) if earlier else None
        place, sitting, supersedes = (
            (assignment_id, 1, None) if before is None else (before.assignment, before.sitting + 1, before.annotation)
        )
        left_out_as = restored_as if is_left_out else None
        if before is None:
            row = (place, study_id, study_item_id, person_id, IMPORTED, state.value, left_out_as, 0, 1, steps, when)
            assignments.append(row)
            counts.move(None, state, person_id, seconds=seconds or 0)
        else:
            assignment = session.get_one(Assignment, before.assignment)
            if not before.stands:
                counts.move(None, state, person_id, seconds=seconds or 0)
            elif assignment.state != state:
                counts.move(assignment.state, state, person_id)
            assignment.sitting, assignment.state, assignment.left_out_as = sitting, state, left_out_as
        if is_left_out:
            left_out[place] = person_id
        submissions.append(
            (submission_id, f"import-{batch_id}-{number}", place, sitting, steps - 1, person_id, "[]", seconds, when)
        )
        annotations.append(
            (study_id, study_item_id, place, sitting, person_id, kind, supersedes, batch_id, seconds, when)
        )
        labels += [
            (submission_id, place, sitting, criterion, target, value, False, comment, support)
            for criterion, target, value, comment, _, _, support in cells
        ]
    columns = ["id", "study_id", "study_item_id", "person_id", "kind", "state", "left_out_as", "queue", "sitting"]
    insert_many(connection, "assignment", [*columns, "steps_done", "ended_at"], assignments)
    columns = ["id", "uid", "assignment_id", "sitting", "step", "person_id", "shown", "seconds", "created_at"]
    insert_many(connection, "submission", columns, submissions)
    columns = ["study_id", "study_item_id", "assignment_id", "sitting", "person_id", "kind", "supersedes_id"]
    insert_many(connection, "annotation", [*columns, "batch_id", "seconds", "created_at"], annotations)
    columns = ["submission_id", "assignment_id", "sitting", "criterion", "target", "value", "cannot_judge", "comment"]
    insert_many(connection, "label", [*columns, "rationale"], labels)
    if left_out:
        _set_aside(session, batch, left_out, study_id)
    for person_id in people.values():
        if session.get(StudyMember, (study.id, person_id)) is None and study.settings.get("foreign"):
            session.add(StudyMember(study_id=study_id, person_id=person_id))
    session.flush()
    counts.write(session.connection())


def _set_aside(session: Session, batch: Batch, left_out: Mapping[int, int], study_id: int) -> None:
    """Have the annotations of a batch at these assignments, each with whose it is, not count."""
    of_batch = pick(Annotation.id, Annotation.assignment_id).where(
        col(Annotation.study_id) == study_id,
        col(Annotation.person_id).in_(set(left_out.values())),
        col(Annotation.batch_id) == batch.id,
    )
    aside = [
        (annotation_id, study_id, AssignmentState.LEFT_OUT.value)
        for annotation_id, place in session.execute(of_batch)
        if place in left_out
    ]
    insert_many(session.connection(), "set_aside", ["annotation_id", "study_id", "kind"], aside)


def targets_in(rows: Iterable[ForeignLabel], source: str) -> dict[str, TargetKind]:
    """Criterion → the kind of its targets in a table; one criterion with two kinds is an error naming the line."""
    found: dict[str, TargetKind] = {}
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.criterion, row.target) in seen:
            continue
        seen.add((row.criterion, row.target))
        try:
            kind = target_kind(row.target or "item")
        except AssayError as error:
            raise InvalidInput(f"{source}, line {row.line}: {error}") from None
        if found.setdefault(row.criterion, kind) != kind:
            raise InvalidInput(
                f"{source}, line {row.line}: criterion {row.criterion!r} is about the target {kind} here and "
                f"about {found[row.criterion]} before. A criterion has one kind of target."
            )
    return found
