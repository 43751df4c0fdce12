"""Gold made on the page alone: looked for, labelled as an annotator would, left out of the draw, kept in a draft."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from db.designing.drafts import drafts_of
from db.designing.written import written_design
from db.items.read import list_items
from db.studies.design import list_studies
from tests.e2e.conftest import NewPage, another_page, screenshot, sign_in
from tests.e2e.scene import judgement, make_scene
from tests.e2e.test_own_protocol import press
from tests.servers import running_server

pytestmark = pytest.mark.e2e


@pytest.mark.slow
def test_gold_is_looked_for_and_labelled_on_the_page_and_a_draft_is_previewed(
    tmp_path: Path, new_page: NewPage
) -> None:
    with running_server(tmp_path / "home") as server:
        scene = make_scene(server, tmp_path / "in", items=3)
        first = list_items(server.db, server.admin, scene.project_id)[0].external_id
        researcher = new_page(width=1366, height=768)
        sign_in(researcher, server, "admin")
        page = another_page(researcher)
        page.goto(f"{server.url}/studies?project={scene.project_id}&new=1")
        name = page.get_by_role("textbox", name="Name of the study")
        name.fill("With gold")
        press(name)
        expect(page.get_by_role("button", name="Create study")).to_be_enabled()
        page.locator("summary", has_text="Gold, repeats, qualification").click()
        search = page.get_by_role("textbox", name="Or label here: search").first
        search.fill(first)
        search.press("Enter")
        item = page.get_by_role("combobox", name="Item", exact=True).first
        expect(item).to_have_value(re.compile(f"^{re.escape(first)}"))
        press(page.get_by_role("button", name="Label…").first)
        expect(judgement(page)).to_be_visible()
        expect(page.get_by_test_id("preview")).to_contain_text("a comment (c) explains its label")
        page.keyboard.press("1")
        page.keyboard.press("1")
        page.keyboard.press("c")
        page.keyboard.type("Nothing is pointed at.")
        page.keyboard.press("Enter")
        press(page.get_by_test_id("submit"))
        expect(judgement(page)).to_have_attribute("data-step", "1")
        for _ in range(3):
            page.keyboard.press("1")
        page.keyboard.press("A")
        screenshot(page, "gold-on-the-page")
        press(page.get_by_test_id("submit"))
        expect(page.get_by_test_id("preview")).to_be_hidden()
        gold = page.locator("summary", has_text="Gold, repeats, qualification").locator("..")
        expect(gold).to_contain_text("Question is self-contained: True")
        expect(gold).to_contain_text("(Nothing is pointed at.)")
        expect(page.get_by_test_id("left-out")).to_contain_text("right labels are known: 1 item as gold")
        press(page.get_by_role("button", name="Save as draft"))
        page.wait_for_url("**/study?**")
        [draft] = drafts_of(server.db, server.admin, scene.project_id)
        assert draft.design.gold is not None
        labels = {label.criterion: label for label in draft.design.gold.labels}
        assert {label.item for label in draft.design.gold.labels} == {first}
        assert labels["self_contained"].value == "true"
        assert "Nothing is pointed at." in {label.explanation for label in labels.values()}
        assert any(label.target.startswith("evidence:") for label in draft.design.gold.labels)

        press(page.get_by_role("button", name="Preview as annotator"))
        expect(page.get_by_test_id("preview")).to_contain_text("nothing is saved")
        expect(page.get_by_test_id("preview-step")).to_have_count(2)
        page.get_by_test_id("preview-step").last.click()
        expect(judgement(page)).to_have_attribute("data-step", "1")
        screenshot(page, "draft-previewed")
        press(page.get_by_test_id("preview-close"))
        expect(page.get_by_test_id("preview")).to_be_hidden()
        press(page.get_by_role("button", name="Start"))
        page.wait_for_url("**/study?study=**")
        study = list_studies(server.db, server.admin, scene.project_id)[-1]
        assert (study.name, study.n_items) == ("With gold", 2), "the third is gold"
        assert written_design(server.db, server.admin, study.study_id).design.gold == draft.design.gold
