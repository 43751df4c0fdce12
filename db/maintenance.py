"""The two exceptions to append-only, each one audited operation: words are redacted, a whole project is deleted.

Both lift the guards (`db/guards.py`) inside their own transaction and put them back before it ends.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlmodel import Session

from annotators.errors import InvalidInput, NotFound
from db import guards
from db.engine import Database, dumps, loads
from db.models import Project
from db.permissions import RESEARCHERS, Actor, On, operation, record

_OF_STUDY = "assignment_id IN (SELECT id FROM assignment WHERE study_id = :study)"
_FREE_TEXT: tuple[tuple[str, str, str, str], ...] = (
    # table, key, column, which rows belong to the study
    ("label", "id", "comment", _OF_STUDY),
    ("label", "id", "reason", _OF_STUDY),
    ("label", "id", "value", _OF_STUDY),
    ("submission", "id", "comment", _OF_STUDY),
    ("submission", "id", "flag", _OF_STUDY),
    ("assignment", "id", "reason", "study_id = :study"),
    ("adjudication", "id", "reason", "study_id = :study"),
)
_LEAST = 3


@dataclass(frozen=True)
class Redacted:
    """How many texts were replaced, and the digests of what stood there."""

    texts: int
    digests: list[str]


@operation(On.STUDY, RESEARCHERS)
def redact_text(db: Database, actor: Actor, study_id: int, *, containing: str, reason: str) -> Redacted:
    """Replace every free text of a study's annotators and adjudicators that contains these words.

    For a name or an address that somebody has typed into a comment. The whole text gives way to a note with its
    SHA-256, so that a copy can still be recognised; drafts with the words are deleted. The event says who, why and how
    often, and not the words. Raises InvalidInput for words too short to be meant, NotFound when no text has them.
    """
    if len(containing.strip()) < _LEAST:
        raise InvalidInput(f"{containing!r} is too short to redact by. Give at least {_LEAST} characters.")
    if not reason.strip():
        raise InvalidInput("A redaction needs a reason: it is what people read later. Give one.")
    digests: list[str] = []
    with db.write() as session, guards.lifted(session.connection()):
        for table, key, column, belongs in _FREE_TEXT:
            digests += _redact_column(session, table, key, column, belongs, study_id=study_id, containing=containing)
        drafts = "DELETE FROM draft WHERE CAST(content AS TEXT) LIKE :like AND " + _OF_STUDY
        session.execute(text(drafts), {"study": study_id, "like": f"%{dumps(containing)[1:-1]}%"})
        if not digests:
            raise NotFound(f"No text of this study contains {containing!r}. Nothing was changed.")
        project_id = session.execute(text("SELECT project_id FROM study WHERE id = :id"), {"id": study_id}).scalar_one()
        details = {"texts": len(digests), "reason": reason.strip(), "sha256": sorted(set(digests))}
        record(session, actor, "text redacted", "study", study_id, project_id=project_id, details=details)
    return Redacted(len(digests), digests)


def _redact_column(
    session: Session, table: str, key: str, column: str, belongs: str, *, study_id: int, containing: str
) -> list[str]:
    is_json = column == "value"
    shown = f"CAST({column} AS TEXT)" if is_json else column
    rows = session.execute(
        text(f"SELECT {key}, {shown} FROM {table} WHERE {belongs} AND {shown} IS NOT NULL"), {"study": study_id}
    ).all()
    digests = []
    for row_id, stored in rows:
        value: Any = loads(stored) if is_json else stored
        if not isinstance(value, str) or containing not in value:
            continue
        digest = hashlib.sha256(value.encode()).hexdigest()
        note = f"[redacted, SHA-256 {digest}]"
        placed = "CAST(:note AS JSONB)" if is_json and session.get_bind().dialect.name == "postgresql" else ":note"
        session.execute(
            text(f"UPDATE {table} SET {column} = {placed} WHERE {key} = :row"),
            {"note": dumps(note) if is_json else note, "row": row_id},
        )
        digests.append(digest)
    return digests


_STUDY = "study_id IN (SELECT id FROM study WHERE project_id = :project)"
_PLACE = f"study_item_id IN (SELECT id FROM study_item WHERE {_STUDY})"
_SLOT = f"assignment_id IN (SELECT id FROM assignment WHERE {_STUDY})"
_ITEM = "item_id IN (SELECT id FROM item WHERE project_id = :project)"
_VERSION = f"item_version_id IN (SELECT id FROM item_version WHERE {_ITEM})"
_BATCH = "batch_id IN (SELECT id FROM batch WHERE project_id = :project)"
_OWN = "project_id = :project"
_IN_ORDER: tuple[tuple[str, str], ...] = (
    # table, which rows belong to the project; what others point at comes last
    ("adjudicated_label", f"adjudication_id IN (SELECT id FROM adjudication WHERE {_STUDY})"),
    ("adjudication", _STUDY),
    ("label", _SLOT),
    ("annotation", _STUDY),
    ("submission", _SLOT),
    ("draft", _SLOT),
    ("assignment", _STUDY),
    ("settlement", _STUDY),
    ("study_score", _PLACE),
    ("study_item", _STUDY),
    ("study_member", _STUDY),
    ("tally", _STUDY),
    ("revision", _ITEM),
    ("training_example", f"training_set_id IN (SELECT id FROM training_set WHERE {_OWN})"),
    ("training_set", _OWN),
    ("job", _OWN),
    ("score", f"run_id IN (SELECT id FROM run WHERE {_OWN})"),
    ("run", _OWN),
    ("study", _OWN),
    ("evidence", _VERSION),
    ("claim", _VERSION),
    ("image", _VERSION),
    ("item_document", _VERSION),
    ("item_version", _ITEM),
    ("item", _OWN),
    ("question", _OWN),
    ("document", _OWN),
    ("withdrawal", _BATCH),
    ("batch", _OWN),
    ("membership", _OWN),
    ("event", _OWN),
)


@dataclass(frozen=True)
class Deleted:
    """What a deletion removed: rows by table, and the digests of documents that no other project holds."""

    rows: dict[str, int]
    unused_documents: list[str]


@operation(On.PROJECT)
def delete_project(db: Database, actor: Actor, project_id: int, *, name: str) -> Deleted:
    """Delete a project with everything in it, for ever; administrators only. `name` must be the project's own.

    An event without the project stays behind and says who deleted how much. The bytes of documents that no other
    project holds are left to the caller to remove, by the digests that come back.
    """
    with db.write() as session, guards.lifted(session.connection()):
        project = session.get_one(Project, project_id)
        if project.name != name:
            raise InvalidInput(f"{name!r} is not the name of this project. Write it out to delete the project.")
        mine = "SELECT sha256 FROM document WHERE project_id = :project AND sha256 IS NOT NULL"
        others = "SELECT sha256 FROM document WHERE project_id <> :project AND sha256 IS NOT NULL"
        place = {"project": project_id}
        unused = sorted(session.execute(text(f"{mine} EXCEPT {others}"), place).scalars())
        rows = {}
        for table, belongs in _IN_ORDER:
            counted = session.execute(text(f"SELECT COUNT(*) FROM {table} WHERE {belongs}"), place).scalar_one()
            session.execute(text(f"DELETE FROM {table} WHERE {belongs}"), place)
            rows[table] = int(counted)
        session.delete(project)
        session.flush()
        record(session, actor, "project deleted", "project", project_id, details={"rows": rows})
    return Deleted(rows, unused)
