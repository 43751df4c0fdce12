"""Where items of a study stand, kept as labels and decisions come and go: what the queues and counts are read from.

What is kept follows from what is stored by `where_it_stands` (annotators/asking/settling.py). Whatever changes the
labels, decisions or plans of items calls `update_settlements` in its transaction, and `fill` where slots may follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, text

from annotators.asking.rounds import Stage, Unit
from annotators.asking.settling import ItemLabels, Known, Wanted, settle_item, where_it_stands
from annotators.protocols import Protocol
from db.allotting.ledger import (
    DISCARDED,
    WAS_ASKED,
    Entry,
    add_slot,
    balance,
    entries,
    entry_of,
    has_counting_labels,
    hold_open_slots,
    lacks_slots,
)
from db.allotting.slots import is_balanced
from db.models import AnnotationKind, AssignmentState, SettlementState, Study, Surplus, now
from db.query import driver_rows, mark, table_of
from db.studies.design import protocol_of
from db.studies.places import gets_items
from db.studies.settlements import (
    adjudicated_labels,
    current_labels,
    looked_at_again,
    plans_for,
    values_decided,
    with_units_asked,
)
from db.studies.tallies import Tallies

_AT_ONCE = 500

# Two annotations of one item that are completed at once take turns here, as the row is written even where it is there.
_LOCK = (
    "INSERT INTO settlement (study_item_id, study_id, state, n_annotations, n_disputed, dispute) "
    "VALUES ({mark}, {mark}, 'pending', 0, 0, 0) ON CONFLICT (study_item_id) DO UPDATE SET study_id = excluded.study_id"
)
_BEFORE = text(
    "SELECT z.study_item_id, z.state, z.stage, z.wanted, z.n_disputed, z.dispute, EXISTS (SELECT 1 FROM assignment a "
    "WHERE a.study_item_id = z.study_item_id AND a.state = 'returned') AS returned, "
    "EXISTS (SELECT 1 FROM adjudication d WHERE d.study_item_id = z.study_item_id) AS decided "
    "FROM settlement z WHERE z.study_item_id IN :ids"
).bindparams(bindparam("ids", expanding=True))
_SETTLE = """
UPDATE settlement SET n_annotations = {mark}, n_disputed = {mark}, dispute = {mark}, state = {mark}, stage = {mark},
  wanted = {mark}, failing = NULL WHERE study_item_id = {mark}
