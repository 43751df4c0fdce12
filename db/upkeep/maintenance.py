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
from db.items.unpublished import only_import
from db.models import Project
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.upkeep.told import delete_unsaved_prompts, redact_examples

_OF_STUDY = "assignment_id IN (SELECT id FROM assignment WHERE study_id = :study)"
_RELEASED = "study_id = :study"
_DECIDED = "adjudication_id IN (SELECT id FROM adjudication WHERE study_id = :study)"
_OF_ITEMS = (
    "item_id IN (SELECT v.item_id FROM study_item x JOIN item_version v ON v.id = x.item_version_id "
    "WHERE x.study_id = :study UNION SELECT v.item_id FROM study_item x JOIN item_version v "
    "ON v.id = x.other_version_id WHERE x.study_id = :study)"
)
_BATCHES = (
    "IN (SELECT n.batch_id FROM annotation n WHERE n.study_id = :study UNION SELECT i.batch_id FROM item i "
    f"WHERE i.{_OF_ITEMS.removeprefix('item_')})"
)
_PROPOSED = f"proposal_id IN (SELECT id FROM proposed_revision WHERE {_OF_ITEMS})"
_ABOUT_STUDY = (
    "((thing = 'study' AND thing_id = :study) OR "
    "(thing = 'study item' AND thing_id IN (SELECT id FROM study_item WHERE study_id = :study)) OR "
    "(thing = 'assignment' AND thing_id IN (SELECT id FROM assignment WHERE study_id = :study)) OR "
    f"(thing = 'item' AND thing_{_OF_ITEMS.removeprefix('item_')}) OR "
    f"(thing = 'batch' AND thing_id {_BATCHES}))"
)
_RELEASED_PAIR = ("release_id", "study_id", "item_version_id", "other_version_id", "criterion", "target")
_FREE_TEXT: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    # table, key, column, which rows belong to the study
    ("label", ("id",), "comment", _OF_STUDY),
    ("label", ("id",), "reason", _OF_STUDY),
    ("label", ("id",), "value", _OF_STUDY),
    ("label", ("id",), "rationale", _OF_STUDY),
    ("submission", ("id",), "comment", _OF_STUDY),
    ("submission", ("id",), "flag", _OF_STUDY),
    ("assignment", ("id",), "reason", "study_id = :study"),
    ("message", ("id",), "text", "study_id = :study"),
    ("phase_answer", ("id",), "answers", "study_id = :study"),
    ("adjudication", ("id",), "reason", "study_id = :study"),
    ("adjudicated_label", ("adjudication_id", "criterion", "target"), "reason", _DECIDED),
    ("adjudicated_label", ("adjudication_id", "criterion", "target"), "note", _DECIDED),
    ("adjudicated_label", ("adjudication_id", "criterion", "target"), "value", _DECIDED),
    ("release_label", ("release_id", "item_version_id", "study_id", "criterion", "target"), "value", _RELEASED),
    ("release_pair_label", _RELEASED_PAIR, "value", _RELEASED),
    ("gold_label", ("id",), "explanation", "study_item_id IN (SELECT id FROM study_item WHERE study_id = :study)"),
    ("amendment", ("id",), "reason", "study_id = :study"),
    ("omission", ("id",), "reason", "study_id = :study"),
    ("revision", ("id",), "reason", _OF_ITEMS),
    ("batch", ("id",), "source", f"id {_BATCHES}"),
    ("withdrawal", ("id",), "reason", f"batch_id {_BATCHES}"),
    ("item_ending", ("id",), "reason", _OF_ITEMS),
    ("proposal_answer", ("proposal_id",), "reason", _PROPOSED),
    ("event", ("id",), "details", _ABOUT_STUDY),
)
_JSON = frozenset({"value", "rationale", "details", "answers"})
_LEAST = 3


@dataclass(frozen=True)
class Redacted:
    """How many texts were replaced, and the digests of what stood there."""

    texts: int
    digests: list[str]


