"""Forty hostile PDFs: whatever is asked about them is answered in time, and the process that asks stays small."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from annotators.errors import InvalidInput
from annotators.pages import Limits, PageNotDrawn, Renderer, Why, draw_failure
from annotators.pages.documents.words import PageWords
from annotators.pages.finding.search import search_document
from annotators.pages.words.index import Source, WordIndex
from tests.annotators.pages import makers
from tests.hostile_pdfs import N_DOCUMENTS, hostile_pdfs, ordinary

PDF = "application/pdf"
SECONDS = 1.0
# A worker that is killed is started anew; a busy machine takes its time for that.
SLACK = 8.0


@pytest.fixture(scope="module")
def limited() -> Iterator[Renderer]:
    with Renderer(Limits(seconds=SECONDS, memory_bytes=1 << 30), workers=1) as made:
        yield made


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("hostile")
    return {name: makers.put(folder, f"{name}.pdf", data) for name, data in hostile_pdfs().items()}


def resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.slow
def test_the_documents_are_the_same_every_time(documents: dict[str, Path]) -> None:
    again = hostile_pdfs()
    assert {name: path.read_bytes() for name, path in documents.items()} == again


@pytest.mark.by_the_clock
@pytest.mark.slow
def test_nothing_hangs_and_every_failure_has_words_and_a_picture(limited: Renderer, documents: dict[str, Path]) -> None:
    assert len(documents) == N_DOCUMENTS
    before = resident_mb()
    outcomes: dict[str, list[str]] = {}
    for name, path in documents.items():
        said = []
        for ask in (
            partial(limited.inspect, path, PDF, name),
            partial(limited.render, path, PDF, 1, 1200),
            partial(limited.render, path, PDF, 1, 1200, (0.2, 0.2, 0.7, 0.7)),
        ):
            began = time.monotonic()
            try:
                ask()
                said.append("drawn")
            except PageNotDrawn as failure:
                said.append(failure.why)
                assert failure.why is not Why.BUSY
                assert draw_failure(failure.reason, 480).startswith(b"\x89PNG")
            except InvalidInput as refusal:
                said.append("refused")
                assert name in str(refusal)
            assert time.monotonic() - began < SECONDS + SLACK, (name, said)
        outcomes[name] = said
    # Documents that are only a little damaged are shown, and the limits are really reached by some.
    assert sum(said[1] == "drawn" for said in outcomes.values()) >= 15, outcomes
    assert any(Why.TIME in said for said in outcomes.values()), outcomes
    assert resident_mb() - before < 60


@pytest.mark.by_the_clock
@pytest.mark.slow
def test_their_words_are_read_or_refused_in_time(limited: Renderer, documents: dict[str, Path], tmp_path: Path) -> None:
    before = resident_mb()
    with_words = 0
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", limited)
    for name, path in documents.items():
        data = path.read_bytes()
        source = Source(makers.sha256(data), path, PDF)
        began = time.monotonic()
        found = index.get(source, [1, 2])
        # Two pages, each of which may use up its time.
        assert time.monotonic() - began < 3 * (SECONDS + SLACK), name
        assert set(found) == {1, 2}
        with_words += any(isinstance(page, PageWords) and page.n > 0 for page in found.values())
        began = time.monotonic()
        searched = search_document(index, source, [1, 2], "tide rose", seconds=1.0)
        assert time.monotonic() - began < SECONDS, name
        assert searched.complete
        assert searched.searched + len(searched.unreadable) == 2
    assert with_words >= 12
    assert resident_mb() - before < 120


@pytest.mark.slow
def test_a_sound_document_is_served_right_after_each_of_them(
    limited: Renderer, documents: dict[str, Path], tmp_path: Path
) -> None:
    sound = makers.put(tmp_path, "sound.pdf", ordinary(2))
    for name in ("forms-nested", "picture-huge", "page-tree-ring", "bomb-100-MB"):
        try:
            limited.render(documents[name], PDF, 1, 800)
        except PageNotDrawn as failure:
            assert failure.reason
        words = limited.words(sound, PDF, [1], 1.0)[1]
        assert isinstance(words, PageWords)
        assert "tide" in words.texts


@pytest.mark.by_the_clock
@pytest.mark.slow
def test_a_document_over_which_workers_die_is_given_up(documents: dict[str, Path], tmp_path: Path) -> None:
    """Pages that take for ever cost three waits and not one for each page."""
    path = documents["forms-nested"]
    with Renderer(Limits(seconds=1.0), workers=1) as renderer:
        index = WordIndex(tmp_path / "cache", tmp_path / "ocr", renderer)
        source = Source(makers.sha256(path.read_bytes()), path, PDF)
        began = time.monotonic()
        found = index.get(source, range(1, 200))
        assert len(found) == 199
        assert time.monotonic() - began < 3 * (1.0 + SLACK)
