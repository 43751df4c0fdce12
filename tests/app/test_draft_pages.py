"""A draft on the pages: saved from the form, shown, changed in the form again, started and deleted."""

from __future__ import annotations

import pytest
from streamlit.util import calc_hash

from db.designing.drafts import drafts_of
from db.studies.design import list_studies
from tests.app.filled import Filled, no_problem
from tests.app.pages import Pages


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def test_a_draft_is_saved_changed_and_started(filled: Filled) -> None:
    project_id, researcher = filled.study.project_id, filled.study.researcher

    def drafts() -> list[tuple[str, int | None, str]]:
        rows = drafts_of(filled.pages.db, researcher, project_id)
        return [(row.design.name, row.design.overlap, row.design.rule) for row in rows]

    page = filled.open("rosa", "studies", new=1)
    page.text_input(key="study-name").input("Later").run()
    page.number_input(key="study-overlap-qa_verification").set_value(2).run()
    page.button(key="study-draft-save").click().run()
    assert drafts() == [("Later", 2, "unanimous")]
    [draft] = drafts_of(filled.pages.db, researcher, project_id)
    assert "Later" in no_problem(filled.open("rosa", "studies"))
    shown = filled.open("rosa", "study", draft=draft.draft_id)
    assert "Started now, it has" in no_problem(shown)
    page = shown.button(key="draft-change").click().run()
    page._page_hash = calc_hash("studies")  # where the button led, for the runs that follow
    page.query_params.clear()
    page.run()
    assert "This changes the draft **Later**." in no_problem(page)
    assert page.number_input(key="study-overlap-qa_verification").value == 2
    page.selectbox(key="study-rule").select("majority").run()
    page.text_input(key="study-name").input("Sooner").run()
    page.button(key="study-draft-save").click().run()
    assert drafts() == [("Sooner", 2, "majority")]
    shown = filled.open("rosa", "study", draft=draft.draft_id)
    shown.button(key="draft-start").click().run()
    assert drafts() == []
    assert "Sooner" in [row.name for row in list_studies(filled.pages.db, researcher, project_id)]
    assert "not there any more" in no_problem(filled.open("rosa", "study", draft=draft.draft_id))


def test_a_draft_is_deleted_and_who_only_reads_has_no_buttons(filled: Filled) -> None:
    page = filled.open("rosa", "studies", new=1)
    page.button(key="study-draft-save").click().run()
    [draft] = drafts_of(filled.pages.db, filled.study.researcher, filled.study.project_id)
    read = filled.open("vera", "study", draft=draft.draft_id)
    assert draft.design.name in no_problem(read)
    assert not [button for button in read.button if (button.key or "").startswith("draft-")]
    assert drafts_of(filled.pages.db, filled.study.annotators[0], filled.study.project_id) == []
    page = filled.open("rosa", "study", draft=draft.draft_id)
    page.button(key="draft-delete").click().run()
    assert drafts_of(filled.pages.db, filled.study.researcher, filled.study.project_id) == []


def test_consent_and_questions_of_the_form_stand_in_the_draft(filled: Filled) -> None:
    page = filled.open("rosa", "studies", new=1)
    page.text_input(key="study-name").input("Asks").run()
    page.text_area(key="study-consent").input("# You take part").run()
    page.text_area(key="study-questions").input("before:\n  - {name: a, titel: b}").run()
    assert "line 2" in page.error[0].value and "titel" in page.error[0].value
    page.text_area(key="study-questions").input("before:\n  - {name: a, title: Age, kind: number}").run()
    no_problem(page)
    page.button(key="study-draft-save").click().run()
    project_id, researcher = filled.study.project_id, filled.study.researcher
    [draft] = drafts_of(filled.pages.db, researcher, project_id)
    assert draft.design.phases.asked() == ("consent", "before")
    page = filled.open("rosa", "study", draft=draft.draft_id).button(key="draft-change").click().run()
    page._page_hash = calc_hash("studies")
    page.query_params.clear()
    page.run()
    assert page.text_area(key="study-consent").value == "# You take part"
    assert "title: Age" in (page.text_area(key="study-questions").value or "")


def test_arms_of_the_form_are_made_together(filled: Filled) -> None:
    page = filled.open("rosa", "studies", new=1)
    page.text_input(key="study-name").input("Both").run()
    page.text_area(key="study-arms").input("arms:\n  - {name: a, rul: majority}").run()
    assert "line 2" in page.error[0].value and "`rul`" in page.error[0].value, "what is in backticks is code"
    assert page.number_input(key="study-quota").value == 0, "what stands beside it is still there"
    assert not [button for button in page.button if button.key == "study-create"]
    page.text_area(key="study-arms").input("arms:\n  - {name: a}\n  - {name: b, rule: majority}").run()
    refused = no_problem(page)
    assert refused.count("needs as many annotators in each arm") == 1, "once, however many arms it is about"
    assert "Needs what stands above to be mended." in refused
    assert "none can be drawn" not in refused and page.button(key="study-create").disabled
    [overlap] = [box for box in page.number_input if (box.key or "").startswith("study-overlap-")]
    overlap.set_value(1).run()
    shown = no_problem(page)
    assert "Arm a: " in shown and "Arm b: " in shown
    page.button(key="study-create").click().run()
    rows = list_studies(filled.pages.db, filled.study.researcher, filled.study.project_id)
    assert {"Both / a", "Both / b"} <= {row.name for row in rows}
