"""A scorer: how much of an answer is in small letters."""

from collections.abc import Sequence

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Parameters, Scorer, ScoreValue, ValueKind


class CalmParameters(Parameters):
    """Which letters count."""

    ascii_only: bool = False


class Calmness(Scorer[CalmParameters]):
    """The share of letters that are small; unscored without a letter."""

    name = "calmness"
    version = "1"
    title = "Calmness"
    summary = "The share of the answer's letters that are small."
    source = "assay-example."
    values = (ValueKind("calmness", "Calmness"),)
    parameters = CalmParameters

    def score(self, items: Sequence[ItemContent], parameters: CalmParameters) -> list[list[ScoreValue]]:
        """The share (0 to 1) of each item."""
        return [[self._one(item.answer, parameters)] for item in items]

    def _one(self, answer: str, parameters: CalmParameters) -> ScoreValue:
        letters = [one for one in answer if one.isalpha() and (one.isascii() or not parameters.ascii_only)]
        if not letters:
            return ScoreValue("calmness", None, "the answer has no letter")
        return ScoreValue("calmness", sum(one.islower() for one in letters) / len(letters))


SCORERS.register(Calmness())
