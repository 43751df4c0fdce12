"""Trials of a judge: items that it has judged, shown to it in other ways; what it says then counts for nothing else.

A trial is a run of its own kind over the items that the judge has labelled in a study, by the same ledger, budget and
cache as its judging. Its items are `JudgedItem`s without an annotation, so that none of its labels is one of the
study's.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement
from sqlmodel import Session, col

from annotators.addresses import is_here
from annotators.errors import InvalidInput, NotFound
from annotators.judges.base import Call
from annotators.judges.budget import Price
from annotators.judges.judging import CANNOT, Outcome, judge_item, mark_of
from annotators.judges.trust.trials import Trial, Tried
from annotators.progress import Progress, unheard
from db.engine import Database, dumps
from db.judging.examples import check_examples_may_leave, example_items
from db.judging.items import ItemToJudge, drawn_items, read_to_judge, secret_of
from db.judging.judges import JudgeSettings
from db.judging.planning import LOOKED_AT, JudgePlan, NoPictures, check_prompt, plan_of, without_conditions
from db.judging.run import ALL, CANCELLED, NOTHING_BESIDES, Heard, JudgeRun, Means, Sample, asking
from db.judging.writing import ItemRows
from db.models import Account, Annotation, AnnotationKind, Judge, StoredLabel, Study
from db.permissions import RESEARCHERS, Actor, On, operation
from db.query import pick
from db.runs.run import RunUnderWay
from db.studies.design import protocol_of

TRIAL = "trial"
"""The kind of a trial's run. Its `version` says which trial it is, its parameters study, judge and trial."""


@dataclass
class TriedOutcome(Outcome):
    """What came of an item in a trial, and the (criterion, target) whose requests the trial changed."""

    changed: set[tuple[str, str]] = field(default_factory=set)


