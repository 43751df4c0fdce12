"""How many connections to PostgreSQL two busy processes take: no more than a server gives that nobody has set up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from app.server.web import COOKIE
from db.people.accounts import set_member
from db.people.sign_in import one_time_sign_in, use_one_time
from db.permissions import Role
from tests import postgresql
from tests.makers import StudyInUse
from tests.servers import WITHOUT_TLS, RunningServer, running_server

pytestmark = pytest.mark.slow

PEOPLE = 60
PROCESS = 45
"""Connections of a serving process, as docs/administration.md says."""
ADMITTED = 97
"""Of PostgreSQL's default of 100, three are its superuser's."""


@pytest.fixture
def address() -> Iterator[str]:
    """A server with PostgreSQL's own number of connections, and a person who is not its superuser."""
    if postgresql.programs() is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    server = postgresql.start(max_connections=100)
    try:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE ROLE assay LOGIN")
            connection.execute("CREATE DATABASE busy OWNER assay")
        yield server.url("busy")
    finally:
        server.stop()


@contextmanager
def counted(superuser: str) -> Iterator[list[Counter[str]]]:
    """How many connections each process had, looked at twenty times a second as long as the block lasts."""
    seen: list[Counter[str]] = []
    over = threading.Event()

    def look() -> None:
        with psycopg.connect(superuser, autocommit=True) as connection:
            while not over.wait(0.05):
                rows = connection.execute(
                    "SELECT application_name FROM pg_stat_activity WHERE usename = 'assay' AND datname = 'busy'"
                )
                seen.append(Counter(name for (name,) in rows))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


async def everybody_at_once(servers: list[RunningServer], study: StudyInUse, tokens: list[str]) -> Counter[str]:
    """Each of sixty people asks each process for work, which writes, and for the disputes, which reads, four times."""
    answers: Counter[str] = Counter()

    async def ask(client: httpx.AsyncClient, path: str) -> None:
        for _ in range(4):
            answer = await client.get(path, timeout=60)
            answers[str(answer.status_code) if answer.status_code == 200 else answer.text] += 1

    asked = []
    for server in servers:
        for token in tokens:
            client = httpx.AsyncClient(base_url=server.url, cookies={COOKIE: token}, verify=WITHOUT_TLS)
            asked += [ask(client, f"/api/studies/{study.study_id}/{what}") for what in ("work", "disputes")]
    await asyncio.gather(*asked)
    return answers


def test_two_busy_processes_fit_into_what_postgresql_admits_by_itself(address: str, tmp_path: Path) -> None:
    own = address.replace("postgres@", "assay@")
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                running_server(
                    tmp_path / name, ASSAY_DATABASE_URL=f"{own}?application_name={name}", ASSAY_WAIT_SECONDS="4"
                )
            )
            for name in ("one", "two")
        ]
        first = servers[0]
        study = StudyInUse(first.db, items=8, annotators=PEOPLE, overlap=PEOPLE)
        for actor in study.annotators:
            set_member(first.db, first.admin, study.project_id, name=actor.name, role=Role.ADJUDICATOR)
        tokens = [
            use_one_time(first.db, one_time_sign_in(first.db, first.admin, name=actor.name))
            for actor in study.annotators
        ]
        for server in servers:
            server.db.dispose()  # the test's own
        held = stack.enter_context(psycopg.connect(address))
        held.execute("LOCK TABLE study_member, study, assignment IN EXCLUSIVE MODE")
        threading.Timer(6.0, held.rollback).start()
        with counted(address) as seen:
            begun = time.monotonic()
            answers = asyncio.run(everybody_at_once(servers, study, tokens))
            assert time.monotonic() - begun > 6
    most = {name: max(count[name] for count in seen) for name in ("one", "two")}
    assert min(most.values()) >= 16, f"they were not busy: {most}"
    assert max(most.values()) <= PROCESS
    assert max(opened.total() for opened in seen) <= 2 * PROCESS <= ADMITTED
    assert answers["200"] > 0
    # Nobody was told anything but to come again.
    assert {text for text in answers if text != "200" and "DatabaseBusy" not in text} == set()
    assert answers.total() == 2 * 2 * 4 * PEOPLE
