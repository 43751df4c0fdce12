"""What many pages cost whoever judges them: a submit of 180 page labels, and the next item with 60 thumbnails.

Run: .venv/bin/python -m tests.bench.bench_page_labels [--rounds 60] [--items 30]
On a real server, in turns: a submit through HTTP of a step with 180 labels (60 pages, three hops) beside one with 6
(two pages, three hops); and in Chromium, from the event of the key to the first frame in which the next question and
its page are there, items of 60 pages beside items of 3. Each item is about another document than the one before.
Prints p50, p95 and the ratios.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import uuid
from pathlib import Path
from typing import Any

import pymupdf
from playwright.sync_api import Browser, Page, sync_playwright

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from app.server.web import COOKIE
from db.designing.making import create_study
from db.people.sign_in import sign_in as sign_in_to
from db.projects import create_project
from exports.importing.items import import_paths
from tests.bench.bench_browser import WARM_UP, report, start_clock, wait_for_times
from tests.bench.bench_submit import Client, Seen, measured, quantiles
from tests.e2e.conftest import FLAGS, find_chromium, sign_in
from tests.makers import read_guidelines
from tests.servers import PASSWORD, RunningServer, running_server

HOPS = 3
TURNS = 5


def make_study(server: RunningServer, folder: Path, pages: int, items: int, *, hops: int, drawn: bool) -> int:
    """Items about two documents of so many pages in turns, to be seen or known by their number alone."""
    folder.mkdir()
    documents: list[dict[str, Any]] = []
    for name in ("first.pdf", "second.pdf"):
        documents.append({"key": name, "n_pages": pages})
        if drawn:
            with pymupdf.open() as pdf:
                for number in range(1, pages + 1):
                    pdf.new_page().insert_text((72, 90), f"Page {number} of {name}", fontsize=20)
                pdf.save(folder / name)
            documents[-1] = {"key": name, "path": name}
    steps = [{"key": f"h{n}", "question": f"Hop {n}?", "answer": "so"} for n in range(1, hops + 1)]
    rows = [
        {
            "id": f"i{n}", "question_key": f"i{n}", "question": f"Question {n}?", "answer": "So.",
            "documents": [documents[n % 2]["key"]], "hops": steps,
        }
        for n in range(items)
    ]  # fmt: skip
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    project = create_project(server.db, server.admin, folder.name)
    store = server.home / "data" / "documents"
    import_paths(server.db, server.admin, project, paths=[folder], format_name="native", data_folder=store)
    design = StudyDesign(name=folder.name, annotators=("ada",), overlap=1, order="given")
    protocol = PROTOCOLS.get("evidence_pages")
    study = create_study(server.db, server.admin, project, protocol=protocol, design=design).study_id
    read_guidelines(server.db, study)
    return study


class Annotator:
    """Calls every page no evidence but the first, and submits, as the browser does."""

    def __init__(self, client: Client, study: int) -> None:
        self._client, self._path = client, f"/api/studies/{study}"
        self._known = {item["assignment"]: item for item in client.ask(f"{self._path}/work")["items"]}
        self._order = list(self._known)
        self.n_labels = 0

    def submit(self) -> None:
        item = self._known.pop(self._order[0])
        targets = item["units"]["evidence_page"]
        self.n_labels = len(targets)
        labels = [
            {"criterion": "evidence_page", "target": target, "value": "evidence" if at == 0 else "not_evidence"}
            for at, target in enumerate(targets)
        ]
        body = {key: item[key] for key in ("assignment", "sitting", "step")}
        body |= {"uid": uuid.uuid4().hex, "labels": labels, "seconds": 1, "have": self._order[1:]}
        found = self._client.ask(f"{self._path}/submit", body)
        self._known |= {item["assignment"]: item for item in found["items"] if not item.get("kept")}
        self._order = [item["assignment"] for item in found["items"]]


def submits(server: RunningServer, folder: Path, rounds: int) -> None:
    client = Client(server.url, f"{COOKIE}={sign_in_to(server.db, 'ada', PASSWORD, None)}")
    places = {
        pages: Annotator(
            client,
            make_study(server, folder / f"submit-{pages}", pages, rounds + 2 * TURNS + 5, hops=HOPS, drawn=False),
        )
        for pages in (2, 60)
    }  # fmt: skip
    seen = {pages: Seen() for pages in places}
    for turn in range(TURNS + 1):
        for pages, annotator in places.items():
            n, to = (max(1, rounds // TURNS), seen[pages]) if turn else (TURNS, Seen())  # the first turn warms up
            measured(annotator.submit, n, server.process.pid, to)
    for pages, annotator in places.items():
        print(seen[pages].line(f"submit of {annotator.n_labels} page labels"))
    few, many = (quantiles(seen[pages].times) for pages in places)
    print(f"ratio p50 {many[0] / few[0]:.2f}  p95 {many[1] / few[1]:.2f}  (target: at most 2)", flush=True)


def next_items(browser: Browser, server: RunningServer, folder: Path, items: int) -> None:
    pages: dict[int, Page] = {}
    for n_pages in (3, 60):
        study = make_study(server, folder / f"next-{n_pages}", n_pages, items + WARM_UP + 5, hops=0, drawn=True)
        page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
        sign_in(page, server, "ada")
        where = {"root": "[data-testid=annotate]", "question": "[data-testid=question]", "event": "keydown"}
        start_clock(page, {**where, "pictures": "[data-testid=page] img"})
        page.goto(f"{server.url}/annotate?study={study}")
        page.get_by_test_id("item").wait_for()
        page.wait_for_timeout(2000)
        pages[n_pages] = page
    for number in range(items + WARM_UP):
        for page in pages.values():
            page.bring_to_front()
            page.keyboard.press("A")
            page.wait_for_timeout(150)  # a person takes longer
            page.keyboard.press("Enter")
            wait_for_times(page, number + 1)
    few, many = (report(f"submit → next item of {n} pages", page.evaluate("window.times")) for n, page in pages.items())
    print(f"ratio p50 {many[0] / few[0]:.2f}  p95 {many[1] / few[1]:.2f}  (target: at most 1.3)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--items", type=int, default=30)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        with running_server(folder / "home") as server:
            server.person("ada", default_role="annotator")
            submits(server, folder, arguments.rounds)
            next_items(browser, server, folder, arguments.items)
        browser.close()


if __name__ == "__main__":
    main()
