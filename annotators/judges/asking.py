"""A judge is asked: what was said before is taken, the budget is kept, what goes wrong for a moment is tried again."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Protocol

import orjson

from annotators.judges.base import Call, Ending, Picture, Reply
from annotators.judges.budget import Cost, Spending, likely_tokens
from annotators.judges.client import AUTO, Client, ServerRefuses, TryAgain

TRIES = 6
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
LONGEST_ASKED = 600.0
"""Seconds: between the first two tries, at most between two, and at most where the server asks for it."""

TRIES_UNREACHED = 3
"""Tries of the first request where there is no connection: the address is wrong, or the server does not run."""

FAILED_IN_A_ROW = 8
"""So many calls, one after the other, fail in all their tries before a server is taken to be down."""


class OutOfBudget(Exception):
    """The next request might pass the limit. What was asked before has its reply."""


class Stopped(Exception):
    """Somebody has stopped the run while requests waited for their turn."""


class Ledger(Protocol):
    """Where requests and replies are kept (db/judging/replies.py); threads share it."""

    def known(self, key: str, sample: int) -> Reply | None:
        """The reply that this request has had, whoever made it; None for one that failed."""

    def enter(self, key: str, sample: int, most: Cost) -> int:
        """A request that is about to be sent, and the most that it costs; a number for it."""

    def keep(self, number: int, reply: Reply, cost: Cost) -> None:
        """What came of it."""


@dataclass(frozen=True)
class Answer:
    """The reply to a call, whether it was known before, and the number of its request."""

    reply: Reply
    known: bool


def key_of(client: Client, call: Call, settings: Mapping[str, Any]) -> str:
    """SHA-256 of all that a reply depends on: server, model, messages, pictures, schema, settings.

    A request for log-probabilities is another one: its reply has what that of one without them lacks. So is one that is
    held to its schema by words alone, or by the server alone. What the server is told that the schema is called is not
    among it: it says no more than the words do.
    """
    messages = [
        [message.role]
        + [hashlib.sha256(part.data).hexdigest() if isinstance(part, Picture) else part.text for part in message.parts]
        for message in call.messages
    ]
    about = [client.server, client.model, client.most, client.seed, messages, dict(call.schema), dict(settings)]
    about += ["log-probabilities"] if client.chances else []
    about += [client.structured] if client.structured != AUTO else []  # what was said before there was a choice stays
    return hashlib.sha256(orjson.dumps(about, option=orjson.OPT_SORT_KEYS)).hexdigest()


class Pace:
    """Keeps requests below so many tokens a minute, and lets all wait when the server asks for it."""

    def __init__(self, tokens_a_minute: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = None if tokens_a_minute is None else tokens_a_minute / 60
        self._clock, self._free_at, self._lock = clock, 0.0, threading.Lock()

    def seconds_for(self, tokens: int) -> float:
        """How long to wait before a request of so many tokens; it has its turn with that."""
        with self._lock:
            moment = self._clock()
            wait = max(0.0, self._free_at - moment)
            if self._rate is not None:
                self._free_at = moment + wait + tokens / self._rate
            return wait

    def hold(self, seconds: float) -> None:
        """Nobody is asked for so long."""
        with self._lock:
            self._free_at = max(self._free_at, self._clock() + seconds)


def _nothing(most: Cost) -> Cost:
    """What a request cost that got no reply for sure; its money is known where that of the most is."""
    return Cost(1, 0, most.money and 0.0)


class _OneAtATime:
    """Lets one thread in for each name: items that share a question ask the same, which is to be paid once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        with self._lock:
            lock, n = self._inside.get(name, (threading.Lock(), 0))
            self._inside[name] = lock, n + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, n = self._inside.pop(name)
                if n > 1:
                    self._inside[name] = lock, n - 1


