"""Requests to judges and what came back: entered before they are sent, kept the moment they are there."""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import Any

from sqlalchemy import ColumnElement, and_, func
from sqlmodel import col

from annotators.judges.base import Ending, Reply
from annotators.judges.budget import Cost
from db.engine import Database
from db.models import JudgeCall, JudgeReply
from db.query import pick

AT_ONCE = 4
"""Threads that may be at the ledger at once. More get no further: connections beyond those that are kept open are made
anew for each look-up, and all who write wait for each other."""


class StoredReplies:
    """The ledger of one project's requests (`annotators.judges.asking.Ledger`); each entry is a transaction of its own.

    Requests are those of a job, where it has one, so that what it may spend holds when it is taken up again.
    """

    def __init__(self, db: Database, project_id: int, job_id: int | None = None) -> None:
        self._db, self._project_id, self._job_id = db, project_id, job_id
        self._turn = BoundedSemaphore(AT_ONCE)

    def known(self, key: str, sample: int) -> Reply | None:
        """The first reply to this request in the project that did not fail."""
        query = (
            pick(JudgeReply)
            .join(JudgeCall, col(JudgeCall.id) == JudgeReply.call_id)
            .where(
                col(JudgeCall.key) == key,
                col(JudgeCall.sample) == sample,
                col(JudgeCall.project_id) == self._project_id,
                col(JudgeReply.ending) != Ending.FAILED.value,
            )
            .order_by(col(JudgeReply.call_id))
            .limit(1)
        )
        with self._turn, self._db.read() as session:
            row = session.execute(query).scalars().first()
            return None if row is None else _reply(row)

    def enter(self, key: str, sample: int, most: Cost) -> int:
        """A row for a request, before it is sent."""
        with self._turn, self._db.write() as session:
            call = JudgeCall(
                project_id=self._project_id,
                job_id=self._job_id,
                key=key,
                sample=sample,
                tokens=most.tokens,
                cost=most.money,
            )
            session.add(call)
            session.flush()
            assert call.id is not None
            return call.id

    def keep(self, number: int, reply: Reply, cost: Cost) -> None:
        """A row for what came of it."""
        with self._turn, self._db.write() as session:
            session.add(
                JudgeReply(
                    call_id=number,
                    ending=reply.ending.value,
                    text=reply.text.replace("\0", "\ufffd"),
                    said=reply.said,
                    model=reply.model,
                    fingerprint=reply.fingerprint,
                    tokens_in=reply.tokens_in,
                    tokens_out=reply.tokens_out,
                    cost=cost.money,
                    seconds=reply.seconds,
                    retries=reply.retries,
                    chances=dict(reply.chances),
                )
            )

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
        return and_(col(JudgeCall.project_id) == self._project_id, col(JudgeCall.job_id) == self._job_id)


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
