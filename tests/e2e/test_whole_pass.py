"""The whole first pass as people do it: three annotators at the keyboard, an interruption, a race, a killed server."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlmodel import col, select

from db.adjudicating.adjudications import disputes
from db.models import Annotation, Submission
from tests.e2e.conftest import NewPage, screenshot, sign_in_by_form
from tests.e2e.disputes import settle_one
from tests.e2e.scene import (
    Scene,
    answer_first_step,
    answer_second_step,
    judgement,
    make_scene,
    question,
    wait_for_step,
    wait_until_saved,
)
from tests.servers import RunningServer, free_port, running_server

pytestmark = pytest.mark.e2e

ITEMS = 6


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    with running_server(tmp_path / "home") as server:
        yield make_scene(server, tmp_path / "sample", items=ITEMS)


def open_work(new_page: NewPage, scene: Scene, name: str) -> Page:
    page = new_page()
    sign_in_by_form(page, scene.server, name)
    page.goto(scene.address())
    expect(judgement(page)).to_be_visible()
    return page


def label_one(page: Page, second_step: str = "111") -> str:
    """Both steps of the item on the screen; its question. Ends when the next item (or the end) is shown."""
    asked, assignment = question(page), judgement(page).get_attribute("data-assignment") or ""
    answer_first_step(page)
    answer_second_step(page, second_step)
    expect(page.locator(f'[data-assignment="{assignment}"]')).to_have_count(0)
    return asked


def test_three_people_label_settle_and_export(new_page: NewPage, scene: Scene, tmp_path: Path) -> None:
    # Ada labels everything; the first answer she finds not factual.
    ada = open_work(new_page, scene, "ada")
    screenshot(ada, "annotate-question-alone")
    seen = [label_one(ada, "121")]
    seen += [label_one(ada) for _ in range(ITEMS - 1)]
    assert len(set(seen)) >= ITEMS / 2
    expect(ada.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(ada)

    # Ben closes the browser half way through the third item and finds it as he left it.
    ben = open_work(new_page, scene, "ben")
    for _ in range(2):
        label_one(ben)
    answer_first_step(ben, "12")
    half = question(ben)
    ben.keyboard.press("1")
    ben.keyboard.press("2")
    expect(ben.get_by_test_id("saved")).to_have_attribute("data-state", "draft")
    ben.context.close()
    ben = open_work(new_page, scene, "ben")
    wait_for_step(ben, "With answer and evidence")
    assert question(ben) == half
    screenshot(ben, "annotate-half-filled-again")
    expect(ben.locator('[data-criterion="question_factual"] [aria-checked="true"]')).to_contain_text("Factual")
    expect(ben.locator('[data-criterion="answer_factual"] [aria-checked="true"]')).to_contain_text("Not factual")
    answer_second_step(ben, "1")
    for _ in range(2):
        label_one(ben)

    # Chloe comes to the last item while Ben has it open; both submit it.
    chloe = open_work(new_page, scene, "chloe")
    for _ in range(ITEMS - 1):
        label_one(chloe)
    assert question(ben) == question(chloe)
    for page in (ben, chloe):
        answer_first_step(page)
    for page in (ben, chloe):
        answer_second_step(page)
    for page in (ben, chloe):
        expect(page.get_by_test_id("finished")).to_be_visible()
        wait_until_saved(page)

    with scene.server.db.read() as session:
        rows = session.execute(select(Annotation.study_item_id, Annotation.person_id, Annotation.kind)).all()
    assert len(rows) == len({(item, person) for item, person, _ in rows}) == 3 * ITEMS
    assert {kind for *_, kind in rows} == {"regular"}
    waiting = disputes(scene.server.db, scene.server.admin, scene.study_id)
    assert waiting
    settle_by_keyboard(new_page, scene, len(waiting))
    export_and_verify(scene, tmp_path)


def settle_by_keyboard(new_page: NewPage, scene: Scene, n: int) -> None:
    """The administrator adjudicates every disputed item with the first label, giving a reason where one is asked."""
    page = new_page()
    sign_in_by_form(page, scene.server, "admin")
    page.goto(f"{scene.server.url}/adjudicate?study={scene.study_id}")
    for _ in range(n):
        page.get_by_test_id("dispute").wait_for()
        settle_one(page)
    wait_until_saved(page)
    assert disputes(scene.server.db, scene.server.admin, scene.study_id) == []


def export_and_verify(scene: Scene, tmp_path: Path) -> None:
    """By the command line, as a researcher would."""
    import subprocess
    import sys

    assay = [sys.executable, "-m", "app.cli", "--home", str(scene.server.home)]
    to = tmp_path / "export"
    project = "Energy reports, Pilot"
    arguments = ["export", project, "--study", "Pilot", "--to", str(to), "--format", "native,labels,adjudicated"]
    subprocess.run([*assay, *arguments], check=True, capture_output=True, text=True)
    for command in ([*assay[:3], "verify", str(to)], [*assay, "verify", str(to)]):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert done.returncode == 0
    rows = (to / "adjudicated.csv").read_text().splitlines()
    assert any(",adjudicated," in row for row in rows)
    assert not any(",open," in row for row in rows)
    with (to / "adjudicated.csv").open("a") as file:
        file.write("tampered\n")
    assert subprocess.run([*assay[:3], "verify", str(to)], check=False, capture_output=True).returncode != 0


def test_a_killed_server_loses_nothing_that_was_acknowledged(
    browser: Browser, new_page: NewPage, tmp_path: Path
) -> None:
    port = free_port()
    home = tmp_path / "home"
    acknowledged: list[str] = []
    sent: list[str] = []
    with running_server(home, port=port) as server:
        scene = make_scene(server, tmp_path / "sample", items=None, protocol="ambiguity", overlap=1)
        page = new_page()

        def answered(response: object) -> None:
            if response.url.endswith("/submit") and response.status == 200:  # type: ignore[attr-defined]
                acknowledged.append(response.request.post_data_json["uid"])  # type: ignore[attr-defined]

        page.on("response", answered)
        page.on(
            "request",
            lambda request: sent.append(request.post_data_json["uid"]) if request.url.endswith("/submit") else None,
        )
        sign_in_by_form(page, server, "ada")
        page.goto(scene.address())
        expect(judgement(page)).to_be_visible()
        for _ in range(3):
            label_ambiguity(page)
        wait_until_saved(page)
        killer = threading.Timer(0.02, lambda: os.kill(server.process.pid, signal.SIGKILL))
        killer.start()
        label_ambiguity(page)
        label_ambiguity(page)
        server.process.wait(10)
        expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "offline")
        screenshot(page, "annotate-no-connection")
    before = set(acknowledged)
    with running_server(home, port=port) as server:
        stored = set(uids(server))
        assert before <= stored, "an acknowledged submission is gone"
        wait_until_saved(page)
        stored = set(uids(server))
        assert set(sent) <= stored, "a submission that waited in the outbox did not arrive"
        page.reload()
        expect(judgement(page)).to_be_visible()
        assert len(uids(server)) == len(set(sent)) == 5


def label_ambiguity(page: Page) -> None:
    """Clear, and on to the next item, without waiting for the server."""
    asked = judgement(page).get_attribute("data-assignment") or ""
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator(f'[data-assignment="{asked}"]')).to_have_count(0)


def uids(server: RunningServer) -> list[str]:
    with server.db.read() as session:
        return list(session.execute(select(Submission.uid).order_by(col(Submission.id))).scalars())
