"""A study of the size that reports are measured at: many items, three labels each on two criteria, four metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from sqlmodel import Session

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.designing.design import StudyDesign
from annotators.protocols import Material, Protocol, Step
from db.designing.making import create_study
from db.engine import Database, insert_many
from db.models import AnnotationKind, AssignmentState, Run, SettlementState, now
from db.query import database_time
from tests.bulk import make_items
from tests.makers import make_member, make_person, make_project

ITEMS_A_QUESTION = 2
OVERLAP = 3
RIGHT = 0.4
BLOCK = 20_000
METRICS = ("coverage", "overlap", "recall", "similarity")


@dataclass(frozen=True)
class BigStudy:
    """The ids of what was made, and the people who labelled."""

    project_id: int
    study_id: int
    people: tuple[int, ...]


def judging(*, accepting: bool = False) -> Protocol:
    """One step of two criteria: right or not, and how clear; `accepting`: an item that is not right is revised."""
    return Protocol(
        name="judging",
        title="Judging",
        guidelines="Judge the answer.",
        criteria=[
            Choice(
                name="correct",
                title="Correct",
                labels=[Label(value="yes"), Label(value="no")],
                accept=["yes"] if accepting else [],
            ),
            Grade(name="clarity", title="Clarity", labels=[Label(value=value) for value in range(1, 6)]),
        ],
        steps=[
            Step(
                name="judge",
                title="Judge",
                shows=[Material.QUESTION, Material.ANSWER, Material.REFERENCES],
                criteria=["correct", "clarity"],
            )
        ],
    )


def make_big_study(
    db: Database,
    n_items: int,
    *,
    people: int = 6,
    seed: int = 0,
    done: float = 1,
    scores: bool = True,
    accepting: bool = False,
) -> BigStudy:
    """Items of two systems and three categories, two of each question; three of the people label each of them.

    People see the truth with an error, the metrics with errors of their own; some scores are missing. By plain SQL.
    Only a share of the items (`done`) is labelled, if asked so: the first ones, as in a running study.
    """
    project_id, researcher = make_project(db, f"Big {seed}"), make_person(db)
    make_member(db, project_id, researcher, "researcher")
    actors = [make_person(db) for _ in range(people)]
    for actor in actors:
        make_member(db, project_id, actor, "annotator")
    make_items(db, project_id, n_items)
    _questions(db, project_id, n_items)
    names = tuple(actor.name for actor in actors)
    design = StudyDesign(name="big", annotators=names, overlap=OVERLAP, order="given")
    protocol = judging(accepting=accepting)
    study_id = create_study(db, researcher, project_id, protocol=protocol, design=design).study_id
    rng = np.random.default_rng(seed)
    truth = rng.random(n_items)
    big = BigStudy(project_id, study_id, tuple(actor.person_id for actor in actors))
    _label(db, big, truth[: int(n_items * done)], rng)
    if scores:
        _score(db, project_id, study_id, truth, rng)
    return big


def _questions(db: Database, project_id: int, n_items: int) -> None:
    """Spread the items, which `make_items` gives one question, over as many as a study has."""
    n = -(-n_items // ITEMS_A_QUESTION)
    with db.write() as session:
        connection = session.connection()
        first = connection.exec_driver_sql("SELECT max(id) + 1 FROM question").scalar_one()
        questions = [(first + place, project_id, f"b{place}") for place in range(n)]
        insert_many(connection, "question", ["id", "project_id", "key"], questions)
        rows = connection.exec_driver_sql(f"SELECT id FROM item WHERE project_id = {project_id} ORDER BY id").fetchall()
        mark = "?" if connection.dialect.name == "sqlite" else "%s"
        connection.exec_driver_sql(
            f"UPDATE item SET question_id = {mark} WHERE id = {mark}",
            [(first + place // ITEMS_A_QUESTION, row[0]) for place, row in enumerate(rows)],
        )


def _label(db: Database, big: BigStudy, truth: np.ndarray, rng: np.random.Generator) -> None:
    """Give the first items, one for each truth, their annotations, by three people in turn, and settle them."""
    ids = f"SELECT id FROM study_item WHERE study_id = {big.study_id} ORDER BY id LIMIT {len(truth)}"
    with db.read() as session:
        items = list(session.connection().exec_driver_sql(ids).scalars())
    for start in range(0, len(items), BLOCK):
        part = truth[start : start + BLOCK]
        seen = np.clip(np.repeat(part, OVERLAP) + rng.normal(scale=0.25, size=OVERLAP * len(part)), 0, 0.999)
        with db.write() as session:
            _label_block(session, big, items[start : start + BLOCK], seen, turn=OVERLAP * start)
    with db.write() as session:
        _count(session, big.study_id)


def _label_block(session: Session, big: BigStudy, items: Sequence[int], seen: np.ndarray, *, turn: int) -> None:
    """The annotations of these items, as each was seen: `seen` has three numbers in 0..1 for each item."""
    connection, began, study_id, people = session.connection(), now(), big.study_id, big.people
    slots = connection.exec_driver_sql(
        f"SELECT id, study_item_id FROM assignment WHERE study_id = {study_id} "
        f"AND study_item_id BETWEEN {items[0]} AND {items[-1]} ORDER BY study_item_id, id"
    ).fetchall()
    first = connection.exec_driver_sql("SELECT coalesce(max(id), 0) FROM submission").scalar_one()
    submissions, annotations, labels, taken = [], [], [], []
    for place, ((assignment, item), value) in enumerate(zip(slots, seen.tolist(), strict=True), turn):
        number, person = first + 1 + place - turn, people[(place + place // OVERLAP) % len(people)]
        at = database_time(session, began + timedelta(seconds=5 * place))
        submissions.append((number, f"u{number}", assignment, 1, 0, person, "[]", 5 + 20 * value, at))
        annotations.append((study_id, item, assignment, 1, person, AnnotationKind.REGULAR, 5 + 20 * value, at))
        labels.append((number, assignment, 1, "correct", "item", '"yes"' if value > RIGHT else '"no"', False))
        labels.append((number, assignment, 1, "clarity", "item", str(1 + int(5 * value)), False))
        taken.append((AssignmentState.SUBMITTED, person, 1, assignment))
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    connection.exec_driver_sql(
        f"UPDATE assignment SET state = {mark}, person_id = {mark}, steps_done = {mark} WHERE id = {mark}", taken
    )
    columns = ["id", "uid", "assignment_id", "sitting", "step", "person_id", "shown", "seconds", "created_at"]
    insert_many(connection, "submission", columns, submissions)
    columns = ["study_id", "study_item_id", "assignment_id", "sitting", "person_id", "kind", "seconds"]
    insert_many(connection, "annotation", [*columns, "created_at"], annotations)
    columns = ["submission_id", "assignment_id", "sitting", "criterion", "target", "value", "cannot_judge"]
    insert_many(connection, "label", columns, labels)
    votes = seen.reshape(-1, OVERLAP)
    given = np.stack([votes > RIGHT, 1 + (5 * votes).astype(int)])
    disputed = (np.ptp(given, axis=2) > 0).sum(axis=0)
    columns = ["study_item_id", "study_id", "state", "n_annotations", "n_disputed", "dispute", "stage"]
    states = (SettlementState.AGREED, SettlementState.DISPUTED)
    rows = [
        (item, study_id, states[n > 0], OVERLAP, n, n / OVERLAP, "first")
        for item, n in zip(items, disputed.tolist(), strict=True)
    ]
    insert_many(connection, "settlement", columns, rows)


def _count(session: Session, study_id: int) -> None:
    """The kept counts, as if the labels had come in one by one."""
    kept = (
        "INSERT INTO tally (study_id, person_id, state, n, seconds) SELECT a.study_id, {person}, a.state, count(*), "
        f"coalesce(sum(t.seconds), 0) FROM assignment a LEFT JOIN annotation t ON t.assignment_id = a.id "
        f"WHERE a.study_id = {study_id} AND {{which}} GROUP BY a.study_id, {{group}}a.state"
    )
    connection = session.connection()
    connection.exec_driver_sql(f"DELETE FROM tally WHERE study_id = {study_id}")
    connection.exec_driver_sql(
        f"INSERT INTO tally (study_id, person_id, state, n, seconds) SELECT study_id, 0, 'items ' || state, "
        f"count(*), 0 FROM settlement WHERE study_id = {study_id} GROUP BY study_id, state"
    )
    connection.exec_driver_sql(kept.format(person=0, which="1 = 1", group=""))
    connection.exec_driver_sql(
        kept.format(person="a.person_id", which="a.person_id IS NOT NULL", group="a.person_id, ")
    )


def _score(db: Database, project_id: int, study_id: int, truth: np.ndarray, rng: np.random.Generator) -> None:
    """Scores of every item by each metric, each with an error of its own; one in a hundred is missing."""
    with db.write() as session:
        rows = (
            session.connection()
            .exec_driver_sql(f"SELECT item_version_id FROM study_item WHERE study_id = {study_id} ORDER BY id")
            .scalars()
            .all()
        )
        for place, name in enumerate(METRICS):
            run = Run(project_id=project_id, name=f"imported:{name}", kind="import", version="1", parameters_hash=name)
            session.add(run)
            session.flush()
            values = np.clip(truth + rng.normal(scale=0.2 + 0.1 * place, size=len(truth)), 0, 1).round(2)
            missing = rng.random(len(truth)) < 0.01
            insert_many(
                session.connection(),
                "score",
                ["run_id", "item_version_id", "name", "target", "value"],
                [
                    (run.id, version, name, "item", value)
                    for version, value, gone in zip(rows, values.tolist(), missing.tolist(), strict=True)
                    if not gone
                ],
            )
