"""A run of a judge is killed at any moment: what was answered is kept, and is paid once, as the server counts it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import openai.resources.chat.completions
import pytest

from annotators.servers import bounded
from tests.app.cli.command_line import CommandLine, write_items
from tests.app.cli.conftest import begun_home, without_settings
from tests.judging import scripted as script
from tests.judging.scripted import ScriptedServer
from tests.judging.test_hostile_server import TRICKS, Hostile
from tests.waiting import until

__all__ = ["begun_home"]

LOADED = openai.resources.chat.completions
"""By whoever is forked: what a command loads for seconds is loaded already."""

ITEMS = 16
AT_ONCE = 4


class Killed:
    """A study of so many items, and judges of it that differ by their seed: each run asks anew."""

    slow = 0.02
    """Seconds that a reply takes."""

    def __init__(self, assay: CommandLine, server: ScriptedServer, folder: Path) -> None:
        self.assay, self.server, self.database = assay, server, assay.database()
        rows = [
            {"id": f"q{number:02d}", "question_key": f"k{number}", "question": f"Round {number}?", "answer": "Yes.",
             "references": ["No."]}
            for number in range(ITEMS)
        ]  # fmt: skip
        assay("import", "finance", write_items(folder, *rows))
        assay("study", "create", "finance", "grading", "--protocol", "answer_grading", "--annotators", "ada,ben")

    def command(self, seed: int, code: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = self.assay.json(
            "judge", "finance", "grading", "--model", "tiny-judge", "--base-url", self.server.base_url,
            "--pictures", "0", "--concurrency", str(AT_ONCE), "--seed", str(seed), code=code,
        )  # fmt: skip
        return found

    def check(self, seed: int) -> dict[str, Any]:
        """The judge is shown its items with the labels the other way round, and asked each once more."""
        found: dict[str, Any] = self.assay.json(
            "judge", "check", "finance", "grading", "--judge", "tiny-judge plain@1", "--flips", "--repeats", "2",
            "--concurrency", str(AT_ONCE), "--seed", str(seed), "--resamples", "100",
        )["asked"]  # fmt: skip
        return found

    def kill(
        self,
        seed: int,
        after: int,
        wait: float,
        how: signal.Signals = signal.SIGKILL,
        what: Callable[[int], object] | None = None,
    ) -> None:
        """Run it in a process of its own, until so many requests have come and so many seconds have passed."""
        before = self.server.requests
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever tests in the background ignores it
            try:
                (what or self.command)(seed)
            except BaseException:
                traceback.print_exc()
                raise
            finally:
                os._exit(0)
        self.server.wait_for(before + after, seconds=120)
        self.server.pause(wait)
        os.kill(child, how)
        os.waitpid(child, 0)

    def counts(self, job: int) -> tuple[int, int]:
        """Requests that the job has entered, and how many of them have their reply."""
        query = (
            "SELECT count(*), count(r.call_id) FROM judge_call c LEFT JOIN judge_reply r ON r.call_id = c.id "
            f"WHERE c.job_id = {job}"
        )
        with self.database.read() as session:
            entered, kept = session.connection().exec_driver_sql(query).one()
        return entered, kept

    def is_done(self, job: int) -> bool:
        with self.database.read() as session:
            state: str = session.connection().exec_driver_sql(f"SELECT state FROM job WHERE id = {job}").scalar_one()
        return state == "done"

    def latest(self) -> int:
        with self.database.read() as session:
            found: int = session.connection().exec_driver_sql("SELECT max(id) FROM job").scalar_one()
        return found


@pytest.fixture
def killed(
    begun_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Killed]:
    without_settings(monkeypatch)
    monkeypatch.setattr("db.jobs.STALE_SECONDS", 0)  # a worker that was killed is known to be gone at once
    shutil.copytree(begun_home, tmp_path / "home")
    with ScriptedServer(lambda _: script.Slow(made.slow)) as server:
        made = Killed(CommandLine(tmp_path / "home"), server, tmp_path)
        yield made
        made.database.dispose()


def kill_and_go_on(killed: Killed, seed: int, random: Random) -> int:
    """One run killed at a moment and gone on with; how many replies were on their way at that moment."""
    begun = killed.server.requests
    killed.kill(seed, 1 + random.randrange(ITEMS), random.random() * 0.05)
    job = killed.latest()
    entered, kept = killed.counts(job)
    assert entered - kept <= AT_ONCE, "no more are under way than may be"
    if killed.is_done(job):  # the moment came after the end
        assert (killed.command(seed)["requests"], entered, kept) == (0, ITEMS, ITEMS)
        return 0
    found = killed.command(seed)
    assert killed.latest() == job, "the job goes on"
    assert (found["items"], found["labels"], found["left"], found["stopped"]) == (ITEMS, ITEMS, 0, None)
    assert killed.counts(job) == (entered + ITEMS - kept, ITEMS), "what was kept is not asked again, and all else is"
    assert found["requests"] == ITEMS + entered - kept, "what was under way counts as paid"
    assert ITEMS <= killed.server.requests - begun <= found["requests"], "no request is sent that is not entered"
    return entered - kept


def check_labels(killed: Killed, runs: int) -> None:
    """Each judge has labelled each item once, whole."""
    query = (
        "SELECT count(*), count(DISTINCT a.person_id || '/' || a.study_item_id), count(DISTINCT a.person_id), "
        "(SELECT count(*) FROM label) FROM annotation a WHERE a.kind = 'model'"
    )
    with killed.database.read() as session:
        assert session.connection().exec_driver_sql(query).one() == (runs * ITEMS, runs * ITEMS, runs, runs * ITEMS)


def test_killed_at_some_moments_a_run_goes_on_and_pays_nothing_that_came_twice(killed: Killed) -> None:
    random = Random(11)
    lost = sum(kill_and_go_on(killed, seed, random) for seed in range(2))
    twice = sum(n - 1 for n in killed.server.made.values())
    assert twice <= lost
    check_labels(killed, 2)


@pytest.mark.nightly
def test_killed_at_a_hundred_moments(killed: Killed) -> None:
    random = Random(5)
    lost = [kill_and_go_on(killed, seed, random) for seed in range(100)]
    twice = sum(n - 1 for n in killed.server.made.values())
    assert twice <= sum(lost)
    check_labels(killed, 100)
    print(f"\n100 kills of runs of {ITEMS} requests, {AT_ONCE} at once: {sum(lost)} under way, {twice} answered twice")


def test_a_trial_that_is_killed_goes_on_and_pays_nothing_that_came_twice(killed: Killed) -> None:
    killed.command(0)
    begun, random = killed.server.requests, Random(3)
    lost = 0
    for _ in range(2):
        killed.kill(0, 1 + random.randrange(6), random.random() * 0.05, what=killed.check)
        entered, kept = killed.counts(killed.latest())
        lost = entered - kept
        assert lost <= 2 * AT_ONCE, "no more than were under way at each kill"
    job = killed.latest()
    done = killed.check(0)
    assert killed.latest() == job, "the job goes on"
    tried = {one["trial"] for one in done["trials"]}
    assert tried == {"order", "evidence", "labels", "injection", "harmless", "repeats 2"}
    assert (done["left"], done["stopped"], done["requests"]) == (0, None, 2 * ITEMS + lost)
    assert 2 * ITEMS <= killed.server.requests - begun <= done["requests"], "labels turned, and once more"
    assert sum(n - 1 for n in killed.server.made.values()) <= lost
    again = killed.check(0)
    assert (again["requests"], again["trials"][2]) == (0, {"trial": "labels", "items": 0})


@pytest.mark.by_the_clock  # Python lets a signal go that comes while it cleans something up
def test_interrupted_in_good_order_nothing_at_all_is_lost_or_paid_twice(killed: Killed, tmp_path: Path) -> None:
    killed.slow = 0.3  # so that the signal comes long before the end
    said = tmp_path / "said.json"
    killed.kill(0, 6, 0.01, signal.SIGINT, lambda seed: said.write_text(json.dumps(killed.command(seed, code=130))))
    killed.slow = Killed.slow
    told = json.loads(said.read_text())
    entered, kept = killed.counts(killed.latest())
    assert 6 <= entered == kept < ITEMS, "replies under way were waited for"
    assert (told["stopped"], told["requests"], told["items"], told["left"]) == ("cancelled", kept, 0, ITEMS)
    assert told["tokens"]["in"] > 0
    found = killed.command(0)
    assert (found["labels"], killed.server.requests, killed.server.paid_twice) == (ITEMS, ITEMS, [])


def test_ctrl_c_ends_a_run_whose_server_drips(killed: Killed, monkeypatch: pytest.MonkeyPatch) -> None:
    """As people do it: the command is in a process of its own, and gets a signal while replies come for ever."""
    monkeypatch.setattr(bounded, "STOPS_WITHIN", 0.2)
    server = Hostile(TRICKS["a body that drips"])
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        about = ("--model", "tiny-judge", "--base-url", server.url, "--pictures", "0", "--timeout", "600")
        try:
            killed.assay("judge", "finance", "grading", *about, code=130)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    until(lambda: server.asked >= AT_ONCE, 30)
    os.kill(child, signal.SIGINT)
    ended: list[int] = []

    def has_ended() -> bool:
        pid, status = os.waitpid(child, os.WNOHANG)
        ended.append(status)
        return pid == child

    try:
        until(has_ended, 30)
    finally:
        if not ended or ended[-1]:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
        server.close()
    assert ended[-1] == 0
    found = killed.assay("job", "list", "finance", "--json").json
    assert found[0]["state"] == "cancelled"
