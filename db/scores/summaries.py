"""Scores summed up: which scorers a project has scores of, and the means of each by system and category."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlmodel import Session, col

from annotators.errors import InvalidInput, NotFound
from annotators.scorers import SCORERS
from annotators.scorers.base import GivenParameters, as_options, parameters_of, readable, value_kind
from annotators.scorers.shared.group_means import GroupMeans, MeanInterval, Sums
from db.engine import Database
from db.items.current import batches_left_out, item_is_current, unpublished_now, version_is_latest
from db.models import Item, ItemVersion, Run, Score, Withdrawal
from db.permissions import READERS, Actor, On, operation
from db.query import pick
from db.runs.run import parameters_hash
from db.scores.training_sets import with_training_set


@dataclass(frozen=True)
class ScoreGroup:
    """The scores of one system or category: how many, their mean, and the unweighted mean of their category means."""

    by: str
    group: str | None
    n: int
    mean: float | None
    macro_mean: float | None
    interval: MeanInterval | None = None
    macro_interval: MeanInterval | None = None


@dataclass(frozen=True)
class ScoreCell:
    """The scores of one system in one category."""

    system: str
    category: str | None
    n_unscored: int
    sums: Sums


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
    interval: MeanInterval | None = None
    macro_interval: MeanInterval | None = None
    cells: tuple[ScoreCell, ...] = field(default=(), repr=False)

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
                {"by": group.by, "group": group.group, "n": group.n, "mean": group.mean, "macro_mean": group.macro_mean}
                for group in self.groups
            ],
        }


@dataclass(frozen=True)
class ScorerInUse:
    """A scorer, with version and parameters, that a project has scores of; `values` are the names of its values.

    `newest` is False where a later run differs only in the state of the studies' labels that it took.
    """

    scorer: str
    kind: str
    version: str
    parameters: dict[str, Any]
    values: tuple[str, ...]
    last_run_at: datetime
    newest: bool = True


@dataclass(frozen=True)
class Which:
    """The scores that are read: whose, in which runs, and which of their values."""

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
        return summary_of(
            session, str(db.url), project_id, which_scores(session, project_id, scorer, parameters, value)
        )


@operation(On.PROJECT, READERS)
def unscored_reasons(
    db: Database,
    _actor: Actor,
    project_id: int,
    *,
    scorer: str,
    parameters: GivenParameters = None,
    value: str | None = None,
) -> list[tuple[str, int]]:
    """Why current items have no value of this scorer, and how many each, the most frequent reason first."""
    with db.read() as session:
        which = which_scores(session, project_id, scorer, parameters, value)
        rows = session.execute(
            pick(Score.reason, func.count())
            .select_from(Score)
            .join(ItemVersion, col(ItemVersion.id) == col(Score.item_version_id))
            .join(Item, col(Item.id) == col(ItemVersion.item_id))
            .where(*is_counted(which, project_id), col(Score.value).is_(None))
            .group_by(col(Score.reason))
            .order_by(func.count().desc(), col(Score.reason))
        )
        return [(str(reason), n) for reason, n in rows]


@operation(On.PROJECT, READERS)
def list_scorers_in(db: Database, _actor: Actor, project_id: int) -> list[ScorerInUse]:
    """The scorers, each with version and parameters, that the project has scores of, by name.

    Of several versions the last one that ran: the summaries are of its scores. Those of earlier ones stay, and leave in
    exports.
    """
    with db.read() as session:
        by_key: dict[tuple[str, str], list[Run]] = defaultdict(list)
        for run in _runs_with_scores(session, project_id):
            by_key[run.name, " ".join(readable(run.parameters))].append(run)
        for key, runs in by_key.items():
            by_key[key] = [run for run in runs if run.version == runs[-1].version]
        last = {_but_for_labels(runs[-1]): runs[-1].id for runs in sorted(by_key.values(), key=_last_id)}
        return [
            ScorerInUse(
                scorer=name,
                kind=runs[-1].kind,
                version=runs[-1].version,
                parameters=runs[-1].parameters,
                values=tuple(_values(session, [run.id for run in runs if run.id is not None])),
                last_run_at=runs[-1].created_at,
                newest=last[_but_for_labels(runs[-1])] == runs[-1].id,
            )
            for (name, _), runs in sorted(by_key.items())
        ]


def _last_id(runs: Sequence[Run]) -> int:
    return runs[-1].id or 0


def _but_for_labels(run: Run) -> tuple[str, str]:
    """What runs share that differ only in the state of the labels that they took."""
    same = {name: value for name, value in run.parameters.items() if name != "labels_state"}
    return run.name, " ".join(readable(same))


def _runs_with_scores(session: Session, project_id: int, name: str | None = None) -> list[Run]:
    """Runs of scorers and imports, oldest first; those of withdrawn imports are left out."""
    query = (
        select(Run)
        .where(
            col(Run.project_id) == project_id,
            col(Run.kind).in_(["scorer", "import"]),
            col(Run.batch_id).is_(None) | col(Run.batch_id).not_in(batches_left_out()),
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


def which_scores(
    session: Session, project_id: int, scorer: str, parameters: GivenParameters, value: str | None
) -> Which:
    """The runs behind a scorer's name, parameters and value; see `score_summary`."""
    runs = _runs_with_scores(session, project_id, scorer)
    registered = SCORERS.get(scorer) if scorer in SCORERS.names() else None
    if registered is not None:
        checked = parameters_of(registered, parameters)
        given = with_training_set(session, project_id, checked).model_dump(mode="json")
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
        command = " ".join(["assay score PROJECT --scorer", scorer, *as_options(given)])
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
    return Which(scorer, runs[-1].version, given, ids, value or (names[0] if names else "correctness"))


