"""Addresses of servers: which are on this machine, or OpenAI's, and what is said of one that sends on to another."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
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


_NOT_PUBLIC = tuple(
    ip_network(one)
    for one in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    )
)  # fmt: skip
"""Networks that nobody's public server is in (the registries of special addresses of IANA), or that lead into others:
6to4 and Teredo are among them."""

_PUBLIC_6 = ip_network("2000::/3")
"""All addresses of version 6 that are given out; what lies outside is for this machine, this network, or nobody."""

_NAT64 = ip_network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an address, as the system resolves names, is one that anybody's server may have.

    One of version 6 that stands for one of version 4 (mapped, or by NAT64) is what that is.
    """
    found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None or found in _NAT64:
            found = IPv4Address(int(found) & 0xFFFF_FFFF)
        elif found not in _PUBLIC_6 or (int(found) >> 32) & 0xFDFF_FFFF == 0x5EFE:  # ISATAP
            return False
    return not any(found in network for network in _NOT_PUBLIC)


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
