"""Every page, looked at once: nothing grave of axe-core in either theme, and at no width a broken word or figure.

A page is opened once and then turned: it is narrowed, and its theme changes under it, as with somebody whose system
does so at dusk. Opening it anew for each of them would take three times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Response, expect

from app.navigation import ENTRIES
from app.sample.project import ANNOTATOR, PROJECT, make_sample_project
from db.items.read import list_items
from db.jobs import WorkerDesk, queue_job
from db.people.accounts import set_password
from db.projects import create_project, find_project
from tests.e2e.conftest import NewPage, sign_in, sign_in_by_form
from tests.e2e.scene import say_that_the_guidelines_are_read
from tests.e2e.screenshots import addresses
from tests.exports.judged import Judged, make_judged
from tests.servers import PASSWORD, RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

GRAVE = {"serious", "critical"}

STREAMLITS_OWN: dict[str, list[str]] = {}
"""Rule → what of Streamlit's own markup it is not asked about, each with the reason."""

WIDTHS = (1366, 1024, 820, 390)

BROKEN = r"""
() => {
  const found = [];
  const spaceless = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]/;
  const inTwo = (range) => {
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 0.5 && rect.height > 4);
    const tops = rects.map((rect) => rect.top);
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


SMALL = """
() => [...document.querySelectorAll(
  'button, a[href], input, select, textarea, summary, [role="tab"], [role="switch"], [role="slider"]',
)].filter((one) => {
  const style = getComputedStyle(one);
  if (!one.checkVisibility({opacityProperty: true, visibilityProperty: true})) return false;
  if (style.pointerEvents === 'none') return false;
  if (one.matches('a') && style.display === 'inline') return false;
  // A field is pressed anywhere in its frame, a box to tick anywhere in its label.
  const frame = one.matches('input') && (one.closest('label, [role="group"]') ?? one.closest('div:has(> input)'));
  const {width, height} = (frame || one).getBoundingClientRect();
  return width > 2 && height > 2 && Math.min(width, height) < 43.5;
}).map((one) => `${one.tagName} ${one.getAttribute('aria-label') ?? one.innerText} ${one.outerHTML.slice(0, 160)}`)
"""
"""Controls that are less than 44 pixels high or wide."""


SETTLED = """
async (theme) => {
  const shown = (element) => element.checkVisibility();
  const busy = '[data-testid=stStatusWidget], [data-testid=stSkeleton], [data-stale=true]';
  const settled = () => {
    const moving = document.getAnimations().filter((animation) => animation.playState === 'running');
    const frame = document.querySelector('[data-theme]');
    const host = document.querySelector('[data-testid=stApp]');
    const found = frame ? frame.dataset.theme : host && getComputedStyle(document.documentElement).colorScheme;
    const still = moving.every((animation) => animation.effect?.getComputedTiming().iterations === Infinity);
    return ![...document.querySelectorAll(busy)].some(shown) && document.fonts.status === 'loaded'
      && (!found || found.includes(theme)) && still;
  };
  let still = 0;
  for (let look = 0; look < 250 && still < 3; look += 1) {
    if (look > 0) await new Promise((resolve) => setTimeout(resolve, 70));
    still = settled() ? still + 1 : 0;
  }
  return still === 3;
}
"""
"""Three looks in a row found that the page has drawn itself, that nothing moves (colours that fade in have no contrast
yet), and that its theme is in force."""

ASKED_FOR = ["label-content-name-mismatch"]
"""Rules that axe leaves out unless it is asked: who speaks to the machine says the words that they see on a control."""

OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""What axe finds in one theme and not in the other."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    home = tmp_path_factory.mktemp("pages")
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


ASKED = """
([panel, options]) => {
  const panels = [...document.querySelectorAll('[role="tabpanel"]')].filter((one) => one.checkVisibility());
  return axe.run(panel ? {include: panels} : document, options);
}
"""


def findings(page: Page, rules: list[str] | None = None, *, panel: bool = False) -> list[str]:
    """What axe finds that is serious or critical, by all rules or by these, on the page or in its open tab."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    asked = {"runOnly": rules} if rules else {"rules": {rule: {"enabled": True} for rule in ASKED_FOR}}
    options = {"resultTypes": ["violations"], **asked}
    result: dict[str, Any] = page.evaluate(ASKED, [panel, options])
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
    return " ".join(_flat(part) for part in target) if isinstance(target, list) else str(target)


def _why(node: dict[str, Any]) -> str:
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])[:300]


def settle(page: Page, theme: str = "light") -> None:
    """Until the page holds still for three looks in a row."""
    page.wait_for_load_state("networkidle")
    assert page.evaluate(SETTLED, theme), f"{page.url} does not settle in the {theme} theme"


