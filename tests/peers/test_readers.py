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

READERS = ("datasets==5.2.0", "pillow")


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
