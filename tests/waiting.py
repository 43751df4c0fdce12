"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(holds: Callable[[], bool], seconds: float = 240) -> None:
    """Wait until something is so; a failure where it does not come to that in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that in time"
        time.sleep(0.02)
