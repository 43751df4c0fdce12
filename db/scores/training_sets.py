"""Training sets of classifiers: the versions a project has, and their extension by what people have labelled.

A project without a version of its own uses the set that ships with the program. An extension is proposed from the
settled labels of `abstention` studies, compared by a job (`annotators/scorers/shared/abstaining/review.py`), and
accepted as it was compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from sqlmodel import Session, col, select

from annotators.errors import Conflict, InvalidInput, NotFound
from annotators.scorers.base import P
from annotators.scorers.shared.abstaining.classifier import AbstentionParameters, compared_text
from annotators.scorers.shared.abstaining.training_sets import AnswerLabel, Example, TrainingSet, starting_set
from annotators.scorers.shared.abstaining.training_sets import training_set as set_of
from annotators.scorers.shared.phrases import phrase_recall
from annotators.scorers.shared.resources import provide_resource
from db.engine import Database, insert_many
from db.items.scored import current_in_order
from db.models import Item, ItemVersion, Job, JobState, Study, TrainingExample, TrainingSetVersion, now
from db.people.accounts import names_of
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.studies.settlements import stream_settled

ABSTENTION = "abstention"
"""The name of the set that the abstention classifier uses, and of the protocol whose labels extend it."""

SHIPPED = "ships with the program"
"""Where the examples of the starting set come from."""

REVIEW = "training review"
"""The kind of job that compares a proposed set with the present one."""

LABELS: tuple[AnswerLabel, ...] = get_args(AnswerLabel)

_PARAMETER = "training_set"
_EXAMPLE = ("training_set_id", "position", "text", "label", "origin", "item_version_id")


@dataclass(frozen=True)
class TrainingSetRow:
    """One version of a project's training set. Number 0 is the set that ships with the program."""

    number: int
    content_hash: str
    counts: dict[str, int]
    report: dict[str, Any]
    reason: str
    who: str | None
    created_at: datetime | None


@dataclass(frozen=True)
class ProposedExample:
    """An answer that people have labelled in an `abstention` study and that the present set does not have.

    `text` is what the classifier compares of the `answer`: by default what it says beside the question's words.
    `present` is None, or the label that the present set gives to the same text.
    """

    text: str
    answer: str
    label: str
    external_id: str
    item_version_id: int
    study: str
    state: str
    votes: dict[str, int]
    present: str | None

    @property
    def origin(self) -> str:
        """Where it comes from, in words that stay with the example."""
        return f"study {self.study}, item {self.external_id}, {self.state}"


# Using ----------------------------------------------------------------------------------------------------------------


def with_training_set(session: Session, project_id: int, parameters: P, *, provide: bool = False) -> P:
    """Parameters that name the project's present training set, unless they take none or one was given with them.

    `provide` makes the set itself known to this process, so that it can be scored with.
    """
    if _PARAMETER not in type(parameters).model_fields:
        return parameters
    wanted = getattr(parameters, _PARAMETER) if _PARAMETER in parameters.model_fields_set else None
    query = select(TrainingSetVersion).where(
        TrainingSetVersion.project_id == project_id, TrainingSetVersion.name == ABSTENTION
    )
    if wanted is not None:
        query = query.where(TrainingSetVersion.content_hash == wanted)
    version = session.exec(query.order_by(col(TrainingSetVersion.number).desc())).first()
    if version is None:
        return parameters
    if provide:
        provide_resource(_stored(session, version).to_bytes())
    return parameters.model_copy(update={_PARAMETER: version.content_hash})


def _stored(session: Session, version: TrainingSetVersion) -> TrainingSet:
    rows = session.exec(
        select(TrainingExample)
        .where(TrainingExample.training_set_id == version.id)
        .order_by(col(TrainingExample.position))
    )
    return set_of(Example(_label(row.label), row.text) for row in rows)


def stored_hash(session: Session, version: TrainingSetVersion) -> str:
    """The hash of the examples as they are in the database now, to be compared with the one that was kept."""
    return _stored(session, version).hash


