"""Progress: how long work says how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called between two steps with how much is done, and of how much. What it raises stops the work there."""


def unheard(_done: int, _of: int) -> None:
    """Progress that nobody wants to hear of."""
