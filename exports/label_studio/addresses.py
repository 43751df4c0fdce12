"""Which servers are asked at all: none in a private network, unless somebody who runs Assay allows it."""

from __future__ import annotations

import socket
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from annotators.addresses import is_public
from annotators.errors import InvalidInput, NotAllowed


class ServerAddress(NamedTuple):
    """The base URL of a server, its host, and the addresses of the host that were checked: the only ones to ask.

    There are none where any address is allowed, or a proxy connects.
    """

    url: str
    host: str
    checked: tuple[str, ...] = ()


def server_address(url: str, *, private: bool) -> ServerAddress:
    """The address of a server, without credentials, query and final slash.

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
    checked: tuple[str, ...] = ()
    if not private:
        checked = _public(parts.hostname, port or (443 if parts.scheme == "https" else 80))
        if parts.scheme in getproxies() and not proxy_bypass(parts.hostname):
            checked = ()
    place = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    base = urlunsplit((parts.scheme, f"{place}:{port}" if port else place, parts.path.rstrip("/"), "", ""))
    return ServerAddress(base, parts.hostname, checked)


def _public(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, in their order; NotAllowed where one of them is no public one."""
    try:
        found = dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError):
        raise InvalidInput(f"There is no server named {host!r}. Check the address.") from None
    for one in found:
        if not is_public(one):
            raise NotAllowed(
                f"{host} is {one}, an address of this machine or of a private network, which is not asked. Where "
                "it is your own Label Studio, set ASSAY_LABEL_STUDIO_PRIVATE=yes, or add --private."
            )
    return tuple(found)
