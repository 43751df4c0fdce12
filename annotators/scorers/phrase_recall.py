"""Phrase recall: the share of a reference answer's required phrases that are found in the answer (FATHOMS-RAG)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Parameters, Scorer, ScoreValue
from annotators.scorers.shared.phrases import CORRECTNESS, SHARE, Mode, phrase_recall


class PhraseRecallParameters(Parameters):
    """How a phrase is looked for in an answer."""

    mode: Mode = Field("fathoms_code", description="as the authors' evaluator, as the paper says, or whole words only")


class PhraseRecall(Scorer[PhraseRecallParameters]):
    """The best recall over the reference answers. Items without a phrase to look for are unscored."""

    name = "phrase_recall"
    version = "1"
    title = "Phrase recall"
    summary = "The share of required phrases found in the answer; of several acceptable references the best counts."
    source = "FATHOMS-RAG, section III.B, algorithm 1; mode fathoms_code as evaluation/evaluator.py of its repository."
    values = (CORRECTNESS,)
    parameters = PhraseRecallParameters

    def score(self, items: Sequence[ItemContent], parameters: PhraseRecallParameters) -> list[list[ScoreValue]]:
        """One value for each item, `correctness` (0 to 1), with the phrases found of the best reference."""
        return [[phrase_recall(item.answer, item.references, parameters.mode)] for item in items]

    def meaning(self, score: ScoreValue) -> str:
        """How many phrases of the best set were found, where the score says which."""
        details = score.details or {}
        found, missing = details.get("found"), details.get("missing")
        if score.value is None or not isinstance(found, list) or not isinstance(missing, list):
            return self.summary
        if details.get("error_marker"):
            return "The answer is an error message, which has none of the phrases"
        return f"{len(found)} of {len(found) + len(missing)}: {SHARE}"


SCORERS.register(PhraseRecall())
