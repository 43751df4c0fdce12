"""Trials of a judge: what it says of items that it has judged when they are shown to it in other ways."""

from __future__ import annotations

from typing import Any

from app.worker.kinds.base import KINDS, JobKind, Work
from app.worker.kinds.judge import AskingParameters, check_server, means_of


class JudgeCheckParameters(AskingParameters):
    """Which judge (by its name), in which study, with which trials (annotators/judges/trust/trials.py), how far."""

    study_id: int
    judge: str
    trials: list[dict[str, Any]]


class JudgeCheckJob(JobKind[JudgeCheckParameters]):
    """What is asked once more counts for nothing in the study; what was paid for is taken from what is kept."""

    name = "judge check"
    title = "Trying a judge"
    parameters = JudgeCheckParameters

    def about(self, parameters: JudgeCheckParameters) -> str:
        """`some-model plain@1: order, evidence`."""
        from annotators.judges.trust.trials import Trial  # noqa: PLC0415

        return f"{parameters.judge}: {', '.join(Trial.from_json(trial).version for trial in parameters.trials)}"

    def carry_out(self, work: Work, parameters: JudgeCheckParameters) -> dict[str, Any]:
        """What was asked, trial by trial, and what it cost."""
        from annotators.judges.trust.trials import Trial  # noqa: PLC0415
        from db.judging.judges import JudgeSettings, find_judge  # noqa: PLC0415
        from db.judging.run import Sample  # noqa: PLC0415
        from db.judging.trying import try_judge  # noqa: PLC0415

        found = find_judge(work.db, work.job.actor, work.job.project_id, name=parameters.judge)
        judge = JudgeSettings.from_json(found.settings)
        check_server(work.settings, judge.server)
        return try_judge(
            work.db,
            work.job.actor,
            parameters.study_id,
            judge=parameters.judge,
            trials=[Trial.from_json(trial) for trial in parameters.trials],
            sample=Sample(parameters.sample, parameters.per, parameters.seed),
            means=means_of(work.settings, judge, parameters),
            progress=work.progress,
            job_id=work.job.job_id,
            so_far=work.so_far,
        )


JUDGE_CHECK = KINDS.register(JudgeCheckJob())
