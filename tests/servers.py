"""A real server in a process of its own, with a home folder of its own, for tests over HTTP and in a browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.server.web import COOKIE
from db.engine import Database
from db.people.accounts import add_person
from db.permissions import Actor
from db.schema import migrate
from tests.databases import put_database
from tests.makers import first_administrator
from tests.server_mother import ForkedServer, mother

ROOT = Path(__file__).parent.parent
PASSWORD = "four plain words here"
WITHOUT_TLS = False
"""For httpx: a client would read all certificates of the machine, which takes 25 ms of a processor."""


@dataclass
class RunningServer:
    """A started server: its address, its home folder, its database, and its first administrator."""

    url: str
    home: Path
    db: Database
    admin: Actor
    process: subprocess.Popen[str] | ForkedServer
    log: Path
    _clients: list[httpx.Client] = field(default_factory=list)

    def client(self, token: str | None = None) -> httpx.Client:
        """An HTTP client whose requests come from the server's own pages; with a session token, signed in."""
        client = httpx.Client(base_url=self.url, headers={"Origin": self.url}, timeout=20, verify=WITHOUT_TLS)
        if token:
            client.cookies.set(COOKIE, token)
        self._clients.append(client)
        return client

    def person(self, name: str, **options: object) -> int:
        """Add a person with the password that all persons of tests have."""
        return add_person(self.db, self.admin, name, password=PASSWORD, **options)  # type: ignore[arg-type]

    def signed_in(self, name: str) -> httpx.Client:
        """A client that has signed in through the form."""
        client = self.client()
        answer = client.post("/sign-in", data={"name": name, "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        return client

    @property
    def memory_mb(self) -> float:
        """Resident memory of the web process (not of the processes beside it, which are bounded and replaced)."""
        return memory_mb(self.process.pid)

    def warm_memory_mb(self) -> float:
        """The same, once all is loaded that a server loads behind its first answers: when it grows no more."""
        end, memory = time.monotonic() + 90, 0.0
        while time.monotonic() < end:
            before, memory = memory, self.memory_mb
            if abs(memory - before) < 1:
                break
            time.sleep(4)
        return memory

    def close(self) -> None:
        """Stop the server, by its own process id, and wait for its end."""
        for client in self._clients:
            client.close()
        self.db.dispose()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(30)


@contextmanager
def running_server(
    home: Path,
    *,
    command: tuple[str, ...] = (),
    cwd: Path = ROOT,
    port: int = 0,
    log: Path | None = None,
    **environment: str,
) -> Iterator[RunningServer]:
    """Start a server and wait until it answers; `environment` sets ASSAY_… variables. It logs into its home, or `log`.

    Without a `port` it takes a free one and is asked for its address. With a `command` of the interpreter it begins as
    it does for people; else it is forked off a process that has loaded everything.
    """
    home.mkdir(parents=True, exist_ok=True)
    if not (url := environment.get("ASSAY_DATABASE_URL", "")):
        put_database(home / "assay.db")
        url = f"sqlite:///{home / 'assay.db'}"
    db = Database(url)
    migrate(db)
    admin = first_administrator(db, name="admin", password=PASSWORD)
    log = log or home / "server.log"
    own = {"ASSAY_HOME": str(home), "ASSAY_PORT": str(port), "PYTHONPATH": str(ROOT)}
    # Each process that makes reports loads plots and numbers at the start, for seconds; few tests ask for a report.
    variables = {"ASSAY_REPORT_WORKERS": "1", **own, **environment}
    process: subprocess.Popen[str] | ForkedServer
    with log.open("w") as file:
        if command:
            process = subprocess.Popen(
                [sys.executable, *command],
                cwd=cwd,
                env={**os.environ, **variables},
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )
        else:
            process = mother().fork({**os.environ, **variables}, cwd, file)
    address = f"http://127.0.0.1:{port}" if port else _announced(process, log)
    server = RunningServer(address, home, db, admin, process, log)
    try:
        _wait_until_healthy(server)
        yield server
    finally:
        server.close()


def memory_mb(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise ValueError("no VmRSS")


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _announced(process: subprocess.Popen[str] | ForkedServer, log: Path) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Assay is running at http"), f"{line}\n{log.read_text()}"
    return line.split()[-1]


def _wait_until_healthy(server: RunningServer, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert server.process.poll() is None, server.log.read_text()
        try:
            if httpx.get(f"{server.url}/healthz", timeout=5, verify=WITHOUT_TLS).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not answer within {seconds} s:\n{server.log.read_text()}")
