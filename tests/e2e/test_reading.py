"""Texts longer than the screen: they say so, scroll by key beside the criteria, and what was not seen is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotators.criteria import Label
from annotators.criteria.grade import Grade
from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from annotators.protocols.base import Material, Protocol, Step
from db.designing.making import create_study
from db.people.accounts import actor_named
from db.people.preferences import my_preferences, set_preference
from db.projects import create_project
from exports.importing.items import import_paths
from tests.e2e.conftest import NewPage, screenshot
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import ANNOTATORS, Scene, answer_first_step, judgement, wait_for_step
from tests.makers import read_guidelines
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LAPTOP = {"width": 1366, "height": 768}
WORDS = 1500
ARABIC = "سلّمت التعاونية في ذلك العام كمية من الطاقة أقل من السعة المتعاقد عليها. "

_LABELS = [
    Label(value=number, title=title, definition=f"{title}.") for number, title in enumerate(("Poor", "Fair", "Good"), 1)
]
GRADING = Protocol(
    name="grading",
    title="Grading",
    summary="How right, and how complete, is the answer?",
    guidelines="Grade the answer against the reference answers.",
    criteria=[
        Grade(name="right", title="Right", labels=_LABELS),
        Grade(name="complete", title="Complete", labels=_LABELS),
    ],
    steps=[
        Step(
            name="all",
            title="All",
            shows=[Material.QUESTION, Material.REFERENCES, Material.ANSWER],
            criteria=["right", "complete"],
        )
    ],
    overlap=2,
)
WITHOUT_REFERENCES = GRADING.model_copy(
    update={
        "name": "grading_alone",
        "steps": [GRADING.steps[0].model_copy(update={"shows": [Material.QUESTION, Material.ANSWER]})],
    }
)


def text(n: int) -> str:
    """That many words in paragraphs."""
    words = [f"word{number}" for number in range(n)]
    return "\n\n".join(" ".join(words[at : at + 100]) for at in range(0, n, 100))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("reading") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def graded(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Long answers, no evidence: what is judged has the left side."""
    rows = [
        item(1, answer=text(WORDS), references=["word3 is named", "word4 is named"], evidence=0, documents=[]),
        item(2, answer=ARABIC * 120, references=[ARABIC], language="ar", evidence=0, documents=[]),
    ]
    return make_own_scene(server, tmp_path_factory.mktemp("graded"), rows, protocol=GRADING, name="Graded")


