"""What is named by its name or id is looked for in one's own project: nothing of another is found, told or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func
from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.errors import AssayError, InvalidInput, NotFound
from annotators.judges.prompts import Prompt
from annotators.protocols import PROTOCOLS
from db.annotating.previews import preview
from db.designing.making import create_study, plan_study
from db.engine import Database
from db.judging.library import add_prompt, list_prompts, named_prompt
from db.models import Table
from db.people.unsaved import keep_unsaved, my_unsaved
from db.permissions import Actor
from db.scores.write import run_scorer
from db.studies.library import add_protocol, list_protocols, named_protocol
from db.studies.revisions import plan_revision, revise_item
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from tests.exports.formats.places import write_json
from tests.makers import StudyInUse, make_item, make_member, make_person, make_project, tiny_protocol

SECRETS = ("theirs_protocol", "theirs_prompt", "Theirs, untold", "theirs-77")
"""What only the other project has: a protocol, a prompt, a study, an item."""


@dataclass(frozen=True)
class Two:
    """A researcher of one project, who tries the names of another's things in it; both by their ids."""

    db: Database
    actor: Actor
    own: int
    other: int
    other_study: int
    folder: Path


@pytest.fixture
def two(sqlite_database: Database, tmp_path: Path) -> Iterator[Two]:
    db = sqlite_database
    theirs = StudyInUse(db, items=1, annotators=1, overlap=1)
    add_protocol(db, theirs.researcher, theirs.project_id, protocol=tiny_protocol(name=SECRETS[0], title="Tone"))
    prompt = Prompt(name=SECRETS[1], title="P", protocol="ambiguity", criteria={"ambiguity": "Mind the year."})
    add_prompt(db, theirs.researcher, theirs.project_id, prompt=prompt)
    make_item(db, theirs.project_id, SECRETS[3])
    design = StudyDesign(name=SECRETS[2], annotators=(theirs.annotators[0].name,), overlap=1)
    protocol = PROTOCOLS.get("ambiguity")
    made = create_study(db, theirs.researcher, theirs.project_id, protocol=protocol, design=design)
    keep_unsaved(db, theirs.researcher, theirs.project_id, page="protocols", name="new", text="name: half_done")
    own = make_project(db)
    actor = make_person(db)
    make_member(db, own, actor, "researcher")
    make_item(db, own, "mine-1")
    yield Two(db, actor, own, theirs.project_id, made.study_id, tmp_path)


def rows_of(db: Database) -> dict[str, int]:
    with db.read() as session:
        return {
            name: session.exec(select(func.count()).select_from(table)).one()
            for name, table in Table.metadata.tables.items()
        }


def pairs(folder: Path) -> Path:
    """A file with a rating of a pair."""
    labels = dict.fromkeys(("correctness_label", "completeness_label", "overall_label"), 1)
    sides = {f"model{n}": {"model_name": name, "response": "So."} for n, name in enumerate(("alpha", "beta"), 1)}
    return write_json(
        folder / "human.json", [{"dataset": "d", "query_id": "1", "query": "Q?", "gt_answer": "A.", **sides, **labels}]
    )


def table(folder: Path) -> Path:
    path = folder / "labels.csv"
    path.write_text("item,annotator,criterion,value\nmine-1,ann,right,yes\n")
    return path


TRIES: dict[str, Callable[[Two], Any]] = {
    "protocol": lambda two: named_protocol(two.db, two.actor, two.own, name=SECRETS[0]),
    "version": lambda two: named_protocol(two.db, two.actor, two.own, name=f"{SECRETS[0]}@1"),
    "prompt": lambda two: named_prompt(two.db, two.actor, two.own, name=SECRETS[1]),
    "preview": lambda two: preview(
        two.db, two.actor, two.own, protocol=PROTOCOLS.get("ambiguity"), external_id=SECRETS[3]
    ),
    "items": lambda two: plan_study(
        two.db, two.actor, two.own, protocol=PROTOCOLS.get("ambiguity"),
        design=StudyDesign(name="n", annotators=(two.actor.name,), overlap=1, items=(SECRETS[3],)),
    ),
    "labels of": lambda two: run_scorer(
        two.db, two.actor, two.own, scorer="ragchecker", labels_of=(SECRETS[2],)
    ),
    "labels table": lambda two: import_label_table(
        two.db, two.actor, two.own, study=SECRETS[2], path=table(two.folder)
    ),
    "export of": lambda two: export_project(
        two.db, two.actor, two.own, to=two.folder / "a", formats=("unidoc",), labels_of=(SECRETS[2],)
    ),
    "export": lambda two: export_project(two.db, two.actor, two.own, to=two.folder / "b", study_id=two.other_study),
    "plan": lambda two: plan_revision(
        two.db, two.actor, two.own, external_id=SECRETS[3], fields={"question": "Mine?"}
    ),
    "revise": lambda two: revise_item(
        two.db, two.actor, two.own, external_id=SECRETS[3], fields={"question": "Mine?"}, reason="It is mine now."
    ),
    "unsaved": lambda two: my_unsaved(two.db, two.actor, two.other, page="protocols"),
    "keep": lambda two: keep_unsaved(two.db, two.actor, two.other, page="protocols", name="new", text="mine"),
    "add": lambda two: add_protocol(two.db, two.actor, two.other, protocol=tiny_protocol(name="mine")),
}  # fmt: skip


@pytest.mark.parametrize("name", TRIES)
def test_what_another_project_has_is_neither_found_nor_told_nor_changed(two: Two, name: str) -> None:
    before = rows_of(two.db)
    with pytest.raises(AssayError) as refused:
        TRIES[name](two)
    assert isinstance(refused.value, NotFound | InvalidInput)
    known = str(refused.value).split("Known:")[-1] if "Known:" in str(refused.value) else ""
    assert not [secret for secret in SECRETS if secret in known], refused.value
    assert rows_of(two.db) == before


def test_lists_have_what_is_of_the_project_and_the_person_alone(two: Two) -> None:
    assert [*list_protocols(two.db, two.actor, two.own), *list_prompts(two.db, two.actor, two.own)] == []
    keep_unsaved(two.db, two.actor, two.own, page="protocols", name="new", text="mine")
    other = make_person(two.db)
    make_member(two.db, two.own, other, "researcher")
    assert my_unsaved(two.db, other, two.own, page="protocols") == []
    assert [row.text for row in my_unsaved(two.db, two.actor, two.own, page="protocols")] == ["mine"]


def test_labels_of_a_file_go_into_a_study_of_ones_own_whatever_others_call_theirs(two: Two) -> None:
    report = import_paths(
        two.db, two.actor, two.own, paths=[pairs(two.folder)], data_folder=two.folder, labels_into=SECRETS[2]
    )
    assert report.labels.n == 3
    with two.db.read() as session:
        studies = Table.metadata.tables["study"]
        found = session.execute(select(studies.c.project_id, studies.c.name).where(studies.c.name == SECRETS[2])).all()
    assert sorted(found) == sorted([(two.own, SECRETS[2]), (two.other, SECRETS[2])])
