"""Agreement on texts, such as rewritten questions: the same after normalisation, and how similar."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
from rapidfuzz.fuzz import ratio as similarity_in_percent

from annotators.agreement.patterns import Rows
from annotators.agreement.table import FloatArray, IntArray, Ratings


def normalised(text: str) -> str:
    """The text without case, punctuation, and differences of spacing and of Unicode form (NFKC)."""
    letters = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(" " if unicodedata.category(c)[0] in "PZC" else c for c in letters).split())


def similarity(a: str, b: str) -> float:
    """How similar two texts are after normalisation (0..1).

    Twice the length of their longest common subsequence over the length of both, which is one minus the normalised
    insertion-deletion distance; two empty texts are alike.
    """
    return float(similarity_in_percent(normalised(a), normalised(b))) / 100


@dataclass(frozen=True, eq=False)
class Compared:
    """The texts of P patterns of units: the mean over their pairs of ratings of `identical` (P) and `similar` (P)."""

    multiplicity: IntArray
    of_unit: IntArray
    identical: FloatArray
    similar: FloatArray

    @classmethod
    def of(cls, ratings: Ratings) -> Compared:
        """Of all pairs of raters of a unit."""
        rows = Rows.of(ratings)
        texts = [str(label) for label in ratings.labels]
        plain = [normalised(text) for text in texts]
        pairs = np.maximum(rows.lengths * (rows.lengths - 1) / 2, 1)
        identical, similar = np.zeros(len(rows.lengths)), np.zeros(len(rows.lengths))
        for pattern, _, a, b in rows.incidences():
            for place, one, other in zip(pattern.tolist(), a.tolist(), b.tolist(), strict=True):
                identical[place] += plain[one] == plain[other]
                similar[place] += similarity_in_percent(plain[one], plain[other]) / 100
        return cls(rows.multiplicity, rows.of_unit, identical / pairs, similar / pairs)
