"""Where items stand on their way to a release: derived from settlements, revisions and what somebody decided.

An item of a study has places there: the one it was sampled for, and one for each recheck of a later version. What a
criterion says of the item comes from the last place that asks it, unless a revision since then made its labels fall.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import func, text
from sqlmodel import Session, col

from annotators.asking.settling import Known, Outcome
from annotators.criteria import Criterion
from annotators.errors import NotFound
from annotators.protocols import Protocol
from db.engine import Database, loads
from db.items.current import item_is_current, version_is_latest
from db.models import (
    Item,
    ItemEnding,
    ItemVersion,
    Purpose,
    Settlement,
    SettlementState,
    Study,
    StudyState,
    Withdrawal,
)
from db.permissions import READERS, REVISERS, Actor, On, operation
from db.query import in_clause, pick, plain_rows
from db.studies.design import protocol_of
from db.studies.settlements import SettledUnit, settled_units

BLOCK = 1_000
"""Items whose states are worked out at a time, in the same number of queries as for one."""


class State(StrEnum):
    """Where an item stands. The order is that in which the states of several studies go before each other."""

    WITHDRAWN = "withdrawn"
    REJECTED = "rejected"
    DISPUTED = "disputed"
    IN_REVISION = "in_revision"
    IN_RECHECK = "in_recheck"
    IN_STUDY = "in_study"
    ACCEPTED = "accepted"
    NO_STUDY = "no_study"


WANTING = (State.DISPUTED, State.IN_REVISION)
"""The states in which an item waits for somebody to decide or to write."""

DISCARDED_STATES = (State.WITHDRAWN, State.REJECTED)
"""The ends by hand after which nobody is given an item (`db.studies.settlements.DISCARDED`)."""


@dataclass(frozen=True, slots=True)
class Place:
    """An item's place in a study: the version it is asked about, which criteria (None: all), where it is settled.

    `failing` are the criteria whose final labels the protocol does not accept; of what is not settled none. Of a pair
    `number` is the version of the first item, `other_number` that of the second, and `other_left` says that this one
    stands left.
    """

    study_item_id: int
    study_id: int
    number: int
    purpose: str
    criteria: tuple[str, ...] | None
    state: str
    failing: frozenset[str]
    other_number: int | None = None
    other_left: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A revision: from one version number to another, and study → the criteria whose labels fall with it."""

    before: int
    after: int
    falls: Mapping[int, frozenset[str]]


@dataclass
class InStudy:
    """Where an item stands in one study.

    `last`: criterion → the place whose label holds, `missing`: the criteria whose labels fell and were not given again.
    `failed`, `revised`: whether it ever was so.
    """

    study: Study
    places: list[Place]
    state: State | None
    last: dict[str, Place]
    missing: list[str]
    was_disputed: bool
    failed: bool
    revised: bool

    def holds(self, criterion: str, study_item_id: int) -> bool:
        """Whether labels of a criterion at a place hold now: it is the last that asked it, and nothing fell since."""
        place = self.last.get(criterion)
        return place is not None and place.study_item_id == study_item_id and criterion not in self.missing


@dataclass
class Standing:
    """Where an item stands in all: its state, by hand or not, its latest version, and each study that has it."""

    item_id: int
    external_id: str
    version_id: int
    number: int
    state: State = State.NO_STUDY
    by_hand: bool = False
    studies: dict[int, InStudy] = field(default_factory=dict)


def standings(session: Session, item_ids: Sequence[int], *, study_id: int | None = None) -> dict[int, Standing]:
    """Item id → where it stands, for items that are published; with `study_id` as that study alone has it.

    The number of queries does not depend on the number of items, only on the number of studies they are in: pass up to
    `BLOCK` of them.
    """
    found: dict[int, Standing] = {}
    gone: set[int] = set()
    query = pick(Item.id, Item.external_id, ItemVersion.id, ItemVersion.number, item_is_current())
    query = query.join(ItemVersion, col(ItemVersion.item_id) == Item.id)
    for row in session.execute(query.where(col(Item.id).in_(item_ids), version_is_latest())):
        found[row[0]] = Standing(*row[:4])
        if not row[4]:
            gone.add(row[0])
    changes = changes_of(session, list(found))
    studies: dict[int, Study] = {}
    protocols: dict[int, Protocol] = {}
    for (item_id, _, of), places in places_of(session, list(found), study_id).items():
        if of not in studies:
            studies[of] = session.get_one(Study, of)
            protocols[of] = protocol_of(studies[of])
        item, mine = found[item_id], changes[item_id]
        falls = Falls(of, protocols[of], mine, item.number)
        revised = falls.since(places[0].number)
        fell = {place: falls.of(place.number) for place in places}
        item.studies[of] = in_study(studies[of], protocols[of], places, fell, revised=revised)
    ended = _endings(session, list(found))
    for item_id, item in found.items():
        said = [of.state for of in item.studies.values() if of.state is not None]
        item.state = min(said, key=_BEFORE.index, default=State.NO_STUDY)
        state, number = ended.get(item_id, (None, 0))
        if item_id in gone:
            item.state = State.WITHDRAWN
        elif state is not None and (state != State.ACCEPTED or number == item.number):
            item.state, item.by_hand = State(state), True
    return found


