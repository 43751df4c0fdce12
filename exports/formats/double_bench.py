"""Double-Bench (CDocRAG-Bench): questions with their evidence pages, of one hop, or of several `steps`.

The files count pages from 0, Assay from 1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.items.checks import called
from annotators.items.item import DEFAULT_SYSTEM
from annotators.items.normal import Normal
from annotators.items.parsed import ParsedItem, Rejected
from exports.formats._losing import usual
from exports.formats._records import (
    Record,
    RecordReading,
    Said,
    is_records,
    items_of,
    json_files,
    list_of,
    need,
    refusal_of_list,
    rest_of,
    text_of,
)
from exports.formats._writing import (
    LABELS,
    Files,
    FinalLabels,
    Items,
    Written,
    beside,
    given,
    metadata_of,
    parts_of,
    without,
)
from exports.formats.base import FORMATS, NAME_A_STUDY, FileReading
from exports.reading.sources import SourceFile, Sources

if TYPE_CHECKING:
    from annotators.protocols import Protocol

SCORER = "imported:double_bench"
_TAKEN = ("uid", "question", "answer", "reference_page", "language", "doc_path", "query_type", "steps")
_SAID_OF = {"verified_page": "evidence", "not_evidence_page": "not_evidence"}
"""Beside a record's or a step's `reference_page`: the pages of which people said this."""

RATER = "double_bench-verified"
"""The annotator of what is verified, whom the files do not name."""

_CRITERION = "evidence_page"
_NAMED = 5
"""Questions with a step without pages that are named."""


class DoubleBench:
    """One item a record, of the system `reference`, with one gold unit for each evidence page.

    Its question is known by `single-UID`, or `multi-UID` if it has steps; these are its hops. The category is
    `query_type`; what the record calls `source_type` or `modality` stays in the metadata. `verified_page` and
    `not_evidence_page`, which an export of a study writes, are what people said of pages of the document: they can
    become labels of a study, and are no part of the item.
    """

    name = "double_bench"
    title = "Double-Bench (CDocRAG-Bench) questions"
    help = "JSON files of records with uid and reference_page, of one hop or with steps"
    loses = usual(
        "references",
        "claims",
        "images",
        "scores",
        items="answers of systems; items with no or several documents",
        id="ids of items",
        question_key="keys of questions",
        evidence="evidence that is no gold page of the document",
        hops__metadata="metadata of steps called as a field of one is",
        metadata="metadata called as a field of Double-Bench is",
        labels="final labels of pages of other documents",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSON list whose records have `uid` and `reference_page`."""
        return refusal_of_list(file, ("uid", "question", "answer", "reference_page"))

    def read(self, sources: Sources) -> FileReading:
        """The JSON files of the sources."""
        return _DoubleBenchReading(sources, json_files(sources))

    def label_protocol(self) -> Protocol:
        """What a study of what is verified asks: evidence pages."""
        from annotators.protocols import PROTOCOLS  # noqa: PLC0415 - most imports have no labels

        return PROTOCOLS.get("evidence_pages")

    def with_labels(self, item: Normal, labels: FinalLabels) -> Normal:
        """The item with the pages that are evidence by a study's final labels, and those that are not, of each hop."""
        documents = item.get("documents", ())
        hops = [{**hop, LABELS: _verified(labels, documents, f"|hop:{hop['key']}")} for hop in parts_of(item, "hops")]
        found = {**item, LABELS: _verified(labels, documents, "")}
        return {**found, "hops": hops} if hops else found

    def write(self, items: Items, files: Files) -> Written:
        """Write `records.json` of the items of the system `reference` that have one document."""
        return Written.records(items, files, _record, lambda item: "records.json")


