"""Agreement on texts, such as rewritten questions: the same after normalisation, and how similar."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from annotators.agreement.statistics.base import register
from annotators.agreement.statistics.of_units import MeanOfUnits, of_pairs
from annotators.agreement.tables.patterns import Rows
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray
from annotators.later import Later

if TYPE_CHECKING:
    from rapidfuzz import fuzz
else:
    fuzz = Later("rapidfuzz.fuzz")


def normalised(text: str) -> str:
    """The text without case, punctuation, and differences of spacing and of Unicode form (NFKC)."""
    letters = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(" " if unicodedata.category(c)[0] in "PZC" else c for c in letters).split())


def similarity(a: str, b: str) -> float:
    """How similar two texts are after normalisation (0..1).

    Twice the length of their longest common subsequence over the length of both, which is one minus the normalised
    insertion-deletion distance; two empty texts are alike.
    """
    return float(fuzz.ratio(normalised(a), normalised(b))) / 100


def _compared(compare: Callable[[str, str], float], ratings: Ratings, rows: Rows) -> FloatArray:
    """What `compare` gives for two normalised texts, over the pairs of each pattern of units (P)."""
    plain = {label: normalised(str(label)) for label in ratings.labels}
    return of_pairs(lambda a, b: compare(plain[a], plain[b]), ratings, rows)


def identical(a: str, b: str) -> float:
    """1 for two normalised texts that are the same, else 0."""
    return float(a == b)


def similar(a: str, b: str) -> float:
    """How similar two normalised texts are (0..1)."""
    return float(fuzz.ratio(a, b)) / 100


register(
    100,
    MeanOfUnits(
        name="text_identical",
        title="share of identical texts",
        needs="texts",
        figure=partial(_compared, identical),
    ),
    MeanOfUnits(
        name="text_similarity",
        title="mean text similarity",
        needs="texts",
        headline_of="text",
        figure=partial(_compared, similar),
    ),
)
