"""The reviser's work: which items fail acceptance and wait, and of one why it fails and what an edit would do."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from sqlalchemy import bindparam, func, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select

from annotators.criteria import Criterion
from annotators.criteria.base import written
from annotators.errors import NotAllowed, NotFound
from annotators.items.item import EVIDENCE_KINDS, EVIDENCE_ROLES
from annotators.items.revising import proposed_claims
from annotators.items.written import as_written, from_written
from annotators.protocols.ambiguity import REFUSALS
from db.annotating.annotations import protocol_for_browser
from db.annotating.presentations import document_shown
from db.engine import Database
from db.items.current import item_is_current, unpublished_now, version_is_latest
from db.items.rows import StoredItem, read_items
from db.judging.drafting import drafts_taken
from db.models import (
    Account,
    AdjudicatedLabel,
    Adjudication,
    Amendment,
    Annotation,
    Event,
    Item,
    ItemEnding,
    ItemVersion,
    Omission,
    Project,
    Purpose,
    Revision,
    RevisionLease,
    SettlementState,
    Study,
    StudyItem,
    Submission,
    Withdrawal,
    now,
)
from db.people.accounts import who_may_revise
from db.permissions import REVISERS, Actor, On, Role, operation, role_in
from db.query import in_clause, pick, plain_rows, table_of
from db.releasing.recheck import fresh_people
from db.releasing.states import BLOCK, Place, Standing, State, failing_units, keep_failing, standings
from db.studies import tallies
from db.studies.design import protocol_of
from db.studies.remarks import ItemInStudy, ItemLabel, labels_of
from db.studies.revisions import ItemRevision, planned_in, revise_in, why_not_in

LEASE = timedelta(minutes=15)
"""How long an item stays with a reviser who does nothing. After it somebody else may take it over."""

AT_ONCE = 2_000
"""Settled items of which one look works out whether they fail: the next looks go on with it."""

MOST = 1_000
"""Items that are counted, and queued; where there are more, so many wait at least."""


@dataclass(frozen=True)
class Waiting:
    """An item that waits to be revised, and what fails: titles of criteria, with the label where only one does."""

    item_id: int
    item: str
    fails: list[str]


@dataclass(frozen=True)
class ItemLease:
    """Who has an item before them to revise, whether that is the one who asked, and until when while idle."""

    item_id: int
    by: str
    mine: bool
    until: datetime


@dataclass(frozen=True)
class TakenToRevise(ItemLease):
    """What became of an item that somebody wanted to take: whose it is now, and where it stands in its studies.

    A page fetches items ahead; one that somebody revised meanwhile is taken, too, and its `state` says so.
    """

    state: State | None


@dataclass(frozen=True)
class RevisionQueue:
    """What waits for this person to revise, at most `MOST`; and what others have before them of it now."""

    project: str
    waiting: list[Waiting]
    held: list[ItemLease]


@operation(On.PROJECT, REVISERS)
def revision_queue(db: Database, actor: Actor, project_id: int) -> RevisionQueue:
    """The items of a project that are in revision and that this person may revise, the oldest first.

    Left out is what a study keeps from those who judged, decided or revised it (`separate_revisers`), and all of that
    for who is no more than a reviser.
    """
    _keep(db, actor, project_id)
    with db.read() as session:
        items = _in_revision(session, actor, project_id)
        found = [Waiting(item.item_id, item.external_id, list(dict.fromkeys(_titles(item)))) for item in items]
        held = [lease for lease in _leases(session, actor, [row.item_id for row in found]) if not lease.mine]
        return RevisionQueue(session.get_one(Project, project_id).name, found, held)


@operation(On.PROJECT, REVISERS)
def count_to_revise(db: Database, actor: Actor, project_id: int) -> int:
    """How many items this person could revise now: what `revision_queue` has, but for what others have before them.

    Every page asks for it. Which items wait is worked out when something has changed, and kept until then; who has them
    before them is looked up each time.
    """
    _keep(db, actor, project_id)
    with db.read() as session:
        waiting = _kept_waiting(db, session, actor, project_id)
        return len(waiting) - sum(not lease.mine for lease in _leases(session, actor, waiting))


def _keep(db: Database, actor: Actor, project_id: int) -> None:
    """Work out which settled items of the project fail, where that is not known: so many that nobody waits for it."""
    with db.read() as session:
        studies = list(session.execute(pick(Study.id).where(col(Study.project_id) == project_id)).scalars())
    for study_id in studies:
        if keep_failing(db, actor, study_id, most=AT_ONCE):
            return  # the next look goes on with it


_waiting: OrderedDict[tuple[str, int, int | None], tuple[Any, list[int]]] = OrderedDict()
_keeping = Lock()
_MOST_KEPT = 500


def _kept_waiting(db: Database, session: Session, actor: Actor, project_id: int) -> list[int]:
    """The items that wait to be revised, by this person; in this process worked out once a change of the project."""
    studies = list(session.exec(select(Study).where(Study.project_id == project_id)))
    is_strict = bool(_strict(session, actor.person_id, project_id, studies))
    key = (str(db.url), project_id, actor.person_id if is_strict else None)
    stamp = _stamp(session, [study.id or 0 for study in studies])
    with _keeping:
        kept = _waiting.get(key)
    if kept is not None and kept[0] == stamp:
        return kept[1]
    found = [item.item_id for item in _in_revision(session, actor, project_id)]
    with _keeping:
        _waiting[key] = stamp, found
        _waiting.move_to_end(key)
        while len(_waiting) > _MOST_KEPT:
            _waiting.popitem(last=False)
    return found


_CHANGES = (
    Event, Submission, Annotation, Adjudication, Revision, ItemVersion, ItemEnding, Withdrawal, Amendment, Omission,
    StudyItem,
)  # fmt: skip
"""Tables of which every change of where an item stands adds a row to one."""


def _stamp(session: Session, study_ids: Sequence[int]) -> tuple[Any, ...]:
    """What changes whenever the items in revision may have: a step down an index for each table, and kept counts.

    The counts are there as ids alone miss a row whose transaction ends after that of a later one (PostgreSQL).
    """
    newest = session.execute(pick(*(pick(func.max(table.id)).scalar_subquery() for table in _CHANGES))).one()
    return (
        *newest,
        unpublished_now(session),
        *((study_id, *tallies.settled(session, study_id).values(), *_failing_now(session, study_id))
          for study_id in study_ids),
    )  # fmt: skip


def _failing_now(session: Session, study_id: int) -> tuple[int, ...]:
    """How many settled items of a study are known to fail, and of how many it is not known."""
    row = session.execute(_FAILING_NOW, {"study": study_id}).one()
    return tuple(map(int, row))


_OF_STUDY = (
    "SELECT count(*) FROM settlement WHERE study_id = :study "
    f"AND state IN ('{SettlementState.AGREED}', '{SettlementState.ADJUDICATED}')"
)
_FAILING_NOW = text(f"SELECT ({_OF_STUDY} AND failing <> '[]'), ({_OF_STUDY} AND failing IS NULL)")


def _titles(item: Standing) -> Iterator[str]:
    """The titles of the criteria of an item that fail, with the label that fails where the criterion has but one."""
    for there in item.studies.values():
        protocol = protocol_of(there.study)
        for name, place in there.last.items():
            if name in place.failing and name not in there.missing:
                criterion = protocol.criterion(name)
                labels = [label.title for label in criterion.label_list() if not criterion.passes(label.value)]
                yield f"{criterion.title}: {labels[0]}" if len(labels) == 1 else criterion.title


_FAILING = text(
    "SELECT v.item_id, min(x.id) FROM settlement s JOIN study_item x ON x.id = s.study_item_id "
    "JOIN item_version v ON v.id = x.item_version_id "
    "WHERE s.study_id IN :studies AND s.failing <> '[]' AND x.other_version_id IS NULL "
    f"AND s.state IN ('{SettlementState.AGREED}', '{SettlementState.ADJUDICATED}') "
    f"AND x.purpose IN ('{Purpose.SAMPLE}', '{Purpose.RECHECK}') GROUP BY v.item_id ORDER BY min(x.id)"
).bindparams(bindparam("studies", expanding=True))


def _in_revision(session: Session, actor: Actor, project_id: int) -> Iterator[Standing]:
    """The items in revision that this person may revise, at most `MOST`; blocks of what once failed are looked at."""
    studies = {study.id: study for study in session.exec(select(Study).where(Study.project_id == project_id))}
    if not studies:
        return
    strict = _strict(session, actor.person_id, project_id, studies.values())
    rows = session.execute(_FAILING, {"studies": list(studies)}).all()
    n = 0
    for start in range(0, len(rows), BLOCK):
        ids = [item_id for item_id, _ in rows[start : start + BLOCK]]
        barred = _barred(session, actor.person_id, ids, strict)
        found = standings(session, ids)
        for item_id in ids:
            if item_id in found and found[item_id].state is State.IN_REVISION and item_id not in barred:
                yield found[item_id]
                n += 1
                if n >= MOST:
                    return


def _strict(session: Session, person_id: int, project_id: int, studies: Iterable[Study]) -> set[int | None]:
    """The studies that keep from this person what they judged, decided or revised: all of them from a reviser."""
    only_revises = role_in(session, person_id, project_id) is Role.REVISER
    return {study.id for study in studies if only_revises or study.settings.get("separate_revisers")}


def n_in_revision(session: Session, study: Study) -> int:
    """How many items of a study wait to be revised, of the first `BLOCK` that fail; which do is as it was kept."""
    return len(_waiting_in(session, study))


def n_without_reviser(session: Session, study: Study, strict: Collection[int]) -> int:
    """How many of these nobody may revise.

    `strict` are the studies of the project that keep items from those who judged, decided or revised them.
    """
    left = set(_waiting_in(session, study)) if strict else set()
    studies = session.exec(select(Study).where(Study.project_id == study.project_id)).all() if left else ()
    for person_id in who_may_revise(session, study.project_id) if left else ():
        theirs = {*strict, *_strict(session, person_id, study.project_id, studies)}
        left &= _barred(session, person_id, sorted(left), theirs)
    return len(left)


def _waiting_in(session: Session, study: Study) -> list[int]:
    ids = [item_id for item_id, _ in session.execute(_FAILING, {"studies": [study.id]}).all()[:BLOCK]]
    return [item.item_id for item in standings(session, ids).values() if item.state is State.IN_REVISION]


def _barred(session: Session, person_id: int, items: Sequence[int], strict: Collection[int | None]) -> set[int]:
    """The items that studies with separate revisers keep from this person, who judged, decided or revised them."""
    if not strict or not items:
        return set()
    among, values = in_clause(session, "v.item_id", items)
    of = ", ".join(map(str, strict))
    places = " JOIN study_item x ON x.item_version_id = v.id OR x.other_version_id = v.id "
    did = "SELECT 1 FROM {} a WHERE a.study_item_id = x.id AND a.person_id = " + str(person_id)
    revised = f"SELECT 1 FROM revision r WHERE r.item_id = v.item_id AND r.person_id = {person_id}"
    rows = plain_rows(
        session,
        f"SELECT DISTINCT v.item_id FROM item_version v{places}WHERE {among} AND x.study_id IN ({of}) AND "
        f"(EXISTS ({did.format('annotation')}) OR EXISTS ({did.format('adjudication')}) OR EXISTS ({revised}))",
        values,
    )
    return {item_id for (item_id,) in rows}


# Who has an item before them ------------------------------------------------------------------------------------------


@operation(On.PROJECT, REVISERS)
def take_to_revise(db: Database, actor: Actor, project_id: int, *, item_id: int) -> TakenToRevise:
    """Take an item to revise it, or keep it for longer; where somebody else has it, that stays so and is told."""
    with db.write() as session:
        _check_here(session, project_id, item_id)
        _check_theirs(session, actor, project_id, item_id)
        return _take(session, actor, item_id)


def _take(session: Session, actor: Actor, item_id: int) -> TakenToRevise:
    lease, moment = table_of(RevisionLease), now()
    dialect = postgresql if session.connection().dialect.name == "postgresql" else sqlite
    given: dict[str, Any] = {"person_id": actor.person_id, "lease_until": moment + LEASE}
    free = (lease.c.person_id == actor.person_id) | (lease.c.lease_until <= moment)
    taken = dialect.insert(lease).values(item_id=item_id, **given)
    session.execute(taken.on_conflict_do_update(index_elements=["item_id"], set_=given, where=free))
    [found] = _leases(session, actor, [item_id])
    standing = standings(session, [item_id]).get(item_id)
    return TakenToRevise(found.item_id, found.by, found.mine, found.until, standing.state if standing else None)


@operation(On.PROJECT, REVISERS)
def leave_to_others(db: Database, actor: Actor, project_id: int, *, item_id: int) -> None:
    """Let somebody else have an item; of another's lease nothing changes."""
    with db.write() as session:
        _check_here(session, project_id, item_id)
        mine = session.get(RevisionLease, item_id)
        if mine is not None and mine.person_id == actor.person_id:
            session.delete(mine)


