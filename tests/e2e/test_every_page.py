"""No page has a serious or critical finding of axe-core, light and dark, in the states that people meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from app.navigation import ENTRIES
from app.sample_project import ANNOTATOR, PROJECT, make_sample_project
from db.jobs import WorkerDesk, queue_job
from db.people import set_password
from db.projects import create_project, find_project
from tests.e2e.conftest import NewPage, sign_in
from tests.e2e.scene import say_that_the_guidelines_are_read
from tests.e2e.screenshots import addresses
from tests.exports.judged import Judged, make_judged
from tests.servers import PASSWORD, RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

GRAVE = {"serious", "critical"}

STREAMLITS_OWN: dict[str, list[str]] = {}
"""Rule → what of Streamlit's own markup it is not asked about, each with the reason."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    home = tmp_path_factory.mktemp("axe")
    with running_server(home) as running:
        make_sample_project(running.db, running.admin, home / "sample", home / "data" / "documents")
        set_password(running.db, running.admin, ANNOTATOR, password=PASSWORD)
        yield running


@pytest.fixture(scope="module")
def judged(server: RunningServer) -> Judged:
    """A project with labels of several criteria and the scores of several metrics."""
    return make_judged(server.db, server.admin, server.home / "judged", questions=12, labelled=10)


@pytest.fixture(scope="module")
def project_with_jobs(server: RunningServer) -> int:
    """A project with a job that runs, one that is done, and one that failed."""
    project_id = create_project(server.db, server.admin, "Long work")
    desk = WorkerDesk(server.db, "the test's worker")

    def taken(scorer: str) -> int:
        given = {"scorer": scorer, "parameters": {}}
        job = queue_job(server.db, server.admin, project_id, kind="score", parameters=given)
        assert desk.take(job.job_id) is not None
        return job.job_id

    desk.finish(taken("phrase_recall"), done=40, total=40, result={"added": 40, "n_scored": 40, "n_unscored": 0})
    desk.fail(taken("token_f1"), "The file of the model is damaged.", details="Traceback\nOSError: 42")
    desk.heartbeat(taken("exact_match"), done=120, total=900, rate=14.0)
    return project_id


def findings(page: Page) -> list[str]:
    """What axe finds that is serious or critical: rule, what it says, and where."""
    result: dict[str, Any] = Axe().run(page).response
    found = []
    for rule in result["violations"]:
        if rule["impact"] not in GRAVE:
            continue
        for node in rule["nodes"]:
            where = _flat(node["target"])
            if any(own in where or own in node["html"] for own in STREAMLITS_OWN.get(rule["id"], [])):
                continue
            found.append(f"{rule['id']} ({rule['impact']}): {where}\n    {node['html'][:240]}\n    {_why(node)}")
    return found


def _flat(target: Any) -> str:
    """Where a finding is; within a shadow root it is a list of selectors."""
    return " ".join(_flat(one) for one in target) if isinstance(target, list) else str(target)


def _why(node: dict[str, Any]) -> str:
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])[:300]


def settle(page: Page) -> None:
    """Until the page has drawn itself and nothing moves: colours that fade in have no contrast yet."""
    page.wait_for_load_state("networkidle")
    expect(page.locator('[data-testid="stStatusWidget"]')).to_have_count(0)
    page.wait_for_timeout(900)


def check(page: Page, name: str, into: dict[str, list[str]]) -> None:
    found = findings(page)
    if found:
        into[name] = found


def report(found: dict[str, list[str]]) -> str:
    return "\n".join(f"{name}:\n  " + "\n  ".join(lines) for name, lines in found.items())


