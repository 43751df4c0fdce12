"""The prompts that a project has of its own, in versions."""

from __future__ import annotations

from collections import Counter

from sqlmodel import Session, select

from annotators.judges.prompts import PROMPT_NAMES, AnyPrompt, prompt_from_data
from db.engine import Database
from db.libraries import Added, Entry, Shelf
from db.models import Judge, PromptVersion
from db.permissions import READERS, RESEARCHERS, Actor, On, operation

_SHELF = Shelf(
    PROMPT_NAMES, PromptVersion, "prompt", load=prompt_from_data, digest=lambda prompt: prompt.hash
)  # fmt: skip


@operation(On.PROJECT, RESEARCHERS)
def add_prompt(
    db: Database, actor: Actor, project_id: int, *, prompt: AnyPrompt, on: int | None = None
) -> Added[AnyPrompt]:
    """Put a prompt into the project's library (`Shelf.add`); NameTaken for another content under a built-in name."""
    return _SHELF.add(db, actor, project_id, prompt, on=on)


@operation(On.PROJECT, READERS)
def list_prompts(db: Database, _actor: Actor, project_id: int) -> list[Entry[AnyPrompt]]:
    """The project's own prompts, by name and then the newest version first; used by so many judges."""
    with db.read() as session:
        judges = session.exec(select(Judge.settings).where(Judge.project_id == project_id)).all()
        used = Counter(str(settings["prompt"]["hash"]) for settings in judges)
        return _SHELF.entries(session, project_id, used)


@operation(On.PROJECT, READERS)
def named_prompt(db: Database, _actor: Actor, project_id: int, *, name: str) -> AnyPrompt:
    """The prompt called `NAME` or `NAME@VERSION`, of the project's library or built in; NotFound lists the names."""
    with db.read() as session:
        return prompt_in(session, project_id, name)


def prompt_in(session: Session, project_id: int, name: str) -> AnyPrompt:
    """As `named_prompt`, in the caller's session."""
    return _SHELF.find(session, project_id, name)
