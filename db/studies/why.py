"""Why a label of a study is what it is: who gave which label, having seen what, and how it was settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.asking.asides import ASIDES
from annotators.asking.rounds import BLIND, Stage, alike
from annotators.criteria import Criterion
from annotators.errors import InvalidInput, NotFound
from annotators.items.pairs import in_words, pair_name
from annotators.items.targets import TargetKind
from annotators.protocols import DerivedCriterion, Protocol
from db.engine import Database
from db.items.current import is_published
from db.models import (
    AdjudicatedLabel,
    Adjudication,
    Annotation,
    Assignment,
    AssignmentState,
    Batch,
    Event,
    Item,
    ItemVersion,
    Omission,
    Purpose,
    Revision,
    SetAside,
    StoredLabel,
    Study,
    StudyItem,
    Submission,
    Withdrawal,
)
from db.people.accounts import names_of
from db.people.pseudonyms import raters_of, sees_names
from db.permissions import ADJUDICATORS, Actor, On, operation
from db.query import pick
from db.studies.design import protocol_of
from db.studies.settlements import (
    COUNTING,
    SettledUnit,
    check_has_judged,
    is_disclosed,
    plans_for,
    settled_units,
)

_NAMED = 5
"""Items that an error names; a study has more."""

ONE_OF_TWO = "one of two"


@dataclass(frozen=True)
class Act:
    """One thing that was done on the way to a label. What does not belong to it is None.

    `did` is `labelled`, `could not judge` or `gave no label`, or the kind of the event in the audit log, whose id is
    `event`; steps that annotators commit are no events. `who` is a name, or R1, R2 … for annotators where names are not
    for the reader. `saw` are the materials that were before the annotator.

    `stands` says of labels and decisions whether they count: `counts`, `superseded` (when: `superseded_at`), `surplus`,
    `withdrawn` with their import, `incomplete` (the item was never completed), or the kind of an annotation that does
    not count. Of two decisions that were made blind to each other and differ, each is `one of two`; `stage` says which
    it is (`first`, `second`; `final`: the one over both). `falls` says of a revision whether labels of the criterion
    fall with it.
    """

    at: datetime
    who: str | None
    did: str
    saw: tuple[str, ...] | None = None
    event: int | None = None
    item: str | None = None
    version: int | None = None
    criterion: str | None = None
    target: str | None = None
    label: Any = None
    stands: str | None = None
    superseded_at: datetime | None = None
    stage: str | None = None
    overrules: bool | None = None
    falls: bool | None = None
    reason: str | None = None
    comment: str | None = None
    batch: int | None = None
    source: str | None = None
    annotator: str | None = None
    confidence: str | None = None
    same: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As `assay why --json` prints it."""
        return asdict(self)


@dataclass(frozen=True)
class Rest:
    """A unit that another rests on: what that one is derived from, or the condition under which it is asked."""

    criterion: str
    target: str
    label: Any
    how: str


@dataclass(frozen=True)
class Explanation:
    """A label of a study with all that led to it, in the order of time.

    `how` is as in `adjudicated.csv` (unanimous, majority, adjudicated, open); besides `not asked` (the final labels
    leave nothing to ask of), and `not compared` for texts, which stay what each person wrote. `votes` are the labels
    that count and how often each was given, by `n` annotators; `rule` settles them. `rests_on` are the units that this
    one is derived from (`derived`: how), or those of its condition. `version` is the item's that the study has.
    """

    item: str
    criterion: str
    title: str
    target: str
    label: Any
    how: str
    steps: list[Act]
    votes: dict[str, int]
    n: int
    n_annotations: int
    overlap: int
    rule: str
    derived: str | None
    rests_on: list[Rest]
    version: int
    protocol: str
    protocol_version: int

    def to_json(self) -> dict[str, Any]:
        """As `assay why --json` prints it."""
        return {
            "label": self.label,
            "how": self.how,
            "steps": [step.to_json() for step in self.steps],
            "item": self.item,
            "criterion": self.criterion,
            "target": self.target,
            "votes": self.votes,
            "n": self.n,
            "annotations": self.n_annotations,
            "overlap": self.overlap,
            "rule": self.rule,
            "derived": self.derived,
            "rests_on": [asdict(unit) for unit in self.rests_on],
            "version": self.version,
            "protocol": {"name": self.protocol, "version": self.protocol_version},
        }


