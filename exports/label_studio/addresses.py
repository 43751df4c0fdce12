"""Which servers are asked at all: none in a private network, unless somebody who runs Assay allows it."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from annotators.errors import InvalidInput, NotAllowed


def server_address(url: str, *, private: bool) -> str:
    """The base URL of a server, without credentials, query and final slash.

    InvalidInput for what is no address; NotAllowed for one of a private network, of this machine or of none, where
    these are not allowed.
    """
    parts = urlsplit(url.strip())
    try:
        port = parts.port
    except ValueError:
        raise InvalidInput(f"{url!r} has no port that can be. Give one below 65536.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(f"{url!r} is no address of a server. Give one such as https://label-studio.example.org.")
    if parts.username or parts.password:
        raise InvalidInput(
            "The address has a name or a password in it. Give the key in ASSAY_LABEL_STUDIO_KEY instead."
        )
    if not private:
        _check_public(parts.hostname, port or (443 if parts.scheme == "https" else 80))
    place = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return urlunsplit((parts.scheme, f"{place}:{port}" if port else place, parts.path.rstrip("/"), "", ""))


def _check_public(host: str, port: int) -> None:
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        raise InvalidInput(f"There is no server named {host!r}. Check the address.") from None
    for one in sorted(map(str, found)):
        address = ip_address(one.partition("%")[0])
        if not address.is_global:
            raise NotAllowed(
                f"{host} is {address}, an address of this machine or of a private network, which is not asked. Where "
                "it is your own Label Studio, set ASSAY_LABEL_STUDIO_PRIVATE=yes, or add --private."
            )
