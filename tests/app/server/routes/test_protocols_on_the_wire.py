"""Each built-in protocol, step by step over its routes: what a step does not show is not sent, looking ahead included.

Every text, key and number of the items is one that is found again; all bytes of all answers are kept and searched after
each step, and every page is asked for as a picture, a thumbnail, words and a search, as a curious annotator could.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pymupdf
import pytest
from sqlmodel import select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotators.criteria import KINDS, Criterion
from annotators.designing.design import StudyDesign
from annotators.errors import AssayError
from annotators.items.targets import TargetKind
from annotators.pages.words.index import WordIndex
from annotators.protocols import PROTOCOLS, Material, Protocol
from app.on_pages import OnPages
from app.server.routes import annotate, page_images, page_text
from app.server.web import handle_error
from db.annotating.previews import preview
from db.designing.making import create_study
from db.models import Document
from db.people.accounts import actor_named
from db.permissions import Actor
from db.projects import create_project
from exports.importing.items import import_paths
from tests.app.pages import Pages, installation
from tests.makers import read_guidelines

SYSTEMS = ("harbourmind", "lanternette")
QUESTIONS = ("tide", "mill", "pier")
PAGES = 9
CITED, OF_QUESTION, OF_ANSWER, OF_REFERENCE = (1, 2), 3, 4, 5
"""Pages of a document that evidence is on, and where the image of each text is; no part is on the others."""

TOKEN = re.compile(r"zq(\w+?)qz")
NEVER = {"metadata", "category", "key", "system", "role", "used"}


def token(*about: str) -> str:
    """A word that stands nowhere else, by which a field of an item is found again on the wire."""
    return f"zq{'_'.join(about)}qz"


def item(question: str, system: str) -> dict[str, Any]:
    """An item in which everything that an item can have says what it is."""

    def own(field: str) -> str:
        return token(field, question, str(SYSTEMS.index(system)))

    document = f"{question}.pdf"
    return {
        "id": own("key"),
        "question_key": question,
        "question": f"{token('question', question)}?",
        "answer": f"{own('answer')} said.\n\n<PIC>\n\nAnd more was said.",
        "system": system,
        "category": token("category"),
        "references": [f"{token('reference', question)} is right."],
        "documents": [document],
        "hops": [
            {"key": f"h{n}", "question": token(f"hop{n}", question), "answer": token(f"hopanswer{n}", question)}
            for n in (1, 2)
        ],
        "claims": [
            {"key": f"{own('key')}{side}", "text": own(f"claim-{side}".replace("-", "")), "of": side}
            for side in ("answer", "reference")
        ],
        "images": [
            {
                "key": f"{own('key')}{side}", "caption": own(f"caption{side}"),
                "document": document, "page": page, "of": side,
            }
            for side, page in (("question", OF_QUESTION), ("answer", OF_ANSWER), ("reference", OF_REFERENCE))
        ],
        "evidence": [
            {
                "key": f"{own('key')}e{page}", "kind": "passage", "document": document, "pages": [page],
                "role": "gold" if page == 1 else "distractor", "used": page == 1, "rank": page, "hop": page,
                "text": token(f"passage{page}", question), "metadata": {"note": own("metadata")},
            }
            for page in CITED
        ],
        "scores": [{"name": "correctness", "value": 0.7319}, {"name": "hallucination", "value": 1.0}],
        "metadata": {"note": own("metadata")},
    }  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pages, int]]:
    """An installation with one project of three questions and two systems' answers, each question with its document."""
    folder = tmp_path_factory.mktemp("in")
    for question in QUESTIONS:
        with pymupdf.open() as pdf:
            for number in range(1, PAGES + 1):
                pdf.new_page(width=200, height=300).insert_text((10, 50), f"Page {number} {token('page', question)}")
            pdf.save(folder / f"{question}.pdf")
    rows = [item(question, system) for question in QUESTIONS for system in SYSTEMS]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    documents = [{"key": f"{question}.pdf", "path": f"{question}.pdf"} for question in QUESTIONS]
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    with pytest.MonkeyPatch.context() as patch, installation(tmp_path_factory.mktemp("home"), patch) as pages:
        project = create_project(pages.db, pages.admin, "Wire")
        report = import_paths(
            pages.db, pages.admin, project, paths=[folder], format_name="native",
            data_folder=pages.state.settings.documents_folder,
        )  # fmt: skip
        assert report.rejected == []
        yield pages, project


