"""What is asked has something to be judged by, and the page says what has not; texts show what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.protocols import PROTOCOLS
from annotators.protocols.base import Material, Protocol, Step
from tests.e2e.conftest import NewPage, screenshot
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import ANNOTATORS, Scene
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LAPTOP = {"width": 1366, "height": 768}
LABELS = [Label(value="yes", title="Yes"), Label(value="no", title="No")]
OVERRIDE, END = "\u202e", "\u202c"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("asked") / "home") as running:
        yield running


Makes = Callable[[str, dict[str, Any], Protocol], Scene]


@pytest.fixture(scope="module")
def scene(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Makes:
    """Makes a study of one item, once a name: a test that is tried again finds it."""
    made: dict[str, Scene] = {}

    def make(name: str, row: dict[str, Any], protocol: Protocol) -> Scene:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = make_own_scene(server, folder, [item(1, **row)], protocol=protocol, overlap=1, name=name)
        return made[name]

    return make


def of_the_answer(*shows: Material) -> Protocol:
    return Protocol(
        name="right",
        title="Right",
        guidelines="Say whether the answer is right.",
        criteria=[Choice(name="right", title="Right", labels=LABELS)],
        steps=[Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER, *shows], criteria=["right"])],
    )


def test_the_page_says_in_its_place_what_an_item_lacks(scene: Makes, new_page: NewPage) -> None:
    shown = of_the_answer(Material.REFERENCES)
    made = scene("Lacking", {"references": [], "evidence": 0, "documents": []}, shown)
    page = open_as(new_page, made, ANNOTATORS[0], **LAPTOP)
    expect(page.get_by_test_id("lacks")).to_have_text("This item has no reference answer.")
    screenshot(page, "asked-lacks")


def test_a_criterion_about_some_evidence_says_how_many_units_are_left_out(scene: Makes, new_page: NewPage) -> None:
    row = {"evidence": 5, "claims": [{"text": f"It was {OVERRIDE}decided."}]}
    made = scene("Some", row, PROTOCOLS.get("claim_verification"))
    page = open_as(new_page, made, ANNOTATORS[0], **LAPTOP)
    expect(page.get_by_test_id("left-out-units")).to_have_text("Judged are 3 of 5 units of evidence; 2 are left out.")
    expect(page.get_by_test_id("unit-chip")).to_have_count(3)
    expect(page.locator('[data-claim="C1"] [data-testid="directing"]')).to_have_attribute("data-sign", "RLO")


def test_questions_are_drawn_as_answers_are_and_overrides_are_marks(scene: Makes, new_page: NewPage) -> None:
    row = {
        "question": "Is &lt;b&gt; bold &amp; safe?<br />so",
        "answer": f"Open {OVERRIDE}gnp.exe{END} now.",
        "hops": [{"question": "First &amp; foremost?", "answer": "a &lt; b"}],
        "evidence": 0,
        "documents": [],
    }
    made = scene("Drawn", row, of_the_answer(Material.HOPS))
    page = open_as(new_page, made, ANNOTATORS[0], **LAPTOP)
    question = page.get_by_test_id("question")
    assert question.inner_text().split("\n") == ["Is <b> bold & safe?", "so"]
    assert "First & foremost?" in page.locator(".hops").inner_text()
    assert "a < b" in page.locator(".hops").inner_text()
    signs = page.get_by_test_id("answer").get_by_test_id("directing")
    expect(signs).to_have_count(2)
    assert [sign.get_attribute("data-sign") for sign in signs.all()] == ["RLO", "PDF"]
    # Letters stand in the order in which they were written: the first is left of the last.
    left, right = page.evaluate(
        """() => {
          const all = [...document.querySelectorAll('*')].map((node) => node.shadowRoot).filter(Boolean);
          const roots = [document, ...all];
          const answer = roots.map((root) => root.querySelector('[data-testid="answer"]')).find(Boolean);
          const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
          let node = walker.nextNode();
          while (node && !node.data.startsWith('gnp')) node = walker.nextNode();
          const at = (place) => {
            const range = document.createRange();
            range.setStart(node, place);
            range.setEnd(node, place + 1);
            return range.getBoundingClientRect().left;
          };
          return [at(0), at(6)];
        }"""
    )
    assert left < right
    screenshot(page, "asked-drawn")
