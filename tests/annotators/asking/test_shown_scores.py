"""What people are shown of the scores that they judge, where a page has no place for them beside their criteria."""

from __future__ import annotations

from typing import Any

from annotators.asking.shown_scores import own_scores_shown, score_lines
from annotators.items.normal import read_item
from annotators.protocols import PROTOCOLS

METRIC = PROTOCOLS.get("metric_agreement")


def lines(*scores: dict[str, Any]) -> list[str]:
    """What is shown of an item with these scores, of which one of two phrases stands in the answer."""
    row = {"id": "a", "question": "Q?", "answer": "Copper.", "references": [["copper", "tin"]], "scores": [*scores]}
    return score_lines(own_scores_shown(METRIC, read_item(row)), METRIC).split("\n")


def test_each_criterion_has_its_score_with_what_it_means_and_no_other_is_shown() -> None:
    assert lines(
        {"scorer": "imported:fathoms", "name": "latency", "value": 3.5},
        {"scorer": "imported:phrase_recall", "name": "correctness", "value": 0.5},
        {"scorer": "imported:hallucination", "name": "hallucination", "reason": "no one knows"},
    ) == [
        "Phrase recall, imported Correctness: 0.50 (1 of 2: share of the best set’s phrases that stand in the answer)",
        "Hallucination, imported Hallucination: unscored: no one knows",
    ]


def test_a_criterion_is_named_where_its_score_does_not_tell_which_it_is() -> None:
    [rouge, none] = lines({"scorer": "imported:rouge_l", "name": "rouge_l", "value": 0.25})
    assert rouge.startswith("Correctness score: ")
    assert "ROUGE-L: 0.25" in rouge
    assert none == "Hallucination flag: unscored: this study has no such score"


def test_scores_of_parts_are_not_judged() -> None:
    row = {
        "id": "a", "question": "Q?", "answer": "A", "claims": [{"key": "c1", "text": "A"}],
        "scores": [{"scorer": "x", "name": "correctness", "value": 1, "target": "claim:c1"}],
    }  # fmt: skip
    shown = own_scores_shown(METRIC, read_item(row))
    assert [score["value"] for score in shown] == [None, None]
