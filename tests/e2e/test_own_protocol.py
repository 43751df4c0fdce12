"""A protocol of a researcher's own, by keyboard: written in the form, tried on an item, used, labelled and exported."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from db.studies.design import list_studies
from db.studies.library import list_protocols
from exports.bundles.bundle import export_project
from tests.e2e.conftest import NewPage, another_page, screenshot, sign_in
from tests.e2e.scene import judgement, make_scene, wait_until_saved
from tests.e2e.test_disclosure import Wire
from tests.makers import read_guidelines
from tests.servers import running_server

pytestmark = pytest.mark.e2e


def press(there: Locator, key: str = "Enter") -> None:
    """Press a key on something that the keyboard has been brought to."""
    there.focus()
    there.press(key)


def put(page: Page, label: str, text: str) -> None:
    """Type into a field, and wait until the YAML says it too."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Tab")
    expect(page.get_by_label("YAML", exact=True)).to_have_value(re.compile(re.escape(text)))


def test_a_protocol_is_written_tried_and_used(tmp_path: Path, new_page: NewPage) -> None:
    with running_server(tmp_path / "home") as server:
        scene = make_scene(server, tmp_path / "in", items=2)
        researcher = new_page(width=1366, height=768)
        sign_in(researcher, server, "admin")
        page = another_page(researcher)
        wire = Wire(page)
        page.goto(f"{server.url}/protocols?project={scene.project_id}&edit=grounding")
        put(page, "Title", "النبرة <b>")
        put(page, "Name in data and commands", "own_grounding")
        expect(page.get_by_test_id("protocol-problems")).to_contain_text("Nothing is wrong")
        screenshot(page, "own-protocol-form")
        again = another_page(researcher)  # as after a reload: nothing that was written is lost
        again.goto(f"{server.url}/protocols?project={scene.project_id}")
        again.get_by_role("link", name=re.compile(r"^grounding, ")).click()
        expect(again.get_by_label("YAML", exact=True)).to_have_value(re.compile("name: own_grounding"))
        expect(again.get_by_label("Title", exact=True)).to_have_value("النبرة <b>")
        again.close()

        press(page.get_by_role("button", name="Preview", exact=True))
        expect(judgement(page)).to_be_visible()
        expect(page.get_by_test_id("preview")).to_contain_text("nothing is saved")
        assert not wire.has("distractor")
        expect(page.locator(".phrases-line")).to_contain_text("standby pump")
        page.keyboard.press("A")
        page.keyboard.press("Enter")
        expect(judgement(page)).to_contain_text("Nothing was saved")
        screenshot(page, "own-protocol-preview")
        press(page.get_by_test_id("preview-close"))
        expect(page.get_by_test_id("preview")).to_be_hidden()

        press(page.get_by_role("button", name="Save to the project"))
        expect(page.get_by_text("Saved as own_grounding@1.")).to_be_visible()
        [entry] = list_protocols(server.db, server.admin, scene.project_id)
        assert entry.kept.title == "النبرة <b>"
        press(page.get_by_role("button", name="New study"))
        expect(page.get_by_role("combobox", name="Protocol of the project")).to_be_visible()
        suggestions = page.get_by_role("combobox", name="Suggestions of models")
        suggestions.focus()
        page.keyboard.type("after")
        page.keyboard.press("Enter")
        expect(suggestions).to_have_value("Shown after one's own label, which can then be changed")
        press(page.get_by_role("button", name="Create study"))
        page.wait_for_url("**/study?**")
        study = list_studies(server.db, server.admin, scene.project_id)[-1]
        assert study.protocol == "النبرة <b>"

        read_guidelines(server.db, study.study_id)
        ada = new_page(width=1366, height=768)
        sign_in(ada, server, "ada")
        ada = another_page(ada)
        told = Wire(ada)
        ada.goto(f"{server.url}/annotate?study={study.study_id}")
        expect(judgement(ada)).to_be_visible()
        ada.wait_for_timeout(500)  # look-ahead
        assert not told.has('"suggestions": [')
        assert not told.has('"suggestions":[')
        ada.keyboard.press("1")
        ada.keyboard.press("A")
        ada.keyboard.press("Enter")
        expect(judgement(ada)).to_contain_text("Your labels are saved. What a model suggests is marked now")
        assert told.has('"suggestions":[')
        screenshot(ada, "own-protocol-after")
        ada.wait_for_timeout(700)  # a second Enter in the same blink is the first one's
        ada.keyboard.press("2")
        ada.keyboard.press("Enter")
        expect(judgement(ada)).not_to_contain_text("Your labels are saved.")
        wait_until_saved(ada)

        to = tmp_path / "out"
        export_project(
            server.db, server.admin, scene.project_id, to=to, study_id=study.study_id, formats=("labels",), names=True
        )
        [labels] = to.rglob("labels.csv")
        with labels.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["annotator"] for row in rows} == {"ada"}
        assert {row["protocol"] for row in rows} == {"own_grounding"}
        assert sorted({row["value"] for row in rows}) == ["not_required", "required"]
        shown = "answer documents evidence question"
        assert {(row["shown"], row["current"]) for row in rows} == {(shown, "false"), (f"{shown} suggestions", "true")}
