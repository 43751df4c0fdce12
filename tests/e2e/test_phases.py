"""Consent and questions around a study's items, by keys alone and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.designing.phases import Phases
from db.designing.making import create_study
from db.inviting.invitations import InvitationTerms, invite
from db.models import PhaseAnswer
from db.projects import create_project
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.scene import import_sample
from tests.makers import tiny_protocol
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PHASES = Phases.model_validate(
    {
        "consent": "# What this study is about\n\nYou judge answers. What you say is kept under a number, and never "
        "with your name.\n\n- It takes ten minutes.\n- You can stop at any time.",
        "before": [
            {"name": "field", "title": "What do you work in?", "kind": "choice",
             "labels": [{"value": "energy", "title": "Energy"}, {"value": "law", "title": "Law"}]},
            {"name": "tools", "title": "Which of these do you use?", "kind": "several",
             "labels": [{"value": "search", "title": "A search engine"}, {"value": "chat", "title": "A chat model"}]},
            {"name": "years", "title": "Years of work", "kind": "number", "minimum": 0, "maximum": 60},
            {"name": "why", "title": "Why do you take part?", "kind": "text", "required": False},
        ],
        "after": [{"name": "hard", "title": "The items were hard", "kind": "grade",
                   "labels": [{"value": n, "title": title} for n, title in
                              enumerate(("Not at all", "A little", "Somewhat", "Rather", "Very"), 1)]}],
    }
)  # fmt: skip

ARABIC = Phases.model_validate(
    {
        "consent": "# عن هذه الدراسة\n\nستقيّم إجابات عن أسئلة. تُحفظ إجاباتك تحت رقم، ولا يُحفظ اسمك معها.\n\n"
        "- تستغرق عشر دقائق.\n- يمكنك التوقف في أي وقت.",
        "before": [{"name": "field", "title": "ما مجال عملك؟", "kind": "choice",
                    "labels": [{"value": "energy", "title": "الطاقة"}, {"value": "law", "title": "القانون"}]},
                   {"name": "why", "title": "لماذا تشارك؟", "kind": "text", "required": False}],
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("phases") / "home") as server:
        yield server


@pytest.fixture(scope="module")
def project_id(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> int:
    project_id = create_project(server.db, server.admin, "Energy reports")
    folder: Path = tmp_path_factory.mktemp("sample")
    import_sample(server, project_id, folder, items=2, documents=("harrow-bay-2024.pdf",))
    for name in ("ada", "ben"):
        server.person(name, default_role="annotator")
    return project_id


def study_of(server: RunningServer, project_id: int, name: str, phases: Phases = PHASES) -> int:
    design = StudyDesign(name=name, annotators=("ada", "ben"), outside=3, overlap=1, order="given", phases=phases)
    return create_study(server.db, server.admin, project_id, protocol=tiny_protocol(), design=design).study_id


def answers_of(server: RunningServer, study_id: int) -> list[tuple[str, dict[str, object]]]:
    with server.db.read() as session:
        query = select(PhaseAnswer).where(PhaseAnswer.study_id == study_id).order_by(col(PhaseAnswer.id))
        return [
            (row.phase, {answer["question"]: answer["value"] for answer in row.answers}) for row in session.exec(query)
        ]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def settle(page: Page) -> None:
    page.wait_for_timeout(700)  # an Enter within a blink belongs to what was there before


def test_consent_questions_items_questions_by_keys_alone(
    server: RunningServer, project_id: int, new_page: NewPage
) -> None:
    study_id = study_of(server, project_id, "All of it")
    page = new_page(width=1366, height=768)
    sign_in(page, server, "ada")
    page.goto(f"{server.url}/annotate?study={study_id}")
    expect(page.get_by_test_id("consent")).to_be_visible()
    expect(page.get_by_role("heading", name="What this study is about")).to_be_visible()
    screenshot(page, "phases-consent")
    press(page, "Tab", "Enter")
    expect(page.get_by_test_id("consent-words")).to_contain_text("If you decline you get no items")
    press(page, "Enter")  # back to the text
    expect(page.get_by_test_id("consent-agree")).to_be_visible()
    press(page, "Tab", "Tab", "Enter")
    expect(page.get_by_test_id("guidelines-read")).to_be_visible()
    settle(page)
    press(page, "Enter")
    rows = page.locator("[data-testid=criterion]:visible")
    expect(rows).to_have_count(4)
    expect(page.get_by_role("heading", name="A few questions before the first item")).to_be_visible()
    for action in ("skip", "flag", "cannot_judge", "comment"):
        expect(page.get_by_test_id(action)).to_have_count(0)
    settle(page)
    press(page, "Enter")
    expect(page.get_by_test_id("notice")).to_contain_text("What do you work in?")
    press(page, "2", "1", "2", "ArrowDown", "1", "2", "Escape")
    screenshot(page, "phases-questions")
    page.emulate_media(color_scheme="dark")
    screenshot(page, "phases-questions-dark")
    page.emulate_media(color_scheme="light")
    page.reload()  # what was answered is still there
    expect(rows).to_have_count(4)
    settle(page)
    press(page, "Enter")
    for _ in range(2):
        expect(page.get_by_test_id("question")).to_be_visible()
        settle(page)
        press(page, "1", "Enter")
    expect(page.get_by_role("heading", name="A few questions before you go")).to_be_visible()
    settle(page)
    press(page, "4")
    screenshot(page, "phases-after")
    press(page, "Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()
    assert answers_of(server, study_id) == [
        ("consent", {"consent": "agreed"}),
        ("before", {"field": "law", "tools": ["search", "chat"], "years": 12}),
        ("after", {"hard": 4}),
    ]
    page.reload()
    expect(page.get_by_test_id("finished")).to_be_visible()


def test_who_declines_gets_nothing_and_is_not_asked_again(
    server: RunningServer, project_id: int, new_page: NewPage
) -> None:
    study_id = study_of(server, project_id, "Declined")
    page = new_page(width=1366, height=768)
    sign_in(page, server, "ben")
    page.goto(f"{server.url}/annotate?study={study_id}")
    expect(page.get_by_test_id("consent")).to_be_visible()
    press(page, "Tab", "Enter", "Shift+Tab", "Enter")
    expect(page.get_by_test_id("halted")).to_contain_text("You declined to take part")
    page.reload()
    expect(page.get_by_test_id("halted")).to_contain_text("You declined to take part")
    expect(page.get_by_test_id("consent")).to_have_count(0)
    assert answers_of(server, study_id) == [("consent", {"consent": "declined"})]


def test_somebody_from_outside_on_a_phone_in_arabic(server: RunningServer, project_id: int, new_page: NewPage) -> None:
    study_id = study_of(server, project_id, "Arabic", ARABIC)
    terms = InvitationTerms(uses=5, lasts=timedelta(days=1), quota=1, code="DONE42", code_else="LEFT7")
    token = invite(server.db, server.admin, study_id, terms=terms)
    page = new_page(width=390, height=844, touch=True, fresh=True)
    page.goto(f"{server.url}/join/{token}")
    page.get_by_role("button", name="Begin").click()
    text = page.get_by_test_id("consent").get_by_text("ستقيّم إجابات")
    expect(text).to_be_visible()
    assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "phases-phone-consent")
    page.get_by_test_id("consent-agree").click()
    page.get_by_test_id("guidelines-read").click()
    page.get_by_role("radio", name="القانون").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "phases-phone-questions")
    page.get_by_test_id("submit").click()
    expect(page.get_by_test_id("question")).to_be_visible()
    other = new_page(width=390, height=844, touch=True, fresh=True)
    other.goto(f"{server.url}/join/{token}")
    other.get_by_role("button", name="Begin").click()
    other.get_by_test_id("consent-decline").click()
    other.get_by_test_id("consent-sure").click()
    other.get_by_test_id("home").click()
    expect(other.get_by_test_id("code")).to_have_text("LEFT7")
    expect(other.get_by_text("You declined to take part")).to_be_visible()