def latest_scores(which: Which) -> Select[Any]:
    """The ids of the scores that count: of several of one item version, the latest."""
    return (
        pick(func.max(Score.id))
        .where(col(Score.run_id).in_(which.runs), col(Score.name) == which.value, col(Score.target) == "item")
        .group_by(col(Score.item_version_id))
    )


def is_counted(which: Which, project_id: int) -> list[ColumnElement[bool]]:
    """The conditions on `Score`, `ItemVersion` and `Item` (joined) that a score counts."""
    ours: list[ColumnElement[bool]] = [
        col(Item.project_id) == project_id,
        item_is_current(),
        version_is_latest(),
        col(Score.name) == which.value,
        col(Score.target) == "item",
    ]
    if len(which.runs) == 1:  # one run has one score of an item version, and no need to look for the latest
        return [*ours, col(Score.run_id) == which.runs[0]]
    return [*ours, col(Score.id).in_(latest_scores(which))]


_kept: dict[tuple[str, int, str, str, str, str], tuple[Any, ScoreSummary]] = {}
_keeping = Lock()
_MOST_KEPT = 500


def summary_of(session: Session, url: str, project_id: int, which: Which, *, added: int = 0) -> ScoreSummary:
    """The summary of some scores, worked out when scores or items have come or gone since, and kept until then."""
    key = (url, project_id, which.scorer, which.version, parameters_hash(which.parameters), which.value)
    state = _state(session, which)
    with _keeping:
        kept = _kept.get(key)
    if kept is None or kept[0] != state:
        kept = (state, _summed(session, project_id, which))
        with _keeping:
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[key] = kept
    found = kept[1]
    return ScoreSummary(**{**vars(found), "added": added})


def _state(session: Session, which: Which) -> Any:
    """What changes whenever a summary may change; four look-ups in an index."""
    return (
        tuple(which.runs),
        session.execute(pick(func.max(Score.id))).scalar_one(),
        session.execute(pick(func.max(Withdrawal.id))).scalar_one(),
        session.execute(pick(func.max(ItemVersion.id))).scalar_one(),
        unpublished_now(session),
    )


def _summed(session: Session, project_id: int, which: Which) -> ScoreSummary:
    value = col(Score.value)
    rows = session.execute(
        pick(
            Item.system, ItemVersion.category, func.count(), func.count(value), func.sum(value), func.sum(value * value)
        )
        .select_from(Score)
        .join(ItemVersion, col(ItemVersion.id) == col(Score.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(*is_counted(which, project_id))
        .group_by(col(Item.system), col(ItemVersion.category))
    ).all()
    cells = tuple(
        ScoreCell(system, category, n - n_scored, Sums(n_scored, float(total or 0), float(squares or 0)))
        for system, category, n, n_scored, total, squares in sorted(rows, key=lambda row: (row[0], row[1] or ""))
    )
    return summary_of_cells(which.scorer, which.version, which.parameters, which.value, cells)


def summary_of_cells(
    scorer: str, version: str, parameters: dict[str, Any], value: str, cells: Sequence[ScoreCell]
) -> ScoreSummary:
    """The summary from the sums of every system in every category."""
    shares = value_kind(scorer, value).kind == "flag"
    overall = GroupMeans(shares)
    groups: dict[tuple[str, str | None], GroupMeans] = defaultdict(lambda: GroupMeans(shares))
    for cell in cells:
        for means in (overall, groups["system", cell.system], groups["category", cell.category]):
            means.add(cell.category, cell.sums)
    ordered = sorted(groups.items(), key=lambda entry: (entry[0][0] != "system", entry[0][1] or ""))
    return ScoreSummary(
        scorer=scorer,
        version=version,
        parameters=parameters,
        value=value,
        n_scored=overall.all.n,
        n_unscored=sum(cell.n_unscored for cell in cells),
        mean=overall.all.mean,
        macro_mean=overall.macro_mean,
        groups=tuple(
            ScoreGroup(by, group, means.all.n, means.all.mean, means.macro_mean, means.interval, means.macro_interval)
            for (by, group), means in ordered
        ),
        interval=overall.interval,
        macro_interval=overall.macro_interval,
        cells=tuple(cells),
    )
