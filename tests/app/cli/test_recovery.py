"""Each kind of damage to an installation: told in a sentence with its remedy, and put right by that very command."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.app.cli.command_line import ROOT, CommandLine, Outcome, subprocess_of, write_items
from tests.app.cli.conftest import without_settings
from tests.servers import PASSWORD, running_server

PAGE = 4096
GARBAGE = bytes(range(1, 256)) * 80
DAMAGES: dict[str, Callable[[Path], None]] = {}


def damage(function: Callable[[Path], None]) -> Callable[[Path], None]:
    DAMAGES[function.__name__.replace("_", " ")] = function
    return function


@damage
def zero_bytes(path: Path) -> None:
    path.write_bytes(b"")


@damage
def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


@damage
def last_page_gone(path: Path) -> None:
    os.truncate(path, path.stat().st_size - PAGE)


@damage
def first_page_of_zeros(path: Path) -> None:
    overwrite(path, 0, bytes(PAGE))


@damage
def first_page_overwritten_behind_its_name(path: Path) -> None:
    overwrite(path, 100, GARBAGE[: PAGE - 100])


@damage
def a_page_in_the_middle(path: Path) -> None:
    overwrite(path, root_of(path, "item"), GARBAGE[:PAGE])


@damage
def a_page_of_an_index(path: Path) -> None:
    overwrite(path, root_of(path, "ix_item_version_batch_id", "sqlite_autoindex_item_version_1"), GARBAGE[:PAGE])


@damage
def an_index_that_lacks_a_row(path: Path) -> None:
    """Sound in its form, so that only comparing it with its table finds it."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = sql || ' WHERE id > 1' WHERE type = 'index' AND sql IS NOT NULL "
            "AND tbl_name = 'event' AND rowid = (SELECT min(rowid) FROM sqlite_master WHERE type = 'index' "
            "AND sql IS NOT NULL AND tbl_name = 'event')"
        )
    connection.close()
    with sqlite3.connect(path) as connection:
        connection.execute("REINDEX event")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' WHERE id > 1', '') WHERE tbl_name = 'event'")
    connection.close()


@damage
def garbage(path: Path) -> None:
    path.write_bytes(GARBAGE * 20)


@damage
def missing(path: Path) -> None:
    path.unlink()


@damage
def missing_with_its_log_left(path: Path) -> None:
    path.rename(f"{path}-wal")


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def root_of(path: Path, *names: str) -> int:
    """Where the first page of a table or index begins."""
    connection = sqlite3.connect(path)
    marks = ", ".join("?" * len(names))
    found = connection.execute(f"SELECT rootpage FROM sqlite_master WHERE name IN ({marks})", names).fetchone()
    connection.close()
    return (int(found[0]) - 1) * PAGE


def projects(assay: CommandLine) -> list[str]:
    return [project["project"] for project in assay.json("project", "list")]


def command_in(words: str) -> list[str]:
    """The arguments of the `assay --home …` that a message names, without the home folder."""
    found = re.search(r"assay (--home .+?)[.\"]?$", words.strip(), re.MULTILINE)
    assert found, words
    return shlex.split(found[1])[2:]


def is_a_sentence(outcome: Outcome | subprocess.CompletedProcess[str]) -> None:
    err = outcome.err if isinstance(outcome, Outcome) else outcome.stderr
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1, err


