"""Counts of assignments by study, person and state, and of settled items, kept as they change: no page has to count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Connection, text
from sqlmodel import Session, select

from db.models import AssignmentState, SettlementState, Tally

EVERYBODY = 0
"""The person id under which a study's totals stand."""

PLANTED = "planted"
"""The state under which the gold items and repeats that somebody has submitted stand: they use no slot."""

ITEMS = {state.value: f"items {state}" for state in SettlementState if state is not SettlementState.PENDING}
"""The states under which a study's items stand that are settled in some way; all others are pending."""

DONE = (AssignmentState.SUBMITTED.value, PLANTED)
"""What an annotator has done, as they see it: what is planted looks like any item."""

_UPSERT = text(
    "INSERT INTO tally (study_id, person_id, state, n, seconds) VALUES (:study, :person, :state, :n, :seconds) "
    "ON CONFLICT (study_id, person_id, state) DO UPDATE SET n = tally.n + excluded.n, "
    "seconds = tally.seconds + excluded.seconds"
)


class Tallies:
    """Changes collected during one transaction and written at its end, in one order, so that writers never deadlock."""

    def __init__(self, study_id: int) -> None:
        self.study_id = study_id
        self._n: dict[tuple[int, str], int] = defaultdict(int)
        self._seconds: dict[tuple[int, str], float] = defaultdict(float)

    def move(
        self, before: str | None, after: str | None, person_id: int | None = None, seconds: float = 0, *, n: int = 1
    ) -> None:
        """n assignments went from one state to another: in the totals and, if given, in the person's counts."""
        for who in {EVERYBODY, person_id or EVERYBODY}:
            if before:
                self._n[who, before] -= n
            if after:
                self._n[who, after] += n
                self._seconds[who, after] += seconds

    def settle(self, before: str, after: str, *, n: int = 1) -> None:
        """n items of the study went from one state of `SettlementState` to another."""
        if before != after:
            self.move(ITEMS.get(before), ITEMS.get(after), n=n)

    def change(self, person_id: int, state: str) -> int:
        """By how much the count of a person's assignments in a state has changed so far."""
        return self._n.get((person_id, state), 0)

    def write(self, connection: Connection) -> None:
        """Add the changes to the kept counts."""
        rows = [
            {"study": self.study_id, "person": person_id, "state": state, "n": n, "seconds": seconds}
            for (person_id, state), n in sorted(self._n.items())
            if (seconds := self._seconds[person_id, state]) or n
        ]
        if rows:
            connection.execute(_UPSERT, rows)


def counts(session: Session, study_id: int, person_id: int = EVERYBODY) -> dict[str, int]:
    """Assignments by state, of one person or of everybody."""
    query = select(Tally.state, Tally.n).where(Tally.study_id == study_id, Tally.person_id == person_id)
    return dict(session.exec(query).all())


def done(counted: Mapping[str, int]) -> int:
    """How much somebody has done, of their counts: nothing tells them what was planted."""
    return sum(counted.get(state, 0) for state in DONE)


def count(session: Session, study_id: int, person_id: int, state: str) -> int:
    """Assignments in one state."""
    row = session.get(Tally, (study_id, person_id, state))
    return row.n if row else 0


def settled(session: Session, study_id: int) -> dict[str, int]:
    """Items of the study by state of `SettlementState`, without those that are pending."""
    found = counts(session, study_id)
    return {state: found.get(kept, 0) for state, kept in ITEMS.items()}
