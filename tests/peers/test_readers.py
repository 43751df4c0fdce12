"""What we write the programs that it is for read, each in an environment of its own, with nothing of ours."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image

from annotators.items.item import ItemContent
from annotators.items.parsed import ParsedDocument, ParsedItem
from db.engine import Database
from exports.bundles.bundle import export_project
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats.base import recognise
from exports.reading.sources import open_sources
from tests.environments import environment_python
from tests.exports.formats.conftest import place  # noqa: F401 - a fixture
from tests.exports.formats.places import Place
from tests.exports.formats.test_peers import study_of_pairs
from tests.exports.formats.test_writing import SAID
from tests.exports.labelled import labelled_study
from tests.exports.sources import write_pdf
from tests.makers import StudyInUse

READERS = ("datasets==5.2.0", "pillow", "argilla==2.8.0", "requests", "ir_measures")


@cache
def python() -> Path:
    return environment_python("readers", READERS)


def said_by(program: str, *arguments: object, folder: Path, of: Path | None = None) -> Any:
    """What a program of an environment (None: that of the readers) prints, as JSON. It has none of our settings."""
    home = {"HOME": str(folder), "HF_HOME": str(folder / "hub"), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(of or python()), "-c", program, *map(str, arguments)],
        capture_output=True, text=True, timeout=300, check=False, env=home, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


LOAD = """
import json, sys
from datasets import get_dataset_config_names, load_dataset
found = {}
for name in get_dataset_config_names(sys.argv[1]):
    sets = load_dataset(sys.argv[1], name)
    found[name] = {split: len(rows) for split, rows in sets.items()}
load_dataset(sys.argv[1]).save_to_disk(sys.argv[2])
items = load_dataset(sys.argv[1])["test"]
print(json.dumps({"configs": found, "first": items[0]}))
"""


@pytest.mark.slow
def test_datasets_loads_a_study_and_what_it_saves_comes_in(sqlite_database: Database, tmp_path: Path) -> None:
    made = labelled_study(sqlite_database, items=12)
    export_project(
        sqlite_database, made.researcher, made.project_id, to=tmp_path / "out", study_id=made.study_id,
        formats=["huggingface"], options=SAID,
    )  # fmt: skip
    said = said_by(LOAD, tmp_path / "out" / "huggingface", tmp_path / "saved", folder=tmp_path)
    assert said["configs"]["items"] == {"test": 12}
    assert set(said["configs"]) == {"items", "labels", "label_arrays", "adjudicated", "soft_labels"}
    assert said["configs"]["labels"]["test"] > 200
    assert said["first"]["id"] == "i00001"
    assert Place(sqlite_database, tmp_path / "home").take(tmp_path / "saved").added == 12
    assert convert_files([tmp_path / "saved"], into="native", output=tmp_path / "native").lost == []


OF_SAME_NAME = """
import json, shutil, sys
from datasets import load_dataset
one, other, again = sys.argv[1:]
found = []
for path in (one, other, again):
    if path == again:
        shutil.rmtree(other)
        shutil.copytree(again, other)
        path = other
    items, labels = load_dataset(path)["test"], load_dataset(path, "labels")["test"]
    found.append([items["id"][:], labels["value"][:]])
