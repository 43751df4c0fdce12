"""What a judge is asked in one request, and what comes back of it: the seam between prompts and the client.

Prompts (annotators/judges/prompts) make a `Call` of an item and read the labels out of a reply; the client
(annotators/judges/client.py) carries calls to a server and says how each ended. Neither knows the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Text:
    """A part of a message in words."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of a message that is seen: a page or an image, as the bytes of a PNG or JPEG file."""

    data: bytes
    media_type: Literal["image/png", "image/jpeg"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Text | Picture, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One request: what is sent, the JSON schema that the reply keeps, and what it answers.

    `asks` has the (criterion, target) that the reply gives labels for, as they are stored; `name` is what the server
    is told that the schema is called. `letters` has the label that each letter of the schema stands for, where the
    reply gives letters (annotators/judges/prompts/letters.py).
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    name: str
    asks: tuple[tuple[str, str], ...]
    letters: Mapping[str, str] = field(default_factory=dict)

    @property
    def pictures(self) -> int:
        """How many pictures are sent."""
        return sum(isinstance(part, Picture) for message in self.messages for part in message.parts)


class Ending(StrEnum):
    """How a request ended. Only a `WHOLE` reply is read; all else leaves its labels unscored, with this reason."""

    WHOLE = "whole"
    REFUSED = "refused"
    """The model declined to answer, or the server's filter took the answer away."""
    CUT_OFF = "cut off"
    """The reply ended at the limit of tokens."""
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    """The reply does not keep the schema."""
    TOO_LONG = "too long"
    """The request is longer than what the model takes in: it was not sent, or the server said so."""
    FAILED = "failed"
    """The server gave no reply in all tries; the run can be taken up again."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server gave: its text as it came, how it ended, and what it cost.

    Tokens are as the server counts them (None: it does not say). `chances` has place in the reply → label → its
    probability (0..1), where the server says them (annotators/judges/chances.py). `seconds` is from sending to the last
    byte, of the try that succeeded.
    """

    text: str
    ending: Ending
    model: str = ""
    fingerprint: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float = 0.0
    retries: int = 0
    said: str | None = None
    """What the server or the model said beside the reply: a refusal, an error."""
    chances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """The label that a judge gave one target of a criterion: a value, or that it cannot judge, with the reason.

    `chances` has every label that it could have given with its probability, where the server says so.
    """

    criterion: str
    target: str
    value: Any
    cannot_judge: bool = False
    reason: str | None = None
    rationale: str | None = None
    chances: tuple[tuple[Any, float], ...] = ()