def _check_theirs(session: Session, actor: Actor, project_id: int, item_id: int) -> bool:
    """Whether somebody is no more than a reviser, who is shown what waits for them and nothing else.

    For those NotAllowed for what they judged or wrote, NotFound for what does not wait to be revised.
    """
    if role_in(session, actor.person_id, project_id) is not Role.REVISER:
        return False
    if (why_not := why_not_in(session, actor, project_id, item_id)) is not None:
        raise NotAllowed(why_not)
    standing = standings(session, [item_id]).get(item_id)
    if standing is None or standing.state is not State.IN_REVISION:
        raise NotFound(f"Item {item_id} does not wait to be revised. Look at the list of those that do.")
    return True


def _check_here(session: Session, project_id: int, item_id: int) -> None:
    mine = pick(Item.id).where(col(Item.id) == item_id, col(Item.project_id) == project_id)
    if session.execute(mine).first() is None:
        raise NotFound(f"The project has no item with id {item_id}. Open one from the page Data.")


def _leases(session: Session, actor: Actor, items: Sequence[int]) -> list[ItemLease]:
    """Who has some of these items now."""
    found = []
    for start in range(0, len(items), BLOCK):
        rows = session.execute(
            select(RevisionLease, Account.name)
            .outerjoin(Account, col(Account.person_id) == RevisionLease.person_id)
            .where(
                col(RevisionLease.item_id).in_(items[start : start + BLOCK]),
                col(RevisionLease.lease_until) > now(),
            )
        )
        found += [
            ItemLease(row.item_id, name or f"person {row.person_id}", row.person_id == actor.person_id, row.lease_until)
            for row, name in rows
        ]
    return found


