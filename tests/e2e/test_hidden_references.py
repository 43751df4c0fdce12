"""Claims and images of the reference answer stay off the wire while the references are hidden."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.protocols import Material, Protocol, Step
from tests.e2e.conftest import NewPage, another_page, sign_in
from tests.e2e.own_items import DOCUMENT, item, make_own_scene
from tests.e2e.scene import judgement, wait_for_step
from tests.e2e.test_disclosure import Wire
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SECRET_CLAIM = "Gold says that the converter was sold to a museum"
SECRET_CAPTION = "Gold picture of the harbour crane"


def staged() -> Protocol:
    """The claims and images of an answer first, with the references only afterwards."""
    yes_no = [Label(value="yes"), Label(value="no")]
    return Protocol(
        name="staged_claims",
        title="Staged claims",
        guidelines="Judge each claim and each image, then all again with the references.",
        criteria=[
            Choice(name="claim_ok", title="Claim holds", target="claim", labels=yes_no),
            Choice(name="image_ok", title="Image fits", target="image", labels=yes_no),
            Choice(name="gold_claim", title="Claim holds now", target="claim", labels=yes_no),
        ],
        steps=[
            Step(
                name="alone",
                title="Alone",
                shows=[Material.QUESTION, Material.ANSWER, Material.CLAIMS, Material.IMAGES],
                criteria=["claim_ok", "image_ok"],
            ),
            Step(name="gold", title="With the references", shows=[Material.REFERENCES], criteria=["gold_claim"]),
        ],
    )


def with_gold(number: int, **fields: Any) -> dict[str, Any]:
    return item(
        number,
        evidence=0,
        references=["They sold it."],
        claims=[
            {"key": "gold-1", "text": f"{SECRET_CLAIM} {number}.", "of": "reference"},
            {"key": "said-1", "text": f"It decided to renew the converter {number}."},
            {"key": "gold-2", "text": f"{SECRET_CLAIM} again {number}.", "of": "reference"},
        ],
        images=[
            {
                "key": "gold-p",
                "document": DOCUMENT,
                "page": 3,
                "caption": SECRET_CAPTION,
                "metadata": {"of": "reference"},
            },
            {"key": "own-p", "document": DOCUMENT, "page": 2, "caption": "The converter"},
        ],
        **{"documents": [], **fields},
    )


def test_claims_and_images_of_the_reference_come_with_the_references_and_not_before(
    new_page: NewPage, tmp_path: Path
) -> None:
    nothing = item(3, evidence=0, claims=[{"key": "g", "text": f"{SECRET_CLAIM} 3.", "of": "reference"}], documents=[])
    with running_server(tmp_path / "home") as server:
        scene = make_own_scene(server, tmp_path / "in", [with_gold(1), with_gold(2), nothing], protocol=staged())
        opened = new_page(fresh=True, width=1366, height=768)
        sign_in(opened, server, "ada")
        page = another_page(opened)
        wire = Wire(page)
        page.goto(scene.address())
        wait_for_step(page, "Alone")
        page.wait_for_timeout(1500)  # look-ahead
        assert wire.frames > 0
        assert wire.has("It decided to renew the converter 2")
        for secret in (SECRET_CLAIM, SECRET_CAPTION, '"reference"', "gold-", "C2", "I2"):
            assert not wire.has(secret), f"{secret!r} was sent before its time"
        document = next(iter(wire.pictures)).split("/page-images/")[1].split("/")[0]
        assert {url.split("/page-images/")[1].split("/")[1].split("?")[0] for url in wire.pictures} <= {"2", "2-2"}
        assert picture(page, server.url, document, 2) == 200
        assert picture(page, server.url, document, 3) == 404
        refuse_hidden_targets(page, server.url, scene.study_id)
        for key in "11":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        wait_for_step(page, "With the references")
        expect(page.locator('[data-testid="criterion"]')).to_have_count(3)
        assert wire.has(SECRET_CLAIM + " 1")
        assert not wire.has(SECRET_CLAIM + " 2"), "the look-ahead shows what the next item hides"
        assert picture(page, server.url, document, 3) == 200


def test_an_item_of_which_nothing_is_left_to_judge_says_so_and_can_be_submitted(
    new_page: NewPage, tmp_path: Path
) -> None:
    only_gold = item(1, evidence=0, claims=[{"key": "g", "text": f"{SECRET_CLAIM}.", "of": "reference"}], documents=[])
    with running_server(tmp_path / "home") as server:
        scene = make_own_scene(server, tmp_path / "in", [only_gold, with_gold(2)], protocol=staged())
        page = new_page(width=1366, height=768)
        sign_in(page, server, "ada")
        page.goto(scene.address())
        wait_for_step(page, "Alone")
        expect(page.get_by_test_id("nothing-asked")).to_contain_text("Nothing is asked about this item in this step")
        page.wait_for_timeout(700)  # an Enter before that belongs to the item before
        page.keyboard.press("Enter")
        wait_for_step(page, "With the references")
        expect(judgement(page).locator('[data-testid="criterion"]')).to_have_count(1)


def picture(page: Page, url: str, document: str, number: int) -> int:
    return page.request.get(f"{url}/page-images/{document}/{number}?w=160").status


def refuse_hidden_targets(page: Page, url: str, study_id: int) -> None:
    """A submission that names what is hidden, by guessed neutral names or by its own key, is not accepted."""
    work = page.request.get(f"{url}/api/studies/{study_id}/work").json()["items"][0]
    assert work["units"] == {"claim_ok": ["claim:C1"], "image_ok": ["image:I1"]}
    for target in ("claim:C2", "claim:gold-1"):
        labels = [{"criterion": "claim_ok", "target": claim, "value": "yes"} for claim in ("claim:C1", target)] + [
            {"criterion": "image_ok", "target": "image:I1", "value": "yes"}
        ]
        body = {
            "uid": uuid.uuid4().hex,
            "assignment": work["assignment"],
            "sitting": work["sitting"],
            "step": 0,
            "labels": labels,
            "comment": None,
            "flag": False,
            "seconds": 1,
        }
        answer = page.request.post(
            f"{url}/api/studies/{study_id}/submit", data=body, headers={"Origin": url, "X-Assay": "1"}
        )
        assert answer.status in (400, 422), answer.text()
        assert target in answer.text()
