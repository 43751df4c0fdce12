"""What leads to revisions, the page on which claims are written, and proposed revisions."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from db.items.read import ItemDetails, item_details
from db.releasing.proposals import list_proposals
from db.studies.revisions import revise_item
from exports.importing.items import import_paths
from tests.app.filled import Filled, no_problem, press
from tests.app.pages import Pages, words


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def said(page: AppTest) -> str:
    """What stands on the page, without the marks that keep Markdown from reading it."""
    return words(page).replace("\\", "")


def details(filled: Filled, external_id: str) -> ItemDetails:
    return item_details(filled.pages.db, filled.study.researcher, filled.project_id, external_id=external_id)


def test_the_page_lists_what_waits_and_an_item_leads_to_its_revision(filled: Filled) -> None:
    assert "Nothing waits to be revised." in no_problem(filled.open("rosa", "revise"))
    assert "/revise?item=1" in no_problem(filled.open("rosa", "item", item=1))


def test_only_researchers_are_led_to_revise(filled: Filled) -> None:
    for who in ("vera", "adam"):
        assert "/revise?item=1" not in no_problem(filled.open(who, "item", item=1)), who


def test_claims_are_written_one_item_after_the_other(filled: Filled) -> None:
    page = filled.open("rosa", "claims")
    assert "4 items without claims" in no_problem(page)
    [written] = page.text_area
    assert written.value == "Answer of i00001."
    written.input("i00001 has an answer.\n\n  It says so. ")
    press(page, "Save and next")
    assert [(claim.key, claim.text) for claim in details(filled, "i00001").item.content.claims] == [
        ("c1", "i00001 has an answer."),
        ("c2", "It says so."),
    ]
    assert details(filled, "i00001").versions[-1].reason == "Claims written: answer"
    assert "3 items without claims" in no_problem(page)
    assert page.text_area[0].value == "Answer of i00002."
    press(page, "Next without saving")
    assert page.text_area[0].value == "Answer of i00003."
    assert details(filled, "i00002").item.number == 1


def test_claims_that_are_there_are_changed_by_their_texts(filled: Filled) -> None:
    page = filled.open("rosa", "claims", item=1)
    page.text_area[0].input("First.\nSecond.")
    press(page, "Save and next")
    page = filled.open("rosa", "claims", item=1)
    page.text_area[0].input("Second.\nThird.")
    press(page, "Save and next")
    claims = details(filled, "i00001").item.content.claims
    assert [(claim.key, claim.text) for claim in claims] == [("c2", "Second."), ("c3", "Third.")]


def test_who_rewords_a_claim_is_told_that_verdicts_on_it_fall(filled: Filled) -> None:
    about = (filled.pages.db, filled.study.researcher, filled.project_id)
    claims = [{"key": "c1", "text": "First."}, {"key": "c2", "text": "Second."}]
    verdicts = [{"claim": key, "against": "context", "label": "neutral", "source": "people"} for key in ("c1", "c2")]
    fields = {"claims": claims, "metadata": {"verdicts": verdicts}}
    revise_item(*about, external_id="i00001", fields=fields, reason="as they came")
    page = filled.open("rosa", "claims", item=1)
    page.text_area[0].input("First.\nOther.")
    press(page, "Save and next")
    assert [toast.value for toast in page.toast] == [
        "i00001: 2 claims, version 3. 1 verdict that came with the item falls: it is on what is edited."
    ]
    assert details(filled, "i00001").item.content.metadata == {"verdicts": verdicts[:1]}


def test_a_proposed_revision_is_looked_at_and_accepted_or_declined(filled: Filled, tmp_path: Path) -> None:
    rows = [
        {"id": f"i{n:05}", "question_key": f"q-i{n:05}", "system": f"s{(n - 1) % 2}", "question": f"Question {n}?"}
        for n in (1, 2, 3)
    ]
    path = tmp_path / "items.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps({**row, "answer": "A <b>better</b> answer."}) for row in rows))
    import_paths(filled.pages.db, filled.study.researcher, filled.project_id, paths=[path])
    page = filled.open("rosa", "imports")
    shown = no_problem(page)
    assert "3 revisions waiting" in shown
    assert "&lt;b&gt;" in shown and "<b>better" not in shown
    assert "Labels after the edit" in shown
    [first, second, _] = list_proposals(filled.pages.db, filled.study.researcher, filled.project_id)
    page.button(key=f"accept-{first.proposal_id}").click().run()
    assert "Say why" in said(page)
    page.text_input(key=f"proposal-reason-{first.proposal_id}").input("It is better.")
    page.button(key=f"accept-{first.proposal_id}").click().run()
    assert details(filled, "i00001").versions[-1].reason == "It is better."
    assert "2 revisions waiting" in no_problem(page)
    page.text_input(key=f"proposal-reason-{second.proposal_id}").input("It is worse.")
    page.button(key=f"decline-{second.proposal_id}").click().run()
    assert details(filled, "i00002").item.number == 1
    assert "1 revision waiting" in no_problem(page)
