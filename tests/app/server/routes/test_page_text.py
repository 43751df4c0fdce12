"""The routes about words of pages, over HTTP: what an annotator gets at which step, and what nobody gets."""

from __future__ import annotations

import hashlib
import io
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pymupdf
import pytest
from PIL import Image

from annotators.pages import Renderer
from annotators.pages.documents.words import PageWords, Word, pack_words
from annotators.pages.words.index import Source, WordIndex
from app.settings import Settings
from db.models import Document
from db.projects import create_project
from tests.e2e.scene import Scene, make_scene
from tests.servers import RunningServer, running_server

pytestmark = pytest.mark.slow

mupdf: Any = pymupdf
FIRST_STEP = {"understandable": "yes", "human_like": "yes"}


@dataclass
class World:
    """A server with sample items in a two-step study, and people signed in."""

    server: RunningServer
    scene: Scene
    ada: httpx.Client
    ben: httpx.Client
    admin: httpx.Client


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("texts")
    with running_server(folder / "home") as server:
        scene = make_scene(server, folder / "sample", items=4)
        yield World(server, scene, *(server.signed_in(name) for name in ("ada", "ben", "admin")))


def get(client: httpx.Client, path: str, **parameters: object) -> dict[str, Any]:
    answer = client.get(path, params={key: str(value) for key, value in parameters.items()})
    assert answer.status_code == 200, (answer.status_code, answer.text)
    body: dict[str, Any] = answer.json()
    return body


def first_item(world: World, client: httpx.Client) -> dict[str, Any]:
    item: dict[str, Any] = get(client, f"/api/studies/{world.scene.study_id}/work")["items"][0]
    return item


def judge_first_step(world: World, client: httpx.Client, item: dict[str, Any]) -> dict[str, Any]:
    """Commit the step that shows the question alone; the item as its second step shows it."""
    criteria = item["units"]
    labels = [
        {"criterion": name, "target": target, "value": _first_label(world, client, name)}
        for name, targets in criteria.items()
        for target in targets
    ]
    body = {key: item[key] for key in ("assignment", "sitting", "step")}
    answer = client.post(
        f"/api/studies/{world.scene.study_id}/submit",
        json={**body, "uid": f"step of {item['assignment']}", "labels": labels},
        headers={"X-Assay": "1"},
    )
    assert answer.status_code == 200, answer.text
    after: dict[str, Any] = answer.json()["item"]
    return after


def _first_label(world: World, client: httpx.Client, criterion: str) -> object:
    protocol = get(client, f"/api/studies/{world.scene.study_id}/work")["study"]["protocol"]
    [asked] = [found for found in protocol["criteria"] if found["name"] == criterion]
    return asked["labels"][0]["value"]


@pytest.fixture(scope="module")
def item(world: World) -> dict[str, Any]:
    """Ada's first item once she has judged its question, as its second step shows it."""
    return judge_first_step(world, world.ada, first_item(world, world.ada))


# Before its step ------------------------------------------------------------------------------------------------------


def test_nothing_of_an_item_leaks_before_its_step(world: World) -> None:
    waiting = first_item(world, world.ben)
    study = f"/api/studies/{world.scene.study_id}"
    assert get(world.ben, f"{study}/phrases", assignment=waiting["assignment"])["phrases"] == []
    assert get(world.ben, f"{study}/passages", assignment=waiting["assignment"])["passages"] == []
    for document in range(1, 6):
        for path in (f"/page-words/{document}/1", f"/page-search/{document}?q=the"):
            assert world.ben.get(path).status_code == 404, path


def test_another_annotators_assignment_is_not_there(world: World, item: dict[str, Any]) -> None:
    for what in ("phrases", "passages"):
        path = f"/api/studies/{world.scene.study_id}/{what}?assignment={item['assignment']}"
        assert world.ben.get(path).status_code == 404
        assert world.server.client().get(path).status_code == 401


@pytest.mark.parametrize("assignment", ["", "x", "-1", "1e3", "9" * 40])
def test_what_is_no_assignment_is_named(world: World, assignment: str) -> None:
    answer = world.ada.get(f"/api/studies/{world.scene.study_id}/phrases", params={"assignment": assignment})
    assert (answer.status_code, answer.json()["kind"]) == (422, "InvalidInput")


# At its step ----------------------------------------------------------------------------------------------------------


