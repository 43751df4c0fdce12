"""The ledger of work: how many annotations each item of a study still wants, and the open slots that follow from it.

There is one rule, `wants`. Whatever gives an item an annotation, takes one from it, or changes what is planned for it,
brings its open slots in line with that (`balance`, by way of `fill` in settling.py: surplus labels count first). What
came in from elsewhere takes a slot as what was submitted here does, and what is settled is handed out to nobody,
unless more annotations were asked for since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, func, text, update
from sqlalchemy import select as sql_select

from annotators.items.sampling import BY_SCORE
from db.items.current import withdrawn_batches
from db.models import (
    IMPORTED,
    Adjudication,
    Amendment,
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    Purpose,
    SettlementState,
    Study,
)
from db.query import pick, table_of
from db.studies.design import asks_of, has_rechecks, protocol_of
from db.studies.tallies import Tallies

BEFORE_ALL = 2**40
"""How far below zero the slots stand that come before all others."""

_AT_ONCE = 500
_ASSIGNMENT, _SLOT, _STUDY = table_of(Assignment), table_of(Assignment).c, table_of(Study)

WANTED = (
    "CASE WHEN EXISTS (SELECT 1 FROM study_item later WHERE later.earlier_id = {item}) THEN 0 ELSE "
    "(SELECT max(w.n) FROM (SELECT CASE WHEN own.purpose = 'sample' THEN :overlap "
    "ELSE coalesce(own.overlap, :overlap) END AS n FROM study_item own WHERE own.id = {item} "
    "UNION ALL SELECT coalesce(own.overlap, 0) FROM study_item own WHERE own.id = {item} "
    "UNION ALL SELECT coalesce(z.wanted, 0) FROM settlement z WHERE z.study_item_id = {item}) AS w) END"
)
"""How many annotations an item (a column) wants in a study with this `:overlap`: its own, if that is more, and as many
as were asked for because its annotators disagreed. One that came back in a later version wants none."""

DISCARDED = (
    "EXISTS (SELECT 1 FROM item_version v JOIN item_ending e ON e.item_id = v.item_id "
    "WHERE v.id IN ({row}.item_version_id, {row}.other_version_id) AND e.state IN ('rejected', 'withdrawn') "
    "AND NOT EXISTS (SELECT 1 FROM item_ending later WHERE later.item_id = e.item_id AND later.id > e.id))"
)
"""Whether the item of a study item (a row), or one of its pair, was rejected or withdrawn by hand: nobody gets it."""

HOLDING = (AssignmentState.LEASED, AssignmentState.SUBMITTED, AssignmentState.RETURNED)
"""The states in which a slot is somebody's."""

_NOT_WITHDRAWN = (
    "EXISTS (SELECT 1 FROM annotation g WHERE g.assignment_id = {row}.id AND g.kind = 'imported' "
    "AND NOT EXISTS (SELECT 1 FROM annotation newer WHERE newer.supersedes_id = g.id) "
    "AND NOT EXISTS (SELECT 1 FROM withdrawal w WHERE w.batch_id = g.batch_id AND NOT w.reinstates AND NOT EXISTS "
    "(SELECT 1 FROM withdrawal w2 WHERE w2.batch_id = w.batch_id AND w2.id > w.id)))"
)
_TAKES = (
    "((a.kind = 'slot' AND a.state IN ('leased', 'submitted', 'returned')) "
    f"OR (a.kind = '{IMPORTED}' AND a.state = 'submitted' AND {_NOT_WITHDRAWN.format(row='a')}))"
)
"""Whether an assignment `a` takes a slot of its item: one that somebody has, or an imported annotation that counts."""

WAS_ASKED = f"({{row}}.kind <> '{IMPORTED}' OR {{row}}.state <> 'submitted' OR {_NOT_WITHDRAWN})"
"""Whether an assignment (a row) keeps its person from being given the item: not labels whose import was withdrawn."""

_ENTRIES = text(
    f"SELECT x.id, {WANTED.format(item='x.id')} AS wanted, {DISCARDED.format(row='x')} AS discarded, "
    "(SELECT z.state FROM settlement z WHERE z.study_item_id = x.id) AS state, "
    f"(SELECT count(*) FROM assignment a WHERE a.study_item_id = x.id AND {_TAKES}) AS taken, "
    "(SELECT count(*) FROM assignment a WHERE a.study_item_id = x.id AND a.kind = 'slot' AND a.state = 'open') AS open "
    f"FROM study_item x WHERE x.id IN :ids AND x.purpose IN ('{Purpose.SAMPLE}', '{Purpose.RECHECK}') "
    "ORDER BY x.position, x.id"
).bindparams(bindparam("ids", expanding=True))


@dataclass(frozen=True)
class Entry:
    """One item in the ledger: annotations that it wants in all, slots that are taken and open, and whether it is over.

    `discarded`: it was rejected or withdrawn by hand. `settled`: it has its final labels, and nobody asked for more
    annotations since.
    """

    study_item_id: int
    wanted: int
    taken: int
    open: int
    discarded: bool
    settled: bool

    @property
    def wants(self) -> int:
        """How many open slots it should have."""
        return 0 if self.discarded or self.settled else max(0, self.wanted - self.taken)


