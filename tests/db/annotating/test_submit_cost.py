"""What a submit asks of the database: a known number of statements, none of which looks at more as the day goes on."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from annotators.asking.submissions import GivenLabel
from annotators.protocols import Material, Step
from db.annotating.annotations import submit
from db.annotating.committing import StepSubmission
from db.engine import Database
from db.people.sign_in import session_actor
from tests.makers import StudyInUse, tiny_protocol

MOST = 24
"""Statements of a submit that brings a new item with its evidence, from the cookie to the answer."""

Statement = tuple[str, Any]


@contextmanager
def heard(db: Database) -> Iterator[list[Statement]]:
    """The statements that are sent in the block, but those that begin transactions."""
    found: list[Statement] = []

    def hear(_connection: object, _cursor: object, statement: str, parameters: object, *_more: object) -> None:
        if not statement.startswith("BEGIN"):
            found.append((statement, parameters))

    event.listen(db.engine, "before_cursor_execute", hear)
    yield found
    event.remove(db.engine, "before_cursor_execute", hear)


def annotator(db: Database, *, items: int) -> Callable[[], None]:
    """Submits one item after the other as the browser does, knowing those at hand already."""
    shows = [Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS]
    protocol = tiny_protocol(steps=[Step(name="all", title="All", shows=shows, criteria=["right"])])
    study = StudyInUse(db, items=items, annotators=1, overlap=1, n_evidence=2, protocol=protocol)
    actor = study.annotators[0]
    at_hand = study.work(0)["items"]

    def submit_next() -> None:
        item = at_hand.pop(0)
        labels = (GivenLabel("right", "item", "yes"),)
        step = StepSubmission(uuid.uuid4().hex, item["assignment"], 1, 0, labels, seconds=1)
        have = [item["assignment"] for item in at_hand]
        answer = submit(db, actor, study.study_id, step=step, have=have)
        at_hand.extend(item for item in answer.items if not item.get("kept"))
        assert answer.items[-1]["evidence"]

    return submit_next


def test_a_submit_takes_few_statements(database: Database) -> None:
    submit_next = annotator(database, items=12)
    for _ in range(3):
        submit_next()
    with heard(database) as statements:
        session_actor(database, "the cookie of nobody costs as much")
        submit_next()
    # On PostgreSQL the annotator's place is locked first and read then: who waited for it sees no earlier amendment.
    most = MOST if database.is_sqlite else MOST + 1
    assert len(statements) <= most, "\n".join(text for text, _ in statements)


def test_no_statement_of_a_submit_reads_a_whole_table(sqlite_database: Database) -> None:
    submit_next = annotator(sqlite_database, items=12)
    submit_next()
    with heard(sqlite_database) as statements:
        submit_next()
    scanned = []
    with sqlite_database.glance() as connection:
        for text, parameters in statements:
            if not isinstance(parameters, list):
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", parameters)
                scanned += [row[3] for row in plan if row[3].startswith("SCAN ")]
    # The batches of labels that were withdrawn are few, however much is judged.
    assert {line for line in scanned if "CONSTANT ROW" not in line} <= {"SCAN withdrawal"}, scanned


def test_a_submit_asks_the_same_at_the_end_of_a_day_as_in_the_morning(database: Database) -> None:
    submit_next = annotator(database, items=140)
    submit_next()
    with heard(database) as morning:
        submit_next()
    for _ in range(120):
        submit_next()
    with heard(database) as evening:
        submit_next()
    assert [text for text, _ in evening] == [text for text, _ in morning]
