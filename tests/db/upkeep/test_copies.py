"""Which copy is proposed for a database that is lost, what is said of it, and what it lacks."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from app.settings import Settings
from db.engine import Database
from db.upkeep.backups import back_up, restore
from db.upkeep.copies import ELSEWHERE, KeptCopy, compare, lacking, look_into, newest_whole, note_made
from tests.makers import StudyInUse, first_administrator, make_project


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def kept(path: Path) -> KeptCopy:
    copy = look_into(path)
    assert copy is not None
    return copy


def damage(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(range(1, 256)) * 40)


def test_the_newest_is_the_one_that_goes_furthest_wherever_it_lies_and_whatever_its_date(
    sqlite_database: Database, tmp_path: Path, backups: Path
) -> None:
    actor = first_administrator(sqlite_database)
    made = []
    for number, place in enumerate((backups, tmp_path / "other disk", tmp_path / "other disk", backups, backups)):
        make_project(sqlite_database, f"p{number}")
        made.append(back_up(sqlite_database, actor, target=place / f"b{number}.db", backups=backups))
    assert (backups / ELSEWHERE).read_text().splitlines() == [str(made[1]), str(made[2])]
    os.utime(made[0])  # copied about

    def newest() -> Path | None:
        found = newest_whole(backups)
        return None if found is None else found.path

    assert newest() == made[4]
    with closing(sqlite3.connect(made[4])) as file:
        for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f'DROP TRIGGER "{name}"')
        file.commit()
    assert newest() == made[3], "nothing protects what is in the other one, and restore refuses it"
    damage(made[3])
    assert newest() == made[2]
    with closing(sqlite3.connect(made[2])) as file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")
        file.commit()
    assert newest() == made[1], "a newer version made the other one"
    made[1].unlink()
    assert newest() == made[0]
    made[0].write_bytes(b"")
    assert newest() is None
    assert "No whole backup is known here" in Settings.load({}, home=tmp_path).restore_advice


def test_a_proposal_says_until_when_the_backup_goes(sqlite_database: Database, tmp_path: Path, backups: Path) -> None:
    study = StudyInUse(sqlite_database, items=2, annotators=1, overlap=1)
    study.label_all(0)
    path = back_up(sqlite_database, first_administrator(sqlite_database), target=backups / "b.db")
    advice = Settings.load({}, home=tmp_path).restore_advice
    assert "The newest whole backup holds what was there until 20" in advice
    assert "2 labels. Stop the server, then: assay --home" in advice
    assert advice.endswith(f"restore {path}")
    copy = kept(path)
    later = copy.until + timedelta(hours=3, minutes=5)
    assert "(3 h 05 min ago), 2 labels" in copy.in_words(later)
    assert {path.name for path in backups.iterdir()} == {"b.db"}, "nothing was put beside it"


def test_what_a_backup_lacks_is_counted_and_said_before_it_is_put_back(
    sqlite_database: Database, tmp_path: Path, backups: Path
) -> None:
    study = StudyInUse(sqlite_database, items=3, annotators=2, overlap=2)
    actor = first_administrator(sqlite_database)
    study.label_all(0)
    path = back_up(sqlite_database, actor, target=tmp_path / "b.db")
    database = Path(str(sqlite_database.url.database))
    assert compare(path, database).in_words().endswith("It lacks no label and no decision.")
    assert study.label_all(1) == 3
    lacks = lacking(kept(path), database)
    assert lacks is not None
    assert (lacks.labels, lacks.submissions, lacks.decisions) == (3, 3, 0)
    told: list[str] = []

    def tell(words: str) -> None:
        assert lacking(kept(path), database) == lacks, "nothing is replaced yet"
        told.append(words)

    done = restore(sqlite_database, actor, source=path, backups=backups, tell=tell)
    assert len(told) == 1
    assert told[0].startswith(f"{path} holds what was there until ")
    assert told[0].endswith("It lacks 3 labels of 3 submissions that came since.")
    assert done.holds.to_json()["lacks"] == {"labels": 3, "submissions": 3, "decisions": 0}
    assert done.before is not None
    assert kept(done.before).labels == 6
    assert kept(database).labels == 3


def test_labels_that_came_with_an_import_are_missed_though_they_are_older(
    sqlite_database: Database, tmp_path: Path
) -> None:
    study = StudyInUse(sqlite_database, items=3, annotators=2, overlap=2)
    study.label_all(0)
    path = back_up(sqlite_database, first_administrator(sqlite_database), target=tmp_path / "b.db")
    study.label_all(1)
    sqlite_database.dispose()
    database = tmp_path / "older.db"
    shutil.copyfile(str(sqlite_database.url.database), database)
    with closing(sqlite3.connect(database)) as file:
        file.execute("DROP TRIGGER keep_submission_update")
        file.execute("UPDATE submission SET created_at = '2001-01-01 00:00:00.000000' WHERE id > 3")
        file.commit()
    lacks = lacking(kept(path), database)
    assert lacks is not None
    assert lacks.submissions == 3


def test_an_empty_file_is_not_looked_into_as_its_log_would_go(tmp_path: Path, sqlite_database: Database) -> None:
    path = back_up(sqlite_database, first_administrator(sqlite_database), target=tmp_path / "b.db")
    empty = tmp_path / "empty.db"
    empty.touch()
    Path(f"{empty}-wal").write_bytes(b"log")
    assert "What it lacks is not known" in compare(path, empty).in_words()
    assert Path(f"{empty}-wal").read_bytes() == b"log"


def test_a_place_is_noted_once(tmp_path: Path, backups: Path) -> None:
    for name in ("a.db", "a.db", "b\udcff.db"):
        note_made(backups, tmp_path / name)
    note_made(backups, backups / "here.db")
    assert len((backups / ELSEWHERE).read_bytes().splitlines()) == 2
