"""One exclusion: whoever has the database open keeps out who would replace it, and is kept out meanwhile."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from annotators.errors import Conflict
from db.engine import Database, DatabaseBusy
from db.schema import migrate
from db.upkeep.backups import back_up, replace_unusable, restore
from tests.db.test_waiting import impatient
from tests.makers import first_administrator, make_project

ROOT = Path(__file__).parents[3]


def path_of(db: Database) -> Path:
    return Path(str(db.url.database))


@contextmanager
def another_process(db: Database, *, stopped: bool = False) -> Iterator[int]:
    """A process that has looked into the database once, and does nothing any more."""
    look = (
        "import sys; from db.engine import Database; from db.schema import current_revision\n"
        "db = Database('sqlite:///' + sys.argv[1]); current_revision(db); print('there', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", look, str(path_of(db))],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "there\n"
    try:
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def test_nobody_restores_while_another_process_has_the_database_open(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.engine.ALONE_SECONDS", 0.1)
    actor = first_administrator(sqlite_database)
    copy = back_up(sqlite_database, actor, target=tmp_path / "copy.db")
    make_project(sqlite_database, "later")
    with another_process(sqlite_database) as pid:
        with pytest.raises(Conflict, match=rf"Others have the database open \(process {pid}\).* Nothing was changed"):
            restore(sqlite_database, actor, source=copy, backups=tmp_path / "backups")
        with pytest.raises(Conflict, match="Stop them"):
            replace_unusable(sqlite_database, source=copy)
        assert not (tmp_path / "backups").exists()
    restore(sqlite_database, actor, source=copy, backups=tmp_path / "backups")  # a killed one is gone at once
    assert not list(path_of(sqlite_database).parent.glob(".assay-under-way-*"))


@pytest.mark.parametrize("usable", [True, False])
def test_nobody_restores_under_a_program_that_is_not_ours(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usable: bool
) -> None:
    """Such as sqlite3, or the server of a version that knows nothing of the lock."""
    monkeypatch.setattr("db.upkeep.backups.ALONE_SECONDS", 0.1)
    actor = first_administrator(sqlite_database)
    copy = back_up(sqlite_database, actor, target=tmp_path / "copy.db")
    held = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM project').fetchall()\n"
        "print('there', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", held, str(path_of(sqlite_database))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        with pytest.raises(Conflict, match=r"Another program has .* open, such as sqlite3"):
            if usable:
                restore(sqlite_database, actor, source=copy, backups=tmp_path / "backups")
            else:
                replace_unusable(sqlite_database, source=copy)
        process.communicate()
    assert path_of(sqlite_database).is_file()


def test_whoever_comes_while_the_database_is_replaced_waits_and_is_told(sqlite_database: Database) -> None:
    other = impatient(sqlite_database, 0.1)
    with sqlite_database.alone():
        with pytest.raises(DatabaseBusy, match="another program replaces it"):
            make_project(other)
        with pytest.raises(DatabaseBusy):
            other.enter()
        patient, made = impatient(sqlite_database, 20), threading.Event()
        waiting = threading.Thread(target=lambda: (make_project(patient), made.set()))
        waiting.start()
        make_project(sqlite_database)  # who has it alone works
        assert not made.wait(0.2)
    assert made.wait(20)
    waiting.join()
    for db in (other, patient):
        db.dispose()
    with sqlite_database.alone():
        pass


def test_who_had_the_database_alone_is_present_among_others_afterwards(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.engine.ALONE_SECONDS", 0.1)
    make_project(sqlite_database)
    with sqlite_database.alone():
        pass
    other = impatient(sqlite_database, 1)
    make_project(other)
    with pytest.raises(Conflict), other.alone():
        raise AssertionError("two have it")
    other.dispose()


def test_where_no_lock_can_be_had_nothing_is_replaced_and_everybody_works(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = first_administrator(sqlite_database)
    copy = back_up(sqlite_database, actor, target=tmp_path / "copy.db")
    sqlite_database.dispose()
    lock = Path(f"{path_of(sqlite_database)}-lock")
    lock.unlink()
    lock.symlink_to("/proc/self/no-such-folder/lock")  # a place where no file can be made
    make_project(sqlite_database, "works")
    with pytest.raises(Conflict, match=r"takes no lock \(.*\)\. Nothing was changed\. Have the home folder on a local"):
        restore(sqlite_database, actor, source=copy, backups=tmp_path / "backups")


def test_a_database_that_others_have_open_is_not_migrated_under_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.engine.ALONE_SECONDS", 0.1)
    old = Database(f"sqlite:///{tmp_path / 'assay.db'}")
    migrate(old, revision="0014")
    new = Database(f"sqlite:///{tmp_path / 'assay.db'}")
    with pytest.raises(Conflict, match="Others have the database open"):
        migrate(new, backups=tmp_path / "backups")
    assert not (tmp_path / "backups").exists()
    old.dispose()
    assert migrate(new, backups=tmp_path / "backups")
    [copy] = (tmp_path / "backups").iterdir()
    with closing(sqlite3.connect(copy)) as before:
        assert before.execute("SELECT version_num FROM alembic_version").fetchone() == ("0014",)
    new.dispose()


def test_several_that_bring_a_database_up_to_date_take_turns(tmp_path: Path) -> None:
    old = Database(f"sqlite:///{tmp_path / 'assay.db'}")
    migrate(old, revision="0014")
    old.dispose()
    several = [Database(f"sqlite:///{tmp_path / 'assay.db'}") for _ in range(3)]
    done: list[bool] = []
    threads = [
        threading.Thread(target=lambda db=db: done.append(migrate(db, backups=tmp_path / "backups"))) for db in several
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [False, False, True]
    assert len(list((tmp_path / "backups").iterdir())) == 1
    for db in several:
        db.dispose()


def test_a_copied_home_is_another_place(sqlite_database: Database, tmp_path: Path) -> None:
    make_project(sqlite_database)
    copied = tmp_path / "copied"
    copied.mkdir()
    for path in path_of(sqlite_database).parent.glob(f"{path_of(sqlite_database).name}*"):
        shutil.copy(path, copied)
    there = Database(f"sqlite:///{copied / path_of(sqlite_database).name}")
    with there.alone():
        pass
    there.dispose()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_only_read_is_read(sqlite_database: Database) -> None:
    sqlite_database.dispose()
    folder = path_of(sqlite_database).parent
    Path(f"{path_of(sqlite_database)}-lock").unlink(missing_ok=True)
    folder.chmod(0o500)
    try:
        with sqlite_database.read() as session:
            assert session.connection().exec_driver_sql("SELECT count(*) FROM project").scalar() == 0
    finally:
        folder.chmod(0o700)
