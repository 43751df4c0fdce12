"""Pages of PDFs, ordinary, damaged and hostile, as the renderer draws them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from annotators.errors import InvalidInput
from annotators.pages import Limits, PageNotDrawn, Renderer, Why
from annotators.pages.documents.words import PageWords
from tests.annotators.pages import makers

PDF = "application/pdf"


def test_a_pdf_tells_its_pages_and_draws_each_at_the_width_asked_for(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "two.pdf", makers.pdf("first words", "second words"))
    facts = renderer.inspect(path, PDF)
    assert (facts.n_pages, facts.sizes, facts.has_text, facts.note) == (2, [(300, 400), (300, 400)], True, "")
    page = renderer.render(path, PDF, 2, 600)
    assert (page.width, page.height, page.note) == (600, 800, "")
    picture = makers.shown(page.data)
    assert picture.size == (600, 800)
    assert makers.is_near(picture.getpixel((60, 60)), makers.RED)
    assert makers.is_near(picture.getpixel((500, 60)), makers.WHITE)
    assert "second words" in renderer.page_text(path, PDF, 2)
    assert "second" not in renderer.page_text(path, PDF, 1)


def test_a_rotated_page_is_drawn_as_displayed(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "turned.pdf", makers.pdf("turned", rotate=90))
    assert renderer.inspect(path, PDF).sizes == [(400, 300)]
    picture = makers.shown(renderer.render(path, PDF, 1, 800).data)
    assert picture.size == (800, 600)
    # Turned clockwise by 90°, the top left corner comes to the top right.
    assert makers.is_near(picture.getpixel((740, 60)), makers.RED)
    assert makers.is_near(picture.getpixel((60, 60)), makers.WHITE)


def test_pages_of_mixed_sizes_keep_their_shapes(renderer: Renderer, tmp_path: Path) -> None:
    document = makers.mupdf.open()
    document.new_page(width=200, height=100)
    document.new_page(width=100, height=200)
    path = makers.put(tmp_path, "mixed.pdf", document.tobytes())
    assert renderer.inspect(path, PDF).sizes == [(200, 100), (100, 200)]
    assert [renderer.render(path, PDF, n, 480).height for n in (1, 2)] == [240, 960]
    assert not renderer.inspect(path, PDF).has_text


def test_black_text_becomes_a_png_of_few_greys_and_colour_a_jpeg(renderer: Renderer, tmp_path: Path) -> None:
    grey = renderer.render(makers.put(tmp_path, "grey.pdf", makers.grey_pdf("only black words")), PDF, 1, 800)
    colour = renderer.render(makers.put(tmp_path, "colour.pdf", makers.pdf("words")), PDF, 1, 800)
    assert grey.media_type == "image/png"
    assert len(makers.shown(grey.data).getcolors() or []) <= 16
    assert colour.media_type == "image/jpeg"


def test_encryption_with_an_empty_password_does_not_matter(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "open.pdf", makers.encrypted_pdf(""))
    assert renderer.inspect(path, PDF).n_pages == 1
    assert "sealed" in renderer.page_text(path, PDF, 1)


def test_a_pdf_with_a_password_says_so(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "0a1b", makers.encrypted_pdf("secret"))
    with pytest.raises(InvalidInput, match=r"sealed\.pdf cannot be opened.*password; save a copy without a password"):
        renderer.inspect(path, PDF, name="sealed.pdf")
    with pytest.raises(PageNotDrawn, match="protected with a password") as caught:
        renderer.render(path, PDF, 1, 480)
    assert caught.value.why is Why.PASSWORD


def test_random_bytes_with_a_pdf_header_are_refused(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "noise.pdf", b"%PDF-1.7\n" + os.urandom(20_000))
    with pytest.raises(InvalidInput, match=r"noise\.pdf cannot be opened"):
        renderer.inspect(path, PDF)
    with pytest.raises(PageNotDrawn) as caught:
        renderer.render(path, PDF, 1, 480)
    assert caught.value.why is Why.BROKEN


def test_a_truncated_pdf_shows_what_is_left_and_says_that_it_is_damaged(renderer: Renderer, tmp_path: Path) -> None:
    whole = makers.pdf("first words", "second words", "third words")
    path = makers.put(tmp_path, "cut.pdf", whole[: len(whole) - 300])
    facts = renderer.inspect(path, PDF)
    assert "damaged" in facts.note
    assert facts.n_pages == len(facts.sizes) == 3
    assert "first words" in renderer.page_text(path, PDF, 1)


def test_a_damaged_page_is_not_shown_as_an_empty_one(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "damaged.pdf", makers.pdf_with_damaged_content())
    with pytest.raises(PageNotDrawn, match="damaged") as caught:
        renderer.render(path, PDF, 1, 480)
    assert caught.value.why is Why.BROKEN


def test_a_page_with_nothing_on_it_is_drawn(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "blank.pdf", makers.raw_pdf(b""))
    assert makers.shown(renderer.render(path, PDF, 1, 160).data).getcolors() == [(160 * 214, makers.WHITE)]


@pytest.mark.parametrize("number", [0, -1, 2, 10**9])
def test_a_page_that_does_not_exist_is_named(renderer: Renderer, tmp_path: Path, number: int) -> None:
    path = makers.put(tmp_path, "one.pdf", makers.pdf("one"))
    with pytest.raises(PageNotDrawn, match=f"has 1 page; there is no page {number:,}") as caught:
        renderer.render(path, PDF, number, 480)
    assert caught.value.why is Why.PAGE


def test_a_missing_file_is_not_called_damaged(renderer: Renderer, tmp_path: Path) -> None:
    with pytest.raises(PageNotDrawn, match="missing") as caught:
        renderer.render(tmp_path / "gone.pdf", PDF, 1, 480)
    assert caught.value.why is Why.MISSING


@pytest.mark.parametrize("box", ["0 0 1000000 1000000", "0 0 14400 10", "0 0 10 14400", "0 0 0 0", "-5 -5 -500 -500"])
def test_any_page_box_gives_a_picture_of_bounded_area(renderer: Renderer, tmp_path: Path, box: str) -> None:
    path = makers.put(tmp_path, "box.pdf", makers.raw_pdf(b"1 0 0 rg 0 0 5 5 re f", box=box))
    page = renderer.render(path, PDF, 1, 3600)
    assert 1 <= page.width <= 3600
    assert 1 <= page.height <= 16_001
    assert page.width * page.height <= 20_100_000
    assert makers.shown(page.data).size == (page.width, page.height)


def test_a_wide_page_is_scaled_down_to_the_area_allowed(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "tall.pdf", makers.raw_pdf(b"", box="0 0 100 400"))
    page = renderer.render(path, PDF, 1, 3600)
    assert 19_000_000 <= page.width * page.height <= 20_100_000
    assert page.height == pytest.approx(4 * page.width, abs=4)


def test_a_page_that_takes_for_ever_is_stopped_at_the_time_limit(tmp_path: Path) -> None:
    endless = makers.put(tmp_path, "endless.pdf", makers.endless_pdf())
    usual = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    with Renderer(Limits(seconds=1.0), workers=1) as renderer:
        renderer.render(usual, PDF, 1, 160)
        (before,) = makers.worker_pids(renderer)
        with pytest.raises(PageNotDrawn, match="longer than the 1 s") as caught:
            renderer.render(endless, PDF, 1, 160)
        assert caught.value.why is Why.TIME
        assert renderer.render(usual, PDF, 1, 160).width == 160
        assert makers.worker_pids(renderer) != [before]
        with pytest.raises(ProcessLookupError):
            os.kill(before, 0)


@pytest.mark.parametrize("children", ["[{own} 0 R {own} 0 R]", "{own} 0 R", "[0 0 0]"])
def test_a_tagged_pdf_is_shown_even_if_its_structure_runs_in_circles(
    renderer: Renderer, tmp_path: Path, children: str
) -> None:
    """Some renderers follow the tree of a tagged PDF for ever."""
    document = makers.mupdf.open("pdf", makers.pdf("tagged words"))
    root, element = document.get_new_xref(), document.get_new_xref()
    document.update_object(root, f"<</Type/StructTreeRoot/K[{element} 0 R]>>")
    kids = children.format(own=element)
    document.update_object(element, f"<</Type/StructElem/S/Document/P {root} 0 R/K {kids}>>")
    document.xref_set_key(document.pdf_catalog(), "StructTreeRoot", f"{root} 0 R")
    document.xref_set_key(document.pdf_catalog(), "MarkInfo", "<</Marked true>>")
    path = makers.put(tmp_path, "tagged.pdf", document.tobytes())
    assert renderer.inspect(path, PDF).n_pages == 1
    assert renderer.render(path, PDF, 1, 480).width == 480
    assert "tagged words" in renderer.page_text(path, PDF, 1)
    words = renderer.words(path, PDF, [1], 1.0)[1]
    assert isinstance(words, PageWords)
    assert words.texts[-2:] == ["tagged", "words"]


@pytest.mark.slow
def test_a_page_that_needs_too_much_memory_says_so(tmp_path: Path) -> None:
    # 12,000 × 12,000 samples of 4 bytes are 576 MB; the worker may have 400.
    jpeg2000 = makers.saved(makers.Image.new("L", (12_000, 12_000), 128), "JPEG2000")
    document = makers.mupdf.open()
    page = document.new_page()
    page.insert_image(page.rect, stream=jpeg2000)
    path = makers.put(tmp_path, "large.pdf", document.tobytes())
    usual = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    with Renderer(Limits(memory_bytes=400 << 20), workers=1) as renderer:
        with pytest.raises(PageNotDrawn, match="more memory than one page may use") as caught:
            renderer.render(path, PDF, 1, 480)
        assert caught.value.why is Why.MEMORY
        assert renderer.render(usual, PDF, 1, 160).width == 160
