"""Copies of a SQLite database that can be put back: where they lie, until when they go, and what they lack.

It loads nothing that reads a database of ours: what a command says when it finds the database damaged is made here.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotators.figures import count, duration
from annotators.files import sync
from db.faults import damage_in
from db.revisions import known_revisions, revision_in

ELSEWHERE = "elsewhere"
"""The file in the folder of backups that has the paths of those made in other places, one a line."""

_CHECK_SECONDS = 20.0
_TIMES = (("event", "at"), ("submission", "created_at"), ("annotation", "created_at"), ("adjudication", "created_at"))


@dataclass(frozen=True)
class KeptCopy:
    """A copy: its path, the last moment that it knows of, how many labels it has, and its last submission."""

    path: Path
    until: datetime
    labels: int
    last: tuple[int, str] | None

    def in_words(self, at: datetime | None = None) -> str:
        """`holds what was there until 2026-11-28 17:02 (3 h 05 min ago), 1,210 labels`."""
        return f"holds what was there until {moment_in_words(self.until, at)}, {count(self.labels, 'label')}"


@dataclass(frozen=True)
class Lacking:
    """What a database has that a copy of it has not: labels, how often they were submitted, and decisions."""

    labels: int
    submissions: int
    decisions: int

    def in_words(self) -> str:
        """A sentence; also where nothing is lacking."""
        what = [f"{count(self.labels, 'label')} of {count(self.submissions, 'submission')}"] if self.submissions else []
        if self.decisions:
            what.append(count(self.decisions, "decision of an adjudicator", "decisions of adjudicators"))
        return f"It lacks {' and '.join(what)} that came since." if what else "It lacks no label and no decision."


@dataclass(frozen=True)
class Compared:
    """What a backup holds, and what it lacks of the database that is there; None where one of them cannot be read."""

    copy: KeptCopy | None
    lacks: Lacking | None

    def in_words(self) -> str:
        """Sentences that go on from the name of the backup."""
        if self.copy is None:
            return "does not say how old it is."
        lacks = (
            self.lacks.in_words() if self.lacks else "What it lacks is not known: the database there cannot be read."
        )
        return f"{self.copy.in_words()}. {lacks}"

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        lacks = None if self.lacks is None else asdict(self.lacks)
        if self.copy is None:
            return {"until": None, "labels": None, "lacks": lacks}
        return {"until": self.copy.until.isoformat(), "labels": self.copy.labels, "lacks": lacks}


def moment_in_words(moment: datetime, at: datetime | None = None) -> str:
    """A moment where this machine is, and how long ago it was."""
    ago = ((at or datetime.now(UTC)) - moment).total_seconds()
    return f"{moment.astimezone():%Y-%m-%d %H:%M} ({duration(max(0.0, ago))} ago)"


def note_made(backups: Path, copy: Path) -> None:
    """Remember where a copy was made, when that is not the folder of backups. Raises OSError."""
    path = copy.absolute()
    if path.parent == backups.absolute() or path in noted(backups):
        return
    backups.mkdir(parents=True, exist_ok=True)
    with (backups / ELSEWHERE).open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(f"{path}\n")
    sync(backups / ELSEWHERE)


def noted(backups: Path) -> list[Path]:
    """The copies that were made in other places, wherever they are by now."""
    with suppress(OSError):
        lines = (backups / ELSEWHERE).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        return [Path(line) for line in lines if line]
    return []


def newest_whole(backups: Path) -> KeptCopy | None:
    """The copy that goes furthest, of those that this version takes, in which nothing is damaged and which has what
    protects it; None without one.

    Which is the newest is asked of what is in it: a file that was copied about has another date.
    """
    known = known_revisions()
    found = [copy for path in _paths(backups) if revision_in(path) in known and (copy := look_into(path)) is not None]
    for copy in sorted(found, key=lambda copy: (copy.until, copy.path.stat().st_mtime), reverse=True):
        if damage_in(copy.path, seconds=_CHECK_SECONDS) is None and _is_guarded(copy.path):
            return copy
    return None


def _is_guarded(path: Path) -> bool:
    from db.upkeep.protection import unguarded  # noqa: PLC0415 - only who looks for a backup loads the tables

    with suppress(sqlite3.Error), closing(_opened(path)) as file:
        things = file.execute("SELECT type, name FROM sqlite_master").fetchall()
        names = {kind: {name for of, name in things if of == kind} for kind in ("table", "trigger")}
        return not unguarded(names["table"], names["trigger"])
    return False


def restore_advice(call: str, backups: Path) -> str:
    """How the database is put back, for messages: the newest whole copy, how old it is, and the command; `call` is how
    the command line is called for this home folder."""
    newest = newest_whole(backups)
    if newest is None:
        return f"No whole backup is known here. Stop the server, then name one: {call} restore FILE"
    restore = f"{call} restore {shlex.quote(str(newest.path))}"
    return f"The newest whole backup {newest.in_words()}. Stop the server, then: {restore}"


def _paths(backups: Path) -> Iterator[Path]:
    yield from backups.glob("*.db")
    yield from (path for path in noted(backups) if path.is_file())


def look_into(path: Path) -> KeptCopy | None:
    """What a copy holds; None where it cannot be read as a database of Assay's."""
    with suppress(sqlite3.Error), closing(_opened(path)) as file:
        times = [file.execute(f"SELECT max({column}) FROM {table}").fetchone()[0] for table, column in _TIMES]
        until = max(filter(None, times), default=None)
        if until is not None:
            labels = file.execute("SELECT count(*) FROM label").fetchone()[0]
            last = file.execute("SELECT id, created_at FROM submission ORDER BY id DESC LIMIT 1").fetchone()
            return KeptCopy(path, datetime.fromisoformat(until).replace(tzinfo=UTC), labels, last)
    return None


def compare(path: Path, database: Path) -> Compared:
    """A backup beside the database that is there."""
    copy = look_into(path)
    # An empty file SQLite would take for a new database, and remove a log that was left beside it.
    there = database.is_file() and database.stat().st_size > 0
    return Compared(copy, None if copy is None or not there else lacking(copy, database))


def lacking(copy: KeptCopy, database: Path) -> Lacking | None:
    """What people did in a database since this copy of it was made; None where it cannot be read."""
    since = f"{copy.until:%Y-%m-%d %H:%M:%S.%f}"
    newer = "created_at > ?"
    given: str | int = since
    with suppress(sqlite3.Error), closing(_opened(database)) as file:
        if copy.last is not None:
            row, made = copy.last
            if file.execute("SELECT created_at FROM submission WHERE id = ?", (row,)).fetchone() == (made,):
                newer, given = "id > ?", row  # what was imported says when it was made elsewhere
        submissions = file.execute(f"SELECT count(*) FROM submission WHERE {newer}", (given,)).fetchone()[0]
        labels = file.execute(
            f"SELECT count(*) FROM label WHERE submission_id IN (SELECT id FROM submission WHERE {newer})",
            (given,),
        ).fetchone()[0]
        decisions = file.execute("SELECT count(*) FROM adjudication WHERE created_at > ?", (since,)).fetchone()[0]
        return Lacking(labels, submissions, decisions)
    return None


def _opened(path: Path) -> sqlite3.Connection:
    """A file for reading alone; one without a log beside it, so that nothing is put beside it either."""
    alone = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{alone}", uri=True)
