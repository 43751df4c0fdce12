"""Agreement on marked stretches of texts: Krippendorff's α for unitizing, F1 of characters and of boundaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import (
    KRIPPENDORFF,
    Asked,
    Coefficient,
    Measurement,
    Needs,
    Sample,
    Sampling,
    register,
)
from annotators.agreement.statistics.sets import Compared, PairwiseF1
from annotators.agreement.tables.patterns import Grouped, Rows
from annotators.agreement.tables.ratings import Label, Ratings, Span
from annotators.arrays import FloatArray, IntArray, np


def stretches(label: Label) -> list[Span]:
    """The stretches of a value in the order of the text."""
    found = label if isinstance(label, frozenset) else ()
    return sorted(stretch for stretch in found if isinstance(stretch, Span))


def overlaps(a: Label, b: Label) -> tuple[int, int]:
    """How many characters both mark, and how many of them with the same label."""
    left, right = stretches(a), stretches(b)
    both, alike, i, j = 0, 0, 0, 0
    while i < len(left) and j < len(right):
        shared = max(0, min(left[i].end, right[j].end) - max(left[i].start, right[j].start))
        both += shared
        alike += shared if left[i].label == right[j].label else 0
        if left[i].end <= right[j].end:
            i += 1
        else:
            j += 1
    return both, alike


def marked(label: Label) -> int:
    """How many characters are marked."""
    return sum(stretch.end - stretch.start for stretch in stretches(label))


# α for unitizing ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class Unitizing(Coefficient):
    """Krippendorff's α for unitizing: of all labels and what is unmarked, or (`binary`) of marked and unmarked alone.

    Krippendorff, Mathet, Bouvry & Widlöcher (2016), On the reliability of unitizing textual continua: Further
    developments, Quality & Quantity 50, 2347-2364: the coefficients _uα (equation 5) and _|uα (equation 6).

    Characters are compared by pairs of raters, and what chance would give is found by pairing stretches of all texts
    and raters, none with itself: of ℓ characters in all, ℓ_c with label c, α = 1 - D_o (ℓ² - S) / (ℓ (ℓ² - Σ ℓ_c²)),
    where S is the sum of the squared lengths of stretches and of the lengths of gaps. The texts of all units are one
    continuum, end to end; a text of m raters counts m times its length, and pairs of it 1 / (m - 1) times, so that
    raters may differ from text to text. A text with one rater does not count.
    """

    binary: bool
    needs: Needs = "spans"

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        ratings = grouped.ratings
        reason = reasons.too_few(ratings) or members[0].misfit(ratings)
        reason = reason or (reasons.NO_LENGTHS if ratings.lengths is None else None)
        entries = [member.entry(ratings, reason) for member in members]
        if reason:
            yield Sample.without_units(*(Measurement.without_value(entry) for entry in entries))
            return
        rows = Rows.of(ratings, grouped=False)
        sample = Sample(rows.multiplicity, rows.of_unit, len(ratings.labels))
        for member, entry in zip(members, entries, strict=True):
            continua = Continua.of(ratings, rows, binary=member.binary)
            sample.parts.append(Measurement([entry], continua.alpha, undefined=reasons.ALL_MARKED_ALIKE))
        yield sample


@dataclass(frozen=True, eq=False)
class Continua:
    """What each of U texts adds to α.

    `total` are its characters times its raters, `apart` those that differ, by pairs of raters; `labelled` (U × K) is
    how many have each label, the unmarked ones last; by `themselves` stretches would be paired with themselves.
    """

    total: FloatArray
    apart: FloatArray
    labelled: FloatArray
    themselves: FloatArray

    @classmethod
    def of(cls, ratings: Ratings, rows: Rows, *, binary: bool) -> Continua:
        """From the texts that two raters or more have marked, each of which is a pattern of its own."""
        assert ratings.lengths is not None
        lengths = ratings.lengths[rows.of_unit >= 0].astype(np.float64)
        raters = rows.lengths.astype(np.float64)
        column: dict[str, int] = defaultdict(lambda: 0 if binary else len(column))
        cells = [
            (pattern, column[stretch.label], float(stretch.end - stretch.start))
            for pattern, code in zip(rows.pattern.tolist(), rows.code.tolist(), strict=True)
            for stretch in stretches(ratings.labels[code])
        ]
        labelled = np.zeros((len(lengths), max([0, *column.values()]) + 2))
        squares = np.zeros(len(lengths))
        for pattern, place, n in cells:
            labelled[pattern, place] += n
            squares[pattern] += n * n
        total = raters * lengths
        labelled[:, -1] = total - labelled.sum(axis=1)
        apart = np.zeros(len(lengths))
        size = np.array([marked(label) for label in ratings.labels], dtype=np.float64)
        for pattern, _, a, b in rows.incidences():
            both, alike = _overlaps(ratings, a, b)
            agreed = 2 * both if binary else both + alike
            np.add.at(apart, pattern, 2 * (size[a] + size[b] - agreed) / (raters[pattern] - 1))
        return cls(total, apart, labelled, squares + labelled[:, -1])

    def alpha(self, weights: FloatArray) -> FloatArray:
        """α of samples of texts (B × U): B, NaN where chance agreement is complete."""
        total, apart = weights @ self.total, weights @ self.apart
        by_chance = total * (total**2 - ((weights @ self.labelled) ** 2).sum(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = 1 - apart * (total**2 - weights @ self.themselves) / by_chance
        return np.where(by_chance > 0, found, np.nan)


def _overlaps(ratings: Ratings, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray]:
    """Of pairs of labels (codes): characters that both mark, and those that both mark alike."""
    keys, place = np.unique(a * max(1, len(ratings.labels)) + b, return_inverse=True)
    pairs = (divmod(key, len(ratings.labels)) for key in keys.tolist())
    found = np.array([overlaps(ratings.labels[left], ratings.labels[right]) for left, right in pairs]).reshape(-1, 2)
    return found[place, 0].astype(np.float64), found[place, 1].astype(np.float64)


# F1 -------------------------------------------------------------------------------------------------------------------


def _characters(ratings: Ratings, a: IntArray, b: IntArray, _: float) -> tuple[FloatArray, FloatArray]:
    """Characters that two raters mark with the same label, and all that they mark."""
    sizes = np.array([marked(label) for label in ratings.labels], dtype=np.float64)
    return _overlaps(ratings, a, b)[1], sizes[a] + sizes[b]


def _boundaries(ratings: Ratings, a: IntArray, b: IntArray, _: float) -> tuple[FloatArray, FloatArray]:
    """Places where stretches of both begin, and where stretches of both end, whatever their labels; and all of them."""
    ends = [
        {(side, place) for stretch in stretches(label) for side, place in enumerate(stretch[:2])}
        for label in ratings.labels
    ]
    sizes = np.array([len(places) for places in ends], dtype=np.float64)
    shared = [len(ends[left] & ends[right]) for left, right in zip(a.tolist(), b.tolist(), strict=True)]
    return np.array(shared, dtype=np.float64), sizes[a] + sizes[b]


def _f1(name: str, title: str, compared: Compared) -> PairwiseF1:
    return PairwiseF1(name=name, title=title, needs="spans", compared=compared, empty=reasons.NOTHING_MARKED)


register(
    95,
    Unitizing(
        name="krippendorff_alpha_unitizing",
        title="Krippendorff's α for unitizing",
        short="α unitizing",
        headline_of="spans",
        benchmark=KRIPPENDORFF,
        binary=False,
    ),
    Unitizing(
        name="krippendorff_alpha_unitizing_binary",
        title="Krippendorff's α for unitizing, marked or not",
        short="α marked or not",
        benchmark=KRIPPENDORFF,
        binary=True,
    ),
    _f1("pairwise_f1_characters", "F1 of characters between raters", _characters),
    _f1("pairwise_f1_boundaries", "F1 of boundaries between raters", _boundaries),
)
