"""Do the scores of two answers differ the way people prefer one: the share of the pairs in which both say the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotators.alignment.statistics.base import declare
from annotators.alignment.statistics.systems import order
from annotators.alignment.statistics.thresholds import FOLDS
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray, IntArray, ratio
from annotators.figures import count
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned

PREFERRED_ALIKE = declare("pairwise_accuracy", "Pairwise accuracy", "people prefer neither answer of any pair")
TIE_CALIBRATED = declare("tie_calibrated_accuracy", "Pairwise accuracy, ties calibrated")
MOST_PAIRS = 2_000_000


def preferred_alike(pairs: Pairs, asked: Resampling | None = None, **about: Any) -> Aligned:
    """`pairwise_accuracy`: of the pairs of answers in which people prefer one, the share where the metric does too.

    A row is a pair of answers: `pairs.human` is the preference and `pairs.metric` the difference of the two scores,
    both below zero for the first answer and above it for the second. A difference of zero counts by half, so that a
    metric which says nothing has 0.5 (0..1; Kocmi et al., 2021, To Ship or Not to Ship, WMT, of systems). `n` is how
    many rows prefer one; without any it is undefined. Which answer of a pair comes first does not matter.
    """
    asked = asked or Resampling()
    decided = np.sign(pairs.human) != 0
    n = int(decided.sum())
    if not n:
        reason = PREFERRED_ALIKE.undefined if pairs.n else "no pair has both a preference and two scores"
        return PREFERRED_ALIKE.without_value(reason, 0, **about)
    said, preferred = order(pairs.metric), np.sign(pairs.human)
    credit = np.where(decided, (1 + said * preferred) / 2, 0.0)
    sample = DrawnRows.of([credit, decided.astype(np.float64)], pairs.cluster)
    right, counts = sample.columns.T

    def share(weights: FloatArray) -> FloatArray:
        return ratio(right @ weights, counts @ weights)

    found = sample.resampled(share, asked)
    even, ties = int((decided & (said == 0)).sum()), pairs.n - n
    notes = [f"{even:,} with equal scores, which count by half"] * bool(even)
    notes += [f"{ties:,} without a preference left out"] * bool(ties)
    notes += [f"{pairs.left_out:,} without a label or a score left out"] * bool(pairs.left_out)
    entry = PREFERRED_ALIKE.about(n, **about)
    return PREFERRED_ALIKE.measured(entry, found, 0, asked, note="; ".join(notes))


def tie_calibrated_accuracy(pairs: Pairs, asked: Resampling | None = None, **about: Any) -> Aligned:
    """`tie_calibrated_accuracy`: of all pairs of answers to one question, the share that metric and people order alike.

    People may hold two answers equal: then the metric is right if its two scores differ by no more than ε, and wrong
    where they differ more; a pair that people tell apart it must order alike by more than ε (acc_eq of Deutsch, Foster
    & Freitag, 2023, Ties Matter, EMNLP, eq. 1 and section 6). ε is the one with the highest share among the questions
    of the other folds, so that no pair is judged by an ε that saw it (they choose it on the same pairs). Pairs are
    counted over all questions; `n` is how many there are. Undefined without a question that has two answers.
    """
    asked = asked or Resampling()
    if not pairs.clustered:
        return TIE_CALIBRATED.without_value("no question has two answers with a label and a score", 0, **about)
    sizes = np.bincount(pairs.cluster)
    n = int((sizes * (sizes - 1) // 2).sum())
    several = int((sizes > 1).sum())
    if several < FOLDS or n > MOST_PAIRS:
        why = (
            f"too few questions have two answers to choose ε on the others: {several}"
            if several < FOLDS
            else f"there are {n:,} pairs of answers, more than {MOST_PAIRS:,}"
        )
        return TIE_CALIBRATED.without_value(why, n, **about)
    first, second = _within(pairs.cluster)
    people = order(pairs.human[first] - pairs.human[second])
    apart = pairs.metric[first] - pairs.metric[second]
    # Folds are of the questions that have pairs: else all of these may be in one, and none be left to choose ε on.
    question = np.unique(pairs.cluster[first], return_inverse=True)[1]
    fold = (np.random.default_rng([asked.seed, 4]).permutation(several) % FOLDS)[question]
    right, chosen = np.zeros(n), []
    for held_out in range(FOLDS):
        mine = fold == held_out
        if not mine.any() or mine.all():
            continue
        epsilon = _best_epsilon(people[~mine], apart[~mine])
        chosen.append(epsilon)
        right[mine] = _alike(people[mine], apart[mine], epsilon)
    sample = DrawnRows.of([right, np.ones(n)], question.astype(np.int64))
    hits, counts = sample.columns.T

    def share(weights: FloatArray) -> FloatArray:
        return ratio(hits @ weights, counts @ weights)

    low, high = min(chosen), max(chosen)
    ties = int((people == 0).sum())
    note = f"ε of {len(chosen)} folds: {low:.4g}" + (f" to {high:.4g}" if high > low else "")
    note += f"; people hold {count(ties, 'pair')} equal: who holds all equal is right in {ties / n:.3f}"
    return TIE_CALIBRATED.measured(
        TIE_CALIBRATED.about(n, **about), sample.resampled(share, asked), 0, asked, note=note
    )


def _within(cluster: IntArray) -> tuple[IntArray, IntArray]:
    """The rows of every pair of rows of one cluster."""
    order_of_rows = np.argsort(cluster, kind="stable")
    begins = np.flatnonzero(np.r_[True, np.diff(cluster[order_of_rows]) != 0])
    sides: tuple[list[IntArray], list[IntArray]] = ([], [])
    for rows in np.split(order_of_rows, begins[1:]):
        a, b = np.triu_indices(len(rows), 1)
        sides[0].append(rows[a])
        sides[1].append(rows[b])
    return np.concatenate(sides[0]), np.concatenate(sides[1])


def _alike(people: FloatArray, apart: FloatArray, epsilon: float) -> FloatArray:
    """1 where the metric, a tie up to ε, says of a pair what people say, else 0."""
    said = np.where(np.abs(apart) <= epsilon, 0.0, np.sign(apart))
    found: FloatArray = (said == people).astype(np.float64)
    return found


def _best_epsilon(people: FloatArray, apart: FloatArray) -> float:
    """The ε with the most pairs alike: 0 or one of the differences; of equally good ones the smallest."""
    size = np.abs(apart)
    by_size = np.argsort(size, kind="stable")
    sizes, tied = size[by_size], people[by_size] == 0
    agree = (np.sign(apart) == people)[by_size] & ~tied
    ends = np.flatnonzero(np.r_[sizes[1:] > sizes[:-1], True]) + 1
    gained = np.r_[0, np.cumsum(tied)][ends] + agree.sum() - np.r_[0, np.cumsum(agree)][ends]
    candidates = sizes[ends - 1]
    if candidates[0] > 0:
        candidates, gained = np.r_[0.0, candidates], np.r_[agree.sum(), gained]
    return float(candidates[int(np.argmax(gained))])