# One item -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failing:
    """A unit whose final label is not accepted: its title, its final label in words, and what annotators gave.

    `votes` are (label in words, how many, whether it fails); `said` are (by whom, reason or comment); `decided` is the
    adjudicator's reason, where one decided, and `notes` are what the guidelines should say.
    """

    title: str
    target: str
    final: str
    votes: list[tuple[str, int, bool]]
    said: list[tuple[str, str]]
    decided: str | None
    notes: list[str]


@dataclass(frozen=True)
class WhyRevised:
    """What a study says of an item: where it stands there, what fails, what was said about the item as a whole.

    `titles`: criterion → its title. `fresh` of `team` annotators know no version of the item. `hidden`: the reader is
    to judge the item there, and is told nothing of others' labels.
    """

    study_id: int
    study: str
    protocol: str
    version: int
    state: State | None
    failing: list[Failing]
    remarks: list[tuple[str, str]]
    titles: dict[str, str]
    fresh: int
    team: int
    hidden: bool


@dataclass(frozen=True)
class ItemToRevise:
    """An item with what a reviser needs: its texts and parts as they are written, why it is here, what is looked at.

    `why_not` says why this person may not revise it; who `only_revises` does nothing else with it. `evidence` and
    `documents` are as the viewer takes them.
    `answers` are those that may stand where annotators found the question ambiguous.
    """

    item_id: int
    item: str
    project: str
    version: int
    state: State
    language: str | None
    written: dict[str, Any]
    roles: tuple[str, ...]
    kinds: tuple[str, ...]
    answers: tuple[str, ...]
    why_not: str | None
    only_revises: bool
    studies: list[WhyRevised]
    protocol: dict[str, Any] | None
    evidence: list[dict[str, Any]]
    documents: list[dict[str, Any]]


