"""Forty hostile PDFs on a real server: nobody waits for them but who looks at them, and the web process stays small."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from db.designing.making import create_study
from db.models import Document
from db.projects import create_project
from exports.importing.items import import_paths
from tests.bench.bench_browser import one_step
from tests.hostile_pdfs import hostile_pdfs, ordinary
from tests.servers import RunningServer, running_server

pytestmark = pytest.mark.slow

ITEMS = 60
RENDER_SECONDS = 2
GROWTH_MB = 40


@dataclass
class World:
    """A server, a study whose every item is about all of the documents, and the documents' ids."""

    server: RunningServer
    study_id: int
    sound: list[int]
    hostile: dict[str, int]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    sound = {f"sound-{number}": ordinary(4 + number) for number in range(10)}
    hostile = hostile_pdfs()
    limits = {"ASSAY_RENDER_SECONDS": str(RENDER_SECONDS), "ASSAY_RENDER_MEMORY_MB": "1024"}
    with running_server(tmp_path / "home", **limits) as server:
        server.person("ada", default_role="annotator")
        project_id = create_project(server.db, server.admin, "Hostile")
        ids = put(server, tmp_path / "source", project_id, sound | hostile)
        study = create_study(
            server.db,
            server.admin,
            project_id,
            protocol=one_step(),
            design=StudyDesign(name="Hostile", annotators=("ada",), overlap=1),
        )
        yield World(server, study.study_id, [ids[key] for key in sound], {key: ids[key] for key in hostile})


def put(server: RunningServer, folder: Path, project_id: int, documents: dict[str, bytes]) -> dict[str, int]:
    """Import the items, and lay the documents' bytes beside them as if each had been accepted; key → id."""
    folder.mkdir()
    rows = [
        {"id": f"i{number}", "question": f"Question {number}?", "answer": "Yes.", "documents": list(documents)}
        for number in range(ITEMS)
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    home = server.home / "data" / "documents"
    import_paths(server.db, server.admin, project_id, paths=[folder], format_name="native", data_folder=home)
    with server.db.write() as session:
        for row in session.exec(select(Document).where(col(Document.project_id) == project_id)):
            data = documents[row.key]
            row.sha256 = hashlib.sha256(data).hexdigest()
            row.media_type, row.n_pages = "application/pdf", 4
            path = home / row.sha256[:2] / row.sha256
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            session.add(row)
        session.flush()
        return {row.key: row.id or 0 for row in session.exec(select(Document))}


def look_at(client: httpx.Client, document: int, outcomes: Counter[str]) -> None:
    """What the browser asks for when somebody looks at two pages of a document and searches it."""
    at = f"/page-images/{document}"
    for address in (
        f"{at}/1?w=1200&v=a",
        f"{at}/2?w=1200&v=a",
        f"{at}/1?w=800&v=a&x0=0.25&y0=0.25&x1=0.5&y1=0.5",
        f"{at}/1-4?w=160&v=a",
        f"{at}/1?w=160&v=a",
        f"/page-words/{document}/1?v=a",
        f"/page-search/{document}?q=tide",
    ):
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.text[:200])
        failure = answer.headers.get("x-assay-page-failure")
        outcomes["failed" if failure else "answered"] += 1


def label(client: httpx.Client, study_id: int) -> float:
    """Take the item at hand and submit it; seconds from the one request to the other's answer."""
    begun = time.monotonic()
    item = client.get(f"/api/studies/{study_id}/work").json()["items"][0]
    body = {key: item[key] for key in ("assignment", "sitting", "step")}
    body |= {"uid": f"of {item['assignment']}", "labels": [{"criterion": "right", "target": "item", "value": "yes"}]}
    answer = client.post(f"/api/studies/{study_id}/submit", json=body, headers={"X-Assay": "1"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "done", answer.json()["status"]
    return time.monotonic() - begun


@pytest.mark.by_the_clock
def test_memory_stays_flat_and_labels_are_taken_while_hostile_pdfs_are_looked_at(world: World) -> None:
    looking, labelling = world.server.signed_in("ada"), world.server.signed_in("ada")
    looking.timeout = httpx.Timeout(60)
    looking.get(f"/api/studies/{world.study_id}/work")
    outcomes: Counter[str] = Counter()
    for document in world.sound:
        look_at(looking, document, outcomes)
    assert outcomes["failed"] == 0
    for _ in range(3):
        label(labelling, world.study_id)
    before = world.server.warm_memory_mb()

    problems: list[BaseException] = []

    def look() -> None:
        try:
            for document in world.hostile.values():
                look_at(looking, document, outcomes)
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    took = []
    while thread.is_alive() and len(took) < ITEMS - 5:
        took.append(label(labelling, world.study_id))
        thread.join(3)
    thread.join()
    if problems:
        raise problems[0]
    assert outcomes["failed"] >= 20, outcomes
    grown = world.server.memory_mb - before
    print(f"memory {before:.0f} MB, grown by {grown:.0f} MB; labels took at most {max(took):.2f} s; {dict(outcomes)}")
    assert grown < GROWTH_MB
    assert len(took) >= 5
    assert max(took) < RENDER_SECONDS, "a label waited for a page"
    look_at(looking, world.sound[0], outcomes)
