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
from db.scores.labels import TakenLabels, with_labels
from db.scores.summaries import ScoreSummary, Which, summary_of
from db.scores.training_sets import with_training_set

_SCORE = ("run_id", "item_version_id", "name", "target", "value", "reason", "details")


@operation(On.PROJECT, RESEARCHERS)
def plan_scoring(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    scorer: str,
    parameters: GivenParameters = None,
    labels_of: Sequence[str] = (),
    labels_by: Sequence[str] = (),
) -> tuple[dict[str, Any], bool]:
    """The complete parameters of a run (the project's training set included), and whether there is an item to score.

    `labels_of` are studies of the project whose labels the scorer takes, `labels_by` whose (`db.scores.sources`); they
    and the state of these labels are among the parameters. Raises NotFound for an unknown scorer, study or source,
    InvalidInput for unknown parameters, for a study that does not fit, and for a project without items.
    """
    task, labels = _task(db, actor, project_id, scorer, parameters, labels_of=labels_of, labels_by=labels_by)
    return task.parameters, RunUnderWay(db, actor, project_id, _ScorerRun(task, labels)).has_work()


@operation(On.PROJECT, RESEARCHERS)
def run_scorer(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    scorer: str,
    parameters: GivenParameters = None,
    labels_of: Sequence[str] = (),
    labels_by: Sequence[str] = (),
    progress: Progress = unheard,
    engine: Engine = in_this_process,
    job_id: int | None = None,
) -> ScoreSummary:
    """Score every current item that this scorer, in this version and with these parameters, has not scored yet.

    A run that stops is continued by the next, a second one adds nothing, and two at once add each score once
    (`db/runs/run.py`). `engine` computes the scores; a `job_id` has the scores go into the run that the job has begun.
    Labels of studies come by `labels_of` and `labels_by`, or by parameters that `plan_scoring` has completed: what
    changes while the scores are computed is not seen, and Conflict is raised where something has changed since. Raises
    NotFound for an unknown scorer, InvalidInput for unknown parameters and for a project without items.
    """
    task, labels = _task(db, actor, project_id, scorer, parameters, labels_of=labels_of, labels_by=labels_by)
    run = RunUnderWay(db, actor, project_id, _ScorerRun(task, labels, engine), job_id=job_id)
    run.over_all_items(progress)
    with db.read() as session:
        which = Which(task.scorer, task.version, task.parameters, run.same, SCORERS.get(task.scorer).values[0].name)
        return summary_of(session, str(db.url), project_id, which, added=run.added)


def _task(
    db: Database,
    actor: Actor,
    project_id: int,
    scorer: str,
    parameters: GivenParameters,
    *,
    labels_of: Sequence[str],
    labels_by: Sequence[str],
) -> tuple[ScoringTask, TakenLabels | None]:
    """The scorer with complete parameters, the project's training set among them, as a task for any process.

    Beside it the labels of studies that its items are to have.

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
        checked, labels = with_labels(session, actor, project_id, found, checked, studies=labels_of, by=labels_by)
    return scoring_task(found.name, checked), labels


class _ScorerRun(RunKind[ItemContent, ScoreValue]):
    """A scorer with its parameters over a project's items, computed by an engine.

    With labels of studies an item is scored as these have it; one that has none is unscored, whatever the scorer says.
    """

    kind, verb, doing, results = "scorer", "score", "scoring", "scores"

    def __init__(self, task: ScoringTask, labels: TakenLabels | None = None, engine: Engine = in_this_process) -> None:
        super().__init__(task.scorer, task.version, task.parameters, block=task.block)
        self._task, self._labels, self._engine = task, labels, engine
        self._scorer: Scorer[Any] = SCORERS.get(task.scorer)
        self._unlabelled: dict[int, str] = {}

    def results_of(self, runs: Sequence[int]) -> Select[Any]:
        """Scores of whatever target."""
        return select(col(Score.item_version_id)).where(col(Score.run_id).in_(list(runs)))

    def read(
        self, session: Session, project_id: int, left: ColumnElement[bool] | None, *, after: int, limit: int
    ) -> list[ItemContent]:
        """Items with the parts that the scorer needs."""
        return read_next(session, project_id, left, after=after, limit=limit, needs=self._scorer.needs)

    def compute(self, blocks: Iterator[list[ItemContent]]) -> Iterator[ScoredBlock]:
        """The scores, wherever the engine computes them."""
        if self._labels is None:
            return self._engine(self._task, blocks)
        labelled = (list(map(self._labelled, block)) for block in blocks)
        return map(self._left_unscored, self._engine(self._task, labelled))

    def _labelled(self, item: ItemContent) -> ItemContent:
        """The item with what people said of it; where that is nothing, the reason is kept until its scores come."""
        assert self._labels is not None
        found = self._labels.put(item)
        if isinstance(found, str):
            self._unlabelled[item.version_id] = found
            return item
        return found

    def _left_unscored(self, block: ScoredBlock) -> ScoredBlock:
        """A block in which items without labels have a reason in place of the scores of their own fields."""
        items, scores = block
        for place, item in enumerate(items):
            reason = self._unlabelled.pop(item.version_id, None)
            if reason is not None:
                scores[place] = [ScoreValue(kind.name, None, reason) for kind in self._scorer.values]
        return items, scores

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