@operation(On.PROJECT, REVISERS)
def item_to_revise(db: Database, actor: Actor, project_id: int, *, external_id: str) -> ItemToRevise:
    """An item in its latest version, with what failed in which study; NotFound for one that is not there now.

    Who is no more than a reviser has it before them by this, as `take_to_revise` has it, and sees its documents' pages.
    """
    with db.read() as session:
        item_id = _item_id(session, project_id, external_id)
        only_revises = _check_theirs(session, actor, project_id, item_id)
    if only_revises:
        with db.write() as session:
            _take(session, actor, item_id)
    with db.read() as session:
        why_not = why_not_in(session, actor, project_id, item_id)
        labels = labels_of(session, actor, project_id, external_id)
        item = standings(session, [item_id])[item_id]
        stored = read_items(session, [item.version_id])[item.version_id]
        studies = _why(session, item, labels)
        first = next((study for study in studies if study.failing), next(iter(studies), None))
        return ItemToRevise(
            item_id,
            external_id,
            session.get_one(Project, project_id).name,
            stored.number,
            item.state,
            stored.content.language,
            as_written(stored.content),
            EVIDENCE_ROLES,
            EVIDENCE_KINDS,
            REFUSALS if _is_ambiguous(labels) else (),
            why_not,
            only_revises,
            studies,
            protocol_for_browser(protocol_of(session.get_one(Study, first.study_id))) if first else None,
            _evidence(stored),
            [document_shown(document, None) for document in stored.documents],
        )


