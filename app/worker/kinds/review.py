"""Review of a training set: a proposed set compared with the present one, on every answer of the project."""

from __future__ import annotations

from typing import Any

from app.worker.kinds.base import KINDS, JobKind, JobParameters, Work


class ReviewParameters(JobParameters):
    """The examples by which the present set would be extended, each with text, label and origin."""

    examples: list[dict[str, Any]]


class ReviewJob(JobKind[ReviewParameters]):
    """It begins anew when it is taken up again: its result is kept as a whole."""

    name = "training review"
    title = "Review of a training set"
    unit = "answer"
    parameters = ReviewParameters

    def about(self, parameters: ReviewParameters) -> str:
        """How many examples are new."""
        return f"{len(parameters.examples):,} new examples of abstention"

    def carry_out(self, work: Work, parameters: ReviewParameters) -> dict[str, Any]:
        """What the examples would change; see `exports/scoring/training_review.py`."""
        from exports.scoring.training_review import review_extension  # noqa: PLC0415

        job = work.job
        examples = parameters.examples
        review = review_extension(work.db, job.actor, job.project_id, examples=examples, progress=work.progress)
        return review.to_json()


REVIEW = KINDS.register(ReviewJob())
