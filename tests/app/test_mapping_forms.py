"""Tables on the page Import: what is guessed of their columns, how they are opened, and mappings that are kept."""

from __future__ import annotations

import io
from typing import Any

import pytest
from openpyxl import Workbook

from app import wording
from db.elsewhere.mappings import keep_mapping, kept_mappings
from tests.app.filled import Filled, no_problem
from tests.app.pages import Pages


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def ratings(grade: str = "Treue") -> bytes:
    rows = [
        f"2026-03-01 1{n}:00;{who};i{n:05d};{'ja' if (n + k) % 3 else 'nein'};{1 + (n + 2 * k) % 4}"
        for k, who in enumerate(("Änne", "Bodo", "Cem"))
        for n in range(4)
    ]
    return "\n".join([f"Zeit;Wer;Nr;{grade};Klarheit", *rows]).encode("cp1252")


def of_key(elements: Any, end: str) -> Any:
    """The one element whose key ends so."""
    return next(element for element in elements if str(element.key).endswith(end))


def test_columns_in_another_language_are_guessed_said_and_kept(filled: Filled) -> None:
    page = filled.open("rosa", "imports")
    page.text_input(key="label-import-name").input("Published").run()
    page.file_uploader(key="label-import-file-0").set_value(("märz.csv", ratings(), "")).run()
    shown = no_problem(page).replace("\\", "")
    assert "Guessed: item: Nr (4 values, each once for an annotator)" in shown
    assert of_key(page.multiselect, "-criteria").value == ["Treue", "Klarheit"]
    assert "24 labels" in shown.replace("<b>", "").replace("</b>", " ").replace("</span>", "").replace("<span>", "")
    of_key(page.multiselect, "-criteria").set_value(["Treue"]).run()
    of_key(page.text_input, "-keep-name").input("forms").run()
    of_key(page.button, "-keep").click().run()
    [kept] = kept_mappings(filled.pages.db, filled.pages.admin, filled.project_id)
    assert (kept.name, kept.mapping["fields"]["criteria"], kept.by) == ("forms", ["Treue"], "rosa")

    of_key(page.selectbox, "-kept").set_value("forms").run()
    assert of_key(page.multiselect, "-criteria").value == ["Treue"]
    page.file_uploader(key="label-import-file-0").set_value(("april.csv", ratings("Echt"), "")).run()
    of_key(page.selectbox, "-kept").set_value("forms").run()
    [error] = [one.value for one in page.error]
    assert (
        "The mapping 'forms' does not fit april.csv: it has no column 'Treue', which is the criteria there"
        in error.replace("\\", "")
    )
    assert "--map" not in error


def test_the_sheet_of_a_workbook_and_a_kept_mapping_read_its_items(filled: Filled) -> None:
    book = Workbook()
    notes, sheet = book.active, book.create_sheet("Questions")
    assert notes is not None
    for row in (["note"], ["none"]):
        notes.append(row)
    for row in (["Nr", "Wortlaut"], ["z1", "When?"], ["z2", "Where?"]):
        sheet.append(row)
    data = io.BytesIO()
    book.save(data)
    keep_mapping(
        filled.pages.db, filled.pages.admin, filled.project_id, name="fragen",
        mapping={"fields": {"id": ["Nr"], "question": ["Wortlaut"]}},
    )  # fmt: skip
    page = filled.open("rosa", "imports")
    page.file_uploader(key="imports-files-0").set_value([("fragen.xlsx", data.getvalue(), "")]).run()
    assert "none of the columns is known as the question" in no_problem(page)
    of_key(page.text_input, "-sheet").input("Questions").run()
    of_key(page.selectbox, "-kept").set_value("fragen").run()
    no_problem(page)
    assert "question = Wortlaut" in page.warning[0].value
    assert any(button.label == "Import 2 items" for button in page.button)


@pytest.mark.parametrize(
    ("said", "on_page"),
    [
        ("Name the right one with --map item=COLUMN.", "Name the right one as item under “Columns”."),
        ("name another with --encoding.", "name another with “Encoding”."),
        ("--fold-case joins them.", "“Labels that differ only in case are one” joins them."),
        ("--delimiter ';' reads them as sets.", "“Between the parts of a set”: ; reads them as sets."),
        ("say so with --missing '?,skip'.", "say so with “Words for a missing value”: ?,skip."),
        ("say so with --missing=-99.", "say so with “Words for a missing value”: -99."),
        ("say so with --empty no.", "say so with “What an empty cell says”: no."),
        ("leave it out with --leave-out COLUMN=Total.", "leave it out with “Rows left out”: the column, =, Total."),
        ("It has 2 * 3 cells.", "It has 2 * 3 cells."),
    ],
)
def test_a_page_says_its_fields_where_a_command_says_its_options(said: str, on_page: str) -> None:
    assert wording.on_page(said) == on_page
