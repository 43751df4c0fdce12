"""How the simulated people of the sample project judge: from its hand-written labels, or by a fixed rule."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotators.asking.submissions import GivenLabel
from annotators.scorers.shared.phrases import phrase_recall
from exports.sample import simulated_labels

Row = Mapping[str, Any]
Judge = Callable[[Mapping[str, Any]], list[GivenLabel]]
"""What somebody answers to a step of an item as the browser gets it."""

_UNCLEAR = {
    "How much did it improve?": "Nothing says what improved, where, or since when.",
    "What does this chart show?": "There is no chart here, so nobody can tell which one is meant.",
    "How many grey rooms are there in Figure 2?": "Every report may have a Figure 2. The document is missing.",
    "ماذا يبين هذا الشكل؟": "لا يظهر أي شكل هنا، فلا يعرف القارئ أي شكل هو المقصود.",
}
"""Questions that cannot be answered as they stand, and what is missing."""

_DOUBTED = {
    "What barometer reading does the deck log of Calder Queen give for 14 November 2022?": (
        "demo-ada",
        "The log has several readings of that day; no hour is given.",
    ),
    "كم سائحا زار واحة عين الريحان سنة 2024؟": ("demo-ben", "لا يذكر السؤال هل يدخل فيه زوار اليوم الواحد."),
    "Who was the head librarian of Corrie Street Library during the night-opening pilot?": (
        "demo-chloe",
        "The pilot may have had more than one head librarian.",
    ),
    "What dividend did the Harrow Bay Storage Cooperative pay its members for 2024?": (
        "demo-ben",
        "In total or for each share is not said.",
    ),
}
"""Questions that one of the annotators finds ambiguous, and why."""


FLAGS = "imported:sample"
"""The scorer under which the sample's hallucination flags are stored."""

_DECLINES = ("do not contain", "does not name", "could not find", "Please say what", "لا يذكر")
"""How the answers begin to say that there is no answer."""


def hallucination_flags(item: Row) -> list[dict[str, Any]]:
    """The flag that a pipeline would have raised: something is stated, and not all required phrases are in it."""
    recall = phrase_recall(item["answer"], item["references"]).value
    if recall is None:
        return []
    declined = recall == 0 and any(words in item["answer"] for words in _DECLINES)
    return [{"scorer": FLAGS, "name": "hallucination", "value": float(recall < 1 and not declined)}]


def chance(*about: object) -> float:
    """A number in [0, 1) that is always the same for the same arguments."""
    digest = hashlib.sha256("\x00".join(map(str, about)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


class Verifier:
    """One of the three annotators whose labels come with the sample, at work on the items that they judged."""

    def __init__(self, annotator: str, items: Sequence[Row]) -> None:
        self._labels: dict[str, dict[tuple[str, str], Row]] = defaultdict(dict)
        for row in simulated_labels():
            if row["annotator"] == annotator:
                self._labels[row["item"]][row["criterion"], row["target"]] = row
        self._items = [item for item in items if item["id"] in self._labels]

    def __call__(self, step: Mapping[str, Any]) -> list[GivenLabel]:
        """The labels for what is asked in this step."""
        item = next(item for item in self._items if item["question"] == step["question"])
        if "answer" in step:
            item = next(
                item for item in self._items if (item["question"], item["answer"]) == (step["question"], step["answer"])
            )
        keys = _evidence_keys(item, step)
        given = []
        for criterion, targets in step["units"].items():
            for target in targets:
                row = self._labels[item["id"]][criterion, keys.get(target, target)]
                given.append(GivenLabel(criterion, target, row["value"], comment=row.get("comment")))
        return given


def _evidence_keys(item: Row, step: Mapping[str, Any]) -> dict[str, str]:
    """evidence:E1 → evidence:e3: the neutral names of the wire stand for units that look the same."""

    def looks(unit: Row) -> tuple[Any, ...]:
        return unit["kind"], tuple(unit["pages"]), tuple(unit["box"] or ()), unit["text"]

    keys = {looks(unit): unit["key"] for unit in item["evidence"]}
    return {f"evidence:{unit['key']}": f"evidence:{keys[looks(unit)]}" for unit in step.get("evidence", ())}


def judge_of_ambiguity(annotator: str) -> Judge:
    """Finds the questions ambiguous that are, and one that is not."""

    def judge(step: Mapping[str, Any]) -> list[GivenLabel]:
        question = step["question"]
        doubter, doubt = _DOUBTED.get(question, ("", ""))
        why = _UNCLEAR.get(question) or (doubt if doubter == annotator else "")
        if not why:
            return [GivenLabel("ambiguity", "item", "clear")]
        return [GivenLabel("ambiguity", "item", "ambiguous"), GivenLabel("reason", "item", why)]

    return judge


def judge_of_scores(annotator: str, items: Sequence[Row]) -> Judge:
    """Agrees with a score as far as it is near the truth, give or take a grade now and then."""
    truth = _truth()
    ids = {(item["question"], item["answer"]): item["id"] for item in items}

    def judge(step: Mapping[str, Any]) -> list[GivenLabel]:
        item = ids[step["question"], step["answer"]]
        values = {score["criterion"]: score["value"] for score in step["scores"] if score["value"] is not None}
        right = truth.get(item)
        given = []
        for criterion in ("correctness_agreement", "hallucination_agreement"):
            if criterion not in values:
                given.append(GivenLabel(criterion, "item", cannot_judge=True, reason="The value is missing."))
                continue
            about_flag = criterion == "hallucination_agreement"
            expected = None if right is None else float(right == 0) if about_flag else right
            off = 0.25 if expected is None else abs(values[criterion] - expected)
            slip = 1 if chance(annotator, item, criterion) < 0.3 else 0
            given.append(GivenLabel(criterion, "item", max(1, round(5 - 4 * off) - slip)))
        return given

    return judge


def _truth() -> dict[str, float]:
    """Item → how right its answer is by most of the hand-written labels: 1, 0.5 (incomplete) or 0 (not factual)."""
    votes: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in simulated_labels():
        if row["criterion"] in ("answer_factual", "complete"):
            votes[row["item"], row["criterion"]].append(row["value"] in ("factual", "complete"))
    most = {unit: sum(given) > len(given) / 2 for unit, given in votes.items()}
    return {
        item: (1.0 if most[item, "complete"] else 0.5) if is_factual else 0.0
        for (item, criterion), is_factual in most.items()
        if criterion == "answer_factual"
    }
