"""Coefficients of agreement the slow way: their definitions as loops over units, pairs of ratings and labels."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Weight = Callable[[float, float], float]


def nominal(a: float, b: float) -> float:
    return float(a == b)


def linear(labels: list[float]) -> Weight:
    reach = max(labels) - min(labels)
    return lambda a, b: 1 - abs(a - b) / reach


def quadratic(labels: list[float]) -> Weight:
    reach = max(labels) - min(labels)
    return lambda a, b: 1 - (a - b) ** 2 / reach**2


def ordinal(labels: list[float]) -> Weight:
    def pairs(steps: int) -> float:
        return steps * (steps + 1) / 2

    rank = {label: i for i, label in enumerate(sorted(labels))}
    return lambda a, b: 1 - pairs(abs(rank[a] - rank[b])) / pairs(len(labels) - 1)


def units(matrix: Matrix) -> list[list[float]]:
    """The ratings of each unit that has one."""
    columns = [column[~np.isnan(column)].tolist() for column in matrix.T]
    return [column for column in columns if column]


def observed(matrix: Matrix, weight: Weight) -> float:
    """The mean over units with a pair of the mean weight of their pairs."""
    found = []
    for given in units(matrix):
        pairs = list(permutations(given, 2))
        if pairs:
            found.append(sum(weight(a, b) for a, b in pairs) / len(pairs))
    return sum(found) / len(found)


def shares(matrix: Matrix, labels: list[float]) -> list[float]:
    """The mean over units of the share of their ratings that carry each label."""
    given = units(matrix)
    return [sum(count.count(label) / len(count) for count in given) / len(given) for label in labels]


def corrected(raw: float, chance: float) -> float | None:
    return None if abs(1 - chance) < 1e-12 else (raw - chance) / (1 - chance)


def fleiss(matrix: Matrix, labels: list[float]) -> float | None:
    return corrected(observed(matrix, nominal), sum(share**2 for share in shares(matrix, labels)))


def gwet(matrix: Matrix, labels: list[float], weight: Weight = nominal) -> float | None:
    total = sum(weight(a, b) for a in labels for b in labels)
    k = len(labels)
    chance = total / (k * (k - 1)) * sum(share * (1 - share) for share in shares(matrix, labels))
    return corrected(observed(matrix, weight), chance)


def brennan(matrix: Matrix, labels: list[float], weight: Weight = nominal) -> float | None:
    total = sum(weight(a, b) for a in labels for b in labels)
    return corrected(observed(matrix, weight), total / len(labels) ** 2)


def conger(matrix: Matrix, labels: list[float]) -> float | None:
    """Chance agreement as the mean over ordered pairs of different raters of Σ_k p_gk p_hk."""
    by_rater = []
    for row in matrix:
        given = row[~np.isnan(row)].tolist()
        if given:
            by_rater.append([given.count(label) / len(given) for label in labels])
    chances = [sum(a * b for a, b in zip(order, other, strict=True)) for order, other in permutations(by_rater, 2)]
    return corrected(observed(matrix, nominal), sum(chances) / len(chances))


def cohen(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], labels: list[float], weight: Weight) -> float | None:
    both = ~np.isnan(a) & ~np.isnan(b)
    pairs = list(zip(a[both].tolist(), b[both].tolist(), strict=True))
    if len(pairs) < 2:
        return None
    raw = sum(weight(x, y) for x, y in pairs) / len(pairs)
    chance = sum(
        weight(x, y) * sum(pair == x for pair, _ in pairs) * sum(other == y for _, other in pairs)
        for x in labels
        for y in labels
    ) / len(pairs) ** 2  # fmt: skip
    return corrected(raw, chance)


def scott(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], labels: list[float]) -> float | None:
    both = ~np.isnan(a) & ~np.isnan(b)
    if both.sum() < 2:
        return None
    pooled = [*a[both].tolist(), *b[both].tolist()]
    chance = sum((pooled.count(label) / len(pooled)) ** 2 for label in labels)
    return corrected(float((a[both] == b[both]).mean()), chance)


def alpha(matrix: Matrix, distance: Weight) -> float | None:
    """1 - D_o / D_e over pairable ratings; `distance` of two labels."""
    pairable = [given for given in units(matrix) if len(given) > 1]
    everything = [label for given in pairable for label in given]
    n = len(everything)
    apart = sum(
        sum(distance(a, b) for a, b in permutations(given, 2)) / (len(given) - 1) for given in pairable
    ) / n  # fmt: skip
    expected = sum(distance(a, b) for a, b in permutations(everything, 2)) / (n * (n - 1))
    return None if expected == 0 else 1 - apart / expected


def rank_distance(matrix: Matrix) -> Weight:
    """Krippendorff's ordinal distance: (ratings from the one to the other, the two ends by half)²."""
    pairable = [label for given in units(matrix) if len(given) > 1 for label in given]

    def distance(a: float, b: float) -> float:
        low, high = min(a, b), max(a, b)
        between = sum(low <= label <= high for label in pairable)
        return 0.0 if a == b else (between - (pairable.count(a) + pairable.count(b)) / 2) ** 2

    return distance


def ratio_distance(a: float, b: float) -> float:
    return 0.0 if a == b else ((a - b) / (a + b)) ** 2


def jackknife_error(matrix: Matrix, statistic: Callable[[Matrix], float]) -> float:
    """The jackknife's standard error, leaving out one unit after the other."""
    n = matrix.shape[1]
    without = np.array([statistic(np.delete(matrix, unit, axis=1)) for unit in range(n)])
    return float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


def specific(matrix: Matrix, label: float) -> float | None:
    """Of the ordered pairs of ratings of a unit whose first is the label, the share whose second is, too."""
    pairs = [pair for given in units(matrix) for pair in permutations(given, 2) if pair[0] == label]
    return sum(b == label for _, b in pairs) / len(pairs) if pairs else None


def one_way(matrix: Matrix) -> float:
    """ICC(1,1) of complete data by the textbook's mean squares."""
    k, n = matrix.shape
    means = matrix.mean(axis=0)
    between = k * ((means - matrix.mean()) ** 2).sum() / (n - 1)
    within = ((matrix - means) ** 2).sum() / (n * (k - 1))
    return float((between - within) / (between + (k - 1) * within))


def pairs_of(matrix: Matrix) -> list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    return list(combinations(matrix, 2))
