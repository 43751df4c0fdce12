"""A backup is checked for what protects it: without its guards, or with things of strangers, it is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from annotators.errors import InvalidInput
from app.cli.doctor import examine
from app.settings import Settings
from db import guards, schema
from db.engine import Database
from db.upkeep import protection
from db.upkeep.backups import back_up, replace_unusable, restore
from tests.makers import first_administrator, make_project

MAKES_ADMINISTRATORS = "CREATE TRIGGER keep_order AFTER INSERT ON event BEGIN UPDATE person SET is_admin = 1; END"

CHANGES = {
    "no guards": ("rows of", *(f"DROP TRIGGER {name}" for names in guards.on_sqlite().values() for name in names)),
    "one guard less": ("rows of", "DROP TRIGGER keep_annotation_update"),
    "no guard against replacing": ("lacks the triggers", "DROP TRIGGER keep_annotation_replace"),
    "a guard that keeps nothing": (
        "has other triggers",
        "DROP TRIGGER keep_label_update",
        "CREATE TRIGGER keep_label_update BEFORE UPDATE ON label WHEN 0 BEGIN SELECT RAISE(ABORT, 'no'); END",
    ),
    "a trigger that makes administrators": ("has foreign triggers", MAKES_ADMINISTRATORS),
    "a view": ("has foreign views", "CREATE VIEW everybody AS SELECT * FROM account"),
    "a table": ("has foreign tables", "CREATE TABLE mine (id INTEGER)"),
    "an index": ("has foreign indexes", "CREATE INDEX mine ON person (is_admin)"),
    "a column": ("has other tables", "ALTER TABLE person ADD COLUMN mine TEXT"),
    "a rule less": (
        "has other tables",
        "PRAGMA writable_schema = 1",
        "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'account'",
    ),
}


def change(path: Path, *statements: str) -> None:
    """Do to a file what somebody did who had it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for statement in statements:
            file.execute(statement)


@pytest.mark.parametrize("name", CHANGES)
def test_a_backup_that_somebody_changed_is_refused_and_nothing_is_replaced(
    sqlite_database: Database, tmp_path: Path, name: str
) -> None:
    actor, (said, *statements) = first_administrator(sqlite_database), CHANGES[name]
    make_project(sqlite_database, "kept")
    copy = back_up(sqlite_database, actor, target=tmp_path / "copy.db")
    change(copy, *statements)
    make_project(sqlite_database, "later")
    with pytest.raises(InvalidInput, match=said):
        restore(sqlite_database, actor, source=copy, backups=tmp_path / "backups")
    with pytest.raises(InvalidInput, match=said):
        replace_unusable(sqlite_database, source=copy)
    with sqlite_database.read() as session:
        assert session.execute(text("SELECT count(*) FROM project")).scalar_one() == 2


def test_the_doctor_says_what_somebody_changed(tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path)
    settings.prepare()
    db = Database(settings.database)
    schema.migrate(db)
    first_administrator(db)
    assert examine(settings)["problems"] == []
    change(tmp_path / "assay.db", MAKES_ADMINISTRATORS, "DROP TRIGGER keep_annotation_delete")
    problems = "\n".join(examine(settings)["problems"])
    assert "has foreign triggers keep_order" in problems
    assert "lacks the triggers keep_annotation_delete" in problems


def test_the_guards_of_either_database_are_those_that_are_made(database: Database) -> None:
    assert protection.amiss(database) == []
    with database.write() as session:
        guards.remove(session.connection())
    said = " ".join(protection.amiss(database))
    assert "lacks the triggers" in said
