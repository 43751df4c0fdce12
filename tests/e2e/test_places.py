"""Placing the images of an answer with the keyboard alone, and deciding where two annotators place one differently."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import col, select

from annotators.criteria.place import Place
from annotators.protocols import Material, Protocol, Step
from db.models import AdjudicatedLabel, StoredLabel
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.disputes import Quarrel, Said, dispute, make_disputes, row, wait_until_saved
from tests.e2e.own_items import DOCUMENT, item, make_own_scene
from tests.e2e.scene import Scene
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ANSWER = """\
## What the cooperative renewed

In its meeting the cooperative decided to renew the **converter** on the pier, which had stood still since the storm.

- the turbine was taken apart
- its blades went to the yard

ثم وصل التقرير السنوي إلى الميناء، ونُشر بعد ذلك بأسبوع.

The report of the year after says that the cable holds."""
PROTOCOL = Protocol(
    name="placing",
    title="Placing",
    guidelines="Say after which paragraph of the answer each image belongs.",
    criteria=[Place(name="place", title="Where it belongs", help="After which paragraph?")],
    steps=[
        Step(
            name="places",
            title="Places",
            shows=[Material.QUESTION, Material.ANSWER, Material.IMAGES],
            criteria=["place"],
        )
    ],
)


def images() -> list[dict[str, object]]:
    named = (("zz", "The converter"), ("aa", "The yard"), ("mm", "A ship that is not in the answer"))
    return [
        {"key": key, "document": DOCUMENT, "page": page, "caption": caption}
        for page, (key, caption) in enumerate(named, 1)
    ]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A study of two answers with three images each."""
    with running_server(tmp_path_factory.mktemp("home")) as server:
        folder: Path = tmp_path_factory.mktemp("in")
        rows = [item(number, evidence=0, answer=ANSWER, images=images()) for number in (1, 2)]
        server.person("dora", default_role="adjudicator")
        yield make_own_scene(server, folder, rows, protocol=PROTOCOL)


def buttons(page: Page, target: str) -> list[str]:
    texts = page.locator(f'[data-target="{target}"] [data-testid="label"]').all_inner_texts()
    return [" ".join(text.split()) for text in texts]


@pytest.mark.parametrize("dark", [False, True])
def test_every_image_gets_its_place_by_one_key(new_page: NewPage, scene: Scene, dark: bool) -> None:
    person = "ben" if dark else "ada"
    page = new_page(width=1366, height=768, dark=dark)
    sign_in(page, scene.server, person)
    page.goto(scene.address())
    expect(page.get_by_test_id("criterion")).to_have_count(3)
    assert buttons(page, "image:I1") == [
        "1. What the cooperative… 1",
        "2. In its meeting the co… 2",
        "3. the turbine was taken… 3",
        "4. ثم وصل التقرير السنوي… 4",
        "5. The report of the yea… 5",
        "Nowhere 0",
    ]
    current = page.locator('[data-testid="criterion"][aria-current="true"]')
    expect(current).to_have_attribute("data-target", "image:I1")
    page.keyboard.press("2")
    expect(current).to_have_attribute("data-target", "image:I2")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Space"):  # with the arrows: to the third
        page.keyboard.press(key)
    expect(current).to_have_attribute("data-target", "image:I3")
    page.keyboard.press("7")  # there is no such paragraph
    expect(page.locator('[data-target="image:I3"] [aria-checked="true"]')).to_have_count(0)
    page.keyboard.press("0")
    screenshot(page, f"place-{'dark' if dark else 'light'}")
    page.keyboard.press("Enter")
    expect(page.locator('[data-target="image:I3"] [aria-checked="true"]')).to_have_count(0)  # the next item
    wait_until_saved(page)
    with scene.server.db.read() as session:
        last = session.exec(select(StoredLabel).order_by(col(StoredLabel.id).desc()).limit(3)).all()
        assert {label.target: label.value for label in last} == {
            "image:zz": "block:2", "image:aa": "block:3", "image:mm": "nowhere",
        }  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
def test_an_adjudicator_decides_where_an_image_belongs(new_page: NewPage, scene: Scene, dark: bool) -> None:
    server: RunningServer = scene.server
    first = {f"image:I{n}": dict.fromkeys(("ada", "ben", "chloe"), Said("block:2")) for n in (1, 2, 3)}
    said = {(place, "place", target): dict(given) for place in (0, 1) for target, given in first.items()}
    said[0, "place", "image:I2"]["ben"] = said[0, "place", "image:I2"]["chloe"] = Said("nowhere")
    name = f"quarrel-{dark}"
    study_id = make_disputes(server, scene.project_id, name, Quarrel(said), protocol=PROTOCOL)
    page = new_page(width=1366, height=768, dark=dark)
    sign_in(page, server, "dora")
    page.goto(f"{server.url}/adjudicate?study={study_id}")
    expect(dispute(page)).to_be_visible()
    disputed = row(page, "place", "image:I2")
    expect(disputed.locator("[data-rater]").filter(has_text="After paragraph 2")).to_have_count(1)
    expect(disputed.locator("[data-rater]").filter(has_text="Nowhere")).to_have_count(2)
    expect(disputed.get_by_test_id("division")).to_have_text("2 against 1")
    screenshot(page, f"place-adjudicate-{'dark' if dark else 'light'}")
    page.keyboard.press("5")  # which nobody gave, against the majority
    page.keyboard.press("Enter")
    page.keyboard.type("It shows the cable.")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(page)
    with server.db.read() as session:
        decided = session.exec(select(AdjudicatedLabel).order_by(col(AdjudicatedLabel.adjudication_id).desc())).first()
        assert decided is not None
        assert (decided.target, decided.value, decided.reason) == ("image:aa", "block:5", "It shows the cable.")
