"""Who loses a role, leaves, ends or is signed out is told nothing any more by any route: walked, before and after."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pymupdf
import pytest
from sqlmodel import select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.errors import AssayError
from annotators.protocols import Material, Step
from app import state as app_states
from app.server.application import own_routes
from app.server.middleware import Sessions
from app.server.web import COOKIE, handle_error
from app.settings import Settings
from app.state import AppState
from db.annotating.amendments import StudyChange, amend_study
from db.inviting.invitations import InvitationTerms, invite
from db.inviting.joining import join, leave
from db.items.documents import document_file
from db.models import Assignment, Document, Item, StudyItem
from db.people.accounts import erase_person, remove_member, set_member, set_person
from db.people.sign_in import end_sessions, open_session, session_actor
from db.permissions import Actor, Role
from db.releasing.revising import revise_written
from tests.databases import put_database
from tests.makers import StudyInUse, first_administrator, make_member, make_person, tiny_protocol

TOLD = re.compile(rb"Question of i|Answer of i|Passage|\x89PNG|RIFF|\xff\xd8\xff")
"""What only those are told who may see an item or its pages."""


@dataclass
class Installation:
    """The routes of a server with its sessions, without Streamlit."""

    state: AppState
    admin: Actor
    app: Starlette

    def client(self, token: str) -> TestClient:
        headers = {"Origin": "http://testserver", "X-Assay": "1"}
        return TestClient(self.app, cookies={COOKIE: token}, headers=headers, follow_redirects=False)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    home: Path = tmp_path_factory.mktemp("losing")
    put_database(home / "assay.db")
    state = app_states.open_state(Settings.load({}, home=home, render_workers=1))
    app = Starlette(
        routes=own_routes(state),
        middleware=[Middleware(Sessions, state=state)],
        exception_handlers={AssayError: handle_error},
    )
    yield Installation(state, first_administrator(state.db), app)
    state.close()
    app_states._current.clear()


class Scene:
    """A study whose one step shows pages, and somebody in it who has submitted one item and has another before them."""

    def __init__(self, there: Installation, who: str) -> None:
        self.there, self.who, db = there, who, there.state.db
        shows = [Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS]
        labels = [Label(value="yes"), Label(value="no")]
        protocol = tiny_protocol(
            criteria=[Choice(name="right", title="Right", labels=labels, accept=["yes"])],
            steps=[Step(name="all", title="All", shows=shows, criteria=["right"])],
        )
        self.study = StudyInUse(
            db, items=6, annotators=2, overlap=1, n_evidence=1, outside=1, keep_lacking=True, protocol=protocol
        )
        with db.read() as session:
            mine = select(Document.id).where(Document.project_id == self.study.project_id).order_by(Document.id)  # type: ignore[arg-type]
            self.documents = [key for key in session.exec(mine) if key is not None]
            items = select(Item.id).where(Item.project_id == self.study.project_id).order_by(Item.id)  # type: ignore[arg-type]
            self.item_id = session.exec(items).first()
            places = select(StudyItem.id).where(StudyItem.study_id == self.study.study_id).order_by(StudyItem.id)  # type: ignore[arg-type]
            self.study_item = session.exec(places).first()
        self._keep_bytes()
        self.actor, self.token = self._somebody()
        if who in ("annotator", "guest"):
            self.study.annotators.append(self.actor)
        worker = 2 if who in ("annotator", "guest") else 0
        self.study.submit(worker, self.study.work(worker)["items"][0], {"right": "no"})
        self.study.work(worker)
        with db.read() as session:
            held = select(Assignment.id).where(Assignment.person_id == self.study.annotators[worker].person_id)
            self.assignment = session.exec(held.order_by(Assignment.id)).first()  # type: ignore[arg-type]

    def _keep_bytes(self) -> None:
        pdf = pymupdf.open()
        for _ in range(2):
            pdf.new_page(width=100, height=100).insert_text((10, 50), "Passage")
        data = pdf.tobytes()
        digest = hashlib.sha256(data).hexdigest()
        path = document_file(self.there.state.settings.documents_folder, digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        with self.there.state.db.write() as session:
            for key in self.documents:
                document = session.get_one(Document, key)
                document.sha256, document.media_type, document.n_pages = digest, "application/pdf", 2
                session.add(document)

    def _somebody(self) -> tuple[Actor, str]:
        db, study = self.there.state.db, self.study
        if self.who == "guest":
            terms = InvitationTerms(code="DONE", code_else="ELSE")
            token, _ = join(db, invite(db, study.researcher, study.study_id, terms=terms))
            actor = session_actor(db, token)
            assert actor is not None
            return actor, token
        actor = make_person(db, role="viewer" if self.who == "viewer by default" else None)
        if self.who == "annotator":
            make_member(db, study.project_id, actor, "annotator")
            amend_study(db, study.researcher, study.study_id, change=StudyChange(add=(actor.name,)), reason="more")
        elif self.who in tuple(Role):
            make_member(db, study.project_id, actor, self.who)
        with db.write() as session:
            return actor, open_session(session, actor, timedelta(hours=1), how="password")

    def told(self) -> set[str]:
        """The routes that tell this person something of the project's items, each asked with what is really there."""
        client, found = self.there.client(self.token), set[str]()
        client.get(f"/api/items/{self.item_id}/revision")  # a reviser has it before them from now on
        for route in own_routes(self.there.state):
            assert isinstance(route, Route)
            for method in sorted((route.methods or set()) & {"GET", "POST"}):
                if not route.path.startswith(("/api/", "/page-", "/downloads", "/leave")) or (
                    route.path == "/api/items/{id:int}/leave"
                ):
                    continue
                if TOLD.search(self._ask(client, method, route.path)):
                    found.add(f"{method} {route.path}")
        return found

    def _ask(self, client: TestClient, method: str, path: str) -> bytes:
        with self.there.state.db.read() as session:
            about = session.get_one(Assignment, self.assignment)
            place = session.get_one(StudyItem, about.study_item_id)
            where = {"assignment": about.id, "sitting": about.sitting, "step": 0}
        number = (
            self.study.study_id if "/studies/" in path
            else self.study.project_id if "/projects/" in path
            else self.study_item if "/study-items/" in path
            else self.item_id
        )  # fmt: skip
        document = str(self.documents[(place.id or 1) - (self.study_item or 1)])
        filled = path.replace("{document_id:int}", document).replace("{page:int}", "1").replace("{token}", "none")
        filled = filled.replace("{first:int}", "1").replace("{last:int}", "2").replace("{id:int}", str(number))
        if method == "GET":
            return client.get(filled, params={"assignment": str(self.assignment), "q": "Passage"}).content
        given = {"uid": f"{self.who} {path}", "labels": [], "reason": "", "decisions": [], "written": {}, **where}
        return client.post(filled, json={**given, "content": {}, "from_version": 1}).content


