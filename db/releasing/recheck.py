"""Rechecks: items that were revised come back to their study in the later version, asked what fell, with fresh eyes.

A pair comes back when either of its items was revised. Its sides stay as they were drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import func, text
from sqlmodel import Session, col, select

from annotators.errors import InvalidInput
from annotators.figures import some
from annotators.items.pairs import in_words, pair_name
from annotators.protocols import Protocol
from db.allotting.ledger import BEFORE_ALL
from db.allotting.settling import fill
from db.annotating.amendments import add_amendment, amended_study, lock_team, stated_reason
from db.engine import Database, insert_many
from db.models import (
    BARRED,
    AssignmentState,
    Purpose,
    Revision,
    SettlementState,
    Study,
    StudyItem,
)
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import in_clause, pick, plain_rows
from db.releasing.pairs import (
    PairKey,
    PairStanding,
    earlier_places,
    pair_standings,
    special_pairs,
    together,
)
from db.releasing.states import BLOCK, InStudy, Standing, standings
from db.studies.design import freeze_scores_of, protocol_of
from db.studies.places import who_gets_items
from db.studies.tallies import Tallies

_PENDING = (SettlementState.PENDING, SettlementState.DISPUTED)


@dataclass(frozen=True)
class ItemRecheck:
    """One item of a study whose labels fell: from which version to which, and the criteria that are asked again.

    `waits`: why it cannot be sent back yet, in words; None where it can. `fresh` counts the annotators of the study who
    know no earlier version of it. Of a pair `item` and the versions are of the first, `other` are of the second: its
    id, and from which version to which.
    """

    item: str
    before: int
    after: int
    criteria: tuple[str, ...]
    waits: str | None
    fresh: int
    other: tuple[str, int, int] | None = None

    @property
    def name(self) -> str:
        """As people read it, of a pair both items."""
        return in_words(pair_name(self.item, self.other[0] if self.other else None))

    def to_json(self) -> dict[str, Any]:
        """As `assay study recheck --json` prints it."""
        other, before, after = self.other or (None, None, None)
        pair = {"other_item": other, "other_from": before, "other_to": after} if self.other else {}
        return {
            "item": self.item,
            "from": self.before,
            "to": self.after,
            **pair,
            "criteria": list(self.criteria),
            "fresh": self.fresh,
            "waits": self.waits,
        }


class _Fallen(NamedTuple):
    """An item or pair whose labels fell, with the place that it was judged at last, and what is asked again."""

    item: Standing | PairStanding
    there: InStudy
    criteria: list[str]
    waits: str | None

    @property
    def key(self) -> int | PairKey:
        """By which the study's items, or pairs, are known."""
        return self.item.item_id if isinstance(self.item, Standing) else self.item.key

    @property
    def name(self) -> str:
        """As people read it."""
        return self.item.external_id if isinstance(self.item, Standing) else self.item.name

    @property
    def names(self) -> set[str]:
        """What it may be called by who asks for it: a pair also by either item."""
        if isinstance(self.item, Standing):
            return {self.name}
        return {self.name, self.item.first.external_id, self.item.second.external_id}


