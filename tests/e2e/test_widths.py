"""Every page at every width: the page never scrolls sideways, and no word and no figure of a table is broken."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from app.navigation import ENTRIES
from app.sample_project import ANNOTATOR, PROJECT, make_sample_project
from db.items import list_items
from db.people import set_password
from db.projects import find_project
from tests.e2e.conftest import NewPage, sign_in
from tests.e2e.screenshots import addresses
from tests.exports.judged import Judged, make_judged
from tests.servers import PASSWORD, RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

WIDTHS = (1366, 1024, 820, 390)

BROKEN = r"""
() => {
  const found = [];
  const spaceless = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]/;
  const inTwo = (range) => {
    const tops = [...range.getClientRects()].filter((one) => one.width > 0.5 && one.height > 4).map((one) => one.top);
    return Math.max(...tops) - Math.min(...tops) > 6;
  };
  for (const cell of document.querySelectorAll('td, th, dd')) {
    if (!cell.checkVisibility()) continue;
    for (const whole of cell.querySelectorAll('.assay-id, .assay-w')) {
      const range = document.createRange();
      range.selectNodeContents(whole);
      if (inTwo(range)) found.push(`in two lines: ${whole.textContent}`);
    }
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest('.assay-id, .assay-w')) continue;
      for (const word of node.data.matchAll(/\S+/g)) {
        if (spaceless.test(word[0])) continue;
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (inTwo(range)) found.push(`broken: ${word[0]}`);
      }
      for (const figure of node.data.matchAll(/[−+-]?\d[\d,.]* ?(?:%|\[[^\]]{1,30}\])/g)) {
        const range = document.createRange();
        range.setStart(node, figure.index);
        range.setEnd(node, figure.index + figure[0].length);
        if (inTwo(range)) found.push(`figure apart: ${figure[0]}`);
      }
    }
  }
  const main = document.querySelector('[data-testid="stMain"]') ?? document.documentElement;
  for (const one of [document.documentElement, main]) {
    if (one.scrollWidth > one.clientWidth + 1) found.push(`scrolls sideways: ${one.scrollWidth} in ${one.clientWidth}`);
  }
  return found;
}
"""
"""Words in two lines, figures apart from their unit or interval, and a page that is wider than its window."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    home = tmp_path_factory.mktemp("widths")
    with running_server(home) as running:
        make_sample_project(running.db, running.admin, home / "sample", home / "data" / "documents")
        set_password(running.db, running.admin, ANNOTATOR, password=PASSWORD)
        yield running


@pytest.fixture(scope="module")
def judged(server: RunningServer) -> Judged:
    """A project with labels on several scales and the scores of several metrics."""
    return make_judged(server.db, server.admin, server.home / "judged", questions=12, labelled=10)


def settle(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    expect(page.locator('[data-testid="stStatusWidget"]')).to_have_count(0)
    page.wait_for_timeout(300)


def check(page: Page, name: str, into: dict[str, list[str]]) -> None:
    """Look at the page that is open at every width."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 768})
        page.wait_for_timeout(250)
        found = page.evaluate(BROKEN)
        if found:
            into[f"{name} at {width}"] = sorted(set(found))[:8]


def test_the_look_finds_what_is_broken(server: RunningServer, new_page: NewPage) -> None:
    page = new_page()
    page.goto(f"{server.url}/sign-in")
    page.evaluate(
        """() => {
          document.body.innerHTML = '<table style="width:60px;table-layout:fixed;overflow-wrap:anywhere"><tr>'
            + '<td>Multimodality</td><td>0.72 [0.64, 0.79]</td></tr></table><div style="width:3000px">wide</div>';
        }"""
    )
    found = page.evaluate(BROKEN)
    assert "broken: Multimodality" in found
    assert any(one.startswith("figure apart: 0.72") for one in found)
    assert any(one.startswith("scrolls sideways") for one in found)


def test_every_page_at_every_width(server: RunningServer, new_page: NewPage) -> None:
    page = new_page()
    sign_in(page, server, "admin")
    found: dict[str, list[str]] = {}
    places = {name: one for name, one in addresses(server).items() if name not in ("annotate", "adjudicate")}
    project_id = find_project(server.db, server.admin, PROJECT).project_id
    places["adjudicate"] = f"{server.url}/adjudicate?project={project_id}"
    item = list_items(server.db, server.admin, project_id, limit=1)[0]
    places["item"] = f"{server.url}/item?project={project_id}&item={item.item_id}"
    for guide in ("metrics", "protocols", "keys", "statistics", "command-line"):
        places[f"help: {guide}"] = f"{server.url}/help?page={guide}"
    for name, address in places.items():
        page.set_viewport_size({"width": WIDTHS[0], "height": 768})
        page.goto(address)
        settle(page)
        check(page, name, found)
        for tab in page.get_by_role("tab").all()[1:]:
            page.set_viewport_size({"width": WIDTHS[0], "height": 768})
            tab.click()
            settle(page)
            check(page, f"{name}: {tab.inner_text()}", found)
    assert not found, "\n".join(f"{name}: {what}" for name, what in found.items())
    shown = {name.partition(":")[0] for name in places}
    assert {entry.name for entry in ENTRIES} - shown <= {"annotate"}


def test_the_results_of_a_study_of_scores_at_every_width(
    server: RunningServer, new_page: NewPage, judged: Judged
) -> None:
    page = new_page()
    sign_in(page, server, "admin")
    found: dict[str, list[str]] = {}
    for name in ("agreement", "alignment", "scores", "data", "studies"):
        page.set_viewport_size({"width": WIDTHS[0], "height": 768})
        study = "" if name in ("scores", "data", "studies") else f"&study={judged.study_id}"
        page.goto(f"{server.url}/{name}?project={judged.project_id}{study}")
        settle(page)
        check(page, name, found)
        for tab in page.get_by_role("tab").all()[1:]:
            page.set_viewport_size({"width": WIDTHS[0], "height": 768})
            tab.click()
            settle(page)
            check(page, f"{name}: {tab.inner_text()}", found)
    assert not found, "\n".join(f"{name}: {what}" for name, what in found.items())


def test_what_an_annotator_sees_at_every_width(server: RunningServer, new_page: NewPage) -> None:
    page = new_page()
    sign_in(page, server, ANNOTATOR)
    found: dict[str, list[str]] = {}
    for name in ("", "my_work", "account", "help"):
        page.set_viewport_size({"width": WIDTHS[0], "height": 768})
        page.goto(f"{server.url}/{name}")
        settle(page)
        check(page, name or "home", found)
    assert not found, "\n".join(f"{name}: {what}" for name, what in found.items())


def test_a_long_id_is_short_on_the_page_and_whole_in_what_is_copied(
    server: RunningServer, new_page: NewPage, judged: Judged
) -> None:
    page = new_page()
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/help")
    settle(page)
    page.evaluate(
        """() => {
          document.querySelector('.stMarkdown').innerHTML = '<table class="assay-table"><tr><td><span class="assay-id" '
            + 'id="long">doc-2024-0123456<span>7890-abcdefghijkl</span>mnop-17.pdf</span></td></tr></table>';
        }"""
    )
    long = page.locator("#long")
    copied = long.evaluate("(one) => { getSelection().selectAllChildren(one); return getSelection().toString(); }")
    assert copied == "doc-2024-01234567890-abcdefghijklmnop-17.pdf"
    box = long.bounding_box()
    assert box is not None
    assert box["width"] < 260
