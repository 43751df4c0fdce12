"""Two adjudicators decide the same items without seeing each other's decisions, and a third what they leave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect

from db.adjudicating.adjudications import settlement_counts
from db.projects import create_project
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.disputes import (
    ANNOTATORS,
    Quarrel,
    Said,
    dispute,
    item_on_screen,
    make_disputes,
    row,
    wait_for_other_item,
    wait_until_saved,
)
from tests.e2e.scene import import_sample
from tests.e2e.test_adjudicate import COMPLETE, DOCUMENTS, GROUNDING, decided, open_disputes
from tests.makers import tiny_protocol
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

QUARREL = Quarrel(
    said={
        (0, COMPLETE, "item"): {"ada": Said("incomplete", "Does not say when the outage was.")},
        (0, GROUNDING, "evidence:E1"): {"ben": Said("not_required")},
    }
)
REASON = "The question asks for both dates <b>and</b> gives one."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with three annotators and three adjudicators."""
    with running_server(tmp_path_factory.mktemp("home")) as running:
        for name in ANNOTATORS:
            running.person(name, default_role="annotator")
        for name in ("dora", "emil", "finn"):
            running.person(name, default_role="adjudicator")
        yield running


def decide(page: Page, complete: str, reason: str = "") -> None:
    """Decide both units by keys, the first with this key, and settle the item."""
    before = item_on_screen(page)
    page.keyboard.press(complete)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    if reason:
        page.keyboard.type(reason)
        page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    wait_until_saved(page)


def test_two_decide_blind_and_a_third_what_they_leave(
    new_page: NewPage, server: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = create_project(server.db, server.admin, "Twice")
    import_sample(server, project, tmp_path_factory.mktemp("twice"), items=1, documents=DOCUMENTS)
    study_id = make_disputes(server, project, "twice", QUARREL, adjudication="double")
    dora = open_disputes(new_page, server, study_id)
    seen: list[str] = []

    def keep(answer: Response) -> None:
        if "/api/" in answer.url and answer.request.resource_type == "fetch":
            seen.append(json.dumps(answer.json()))

    emil = open_disputes(new_page, server, study_id, who="emil")  # both have the item before them at once
    emil.on("response", keep)
    assert item_on_screen(emil) == item_on_screen(dora)
    decide(dora, "2", REASON)
    expect(dora.get_by_text("1 disputed item waits for another adjudicator")).to_be_visible()
    screenshot(dora, "adjudicate-twice-waits")
    emil.reload()
    expect(dispute(emil)).to_be_visible()
    expect(emil.get_by_test_id("rounds")).to_have_count(0)
    expect(emil.get_by_text("for both dates")).to_have_count(0)
    assert seen
    assert not any("for both dates" in answer or '"decided": "' in answer for answer in seen)
    decide(emil, "1")
    expect(emil.get_by_text("1 disputed item waits for another adjudicator")).to_be_visible()

    # The third person sees both decisions, and decides only where they differ.
    finn = open_disputes(new_page, server, study_id, who="finn")
    expect(finn.get_by_test_id("differ")).to_be_visible()
    rounds = row(finn, COMPLETE).get_by_test_id("rounds").locator("li")
    expect(rounds).to_contain_text(["FirstIncomplete", "SecondComplete"])
    expect(rounds.first).to_contain_text(REASON)  # as it was typed, no markup
    expect(row(finn, GROUNDING, "evidence:E1")).to_contain_text("decided alike by two")
    expect(row(finn, GROUNDING, "evidence:E1").get_by_test_id("otherwise")).to_have_count(0)
    screenshot(finn, "adjudicate-final-light")
    screenshot(open_disputes(new_page, server, study_id, who="finn", dark=True), "adjudicate-final-dark")
    finn.keyboard.press("2")
    before = item_on_screen(finn)
    finn.keyboard.press("Enter")
    finn.keyboard.type("Both are needed.")
    finn.keyboard.press("Enter")
    wait_for_other_item(finn, before)
    wait_until_saved(finn)
    expect(finn.get_by_test_id("finished")).to_be_visible()
    assert settlement_counts(server.db, server.admin, study_id)["adjudicated"] == 1
    assert [value for _, name, _, value, _, _ in decided(server.db, study_id) if name == COMPLETE] == [
        "incomplete",
        "complete",
        "incomplete",
    ]
    page = new_page()
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/study?project={project}&study={study_id}&show=results")
    expect(page.get_by_text("Agreement of adjudicators").first).to_be_visible()
    page.get_by_text("Agreement of adjudicators").first.scroll_into_view_if_needed()
    screenshot(page, "results-adjudicators")


def test_the_final_round_reads_right_to_left(new_page: NewPage, server: RunningServer, tmp_path: Path) -> None:
    project = create_project(server.db, server.admin, "Arabic, twice")
    import_sample(server, project, tmp_path, items=1, documents=("ain-rayhan-2024.pdf",))
    said = {(0, COMPLETE, "item"): {"ada": Said("incomplete", "لا يذكر السنة")}}
    study_id = make_disputes(server, project, "rtl", Quarrel(said), adjudication="double")
    for who, key, reason in (("dora", "2", "السؤال يطلب السنة أيضا"), ("emil", "1", "")):
        page = open_disputes(new_page, server, study_id, who=who)
        before = item_on_screen(page)
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        if reason:
            page.keyboard.type(reason)
            page.keyboard.press("Enter")
        wait_for_other_item(page, before)
        wait_until_saved(page)
    page = open_disputes(new_page, server, study_id, who="finn")
    expect(page.get_by_test_id("rounds").locator("li").first).to_contain_text("السؤال يطلب السنة أيضا")
    screenshot(page, "adjudicate-final-arabic")


def test_an_agreed_item_that_is_looked_at_comes_as_a_disputed_one(
    new_page: NewPage, server: RunningServer, tmp_path: Path
) -> None:
    project = create_project(server.db, server.admin, "Looked at")
    import_sample(server, project, tmp_path, items=1, documents=DOCUMENTS)
    study_id = make_disputes(server, project, "agreed", Quarrel(), protocol=tiny_protocol(), review_agreed=1)
    page = open_disputes(new_page, server, study_id)
    expect(row(page, "right")).to_have_class("unit disputed cur")
    for word in ("unanimous", "agree"):
        expect(dispute(page)).not_to_contain_text(word)
    screenshot(page, "adjudicate-reviewed")
    before = item_on_screen(page)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.keyboard.type("The page says otherwise.")
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    wait_until_saved(page)
    admin = new_page()
    sign_in(admin, server, "admin")
    admin.goto(f"{server.url}/study?project={project}&study={study_id}&show=results")
    expect(admin.get_by_text("Agreed items that were looked at").first).to_be_visible()
    screenshot(admin, "results-reviewed")
