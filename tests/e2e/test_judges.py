"""Judges in a browser: run from the form, their labels suggested before and after, a draft taken by a person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.judges.prompts import default_prompt
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.judging.judged import judges_in_study
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from db.judging.run import run_judge
from db.models import Event
from exports.importing.items import import_paths
from exports.results.document import Results
from tests.app.cli.command_line import write_items
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.judging.answering import AnsweringServer, Habits
from tests.judging.wire import Said, Sent, completion
from tests.makers import StudyInUse, make_member, make_project, read_guidelines, tiny_protocol
from tests.servers import RunningServer, running_server
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NAME = "tiny-judge plain@1"
BETTER = "A better answer, from the evidence."


class Writing(AnsweringServer):
    """Answers as a judge does, and writes the same answer whenever one is to be written."""

    def answer(self, sent: Sent) -> Said:
        fields = (sent.schema or {}).get("properties", {})
        if "written" in fields:
            return completion(sent, [json.dumps({"rationale": "It says so.", "written": {"answer": BETTER}})])
        return super().answer(sent)


@pytest.fixture(scope="module")
def judge() -> Iterator[Writing]:
    with Writing(Habits(error=0.5), seed=3) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, judge: Writing) -> Iterator[RunningServer]:
    home = tmp_path_factory.mktemp("judges")
    (home / "prices.toml").write_text('["tiny-judge"]\nsent = 0.15\nreceived = 0.6\n')
    with running_server(home, ASSAY_JUDGE_SERVERS=judge.base_url) as running:
        yield running


@pytest.fixture(scope="module")
def study(server: RunningServer) -> StudyInUse:
    return StudyInUse(server.db, items=4, annotators=2, overlap=2)


@pytest.fixture(scope="module")
def judged(server: RunningServer, study: StudyInUse, browser: Any) -> int:
    """A study of judges that `tiny-judge` has judged, started in the form."""
    of = study_for_judges(server.db, study.researcher, study.project_id, protocol=tiny_protocol())
    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/judges?project={study.project_id}&study={of}&run=new")
    page.get_by_role("combobox", name="Model").click()
    page.keyboard.type("tiny-judge")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing leaves this machine")).to_be_visible()
    screenshot(page, "judges-form")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("link", name=NAME)).to_be_visible(timeout=60_000)
    screenshot(page, "judges-list")
    page.context.close()
    return of


def test_what_is_typed_into_a_box_that_takes_new_names_stays_when_tab_leaves_it(
    server: RunningServer, study: StudyInUse, new_page: NewPage
) -> None:
    page = new_page(width=1366, height=768)
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/judges?project={study.project_id}&study={study.study_id}&run=new")
    box = page.get_by_role("combobox", name="Model")
    box.click()
    expect(page.get_by_role("option", name="tiny-judge")).to_be_visible()  # the server lists it
    page.keyboard.type("tiny")  # part of a name that is there is a name of its own
    page.keyboard.press("Tab")
    expect(box).to_have_value("tiny")
    expect(page.get_by_text("Nothing leaves this machine")).to_be_visible()
    screenshot(page, "judges-form-tab")


def test_a_run_from_the_form_judges_every_item(server: RunningServer, study: StudyInUse, judged: int) -> None:
    [found] = judges_in_study(server.db, study.researcher, judged)
    assert (found.name, found.judged.items, found.judged.labels) == (NAME, 4, 4)


def suggesting(server: RunningServer, study: StudyInUse, when: str) -> int:
    names = tuple(actor.name for actor in study.annotators)
    design = StudyDesign(
        name=f"Shown {when}", annotators=names, overlap=2, order="given", suggestions=when, suggested_by=NAME
    )
    made = create_study(server.db, study.researcher, study.project_id, protocol=tiny_protocol(), design=design).study_id
    read_guidelines(server.db, made)
    return made


def annotating(page: Page, server: RunningServer, study: StudyInUse, of: int) -> None:
    sign_in(page, server, study.annotators[0].name)
    page.goto(f"{server.url}/annotate?project={study.project_id}&study={of}")
    page.get_by_test_id("item").wait_for()


def test_what_a_judge_said_is_marked_before_the_label_and_is_none(
    server: RunningServer, study: StudyInUse, judged: int, new_page: NewPage
) -> None:
    page = new_page(width=1366, height=768)
    annotating(page, server, study, suggesting(server, study, "before"))
    expect(page.get_by_test_id("suggestions")).to_be_visible()
    [marked] = page.locator(".suggested").all()
    mark = marked.evaluate("node => getComputedStyle(node, '::after').borderTopStyle")
    assert mark == "dashed", "the mark shows with the focus on it as well"
    assert page.locator('input[type="radio"]:checked').count() == 0
    assert "tiny-judge" not in page.content()
    screenshot(page, "judges-suggested-before")


def test_what_a_judge_said_comes_after_the_label_and_the_label_may_stay(
    server: RunningServer, study: StudyInUse, judged: int, new_page: NewPage
) -> None:
    page = new_page(dark=True, width=1366, height=768)
    annotating(page, server, study, suggesting(server, study, "after"))
    assert page.get_by_test_id("suggestions").count() == 0
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("leave")).to_be_visible()
    expect(page.locator(".suggested").first).to_be_visible()
    screenshot(page, "judges-suggested-after")
    page.get_by_test_id("leave").click()
    expect(page.get_by_test_id("leave")).to_have_count(0)


def test_a_preference_is_suggested_for_its_side_and_taken_or_not_by_keyboard(
    server: RunningServer, study: StudyInUse, judge: Writing, new_page: NewPage, tmp_path: Path
) -> None:
    """Of real use: two answers side by side, the suggestion marked, three keys and Enter; one label is another one."""
    protocol = PROTOCOLS.get("pairwise_preference")
    project, ada = make_project(server.db), study.annotators[0]
    make_member(server.db, project, ada, "annotator")
    rows = [
        {"id": f"q1:{system}", "question_key": "q1", "question": "When does it open?", "system": system,
         "answer": f"On the first of May, says {letter}."}
        for system, letter in (("harbour", "x"), ("quay", "y"))
    ]  # fmt: skip
    assert import_paths(server.db, server.admin, project, paths=[write_items(tmp_path / "in", *rows)]).rejected == []
    alone = study_for_judges(server.db, server.admin, project, protocol=protocol)
    settings = JudgeSettings("tiny-judge", judge.base_url, default_prompt(), pictures=0)
    name = run_judge(server.db, server.admin, alone, judge=settings)["judge"]
    design = StudyDesign(
        name="Shown of pairs", annotators=(ada.name,), overlap=1, pairs=("quay", "harbour"), suggestions="before",
        suggested_by=name,
    )  # fmt: skip
    of = create_study(server.db, server.admin, project, protocol=protocol, design=design).study_id
    read_guidelines(server.db, of)
    page = new_page(dark=True, width=1366, height=768)
    sign_in(page, server, ada.name)
    page.goto(f"{server.url}/annotate?project={project}&study={of}")
    expect(page.get_by_test_id("side")).to_have_count(2)
    expect(page.locator(".suggested")).to_have_count(3)
    place = "nodes => nodes.map((one) => [...one.parentNode.children].indexOf(one) + 1)"
    marked = page.locator(".suggested").evaluate_all(place)
    screenshot(page, "judges-suggested-pair")
    page.wait_for_timeout(700)  # an Enter before that belongs to the item before
    given = [marked[0], marked[1], 1 if marked[2] != 1 else 2]
    for key in given:
        page.keyboard.press(str(key))
    page.keyboard.press("Enter")
    work = "async (url) => (await (await fetch(url)).json()).progress.done"
    until(lambda: page.evaluate(work, f"/api/studies/{of}/work") >= 1)
    assert name not in page.content()
    figures = {one.criterion: one.value for one in Results.of_study(server.db, server.admin, of).figures
               if one.name == "suggestion_followed" and one.by is None}  # fmt: skip
    assert figures == {"correctness": 1, "completeness": 1, "overall": 0}


def test_a_draft_is_taken_by_a_person_and_the_revision_says_whose_it_was(
    server: RunningServer, study: StudyInUse, judged: int, new_page: NewPage
) -> None:
    page = new_page(width=1366, height=768)
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/revise?project={study.project_id}&item=2")
    expect(page.get_by_test_id("fields")).to_be_visible()
    before = page.get_by_test_id("field-answer").input_value()
    page.get_by_test_id("have-drafted-answer").click()
    expect(page.get_by_test_id("draft-said")).to_contain_text("Nothing leaves this machine")
    page.get_by_test_id("draft-ask").click()
    expect(page.get_by_test_id("draft-text")).to_have_text(BETTER, timeout=60_000)
    assert page.get_by_test_id("field-answer").input_value() == before
    screenshot(page, "judges-draft")
    page.get_by_test_id("draft-take").click()
    expect(page.get_by_test_id("field-answer")).to_have_value(BETTER)
    page.keyboard.press("Control+Enter")
    page.keyboard.type("Clearer.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("finished")).to_contain_text("Version 2 is saved")
    with server.db.read() as session:
        events = session.exec(select(Event).where(col(Event.kind) == "item revised")).all()
        [proposed] = [event.details["proposed"] for event in events]
    assert proposed["answer"]["model"] == "tiny-judge"
    assert proposed["answer"]["prompt"]["name"] == "answer_rewriting"
    assert not proposed["answer"]["changed"]