@pytest.fixture(scope="module")
def short(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    rows = [item(1, answer="It renewed the converter.", references=["It did."], evidence=0, documents=[])]
    return make_own_scene(server, tmp_path_factory.mktemp("short"), rows, protocol=GRADING, name="Short")


@pytest.fixture(scope="module")
def lone(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A protocol that shows no references."""
    rows = [item(1, answer=text(WORDS), evidence=0, documents=[])]
    return make_own_scene(server, tmp_path_factory.mktemp("lone"), rows, protocol=WITHOUT_REFERENCES, name="Lone")


@pytest.fixture(scope="module")
def lacking(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A protocol that shows references, and an item without any."""
    rows = [item(1, answer=text(WORDS), evidence=0, documents=[])]
    return make_own_scene(server, tmp_path_factory.mktemp("lacking"), rows, protocol=GRADING, name="Lacking")


@pytest.fixture(scope="module")
def asked(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A long question, and in the next step a long answer as well."""
    rows = [item(1, question=text(900), answer=text(WORDS))]
    return make_own_scene(server, tmp_path_factory.mktemp("asked"), rows, name="Asked")


@pytest.fixture(scope="module")
def verified(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A long answer beside its evidence."""
    rows = [item(1, answer=text(WORDS), references=["It was renewed."], evidence=2)]
    return make_own_scene(server, tmp_path_factory.mktemp("verified"), rows, name="Verified")


@pytest.fixture(autouse=True)
def no_settings(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    running: RunningServer = request.getfixturevalue("server")
    for name in ANNOTATORS:
        for setting in ("panes", "keys"):
            set_preference(running.db, actor_named(running.db, name), setting, value=None)


def area(page: Page) -> Locator:
    """Where the answer is read."""
    return page.locator(".reading-area:has([data-testid=answer])")


def top_of(page: Page) -> float:
    """How far the answer is scrolled."""
    return float(area(page).locator(".reading").evaluate("(element) => element.scrollTop"))


def words_below(page: Page) -> int:
    """What the button says."""
    said = area(page).get_by_test_id("more-words").inner_text()
    found = re.match(r"([\d,]+) more words?", said)
    assert found, said
    return int(found[1].replace(",", ""))


def words_counted(page: Page) -> int:
    """The words of the texts whose middle is below the fold, one by one; one that is bold in part is one word."""
    return int(
        area(page).evaluate(
            """(area) => {
              const fold = area.querySelector('.reading').getBoundingClientRect().bottom - 14;
              const blockOf = (node) => {
                let element = node.parentElement;
                while (getComputedStyle(element).display === 'inline') element = element.parentElement;
                return element;
              };
              let below = 0;
              for (const text of area.querySelectorAll('.part > :not(h2)')) {
                const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
                let before = null;
                for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                  const goesOn = before && blockOf(before) === blockOf(node) && /\\S$/.test(before.data);
                  for (const word of node.data.matchAll(/\\S+/g)) {
                    if (goesOn && word.index === 0) continue;
                    const range = document.createRange();
                    range.setStart(node, word.index);
                    range.setEnd(node, word.index + 1);
                    const box = range.getBoundingClientRect();
                    if (box.bottom > fold + 3) below += 1;
                  }
                  before = node;
                }
              }
              return below;
            }"""
        )
    )


def settle(page: Page) -> None:
    """Until what is in view was looked at."""
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done), 30)))"
    )


def labels_given(page: Page) -> int:
    return page.locator('[data-testid="criterion"] [aria-checked="true"]').count()


def whole_in_view(page: Page, locator: Locator) -> bool:
    box, size = locator.bounding_box(), page.viewport_size
    return bool(box and size and box["y"] >= 0 and box["y"] + box["height"] <= size["height"])


def not_seen(page: Page) -> Locator:
    return page.get_by_test_id("not-seen")


def divider(page: Page, name: str) -> Locator:
    return page.get_by_test_id(f"{name}-divider")


def drag(page: Page, handle: Locator, dx: int, dy: int) -> None:
    box = handle.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()
    settle(page)


def stored(scene: Scene, name: str) -> dict[str, Any]:
    return my_preferences(scene.server.db, actor_named(scene.server.db, name))


@pytest.mark.parametrize("which", ["graded", "verified"])
def test_a_cut_text_says_how_many_words_are_below_while_it_is_scrolled(
    which: str, request: pytest.FixtureRequest, new_page: NewPage
) -> None:
    page = open_as(new_page, request.getfixturevalue(which), "ada", **LAPTOP)
    if which == "verified":
        answer_first_step(page)
    fade, more = area(page).get_by_test_id("fade"), area(page).get_by_test_id("more-words")
    expect(fade).to_be_visible()
    expect(more).to_contain_text("Space")
    settle(page)
    first = words_below(page)
    assert first == words_counted(page) > 500
    before = top_of(page)
    more.click()
    settle(page)
    assert top_of(page) > before
    assert first > words_below(page) == words_counted(page)
    rail = area(page).get_by_test_id("rail")
    expect(rail).to_be_visible()
    page.keyboard.press("End")
    settle(page)
    expect(fade).to_be_hidden()
    expect(more).to_be_hidden()
    expect(area(page).get_by_test_id("read_start")).to_be_visible()
    thumb, whole = rail.locator(".thumb").bounding_box(), rail.bounding_box()
    assert thumb
    assert whole
    assert abs(thumb["y"] + thumb["height"] - whole["y"] - whole["height"]) < 2
    page.mouse.move(thumb["x"] + 3, thumb["y"] + 5)  # the rail is dragged
    page.mouse.down()
    page.mouse.move(thumb["x"] + 3, whole["y"] + 5)
    page.mouse.up()
    assert top_of(page) == 0


