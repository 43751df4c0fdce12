"""Whatever a notebook is given that cannot be: an error of ours with argument and remedy, and nothing stored."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from annotators.errors import AssayError, InvalidInput, NotFound
from exports.notebook import Home, agreement, open_home
from tests.exports.notebook.test_examples import home, made_home

__all__ = ["home", "made_home"]

RATINGS = pd.DataFrame({"ada": ["yes", "no", "yes"], "ben": ["yes", "no", "no"]})
ITEMS = pd.DataFrame({"id": ["n1"], "question": ["Why?"], "answer": ["So."]})


NOON, EAST = datetime(2026, 3, 31, 12), timezone(timedelta(hours=2))


class Kind(str, Enum):  # noqa: UP042 - a text of another kind, which says something else of itself
    """Words as enumerations had them before StrEnum."""

    ONE, TWO, ORDINAL, FINANCE = "one", "two", "ordinal", "finance"


class Unspeakable:
    """What cannot even say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError


TEXT, FLAG, WHOLE, NUMBER, NAMES, NOTHING, PLACE = "text", "flag", "whole", "number", "names", "nothing", "place"
WRONG: list[tuple[str, Any]] = [
    (NOTHING, None), (FLAG, True), (FLAG, np.False_), (WHOLE, 5), (WHOLE, -1), (WHOLE, 2**80), (WHOLE, 10**5000),
    (WHOLE, np.int64(3)), (NUMBER, 1.5), (NUMBER, float("nan")), (NUMBER, float("inf")), (NUMBER, np.float64(0.5)),
    (TEXT, "x"), (PLACE, Path("x")), (NAMES, ["x"]), (NAMES, ("x",)), (NAMES, pd.Series(["x"])), (NAMES, []),
    ("half a letter", "\ud800"), ("no text", "a\0b"), ("bytes", b"x"), ("numbers", [1]), ("nothings", [None]),
    ("lists", [["x"]]), ("no names", [True]), ("fields", {1: 2}), ("columns", {"a": [1]}), ("array", np.zeros((2, 2))),
    ("frame", pd.DataFrame({"a": ["x"]})), ("missing", pd.NA), ("no time", pd.NaT), ("time", datetime(2026, 1, 1)),
    ("decimal", Decimal(1)), ("type", int), ("function", len), ("object", Unspeakable()), ("objects", [Unspeakable()]),
    ("without an end", itertools.count()), ("in no order", {"x", "y"}), ("in no order", frozenset("x")),
    ("in no order", {"x": 1}.keys()), ("in no order", {1: "x"}.values()),
]  # fmt: skip
"""Values, each with what it would be right for; what nothing is called by is wrong everywhere."""

