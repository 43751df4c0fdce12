"""What a kind of job is: its name, its parameters, who may start it, what it does, and how it reads to people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from annotators.errors import InvalidInput
from annotators.progress import Progress
from annotators.registry import Registry
from app.settings import Settings
from db.engine import Database
from db.jobs import TakenJob
from db.permissions import RESEARCHERS, Role


@dataclass(frozen=True)
class Work:
    """A job as its kind carries it out. `progress(done, of)` is to be called between its steps, and may raise.

    `so_far` may be given what is kept as its result should it be cancelled.
    """

    db: Database
    job: TakenJob
    progress: Progress
    settings: Settings
    so_far: dict[str, Any] = field(default_factory=dict)


class JobParameters(BaseModel):
    """What a kind of job has to be told: frozen, none unknown. It is kept with the job as JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True)


P = TypeVar("P", bound=JobParameters)


class JobKind(ABC, Generic[P]):
    """A kind of job by the name that the queue knows it under.

    `title` is what people read, `unit` what its progress counts (one of it), `roles` are those that may start one:
    researchers, or a part of them (nobody: administrators only). A kind that computes something of every item hands
    its work on to a run (`db/runs/run.py`) with the job's id, so that a job that is taken up again goes on there.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    unit: ClassVar[str] = "item"
    roles: ClassVar[frozenset[Role]] = RESEARCHERS
    parameters: type[P]

    @abstractmethod
    def about(self, parameters: P) -> str:
        """What one job of this kind is about, in a few words beside the title."""

    @abstractmethod
    def carry_out(self, work: Work, parameters: P) -> dict[str, Any]:
        """Do it to its end, from where an earlier worker stopped; what is kept with the job as its result.

        It runs in a worker process, so what is large is imported here.
        """

    def read(self, given: Mapping[str, Any]) -> P:
        """The parameters of a stored job; InvalidInput where this version does not know them."""
        try:
            return self.parameters.model_validate(given)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors())
            raise InvalidInput(
                f"This version cannot read the parameters of a job of kind {self.name!r} ({wrong}). Start it anew, "
                "or have a worker of the version that queued it do it."
            ) from None

    def in_words(self, given: Mapping[str, Any]) -> str:
        """What a stored job is about; nothing where this version cannot read its parameters."""
        try:
            return self.about(self.read(given))
        except InvalidInput:
            return ""


KINDS: Registry[JobKind[Any]] = Registry("job", "app.worker.kinds", of_words=True)
"""All kinds of jobs that are known by name."""


def known(name: str) -> JobKind[Any] | None:
    """The kind of this name; None where this version has none."""
    return KINDS.get(name) if name in KINDS.names() else None
