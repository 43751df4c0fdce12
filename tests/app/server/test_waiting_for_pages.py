"""Who waits for a page waits until the request's one deadline, and is then told to come again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.e2e.scene import Scene, make_scene
from tests.servers import RunningServer, running_server

pytestmark = pytest.mark.slow

WAIT_SECONDS = 1
SLACK = 2.5


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Scene, httpx.Client]]:
    folder: Path = tmp_path_factory.mktemp("waiting")
    waiting = {"ASSAY_WAIT_SECONDS": str(WAIT_SECONDS), "ASSAY_RENDER_WORKERS": "1"}
    with running_server(folder / "home", **waiting) as server:
        scene = make_scene(server, folder / "sample", items=4)
        yield server, scene, server.signed_in("admin")


def page_worker(server: RunningServer) -> int:
    """The process of a server that draws pages."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for task in Path(f"/proc/{server.process.pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                if b"annotators.pages.documents.worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
        time.sleep(0.1)
    raise AssertionError("no process draws pages")


@pytest.mark.by_the_clock
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are found in /proc")
def test_pages_and_words_that_wait_too_long_are_answered_503_and_come_when_asked_again(
    served: tuple[RunningServer, Scene, httpx.Client],
) -> None:
    server, _scene, client = served
    assert client.get("/page-images/1/1?w=480").status_code == 200  # the process is there and knows the document
    worker = page_worker(server)
    os.kill(worker, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(4) as pool:
            drawing = pool.submit(client.get, "/page-images/1/1?w=800", timeout=60)
            time.sleep(0.3)
            begun = time.monotonic()
            late = [
                pool.submit(client.get, path, timeout=60)
                for path in ("/page-images/1/1?w=800", "/page-images/1/1?w=1200", "/page-words/1/1")
            ]
            answers = [future.result() for future in late]
            assert time.monotonic() - begun < WAIT_SECONDS + SLACK
            for answer in answers:
                assert answer.status_code == 503, answer.text
                assert int(answer.headers["Retry-After"]) > 0
                assert answer.headers["Cache-Control"] == "no-store"
                assert "try again" in answer.json()["error"]
            assert client.get("/healthz").status_code == 200
            os.kill(worker, signal.SIGCONT)
            assert drawing.result().status_code == 200
    finally:
        os.kill(worker, signal.SIGCONT)
    for path in ("/page-images/1/1?w=1200", "/page-words/1/1"):
        assert client.get(path).status_code == 200
