"""Commands that are killed at any moment: what was acknowledged stays, nothing is half there, and the next one works.

Each runs in a process that is forked off this one, which has loaded everything, and is killed after a part of the time
that it takes.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from annotators.files import UNDER_WAY
from app.cli import main
from app.settings import Settings
from db.engine import Database
from db.faults import damage_in
from db.people.accounts import local_administrator
from db.projects import project_overview
from db.schema import migrate
from tests.app.cli.command_line import CommandLine, write_items

KILLS_OF_A_DAY = 1
KILLS_OF_A_NIGHT = 34
"""Of each of nine commands; what was done before it could be killed is not counted."""


def forked(home: Path, arguments: tuple[str, ...], after: float | None) -> tuple[int | None, float]:
    """Give a command in a process of its own, and kill it after so many seconds: its exit code (None: it was killed),
    and how long it took."""
    begun = time.monotonic()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            gc.freeze()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nowhere, number)
            sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - it ends at once
            code = 0
            main(["--home", str(home), *arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            code = 99
        finally:
            os._exit(code)
    if after is not None:
        while (
            time.monotonic() - begun < after
            and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        ):
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return (None if code < 0 else code), time.monotonic() - begun


@dataclass
class Place:
    """A home folder, files beside it, and what was acknowledged in it."""

    assay: CommandLine
    folder: Path
    items: int
    number: int = 0

    def rows(self, query: str) -> list[str]:
        with closing(sqlite3.connect(self.assay.home / "assay.db")) as file:
            return [str(row[0]) for row in file.execute(query)]


Command = tuple[Callable[[Place], tuple[str, ...]], Callable[[Place, bool], None]]


def _backup_to(place: Place) -> tuple[str, ...]:
    return ("backup", "--to", str(place.folder / f"b{place.number}.db"))


def _whole_or_absent(place: Place, done: bool) -> None:
    made = place.folder / f"b{place.number}.db"
    assert made.exists() or not done
    if made.exists():
        assert damage_in(made, deep=True) is None
    else:
        place.assay("backup", "--to", made)  # the name is free


def _backups_are_whole(place: Place, _done: bool) -> None:
    for made in (place.assay.home / "backups").glob("*.db"):
        assert damage_in(made) is None


def _restore(place: Place) -> tuple[str, ...]:
    place.assay("user", "add", f"before-{place.number}")
    return ("restore", str(place.folder / "monday.db"))


def _old_or_new(place: Place, done: bool) -> None:
    """What was acknowledged before is in the database, or in the copy that was made."""
    name = f"before-{place.number}"
    there = name in place.rows("SELECT name FROM account")
    assert not (done and there)
    kept = []
    for made in (place.assay.home / "backups").glob("assay-before-restore-*.db"):
        assert damage_in(made) is None
        with closing(sqlite3.connect(made)) as file:
            kept += file.execute("SELECT 1 FROM account WHERE name = ?", (name,)).fetchall()
        made.unlink()
    assert there or kept, "an acknowledged account is lost"


def _user(place: Place) -> tuple[str, ...]:
    return ("user", "add", f"user-{place.number}")


def _user_is_there(place: Place, done: bool) -> None:
    assert not done or f"user-{place.number}" in place.rows("SELECT name FROM account")


def _import(place: Place) -> tuple[str, ...]:
    rows = [{"id": f"i{place.number}-{row}", "question": f"Q {place.number} {row}?"} for row in range(40)]
    return ("import", "finance", str(write_items(place.folder / f"in{place.number}", *rows)))


def _all_or_nothing(place: Place, done: bool) -> None:
    db = place.assay.database()
    n = project_overview(db, local_administrator(db), 1).items
    db.dispose()
    before, place.items = place.items, n
    assert n - before == 40 if done else n - before in (0, 40)


def _export(place: Place) -> tuple[str, ...]:
    return ("export", "finance", "--to", str(place.folder / f"out{place.number}"), "--format", "native")


def _folder_is_whole(place: Place, done: bool) -> None:
    made = place.folder / f"out{place.number}"
    assert made.exists() or not done
    if made.exists():
        place.assay("verify", made)


def _score(place: Place) -> tuple[str, ...]:
    place.assay(*_import(place))
    return ("score", "finance", "--scorer", "phrase_recall")


def _all_are_scored(place: Place, _done: bool) -> None:
    place.assay("score", "finance", "--scorer", "phrase_recall")
    assert place.rows("SELECT count(DISTINCT item_version_id) FROM score") == place.rows(
        "SELECT count(*) FROM item_version"
    )


def _study(place: Place) -> tuple[str, ...]:
    return ("study", "create", "finance", f"s{place.number}", "--protocol", "ambiguity", "--annotators", "ada,ben")


def _study_is_there(place: Place, done: bool) -> None:
    assert not done or f"s{place.number}" in place.rows("SELECT name FROM study")


def _delete(place: Place) -> tuple[str, ...]:
    name = f"p{place.number}"
    place.assay("project", "create", name)
    return ("project", "delete", name, "--confirm", name)


def _is_gone(place: Place, done: bool) -> None:
    assert not done or f"p{place.number}" not in place.rows("SELECT name FROM project")


COMMANDS: dict[str, Command] = {
    "backup": (_backup_to, _whole_or_absent),
    "backup here": (lambda _place: ("backup",), _backups_are_whole),
    "restore": (_restore, _old_or_new),
    "user add": (_user, _user_is_there),
    "import": (_import, _all_or_nothing),
    "export": (_export, _folder_is_whole),
    "score": (_score, _all_are_scored),
    "study create": (_study, _study_is_there),
    "project delete": (_delete, _is_gone),
}


def killed(place: Place, command: str, times: int, rng: random.Random) -> Counter[str]:
    """Kill a command so often, and look each time; how often it was killed, and how often it was done before."""
    make, check = COMMANDS[command]
    place.number += 1
    code, usual = forked(place.assay.home, make(place), None)
    assert code == 0, command
    check(place, True)
    seen: Counter[str] = Counter()
    while seen["killed"] < times:
        place.number += 1
        code, took = forked(place.assay.home, make(place), rng.uniform(0.0, usual))
        assert code in (0, None), command
        seen["killed" if code is None else "done"] += 1
        usual = min(usual, took) if code == 0 else usual
        check(place, code == 0)
        assert place.assay.json("doctor", "--deep")["problems"] == []
    place.assay("init")
    left = [path for place_ in (place.assay.home, place.folder) for path in place_.rglob(f"{UNDER_WAY}*")]
    assert all(path.parent == place.folder for path in left), "what is in the home folder is cleared at the next start"
    assert not list((place.assay.home / "data" / "documents").rglob(".new-*"))
    return seen


@pytest.fixture
def place(begun: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("ASSAY_REPORT_WORKERS", "1")
    folder = tmp_path / "beside"
    folder.mkdir()
    begun("import", "finance", write_items(folder / "in"))
    begun("backup", "--to", folder / "monday.db")
    assert Settings.load(home=begun.home).home == begun.home
    return Place(begun, folder, items=6)


@pytest.mark.parametrize("command", ["backup", "restore", "import", "export"])
def test_a_command_that_is_killed_loses_nothing_and_leaves_nothing_half(place: Place, command: str) -> None:
    killed(place, command, KILLS_OF_A_DAY, random.Random(command))


@pytest.mark.nightly
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_are_killed_three_hundred_times_lose_nothing(place: Place, command: str) -> None:
    seen = killed(place, command, KILLS_OF_A_NIGHT, random.Random(command))
    print(command, dict(seen))


def test_a_migration_that_is_killed_leaves_the_old_database_or_the_new_one(
    begun: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    rng = random.Random(7)
    old = tmp_path / "old.db"
    db = Database(f"sqlite:///{old}")
    migrate(db, revision="0014")
    db.dispose()
    usual = 1.0
    for turn in range(3):
        shutil.rmtree(begun.home)
        begun.home.mkdir(mode=0o700)
        shutil.copyfile(old, begun.home / "assay.db")
        _, took = forked(begun.home, ("init",), None if turn == 0 else rng.uniform(0.1, 1.0) * usual)
        usual = took if turn == 0 else usual
        for copy in (begun.home / "backups").glob("*.db"):
            assert damage_in(copy, deep=True) is None
        begun("init")
        assert begun.json("doctor", "--deep")["problems"] == []
        assert not list(begun.home.rglob(f"{UNDER_WAY}*"))
