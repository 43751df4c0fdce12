"""Agreement on sets (pages of evidence, problems found, boxes drawn): Jaccard, MASI, exact match, F1 of two raters."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from annotators.agreement.distances import Distance, Table
from annotators.agreement.patterns import Rows
from annotators.agreement.table import Box, FloatArray, IntArray, Label, Ratings

OVERLAP = 0.5  # two boxes are the same find from this intersection over union on


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
    place = {element: i for i, element in enumerate({element: None for one in sets for element in one})}
    lengths = [len(one) for one in sets]
    has = sparse.csr_array(
        (
            np.ones(sum(lengths)),
            np.array([place[element] for one in sets for element in one], dtype=np.int64),
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
    return Table(sparse.csr_array((-similarity, (rows, columns)), shape=(n_labels, n_labels)), offset=1.0)


def is_drawn(ratings: Ratings) -> bool:
    """Whether the sets hold boxes, which are never the same to the last digit."""
    return any(isinstance(element, Box) for label in ratings.labels for element in _elements(label))


def shared_elements(a: frozenset[Hashable], b: frozenset[Hashable], overlap: float = OVERLAP) -> int:
    """How many elements of the one set are in the other.

    Boxes are matched one to one, as many as possible, within the same page and where their intersection over union is
    `overlap` (0..1) or more; all other elements must be equal.
    """
    boxes = [[one for one in side if isinstance(one, Box)] for side in (a, b)]
    plain = sum(1 for one in a if not isinstance(one, Box) and one in b)
    if not boxes[0] or not boxes[1]:
        return plain
    same = np.array([[intersection_over_union(one, other) >= overlap for other in boxes[1]] for one in boxes[0]])
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - only sets need it

    rows, columns = linear_sum_assignment(same, maximize=True)
    return plain + int(same[rows, columns].sum())


def intersection_over_union(a: Box, b: Box) -> float:
    """Of two boxes: the area that both cover over the area that either covers (0..1); 0 on different pages."""
    if (a.document, a.page) != (b.document, b.page):
        return 0.0
    width, height = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
    shared = max(width, 0.0) * max(height, 0.0)
    both = sum((one.x1 - one.x0) * (one.y1 - one.y0) for one in (a, b)) - shared
    return shared / both if both > 0 else float(a == b)


@dataclass(frozen=True, eq=False)
class Finds:
    """What pairs of raters found in P patterns of units: `shared` elements (P) and the `sizes` (P) of the two sets."""

    multiplicity: IntArray
    of_unit: IntArray
    shared: FloatArray
    sizes: FloatArray

    @classmethod
    def of(cls, ratings: Ratings, overlap: float = OVERLAP) -> Finds:
        """Of all pairs of raters of a unit, summed."""
        rows = Rows.of(ratings)
        parts = [(pattern, a, b) for pattern, _, a, b in rows.incidences()] or [(np.empty(0, dtype=np.int64),) * 3]
        pattern, a, b = (np.concatenate(part) for part in zip(*parts, strict=True))
        shared, sizes = compared(ratings, a, b, overlap)
        length = len(rows.lengths)
        return cls(
            rows.multiplicity,
            rows.of_unit,
            np.bincount(pattern, weights=shared, minlength=length).astype(np.float64),
            np.bincount(pattern, weights=sizes, minlength=length).astype(np.float64),
        )


def compared(ratings: Ratings, a: IntArray, b: IntArray, overlap: float = OVERLAP) -> tuple[FloatArray, FloatArray]:
    """For pairs of sets (codes): how many elements they share, and how many the two have together."""
    keys, place = np.unique(a * max(1, len(ratings.labels)) + b, return_inverse=True)
    found = np.zeros((len(keys), 2))
    for i, key in enumerate(keys.tolist()):
        one, other = (_elements(ratings.labels[code]) for code in divmod(key, len(ratings.labels)))
        found[i] = shared_elements(one, other, overlap), len(one) + len(other)
    return found[place, 0], found[place, 1]


def _elements(label: Label) -> frozenset[Hashable]:
    return label if isinstance(label, frozenset) else frozenset()
