"""MMLongBench-Doc: questions on long documents with their evidence pages; PDFs beside them are the documents.

Two of its lists are texts: `"[3, 5]"` and `"['Chart', 'Table']"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.items.checks import called
from annotators.items.item import DEFAULT_SYSTEM
from annotators.items.normal import Normal, question_key
from annotators.items.parsed import ParsedItem, Rejected
from annotators.lists import list_in
from exports.formats._losing import usual
from exports.formats._records import (
    Record,
    RecordReading,
    is_records,
    items_of,
    json_files,
    need,
    refusal_of_list,
    rest_of,
    text_of,
)
from exports.formats._writing import Files, Items, Written, beside, given, metadata_of, parts_of
from exports.formats.base import FORMATS, FileReading
from exports.reading.sources import SourceFile, Sources

SCORER = "imported:mmlongbench"
NOT_ANSWERABLE = "Not answerable"
"""The answer of a question that its document does not answer."""

_NEEDED = ("doc_id", "question", "answer", "evidence_pages")
_TAKEN = (*_NEEDED, "doc_type", "evidence_sources")


class MMLongBench:
    """One item a record, of the system `reference`, with one gold unit for each evidence page.

    The category is `doc_type`. A list that is written as a text is kept as the list.
    """

    name = "mmlongbench"
    title = "MMLongBench-Doc questions"
    help = "a JSON file of records with doc_id and evidence_pages, and the PDFs of the documents where they are at hand"
    loses = usual(
        "hops",
        "language",
        "references",
        "claims",
        "images",
        "scores",
        items="answers of systems; items with no or several documents",
        id="ids of items",
        question_key="keys of questions",
        evidence="evidence that is no gold page of the document",
        metadata="metadata called as a field of MMLongBench-Doc is",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSON list whose records have `doc_id` and `evidence_pages`."""
        return refusal_of_list(file, _NEEDED)

    def read(self, sources: Sources) -> FileReading:
        """The JSON and PDF files of the sources."""
        return _MMLongBenchReading(sources, json_files(sources))

    def write(self, items: Items, files: Files) -> Written:
        """Write `samples.json` of the items of the system `reference` that have one document."""
        return Written.records(items, files, _record, lambda item: "samples.json")


class _MMLongBenchReading(RecordReading):
    """The files of one MMLongBench-Doc source; counts questions without pages, and those without an answer."""

    format = MMLongBench.name

    def begin(self) -> None:
        self._pageless = self._unanswerable = 0

    def read(self, file: SourceFile, data: Any) -> Iterator[ParsedItem | Rejected] | None:
        return items_of(file, None, data, self._item, SCORER) if is_records(data, "doc_id", "question") else None

    def not_ours(self) -> str:
        return (
            "this is no list of MMLongBench-Doc records (doc_id, question, answer, evidence_pages). Leave it out, or "
            "choose another format."
        )

    def notes(self) -> Sequence[str]:
        found = []
        if self._pageless:
            found.append(f"{count(self._pageless, 'question has', 'questions have')} no evidence page.")
        if self._unanswerable:
            found.append(
                f"{count(self._unanswerable, 'question is', 'questions are')} not answerable: the answer is "
                f"“{NOT_ANSWERABLE}”."
            )
        return found

    def _item(self, record: Record) -> Normal:
        need(record, *_NEEDED)
        document, question, answer = (text_of(record, name) for name in ("doc_id", "question", "answer"))
        pages = _list(record, "evidence_pages")
        for page in pages:
            if not isinstance(page, int) or isinstance(page, bool) or page < 1:
                raise InvalidInput(f"`evidence_pages` holds {called(page)}. Pages are whole numbers from 1.")
        self._pageless += not pages
        self._unanswerable += answer == NOT_ANSWERABLE
        metadata = rest_of(record, *_TAKEN)
        if "evidence_sources" in record:
            metadata["evidence_sources"] = _list(record, "evidence_sources")
        return {
            "question_key": question_key(question, document),
            "question": question,
            "answer": answer,
            "system": DEFAULT_SYSTEM,
            "category": record.get("doc_type"),
            "documents": [document],
            "evidence": [
                {"key": f"page-{page}", "kind": "page", "role": "gold", "document": document, "pages": [page]}
                for page in dict.fromkeys(pages)
            ],
            "metadata": metadata,
        }


def _list(record: Record, name: str) -> list[Any]:
    """The list of numbers and texts that a field holds, as one or written as a text."""
    found = _list_said(record[name])
    if found is None:
        raise InvalidInput(f'`{name}` is {called(record[name])}. Write a list of numbers or texts, such as "[3, 5]".')
    return found


def _list_said(value: Any) -> list[Any] | None:
    found = list_in(value) if isinstance(value, str) else value
    return found if isinstance(found, list) and all(isinstance(element, str | int) for element in found) else None


# Writing --------------------------------------------------------------------------------------------------------------


def _record(item: Normal) -> Record | None:
    """An item as a record; None for one of another system, and for one of no or several documents."""
    documents, metadata = item.get("documents", []), metadata_of(item)
    if item["system"] != DEFAULT_SYSTEM or len(documents) != 1:
        return None
    units = [unit for unit in parts_of(item, "evidence") if unit.get("role") == "gold"]
    pages = dict.fromkeys(page for unit in units for page in unit.get("pages", ()))
    sources = str(metadata.get("evidence_sources"))
    record = {
        "doc_id": documents[0],
        **given(doc_type=item.get("category")),
        "question": item["question"],
        "answer": item["answer"],
        "evidence_pages": str(list(pages)),
        **given(evidence_sources=sources if _list_said(sources) is not None else None),
    }
    return beside(record, metadata, _TAKEN)


FORMATS.register(MMLongBench())
