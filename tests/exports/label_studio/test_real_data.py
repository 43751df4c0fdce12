"""Real documents in a real Label Studio: pages as pictures, labels back after either side was started again."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.pages.documents.renderer import Renderer
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.elsewhere.handed_over import items_elsewhere
from db.engine import Database
from db.judging.pictures import StoredPictures
from db.models import StoredLabel
from db.query import pick
from exports.importing.items import import_paths
from exports.label_studio.addresses import server_address
from exports.label_studio.labelling import labelling_of
from exports.label_studio.pull import pull_from_server
from exports.label_studio.push import push_to_server
from exports.label_studio.server import Server
from exports.label_studio.tasks import results_of
from tests.databases import put_database
from tests.exports.label_studio.running import EMAIL, KEY, lend_sdk, start
from tests.makers import first_administrator, make_member, make_person, make_project

pytestmark = pytest.mark.nightly


def test_pages_of_real_papers_are_labelled_there_though_both_sides_are_restarted(
    tmp_path: Path, shared_data: Path
) -> None:
    put_database(tmp_path / "assay.db")
    address, documents = f"sqlite:///{tmp_path / 'assay.db'}", tmp_path / "documents"
    db = Database(address)
    admin = first_administrator(db)
    project = make_project(db, "papers")
    report = import_paths(db, admin, project, paths=[shared_data / "mmlongbench"], data_folder=documents)
    assert (report.rejected, report.supplied) == ([], 7)
    make_member(db, project, make_person(db, "ada"), "annotator")
    protocol = PROTOCOLS.get("grounding")
    design = StudyDesign(name="pages", annotators=("ada",), overlap=1, sample=4, seed=2)
    study = create_study(db, admin, project, protocol=protocol, design=design).study_id

    (tmp_path / "there").mkdir()
    there = start(tmp_path / "there")
    lend_sdk(there.python)
    with Renderer(workers=1) as renderer:
        done = push_to_server(
            db, admin, study, server=Server(server_address(there.url, private=True), KEY), leaves=False,
            pictures=StoredPictures(db, documents, renderer, most=0, width=400),
        )  # fmt: skip
    assert (done.created, done.pictures > 0) == (4, True)
    db.dispose()  # our side ends, and begins anew on what it kept

    db, labelling = Database(address), labelling_of(protocol)
    given = 0
    try:
        for n, item in enumerate(items_elsewhere(db, admin, study)):
            if n == 2:  # theirs, in mid-way
                there.stop()
                there = start(there.folder)
            server = Server(server_address(there.url, private=True), KEY)
            [task] = [task for task in server.tasks(done.project or 0) if task["data"]["assay_item"] == item.token]
            units = [unit["key"] for unit in item.materials[0]["evidence"]]
            labels = [GivenLabel("grounding", f"evidence:{key}", "required") for key in units]
            result = results_of(labelling, task["data"], labels, item.materials)
            sent = {"result": result, "lead_time": 3.5, "completed_by": there.person(EMAIL)}
            there.json("POST", f"/api/tasks/{task['id']}/annotations/", json=sent)
            given += len(labels)
        server = Server(server_address(there.url, private=True), KEY)
        pulled = pull_from_server(db, admin, study, server=server, people={EMAIL: "ada"})
        again = pull_from_server(db, admin, study, server=server, people={EMAIL: "ada"})
    finally:
        there.stop()
    assert (pulled.to_json()["new"], again.to_json()["new"], again.to_json()["unchanged"]) == (4, 0, 4)
    with db.read() as session:
        stored = session.execute(pick(StoredLabel.value)).scalars().all()
    assert stored == ["required"] * given
    assert given > 4
    db.dispose()
