"""Which score a criterion is about: the names that a criterion asks for, held against the scores that there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotators.protocols import Protocol
from annotators.scorers.base import value_kind

ScoreKey = tuple[str, str]
"""A score by its scorer and the name of its value: ("imported:fathoms", "correctness")."""


def scores_by_criterion(protocol: Protocol, there: Sequence[ScoreKey]) -> dict[str, list[ScoreKey]]:
    """For each criterion about scores the ones of `there` that it is about, the one to take first in front.

    `there` is in order of preference. A criterion takes scores that are named as it says (by value or by scorer), and
    only where there are none those that measure it: a study of ROUGE-L alone judges it as its correctness.
    """
    found = {}
    for criterion in protocol.criteria:
        words = protocol.scores_judged_by(criterion)
        if words:
            named = [key for word in words for key in there if word in key]
            found[criterion.name] = list(dict.fromkeys(named)) or measuring(words, there)
    return found


def measuring(words: Iterable[str], there: Sequence[ScoreKey]) -> list[ScoreKey]:
    """The scores that measure one of these, whatever their own name."""
    return list(dict.fromkeys(key for word in words for key in there if value_kind(*key).measures == word))
