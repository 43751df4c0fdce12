"""Phrase recall: the share of a reference answer's required phrases that are found in the answer (FATHOMS-RAG)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import Field

from annotators.scoring import SCORERS, ItemView, Parameters, Reference, Scorer, ScoreValue, ValueKind

Mode = Literal["fathoms_code", "paper", "word_boundary"]

_MARKERS = ("TIMED OUT", "timed out", "rate limit exceeded")
_DASHES = re.compile("[\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d\u058a\u05be-]")
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts that put no space between words (Thai, Lao, Burmese, Khmer, Chinese, Japanese): no word ends to look for."""


class PhraseRecallParameters(Parameters):
    """How a phrase is looked for in an answer."""

    mode: Mode = Field("fathoms_code", description="as the authors' evaluator, as the paper says, or whole words only")


class PhraseRecall(Scorer[PhraseRecallParameters]):
    """The best recall over the reference answers. Items without a phrase to look for are unscored."""

    name = "phrase_recall"
    version = "1"
    title = "Phrase recall"
    summary = "The share of required phrases found in the answer; of several acceptable references the best counts."
    source = "FATHOMS-RAG, section III.B, algorithm 1; mode fathoms_code as evaluation/evaluator.py of its repository."
    values = (ValueKind("correctness", "Correctness"),)
    parameters = PhraseRecallParameters

    def score(self, items: Sequence[ItemView], parameters: PhraseRecallParameters) -> list[list[ScoreValue]]:
        """One value for each item, `correctness` (0 to 1), with the phrases found of the best reference."""
        return [[phrase_recall(item.answer, item.references, parameters.mode)] for item in items]


SCORERS.register(PhraseRecall())


def phrase_recall(answer: str, references: Sequence[Reference], mode: Mode = "fathoms_code") -> ScoreValue:
    """max over the references a of R(a, P) = (1/n) Σ 1[phrase j of a is found in P], P the answer.

    A reference that is a text counts as one phrase. A phrase that is only white space is none; a reference without
    phrases is left out; without any phrase the item is unscored (the authors' code gives 0 there). An empty answer
    scores 0. Modes, after which `details` says what was found of the first best reference:

    - fathoms_code: substring, both sides in lower case with `-` read as a space. An answer that is an error marker
      (`timed out`, `TIMED OUT`, `rate limit exceeded`, or beginning with `error`, in this spelling) scores 0.
    - paper: substring, upper and lower case alike.
    - word_boundary: as `paper` after Unicode NFKC, case folding, every dash and run of white space read as one space;
      and a phrase must not begin or end inside a word or a number: 8 is not in 18, 8.5 or 1,800.
    """
    acceptable = [(index, phrases) for index, one in enumerate(references) if (phrases := _phrases(one))]
    if not acceptable:
        reason = "no reference has a phrase to look for" if references else "the item has no reference"
        return ScoreValue("correctness", None, reason)
    if mode == "fathoms_code" and (answer in _MARKERS or answer.startswith("error")):
        index, phrases = acceptable[0]
        details = {"reference": index, "found": [], "missing": phrases, "error_marker": True}
        return ScoreValue("correctness", 0.0, details=details)
    find = _finder(answer, mode)
    best, best_index, best_found = -1.0, 0, [False]
    for index, phrases in acceptable:
        found = [find(phrase) for phrase in phrases]
        recall = sum(found) / len(found)
        if recall > best:
            best, best_index, best_found = recall, index, found
    phrases = dict(acceptable)[best_index]
    details = {
        "reference": best_index,
        "found": [phrase for phrase, there in zip(phrases, best_found, strict=True) if there],
        "missing": [phrase for phrase, there in zip(phrases, best_found, strict=True) if not there],
    }
    return ScoreValue("correctness", best, details=details)


def _phrases(reference: object) -> list[str]:
    phrases = reference if isinstance(reference, list) else [reference]
    return [phrase for phrase in phrases if isinstance(phrase, str) and phrase.strip()]


def _finder(answer: str, mode: Mode) -> Callable[[str], bool]:
    match mode:
        case "fathoms_code":
            as_code = answer.lower().replace("-", " ")
            return lambda phrase: phrase.lower().replace("-", " ") in as_code
        case "paper":
            lower = answer.lower()
            return lambda phrase: phrase.lower() in lower
        case "word_boundary":
            folded = _folded(answer)
            return lambda phrase: _in_whole_words(_folded(phrase), folded)


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("\u00ad", "")
    return " ".join(_DASHES.sub(" ", text).split())


def _in_whole_words(phrase: str, text: str) -> bool:
    if not phrase:
        return False
    start = text.find(phrase)
    while start >= 0:
        if not _inside_a_word(text, start) and not _inside_a_word(text, start + len(phrase)):
            return True
        start = text.find(phrase, start + 1)
    return False


def _inside_a_word(text: str, at: int) -> bool:
    """Whether the place before character `at` is within a word or a number."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if unicodedata.category(after).startswith("M"):
        return True
    if _in_words(before) and _in_words(after):
        return True
    if before in ".," and after.isdigit():
        return at >= 2 and text[at - 2].isdigit()
    return after in ".," and before.isdigit() and text[at + 1 : at + 2].isdigit()


def _in_words(letter: str) -> bool:
    of_a_word = letter.isalnum() or letter == "_" or unicodedata.category(letter).startswith("M")
    return of_a_word and not _WITHOUT_SPACES.match(letter)
