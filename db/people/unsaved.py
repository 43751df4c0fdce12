"""Texts that a person is writing on a page and has not saved: kept on the server, and seen by nobody else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from annotators.asking.yaml_files import MAX_CHARACTERS
from annotators.errors import InvalidInput
from db.engine import Database
from db.models import UnsavedText, now
from db.permissions import RESEARCHERS, Actor, On, operation


@dataclass(frozen=True)
class Unsaved:
    """What is being changed (`name`, or `new`), what is written so far, and when it was changed last."""

    name: str
    text: str
    changed_at: datetime


@operation(On.PROJECT, RESEARCHERS)
def my_unsaved(db: Database, actor: Actor, project_id: int, *, page: str) -> list[Unsaved]:
    """What the actor has not saved on a page of this project, the newest first."""
    query = (
        select(UnsavedText)
        .where(
            col(UnsavedText.person_id) == actor.person_id,
            col(UnsavedText.project_id) == project_id,
            col(UnsavedText.page) == page,
        )
        .order_by(col(UnsavedText.changed_at).desc(), col(UnsavedText.name))
    )
    with db.read() as session:
        return [Unsaved(row.name, row.text, row.changed_at) for row in session.exec(query)]


@operation(On.PROJECT, RESEARCHERS)
def keep_unsaved(db: Database, actor: Actor, project_id: int, *, page: str, name: str, text: str | None) -> None:
    """Keep what the actor has written so far, in place of what was kept; None: it was saved or given up.

    No event: it changes with every field that somebody leaves. Raises InvalidInput for a text that no file of its kind
    may be as long as.
    """
    if text is not None and len(text) > MAX_CHARACTERS:
        raise InvalidInput(
            f"The text has {len(text):,} characters; what is not saved is kept up to {MAX_CHARACTERS:,}. Shorten it, "
            "or keep it in a file of your own."
        )
    with db.write() as session:
        row = session.get(UnsavedText, (actor.person_id, project_id, page, name))
        if text is None:
            if row is not None:
                session.delete(row)
            return
        row = row or UnsavedText(person_id=actor.person_id, project_id=project_id, page=page, name=name, text=text)
        row.text, row.changed_at = text, now()
        session.add(row)