def test_the_phrases_of_the_answer_stand_where_the_page_has_them(world: World, item: dict[str, Any]) -> None:
    found = get(world.ada, f"/api/studies/{world.scene.study_id}/phrases", assignment=item["assignment"])
    assert found["complete"]
    hits = [(phrase, hit) for phrase in found["phrases"] for hit in phrase["hits"]]
    assert hits, found
    shown = {document["id"] for document in item["documents"]}
    for phrase, hit in hits:
        assert phrase["of"] == "answer" or "references" in item["shown"]
        assert hit["document"] in shown
        words = get(world.ada, f"/page-words/{hit['document']}/{hit['page']}")["words"]
        under = [
            word[4]
            for word in words
            for box in hit["boxes"]
            if box[0] <= (word[0] + word[2]) / 2 <= box[2] and box[1] <= (word[1] + word[3]) / 2 <= box[3]
        ]
        assert under, (phrase["text"], hit)
        letters = "".join(filter(str.isalnum, "".join(under).casefold()))
        assert "".join(filter(str.isalnum, phrase["text"].casefold()))[:6] in letters
    assert all(phrase["count"] >= len(phrase["hits"]) for phrase in found["phrases"])


def test_passages_are_found_on_the_pages_that_their_evidence_cites(world: World, item: dict[str, Any]) -> None:
    found = get(world.ada, f"/api/studies/{world.scene.study_id}/passages", assignment=item["assignment"])
    texts = {unit["key"]: unit for unit in item["evidence"] if unit["text"]}
    assert {passage["evidence"] for passage in found["passages"]} == set(texts)
    located = [passage for passage in found["passages"] if "page" in passage]
    assert located
    for passage in located:
        assert passage["page"] in texts[passage["evidence"]]["pages"]
        assert passage["document"] == texts[passage["evidence"]]["document"]
        assert 0.6 <= passage["score"] <= 1
        assert passage["boxes"]
    assert all(passage["reason"].endswith(".") for passage in found["passages"] if "page" not in passage)
    assert "gold" not in json.dumps(found)


def test_a_search_covers_the_document_that_the_step_shows(world: World, item: dict[str, Any]) -> None:
    document = item["documents"][0]
    found = get(world.ada, f"/page-search/{document['id']}", q="the")
    assert found["complete"]
    assert found["pages"] == document["n_pages"] == found["searched"]
    assert found["count"] >= len(found["hits"]) > 10
    assert {hit["page"] for hit in found["hits"]} <= set(range(1, document["n_pages"] + 1))
    assert all("the" in hit["context"].casefold() for hit in found["hits"])
    some = get(world.ada, f"/page-search/{document['id']}", q="the", pages="2,4-5")
    assert {hit["page"] for hit in some["hits"]} <= {2, 4, 5}
    assert some["pages"] == 3


@pytest.mark.parametrize("parameters", [{"q": "x" * 201}, {"q": "x", "pages": "a"}, {"q": "x", "pages": "1-"}])
def test_a_search_that_makes_no_sense_is_named(world: World, item: dict[str, Any], parameters: dict[str, str]) -> None:
    answer = world.ada.get(f"/page-search/{item['documents'][0]['id']}", params=parameters)
    assert (answer.status_code, answer.json()["kind"]) == (422, "InvalidInput")


