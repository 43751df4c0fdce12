"""Processes that measure: parts as they come, one result for everybody, and what happens when one dies or is left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.errors import InvalidInput
from app.settings import ROOT, Settings
from app.worker.reports import NotMeasured, Reports
from tests.app import report_work as work
from tests.databases import put_database
from tests.waiting import until

pytestmark = pytest.mark.slow

PATIENCE = 60.0


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reports]:
    home = tmp_path_factory.mktemp("reports")
    settings = Settings.load({}, home=home, report_niceness=0, report_workers=1)
    put_database(home / "assay.db")
    made = Reports(settings)
    yield made
    made.close()


def is_there(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_parts_come_before_the_whole_is_done(reports: Reports) -> None:
    with reports.look("steps", work.in_steps) as look:
        assert not look.wait(PATIENCE, beyond=1)
        assert look.parts == [1, 2]
        assert look.result() == 3


def test_what_one_has_asked_for_is_there_for_everybody(reports: Reports) -> None:
    begun = reports.begun
    first = reports.result("mine", work.whose)
    assert first != os.getpid()
    assert reports.result("mine", work.whose) == first
    assert reports.begun == begun + 1
    reports.result("another stamp", work.whose)
    assert reports.begun == begun + 2


def test_a_process_that_dies_is_replaced_and_said(reports: Reports) -> None:
    before = reports.result("before it dies", work.whose)
    with pytest.raises(NotMeasured, match="has ended in the middle of this"), reports.look("dies", work.dies) as look:
        assert look.wait(PATIENCE)
        look.result()
    assert reports.result("after it died", work.whose) != before
    assert not is_there(before)


def test_what_nobody_looks_at_is_ended(reports: Reports) -> None:
    with reports.look("for ever", work.for_ever) as look:
        look.wait(PATIENCE, beyond=0)
        [pid] = look.parts
    assert is_there(pid)
    until(lambda: not is_there(pid))
    assert reports.at_work == 0
    assert reports.result("after it was left", work.whose) != pid


def test_who_comes_back_in_time_finds_it_still_being_made(reports: Reports) -> None:
    with reports.look("again", work.for_ever) as look:
        look.wait(PATIENCE, beyond=0)
        [pid] = look.parts
    with reports.look("again", work.for_ever) as look:
        time.sleep(4.0)  # longer than work goes on without anybody
        assert look.parts == [pid]
        assert is_there(pid)


def test_too_much_memory_is_a_sentence_and_the_process_goes_on(reports: Reports) -> None:
    before = reports.result("before it is too large", work.whose)
    with pytest.raises(NotMeasured, match="more memory than a report may use"):
        reports.result("too large", work.too_large)
    assert reports.result("after it was too large", work.whose) == before


def test_errors_of_a_person_and_faults_of_ours_are_told_apart(reports: Reports) -> None:
    with pytest.raises(InvalidInput, match="7 is no level"):
        reports.result("refused", work.refuses)
    with pytest.raises(NotMeasured, match=r"fault in the program \(KeyError"):
        reports.result("broken", work.breaks)


def test_a_failure_is_not_kept(reports: Reports) -> None:
    for _ in range(2):
        begun = reports.begun
        with pytest.raises(InvalidInput):
            reports.result("refused twice", work.refuses)
        assert reports.begun == begun + 1


def test_closing_ends_the_processes_and_what_they_do(reports: Reports) -> None:
    closing = Reports(reports._settings)
    with closing.look("for ever", work.for_ever) as look:
        look.wait(PATIENCE, beyond=0)
        pids = closing.pids()
        assert pids
        closing.close()
        with pytest.raises(NotMeasured, match="stopping"):
            look.result()
    assert not any(is_there(pid) for pid in pids)
    with pytest.raises(NotMeasured, match="stopping"):
        closing.look("too late", work.whose)


SERVER = """
import sys, time
from pathlib import Path
from app.worker.reports import Reports
from app.settings import Settings
from tests.app import report_work
reports = Reports(Settings.load({}, home=Path(sys.argv[1]), report_niceness=0))
with reports.look("for ever", report_work.for_ever) as look:
    look.wait(60, beyond=0)
    print(look.parts[0], flush=True)
    time.sleep(600)
"""


def test_when_the_server_is_killed_its_processes_end(reports: Reports) -> None:
    home = reports._settings.home
    command = [sys.executable, "-c", SERVER, str(home)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert server.stdout is not None
    pid = int(server.stdout.readline())
    assert is_there(pid)
    server.kill()
    server.wait()
    until(lambda: not is_there(pid))
