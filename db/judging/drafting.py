"""Drafts: what a model writes for an item when somebody asks for it, to be taken, changed or left by that person."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from sqlmodel import col

from annotators.addresses import is_here
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.judges.asking import Asker, OutOfBudget
from annotators.judges.base import Call, Ending
from annotators.judges.budget import Limit, Price, Spending, likely_tokens, most_tokens
from annotators.judges.client import Client
from annotators.judges.prompts import GeneratingPrompt, generating_call, read_generated
from annotators.judges.prompts.generating import Writes
from annotators.pages.documents.renderer import Renderer
from annotators.protocols import Material, Protocol, Step
from db.annotating.previews import preview
from db.engine import Database
from db.items.current import version_is_latest
from db.jobs import job_facts
from db.judging.examples import check_examples_may_leave
from db.judging.items import kept_versions, secret_of
from db.judging.pictures import StoredPictures
from db.judging.planning import NoPictures, written
from db.judging.replies import StoredReplies
from db.models import Item, ItemVersion
from db.permissions import RESEARCHERS, Actor, On, operation
from db.query import pick

KIND = "draft"
"""The kind of the jobs that write."""

TRIES = 3
"""Requests that one draft may cost."""

_SHOWN = Protocol(
    name="drafting",
    title="What a draft is written from",
    guidelines="What a draft is written from.",
    criteria=[Choice(name="seen", title="Seen", labels=[Label(value="yes"), Label(value="no")])],
    steps=[
        Step(
            name="all",
            title="All",
            shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.IMAGES],
            criteria=["seen"],
        )
    ],
)


@dataclass(frozen=True)
class WriterSettings:
    """Which model writes, by which prompt; `server`, `most` and `pictures` are as those of a judge."""

    model: str
    server: str
    prompt: GeneratingPrompt
    most: int = 1024
    pictures: int = 0

    def to_json(self) -> dict[str, Any]:
        """As a job has them, with the whole prompt."""
        return {
            "model": self.model,
            "server": self.server,
            "prompt": self.prompt.model_dump(mode="json"),
            "most": self.most,
            "pictures": self.pictures,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> WriterSettings:
        """The settings of a job."""
        return cls(**{**kept, "prompt": GeneratingPrompt.model_validate(kept["prompt"])})


@dataclass(frozen=True)
class Asked:
    """What is to be written for which item, and (`texts`) its question or answer as somebody has changed it."""

    item: str
    writes: Writes
    texts: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class DraftPlan:
    """What asking for a draft would send: `shows` are the materials that leave this machine (empty: nothing does)."""

    tokens_in: int
    tokens_out: int
    most_tokens: int
    cost: float | None
    pictures: int
    shows: tuple[str, ...]
    prompt: str
    request: str

    def leaves(self, server: str) -> str | None:
        """What leaves this machine, and for where, in words to be confirmed; None where nothing does."""
        if not self.shows:
            return None
        pictures = f" and {count(self.pictures, 'picture')}" if self.pictures else ""
        return f"{', '.join(self.shows)}{pictures} of this item leave this machine for {server}"


@operation(On.PROJECT, RESEARCHERS)
def plan_draft(
    db: Database, actor: Actor, project_id: int, *, asked: Asked, writer: WriterSettings, price: Price | None = None
) -> DraftPlan:
    """What `write_draft` would send; nothing is sent.

    NotFound for an item that the project does not have; InvalidInput for one of whose documents nothing may leave this
    machine, for a prompt with an example of which nothing may, and for a prompt that writes something else.
    """
    material = _material(db, actor, project_id, asked, writer)
    call = _call(
        secret_of(db, project_id), asked, writer, material, NoPictures(writer.pictures) if writer.pictures else None
    )
    sent, received = likely_tokens(call, writer.most)
    shows = [name for name in ("question", "answer", "evidence", "images") if material.get(name)]
    if asked.writes == "claims":
        shows = [name for name in shows if name in ("question", "answer")]
    return DraftPlan(
        sent,
        received,
        sum(most_tokens(call, writer.most)),
        None if price is None else price.of(sent, received),
        call.pictures,
        () if is_here(writer.server) else tuple(shows),
        f"{writer.prompt.name}@{writer.prompt.version}",
        written(call),
    )


@dataclass(frozen=True)
class WritingMeans:
    """What asking works with that says nothing about what is written: see `db.judging.run.Means`."""

    key: str | None = None
    price: Price | None = None
    documents: Path | None = None
    seconds: float = 120.0


@operation(On.PROJECT, RESEARCHERS)
def write_draft(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    asked: Asked,
    writer: WriterSettings,
    means: WritingMeans,
    job_id: int | None = None,
) -> dict[str, Any]:
    """Have it written: {"texts", "none", "problem", …}. Nothing of the item changes.

    `texts` are the claims, or the one question or answer; `none` says why there is no question, `problem` why the reply
    is no draft. It is asked through the project's ledger, so that the same request is paid once, and in at most `TRIES`
    requests. Raises what `plan_draft` raises, and ServerRefuses where the server will not answer.
    """
    material = _material(db, actor, project_id, asked, writer)
    replies = StoredReplies(db, project_id, job_id)
    spending = Spending(Limit(TRIES, "requests"), means.price, replies.spent())
    client = Client(writer.server, writer.model, means.key, most=writer.most, seconds=means.seconds)
    with ExitStack() as stack:
        stack.callback(client.close)
        pictures = None
        if writer.pictures and means.documents is not None:
            renderer = stack.enter_context(Renderer(workers=1))
            pictures = StoredPictures(db, means.documents, renderer, most=writer.pictures)
        call = _call(secret_of(db, project_id), asked, writer, material, pictures)
        found, problem = None, None
        try:
            reply = Asker(client, replies, spending, tries=TRIES).ask(call).reply
        except OutOfBudget:
            problem = f"the server did not answer in {count(TRIES, 'request')}"
        else:
            if reply.ending is Ending.WHOLE:
                found, problem = read_generated(writer.prompt, reply.text, material)
            else:
                problem = f"the reply is {reply.ending.value}{f': {reply.said}' if reply.said else ''}"
    prompt = writer.prompt
    return {
        "item": asked.item,
        "writes": asked.writes,
        "texts": list(found.texts) if found else [],
        "none": found.none if found else None,
        "problem": problem,
        "model": writer.model,
        "server": writer.server,
        "prompt": {"name": prompt.name, "version": prompt.version, "hash": prompt.hash},
        **replies.totals(),
        "cost": None if means.price is None else replies.spent().money,
    }


@operation(On.PROJECT, RESEARCHERS)
def drafts_taken(
    db: Database, actor: Actor, project_id: int, *, item: str, drafts: Mapping[str, int], texts: Mapping[str, str]
) -> dict[str, Any]:
    """How a revision's event says which of its texts were drafts: field → job, model, prompt, and whether changed.

    `drafts` are the jobs that wrote them, `texts` what is saved. InvalidInput for a job that wrote nothing of the item.
    """
    found = {}
    for field_name, job_id in drafts.items():
        job = job_facts(db, actor, project_id, job_id=job_id)
        if job.kind != KIND or job.parameters.get("item") != item or not job.result:
            raise InvalidInput(f"Job {job_id} has written nothing of item {item!r}. Reload the page and try again.")
        texts_of = "\n".join(job.result["texts"]).strip()
        found[field_name] = {
            "job": job_id,
            "model": job.result["model"],
            "server": job.result["server"],
            "prompt": job.result["prompt"],
            "changed": texts_of != texts.get(field_name, "").strip(),
        }
    return found


def _material(db: Database, actor: Actor, project_id: int, asked: Asked, writer: WriterSettings) -> dict[str, Any]:
    """The item as the browser gets it, with the texts as they stand now."""
    if writer.prompt.writes != asked.writes:
        raise InvalidInput(f"The prompt {writer.prompt.name!r} writes {writer.prompt.in_words}. Take another one.")
    [step] = preview(db, actor, project_id, protocol=_SHOWN, external_id=asked.item)
    material = dict(step.material)
    if not is_here(writer.server) and _is_kept(db, project_id, asked.item):
        raise InvalidInput(
            f"The item {asked.item!r} has a document that must not leave this machine, and {writer.server} is "
            "elsewhere. Take a model on this machine."
        )
    with db.read() as session:
        check_examples_may_leave(session, project_id, writer.prompt, writer.server)
    return {**material, **{name: text for name, text in asked.texts.items() if name in ("question", "answer")}}


def _is_kept(db: Database, project_id: int, item: str) -> bool:
    latest = (
        pick(ItemVersion.id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .where(col(Item.project_id) == project_id, col(Item.external_id) == item, version_is_latest())
    )
    with db.read() as session:
        return bool(kept_versions(session, project_id, list(session.execute(latest).scalars())))


def _call(secret: bytes, asked: Asked, writer: WriterSettings, material: dict[str, Any], pictures: Any) -> Call:
    said = orjson.dumps(material, option=orjson.OPT_SORT_KEYS, default=str)
    mark = hmac.new(secret, said, hashlib.sha256).hexdigest()[:16]
    return generating_call(writer.prompt, material, mark=mark, missing=asked.missing, pictures=pictures)