class Look:
    """What was found wrong on the pages that were looked at."""

    def __init__(self, page: Page) -> None:
        self.page, self.found = page, dict[str, list[str]]()
        page.on("response", self._answered)
        self._theme: Literal["dark", "light"] = "light"

    def at_colours(self, name: str, *, panel: bool = False) -> None:
        """Ask axe in the theme that is in force, and about colours in the other one, which is in force from then on."""
        self.settle()
        self._ask_axe(name, panel=panel)
        self._theme = "dark" if self._theme == "light" else "light"
        self.page.emulate_media(color_scheme=self._theme)
        self.settle()
        self._ask_axe(name, OF_COLOURS, panel=panel)

    def at_widths(self, name: str) -> None:
        """Narrow the page down to a phone's width, and widen it again."""
        for width in (*WIDTHS[1:], WIDTHS[0]):
            self.page.set_viewport_size({"width": width, "height": 768})
            self.settle()
            self._keep(f"{name} at {width}", sorted(set(self.page.evaluate(BROKEN)))[:8])

    def settle(self) -> None:
        """Until the page holds still, in the theme that is in force."""
        settle(self.page, self._theme)

    def at(self, name: str, *, panel: bool = False) -> None:
        """Both."""
        self.at_colours(name, panel=panel)
        self.at_widths(name)

    def at_tabs(self, name: str) -> None:
        """Each tab of the page that is open, with what can be unfolded in it; what is around them with the first."""
        for number, tab in enumerate(self.page.get_by_role("tab").all() or [None]):
            if tab is not None:
                tab.click()
                self.settle()
            for summary in self.page.locator('[role="tabpanel"]:visible summary').all():
                summary.click()
            self.at(f"{name}: {tab.inner_text()}" if tab is not None else name, panel=number > 0)

    def _answered(self, answer: Response) -> None:
        """Nothing that a page asks for by itself is refused or missing."""
        if answer.status >= 400 and answer.request.method == "GET":
            self.found.setdefault(f"asked in vain by {self.page.url}", []).append(f"{answer.status} {answer.url}")

    def report(self) -> None:
        assert not self.found, "\n".join(f"{name}:\n  " + "\n  ".join(lines) for name, lines in self.found.items())

    def _ask_axe(self, name: str, rules: list[str] | None = None, *, panel: bool = False) -> None:
        self._keep(f"{name}, {self._theme}", findings(self.page, rules, panel=panel))

    def _keep(self, name: str, lines: list[str]) -> None:
        if lines:
            self.found[name] = lines


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page(width=WIDTHS[0], height=768)


def test_the_look_finds_what_is_broken(server: RunningServer, page: Page) -> None:
    page.goto(f"{server.url}/sign-in")
    page.evaluate(
        """() => {
          document.body.innerHTML = '<table style="width:60px;table-layout:fixed;overflow-wrap:anywhere"><tr>'
            + '<td>Multimodality</td><td>0.72 [0.64, 0.79]</td></tr></table><div style="width:3000px">wide</div>';
        }"""
    )
    found = page.evaluate(BROKEN)
    assert "broken: Multimodality" in found
    assert any(line.startswith("figure apart: 0.72") for line in found)
    assert any(line.startswith("scrolls sideways") for line in found)


def test_the_plain_pages(server: RunningServer, page: Page) -> None:
    look = Look(page)
    page.goto(f"{server.url}/sign-in")
    look.at("sign-in")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password", exact=True).fill("not the password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    look.at("sign-in refused")
    sign_in_by_form(page, server, "admin")
    page.goto(f"{server.url}/sign-out")
    look.at("sign-out")
    look.report()


def test_the_pages_of_the_shell(server: RunningServer, page: Page) -> None:
    look = Look(page)
    sign_in(page, server, "admin")
    project_id = find_project(server.db, server.admin, PROJECT).project_id
    item = list_items(server.db, server.admin, project_id, limit=1)[0]
    places = {
        **addresses(server),
        # the list of studies with disputes; a dispute itself is looked at below, as is the annotator's page
        "adjudicate": f"{server.url}/adjudicate?project={project_id}",
        "item": f"{server.url}/item?project={project_id}&item={item.item_id}",
    }
    del places["annotate"]
    for part, query in {"a prompt": "prompt=multimodal_answer", "written": "edit=answer_grade"}.items():
        places[f"prompts: {part}"] = f"{server.url}/prompts?project={project_id}&{query}"
    compared = f"{server.url}/prompts?project={project_id}&prompt=claim_recall&with=completeness_by_facts"
    places["prompts: compared"] = compared
    for guide in ("metrics", "protocols", "prompts", "keys", "statistics", "command-line"):
        places[f"help: {guide}"] = f"{server.url}/help?page={guide}"
    for name, address in places.items():
        page.goto(address)
        look.settle()
        look.at_tabs(name)
    page.get_by_role("button", name="admin").click()
    look.settle()
    look.at_colours("the person's menu")
    look.report()
    assert {entry.name for entry in ENTRIES} - {name.partition(":")[0] for name in places} <= {"annotate"}


