"""Long work: queued by people, taken up by one worker process at a time, and taken up again when that process dies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import func, update
from sqlalchemy import select as sql_select
from sqlmodel import Session, col, select

from annotators.errors import Conflict, NotFound
from db.engine import Database
from db.models import UNFINISHED, Account, Job, JobState, now
from db.people.accounts import names_of
from db.permissions import RESEARCHERS, Actor, On, Role, actor_of, check, operation, record
from db.query import is_sqlite

STALE_SECONDS = 30
"""A running job whose worker has not been heard of for so long may be taken up by another."""

_LEFT_BY = "left_by"
"""In the result of a job that waits: the workers that lack a setting for it, and do not take it again."""

MOST_ATTEMPTS = 3
"""A job that was taken up so often without getting any further has failed: it kills its workers."""


@dataclass(frozen=True)
class JobRow:
    """One job as pages and commands show it.

    `done` and `total` count what the work is made of (items); `rate` is how many a second. `answers` is False when a
    running job's worker is no longer heard of.
    """

    job_id: int
    project_id: int
    kind: str
    parameters: dict[str, Any]
    state: str
    done: int
    total: int | None
    rate: float | None
    message: str | None
    result: dict[str, Any] | None
    who: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    cancel_requested: bool
    answers: bool

    @property
    def seconds_left(self) -> float | None:
        """At the present rate; None when that is not known."""
        if self.state != JobState.RUNNING or not self.rate or self.total is None:
            return None
        return max(0, self.total - self.done) / self.rate

    @property
    def is_left(self) -> bool:
        """Whether it waits for a worker that has what it needs, as `message` says."""
        return self.state == JobState.WAITING and self.message is not None

    @property
    def is_unfinished(self) -> bool:
        """Whether it waits or runs."""
        return self.state in UNFINISHED


# What people do -------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, RESEARCHERS)
def queue_job(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    kind: str,
    parameters: dict[str, Any],
    roles: frozenset[Role] = RESEARCHERS,
    worker: str | None = None,
) -> JobRow:
    """Put work into the queue of the workers. The same work that waits or runs already is not queued again: it is
    given back instead. `roles` are those of researchers' who may start this kind (none: administrators only). New work
    is this `worker`'s from the first moment, where one is named: no other may have what it needs."""
    with db.write() as session:
        if not roles >= RESEARCHERS:
            check(session.connection(), actor, On.PROJECT, project_id, roles, doing=f"start jobs of kind {kind!r}")
        same = select(Job).where(Job.project_id == project_id, Job.kind == kind, col(Job.state).in_(UNFINISHED))
        for there in session.exec(same.order_by(col(Job.id))):
            if there.parameters == parameters:
                return _row(session, there)
        job = Job(project_id=project_id, kind=kind, parameters=parameters, person_id=actor.person_id)
        if worker is not None:
            _give(job, worker, _moment(session))
        session.add(job)
        session.flush()
        _record(session, actor, "job queued", job)
        return _row(session, job)


@operation(On.PROJECT, RESEARCHERS)
def list_jobs(
    db: Database,
    _actor: Actor,
    project_id: int,
    *,
    before: int | None = None,
    limit: int = 50,
    kind: str | None = None,
) -> list[JobRow]:
    """The project's jobs (of a kind) with an id below `before`, newest first."""
    query = select(Job).where(Job.project_id == project_id).order_by(col(Job.id).desc()).limit(limit)
    if kind is not None:
        query = query.where(Job.kind == kind)
    if before is not None:
        query = query.where(col(Job.id) < before)
    with db.read() as session:
        return [_row(session, job) for job in session.exec(query)]


@operation(On.PROJECT, RESEARCHERS)
def job_facts(db: Database, _actor: Actor, project_id: int, *, job_id: int) -> JobRow:
    """One job; NotFound when the project has no such job."""
    with db.read() as session:
        return _row(session, _job(session, project_id, job_id))


