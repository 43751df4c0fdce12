"""Scans of a project are read as a job, from the page Data to words that the viewer marks as recognised."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from sqlmodel import col, select

from annotators.items.parsed import ParsedDocument
from annotators.pages import Renderer
from annotators.pages.documents.words import PageWords
from annotators.pages.words import recognition as recognition_module
from annotators.pages.words.index import Source, WordIndex
from app.worker.jobs import work
from db.items.documents import document_file
from db.items.imports import import_items
from db.jobs import JobRow, list_jobs, queue_job
from db.models import Document
from tests.annotators.pages import makers
from tests.annotators.pages.words.test_recognition import scans
from tests.app.filled import no_problem, press
from tests.app.pages import Pages
from tests.db.items.test_imports import Rows
from tests.makers import make_project

NEEDS_OCR = pytest.mark.skipif(
    importlib.util.find_spec("rapidocr_onnxruntime") is None, reason="needs the extra ocr (rapidocr-onnxruntime)"
)


@pytest.fixture
def project_id(pages: Pages, tmp_path: Path) -> int:
    """A project with a document that has words, a scan, and one without bytes."""
    made = make_project(pages.db)
    folder = pages.state.settings.documents_folder
    sources = {
        "written.pdf": makers.put(tmp_path, "written.pdf", makers.pdf("Tide table")),
        "scan.pdf": makers.put(tmp_path, "scan.pdf", scans()),
        "elsewhere.pdf": None,
    }
    documents = tuple(ParsedDocument("d", line, key, path=path) for line, (key, path) in enumerate(sources.items(), 1))
    import_items(pages.db, pages.admin, made, reading=Rows(documents=documents), data_folder=folder)
    return made


def queue(pages: Pages, project_id: int) -> JobRow:
    page = pages.open(pages.token("admin"), "data", project=str(project_id))
    said = no_problem(press(page, "Read them"))
    assert "Reading scans: all documents of the project" in said
    [job] = list_jobs(pages.db, pages.admin, project_id)
    return job


@NEEDS_OCR
@pytest.mark.slow
def test_scans_are_read_once_and_their_words_marked(pages: Pages, project_id: int) -> None:
    assert queue(pages, project_id).state == "waiting"
    assert work(pages.db, "one", settings=pages.state.settings) == 1
    [job] = list_jobs(pages.db, pages.admin, project_id)
    assert (job.state, job.done, job.total, job.result) == ("done", 2, 2, {"read": 1, "without": 0})
    with pages.db.read() as session:
        document = session.exec(select(Document).where(col(Document.key) == "scan.pdf")).one()
    assert document.sha256 is not None
    source = Source(
        document.sha256, document_file(pages.state.settings.documents_folder, document.sha256), "application/pdf"
    )
    with Renderer(workers=1) as renderer:
        words = WordIndex(pages.state.settings.pages_folder, pages.state.settings.recognised_folder, renderer).get(
            source, [1]
        )[1]
    assert isinstance(words, PageWords)
    assert words.ocr
    assert "gauge" in words.normal.text
    page = pages.open(pages.token("admin"), "data", project=str(project_id))
    assert "Last time 1 page got words." in no_problem(page)
    press(page, "Read them")
    work(pages.db, "two", settings=pages.state.settings)
    assert list_jobs(pages.db, pages.admin, project_id)[0].result == {"read": 0, "without": 0}


def test_without_the_extra_the_page_says_what_to_install_and_a_job_fails_in_words(
    pages: Pages, project_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition_module.importlib.util, "find_spec", lambda name: None)
    page = pages.open(pages.token("admin"), "data", project=str(project_id))
    assert 'pip install "assay[ocr]"' in no_problem(page)
    assert "Read them" not in [button.label for button in page.button]
    queue_job(pages.db, pages.admin, project_id, kind="scans", parameters={})
    work(pages.db, "one", settings=pages.state.settings)
    [job] = list_jobs(pages.db, pages.admin, project_id)
    assert job.state == "failed"
    assert "assay[ocr]" in (job.message or "")
