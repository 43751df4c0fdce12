"""What one submit costs when nobody else is there: through HTTP, beside a route that stores one row and does no more.

Run: .venv/bin/python -m tests.bench.bench_submit [--rounds 300] [--large 100000] [--day 10000]
One client with one kept connection submits one item after the other to a real server, in three places: a study of 1,000
items, the same after that annotator has submitted 10,000 others today, and a study of 100,000 items. In turns with them
it asks the floor: uvicorn and Starlette with one route that inserts one row in one transaction, with the journal and
the syncing that we have. Prints p50 and p95, the server's processor time and the SQL statements a submit, and ratios.
"""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from sqlalchemy import event, func
from sqlmodel import col, select

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from app.server.web import COOKIE
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.engine import Database, insert_many
from db.models import AnnotationKind, Assignment, Document, ItemVersion, now
from db.people.sign_in import session_actor, sign_in
from db.projects import create_project
from db.query import database_time
from tests.bench.bench_browser import cpu_seconds, one_step
from tests.bulk import make_items
from tests.servers import PASSWORD, ROOT, RunningServer, free_port, running_server

TURNS = 10

FLOOR = """
import sqlite3, sys, uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route

connection = sqlite3.connect(sys.argv[1], isolation_level=None, check_same_thread=False)
for pragma in ("journal_mode=WAL", "synchronous=FULL"):
    connection.execute(f"PRAGMA {pragma}")
connection.execute("CREATE TABLE kept (id INTEGER PRIMARY KEY, body TEXT)")

def store(body):
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO kept (body) VALUES (?)", (body,))
    connection.execute("COMMIT")

async def submit(request):
    await run_in_threadpool(store, (await request.body()).decode())
    return JSONResponse({"saved": True})

app = Starlette(routes=[Route("/submit", submit, methods=["POST"])])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", timeout_keep_alive=75)
"""


@dataclass
class Seen:
    """Milliseconds of each submit, and the processor time that the server spent on all of them."""

    times: list[float] = field(default_factory=list)
    cpu: float = 0.0

    def line(self, name: str, floor: Seen | None = None) -> str:
        """What was seen, and as a ratio to the floor."""
        p50, p95 = quantiles(self.times)
        cost = 1000 * self.cpu / len(self.times)
        said = f"{name:40} p50 {p50:6.2f} ms  p95 {p95:6.2f} ms  server CPU {cost:5.2f} ms"
        if floor is None:
            return said
        low, high = quantiles(floor.times)
        return f"{said}  ratio to the floor {p50 / low:.2f} / {p95 / high:.2f}"


def quantiles(times: list[float]) -> tuple[float, float]:
    """p50 and p95."""
    return statistics.median(times), sorted(times)[int(len(times) * 0.95)]


class Client:
    """One connection that stays open."""

    def __init__(self, url: str, cookie: str = "") -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
        self._headers = {"Content-Type": "application/json", "Origin": url, "X-Assay": "1", "Cookie": cookie}

    def ask(self, path: str, body: object = None) -> dict:
        """The JSON that is answered."""
        sent = None if body is None else json.dumps(body)
        self._connection.request("GET" if sent is None else "POST", path, sent, self._headers)
        answer = self._connection.getresponse()
        data = answer.read()
        assert answer.status == 200, data
        return json.loads(data)


class Annotator:
    """Submits one item after the other, as the browser does."""

    def __init__(self, client: Client, study_id: int) -> None:
        self._client, self._path = client, f"/api/studies/{study_id}"
        self._known = {item["assignment"]: item for item in client.ask(f"{self._path}/work")["items"]}
        self._order = list(self._known)

    def submit(self) -> None:
        """Submit the item at hand; the answer brings the one after those ahead."""
        item = self._known.pop(self._order[0])
        body = {key: item[key] for key in ("assignment", "sitting", "step")}
        label = {"criterion": "right", "target": "item", "value": "yes"}
        body |= {"uid": uuid.uuid4().hex, "labels": [label], "seconds": 1, "have": self._order[1:]}
        found = self._client.ask(f"{self._path}/submit", body)
        self._known |= {item["assignment"]: item for item in found["items"] if not item.get("kept")}
        self._order = [item["assignment"] for item in found["items"]]


def measured(ask: Callable[[], None], rounds: int, pid: int, seen: Seen) -> None:
    """Ask so many times."""
    cpu = cpu_seconds(pid)
    for _ in range(rounds):
        begun = time.perf_counter()
        ask()
        seen.times.append((time.perf_counter() - begun) * 1000)
    seen.cpu += cpu_seconds(pid) - cpu


def make_study(server: RunningServer, name: str, n: int, person: str) -> int:
    """A study of n items by this person alone, each with a page as evidence."""
    project_id = create_project(server.db, server.admin, name)
    make_items(server.db, project_id, n)
    with server.db.write() as session:
        document = Document(project_id=project_id, key="paper.pdf", n_pages=12)
        session.add(document)
        session.flush()
        first = session.scalars(select(func.max(ItemVersion.id))).one() - n + 1
        columns = ["item_version_id", "key", "position", "kind", "document_id", "pages", "text", "extra"]
        rows = [(first + i, "e1", 0, "page", document.id, f"[{1 + i % 12}]", "The page.", "{}") for i in range(n)]
        insert_many(session.connection(), "evidence", columns, rows)
    design = StudyDesign(name=name, annotators=(person,), overlap=1, order="given")
    return create_study(server.db, server.admin, project_id, protocol=one_step(), design=design).study_id


