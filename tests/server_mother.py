"""A process that has loaded what a server and its processes load, and forks one whenever a test asks: at once.

A server that is started anew spends five seconds of a processor on imports, sixty times in a run of the tests, and each
process that measures for it another two. What is forked is the same with settings, home folder, descriptors and process
id of its own. That a start from nothing works is tried by the tests that give `command`, and by those of
tests/app/worker.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).parent.parent
_MESSAGE_BYTES = 1 << 17
_HIGH = 500
"""Descriptors from here on are free in a process that has just been forked."""


class Forked:
    """A process that was forked, with what the tests use of `subprocess.Popen`."""

    def __init__(self, mother: str, pid: int) -> None:
        self.pid = pid
        self._mother = mother
        self._status: int | None = None

    def poll(self) -> int | None:
        """How it ended (negative: by which signal); None while it lives."""
        return self._look(0)

    def wait(self, timeout: float) -> int:
        """The same, waited for."""
        status = self._look(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, seconds: float) -> int | None:
        if self._status is None:
            handle = os.pidfd_open(self.pid)  # there until the mother is asked how it ended
            ended, _, _ = select.select([handle], [], [], seconds)
            os.close(handle)
            if ended:
                self._status = _ask(self._mother, {"ended": self.pid})["status"]
        return self._status


class ForkedServer(Forked):
    """A server, and what it prints."""

    def __init__(self, mother: str, pid: int, stdout: TextIO) -> None:
        super().__init__(mother, pid)
        self.stdout = stdout

    def _look(self, seconds: float) -> int | None:
        status = super()._look(seconds)
        if status is not None:
            self.stdout.close()
        return status


class ForkedChild:
    """In place of `app.worker.process.Child`, from which it differs only in that nothing has to be loaded."""

    def __init__(
        self,
        mother: str,
        module: str,
        *arguments: str,
        pipes: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        tied: bool = False,  # its parent is the mother, who ends it
    ) -> None:
        theirs, self._stdin = os.pipe()
        request = {
            "module": module,
            "arguments": arguments,
            "pipes": list(pipes),
            "environment": {**os.environ, **(environment or {})},
        }
        answer = _ask(mother, request, [theirs, 2, *pipes])
        os.close(theirs)
        self._process = Forked(mother, answer["pid"])

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def status(self) -> int | None:
        return self._process.poll()

    @property
    def alive(self) -> bool:
        return self.status is None

    def let_go(self) -> None:
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1

    def stop(self, seconds: float) -> bool:
        self.let_go()
        self._process.terminate()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30)
        self.let_go()


class Mother:
    """The process, as tests see it; begun when the first process is asked for, and ended with the tests'."""

    def __init__(self) -> None:
        self.address = str(Path(tempfile.mkdtemp(prefix="assay-mother-")) / "socket")
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(self.address)
        listening.listen(64)
        theirs, self._life = os.pipe()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"from tests.server_mother import main; main({listening.fileno()}, {theirs}, {self.address!r})",
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            pass_fds=[listening.fileno(), theirs],
            start_new_session=True,
        )
        listening.close()
        os.close(theirs)
        atexit.register(self.close)

    def fork(self, environment: dict[str, str], cwd: Path, log: TextIO) -> ForkedServer:
        """A server with this environment, which writes its log there."""
        read, write = os.pipe()
        request = {"environment": environment, "cwd": str(cwd)}
        answer = _ask(self.address, request, [write, log.fileno()])
        os.close(write)
        return ForkedServer(self.address, answer["pid"], os.fdopen(read))

    def close(self) -> None:
        """End it and whatever it has forked."""
        os.close(self._life)
        self._process.wait(30)


@cache
def mother() -> Mother:
    """The one of this process."""
    return Mother()


def forked_child(*arguments: Any, **options: Any) -> ForkedChild:
    """A `Child` of the process that runs the tests."""
    return ForkedChild(mother().address, *arguments, **options)


