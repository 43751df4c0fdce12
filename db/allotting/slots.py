"""Slots that are allotted to annotators before anybody begins, and who gets them when somebody leaves or joins.

An open slot says whose it is (`allotted_to`); one that is nobody's goes to whoever is first, of those who have not had
the item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, func, update
from sqlalchemy import select as sql_select

from annotators.arrays import np
from annotators.designing.design import BALANCED
from annotators.items.allotment import allotment
from db.models import Assignment, AssignmentState, Study, StudyMember
from db.query import table_of
from db.studies.places import GETS_ITEMS, MAY_ANNOTATE

_ASSIGNMENTS, _MEMBERS = table_of(Assignment), table_of(StudyMember)
_SLOT, _MEMBER, _STUDY = _ASSIGNMENTS.c, _MEMBERS.c, table_of(Study)
_AT_ONCE = 10_000
_OPEN = AssignmentState.OPEN.value
_LIVE = (_OPEN, AssignmentState.LEASED.value, AssignmentState.SUBMITTED.value, AssignmentState.RETURNED.value)

_IS_ALLOTTED = update(_ASSIGNMENTS).where(_SLOT.id == bindparam("of")).values(allotted_to=bindparam("whose"))
_HANDED_ON = _IS_ALLOTTED.where(_SLOT.state == _OPEN).values(queue=bindparam("behind"))


def is_balanced(study: Study) -> bool:
    """Whether the study's slots are allotted to people."""
    return bool(study.settings.get("queue") == BALANCED)


def allot(connection: Connection, study: Study, people: Sequence[int]) -> None:
    """Allot every slot of a study that was just made to one of these people, by its seed."""
    overlaps = (
        sql_select(func.count())
        .where(_SLOT.study_id == study.id, _SLOT.kind == "slot")
        .group_by(_SLOT.study_item_id)
        .order_by(func.min(_SLOT.queue))
    )
    wanted = list(connection.execute(overlaps).scalars())
    slots = sql_select(_SLOT.id).where(_SLOT.study_id == study.id, _SLOT.kind == "slot").order_by(_SLOT.queue)
    ids = connection.execute(slots).scalars().all()
    owners = (people[person] for block in allotment(len(people), wanted, study.seed) for person in block)
    changes = [{"of": slot, "whose": whose} for slot, whose in zip(ids, owners, strict=True)]
    for begin in range(0, len(changes), _AT_ONCE):
        connection.execute(_IS_ALLOTTED, changes[begin : begin + _AT_ONCE])


def waiting_by_person(connection: Connection, study_id: int) -> dict[int, int]:
    """Person → how many open slots are allotted to them."""
    query = sql_select(_SLOT.allotted_to, func.count()).where(
        _SLOT.study_id == study_id, _SLOT.state == _OPEN, _SLOT.allotted_to.is_not(None)
    )
    return dict(tuple(row) for row in connection.execute(query.group_by(_SLOT.allotted_to)))


# Handing on -----------------------------------------------------------------------------------------------------------


@dataclass
class _Loose:
    """An open slot that may go to somebody: its item, whose it was, and who has had the item or is to have it."""

    slot: int
    item: int
    owner: int | None
    had: set[int]


@dataclass
class _Standing:
    """How the slots of a study are spread: all that each has, what is open of it, and how often every two meet."""

    place: dict[int, int]
    loads: list[int]
    met: Any
    open: Counter[int] = field(default_factory=Counter)
    holders: dict[int, list[int]] = field(default_factory=dict)
    loose: list[_Loose] = field(default_factory=list)
    owned: list[_Loose] = field(default_factory=list)

    def cost(self, person: int, item: int) -> tuple[int, int]:
        """How many slots the person has, and how often they have met those who have the item."""
        others = [self.place[other] for other in self.holders[item] if other in self.place]
        return self.loads[self.place[person]], int(self.met[self.place[person], others].sum())

    def give(self, slot: _Loose, person: int) -> None:
        """Count the slot as the person's."""
        others = [self.place[other] for other in self.holders[slot.item] if other in self.place]
        mine = self.place[person]
        self.loads[mine] += 1
        self.met[mine, others] += 1
        self.met[others, mine] += 1
        self.open[person] += 1
        self.holders[slot.item].append(person)
        slot.had.add(person)


