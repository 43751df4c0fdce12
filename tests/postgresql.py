"""A real PostgreSQL server for the tests: made in a temporary folder, thrown away at the end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


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
    # The tests create and drop many databases; what they hold need not survive a power cut.
    where_from = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    options = f"{where_from} -c fsync=off -c max_connections={max_connections}"
    command = [*prefix, str(where / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start"]
    subprocess.run(command, check=True, capture_output=True, cwd="/", stdin=subprocess.DEVNULL)
    return Server(folder, port, where, prefix)
