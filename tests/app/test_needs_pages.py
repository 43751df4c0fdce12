"""What waits for a study's researcher, as pages show it: a row each with the button that ends it."""

from __future__ import annotations

import pytest
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from db.annotating.amendments import set_state
from db.models import Item, ProposedRevision, StudyState
from db.needs.of_studies import needs_of
from db.people.accounts import set_member
from db.permissions import Role
from tests.app.filled import no_problem, press
from tests.app.pages import Pages
from tests.db.quality.test_qualification import qualify, try_with
from tests.makers import StudyInUse


@pytest.fixture
def study(pages: Pages) -> StudyInUse:
    """A study whose three annotators all failed the qualification; `rosa` is its researcher, `vera` only reads."""
    study = StudyInUse(pages.db, items=2, annotators=3, overlap=3)
    for name, role in (("rosa", Role.RESEARCHER), ("vera", Role.VIEWER)):
        pages.person(name)
        set_member(pages.db, pages.admin, study.project_id, name=name, role=role)
    qualify(study, n=1, tries=1)
    for who in range(3):
        try_with(study, "no", who=who)
    return study


def opened(pages: Pages, study: StudyInUse, name: str, who: str = "rosa") -> AppTest:
    of = {} if name == "home" else {"study": str(study.study_id)}
    return pages.open(pages.token(who), name, project=str(study.project_id), **of)


@pytest.mark.parametrize("name", ["home", "study", "annotators"])
def test_who_failed_is_told_with_the_button_that_lets_them_in(pages: Pages, study: StudyInUse, name: str) -> None:
    page = opened(pages, study, name)
    assert "annotators failed the qualification and get no items" in no_problem(page)
    labels = [button.label for button in page.button]
    assert labels.count("Let in…") == 1
    assert ("Amend…" in labels) == (name != "annotators"), "nobody is left for the items, which is no annotator's"
    press(page, "Let in…")
    assert "without passing the qualification" in no_problem(page)
    page.button(key="need-let-in-save").click().run()
    assert "Say why" in page.error[0].value
    first = study.annotators[0].name
    page.multiselect(key="need-let-in-people").set_value([first])
    page.text_input(key="need-let-in-reason").input("the third item was unclear")
    page.button(key="need-let-in-save").click().run()
    no_problem(page)
    assert [toast.value.replace("\\", "") for toast in page.toast] == [f"{first} gets the study's items now."]
    assert [need.n for need in needs_of(pages.db, study.researcher, study.study_id)] == [2]
    assert "the third item was unclear" in no_problem(opened(pages, study, "annotators"))


def test_the_study_leads_to_its_annotators_before_anybody_has_submitted(pages: Pages, study: StudyInUse) -> None:
    page = opened(pages, study, "study")
    assert f"/annotators?study={study.study_id}" in "".join(part.body for part in page.get("html"))


def test_others_than_researchers_are_told_nothing(pages: Pages, study: StudyInUse) -> None:
    for name in ("home", "study"):
        page = opened(pages, study, name, "vera")
        assert "failed the qualification" not in no_problem(page)
        assert not [button for button in page.button if (button.key or "").startswith("needs-")]


def test_a_paused_study_is_started_again_from_home(pages: Pages, study: StudyInUse) -> None:
    set_state(pages.db, study.researcher, study.study_id, state=StudyState.PAUSED, reason="new guidelines")
    page = opened(pages, study, "home")
    assert "the study is paused: new guidelines" in no_problem(page)
    press(page, "Start again…")
    page.text_input(key="need-start-reason").input("here they are")
    page.button(key="need-start-save").click().run()
    assert "the study is paused" not in no_problem(page)
    assert page.toast[0].value == "The study is running again."


def test_home_says_that_revisions_which_an_import_proposes_wait_for_an_answer(pages: Pages) -> None:
    study = StudyInUse(pages.db, items=1, annotators=1, overlap=1)
    pages.person("rosa")
    set_member(pages.db, pages.admin, study.project_id, name="rosa", role=Role.RESEARCHER)
    study.label_all(0)
    assert "that an import proposes" not in no_problem(opened(pages, study, "home"))
    with pages.db.write() as session:
        item_id = session.exec(select(Item.id).where(Item.project_id == study.project_id)).one()
        about = {"source": "later.jsonl", "line": 1, "fields": {"answer": "Another."}, "content_hash": "0" * 64}
        session.add(ProposedRevision(project_id=study.project_id, item_id=item_id, **about))
    page = opened(pages, study, "home")
    assert "revision that an import proposes" in no_problem(page)
    assert "Answer" in [button.label for button in page.button]
