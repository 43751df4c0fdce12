"""Required phrases: which of a reference answer's stand in an answer, where, and what share of them (FATHOMS-RAG)."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from annotators.items.item import Reference
from annotators.scorers.base import IMPORTED, ScoreValue, ValueKind
from annotators.scorers.shared.words import WITHOUT_SPACES

Mode = Literal["fathoms_code", "paper", "word_boundary"]

_MARKERS = ("TIMED OUT", "timed out", "rate limit exceeded")
_DASHES = re.compile("[\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d\u058a\u05be-]")
_WITHOUT_SPACES = re.compile(f"[{WITHOUT_SPACES}]")
"""In these scripts there are no word ends to look for."""

CORRECTNESS = ValueKind("correctness", "Correctness")


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
    sets = phrase_sets(answer, references, mode)
    if not sets:
        reason = "no reference has a phrase to look for" if references else "the item has no reference"
        return ScoreValue("correctness", None, reason)
    best = next(found for found in sets if found.best)
    details = {
        "reference": best.reference,
        "found": [phrase.text for phrase in best.phrases if phrase.found],
        "missing": [phrase.text for phrase in best.phrases if not phrase.found],
    }
    if _is_error(answer, mode):
        details["error_marker"] = True
    return ScoreValue("correctness", best.recall, details=details)


@dataclass(frozen=True, slots=True)
class CountedPhrase:
    """A required phrase, and how often it stands in the answer by the rule of the mode."""

    text: str
    count: int

    @property
    def found(self) -> bool:
        """Whether it stands there at all."""
        return self.count > 0


@dataclass(frozen=True, slots=True)
class PhraseSet:
    """One acceptable answer: the phrases that it requires, in order, and the share of them that were found.

    `reference` is its place in the item's references. `best` has the recall that is the score: the first of several.
    """

    reference: int
    phrases: tuple[CountedPhrase, ...]
    recall: float
    best: bool = False


RULES: dict[Mode, str] = {
    "fathoms_code": "Anywhere in the answer, inside words too; upper and lower case are alike, - is a space.",
    "paper": "Anywhere in the answer, inside words too; upper and lower case are alike.",
    "word_boundary": "Whole words, after folding of case, dashes and spaces.",
}
"""How a phrase is looked for, for people."""


def phrase_sets(answer: str, references: Sequence[Reference], mode: Mode = "fathoms_code") -> list[PhraseSet]:
    """What `phrase_recall` counts: every reference that has a phrase, with how often each of its phrases was found.

    Nothing is found in an answer that the mode takes for an error message.
    """
    acceptable = [(index, phrases) for index, reference in enumerate(references) if (phrases := _phrases(reference))]
    text = "" if _is_error(answer, mode) else _read(answer, mode)
    counted = [
        (index, tuple(CountedPhrase(phrase, len(_find(phrase, text, mode))) for phrase in phrases))
        for index, phrases in acceptable
    ]
    recalls = [sum(phrase.found for phrase in phrases) / len(phrases) for _, phrases in counted]
    best = recalls.index(max(recalls)) if recalls else -1
    return [
        PhraseSet(index, phrases, recall, place == best)
        for place, ((index, phrases), recall) in enumerate(zip(counted, recalls, strict=True))
    ]


def counted_behind(
    scorer: str, score: ScoreValue, parameters: Mapping[str, Any], answer: str, references: Sequence[Reference]
) -> tuple[list[PhraseSet], Mode] | None:
    """The phrase sets that a score of the item was counted from, and the mode; None for a score of another sort.

    Known are scores of `phrase_recall` and `hallucination`, computed or imported, and the correctness of FATHOMS files.
    What counting again does not confirm (an answer that was changed, another version) is not given out as what counted.
    """
    by = scorer.removeprefix(IMPORTED)
    value = score.value
    if (by, score.name) == ("hallucination", "hallucination"):
        value = (score.details or {}).get("correctness")
    elif (by, score.name) not in (("phrase_recall", "correctness"), ("fathoms", "correctness")):
        return None
    mode = parameters.get("mode", "fathoms_code")
    if value is None or mode not in RULES:
        return None
    sets = phrase_sets(answer, references, mode)
    recall = next((found.recall for found in sets if found.best), None)
    return (sets, mode) if recall is not None and math.isclose(recall, value, abs_tol=1e-6) else None


def share_in_words(sets: Sequence[PhraseSet]) -> str:
    """What the recall of the best set says: `2 of 3: share of …`."""
    best = next(found for found in sets if found.best)
    n_found = sum(phrase.found for phrase in best.phrases)
    return f"{n_found} of {len(best.phrases)}: {SHARE}"


SHARE = "share of the best set’s phrases that stand in the answer"


def _is_error(answer: str, mode: Mode) -> bool:
    return mode == "fathoms_code" and (answer in _MARKERS or answer.startswith("error"))


def _phrases(reference: object) -> list[str]:
    phrases = reference if isinstance(reference, list) else [reference]
    return [phrase for phrase in phrases if isinstance(phrase, str) and phrase.strip()]


Place = tuple[int, int]
"""Where something stands in a text: its first character, and the one behind its last."""


def places_of(phrases: Sequence[str], answer: str, mode: Mode = "fathoms_code") -> list[list[Place]]:
    """Where each phrase stands in the answer as it was written, in order: as often as `phrase_sets` counts it.

    Characters that are read as one (a letter and its accents) are one place, and never cut.
    """
    if _is_error(answer, mode):
        return [[] for _ in phrases]
    text, written = _as_written(answer, mode)
    found = [_find(phrase, text, mode) for phrase in phrases]
    return [[(written[start][0], written[end - 1][1]) for start, end in places] for places in found]


def _find(phrase: str, text: str, mode: Mode) -> list[Place]:
    """Where a phrase stands in a text as the mode reads it."""
    return (_in_whole_words if mode == "word_boundary" else _anywhere)(_read(phrase, mode), text)


def _read(text: str, mode: Mode) -> str:
    """A text as the mode reads it."""
    match mode:
        case "fathoms_code":
            return text.lower().replace("-", " ")
        case "paper":
            return text.lower()
        case "word_boundary":
            return " ".join(_folded(text).split())


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("\u00ad", "")
    return _DASHES.sub(" ", text)


@lru_cache(maxsize=4096)
def _folded_letter(letter: str) -> str:
    return _folded(letter)


def _as_written(answer: str, mode: Mode) -> tuple[str, list[Place]]:
    """The answer as the mode reads it, and for each of its characters the place in the answer that it comes from."""
    if mode != "word_boundary":
        # Small letters of a whole text may be others than those of each letter (ς), but are as many.
        return _read(answer, mode), [(at, at + 1) for at, sign in enumerate(answer) for _ in sign.lower()]
    signs: list[tuple[str, Place]] = []
    for word in re.finditer(r"\S+", answer):
        signs.append((" ", (word.start(), word.start())))
        parts = [match.span() for match in _CLUSTER.finditer(answer, *word.span())]
        if "".join(_folded_letter(answer[start:end]) for start, end in parts) != _folded(word[0]):
            parts = [word.span()]  # signs that are joined across letters, as those of Korean are
        signs += [(sign, (start, end)) for start, end in parts for sign in _folded_letter(answer[start:end])]
    kept = [sign for at, sign in enumerate(signs) if not sign[0].isspace() or (at and not signs[at - 1][0].isspace())]
    while kept and kept[-1][0].isspace():
        kept.pop()
    return "".join(" " if sign.isspace() else sign for sign, _ in kept), [place for _, place in kept]


_CLUSTER = re.compile(r"\S[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u3099\u309a]*")
"""A character and the accents behind it, which may become one character with it."""


def _anywhere(phrase: str, text: str) -> list[Place]:
    places, start = [], text.find(phrase)
    while start >= 0:
        places.append((start, start + len(phrase)))
        start = text.find(phrase, start + len(phrase))
    return places


def _in_whole_words(phrase: str, text: str) -> list[Place]:
    places: list[Place] = []
    start = text.find(phrase) if phrase else -1
    while start >= 0:
        end = start + len(phrase)
        whole = not _inside_a_word(text, start) and not _inside_a_word(text, end)
        if whole:
            places.append((start, end))
        start = text.find(phrase, end if whole else start + 1)
    return places


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
