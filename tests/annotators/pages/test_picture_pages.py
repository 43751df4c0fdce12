"""Pages of pictures: orientation, frames, depth, transparency, and pictures that are traps."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from annotators.errors import InvalidInput
from annotators.pages import Limits, PageNotDrawn, Renderer, Why, sniff
from annotators.pages.documents import kinds
from annotators.pages.documents.opened import PictureDocument
from tests.annotators.pages import makers


def opened(folder: Path, data: bytes) -> tuple[Path, str]:
    media_type = sniff(data, "picture")
    return makers.put(folder, "picture", data), media_type


@pytest.mark.parametrize("media", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_a_picture_is_a_document_of_one_page_that_is_never_enlarged(
    renderer: Renderer, tmp_path: Path, media: str
) -> None:
    path, media_type = opened(tmp_path, makers.picture(media, (800, 400)))
    facts = renderer.inspect(path, media_type)
    assert (facts.n_pages, facts.has_text) == (1, False)
    # Without a declared resolution: 96 pixels an inch, 72 points an inch.
    assert facts.sizes == [(600, 300)]
    assert (renderer.render(path, media_type, 1, 480).width, renderer.render(path, media_type, 1, 3600).width) == (
        480,
        800,
    )
    shown = makers.shown(renderer.render(path, media_type, 1, 480).data)
    assert makers.is_near(shown.getpixel((60, 120)), makers.RED)
    assert makers.is_near(shown.getpixel((420, 120)), makers.BLUE)
    assert renderer.page_text(path, media_type, 1) == ""


@pytest.mark.parametrize("media", ["PNG", "JPEG", "WEBP", "TIFF"])
# Where the stored left (red) half is, as displayed: EXIF tag 274, TIFF 6.0 section 8.
@pytest.mark.parametrize(
    ("orientation", "red"),
    [(2, "right"), (3, "right"), (4, "left"), (5, "top"), (6, "top"), (7, "bottom"), (8, "bottom")],
)
def test_the_orientation_that_a_camera_noted_is_honoured(
    renderer: Renderer, tmp_path: Path, media: str, orientation: int, red: str
) -> None:
    path, media_type = opened(tmp_path, makers.picture(media, (96, 48), orientation=orientation))
    page = renderer.render(path, media_type, 1, 160)
    size = (96, 48) if red in {"left", "right"} else (48, 96)
    assert (page.width, page.height) == size
    assert renderer.inspect(path, media_type).sizes == [(size[0] * 0.75, size[1] * 0.75)]
    middle = (page.width // 2, page.height // 2)
    places = {"left": (8, middle[1]), "right": (page.width - 8, middle[1])}
    places |= {"top": (middle[0], 8), "bottom": (middle[0], page.height - 8)}
    other = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}[red]
    shown = makers.shown(page.data)
    assert makers.is_near(shown.getpixel(places[red]), makers.RED)
    assert makers.is_near(shown.getpixel(places[other]), makers.BLUE)


def test_a_declared_resolution_gives_the_size_on_paper(renderer: Renderer, tmp_path: Path) -> None:
    path, media_type = opened(tmp_path, makers.picture("PNG", (600, 300), dpi=(300, 300)))
    assert renderer.inspect(path, media_type).sizes == [(pytest.approx(144, abs=0.1), pytest.approx(72, abs=0.1))]


def test_every_frame_of_a_tiff_is_a_page(renderer: Renderer, tmp_path: Path) -> None:
    path, media_type = opened(tmp_path, makers.tiff((200, 100), (100, 200), (300, 300)))
    facts = renderer.inspect(path, media_type)
    assert facts.n_pages == 3
    assert facts.sizes == [(150, 75), (75, 150), (225, 225)]
    page = renderer.render(path, media_type, 2, 480)
    assert (page.width, page.height) == (100, 200)
    assert makers.is_near(makers.shown(page.data).getpixel((20, 40)), makers.RED)
    assert makers.is_near(makers.shown(page.data).getpixel((80, 160)), makers.WHITE)
    with pytest.raises(PageNotDrawn, match="has 3 pages; there is no page 4"):
        renderer.render(path, media_type, 4, 480)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (Image.new("I;16", (50, 50), 32_768), (128, 128, 128)),
        (Image.new("1", (50, 50), 1), makers.WHITE),
        (Image.new("LA", (50, 50), (0, 0)), makers.WHITE),
        (Image.new("RGBA", (50, 50), (255, 0, 0, 255)), makers.RED),
        (Image.new("RGB", (50, 50), makers.BLUE).quantize(4), makers.BLUE),
    ],
    ids=["16 bits", "1 bit", "transparent", "opaque", "palette"],
)
def test_every_depth_is_shown_with_its_colours_on_white(
    renderer: Renderer, tmp_path: Path, made: Image.Image, expected: tuple[int, int, int]
) -> None:
    path, media_type = opened(tmp_path, makers.saved(made, "PNG"))
    assert makers.is_near(makers.shown(renderer.render(path, media_type, 1, 160).data).getpixel((25, 25)), expected)


def test_measured_values_are_stretched_to_what_can_be_seen(renderer: Renderer, tmp_path: Path) -> None:
    made = Image.new("F", (60, 60), -1.5)
    made.paste(2.5, (30, 0, 60, 60))
    path, media_type = opened(tmp_path, makers.saved(made, "TIFF"))
    shown = makers.shown(renderer.render(path, media_type, 1, 160).data)
    assert makers.is_near(shown.getpixel((10, 30)), (0, 0, 0))
    assert makers.is_near(shown.getpixel((50, 30)), makers.WHITE)


def test_a_cmyk_scan_is_shown_in_rgb(renderer: Renderer, tmp_path: Path) -> None:
    path, media_type = opened(tmp_path, makers.saved(Image.new("CMYK", (50, 50), (0, 255, 255, 0)), "JPEG"))
    assert makers.is_near(makers.shown(renderer.render(path, media_type, 1, 160).data).getpixel((25, 25)), makers.RED)


def test_a_decompression_bomb_is_refused(renderer: Renderer, tmp_path: Path) -> None:
    bomb = makers.png_bomb(14_000)
    assert len(bomb) < 100_000
    path, media_type = opened(tmp_path, bomb)
    with pytest.raises(InvalidInput, match="more than 150 million pixels; make it smaller"):
        renderer.inspect(path, media_type)
    with pytest.raises(PageNotDrawn) as caught:
        renderer.render(path, media_type, 1, 160)
    assert caught.value.why is Why.SIZE


def test_a_bomb_in_a_later_frame_is_refused_too(renderer: Renderer, tmp_path: Path) -> None:
    frames = [Image.new("1", (10, 10)), Image.new("1", (14_000, 14_000))]
    data = makers.saved(frames[0], "TIFF", save_all=True, append_images=frames[1:], compression="group4")
    path, media_type = opened(tmp_path, data)
    assert renderer.render(path, media_type, 1, 160).width == 10
    with pytest.raises(PageNotDrawn) as caught:
        renderer.render(path, media_type, 2, 160)
    assert caught.value.why is Why.SIZE


def test_a_picture_larger_than_the_memory_limit_says_so(tmp_path: Path) -> None:
    # 10,000 × 10,000 pixels of 4 bytes are 400 MB; the worker may have 300.
    path, media_type = opened(tmp_path, makers.saved(Image.new("RGB", (10_000, 10_000)), "PNG", compress_level=1))
    with Renderer(Limits(memory_bytes=300 << 20), workers=1) as small:
        with pytest.raises(PageNotDrawn, match="more memory") as caught:
            small.render(path, media_type, 1, 160)
        assert caught.value.why is Why.MEMORY


@pytest.mark.parametrize("media", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_a_truncated_picture_is_not_shown_as_a_whole_one(renderer: Renderer, tmp_path: Path, media: str) -> None:
    noise = Image.effect_noise((300, 300), 90).convert("RGB")
    data = makers.saved(noise, media)
    path, media_type = opened(tmp_path, data[: len(data) // 2])
    with pytest.raises(PageNotDrawn, match="damaged") as caught:
        renderer.render(path, media_type, 1, 160)
    assert caught.value.why is Why.BROKEN


def test_a_png_is_turned_by_what_stands_behind_its_pixels(tmp_path: Path) -> None:
    data = makers.picture("PNG", (80, 40), orientation=6)
    at = data.index(b"eXIf") - 4
    exif = data[at : at + 12 + int.from_bytes(data[at : at + 4], "big")]
    late = data.replace(exif, b"").replace(b"\0\0\0\0IEND", exif + b"\0\0\0\0IEND")
    for name, content in (("early.png", data), ("late.png", late)):
        path = makers.put(tmp_path, name, content)
        width, height = PictureDocument(path, kinds.PNG).facts().sizes[0]
        assert (round(width), round(height)) == (30, 60), name


def test_what_a_png_is_is_told_without_its_pixels(tmp_path: Path) -> None:
    """A picture of which nothing can be decoded, and whose chunks are whole, is told by its header."""
    data = makers.picture("PNG", (80, 40))
    at = data.index(b"IDAT")
    size = int.from_bytes(data[at - 4 : at], "big")
    path = makers.put(tmp_path, "pixels.png", data[: at + 4] + bytes(size + 4) + data[at + 8 + size :])
    with pytest.raises(Exception):  # noqa: B017 - whatever the library makes of it
        PictureDocument(path, kinds.PNG).draw(1, 80)
    assert PictureDocument(path, kinds.PNG).facts().sizes == [(60.0, 30.0)]
