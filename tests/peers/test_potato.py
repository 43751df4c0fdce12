"""Potato starts with what we write, shows people their labels, and what they change there comes back."""

from __future__ import annotations

import os
import re
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
import yaml
from PIL import Image
from playwright.sync_api import sync_playwright
from sqlmodel import select

from db.models import Study
from exports.bundles.bundle import export_project
from exports.formats._potato_media import tuples_of
from tests.e2e.conftest import FLAGS, find_chromium
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


def running(place: Place, study: int, folder: Path, kind: str) -> Path:  # noqa: F811
    """The project of Potato for one kind of target of a study that is exported to `out`, as a copy that may change."""
    out = folder / "out"
    export_project(place.db, place.actor, place.project, to=out, study_id=study, formats=["potato"], names=True)
    return shutil.copytree(out / "potato" / kind, folder / "running" / kind)


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
    folder = running(place, marked_study(place, tmp_path / "in"), tmp_path, "item")
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
    shutil.copytree(folder, tmp_path / "out" / "potato" / "item", dirs_exist_ok=True)
    again = Place(place.db, tmp_path / "again")
    report = again.take(tmp_path / "out" / "potato", labels_into="again")
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
def test_a_set_without_any_label_is_asked_for_and_given_in_potatos_own_page(
    place: Place,  # noqa: F811
    tmp_path: Path,
) -> None:
    folder = running(place, marked_study(place, tmp_path / "in"), tmp_path, "item")
    chromium = find_chromium() or pytest.skip("no Chromium is installed")
    with potato(folder) as client, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(str(client.base_url))
        page.fill("input[name=email]", "ben")
        page.locator("button[type=submit], input[type=submit]").first.click()
        page.get_by_text("Question 1?").wait_for()
        none = page.locator("input[name='why:::(none of these)']")
        assert none.is_checked()
        page.click("#next-btn")
        page.get_by_text("Question 2?").wait_for()
        page.click("#next-btn")
        page.get_by_text("Required annotation(s) not completed: why").wait_for()
        none.check()
        page.click("#next-btn")
        page.get_by_text("Your annotations have been saved").wait_for()
        browser.close()
    shutil.copytree(folder, tmp_path / "out" / "potato" / "item", dirs_exist_ok=True)
    report = Place(place.db, tmp_path / "again").take(tmp_path / "out" / "potato", labels_into="again")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    with place.db.read() as session:
        before, after = (labels_of(session, one) for one in session.execute(select(Study).order_by(Study.id)).scalars())
    assert sorted(set(after) - set(before)) == [("q2:secret-system", "why", "[]"), ("q2:secret-system", "wrong", "[]")]


@pytest.mark.slow
def test_potato_shows_pairs_side_by_side_with_their_labels(place: Place, tmp_path: Path) -> None:  # noqa: F811
    folder = running(place, study_of_pairs(place, tmp_path / "in").id, tmp_path, "pair")
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
    shutil.copytree(folder, tmp_path / "out" / "potato" / "pair", dirs_exist_ok=True)
    report = Place(place.db, tmp_path / "again").take(tmp_path / "out" / "potato", labels_into="again")
    assert (report.rejected, report.labels.obstacles) == ([], [])
    with place.db.read() as session:
        before, after = (pairs_of(session, one) for one in session.execute(select(Study).order_by(Study.id)).scalars())
    assert set(before) <= set(after)
    left_is_first = records[5]["answers"][0].startswith("Answer")
    added = sorted((name, value) for *_, name, value in set(after) - set(before))
    assert added == [("better", "1" if left_is_first else "-1"), ("overall", "-1" if left_is_first else "1")]


_DRAWS = """
import json, sys
from potato.bws_tuple_generator import BwsTupleGenerator

for n, settings in json.load(sys.stdin):
    pool = [{"id": f"i{one}", "text": ""} for one in range(n)]
    drawn = BwsTupleGenerator(pool, "id", "text", **settings).generate()
    print(json.dumps([[one["id"], [item["source_id"] for item in one["_bws_items"]]] for one in drawn]))
"""


