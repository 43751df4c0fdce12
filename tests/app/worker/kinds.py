"""Kinds of jobs that only tests know, and a run of a kind that is no scorer as a job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.worker.kinds.base import KINDS, JobKind, JobParameters, Work
from db.permissions import RESEARCHERS, Role
from db.runs.run import RunUnderWay
from tests.db.runs.word_counts import WordCounts


class NoParameters(JobParameters):
    """There is nothing to be told."""


def made_kind(
    name: str, do: Callable[[Work], dict[str, Any]], *, roles: frozenset[Role] = RESEARCHERS
) -> JobKind[NoParameters]:
    """A kind that does what it is given to do."""

    class Made(JobKind[NoParameters]):
        title = name.capitalize()
        parameters = NoParameters

        def about(self, parameters: NoParameters) -> str:
            return ""

        def carry_out(self, work: Work, parameters: NoParameters) -> dict[str, Any]:
            return do(work)

    Made.name, Made.roles = name, roles
    return Made()


def known_for_now(monkeypatch: pytest.MonkeyPatch, kind: JobKind[Any]) -> None:
    """Have a kind known as long as a test lasts."""
    assert kind.name not in KINDS.names()
    monkeypatch.setitem(KINDS._things, kind.name, kind)


class CountParameters(JobParameters):
    """Which words count, and how slowly."""

    letters: int = 1
    seconds: float = 0.0


class CountWords(JobKind[CountParameters]):
    """A run of another kind than scorers as a job: no more than this has to be written for one."""

    name = "count words"
    title = "Counting words"
    unit = "question"
    parameters = CountParameters

    def about(self, parameters: CountParameters) -> str:
        """Which words."""
        return f"of at least {parameters.letters} letters"

    def carry_out(self, work: Work, parameters: CountParameters) -> dict[str, Any]:
        """How many counts were added."""
        counts = WordCounts(letters=parameters.letters, seconds=parameters.seconds)
        job = work.job
        run = RunUnderWay(work.db, job.actor, job.project_id, counts, job_id=job.job_id)
        run.over_all_items(work.progress)
        return {"added": run.added}
