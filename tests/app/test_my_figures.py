"""My work shows my own figures where a study tells them."""

from __future__ import annotations

from annotators.designing.own_figures import NONE, QUALITY
from db.annotating.amendments import StudyChange, amend_study
from db.permissions import Role
from tests.app.filled import Filled, no_problem
from tests.app.pages import Pages


def test_my_work_tells_what_the_study_lets_annotators_see(pages: Pages) -> None:
    filled = Filled(pages)
    study = filled.study
    pages.person("ana", Role.ANNOTATOR)
    joined = StudyChange(add=("ana",))
    amend_study(pages.db, study.researcher, study.study_id, change=joined, reason="one more")
    shown = no_problem(filled.open("ana", "my_work"))
    assert "of about" in shown and "My figures" not in shown
    for seen in (QUALITY, NONE):
        change = StudyChange(own_figures=seen)
        amend_study(pages.db, study.researcher, study.study_id, change=change, reason="they asked")
        shown = no_problem(filled.open("ana", "my_work"))
        assert ("My figures until last night" in shown) is (seen == QUALITY)
        assert ("of about" in shown) is (seen == QUALITY)
