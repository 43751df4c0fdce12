"""The phrases of an answer and of its references that are looked for on the pages, and where they stand.

A reference that is a set of required phrases is looked for phrase by phrase. Any other text is taken apart: numbers
with their units, quotations, names, and the longest runs of words that also stand on a page.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from annotators.pages.finding.matching import Searchable, Span, common_runs
from annotators.pages.finding.stopwords import STOPWORDS
from annotators.pages.normal import (
    DENSE,
    SOFT,
    Normal,
    begins_without_blank,
    is_group,
    normalise,
    normalise_words,
)

MOST_PHRASES = 60
MOST_HITS = 50
"""Hits that are listed of one phrase; all are counted."""

_LONGEST_TEXT = 60_000
_FEWEST_WORDS = 3
# A run of words of a script without blanks has at least so many characters.
_FEWEST_DENSE = 4
# A short run that stands everywhere says nothing.
_COMMON_RUN = 12
_MOST_RUNS = 150
# Candidates of one text that are looked for one by one.
_MOST_CANDIDATES = 120
_SHORT_RUN = 4
_WHOLE_ANSWER_WORDS = 8
_STOP = frozenset(normalise(word).text for word in STOPWORDS)

_UNIT = (
    r"%|‰|percent|per cent|percentage points?|°\s?[CF]|K|[kMGT]?(?:g|m|W|Wh|V|A|Hz|B|J|Pa|b)|[cmμµn]m|km|kg|mg|ml|t|ha|"
    r"km²|m²|m³|km2|m2|m3|l|L|s|ms|min|h|hours?|days?|weeks?|months?|years?|minutes?|seconds?|"
    r"tonnes?|tons?|litres?|liters?|met(?:re|er)s?|kilomet(?:re|er)s?|miles?|dollars?|euros?|points?|times|"
    r"thousand|million|billion|trillion|mn|bn|k|M|x"
)
# Times and dates are one number: the 17 of 17:42 says nothing about 17:50.
_CLOCK = r"\d{1,2}(?::\d{2}){1,2}(?![\d:])|\d{4}-\d{2}-\d{2}(?![\d-])"
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.,])[+\-−–]?(?:[$€£¥₹]\s?)?(?:{_CLOCK}|\d(?:[\d.,'’\u00a0\u202f\u2009]*\d)?)"
    rf"(?:\s?(?:{_UNIT})(?![A-Za-z0-9_]))*"
    r"(?:\s?[$€£¥₹])?",
)
_SPACED_GROUPS = re.compile(r"(?<![A-Za-z0-9_.,])\d{1,3}(?:[ \u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?(?![A-Za-z0-9_])")
_QUOTED = re.compile(
    r"“([^”]{2,200})”|«([^»]{2,200})»|„([^“”]{2,200})[“”]|\"([^\"\n]{2,200})\"|‘([^’\n]{3,200})’|「([^」]{1,200})」"
)
_TOKEN = re.compile(rf"{DENSE}|(?:(?!{DENSE})\S)+")
_BLANK_SEPARATED = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"[.!?:;…。！？]['\")\]”’*_]*$")
_CITATION = re.compile(r"\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_CLAUSE_END = re.compile(r"[.;:!?…。；：！？]['\")\]”’*_]*$")
_AND = re.compile(r"(?<!\s)\s+(?:and|und|et|&)\s+(?:the\s+)?")
_DIGITS = re.compile(rf"{_CLOCK}|\d(?:[\d.,'’ \u00a0\u202f\u2009]*\d)?")
_POSSESSIVE = re.compile(r"['’]s$")
_AROUND = " \t\n.,;:!?…()[]{}\"'“”‘’«»„*_`#|。，、；：！？（）「」"
_AROUND_NAMES = _AROUND + "-–—•>"
_LITTLE_WORDS = frozenset({"of", "the", "and", "for", "de", "la", "du", "von", "van", "der", "den", "al", "&"})


class Kind(StrEnum):
    """What a phrase is."""

    REQUIRED = "required"
    NUMBER = "number"
    NAME = "name"
    QUOTE = "quote"
    WORDS = "words"


@dataclass(frozen=True)
class Phrase:
    """A phrase as it is written in its text, and where it stands. of: answer or reference."""

    text: str
    of: str
    kind: Kind
    hits: tuple[Span, ...] = ()
    count: int = 0


@dataclass
class _Text:
    """A text that is taken apart: its words, their places in it, and its normal form."""

    written: str
    places: list[tuple[int, int]]
    normal: Normal

    def run(self, first: int, last: int) -> Normal:
        """The normal form of words `first` to before `last`."""
        start, end = self.normal.starts[first], self.normal.starts[last]
        return Normal(self.normal.text[start:end], self.normal.marks[start:end] + bytes([SOFT]), (0, end - start))

    def as_written(self, first: int, last: int) -> str:
        """The same words as they are written, without the signs around them."""
        return self.written[self.places[first][0] : self.places[last - 1][1]].strip(_AROUND)


@dataclass
class _Collected:
    """The phrases of a text so far: where each begins in it, and what must not be listed again."""

    of: str
    pages: Searchable[Any]
    phrases: list[tuple[int, Phrase]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    covered: dict[int, list[Span]] = field(default_factory=dict)

    def add(self, at: int, text: str, kind: Kind, form: Normal | None = None, *, even_absent: bool = True) -> bool:
        """List a phrase that begins at character `at`; False when it stands nowhere (and that is not listed)."""
        form = form or normalise(text)
        if not form.text or form.text in self.seen:
            return True
        hits = list(self.pages.find(form))
        if not hits and not even_absent:
            return False
        self.seen.add(form.text)
        new = [hit for hit in hits if not self._is_covered(hit)]
        if new or not hits:
            self.phrases.append((at, Phrase(text, self.of, kind, tuple(new[:MOST_HITS]), len(new))))
        if kind is not Kind.REQUIRED:
            for hit in hits:
                self.covered.setdefault(hit.page, []).append(hit)
        return True

    def _is_covered(self, hit: Span) -> bool:
        return any(span.start <= hit.start and hit.end <= span.end for span in self.covered.get(hit.page, ()))


def find_phrases(answer: str, references: Sequence[str | Sequence[str]], pages: Searchable[Any]) -> list[Phrase]:
    """The phrases of the references, then those of the answer, each with its hits on the pages.

    Numbers, names, quotations and required phrases that stand nowhere are listed with count 0; runs of words are listed
    only where they stand, the longest first, and what stands inside them is not listed again. At most MOST_PHRASES.
    """
    of_reference = _Collected("reference", pages)
    at = 0
    for reference in references:
        for text in () if isinstance(reference, str) else reference:
            of_reference.add(at, text, Kind.REQUIRED)
            at += 1
    for reference in references:
        if isinstance(reference, str):
            _take_apart(of_reference, reference, at)
            at += len(reference) + 1
    of_answer = _Collected("answer", pages)
    _take_apart(of_answer, answer, 0)
    # Half of the places at least for each of the two.
    most = MOST_PHRASES - min(len(of_answer.phrases), MOST_PHRASES // 2)
    first = _chosen(of_reference, most)
    return first + _chosen(of_answer, MOST_PHRASES - len(first))


def _chosen(collected: _Collected, most: int) -> list[Phrase]:
    """The phrases in the order of their text; when there are too many, the shortest runs of words go first."""
    ranked = sorted(collected.phrases, key=lambda placed: (placed[1].kind is Kind.WORDS, -len(placed[1].text)))
    return [phrase for _, phrase in sorted(ranked[:most], key=lambda placed: placed[0])]


def _take_apart(collected: _Collected, written: str, offset: int) -> None:
    written = written[:_LONGEST_TEXT]
    text = _read(written)
    if not text.places:
        return
    n_words = len(text.places)
    if n_words <= _WHOLE_ANSWER_WORDS and _says_something(text, 0, n_words):
        whole = text.as_written(0, n_words)
        collected.add(offset, whole, Kind.WORDS, text.run(0, n_words), even_absent=False)
    for first, last in _runs(text, collected.pages):
        short = last - first <= _SHORT_RUN
        hits = itertools.islice(collected.pages.find(text.run(first, last)), _COMMON_RUN + 1) if short else ()
        if sum(1 for _ in hits) <= _COMMON_RUN:
            place = offset + text.places[first][0]
            collected.add(place, text.as_written(first, last), Kind.WORDS, text.run(first, last), even_absent=False)
    for match in itertools.islice(_QUOTED.finditer(written), _MOST_CANDIDATES):
        collected.add(offset + match.start(), next(filter(None, match.groups())).strip(_AROUND), Kind.QUOTE)
    for at, number, bare in itertools.islice(_numbers(written), _MOST_CANDIDATES):
        if not collected.add(offset + at, number, Kind.NUMBER, even_absent=False):
            found = bare is not None and collected.add(offset + at, bare, Kind.NUMBER, even_absent=False)
            if not found:
                collected.add(offset + at, number, Kind.NUMBER)
    for at, name in itertools.islice(_names(written), _MOST_CANDIDATES):
        # "UNESCO and Corrie Town" are two names unless they stand together on a page.
        if not collected.add(offset + at, name, Kind.NAME, even_absent=False):
            for part in _AND.split(name):
                collected.add(offset + at, part, Kind.NAME)


def _read(written: str) -> _Text:
    """The text's words; in scripts without blanks each character is one."""
    places = [match.span() for match in _TOKEN.finditer(written)]
    words = [written[start:end] for start, end in places]
    joined = [
        word[1] + 1 == following[0] and is_group(written[slice(*word)], written[slice(*following)])
        for word, following in itertools.pairwise(places)
    ]
    return _Text(written, places, normalise_words(words, joined))


