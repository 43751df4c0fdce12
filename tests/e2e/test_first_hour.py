"""From an empty home to the first label of one's own data, and the people who are let in: what a researcher does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from db.items.read import item_counts
from db.people.accounts import list_members
from db.permissions import Role
from db.projects import create_project, my_projects
from db.studies.design import list_studies
from tests.e2e.conftest import NewPage, screenshot, sign_in, sign_in_by_form
from tests.exports.sources import write_pdf
from tests.servers import RunningServer, running_server

pytestmark = pytest.mark.e2e

MOST_CLICKS = 10
ITEMS = [
    {
        "id": f"q{number}",
        "question": f"What does page {number} of the report say?",
        "answer": f"It says what happened in month {number}.",
        "documents": ["report.pdf"],
        "evidence": [{"document": "report.pdf", "pages": [1], "text": f"Month {number}."}],
    }
    for number in (1, 2, 3)
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running_server(tmp_path / "home") as running:
        yield running


@pytest.fixture
def own_data(tmp_path: Path) -> list[Path]:
    """Three items and the PDF that they are about."""
    folder = tmp_path / "own"
    pdf = write_pdf(folder / "report.pdf", "What happened, month by month.")
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    return [folder / "items.jsonl", pdf]


class Hand:
    """Counts every click and every key that is pressed; text that is typed into a field costs nothing but its Enter."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.done: list[str] = []

    def click(self, name: str) -> None:
        button = self.page.get_by_role("button", name=name)
        expect(button).to_be_enabled()
        self.done.append(f"click {name}")
        button.click()

    def press(self, key: str) -> None:
        self.done.append(f"press {key}")
        self.page.keyboard.press(key)

    def choose(self, paths: list[Path]) -> None:
        """The button that opens the system's dialog, and the dialog's own."""
        self.done += ["click Upload", "click Open"]
        with self.page.expect_file_chooser() as opened:
            self.page.get_by_role("button", name="Upload", exact=True).click()
        opened.value.set_files(paths)


def test_from_an_empty_home_to_the_first_label_of_ones_own_data_in_ten_clicks(
    server: RunningServer, new_page: NewPage, own_data: list[Path]
) -> None:
    page = new_page(width=1366, height=768)
    sign_in_by_form(page, server, "admin")
    hand = Hand(page)
    page.get_by_label("Name of the project").fill("Coastal rail archive")
    hand.press("Enter")
    expect(page.get_by_text("four steps to the first label")).to_be_visible()
    screenshot(page, "home-first-steps")
    hand.click("Import…")
    expect(page.get_by_role("heading", name="Import", exact=True)).to_be_visible()
    hand.choose(own_data)
    expect(page.get_by_text("What the import would do")).to_be_visible()
    [project] = my_projects(server.db, server.admin)
    assert item_counts(server.db, server.admin, project.project_id).total == 0  # nothing before the click
    hand.click("Import 3 items")
    expect(page.get_by_role("heading", name="Imported as batch 1")).to_be_visible()
    screenshot(page, "import-done")
    hand.click("Annotate myself")
    expect(page.get_by_test_id("item")).to_be_visible()
    _read_the_guidelines(page, hand)
    for key in ("1", "1", "Enter"):
        hand.press(key)
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "saved")
    expect(page.locator(".steps .now")).to_have_text("With answer and evidence")  # the first labels are stored
    assert len(hand.done) <= MOST_CLICKS, hand.done
    [study] = list_studies(server.db, server.admin, project.project_id)
    assert (study.is_annotator, study.n_items) == (True, 3)


def _read_the_guidelines(page: Page, hand: Hand) -> None:
    """Where they lie over the first item, one click says that they were read."""
    page.wait_for_timeout(500)
    if page.get_by_role("button", name="I have read them").is_visible():
        hand.click("I have read them")


# People ---------------------------------------------------------------------------------------------------------------