def entries(connection: Connection, study: Study, study_item_ids: Sequence[int]) -> Iterator[Entry]:
    """The ledger of some items of a study, in the order of its sample; gold and the like have no slots."""
    ordered = sorted(study_item_ids)
    for start in range(0, len(ordered), _AT_ONCE):
        about = {"ids": ordered[start : start + _AT_ONCE], "overlap": study.overlap}
        rows = connection.execute(_ENTRIES, about).all()
        done = [of for of, _, _, state, _, _ in rows if state == SettlementState.ADJUDICATED]
        raised = _asked_for_more(connection, study, done)
        for of, wanted, discarded, state, taken, free in rows:
            agreed = state == SettlementState.AGREED
            decided = state == SettlementState.ADJUDICATED and of not in raised
            yield Entry(of, wanted, taken, free, bool(discarded), agreed or decided)


def _asked_for_more(connection: Connection, study: Study, study_item_ids: Sequence[int]) -> set[int]:
    """The adjudicated items of these for which a higher overlap was asked after a decision about them."""
    if not study_item_ids or not study.amended:
        return set()
    rows = connection.execute(_OVERLAPS, {"study": study.id}).all()
    raised = max((at for before, after, at in rows if int(after) > int(before)), default=None)
    if raised is None:
        return set()
    first = connection.execute(_DECIDED_FIRST, {"ids": list(study_item_ids)}).all()
    return {of for of, at in first if at < raised}


_AMENDED = table_of(Amendment).c
_OVERLAPS = sql_select(_AMENDED.before, _AMENDED.after, _AMENDED.created_at).where(
    _AMENDED.study_id == bindparam("study"), _AMENDED.what == "overlap"
)


_DECIDED = table_of(Adjudication).c
_DECIDED_FIRST = (
    sql_select(_DECIDED.study_item_id, func.min(_DECIDED.created_at))
    .where(_DECIDED.study_item_id.in_(bindparam("ids", expanding=True)))
    .group_by(_DECIDED.study_item_id)
)


def balance(connection: Connection, study: Study, study_item_ids: Sequence[int], counts: Tallies) -> None:
    """Bring the open slots of these items in line with what they want, in the caller's transaction.

    A slot that is missing is put at the end of the queue. Of those that are too many, one goes that is allotted to
    somebody who has judged the item, else the last in the queue. What somebody has before them stays theirs. Nothing of
    a study whose labels were made elsewhere, as nobody is given its items.
    """
    if study.settings.get("foreign"):
        return
    for entry in entries(connection, study, study_item_ids):
        for _ in range(entry.wants - entry.open):
            add_slot(connection, study, entry.study_item_id, counts)
        if entry.open > entry.wants:
            about = {"item": entry.study_item_id, "n": entry.open - entry.wants}
            counts.move(AssignmentState.OPEN, None, n=connection.execute(_TOO_MANY, about).rowcount)


# Who is handed one of these at this moment keeps it: where PostgreSQL waits for a row, it looks again at the condition
# on the row itself alone, not at that of the inner query.
_TOO_MANY = text(
    "DELETE FROM assignment WHERE kind = 'slot' AND state = 'open' AND id IN ("
    "SELECT o.id FROM assignment o WHERE o.study_item_id = :item "
    "AND o.kind = 'slot' AND o.state = 'open' ORDER BY CASE WHEN EXISTS (SELECT 1 FROM assignment h "
    "WHERE h.study_item_id = o.study_item_id AND h.person_id = o.allotted_to) THEN 0 ELSE 1 END, o.queue DESC LIMIT :n)"
)


# Slots one by one -----------------------------------------------------------------------------------------------------


def entry_of(connection: Connection, study: Study, study_item_id: int) -> Entry:
    """The ledger of one item."""
    return next(entries(connection, study, [study_item_id]))


_IS_DISCARDED = text(f"SELECT 1 FROM study_item x WHERE x.id = :item AND {DISCARDED.format(row='x')}")


def is_discarded(connection: Connection, study_item_id: int) -> bool:
    """Whether an item was rejected or withdrawn by hand, so that nobody is to label it."""
    return connection.execute(_IS_DISCARDED, {"item": study_item_id}).first() is not None


def lacks_slots(connection: Connection, study: Study, study_item_id: int) -> int:
    """How many open slots an item has less than it wants."""
    entry = entry_of(connection, study, study_item_id)
    return max(0, entry.wants - entry.open)


_NEXT_NUMBER = (
    update(_STUDY)
    .where(_STUDY.c.id == bindparam("study"))
    .values(next_queue=_STUDY.c.next_queue + 1)
    .returning(_STUDY.c.next_queue)
)


