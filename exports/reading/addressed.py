"""Documents that records name by addresses: each is known by its path, or by as much of it as it is supplied under."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from urllib.parse import parse_qs, unquote, urlsplit

from annotators.errors import InvalidInput, shown
from exports.sinks import plain_name

_UPLOADED = re.compile(r"/?data/upload/")
"""How the address of a file begins that was put into a project of Label Studio."""

_OF_ITS_OWN = re.compile(r"/?data/upload/(?:\d+/)?(?=[0-9a-f]{8}-[^/]*$)")
"""The same before a name that Label Studio has made one of its own: another file has another."""

_SERVED = re.compile(r"/?data/local-files/?\?")
"""How the address of a file begins that Label Studio serves from a folder, by a path in what follows (`d=…`)."""

_SIGNED = re.compile(r"signature=|[?&]sig=", re.IGNORECASE)
"""What follows the path of a file that is lent for a while: another each time, for the same file."""


def path_of(address: object) -> str:
    """The path of a file by its address, with the host or bucket before it: what tells it from others; never empty."""
    text = str(address or "").strip().replace("\\", "/")
    if text.startswith("data:"):
        return f"data-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if _SERVED.match(text):
        path = (parse_qs(text.partition("?")[2]).get("d") or [""])[0]
    else:
        try:
            parts = urlsplit(text)
        except ValueError:  # an address like `http://[`, which names no host
            parts = urlsplit(text.partition("//")[2])
        path = unquote(f"{parts.netloc}/{parts.path.lstrip('/')}" if parts.netloc else parts.path)
        path = _OF_ITS_OWN.sub("", path, count=1)
        if parts.query and not _SIGNED.search(f"?{parts.query}") and not _UPLOADED.match(text):
            path = f"{path}?{parts.query}"
    kept = "/".join("_" if part == ".." else part for part in path.split("/") if part not in ("", "."))
    return re.sub(r"[|\x00-\x1f\x7f]", "_", kept)[-500:].strip() or "image"


def plain_path(path: str) -> str:
    """A path as one that leads nowhere else, and that every file system can have."""
    return "/".join(plain_name(part) for part in path.split("/"))


class Addressed:
    """The keys of documents by their addresses, with those that are supplied.

    A document that is supplied as `scans/a/p1.png`, or as the end of that path, is the one that an address means whose
    path ends so. Without it the whole path is the key, so that pictures of one name in other folders are others.
    """

    def __init__(self, supplied: Collection[str] = ()) -> None:
        self._supplied, self._paths = frozenset(supplied), dict[str, str]()

    def key(self, address: object) -> str:
        """The key of the document; InvalidInput where another path has led to the one that is supplied under it."""
        path = path_of(address)
        parts = path.partition("?")[0].split("/")
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        named = (name for end in ends for name in (end, plain_path(end)))
        key = next((name for name in named if name in self._supplied), path)
        earlier = self._paths.setdefault(key, path)
        if earlier != path:
            raise InvalidInput(
                f"its picture {shown(path)} would be the document {key!r}, as {shown(earlier)} is. Put the pictures "
                "into a folder `documents` by their paths, so that each has its own."
            )
        return key
