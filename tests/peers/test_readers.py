"""What we write the programs that it is for read, each in an environment of its own, with nothing of ours."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from db.engine import Database
from exports.bundles.bundle import export_project
from exports.converting import convert_files
from tests.environments import environment_python
from tests.exports.formats.places import Place
from tests.exports.formats.test_writing import SAID
from tests.exports.labelled import labelled_study

READERS = ("datasets==5.2.0", "pillow", "argilla==2.8.0", "requests", "ir_measures")


@cache
def python() -> Path:
    return environment_python("readers", READERS)


def said_by(program: str, *arguments: object, folder: Path) -> Any:
    """What a program of the environment prints, as JSON. It has no network and no settings of ours."""
    home = {"HOME": str(folder), "HF_HOME": str(folder / "hub"), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(python()), "-c", program, *map(str, arguments)],
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
    place = Place(sqlite_database, tmp_path / "home")
    assert place.take(tmp_path / "saved").added == 12
    assert convert_files([tmp_path / "saved"], into="native", output=tmp_path / "native").lost == []


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
