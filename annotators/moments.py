"""Times as people write them."""

from __future__ import annotations

from datetime import datetime

from annotators.errors import InvalidInput


def moment(given: str, *, until: bool = False) -> datetime:
    """A time as somebody writes it: the computer's own time where no zone is given.

    A day alone is its beginning, or (`until`) its last minute. InvalidInput for what is no time.
    """
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise InvalidInput(f"{given!r} is no time. Write it as 2026-12-24 or 2026-12-24T18:00.") from None
    whole_day = until and len(given) == len("2026-12-24")
    return (found.replace(hour=23, minute=59) if whole_day else found).astimezone()
