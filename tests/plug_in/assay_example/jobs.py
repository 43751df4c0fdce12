"""A kind of job: it counts the items of its project."""

from typing import Any

from app.worker.kinds.base import KINDS, JobKind, JobParameters, Work


class NoParameters(JobParameters):
    """There is nothing to be told."""


class CountItems(JobKind[NoParameters]):
    """How many current items the project has."""

    name = "count items"
    title = "Counting items"
    parameters = NoParameters

    def about(self, parameters: NoParameters) -> str:
        """Nothing besides."""
        return ""

    def carry_out(self, work: Work, parameters: NoParameters) -> dict[str, Any]:
        """The number, as the project's pages have it."""
        from db.items.read import item_counts

        found = item_counts(work.db, work.job.actor, work.job.project_id)
        work.progress(found.total, found.total)
        return {"items": found.total}


KINDS.register(CountItems())