print(json.dumps(found))
"""


@pytest.mark.slow
def test_datasets_takes_no_export_for_another(place: Place, tmp_path: Path) -> None:  # noqa: F811
    """Folders of one name, with as many rows, loaded with one cache; and a folder that was exported anew."""
    folders = []
    for values in (["yes", "yes"], ["no", "no"], ["yes", "no"]):
        study = StudyInUse(place.db, items=2, annotators=2, overlap=2)
        for annotator, value in enumerate(values):
            study.label_all(annotator, value)
        folders.append(tmp_path / str(len(folders)) / "huggingface")
        export_project(
            place.db, study.researcher, study.project_id, to=folders[-1].parent, study_id=study.study_id,
            formats=["huggingface"], options=SAID,
        )  # fmt: skip
    one, other, again = said_by(OF_SAME_NAME, *folders, folder=tmp_path)
    assert one[0] == other[0] == again[0]
    assert [set(one[1]), set(other[1]), set(again[1])] == [{"yes"}, {"no"}, {"yes", "no"}]


OF_SPLITS = """
import json, sys
from datasets import load_dataset
print(json.dumps({split: len(rows) for split, rows in load_dataset(sys.argv[1]).items()}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("splits", [["train"], ["5", "no", "train"], ["test", "dev"]])
def test_datasets_finds_the_splits_that_items_have(tmp_path: Path, splits: list[str]) -> None:
    rows = [{"id": split, "question": "Q?", "metadata": {"split": split}} for split in splits]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, rows)))
    convert_files([tmp_path / "items.jsonl"], into="huggingface", output=tmp_path / "out", options=SAID)
    assert said_by(OF_SPLITS, tmp_path / "out", folder=tmp_path) == dict.fromkeys(splits, 1)


OF_LOOSE = """
import json, sys
from datasets import load_dataset
sets = load_dataset(sys.argv[1])
print(json.dumps({split: [[row["question"], row["answer"]] for row in rows] for split, rows in sets.items()}))
"""