# Words of a page ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents(world: World) -> dict[str, int]:
    """A page with words, a scan, one without bytes, and one with a password, in a project of their own."""
    project_id = create_project(world.server.db, world.server.admin, "Words")
    written, sealed = mupdf.open(), mupdf.open()
    page = written.new_page(width=300, height=400)
    page.insert_text((30, 50), "Tide table of 2024")
    page.set_rotation(90)
    sealed.new_page().insert_text((72, 72), "sealed")
    scan = io.BytesIO()
    Image.new("RGB", (60, 80), "white").save(scan, "PNG")
    contents = {
        "written": ("application/pdf", written.tobytes()),
        "scan": ("image/png", scan.getvalue()),
        "sealed": ("application/pdf", sealed.tobytes(encryption=mupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")),
        "without": ("", b""),
    }
    ids = {}
    with world.server.db.write() as session:
        for key, (media_type, data) in contents.items():
            document = Document(project_id=project_id, key=key)
            if data:
                document.sha256 = hashlib.sha256(data).hexdigest()
                document.media_type, document.n_pages = media_type, 1
                path = world.server.home / "data" / "documents" / document.sha256[:2] / document.sha256
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            session.add(document)
            session.flush()
            assert document.id is not None
            ids[key] = document.id
    return ids


def test_the_words_of_a_page_are_kept_by_the_browser(world: World, documents: dict[str, int]) -> None:
    answer = world.admin.get(f"/page-words/{documents['written']}/1?v=abc")
    body = answer.json()
    assert [word[4] for word in body["words"]] == ["Tide", "table", "of", "2024"]
    assert body["page"] == 1
    assert not body["ocr"]
    x0, y0, x1, y1, _, line = body["words"][0]
    assert x1 - x0 < y1 - y0  # the page is displayed on its side
    assert line == 0
    assert answer.headers["cache-control"] == "private, max-age=604800, immutable"
    assert answer.headers["vary"] == "Cookie"
    again = world.admin.get(f"/page-words/{documents['written']}/1", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize(
    ("key", "says"), [("scan", "no text layer"), ("without", "not been supplied"), ("sealed", "password")]
)
def test_a_page_without_words_says_why(world: World, documents: dict[str, int], key: str, says: str) -> None:
    answer = world.admin.get(f"/page-words/{documents[key]}/1?v=abc")
    body = answer.json()
    assert (answer.status_code, body["words"]) == (200, [])
    assert says in body["reason"]
    assert "immutable" not in answer.headers["cache-control"]
    found = get(world.admin, f"/page-search/{documents[key]}", q="tide")
    assert (found["count"], found["complete"]) == (0, True)


def test_recognised_words_come_as_such_once_they_are_there(world: World, documents: dict[str, int]) -> None:
    with world.server.db.read() as session:
        digest = session.get_one(Document, documents["scan"]).sha256
    assert digest is not None
    settings = Settings.load(home=str(world.server.home))
    path = settings.documents_folder / digest[:2] / digest
    with Renderer(workers=1) as renderer:
        index = WordIndex(settings.pages_folder, settings.recognised_folder, renderer)
        read = PageWords(pack_words([Word((0.1, 0.1, 0.5, 0.2), "recognised", 0)], ocr=True))
        index.keep_recognised(Source(digest, path, "image/png"), {1: read})
    body = get(world.admin, f"/page-words/{documents['scan']}/1", v="abc")
    assert body["ocr"]
    assert body["words"][0][4] == "recognised"
    assert get(world.admin, f"/page-search/{documents['scan']}", q="cognis")["count"] == 1


# Parts of a page ------------------------------------------------------------------------------------------------------


def test_a_part_of_a_page_is_drawn_as_wide_as_is_asked_for(world: World, documents: dict[str, int]) -> None:
    path = f"/page-images/{documents['written']}/1"
    whole = world.admin.get(path, params={"w": "480"})
    part = world.admin.get(path, params={"w": "480", "x0": "0.5", "y0": "0", "x1": "1", "y1": "0.25", "v": "abc"})
    assert part.status_code == 200
    picture = Image.open(io.BytesIO(part.content))
    assert picture.width == 480
    assert picture.width / picture.height == pytest.approx(0.5 * 400 / (0.25 * 300), rel=0.01)
    assert part.headers["etag"] != whole.headers["etag"]
    assert part.headers["cache-control"] == "private, max-age=604800, immutable"


@pytest.mark.parametrize(
    "edges",
    [
        ("0", "0", "1", None),
        ("0", "0", "0", "1"),
        ("a", "0", "1", "1"),
        ("0", "0", "2", "1"),
        ("-0.1", "0", "1", "1"),
        ("nan", "0", "1", "1"),
        ("1e-3", "0", "1", "1"),
    ],
)
def test_what_is_no_part_of_a_page_is_named(
    world: World, documents: dict[str, int], edges: tuple[str | None, ...]
) -> None:
    parameters = {name: edge for name, edge in zip(("x0", "y0", "x1", "y1"), edges, strict=True) if edge is not None}
    answer = world.admin.get(f"/page-images/{documents['written']}/1", params=parameters)
    assert (answer.status_code, answer.json()["kind"]) == (422, "InvalidInput")


# Thumbnails -----------------------------------------------------------------------------------------------------------


def thumbnails(answer: httpx.Response) -> dict[int, bytes]:
    """Page → picture: each comes behind its page and its length."""
    assert answer.status_code == 200, answer.text
    found = {}
    at = 0
    while at < len(answer.content):
        page, size = struct.unpack_from(">II", answer.content, at)
        found[page] = answer.content[at + 8 : at + 8 + size]
        at += 8 + size
    return found


def test_thumbnails_come_together(world: World, item: dict[str, Any]) -> None:
    document = item["documents"][0]
    at, n_pages = f"/page-images/{document['id']}", document["n_pages"]
    assert world.ben.get(f"{at}/1-{n_pages}").status_code == 404  # he has the question alone before him
    answer = world.ada.get(f"{at}/2-3", params={"v": "abc"})
    assert thumbnails(answer) == {page: world.ada.get(f"{at}/{page}", params={"w": 160}).content for page in (2, 3)}
    assert answer.headers["cache-control"] == "private, max-age=604800, immutable"
    assert (answer.headers["vary"], answer.headers["content-encoding"]) == ("Cookie", "identity")
    assert set(thumbnails(world.ada.get(f"{at}/{n_pages}-99999999999"))) == {n_pages}
    assert world.ada.get(f"{at}/9-3").content == b""


@pytest.mark.parametrize("key", ["without", "sealed"])
def test_thumbnails_that_cannot_be_drawn_are_missing_and_asked_for_again(
    world: World, documents: dict[str, int], key: str
) -> None:
    answer = world.admin.get(f"/page-images/{documents[key]}/1-3", params={"v": "abc"})
    assert thumbnails(answer) == {}
    assert answer.headers["cache-control"] == "no-store"
