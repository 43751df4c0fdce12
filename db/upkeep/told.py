"""What people said that was copied into prompts as examples: redacted wherever a prompt is kept, with its hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Text, cast
from sqlmodel import Session, col

from annotators.errors import Conflict
from annotators.judges.prompts.prompt import prompt_hash
from db.judging.judges import JudgeSettings, settings_digest
from db.models import Event, Job, JobState, Judge, PromptVersion, Run, UnsavedText
from db.query import pick
from db.runs.run import parameters_hash

_KEPT: tuple[tuple[Any, str], ...] = (
    (PromptVersion, "prompt"),
    (Judge, "settings"),
    (Run, "parameters"),
    (Job, "parameters"),
    (Event, "details"),
)
"""Where prompts are kept, whole or within something else."""

_ASKING = ("judge", "judge check")
"""Kinds of jobs that hold a prompt while they run, and would store it again."""

_PAGE = "prompts"
"""The page whose unsaved texts are prompts."""


def redact_examples(session: Session, project_id: int, redacted: Callable[[Any], Any]) -> dict[str, str]:
    """Redact the reasons and labels in the examples of all prompts of a project: in its versions, in judges, runs, jobs
    and events. The hash that each prompt had → the one that it has now.

    `redacted` is what takes the place of a text, or the text. The guards are to be lifted. Raises Conflict while a
    judge is being asked, where there is a prompt to change: it would be told the words all the same.
    """
    hashes: dict[str, str] = {}
    for table, column in _KEPT:
        said = getattr(table, column)
        query = pick(table).where(table.project_id == project_id, cast(said, Text).like('%"examples"%'))
        for row in session.execute(query.order_by(table.id)).scalars():
            kept = getattr(row, column)
            found = _redacted(kept, redacted, hashes)
            if found == kept:
                continue
            setattr(row, column, found)
            if isinstance(row, PromptVersion):
                row.prompt_hash = prompt_hash(found)
            elif isinstance(row, Judge):
                row.settings_hash = settings_digest(JudgeSettings.from_json(found))
            elif isinstance(row, Run):
                row.parameters_hash = parameters_hash(found)
            session.add(row)
    session.flush()
    if hashes:
        _refuse_while_asked(session, project_id)
    return hashes


def _redacted(kept: Any, redacted: Callable[[Any], Any], hashes: dict[str, str]) -> Any:
    """What is kept, with other examples in every prompt in it that has the words, and with the hash of that prompt."""
    if isinstance(kept, list):
        return [_redacted(inner, redacted, hashes) for inner in kept]
    if not isinstance(kept, dict):
        return kept
    if not isinstance(kept.get("examples"), list):
        return {name: _redacted(inner, redacted, hashes) for name, inner in kept.items()}
    prompt = {name: value for name, value in kept.items() if name != "hash"}
    examples = [
        {name: redacted(value) if name in ("why", "label") else value for name, value in example.items()}
        if isinstance(example, dict) and "criterion" in example
        else example
        for example in kept["examples"]
    ]
    if examples == kept["examples"]:
        return kept
    found = {**prompt, "examples": examples}
    hashes[prompt_hash(prompt)] = prompt_hash(found)
    return {**found, "hash": prompt_hash(found)} if "hash" in kept else found


def _refuse_while_asked(session: Session, project_id: int) -> None:
    running = session.execute(
        pick(Job.id)
        .where(col(Job.project_id) == project_id, col(Job.kind).in_(_ASKING), col(Job.state) == JobState.RUNNING)
        .order_by(col(Job.id))
        .limit(1)
    ).scalar()
    if running is not None:
        raise Conflict(
            f"Examples of prompts have these words, and job {running} asks a judge. Cancel it, or wait until it has "
            "ended; then redact again. Nothing was changed."
        )


def delete_unsaved_prompts(session: Session, project_id: int, containing: str) -> int:
    """Delete prompts that somebody writes and has not saved, with these words, whatever lines they stand in."""
    words = " ".join(containing.split())
    found = [
        row
        for row in session.execute(
            pick(UnsavedText).where(col(UnsavedText.project_id) == project_id, col(UnsavedText.page) == _PAGE)
        ).scalars()
        if words in " ".join(row.text.split())
    ]
    for row in found:
        session.delete(row)
    return len(found)