CALLS: dict[str, tuple[Callable[[Home], Any], dict[str, Any], dict[str, set[str]]]] = {
    "open_home": (
        lambda _: open_home,
        {"place": "x"},
        {"place": {TEXT, PLACE}, "write": {FLAG}, "as_": {TEXT, NOTHING}, "keep": {TEXT, PLACE, NOTHING}},
    ),
    "project": (lambda home: home.project, {}, {"name": {TEXT}}),
    "study": (lambda home: home.project("finance").study, {}, {"name": {TEXT}}),
    "report": (
        lambda home: home.project("finance").report,
        {},
        {"study": {TEXT, NOTHING}, "seed": {WHOLE}, "resamples": {WHOLE}},
    ),
    "import_items": (
        lambda home: home.project("finance").import_items,
        {"frame": ITEMS},
        {"frame": {"frame"}, "mapping": {NOTHING}, "dry_run": {FLAG}, "skip_bad": {FLAG}},
    ),
    "create_study": (
        lambda home: home.project("finance").create_study,
        {"name": "pilot", "protocol": "qa_verification", "annotators": ["dora"]},
        {"name": {TEXT}, "protocol": {TEXT}, "annotators": {TEXT, NAMES}},
    ),
    "agreement": (
        lambda home: home.project("finance").study("grading").agreement,
        {},
        {"seed": {WHOLE}, "resamples": {WHOLE}, "level": {WHOLE, NUMBER}, "names": {FLAG}},
    ),
    "alignment": (
        lambda home: home.project("finance").study("grading").alignment,
        {},
        {
            "labels": {TEXT}, "scorers": {TEXT, NAMES}, "by": {TEXT, NOTHING}, "seed": {WHOLE}, "resamples": {WHOLE},
            "level": {WHOLE, NUMBER}, "names": {FLAG},
        },
    ),
    "estimate": (
        lambda home: home.project("finance").study("grading").estimate,
        {},
        {
            "criterion": {TEXT, NOTHING}, "predict": {TEXT, NAMES}, "of": {TEXT}, "by": {TEXT, NOTHING},
            "seed": {WHOLE}, "level": {WHOLE, NUMBER},
        },
    ),
    "results": (
        lambda home: home.project("finance").study("grading").results,
        {},
        {"seed": {WHOLE}, "resamples": {WHOLE}, "level": {WHOLE, NUMBER}},
    ),
    "adjudicate": (
        lambda home: home.project("finance").study("grading").adjudicate,
        {"frame": pd.DataFrame({"item": ["x"], "criterion": ["right"], "value": ["yes"]})},
        {"frame": {"frame"}, "again": {FLAG}},
    ),
    "agreement of a frame": (
        lambda _: agreement,
        {"frame": RATINGS, "wide": True},
        {
            "frame": {"frame"}, "scale": {TEXT}, "wide": {FLAG},
            "labels": {NOTHING, NAMES, "numbers", "no names"}, "seed": {WHOLE}, "resamples": {WHOLE},
            "level": {WHOLE, NUMBER},
            **{name: {TEXT, NOTHING} for name in ("unit", "rater", "value", "criterion", "target", "question")},
        },
    ),
    "plot": (
        lambda home: home.project("finance").study("grading").agreement(resamples=5).plot,
        {},
        {"name": {TEXT, NOTHING}},
    ),
    "to_latex": (
        lambda home: home.project("finance").study("grading").agreement(resamples=5).to_latex,
        {},
        {"all_tables": {FLAG}},
    ),
    "write": (
        lambda home: home.project("finance").study("grading").agreement(resamples=5).write,
        {},
        {"path": {TEXT, PLACE}},
    ),
}  # fmt: skip
"""Function → how it is had, arguments that are right, and for each argument what a value may be to be right for it."""


def _rows(there: Home) -> dict[str, int]:
    """How many rows each table of the database has."""
    with there.db.glance() as connection:
        names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
        return {name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one() for name in names}


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_another_type_is_named_and_nothing_is_stored(home: Path, name: str) -> None:
    there = open_home(home, write=True)
    before, (had, right, arguments) = _rows(there), CALLS[name]
    function = had(there)
    for argument, fitting in arguments.items():
        for kind, value in WRONG:
            if kind in fitting:
                continue
            with pytest.raises(InvalidInput, match=rf"^{argument} is (?s:.*)\. Give ") as raised:
                function(**{**right, argument: value})
            assert "\n" not in str(raised.value)
            assert len(str(raised.value)) < 250
    assert _rows(there) == before


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if {"seed", "level"} & {*call[2]}])
def test_numbers_out_of_range_are_told_and_those_of_numpy_are_numbers(home: Path, name: str) -> None:
    had, right, arguments = CALLS[name]
    function = had(open_home(home))
    for argument, values in {
        "seed": (-1, 2**63, 2**80, -(10**5000)),
        "resamples": (-1, 100_001, 10**12, 10**5000),
        "level": (0, 1, 95, -0.5, float("nan"), float("inf"), np.float64(1), 2**80),
    }.items():
        for value in values if argument in arguments else ():
            with pytest.raises(InvalidInput, match=r"level|resamples|seed"):
                function(**{**right, argument: value})
    numbers = {"seed": np.uint8(7), "resamples": np.int32(5), "level": np.float32(0.5)}
    assert function(**right, **{argument: value for argument, value in numbers.items() if argument in arguments})


