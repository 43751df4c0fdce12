"""What a judge's run may cost: a limit in requests, tokens or money, reserved before a request is sent.

A request is entered with the most that it can cost, so that the sum of what was paid and of what is under way never
passes the limit, however many are under way at once. What came back replaces the reservation.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from annotators.errors import InvalidInput, shown
from annotators.judges.base import Call, Reply, Text

PICTURE_TOKENS = 4_096
"""The most that a picture is taken to cost in tokens. Servers count them differently, and few say how beforehand."""

_OVERHEAD = 64  # tokens around the messages of a chat
_PER_MESSAGE = 16
_BYTES_A_TOKEN = 4  # of English, about; a byte is a token at the most

Unit = Literal["usd", "tokens", "requests"]
_WORDS = re.compile(r"\s*([\d_.,]+(?:[eE][+]?\d+)?)\s*(usd|tokens|requests)\s*")


@dataclass(frozen=True)
class Cost:
    """What requests cost: how many, their tokens, and money (None where no price is known)."""

    requests: int = 0
    tokens: int = 0
    money: float | None = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Both together."""
        money = None if self.money is None or other.money is None else self.money + other.money
        return Cost(self.requests + other.requests, self.tokens + other.tokens, money)


@dataclass(frozen=True)
class Price:
    """Money for a million tokens sent (`sent`) and received (`received`)."""

    sent: float
    received: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (self.sent * tokens_in + self.received * tokens_out) / 1e6


def read_prices(path: Path) -> dict[str, Price]:
    """Model → price, from a TOML file with a table a model; InvalidInput names what is wrong in it. No file, no prices.

    ["some-model"]
    sent = 0.15        # for a million tokens
    received = 0.60
    """
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path.name} is no TOML: {error}. Mend it, or remove it.") from None
    return {model: _price(path, model, row) for model, row in tables.items()}


def _price(path: Path, model: str, row: Any) -> Price:
    row = row if isinstance(row, Mapping) else {}
    for name in ("sent", "received"):
        given = row.get(name)
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
            raise InvalidInput(
                f"{path.name}: {name!r} of {model!r} is {shown(given)}. Give the price of a million tokens: 0.15."
            )
    return Price(float(row["sent"]), float(row["received"]))


@dataclass(frozen=True)
class Limit:
    """The most that may be spent, in one unit."""

    amount: float
    unit: Unit

    def allows(self, cost: Cost) -> bool:
        """Whether so much may be spent in all."""
        spent = {"requests": cost.requests, "tokens": cost.tokens, "usd": cost.money}[self.unit]
        return spent is not None and spent <= self.amount

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.amount:g}{self.unit}"


def read_limit(words: str) -> Limit:
    """`5usd`, `2e6tokens` or `500requests`; InvalidInput for anything else, and for nothing."""
    found = _WORDS.fullmatch(words.lower())
    try:
        amount = float(found[1].replace(",", "").replace("_", "")) if found else 0.0
    except ValueError:
        amount = 0.0
    if found is None or not (0 if found[2] == "usd" else 1) <= amount < float("inf") or not amount:
        raise InvalidInput(f"{words!r} is no budget. Write more than nothing, as 5usd, 2e6tokens or 500requests.")
    unit: Any = found[2]
    return Limit(amount, unit)


def most_tokens(call: Call, answer: int) -> tuple[int, int]:
    """The most tokens that a call can cost (sent, received), where a reply has at most `answer`.

    A token is at least one byte where a tokenizer falls back on bytes, so that the bytes of the texts are a bound.
    """
    n_bytes = sum(
        len(part.text.encode()) for message in call.messages for part in message.parts if isinstance(part, Text)
    )
    sent = n_bytes + call.pictures * PICTURE_TOKENS + len(call.messages) * _PER_MESSAGE + _OVERHEAD
    return sent + _schema_bytes(call), answer


def likely_tokens(call: Call, answer: int) -> tuple[int, int]:
    """About how many tokens a call costs (sent, received): what a dry run says."""
    most, _ = most_tokens(call, answer)
    pictures = call.pictures * PICTURE_TOKENS
    return (most - pictures) // _BYTES_A_TOKEN + pictures // _BYTES_A_TOKEN, min(answer, 60 + 40 * len(call.asks))


def _schema_bytes(call: Call) -> int:
    return len(repr(call.schema).encode())


class Spending:
    """What one run has spent and reserved, against its limit. Threads may share it."""

    def __init__(self, limit: Limit | None, price: Price | None, spent: Cost = Cost()) -> None:
        if limit is not None and limit.unit == "usd" and price is None:
            raise InvalidInput(
                "A budget in money needs the model's price, and the prices file has none. Enter it there, or give the "
                "budget in tokens or requests."
            )
        self.limit, self.price = limit, price
        self._spent = spent
        self._reserved: dict[int, Cost] = {}
        self._next = 0
        self._lock = Lock()

    @property
    def spent(self) -> Cost:
        """What was paid, without what is under way."""
        with self._lock:
            return self._spent

    def most(self, call: Call, answer: int) -> Cost:
        """The most that a call can cost."""
        sent, received = most_tokens(call, answer)
        return Cost(1, sent + received, None if self.price is None else self.price.of(sent, received))

    def reserve(self, cost: Cost) -> int | None:
        """A place for so much, to be settled later; None where the limit does not allow it."""
        with self._lock:
            under_way = sum(self._reserved.values(), self._spent)
            if self.limit is not None and not self.limit.allows(under_way + cost):
                return None
            self._next += 1
            self._reserved[self._next] = cost
            return self._next

    def settle(self, place: int, cost: Cost) -> None:
        """What came of a reservation."""
        with self._lock:
            del self._reserved[place]
            self._spent += cost

    def cost_of(self, reply: Reply, most: Cost) -> Cost:
        """What a request cost by what came back; what the server does not say is taken to be the most."""
        if reply.tokens_in is None or reply.tokens_out is None:
            return most
        money = None if self.price is None else self.price.of(reply.tokens_in, reply.tokens_out)
        return Cost(1, reply.tokens_in + reply.tokens_out, money)
