"""What of an item stands where on its pages, as annotators see it marked there: phrases, and places of passages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotators.pages.documents.words import PageWords
from annotators.pages.finding.matching import Searchable
from annotators.pages.finding.passages import PassagePlace, locate
from annotators.pages.finding.phrases import Phrase, find_phrases
from annotators.pages.words.index import Source, WordIndex
from db.annotating.disclosure import AssignmentReading, PageSource, Passage, VisibleDocument
from db.annotating.previews import StepPreview
from db.items.documents import document_file

MOST_PAGES = 1_000
"""Pages of one item that its phrases are looked for on; what evidence cites comes first."""

NOT_SUPPLIED = "The document's bytes have not been supplied. A researcher can attach them on the page Data."


class OnPages:
    """Looks on the pages of an item for what a step shows of it; `folder` has the documents' bytes.

    `seconds` is about how long pages are read that are not in the index yet (None: until all are read); what is found
    is not `complete` then, and is when asked for again.
    """

    def __init__(self, index: WordIndex, folder: Path) -> None:
        self.index, self._folder = index, folder

    def of_step(self, step: StepPreview, *, seconds: float | None) -> dict[str, Any]:
        """`phrases` and `passages` of a step by their names, each as the browser gets it, where it asks for them."""
        shown, given = step.material, step.reading
        if not any(document["supplied"] for document in shown.get("documents", ())):
            return {}
        found = {}
        if "answer" in shown or shown.get("references"):
            found["phrases"] = self.phrases(given, seconds=seconds)
        if any(unit["text"] and not unit["box"] and unit["document"] is not None for unit in shown.get("evidence", ())):
            found["passages"] = self.passages(given, seconds=seconds)
        return found

    def phrases(self, given: AssignmentReading, *, seconds: float | None) -> dict[str, Any]:
        """The phrases of the answer and the references, on the pages that are shown."""
        if not (given.answer or given.references) or not given.documents:
            return {"phrases": [], "complete": True, "searched": 0, "without_text": []}
        words, complete = self._words_of(given, seconds)
        searchable = Searchable([(place, page_words.normal) for place, page_words in words.items()])
        found = find_phrases(given.answer, given.references, searchable)
        without = [
            {"document": document, "page": page} for (document, page), page_words in words.items() if page_words.n == 0
        ]
        return {
            "phrases": [_phrase(phrase, searchable, words) for phrase in found],
            "complete": complete,
            "searched": len(words),
            "without_text": without,
        }

    def passages(self, given: AssignmentReading, *, seconds: float | None) -> dict[str, Any]:
        """Where the passages stand on the pages that are shown."""
        until = _until(seconds)
        out: list[dict[str, Any]] = []
        complete = True
        for passage in given.passages:
            visible = next(
                (document for document in given.documents if document.source.document_id == passage.document_id), None
            )
            places, reason, all_read = self._places(passage, visible, until)
            complete = complete and all_read
            out += [
                {
                    "evidence": passage.evidence,
                    "document": passage.document_id,
                    "page": place.page,
                    "boxes": place.boxes,
                    "score": place.score,
                }
                for place in places
            ]
            if not places:
                out.append({"evidence": passage.evidence, "reason": reason})
        return {"passages": out, "complete": complete}

    def source(self, source: PageSource) -> Source | None:
        """A document as the index takes it; None without its bytes."""
        if source.sha256 is None or source.media_type is None:
            return None
        return Source(source.sha256, document_file(self._folder, source.sha256), source.media_type)

    def _places(
        self, passage: Passage, visible: VisibleDocument | None, until: float | None
    ) -> tuple[list[PassagePlace], str, bool]:
        """Places of a passage, else the reason why there are none, and whether all of its pages were read."""
        if visible is None:
            return [], "The evidence names no document.", True
        source = self.source(visible.source)
        if source is None:
            return [], NOT_SUPPLIED, True
        pages = [page for page in visible.pages if page in passage.pages] or list(visible.pages[:MOST_PAGES])
        found = self.index.get(source, pages, seconds=_left(until))
        words = {
            page: page_words for page, page_words in found.items() if isinstance(page_words, PageWords) and page_words.n
        }
        all_read = len(found) == len(pages)
        places = locate(passage.text, words)
        if places:
            return places, "", all_read
        if not all_read:
            return [], "The pages are still being read.", False
        if not words:
            return [], "Its pages have no text layer." if found else "Its pages cannot be read.", True
        which = ", ".join(map(str, pages)) if len(pages) <= 5 else f"{pages[0]}–{pages[-1]}"
        return [], f"Its text was not found on page {which}.", True

    def _words_of(
        self, given: AssignmentReading, seconds: float | None
    ) -> tuple[dict[tuple[int, int], PageWords], bool]:
        """(document, page) → words, cited pages first, and whether all pages have been read."""
        until = _until(seconds)
        left = MOST_PAGES
        words: dict[tuple[int, int], PageWords] = {}
        complete = True
        for visible, pages in _cited_first(given):
            source = self.source(visible.source)
            if source is None:
                continue
            wanted = pages[:left]
            left -= len(wanted)
            found = self.index.get(source, wanted, seconds=_left(until))
            complete = complete and len(found) == len(set(wanted))
            for page in wanted:
                if isinstance(page_words := found.get(page), PageWords):
                    words[visible.source.document_id, page] = page_words
        return words, complete


def _until(seconds: float | None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())


def _cited_first(given: AssignmentReading) -> Iterator[tuple[VisibleDocument, list[int]]]:
    """Each document with the pages that passages cite, then each with its others."""
    cited: dict[int | None, set[int]] = {}
    for passage in given.passages:
        cited.setdefault(passage.document_id, set()).update(passage.pages)
    for is_cited in (True, False):
        for visible in given.documents:
            mine = cited.get(visible.source.document_id, set())
            pages = [page for page in visible.pages if (page in mine) is is_cited]
            if pages:
                yield visible, pages


def _phrase(
    phrase: Phrase, searchable: Searchable[tuple[int, int]], words: dict[tuple[int, int], PageWords]
) -> dict[str, Any]:
    hits = []
    for span in phrase.hits:
        document, page = searchable.keys[span.page]
        boxes = words[document, page].boxes_between(span.start, span.end)
        hits.append({"document": document, "page": page, "boxes": boxes})
    return {"text": phrase.text, "of": phrase.of, "kind": phrase.kind, "hits": hits, "count": phrase.count}
