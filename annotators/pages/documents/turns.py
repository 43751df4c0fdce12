"""Whose turn it is with the processes that draw pages: a share a person and a project, heavy documents behind light."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

HEAVY_SECONDS = 1.0
"""From so long a page its document is a heavy one."""

LATE_SECONDS = 5.0
"""So long a page of a document that is known to be light may be at work before it counts as heavy."""

REMEMBERED_SECONDS = 600.0
"""How long it is remembered what the pages of a document cost."""

MOST_REMEMBERED = 10_000

HALF_LIFE_SECONDS = 60.0
"""After so long the time that somebody has used counts half."""


@dataclass(frozen=True)
class Party:
    """Who has a page drawn: a person, in a project. Nobody in particular has no share."""

    person: Hashable = None
    project: Hashable = None


_party: ContextVar[Party] = ContextVar("party", default=Party())  # noqa: B039 - frozen


@contextmanager
def drawing_for(person: Hashable, project: Hashable) -> Iterator[None]:
    """What is drawn or read within the block is for this person, of this project."""
    token = _party.set(Party(person, project))
    try:
        yield
    finally:
        _party.reset(token)


@dataclass(eq=False)
class Turn:
    """One request for a process: for whom, of which document and page, since when (`begun`) it is at work."""

    path: str
    page: int | None = None
    party: Party = field(default_factory=_party.get)
    begun: float | None = None


class Turns:
    """Who of those that wait comes next. Not safe by itself: its renderer holds a lock around it.

    places: how many processes there are. With several, one person has no more than half of them at work on documents
    that are not known to be light, one project no more than half on heavy ones, and all together leave one free of
    heavy ones: others' pages find it. Of those who may begin, whoever used least lately comes first.
    """

    def __init__(self, places: int) -> None:
        self._places, self._share = places, max(1, places // 2)
        self._waiting: list[Turn] = []
        self._at_work: list[Turn] = []
        self._costs: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._used: defaultdict[Hashable, float] = defaultdict(float)
        self._used_at = time.monotonic()

    def wait(self, turn: Turn) -> None:
        """Stand in the queue."""
        self._waiting.append(turn)

    def leave(self, turn: Turn) -> None:
        """Leave the queue, with a process or without."""
        self._waiting.remove(turn)

    def also(self, path: str, page: int) -> None:
        """Somebody wants a page that others wait for: it is theirs as well, where they have used less."""
        party = _party.get()
        for turn in self._waiting:
            if (turn.path, turn.page) == (path, page) and self._of(party) < self._of(turn.party):
                turn.party = party

    def _of(self, party: Party) -> float:
        return self._used.get(party.person, 0.0)

    def any_wait(self) -> bool:
        """Whether somebody stands in the queue."""
        return bool(self._waiting)

    def next(self) -> Turn | None:
        """Whose turn it is when a process is free; None where nobody may begin before somebody else has ended."""
        self._age()
        may = [turn for turn in self._waiting if self._may_begin(turn)]
        return min(may, key=lambda turn: self._of(turn.party), default=None)

    def begin(self, turn: Turn) -> None:
        """A process is at work for it."""
        turn.begun = time.monotonic()
        self._at_work.append(turn)

    def begin_anew(self, turn: Turn) -> None:
        """Its process had to start first, which is nothing of its own."""
        turn.begun = time.monotonic()

    def end(self, turn: Turn, *, cost: float | None = None) -> None:
        """It has ended; `cost` is how long a page of it held a processor, by the process itself, where it says so.

        It is remembered: on a machine that is busy everything takes long, and nothing is heavier for it.
        """
        self._at_work.remove(turn)
        now = time.monotonic()
        seconds = now - (turn.begun or now)
        self._age()
        if turn.party.person is not None:
            self._used[turn.party.person] += seconds
        self._costs[turn.path] = (max(seconds if cost is None else cost, self._cost(turn.path) or 0.0), now)
        self._costs.move_to_end(turn.path)
        if len(self._costs) > MOST_REMEMBERED:
            self._costs.popitem(last=False)

    def _cost(self, path: str) -> float | None:
        """The seconds that the dearest page of a document took lately; None where none was drawn."""
        known = self._costs.get(path)
        return None if known is None or time.monotonic() - known[1] > REMEMBERED_SECONDS else known[0]

    def _age(self) -> None:
        """Let what was used fade."""
        now = time.monotonic()
        if now - self._used_at > 1:
            left = 0.5 ** ((now - self._used_at) / HALF_LIFE_SECONDS)
            self._used = defaultdict(float, {who: n * left for who, n in self._used.items() if n * left > 0.01})
            self._used_at = now

    def _is_heavy(self, turn: Turn) -> bool:
        known, at_work = self._cost(turn.path), 0.0 if turn.begun is None else time.monotonic() - turn.begun
        return (known or 0.0) >= HEAVY_SECONDS or at_work >= (HEAVY_SECONDS if known is None else LATE_SECONDS)

    def _is_light(self, turn: Turn) -> bool:
        return self._cost(turn.path) is not None and not self._is_heavy(turn)

    def _may_begin(self, turn: Turn) -> bool:
        if self._places == 1 or turn.party.person is None or self._is_light(turn):
            return True
        theirs = [other for other in self._at_work if other.party.person == turn.party.person]
        if sum(not self._is_light(other) for other in theirs) >= self._share:
            return False
        if not self._is_heavy(turn):
            return True
        heavy = [other for other in self._at_work if self._is_heavy(other)]
        of_project = sum(other.party.project == turn.party.project for other in heavy)
        return of_project < self._share and len(heavy) < self._places - 1
