"""The kinds of jobs: what each does, and how its parameters read to people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotators.scorers.base import readable

if TYPE_CHECKING:
    from app.worker.jobs import Work

SCORE = "score"
SCANS = "scans"


@dataclass(frozen=True)
class JobKind:
    """One kind of job: its work, its name for people, what one of it is about, and what it counts."""

    title: str
    run: Callable[[Work], dict[str, Any]]
    about: Callable[[dict[str, Any]], str]
    unit: str = "item"


def _score(work: Work) -> dict[str, Any]:
    """Score what is not scored yet; what an earlier worker has written stays, in the same run."""
    from db.scores.write import run_scorer  # noqa: PLC0415 - each kind loads what it needs, in the worker
    from exports.scoring.engines import scoring_engine  # noqa: PLC0415

    given, job = work.job.parameters, work.job
    with scoring_engine(given.get("engine", "local"), given.get("address")) as engine:
        summary = run_scorer(
            work.db,
            job.actor,
            job.project_id,
            scorer=given["scorer"],
            parameters=given["parameters"],
            progress=work.progress,
            engine=engine,
            job_id=job.job_id,
        )
    return {"added": summary.added, "n_scored": summary.n_scored, "n_unscored": summary.n_unscored}


def _review(work: Work) -> dict[str, Any]:
    """Compare a proposed training set with the present one."""
    from exports.scoring.training_review import review_extension  # noqa: PLC0415

    job = work.job
    review = review_extension(
        work.db, job.actor, job.project_id, examples=job.parameters["examples"], progress=work.progress
    )
    return review.to_json()


def _read_scans(work: Work) -> dict[str, Any]:
    """Have the text of scanned pages recognised; those that an earlier worker has read are passed over."""
    from app.worker.scans import read_scans  # noqa: PLC0415

    return read_scans(work)


def _about_scores(parameters: dict[str, Any]) -> str:
    settings = ", ".join(_short(one) for one in readable(parameters.get("parameters", {})))
    where = " on Dask" if parameters.get("engine") == "dask" else ""
    return f"{parameters.get('scorer')}{f' ({settings})' if settings else ''}{where}"


def _short(parameter: str) -> str:
    """A parameter without the tail of a long hash."""
    name, _, value = parameter.partition("=")
    return f"{name}={value[:12]}…" if len(value) == 64 and value.isalnum() else parameter


KINDS: dict[str, JobKind] = {
    SCORE: JobKind("Scoring", _score, _about_scores),
    "training review": JobKind(
        "Review of a training set",
        _review,
        lambda parameters: f"{len(parameters.get('examples', ())):,} new examples of abstention",
        unit="answer",
    ),
    SCANS: JobKind("Reading scans", _read_scans, lambda parameters: "all documents of the project", unit="page"),
}
"""Every kind of job by the name that the queue knows it under."""
