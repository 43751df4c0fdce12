"""What cannot be carried from one program to the other: each thing once, with how often."""

from __future__ import annotations

from collections import Counter
from typing import Any


class Lost:
    """What was lost on the way, in the order in which it was found."""

    def __init__(self) -> None:
        self._n: Counter[str] = Counter()

    def add(self, what: str, n: int = 1) -> None:
        """Say in a sentence what is lost, and remember how often."""
        if n:
            self._n[what] += n

    def __bool__(self) -> bool:
        return bool(self._n)

    def lines(self) -> list[str]:
        """A line each, with the number where it is more than one."""
        return [what if n == 1 else f"{what} ({n:,} times)" for what, n in self._n.items()]

    def to_json(self) -> list[dict[str, Any]]:
        """As `--json` prints it."""
        return [{"what": what, "n": n} for what, n in self._n.items()]
