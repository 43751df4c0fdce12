"""Restoring while people submit: whatever was acknowledged is in the database, or in a copy that was made before.

Writers are processes that come, submit and go, or are killed, as servers and commands are. Whoever restores gives the
same command until it is let in.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest

from annotators.errors import AssayError, Conflict
from db.engine import Database
from db.upkeep.backups import back_up, restore
from tests.db.annotating.race import labour
from tests.makers import StudyInUse, first_administrator

ROOT = Path(__file__).parents[3]


def submissions_in(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as file:
        return {str(row[0]) for row in file.execute("SELECT uid FROM submission")}


class Writers:
    """Annotators, of whom each works a while through a database of its own, goes away, and comes again."""

    def __init__(self, study: StudyInUse, seconds: float, *, processes: bool) -> None:
        self.study, self.seconds = study, seconds
        self.acknowledged: list[str] = []
        self.over = threading.Event()
        self._url = study.db.url.render_as_string(hide_password=False)
        self._inputs: list[IO[str]] = []
        work = self._process if processes else self._work
        self._threads = [threading.Thread(target=work, args=(who,)) for who in range(len(study.annotators))]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self.over.set()
        for pipe in self._inputs:
            pipe.close()
        for thread in self._threads:
            thread.join()

    def _work(self, who: int) -> None:
        rng, person = random.Random(who), self.study.annotators[who].person_id
        while not self.over.is_set():
            seed, stay = rng.getrandbits(31), rng.uniform(0.5, 1.5) * self.seconds
            self._thread(person, seed, stay)
            time.sleep(rng.uniform(0.0, 1.0) * self.seconds)

    def _thread(self, person: int, seed: int, stay: float) -> None:
        db, until = Database(self._url, wait_seconds=2), time.monotonic() + stay

        def said(uid: str) -> None:
            self.acknowledged.append(uid)
            if time.monotonic() > until or self.over.is_set():
                raise InterruptedError

        try:
            labour(db, self.study.study_id, person, seed, said, idle=0.1)
        except (InterruptedError, AssayError):
            pass
        finally:
            db.dispose()

    def _process(self, who: int) -> None:
        person = self.study.annotators[who].person_id
        arguments = [self._url, str(self.study.study_id), str(person), str(who), str(self.seconds)]
        with subprocess.Popen(
            [sys.executable, "-m", "tests.db.upkeep.stints", *arguments],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            self._inputs.append(process.stdin)
            for line in process.stdout:
                if line.endswith("\n"):
                    self.acknowledged.append(line.strip())


def restored_under_load(
    database: Database, folder: Path, *, times: int, items: int, people: int, seconds: float, processes: bool = False
) -> dict[str, int]:
    """Restore so often while people work; figures. Asserts that nothing acknowledged is lost."""
    study = StudyInUse(database, items=items, annotators=people, overlap=people)
    actor = first_administrator(database)
    copy = back_up(database, actor, target=folder / "begin.db")
    database.dispose()
    writers, refused, copies = Writers(study, seconds, processes=processes), 0, []
    while not writers.acknowledged:
        time.sleep(0.01)
    db = Database(database.url.render_as_string(hide_password=False), wait_seconds=5)
    try:
        while len(copies) < times:
            try:
                done = restore(db, actor, source=copy, backups=folder / "backups")
                assert done.before is not None
                copies.append(done.before)
                time.sleep(seconds)
            except Conflict:
                refused += 1
            finally:
                db.dispose()
    finally:
        writers.end()
    kept = submissions_in(Path(str(db.url.database))).union(*map(submissions_in, copies))
    lost = set(writers.acknowledged) - kept
    assert not lost, f"{len(lost)} of {len(writers.acknowledged)} acknowledged submissions are lost"
    assert writers.acknowledged
    return {"restored": len(copies), "refused": refused, "acknowledged": len(writers.acknowledged), "lost": len(lost)}


def test_nothing_acknowledged_is_lost_by_restoring_while_people_submit(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.engine.ALONE_SECONDS", 0.05)
    done = restored_under_load(sqlite_database, tmp_path, times=3, items=60, people=2, seconds=0.15)
    assert done["restored"] == 3


@pytest.mark.nightly
def test_nothing_acknowledged_is_lost_by_restoring_fifty_times_while_processes_submit_and_are_killed(
    sqlite_database: Database, tmp_path: Path
) -> None:
    print(restored_under_load(sqlite_database, tmp_path, times=50, items=400, people=3, seconds=1.5, processes=True))
