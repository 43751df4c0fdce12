"""Imports in short transactions: nobody sees anything before the end, and nothing is left of what was broken off."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from annotators.designing.design import StudyDesign
from annotators.errors import Conflict, NotFound
from annotators.items.parsed import ParsedDocument
from annotators.protocols import PROTOCOLS
from db.annotating.disclosure import may_see_page
from db.batches import list_batches, withdraw_batch
from db.designing.making import create_study, plan_study
from db.engine import Database
from db.items import unpublished
from db.items.documents import attach_bytes, document_file, list_documents
from db.items.imports import ImportReport, import_items, staged
from db.items.read import current_versions, item_counts, item_details, list_items
from db.items.scored import count_items
from db.items.unpublished import broken_off, clear_all_broken_off, only_import
from db.models import Study
from db.projects import project_overview
from db.scores.summaries import list_scorers_in, score_summary
from db.studies.remarks import item_place
from db.studies.selection import candidates
from db.upkeep.maintenance import delete_project
from exports.alignment.scores import scores_of
from exports.bundles.bundle import export_project
from tests.conftest import ROOT
from tests.db.items.test_imports import Rows, row
from tests.makers import make_person, make_project, tiny_protocol

TABLES = ("document", "question", "item", "item_version", "item_document", "evidence", "claim", "image", "run", "score")
FULL = {
    "documents": ["new"],
    "evidence": [{"text": "t", "document": "other"}],
    "claims": [{"text": "c"}],
    "images": [{"document": "picture"}],
    "scores": [{"name": "correctness", "value": 0.5}],
}


@pytest.fixture(autouse=True)
def _small_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpublished, "PARTS_ALONE", 1)
    monkeypatch.setattr(unpublished, "ROWS_A_TURN", 20)
    monkeypatch.setattr(unpublished, "ROWS_A_TURN_UNLOCKED", 20)


class Place:
    def __init__(self, db: Database, folder: Path) -> None:
        self.db, self.actor, self.project = db, make_person(db, admin=True), make_project(db)
        self.folder, self.n = folder, 0

    def take(self, *rows: dict[str, Any], documents: tuple[ParsedDocument, ...] = (), **options: Any) -> ImportReport:
        reading = Rows(*rows, documents=documents)
        return import_items(
            self.db, self.actor, self.project, reading=reading, data_folder=self.folder / "bytes", **options
        )

    def dies(self, *rows: dict[str, Any], documents: tuple[ParsedDocument, ...] = (), at: float = 1) -> None:
        """An import in a process of its own that ends without a word at this share, or (1) before the last moment."""

        def written(share: float) -> None:
            if share >= at:
                os._exit(0)

        self.db.dispose()
        child = os.fork()
        if child == 0:
            try:
                reading, folder = Rows(*rows, documents=documents), self.folder / "bytes"
                db = Database(self.db.url.render_as_string(hide_password=False))
                with staged(db, self.actor, self.project, reading=reading, data_folder=folder, written=written):
                    os._exit(0 if at == 1 else 1)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0

    def rows_in(self, tables: tuple[str, ...] = TABLES) -> dict[str, int]:
        with self.db.read() as session:
            return {table: session.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() for table in tables}

    def seen(self) -> dict[str, Any]:
        """Whatever is shown of the project, by every way there is."""
        db, actor, project = self.db, self.actor, self.project
        self.n += 1
        folder = self.folder / f"export-{self.n}"
        made = export_project(db, actor, project, to=folder, formats=["native", "scores"])
        with db.read() as session:
            sample = [candidate.external_id for candidate in candidates(session, project)]
            current = [(version.external_id, version.number) for version in current_versions(session, project)]
            scorable = count_items(session, project)
        return {
            "items": [item.external_id for item in list_items(db, actor, project)],
            "found": [item.external_id for item in list_items(db, actor, project, search="i1")],
            "documents": [document.key for document in list_documents(db, actor, project)],
            "counts": item_counts(db, actor, project).total,
            "batches": [(batch.batch_id, batch.withdrawn) for batch in list_batches(db, actor, project)],
            "overview": project_overview(db, actor, project),
            "sample": sample,
            "current": current,
            "scorable": scorable,
            "scorers": [(scorer.scorer, scorer.values) for scorer in list_scorers_in(db, actor, project)],
            "exported": made.counts,
            "lines": sorted((folder / "native/items.jsonl").read_bytes().splitlines()),
            "scores": (folder / "scores.csv").read_bytes(),
        }


def interrupting(at: float) -> Callable[[float], None]:
    def written(share: float) -> None:
        if share >= at:
            raise KeyboardInterrupt

    return written


@pytest.fixture
def place(database: Database, tmp_path: Path) -> Place:
    return Place(database, tmp_path)


def many(n: int = 30, start: int = 10) -> list[dict[str, Any]]:
    return [row(start + number, **FULL) for number in range(n)]


def test_nothing_of_an_import_is_seen_before_it_ends_and_all_of_it_then(place: Place, tmp_path: Path) -> None:
    place.take(row(1, scores=[{"name": "correctness", "value": 1}]), row(2))
    (tmp_path / "new.txt").write_text("The text of the new document.")
    before, times = place.seen(), []

    def written(_share: float) -> None:
        if times and len(times) % 4:
            times.append(1)
            return
        times.append(1)
        assert place.seen() == before
        with pytest.raises(NotFound):
            item_details(place.db, place.actor, place.project, external_id="i10")
        with pytest.raises(NotFound):
            attach_bytes(
                place.db, place.actor, place.project, key="new", source=tmp_path / "new.txt", data_folder=tmp_path
            )
        with place.db.read() as session:
            document = session.execute(text("SELECT max(id) FROM document")).scalar_one()
            item = session.execute(text("SELECT max(id) FROM item")).scalar_one()
        with pytest.raises(NotFound):
            may_see_page(place.db, place.actor, document_id=document, page=1)
        with pytest.raises(NotFound):
            item_place(place.db, place.actor, item_id=item)
        assert score_summary(place.db, place.actor, place.project, scorer="imported:native").n_scored == 1
        scores = item_details(place.db, place.actor, place.project, external_id="i2").scores
        assert scores == []  # the import adds one to this item, which is there

    rows = [row(2, scores=[{"name": "correctness", "value": 0}]), *many()]
    supplied = ParsedDocument("f", 1, "new", path=tmp_path / "new.txt")
    report = place.take(*rows, documents=(supplied,), written=written)
    assert len(times) > 4
    assert (report.added, report.unchanged, report.scores, report.documents) == (30, 1, 1, 3)
    after = place.seen()
    assert after["counts"] == len(after["items"]) == len(after["sample"]) == after["scorable"] == 32
    assert after["documents"] == ["new", "other", "picture"]
    assert [batch[0] for batch in after["batches"]] == [report.batch, before["batches"][0][0]]
    assert score_summary(place.db, place.actor, place.project, scorer="imported:native").n_scored == 32
    assert place.take(*rows).batch is None


def test_what_a_broken_off_import_left_is_never_seen_and_the_next_one_removes_it(place: Place) -> None:
    place.take(row(1), row(2))
    before, rows = place.seen(), place.rows_in()
    place.dies(*many(), at=0.5)
    assert place.rows_in()["item"] > rows["item"]
    assert place.seen() == before
    assert [batch.source for batch in broken_off(place.db)] == ["rows"]
    place.dies(*many(8, start=100), at=0)
    assert rows["item"] < place.rows_in()["item"] < rows["item"] + 8
    report = place.take(*many())
    assert (report.added, broken_off(place.db)) == (30, [])
    assert place.rows_in()["item"] == rows["item"] + 30
    assert place.rows_in()["question"] == 3
    assert item_counts(place.db, place.actor, place.project).total == 32


def test_scores_that_an_unfinished_import_gives_to_items_that_are_there_are_nowhere(place: Place) -> None:
    db, actor, project = place.db, place.actor, place.project
    place.take(row(1, scores=[{"name": "correctness", "value": 1}]), row(2), row(3))
    design = StudyDesign(name="two items", annotators=(actor.name,), overlap=1)
    study_id = create_study(db, actor, project, protocol=tiny_protocol(), design=design).study_id
    about_scores = StudyDesign(
        name="about scores",
        annotators=(actor.name,),
        overlap=1,
        show_scores=("imported:native",),
        keep_lacking=True,
    )

    def scored() -> dict[str, Any]:
        with db.read() as session:
            metrics = scores_of(session, session.get_one(Study, study_id), [])
        return {
            "items": {item: len(item_details(db, actor, project, external_id=item).scores) for item in ("i1", "i2")},
            "alignment": [dict(metric.values) for metric in metrics],
            "study": plan_study(
                db, actor, project, protocol=PROTOCOLS.get("metric_agreement"), design=about_scores
            ).n_items,
            "written": place.seen()["scores"],
        }

    before = scored()
    assert before["items"] == {"i1": 1, "i2": 0}
    assert (len(before["alignment"]), before["study"]) == (1, 1)
    given = [{"name": name, "value": 0.5} for name in ("correctness", *(f"s{number}" for number in range(20)))]
    rows = [row(2, scores=given), row(3, scores=given[:1])]
    place.dies(*rows)  # of which the last turn is missing
    with db.read() as session:
        assert session.execute(text("SELECT count(*) FROM score")).scalar_one() == 1 + len(given)
    assert scored() == before
    place.take(*rows)
    after = scored()
    assert after["items"] == {"i1": 1, "i2": len(given)}
    assert (len(after["alignment"]), after["study"]) == (len(given), 3)


def test_an_import_that_fails_takes_back_what_it_wrote(place: Place) -> None:
    place.take(row(1), row(2))
    before, rows = place.seen(), place.rows_in()
    with pytest.raises(KeyboardInterrupt):
        place.take(*many(), written=interrupting(0.5))
    assert (place.seen(), place.rows_in(), broken_off(place.db)) == (before, rows, [])


def test_doctor_clears_what_is_left_with_the_bytes_of_its_documents(place: Place, tmp_path: Path) -> None:
    for name in ("shared", "own"):
        (tmp_path / f"{name}.txt").write_text(f"The text of {name}.")
    shared, own = (ParsedDocument("f", 1, name, path=tmp_path / f"{name}.txt") for name in ("shared", "own"))
    place.take(row(1), documents=(shared,))
    rows = place.rows_in()
    again = ParsedDocument("f", 1, "shared-again", path=tmp_path / "shared.txt")
    place.dies(*many(), documents=(own, again))
    folder = tmp_path / "bytes"
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 2
    with only_import(place.db, place.project):
        assert clear_all_broken_off(place.db, data_folder=folder) == [], "one that is under way is left alone"
    assert clear_all_broken_off(place.db, data_folder=folder) == ["rows"]
    assert place.rows_in() == rows
    with place.db.read() as session:
        digest = session.execute(text("SELECT sha256 FROM document")).scalar_one()
    assert [path for path in folder.rglob("*") if path.is_file()] == [document_file(folder, digest)]
    assert clear_all_broken_off(place.db, data_folder=folder) == []


@pytest.mark.slow
def test_items_of_a_withdrawn_batch_that_come_again_are_seen_as_they_were_until_the_end(place: Place) -> None:
    rows = many()
    first = place.take(*rows).batch
    assert first is not None
    withdraw_batch(place.db, place.actor, place.project, first, reason="wrong")
    changed = [{**row, "answer": "right"} for row in rows]

    def details() -> Any:
        return item_details(place.db, place.actor, place.project, external_id="i10")

    before, old = place.seen(), details()

    def written(_share: float) -> None:
        assert (place.seen(), details()) == (before, old)
        with pytest.raises(Conflict, match="under way"):
            withdraw_batch(place.db, place.actor, place.project, first, reason="r", reinstates=True)

    place.dies(*changed, at=0.5)
    assert (place.seen(), details()) == (before, old)
    withdraw_batch(place.db, place.actor, place.project, first, reason="it was right", reinstates=True)
    assert place.seen()["current"] == [(row["id"], 1) for row in rows]
    withdraw_batch(place.db, place.actor, place.project, first, reason="it was not")
    before, old = place.seen(), details()
    assert place.take(*changed, written=written).added == 30
    assert place.seen()["current"] == [(row["id"], 2) for row in rows]
    assert details().item.content.answer == "right"


def test_one_import_into_a_project_at_a_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpublished, "WAIT_SECONDS", 0.2)
    name = place.db.url.database
    with only_import(place.db, place.project):
        with pytest.raises(Conflict, match="under way"), only_import(place.db, place.project, wait=0.2):
            pass
        with pytest.raises(Conflict, match="under way"):
            delete_project(place.db, place.actor, place.project, name="x")
        other = Place(place.db, place.folder)
        assert other.take(row(1)).added == 1
    assert place.take(row(1)).added == 1
    assert not place.db.is_sqlite or list(Path(str(name)).parent.glob("*-import-*")) == []


def test_rows_may_be_deleted_only_while_their_batch_is_not_published(place: Place) -> None:
    place.take(*many(3, start=100))
    published = place.rows_in()
    place.dies(*many(), at=0.5)
    with place.db.write() as session:
        for table in ("item_version", "item_document", "evidence", "claim", "image", "run", "score"):
            with pytest.raises(DBAPIError, match="append-only"), session.begin_nested():
                session.connection().exec_driver_sql(f"DELETE FROM {table}")
    clear_all_broken_off(place.db, data_folder=place.folder)
    assert place.rows_in() == published


def test_a_project_is_deleted_with_what_a_broken_off_import_left(place: Place) -> None:
    place.dies(*many(), at=0.5)
    with place.db.read() as session:
        name = session.execute(text("SELECT name FROM project")).scalar_one()
    delete_project(place.db, place.actor, place.project, name=name)
    assert set(place.rows_in((*TABLES, "batch", "unpublished_batch")).values()) == {0}


def test_others_write_while_an_import_is_written(sqlite_database: Database, tmp_path: Path) -> None:
    place = Place(sqlite_database, tmp_path)
    other = sqlite3.connect(str(sqlite_database.url.database), isolation_level=None, check_same_thread=False, timeout=5)
    between: list[int] = []
    done = threading.Event()

    def write() -> None:
        while not done.wait(0.01):
            other.execute("BEGIN IMMEDIATE")
            between.append(other.execute("SELECT count(*) FROM item").fetchone()[0])
            other.execute("COMMIT")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert place.take(*many(600)).added == 600
    finally:
        done.set()
        thread.join()
        other.close()
    assert len(set(between)) >= 10, "others found the lock free between the import's transactions"


KILLED = """
import sys, time
from pathlib import Path
from db.engine import Database
from db.permissions import Actor
from exports.importing.items import import_paths