class _DoubleBenchReading(RecordReading):
    """The files of one Double-Bench source.

    `_bare_steps` are the questions with a step that names no page; `_unclaimed` counts pages that belong to no step,
    `_pageless` questions of one hop without a page, `_again` records that stand word for word among those before
    (`_seen`, as digests), `_verified` pages of which people said whether they are evidence.
    """

    format = DoubleBench.name

    def begin(self) -> None:
        self._bare_steps: list[str] = []
        self._unclaimed = self._pageless = self._again = self._verified = 0
        self._seen: set[bytes] = set()

    def read(self, file: SourceFile, data: Any) -> Iterator[ParsedItem | Rejected] | None:
        return (
            items_of(file, None, data, self._item, SCORER, said=_SAID) if is_records(data, "uid", "question") else None
        )

    def not_ours(self) -> str:
        return (
            "this is no list of Double-Bench records (uid, question, answer, reference_page). Leave it out, or choose "
            "another format."
        )

    def notes(self) -> Sequence[str]:
        found = []
        if self._again:
            found.append(
                f"{count(self._again, 'record stands', 'records stand')} a second time, word for word. Each is taken "
                "once; the second one counts as there already."
            )
        if self._pageless:
            found.append(f"{count(self._pageless, 'question has', 'questions have')} no evidence page.")
        if self._bare_steps:
            more = "" if len(self._bare_steps) <= _NAMED else f" and {len(self._bare_steps) - _NAMED:,} more"
            found.append(
                f"{count(len(self._bare_steps), 'question has', 'questions have')} a step that names no page: "
                f"{', '.join(self._bare_steps[:_NAMED])}{more}. Retrieval cannot be scored for them."
            )
        if self._unclaimed:
            found.append(
                f"{count(self._unclaimed, 'evidence page belongs', 'evidence pages belong')} to a question but to none "
                "of its steps. They are kept in the metadata, as pages_of_no_step."
            )
        if self._verified:
            pages = count(self._verified, "page")
            found.append(f"People said of {pages} whether it is evidence (`verified_page`). {NAME_A_STUDY}")
        return found

    def _item(self, record: Record) -> Normal:
        need(record, "uid", "question", "answer")
        digest = hashlib.sha256(orjson.dumps(record, option=orjson.OPT_SORT_KEYS)).digest()
        if digest in self._seen:
            self._again += 1
        self._seen.add(digest)
        uid = record["uid"]
        if not isinstance(uid, str | int) or isinstance(uid, bool):
            raise InvalidInput(f"`uid` is {called(uid)}, not a text.")
        document = text_of(record, "doc_path" if "doc_path" in record or "file_name" not in record else "file_name")
        steps = list_of(record, "steps")
        pages = _pages(record, "reference_page")
        if not steps:
            need(record, "reference_page")
            self._pageless += not pages
        hops = [_step(number, step) for number, step in enumerate(steps, 1)]
        self._verified += sum(len(_judged(part)) for part in (record, *steps))
        key = f"{'multi' if steps else 'single'}-{uid}"
        metadata = rest_of(record, *_TAKEN, *_SAID_OF)
        evidence = [_page(document, page, None) for page in dict.fromkeys(pages)]
        if steps:
            evidence = [_page(document, page, hop) for hop, (_, of_hop) in enumerate(hops, 1) for page in of_hop]
            unclaimed = sorted(set(pages).difference(*(of_hop for _, of_hop in hops)))
            if unclaimed:
                metadata["pages_of_no_step"] = unclaimed
                self._unclaimed += len(unclaimed)
            if not all(of_hop for _, of_hop in hops):
                self._bare_steps.append(key)
        return {
            "question_key": key,
            "question": text_of(record, "question"),
            "answer": text_of(record, "answer"),
            "system": DEFAULT_SYSTEM,
            "category": record.get("query_type"),
            "language": record.get("language"),
            "documents": [document],
            "evidence": evidence,
            "hops": [hop for hop, _ in hops],
            "metadata": metadata,
        }


def _pages(record: Record, name: str) -> list[int]:
    """The pages in a field, counted from 1."""
    given = record.get(name)
    pages = [given] if isinstance(given, int) and not isinstance(given, bool) else list_of(record, name)
    for page in pages:
        if not isinstance(page, int) or isinstance(page, bool) or page < 0:
            raise InvalidInput(f"`{name}` holds {called(page)}. Pages of Double-Bench are whole numbers from 0.")
    return [page + 1 for page in pages]


def _page(document: str, page: int, hop: int | None) -> Normal:
    key = f"page-{page}" if hop is None else f"h{hop}-page-{page}"
    return {"key": key, "kind": "page", "role": "gold", "document": document, "pages": [page], "hop": hop}


