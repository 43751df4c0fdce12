"""A process beside ours that opens what strangers sent: how it is started, asked, waited for, and ended."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from annotators.apart.wire import Garbled, Message, pack, unpack

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 30.0

Told = Callable[[Message], None]
"""Called with what a process says on the way to its answer."""


class Late(Exception):
    """The process has not answered in time."""


class Gone(Exception):
    """The process ended, or what it sends makes no sense."""


class Apart:
    """A process that runs `module` (`annotators.apart.serving`), and the two pipes to it. Used by one thread at a time.

    seconds: how long one request may take before the process ends by itself, should nobody be left to end it.
    memory_bytes: what it may use; see `serving.serve`.
    """

    def __init__(self, module: str, seconds: float, memory_bytes: int) -> None:
        # The parent's own import path, so that a checkout, an installation and a test all work; nothing else of its
        # environment, because secrets have no business beside a stranger's file. One arena for all threads, and Arrow
        # without a reserve of its own: what is only reserved counts against the limit, too.
        paths = [str(_ROOT), *(str(Path(entry).resolve()) for entry in sys.path if entry)]
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
            [sys.executable, "-P", "-m", module, str(seconds), str(memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={
                "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
                "PYTHONUTF8": "1",
                "MALLOC_ARENA_MAX": "1",
                "ARROW_DEFAULT_MEMORY_POOL": "system",
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
            },
            process_group=0,  # in the session of whoever waits for it, within which its niceness is heeded
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to, self._from = self.process.stdin, self.process.stdout
        self._poll = select.poll()
        self._poll.register(self._from, select.POLLIN)
        self._ready = False

    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def start(self) -> None:
        """Wait until it has loaded its libraries; raises Late or Gone."""
        if not self._ready:
            self._receive(time.monotonic() + _START_SECONDS)
            self._ready = True

    def ask(self, request: Message, seconds: float, told: Told | None = None) -> tuple[Message, bytes]:
        """Its answer; raises Late after that many seconds, Gone when it ended. `told` gets what it says before."""
        until = time.monotonic() + seconds
        try:
            self._to.write(pack(request))
        except OSError as error:
            raise Gone from error
        while True:
            answer, blob = self._receive(until)
            if "told" not in answer:
                return answer, blob
            if told is not None:
                told(answer)

    def _receive(self, deadline: float) -> tuple[Message, bytes]:
        def read(size: int) -> bytes:
            parts = bytearray()
            while len(parts) < size:
                left = deadline - time.monotonic()
                if left <= 0 or not self._poll.poll(left * 1000):
                    raise Late
                part = os.read(self._from.fileno(), min(size - len(parts), 1 << 20))
                if not part:
                    raise Gone
                parts += part
            return bytes(parts)

        try:
            return unpack(read)
        except Garbled as error:
            raise Gone from error

    def exit_status(self) -> int | None:
        """How it ended by itself (negative: by which signal); known a moment after its pipe closes."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.5)
        return self.process.returncode

    def end(self) -> None:
        """Kill it and close the pipes to it."""
        self.process.kill()
        self.process.wait()
        self._to.close()
        self._from.close()