def half(done, of):
    if done > 0.75 * of:
        print("half", flush=True)
        time.sleep(60)

url, person, project, path = sys.argv[1:]
import_paths(Database(url), Actor(int(person), "p", True, None), int(project), paths=[path], progress=half)
"""


def test_a_killed_import_is_not_seen_and_the_same_files_import_whole_afterwards(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # thousands of rows go in turns as large as for people
    path = tmp_path / "items.jsonl"
    rows = many(4_000 if place.db.is_sqlite else 12_000)
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    place.take(row(1), row(2))
    before = place.seen()
    url = place.db.url.render_as_string(hide_password=False)
    arguments = [url, str(place.actor.person_id), str(place.project), str(path)]
    importing = subprocess.Popen(
        [sys.executable, "-c", KILLED, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert importing.stdout is not None
    assert importing.stdout.readline() == "half\n"
    importing.send_signal(signal.SIGKILL)
    importing.wait(30)
    importing.stdout.close()
    assert place.rows_in()["item"] > 1_000
    assert place.seen() == before
    report = place.take(*rows)
    assert (report.added, report.unchanged, broken_off(place.db)) == (len(rows), 0, [])
    assert item_counts(place.db, place.actor, place.project).total == len(rows) + 2
    assert place.rows_in()["evidence"] == len(rows)
    assert place.take(*rows).batch is None
