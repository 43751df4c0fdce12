"""What three simulated annotators say about some sample items, in the criteria of the qa_verification protocol."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

from exports.sample.documents import read_data

ANNOTATORS = ("ada", "ben", "chloe")

_SEED = 2
_TWO_SLIP = 0.3  # how often two of the three, not one, see a hard unit differently

Row = dict[str, Any]


def simulated_labels() -> list[Row]:
    """Labels of ``ada``, ``ben`` and ``chloe`` on fourteen sample items, one row for each criterion and target.

    A row has ``item`` (the item's id), ``annotator``, ``criterion`` (self_contained, human_like, question_factual,
    answer_factual, complete, grounding), ``target`` (``item`` or ``evidence:K``), ``value``, and a ``comment`` where
    somebody explains a label on which the three disagree. They follow a hand-written truth, except that on each hard
    unit one or two of them, drawn with a fixed seed, see it the other way. The same rows come
    every time.
    """
    keys = {question["key"]: list(question["evidence"]) for question in _questions()}
    draw = random.Random(_SEED)  # noqa: S311 - a simulation, nothing secret
    rows: list[Row] = []
    for judgement in read_data("judgements"):
        hard = {(unit["criterion"], unit.get("target", "item")): unit for unit in judgement.get("hard", [])}
        for criterion, target, value in _truth(judgement, keys[judgement["item"].split(":")[0]]):
            unit = hard.get((criterion, target))
            slips = _dissenters(draw) if unit else []
            speaker = next((name for name in ANNOTATORS if unit and name not in slips), None)
            for name in ANNOTATORS:
                row = {"item": judgement["item"], "annotator": name, "criterion": criterion, "target": target}
                row["value"] = unit["slip"] if unit and name in slips else value
                if unit and name in slips:
                    row["comment"] = unit["because"]
                elif unit and name == speaker:
                    row["comment"] = unit["against"]
                rows.append(row)
    return rows


def _questions() -> list[Row]:
    return [*read_data("questions-english"), *read_data("questions-arabic")]


def _truth(judgement: Mapping[str, Any], keys: list[str]) -> Iterator[tuple[str, str, str]]:
    for criterion, value in judgement["truth"].items():
        yield criterion, "item", value
    for key in keys:
        yield "grounding", f"evidence:{key}", "required" if key in judgement["required"] else "not_required"


def _dissenters(draw: random.Random) -> list[str]:
    return draw.sample(ANNOTATORS, 2 if draw.random() < _TWO_SLIP else 1)
