"""Somebody else holds the database: people's submits wait and come again, and nothing else stands still with them."""

from __future__ import annotations

import asyncio
import math
import threading
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlmodel import select

from app.server.assets import asset_url
from app.server.web import COOKIE
from db.engine import Database
from db.models import Annotation, Submission
from db.people.sign_in import one_time_sign_in, use_one_time
from tests.faulty_wire import wired
from tests.foreign_locks import locked_file, locked_tables
from tests.makers import StudyInUse
from tests.servers import WITHOUT_TLS, RunningServer, running_server

PEOPLE = 30
LONGEST_HEALTH = 3.0
SLACK = 2.5
"""Seconds that an answer may come after its deadline: the machine is shared."""

ForeignLock = Callable[[], Any]


@dataclass
class Seen:
    """What thirty annotators and a health check met."""

    told_to_wait: list[float] = field(default_factory=list)  # seconds until each 503
    kinds: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[str, str] = field(default_factory=dict)  # uid → status
    longest: float = 0.0
    health: list[float] = field(default_factory=list)
    assets: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


Place = tuple[dict[str, str], ForeignLock]
"""Where a server's database is, and how another program locks it against all writers."""


def in_file(folder: Path) -> Place:
    return {}, lambda: locked_file(folder / "home" / "assay.db")


def on_postgresql(db: Database) -> Place:
    url = db.url.set(drivername="postgresql").render_as_string(hide_password=False)
    return {"ASSAY_DATABASE_URL": url}, lambda: locked_tables(url, "study_member", "study", "assignment", "submission")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return in_file(tmp_path)
    return on_postgresql(request.getfixturevalue("postgresql_database"))


@asynccontextmanager
async def watched(server: RunningServer, client: httpx.AsyncClient, seen: Seen) -> AsyncIterator[None]:
    """Asks how the server is, and for files of its pages, ten times a second as long as the block lasts."""

    async def ask(path: str, seconds: list[float]) -> None:
        begun = time.monotonic()
        answer = await client.get(path, timeout=60)
        seconds.append(time.monotonic() - begun)
        if answer.status_code != 200:
            seen.wrong.append(f"{path}: {answer.status_code} {answer.text[:100]}")

    async def watch() -> None:
        while True:
            await ask("/healthz", seen.health)
            await ask(asset_url("annotate/app.js"), seen.assets)
            await ask("/favicon.png", seen.assets)
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def submit_until_stored(client: httpx.AsyncClient, path: str, item: dict[str, Any], seen: Seen) -> None:
    """As the outbox does: the same submission again, after as long as the server says, until it is acknowledged."""
    label = {"criterion": "right", "target": "item", "value": "yes"}
    body = {key: item[key] for key in ("assignment", "sitting", "step")}
    body |= {"uid": uuid.uuid4().hex, "labels": [label], "seconds": 1.0}
    while True:
        begun = time.monotonic()
        answer = await client.post(f"{path}/submit", json=body, timeout=120)
        took = time.monotonic() - begun
        seen.longest = max(seen.longest, took)
        if answer.status_code == 200:
            assert body["uid"] not in seen.acknowledged
            seen.acknowledged[body["uid"]] = answer.json()["status"]
            return
        if answer.status_code != 503:
            seen.wrong.append(f"{answer.status_code} {answer.text[:200]}")
            return
        seen.told_to_wait.append(took)
        seen.kinds[answer.json()["kind"]] += 1
        await asyncio.sleep(float(answer.headers["Retry-After"]))


async def thirty_submit(server: RunningServer, study: StudyInUse, lock: ForeignLock, seconds: float) -> Seen:
    """Everybody submits in the same moment, while another program has held the database for a moment already."""
    seen, path = Seen(), f"/api/studies/{study.study_id}"
    headers = {"Origin": server.url, "X-Assay": "1"}
    clients = []
    for actor in study.annotators:
        token = use_one_time(server.db, one_time_sign_in(server.db, server.admin, name=actor.name))
        clients.append(
            httpx.AsyncClient(base_url=server.url, headers=headers, cookies={COOKIE: token}, verify=WITHOUT_TLS)
        )
    items = [(await client.get(f"{path}/work", timeout=60)).json()["items"][0] for client in clients]
    watcher = httpx.AsyncClient(base_url=server.url, cookies=clients[0].cookies, verify=WITHOUT_TLS)
    with lock():
        async with watched(server, watcher, seen):
            pairs = zip(clients, items, strict=True)
            going = [asyncio.create_task(submit_until_stored(client, path, item, seen)) for client, item in pairs]
            await asyncio.sleep(seconds)
            assert not seen.acknowledged, "nothing can be stored while another program writes"
    await asyncio.gather(*going)
    for client in (*clients, watcher):
        await client.aclose()
    return seen


