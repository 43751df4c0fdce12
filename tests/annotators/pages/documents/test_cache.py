"""The cache of drawn pages: what is drawn once, what is remembered, and what makes room."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pytest

from annotators.errors import InvalidInput
from annotators.pages import (
    WHOLE,
    WIDTHS,
    Crop,
    Limits,
    PageCache,
    PageNotDrawn,
    RenderedPage,
    Renderer,
    Why,
    snap_width,
    too_many,
)
from tests.annotators.pages import makers

PDF = "application/pdf"


class Counting(Renderer):
    """A real renderer that notes which pages it was asked to draw."""

    def __init__(self, limits: Limits | None = None, *, workers: int = 1) -> None:
        super().__init__(limits, workers=workers)
        self.drawn: list[tuple[int, int]] = []

    def render(self, path: Path, media_type: str, page_number: int, width_px: int, crop: Crop = WHOLE) -> RenderedPage:
        self.drawn.append((page_number, width_px))
        return super().render(path, media_type, page_number, width_px, crop)


@pytest.fixture
def counting() -> Counting:
    renderer = Counting(workers=2)
    yield renderer  # type: ignore[misc]
    renderer.close()


def on_disk(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_widths_are_snapped_up_to_the_next_step() -> None:
    assert [snap_width(width) for width in (1, 160, 161, 1000, 1200, 3600, 99_999)] == [
        160,
        160,
        480,
        1200,
        1200,
        3600,
        3600,
    ]
    assert list(WIDTHS) == sorted(WIDTHS)


def test_a_page_is_drawn_once_and_then_comes_from_disk(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf("one", "two")
    path = makers.put(tmp_path, "two.pdf", data)
    cache = PageCache(tmp_path / "cache", counting)
    first = cache.get(makers.sha256(data), path, PDF, 2, 700)
    assert first.width == 800
    path.unlink()
    assert cache.get(makers.sha256(data), path, PDF, 2, 790) == first
    assert PageCache(tmp_path / "cache", counting).kept(makers.sha256(data), PDF, 2, 800) == first
    assert counting.drawn == [(2, 800)]
    assert cache.kept(makers.sha256(data), PDF, 1, 800) is None
    with pytest.raises(PageNotDrawn, match="missing"):
        cache.get(makers.sha256(data), path, PDF, 2, 1200)


def test_the_same_bytes_are_kept_apart_by_media_type(counting: Counting, tmp_path: Path) -> None:
    data = b"# Heading\n\n**bold**\n"
    path = makers.put(tmp_path, "same", data)
    cache = PageCache(tmp_path / "cache", counting)
    plain = cache.get(makers.sha256(data), path, "text/plain", 1, 480)
    laid_out = cache.get(makers.sha256(data), path, "text/markdown", 1, 480)
    assert plain.data != laid_out.data


def test_eight_threads_that_want_the_same_page_have_it_drawn_once(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf("one")
    path = makers.put(tmp_path, "one.pdf", data)
    cache = PageCache(tmp_path / "cache", counting)
    together = Barrier(8)

    def want(_: int) -> RenderedPage:
        together.wait()
        return cache.get(makers.sha256(data), path, PDF, 1, 3600)

    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(want, range(8)))
    assert counting.drawn == [(1, 3600)]
    assert all(page == pages[0] for page in pages)
    assert len(on_disk(tmp_path / "cache")) == 1


def test_a_page_drawn_ahead_is_there_when_it_is_asked_for(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf("one", "two")
    path = makers.put(tmp_path, "two.pdf", data)
    cache = PageCache(tmp_path / "cache", counting)
    assert cache.draw_ahead(makers.sha256(data), path, PDF, 1)
    cache.get(makers.sha256(data), path, PDF, 1, 1200)
    assert counting.drawn == []
    for _ in range(2):
        cache.get(makers.sha256(data), path, PDF, 1, 800)
    assert cache.draw_ahead(makers.sha256(data), path, PDF, 2)  # as wide as people want their pages
    assert cache.kept(makers.sha256(data), PDF, 2, 800) is not None


def test_drawing_ahead_gives_way_to_what_is_drawn_for_somebody(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf("one")
    endless = makers.put(tmp_path, "endless.pdf", makers.endless_pdf())
    path = makers.put(tmp_path, "one.pdf", data)
    cache = PageCache(tmp_path / "cache", counting)
    with ThreadPoolExecutor(1) as pool:
        wanted = pool.submit(counting.render, endless, PDF, 1, 160)
        time.sleep(0.3)
        assert not cache.draw_ahead(makers.sha256(data), path, PDF, 1)
        assert cache.get(makers.sha256(data), path, PDF, 1, 1200).width == 1200
        counting.close()
        assert wanted.exception(timeout=10) is not None


def test_eight_threads_all_hear_why_a_page_cannot_be_drawn(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf_with_damaged_content()
    path = makers.put(tmp_path, "damaged.pdf", data)
    cache = PageCache(tmp_path / "cache", counting)
    together = Barrier(8)

    def want(_: int) -> str:
        together.wait()
        with pytest.raises(PageNotDrawn) as caught:
            cache.get(makers.sha256(data), path, PDF, 1, 800)
        return caught.value.reason

    with ThreadPoolExecutor(8) as pool:
        reasons = set(pool.map(want, range(8)))
    assert len(reasons) == 1
    assert counting.drawn == [(1, 800)]


@pytest.mark.slow
def test_a_page_that_ran_out_of_time_is_not_tried_again_at_that_width_or_above(tmp_path: Path) -> None:
    data = makers.endless_pdf()
    path = makers.put(tmp_path, "endless.pdf", data)
    with Counting(Limits(seconds=0.5)) as renderer:
        cache = PageCache(tmp_path / "cache", renderer)
        for width in (800, 800, 2400):
            with pytest.raises(PageNotDrawn, match="longer than") as caught:
                cache.get(makers.sha256(data), path, PDF, 1, width)
            assert caught.value.why is Why.TIME
        assert renderer.drawn == [(1, 800)]
        with pytest.raises(PageNotDrawn):
            cache.get(makers.sha256(data), path, PDF, 1, 160)
        assert renderer.drawn == [(1, 800), (1, 160)]
        cache = PageCache(tmp_path / "cache", renderer)  # what failed is remembered by a process, not on the disk
        with pytest.raises(PageNotDrawn):
            cache.get(makers.sha256(data), path, PDF, 1, 800)
        assert len(renderer.drawn) == 3


def test_a_document_that_was_missing_is_tried_again(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf("one")
    cache = PageCache(tmp_path / "cache", counting)
    with pytest.raises(PageNotDrawn, match="missing"):
        cache.get(makers.sha256(data), tmp_path / "late.pdf", PDF, 1, 160)
    path = makers.put(tmp_path, "late.pdf", data)
    assert cache.get(makers.sha256(data), path, PDF, 1, 160).width == 160


def test_the_folder_stays_within_its_bound_and_keeps_what_was_looked_at(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf(*(f"page {number}" for number in range(1, 41)))
    path = makers.put(tmp_path, "forty.pdf", data)
    digest = makers.sha256(data)
    folder = tmp_path / "cache"
    size = len(PageCache(tmp_path / "other", counting).get(digest, path, PDF, 1, 480).data)
    bound = size * 12
    cache = PageCache(folder, counting, max_bytes=bound)
    for number in range(1, 41):
        cache.get(digest, path, PDF, number, 480)
        cache.settle()
        assert sum(kept.stat().st_size for kept in on_disk(folder)) <= bound
        # The first page is looked at all the time.
        assert cache.kept(digest, PDF, 1, 480) is not None
        time.sleep(0.002)
    assert cache.kept(digest, PDF, 40, 480) is not None
    assert cache.kept(digest, PDF, 2, 480) is None
    assert len(on_disk(folder)) >= 6


def test_pictures_left_by_an_earlier_run_count_towards_the_bound(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf(*(f"page {number}" for number in range(1, 21)))
    path = makers.put(tmp_path, "twenty.pdf", data)
    folder = tmp_path / "cache"
    large = PageCache(folder, counting)
    for number in range(1, 20):
        size = len(large.get(makers.sha256(data), path, PDF, number, 480).data)
    large.settle()
    small = PageCache(folder, counting, max_bytes=size * 5)
    small.get(makers.sha256(data), path, PDF, 20, 480)
    small.settle()
    assert sum(kept.stat().st_size for kept in on_disk(folder)) <= size * 5
    assert small.kept(makers.sha256(data), PDF, 20, 480) is not None


def test_a_page_larger_than_the_whole_cache_is_shown_but_not_kept(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf("one")
    path = makers.put(tmp_path, "one.pdf", data)
    cache = PageCache(tmp_path / "cache", counting, max_bytes=100)
    assert cache.get(makers.sha256(data), path, PDF, 1, 480).width == 480
    assert on_disk(tmp_path / "cache") == []


@pytest.mark.parametrize("damage", [b"", b"ASP1", None])
def test_a_damaged_picture_is_drawn_again(counting: Counting, tmp_path: Path, damage: bytes | None) -> None:
    data = makers.pdf("one")
    path = makers.put(tmp_path, "one.pdf", data)
    cache = PageCache(tmp_path / "cache", counting)
    first = cache.get(makers.sha256(data), path, PDF, 1, 160)
    (kept,) = on_disk(tmp_path / "cache")
    if damage is None:
        whole = bytearray(kept.read_bytes())
        whole[len(whole) // 2] ^= 0xFF
        damage = bytes(whole)
    kept.write_bytes(damage)
    assert cache.get(makers.sha256(data), path, PDF, 1, 160) == first
    assert len(counting.drawn) == 2


def test_the_folder_may_be_deleted_at_any_time(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf("one", "two")
    path = makers.put(tmp_path, "two.pdf", data)
    cache = PageCache(tmp_path / "cache", counting)
    cache.get(makers.sha256(data), path, PDF, 1, 160)
    cache.settle()
    shutil.rmtree(tmp_path / "cache")
    assert cache.get(makers.sha256(data), path, PDF, 1, 160).width == 160
    assert cache.get(makers.sha256(data), path, PDF, 2, 160).width == 160
    assert len(on_disk(tmp_path / "cache")) == 2


def test_a_folder_that_cannot_be_written_costs_time_but_not_the_page(counting: Counting, tmp_path: Path) -> None:
    data = makers.pdf("one")
    path = makers.put(tmp_path, "one.pdf", data)
    cache = PageCache(makers.put(tmp_path, "a-file-not-a-folder", b""), counting)
    for _ in range(2):
        assert cache.get(makers.sha256(data), path, PDF, 1, 160).width == 160
    assert len(counting.drawn) == 2


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "A" * 64, "a" * 63, ""])
def test_a_name_that_is_not_a_hash_never_becomes_a_path(counting: Counting, tmp_path: Path, digest: str) -> None:
    cache = PageCache(tmp_path / "cache", counting)
    for ask in (lambda: cache.get(digest, tmp_path, PDF, 1, 160), lambda: cache.kept(digest, PDF, 1, 160)):
        with pytest.raises(InvalidInput, match="not a SHA-256"):
            ask()


@pytest.mark.parametrize("spoilt", [b"", b"%PDF-1.7 nothing", None])
def test_a_document_that_was_spoilt_is_drawn_again_once_it_was_put_back(
    counting: Counting, tmp_path: Path, spoilt: bytes | None
) -> None:
    """Neither that it is broken, nor a picture of what stood in its place (another document), is kept."""
    data = makers.pdf("The rent was 600 euros.")
    path = makers.put(tmp_path, "document.pdf", data)
    cache = PageCache(tmp_path / "cache", counting)
    path.write_bytes(makers.pdf("The rent was 700 euros.") if spoilt is None else spoilt)
    for _ in range(2):
        with pytest.raises(PageNotDrawn) as caught:
            cache.get(makers.sha256(data), path, PDF, 1, 480)
        assert caught.value.why is Why.MISSING
    assert on_disk(tmp_path / "cache") == []
    path.write_bytes(data)
    assert cache.get(makers.sha256(data), path, PDF, 1, 480).width == 480
    path.write_bytes(b"")
    assert cache.get(makers.sha256(data), path, PDF, 1, 480).width == 480, "what was drawn of the right bytes stays"


class GivesUpAtFirst(Counting):
    """A real renderer whose first caller has waited long enough when it is told so."""

    def __init__(self) -> None:
        super().__init__()
        self.waits, self.gives_up = Event(), Event()

    def render(self, path: Path, media_type: str, page_number: int, width_px: int, crop: Crop = WHOLE) -> RenderedPage:
        if not self.waits.is_set():
            self.waits.set()
            self.gives_up.wait(20)
            raise too_many()
        return super().render(path, media_type, page_number, width_px, crop)


def test_who_came_later_does_not_give_up_with_who_asked_first(tmp_path: Path) -> None:
    path = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    with GivesUpAtFirst() as renderer, ThreadPoolExecutor(2) as pool:
        cache = PageCache(tmp_path / "cache", renderer)
        about = (makers.sha256(path.read_bytes()), path, PDF, 1, 160)
        first = pool.submit(cache.get, *about)
        assert renderer.waits.wait(20)
        second = pool.submit(cache.get, *about)
        time.sleep(0.1)
        renderer.gives_up.set()
        with pytest.raises(PageNotDrawn, match="too many pages"):
            first.result(20)
        assert second.result(20).width == 160