@operation(On.PROJECT, RESEARCHERS)
def latest_job(db: Database, _actor: Actor, project_id: int, *, kind: str) -> JobRow | None:
    """The newest job of a kind, whatever its state; None when there was none."""
    query = select(Job).where(Job.project_id == project_id, Job.kind == kind).order_by(col(Job.id).desc()).limit(1)
    with db.read() as session:
        job = session.exec(query).first()
        return _row(session, job) if job else None


@operation(On.PROJECT, RESEARCHERS)
def cancel_job(db: Database, actor: Actor, project_id: int, *, job_id: int) -> JobRow:
    """Cancel a job. What it has done stays; `resume_job` goes on from there.

    A running one stops at its worker's next step; one whose worker is gone is cancelled at once. Raises Conflict for a
    job that has ended.
    """
    with db.write() as session:
        job = _job(session, project_id, job_id, lock=True)
        if job.state not in UNFINISHED:
            raise Conflict(f"Job {job_id} is {job.state}: there is nothing to cancel.")
        if not job.cancel_requested:
            _record(session, actor, "job cancelled", job)
        job.cancel_requested = True
        if job.state == JobState.WAITING or _is_stale(session, job):
            _end(session, job, JobState.CANCELLED, None)
        session.add(job)
        session.flush()
        return _row(session, job)


@operation(On.PROJECT, RESEARCHERS)
def resume_job(db: Database, actor: Actor, project_id: int, *, job_id: int) -> JobRow:
    """Put a cancelled or failed job back into the queue; it goes on where it stopped. Conflict for any other."""
    with db.write() as session:
        job = _job(session, project_id, job_id, lock=True)
        if job.state not in (JobState.CANCELLED, JobState.FAILED):
            raise Conflict(f"Job {job_id} is {job.state}. Only a cancelled or failed job is resumed.")
        _requeue(job)
        job.attempts = 0
        session.add(job)
        _record(session, actor, "job resumed", job)
        session.flush()
        return _row(session, job)


# What a worker does ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TakenJob:
    """A job that this worker has, with the person it is done for. `done` is how far an earlier worker has come."""

    job_id: int
    project_id: int
    kind: str
    parameters: dict[str, Any]
    actor: Actor
    done: int


class JobOrder(StrEnum):
    """What a heartbeat brings back: go on, stop because somebody cancelled, or stop because another has the job."""

    GO_ON = "go on"
    CANCEL = "cancel"
    LOST = "lost"


