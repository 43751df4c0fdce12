"""Triggers by which the database itself refuses to change or delete rows of append-only tables.

They are made anew after every migration, because a migration that recreates a table on SQLite drops its triggers.
Rows of a batch that is not published may be deleted, and nothing else: nobody has seen them, and an import that was
broken off leaves them behind (`db/items/unpublished.py`).
`INSERT OR REPLACE` deletes without firing a delete trigger unless `recursive_triggers` is on, which is a matter of the
connection; so an insert trigger refuses a row whose key is already there, whoever is connected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy import Connection, Table, UniqueConstraint

from db import models


def _append_only() -> list[Table]:
    metadata = models.Table.metadata
    return [metadata.tables[name] for name in models.append_only_tables()]


def _same_row(table: Table) -> Iterator[str]:
    """The conditions under which a row has a key that the row `NEW` has as well."""
    for key in _unique_keys(table):
        yield " AND ".join(f'"{name}" = NEW."{name}"' for name in key)
    for index in table.indexes:
        where = index.dialect_options["sqlite"]["where"]
        if index.unique and where is not None:  # a key of some rows only: `column IS NULL`
            same = " AND ".join(f'"{column.name}" = NEW."{column.name}"' for column in index.columns)
            yield f"{same} AND {where} AND NEW.{where}"


def _unique_keys(table: Table) -> list[list[str]]:
    keys = [[column.name for column in table.primary_key.columns]]
    keys += [
        [column.name for column in constraint.columns]
        for constraint in table.constraints
        if isinstance(constraint, UniqueConstraint)
    ]
    keys += [[column.name] for column in table.columns if column.unique]
    return keys


_BATCH_OF_VERSION = "(SELECT v.batch_id FROM item_version v WHERE v.id = OLD.item_version_id)"
_BATCH_OF: dict[str, str] = {
    "item_version": "OLD.batch_id",
    "item_document": _BATCH_OF_VERSION,
    "evidence": _BATCH_OF_VERSION,
    "claim": _BATCH_OF_VERSION,
    "image": _BATCH_OF_VERSION,
    "run": "OLD.batch_id",
    "score": "(SELECT r.batch_id FROM run r WHERE r.id = OLD.run_id)",
}
"""Table that imports write → the batch that a row `OLD` of it came with."""


def _is_published(name: str) -> str:
    return f"NOT EXISTS (SELECT 1 FROM unpublished_batch u WHERE u.batch_id = {_BATCH_OF[name]})"


def _sqlite(table: Table) -> Iterator[str]:
    name = table.name
    same = " OR ".join(f"EXISTS (SELECT 1 FROM {name} WHERE {row})" for row in _same_row(table))
    message = f"{name} is append-only"
    for event in ("UPDATE", "DELETE"):
        when = f"WHEN {_is_published(name)} " if event == "DELETE" and name in _BATCH_OF else ""
        yield f"DROP TRIGGER IF EXISTS keep_{name}_{event.lower()}"
        yield (
            f"CREATE TRIGGER keep_{name}_{event.lower()} BEFORE {event} ON {name} {when}"
            f"BEGIN SELECT RAISE(ABORT, '{message}: {event} is refused'); END"
        )
    yield f"DROP TRIGGER IF EXISTS keep_{name}_replace"
    yield (
        f"CREATE TRIGGER keep_{name}_replace BEFORE INSERT ON {name} WHEN {same} "
        f"BEGIN SELECT RAISE(ABORT, '{message}: this row is already there'); END"
    )


class Guard(NamedTuple):
    """A guard on PostgreSQL: its name, before what and for each of what (`ROW`, `STATEMENT`) it calls a function."""

    name: str
    before: tuple[str, ...]
    each: str
    function: str


_REFUSES = "assay_refuse_change"


def _guards_of(table: Table) -> Iterator[Guard]:
    name = table.name
    if name not in _BATCH_OF:
        yield Guard(f"keep_{name}", ("UPDATE", "DELETE", "TRUNCATE"), "STATEMENT", _REFUSES)
        return
    yield Guard(f"keep_{name}", ("UPDATE", "TRUNCATE"), "STATEMENT", _REFUSES)
    yield Guard(f"keep_{name}_delete", ("DELETE",), "ROW", f"assay_refuse_delete_of_{name}")


def functions_on_postgresql() -> dict[str, str]:
    """The functions that guards call, name → what it does, in PL/pgSQL."""
    bodies = {_REFUSES: "BEGIN RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP; END"}
    for name in _BATCH_OF:
        bodies[f"assay_refuse_delete_of_{name}"] = (
            f"BEGIN IF {_is_published(name)} THEN RAISE EXCEPTION '{name} is append-only: DELETE is refused'; END IF; "
            "RETURN OLD; END"
        )
    return bodies


def _postgresql(table: Table) -> Iterator[str]:
    yield from _dropped(table)
    for guard in _guards_of(table):
        yield (
            f"CREATE TRIGGER {guard.name} BEFORE {' OR '.join(guard.before)} ON {table.name} "
            f"FOR EACH {guard.each} EXECUTE FUNCTION {guard.function}()"
        )


def _dropped(table: Table) -> Iterator[str]:
    yield f"DROP TRIGGER IF EXISTS keep_{table.name} ON {table.name}"
    yield f"DROP TRIGGER IF EXISTS keep_{table.name}_delete ON {table.name}"


def on_sqlite() -> dict[str, list[str]]:
    """Append-only table → the names of its guards on SQLite, that of changes and of deletions first."""
    return {
        table.name: [f"keep_{table.name}_{event}" for event in ("update", "delete", "replace")]
        for table in _append_only()
    }


def on_postgresql() -> dict[str, list[Guard]]:
    """Append-only table → its guards on PostgreSQL."""
    return {table.name: list(_guards_of(table)) for table in _append_only()}


def install(connection: Connection) -> None:
    """Make the triggers of every append-only table, replacing what is there."""
    if connection.dialect.name == "postgresql":
        for name, body in functions_on_postgresql().items():
            made = f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$"
            connection.exec_driver_sql(made.replace("%", "%%"))
    for table in _append_only():
        statements = _postgresql(table) if connection.dialect.name == "postgresql" else _sqlite(table)
        for statement in statements:
            connection.exec_driver_sql(statement)


@contextmanager
def lifted(connection: Connection) -> Iterator[None]:
    """Without the guards, inside the caller's transaction: for the audited maintenance operations only.

    Both databases undo DDL with the transaction, so that an error leaves the guards in place.
    """
    remove(connection)
    yield
    install(connection)


def remove(connection: Connection) -> None:
    """Take every guard away, inside the caller's transaction: `install` puts them back before it ends."""
    for table in _append_only():
        if connection.dialect.name == "postgresql":
            for statement in _dropped(table):
                connection.exec_driver_sql(statement)
        else:
            for event in ("update", "delete", "replace"):
                connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS keep_{table.name}_{event}")
