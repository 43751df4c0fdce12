"""Who breaks off a request, or never ends it, costs one line in the log, and holds nothing."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from annotators.errors import AssayError
from app import state as app_states
from app.server import connections, web
from app.server.application import own_routes
from app.server.connections import PatientProtocol
from app.server.middleware import Sessions
from app.server.web import handle_error
from app.settings import Settings
from tests.databases import put_database

HEAD = b"Host: localhost\r\nOrigin: http://localhost\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Our routes behind our protocol, without Streamlit, where a head has half a second."""
    home: Path = tmp_path_factory.mktemp("broken-off")
    put_database(home / "assay.db")
    state = app_states.open_state(Settings.load({}, home=home))
    app = Starlette(
        routes=own_routes(state),
        middleware=[Middleware(Sessions, state=state)],
        exception_handlers={AssayError: handle_error},
    )
    patch = pytest.MonkeyPatch()
    patch.setattr(connections, "HEAD_SECONDS", 0.5)
    patch.setattr(web, "BODY_SECONDS", 0.5)
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen()
    server = uvicorn.Server(uvicorn.Config(app, http=PatientProtocol, log_config=None, access_log=False))
    serving = Thread(target=lambda: asyncio.run(server.serve([bound])), daemon=True)
    serving.start()
    yield bound.getsockname()[1]
    server.should_exit = True
    serving.join()
    patch.undo()
    state.close()
    app_states._current.clear()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def answer(connection: socket.socket) -> bytes:
    """All that comes until the server ends the connection."""
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("begun", [b"", b"GET /healthz HT", b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\nX-", b"\r\n"])
def test_a_request_whose_head_never_ends_is_ended(port: int, begun: bytes) -> None:
    with connected(port) as connection:
        connection.sendall(begun)
        assert answer(connection) == b""


def test_a_second_request_that_stays_half_open_is_ended_and_a_whole_one_is_answered(port: int) -> None:
    with connected(port) as connection:
        for _ in range(2):
            connection.sendall(b"GET /sign-in HTTP/1.1\r\n" + HEAD + b"\r\n")
            assert connection.recv(12) == b"HTTP/1.1 200"
            while b"</html>" not in connection.recv(1 << 16):
                pass
        connection.sendall(b"GET /sign-")
        assert answer(connection) == b""


CHUNKED = b"POST /sign-in HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + HEAD + b"\r\n"
ENDLESS = {
    "an address": (b"GET /", b"x" * 8000),
    "a line": (b"GET /sign-in HTTP/1.1\r\nX-More: ", b"x" * 8000),
    "lines": (b"GET /sign-in HTTP/1.1\r\n", b"a: b\r\n" * 1000),
    "lines after a body": (CHUNKED + b"0\r\n", b"a: b\r\n" * 1000),
    "a line after a body": (CHUNKED + b"0\r\nX-More: ", b"x" * 8000),
    "words behind the size of a chunk": (CHUNKED + b"1;", b"x" * 8000),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_head_that_goes_on_and_on_is_ended(port: int, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Long before its time is up: a head of 97 MB in small lines took two gigabytes."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", 60.0)
    monkeypatch.setattr(web, "BODY_SECONDS", 60.0)
    begun, more = ENDLESS[name]
    with connected(port) as connection, pytest.raises(OSError):
        connection.sendall(begun)
        for _ in range(2_000):
            connection.sendall(more)


def test_a_long_head_is_answered(port: int) -> None:
    with connected(port) as connection:
        lines = b"".join(b"X-%d: %s\r\n" % (n, b"x" * 1000) for n in range(40))
        connection.sendall(b"GET /sign-in HTTP/1.1\r\nConnection: close\r\n" + HEAD + lines + b"\r\n")
        assert b"200" in answer(connection)


def test_a_body_that_never_comes_is_answered_in_words(port: int) -> None:
    with connected(port) as connection:
        head = b"POST /sign-in HTTP/1.1\r\nConnection: close\r\nContent-Length: 50\r\n" + HEAD + b"\r\n"
        connection.sendall(head + b"name=")
        assert b"did not come within" in answer(connection)


def test_who_breaks_off_a_post_writes_one_line_that_tells_no_secret(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for path in (b"/sign-in", b"/join/secret-token"):
            with connected(port) as connection:
                head = b"POST " + path + b" HTTP/1.1\r\nContent-Length: 50\r\n" + HEAD + b"\r\n"
                connection.sendall(head + b"name=")
        with connected(port) as connection:  # by now both are over
            connection.sendall(b"GET /sign-in HTTP/1.1\r\nConnection: close\r\n" + HEAD + b"\r\n")
            assert b"200" in answer(connection)
        until = asyncio.run(_wait_for(lambda: len(caplog.records) >= 2))
    assert until
    assert [record.getMessage() for record in caplog.records] == [
        "127.0.0.1 broke off a request: POST '/sign-in'",
        "127.0.0.1 broke off a request: POST '/join/…'",
    ]
    assert not [record for record in caplog.records if record.exc_info]


async def _wait_for(condition) -> bool:  # type: ignore[no-untyped-def]
    for _ in range(200):
        if condition():
            return True
        await asyncio.sleep(0.02)
    return False
