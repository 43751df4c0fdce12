"""Small makers and slow, plain formulas for the tests of agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from annotators.agreement.measure import measure
from annotators.agreement.tables.ratings import Ratings, Scale

Row = Sequence[object]

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: four observers, twelve units, the twelfth of them
# with a single rating.
KRIPPENDORFF: list[list[int | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]

# Gwet (2014), Handbook of Inter-Rater Reliability, p. 120: the same ratings, but the last unit's only one is the third
# rater's. Scores 0-3 of five observers for fifteen units; letters of four raters for fourteen and for fifteen units.
GWET_4_RATERS: list[list[int | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
GWET_5_OBSERVERS: list[list[int | None]] = [
    [1, 1, 2, None, 0, 0, 1, 1, 2, 2, None, 0, 1, 3, 1],
    [1, 1, 3, 0, 0, 0, 0, None, 2, 1, 1, 0, 2, 3, 1],
    [2, 0, 3, 0, 0, 0, 2, 2, 2, 1, 0, 0, 2, 2, 1],
    [None, 1, 3, None, None, None, None, 0, None, 1, 0, 0, 2, 2, None],
    [2, None, None, 0, 0, 0, 1, None, 2, None, None, None, None, 3, 1],
]


def letters(*words: str) -> list[list[str | None]]:
    """One row a word, one unit a letter; a dot is a gap."""
    return [[None if letter == "." else letter for letter in word] for word in words]


GWET_TWO_GROUPS = letters("abccbadab...bb", "abccbbdabe..ba", ".cccbcdbbeaccc", "abccbddabea.bb")
GWET_GENDER = letters("aaaaabbbcaaaaab", "aaaababccaaaaba", "abbcaabbcabbcaa", "ccccaabbcccccaa")
GWET_BEN_AND_GERRY = letters("aabbdcccedda", "babbbccce.dd")

# Shrout & Fleiss (1979), table 2: four judges (rows) rate six targets.
SHROUT_FLEISS = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]

# Fleiss (1971), table 1: how many of six psychiatrists gave each of 30 patients each of five diagnoses.
FLEISS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def fleiss_rows() -> list[list[int | None]]:
    """The counts of `FLEISS` as six rows of ratings; which rater gave which does not matter to Fleiss' κ."""
    units = [[k for k, digit in enumerate(word) for _ in range(int(digit))] for word in FLEISS.split()]
    return [list(row) for row in zip(*units, strict=True)]


def table_rows(table: Sequence[Sequence[int]]) -> list[list[int | None]]:
    """Two rows of ratings with this cross table (rows: the first rater's labels)."""
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return [[i for i, _ in cells], [j for _, j in cells]]


def random_matrix(
    seed: int, raters: int = 4, units: int = 30, labels: int = 4, missing: float = 0.0
) -> npt.NDArray[np.float64]:
    """Raters × units, labels from 0, correlated with a hidden truth; NaN for a gap."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(labels, size=units)
    matrix = np.where(rng.random((raters, units)) < 0.6, truth, rng.integers(labels, size=(raters, units))).astype(
        float
    )
    matrix[rng.random((raters, units)) < missing] = np.nan
    return matrix


def ratings_of(rows: Sequence[Row], labels: Sequence[Any] | None = None, scale: Scale = "nominal") -> Ratings:
    """The table of raters × units: one row a rater, `None` or NaN for a gap. Keys are numbers from 0."""
    [n_units] = {len(row) for row in rows} or {0}
    return Ratings.from_triples(
        np.tile(np.arange(n_units), len(rows)),
        np.repeat(np.arange(len(rows)), n_units),
        [value for row in rows for value in row],
        labels,
        scale,
    )


def rated(matrix: npt.NDArray[np.float64], labels: Sequence[int] | None = None, scale: str = "interval") -> Ratings:
    """The table of a raters × units matrix with NaN for gaps."""
    return ratings_of(matrix.tolist(), labels, scale)  # type: ignore[arg-type]


def value(ratings: Ratings, name: str) -> float | None:
    """The value of the first entry of one statistic."""
    return measure(ratings, [name], resamples=0)[0].value


def plain_agreement(matrix: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Raw agreement, and Fleiss' κ by Gwet's rule, by loops over units and pairs."""
    labels = sorted(set(matrix[~np.isnan(matrix)].tolist()))
    observed, shares = [], []
    for column in matrix.T:
        given = column[~np.isnan(column)].tolist()
        if given:
            shares.append([given.count(label) / len(given) for label in labels])
        if len(given) > 1:
            pairs = [(a, b) for i, a in enumerate(given) for j, b in enumerate(given) if i != j]
            observed.append(sum(a == b for a, b in pairs) / len(pairs))
    raw = sum(observed) / len(observed)
    chance = sum((sum(share) / len(shares)) ** 2 for share in zip(*shares, strict=True))
    return raw, (raw - chance) / (1 - chance)
