"""What a reading says of its source: who is named, how many more there are, and what of it could not be taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.items.parsed import Rejected
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats._dataset_files import _class_name
from exports.formats.labels import NEEDED, read_labels
from exports.reading.sources import open_sources
from tests.exports.formats import test_double_bench as double_bench
from tests.exports.formats import test_mramg as mramg
from tests.exports.formats import test_potato as potato
from tests.exports.formats.places import write_json
from tests.exports.formats.test_writing import SAID


def notes(name: str, path: Path) -> str:
    """What a format says of a source in which nothing is bad."""
    with open_sources([path]) as sources:
        reading = FORMATS.get(name).read(sources)
        assert [row for row in reading.items() if isinstance(row, Rejected)] == []
        return "\n".join(reading.notes())


def pictures(n: int) -> list[Any]:
    """So many answers with a place and no picture."""
    return [mramg.question(id=f"q{k}", question=f"Q{k}?", images_list=[]) for k in range(n)]


def stepping(n: int) -> list[Any]:
    """So many questions with a step that names no page."""
    bare = {"question": "And then?", "answer": "Nothing."}
    return [double_bench.record(uid=f"u{k}", steps=[bare], reference_page=[]) for k in range(n)]


@pytest.mark.parametrize(("n", "more"), [(5, ""), (6, " and 1 more"), (8, " and 3 more")])
def test_five_are_named_and_the_others_counted(tmp_path: Path, n: int, more: str) -> None:
    said = notes("mramg", mramg.lines(tmp_path / "recipe_mqa.jsonl", *pictures(n)))
    named = ", ".join(f"recipe/q{k}" for k in range(5))
    assert f"{n} answers have another number of places (<PIC>) than of pictures: {named}{more}. " in said
    said = notes("double_bench", write_json(tmp_path / "x.json", stepping(n)))
    named = ", ".join(f"multi-u{k}" for k in range(5))
    assert f"{n} questions have a step that names no page: {named}{more}. " in said


LOST_STRETCHES = {
    "end beyond the answer": ([(8, 12, {}), (8, 14, {})], [(8, 12)], "Stretches that end beyond the answer."),
    "begin where they end": ([(3, 3, {}), (0, 3, {})], [(0, 3)], "Stretches that end beyond the answer."),
    "overlap": ([(0, 3, {}), (2, 6, {})], [(0, 3)], "Stretches that overlap others: the first is kept."),
    "stand in the question": ([(0, 3, {}), (5, 7, {"target_field": "question"})], [(0, 3)], "of another text"),
    "have parts": ([(0, 3, {}), (5, 7, {"additional_parts": [1]})], [(0, 3)], "Stretches that have several parts."),
    "have no places": ([(0, 3, {}), (-1, 7, {})], [(0, 3)], "Marked places that are no stretch of a text."),
    "touch, which loses nothing": ([(0, 3, {}), (3, 6, {}), (6, 13, {})], [(0, 3), (3, 6), (6, 13)], None),
}


@pytest.mark.parametrize("why", LOST_STRETCHES)
def test_stretches_of_potato_that_cannot_be_taken_are_counted_by_why(tmp_path: Path, why: str) -> None:
    marks, kept, lost = LOST_STRETCHES[why]
    config = {**potato.CONFIG, "annotation_schemes": [potato.CONFIG["annotation_schemes"][5]]}
    given = [potato.marked("wrong", "fact", start, end, **more) for start, end, more in marks]
    folder = potato.project(tmp_path / "set", config, ada={"instance_id_to_span_to_value": {"q1": given}})
    items, said = potato.taken(folder)
    [label] = [label for item in items for label in item.labels]
    assert [(one["start"], one["end"]) for one in orjson.loads(label.value)] == kept
    if lost is None:
        assert [note for note in said if note.startswith("Lost")] == []
    else:
        assert [note for note in said if lost in note], said


def test_a_scheme_without_a_name_is_lost_in_words_and_the_others_are_asked(tmp_path: Path) -> None:
    schemes = [{"annotation_type": "radio", "labels": ["a"]}, "radio", potato.CONFIG["annotation_schemes"][0]]
    _, said = potato.taken(potato.project(tmp_path / "set", {**potato.CONFIG, "annotation_schemes": schemes}))
    assert len([note for note in said if note.startswith("Lost: A scheme that is") and "no name" in note]) == 2


@pytest.mark.parametrize(
    ("split", "file"),
    [("dev", "dev"), ("dev.2", "dev.2"), ("a b", "test"), ("a/b", "test"), ("x" * 59, "x" * 59), ("x" * 60, "test")],
)
def test_a_split_is_a_file_only_where_its_name_can_be_one_and_no_name_is_lost(
    tmp_path: Path, split: str, file: str
) -> None:
    rows = tmp_path / "items.jsonl"
    rows.write_bytes(orjson.dumps({"id": "i1", "question": "Q?", "metadata": {"split": split, "more": 1}}))
    out = tmp_path / "out"
    assert convert_files([rows], into="huggingface", output=out, options=SAID).lost == []
    assert [path.name for path in (out / "items").iterdir()] == [f"{file}.parquet"]
    with open_sources([out]) as sources:
        [row] = FORMATS.get("huggingface").read(sources).items()
    assert not isinstance(row, Rejected)
    assert row.item.metadata == {"split": split, "more": 1}


@pytest.mark.parametrize(
    ("cell", "names", "named"),
    [
        (1, ["law", "med"], "med"),
        (0, ["law", "med"], "law"),
        (2, ["law", "med"], 2),
        (-1, ["law", "med"], None),
        ("1", ["law", "med"], "med"),
        ("1", ["0", "1"], "1"),
        ("x", ["law", "med"], "x"),
        (True, ["law", "med"], True),
        (None, ["law", "med"], None),
        ([1, None, [0]], ["law", "med"], ["med", None, ["law"]]),
        ({"role": 1, "n": 1}, {"role": ["law", "med"]}, {"role": "med", "n": 1}),
        (None, {"role": ["law", "med"]}, None),
        ([{"role": 0}, None], {"role": ["law", "med"]}, [{"role": "law"}, None]),
    ],
)
def test_a_number_of_a_class_is_its_name_wherever_it_stands(cell: Any, names: Any, named: Any) -> None:
    assert _class_name(cell, names) == named


@pytest.mark.parametrize("column", NEEDED[:-1])
def test_a_row_that_lacks_what_a_label_needs_is_named_with_its_column(tmp_path: Path, column: str) -> None:
    row = dict.fromkeys(NEEDED, "x") | {column: " "}
    path = tmp_path / "labels.csv"
    path.write_text(f"{','.join(NEEDED)}\n{','.join(row.values())}\n{','.join('x' * 4)}\n")
    found = read_labels(path)
    assert [(one.line, one.reason) for one in found.rejected] == [
        (2, f"`{column}` is empty. Fill it in, or leave the row out.")
    ]
    assert [label.line for label in found.rows] == [3]
