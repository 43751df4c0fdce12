"""Run commands at the same time, and show what each says one after the other, as if they had come in turn.

    python -m tests.side_by_side COMMAND COMMAND ...

Tests wait a third of their time (for a page, a lock, another process): two suites at once, and the types beside them, take
what the longest takes, or what the processors can do. Each command is a line for the shell. The first one's output comes
as it is written; the others' waits for its turn. All run to their end whichever fails, so that one visit shows all that is
wrong; it fails where one of them did, and names them. Interrupted, it ends them and whatever they started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from types import FrameType
from typing import BinaryIO


def run(commands: Sequence[str], out: BinaryIO) -> int:
    """Run them all; gives 0 where each of them did, else 1, and 130 after an interruption."""
    with tempfile.TemporaryDirectory() as folder:
        logs = [os.path.join(folder, f"{at}.log") for at in range(len(commands))]
        running: list[subprocess.Popen[bytes]] = []
        failed = []
        try:
            for command, log in zip(commands, logs, strict=True):
                with open(log, "wb") as file:
                    # A session of its own: what it starts can be ended with it.
                    running.append(
                        subprocess.Popen(command, shell=True, stdout=file, stderr=file, start_new_session=True)
                    )
            for command, log, process in zip(commands, logs, running, strict=True):
                _show(log, process, out)
                if process.returncode:
                    failed.append(f"{command.split(maxsplit=1)[0]} … ended with {process.returncode}: {command}")
        except KeyboardInterrupt:
            return 130
        finally:
            for process in running:
                _end(process)
    for line in failed:
        out.write(f"FAILED  {line}\n".encode())
    out.flush()
    return 1 if failed else 0


def _show(log: str, process: subprocess.Popen[bytes], out: BinaryIO) -> None:
    """Copy what is in the log, and what comes, until its process has ended."""
    with open(log, "rb") as file:
        while True:
            ended = process.poll() is not None  # asked before the last look, so that nothing comes between the two
            if written := file.read():
                out.write(written)
                out.flush()
            elif ended:
                return
            else:
                time.sleep(0.2)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGINT)  # pytest takes its servers down with it
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(run(sys.argv[1:], sys.stdout.buffer))
