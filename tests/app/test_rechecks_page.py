"""Gold items and rechecks on a study's page."""

from __future__ import annotations

import pytest

from db.people.accounts import set_member
from db.permissions import Role
from db.quality.gold import gold_given
from db.studies.design import study_facts
from tests.app.filled import Filled, no_problem
from tests.app.pages import Pages
from tests.db.releasing.test_recheck import judged, revise
from tests.makers import make_item


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def test_gold_items_come_from_a_file_and_wrong_rows_are_named(filled: Filled) -> None:
    make_item(filled.pages.db, filled.project_id, "g1")
    page = filled.open("rosa", "study", study=filled.study_id, show="design")
    page.file_uploader(key="gold-file").set_value(("gold.csv", b"item,criterion,value\ng2,right,yes\n", "text/csv"))
    page.text_input(key="gold-reason").input("To see who reads.")
    page.button(key="gold-save").click().run()
    assert "The project has no item 'g2'" in page.error[0].value
    page.file_uploader(key="gold-file").set_value(("gold.csv", b"item,criterion,value\ng1,right,yes\n", "text/csv"))
    page.selectbox(key="gold-below").select("pause")
    page.button(key="gold-save").click().run()
    page = filled.open("rosa", "study", study=filled.study_id, show="design")
    assert "To see who reads." in no_problem(page)
    settings = study_facts(filled.pages.db, filled.study.researcher, filled.study_id).settings
    planting = settings["planting"]
    assert (settings["gold_items"], planting["gold_rate"], planting["below"]) == (1, 0.1, "pause")
    assert gold_given(filled.pages.db, filled.study.researcher, filled.study_id) == []


def test_what_fell_is_listed_for_readers_and_sent_back_by_researchers(pages: Pages) -> None:
    study = judged(pages.db, "nn")
    for name, role in (("rosa", Role.RESEARCHER), ("vera", Role.VIEWER)):
        pages.person(name)
        set_member(pages.db, pages.admin, study.project_id, name=name, role=role)
    about = {"project": str(study.project_id), "study": str(study.study_id), "show": "design"}
    assert "fell with revisions" not in no_problem(pages.open(pages.token("rosa"), "study", **about))
    revise(study, "i00001")
    page = pages.open(pages.token("vera"), "study", **about)
    assert "fell with revisions" in no_problem(page)
    assert not [button for button in page.button if button.key == "recheck-save"]
    page = pages.open(pages.token("rosa"), "study", **about)
    page.text_input(key="recheck-reason").input("It was rewritten.")
    page.button(key="recheck-save").click().run()
    shown = no_problem(pages.open(pages.token("rosa"), "study", **about))
    assert "It was rewritten." in shown
    assert "fell with revisions" not in shown
    assert study.work(2)["items"]


def test_each_number_of_items_leads_to_its_list(pages: Pages) -> None:
    study = judged(pages.db, "nn", "yy", "nn")
    revise(study, "i00001")
    pages.person("rosa")
    set_member(pages.db, pages.admin, study.project_id, name="rosa", role=Role.RESEARCHER)
    here = {"project": str(study.project_id), "study": str(study.study_id)}
    shown = no_problem(pages.open(pages.token("rosa"), "study", **here))
    assert f"/data?project={study.project_id}&amp;study={study.study_id}&amp;state=in_recheck" in shown
    shown = no_problem(pages.open(pages.token("rosa"), "study", **here, show="criteria"))
    assert "Labels by criterion" in shown and "Clear" in shown
    for state, item in (("in_recheck", "i00001"), ("accepted", "i00002"), ("in_revision", "i00003")):
        listed = no_problem(pages.open(pages.token("rosa"), "data", **here, state=state))
        assert [name in listed for name in ("i00001", "i00002", "i00003")] == [
            name == item for name in ("i00001", "i00002", "i00003")
        ]
