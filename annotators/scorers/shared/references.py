"""Reference answers as texts in one form, for the scorers that compare the answer with each and keep the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from pydantic import Field

from annotators.items.item import Reference
from annotators.scorers.base import Parameters, ScoreValue
from annotators.scorers.shared.words import answer_form, is_english, squad_form

T = TypeVar("T")

NO_REFERENCE = "the item has no reference"
EMPTY = "the answer is empty"

Normalisation = Literal["unicode", "squad"]


class AnswerParameters(Parameters):
    """How answer and reference are brought to one form."""

    normalisation: Normalisation = Field(
        "unicode", description="SQuAD's rules for every script, or letter for letter those of its evaluation script"
    )


def normaliser(normalisation: Normalisation, language: str | None) -> Callable[[str], str]:
    """The normal form of answers in this language; English articles fall away where it is English or not said."""
    if normalisation == "squad":
        return squad_form
    articles = is_english(language)
    return lambda text: answer_form(text, articles=articles)


def reference_texts(references: Sequence[Reference]) -> list[str]:
    """Each reference as one text: a set of required phrases is its phrases with a space between."""
    return [reference if isinstance(reference, str) else " ".join(reference) for reference in references]


def best_reference(
    references: Sequence[Reference], form: Callable[[str], T], score: Callable[[T], tuple[float, ...]]
) -> tuple[int, tuple[float, ...]] | str:
    """The place of the best reference and its values (the first value decides; of equals the first), or the reason
    why there is none.

    `form` prepares a reference; one of which nothing is left (falsy) is passed over.
    """
    if not references:
        return NO_REFERENCE
    best: tuple[int, tuple[float, ...]] | None = None
    for index, text in enumerate(reference_texts(references)):
        prepared = form(text)
        if not prepared:
            continue
        values = score(prepared)
        if best is None or values[0] > best[1][0]:
            best = index, values
    return best or "no reference has a word to compare"


def scored(names: Sequence[str], found: tuple[int, tuple[float, ...]] | str) -> list[ScoreValue]:
    """A score for each name, the first with the place of the reference; or all unscored for the same reason."""
    if isinstance(found, str):
        return [ScoreValue(name, None, found) for name in names]
    index, values = found
    return [
        ScoreValue(name, value, details={"reference": index} if position == 0 else None)
        for position, (name, value) in enumerate(zip(names, values, strict=True))
    ]


def f_measure(precision: float, recall: float) -> float:
    """Harmonic mean of precision and recall; 0 when both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
