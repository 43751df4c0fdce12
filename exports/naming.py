"""Names of which no two are alike, where others made them. It loads nothing, so that a file is recognised at once."""

from __future__ import annotations

from collections.abc import Collection


def distinct(key: str, taken: Collection[str]) -> str:
    """The key, or with the first number from 2 after it that is not taken."""
    number, free = 2, key
    while free in taken:
        free, number = f"{key}_{number}", number + 1
    return free
