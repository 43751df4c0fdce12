"""What is stored of a judge in a study besides its labels: the samples behind them, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func
from sqlmodel import Session, col

from annotators.judges.judging import CANNOT
from db.models import Account, Annotation, Job, Judge, JudgeCall, JudgedItem, JudgeReply, Run, Study
from db.query import pick
from db.studies.ratings import unit_name

Chances = dict[str, dict[str, dict[str, float]]]
"""Criterion → unit → label, as a vote → its probability (0..1)."""

Samples = dict[str, dict[str, list[str]]]
"""Criterion → unit → the label of each reply to the same call, as votes."""


@dataclass(frozen=True)
class StoredJudge:
    """A judge as it is kept: who is asked, with which prompt, and how many replies a request has."""

    model: str
    server: str
    prompt: str
    samples: int


@dataclass(frozen=True)
class Spent:
    """What a judge's runs over a study have cost: requests, tokens, and money (None where some has no price)."""

    requests: int
    tokens: int
    money: float | None


def stored_judge(session: Session, study_id: int, name: str) -> StoredJudge | None:
    """The judge of this name in the study's project; None for a rater of kind model that never was asked from here."""
    project = pick(Study.project_id).where(col(Study.id) == study_id).scalar_subquery()
    row = session.execute(
        pick(Judge.model, Judge.server, Judge.prompt, Judge.settings)
        .join(Account, col(Account.person_id) == Judge.person_id)
        .where(col(Judge.project_id) == project, col(Account.name) == name)
    ).one_or_none()
    return None if row is None else StoredJudge(row.model, row.server, row.prompt, int(row.settings["samples"]))


def samples_of(session: Session, study_id: int, name: str) -> Samples:
    """The labels of each reply behind the judge's labels, where it was asked several times; those that can be counted.

    Shares of the replies are kept; they are counts of the most replies that give whole ones.
    """
    rows = session.execute(
        pick(JudgedItem.study_item_id, JudgedItem.shares, Run.parameters)
        .join(Annotation, col(Annotation.id) == JudgedItem.annotation_id)
        .join(Account, col(Account.person_id) == Annotation.person_id)
        .join(Run, col(Run.id) == JudgedItem.run_id)
        .where(col(Annotation.study_id) == study_id, col(Account.name) == name, col(JudgedItem.shares).is_not(None))
        .execution_options(yield_per=1000)
    )
    found: Samples = {}
    for item, shares, parameters in rows:
        for criterion, targets in (shares or {}).items():
            of_criterion = found.setdefault(criterion, {})
            for target, by_label in targets.items():
                labels = counted(by_label, int(parameters["judge"]["samples"]))
                of_criterion[unit_name(item, target)] = labels
    return found


def chances_of(session: Session, study_id: int, name: str) -> Chances:
    """The probabilities of its labels that the judge's server gave."""
    rows = session.execute(
        pick(JudgedItem.study_item_id, JudgedItem.chances)
        .join(Annotation, col(Annotation.id) == JudgedItem.annotation_id)
        .join(Account, col(Account.person_id) == Annotation.person_id)
        .where(col(Annotation.study_id) == study_id, col(Account.name) == name, col(JudgedItem.chances).is_not(None))
        .execution_options(yield_per=1000)
    )
    found: Chances = {}
    for item, chances in rows:
        for criterion, targets in (chances or {}).items():
            found.setdefault(criterion, {}).update({unit_name(item, target): of for target, of in targets.items()})
    return found


def counted(shares: Mapping[str, float], most: int) -> list[str]:
    """The labels that these shares of at most so many replies stand for."""
    for n in range(most, 0, -1):
        counts = {label: share * n for label, share in shares.items()}
        if all(abs(count - round(count)) < 1e-6 for count in counts.values()):
            return [label for label, count in counts.items() for _ in range(round(count))]
    return []


def without_cannot(samples: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The same without the replies that said that it cannot be judged."""
    kept = {unit: [label for label in labels if label != CANNOT] for unit, labels in samples.items()}
    return {unit: labels for unit, labels in kept.items() if labels}


def spent_on(session: Session, study_id: int, name: str) -> Spent:
    """What the jobs have spent whose runs gave the judge its labels in the study, as the ledger has it."""
    runs = session.execute(pick(Run.id, Run.parameters).where(col(Run.kind) == "judge", col(Run.name) == name)).all()
    ids = [run for run, parameters in runs if parameters.get("study") == study_id]
    jobs = pick(Job.id).where(col(Job.run_id).in_(ids))
    tokens = func.coalesce(col(JudgeReply.tokens_in) + col(JudgeReply.tokens_out), JudgeCall.tokens)
    n, n_tokens, money, priced = session.execute(
        pick(
            func.count(),
            func.coalesce(func.sum(tokens), 0),
            func.sum(func.coalesce(JudgeReply.cost, JudgeCall.cost)),
            func.count(col(JudgeCall.cost)),
        )
        .select_from(JudgeCall)
        .outerjoin(JudgeReply, col(JudgeReply.call_id) == JudgeCall.id)
        .where(col(JudgeCall.job_id).in_(jobs))
    ).one()
    return Spent(int(n), int(n_tokens), float(money or 0.0) if n and priced == n else None)