class Asker:
    """Asks calls of one judge, from several threads at once, within one budget.

    `context` is how many tokens the model takes in (None: not known); a longer call is not sent. `settings` are what
    tells this judge's requests from others of the same words. `stop` ends all waiting.
    """

    def __init__(
        self,
        client: Client,
        ledger: Ledger,
        spending: Spending,
        *,
        settings: Mapping[str, Any] | None = None,
        pace: Pace | None = None,
        context: int | None = None,
        tries: int = TRIES,
        stop: threading.Event | None = None,
    ) -> None:
        self._client, self._ledger, self._spending = client, ledger, spending
        self._settings, self._pace, self._context, self._tries = dict(settings or {}), pace or Pace(), context, tries
        self._stop = stop or threading.Event()
        self._random = Random(0)  # noqa: S311 - it spreads waits out
        self._alone = _OneAtATime()
        self._reached, self._failed = False, 0  # threads may see either late by a call, which does no harm

    def hurry(self) -> None:
        """Give up within a few seconds what is under way."""
        self._client.hurry()

    def ask(self, call: Call, sample: int = 0) -> Answer:
        """The reply to a call; OutOfBudget before it is sent, Stopped while it waits, ServerRefuses from the client.

        One that fails in all its tries has the ending `FAILED`, and is asked again when somebody asks for it anew.
        ServerRefuses, too, where nobody is there, and where one call after the other fails.
        """
        key = key_of(self._client, call, self._settings)
        with self._alone(f"{key}/{sample}"):
            return self._ask(call, sample, key)

    def _ask(self, call: Call, sample: int, key: str) -> Answer:
        known = self._ledger.known(key, sample)
        if known is not None:
            return Answer(known, known=True)
        likely = sum(likely_tokens(call, self._client.most))
        if self._context is not None and likely > self._context:
            said = f"about {likely:,} tokens, and the model takes {self._context:,}"
            return Answer(Reply("", Ending.TOO_LONG, said=said, tokens_in=0, tokens_out=0), known=False)
        most, retries = self._spending.most(call, self._client.most), 0
        while True:
            self._wait(self._pace.seconds_for(likely))
            try:
                reply = self._once(call, sample, key, most)
                self._reached, self._failed = True, 0
                return Answer(replace(reply, retries=retries), known=False)
            except TryAgain as trouble:
                retries += 1
                self._reached = self._reached or not trouble.unreached
                if not self._reached and retries >= TRIES_UNREACHED:
                    raise ServerRefuses(
                        f"Nobody answers at {self._client.server}: {trouble.said}. Start the server, or give the base "
                        "URL of one that runs."
                    ) from trouble
                if retries >= self._tries:
                    return self._gave_up(trouble, retries)
                self._let_time_pass(trouble, retries)

    def _gave_up(self, trouble: TryAgain, retries: int) -> Answer:
        """The call has failed in all its tries; ServerRefuses where so did those before it."""
        self._failed += 1
        if self._failed >= FAILED_IN_A_ROW:
            raise ServerRefuses(
                f"{self._client.server} gave no reply to {self._failed} requests in a row, {retries} tries each: "
                f"{trouble.said} Judge again when it is well: what was paid for is kept."
            )
        return Answer(Reply("", Ending.FAILED, said=trouble.said, retries=retries), known=False)

    def _once(self, call: Call, sample: int, key: str, most: Cost) -> Reply:
        place = self._spending.reserve(most)
        if place is None:
            raise OutOfBudget
        cost = most
        try:
            number = self._ledger.enter(key, sample, most)
            try:
                reply = self._client.once(call, sample)
            except TryAgain as trouble:
                failed = Reply("", Ending.FAILED, said=trouble.said)
                if not trouble.maybe_paid:
                    cost, failed = _nothing(most), replace(failed, tokens_in=0, tokens_out=0)
                self._ledger.keep(number, failed, cost)
                raise
            except BaseException as error:
                cost = _nothing(most)
                failed = Reply("", Ending.FAILED, said=str(error)[:500], tokens_in=0, tokens_out=0)
                self._ledger.keep(number, failed, cost)
                raise
            cost = self._spending.cost_of(reply, most)
            self._ledger.keep(number, reply, cost)
            return reply
        finally:
            self._spending.settle(place, cost)

    def _let_time_pass(self, trouble: TryAgain, retries: int) -> None:
        """As long as the server asks for, all who ask; else longer each time, and not all for the same time."""
        if trouble.after is not None:
            self._pace.hold(min(trouble.after, LONGEST_ASKED))
            return
        self._wait(min(FIRST_WAIT * 2 ** (retries - 1), LONGEST_WAIT) * (0.5 + self._random.random() / 2))

    def _wait(self, seconds: float) -> None:
        if self._stop.wait(seconds) if seconds > 0 else self._stop.is_set():
            raise Stopped
