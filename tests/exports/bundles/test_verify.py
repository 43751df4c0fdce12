"""Verifying exports: what came later does not disturb an old one, and what was tampered with is found."""

from __future__ import annotations

import csv
import hashlib
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import text
from sqlmodel import select

from annotators.errors import InvalidInput, NotFound
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.batches import withdraw_batch
from db.engine import Database
from db.items import unpublished
from db.items.as_of import look_back, marks
from db.items.documents import attach_bytes, keep_documents
from db.items.imports import import_items, staged
from db.items.read import current_versions
from db.models import Account, Annotation, ItemVersion, Run, Score, Settlement, StudyState
from db.quality.gold import GoldRow, set_gold
from db.quality.omissions import leave_out, restore
from db.releasing.recheck import send_to_recheck
from exports.bundles import bundle
from exports.bundles.bundle import Selection, export_project
from exports.bundles.manifest import read_manifest
from exports.bundles.verify import VerifyReport, verify_against, verify_folder
from tests.db.items.test_imports import Rows, row
from tests.db.releasing.test_recheck import judged, revise
from tests.db.releasing.test_states import accepting
from tests.exports.sources import write_pdf
from tests.makers import StudyInUse, make_item, make_person, make_project

CHRISTMAS = datetime(2999, 12, 24, 18, tzinfo=UTC)
ALL = ["native", "labels", "derived", "adjudicated", "scores"]


class Exported:
    """A study with imported items and some labels, exported whole and by study."""

    def __init__(self, db: Database, folder: Path, **options: Any) -> None:
        self.db, self.folder = db, folder
        self.study = StudyInUse(db, items=4, annotators=3, overlap=2, n_evidence=2)
        rows = Rows(row(1, documents=["a.pdf"], scores=[{"name": "c", "value": 1}]), row(2))
        self.batch = self.take(rows)
        self.study.label_all(0)
        self.study.submit(1, self.study.work(1)["items"][0], {"right": "no"}, comment="unclear")
        for name, study_id in (("whole", None), ("study", self.study.study_id)):
            export_project(
                db, self.study.researcher, self.study.project_id, to=folder / name, study_id=study_id,
                **{"formats": ALL, **options},
            )  # fmt: skip

    def take(self, rows: Rows) -> int:
        batch = import_items(self.db, self.study.researcher, self.study.project_id, reading=rows).batch
        assert batch is not None
        return batch

    def against(self, name: str = "study") -> VerifyReport:
        return verify_against(self.db, self.study.researcher, self.folder / name)

    def rewrite(self, name: str, old: bytes, new: bytes, *, hash_too: bool = False) -> None:
        """Change a file of the study's export, and with `hash_too` its hash in the manifest."""
        path = self.folder / "study" / name
        before = path.read_bytes()
        assert old in before
        path.write_bytes(before.replace(old, new, 1))
        if hash_too:
            manifest = self.folder / "study/manifest.json"
            hashes = [hashlib.sha256(data).hexdigest().encode() for data in (before, path.read_bytes())]
            manifest.write_bytes(manifest.read_bytes().replace(*hashes))


@pytest.fixture
def exported(database: Database, tmp_path: Path) -> Exported:
    return Exported(database, tmp_path)


def test_a_fresh_export_is_what_it_says(exported: Exported) -> None:
    for name in ("whole", "study"):
        report = verify_folder(exported.folder / name)
        assert (report.ok, report.against, report.n_files) == (True, "manifest", 6)
        report = exported.against(name)
        assert (report.ok, report.against) == (True, "database"), report


def test_what_came_later_does_not_disturb_an_old_export(exported: Exported, tmp_path: Path) -> None:
    study = exported.study
    study.label_all(1, "no")
    study.label_all(2, "no")
    exported.take(Rows(row(3), row(1, scores=[{"name": "c", "value": 0}])))
    withdraw_batch(exported.db, study.researcher, study.project_id, exported.batch, reason="wrong")
    exported.take(Rows(row(2, answer="other"), row(1, documents=["a.pdf"])))
    attach_bytes(
        exported.db, study.researcher, study.project_id, key="a.pdf", source=write_pdf(tmp_path / "a.pdf"),
        data_folder=tmp_path / "home",
    )  # fmt: skip
    with exported.db.write() as session:
        version = next(current_versions(session, study.project_id))
        session.add(ItemVersion(item_id=version.item_id, number=2, question="Revised?", content_hash="revised"))
        run = Run(project_id=study.project_id, name="later", version="1", parameters_hash="x")
        session.add(run)
        session.flush()
        session.add(Score(run_id=run.id, item_version_id=version.version_id, name="x", value=1))
    StudyInUse(exported.db)
    for name in ("whole", "study"):
        report = exported.against(name)
        assert report.ok, report
    export_project(exported.db, study.researcher, study.project_id, to=tmp_path / "new", formats=ALL)
    assert (tmp_path / "new/native/items.jsonl").read_bytes() != (tmp_path / "whole/native/items.jsonl").read_bytes()
    assert exported.against("new").ok