def test_a_text_that_fits_has_neither_fade_nor_rail(short: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, short, "chloe", **LAPTOP)
    expect(page.get_by_test_id("answer")).to_have_text("It renewed the converter.")
    for part in ("fade", "rail", "reading-foot"):
        expect(area(page).get_by_test_id(part)).to_be_hidden()
    page.keyboard.press("Space")  # and Space, pressed from habit, gives no label
    page.keyboard.press("Space")
    assert labels_given(page) == 0
    page.keyboard.press("2")
    page.wait_for_timeout(300)
    expect(not_seen(page)).to_be_hidden()


def test_an_answer_without_references_leaves_the_other_side_to_the_criteria(lone: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, lone, "chloe", **LAPTOP)
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    expect(divider(page, "criteria")).to_be_hidden()
    expect(divider(page, "panes")).to_have_attribute("aria-valuenow", re.compile(r"^5\d$"))
    assert whole_in_view(page, page.get_by_test_id("criterion").first)
    page.keyboard.press("2")
    expect(not_seen(page)).to_contain_text("of the answer has not been on your screen yet.")


def test_where_references_would_stand_it_says_that_there_are_none(lacking: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, lacking, "chloe", **LAPTOP)
    lacks = page.get_by_test_id("lacks")
    expect(lacks).to_have_text("This item has no reference answer.")
    expect(area(page).get_by_test_id("lacks")).to_have_count(0)  # above the criteria, not beneath the answer
    expect(divider(page, "criteria")).to_be_visible()
    settle(page)
    for shown in (lacks, page.get_by_test_id("criterion").first):
        assert whole_in_view(page, shown)


def test_keys_scroll_the_answer_and_give_no_label(graded: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, graded, "ada", **LAPTOP)
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    far = 100_000
    for key, least, most in (
        ("Space", 300, 700),
        ("Space", 701, far),
        ("Shift+Space", 300, 700),
        ("End", 1000, far),
        ("Home", 0, 0),
        ("PageDown", 300, 700),
        ("PageUp", 0, 0),
    ):
        page.keyboard.press(key)
        assert least <= top_of(page) <= most, (key, top_of(page))
    assert labels_given(page) == 0
    page.keyboard.press("2")  # the labels kept the focus
    assert labels_given(page) == 1
    page.keyboard.press("Space")
    assert labels_given(page) == 1
    assert top_of(page) > 300
    page.keyboard.press("Home")
    page.keyboard.press("c")  # in a field the keys write
    page.keyboard.type("a b")
    page.keyboard.press("Shift+Space")
    page.keyboard.press("Home")
    expect(page.get_by_test_id("comment-field").first).to_have_value("a b ")
    assert top_of(page) == 0
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    sheet = page.get_by_test_id("key-sheet")
    for action, key in (("read_on", "Space"), ("read_back", "⇧Space"), ("read_end", "End"), ("read_start", "Home")):
        expect(sheet.locator(f'[data-action="{action}"]')).to_have_text(key)
    sheet.locator('[data-action="read_on"]').click()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(area(page).get_by_test_id("more-words").locator("kbd")).to_have_text("j")
    page.keyboard.press("j")
    assert top_of(page) > 300
    assert stored(graded, "ada") == {"keys": {"read_on": "j"}}
    page.keyboard.press("?")  # and back to the space bar, which no other action can have
    for action, key, words in (("skip", "Space", "cannot be used"), ("read_on", "Space", "is now on Space")):
        sheet.locator(f'[data-action="{action}"]').click()
        page.keyboard.press(key)
        expect(page.get_by_test_id("key-words")).to_contain_text(words)
    page.keyboard.press("Escape")
    expect(area(page).get_by_test_id("more-words").locator("kbd")).to_have_text("Space")