def _step(number: int, step: Any) -> tuple[Normal, list[int]]:
    """A hop and its evidence pages. Its question stands in `questionN`, N from 0, or in `question`."""
    if not isinstance(step, dict):
        raise InvalidInput(f"`steps` holds {called(step)}, not an object with a question, an answer and its pages.")
    names = {
        of: next((name for name in (f"{of}{number - 1}", of) if name in step), None) for of in ("question", "answer")
    }
    if names["question"] is None:
        raise InvalidInput(f"step {number} has no `question{number - 1}`. Add the question of the step.")
    hop = {
        "key": f"h{number}",
        "question": text_of(step, names["question"]),
        "answer": text_of(step, names["answer"]) if names["answer"] else "",
        "metadata": rest_of(step, "reference_page", *_SAID_OF, *filter(None, names.values())),
    }
    return hop, list(dict.fromkeys(_pages(step, "reference_page")))


# What people said of pages --------------------------------------------------------------------------------------------


def _judged(part: Record) -> dict[int, str]:
    """Page (from 1) of which people said something, in a record or a step → what; InvalidInput where they said both."""
    found: dict[int, str] = {}
    for name, label in _SAID_OF.items():
        for page in _pages(part, name):
            if found.setdefault(page, label) != label:
                raise InvalidInput(f"page {page - 1} stands in `verified_page` and in `not_evidence_page`. Keep one.")
    return found


def _labels(record: Record) -> Iterator[tuple[str, str, str]]:
    document = record["doc_path"] if "doc_path" in record or "file_name" not in record else record["file_name"]
    hops = [(step, f"|hop:h{number}") for number, step in enumerate(list_of(record, "steps"), 1)]
    for part, hop in [(record, ""), *hops]:
        for page, label in sorted(_judged(part).items()):
            yield _CRITERION, f"page:{document}:{page}{hop}", label


_SAID = Said(RATER, _labels)


def _verified(labels: FinalLabels, documents: Sequence[str], of_hop: str) -> Record:
    """The documents' pages (from 0) of one hop, or of no hop, by what their final labels say; only what has such pages.

    A record is about one document: what is said of pages of another one has no place.
    """
    found: dict[str, list[int]] = {}
    for (criterion, target), value in labels.items():
        page, bar, hop = target.partition("|")
        document, _, number = page.removeprefix("page:").rpartition(":")
        if criterion == _CRITERION and bar + hop == of_hop and document in documents:
            for name, label in _SAID_OF.items():
                if value == label:
                    found.setdefault(name, []).append(int(number) - 1)
    return {name: sorted(found[name]) for name in _SAID_OF if name in found}


# Writing --------------------------------------------------------------------------------------------------------------


def _record(item: Normal) -> Record | None:
    """An item as a record; None for one of another system, and for one of no or several documents."""
    documents, metadata = item.get("documents", []), metadata_of(item)
    if item["system"] != DEFAULT_SYSTEM or len(documents) != 1:
        return None
    pages = [
        unit
        for unit in parts_of(item, "evidence")
        if unit.get("role") == "gold" and unit.get("pages") and unit.get("document", documents[0]) == documents[0]
    ]
    hops = parts_of(item, "hops")
    unclaimed = _unclaimed(metadata) if hops else []
    evidence = [page for unit in pages for page in unit["pages"]]
    name = "file_name" if metadata.get("file_name") == documents[0] else "doc_path"
    record = {
        "uid": re.sub("^(?:single|multi)-", "", item["question_key"]),
        "question": item["question"],
        "answer": item["answer"],
        "reference_page": [page - 1 for page in dict.fromkeys([*evidence, *unclaimed])],
        name: documents[0],
        **given(language=item.get("language"), query_type=item.get("category")),
        **({"steps": [_as_step(n, hop, pages) for n, hop in enumerate(hops)]} if hops else {}),
        **item.get(LABELS, {}),
    }
    return beside(record, without(metadata, "pages_of_no_step") if unclaimed else metadata, (*_TAKEN, *_SAID_OF))


def _unclaimed(metadata: Normal) -> list[int]:
    """The pages that metadata keeps as those of no step; none where it keeps something else under that name."""
    kept = metadata.get("pages_of_no_step")
    found = kept if isinstance(kept, list) else []
    return found if all(type(page) is int and page >= 1 for page in found) else []


def _as_step(number: int, hop: Normal, units: Sequence[Normal]) -> Record:
    step = {
        f"question{number}": hop["question"],
        f"answer{number}": hop.get("answer", ""),
        "reference_page": [page - 1 for unit in units if unit.get("hop") == number + 1 for page in unit["pages"]],
        **hop.get(LABELS, {}),
    }
    return beside(step, metadata_of(hop), _SAID_OF)


FORMATS.register(DoubleBench())
