"""Somebody from outside on a phone: from the link to the code."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotators.designing.design import StudyDesign
from db.designing.making import create_study
from db.inviting.invitations import InvitationTerms, invitations_of, invite
from db.projects import create_project
from tests.e2e.conftest import NewPage
from tests.e2e.scene import import_sample
from tests.makers import tiny_protocol
from tests.servers import RunningServer, running_server

pytestmark = pytest.mark.slow

RETURN = "https://recruiter.example/done"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("outside") / "home") as server:
        yield server


@pytest.fixture(scope="module")
def study_id(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> int:
    project_id = create_project(server.db, server.admin, "Energy reports")
    folder: Path = tmp_path_factory.mktemp("sample")
    import_sample(server, project_id, folder, items=4, documents=("harrow-bay-2024.pdf",))
    design = StudyDesign(name="Right or not", outside=3, overlap=2, order="given")
    return create_study(server.db, server.admin, project_id, protocol=tiny_protocol(), design=design).study_id


def address(server: RunningServer, study_id: int, recruiter_id: str = "") -> str:
    terms = InvitationTerms(
        uses=5, lasts=timedelta(days=1), quota=2, parameter="PROLIFIC_PID", code="DONE42", code_else="LEFT7",
        return_url=RETURN,
    )  # fmt: skip
    token = invite(server.db, server.admin, study_id, terms=terms)
    return f"{server.url}/join/{token}" + (f"?PROLIFIC_PID={recruiter_id}" if recruiter_id else "")


def fits(page: Page) -> None:
    """Nothing stands beyond the screen's right edge."""
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def begin(page: Page) -> None:
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_test_id("guidelines")).to_be_visible()
    page.get_by_test_id("guidelines-read").click()


def test_from_the_link_to_the_code(server: RunningServer, study_id: int, new_page: NewPage) -> None:
    page = new_page(width=390, height=844, touch=True)
    page.goto(address(server, study_id, "5f2b"))
    expect(page.get_by_role("heading", name="Right or not")).to_be_visible()
    expect(page.get_by_text("You are given 2 items.")).to_be_visible()
    fits(page)
    begin(page)
    for done in (0, 1):
        expect(page.get_by_test_id("progress")).to_contain_text(f"{done} of 2")
        page.get_by_role("button", name="yes").or_(page.get_by_role("radio", name="yes")).first.click()
        fits(page)
        page.get_by_test_id("submit").click()
    expect(page.get_by_test_id("finished")).to_be_visible()
    page.get_by_test_id("home").click()
    expect(page.get_by_text("You have done all of it.")).to_be_visible()
    fits(page)
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_test_id("code")).to_have_text("DONE42")
    expect(page.get_by_role("link", name="Back to where you came from")).to_have_attribute("href", RETURN)
    fits(page)
    [row, *_] = invitations_of(server.db, server.admin, study_id, recruiter_ids=True)
    assert [(person.recruiter_id, person.submitted, person.outcome) for person in row.people] == [("5f2b", 2, "done")]


def test_who_stops_gets_the_other_code(server: RunningServer, study_id: int, new_page: NewPage) -> None:
    page = new_page(width=390, height=844, touch=True)
    page.goto(address(server, study_id, "77aa"))
    begin(page)
    expect(page.get_by_test_id("submit")).to_be_visible()
    page.get_by_role("link", name="Finish or leave early").click()
    expect(page.get_by_text("You submitted 0 of 2 items.")).to_be_visible()
    page.get_by_role("button", name="Stop here").click()
    expect(page.get_by_test_id("code")).to_have_text("LEFT7")


def test_a_link_that_lacks_the_id_or_is_none_says_so(server: RunningServer, study_id: int, new_page: NewPage) -> None:
    page = new_page(width=390, height=844)
    page.goto(address(server, study_id))
    expect(page.get_by_role("alert")).to_contain_text("lacks your id (PROLIFIC_PID=…)")
    page.goto(f"{server.url}/join/guessed?next=https://evil.example&return=https://evil.example")
    expect(page.get_by_role("alert")).to_contain_text("has been used up, has expired or was withdrawn")
    assert "evil" not in page.content()
