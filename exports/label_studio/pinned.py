"""Requests that go to the addresses which were checked, whatever a name leads to by the time they are sent.

A name is resolved to be checked, and again by whoever connects: its owner could answer with a private address the
second time (DNS rebinding). The host stays in the request and in what TLS checks its certificate for.
"""

from __future__ import annotations

from collections.abc import Sequence

import httpx


class PinnedTransport(httpx.BaseTransport):
    """Connects to these addresses of one host, in their order, and to no other host."""

    def __init__(self, host: str, addresses: Sequence[str]) -> None:
        self._host, self._addresses = host, tuple(addresses)
        self._transport = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; ConnectError for another host, and where none of the addresses takes the connection."""
        if request.url.host != self._host:
            raise httpx.ConnectError(f"{request.url.host} is not {self._host}", request=request)
        extensions = {**request.extensions, "sni_hostname": self._host}
        *others, last = self._addresses
        for address in others:
            try:
                return self._send(request, address, extensions)
            except (httpx.ConnectError, httpx.ConnectTimeout):  # nothing was sent
                continue
        return self._send(request, last, extensions)

    def _send(self, request: httpx.Request, address: str, extensions: dict[str, object]) -> httpx.Response:
        there = request.url.copy_with(host=address)
        to = httpx.Request(request.method, there, headers=request.headers, stream=request.stream, extensions=extensions)
        return self._transport.handle_request(to)

    def close(self) -> None:
        """Close its connections."""
        self._transport.close()
