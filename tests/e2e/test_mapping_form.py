"""A table as a crowd's platform saves it comes in by the page: columns guessed, labels looked through, imported."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from db.elsewhere.mappings import kept_mappings
from db.studies.design import list_studies
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.makers import make_project
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

WORKERS = ("A1B2C3D4E5F6G7", "A9Z8Y7X6W5V4U3", "AQ1W2E3R4T5Z6U")
TEXT = "What the summary says of the closure of the second line, as long as such texts are, number"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("mapping") / "home") as running:
        yield running


def batch() -> bytes:
    names = '"HITId","WorkerId","AssignmentStatus","Input.summary","Answer.Faktentreue","Answer.Stil"'
    rows = [
        f'"h{n}","{worker}","{"Rejected" if (n, k) == (5, 2) else "Approved"}","{TEXT} {n}",'
        f'"{1 + (n + k) % 5}","{1 + n % 4}"'
        for n in range(6)
        for k, worker in enumerate(WORKERS)
    ]
    return "\n".join([names, *rows]).encode()


def test_a_batch_of_a_crowd_is_guessed_kept_and_imported(server: RunningServer, new_page: NewPage) -> None:
    project = make_project(server.db)
    page = new_page(width=1366, height=768)
    sign_in(page, server, server.admin.name)
    page.goto(f"{server.url}/imports?project={project}")
    page.get_by_role("tab", name="Labels", exact=True).click()
    file = {"name": "batch.csv", "mimeType": "text/csv", "buffer": batch()}
    page.locator('[class*="st-key-label-import-file"] input[type=file]').set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("criteria: Answer.Faktentreue, Answer.Stil")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("1 row (AssignmentStatus is Rejected)")).to_be_visible()
    screenshot(page, "mapping-form")
    page.get_by_label("Keep this mapping as").fill("mturk")
    page.get_by_label("Keep this mapping as").press("Tab")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_text("In commands --map mturk takes it.")).to_be_visible()
    page.get_by_text("Add the 6 items that the project lacks").click()
    page.get_by_role("button", name="Import 34 labels").click()
    expect(page.get_by_text("34 labels in 17 annotations by 3 annotators")).to_be_visible(timeout=20_000)
    [kept] = kept_mappings(server.db, server.admin, project)
    assert kept.mapping["fields"]["criteria"] == ["Answer.Faktentreue", "Answer.Stil"]
    [study] = list_studies(server.db, server.admin, project)
    assert (study.name, study.n_items) == ("batch", 6)