@operation(On.STUDY, ADJUDICATORS)
def explain_label(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    item: str,
    criterion: str,
    target: str | None = None,
    other: str | None = None,
) -> Explanation:
    """Everything that led to the label of one unit; only rows of this item are read. `other`: the second of a pair.

    `target` is as in exports; it can be left out where the criterion is about the item, or the pair, as a whole.

    Raises NotFound for an item, criterion or target that is not there, with those that are, InvalidInput for one of a
    pair without the other, NotAllowed for an annotator who has yet to judge the item.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        place = _sampled(session, study, item, other, criterion)
        check_has_judged(session, study, place.study_item_id, actor)
        return _Story(session, actor, study, place, criterion, target).told()


@dataclass(frozen=True)
class _Sampled:
    """The item of a study, or the pair: its name, the version frozen, and the ids of the items with their names."""

    study_item_id: int
    name: str
    version: int
    items: dict[int, str]


def _sampled(session: Session, study: Study, item: str, other: str | None, criterion: str) -> _Sampled:
    """The item's place in the study; of several, as a recheck is one more, the last one that asks the criterion."""
    rows = _places(session, study, item)
    again = [row for row in rows if row.purpose == Purpose.RECHECK]
    rows = [row for row in again if criterion in row.criteria][-1:] or [row for row in rows if row not in again]
    if other is not None:
        rows = [row for row in rows if {row.first, row.second} == {item, other}]
        if not rows:
            raise NotFound(f"The study has no pair of {item!r} and {other!r}. {_known(session, study)}")
    if not rows:
        raise NotFound(f"The study has no item {item!r}. {_known(session, study)}")
    if len(rows) > 1 or (other is None and rows[0].second is not None):
        partners = sorted({row.second if row.first == item else row.first for row in rows})
        raise InvalidInput(f"The study asks about pairs. Name the other item of {item!r}: {', '.join(partners)}.")
    [row] = rows
    items = {row.item_id: row.first} | ({row.second_id: row.second} if row.second is not None else {})
    return _Sampled(row.id, in_words(pair_name(row.first, row.second)), row.number, items)


def _places(session: Session, study: Study, item: str) -> list[Any]:
    """The item's rows in the sample, found from its versions: (study item, version, and id and name of both items).

    They are looked up step by step, and in all studies: in one statement SQLite would go through the study's sample.
    """
    of_item = (col(Item.project_id) == study.project_id, col(Item.external_id) == item)
    query = pick(ItemVersion.id).join(Item, col(Item.id) == ItemVersion.item_id).where(*of_item)
    versions = session.execute(query).scalars().all()
    found: list[Any] = []
    for column in (StudyItem.item_version_id, StudyItem.other_version_id):
        found += session.execute(_with_names().where(col(column).in_(versions)).order_by(col(StudyItem.id))).all()
    return [row for row in found if row.study_id == study.id]


def _with_names() -> Select[Any]:
    """Rows of a sample with the number of the version that is frozen, and id and name of both items."""
    second, version = aliased(Item), aliased(ItemVersion)
    return (
        pick(
            StudyItem.id,
            StudyItem.study_id,
            StudyItem.purpose,
            StudyItem.criteria,
            ItemVersion.number,
            col(Item.id).label("item_id"),
            col(Item.external_id).label("first"),
            col(second.id).label("second_id"),
            col(second.external_id).label("second"),
        )
        .select_from(StudyItem)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .outerjoin(version, col(version.id) == StudyItem.other_version_id)
        .outerjoin(second, col(second.id) == version.item_id)
    )


def _known(session: Session, study: Study) -> str:
    """The first items of the study, by name."""
    query = _with_names().where(col(StudyItem.study_id) == study.id, col(StudyItem.position) < _NAMED)
    rows = session.execute(query).all()
    names = sorted(in_words(pair_name(row.first, row.second)) for row in rows)
    more = f" and {study.n_items - len(names):,} more" if study.n_items > len(names) else ""
    return f"It has: {', '.join(names)}{more}."


@dataclass(frozen=True)
class _Sitting:
    """What one annotator committed of the item at one sitting: its steps, and the annotation, if it was completed."""

    person_id: int
    assignment_id: int
    sitting: int
    submissions: list[Any]
    annotation: Annotation | None


