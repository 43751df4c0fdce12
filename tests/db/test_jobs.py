"""The queue of jobs: each goes to one worker, and is taken up again when that worker is gone."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import select

from annotators.errors import Conflict, NotAllowed, NotFound
from db.engine import Database
from db.jobs import (
    MOST_ATTEMPTS,
    STALE_SECONDS,
    JobOrder,
    JobRow,
    WorkerDesk,
    cancel_job,
    job_facts,
    latest_job,
    list_jobs,
    queue_job,
    resume_job,
)
from db.models import Account, Event, Job, now
from tests.makers import make_member, make_person, make_project


class Queue:
    """A project with a researcher and two workers."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.project_id = make_project(db)
        self.rosa = make_person(db, "rosa")
        make_member(db, self.project_id, self.rosa, "researcher")
        self.first, self.second = WorkerDesk(db, "first"), WorkerDesk(db, "second")

    def put(self, **parameters: Any) -> int:
        return queue_job(self.db, self.rosa, self.project_id, kind="score", parameters=parameters).job_id

    def facts(self, job_id: int) -> JobRow:
        return job_facts(self.db, self.rosa, self.project_id, job_id=job_id)

    def silent(self, job_id: int, seconds: float = STALE_SECONDS + 1) -> None:
        """As if the job's worker had not been heard of for so long."""
        with self.db.write() as session:
            session.get_one(Job, job_id).heartbeat_at = now() - timedelta(seconds=seconds)


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database)


def test_jobs_are_taken_in_the_order_they_were_queued(queue: Queue) -> None:
    earlier, later = queue.put(scorer="a"), queue.put(scorer="b")
    first, second = queue.first.take(), queue.second.take()
    assert first and second
    assert (first.job_id, second.job_id) == (earlier, later)
    assert (first.actor.person_id, first.actor.via, first.parameters) == (queue.rosa.person_id, "job", {"scorer": "a"})
    assert queue.first.take() is None


def test_the_same_work_is_not_queued_twice_while_it_is_unfinished(queue: Queue) -> None:
    job = queue.put(scorer="a")
    assert queue.put(scorer="a") == job
    taken = queue.first.take()
    assert taken and queue.put(scorer="a") == job
    queue.first.finish(job, done=3, total=3)
    assert queue.put(scorer="a") != job


def test_a_job_that_is_queued_for_a_worker_is_no_others_from_the_first_moment(queue: Queue) -> None:
    """As `assay judge` does, which has settings that a server's worker may lack."""
    given: dict[str, Any] = {"kind": "score", "parameters": {"a": 1}}
    job = queue_job(queue.db, queue.rosa, queue.project_id, **given, worker="first")
    assert not queue.second.has_work()
    assert queue.second.take() is None
    assert queue.second.own(job.job_id) is None
    taken = queue.first.own(job.job_id)
    assert taken is not None
    assert (taken.job_id, taken.parameters, taken.actor.name) == (job.job_id, {"a": 1}, "rosa")
    assert queue_job(queue.db, queue.rosa, queue.project_id, **given, worker="second").job_id == job.job_id
    assert queue.second.own(job.job_id) is None, "the same work stays with who has it"
    queue.silent(job.job_id)
    assert queue.second.take() is not None, "it is taken up again when that worker dies"


