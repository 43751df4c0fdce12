"""Tables with columns for document and page: they become evidence pages, by one rule, from page 1 on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.page_labels import labelled_pages
from app.wording import import_counts, without_file
from exports.columns.mapping import columns_of
from exports.formats._page_columns import evidence_of
from tests.exports.formats.places import Place
from tests.exports.sources import write_pdf

RULE = "becomes a page of evidence (role gold) of the document in"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def pages(item: ItemContent) -> list[str]:
    return [target.removeprefix("page:") for target in labelled_pages(item)]


@pytest.mark.parametrize(
    ("document", "page"),
    [("document", "page"), ("doc", "pages"), ("file", "page"), ("Filename", "Page number"), ("doc_name", "Seite")],
)
def test_columns_of_document_and_page_become_evidence_pages(
    place: Place, tmp_path: Path, document: str, page: str
) -> None:
    report = place.take(write(tmp_path / "mine.csv", f"question,{document},{page}\nWhen?,a.pdf,3\nWho?,b.pdf,\n"))
    assert (report.added, report.rejected) == (2, [])
    first, second = place.items()
    assert [(unit.kind, unit.role, unit.document, unit.pages) for unit in first.evidence] == [
        ("page", "gold", "a.pdf", (3,))
    ]
    assert (second.evidence, second.documents) == ((), ("b.pdf",))
    assert (first.metadata, first.documents) == ({}, ("a.pdf",))
    assert report.columns == {"question": ["question"], "documents": [document], "pages": [page]}
    [note] = [note for note in report.notes if RULE in note]
    assert note.endswith(f"{document!r}. Pages count from 1; 3;5 and 3-5 are several.")


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("3", [3]),
        ("3;5", [3, 5]),
        ("3, 5", [3, 5]),
        ("3-5", [3, 4, 5]),
        ("3–5; 9", [3, 4, 5, 9]),
        ("[3, 5]", [3, 5]),
        ("3.0", [3]),
        (3.0, [3]),
        (7, [7]),
        ([2, "4-5"], [2, 4, 5]),
        ("3;3", [3]),
    ],
)
def test_one_cell_may_name_several_pages(cell: Any, found: list[int]) -> None:
    assert [unit["pages"] for unit in evidence_of("page", cell, ["a.pdf"])] == [[page] for page in found]


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("0", "Pages count from 1: where a table counts from 0, add 1 to all"),
        (0, "Pages count from 1"),
        ("0-2", "from 1 on"),
        ("5-3", "upwards"),
        ("1-5000", "1,000 at most"),
        ("p. three", "Write pages as 3, as 3;5 or as 3-5"),
        (2.5, "Write pages as 3"),
        (True, "Write pages as 3"),
        ("2026-03-05", "A spreadsheet has made a date of it"),
    ],
)
def test_a_cell_that_is_no_page_says_what_would_be(cell: Any, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        evidence_of("page", cell, ["a.pdf"])


def test_of_several_documents_each_has_its_pages(place: Place, tmp_path: Path) -> None:
    rows = [
        {"question": "Both?", "documents": ["a.pdf", "b.pdf"], "pages": [[3, 5], [7]]},
        {"question": "One each?", "documents": ["a.pdf", "b.pdf"], "pages": [[1], [2]]},
        {"question": "Which?", "documents": ["a.pdf", "b.pdf"], "pages": [[1]]},
        {"question": "Of what?", "documents": [], "pages": [[1]]},
    ]
    path = tmp_path / "mine.parquet"
    pd.DataFrame(rows).to_parquet(path)
    report = place.take(path, skip_bad=True)
    assert [pages(item) for item in place.items()] == [["a.pdf:3", "a.pdf:5", "b.pdf:7"], ["a.pdf:1", "b.pdf:2"]]
    which, nothing = (row.reason for row in report.rejected)
    assert "names 2 documents. Write one page, or one list of pages, for each" in which
    assert "names no document that has the page" in nothing


def test_pages_are_said_by_hand_and_so_is_that_there_are_none(place: Place, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "question,source,where\nWhen?,a.pdf,3;4\n")
    report = place.take(path, columns=columns_of(["documents=source", "pages=where"]), dry_run=True)
    assert [pages(item) for item in report.examples] == [["a.pdf:3", "a.pdf:4"]]
    [bad] = place.take(path, columns=columns_of(["pages=where"]), dry_run=True).rejected
    assert "Say which column names it with --map documents=COLUMN" in bad.reason
    known = write(tmp_path / "known.csv", "question,document,page\nWhen?,a.pdf,iv\n")
    [kept] = place.take(known, columns=columns_of(["pages="]), dry_run=True).examples
    assert (kept.evidence, dict(kept.metadata)) == ((), {"page": "iv"})


def test_pages_beside_evidence_or_without_a_document_stay_metadata(place: Place, tmp_path: Path) -> None:
    beside = write(tmp_path / "beside.csv", "question,document,page,context\nWhen?,a.pdf,3,It was in May.\n")
    [item] = place.take(beside, dry_run=True).examples
    assert ([unit.text for unit in item.evidence], dict(item.metadata)) == (["It was in May."], {"page": "3"})
    alone = write(tmp_path / "alone.csv", "question,page,file_of_mine\nWhen?,3,x\n")
    [item] = place.take(alone, dry_run=True).examples
    assert (item.evidence, dict(item.metadata)) == ((), {"page": "3", "file_of_mine": "x"})


def test_a_document_that_is_neither_in_the_project_nor_among_the_files_is_named(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    write_pdf(folder / "there.pdf", ["One.", "Two."])
    write(folder / "mine.csv", "question,document,page\nWhen?,there.pdf,2\nWho?,gone.pdf,1\nWhere?,lost.pdf,1\n")
    report = place.take(folder, dry_run=True)
    assert (report.documents, report.only_named, report.without_file) == (3, 2, ["gone.pdf", "lost.pdf"])
    assert report.to_json()["without_file"] == ["gone.pdf", "lost.pdf"]
    said = without_file(report)
    assert said.startswith("2 documents that items name are neither in the project nor among the files: gone.pdf, lost")
    place.take(folder)
    again = place.take(write(tmp_path / "more.csv", "question,document,page\nWhy?,gone.pdf,1\n"), dry_run=True)
    assert (again.only_named, without_file(again)) == (0, ""), "the project knows it by now"


def test_what_there_is_nothing_of_is_not_counted(place: Place, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "question\nWhen?\n")
    assert import_counts(place.take(path)) == [("items added", 1)]
    assert import_counts(place.take(path, dry_run=True)) == [("items there already", 1)]
