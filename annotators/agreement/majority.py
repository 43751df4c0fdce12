"""What most of the others gave: each label beside those of the same unit, without the annotator's own."""

from __future__ import annotations

from annotators.arrays import IntArray, np


def majority_of_rest(unit: IntArray, code: IntArray) -> IntArray:
    """For each label the code that most of the other labels of its unit have, -1 without others or where they tie.

    `unit` and `code` have one place from 0 on a label. The annotator's own label never counts: who labels a unit
    beside one other is compared with that one, and nobody with themselves.
    """
    if not len(code):
        return np.zeros(0, dtype=np.int64)
    width = int(code.max()) + 1
    cells, cell, counts = np.unique(unit * width + code, return_inverse=True, return_counts=True)
    of_unit = cells // width
    # The three most frequent codes of each unit are enough: without one label, one of them is the most frequent.
    order = np.lexsort((cells, -counts, of_unit))
    starts = np.searchsorted(of_unit[order], unit)
    n_codes = np.bincount(of_unit, minlength=int(unit.max()) + 1)[unit]
    first = np.full((3, len(code)), -1, dtype=np.int64)
    often = np.zeros((3, len(code)), dtype=np.int64)
    for rank in range(3):
        there = n_codes > rank
        at = order[np.minimum(starts + rank, len(order) - 1)]
        own = cell == at
        often[rank] = np.where(there, counts[at] - own, 0)
        first[rank] = np.where(there, cells[at] % width, -1)
    best = np.argsort(-often, axis=0, kind="stable")
    each = np.arange(len(code))
    most, second = often[best[0], each], often[best[1], each]
    return np.where((most > 0) & (most > second), first[best[0], each], -1)
