"""Resources: contents that a scorer reads beside the items, known by their hash and handed to each process once."""

from __future__ import annotations

import hashlib

from annotators.errors import NotFound

_CONTENTS: dict[str, bytes] = {}


def resource_hash(content: bytes) -> str:
    """SHA-256 of a resource, in hexadecimal: what it is asked for by."""
    return hashlib.sha256(content).hexdigest()


def provide_resource(content: bytes) -> str:
    """Make `content` known to this process and return its hash. Providing it again changes nothing."""
    digest = resource_hash(content)
    _CONTENTS[digest] = content
    return digest


def resource(digest: str) -> bytes:
    """The content with this hash; NotFound when nobody has provided it to this process."""
    try:
        return _CONTENTS[digest]
    except KeyError:
        raise NotFound(
            f"There is no resource with the hash {digest[:12]}… in this process. Provide it before scoring with it."
        ) from None
