"""Workers: jobs are carried out in a process of their own, survive its death, and stop when they are told to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import col

from annotators.errors import Conflict
from app.settings import Settings
from app.worker import jobs
from app.worker.jobs import Interrupted, Workers, carry_out, work
from app.worker.kinds.base import Work
from db.engine import Database
from db.jobs import JobRow, WorkerDesk, cancel_job, job_facts, queue_job, resume_job
from db.models import Job, Run, Score
from db.permissions import Actor
from db.scores.training_sets import accept_training_set, list_training_sets
from db.scores.write import plan_scoring, run_scorer
from exports.scoring import training_review
from tests.abstention_study import DECLINES, Labelled
from tests.app.worker.kinds import known_for_now, made_kind
from tests.bulk import make_items
from tests.conftest import ROOT
from tests.databases import put_database
from tests.makers import first_administrator, make_item, make_person, make_project
from tests.waiting import until

N = 12_000


class Installation:
    """A home folder with a project of many items."""

    def __init__(self, db: Database, home: Path, items: int = N) -> None:
        self.home, self.db = home, db
        self.admin: Actor = first_administrator(db)
        self.project_id = make_project(db)
        make_items(db, self.project_id, items)

    def queue(self, **parameters: Any) -> int:
        complete, _ = plan_scoring(
            self.db, self.admin, self.project_id, scorer="phrase_recall", parameters=parameters or None
        )
        given = {"scorer": "phrase_recall", "parameters": complete}
        return queue_job(self.db, self.admin, self.project_id, kind="score", parameters=given).job_id

    def facts(self, job_id: int) -> JobRow:
        return job_facts(self.db, self.admin, self.project_id, job_id=job_id)

    def scores(self) -> tuple[int, int, int]:
        """(scores, item versions scored, runs)."""
        with self.db.read() as session:
            n, versions = session.execute(
                select(func.count(), func.count(func.distinct(col(Score.item_version_id))))
            ).one()
            return n, versions, session.execute(select(func.count()).select_from(Run)).scalar_one()

    def worker(
        self, name: str, *, beat: float = jobs.BEAT_SECONDS, block: int = training_review.BLOCK
    ) -> subprocess.Popen[bytes]:
        """A worker process of its own on this database; it says how far it is every `beat` seconds."""
        program = (
            "import sys; from app.worker import jobs; from exports.scoring import training_review; "
            f"jobs.BEAT_SECONDS = {beat}; training_review.BLOCK = {block}; sys.exit(jobs.main(sys.argv[1:]))"
        )
        return subprocess.Popen(
            [sys.executable, "-c", program, str(self.home), name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            env={**os.environ, "ASSAY_DATABASE_URL": self.db.url.render_as_string(hide_password=False)},
        )


@pytest.fixture
def here(database: Database, tmp_path: Path) -> Installation:
    return Installation(database, tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Installation]:
    """A home folder as the server would find it, with few items."""
    put_database(tmp_path / "assay.db")
    db = Database(f"sqlite:///{tmp_path / 'assay.db'}")
    yield Installation(db, tmp_path, items=50)
    db.dispose()


@pytest.mark.slow
def test_a_worker_that_is_killed_leaves_nothing_twice_and_nothing_out(here: Installation) -> None:
    job = here.queue()
    killed = here.worker("the killed one")
    until(lambda: here.scores()[0] >= 2_000)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    done = here.scores()[0]
    assert 0 < done < N
    assert here.facts(job).state == "running"
    WorkerDesk(here.db, "the killed one").give_back(died=True)  # what the server's watch does
    assert work(here.db, "the next one") == 1
    assert here.scores() == (N, N, 1)
    facts = here.facts(job)
    assert (facts.state, facts.done, facts.total) == ("done", N, N)
    assert facts.result == {"added": N - done, "n_scored": N, "n_unscored": 0}


@pytest.mark.slow
def test_a_worker_that_was_believed_dead_and_goes_on_writes_nothing_twice(here: Installation) -> None:
    job = here.queue()
    slow = here.worker("the slow one")
    until(lambda: here.scores()[0] >= 1_000)
    WorkerDesk(here.db, "the slow one").give_back(died=True)  # which is not so: it hears of it at its next heartbeat
    assert work(here.db, "the other one") == 1
    assert here.facts(job).state == "done"
    assert slow.stdin is not None
    slow.stdin.close()
    assert slow.wait(60) == 0
    assert here.scores() == (N, N, 1)
    assert here.facts(job).state == "done"


@pytest.mark.slow
def test_a_worker_stops_in_order_and_puts_its_job_back(here: Installation) -> None:
    job = here.queue()
    process = here.worker("one")
    until(lambda: here.scores()[0] >= 1_000)
    process.terminate()
    assert process.wait(30) == 0
    assert here.facts(job).state == "waiting"
    assert here.scores()[0] < N


@pytest.mark.slow
def test_a_worker_ends_when_its_parent_is_gone(here: Installation) -> None:
    job = here.queue()
    process = here.worker("one")
    until(lambda: here.scores()[0] >= 1_000)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(30) == 0
    assert here.facts(job).state == "waiting"


def test_a_running_job_is_cancelled_between_its_steps_and_resumed(
    here: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.05)
    job = here.queue()

    def cancel_soon() -> None:
        until(lambda: here.scores()[0] >= 1_000)
        cancel_job(here.db, here.admin, here.project_id, job_id=job)

    thread = threading.Thread(target=cancel_soon)
    thread.start()
    work(here.db, "one")
    thread.join()
    facts = here.facts(job)
    assert facts.state == "cancelled"
    assert 1_000 <= here.scores()[0] < N
    resume_job(here.db, here.admin, here.project_id, job_id=job)
    work(here.db, "one")
    assert here.facts(job).state == "done"
    assert here.scores() == (N, N, 1)


def test_progress_and_rate_are_written_down_while_a_job_runs(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.02)
    admin, project_id = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    seen: list[JobRow] = []

    def slow(work: Work) -> dict[str, Any]:
        for done in range(1, 5):
            time.sleep(0.6)
            work.progress(done, 8)
        time.sleep(0.1)
        seen.append(job_facts(sqlite_database, admin, project_id, job_id=work.job.job_id))
        return {}

    known_for_now(monkeypatch, made_kind("slow", slow))
    queue_job(sqlite_database, admin, project_id, kind="slow", parameters={})
    assert work(sqlite_database, "one") == 1
    assert (seen[0].done, seen[0].total) == (4, 8)
    assert seen[0].rate == pytest.approx(1 / 0.6, rel=0.2)
    assert seen[0].seconds_left == pytest.approx(2.4, rel=0.2)


def test_a_job_that_fails_says_why_and_the_worker_goes_on(small: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_work: Work) -> dict[str, Any]:
        raise ZeroDivisionError("no items to divide by")

    known_for_now(monkeypatch, made_kind("broken", broken))
    bad = queue_job(small.db, small.admin, small.project_id, kind="broken", parameters={}).job_id
    unknown = queue_job(small.db, small.admin, small.project_id, kind="fortune", parameters={}).job_id
    good = small.queue()
    assert work(small.db, "one") == 3
    assert small.facts(bad).message == "ZeroDivisionError: no items to divide by"
    assert "in broken" in (small.facts(bad).result or {})["details"]
    assert "does not know jobs of kind 'fortune'. Known: " in (small.facts(unknown).message or "")
    assert small.facts(good).state == "done"


def test_a_job_goes_to_the_run_it_has_begun(small: Installation) -> None:
    job = small.queue()
    desk = WorkerDesk(small.db, "one")
    taken = desk.take()
    assert taken is not None
    run_scorer(
        small.db, small.admin, small.project_id, scorer="phrase_recall", job_id=job, progress=lambda _done, _of: None
    )
    make_items(small.db, small.project_id, 30, start=50)
    carry_out(small.db, desk, taken)
    assert small.scores() == (80, 80, 1)
    with small.db.read() as session:
        assert session.get_one(Job, job).run_id == session.execute(select(col(Run.id))).scalar_one()


def test_interrupting_the_command_cancels_the_job(small: Installation) -> None:
    job = small.queue()
    desk = WorkerDesk(small.db, "one")
    taken = desk.take()
    assert taken is not None

    def interrupt(_done: int, _of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(small.db, desk, taken, shown=interrupt)
    assert small.facts(job).state == "cancelled"


def test_a_job_that_another_worker_has_taken_is_left_alone(
    small: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.02)
    job = small.queue()
    desk = WorkerDesk(small.db, "one")
    taken = desk.take()
    assert taken is not None

    def taken_over(_done: int, _of: int) -> None:
        with small.db.write() as session:
            session.get_one(Job, job).worker = "another"
        time.sleep(0.3)

    with pytest.raises(Interrupted, match="lost"):
        carry_out(small.db, desk, taken, shown=taken_over)
    assert small.facts(job).state == "running"


@pytest.mark.slow
def test_a_review_that_is_killed_begins_anew_and_accepts_nothing(database: Database, tmp_path: Path) -> None:
    labelled = Labelled(database)
    make_items(database, labelled.project_id, 2_000)
    make_item(database, labelled.project_id, "last", answer=DECLINES, references=[["tin"]])
    here = Installation(database, tmp_path, items=1)
    here.admin, here.project_id = labelled.rosa, labelled.project_id
    job = labelled.queue()
    killed = here.worker("the killed one", beat=0.05, block=20)
    until(lambda: here.facts(job).done > 0)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    facts = here.facts(job)
    assert (facts.state, facts.result) == ("running", None)
    assert 0 < facts.done < 2_003
    with pytest.raises(Conflict, match="is running"):
        accept_training_set(database, labelled.rosa, labelled.project_id, job_id=job)
    assert [
        training_set.number for training_set in list_training_sets(database, labelled.rosa, labelled.project_id)
    ] == [0]
    WorkerDesk(database, "the killed one").give_back(died=True)  # what the server's watch does
    assert work(database, "the next one") == 1
    result = labelled.result(job)
    assert (result["n_answers"], result["n_flags"]) == (2_003, 1)
    row = accept_training_set(database, labelled.rosa, labelled.project_id, job_id=job)
    assert (row.number, row.content_hash) == (1, result["hash"])


class TestTheWatchOfTheServer:
    @pytest.fixture
    def watch(self, small: Installation) -> Iterator[Workers]:
        watch = Workers(Settings.load({}, home=small.home)).start()
        yield watch
        watch.close()

    def test_a_worker_is_started_only_when_there_is_work(self, small: Installation, watch: Workers) -> None:
        time.sleep(1)
        assert watch.pid is None
        job = small.queue()
        watch.wake()
        until(lambda: small.facts(job).state == "done")
        assert small.scores() == (50, 50, 1)

    @pytest.mark.slow
    def test_a_worker_that_is_killed_is_replaced_and_its_job_done(self, small: Installation, watch: Workers) -> None:
        make_items(small.db, small.project_id, 40_000, start=50)
        job = small.queue()
        watch.wake()
        until(lambda: small.scores()[0] >= 2_000)
        first = watch.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        until(lambda: small.facts(job).state == "done")
        assert small.scores() == (40_050, 40_050, 1)
        assert watch.pid not in (None, first)

    @pytest.mark.slow
    def test_closing_it_ends_the_worker_and_puts_the_job_back(self, small: Installation, watch: Workers) -> None:
        make_items(small.db, small.project_id, 40_000, start=50)
        job = small.queue()
        watch.wake()
        until(lambda: small.scores()[0] >= 2_000)
        pid = watch.pid
        assert pid is not None
        watch.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert small.facts(job).state == "waiting"