class _Story:
    """What is read of one item to explain one unit of it."""

    def __init__(  # noqa: PLR0917 - what was asked
        self, session: Session, actor: Actor, study: Study, place: _Sampled, criterion: str, target: str | None
    ) -> None:
        assert study.id is not None
        self._session, self._study, self._place = session, study, place
        self._protocol: Protocol = protocol_of(study)
        derived = {unit.criterion.name: unit for unit in self._protocol.derived_criteria()}
        asked = {found.name: found for found in self._protocol.criteria}
        if criterion not in asked and criterion not in derived:
            raise NotFound(f"The study has no criterion {criterion!r}. It has: {', '.join([*asked, *derived])}.")
        self._derived: DerivedCriterion | None = derived.get(criterion)
        self._source: Criterion = self._derived.source if self._derived else asked[criterion]
        self._criterion: Criterion = self._derived.criterion if self._derived else self._source
        self._target = target or ("pair" if self._criterion.target == TargetKind.PAIR else "item")
        self._units = list(settled_units(session, study.id, [place.study_item_id]))
        self._sittings = self._read_sittings()
        self._labels = self._read_labels()
        self._check_target()
        self._superseded = {
            sitting.annotation.supersedes_id: sitting.annotation.created_at
            for sitting in self._sittings
            if sitting.annotation is not None and sitting.annotation.supersedes_id is not None
        }
        self._withdrawals = self._read_withdrawals()
        self._aside = self._read_set_aside()
        self._called, self._reader = self._names(actor), actor.person_id

    def told(self) -> Explanation:
        """The explanation of the unit."""
        unit = next((unit for unit in self._units if self._is_this(unit)), None)
        study, criterion = self._study, self._criterion
        # Labels that came without a time have that of their batch, whose import is told first.
        acts = [*self._items(), *self._frozen(), *self._batches(), *self._given(), *self._slots(), *self._decisions(),
                *self._omissions()]  # fmt: skip
        counting = [sitting for sitting in self._sittings if self._stands(sitting) == "counts"]
        return Explanation(
            item=self._place.name,
            criterion=criterion.name,
            title=criterion.title,
            target=self._target,
            label=unit.value if unit else None,
            how=unit.state if unit else self._without_a_label(counting),
            steps=sorted(acts, key=lambda act: act.at),
            votes=unit.votes if unit else {},
            n=unit.n if unit else 0,
            n_annotations=len(counting),
            overlap=self._overlap(),
            rule=study.rule,
            derived=self._derived.derived.how if self._derived else None,
            rests_on=[Rest(rest.criterion, rest.target, rest.value, rest.state) for rest in self._rests_on()],
            version=self._place.version,
            protocol=study.protocol_name,
            protocol_version=study.protocol_version,
        )

    def _is_this(self, unit: SettledUnit) -> bool:
        return (unit.criterion, unit.target) == (self._criterion.name, self._target)

    def _without_a_label(self, counting: Sequence[_Sitting]) -> str:
        """How a unit stands that the settling does not name."""
        if not self._criterion.compared:
            return "not compared"
        return "not asked" if len(counting) >= self._overlap() else "open"

    def _overlap(self) -> int:
        """How many annotations the item has at least."""
        place = self._place.study_item_id
        return plans_for(self._session.connection(), self._study, [place])[place]

    def _rests_on(self) -> Iterator[SettledUnit]:
        when = self._source.when
        for unit in self._units:
            if self._derived is not None:
                if unit.criterion == self._source.name and self._belongs(unit.target):
                    yield unit
            elif when is not None and unit.criterion == when.criterion and unit.target in (self._target, "item"):
                yield unit

    def _belongs(self, target: str) -> bool:
        """Whether labels of this target of what was asked are about the unit."""
        return (
            target == self._target if self._derived is None else self._derived.derived.target_of(target) == self._target
        )

    def _check_target(self) -> None:
        targets = {target for labels in self._labels.values() for target in labels}
        if self._derived is not None:
            targets = {of for target in targets if (of := self._derived.derived.target_of(target)) is not None}
        if self._target in targets or self._target == self._criterion.target in {TargetKind.ITEM, TargetKind.PAIR}:
            return
        name, item = self._criterion.name, self._place.name
        if not targets:
            raise NotFound(
                f"Nobody has labelled {name!r} of {self._target!r} of {item!r}, nor of any other part of it."
            )
        about = f"{name!r} is about each {self._criterion.target} of {item!r}"
        raise NotFound(f"{about}; {self._target!r} has no label. Those that have: {', '.join(sorted(targets))}.")

    # What was committed ----------------------------------------------------------------------------------------------

    def _read_sittings(self) -> list[_Sitting]:
        rows = self._session.execute(
            pick(Submission, Annotation)
            .join(Assignment, col(Assignment.id) == Submission.assignment_id)
            .outerjoin(
                Annotation,
                (col(Annotation.assignment_id) == Submission.assignment_id)
                & (col(Annotation.sitting) == Submission.sitting),
            )
            .where(col(Assignment.study_item_id) == self._place.study_item_id)
            .order_by(col(Submission.assignment_id), col(Submission.sitting), col(Submission.step))
        ).all()
        found = []
        for (assignment_id, sitting), steps in groupby(rows, key=lambda row: (row[0].assignment_id, row[0].sitting)):
            pairs = list(steps)
            submissions = [submission for submission, _ in pairs]
            found.append(_Sitting(submissions[0].person_id, assignment_id, sitting, submissions, pairs[0][1]))
        return found

    def _read_labels(self) -> dict[tuple[int, int], dict[str, StoredLabel]]:
        """(assignment, sitting) → target → the label of what was asked, of every target."""
        rows = self._session.execute(
            pick(StoredLabel)
            .join(Assignment, col(Assignment.id) == StoredLabel.assignment_id)
            .where(
                col(Assignment.study_item_id) == self._place.study_item_id,
                col(StoredLabel.criterion) == self._source.name,
            )
            .order_by(col(StoredLabel.id))
        ).scalars()
        found: dict[tuple[int, int], dict[str, StoredLabel]] = defaultdict(dict)
        for label in rows:
            found[label.assignment_id, label.sitting][label.target] = label
        return found

    def _given(self) -> Iterator[Act]:
        """One act a sitting: the label that it gave the unit, or that it gave none."""
        judged = {target for labels in self._labels.values() for target in labels}
        step = next(n for n, step in enumerate(self._protocol.steps) if self._source.name in step.criteria)
        for sitting in self._sittings:
            labels = self._labels.get((sitting.assignment_id, sitting.sitting), {})
            mine = {target: label for target, label in labels.items() if self._belongs(target)}
            at = next(
                (row for row in sitting.submissions if row.id in {label.submission_id for label in mine.values()}), None
            )
            if at is None:
                if sitting.annotation is None:  # it was never asked, nor was the item completed
                    continue
                at = next((row for row in sitting.submissions if row.step >= step), sitting.submissions[-1])
            value, reason, comment, did = None, None, None, "gave no label"
            said: dict[str, Any] = {}
            if self._derived is not None:
                values = {target: label.value for target, label in mine.items() if not label.cannot_judge}
                value = self._derived.derived.values(values, judged - values.keys()).get(self._target)
                did = "labelled" if value is not None else did
            elif mine:
                label = mine[self._target]
                value, reason, comment = label.value, label.reason, label.comment
                did = "could not judge" if label.cannot_judge else "labelled"
                said = {name: getattr(label, name) for name in ASIDES}
            annotation = sitting.annotation
            yield Act(
                at.created_at,
                self._called(sitting.person_id),
                did,
                tuple(at.shown),
                criterion=self._criterion.name,
                target=self._target,
                label=value,
                stands=self._stands(sitting),
                superseded_at=self._superseded.get(annotation.id or 0) if annotation else None,
                reason=reason,
                comment=comment,
                batch=annotation.batch_id if annotation else None,
                **said,
            )

    def _stands(self, sitting: _Sitting) -> str:
        annotation = sitting.annotation
        if annotation is None:
            return "incomplete"
        if annotation.batch_id is not None:
            latest = self._withdrawals.get(annotation.batch_id)
            if latest and not latest[-1].reinstates:
                return "withdrawn"
        if annotation.id in self._superseded:
            return "superseded"
        if annotation.id in self._aside:
            return self._aside[annotation.id]
        return "counts" if annotation.kind in COUNTING else annotation.kind

    def _slots(self) -> Iterator[Act]:
        """What was skipped, and what was sent back to its annotator."""
        rows = (
            self._session.execute(pick(Assignment).where(col(Assignment.study_item_id) == self._place.study_item_id))
            .scalars()
            .all()
        )
        person_of = {row.id: row.person_id for row in rows}
        logged = self._events("assignment", list(person_of), ("item skipped", "item returned"))
        for event in logged:
            annotator = event.kind == "item skipped"
            who = self._called(event.person_id) if annotator else self._name(event.person_id)
            yield Act(event.at, who, event.kind, event=event.id, reason=event.details.get("reason"))
        known = {event.thing_id for event in logged if event.kind == "item skipped"}
        for row in rows:
            if row.state == AssignmentState.SKIPPED and row.id not in known and row.ended_at is not None:
                yield Act(row.ended_at, self._called(row.person_id), "item skipped", reason=row.reason)

    # What was decided -------------------------------------------------------------------------------------------------

    def _decisions(self) -> Iterator[Act]:
        """What adjudicators decided of the unit, or of what it is derived from, round by round."""
        rows = self._session.execute(
            pick(Adjudication, AdjudicatedLabel)
            .join(AdjudicatedLabel, col(AdjudicatedLabel.adjudication_id) == Adjudication.id)
            .where(
                col(Adjudication.study_item_id) == self._place.study_item_id,
                col(AdjudicatedLabel.criterion) == self._source.name,
                is_disclosed(self._reader),
            )
            .order_by(col(Adjudication.round), col(AdjudicatedLabel.target))
        ).all()
        decided = [(given, label) for given, label in rows if self._belongs(label.target)]
        logged = self._events("study item", [self._place.study_item_id], ("item adjudicated",))
        events = {event.details.get("round"): event.id for event in logged}
        later: dict[tuple[str, str], datetime] = {}
        blind = {(given.stage, label.target): label.value for given, label in decided if given.stage in BLIND}
        found = []
        for given, label in reversed(decided):
            after = later.get((given.stage, label.target)) or later.get((Stage.FINAL, label.target))
            stands = "superseded" if after else "counts"
            if given.stage in BLIND and not after:
                both = [{("", ""): blind[stage, label.target]} for stage in BLIND if (stage, label.target) in blind]
                stands = "counts" if len(both) == len(BLIND) and alike(*both) else ONE_OF_TWO
            found.append(
                Act(
                    given.created_at,
                    self._name(given.person_id),
                    "item adjudicated",
                    event=events.get(given.round),
                    criterion=label.criterion,
                    target=label.target,
                    label=label.value,
                    stands=stands,
                    superseded_at=after,
                    stage=given.stage if blind else None,
                    overrules=label.overrules,
                    reason=label.reason or given.reason,
                )
            )
            later[given.stage, label.target] = given.created_at
        return iter(reversed(found))

    # What it is about -------------------------------------------------------------------------------------------------

    def _items(self) -> Iterator[Act]:
        """How each version of the item came to be."""
        names = self._place.items
        versions = self._session.execute(
            pick(ItemVersion, Batch)
            .outerjoin(Batch, col(Batch.id) == ItemVersion.batch_id)
            .where(col(ItemVersion.item_id).in_(names), is_published(ItemVersion.batch_id))
        ).all()
        query = pick(Revision).where(col(Revision.item_id).in_(names))
        revisions = {row.to_version_id: row for row in self._session.execute(query).scalars()}
        imported = self._events("batch", [batch.id for _, batch in versions if batch], ("items imported",))
        revised = self._events("item", list(names), ("item revised",))
        event_of = {event.thing_id: event.id for event in imported}
        event_of_version = {(event.thing_id, event.details.get("to")): event.id for event in revised}
        for version, batch in versions:
            about = {"item": names[version.item_id], "version": version.number}
            revision = revisions.get(version.id)
            if revision is not None:
                yield Act(
                    revision.created_at,
                    self._name(revision.person_id),
                    "item revised",
                    event=event_of_version.get((version.item_id, version.number)),
                    falls=self._falls(revision),
                    reason=revision.reason,
                    **about,
                )
            else:
                yield Act(
                    version.created_at,
                    self._name(batch.person_id if batch else version.person_id),
                    "items imported",
                    event=event_of.get(batch.id) if batch else None,
                    batch=version.batch_id,
                    source=batch.source if batch else None,
                    **about,
                )

    def _falls(self, revision: Revision) -> bool:
        return any(
            entry["study"] == self._study.id and self._source.name in entry["criteria"]
            for entry in revision.invalidates
        )

    def _frozen(self) -> Iterator[Act]:
        """The study, which keeps the version that the item had when it was made."""
        logged = self._events("study", [self._study.id], ("study created",))
        yield Act(
            self._study.created_at,
            self._name(self._study.created_by),
            "study created",
            event=logged[0].id if logged else None,
            version=self._place.version,
        )

    def _read_withdrawals(self) -> dict[int, list[Withdrawal]]:
        """Batch → when its labels were taken out and put back, in order."""
        batches = {sitting.annotation.batch_id for sitting in self._sittings if sitting.annotation} - {None}
        query = pick(Withdrawal).where(col(Withdrawal.batch_id).in_(batches)).order_by(col(Withdrawal.id))
        found: dict[int, list[Withdrawal]] = defaultdict(list)
        for row in self._session.execute(query).scalars() if batches else ():
            found[row.batch_id].append(row)
        return found

    def _batches(self) -> Iterator[Act]:
        """The imports that labels came with, and what became of them."""
        ids = sorted({sitting.annotation.batch_id or 0 for sitting in self._sittings if sitting.annotation} - {0})
        if not ids:
            return
        imports = self._events("study", [self._study.id], ("labels imported",))
        event_of = {event.details.get("batch"): event.id for event in imports}
        for batch in self._session.execute(pick(Batch).where(col(Batch.id).in_(ids))).scalars():
            yield Act(
                batch.created_at,
                self._name(batch.person_id),
                "labels imported",
                event=event_of.get(batch.id),
                batch=batch.id,
                source=batch.source,
            )
        moved = self._events("batch", ids, ("batch withdrawn", "batch reinstated"))
        for batch_id, rows in self._withdrawals.items():
            events = [event.id for event in moved if event.thing_id == batch_id]
            for place, row in enumerate(rows):
                did = "batch reinstated" if row.reinstates else "batch withdrawn"
                event = events[place] if place < len(events) else None
                who = self._name(row.person_id)
                yield Act(row.created_at, who, did, event=event, batch=batch_id, reason=row.reason)

    def _read_set_aside(self) -> dict[int, str]:
        """Annotation → how it is set aside, where it does not count though its kind would."""
        ids = [sitting.annotation.id for sitting in self._sittings if sitting.annotation is not None]
        rows = self._session.execute(
            pick(SetAside.annotation_id, SetAside.kind).where(col(SetAside.annotation_id).in_(ids))
        )
        return {annotation_id: kind for annotation_id, kind in rows}  # noqa: C416 - rows are not plain tuples

    def _omissions(self) -> Iterator[Act]:
        """The decisions that left out, or restored, what annotators of the item gave in the study."""
        last: dict[int, datetime] = {}
        for sitting in self._sittings:
            if sitting.annotation is not None:
                given = sitting.annotation.created_at
                last[sitting.person_id] = max(last.get(sitting.person_id, given), given)
        query = pick(Omission).where(
            col(Omission.study_id) == self._study.id, col(Omission.annotator_id).in_(list(last))
        )
        left_out: set[int] = set()
        for row in self._session.execute(query.order_by(col(Omission.id))).scalars():
            person = row.annotator_id
            if row.since is not None and row.since <= last[person]:
                left_out.add(person)
                did = "labels left out"
            elif person in left_out:
                left_out.discard(person)
                did = "labels restored"
            else:
                continue
            who = self._name(row.person_id)
            yield Act(row.created_at, who, did, reason=row.reason, annotator=self._called(person))

    # Who it was -------------------------------------------------------------------------------------------------------

    def _events(self, thing: str, ids: Sequence[int | None], kinds: Iterable[str]) -> list[Event]:
        """Events of the log about these things, oldest first."""
        query = pick(Event).where(col(Event.thing) == thing, col(Event.thing_id).in_(ids), col(Event.kind).in_(kinds))
        return list(self._session.execute(query.order_by(col(Event.id))).scalars()) if ids else []

    def _name(self, person_id: int | None) -> str | None:
        """Who did something that is no annotation; adjudicators may know."""
        return None if person_id is None else names_of(self._session, [person_id])[person_id]

    def _names(self, actor: Actor) -> Callable[[int | None], str | None]:
        """What annotators are called: by name for those who may know, else R1, R2 … as the adjudicator's page does."""
        rows = self._session.execute(
            pick(Assignment.person_id).where(col(Assignment.study_item_id) == self._place.study_item_id).distinct()
        )
        people = {person_id for (person_id,) in rows if person_id is not None}
        counting = {sitting.person_id for sitting in self._sittings if self._stands(sitting) == "counts"}
        called: Mapping[int, str] = raters_of(self._study, self._place.study_item_id, counting, then=people)
        if sees_names(self._session, actor, self._study):
            called = names_of(self._session, list(called))
        return lambda person_id: None if person_id is None else called.get(person_id)