def _says_something(text: _Text, first: int, last: int) -> bool:
    """Whether a word of the run is more than a connecting word."""
    forms = (text.normal.text[text.normal.starts[at] : text.normal.starts[at + 1]] for at in range(first, last))
    return any(form not in _STOP and (len(form) > 2 or not form.isascii() or form.isdigit()) for form in forms)


def _runs(text: _Text, pages: Searchable[Any]) -> list[tuple[int, int]]:
    """(first word, word after the last) of the longest runs that stand on a page, without overlaps in the text."""
    word_at = {start: at for at, start in enumerate(text.normal.starts)}
    found: set[tuple[int, int]] = set()
    for start, end in common_runs(text.normal, pages):
        first, last = word_at.get(start), word_at.get(end)
        if first is not None and last is not None:
            first, last = _without_scraps(text, first, last)
            if _is_run(text, first, last):
                found.add((first, last))
    chosen: list[tuple[int, int]] = []
    taken: set[int] = set()
    for first, last in sorted(found, key=lambda run: (run[0] - run[1], run[0])):
        if taken.isdisjoint(range(first, last)):
            chosen.append((first, last))
            taken.update(range(first, last))
    return chosen[:_MOST_RUNS]


def _without_scraps(text: _Text, first: int, last: int) -> tuple[int, int]:
    """The run without one or two words at its ends that belong to another clause."""
    ends = [at for at in range(first, last - 1) if _CLAUSE_END.search(text.written[slice(*text.places[at])])]
    if ends and last - 1 - ends[-1] < _FEWEST_WORDS:
        last = ends.pop() + 1
    if ends and ends[0] + 1 - first < _FEWEST_WORDS:
        first = ends[0] + 1
    return first, last


