"""Tables of items: columns and fields, what a cell may be, kinds of tables, and tables made to do harm."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook, load_workbook

from annotators.errors import InvalidInput
from exports.bundles.bundle import export_project
from exports.bundles.columns import columns_of_items
from exports.bundles.typed import headings_of, write_typed
from exports.bundles.verify import verify_against
from exports.columns.mapping import columns_of
from exports.converting import convert_files
from exports.reading.tables import open_table
from tests.exports.formats.places import Place

GERMAN = "Nr;Frage;Antwort;Modell\n7;Wann fuhr die Bahn?;Am 3. April.;alpha\n8;Wohin?;Zum Hafen;alpha\n"


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def sheet(path: Path, *rows: list[Any], others: tuple[str, ...] = ()) -> Path:
    book = Workbook()
    for row in rows:
        book.active.append(row)  # type: ignore[union-attr]
    for name in others:
        book.create_sheet(name)
    book.save(path)
    return path


def test_columns_with_usual_names_are_fields_and_others_stay_metadata(place: Place, tmp_path: Path) -> None:
    table = "Query,Response,Model,Ground truth,shelf\nWhen?,In May.,alpha,May,B2\nWho?,,alpha,,\n"
    report = place.take(write(tmp_path / "mine.csv", table))
    assert (report.format, report.added, report.rejected) == ("table", 2, [])
    assert report.columns == {
        "question": ["Query"], "answer": ["Response"], "system": ["Model"], "references": ["Ground truth"],
    }  # fmt: skip
    assert report.notes == [
        "mine.csv is read with question = Query, answer = Response, system = Model, references = Ground truth; "
        "kept in the metadata: shelf."
    ]
    first, second = place.items()
    assert (first.question, first.answer, first.system, first.references) == ("When?", "In May.", "alpha", ("May",))
    assert (dict(first.metadata), second.answer, second.references, dict(second.metadata)) == (
        {"shelf": "B2"}, "", (), {},
    )  # fmt: skip


def test_a_mapping_says_what_is_not_known(place: Place, tmp_path: Path) -> None:
    path = write(tmp_path / "fragen.csv", GERMAN)
    report = place.take(path, columns=columns_of(["question_key=Nr", "category=Modell"]), dry_run=True)
    assert report.columns == {
        "question_key": ["Nr"], "question": ["Frage"], "answer": ["Antwort"], "category": ["Modell"],
    }  # fmt: skip
    assert [item.category for item in report.examples] == ["alpha", "alpha"]
    left_out = place.take(path, columns=columns_of(["answer="]), dry_run=True)
    assert [dict(item.metadata)["Antwort"] for item in left_out.examples] == ["Am 3. April.", "Zum Hafen"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["question"], "'question' maps nothing. Write FIELD=COLUMN"),
        (["frage=Frage"], "An item has no field 'frage'. It has: id, question_key, question"),
        (["question=Frage", "question=Antwort"], "`question` is read from one column, not from 'Frage' and 'Antwort'"),
    ],
)
def test_a_mapping_that_is_none_is_refused(place: Place, tmp_path: Path, given: list[str], words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        place.take(write(tmp_path / "x.csv", GERMAN), columns=columns_of(given))
    assert words in str(refused.value)


def test_a_mapping_belongs_to_a_table(place: Place, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="native has no columns to map"):
        place.take(write(tmp_path / "x.csv", GERMAN), format_name="native", columns={"question": ["Frage"]})


def test_cells_of_several_values(place: Place, tmp_path: Path) -> None:
    table = (
        "id\tquestion\treferences\tdocuments\tevidence\tclaims\tscores\thops\tnote\n"
        'a\tQ?\t["May", ["3", "May"]]\tr.pdf\tClosed in May.\tIt closed.\t0.5\t[{"question": "H?"}]\t[sic]\n'
        'b\tQ?\t[May]\t["r.pdf"]\t[{"text": "E", "role": "gold"}, "F"]\t[]\t[{"name": "x", "value": 1}]\t\t\n'
    )
    report = place.take(write(tmp_path / "x.tsv", table), columns=columns_of(["scores=scores", "scores=note"]))
    assert [bad.reason for bad in report.rejected] == [
        "the column 'note' is '[sic]'. A score is a number, or JSON.",
    ]
    report = place.take(tmp_path / "x.tsv")
    assert report.rejected == []
    first, second = place.items()
    assert (first.references, first.documents) == (("May", ["3", "May"]), ("r.pdf",))
    assert ([part.text for part in first.evidence], [part.text for part in first.claims]) == (
        ["Closed in May."], ["It closed."],
    )  # fmt: skip
    assert [(score.scorer, score.name, score.value) for score in report.examples[0].scores] == [
        ("imported:table", "scores", 0.5)
    ]
    assert (first.hops[0].question, dict(first.metadata)) == ("H?", {"note": "[sic]"})
    assert (second.references, [part.role for part in second.evidence]) == (("[May]",), ["gold", None])


LISTS = {
    "evidence": [{"key": "page-17", "kind": "page", "document": "r.pdf", "pages": [17]}],
    "claims": [{"key": "c1", "text": "It closed.", "metadata": {"n": [1]}}],
    "images": [{"key": "i1", "document": "r.pdf", "box": [0.1, 0.1, 0.9, 0.9]}],
    "hops": [{"key": "h1", "question": "H?", "metadata": {"n": [1]}}],
    "scores": [{"name": "x", "value": 1.0, "parameters": {"n": [1]}}],
    "references": [["May", "3"], ["June", "4"]],
    "documents": [f"{n}.pdf" for n in range(2_000)],
}


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("name", list(LISTS))
def test_a_list_as_numpy_prints_it_is_a_bad_row(place: Place, tmp_path: Path, name: str, ending: str) -> None:
    pq.write_table(pa.table({"question": ["Q?"], name: [LISTS[name]]}), tmp_path / "t.parquet")
    frame = pd.read_parquet(tmp_path / "t.parquet")
    {"csv": frame.to_csv, "xlsx": frame.to_excel}[ending](tmp_path / f"t.{ending}", index=False)
    [bad] = place.take(tmp_path / f"t.{ending}").rejected
    assert bad.reason.startswith(f"the column {name!r} is ")
    assert "Save the table with to_parquet, to_json or save_to_disk, which keep lists" in bad.reason
    assert place.items() == []
    assert place.take(tmp_path / "t.parquet").rejected == []


def test_how_printed_lists_are_to_be_saved_is_said_once(place: Place, tmp_path: Path) -> None:
    cell = "\"[{'pages': array([4])}]\""
    (tmp_path / "t.csv").write_text(f"question,evidence,claims\nQ?,{cell},\nR?,{cell},\nS?,,{cell}\nT?,,[\n")
    reasons = [bad.reason for bad in place.take(tmp_path / "t.csv", skip_bad=True).rejected]
    assert ["Save the table with" in reason for reason in reasons] == [True, False, False]
    assert all(reason.endswith("which cannot be read back.") for reason in reasons[1:])


def test_objects_as_python_prints_them_are_read(place: Place, tmp_path: Path) -> None:
    pd.DataFrame({"question": ["Q?"], **{name: [cell] for name, cell in LISTS.items()}}).to_csv(tmp_path / "t.csv")
    assert place.take(tmp_path / "t.csv").rejected == []
    [item] = place.items()
    [unit] = item.evidence
    assert (unit.key, unit.kind, unit.pages, len(item.documents)) == ("page-17", "page", (17,), 2_000)


def test_typed_tables_keep_their_values(place: Place, tmp_path: Path) -> None:
    columns = {
        "question": ["Q1?", "Q2?"],
        "retrieved_contexts": [["one", "two"], []],
        "rank": [3, 4],
        "share": [0.5, float("nan")],
        "seen": [True, None],
        "on": [date(2026, 3, 1), None],
        "of": [{"a": [1]}, None],
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    report = place.take(tmp_path / "x.parquet")
    assert (report.format, report.added, report.rejected) == ("table", 2, [])
    first, second = place.items()
    assert [unit.text for unit in first.evidence] == ["one", "two"]
    assert dict(first.metadata) == {"rank": 3, "share": 0.5, "seen": True, "on": "2026-03-01", "of": {"a": [1]}}
    assert dict(second.metadata) == {"rank": 4}


def test_a_sheet_is_read_with_what_its_formulas_came_to(place: Place, tmp_path: Path) -> None:
    rows = [["question", "answer", "n", None], ["Q?", "=1+1", 2.0, None], [None, None], [7, "=HYPERLINK(1)", 2.5]]
    report = place.take(sheet(tmp_path / "x.xlsx", *rows, others=("Notes",)))
    assert (report.format, report.added, report.rejected) == ("table", 2, [])
    assert report.notes[1] == "x.xlsx: the sheet 'Sheet' is read, not 'Notes'."
    first, second = place.items()
    assert (first.question, first.answer, dict(first.metadata)) == ("Q?", "", {"n": 2})
    assert (second.question, dict(second.metadata)) == ("7", {"n": 2.5})


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_the_index_that_pandas_writes_is_no_column(place: Place, tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"question": ["Q?", "R?"], "references": [["a", "b"], ["it's"]]})
    write_frame = {"csv": frame.to_csv, "xlsx": frame.to_excel}
    write_frame[ending](tmp_path / f"x.{ending}")
    report = place.take(tmp_path / f"x.{ending}")
    assert report.rejected == []
    assert f"x.{ending}: the first column, which has no name and numbers the rows, is left out." in report.notes
    assert [(item.references, dict(item.metadata)) for item in place.items()] == [(("a", "b"), {}), (("it's",), {})]
    named = frame.set_index(pd.Index(["first", "second"]))
    write_frame = {"csv": named.to_csv, "xlsx": named.to_excel}
    write_frame[ending](tmp_path / f"y.{ending}")
    [bad, _] = place.take(tmp_path / f"y.{ending}").rejected
    assert bad.reason == "its first column has no name and holds 'first'. Write a name into the first row."


def test_days_of_a_sheet_are_days_and_escaped_signs_what_they_were(place: Place, tmp_path: Path) -> None:
    day, moment = datetime(2026, 3, 31), datetime(2026, 3, 31, 12, 30)
    path = sheet(
        tmp_path / "days.xlsx",
        ["id", "question", "answer", "when"],
        [day, "Wann?", "a_x000D_b and a_x005F_x0041_b", moment],
    )
    report = place.take(path)
    assert report.rejected == []
    [item] = place.items()
    assert (item.id, item.answer, item.metadata["when"]) == (
        "2026-03-31", "a\rb and a_x0041_b", "2026-03-31T12:30:00",
    )  # fmt: skip


def test_what_a_workbook_would_take_for_an_escaped_sign_comes_back(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "a", "question": "Is it a_x0041_b?"}')
    done = convert_files([tmp_path / "items.jsonl"], into="table", output=tmp_path / "out")
    table = tmp_path / "out" / "items.csv"
    write_typed(tmp_path / "t.xlsx", table, columns_of_items(headings_of(table)))
    found = open_table(tmp_path / "t.xlsx")
    place = found.columns.index("question")
    assert [cells[place] for _, cells in found.rows] == ["Is it a_x0041_b?"]
    assert done.lost == []


def test_columns_whose_names_would_run_are_the_same_in_every_type_of_table(place: Place, tmp_path: Path) -> None:
    metadata = {"@type": "QA", "-n": "1", "=1+1": "two", "'=q": "r", "+1": "s", "a;=b": "t", "x_x0041_": "u"}
    odd = {"bell\x07": "v", "two\rlines": "w"}  # no sheet has a cell that says so
    item = {"id": "a", "question": "Q?", "metadata": metadata | odd}
    place.take(write(tmp_path / "items.jsonl", orjson.dumps(item)))
    out, types = tmp_path / "out", ("parquet", "xlsx", "tsv")
    export_project(place.db, place.actor, place.project, to=out, formats=("table",), typed=types)
    found = pd.read_parquet(out / "table" / "items.parquet")
    assert set(metadata) < set(found.columns)
    assert not set(odd) & set(found.columns)
    for ending in ("csv", *types):
        assert set(metadata) < set(open_table(out / "table" / f"items.{ending}").columns)
        report = place.take(out / "table" / f"items.{ending}", dry_run=True)
        assert (report.unchanged, report.revisions, report.rejected) == (1, [], [])
    [heading, *_] = load_workbook(out / "table" / "items.xlsx").worksheets[0].iter_rows()
    assert {cell.data_type for cell in heading} == {"s"}
    named = open_table(out / "data_dictionary.csv").rows
    assert set(metadata) < {cells[1] for _, cells in named}
    assert "'@type" in (out / "data_dictionary.csv").read_text()
    assert verify_against(place.db, place.actor, out).ok


def test_formulas_are_counted_with_those_that_nothing_has_worked_out(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "texts.xlsx"
    pd.DataFrame({"question": ["Q?", "R?"], "answer": ["=3+4 is 7", "plain"]}).to_excel(path, index=False)
    [_, said] = place.take(path, dry_run=True).notes
    assert said == (
        "texts.xlsx: 1 cell is a formula. A formula counts as what it came to when the workbook was saved, and 1 is "
        "empty, as nothing has worked them out. Texts that begin with = are written so by programs such as pandas."
    )
    assert len(place.take(sheet(tmp_path / "plain.xlsx", ["question"], ["Q?"]), dry_run=True).notes) == 1


def test_a_first_line_may_say_what_separates_cells(place: Place, tmp_path: Path) -> None:
    path = write(tmp_path / "excel.csv", "sep=;\r\nquestion;answer\r\nWhat, and when?;Now\r\n;No question\r\n")
    report = place.take(path, skip_bad=True)
    assert (report.added, [row.line for row in report.rejected]) == (1, [4])
    assert place.items()[0].question == "What, and when?"


def test_infinities_are_words_in_the_metadata(place: Place, tmp_path: Path) -> None:
    table = {"question": ["Q?", "R?", "S?"], "m": [float("inf"), float("-inf"), float("nan")]}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    assert place.take(tmp_path / "t.parquet").rejected == []
    assert [item.metadata.get("m") for item in place.items()] == ["inf", "-inf", None]


def test_a_guard_against_formulas_is_taken_away(place: Place, tmp_path: Path) -> None:
    place.take(write(tmp_path / "x.csv", "question,answer\nQ?,'=1+1\n"))
    assert place.items()[0].answer == "=1+1"


def test_documents_beside_a_table_come_with_it(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "documents").mkdir(parents=True)
    write(folder / "documents/r.txt", "Closed in May.")
    write(folder / "items.csv", "question,document\nQ?,r.txt\n")
    report = place.take(folder)
    assert (report.format, report.added, report.supplied) == ("table", 1, 1)


def test_a_table_beside_the_files_of_another_format_is_none_of_its(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    write(folder / "items.jsonl", '{"question": "Q?"}\n')
    write(folder / "overview.csv", "question\nOther?\n")
    report = place.take(folder)
    assert (report.format, report.added) == ("native", 1)


BAD = {
    "empty": ("", "the file is empty"),
    "spaces": ("\n\n", "the file is empty"),
    "no question": ("wo,wer\n1,2\n", "none of the columns is known as the question"),
    "twice": ("question,question\nQ?,R?\n", "names the column 'question' twice"),
    "unnamed": ("question,,x\nQ?,1,2\n", "column 2 has no name"),
    "mixed": ("question,größe\n".encode() + "Wo läuft es?,1\n".encode("latin-1"), "the row is not in the file's"),
    "NUL": ("question\nQ\x00?\n", "the character NUL"),
    "quote": ('question,answer\n"Q?,A\n', "the row cannot be read"),
    "cells": ("question,answer\nQ?,A,B\n", "3 cells for 2 columns"),
    "columns": (",".join(f"c{n}" for n in range(2001)), "2,001 columns, more than 2,000"),
    "huge": ("question\n" + "x" * (17 << 20) + "\n", "a cell has more than 16 million characters"),
    "no row": ("question,answer\n,A\n", "`question` is missing or empty"),
    "JSON": ('question,images\nQ?,here\n', "Write `images` as a JSON array"),
    "metadata": ("question,metadata\nQ?,3\n", "The metadata is a JSON object"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(BAD))
def test_a_bad_table_is_named_with_its_line(place: Place, tmp_path: Path, name: str) -> None:
    content, words = BAD[name]
    report = place.take(write(tmp_path / "bad.csv", content), format_name="table")
    [bad] = report.rejected
    assert words in bad.reason
    assert (bad.file, bad.line) == ("bad.csv", 2 if isinstance(content, str | bytes) and _about_a_row(words) else 1)
    assert bad.reason.endswith(".")
    assert place.items() == []


def _about_a_row(words: str) -> bool:
    return not words.startswith(("the file", "none of", "names", "column 2", "2,001", "the first"))


def test_a_byte_order_mark_and_short_rows_are_no_trouble(place: Place, tmp_path: Path) -> None:
    report = place.take(write(tmp_path / "x.csv", b"\xef\xbb\xbfquestion,answer\r\nQ?\r\n\r\nR?,A,,\r\n"))
    assert (report.added, report.rejected) == (2, [])


def workbook(path: Path, cells: str, before: str = "") -> Path:
    """A workbook as small as one can be, with these rows of its sheet and this before its root element."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    sheets = '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/s.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}">{sheets}</workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="s.xml"/></Relationships>',
        "xl/s.xml": f'{before}<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def rows(*numbered: tuple[int, str]) -> str:
    return "".join(f'<row r="{number}">{cells}</row>' for number, cells in numbered)


