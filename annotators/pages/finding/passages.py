"""Where the text of a passage stands on its pages, although the two were often read by different programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

from annotators.pages.documents.words import PageWords
from annotators.pages.finding.matching import Searchable
from annotators.pages.normal import Normal, normalise

LEAST_SCORE = 0.6
"""A place that is less like the passage is none."""

# A place on one page that is so much like the passage is not compared with places that run over two.
_NO_DOUBT = 0.92
_LONGEST = 20_000
_SHORTEST_FUZZY = 24
# So many equal characters in a row are no accident.
_BLOCK = 6
# So many characters of a passage that runs over two pages stand on each of them.
_LEAST_PART = 20
_MARKUP = re.compile(r"<[^>\n]{1,200}>|!\[[^\[\]\n]*\]\([^()\n]*\)|[|*_#`]{1,3}|-{3,}")


@dataclass(frozen=True)
class PassagePlace:
    """A place of a passage: the page, one box a line (fractions of the page as displayed), and how alike the two are.

    score: from 0 to 1; 1 means that the page has the very words (but for spelling variants).
    """

    page: int
    boxes: list[list[float]]
    score: float


def locate(text: str, pages: Mapping[int, PageWords]) -> list[PassagePlace]:
    """The place of the passage on these pages; two places if it runs over from one page to the next; else none."""
    passage = normalise(_MARKUP.sub(" ", text[:_LONGEST]))
    if not passage.text or not pages:
        return []
    exact = _exact(passage, pages)
    if exact:
        return exact
    if len(passage.text) < _SHORTEST_FUZZY:
        return []
    found = {number: place for number, words in pages.items() if (place := _alike(passage.text, number, words))}
    best = max(found.values(), key=lambda place: place.score, default=PassagePlace(0, [], 0.0))
    two = _over_two(passage.text, pages) if best.score < _NO_DOUBT else []
    if two and two[0].score > best.score:
        return two
    return [best] if best.score >= LEAST_SCORE else []


def _exact(passage: Normal, pages: Mapping[int, PageWords]) -> list[PassagePlace]:
    numbers = sorted(pages)
    searchable = Searchable([(number, pages[number].normal) for number in numbers])
    hit = next(searchable.find(passage), None)
    if hit is None:
        return []
    number = numbers[hit.page]
    return [PassagePlace(number, pages[number].boxes_between(hit.start, hit.end), 1.0)]


def _alike(passage: str, number: int, words: PageWords) -> PassagePlace | None:
    """The part of the page that is most like the passage."""
    page = words.normal.text
    if not page:
        return None
    if len(page) < len(passage):
        # The passage holds the page, or more than it.
        score = fuzz.partial_ratio(page, passage) / 100 * len(page) / len(passage)
        return PassagePlace(number, words.boxes_between(0, len(page)), round(score, 3))
    found = fuzz.partial_ratio_alignment(passage, page, score_cutoff=50)
    if found is None:
        return None
    start, end = _trimmed(passage, page, found.dest_start, found.dest_end)
    return PassagePlace(number, words.boxes_between(start, end), round(found.score / 100, 3))


def _trimmed(passage: str, page: str, start: int, end: int) -> tuple[int, int]:
    """The window without what stands before the first and after the last characters that both have in longer pieces."""
    blocks = [block for block in LCSseq.editops(passage, page[start:end]).as_matching_blocks() if block.size >= _BLOCK]
    if not blocks:
        return start, end
    return start + blocks[0].b, start + blocks[-1].b + blocks[-1].size


def _over_two(passage: str, pages: Mapping[int, PageWords]) -> list[PassagePlace]:
    """A passage that begins at the foot of one page and ends at the head of the next."""
    for number in sorted(pages):
        after = pages.get(number + 1)
        if after is None:
            continue
        first, second = pages[number].normal.text, after.normal.text
        # Enough of both pages that the passage lies within, whatever stands at the foot and at the head.
        tail, head = first[-2 * len(passage) :], second[: 2 * len(passage)]
        cut = len(first) - len(tail)
        found = fuzz.partial_ratio_alignment(passage, tail + head, score_cutoff=LEAST_SCORE * 100)
        if found is None:
            continue
        start, end = found.dest_start, found.dest_end
        if start < len(tail) < end and min(len(tail) - start, end - len(tail)) >= _LEAST_PART:
            score = round(found.score / 100, 3)
            return [
                PassagePlace(number, pages[number].boxes_between(cut + start, len(first)), score),
                PassagePlace(number + 1, after.boxes_between(0, end - len(tail)), score),
            ]
    return []
