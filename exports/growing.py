"""Reports that grow while they are measured, and the same ones at their end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def whole(in_parts: Callable[P, Iterator[T]]) -> Callable[P, T]:
    """A function that gives at once, and with the same arguments, what `in_parts` gives in the end."""

    def measured(*given: P.args, **named: P.kwargs) -> T:
        [last] = deque(in_parts(*given, **named), maxlen=1)
        return last

    return measured
