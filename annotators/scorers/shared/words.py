"""Words: texts cut into tokens and brought to one form, in any script, for the scorers that compare words."""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Literal

from annotators.scorers.shared.stems import stem

WITHOUT_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no space between words, as the inside of a regular expression's class: Thai, Lao, Burmese, Khmer,
Han (Chinese), Kana (Japanese). Their tokens are single characters with the marks that belong to them."""

_ASCII_WORDS = re.compile(r"[a-z0-9]+")
_ARABIC_LETTERS = str.maketrans({"\u0622": "\u0627", "\u0623": "\u0627", "\u0625": "\u0627", "\u0671": "\u0627"}) | {
    0x0649: "\u064a",  # alef maqsura is read as yeh
}
_ARABIC_MARKS = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]")
_ARABIC = re.compile("[\u0600-\u06ff]")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def plain(text: str) -> str:
    """One form of a text for comparing: NFKC, upper and lower case alike, decimal digits of every script as 0 to 9.

    In Arabic script also: vowel signs, Koranic marks and tatweel go; alef with hamza, madda or wasla is a plain alef;
    alef maqsura is yeh. The article and ta marbuta stay. ASCII text is only brought to lower case.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("\u00ad", "")
    if _ARABIC.search(text):
        text = _ARABIC_MARKS.sub("", text).translate(_ARABIC_LETTERS)
    return "".join(_as_ascii_digit(letter) if letter.isdecimal() else letter for letter in text)


def words(text: str) -> list[str]:
    """The tokens of a text in their order: words, numbers, and the characters of scripts without spaces.

    Everything that is no letter, mark or digit parts tokens. Of ASCII text the same tokens as rouge-score's tokenizer.
    """
    form = plain(text)
    if form.isascii():
        return _ASCII_WORDS.findall(form)
    return _unicode_words().findall(form)


def ascii_words(text: str) -> list[str]:
    """The tokens of rouge-score's default tokenizer: runs of a–z and 0–9; every other letter is lost."""
    return _ASCII_WORDS.findall(text.lower())


Tokens = Literal["unicode", "ascii"]

TOKENIZERS: dict[Tokens, Callable[[str], list[str]]] = {"unicode": words, "ascii": ascii_words}
"""How a text becomes tokens: right for every script, or exactly rouge-score's default, which loses all but a–z, 0–9."""


def tokenizer(tokens: Tokens, stemming: bool) -> Callable[[str], list[str]]:
    """Text → tokens, stemmed when asked."""
    cut = TOKENIZERS[tokens]
    if not stemming:
        return cut
    return lambda text: [stem(token) for token in cut(text)]


def squad_form(text: str) -> str:
    """SQuAD's normal form: lower case, without ASCII punctuation, without a, an and the, single spaces.

    Rajpurkar et al. 2016, `normalize_answer` of the evaluation script.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def answer_form(text: str, *, articles: bool = True) -> str:
    """`squad_form` for every script: `plain`, without punctuation of any script, single spaces.

    `articles` takes English articles away (leave it out for other languages, where these are words). Characters of
    scripts without spaces are set apart, so that splitting at spaces gives tokens. Equal to `squad_form` on ASCII text.
    """
    if text.isascii():
        return squad_form(text) if articles else " ".join(text.lower().translate(_PUNCTUATION).split())
    form = plain(text).translate(_PUNCTUATION)
    form = "".join(letter for letter in form if not unicodedata.category(letter).startswith("P"))
    if articles:
        form = _ARTICLES.sub(" ", form)
    return " ".join(_apart().sub(r" \g<0> ", form).split())


def is_english(language: str | None) -> bool:
    """Whether a language tag (en, en-GB, eng) is English; a missing one counts as English."""
    return language is None or re.split(r"[-_]", language.strip().lower())[0] in ("", "en", "eng", "english")


@cache
def _marks() -> str:
    """All combining marks as the inside of a regular expression's class."""
    ranges: list[list[int]] = []
    for code in range(0x300, min(sys.maxunicode + 1, 0x1F000)):
        if unicodedata.category(chr(code)).startswith("M"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


@cache
def _unicode_words() -> re.Pattern[str]:
    return re.compile(f"[{WITHOUT_SPACES}][{_marks()}]*|(?:(?![{WITHOUT_SPACES}_])[\\w{_marks()}])+")


@cache
def _apart() -> re.Pattern[str]:
    return re.compile(f"[{WITHOUT_SPACES}][{_marks()}]*")


@cache
def _as_ascii_digit(letter: str) -> str:
    return str(unicodedata.decimal(letter))
