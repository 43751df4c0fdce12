"""All routes of our own, walked as each role, as somebody from outside, and as nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import MagicMock

import httpx
import pytest
from starlette.routing import Route

from app.navigation import ENTRIES
from app.server.application import own_routes
from app.settings import Settings
from app.state import AppState
from db.people.accounts import set_member
from db.permissions import Role
from db.projects import create_project
from tests.e2e.scene import make_scene
from tests.servers import RunningServer, running_server

WHO = [*Role, "annotator of the study", "outsider", "nobody"]

# Route → who gets something else than a refusal. Everything that is not listed here must be refused.
STAFF = {Role.RESEARCHER, Role.ADJUDICATOR}
ALLOWED: dict[tuple[str, str], set[str]] = {
    # An annotator of the project who is not in the study is refused by the operation itself, like everybody else.
    ("GET", "/api/studies/{id:int}/work"): {"annotator of the study"},
    ("POST", "/api/studies/{id:int}/submit"): {"annotator of the study"},
    ("POST", "/api/studies/{id:int}/draft"): {"annotator of the study"},
    ("POST", "/api/studies/{id:int}/skip"): {"annotator of the study"},
    ("POST", "/api/studies/{id:int}/guidelines"): {"annotator of the study"},
    ("POST", "/api/studies/{id:int}/phase"): {"annotator of the study"},
    ("POST", "/api/studies/{id:int}/reopen"): {"annotator of the study"},
    ("GET", "/api/studies/{id:int}/disputes"): {*STAFF},
    ("GET", "/api/study-items/{id:int}"): {*STAFF},
    ("POST", "/api/study-items/{id:int}/adjudicate"): {*STAFF},
    ("POST", "/api/study-items/{id:int}/take"): {*STAFF},
    ("POST", "/api/study-items/{id:int}/leave"): {*STAFF},
    ("POST", "/api/study-items/{id:int}/return"): {*STAFF},
    ("GET", "/api/projects/{id:int}/revisions"): {Role.RESEARCHER, Role.REVISER},
    ("GET", "/api/items/{id:int}/revision"): {Role.RESEARCHER},
    **{
        ("POST", f"/api/items/{{id:int}}/{name}"): {Role.RESEARCHER}
        for name in ("plan", "revise", "end", "claims", "draft", "drafted", "take", "leave")
    },
    ("POST", "/api/items/{id:int}/leave"): {Role.RESEARCHER, Role.REVISER},  # of what is not theirs nothing changes
    ("GET", "/page-images/{document_id:int}/{page:int}"): {*STAFF, Role.VIEWER},
    ("GET", "/page-images/{document_id:int}/{first:int}-{last:int}"): {*STAFF, Role.VIEWER},
    ("GET", "/page-words/{document_id:int}/{page:int}"): {*STAFF, Role.VIEWER},
    ("GET", "/page-search/{document_id:int}"): {*STAFF, Role.VIEWER},
    ("GET", "/api/studies/{id:int}/phrases"): {"annotator of the study", *STAFF, Role.VIEWER},
    ("GET", "/api/studies/{id:int}/passages"): {"annotator of the study", *STAFF, Role.VIEWER},
}
PUBLIC = {
    "/join/{token}",
    "/sign-in",
    "/sign-in/{token}",
    "/sign-out",
    "/healthz",
    "/livez",
    "/readyz",
    "/assets/{path:path}",
}
SIGNED_IN = {
    "/leave/{id:int}", "/downloads/{token}", "/api/people/{id:int}/preferences", *(f"/{page.name}" for page in ENTRIES),
}  # fmt: skip
REFUSED = {401, 403, 404}


def all_routes() -> list[tuple[str, str]]:
    """(method, path) of every route that the server mounts beside Streamlit's."""
    state = AppState(Settings.load(home="unused"), *[MagicMock()] * 5)  # the routes are listed here, never called
    routes = [route for route in own_routes(state) if isinstance(route, Route)]
    return sorted((method, route.path) for route in routes for method in (route.methods or set()) - {"HEAD"})


