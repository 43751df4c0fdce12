"""Drafts on demand: what asking sends, what comes, that nothing changes until it is taken, and what the event says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sqlmodel import col, select

from annotators.errors import InvalidInput
from annotators.judges.budget import Price
from annotators.judges.client import ServerRefuses
from annotators.judges.prompts import PROMPTS, GeneratingPrompt
from annotators.judges.prompts.generating import Writes
from app.settings import Settings
from app.worker import drafts
from app.worker.jobs import carry_out, worker_name
from db.engine import Database
from db.items.documents import keep_documents
from db.items.read import item_details
from db.jobs import WorkerDesk, job_facts
from db.judging.drafting import Asked, DraftPlan, WriterSettings, WritingMeans, drafts_taken, plan_draft, write_draft
from db.models import Event
from db.permissions import Actor
from db.projects import create_project
from db.releasing.revising import revise_written
from exports.importing.items import import_paths
from tests.app.cli.command_line import write_items
from tests.judging import scripted as script
from tests.judging.scripted import ScriptedServer
from tests.judging.wire import Sent
from tests.makers import make_person

ITEM = {
    "id": "q1",
    "question": "How much was sold?",
    "answer": "41 t of stone, and 3 t of sand.",
    "documents": ["sales.txt"],
    "evidence": [{"key": "e1", "kind": "passage", "document": "sales.txt", "text": "In 2016 41 t of stone were sold."}],
}
REPLIES = {
    "question": {"rationale": "One year is there.", "written": {"question": "How much stone was sold in 2016?"}},
    "answer": {"rationale": "One piece has it.", "written": {"answer": "In 2016 41 t of stone were sold."}},
    "claims": {"claims": ["41 t of stone were sold.", "3 t of sand were sold."]},
}  # fmt: skip
ELSEWHERE = "https://models.example.org/v1"


def reply(sent: Sent) -> script.Turn:
    whole = Draft202012Validator(sent.schema or {})
    return script.Whole(next(said for said in REPLIES.values() if whole.is_valid(said)))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(reply) as opened:
        yield opened


class Place:
    """A project with one item and its document, without bytes."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db, self.admin = db, make_person(db, admin=True)
        self.project = create_project(db, self.admin, "Drafts")
        folder.mkdir()
        assert import_paths(db, self.admin, self.project, paths=[write_items(folder, ITEM)]).rejected == []

    def item(self) -> Any:
        return item_details(self.db, self.admin, self.project, external_id="q1").item

    def writer(self, writes: Writes, server: str) -> WriterSettings:
        [prompt] = [one for one in PROMPTS if isinstance(one, GeneratingPrompt) and one.writes == writes]
        return WriterSettings("tiny-judge", server, prompt)

    def write(self, writes: Writes, server: ScriptedServer, **texts: str) -> dict[str, Any]:
        asked = Asked("q1", writes, texts)
        means = WritingMeans(price=Price(1.0, 2.0), seconds=20)
        return write_draft(
            self.db, self.admin, self.project, asked=asked, writer=self.writer(writes, server.base_url), means=means
        )


@pytest.fixture
def place(database: Database, tmp_path: Path) -> Place:
    return Place(database, tmp_path / "in")


def test_each_is_drafted_and_the_item_stays_as_it_is(place: Place, server: ScriptedServer) -> None:
    before = place.item()
    assert place.write("question", server)["texts"] == ["How much stone was sold in 2016?"]
    found = place.write("answer", server)
    assert found["texts"] == ["In 2016 41 t of stone were sold."]
    assert found["prompt"]["name"] == "answer_rewriting"
    assert found["cost"] is not None
    assert place.write("claims", server)["texts"] == REPLIES["claims"]["claims"]
    assert place.item() == before
    assert server.requests == 3
    place.write("answer", server)
    assert server.requests == 3, "the same request is paid once"


