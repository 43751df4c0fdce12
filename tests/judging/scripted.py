"""A server that does what its script says, request after request: all that goes wrong with servers, and whole replies.

with ScriptedServer([RateLimited(after="1"), Failed(503), Dropped(made=True)]) as server:
    ...  # three requests go wrong, all after them get a whole reply
assert server.requests == 4 and server.answers == 2
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tests.judging.schemas import filled
from tests.judging.wire import FINGERPRINT, ChatServer, Cut, Said, Sent, completion, error, head_of

PAGE = "<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>"


class Turn:
    """What the server does with one request."""

    def say(self, sent: Sent, server: ChatServer) -> Said:
        raise NotImplementedError


@dataclass(frozen=True)
class Whole(Turn):
    """A reply: `content` as it stands, an object as JSON, or (None) a value that keeps the schema that was asked for.

    `before` and `after` are written around it; `n` choices in the same words, or as many as were asked for.
    """

    content: str | Mapping[str, Any] | None = None
    before: str = ""
    after: str = ""
    fingerprint: str | None = FINGERPRINT
    usage: bool = True

    def say(self, sent: Sent, _server: ChatServer) -> Said:
        return completion(
            sent,
            [self.before + self._words(sent) + self.after] * int(sent.body.get("n") or 1),
            fingerprint=self.fingerprint,
            usage=self.usage,
        )

    def _words(self, sent: Sent) -> str:
        if isinstance(self.content, str):
            return self.content
        if self.content is None and sent.schema is None:
            return "Well."
        value = filled(sent.schema or {}) if self.content is None else self.content
        return json.dumps(value, ensure_ascii=False)


WRONG_JSON = Whole('{"label": "yes", ')
NO_JSON = Whole("I would say that the answer is correct.")
WRONG_LABEL = Whole({"label": "no such label", "verdict": "no such label"})
FENCED = Whole(before="Here is my verdict:\n```json\n", after="\n```\nI hope that this helps.")
"""What keeps the schema, in a fence and with words around it."""
TWO_REPLIES = Whole('{"label": "yes"}\n{"label": "no"}')
EMPTY = Whole("")
BLANK = Whole(" \n\n ")


@dataclass(frozen=True)
class CutOff(Turn):
    """A reply that ends at the limit of tokens, after this many characters."""

    characters: int = 12

    def say(self, sent: Sent, server: ChatServer) -> Said:
        whole = Whole().say(sent, server).body["choices"][0]["message"]["content"]
        return completion(sent, [whole[: self.characters]], finish_reason="length")


@dataclass(frozen=True)
class Refused(Turn):
    """The model declines; `by_filter`: the server's filter takes the answer away."""

    words: str = "I'm sorry, I cannot help with that."
    by_filter: bool = False

    def say(self, sent: Sent, _server: ChatServer) -> Said:
        if self.by_filter:
            return completion(sent, [None], finish_reason="content_filter")
        return completion(sent, [None], refusal=self.words)


@dataclass(frozen=True)
class RateLimited(Turn):
    """429: `after` is the value of Retry-After, None leaves it out."""

    after: str | None = None
    status: int = 429

    def say(self, _sent: Sent, _server: ChatServer) -> Said:
        said = error(self.status, "Rate limit reached.", code="rate_limit_exceeded", kind="requests")
        return said if self.after is None else replace(said, headers={"Retry-After": self.after})


@dataclass(frozen=True)
class RateLimitedUntil(Turn):
    """429 with a Retry-After that is an HTTP date, this many seconds from now; dates have whole seconds."""

    seconds: float = 2.0

    def say(self, sent: Sent, server: ChatServer) -> Said:
        then = datetime.now(UTC) + timedelta(seconds=self.seconds)
        return RateLimited(format_datetime(then, usegmt=True)).say(sent, server)


QUOTA = error(429, "You exceeded your current quota.", code="insufficient_quota", kind="insufficient_quota")
"""What no waiting helps against."""


@dataclass(frozen=True)
class Failed(Turn):
    """The server fails with this status; `page`: in HTML, as proxies do."""

    status: int = 500
    page: bool = False

    def say(self, _sent: Sent, _server: ChatServer) -> Said:
        if self.page:
            return Said(self.status, PAGE)
        return error(self.status, "The server had an error while processing your request.", kind="server_error")


@dataclass(frozen=True)
class Saying(Turn):
    """An answer word for word."""

    said: Said

    def say(self, _sent: Sent, _server: ChatServer) -> Said:
        return replace(self.said)


HTML = Saying(Said(200, PAGE))
"""A page in place of JSON, with status 200."""
ANOTHER_PROTOCOL = Saying(Said(200, {"ok": True, "version": 3}))
"""JSON that is no completion."""
WRONG_KEY = Saying(error(401, "Incorrect API key provided: te***.", code="invalid_api_key"))
NO_MODEL = Saying(error(404, "The model `tiny-judge` does not exist.", code="model_not_found"))
NO_SCHEMAS = Saying(error(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported."))
OUT_OF_QUOTA = Saying(QUOTA)
TOO_LONG = Saying(
    error(
        400,
        "This model's maximum context length is 512 tokens. However, your messages resulted in 700 tokens.",
        code="context_length_exceeded",
    )
)


@dataclass(frozen=True)
class Slow(Turn):
    """`then`, after so many seconds."""

    seconds: float
    then: Turn = Whole()

    def say(self, sent: Sent, server: ChatServer) -> Said:
        server.pause(self.seconds)
        return self.then.say(sent, server)


@dataclass(frozen=True)
class Dropped(Turn):
    """The connection breaks off: before an answer was made, or after (`made`), with a part of it `sent` (0..1)."""

    made: bool = False
    sent: float = 0.0

    def say(self, sent: Sent, server: ChatServer) -> Said:
        if not self.made:
            raise Cut
        server.count(server.made, sent)
        said = Whole().say(sent, server)
        whole = head_of(said) + said.raw
        raise Cut(whole[: int(self.sent * len(whole))])


@dataclass(frozen=True)
class OnlyWithoutSchema(Turn):
    """400 to a request with a `response_format` of a JSON schema (or any), `then` to one without it."""

    then: Turn = Whole()
    any_format: bool = False

    def say(self, sent: Sent, server: ChatServer) -> Said:
        asked = (sent.body.get("response_format") or {}).get("type")
        if asked == "json_schema" or (self.any_format and asked is not None):
            return NO_SCHEMAS.say(sent, server)
        return self.then.say(sent, server)


@dataclass(frozen=True)
class OnlyShort(Turn):
    """The error of a context that is too long to a request of more tokens than this, `then` to a shorter one."""

    tokens: int
    then: Turn = Whole()

    def say(self, sent: Sent, server: ChatServer) -> Said:
        return (TOO_LONG if sent.tokens > self.tokens else self.then).say(sent, server)


Script = Sequence[Turn] | Callable[[Sent], Turn]


class ScriptedServer(ChatServer):
    """Does one turn of its script for each request that is in order, then `then` for all others.

    A script that is a function chooses the turn by the request, so that one item always fails whatever the order.
    """

    def __init__(self, script: Script = (), then: Turn = Whole(), **of_all: Any) -> None:
        super().__init__(**of_all)
        self._script, self._then = script, then
        self._next = 0
        self._turn = threading.Lock()

    def answer(self, sent: Sent) -> Said:
        return self._turn_for(sent).say(sent, self)

    def _turn_for(self, sent: Sent) -> Turn:
        if callable(self._script):
            return self._script(sent)
        with self._turn:
            place, self._next = self._next, self._next + 1
        return self._script[place] if place < len(self._script) else self._then