def test_an_amendment_that_came_later_changes_nothing_of_an_old_export(exported: Exported, tmp_path: Path) -> None:
    """Under a higher overlap none of its items would be settled."""
    study, before = exported.study, read_manifest(exported.folder / "study").studies[0]
    amend_study(
        exported.db, study.researcher, study.study_id, change=StudyChange(overlap=3, deadline=CHRISTMAS), reason="more"
    )
    assert exported.against().ok
    export_project(exported.db, study.researcher, study.project_id, to=tmp_path / "later", formats=ALL)
    [now] = read_manifest(tmp_path / "later").studies
    assert "amendments" not in before
    assert [(row["what"], row["before"], row["after"], row["reason"]) for row in now["amendments"]] == [
        ("overlap", 2, 3, "more"),
        ("deadline", None, "2999-12-24T18:00:00+00:00", "more"),
    ]
    assert (before["overlap"], now["overlap"]) == (2, 3)
    set_state(exported.db, study.researcher, study.study_id, state=StudyState.CLOSED, reason="enough")
    assert verify_against(exported.db, study.researcher, tmp_path / "later").ok


def test_an_export_marks_what_is_left_out_and_says_so_and_one_from_before_stands(
    exported: Exported, tmp_path: Path
) -> None:
    study = exported.study
    name = study.annotators[0].name
    since = datetime(2020, 1, 1, tzinfo=UTC)
    leave_out(exported.db, study.researcher, study.study_id, annotator=name, since=since, reason="at random")
    assert exported.against().ok
    export_project(
        exported.db, study.researcher, study.project_id, to=tmp_path / "left out", study_id=study.study_id, formats=ALL
    )
    manifest = read_manifest(tmp_path / "left out")
    (told,) = manifest.studies[0]["left_out"]
    assert (told["from"], told["reason"]) == ("2020-01-01T00:00:00+00:00", "at random")
    with (tmp_path / "left out/labels.csv").open(newline="") as file:
        kinds = {(row["annotator"], row["kind"]) for row in csv.DictReader(file)}
    assert (told["annotator"], "left_out") in kinds
    assert not {kind for annotator, kind in kinds if annotator == told["annotator"]} - {"left_out"}
    restore(exported.db, study.researcher, study.study_id, annotator=name, reason="no")
    assert verify_against(exported.db, study.researcher, tmp_path / "left out").ok
    assert exported.against().ok


@pytest.mark.parametrize(("earlier", "documents"), [(False, False), (False, True), (True, True)])
def test_a_mark_that_is_set_or_taken_away_later_changes_nothing_of_an_export(
    exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool, documents: bool
) -> None:
    """Exports of earlier versions say nothing of marks in documents.jsonl, those of today do."""
    db, researcher, project = exported.db, exported.study.researcher, exported.study.project_id
    file, home = write_pdf(tmp_path / "a.pdf"), tmp_path / "home"
    attach_bytes(db, researcher, project, key="a.pdf", source=file, data_folder=home)
    keep_documents(db, researcher, project, keys=["a.pdf"])
    assert exported.against("whole").ok
    if earlier:
        monkeypatch.setattr(bundle, "Selection", partial(Selection, says_kept=False))
    out, folder = tmp_path / "out", home if documents else None
    made = export_project(db, researcher, project, to=out, formats=["native", "table"], data_folder=folder)
    assert (made.filters["kept"], made.filters.get("says_kept")) == (["a.pdf"], None if earlier else True)
    assert (b"kept_here" in (out / "native/documents.jsonl").read_bytes()) is not earlier
    keep_documents(db, researcher, project, keys=["a.pdf"], kept=False)
    assert verify_against(db, researcher, out).ok
    if not earlier:
        path = out / "native/documents.jsonl"
        path.write_bytes(path.read_bytes().replace(b',"kept_here":true', b""))
        assert verify_against(db, researcher, out).changed == {"native/documents.jsonl": 1}


