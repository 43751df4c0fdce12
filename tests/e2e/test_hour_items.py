"""Items as they come: forty evidence units, none, very long texts, right to left, at 200 % zoom, by keyboard alone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import select

from annotators.protocols import PROTOCOLS
from db.models import StoredLabel
from tests.e2e.conftest import NewPage, screenshot
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import Scene, answer_first_step, judgement, question, wait_for_step, wait_until_saved
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

UNITS = 40
ARABIC = "كم بلغت كمية الطاقة التي سلّمتها التعاونية في عام 2024، وما سبب الفرق عن السعة المتعاقد عليها (83 GWh)؟"
ARABIC_ANSWER = "سلّمت التعاونية 69 GWh من أصل 83 GWh. ويعود الفرق إلى توقّف المحوّل الثاني بين 11 يونيو و2 أغسطس."
CHINESE = "合作社在2024年交付了多少能源？与合同容量之间的差距由什么造成？"
CHINESE_ANSWER = "交付了69吉瓦时，合同容量为83吉瓦时；差距来自第二换流站在6月11日至8月2日之间的停运。"


def words(n: int) -> str:
    """That many words, in paragraphs, none of them the same."""
    made = [
        f"{stem}{number}" for number, stem in zip(range(n), itertools.cycle(["storage", "basin", "tide"]), strict=False)
    ]
    paragraphs = [" ".join(made[at : at + 120]) for at in range(0, n, 120)]
    return ".\n\n".join(paragraphs) + "?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("items") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def many(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    rows = [item(1, evidence=UNITS), item(2, evidence=0, documents=[])]
    return make_own_scene(server, tmp_path_factory.mktemp("many"), rows, name="Forty units", keep_lacking=True)


@pytest.fixture(scope="module")
def long(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    rows = [item(1, question=words(2000), answer=words(5000), references=[words(300)])]
    return make_own_scene(server, tmp_path_factory.mktemp("long"), rows, name="Long texts")


@pytest.fixture(scope="module")
def scripts(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    rows = [
        item(1, question=ARABIC, answer=ARABIC_ANSWER, references=[ARABIC_ANSWER], language="ar"),
        item(2, question=CHINESE, answer=CHINESE_ANSWER, references=[CHINESE_ANSWER], language="zh"),
    ]
    return make_own_scene(server, tmp_path_factory.mktemp("scripts"), rows, name="Scripts")


def current(page: Page) -> str:
    """The target of the current row."""
    return page.locator('[data-testid="criterion"][aria-current="true"]').get_attribute("data-target") or ""


def in_view(page: Page, selector: str) -> bool:
    """Whether an element is wholly inside what is scrolled and above the footer."""
    return bool(
        page.locator(selector).evaluate(
            """(element) => {
              const own = element.getBoundingClientRect();
              const footer = element.getRootNode().querySelector('.judgement > footer').getBoundingClientRect();
              const middle = element.getRootNode().elementFromPoint(own.left + own.width / 2, own.top + own.height / 2);
              return own.top >= 0 && own.bottom <= footer.top + 1 && (element === middle || element.contains(middle));
            }"""
        )
    )


def given_second() -> str:
    """The value of the second label of the evidence units, as it is stored."""
    protocol = PROTOCOLS.get("qa_verification")
    return str(
        next(criterion for criterion in protocol.criteria if criterion.name == "grounding").label_list()[1].value
    )


def wide(page: Page) -> int:
    """How many pixels of the page one has to scroll sideways for."""
    return int(
        page.evaluate(
            """() => {
              const root = document.querySelector('[data-testid=annotate]').shadowRoot.querySelector('.assay');
              return root.scrollWidth - root.clientWidth;
            }"""
        )
    )


def test_forty_units_are_labelled_on_the_units_by_keyboard_alone(many: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, many, "ada")
    answer_first_step(page)
    for key in "111":
        page.keyboard.press(key)
    rows = page.locator('[data-testid="criterion"][data-criterion="grounding"]')
    expect(rows).to_have_count(UNITS)
    assert current(page) == "evidence:E1"
    for number in range(1, UNITS + 1):
        target = f"evidence:E{number}"
        assert current(page) == target
        assert in_view(page, f'[data-testid="criterion"][data-target="{target}"]')
        # the viewer follows: the unit that is labelled is the one that is marked beside its page
        expect(page.locator('[data-testid="unit-chip"][aria-current="true"] b')).to_have_text(f"E{number}")
        if number == 21:
            screenshot(page, "hour-forty-units")
        page.keyboard.press("1" if number % 3 else "2")
    # with arrows between units, and the label of the one that was reached is taken back and given anew
    for _ in range(5):
        page.keyboard.press("ArrowUp")
    assert current(page) == f"evidence:E{UNITS - 5}"
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("notice")).to_contain_text(f"Evidence needed for this answer (E{UNITS - 5})")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    with many.server.db.read() as session:
        given = session.exec(select(StoredLabel).where(StoredLabel.criterion == "grounding")).all()
    assert len({row.target for row in given}) == UNITS
    second = sum(row.value == given_second() for row in given)
    assert second == UNITS // 3 + 1  # every third, and E35, which had been given the first


def test_a_unit_is_labelled_where_it_is_pointed_at(many: Scene, new_page: NewPage) -> None:
    """The mouse: the unit's chip beside the page makes its row the current one; its button labels that unit alone."""
    page = open_as(new_page, many, "ben")
    answer_first_step(page)
    page.locator('[data-testid="unit-chip"]', has_text="E17 ").click()
    expect(page.locator('[data-testid="criterion"][aria-current="true"]')).to_have_attribute(
        "data-target", "evidence:E17"
    )
    row = page.locator('[data-testid="criterion"][data-target="evidence:E30"]')
    row.scroll_into_view_if_needed()
    row.get_by_role("radio").nth(1).click()
    expect(row.get_by_role("radio").nth(1)).to_be_checked()
    expect(page.locator('[data-criterion="grounding"] [aria-checked="true"]')).to_have_count(1)


