"""Pieces of queries that run on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import DBAPIError

from db.engine import Database, insert_many
from db.query import mark, plain_rows


def test_plain_rows_are_those_of_the_session_s_own_transaction(database: Database) -> None:
    with database.write() as session:
        session.connection().exec_driver_sql("INSERT INTO project (name, created_at) VALUES ('new', '2026-01-01')")
        found = plain_rows(session, f"SELECT name, 1 FROM project WHERE name = {mark(session.connection())}", ("new",))
        assert found == [("new", 1)]
        assert type(found[0]) is tuple


def test_a_query_that_fails_behind_its_first_row_fails_as_others_do(database: Database) -> None:
    """The driver's own error would pass by what explains errors of the database in words."""
    sqlite = "SELECT json(value) FROM (SELECT '1' AS value UNION ALL SELECT '{')"
    postgresql = "SELECT value::json FROM (VALUES ('1'), ('{')) AS given (value)"
    with database.read() as session, pytest.raises(DBAPIError):
        plain_rows(session, sqlite if database.is_sqlite else postgresql)


@pytest.mark.parametrize("n", [0, 1, 199, 200, 201, 450])
def test_rows_in_bulk_are_all_stored_in_their_order(database: Database, n: int) -> None:
    rows = [(number, f"p{number}", "2026-01-01") for number in range(1, n + 1)]
    with database.write() as session:
        insert_many(session.connection(), "project", ["id", "name", "created_at"], rows)
    with database.read() as session:
        assert plain_rows(session, "SELECT id, name FROM project ORDER BY id") == [row[:2] for row in rows]