def test_what_is_judged_is_in_view_beside_the_criteria(graded: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, graded, "ada", **LAPTOP)
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    answer, question = page.get_by_test_id("answer"), page.get_by_test_id("question")
    references, criteria = page.get_by_test_id("references"), page.get_by_test_id("criterion")
    screenshot(page, "reading-facing")
    for key in ("Home", "Space", "End"):
        page.keyboard.press(key)
        for part in (question, references, criteria.nth(0), criteria.nth(1), page.get_by_test_id("submit")):
            assert whole_in_view(page, part), key
        expect(answer).to_be_in_viewport()
    boxes = {name: part.bounding_box() for name, part in (("answer", answer), ("right", judgement(page)))}
    assert boxes["answer"]
    assert boxes["right"]
    assert boxes["answer"]["x"] + boxes["answer"]["width"] <= boxes["right"]["x"]
    assert boxes["right"]["x"] > LAPTOP["width"] * 0.5


def test_the_criteria_stay_while_an_answer_beside_its_evidence_scrolls(verified: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, verified, "ben", **LAPTOP)
    answer_first_step(page)
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    screenshot(page, "reading-evidence")
    current = page.locator('[data-testid="criterion"][aria-current="true"]')
    for key in ("Space", "Space", "End", "Home"):
        page.keyboard.press(key)
        settle(page)
        assert whole_in_view(page, current)
        assert whole_in_view(page, page.get_by_test_id("submit"))
        expect(page.get_by_test_id("pages-divider").or_(page.locator(".pages")).first).to_be_visible()
    page.keyboard.press("End")
    assert top_of(page) > 1000
    assert labels_given(page) == 0


def test_dividers_are_dragged_and_moved_by_keyboard_and_remembered(graded: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, graded, "ben", **LAPTOP)
    panes, criteria = divider(page, "panes"), divider(page, "criteria")
    expect(panes).to_have_attribute("aria-orientation", "vertical")
    start = page.get_by_test_id("facing").bounding_box()
    assert start
    drag(page, panes, -150, 0)
    dragged = page.get_by_test_id("facing").bounding_box()
    assert dragged
    assert abs(start["width"] - 150 - dragged["width"]) < 3
    now = float(panes.get_attribute("aria-valuenow") or 0)
    assert abs(now - dragged["width"] / LAPTOP["width"] * 100) < 1.5
    high = judgement(page).locator(".reading-area").bounding_box()
    drag(page, criteria, 0, -120)
    low = judgement(page).locator(".reading-area").bounding_box()
    assert high
    assert low
    assert abs(high["height"] - 120 - low["height"]) < 3
    page.keyboard.press("3")  # a divider that is dragged does not take the keyboard
    assert labels_given(page) == 1
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Backspace")
    assert labels_given(page) == 0

    page.wait_for_function("Object.keys(localStorage).every((key) => !key.startsWith('assay.preferences'))")
    assert set(stored(graded, "ben")["panes"]) == {"side", "references"}
    elsewhere = open_as(new_page, graded, "ben", **LAPTOP)
    expect(elsewhere.get_by_test_id("answer")).to_be_visible()
    settle(elsewhere)
    again = elsewhere.get_by_test_id("facing").bounding_box()
    same = judgement(elsewhere).locator(".reading-area").bounding_box()
    assert again
    assert same
    assert abs(again["width"] - dragged["width"]) < 3
    assert abs(same["height"] - low["height"]) < 3

    panes.focus()
    before = page.get_by_test_id("facing").bounding_box()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    after = page.get_by_test_id("facing").bounding_box()
    assert before
    assert after
    assert 40 < after["width"] - before["width"] < 70
    assert float(panes.get_attribute("aria-valuenow") or 0) > now
    page.keyboard.press("End")
    settle(page)
    right = judgement(page).bounding_box()
    assert right
    assert right["width"] >= 370  # never so far that a side is of no use
    assert labels_given(page) == 0
    panes.dblclick()
    criteria.dblclick()
    settle(page)
    reset = page.get_by_test_id("facing").bounding_box()
    assert reset
    assert abs(reset["width"] - start["width"]) < 2
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    assert labels_given(page) == 1
    page.wait_for_function("Object.keys(localStorage).every((key) => !key.startsWith('assay.preferences'))")
    assert stored(graded, "ben") == {}


