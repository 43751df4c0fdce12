"""Agreement on sets (pages of evidence, problems found, boxes drawn): Jaccard, MASI, exact match, F1 of two raters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Self

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.alpha import alpha_of_distance, of_distance
from annotators.agreement.statistics.base import (
    KRIPPENDORFF,
    OVERLAP,
    Asked,
    Coefficient,
    Measurement,
    OfCounts,
    Sample,
    Sampling,
    register,
)
from annotators.agreement.statistics.percent import mean_interval, percent_agreement
from annotators.agreement.tables.distances import Distance, Spread, TableDistance
from annotators.agreement.tables.patterns import Grouped, Rows, cells_of_pair
from annotators.agreement.tables.ratings import Box, Label, Ratings
from annotators.arrays import FloatArray, IntArray, np, optimize, ratio, sparse
from annotators.intervals.analytic import of_mean, of_ratio
from annotators.intervals.result import Interval, Statistic


def jaccard_distance(labels: tuple[Label, ...]) -> Distance:
    """1 - |A ∩ B| / |A ∪ B| of sets; two empty sets are alike (distance 0)."""
    rows, columns, shared, sizes = _intersections(labels)
    return _table(rows, columns, shared / (sizes[rows] + sizes[columns] - shared), len(labels))


def masi_distance(labels: tuple[Label, ...]) -> Distance:
    """1 - J·M of sets: Jaccard similarity times 1 for equal sets, 2/3 for a subset, 1/3 for an overlap, 0 for none.

    Passonneau (2006), Measuring Agreement on Set-valued Items, LREC, 831-836.
    """
    rows, columns, shared, sizes = _intersections(labels)
    jaccard = shared / (sizes[rows] + sizes[columns] - shared)
    subset = shared == np.minimum(sizes[rows], sizes[columns])
    return _table(rows, columns, jaccard * np.where(subset, 2 / 3, 1 / 3), len(labels))


def _intersections(labels: tuple[Label, ...]) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """The pairs of different sets that share elements (codes, codes), how many they share, and all sets' sizes."""
    sets = [label for label in labels if isinstance(label, frozenset)]
    place = {element: i for i, element in enumerate({element: None for members in sets for element in members})}
    lengths = [len(members) for members in sets]
    has = sparse.csr_array(
        (
            np.ones(sum(lengths)),
            np.array([place[element] for members in sets for element in members], dtype=np.int64),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        ),
        shape=(len(sets), max(1, len(place))),
    )
    both = sparse.coo_array(has @ has.T)
    rows, columns = both.coords
    off = rows != columns
    return (
        rows[off].astype(np.int64),
        columns[off].astype(np.int64),
        np.asarray(both.data[off], dtype=np.float64),
        np.array(lengths, dtype=np.float64),
    )


def _table(rows: IntArray, columns: IntArray, similarity: FloatArray, n_labels: int) -> Distance:
    return TableDistance(sparse.csr_array((-similarity, (rows, columns)), shape=(n_labels, n_labels)), offset=1.0)


def is_drawn(ratings: Ratings) -> bool:
    """Whether the sets hold boxes, which are never the same to the last digit."""
    return any(isinstance(element, Box) for label in ratings.labels for element in _elements(label))


def shared_elements(a: frozenset[Hashable], b: frozenset[Hashable], overlap: float = OVERLAP) -> int:
    """How many elements of the one set are in the other.

    Boxes are matched one to one, as many as possible, within the same page and where their intersection over union is
    `overlap` (0..1) or more; all other elements must be equal.
    """
    boxes = [[element for element in side if isinstance(element, Box)] for side in (a, b)]
    plain = sum(1 for element in a if not isinstance(element, Box) and element in b)
    if not boxes[0] or not boxes[1]:
        return plain
    same = np.array([[intersection_over_union(box, other) >= overlap for other in boxes[1]] for box in boxes[0]])
    rows, columns = optimize.linear_sum_assignment(same, maximize=True)
    return plain + int(same[rows, columns].sum())


def intersection_over_union(a: Box, b: Box) -> float:
    """Of two boxes: the area that both cover over the area that either covers (0..1); 0 on different pages."""
    if (a.document, a.page) != (b.document, b.page):
        return 0.0
    width, height = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
    shared = max(width, 0.0) * max(height, 0.0)
    both = sum((box.x1 - box.x0) * (box.y1 - box.y0) for box in (a, b)) - shared
    return shared / both if both > 0 else float(a == b)


def compared(ratings: Ratings, a: IntArray, b: IntArray, overlap: float = OVERLAP) -> tuple[FloatArray, FloatArray]:
    """For pairs of sets (codes): how many elements they share, and how many the two have together."""
    keys, place = np.unique(a * max(1, len(ratings.labels)) + b, return_inverse=True)
    found = np.zeros((len(keys), 2))
    for i, key in enumerate(keys.tolist()):
        left, right = (_elements(ratings.labels[code]) for code in divmod(key, len(ratings.labels)))
        found[i] = shared_elements(left, right, overlap), len(left) + len(right)
    return found[place, 0], found[place, 1]


def _elements(label: Label) -> frozenset[Hashable]:
    return label if isinstance(label, frozenset) else frozenset()


# Means and α ----------------------------------------------------------------------------------------------------------


