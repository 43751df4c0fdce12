"""Words that say yes and words that say no, and which of two labels is the one that says yes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

YES = frozenset({"true", "yes", "y", "correct", "positive", "pass"})
NO = frozenset({"false", "no", "n", "incorrect", "negative", "fail"})

_NEGATIONS = ("not_", "not ", "no_", "non_", "non-", "in", "un", "dis")


def positive_of(labels: Sequence[str], scored: Collection[str] = ()) -> str:
    """Which of two labels counts as 1: what a metric is the score of, a word of assent, what is negated, or the first.

    `scored` names the values of the metrics at hand: a metric `abstention` makes the label "abstention" the 1.
    """
    first, second = labels
    if (first in scored) != (second in scored):
        return first if first in scored else second
    words = [label.lower() for label in labels]
    if words[1] in YES or words[0] in NO or words[0] in (f"{prefix}{words[1]}" for prefix in _NEGATIONS):
        return second
    return first
