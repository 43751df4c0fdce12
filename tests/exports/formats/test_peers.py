"""Samples of evaluation tools, relevance judgements, Argilla's records: what is read, written, and hidden."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pytest
from sqlmodel import Session, select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.number import Number
from annotators.criteria.text import Text
from annotators.designing.design import StudyDesign
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from annotators.items.targets import TargetKind
from annotators.protocols import PROTOCOLS, Material, Step
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Study, StudyItem
from db.releasing.what_holds import labels_that_hold, places_that_hold
from db.studies.settlements import stream_settled
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats._losing import losses_of
from exports.formats.base import recognise
from exports.reading.sources import open_sources
from tests.exports.formats.places import Place, write_json
from tests.exports.formats.test_labels_in_files import stored
from tests.exports.labelled import labelled_study
from tests.makers import tiny_protocol


def read(name: str, *paths: Path) -> list[ParsedItem]:
    with open_sources(paths) as sources:
        found = list(FORMATS.get(name).read(sources).items())
    assert [row for row in found if isinstance(row, Rejected)] == []
    return [row for row in found if isinstance(row, ParsedItem)]


def lines(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n")
    return path


# Samples --------------------------------------------------------------------------------------------------------------


def test_ragas_samples_come_in_with_contexts_and_metrics(tmp_path: Path) -> None:
    sample = {
        "user_input": "Q?", "response": "A", "reference": "R", "retrieved_contexts": ["one", "two"],
        "reference_contexts": ["gold"], "faithfulness": 0.25, "answer_relevancy": None, "persona": "p",
    }  # fmt: skip
    [row] = read("ragas", lines(tmp_path / "s.jsonl", sample))
    item = row.item
    assert (item.question, item.answer, item.references, item.system) == ("Q?", "A", ("R",), "unnamed")
    assert [(unit.role, unit.text, unit.rank) for unit in item.evidence] == [
        ("gold", "gold", None), ("retrieved", "one", 1), ("retrieved", "two", 2)
    ]  # fmt: skip
    assert [(score.scorer, score.name, score.value) for score in item.scores] == [
        ("imported:ragas", "faithfulness", 0.25)
    ]
    assert item.metadata == {"persona": "p"}


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet"])
def test_results_that_pandas_wrote_into_a_table_come_in_as_those_in_json(tmp_path: Path, ending: str) -> None:
    rows = [
        {"user_input": "Q?", "response": "A, B", "reference": "R", "retrieved_contexts": ["it's", 'so "two"\nlines'],
         "faithfulness": 0.25, "answer_relevancy": 1.0, "human_right": "yes", "persona": "p", "zip": "0123"},
        {"user_input": "1843", "response": "2", "reference": None, "retrieved_contexts": ["[sic]", "b"],
         "faithfulness": None, "answer_relevancy": 0.5, "human_right": "no", "persona": "7", "zip": "x"},
    ]  # fmt: skip
    frame, path = pd.DataFrame(rows), tmp_path / f"s.{ending}"
    write = {"csv": frame.to_csv, "tsv": partial(frame.to_csv, sep="\t"), "xlsx": frame.to_excel}
    write.get(ending, frame.to_parquet)(path)
    expected = read("ragas", lines(tmp_path / "s.jsonl", *rows))
    found = read("ragas", path)
    assert [row.item for row in found] == [row.item for row in expected]
    assert [label.value for row in found for label in row.labels] == ["yes", "no"]


@pytest.mark.parametrize(("name", "fields"), [
    ("ragas", ("user_input", "response", "reference", "retrieved_contexts")),
    ("deepeval", ("input", "actual_output", "expected_output", "retrieval_context")),
])  # fmt: skip
@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_an_empty_answer_in_a_table_is_the_systems_and_not_the_reference(
    tmp_path: Path, ending: str, name: str, fields: Sequence[str]
) -> None:
    rows = [("Q1", "", "R1", ["", "", " "]), ("Q2", "A", "R2", ["c"])]
    frame, path = pd.DataFrame(rows, columns=list(fields)), tmp_path / f"s.{ending}"
    write = {"csv": frame.to_csv, "xlsx": frame.to_excel, "parquet": frame.to_parquet}
    write[ending](path)
    items = [row.item for row in read(name, path)]
    assert [(item.answer, item.system, item.references) for item in items] == [
        ("", "unnamed", ("R1",)), ("A", "unnamed", ("R2",)),
    ]  # fmt: skip
    assert [(unit.text, unit.rank) for unit in items[0].evidence] == [("", 1), ("", 2), (" ", 3)]
    # Where no sample has a response, none is an answer.
    frame.assign(**{fields[1]: None}).to_csv(tmp_path / "none.csv")
    assert [(row.item.answer, row.item.system) for row in read(name, tmp_path / "none.csv")] == [
        ("R1", "reference"), ("R2", "reference"),
    ]  # fmt: skip


def test_a_sample_of_parquet_without_a_response_has_its_reference_as_answer(tmp_path: Path) -> None:
    rows = {"user_input": ["Q1", "Q2", "Q3"], "response": ["A", "", None], "reference": ["R1", "R2", "R3"]}
    pd.DataFrame(rows).to_parquet(tmp_path / "s.parquet")
    found = [row.item for row in read("ragas", tmp_path / "s.parquet")]
    assert [(item.answer, item.system) for item in found] == [
        ("A", "unnamed"), ("", "unnamed"), ("R3", "reference")
    ]  # fmt: skip


def test_a_table_is_only_of_a_program_whose_fields_it_has(tmp_path: Path) -> None:
    ours = "user_input,reference\nQ?,R\n"
    for name, text, expected in [
        ("a.csv", ours, "ragas"), ("b.csv", "user_input,note\nQ?,R\n", "table"),
        ("c.csv", "input,actual_output,retrieval_context\nQ?,A,one|two\n", "deepeval"),
        ("d.csv", "input,output,app_name\nQ?,A,x\n", "trulens"), ("e.csv", "question,answer\nQ?,A\n", "table"),
    ]:  # fmt: skip
        (tmp_path / name).write_text(text)
        with open_sources([tmp_path / name]) as sources:
            assert recognise(sources).name == expected, name
    [row] = read("deepeval", tmp_path / "c.csv")
    assert [unit.text for unit in row.item.evidence] == ["one", "two"]
    # A table that only lies beside samples is none of them.
    folder = tmp_path / "set"
    lines(folder / "s.jsonl", {"user_input": "Q?", "response": "A"})
    (folder / "overview.csv").write_text("system,n\nx,1\n")
    assert len(read("ragas", folder)) == 1


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_infinity_in_a_column_of_scores_is_a_text_by_itself(tmp_path: Path, ending: str) -> None:
    scores = [0.5, float("inf"), -float("inf"), float("nan")]
    frame = pd.DataFrame({"user_input": list("abcd"), "response": "A", "faithfulness": scores})
    {"csv": frame.to_csv, "parquet": frame.to_parquet}[ending](tmp_path / f"s.{ending}")
    items = [row.item for row in read("ragas", tmp_path / f"s.{ending}")]
    assert [[score.value for score in item.scores] for item in items] == [[0.5], [], [], []]
    assert [item.metadata.get("faithfulness") for item in items] == [None, "inf", "-inf", None]


def test_a_table_of_samples_that_was_read_is_not_said_to_lie_beside_them(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("user_input,response\nQ?,A\n")
    lines(tmp_path / "t.jsonl", {"user_input": "R?", "response": "B"})
    done = convert_files([tmp_path / "s.csv", tmp_path / "t.jsonl"], into="native", output=tmp_path / "out")
    assert (done.items, done.notes) == (2, [])
    with open_sources([tmp_path / "s.csv", tmp_path / "t.jsonl"]) as sources:
        reading = FORMATS.get("ragas").read(sources)
        assert len(list(reading.items())) == 2
        assert reading.meter.done == reading.meter.of == sum(file.size for file in sources.files)


def test_samples_of_several_models_are_answers_of_several_systems(tmp_path: Path) -> None:
    text = "query_id,user_input,response,model,faithfulness\nq1,Q?,A,alpha,0.5\nq1,Q?,B,beta,1\n"
    (tmp_path / "s.csv").write_text(text)
    rows = read("ragas", tmp_path / "s.csv")
    assert [(row.item.system, row.item.question_key, row.item.metadata) for row in rows] == [
        ("alpha", "q1", {}), ("beta", "q1", {}),
    ]  # fmt: skip
    # What we have written names its own fields, and a `model` is then what somebody has called so.
    ours = {"user_input": "Q?", "response": "A", "system": "alpha", "model": "kept"}
    [row] = read("ragas", lines(tmp_path / "ours.jsonl", ours))
    assert (row.item.system, row.item.metadata) == ("alpha", {"model": "kept"})


def test_a_conversation_in_a_table_is_a_bad_row(tmp_path: Path) -> None:
    turns = [{"content": "hi", "type": "human"}]
    pd.DataFrame([{"user_input": turns, "response": "A"}]).to_csv(tmp_path / "s.csv")
    with open_sources([tmp_path / "s.csv"]) as sources:
        [row] = FORMATS.get("ragas").read(sources).items()
    assert isinstance(row, Rejected)
    assert (row.line, "Conversations" in row.reason) == (2, True)


def test_a_conversation_is_a_bad_row(tmp_path: Path) -> None:
    path = lines(tmp_path / "s.jsonl", {"user_input": [{"content": "hi", "type": "human"}]})
    with open_sources([path]) as sources:
        [row] = FORMATS.get("ragas").read(sources).items()
    assert isinstance(row, Rejected)
    assert "Conversations" in row.reason


def test_a_deepeval_run_gives_scores_with_their_threshold(tmp_path: Path) -> None:
    case = {
        "name": "case", "input": "Q?", "actualOutput": "A", "expectedOutput": "E", "retrievalContext": ["c"],
        "metricsData": [
            {"name": "Faithfulness", "score": 0.5, "threshold": 0.7, "success": False},
            {"name": "Bias", "score": None, "error": "no key"},
        ],
    }  # fmt: skip
    [row] = read("deepeval", write_json(tmp_path / "run.json", {"testCases": [case]}))
    first, second = row.item.scores
    assert (first.name, first.value, first.parameters) == ("Faithfulness", 0.5, {"threshold": 0.7})
    assert (second.value, second.reason) == (None, "no key")
    assert row.item.references == ("E",)


def test_contexts_that_deepeval_writes_with_a_sign_between_them_are_several(tmp_path: Path) -> None:
    case = {"input": "Q?", "actual_output": "A", "retrieval_context": "r1|r2", "context": "c", "name": None}
    [row] = read("deepeval", lines(tmp_path / "t.jsonl", case))
    assert [(unit.role, unit.text) for unit in row.item.evidence] == [
        ("gold", "c"), ("retrieved", "r1"), ("retrieved", "r2")
    ]  # fmt: skip


def test_records_of_trulens_have_ids_of_their_own_and_what_feedback_cost_is_no_score(tmp_path: Path) -> None:
    about = {"app_name": "rag", "app_version": "v2", "input": "Q?", "Groundedness": 0.9}
    rows = [
        {**about, "record_id": f"r{n}", "output": f"A{n}", "Groundedness feedback cost in USD": 0.01} for n in range(2)
    ]
    found = read("trulens", write_json(tmp_path / "r.json", rows))
    assert [row.item.id for row in found] == ["r0", "r1"]
    assert {score.name for row in found for score in row.item.scores} == {"Groundedness"}
    assert found[0].item.metadata["Groundedness feedback cost in USD"] == 0.01


def test_trulens_records_are_of_their_app_and_have_the_contexts_of_feedback(tmp_path: Path) -> None:
    record = {
        "app_name": "rag", "app_version": "v2", "record_id": "r1", "input": '"Q?"', "output": "A", "latency": 3,
        "Groundedness": 0.9, "Groundedness_calls": [{"args": {"source": ["c1", "c2"]}, "ret": 0.9}],
    }  # fmt: skip
    [row] = read("trulens", write_json(tmp_path / "r.json", [record]))
    assert (row.item.question, row.item.system) == ("Q?", "rag/v2")
    assert [unit.text for unit in row.item.evidence] == ["c1", "c2"]
    assert [score.name for score in row.item.scores] == ["Groundedness"]
    assert row.item.metadata["latency"] == 3


@pytest.mark.parametrize("name", ["ragas", "deepeval", "trulens"])
def test_final_labels_leave_as_columns_and_come_back(sqlite_database: Database, tmp_path: Path, name: str) -> None:
    made = labelled_study(sqlite_database, items=12)
    export_project(
        sqlite_database, made.researcher, made.project_id, to=tmp_path / "out", study_id=made.study_id, formats=[name]
    )
    assert verify_against(sqlite_database, made.researcher, tmp_path / "out").ok
    with sqlite_database.read() as session:
        settled = {
            (unit.external_id, unit.criterion)
            for unit in stream_settled(session, made.study_id)
            if unit.state != "open"
        }
    found = read(name, tmp_path / "out" / name)
    assert {(row.item.id, label.criterion) for row in found for label in row.labels} == settled
    assert {label.annotator for row in found for label in row.labels} == {f"{name}-verified"}


@pytest.mark.parametrize("name", ["ragas", "deepeval", "trulens"])
def test_an_export_that_comes_back_into_its_project_changes_nothing_that_it_can_carry(
    place: Place, tmp_path: Path, name: str
) -> None:
    contexts = [{"text": "one", "role": "retrieved", "rank": 1}, {"text": "two", "role": "retrieved", "rank": 2}]
    gold = [{"text": "gold", "role": "gold"}]
    rows = [
        {"id": "a", "question_key": "k", "question": "Q?", "answer": "A", "system": "alpha/v2", "category": "c",
         "language": "en", "references": ["R"], "evidence": contexts, "metadata": {"note": "n"},
         "scores": [{"name": "s", "scorer": f"imported:{name}", "value": 0.5}]},
        {"id": "b", "question": '"Quoted?"', "answer": '"A"', "system": "beta", "metadata": {"app": "mine"}},
        {"id": '"c"', "question": "R?", "answer": "R", "references": ["R"]},
        {"id": "d", "question": "R?", "answer": "", "system": "/x", "metadata": {"app_name": "mine", "record_id": "7"}},
        {"id": "e", "question": "S?", "answer": "S", "system": "x/", "evidence": gold},
        {"id": "f", "question": "T?", "answer": "T", "system": "x", "evidence": [{"text": "of no role"}],
         "metadata": {"null": None, "number": 3}},
    ]  # fmt: skip
    assert place.take(lines(tmp_path / "items.jsonl", *rows)).rejected == []
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=[name])
    report = place.take(tmp_path / "out" / name, format_name=name)
    lost = {"f": {"evidence", "metadata"}, **({"e": {"evidence"}} if name == "trulens" else {})}
    assert {row.external_id: set(row.changes) for row in report.revisions} == lost
    assert (report.added, report.unchanged, report.rejected) == (0, len(rows) - len(lost), [])
    said = losses_of(FORMATS.get(name))
    assert said["evidence.role"].startswith("roles of evidence" + (":" if name == "trulens" else " but gold"))
    assert "null" in said["metadata"]
    assert "numbers" in said["metadata"]


def test_records_of_trulens_come_back_from_an_export_as_they_were(place: Place, tmp_path: Path) -> None:
    about = {"input": "Q?", "output": "A", "Groundedness": 0.5, "tags": "t", "latency": 3}
    rows = [
        {"record_id": "r1", "app_name": "rag", "app_version": "v2", **about},
        {"record_id": "r2", "app_name": "a/b", "app_version": "", **about},
        {"record_id": "r3", "app_name": "rag", **about},
        {"record_id": "r4", "app_id": "old", **about},
    ]
    assert place.take(write_json(tmp_path / "r.json", rows), format_name="trulens").rejected == []
    assert next(iter(place.items())).metadata == {"tags": "t", "latency": 3}, "system and id say the rest"
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=["trulens"])
    written = [orjson.loads(line) for line in (tmp_path / "out/trulens/records.jsonl").read_bytes().splitlines()]
    assert [{name: record[name] for name in row} for record, row in zip(written, rows, strict=True)] == rows
    report = place.take(tmp_path / "out" / "trulens", format_name="trulens")
    assert (report.unchanged, report.revisions, report.scores) == (4, [], 0)


@pytest.mark.parametrize("name", ["ragas", "deepeval", "trulens"])
def test_metadata_and_scores_called_as_labels_are_become_no_labels(tmp_path: Path, name: str) -> None:
    row = {
        "question": "Q?", "answer": "A", "metadata": {"human_x": "h", "kept": "k"},
        "scores": [{"name": "human_y", "value": 1.0}, {"name": "s", "value": 0.5}],
    }  # fmt: skip
    done = convert_files([lines(tmp_path / "items.jsonl", row)], into=name, output=tmp_path / "out")
    assert (done.labels, [lost.what for lost in done.lost if "human" in lost.what]) == (0, ["metadata human_x"])
    [back] = read(name, tmp_path / "out")
    assert (back.labels, back.item.metadata["kept"]) == ((), "k")
    assert [score.name for score in back.item.scores] == ["s"]


# Judgements -----------------------------------------------------------------------------------------------------------


def beir(folder: Path) -> Path:
    lines(folder / "corpus.jsonl", {"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "two"})
    lines(folder / "queries.jsonl", {"_id": "q1", "text": "Q?", "metadata": {"a": 1}}, {"_id": "q2", "text": "R?"})
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq3\td2\t1\n")
    return folder


def test_beir_comes_in_with_grades_and_goes_out_again(tmp_path: Path) -> None:
    found = {row.item.question_key: row.item for row in read("qrels", beir(tmp_path / "in"))}
    assert [(unit.role, unit.text, unit.metadata["relevance"]) for unit in found["q1"].evidence] == [
        ("gold", "one", 2), ("distractor", "two", 0)
    ]  # fmt: skip
    assert (found["q2"].evidence, found["q3"].question) == ((), "q3")
    done = convert_files([tmp_path / "in"], into="qrels", output=tmp_path / "out")
    assert [lost.to_json() for lost in done.lost] == [{"what": "items", "n": 1, "of": 3}]  # q2 has no judgement
    written = (tmp_path / "out" / "qrels" / "test.tsv").read_text()
    assert written == (tmp_path / "in" / "qrels" / "test.tsv").read_text()
    assert (tmp_path / "out" / "qrels.trec").read_text() == "q1 0 d1 2\nq1 0 d2 0\nq3 0 d2 1\n"


def test_splits_titles_and_metadata_of_beir_come_back_and_a_second_judgement_is_named(tmp_path: Path) -> None:
    folder = beir(tmp_path / "in")
    lines(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "", "text": "one", "metadata": {"url": "u"}},
        {"_id": "d2", "title": "T", "text": "two"},
    )
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t1\n")
    assert [lost.to_json() for lost in convert_files([folder], into="qrels", output=tmp_path / "out").lost] == []
    for name in ("qrels/test.tsv", "qrels/train.tsv"):
        assert (tmp_path / "out" / name).read_text() == (folder / name).read_text()
    corpus = [orjson.loads(line) for line in (tmp_path / "out" / "corpus.jsonl").read_bytes().splitlines()]
    assert corpus == [
        {"_id": "d1", "title": "", "text": "one", "metadata": {"url": "u"}},
        {"_id": "d2", "title": "T", "text": "two"},
    ]
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t1\nq2\td1\t0\n")
    with open_sources([folder]) as sources:
        [bad] = [row for row in FORMATS.get("qrels").read(sources).items() if isinstance(row, Rejected)]
    assert (bad.line, bad.reason) == (3, "'d1' is judged again for 'q2': 0 here and 1 before. Leave one of the two.")


def test_judgements_without_a_heading_are_read_and_what_is_none_is_named(tmp_path: Path) -> None:
    folder = beir(tmp_path / "in")
    (folder / "qrels" / "test.tsv").write_text("q1\td 1\t2\nq1\td2\t0\n")
    (folder / "qrels" / "dev.tsv").write_text("topic\tpage\trelevance\nq1\td1\t2\n")
    for beside in ("README.txt", "numbers.tsv", "qrels/agreed.tsv"):  # no judgements, and not called so
        (folder / beside).write_text("query-id\tcorpus-id\tscore\tagreed\n")
    with open_sources([folder]) as sources:
        reading = recognise(sources).read(sources)
        rows = [row.item for row in reading.items() if isinstance(row, ParsedItem)]
    assert [(unit.document, unit.metadata["relevance"]) for unit in rows[0].evidence] == [("d 1", 2), ("d2", 0)]
    assert list(reading.notes()) == [
        "in/qrels/dev.tsv is not read as judgements: its first line has neither query-id, corpus-id, score nor three "
        "columns of such, nor the four of TREC."
    ]


def test_judgements_are_read_by_their_heading_in_whatever_order(tmp_path: Path) -> None:
    folder = beir(tmp_path / "in")
    expected = [row.item for row in read("qrels", folder)]
    (folder / "qrels" / "test.tsv").write_text("corpus-id\tscore\tquery-id\nd1\t2\tq1\nd2\t0\tq1\nd2\t1\tq3\n")
    with open_sources([folder]) as sources:
        reading = recognise(sources).read(sources)
        assert [row.item for row in reading.items() if isinstance(row, ParsedItem)] == expected
        assert [note for note in reading.notes() if "not read" in note] == []
    # In the lines below the heading a grade is one only where the heading has it.
    (folder / "qrels" / "test.tsv").write_text("corpus-id\tquery-id\tscore\r\nd1\tq1\t2\r\nq1\t0\td2\r\n")
    with open_sources([folder]) as sources:
        bad = [row for row in recognise(sources).read(sources).items() if isinstance(row, Rejected)]
    assert [row.line for row in bad] == [3]


@pytest.mark.parametrize("empty", ["", "query-id\tcorpus-id\tscore\n", None])
def test_a_split_stays_one_beside_a_file_without_judgements_and_alone(tmp_path: Path, empty: str | None) -> None:
    folder = beir(tmp_path / "in")
    judgements = (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev-small.tsv").read_text()
    if empty is not None:
        (folder / "qrels" / "test.tsv").write_text(empty)
    found = {row.item.question_key: row.item for row in read("qrels", folder)}
    assert [unit.metadata["split"] for unit in found["q1"].evidence] == ["dev-small", "dev-small"]
    convert_files([folder], into="qrels", output=tmp_path / "out")
    written = {path.name: path.read_text() for path in (tmp_path / "out" / "qrels").iterdir()}
    assert written == {"dev-small.tsv": judgements}


def test_a_document_that_stands_twice_in_the_corpus_with_other_content_is_named(tmp_path: Path) -> None:
    folder = beir(tmp_path / "in")
    one = {"_id": "d1", "title": "T", "text": "one"}
    lines(folder / "corpus.jsonl", one, {"_id": "d2"}, one, {**one, "text": "other"}, {"_id": "d9"}, {"_id": 9})
    with open_sources([folder]) as sources:
        [bad] = [row for row in FORMATS.get("qrels").read(sources).items() if isinstance(row, Rejected)]
    assert (bad.line, bad.reason) == (
        4, "'d1' stands in the corpus before, with other content. Leave one of the two."
    )  # fmt: skip


def test_what_is_judged_for_a_further_answer_is_judged_for_the_question(tmp_path: Path) -> None:
    rows = [
        {"question_key": "q1", "question": "Q?", "answer": "A", "system": system,
         "evidence": [{"role": "gold", "document": document, "text": document} for document in documents]}
        for system, documents in (("a", ["d1"]), ("b", ["d1", "d2"]))
    ]  # fmt: skip
    done = convert_files([lines(tmp_path / "items.jsonl", *rows)], into="qrels", output=tmp_path / "out")
    assert done.items == 1
    assert (tmp_path / "out" / "qrels.trec").read_text() == "q1 0 d1 1\nq1 0 d2 1\n"


def test_what_differs_in_spaces_alone_has_ids_of_its_own_in_judgements(tmp_path: Path) -> None:
    def unit(key: str, **more: Any) -> dict[str, Any]:
        return {"key": key, "role": "gold", "text": f"text of {key}", **more}

    rows = [
        {"id": "1", "question_key": "a b", "question": "One?", "evidence": [
            unit("e1", document="d x.pdf", pages=[1]), unit("e2", document="d_x.pdf", pages=[1]), unit("e3"),
        ]},
        {"id": "2", "question_key": "a_b", "question": "Two?", "evidence": [
            unit("e1", document="d x.pdf", pages=[1]), unit("e2", document="d#1"), unit("e3"),
        ]},
        {"id": "3", "question_key": "a\u3000b", "question": "Three?", "evidence": [
            unit("e1", document="d", pages=[1]),
        ]},
        {"id": "4", "question_key": "a b", "question": "One?", "answer": "B", "system": "b", "evidence": [
            {**unit("e3"), "text": "another"},
        ]},
    ]  # fmt: skip
    convert_files([lines(tmp_path / "items.jsonl", *rows)], into="qrels", output=tmp_path / "out")
    assert (tmp_path / "out" / "qrels.trec").read_text().splitlines() == [
        "a_b 0 d_x.pdf#1 1", "a_b 0 d_x.pdf_2#1 1", "a_b 0 a_b/e3 1", "a_b 0 a_b/e3_2 1",
        "a_b_2 0 d_x.pdf#1 1", "a_b_2 0 d#1 1", "a_b_2 0 a_b_2/e3 1",
        "a_b_3 0 d#1_2 1",
    ]  # fmt: skip
    corpus = [orjson.loads(line) for line in (tmp_path / "out" / "corpus.jsonl").read_bytes().splitlines()]
    assert [(one["_id"], one["title"]) for one in corpus if one["title"]] == [
        ("d_x.pdf#1", "d x.pdf"), ("d_x.pdf_2#1", "d_x.pdf"), ("d#1", "d#1"), ("d#1_2", "d"),
    ]  # fmt: skip
    found = {row.item.question: row.item.question_key for row in read("qrels", tmp_path / "out")}
    assert found == {"One?": "a_b", "Two?": "a_b_2", "Three?": "a_b_3"}


def test_a_unit_on_several_pages_is_a_judgement_of_each(tmp_path: Path) -> None:
    row = {"question_key": "k", "question": "Q?", "evidence": [
        {"role": "gold", "document": "d.pdf", "pages": [2, 3]},
        {"role": "gold", "document": "d.pdf", "pages": [4, 3], "text": "T"},
    ]}  # fmt: skip
    convert_files([lines(tmp_path / "items.jsonl", row)], into="qrels", output=tmp_path / "out")
    assert (tmp_path / "out" / "qrels.trec").read_text() == "k 0 d.pdf#2 1\nk 0 d.pdf#3 1\nk 0 d.pdf#4 1\n"
    [item] = [row.item for row in read("qrels", tmp_path / "out")]
    assert [(unit.pages, unit.text) for unit in item.evidence] == [((2,), None), ((3,), "T"), ((4,), "T")]


def test_roles_that_differ_between_answers_of_a_question_are_no_judgement(tmp_path: Path) -> None:
    rows = [
        {"question_key": "q1", "question": "Q?", "answer": "A", "system": system, "evidence": [
            {"role": role, "document": "d1"}, {"role": "distractor", "document": "d2", "pages": [1]},
            {"role": "gold", "document": "d2", "pages": [1], "text": "of the same page"},
        ]}
        for system, role in (("a", "gold"), ("b", "distractor"), ("c", "gold"))
    ]  # fmt: skip
    done = convert_files([lines(tmp_path / "items.jsonl", *rows)], into="qrels", output=tmp_path / "out")
    assert (tmp_path / "out" / "qrels.trec").read_text() == "q1 0 d2#1 1\n"
    assert "evidence" in [lost.path for lost in done.lost]


def test_trec_judgements_alone_are_read_and_bad_lines_named(tmp_path: Path) -> None:
    (tmp_path / "x.qrels").write_text("1 0 doc#4 1\nnonsense\n1 0 d2 0\n1 0 d3 --5\n1 0 d4 ²\n1 0 d#² 1\n")
    with open_sources([tmp_path / "x.qrels"]) as sources:
        *bad, item = FORMATS.get("qrels").read(sources).items()
    assert [row.line for row in bad if isinstance(row, Rejected)] == [2, 4, 5]
    assert isinstance(item, ParsedItem)
    assert [(unit.document, unit.pages) for unit in item.item.evidence] == [("doc", (4,)), ("d2", ()), ("d#²", ())]


@pytest.mark.parametrize(
    ("name", "split"),
    [("qrels.dev.txt", "dev"), ("train.qrels", "train"), ("qrels-train.trec", "train"), ("robust04.qrels", None),
     ("qrels.test.trec", None)],
)  # fmt: skip
def test_the_name_of_a_file_of_trec_judgements_may_tell_their_split(
    tmp_path: Path, name: str, split: str | None
) -> None:
    (tmp_path / name).write_text("1 0 d1 1\n")
    with open_sources([tmp_path / name]) as sources:
        [item] = FORMATS.get("qrels").read(sources).items()
    assert isinstance(item, ParsedItem)
    assert item.item.evidence[0].metadata.get("split") == split


def test_verified_pages_become_judgements_with_their_grade_and_who_agreed(place: Place, tmp_path: Path) -> None:
    relevance = Grade(
        name="relevance", title="Relevance", target=TargetKind.PAGE, labels=[Label(value=n) for n in range(4)]
    )
    shows = [Material.QUESTION, Material.DOCUMENTS]
    protocol = tiny_protocol(
        name="pages", criteria=[relevance],
        steps=[Step(name="s", title="S", shows=shows, criteria=["relevance"])],
    )  # fmt: skip
    row = {"id": "a", "question_key": "q 1", "question": "Q?", "answer": "A", "documents": ["d.pdf"]}
    lines(tmp_path / "in" / "items.jsonl", row)
    lines(tmp_path / "in" / "documents.jsonl", {"key": "d.pdf", "n_pages": 9})
    place.take(tmp_path / "in")
    design = StudyDesign(name="pages", annotators=(place.actor.name,), overlap=1, order="given", rule="majority")
    study = create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id
    given = [("ada", 2, 3), ("ben", 2, 3), ("chloe", 2, 1), ("ada", 5, 0), ("ben", 5, 0), ("chloe", 5, 0)]
    rows = [
        ForeignLabel(line, "a", who, "relevance", f"page:d.pdf:{page}", str(grade))
        for line, (who, page, grade) in enumerate(given, 2)
    ]
    import_labels(place.db, place.actor, study, rows=rows, source="t.csv")
    to = tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study, formats=["qrels"])
    assert (to / "qrels" / "qrels.trec").read_text() == "q_1 0 d.pdf#2 3\nq_1 0 d.pdf#5 0\n"
    agreed = (to / "qrels" / "agreed.tsv").read_text().splitlines()[1:]
    assert agreed == ["q_1\td.pdf#2\t3\t2\t3\tmajority", "q_1\td.pdf#5\t0\t3\t3\tunanimous"]
    assert verify_against(place.db, place.actor, to).ok


def test_judgements_of_several_answers_count_together_and_not_where_they_differ(place: Place, tmp_path: Path) -> None:
    relevance = Choice(
        name="helps", title="Helps", target=TargetKind.EVIDENCE, labels=[Label(value="yes"), Label(value="no")]
    )
    protocol = tiny_protocol(
        name="units", criteria=[relevance],
        steps=[Step(name="s", title="S", shows=[Material.QUESTION, Material.EVIDENCE], criteria=["helps"])],
    )  # fmt: skip
    units = [{"key": f"e{page}", "document": "d.pdf", "pages": [page]} for page in (1, 2, 3, 4)]
    about = {"question_key": "q", "question": "Q?", "evidence": units}
    place.take(
        lines(tmp_path / "items.jsonl", *({**about, "id": name, "answer": name, "system": name} for name in "abc"))
    )
    design = StudyDesign(
        name="units", annotators=(place.actor.name,), overlap=1, order="given", rule="majority", keep_lacking=True
    )
    study = create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id
    given = {  # page → what ada, ben and chloe say of it for a, b and c
        1: ("yyy", "yyn", "yyy"), 2: ("yyy", "nnn", "yyy"), 3: ("yn", "nnn", "nnn"), 4: ("yn", "yn", "yn"),
    }  # fmt: skip
    words = {"y": "yes", "n": "no"}
    said = [
        (item, who, f"evidence:e{page}", words[letter])
        for page, of_items in given.items()
        for item, letters in zip("abc", of_items, strict=True)
        for who, letter in zip(("ada", "ben", "chloe"), letters, strict=False)
    ]
    rows = [
        ForeignLabel(line, item, who, "helps", target, value)
        for line, (item, who, target, value) in enumerate(said, 2)
    ]  # fmt: skip
    import_labels(place.db, place.actor, study, rows=rows, source="t.csv")
    to = tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study, formats=["qrels"])
    assert (to / "qrels" / "qrels.trec").read_text() == "q 0 d.pdf#1 1\nq 0 d.pdf#3 0\n"
    assert (to / "qrels" / "agreed.tsv").read_text().splitlines()[1:] == [
        "q\td.pdf#1\t1\t8\t9\tmajority", "q\td.pdf#2\t\t\t9\tdiffering", "q\td.pdf#3\t0\t6\t6\tunanimous",
    ]  # fmt: skip
    assert verify_against(place.db, place.actor, to).ok


# Argilla --------------------------------------------------------------------------------------------------------------


def labels_of(session: Session, study: Study) -> list[tuple[str, str, str]]:
    """Item, criterion and value of every label."""
    versions = session.execute(select(StudyItem.item_version_id).where(StudyItem.study_id == study.id)).scalars().all()
    found, _ = labels_that_hold(session, study, places_that_hold(session, study, versions))
    return sorted((label.item, label.criterion, str(label.value)) for label in found)


@pytest.mark.parametrize("name", ["argilla", "potato"])
def test_every_label_comes_back_from_another_tool(sqlite_database: Database, tmp_path: Path, name: str) -> None:
    made = labelled_study(sqlite_database, items=10)
    to = tmp_path / "out"
    export_project(sqlite_database, made.researcher, made.project_id, to=to, study_id=made.study_id, formats=[name])
    assert verify_against(sqlite_database, made.researcher, to).ok
    again = Place(sqlite_database, tmp_path / "home")
    report = again.take(to / name, labels_into="again")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    with sqlite_database.read() as session:
        studies = session.execute(select(Study).order_by(Study.id)).scalars().all()
        before, after = (labels_of(session, study) for study in studies)
    assert len(before) == len(after) > 200
    assert after == before


def study_of_pairs(place: Place, folder: Path) -> Study:
    """Six questions with two answers each, of which ada and ben have compared five on every scale."""
    rows = [
        {"id": f"q{n}:{system}", "question_key": f"q{n}", "question": f"Question {n}?", "system": system,
         "answer": f"Answer {n} of mine." if system == "secret-a" else f"Another {n}.", "references": ["the reference"],
         "scores": [{"name": "secret_score", "value": 0.125}]}
        for n in range(6) for system in ("secret-a", "secret-b")
    ]  # fmt: skip
    place.take(lines(folder / "items.jsonl", *rows))
    sides = [Label(value=n, title=f"side {n}") for n in (-1, 0, 1)]
    five = [Label(value=n, title=f"much {n}") for n in range(-2, 3)]
    protocol = tiny_protocol(
        name="compare",
        criteria=[
            Grade(name="better", title="Better", target=TargetKind.PAIR, labels=sides),
            Grade(name="overall", title="Overall", target=TargetKind.PAIR, labels=five),
            Number(name="by", title="By how much", target=TargetKind.PAIR, minimum=-9, maximum=9),
            Choice(name="same", title="Same", labels=[Label(value="yes"), Label(value="no")]),
            Text(name="why", title="Why", target=TargetKind.PAIR, required=False),
        ],
        steps=[
            Step(name="s", title="S", shows=[Material.QUESTION, Material.ANSWER],
                 criteria=["better", "overall", "by", "same", "why"])
        ],
    )  # fmt: skip
    design = StudyDesign(
        name="pairs", annotators=(place.actor.name,), overlap=1, order="given", seed=8, pairs=("secret-a", "secret-b")
    )
    made = create_study(place.db, place.actor, place.project, protocol=protocol, design=design)
    given = [
        (f"q{n}:secret-a", who, name, target, value)
        for n in range(5)
        for who in ("ada", "ben")
        for name, target, value in [
            ("better", "pair", str((n + len(who)) % 3 - 1)), ("overall", "pair", str(n - 2)), ("by", "pair", str(n)),
            ("same", "item", "no"), ("why", "pair", f"because {n}"),
        ]
    ]  # fmt: skip
    labels = [
        ForeignLabel(line, *about, None, None, about[0].replace("-a", "-b")) for line, about in enumerate(given, 2)
    ]
    import_labels(place.db, place.actor, made.study_id, rows=labels, source="t.csv")
    with place.db.read() as session:
        return session.get_one(Study, made.study_id)


@pytest.mark.parametrize("name", ["argilla", "potato"])
def test_labels_of_pairs_go_to_another_tool_side_by_side_and_come_back(place: Place, tmp_path: Path, name: str) -> None:
    study = study_of_pairs(place, tmp_path / "in")
    to = tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study.id, formats=[name, "labels"])
    assert verify_against(place.db, place.actor, to).ok
    handed_on = [path for path in (to / name).rglob("*") if path.is_file() and "key" not in path.parts]
    said = b"".join(path.read_bytes() for path in handed_on)
    assert b"secret" not in said
    assert b"the reference" not in said
    file = to / name / "pair" / ("records.json" if name == "argilla" else "data.json")
    records = orjson.loads(file.read_bytes())
    sides = [
        record["answers"] if name == "potato" else [record["fields"]["left"], record["fields"]["right"]]
        for record in records
    ]
    assert len(sides) == 6, "a pair that nobody has labelled is there to be labelled"
    assert {left.partition(" ")[0] for left, _ in sides} == {"Answer", "Another"}, "sides are those of the annotators"
    again = Place(place.db, tmp_path / "again")
    report = again.take(to / name, labels_into="again")
    assert (report.rejected, report.labels.obstacles, report.added) == ([], [], 12)
    with place.db.read() as session:
        before, after = (pairs_of(session, one) for one in session.execute(select(Study).order_by(Study.id)).scalars())
    assert before == after
    assert len(before) == 5 * 2 * 5


def pairs_of(session: Session, study: Study) -> list[tuple[str, ...]]:
    """First item, second item, criterion and value of every label, by the item that is first in the alphabet."""
    versions = session.execute(select(StudyItem.item_version_id).where(StudyItem.study_id == study.id)).scalars().all()
    asked = {one["name"]: one["kind"] for one in study.protocol["criteria"]}
    found = []
    for label in labels_that_hold(session, study, places_that_hold(session, study, versions, pairs=True))[0]:
        turned = label.other is not None and label.other < label.item and asked[label.criterion] in ("grade", "number")
        value = -label.value if turned else label.value
        found.append((*sorted((label.item, str(label.other))), label.criterion, f"{value:g}" if turned or
                      isinstance(value, int | float) else str(value)))  # fmt: skip
    return sorted(found)


def test_records_show_nothing_that_the_protocol_hides(place: Place, tmp_path: Path) -> None:
    row = {
        "id": "a", "question": "Q?", "answer": "A", "system": "secret-system", "category": "secret-category",
        "evidence": [{"text": "seen", "role": "distractor", "metadata": {"x": "secret-metadata"}}],
        "scores": [{"name": "secret_score", "value": 0.125}],
    }  # fmt: skip
    lines(tmp_path / "items.jsonl", row)
    place.take(tmp_path / "items.jsonl")
    protocol = PROTOCOLS.get("grounding")
    design = StudyDesign(name="g", annotators=(place.actor.name,), overlap=1, order="given")
    study = create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id
    to = tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study, formats=["argilla"])
    records = b"".join(path.read_bytes() for path in (to / "argilla").rglob("records.json"))
    assert b"seen" in records
    assert b"secret" not in records
    assert b"distractor" not in records
    assert b"0.125" not in records


def test_a_strangers_records_give_items_labels_and_a_protocol(place: Place, tmp_path: Path) -> None:
    stars = [{"value": 1}, {"value": 2}]
    options = [{"value": "good", "text": "Good"}, {"value": "bad", "text": "Bad"}]
    settings = {
        "guidelines": "Read it.", "fields": [{"name": "prompt"}, {"name": "response"}],
        "questions": [
            {"name": "quality", "title": "Quality?", "settings": {"type": "label_selection", "options": options}},
            {"name": "stars", "title": "Stars", "settings": {"type": "rating", "options": stars}},
            {"name": "say", "title": "Say", "required": False, "settings": {"type": "text"}},
        ],
    }  # fmt: skip
    record = {
        "id": "r1", "fields": {"prompt": "Q?", "response": "A"}, "metadata": {"system": "s", "n": 1}, "vectors": {},
        "suggestions": {"quality": {"value": "bad", "score": 0.5, "agent": "model"}}, "status": "completed",
        "responses": {"quality": [{"value": "good", "user_id": "u1"}, {"value": "bad", "user_id": "u2"}],
                      "stars": [{"value": 2, "user_id": "u1", "status": "submitted"},
                                {"value": 1, "user_id": "u2", "status": "draft"},
                                {"value": 1, "user_id": "u3", "status": "discarded"}]},
    }  # fmt: skip
    folder = tmp_path / "set"
    write_json(folder / "records.json", [record])
    write_json(folder / "settings.json", settings)
    report = place.take(folder, labels_into="argilla")
    assert (report.format, report.added, report.rejected) == ("argilla", 1, [])
    assert report.notes[:2] == [
        "1 suggestion of models: no person's labels, so they are left out.",
        "2 responses that nobody submitted (drafts, discarded): left out.",
    ]
    assert stored(place) == {
        ("u1", "quality", "item", "good"), ("u2", "quality", "item", "bad"), ("u1", "stars", "item", 2)
    }  # fmt: skip
    [item] = place.items()
    assert (item.id, item.question, item.answer, item.system, item.metadata) == ("r1", "Q?", "A", "s", {"n": 1})