def _label(label: str) -> AnswerLabel:
    if label not in LABELS:
        raise InvalidInput(f"{label!r} is no label of an example. Allowed: {', '.join(LABELS)}.")
    return label


def _latest(session: Session, project_id: int) -> TrainingSetVersion | None:
    return session.exec(
        select(TrainingSetVersion)
        .where(TrainingSetVersion.project_id == project_id, TrainingSetVersion.name == ABSTENTION)
        .order_by(col(TrainingSetVersion.number).desc())
    ).first()


def _latest_before(session: Session, version: TrainingSetVersion) -> int | None:
    query = select(TrainingSetVersion.id).where(
        TrainingSetVersion.project_id == version.project_id,
        TrainingSetVersion.name == version.name,
        TrainingSetVersion.number == version.number - 1,
    )
    return session.exec(query).first()


def _origins(session: Session, version_id: int | None) -> dict[str, tuple[str, int | None]]:
    """Text → where an example of that version comes from, and the item it was labelled on."""
    rows = session.exec(select(TrainingExample).where(TrainingExample.training_set_id == version_id))
    return {row.text: (row.origin, row.item_version_id) for row in rows}


def _current(session: Session, project_id: int) -> TrainingSet:
    version = _latest(session, project_id)
    return _stored(session, version) if version else starting_set()


# Reading --------------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, READERS)
def list_training_sets(db: Database, _actor: Actor, project_id: int) -> list[TrainingSetRow]:
    """The versions of the project's abstention set, newest first; the last one is what ships with the program."""
    with db.read() as session:
        versions = session.exec(
            select(TrainingSetVersion)
            .where(TrainingSetVersion.project_id == project_id, TrainingSetVersion.name == ABSTENTION)
            .order_by(col(TrainingSetVersion.number).desc())
        ).all()
        people = names_of(session, [version.person_id for version in versions if version.person_id is not None])
        rows = [
            TrainingSetRow(
                version.number,
                version.content_hash,
                _counts(_stored(session, version)),
                version.report,
                version.reason,
                people.get(version.person_id) if version.person_id is not None else None,
                version.created_at,
            )
            for version in versions
        ]
    shipped = starting_set()
    return [*rows, TrainingSetRow(0, shipped.hash, _counts(shipped), {}, SHIPPED, None, None)]


def _counts(training_set: TrainingSet) -> dict[str, int]:
    return {label: training_set.count(label) for label in LABELS}


@operation(On.PROJECT, READERS)
def present_training_set(db: Database, _actor: Actor, project_id: int) -> TrainingSet:
    """The project's present training set."""
    with db.read() as session:
        return _current(session, project_id)


@operation(On.PROJECT, RESEARCHERS)
def proposed_examples(db: Database, _actor: Actor, project_id: int) -> list[ProposedExample]:
    """Settled labels of the project's `abstention` studies whose answers the present set does not have, or otherwise.

    Of a text that was labelled in several studies the newest study counts. Empty answers are left out.
    """
    found: dict[str, ProposedExample] = {}
    with db.read() as session:
        present = {example.text: example.label for example in _current(session, project_id).examples}
        studies = session.exec(
            select(Study)
            .where(Study.project_id == project_id, Study.protocol_name == ABSTENTION)
            .order_by(col(Study.id))
        ).all()
        for study in studies:
            assert study.id is not None
            for unit in stream_settled(session, study.id):
                if unit.value not in LABELS or unit.target != "item":
                    continue
                version_id, question, answer = _answer(session, project_id, unit.external_id, unit.item_version)
                text = compared_text(question, answer, AbstentionParameters().text).strip()
                if not text or present.get(text) == unit.value:
                    found.pop(text, None)
                    continue
                found[text] = ProposedExample(
                    text,
                    answer,
                    unit.value,
                    unit.external_id,
                    version_id,
                    study.name,
                    unit.state,
                    unit.votes,
                    present.get(text),
                )
    return list(found.values())


