"""Fifty annotators at once, each submitting every two seconds, the client on the same machine.

Run: .venv/bin/python -m tests.bench.bench_load [--minutes 10] [--annotators 50] [--every 2.0] [--settled 60]
First all of them, signed in, open the study in the same second: from asking for work until the item and the picture of
its first page are there, `--settled` seconds after the study was made, in which the server may draw ahead.
Each annotator signs in, asks for work, and submits one item after the other through the routes the browser uses; the
answer carries the next item. Page pictures of the next item are fetched as the browser would. Prints p50 and p95 of
submits, errors, the server's memory at minute 2 and at the end, and its share of one core.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from annotators.designing.design import StudyDesign
from db.designing.making import create_study
from db.projects import create_project
from exports.importing.items import import_paths
from tests.bench.bench_browser import cpu_seconds, make_items, one_step
from tests.servers import PASSWORD, RunningServer, memory_mb, running_server


@dataclass
class Seen:
    """What the client measured."""

    submits: list[float] = field(default_factory=list)
    pictures: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: int = 0


async def annotator(url: str, name: str, study_id: int, *, until: float, every: float, seen: Seen) -> None:
    """One person: sign in once, then submit and look, every few seconds."""
    headers = {"Origin": url, "X-Assay": "1"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
        await client.post("/sign-in", data={"name": name, "password": PASSWORD})
        work = (await client.get(f"/api/studies/{study_id}/work")).json()
        known = {item["assignment"]: item for item in work["items"]}
        order = list(known)
        fetched: set[str] = set()
        await asyncio.sleep(random.uniform(0, every))
        while time.monotonic() < until and order:
            begun = time.monotonic()
            item = known.pop(order[0])
            label = {"criterion": "right", "target": "item", "value": "yes"}
            body = {key: item[key] for key in ("assignment", "sitting", "step")}
            body |= {"uid": uuid.uuid4().hex, "labels": [label], "seconds": every, "have": order[1:]}
            try:
                answer = await client.post(f"/api/studies/{study_id}/submit", json=body)
                seen.submits.append((time.monotonic() - begun) * 1000)
                if answer.status_code != 200:
                    seen.errors.append(f"{answer.status_code} {answer.text[:200]}")
                    return
                found = answer.json()
                seen.acknowledged += 1
                known |= {item["assignment"]: item for item in found["items"] if not item.get("kept")}
                order = [item["assignment"] for item in found["items"]]
                await look_ahead(client, known, fetched, seen)
            except httpx.HTTPError as error:
                seen.errors.append(repr(error))
            await asyncio.sleep(max(0.0, every - (time.monotonic() - begun)))


async def open_together(url: str, people: int, study_id: int) -> list[float]:
    """Milliseconds until each of these people, who open the study in the same second, has data and picture."""
    headers = {"Origin": url, "X-Assay": "1"}
    limits = httpx.Limits(max_connections=None)
    clients = [httpx.AsyncClient(base_url=url, headers=headers, timeout=60, limits=limits) for _ in range(people)]
    for number, client in enumerate(clients):
        await client.post("/sign-in", data={"name": f"person{number:03}", "password": PASSWORD})

    async def timed(client: httpx.AsyncClient) -> float:
        await asyncio.sleep(random.uniform(0, 1))
        begun = time.monotonic()
        item = (await client.get(f"/api/studies/{study_id}/work")).json()["items"][0]
        answer = await client.get(first_page(item))
        assert answer.status_code == 200, answer.text
        return (time.monotonic() - begun) * 1000

    times = await asyncio.gather(*map(timed, clients))
    for client in clients:
        await client.aclose()
    return times


def first_page(item: dict) -> str:
    """The address of the page that the browser shows first."""
    unit, document = item["evidence"][0], item["documents"][0]
    return str(document["url"].replace("{page}", str(unit["pages"][0])).replace("{width}", "1200"))


async def look_ahead(client: httpx.AsyncClient, known: dict[int, dict], fetched: set[str], seen: Seen) -> None:
    """The first page of each item at hand, once, as the browser keeps it."""
    for item in known.values():
        url = first_page(item)
        if url not in fetched:
            fetched.add(url)
            begun = time.monotonic()
            answer = await client.get(url)
            seen.pictures.append((time.monotonic() - begun) * 1000)
            if answer.status_code != 200:
                seen.errors.append(f"{answer.status_code} {url}")


def set_up(server: RunningServer, folder: Path, people: int, items: int) -> int:
    """A project with enough items, and a study by all these people, overlap 3."""
    names = [f"person{number:03}" for number in range(people)]
    for name in names:
        server.person(name, default_role="annotator")
    make_items(folder, items)
    project_id = create_project(server.db, server.admin, "load")
    documents = server.home / "data" / "documents"
    import_paths(server.db, server.admin, project_id, paths=[folder], format_name="native", data_folder=documents)
    design = StudyDesign(name="load", annotators=tuple(names), overlap=3)
    return create_study(server.db, server.admin, project_id, protocol=one_step(), design=design).study_id


async def run(server: RunningServer, study_id: int, people: int, minutes: float, every: float) -> Seen:
    """All annotators at once; prints a line a minute."""
    seen = Seen()
    begun, until = time.monotonic(), time.monotonic() + minutes * 60
    pid = server.process.pid
    cpu = cpu_seconds(pid)
    tasks = [
        asyncio.create_task(annotator(server.url, f"person{number:03}", study_id, until=until, every=every, seen=seen))
        for number in range(people)
    ]
    at: dict[int, float] = {}
    for minute in range(1, int(minutes) + 1):
        await asyncio.sleep(max(0.0, begun + minute * 60 - time.monotonic()))
        at[minute] = memory_mb(pid)
        print(
            f"minute {minute:2}: {len(seen.submits):6} submits, {len(seen.errors)} errors, {at[minute]:.0f} MB",
            flush=True,
        )
    await asyncio.gather(*tasks)
    share = (cpu_seconds(pid) - cpu) / (time.monotonic() - begun)
    print(f"server CPU: {100 * share:.0f} % of one core (web process and page workers)")
    if 2 in at:
        last = max(at)
        print(
            f"memory from minute 2 to {last}: {at[2]:.0f} → {at[last]:.0f} MB ({100 * (at[last] / at[2] - 1):+.1f} %)"
        )
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--every", type=float, default=2.0)
    parser.add_argument("--settled", type=float, default=60)
    chosen = parser.parse_args()
    items = int(chosen.annotators * (chosen.minutes * 60 / chosen.every + 10) / 3) + 200
    with tempfile.TemporaryDirectory() as temporary, running_server(Path(temporary) / "home") as server:
        study_id = set_up(server, Path(temporary) / "items", chosen.annotators, items)
        time.sleep(chosen.settled)
        opened = sorted(asyncio.run(open_together(server.url, chosen.annotators, study_id)))
        p50, p95 = statistics.median(opened), opened[int(len(opened) * 0.95)]
        print(f"opening in the same second: p50 {p50:.1f} ms  p95 {p95:.1f} ms  n {len(opened)}", flush=True)
        if chosen.minutes <= 0:
            return
        seen = asyncio.run(run(server, study_id, chosen.annotators, chosen.minutes, chosen.every))
        for name, times in (("submit + next item", seen.submits), ("page picture", seen.pictures)):
            ordered = sorted(times)
            tail = ordered[int(len(ordered) * 0.95)]
            print(f"{name:20} p50 {statistics.median(ordered):7.1f} ms  p95 {tail:7.1f} ms  n {len(ordered)}")
        stored = server.db.engine.connect().exec_driver_sql("SELECT COUNT(*) FROM annotation").scalar_one()
        print(f"errors: {len(seen.errors)} {seen.errors[:3]}; acknowledged {seen.acknowledged}, stored {stored}")
        assert stored >= seen.acknowledged
        print(
            "garbage collection: none after each Streamlit run, gc.freeze() after warm-up (app/server/application.py)"
        )


if __name__ == "__main__":
    main()
