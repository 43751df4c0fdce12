"""Addresses of servers: which are on this machine, or OpenAI's, and what is said of one that sends on to another."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from urllib.parse import urljoin, urlsplit

from annotators.errors import shown

_LOCALHOST = re.compile(r"([a-z0-9_-]+\.)*localhost\.?")


def is_here(server: str) -> bool:
    """Whether a server, by its base URL, is on this machine, so that nothing that is sent to it leaves it.

    Those are localhost, names that end in .localhost (RFC 6761, 6.3) and the addresses of the loopback. Any other name
    is elsewhere, whatever it begins with and wherever it leads today: its owner may lead it elsewhere tomorrow.
    """
    host = urlsplit(server).hostname or ""
    if _LOCALHOST.fullmatch(host):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def is_openai(server: str) -> bool:
    """Whether a server, by its base URL, is OpenAI's own, which alone gets what the environment holds for OpenAI."""
    return urlsplit(server).hostname == "api.openai.com"


def redirected(server: str, status: int, to: str | None) -> str:
    """What is said of a server that redirects: nobody has agreed to what is sent being sent on, or the key."""
    where = shown(urljoin(f"{server}/", to)) if to else "a place that it does not name"
    return (
        f"The server at {server} redirects ({status}) to {where}, and redirects are not followed. Give the address of "
        "the server that this leads to, where it may have what is sent."
    )
