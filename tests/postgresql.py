"""A real PostgreSQL server for the tests: made in a temporary folder, thrown away at the end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import psycopg


@dataclass
class Server:
    """A running server and how to stop it."""

    folder: Path
    port: int
    programs: Path
    prefix: list[str]

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def stop(self) -> None:
        command = [
            *self.prefix,
            str(self.programs / "pg_ctl"),
            "-D",
            str(self.folder / "data"),
            "-m",
            "immediate",
            "stop",
        ]
        subprocess.run(command, check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def programs() -> Path | None:
    """The folder with the newest installed server's programs, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path and shutil.which("pg_ctl") else None


def start(*, max_connections: int = 300) -> Server:
    """Make a cluster and start it; PostgreSQL refuses to run as root, so then it runs as the user `postgres`."""
    where = programs()
    assert where is not None
    folder = Path(tempfile.mkdtemp(prefix="assay-postgresql-"))
    prefix: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        prefix = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = folder / "data"
    initdb = [
        *prefix,
        str(where / "initdb"),
        "-D",
        str(data),
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-sync",
    ]
    subprocess.run([*initdb, "--locale=C.UTF-8"], check=True, capture_output=True, cwd="/")
    # The tests create and drop many databases; what they hold need not survive a power cut, and compiling a query (jit)
    # takes longer than its few rows.
    where_from = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    unsafe = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off"
    options = f"{where_from} {unsafe} -c jit=off -c max_connections={max_connections}"
    command = [*prefix, str(where / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start"]
    subprocess.run(command, check=True, capture_output=True, cwd="/", stdin=subprocess.DEVNULL)
    return Server(folder, port, where, prefix)


TAKEN_AT_MOST = 40
"""Tests that one database serves: what they delete stays in its files until PostgreSQL's own cleaning."""

# Everything that a test might have changed besides rows: what tables, columns, keys, indexes, triggers and functions
# there are, what is set for the database, and which migration it is at.
_SHAPE = """
SELECT md5(concat(
  (SELECT string_agg(c::text, ',' ORDER BY c.oid) FROM (
     SELECT oid, relname, relkind, relnatts, relchecks, relhastriggers, relowner, relacl FROM pg_class
     WHERE relnamespace = 'public'::regnamespace) c),
  (SELECT string_agg(a::text, ',' ORDER BY a.attrelid, a.attnum) FROM (
     SELECT attrelid, attnum, attname, atttypid, atttypmod, attnotnull, attisdropped FROM pg_attribute
     WHERE attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)) a),
  (SELECT string_agg(k::text, ',' ORDER BY k.oid) FROM (
     SELECT oid, conname, convalidated FROM pg_constraint WHERE connamespace = 'public'::regnamespace) k),
  (SELECT string_agg(t::text, ',' ORDER BY t.oid) FROM (SELECT oid, tgname, tgenabled FROM pg_trigger) t),
  (SELECT string_agg(p::text, ',' ORDER BY p.oid) FROM (
     SELECT oid, proname, md5(prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace) p),
  (SELECT string_agg(setconfig::text, ',') FROM pg_db_role_setting
     WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())),
  (SELECT string_agg(version_num, ',') FROM alembic_version)))
"""

# Without its triggers, which refuse to delete; only where there is something, and the numbers begin at 1 again.
_EMPTY = """
SET session_replication_role = replica;
DO $$
DECLARE one text; found boolean;
BEGIN
  FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', one) INTO found;
    IF found THEN EXECUTE format('DELETE FROM %I', one); END IF;
  END LOOP;
  FOR one IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL LOOP
    EXECUTE format('ALTER SEQUENCE %I RESTART', one);
  END LOOP;
END $$
"""


@dataclass
class Pool:
    """Migrated databases that tests take in turn, since making one takes longer than most tests.

    One that comes back is emptied; it is thrown away where a test has changed more than rows, or left somebody
    connected.
    """

    server: Server
    template: str
    _waiting: list[tuple[str, str, int]] = field(default_factory=list)  # name, shape, how often it was taken
    _taken: dict[str, tuple[str, int]] = field(default_factory=dict)
    _made: int = 0

    def take(self) -> str:
        """The name of an empty, migrated database."""
        if self._waiting:
            name, shape, times = self._waiting.pop()
        else:
            self._made += 1
            name, times = f"test_{os.getpid()}_{self._made}", 0
            self._on_server(f"CREATE DATABASE {name} TEMPLATE {self.template}")
            with self._inside(name) as connection:
                shape = _shape(connection)
        self._taken[name] = (shape, times + 1)
        return name

    def give_back(self, name: str) -> None:
        """Empty it for the next test, or throw it away."""
        shape, times = self._taken.pop(name)
        if times < TAKEN_AT_MOST and self._emptied(name, shape):
            self._waiting.append((name, shape, times))
        else:
            self._on_server(f"DROP DATABASE {name} WITH (FORCE)")

    def _emptied(self, name: str, shape: str) -> bool:
        try:
            with self._inside(name) as connection:
                others = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
                if connection.execute(others, (name,)).fetchone() != (0,) or _shape(connection) != shape:
                    return False
                connection.execute("SET lock_timeout = '1s'")
                connection.execute(_EMPTY)
        except psycopg.Error:
            return False
        return True

    def _inside(self, name: str) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.server.url(name), autocommit=True)

    def _on_server(self, command: str) -> None:
        with self._inside("postgres") as connection:
            connection.execute(command.encode())


def _shape(connection: psycopg.Connection[tuple[object, ...]]) -> str:
    found = connection.execute(_SHAPE.encode()).fetchone()
    assert found is not None
    return str(found[0])