@operation(On.STUDY, RESEARCHERS)
def try_judge(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    judge: str,
    trials: Sequence[Trial],
    sample: Sample = ALL,
    means: Means = NOTHING_BESIDES,
    progress: Progress = unheard,
    job_id: int | None = None,
    so_far: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Ask a judge, by its name, once more about items that it has labelled in the study, in each of these ways.

    As `run_judge`: killed, it goes on where it was, it stops where the next request might pass the limit, and it says
    in `so_far` what it came to when it was cancelled. Items
    that a trial has done are not done again, and requests that it does not change have their reply already. Raises
    NotFound for a judge that has labelled nothing there, or whose labels came from elsewhere; InvalidInput for a prompt
    that does not fit the study, or has an example that must not leave this machine; ServerRefuses.
    """
    begun = time.monotonic()
    check_trials(trials)
    with db.read() as session:
        study = session.get_one(Study, study_id)
        person_id, settings = tried_judge(session, study, judge)
        among = items_to_try(session, study, judge, person_id, sample)
        examples = [frozenset(example_items(session, study, trial.prompt or settings.prompt)) for trial in trials]
        for trial in trials:
            check_examples_may_leave(session, study.project_id, trial.prompt or settings.prompt, settings.server)
        session.expunge(study)
    protocol = protocol_of(study)
    for trial in trials:
        check_prompt(trial.prompt or settings.prompt, protocol)
    with asking(db, study, settings, means, job_id) as (asker, pictures, replies, stop):
        secret, of = secret_of(db, study.project_id), len(among) * len(trials)
        known = retries = left = 0
        stopped: str | None = None
        made: list[dict[str, Any]] = []

        def summary() -> dict[str, Any]:
            return {
                "judge": judge, "trials": made, **replies.totals(),
                "cost": None if means.price is None else replies.spent().money,
                "cached": known, "retries": retries, "seconds": round(time.monotonic() - begun, 3),
                "stopped": stopped, "left": left,
            }  # fmt: skip

        for place, trial in enumerate(trials):
            heard = _HeardOfAll(progress, place * len(among), of)
            kind = _TrialRun(
                study, settings, judge, trial,
                person_id=person_id, among=among, asker=asker, secret=secret, pictures=pictures,
                concurrency=means.concurrency, stop=stop, alive=heard.again, examples=examples[place],
            )  # fmt: skip
            run = RunUnderWay(db, actor, study.project_id, kind, job_id=job_id)
            try:
                run.over_all_items(heard)
            except BaseException as error:
                if so_far is not None and heard.was_told_by(error):
                    known, retries, stopped = known + kind.n_known, retries + kind.n_retries, CANCELLED
                    left += run.n_left()
                    made.append({"trial": trial.version, "items": run.added})
                    so_far.update(summary())
                raise
            if kind.refused is not None:
                raise kind.refused
            known, retries = known + kind.n_known, retries + kind.n_retries
            left, stopped = left + kind.n_left, stopped or kind.stopped
            made.append({"trial": trial.version, "items": run.added})
            if stop.is_set():
                break
        return summary()


@operation(On.STUDY, RESEARCHERS)
def plan_trials(
    db: Database,
    _actor: Actor,
    study_id: int,
    *,
    judge: str,
    trials: Sequence[Trial],
    sample: Sample = ALL,
    price: Price | None = None,
    context: int | None = None,
) -> JudgePlan:
    """What `try_judge` would send at the most: requests that a trial changes, whether or not they were made before.

    Nothing is sent, and nothing of the study changes. Errors as of `try_judge` and of `plan_judging`.
    """
    check_trials(trials)
    with db.read() as session:
        study = session.get_one(Study, study_id)
        person_id, settings = tried_judge(session, study, judge)
        protocol = protocol_of(study)
        for trial in trials:
            check_prompt(trial.prompt or settings.prompt, protocol)
            check_examples_may_leave(session, study.project_id, trial.prompt or settings.prompt, settings.server)
        among = items_to_try(session, study, judge, person_id, sample)
        few = [among[place * len(among) // min(LOOKED_AT, len(among))] for place in range(min(LOOKED_AT, len(among)))]
        elsewhere = not is_here(settings.server)
        looked = read_to_judge(session, study, among=few, limit=LOOKED_AT, elsewhere=elsewhere)
        said = labels_said(session, study, person_id, few)
        session.expunge(study)
    secret, asked = secret_of(db, study.project_id), without_conditions(protocol)
    pictures = NoPictures(settings.pictures) if settings.pictures else None

    def calls_of(item: ItemToJudge) -> Iterator[Call]:
        mark = mark_of(secret, item.steps)
        for trial in trials:
            tried = Tried.of(
                trial, asked, settings.prompt, item.steps, item=item.study_item_id, said=said[item.study_item_id],
                letters=settings.gives_letters,
            )  # fmt: skip
            more = settings.samples if trial.samples is None else max(0, trial.samples - settings.samples)
            for step in tried.steps:
                made = tried.write(tried.protocol, tried.prompt, step.material, step.step, given={}, mark=mark,
                                   pictures=pictures)  # fmt: skip
                for call in made:
                    if trial.changes(tried.protocol.criterion(call.name), step.material):
                        yield from [call] * more

    return plan_of(db, looked, calls_of, settings, n=len(among), price=price, context=context)


def check_trials(trials: Sequence[Trial]) -> None:
    """InvalidInput where there is nothing to try, or something twice."""
    if not trials:
        raise InvalidInput("There is nothing to try. Ask for flips, repeats or other prompts.")
    names = [trial.version for trial in trials]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(f"The trial {twice!r} is asked for twice. Name it once.")


def tried_judge(session: Session, study: Study, name: str) -> tuple[int, JudgeSettings]:
    """The person that a judge of the project is, and its settings; NotFound where there is none that can be asked."""
    row = session.execute(
        pick(Judge.person_id, Judge.settings)
        .join(Account, col(Account.person_id) == Judge.person_id)
        .where(col(Judge.project_id) == study.project_id, col(Account.name) == name)
    ).one_or_none()
    if row is None:
        raise NotFound(
            f"The judge {name!r} cannot be asked: it is none that `assay judge` has asked in this project, so that no "
            "server, model and prompt of it are known. Leave the trials out, or have a model judge with `assay judge`."
        )
    return row.person_id, JudgeSettings.from_json(row.settings)


def items_to_try(session: Session, study: Study, name: str, person_id: int, sample: Sample) -> list[int]:
    """The study's items that the judge has labelled, or a sample of them; NotFound where there are none."""
    query = pick(Annotation.study_item_id).where(
        col(Annotation.study_id) == study.id,
        col(Annotation.person_id) == person_id,
        col(Annotation.kind) == AnnotationKind.MODEL,
    )
    labelled = set(session.execute(query.distinct()).scalars())
    if not labelled:
        raise NotFound(f"No judge {name!r} has labelled the study {study.name!r}. Have it judge first: `assay judge`.")
    drawn = drawn_items(session, study, sample.n, sample.per, sample.seed, among=labelled)
    return sorted(labelled) if drawn is None else drawn


def labels_said(
    session: Session, study: Study, person_id: int, items: Sequence[int]
) -> dict[int, dict[tuple[str, str], str]]:
    """Study item → (criterion, target) → what the judge said of it there, as a vote."""
    protocol, found = protocol_of(study), defaultdict[int, dict[tuple[str, str], str]](dict)
    rows = session.execute(
        pick(Annotation.study_item_id, StoredLabel.criterion, StoredLabel.target, StoredLabel.value)
        .join(StoredLabel, col(StoredLabel.assignment_id) == Annotation.assignment_id)
        .where(
            col(Annotation.study_id) == study.id,
            col(Annotation.person_id) == person_id,
            col(Annotation.study_item_id).in_(list(items)),
            col(StoredLabel.cannot_judge).is_(False),
        )
    )
    for item, criterion, target, value in rows:
        if value is not None:
            found[item][criterion, target] = protocol.criterion(criterion).vote(value)
    return found


class _HeardOfAll(Heard):
    """Tells how far all trials are, one after the other."""

    def __init__(self, progress: Progress, before: int, of: int) -> None:
        super().__init__(progress)
        self._before, self._of, self._done = before, of, 0

    def __call__(self, done: int, of: int) -> None:
        """Whoever wants to hear it is told."""
        self._done = min(done, of)
        self.again()

    def again(self, _more: int = 0) -> None:
        """Where it is, so that who cancels is heard."""
        super().__call__(self._before + self._done, self._of)


class _TrialRun(JudgeRun):
    """A trial over items that a judge has labelled."""

    kind, verb, doing, results = TRIAL, "try", "trial of a judge", "items"

    def __init__(self, study: Study, judge: JudgeSettings, name: str, trial: Trial, **means: Any) -> None:
        super().__init__(study, judge, name, **means)
        self.version = trial.version
        self.parameters = {**self.parameters, "trial": trial.to_json()}
        self._trial = trial
        self._told = trial.prompt or judge.prompt
        self._said: dict[int, dict[tuple[str, str], str]] = {}

    def read(
        self, session: Session, project_id: int, left: ColumnElement[bool] | None, *, after: int, limit: int
    ) -> list[ItemToJudge]:
        """Items with what each step shows, and what the judge said of them."""
        found = super().read(session, project_id, left, after=after, limit=limit)
        if self._trial.name == "injection":
            ids = [item.study_item_id for item in found]
            self._said = dict(labels_said(session, self._study, self._person_id, ids))
        return found

    def _judged(self, item: ItemToJudge) -> Outcome:
        tried = Tried.of(
            self._trial,
            self._protocol,
            self._judge.prompt,
            item.steps,
            item=item.study_item_id,
            said=self._said.get(item.study_item_id),
            letters=self._judge.gives_letters,
        )
        found = judge_item(
            tried.protocol,
            tried.prompt,
            tried.steps,
            self._ask,
            mark=mark_of(self._secret, item.steps),
            samples=self._trial.samples or self._judge.samples,
            pictures=self._pictures,
            write=tried.write,
        )
        return TriedOutcome(**vars(found), changed=tried.changed)

    def _rows(self, item: ItemToJudge, outcome: Outcome) -> ItemRows:
        """Each item, without an annotation: its labels as shares of replies, where the trial changed the request."""
        changed = outcome.changed if isinstance(outcome, TriedOutcome) else set()
        shares: dict[str, dict[str, dict[str, float]]] = {}
        for label in (label for step in outcome.steps for label in step.labels):
            if (label.criterion, label.target) in changed:
                vote = CANNOT if label.cannot_judge else self._protocol.criterion(label.criterion).vote(label.value)
                several = outcome.shares.get(label.criterion, {}).get(label.target)
                said = several if self._trial.samples is not None and several else {vote: 1.0}
                shares.setdefault(label.criterion, {})[label.target] = said
        unscored = [
            replace(one, targets=targets).to_json()
            for one in outcome.unscored
            if (targets := tuple(target for target in one.targets if (one.criterion, target) in changed))
        ]
        return ItemRows(item.study_item_id, (), dumps(unscored), dumps(shares), None)