def _answer(session: Session, project_id: int, external_id: str, number: int) -> tuple[int, str, str]:
    row = session.execute(
        pick(ItemVersion.id, ItemVersion.question, ItemVersion.answer)
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(
            col(Item.project_id) == project_id, col(Item.external_id) == external_id, col(ItemVersion.number) == number
        )
    ).one()
    return int(row[0]), str(row[1]), str(row[2])


@dataclass(frozen=True)
class AnswerToJudge:
    """A current item's answer with its correctness by `phrase_recall`; None where that is unscored."""

    version_id: int
    external_id: str
    question: str
    answer: str
    correctness: float | None


@operation(On.PROJECT, RESEARCHERS)
def read_answers(
    db: Database, _actor: Actor, project_id: int, *, after: int = 0, limit: int = 1_000
) -> list[AnswerToJudge]:
    """Answers of current items by the id of their version, from the one after `after`; empty answers are left out."""
    v = ItemVersion
    query = pick(v.id, Item.external_id, v.question, v.answer, v.references).where(col(v.answer) != "")
    with db.read() as session:
        return [
            AnswerToJudge(version_id, external_id, question, answer, phrase_recall(answer, references).value)
            for version_id, external_id, question, answer, references in current_in_order(
                session, query, project_id, after=after, limit=limit
            )
        ]


# Accepting ------------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, RESEARCHERS)
def accept_training_set(
    db: Database, actor: Actor, project_id: int, *, job_id: int, reason: str = ""
) -> TrainingSetRow:
    """Make the set that a finished review has compared the project's present one, exactly as it was compared.

    Raises NotFound for a job that is no review of this project, Conflict when it is not finished, or when the present
    set is no longer the one it compared with.
    """
    with db.write() as session:
        job = session.get(Job, job_id)
        if job is None or job.project_id != project_id or job.kind != REVIEW:
            raise NotFound(f"Job {job_id} is no review of a training set in this project.")
        if job.state != JobState.DONE or job.result is None:
            raise Conflict(f"Job {job_id} is {job.state}. Accept a training set when its review is done.")
        present = _current(session, project_id)
        if job.result["base"] != present.hash:
            raise Conflict("The training set has changed since this review. Review the extension again.")
        extended = extension(present, job.parameters["examples"])
        if extended.hash != job.result["hash"]:
            raise Conflict("The examples are not those that were reviewed. Review the extension again.")
        number = (latest.number if (latest := _latest(session, project_id)) else 0) + 1
        report = {name: value for name, value in job.result.items() if name != "changes"}
        version = TrainingSetVersion(
            project_id=project_id,
            name=ABSTENTION,
            number=number,
            content_hash=extended.hash,
            report=report,
            reason=reason.strip(),
            person_id=actor.person_id,
            created_at=now(),
        )
        session.add(version)
        session.flush()
        known = _origins(session, _latest_before(session, version))
        known |= {
            example["text"].strip(): (example["origin"], example.get("item_version_id"))
            for example in job.parameters["examples"]
        }
        rows = [
            (version.id, place, example.text, example.label, *known.get(example.text, (SHIPPED, None)))
            for place, example in enumerate(extended.examples)
        ]
        insert_many(session.connection(), "training_example", _EXAMPLE, rows)
        details = {"name": ABSTENTION, "number": number, "sha256": extended.hash, "examples": len(rows), "job": job_id}
        record(
            session, actor, "training set accepted", "training set", version.id, project_id=project_id, details=details
        )
        return TrainingSetRow(
            number, extended.hash, _counts(extended), report, version.reason, actor.name, version.created_at
        )


def extension(present: TrainingSet, examples: Sequence[dict[str, Any]]) -> TrainingSet:
    """The present set with further examples; one with a text that is there already takes that one's place.

    Raises InvalidInput for a label that the classifier does not know, or when there is nothing to add.
    """
    if not examples:
        raise InvalidInput("No example is chosen. Choose at least one.")
    return present.extended([Example(_label(example["label"]), str(example["text"])) for example in examples])
