"""Requests to judges and what came back: entered before they are sent, kept the moment they are there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Condition
from typing import Any

from sqlalchemy import ColumnElement, and_, func
from sqlmodel import Session, col

from annotators.judges.base import Ending, Reply
from annotators.judges.budget import Cost
from db.engine import Database, dumps, insert_many
from db.jobs import got_further
from db.models import JudgeCall, JudgeReply, now
from db.query import database_time, fresh_ids, pick

AT_ONCE = 4
"""Threads that may look replies up at once. More get no further: connections beyond those that are kept open are made
anew for each look-up."""

GATHER_SECONDS = 0.05
"""So long a request that is to be entered waits for others, or for a reply that is written anyway."""


@dataclass
class _Entry:
    """What a thread wants written: the row of a request (without its number), or that of a reply (with it).

    `is_new`: a reply that did not fail, so that the request is not sent again.
    """

    row: tuple[Any, ...]
    is_reply: bool
    due: float
    is_new: bool = False
    number: int | None = None
    written: bool = False
    error: BaseException | None = None


@dataclass
class _Waiting:
    """What waits to be written, whether somebody writes, and how many requests are without their reply."""

    entries: list[_Entry] = field(default_factory=list)
    writing: bool = False
    under_way: int = 0


class StoredReplies:
    """The ledger of one project's requests (`annotators.judges.asking.Ledger`).

    Whoever enters or keeps something returns when it is on disk, but what several threads want written goes into one
    transaction, by whichever of them comes first: writers of a file of SQLite stand in the way of those who submit
    labels. The disk is waited for when the transaction is over, and whoever comes meanwhile goes into the next one. A
    reply, which is paid for, is written at once, with all that waits beside it; a request, which is not sent before it
    is written, waits for `GATHER_SECONDS` at most.

    Requests are those of a job, where it has one, so that what it may spend holds when it is taken up again. The first
    reply that need not be asked for again says that the job has got further.
    """

    def __init__(self, db: Database, project_id: int, job_id: int | None = None) -> None:
        self._db, self._project_id, self._job_id = db, project_id, job_id
        self._turn = BoundedSemaphore(AT_ONCE)
        self._waiting, self._changed = _Waiting(), Condition()
        self._further = job_id is None

    def known(self, key: str, sample: int) -> Reply | None:
        """The first reply to this request in the project that did not fail."""
        query = (
            pick(JudgeReply)
            .join(JudgeCall, col(JudgeCall.id) == JudgeReply.call_id)
            .where(
                col(JudgeCall.key) == key,
                col(JudgeCall.sample) == sample,
                # Not by the index of projects, which SQLite would take: it goes through all that was ever asked.
                col(JudgeCall.project_id) + 0 == self._project_id,
                col(JudgeReply.ending) != Ending.FAILED.value,
            )
            .order_by(col(JudgeCall.id))
            .limit(1)
        )
        with self._turn, self._db.read() as session:
            row = session.execute(query).scalars().first()
            return None if row is None else _reply(row)

    def enter(self, key: str, sample: int, most: Cost) -> int:
        """A row for a request, before it is sent."""
        row = (self._project_id, self._job_id, key, sample, most.tokens, most.money)
        entry = _Entry(row, is_reply=False, due=time.monotonic() + GATHER_SECONDS)
        self._write(entry)
        assert entry.number is not None
        return entry.number

    def keep(self, number: int, reply: Reply, cost: Cost) -> None:
        """A row for what came of it."""
        row = (
            number, reply.ending.value, _storable(reply.text), _storable(reply.said), _storable(reply.model),
            _storable(reply.fingerprint), reply.tokens_in, reply.tokens_out, cost.money, reply.seconds,
            reply.retries, dumps(dict(reply.chances)),
        )  # fmt: skip
        self._write(_Entry(row, is_reply=True, due=0.0, is_new=reply.ending is not Ending.FAILED))

    def _write(self, entry: _Entry) -> None:
        """Have an entry written by this thread or by another; what went wrong is raised in each whose entry it was."""
        waiting = self._waiting
        with self._changed:
            waiting.entries.append(entry)
            while not entry.written and entry.error is None:
                if not waiting.writing and self._is_due(entry):
                    self._write_all()
                else:
                    self._changed.wait(None if waiting.writing else max(0.0, entry.due - time.monotonic()))
        if entry.error is not None:
            raise entry.error

    def _is_due(self, entry: _Entry) -> bool:
        """Nobody waits for company that cannot come: a request goes at once where no other is under way."""
        return self._waiting.under_way == 0 or entry.due <= time.monotonic()

    def _write_all(self) -> None:
        """Everything that waits, in one transaction, without the lock in the meantime."""
        waiting = self._waiting
        entries, waiting.entries, waiting.writing = waiting.entries, [], True
        self._changed.release()
        failed: BaseException | None = None
        try:
            with self._db.write(synced=False) as session:
                _insert(session, entries)
                further = not self._further and any(entry.is_new for entry in entries)
                if further and self._job_id is not None:
                    got_further(session, self._job_id)
            self._db.sync()
            self._further = self._further or further
        except BaseException as error:  # each whose entry it was hears of it
            failed = error
        finally:
            self._changed.acquire()
            waiting.writing = False
            for entry in entries:
                entry.written, entry.error = failed is None, failed
            if failed is None:
                waiting.under_way += sum(-1 if entry.is_reply else 1 for entry in entries)
            self._changed.notify_all()

    def spent(self) -> Cost:
        """What the job has spent so far; a request without a reply counts with the most that it can have cost."""
        known = col(JudgeReply.tokens_in) + col(JudgeReply.tokens_out)
        tokens = func.sum(func.coalesce(known, JudgeCall.tokens))
        query = (
            pick(
                func.count(),
                func.coalesce(tokens, 0),
                func.sum(func.coalesce(JudgeReply.cost, JudgeCall.cost)),
                func.count(col(JudgeCall.cost)),
            )
            .select_from(JudgeCall)
            .outerjoin(JudgeReply, col(JudgeReply.call_id) == JudgeCall.id)
            .where(self._own())
        )
        with self._db.read() as session:
            n, n_tokens, money, priced = session.execute(query).one()
        return Cost(n, int(n_tokens), float(money or 0.0) if priced == n else None)

    def totals(self) -> dict[str, Any]:
        """What the job has sent and received: `requests`, and `tokens` {"in", "out"} as the server counts them."""
        query = (
            pick(
                func.count(),
                func.coalesce(func.sum(JudgeReply.tokens_in), 0),
                func.coalesce(func.sum(JudgeReply.tokens_out), 0),
            )
            .select_from(JudgeCall)
            .outerjoin(JudgeReply, col(JudgeReply.call_id) == JudgeCall.id)
            .where(self._own())
        )
        with self._db.read() as session:
            n, n_in, n_out = session.execute(query).one()
        return {"requests": n, "tokens": {"in": int(n_in), "out": int(n_out)}}

    def _own(self) -> ColumnElement[bool]:
        if self._job_id is not None:
            return col(JudgeCall.job_id) == self._job_id
        return and_(col(JudgeCall.project_id) == self._project_id, col(JudgeCall.job_id).is_(None))


_CALL = ("id", "project_id", "job_id", "key", "sample", "tokens", "cost", "created_at")
_REPLY = (
    "call_id",
    "ending",
    "text",
    "said",
    "model",
    "fingerprint",
    "tokens_in",
    "tokens_out",
    "cost",
    "seconds",
    "retries",
    "chances",
    "created_at",
)


def _storable(said: str | None) -> str | None:
    """Words of a server as every database takes them: one reply that it refused would take others with it."""
    return None if said is None else str(said).replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _insert(session: Session, entries: Sequence[_Entry]) -> None:
    """The rows of all entries; requests get their numbers."""
    connection, at = session.connection(), database_time(session, now())
    calls = [entry for entry in entries if not entry.is_reply]
    if calls:
        for entry, number in zip(calls, fresh_ids(session, "judge_call", len(calls)), strict=True):
            entry.number = number
        insert_many(connection, "judge_call", _CALL, [(entry.number, *entry.row, at) for entry in calls])
    replies = [(*entry.row, at) for entry in entries if entry.is_reply]
    insert_many(connection, "judge_reply", _REPLY, replies)


def _reply(row: JudgeReply) -> Reply:
    return Reply(
        text=row.text,
        ending=Ending(row.ending),
        model=row.model,
        fingerprint=row.fingerprint,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        seconds=row.seconds,
        retries=row.retries,
        said=row.said,
        chances=row.chances,
    )