def test_a_call_of_another_shape_says_which_arguments_there_are(home: Path) -> None:
    there = open_home(home)
    study = there.project("finance").study("grading")
    for call, words in (
        (lambda: study.labels(1), "labels: too many positional arguments. The arguments are: none."),
        (
            lambda: study.agreement(sed=1),
            "agreement: got an unexpected keyword argument 'sed'. The arguments are: ",
        ),
        (there.project, "project: missing a required argument: 'name'. The arguments are: name."),
        (lambda: there.close(1), "close: too many positional arguments"),
        (agreement, "agreement: missing a required argument: 'frame'"),
        (lambda: open_home(home, True), "open_home: too many positional arguments"),
    ):
        with pytest.raises(InvalidInput, match=re.escape(words)):
            call()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ({"overlap": True}, "`overlap`: true and false are no numbers"),
        ({"overlap": "2"}, "`overlap` is '2': input should be a valid integer"),
        ({"seed": 7.0}, "`seed` is 7.0: input should be a valid integer"),
        ({"part": "0.5", "part_overlap": 2}, "`part` is '0.5': input should be a valid number"),
        ({"one_per_question": "no"}, "`one_per_question` is 'no'. Write true or false."),
        ({"with_documents": 1}, "`with_documents` is 1. Write true or false."),
        ({"items": {"q1", "q2"}}, "`items` should be a list"),
        ({"gold": {"rate": "0.5", "file": "g.csv"}}, "`rate` of `gold` is '0.5': input should be a valid number"),
        ({"overlap": 1.5}, "`overlap` is 1.5: input should be a valid integer"),
        ({"seed": 2**80}, "`seed` is 1208925819614629174706176: input should be less than"),
        ({"sample": float("nan")}, "`sample` is nan: input should be a valid integer"),
        ({"part": float("nan"), "part_overlap": 2}, "`part` is nan: input should be a finite number"),
        ({"quota": 10**5000}, "`quota` is a number too large to be written"),
        ({"rule": 5}, "`rule` should be a text"),
        ({"where": "x"}, "`where` should be a list"),
        ({"show_names": "perhaps"}, "`show_names` is 'perhaps'. Write true or false."),
        ({"deadline": pd.NaT}, "'NaT' is no time"),
        ({"deadline": datetime(2020, 1, 1)}, "has passed"),
        ({"lease_minutes": 10**12}, "minutes is too long"),
        ({"outside": 10**12, "overlap": 10**13}, "10000000000000"),
        ({"oevrlap": 1, "sample": "x"}, "`sample` is 'x'"),
        ({"gold": 5}, "`gold` should be fields with values"),
        ({"self": 1}, "multiple values for argument 'self'"),
    ],
)
def test_a_field_of_a_design_that_cannot_be_is_named(home: Path, design: dict[str, Any], words: str) -> None:
    there = open_home(home, write=True)
    before = _rows(there)
    with pytest.raises(InvalidInput) as raised:
        there.project("finance").create_study(
            "pilot", protocol="qa_verification", annotators="dora", **{"overlap": 1, **design}
        )
    assert words in str(raised.value)
    assert not re.search("pydantic|validation error|input_value", str(raised.value))
    assert _rows(there) == before


def test_a_design_takes_numbers_of_numpy_and_times_of_pandas(home: Path) -> None:
    project = open_home(home, write=True).project("finance")
    tomorrow = datetime.now() + timedelta(days=1)
    for place, deadline in enumerate(
        (tomorrow, tomorrow.date(), pd.Timestamp(tomorrow), pd.Timestamp(tomorrow, tz="UTC"))
    ):
        made = project.create_study(
            f"pilot {place}", protocol="answer_grading", annotators=np.array(["dora"]), overlap=np.int64(1),
            sample=np.uint8(2), seed=np.int32(3), deadline=deadline, quotas={"dora": np.int64(9)},
            items=(project.items()["id"], np.array(project.items()["id"].tolist()))[place % 2],
        )  # fmt: skip
        assert len(made.items()) == 2


def _items(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"id": ["n1", "n2"], "question": ["Why?", "When?"], "answer": ["So.", "Now."], **columns})


