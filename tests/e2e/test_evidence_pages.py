"""Sixty pages with three hops, judged with the keyboard alone; what the import says of them stays off the wire."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from playwright.sync_api import expect
from sqlmodel import col, select

from db.models import StoredLabel
from tests.e2e.conftest import NewPage, screenshot, sign_in, turn
from tests.e2e.own_items import make_own_scene
from tests.e2e.scene import wait_until_saved
from tests.e2e.test_disclosure import Wire
from tests.exports.results.test_evidence_pages import HOPS, LONG
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_sixty_pages_and_three_hops_by_keyboard(
    new_page: NewPage, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    (folder / "documents").mkdir(parents=True)
    with pymupdf.open() as pdf:
        for number in range(1, 61):
            pdf.new_page().insert_text((72, 72), f"Page {number} of the report.")
        pdf.save(folder / "documents" / "ferrand.pdf")
    row = {
        "id": "q1",
        "question": "Which division used most energy in the year of the closure, and who runs it?",
        "answer": "SECRET answer",
        "documents": ["ferrand.pdf"],
        "hops": [{"key": hop, "question": f"What of {hop}?", "answer": "SECRET step"} for hop in HOPS],
        "evidence": [
            {"key": "gold-1", "kind": "page", "role": "gold", "document": "ferrand.pdf", "pages": [9], "hop": 1}
        ],
    }
    with running_server(tmp_path_factory.mktemp("home")) as server:
        scene = make_own_scene(server, folder, [row], protocol="evidence_pages", overlap=1)
        page = new_page(width=1366, height=768)
        wire = Wire(page)
        sign_in(page, server, "ada")
        page.goto(scene.address())
        thumbs, tabs = page.get_by_test_id("page-thumb"), page.get_by_test_id("hop-tab")
        at = page.locator('.page-thumb[aria-current="true"] .th-number')
        expect(thumbs).to_have_count(60)
        expect(thumbs.locator("img")).to_have_count(60)
        assert not [url for url in wire.pictures if "w=160" in url and "-60" not in url], "all thumbnails together"
        for hop, pages in LONG.items():
            here = 1
            expect(page.locator(".hop-text")).to_contain_text(f"What of {hop}?")
            for number in pages:
                by = "]" if hop == "h1" else "ArrowRight"
                for _ in range(number - here):
                    page.keyboard.press(by)
                expect(at).to_have_text(str(number))
                expect(page.get_by_test_id("page-bar")).to_contain_text(f"Page {number}")
                page.keyboard.press("1")
                here = number + 1
            if hop == "h2":
                for shown in (thumbs.first, thumbs.last, page.get_by_test_id("chain"), page.get_by_test_id("submit")):
                    expect(shown).to_be_in_viewport(ratio=1)
                expect(tabs.nth(0)).to_contain_text("✓")
                expect(page.get_by_test_id("chain-link")).to_have_text(
                    ["Hop 1: p. 9, 10", "Hop 2: p. 14 so far", "Hop 3: open"]
                )
                screenshot(page, "evidence-pages-60")
                turn(page, "dark")
                screenshot(page, "evidence-pages-60-dark")
                page.set_viewport_size({"width": 683, "height": 384})  # a laptop's screen at 200 %
                page.keyboard.press("[")
                page.keyboard.press("]")
                bar = page.get_by_test_id("page-bar")
                for shown in (
                    bar.get_by_text("What of h2?"),
                    bar.get_by_role("radiogroup"),
                    page.get_by_test_id("submit"),
                ):
                    expect(shown).to_be_in_viewport(ratio=1)
                screenshot(page, "evidence-pages-200")
                page.set_viewport_size({"width": 1366, "height": 768})
            page.keyboard.press("A")
        page.keyboard.press("h")  # from the last hop to the first, at the page in view
        expect(at).to_have_text("42")
        row = thumbs.nth(1).evaluate(
            "(thumb) => [...thumb.parentElement.children].filter((t) => t.offsetTop === thumb.offsetTop).length"
        )
        page.keyboard.press("ArrowUp")
        expect(at).to_have_text(str(42 - row))
        page.keyboard.press("Backspace")
        page.keyboard.press("h")
        page.keyboard.press("h")
        expect(page.get_by_test_id("submit")).to_contain_text("To hop 1")
        page.keyboard.press("Enter")
        expect(at).to_have_text(str(42 - row))
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        wait_until_saved(page)
        with server.db.read() as session:
            given = session.execute(
                select(StoredLabel.target, StoredLabel.value).where(col(StoredLabel.criterion) == "evidence_page")
            ).all()
        assert len(given) == 180
        evidence = {target for target, value in given if value == "evidence"}
        assert evidence == {f"page:ferrand.pdf:{n}|hop:{hop}" for hop, pages in LONG.items() for n in pages}
        for hidden in ("SECRET", "gold-1", "page_labels"):
            assert not wire.has(hidden)
