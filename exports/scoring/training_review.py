"""The review of a proposed training set: what is shown before it is accepted. It loads the model: a worker's work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from annotators.progress import Progress
from annotators.scorers.shared.abstaining.review import (
    Change,
    JudgedAnswer,
    LeaveOneOut,
    compare_training_sets,
    leave_one_out,
)
from db.engine import Database
from db.items.read import item_counts
from db.permissions import RESEARCHERS, Actor, On, operation
from db.scores.training_sets import extension, present_training_set, read_answers

BLOCK = 512

MOST_CHANGES = 2_000
"""Changes that are kept to be shown; all are counted."""


@dataclass
class Review:
    """A proposed set against the present one.

    `base` and `hash` are the two sets. `before` and `after` are their leave-one-out accuracy and confusion.
    `n_labels` and `n_flags` count the answers whose label, and whose hallucination flag, would change; `changes` are
    the first `MOST_CHANGES` of them, those of flags before the others.
    """

    base: str
    hash: str
    before: LeaveOneOut
    after: LeaveOneOut
    n_new: int
    n_answers: int = 0
    n_labels: int = 0
    n_flags: int = 0
    changes: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As the job keeps it."""
        return {**vars(self), "before": _accuracy(self.before), "after": _accuracy(self.after)}


@operation(On.PROJECT, RESEARCHERS)
def review_extension(
    db: Database, actor: Actor, project_id: int, *, examples: Sequence[dict[str, Any]], progress: Progress
) -> Review:
    """Compare the project's training set, extended by `examples` (text, label, origin), with what it is now.

    Every answer of the project is labelled by both, in blocks; `progress` is told (answers done, items to look at).
    Raises InvalidInput when there is nothing to add.
    """
    present = present_training_set(db, actor, project_id)
    extended = extension(present, examples)
    total = item_counts(db, actor, project_id).total
    progress(0, total)
    review = Review(present.hash, extended.hash, leave_one_out(present), leave_one_out(extended), len(examples))
    flags: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    after = 0
    while answers := read_answers(db, actor, project_id, after=after, limit=BLOCK):
        after = answers[-1].version_id
        judged = [
            JudgedAnswer(answer.external_id, answer.question, answer.answer, answer.correctness) for answer in answers
        ]
        texts = {answer.external_id: answer.answer for answer in answers}
        for change in compare_training_sets(present, extended, judged):
            is_flag = change.old_hallucination != change.new_hallucination
            review.n_labels += 1
            review.n_flags += is_flag
            kept = flags if is_flag else labels
            if len(kept) < MOST_CHANGES:
                kept.append(_change(change, texts[change.key]))
        review.n_answers += len(answers)
        progress(review.n_answers, max(total, review.n_answers))
    review.changes = [*flags, *labels][:MOST_CHANGES]
    return review


def _accuracy(found: LeaveOneOut) -> dict[str, Any]:
    return {
        "accuracy": found.accuracy,
        "low": found.low,
        "high": found.high,
        "method": "Wilson, 95 %",
        "n": found.n,
        "confusion": found.confusion,
        "mistakes": [asdict(mistake) for mistake in found.mistakes],
    }


_LONGEST = 400


def _change(change: Change, answer: str) -> dict[str, Any]:
    return {
        "item": change.key,
        "answer": answer[:_LONGEST],
        "old": change.old.label,
        "new": change.new.label,
        "old_nearest": change.old.text,
        "new_nearest": change.new.text,
        "new_distance": change.new.distance,
        "old_flag": change.old_hallucination,
        "new_flag": change.new_hallucination,
    }
