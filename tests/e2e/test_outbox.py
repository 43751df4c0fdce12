"""The annotator's outbox when the server cannot do its part: nothing is lost, nothing stored twice, all by itself.

What it makes of each kind of answer, and when it comes again, is in tests/js/outbox.test.js.
"""

from __future__ import annotations

import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from sqlmodel import col, select

from db.models import Annotation, Event, StoredLabel, Submission
from tests.e2e.conftest import NewPage, another_page, screenshot
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import Scene, answer_first_step, judgement, question, wait_for_step, wait_until_saved
from tests.makers import tiny_protocol
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SUBMIT = "**/api/studies/*/submit"
WAIT = 3
"""Seconds that the server asks for, more than the outbox would wait by itself after a first failure."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("home"), ASSAY_WAIT_SECONDS="1") as running:
        yield running


AT_HAND = 4
"""The item on the screen and three ahead."""

_names = iter(f"Faults {number}" for number in range(100))


@pytest.fixture
def scene(server: RunningServer, tmp_path: Path) -> Scene:
    """Six items of one criterion: `1` and Enter submit one."""
    rows = [item(number) for number in range(1, 7)]
    return make_own_scene(server, tmp_path / "own", rows, protocol=tiny_protocol(), name=next(_names))


def submit_one(page: Page) -> str:
    """The question that was judged; ends when another is there, or none."""
    asked = question(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("question").get_by_text(asked, exact=True)).to_have_count(0)
    return asked


def stored(scene: Scene) -> Counter[int]:
    """How often each study item was submitted; every submission has its labels and its annotation."""
    with scene.server.db.read() as session:
        rows = session.exec(select(Annotation.study_item_id).where(Annotation.study_id == scene.study_id)).all()
        mine = session.exec(
            select(Submission.id, Submission.assignment_id).where(
                Submission.assignment_id.in_(  # type: ignore[attr-defined]
                    select(Annotation.assignment_id).where(Annotation.study_id == scene.study_id)
                )
            )
        ).all()
        labels = session.exec(
            select(StoredLabel.submission_id).where(StoredLabel.submission_id.in_([id_ for id_, _ in mine]))  # type: ignore[attr-defined]
        ).all()
    assert len({assignment for _, assignment in mine}) == len(mine) == len(rows)
    assert Counter(labels) == Counter(id_ for id_, _ in mine)
    return Counter(rows)


def waiting(page: Page) -> int:
    found: int = page.evaluate("window.assayOutbox.waiting")
    return found


@dataclass
class Faulty:
    """Answers to submissions as something between us and a healthy server makes them, for so many times."""

    answer: Callable[[Route], None]
    times: int
    at: list[float] = field(default_factory=list)
    uids: list[str] = field(default_factory=list)

    def __call__(self, route: Route) -> None:
        self.at.append(time.monotonic())
        self.uids.append(route.request.post_data_json["uid"])
        if len(self.at) <= self.times:
            self.answer(route)
        else:
            route.continue_()


def status(code: int, **headers: str) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=code, headers={name.replace("_", "-"): v for name, v in headers.items()})


def half_of_the_json(route: Route) -> None:
    """The server has stored it; what comes back breaks off."""
    answer = route.fetch()
    assert answer.status == 200
    route.fulfill(response=answer, body=answer.text()[: len(answer.text()) // 2])


def lost(route: Route) -> None:
    """The server has stored it; its answer does not arrive at all."""
    assert route.fetch().status == 200
    route.abort("connectionreset")


def instead(body: str) -> Callable[[Route], None]:
    """The server never heard of it: something on the way answers in its place, and that all is well."""
    return lambda route: route.fulfill(status=200, content_type="application/json", body=body)


FAULTS: dict[str, tuple[Callable[[Route], None], str]] = {
    "500": (status(500), "trouble"),
    "half of the JSON": (half_of_the_json, "trouble"),
    "answer lost": (lost, "offline"),
    "a page in its place": (instead("<html>Please sign in to this network</html>"), "trouble"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_comes_back_a_submission_is_stored_once_and_work_goes_on(
    scene: Scene, new_page: NewPage, fault: str
) -> None:
    answer, state = FAULTS[fault]
    page = open_as(new_page, scene, "ada")
    faulty = Faulty(answer, times=2)
    page.route(SUBMIT, faulty)
    first = submit_one(page)  # the next item is there at once: it was fetched ahead
    saved = page.get_by_test_id("saved")
    expect(saved).to_have_attribute("data-state", state)
    words = {"trouble": "Not saved yet: the server has trouble", "offline": "Not saved: no connection"}[state]
    expect(saved).to_contain_text(f"{words}{', will retry'}")
    assert "kept in this browser" in (saved.get_attribute("title") or "")
    assert waiting(page) == 1
    expect(page.get_by_test_id("progress")).to_have_text("0 of 6 + 1 not sent yet")
    second = submit_one(page)
    wait_until_saved(page)  # by itself
    assert waiting(page) == 0
    assert len(faulty.uids) == 4
    assert len(set(faulty.uids)) == 2
    assert first != second
    assert set(stored(scene).values()) == {1}
    assert len(stored(scene)) == 2
    expect(page.get_by_test_id("progress")).to_have_text("2 of 6")
    assert "2 of 6" in (page.get_by_test_id("progress").get_attribute("title") or "")
    expect(page.get_by_test_id("refused")).to_have_count(0)


def test_the_outbox_comes_again_when_the_server_has_said(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    faulty = Faulty(status(503, Retry_After=str(WAIT)), times=1)
    page.route(SUBMIT, faulty)
    submit_one(page)
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "trouble")
    # What otherwise makes it try at once does not: a window that is looked at again, a connection that is back.
    page.evaluate("window.dispatchEvent(new Event('focus')); window.dispatchEvent(new Event('online'))")
    submit_one(page)
    wait_until_saved(page)
    assert len(faulty.at) == 3
    assert WAIT - 0.2 < faulty.at[1] - faulty.at[0] < 2 * WAIT
    assert set(stored(scene).values()) == {1}
    assert len(stored(scene)) == 2


def test_what_waits_survives_a_reload_in_the_middle_of_the_trouble(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    faulty = Faulty(half_of_the_json, times=1)
    page.route(SUBMIT, faulty)
    submit_one(page)
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "trouble")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(judgement(page)).to_be_visible()
    page.wait_for_function("window.assayOutbox.waiting === 0")
    assert len(set(faulty.uids)) == 1
    assert list(stored(scene).values()) == [1]


def test_the_last_item_at_hand_says_what_keeps_the_next_one_away(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    faulty = Faulty(status(503, Retry_After="1"), times=4)
    page.route(SUBMIT, faulty)
    for _ in range(AT_HAND):
        submit_one(page)
    trouble = page.get_by_test_id("trouble")
    expect(trouble).to_contain_text("The server has trouble")
    expect(trouble).to_contain_text("nothing you submitted is lost")
    screenshot(page, "annotate-server-trouble")
    expect(judgement(page)).to_be_visible()  # by itself
    wait_until_saved(page)
    assert set(stored(scene).values()) == {1}


def test_half_an_answer_between_two_steps_opens_the_next_step(
    server: RunningServer, new_page: NewPage, tmp_path: Path
) -> None:
    scene = make_own_scene(server, tmp_path / "own", [item(1), item(2)], name=next(_names))
    page = open_as(new_page, scene, "ada")
    faulty = Faulty(half_of_the_json, times=2)
    page.route(SUBMIT, faulty)
    asked = question(page)
    answer_first_step(page)
    wait_for_step(page, "With answer and evidence")
    assert question(page) == asked
    assert len(faulty.uids) == 3
    assert len(set(faulty.uids)) == 1
    with server.db.read() as session:
        assert len(session.exec(select(Submission.id).where(Submission.uid == faulty.uids[0])).all()) == 1


def test_of_a_skip_without_an_answer_nothing_is_claimed_and_it_counts_once(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    asked = question(page)
    page.route("**/api/studies/*/skip", half_of_the_json, times=1)

    def skip() -> None:
        page.keyboard.press("s")
        page.get_by_test_id("reason-field").fill("The page is missing")
        page.keyboard.press("Enter")

    skip()
    expect(page.get_by_text("it may be skipped or not")).to_be_visible()
    skip()
    expect(page.get_by_test_id("question").get_by_text(asked, exact=True)).to_have_count(0)
    with scene.server.db.read() as session:
        events = session.exec(select(Event.thing_id).where(Event.kind == "item skipped")).all()
    assert len(events) == 1


def test_what_another_window_submitted_already_comes_back_as_a_correction(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    asked = question(page)
    other = another_page(page)
    other.goto(page.url)
    expect(other.get_by_test_id("question")).to_have_text(asked)
    assert submit_one(other) == asked
    wait_until_saved(other)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("refused")).to_contain_text(
        "This item was submitted already, probably in another window. What you sent now is not stored."
    )
    page.get_by_test_id("return").click()
    expect(page.get_by_test_id("question")).to_have_text(asked)
    expect(page.get_by_text("You are correcting an item that you submitted")).to_be_visible()
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    expect(page.get_by_test_id("refused")).to_have_count(0)
    with scene.server.db.read() as session:
        of = select(Annotation.id, Annotation.supersedes_id).where(Annotation.study_id == scene.study_id)
        first, second = session.exec(of.order_by(col(Annotation.id))).all()
    assert second[1] == first[0]


# A real server and a real wire ----------------------------------------------------------------------------------------


@dataclass
class Line:
    """A line to the server; armed, it breaks once in the middle of the answer to a submission."""

    target: int
    armed: bool = False
    cuts: int = 0

    def carry(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", self.target)) as server:
            asked: list[bytes] = []
            threading.Thread(target=self._back, args=(server, client, asked), daemon=True).start()
            while sent := client.recv(65536):
                asked.append(sent)
                server.sendall(sent)

    def _back(self, server: socket.socket, client: socket.socket, asked: list[bytes]) -> None:
        with suppress(OSError):
            while answer := server.recv(65536):
                request = b"".join(asked)
                asked.clear()
                if self.armed and b"/submit " in request:
                    self.armed, self.cuts = False, self.cuts + 1
                    client.sendall(
                        answer[: answer.index(b"\r\n\r\n") + 4 + 20]
                    )  # the head and twenty bytes of the body
                    client.shutdown(socket.SHUT_RDWR)
                    server.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(answer)
            client.shutdown(socket.SHUT_WR)


@contextmanager
def over(server: RunningServer) -> Iterator[tuple[RunningServer, Line]]:
    listener = socket.create_server(("127.0.0.1", 0))
    line = Line(int(server.url.rsplit(":", 1)[1]))

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=line.carry, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield replace(server, url=f"http://127.0.0.1:{listener.getsockname()[1]}"), line
    listener.close()


def test_a_connection_that_is_cut_in_the_middle_of_an_answer(scene: Scene, new_page: NewPage) -> None:
    with over(scene.server) as (wired, line):
        page = open_as(new_page, replace(scene, server=wired), "ada")
        line.armed = True
        submit_one(page)
        wait_until_saved(page)
        submit_one(page)
        wait_until_saved(page)
        assert line.cuts == 1
    assert set(stored(scene).values()) == {1}
    assert len(stored(scene)) == 2


def test_a_database_that_another_program_holds_is_waited_for(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    answers: list[int] = []
    page.on("response", lambda answer: answers.append(answer.status) if "/submit" in answer.url else None)
    other = sqlite3.connect(scene.server.home / "assay.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        for _ in range(2):
            submit_one(page)
        expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "trouble")
        screenshot(page, "annotate-not-saved-trouble")
        page.wait_for_timeout(4000)
        assert waiting(page) == 2
    finally:
        other.execute("ROLLBACK")
        other.close()
    wait_until_saved(page)
    assert set(answers) == {503, 200}
    assert set(stored(scene).values()) == {1}
    assert len(stored(scene)) == 2
