"""Batches that nobody sees yet: one import at a time, written in turn with everybody else, cleared when broken off.

An import writes its rows in many short transactions under a batch that is not published, which no query shows, and
publishes it in the last one (`db/items/imports.py`). Killed in between it leaves rows that nobody ever sees; the next
import into the project removes them, or `assay doctor` does, which tells them from an import under way by its place
(below).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from sqlmodel import Session, col

from annotators.errors import Conflict
from annotators.files import taken
from db.engine import Database, connected, unpooled
from db.items.documents import claim_bytes, document_file
from db.models import Document, Event, Item, ItemVersion, Run, Score, UnpublishedBatch, now
from db.permissions import Actor
from db.query import in_clause, mark, pick

ROWS_A_TURN = 300
"""Rows that an import writes while it holds SQLite's one lock: a few milliseconds' worth."""

ROWS_A_TURN_UNLOCKED = 10_000
"""Rows of one transaction on PostgreSQL, where nobody waits for it."""

WAIT_SECONDS = 30.0
"""How long an import waits for its place while another one has it."""

_ROWS_OF_AN_ITEM = 5
_LOOK_SECONDS = 0.1
_REST_ALONE = 0.004
_REST_BESIDE = 0.025
PARTS_ALONE = 20
"""How many times as many while nobody else writes."""

_REMEMBER_SECONDS = 5.0
_CACHE_KIB = 32_768
_LOCK_SPACE = 415_353_416
"""The first of the two numbers of PostgreSQL's advisory lock; the second is the project."""


# One import at a time -------------------------------------------------------------------------------------------------


