"""Plain text and Markdown as pages: laid out the same every time, in any script, and never reading anything else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PIL import Image

from annotators.pages import PageNotDrawn, Renderer
from tests.annotators.pages import makers

TEXT, MARKDOWN = "text/plain", "text/markdown"
ARABIC = "بلغ عدد الزوار في الميناء ألفا ومئتين خلال الصيف"
CHINESE = "今年夏天港口的游客人数有所增加"


def written(folder: Path, text: str) -> Path:
    return makers.put(folder, "text", text.encode())


def dark_box(data: bytes) -> tuple[int, int, int, int]:
    """The box around everything dark."""
    found = makers.shown(data).convert("L").point([255] * 128 + [0] * 128).getbbox()
    assert found is not None
    return found


def test_plain_text_is_laid_out_on_a4_pages_with_its_own_lines(renderer: Renderer, tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join(f"Line {number}" for number in range(1, 201)))
    facts = renderer.inspect(path, TEXT)
    assert facts.n_pages == 5
    assert facts.sizes == [(595, 842)] * 5
    assert facts.has_text
    pages = [renderer.page_text(path, TEXT, number) for number in range(1, 6)]
    lines = [line.strip() for page in pages for line in page.splitlines() if line.strip()]
    assert lines == [f"Line {number}" for number in range(1, 201)]
    page = renderer.render(path, TEXT, 1, 800)
    assert (page.width, page.media_type) == (800, "image/png")


def test_the_same_text_gives_the_same_pages_in_another_process(tmp_path: Path) -> None:
    path = written(tmp_path, f"# Title\n\n{ARABIC}\n\n{CHINESE}\n\n" + "Words that wrap. " * 600)
    seen = []
    for _ in range(2):
        with Renderer(workers=1) as renderer:
            facts = renderer.inspect(path, MARKDOWN)
            seen.append((facts, [renderer.render(path, MARKDOWN, n, 480).data for n in range(1, facts.n_pages + 1)]))
    assert seen[0] == seen[1]
    assert seen[0][0].n_pages > 1


@pytest.mark.parametrize("media_type", [TEXT, MARKDOWN])
@pytest.mark.parametrize("text", [ARABIC, CHINESE, "Ελληνικά", "русский", "日本語", "한국어"])
def test_text_in_any_script_is_drawn_and_can_be_copied(
    renderer: Renderer, tmp_path: Path, media_type: str, text: str
) -> None:
    path = written(tmp_path, text)
    assert text in renderer.page_text(path, media_type, 1)
    left, top, right, bottom = dark_box(renderer.render(path, media_type, 1, 800).data)
    assert right - left > 20
    assert bottom - top > 5


@pytest.mark.parametrize("media_type", [TEXT, MARKDOWN])
def test_arabic_lines_begin_at_the_right(renderer: Renderer, tmp_path: Path, media_type: str) -> None:
    arabic = dark_box(renderer.render(written(tmp_path, ARABIC), media_type, 1, 800).data)
    english = dark_box(renderer.render(written(tmp_path, "Visitors rose in summer"), media_type, 1, 800).data)
    # The margins are 56 of 595 points: 75 pixels.
    assert arabic[2] == pytest.approx(725, abs=6)
    assert arabic[0] > 300
    assert english[0] == pytest.approx(75, abs=6)


def test_glyphs_are_real_and_not_boxes(renderer: Renderer, tmp_path: Path) -> None:
    shapes = set()
    for character in "今年夏天港口":
        data = renderer.render(written(tmp_path, character), TEXT, 1, 1600).data
        shapes.add(makers.shown(data).crop(dark_box(data)).tobytes())
    assert len(shapes) == 6


def test_a_form_feed_begins_a_page(renderer: Renderer, tmp_path: Path) -> None:
    path = written(tmp_path, "first\fsecond\fthird\f\n")
    assert renderer.inspect(path, TEXT).n_pages == 3
    assert [renderer.page_text(path, TEXT, n).strip() for n in (1, 2, 3)] == ["first", "second", "third"]


def test_columns_of_plain_text_stay_aligned(renderer: Renderer, tmp_path: Path) -> None:
    path = written(tmp_path, "iiiiii     X\nWWWWWW     X\n")
    shown = makers.shown(renderer.render(path, TEXT, 1, 2400).data).convert("L")
    halves = []
    for top, bottom in ((200, 300), (300, 400)):
        row = shown.crop((200, top, 2400, bottom)).point([255] * 128 + [0] * 128)
        box = row.getbbox()
        halves.append(None if box is None else box[2])
    assert None not in halves
    assert halves[0] == pytest.approx(halves[1], abs=2)


def test_markup_in_text_is_shown_not_obeyed(renderer: Renderer, tmp_path: Path) -> None:
    text = 'a <b>b</b> <script>alert("x")</script> &amp; <img src="/etc/hostname">'
    for media_type in (TEXT, MARKDOWN):
        seen = renderer.page_text(written(tmp_path, text), media_type, 1)
        assert '<script>alert("x")</script>' in seen
        assert '<img src="/etc/hostname">' in seen


def test_markdown_is_laid_out_and_its_pictures_are_only_described(renderer: Renderer, tmp_path: Path) -> None:
    red = makers.put(tmp_path, "red.png", makers.saved(Image.new("RGB", (400, 400), makers.RED), "PNG"))
    text = f"# Visitors\n\n| port | n |\n|---|--:|\n| north | 12 |\n\n- one\n- **two**\n\n![the pier]({red})\n"
    path = written(tmp_path, text)
    seen = renderer.page_text(path, MARKDOWN, 1)
    assert "Visitors" in seen
    assert "#" not in seen
    assert "|" not in seen
    assert "**" not in seen
    assert "[the pier]" in seen
    # A page without the picture has no colour.
    assert renderer.render(path, MARKDOWN, 1, 800).media_type == "image/png"


@pytest.mark.by_the_clock
def test_an_endless_word_is_broken_quickly_and_copied_whole(renderer: Renderer, tmp_path: Path) -> None:
    path = written(tmp_path, "A" * 200_000)
    began = time.monotonic()
    facts = renderer.inspect(path, TEXT)
    assert time.monotonic() - began < 10
    copied = "".join(renderer.page_text(path, TEXT, n) for n in range(1, facts.n_pages + 1))
    assert copied.replace("\n", "") == "A" * 200_000


def test_text_that_lost_its_encoding_says_so(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "old.txt", "Größe".encode("latin-1"))
    with pytest.raises(PageNotDrawn, match="save it as UTF-8"):
        renderer.render(path, TEXT, 1, 480)
