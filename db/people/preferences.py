"""Settings of a person's own, kept with the account so that they are there at every computer."""

from __future__ import annotations

from typing import Any

from sqlmodel import col, select

from annotators.preferences import check_preference
from db.engine import Database
from db.models import Preference, now
from db.permissions import Actor, On, operation


@operation(On.APP, anyone_signed_in=True)
def my_preferences(db: Database, actor: Actor) -> dict[str, Any]:
    """What the actor has set, by the names in annotators/preferences.py; what was never set is not there."""
    with db.read() as session:
        rows = session.exec(select(Preference).where(col(Preference.person_id) == actor.person_id))
        return {row.name: row.value for row in rows}


@operation(On.APP, anyone_signed_in=True)
def set_preference(db: Database, actor: Actor, name: str, *, value: object) -> object:
    """Keep a setting of the actor's own, or (None) go back to the program's; what is kept is given back.

    Raises InvalidInput for a setting that is none or a value that cannot be, with what it clashes with. No event: it
    is about nobody's data, and changes with every key that somebody tries.
    """
    checked = None if value is None else check_preference(name, value)
    with db.write() as session:
        row = session.get(Preference, (actor.person_id, name))
        if checked is None:
            if row is not None:
                session.delete(row)
        else:
            row = row or Preference(person_id=actor.person_id, name=name)
            row.value, row.updated_at = checked, now()
            session.add(row)
    return checked
