"""A process of ours beside the web process: how it is started, how it begins, and how it ends with the server."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from app.settings import ROOT, Settings
from db.engine import Database

_CONNECTIONS = 4


class Child:
    """One of our modules on our own interpreter, in a process group of its own; what it prints goes nowhere.

    It stays in the session of this process: Linux shares the processors out among sessions first ("autogroup"), and
    heeds only within one how far a process steps back. In a session of its own it would give way to nobody.

    `pipes` are descriptors that it gets, `environment` is what it gets beside ours. Its standard input is open as long
    as this process wants it to live (`let_go`), and ends with this process. One that is `tied` is ended by the system
    with the thread that starts it, whatever it does (app/worker/tied.py); another is to end by itself.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        pipes: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        tied: bool = False,
    ) -> None:
        by = ("app.worker.tied", str(os.getpid()), module) if tied else (module,)
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
            [sys.executable, "-m", *by, *arguments],
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=pipes,
            process_group=0,
        )

    @property
    def pid(self) -> int:
        """Its process id, also after its end."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The exit status; None while it lives."""
        return self._process.poll()

    @property
    def alive(self) -> bool:
        """Whether it lives."""
        return self.status is None

    def let_go(self) -> None:
        """Close its standard input."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def stop(self, seconds: float) -> bool:
        """Ask it to end and wait for that, at most so long; whether it did, else it is killed."""
        self.let_go()
        with contextlib.suppress(OSError):
            self._process.terminate()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """End it at once: what it does, nobody waits for. Its pipes read as ended then."""
        if self.alive:
            self._process.kill()
            self._process.wait()
        self.let_go()


def begin(settings: Settings, *, niceness: int) -> Database:
    """What a process of ours does first: it logs as told, gives way to people who wait for a page, and has a database.

    Ctrl-C on a terminal reaches the server too, which then ends its processes: they pass over it. What they log goes to
    that terminal, and does not stop them there.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=settings.log_level.upper())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(niceness)
    return Database(settings.database, pool_size=_CONNECTIONS)
