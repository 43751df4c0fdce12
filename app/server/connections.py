"""Connections that ask for nothing: a request whose head does not come in time ends, so that nobody holds them open."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0
"""How long the head of a request may take to come, from the moment it is waited for."""


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which by itself waits for the rest of a head as long as the connection lives."""

    _due: asyncio.TimerHandle | None = None
    _handed_on = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there: its first request has to come."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Something came; it may be a part of a head, or nothing that begins a request."""
        super().data_received(data)
        between = self.cycle is None or self.cycle.response_complete
        if between and self._due is None and self.timeout_keep_alive_task is None and not self._handed_on:
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        """The head is there: how long the answer takes is another matter."""
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
