"""What annotators of another tool are asked about: all that ours are, and nothing that tells them the answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from exports.bundles.bundle import export_project
from tests.exports.formats.places import Place
from tests.exports.sources import write_pdf
from tests.makers import make_member, make_person


@pytest.mark.parametrize(("name", "file"), [("argilla", "page/records.json"), ("potato", "page/data.json")])
def test_all_pages_of_a_document_are_asked_about_and_not_those_of_evidence_alone(
    place: Place, tmp_path: Path, name: str, file: str
) -> None:
    row = {
        "id": "a", "question": "Q?", "answer": "A", "documents": ["d.pdf", "gone.pdf"],
        "evidence": [{"role": "gold", "kind": "page", "document": "d.pdf", "pages": [2]}],
    }  # fmt: skip
    source = tmp_path / "in"
    (source / "documents").mkdir(parents=True)
    (source / "items.jsonl").write_bytes(orjson.dumps(row))
    write_pdf(source / "documents" / "d.pdf", pages=3)
    place.take(source)
    ada = make_person(place.db, "ada")
    make_member(place.db, place.project, ada, "annotator")
    design = StudyDesign(name="pages", annotators=("ada",), overlap=1)
    protocol = PROTOCOLS.get("evidence_pages")
    study_id = create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id
    about: dict[str, Any] = {"study_id": study_id, "formats": [name], "data_folder": place.home}
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", **about)
    tasks = orjson.loads((tmp_path / "out" / name / file).read_bytes())
    pages = [re.findall(r"page:d\.pdf:(\d)", orjson.dumps(task).decode())[0] for task in tasks]
    assert pages == ["1", "2", "3"]
