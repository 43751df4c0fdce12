"""Label Studio of the current release in an environment of its own, started for tests; and what goes over the wire."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from tests.environments import environment_python, program

RELEASE = "1.23.2"
DATABASE = "label_studio.sqlite3"
EMAIL, PASSWORD = "ada@example.org", "pass-word-1"
KEY = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class LabelStudio:
    """A running server: its address, and requests with the key of its first account."""

    url: str
    folder: Path
    python: Path
    process: subprocess.Popen[bytes]
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, headers={"Authorization": f"Token {KEY}"}, timeout=60)

    def json(self, method: str, path: str, **given: Any) -> Any:
        answer = self.client.request(method, path, **given)
        assert answer.is_success, answer.text
        return answer.json()

    def person(self, email: str) -> int:
        there = {one["email"]: one["id"] for one in self.json("GET", "/api/users/")}
        if email not in there:
            there[email] = self.json("POST", "/api/users/", json={"username": email, "email": email})["id"]
        found: int = there[email]
        return found

    def stop(self) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(30)


def start(folder: Path) -> LabelStudio:
    """Start it on the data in this folder, which may be empty, and wait until it answers."""
    python = environment_python("label-studio", [f"label-studio=={RELEASE}"])
    first = python.parent.parent / "first-data"
    if not any(folder.iterdir()) and first.exists():
        shutil.copytree(first, folder, dirs_exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(folder),
        "LATEST_VERSION_CHECK": "false",
        "COLLECT_ANALYTICS": "False",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }
    command = [
        str(program(python, "label-studio")),
        "start",
        "--no-browser",
        "--internal-host",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    command += ["--data-dir", str(folder), "--username", EMAIL, "--password", PASSWORD, "--user-token", KEY]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [*command, "--enable-legacy-api-token"], env={**os.environ, **settings}, stdout=log, stderr=log
        )
    url, end = f"http://127.0.0.1:{port}", time.monotonic() + 600
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"{url}/health", timeout=5).is_success:
                _keep(folder, first)
                return LabelStudio(url, folder, python, process)
        except httpx.HTTPError:
            time.sleep(0.5)
    process.kill()
    raise AssertionError((folder / "log").read_text()[-3000:])


def _keep(folder: Path, first: Path) -> None:
    """Keep what the first start made, which takes most of its time, for later ones with this environment."""
    if first.exists():
        return
    made = Path(f"{first}.{os.getpid()}")
    shutil.copytree(folder, made, ignore=shutil.ignore_patterns("*.sqlite3*", "log"))
    with closing(sqlite3.connect(folder / DATABASE)) as there, closing(sqlite3.connect(made / DATABASE)) as copy:
        there.backup(copy)
    try:
        made.rename(first)
    except OSError:  # another worker was first
        shutil.rmtree(made)


def lend_sdk(python: Path) -> None:
    """Let this process find the SDK in the environment of the server, behind all that is our own.

    It pins other packages, so that it is not in the environment of the tests.
    """
    [packages] = (python.parent.parent / "lib").glob("python*/site-packages")
    if str(packages) not in sys.path:
        sys.path.append(str(packages))


@contextmanager
def recorded(
    url: str,
    fault: Callable[[str, str], int | None] | None = None,
    *,
    late: float | None = None,
    path: Callable[[str], str] = str,
) -> Iterator[tuple[str, list[bytes]]]:
    """An address that hands everything on to the server, and a list of what was sent: path, headers and body.

    `fault`: with what a request is answered after it was handed on, by its method and path: a status, 0 for no answer
    at all, None for the server's; a negative status is answered without handing it on. Where it is `late`, such a
    request is handed on so many seconds after it was answered. `path`: with which path a request is handed on.
    """
    sent: list[bytes] = []
    client = httpx.Client(base_url=url, timeout=60)

    class Handler(BaseHTTPRequestHandler):
        def _hand_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            sent.append(b"\n".join([self.path.encode(), repr(headers).encode(), body]))
            status = None if fault is None else fault(self.command, self.path)
            if late is not None and status:
                self.send_error(abs(status))
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                time.sleep(late)
                client.request(self.command, path(self.path), headers=headers, content=body)
                return
            if status is None or status >= 0:
                answer = client.request(self.command, path(self.path), headers=headers, content=body)
            if status is not None:
                self.close_connection = True
                if status:
                    self.send_error(abs(status))
                return
            self.send_response(answer.status_code)
            for name in ("Content-Type", "Content-Disposition"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _hand_on  # noqa: N815 - as the library names them

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        server.server_close()
        client.close()
