"""People in the details of events: kept by their numbers, so that no name outlives its account, and told by names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

AMENDED = "study amended"
PERSON = "person"
"""The detail that is a person's number."""

OF_PEOPLE = ("quota", "slots")
"""Amendments that are of single annotators: person → number."""

# A name may begin with "quota of" itself: what is done with a quota tells the two apart.
_CHANGE = re.compile(
    r"(?P<before>quota of )?(?P<who>.+) (?P<did>(?(before)(?:taken away|\d+)|(?:goes on|joined|left)))"
)
_NUMBERED = re.compile(r"person (\d+)")


def by_number(changes: Iterable[str], numbers: Mapping[str, int]) -> list[str]:
    """What an amendment changed, with `person 21` in place of each name."""
    return [_told(change, lambda who: f"person {numbers[who]}" if who in numbers else who) for change in changes]


def with_names(kind: str, details: dict[str, Any], called: Callable[[int | str], str]) -> dict[str, Any]:
    """The details of an event as they are told: `called` names a number, and what earlier versions called by name."""

    def of(who: str) -> str:
        found = _NUMBERED.fullmatch(who)
        return called(int(found[1]) if found else who)

    told = dict(details)
    if kind == AMENDED and isinstance(changes := details.get("changes"), list):
        told["changes"] = [_told(str(change), of) for change in changes]
    if isinstance(number := details.get(PERSON), int):
        told[PERSON] = called(number)
    return told


def numbers_in(kind: str, details: Mapping[str, Any]) -> Iterator[int]:
    """The numbers of the people whom details are about."""
    if isinstance(number := details.get(PERSON), int):
        yield number
    changes = details.get("changes") if kind == AMENDED else None
    for change in changes if isinstance(changes, list) else ():
        found = _parts(str(change))
        if found is not None and (numbered := _NUMBERED.fullmatch(found["who"])):
            yield int(numbered[1])


def _parts(change: str) -> re.Match[str] | None:
    """A change that names somebody, in its parts; None for any other, such as `overlap 2 → 1` and `quota 9`."""
    return _CHANGE.fullmatch(change)


def _told(change: str, called: Callable[[str], str]) -> str:
    found = _parts(change)
    return change if found is None else f"{found['before'] or ''}{called(found['who'])} {found['did']}"
