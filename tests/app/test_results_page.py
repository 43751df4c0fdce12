"""The tab Results of a study's page: tables of each report, plots, and what it says before there is a label."""

from __future__ import annotations

import pytest

from tests.app.filled import no_problem
from tests.app.pages import Pages
from tests.exports.results.verified import labelled
from tests.makers import StudyInUse

pytestmark = pytest.mark.slow


def test_it_shows_the_protocols_table_then_the_shares(pages: Pages) -> None:
    complete, needed = ("complete", "item"), ("grounding", "evidence:e1")
    study = labelled(
        pages.db,
        {
            "a": {complete: ("complete",) * 3, needed: ("required",) * 3},
            "b": {complete: ("incomplete",) * 3, needed: ("required",) * 3},
        },
        used=(True,),
    )
    page = pages.open(pages.token("admin"), "study", study=str(study.study_id), show="results")
    said = no_problem(page)
    assert said.index("Verified quality") < said.index("Answer is complete: share of each label")
    assert "Grounding is the accuracy" in said
    assert "50.0 %" in said
    assert len(page.get("vega_lite_chart")) == 1


def test_before_the_first_label_it_says_when_results_appear(pages: Pages) -> None:
    study = StudyInUse(pages.db, items=2)
    page = pages.open(pages.token("admin"), "study", study=str(study.study_id), show="results")
    assert "Results appear with the first labels" in no_problem(page)
