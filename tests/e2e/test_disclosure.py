"""What a step must not show is not on the wire before its time: every response and websocket frame is read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, WebSocket, expect

from tests.e2e.conftest import NewPage, another_page, sign_in
from tests.e2e.scene import Scene, answer_first_step, judgement, make_scene
from tests.servers import running_server

pytestmark = pytest.mark.e2e


OF_THE_KEYS = re.compile(rb'"references":\["[^"]*","[^"]*"\]')
"""The line about references on the sheet of keys, which is the same whatever the item has."""


class Wire:
    """Everything that reached the browser, but for our own scripts, Streamlit's files and pictures."""

    def __init__(self, page: Page) -> None:
        self.parts: list[bytes] = []
        self.unread: list[Response] = []
        self.pictures: list[str] = []
        self.frames = 0
        page.on("response", self._response)
        page.on("websocket", self._websocket)

    def _response(self, response: Response) -> None:
        if "/page-images/" in response.url and response.status == 200:
            self.pictures.append(response.url)
            return
        skipped = ("/assets/", "/static/", "/page-images/")
        if any(part in response.url for part in skipped) or response.status in (204, 301, 302, 303, 304):
            return
        self.unread.append(response)

    def _websocket(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._frame)

    def _frame(self, payload: bytes | str) -> None:
        self.frames += 1
        self.parts.append(payload if isinstance(payload, bytes) else payload.encode())

    def has(self, text: str) -> bool:
        """Whether the text, or its form in JSON, has come (not inside a word: `preferences` is no reference)."""
        while self.unread:
            response = self.unread.pop()
            self.parts += [response.url.encode(), response.body()]
        escaped = json.dumps(text)[1:-1]
        wanted = re.compile(b"|".join(rb"(?<!\w)" + re.escape(form.encode()) for form in (text, escaped)))
        return any(wanted.search(OF_THE_KEYS.sub(b"", part)) for part in self.parts)


def hidden_texts(folder: Path) -> dict[str, list[str]]:
    """What each item holds that its question alone does not show: a few words of each text, enough to be told apart."""
    found: dict[str, list[str]] = {"answers": [], "passages": [], "documents": [], "keys": [], "systems": []}
    for line in (folder / "items.jsonl").read_text().splitlines():
        item = json.loads(line)
        found["answers"].append(item["answer"][:60])
        found["systems"].append(item["system"])
        found["keys"].append(item["id"])
        for unit in item["evidence"]:
            found["documents"].append(unit["document"])
            found["passages"].append((unit.get("text") or "")[:60])
    return {kind: [text for text in texts if len(text) > 6] for kind, texts in found.items()}


@pytest.mark.parametrize("protocol", ["qa_verification", "ambiguity"])
def test_nothing_hidden_reaches_the_browser(new_page: NewPage, tmp_path: Path, protocol: str) -> None:
    with running_server(tmp_path / "home") as server:
        scene = make_scene(server, tmp_path / "sample", protocol=protocol)
        first = new_page(fresh=True)
        sign_in(first, server, "ada")
        page = another_page(first)
        wire = Wire(page)
        page.goto(scene.address())
        expect(judgement(page)).to_be_visible()
        page.wait_for_timeout(1500)  # look-ahead
        assert wire.frames > 0, "no websocket frame was read"
        hidden = hidden_texts(tmp_path / "sample")
        assert hidden["answers"]
        assert hidden["passages"]
        for kind, texts in hidden.items():
            for text in texts:
                assert not wire.has(text), f"{kind}: {text!r} was sent before its time"
        for role in ("distractor", '"gold"'):
            assert not wire.has(role)
        assert wire.pictures == []
        ask_for_pages(page, scene, allowed=set())
        if protocol == "ambiguity":
            label_all(page)
            assert not any(wire.has(text) for text in hidden["answers"] + hidden["passages"])
            ask_for_pages(page, scene, allowed=set())
        else:
            answer_first_step(page)
            page.wait_for_timeout(1500)
            assert wire.has(hidden["answers"][0])
            assert not wire.has(hidden["answers"][1]), "the look-ahead of the second step was sent"
            assert not wire.has("distractor")
            assert not any(wire.has(text) for text in hidden["systems"] + hidden["keys"])
            document = page.request.get(wire.pictures[0])
            assert document.status == 200
            assert "private" in document.headers["cache-control"]
            ask_for_pages(
                page, scene, allowed={int(url.split("/page-images/")[1].split("/")[0]) for url in wire.pictures}
            )


def ask_for_pages(page: Page, scene: Scene, allowed: set[int]) -> None:
    """Page images asked for directly, as a curious annotator could: only disclosed documents answer."""
    for document in range(1, 4):
        answer = page.request.get(f"{scene.server.url}/page-images/{document}/1?w=160")
        assert answer.status == (200 if document in allowed else 404), (document, answer.status)


def label_all(page: Page) -> None:
    finished = page.get_by_test_id("finished")
    while not finished.is_visible():
        assignment = judgement(page).get_attribute("data-assignment")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-assignment="{assignment}"]')).to_have_count(0)
        expect(judgement(page).or_(finished)).to_be_visible()
