"""The form of a text in which it is looked for: one string without blanks in which spelling variants are equal.

Case, ligatures and other compatibility forms, quotation marks, hyphens, accents, Arabic vowel signs, digits of other
scripts and ways of writing numbers all fall together, so that finding a phrase is finding a substring. Where words
began is kept beside the string, because "therapist" is not "the rapist".
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

NONE, WORD, SOFT = 0, 1, 2
"""Marks of a position: inside a word; where a word begins; where two texts may differ in whether a word begins
(a hyphen was dropped, a group of digits joined, or the script has no blanks)."""

_DASHES = (
    "-\u00ad\u058a\u05be\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u207b\u208b\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
)
_QUOTES = (
    "'\"`\u00ab\u00bb\u02b9\u02ba\u02bb\u02bc\u02bd\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033\u2034"
    "\u2039\u203a\u300c\u300d\u300e\u300f\uff02\uff07"
)
_LINE_END_HYPHENS = ("-", "\u00ad", "\u2010", "\u2011", "\u00ac")
# Signs that are kept: they say what a number is. Every other sign and mark of punctuation is dropped.
_KEPT = frozenset("%‰°#&@")
# Accents that stand over letters (also those that old PDFs set as characters of their own), Hebrew points, Arabic vowel
# signs and the stretching line. Marks of Indic and other scripts are vowels and stay.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u20d0-\u20ff]"
)
DENSE = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Characters (as a pattern) of scripts without blanks between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""
_WITHOUT_BLANKS = re.compile(DENSE)
_SPELT_OUT = {"percent": "%", "pct": "%"}
_OTHERS = str.maketrans({"\u0131": "i", "\u066b": ".", "\u066c": ",", "\u066a": "%", "\u060c": ",", "\u06d4": "."})

_NUMBER = re.compile(r"\d(?:[\d.,']*\d)?")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_LAKHS = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?")
_POINTS = re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_SWISS = re.compile(r"[1-9]\d{0,2}(?:'\d{3})+(?:[.,]\d+)?")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_FIRST_GROUP = re.compile(r"[^\w]*[1-9]\d{0,2}")
_NEXT_GROUP = re.compile(r"\d{3}(?:[.,]\d+)?\D*")


@dataclass(frozen=True)
class Normal:
    """A text in its normal form.

    text: without blanks. marks: one byte a character of `text`, and one for its end: NONE, WORD or SOFT. starts: the
    position in `text` at which each word of the source begins, and the length of `text` at the end.
    """

    text: str
    marks: bytes
    starts: Sequence[int]

    @property
    def n_words(self) -> int:
        """How many words begin in the text (for scripts without blanks: one a run)."""
        return max(1, self.marks[:-1].count(WORD))


def normalise(text: str) -> Normal:
    """A phrase, an answer or a query in its normal form; words are what blanks separate."""
    words = text.split()
    return normalise_words(words, [is_group(before, after) for before, after in itertools.pairwise(words)])


def normalise_words(words: Sequence[str], joined: Iterable[bool]) -> Normal:
    """Words of a page (or of a text) in their normal form.

    joined: for each pair of neighbours whether they stand so close that they may be one number ("1 234").
    """
    texts: list[str] = []
    marks = bytearray()
    starts: list[int] = []
    length, soft = 0, True
    may_join = iter(joined)
    for at, word in enumerate(words):
        form, inner, ends_soft = _normal_word(word)
        starts.append(length)
        if form:
            marks.append(SOFT if soft else WORD)
            marks += inner
            texts.append(form)
            length += len(form)
            soft = ends_soft
        if next(may_join, False) and at + 1 < len(words) and is_group(word, words[at + 1]):
            soft = True
    starts.append(length)
    marks.append(SOFT)
    return Normal("".join(texts), bytes(marks), starts)


def begins_without_blank(text: str) -> bool:
    """Whether the text holds a character of a script that puts no blanks between words."""
    return _WITHOUT_BLANKS.search(text) is not None


def is_group(before: str, after: str) -> bool:
    """Whether "1 234,5" may be one number."""
    if not _NEXT_GROUP.fullmatch(after):
        return False
    return _FIRST_GROUP.fullmatch(before) is not None or _NEXT_GROUP.fullmatch(before) is not None


@lru_cache(maxsize=50_000)
def _normal_word(word: str) -> tuple[str, bytes, bool]:
    """Its normal form, the marks of its characters after the first, and whether the next one may go on with it."""
    if word.isascii() and word.isalpha():
        form = _SPELT_OUT.get(lower := word.lower(), lower)
        return form, bytes(len(form) - 1), False
    ends_soft = word.endswith(_LINE_END_HYPHENS)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold()).translate(_OTHERS)
    text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
    text = _numbers("".join(map(_digit, text)))
    out: list[str] = []
    marks = bytearray()
    soft = False
    for at, character in enumerate(text):
        kept, soft_here = _keep(text, at, character)
        if not kept:
            soft = soft or soft_here
            continue
        dense = _WITHOUT_BLANKS.match(character) is not None
        marks.append(SOFT if soft or dense else NONE)
        soft = dense
        out.append(character)
    form = "".join(out)
    if form in _SPELT_OUT:
        return _SPELT_OUT[form], b"", False
    return form, bytes(marks[1:]), ends_soft or soft


def _keep(text: str, at: int, character: str) -> tuple[bool, bool]:
    """Whether the character stays, and else whether its place separates words."""
    if character.isalnum() or character in _KEPT:
        return True, False
    if character in _QUOTES:
        return False, False
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if character in _DASHES:
        # A range or a minus sign; a hyphen is dropped.
        return bool(after.isdigit() and not before.isalpha() and character != "\u00ad"), character != "\u00ad"
    if character in ".,":
        return before.isdigit() and after.isdigit(), True
    category = unicodedata.category(character)
    if category[0] == "M" or category in ("Sm", "Sc"):
        return True, False
    return False, category not in ("Cf", "Sk", "Cc")


def _digit(character: str) -> str:
    if character in _DASHES and character != "\u00ad":
        return "-"
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)


def _numbers(text: str) -> str:
    """Numbers written 1234.5, where what is there can be read in one way only."""
    if not any(character.isdigit() for character in text):
        return text
    if text[0] == "." and text[1:2].isdigit():
        text = f"0{text}"
    return _NUMBER.sub(lambda match: _number(match.group(), text[max(0, match.start() - 1) : match.start()]), text)


def _number(number: str, before: str) -> str:
    if number.isdigit():
        return number
    if _THOUSANDS.fullmatch(number) or _LAKHS.fullmatch(number):
        return number.replace(",", "")
    if _POINTS.fullmatch(number):
        return number.replace(".", "").replace(",", ".")
    if _SWISS.fullmatch(number):
        return number.replace("'", "").replace(",", ".")
    # [1,2] and Fig.1,2 are lists.
    if _DECIMAL_COMMA.fullmatch(number) and not (before and (before in "([{." or before.isalnum())):
        return number.replace(",", ".")
    return number