def check_nothing_stood_still(server: RunningServer, seen: Seen, *, wait_seconds: float, lock_seconds: float) -> None:
    assert seen.wrong == []
    # However many wait, each is told within one deadline: the waits do not add up.
    assert seen.longest < wait_seconds + SLACK
    rounds = math.floor(lock_seconds / (wait_seconds + SLACK + 2))
    assert len(seen.told_to_wait) >= PEOPLE * max(1, rounds)
    assert set(seen.kinds) == {"DatabaseBusy"}
    assert len(seen.health) > lock_seconds
    assert max(seen.health) < LONGEST_HEALTH
    assert max(seen.assets) < LONGEST_HEALTH
    # What was acknowledged is what is stored, once.
    assert len(seen.acknowledged) == PEOPLE
    assert set(seen.acknowledged.values()) == {"done"}
    with server.db.read() as session:
        uids = session.exec(select(Submission.uid)).all()
        people = session.exec(select(Annotation.person_id)).all()
    assert sorted(uids) == sorted(seen.acknowledged)
    assert len(people) == len(set(people)) == PEOPLE


def run(tmp_path: Path, place: Place, *, wait_seconds: int, lock_seconds: float) -> None:
    environment, lock = place
    with running_server(tmp_path / "home", ASSAY_WAIT_SECONDS=str(wait_seconds), **environment) as server:
        study = StudyInUse(server.db, items=5, annotators=PEOPLE, overlap=PEOPLE)
        seen = asyncio.run(thirty_submit(server, study, lock, lock_seconds))
        check_nothing_stood_still(server, seen, wait_seconds=wait_seconds, lock_seconds=lock_seconds)


@pytest.mark.slow
def test_thirty_submits_wait_for_a_locked_database_and_nobody_else_does(tmp_path: Path, place: Place) -> None:
    run(tmp_path, place, wait_seconds=2, lock_seconds=5)


@pytest.mark.by_the_clock
@pytest.mark.slow
def test_a_database_that_says_nothing_keeps_no_file_from_anybody(tmp_path: Path, postgresql_database: Database) -> None:
    """Not even an error comes back: the health check says so at once, and the pages' files are served all the same."""
    with wired(postgresql_database.url) as (db, wire):
        url = db.url.render_as_string(hide_password=False)
        with running_server(tmp_path / "home", ASSAY_DATABASE_URL=url, ASSAY_WAIT_SECONDS="2") as server:
            client = server.signed_in("admin")
            asset = asset_url("annotate/app.js")
            assert client.get(asset).status_code == 200
            wire.flowing.clear()
            hanging = [threading.Thread(target=_ask_for_work, args=(server, client.cookies[COOKIE])) for _ in range(60)]
            for thread in hanging:
                thread.start()
            try:
                for _ in range(6):
                    for path, status in (("/healthz", 503), ("/favicon.png", 200), (asset, 200)):
                        begun = time.monotonic()
                        assert client.get(path).status_code == status
                        assert time.monotonic() - begun < LONGEST_HEALTH
                    time.sleep(0.5)
                begun = time.monotonic()
                assert _ask_for_work(server, client.cookies[COOKIE])[0] == 503
                assert time.monotonic() - begun < 2 + SLACK
            finally:
                wire.flowing.set()
            for thread in hanging:
                thread.join()
            assert client.get("/healthz").status_code == 200
            assert _ask_for_work(server, client.cookies[COOKIE]) == (403, "NotAllowed")


def _ask_for_work(server: RunningServer, token: str) -> tuple[int, str]:
    answer = httpx.get(f"{server.url}/api/studies/1/work", cookies={COOKIE: token}, timeout=60, verify=WITHOUT_TLS)
    return answer.status_code, answer.json()["kind"]


@pytest.mark.slow
def test_a_lock_of_45_seconds_is_outlived(tmp_path: Path, postgresql_database: Database) -> None:
    """On either database; at the same time, since both wait for the clock."""
    places = {"file": in_file(tmp_path / "file"), "postgresql": on_postgresql(postgresql_database)}
    with ThreadPoolExecutor(2) as both:
        for ran in [
            both.submit(run, tmp_path / name, place, wait_seconds=10, lock_seconds=45) for name, place in places.items()
        ]:
            ran.result()
