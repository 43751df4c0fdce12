"""Reading items and documents: lists by key, details, counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from annotators.errors import AssayError, Conflict, InvalidInput, NotFound
from annotators.items.parsed import ParsedDocument
from db.engine import Database
from db.items.documents import attach_bytes, document_file, list_documents
from db.items.read import current_versions, item_counts, item_details, list_items
from db.items.rows import read_items
from tests.db.items.test_imports import Place, row
from tests.exports.sources import full_item, write_pdf


@pytest.fixture
def place(database: Database) -> Place:
    return Place(database)


def names(place: Place, **options: Any) -> list[str]:
    return [item.external_id for item in list_items(place.db, place.actor, place.project, **options)]


def test_a_list_goes_on_after_a_key(place: Place) -> None:
    place.take(*(row(number) for number in range(9)))
    first = names(place, limit=4)
    assert first == ["i0", "i1", "i2", "i3"]
    assert names(place, limit=4, after=first[-1]) == ["i4", "i5", "i6", "i7"]
    assert names(place, limit=4, after="i7") == ["i8"]


def test_a_list_is_narrowed_by_system_category_and_words(place: Place) -> None:
    place.take(
        row(1, system="a", category="Tables", question="How many 50%_boats in Örnsköldsvik?"),
        row(2, system="b", category="Tables"),
        row(3, system="a"),
    )
    assert names(place, system="a") == ["i1", "i3"]
    assert names(place, category="Tables") == ["i1", "i2"]
    assert names(place, category="") == ["i3"]
    assert names(place, search="BOATS") == ["i1"]
    assert names(place, search="örnSKÖLDS") == ["i1"]
    assert names(place, search="50%_b") == ["i1"]
    assert names(place, search="_oats") == []
    assert names(place, search="I2") == ["i2"]


def test_counts_follow_what_comes_and_goes(place: Place) -> None:
    def counted() -> dict[str, int]:
        return item_counts(place.db, place.actor, place.project).by_system()

    assert counted() == {}
    place.take(row(1, system="a", category="x"), row(2, system="b"))
    assert counted() == {"a": 1, "b": 1}
    batch = place.take(row(3, system="a", category="y")).batch
    counts = item_counts(place.db, place.actor, place.project)
    assert (counts.total, counts.by_category()) == (3, {"x": 1, "y": 1, "": 1})
    place.withdraw(batch)
    assert counted() == {"a": 1, "b": 1}


def test_counts_are_kept_until_something_changes(place: Place) -> None:
    place.take(row(1))
    item_counts(place.db, place.actor, place.project)
    statements: list[str] = []
    event.listen(place.db.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    item_counts(place.db, place.actor, place.project)
    assert statements
    assert not [text for text in statements if "GROUP BY" in text]


def test_details_hold_all_parts(place: Place) -> None:
    place.take(full_item())
    details = item_details(place.db, place.actor, place.project, external_id="museum-1:alpha")
    item = details.item.content
    assert item.documents == ("a.pdf", "b.pdf")
    assert [document.key for document in details.item.documents] == ["a.pdf", "b.pdf", "c.pdf", "fig.png"]
    assert [(e.key, e.kind, e.role, e.pages, e.used, e.hop, e.rank) for e in item.evidence] == [
        ("x1", "table", "gold", (4,), True, 1, None),
        ("e1", "passage", None, (7,), False, None, 2),
        ("e2", "passage", None, (), None, None, None),
    ]
    assert item.evidence[0].box == (0.0, 0.25, 1.0, 0.5)
    assert [(c.key, c.of, c.text) for c in item.claims] == [
        ("c1", "answer", "4,100 came."), ("c9", "reference", "They came by boat."),
    ]  # fmt: skip
    assert [(i.key, i.document, i.page) for i in item.images] == [("i1", "fig.png", 1), ("i2", "a.pdf", 3)]
    assert [hop.key for hop in item.hops] == ["h1", "h2"]
    assert [(s.scorer, s.name, s.target, s.value, s.reason) for s in details.scores] == [
        ("imported:native", "correctness", "item", 1.0, None),
        ("imported:native", "faithfulness", "item", None, "no contexts"),
        ("imported:other", "correctness", "evidence:x1", 0.5, None),
    ]
    assert (details.source, details.is_current, len(details.versions)) == ("rows", True, 1)


def test_an_item_that_is_not_there_is_named(place: Place) -> None:
    with pytest.raises(NotFound, match="'nothing'"):
        item_details(place.db, place.actor, place.project, external_id="nothing")


def test_parts_of_many_items_take_as_many_queries_as_of_one(place: Place) -> None:
    place.take(*(full_item(id=f"i{number}") for number in range(30)))
    statements: list[str] = []
    with place.db.read() as session:
        ids = [version.version_id for version in current_versions(session, place.project)]
        event.listen(place.db.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
        items = read_items(session, ids)
    assert len(items) == 30
    assert len(statements) == 5


def test_a_stream_can_be_narrowed(place: Place) -> None:
    place.take(*(row(number, system="ab"[number % 2]) for number in range(6)))
    with place.db.read() as session:
        some = current_versions(session, place.project, system="b", external_ids=["i1", "i2", "i3"])
        assert [item.external_id for item in some] == ["i1", "i3"]


# Documents ------------------------------------------------------------------------------------------------------------


def test_a_document_may_be_added_bare_and_get_its_bytes_later(place: Place, tmp_path: Path) -> None:
    place.take(documents=(ParsedDocument("d", 1, "a.pdf", "A", {"year": 2024}),))
    [bare] = list_documents(place.db, place.actor, place.project)
    assert (bare.supplied, bare.n_pages, bare.metadata) == (False, None, {"year": 2024})
    pdf = write_pdf(tmp_path / "a.pdf")
    given = {"key": "a.pdf", "source": pdf, "data_folder": tmp_path / "home"}
    assert attach_bytes(place.db, place.actor, place.project, **given) is True
    assert attach_bytes(place.db, place.actor, place.project, **given) is False
    [row_] = list_documents(place.db, place.actor, place.project)
    assert (row_.supplied, row_.n_pages, row_.media_type, row_.title) == (True, 1, "application/pdf", "A")
    assert document_file(tmp_path / "home", str(row_.sha256)).read_bytes() == pdf.read_bytes()


def test_the_same_bytes_are_stored_once(place: Place, tmp_path: Path) -> None:
    pdf = write_pdf(tmp_path / "a.pdf")
    documents = tuple(ParsedDocument("d", line, key, path=pdf) for line, key in enumerate(("a.pdf", "b.pdf"), 1))
    place.take(documents=documents, data_folder=tmp_path / "home")
    assert len([path for path in (tmp_path / "home").rglob("*") if path.is_file()]) == 1


def test_bytes_that_people_have_looked_at_are_not_replaced(place: Place, tmp_path: Path) -> None:
    home = tmp_path / "home"
    place.take(documents=(ParsedDocument("d", 1, "a.pdf", path=write_pdf(tmp_path / "1.pdf", "1")),), data_folder=home)
    with pytest.raises(Conflict, match="other bytes already"):
        attach_bytes(
            place.db, place.actor, place.project, key="a.pdf", source=write_pdf(tmp_path / "2.pdf", "2"),
            data_folder=home,
        )  # fmt: skip


def test_documents_that_do_not_fit_are_refused(place: Place, tmp_path: Path) -> None:
    place.take(documents=(ParsedDocument("d", 1, "a.pdf"),))
    with pytest.raises(NotFound, match=r"no document 'b\.pdf'"):
        attach_bytes(
            place.db, place.actor, place.project, key="b.pdf", source=write_pdf(tmp_path / "b.pdf"),
            data_folder=tmp_path,
        )  # fmt: skip
    (tmp_path / "c.pdf").write_text("no PDF")
    with pytest.raises(InvalidInput, match=r"c\.pdf is not a PDF"):
        attach_bytes(place.db, place.actor, place.project, key="c.pdf", source=tmp_path / "c.pdf", data_folder=tmp_path)
    with pytest.raises(AssayError, match="no data folder"):
        place.take(documents=(ParsedDocument("d", 1, "d.pdf", path=write_pdf(tmp_path / "d.pdf")),))
    assert [document.key for document in list_documents(place.db, place.actor, place.project)] == ["a.pdf"]


def test_documents_are_listed_by_key_and_searched(place: Place) -> None:
    named = (("b.pdf", "Harbour"), ("a.pdf", "Pier"), ("c.pdf", "harbour again"))
    place.take(documents=tuple(ParsedDocument("d", line, key, title) for line, (key, title) in enumerate(named, 1)))

    def keys(**options: Any) -> list[str]:
        return [document.key for document in list_documents(place.db, place.actor, place.project, **options)]

    assert keys(limit=2) == ["a.pdf", "b.pdf"]
    assert keys(after="b.pdf") == ["c.pdf"]
    assert keys(search="HARBOUR") == ["b.pdf", "c.pdf"]
    assert keys(search="a.p") == ["a.pdf"]
