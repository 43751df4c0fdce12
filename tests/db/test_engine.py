"""What the connection to the database keeps to itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from db import schema
from db.engine import Database, DatabaseUnavailable


def test_a_failed_statement_does_not_tell_what_people_wrote(database: Database) -> None:
    expected = DatabaseUnavailable if database.is_sqlite else DBAPIError
    with pytest.raises(expected) as caught, database.write() as session:
        session.execute(text("INSERT INTO nowhere (comment) VALUES (:comment)"), {"comment": "Jo Field is wrong"})
    assert "nowhere" in str(caught.value)
    assert "Jo Field" not in str(caught.value)


def test_a_copy_of_the_database_is_for_its_owner_only(sqlite_database: Database, tmp_path: Path) -> None:
    made = schema.backup(sqlite_database, tmp_path / "backups" / "copy.db")
    assert made.stat().st_mode & 0o777 == 0o600
