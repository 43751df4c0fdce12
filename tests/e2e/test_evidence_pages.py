"""Sixty pages with three hops, judged with the keyboard alone; what the import says of them stays off the wire."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from playwright.sync_api import expect
from sqlmodel import col, select

from db.models import StoredLabel
from tests.e2e.conftest import NewPage, screenshot, sign_in
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
        expect(page.locator(".page-chip")).to_have_count(60)
        for hop, pages in LONG.items():
            at = 1
            expect(page.locator(".hop-text")).to_contain_text(f"What of {hop}?")
            for number in pages:
                for _ in range(number - at):
                    page.keyboard.press("]")
                expect(page.locator('.page-chip[aria-current="true"]')).to_have_text(str(number))
                page.keyboard.press("1")
                at = number + 1
            if hop == "h2":
                screenshot(page, "evidence-pages-60")
            page.keyboard.press("A")
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
