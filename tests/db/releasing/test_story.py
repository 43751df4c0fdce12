"""The story of an item: all that happened to it, in the order of time, and nothing that its reader must not know."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from annotators.errors import NotFound
from app.wording import chapter
from db.engine import Database
from db.people.accounts import set_member
from db.permissions import Role
from db.releasing.endings import end_item
from db.releasing.proposals import answer_proposal, list_proposals
from db.releasing.releases import make_release
from db.releasing.story import item_story
from db.studies.revisions import revise_item
from exports.importing.items import import_paths
from tests.db.releasing.test_states import decide, label, two_by
from tests.makers import make_member, make_person


def test_a_story_goes_from_the_first_version_to_the_release(database: Database, tmp_path: Path) -> None:
    study = two_by(database, 1)
    about = (database, study.researcher, study.project_id)
    label(study, "ny")
    decide(study, "i00001", "no")
    revise_item(*about, external_id="i00001", fields={"answer": "Better."}, reason="two asked for it")
    row = {"id": "i00001", "question_key": "q-i00001", "system": "s0", "question": "Which?", "answer": "Better."}
    path = tmp_path / "items.jsonl"
    path.write_bytes(orjson.dumps(row))
    import_paths(*about, paths=[path])
    [proposal] = list_proposals(*about)
    answer_proposal(*about, proposal_id=proposal.proposal_id, accept=False, reason="no")
    end_item(*about, external_id="i00001", state="accepted", reason="read again")
    make_release(*about, name="v1", keep=["no_label"])
    found = item_story(*about, external_id="i00001")
    told = found.to_json()
    assert (told["state"], told["by_hand"], told["releases"], told["studies"]) == (
        "accepted", True, ["v1"], {"study": "in_recheck"},
    )  # fmt: skip
    assert [row["did"] for row in told["story"]] == [
        "imported", "taken into a study", "labelled", "labelled", "disputed", "adjudicated", "revised",
        "revision proposed", "proposal declined", "accepted by hand", "released",
    ]  # fmt: skip
    revised = told["story"][6]
    assert (revised["from"], revised["version"], revised["fields"]) == (1, 2, ["answer"])
    assert (revised["falls"], revised["reason"]) == ({"study": ["right"]}, "two asked for it")
    who = study.researcher.name
    sentences = [chapter(row) for row in found.chapters]
    assert sentences[6] == f"{who} revised it to version 2 (answer): two asked for it; labels fall: right in study"
    assert sentences[2] == f"{study.annotators[0].name} labelled version 1 in study"
    assert sentences[4] == "Disputed in study: 1 unit"
    assert sentences[-1] == "Version 2 went into the release v1"


def test_who_has_yet_to_judge_is_told_nothing_of_labels_and_others_no_names(database: Database) -> None:
    study = two_by(database, 1)
    label(study, "n", who=(0,))
    viewer = make_person(database)
    make_member(database, study.project_id, viewer, "viewer")
    told = item_story(database, viewer, study.project_id, external_id="i00001").to_json()["story"]
    assert [row["who"] for row in told if row["did"] == "labelled"] == ["R1"]
    set_member(database, make_person(database, admin=True), study.project_id,
               name=study.annotators[1].name, role=Role.ADJUDICATOR)  # fmt: skip
    told = item_story(database, study.annotators[1], study.project_id, external_id="i00001").to_json()["story"]
    assert [row["did"] for row in told] == ["imported", "taken into a study"]
    with pytest.raises(NotFound):
        item_story(database, viewer, study.project_id, external_id="none")
