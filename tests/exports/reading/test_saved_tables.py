"""Tables as spreadsheets and scripts save them: titles above the names, merged cells, spacers, nested JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from annotators.errors import InvalidInput
from exports.columns.columns import Columns, read_columns
from exports.reading.tables import heading_of

ROWS = [["a", "ada", 1], ["b", "ada", 2], ["c", "ben", 3]]
NAMES = ["item", "annotator", "value"]


def book(path: Path, rows: list[list[Any]], merged: tuple[str, ...] = (), **others: list[list[Any]]) -> Path:
    made = Workbook()
    sheet: Any = made.active
    for row in rows:
        sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    for name, of_other in others.items():
        other: Any = made.create_sheet(name)
        for row in of_other:
            other.append(row)
    made.save(path)
    return path


def text(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def as_rows(columns: Columns) -> list[list[Any]]:
    return [list(map(str, row)) for row in zip(*columns.cells.values(), strict=True)]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["Ratings of March", "", "item,annotator,value", "a,ada,1", "b,ada,2", "c,ben,3"], 3),
        (["item;annotator;value", "a;ada;1", "b;ada;2", "c;ben;3"], 1),
        (["sep=;", "item;annotator;value", "a;ada;1", "b;ada;2", "c;ben;3"], 1),
        (["item|annotator|value", "a|ada|1", "b|ada|2", "c|ben|3"], 1),
        (["Exported, by us, on 1 May, 2026", "item;annotator;value", "a;ada;1", "b;ada;2", "c;ben;3"], 2),
    ],
)
def test_the_names_are_found_below_a_title_and_what_separates_cells_by_all_lines(
    tmp_path: Path, lines: list[str], line: int
) -> None:
    found = read_columns(text(tmp_path / "t.csv", *lines))
    assert (list(found.cells), as_rows(found)) == (NAMES, [list(map(str, row)) for row in ROWS])
    assert heading_of("\n".join([*lines, ""]).encode()) == NAMES
    said = f"t.csv: the columns are named in line {line}; what stands above is left out."
    assert found.said == ([said] if line > 1 else [])


def test_commas_in_the_names_of_columns_do_not_separate_cells(tmp_path: Path) -> None:
    rows = [f"{n};yes, it is;{n}" for n in range(5)]
    found = read_columns(text(tmp_path / "t.csv", "item;said, in words, by them;value", *rows))
    assert list(found.cells) == ["item", "said, in words, by them", "value"]


def test_merged_cells_say_the_same_in_all_of_them(tmp_path: Path) -> None:
    rows = [NAMES, ["a", "ada", 1], [None, "ben", 2], ["b", "ada", None], [None, "ben", 4]]
    found = read_columns(book(tmp_path / "t.xlsx", rows, ("A2:A3", "A4:A5", "C3:C4")))
    assert found.cells == {"item": ["a", "a", "b", "b"], "annotator": ["ada", "ben"] * 2, "value": [1, 2, 2, 4]}
    beside = read_columns(book(tmp_path / "u.xlsx", [["item", "ada", "ben"], ["a", 1, None]], ("B2:C2",)))
    assert beside.cells == {"item": ["a"], "ada": [1], "ben": [1]}


@pytest.mark.parametrize(
    ("above", "merged"),
    [
        ([["Ratings of March", None, None], NAMES], ("A1:C1",)),
        ([[None, "Who and what", None], NAMES], ("B1:C1",)),
        ([["item", "Who and what", None], [None, "annotator", "value"]], ("A1:A2", "B1:C1")),
        ([["Ratings", None, None], [None, None, None], NAMES], ()),
    ],
)
def test_what_stands_above_the_names_is_no_column(
    tmp_path: Path, above: list[list[Any]], merged: tuple[str, ...]
) -> None:
    found = read_columns(book(tmp_path / "t.xlsx", [*above, *ROWS], merged))
    assert (list(found.cells), as_rows(found)) == (NAMES, [list(map(str, row)) for row in ROWS])
    assert f"t.xlsx: the columns are named in line {len(above)}; what stands above is left out." in found.said


def test_a_row_that_is_wider_than_the_names_is_not_taken_for_them(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="3 cells for 2 columns"):
        read_columns(text(tmp_path / "t.csv", "item,value", "a,yes,more", "b,no,less"))


def test_columns_without_a_name_or_anything_else_are_left_out(tmp_path: Path) -> None:
    rows = [["item", None, "value"], ["a", None, 1], ["b", None, 2]]
    found = read_columns(book(tmp_path / "t.xlsx", rows))
    assert found.cells == {"item": ["a", "b"], "value": [1, 2]}
    assert found.said == ["t.xlsx: column 2 has no name and nothing else: left out."]
    late = [["item", None, "value"], *([["a", None, 1]] * 60), ["b", "x", 2]]
    with pytest.raises(InvalidInput, match="line 62: column 2 has no name"):
        read_columns(book(tmp_path / "u.xlsx", late))


def test_a_first_sheet_without_rows_names_the_others(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no rows below the names.*--sheet: 'Ratings'"):
        read_columns(book(tmp_path / "t.xlsx", [["notes"]], Ratings=[NAMES, *ROWS]))


@pytest.mark.parametrize(
    "data",
    [
        {"meta": {"n": 3}, "result": {"rows": [dict(zip(NAMES, row, strict=True)) for row in ROWS]}},
        [NAMES, *ROWS],
        {name: [row[n] for row in ROWS] for n, name in enumerate(NAMES)},
        {str(n): dict(zip(NAMES, row, strict=True)) for n, row in enumerate(ROWS)},
    ],
)
def test_json_of_any_shape_that_is_a_table_is_read_as_one(tmp_path: Path, data: Any) -> None:
    (tmp_path / "t.json").write_text(json.dumps(data), encoding="utf-8")
    found = read_columns(tmp_path / "t.json")
    assert found.cells == {name: [row[n] for row in ROWS] for n, name in enumerate(NAMES)}


def test_an_object_of_objects_with_lists_is_rows_and_not_one_of_their_lists(tmp_path: Path) -> None:
    data = {f"q{n}": {"question": "Q?", "votes": [{"by": "ada"}]} for n in range(3)}
    (tmp_path / "t.json").write_text(json.dumps(data), encoding="utf-8")
    assert list(read_columns(tmp_path / "t.json").cells) == ["question", "votes"]
