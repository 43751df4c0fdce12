"""The page Agreement in a real browser: tables, plots, the units behind a number, files; light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import ARTEFACTS, NewPage, sign_in
from tests.exports.labelled import Labelled, labelled, labelled_study
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def study(server: RunningServer) -> Labelled:
    made = labelled_study(server.db)
    labelled(server.db, made.researcher, made.project_id, items=60, name="second round", noise=0.6)
    return made


def address(server: RunningServer, study: Labelled, show: str = "", **parameters: str) -> str:
    about = {"project": str(study.project_id), "study": str(study.study_id), "show": show, **parameters}
    return f"{server.url}/agreement?" + "&".join(f"{name}={value}" for name, value in about.items() if value)


def settled(page: Page, heading: str = "Agreement") -> None:
    """Until the page is drawn."""
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible(timeout=30_000)
    page.wait_for_function("!document.querySelector('[data-testid=stSpinner]')")
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)


def keep(page: Page, name: str) -> None:
    """A picture of the whole page: Streamlit scrolls inside, so the window is made as high as what is in it."""
    height = page.evaluate("document.querySelector('.stMainBlockContainer').scrollHeight")
    page.set_viewport_size({"width": 1440, "height": min(5200, int(height) + 80)})
    page.wait_for_timeout(500)
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")
    page.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.parametrize("dark", [False, True])
def test_every_tab_draws_its_tables_and_plots(
    server: RunningServer, study: Labelled, new_page: NewPage, dark: bool
) -> None:
    page = new_page(dark=dark)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: None if server.url.split("//")[1] in asked.url or asked.url.startswith(
        ("data:", "blob:")) else problems.append(asked.url))  # fmt: skip
    sign_in(page, server, "admin")
    tone = "dark" if dark else "light"
    page.goto(address(server, study, criterion="right"))
    settled(page)
    expect(page.get_by_role("table", name="Agreement by criterion")).to_be_visible()
    expect(page.locator(".stVegaLiteChart canvas, .stVegaLiteChart svg").first).to_be_visible()
    keep(page, f"agreement-all-{tone}")
    for tab, says in (
        ("One criterion", "Right: statistics"),
        ("Units", "units on which annotators differ"),
        ("Parts and time", "Right over time"),
        ("Annotators", "Right: each annotator beside the rest"),
    ):
        page.get_by_role("tab", name=tab).click()
        settled(page)
        expect(page.get_by_role("table", name=says)).to_be_visible(timeout=20_000)
        keep(page, f"agreement-{tab.lower().replace(' ', '-')}-{tone}")
    for part, says in (
        ("Who labels like whom", "Right: Cohen's κ of each pair"),
        ("Rater models", "Right: confusion of ada"),
    ):
        page.get_by_role("radio", name=part).click()
        settled(page)
        if part == "Rater models":
            page.get_by_role("button", name="Fit rater models").click()
            settled(page)
        expect(page.get_by_role("table", name=says)).to_be_visible(timeout=20_000)
        keep(page, f"agreement-annotators-{part.lower().replace(' ', '-')}-{tone}")
    for tab, button, says in (
        ("Compare", "Compare", "Right: ratings and second round"),
        ("Planning", "Plan", "Right: width of the 95 % interval of Krippendorff's α"),
    ):
        page.get_by_role("tab", name=tab).click()
        settled(page)
        page.get_by_role("button", name=button, exact=True).click()
        settled(page)
        expect(page.get_by_role("table", name=says)).to_be_visible(timeout=20_000)
        keep(page, f"agreement-{tab.lower()}-{tone}")
    assert problems == []


def test_from_a_number_to_its_units_to_an_item(
    server: RunningServer, study: Labelled, new_page: NewPage, tmp_path: Path
) -> None:
    page = new_page()
    sign_in(page, server, "admin")
    page.goto(address(server, study, "one criterion", criterion="right"))
    settled(page)
    row = page.get_by_role("row").filter(has_text="ada and dan")
    row.get_by_role("link", name="ada and dan").click()
    settled(page)
    confusion = page.get_by_role("table", name="Right: ada (rows) and dan (columns)")
    expect(confusion).to_be_visible()
    cell = confusion.get_by_role("row", name="no").get_by_role("link").first
    n = int(cell.inner_text())
    cell.click()
    settled(page)
    units = page.get_by_role("table", name=f"Right: {n} unit")
    expect(units.get_by_role("row")).to_have_count(n + 1)
    page.locator("[class*='st-key-downloads-units-right']").get_by_role("button").click()
    with page.expect_download() as got:
        page.get_by_role("button", name="CSV").click()
    got.value.save_as(tmp_path / "units.csv")
    lines = (tmp_path / "units.csv").read_text().splitlines()
    assert lines[0].startswith("Item,Target,ada,dan")
    assert len(lines) == n + 1
    # The menu is shut and nothing is drawn any more: what is clicked is not replaced under the pointer.
    page.keyboard.press("Escape")
    settled(page)
    item = units.get_by_role("link").first
    name = item.inner_text()
    item.click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def test_plots_and_the_report_are_taken_away(
    server: RunningServer, study: Labelled, new_page: NewPage, tmp_path: Path
) -> None:
    page = new_page()
    sign_in(page, server, "admin")
    page.goto(address(server, study))
    settled(page)
    plot = page.locator(".st-key-downloads-plot-agreement-forest")
    plot.get_by_role("button").click()
    for label, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as got:
            page.get_by_test_id("stPopoverBody").get_by_role("button", name=label).click()
        got.value.save_as(tmp_path / label)
        assert (tmp_path / label).read_bytes().startswith(begins)
    page.keyboard.press("Escape")
    settled(page)
    page.get_by_role("button", name="Download the report").click()
    with page.expect_download(timeout=60_000) as got:
        page.get_by_role("button", name="HTML").click()
    got.value.save_as(tmp_path / "report.html")
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.get_by_role("heading", name="Agreement in study ratings")).to_be_visible()
    assert page.locator("figure svg").count() >= 6
    page.set_viewport_size({"width": 1200, "height": 3000})
    page.screenshot(path=ARTEFACTS / "agreement-report.png")


def test_the_report_of_the_dataset_is_taken_away(
    server: RunningServer, study: Labelled, new_page: NewPage, tmp_path: Path
) -> None:
    page = new_page()
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/exports?project={study.project_id}")
    settled(page, "Export")
    page.get_by_role("button", name="Download the report").click()
    for label, ending, begins in (("HTML", ".html", b"<!doctype html>"), ("LaTeX", "-latex.zip", b"PK")):
        with page.expect_download(timeout=120_000) as got:
            page.get_by_test_id("stPopoverBody").get_by_role("button", name=label).click()
        assert got.value.suggested_filename.endswith(f"-report{ending}")
        got.value.save_as(tmp_path / label)
        assert (tmp_path / label).read_bytes().startswith(begins)