@pytest.fixture(scope="module")
def kept_before(begun_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with items, a document, and a backup; beside it, in `in`, the files that were imported."""
    folder = tmp_path_factory.mktemp("kept")
    shutil.copytree(begun_home, folder / "home")
    source = folder / "in"
    write_items(source, {"question": "What was the rent?", "documents": ["note.txt"]})
    (source / "documents").mkdir()
    (source / "documents" / "note.txt").write_text("The rent was 600 euros.")
    with pytest.MonkeyPatch.context() as patch:
        without_settings(patch)
        made = CommandLine(folder / "home")
        made("import", "finance", source, "--format", "native")
        made("backup")
    return folder


@pytest.fixture
def kept(assay: CommandLine, kept_before: Path, tmp_path: Path) -> CommandLine:
    """The command line on a copy of it."""
    for name in ("home", "in"):
        shutil.copytree(kept_before / name, tmp_path / name)
    return assay


# The database file ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_found_by_doctor_and_put_right_by_the_command_it_names(kept: CommandLine, kind: str) -> None:
    database = kept.home / "assay.db"
    DAMAGES[kind](database)
    looked_at = database.read_bytes() if database.exists() else None
    found = kept.json("doctor", "--deep", code=1)
    assert len(found["problems"]) == 1, found["problems"]
    assert (database.read_bytes() if database.exists() else None) == looked_at, "doctor has changed it"
    command = command_in(found["problems"][0])
    assert command[0] == "restore"
    done = kept.json(*command)
    assert done["was_damaged"]
    assert projects(kept) == ["finance"]
    assert kept.json("doctor", "--deep")["problems"] == []
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    if looked_at is not None:
        before = Path(done["before"])
        assert re.fullmatch(r"assay-damaged-\d{8}T\d+\.db", before.name)
        assert before.parent == kept.home
        assert before.read_bytes() == looked_at


@pytest.mark.parametrize("kind", [kind for kind in DAMAGES if kind != "an index that lacks a row"])
def test_damage_is_told_by_every_command_in_a_sentence_with_the_remedy(kept: CommandLine, kind: str) -> None:
    DAMAGES[kind](kept.home / "assay.db")
    met = ["backup"] if kind in ("a page in the middle", "a page of an index") else ["backup", "init", "demo"]
    for name in met:  # others do not touch the page in the middle, and so do not stumble over it
        outcome = kept(name, code=1)
        is_a_sentence(outcome)
        assert command_in(outcome.err)[0] == "restore"
        assert outcome.out == ""
    outcome = kept("serve", "--port", "0", code=1)  # ends before it would serve
    is_a_sentence(outcome)
    assert command_in(outcome.err)[0] == "restore"


@pytest.mark.parametrize("kind", ["missing", "zero bytes"])
def test_a_log_that_was_left_is_kept_with_the_database_it_belongs_to(kept: CommandLine, kind: str) -> None:
    database = kept.home / "assay.db"
    DAMAGES[kind](database)
    Path(f"{database}-wal").write_bytes(b"log")
    Path(f"{database}-shm").write_bytes(b"index")
    told = kept("project", "list", code=1)
    assert "assay.db-wal" in told.err
    before = kept.json(*command_in(told.err))["before"]
    assert Path(f"{before}-wal").read_bytes() == b"log"
    assert Path(f"{before}-shm").read_bytes() == b"index"
    assert projects(kept) == ["finance"]


def test_a_first_start_without_anything_is_no_loss(assay: CommandLine) -> None:
    assert "init" in assay("project", "list", code=3).err
    assay("init")
    assert assay.json("doctor")["problems"] == []


def test_a_backup_is_put_into_a_new_home_folder(kept: CommandLine, tmp_path: Path) -> None:
    [copy] = (kept.home / "backups").glob("*.db")
    other = CommandLine(tmp_path / "other")
    done = other.json("restore", copy)
    assert done["before"] is None
    assert projects(other) == ["finance"]


@pytest.mark.parametrize("kind", [kind for kind in DAMAGES if not kind.startswith("missing")])
def test_a_damaged_backup_is_refused_before_anything_is_replaced(kept: CommandLine, tmp_path: Path, kind: str) -> None:
    copy = tmp_path / "monday.db"
    kept("backup", "--to", copy)
    DAMAGES[kind](copy)
    kept("project", "create", "later")
    is_a_sentence(kept("restore", copy, code=2))
    assert projects(kept) == ["finance", "later"]
    garbage(kept.home / "assay.db")
    is_a_sentence(kept("restore", copy, code=2))
    assert (kept.home / "assay.db").read_bytes() == GARBAGE * 20
    assert not list(kept.home.glob("*damaged*"))


def test_who_restores_over_a_damaged_database_has_to_be_an_administrator_in_the_backup(kept: CommandLine) -> None:
    garbage(kept.home / "assay.db")
    [copy] = (kept.home / "backups").glob("*.db")
    kept("--as", "ada", "restore", copy, code=4)
    kept("--as", "admin", "restore", copy)


@pytest.mark.slow
def test_a_damaged_database_is_not_replaced_under_a_server_that_runs(kept: CommandLine) -> None:
    [copy] = (kept.home / "backups").glob("*.db")
    with running_server(kept.home):
        garbage(kept.home / "assay.db")
        refused = kept("restore", copy, code=5)
        assert "http://127.0.0.1" in refused.err
    kept("restore", copy)
    assert projects(kept) == ["finance"]


# As the documentation says --------------------------------------------------------------------------------------------


def rows_of_the_table() -> list[tuple[str, list[str], list[str]]]:
    """(what happened, commands that find it, commands that put it right) of docs/administration.md."""
    text = (ROOT / "docs" / "administration.md").read_text(encoding="utf-8")
    section = text.partition("## When something is damaged")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")][2:]
    return [(row[0].strip(), re.findall(r"`(assay [^`]+)`", row[1]), re.findall(r"`([^`]+)`", row[2])) for row in rows]


def text_changed_behind_its_back(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER keep_item_version_update")
    connection.execute("UPDATE item_version SET answer = 'never' WHERE id = 1")
    connection.commit()
    connection.close()


DOCUMENTED: dict[str, Callable[[Path], object]] = {
    "the database is empty (0 bytes)": lambda home: zero_bytes(home / "assay.db"),
    "the database is cut off": lambda home: cut_in_half(home / "assay.db"),
    "its first page is overwritten": lambda home: first_page_of_zeros(home / "assay.db"),
    "a page in its middle is overwritten": lambda home: a_page_in_the_middle(home / "assay.db"),
    "a page of an index is overwritten": lambda home: a_page_of_an_index(home / "assay.db"),
    "an index lacks rows of its table": lambda home: an_index_that_lacks_a_row(home / "assay.db"),
    "something else stands in the file": lambda home: garbage(home / "assay.db"),
    "the database is missing": lambda home: missing(home / "assay.db"),
    "the database is missing, its log (`assay.db-wal`) is left": lambda home: missing_with_its_log_left(
        home / "assay.db"
    ),
    "a text in it was changed behind its back": lambda home: text_changed_behind_its_back(home / "assay.db"),
    "the bytes of a document are missing": lambda home: document_of(home).unlink(),
    "the bytes of a document were altered": lambda home: document_of(home).write_text("The rent was 700 euros."),
    "others may look into the home folder": lambda home: home.chmod(0o755),
}


def test_the_documentation_has_a_row_for_each_kind_of_damage() -> None:
    assert [row[0] for row in rows_of_the_table()] == list(DOCUMENTED)


@pytest.mark.parametrize("row", rows_of_the_table(), ids=lambda row: row[0])
def test_each_kind_of_damage_is_found_and_put_right_by_exactly_the_documented_commands(
    kept: CommandLine, tmp_path: Path, row: tuple[str, list[str], list[str]]
) -> None:
    what, finding, mending = row
    [backup] = (kept.home / "backups").glob("*.db")
    shutil.copytree(kept.home, tmp_path / "copy", copy_function=shutil.copy)
    DOCUMENTED[what](kept.home)
    for command in finding:
        outcome = kept(*command.split()[1:], code=1)
        assert "Traceback" not in outcome.err
    for command in mending:
        for name, meant in (("FILE", backup), ("HOME", kept.home), ("COPY", tmp_path / "copy")):
            command = command.replace(name, shlex.quote(str(meant)))  # noqa: PLW2901 - the command as it is typed
        words = shlex.split(command)
        if words[0] == "assay":
            kept(*words[1:])
        else:
            subprocess.run(words, check=True)
    assert kept.json("doctor", "--deep")["problems"] == []
    assert projects(kept) == ["finance"]


# Documents ------------------------------------------------------------------------------------------------------------


def document_of(home: Path) -> Path:
    [path] = (home / "data" / "documents").glob("??/*")
    return path


@pytest.mark.parametrize("what", ["missing", "empty", "altered"])
def test_bytes_of_a_document_are_missed_and_put_back(kept: CommandLine, tmp_path: Path, what: str) -> None:
    path = document_of(kept.home)
    content = path.read_bytes()
    if what == "missing":
        path.unlink()
    else:
        path.write_bytes(b"" if what == "empty" else b"The rent was 700 euros.")
    found = kept.json("doctor", "--deep", code=1)["problems"]
    assert len(found) == 1
    assert what in found[0]
    assert "finance: note.txt" in found[0]
    assert str(path) in found[0]
    assert kept.json("doctor", code=0 if what == "altered" else 1)["problems"] == ([] if what == "altered" else found)
    if what == "missing":
        done = kept.json("backup", "--to", tmp_path / "all-the-same.db", code=1)
        assert done["problems"] == found
        assert (tmp_path / "all-the-same.db").exists()
    assert command_in(found[0])[:1] == ["import"]
    kept("import", "finance", tmp_path / "in", "--format", "native")
    assert path.read_bytes() == content
    assert kept.json("doctor", "--deep")["problems"] == []


# What hashes are kept of ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("UPDATE item_version SET answer = 'It was 700 euros.' WHERE id = 1", "version 1 of item"),
        ("UPDATE study SET protocol = replace(protocol, 'ambiguous', 'unclear')", "protocol of study 'v'"),
        ("DELETE FROM study_item WHERE position = 0", "sample of study 'v'"),
        ('UPDATE run SET parameters = \'{"mode": "other"}\'', "parameters of run 1"),
    ],
)
def test_what_is_not_what_its_hash_says_is_found(begun: CommandLine, tmp_path: Path, change: str, named: str) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    begun("study", "create", "finance", "v", "--protocol", "ambiguity", "--annotators", "ada,ben")
    begun("score", "finance", "--scorer", "phrase_recall")
    assert begun.json("doctor", "--deep")["problems"] == []
    connection = sqlite3.connect(begun.home / "assay.db")
    guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for trigger, _ in guards:
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute(change)
    for _, sql in guards:  # who changes what may not be changed puts them back
        connection.execute(sql)
    connection.commit()
    connection.close()
    found = begun.json("doctor", "--deep", code=1)["problems"]
    assert any(named in line and "restore" in line for line in found), found
    assert begun.json("doctor")["problems"] == []


def test_rows_that_point_nowhere_are_found(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    connection = sqlite3.connect(begun.home / "assay.db")
    connection.execute("UPDATE item SET question_id = 99 WHERE id = 1")
    connection.commit()
    connection.close()
    found = begun.json("doctor", "--deep", code=1)["problems"]
    assert any("1 of item at question" in line for line in found), found


@pytest.mark.slow
def test_everything_that_a_hash_is_kept_of_in_the_sample_project_is_what_it_says(assay: CommandLine) -> None:
    assay("demo")
    assert assay.json("doctor", "--deep")["problems"] == []


# The disk -------------------------------------------------------------------------------------------------------------


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    """Something mounted on a folder; skips where that is not allowed."""
    done = subprocess.run(["mount", *options, str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def read_only(place: Path) -> Iterator[None]:
    with mounted(place, "--bind", str(place)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True)
        yield


def test_a_home_folder_on_a_read_only_disk_is_told(kept: CommandLine) -> None:
    with read_only(kept.home):
        found = kept.json("doctor", code=1)["problems"]
        assert any(str(kept.home) in line and "Read-only" in line for line in found), found
        is_a_sentence(kept("backup", code=1))
        is_a_sentence(kept("project", "create", "later", code=1))
    assert kept.json("doctor", "--deep")["problems"] == []
    kept("project", "create", "later")


def test_a_full_disk_is_told_and_nothing_is_lost(kept: CommandLine, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    with mounted(small, "-t", "tmpfs", "-o", "size=6m", "tmpfs"):
        shutil.copytree(kept.home, small / "home")
        there = CommandLine(small / "home")
        with (small / "filler").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(1 << 12))
        found = there.json("doctor", code=1)["problems"]
        assert any("full" in line and "Free some space" in line for line in found), found
        refused = there("backup", code=1)
        is_a_sentence(refused)
        assert "Free some space" in refused.err
        assert len(list((small / "home" / "backups").glob("*.db"))) == 1, "half a backup was left"
        for number in range(200):
            done = subprocess_of("--home", there.home, "project", "create", "x" * 400 + str(number))
            if done.returncode:
                break
        assert done.returncode == 1
        is_a_sentence(done)
        (small / "filler").unlink()
        assert there.json("doctor", "--deep", code=1)["problems"][0].count("nearly full")
        there("project", "create", "later")
        assert "later" in projects(there)


@pytest.mark.slow
def test_a_server_writes_again_after_its_database_was_read_only(kept: CommandLine) -> None:
    """Also with connections that were opened meanwhile, and so read-only; `healthz` answers throughout."""
    # On a disk: a file system in memory lets who has a file open write to it whatever its attributes say.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        home = Path(shutil.copytree(kept.home, Path(folder) / "home"))
        _is_read_only_for_a_while(home)


def _is_read_only_for_a_while(home: Path) -> None:
    def attribute(sign: str) -> int:
        # Not of the log's index (-shm), which is mapped into memory: the system would end who writes there.
        files = [str(path) for path in home.glob("assay.db*") if not path.name.endswith("-shm")]
        return subprocess.run(["chattr", f"{sign}i", *files], check=False, capture_output=True).returncode

    with running_server(home) as server:
        server.person("grace")
        if shutil.which("chattr") is None or attribute("+"):
            attribute("-")
            pytest.skip("files cannot be made immutable here")
        try:
            for _ in range(3):
                with ThreadPoolExecutor(8) as pool:  # several connections at once
                    answers = list(pool.map(lambda _: server.client().get("/healthz").status_code, range(24)))
                assert set(answers) <= {200, 503}
                refused = server.client().post("/sign-in", data={"name": "grace", "password": PASSWORD})
                assert refused.status_code == 503
        finally:
            attribute("-")
        codes = [
            server.client().post("/sign-in", data={"name": "grace", "password": PASSWORD}).status_code for _ in range(6)
        ]
        assert codes[1:] == [303] * 5, codes
        assert "Traceback" not in server.log.read_text()


# Who may read it ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_home_folder_that_others_may_read_is_found_and_closed_by_the_command(kept: CommandLine) -> None:
    kept.home.chmod(0o755)
    [found] = kept.json("doctor", code=1)["problems"]
    assert "755" in found
    command = found.partition(": ")[2]
    subprocess.run(shlex.split(command), check=True)
    assert stat.S_IMODE(kept.home.stat().st_mode) == 0o700
    assert kept.json("doctor")["problems"] == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_an_empty_folder_that_becomes_a_home_is_closed_to_others(assay: CommandLine) -> None:
    assay.home.mkdir(mode=0o755)
    assay.home.chmod(0o755)
    assay("init")
    assert stat.S_IMODE(assay.home.stat().st_mode) == 0o700
    assay("backup")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (assay.home / "backups").iterdir()} == {0o600}


def test_doctor_says_which_broken_off_import_it_has_cleared(begun: CommandLine, tmp_path: Path) -> None:
    path = write_items(tmp_path / "in")
    killed = (
        "import os, sys\nfrom pathlib import Path\nfrom db.engine import Database\n"
        "from db.people.accounts import local_administrator\n"
        "from db.items.imports import staged\nfrom exports.formats import FORMATS\n"
        "from exports.reading.sources import open_sources\n"
        "from db.items import unpublished\nunpublished.PARTS_ALONE = unpublished.ROWS_A_TURN = 1\n"
        "db = Database('sqlite:///' + sys.argv[1])\n"
        "with open_sources([Path(sys.argv[2])]) as files:\n"
        "    reading = FORMATS.get('native').read(files)\n"
        "    with staged(db, local_administrator(db), 1, reading=reading):\n        os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", killed, str(begun.home / "assay.db"), str(path)], cwd=ROOT, check=False
    )
    assert done.returncode == 9
    said = begun("doctor").out
    assert f"Removed what an import of {path.name} that was broken off had left; nobody had seen it." in said
    assert "Removed what an import" not in begun("doctor").out
