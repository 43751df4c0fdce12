"""The page about annotators: figures and warnings of each, and leaving out what one submitted."""

from __future__ import annotations

from datetime import date

import pytest

from db.quality.gold import GoldRow
from db.quality.omissions import omissions_of
from db.quality.qualification import set_qualification
from tests.app.filled import Filled, no_problem
from tests.app.pages import Pages
from tests.makers import make_item


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def test_each_annotator_is_shown_with_figures(filled: Filled) -> None:
    names = [annotator.name for annotator in filled.study.annotators]
    page = filled.open("rosa", "annotators", study=filled.study_id, annotator=names[1])
    said = no_problem(page)
    assert all(name in said for name in names)
    assert "4 labels are too few: 10 are needed" in said
    assert page.selectbox[0].value == names[1]
    assert "each annotator beside the rest" in said
    assert "what they gave (columns) where most of the rest gave (rows)" in said
    assert "Nothing in their pace" in said


def test_labels_are_left_out_and_restored_on_the_page(filled: Filled) -> None:
    name = filled.study.annotators[1].name
    page = filled.open("rosa", "annotators", study=filled.study_id, annotator=name)
    page.date_input(key="annotators-day").set_value(date(2020, 1, 1))
    page.button(key="annotators-leave-out-save").click().run()
    assert "Say why" in page.error[0].value
    page.text_input(key="annotators-reason").input("clicked <b>through</b>")
    page.button(key="annotators-leave-out-save").click().run()
    said = no_problem(page)
    assert "4 annotations left out, of 4 items. The overlap needs 1 annotator more" in page.toast[0].value
    assert "&lt;b&gt;through&lt;/b&gt;" in said
    assert "No label of theirs counts." in said
    assert f"{name} (left out)" in no_problem(filled.open("rosa", "study", study=filled.study_id))
    page = filled.open("rosa", "annotators", study=filled.study_id, annotator=name)
    page.text_input(key="annotators-restore-reason").input("they had asked")
    page.button(key="annotators-restore-save").click().run()
    no_problem(page)
    assert page.toast[0].value.replace("\\", "") == f"{name}: 4 annotations put back, of 4 items."
    rows = omissions_of(filled.pages.db, filled.study.researcher, filled.study_id)
    assert [row.reason for row in rows] == ["clicked <b>through</b>", "they had asked"]


def test_somebody_who_has_not_qualified_is_let_in_on_the_page(filled: Filled) -> None:
    study, name = filled.study, filled.study.annotators[1].name
    make_item(study.db, study.project_id, "known")
    rows = [GoldRow(2, "known", "right", "item", "yes")]
    set_qualification(study.db, study.researcher, filled.study_id, rows=rows, reason="to see who reads")
    page = filled.open("rosa", "annotators", study=filled.study_id, annotator=name)
    assert "not begun" in no_problem(page)
    page.text_input(key="annotators-let-in-reason").input("they know it")
    page.button(key="annotators-let-in-save").click().run()
    said = no_problem(page)
    assert f"{name} gets the study's items now" in page.toast[0].value.replace("\\", "")
    assert "let in by rosa: they know it" in said