@operation(On.STUDY, RESEARCHERS)
def redact_text(db: Database, actor: Actor, study_id: int, *, containing: str, reason: str) -> Redacted:
    """Replace every free text of a study's annotators and adjudicators that contains these words.

    For a name or an address that somebody has typed into a comment. Comments, reasons (also of what was changed in the
    study, and of revisions and endings of its items), labels, rationales, decisions
    and what the audit log repeats of them: each whole text gives way to a note with its SHA-256, so that a copy can
    still be recognised; drafts with the words are deleted. Examples of prompts are copies of decisions that do not say
    of which study: those of the whole project are looked through, and the event has the hashes that the prompts had and
    have. The event says who, why and how often, and not the words.
    Raises InvalidInput for words too short to be meant, NotFound when no text has them, Conflict while a judge is asked
    and prompts have them.
    """
    if len(containing.strip()) < _LEAST:
        raise InvalidInput(f"{containing!r} is too short to redact by. Give at least {_LEAST} characters.")
    if not reason.strip():
        raise InvalidInput("A redaction needs a reason: it is what people read later. Give one.")
    if containing in reason:
        raise InvalidInput("The reason has the very words that are to go, and it stays in the audit log. Word it anew.")
    digests: list[str] = []
    with db.write() as session, guards.lifted(session.connection()):
        for table, key, column, belongs in _FREE_TEXT:
            digests += _redact_column(session, table, key, column, belongs, study_id=study_id, containing=containing)
        project_id = session.execute(text("SELECT project_id FROM study WHERE id = :id"), {"id": study_id}).scalar_one()
        prompts = redact_examples(session, project_id, lambda value: _without(value, containing, digests))
        drafts = _delete_drafts(session, study_id, containing)
        drafts += delete_unsaved_prompts(session, project_id, containing)
        if not digests and not drafts:
            raise NotFound(f"No text of this study contains {containing!r}. Nothing was changed.")
        details = {"texts": len(digests), "drafts": drafts, "reason": reason.strip(), "sha256": sorted(set(digests))}
        if prompts:
            details["prompts"] = prompts
        record(session, actor, "text redacted", "study", study_id, project_id=project_id, details=details)
    return Redacted(len(digests), digests)


def _redact_column(
    session: Session, table: str, keys: tuple[str, ...], column: str, belongs: str, *, study_id: int, containing: str
) -> list[str]:
    is_json = column in _JSON
    shown = f"CAST({column} AS TEXT)" if is_json else column
    chosen = text(f"SELECT {shown}, {', '.join(keys)} FROM {table} WHERE {belongs} AND {shown} IS NOT NULL")
    placed = "CAST(:note AS JSONB)" if is_json and session.get_bind().dialect.name == "postgresql" else ":note"
    row = " AND ".join(f"{key} = :{key}" for key in keys)
    digests: list[str] = []
    for stored, *key in session.execute(chosen, {"study": study_id}).all():
        before = len(digests)
        value = _without(loads(stored) if is_json else stored, containing, digests)
        if len(digests) > before:
            values = {"note": dumps(value) if is_json else value, **dict(zip(keys, key, strict=True))}
            session.execute(text(f"UPDATE {table} SET {column} = {placed} WHERE {row}"), values)
    return digests


def _without(value: Any, containing: str, digests: list[str]) -> Any:
    """The value with a note for each text that contains the words; the digests of these texts are appended."""
    match value:
        case str() if containing in value:
            digests.append(hashlib.sha256(value.encode()).hexdigest())
            return f"[redacted, SHA-256 {digests[-1]}]"
        case list():
            return [_without(inner, containing, digests) for inner in value]
        case dict():
            return {key: _without(inner, containing, digests) for key, inner in value.items()}
    return value


def _delete_drafts(session: Session, study_id: int, containing: str) -> int:
    chosen = text(f"SELECT assignment_id, step, CAST(content AS TEXT) FROM draft WHERE {_OF_STUDY}")
    deleted = 0
    for assignment_id, step, content in session.execute(chosen, {"study": study_id}).all():
        found: list[str] = []
        _without(loads(content), containing, found)
        if found:
            here = {"assignment": assignment_id, "step": step}
            session.execute(text("DELETE FROM draft WHERE assignment_id = :assignment AND step = :step"), here)
            deleted += 1
    return deleted