def test_dividers_vanish_where_one_thing_stands_above_the_other(graded: Scene, new_page: NewPage) -> None:
    actor = actor_named(graded.server.db, "chloe")
    set_preference(graded.server.db, actor, "panes", value={"side": 99, "references": 99})
    for width, height in ((820, 1100), (390, 800)):
        page = open_as(new_page, graded, "chloe", width=width, height=height)
        for name in ("panes", "criteria"):
            expect(divider(page, name)).to_be_hidden()
        expect(page.get_by_test_id("submit")).to_be_in_viewport()
        sideways = "document.querySelector('[data-testid=annotate]').shadowRoot.querySelector('.assay')"
        assert page.evaluate(f"{sideways}.scrollWidth <= {sideways}.clientWidth")
    for width in (1366, 1024):  # a place that was chosen on a larger screen leaves room for the rest
        page = open_as(new_page, graded, "chloe", width=width, height=700)
        settle(page)
        right = judgement(page).bounding_box()
        assert right
        assert right["width"] >= 370
        criteria = page.locator(".criteria").bounding_box()
        assert criteria
        assert criteria["height"] >= 80


def test_what_was_never_on_the_screen_is_said_beside_submit_until_it_was(graded: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, graded, "ada", **LAPTOP)
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    settle(page)
    expect(not_seen(page)).to_have_text("")  # nobody has judged anything yet
    place = not_seen(page).bounding_box()
    share = 100 * words_below(page) / WORDS
    page.keyboard.press("2")
    expect(not_seen(page)).to_contain_text("of the answer has not been on your screen yet.")
    said = re.match(r"(\d+) % of the answer", not_seen(page).inner_text().replace("◔ ", ""))
    assert said
    assert abs(int(said[1]) - share) < 2
    assert page.get_by_test_id("live").inner_text() == not_seen(page).inner_text()
    assert not_seen(page).bounding_box() == place  # its place was kept: no label moved
    page.keyboard.press("End")  # the end was seen, the middle was not
    expect(not_seen(page)).not_to_contain_text(said[0])
    expect(not_seen(page)).to_contain_text("of the answer")
    page.keyboard.press("?")
    page.locator('[data-action="skip"]').click()
    page.keyboard.press("k")
    page.keyboard.press("Escape")  # the page is drawn anew, and knows what was seen
    settle(page)
    words = not_seen(page).inner_text()
    page.keyboard.press("2")
    settle(page)
    expect(not_seen(page)).to_contain_text("of the answer")
    assert words == not_seen(page).inner_text() or words == ""
    page.reload()
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    page.keyboard.press("Home")
    for _ in range(12):
        page.keyboard.press("Space")
        settle(page)
    page.keyboard.press("3")
    page.keyboard.press("3")
    settle(page)
    expect(not_seen(page)).to_have_text("")
    screenshot(page, "reading-all-seen")


def test_submitting_unread_is_not_stopped(graded: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, graded, "ben", **LAPTOP)
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    page.wait_for_timeout(700)
    page.keyboard.press("2")
    page.keyboard.press("2")
    expect(not_seen(page)).to_contain_text("has not been on your screen yet.")
    screenshot(page, "reading-not-seen")
    page.keyboard.press("Enter")
    # The next item reads from right to left: the same holds for it.
    answer = page.get_by_test_id("answer")
    expect(answer).to_have_css("direction", "rtl")
    expect(not_seen(page)).to_have_text("")
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    settle(page)
    assert words_below(page) == words_counted(page) > 300
    screenshot(page, "reading-arabic")
    page.keyboard.press("Space")
    settle(page)
    assert words_below(page) == words_counted(page)


