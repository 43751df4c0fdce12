"""Retrieval modes: a correctness score split by what the system was given, and the gap that distractors make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Difference, Parameters, Part, Scorer, ScoreValue, ValueKind

Mode = Literal["gold_only", "gold_and_distractors", "distractors_only"]

_NAMES: dict[str, Mode] = {
    "gold_only": "gold_only",
    "gt_only": "gold_only",
    "gold_and_distractors": "gold_and_distractors",
    "gold_plus_distractors": "gold_and_distractors",
    "gt_plus_distractors": "gold_and_distractors",
    "distractors_only": "distractors_only",
}
"""What `retrieval_mode` in an item's metadata may say (the paper's names too)."""


class RetrievalModeParameters(Parameters):
    """Which score is split."""

    of: Literal["accuracy", "exact_match", "token_f1", "phrase_recall", "rouge_l"] = Field(
        "accuracy", description="the scorer, with its default parameters, whose first value is split by mode"
    )


class RetrievalMode(Scorer[RetrievalModeParameters]):
    """An item gets its score under the name of its mode; a group's gap is the difference of the modes' means."""

    name = "retrieval_mode"
    version = "1"
    title = "Score by retrieval mode"
    summary = "A score under the name of what the system was given; distractor susceptibility is gold only less both."
    source = "MRAG-Suite, sections 3.5 and 4.3, table 5 (the GO – GPD gap)."
    values = (
        ValueKind("gold_only", "Gold only", merit=False),
        ValueKind("gold_and_distractors", "Gold and distractors", merit=False),
        ValueKind("distractors_only", "Distractors only", merit=False),
    )
    needs = frozenset({Part.EVIDENCE, Part.METADATA})
    differences = (
        Difference("distractor_susceptibility", "Distractor susceptibility", "gold_only", "gold_and_distractors"),
    )
    parameters = RetrievalModeParameters

    def score(self, items: Sequence[ItemContent], parameters: RetrievalModeParameters) -> list[list[ScoreValue]]:
        """One value for each item, named after its mode; unscored under `gold_only` when it has none."""
        scorer: Scorer[Any] = SCORERS.get(parameters.of)
        scores = scorer.score(items, scorer.parameters())
        return [[_under_mode(item, given[0])] for item, given in zip(items, scores, strict=True)]


SCORERS.register(RetrievalMode())


def retrieval_mode(item: ItemContent) -> Mode | None:
    """What the system was given: as the metadata say, else by the roles of the evidence; None if they do not tell.

    Evidence of the role `retrieved` is the outcome of a real retrieval, which is none of the modes.
    """
    said = item.metadata.get("retrieval_mode")
    if isinstance(said, str):
        return _NAMES.get(said.strip().lower())
    roles = {unit.role for unit in item.evidence}
    if not roles or not roles <= {"gold", "distractor"}:
        return None
    if roles == {"gold", "distractor"}:
        return "gold_and_distractors"
    return "gold_only" if roles == {"gold"} else "distractors_only"


def _under_mode(item: ItemContent, score: ScoreValue) -> ScoreValue:
    mode = retrieval_mode(item)
    if mode is None:
        return ScoreValue("gold_only", None, "neither metadata nor the roles of the evidence tell the retrieval mode")
    return ScoreValue(mode, score.value, score.reason)
