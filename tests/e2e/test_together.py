"""Two annotators resolve together what they disagree on: blind, then side by side, in writing, by the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotators.protocols import Material, Step
from db.adjudicating.adjudications import settlement_counts
from db.projects import create_project
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.disputes import Quarrel, Said, make_disputes
from tests.e2e.scene import import_sample
from tests.makers import tiny_protocol
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> **bold** [a](javascript:alert(1))"
TWO = ("ada", "ben")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with three annotators."""
    with running_server(tmp_path_factory.mktemp("home")) as running:
        for name in (*TWO, "chloe"):
            running.person(name, default_role="annotator")
        yield running


def my_work(new_page: NewPage, server: RunningServer, who: str, project: int, **options: bool) -> Page:
    page = new_page(**options)
    sign_in(page, server, who)
    page.goto(f"{server.url}/my_work?project={project}")
    expect(page.get_by_role("heading", name="My work")).to_be_visible()
    return page


def test_two_see_each_others_labels_write_and_resolve_it(
    new_page: NewPage, server: RunningServer, tmp_path: Path
) -> None:
    project = create_project(server.db, server.admin, "Together")
    import_sample(
        server, project, tmp_path, items=2, documents=("harrow-bay-2024.pdf", "tern-sound-inquiry-7-2023.pdf")
    )
    said = {(0, "right", "item"): {"ben": Said("no", "It leaves the date out.")}}
    shows = [Material.QUESTION, Material.ANSWER, Material.EVIDENCE]
    protocol = tiny_protocol(steps=[Step(name="all", title="All", shows=shows, criteria=["right"])])
    study_id = make_disputes(
        server, project, "ambiguous", Quarrel(said), protocol=protocol, annotators=TWO, talk="disputed"
    )
    home = new_page()
    sign_in(home, server, "ada")
    home.goto(server.url)
    expect(home.get_by_text("1 item to resolve together")).to_be_visible()
    screenshot(home, "together-home")
    ada = my_work(new_page, server, "ada", project)
    expect(ada.get_by_text("1 item waits for you")).to_be_visible()
    ada.get_by_role("link", name="Look at it").press("Enter")
    expect(ada.get_by_text("It leaves the date out.")).to_be_visible()
    ada.locator(".assay-evidence details").first.evaluate("details => { details.open = true; }")
    picture = ada.locator(".assay-evidence img").first
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("complete", value=True)
    assert picture.evaluate("img => img.naturalWidth") > 100
    expect(ada.get_by_role("cell", name="No (It leaves the date out.)")).to_be_visible()  # as it was read
    ada.get_by_role("textbox", name="Your message").focus()
    ada.keyboard.type(HOSTILE)
    ada.keyboard.press("Tab")
    ada.get_by_role("button", name="Send").press("Enter")
    expect(ada.get_by_role("textbox", name="Your message")).to_have_value("")
    expect(ada.get_by_text(HOSTILE)).to_be_visible()  # as it was typed
    assert ada.title() != "owned"
    screenshot(ada, "together-light")

    ben = my_work(new_page, server, "ben", project, dark=True)
    ben.get_by_role("link", name="Look at it").press("Enter")
    expect(ben.get_by_text(HOSTILE)).to_be_visible()
    screenshot(ben, "together-dark")
    ben.get_by_role("textbox", name="Your message").fill("You are right.")
    ben.get_by_role("button", name="Send").press("Enter")
    expect(ada.get_by_text("You are right.")).to_be_visible()  # without a reload
    ben.get_by_role("link", name="Open it again and change my labels").press("Enter")
    expect(ben.get_by_role("complementary", name="Judgement")).to_be_visible()
    ben.keyboard.press("1")
    ben.keyboard.press("Enter")
    expect(ben.get_by_test_id("finished")).to_be_visible()
    expect(ben.get_by_test_id("saved")).to_have_attribute("data-state", "saved")
    assert settlement_counts(server.db, server.admin, study_id) | {"pending": 0} == {
        "pending": 0,
        "agreed": 2,
        "disputed": 0,
        "adjudicated": 0,
    }
    expect(ada.get_by_text("This item is settled")).to_be_visible()
    expect(ada.get_by_role("button", name="Send")).to_have_count(0)
    # Who did not label the item finds nothing.
    chloe = new_page()
    sign_in(chloe, server, "chloe")
    chloe.goto(ada.url)
    expect(chloe.get_by_text("There is nothing here that you talk about")).to_be_visible()


def test_a_thread_reads_right_to_left(new_page: NewPage, server: RunningServer, tmp_path: Path) -> None:
    project = create_project(server.db, server.admin, "Arabic together")
    import_sample(server, project, tmp_path, items=1, documents=("ain-rayhan-2024.pdf",))
    said = {(0, "right", "item"): {"ben": Said("no", "لا يذكر السنة")}}
    make_disputes(server, project, "rtl", Quarrel(said), protocol=tiny_protocol(), annotators=TWO, talk="all")
    ada = my_work(new_page, server, "ada", project)
    ada.get_by_role("row").filter(has_text="rtl").get_by_role("link", name="Look at it").press("Enter")
    ada.get_by_role("textbox", name="Your message").fill("السؤال يطلب السنة أيضا، أليس كذلك؟")
    ada.get_by_role("button", name="Send").press("Enter")
    expect(ada.locator(".assay-said")).to_contain_text("السؤال يطلب")
    screenshot(ada, "together-arabic")
