"""Invitations on a study's page: made, shown once, listed with who came by them, and ended; only for researchers."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from sqlmodel import col, select
from streamlit.testing.v1 import AppTest

from annotators.errors import NotFound
from db.annotating.amendments import set_state
from db.inviting.invitations import InvitationTerms, invitations_of, invite
from db.inviting.joining import invited, join
from db.models import Event, StudyState
from tests.app.filled import Filled, no_problem, press
from tests.app.pages import Pages, tables


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def design(filled: Filled, who: str = "rosa") -> AppTest:
    return filled.open(who, "study", study=filled.study_id, show="design")


def token_shown(page: AppTest) -> str:
    [code] = [block.value for block in page.code if "/join/" in block.value]
    return urlsplit(code).path.rpartition("/")[2]


def events_of(filled: Filled) -> list[str]:
    with filled.pages.db.read() as session:
        return list(session.exec(select(Event.kind).order_by(col(Event.id))))


def rows(filled: Filled) -> list[dict[str, object]]:
    about = (filled.pages.db, filled.study.researcher, filled.study_id)
    return [row.to_json() for row in invitations_of(*about)]


def test_a_link_is_made_on_the_page_and_shown_once(filled: Filled) -> None:
    page = design(filled)
    page.number_input(key="invite-uses").set_value(2)
    page.number_input(key="invite-quota").set_value(3)
    page.text_input(key="invite-code").input("DONE42")
    page.text_input(key="invite-parameter").input("PROLIFIC_PID")
    page.button(key="invite-save").click().run()
    shown = no_problem(page)
    assert "A link for 2 people" in shown
    [code] = [block.value for block in page.code if "/join/" in block.value]
    assert code.endswith("?PROLIFIC_PID={ID}")
    found = invited(filled.pages.db, token_shown(page), "203.0.113.9")
    assert (found.quota, found.parameter) == (3, "PROLIFIC_PID")
    press(page, "I have copied it")
    assert not [block.value for block in page.code if "/join/" in block.value]
    [row] = rows(filled)
    assert (row["uses"], row["items"], row["code"]) == (2, 3, "DONE42")
    [listed] = tables(page)["Links"]
    assert listed[:2] == ["1", "0 of 2"] and listed[2].startswith("open until")


def test_terms_that_cannot_be_held_are_said_where_they_are_typed(filled: Filled) -> None:
    page = design(filled)
    page.text_input(key="invite-return").input("http://plain.example")
    page.button(key="invite-save").click().run()
    assert "begins with https" in page.error[0].value
    assert rows(filled) == []


def test_who_came_by_which_link_is_listed_and_recruiters_ids_on_demand_alone(filled: Filled) -> None:
    db = filled.pages.db
    about = (db, filled.study.researcher, filled.study_id)
    first = invite(*about, terms=InvitationTerms(uses=3, parameter="PID"))
    second = invite(*about, terms=InvitationTerms(uses=1))
    join(db, first, recruiter_id="rec-77")
    join(db, second)
    page = design(filled)
    shown = no_problem(page)
    people = tables(page)["Who came by a link"]
    assert [row[1] for row in people] == ["1", "2"]
    assert all(row[0].startswith("guest-") and row[-1] == "at work" for row in people)
    assert "rec-77" not in shown
    assert "recruiter's ids read" not in events_of(filled)
    assert [row[2] for row in tables(page)["Links"]][1] == "used up"
    press(page, "Show the recruiter's ids")
    assert "rec-77" in no_problem(page)
    assert events_of(filled).count("recruiter's ids read") == 1
    page.run()
    assert "rec-77" not in no_problem(page), "they are shown once"


def test_a_link_is_ended_on_the_page(filled: Filled) -> None:
    db = filled.pages.db
    token = invite(db, filled.study.researcher, filled.study_id, terms=InvitationTerms(uses=3))
    page = design(filled)
    page.button(key="uninvite-save").click().run()
    assert "Link 1 is ended" in page.success[0].value
    with pytest.raises(NotFound):
        invited(db, token, "203.0.113.9")
    assert re.match("ended ", tables(page)["Links"][0][2])
    assert not [button for button in page.button if button.key == "uninvite-save"], "there is none to end"


def test_links_are_for_researchers_alone(filled: Filled) -> None:
    invite(filled.pages.db, filled.study.researcher, filled.study_id, terms=InvitationTerms())
    for who in ("vera", "adam"):
        page = design(filled, who)
        assert "Links" not in tables(page)
        assert not [button for button in page.button if button.key == "invite-save"]


def test_a_closed_study_says_why_it_has_no_new_links(filled: Filled) -> None:
    about = (filled.pages.db, filled.study.researcher, filled.study_id)
    invite(*about, terms=InvitationTerms())
    set_state(*about, state=StudyState.CLOSED, reason="Enough.")
    page = design(filled)
    assert "is closed" in no_problem(page)
    assert not [button for button in page.button if button.key == "invite-save"]
