"""A second kind of run: how many words a question has, kept in a table of its own, for tests of what all runs share."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Integer, MetaData, Select, Table, func, insert, select
from sqlmodel import Session

from db.engine import Database
from db.items.scored import current_in_order
from db.models import ItemVersion, Run
from db.query import pick
from db.runs.run import Block, RunKind

COUNTS = Table(
    "word_count",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("run_id", Integer, nullable=False),
    Column("item_version_id", Integer, nullable=False),
    Column("n", Integer, nullable=False),
)
"""Nothing but the run keeps a second row of an item out."""


@dataclass(frozen=True)
class QuestionText:
    """All that is read of an item."""

    version_id: int
    text: str


class WordCounts(RunKind[QuestionText, int]):
    """Counts the words of questions, five questions at a time, as slowly as it is told to."""

    kind, verb, doing, results = "counter", "count", "counting", "counts"

    def __init__(self, *, letters: int = 1, seconds: float = 0.0) -> None:
        super().__init__("word_count", "1", {"letters": letters}, block=5)
        self._letters, self._seconds = letters, seconds

    def results_of(self, runs: Sequence[int]) -> Select[Any]:
        """Rows of the table."""
        return select(COUNTS.c.item_version_id).where(COUNTS.c.run_id.in_(list(runs)))

    def read(
        self, session: Session, project_id: int, left: ColumnElement[bool] | None, *, after: int, limit: int
    ) -> list[QuestionText]:
        """The questions."""
        query = pick(ItemVersion.id, ItemVersion.question)
        query = query if left is None else query.where(left)
        return [QuestionText(*row) for row in current_in_order(session, query, project_id, after=after, limit=limit)]

    def compute(self, blocks: Iterator[list[QuestionText]]) -> Iterator[Block[QuestionText, int]]:
        """Words of at least so many letters."""
        for questions in blocks:
            time.sleep(self._seconds)
            yield (
                questions,
                [[sum(len(word) >= self._letters for word in question.text.split())] for question in questions],
            )

    def store(self, session: Session, run_id: int, done: Sequence[tuple[QuestionText, Sequence[int]]]) -> int:
        """A row for each question."""
        rows = [{"run_id": run_id, "item_version_id": item.version_id, "n": n} for item, found in done for n in found]
        session.execute(insert(COUNTS), rows)
        return len(rows)


def make_table(db: Database) -> None:
    """Have a database keep counts."""
    COUNTS.metadata.create_all(db.engine)


def counted(db: Database) -> tuple[int, int, int]:
    """(counts, item versions counted, runs)."""
    with db.read() as session:
        n, versions = session.execute(
            select(func.count(), func.count(func.distinct(COUNTS.c.item_version_id))).select_from(COUNTS)
        ).one()
        return n, versions, session.execute(select(func.count()).select_from(Run)).scalar_one()
