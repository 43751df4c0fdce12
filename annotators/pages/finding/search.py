"""Searching the words of a document's pages for what a person typed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotators.errors import InvalidInput
from annotators.pages.documents.words import PageWords
from annotators.pages.finding.matching import Searchable
from annotators.pages.normal import normalise
from annotators.pages.words.index import Source, WordIndex

LONGEST_QUERY = 200
MOST_HITS = 500
"""Hits that are listed; all are counted, up to a bound."""

_MOST_COUNTED = 20_000
_PAGES_AT_ONCE = 512


@dataclass(frozen=True)
class Hit:
    """A place: its page, one box a line (fractions of the page as displayed), and the words around it."""

    page: int
    boxes: list[list[float]]
    context: str


@dataclass(frozen=True)
class Hits:
    """The first hits in the order of the pages, and how many there are. reason: why nothing was looked for, if so."""

    hits: list[Hit]
    count: int
    reason: str = ""


def search(query: str, pages: Mapping[int, PageWords]) -> Hits:
    """Where the query stands on the pages; parts of words count, as in a browser.

    Raises InvalidInput for a query of more than LONGEST_QUERY characters.
    """
    if len(query) > LONGEST_QUERY:
        raise InvalidInput(f"The search has {len(query)} characters: look for at most {LONGEST_QUERY}.")
    phrase = normalise(query)
    if not phrase.text:
        return Hits([], 0, "Type a letter or a digit to search for." if query.strip() else "")
    numbers = sorted(pages)
    searchable = Searchable([(number, pages[number].normal) for number in numbers])
    spans = list(itertools.islice(searchable.find(phrase, whole_words=False), _MOST_COUNTED))
    hits = []
    for span in spans[:MOST_HITS]:
        words = pages[numbers[span.page]]
        place = words.boxes_between(span.start, span.end)
        hits.append(Hit(numbers[span.page], place, words.context(span.start, span.end)))
    return Hits(hits, len(spans))


@dataclass
class Searched:
    """What a search of a document found, and on which pages it could not look.

    searched: pages whose words were looked at. without_text: those of them that have none. unreadable: pages that
    cannot be read. complete: False when the time ran out before all pages had been read.
    """

    hits: list[Hit] = field(default_factory=list)
    count: int = 0
    searched: int = 0
    without_text: list[int] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    complete: bool = True
    reason: str = ""


def search_document(index: WordIndex, source: Source, pages: Sequence[int], query: str, *, seconds: float) -> Searched:
    """Search these pages (from 1) of a document, reading at most for `seconds` those that are not in the index yet."""
    out = Searched()
    until = time.monotonic() + seconds
    for start in range(0, len(pages), _PAGES_AT_ONCE):
        wanted = pages[start : start + _PAGES_AT_ONCE]
        found = index.get(source, wanted, seconds=max(0.0, until - time.monotonic()))
        words = {number: page for number, page in found.items() if isinstance(page, PageWords)}
        hits = search(query, words)
        out.hits += hits.hits[: MOST_HITS - len(out.hits)]
        out.count += hits.count
        out.searched += len(words)
        out.without_text += [number for number in sorted(words) if words[number].n == 0]
        out.unreadable += sorted(set(found) - set(words))
        out.complete = out.complete and len(found) == len(wanted)
        out.reason = hits.reason
    return out
