"""The server over HTTP and websockets: who gets in, what is answered to whom, and that it is configured as said."""

from __future__ import annotations

import hashlib
import io
import json
import re
import signal
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from websockets.exceptions import InvalidStatus

from annotators.errors import Conflict
from app.server.application import serve
from app.server.assets import asset_url, assets
from app.server.middleware import MOST_WEBSOCKETS
from app.server.served import served_address
from app.server.web import COOKIE
from app.settings import Settings
from db.engine import Database
from db.models import Document
from db.people.accounts import revoke_sessions
from db.people.sign_in import one_time_sign_in, session_actor, sign_in
from db.projects import create_project
from tests.app.cli.command_line import CommandLine
from tests.app.server.websocket import open_stream, rerun, run_page, texts
from tests.servers import PASSWORD, ROOT, RunningServer, free_port, running_server

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def token(server: RunningServer) -> str:
    return sign_in(server.db, "admin", PASSWORD, None)


# Who gets in ----------------------------------------------------------------------------------------------------------


def test_the_first_page_ever_asked_for_is_drawn_by_the_main_script(server: RunningServer, token: str) -> None:
    # Streamlit would run app/pages/people.py as a script of its own here, without asking who it is.
    drawn = texts(run_page(server, token, "people"))
    assert "Change a person" in drawn
    assert "assay-person" in drawn


def test_health_is_public_and_says_nothing_else(server: RunningServer) -> None:
    answer = httpx.get(f"{server.url}/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/", "/sign-in"),
        ("/people", "/sign-in?next=/people"),
        ("/agreement?study=3&a=b", "/sign-in?next=/agreement%3Fstudy%3D3%26a%3Db"),
    ],
)
def test_a_page_without_a_session_leads_to_the_sign_in_page(server: RunningServer, path: str, where: str) -> None:
    answer = server.client().get(path, headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, where)


@pytest.mark.parametrize(
    "path",
    [
        "/api/studies/1/work",
        "/page-images/1/1",
        "/assets/annotate/main.js",
        "/_stcore/health",
        "/_stcore/host-config",
        "/_stcore/metrics",
        "/_stcore/agent/openapi.json",
        "/_stcore/upload_file/a/b",
        "/media/abc.png",
        "/component/x/y",
        "/people",  # asked for by something that is no browser
    ],
)
def test_everything_else_without_a_session_is_401(server: RunningServer, path: str) -> None:
    client = server.client()
    headers = {"Accept": "application/json"} if path == "/people" else HTML
    answer = client.get(path, headers=headers)
    assert (answer.status_code, answer.json()["kind"]) == (401, "NotSignedIn")
    client.cookies.set(COOKIE, "not-a-token")
    assert client.get(path, headers=headers).status_code == 401


def test_streamlits_own_files_are_public(server: RunningServer) -> None:
    signed_in = server.signed_in("ana")
    script = re.search(r'src="\./(static/js/[^"]+)"', signed_in.get("/", headers=HTML).text)
    assert script is not None
    answer = server.client().get(f"/{script[1]}")
    assert answer.status_code == 200
    assert "javascript" in answer.headers["content-type"]


def test_a_websocket_needs_a_session_and_this_origin(server: RunningServer, token: str) -> None:
    for cookie, origin in ((None, None), ("not-a-token", None), (token, "http://localhost:9"), (token, "null")):
        with pytest.raises(InvalidStatus) as caught:
            run_page(server, cookie, origin=origin)
        assert caught.value.response.status_code == 403
    assert "Home" in texts(run_page(server, token))


def test_a_revoked_session_ends_at_the_next_run_of_an_open_page(server: RunningServer) -> None:
    server.person("rita", default_role="researcher")
    token = sign_in(server.db, "rita", PASSWORD, None)
    with open_stream(server, token) as stream:
        assert "There is no project yet" in texts(rerun(stream))
        revoke_sessions(server.db, server.admin, "rita")
        after = texts(rerun(stream))
    assert "Your session has ended" in after.replace("\\", "")
    assert "/sign-in" in after
    assert "There is no project yet" not in after


