"""Triggers by which the database itself refuses to change or delete rows of append-only tables.

They are made anew after every migration, because a migration that recreates a table on SQLite drops its triggers.
`INSERT OR REPLACE` deletes without firing a delete trigger unless `recursive_triggers` is on, which is a matter of the
connection; so an insert trigger refuses a row whose key is already there, whoever is connected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Table, UniqueConstraint

from db import models


def _append_only() -> list[Table]:
    metadata = models.Table.metadata
    return [metadata.tables[name] for name in models.append_only_tables()]


def _unique_keys(table: Table) -> list[list[str]]:
    keys = [[column.name for column in table.primary_key.columns]]
    keys += [
        [column.name for column in constraint.columns]
        for constraint in table.constraints
        if isinstance(constraint, UniqueConstraint)
    ]
    keys += [[column.name] for column in table.columns if column.unique]
    return keys


def _sqlite(table: Table) -> Iterator[str]:
    name = table.name
    same = " OR ".join(
        "EXISTS (SELECT 1 FROM " + name + " WHERE " + " AND ".join(f'"{c}" = NEW."{c}"' for c in key) + ")"
        for key in _unique_keys(table)
    )
    message = f"{name} is append-only"
    for event in ("UPDATE", "DELETE"):
        yield f"DROP TRIGGER IF EXISTS keep_{name}_{event.lower()}"
        yield (
            f"CREATE TRIGGER keep_{name}_{event.lower()} BEFORE {event} ON {name} "
            f"BEGIN SELECT RAISE(ABORT, '{message}: {event} is refused'); END"
        )
    yield f"DROP TRIGGER IF EXISTS keep_{name}_replace"
    yield (
        f"CREATE TRIGGER keep_{name}_replace BEFORE INSERT ON {name} WHEN {same} "
        f"BEGIN SELECT RAISE(ABORT, '{message}: this row is already there'); END"
    )


def _postgresql(table: Table) -> Iterator[str]:
    name = table.name
    yield f"DROP TRIGGER IF EXISTS keep_{name} ON {name}"
    yield (
        f"CREATE TRIGGER keep_{name} BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} "
        "FOR EACH STATEMENT EXECUTE FUNCTION assay_refuse_change()"
    )


_POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION assay_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP;
END $$
"""


def install(connection: Connection) -> None:
    """Make the triggers of every append-only table, replacing what is there."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_POSTGRESQL_FUNCTION.replace("%", "%%"))
    for table in _append_only():
        statements = _postgresql(table) if connection.dialect.name == "postgresql" else _sqlite(table)
        for statement in statements:
            connection.exec_driver_sql(statement)


@contextmanager
def lifted(connection: Connection) -> Iterator[None]:
    """Without the guards, inside the caller's transaction: for the audited maintenance operations only.

    Both databases undo DDL with the transaction, so that an error leaves the guards in place.
    """
    for table in _append_only():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS keep_{table.name} ON {table.name}")
        else:
            for event in ("update", "delete", "replace"):
                connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS keep_{table.name}_{event}")
    yield
    install(connection)
