"""The top bar at every width: the project, the links and the person's menu never lie over each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from db.projects import create_project
from tests.e2e.conftest import NewPage, sign_in
from tests.servers import RunningServer, running_server

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("home")) as running:
        create_project(running.db, running.admin, "Energy reports of the northern islands, second round")
        create_project(running.db, running.admin, "Harbour finance")
        yield running


@pytest.mark.parametrize("width", [600, 767, 768, 769, 1024, 1440])
def test_project_links_and_person_do_not_overlap(server: RunningServer, new_page: NewPage, width: int) -> None:
    page = new_page(width=width)
    sign_in(page, server, "admin")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    page.wait_for_timeout(500)
    places = page.evaluate(
        """() => {
          const chosen = '.st-key-assay-project, .st-key-assay-person, [data-testid=stTopNavLink]';
          // Streamlit keeps an unseen copy of the links to measure what fits.
          const seen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
          return [...document.querySelectorAll(chosen)].filter(seen).map((one) => {
            const { left, right } = one.getBoundingClientRect();
            return [left, right];
          }).filter(([left, right]) => right > left);
        }"""
    )
    assert len(places) >= 2
    assert (len(places) > 2) == (width >= 768)  # narrower, the links are in a menu
    for before, after in zip(sorted(places), sorted(places)[1:], strict=False):
        assert before[1] <= after[0] + 1, (width, before, after)