@dataclass
class Walk:
    """A server with a study, and a client for each sort of person."""

    server: RunningServer
    study_id: int
    assignment: int
    clients: dict[str, httpx.Client]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    folder: Path = tmp_path_factory.mktemp("walk")
    with running_server(folder / "home") as server:
        scene = make_scene(server, folder / "sample", items=2)
        elsewhere = create_project(server.db, server.admin, "elsewhere")
        clients: dict[str, httpx.Client] = {}
        for role in Role:
            server.person(f"the {role}")
            set_member(server.db, server.admin, scene.project_id, name=f"the {role}", role=role)
            clients[role] = server.signed_in(f"the {role}")
        server.person("outsider")
        set_member(server.db, server.admin, elsewhere, name="outsider", role=Role.RESEARCHER)
        clients["outsider"] = server.signed_in("outsider")
        clients["annotator of the study"] = server.signed_in("ada")
        clients["nobody"] = server.client()
        work = clients["annotator of the study"].get(f"/api/studies/{scene.study_id}/work").json()
        yield Walk(server, scene.study_id, work["items"][0]["assignment"], clients)


def ask(walk: Walk, method: str, path: str, who: str) -> httpx.Response:
    """The request with real ids and an empty judgement: who is let in gets past the permission, if only to a 4xx."""
    filled = path.replace("{document_id:int}", "1").replace("{page:int}", "1").replace("{token}", "none")
    filled = filled.replace("{first:int}", "1").replace("{last:int}", "3")
    filled = filled.replace("{id:int}", str(walk.study_id) if "/studies/" in path else "1")
    if method == "GET":
        return walk.clients[who].get(filled, params={"assignment": str(walk.assignment), "q": "tide"})
    place = {"assignment": walk.assignment, "sitting": 1, "step": 0}
    body = {
        "uid": f"of {who}",
        "labels": [],
        "answers": {},
        "content": {},
        "reason": "",
        "decisions": [],
        "written": {},
        "from_version": 1,
        **place,
    }
    return walk.clients[who].post(filled, json=body, headers={"X-Assay": "1"})


def test_the_walk_knows_every_route() -> None:
    """Every day, not only with the slow ones: no route is to be there for a while of which nobody has said for whom."""
    paths = {path for _, path in all_routes()}
    assert {path for _, path in ALLOWED} <= paths
    assert paths - {path for _, path in ALLOWED} <= PUBLIC | SIGNED_IN


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path"), sorted(ALLOWED))
@pytest.mark.parametrize("who", WHO)
def test_a_route_lets_in_who_may_and_nobody_else(walk: Walk, method: str, path: str, who: str) -> None:
    answer = ask(walk, method, path, who)
    if who == "nobody":
        assert answer.status_code == 401
    elif who in ALLOWED[method, path]:
        assert answer.status_code not in REFUSED, (answer.status_code, answer.text[:200])
    else:
        assert answer.status_code in REFUSED, (answer.status_code, answer.text[:200])


@pytest.mark.slow
@pytest.mark.parametrize("who", [*Role, "outsider"])
def test_a_token_of_nobodys_download_gives_nothing(walk: Walk, who: str) -> None:
    assert walk.clients[who].get("/downloads/none").status_code == 404


@pytest.mark.slow
def test_the_start_page_is_found_under_its_name(walk: Walk) -> None:
    found = walk.clients[Role.RESEARCHER].get("/home", params={"project": "1"}, follow_redirects=False)
    assert (found.status_code, found.headers["location"]) == (303, "/?project=1")
    assert walk.clients["outsider"].get("/home", follow_redirects=False).headers["location"] == "/"
    assert walk.clients["nobody"].get("/home", follow_redirects=False).status_code == 401


@pytest.mark.slow
def test_the_page_image_of_an_item_at_hand_comes_only_with_its_step(walk: Walk) -> None:
    """The annotator of the study has the item leased, but its first step shows the question alone."""
    assert ask(walk, "GET", "/api/studies/{id:int}/work", "annotator of the study").status_code == 200
    assert ask(walk, "GET", "/page-images/{document_id:int}/{page:int}", "annotator of the study").status_code == 404
