"""The page Alignment: empty, with figures, for each role, and the choices on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from db.people import set_member
from db.permissions import Role
from db.projects import create_project
from tests.app.filled import no_problem
from tests.app.pages import Pages, words
from tests.exports.judged import Judged, make_judged
from tests.makers import StudyInUse


@pytest.fixture
def judged(pages: Pages, tmp_path: Path) -> Judged:
    return make_judged(pages.db, pages.admin, tmp_path / "source", questions=12, labelled=10)


def test_it_says_what_to_do_first(pages: Pages) -> None:
    project = str(create_project(pages.db, pages.admin, "Empty"))
    assert "There is no study yet" in no_problem(pages.open(pages.token("admin"), "alignment", project=project))
    study = StudyInUse(pages.db, items=2)
    given = {"project": str(study.project_id), "study": str(study.study_id)}
    assert "Nobody has labelled" in no_problem(pages.open(pages.token("admin"), "alignment", **given))
    study.label_all(0)
    assert "No item of this study has a score" in no_problem(pages.open(pages.token("admin"), "alignment", **given))


def test_a_researcher_sees_tables_differences_and_what_to_label(pages: Pages, judged: Judged) -> None:
    page = pages.open(pages.token("admin"), "alignment", project=str(judged.project_id), study=str(judged.study_id))
    said = no_problem(page)
    for text in (
        "Spearman&#x27;s ρ", "one person against the rest (3 people)", "imported:native: overlap",
        "Where imported:native: overlap and people differ most on right", "Items whose label would tell most about",
    ):  # fmt: skip
        assert text in said, text
    assert 'href="/item?item=' in said
    assert "counts as 1" in said


def test_another_criterion_and_settled_labels_can_be_chosen(pages: Pages, judged: Judged) -> None:
    page = pages.open(pages.token("admin"), "alignment", project=str(judged.project_id), study=str(judged.study_id))
    [criterion] = [one for one in page.selectbox if one.label == "Criterion"]
    page = criterion.select("quality").run()
    assert "differ most on quality" in no_problem(page)
    [labels] = [one for one in page.selectbox if one.label == "Labels"]
    page = labels.select("settled").run()
    assert "differ most on quality" in no_problem(page)


def test_the_metric_can_be_read_the_other_way_round(pages: Pages, judged: Judged) -> None:
    page = pages.open(pages.token("admin"), "alignment", project=str(judged.project_id), study=str(judged.study_id))
    [metric] = [one for one in page.selectbox if one.key == "alignment-metric-differences"]
    page = metric.select("imported:native: hallucination").run()
    no_problem(page)
    [turned] = [one for one in page.checkbox if one.label.startswith("Read the metric the other way round")]
    assert turned.value is True  # it goes against people, beyond its interval


def test_an_annotator_does_not_get_it_by_its_address(pages: Pages, judged: Judged) -> None:
    pages.person("ana")
    set_member(pages.db, pages.admin, judged.project_id, name="ana", role=Role.ANNOTATOR)
    page = pages.open(pages.token("ana"), "alignment", project=str(judged.project_id), study=str(judged.study_id))
    assert not page.exception
    assert "imported:native" not in words(page)