@operation(On.PROJECT, REVISERS)
def plan_written(
    db: Database, actor: Actor, project_id: int, *, external_id: str, given: Mapping[str, Any]
) -> ItemRevision | None:
    """What saving what is written would do (`annotators.items.written`); None where it says what the item says.

    Raises what `from_written` and `plan_revision` raise.
    """
    with db.read() as session:
        _check_theirs(session, actor, project_id, _item_id(session, project_id, external_id))
        fields = from_written(_latest(session, project_id, external_id).content, given)
        return planned_in(session, actor, project_id, external_id=external_id, fields=fields) if fields else None


@operation(On.PROJECT, REVISERS)
def revise_written(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    external_id: str,
    given: Mapping[str, Any],
    reason: str,
    from_version: int,
    drafts: Mapping[str, int] | None = None,
) -> ItemRevision:
    """Store what is written as a new version, as `revise_item` does, and let the item go; raises what that raises.

    `drafts`: what is written → the job by which a model had drafted it, which who only revises asks of none.
    """
    texts = {name: text for name, text in given.items() if isinstance(text, str)}
    jobs = {name: job for name, job in (drafts or {}).items() if name in texts}
    proposed = drafts_taken(db, actor, project_id, item=external_id, drafts=jobs, texts=texts) if jobs else {}
    with db.write() as session:
        item_id = _item_id(session, project_id, external_id)
        _check_theirs(session, actor, project_id, item_id)
        done, _ = revise_in(
            session, actor, project_id,
            external_id=external_id, fields=from_written(_latest(session, project_id, external_id).content, given),
            reason=reason, from_version=from_version, proposed=proposed,
        )  # fmt: skip
    leave_to_others(db, actor, project_id, item_id=item_id)
    return done


@operation(On.PROJECT, REVISERS)
def sentences_to_claim(db: Database, actor: Actor, project_id: int, *, external_id: str, answer: str) -> list[str]:
    """The sentences of an answer that is written and not saved, to make the item's claims of."""
    with db.read() as session:
        _check_theirs(session, actor, project_id, _item_id(session, project_id, external_id))
        item = _latest(session, project_id, external_id).content
    return proposed_claims(item._replace(answer=answer, claims=()), "answer")


def _item_id(session: Session, project_id: int, external_id: str) -> int:
    """The item's id; NotFound for one that the project does not have now."""
    mine = pick(Item.id).where(
        col(Item.project_id) == project_id, col(Item.external_id) == external_id, item_is_current()
    )
    item_id: int | None = session.execute(mine).scalar_one_or_none()
    if item_id is None:
        raise NotFound(f"The project has no item {external_id!r}. Look the id up in the list of items.")
    return item_id


