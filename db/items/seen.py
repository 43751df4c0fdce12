"""Which keys a stream has had so far, and where: the first ones in memory, the others, of a long stream, on disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

_IN_MEMORY = 5_000
_AT_ONCE = 5_000


class Seen:
    """Remembers (key, digest, file, line) of a stream; memory does not grow with it.

    What follows the first ones is in a private temporary database that is gone when closed.
    """

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, str, int]] = {}
        self._are_more = False
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-16384; BEGIN;"
            "CREATE TABLE seen (key TEXT PRIMARY KEY, digest TEXT, file TEXT, line INTEGER) WITHOUT ROWID"
        )

    def add(self, rows: Iterable[tuple[str, str, str, int]]) -> dict[int, tuple[str, str, int]]:
        """Remember these; position in `rows` → (digest, file, line) of the first one for each key that came before."""
        given = list(rows)
        first = self._before([row[0] for row in given])
        again: dict[int, tuple[str, str, int]] = {}
        new = []
        for at, row in enumerate(given):
            if row[0] in first:
                again[at] = first[row[0]]
            else:
                first[row[0]] = row[1:]
                new.append(row)
        self._keep(new)
        return again

    def _keep(self, rows: list[tuple[str, str, str, int]]) -> None:
        room = _IN_MEMORY - len(self._first)
        self._first.update((row[0], row[1:]) for row in rows[:room])
        if more := rows[room:]:
            self._are_more = True
            self._connection.executemany("INSERT INTO seen VALUES (?, ?, ?, ?)", more)

    def _before(self, keys: list[str]) -> dict[str, tuple[str, str, int]]:
        found = {key: self._first[key] for key in keys if key in self._first}
        others = [key for key in keys if key not in found] if self._are_more else []
        for start in range(0, len(others), _AT_ONCE):
            some = others[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            rows = self._connection.execute(f"SELECT key, digest, file, line FROM seen WHERE key IN ({marks})", some)
            found |= {key: (digest, file, line) for key, digest, file, line in rows}
        return found

    def close(self) -> None:
        """Forget everything."""
        self._connection.close()