class WorkerDesk:
    """The queue as one worker process uses it. `name` tells this worker from all others, on whatever machine.

    A worker is no person: what it does, it does for the one who queued the job, whose permission is asked again by the
    operations that the job calls.
    """

    def __init__(self, db: Database, name: str) -> None:
        self.db = db
        self.name = name
        self._furthest: dict[int, int] = {}  # how far a job was when it was taken: some begin at 0 again

    def has_work(self) -> bool:
        """Whether there is a job that could be taken."""
        with self.db.read() as session:
            return session.execute(_claimable(session, self.name).limit(1)).first() is not None

    def take(self, job_id: int | None = None) -> TakenJob | None:
        """The job that has waited longest (or this one), now this worker's; None when there is none to be had.

        Running jobs whose worker is no longer heard of are taken as well: those that somebody has cancelled end here,
        and those that got no further in `MOST_ATTEMPTS` attempts fail. Two workers never get the same job.
        """
        while True:
            with self.db.write() as session:
                query = _claimable(session, self.name)
                if job_id is not None:
                    query = query.where(col(Job.id) == job_id)
                # On SQLite there is one writer; on PostgreSQL another worker passes over what this one has locked.
                locked = query.limit(1).with_for_update(skip_locked=True)
                job = session.execute(locked).scalars().first()
                if job is None:
                    return None
                if job.cancel_requested:
                    _end(session, job, JobState.CANCELLED, None)
                elif job.attempts >= MOST_ATTEMPTS:
                    _end(session, job, JobState.FAILED, _KILLS.format(job.attempts))
                elif job.person_id is None or session.get(Account, job.person_id) is None:
                    _end(session, job, JobState.FAILED, "The account of the person who queued it no longer exists.")
                else:
                    return self._taken(session, job)

    def own(self, job_id: int) -> TakenJob | None:
        """A job that was queued for this worker; None where it is another's."""
        with self.db.read() as session:
            job = session.get(Job, job_id)
            ours = job is not None and job.state == JobState.RUNNING and job.worker == self.name
            return self._handed(session, job) if job is not None and ours else None

    def _taken(self, session: Session, job: Job) -> TakenJob:
        _give(job, self.name, _moment(session))
        session.add(job)
        session.flush()
        return self._handed(session, job)

    def _handed(self, session: Session, job: Job) -> TakenJob:
        assert job.id is not None
        assert job.project_id is not None
        assert job.person_id is not None
        actor = actor_of(session, job.person_id, "job")
        self._furthest[job.id] = job.done
        return TakenJob(job.id, job.project_id, job.kind, dict(job.parameters), actor, job.done)

    def heartbeat(self, job_id: int, *, done: int, total: int | None, rate: float | None) -> JobOrder:
        """Say that this worker is there and how far it is; what to do next (`Order`)."""
        with self.db.write() as session:
            job = self._mine(session, job_id)
            if job is None:
                return JobOrder.LOST
            job.heartbeat_at = _moment(session)
            if done > max(job.done, self._furthest.get(job_id, 0)):
                job.attempts = 1
            job.done, job.total, job.rate = done, total, rate
            session.add(job)
            return JobOrder.CANCEL if job.cancel_requested else JobOrder.GO_ON

    def finish(self, job_id: int, *, done: int, total: int | None, result: dict[str, Any] | None = None) -> None:
        """The job is done."""
        with self.db.write() as session:
            job = self._mine(session, job_id)
            if job is not None:
                job.done, job.total, job.result = done, total, result
                _end(session, job, JobState.DONE, None)

    def fail(self, job_id: int, message: str, *, details: str | None = None) -> None:
        """The job failed, and why in words; `details` is for whoever looks into it (a traceback)."""
        with self.db.write() as session:
            job = self._mine(session, job_id)
            if job is not None:
                job.result = {"details": details} if details else None
                _end(session, job, JobState.FAILED, message)

    def cancelled(self, job_id: int, *, result: dict[str, Any] | None = None) -> None:
        """The job has stopped because somebody cancelled it; `result` is what it came to by then."""
        with self.db.write() as session:
            job = self._mine(session, job_id)
            if job is not None:
                job.result = result
                _end(session, job, JobState.CANCELLED, None)

    def give_back(self, job_id: int | None = None, *, died: bool = False) -> None:
        """Put this worker's jobs (or this one) back into the queue: it stops in order, or is known to have died."""
        with self.db.write() as session:
            query = select(Job).where(Job.worker == self.name, Job.state == JobState.RUNNING)
            if job_id is not None:
                query = query.where(Job.id == job_id)
            for job in session.exec(query.with_for_update()).all():
                if not died:
                    job.attempts -= 1
                if job.cancel_requested:
                    _end(session, job, JobState.CANCELLED, None)
                else:
                    _requeue(job)
                session.add(job)

    def leave(self, job_id: int, message: str) -> None:
        """Put a job back that this worker lacks a setting for, as the message says, for one that has it."""
        with self.db.write() as session:
            job = self._mine(session, job_id)
            if job is None:
                return
            if job.cancel_requested:
                _end(session, job, JobState.CANCELLED, message)
                return
            left_by = [*(job.result or {}).get(_LEFT_BY, ()), self.name]
            _requeue(job)
            job.attempts -= 1
            job.message, job.result = message, {_LEFT_BY: left_by}
            session.add(job)

    def _mine(self, session: Session, job_id: int) -> Job | None:
        query = select(Job).where(Job.id == job_id, Job.worker == self.name, Job.state == JobState.RUNNING)
        return session.exec(query.with_for_update()).first()


_KILLS = (
    "The worker ended {} times without getting any further; the server's log may say why (out of memory is the usual "
    "reason). Correct that, then resume."
)