# Signing in and out ---------------------------------------------------------------------------------------------------


def test_signing_in_leads_to_the_page_that_was_asked_for(server: RunningServer) -> None:
    client = server.client()
    page = client.get("/sign-in", params={"next": "/people?x=1&y=2"})
    assert page.status_code == 200
    assert 'value="/people?x=1&amp;y=2"' in page.text
    answer = client.post("/sign-in", data={"name": "ana", "password": PASSWORD, "next": "/people?x=1&y=2"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/people?x=1&y=2")
    again = client.get("/sign-in", params={"next": "/people"})
    assert (again.status_code, again.headers["location"]) == (303, "/people")


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "/a\r\nb", "x"])
def test_signing_in_never_leads_to_another_site(server: RunningServer, target: str) -> None:
    answer = server.client().post("/sign-in", data={"name": "ana", "password": PASSWORD, "next": target})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(server: RunningServer) -> None:
    answer = server.client().post("/sign-in", data={"name": "ana", "password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(r"assay_session=[\w-]{43}; HttpOnly; Max-Age=1209600; Path=/; SameSite=lax", cookie)


def test_a_wrong_password_shows_the_form_again_with_the_reason(server: RunningServer) -> None:
    for name in ("ana", '"><script>alert(1)</script>'):
        answer = server.client().post("/sign-in", data={"name": name, "password": "wrong password"})
        assert answer.status_code == 401
        assert "The name or the password is wrong" in answer.text
        assert "<script" not in answer.text
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("path", "signed_in", "options", "answered"),
    [
        ("/sign-in", False, {"data": {"name": "x" * 20_000}}, (422, "The request is larger than 16000 bytes.")),
        ("/sign-in", False, {"content": b"name=\xff\xfe"}, (422, "The form cannot be read.")),
        ("/sign-in", False, {"headers": {"Origin": "https://evil.example"}}, (403, "not this server")),
        ("/sign-in/none", False, {"data": {}}, (404, "Sign in with a password")),
        ("/sign-out", False, {"data": {}}, (401, "Sign in with a password")),
        ("/sign-out", True, {"headers": {"Origin": "https://evil.example"}}, (403, "not this server")),
        ("/leave/999999", True, {"data": {}}, (404, "no study")),
        ("/leave/999999", True, {"content": b"", "headers": {"Origin": "null"}}, (403, "not this server")),
    ],
)
def test_a_form_that_is_refused_is_answered_by_a_page(
    server: RunningServer, path: str, signed_in: bool, options: dict[str, Any], answered: tuple[int, str]
) -> None:
    status, words = answered
    client = server.signed_in("ana") if signed_in else server.client()
    options["headers"] = {"Accept": "text/html,*/*;q=0.8", **options.get("headers", {})}
    answer = client.post(path, **options)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert words in answer.text
    by_a_program = client.post(path, **{**options, "headers": {**options["headers"], "Accept": "*/*"}})
    assert by_a_program.status_code == status


def test_guessing_is_answered_429(server: RunningServer) -> None:
    client = server.client()
    statuses = [
        client.post("/sign-in", data={"name": "nobody", "password": f"guess {number}"}).status_code
        for number in range(12)
    ]
    assert statuses[:5] == [401] * 5
    assert 429 in statuses


def test_signing_out_ends_the_session_on_the_server(server: RunningServer) -> None:
    client = server.signed_in("ana")
    token = client.cookies[COOKIE]
    page = client.get("/sign-out")
    assert page.status_code == 200
    assert "<strong>ana</strong>" in page.text
    answer = client.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert COOKIE not in client.cookies
    assert server.client(token).get("/api/studies/1/work").status_code == 401
    assert session_actor(server.db, token) is None


def test_signing_in_again_ends_the_session_that_was_there(server: RunningServer) -> None:
    client = server.signed_in("ana")
    before = client.cookies[COOKIE]
    assert client.post("/sign-in", data={"name": "ana", "password": PASSWORD}).status_code == 303
    assert client.cookies[COOKIE] != before
    assert session_actor(server.db, before) is None


def test_a_one_time_address_asks_before_it_is_used_up(server: RunningServer) -> None:
    server.person("newcomer")
    token = one_time_sign_in(server.db, server.admin, "newcomer")
    client = server.client()
    for _ in range(2):  # a preview in a chat program opens it too
        page = client.get(f"/sign-in/{token}")
        assert "Sign in as newcomer" in page.text
    weak = client.post(f"/sign-in/{token}", data={"password": "short"})
    assert weak.status_code == 422
    assert "at least 8" in weak.text
    answer = client.post(f"/sign-in/{token}", data={"password": "a new set of words"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert client.get("/", headers=HTML).status_code == 200
    other = server.client()
    for spent in (other.get(f"/sign-in/{token}"), other.post(f"/sign-in/{token}", data={})):
        assert spent.status_code == 404
        assert "used or has expired" in spent.text
    assert sign_in(server.db, "newcomer", "a new set of words", None)


def test_ones_own_sign_in_address_goes_on_when_one_is_signed_in_and_is_not_used_up(server: RunningServer) -> None:
    server.person("goer")
    client = server.signed_in("goer")
    before = client.cookies[COOKIE]
    token = one_time_sign_in(server.db, server.admin, "goer")
    for address in (f"/sign-in/{token}", f"/sign-in/{token}?now"):
        answer = client.get(address)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert client.cookies[COOKIE] == before
    assert session_actor(server.db, before) is not None
    other = server.client()
    assert other.get(f"/sign-in/{token}?now").status_code == 303  # still good in another browser
    assert client.get(f"/sign-in/{token}").status_code == 303  # used up by now, and they still go on


def test_another_persons_address_asks_before_it_replaces_the_session(server: RunningServer) -> None:
    for name in ("stayer", "stranger"):
        server.person(name)
    client = server.signed_in("stayer")
    before = client.cookies[COOKIE]
    token = one_time_sign_in(server.db, server.admin, "stranger")
    for address in (f"/sign-in/{token}", f"/sign-in/{token}?now"):
        page = client.get(address)
        assert page.status_code == 200
        assert "Sign out stayer and sign in as stranger" in page.text
        assert "Stay signed in as stayer" in page.text
    assert client.cookies[COOKIE] == before
    actor = session_actor(server.db, before)
    assert actor is not None
    assert actor.name == "stayer"
    with httpx.Client(base_url=server.url, headers={"Origin": "http://evil.example"}, cookies={COOKIE: before}) as evil:
        assert evil.post(f"/sign-in/{token}", data={}).status_code == 403
    assert client.post(f"/sign-in/{token}", data={}).status_code == 303
    now_in = session_actor(server.db, client.cookies[COOKIE])
    assert now_in is not None
    assert now_in.name == "stranger"
    assert session_actor(server.db, before) is None


def test_a_link_on_another_site_signs_nobody_in_without_a_click(server: RunningServer) -> None:
    token = one_time_sign_in(server.db, server.admin, "ana")
    page = server.client().get(f"/sign-in/{token}?now", headers={"Sec-Fetch-Site": "cross-site"})
    assert "Sign in as ana" in page.text
    assert server.client().get(f"/sign-in/{token}?now", headers={"Sec-Fetch-Site": "none"}).status_code == 303


def test_a_spent_address_of_somebody_else_leads_on_for_who_is_signed_in(server: RunningServer) -> None:
    server.person("rover")
    page = server.signed_in("rover").get("/sign-in/never-was")
    assert page.status_code == 404
    assert "Go on as rover" in page.text


# Where it is served ---------------------------------------------------------------------------------------------------


def test_a_sign_in_address_is_that_of_the_server_that_runs(server: RunningServer) -> None:
    settings = Settings.load({}, home=server.home)
    assert served_address(settings) == server.url != f"http://127.0.0.1:{settings.port}"
    line = CommandLine(server.home)
    assert line.json("user", "sign-in-address", "ana")["sign_in"].startswith(f"{server.url}/sign-in/")
    public = Settings.load({}, home=server.home, public_url="https://assay.example.org")
    assert served_address(public) == "https://assay.example.org"


def test_the_note_of_a_server_goes_with_it_and_one_that_was_left_behind_is_not_believed(tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path)
    configured = f"http://127.0.0.1:{settings.port}"
    with running_server(tmp_path) as running:
        port = int(running.url.rpartition(":")[2])
        [path] = (tmp_path / "servers").iterdir()
        kept = path.read_text()
        assert json.loads(kept)["address"] == served_address(settings) == running.url
        path.write_text(kept.replace(json.loads(kept)["word"], "another-word"))
        assert served_address(settings) == configured  # somebody else answers on this port
        path.write_text(kept)
    assert not list((tmp_path / "servers").iterdir())
    path.write_text(kept)  # as a server that was killed leaves it
    assert served_address(settings) == configured
    path.write_text("{")
    assert served_address(settings) == configured
    assert port != settings.port


# Other sites ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None, "http://localhost:1"])
def test_a_change_asked_for_by_another_site_is_refused(server: RunningServer, origin: str | None) -> None:
    token = sign_in(server.db, "ana", PASSWORD, None)
    headers = {"X-Assay": "1", **({"Origin": origin} if origin else {})}
    with httpx.Client(base_url=server.url, headers=headers, cookies={COOKIE: token}) as client:
        for path in ("/sign-in", "/sign-out", "/api/studies/1/submit"):
            answer = client.post(path, data={"name": "ana", "password": PASSWORD})
            assert (answer.status_code, answer.json()["kind"]) == (403, "NotAllowed")
            assert "ASSAY_PUBLIC_URL" in answer.json()["error"]
    assert session_actor(server.db, token) is not None


def test_the_annotators_routes_need_the_header_that_forms_cannot_send(server: RunningServer, token: str) -> None:
    client = server.client(token)
    refused = client.post("/api/studies/1/submit", json={})
    assert (refused.status_code, "X-Assay" in refused.json()["error"]) == (403, True)
    # With it the request reaches the route, which finds something else missing.
    reached = client.post("/api/studies/1/submit", json={}, headers={"X-Assay": "1"})
    assert (reached.status_code, "'uid'" in reached.json()["error"]) == (422, True)


def test_every_answer_tells_browsers_to_be_careful(server: RunningServer, token: str) -> None:
    for path in ("/healthz", "/sign-in", "/", "/static/none.js", "/page-images/1/1"):
        headers = server.client(token if path == "/" else None).get(path, headers=HTML).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    policy = server.client(token).get("/", headers=HTML).headers["content-security-policy"]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "'unsafe-inline'" not in scripts
    assert "http" not in policy


def test_a_preview_of_an_address_that_signs_in_at_once_does_not_use_it_up(server: RunningServer) -> None:
    server.person("previewed")
    token = one_time_sign_in(server.db, server.admin, "previewed")
    preview = server.client().head(f"/sign-in/{token}?now")
    assert preview.status_code == 200
    assert "set-cookie" not in preview.headers
    assert server.client().get(f"/sign-in/{token}?now").status_code == 303


@pytest.mark.parametrize(
    "body", ["[" * 900 + "]" * 900, '{"content":' + "[" * 300 + "]" * 300 + ',"uid":"u","labels":[]}', "[" * 100_000]
)
def test_json_that_is_too_deep_is_refused(server: RunningServer, token: str, body: str) -> None:
    headers = {"X-Assay": "1", "Content-Type": "application/json"}
    for path in ("/api/studies/1/submit", "/api/studies/1/draft", "/api/study-items/1/adjudicate"):
        answer = server.client(token).post(path, content=body, headers=headers)
        assert (answer.status_code, answer.json()["kind"]) == (422, "InvalidInput")


@pytest.mark.parametrize(
    "labels", [None, {}, "x", [1], [[]], [{}], [{"criterion": 1}], [{"criterion": "a", "target": 1}]]
)
def test_what_is_no_list_of_labels_is_refused(server: RunningServer, token: str, labels: object) -> None:
    body = {"uid": "u", "assignment": 1, "sitting": 1, "step": 0, "labels": labels}
    answer = server.client(token).post("/api/studies/1/submit", json=body, headers={"X-Assay": "1"})
    assert (answer.status_code, answer.json()["kind"]) == (422, "InvalidInput")
    assert "label" in answer.json()["error"]


@pytest.mark.parametrize("number", [2**63, 10**40])
def test_a_number_that_no_database_has_is_not_found(server: RunningServer, token: str, number: int) -> None:
    client = server.client(token)
    paths = [
        f"/api/studies/{number}/work", f"/api/studies/{number}/disputes", f"/api/study-items/{number}",
        f"/page-images/{number}/1", f"/page-images/1/{number}", f"/page-images/1/1-{number}", f"/page-words/{number}/1",
        f"/page-words/1/{number}", f"/page-search/{number}?q=tide",
        f"/api/studies/{number}/phrases?assignment=1", f"/api/studies/{number}/passages?assignment=1",
    ]  # fmt: skip
    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 404)


def test_only_people_who_import_may_send_files(server: RunningServer, token: str) -> None:
    server.person("reader", default_role="viewer")
    server.person("importer", default_role="researcher")
    file = {"file": ("a.txt", b"text")}
    for name, refused in (("reader", True), ("importer", False), ("admin", False)):
        answer = server.signed_in(name).put("/_stcore/upload_file/none/none", files=file)
        assert ("Only researchers" in answer.text and answer.status_code == 403) is refused, name


def test_one_person_cannot_hold_any_number_of_pages_open(server: RunningServer, token: str) -> None:
    with ExitStack() as open_pages:
        for _ in range(MOST_WEBSOCKETS):
            open_pages.enter_context(open_stream(server, token))
        with pytest.raises(InvalidStatus):
            open_stream(server, token)
        other = sign_in(server.db, "ana", PASSWORD, None)
        assert texts(run_page(server, other))  # somebody else is not in their way
    until = time.monotonic() + 10
    while time.monotonic() < until:  # those that were closed count no more
        try:
            assert "Home" in texts(run_page(server, token))
            return
        except InvalidStatus:
            time.sleep(0.1)
    raise AssertionError("closed pages still count")


# Page images ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents(server: RunningServer) -> Iterator[dict[str, int]]:
    """A picture, a document without bytes, and one whose bytes are no picture, in a project of their own."""
    project_id = create_project(server.db, server.admin, "Pictures")
    out = io.BytesIO()
    Image.new("RGB", (600, 800), "#336699").save(out, "PNG")
    contents = {"picture": out.getvalue(), "broken": b"\x89PNG\r\n\x1a\n and no more", "without": None}
    ids = {}
    with server.db.write() as session:
        for key, data in contents.items():
            document = Document(project_id=project_id, key=key)
            if data is not None:
                document.sha256 = hashlib.sha256(data).hexdigest()
                document.media_type, document.n_pages = "image/png", 1
                path = server.home / "data" / "documents" / document.sha256[:2] / document.sha256
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            session.add(document)
            session.flush()
            assert document.id is not None
            ids[key] = document.id
    yield ids


def test_a_page_image_is_kept_by_the_browser_of_this_person_only(
    server: RunningServer, token: str, documents: dict[str, int]
) -> None:
    client = server.client(token)
    answer = client.get(f"/page-images/{documents['picture']}/1?w=300&v=abc")
    assert answer.status_code == 200
    assert Image.open(io.BytesIO(answer.content)).width == 480  # the next step above the 300 asked for
    assert answer.headers["cache-control"] == "private, max-age=604800, immutable"
    assert answer.headers["vary"] == "Cookie"
    etag = answer.headers["etag"]
    again = client.get(f"/page-images/{documents['picture']}/1?w=300", headers={"If-None-Match": etag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert again.headers["cache-control"] == "private, no-cache"


def test_whoever_may_not_see_a_page_is_told_no_more_than_that(server: RunningServer, documents: dict[str, int]) -> None:
    client = server.client(sign_in(server.db, "ana", PASSWORD, None))
    there, nowhere = (client.get(f"/page-images/{number}/1") for number in (documents["picture"], 987654))
    assert there.status_code == nowhere.status_code == 404
    told = there.json()["error"].replace(f"document {documents['picture']}", "document 987654")
    assert told == nowhere.json()["error"]


def test_a_page_that_cannot_be_shown_says_why_in_its_place(
    server: RunningServer, token: str, documents: dict[str, int]
) -> None:
    client = server.client(token)
    for key, why in (("broken", "broken"), ("without", "missing")):
        answer = client.get(f"/page-images/{documents[key]}/1?w=480&v=abc")
        assert (answer.status_code, answer.headers["x-assay-page-failure"]) == (200, why)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-assay-page-reason"]
        assert Image.open(io.BytesIO(answer.content)).width == 480


@pytest.mark.parametrize("width", ["0", "-5", "1e3", "999999", "x", "²"])
def test_a_width_that_is_none_is_named(
    server: RunningServer, token: str, documents: dict[str, int], width: str
) -> None:
    answer = server.client(token).get(f"/page-images/{documents['picture']}/1", params={"w": width})
    assert (answer.status_code, answer.json()["kind"]) == (422, "InvalidInput")
    assert repr(width) in answer.json()["error"]


# Files of our components ----------------------------------------------------------------------------------------------


def test_component_files_are_kept_for_ever_under_an_address_that_changes_with_them(
    server: RunningServer, token: str
) -> None:
    client = server.client(token)
    path = next(iter(assets()))
    answer = client.get(asset_url(path))
    assert answer.status_code == 200
    assert answer.content == (ROOT / "app" / "widgets" / path).read_bytes()
    assert answer.headers["cache-control"].endswith("immutable")
    plain = client.get(f"/assets/{path}")
    assert plain.headers["cache-control"] == "private, no-cache"
    assert client.get(f"/assets/{path}", headers={"If-None-Match": plain.headers["etag"]}).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "annotate/__init__.py",
        "annotate/..%2f..%2fserver.py",
        "..%2f..%2fapp%2fserver.py",
        "annotate/%2e%2e/plots.py",
        "%2fetc%2fpasswd",
        "",
    ],
)
def test_nothing_but_those_files_can_be_reached(server: RunningServer, token: str, path: str) -> None:
    answer = server.client(token).get(f"/assets/{path}")
    assert answer.status_code in (400, 404)
    assert b"import" not in answer.content


# How it is started ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_streamlits_options_are_in_force_under_uvicorn_from_anywhere(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "elsewhere" / ".streamlit").mkdir(parents=True)
    (tmp_path / "elsewhere" / ".streamlit" / "config.toml").write_text(
        '[browser]\ngatherUsageStats = true\n[theme.light]\nprimaryColor = "#ff0000"\n'
    )
    command = ("-m", "uvicorn", "app.server:app", "--port", str(port), "--log-level", "warning")
    with running_server(tmp_path / "home", command=command, cwd=tmp_path / "elsewhere", port=port) as running:
        messages = run_page(running, sign_in(running.db, "admin", PASSWORD, None))
    session = next(message.new_session for message in messages if message.WhichOneof("type") == "new_session")
    assert session.config.gather_usage_stats is False
    assert session.config.toolbar_mode == session.config.MINIMAL
    assert session.custom_theme.light.primary_color == "#1f5f8b"
    assert session.custom_theme.dark.background_color == "#16191d"


@pytest.mark.slow
def test_behind_a_trusted_proxy_all_cookies_are_for_https_only(tmp_path: Path) -> None:
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
    with running_server(tmp_path / "home", ASSAY_TRUSTED_PROXY="127.0.0.1") as running:
        form = {"name": "admin", "password": PASSWORD}
        answer = running.client().post("/sign-in", data=form, headers=forwarded)
        assert answer.headers["set-cookie"].endswith("; Secure")
        client = running.client(sign_in(running.db, "admin", PASSWORD, None))
        streamlits = client.get("/_stcore/health", headers=forwarded).headers["set-cookie"]
        assert "_streamlit_xsrf" in streamlits
        assert "Secure" in streamlits


def test_nobody_else_is_believed_about_https(server: RunningServer) -> None:
    answer = server.client().post(
        "/sign-in", data={"name": "ana", "password": PASSWORD}, headers={"X-Forwarded-Proto": "https"}
    )
    assert "Secure" not in answer.headers["set-cookie"]


@pytest.mark.slow
def test_behind_a_proxy_the_public_address_is_an_origin_too(tmp_path: Path) -> None:
    public = "https://assay.example.org"
    with running_server(tmp_path / "home", port=free_port(), ASSAY_PUBLIC_URL=public) as running:
        form = {"name": "admin", "password": PASSWORD}
        answer = running.client().post("/sign-in", data=form, headers={"Origin": public})
        assert answer.status_code == 303
        assert answer.headers["set-cookie"].endswith("; Secure")
        with pytest.raises(InvalidStatus):
            run_page(running, sign_in(running.db, "admin", PASSWORD, None), origin="https://evil.example.org")


@pytest.mark.slow
def test_the_same_server_runs_on_postgresql(tmp_path: Path, postgresql_database: Database) -> None:
    url = postgresql_database.url.render_as_string(hide_password=False)
    with running_server(tmp_path / "home", ASSAY_DATABASE_URL=url) as running:
        client = running.signed_in("admin")
        assert "Change a person" in texts(run_page(running, client.cookies[COOKIE], "people"))
        assert not (tmp_path / "home" / "assay.db").exists()


@pytest.mark.by_the_clock
def test_an_answer_on_a_kept_connection_does_not_wait_for_an_acknowledgement(server: RunningServer) -> None:
    seconds = []
    with httpx.Client(base_url=server.url) as client:
        for _ in range(30):
            begin = time.perf_counter()
            client.get("/healthz")
            seconds.append(time.perf_counter() - begin)
    # With Nagle's algorithm it is 40 ms and more, however fast the machine; without it about 2 ms.
    assert statistics.median(seconds) < 0.035


@pytest.mark.slow
def test_a_stopped_server_ends_in_good_order(tmp_path: Path) -> None:
    with running_server(tmp_path / "home") as running:
        token = sign_in(running.db, "admin", PASSWORD, None)
        with open_stream(running, token) as stream:
            rerun(stream)
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(15) in (0, -signal.SIGTERM)
        assert "Traceback" not in running.log.read_text()


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Conflict, match=rf"port {port}.*--port"):
            serve(Settings.load({}, home=tmp_path, port=port))


def test_an_address_printed_by_the_command_line_signs_in_at_once_and_only_once(server: RunningServer) -> None:
    token = one_time_sign_in(server.db, server.admin, name="ana")
    first, second = server.client(), server.client()
    assert first.get(f"/sign-in/{token}?now").status_code == 303
    assert first.get("/", headers={"Accept": "text/html"}).status_code == 200
    assert second.get(f"/sign-in/{token}?now").status_code == 404
