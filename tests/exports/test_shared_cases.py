"""Small inputs that once failed, each with the right value: made here of their shape, and those of `../shared`."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.agreement.measure import measure
from exports.agreement.rating_tables import RatingColumns, RatingTables, read_ratings
from exports.columns.mapping import TableMapping
from exports.columns.values import ValueRule

SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases"

ROWS = range(30)
MADE = {
    "wide.csv": "item,ada,ben\n" + "\n".join(f"{n},{n % 3},{'' if n % 7 == 0 else f'{n % 3}.0'}" for n in ROWS),
    "truth.csv": "item,ada,ben\n" + "\n".join(f"{n},{str(n % 2 == 0).upper()},{n % 2 == 0}" for n in ROWS),
    "case.csv": "item,annotator,value\n" + "\n".join(f"{n},a,Yes\n{n},b,{'yes' if n % 3 else 'YES '}" for n in ROWS),
    "missing.csv": "item,annotator,value\n"
    + "\n".join(f"{n},a,{n % 2}\n{n},b,{'N/A' if n % 5 == 0 else n % 2}" for n in ROWS),
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