def keep_run(session: Session, job_id: int, run_id: int) -> None:
    """Note which run a job writes, in the transaction that writes its first scores."""
    session.execute(update(Job).where(col(Job.id) == job_id).values(run_id=run_id))


def got_further(session: Session, job_id: int) -> None:
    """Note, in the transaction that writes something new, that the job has got further in the attempt under way.

    A heartbeat says it only of what progress counts, and only if one comes: a worker may die a second after it has
    written what nobody has to make, or pay for, once more.
    """
    session.execute(update(Job).where(col(Job.id) == job_id, col(Job.attempts) > 1).values(attempts=1))


def run_of_job(session: Session, job_id: int) -> int | None:
    """The run that a job has begun to write, if any."""
    return session.execute(sql_select(col(Job.run_id)).where(col(Job.id) == job_id)).scalar_one_or_none()


# Helpers --------------------------------------------------------------------------------------------------------------


def _moment(session: Session) -> datetime:
    """This moment by the database's clock, so that workers on several machines measure each other by one."""
    if is_sqlite(session):
        return now()
    moment: datetime = session.execute(sql_select(func.clock_timestamp())).scalar_one()
    return moment


def _claimable(session: Session, worker: str) -> Any:
    waiting = sql_select(col(Job.id), col(Job.result)).where(
        col(Job.state) == JobState.WAITING, col(Job.result).is_not(None)
    )
    left = [job_id for job_id, result in session.execute(waiting) if worker in (result or {}).get(_LEFT_BY, ())]
    silent_since = _moment(session) - timedelta(seconds=STALE_SECONDS)
    is_left = (col(Job.state) == JobState.RUNNING) & (col(Job.heartbeat_at) < silent_since)
    return (
        sql_select(Job)
        .where(
            (col(Job.state) == JobState.WAITING) | is_left,
            col(Job.project_id).is_not(None),
            col(Job.id).not_in(left),
        )
        .order_by(col(Job.id))
    )


def _is_stale(session: Session, job: Job) -> bool:
    if job.state != JobState.RUNNING:
        return False
    silent = timedelta(seconds=STALE_SECONDS)
    return job.heartbeat_at is None or job.heartbeat_at < _moment(session) - silent


def _give(job: Job, worker: str, at: datetime) -> None:
    job.state, job.worker, job.heartbeat_at, job.message = JobState.RUNNING, worker, at, None
    job.started_at = job.started_at or at
    job.attempts += 1


def _requeue(job: Job) -> None:
    job.state = JobState.WAITING
    job.worker = job.heartbeat_at = job.ended_at = job.message = job.result = job.rate = None
    job.cancel_requested = False


def _end(session: Session, job: Job, state: JobState, message: str | None) -> None:
    job.state, job.message, job.ended_at = state, message, _moment(session)
    job.worker = job.rate = None
    session.add(job)


def _job(session: Session, project_id: int, job_id: int, *, lock: bool = False) -> Job:
    query = select(Job).where(Job.id == job_id, Job.project_id == project_id)
    job = session.exec(query.with_for_update() if lock else query).first()
    if job is None:
        raise NotFound(f"The project has no job {job_id}. Look at its list of jobs.")
    return job


def _row(session: Session, job: Job) -> JobRow:
    assert job.id is not None
    assert job.project_id is not None
    return JobRow(
        job_id=job.id,
        project_id=job.project_id,
        kind=job.kind,
        parameters=job.parameters,
        state=job.state,
        done=job.done,
        total=job.total,
        rate=job.rate,
        message=job.message,
        result=job.result,
        who=names_of(session, [job.person_id])[job.person_id] if job.person_id is not None else None,
        created_at=job.created_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
        cancel_requested=job.cancel_requested,
        answers=not _is_stale(session, job),
    )


def _record(session: Session, actor: Actor, kind: str, job: Job) -> None:
    details = {"kind": job.kind, "parameters": job.parameters}
    record(session, actor, kind, "job", job.id, project_id=job.project_id, details=details)