def fill_the_day(db: Database, study_id: int, person_id: int, n: int) -> None:
    """As if this person had submitted n times today, in the five hours before this moment."""
    with db.write() as session:
        query = select(Assignment.id, Assignment.study_item_id).where(Assignment.study_id == study_id)
        slots = session.execute(query.order_by(col(Assignment.id)).limit(n)).all()
        apart, end = timedelta(hours=5) / n, now()
        submissions, annotations = [], []
        for number, (slot, item) in enumerate(slots):
            at = database_time(session, end - (n - number) * apart)
            submissions.append((uuid.uuid4().hex, slot, 99, 0, person_id, "[]", 1.0, at))
            annotations.append((study_id, item, slot, 99, person_id, AnnotationKind.SURPLUS, 1.0, at))
        columns = ["uid", "assignment_id", "sitting", "step", "person_id", "shown", "seconds", "created_at"]
        insert_many(session.connection(), "submission", columns, submissions)
        columns = ["study_id", "study_item_id", "assignment_id", "sitting", "person_id", "kind", "seconds"]
        insert_many(session.connection(), "annotation", [*columns, "created_at"], annotations)


def statements(db: Database, token: str, study_id: int) -> list[str]:
    """The SQL of one submit, from the cookie to the answer."""
    heard: list[str] = []

    def hear(*given: object) -> None:
        heard.append(str(given[2]))

    actor = session_actor(db, token)
    item, *ahead = work(db, actor, study_id)["items"]
    step = StepSubmission(uuid.uuid4().hex, item["assignment"], 1, 0, (GivenLabel("right", "item", "yes"),), seconds=1)
    event.listen(db.engine, "before_cursor_execute", hear)
    submit(db, session_actor(db, token), study_id, step=step, have=[item["assignment"] for item in ahead])
    event.remove(db.engine, "before_cursor_execute", hear)
    return [line for line in heard if not line.startswith("BEGIN")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--day", type=int, default=10_000)
    parser.add_argument("--show", action="store_true", help="print the statements of a submit")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, running_server(Path(temporary) / "home") as server:
        people = {name: server.person(name, default_role="annotator") for name in ("ada", "ben")}
        tokens = {name: sign_in(server.db, name, PASSWORD, None) for name in people}
        clients = {name: Client(server.url, f"{COOKIE}={token}") for name, token in tokens.items()}
        small = make_study(server, "small", max(1_000, chosen.rounds * 2), "ada")
        large = make_study(server, "large", chosen.large, "ada")
        busy = make_study(server, "busy", max(chosen.rounds * 2, chosen.day), "ben")
        fill_the_day(server.db, busy, people["ben"], chosen.day)
        port = free_port()
        command = [sys.executable, "-c", FLOOR, str(Path(temporary) / "floor.db"), str(port)]
        naive = subprocess.Popen(command, cwd=ROOT)
        floor_client = Client(f"http://127.0.0.1:{port}")
        try:
            wait_until_it_answers(port)
            pid = server.process.pid
            row = {"uid": uuid.uuid4().hex, "labels": [{"criterion": "right", "value": "yes"}]}
            asked: dict[str, tuple[Callable[[], None], int]] = {
                "floor: one row": (lambda: void(floor_client.ask("/submit", row)), naive.pid),
                "1,000 items": (Annotator(clients["ada"], small).submit, pid),
                f"after {chosen.day:,} own ones today": (Annotator(clients["ben"], busy).submit, pid),
                f"{chosen.large:,} items": (Annotator(clients["ada"], large).submit, pid),
            }
            # In turns, so that what else the machine does meets all alike; the first turn warms up.
            found: dict[str, Seen] = {}
            for turn in range(TURNS + 1):
                for name, (ask, of) in asked.items():
                    seen = found.setdefault(name, Seen()) if turn else Seen()
                    measured(ask, max(1, chosen.rounds // TURNS), of, seen)
            floor = found.pop("floor: one row")
            print(floor.line("floor: one row"))
            for name, seen in found.items():
                print(seen.line(name, floor))
            base = quantiles(found["1,000 items"].times)[0]
            for name, seen in list(found.items())[1:]:
                print(f"{name}: ratio of p50 to 1,000 items {quantiles(seen.times)[0] / base:.2f}")
            sql = statements(server.db, tokens["ada"], small)
            print(f"SQL statements a submit, the session and the role included: {len(sql)}")
            if chosen.show:
                print("\n".join(" ".join(line.split()) for line in sql))
        finally:
            naive.terminate()
            naive.wait(20)


def void(_answer: object) -> None:
    """What was answered is not looked at."""


def wait_until_it_answers(port: int, seconds: float = 30) -> None:
    """Until the floor's server has started."""
    until = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    main()
