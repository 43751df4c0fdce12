"""Scoring: a scorer over the items of a project that it has not scored yet."""

from __future__ import annotations

from typing import Any

from annotators.scorers.base import readable
from app.worker.kinds.base import KINDS, JobKind, JobParameters, Work


class ScoreParameters(JobParameters):
    """Which scorer with which (complete) parameters, and where it is computed: here, or on a Dask cluster."""

    scorer: str
    parameters: dict[str, Any]
    engine: str = "local"
    address: str | None = None


class ScoreJob(JobKind[ScoreParameters]):
    """What an earlier worker has written stays, in the same run."""

    name = "score"
    title = "Scoring"
    parameters = ScoreParameters

    def about(self, parameters: ScoreParameters) -> str:
        """`phrase_recall (mode=paper) on Dask`."""
        settings = ", ".join(readable(parameters.parameters, digits=12))
        where = " on Dask" if parameters.engine == "dask" else ""
        return f"{parameters.scorer}{f' ({settings})' if settings else ''}{where}"

    def carry_out(self, work: Work, parameters: ScoreParameters) -> dict[str, Any]:
        """How many scores were added, and how many items have one now."""
        from db.scores.write import run_scorer  # noqa: PLC0415
        from exports.scoring.engines import scoring_engine  # noqa: PLC0415

        job = work.job
        with scoring_engine(parameters.engine, parameters.address) as engine:
            summary = run_scorer(
                work.db,
                job.actor,
                job.project_id,
                scorer=parameters.scorer,
                parameters=parameters.parameters,
                progress=work.progress,
                engine=engine,
                job_id=job.job_id,
            )
        return {"added": summary.added, "n_scored": summary.n_scored, "n_unscored": summary.n_unscored}


SCORE = KINDS.register(ScoreJob())