_BEFORE = list(State)


def in_study(
    study: Study,
    protocol: Protocol,
    places: list[Place],
    fallen: Mapping[Place, Collection[str]],
    *,
    revised: bool,
) -> InStudy:
    """Where something stands in a study, by its places; `fallen`: the criteria whose labels fell since."""
    asked = [criterion.name for criterion in protocol.criteria]
    last: dict[str, Place] = {}
    for place in places:
        last |= dict.fromkeys(place.criteria if place.criteria is not None else asked, place)
    # Nobody is given an item in an earlier version any more: what lost its labels there is to be asked of the latest.
    lost = {name for name, place in last.items() if place is not places[-1] and place.state == SettlementState.PENDING}
    missing = [name for name in asked if name in last and (name in fallen[last[name]] or name in lost)]
    holding = {place for name, place in last.items() if name not in missing}
    failed = any(name in place.failing for name, place in last.items() if name not in missing)
    waiting = [place for place in holding if place.state == SettlementState.PENDING]
    state: State | None
    if missing or any(place.purpose == Purpose.RECHECK for place in waiting):
        state = State.IN_RECHECK
    elif waiting:
        state = None if study.state == StudyState.CLOSED else State.IN_STUDY
    elif any(place.state == SettlementState.DISPUTED for place in holding):
        state = State.DISPUTED
    else:
        state = State.IN_REVISION if failed else State.ACCEPTED
    was_disputed = any(place.state in (SettlementState.DISPUTED, SettlementState.ADJUDICATED) for place in places)
    failing = any(place.failing for place in places)
    return InStudy(study, places, state, last, missing, was_disputed, failing, revised)


@dataclass(frozen=True, slots=True)
class Falls:
    """What the revisions of an item, now in version `latest`, mean for its labels in one study."""

    study_id: int
    protocol: Protocol
    changes: Sequence[Change]
    latest: int

    def of(self, number: int) -> Collection[str]:
        """The criteria whose labels for a version say nothing of the latest one.

        A later version that came with another import, and not by a revision, is another text: nothing stands.
        """
        later = {change.after: change for change in self.changes if change.before >= number}
        if any(after not in later for after in range(number + 1, self.latest + 1)):
            return [criterion.name for criterion in self.protocol.criteria]
        return {name for change in later.values() for name in change.falls.get(self.study_id, ())}

    def since(self, number: int) -> bool:
        """Whether the item was revised since this version."""
        return any(change.before >= number for change in self.changes)


def places_of(
    session: Session, item_ids: Sequence[int], study_id: int | None, *, pairs: bool = False
) -> dict[tuple[int, int | None, int], list[Place]]:
    """(Item, None, study) → its places there, the first ones first; of `pairs` with the id of the second item."""
    among, values = in_clause(session, "v.item_id", item_ids)
    only = "" if study_id is None else f" AND x.study_id = {int(study_id)}"
    second = "w.item_id, w.number" if pairs else "NULL, NULL"
    joined = "JOIN item_version w ON w.id = x.other_version_id " if pairs else ""
    alone = "" if pairs else " AND x.other_version_id IS NULL"
    rows = plain_rows(
        session,
        f"SELECT v.item_id, {second}, x.study_id, x.id, v.number, x.other_left, x.purpose, x.criteria, s.state, "
        f"s.failing FROM item_version v JOIN study_item x ON x.item_version_id = v.id {joined}"
        f"LEFT JOIN settlement s ON s.study_item_id = x.id WHERE {among}{only} "
        f"AND x.purpose IN ('{Purpose.SAMPLE}', '{Purpose.RECHECK}'){alone} ORDER BY x.id",
        values,
    )
    unread: dict[int, list[int]] = defaultdict(list)
    for _, _, _, of, study_item_id, *_, state, failing in rows:
        if failing is None and state in _SETTLED:
            unread[of].append(study_item_id)
    worked_out: dict[int, list[str]] = {}
    for of, ids in unread.items():
        worked_out |= failing_of(session, of, ids)
    found: dict[tuple[int, int | None, int], list[Place]] = defaultdict(list)
    for item_id, other_id, other_number, of, study_item_id, number, left, purpose, criteria, state, failing in rows:
        fails = worked_out.get(study_item_id, ()) if failing is None else _parsed(failing)
        found[item_id, other_id, of].append(
            Place(
                study_item_id,
                of,
                number,
                purpose,
                None if criteria is None else tuple(_parsed(criteria)),
                state or SettlementState.PENDING,
                frozenset(fails) if state in _SETTLED else frozenset(),
                other_number,
                bool(left),
            )
        )
    return found