"""
_LABELLED_BESIDES = (
    "SELECT DISTINCT study_item_id FROM annotation WHERE study_id = {mark} AND (batch_id IS NULL OR batch_id <> {mark})"
)
# Somebody is left who could be asked, or has the item before them.
_MAY_ASK = text(
    "SELECT 1 FROM study_item x WHERE x.id = :item AND (EXISTS (SELECT 1 FROM assignment a "
    "WHERE a.study_item_id = x.id AND a.kind = 'slot' AND a.state = 'leased') OR EXISTS (SELECT 1 FROM study_member m "
    f"WHERE m.study_id = x.study_id AND {gets_items()} AND NOT EXISTS (SELECT 1 FROM assignment h "
    f"WHERE h.study_item_id = x.id AND h.person_id = m.person_id AND {WAS_ASKED.format(row='h')}))) "
    "AND NOT EXISTS (SELECT 1 FROM study_item later WHERE later.earlier_id = x.id) "
    f"AND NOT {DISCARDED.format(row='x')}"
)


class _Before(NamedTuple):
    """What is kept of an item that is settled anew."""

    state: str
    stage: str
    wanted: int | None
    n_disputed: int
    dispute: float
    returned: bool
    decided: bool


def update_settlements(
    connection: Connection, study: Study, protocol: Protocol, study_item_ids: Sequence[int], counts: Tallies
) -> None:
    """Work out again where items stand, after something of them changed; in the caller's transaction.

    What that changes of the kept counts is added to `counts`, which the caller writes at its end. Where annotators
    disagree and the study takes more annotations then, one more is asked for.
    """
    assert study.id is not None
    known: Known = {}
    for ids in _blocks(study_item_ids):
        before = _locked(connection, study, ids)
        rounds = [of for of, was in before.items() if was.decided]
        decided = adjudicated_labels(connection, rounds) if rounds else {}
        labels = current_labels(connection, study.id, ids)
        labels = with_units_asked(connection, study, protocol, labels, decided)
        decisions = values_decided(connection, study, decided, rounds) if rounds else {}
        _settle(
            connection, study, protocol, ids, before=before, labels=labels, decisions=decisions, counts=counts,
            known=known,
        )  # fmt: skip


def settle_batch(
    connection: Connection, study: Study, protocol: Protocol, labels: Mapping[int, ItemLabels], batch_id: int
) -> None:
    """Work out where items stand, after all these labels came in as a batch; in the caller's transaction, at its end.

    As `update_settlements`, without reading again what was just written. Items with other labels besides are read, when
    the rows of all are locked, so that of two who write at once the second sees both.
    """
    assert study.id is not None
    known: Known = {}
    counts = Tallies(study.id)
    before: dict[int, _Before] = {}
    for ids in _blocks(list(labels)):
        before |= _locked(connection, study, ids)
    query = _LABELLED_BESIDES.format(mark=mark(connection))
    besides = {item for (item,) in driver_rows(connection.exec_driver_sql(query, (study.id, batch_id)))}
    for ids in _blocks([of for of in labels if of not in besides]):
        asked = with_units_asked(connection, study, protocol, {of: labels[of] for of in ids}, {})
        _settle(connection, study, protocol, ids, before=before, labels=asked, decisions={}, counts=counts, known=known)
    update_settlements(connection, study, protocol, [of for of in labels if of in besides], counts)
    fill(connection, study, list(labels), counts)
    counts.write(connection)


def _blocks(study_item_ids: Sequence[int]) -> Iterator[list[int]]:
    """The ids in order, so that two who write at once lock rows in one order."""
    ordered = sorted(study_item_ids)
    for start in range(0, len(ordered), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]


def _locked(connection: Connection, study: Study, ids: Sequence[int]) -> dict[int, _Before]:
    """Lock the rows of these items, making those that are missing, and read them."""
    connection.exec_driver_sql(_LOCK.format(mark=mark(connection)), [(identifier, study.id) for identifier in ids])
    return {of: _Before(*rest) for of, *rest in connection.execute(_BEFORE, {"ids": ids})}


def _settle(
    connection: Connection,
    study: Study,
    protocol: Protocol,
    ids: Sequence[int],
    *,
    before: Mapping[int, _Before],
    labels: Mapping[int, ItemLabels],
    decisions: Mapping[int, Mapping[Unit, Any]],
    counts: Tallies,
    known: Known,
) -> None:
    """Write where locked items stand by these labels and decisions."""
    again, plans = looked_at_again(connection, study, ids), plans_for(connection, study, ids)
    rows: list[tuple[Any, ...]] = []
    more: list[int] = []
    for of in ids:
        mine, was = labels.get(of, NO_LABELS), before[of]
        units = list(settle_item(protocol, mine, study.rule, known))
        values = decisions.get(of, {})
        wanted = Wanted(plans[of], was.wanted or 0, bool(was.returned), of in again)
        n, asked = mine.n_annotations, was.wanted
        state, disputed, reviewed = where_it_stands(protocol, units, values, n, wanted)
        if state == SettlementState.DISPUTED and not reviewed and _is_asked_for_more(connection, study, of, n, was):
            state, asked = SettlementState.PENDING, n + 1
            more.append(of)
        stage, n_disputed = was.stage, len(disputed)
        # Nothing tells what is looked at again from what is disputed.
        dispute = again[of] if reviewed else float(sum(votes.dispute for *_, votes in disputed))
        if state == SettlementState.ADJUDICATED:
            n_disputed, dispute = was.n_disputed, was.dispute
        elif was.state == SettlementState.ADJUDICATED and stage == Stage.SECOND:
            stage = Stage.FINAL.value  # both blind decisions are made
        rows.append((n, n_disputed, dispute, state, stage, asked, of))
        counts.settle(was.state, state)
    connection.exec_driver_sql(_SETTLE.format(mark=mark(connection)), rows)
    if more:
        fill(connection, study, more, counts)


NO_LABELS = ItemLabels()
"""Of an item that nobody labelled; not to be added to."""


def _is_asked_for_more(connection: Connection, study: Study, study_item_id: int, n: int, was: _Before) -> bool:
    """Whether one more annotation is asked for of an item whose annotators disagree, in a study that takes more then.

    Not of one that adjudicators have begun with, and where nobody is left who has not had it.
    """
    most = study.settings.get("most_overlap")
    if most is None or n >= most or was.decided:
        return False
    return connection.execute(_MAY_ASK, {"item": study_item_id}).first() is not None


# What is surplus ------------------------------------------------------------------------------------------------------


def fill(connection: Connection, study: Study, study_item_ids: Sequence[int], counts: Tallies) -> None:
    """Bring the open slots of these items in line with what they want, in the caller's transaction.

    Labels that are there and found no slot count before anybody is asked anew.
    """
    if touched := _count_surplus(connection, study, study_item_ids, counts):
        update_settlements(connection, study, protocol_of(study), touched, counts)
    balance(connection, study, study_item_ids, counts)


def reopen_slot(
    connection: Connection, study: Study, study_item_id: int, counts: Tallies, *, whose: int | None = None
) -> int | None:
    """Put a new open slot for the item at the end of the study's queue; the number that the next one gets.

    It is the person's (`whose`), where slots are allotted to people.

    None, and no slot, where the item wants none: it was rejected or withdrawn by hand, is settled, has labels that were
    surplus and count now, or has as many annotations under way as are planned for it.
    """
    if touched := _count_surplus(connection, study, [study_item_id], counts):
        update_settlements(connection, study, protocol_of(study), touched, counts)
    if not lacks_slots(connection, study, study_item_id):
        return None
    return add_slot(connection, study, study_item_id, counts, whose=whose if is_balanced(study) else None)


def has_room(connection: Connection, study: Study, study_item_id: int) -> bool:
    """Whether an item has fewer annotations than the study plans for it, though nobody may be given it any more.

    So it is where it was decided as a whole, or came back in a later version.
    """
    hold_open_slots(connection, [study_item_id])
    return _room(connection, study, entry_of(connection, study, study_item_id)) > 0


def _room(connection: Connection, study: Study, entry: Entry) -> int:
    of = entry.study_item_id
    return max(entry.wanted, plans_for(connection, study, [of])[of]) - entry.taken


_ASIDE = text(
    "SELECT a.study_item_id, a.assignment_id, a.person_id, (SELECT f.seconds FROM annotation f "
    "WHERE f.assignment_id = a.assignment_id ORDER BY f.id LIMIT 1) AS seconds FROM annotation a "
    "JOIN set_aside z ON z.annotation_id = a.id JOIN assignment s ON s.id = a.assignment_id "
    f"WHERE a.study_id = :study AND a.study_item_id IN :ids AND z.kind = '{AnnotationKind.SURPLUS}' "
    f"AND s.state = '{AssignmentState.SURPLUS}' "
    "AND NOT EXISTS (SELECT 1 FROM annotation newer WHERE newer.supersedes_id = a.id) ORDER BY a.id"
).bindparams(bindparam("ids", expanding=True))
_TAKE = text(
    f"UPDATE assignment SET state = '{AssignmentState.SUBMITTED}' "
    f"WHERE id = :of AND state = '{AssignmentState.SURPLUS}'"
)
_OF_ASSIGNMENT = text(
    "SELECT a.id FROM annotation a JOIN set_aside z ON z.annotation_id = a.id "
    f"WHERE a.assignment_id = :of AND z.kind = '{AnnotationKind.SURPLUS}' ORDER BY a.id"
)
_COUNTS = text(
    "DELETE FROM set_aside WHERE annotation_id IN (SELECT id FROM annotation WHERE assignment_id = :of) "
    f"AND kind = '{AnnotationKind.SURPLUS}'"
)


def _count_surplus(connection: Connection, study: Study, study_item_ids: Sequence[int], counts: Tallies) -> list[int]:
    """Have the earliest surplus annotations of these items count, as far as there is room; the items that got some."""
    touched: set[int] = set()
    for ids in _blocks(study_item_ids):
        rows = connection.execute(_ASIDE, {"study": study.id, "ids": ids}).all()
        if not rows:
            continue
        there = sorted({row.study_item_id for row in rows})
        hold_open_slots(connection, there)
        room = {entry.study_item_id: _room(connection, study, entry) for entry in entries(connection, study, there)}
        for of, assignment_id, person_id, seconds in rows:
            if room.get(of, 0) <= 0 or has_counting_labels(connection, of, person_id, beside=assignment_id):
                continue
            room[of] -= 1
            if not connection.execute(_TAKE, {"of": assignment_id}).rowcount:
                continue  # it counts since another act at this moment, which took the room for it
            counted = list(connection.execute(_OF_ASSIGNMENT, {"of": assignment_id}).scalars())
            note_surplus(connection, study, counted, counts=True)
            connection.execute(_COUNTS, {"of": assignment_id})
            counts.move(AssignmentState.SURPLUS, AssignmentState.SUBMITTED, person_id)
            counts.move(None, AssignmentState.SURPLUS, person_id, seconds=-(seconds or 0), n=0)
            counts.move(None, AssignmentState.SUBMITTED, person_id, seconds=seconds or 0, n=0)
            touched.add(of)
    return sorted(touched)


def note_surplus(connection: Connection, study: Study, annotations: Sequence[int], *, counts: bool) -> None:
    """Keep for ever that these annotations are surplus from now on, or count again."""
    at = now()
    rows = [{"study_id": study.id, "annotation_id": one, "counts": counts, "created_at": at} for one in annotations]
    if rows:
        connection.execute(table_of(Surplus).insert(), rows)
