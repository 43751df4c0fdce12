"""A study of items that a test writes itself, about the sample's documents, on a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS, Protocol
from db.designing.making import create_study
from db.projects import create_project
from exports.importing.items import import_paths
from exports.sample import write_sample
from tests.e2e.conftest import NewPage, sign_in
from tests.e2e.scene import ANNOTATORS, Scene, judgement
from tests.makers import read_guidelines
from tests.servers import RunningServer

DOCUMENT = "harrow-bay-2024.pdf"


def unit(number: int, **fields: Any) -> dict[str, Any]:
    """An evidence unit on one of the pages of the sample's report."""
    page = (number - 1) % 4 + 1
    return {
        "key": f"e{number}",
        "kind": "passage",
        "document": DOCUMENT,
        "pages": [page],
        "box": [0.12, 0.1 + 0.06 * (number % 10), 0.88, 0.15 + 0.06 * (number % 10)],
        "text": f"Passage number {number} says what the cooperative did in its year {number}.",
        **fields,
    }


def item(number: int, *, evidence: int = 2, **fields: Any) -> dict[str, Any]:
    """An item with so many evidence units."""
    return {
        "id": f"own-{number:03}",
        "question": f"What did the cooperative decide in its meeting number {number}?",
        "answer": f"In meeting number {number} it decided to renew the converter.",
        "documents": [DOCUMENT],
        "evidence": [unit(number + 1) for number in range(evidence)],
        **fields,
    }


def make_own_scene(
    server: RunningServer,
    folder: Path,
    rows: list[dict[str, Any]],
    *,
    protocol: str | Protocol = "qa_verification",
    overlap: int = 3,
    name: str = "Own",
    guidelines_read: bool = True,
    suggestions: str | None = None,
    keep_lacking: bool = False,
) -> Scene:
    """Import these items and make a study of them; the annotators are there already or are added.

    With `guidelines_read` they have read the guidelines, which otherwise come first. With `keep_lacking` the study has
    items that lack what they are judged by as well.
    """
    known = {person for person in ANNOTATORS if _is_there(server, person)}
    for person in ANNOTATORS:
        if person not in known:
            server.person(person, default_role="annotator")
    project_id = create_project(server.db, server.admin, f"Energy reports, {name}")
    write_sample(folder)
    (folder / "items.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    report = import_paths(
        server.db,
        server.admin,
        project_id,
        paths=[folder],
        format_name="native",
        data_folder=server.home / "data" / "documents",
    ).to_json()
    assert report["rejected"] == []
    assert report["added"] == len(rows)
    design = StudyDesign(
        name=name,
        annotators=ANNOTATORS,
        overlap=overlap,
        order="given",
        suggestions=suggestions,
        keep_lacking=keep_lacking,
    )
    chosen = PROTOCOLS.get(protocol) if isinstance(protocol, str) else protocol
    made = create_study(server.db, server.admin, project_id, protocol=chosen, design=design)
    if guidelines_read:
        read_guidelines(server.db, made.study_id)
    return Scene(server, project_id, made.study_id)


def _is_there(server: RunningServer, name: str) -> bool:
    from db.people.accounts import list_people

    return any(row.name == name for row in list_people(server.db, server.admin))


def open_as(new_page: NewPage, scene: Scene, name: str, **options: Any) -> Page:
    """A page in a browser of its own on which somebody annotates this study."""
    page = new_page(**options)
    sign_in(page, scene.server, name)
    page.goto(scene.address())
    expect(judgement(page)).to_be_visible()
    return page
