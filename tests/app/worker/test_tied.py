"""A process that measures ends with its server, also with one that is killed while it computes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.settings import ROOT

PARENT = """
import sys
from app.worker.process import Child
print(Child("tests.app.worker.spinning", tied=True).pid, flush=True)
sys.stdin.read()
"""


def processor_time(pid: int) -> int | None:
    """In ticks; None of a process that has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return None
    return None if words[0] in "ZX" else int(words[11])


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_that_computes_ends_with_a_server_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child, until = int(parent.stdout.readline()), time.monotonic() + 60
        while (spent := processor_time(child)) is not None and spent < 20 and time.monotonic() < until:
            time.sleep(0.05)
        assert processor_time(child), "it has not begun"
        parent.kill()
        parent.communicate()
    until = time.monotonic() + 20
    while processor_time(child) is not None and time.monotonic() < until:
        time.sleep(0.05)
    assert processor_time(child) is None


def test_who_finds_its_server_gone_does_not_begin() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app.worker.tied", "1", "tests.app.worker.spinning"], cwd=ROOT, check=False, timeout=60
    )
    assert done.returncode == 0