def test_what_lies_under_the_guidelines_or_in_a_hidden_tab_was_not_seen(graded: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, graded, "chloe", **LAPTOP)
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    settle(page)
    page.keyboard.press("g")
    page.keyboard.press("End")
    settle(page)
    page.keyboard.press("Home")
    page.keyboard.press("g")
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })")
    page.keyboard.press("End")
    settle(page)
    page.keyboard.press("Home")
    settle(page)
    page.evaluate("delete document.hidden")
    share = 100 * words_below(page) / WORDS
    page.keyboard.press("2")
    expect(not_seen(page)).to_contain_text("of the answer")
    said = re.search(r"(\d+) %", not_seen(page).inner_text())
    assert said
    assert abs(int(said[1]) - share) < 2


def test_each_text_is_spoken_of_in_one_step(asked: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, asked, "chloe", **LAPTOP)
    wait_for_step(page, "Question alone")
    expect(page.locator(".reading-area").get_by_test_id("fade")).to_be_visible()
    page.keyboard.press("1")
    expect(not_seen(page)).to_contain_text("of the question has not been on your screen yet.")
    answer_first_step(page)
    expect(area(page).get_by_test_id("fade")).to_be_visible()
    page.keyboard.press("1")
    expect(not_seen(page)).to_have_text("100 % of the answer has not been on your screen yet.")
    screenshot(page, "reading-evidence-not-seen")
    drag(page, divider(page, "criteria"), 0, 60)
    drag(page, divider(page, "panes"), -100, 0)
    expect(not_seen(page)).to_have_text("100 % of the answer has not been on your screen yet.")
    page.keyboard.press("End")
    expect(not_seen(page)).not_to_contain_text("100 %")
    expect(not_seen(page)).to_contain_text("% of the answer")


def test_narrow_screens_know_what_was_seen_as_well(graded: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, graded, "ada", width=390, height=800)
    expect(page.get_by_test_id("answer")).to_be_visible()
    page.wait_for_timeout(500)
    page.keyboard.press("2")
    expect(not_seen(page)).to_contain_text("of the answer")
    expect(not_seen(page)).to_be_in_viewport()
    screenshot(page, "reading-390")


def test_the_longest_real_answers_are_judged_in_view(
    server: RunningServer, shared_data: Path, new_page: NewPage, tmp_path: Path
) -> None:
    """Of FATHOMS, with the scores that came with them."""
    for person in ANNOTATORS:
        if not any(person == name for name in _names(server)):
            server.person(person, default_role="annotator")
    project_id = create_project(server.db, server.admin, "FATHOMS")
    folder = server.home / "data" / "documents"
    import_paths(
        server.db, server.admin, project_id, paths=[shared_data / "fathoms"], format_name="fathoms", data_folder=folder
    )
    design = StudyDesign(
        name="Metric agreement", annotators=("ada",), overlap=1, order="given", items=_longest(server, project_id, 3)
    )
    protocol = PROTOCOLS.get("metric_agreement")
    made = create_study(server.db, server.admin, project_id, protocol=protocol, design=design)
    read_guidelines(server.db, made.study_id)
    page = open_as(new_page, Scene(server, project_id, made.study_id), "ada", **LAPTOP)
    for number in range(3):
        expect(area(page).get_by_test_id("fade")).to_be_visible()
        settle(page)
        assert words_below(page) == words_counted(page) > 50
        screenshot(page, f"reading-fathoms-{number}")
        for key in ("Space", "End"):
            page.keyboard.press(key)
            for criterion in page.get_by_test_id("criterion").all():
                assert whole_in_view(page, criterion)
        page.wait_for_timeout(700)
        page.keyboard.press("3")
        page.keyboard.press("3")
        page.keyboard.press("Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()


def _names(server: RunningServer) -> list[str]:
    from db.people.accounts import list_people

    return [row.name for row in list_people(server.db, server.admin)]


def _longest(server: RunningServer, project_id: int, n: int) -> tuple[str, ...]:
    """The external ids of the items with the longest answers."""
    from sqlmodel import select

    from db.models import Item, ItemVersion

    with server.db.read() as session:
        rows = session.exec(
            select(Item.external_id, ItemVersion.answer).where(
                Item.id == ItemVersion.item_id, Item.project_id == project_id
            )
        ).all()
    return tuple(name for name, answer in sorted(rows, key=lambda row: -len(row[1] or ""))[:n])
