"""A process that has loaded what a server loads, and forks one whenever a test asks: it answers at once.

A server that is started anew spends five seconds of a processor on imports, sixty times in a run of the tests. What is
forked is the same server with settings, home folder, descriptors and process id of its own; only its process for
reports starts with the first report. That a start from nothing works is tried by the tests that give `command`.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).parent.parent


class Forked:
    """A server that was forked, with what the tests use of `subprocess.Popen`."""

    def __init__(self, mother: Mother, pid: int, stdout: TextIO) -> None:
        self.pid, self.stdout = pid, stdout
        self._mother = mother
        self._status: int | None = None

    def poll(self) -> int | None:
        """How it ended (negative: by which signal); None while it lives."""
        return self._look(0)

    def wait(self, timeout: float) -> int:
        """The same, waited for."""
        status = self._look(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"server {self.pid}", timeout)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def _look(self, seconds: float) -> int | None:
        if self._status is None:
            self._status = self._mother.ask({"wait": self.pid, "seconds": seconds})["status"]
            if self._status is not None:
                self.stdout.close()
        return self._status


class Mother:
    """The process, as tests see it; begun when the first server is asked for."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from tests.server_mother import main; main({theirs.fileno()})"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self._socket, self._lines = ours, ours.makefile("r")
        self._one_at_a_time = threading.Lock()
        atexit.register(self.close)

    def fork(self, environment: dict[str, str], cwd: Path, log: TextIO) -> Forked:
        """A server with this environment, which writes its log there."""
        read, write = os.pipe()
        request = {"environment": environment, "cwd": str(cwd)}
        answer = self.ask(request, [write, log.fileno()])
        os.close(write)
        return Forked(self, answer["pid"], os.fdopen(read))

    def ask(self, request: dict[str, Any], descriptors: list[int] | None = None) -> dict[str, Any]:
        with self._one_at_a_time:
            socket.send_fds(self._socket, [json.dumps(request).encode()], descriptors or [])
            answer: dict[str, Any] = json.loads(self._lines.readline())
        return answer

    def close(self) -> None:
        """End it and whatever it has forked."""
        self._socket.close()
        self._lines.close()
        self._process.wait(30)


# In the process itself ------------------------------------------------------------------------------------------------


def main(number: int) -> None:
    """Load; then do what is asked through this socket until it ends, and end all that was forked."""
    _load()
    asked = socket.socket(fileno=number)
    children: dict[int, int | None] = {}
    while True:
        message, descriptors, _flags, _address = socket.recv_fds(asked, 1 << 20, 2)
        if not message:
            break
        request = json.loads(message)
        if "wait" in request:
            answer = {"status": _ended(children, request["wait"], request["seconds"])}
        else:
            pid = os.fork()
            if pid == 0:
                asked.close()
                _serve(request, *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            children[pid] = None
            answer = {"pid": pid}
        asked.sendall(json.dumps(answer).encode() + b"\n")
    for pid, status in children.items():
        if status is None:
            os.kill(pid, signal.SIGKILL)


def _load() -> None:
    from app.navigation import load_pages
    from app.server import application, assets, drawing_ahead, health, middleware, routes  # noqa: F401
    from app.settings import Settings, apply_streamlit_options
    from app.worker.reports import Reports

    apply_streamlit_options(Settings())
    load_pages()
    Reports.warm = lambda _self: None  # type: ignore[method-assign]
    gc.collect()
    gc.freeze()


def _ended(children: dict[int, int | None], pid: int, seconds: float) -> int | None:
    if children[pid] is None:
        handle = os.pidfd_open(pid)
        select.select([handle], [], [], seconds)
        os.close(handle)
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            children[pid] = os.waitstatus_to_exitcode(status)
    return children[pid]


def _serve(request: dict[str, Any], stdout: int, stderr: int) -> None:
    """Be a server from here on."""
    status = 1
    try:
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.close(stdout)
        os.close(stderr)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["environment"])
        from app.server.application import serve
        from app.settings import Settings

        serve(Settings.load(), announce=lambda text: print(text, flush=True))
        status = 0
    except BaseException as error:
        status = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1
        if not isinstance(error, SystemExit):
            traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