@pytest.mark.parametrize("dark", [False, True])
def test_the_pages_of_the_shell(server: RunningServer, new_page: NewPage, dark: bool) -> None:
    page = new_page(dark=dark)
    found: dict[str, list[str]] = {}
    page.goto(f"{server.url}/sign-in")
    check(page, "sign-in", found)
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password", exact=True).fill("not the password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    check(page, "sign-in refused", found)
    sign_in(page, server, "admin")
    visited = {"annotate", "adjudicate"}
    for name, address in addresses(server).items():
        if name in visited:
            continue
        page.goto(address)
        settle(page)
        check(page, name, found)
        visited.add(name)
    project_id = find_project(server.db, server.admin, PROJECT).project_id
    page.goto(f"{server.url}/data?project={project_id}")
    page.get_by_role("link", name="Open", exact=True).or_(page.locator('a[href*="item?"]')).first.click()
    settle(page)
    assert "/item" in page.url
    check(page, "item", found)
    page.get_by_role("button", name="admin").click()
    settle(page)
    check(page, "the person's menu", found)
    page.goto(f"{server.url}/sign-out")
    check(page, "sign-out", found)
    assert not found, report(found)
    # what is not visited here is either not there, or reached only from an item or an invitation
    assert {entry.name for entry in ENTRIES} - visited <= {"item"}


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_jobs(server: RunningServer, new_page: NewPage, project_with_jobs: int, dark: bool) -> None:
    page = new_page(dark=dark)
    found: dict[str, list[str]] = {}
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/jobs?project={project_with_jobs}")
    expect(page.get_by_text("120 of 900 items")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    settle(page)
    check(page, "jobs", found)
    page.get_by_text("What the program says").click()
    expect(page.get_by_text("OSError: 42")).to_be_visible()
    settle(page)
    check(page, "what the program says", found)
    assert not found, report(found)


@pytest.mark.parametrize("dark", [False, True])
def test_every_tab_of_the_page_alignment(server: RunningServer, new_page: NewPage, judged: Judged, dark: bool) -> None:
    page = new_page(dark=dark)
    found: dict[str, list[str]] = {}
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/alignment?project={judged.project_id}&study={judged.study_id}")
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(5)
    for tab in tabs.all():
        tab.click()
        settle(page)
        for summary in page.locator('[role="tabpanel"]:visible summary').all():
            summary.click()
        settle(page)
        check(page, tab.inner_text(), found)
    page.get_by_text("How it is measured").click()
    settle(page)
    check(page, "how it is measured", found)
    assert not found, report(found)


@pytest.mark.parametrize("dark", [False, True])
def test_the_annotators_page(server: RunningServer, new_page: NewPage, dark: bool) -> None:
    page = new_page(dark=dark)
    found: dict[str, list[str]] = {}
    sign_in(page, server, ANNOTATOR)
    places = addresses(server)
    for name in ("home", "my_work", "account"):
        page.goto(places.get(name, f"{server.url}/{name}"))
        settle(page)
        check(page, f"{name} of an annotator", found)
    page.goto(places["annotate"])
    page.get_by_test_id("item").wait_for()
    settle(page)
    say_that_the_guidelines_are_read(page, lambda: check(page, "the guidelines at first", found))
    check(page, "the first step", found)
    if page.get_by_test_id("item").get_attribute("data-step") == "0":
        for key in ("1", "1", "Enter"):
            page.keyboard.press(key)
    page.locator('[data-testid="page"] img').first.wait_for()
    settle(page)
    check(page, "the second step", found)
    page.keyboard.press("1")
    page.keyboard.press("f")
    for key, name in (
        ("c", "a comment"),
        ("x", "cannot judge"),
        ("s", "a reason to skip"),
        ("g", "the guidelines"),
        ("?", "the keys"),
        ("/", "the search"),
        ("Enter", "what is missing"),
    ):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
        check(page, name, found)
        for _ in range(2):
            page.keyboard.press("Escape")
    page.set_viewport_size({"width": 720, "height": 450})
    settle(page)
    check(page, "at 200 %", found)
    page.keyboard.press("f")
    assert not found, report(found)


@pytest.mark.parametrize("dark", [False, True])
def test_the_adjudicators_page(server: RunningServer, new_page: NewPage, dark: bool) -> None:
    page = new_page(dark=dark)
    found: dict[str, list[str]] = {}
    sign_in(page, server, "admin")
    page.goto(addresses(server)["adjudicate"])
    page.get_by_test_id("dispute").wait_for()
    settle(page)
    check(page, "a dispute", found)
    for key, name in (("r", "to whom it goes back"), ("?", "the keys"), ("Enter", "what is missing")):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
        check(page, name, found)
        page.keyboard.press("Escape")
    assert not found, report(found)