def share_out(
    connection: Connection, study: Study, *, of: Collection[int] = (), newcomers: Collection[int] = ()
) -> int:
    """Allot the open slots of these people, of those who left and of nobody to those who annotate: how many have moved.

    Each goes to somebody who has not had its item: to whoever has fewest, and has met those of the item least. The
    newcomers take over from who has most open, until they have an equal part of what is open. What nobody may have
    goes to whoever is first. In the transaction of an amendment, which has locked the team and the study.
    """
    team = sql_select(_MEMBER.person_id).where(_MEMBER.study_id == study.id).order_by(_MEMBER.person_id)
    gets = [person for person in connection.execute(team.where(GETS_ITEMS)).scalars() if person not in of]
    keeps = {
        person
        for person in connection.execute(
            sql_select(_MEMBER.person_id).where(_MEMBER.study_id == study.id, _MEMBER.left_at.is_(None), MAY_ANNOTATE)
        ).scalars()
        if person not in of
    }
    spread = _spread(connection, study, gets, keeps, with_owned=bool(newcomers))
    random, moved = np.random.default_rng([study.seed, study.amended]), dict[int, tuple[_Loose, int | None]]()
    for slot in spread.loose:
        may = [person for person in gets if person not in slot.had]
        whose = min(may, key=lambda person: (*spread.cost(person, slot.item), random.random()), default=None)
        if whose is not None:
            spread.give(slot, whose)
        if whose != slot.owner:
            moved[slot.slot] = slot, whose
    moved |= _taken_over(spread, [person for person in gets if person in newcomers], len(gets))
    changes = [
        {"of": slot.slot, "whose": whose, "behind": study.next_queue + place}
        for place, (slot, whose) in enumerate(moved.values())
    ]
    for begin in range(0, len(changes), _AT_ONCE):
        connection.execute(_HANDED_ON, changes[begin : begin + _AT_ONCE])
    study.next_queue += len(changes)
    return len(changes)


def _taken_over(spread: _Standing, newcomers: Sequence[int], people: int) -> Iterator[tuple[int, tuple[_Loose, int]]]:
    """Slots that newcomers take from those who have most open, until everybody has about as many."""
    if not newcomers:
        return
    part = sum(spread.open.values()) // max(1, people)
    by_owner: dict[int, list[_Loose]] = {}
    for slot in spread.owned:
        by_owner.setdefault(slot.owner or 0, []).append(slot)
    for person in newcomers:
        for owner in sorted(by_owner, key=lambda other: -spread.open[other]):
            for slot in [slot for slot in by_owner[owner] if person not in slot.had]:
                if spread.open[person] >= part or spread.open[owner] <= part:
                    break
                by_owner[owner].remove(slot)
                spread.open[owner] -= 1
                spread.holders[slot.item].remove(owner)
                spread.give(slot, person)
                yield slot.slot, (slot, person)


def _spread(
    connection: Connection, study: Study, gets: Sequence[int], keeps: Collection[int], *, with_owned: bool
) -> _Standing:
    """How the slots of the study are spread over those who get items; those that are nobody's who `keeps` are loose."""
    query = (
        sql_select(_SLOT.id, _SLOT.study_item_id, _SLOT.person_id, _SLOT.allotted_to, _SLOT.state, _SLOT.kind)
        .where(_SLOT.study_id == study.id)
        .order_by(_SLOT.study_item_id, _SLOT.queue)
    )
    n = len(gets)
    spread = _Standing({person: place for place, person in enumerate(gets)}, [0] * n, np.zeros((n, n), dtype=np.int64))
    rows = connection.execute(query.execution_options(yield_per=_AT_ONCE))
    for item, found in groupby(rows, key=lambda row: row.study_item_id):
        of_item = list(found)
        mine = [row for row in of_item if row.kind == "slot" and row.state == _OPEN]
        loose = [row for row in mine if row.allotted_to not in keeps]
        owned = [row for row in mine if row.allotted_to in keeps]
        took = [row.person_id for row in of_item if row.kind == "slot" and row.state in _LIVE and row.state != _OPEN]
        holders = [*took, *(row.allotted_to for row in owned)]
        places = [spread.place[person] for person in holders if person in spread.place]
        for place in places:
            spread.loads[place] += 1
            spread.met[place, [other for other in places if other != place]] += 1
        spread.open.update(row.allotted_to for row in owned)
        if not loose and not (with_owned and owned):
            continue
        had = {row.person_id for row in of_item if row.person_id is not None} | {row.allotted_to for row in owned}
        spread.holders[item] = holders
        spread.loose += [_Loose(row.id, item, row.allotted_to, had) for row in loose]
        spread.owned += [_Loose(row.id, item, row.allotted_to, had) for row in owned if with_owned]
    return spread
