"""The evidence viewer beside the browser's own PDF viewer: turning and jumping in the same document of 500 pages.

Run: .venv/bin/python -m tests.bench.bench_pdf_viewer [--turns 20]
Chromium's PDF viewer does not tell when a page is painted, so that both are timed by what the screen shows: from the
key to the last frame (of a screencast) in which the middle of the page changed. The PDF viewer has read the whole file
before; our server has drawn no page (cold), or has drawn it for somebody else (cached).
"""

from __future__ import annotations

import argparse
import base64
import functools
import http.server
import io
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import BrowserContext, Page, sync_playwright

from tests.bench.bench_viewer import long_document, open_viewer, report, wait_for_index
from tests.e2e.conftest import FLAGS, find_chromium
from tests.e2e.viewer_scene import make_viewer_scene, table
from tests.servers import running_server

SETTLE = 1.5
"""Seconds after which nothing changes any more."""

MIDDLE = (520, 200, 820, 740)
"""A part of the screen that lies on the page in both viewers."""


class Screen:
    """What the screen of a page shows, frame by frame."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._frames: list[tuple[float, bytes]] = []
        self._session = page.context.new_cdp_session(page)
        self._session.on("Page.screencastFrame", self._keep)
        self._session.send("Page.startScreencast", {"format": "jpeg", "quality": 60, "everyNthFrame": 1})
        page.wait_for_timeout(800)

    def _keep(self, event: dict[str, object]) -> None:
        about = event["metadata"]
        assert isinstance(about, dict)
        self._frames.append((about["timestamp"], base64.b64decode(str(event["data"]))))
        self._session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    def time(self, act: Callable[[], None]) -> float:
        """Milliseconds from `act` to the last frame in which the middle of the page changed."""
        before = self._middle(self._frames[-1][1])
        self._frames.clear()
        begun = time.time()
        act()
        self.page.wait_for_timeout(1000 * SETTLE)
        last = None
        for moment, data in self._frames:
            shown = self._middle(data)
            if ImageChops.difference(shown, before).getextrema()[1] > 40:
                last = moment
            before = shown
        assert last is not None, "nothing changed on the screen"
        return 1000 * (last - begun)

    @staticmethod
    def _middle(data: bytes) -> Image.Image:
        return Image.open(io.BytesIO(data)).convert("L").crop(MIDDLE)


@contextmanager
def file_server(folder: Path) -> Iterator[str]:
    """The folder over HTTP."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def in_the_browsers_own(context: BrowserContext, url: str, numbers: list[int]) -> tuple[float, float]:
    """Median milliseconds of a jump and of a screen further."""
    page = context.new_page()
    page.goto(url, wait_until="commit")
    page.wait_for_timeout(4000)
    [viewer] = [frame for frame in page.frames if frame.url.startswith("chrome-extension:")]
    field = viewer.locator("#pageSelector")
    screen = Screen(page)

    def jump(number: int) -> float:
        field.click()
        page.keyboard.press("Control+a")
        page.keyboard.type(str(number))
        return screen.time(lambda: page.keyboard.press("Enter"))

    jumps = report("the browser's own PDF viewer: a jump", [jump(number) for number in numbers])
    page.mouse.click(700, 500)
    screens = report(
        "the browser's own PDF viewer: a screen further",
        [screen.time(lambda: page.keyboard.press("PageDown")) for _ in numbers],
    )
    page.close()
    return jumps, screens


def in_ours(page: Page, what: str, numbers: list[int]) -> tuple[float, float]:
    """The same of our viewer."""
    field = page.get_by_test_id("page-number")
    screen = Screen(page)

    def jump(number: int) -> float:
        field.fill(str(number))
        return screen.time(lambda: page.keyboard.press("Enter"))

    jumps = report(f"ours, {what}: a jump", [jump(number) for number in numbers])
    page.mouse.click(440, 500)
    report(f"ours, {what}: the next page", [screen.time(lambda: page.keyboard.press("]")) for _ in numbers])
    press = [screen.time(lambda: page.keyboard.press("PageDown")) for _ in numbers]
    screens = report(f"ours, {what}: a screen further", press)
    page.context.close()
    return jumps, screens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    turns = parser.parse_args().turns
    numbers = [20 + 13 * at for at in range(turns)]
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        data = long_document(folder)
        # Only the new headless mode has the PDF viewer; it wants a profile of its own.
        context = playwright.chromium.launch_persistent_context(
            folder / "profile",
            executable_path=find_chromium(),
            headless=False,
            args=[*FLAGS, "--headless=new"],
            viewport={"width": 1440, "height": 900},
        )
        with file_server(folder) as url:
            own = in_the_browsers_own(context, f"{url}/long.pdf", numbers)
        context.close()
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), headless=False, args=[*FLAGS, "--headless=new"]
        )
        units = [table(1, "long.pdf", 1, [0.1, 0.8, 0.9, 0.95])]
        rows = [{"answer": "The converter failed in 2023.", "documents": ["long.pdf"], "evidence": units}]
        with running_server(folder / "home") as server:
            scene = make_viewer_scene(server, folder / "items", rows, {"long.pdf": data}, overlap=3)
            for what, name in (("cold", "ada"), ("cached", "ben")):
                page = open_viewer(browser, server, scene.study_id, name)
                wait_for_index(page)
                jumps, screens = in_ours(page, what, numbers)
                print(
                    f"ratio, {what}: a jump {jumps / own[0]:.2f}, a screen further {screens / own[1]:.2f}", flush=True
                )
        browser.close()


if __name__ == "__main__":
    main()