def test_a_changed_file_is_found_by_its_hash(exported: Exported) -> None:
    exported.rewrite("labels.csv", b",no,", b",yes,")
    report = verify_folder(exported.folder / "study")
    assert (report.ok, report.changed) == (False, {"labels.csv": None})
    assert exported.against().changed == {"labels.csv": 3}


def test_a_changed_file_with_its_hash_is_found_by_the_database(exported: Exported) -> None:
    exported.rewrite("labels.csv", b",no,", b",yes,", hash_too=True)
    assert verify_folder(exported.folder / "study").ok
    report = exported.against()
    assert report.changed == {"labels.csv": 3}
    assert any("gives a hash of labels.csv" in note for note in report.notes)
    assert any("event log has no export" in note for note in report.notes)


@pytest.mark.parametrize(
    "change", [(b'"submission": {\n      "last": 5', b'"submission": {\n      "last": 4'), (b'"rows": 5', b'"rows": 6')]
)
def test_a_changed_manifest_is_found(exported: Exported, change: tuple[bytes, bytes]) -> None:
    exported.rewrite("manifest.json", *change)
    assert not exported.against().ok


def test_a_row_that_was_taken_out_or_put_in_is_found(exported: Exported) -> None:
    lines = (exported.folder / "study/labels.csv").read_bytes().splitlines(keepends=True)
    for changed in (lines[:-1], [*lines, lines[-1]]):
        (exported.folder / "study/labels.csv").write_bytes(b"".join(changed))
        assert exported.against().changed == {"labels.csv": 6 if len(changed) < len(lines) else 7}


def test_missing_and_extra_files_are_named(exported: Exported) -> None:
    (exported.folder / "study/scores.csv").unlink()
    (exported.folder / "study/native/more.txt").write_text("new")
    for report in (verify_folder(exported.folder / "study"), exported.against()):
        assert (report.ok, report.missing, report.extra) == (False, ["scores.csv"], ["native/more.txt"])
        assert report.changed == {}


def test_extra_files_that_lie_too_deep_or_are_not_utf8_are_refused(exported: Exported) -> None:
    folder = exported.folder / "study"
    odd = folder / "n\udcff.txt"
    odd.write_text("new")
    with pytest.raises(InvalidInput, match=r"The name 'n\?\.txt' is not UTF-8"):
        verify_folder(folder)
    odd.unlink()
    folder.joinpath(*["d"] * 101).mkdir(parents=True)
    with pytest.raises(InvalidInput, match="lies more than 100 folders deep"):
        verify_folder(folder)


