"""The scores that alignment reads: of a study's item versions, and of all current items of its project."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Select
from sqlmodel import Session, col

from annotators.errors import NotFound
from annotators.items.targets import TargetKind
from annotators.scorers import SCORERS
from annotators.scorers.base import readable, value_kind
from db.engine import Database
from db.items.current import batches_left_out, item_is_current, version_is_latest
from db.models import Item, ItemVersion, Purpose, Run, Score, Study, StudyItem, StudyScore
from db.query import pick


@dataclass(frozen=True)
class Metric:
    """One value of a scorer (in one version, with one set of parameters), or one judge on one criterion.

    `values` is unit → value; `scale` the ends it can have, where they are known; a `flag` is 0 or 1. `unscored` counts
    units without a value by reason. `run_ids` and `value` find the same scores of other items; a judge has none. Of a
    pair the value is the score of the second item less that of the first, and its scale reaches as far both ways.
    """

    name: str
    scorer: str
    value: str
    scale: tuple[float, float] | None
    flag: bool = False
    judge: bool = False
    values: Mapping[str, float] = field(default_factory=dict)
    unscored: Mapping[str, int] = field(default_factory=dict)
    run_ids: tuple[int, ...] = ()

    @property
    def threshold(self) -> float | None:
        """The metric's own threshold: half-way up its scale."""
        return None if self.scale is None else (self.scale[0] + self.scale[1]) / 2


def metrics_about(metrics: Sequence[Metric], score: str | None) -> list[Metric]:
    """The metrics that a criterion about this score judges: of that name, else those that measure it."""
    named = [metric for metric in metrics if score in (metric.value, metric.scorer)]
    return named or [
        metric for metric in metrics if not metric.judge and value_kind(metric.scorer, metric.value).measures == score
    ]


def unit_key(study_item_id: int, target: str) -> str:
    """A unit of a study as `db.studies.ratings` names it: the study item, and the target unless it is the item."""
    return str(study_item_id) if target == "item" else f"{study_item_id}|{target}"


def study_item_of(unit: str) -> int:
    """The study item that a unit is of."""
    return int(unit.partition("|")[0])


@dataclass(frozen=True)
class _Run:
    """`labels` names the studies whose labels it took, as its parameters do; empty where it took none."""

    run_id: int
    scorer: str
    key: str
    parameters: str
    labels: str


_Scored = Mapping[str, tuple[float | None, str | None]]
"""Unit → value, or None and why it has none."""

_Values = dict[tuple[str, str], _Scored]
"""(Key of the run, name of the value) → what it gave."""

ONE_SCORED = "only one of the two answers has a score"


def scores_of(session: Session, study: Study, wanted: Sequence[str], *, pairs: bool = False) -> list[Metric]:
    """The metrics with values of this study's items: of every item version the latest score; NotFound if unknown.

    In a study about `pairs` the values are differences: the score of the second item, which preferences above zero are
    for, less that of the first. Where only one of the two has a score the pair is unscored.
    """
    runs = _runs(session, study.project_id, wanted)
    query = pick(StudyItem.id, Score.run_id, Score.name, Score.target, Score.value, Score.reason)
    of_sample = (col(StudyItem.study_id) == study.id, col(StudyItem.purpose) == Purpose.SAMPLE)
    query = query.where(*of_sample, col(Score.run_id).in_(runs)).order_by(col(Score.id))
    values: _Values
    if pairs:
        sides = (StudyItem.item_version_id, StudyItem.other_version_id)
        first, second = (
            _given(
                session, runs, query.join(Score, col(Score.item_version_id) == side).where(col(Score.target) == "item")
            )
            for side in sides
        )
        both = {key: (first.get(key, {}), second.get(key, {})) for key in [*first, *second]}
        values = {key: _apart(*given) for key, given in both.items()}
        scales = {key: _scale(runs, key, *given) for key, given in both.items()}
        scales = {key: ends and (ends[0] - ends[1], ends[1] - ends[0]) for key, ends in scales.items()}
    else:
        query = query.join(Score, col(Score.item_version_id) == StudyItem.item_version_id)
        frozen = pick(StudyScore.score_id).join(StudyItem, col(StudyItem.id) == StudyScore.study_item_id)
        frozen = frozen.where(col(StudyItem.study_id) == study.id)
        if not wanted and session.execute(frozen.limit(1)).first() is not None:
            query = query.where(col(Score.id).in_(frozen))
        values = _given(session, runs, query)
        scales = {key: _scale(runs, key, given) for key, given in values.items()}
    found = []
    for (key, name), given in values.items():
        same = [run for run in runs.values() if run.key == key]
        found.append(
            Metric(
                name=_called(same[0], name, list(values), runs),
                scorer=same[0].scorer,
                value=name,
                scale=scales[key, name],
                flag=value_kind(same[0].scorer, name).kind == "flag" and not pairs,
                values={unit: value for unit, (value, _) in given.items() if value is not None},
                unscored=Counter(reason or "no reason given" for value, reason in given.values() if value is None),
                run_ids=tuple(run.run_id for run in same),
            )
        )
    return sorted(found, key=lambda metric: metric.name)