BAD_FRAMES: dict[str, tuple[pd.DataFrame, str]] = {
    "beyond 64 bits": (_items(x=[2**80, 1]), "'x' has values that no table holds (int: numbers beyond 64 bits)"),
    "of several types": (_items(x=[1, "a"]), "'x' has values of several types (int, str)"),
    "complex": (_items(x=[1j, 2j]), "'x' has values that no table holds (complex"),
    "objects": (_items(x=[object(), object()]), "'x' has values that no table holds (object"),
    "frames": (_items(x=[ITEMS, ITEMS]), "'x' has values that no table holds (DataFrame"),
    "objects without fields": (_items(x=[{}, {}]), "'x' has values that no table holds (dict"),
    "days and times": (_items(x=[date(2026, 3, 30), NOON]), "'x' has values of several types (date, datetime)"),
    "a day and a time of pandas": (
        _items(x=pd.Series([date(2026, 3, 30), pd.Timestamp(NOON)], dtype=object)),
        "'x' has values of several types (date, datetime)",
    ),
    "with and without a zone": (
        _items(x=pd.Series([NOON, NOON.astimezone(EAST)], dtype=object)),
        "'x' has values of several types (datetime, datetime of a zone)",
    ),
    "days and times in objects": (
        _items(x=[{"a": [date(2026, 3, 30)]}, {"a": [NOON]}]),
        "'x' has values of several types (date, datetime)",
    ),
    "days and times as categories": (
        _items(x=pd.Categorical([date(2026, 3, 30), NOON])),
        "'x' has values of several types (date, datetime)",
    ),
    "a time of day with a zone": (
        _items(x=[time(1, 2, tzinfo=EAST), None]),
        "'x' has values that no table holds (time of a zone",
    ),
    "nanoseconds among objects": (
        _items(x=pd.Series([pd.Timestamp("2026-03-31 12:00:00.123456789"), None], dtype=object)),
        "'x' has values that no table holds (Timestamp of nanoseconds",
    ),
    "half a letter": (_items(x=pd.Series(["\ud800", "a"], dtype=object)), "'x' has '\\ud800', of which half"),
    "a name that is none": (_items(**{"a\0b": [1, 2]}), "has a column called 'a\\x00b'"),
    "without columns": (pd.DataFrame(index=[1, 2]), "The frame has no columns"),
    "empty": (pd.DataFrame(), "The frame has no columns"),
    "twice": (pd.DataFrame([["a", "b"]], columns=["id", "id"]), "two columns called 'id'"),
    "twice as texts": (pd.DataFrame([["a", "b"]], columns=[1, "1"]), "two columns called '1'"),
    "twice with the index": (_items().set_index(pd.Index(["a", "b"], name="id")), "two columns called 'id'"),
    "levels of one name": (
        _items().set_index([["a", "b"], ["c", "d"]]).rename_axis(["x", "x"]),
        "two columns called 'x'",
    ),
}


@pytest.mark.parametrize("kind", BAD_FRAMES)
def test_a_frame_that_no_table_holds_is_told_wherever_one_is_taken(home: Path, kind: str) -> None:
    there = open_home(home, write=True)
    frame, words = BAD_FRAMES[kind]
    before, project = _rows(there), there.project("finance")
    for taken in (project.import_items, project.study("grading").adjudicate, agreement):
        with pytest.raises(InvalidInput, match=re.escape(words)):
            taken(frame)  # type: ignore[operator]
    assert _rows(there) == before


class _Polars:
    """A frame of another library, by its name."""


_Polars.__qualname__, _Polars.__module__ = "DataFrame", "polars.dataframe.frame"