@contextmanager
def only_import(db: Database, project_id: int, *, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Have the project's one place for imports until the block or the process ends; Conflict while another has it.

    The place is a lock of the operating system on a file beside the database, or an advisory lock of PostgreSQL: a
    process that is killed has lost it at once.
    """
    until = time.monotonic() + wait
    place = _in_file if db.is_sqlite else _in_postgresql
    while True:
        with place(db, project_id) as ours:
            if ours:
                yield
                return
        if time.monotonic() >= until:
            raise Conflict(
                "Another import into this project is under way. Nothing was changed. Try again when it ends."
            )
        time.sleep(_LOOK_SECONDS)


@contextmanager
def _in_file(db: Database, project_id: int) -> Iterator[bool]:
    path = Path(f"{db.url.database}-import-{project_id}")
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        # Whoever had the place before may have taken the file away, and a lock on that one would keep nobody out.
        ours = taken(handle) and os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        ours = False
    try:
        yield ours
    finally:
        if ours:
            path.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def _in_postgresql(db: Database, project_id: int) -> Iterator[bool]:
    with connected(db) as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        query = f"SELECT pg_try_advisory_lock({_LOCK_SPACE}, {int(project_id)})"
        yield bool(connection.exec_driver_sql(query).scalar_one())


# Taking turns ---------------------------------------------------------------------------------------------------------


def rows_a_turn(db: Database) -> int:
    """How many rows a turn may write."""
    return ROWS_A_TURN if db.is_sqlite else ROWS_A_TURN_UNLOCKED


def parts_at_first(db: Database) -> int:
    """How many times the rows of a turn the first one may write, when it is not known yet whether others write."""
    return PARTS_ALONE if db.is_sqlite else 1


class Turns:
    """Short writing transactions with a rest between them, in which others get at SQLite's one lock.

    The rest is as long as a submit needs while others write, and shorter while nobody does. What is written in turns is
    seen only when the batch is published, so a turn does not wait for the disk; publishing does, for all of it.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._engine = unpooled(db)
        self._connection: Connection = self._engine.connect()
        self._version: int | None = None
        self._others_wrote = float("-inf")
        self._held = 0.0
        if db.is_sqlite:
            plain = self._connection.connection.dbapi_connection
            assert plain is not None
            for pragma in ("synchronous=NORMAL", f"cache_size=-{_CACHE_KIB}"):
                plain.execute(f"PRAGMA {pragma}")

    @property
    def parts(self) -> int:
        """How many times the rows of a turn may be written in one: more while nobody else writes."""
        return 1 if self._beside else parts_at_first(self._db)

    @property
    def _beside(self) -> bool:
        return time.monotonic() - self._others_wrote < _REMEMBER_SECONDS

    @contextmanager
    def turn(self) -> Iterator[Session]:
        """One writing transaction, after a rest."""
        if not self._db.is_sqlite:
            with self._db.write(on=self._connection) as session:
                yield session
            return
        time.sleep(max(_REST_BESIDE, self._held) if self._beside else _REST_ALONE)
        with self._db.write(on=self._connection) as session:
            begun = time.monotonic()
            version = session.connection().exec_driver_sql("PRAGMA data_version").scalar_one()
            if self._version is not None and version != self._version:
                self._others_wrote = begun
            self._version = version
            yield session
        self._held = time.monotonic() - begun

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
        self._engine.dispose()


# What a broken-off import leaves --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BrokenOff:
    """An import that was broken off and whose rows are still there."""

    batch_id: int
    project_id: int
    source: str


def broken_off(db: Database, project_id: int | None = None) -> list[BrokenOff]:
    """The batches (of a project) that are not published and not cleared; one may be of an import under way."""
    query = (
        "SELECT b.id, b.project_id, b.source FROM batch b JOIN unpublished_batch u ON u.batch_id = b.id "
        "WHERE u.cleared_at IS NULL"
    )
    with db.glance() as connection:
        if project_id is not None:
            query += f" AND b.project_id = {mark(connection)}"
        rows = connection.exec_driver_sql(f"{query} ORDER BY b.id", () if project_id is None else (project_id,))
        return [BrokenOff(*row) for row in rows]


def clear_broken_off(db: Database, project_id: int, *, actor: Actor | None, data_folder: Path | None) -> int:
    """Remove what broken-off imports into a project have left; how many. The caller has the project's place.

    `actor` is None where the program does it of itself. Without `data_folder` the bytes of documents stay.
    """
    found = broken_off(db, project_id)
    if found:
        with closing(Turns(db)) as turns:
            for left in found:
                _clear(db, turns, left, actor, data_folder)
    return len(found)


def clear_all_broken_off(db: Database, *, data_folder: Path) -> list[str]:
    """Remove what broken-off imports into any project have left; the sources. One that is under way is left alone."""
    cleared = []
    for project_id in sorted({left.project_id for left in broken_off(db)}):
        with suppress(Conflict), only_import(db, project_id, wait=0):
            found = broken_off(db, project_id)
            clear_broken_off(db, project_id, actor=None, data_folder=data_folder)
            cleared += [left.source for left in found]
    return cleared


def _clear(db: Database, turns: Turns, broken_off: BrokenOff, actor: Actor | None, data_folder: Path | None) -> None:
    """Remove a batch's rows in short transactions, children first; the batch itself stays, so that its id does."""
    batch = broken_off.batch_id
    with db.read() as session:
        runs = list(session.execute(pick(Run.id).where(col(Run.batch_id) == batch)).scalars())
        scores = list(session.execute(pick(Score.id).where(col(Score.run_id).in_(runs))).scalars()) if runs else []
        versions = list(session.execute(pick(ItemVersion.id).where(col(ItemVersion.batch_id) == batch)).scalars())
        items = list(session.execute(pick(Item.id).where(col(Item.batch_id) == batch)).scalars())
        documents = list(session.execute(pick(Document.id).where(col(Document.batch_id) == batch)).scalars())
    for ids, remove in (
        (scores, _deleted_from("score")),
        (runs, _deleted_from("run")),
        (versions, _without_versions),
        (items, _without_items),
        (documents, lambda session, some: _without_documents(session, some, data_folder)),
    ):
        step = max(1, rows_a_turn(db) // _ROWS_OF_AN_ITEM)
        for start in range(0, len(ids), step):
            with turns.turn() as session:
                remove(session, ids[start : start + step])
    with db.write() as session:
        session.get_one(UnpublishedBatch, batch).cleared_at = now()
        details = {"source": broken_off.source, "items": len(versions), "documents": len(documents)}
        session.add(
            Event(
                person_id=actor.person_id if actor else None, via=actor.via if actor else "cli",
                project_id=broken_off.project_id, kind="broken-off import cleared", thing="batch", thing_id=batch,
                details=details,
            )
        )  # fmt: skip


def _deleted_from(table: str) -> Callable[[Session, Sequence[int]], None]:
    return lambda session, ids: _run(session, f"DELETE FROM {table} WHERE {{}}", "id", ids)


def _without_versions(session: Session, ids: Sequence[int]) -> None:
    for table in ("item_document", "evidence", "claim", "image"):
        _run(session, f"DELETE FROM {table} WHERE {{}}", "item_version_id", ids)
    _run(session, "DELETE FROM item_version WHERE {}", "id", ids)


def _without_items(session: Session, ids: Sequence[int]) -> None:
    """Items that were there before go back to the batch of their latest version; others go, with their questions."""
    earlier = "SELECT v.batch_id FROM item_version v WHERE v.item_id = item.id"
    latest = f"{earlier} AND v.batch_id IS NOT NULL ORDER BY v.number DESC LIMIT 1"
    _run(session, f"UPDATE item SET batch_id = ({latest}) WHERE EXISTS ({earlier}) AND {{}}", "id", ids)
    condition, values = in_clause(session, "i.id", ids)
    connection = session.connection()
    new = f"FROM item i WHERE NOT EXISTS (SELECT 1 FROM item_version v WHERE v.item_id = i.id) AND {condition}"
    rows = connection.exec_driver_sql(f"SELECT i.id, i.question_id {new}", values).fetchall()
    _run(session, "DELETE FROM item WHERE {}", "id", [item_id for item_id, _ in rows])
    unused = "NOT EXISTS (SELECT 1 FROM item i WHERE i.question_id = question.id)"
    _run(session, f"DELETE FROM question WHERE {unused} AND {{}}", "id", sorted({key for _, key in rows}))


def _without_documents(session: Session, ids: Sequence[int], data_folder: Path | None) -> None:
    digests = session.execute(pick(Document.sha256).where(col(Document.id).in_(ids), col(Document.sha256).is_not(None)))
    found = sorted(set(digests.scalars()))
    _run(session, "DELETE FROM document WHERE {}", "id", ids)
    if data_folder is not None:
        forget_bytes(session, data_folder, found)


def forget_bytes(session: Session, data_folder: Path, digests: Sequence[str]) -> None:
    """Remove stored bytes that no document has, in a transaction of the caller's, so that none comes meanwhile."""
    claim_bytes(session, alone=True)
    held = set(session.execute(pick(Document.sha256).where(col(Document.sha256).in_(digests))).scalars())
    for path in (document_file(data_folder, digest) for digest in digests if digest not in held):
        if path.is_file():
            path.unlink()


def _run(session: Session, statement: str, column: str, ids: Sequence[Any]) -> None:
    if ids:
        condition, values = in_clause(session, column, ids)
        session.connection().exec_driver_sql(statement.format(condition), values)