def _add_three(server: RunningServer, page: Page) -> int:
    project_id = create_project(server.db, server.admin, "Energy reports")
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/people?project={project_id}")
    page.get_by_role("textbox", name="One a line: name, role").fill("ada\nben\nchloe, adjudicator")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("new account, with a sign-in address")).to_have_count(3)
    page.get_by_role("button", name="Add 3 people").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    return project_id


def test_addresses_stay_in_their_dialog_until_it_is_closed_and_are_copied(
    server: RunningServer, new_page: NewPage
) -> None:
    page = new_page(width=1366, height=768)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
    project_id = _add_three(server, page)
    dialog = page.get_by_role("dialog")
    fields = dialog.get_by_label("Sign-in address of")
    expect(fields).to_have_count(3)
    shown = [field.input_value() for field in fields.all()]
    dialog.get_by_role("button", name="Copy the address of ben").click()
    expect(dialog.get_by_role("button", name="Copy the address of ben")).to_have_text("Copied")
    assert _clipboard(page) == shown[1]
    dialog.get_by_role("button", name="Copy all names and addresses").click()
    expect(dialog.get_by_role("button", name="Copy all names and addresses")).to_have_text("Copied")
    assert _clipboard(page) == "\n".join(
        f"{name}\t{address}" for name, address in zip(("ada", "ben", "chloe"), shown, strict=True)
    )
    screenshot(page, "people-addresses")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Done").click()
    expect(dialog).to_have_count(0)
    members = {row.name: row.role for row in list_members(server.db, server.admin, project_id)}
    assert members == {"ada": Role.ANNOTATOR, "ben": Role.ANNOTATOR, "chloe": Role.ADJUDICATOR}


def test_without_a_clipboard_copying_selects_the_address(server: RunningServer, new_page: NewPage) -> None:
    page = new_page(fresh=True)
    page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined}); document.execCommand = () => false;"
    )
    _add_three(server, page)
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Sign-in address of ada")
    dialog.get_by_role("button", name="Copy the address of ada").click()
    expect(dialog.get_by_role("button", name="Copy the address of ada")).to_have_text("Selected: press Ctrl+C")
    chosen = field.evaluate("one => one.value.slice(one.selectionStart, one.selectionEnd)")
    assert chosen == field.input_value()
    assert chosen.startswith(f"{server.url}/sign-in/")


def _clipboard(page: Page) -> str:
    found: str = page.evaluate("navigator.clipboard.readText()")
    return found


def test_a_sign_in_address_opened_while_signed_in_goes_on_and_another_persons_asks(
    server: RunningServer, new_page: NewPage
) -> None:
    page = new_page(width=1366, height=768)
    _add_three(server, page)
    ada, ben = (page.get_by_label(f"Sign-in address of {name}").input_value() for name in ("ada", "ben"))
    other = new_page(width=1366, height=768)
    other.goto(ada)
    other.get_by_role("button", name="Sign in as ada").click()
    expect(other.get_by_role("button", name="ada")).to_be_visible()
    other.goto(ada)  # once more, used up by now
    expect(other.get_by_role("button", name="ada")).to_be_visible()
    other.goto(f"{ben}?now")
    expect(other.get_by_role("heading", name="Somebody else is signed in")).to_be_visible()
    screenshot(other, "sign-in-somebody-else")
    _on_behalf(other.context, other, "Stay signed in as ada", "ada")
    other.goto(ben)
    other.get_by_role("button", name="Sign out ada and sign in as ben").click()
    expect(other.get_by_role("button", name="ben")).to_be_visible()


def _on_behalf(context: BrowserContext, page: Page, link: str, name: str) -> None:
    before = context.cookies()
    page.get_by_role("link", name=link).click()
    expect(page.get_by_role("button", name=name)).to_be_visible()
    assert {setting["value"] for setting in before if setting["name"] == "assay_session"} <= {
        cooky["value"] for cooky in context.cookies()
    }