@pytest.mark.parametrize("frame", [_Polars(), pa.table({"a": [1]}), pd.Series(["a"]), {"id": ["a"]}, "items.csv", [1]])
def test_what_is_no_frame_of_pandas_is_called_by_its_name(home: Path, frame: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^frame is .*\. Give a pandas DataFrame\.$") as raised:
        open_home(home, write=True).project("finance").import_items(frame)
    if isinstance(frame, _Polars):
        assert "polars.DataFrame" in str(raised.value)


GOOD_COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "categories": (pd.Categorical(["a", "b"]), ["a", "b"]),
    "whole with gaps": (pd.array([1, None], dtype="Int64"), ['{"x":1}', None]),
    "truths with gaps": (pd.array([None, True], dtype="boolean"), [None, '{"x":true}']),
    "texts with gaps": (pd.array(["a", pd.NA], dtype="string"), ["a", None]),
    "times of a zone": (
        pd.to_datetime(["2026-01-01", None]).tz_localize("Europe/Berlin"), ["2026-01-01T00:00:00+01:00", None],
    ),
    "days": ([date(2026, 1, 1), None], ["2026-01-01", None]),
    "no times": ([pd.NaT, pd.NaT], [None, None]),
    "periods": (pd.PeriodIndex(["2026-01", None], freq="M"), ["2026-01", None]),
    "intervals": (pd.interval_range(0, 2), ["(0, 1]", "(1, 2]"]),
    "categories of intervals": (pd.cut([1, 2], [0, 1, 2]), ["(0, 1]", "(1, 2]"]),
    "categories of quantiles": (pd.qcut(pd.Series([1, 9]), 2), ["(0.999, 5.0]", "(5.0, 9.0]"]),
    "categories of periods": (pd.Categorical(pd.PeriodIndex(["2026-01", None], freq="M")), ["2026-01", None]),
    "categories of tuples": (pd.Categorical([(1, 2), (3, 4)]), ['{"x":[1,2]}', '{"x":[3,4]}']),
    "sparse": (pd.arrays.SparseArray([1, 2]), ['{"x":1}', '{"x":2}']),
    "sparse with gaps": (pd.arrays.SparseArray([0.5, np.nan]), ['{"x":0.5}', None]),
    "words of an enumeration": (pd.Series([Kind.ONE, Kind.TWO], dtype=object), ["one", "two"]),
    "days and times apart": (
        [{"on": date(2026, 3, 30), "at": NOON}, {"on": None, "at": pd.NaT}],
        ['{"x":{"at":"2026-03-31T12:00:00","on":"2026-03-30"}}', '{"x":{"at":null,"on":null}}'],
    ),
    "times of two zones": (
        pd.Series([NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=EAST)], dtype=object),
        ["2026-03-31T12:00:00+00:00", "2026-03-31T10:00:00+00:00"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", GOOD_COLUMNS)
def test_columns_of_every_type_of_pandas_are_taken_as_they_say(home: Path, kind: str) -> None:
    column, kept = GOOD_COLUMNS[kind]
    project = open_home(home, write=True).project("finance")
    assert project.import_items(_items(x=column).set_index(["id", "question"]))["added"] == 2
    items = project.items().set_index("id").loc[["n1", "n2"]]
    said = items.get("x", items.get("metadata", pd.Series([None, None])))  # texts have a column, other values are JSON
    assert [None if cell is pd.NA else cell for cell in said] == kept


def test_columns_of_several_levels_are_called_with_dots(home: Path) -> None:
    frame = _items()
    frame.columns = pd.MultiIndex.from_product([["of"], frame.columns])
    mapping = {"id": "of.id", "question": np.str_("of.question"), "answer": ["of.answer"]}
    assert open_home(home, write=True).project("finance").import_items(frame, mapping)["added"] == 2


def test_a_word_of_an_enumeration_is_the_word(home: Path) -> None:
    assert open_home(home, write=True).project(Kind.FINANCE).name == "finance"
    grades = pd.DataFrame({"ada": ["one", "two"], "ben": ["one", "one"]})
    found = agreement(grades, Kind.ORDINAL, wide=True, labels=[Kind.ONE, Kind.TWO], resamples=5)
    assert "krippendorff_alpha_ordinal" in set(found.table()["name"])


@pytest.mark.parametrize("column", ["item", "annotator", "value", "question"])
def test_lists_and_objects_among_ratings_are_told_with_their_line(column: str) -> None:
    cells = {"item": ["a", "a"], "annotator": ["x", "y"], "value": ["u", "v"], "question": ["q", "q"]}
    for wrong in ([{"k": 1}, {"k": 2}], [["u"], ["v"]]):
        if column == "value" and isinstance(wrong[0], list):
            continue  # these are sets
        for scale in ("nominal", "ordinal"):
            with pytest.raises(InvalidInput, match=r"line 1 has .* give a text or a number"):
                agreement(pd.DataFrame({**cells, column: wrong}), scale)


def test_a_file_that_the_machine_refuses_is_told_in_a_sentence(home: Path, tmp_path: Path) -> None:
    figures = open_home(home).project("finance").study("grading").agreement(resamples=5)
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "a.html", tmp_path / f"{'a' * 300}.html"):
        with pytest.raises(InvalidInput, match=r"Name another place\.$"):
            figures.write(path)
    with pytest.raises(AssayError, match=r"Name another place\.$"):
        open_home("a" * 5000)


def test_nobody_is_no_administrator(home: Path) -> None:
    for nobody in ("", " "):
        with pytest.raises(NotFound, match=r"There is no person named '"):
            open_home(home, as_=nobody)


def test_commands_within_errors_stay_commands(home: Path) -> None:
    with pytest.raises(AssayError, match=r"with: assay score PROJECT --scorer rouge_l$"):
        open_home(home).project("finance").study("grading").alignment(scorers="rouge_l", resamples=5)


@pytest.mark.parametrize("labels", [[], [""], ()])
def test_no_labels_are_told_in_the_words_of_a_call(labels: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^labels names none\. Give those that there are in their order"):
        agreement(RATINGS, wide=True, labels=labels)


def test_a_tilde_is_the_home_folder_wherever_a_path_is_taken(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    figures = open_home("~/home").project("finance").study("grading").agreement(resamples=5)
    assert [path.parent for path in figures.write("~/a.html")] == [tmp_path]
    open_home(home).project("finance").report("grading", resamples=5).write("~/report")
    assert (tmp_path / "report").is_dir()
    assert not (tmp_path / "~").exists()
    with pytest.raises(InvalidInput, match=r"Write the folder out\.$"):
        figures.write("~nobody-of-this-name/a.html")
