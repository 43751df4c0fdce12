"""The native format: what comes in goes out again, byte for byte after normalisation."""

from __future__ import annotations

import re
import shutil
import tarfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.errors import InvalidInput
from db.batches import withdraw_batch
from db.engine import Database
from db.items.documents import KEPT_HERE, document_file, keep_documents, list_documents, list_kept_documents
from db.items.imports import ImportReport
from db.items.read import current_versions, item_details, list_items
from db.models import Batch, Document, Event, Item, Run, Score
from exports.bundles import bundle
from exports.bundles.bundle import Selection, export_project
from exports.bundles.verify import verify_against
from exports.converting import convert_files
from exports.formats.native import ALONE
from exports.importing.items import import_paths
from exports.sample import write_sample
from tests.exports.sources import NORMAL, full_item, write_jsonl, write_pdf
from tests.makers import make_person, make_project


class Place:
    """A project, its administrator, and a folder of documents."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db, self.folder = db, folder
        self.actor, self.project = make_person(db, admin=True), make_project(db)
        self.data = folder / "home"

    def take(self, *paths: Path, **options: object) -> ImportReport:
        return import_paths(self.db, self.actor, self.project, paths=paths, data_folder=self.data, **options)  # type: ignore[arg-type]

    def give(self, name: str) -> Path:
        export_project(
            self.db, self.actor, self.project, to=self.folder / name, formats=["native"], data_folder=self.data
        )
        return self.folder / name / "native"

    def kept(self) -> list[str]:
        return list(list_kept_documents(self.db, self.actor, self.project))

    def marks_logged(self) -> list[dict[str, Any]]:
        with self.db.read() as session:
            found = select(Event.details).where(Event.kind == KEPT_HERE, Event.project_id == self.project)
            return list(session.exec(found.order_by(Event.id)).all())  # type: ignore[arg-type]


@pytest.fixture
def place(database: Database, tmp_path: Path) -> Place:
    return Place(database, tmp_path)


def test_an_export_is_the_import_in_normal_form(place: Place, tmp_path: Path) -> None:
    rows = [full_item(), {"question": "Plain?"}, full_item(id="museum-1:beta", system="beta", scores=[], split=None)]
    report = place.take(write_jsonl(tmp_path / "items.jsonl", rows))
    assert report.to_json() == {
        "batch": report.batch, "format": "native", "added": 3, "unchanged": 0, "proposed_revisions": 0,
        "documents": 4, "supplied": 0, "scores": 0, "rejected": [], "notes": [],
        "without_file": ["a.pdf", "b.pdf", "c.pdf", "fig.png"],
    }  # fmt: skip
    lines = (place.give("out") / "items.jsonl").read_bytes().splitlines(keepends=True)
    assert lines[0] == NORMAL
    assert len(lines) == 3


def test_an_export_imported_elsewhere_and_exported_again_is_the_same_bytes(
    place: Place, database: Database, tmp_path: Path
) -> None:
    write_pdf(tmp_path / "in/documents/a.pdf")
    write_jsonl(tmp_path / "in/items.jsonl", [full_item()])
    rows = [{"key": "a.pdf", "title": "A", "path": "documents/a.pdf", "year": 2024}, {"key": "b.pdf", "title": "B"}]
    write_jsonl(tmp_path / "in/documents.jsonl", rows)
    assert place.take(tmp_path / "in").supplied == 1
    first = place.give("first")
    (tmp_path / "other").mkdir()
    other = Place(database, tmp_path / "other")
    other.take(first)
    second = other.give("second")
    names = sorted(path.relative_to(first).as_posix() for path in first.rglob("*") if path.is_file())
    assert names == ["documents.jsonl", "documents/a.pdf", "items.jsonl"]
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert orjson.loads((first / "documents.jsonl").read_bytes().splitlines()[0]) == {
        "key": "a.pdf", "title": "A", "path": "documents/a.pdf", "metadata": {"year": 2024},
    }  # fmt: skip


def test_the_sample_project_is_imported_and_goes_round(place: Place, tmp_path: Path) -> None:
    write_sample(tmp_path / "sample")
    report = place.take(tmp_path / "sample")
    assert report.rejected == []
    assert report.added == len((tmp_path / "sample/items.jsonl").read_text().splitlines())
    documents = list_documents(place.db, place.actor, place.project)
    assert documents and all(document.supplied and document.n_pages and document.title for document in documents)
    out = place.give("out")
    again = place.take(out)
    assert (again.added, again.unchanged, again.batch, again.documents, again.supplied) == (0, report.added, None, 0, 0)


def test_importing_twice_changes_nothing(place: Place, tmp_path: Path) -> None:
    write_pdf(tmp_path / "in/documents/a.pdf")
    write_jsonl(tmp_path / "in/items.jsonl", [full_item(), {"question": "Plain?"}])
    place.take(tmp_path / "in")

    def everything() -> list[int]:
        with place.db.read() as session:
            return [len(session.exec(select(table)).all()) for table in (Batch, Item, Document, Run, Score, Event)]

    before = everything()
    report = place.take(tmp_path / "in")
    assert (report.batch, report.added, report.unchanged, report.revisions) == (None, 0, 2, [])
    assert everything() == before


def test_other_content_under_a_known_id_is_proposed_and_not_applied(place: Place, tmp_path: Path) -> None:
    place.take(write_jsonl(tmp_path / "items.jsonl", [full_item()]))
    report = place.take(
        write_jsonl(tmp_path / "new.jsonl", [full_item(answer="None.", split="dev"), {"question": "N?"}])
    )
    assert report.to_json()["proposed_revisions"] == 1
    assert [
        (revision.file, revision.line, revision.external_id, revision.changes) for revision in report.revisions
    ] == [("new.jsonl", 1, "museum-1:alpha", ("answer", "metadata"))]
    assert report.added == 1
    details = item_details(place.db, place.actor, place.project, external_id="museum-1:alpha")
    assert (details.item.content.answer, details.item.number) == ("About 4,100 came. ☂", 1)


def test_new_scores_of_an_item_that_is_there_are_added_once(place: Place, tmp_path: Path) -> None:
    place.take(write_jsonl(tmp_path / "items.jsonl", [full_item(scores=[{"name": "correctness", "value": 1}])]))
    newer = write_jsonl(tmp_path / "new.jsonl", [full_item(scores=[{"name": "correctness", "value": 0}])])
    report = place.take(newer)
    assert (report.added, report.unchanged, report.scores) == (0, 1, 1)
    assert place.take(newer).batch is None
    assert (
        b'"scores":[{"scorer":"imported:native","name":"correctness","value":0.0}]'
        in (place.give("out") / "items.jsonl").read_bytes()
    )


def test_bytes_and_titles_may_come_after_the_items(place: Place, tmp_path: Path) -> None:
    place.take(write_jsonl(tmp_path / "items.jsonl", [full_item()]))
    [row] = [document for document in list_documents(place.db, place.actor, place.project) if document.key == "a.pdf"]
    assert not row.supplied
    pdf = write_pdf(tmp_path / "papers/a.pdf")
    report = place.take(tmp_path / "papers", format_name="native")
    assert (report.added, report.supplied) == (0, 1)
    place.take(write_jsonl(tmp_path / "documents.jsonl", [{"key": "a.pdf", "title": "A"}]), format_name="native")
    [row] = [document for document in list_documents(place.db, place.actor, place.project) if document.key == "a.pdf"]
    assert (row.supplied, row.title, row.n_pages, row.media_type) == (True, "A", 1, "application/pdf")
    assert document_file(place.data, str(row.sha256)).read_bytes() == pdf.read_bytes()


def test_other_bytes_for_a_document_are_refused(place: Place, tmp_path: Path) -> None:
    place.take(write_pdf(tmp_path / "one/a.pdf", "one"), format_name="native")
    report = place.take(write_pdf(tmp_path / "two/a.pdf", "two"), format_name="native")
    assert [(row.file, "other bytes" in row.reason) for row in report.rejected] == [("a.pdf", True)]


def test_a_key_that_climbs_is_a_key_and_never_a_path(place: Place, tmp_path: Path) -> None:
    write_pdf(tmp_path / "in/documents/x.pdf")
    rows = [{"key": "../../../evil.pdf", "path": "documents/x.pdf"}, {"key": "a/EVIL.pdf"}]
    write_jsonl(tmp_path / "in/documents.jsonl", rows)
    write_jsonl(tmp_path / "in/items.jsonl", [{"question": "Q?", "documents": ["../../../evil.pdf"]}])
    assert place.take(tmp_path / "in").rejected == []
    out = place.give("out")
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.pdf")) == ["documents/evil.pdf"]
    assert not list(tmp_path.parent.glob("evil.pdf"))


def test_two_documents_whose_names_differ_in_capitals_get_two_files(place: Place, tmp_path: Path) -> None:
    write_pdf(tmp_path / "in/documents/x/Report.pdf", "one")
    write_pdf(tmp_path / "in/documents/y/report.pdf", "two")
    write_jsonl(tmp_path / "in/items.jsonl", [{"question": "Q?"}])
    place.take(tmp_path / "in")
    names = {path.name.casefold() for path in (place.give("out") / "documents").iterdir()}
    assert names == {"report.pdf", "report-2.pdf"}


@pytest.mark.parametrize("packed", ["in.zip", "in.tar.gz"])
def test_an_archive_is_read_like_its_folder(place: Place, tmp_path: Path, packed: str) -> None:
    write_pdf(tmp_path / "in/documents/a.pdf")
    write_jsonl(tmp_path / "in/items.jsonl", [full_item(), 3])
    if packed.endswith(".zip"):
        with zipfile.ZipFile(tmp_path / packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted((tmp_path / "in").rglob("*")):
                archive.write(path, path.relative_to(tmp_path))
    else:
        with tarfile.open(tmp_path / packed, "w:gz") as archive:
            archive.add(tmp_path / "in", "in")
    report = place.take(tmp_path / packed, skip_bad=True)
    assert (report.added, report.supplied) == (1, 1)
    assert [(row.file, row.line) for row in report.rejected] == [(f"{packed}/in/items.jsonl", 2)]


def test_a_bare_file_of_any_name_is_recognised(place: Place, tmp_path: Path) -> None:
    report = place.take(write_jsonl(tmp_path / "questions.jsonl", [{"question": "Q?"}]))
    assert (report.format, report.added) == ("native", 1)


def test_files_that_no_format_recognises_are_refused(place: Place, tmp_path: Path) -> None:
    (tmp_path / "notes.docx").write_text("nothing")
    with pytest.raises(InvalidInput, match="no format recognises") as refused:
        place.take(tmp_path / "notes.docx")
    assert "notes.docx: no format takes a file of this name or ending." in str(refused.value).splitlines()


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.jsonl", "[1]", "native: its first line is not an object {…}."),
        ("a.jsonl", '{"q": 1}', "native: its first line has no `question`."),
        ("documents.jsonl", '{"id": "a"}', "native: it describes documents; the items are missing (items.jsonl)."),
        ("a.json", '{"responses": [{"x": 1}]}', "fathoms: it has `responses` but no `model`."),
        ("a.json", '{"T": [{"question": "?", "files": []}]}', "as a file of questions it lacks `answers`."),
    ],
)
def test_each_format_says_why_it_refused_a_file(place: Place, tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput, match=re.escape(why)):
        place.take(tmp_path / name)


def test_documents_that_come_alone_are_taken(place: Place, tmp_path: Path) -> None:
    report = place.take(write_pdf(tmp_path / "a.pdf"), write_pdf(tmp_path / "b.pdf"))
    assert (report.format, report.added, report.documents, report.supplied) == ("native", 0, 2, 2)


def test_documents_that_come_alone_may_be_described(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    write_pdf(folder / "documents" / "x.pdf")
    (folder / "texts").mkdir()
    (folder / "texts" / "y.txt").write_text("Closed in May.")
    rows = [{"key": "docs/Arabic/0000", "title": "T", "path": "documents/x.pdf"}, {"key": "y", "path": "texts/y.txt"}]
    path = write_jsonl(folder / "documents.jsonl", [*rows, {"key": "z", "n_pages": 60}])
    for dry_run in (True, False):
        report = place.take(folder, dry_run=dry_run)
        assert (report.format, report.added, report.documents, report.supplied) == ("native", 0, 3, 2)
        assert report.notes == [ALONE]
        assert report.rejected == []
    with place.db.read() as session:
        kept = {document.key: document for document in session.exec(select(Document)).all()}
    assert set(kept) == {"docs/Arabic/0000", "y", "z"}
    assert (kept["docs/Arabic/0000"].title, kept["z"].n_pages) == ("T", 60)
    again = place.take(write_jsonl(tmp_path / "documents.jsonl", [{"key": "w", "n_pages": 3}]))
    assert (again.format, again.documents, again.notes) == ("native", 1, [ALONE])
    (folder / "notes.txt").write_text("nothing")
    with pytest.raises(InvalidInput, match=r"notes\.txt, qrels: its first line"):
        place.take(folder)
    items = place.take(write_jsonl(path.parent / "items.jsonl", [{"question": "Q?"}]), path)
    assert ALONE not in items.notes


def test_items_stay_in_the_order_of_the_file(place: Place, tmp_path: Path) -> None:
    rows = [{"id": f"i{number}", "question": f"Q{number}?"} for number in (9, 2, 7, 1)]
    place.take(write_jsonl(tmp_path / "items.jsonl", rows))
    with place.db.read() as session:
        assert [version.external_id for version in current_versions(session, place.project)] == ["i9", "i2", "i7", "i1"]
    assert [item.external_id for item in list_items(place.db, place.actor, place.project)] == ["i1", "i2", "i7", "i9"]


@pytest.mark.parametrize("hidden", [".secret.txt", ".ssh/id_rsa", "documents/.env"])
def test_a_row_names_no_hidden_file(place: Place, tmp_path: Path, hidden: str) -> None:
    path = tmp_path / "source" / hidden
    path.parent.mkdir(parents=True)
    path.write_text("not for anybody")
    file = write_jsonl(tmp_path / "source" / "documents.jsonl", [{"key": "a.txt", "path": hidden}])
    items = write_jsonl(tmp_path / "source" / "items.jsonl", [{"question": "Plain?"}])
    for paths in ((file, items), (tmp_path / "source",)):
        report: Any = place.take(*paths, skip_bad=True)
        assert "hidden file" in str(report.to_json()["rejected"])
    with place.db.read() as session:
        assert session.exec(select(Document.sha256).where(Document.sha256 != None)).all() == []  # noqa: E711


# Documents that must not leave ----------------------------------------------------------------------------------------

CITED = {"id": "a", "question": "Q?", "answer": "A", "evidence": [{"document": "s.pdf", "pages": [1], "text": "told"}]}


def with_documents(folder: Path, *rows: Any) -> Path:
    """Native files of an item that cites s.pdf and of s.pdf and free.pdf, with these rows in documents.jsonl."""
    write_pdf(folder / "documents/s.pdf", "the secret")
    write_pdf(folder / "documents/free.pdf", "for all")
    write_jsonl(folder / "documents.jsonl", rows)
    write_jsonl(folder / "items.jsonl", [CITED, {"id": "b", "question": "R?", "documents": ["free.pdf"]}])
    return folder


def pdfs(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.pdf"))


def test_what_must_not_leave_stays_in_the_second_home_as_in_the_first(
    place: Place, database: Database, tmp_path: Path
) -> None:
    rows = [{"key": name, "path": f"documents/{name}"} for name in ("free.pdf", "s.pdf")]
    place.take(with_documents(tmp_path / "in", *rows))
    before = (place.give("before") / "documents.jsonl").read_bytes()
    assert b"kept_here" not in before, "a mark is written where there is one"
    keep_documents(place.db, place.actor, place.project, keys=["s.pdf"])
    first = place.give("first")
    assert [orjson.loads(line) for line in (first / "documents.jsonl").read_bytes().splitlines()] == [
        rows[0], {**rows[1], "kept_here": True},
    ]  # fmt: skip

    (tmp_path / "other").mkdir()
    other = Place(database, tmp_path / "other")
    planned, done = other.take(first, dry_run=True), other.take(first)
    assert (planned.kept, done.kept, done.to_json()["kept_here"], other.kept()) == (1, 1, 1, ["s.pdf"])
    assert other.marks_logged() == [{"documents": ["s.pdf"], "batch": done.batch}]
    again = other.take(first)
    assert (again.batch, again.kept, len(other.marks_logged())) == (None, 0, 1)
    second = other.give("second")
    for name in ("documents.jsonl", "documents/s.pdf", "items.jsonl"):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name

    made = export_project(
        other.db, other.actor, other.project, to=tmp_path / "out", formats=["huggingface", "argilla", "table"],
        data_folder=other.data, pictures=True, options={"licence": "mit"},
    )  # fmt: skip
    assert pdfs(tmp_path / "out") == [f"{name}/documents/free.pdf" for name in ("argilla", "huggingface", "table")]
    assert (made.counts["argilla_documents_kept_here"], made.counts["huggingface_pictures"]) == (1, 0)


@pytest.mark.parametrize("name", ["huggingface", "fathoms", "mramg", "table"])
def test_an_export_that_is_read_as_another_of_its_formats_keeps_its_marks(
    place: Place, database: Database, tmp_path: Path, name: str
) -> None:
    place.take(with_documents(tmp_path / "in"))
    keep_documents(place.db, place.actor, place.project, keys=["s.pdf"])
    export_project(
        place.db, place.actor, place.project, to=tmp_path / "out", formats=["native", name], data_folder=place.data,
        options={"licence": "mit"} if name == "huggingface" else {},
    )  # fmt: skip
    other = Place(database, tmp_path / "other")
    report = other.take(tmp_path / "out", format_name=name, skip_bad=True)
    assert (report.format, report.kept, other.kept()) == (name, 1, ["s.pdf"])
    convert_files([tmp_path / "out"], into="table", output=tmp_path / "table", format_name=name, skip_bad=True)
    assert pdfs(tmp_path / "table") == ["documents/free.pdf"]


def test_a_mark_goes_along_without_the_bytes_too(place: Place, database: Database, tmp_path: Path) -> None:
    place.take(write_jsonl(tmp_path / "items.jsonl", [CITED]))
    keep_documents(place.db, place.actor, place.project, keys=["s.pdf"])
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=["native"])
    other = Place(database, tmp_path / "other")
    other.take(tmp_path / "out/native")
    other.take(write_pdf(tmp_path / "later/s.pdf"))
    assert other.kept() == ["s.pdf"]


def test_a_document_that_is_there_becomes_marked_and_no_import_takes_a_mark_away(place: Place, tmp_path: Path) -> None:
    plain = with_documents(tmp_path / "plain", {"key": "s.pdf", "path": "documents/s.pdf"})
    marked, off = (shutil.copytree(plain, tmp_path / name) for name in ("marked", "off"))
    for folder, kept in ((marked, True), (off, False)):
        write_jsonl(folder / "documents.jsonl", [{"key": "s.pdf", "path": "documents/s.pdf", "kept_here": kept}])
    place.take(plain)
    assert place.kept() == []
    planned, done = place.take(marked, dry_run=True), place.take(marked)
    assert (planned.kept, done.kept, done.documents, done.supplied, done.added) == (1, 1, 0, 0, 0)
    assert done.batch is not None
    assert place.marks_logged() == [{"documents": ["s.pdf"], "batch": done.batch}]
    for folder in (plain, off):
        assert place.take(folder).batch is None
    withdraw_batch(place.db, place.actor, place.project, done.batch, reason="wrong file")
    assert place.kept() == ["s.pdf"], "a withdrawal lets nothing go"
    keep_documents(place.db, place.actor, place.project, keys=["s.pdf"], kept=False)
    assert place.take(marked).kept == 1


@pytest.mark.parametrize("row", [{"Kept_Here": True}, {"kept here": False}, {"metadata": {"kept_here": True}}])
def test_a_mark_that_is_not_spelled_as_one_is_a_bad_row_and_marks_all_the_same(
    place: Place, tmp_path: Path, row: dict[str, Any]
) -> None:
    source = with_documents(tmp_path / "in", {"key": "s.pdf", "path": "documents/s.pdf", **row})
    [bad] = place.take(source).rejected
    assert "would be metadata. Write `kept_here` beside the key" in bad.reason
    assert place.kept() == []
    assert place.take(source, skip_bad=True).rejected == [bad]
    assert "s.pdf" in place.kept()


@pytest.mark.parametrize("value", ["yes", 1, 0, None, [], {}, "true"])
def test_a_mark_that_is_neither_true_nor_false_is_a_bad_row(place: Place, tmp_path: Path, value: Any) -> None:
    row = {"key": "s.pdf", "path": "documents/s.pdf", "kept_here": value}
    source = with_documents(tmp_path / "in", {"key": "free.pdf", "path": "documents/free.pdf"}, row)
    report = place.take(source)
    [bad] = report.rejected
    assert (bad.file, bad.line) == ("in/documents.jsonl", 2)
    assert bad.reason == (
        f"document 's.pdf': `kept_here` is {value!r}, not true or false. Write true if it must not leave the machine "
        "it is on, or leave it out."
    )
    assert (report.batch, list_documents(place.db, place.actor, place.project), place.kept()) == (None, [], [])
    with pytest.raises(InvalidInput, match=r"documents.jsonl, line 2: document 's.pdf': `kept_here` is"):
        convert_files([source], into="table", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("bad", [b'{"key": "s.pdf", "path": "documents/s.pdf", "kept_here": "yes"}', b'{"key": "s.pdf'])
def test_a_file_whose_row_is_left_out_as_bad_does_not_leave_as_one_that_no_row_names(
    place: Place, tmp_path: Path, bad: bytes
) -> None:
    source = with_documents(tmp_path / "in", {"key": "free.pdf", "path": "documents/free.pdf"})
    with (source / "documents.jsonl").open("ab") as rows:
        rows.write(bad)
    report = place.take(source, skip_bad=True)
    assert (len(report.rejected), place.kept()) == (1, ["s.pdf"])
    convert_files([source], into="table", output=tmp_path / "out", skip_bad=True)
    assert pdfs(tmp_path / "out") == ["documents/free.pdf"]


@pytest.mark.parametrize(
    "row",
    [
        {"path": "documents/gone.pdf", "kept_here": True},
        {"path": "documents/broken.pdf", "kept_here": True},
        {"path": "../s.pdf", "kept_here": True},
        {"path": 5, "kept_here": True},
        {"n_pages": 0, "kept_here": True},
        {"title": 5, "kept_here": True},
        {"metadata": [1], "kept_here": True},
        {"title": "Another", "kept_here": True},
        {"path": "documents/free.pdf", "kept_here": True},
        {"path": "documents/gone.pdf", "kept_here": "yes"},
        {"kept_here": None},
    ],
    ids=str,
)
def test_whatever_else_is_wrong_with_a_marked_row_the_document_is_marked(
    place: Place, database: Database, tmp_path: Path, row: dict[str, Any]
) -> None:
    """In a project that knows the document, under a title and with bytes, and in one that does not."""
    source = with_documents(tmp_path / "in", {"key": "s.pdf", "title": "Known", "path": "documents/s.pdf"})
    place.take(source)
    (source / "documents/broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    write_jsonl(source / "documents.jsonl", [{"key": "s.pdf", **row}])
    (source / "documents/s.pdf").unlink()
    write_jsonl(source / "items.jsonl", [{"id": "new", "question": "Q?", "documents": ["s.pdf"]}])
    assert (place.take(source).batch, place.kept()) == (None, [])
    planned, done = place.take(source, dry_run=True), place.take(source, skip_bad=True)
    assert done.batch is not None
    assert (planned.kept, "s.pdf" in place.kept()) == (done.kept, True)
    assert place.take(source, skip_bad=True).kept == 0

    other = Place(database, tmp_path / "other")
    other.take(source, skip_bad=True)
    assert "s.pdf" in other.kept()
    other.take(write_pdf(tmp_path / "later/s.pdf"))
    export_project(
        other.db, other.actor, other.project, to=tmp_path / "out", formats=["native", "table"], data_folder=other.data
    )
    assert "table/documents/s.pdf" not in pdfs(tmp_path / "out")
    assert "native/documents/s.pdf" in pdfs(tmp_path / "out")


def test_a_mark_alone_is_imported_where_all_else_of_the_row_is_refused(place: Place, tmp_path: Path) -> None:
    source = with_documents(tmp_path / "in", {"key": "s.pdf", "title": "Known", "path": "documents/s.pdf"})
    place.take(source)
    write_jsonl(source / "documents.jsonl", [{"key": "s.pdf", "title": "Another", "kept_here": True}])
    (source / "items.jsonl").unlink()
    (source / "documents/free.pdf").unlink()
    report = place.take(source, skip_bad=True, format_name="native")
    assert (report.kept, report.documents, report.added, place.kept()) == (1, 0, 0, ["s.pdf"])
    assert place.marks_logged() == [{"documents": ["s.pdf"], "batch": report.batch}]


def beside_another_format(folder: Path, name: str, *rows: Any) -> Path:
    """Files of this format about secret.pdf and free.pdf, with these rows in documents.jsonl and both files loose."""
    write_pdf(folder / "documents/zq-secret.pdf", "the secret")
    write_pdf(folder / "documents/free.pdf", "for all")
    item = {"id": "a", "question": "Q?", "answer": "A", "documents": ["secret.pdf", "free.pdf"]}
    write_jsonl(folder / "items.jsonl", [item])
    options = {"licence": "mit"} if name == "huggingface" else {}
    convert_files([folder / "items.jsonl"], into=name, output=folder / name, options=options)
    (folder / "items.jsonl").unlink()
    write_jsonl(folder / "documents.jsonl", rows)
    return folder


OTHERS = ["table", "huggingface", "fathoms", "mramg"]


@pytest.mark.parametrize("name", OTHERS)
def test_a_mark_without_a_file_holds_whatever_format_reads_the_folder(place: Place, tmp_path: Path, name: str) -> None:
    source = beside_another_format(tmp_path / "in", name, {"key": "secret.pdf", "kept_here": True}, {"key": "no.pdf"})
    report = place.take(source, format_name=name, skip_bad=True)
    assert (report.kept, place.kept()) == (1, ["secret.pdf"])
    assert "no.pdf" not in {row.key for row in list_documents(place.db, place.actor, place.project)}
    place.take(write_pdf(tmp_path / "later/secret.pdf", "it comes later"))
    export_project(
        place.db, place.actor, place.project, to=tmp_path / "out", formats=["argilla"], data_folder=place.data
    )
    assert "argilla/documents/secret.pdf" not in pdfs(tmp_path / "out")


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize(
    "bad",
    [
        {"key": "secret.pdf", "path": "documents/zq-secret.pdf", "kept_here": "yes"},
        {"key": "secret.pdf", "path": "documents/zq-secret.pdf", "kept_here": True, "n_pages": 0},
        {"key": 5, "kept_here": True},
    ],
    ids=str,
)
def test_a_bad_row_is_named_and_holds_the_files_back_whatever_format_reads_the_folder(
    place: Place, tmp_path: Path, name: str, bad: dict[str, Any]
) -> None:
    source = beside_another_format(tmp_path / "in", name, {"key": "free.pdf", "path": "documents/free.pdf"}, bad)
    report = place.take(source, format_name=name)
    assert (report.batch, "document" in report.rejected[0].reason, report.rejected[0].line) == (None, True, 2)
    with pytest.raises(InvalidInput, match=r"documents.jsonl, line 2: "):
        convert_files([source], into="table", output=tmp_path / "out", format_name=name)
    convert_files([source], into="table", output=tmp_path / "out", format_name=name, skip_bad=True)
    assert pdfs(tmp_path / "out") == ["documents/free.pdf"]
    place.take(source, format_name=name, skip_bad=True)
    own = "zq-secret.pdf"
    assert set(place.kept()) == ({own, "secret.pdf"} if bad["key"] == "secret.pdf" else {own})


def test_a_file_of_the_same_name_that_describes_something_else_is_none_of_ours(place: Place, tmp_path: Path) -> None:
    rows = {"doc_id": 7, "text": "Of another kind."}, ["a", "list"]
    source = beside_another_format(tmp_path / "in", "table", *rows)
    report = place.take(source, format_name="table")
    assert (report.rejected, report.supplied, place.kept()) == ([], 2, [])


@pytest.mark.parametrize("name", ["table", "huggingface"])
def test_a_mark_holds_for_the_same_bytes_under_another_key(
    place: Place, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = write_pdf(tmp_path / "in/documents/a.pdf", "the secret")
    shutil.copy(secret, tmp_path / "in/documents/b.pdf")
    write_pdf(tmp_path / "in/documents/free.pdf", "for all")
    cited = [{"document": key, "pages": [1]} for key in ("a.pdf", "b.pdf", "free.pdf")]
    write_jsonl(tmp_path / "in/items.jsonl", [{"id": "a", "question": "Q?", "evidence": cited}])
    write_jsonl(tmp_path / "in/documents.jsonl", [{"key": "a.pdf", "kept_here": True}])
    place.take(tmp_path / "in")
    kept = list_kept_documents(place.db, place.actor, place.project)
    assert kept == {"a.pdf": (), "b.pdf": ("a.pdf",)}
    pictures, options = name == "huggingface", {"licence": "mit"} if name == "huggingface" else {}
    made = export_project(
        place.db, place.actor, place.project, to=tmp_path / "out", formats=["native", name], data_folder=place.data,
        pictures=pictures, options=options,
    )  # fmt: skip
    assert pdfs(tmp_path / "out" / name) == ["documents/free.pdf"]
    assert (made.filters["kept"], made.counts[f"{name}_documents_kept_here"]) == (["a.pdf", "b.pdf"], 2)
    assert made.counts.get(f"{name}_pictures") == (1 if pictures else None)
    for source in (tmp_path / "in", tmp_path / "out/native"):
        into = tmp_path / f"of-{source.name}"
        done = convert_files([source], into=name, output=into, pictures=pictures, options=options)
        assert (pdfs(into), done.documents) == (["documents/free.pdf"], 1)
    with monkeypatch.context() as earlier:
        earlier.setattr(bundle, "Selection", partial(Selection, kept=("a.pdf",)))
        export_project(
            place.db, place.actor, place.project, to=tmp_path / "earlier", formats=["native", name],
            data_folder=place.data, options=options,
        )  # fmt: skip
    assert "documents/b.pdf" in pdfs(tmp_path / "earlier" / name)
    assert verify_against(place.db, place.actor, tmp_path / "earlier").ok, "as it was made, by its manifest"
    keep_documents(place.db, place.actor, place.project, keys=["b.pdf"], kept=False)
    assert place.kept() == ["a.pdf", "b.pdf"], "its bytes are those of the other one"
    assert verify_against(place.db, place.actor, tmp_path / "out", documents=place.data).ok
    keep_documents(place.db, place.actor, place.project, keys=["a.pdf"], kept=False)
    assert place.kept() == []
    assert verify_against(place.db, place.actor, tmp_path / "out", documents=place.data).ok


def test_one_file_that_two_rows_name_does_not_leave_under_the_other_key(place: Place, tmp_path: Path) -> None:
    """Nor does that of a bad row, nor the one that a marked row would have had by its name."""
    for number, row in enumerate(({}, {"path": "documents/s.pdf"}, {"path": "documents/s.pdf", "n_pages": 0})):
        free, other = ({"key": key, "path": f"documents/{at}"} for key, at in (("free.pdf",) * 2, ("c.pdf", "s.pdf")))
        source = with_documents(tmp_path / str(number), {"key": "s.pdf", **row, "kept_here": True}, other, free)
        convert_files([source], into="table", output=tmp_path / f"out-{number}", skip_bad=True)
        assert pdfs(tmp_path / f"out-{number}") == ["documents/free.pdf"]
        place.take(source, skip_bad=True)
        assert place.kept() == ["c.pdf", "s.pdf"]
        keep_documents(place.db, place.actor, place.project, keys=["c.pdf", "s.pdf"], kept=False)
