"""Commands at the same time: what they say comes in turn, whichever fails is named, and none outlives an interruption."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.side_by_side import run
from tests.waiting import until


def test_each_ones_words_come_whole_and_in_turn_though_the_second_ends_only_with_the_first(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    out = io.BytesIO()
    # The first waits for a word of the second: one after the other they would wait for ever.
    assert run([f"echo a; cat {pipe}; echo b", f"echo c > {pipe}; echo d >&2"], out) == 0
    assert out.getvalue() == b"a\nc\nb\nd\n"


def test_all_come_to_their_end_and_those_that_fail_are_named() -> None:
    out = io.BytesIO()
    assert run(["exit 3", "echo still here", "kill -9 $$"], out) == 1
    assert out.getvalue().startswith(b"still here\n")
    assert b"ended with 3: exit 3" in out.getvalue()
    assert b"ended with -9: kill -9" in out.getvalue()


def test_an_interruption_ends_what_the_commands_started(tmp_path: Path) -> None:
    said = tmp_path / "pid"
    line = (
        f'{sys.executable} -c \'import os, time; open("{said}", "w").write(str(os.getpid())); time.sleep(600)\'; true'
    )
    both = subprocess.Popen([sys.executable, "-m", "tests.side_by_side", line, "sleep 600; true"], cwd=ROOT)
    until(lambda: said.exists() and said.read_text() != "")
    os.kill(both.pid, signal.SIGTERM)
    assert both.wait(30) == 130
    assert not Path(f"/proc/{said.read_text()}").exists() or not Path("/proc").exists()
