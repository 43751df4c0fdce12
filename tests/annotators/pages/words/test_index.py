"""The index of words: read once, kept small, safe to delete, and never wrong about what it holds."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from annotators.errors import InvalidInput
from annotators.pages import PageCache, PageNotDrawn, Renderer, Why
from annotators.pages.documents.words import PageWords, Word, pack_words
from annotators.pages.finding.search import MOST_HITS, search, search_document
from annotators.pages.words.index import Found, Source, WordIndex
from tests.annotators.pages import makers
from tests.hostile_pdfs import ordinary

PDF = "application/pdf"


class Counting(Renderer):
    """A real renderer that notes which pages it was asked to read."""

    def __init__(self, workers: int = 1) -> None:
        super().__init__(workers=workers)
        self.read: list[int] = []

    def words(self, path: Path, media_type: str, pages: Sequence[int], seconds: float) -> dict[int, Found]:
        found = super().words(path, media_type, pages, seconds)
        self.read += list(found)
        return found


@pytest.fixture
def counting() -> Counting:
    renderer = Counting()
    yield renderer  # type: ignore[misc]
    renderer.close()


def put(folder: Path, data: bytes) -> Source:
    return Source(makers.sha256(data), makers.put(folder, "document.pdf", data), PDF)


def texts(found: Found) -> list[str]:
    assert isinstance(found, PageWords)
    return found.texts


def test_pages_are_read_once_and_then_come_from_disk(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, ordinary(3))
    first = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting).get(source, [1, 3])
    again = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting).get(source, [1, 2, 3])
    assert texts(first[1]) == texts(again[1])
    assert texts(again[2])[:2] == ["Page", "2,"]
    assert sorted(counting.read) == [1, 2, 3]


def test_eight_threads_read_a_document_once(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, ordinary(20))
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: index.get(source, range(1, 21)), range(8)))
    assert all(len(page) == 20 for page in found)
    assert sorted(counting.read) == list(range(1, 21))


def test_the_index_may_be_deleted_or_damaged_at_any_time(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, ordinary(2))
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    index.get(source, [1, 2])
    shutil.rmtree(tmp_path / "cache")
    assert texts(index.get(source, [1])[1])[0] == "Page"
    [kept] = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    for damage in (b"", b"x", kept.read_bytes()[:-20], bytes(len(kept.read_bytes()))):
        kept.write_bytes(damage)
        fresh = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
        assert texts(fresh.get(source, [1])[1])[0] == "Page"


def test_the_sweep_of_pictures_takes_the_index_into_account(counting: Counting, tmp_path: Path) -> None:
    data = ordinary(2)
    source = put(tmp_path, data)
    WordIndex(tmp_path / "cache", tmp_path / "ocr", counting).get(source, [1, 2])
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    PageCache(tmp_path / "cache", counting, max_bytes=1)._sweep()
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_folder_that_cannot_be_written_costs_time_but_not_the_words(counting: Counting, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    assert texts(index.get(put(tmp_path, ordinary(1)), [1])[1])[0] == "Page"


def test_a_document_with_a_password_and_a_missing_one_say_so(counting: Counting, tmp_path: Path) -> None:
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    found = index.get(put(tmp_path, makers.encrypted_pdf("secret")), [1, 2])
    assert all(isinstance(page, PageNotDrawn) and page.why is Why.PASSWORD for page in found.values())
    gone = Source("0" * 64, tmp_path / "gone.pdf", PDF)
    [failure] = index.get(gone, [1]).values()
    assert isinstance(failure, PageNotDrawn)
    assert failure.why is Why.MISSING


@pytest.mark.parametrize("digest", ["", "../../etc", "A" * 64, "0" * 63])
def test_a_name_that_is_no_hash_never_becomes_a_path(counting: Counting, tmp_path: Path, digest: str) -> None:
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    with pytest.raises(InvalidInput):
        index.get(Source(digest, tmp_path, PDF), [1])


@pytest.mark.slow
def test_what_is_not_read_in_time_is_there_when_asked_again(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, ordinary(400))
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    rounds, found = 0, index.get(source, range(1, 401), seconds=0.05)
    assert 0 < len(found) < 400
    while len(found) < 400:
        rounds += 1
        before = len(found)
        found = index.get(source, range(1, 401), seconds=0.05)
        assert len(found) > before
    assert sorted(counting.read) == list(range(1, 401))


@pytest.mark.slow
def test_the_memory_that_is_kept_is_bounded(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, ordinary(200))
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting, memory_bytes=500_000)
    index.get(source, range(1, 201))
    index.get(source, range(1, 201))
    assert 0 < index._kept_bytes <= 500_000 + 64 * 20_000


# Recognised words -----------------------------------------------------------------------------------------------------


def test_recognised_words_stand_in_for_a_missing_text_layer_only(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, makers.pdf("its own words", ""))
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    other = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    assert texts(other.get(source, [2])[2]) == []
    read = PageWords(pack_words([Word((0.1, 0.1, 0.3, 0.2), "recognised", 0)], ocr=True))
    index.keep_recognised(source, {2: read})
    index.keep_recognised(source, {1: read})
    for opened in (index, other):  # another process sees it as well
        found = opened.get(source, [1, 2])
        assert texts(found[1]) == ["its", "own", "words"]
        assert texts(found[2]) == ["recognised"]
        assert isinstance(found[2], PageWords)
        assert found[2].ocr
    shutil.rmtree(tmp_path / "cache")
    assert texts(index.get(source, [2])[2]) == ["recognised"]


# Searching ------------------------------------------------------------------------------------------------------------


@pytest.mark.by_the_clock
@pytest.mark.slow
def test_a_search_over_500_pages_finds_every_page_in_order_and_quickly(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, ordinary(500))
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    index.get(source, range(1, 501))
    found = search_document(index, source, range(1, 501), "line 7: the tide rose 49 cm", seconds=5)
    assert [hit.page for hit in found.hits] == list(range(1, 501))
    assert (found.count, found.searched, found.complete) == (500, 500, True)
    assert "Page 1, line 7:" in found.hits[0].context
    began = time.perf_counter()
    search_document(index, source, range(1, 501), "page 499, line 3", seconds=5)
    assert time.perf_counter() - began < 0.5


def test_a_search_stays_on_the_pages_it_is_given(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, ordinary(6))
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    found = search_document(index, source, [2, 5], "tide", seconds=5)
    assert {hit.page for hit in found.hits} == {2, 5}
    assert counting.read == [2, 5]


def test_hits_that_are_listed_are_bounded_and_all_are_counted() -> None:
    words = PageWords(pack_words([Word((0, 0, 0.1, 0.1), "again", n) for n in range(700)]))
    found = search("again", {1: words, 2: words})
    assert (len(found.hits), found.count) == (MOST_HITS, 1400)


def test_a_search_for_signs_alone_says_what_to_type() -> None:
    assert "letter" in search("?!", {}).reason
    assert search("   ", {}).count == 0
    with pytest.raises(InvalidInput, match="201"):
        search("x" * 201, {})


def test_a_document_that_was_spoilt_is_read_again_once_it_was_put_back(counting: Counting, tmp_path: Path) -> None:
    source = put(tmp_path, ordinary(3))
    data = source.path.read_bytes()
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", counting)
    source.path.write_bytes(data[: len(data) // 2])
    failure = index.get(source, [1])[1]
    assert isinstance(failure, PageNotDrawn)
    assert failure.why is Why.MISSING
    source.path.write_bytes(data)
    assert isinstance(index.get(source, [1])[1], PageWords)
