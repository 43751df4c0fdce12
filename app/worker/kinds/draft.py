"""Drafting: a model writes a question, an answer or claims of one item, for the person who asked to take or leave."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.worker.kinds.base import KINDS, JobKind, JobParameters, Work
from app.worker.kinds.judge import check_server


class DraftParameters(JobParameters):
    """What is written of which item, by whom: `writer` are its settings (db/judging/drafting.py)."""

    item: str
    writes: str
    writer: dict[str, Any]
    texts: dict[str, str] = Field(default_factory=dict)
    missing: tuple[str, ...] = ()


class DraftJob(JobKind[DraftParameters]):
    """A request that was paid for is not sent again; nothing of the item changes."""

    name = "draft"
    title = "Drafting"
    unit = "draft"
    parameters = DraftParameters

    def about(self, parameters: DraftParameters) -> str:
        """`answer of q1 by some-model`."""
        return f"{parameters.writes} of {parameters.item} by {parameters.writer['model']}"

    def carry_out(self, work: Work, parameters: DraftParameters) -> dict[str, Any]:
        """The draft, as `write_draft` gives it."""
        from annotators.judges.budget import read_prices  # noqa: PLC0415
        from db.judging.drafting import Asked, WriterSettings, WritingMeans, write_draft  # noqa: PLC0415

        writer = WriterSettings.from_json(parameters.writer)
        check_server(work.settings, writer.server)
        means = WritingMeans(
            key=work.settings.key_for(writer.server),
            price=read_prices(work.settings.prices_file).get(writer.model),
            documents=work.settings.documents_folder,
        )
        asked = Asked(parameters.item, parameters.writes, parameters.texts, parameters.missing)  # type: ignore[arg-type]
        return write_draft(
            work.db, work.job.actor, work.job.project_id,
            asked=asked, writer=writer, means=means, job_id=work.job.job_id,
        )  # fmt: skip


DRAFT = KINDS.register(DraftJob())
