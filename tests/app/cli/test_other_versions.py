"""A database of another version, of another program, or none: every command says what it is and names what works."""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from annotators.errors import AssayError, Conflict, NotFound
from db.engine import Database
from db.revisions import head_revision
from db.schema import NewerDatabase, migrate, usable_revision
from exports.notebook import open_home
from tests.app.cli.command_line import CommandLine

COMMANDS = (
    ("init",),
    ("status", "finance", "grading"),
    ("score", "finance", "--scorer", "rouge_l"),
    ("export", "finance", "--to", "out", "--format", "labels"),
    ("export", "nothing", "--to", "out", "--format", "labels"),
    ("project", "list"),
    ("backup",),
    ("serve", "--port", "0"),
)


def _at(path: Path, revision: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    connection.close()


def _words_of_notebook(home: Path | str, kind: type[AssayError]) -> str:
    with pytest.raises(kind) as raised:
        open_home(home)
    return str(raised.value)


def test_of_a_newer_database_every_command_names_the_version_and_what_works(begun: CommandLine, tmp_path: Path) -> None:
    before = begun.json("backup")["backup"]
    begun("project", "create", "later")
    database = begun.home / "assay.db"
    _at(database, "0999")
    newer = begun.home / "backups" / "newer.db"  # made after the update, by the newer version
    newer.write_bytes(database.read_bytes())
    content = database.read_bytes()
    told = [begun(*command, code=5).err for command in COMMANDS]
    told += begun.json("doctor", code=1)["problems"]
    told.append(_words_of_notebook(begun.home, NewerDatabase))
    for said in told:
        assert "A newer version of Assay made the database assay.db: it is at revision 0999" in said
        assert f"knows revisions up to {head_revision()}" in said
        assert "`git pull` and then `make setup`" in said
        named = re.findall(r"assay --home \S+ (\w+)", said)
        assert named == ["restore"]
    assert database.read_bytes() == content
    begun("restore", newer, code=5)
    command = shlex.split(told[0].strip().rpartition("assay ")[2])[2:]
    assert command == ["restore", before]
    done = begun.json(*command)
    assert not done["was_damaged"]
    assert re.fullmatch(r"assay-newer-\d{8}T\d+\.db", Path(done["before"]).name)
    assert Path(done["before"]).read_bytes() == content
    assert [project["project"] for project in begun.json("project", "list")] == ["finance"]
    assert begun.json("doctor")["problems"] == []


def test_of_a_newer_database_a_plain_look_says_so_on_either_kind(database: Database) -> None:
    with database.write() as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = '0999'")
    for refused in (usable_revision, migrate):
        with pytest.raises(NewerDatabase, match=r"revision 0999.* Update Assay .*backup that was made before"):
            refused(database)
    address = database.url.render_as_string(hide_password=False)
    assert "Update Assay" in _words_of_notebook(address, NewerDatabase)


def test_an_earlier_database_is_brought_up_to_date_by_the_command_that_is_named(assay: CommandLine) -> None:
    path = assay.home / "assay.db"
    db = Database(f"sqlite:///{path}")
    migrate(db, revision="0011")
    db.dispose()
    for said in (_words_of_notebook(assay.home, Conflict), assay.json("doctor", code=1)["problems"][0]):
        assert said.startswith("An earlier version of Assay made the database: it is at revision 0011")
        assert re.findall(r"assay --home \S+ (\w+)", said) == ["init"]
    assert "from revision 0011" in assay("init").err
    assert repr(open_home(assay.home)).endswith("for reading")


def _tables_of_others(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title)")
    connection.close()


def _revision_of_others(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num)")
        connection.execute("INSERT INTO alembic_version VALUES ('a1b2c3')")
    connection.close()


@pytest.mark.parametrize("make", [_tables_of_others, _revision_of_others])
def test_a_database_of_another_program_is_left_as_it_is(assay: CommandLine, make: Callable[[Path], None]) -> None:
    assay.home.mkdir(mode=0o700)
    make(assay.home / "assay.db")

    def tables() -> list[tuple[str]]:
        with sqlite3.connect(assay.home / "assay.db") as connection:
            return connection.execute("SELECT name FROM sqlite_master").fetchall()

    before = tables()
    told = [assay(*command, code=5).err for command in COMMANDS] + assay.json("doctor", code=1)["problems"]
    told.append(_words_of_notebook(assay.home, Conflict))
    for said in told:
        assert "is none of Assay's (its tables: songs)" in said or "Assay never had: another program" in said
        assert "Name another" in said
        assert not re.search(r"assay (--home \S+ )?(init|doctor)", said)
    assert tables() == before


@pytest.mark.parametrize("file", [None, b""])
def test_where_no_database_is_nothing_is_made_and_init_is_named(assay: CommandLine, file: bytes | None) -> None:
    assay.home.mkdir(mode=0o700)
    if file is not None:
        (assay.home / "assay.db").write_bytes(file)
    told = [assay(*command, code=3).err for command in COMMANDS if command != ("init",)]
    told += [problem for problem in assay.json("doctor", code=1)["problems"] if "permissions" not in problem]
    told.append(_words_of_notebook(assay.home, NotFound))
    for said in told:
        assert re.search(r"assay (--home \S+ )?init", said)
    assert (assay.home / "assay.db").exists() == (file is not None)
    assay("init")


def test_an_address_without_a_database_makes_none(tmp_path: Path) -> None:
    assert "no Assay database" in _words_of_notebook(f"sqlite:///{tmp_path}/none.db", NotFound)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_none_is_told_with_the_command_that_puts_a_backup_back(assay: CommandLine) -> None:
    assay.home.mkdir(mode=0o700)
    (assay.home / "assay.db").write_bytes(b"not a database" * 100)
    said = _words_of_notebook(assay.home, AssayError)
    assert "is damaged" in said
    assert f"assay --home {assay.home} restore FILE" in said
