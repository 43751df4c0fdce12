"""The guide to annotating over HTTP: its client runs as it stands there, and what it says of answers is so."""

from __future__ import annotations

import re
import uuid
from typing import Any

from app.pages.help import DOCS
from db.annotating.status import study_status
from db.models import StudyMember
from db.permissions import Actor
from tests.makers import StudyInUse, make_member
from tests.servers import PASSWORD, RunningServer

GUIDE = (DOCS / "http.md").read_text(encoding="utf-8")


def study_of(server: RunningServer, name: str, items: int) -> StudyInUse:
    """A study whose one annotator has a password."""
    study = StudyInUse(server.db, items=items, annotators=1, overlap=1)
    person_id = server.person(name)
    with server.db.write() as session:
        session.add(StudyMember(study_id=study.study_id, person_id=person_id))
    actor = Actor(person_id=person_id, name=name)
    make_member(server.db, study.project_id, actor, "annotator")
    return study


def test_the_client_of_the_guide_annotates_a_whole_study(server: RunningServer) -> None:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    study = study_of(server, "http-one", 3)
    exec(code, {"SERVER": server.url, "NAME": "http-one", "PASSWORD": PASSWORD, "STUDY": study.study_id})
    status = study_status(server.db, study.researcher, study.study_id)
    assert (status["finished"], status["states"]["submitted"]) == (True, 3)


def test_what_the_guide_says_of_fields_and_answers_is_so(server: RunningServer) -> None:
    study = study_of(server, "http-two", 1)
    client = server.signed_in("http-two")
    client.headers["X-Assay"] = "1"
    found: dict[str, Any] = client.get(f"/api/studies/{study.study_id}/work").json()
    assert {"items", "finished", "halted", "progress", "study"} <= found.keys()
    [item] = found["items"]
    for field in ("assignment", "sitting", "step", "units", "shown", "committed", "previous", "draft"):
        assert field in item
        assert f"`{field}`" in GUIDE
    label = {"criterion": "right", "target": "item", "value": "yes"}
    place = {key: item[key] for key in ("assignment", "sitting", "step")}
    body = {"uid": uuid.uuid4().hex, **place, "labels": [label], "seconds": 3}
    path = f"/api/studies/{study.study_id}/submit"
    assert client.post(path, json=body).json()["status"] == "done"
    assert client.post(path, json=body).json()["status"] == "duplicate"
    again = client.post(path, json={**body, "uid": uuid.uuid4().hex})
    assert (again.status_code, again.json().keys() >= {"error", "kind"}) == (409, True)
    wrong = client.post(path, json={**body, "uid": ""})
    assert wrong.status_code == 422
    del client.headers["X-Assay"]
    assert client.post(path, json=body).status_code == 403
    client.cookies.clear()
    client.headers["X-Assay"] = "1"
    assert client.post(path, json=body).status_code == 401
