"""Potato starts with what we write, shows people their labels, and what they change there comes back."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from sqlmodel import select

from db.models import Study
from exports.bundles.bundle import export_project
from tests.environments import environment_python, program
from tests.exports.formats.conftest import place  # noqa: F401 - a fixture
from tests.exports.formats.places import Place
from tests.exports.formats.test_peers import labels_of, pairs_of, study_of_pairs
from tests.exports.formats.test_potato import marked_study
from tests.waiting import until

RELEASE = "potato-annotation==2.12.1"


@contextmanager
def potato(folder: Path) -> Iterator[httpx.Client]:
    """A server of the project in this folder, and a client of it that knows nobody yet."""
    python = environment_python("potato", [RELEASE])
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(program(python, "potato")), "start", "config.yaml", "-p", str(port)]
    settings = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    with (folder.parent / "potato.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=settings, stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            until(lambda: is_up(process, client, folder.parent / "potato.log"), seconds=60)
            yield client
    finally:
        process.terminate()
        process.wait(30)


def is_up(process: subprocess.Popen[bytes], client: httpx.Client, log: Path) -> bool:
    """Whether the server answers; a failure with its log where it has ended."""
    assert process.poll() is None, log.read_text()[-3000:]
    try:
        client.get("/health")
    except httpx.TransportError:
        return False
    return True


@pytest.mark.slow
def test_potato_starts_with_a_study_and_its_labels_come_back(
    place: Place,  # noqa: F811
    tmp_path: Path,
) -> None:
    study = marked_study(place, tmp_path / "in")
    out = tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=out, study_id=study, formats=["potato"], names=True)
    folder = shutil.copytree(out / "potato" / "item", tmp_path / "running" / "item")
    first, second = (record["id"] for record in orjson.loads((folder / "data.json").read_bytes()))
    with potato(folder) as client:
        assert client.post("/auth", data={"email": "ada", "pass": ""}).status_code == 302
        said = client.get("/get_annotations", params={"instance_id": first}).json()
        assert said["label_values"] == {"why": {"old": "old"}}
        [span] = client.get(f"/api/spans/{first}").json()["spans"]
        assert (span["start"], span["end"], span["label"], span["text"]) == (17, 21, "fact", "1843")
        client.get("/logout")
        assert client.post("/auth", data={"email": "ben", "pass": ""}).status_code == 302
        page = client.get("/annotate", follow_redirects=True).text
        assert "Question 1?" in page
        assert "What is wrong?" in page
        change: dict[str, Any] = {
            "instance_id": second,
            "annotations": {"why:::vague": "vague"},
            "span_annotations": [{"schema": "wrong", "name": "name", "start": 0, "end": 3, "target_field": "answer",
                                  "value": "1"}],
        }  # fmt: skip
        assert client.post("/updateinstance", json=change).json()["status"] == "success"
    shutil.copytree(folder, out / "potato" / "item", dirs_exist_ok=True)
    again = Place(place.db, tmp_path / "again")
    report = again.take(out / "potato", labels_into="again")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    with place.db.read() as session:
        before, after = (labels_of(session, one) for one in session.execute(select(Study).order_by(Study.id)).scalars())
    added = sorted(set(after) - set(before))
    assert set(before) <= set(after)
    assert added == [
        ("q2:secret-system", "why", "['vague']"),
        ("q2:secret-system", "wrong", "[{'start': 0, 'end': 3, 'label': 'name', 'text': 'Ada'}]"),
    ]


@pytest.mark.slow
def test_potato_shows_pairs_side_by_side_with_their_labels(place: Place, tmp_path: Path) -> None:  # noqa: F811
    study = study_of_pairs(place, tmp_path / "in")
    out = tmp_path / "out"
    export_project(place.db, place.actor, place.project, to=out, study_id=study.id, formats=["potato"], names=True)
    folder = shutil.copytree(out / "potato" / "pair", tmp_path / "running" / "pair")
    records = orjson.loads((folder / "data.json").read_bytes())
    with potato(folder) as client:
        assert client.post("/auth", data={"email": "ada", "pass": ""}).status_code == 302
        page = client.get("/annotate", follow_redirects=True).text
        assert page.count('class="pairwise-cell"') == 2
        assert page.index(records[0]["answers"][0]) < page.index(records[0]["answers"][1])
        said = client.get("/get_annotations", params={"instance_id": records[0]["id"]}).json()["label_values"]
        assert set(said) == {"better", "overall", "by", "same", "why"}
        change = {
            "instance_id": records[5]["id"],
            "annotations": {"better:::selection": "B", "overall:::scale_value": "-1"},
            "span_annotations": [],
        }
        assert client.post("/updateinstance", json=change).json()["status"] == "success"
    shutil.copytree(folder, out / "potato" / "pair", dirs_exist_ok=True)
    report = Place(place.db, tmp_path / "again").take(out / "potato", labels_into="again")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    with place.db.read() as session:
        before, after = (pairs_of(session, one) for one in session.execute(select(Study).order_by(Study.id)).scalars())
    assert set(before) <= set(after)
    left_is_first = records[5]["answers"][0].startswith("Answer")
    added = sorted((name, value) for *_, name, value in set(after) - set(before))
    assert added == [("better", "1" if left_is_first else "-1"), ("overall", "-1" if left_is_first else "1")]