def add_slot(
    connection: Connection, study: Study, study_item_id: int, counts: Tallies, *, whose: int | None = None
) -> int:
    """Put one more open slot for the item at the end of the study's queue; the number that the next one gets.

    A recheck comes before all that were there at the start, as does any slot in a study ordered by a score.
    """
    study_id = study.id or 0
    number: int = connection.execute(_NEXT_NUMBER, {"study": study_id}).scalar_one()
    first = study.item_order == BY_SCORE or is_recheck(connection, study, study_item_id)
    queue = number - 1 - (BEFORE_ALL if first else 0)
    slot = {"study_id": study_id, "study_item_id": study_item_id, "queue": queue, "state": AssignmentState.OPEN}
    kept = {"kind": "slot", "sitting": 1, "steps_done": first_step(connection, study, study_item_id)}
    connection.execute(_ASSIGNMENT.insert(), {**slot, **kept, "allotted_to": whose})
    counts.move(None, AssignmentState.OPEN)
    return number


_IS_RECHECK = text(f"SELECT 1 FROM study_item x WHERE x.id = :item AND x.purpose = '{Purpose.RECHECK}'")


def is_recheck(connection: Connection, study: Study, study_item_id: int) -> bool:
    """Whether an item came back to the study in a later version."""
    return has_rechecks(study) and connection.execute(_IS_RECHECK, {"item": study_item_id}).first() is not None


def first_step(connection: Connection, study: Study, study_item_id: int) -> int:
    """The number (from 0) of the first step that asks something of an item: steps before it count as done."""
    asks = asks_of(connection, study, study_item_id)
    return 0 if asks is None else protocol_of(study).steps_asking(asks)[0]


_FREE_OF_ITEM = (
    sql_select(_SLOT.id)
    .where(_SLOT.study_item_id == bindparam("item"), _SLOT.state == AssignmentState.OPEN, _SLOT.kind == "slot")
    .where(func.coalesce(_SLOT.allotted_to, bindparam("person")) == bindparam("person"))
    .limit(1)
    .with_for_update(skip_locked=True)
)
_USE_UP = delete(_ASSIGNMENT).where(_SLOT.id == bindparam("of"))


def take_open_slot(connection: Connection, study_item_id: int, person_id: int | None) -> bool:
    """Use up one open slot of the item for an assignment of the person's that has a row already; False if none is free.

    What is allotted to somebody else is not free.
    """
    free = connection.execute(_FREE_OF_ITEM, {"item": study_item_id, "person": person_id}).scalar()
    if free is not None:
        connection.execute(_USE_UP, {"of": free})
    return free is not None


_OPEN_SLOTS = (
    sql_select(_SLOT.id)
    .where(_SLOT.study_item_id.in_(bindparam("ids", expanding=True)))
    .where(_SLOT.state == AssignmentState.OPEN, _SLOT.kind == "slot")
    .order_by(_SLOT.id)
    .with_for_update()
)


def hold_open_slots(connection: Connection, study_item_ids: Sequence[int]) -> None:
    """Have nobody be handed an open slot of these items until the transaction ends.

    Who is being handed one at this moment is waited for: what is counted afterwards counts it as taken.
    """
    connection.execute(_OPEN_SLOTS, {"ids": list(study_item_ids)}).all()


def has_counting_labels(connection: Connection, study_item_id: int, person_id: int | None, *, beside: int) -> bool:
    """Whether labels of the person's of the item came in from elsewhere and count, `beside` an assignment of theirs."""
    asked = {"item": study_item_id, "person": person_id, "beside": beside}
    return connection.execute(_COUNTS_ALREADY, asked).first() is not None


_GIVEN = table_of(Annotation)
_COUNTS_ALREADY = pick(_GIVEN.c.id).where(
    _GIVEN.c.study_item_id == bindparam("item"),
    _GIVEN.c.person_id == bindparam("person"),
    _GIVEN.c.assignment_id != bindparam("beside"),
    _GIVEN.c.kind == AnnotationKind.IMPORTED.value,
    _GIVEN.c.batch_id.not_in(withdrawn_batches()),
)


def end_leases_of(connection: Connection, study: Study, pairs: Collection[tuple[int, int]], counts: Tallies) -> None:
    """End the leases of people whose labels of these items came in from elsewhere: (study item, person).

    The row stays as expired, and nobody is given its slot for it: the ledger says what the item still wants.
    """
    items = sorted({study_item_id for study_item_id, _ in pairs})
    for start in range(0, len(items), _AT_ONCE):
        rows = connection.execute(_LEASED, {"study": study.id, "ids": items[start : start + _AT_ONCE]}).all()
        for assignment_id, study_item_id, person_id in rows:
            if (study_item_id, person_id) in pairs:
                connection.execute(_EXPIRE, {"of": assignment_id})
                counts.move(AssignmentState.LEASED, AssignmentState.EXPIRED, person_id)


_LEASED = sql_select(_SLOT.id, _SLOT.study_item_id, _SLOT.person_id).where(
    _SLOT.study_id == bindparam("study"),
    _SLOT.study_item_id.in_(bindparam("ids", expanding=True)),
    _SLOT.kind == "slot",
    _SLOT.state == AssignmentState.LEASED,
)
_EXPIRE = update(_ASSIGNMENT).where(_SLOT.id == bindparam("of")).values(state=AssignmentState.EXPIRED.value)
