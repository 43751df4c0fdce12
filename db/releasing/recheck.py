"""Rechecks: items that were revised come back to their study in the later version, asked what fell, with fresh eyes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import delete, func, text
from sqlmodel import Session, col, select

from annotators.errors import Conflict, InvalidInput
from annotators.figures import some
from db.annotating.amendments import add_amendment, amended_study, lock_team, stated_reason
from db.engine import Database, insert_many
from db.models import (
    BARRED,
    Assignment,
    AssignmentState,
    Purpose,
    Revision,
    SettlementState,
    Study,
    StudyItem,
    StudyMember,
)
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import in_clause, pick, plain_rows
from db.releasing.states import BLOCK, InStudy, Standing, sampled_items, standings
from db.studies.design import freeze_scores_of, protocol_of
from db.studies.tallies import Tallies

_PENDING = (SettlementState.PENDING, SettlementState.DISPUTED)


@dataclass(frozen=True)
class ItemRecheck:
    """One item of a study whose labels fell: from which version to which, and the criteria that are asked again.

    `waits`: why it cannot be sent back yet, in words; None where it can. `fresh` counts the annotators of the study who
    know no earlier version of it.
    """

    item: str
    before: int
    after: int
    criteria: tuple[str, ...]
    waits: str | None
    fresh: int

    def to_json(self) -> dict[str, Any]:
        """As `assay study recheck --json` prints it."""
        return {
            "item": self.item,
            "from": self.before,
            "to": self.after,
            "criteria": list(self.criteria),
            "fresh": self.fresh,
            "waits": self.waits,
        }


class _Fallen(NamedTuple):
    """An item of the study whose labels fell, with the place that it was judged at last, and what is asked again."""

    item: Standing
    there: InStudy
    criteria: list[str]
    waits: str | None


@operation(On.STUDY, READERS)
def to_recheck(db: Database, _actor: Actor, study_id: int) -> list[ItemRecheck]:
    """The items of a study of which labels fell with a revision and were not asked again, by the sample's order."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        fallen = list(_fallen(session, study))
        fresh = _fresh(session, study, fallen)
        return [_row(each, fresh[each.item.item_id]) for each in fallen]


@operation(On.STUDY, RESEARCHERS)
def send_to_recheck(
    db: Database, actor: Actor, study_id: int, *, items: Sequence[str] = (), overlap: int | None = None, reason: str
) -> list[ItemRecheck]:
    """Ask again what fell with revisions, of the later versions; the items that were sent, or those named of them.

    Each gets as many slots as `overlap` (None: the study's) says, behind all others in the queue, and asks the criteria
    that fell with those that cannot be asked apart from them. Labels that stand are not asked again. Nobody who was
    given an earlier version, in any study, who wrote one, or who decided on one, is given the recheck. An item that
    still waits for labels or a decision in its earlier version is left for later: nothing that is under way is lost.

    Raises InvalidInput for an item of which nothing fell, or that waits, an overlap below 1, and where the study has
    too few annotators who do not know an item; Conflict for a study that is closed, whose labels were made elsewhere,
    or that is about pairs: no state of an item follows from comparisons, so that none of them falls.
    """
    why = stated_reason(reason)
    if overlap is not None and overlap < 1:
        raise InvalidInput(f"The overlap of a recheck cannot be {overlap}: at least 1 annotator is asked again.")
    with db.write() as session:
        lock_team(session, study_id)
        study = amended_study(session, study_id)
        if protocol_of(study).about_pairs:
            raise Conflict(
                f"Study {study.name!r} compares two answers at a time. Whether an item is accepted does not follow "
                "from comparisons, so that none is asked again. A new study of the pairs takes later versions."
            )
        chosen = _chosen(list(_fallen(session, study)), items)
        fresh = _fresh(session, study, chosen)
        wanted = study.overlap if overlap is None else overlap
        short = [each for each in chosen if fresh[each.item.item_id] < wanted]
        if short:
            names = some([each.item.external_id for each in short], 5)
            least = min(fresh[each.item.item_id] for each in short)
            raise InvalidInput(
                f"{names}: {least} of the annotators do not know an earlier version, and the overlap needs "
                f"{wanted}. Add annotators with `study amend --add`, or ask fewer with `study recheck --overlap`."
            )
        sent = _insert(session, study, chosen, wanted)
        after = {"items": len(chosen), "slots": sent, **({"overlap": wanted} if wanted != study.overlap else {})}
        add_amendment(session, actor, study, what="recheck", before=None, after=after, reason=why)
        record(
            session, actor, "items sent to recheck", "study", study_id,
            project_id=study.project_id, details={**after, "reason": why},
        )  # fmt: skip
        return [_row(each, fresh[each.item.item_id]) for each in chosen]


def _row(each: _Fallen, fresh: int) -> ItemRecheck:
    before = max(place.number for place in each.there.places)
    return ItemRecheck(each.item.external_id, before, each.item.number, tuple(each.criteria), each.waits, fresh)