def test_an_item_without_evidence_says_so_and_is_submitted(many: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, many, "chloe")
    for _ in range(2):
        expect(judgement(page)).to_be_visible()
        if "number 2?" in question(page):
            break
        page.keyboard.press("s")
        page.keyboard.press("1")
        expect(page.get_by_test_id("question")).to_contain_text("number 2?")
    answer_first_step(page)
    expect(page.get_by_text("This item has no evidence")).to_be_visible()
    screenshot(page, "hour-no-evidence")
    expect(page.locator('[data-criterion="grounding"]')).to_have_count(0)
    for key in ("1", "1", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_test_id("finished").or_(page.get_by_test_id("nothing"))).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_very_long_texts_leave_the_criteria_in_reach(long: Scene, new_page: NewPage, dark: bool) -> None:
    page = open_as(new_page, long, "ada" if dark else "ben", dark=dark)
    wait_for_step(page, "Question alone")
    assert len(question(page).split()) == 2000
    assert in_view(page, '[data-testid="criterion"][aria-current="true"]')
    answer_first_step(page)
    screenshot(page, f"hour-long-{'dark' if dark else 'light'}")
    expect(page.get_by_test_id("answer")).to_contain_text("4999")
    assert in_view(page, '[data-testid="criterion"][aria-current="true"]')
    assert in_view(page, '[data-testid="fold-text"] >> nth=0')
    page.get_by_test_id("fold-text").first.click()  # the question, so that the answer comes up
    expect(page.get_by_test_id("question")).to_have_class(re.compile("folded"))
    expect(page.get_by_test_id("answer")).to_be_in_viewport()
    screenshot(page, f"hour-long-folded-{'dark' if dark else 'light'}")
    page.get_by_test_id("fold-text").first.click()
    reading = page.locator(".reading")
    share = reading.evaluate(
        "(element) => element.closest('.reading-area').clientHeight / element.closest('.body').clientHeight"
    )
    assert 0.3 < share < 0.7
    page.keyboard.press("1")
    page.keyboard.press("ArrowUp")
    reading.focus()
    page.keyboard.press("End")  # the text scrolls by keyboard, and labels are given all the same
    page.wait_for_function(
        "document.querySelector('[data-testid=annotate]').shadowRoot.querySelector('.reading').scrollTop > 1000"
    )
    page.keyboard.press("2")
    expect(page.locator('[data-criterion="question_factual"] [aria-checked="true"]')).to_have_text("Not factual2")
    assert wide(page) == 0


