"""Whether a database has the schema of this version and no other: its tables, its guards, and nothing of strangers.

A backup comes from wherever somebody kept it. One without its guards would take changes of what is never changed, and a
trigger that does not belong there acts in the name of whoever writes next.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect

from annotators.errors import listed
from db import guards, schema
from db.engine import Database, connected

Thing = tuple[str, str]
"""A part of a schema: its kind (`table`, `index`, `view`, `trigger`, `rule`) and its name."""

_WORDS = {"table": "tables", "index": "indexes", "view": "views", "trigger": "triggers", "rule": "rules"}


def amiss(database: Database) -> list[str]:
    """What of the schema is not as this version makes it, a clause each; the database is at its newest revision.

    On PostgreSQL others may have things of their own: there it is our tables, and what acts on them.
    """
    if not database.is_sqlite:
        with connected(database) as connection:
            return of_postgresql(connection)
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


# PostgreSQL -----------------------------------------------------------------------------------------------------------


def of_postgresql(connection: Connection) -> list[str]:
    """What is amiss there. Tables of others are their own affair; what acts on ours is not."""
    from db.models import Table  # noqa: PLC0415 - keeps the module light for who only backs up

    ours = set(Table.metadata.tables)
    expected = {**_expected_guards(), **{("table", name): "" for name in ours}}
    there = {**_acting_there(connection, ours), **_tables_there(connection, ours)}
    return _differences(expected, there)


def _expected_guards() -> dict[Thing, str]:
    bodies = guards.functions_on_postgresql()
    return {
        ("trigger", f"{table}.{guard.name}"): _described(
            guard.before, guard.each, guard.function, bodies[guard.function]
        )
        for table, of_table in guards.on_postgresql().items()
        for guard in of_table
    }


def _described(before: Collection[str], each: str, function: str, body: str) -> str:
    return f"BEFORE {' OR '.join(sorted(before))} FOR EACH {each} {function}: {' '.join(body.split())}"


_BITS = {4: "INSERT", 8: "DELETE", 16: "UPDATE", 32: "TRUNCATE"}
"""What a trigger comes before, as `pg_trigger.tgtype` has it; 1 is for each row, 2 before, 64 instead."""

_TRIGGERS = """
SELECT c.relname, t.tgname, t.tgtype, p.proname, p.prosrc,
    CASE t.tgenabled WHEN 'A' THEN true WHEN 'O' THEN current_setting('session_replication_role') <> 'replica'
        ELSE false END,
    t.tgqual IS NULL AND t.tgattr::text = '' AND t.tgnargs = 0 AND NOT t.tgdeferrable
        AND p.pronamespace = c.relnamespace AND l.lanname = 'plpgsql' AND p.proconfig IS NULL AND NOT p.prosecdef
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_language l ON l.oid = p.prolang
WHERE NOT t.tgisinternal AND n.nspname = current_schema()
"""


def _acting_there(connection: Connection, ours: Collection[str]) -> dict[Thing, str]:
    """The triggers at our tables with what each does, whatever its name is, and their rules, of which we make none."""
    there: dict[Thing, str] = {}
    for table, name, kind, function, body, fires, plain in connection.exec_driver_sql(_TRIGGERS.replace("%", "%%")):
        if table in ours:
            before = [event for bit, event in _BITS.items() if kind & bit]
            said = _described(before, "ROW" if kind & 1 else "STATEMENT", function, body)
            ordinary = fires and plain and kind & 2 and not kind & 64
            there["trigger", f"{table}.{name}"] = said if ordinary else "another"
    rules = "SELECT tablename, rulename FROM pg_rules WHERE schemaname = current_schema()"
    return there | {
        ("rule", f"{table}.{name}"): "" for table, name in connection.exec_driver_sql(rules) if table in ours
    }


def _tables_there(connection: Connection, ours: Collection[str]) -> dict[Thing, str]:
    """Our tables, and of each whether its columns, keys and indexes are others, or some rows are kept from us."""
    from alembic.autogenerate import compare_metadata  # noqa: PLC0415 - half a second, for this alone
    from alembic.migration import MigrationContext  # noqa: PLC0415

    from db.models import Table  # noqa: PLC0415

    context = MigrationContext.configure(connection, opts={"compare_type": True})
    other = {_table_of(found) for found in compare_metadata(context, Table.metadata)}
    hidden = "SELECT relname FROM pg_class c WHERE relrowsecurity AND relnamespace = current_schema()::regnamespace"
    other |= {str(name) for (name,) in connection.exec_driver_sql(hidden)}
    names = set(inspect(connection).get_table_names())
    return {("table", name): "another" if name in other else "" for name in ours if name in names}


def _table_of(found: Any) -> str:
    """The table that a difference is about, as Alembic tells one: the kind, then a thing, or its schema and table."""
    said = found[0] if isinstance(found, list) else found
    if isinstance(said[2] if len(said) > 2 else None, str):
        return str(said[2])
    thing = said[1]
    return str(thing.name if str(said[0]).endswith("_table") else thing.table.name)