def _chosen(fallen: Sequence[_Fallen], items: Sequence[str]) -> list[_Fallen]:
    by_name = {each.item.external_id: each for each in fallen}
    for name in items:
        if name not in by_name:
            raise InvalidInput(
                f"Nothing has to be asked again of {name!r}: no label of it fell, or it is sent back already. "
                "Look at `assay study recheck --dry-run`."
            )
        if (waits := by_name[name].waits) is not None:
            raise InvalidInput(f"{name!r} cannot come back yet: {waits}.")
    chosen = [by_name[name] for name in dict.fromkeys(items)] if items else [each for each in fallen if not each.waits]
    if not chosen:
        waiting = f" {len(fallen):,} wait for labels or a decision in their earlier version." if fallen else ""
        raise InvalidInput(f"Of no item of the study has anything to be asked again.{waiting} Revise items first.")
    return chosen


def _fallen(session: Session, study: Study) -> Iterator[_Fallen]:
    """The items of which labels fell, with what is to be asked again; a block of the sample at a time."""
    assert study.id is not None
    protocol = protocol_of(study)
    for block in sampled_items(session, study.id):
        found = standings(session, block, study_id=study.id)
        for item_id in block:
            item = found[item_id]
            if item.by_hand:
                continue
            there = item.studies[study.id]
            if there.missing:
                yield _Fallen(item, there, protocol.asked_with(there.missing), _waits(there))


def _waits(there: InStudy) -> str | None:
    """Why an item cannot be asked again yet."""
    states = {place.state for place in there.places}
    if SettlementState.PENDING in states:
        return "it still waits for labels in its earlier version"
    if SettlementState.DISPUTED in states:
        return "it still waits for a decision in its earlier version"
    return None


# Fresh eyes -----------------------------------------------------------------------------------------------------------


def _known_by(session: Session, items: Sequence[int]) -> dict[int, set[int]]:
    """Item → the people who were given a version of it, wrote one, or decided on one, in any study."""
    found: dict[int, set[int]] = {item_id: set() for item_id in items}
    for start in range(0, len(items), BLOCK):
        among, values = in_clause(session, "v.item_id", items[start : start + BLOCK])
        for column in ("item_version_id", "other_version_id"):
            for table in ("assignment", "adjudication"):
                rows = plain_rows(
                    session,
                    "SELECT DISTINCT v.item_id, a.person_id FROM item_version v "
                    f"JOIN study_item x ON x.{column} = v.id JOIN {table} a ON a.study_item_id = x.id "
                    f"WHERE {among} AND a.person_id IS NOT NULL",
                    values,
                )
                for item_id, person_id in rows:
                    found[item_id].add(person_id)
        written = pick(Revision.item_id, Revision.person_id).where(
            col(Revision.item_id).in_(items[start : start + BLOCK]), col(Revision.person_id).is_not(None)
        )
        for item_id, person_id in session.execute(written):
            found[item_id].add(person_id)
    return found


def _fresh(session: Session, study: Study, fallen: Sequence[_Fallen]) -> dict[int, int]:
    _, found = fresh_people(session, study, [each.item.item_id for each in fallen])
    return {item_id: len(people) for item_id, people in found.items()}


def fresh_people(session: Session, study: Study, items: Sequence[int]) -> tuple[set[int], dict[int, set[int]]]:
    """Those who get items of the study; and item → those of them who know no version of it."""
    team = select(StudyMember.person_id).where(
        StudyMember.study_id == study.id,
        col(StudyMember.left_at).is_(None),
        col(StudyMember.left_out_from).is_(None),
        col(StudyMember.paused_at).is_(None),
    )
    people = set(session.exec(team).all())
    return people, {item_id: people - knowing for item_id, knowing in _known_by(session, items).items()}


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
            item_version_id=each.item.version_id,
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
            slots.append({"study": study.id, "item": row.id, "queue": study.next_queue, "first": first})
            study.next_queue += 1
    connection.execute(_OPEN_SLOTS, slots)
    known = _known_by(session, [each.item.item_id for each in chosen])
    barred = [
        (study.id, row.id, person_id, BARRED, BARRED, -1, 1, 0)
        for row, each in zip(rows, chosen, strict=True)
        for person_id in sorted(known[each.item.item_id])
    ]
    columns = ["study_id", "study_item_id", "person_id", "kind", "state", "queue", "sitting", "steps_done"]
    insert_many(connection, "assignment", columns, barred)
    counts = Tallies(study.id)
    counts.move(None, AssignmentState.OPEN, n=len(slots))
    # A settled item may have an open slot, as where people disagreed and one corrected: nobody is given that any more.
    for start in range(0, len(chosen), BLOCK):
        gone = [place.study_item_id for each in chosen[start : start + BLOCK] for place in each.there.places]
        left = delete(Assignment).where(
            col(Assignment.study_item_id).in_(gone), col(Assignment.state) == AssignmentState.OPEN
        )
        counts.move(AssignmentState.OPEN, None, n=session.execute(left).rowcount)  # type: ignore[attr-defined]
    counts.write(connection)
    study.settings = {**study.settings, "rechecks": study.settings.get("rechecks", 0) + len(slots)}
    session.add(study)
    freeze_scores_of(session, study, [row.id or 0 for row in rows])
    return len(slots)
