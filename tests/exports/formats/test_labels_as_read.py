"""What people said in files, as each format reads it: who, of which item, of what, and which label; and back again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from annotators.items.normal import to_json
from annotators.items.parsed import ParsedItem, Rejected
from exports.bundles.typed import first_difference
from exports.formats import FORMATS
from exports.formats._writing import Files
from exports.formats.fathoms import _CRITERIA, HUMAN_LABELS
from exports.reading.sources import open_sources
from exports.sinks import FolderSink
from tests.exports.formats import test_double_bench as double_bench
from tests.exports.formats import test_fathoms as fathoms
from tests.exports.formats import test_unidoc as unidoc
from tests.exports.formats.places import write_json
from tests.exports.formats.test_labels_in_files import answers

Told = tuple[str, str, str]
"""Criterion, target and label."""


def read(name: str, path: Path) -> list[ParsedItem]:
    with open_sources([path]) as sources:
        rows = list(FORMATS.get(name).read(sources).items())
    assert [row for row in rows if isinstance(row, Rejected)] == []
    return [row for row in rows if not isinstance(row, Rejected)]


def said(item: ParsedItem) -> list[Told]:
    """What the labels beside an item say; of each that it is about the item, and by the format's rater."""
    for label in item.labels:
        assert label.item == item.item.id
        assert label.annotator == item.labels[0].annotator
    return [(label.criterion, label.target, label.value) for label in item.labels]


def of_pages(*told: tuple[str, str]) -> list[Told]:
    return [("evidence_page", f"page:{target}", label) for target, label in told]


D = "docs/Arabic/0003"
DOUBLE_BENCH: dict[str, tuple[dict[str, Any], list[Told]]] = {
    "pages count from one, those of no evidence as well, in their order": (
        double_bench.record(verified_page=[4, 0], not_evidence_page=[7]),
        of_pages((f"{D}:1", "evidence"), (f"{D}:5", "evidence"), (f"{D}:8", "not_evidence")),
    ),
    "one page need not be a list": (double_bench.record(verified_page=0), of_pages((f"{D}:1", "evidence"))),
    "what is said of a step is said for its hop, and of the whole for none": (
        double_bench.record(
            verified_page=[9],
            steps=[
                {**double_bench.steps([1])[0], "verified_page": [1], "not_evidence_page": [2]},
                {**double_bench.steps([1], [8])[1], "not_evidence_page": [1]},
            ],
        ),
        of_pages(
            (f"{D}:10", "evidence"),
            (f"{D}:2|hop:h1", "evidence"),
            (f"{D}:3|hop:h1", "not_evidence"),
            (f"{D}:2|hop:h2", "not_evidence"),
        ),
    ),
    "a document may be called file_name, and doc_path goes before it": (
        {**{n: v for n, v in double_bench.record(verified_page=[0]).items() if n != "doc_path"}, "file_name": "a.pdf"},
        of_pages(("a.pdf:1", "evidence")),
    ),
    "of both names doc_path is the document": (
        double_bench.record(verified_page=[0], file_name="a.pdf"),
        of_pages((f"{D}:1", "evidence")),
    ),
    "nothing said is no label": (double_bench.record(verified_page=[]), []),
}


@pytest.mark.parametrize("why", DOUBLE_BENCH)
def test_pages_of_double_bench(tmp_path: Path, why: str) -> None:
    record, told = DOUBLE_BENCH[why]
    [item] = read("double_bench", write_json(tmp_path / "x.json", [record]))
    assert said(item) == told
    assert not {"verified_page", "not_evidence_page"} & set(item.item.metadata)


@pytest.mark.parametrize("at", ["record", "step"])
def test_a_page_that_is_said_to_be_both_is_named_as_the_file_counts_it(tmp_path: Path, at: str) -> None:
    both = {"verified_page": [3], "not_evidence_page": [3, 4]}
    record = double_bench.record(**both) if at == "record" else double_bench.record(
        steps=[{**double_bench.steps([1])[0], **both}])  # fmt: skip
    with open_sources([write_json(tmp_path / "x.json", [record])]) as sources:
        [row] = FORMATS.get("double_bench").read(sources).items()
    assert isinstance(row, Rejected)
    assert "page 3 stands in `verified_page` and in `not_evidence_page`" in row.reason


def test_units_of_unidoc_are_required_or_not(tmp_path: Path) -> None:
    record = unidoc.record()
    record["chunk_used"]["chunk_0"]["verified_used"] = False
    record["chunk_used"]["img_0"]["verified_used"] = True
    [item] = read("unidoc", write_json(tmp_path / "port.json", [record]))
    assert said(item) == [
        ("grounding", "evidence:chunk_0", "not_required"),
        ("grounding", "evidence:img_0", "required"),
    ]


def test_claims_of_refchecker_have_the_label_of_their_triplet(tmp_path: Path) -> None:
    record = answers("Entailment", "Neutral", "Contradiction")
    record["model9_response_kg"][1].pop("human_label")
    [item] = read("refchecker", write_json(tmp_path / "port_a_answers.json", [record]))
    assert said(item) == [
        ("claim_label", "claim:c1|context", "entailment"),
        ("claim_label", "claim:c3|context", "contradiction"),
    ]


def test_grades_of_fathoms_are_of_the_item(tmp_path: Path) -> None:
    names = list(_CRITERIA)[:2]
    path = fathoms.result(
        tmp_path / "a.json",
        fathoms.response(**{HUMAN_LABELS: {names[0]: 4, names[1]: 1}}),
        fathoms.response(question="Another?"),
    )
    first, second = read("fathoms", path)
    assert said(first) == [(names[0], "item", "4"), (names[1], "item", "1")]
    assert said(second) == []


# There and back -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("why", DOUBLE_BENCH)
def test_final_labels_of_double_bench_come_back_where_they_were(tmp_path: Path, why: str) -> None:
    record, told = DOUBLE_BENCH[why]
    [item] = read("double_bench", write_json(tmp_path / "in/x.json", [record]))
    format_: Any = FORMATS.get("double_bench")
    elsewhere = {("evidence_page", "page:other.pdf:1"): "evidence", ("relevance", f"page:{D}:1"): "5"}
    final = {**{(criterion, target): label for criterion, target, label in told}, **elsewhere}
    normal = format_.with_labels(to_json(item.item), final)
    sink = FolderSink(tmp_path / "out")
    with Files(sink.open, partial(sink.put, difference=first_difference)) as files:
        format_.write(lambda: iter([normal]), files)
    [back] = read("double_bench", tmp_path / "out")
    assert said(back) == told
    assert to_json(back.item) == to_json(item.item)
