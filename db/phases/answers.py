"""What annotators answered in the phases around a study's work, and which phase is open to whom.

Which phases there are is frozen with the study (`annotators/designing/phases.py`). Somebody answers each of them once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam
from sqlalchemy import select as sql_select
from sqlmodel import Session, col

from annotators.designing.phases import AFTER, BEFORE, CONSENT, DECLINED, Phases, phases_of
from annotators.errors import Conflict
from db.models import PhaseAnswer, Study
from db.query import pick, table_of

_ANSWER = table_of(PhaseAnswer).c
_OF_PERSON = sql_select(_ANSWER.phase, _ANSWER.answers).where(
    _ANSWER.study_id == bindparam("study"), _ANSWER.person_id == bindparam("person")
)
_TITLES = {
    CONSENT: "consent",
    BEFORE: "questionnaire before the first item",
    AFTER: "questionnaire after the last item",
}


@dataclass(frozen=True)
class Standing:
    """The phases of a study that somebody has answered, and whether they declined to take part."""

    phases: Phases
    answered: frozenset[str]
    declined: bool

    @property
    def before_items(self) -> str | None:
        """The phase that is open before any item; None where there is none, or they declined."""
        if self.declined:
            return None
        return next((name for name in self.phases.asked() if name not in self.answered and name != AFTER), None)

    @property
    def after_items(self) -> bool:
        """Whether the questionnaire after the last item is still to be answered."""
        return not self.declined and AFTER in self.phases.asked() and AFTER not in self.answered


def standing_of(session: Session, study: Study, person_id: int) -> Standing | None:
    """How somebody stands in a study's phases; None in a study that has none."""
    if "phases" not in study.settings:
        return None
    rows = session.connection().execute(_OF_PERSON, {"study": study.id, "person": person_id}).all()
    return _standing(phases_of(study.settings), {row[0]: row[1] for row in rows})


def _standing(phases: Phases, said: Mapping[str, Sequence[Mapping[str, Any]]]) -> Standing:
    declined = any(answer["value"] == DECLINED for answer in said.get(CONSENT, ()))
    return Standing(phases, frozenset(said), declined)


def standings(session: Session, study: Study) -> dict[int, Standing]:
    """Person → how they stand, of all who answered anything; empty in a study without phases."""
    if "phases" not in study.settings:
        return {}
    phases = phases_of(study.settings)
    rows = session.execute(pick(PhaseAnswer).where(col(PhaseAnswer.study_id) == study.id)).scalars()
    said: dict[int, dict[str, list[Any]]] = {}
    for row in rows:
        said.setdefault(row.person_id, {})[row.phase] = row.answers
    return {person: _standing(phases, answers) for person, answers in said.items()}


def check_items_are_open(session: Session, study: Study, person_id: int) -> None:
    """Conflict where a phase comes before the study's items, saying which, or where the person declined."""
    standing = standing_of(session, study, person_id)
    if standing is None:
        return
    if standing.declined:
        raise Conflict("You declined to take part in this study, and have none of its items.")
    if standing.before_items is not None:
        raise Conflict(
            f"The {_TITLES[standing.before_items]} of this study comes first (phase {standing.before_items!r}). "
            "Answer it, then go on."
        )


def stored(session: Session, uid: str) -> PhaseAnswer | None:
    """What was stored under this id of the client's, if anything."""
    return session.execute(pick(PhaseAnswer).where(col(PhaseAnswer.uid) == uid)).scalars().first()


@dataclass(frozen=True)
class Answer:
    """One answer: whose, in which phase, to which question by name and title, the value, and when."""

    person_id: int
    phase: str
    question: str
    title: str
    value: Any
    at: datetime


def answers_in(session: Session, study: Study) -> list[Answer]:
    """Everything that was answered in a study's phases, in the order in which it came."""
    phases = phases_of(study.settings)
    titles = {(name, asked.name): asked.title for name in (BEFORE, AFTER) for asked in getattr(phases, name)}
    rows = session.execute(
        pick(PhaseAnswer).where(col(PhaseAnswer.study_id) == study.id).order_by(col(PhaseAnswer.id))
    ).scalars()
    return [
        Answer(
            row.person_id,
            row.phase,
            answer["question"],
            titles.get((row.phase, answer["question"]), "Consent"),
            answer["value"],
            row.created_at,
        )
        for row in rows
        for answer in row.answers
    ]
