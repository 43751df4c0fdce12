"""Which units to label next: drawn at random, more often where the prediction errs, never with probability zero.

Active inference (Zrnic & Candès 2024, Active Statistical Inference, ICML, section 4): the variance of an estimate is
smallest where a unit is drawn in proportion to the error that its prediction is expected to have, which over strata is
Neyman's allocation (Neyman 1934, Journal of the Royal Statistical Society 97, 558-625): as many of each as it has units
times the spread of their errors. Every label stands for one over the probability of its unit (Horvitz & Thompson 1952,
Journal of the American Statistical Association 47, 663-685), so that no advice biases an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotators.arrays import BoolArray, FloatArray, IntArray, np
from annotators.errors import InvalidInput
from annotators.estimates.sample import Units
from annotators.items.prioritised import UNIFORM, shared_out

NEIGHBOURS = 25
"""Labelled units with the nearest predictions, by whose errors that of a unit is judged."""
PRIOR = 10.0
"""As many labels of the spread of all errors are mixed into that of a stratum or a neighbourhood."""
FEWEST = 20
"""With fewer labels all are drawn alike: errors of so few say nothing of others."""


def expected_error(units: Units) -> FloatArray:
    """The size of the error (N, on the labels' scale) that the prediction of each unit is expected to have.

    The root mean square of the errors of the labelled units whose predictions are nearest, and of those in its stratum,
    each drawn towards that of all. All alike with fewer than 20 labels, or where every label is the same.
    """
    labelled = np.flatnonzero(units.labelled)
    if len(labelled) < FEWEST or np.ptp(units.human[labelled]) == 0:
        return np.ones(units.n)
    weights = np.ones(units.n) if units.weights is None else units.weights
    f, w = units.predicted.values, weights[labelled]
    w = w / w.mean()
    said = units.human[labelled] - f[labelled]
    residual = said - float(w @ said) / w.sum()
    squares = w * residual**2
    overall = float(squares.sum()) / w.sum()
    if overall <= 0:
        return np.ones(units.n)
    n_strata = len(units.strata)
    of_stratum = np.bincount(units.stratum[labelled], weights=squares, minlength=n_strata)
    weight = np.bincount(units.stratum[labelled], weights=w, minlength=n_strata)
    by_stratum = (of_stratum + PRIOR * overall) / (weight + PRIOR)
    by_prediction = np.ones(units.n)
    if units.predicted.fitted:
        order = np.argsort(f[labelled], kind="stable")
        sums = np.r_[0.0, np.cumsum(squares[order])]
        counts = np.r_[0.0, np.cumsum(w[order])]
        k = min(NEIGHBOURS, len(labelled))
        start = np.clip(np.searchsorted(f[labelled][order], f) - k // 2, 0, len(labelled) - k)
        near = (sums[start + k] - sums[start] + PRIOR * overall) / (counts[start + k] - counts[start] + PRIOR)
        by_prediction = near / overall
    found: FloatArray = np.sqrt(by_stratum[units.stratum] * by_prediction)
    return found


def neyman(units: Units, n: int) -> list[float]:
    """How many of n labels each stratum gets: in proportion to its units times the spread of their errors."""
    worth = shared_out(expected_error(units))
    left = np.where(units.labelled, 0.0, worth)
    sums = np.bincount(units.stratum, weights=left, minlength=len(units.strata))
    found: list[float] = (n * sums / max(float(sums.sum()), 1e-300)).tolist()
    return found


def draw(worth: FloatArray, n: int, *, seed: int = 0, uniform: float = UNIFORM) -> tuple[IntArray, FloatArray]:
    """n places drawn by what each is worth (M, not below 0), in the order of a random draw, and their probabilities.

    With probability n · (u / M + (1 - u) · worth / Σ worth), cut at 1 and shared out again. `uniform` (u, 0..1) keeps
    every probability at least at u · n / M, so that no weight is larger than M / (u · n): Zrnic & Candès (2024), Active
    Statistical Inference, ICML, section 6. Places are put into a random order and picked by one random start and equal
    steps (Hartley & Rao 1962, Annals of Mathematical Statistics 33, 350-374), which takes exactly n. With no more than
    n places all are taken, with probability 1. Raises InvalidInput for n below 1 or `uniform` outside 0..1.
    """
    if n < 1 or not 0 < uniform <= 1:
        raise InvalidInput(f"{n} units, {uniform:g} of the chance uniform: give 1 or more, and a share above 0 up to 1")
    if n >= len(worth):
        return np.arange(len(worth)), np.ones(len(worth))
    size = shared_out(worth, uniform)
    sure = np.zeros(len(worth), dtype=np.bool_)
    chance = size
    while True:
        chance = np.where(sure, 1.0, (n - int(sure.sum())) * size / size[~sure].sum()).astype(np.float64)
        above = (chance >= 1) & ~sure
        if not above.any():
            break
        sure |= above
        if sure.sum() >= n:
            break
    rng = np.random.default_rng([seed, 4])
    order = rng.permutation(len(worth))
    ends = np.cumsum(chance[order])
    picked = np.unique(np.searchsorted(ends, rng.random() + np.arange(n), side="right"))
    chosen = np.sort(order[picked[picked < len(order)]])
    return chosen, np.minimum(chance[chosen], 1.0)


@dataclass(frozen=True, eq=False)
class Batch:
    """Units drawn together: their places, the probability with which each was drawn, and which have a label by now.

    `known` (N) are the units that had a label or were drawn before, which it could not draw.
    """

    places: IntArray
    probability: FloatArray
    labelled: BoolArray
    known: BoolArray


def weighed(n_units: int, batches: Sequence[Batch]) -> tuple[FloatArray, FloatArray]:
    """One probability for every unit (N) from several draws, so that 1 over it weighs its label, and what is open (N).

    Each batch with its labels gives an estimate of the whole: what was known before, as it is, and the rest by one over
    the probability; their mean by the numbers of labels is unbiased, as each is, whatever the earlier labels made of
    the later draws (Zrnic & Candès 2024, ICML, section 5, sequential inference; a mean of martingale differences). Of a
    batch that is labelled in part, the labelled ones count as drawn at random from it. What is open is the share of a
    label's variance that its draw adds: 1 - probability, where nothing but that draw weighs it. A unit without a label
    has the probability 1, which nothing reads.
    """
    counts = np.array([float(batch.labelled.sum()) for batch in batches])
    share = counts / max(counts.sum(), 1.0)
    weight, drawn, chance_of = np.zeros(n_units), np.zeros(n_units), np.ones(n_units)
    answered = np.ones(n_units)
    for batch, part in zip(batches, share.tolist(), strict=True):
        if not batch.labelled.any():
            continue
        rate = float(batch.labelled.sum()) / len(batch.places)
        here = batch.places[batch.labelled]
        chance = batch.probability[batch.labelled] * rate
        drawn[here] = part / chance
        chance_of[here], answered[here] = chance, rate
    for batch, part in zip(batches, share.tolist(), strict=True):
        weight += np.where(batch.known & (drawn > 0), part / answered, 0.0)
    total = drawn + weight
    there = drawn > 0
    probability = np.where(there, 1 / np.where(there, total, 1.0), 1.0)
    left = np.where(there, (drawn / np.where(there, total, 1.0)) ** 2 * (1 - chance_of), 0.0)
    return np.minimum(probability, 1.0), left
