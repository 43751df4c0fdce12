"""Points in time as people and files write them."""

from __future__ import annotations

from datetime import UTC, datetime


def time_of(text: str) -> datetime:
    """The moment that a text in ISO 8601 names, in UTC: without a zone it is UTC, a date is its first moment.

    Raises ValueError for anything else, and where the zone leads out of the calendar.
    """
    found = datetime.fromisoformat(text.strip())
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        raise ValueError(text) from None


def today_began() -> datetime:
    """The midnight that today began with where this machine is."""
    return datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
