"""The server draws what somebody is about to open before they do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.projects import create_project
from exports.importing.items import import_paths
from exports.sample import write_sample
from tests.servers import running_server


@pytest.mark.slow
def test_the_first_pages_of_a_new_study_are_there_before_anybody_asks(tmp_path: Path) -> None:
    write_sample(tmp_path / "items")
    with running_server(tmp_path / "home") as server:
        server.person("ada", default_role="annotator")
        project_id = create_project(server.db, server.admin, "sample")
        documents = server.home / "data" / "documents"
        import_paths(server.db, server.admin, project_id, paths=[tmp_path / "items"], data_folder=documents)
        design = StudyDesign(name="first", annotators=("ada",), overlap=1)
        create_study(server.db, server.admin, project_id, protocol=PROTOCOLS.get("qa_verification"), design=design)
        pictures = server.home / "data" / "pages"
        until = time.monotonic() + 60
        while not list(pictures.glob("*/*/*-1200")) and time.monotonic() < until:
            time.sleep(0.2)
        assert list(pictures.glob("*/*/*-1200"))
        assert server.log.read_text() == ""