@pytest.mark.slow
def test_datasets_takes_the_same_rows_of_data_files_without_types(place: Place, tmp_path: Path) -> None:  # noqa: F811
    folder = tmp_path / "set"
    (folder / "data").mkdir(parents=True)
    for name, rows in (("train", [["Q1?", "A"], ["Q2?", "B"]]), ("dev", [["Q3?", "C"]])):
        lines = [json.dumps({"question": question, "answer": answer}) for question, answer in rows]
        (folder / "data" / f"{name}.jsonl").write_text("\n".join(lines))
    files = "".join(
        f"  - split: {split}\n    path: data/{name}*.jsonl\n" for split, name in (("train", "train"), ("test", "dev"))
    )
    (folder / "README.md").write_text(f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n")
    (folder / "other.jsonl").write_text('{"question": "Not of the dataset?"}')
    said = said_by(OF_LOOSE, folder, folder=tmp_path)
    assert place.take(folder).rejected == []
    found: dict[str, list[list[str]]] = {}
    for item in place.items():
        found.setdefault(item.metadata["split"], []).append([item.question, item.answer])
    assert {split: sorted(rows) for split, rows in found.items()} == said


OF_IMAGES = """
import io, json, sys
from datasets import Dataset, DatasetDict, Features, Image, Sequence, Value, load_dataset
from PIL import Image as Pictures
rows = load_dataset(sys.argv[1])["test"]
first = rows[0]["pictures"]
said = {"feature": type(rows.features["pictures"].feature).__name__, "sizes": [one.size for one in first],
        "n": [len(row["pictures"]) for row in rows]}
red = Pictures.new("RGB", (4, 3), "red")
made = {"question": ["Which colour?", "And now?"], "answer": ["Red", "None"], "photo": [red, None],
        "more": [[red], []]}
features = Features({"question": Value("string"), "answer": Value("string"), "photo": Image(),
                     "more": Sequence(Image())})
DatasetDict({"train": Dataset.from_dict(made, features=features)}).save_to_disk("saved")
Dataset.from_dict(made, features=features).to_parquet("plain/train.parquet")
print(json.dumps(said))
"""


def pictures_in(folder: Path) -> list[Any]:
    found: list[Any] = pq.read_table(folder / "items/test.parquet")["pictures"].to_pylist()
    return found


@pytest.mark.slow
def test_datasets_sees_pictures_of_pages_and_its_own_images_come_in(place: Place, tmp_path: Path) -> None:  # noqa: F811
    rows = [
        {"id": "a", "question": "Q?", "answer": "A", "documents": ["d.pdf", "p.png"],
         "evidence": [{"document": "d.pdf", "pages": [1]}, {"kind": "figure", "document": "p.png", "pages": [1]}]},
        {"id": "b", "question": "R?", "answer": "B", "evidence": [{"document": "gone.pdf", "pages": [1]}]},
    ]  # fmt: skip
    source = tmp_path / "in"
    (source / "documents").mkdir(parents=True)
    (source / "items.jsonl").write_text("\n".join(map(json.dumps, rows)))
    write_pdf(source / "documents" / "d.pdf")
    Image.new("RGB", (30, 20), "blue").save(source / "documents" / "p.png")
    done = convert_files([source], into="huggingface", output=tmp_path / "hub", options=SAID, pictures=True)
    assert done.lost == []
    assert any("1 page that items point at have no picture" in note for note in done.notes)
    place.take(source)
    export_project(
        place.db, place.actor, place.project, to=tmp_path / "out", formats=["huggingface"], options=SAID,
        data_folder=place.home, pictures=True,
    )  # fmt: skip
    exported = tmp_path / "out" / "huggingface"
    assert pictures_in(exported) == pictures_in(tmp_path / "hub")
    said = said_by(OF_IMAGES, exported, folder=tmp_path)
    assert said["feature"] == "Image"
    assert said["n"] == [2, 0]
    assert said["sizes"][1] == [30, 20]
    assert said["sizes"][0][0] == 1_200
    for folder in ("saved", "plain"):
        with open_sources([tmp_path / folder]) as sources:
            reading = FORMATS.get("huggingface").read(sources)
            documents = [row for row in reading.documents() if isinstance(row, ParsedDocument)]
            first, second = (row.item for row in reading.items() if isinstance(row, ParsedItem))
        assert (first.question, first.answer, len(documents)) == ("Which colour?", "Red", 1)
        assert [(unit.kind, unit.document) for unit in first.evidence] == [("figure", documents[0].key)] * 2
        assert second.evidence == ()


ARGILLA = """
import json, sys
from pathlib import Path
from unittest.mock import MagicMock
import argilla as rg
from argilla.records._io import JsonIO

rg.Argilla._get_default = classmethod(lambda cls: MagicMock())  # the SDK asks for a server before it reads a file
found = {}
for folder in sorted(path.parent for path in Path(sys.argv[1]).glob("*/settings.json")):
    settings = rg.Settings.from_json(folder / "settings.json")
    records = JsonIO._records_from_json(folder / "records.json")
    names = {question.name for question in settings.questions}
    shown = {field.name for field in settings.fields}
    assert all({response.question_name for response in record.responses} <= names for record in records)
    assert all(set(record.fields.to_dict()) <= shown for record in records)
    kinds = {question.name: type(question).__name__ for question in settings.questions}
    found[folder.name] = {"records": len(records), "kinds": kinds, "responses": sum(len(r.responses) for r in records)}
print(json.dumps(found))
"""


@pytest.mark.slow
def test_argilla_reads_settings_and_records(sqlite_database: Database, tmp_path: Path) -> None:
    made = labelled_study(sqlite_database, items=6)
    to = tmp_path / "out"
    export_project(
        sqlite_database, made.researcher, made.project_id, to=to, study_id=made.study_id, formats=["argilla", "labels"]
    )
    said = said_by(ARGILLA, to / "argilla", folder=tmp_path)["item"]
    assert said["records"] == 6
    assert said["responses"] == (to / "labels.csv").read_text().count("\n") - 1
    assert said["kinds"] == {
        "right": "LabelQuestion", "clarity": "RatingQuestion", "problems": "MultiLabelQuestion",
        "share": "TextQuestion", "words": "TextQuestion", "ranking": "TextQuestion",
    }  # fmt: skip


@pytest.mark.slow
def test_argilla_reads_pairs(place: Place, tmp_path: Path) -> None:  # noqa: F811
    study = study_of_pairs(place, tmp_path / "in")
    to = tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=to, study_id=study.id, formats=["argilla"])
    said = said_by(ARGILLA, to / "argilla", folder=tmp_path)["pair"]
    assert (said["records"], said["responses"]) == (6, 50)
    assert said["kinds"] == {
        "better": "LabelQuestion", "overall": "LabelQuestion", "by": "TextQuestion", "same": "LabelQuestion",
        "why": "TextQuestion",
    }  # fmt: skip