def _given(session: Session, runs: Mapping[int, _Run], query: Select[Any]) -> _Values:
    """The latest value of every unit, by what gave it."""
    found: dict[tuple[str, str], dict[str, tuple[float | None, str | None]]] = defaultdict(dict)
    for place, run_id, name, target, value, reason in session.execute(query.execution_options(yield_per=20_000)):
        found[runs[run_id].key, name][unit_key(place, target)] = (value, reason)
    return dict(found)


def _apart(first: _Scored, second: _Scored) -> _Scored:
    """Of every pair with a score on either side the second value less the first, or why there is no difference."""
    found: dict[str, tuple[float | None, str | None]] = {}
    for place in dict.fromkeys([*first, *second]):
        (low, why_not), (high, why) = (side.get(place, (None, ONE_SCORED)) for side in (first, second))
        apart = None if low is None or high is None else high - low
        found[unit_key(int(place), TargetKind.PAIR)] = (apart, None if apart is not None else why_not or why)
    return found


def _scale(runs: Mapping[int, _Run], key: tuple[str, str], *given: _Scored) -> tuple[float, float] | None:
    """The ends that a value can have; None where they are not known."""
    scorer = next(run.scorer for run in runs.values() if run.key == key[0])
    about = value_kind(scorer, key[1])
    low, high = about.low, about.high
    numbers = [value for scored in given for value, _ in scored.values() if value is not None]
    if low is None and high is None and numbers and min(numbers) >= 0 and max(numbers) <= 1:
        low, high = 0.0, 1.0  # imported, of a name that says nothing: its values do
    return (low, high) if low is not None and high is not None and low < high else None


def _called(run: _Run, value: str, there: Sequence[tuple[str, str]], runs: Mapping[int, _Run]) -> str:
    """`phrase_recall`, with its parameters or its value where there are several, and with the studies behind it."""
    keys = {key for key, _ in there}
    several = len({other.key for other in runs.values() if other.scorer == run.scorer and other.key in keys}) > 1
    settings = run.parameters if several else run.labels
    name = f"{run.scorer} ({settings})" if settings else run.scorer
    return f"{name}: {value}" if len([other for key, other in there if key == run.key]) > 1 else name


def _runs(session: Session, project_id: int, wanted: Sequence[str]) -> dict[int, _Run]:
    """Run → what it is of: of every scorer with its parameters the latest version; imports of one format are one."""
    query = (
        pick(Run.id, Run.name, Run.version, Run.parameters, Run.parameters_hash)
        .where(
            col(Run.project_id) == project_id,
            col(Run.kind).in_(["scorer", "import"]),
            col(Run.batch_id).is_(None) | col(Run.batch_id).not_in(batches_left_out()),
        )
        .order_by(col(Run.id))
    )
    rows = session.execute(query).all()
    known = sorted({name for _, name, *_ in rows})
    for name in wanted:
        if name not in known and name in SCORERS.names():
            command = f"assay score PROJECT --scorer {name}"
            raise NotFound(f"The project has no scores of {name!r}. Compute them with: {command}")
        if name not in known:
            raise NotFound(f"The project has no scores of {name!r}. It has scores of: {', '.join(known) or 'nobody'}.")
    latest = {(name, digest): version for _, name, version, _, digest in rows}
    return {
        run_id: _Run(run_id, name, f"{name}\x00{digest}", ", ".join(readable(parameters)), _whose(parameters))
        for run_id, name, version, parameters, digest in rows
        if version == latest[name, digest] and (not wanted or name in wanted)
    }


def _whose(parameters: Mapping[str, Any]) -> str:
    return ", ".join(readable({name: parameters[name] for name in ("labels_of", "labels_by") if name in parameters}))


# All items of the project ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProjectItem:
    """A current item of the project with its scores by the name of the metric."""

    version_id: int
    item_id: int
    item: str
    question: int
    system: str
    category: str
    scores: Mapping[str, float]


def project_items(db: Database, project_id: int, metrics: Sequence[Metric]) -> list[ProjectItem]:
    """Every current item of the project that one of these scorers gave a value of the whole item.

    To be called after `study_data`, which checks that the person may read. Judges have no scores and are passed over.
    """
    of_run = {(run, metric.value): metric.name for metric in metrics for run in metric.run_ids}
    if not of_run:
        return []
    scores: dict[int, dict[str, float]] = defaultdict(dict)
    with db.read() as session:
        rows = session.execute(
            pick(Score.item_version_id, Score.run_id, Score.name, Score.value)
            .where(col(Score.run_id).in_({run for run, _ in of_run}), col(Score.target) == "item")
            .order_by(col(Score.id))
            .execution_options(yield_per=20_000)
        )
        for version_id, run_id, name, value in rows:
            metric = of_run.get((run_id, name))
            if metric is not None and value is not None:
                scores[version_id][metric] = value
        items = session.execute(
            pick(ItemVersion.id, Item.id, Item.external_id, Item.question_id, Item.system, ItemVersion.category)
            .join(Item, col(Item.id) == ItemVersion.item_id)
            .where(col(Item.project_id) == project_id, item_is_current(), version_is_latest())
            .order_by(col(ItemVersion.id))
            .execution_options(yield_per=20_000)
        )
        return [
            ProjectItem(version_id, item_id, name, question, system, category or "", scores[version_id])
            for version_id, item_id, name, question, system, category in items
            if version_id in scores
        ]