def _is_run(text: _Text, first: int, last: int) -> bool:
    dense = begins_without_blank(text.written[text.places[first][0] : text.places[last - 1][1]])
    return last - first >= (_FEWEST_DENSE if dense else _FEWEST_WORDS) and _says_something(text, first, last)


def _numbers(written: str) -> Iterator[tuple[int, str, str | None]]:
    """(place, number with its unit, the number alone if that still says something) of each number."""
    taken = [match.span() for match in _CITATION.finditer(written)]
    for pattern in (_SPACED_GROUPS, _NUMBER):
        for match in pattern.finditer(written):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            taken.append((start, end))
            number = match.group().strip(_AROUND)
            digits = _DIGITS.search(number)
            if digits is None:
                continue
            bare = digits.group().rstrip(".,'’")
            n_digits = sum(character.isdigit() for character in bare)
            if bare == number:
                if n_digits > 1:
                    yield start, number, None
            else:
                yield start, number, bare if n_digits > 1 else None


def _names(written: str) -> Iterator[tuple[int, str]]:
    """(place, name): capitalised words that do not only begin a sentence, abbreviations, and words with numbers."""
    words = [(match.start(), match.group()) for match in _BLANK_SEPARATED.finditer(written)]
    initial = [at == 0 or _begins_sentence(words[at - 1][1], word) for at, (_, word) in enumerate(words)]
    bare = [word.strip(_AROUND_NAMES) for _, word in words]
    inner = [word for word, first in zip(bare, initial, strict=True) if word[:1].isalpha() and not first]
    # German nouns and headings are capitalised throughout: there a single word is no name.
    singles = sum(_is_capital(word) for word in inner) <= 0.4 * len(inner)
    at = 0
    while at < len(words):
        if not _is_capital(bare[at]):
            if _is_code(bare[at]):
                yield words[at][0], bare[at]
            at += 1
            continue
        end = at + 1
        while end < len(words) and not initial[end] and words[end - 1][1][-1] not in ",;":
            if _is_capital(bare[end]):
                end += 1
            elif (
                bare[end] in _LITTLE_WORDS
                and end + 1 < len(words)
                and _is_capital(bare[end + 1])
                and not initial[end + 1]
            ):
                end += 2
            elif bare[end].isdigit() and words[end][1][0].isdigit():
                end += 1  # Table 5, May 2024
            else:
                break
        first = at
        if initial[at] and normalise(bare[at]).text in _STOP:
            first += 1
        n_capital = sum(_is_capital(word) for word in bare[first:end])
        alone = end - first == 1 and not _is_code(bare[first]) and (initial[first] or not singles)
        if n_capital and not alone and normalise(bare[first]).text not in _STOP:
            name = written[words[first][0] : words[end - 1][0] + len(words[end - 1][1])]
            yield words[first][0], _POSSESSIVE.sub("", name.strip(_AROUND_NAMES))
        at = end


def _begins_sentence(before: str, word: str) -> bool:
    return bool(_SENTENCE_END.search(before)) or word[:1] in "*#-•>|" or not any(map(str.isalnum, before))


def _is_capital(word: str) -> bool:
    return (word[:1].isupper() and any(character.islower() for character in word[1:])) or _is_code(word)


def _is_code(word: str) -> bool:
    """Whether it is an abbreviation (UNESCO) or a name with a number (GPT-4)."""
    letters = [character for character in word if character.isalpha()]
    if not letters or not word[0].isalpha():
        return False
    if len(letters) >= 2 and all(character.isupper() for character in letters):
        return True
    return letters[0].isupper() and any(character.isdigit() for character in word)
