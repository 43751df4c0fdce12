"""How a process and the one beside it talk: a JSON object and a blob, each with its length in front.

JSON rather than pickle: a process that a hostile file took over can send nothing that runs in the one that asks.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any, cast

HEADER = struct.Struct(">II")
MAX_MESSAGE = 8 << 20
MAX_BLOB = 256 << 20

Message = dict[str, Any]


class Garbled(Exception):
    """The other side sent something that is not a message, or ended."""


def pack(message: Message, blob: bytes = b"") -> bytes:
    """The bytes of one message."""
    body = json.dumps(message, ensure_ascii=True).encode("ascii")
    return HEADER.pack(len(body), len(blob)) + body + blob


def unpack(read: Callable[[int], bytes]) -> tuple[Message, bytes]:
    """The next message, read with read(n), which returns exactly n bytes or raises.

    Raises Garbled when the lengths are absurd or the body is not a JSON object.
    """
    n_body, n_blob = HEADER.unpack(read(HEADER.size))
    if n_body > MAX_MESSAGE or n_blob > MAX_BLOB:
        raise Garbled(f"a message of {n_body} + {n_blob} bytes")
    try:
        message = json.loads(read(n_body))
    except ValueError as error:
        raise Garbled("a message that is not JSON") from error
    if not isinstance(message, dict):
        raise Garbled("a message that is not an object")
    return cast(Message, message), read(n_blob) if n_blob else b""
