"""Reading scans: the text of scanned pages of a project is recognised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from app.worker.kinds.base import KINDS, JobKind, JobParameters, Work

if TYPE_CHECKING:
    from db.items.documents import DocumentRow


class ScansParameters(JobParameters):
    """None: all documents of the project are read."""


class ScansJob(JobKind[ScansParameters]):
    """Pages that an earlier worker has read are passed over: what is recognised is kept page by page."""

    name = "scans"
    title = "Reading scans"
    unit = "page"
    parameters = ScansParameters

    def about(self, parameters: ScansParameters) -> str:
        """Always the same."""
        del parameters
        return "all documents of the project"

    def carry_out(self, work: Work, parameters: ScansParameters) -> dict[str, Any]:
        """Recognise all pages without text; how many were read, and on how many no text was found.

        Raises InvalidInput without the extra `ocr`.
        """
        from annotators.pages import Renderer  # noqa: PLC0415
        from annotators.pages.words.index import Source, WordIndex  # noqa: PLC0415
        from annotators.pages.words.recognition import recognise  # noqa: PLC0415
        from db.items.documents import document_file  # noqa: PLC0415

        del parameters
        documents = [
            document for document in _documents(work) if document.sha256 and document.media_type and document.n_pages
        ]
        total = sum(document.n_pages or 0 for document in documents)
        done = read = without = 0
        with Renderer(workers=1) as renderer:
            index = WordIndex(work.settings.pages_folder, work.settings.recognised_folder, renderer)
            for document in documents:
                work.progress(done, total)
                path = document_file(work.settings.documents_folder, document.sha256 or "")
                source = Source(document.sha256 or "", path, document.media_type or "")
                for page in recognise(index, source, document.n_pages or 0):
                    read += page.words > 0
                    without += page.words == 0
                    work.progress(done + page.page, total)
                done += document.n_pages or 0
        work.progress(total, total)
        return {"read": read, "without": without}


SCANS = KINDS.register(ScansJob())


def _documents(work: Work) -> Iterator[DocumentRow]:
    """All documents of the project, by key."""
    from db.items.documents import list_documents  # noqa: PLC0415

    job, after = work.job, None
    while rows := list_documents(work.db, job.actor, job.project_id, after=after):
        yield from rows
        after = rows[-1].key
