"""A wire to PostgreSQL that breaks where a test wants it: a proxy with real connections on both sides."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from sqlalchemy.engine import URL

from db.engine import Database


@dataclass
class Wire:
    """Where the next statement that contains `at` is lost: on its way there, or only the answer to it.

    While `flowing` is not set nothing passes, and nobody is told.
    """

    port: int
    at: bytes = b""
    answered: bool = True
    cuts: int = 0
    flowing: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.flowing.set()

    def cut(self, at: str, *, answered: bool = True) -> None:
        """Break once at a statement with this text; if `answered`, when the server has carried it out."""
        self.at, self.answered = at.encode(), answered

    def breaks_at(self, sent: bytes) -> bool:
        with self._lock:
            if not self.at or self.at not in sent:
                return False
            self.at = b""
            self.cuts += 1
            return True

    def carry(self, client: socket.socket, server: socket.socket) -> None:
        """What the client says, until one of them leaves or the wire breaks."""
        with suppress(OSError), client, server:
            back = threading.Thread(target=self._pour, args=(server, client), daemon=True)
            back.start()
            while sent := client.recv(65536):
                if self.breaks_at(sent):
                    # From here on the client hears nothing.
                    client.shutdown(socket.SHUT_RDWR)
                    if self.answered:
                        server.sendall(sent)
                        server.shutdown(socket.SHUT_WR)  # the server reads to the end, does it, and finds nobody there
                    else:
                        server.shutdown(socket.SHUT_RDWR)
                    back.join(5)
                    return
                self.flowing.wait()
                server.sendall(sent)

    def _pour(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.flowing.wait()
                with suppress(OSError):
                    target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@contextmanager
def wired(url: URL, **options: float) -> Iterator[tuple[Database, Wire]]:
    """The same database over a wire that can break."""
    listener = socket.create_server(("127.0.0.1", 0))
    wire = Wire(listener.getsockname()[1])

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection((url.host or "127.0.0.1", url.port or 5432))
                threading.Thread(target=wire.carry, args=(client, server), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    over = url.set(host="127.0.0.1", port=wire.port).render_as_string(hide_password=False)
    db = Database(over, **options)  # type: ignore[arg-type]
    try:
        yield db, wire
    finally:
        db.dispose()
        listener.close()