ENTITIES = '<!DOCTYPE x [<!ENTITY a "' + "a" * 100 + '">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(8)
) + "]>"  # fmt: skip


def test_a_sheet_with_a_cell_in_its_last_corner_takes_no_room(place: Place, tmp_path: Path) -> None:
    corner = rows((1, cell("A1", "question")), (2, cell("A2", "Q?")), (1 << 20, cell("XFD1048576", "x")))
    [bad] = place.take(workbook(tmp_path / "corner.xlsx", corner)).rejected
    assert (bad.line, bad.reason.split(".")[0]) == (1 << 20, "the row has 16,384 cells for 1 column")


@pytest.mark.parametrize("content", ["entities", "beyond", "swollen", "no zip", "cut off", "no sheet"])
def test_a_hostile_workbook_is_refused_in_a_sentence(place: Place, tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.xlsx"
    first = (1, cell("A1", "question"))
    if content == "entities":
        workbook(path, rows(first, (2, cell("A2", "&i;"))), ENTITIES)
    elif content == "beyond":
        workbook(path, rows(first, (9_999_999_999, cell("A9999999999", "x"))))
    elif content == "swollen":
        workbook(path, rows(first) + " " * (64 << 20))
    elif content == "no zip":
        write(path, b"PK\x03\x04 and then nothing")
    elif content == "cut off":
        whole = io.BytesIO(sheet(path, ["question"], ["Q?"]).read_bytes()).getvalue()
        write(path, whole[: len(whole) // 2])
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("[Content_Types].xml", "<x/>")
    bad = place.take(path).rejected
    assert len(bad) == 1
    assert bad[0].reason.endswith(".")
    assert place.items() == []


def test_a_damaged_parquet_file_is_named(place: Place, tmp_path: Path) -> None:
    pq.write_table(pa.table({"question": ["Q?"] * 2000}), tmp_path / "x.parquet")
    data = bytearray((tmp_path / "x.parquet").read_bytes())
    write(tmp_path / "cut.parquet", bytes(data[:-20]))
    [bad] = place.take(tmp_path / "cut.parquet").rejected
    assert "cannot be read as Parquet" in bad.reason
    pq.write_table(pa.table({"question": ["Q?"], "raw": [[{"x": b"\xff\x00"}]]}), tmp_path / "bytes.parquet")
    [bad] = place.take(tmp_path / "bytes.parquet").rejected
    assert "the column 'raw' holds bytes" in bad.reason


UNREAD = {
    "a late date": (pa.array([3, 2_932_897], pa.date32()), "date value out of range"),
    "a late date in a list": (pa.array([[3], [2_932_897]], pa.list_(pa.date32())), "date value out of range"),
    "an early time": (pa.array([3, -(10**17)], pa.timestamp("us")), "date value out of range"),
    "no UTF-8": (pa.array([b"x", b"\xff"]).view(pa.string()), "a text that is not in UTF-8"),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_a_value_of_parquet_that_cannot_be_read_costs_its_row_alone(place: Place, tmp_path: Path, kind: str) -> None:
    values, words = UNREAD[kind]
    table = pa.table({"question": ["Q?", "R?", "S?"], "when": pa.concat_arrays([values, values[:1]])})
    pq.write_table(table, tmp_path / "x.parquet")
    report = place.take(tmp_path / "x.parquet", skip_bad=True)
    [bad] = report.rejected
    assert (report.added, bad.line) == (2, 2)
    assert bad.reason.startswith("the column 'when' holds ")
    assert bad.reason.endswith(", or leave the column out.")
    assert words in bad.reason


def test_numbers_with_more_digits_than_json_has_lose_none(place: Place, tmp_path: Path) -> None:
    digits = "123456789012345678901234567890"
    write(tmp_path / "a.csv", f'question,metadata\nQ?,"{{""x"": {digits}}}"\n')
    [bad] = place.take(tmp_path / "a.csv").rejected
    assert f"the column 'metadata': the whole number {digits} is longer than 64 bits" in bad.reason
    write(tmp_path / "b.csv", f"question,evidence\nQ?,\"[{{'text': 't', 'metadata': {{'x': {digits}}}}}]\"\n")
    [bad] = place.take(tmp_path / "b.csv").rejected
    assert "Write such values as texts." in bad.reason
    decimals = pa.array([Decimal("0.10"), Decimal(f"{digits}.25")], pa.decimal128(38, 2))
    pq.write_table(pa.table({"question": ["Q?", "R?"], "x": decimals}), tmp_path / "c.parquet")
    assert place.take(tmp_path / "c.parquet").added == 2
    assert {item.question: item.metadata["x"] for item in place.items()} == {"Q?": 0.1, "R?": f"{digits}.25"}


def test_a_column_of_parquet_without_a_name_is_named_as_bad_wherever_it_stands(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for names, number in ((["id", "question", ""], 3), (["id", " ", "question"], 2)):
        pq.write_table(pa.table([["a"], ["Q?"], ["Q?"]], names=names), path)
        [bad] = place.take(path, format_name="table").rejected
        assert bad.reason == f"column {number} has no name. Name it."
    pq.write_table(pa.table([[0, 1], ["Q?", "R?"]], names=["", "question"]), path)
    report = place.take(path)
    assert (report.added, report.rejected) == (2, [])
    assert "t.parquet: the first column, which has no name and numbers the rows, is left out." in report.notes


def test_an_empty_text_of_parquet_is_one_in_the_metadata_and_nothing_in_a_field(place: Place, tmp_path: Path) -> None:
    columns = {"id": ["a", "b"], "question": ["Q?", "R?"], "system": ["", None], "scores": ["", None],
               "documents": ["", None], "metadata": ["", None], "note": ["", None]}  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    report = place.take(tmp_path / "t.parquet")
    assert report.rejected == []
    first, second = place.items()
    assert (first.system, first.documents, first.scores, dict(first.metadata)) == ("reference", (), (), {"note": ""})
    assert dict(second.metadata) == {}
    done = convert_files([tmp_path / "t.parquet"], into="table", output=tmp_path / "out")
    assert done.lost == []


def test_each_of_the_cells_that_are_merged_has_their_value(place: Place, tmp_path: Path) -> None:
    book = Workbook()
    for row in (["id", "question", "part"], ["a", "Q?", "I"], ["b", "R?", None]):
        book.active.append(row)  # type: ignore[union-attr]
    book.active.merge_cells("C2:C3")  # type: ignore[union-attr]
    book.save(tmp_path / "m.xlsx")
    report = place.take(tmp_path / "m.xlsx")
    assert [dict(item.metadata) for item in place.items()] == [{"part": "I"}, {"part": "I"}]
    assert [note[:34] for note in report.notes[1:]] == ["m.xlsx: it has merged cells. Each "]
    assert len(place.take(sheet(tmp_path / "n.xlsx", ["id", "question"], ["a", "Q?"])).notes) == 1
