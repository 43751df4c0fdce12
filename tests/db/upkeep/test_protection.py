"""A backup is checked for what protects it: without its guards, or with things of strangers, it is refused."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from annotators.errors import InvalidInput
from app.cli.doctor import examine
from app.settings import Settings
from db import guards, schema
from db.engine import Database, connected
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


REFUSES_NOTHING = "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
PROMOTES = (
    "CREATE FUNCTION promoted() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN UPDATE person SET is_admin = true; RETURN NULL; END $$"
)
GUARD = (
    "keep_label BEFORE UPDATE OR DELETE OR TRUNCATE ON label FOR EACH STATEMENT EXECUTE FUNCTION assay_refuse_change()"
)

ON_POSTGRESQL = {
    "a guard that calls another function": (
        "has other triggers label.keep_label",
        REFUSES_NOTHING,
        "DROP TRIGGER keep_label ON label",
        f"CREATE TRIGGER {GUARD.replace('assay_refuse_change', 'nothing')}",
    ),
    "the function of all guards does nothing": (
        "has other triggers adjudicated_label.keep_adjudicated_label, adjudication.keep",
        "CREATE OR REPLACE FUNCTION assay_refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN NULL; END $$",
    ),
    "the function of one guard lets all go": (
        "has other triggers score.keep_score_delete",
        "CREATE OR REPLACE FUNCTION assay_refuse_delete_of_score() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN OLD; END $$",
    ),
    "a guard of fewer changes": (
        "has other triggers label.keep_label",
        "DROP TRIGGER keep_label ON label",
        f"CREATE TRIGGER {GUARD.replace('UPDATE OR ', '')}",
    ),
    "a guard of one column": (
        "has other triggers label.keep_label",
        "DROP TRIGGER keep_label ON label",
        f"CREATE TRIGGER {GUARD.replace('UPDATE OR DELETE OR TRUNCATE', 'UPDATE OF id OR DELETE OR TRUNCATE')}",
    ),
    "a guard that is off": ("has other triggers label.keep_label", "ALTER TABLE label DISABLE TRIGGER keep_label"),
    "a trigger that makes administrators": (
        "has foreign triggers event.later",
        PROMOTES,
        "CREATE TRIGGER later AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION promoted()",
    ),
    "a rule": ("has foreign rules label.quiet", "CREATE RULE quiet AS ON UPDATE TO label DO INSTEAD NOTHING"),
    "a column": ("has other tables person", "ALTER TABLE person ADD COLUMN mine text"),
    "a column of another type": (
        "has other tables account",
        "ALTER TABLE account ALTER COLUMN name TYPE bytea USING ''",
    ),
    "a key less": ("has other tables account", "ALTER TABLE account DROP CONSTRAINT account_name_key"),
    "rows that are hidden": ("has other tables label", "ALTER TABLE label ENABLE ROW LEVEL SECURITY"),
}


@pytest.mark.slow
def test_on_postgresql_guards_are_compared_by_what_they_do(postgresql_database: Database) -> None:
    """Each change is undone with its transaction, so that one database serves for all."""
    assert protection.amiss(postgresql_database) == []
    for name, (said, *statements) in ON_POSTGRESQL.items():
        with connected(postgresql_database) as connection, connection.begin() as done:
            for statement in statements:
                connection.exec_driver_sql(statement)
            found = protection.of_postgresql(connection)
            done.rollback()
        assert len(found) == 1, name
        assert re.search(said, found[0]), (name, found)


@pytest.mark.slow
def test_tables_of_others_on_postgresql_are_their_own_affair(postgresql_database: Database) -> None:
    with postgresql_database.write() as session:
        session.execute(text("CREATE TABLE theirs (id integer)"))
    assert protection.amiss(postgresql_database) == []
