"""A backup that is put back is whole: the newest changes in the log beside it, and every page of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy import text

from annotators.errors import InvalidInput
from db.engine import Database, DatabaseBusy, as_one
from db.upkeep.backups import back_up, restore
from tests.db.test_waiting import held, impatient
from tests.makers import first_administrator, make_project


def names(db: Database) -> list[str]:
    with db.read() as session:
        return list(session.execute(text("SELECT name FROM project ORDER BY id")).scalars())


def test_a_copy_of_a_database_in_use_is_put_back_with_the_log_beside_it(
    sqlite_database: Database, tmp_path: Path
) -> None:
    actor = first_administrator(sqlite_database)
    make_project(sqlite_database, "before")
    path, copy = Path(str(sqlite_database.url.database)), tmp_path / "copy.db"
    with sqlite_database.write() as session:
        session.execute(text("SELECT 1"))
    make_project(sqlite_database, "in the log alone")
    for ending in ("", "-wal"):
        shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
    make_project(sqlite_database, "after")
    restore(sqlite_database, actor, source=copy, backups=tmp_path / "backups")
    assert names(sqlite_database) == ["before", "in the log alone"]


def test_a_backup_with_a_damaged_page_in_its_middle_is_refused_and_nothing_is_replaced(
    sqlite_database: Database, tmp_path: Path
) -> None:
    actor = first_administrator(sqlite_database)
    make_project(sqlite_database, "kept")
    copy = back_up(sqlite_database, actor, target=tmp_path / "copy.db")
    with sqlite_database.glance() as connection:
        page = connection.execute(text("SELECT rootpage FROM sqlite_master WHERE name = 'project'")).scalar_one()
    with copy.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(range(1, 256)) * 16)
    with pytest.raises(InvalidInput, match="no whole SQLite database"):
        restore(sqlite_database, actor, source=copy, backups=tmp_path / "backups")
    assert names(sqlite_database) == ["kept"]


def test_a_backup_that_cannot_be_logged_is_kept_and_told(sqlite_database: Database, tmp_path: Path) -> None:
    actor = first_administrator(sqlite_database)
    make_project(sqlite_database, "kept")
    db, copy = impatient(sqlite_database, 0.2), tmp_path / "copy.db"
    with held(sqlite_database), as_one(), pytest.raises(DatabaseBusy, match=r"was written and is whole\.") as busy:
        back_up(db, actor, target=copy)
    db.dispose()
    assert "Nothing was changed" not in str(busy.value)
    restore(sqlite_database, actor, source=copy, backups=tmp_path / "backups")