def mean_similarity(spread: Spread, weights: FloatArray) -> FloatArray:
    """The mean over units of the mean of 1 - δ over their pairs of ratings: mean Jaccard similarity, for one."""
    similarity = 1 - spread.apart / np.maximum(spread.table.pairs, 1.0)
    return ratio(weights @ similarity, weights.sum(axis=1))


def _of_similarity(spread: Spread, _: int, value: float, level: float) -> Interval:
    return of_mean(value, 1 - spread.apart / spread.table.pairs, spread.multiplicity, level)


def _jaccard(ratings: Ratings, asked: Asked, codes: IntArray | None = None) -> Distance:
    return jaccard_distance(ratings.labels)


def _masi(ratings: Ratings, asked: Asked, codes: IntArray | None = None) -> Distance:
    return masi_distance(ratings.labels)


# F1 -------------------------------------------------------------------------------------------------------------------


Compared = Callable[[Ratings, IntArray, IntArray, float], tuple[FloatArray, FloatArray]]
"""For pairs of labels (codes, codes): how much they share, and how much the two have together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PairwiseF1(Coefficient):
    """F1 of what two raters found: over all pairs of raters and, with three raters or more, of each pair.

    `compared` says how much two labels share and hold, `empty` why there is no value where nothing is held.
    """

    compared: Compared
    empty: str
    estimated: bool = False
    by_pair: bool = True
    over_all: bool = True

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        for member in members:
            yield from member._samples(grouped, asked)

    def _samples(self, grouped: Grouped, asked: Asked) -> Iterator[Sample]:
        ratings = grouped.ratings
        reason = reasons.too_few(ratings) or self.misfit(ratings)
        entry = self.entry(ratings, reason)
        if self.misfit(ratings):
            yield Sample.without_units(Measurement.without_value(entry))
            return
        note = f"boxes matched from an intersection over union of {asked.overlap:g}" if is_drawn(ratings) else ""
        raters = ratings.raters
        if len(raters) == 2 and reason is None:
            entry = replace(entry, raters=(raters[0], raters[1]))
        rows = grouped.pairable
        yield self._f1(
            rows.multiplicity, rows.of_unit, *self._found(ratings, rows, asked.overlap), entry=entry, note=note
        )
        if len(raters) < 3 or not asked.each_pair:
            return
        for a, b in combinations(range(len(raters)), 2):
            cells, of_unit = cells_of_pair(ratings, a, b)
            units = int(cells.multiplicity.sum())
            of_pair = replace(
                entry,
                reason=reason or (None if units else reasons.NO_UNIT_SHARED),
                raters=(raters[a], raters[b]),
                n_units=units,
                n_raters=2,
                n_ratings=2 * units,
                left_out=0,
            )
            shared, sizes = self.compared(ratings, cells.a, cells.b, asked.overlap)
            yield self._f1(cells.multiplicity, of_unit, shared, sizes, entry=of_pair, note=note)

    def _found(self, ratings: Ratings, rows: Rows, overlap: float) -> tuple[FloatArray, FloatArray]:
        """Of each pattern of units: what pairs of raters share, and how much the two have, summed."""
        parts = [(pattern, a, b) for pattern, _, a, b in rows.incidences()] or [(np.empty(0, dtype=np.int64),) * 3]
        pattern, a, b = (np.concatenate(part) for part in zip(*parts, strict=True))
        shared, sizes = (
            np.bincount(pattern, weights=amount, minlength=len(rows.lengths)).astype(np.float64)
            for amount in self.compared(ratings, a, b, overlap)
        )
        return shared, sizes

    def _f1(
        self,
        multiplicity: IntArray,
        of_unit: IntArray,
        shared: FloatArray,
        sizes: FloatArray,
        *,
        entry: Statistic,
        note: str,
    ) -> Sample:
        m = multiplicity.astype(np.float64)
        part = Measurement(
            [entry],
            partial(_share, 2 * shared, sizes),
            lambda _, value, level: of_ratio(value, 2 * shared, sizes, m, level),
            self.empty,
            note,
        )
        return Sample(multiplicity, of_unit, 1, [part])


def _share(above: FloatArray, below: FloatArray, weights: FloatArray) -> FloatArray:
    return ratio(weights @ above, weights @ below)


register(
    90,
    OfCounts(
        name="mean_jaccard",
        title="mean Jaccard similarity",
        needs="sets",
        estimated=False,
        value=mean_similarity,
        interval=_of_similarity,
        distance=_jaccard,
    ),
    OfCounts(
        name="krippendorff_alpha_masi",
        title="Krippendorff's α (MASI distance)",
        short="α MASI",
        needs="sets",
        headline_of="set",
        benchmark=KRIPPENDORFF,
        value=alpha_of_distance,
        interval=of_distance,
        distance=_masi,
        never=lambda ratings: reasons.BOXES_DIFFER if is_drawn(ratings) else None,
    ),
    OfCounts(
        name="exact_match",
        title="share of equal sets",
        needs="sets",
        estimated=False,
        value=percent_agreement,
        interval=mean_interval,
    ),
    PairwiseF1(name="pairwise_f1", title="F1 between raters", needs="sets", compared=compared, empty=reasons.ALL_EMPTY),
)
