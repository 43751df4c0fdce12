"""Imports as the database does them: one transaction, comparison with what is there, batches and their withdrawal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import func, select

from annotators.designing.design import StudyDesign
from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotSignedIn
from annotators.items.normal import read_item
from annotators.items.parsed import ParsedDocument, ParsedItem, Rejected
from annotators.protocols import PROTOCOLS
from db.batches import list_batches, withdraw_batch
from db.designing.making import create_study
from db.engine import Database
from db.items import imports
from db.items.documents import KEPT_HERE, document_file, list_documents, list_kept_documents
from db.items.imports import ImportReport, import_items, preview_import
from db.items.read import current_versions, item_counts, item_details, list_items
from db.models import Event, Evidence, Item, ItemVersion, Question, StudyItem
from tests.makers import make_member, make_person, make_project


class Rows:
    """Rows to import, from memory."""

    format, source = "native", "rows"

    def __init__(self, *rows: dict[str, Any] | Rejected, documents: tuple[ParsedDocument, ...] = ()) -> None:
        self._rows, self._documents = rows, documents

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        yield from self._documents

    def items(self) -> Iterator[ParsedItem | Rejected]:
        for line, row in enumerate(self._rows, 1):
            yield row if isinstance(row, Rejected) else ParsedItem("rows", line, read_item(row))

    def notes(self) -> tuple[str, ...]:
        return ()


class Place:
    def __init__(self, db: Database) -> None:
        self.db, self.actor, self.project = db, make_person(db, admin=True), make_project(db)

    def take(
        self, *rows: dict[str, Any] | Rejected, documents: tuple[ParsedDocument, ...] = (), **options: Any
    ) -> ImportReport:
        reading = Rows(*rows, documents=documents)
        return import_items(self.db, self.actor, self.project, reading=reading, **options)

    def withdraw(self, batch: int | None, **options: Any) -> None:
        assert batch is not None
        withdraw_batch(self.db, self.actor, self.project, batch, **{"reason": "wrong file", **options})

    def current(self) -> list[tuple[str, int]]:
        with self.db.read() as session:
            return [(version.external_id, version.number) for version in current_versions(session, self.project)]

    def count(self, table: Any) -> int:
        with self.db.read() as session:
            return session.exec(select(func.count()).select_from(table)).one()


@pytest.fixture
def place(database: Database) -> Place:
    return Place(database)


def row(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"i{number}", "question_key": f"q{number % 3}", "question": f"Q{number % 3}?", **fields}


def test_blocks_hang_together(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BLOCK", 4)
    rows = [
        row(number, documents=[f"d{number % 2}"], evidence=[{"text": str(number), "document": f"d{number % 5}"}])
        for number in range(11)
    ]
    report = place.take(*rows)
    assert (report.added, report.documents) == (11, 5)
    assert (place.count(Question), place.count(Evidence)) == (3, 11)
    for number in (0, 3, 10):
        item = item_details(place.db, place.actor, place.project, external_id=f"i{number}").item.content
        assert item.question_key == f"q{number % 3}"
        assert [(e.text, e.document) for e in item.evidence] == [(str(number), f"d{number % 5}")]
        assert item.documents == (f"d{number % 2}",)


def test_items_that_point_beyond_a_document_are_counted_and_named(place: Place) -> None:
    long, short = (ParsedDocument("rows", 1, key, metadata={"n_pages": n}) for key, n in (("long", 9), ("short", 2)))
    place.take(documents=(long,))
    rows = (
        row(1, evidence=[{"document": "long", "pages": [9]}, {"key": "far", "document": "long", "pages": [3, 12]}]),
        row(2, images=[{"document": "short", "page": 3}]),
        row(3, evidence=[{"document": "short", "pages": [2]}, {"document": "unknown", "pages": [400]}]),
    )
    found = "2 items point beyond a document: i1 (evidence 'far': page 12 of 'long', of 9), i2 (images 'i1': page 3 of "
    reading = Rows(*rows, documents=(short,))
    for report in (
        preview_import(place.db, place.actor, place.project, reading=reading), place.take(*rows, documents=(short,)),
    ):  # fmt: skip
        [note] = report.notes
        assert note.startswith(found + "'short', of 2). Annotators find no such page there")
        assert report.added == 3


def counts(report: ImportReport) -> dict[str, Any]:
    """What a report counts, without what only a preview or only an import can know."""
    return {name: value for name, value in report.to_json().items() if name != "batch"}


def test_a_preview_counts_what_the_import_then_counts(place: Place) -> None:
    place.take(row(1, documents=["there"], scores=[{"name": "correctness", "value": 1}]))
    rows = (
        row(1, documents=["there"], scores=[{"name": "correctness", "value": 1}, {"name": "flag", "value": 0}]),
        row(2, documents=["there", "new-1"], evidence=[{"text": "t", "document": "new-2"}]),
        row(3, documents=["new-1", "described"]),
        row(4, answer="x"),
        row(4, answer="y"),
    )
    reading = Rows(*rows, documents=(ParsedDocument("rows", 1, "described", title="D"),))
    planned = preview_import(place.db, place.actor, place.project, reading=reading)
    done = import_items(place.db, place.actor, place.project, reading=reading, skip_bad=True)
    assert counts(planned) == counts(done)
    assert (done.added, done.documents, done.scores, len(done.rejected)) == (3, 3, 1, 1)


def test_an_item_may_point_at_more_documents_than_a_statement_takes_parameters(place: Place) -> None:
    report = place.take(row(1, documents=[f"d{number}" for number in range(40_000)]))
    assert (report.added, report.documents) == (1, 40_000)
    assert place.take(row(1, documents=[f"d{number}" for number in range(40_000)])).unchanged == 1


def test_a_bad_row_in_a_later_block_undoes_the_earlier_ones(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BLOCK", 2)
    report = place.take(*(row(number) for number in range(6)), Rejected("rows", 7, "bad"), row(9))
    assert (report.batch, report.added, [row.line for row in report.rejected]) == (None, 0, [7])
    assert (place.count(Item), place.count(Question), place.count(Event)) == (0, 0, 0)


def test_reading_stops_when_nearly_everything_is_bad(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BLOCK", 2)
    monkeypatch.setattr(imports, "MOST_REJECTED", 5)
    report = place.take(*(Rejected("rows", line, "bad") for line in range(1, 100)))
    assert [row.line for row in report.rejected] == [1, 2, 3, 4, 5, 6]
    assert "Is this the right format?" in report.rejected[-1].reason


def test_a_row_that_says_the_same_again_counts_as_unchanged(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BLOCK", 2)
    report = place.take(row(1), row(1), row(2), row(1))
    assert (report.added, report.unchanged) == (2, 2)


def test_a_preview_says_what_the_import_then_does(place: Place) -> None:
    place.take(row(1), row(2, answer="old"))
    rows = Rows(row(1), row(2, answer="new"), row(3, split="dev"), row(3, split="test"), Rejected("rows", 9, "bad"))
    preview = preview_import(place.db, place.actor, place.project, reading=rows)
    assert (preview.added, preview.unchanged, len(preview.revisions)) == (1, 1, 1)
    assert [row.line for row in preview.rejected] == [4, 9] or [row.line for row in preview.rejected] == [9, 4]
    assert preview.metadata == {"split": 1}
    assert [item.id for item in preview.examples] == ["i3"]
    assert place.count(Item) == 2
    done = import_items(place.db, place.actor, place.project, reading=rows, skip_bad=True)
    assert (done.added, done.unchanged, len(done.revisions)) == (1, 1, 1)


def test_content_that_a_later_version_replaced_is_still_known(place: Place) -> None:
    place.take(row(1, answer="first"))
    with place.db.write() as session:
        old = session.exec(select(ItemVersion)).one()
        item = session.exec(select(Item)).one()
        fields = {"question": old.question, "answer": "second", "content_hash": "later", "batch_id": old.batch_id}
        session.add(ItemVersion(item_id=item.id, number=2, **fields))
    report = place.take(row(1, answer="first"))
    assert (report.added, report.unchanged, report.revisions) == (0, 1, [])


def test_a_withdrawn_batch_is_in_no_current_query(place: Place) -> None:
    first = place.take(row(1), row(2)).batch
    place.take(row(3))
    place.withdraw(first)
    assert place.current() == [("i3", 1)]
    assert [item.external_id for item in list_items(place.db, place.actor, place.project)] == ["i3"]
    assert item_counts(place.db, place.actor, place.project).total == 1
    assert not item_details(place.db, place.actor, place.project, external_id="i1").is_current
    batches = list_batches(place.db, place.actor, place.project)
    assert [(batch.withdrawn, batch.reason) for batch in batches] == [(False, None), (True, "wrong file")]


def test_a_withdrawal_can_be_taken_back(place: Place) -> None:
    first = place.take(row(1)).batch
    place.withdraw(first)
    place.withdraw(first, reinstates=True, reason="it was right")
    assert place.current() == [("i1", 1)]
    assert item_counts(place.db, place.actor, place.project).total == 1
    place.withdraw(first)
    assert place.current() == []


def test_the_right_file_can_follow_a_withdrawn_one_with_the_same_ids(place: Place) -> None:
    first = place.take(row(1, answer="wrong"), row(2)).batch
    place.withdraw(first)
    report = place.take(row(1, answer="right"), row(2))
    assert (report.added, report.revisions) == (2, [])
    assert place.current() == [("i1", 2), ("i2", 2)]
    details = item_details(place.db, place.actor, place.project, external_id="i1")
    assert (details.item.content.answer, details.batch_id) == ("right", report.batch)
    place.withdraw(first, reinstates=True, reason="keep it too")
    assert place.current() == [("i1", 2), ("i2", 2)]


def test_an_id_keeps_its_question_and_system_for_ever(place: Place) -> None:
    place.withdraw(place.take(row(1, system="alpha")).batch)
    report = place.take(row(1, system="beta"))
    assert "belongs to question 'q1' and system 'alpha'" in report.rejected[0].reason


def test_a_study_keeps_its_sample_when_a_batch_is_withdrawn(place: Place) -> None:
    batch = place.take(*(row(number, evidence=[{"text": "It says so."}]) for number in (1, 2))).batch
    annotator = make_person(place.db, "ann")
    make_member(place.db, place.project, annotator, "annotator")
    design = StudyDesign(name="s", annotators=("ann",), overlap=1)
    create_study(place.db, place.actor, place.project, protocol=PROTOCOLS.get("qa_verification"), design=design)
    place.withdraw(batch)
    assert place.count(StudyItem) == 2
    with pytest.raises(InvalidInput, match="no items"):
        create_study(
            place.db, place.actor, place.project, protocol=PROTOCOLS.get("qa_verification"),
            design=StudyDesign(name="t", annotators=("ann",), overlap=1),
        )  # fmt: skip


def test_documents_of_a_withdrawn_batch_stay_while_a_current_item_points_at_them(place: Place) -> None:
    first = place.take(row(1, documents=["shared", "own"])).batch
    place.take(row(2, evidence=[{"document": "shared", "text": "x"}]))
    place.withdraw(first)
    assert [document.key for document in list_documents(place.db, place.actor, place.project)] == ["shared"]


def test_any_row_of_a_document_may_say_that_it_stays(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BLOCK", 2)
    marked = tuple(ParsedDocument("rows", n, f"d{n}", kept=True) for n in range(5))
    torn = (ParsedDocument("rows", 6, "torn", title="A"), ParsedDocument("rows", 7, "torn", title="B", kept=True))
    free = ParsedDocument("rows", 8, "free")
    report = place.take(documents=(*marked, *torn, free), skip_bad=True)
    assert (report.documents, report.kept, len(report.rejected)) == (7, 6, 1)
    kept = ["d0", "d1", "d2", "d3", "d4", "torn"]
    assert list(list_kept_documents(place.db, place.actor, place.project)) == kept
    with place.db.read() as session:
        logged = session.exec(select(Event.details).where(Event.kind == KEPT_HERE)).all()
    assert [details["documents"] for details in logged] == [kept[:2], kept[2:4], kept[4:]]


def test_a_refused_import_marks_nothing(place: Place) -> None:
    place.take(documents=(ParsedDocument("rows", 1, "there"),))
    marked = (ParsedDocument("rows", 1, "there", kept=True), ParsedDocument("rows", 2, "new", kept=True))
    assert place.take(Rejected("rows", 9, "bad"), documents=marked).kept == 0
    assert list_kept_documents(place.db, place.actor, place.project) == {}


def test_withdrawing_says_what_is_wrong(place: Place) -> None:
    batch = place.take(row(1)).batch
    assert batch is not None
    other = make_project(place.db)
    with pytest.raises(NotFound, match="no batch"):
        withdraw_batch(place.db, place.actor, other, batch, reason="x")
    with pytest.raises(InvalidInput, match="needs a reason"):
        place.withdraw(batch, reason=" ")
    with pytest.raises(Conflict, match="not withdrawn"):
        place.withdraw(batch, reinstates=True)
    place.withdraw(batch)
    with pytest.raises(Conflict, match="withdrawn already"):
        place.withdraw(batch)


def test_only_researchers_import(place: Place) -> None:
    viewer = make_person(place.db)
    make_member(place.db, place.project, viewer, "adjudicator")
    with pytest.raises(NotAllowed):
        import_items(place.db, viewer, place.project, reading=Rows(row(1)))
    with pytest.raises(NotAllowed):
        preview_import(place.db, viewer, place.project, reading=Rows(row(1)))
    with pytest.raises(NotSignedIn):
        import_items(place.db, None, place.project, reading=Rows(row(1)))


def test_two_projects_do_not_meet(place: Place) -> None:
    place.take(row(1, documents=["a"]))
    place.project = make_project(place.db)
    assert place.take(row(1, documents=["a"], answer="other")).added == 1
    assert item_counts(place.db, place.actor, place.project).total == 1


def test_bytes_are_taken_back_when_the_transaction_fails(place: Place, tmp_path: Path) -> None:
    texts = []
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(f"The text of {name}.")
        texts.append(ParsedDocument("f", 1, name, path=tmp_path / name))
    # A file stands where the folder of the second document's bytes would be made.
    digest = hashlib.sha256(b"The text of two.txt.").hexdigest()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / digest[:2]).write_text("in the way")
    with pytest.raises(FileExistsError):
        import_items(
            place.db, place.actor, place.project, reading=Rows(row(1), documents=tuple(texts)),
            data_folder=tmp_path / "home",
        )  # fmt: skip
    assert [path.name for path in (tmp_path / "home").rglob("*") if path.is_file()] == [digest[:2]]
    assert place.count(Item) == 0


def test_many_documents_are_looked_at_at_once_and_told_in_the_order_of_the_source(place: Place, tmp_path: Path) -> None:
    parsed: list[ParsedDocument] = []
    for number in range(120):
        path = tmp_path / f"{number}.txt"
        path.write_text("" if number % 10 == 3 else f"The text of document {number // 2 * 2}.")
        parsed.append(ParsedDocument("f", number, f"d{number:03}", path=path))
    parsed.append(ParsedDocument("f", 120, "gone", path=tmp_path / "gone.txt"))
    parsed.append(ParsedDocument("f", 121, "d001", path=tmp_path / "8.txt"))
    folder = tmp_path / "home"
    report = place.take(row(1), documents=tuple(parsed), data_folder=folder, skip_bad=True)
    assert [row.line for row in report.rejected] == [*range(3, 120, 10), 120, 121]
    assert "supplied twice with different bytes" in report.rejected[-1].reason
    assert (report.documents, report.supplied) == (108, 108)
    rows = list_documents(place.db, place.actor, place.project, limit=200)
    assert {row.key: row.sha256 for row in rows} == {
        document.key: hashlib.sha256(document.path.read_bytes()).hexdigest()
        for document in parsed[:120]
        if document.path and document.line % 10 != 3
    }
    assert all(document_file(folder, row.sha256 or "").read_bytes() for row in rows)
    assert {(row.media_type, row.n_pages, row.title, row.metadata == {}) for row in rows} == {
        ("text/plain", 1, "", True)
    }
