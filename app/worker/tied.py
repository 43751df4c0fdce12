"""`python -m app.worker.tied PARENT MODULE …`: run a module that the system ends with whoever started it.

A process that measures hears through its pipe that the server is gone, when it has loaded its libraries and a
computation lets it listen: until then, which can be minutes, it would take a processor from the server that comes next.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1  # prctl.h
_LOOK_SECONDS = 1.0


def _tie(parent: int) -> None:
    """Have this process killed when the thread that started it ends; elsewhere than on Linux it looks by itself."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # it was gone before
        os._exit(0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    _, parent, module, *arguments = sys.argv
    _tie(int(parent))
    sys.argv[:] = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
