"""Scores: computed by scorers over the current items of a project, and summed up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, text
from sqlmodel import Session, col

from annotators.errors import InvalidInput, NotFound
from annotators.scorers import SCORERS, Scorer
from annotators.scoring import MacroMean, Parameters, parameters_hash, parameters_of, readable
from db.current import item_is_current, version_is_latest, withdrawn_batches
from db.engine import Database, dumps, insert_many
from db.models import Item, ItemVersion, Run, Score
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.scored_items import count_unscored, read_unscored, runs_of

BLOCK = 1_000
"""Items read, scored and written at a time: what a run keeps in memory, and what is lost when it is interrupted."""

_SCORE = ("run_id", "item_version_id", "name", "target", "value", "reason", "details")

GivenParameters = Mapping[str, Any] | Sequence[str] | Parameters | None
"""Parameters as a mapping, as texts K=V, or None for the defaults."""

Progress = Callable[[int, int], None]
"""Called with how many items are done, and of how many."""


@dataclass(frozen=True)
class ScoreGroup:
    """The scores of one system or category: how many, their mean, and the unweighted mean of their category means."""

    by: str
    group: str | None
    n: int
    mean: float | None
    macro_mean: float | None


@dataclass(frozen=True)
class ScoreSummary:
    """One value of a scorer over the current items of a project; `added` says how many scores this run wrote."""

    scorer: str
    version: str
    parameters: dict[str, Any]
    value: str
    n_scored: int
    n_unscored: int
    mean: float | None
    macro_mean: float | None
    groups: tuple[ScoreGroup, ...]
    added: int = 0

    def to_json(self) -> dict[str, Any]:
        """The `score` JSON of the data model: `mean` over items, `macro_mean` over the means of the categories."""
        return {
            "scorer": self.scorer,
            "version": self.version,
            "parameters": self.parameters,
            "n_scored": self.n_scored,
            "n_unscored": self.n_unscored,
            "mean": self.mean,
            "macro_mean": self.macro_mean,
            "groups": [
                {"by": one.by, "group": one.group, "n": one.n, "mean": one.mean, "macro_mean": one.macro_mean}
                for one in self.groups
            ],
        }


@dataclass(frozen=True)
class ScorerInUse:
    """A scorer, with version and parameters, that a project has scores of; `values` are the names of its values."""

    scorer: str
    kind: str
    version: str
    parameters: dict[str, Any]
    values: tuple[str, ...]
    last_run_at: datetime


# Scoring --------------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, RESEARCHERS)
def run_scorer(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    scorer: str,
    parameters: GivenParameters = None,
    progress: Progress | None = None,
) -> ScoreSummary:
    """Score every current item that this scorer, in this version and with these parameters, has not scored yet.

    Items are streamed in blocks by key, each block committed on its own: memory does not grow with the project, and a
    run that stops is continued by the next. A second run adds nothing, and two at once add each score once. Raises
    NotFound for an unknown scorer, InvalidInput for unknown parameters and for a project without items.
    """
    found = SCORERS.get(scorer)
    checked = parameters_of(found, parameters)
    run = _ScorerRun(db, actor, project_id, found, checked)
    run.over_all_items(progress or (lambda _done, _of: None))
    with db.read() as session:
        which = _Which(found.name, found.version, checked.model_dump(mode="json"), run.runs, found.values[0].name)
        return _summary(session, project_id, which, added=run.added)


class _ScorerRun:
    """One pass of a scorer over a project's items; the run's row is made when there is a first score to write."""

    def __init__(
        self, db: Database, actor: Actor, project_id: int, scorer: Scorer[Any], parameters: Parameters
    ) -> None:
        self.db = db
        self.actor = actor
        self.project_id = project_id
        self.scorer = scorer
        self.parameters = parameters
        self.dumped = parameters.model_dump(mode="json")
        self.digest = parameters_hash(self.dumped)
        self.run_id: int | None = None
        self.runs: list[int] = []
        self.added = 0

    def over_all_items(self, progress: Progress) -> None:
        with self.db.read() as session:
            self.runs = self._runs(session)
            total = count_unscored(session, self.project_id, self.runs)
        if not total and not self.runs:
            raise InvalidInput("The project has no items to score. Import some first.")
        done, after = 0, 0
        progress(done, total)
        while True:
            with self.db.read() as session:
                items = read_unscored(
                    session, self.project_id, self.runs, after=after, limit=BLOCK, needs=self.scorer.needs
                )
            if not items:
                break
            scores = self.scorer.score(items, self.parameters)
            rows = [
                (item.version_id, one.name, one.target, one.value, one.reason, one.details and dumps(one.details))
                for item, given in zip(items, scores, strict=True)
                for one in given
            ]
            self._write(rows)
            after = items[-1].version_id
            done += len(items)
            progress(done, max(done, total))
        if self.run_id is not None:
            with self.db.write() as session:
                self._record(session, "scoring finished", {"scores": self.added})

    def _runs(self, session: Session) -> list[int]:
        return runs_of(session, self.project_id, self.scorer.name, self.scorer.version, self.digest)

    def _write(self, rows: list[tuple[Any, ...]]) -> None:
        """Append the scores of a block, but for items that another run has scored since the block was read."""
        with self.db.write() as session:
            if not self.db.is_sqlite:  # one scorer writes at a time, as on SQLite
                key = int(self.digest[:15], 16)
                session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
            runs = self._runs(session)
            scored: set[int] = set()
            if set(runs) - {self.run_id}:
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
            parameters=self.dumped,
            parameters_hash=self.digest,
            person_id=self.actor.person_id,
        )
        session.add(run)
        session.flush()
        assert run.id is not None
        self.run_id = run.id
        self._record(session, "scoring started", {})
        return run.id

    def _record(self, session: Session, kind: str, details: dict[str, Any]) -> None:
        what = {"scorer": self.scorer.name, "version": self.scorer.version, "parameters": self.dumped}
        record(session, self.actor, kind, "run", self.run_id, project_id=self.project_id, details={**what, **details})


# Reading --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Which:
    """The scores that are summed up: whose, in which runs, and which of their values."""

    scorer: str
    version: str
    parameters: dict[str, Any]
    runs: list[int]
    value: str


@operation(On.PROJECT, READERS)
def score_summary(
    db: Database,
    _actor: Actor,
    project_id: int,
    *,
    scorer: str,
    parameters: GivenParameters = None,
    value: str | None = None,
) -> ScoreSummary:
    """How many current items have a value of this scorer, its mean and macro mean, and both by system and category.

    `scorer` is a registered one or an imported one (`imported:fathoms`). Without `parameters` those of the default, or
    of the latest import; `value` chooses among several values of one scorer (default: its main one, or `correctness`).
    Only scores of whole items count. Raises NotFound when the project has no such scores.
    """
    with db.read() as session:
        return _summary(session, project_id, _which(session, project_id, scorer, parameters, value))


@operation(On.PROJECT, READERS)
def list_scorers_in(db: Database, _actor: Actor, project_id: int) -> list[ScorerInUse]:
    """The scorers, each with version and parameters, that the project has scores of, by name."""
    with db.read() as session:
        by_key: dict[tuple[str, str, str], list[Run]] = defaultdict(list)
        for run in _runs_with_scores(session, project_id):
            by_key[run.name, run.version, " ".join(readable(run.parameters))].append(run)
        return [
            ScorerInUse(
                scorer=name,
                kind=runs[-1].kind,
                version=version,
                parameters=runs[-1].parameters,
                values=tuple(_values(session, [run.id for run in runs if run.id is not None])),
                last_run_at=runs[-1].created_at,
            )
            for (name, version, _), runs in sorted(by_key.items())
        ]


def _runs_with_scores(session: Session, project_id: int, name: str | None = None) -> list[Run]:
    """Runs of scorers and imports, oldest first; those of withdrawn imports are left out."""
    query = (
        select(Run)
        .where(
            col(Run.project_id) == project_id,
            col(Run.kind).in_(["scorer", "import"]),
            col(Run.batch_id).is_(None) | col(Run.batch_id).not_in(withdrawn_batches()),
        )
        .order_by(col(Run.id))
    )
    if name is not None:
        query = query.where(col(Run.name) == name)
    return list(session.execute(query).scalars())


def _values(session: Session, runs: Sequence[int]) -> list[str]:
    """The names of the values that these runs gave to items, by their first scores."""
    names: set[str] = set()
    for run_id in runs:
        first = select(col(Score.name)).where(col(Score.run_id) == run_id, col(Score.target) == "item").limit(1_000)
        names |= set(session.execute(first).scalars())
    return sorted(names)


def _which(session: Session, project_id: int, scorer: str, parameters: GivenParameters, value: str | None) -> _Which:
    runs = _runs_with_scores(session, project_id, scorer)
    registered = SCORERS.get(scorer) if scorer in SCORERS.names() else None
    if registered is not None:
        given = parameters_of(registered, parameters).model_dump(mode="json")
    elif not runs:
        known = sorted({run.name for run in _runs_with_scores(session, project_id)})
        raise NotFound(f"The project has no scores of {scorer!r}. It has scores of: {', '.join(known) or 'nobody'}.")
    elif parameters is None or isinstance(parameters, Mapping):
        given = runs[-1].parameters if parameters is None else dict(parameters)
    else:
        raise InvalidInput(f"{scorer!r} is imported and has no parameters to set. Leave them out.")
    runs = [run for run in runs if run.parameters_hash == parameters_hash(given)]
    if not runs:
        shown = " ".join(readable(given)) or "these parameters"
        command = " ".join(["assay score PROJECT --scorer", scorer, *(f"--param {one}" for one in readable(given))])
        remedy = f"Compute them with: {command}" if registered else "Leave the parameters out."
        raise NotFound(f"The project has no scores of {scorer!r} with {shown}. {remedy}")
    runs = [run for run in runs if run.version == runs[-1].version]
    ids = [run.id for run in runs if run.id is not None]
    if registered is not None:
        names = [kind.name for kind in registered.values]
    else:
        names = sorted(_values(session, ids), key=lambda name: (name != "correctness", name))
    if value is not None and value not in names:
        raise InvalidInput(f"{scorer!r} gives no value named {value!r}. It gives: {', '.join(names)}.")
    return _Which(scorer, runs[-1].version, given, ids, value or (names[0] if names else "correctness"))


def _summary(session: Session, project_id: int, which: _Which, *, added: int = 0) -> ScoreSummary:
    latest = (
        select(func.max(col(Score.id)))
        .where(col(Score.run_id).in_(which.runs), col(Score.name) == which.value, col(Score.target) == "item")
        .group_by(col(Score.item_version_id))
    )
    rows = session.execute(
        select(
            col(Item.system),
            col(ItemVersion.category),
            func.count(),
            func.count(col(Score.value)),
            func.sum(col(Score.value)),
        )
        .select_from(Score)
        .join(ItemVersion, col(ItemVersion.id) == col(Score.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(
            col(Score.id).in_(latest),
            col(Item.project_id) == project_id,
            item_is_current(),
            version_is_latest(),
        )
        .group_by(col(Item.system), col(ItemVersion.category))
    ).all()
    overall = MacroMean()
    groups: dict[tuple[str, str | None], MacroMean] = defaultdict(MacroMean)
    seen = 0
    for system, category, n, n_scored, total in sorted(rows, key=lambda row: (row[0], row[1] or "")):
        seen += n
        for mean in (overall, groups["system", system], groups["category", category]):
            mean.add(category, float(total or 0), n_scored)
    ordered = sorted(groups.items(), key=lambda entry: (entry[0][0] != "system", entry[0][1] or ""))
    return ScoreSummary(
        scorer=which.scorer,
        version=which.version,
        parameters=which.parameters,
        value=which.value,
        n_scored=overall.n,
        n_unscored=seen - overall.n,
        mean=overall.mean,
        macro_mean=overall.macro_mean,
        groups=tuple(ScoreGroup(by, group, one.n, one.mean, one.macro_mean) for (by, group), one in ordered),
        added=added,
    )
