"""The page Adjudicate without a study: every study with its disputes, one click from its desk, and what was decided."""

from __future__ import annotations

import re
from copy import copy

import pytest

from annotators.designing.design import StudyDesign
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputes
from db.adjudicating.stages import is_by_uncertainty
from db.designing.making import create_study
from db.people.accounts import set_member
from db.permissions import Role
from db.projects import create_project
from tests.app.filled import Filled, actor_named, no_problem
from tests.app.pages import Pages
from tests.makers import StudyInUse, tiny_protocol


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def test_a_study_is_a_row_with_its_disputes_and_leads_to_its_desk(filled: Filled) -> None:
    shown = no_problem(filled.open("adam", "adjudicate"))
    assert "4 disputed items in" in shown
    assert re.search(r"<caption>Studies by how many items are disputed</caption>", shown)
    assert len(re.findall(rf'href="/adjudicate\?study={filled.study_id}&amp;project={filled.project_id}"', shown)) == 2
    assert "just now" in shown
    assert "Decided lately" not in shown


def test_what_was_decided_lately_is_said_with_who_and_why(filled: Filled) -> None:
    adam = actor_named(filled.pages, "adam")
    first, *_ = disputes(filled.pages.db, adam, filled.study_id)
    decision = UnitDecision("right", "item", "no", "It is on page 3.")
    adjudicate(filled.pages.db, adam, first.study_item_id, uid="d1", decisions=[decision], reason="It is on page 3.")
    shown = re.sub(r"<[^>]+>", " ", no_problem(filled.open("adam", "adjudicate")))
    assert "3 disputed items in" in shown
    assert "just now, by adam" in shown
    assert "Decided lately" in shown
    assert re.search(r": No; 1 against a majority", shown)
    assert "It is on page 3." in shown


def test_studies_of_other_projects_are_listed_when_something_waits_there(filled: Filled) -> None:
    other = StudyInUse(filled.pages.db, items=2, annotators=2, overlap=2)
    for who, value in ((0, "yes"), (1, "no")):
        other.label_all(who, value)
    assert f"study={other.study_id}&amp;" not in no_problem(filled.open("adam", "adjudicate"))
    set_member(filled.pages.db, filled.pages.admin, other.project_id, name="adam", role=Role.ADJUDICATOR)
    shown = no_problem(filled.open("adam", "adjudicate"))
    assert "; 2 in other projects" in shown
    assert f"study={other.study_id}&amp;" in shown


def test_without_a_study_it_says_what_to_do_first(pages: Pages) -> None:
    create_project(pages.db, pages.admin, "Energy")
    assert "There is no study to adjudicate yet" in no_problem(pages.open(pages.token("admin"), "adjudicate"))


def test_the_agreement_page_opens_on_the_newest_study_with_something_to_compare(filled: Filled) -> None:
    people = tuple(actor.name for actor in filled.study.annotators[:2])
    made = create_study(
        filled.pages.db,
        filled.study.researcher,
        filled.project_id,
        protocol=tiny_protocol(),
        design=StudyDesign(name="second", annotators=people, overlap=2, order="given"),
    )
    newer = copy(filled.study)
    newer.study_id = made.study_id
    newer.label_all(0)  # one person alone
    page = filled.open("rosa", "agreement")
    [chosen] = [box.value for box in page.selectbox if box.label == "Study"]
    assert chosen == filled.study_id
    newer.label_all(1)
    page = filled.open("rosa", "agreement")
    [chosen] = [box.value for box in page.selectbox if box.label == "Study"]
    assert chosen == newer.study_id


def test_the_order_of_disputes_is_chosen_by_study(filled: Filled) -> None:
    page = filled.open("adam", "adjudicate")
    page.radio(key="order-by").set_value("uncertainty")
    page.button(key="order-apply").click()
    page.run()
    assert "4 disputed items of" in no_problem(page)
    with filled.pages.db.read() as session:
        assert is_by_uncertainty(session, filled.study_id)