_STUDY = "study_id IN (SELECT id FROM study WHERE project_id = :project)"
_PLACE = f"study_item_id IN (SELECT id FROM study_item WHERE {_STUDY})"
_SLOT = f"assignment_id IN (SELECT id FROM assignment WHERE {_STUDY})"
_ITEM = "item_id IN (SELECT id FROM item WHERE project_id = :project)"
_VERSION = f"item_version_id IN (SELECT id FROM item_version WHERE {_ITEM})"
_BATCH = "batch_id IN (SELECT id FROM batch WHERE project_id = :project)"
_OWN = "project_id = :project"
_RELEASE = f"release_id IN (SELECT id FROM item_release WHERE {_OWN})"
_IN_ORDER: tuple[tuple[str, str], ...] = (
    # table, which rows belong to the project; what others point at comes last
    ("adjudicated_label", f"adjudication_id IN (SELECT id FROM adjudication WHERE {_STUDY})"),
    ("adjudication", _STUDY),
    ("message", _STUDY),
    ("adjudication_lease", _STUDY),
    ("label", _SLOT),
    ("set_aside", _STUDY),
    ("judged_item", f"run_id IN (SELECT id FROM run WHERE {_OWN})"),
    ("judge_reply", f"call_id IN (SELECT id FROM judge_call WHERE {_OWN})"),
    ("judge_call", _OWN),
    ("judge", _OWN),
    ("kept_document", _OWN),
    ("data_mark", _OWN),
    ("surplus", _STUDY),
    ("omission_surplus", f"omission_id IN (SELECT id FROM omission WHERE {_STUDY})"),
    ("omission", _STUDY),
    ("known_elsewhere", _STUDY),
    ("annotation", _STUDY),
    ("submission", _SLOT),
    ("draft", _SLOT),
    ("assignment", _STUDY),
    ("settlement", _STUDY),
    ("study_score", _PLACE),
    ("gold_label", _PLACE),
    ("drawn_item", _PLACE),
    ("label_draw", _STUDY),
    ("study_item", _STUDY),
    ("phase_answer", _STUDY),
    ("outside_annotator", f"invitation_id IN (SELECT id FROM invitation WHERE {_STUDY})"),
    ("invitation", _STUDY),
    ("study_member", _STUDY),
    ("amendment", _STUDY),
    ("tally", _STUDY),
    ("release_pair_label", _RELEASE),
    ("release_pair", _RELEASE),
    ("release_label", _RELEASE),
    ("release_item", _RELEASE),
    ("item_release", _OWN),
    ("item_ending", _ITEM),
    ("revision_lease", _ITEM),
    ("proposal_answer", f"proposal_id IN (SELECT id FROM proposed_revision WHERE {_OWN})"),
    ("proposed_revision", _OWN),
    ("revision", _ITEM),
    ("training_example", f"training_set_id IN (SELECT id FROM training_set WHERE {_OWN})"),
    ("training_set", _OWN),
    ("job", _OWN),
    ("score", f"run_id IN (SELECT id FROM run WHERE {_OWN})"),
    ("run", _OWN),
    ("study", _OWN),
    ("study_draft", _OWN),
    ("kept_mapping", _OWN),
    ("protocol_version", _OWN),
    ("prompt_version", _OWN),
    ("unsaved_text", _OWN),
    ("evidence", _VERSION),
    ("claim", _VERSION),
    ("image", _VERSION),
    ("item_document", _VERSION),
    ("item_version", _ITEM),
    ("item", _OWN),
    ("question", _OWN),
    ("document", _OWN),
    ("withdrawal", _BATCH),
    ("unpublished_batch", _BATCH),
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
    project holds are left to the caller to remove, by the digests that come back (`forget_bytes`). Raises Conflict
    while an import into the project is under way.
    """
    with only_import(db, project_id, wait=0), db.write() as session, guards.lifted(session.connection()):
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
