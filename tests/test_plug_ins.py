"""A package of one's own, installed: what it adds is found through its entry points, and used like any other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.databases import put_database

PACKAGE = ROOT / "tests" / "plug_in"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example package installed, as pip installs it; its entry points are found on the path."""
    folder = tmp_path_factory.mktemp("plug-in")
    source = shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
               "--disable-pip-version-check", "--target", str(folder / "site"), str(source)]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def run(environment: Path, *command: str, code: int = 0) -> str:
    """What a Python prints in which the package is installed."""
    path = os.pathsep.join([str(environment), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *command], env={**os.environ, "PYTHONPATH": path}, cwd=ROOT, check=False, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr if code else done.stdout


@pytest.mark.slow
def test_what_a_package_adds_is_found_and_used(environment: Path, tmp_path: Path) -> None:
    put_database(tmp_path / "assay.db")
    (tmp_path / "two.qa").write_text("Q: Why?\nA: because\nQ: When?\nA: NOW\n")

    def call(*arguments: str) -> Any:
        return json.loads(run(environment, "-m", "app.cli", "--home", str(tmp_path), *arguments, "--json"))

    assert "qa_lines" in [one["format"] for one in call("formats")]
    assert "politeness" in str(call("protocols"))
    assert "plain_judge" in str(call("prompts"))
    call("init")
    call("project", "create", "p")
    assert call("import", "p", str(tmp_path / "two.qa"))["added"] == 2
    scored = call("score", "p", "--scorer", "calmness")
    assert (scored["n_scored"], scored["mean"]) == (2, 0.5)
    counted = run(environment, "-c", _COUNT, str(tmp_path))
    assert json.loads(counted) == {"items": 2}


_COUNT = """
import json, sys
from app.settings import Settings
from app.worker.jobs import carry_out, queue, worker_name
from app.worker.kinds.base import KINDS
from db.engine import Database
from db.jobs import WorkerDesk
from db.people.accounts import local_administrator
from db.projects import find_project
db = Database(f"sqlite:///{sys.argv[1]}/assay.db")
actor = local_administrator(db)
kind = KINDS.get("count items")
job = queue(db, actor, find_project(db, actor, "p").project_id, kind, kind.read({}))
desk = WorkerDesk(db, worker_name())
from pathlib import Path
print(json.dumps(carry_out(db, desk, desk.take(job.job_id), settings=Settings.load({}, home=Path(sys.argv[1])))))
"""


@pytest.mark.slow
def test_a_package_that_cannot_be_loaded_is_named(environment: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(environment, tmp_path / "site")
    (broken / "assay_example" / "formats.py").write_text("import nothing_of_that_name\n")
    said = run(broken, "-m", "app.cli", "--home", str(tmp_path), "formats", code=2)
    assert "assay-example 1.0 (assay_example.formats) cannot be loaded" in said
    assert "nothing_of_that_name" in said
    assert "Traceback" not in said
