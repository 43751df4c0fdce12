"""The routes of page images, thumbnails, and words of pages give an annotator only what their step shows."""

from __future__ import annotations

import hashlib
import struct

import pymupdf
import pytest
from sqlmodel import select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotators.errors import AssayError
from annotators.protocols import Material
from app.server.routes import page_images, page_text
from app.server.web import handle_error
from db.items.documents import document_file
from db.models import Document
from db.permissions import Actor
from tests.app.pages import Pages
from tests.db.annotating.test_disclosure import two_steps
from tests.makers import StudyInUse

PAGES = 5
SHOWN = [1, 2]


@pytest.fixture
def study(pages: Pages) -> StudyInUse:
    """An item whose evidence, shown at the second step, is on two of the five pages of a document."""
    protocol = two_steps(second=(Material.ANSWER, Material.EVIDENCE))
    study = StudyInUse(pages.db, items=1, annotators=1, overlap=1, n_evidence=2, protocol=protocol)
    pdf = pymupdf.open()
    for number in range(1, PAGES + 1):
        pdf.new_page(width=200, height=300).insert_text((20, 50), f"Page {number}")
    data = pdf.tobytes()
    digest = hashlib.sha256(data).hexdigest()
    path = document_file(pages.state.settings.documents_folder, digest)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pages.db.write() as session:
        document = session.exec(select(Document)).one()
        document.sha256, document.media_type, document.n_pages = digest, "application/pdf", PAGES
        session.add(document)
    return study


def client(pages: Pages, actor: Actor) -> TestClient:
    app = Starlette(
        routes=[*page_images.routes(pages.state), *page_text.routes(pages.state)],
        exception_handlers={AssayError: handle_error},
    )

    async def signed_in(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        scope["state"] = {**scope.get("state", {}), "actor": actor}
        await app(scope, receive, send)

    return TestClient(signed_in)


def thumbnails(data: bytes) -> list[int]:
    """The pages in an answer of thumbnails."""
    found, at = [], 0
    while at < len(data):
        page, length = struct.unpack_from(">II", data, at)
        found.append(page)
        at += 8 + length
    return found


def given(pages: Pages, actor: Actor) -> tuple[list[int], list[int]]:
    """The pages whose image, and whose thumbnail, this person gets."""
    browser = client(pages, actor)
    answers = status_of_each(browser, "/page-images/1")
    answer = browser.get(f"/page-images/1/1-{PAGES}")
    small = thumbnails(answer.content) if answer.status_code == 200 else []
    return [page for page, status in answers.items() if status == 200], small


def read(pages: Pages, actor: Actor) -> tuple[list[int], list[int]]:
    """The pages whose words this person gets, and those that a search finds something on."""
    browser = client(pages, actor)
    answers = status_of_each(browser, "/page-words/1")
    answer = browser.get("/page-search/1?q=Page")
    hits = [hit["page"] for hit in answer.json()["hits"]] if answer.status_code == 200 else []
    return [page for page, status in answers.items() if status == 200], hits


def status_of_each(browser: TestClient, path: str) -> dict[int, int]:
    answers = {page: browser.get(f"{path}/{page}").status_code for page in range(1, PAGES + 1)}
    assert set(answers.values()) <= {200, 404}
    return answers


def test_pages_come_with_the_step_that_shows_them_and_no_others(pages: Pages, study: StudyInUse) -> None:
    annotator = study.annotators[0]
    item = study.work(0)["items"][0]
    assert given(pages, annotator) == ([], [])
    study.submit(0, item, {"clear": "yes"})
    assert given(pages, annotator) == (SHOWN, SHOWN)
    everything = list(range(1, PAGES + 1))
    assert given(pages, study.researcher) == (everything, everything)


def test_words_of_pages_come_with_the_step_that_shows_them_and_no_others(pages: Pages, study: StudyInUse) -> None:
    annotator = study.annotators[0]
    item = study.work(0)["items"][0]
    assert read(pages, annotator) == ([], [])
    study.submit(0, item, {"clear": "yes"})
    assert read(pages, annotator) == (SHOWN, SHOWN)
    everything = list(range(1, PAGES + 1))
    assert read(pages, study.researcher) == (everything, everything)
