"""Pieces of queries that run on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import DBAPIError

from db.engine import Database
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
