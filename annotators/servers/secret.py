"""A key that a server may say back to us: it is taken out of whatever is kept, or said on."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from urllib.parse import quote

_SHORTEST = 8
_ESCAPED = r"\\[nrt]|\\u(?:00ad|200[b-d]|2060|feff)"
_BETWEEN = rf"(?:[\s\u00ad\u200b-\u200d\u2060\ufeff]|{_ESCAPED}){{0,4}}"
_BETWEEN_BYTES = rf"(?:\s|\xc2\xad|\xe2\x80[\x8b-\x8d]|\xe2\x81\xa0|\xef\xbb\xbf|{_ESCAPED}){{0,4}}"
"""What may stand between two letters of a key without making it another one."""


class Secret:
    """The key for a server, in the forms in which it may come back; one that is short (`EMPTY`, `x`) is no secret."""

    def __init__(self, key: str | None) -> None:
        self._in_text: re.Pattern[str] | None = None
        self._in_bytes: re.Pattern[bytes] | None = None
        if key is None or len(key) < _SHORTEST:
            return
        bare = key.removeprefix("Bearer ")
        packed = [
            base64.b64encode(bare.encode()).decode().rstrip("="),
            base64.urlsafe_b64encode(bare.encode()).decode(),
        ]
        forms = dict.fromkeys([bare, bare[::-1], quote(bare, safe=""), bare.encode().hex(), *packed])
        self._in_text, self._in_bytes = _compiled(list(forms))

    def __repr__(self) -> str:
        """Without the key."""
        return "Secret(…)"

    def out_of(self, said: str) -> str:
        """A text without the key."""
        return said if self._in_text is None else self._in_text.sub("…", said)

    def out_of_bytes(self, data: bytes) -> bytes:
        """A text in UTF-8, such as JSON with escaped letters, without the key."""
        return data if self._in_bytes is None else self._in_bytes.sub("…".encode(), data)


def _compiled(forms: Sequence[str]) -> tuple[re.Pattern[str], re.Pattern[bytes]]:
    """What finds any of these forms in a text, and in one in UTF-8."""
    in_text = re.compile("|".join(_pattern(form, _BETWEEN) for form in forms), re.IGNORECASE)
    in_bytes = "|".join(_pattern(form, _BETWEEN_BYTES) for form in forms)
    return in_text, re.compile(in_bytes.encode("ascii"), re.IGNORECASE)


def _pattern(form: str, between: str) -> str:
    """A form of the key, each letter of which may be escaped as JSON does it, with what may stand between them."""
    # Only signs are escaped by a backslash alone: with `n` it is what may stand between two letters.
    escaped = ["" if letter.isalnum() else r"\\?" for letter in form]
    letters = [
        rf"(?:{before}{re.escape(letter)}|\\u00{ord(letter):02x})" for before, letter in zip(escaped, form, strict=True)
    ]
    return between.join(letters)