@pytest.mark.slow
def test_the_tuples_are_those_that_potato_draws() -> None:
    python = environment_python("potato", [RELEASE])
    asked: list[tuple[int, dict[str, int]]] = [
        (4, {}), (7, {"tuple_size": 3, "seed": 1}), (50, {"tuple_size": 5, "num_tuples": 33}), (2, {"tuple_size": 2}),
        (1_000, {"tuple_size": 26, "min_item_appearances": 3}),
    ]  # fmt: skip
    done = subprocess.run([str(python), "-c", _DRAWS], input=orjson.dumps(asked), capture_output=True, check=True)
    for (n, settings), line in zip(asked, done.stdout.splitlines(), strict=True):
        tuples = tuples_of({"bws_config": settings})
        assert tuples is not None
        assert [list(one) for one in tuples.of([f"i{one}" for one in range(n)])] == orjson.loads(line)


@pytest.mark.slow
def test_what_potato_keeps_of_regions_ranges_and_tuples_comes_in(place: Place, tmp_path: Path) -> None:  # noqa: F811
    """Under the names that its own page sends; what it keeps is read from the file that it wrote."""
    folder = tmp_path / "running"
    about = {"task_dir": ".", "output_annotation_dir": "annotation_output/", "data_files": ["d.json"],
             "item_properties": {"id_key": "id", "text_key": "text"}, "user_config": {"allow_all_users": True},
             "site_dir": "default", "require_password": False, "media_directory": "media"}  # fmt: skip
    regions = {"annotation_type": "image_annotation", "name": "what", "description": "What?", "tools": ["bbox"],
               "labels": ["figure", "table"], "source_field": "scan"}  # fmt: skip
    between = {"annotation_type": "range_slider", "name": "years", "description": "When?", "max_value": 99}
    best = {"annotation_type": "bws", "name": "good", "description": "Good?", "tuple_size": 3}
    display = {"fields": [{"key": "scan", "type": "image"}]}
    projects = {
        "regions": {"annotation_schemes": [regions, between], "instance_display": display},
        "tuples": {"annotation_schemes": [best], "bws_config": {"tuple_size": 3, "num_tuples": 4}},
    }
    rows = [{"id": f"q{n}", "text": f"Who is {n}?", "scan": "media/p1.png"} for n in range(1, 5)]
    drawn = [{"type": "bbox", "label": "table", "coordinates": {"x": 0.5, "y": 0.1, "width": 0.2, "height": 0.3}}]
    sent = {
        "regions": {"what:::_data": orjson.dumps(drawn).decode(), "years:::range_low": "3", "years:::range_high": "30"},
        "tuples": {"good:::best": "C", "good:::worst": "A"},
    }
    for name, config in projects.items():
        of = folder / name
        (of / "media").mkdir(parents=True)
        Image.new("RGB", (40, 20), "white").save(of / "media" / "p1.png")
        (of / "config.yaml").write_text(yaml.safe_dump({"annotation_task_name": name, **about, **config}))
        (of / "d.json").write_bytes(orjson.dumps(rows))
        with potato(of) as client:
            client.post("/auth", data={"email": "ada", "pass": ""})
            page = client.get("/annotate", follow_redirects=True).text
            fields = dict(input_names(page))
            assert {(one, fields.get(one)) for one in sent[name]} == {
                (one, "annotation-data-input" if one.endswith("_data") else "annotation-input") for one in sent[name]
            }
            instance = client.get("/api/current_instance").json()["instance_id"]
            change = {"instance_id": instance, "annotations": sent[name], "span_annotations": []}
            assert client.post("/updateinstance", json=change).json()["status"] == "success"
        report = place.take(of, labels_into=name)
        assert (report.rejected, report.labels.obstacles) == ([], [])
    with place.db.read() as session:
        labels = [label for study in session.execute(select(Study)).scalars() for label in labels_of(session, study)]
    assert {(name, value) for _, name, value in labels} == {
        ("what", "['table']"), ("years_low", "3"), ("years_high", "30"), ("good_best", "C"), ("good_worst", "A"),
    }  # fmt: skip


def input_names(page: str) -> Iterator[tuple[str, str]]:
    """The name under which Potato's page sends each of its hidden fields, and the class by which it collects it."""
    for tag in re.findall(r"<input\b[^>]*>", page):
        said = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        for collected in ("annotation-data-input", "annotation-input"):
            if collected in said.get("class", "").split():
                name = said.get("name", "")
                yield (f"{name}:::_data" if collected == "annotation-data-input" else name), collected
