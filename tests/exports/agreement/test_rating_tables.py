"""Ratings from tables that stand alone: long and wide, scales and labels by criterion, and every error by its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotators.agreement.measure import measure
from annotators.errors import AssayError, InvalidInput, NotFound
from db.engine import Database
from exports.agreement.own_weights import read_weights
from exports.agreement.rating_tables import RatingColumns, labels_of, read_ratings, scales_of
from exports.bundles.bundle import export_project
from tests.exports.labelled import labelled_study

LONG = """\
item,annotator,criterion,target,value,question
i1,ada,tone,,good,q1
i1,ben,tone,,fair,q1
i2,ada,tone,,poor,q1
i2,ben,tone,,,q1
i1,ada,support,evidence:e1,yes,q1
i1,ben,support,evidence:e1,no,q1
i1,ada,support,evidence:e2,yes,q1
"""


def table(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_long_table_gives_a_table_a_criterion_and_kind_of_target(tmp_path: Path) -> None:
    found = read_ratings(
        table(tmp_path, LONG), RatingColumns(), scales=["tone=ordinal"], labels=["tone=poor,fair,good"]
    )
    tone, support = found.tables
    assert (tone.criterion, tone.target, tone.ratings.scale) == ("tone", "item", "ordinal")
    assert tone.ratings.labels == ("poor", "fair", "good")
    assert tone.ratings.n_ratings == 3  # an empty cell is missing
    assert tone.questions == {"i1": "q1", "i2": "q1"}
    assert (support.criterion, support.target, support.ratings.scale) == ("support", "evidence", "nominal")
    assert support.ratings.units == (("i1", "evidence:e1"), ("i1", "evidence:e2"))
    assert (found.n_rows, found.left_out) == (7, {})


def test_columns_may_have_other_names_and_stand_in_any_order(tmp_path: Path) -> None:
    text = "who;grade;what\nada;3;a\nben;4;a\n"
    [found] = read_ratings(
        table(tmp_path, text), RatingColumns(unit="what", rater="who", value="grade"), scales=["interval"]
    ).tables
    assert found.criterion == "value"
    assert found.ratings.numbers.tolist() == [3, 4]


def test_a_wide_table_has_a_column_a_rater_and_empty_cells_are_missing(tmp_path: Path) -> None:
    path = table(tmp_path, "item,ada,ben,cem,note\na,1,2,x,\nb,,3,y,so\n")
    [found] = read_ratings(path, RatingColumns(rater="ada, ben"), wide=True, scales=["interval"]).tables
    assert found.ratings.raters == ("ada", "ben")
    assert found.ratings.units == ("a", "b")
    assert found.ratings.matrix().tolist() == [[0, -1], [1, 2]]
    [all_of_them] = read_ratings(path, RatingColumns(), wide=True).tables
    assert all_of_them.ratings.raters == ("ada", "ben", "cem")


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_the_index_that_pandas_writes_is_no_rater(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"ada": [1, 2, 1], "ben": [1, 2, 2]})
    for name, wide in (("once", frame), ("twice", frame.reset_index(names="Unnamed: 0"))):
        path = tmp_path / f"{name}.{ending}"
        {"csv": wide.to_csv, "xlsx": wide.to_excel}[ending](path)
        [found] = read_ratings(path, RatingColumns(), wide=True).tables
        assert found.ratings.raters == ("ada", "ben")


def test_weights_in_a_workbook_keep_the_labels_of_their_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame([[1, 0.5], [0.5, 1]], index=["1", "2"], columns=["1", "2"])
    frame.to_excel(tmp_path / "w.xlsx")
    frame.to_csv(tmp_path / "w.csv")
    assert read_weights(tmp_path / "w.xlsx") == read_weights(tmp_path / "w.csv")


def test_a_wide_table_without_a_column_of_units_numbers_its_rows(tmp_path: Path) -> None:
    [found] = read_ratings(table(tmp_path, "ada,ben\nyes,no\nyes,yes\n"), RatingColumns(), wide=True).tables
    assert found.ratings.units == (1, 2)


def test_parquet_workbooks_and_json_lines_are_read_as_csv_is(tmp_path: Path) -> None:
    rows = [{"item": 1, "annotator": "ada", "value": 2.0}, {"item": 1, "annotator": "ben", "value": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    pd.DataFrame(rows).to_excel(tmp_path / "t.xlsx", index=False)
    pd.DataFrame(rows).to_excel(tmp_path / "index.xlsx")
    lines = '{"item": 1, "annotator": "ada", "value": 2}\n{"item": 1, "annotator": "ben", "value": null}\n'
    csv = "item,annotator,value\n1,ada,2\n1,ben,\n"
    typed = [tmp_path / name for name in ("t.parquet", "t.xlsx", "index.xlsx")]
    for path in (*typed, table(tmp_path, lines, "t.jsonl"), table(tmp_path, csv)):
        [found] = read_ratings(path, RatingColumns(), scales=["interval"]).tables
        assert (found.ratings.n_ratings, found.ratings.numbers.tolist()) == (1, [2.0]), path.name


def test_sets_that_pandas_wrote_are_sets_as_well(tmp_path: Path) -> None:
    rows = [("a", "ada", ["old", "it's"]), ("a", "ben", ["it's", "old"]), ("b", "ada", []), ("b", "ben", ["old"])]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "value"])
    frame.to_csv(tmp_path / "python.csv", index=False)
    frame.assign(value=frame.value.map(json.dumps)).to_csv(tmp_path / "json.csv", index=False)
    [python], [plain] = (read_ratings(tmp_path / name, RatingColumns()).tables for name in ("python.csv", "json.csv"))
    assert python.ratings.scale == "set"
    assert measure(python.ratings, "default", 0) == measure(plain.ratings, "default", 0)


def test_sets_are_json_arrays(tmp_path: Path) -> None:
    text = 'item,annotator,value\na,ada,"[""old"", ""vague""]"\na,ben,[]\n'
    [found] = read_ratings(table(tmp_path, text), RatingColumns()).tables
    assert found.ratings.scale == "set"
    assert found.ratings.n_ratings == 2


def test_an_exported_table_counts_as_the_study_does(sqlite_database: Database, tmp_path: Path) -> None:
    made = labelled_study(sqlite_database, items=12, people=("=cmd()", "+ben", "'chloe"))
    export_project(
        sqlite_database, made.researcher, made.project_id, to=tmp_path / "out", study_id=made.study_id,
        formats=["labels"], names=True,
    )  # fmt: skip
    found = read_ratings(tmp_path / "out" / "labels.csv", RatingColumns(), scales=["clarity=ordinal", "share=interval"])
    names = {table.criterion: table.ratings for table in found.tables}
    assert set(names) == {"right", "clarity", "share", "problems", "words", "ranking"}
    assert names["right"].raters == ("'chloe", "+ben", "=cmd()")
    assert names["problems"].scale == "set"
    assert names["share"].numeric


@pytest.mark.parametrize(
    ("flags", "reason"),
    [("false,true,,regular", "superseded or withdrawn"), ("true,false,,regular", "incomplete"),
     ("true,true,true,regular", "cannot judge"), ("true,true,,surplus", "surplus")],
)  # fmt: skip
def test_rows_that_do_not_count_are_left_out_and_counted(tmp_path: Path, flags: str, reason: str) -> None:
    text = f"item,annotator,value,current,complete,cannot_judge,kind\na,ada,x,true,true,,regular\na,ben,y,{flags}\n"
    found = read_ratings(table(tmp_path, text), RatingColumns())
    assert found.left_out == {reason: 1}
    assert found.tables[0].ratings.n_ratings == 1


def test_ratings_that_were_added_where_people_disagreed_do_not_count(tmp_path: Path) -> None:
    rows = "a,ada,x,no\na,ben,y,0\na,cy,x,TRUE\nb,ada,x,\nb,ben,x,False\n"
    path = table(tmp_path, f"item,annotator,value,third\n{rows}")
    found = read_ratings(path, RatingColumns(added="third"))
    assert found.left_out == {"added where people disagreed": 1}
    assert found.tables[0].ratings.n_ratings == 4
    assert read_ratings(path, RatingColumns()).tables[0].ratings.n_ratings == 5
    with pytest.raises(InvalidInput, match="line 2 has 'x' for whether the rating was added"):
        read_ratings(path, RatingColumns(added="value"))
    with pytest.raises(NotFound, match="no column 'more'"):
        read_ratings(path, RatingColumns(added="more"))


# What is wrong, by its line -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "asked", "says"),
    [
        ("item,annotator,value\na,ada,x\na,ada,y\n", {}, "line 3 rates item 'a' by 'ada' a second time"),
        ("item,annotator,value\na,,x\n", {}, "line 2 names no rater"),
        ("item,annotator,value\n,ada,x\n", {}, "line 2 names no item"),
        ("item,annotator,value\na,ada,3\na,ben,many\n", {"scales": ["interval"]}, "line 3 has the value 'many'"),
        ("item,annotator,value\na,ada,inf\n", {"scales": ["ratio"]}, "line 2 has the value 'inf'"),
        ("item,annotator,value\na,ada,x\na,ben,z\n", {"labels": ["x,y"]}, "line 3"),
        ("item,annotator,value\na,ada,x\n", {"scales": ["colour"]}, "'colour' is none of nominal, ordinal"),
        ("item,annotator,value\na,ada,x\n", {"scales": ["tone=ordinal"]}, "Criteria: value"),
        ("item,annotator,value\na,ada,x\n", {"labels": ["x,x"]}, "names a label twice"),
        ("item,annotator,value\na,ada,x\n", {"scales": ["ordinal"]}, "order"),
        ("item,annotator,value\n", {}, "there are no ratings"),
        ("item,ada\na,x\na,y\n", {"wide": True}, "line 3 has unit 'a' a second time"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_file_and_line(tmp_path: Path, text: str, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        read_ratings(table(tmp_path, text), RatingColumns(), **asked)
    assert str(raised.value).startswith("labels.csv: ")
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("text", "named", "asked", "says"),
    [
        ("item,annotator,given\na,ada,x\n", RatingColumns(), {}, "no column 'value'. It has: item, annotator, given. "
         "Name the right one with --value"),
        ("item,annotator,value\na,ada,x\n", RatingColumns(criterion="asked"), {}, "'asked'"),
        ("item,ada,ben\na,x,y\n", RatingColumns(rater="ada,cem"), {"wide": True}, "no column 'cem'"),
        ("item,ada,ben\na,x,y\n", RatingColumns(unit="unit"), {"wide": True}, "no column 'unit'"),
    ],
)  # fmt: skip
def test_a_column_that_is_not_there_is_named(
    tmp_path: Path, text: str, named: RatingColumns, asked: dict[str, Any], says: str
) -> None:
    with pytest.raises(NotFound) as raised:
        read_ratings(table(tmp_path, text), named, **asked)
    assert says in str(raised.value)


def test_a_file_that_is_no_table_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="no file"):
        read_ratings(tmp_path / "gone.csv", RatingColumns())
    with pytest.raises(AssayError, match=r"t\.xlsx: it cannot be read as XLSX"):
        read_ratings(table(tmp_path, "x", "t.xlsx"), RatingColumns())


# Scales and labels ----------------------------------------------------------------------------------------------------


def test_scales_and_labels_hold_for_all_or_for_one_criterion_whatever_the_order() -> None:
    criteria = ["tone", "grade", "a=b"]
    assert scales_of(["grade=interval", "ordinal"], criteria) == {
        "tone": "ordinal", "grade": "interval", "a=b": "ordinal",
    }  # fmt: skip
    assert labels_of(["grade=1,2,3", "no, yes"], criteria) == {
        "tone": ["no", "yes"], "grade": [1, 2, 3], "a=b": ["no", "yes"],
    }  # fmt: skip
    assert labels_of(["x=1,x=2"], criteria)["tone"] == ["x=1", "x=2"]  # no criterion is called x