def test_a_manifest_that_leads_out_of_the_folder_leads_nowhere(exported: Exported, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    path = exported.folder / "study/manifest.json"
    manifest = orjson.loads(path.read_bytes())
    manifest["files"][0]["path"] = "../secret"
    path.write_bytes(orjson.dumps(manifest))
    assert verify_folder(exported.folder / "study").missing == ["../secret"]


def test_no_link_is_followed_and_no_pipe_is_waited_for(exported: Exported, tmp_path: Path) -> None:
    folder = exported.folder / "study"
    taken = next(path for path in folder.rglob("*.csv"))
    outside = tmp_path / "outside"
    outside.mkdir()
    kept = taken.rename(outside / taken.name)  # its bytes are right: only where they lie is not
    ways: dict[str, Callable[[], object]] = {
        "a link": lambda: taken.symlink_to(kept),
        "no file": lambda: os.mkfifo(taken),
    }
    for said, put in ways.items():
        put()
        for look in (lambda: verify_folder(folder), exported.against):
            with pytest.raises(InvalidInput, match=f"{taken.name}.* is {said}, and is not followed"):
                look()
        taken.unlink()
    kept.rename(taken)
    (folder / "more").symlink_to(outside)
    with pytest.raises(InvalidInput, match=r"'more' in .* is a link"):
        verify_folder(folder)
    (folder / "more").unlink()
    manifest = (folder / "manifest.json").rename(outside / "manifest.json")
    (folder / "manifest.json").symlink_to(manifest)
    with pytest.raises(InvalidInput, match=r"'manifest.json' in .* is a link"):
        verify_folder(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"assay": 1}', b'{"files": 3}'])
def test_a_damaged_manifest_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(InvalidInput, match="is damaged"):
        verify_folder(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"event": None}, "'event' is None"),
        ({"filters": 5}, "'filters' is 5"),
        ({"marks": 5}, "'marks' is 5"),
        ({"marks": {"label": 1}}, "the mark of 'label' is 1"),
        ({"project": None}, "'project' is None"),
        ({"project": {"name": {}}}, "no project {}"),
        ({"files": [5]}, "a file is 5"),
        ({"files": [{"path": "x" * 300, "sha256": "0"}]}, "longer than names can be"),
        ({"colour": "red"}, "no manifest has a field 'colour'"),
        ({"filters": {"formats": ["labels"], "study": {}}}, "names the study {}"),
        ({"filters": {"formats": ["labels"], "typed": 5}}, "'typed' are 5"),
        ({"filters": {"formats": ["labels"], "options": 5}}, "'options' are 5"),
    ],
)
def test_a_manifest_of_other_kinds_of_values_is_refused_in_words(
    exported: Exported, change: dict[str, object], words: str
) -> None:
    path = exported.folder / "study/manifest.json"
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | change))
    with pytest.raises((InvalidInput, NotFound), match=re.escape(words)):
        exported.against()


def test_a_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is no export of Assay"):
        verify_folder(tmp_path)


def test_marks_that_are_no_numbers_are_refused(exported: Exported) -> None:
    past = read_manifest(exported.folder / "study").marks
    past["label" if "label" in past else "submission"] = {"last": "1); DROP TABLE label", "missing": []}
    with exported.db.read() as session, pytest.raises(InvalidInput, match="no numbers"):
        look_back(session, past)


def test_another_database_does_not_know_the_export(exported: Exported) -> None:
    path = exported.folder / "study/manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"name": "project', b'"name": "no project', 1))
    with pytest.raises(NotFound, match="no project 'no project"):
        exported.against()


def test_an_erasure_is_told_from_tampering(database: Database, tmp_path: Path) -> None:
    exported = Exported(database, tmp_path, names=True)
    assert exported.against().ok
    with database.write() as session:
        session.delete(session.get_one(Account, exported.study.annotators[0].person_id))
    report = exported.against()
    assert report.changed == {"labels.csv": 2}
    assert any("erased or renamed" in note for note in report.notes)


def test_rows_whose_ids_were_given_but_not_committed_at_the_export_do_not_disturb_it(
    postgresql_database: Database, tmp_path: Path
) -> None:
    """PostgreSQL gives ids before a transaction commits: a lower id may come later than a higher one."""
    exported = Exported(postgresql_database, tmp_path)
    project, researcher = exported.study.project_id, exported.study.researcher
    rows = Rows(*(row(100 + number, scores=[{"name": "c", "value": 1}]) for number in range(2001)))
    elsewhere = make_project(postgresql_database)
    other = Rows(row(5, scores=[{"name": "c", "value": 1}]))
    administrator = make_person(postgresql_database, admin=True)
    importing = staged(postgresql_database, researcher, project, reading=rows)
    with importing as ready, postgresql_database.write() as session:
        ready.publish(session)
        import_items(postgresql_database, administrator, elsewhere, reading=other)
        export_project(postgresql_database, researcher, project, to=tmp_path / "during", formats=ALL)
    past = read_manifest(tmp_path / "during").marks
    assert past["item_version"]["missing"], "the import had taken its ids"
    with postgresql_database.read() as session:
        assert len(list(current_versions(session, project))) == 4 + 2 + 2001
        assert marks(session)["item_version"]["missing"] == []
    assert len((tmp_path / "during/native/items.jsonl").read_bytes().splitlines()) == 4 + 2
    assert exported.against("during").ok, exported.against("during")


