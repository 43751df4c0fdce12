"""What three simulated annotators say about some sample items, in the criteria of the qa_verification protocol."""

import random
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from annotators.protocols import Protocol
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


def qualification_labels(criteria: Collection[str]) -> list[Row]:
    """The right labels of two dozen sample items to qualify by, as far as these criteria ask for them.

    They are other items than those of `simulated_labels`. A row has ``item``, ``criterion``, ``target``, ``value``, and
    ``explanation`` (None where there is nothing to explain). Criteria are those of `simulated_labels`, and `ambiguity`.
    """
    rows: list[Row] = []
    for known in read_data("qualification"):
        why = dict(known["why"])
        units = [(criterion, "item", value) for criterion, value in known["right"].items()]
        for value in ("not_required", "required"):
            units += [("grounding", f"evidence:{key}", value) for key in known.get(value, ())]
        for criterion, target, value in units:
            if criterion in criteria:
                row = {"item": known["item"], "criterion": criterion, "target": target, "value": value}
                rows.append({**row, "explanation": why.pop(criterion, None)})
    return rows


_USUAL = {
    ("self_contained", "true"): "Whom and what it asks about, and when, is all in the question.",
    ("self_contained", "false"): "It points at something that only the page shows.",
    ("human_like", "true"): "Somebody could want to know that, and would ask it like this.",
    ("question_factual", "factual"): "What the question takes for granted is so in the documents.",
    ("complete", "complete"): "Everything that was asked for is answered, rightly or not.",
    ("ambiguity", "clear"): "It can be understood in one way only, by what it says itself.",
    ("ambiguity", "ambiguous"): "What is meant is not said, and it may be several things.",
    ("grounding", "required"): "What the question asks for is taken from it.",
    ("grounding", "not_required"): "The answer can be given without it.",
}
"""Why a label is right, in the words of the guidelines, where nothing particular is to be said of the item."""


def qualification_items(protocol: Protocol) -> list[Row]:
    """The right labels of sample items to qualify by for a built-in protocol; empty for one that has none.

    A row is as those of `qualification_labels`, and has ``other``, the second item of a pair (None of no pair). Those
    written for the protocol come before those that are shared with `qa_verification`.
    """
    own = {entry["protocol"]: entry["items"] for entry in read_data("qualification-others")}
    if protocol.name not in own:
        rows = qualification_labels({criterion.name for criterion in protocol.criteria})
        explained = {row["item"] for row in rows if row["explanation"]}
        for row in rows:
            row["other"] = None
            if row["item"] not in explained:
                row["explanation"] = _USUAL[row["criterion"], row["value"]]
                explained.add(row["item"])
        return rows
    rows = []
    for known in own[protocol.name]:
        why = known["why"]
        for criterion, *target, value in known["right"]:
            row = {"item": known["item"], "other": known.get("other"), "criterion": criterion, "value": value}
            usual = "pair" if protocol.about_pairs else "item"
            rows.append({**row, "target": target[0] if target else usual, "explanation": why})
            why = None
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
