"""Small pieces of queries that run on SQLite and PostgreSQL alike, for rows in bulk through the driver."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import compress
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, CursorResult, Select, Table, select
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, SQLModel


def pick(*columns: Any) -> Select[Any]:
    """A select of some columns; SQLModel gives them types that `select` does not accept more than a few of."""
    return select(*columns)


def table_of(model: type[SQLModel]) -> Table:
    """The plain table behind a model, for statements that make no objects."""
    found: Table = model.__table__  # type: ignore[attr-defined]
    return found


def is_sqlite(session: Session) -> bool:
    """Whether the session's database is SQLite (else PostgreSQL)."""
    return session.get_bind().dialect.name == "sqlite"


def mark(connection: Connection) -> str:
    """How the driver marks a parameter."""
    return "?" if connection.dialect.name == "sqlite" else "%s"


def plain_rows(session: Session, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All rows of a query that is given as text, as the driver gives them."""
    return driver_rows(session.connection().exec_driver_sql(sql, parameters))


def driver_rows(result: CursorResult[Any]) -> list[tuple[Any, ...]]:
    """All rows as the driver gives them, JSON on SQLite as text: SQLAlchemy's rows cost as much again as reading."""
    connection, cursor = result.connection, result.cursor
    assert cursor is not None
    kind = connection.dialect.loaded_dbapi.Error
    try:
        return list(cursor.fetchall())
    except kind as error:  # as SQLAlchemy would raise it, so that it is explained in words (db/engine.py)
        raise DBAPIError.instance(None, None, error, kind, hide_parameters=True, dialect=connection.dialect) from error
    finally:
        result.close()


class Where(NamedTuple):
    """A column of `plain_columns` that is asked for only of some rows."""

    column: str
    condition: str


def plain_columns(
    session: Session, columns: Sequence[str | Where], source: str, parameters: tuple[Any, ...] = ()
) -> list[list[Any]]:
    """The columns of `SELECT columns source`, each a list as `plain_rows` has its cells; rows in no order, one for all.

    On SQLite this takes a third of the time, as no row is made in Python. A column of fractions is to be asked for as
    text there (`quote`): as JSON they have fifteen digits. A column `Where` is shorter: it has the rows that it is of.
    """
    if is_sqlite(session):
        whole = ", ".join(
            f"json_group_array({column})"
            if isinstance(column, str)
            else f"json_group_array({column.column}) FILTER (WHERE {column.condition})"
            for column in columns
        )
        [row] = plain_rows(session, f"SELECT {whole} {source}", parameters)
        return [orjson.loads(cells) for cells in row]
    asked = [cell for column in columns for cell in ([column] if isinstance(column, str) else column)]
    rows = plain_rows(session, f"SELECT {', '.join(asked)} {source}", parameters)
    found = iter([list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in asked])
    return [next(found) if isinstance(column, str) else list(compress(next(found), next(found))) for column in columns]


_FEW = 8
"""Values that are listed one by one, which SQLite reads sooner than a list in JSON."""


def in_clause(session: Session, column: str, values: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """`column IN (…)` for any number of values, as text and the parameters for the driver."""
    if is_sqlite(session):
        if len(values) <= _FEW:
            return f"{column} IN ({', '.join('?' * len(values))})", tuple(values)
        return f"{column} IN (SELECT value FROM json_each(?))", (orjson.dumps(list(values)).decode(),)
    return f"{column} = ANY(%s)", (list(values),)


def database_time(session: Session, moment: datetime) -> Any:
    """A moment in UTC as the driver stores it."""
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f") if is_sqlite(session) else moment


def fresh_ids(session: Session, table: str, n: int) -> Sequence[int]:
    """n ids that no row of the table has, for rows that others refer to; inside the caller's writing transaction."""
    connection = session.connection()
    if is_sqlite(session):  # the one writer there is
        first = connection.exec_driver_sql(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").scalar_one()
        return range(first, first + n)
    sequence = f"nextval(pg_get_serial_sequence('{table}', 'id'))"
    rows = connection.exec_driver_sql(f"SELECT {sequence} FROM generate_series(1, %s)", (n,))
    return sorted(rows.scalars())
