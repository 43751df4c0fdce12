"""Scores: computed by scorers over the current items of a project. They are read in `db.scores.summaries`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import select, text
from sqlmodel import Session, col

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.scorers import SCORERS, Scorer
from annotators.scorers.base import Parameters, ScoreValue, parameters_hash, parameters_of
from annotators.scorers.shared.offered_models import offered
from annotators.scorers.shared.tasks import ScoringTask, scoring_task
from db.engine import Database, dumps, insert_many
from db.items.scored import count_items, count_unscored, read_unscored, runs_of
from db.jobs import keep_run, run_of_job
from db.models import Run, Score
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.scores.summaries import (
    GivenParameters,
    ScoreCell,
    ScoreGroup,
    ScorerInUse,
    ScoreSummary,
    Which,
    list_scorers_in,
    score_summary,
    summary_of,
)
from db.scores.training_sets import with_training_set

__all__ = [
    "Engine",
    "GivenParameters",
    "Progress",
    "ScoreCell",
    "ScoreGroup",
    "ScoreSummary",
    "ScoredBlock",
    "ScorerInUse",
    "in_this_process",
    "list_scorers_in",
    "plan_scoring",
    "run_scorer",
    "score_summary",
]

BLOCK = 1_000
"""Items read, scored and written at a time: what a run keeps in memory, and what is lost when it is interrupted."""

MODEL_BLOCK = 512
"""The same for scorers that use a model: a few seconds of work."""

_SCORE = ("run_id", "item_version_id", "name", "target", "value", "reason", "details")

Progress = Callable[[int, int], None]
"""Called with how many items have a score, and of how many."""

ScoredBlock = tuple[list[ItemContent], list[list[ScoreValue]]]
"""Some items and the scores of each, in the same order."""

Engine = Callable[[ScoringTask, Iterator[list[ItemContent]]], Iterator[ScoredBlock]]
"""What carries a task out over blocks of items: gives every block back, scored, in the order they came."""


def in_this_process(task: ScoringTask, blocks: Iterator[list[ItemContent]]) -> Iterator[ScoredBlock]:
    """The engine that computes here, one block after the other."""
    for items in blocks:
        yield items, task.score(items)


@operation(On.PROJECT, RESEARCHERS)
def plan_scoring(
    db: Database, actor: Actor, project_id: int, *, scorer: str, parameters: GivenParameters = None
) -> tuple[dict[str, Any], bool]:
    """The complete parameters of a run (the project's training set included), and whether there is an item to score.

    Raises NotFound for an unknown scorer, InvalidInput for unknown parameters and for a project without items.
    """
    run = _ScorerRun(db, actor, project_id, _task(db, project_id, scorer, parameters), None)
    with db.read() as session:
        there = read_unscored(session, project_id, run.runs, after=0, limit=1, needs=frozenset())
        return run.task.parameters, bool(there)


def _task(db: Database, project_id: int, scorer: str, parameters: GivenParameters) -> ScoringTask:
    """The scorer with complete parameters, the project's training set among them, as a task for any process.

    InvalidInput for an embedding model that is not on the administrator's list: loading one reads files of the server,
    and a path from a browser is anybody's.
    """
    found: Scorer[Any] = SCORERS.get(scorer)
    checked: Parameters = parameters_of(found, parameters)
    model = getattr(checked, "model", None)
    if found.uses_model and model is not None and model not in offered():
        raise InvalidInput(
            f"The embedding model {model!r} is not offered here. Offered: {', '.join(offered())}. An administrator "
            "adds others with ASSAY_EMBEDDING_MODELS."
        )
    with db.read() as session:
        checked = with_training_set(session, project_id, checked, provide=True)
    return scoring_task(found.name, checked)


@operation(On.PROJECT, RESEARCHERS)
def run_scorer(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    scorer: str,
    parameters: GivenParameters = None,
    progress: Progress | None = None,
    engine: Engine = in_this_process,
    job_id: int | None = None,
) -> ScoreSummary:
    """Score every current item that this scorer, in this version and with these parameters, has not scored yet.

    Items are streamed in blocks by key, each block committed on its own: memory does not grow with the project, and a
    run that stops is continued by the next. A second run adds nothing, and two at once add each score once. `engine`
    computes the scores; a `job_id` has the scores go into the run that the job has begun. Raises NotFound for an
    unknown scorer, InvalidInput for unknown parameters and for a project without items.
    """
    run = _ScorerRun(db, actor, project_id, _task(db, project_id, scorer, parameters), job_id)
    run.over_all_items(engine, progress or (lambda _done, _of: None))
    with db.read() as session:
        task = run.task
        which = Which(task.scorer, task.version, task.parameters, run.runs, run.scorer.values[0].name)
        return summary_of(session, str(db.url), project_id, which, added=run.added)


class _ScorerRun:
    """One pass of a scorer over a project's items; the run's row is made when there is a first score to write."""

    def __init__(self, db: Database, actor: Actor, project_id: int, task: ScoringTask, job_id: int | None) -> None:
        self.db = db
        self.actor = actor
        self.project_id = project_id
        self.scorer: Scorer[Any] = SCORERS.get(task.scorer)
        self.task = task
        self.job_id = job_id
        self.digest = parameters_hash(task.parameters)
        self.added = 0
        with db.read() as session:
            self.runs = self._same_runs(session)
            begun = run_of_job(session, job_id) if job_id is not None else None
            self.run_id = begun if begun in self.runs else None
            if not self.runs and not count_items(session, project_id, at_most=1):
                raise InvalidInput("The project has no items to score. Import some first.")

    def over_all_items(self, engine: Engine, progress: Progress) -> None:
        with self.db.read() as session:
            total = count_items(session, self.project_id)
            done = total - count_unscored(session, self.project_id, self.runs) if self.runs else 0
        progress(done, total)
        for items, scores in engine(self.task, self._unscored()):
            rows = [
                (item.version_id, one.name, one.target, one.value, one.reason, one.details and dumps(one.details))
                for item, given in zip(items, scores, strict=True)
                for one in given
            ]
            self._write(rows)
            done += len(items)
            progress(done, max(done, total))
        if self.run_id is not None and self.added:
            with self.db.write() as session:
                self._record(session, "scoring finished", {"scores": self.added})

    def _unscored(self) -> Iterator[list[ItemContent]]:
        """The items that the runs before this one have not scored, a block at a time."""
        after, limit, runs = 0, MODEL_BLOCK if self.scorer.uses_model else BLOCK, list(self.runs)
        while True:
            with self.db.read() as session:
                needs = self.scorer.needs
                items = read_unscored(session, self.project_id, runs, after=after, limit=limit, needs=needs)
            if not items:
                return
            after = items[-1].version_id
            yield items

    def _same_runs(self, session: Session) -> list[int]:
        return runs_of(session, self.project_id, self.scorer.name, self.scorer.version, self.digest)

    def _write(self, rows: list[tuple[Any, ...]]) -> None:
        """Append the scores of a block, but for items that somebody else has scored since the block was read.

        That may be another run, or another worker that believed this one to be dead and went on in the same run.
        """
        with self.db.write() as session:
            if not self.db.is_sqlite:  # one scorer writes at a time, as on SQLite
                key = int(self.digest[:15], 16)
                session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
            runs = self._same_runs(session)
            scored: set[int] = set()
            if runs:
                ids = sorted({row[0] for row in rows})
                there = select(col(Score.item_version_id)).where(
                    col(Score.item_version_id).in_(ids), col(Score.run_id).in_(runs)
                )
                scored = set(session.execute(there).scalars())
            new = [row for row in rows if row[0] not in scored]
            if not new:
                return
            if self.run_id is None:
                self.run_id = self._begin(session)
                runs.append(self.run_id)
            insert_many(session.connection(), "score", _SCORE, [(self.run_id, *row) for row in new])
        self.runs = runs
        self.added += len(new)

    def _begin(self, session: Session) -> int:
        run = Run(
            project_id=self.project_id,
            kind="scorer",
            name=self.scorer.name,
            version=self.scorer.version,
            parameters=self.task.parameters,
            parameters_hash=self.digest,
            person_id=self.actor.person_id,
        )
        session.add(run)
        session.flush()
        assert run.id is not None
        self.run_id = run.id
        if self.job_id is not None:
            keep_run(session, self.job_id, run.id)
        self._record(session, "scoring started", {})
        return run.id

    def _record(self, session: Session, kind: str, details: dict[str, Any]) -> None:
        what = {"scorer": self.scorer.name, "version": self.scorer.version, "parameters": self.task.parameters}
        record(session, self.actor, kind, "run", self.run_id, project_id=self.project_id, details={**what, **details})
