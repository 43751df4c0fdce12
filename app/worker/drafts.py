"""Drafts on demand: who may be asked to write here, what asking would send, and the job that asks."""

from __future__ import annotations

from typing import Any

from annotators.asking.versioned import VersionedName
from annotators.errors import InvalidInput
from annotators.judges.budget import read_prices
from annotators.judges.prompts import PROMPTS, GeneratingPrompt
from annotators.judges.prompts.generating import Writes
from app.settings import Settings
from app.worker import jobs
from app.worker.kinds.draft import DRAFT, DraftParameters
from app.worker.kinds.judge import check_server
from db.engine import Database
from db.jobs import JobRow
from db.judging.drafting import Asked, DraftPlan, WriterSettings, plan_draft
from db.judging.judges import list_judges
from db.judging.library import list_prompts, named_prompt
from db.permissions import Actor


def writers(db: Database, actor: Actor, project_id: int, settings: Settings) -> list[tuple[str, str]]:
    """(server, model) that may be asked: models of the project's judges, or with a price, on the servers allowed."""
    priced = list(read_prices(settings.prices_file))
    judges = [(row.server, row.model) for row in list_judges(db, actor, project_id) if row.server in settings.judges]
    return list(dict.fromkeys([*judges, *((server, model) for server in settings.judges for model in priced)]))


def writing_prompts(db: Database, actor: Actor, project_id: int, writes: Writes) -> list[str]:
    """The names of prompts that write this: the project's own, newest versions first, then the built-in ones."""
    own = [entry.kept for entry in list_prompts(db, actor, project_id)]
    return [
        str(VersionedName(prompt.name, prompt.version))
        for prompt in (*own, *PROMPTS)
        if isinstance(prompt, GeneratingPrompt) and prompt.writes == writes
    ]


def writer_of(
    db: Database, actor: Actor, project_id: int, settings: Settings, *, server: str, model: str, prompt: str
) -> WriterSettings:
    """Who writes; InvalidInput for a server that may not be asked, and for a prompt that judges.

    It is sent as many pictures as the project's newest judge of the same model; none where nobody has judged with it.
    """
    check_server(settings, server)
    if not model.strip():
        raise InvalidInput("Name the model that is to write.")
    found = named_prompt(db, actor, project_id, name=prompt)
    if not isinstance(found, GeneratingPrompt):
        raise InvalidInput(f"The prompt {prompt!r} judges; it writes nothing. Take one that writes.")
    judges = [row for row in list_judges(db, actor, project_id) if (row.server, row.model) == (server, model.strip())]
    pictures = int(judges[-1].settings.get("pictures", 0)) if judges else 0
    return WriterSettings(model.strip(), server, found, pictures=pictures)


def planned(
    db: Database, actor: Actor, project_id: int, settings: Settings, *, asked: Asked, writer: WriterSettings
) -> DraftPlan:
    """What asking would send, and about what it costs."""
    price = read_prices(settings.prices_file).get(writer.model)
    return plan_draft(db, actor, project_id, asked=asked, writer=writer, price=price)


def queue_draft(db: Database, actor: Actor, project_id: int, *, asked: Asked, writer: WriterSettings) -> JobRow:
    """Have it written; the draft is the job's result."""
    given = DraftParameters(
        item=asked.item,
        writes=asked.writes,
        writer=writer.to_json(),
        texts=dict(asked.texts),
        missing=asked.missing,
    )
    return jobs.queue(db, actor, project_id, DRAFT, given)


def outcome(job: JobRow) -> dict[str, Any]:
    """How a draft stands: `state`, the `draft` once it is there, and why there is none."""
    draft = job.result if job.state == "done" else None
    problem = job.message if job.state in ("failed", "cancelled") else (draft or {}).get("problem")
    if job.state == "cancelled" and not problem:
        problem = "it was cancelled"
    return {"job": job.job_id, "state": job.state, "draft": draft, "problem": problem}
