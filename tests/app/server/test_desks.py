"""What the tests of the whole desks in node are given (tests/data/desks.json) is what the server sends."""

from __future__ import annotations

import json
from typing import Any

import orjson

from annotators import keys
from app.server.routes import adjudicate, revise
from app.settings import Settings
from db.engine import Database
from tests.conftest import ROOT
from tests.db.releasing.test_states import accepting
from tests.makers import StudyInUse

GIVEN = json.loads((ROOT / "tests" / "data" / "desks.json").read_text())


def shape(value: Any) -> Any:
    """The names in a value, at every depth; of a list those of its first part."""
    if isinstance(value, dict):
        return {str(name): shape(part) for name, part in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else type(value).__name__


def test_the_desks_of_the_javascript_tests_have_what_the_server_sends(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=3, annotators=2, overlap=2, protocol=accepting())
    for who, values in ((0, ("yes", "no", "no")), (1, ("no", "yes", "no"))):
        for value in values:
            study.submit(who, study.work(who)["items"][0], {"right": value, "clear": "yes"})
    actor = study.researcher
    queue = adjudicate._queue(sqlite_database, actor, study.study_id, {})
    item = adjudicate._item(sqlite_database, actor, queue["queue"][0]["study_item_id"], {})
    revisions = revise._queue(sqlite_database, actor, study.project_id, {})
    [waits] = revisions["waiting"]
    sent = {
        "disputes": queue, "dispute": {**item, "annotations": list(item["annotations"])}, "revisions": revisions,
        "revision": revise._item(Settings(), sqlite_database, actor, waits["item_id"], {}),
    }  # fmt: skip
    given = {**GIVEN, "dispute": {**GIVEN["dispute"], "annotations": list(GIVEN["dispute"]["annotations"])}}
    for name, part in orjson.loads(orjson.dumps(sent)).items():
        assert shape(part) == shape(given[name]), name
    by_desk = {"annotate": keys.ACTIONS, "adjudicate": keys.ADJUDICATION, "revise": keys.REVISION}
    assert GIVEN["keys"] == {desk: {name: list(key) for name, key in of.items()} for desk, of in by_desk.items()}
