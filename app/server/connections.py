"""Connections that ask for nothing: a request whose head does not come in time, or to an end, is ended."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0
"""How long the head of a request may take to come, from the moment it is waited for."""


LONGEST_HEAD = 64 << 10
"""Bytes that the head of a request may have, and what follows the last piece of its body."""

_OF_A_LINE = 64
"""What a line of a head counts beside its letters: each is kept as two texts in a list."""


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which by itself waits for the rest of a head for ever, and keeps all of it."""

    _due: asyncio.TimerHandle | None = None
    _handed_on = False
    _head = 0
    _unheard = 0  # bytes that came since the parser made something of some

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there: its first request has to come."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Something came; it may be a part of a head, or nothing that begins a request."""
        self._unheard += len(data)
        super().data_received(data)
        if self._unheard > LONGEST_HEAD:
            self._end()
        between = self.cycle is None or self.cycle.response_complete
        if between and self._due is None and self.timeout_keep_alive_task is None and not self._handed_on:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        """Another request."""
        self._head = self._unheard = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A line of a head, or of what follows a body in chunks; ValueError, which ends the request, for too many."""
        self._unheard = 0
        self._head += len(name) + len(value) + _OF_A_LINE
        if self._head > LONGEST_HEAD:
            raise ValueError("the head of the request is too long")
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """A piece of a body; how much of it is read is the matter of whoever takes it."""
        self._unheard = 0
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """The head is there: how long the answer takes is another matter."""
        self._unheard = 0
        self._stop_waiting()
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        """The connection goes to the protocol of websockets, which has limits of its own."""
        self._handed_on = True
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._due = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._end)

    def _stop_waiting(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _end(self) -> None:
        self._due = None
        transport: Any = self.transport
        if not transport.is_closing():
            transport.close()
