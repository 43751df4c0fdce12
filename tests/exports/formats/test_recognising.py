"""Which format takes a file: exactly one, for every file that a format is for; and no format for a stranger's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.errors import AssayError, InvalidInput
from annotators.items.parsed import Rejected
from exports.converting import convert_files
from exports.formats import FORMATS, recognise
from exports.formats.base import passed_over, read_sources
from exports.reading.sources import open_sources
from tests.conftest import ROOT
from tests.exports.sources import full_item

SMALL: dict[str, tuple[str, Any]] = {
    "native": ("my.jsonl", {"question": "Q?", "answer": "A", "q_id": 1, "response": "R"}),
    "fathoms": ("x.json", {"model": "m", "responses": [{"question": "Q?", "pred_answer": "A"}]}),
    "unidoc": ("x.json", [{"rewritten_question_obscured": "Q?", "complete_answer": "A", "chunk_used": {}}]),
    "double_bench": ("x.json", [{"uid": "1", "question": "Q?", "answer": "A", "reference_page": [0]}]),
    "mmlongbench": ("x.json", [{"doc_id": "d", "question": "Q?", "answer": "A", "evidence_pages": "[1]"}]),
    "ragchecker": (
        "x.json",
        {"results": [{"query_id": 1, "query": "Q?", "gt_answer": "G", "response": "A", "retrieved_context": []}]},
    ),
    "refchecker": ("x.json", [{"id": "1", "response": "A", "m_response_kg": []}]),
    "mramg": ("wit_mqa.jsonl", {"id": "1", "question": "Q?", "ground_truth": "A", "images_list": []}),
    "mrag_suite": (
        "x.json",
        [{"question": "Q?", "short_answer": "A", "long_answer": "A.", "evidence_imgs": [], "evidence_txts": []}],
    ),
    "huggingface": ("README.md", "---\nlicense: mit\nconfigs:\n- config_name: items\n---\n"),
    "ragas": ("x.jsonl", {"user_input": "Q?", "response": "A", "retrieved_contexts": ["C"], "faithfulness": 0.5}),
    "deepeval": ("x.json", [{"input": "Q?", "actual_output": "A", "expected_output": "B"}]),
    "trulens": ("x.json", [{"record_id": "r", "app_name": "a", "input": "Q?", "output": "A", "Relevance": 1.0}]),
    "qrels": ("corpus.jsonl", {"_id": "d1", "title": "T", "text": "X"}),
    "argilla": ("records.json", [{"id": "1", "fields": {"question": "Q?"}, "responses": {}, "suggestions": {}}]),
    "table": ("x.csv", "question,answer\nQ?,A\n"),
    "label_studio": ("x.json", [{"id": 1, "data": {"text": "T"}, "annotations": []}]),
    "potato": ("config.yaml", "annotation_task_name: T\nannotation_schemes: []\n"),
    "mmdocrag": ("x.jsonl", {"q_id": 1, "question": "Q?", "text_quotes": [], "img_quotes": [], "doc_name": "d"}),
}


def takers(path: Path) -> list[str]:
    with open_sources([path]) as sources:
        return [format_.name for format_ in FORMATS for file in sources.files if format_.refusal(file) is None]


def test_every_format_has_a_small_file_here() -> None:
    assert set(FORMATS.names()) == set(SMALL)


@pytest.mark.parametrize("name", list(SMALL))
@pytest.mark.parametrize("indented", [False, True])
def test_exactly_one_format_takes_a_file(tmp_path: Path, name: str, indented: bool) -> None:
    file, value = SMALL[name]
    option = orjson.OPT_INDENT_2 if indented and file.endswith(".json") else 0
    path = tmp_path / file
    data = value.encode() if isinstance(value, str) else orjson.dumps(value, option=option)
    path.write_bytes(b"\xef\xbb\xbf" * indented + data)
    assert takers(path) == [name]


def test_exactly_one_format_takes_each_real_file(shared_data: Path) -> None:
    found = {
        path.relative_to(shared_data).as_posix(): takers(path)
        for path in sorted(shared_data.rglob("*.json*"))
        if "training" not in path.name
    }
    assert len(found) >= 24
    assert {path: names for path, names in found.items() if names != [path.split("/")[0]]} == {}


@pytest.mark.parametrize("name", [name for name, (file, _) in SMALL.items() if file.endswith((".json", ".jsonl"))])
def test_a_benchmark_with_the_card_of_its_download_is_read_as_what_it_is(tmp_path: Path, name: str) -> None:
    file, value = SMALL[name]
    option = orjson.OPT_INDENT_2 if file.endswith(".json") else 0
    (tmp_path / file).write_bytes(orjson.dumps(value, option=option))
    (tmp_path / "README.md").write_text(f"---\nconfigs:\n- config_name: all\n  data_files: {file}\n---\n")
    with open_sources([tmp_path]) as sources:
        assert recognise(sources).name == ("huggingface" if name == "native" else name)


@pytest.mark.parametrize("name", ["argilla", "potato", "label_studio"])
def test_whole_items_in_files_of_another_program_are_recognised_as_what_they_are(tmp_path: Path, name: str) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(orjson.dumps(full_item()))
    convert_files([path], into=name, output=tmp_path / "out")
    with open_sources([tmp_path / "out"]) as sources:
        assert recognise(sources).name == name


def test_the_key_of_a_folder_alone_is_read_as_items(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(orjson.dumps(full_item()))
    convert_files([path], into="argilla", output=tmp_path / "out")
    with open_sources([tmp_path / "out" / "key"]) as sources:
        assert recognise(sources).name == "native"


def test_a_table_beside_files_of_another_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"question": "Q?"}')
    (tmp_path / "more.csv").write_text("question,answer\nR?,A\n")
    (tmp_path / "labels.csv").write_text("item,annotator,criterion,value\na,x,c,yes\n")
    with open_sources([tmp_path]) as sources:
        [said] = passed_over(read_sources(sources, None))
        assert said.startswith("Not read, as files of native lie beside: ")
        assert said.endswith("/more.csv. Import tables by themselves.")
    (tmp_path / "more.csv").unlink()
    with open_sources([tmp_path]) as sources:
        assert passed_over(read_sources(sources, None)) == []


def test_every_format_has_a_section_in_the_docs() -> None:
    lines = (ROOT / "docs/importing.md").read_text().splitlines()
    headings = [line.lower() for line in lines if line.startswith("## ")]
    assert [name for name in FORMATS.names() if not any(name in heading for heading in headings)] == []


def test_a_refusal_says_which_fields_are_lacking(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('[{"uid": "1", "question": "Q?"}]')
    with open_sources([path]) as sources, pytest.raises(InvalidInput) as raised:
        recognise(sources)
    lines = str(raised.value).splitlines()
    assert "mine.json, double_bench: its records lack `answer`, `reference_page`." in lines
    assert "--map question=FIELD" in lines[-2]
    assert lines[-3] == "mine.json: the other 7 formats take no file of this name or ending."


@pytest.mark.parametrize(
    ("name", "data", "whose"),
    [
        ("a.csv", b"number,name\n1,x\n", "table: none of its columns is known as the question"),
        ("a.xlsx", b"no book", "table: it is no .xlsx file inside."),
        ("a.jsonl", b'{"q": 1}', "native: its first line has no `question`."),
    ],
)
def test_why_a_file_is_refused_begins_with_the_likely_format(
    tmp_path: Path, name: str, data: bytes, whose: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with open_sources([tmp_path / name]) as sources, pytest.raises(InvalidInput) as raised:
        recognise(sources)
    lines = str(raised.value).splitlines()
    assert lines[1].startswith(f"{name}, {whose}")
    assert sum("of this name or ending" in line for line in lines) == 1
    assert not any(" end with " in line for line in lines)


def test_formats_that_refuse_a_file_for_the_same_reason_stand_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("number,name\n1,x\n")
    with open_sources([tmp_path / "a.csv"]) as sources, pytest.raises(InvalidInput) as raised:
        recognise(sources)
    assert "a.csv, deepeval, ragas and trulens: its records have neither an answer nor contexts." in str(raised.value)


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n \n")
    (tmp_path / "b.csv").write_text("number\n1\n")
    with (
        open_sources([tmp_path / "a.csv"]) as sources,
        pytest.raises(InvalidInput, match=r"the file is empty\. Choose"),
    ):
        recognise(sources)
    with open_sources([tmp_path]) as sources, pytest.raises(InvalidInput, match=r"a\.csv: it is empty\."):
        recognise(sources)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-32-be"])
def test_a_table_in_a_wide_encoding_is_recognised_and_read(tmp_path: Path, encoding: str, ending: str) -> None:
    path = tmp_path / f"unicode.{ending}"
    mark = "" if encoding.endswith(("16", "32")) else "\ufeff"  # else Python writes it
    path.write_text(f"{mark}question\tanswer\nQ?\tA\n", encoding=encoding)
    with open_sources([path]) as sources:
        assert recognise(sources).name == "table"
        [row] = FORMATS.get("table").read(sources).items()
    assert not isinstance(row, Rejected)
    assert (row.item.question, row.item.answer) == ("Q?", "A")


HOSTILE = {
    "empty": b"",
    "cut off": b'[{"uid": "1", "question": "Q',
    "utf-16": "[1]".encode("utf-16"),
    "deep": b"[" * 5000 + b"]" * 5000,
    "numbers": b"[1, 2, 3]",
    "no list": b'{"results": 3, "responses": 4}',
    "nothing": b"null",
    "nulls": b'[{"chunk_used": null, "uid": null, "question": null, "doc_id": null, "gt_answer": null, "model1": null, '
    b'"model2": null, "x_response_kg": null, "id": null, "response": null, "q_id": null, "text_quotes": null}]',
    "wrong types": b'[{"chunk_used": {"img_0": {"used": 1, "metadata": []}}, "uid": {}, "question": [], "doc_id": 1, '
    b'"gt_answer": [], "model1": [], "model2": 3, "x_response_kg": [[[]]], "id": {}, "response": {}}]',
    "a line": b'{"q_id": {}, "response": {"a": []}, "text_quotes": {}, "model": []}\n{"q_id": 1}\n3\n',
    "NUL": b'[{"id": "\\u0000", "response": "\\u0000", "x_response_kg": [{"triplet": ["\\u0000"], "human_label": 3}]}]',
    "brackets": b'{"q_id": 1, "model": "m", "response": "' + b"![" * 200_000 + b'"}\n',
    "a long source": b'[{"rewritten_question_obscured": "Q?", "complete_answer": "A", "chunk_used": {"img_0": '
    b'{"used": true, "metadata": "' + b"x_id_1" * 200_000 + b'"}}}]',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SMALL))
@pytest.mark.parametrize("content", list(HOSTILE))
def test_no_file_breaks_a_format(tmp_path: Path, name: str, content: str) -> None:
    """Whatever a file holds, a format that is told to read it gives items and named bad rows, or one clear refusal."""
    path = tmp_path / f"hostile{Path(SMALL[name][0]).suffix}"
    path.write_bytes(HOSTILE[content])
    with open_sources([path]) as sources:
        try:
            reading = FORMATS.get(name).read(sources)
            found = [*reading.documents(), *reading.items()]
            again = list(reading.items())
        except AssayError:
            return
    bad = [row for row in found if isinstance(row, Rejected)]
    assert all(row.file == path.name and row.line >= 1 and row.reason.endswith(".") for row in bad)
    assert again == found
    assert bad or content in ("brackets", "a long source")
