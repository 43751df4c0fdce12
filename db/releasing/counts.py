"""How many items or pairs of a study are in which state, and how many reached and left each stage of their way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlmodel import Session

from db.engine import Database
from db.models import Purpose, SettlementState, Study
from db.permissions import READERS, Actor, On, operation
from db.releasing.pairs import PairStanding, pair_standings, special_pairs
from db.releasing.states import (
    BLOCK,
    SPECIAL,
    WITHDRAWN_ONCE,
    Standing,
    State,
    keep_failing,
    n_failing,
    standings,
    was_withdrawn,
)
from db.studies import tallies
from db.studies.design import protocol_of

ENDS = (State.ACCEPTED, State.REJECTED, State.WITHDRAWN)
"""The stages in which items end: nothing goes on from them."""


@dataclass
class Stage:
    """How many items of a study reached a stage, and how many of those went on from it."""

    stage: str
    reached: int = 0
    moved: int = 0

    def count(self, reached: int, moved: int) -> None:
        """So many more items reached it, and so many of those moved on."""
        self.reached += reached
        self.moved += min(reached, moved)

    def to_json(self, items: int) -> dict[str, Any]:
        """As `assay status --json` prints it: shares of the study's items, and of those that reached it."""
        return {
            "stage": self.stage,
            "reached": self.reached,
            "moved": self.moved,
            "share_reached": self.reached / items if items else None,
            "share_moved": self.moved / self.reached if self.reached else None,
        }


@dataclass
class StudyStages:
    """The items of a study, or its `pairs`, by state, and by the stages of their way."""

    items: int
    states: dict[str, int]
    stages: list[Stage]
    unread: int = 0
    pairs: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields that `assay status --json` has of it."""
        return {"item_states": self.states, "stages": [stage.to_json(self.items) for stage in self.stages]}


@operation(On.STUDY, READERS)
def study_stages(db: Database, actor: Actor, study_id: int, *, most: int | None = None) -> StudyStages:
    """How many items of a study reached and left each stage, and where they stand in it now; in constant memory.

    A study of pairs counts its pairs: one is accepted when its labels are settled and hold for both items as they are
    now. The stages: `labels` (left with all annotations),
    `adjudication` (left when decided), `revision` (what fails; left when revised or ended by hand), `recheck` (what
    fell with a revision; left when nothing is missing), and `accepted`, `rejected`, `withdrawn`, where items end.

    Which settled items fail is worked out where it is not known yet, of `most` items at once; those that are left
    (`unread`) count as accepted until then. Of a database that is only read it is worked out each time.
    """
    unread = keep_failing(db, actor, study_id, most=most)
    kept = most is not None and not db.only_read
    with db.read() as session:
        study = session.get_one(Study, study_id)
        settled, failing = tallies.settled(session, study_id), n_failing(session, study_id, kept=kept)
        counts = _Counts()
        for block in _special(session, study):
            for item in block:
                counts.special(item)
                for place in item.studies[study_id].places:
                    settled[place.state] = settled.get(place.state, 0) - 1
                    failing -= bool(place.failing)
        counts.ordinary(study.n_items - counts.items, settled, failing=failing)
        return StudyStages(counts.items, *counts.found(), unread, protocol_of(study).about_pairs)


def _special(session: Session, study: Study) -> Iterator[Iterable[Standing | PairStanding]]:
    """Blocks of what of a study has a state that does not follow from its one settlement."""
    assert study.id is not None
    if protocol_of(study).about_pairs:
        for pairs in special_pairs(session, study.id):
            yield pair_standings(session, study, pairs).values()
        return
    special = f"{SPECIAL} UNION {WITHDRAWN_ONCE}" if was_withdrawn(session) else SPECIAL
    ids = session.execute(text(_SPECIAL_ITEMS.format(special=special)), {"study": study.id}).scalars().all()
    for start in range(0, len(ids), BLOCK):
        yield standings(session, ids[start : start + BLOCK], study_id=study.id).values()


# In this order of joins, which SQLite takes from CROSS JOIN: few items are special.
_SPECIAL_ITEMS = (
    "SELECT v.item_id, min(x.position) AS place "
    "FROM ({special}) AS w CROSS JOIN item_version v CROSS JOIN study_item x "
    "WHERE v.item_id = w.item_id AND x.item_version_id = v.id AND x.study_id = :study "
    f"AND x.purpose = '{Purpose.SAMPLE}' AND x.other_version_id IS NULL GROUP BY v.item_id ORDER BY place"
)


class _Counts:
    """The counts of `study_stages`, as items come in: many of one settlement at once, the others one by one."""

    def __init__(self) -> None:
        self.items = 0
        self.states = dict.fromkeys((state.value for state in State if state is not State.NO_STUDY), 0)
        self.stages = {name: Stage(name) for name in ("labels", "adjudication", "revision", "recheck")}
        self.ends = {state: Stage(state.value) for state in ENDS}

    def found(self) -> tuple[dict[str, int], list[Stage]]:
        """Items by state, and the stages."""
        return self.states, [*self.stages.values(), *self.ends.values()]

    def ordinary(self, n: int, settled: Mapping[str, int], *, failing: int) -> None:
        """n items that are where their settlement is; of those that are settled so many fail."""
        disputed, adjudicated = settled[SettlementState.DISPUTED], settled[SettlementState.ADJUDICATED]
        done = settled[SettlementState.AGREED] + adjudicated
        self._add(State.IN_STUDY, n - disputed - done)
        self._add(State.DISPUTED, disputed)
        self._add(State.IN_REVISION, failing)
        self._add(State.ACCEPTED, done - failing)
        for stage, reached, moved in (
            ("labels", n, disputed + done),
            ("adjudication", disputed + adjudicated, adjudicated),
            ("revision", failing, 0),
        ):
            self.stages[stage].count(reached, moved)

    def special(self, item: Standing | PairStanding) -> None:
        """An item that was revised, ended by hand or withdrawn; or a pair with such a one."""
        [mine] = item.studies.values()
        # A study that is closed before an item has its labels says nothing of it; it counts as labelled by few.
        state = State.IN_STUDY if item.state is State.NO_STUDY else item.state
        self._add(state, 1)
        ended = state in self.ends and item.by_hand
        fell = len(mine.places) > 1 or bool(mine.missing)
        self.stages["labels"].count(True, mine.places[0].state != SettlementState.PENDING)
        self.stages["adjudication"].count(mine.was_disputed, state is not State.DISPUTED)
        self.stages["revision"].count(mine.failed or mine.revised, mine.revised or ended)
        self.stages["recheck"].count(fell, state is not State.IN_RECHECK)

    def _add(self, state: State, n: int) -> None:
        self.items += n
        self.states[state] += n
        if state in self.ends:
            self.ends[state].count(n, 0)
