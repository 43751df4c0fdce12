"""Scanned documents of a project: the text of their pages is recognised, as a job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from annotators.pages import Renderer
from annotators.pages.words.index import Source
from annotators.pages.words.recognition import recognise
from app.server.routes.page_text import open_index
from db.items.documents import DocumentRow, document_file, list_documents

if TYPE_CHECKING:
    from app.worker.jobs import Work


def read_scans(work: Work) -> dict[str, int]:
    """Recognise the text of all pages of the project that have none; how many pages were read, and how many were not.

    What has been read is kept page by page, so that a worker that comes after goes on there. Raises InvalidInput
    without the extra `ocr`.
    """
    documents = [one for one in _documents(work) if one.sha256 and one.media_type and one.n_pages]
    total = sum(one.n_pages or 0 for one in documents)
    done = read = without = 0
    with Renderer(workers=1) as renderer:
        index = open_index(work.settings, renderer)
        for one in documents:
            work.progress(done, total)
            path = document_file(work.settings.documents_folder, one.sha256 or "")
            source = Source(one.sha256 or "", path, one.media_type or "")
            for page in recognise(index, source, one.n_pages or 0):
                read += page.words > 0
                without += page.words == 0
                work.progress(done + page.page, total)
            done += one.n_pages or 0
    work.progress(total, total)
    return {"read": read, "without": without}


def _documents(work: Work) -> Iterator[DocumentRow]:
    """All documents of the project, by key."""
    job, after = work.job, None
    while rows := list_documents(work.db, job.actor, job.project_id, after=after):
        yield from rows
        after = rows[-1].key
