"""Six annotators at work through HTTP while 200,000 items are imported by the command line, on SQLite.

    python -m tests.bench.bench_import_beside [--items 200000] [--annotators 6] [--every 1.0] [--alone 30]

First the annotators work alone, then the import begins beside them in a process of its own, then they work alone again.
Target: p95 of submit → next item during the import at most twice that without, both from the same run. Nothing of the
import may be seen before it has ended.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from annotators.designing.design import StudyDesign
from db.designing.making import create_study
from db.projects import create_project, project_overview
from exports.importing.items import import_paths
from tests.bench.bench_browser import one_step
from tests.bench.bench_import import write_items
from tests.servers import PASSWORD, ROOT, RunningServer, running_server

TARGET = 2.0


@dataclass
class Work:
    """What the annotators saw: (when it began, milliseconds) of each submit, and what went wrong."""

    submits: list[tuple[float, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    done: bool = False

    def between(self, first: float, last: float) -> list[float]:
        """The milliseconds of the submits that began between these moments, in order."""
        return sorted(taken for at, taken in self.submits if first <= at < last)


async def annotator(url: str, name: str, study_id: int, every: float, work: Work) -> None:
    """One person: sign in, then submit the item at hand every so often."""
    async with httpx.AsyncClient(base_url=url, headers={"Origin": url, "X-Assay": "1"}, timeout=60) as client:
        await client.post("/sign-in", data={"name": name, "password": PASSWORD})
        found = (await client.get(f"/api/studies/{study_id}/work")).json()
        known = {item["assignment"]: item for item in found["items"]}
        order = list(known)
        await asyncio.sleep(random.uniform(0, every))
        while not work.done and order:
            begun = time.monotonic()
            item = known.pop(order[0])
            body = {key: item[key] for key in ("assignment", "sitting", "step")}
            label = {"criterion": "right", "target": "item", "value": "yes"}
            body |= {"uid": uuid.uuid4().hex, "labels": [label], "seconds": every, "have": order[1:]}
            answer = await client.post(f"/api/studies/{study_id}/submit", json=body)
            work.submits.append((begun, (time.monotonic() - begun) * 1000))
            if answer.status_code != 200:
                work.errors.append(f"{answer.status_code} {answer.text[:200]}")
                return
            found = answer.json()
            known |= {item["assignment"]: item for item in found["items"] if not item.get("kept")}
            order = [item["assignment"] for item in found["items"]]
            await asyncio.sleep(max(0.0, every - (time.monotonic() - begun)))


def set_up(server: RunningServer, folder: Path, people: int, items: int = 3_000) -> tuple[int, int]:
    """A project of so many items and a study of them by all these people; ids of project and study."""
    names = [f"person{number}" for number in range(people)]
    for name in names:
        server.person(name, default_role="annotator")
    project_id = create_project(server.db, server.admin, "beside")
    write_items(folder / "first.jsonl", items)
    import_paths(server.db, server.admin, project_id, paths=[folder / "first.jsonl"])
    design = StudyDesign(name="beside", annotators=tuple(names), overlap=min(people, 3))
    return project_id, create_study(server.db, server.admin, project_id, protocol=one_step(), design=design).study_id


async def run(server: RunningServer, folder: Path, chosen: argparse.Namespace) -> float:
    """The ratio of the two p95; prints everything."""
    project_id, study_id = set_up(server, folder, chosen.annotators)
    write_items(folder / "many.jsonl", chosen.items, start=3_000)
    work = Work()
    tasks = [
        asyncio.create_task(annotator(server.url, f"person{number}", study_id, chosen.every, work))
        for number in range(chosen.annotators)
    ]
    await asyncio.sleep(3)
    marks = [time.monotonic()]
    await asyncio.sleep(chosen.alone)
    marks.append(time.monotonic())
    command = [
        sys.executable,
        "-m",
        "app.cli",
        "--home",
        str(server.home),
        "import",
        "beside",
        str(folder / "many.jsonl"),
    ]
    importing = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    seen = set()
    while importing.poll() is None:
        seen.add((await asyncio.to_thread(project_overview, server.db, server.admin, project_id)).items)
        await asyncio.sleep(1)
    marks.append(time.monotonic())
    assert importing.returncode == 0
    await asyncio.sleep(chosen.alone)
    marks.append(time.monotonic())
    work.done = True
    await asyncio.gather(*tasks)
    final = (await asyncio.to_thread(project_overview, server.db, server.admin, project_id)).items
    assert final == 3_000 + chosen.items
    assert seen <= {3_000, final}, seen
    p95 = []
    for what, first, last in zip(("alone", "during the import", "alone again"), marks, marks[1:], strict=False):
        taken = work.between(first, last)
        p95.append(taken[int(len(taken) * 0.95)])
        print(
            f"{what:18} {last - first:6.1f} s  submits {len(taken):5}  p50 {statistics.median(taken):7.1f} ms  "
            f"p95 {p95[-1]:7.1f} ms  longest {taken[-1]:7.1f} ms"
        )
    print(f"import: {chosen.items / (marks[2] - marks[1]):,.0f} items a second, start of the program included")
    print(f"errors: {len(work.errors)} {work.errors[:3]}")
    alone = sorted(work.between(marks[0], marks[1]) + work.between(marks[2], marks[3]))
    ratio = p95[1] / alone[int(len(alone) * 0.95)]
    print(f"p95 during / without: {ratio:.2f} (target: at most {TARGET:g})")
    assert not work.errors
    return ratio


def main() -> float:
    """Run it; the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--annotators", type=int, default=6)
    parser.add_argument("--every", type=float, default=1.0)
    parser.add_argument("--alone", type=float, default=30)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, running_server(Path(temporary) / "home") as server:
        return asyncio.run(run(server, Path(temporary), chosen))


if __name__ == "__main__":
    sys.exit(main() > TARGET)