class Browser:
    """What one annotator's browser asks, and everything that it was ever answered."""

    def __init__(self, pages: Pages, actor: Actor, study: int) -> None:
        state = pages.state
        routes = [*annotate.routes(lambda: pages.db), *page_images.routes(state), *page_text.routes(state)]
        app = Starlette(routes=routes, exception_handlers={AssayError: handle_error})

        async def signed_in(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
            scope["state"] = {**scope.get("state", {}), "actor": actor}
            await app(scope, receive, send)

        self.client = TestClient(signed_in)
        self.base = f"/api/studies/{study}"
        self.seen = ""

    def work(self) -> dict[str, Any]:
        return self._keep(self.client.get(f"{self.base}/work"))

    def submit(self, item: Mapping[str, Any], labels: list[dict[str, Any]]) -> dict[str, Any]:
        step = {name: item[name] for name in ("assignment", "sitting", "step")}
        uid = f"{self.base}{step}"[:100]
        return self._keep(
            self.client.post(
                f"{self.base}/submit",
                json={"uid": uid, **step, "labels": labels, "comment": None, "flag": False, "seconds": 1},
            )
        )

    def texts(self, assignment: int) -> dict[str, str]:
        """What the page asks of phrases and passages, whose answers name texts and places."""
        given = {}
        for what in ("phrases", "passages"):
            answer = self.client.get(f"{self.base}/{what}?assignment={assignment}")
            assert answer.status_code == 200
            given[what] = answer.text
            self.seen += answer.text
        return given

    def pages_given(self, document: int) -> set[int]:
        """The pages of a document that come as a picture; the same ones have to come in every other way."""
        given = {
            what: {n for n in range(1, PAGES + 1) if self.client.get(f"/{what}/{document}/{n}").status_code == 200}
            for what in ("page-images", "page-words")
        }
        search = self.client.get(f"/page-search/{document}?q=Page")
        hits = {hit["page"] for hit in search.json()["hits"]} if search.status_code == 200 else set()
        assert given["page-words"] == hits == given["page-images"]
        return given["page-images"]

    def _keep(self, answer: Any) -> dict[str, Any]:
        assert answer.status_code == 200, answer.text
        self.seen += answer.text
        found: dict[str, Any] = answer.json()
        return found


def label(criterion: Criterion, target: str, item: Mapping[str, Any]) -> Any:
    """A label that this criterion takes: the first one."""
    if known := criterion.label_list():
        return [] if isinstance(criterion, (KINDS["several"], KINDS["spans"])) else known[0].value
    given = {
        "order": [image["key"] for image in item.get("images", []) if image.get("of", "answer") == "answer"],
        "place": "nowhere", "text": "It is so.", "number": getattr(criterion, "minimum", 0),
    }  # fmt: skip
    return given[criterion.kind]


def labels(protocol: Protocol, item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All labels of a step, but for those that are asked only after other labels than the first."""
    given: dict[tuple[str, str], Any] = {(row["criterion"], row["target"]): row["value"] for row in item["committed"]}
    found = []
    for criterion in protocol.step_criteria(item["step"]):
        for target in item["units"][criterion.name]:
            when = criterion.when
            if when and not {str(given.get((when.criterion, place))) for place in (target, "item")} & set(
                map(str, when.values)
            ):
                continue
            given[criterion.name, target] = value = label(criterion, target, item)
            found.append({"criterion": criterion.name, "target": target, "value": value})
    return found


def shown_fields(protocol: Protocol, step: int) -> set[str]:
    """The fields of an item that may have been sent once this step (from 0) is open, by what the protocol says."""
    shows = protocol.shown_at(step)
    asked = [criterion for n in range(step + 1) for criterion in protocol.step_criteria(n)]
    texts = {
        "question": Material.QUESTION in shows,
        "answer": Material.ANSWER in shows,
        "reference": Material.REFERENCES in shows,
    }
    fields = {name for name, shown in texts.items() if shown}
    if Material.HOPS in shows:
        fields |= {"hop1", "hop2"} | ({"hopanswer1", "hopanswer2"} if texts["answer"] else set())
    for side in ("answer", "reference"):
        about = [
            criterion for criterion in asked if criterion.target in CLAIM_TARGETS and criterion.side in (None, side)
        ]
        if Material.CLAIMS in shows and about:
            fields.add(f"claim{side}")
    if Material.IMAGES in shows:
        fields |= {f"caption{side}" for side, shown in texts.items() if shown}
    if Material.EVIDENCE in shows:
        fields |= {"passage1", "passage2"}
    return fields


CLAIM_TARGETS = {kind for kind in TargetKind if kind.value.startswith("claim")}


def pages_shown(protocol: Protocol, step: int) -> set[int]:
    shows = protocol.shown_at(step)
    if Material.DOCUMENTS in shows:
        return set(range(1, PAGES + 1))
    fields = shown_fields(protocol, step)
    images = {"captionquestion": OF_QUESTION, "captionanswer": OF_ANSWER, "captionreference": OF_REFERENCE}
    return {page for field, page in images.items() if field in fields} | (set(CITED) if "passage1" in fields else set())


@pytest.mark.parametrize("protocol", list(PROTOCOLS), ids=lambda protocol: protocol.name)
def test_a_step_sends_what_it_shows_and_nothing_else(world: tuple[Pages, int], protocol: Protocol) -> None:
    pages, project = world
    pairs = SYSTEMS if protocol.about_pairs else ()
    person = f"who judges {protocol.name}"  # who has judged in another study may see what that one shows
    pages.person(person, "annotator")
    design = StudyDesign(name=protocol.name, annotators=(person,), overlap=1, order="given", pairs=pairs)
    study = create_study(pages.db, pages.admin, project, protocol=protocol, design=design).study_id
    read_guidelines(pages.db, study)
    browser = Browser(pages, actor_named(pages.db, person), study)
    work = browser.work()
    here, *ahead = work["items"]
    assert ahead, "nothing to look ahead to"
    documents = documents_of(pages)
    for step in range(len(protocol.steps)):
        assert here["step"] == step
        browser.texts(here["assignment"])
        question = next(name for name in QUESTIONS if token("question", name) in here["question"])
        now, first = shown_fields(protocol, step), shown_fields(protocol, 0)
        sent = sent_fields(browser.seen)
        assert sent[question] == now
        for other in set(QUESTIONS) - {question}:
            assert sent.get(other, set()) <= first, f"of the items ahead {sent[other] - first} was sent"
        assert browser.pages_given(documents[question]) == pages_shown(protocol, step)
        values = Material.SCORES in protocol.shown_at(step)
        assert ("0.7319" in browser.seen or "0.73" in browser.seen) == values
        answer = browser.submit(here, labels(protocol, here))
        here = answer["item"] or here
    items = re.sub(r'"study":\{"id".*?"guidelines_read":\w+\}', "", browser.seen)  # what the protocol says of itself
    for hidden in (*SYSTEMS, "distractor", '"gold"', '"used"', '"rank"', "page_labels"):
        assert hidden not in items, f"{hidden} was sent"


@pytest.mark.parametrize("protocol", list(PROTOCOLS), ids=lambda protocol: protocol.name)
def test_a_preview_is_what_the_browser_gets_byte_for_byte(world: tuple[Pages, int], protocol: Protocol) -> None:
    pages, project = world
    previews = {question: previewed(pages, project, protocol, token("key", question, "0")) for question in QUESTIONS}
    person = f"who previews {protocol.name}"
    pages.person(person, "annotator")
    design = StudyDesign(
        name=f"{protocol.name} previewed", annotators=(person,), overlap=1, order="given",
        items=ITEMS if protocol.about_pairs else ITEMS[::2], pairs=SYSTEMS if protocol.about_pairs else (),
    )  # fmt: skip
    study = create_study(pages.db, pages.admin, project, protocol=protocol, design=design).study_id
    read_guidelines(pages.db, study)
    browser = Browser(pages, actor_named(pages.db, person), study)
    here = browser.work()["items"][0]
    question = next(name for name in QUESTIONS if token("question", name) in here["question"])
    for step in previews[question]:
        fetched = {name: json.loads(text) for name, text in browser.texts(here["assignment"]).items()}
        marks = {name: found for name, found in fetched.items() if name in step["material"]}
        own = {name: value for name, value in here.items() if name not in OF_AN_ASSIGNMENT}
        assert json.dumps([step["shown"], step["units"]]) == json.dumps([own.pop("shown"), own.pop("units")])
        assert json.dumps(step["material"]) == json.dumps(own | marks)
        here = browser.submit(here, labels(protocol, here))["item"] or here


ITEMS = tuple(token("key", question, system) for question in QUESTIONS for system in "01")
OF_AN_ASSIGNMENT = {"assignment", "sitting", "step", "returned", "committed", "previous", "draft"}


def previewed(pages: Pages, project: int, protocol: Protocol, external_id: str) -> list[dict[str, Any]]:
    """The steps of a preview, as `assay protocol preview --json` has them."""
    steps = preview(pages.db, pages.admin, project, protocol=protocol, external_id=external_id)
    settings = pages.state.settings
    index = WordIndex(settings.pages_folder, settings.recognised_folder, pages.state.renderer)
    on_pages = OnPages(index, settings.documents_folder)
    return [
        {
            "step": step.step, "shown": step.shown, "units": step.units,
            "material": step.material | on_pages.of_step(step, seconds=None),
        }
        for step in steps
    ]  # fmt: skip


def sent_fields(seen: str) -> dict[str, set[str]]:
    """Question → the fields of its items that were sent; no field that none may ever send."""
    sent: dict[str, set[str]] = {}
    for field, *rest in (found.split("_") for found in TOKEN.findall(seen)):
        assert field not in NEVER, f"{field} was sent"
        sent.setdefault(rest[0], set()).add(field)
    return sent


def documents_of(pages: Pages) -> dict[str, int]:
    with pages.db.read() as session:
        return {row.key.removesuffix(".pdf"): row.id or 0 for row in session.exec(select(Document)).all()}