_SETTLED = (SettlementState.AGREED, SettlementState.ADJUDICATED)


def _parsed(value: Any) -> Any:
    return loads(value) if isinstance(value, str) else value


def changes_of(session: Session, item_ids: Sequence[int]) -> dict[int, list[Change]]:
    """Item → its revisions, the first ones first."""
    among, values = in_clause(session, "r.item_id", item_ids)
    rows = plain_rows(
        session,
        "SELECT r.item_id, f.number, t.number, r.invalidates FROM revision r "
        "JOIN item_version f ON f.id = r.from_version_id JOIN item_version t ON t.id = r.to_version_id "
        f"WHERE {among} ORDER BY r.id",
        values,
    )
    found: dict[int, list[Change]] = defaultdict(list)
    for item_id, before, after, invalidates in rows:
        falls = {int(row["study"]): frozenset(row["criteria"]) for row in _parsed(invalidates)}
        found[item_id].append(Change(before, after, falls))
    return found


def _endings(session: Session, item_ids: Sequence[int]) -> dict[int, tuple[str | None, int]]:
    """Item → how it was ended by hand last (None: that was taken back), and the version number then."""
    query = pick(ItemEnding.item_id, ItemEnding.state, ItemVersion.number)
    query = query.join(ItemVersion, col(ItemVersion.id) == ItemEnding.item_version_id)
    rows = session.execute(query.where(col(ItemEnding.item_id).in_(item_ids)).order_by(col(ItemEnding.id)))
    return {item_id: (state, number) for item_id, state, number in rows}


# What the protocol accepts --------------------------------------------------------------------------------------------


def failing_of(
    session: Session, study_id: int, study_item_ids: Sequence[int], known: Known | None = None
) -> dict[int, list[str]]:
    """Study item → the criteria of which some final label is none that the protocol accepts; for settled items."""
    found: dict[int, list[str]] = {study_item_id: [] for study_item_id in study_item_ids}
    for of, unit in failing_units(session, study_id, study_item_ids, known):
        if of not in found[unit.study_item_id]:
            found[unit.study_item_id].append(of)
    return found


def failing_units(
    session: Session, study_id: int, study_item_ids: Sequence[int], known: Known | None = None
) -> Iterator[tuple[str, SettledUnit]]:
    """The units of settled items whose final label is none that the protocol accepts, with the criterion that fails."""
    criteria = _accepting(protocol_of(session.get_one(Study, study_id)))
    if not criteria:
        return
    for unit in settled_units(session, study_id, study_item_ids, known):
        if unit.criterion not in criteria:
            continue
        of, criterion = criteria[unit.criterion]
        if unit.state == Outcome.OPEN or not criterion.passes(unit.value):  # what is open never passes
            yield of, unit


def _accepting(protocol: Protocol) -> dict[str, tuple[str, Criterion]]:
    """The criteria, and what is derived from them, that accept only some labels: name → (criterion, how it judges)."""
    criteria = {criterion.name: (criterion.name, criterion) for criterion in protocol.criteria}
    criteria |= {unit.criterion.name: (unit.source.name, unit.criterion) for unit in protocol.derived_criteria()}
    return {name: (of, criterion) for name, (of, criterion) in criteria.items() if criterion.accept}


@operation(On.STUDY, READERS | REVISERS)
def keep_failing(db: Database, _actor: Actor, study_id: int, *, most: int | None = None) -> int:
    """Work out which criteria fail of settled items, where that is not known, and keep it; how many are left.

    `most`: of so many items at a time, so that nobody waits; who asks again goes on with it. A database that is only
    read keeps nothing.
    """
    return 0 if db.only_read else _keep_failing(db, study_id, most)