@operation(On.STUDY, READERS)
def to_recheck(db: Database, _actor: Actor, study_id: int) -> list[ItemRecheck]:
    """The items of a study of which labels fell with a revision and were not asked again, by the sample's order."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        fallen = list(_fallen(session, study))
        fresh = _fresh(session, study, fallen)
        return [_row(each, fresh[each.key]) for each in fallen]


@operation(On.STUDY, RESEARCHERS)
def send_to_recheck(
    db: Database, actor: Actor, study_id: int, *, items: Sequence[str] = (), overlap: int | None = None, reason: str
) -> list[ItemRecheck]:
    """Ask again what fell with revisions, of the later versions; the items or pairs that were sent.

    Each gets as many slots as `overlap` (None: the study's) says, before all others in the queue, and asks the criteria
    that fell with those that cannot be asked apart from them. Labels that stand are not asked again. Nobody who was
    given an earlier version, in any study, who wrote one, or who decided on one, is given the recheck. An item that
    still waits for labels or a decision in its earlier version is left for later: nothing that is under way is lost.

    `items` names those that come back, a pair by either item or by both (`A ⇄ B`); else all that can. The pairs of a
    revised item come back together, so that who met its later version does not meet the earlier one beside another
    answer; a pair is given to nobody who was given an earlier version of either item, alone or in whichever pair.

    Raises InvalidInput for an item of which nothing fell, or that waits, an overlap below 1, and where the study has
    too few annotators who do not know an item; Conflict for a study that is closed, or whose labels were made
    elsewhere.
    """
    why = stated_reason(reason)
    if overlap is not None and overlap < 1:
        raise InvalidInput(f"The overlap of a recheck cannot be {overlap}: at least 1 annotator is asked again.")
    with db.write() as session:
        lock_team(session, study_id)
        study = amended_study(session, study_id)
        chosen = _chosen(list(_fallen(session, study)), items)
        fresh = _fresh(session, study, chosen)
        wanted = study.overlap if overlap is None else overlap
        short = [each for each in chosen if fresh[each.key] < wanted]
        if short:
            names = some([each.name for each in short], 5)
            least = min(fresh[each.key] for each in short)
            raise InvalidInput(
                f"{names}: {least} of the annotators do not know an earlier version, and the overlap needs "
                f"{wanted}. Amend the study so that others join it, or ask fewer annotators an item."
            )
        sent = _insert(session, study, chosen, wanted)
        after = {"items": len(chosen), "slots": sent, **({"overlap": wanted} if wanted != study.overlap else {})}
        add_amendment(session, actor, study, what="recheck", before=None, after=after, reason=why)
        record(
            session, actor, "items sent to recheck", "study", study_id,
            project_id=study.project_id, details={**after, "reason": why},
        )  # fmt: skip
        return [_row(each, fresh[each.key]) for each in chosen]


def _row(each: _Fallen, fresh: int) -> ItemRecheck:
    before, item, rest = max(place.number for place in each.there.places), each.item, (each.waits, fresh)
    if isinstance(item, Standing):
        return ItemRecheck(item.external_id, before, item.number, tuple(each.criteria), *rest)
    other_before = max(place.other_number or 0 for place in each.there.places)
    other = (item.second.external_id, other_before, item.second.number)
    return ItemRecheck(item.first.external_id, before, item.first.number, tuple(each.criteria), *rest, other)


def _chosen(fallen: Sequence[_Fallen], items: Sequence[str]) -> list[_Fallen]:
    for name in items:
        called = [each for each in fallen if name in each.names]
        if not called:
            raise InvalidInput(
                f"Nothing has to be asked again of {name!r}: no label of it fell, or it is sent back already. "
                "Look at `assay study recheck --dry-run`."
            )
        if waits := next((each for each in called if each.waits), None):
            raise InvalidInput(f"{waits.name!r} cannot come back yet: {waits.waits}.")
    wanted = set(items)
    chosen = [each for each in fallen if (wanted & each.names if items else not each.waits)]
    chosen = _with_their_group(fallen, chosen)
    if not chosen:
        waiting = f" {len(fallen):,} wait for labels or a decision in their earlier version." if fallen else ""
        raise InvalidInput(f"Of no item of the study has anything to be asked again.{waiting} Revise items first.")
    return chosen


def _with_their_group(fallen: Sequence[_Fallen], chosen: Sequence[_Fallen]) -> list[_Fallen]:
    """What was chosen, and the pairs that come back together with it."""
    keys = {each.key for each in chosen}
    groups = together([each.item for each in fallen if isinstance(each.item, PairStanding)])
    keys |= {pair.key for group in groups if keys & {pair.key for pair in group} for pair in group}
    return [each for each in fallen if each.key in keys]


def _fallen(session: Session, study: Study) -> Iterator[_Fallen]:
    """The items or pairs of which labels fell, with what is to be asked again."""
    assert study.id is not None
    protocol = protocol_of(study)
    if protocol.about_pairs:
        yield from _fallen_pairs(session, study, protocol)
        return
    ids = session.execute(_LATER, {"study": study.id, "project": study.project_id}).scalars().all()
    for start in range(0, len(ids), BLOCK):
        block = ids[start : start + BLOCK]
        found = standings(session, block, study_id=study.id)
        for item_id in block:
            item = found.get(item_id)
            if item is None or item.by_hand:
                continue
            there = item.studies[study.id]
            if there.missing:
                waits = _waits(there) or _is_there(there, item.number)
                yield _Fallen(item, there, protocol.asked_with(there.missing), waits)


# Items of a study that have a later version than they were sampled in: of no other has a label fallen. In this order of
# joins, which SQLite takes from CROSS JOIN: few items were ever revised.
_LATER = text(
    "SELECT v.item_id FROM (SELECT r.item_id, max(r.number) AS number FROM item_version r "
    "JOIN item i ON i.id = r.item_id WHERE r.number > 1 AND i.project_id = :project GROUP BY r.item_id) AS w "
    "CROSS JOIN item_version v CROSS JOIN study_item x WHERE v.item_id = w.item_id AND v.number < w.number "
    "AND x.item_version_id = v.id AND x.study_id = :study "
    f"AND x.purpose = '{Purpose.SAMPLE}' AND x.other_version_id IS NULL ORDER BY x.position"
)


def n_to_send(session: Session, study: Study) -> tuple[int, int]:
    """How many items or pairs of a study can be sent back now, and of how many too few annotators know no version.

    Of those whose labels fell with a revision `BLOCK` are looked at.
    """
    ready = [each for each in islice(_fallen(session, study), BLOCK) if not each.waits]
    fresh = _fresh(session, study, ready) if ready else {}
    return len(ready), sum(fresh[each.key] < study.overlap for each in ready)


def _fallen_pairs(session: Session, study: Study, protocol: Protocol) -> Iterator[_Fallen]:
    """The pairs of which labels fell; one waits with those that have an earlier version of its revised items."""
    assert study.id is not None
    fallen: list[PairStanding] = []
    for block in special_pairs(session, study.id):
        found = pair_standings(session, study, block)
        fallen += [pair for pair in (found[key] for key in block) if pair.there.missing and not pair.by_hand]
    revised = {item.item_id: item for pair in fallen for item in pair.revised}
    busy = {place.item_id: place.state for place in earlier_places(session, study.id, revised.values())
            if place.state in _PENDING}  # fmt: skip
    waits: dict[PairKey, str] = {}
    for group in together(fallen):
        own = next((waiting for pair in group if (waiting := _waits(pair.there))), None)
        items = [item for pair in group for item in pair.revised if item.item_id in busy]
        if own is None and items:
            own = f"{items[0].external_id!r} still waits in its earlier version, in another pair"
        waits |= {pair.key: own for pair in group if own is not None}
    for pair in fallen:
        yield _Fallen(pair, pair.there, protocol.asked_with(pair.there.missing), waits.get(pair.key))


def _waits(there: InStudy) -> str | None:
    """Why an item cannot be asked again yet."""
    states = {place.state for place in there.places}
    if there.places[-1].state == SettlementState.PENDING:  # nobody is given an item in an earlier version any more
        return "it still waits for labels in its earlier version"
    if SettlementState.DISPUTED in states:
        return "it still waits for a decision in its earlier version"
    return None


def _is_there(there: InStudy, number: int) -> str | None:
    """Why an item that came back in its latest version already cannot come back in it once more."""
    if there.places[-1].number < number:
        return None
    return (
        "it came back in its latest version already, and labels of an earlier one were left out since. Restore them, "
        "revise it, or end it by hand"
    )


# Fresh eyes -----------------------------------------------------------------------------------------------------------


def _known_by(session: Session, items: Sequence[int]) -> dict[int, dict[int, int]]:
    """Item → the people who were given a version of it or decided on one, in any study, or wrote one.

    With the number of the earliest version that each of them knows; who wrote one knows them all.
    """
    found: dict[int, dict[int, int]] = {item_id: {} for item_id in items}
    for start in range(0, len(items), BLOCK):
        among, values = in_clause(session, "v.item_id", items[start : start + BLOCK])
        for column in ("item_version_id", "other_version_id"):
            for table in ("assignment", "adjudication"):
                rows = plain_rows(
                    session,
                    "SELECT v.item_id, a.person_id, min(v.number) FROM item_version v "
                    f"JOIN study_item x ON x.{column} = v.id JOIN {table} a ON a.study_item_id = x.id "
                    f"WHERE {among} AND a.person_id IS NOT NULL GROUP BY v.item_id, a.person_id",
                    values,
                )
                for item_id, person_id, number in rows:
                    found[item_id][person_id] = min(number, found[item_id].get(person_id, number))
        written = pick(Revision.item_id, Revision.person_id).where(
            col(Revision.item_id).in_(items[start : start + BLOCK]), col(Revision.person_id).is_not(None)
        )
        for item_id, person_id in session.execute(written):
            found[item_id][person_id] = 0
    return found


def _knowing(session: Session, fallen: Sequence[_Fallen]) -> dict[int | PairKey, set[int]]:
    """Item or pair → who does not get it again: of an item that was revised, all who know any version of it.

    Of a pair's item that was not revised since, those who know a version before the one that it has.
    """
    items = {item.item_id for each in fallen for item in _parts(each)}
    known = _known_by(session, sorted(items))

    def of(each: _Fallen) -> set[int]:
        revised = each.item.revised if isinstance(each.item, PairStanding) else (each.item,)
        return {
            person
            for item in _parts(each)
            for person, number in known[item.item_id].items()
            if item in revised or number < item.number
        }

    return {each.key: of(each) for each in fallen}


def _parts(each: _Fallen) -> tuple[Standing, ...]:
    return (each.item,) if isinstance(each.item, Standing) else (each.item.first, each.item.second)


def _fresh(session: Session, study: Study, fallen: Sequence[_Fallen]) -> Mapping[int | PairKey, int]:
    team, known = _team(session, study), _knowing(session, fallen)
    return {key: len(team - people) for key, people in known.items()}


def _team(session: Session, study: Study) -> set[int]:
    return who_gets_items(session, study.id or 0)


def fresh_people(session: Session, study: Study, items: Sequence[int]) -> tuple[set[int], dict[int, set[int]]]:
    """Those who get items of the study; and item → those of them who know no version of it."""
    people = _team(session, study)
    return people, {item_id: people - knowing.keys() for item_id, knowing in _known_by(session, items).items()}


# Sending --------------------------------------------------------------------------------------------------------------

_OPEN_SLOTS = text(
    "INSERT INTO assignment (study_id, study_item_id, kind, state, queue, sitting, steps_done) "
    "VALUES (:study, :item, 'slot', 'open', :queue, 1, :first)"
)


def _insert(session: Session, study: Study, chosen: Sequence[_Fallen], overlap: int) -> int:
    """Add the later versions with their slots, and keep them from those who know the items; how many slots."""
    assert study.id is not None
    protocol, connection = protocol_of(study), session.connection()
    last = session.exec(select(func.max(col(StudyItem.position))).where(StudyItem.study_id == study.id)).one()
    rows = [
        StudyItem(
            study_id=study.id,
            **_versions(each),
            position=position,
            purpose=Purpose.RECHECK.value,
            criteria=each.criteria,
            overlap=None if overlap == study.overlap else overlap,
            earlier_id=each.there.places[-1].study_item_id,
        )
        for position, each in enumerate(chosen, last + 1)
    ]
    session.add_all(rows)
    session.flush()
    session.refresh(study, ["next_queue"])
    slots = []
    for row in rows:
        first = protocol.steps_asking(row.criteria)[0]
        for _ in range(overlap):
            queue = study.next_queue - BEFORE_ALL  # before all that nobody has judged yet
            slots.append({"study": study.id, "item": row.id, "queue": queue, "first": first})
            study.next_queue += 1
    connection.execute(_OPEN_SLOTS, slots)
    known = _knowing(session, chosen)
    barred = [
        (study.id, row.id, person_id, BARRED, BARRED, -1, 1, 0)
        for row, each in zip(rows, chosen, strict=True)
        for person_id in sorted(known[each.key])
    ]
    columns = ["study_id", "study_item_id", "person_id", "kind", "state", "queue", "sitting", "steps_done"]
    insert_many(connection, "assignment", columns, barred)
    counts = Tallies(study.id)
    counts.move(None, AssignmentState.OPEN, n=len(slots))
    study.settings = {**study.settings, "rechecks": study.settings.get("rechecks", 0) + len(slots)}
    session.add(study)
    session.flush()
    # What is open of the earlier places is given to nobody any more.
    fill(connection, study, [place.study_item_id for each in chosen for place in each.there.places], counts)
    counts.write(connection)
    freeze_scores_of(session, study, [row.id or 0 for row in rows])
    return len(slots)


def _versions(each: _Fallen) -> dict[str, Any]:
    """What a place of it is about, as `StudyItem` has it."""
    if isinstance(each.item, Standing):
        return {"item_version_id": each.item.version_id}
    first, second = each.item.first.version_id, each.item.second.version_id
    return {"item_version_id": first, "other_version_id": second, "other_left": each.item.other_left}