def test_arabic_and_chinese_stand_as_they_are_read(scripts: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scripts, "ada")
    asked = page.get_by_test_id("question")
    expect(asked).to_have_text(ARABIC)
    expect(asked).to_have_attribute("lang", "ar")
    expect(asked).to_have_css("direction", "rtl")
    expect(page.locator(".steps .now")).to_have_css("direction", "ltr")  # the interface's own words do not turn round
    answer_first_step(page)
    answer = page.get_by_test_id("answer")
    expect(answer).to_have_css("direction", "rtl")
    # the accent of the answer stands where the text begins
    side = answer.evaluate("(element) => getComputedStyle(element).borderRightWidth")
    assert side == "3px"
    page.keyboard.press("c")
    page.keyboard.type("المصدر لا يذكر السبب")
    expect(page.get_by_test_id("comment-field").first).to_have_css("direction", "rtl")
    screenshot(page, "hour-arabic")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.keyboard.press("1")
    expect(asked).to_have_text(CHINESE)
    expect(asked).to_have_attribute("lang", "zh")
    answer_first_step(page)
    expect(page.get_by_test_id("answer")).to_have_text(CHINESE_ANSWER)
    screenshot(page, "hour-chinese")
    assert wide(page) == 0


@pytest.mark.parametrize("dark", [False, True])
def test_at_200_percent_everything_is_in_reach_without_scrolling_sideways(
    many: Scene, new_page: NewPage, dark: bool
) -> None:
    """A window of 1440 × 900 at 200 % is 720 × 450 CSS pixels."""
    page = open_as(new_page, many, "ben", width=720, height=450, dark=dark)
    if judgement(page).get_attribute("data-step") == "0":
        expect(page.locator(".steps")).to_be_visible()
        screenshot(page, f"hour-zoom-first-{'dark' if dark else 'light'}")
        answer_first_step(page)
    page.wait_for_timeout(500)
    assert wide(page) == 0
    expect(page.get_by_test_id("submit")).to_be_in_viewport()
    assert in_view(page, '[data-testid="criterion"][aria-current="true"]')
    screenshot(page, f"hour-zoom-{'dark' if dark else 'light'}")
    for _ in range(12):
        page.keyboard.press("ArrowDown")
        assert in_view(page, '[data-testid="criterion"][aria-current="true"]')
    screenshot(page, f"hour-zoom-rows-{'dark' if dark else 'light'}")
    page.keyboard.press("x")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_test_id("key-sheet")).to_be_in_viewport()
    page.keyboard.press("Escape")


def test_every_control_has_a_name_for_a_screen_reader(many: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, many, "ben")
    if judgement(page).get_attribute("data-step") == "0":
        answer_first_step(page)
    row = page.locator('[data-testid="criterion"][data-target="evidence:E3"]')
    group = row.get_by_role("radiogroup", name="Evidence needed for this answer (E3)")
    expect(group).to_be_visible()
    expect(group.get_by_role("radio", name="Required", exact=True)).to_have_attribute("aria-keyshortcuts", "1")
    for name in ("Back", "Skip", "Can’t judge", "Comment", "Flag", "Submit", "Guidelines", "Keys"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="Question")).to_be_visible()
    expect(page.get_by_role("complementary", name="Judgement")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-label", "0 of 2 items submitted")
    # what happens is said: the live region after a step, the notice when something is missing
    page.wait_for_timeout(700)  # an Enter right after an item appeared belongs to the one before
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Still to answer")
    nameless = page.evaluate(
        """() => {
          const root = document.querySelector('[data-testid=annotate]').shadowRoot;
          const controls = [...root.querySelectorAll('button, input, select, textarea, a, [role]')];
          return controls.filter((control) => control.checkVisibility() &&
            !control.matches('[role=status], [role=alert]') && !(control.getAttribute('aria-label') ||
              control.title || control.textContent.trim() || control.labels?.length)
          ).map((control) => control.outerHTML.slice(0, 120));
        }"""
    )
    assert nameless == []