def _latest(session: Session, project_id: int, external_id: str) -> StoredItem:
    latest = (
        pick(ItemVersion.id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .where(col(Item.project_id) == project_id, col(Item.external_id) == external_id, version_is_latest())
    )
    version_id = session.execute(latest).scalar_one_or_none()
    if version_id is None:
        raise NotFound(f"The project has no item {external_id!r}. Look the id up in the list of items.")
    return read_items(session, [version_id])[version_id]


def _evidence(stored: StoredItem) -> list[dict[str, Any]]:
    ids = {document.key: document.document_id for document in stored.documents}
    return [
        {
            "key": unit.key,
            "kind": unit.kind,
            "document": ids.get(unit.document or ""),
            "pages": list(unit.pages),
            "box": unit.box and list(unit.box),
            "text": unit.text,
            "title": unit.metadata.get("title", ""),
        }
        for unit in stored.content.evidence
    ]


def _is_ambiguous(studies: Sequence[ItemInStudy]) -> bool:
    return any(
        label.criterion == "ambiguity" and label.value == "ambiguous" for study in studies for label in study.labels
    )


def _why(session: Session, item: Standing, labels: Sequence[ItemInStudy]) -> list[WhyRevised]:
    """What each study says of the item, those in which it fails first."""
    by_version = {(study.study_id, study.version): study for study in labels}
    found: list[WhyRevised] = []
    for study_id, there in item.studies.items():
        protocol = protocol_of(there.study)
        criteria = {criterion.name: criterion for criterion in protocol.criteria}
        criteria |= {unit.criterion.name: unit.criterion for unit in protocol.derived_criteria()}
        team, fresh = fresh_people(session, there.study, [item.item_id])
        places = list({place.study_item_id: place for place in there.last.values()}.values())
        seen = [known for place in places if (known := by_version.get((study_id, place.number))) is not None]
        hidden = any(study.hidden for study in seen)
        failing: list[Failing] = []
        for place in places:
            holding = {name for name, last in there.last.items() if last == place and name not in there.missing}
            at = by_version.get((study_id, place.number))
            if place.failing & holding and at is not None and not at.hidden:
                failing += _failing(session, place, holding, at, criteria)
        whole = [(by, f"flagged: {why}" if why else "flagged") for study in seen for by, why in study.flags]
        found.append(
            WhyRevised(
                study_id,
                there.study.name,
                protocol.title,
                max(place.number for place in there.places),
                there.state,
                failing,
                whole,
                {criterion.name: criterion.title for criterion in protocol.criteria},
                len(fresh[item.item_id]),
                len(team),
                hidden,
            )
        )
    return sorted(found, key=lambda study: (not study.failing, study.study_id))


def _failing(
    session: Session, place: Place, holding: set[str], at: ItemInStudy, criteria: Mapping[str, Criterion]
) -> list[Failing]:
    """The units of one place of an item that fail."""
    given: dict[tuple[str, str], list[ItemLabel]] = defaultdict(list)
    for label in at.labels:
        given[label.criterion, label.target].append(label)
    notes = session.execute(
        pick(AdjudicatedLabel.criterion, AdjudicatedLabel.target, AdjudicatedLabel.note)
        .join(Adjudication, col(Adjudication.id) == AdjudicatedLabel.adjudication_id)
        .where(col(Adjudication.study_item_id) == place.study_item_id, col(AdjudicatedLabel.note).is_not(None))
        .order_by(col(Adjudication.id))
    ).all()
    found = []
    for of, unit in failing_units(session, place.study_id, [place.study_item_id]):
        if of not in holding:
            continue
        criterion = criteria[unit.criterion]
        labels = given[unit.criterion, unit.target]
        counts: dict[str, tuple[int, bool]] = {}
        for label in labels:
            words = "cannot judge" if label.cannot_judge else _words(criterion, label.value)
            fails = not label.cannot_judge and not criterion.passes(label.value)
            counts[words] = (counts.get(words, (0, fails))[0] + 1, fails)
        decision = at.decided.get((unit.criterion, unit.target))
        found.append(
            Failing(
                criterion.title,
                "" if unit.target == "item" else unit.target,
                _words(criterion, unit.value),
                [(words, n, fails) for words, (n, fails) in sorted(counts.items(), key=lambda each: -each[1][0])],
                [(label.rater, said) for label in labels for said in (label.reason, label.comment) if said],
                decision.reason if decision else None,
                [note for name, target, note in notes if (name, target) == (unit.criterion, unit.target) and note],
            )
        )
    return found


def _words(criterion: Criterion, value: Any) -> str:
    """A value as annotators read it."""
    titles = {
        str(label.value): label.title or written(label.value) for label in getattr(criterion, "labels", None) or []
    }
    if isinstance(value, list):
        return ", ".join(titles.get(str(one), written(one)) for one in value)
    return str(titles.get(str(value), written(value)))
