"""What annotators of another tool are asked about: all that ours are, and nothing that tells them the answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.designing.design import StudyDesign
from annotators.items.parsed import ForeignLabel
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.studies.labels import import_labels
from exports.bundles.bundle import export_project
from exports.formats import FORMATS
from exports.formats.base import labels_of
from exports.reading.sources import open_sources
from tests.exports.formats.places import Place
from tests.exports.sources import write_pdf
from tests.makers import make_member, make_person


def study_of_pages(place: Place, folder: Path, row: dict[str, Any], pages: int, annotator: str) -> int:
    """A study of the pages of an item's document `d.pdf`."""
    (folder / "documents").mkdir(parents=True)
    (folder / "items.jsonl").write_bytes(orjson.dumps(row))
    write_pdf(folder / "documents" / "d.pdf", pages=pages)
    place.take(folder)
    design = StudyDesign(name="pages", annotators=(annotator,), overlap=1)
    protocol = PROTOCOLS.get("evidence_pages")
    return create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id


@pytest.mark.parametrize(("name", "file"), [("argilla", "page/records.json"), ("potato", "page/data.json")])
def test_all_pages_of_a_document_are_asked_about_and_not_those_of_evidence_alone(
    place: Place, tmp_path: Path, name: str, file: str
) -> None:
    row = {
        "id": "a", "question": "Q?", "answer": "A", "documents": ["d.pdf", "gone.pdf"],
        "evidence": [{"role": "gold", "kind": "page", "document": "d.pdf", "pages": [2]}],
    }  # fmt: skip
    make_member(place.db, place.project, make_person(place.db, "ada"), "annotator")
    study_id = study_of_pages(place, tmp_path / "in", row, 3, "ada")
    about: dict[str, Any] = {"study_id": study_id, "formats": [name], "data_folder": place.home}
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", **about)
    tasks = orjson.loads((tmp_path / "out" / name / file).read_bytes())
    pages = [re.findall(r"page:d\.pdf:(\d)", orjson.dumps(task).decode())[0] for task in tasks]
    assert pages == ["1", "2", "3"]


@pytest.mark.parametrize(("name", "file"), [("argilla", "page/records.json"), ("potato", "page/data.json")])
def test_steps_are_called_by_number_and_come_back_by_their_keys(
    place: Place, tmp_path: Path, name: str, file: str
) -> None:
    row = {
        "id": "a", "question": "Q?", "answer": "A", "documents": ["d.pdf"],
        "hops": [{"key": "needless", "question": "Which pier?"}, {"key": "H1"}],
    }  # fmt: skip
    study_id = study_of_pages(place, tmp_path / "in", row, 2, place.actor.name)
    [criterion] = PROTOCOLS.get("evidence_pages").criteria
    yes, no = (label.value for label in criterion.label_list())
    said = [("page:d.pdf:1|hop:needless", yes), ("page:d.pdf:2|hop:needless", no),
            ("page:d.pdf:1|hop:H1", no), ("page:d.pdf:2|hop:H1", yes)]  # fmt: skip
    rows = [
        ForeignLabel(line, "a", "ada", criterion.name, target, str(value))
        for line, (target, value) in enumerate(said, 2)
    ]
    import_labels(place.db, place.actor, study_id, rows=rows, source="t.csv")
    to = tmp_path / "out"
    export_project(
        place.db, place.actor, place.project, to=to, study_id=study_id, formats=[name], data_folder=place.home
    )
    handed_on = [path for path in (to / name).rglob("*") if path.is_file() and "key" not in path.parts]
    assert not any(b"needless" in path.read_bytes() for path in handed_on)
    tasks = orjson.loads((to / name / file).read_bytes())
    units = [(task["fields"] if name == "argilla" else task)["unit"] for task in tasks]
    assert units == [f"d.pdf, page {page} | {step}" for step in ("Which pier?", "H2") for page in (1, 2)]
    assert [re.findall(r"hop:(\w+)", orjson.dumps(task).decode())[0] for task in tasks] == ["H1", "H1", "H2", "H2"]
    with open_sources([to / name]) as sources:
        labels = list(labels_of(FORMATS.get(name).read(sources)))
    assert sorted((label.target, label.value) for label in labels) == sorted(said)