MEASURE = """
import json, sys
import ir_measures
from ir_measures import P, nDCG
qrels = list(ir_measures.read_trec_qrels(sys.argv[1]))
run = [ir_measures.ScoredDoc(q.query_id, q.doc_id, float(q.relevance)) for q in qrels]
print(json.dumps({"n": len(qrels), "ndcg": ir_measures.calc_aggregate([nDCG @ 5], qrels, run)[nDCG @ 5]}))
"""


@pytest.mark.slow
def test_ir_measures_reads_judgements(tmp_path: Path, shared_data: Path) -> None:
    done = convert_files(
        [shared_data / "mmlongbench"], into="qrels", output=tmp_path / "out", format_name="mmlongbench"
    )
    said = said_by(MEASURE, tmp_path / "out" / "qrels.trec", folder=tmp_path)
    assert said["n"] > done.items > 30
    assert said["ndcg"] == 1


# Samples of evaluation tools ------------------------------------------------------------------------------------------

RAGAS = ("ragas==0.4.3", "langchain-community<0.4")
DEEPEVAL = ("deepeval==4.3.1",)
TRULENS = ("trulens-core==2.16.0",)


@pytest.fixture
def samples(sqlite_database: Database, tmp_path: Path) -> Path:
    """A study in the three formats, each sample with the final labels of its item."""
    made = labelled_study(sqlite_database, items=6)
    export_project(
        sqlite_database, made.researcher, made.project_id, to=tmp_path / "out", study_id=made.study_id,
        formats=["ragas", "deepeval", "trulens"],
    )  # fmt: skip
    return tmp_path / "out"


def items(name: str, path: Path) -> list[ItemContent]:
    """The items of a file that this format recognises, none of which is bad."""
    with open_sources([path]) as sources:
        assert recognise(sources).name == name
        rows = list(FORMATS.get(name).read(sources).items())
    return [row.item for row in rows if isinstance(row, ParsedItem)]


OF_RAGAS = """
import json, sys
from ragas.dataset_schema import EvaluationDataset
found = [EvaluationDataset.from_jsonl(path) for path in sys.argv[1:]]
again = EvaluationDataset(samples=found[1].samples)
again.to_jsonl("again.jsonl")
again.to_csv("again.csv")
again.to_pandas().assign(faithfulness=0.5).to_csv("results.csv")  # as the results of an evaluation are saved
print(json.dumps([[sample.model_dump(exclude_none=True) for sample in one.samples] for one in found]))
"""


@pytest.mark.slow
def test_ragas_reads_samples(samples: Path, tmp_path: Path, shared_data: Path) -> None:
    answers = sorted((shared_data / "fathoms" / "results").rglob("*.json"))[0]
    done = convert_files([answers], into="ragas", output=tmp_path / "real")
    ours, real = said_by(
        OF_RAGAS, samples / "ragas" / "samples.jsonl", tmp_path / "real" / "samples.jsonl",
        folder=tmp_path, of=environment_python("ragas", RAGAS),
    )  # fmt: skip
    assert [one["user_input"] for one in ours] == [f"Question of i{n:05}?" for n in range(1, 7)]
    assert len(real) == done.items > 5
    assert all(one["response"] for one in real)
    again = items("ragas", tmp_path / "again.jsonl")
    assert len(again) == len(real)
    assert items("ragas", tmp_path / "again.csv") == again
    results = items("ragas", tmp_path / "results.csv")
    assert [(one.question, one.answer, one.evidence) for one in results] == [
        (one.question, one.answer, one.evidence) for one in again
    ]
    assert {(one.scores[0].name, one.scores[0].value) for one in results} == {("faithfulness", 0.5)}


