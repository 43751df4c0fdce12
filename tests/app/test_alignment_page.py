"""The page Alignment: empty, with figures, for each role, and the choices on it."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from db.models import Study
from db.people.accounts import set_member
from db.permissions import Role
from db.projects import create_project
from db.studies.design import list_studies
from exports.alignment.sections import titled
from exports.drawing.tables import TextTable
from exports.importing.items import import_paths
from tests.app.filled import no_problem, press
from tests.app.pages import Pages, words
from tests.exports.alignment.test_pairs import write_worked
from tests.exports.judged import Judged, make_judged
from tests.makers import StudyInUse

pytestmark = pytest.mark.slow


@pytest.fixture
def judged(pages: Pages, tmp_path: Path) -> Judged:
    return make_judged(pages.db, pages.admin, tmp_path / "source", questions=12, labelled=10)


def opened(pages: Pages, judged: Judged, tab: str = "Coefficients") -> AppTest:
    """The page on this study, at a tab."""
    about = {"project": str(judged.project_id), "study": str(judged.study_id), "show": tab.lower()}
    return pages.open(pages.token("admin"), "alignment", **about)


def test_it_says_what_to_do_first(pages: Pages) -> None:
    project = str(create_project(pages.db, pages.admin, "Empty"))
    assert "There is no study yet" in no_problem(pages.open(pages.token("admin"), "alignment", project=project))
    study = StudyInUse(pages.db, items=2)
    given = {"project": str(study.project_id), "study": str(study.study_id)}
    assert "Nobody has labelled" in no_problem(pages.open(pages.token("admin"), "alignment", **given))
    study.label_all(0)
    assert "No item of this study has a score" in no_problem(pages.open(pages.token("admin"), "alignment", **given))


def test_a_researcher_sees_tables_differences_and_what_to_label(pages: Pages, judged: Judged) -> None:
    said = no_problem(opened(pages, judged))
    for text in ("Spearman&#x27;s ρ", "one person against the rest (3 people)", "overlap", "counts as 1"):
        assert text in said, text
    said = no_problem(opened(pages, judged, "Where they differ"))
    assert "Where imported:native: overlap and people differ most on right" in said
    assert 'href="/item?item=' in said
    said = no_problem(opened(pages, judged, "What to label next"))
    assert "Items whose label would tell most about" in said
    assert 'href="/item?item=' in said
    page = opened(pages, judged, "Plots")
    no_problem(page)
    assert len(page.get("vega_lite_chart")) >= 4
    no_problem(opened(pages, judged, "Report"))


def test_pairs_are_set_against_differences_and_have_no_advice(pages: Pages, tmp_path: Path) -> None:
    project = create_project(pages.db, pages.admin, "Pairs")
    source = write_worked(tmp_path / "in")
    import_paths(
        pages.db, pages.admin, project, paths=[source], data_folder=tmp_path / "home", labels_into="Raters"
    )  # fmt: skip
    [study] = list_studies(pages.db, pages.admin, project)

    def page(tab: str) -> AppTest:
        about = {"project": str(project), "study": str(study.study_id), "show": tab}
        found = pages.open(pages.token("admin"), "alignment", **about)
        [criterion] = [box for box in found.selectbox if box.label == "Criterion"]
        return criterion.select("overall").run()

    said = no_problem(page("coefficients"))
    for text in ("Pairwise accuracy", "0.62", "the second answer of a pair less that of the first"):
        assert text in said, text
    found = page("where they differ")
    assert "alpha ⇄ beta" in no_problem(found)
    assert "below zero is for the first answer" in no_problem(found)
    assert not [button for button in found.button if button.key == "alignment-new-differences"]
    assert "What to label next is about single answers" in no_problem(page("what to label next"))
    no_problem(page("plots"))


def test_another_criterion_and_settled_labels_can_be_chosen(pages: Pages, judged: Judged) -> None:
    page = opened(pages, judged, "Where they differ")
    [criterion] = [box for box in page.selectbox if box.label == "Criterion"]
    page = criterion.select("quality").run()
    assert "differ most on quality" in no_problem(page)
    [labels] = [box for box in page.selectbox if box.label == "Labels"]
    page = labels.select("settled").run()
    assert "differ most on quality" in no_problem(page)


def test_the_metric_can_be_read_the_other_way_round(pages: Pages, judged: Judged) -> None:
    page = opened(pages, judged, "Where they differ")
    [metric] = [box for box in page.selectbox if box.key == "alignment-metric-differences"]
    page = metric.select("imported:native: hallucination").run()
    no_problem(page)
    [turned] = [box for box in page.checkbox if box.label.startswith("Read the metric the other way round")]
    assert turned.value is True  # it goes against people, beyond its interval


def test_a_new_study_takes_the_items_that_differ_most(pages: Pages, judged: Judged) -> None:
    page = opened(pages, judged, "Where they differ")
    [n] = [box for box in page.number_input if box.key == "alignment-n-differences"]
    page = n.set_value(3).run()
    [button] = [button for button in page.button if button.key == "alignment-new-differences"]
    page = button.click().run()
    assert len(page.session_state["study-items"]) == 3


def test_the_form_of_a_new_study_makes_it_of_the_chosen_items(pages: Pages, judged: Judged) -> None:
    pages.person("ana")
    set_member(pages.db, pages.admin, judged.project_id, name="ana", role=Role.ANNOTATOR)
    page = pages.open(pages.token("admin"), "studies", project=str(judged.project_id))
    page.session_state["study-items"] = ("q001:quay", "q000:harbour")
    page = page.run()
    [kept] = [box for box in page.checkbox if box.label.startswith("Also items that lack")]
    page = kept.check().run()
    assert "**2 chosen items**" in no_problem(page)
    [name] = [box for box in page.text_input if box.label == "Name of the study"]
    [overlap] = [box for box in page.number_input if box.label == "Overlap"]
    name.set_value("again")
    page = overlap.set_value(1).run()
    press(page, "Create study")
    made = next(row for row in list_studies(pages.db, pages.admin, judged.project_id) if row.name == "again")
    assert made.n_items == 2


def test_an_annotator_does_not_get_it_by_its_address(pages: Pages, judged: Judged) -> None:
    pages.person("ana")
    set_member(pages.db, pages.admin, judged.project_id, name="ana", role=Role.ANNOTATOR)
    page = pages.open(pages.token("ana"), "alignment", project=str(judged.project_id), study=str(judged.study_id))
    assert not page.exception
    assert "imported:native" not in words(page)


def test_tables_head_columns_with_titles_and_their_files_keep_names(pages: Pages, judged: Judged) -> None:
    titles = {"correctness_agreement": "Is the score right?", "grade": "Grade"}
    means = TextTable.of("Mean of the human values", ["Criterion", "Mean"], [["correctness_agreement", "0.5"]])
    assert [list(row) for row in titled(means, titles).rows] == [["Is the score right?", "0.5"]]
    matrix = TextTable.of("grade: metrics against people", ["Metric", "correctness_agreement"], [["grade", "0.1"]])
    seen = titled(matrix, titles)
    assert (seen.caption, list(seen.columns)) == ("Grade: metrics against people", ["Metric", "Is the score right?"])
    assert [list(row) for row in seen.rows] == [["grade", "0.1"]], "a metric keeps its name"
    with pages.db.read() as session:
        study = session.get_one(Study, judged.study_id)
        title = next(criterion["title"] for criterion in study.protocol["criteria"] if criterion["name"] == "right")
    assert title != "right"
    said = no_problem(opened(pages, judged))
    assert f"{html.escape(title)}: metrics against people" in said
    assert ">right: metrics against people" not in said