def removed(scene: Scene) -> None:
    remove_member(scene.there.state.db, scene.study.researcher, scene.study.project_id, name=scene.actor.name)


def erased(scene: Scene) -> None:
    erase_person(scene.there.state.db, scene.there.admin, scene.actor.name)


def made_annotator(scene: Scene) -> None:
    study = scene.study
    set_member(scene.there.state.db, study.researcher, study.project_id, name=scene.actor.name, role=Role.ANNOTATOR)


def without_default(scene: Scene) -> None:
    set_person(scene.there.state.db, scene.there.admin, scene.actor.name, admin=False, default_role=None)


def taken_out(scene: Scene) -> None:
    change = StudyChange(remove=(scene.actor.name,))
    amend_study(scene.there.state.db, scene.study.researcher, scene.study.study_id, change=change, reason="fewer")


def ended(scene: Scene) -> None:
    leave(scene.there.state.db, scene.actor, scene.study.study_id)


def signed_out(scene: Scene) -> None:
    with scene.there.state.db.write() as session:
        end_sessions(session, scene.actor.person_id)


def revised(scene: Scene) -> None:
    """What they wrote themselves, and what fell by it, waits for others."""
    about = (scene.there.state.db, scene.actor, scene.study.project_id)
    revise_written(*about, external_id="i00001", given={"answer": "Better."}, reason="wrong", from_version=1)


READING = {
    "GET /page-images/{document_id:int}/{page:int}",
    "GET /page-images/{document_id:int}/{first:int}-{last:int}",
    "GET /page-words/{document_id:int}/{page:int}",
    "GET /page-search/{document_id:int}",
}
ANNOTATING = {"GET /api/studies/{id:int}/work", "POST /api/studies/{id:int}/reopen", *READING}
BEFORE = {
    "annotator": ANNOTATING,
    "guest": ANNOTATING,
    "viewer": READING,
    "viewer by default": READING,
    "adjudicator": {"GET /api/study-items/{id:int}", *READING},
    "reviser": {"GET /api/items/{id:int}/revision", *READING},
    "researcher": {"GET /api/items/{id:int}/revision", *READING},
}
LOSING: dict[str, tuple[Callable[[Scene], None], ...]] = {
    "annotator": (removed, erased, taken_out, signed_out),
    "guest": (removed, erased, taken_out, ended, signed_out),
    "viewer": (removed, erased, made_annotator, signed_out),
    "viewer by default": (without_default, made_annotator),
    "adjudicator": (removed, erased, made_annotator, signed_out),
    "reviser": (removed, erased, made_annotator, revised, signed_out),
    "researcher": (removed, erased, made_annotator, signed_out),
}


@pytest.mark.parametrize(
    ("who", "lose"),
    [(who, lose) for who, ways in LOSING.items() for lose in ways],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_who_loses_access_is_told_nothing_by_any_route(
    installation: Installation, who: str, lose: Callable[[Scene], None]
) -> None:
    scene = Scene(installation, who)
    assert scene.told() >= BEFORE[who], "what is told before, so that the walk would notice"
    lose(scene)
    assert scene.told() == set()
