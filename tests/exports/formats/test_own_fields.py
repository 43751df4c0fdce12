"""Metadata that is called as a field of a format is never taken for that field: an item stays what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from annotators.items.normal import Normal, to_json
from annotators.items.parsed import Rejected, items_in
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats._losing import declared
from exports.formats._writing import Writer
from exports.reading.sources import open_sources
from exports.reading.tables import heading_of, is_table
from tests.exports.formats.test_recognising import SMALL
from tests.exports.formats.test_writing import SAID, SAMPLES

WRITERS = [format_.name for format_ in FORMATS if isinstance(format_, Writer)]

KNOWN = {
    "fathoms": ("answers", "human_labels", "hallucinating", "responses", "response", "group", "file", "page_number"),
    "mramg": ("provenance", "images"),
    "mmlongbench": ("doc_type", "evidence_sources"),
    "double_bench": ("query_type", "verified_page", "not_evidence_page", "pages_of_no_step", "doc_path", "file_name"),
    "unidoc": ("verified_used", "source", "figure", "table"),
    "mrag_suite": ("dataset", "retrieval_mode", "caption", "role", "form"),
    "mmdocrag": ("answer_interleaved", "domain", "pictures", "of_document", "img_path"),
    "ragchecker": ("system", "verdict_source", "metrics", "pairs", "verdicts", "file", "triplet", "results"),
    "refchecker": ("system", "extractor", "verdicts", "triplet", "human_label", "mine_response_kg"),
    "deepeval": ("actualOutput", "expectedOutput", "retrievalContext", "additionalMetadata", "metricsData"),
    "trulens": ("app_name", "app_version", "record_id", "ground_truth", "mine_calls", "human_x"),
    "ragas": ("reference", "reference_contexts", "human_x"),
}
"""What readers know beside the fields of the records that are written below, and of small files of the formats."""

NOT_THE_ITEM = {"ragchecker": {"query_id"}}
"""What a format has no other place for than its own field, which says nothing of an item but what its id is made of."""

VALUES: list[Any] = ["MINE", 7, True, ["MINE"], {"MINE": "MINE"}, [{"MINE": 1}], "", []]

ITEM: Normal = {
    "question": "Who?", "answer": "Ada", "documents": ["d.pdf"], "references": ["Ada L."], "category": "kin",
    "evidence": [{"kind": "passage", "role": "gold", "document": "d.pdf", "pages": [2], "text": "It was Ada."}],
    "claims": [{"key": "c1", "text": "Ada it was"}],
    "images": [{"key": "i1", "document": "p.png"}],
    "hops": [{"key": "h1", "question": "First?", "answer": "Yes"}],
}  # fmt: skip
FIGURE: Normal = {**ITEM, "evidence": [{"kind": "figure", "role": "gold", "document": "p.png", "pages": [1]}]}
PLAIN: Normal = {name: ITEM[name] for name in ("question", "answer", "documents", "claims")}
PARTS = ("evidence", "claims", "images", "hops")


def names_in_file(path: Path) -> Iterator[str]:
    """Every name of a field that stands in a file, at whatever depth."""
    if path.suffix == ".parquet":
        yield from pq.read_schema(path).names
    elif is_table(path.name):
        yield from heading_of(path.read_bytes())
    else:
        yield from re.findall(r'"([^"\\\n]{1,60})"\s*:', path.read_text(errors="replace"))


def items_with(keys: list[str], values: list[Any]) -> list[Normal]:
    """Items, each with one of these keys and values in its metadata and in that of all its parts; last, with all."""
    about: list[Normal] = [{key: value} for key in keys for value in values]
    about += [dict.fromkeys(keys, value) for value in values]
    found = []
    for number, metadata in enumerate(about):
        for system in ("reference", "alpha"):
            for kind, item in enumerate((ITEM, FIGURE, PLAIN)):
                parts = {
                    name: [{**part, "metadata": metadata} for part in item[name]] for name in PARTS if name in item
                }
                name = f"q{number}-{kind}"
                found.append({**item, **parts, "question_key": name, "question": name, "system": system}
                             | {"id": f"{name}:{system}", "metadata": metadata})  # fmt: skip
    return found


def without_metadata(item: Normal) -> Normal:
    parts = {
        name: [{key: part[key] for key in part if key != "metadata"} for part in item[name]]
        for name in PARTS
        if name in item
    }
    return {name: value for name, value in {**item, **parts}.items() if name not in ("metadata", "scores")}


def there_and_back(items: list[Normal], name: str, folder: Path) -> tuple[dict[str, Normal], set[str]]:
    """By their ids what comes back of items without their metadata, and the paths of what is lost."""
    folder.mkdir()
    (folder / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, items)))
    done = convert_files([folder / "items.jsonl"], into=name, output=folder / "out", format_name="native", options=SAID)
    with open_sources([folder / "out"]) as sources:
        rows = list(items_in(FORMATS.get(name).read(sources)))
    back = {}
    for row in rows:
        assert not isinstance(row, Rejected), row.reason
        back[row.item.id] = without_metadata(orjson.loads(orjson.dumps(to_json(row.item))))
    return back, {lost.path for lost in done.lost}


@pytest.mark.parametrize("name", WRITERS)
def test_metadata_called_as_a_field_is_not_taken_for_it(tmp_path: Path, name: str) -> None:
    bare = [{**ITEM, "id": "a"}, {**ITEM, "id": "b", "question": "Why?", "system": "alpha"}]
    there_and_back(bare, name, tmp_path / "bare")
    keys = {key for path in (tmp_path / "bare/out").rglob("*.*") for key in names_in_file(path)}
    for sample in (SMALL.get(name), SAMPLES.get(name)):
        keys |= set(re.findall(r'"([^"\\\n]{1,60})"\s*:', orjson.dumps(sample, default=str).decode()))
    keys = (keys | set(KNOWN.get(name, ()))) - NOT_THE_ITEM.get(name, set())
    items = items_with(sorted(keys), VALUES)
    expected, _ = there_and_back([without_metadata(item) for item in items], name, tmp_path / "plain")
    found, lost = there_and_back(items, name, tmp_path / "out")
    assert found.keys() == expected.keys()
    assert [(found[of], item) for of, item in expected.items() if found[of] != item][:1] == []
    assert [path for path in lost if not declared(FORMATS.get(name), path)] == []


BEYOND = {
    "fathoms": ("g/m.json", {"model": "m", "responses": [
        {"question": "Q?", "category": "Text", "ground_truth": [["a"]], "pred_answer": "A", "required_files": [],
         "rag_context": [{"file_name": "p.pdf", "content": "c", "page_number": "iv"}], "response": {"own": 1}},
    ]}),
    "mramg": ("wit_mqa.jsonl",
              {"id": 2, "question": "Q?", "ground_truth": "A", "images_list": [], "provenance": [7, 7, "8"]}),
    "mmlongbench": ("samples.json", [{"doc_id": "d", "question": "Q?", "answer": "A", "evidence_pages": "[1]",
                                      "evidence_sources": "['Chart']", "doc_type": "Report"}]),
    "ragchecker": ("checking.json", {"results": [{"query_id": 1, "query": "Q?", "gt_answer": "G", "response": "A",
                                                  "retrieved_context": [], "file": "a.pdf"}]}),
    "mrag_suite": ("records.jsonl", {"question": "Q?", "short_answer": ["S", ""], "long_answer": None,
                                     "system": "reference", "evidence_imgs": [],
                                     "evidence_txts": [{"text": "u", "form": "note", "path": "x"}]}),
    "mmdocrag": ("questions.jsonl", {"q_id": 3, "question": "Q?", "doc_name": "d", "text_quotes": [], "img_quotes": [
        {"quote_id": "i1", "type": "image", "img_path": "images/p.jpg"}], "gold_quotes": [], "answer_short": "S"}),
    "unidoc": ("records.json", [{"rewritten_question_obscured": "Q?", "complete_answer": {"a": 1}, "chunk_used": {
        "img_0": {"used": True, "metadata": "9/figure-5-2.jpg", "table": "T"}}}]),
    "refchecker": ("s.json", [{"id": "1", "response": "A", "m_response_kg": [], "n_response_kg": [{"triplet": "t"}]}]),
}  # fmt: skip
"""Of each format a file whose own fields say more than an item has a place for."""


@pytest.mark.parametrize("name", list(BEYOND))
def test_what_a_field_of_the_format_says_beyond_the_item_goes_back_into_it(tmp_path: Path, name: str) -> None:
    file, value = BEYOND[name]
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(orjson.dumps(value))
    done = convert_files([path], into=name, output=tmp_path / "out", format_name=name)
    assert done.lost == []
    [written] = (tmp_path / "out").rglob("*.json*")
    assert orjson.loads(written.read_bytes()) == value
