"""Agreement on texts, such as rewritten questions: the same after normalisation, and how similar."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import Asked, Coefficient, Measurement, Needs, Sample, Sampling, register
from annotators.agreement.tables.patterns import Grouped, Rows
from annotators.arrays import FloatArray, np, ratio
from annotators.intervals.analytic import of_mean
from annotators.intervals.result import Interval
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


def identical(a: str, b: str) -> float:
    """1 for two normalised texts that are the same, else 0."""
    return float(a == b)


def similar(a: str, b: str) -> float:
    """How similar two normalised texts are (0..1)."""
    return float(fuzz.ratio(a, b)) / 100


@dataclass(frozen=True, kw_only=True, eq=False)
class OfTexts(Coefficient):
    """The mean over units of the mean over their pairs of ratings of what `compare` gives for two normalised texts."""

    compare: Callable[[str, str], float]
    needs: Needs = "texts"
    estimated: bool = False

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        ratings, rows = grouped.ratings, grouped.pairable
        reason = reasons.too_few(ratings) or members[0].misfit(ratings)
        if reason:
            yield Sample.without_units(
                *(Measurement.without_value(member.entry(ratings, reason)) for member in members)
            )
            return
        plain = [normalised(str(label)) for label in ratings.labels]
        sample = Sample(rows.multiplicity, rows.of_unit, 1)
        for member in members:
            means = _mean_of_pairs(rows, plain, member.compare)
            entry = member.entry(ratings, None)
            sample.parts.append(Measurement([entry], partial(_mean, means), partial(_interval, means, rows)))
        yield sample


def _mean_of_pairs(rows: Rows, plain: Sequence[str], compare: Callable[[str, str], float]) -> FloatArray:
    """The mean over the pairs of ratings of each pattern of units (P)."""
    total = np.zeros(len(rows.lengths))
    for pattern, _, a, b in rows.incidences():
        for place, left, right in zip(pattern.tolist(), a.tolist(), b.tolist(), strict=True):
            total[place] += compare(plain[left], plain[right])
    return total / np.maximum(rows.lengths * (rows.lengths - 1) / 2, 1)


def _mean(means: FloatArray, weights: FloatArray) -> FloatArray:
    return ratio(weights @ means, weights.sum(axis=1))


def _interval(means: FloatArray, rows: Rows, _: int, value: float, level: float) -> Interval:
    return of_mean(value, means, rows.multiplicity.astype(np.float64), level)


register(
    100,
    OfTexts(name="text_identical", title="share of identical texts", compare=identical),
    OfTexts(name="text_similarity", title="mean text similarity", headline_of="text", compare=similar),
)