def test_an_item_is_opened_from_the_list(server: RunningServer, page: Page) -> None:
    sign_in(page, server, "admin")
    project_id = find_project(server.db, server.admin, PROJECT).project_id
    page.goto(f"{server.url}/data?project={project_id}")
    page.get_by_role("link", name="Open", exact=True).or_(page.locator('a[href*="item?"]')).first.click()
    page.wait_for_url(lambda url: "/item" in url)


def test_a_finger_hits_every_control(server: RunningServer, new_page: NewPage) -> None:
    """Streamlit's own among them; what stands in a sentence, and the rows of its lists, are not asked about."""
    page = new_page(width=1024, height=768, touch=True)
    sign_in(page, server, "admin")
    places = addresses(server)
    project_id = find_project(server.db, server.admin, PROJECT).project_id
    small = {}
    for name, address in {
        "form": f"{server.url}/studies?project={project_id}&new=1",
        "study": places["study"] + "&show=design",
        "agreement": places["agreement"],
        "data": places["data"],
        "imports": places["imports"],
        "people": places["people"],
    }.items():
        page.goto(address)
        settle(page)
        for summary in page.locator("summary:visible").all():
            summary.click()
        settle(page)
        if found := page.evaluate(SMALL):
            small[name] = found
    assert not small, "\n".join(f"{name}:\n  " + "\n  ".join(sorted(set(found))) for name, found in small.items())


def test_the_page_jobs(server: RunningServer, page: Page, project_with_jobs: int) -> None:
    look = Look(page)
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/jobs?project={project_with_jobs}")
    expect(page.get_by_text("120 of 900 items")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    look.at("jobs")
    page.get_by_text("What the program says").click()
    expect(page.get_by_text("OSError: 42")).to_be_visible()
    look.at("what the program says")
    look.report()


def test_the_results_of_a_study_of_scores(server: RunningServer, page: Page, judged: Judged) -> None:
    look = Look(page)
    sign_in(page, server, "admin")
    for name in ("agreement", "alignment", "estimates", "scores", "data", "studies"):
        study = "" if name in ("scores", "data", "studies") else f"&study={judged.study_id}"
        page.goto(f"{server.url}/{name}?project={judged.project_id}{study}")
        look.settle()
        if name == "alignment":
            expect(page.get_by_role("tab")).to_have_count(5)
        look.at_tabs(name)
        if name == "alignment":
            page.get_by_text("How it is measured").click()
            look.at("how it is measured")
    look.report()


def test_the_annotators_page(server: RunningServer, page: Page) -> None:
    look = Look(page)
    sign_in(page, server, ANNOTATOR)
    places = addresses(server)
    for name in ("home", "my_work", "account", "help"):
        page.goto(places.get(name, f"{server.url}/{name}"))
        look.at(f"{name} of an annotator")
    page.goto(places["annotate"])
    page.get_by_test_id("item").wait_for()
    look.settle()
    say_that_the_guidelines_are_read(page, lambda: look.at_colours("the guidelines at first"))
    look.at_colours("the first step")
    if page.get_by_test_id("item").get_attribute("data-step") == "0":
        for key in ("1", "1", "Enter"):
            page.keyboard.press(key)
    page.locator('[data-testid="page"] img').first.wait_for()
    look.settle()
    look.at_colours("the second step")
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
        look.at_colours(name)
        for _ in range(2):
            page.keyboard.press("Escape")
    page.set_viewport_size({"width": 720, "height": 450})
    look.at_colours("at 200 %")
    page.keyboard.press("f")
    look.report()


def test_the_adjudicators_page(server: RunningServer, page: Page) -> None:
    look = Look(page)
    sign_in(page, server, "admin")
    page.goto(addresses(server)["adjudicate"])
    page.get_by_test_id("dispute").wait_for()
    look.at_colours("a dispute")
    for key, name in (("r", "to whom it goes back"), ("?", "the keys"), ("Enter", "what is missing")):
        page.keyboard.press(key)
        look.at_colours(name)
        page.keyboard.press("Escape")
    look.report()


def test_a_long_id_is_short_on_the_page_and_whole_in_what_is_copied(server: RunningServer, page: Page) -> None:
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
    copied = long.evaluate(
        "(element) => { getSelection().selectAllChildren(element); return getSelection().toString(); }"
    )
    assert copied == "doc-2024-01234567890-abcdefghijklmnop-17.pdf"
    box = long.bounding_box()
    assert box is not None
    assert box["width"] < 260


def test_an_address_for_mail_that_somebody_wrote_looks_and_acts_as_text(server: RunningServer, page: Page) -> None:
    """Streamlit's Markdown makes a link of it after all escapes are read."""
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/help")
    settle(page)
    styled = page.evaluate(
        """() => {
          const place = document.querySelector('[data-testid="stMarkdownContainer"]');
          place.innerHTML = '<p>By <a href="mailto:ana@example.org">ana@example.org</a></p>';
          const of = (selector) => getComputedStyle(place.querySelector(selector));
          const link = of('a');
          return [link.pointerEvents, link.textDecorationLine, link.color === of('p').color];
        }"""
    )
    assert styled == ["none", "none", True]
