"""MRAG-Suite: the five fields its paper brings all sources to, in each retrieval mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from exports.converting import convert_files
from tests.exports.formats.places import Place, write_json


def record(**changes: Any) -> dict[str, Any]:
    return {
        "id": "17",
        "dataset": "charts",
        "question": "Which bar is highest?",
        "short_answer": "2021",
        "long_answer": "The bar of 2021 is the highest.",
        "evidence_imgs": ["img/bars.png", {"path": "img/other.png", "caption": "Lines", "role": "distractor"}],
        "evidence_txts": ["In 2021 it rose.", {"text": "It fell.", "from": "a"}],
        **changes,
    }


def test_the_five_fields(place: Place, tmp_path: Path) -> None:
    report = place.take(write_json(tmp_path / "x.json", [record()]))
    assert (report.format, report.added, report.rejected) == ("mrag_suite", 1, [])
    assert report.notes == [
        "1 item by retrieval mode: without 1. The evidence of those without a mode comes in as gold."
    ]
    [item] = place.items()
    assert (item.id, item.question_key, item.category) == ("charts/17:reference", "charts/17", "charts")
    assert (item.answer, item.references) == ("The bar of 2021 is the highest.", ("2021",))
    assert [(unit.key, unit.kind, unit.role, unit.document, unit.text) for unit in item.evidence] == [
        ("img-1", "figure", "gold", "bars.png", None),
        ("img-2", "figure", "distractor", "other.png", "Lines"),
        ("txt-1", "passage", "gold", None, "In 2021 it rose."),
        ("txt-2", "passage", "gold", None, "It fell."),
    ]
    assert [dict(unit.metadata) for unit in item.evidence] == [
        {"path": "img/bars.png"}, {"path": "img/other.png"}, {}, {"from": "a"},
    ]  # fmt: skip


def test_each_retrieval_mode_is_an_item_of_its_own(place: Place, tmp_path: Path) -> None:
    plain = {"evidence_imgs": [], "evidence_txts": ["x"], "system": "alpha"}
    rows = [record(retrieval_mode=mode, **plain) for mode in ("gt_only", "GPD", "distractors-only")]
    (tmp_path / "runs.jsonl").write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    report = place.take(tmp_path / "runs.jsonl")
    assert (report.format, report.added, report.rejected) == ("mrag_suite", 3, [])
    items = place.items()
    assert [item.id for item in items] == [
        "charts/17:alpha:gt_only", "charts/17:alpha:gt_plus_distractors", "charts/17:alpha:distractors_only",
    ]  # fmt: skip
    assert [item.evidence[0].role for item in items] == ["gold", "retrieved", "distractor"]
    assert {item.question_key for item in items} == {"charts/17"}


def test_a_file_may_be_called_after_its_mode(place: Place, tmp_path: Path) -> None:
    place.take(write_json(tmp_path / "webqa-gt_only.json", [record(id=None)]))
    [item] = place.items()
    assert item.metadata["retrieval_mode"] == "gt_only"
    assert item.question_key.startswith("q-")


def test_a_short_answer_alone_is_judged(place: Place, tmp_path: Path) -> None:
    place.take(write_json(tmp_path / "x.json", [record(long_answer=None, short_answer=["2021", "in 2021"])]))
    [item] = place.items()
    assert (item.answer, item.references) == ("2021", ("2021", "in 2021"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"question": None}, "`question` is missing"),
        ({"retrieval_mode": "all"}, "Allowed: gt_only, gt_plus_distractors, distractors_only"),
        ({"long_answer": None, "short_answer": None}, "neither a `long_answer` nor a `short_answer`"),
        ({"evidence_imgs": [3]}, "`evidence_imgs` holds 3. Write the path of a picture"),
        ({"evidence_txts": [{"role": "gold"}]}, "`text` is missing"),
        ({"evidence_txts": [{"text": "x", "role": "best"}]}, "`role` is 'best'. Allowed: gold, retrieved, distractor"),
        ({"evidence_txts": "x"}, "`evidence_txts` is 'x', not a list"),
        ({"id": [1]}, "`id` is [1]"),
    ],
)
def test_a_bad_record_is_named(place: Place, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    [bad] = place.take(write_json(tmp_path / "x.json", [record(id="1"), record(**changes)])).rejected
    assert bad.reason.startswith("entry 2: ")
    assert words in bad.reason
    assert place.items() == []


def test_a_mode_that_there_is_not_is_none_and_is_counted(tmp_path: Path) -> None:
    rows = [
        {"id": name, "question": f"{name}?", "answer": "A", "metadata": {"retrieval_mode": mode}}
        for name, mode in (("a", "dense"), ("b", "gt_only"), ("c", ["gt_only"]))
    ]
    (tmp_path / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    done = convert_files([tmp_path / "items.jsonl"], into="mrag_suite", output=tmp_path / "out")
    written = [orjson.loads(line) for line in (tmp_path / "out/records.jsonl").read_bytes().splitlines()]
    assert [record.get("retrieval_mode") for record in written] == [None, "gt_only", None]
    assert {(lost.what, lost.n, lost.of) for lost in done.lost} >= {("metadata retrieval_mode", 2, 3)}
