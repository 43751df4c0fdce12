"""Small inputs that once failed, each with the right value: made here of their shape, and those of `../shared`."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.agreement.measure import measure
from exports.agreement.rating_tables import RatingColumns, RatingTables, read_ratings
from exports.columns.mapping import TableMapping
from exports.columns.values import ValueRule
from exports.formats.labels import read_labels

SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases"

ROWS = range(30)
MADE = {
    "wide.csv": "item,ada,ben\n" + "\n".join(f"{n},{n % 3},{'' if n % 7 == 0 else f'{n % 3}.0'}" for n in ROWS),
    "truth.csv": "item,ada,ben\n" + "\n".join(f"{n},{str(n % 2 == 0).upper()},{n % 2 == 0}" for n in ROWS),
    "case.csv": "item,annotator,value\n" + "\n".join(f"{n},a,Yes\n{n},b,{'yes' if n % 3 else 'YES '}" for n in ROWS),
    "missing.csv": "item,annotator,value\n"
    + "\n".join(f"{n},a,{n % 2}\n{n},b,{'N/A' if n % 5 == 0 else n % 2}" for n in ROWS),
    "rows.json": '[{"q_id":"a","question_text":"Why?<br />So?","annotator":12,"BetterAnswer":"Answer A"},'
    '{"q_id":"a","question_text":"Why?<br />So?","annotator":13.0,"BetterAnswer":"answer A"}]',
    "batch.csv": "HITId,WorkerId,AssignmentStatus,Answer.Coherence,Answer.Fluency\n"
    "h1,w1,Approved,3,4\nh1,w2,Approved,4,4\nh2,w1,Approved,2,5\nh2,w2,Rejected,5,1\n",
    "li.csv": "item,annotator,criterion,value\n1,a,k,2\n1,b,k,2.0\n3,a,k,Yes\n3,b,k,yes\n4,a,k,NA\n4,b,k,yes\n",
    "sets.csv": "item,annotator,value\n" + "\n".join(f"{n},a,x;{n % 2}\n{n},b,{n % 2};x" for n in ROWS),
}


def read(path: Path, *, wide: bool = False, **rule: object) -> RatingTables:
    return read_ratings(path, RatingColumns(), wide=wide, mapping=TableMapping(rule=ValueRule(**rule)))  # type: ignore[arg-type]


def raw(found: RatingTables) -> float | None:
    return next(
        one.value for one in measure(found.tables[0].ratings, "all", 0)
        if one.name in ("percent_agreement", "mean_jaccard")
    )  # fmt: skip


def case(tmp_path: Path, made: str, folder: str, name: str) -> list[Path]:
    """The input that is made here, and the shared one where it is there."""
    path = tmp_path / made
    path.write_text(MADE[made], encoding="utf-8")
    shared = SHARED / folder / name
    return [path, *([shared] if shared.is_file() else [])]


@pytest.mark.parametrize("name", ["wide_pandas.csv", "wide_pandas.xlsx", "wide_pandas.parquet"])
def test_numbers_that_pandas_writes_in_two_ways_are_one(tmp_path: Path, name: str) -> None:
    for path in case(tmp_path, "wide.csv", "pandas_floats_csv", name):
        assert raw(read(path, wide=True)) == 1.0
    for path in case(tmp_path, "truth.csv", "none", "none"):
        assert raw(read(path, wide=True)) == 1.0


def test_labels_in_other_letters_are_told_and_joined(tmp_path: Path) -> None:
    for path in case(tmp_path, "case.csv", "label_case", "case.csv"):
        [caution] = read(path).cautions
        assert all(word in caution for word in ("'Yes'", "'yes'", "'YES'", "--fold-case"))
        assert raw(read(path, fold_case=True)) == 1.0


def test_words_for_missing_are_missing_and_counted(tmp_path: Path) -> None:
    for path in case(tmp_path, "missing.csv", "missing_words", "na.csv"):
        found = read(path)
        assert (raw(found), found.missing) == (1.0, {"value": {"N/A": 6}})
    if (SHARED / "missing_words").is_dir():
        assert raw(read(SHARED / "missing_words" / "r_na.csv", wide=True)) == 1.0
        assert raw(read(SHARED / "missing_words" / "nltk2865_nan.csv")) == 1.0


def test_sets_in_any_order_are_offered_and_read(tmp_path: Path) -> None:
    for path in case(tmp_path, "sets.csv", "multi_delimited", "multi_order.csv"):
        [caution] = read(path).cautions
        assert "--delimiter ';'" in caution
        found = read(path, delimiter=";")
        assert (found.tables[0].ratings.scale, raw(found)) == ("set", 1.0)


def test_rows_of_json_with_names_of_their_own_are_ratings(tmp_path: Path) -> None:
    mapping = TableMapping.of(["item=q_id", "value=BetterAnswer"])
    for path in case(tmp_path, "rows.json", "json_rows_no_map", "rows.json"):
        ratings = read_ratings(path, RatingColumns(), mapping=mapping).tables[0].ratings
        assert (ratings.units, ratings.raters[0], ratings.labels[0]) == (("a",), "12", "Answer A")


def test_a_row_a_rating_with_a_column_a_criterion_is_labels(tmp_path: Path) -> None:
    mapping = TableMapping.of(["item=HITId", "annotator=WorkerId", "criteria=Answer.*"])
    for path in case(tmp_path, "batch.csv", "mturk_wide_criteria", "batch.csv"):
        found = read_labels(path, mapping)
        assert [(row.name, row.annotator, row.criterion, row.value) for row in found.checked()] == [
            ("h1", "w1", "Coherence", "3"), ("h1", "w1", "Fluency", "4"), ("h1", "w2", "Coherence", "4"),
            ("h1", "w2", "Fluency", "4"), ("h2", "w1", "Coherence", "2"), ("h2", "w1", "Fluency", "5"),
        ]  # fmt: skip
        assert dict(found.left_out) == {"AssignmentStatus is Rejected": 1}


def test_labels_that_come_in_are_read_as_those_that_are_measured(tmp_path: Path) -> None:
    for path in case(tmp_path, "li.csv", "label_case", "li.csv"):
        found = read_labels(path)
        values = [row.value for row in found.checked()]
        assert not {"1.0", "2.0"} & set(values)
        assert "NA" not in values
        assert "--fold-case" in found.cautions[0]
        assert found.left_out == {"value is missing": 1}
