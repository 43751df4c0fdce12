"""Parts of pages: the same picture as the whole page shows there, only larger, and never too large."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from annotators.errors import InvalidInput
from annotators.pages import PageCache, Renderer, check_crop
from annotators.pages.documents.opened import MAX_DRAWN_PIXELS, MAX_ENLARGED_WIDTH
from tests.annotators.pages import makers

PDF = "application/pdf"


@pytest.mark.parametrize("cropped", [False, True])
@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_a_part_shows_what_the_whole_page_shows_there(
    renderer: Renderer, tmp_path: Path, rotate: int, cropped: bool
) -> None:
    data = makers.pdf("Some words to be seen", rotate=rotate, crop=(10, 20, 280, 350) if cropped else None)
    path = makers.put(tmp_path, "page.pdf", data)
    whole = makers.shown(renderer.render(path, PDF, 1, 2400).data)
    crop = (0.25, 0.1, 0.75, 0.5)
    part = renderer.render(path, PDF, 1, 1200, crop)
    assert abs(part.width - 1200) <= 2
    box = (crop[0] * whole.width, crop[1] * whole.height, crop[2] * whole.width, crop[3] * whole.height)
    expected = whole.resize((part.width, part.height), box=box)
    difference = np.abs(np.asarray(expected, dtype=int) - np.asarray(makers.shown(part.data), dtype=int))
    assert difference.mean() < 3


def test_the_parts_of_a_page_fit_together_without_a_seam(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "page.pdf", makers.pdf("Tiles", size=(400, 400)))
    whole = makers.shown(renderer.render(path, PDF, 1, 1600).data)
    tiles = Image.new("RGB", (1600, 1600))
    for row in range(2):
        for column in range(2):
            part = renderer.render(path, PDF, 1, 800, (column / 2, row / 2, column / 2 + 0.5, row / 2 + 0.5))
            tiles.paste(makers.shown(part.data), (column * 800, row * 800))
    assert np.abs(np.asarray(whole, dtype=int) - np.asarray(tiles, dtype=int)).mean() < 1


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_part_of_a_picture_honours_its_orientation(renderer: Renderer, tmp_path: Path, orientation: int) -> None:
    path = makers.put(tmp_path, "photo.jpg", makers.picture("JPEG", (80, 40), orientation=orientation, quality=95))
    whole = makers.shown(renderer.render(path, "image/jpeg", 1, 3600).data)
    part = makers.shown(renderer.render(path, "image/jpeg", 1, 3600, (0.5, 0.5, 1, 1)).data)
    assert part.size == (whole.width // 2, whole.height // 2)  # never enlarged beyond its own pixels
    corner = whole.crop((whole.width // 2, whole.height // 2, whole.width, whole.height))
    assert np.abs(np.asarray(part, dtype=int) - np.asarray(corner, dtype=int)).mean() < 4


def test_a_narrow_part_is_bounded_in_pixels_and_in_enlargement(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "page.pdf", makers.pdf("narrow"))
    tall = renderer.render(path, PDF, 1, 3600, (0.5, 0, 0.51, 1))
    assert tall.width * tall.height <= MAX_DRAWN_PIXELS
    tiny = renderer.render(path, PDF, 1, 3600, (0.5, 0.5, 0.502, 0.502))
    assert tiny.width <= MAX_ENLARGED_WIDTH * 0.002 + 2


@pytest.mark.parametrize(
    "crop",
    [(0.5, 0, 0.5, 1), (0.6, 0, 0.5, 1), (-0.1, 0, 1, 1), (0, 0, 1, 1.1), (0, 0, 0.0001, 1), (0, 0, float("nan"), 1)],
)
def test_what_is_no_part_is_named(crop: tuple[float, float, float, float]) -> None:
    with pytest.raises(InvalidInput, match="part of a page"):
        check_crop(*crop)


def test_parts_are_kept_apart_from_the_whole_and_from_each_other(renderer: Renderer, tmp_path: Path) -> None:
    data = makers.pdf("one")
    path = makers.put(tmp_path, "one.pdf", data)
    cache = PageCache(tmp_path / "cache", renderer)
    digest = makers.sha256(data)
    pictures = [
        cache.get(digest, path, PDF, 1, 480, crop=crop).data
        for crop in ((0, 0, 1, 1), (0, 0, 0.5, 0.5), (0.5, 0, 1, 0.5))
    ]
    assert len(set(pictures)) == 3
    assert cache.get(digest, path, PDF, 1, 480, crop=(0, 0, 0.5, 0.5)).data == pictures[1]
    assert len([file for file in (tmp_path / "cache").rglob("*") if file.is_file()]) == 3


def test_a_tag_names_the_kind_of_document_and_how_pages_are_drawn(renderer: Renderer, tmp_path: Path) -> None:
    cache = PageCache(tmp_path, renderer)
    digest = makers.sha256(b"x")
    tags = {
        cache.etag(digest, "text/plain", 1, 480),
        cache.etag(digest, "text/markdown", 1, 480),
        cache.etag(digest, "text/plain", 2, 480),
        cache.etag(digest, "text/plain", 1, 800),
        cache.etag(digest, "text/plain", 1, 480, crop=(0, 0, 0.5, 1)),
    }
    assert len(tags) == 5
    import pymupdf

    assert all(pymupdf.__version__ in tag for tag in tags)
