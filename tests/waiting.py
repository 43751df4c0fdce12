"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(holds: Callable[[], bool], seconds: float = 240) -> None:
    """Wait until something is so; a failure where it does not come to that in time."""
    end, pause = time.monotonic() + seconds, 0.02
    while not holds():
        assert time.monotonic() < end, "it did not come to that in time"
        time.sleep(pause)
        pause = min(pause * 1.2, 0.1)  # what is asked takes a processor from what is waited for
