"""Uploads go to disk as they come, so many bytes a person, and nothing of a refused one is left."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from annotators.errors import InvalidInput
from app.server import upload_store
from app.server.upload_store import UploadStore
from db.people.sign_in import sign_in
from tests.app.cli.test_recovery import mounted
from tests.app.server.websocket import open_stream, rerun
from tests.servers import PASSWORD, RunningServer, running_server
from tests.waiting import until

MB = 1 << 20
HEAD = (
    b'--b\r\nContent-Disposition: form-data; name="f"; filename="n\xc3\xb6te.pdf"\r\nContent-Type: text/plain\r\n\r\n'
)
TAIL = b"\r\n--b--\r\n"


class Browser:
    """Somebody signed in with a page open, as the server sees them."""

    def __init__(self, server: RunningServer, name: str) -> None:
        self.server, self.token = server, sign_in(server.db, name, PASSWORD, None)
        self.leaving = ExitStack()
        self.stream = self.leaving.enter_context(open_stream(server, self.token))
        started = next(event for event in rerun(self.stream) if event.WhichOneof("type") == "new_session")
        self.session = started.new_session.initialize.session_id
        self.client = server.client(self.token)
        self.client.get("/_stcore/health")  # sets Streamlit's own cookie against requests of other sites
        self.client.headers["X-Xsrftoken"] = self.client.cookies.get("_streamlit_xsrf", "")

    def put(self, file_id: str, size: int, *, head: bytes = HEAD, tail: bytes = TAIL) -> httpx.Response:
        """Upload so many bytes, sent in pieces whose number nobody announces."""

        def body() -> Iterator[bytes]:
            yield head
            for begin in range(0, size, MB):
                yield b"x" * min(MB, size - begin)
            yield tail

        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        return self.client.put(self.address(file_id), content=body(), headers=headers, timeout=60)

    def address(self, file_id: str) -> str:
        return f"/_stcore/upload_file/{self.session}/{file_id}"


def begun(browser: Browser, announced: int) -> socket.socket:
    """A connection on which an upload of so many bytes was announced, and none sent."""
    host, port = browser.server.url.removeprefix("http://").split(":")
    wire = socket.create_connection((host, int(port)), timeout=20)
    head = (
        f"PUT {browser.address('one')} HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: assay_session={browser.token}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {announced}\r\n\r\n"
    )
    wire.sendall(head.encode())
    return wire


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    home = tmp_path_factory.mktemp("uploads") / "home"
    with running_server(home, ASSAY_UPLOAD_MB="100", ASSAY_UPLOADS_MB="150") as server:
        for name in ("rosa", "remy"):
            server.person(name, default_role="researcher")
        yield server


@pytest.fixture
def rosa(server: RunningServer) -> Iterator[Browser]:
    browser = Browser(server, "rosa")
    yield browser
    for name in ("one", "two"):
        browser.client.delete(browser.address(name))
    browser.leaving.close()


def files(server: RunningServer) -> list[int]:
    """The sizes of what lies in the folder of uploads."""
    folder = server.home / "data" / "uploads"
    return sorted(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_a_large_file_goes_to_disk_and_not_into_memory(server: RunningServer, rosa: Browser) -> None:
    assert rosa.put("one", MB).status_code == 204
    before = server.warm_memory_mb()
    assert rosa.put("one", 90 * MB).status_code == 204  # takes the place of the first
    assert files(server) == [90 * MB]
    assert server.memory_mb - before < 30
    assert rosa.client.delete(rosa.address("one")).status_code == 204
    assert files(server) == []


def test_a_person_has_so_much_at_a_time_and_takes_nothing_of_others(server: RunningServer, rosa: Browser) -> None:
    assert rosa.put("one", 90 * MB).status_code == 204
    refused = rosa.put("two", 70 * MB)
    assert (refused.status_code, "150 MB together" in refused.json()["error"]) == (413, True)
    assert files(server) == [90 * MB]
    other = Browser(server, "remy")
    assert other.put("one", 70 * MB).status_code == 204
    assert other.client.delete(other.address("one")).status_code == 204
    other.leaving.close()
    assert rosa.put("two", 50 * MB).status_code == 204
    rosa.client.delete(rosa.address("one"))
    assert rosa.put("one", 90 * MB).status_code == 204
    assert files(server) == [50 * MB, 90 * MB]


def test_a_file_that_is_too_large_is_refused_before_and_while_it_comes(server: RunningServer, rosa: Browser) -> None:
    with begun(rosa, 400 * MB) as wire:
        answer = ""
        while not answer.endswith("}") and (piece := wire.recv(4096)):  # head and body may come in pieces
            answer += piece.decode()
    assert answer.startswith("HTTP/1.1 413")
    assert "larger than 100 MB" in answer
    assert rosa.put("one", 101 * MB).status_code == 413
    assert files(server) == []


def test_a_body_that_drips_is_ended_and_one_that_comes_slowly_is_not() -> None:
    """By a clock of our own: a drop a second is late after the first minute, 20 kB a second never."""
    clock = [0.0]

    async def took(size: int, seconds: int) -> int:
        async def body() -> AsyncIterator[bytes]:
            for _ in range(seconds):
                clock[0] += 1
                yield b"x" * size

        return len([chunk async for chunk in upload_store.in_time(body(), lambda: clock[0])])

    assert asyncio.run(took(20_000, 600)) == 600
    with pytest.raises(InvalidInput, match="slower than 16 kB in a second"):
        asyncio.run(took(1, 600))
    assert clock[0] == 600 + 62


def test_a_body_of_which_nothing_comes_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    async def took() -> list[bytes]:
        return [chunk async for chunk in upload_store.in_time(body())]

    monkeypatch.setattr(upload_store, "FIRST_SECONDS", 0.05)
    with pytest.raises(InvalidInput, match="comes slower"):
        asyncio.run(took())


@pytest.mark.parametrize(
    ("head", "tail", "why"),
    [
        (HEAD, TAIL[:-4], "ends too early"),
        (b"nothing of the sort", b"", "cannot be read|too early"),
        (HEAD.replace(b'; filename="n\xc3\xb6te.pdf"', b""), TAIL, "this one has 0"),
        (HEAD + b"a\r\n" + HEAD, TAIL, "this one has 2"),
    ],
)
def test_what_is_not_one_whole_file_is_refused(
    server: RunningServer, rosa: Browser, head: bytes, tail: bytes, why: str
) -> None:
    answer = rosa.put("one", 10, head=head, tail=tail)
    assert answer.status_code == 422
    assert re.search(why, answer.json()["error"])
    assert files(server) == []


def test_nothing_is_left_of_a_file_whose_connection_ends(server: RunningServer, rosa: Browser) -> None:
    with begun(rosa, 50 * MB) as wire:
        wire.sendall(HEAD + b"x" * MB)
        until(lambda: bool(files(server)))
    until(lambda: not files(server))
    assert rosa.put("one", 99 * MB).status_code == 204, "and it is not counted any more"


def test_an_upload_to_a_full_disk_is_refused_in_words(server: RunningServer, rosa: Browser) -> None:
    with mounted(server.home / "data" / "uploads", "-t", "tmpfs", "-o", "size=4m", "tmpfs"):
        answer = rosa.put("one", 10 * MB)
        assert answer.status_code == 503
        assert "The disk takes no uploads (No space left on device)" in answer.json()["error"]
        assert files(server) == []
        assert rosa.put("one", MB).status_code == 204
    assert rosa.put("one", 10 * MB).status_code == 204
    assert "Traceback" not in server.log.read_text()


def test_a_page_that_is_not_open_gets_no_file(rosa: Browser) -> None:
    rosa.session = "none"
    answer = rosa.put("one", 10)
    assert (answer.status_code, "not open any more" in answer.json()["error"]) == (422, True)


def test_what_killed_servers_left_is_removed_at_once_and_what_others_hold_is_not(tmp_path: Path) -> None:
    there = UploadStore(tmp_path, most=MB, most_of_a_person=MB)
    there.prepare()
    held = there.own_folder() / "file"
    held.write_bytes(b"x")
    left = tmp_path / "left"
    left.mkdir()
    (left / "file").write_bytes(b"x")
    store = UploadStore(tmp_path, most=MB, most_of_a_person=MB)
    store.prepare()
    assert not left.exists()
    assert held.read_bytes() == b"x"
    shutil.rmtree(there.own_folder())  # somebody has emptied the folder
    again = there.own_folder()
    other = UploadStore(tmp_path, most=MB, most_of_a_person=MB)
    other.prepare()
    assert again.is_dir()
    for one in (there, store, other):
        one.close()
    assert not list(tmp_path.iterdir())
