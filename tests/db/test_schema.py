"""Which revision a database is at and which one this version needs, also when several processes make it at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import psycopg
import pytest
from alembic.script import ScriptDirectory
from sqlmodel import select

from db import schema
from db.engine import Database
from db.models import Account, Event
from db.revisions import MIGRATIONS, head_revision
from tests import postgresql
from tests.conftest import ROOT

AT_ONCE = 4


def test_a_revision_is_the_number_its_file_begins_with() -> None:
    """By which a database that is up to date is known without loading Alembic."""
    scripts = ScriptDirectory(str(MIGRATIONS))
    assert head_revision() == scripts.get_current_head()
    for revision in scripts.walk_revisions():
        assert revision.module.__file__
        assert revision.revision in revision.module.__file__


def test_a_database_that_is_not_what_its_revision_says_is_said_to_be_so(sqlite_database: Database) -> None:
    with sqlite_database.write() as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = '0009'")
    with pytest.raises(schema.OtherSchema, match=r"revision 0009, and is not as Assay made that \(.*already exists"):
        schema.migrate(sqlite_database)
    assert schema.current_revision(sqlite_database) == "0009"


_numbers = count()


def initialised_at_once(home: Path, url: str) -> list[dict[str, object]]:
    """What several `assay init` print that begin in the same moment: each waits for a line before it does anything."""
    code = "import sys\nfrom app.cli import main\nsys.stdin.readline()\nmain(sys.argv[1:])"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, "--home", str(home), "init", "--json"],
            cwd=ROOT,
            env={**os.environ, "ASSAY_DATABASE_URL": url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(AT_ONCE)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [(process.communicate(timeout=240), process.returncode) for process in processes]
    for (_, err), code_ in said:
        assert (code_, err) == (0, "")
    return [json.loads(out) for (out, _), _ in said]


def check_begun_once(answers: list[dict[str, object]], database: Database) -> None:
    assert sorted(bool(answer["created"]) for answer in answers) == [False] * (AT_ONCE - 1) + [True]
    assert [answer["created"] for answer in answers if answer["sign_in"]] == [True], (
        "one address, printed by who made the account"
    )
    assert schema.current_revision(database) == head_revision()
    assert schema.missing_tables(database) == []
    with database.read() as session:
        assert session.exec(select(Account.name)).all() == ["admin"]
        assert len(session.exec(select(Event).where(Event.kind == "person added")).all()) == 1


@pytest.mark.slow
def test_of_several_that_begin_a_sqlite_database_at_once_one_makes_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'home' / 'assay.db'}"
    answers = initialised_at_once(tmp_path / "home", url)
    database = Database(url)
    check_begun_once(answers, database)
    database.dispose()


@pytest.mark.slow
def test_of_several_that_begin_a_postgresql_database_at_once_one_makes_it(
    postgresql_server: postgresql.Server, tmp_path: Path
) -> None:
    name = f"begun_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(postgresql_server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = postgresql_server.url(name)
    answers = initialised_at_once(tmp_path / "home", url)
    database = Database(url)
    check_begun_once(answers, database)
    database.dispose()
    with psycopg.connect(postgresql_server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
