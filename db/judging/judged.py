"""What judges have come to in a study: their labels, what they left unscored, and what their jobs cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import case, func
from sqlmodel import Session, col

from db.engine import Database
from db.judging.judges import JudgeRow, JudgeSettings, list_judges, settings_digest
from db.models import Annotation, AnnotationKind, Job, JudgeCall, JudgedItem, JudgeReply, Run, StoredLabel, Study
from db.people.accounts import names_of
from db.permissions import RESEARCHERS, Actor, On, operation
from db.query import pick

JOB = "judge"
"""The kind of the jobs that judge."""


@dataclass(frozen=True)
class JudgedCounts:
    """What runs of a judge have made of a study: `items` looked at, `labels`, and targets `unscored` by reason."""

    items: int = 0
    labels: int = 0
    cannot_judge: int = 0
    unscored: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JobCosts:
    """What jobs have sent and received. `cost` is None where a request had no price."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0

    def __add__(self, other: JobCosts) -> JobCosts:
        """Both together."""
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return JobCosts(
            self.requests + other.requests,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            cost,
        )


@dataclass(frozen=True)
class JudgeInStudy:
    """A rater of kind model in a study. `judge` is None where its labels were imported; `jobs` are ids, oldest first.

    `spent` is what its jobs over this study cost; what another job had paid for before is not asked again.
    """

    name: str
    judge: JudgeRow | None
    judged: JudgedCounts
    spent: JobCosts
    jobs: tuple[int, ...]


@operation(On.STUDY, RESEARCHERS)
def judges_in_study(db: Database, actor: Actor, study_id: int) -> list[JudgeInStudy]:
    """Who has judged in a study, or was begun on it, in the order in which they came; imported raters last."""
    with db.read() as session:
        project_id = session.get_one(Study, study_id).project_id
    judges = {settings_digest(JudgeSettings.from_json(row.settings)): row for row in list_judges(db, actor, project_id)}
    with db.read() as session:
        runs = _runs(session, project_id, study_id)
        jobs = _jobs(session, project_id, study_id)
        labels = _labels(session, study_id)
        spent = spent_by_job(session, [of for ids in jobs.values() for of in ids])
        found = []
        for digest, judge in judges.items():
            if digest in runs or digest in jobs or judge.person_id in labels:
                counted = labels.pop(judge.person_id, (0, 0, 0))
                judged = judged_in_runs(session, runs[digest]) if digest in runs else JudgedCounts(*counted)
                ids = tuple(jobs.get(digest, ()))
                found.append(JudgeInStudy(judge.name, judge, judged, sum(map(spent.__getitem__, ids), JobCosts()), ids))
        names = names_of(session, set(labels))
    imported = [
        JudgeInStudy(names.get(person, f"model {person}"), None, JudgedCounts(*counted), JobCosts(), ())
        for person, counted in labels.items()
    ]
    return found + sorted(imported, key=lambda row: row.name)


def judged_in_runs(session: Session, runs: Sequence[int]) -> JudgedCounts:
    """What these runs have come to."""
    of_runs = col(JudgedItem.run_id).in_(list(runs))
    n_items = session.execute(pick(func.count()).select_from(JudgedItem).where(of_runs)).scalar_one()
    n_labels, n_cannot = session.execute(
        pick(func.count(), _cannot())
        .select_from(StoredLabel)
        .join(Annotation, col(Annotation.assignment_id) == StoredLabel.assignment_id)
        .where(col(Annotation.run_id).in_(list(runs)))
    ).one()
    reasons: Counter[str] = Counter()
    for unscored in session.execute(
        pick(JudgedItem.unscored).where(of_runs).execution_options(yield_per=1000)
    ).scalars():
        for one in unscored:
            reasons[one["reason"]] += max(1, len(one["targets"]))
    return JudgedCounts(n_items, n_labels - n_cannot, int(n_cannot), dict(reasons.most_common()))


def spent_by_job(session: Session, jobs: Sequence[int]) -> dict[int, JobCosts]:
    """Job → what it has spent so far; a request without a reply counts with the most money that it can have cost."""
    rows = session.execute(
        pick(
            JudgeCall.job_id,
            func.count(),
            func.coalesce(func.sum(JudgeReply.tokens_in), 0),
            func.coalesce(func.sum(JudgeReply.tokens_out), 0),
            func.coalesce(func.sum(func.coalesce(JudgeReply.cost, JudgeCall.cost)), 0.0),
            func.count(col(JudgeCall.cost)),
        )
        .select_from(JudgeCall)
        .outerjoin(JudgeReply, col(JudgeReply.call_id) == JudgeCall.id)
        .where(col(JudgeCall.job_id).in_(list(jobs)))
        .group_by(col(JudgeCall.job_id))
    ).all()
    found = {of: JobCosts() for of in jobs}
    for of, n, n_in, n_out, money, priced in rows:
        found[of] = JobCosts(n, int(n_in), int(n_out), float(money) if priced == n else None)
    return found


def _cannot() -> Any:
    return func.coalesce(func.sum(case((col(StoredLabel.cannot_judge), 1), else_=0)), 0)


def _digest(judge: Mapping[str, Any]) -> str:
    return settings_digest(JudgeSettings.from_json(dict(judge)))


def _runs(session: Session, project_id: int, study_id: int) -> dict[str, list[int]]:
    """Digest of a judge's settings → its runs over the study."""
    rows = session.execute(
        pick(Run.id, Run.parameters).where(col(Run.project_id) == project_id, col(Run.kind) == "judge")
    ).all()
    found: dict[str, list[int]] = defaultdict(list)
    for of, parameters in rows:
        if parameters.get("study") == study_id:
            found[_digest(parameters["judge"])].append(of)
    return found


def _jobs(session: Session, project_id: int, study_id: int) -> dict[str, list[int]]:
    """Digest of a judge's settings → its jobs over the study."""
    rows = session.execute(
        pick(Job.id, Job.parameters)
        .where(col(Job.project_id) == project_id, col(Job.kind) == JOB)
        .order_by(col(Job.id))
    ).all()
    found: dict[str, list[int]] = defaultdict(list)
    for of, parameters in rows:
        if parameters.get("study_id") == study_id:
            found[_digest(parameters["judge"])].append(of)
    return found


def _labels(session: Session, study_id: int) -> dict[int, tuple[int, int, int]]:
    """Rater of kind model → items, labels, and how many it could not judge."""
    rows = session.execute(
        pick(
            Annotation.person_id,
            func.count(col(Annotation.study_item_id).distinct()),
            func.count(col(StoredLabel.id)),
            _cannot(),
        )
        .select_from(Annotation)
        .outerjoin(
            StoredLabel,
            (col(StoredLabel.assignment_id) == Annotation.assignment_id)
            & (col(StoredLabel.sitting) == Annotation.sitting),
        )
        .where(col(Annotation.study_id) == study_id, col(Annotation.kind) == AnnotationKind.MODEL.value)
        .group_by(col(Annotation.person_id))
    ).all()
    return {person: (items, labels - int(cannot), int(cannot)) for person, items, labels, cannot in rows}
