"""Judging: a judge over the items of a study that it has not judged yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotators.errors import NotEquipped
from app.settings import Settings
from app.worker.kinds.base import KINDS, JobKind, JobParameters, Work

if TYPE_CHECKING:
    from db.judging.judges import JudgeSettings
    from db.judging.run import Means


class AskingParameters(JobParameters):
    """Over which sample of a study a judge is asked, within which limits; `context`: how many tokens it takes in."""

    sample: int | None = None
    per: str | None = None
    seed: int = 0
    budget: str | None = None
    concurrency: int = 4
    tokens_a_minute: float | None = None
    context: int | None = None
    seconds: float = 120.0


class JudgeParameters(AskingParameters):
    """Which judge, over which study: `judge` are its settings (db/judging/judges.py), the whole prompt among them."""

    study_id: int
    judge: dict[str, Any]


class JudgeJob(JobKind[JudgeParameters]):
    """What an earlier worker has paid for is taken from what it has kept, and its items stay as they are."""

    name = "judge"
    title = "Judging"
    parameters = JudgeParameters

    def about(self, parameters: JudgeParameters) -> str:
        """`some-model with plain@1`."""
        judge = parameters.judge
        return f"{judge['model']} with {judge['prompt']['name']}@{judge['prompt']['version']}"

    def carry_out(self, work: Work, parameters: JudgeParameters) -> dict[str, Any]:
        """The summary of `assay judge`."""
        from db.judging.judges import JudgeSettings  # noqa: PLC0415
        from db.judging.run import Sample, run_judge  # noqa: PLC0415

        judge = JudgeSettings.from_json(parameters.judge)
        check_server(work.settings, judge.server)
        return run_judge(
            work.db,
            work.job.actor,
            parameters.study_id,
            judge=judge,
            sample=Sample(parameters.sample, parameters.per, parameters.seed),
            means=means_of(work.settings, judge, parameters),
            progress=work.progress,
            job_id=work.job.job_id,
            so_far=work.so_far,
        )


JUDGE = KINDS.register(JudgeJob())


def means_of(settings: Settings, judge: JudgeSettings, parameters: AskingParameters) -> Means:
    """What a job that asks a judge works with."""
    from annotators.judges.budget import read_limit, read_prices  # noqa: PLC0415
    from db.judging.run import Means  # noqa: PLC0415

    return Means(
        key=settings.key_for(judge.server),
        limit=read_limit(parameters.budget) if parameters.budget else None,
        price=read_prices(settings.prices_file).get(judge.model),
        concurrency=parameters.concurrency,
        tokens_a_minute=parameters.tokens_a_minute,
        context=parameters.context,
        documents=settings.documents_folder,
        seconds=parameters.seconds,
    )


def check_server(settings: Settings, server: str) -> None:
    """NotEquipped for a server that judges may not be asked on: whoever names one is sent the key and the data."""
    if server not in settings.judges:
        listed = ", ".join(settings.judges) or "none"
        raise NotEquipped(
            f"Judges may not be asked on {server}. Allowed: {listed}. An administrator adds it to ASSAY_JUDGE_SERVERS; "
            "`assay judge` asks it from the command line."
        )