def test_what_is_typed_and_not_saved_is_what_is_sent_and_claims_send_no_evidence(
    place: Place, server: ScriptedServer
) -> None:
    plan = plan_draft(
        place.db, place.admin, place.project,
        asked=Asked("q1", "claims", {"answer": "Another answer."}), writer=place.writer("claims", ELSEWHERE),
    )  # fmt: skip
    assert plan.leaves(ELSEWHERE) == f"question, answer of this item leave this machine for {ELSEWHERE}"
    assert "Another answer." in plan.request
    assert "In 2016" not in plan.request
    plan = plan_draft(
        place.db, place.admin, place.project,
        asked=Asked("q1", "answer"), writer=place.writer("answer", server.base_url), price=Price(1.0, 1.0),
    )  # fmt: skip
    assert plan.leaves(server.base_url) is None
    assert "In 2016 41 t" in plan.request
    assert plan.cost is not None
    assert server.requests == 0


def test_a_document_that_must_stay_is_sent_nowhere_else(place: Place, server: ScriptedServer) -> None:
    keep_documents(place.db, place.admin, place.project, keys=["sales.txt"])
    with pytest.raises(InvalidInput, match="must not leave this machine"):
        plan_draft(
            place.db, place.admin, place.project, asked=Asked("q1", "answer"), writer=place.writer("answer", ELSEWHERE)
        )
    assert place.write("answer", server)["texts"]


def test_what_goes_wrong_is_said_and_there_is_no_draft(place: Place) -> None:
    with ScriptedServer([script.Whole("no JSON at all")] * 2) as server:
        found = place.write("question", server)
        assert found["texts"] == []
        assert found["problem"]
    with ScriptedServer([], models=("other",)) as server, pytest.raises(ServerRefuses, match="tiny-judge"):
        place.write("answer", server)


def test_a_job_writes_it_and_the_event_of_the_revision_says_by_which_model_and_prompt(
    place: Place, server: ScriptedServer, tmp_path: Path
) -> None:
    settings = Settings.load({}, home=tmp_path, judge_servers=server.base_url)
    actor: Actor = place.admin
    given = (place.db, actor, place.project)
    with pytest.raises(InvalidInput, match="may not be asked on"):
        drafts.writer_of(*given, settings, server=ELSEWHERE, model="m", prompt="answer_rewriting")
    [prompt] = drafts.writing_prompts(*given, "answer")
    writer = drafts.writer_of(*given, settings, server=server.base_url, model="tiny-judge", prompt=prompt)
    job = drafts.queue_draft(*given, asked=Asked("q1", "answer"), writer=writer)
    assert drafts.outcome(job)["state"] == "waiting"
    desk = WorkerDesk(place.db, worker_name())
    taken = desk.take(job.job_id)
    assert taken is not None
    carry_out(place.db, desk, taken, settings=settings)
    found = drafts.outcome(job_facts(*given, job_id=job.job_id))
    [text] = found["draft"]["texts"]
    revise_written(
        *given, external_id="q1", given={"answer": text}, reason="clearer", from_version=1,
        drafts={"answer": job.job_id},
    )  # fmt: skip
    with place.db.read() as session:
        [event] = session.exec(select(Event).where(col(Event.kind) == "item revised")).all()
    proposed = event.details["proposed"]["answer"]
    assert (proposed["job"], proposed["model"], proposed["changed"]) == (job.job_id, "tiny-judge", False)
    assert proposed["prompt"]["name"] == "answer_rewriting"
    assert proposed["prompt"]["hash"]
    assert "In 2016" not in json.dumps(proposed)
    with pytest.raises(InvalidInput, match="has written nothing of item 'q2'"):
        drafts_taken(*given, item="q2", drafts={"answer": job.job_id}, texts={})
    assert drafts_taken(*given, item="q1", drafts={"answer": job.job_id}, texts={"answer": "x"})["answer"]["changed"]


@pytest.mark.parametrize(
    ("shows", "pictures", "words"),
    [
        ((), 3, None),
        (("evidence",), 0, "evidence of this item leave this machine for there"),
        (("question", "evidence"), 1, "question, evidence and 1 picture of this item leave this machine for there"),
        (("question",), 2, "question and 2 pictures of this item leave this machine for there"),
    ],
)
def test_what_leaves_this_machine_is_said_with_its_pictures(
    shows: tuple[str, ...], pictures: int, words: str | None
) -> None:
    plan = DraftPlan(1, 1, 2, None, pictures, shows, "plain@1", "…")
    assert plan.leaves("there") == words
