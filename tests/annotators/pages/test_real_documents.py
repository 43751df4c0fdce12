"""Every page of real reports and papers is drawn, with text, without complaint."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.pages import Renderer, sniff
from tests.annotators.pages import makers

DATA = Path(__file__).parents[4] / "shared" / "data"
DOCUMENTS = [
    DATA / "mmlongbench" / "documents" / "Independents-Report.pdf",
    DATA / "mmlongbench" / "documents" / "2023.acl-long.386.pdf",
    DATA / "fathoms" / "papers" / "2404.10788v1.pdf",
]
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data beside the checkout")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_page_of_a_real_document_is_drawn(renderer: Renderer, path: Path) -> None:
    media_type = sniff(path.read_bytes(), path.name)
    facts = renderer.inspect(path, media_type)
    assert facts.has_text
    assert facts.note == ""
    for number, (width, height) in enumerate(facts.sizes, start=1):
        page = renderer.render(path, media_type, number, 800)
        picture = makers.shown(page.data)
        assert page.note == ""
        assert picture.size == (page.width, page.height)
        assert page.width / page.height == pytest.approx(width / height, rel=0.01)
        assert len(picture.convert("L").getcolors() or []) > 2
    assert sum(len(renderer.page_text(path, media_type, n)) for n in range(1, facts.n_pages + 1)) > 10_000
