"""What a process that opens the files of strangers does: it answers one request after another until its input ends.

It holds nothing durable and may be killed at any moment. Its standard input and output carry `wire` messages; whatever
the libraries print goes nowhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
from collections.abc import Callable
from pathlib import Path

from annotators.apart.wire import Message, pack, unpack

# Whoever asks kills a process that is late; this is for one whose asker is gone.
_GRACE_SECONDS = 10.0

_RESERVED = 1 << 30
"""Addresses that libraries may take beside what they write to, where the latter is limited."""

Answer = tuple[Message, bytes]
Tell = Callable[[Message], None]
"""Says something on the way to an answer."""


def serve(
    answer: Callable[[Message, Tell], Answer], seconds: float, memory_bytes: int, *, beyond_itself: bool = False
) -> None:
    """Answer requests from standard input on standard output until it ends.

    seconds: wall-clock time for one request, unless it says its own (`seconds`). memory_bytes: what the process may use
    (RLIMIT_AS); with `beyond_itself` what it may use beside what it uses now, with its libraries loaded.
    """
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory(memory_bytes, beyond_itself=beyond_itself)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def send(message: Message, blob: bytes = b"") -> None:
        left = memoryview(pack(message, blob))
        while left:
            left = left[answers.write(left) or 0 :]

    def read(size: int) -> bytes:
        data = requests.read(size)
        if len(data) < size:
            raise EOFError
        return data

    send({"ok": True})
    # From here on failures travel as answers; until here a broken installation shows its traceback.
    os.dup2(nowhere, 2)
    while True:
        try:
            request, _ = unpack(read)
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_REAL, float(request.get("within") or seconds) + _GRACE_SECONDS)
        try:
            message, blob = answer(request, send)
            signal.setitimer(signal.ITIMER_REAL, 0)
            send(message, blob)
        except BrokenPipeError:
            return


def _limit_memory(most: int, *, beyond_itself: bool) -> None:
    # macOS refuses a limit on address space; the time limit holds everywhere.
    with contextlib.suppress(ValueError, OSError):
        if not beyond_itself:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            return
        said = Path("/proc/self/status").read_text()
        used = {name: int(kb) << 10 for name, kb in re.findall(r"(VmSize|VmData):\s+(\d+) kB", said)}
        data, addresses = used["VmData"] + most, used["VmSize"] + most + _RESERVED
        resource.setrlimit(resource.RLIMIT_DATA, (data, data))
        resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
