"""Scores written: the run of a scorer over a project's current items. They are read in `db/scores/summaries.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlmodel import Session, col

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.progress import Progress, unheard
from annotators.scorers.base import (
    SCORERS,
    GivenParameters,
    Parameters,
    Scorer,
    ScoreValue,
    parameters_of,
)
from annotators.scorers.shared.offered_models import offered
from annotators.scorers.shared.tasks import Engine, ScoredBlock, ScoringTask, in_this_process, scoring_task
from db.engine import Database, dumps, insert_many
from db.items.scored import read_next
from db.models import Score
from db.permissions import RESEARCHERS, Actor, On, operation
from db.runs.run import RunKind, RunUnderWay
from db.scores.summaries import ScoreSummary, Which, summary_of
from db.scores.training_sets import with_training_set

_SCORE = ("run_id", "item_version_id", "name", "target", "value", "reason", "details")


@operation(On.PROJECT, RESEARCHERS)
def plan_scoring(
    db: Database, actor: Actor, project_id: int, *, scorer: str, parameters: GivenParameters = None
) -> tuple[dict[str, Any], bool]:
    """The complete parameters of a run (the project's training set included), and whether there is an item to score.

    Raises NotFound for an unknown scorer, InvalidInput for unknown parameters and for a project without items.
    """
    task = _task(db, project_id, scorer, parameters)
    return task.parameters, RunUnderWay(db, actor, project_id, _ScorerRun(task)).has_work()


@operation(On.PROJECT, RESEARCHERS)
def run_scorer(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    scorer: str,
    parameters: GivenParameters = None,
    progress: Progress = unheard,
    engine: Engine = in_this_process,
    job_id: int | None = None,
) -> ScoreSummary:
    """Score every current item that this scorer, in this version and with these parameters, has not scored yet.

    A run that stops is continued by the next, a second one adds nothing, and two at once add each score once
    (`db/runs/run.py`). `engine` computes the scores; a `job_id` has the scores go into the run that the job has begun.
    Raises NotFound for an unknown scorer, InvalidInput for unknown parameters and for a project without items.
    """
    task = _task(db, project_id, scorer, parameters)
    run = RunUnderWay(db, actor, project_id, _ScorerRun(task, engine), job_id=job_id)
    run.over_all_items(progress)
    with db.read() as session:
        which = Which(task.scorer, task.version, task.parameters, run.same, SCORERS.get(task.scorer).values[0].name)
        return summary_of(session, str(db.url), project_id, which, added=run.added)


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


class _ScorerRun(RunKind[ItemContent, ScoreValue]):
    """A scorer with its parameters over a project's items, computed by an engine."""

    kind, verb, doing, results = "scorer", "score", "scoring", "scores"

    def __init__(self, task: ScoringTask, engine: Engine = in_this_process) -> None:
        super().__init__(task.scorer, task.version, task.parameters, block=task.block)
        self._task, self._engine, self._needs = task, engine, SCORERS.get(task.scorer).needs

    def results_of(self, runs: Sequence[int]) -> Select[Any]:
        """Scores of whatever target."""
        return select(col(Score.item_version_id)).where(col(Score.run_id).in_(list(runs)))

    def read(
        self, session: Session, project_id: int, left: ColumnElement[bool] | None, *, after: int, limit: int
    ) -> list[ItemContent]:
        """Items with the parts that the scorer needs."""
        return read_next(session, project_id, left, after=after, limit=limit, needs=self._needs)

    def compute(self, blocks: Iterator[list[ItemContent]]) -> Iterator[ScoredBlock]:
        """The scores, wherever the engine computes them."""
        return self._engine(self._task, blocks)

    def store(self, session: Session, run_id: int, done: Sequence[tuple[ItemContent, Sequence[ScoreValue]]]) -> int:
        """A row for each score."""
        rows = [
            (run_id, item.version_id, score.name, score.target, score.value, score.reason, _details(score))
            for item, scores in done
            for score in scores
        ]
        insert_many(session.connection(), "score", _SCORE, rows)
        return len(rows)


def _details(score: ScoreValue) -> str | None:
    return dumps(score.details) if score.details else None