def _keep_failing(db: Database, study_id: int, most: int | None = None) -> int:
    """Work out what is not known yet of the settled items of a study, and keep it, a block at a time; what is left.

    At `most` so many items are worked out, in whole blocks.

    The rows are locked first: whoever changes an item's labels has to write its row as well, and forgets what is kept.
    """
    with db.read() as session:
        protocol = protocol_of(session.get_one(Study, study_id))
    if not _accepting(protocol):
        return 0
    known: Known = {}
    after = 0
    unread = (
        pick(Settlement)
        .where(col(Settlement.study_id) == study_id, col(Settlement.state).in_(_SETTLED))
        .where(col(Settlement.failing).is_(None))
        .order_by(col(Settlement.study_item_id))
    )
    with db.read() as session:
        if session.execute(unread.limit(1)).first() is None:
            return 0
    done = 0
    while most is None or done < most:
        with db.write() as session:
            block = unread.where(col(Settlement.study_item_id) > after).limit(BLOCK).with_for_update()
            rows = list(session.execute(block).scalars())
            if not rows:
                return 0
            failing = failing_of(session, study_id, [row.study_item_id for row in rows], known)
            for row in rows:
                row.failing = failing[row.study_item_id]
            after, done = rows[-1].study_item_id, done + len(rows)
    with db.read() as session:
        left = pick(func.count()).select_from(Settlement).where(col(Settlement.study_id) == study_id)
        unread = left.where(col(Settlement.state).in_(_SETTLED), col(Settlement.failing).is_(None))
        return int(session.execute(unread).scalar_one())


def n_failing(session: Session, study_id: int, *, kept: bool = False) -> int:
    """How many settled items of a study fail; with `kept` as far as that was worked out and kept.

    A view of the database from before it was kept, as an export has one, sees nothing of that: it is worked out again.
    """
    failing = int(session.execute(_KEPT_FAILING, {"study": study_id}).scalar_one())
    if kept or not _accepting(protocol_of(session.get_one(Study, study_id))):
        return failing
    unread = list(session.execute(_UNREAD, {"study": study_id}).scalars())
    known: Known = {}
    for start in range(0, len(unread), BLOCK):
        found = failing_of(session, study_id, unread[start : start + BLOCK], known)
        failing += sum(map(bool, found.values()))
    return failing


_OF_SETTLED = (
    "FROM settlement WHERE study_id = :study "
    f"AND state IN ('{SettlementState.AGREED}', '{SettlementState.ADJUDICATED}')"
)
_KEPT_FAILING = text(f"SELECT count(*) {_OF_SETTLED} AND failing <> '[]'")
_UNREAD = text(f"SELECT study_item_id {_OF_SETTLED} AND failing IS NULL ORDER BY study_item_id")


# Items ----------------------------------------------------------------------------------------------------------------


def was_withdrawn(session: Session) -> bool:
    """Whether any import was ever withdrawn: all items of such are looked through then."""
    return session.execute(pick(Withdrawal.id).limit(1)).first() is not None


SPECIAL = "SELECT item_id FROM item_version WHERE number > 1 UNION SELECT item_id FROM item_ending"
"""Items of a study whose state does not follow from their one settlement: revised, or ended by hand."""

WITHDRAWN_ONCE = "SELECT i.id FROM item i WHERE i.batch_id IN (SELECT batch_id FROM withdrawal)"
"""Items whose import was withdrawn, at some time."""


def sampled_items(session: Session, study_id: int) -> Iterator[list[int]]:
    """Blocks of the ids of a study's items, in the order of its sample; of a study of pairs none."""
    position = -1
    while rows := session.connection().execute(_SAMPLED, {"study": study_id, "after": position}).all():
        yield [item_id for item_id, _ in rows]
        position = rows[-1][1]


_SAMPLED = text(
    "SELECT v.item_id, x.position FROM study_item x JOIN item_version v ON v.id = x.item_version_id "
    f"WHERE x.study_id = :study AND x.purpose = '{Purpose.SAMPLE}' AND x.other_version_id IS NULL "
    f"AND x.position > :after ORDER BY x.position LIMIT {BLOCK}"
)


@operation(On.PROJECT, READERS)
def item_states(db: Database, _actor: Actor, project_id: int, *, item_ids: Sequence[int]) -> dict[int, State]:
    """Item id → its state, for items of a list (up to `BLOCK`); what is not of the project is left out."""
    with db.read() as session:
        mine = pick(Item.id).where(col(Item.project_id) == project_id, col(Item.id).in_(item_ids))
        ids = list(session.execute(mine).scalars())
        return {item_id: item.state for item_id, item in standings(session, ids).items()}


@operation(On.PROJECT, READERS)
def item_state(db: Database, _actor: Actor, project_id: int, *, item_id: int) -> Standing:
    """Where one item stands; NotFound for one that is not of the project."""
    with db.read() as session:
        mine = pick(Item.id).where(col(Item.project_id) == project_id, col(Item.id) == item_id)
        found = standings(session, list(session.execute(mine).scalars())).get(item_id)
        if found is None:
            raise NotFound(f"The project has no item with id {item_id}. Open one from the page Data.")
        session.expunge_all()
        return found