OF_DEEPEVAL = """
import json, sys
from deepeval.dataset import EvaluationDataset
cases, goldens = EvaluationDataset(), EvaluationDataset()
cases.add_test_cases_from_json_file(sys.argv[1], "input", "actual_output", "expected_output", "context",
                                    "retrieval_context")
goldens.add_goldens_from_json_file(sys.argv[1])
goldens.save_as("csv", ".", file_name="goldens")
goldens.save_as("json", ".", file_name="goldens")
print(json.dumps({
    "cases": [[one.input, one.actual_output, one.retrieval_context] for one in cases.test_cases],
    "goldens": [[one.input, one.expected_output] for one in goldens.goldens],
}))
"""


@pytest.mark.slow
def test_deepeval_reads_test_cases_and_goldens(samples: Path, tmp_path: Path, shared_data: Path) -> None:
    of = environment_python("deepeval", DEEPEVAL)
    said = said_by(OF_DEEPEVAL, samples / "deepeval" / "test_cases.json", folder=tmp_path, of=of)
    assert [one[:2] for one in said["cases"]] == [[f"Question of i{n:05}?", f"Answer of i{n:05}."] for n in range(1, 7)]
    answers = shared_data / "ragchecker" / "checking_inputs.json"
    done = convert_files([answers], into="deepeval", output=tmp_path / "real")
    said = said_by(OF_DEEPEVAL, tmp_path / "real" / "test_cases.json", folder=tmp_path, of=of)
    assert len(said["cases"]) == len(said["goldens"]) == done.items
    assert all(contexts for _, _, contexts in said["cases"])
    assert all(expected for _, expected in said["goldens"])
    saved, table = (items("deepeval", tmp_path / f"goldens.{ending}") for ending in ("json", "csv"))
    assert len(table) == len(saved) == done.items
    for one, other in zip(table, saved, strict=True):
        assert (one.question, one.references, one.answer) == (other.question, other.references, other.answer)
        between = [unit.text or "" for unit in other.evidence]
        assert [unit.text for unit in one.evidence] == [part for text in between for part in text.split("|")]


OF_TRULENS = """
import json, sys
from trulens.core.schema.record import Record
found = []
for line in open(sys.argv[1]):
    row = json.loads(line)
    record = Record(app_id=row["app_name"], record_id=row["record_id"], main_input=row["input"],
                    main_output=row["output"], calls=[])
    found.append([record.record_id, record.main_input, record.main_output])
print(json.dumps(found))
"""


@pytest.mark.slow
def test_trulens_takes_records(samples: Path, tmp_path: Path) -> None:
    said = said_by(
        OF_TRULENS, samples / "trulens" / "records.jsonl", folder=tmp_path, of=environment_python("trulens", TRULENS)
    )
    assert said == [[f"i{n:05}", f"Question of i{n:05}?", f"Answer of i{n:05}."] for n in range(1, 7)]


RAGCHECKER = ("ragchecker==0.1.9",)

OF_RAGCHECKER = """
import json, sys
from ragchecker.container import RAGResults
found = RAGResults.from_json(open(sys.argv[1]).read())
print(json.dumps([[one.query_id, one.query, one.gt_answer, len(one.retrieved_context)] for one in found.results]))
"""


@pytest.mark.nightly  # 1.6 GB with torch, and 20 s of a processor until its package is imported
def test_ragchecker_reads_what_was_checked(tmp_path: Path, shared_data: Path) -> None:
    source = shared_data / "ragchecker" / "checking_outputs.json"
    convert_files([source], into="ragchecker", output=tmp_path / "out")
    of = environment_python("ragchecker", RAGCHECKER, torch=True)
    said = said_by(OF_RAGCHECKER, tmp_path / "out" / "checking.json", folder=tmp_path, of=of)
    rows = json.loads(source.read_text())["results"]
    assert said == [[row["query_id"], row["query"], row["gt_answer"], len(row["retrieved_context"])] for row in rows]
