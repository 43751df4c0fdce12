"""One reading of values: the same frame gives the same ratings from every kind of file, and what was read is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotators.agreement.measure import measure
from exports.agreement.rating_tables import RatingColumns, RatingTables, read_ratings
from exports.columns.columns import Columns
from exports.columns.mapping import TableMapping
from exports.columns.values import ValueRule, read_names, read_values

WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t", encoding="utf-16"),
    "xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "json": lambda frame, path: frame.to_json(path, double_precision=15),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, double_precision=15),
}


def figures(found: RatingTables) -> list[Any]:
    """What was read and what follows from it, but for the lines of the file."""
    return [
        (
            table.criterion, table.ratings.units, table.ratings.raters, table.ratings.labels,
            table.ratings.matrix().tolist(),
            [one.value for one in measure(table.ratings, "default", 0)],
        )
        for table in found.tables
    ]  # fmt: skip


_WORDS = st.sampled_from(
    ["yes", "Yes", " yes", "no", "NA", "N/A", "None", "-", "#N/A", "null", "a;b", "b;a", "2", "2.0", "é"]
)
_NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 1.0, 2.25]))
_COLUMNS = st.one_of(
    st.lists(st.one_of(_NUMBERS, st.none()), min_size=6, max_size=6),
    st.lists(st.one_of(st.booleans(), st.none()), min_size=6, max_size=6),
    st.lists(st.one_of(_WORDS, st.none()), min_size=6, max_size=6),
)


@given(_COLUMNS, _COLUMNS, st.booleans())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_frame_gives_the_same_ratings_from_every_kind_of_file(
    tmp_path: Path, ada: list[Any], ben: list[Any], fold: bool
) -> None:
    frame = pd.DataFrame({"item": range(6), "ada": ada, "ben": ben})
    if frame[["ada", "ben"]].isna().all(axis=None):
        return
    mapping = TableMapping(rule=ValueRule(fold_case=fold))
    found: dict[str, list[Any]] = {}
    for ending, write in WRITERS.items():
        path = tmp_path / f"t.{ending}"
        write(frame, path)
        found[ending] = figures(read_ratings(path, RatingColumns(), wide=True, mapping=mapping))
    assert all(one == found["csv"] for one in found.values()), found


@pytest.mark.parametrize("orient", ["columns", "records", "split", "table", "index"])
def test_json_of_pandas_is_a_table_in_each_of_its_orientations(tmp_path: Path, orient: Any) -> None:
    frame = pd.DataFrame({"item": [1, 2], "ada": ["x", "y"], "ben": ["x", "x"]})
    frame.to_json(tmp_path / "t.json", orient=orient)
    [table] = read_ratings(tmp_path / "t.json", RatingColumns(), wide=True).tables
    assert (table.ratings.units, table.ratings.n_ratings) == (("1", "2"), 4)


@pytest.mark.parametrize(
    ("cells", "values", "missing"),
    [
        (["1", "1.0", 1, 1.0, "1e0", " 1 "], [1] * 6, {}),
        (["", None, "NA", "n/a", "NaN", "None", "null", "#N/A", "-"], [None] * 9,
         {"(empty)": 2, "NA": 1, "n/a": 1, "NaN": 1, "None": 1, "null": 1, "#N/A": 1, "-": 1}),
        (["TRUE", "True", True, "false"], ["true", "true", "true", "false"], {}),
        (["True", 0.0, "1.0", None], [1, 0, 1, None], {"(empty)": 1}),
        (["true", "2"], ["true", 2], {}),
        (["3,5", "2"], [3.5, 2], {}),
        (["1,000", "2"], ["1,000", 2], {}),
        (["007", "x"], [7, "x"], {}),
        (["12345678901234567890", "1"], [12345678901234567890, 1], {}),
        (["2024-01-01 00:00:00", "2024-01-01"], ["2024-01-01"] * 2, {}),
        (["\ufeffyes\u200b", "yes"], ["yes", "yes"], {}),
        (["2024-01-01T10:30:00", "2024-01-01 10:30"], ["2024-01-01 10:30:00"] * 2, {}),
        (["n.a.", "NaT", "#VALUE!", ".", "--", "x", "y"], [None] * 5 + ["x", "y"],
         {"n.a.": 1, "NaT": 1, "#VALUE!": 1, ".": 1, "--": 1}),
        # Numbers as they are written elsewhere.
        (["\uff13", "\u0663", "'3", 3], [3] * 4, {}),
        (["\u22121", "-1"], [-1, -1], {}),
        (["0,125", "2,5"], [0.125, 2.5], {}),
        (["1.200,5", "3"], [1200.5, 3], {}),
        (["1.200", "950,5"], [1200, 950.5], {}),
        (["1,200", "950.5"], [1200, 950.5], {}),
        (["1,200", "1200"], [1200, 1200], {}),
        (["1,234,567", "5"], [1234567, 5], {}),
        (["1'200", "1 200", "1\u202f200,5"], [1200, 1200, 1200.5], {}),
        (["10 %", "7,5%"], [0.1, 0.075], {}),
        (["10%", 0.1], [0.1, 0.1], {}),
        (["10%", 10], ["10%", 10], {}),
        (["1,5", "one,two"], ["1,5", "one,two"], {}),
        # Yes and no in several ways.
        (["Yes", "TRUE", "no", False], ["Yes", "Yes", "no", "no"], {}),
        (["Y", "yes", "N", "N"], ["Y", "Y", "N", "N"], {}),
        (["yes", 0, "no", 1], [1, 0, 0, 1], {}),
        (["yes", "y", "maybe"], ["yes", "y", "maybe"], {}),
        (["yes", "no"], ["yes", "no"], {}),
    ],
)  # fmt: skip
def test_a_cell_says_the_same_however_it_is_written(
    cells: list[Any], values: list[Any], missing: dict[str, int]
) -> None:
    read = read_values(cells)
    assert read.values == values
    assert [type(value) for value in read.values] == [type(value) for value in values]
    assert dict(read.missing) == missing


def test_a_word_that_is_declared_is_a_label_although_it_looks_missing() -> None:
    assert read_values(["none", "major", "NA"], declared={"none"}).values == ["none", "major", None]
    assert read_values(["none", "NA", ""], ValueRule.of("NA")).values == ["none", None, None]
    assert read_values(["none", ""], ValueRule.of("")).values == ["none", None]


@pytest.mark.parametrize("cells", [["1,200", "3,450"], ["1,000", 2]])
def test_a_number_that_may_be_read_in_two_ways_is_a_text_and_said(cells: list[Any]) -> None:
    read = read_values(cells)
    assert read.values == cells
    assert f"{cells[0]!r} may be" in read.cautions[0]


def test_sets_of_numbers_are_no_decimal_numbers() -> None:
    assert read_values(["1,2", "2,1", "3"], ValueRule.of(delimiter=",")).values == [[1, 2], [2, 1], [3]]


def test_yes_and_no_become_the_words_that_are_declared() -> None:
    assert read_values([True, "FALSE", 1], declared={"Yes", "No"}).values == ["Yes", "No", "Yes"]
    assert read_values(["yes", "1"], declared={"yes", "no", "1"}).values == [1, 1]


def test_a_number_that_means_missing_is_missing_however_it_is_written() -> None:
    assert read_values([-99, "-99", -99.0, "-99.0", 3], ValueRule.of("-99")).values == [None] * 4 + [3]
    assert read_values([3, "3"], ValueRule.of("-99")).values == [3, 3]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["good", "bad", "?"], "--missing '?'"),
        (["good", "bad", "Not applicable", "skipped"], "--missing 'Not applicable,skipped'"),
        ([1, 2, 5, -99], "--missing=-99"),
        (["1", "4", "999"], "--missing=999"),
        (["x", "", "x", ""], "--empty no"),
        (["4 - good", 4, "5 - great"], "'4 - good' and 4 may be one label"),
        (["4/5", 4], "'4/5' and 4 may be one label"),
        (["50%", 50], "'50%' is a percentage and 50 is none"),
    ],
)
def test_values_that_may_mislead_are_said(cells: list[Any], words: str) -> None:
    [caution] = read_values(cells).cautions
    assert words in caution


@pytest.mark.parametrize("cells", [[-1, 0, 1], ["x", "x"], ["a", "b", ""], [1, 99, 100], ["3 - ok", "4 - good"]])
def test_values_that_do_not_mislead_are_not_said(cells: list[Any]) -> None:
    assert read_values(cells).cautions == []


def test_words_for_missing_are_said_where_others_are_named_in_their_place() -> None:
    assert "'NA' (1)" in read_values(["good", "bad", "NA", "skip"], ValueRule.of("skip")).cautions[0]


def test_an_empty_cell_says_what_it_is_said_to() -> None:
    read = read_values(["x", "", None, "x"], ValueRule.of(empty="no"))
    assert (read.values, dict(read.missing), read.cautions) == (["x", "no", "no", "x"], {}, [])


def test_labels_that_differ_only_in_case_or_unicode_form_are_told_or_joined() -> None:
    cells = ["Yes", "yes", "Yes", "caf\u00e9", "cafe\u0301", "no"]
    told = read_values(cells)
    assert told.values == cells
    assert "'Yes' (2), 'yes' (1)" in told.cautions[0]
    assert "U+0301" in told.cautions[0]
    joined = read_values(cells, ValueRule(fold_case=True))
    assert joined.values == ["Yes", "Yes", "Yes", "caf\u00e9", "caf\u00e9", "no"]
    assert (joined.cautions, len(joined.notes)) == ([], 1)


@pytest.mark.parametrize(
    ("cells", "delimiter"),
    [
        (["a;b", "b;a", "c"], "';'"),
        (["a|b", "a", "b|c", "c"], "'|'"),
        (["x, y", "y, x"], "','"),
        (["a\nb", "b\na"], "newline"),
    ],
)
def test_sets_with_a_delimiter_are_found_and_offered(cells: list[str], delimiter: str) -> None:
    [caution] = read_values(cells).cautions
    assert f"--delimiter {delimiter}" in caution
    rule = ValueRule.of(delimiter=delimiter.strip("'"))
    first, second = read_values(cells, rule).values[:2]
    assert isinstance(first, list)
    assert read_values(cells, rule).cautions == []
    if delimiter != "'|'":
        assert set(first) == set(second)


@pytest.mark.parametrize("cells", [["good, but long", "bad, and short"], ["3/4", "1/2"], ["it is; so", "no; never"]])
def test_sentences_are_not_offered_as_sets(cells: list[str]) -> None:
    assert read_values(cells).cautions == []


def test_names_are_texts_and_whole_numbers_are_whole() -> None:
    assert (
        read_names([1.0, 2.0, None]) == read_names(["1.0", "2.0", ""]) == read_names([1, 2, None]) == ["1", "2", None]
    )
    assert read_names(["gpt 4.0", "1.0"]) == ["gpt 4.0", "1.0"]
    assert read_names(["007", "7"]) == ["007", "7"]
    assert read_names([1234567.0, 12345678]) == ["1234567", "12345678"]


def test_large_numbers_are_names_of_their_own() -> None:
    columns = Columns("t", {"id": [1234567.0, 1234568.0]}, [1, 2])
    assert columns.keys("id") == ["1234567", "1234568"]


def test_what_was_read_is_said_in_text_and_json(tmp_path: Path) -> None:
    frame = pd.DataFrame({"Item ID": [1, 1], "WorkerId": ["a", "b"], "label": ["x", "NA"]})
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="first", index=False)
        frame.assign(label="y").to_excel(book, sheet_name="second", index=False)
    found = read_ratings(tmp_path / "t.xlsx", RatingColumns())
    assert found.read == [
        "Columns: item = Item ID (as such columns are called); annotator = WorkerId (as such columns are called); "
        "value = label (as such columns are called).",
        "t.xlsx: the sheet 'first' is read, not 'second'.",
        "label: 1 value is missing: NA 1.",
    ]
    assert found.said()["missing"] == {"label": {"NA": 1}}
    json.dumps(found.said())
    mapping = TableMapping.of(opening=TableMapping().opening.__class__(sheet="second"))
    assert read_ratings(tmp_path / "t.xlsx", RatingColumns(), mapping=mapping).tables[0].ratings.labels == ("y",)


def test_words_of_yes_and_no_are_numbers_where_numbers_are_wanted() -> None:
    table = Columns("t.csv", {"judge": ["yes", "No", None, "yes"]}, [2, 3, 4, 5])
    assert table.numbers("judge") == [1.0, 0.0, None, 1.0]
    assert "judge: No counts as 0, yes counts as 1." in table.said