def test_an_import_that_was_half_written_at_the_export_does_not_disturb_it(
    exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither when it is published later, nor when it is broken off and others' rows get the ids of its own."""
    monkeypatch.setattr(unpublished, "PARTS_ALONE", 1)
    monkeypatch.setattr(unpublished, "ROWS_A_TURN", 4)
    monkeypatch.setattr(unpublished, "ROWS_A_TURN_UNLOCKED", 4)
    db, project, researcher = exported.db, exported.study.project_id, exported.study.researcher
    rows = [row(100 + number, documents=[f"d{number}"], scores=[{"name": "c", "value": 1}]) for number in range(6)]

    def export(name: str) -> None:
        export_project(db, researcher, project, to=exported.folder / name, formats=ALL)

    def broken(share: float) -> None:
        if share > 0.5 and not (exported.folder / "first").exists():
            export("first")
            raise KeyboardInterrupt

    def going_on(share: float) -> None:
        if share > 0.5 and not (exported.folder / "second").exists():
            export("second")

    with pytest.raises(KeyboardInterrupt):
        import_items(db, researcher, project, reading=Rows(*rows), written=broken)
    assert read_manifest(exported.folder / "first").marks["batch"]["unpublished"]
    import_items(db, researcher, project, reading=Rows(*rows), written=going_on)
    for name in ("first", "second"):
        assert len((exported.folder / name / "native/items.jsonl").read_bytes().splitlines()) == 4 + 2
        assert exported.against(name).ok, exported.against(name)
    with db.read() as session:
        assert len(list(current_versions(session, project))) == 4 + 2 + 6


def test_the_past_is_seen_by_any_query_and_gone_with_its_session(exported: Exported) -> None:
    past = read_manifest(exported.folder / "whole").marks
    exported.take(Rows(row(7)))
    with exported.db.read() as session:
        look_back(session, past)
        assert len(list(current_versions(session, exported.study.project_id))) == 6
        assert marks(session) == past
    with exported.db.read() as session:
        assert len(list(current_versions(session, exported.study.project_id))) == 7


def test_rechecks_and_gold_items_that_came_later_change_nothing_of_an_old_export(
    database: Database, tmp_path: Path
) -> None:
    study = judged(database, "nn", "yy", annotators=6)
    # Another two items wait for a second annotation at the first export.
    later = StudyInUse(database, items=2, annotators=6, overlap=2, protocol=accepting())
    later.submit(0, later.work(0)["items"][0], {"right": "no", "clear": "no"})

    def export(name: str, of: StudyInUse) -> Path:
        folder = tmp_path / name
        export_project(
            database, of.researcher, of.project_id, to=folder, study_id=of.study_id,
            formats=["native", "labels", "derived", "adjudicated"],
        )  # fmt: skip
        return folder

    folders = [(study, export("judged", study)), (later, export("half", later))]
    for of in (study, later):
        make_item(database, of.project_id, "gold")
        rows = [GoldRow(None, "gold", "right", "item", "yes")]
        set_gold(database, of.researcher, of.study_id, rows=rows, rates={"gold_rate": 0.5}, reason="who reads")
    later.submit(1, later.work(1)["items"][0], {"right": "no", "clear": "no"})
    with database.read() as session:
        first = session.exec(select(Annotation.study_item_id).where(Annotation.study_id == later.study_id)).first()
        name = session.execute(
            text(
                "SELECT i.external_id FROM study_item x JOIN item_version v ON v.id = x.item_version_id "
                "JOIN item i ON i.id = v.item_id WHERE x.id = :id"
            ),
            {"id": first},
        ).scalar_one()
    while {"pending"} & set(states_of(later)) and (items := later.work(1)["items"]):
        later.submit(1, items[0], {"right": "no", "clear": "no"})
    for of, item in ((study, "i00001"), (later, name)):
        revise(of, item)
        assert send_to_recheck(database, of.researcher, of.study_id, items=(item,), reason="rewritten")
        while items := of.work(4)["items"]:
            of.submit(4, items[0], {criterion: "yes" for criterion, targets in items[0]["units"].items() if targets})
    for of, folder in folders:
        assert verify_against(database, of.researcher, folder).ok
        fresh = export(f"fresh-{folder.name}", of)
        assert "2" in {line["item_version"] for line in csv.DictReader((fresh / "labels.csv").open(encoding="utf-8"))}
        assert verify_against(database, of.researcher, fresh).ok


def states_of(study: StudyInUse) -> list[str]:
    with study.db.read() as session:
        return list(session.exec(select(Settlement.state).where(Settlement.study_id == study.study_id)).all())
