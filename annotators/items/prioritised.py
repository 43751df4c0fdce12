"""Items in an order in which the more informative come first, drawn with probabilities that stay known.

An item has a weight w: the square of how far up its score is among all (or down, or near the middle), of which half is
shared out evenly, so that nothing weighs less than half of the average. Its key is w / u, with u in (0, 1] drawn by the
seed; items come by falling keys. Where the first n are labelled, and the next key is τ, each of them was there with
probability min(1, w / τ): priority sampling (Duffield, Lund & Thorup 2007, Journal of the ACM 54(6), 32). Sums in which
a label stands for one over it are unbiased for every n, and no n has to be known beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotators.arrays import FloatArray, np
from annotators.items.sampling import fraction

HIGH, LOW, UNCERTAIN = "high", "low", "uncertain"
FIRSTS = (HIGH, LOW, UNCERTAIN)
"""What can come first: high scores, low ones, or those in the middle of the scale."""

UNIFORM = 0.5
"""The part of every weight that all have alike: no label stands for more than twice what it would in a plain draw."""


def shared_out(worth: FloatArray, uniform: float = UNIFORM) -> FloatArray:
    """Weights (n, mean 1) by what each is worth (n, not below 0), the part `uniform` (0..1) of them shared out evenly.

    All weigh 1 where nothing is worth anything.
    """
    mean = float(worth.mean())
    return uniform + (1 - uniform) * worth / mean if mean > 0 else np.ones(len(worth))


def weights_of(scores: FloatArray, first: str, scale: tuple[float, float] | None = None) -> FloatArray:
    """The weight of each item (n, mean 1, at least `UNIFORM`) from its score (n, NaN: none).

    `first` is one of `FIRSTS`. The middle is that of the `scale`, else half-way between the lowest and the highest
    score. What has no score has the average weight; so has everything where all scores are worth the same.
    """
    there = ~np.isnan(scores)
    known = scores[there]
    if not len(known):
        return np.ones(len(scores))
    low, high = scale or (float(known.min()), float(known.max()))
    if first == UNCERTAIN:
        off = np.abs(known - (low + high) / 2)
        worth = off.max() - off
    else:
        worth = known - known.min() if first == HIGH else known.max() - known
    found = np.ones(len(scores))
    found[there] = shared_out(worth**2)
    return found


def keys_of(names: Sequence[str], weights: FloatArray, seed: int) -> FloatArray:
    """The key of each item (n), by which it comes in falling order."""
    drawn = np.array([1 - fraction(name, "by score", seed) for name in names], dtype=np.float64)
    return weights / drawn


def chances(weights: FloatArray, next_key: float | None) -> FloatArray:
    """The probability (n, 0..1) with which each of the first n items was among them; all certain with no next key."""
    return np.ones(len(weights)) if next_key is None else np.minimum(1.0, weights / next_key)
