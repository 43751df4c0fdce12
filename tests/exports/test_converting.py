"""Files of one format become those of another, and what is lost on the way is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from annotators.errors import Conflict, InvalidInput, refusal_of
from exports.converting import convert_files, units_of
from exports.formats._writing import Given
from tests.exports.formats.test_writing import REAL, SAID, records
from tests.exports.sources import write_pdf

WORD_FOR_WORD = ("unidoc", "double_bench", "mmlongbench", "refchecker")


def written(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def test_what_is_lost_is_counted_part_by_part(tmp_path: Path) -> None:
    row = {
        "id": "q1:reference", "question_key": "q1", "question": "Q?", "answer": "A", "documents": ["d.pdf"],
        "claims": [{"text": "one"}, {"text": "two"}], "language": "en",
        "evidence": [{"kind": "page", "role": "gold", "document": "d.pdf", "pages": [2]}, {"text": "more"}],
    }  # fmt: skip
    done = convert_files([written(tmp_path / "items.jsonl", row)], into="mmlongbench", output=tmp_path / "out")
    lost = {entry["what"]: entry["n"] for entry in done.to_json()["lost"]}
    assert lost["claims"] == 2
    assert lost["evidence"] == lost["languages"] == 1
    assert done.files == ["samples.json"]


def test_items_that_a_format_cannot_hold_are_counted_and_nothing_else_of_them(tmp_path: Path) -> None:
    page = {"question": "P?", "answer": "A", "documents": ["d.pdf"]}
    other = {"question": "Q?", "answer": "A", "system": "alpha", "claims": [{"text": "one"}]}
    done = convert_files([written(tmp_path / "items.jsonl", page, other)], into="mmlongbench", output=tmp_path / "out")
    lost = {entry.path: entry.n for entry in done.lost}
    assert lost["items"] == 1
    assert "claims" not in lost


def test_a_text_that_cannot_be_stored_is_a_bad_row(tmp_path: Path) -> None:
    path = written(tmp_path / "in.jsonl", {"id": "a", "question": "q\0"}, {"id": "b", "question": "Who?"})
    with pytest.raises(InvalidInput, match=r"in\.jsonl, line 1: a text contains the character NUL"):
        convert_files([path], into="native", output=tmp_path / "none")
    done = convert_files([path], into="native", output=tmp_path / "out", skip_bad=True)
    assert (done.items, (tmp_path / "out/items.jsonl").read_text().count("\n")) == (1, 1)


def test_a_bad_row_stops_it_and_leaves_no_folder(tmp_path: Path) -> None:
    path = written(tmp_path / "items.jsonl", {"question": "Q?"}, {"question": 3})
    with pytest.raises(InvalidInput, match=r"line 2: `question` is 3"):
        convert_files([path], into="table", output=tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == [path]
    done = convert_files([path], into="table", output=tmp_path / "out", skip_bad=True)
    assert (done.items, [(lost.path, lost.n, lost.of) for lost in done.lost]) == (1, [("rows", 1, 2)])
    assert done.notes[-1].startswith("Left out: items.jsonl, line 2: `question` is 3")
    path = written(tmp_path / "all.jsonl", {"question": 3})
    with pytest.raises(InvalidInput, match=r"1 bad row, so nothing was written:\nall.jsonl, line 1: `question` is 3"):
        convert_files([path], into="table", output=tmp_path / "none", skip_bad=True)


def test_two_items_of_one_id_with_other_content_are_bad_rows(tmp_path: Path) -> None:
    path = written(tmp_path / "items.jsonl", {"id": "a", "question": "Q?"}, {"id": "a", "question": "R?"})
    with pytest.raises(InvalidInput, match="other content"):
        convert_files([path], into="table", output=tmp_path / "out")


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "items.jsonl", {"question": "Q?"})
    with pytest.raises(Conflict):
        convert_files([path], into="table", output=tmp_path)


def test_documents_and_labels_go_along(tmp_path: Path) -> None:
    place = tmp_path / "in"
    written(place / "items.jsonl", {"id": "a", "question": "Q?"})
    written(place / "documents.jsonl", {"key": "x.pdf", "path": "documents/x.pdf", "title": "X"})
    (place / "documents").mkdir()
    (place / "documents" / "x.pdf").write_bytes(b"%PDF-1.4")
    (place / "labels.csv").write_text("item,annotator,criterion,value\na,ada,fair,yes\na,ben,fair,no\nb,ada,fair,yes\n")
    done = convert_files([place], into="native", output=tmp_path / "out", format_name="native")
    assert (done.items, done.labels, done.documents, done.lost) == (1, 2, 1, [])
    assert (tmp_path / "out" / "documents" / "x.pdf").read_bytes() == b"%PDF-1.4"
    table = convert_files([tmp_path / "out"], into="table", output=tmp_path / "table", format_name="native")
    assert {lost.path: lost.n for lost in table.lost} == {"titles": 1, "labels": 2}


@pytest.mark.parametrize("row", [{"path": "documents/s.pdf"}, {}])
def test_what_must_not_leave_goes_along_with_native_alone(tmp_path: Path, row: dict[str, Any]) -> None:
    """The mark is of the document: its bytes may stand in the same row, or beside it."""
    place = tmp_path / "in"
    item = {"id": "a", "question": "Q?", "evidence": [{"document": name, "pages": [1]} for name in ("s.pdf", "x.pdf")]}
    written(place / "items.jsonl", item)
    written(place / "documents.jsonl", {"key": "s.pdf", **row, "kept_here": True})
    secret = write_pdf(place / "documents/s.pdf", "the secret").read_bytes()
    write_pdf(place / "documents/x.pdf", "for all")
    copy = convert_files([place], into="native", output=tmp_path / "copy")
    assert (copy.documents, copy.lost) == (2, [])
    assert (tmp_path / "copy/documents/s.pdf").read_bytes() == secret
    for source in (place, tmp_path / "copy"):
        out = tmp_path / f"of-{source.name}"
        for name, pictures in (("table", False), ("argilla", False), ("huggingface", True)):
            options = SAID if pictures else {}
            done = convert_files([source], into=name, output=out / name, options=options, pictures=pictures)
            lost = {lost.what: (lost.n, lost.of) for lost in done.lost}
            assert (done.documents, lost["documents that must not leave this machine"]) == (1, (1, 1))
            assert "files of documents" not in lost, "the other one is there"
            assert [path.name for path in (out / name / "documents").iterdir()] == ["x.pdf"]
        [shown] = pq.read_table(out / "huggingface/items/test.parquet")["pictures"].to_pylist()
        assert [picture["path"] for picture in shown] == ["x.pdf#1"]


def test_labels_on_which_people_differ_are_lost_where_there_is_one_place(tmp_path: Path) -> None:
    record = {"id": "1", "response": "A", "m_response_kg": [{"triplet": ["a", "b", "c"], "human_label": "Neutral"}]}
    (tmp_path / "d_s_answers.json").write_bytes(orjson.dumps([record]))
    done = convert_files([tmp_path / "d_s_answers.json"], into="refchecker", output=tmp_path / "out")
    assert (done.labels, done.lost) == (1, [])


def test_what_all_who_labelled_a_unit_agree_on_is_its_label_and_no_majority_is(tmp_path: Path) -> None:
    written(tmp_path / "in/items.jsonl", *({"id": name, "question": f"{name}?", "answer": "A"} for name in "abc"))
    said = {"a": ("yes", "yes", "yes"), "b": ("yes", "yes", "no"), "c": ("no",)}
    rows = [f"{item},p{n},right,{value}" for item, values in said.items() for n, value in enumerate(values)]
    (tmp_path / "in/labels.csv").write_text("\n".join(["item,annotator,criterion,value", *rows]))
    convert_files([tmp_path / "in"], into="ragas", output=tmp_path / "ragas", format_name="native")
    samples = map(orjson.loads, (tmp_path / "ragas/samples.jsonl").read_bytes().splitlines())
    assert [sample.get("human_right") for sample in samples] == ["yes", None, "no"]
    convert_files([tmp_path / "in"], into="huggingface", output=tmp_path / "hub", format_name="native", options=SAID)
    settled = pq.read_table(tmp_path / "hub/adjudicated/test.parquet").to_pylist()
    assert [(row["label"], row["how"], row["n"]) for row in settled] == [
        ("yes", "unanimous", 3), (None, "open", 3), ("no", "unanimous", 1),
    ]  # fmt: skip


def test_a_grade_and_a_word_that_look_alike_stay_what_they_are() -> None:
    given = [Given("ada", "grade", "item", 3), Given("ada", "word", "item", "3")]
    assert [unit.label for unit in units_of(given)] == [3, "3"]


def test_labels_that_fell_stay_out_and_the_notes_count_them(tmp_path: Path) -> None:
    written(tmp_path / "in/items.jsonl", {"id": "a", "question": "Q?"})
    (tmp_path / "in/labels.csv").write_text(
        "item,annotator,criterion,value,current,fell\n"
        "a,A1,fair,yes,true,true\na,A2,fair,no,true,false\na,A2,clear,no,false,true\n"
    )
    done = convert_files([tmp_path / "in"], into="argilla", output=tmp_path / "out", format_name="native")
    reasons = "1 fell with a revision, 1 superseded or withdrawn"
    assert (done.labels, done.notes) == (1, [f"in/labels.csv: rows that do not count are left out ({reasons})."])


def test_what_is_open_among_labels_beside_items_has_no_label_of_the_items_in_its_place(tmp_path: Path) -> None:
    verdicts = [{"claim": key, "against": "context", "label": "neutral", "source": "people"} for key in ("c1", "c2")]
    claims = [{"key": key, "text": f"Claim {key}."} for key in ("c1", "c2")]
    rows = [
        {"id": name, "question": f"{name}?", "answer": name, "claims": claims, "verdicts": verdicts} for name in "ab"
    ]
    written(tmp_path / "in/items.jsonl", *rows)
    (tmp_path / "in/labels.csv").write_text(
        "item,annotator,criterion,target,value\n"
        "a,ada,claim_label,claim:c1|context,entailment\na,ada,claim_label,claim:c2|context,entailment\n"
        "a,ben,claim_label,claim:c1|context,entailment\na,ben,claim_label,claim:c2|context,neutral\n"
    )
    convert_files([tmp_path / "in"], into="refchecker", output=tmp_path / "out", format_name="native")
    [file] = (tmp_path / "out").glob("*.json")
    found = {row["response"]: [claim.get("human_label") for claim in row["claims_response_kg"]]
             for row in orjson.loads(file.read_bytes())}  # fmt: skip
    assert found == {"a": ["Entailment", None], "b": ["Neutral", "Neutral"]}


@pytest.mark.parametrize("name", ["huggingface", "potato", "argilla"])
def test_real_labels_come_back_through_other_tools(tmp_path: Path, shared_data: Path, name: str) -> None:
    source = sorted((shared_data / "refchecker").rglob("*.json"))[0]
    out = convert_files([source], into=name, output=tmp_path / "out", format_name="refchecker", options=SAID)
    assert out.labels > 100
    assert out.lost == []
    back = convert_files([tmp_path / "out"], into="refchecker", output=tmp_path / "back")
    assert (back.labels, back.lost) == (out.labels, [])
    assert set(records(tmp_path / "back")) == set(records(source))


def test_real_labels_of_pairs_go_from_tool_to_tool(tmp_path: Path, shared_data: Path) -> None:
    source = shared_data / "ragchecker" / "human_labeled_data.json"
    out = convert_files([source], into="huggingface", output=tmp_path / "hub", options=SAID)
    assert out.labels > 1_000
    assert out.lost == []
    for name in ("potato", "argilla"):
        done = convert_files([tmp_path / "hub"], into=name, output=tmp_path / name)
        assert (done.labels, done.lost) == (out.labels, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", list(REAL))
def test_real_items_come_back_through_hugging_face(tmp_path: Path, shared_data: Path, name: str) -> None:
    out = convert_files(
        [shared_data / name], into="huggingface", output=tmp_path / "hub", format_name=name, options=SAID
    )
    assert out.lost == []
    back = convert_files([tmp_path / "hub"], into=name, output=tmp_path / "back", format_name="huggingface")
    assert (back.items, back.lost) == (out.items, [])
    if name in WORD_FOR_WORD:
        assert set(records(tmp_path / "back")) == set(records(shared_data / name))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(REAL))
def test_real_files_lose_nothing_in_their_own_format(tmp_path: Path, shared_data: Path, name: str) -> None:
    done = convert_files([shared_data / name], into=name, output=tmp_path / "out", format_name=name)
    assert done.items >= REAL[name]
    assert done.lost == []
    if name in WORD_FOR_WORD:
        assert set(records(tmp_path / "out")) == set(records(shared_data / name))


def test_what_a_reading_leaves_out_is_said_as_often_as_it_is_there(tmp_path: Path) -> None:
    said = {"question": "Q?", "answer": "A", "metadata": {}}
    record = {
        "id": "r1", "fields": said, "metadata": {}, "vectors": {"v": [0.1]},
        "responses": {"right": [{"value": "yes", "user_id": "ada", "status": "submitted"}]},
        "suggestions": {"right": {"value": "yes", "score": None, "agent": "m"}},
    }  # fmt: skip
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "records.json").write_bytes(orjson.dumps([record]))
    done = convert_files([tmp_path / "in"], into="native", output=tmp_path / "out", format_name="argilla")
    assert any(note.startswith("1 suggestion of models: ") for note in done.notes)
    assert "Lost: vectors of 1 record." in done.notes


@pytest.mark.parametrize("into", ["potato", "argilla", "native"])
def test_a_pair_of_an_item_with_itself_is_refused_with_its_line(tmp_path: Path, into: str) -> None:
    folder = tmp_path / "in"
    written(folder / "items.jsonl", *({"id": name, "question": "Q?", "answer": name} for name in "ab"))
    (folder / "labels.csv").write_text(
        "item,annotator,criterion,target,value,other_item\na,ada,better,pair,1,b\na,ada,better,pair,1,a\n"
    )
    with pytest.raises(InvalidInput, match=r"labels\.csv, line 3: a pair is of one item twice"):
        convert_files([folder], into=into, output=tmp_path / "out")


def test_a_file_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    table = tmp_path / "q.csv"
    table.write_text("id,question,shelf\na,Q?,B2\n")
    done = convert_files([table, tmp_path / "." / "q.csv"], into="native", output=tmp_path / "out")
    assert done.notes == ["q.csv is read with id = id, question = question; kept in the metadata: shelf."]


@pytest.mark.parametrize("below", ["out", "more/out"])
def test_where_no_folder_can_be_is_said_in_words(tmp_path: Path, below: str) -> None:
    table = tmp_path / "q.csv"
    table.write_text("id,question\na,Q?\n")
    with pytest.raises(NotADirectoryError) as below_a_file:
        convert_files([table], into="native", output=table / below)
    assert (refusal_of(below_a_file.value) or "").startswith(("There is a file, not a folder", "Not a directory"))
    with pytest.raises(NotADirectoryError) as on_no_disk:
        convert_files([table], into="native", output=Path("/proc") / below)
    assert refusal_of(on_no_disk.value) == f"No folder can be made: /proc/{below}. Name another place."