def test_many_workers_at_once_get_each_job_once(queue: Queue) -> None:
    jobs = [queue.put(number=number) for number in range(12)]
    together, taken = threading.Barrier(4), []

    def worker(name: str) -> None:
        desk = WorkerDesk(queue.db, name)
        together.wait()
        while job := desk.take():
            taken.append(job.job_id)

    threads = [threading.Thread(target=worker, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == jobs


def test_progress_rate_and_time_left_are_shown(queue: Queue) -> None:
    job = queue.put()
    queue.first.take()
    assert queue.first.heartbeat(job, done=250, total=1_000, rate=50.0) is JobOrder.GO_ON
    facts = queue.facts(job)
    assert (facts.state, facts.done, facts.total) == ("running", 250, 1_000)
    assert (facts.seconds_left, facts.answers) == (15, True)
    assert facts.who == "rosa"
    queue.first.finish(job, done=1_000, total=1_000, result={"added": 1_000})
    facts = queue.facts(job)
    assert (facts.state, facts.done, facts.result, facts.seconds_left) == ("done", 1_000, {"added": 1_000}, None)
    assert facts.ended_at is not None


def test_a_job_whose_worker_is_silent_is_taken_up_where_it_stopped(queue: Queue) -> None:
    job = queue.put()
    queue.first.take()
    queue.first.heartbeat(job, done=7, total=20, rate=None)
    assert queue.second.take() is None
    queue.silent(job)
    assert not queue.facts(job).answers
    taken = queue.second.take()
    assert taken is not None
    assert (taken.job_id, taken.done) == (job, 7)


def test_a_worker_that_was_only_slow_hears_that_it_has_lost_its_job(queue: Queue) -> None:
    job = queue.put()
    queue.first.take()
    queue.silent(job)
    assert queue.second.take() is not None
    assert queue.first.heartbeat(job, done=9, total=20, rate=None) is JobOrder.LOST
    queue.first.finish(job, done=20, total=20)
    queue.first.fail(job, "no")
    queue.first.cancelled(job)
    queue.first.give_back()
    assert (queue.facts(job).state, queue.facts(job).done) == ("running", 0)


def test_a_job_that_kills_its_workers_fails_in_the_end(queue: Queue) -> None:
    job = queue.put()
    for _ in range(MOST_ATTEMPTS):
        assert queue.first.take() is not None
        queue.first.give_back(died=True)
    assert queue.second.take() is None
    facts = queue.facts(job)
    assert facts.state == "failed"
    assert "ended 3 times without getting any further" in (facts.message or "")


def test_a_job_that_gets_further_each_time_goes_on(queue: Queue) -> None:
    job = queue.put()
    for attempt in range(2 * MOST_ATTEMPTS):
        assert queue.first.take() is not None
        queue.first.heartbeat(job, done=attempt + 1, total=100, rate=None)
        queue.first.give_back(died=True)
    assert queue.second.take() is not None


def test_a_job_that_begins_anew_each_time_and_dies_at_the_same_place_fails(queue: Queue) -> None:
    job = queue.put()
    for _ in range(MOST_ATTEMPTS):
        assert queue.first.take() is not None
        for done in (0, 40, 80):
            queue.first.heartbeat(job, done=done, total=100, rate=None)
        queue.first.give_back(died=True)
    assert queue.second.take() is None
    assert job_facts(queue.db, queue.rosa, queue.project_id, job_id=job).state == "failed"


def test_stopping_a_worker_in_order_is_no_failed_attempt(queue: Queue) -> None:
    job = queue.put()
    for _ in range(2 * MOST_ATTEMPTS):
        assert queue.first.take() is not None
        queue.first.give_back(job)
    assert queue.first.take() is not None


def test_a_job_that_a_worker_lacks_settings_for_waits_for_another_and_says_why(queue: Queue) -> None:
    first, then = queue.put(), queue.put(of="another")
    assert queue.first.take() is not None
    queue.first.leave(first, "It asks for a key.")
    row = queue.facts(first)
    assert (row.state, row.is_left, row.message) == ("waiting", True, "It asks for a key.")
    taken = queue.first.take()
    assert taken is not None
    assert taken.job_id == then
    queue.first.finish(then, done=1, total=1)
    assert (queue.first.has_work(), queue.second.has_work()) == (False, True)
    assert queue.second.take() is not None
    assert (queue.facts(first).state, queue.facts(first).message) == ("running", None)
    queue.second.leave(first, "It asks for a key.")
    assert (queue.first.take(), queue.second.take()) == (None, None)
    cancel_job(queue.db, queue.rosa, queue.project_id, job_id=first)
    resume_job(queue.db, queue.rosa, queue.project_id, job_id=first)
    assert queue.first.take() is not None  # whoever resumes it says that something has changed


def test_a_waiting_job_is_cancelled_at_once_and_can_be_resumed(queue: Queue) -> None:
    job = queue.put()
    assert cancel_job(queue.db, queue.rosa, queue.project_id, job_id=job).state == "cancelled"
    assert queue.first.take() is None
    with pytest.raises(Conflict, match="is cancelled"):
        cancel_job(queue.db, queue.rosa, queue.project_id, job_id=job)
    assert resume_job(queue.db, queue.rosa, queue.project_id, job_id=job).state == "waiting"
    assert queue.first.take() is not None
    with pytest.raises(Conflict, match="is running"):
        resume_job(queue.db, queue.rosa, queue.project_id, job_id=job)


def test_a_running_job_hears_that_it_is_cancelled(queue: Queue) -> None:
    job = queue.put()
    queue.first.take()
    row = cancel_job(queue.db, queue.rosa, queue.project_id, job_id=job)
    assert (row.state, row.cancel_requested) == ("running", True)
    assert queue.first.heartbeat(job, done=5, total=9, rate=None) is JobOrder.CANCEL
    queue.first.cancelled(job)
    assert (queue.facts(job).state, queue.facts(job).done) == ("cancelled", 5)


def test_a_cancelled_job_whose_worker_died_is_not_taken_up(queue: Queue) -> None:
    job = queue.put()
    queue.first.take()
    cancel_job(queue.db, queue.rosa, queue.project_id, job_id=job)
    queue.silent(job)
    assert queue.second.take() is None
    assert queue.facts(job).state == "cancelled"
    other = queue.put()
    queue.first.take()
    cancel_job(queue.db, queue.rosa, queue.project_id, job_id=other)
    queue.first.give_back(died=True)
    assert queue.facts(other).state == "cancelled"


def test_cancelling_a_job_whose_worker_is_gone_ends_it(queue: Queue) -> None:
    job = queue.put()
    queue.first.take()
    queue.silent(job)
    assert cancel_job(queue.db, queue.rosa, queue.project_id, job_id=job).state == "cancelled"


def test_a_failed_job_says_why_and_can_be_resumed(queue: Queue) -> None:
    job = queue.put()
    queue.first.take()
    queue.first.fail(job, "the disk is full", details="Traceback …")
    facts = queue.facts(job)
    assert (facts.state, facts.message, facts.result) == ("failed", "the disk is full", {"details": "Traceback …"})
    resumed = resume_job(queue.db, queue.rosa, queue.project_id, job_id=job)
    assert (resumed.state, resumed.message, resumed.ended_at) == ("waiting", None, None)


def test_a_job_of_somebody_who_was_erased_fails(queue: Queue) -> None:
    job = queue.put()
    with queue.db.write() as session:
        session.delete(session.get_one(Account, queue.rosa.person_id))
    assert queue.first.take() is None
    with queue.db.read() as session:
        assert session.get_one(Job, job).state == "failed"


def test_jobs_are_listed_newest_first_and_paged(queue: Queue) -> None:
    jobs = [queue.put(number=number) for number in range(5)]
    listed = list_jobs(queue.db, queue.rosa, queue.project_id, limit=3)
    assert [job.job_id for job in listed] == jobs[:1:-1]
    rest = list_jobs(queue.db, queue.rosa, queue.project_id, before=listed[-1].job_id)
    assert [job.job_id for job in rest] == jobs[1::-1]
    newest = latest_job(queue.db, queue.rosa, queue.project_id, kind="score")
    assert newest is not None and newest.job_id == jobs[-1]
    assert latest_job(queue.db, queue.rosa, queue.project_id, kind="judge") is None


def test_jobs_of_other_projects_are_not_there(queue: Queue) -> None:
    job = queue.put()
    other = make_project(queue.db)
    make_member(queue.db, other, queue.rosa, "researcher")
    with pytest.raises(NotFound, match=f"no job {job}"):
        job_facts(queue.db, queue.rosa, other, job_id=job)
    assert list_jobs(queue.db, queue.rosa, other) == []


def test_what_people_do_with_jobs_is_recorded(queue: Queue) -> None:
    job = queue.put()
    cancel_job(queue.db, queue.rosa, queue.project_id, job_id=job)
    resume_job(queue.db, queue.rosa, queue.project_id, job_id=job)
    with queue.db.read() as session:
        events = session.exec(select(Event).where(Event.thing == "job").order_by(Event.id)).all()  # type: ignore[arg-type]
    assert [event.kind for event in events] == ["job queued", "job cancelled", "job resumed"]
    assert {event.person_id for event in events} == {queue.rosa.person_id}


@pytest.mark.parametrize("role", ["viewer", "annotator", "adjudicator"])
def test_only_researchers_queue_jobs(queue: Queue, role: str) -> None:
    somebody = make_person(queue.db)
    make_member(queue.db, queue.project_id, somebody, role)
    with pytest.raises(NotAllowed):
        queue_job(queue.db, somebody, queue.project_id, kind="score", parameters={})
