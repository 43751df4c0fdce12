"""Whether a database has the schema of this version and no other: its tables, its guards, and nothing of strangers.

A backup comes from wherever somebody kept it. One without its guards would take changes of what is never changed, and a
trigger that does not belong there acts in the name of whoever writes next.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, inspect

from annotators.errors import listed
from db import guards, schema
from db.engine import Database, connected

Thing = tuple[str, str]
"""A part of a schema: its kind (`table`, `index`, `view`, `trigger`) and its name."""

_WORDS = {"table": "tables", "index": "indexes", "view": "views", "trigger": "triggers"}


def amiss(database: Database) -> list[str]:
    """What of the schema is not as this version makes it, a clause each; the database is at its newest revision.

    On PostgreSQL, where others may have things of their own, it is the guards, and triggers at our tables.
    """
    if not database.is_sqlite:
        with connected(database) as connection:
            return _differences(_expected_guards(connection), _guards_there(connection))
    with connected(database) as connection:
        there = _things(connection)
    return _differences(_reference(), there)


def guards_lacking(database: Database) -> list[str]:
    """The append-only tables of a SQLite database of any revision that can be changed, as guards of theirs are missing.

    What else an earlier version had is known once it is brought up to date.
    """
    with connected(database) as connection:
        tables = set(inspect(connection).get_table_names())
        there = {name for (kind, name) in _things(connection) if kind == "trigger"}
    return unguarded(tables, there)


def unguarded(tables: Collection[str], triggers: Collection[str]) -> list[str]:
    """The append-only tables of these that can be changed where these are all the triggers of a SQLite database."""
    there = {*triggers}
    return sorted(table for table, names in guards.on_sqlite().items() if table in tables and not {*names[:2]} <= there)


def _differences(expected: dict[Thing, str], there: dict[Thing, str]) -> list[str]:
    lacking = [thing for thing in expected if thing not in there]
    foreign = [thing for thing in there if thing not in expected]
    other = [thing for thing in expected if thing in there and expected[thing] != there[thing]]
    said = []
    for words, things in (("lacks the", lacking), ("has foreign", foreign), ("has other", other)):
        for kind, of_kind in _WORDS.items():
            if names := sorted(name for found, name in things if found == kind):
                said.append(f"{words} {of_kind} {listed(names)}")
    return said


def _things(connection: Connection) -> dict[Thing, str]:
    """The parts of a SQLite schema, and how each is made; without those that SQLite makes by itself."""
    rows = connection.exec_driver_sql("SELECT type, name, coalesce(sql, '') FROM sqlite_master").all()
    return {
        (str(kind), str(name)): _plain(str(sql)) if kind in ("table", "trigger") else " ".join(str(sql).split())
        for kind, name, sql in rows
        if not (kind in ("table", "index") and str(name).startswith("sqlite_"))
    }


def _plain(sql: str) -> str:
    """A statement without what makes no difference: spaces, quotes around names, and in which order a table's columns
    and constraints, or the keys of a guard, were written, which is another each time.
    """
    plain = " ".join(sql.replace('"', "").split())
    if plain.startswith("CREATE TABLE"):
        head, _, rest = plain.partition("(")
        inside, _, tail = rest.rpartition(")")
        return f"{head.strip()} ({', '.join(_sorted_parts(inside, ','))}) {tail.strip()}"
    head, when, rest = plain.partition(" WHEN ")
    condition, begin, act = rest.partition(" BEGIN ")
    return f"{head}{when}{' OR '.join(_sorted_parts(condition, ' OR '))}{begin}{act}"


def _sorted_parts(text: str, between: str) -> list[str]:
    """The parts of a text that are divided outside of brackets, in the order of the alphabet."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and text.startswith(between, place):
            parts.append(text[start:place].strip())
            start = place + len(between)
    return sorted([*parts, text[start:].strip()])


@cache
def _reference() -> dict[Thing, str]:
    """The schema that this version makes, made once."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'empty.db'}")
        try:
            schema.migrate(database)
            with connected(database) as connection:
                return _things(connection)
        finally:
            database.dispose()


def _expected_guards(connection: Connection) -> dict[Thing, str]:
    return {("trigger", f"{table}.{name}"): "" for table, names in guards.on_postgresql().items() for name in names}


def _guards_there(connection: Connection) -> dict[Thing, str]:
    from db.models import Table  # noqa: PLC0415 - keeps the module light for who only backs up

    rows = connection.exec_driver_sql(
        "SELECT c.relname, t.tgname, t.tgenabled FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE NOT t.tgisinternal AND n.nspname = current_schema()"
    ).all()
    ours = set(Table.metadata.tables)
    return {
        ("trigger", f"{table}.{name}"): "" if str(enabled) in ("O", "A", "b'O'") else "off"
        for table, name, enabled in rows
        if table in ours
    }
