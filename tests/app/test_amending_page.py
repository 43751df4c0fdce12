"""Pausing, closing and amending a study on its page, and what the others of the project see of it."""

from __future__ import annotations

import pytest

from app.pages.study.progress import time_left
from db.annotating.amendments import amendments_of, set_state
from db.annotating.status import study_status
from db.models import StudyState, now
from db.quality.omissions import leave_out
from tests.app.filled import Filled, no_problem
from tests.app.pages import Pages
from tests.makers import StudyInUse


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def test_a_study_is_paused_with_a_reason_and_says_so_everywhere(filled: Filled) -> None:
    page = filled.open("rosa", "study", study=filled.study_id, show="design")
    page.button(key="study-paused-save").click().run()
    assert "Say why" in page.error[0].value
    page.text_input(key="study-paused-reason").input("The guidelines <b>change</b>.")
    page.button(key="study-paused-save").click().run()
    page = filled.open("rosa", "study", study=filled.study_id, show="design")
    assert "&lt;b&gt;change&lt;/b&gt;" in no_problem(page)
    assert "Start again" in [button.label for button in page.button]
    assert "paused" in no_problem(filled.open("rosa", "studies"))
    assert "paused" in no_problem(filled.open("rosa", "home"))


def test_how_much_annotating_is_left_is_said_by_the_state(filled: Filled) -> None:
    study = StudyInUse(filled.pages.db, items=2)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    about = (study.db, study.researcher, study.study_id)
    assert time_left(study_status(*about)) == "About 10 s of annotating left at this pace."
    set_state(*about, state=StudyState.PAUSED, reason="The guidelines change.")
    assert time_left(study_status(*about)).endswith("left at this pace, once it is started again.")
    set_state(*about, state=StudyState.CLOSED, reason="Enough.")
    assert time_left(study_status(*about)) == ""


def test_the_team_and_the_overlap_are_amended_in_one(filled: Filled) -> None:
    page = filled.open("rosa", "study", study=filled.study_id, show="design")
    leaver = filled.study.annotators[0].name
    page.multiselect(key="amend-remove").select(leaver)
    page.text_input(key="amend-reason").input("One has left.")
    page.button(key="study-amend-save").click().run()
    assert "are left" in page.error[0].value
    page.number_input(key="amend-overlap").set_value(2)
    page.button(key="study-amend-save").click().run()
    rows = amendments_of(filled.pages.db, filled.study.researcher, filled.study_id)
    assert [(row.what, row.reason) for row in rows] == [("annotators", "One has left."), ("overlap", "One has left.")]
    shown = no_problem(filled.open("rosa", "study", study=filled.study_id))
    assert f"{leaver} (left)" in shown


def test_who_only_reads_sees_the_amendments_and_no_buttons(filled: Filled) -> None:
    for who in ("vera", "adam"):
        page = filled.open(who, "study", study=filled.study_id, show="design")
        no_problem(page)
        assert not [button for button in page.button if (button.key or "").startswith("study-")], who


def test_a_quota_is_set_and_shown(filled: Filled) -> None:
    page = filled.open("rosa", "study", study=filled.study_id, show="design")
    page.number_input(key="amend-quota").set_value(30)
    page.text_input(key="amend-reason").input("Nobody is to do all of it.")
    page.button(key="study-amend-save").click().run()
    [told] = amendments_of(filled.pages.db, filled.study.researcher, filled.study_id)
    assert (told.what, told.reason) == ("quota", "Nobody is to do all of it.")
    assert " of 30" in no_problem(filled.open("rosa", "study", study=filled.study_id))


def test_what_waits_for_nobody_else_is_handed_on(pages: Pages) -> None:
    study = StudyInUse(pages.db, items=6, annotators=3, overlap=2, queue="balanced")
    gone = study.annotators[0]
    about = (pages.db, study.researcher, study.study_id)
    leave_out(*about, annotator=gone.name, since=now(), reason="to be looked at")
    page = pages.open(pages.token("admin"), "study", study=str(study.study_id))
    no_problem(page)
    assert f"items allotted to {gone.name}, who gets none now, wait for nobody else" in no_problem(page)
    page.button(key=f"needs-progress-{study.study_id}-allotted").click().run()
    page.button(key="need-hand-on-save").click().run()
    assert "Say why" in page.error[0].value
    page.text_input(key="need-hand-on-reason").input("They are ill.")
    page.button(key="need-hand-on-save").click().run()
    assert [toast.value for toast in page.toast] == ["4 slots handed on."]
    page = pages.open(pages.token("admin"), "study", study=str(study.study_id))
    assert "allotted to" not in no_problem(page)
    assert amendments_of(*about)[-1].reason == "They are ill."
