"""Kinds of jobs: what each says of itself, who may start one; a run that is no scorer's, killed and taken up again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from annotators.errors import InvalidInput, NotAllowed
from app.widgets import job_bar
from app.worker import jobs
from app.worker.jobs import queue, work
from app.worker.kinds.base import KINDS, known
from app.worker.kinds.judge_check import JUDGE_CHECK, JudgeCheckParameters
from app.worker.kinds.review import REVIEW, ReviewParameters
from app.worker.kinds.scans import SCANS, ScansParameters
from app.worker.kinds.score import SCORE, ScoreParameters
from app.worker.process import Child
from db.engine import Database
from db.jobs import WorkerDesk, cancel_job, job_facts, queue_job, resume_job
from db.models import Job
from db.permissions import Actor
from db.scores.training_sets import REVIEW as REVIEW_OF_SETS
from tests.app.worker.kinds import CountParameters, CountWords, NoParameters, known_for_now, made_kind
from tests.app.worker.test_jobs import until
from tests.bulk import make_items
from tests.conftest import ROOT
from tests.db.runs.word_counts import counted, make_table
from tests.makers import make_member, make_person, make_project

N = 300


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("waiting", "waiting"),
        ("running", "counting what there is to do"),
        ("done", "done"),
        ("failed", "failed before anything was done"),
        ("cancelled", "cancelled before anything was done"),
    ],
)
def test_the_bar_of_a_job_that_has_not_said_how_much_there_is_to_do_says_so(
    database: Database, project: tuple[Actor, int], state: str, said: str
) -> None:
    admin, project_id = project
    job = queue(database, admin, project_id, CountWords(), CountParameters(letters=4)).job_id
    with database.write() as session:
        session.get_one(Job, job).state = state
    bar = job_bar.progress(job_facts(database, admin, project_id, job_id=job)).html
    assert said in bar
    assert "no questions" not in bar


def test_a_process_beside_the_server_stays_in_its_session_where_stepping_back_is_heeded() -> None:
    child = Child("timeit", "-n", "1", "-r", "1", "import time; time.sleep(60)")
    try:
        assert os.getsid(child.pid) == os.getsid(0)
        assert os.getpgid(child.pid) == child.pid  # Ctrl-C is for the server alone
    finally:
        child.kill()


class TestEveryKind:
    def test_it_says_what_it_is(self) -> None:
        assert KINDS.names() == ["draft", "judge", "judge check", "scans", "score", "training review"]
        assert [(kind.title, kind.unit) for kind in KINDS] == [
            ("Drafting", "draft"),
            ("Judging", "item"),
            ("Trying a judge", "item"),
            ("Reading scans", "page"),
            ("Scoring", "item"),
            ("Review of a training set", "answer"),
        ]
        assert REVIEW.name == REVIEW_OF_SETS

    def test_a_job_is_said_by_what_it_is_about(self) -> None:
        given: dict[str, Any] = {"scorer": "abstention", "parameters": {"training_set": "ab" * 32, "reach": 0.5}}
        assert SCORE.in_words(given) == "abstention (reach=0.5, training_set=abababababab…)"
        on_dask = ScoreParameters(scorer="rouge_l", parameters={}, engine="dask", address="tcp://here:8786")
        assert SCORE.about(on_dask) == "rouge_l on Dask"
        assert SCANS.about(ScansParameters()) == "all documents of the project"
        tried = JudgeCheckParameters(study_id=1, judge="tiny plain@1", trials=[{"name": "order"}, {"name": "labels"}])
        assert JUDGE_CHECK.about(tried) == "tiny plain@1: order, labels"
        assert REVIEW.about(ReviewParameters(examples=[{}] * 1_200)) == "1,200 new examples of abstention"

    def test_parameters_that_this_version_does_not_know_are_refused_in_words_and_still_shown(self) -> None:
        with pytest.raises(InvalidInput, match=r"cannot read the parameters of a job of kind 'score' \(temperature: "):
            SCORE.read({"scorer": "rouge_l", "parameters": {}, "temperature": 0})
        assert SCORE.in_words({"scorer": "rouge_l", "parameters": {}, "temperature": 0}) == ""
        assert known("fortune") is None


@pytest.fixture
def project(database: Database) -> tuple[Actor, int]:
    """An administrator, and a project of items."""
    admin, project_id = make_person(database, admin=True), make_project(database)
    make_items(database, project_id, N)
    make_table(database)
    return admin, project_id


def test_what_is_queued_is_kept_as_it_was_given(sqlite_database: Database) -> None:
    admin, project_id = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    short = ScoreParameters(scorer="rouge_l", parameters={"stemming": True})
    job = queue(sqlite_database, admin, project_id, SCORE, short)
    assert (job.kind, job.parameters) == ("score", {"scorer": "rouge_l", "parameters": {"stemming": True}})
    assert job_bar.title(job) == "Scoring: rouge_l (stemming=true)"
    assert queue(sqlite_database, admin, project_id, SCORE, short).job_id == job.job_id
    given = {"scorer": "rouge_l", "parameters": {}, "engine": "dask", "address": None}
    assert queue(sqlite_database, admin, project_id, SCORE, SCORE.read(given)).parameters == given


def test_who_may_not_start_a_kind_is_told_so(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    project_id = make_project(sqlite_database)
    researcher, admin = make_person(sqlite_database), make_person(sqlite_database, admin=True)
    make_member(sqlite_database, project_id, researcher, "researcher")
    costly = made_kind("costly", lambda _work: {}, roles=frozenset())
    known_for_now(monkeypatch, costly)
    with pytest.raises(NotAllowed, match=r"may not start jobs of kind 'costly'\. Roles that may: administrator"):
        queue(sqlite_database, researcher, project_id, costly, NoParameters())
    assert queue(sqlite_database, admin, project_id, costly, NoParameters()).state == "waiting"
    assert queue(sqlite_database, researcher, project_id, SCANS, ScansParameters()).state == "waiting"


def test_a_job_whose_parameters_cannot_be_read_fails_in_words(sqlite_database: Database) -> None:
    admin, project_id = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    given = {"scorer": "rouge_l", "parameters": {}, "temperature": 0}
    job = queue_job(sqlite_database, admin, project_id, kind="score", parameters=given)
    assert work(sqlite_database, "one") == 1
    facts = job_facts(sqlite_database, admin, project_id, job_id=job.job_id)
    assert facts.state == "failed"
    assert "cannot read the parameters of a job of kind 'score'" in (facts.message or "")
    assert facts.result is None


@pytest.mark.slow
def test_another_kind_of_run_that_is_killed_goes_on_in_its_run_and_stores_each_result_once(
    database: Database, tmp_path: Path, project: tuple[Actor, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, project_id = project
    known_for_now(monkeypatch, CountWords())
    job = queue(database, admin, project_id, CountWords(), CountParameters(seconds=0.05)).job_id
    program = (
        "import sys; from app.worker import jobs; from app.worker.kinds.base import KINDS; "
        "from tests.app.worker.kinds import CountWords; KINDS.register(CountWords()); sys.exit(jobs.main(sys.argv[1:]))"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), "the killed one"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        env={**os.environ, "ASSAY_DATABASE_URL": database.url.render_as_string(hide_password=False)},
    )
    until(lambda: counted(database)[0] >= 20)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    done = counted(database)[0]
    assert 20 <= done < N
    assert job_facts(database, admin, project_id, job_id=job).state == "running"
    WorkerDesk(database, "the killed one").give_back(died=True)  # what the server's watch does
    assert work(database, "the next one") == 1
    assert counted(database) == (N, N, 1)
    facts = job_facts(database, admin, project_id, job_id=job)
    assert (facts.state, facts.done, facts.total, facts.result) == ("done", N, N, {"added": N - done})
    assert job_bar.title(facts) == "Counting words: of at least 1 letters"
    assert f"{N} of {N} questions" in job_bar.progress(facts).html


def test_another_kind_of_run_is_cancelled_between_two_blocks_and_resumed(
    database: Database, project: tuple[Actor, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, project_id = project
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.05)
    known_for_now(monkeypatch, CountWords())
    job = queue(database, admin, project_id, CountWords(), CountParameters(letters=4, seconds=0.02)).job_id

    def cancel_soon() -> None:
        until(lambda: counted(database)[0] >= 10)
        cancel_job(database, admin, project_id, job_id=job)

    thread = threading.Thread(target=cancel_soon)
    thread.start()
    work(database, "one")
    thread.join()
    assert job_facts(database, admin, project_id, job_id=job).state == "cancelled"
    assert 10 <= counted(database)[0] < N
    resume_job(database, admin, project_id, job_id=job)
    work(database, "one")
    assert job_facts(database, admin, project_id, job_id=job).state == "done"
    assert counted(database) == (N, N, 1)
