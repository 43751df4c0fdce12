"""A name that leads elsewhere the second time: requests go to the addresses that were checked."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from annotators.errors import InvalidInput, NotAllowed
from exports.label_studio.addresses import server_address
from exports.label_studio.pinned import PinnedTransport

PUBLIC, OTHER = "93.184.215.14", "93.184.215.15"


class Resolver:
    """Answers with the first addresses the first time, and with the next ones each time after."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self._answers = list(answers)

    def __call__(self, host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        found = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where anybody tried to connect to; nobody gets through."""
    tried: list[str] = []

    def refuse(address: tuple[str, int], *_: Any, **__: Any) -> Any:
        tried.append(address[0])
        raise OSError("refused")

    monkeypatch.setattr(socket, "create_connection", refuse)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return tried


def test_a_name_that_changes_its_address_is_asked_at_the_one_that_was_checked(
    connections: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver((PUBLIC, OTHER), ("127.0.0.1",)))
    address = server_address("http://labels.example.org:8080/ls/", private=False)
    assert address == ("http://labels.example.org:8080/ls", "labels.example.org", (PUBLIC, OTHER))
    with httpx.Client(transport=PinnedTransport(address.host, address.checked)) as client:
        with pytest.raises(httpx.ConnectError):
            client.get(f"{address.url}/api/version")
        with pytest.raises(httpx.ConnectError, match="is not labels"):
            client.get("http://elsewhere.example.org/")
    assert connections == [PUBLIC, OTHER]


def test_a_name_with_one_private_address_among_public_ones_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver((PUBLIC, "10.0.0.7")))
    with pytest.raises(NotAllowed, match=r"labels\.example\.org is 10\.0\.0\.7"):
        server_address("https://labels.example.org", private=False)


def test_behind_a_proxy_the_proxy_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver((PUBLIC,)))
    monkeypatch.setenv("https_proxy", "http://proxy.example.org:3128")
    assert server_address("https://labels.example.org", private=False).checked == ()
    monkeypatch.setenv("no_proxy", "labels.example.org")
    assert server_address("https://labels.example.org", private=False).checked == (PUBLIC,)


def test_a_name_that_leads_nowhere_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: Any, **__: Any) -> Any:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    with pytest.raises(InvalidInput, match="no server named 'labels"):
        server_address("https://labels.example.org", private=False)


@pytest.fixture
def there() -> Iterator[tuple[int, list[str]]]:
    """The port of a server on this machine, and the hosts that it was asked as."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.headers["Host"])
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, asked
    server.shutdown()
    server.server_close()


def test_the_server_is_asked_by_its_name(there: tuple[int, list[str]]) -> None:
    """An address that does not answer gives way to the next; the name stays the host of the request."""
    port, asked = there
    with httpx.Client(transport=PinnedTransport("labels.example.org", ["127.0.0.2", "127.0.0.1"])) as client:
        answer = client.post(f"http://labels.example.org:{port}/api/import", json=[1, 2])
    assert answer.json() == [1, 2]
    assert asked == [f"labels.example.org:{port}"]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("192.0.0.9", "192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
        *("224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::127.0.0.1", "::10.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:7f00:1"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::1", "2001::1"),
        *("fec0::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "3fff::1", "100::1", "5f00::1"),
        *("2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1", "2001:10::1", "2001:2::1"),
    ],
)
def test_an_address_that_leads_to_no_public_server_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver((PUBLIC, address)))
    with pytest.raises(NotAllowed, match="a private network"):
        server_address("https://labels.example.org", private=False)


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_a_public_address_is_asked_however_it_is_written(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Resolver((address,)))
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert server_address("https://labels.example.org", private=False).checked == (address,)