def _ask(address: str, request: dict[str, Any], descriptors: Sequence[int] = ()) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        asking.connect(address)
        socket.send_fds(asking, [json.dumps(request).encode()], descriptors)
        answer: dict[str, Any] = json.loads(asking.recv(_MESSAGE_BYTES))
    return answer


# In the process itself ------------------------------------------------------------------------------------------------


def main(listening: int, life: int, address: str) -> None:
    """Load; then do what is asked at this address until the tests' process is gone, and end all that was forked."""
    _load(address)
    asked = socket.socket(fileno=listening)
    living: set[int] = set()
    while life not in select.select([asked, life], [], [])[0]:
        connection, _ = asked.accept()
        with connection:
            message, descriptors, _flags, _address = socket.recv_fds(connection, _MESSAGE_BYTES, 8)
            request = json.loads(message)
            if "ended" in request:
                living.discard(request["ended"])
                answer = {"status": os.waitstatus_to_exitcode(os.waitpid(request["ended"], 0)[1])}
            else:
                pid = _fork(request, descriptors)
                living.add(pid)
                answer = {"pid": pid}
                for descriptor in descriptors:
                    os.close(descriptor)
            connection.sendall(json.dumps(answer).encode())
    for pid in living:
        os.kill(pid, signal.SIGKILL)
    Path(address).unlink()
    Path(address).parent.rmdir()


def _load(address: str) -> None:
    from app.navigation import load_pages
    from app.server import application, assets, drawing_ahead, health, middleware, routes  # noqa: F401
    from app.settings import Settings, apply_streamlit_options
    from app.worker import jobs, reports

    apply_streamlit_options(Settings())
    load_pages()
    for module in (jobs, reports):
        module.Child = partial(ForkedChild, address)  # type: ignore[attr-defined]
    reports.Reports.warm = lambda _self: None  # type: ignore[method-assign]
    gc.collect()
    gc.freeze()


def _fork(request: dict[str, Any], descriptors: list[int]) -> int:
    """Its process id; what each process loads beside the server is loaded here when the first is asked for."""
    if "module" in request:
        _ready(request["module"])
    pid = os.fork()
    if pid == 0:
        # Out of the way of the numbers that they are to have; what is left below is the mother's own.
        descriptors = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _HIGH) for descriptor in descriptors]
        os.closerange(3, _HIGH)
        if "module" in request:
            _be_process(request, *descriptors)
        else:
            _be_server(request, *descriptors)
    return pid


@cache
def _ready(module: str) -> None:
    if module == "app.worker.reports":
        importlib.import_module("app.worker.report_tasks")
        gc.collect()
        gc.freeze()


def _be_server(request: dict[str, Any], stdout: int, stderr: int) -> None:
    with _to_the_end(request):
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.close(stdout)
        os.close(stderr)
        os.chdir(request["cwd"])
        from app.server.application import serve
        from app.settings import Settings

        serve(Settings.load(), announce=lambda text: print(text, flush=True))


def _be_process(request: dict[str, Any], stdin: int, stderr: int, *pipes: int) -> None:
    with _to_the_end(request):
        # Not in the session of the tests, as with people (`app.worker.process`): there a process that steps back gives
        # way to all other tests, and whoever waits for it waits several times as long.
        os.setsid()
        nothing = os.open(os.devnull, os.O_WRONLY)
        given = {0: stdin, 1: nothing, 2: stderr, **dict(zip(request["pipes"], pipes, strict=True))}
        for number, descriptor in given.items():
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.exit(importlib.import_module(request["module"]).main(list(request["arguments"])))


@contextlib.contextmanager
def _to_the_end(request: dict[str, Any]) -> Any:
    """Be this process with its environment from here on, to its end."""
    status = 1
    try:
        os.environ.clear()
        os.environ.update(request["environment"])
        yield
        status = 0
    except BaseException as error:
        if isinstance(error, SystemExit):
            status = error.code if isinstance(error.code, int) else 0
        else:
            traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
