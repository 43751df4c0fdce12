"""What an earlier version made: its database is brought up to date, and everything in it leaves as it did then.

`tests/data/earlier` has the database (as SQL) of a version before files lay in rooms, with a study of three annotators,
an adjudicator and four items, and the export that this version wrote of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from db import schema
from db.engine import Database
from db.models import Study
from db.people.accounts import actor_named
from db.permissions import Actor
from db.revisions import head_revision
from db.studies.design import find_study
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against, verify_folder
from exports.importing.items import import_paths
from tests.makers import make_person, make_project

EARLIER = Path(__file__).parents[2] / "data/earlier"
PROJECT = 1
FILES = ("labels.csv", "adjudicated.csv", "native/items.jsonl", "native/documents.jsonl")


@pytest.fixture
def there(tmp_path: Path) -> Iterator[tuple[Database, Actor]]:
    """The database as today's version opens it, and the researcher of its project."""
    path = tmp_path / "assay.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript((EARLIER / "database.sql").read_text())
    db = Database(f"sqlite:///{path}")
    assert schema.current_revision(db) == "0005"
    assert schema.migrate(db, backups=tmp_path / "backups")
    yield db, actor_named(db, "person2")
    db.dispose()


def test_its_database_is_brought_up_to_date_and_gives_the_same_export(
    there: tuple[Database, Actor], tmp_path: Path
) -> None:
    db, actor = there
    assert schema.current_revision(db) == head_revision()
    study = find_study(db, actor, PROJECT, name="study")
    with db.read() as session:
        assert len(session.get_one(Study, study).secret) == 32
    export_project(db, actor, PROJECT, to=tmp_path / "out", study_id=study, names=True)
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (EARLIER / "export" / name).read_bytes(), name


def test_its_export_is_verified_by_itself_and_against_the_database(there: tuple[Database, Actor]) -> None:
    assert verify_folder(EARLIER / "export").ok
    assert verify_against(*there, EARLIER / "export").ok


def test_its_export_can_be_imported_and_is_the_same_again(sqlite_database: Database, tmp_path: Path) -> None:
    actor, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    report = import_paths(
        sqlite_database, actor, project, paths=[EARLIER / "export/native"], format_name="native", data_folder=tmp_path
    )
    assert (report.added, report.rejected) == (4, [])
    export_project(sqlite_database, actor, project, to=tmp_path / "out", formats=("native",))
    items = "native/items.jsonl"
    assert (tmp_path / "out" / items).read_bytes() == (EARLIER / "export" / items).read_bytes()
