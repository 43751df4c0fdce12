"""The page Agreement: empty, every tab on every scale, the units behind a number, hostile names, who sees what."""

from __future__ import annotations

import re
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from app.pages.agreement import page as agreement
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputes
from db.models import StudyMember
from db.people.accounts import set_member
from db.permissions import Role
from db.projects import create_project
from exports.agreement import counts as agreement_counts
from tests.app.filled import Filled, actor_named, no_problem, press
from tests.app.pages import Pages, tables, words
from tests.exports.labelled import CRITERIA, Labelled, labelled, labelled_study
from tests.makers import StudyInUse

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script> **bold** & | _x_"


@pytest.fixture
def study(pages: Pages) -> Labelled:
    return labelled_study(pages.db)


def opened(pages: Pages, study: Labelled, tab: str = "All criteria", **parameters: str) -> AppTest:
    """The page on this study, at a tab."""
    about = {"project": str(study.project_id), "study": str(study.study_id), "show": tab.lower(), **parameters}
    return pages.open(pages.token("admin"), "agreement", **about)


def links(page: AppTest, to: str) -> list[str]:
    """The addresses of the links to a page."""
    return [unescape(href) for href in re.findall(rf'href="(/{to}\?[^"]*)"', words(page))]


# Nothing to measure ---------------------------------------------------------------------------------------------------


def test_an_empty_project_says_what_to_do_first(pages: Pages) -> None:
    create_project(pages.db, pages.admin, "Energy")
    assert "There is no study yet" in no_problem(pages.open(pages.token("admin"), "agreement"))


def test_a_study_without_labels_says_so(pages: Pages) -> None:
    made = StudyInUse(pages.db, items=2)
    page = pages.open(pages.token("admin"), "agreement", project=str(made.project_id), study=str(made.study_id))
    assert "Nobody has labelled anything" in no_problem(page)


def test_one_annotator_is_told_in_words_what_is_missing(pages: Pages) -> None:
    made = StudyInUse(pages.db, items=3)
    made.label_all(0)
    alone = Labelled(made.project_id, made.study_id, made.researcher)
    assert "only one rater has rated" in no_problem(opened(pages, alone))
    for tab in agreement.TABS:
        no_problem(opened(pages, alone, tab))


# Every tab ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tab", list(agreement.TABS))
def test_every_tab_shows_every_scale(pages: Pages, study: Labelled, tab: str) -> None:
    page = opened(pages, study, tab)
    for criterion in CRITERIA:
        page.selectbox(key=f"agreement-criterion-{study.study_id}").set_value(criterion).run()
        no_problem(page)


def test_the_first_table_has_a_row_a_criterion_that_leads_to_its_units(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study)
    rows = tables(page)["Agreement by criterion"]
    assert [row[0] for row in rows] == ["Right", "Clarity", "Share", "Problems", "Words", "Ranking"]
    assert all(re.match(r"α .*\d\.\d\d \[", row[6]) for row in rows[:4])
    assert re.match(r"mean ρ \d\.\d\d \[", rows[-1][6])
    assert [f"criterion={name}" in link for name, link in zip(CRITERIA, links(page, "agreement"), strict=False)] == [
        True
    ] * len(CRITERIA)
    assert page.code[0].value.startswith("Four annotators gave 231 labels to 60 items")


def test_own_weights_are_uploaded_and_what_is_wrong_with_them_is_said(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study, "One criterion", criterion="right")
    file = page.file_uploader(key="agreement-weights")
    file.upload("w.csv", b"label,no,yes\nno,1,.5\nyes,.5,1\n", "text/csv").run()
    no_problem(page)
    shown = [row for rows in tables(page).values() for row in rows if row[0] == "Cohen's κ (own weights)"]
    assert len(shown) == 6
    assert all(re.match(r"\[.*\d\.\d\d", row[3]) for row in shown)
    for text, said in ((b"label,no,yes\nno,1,.5\nyes,.4,1\n", "other way round"),
                        (b"label,a,b\na,1,.5\nb,.5,1\n", "lack labels that were given")):  # fmt: skip
        page.file_uploader(key="agreement-weights").upload("w.csv", text, "text/csv").run()
        assert said in page.error[0].value
        assert "own weights" not in str(tables(page))


def test_a_second_look_measures_nothing_again(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study, "Annotators")
    begun = pages.state.reports.begun
    page.run()
    opened(pages, study, "Annotators")  # somebody else
    assert pages.state.reports.begun == begun > 0
    page.number_input(key="agreement-seed").set_value(5).run()
    assert pages.state.reports.begun > begun


def test_a_new_label_is_measured_at_once(pages: Pages) -> None:
    made = StudyInUse(pages.db, items=3)
    made.label_all(0)
    made.label_all(1)
    alone = Labelled(made.project_id, made.study_id, made.researcher)
    page = opened(pages, alone)
    assert tables(page)["Agreement by criterion"][0][4] == "6"
    made.submit(2, made.work(2)["items"][0], {"right": "no"})
    page.run()
    assert tables(page)["Agreement by criterion"][0][4] == "7"


# Units ----------------------------------------------------------------------------------------------------------------


def test_the_units_behind_a_cell_of_a_confusion_are_a_click_away(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study, "Units", criterion="right", first="ada", second="dan")
    [confusion] = [
        rows for name, rows in tables(page).items() if name.startswith("Right: ada (rows) and dan (columns); ")
    ]
    cells = {(row[0], label): row[place] for row in confusion for place, label in enumerate(("yes", "no"), 1)}
    link = next(link for link in links(page, "agreement") if "gave=yes&other=no" in link)
    asked = dict(part.split("=") for part in link.partition("?")[2].split("&"))
    behind = opened(pages, study, "Units", **{name: asked[name] for name in ("criterion", "first", "second")},
                    gave="yes", other="no")  # fmt: skip
    [caption] = [name for name in tables(behind) if name.startswith("Right: ") and "(rows)" not in name]
    rows = tables(behind)[caption]
    assert len(rows) == int(cells["yes", "no"]) > 0
    assert all(row[2:4] == ["yes", "no"] for row in rows)
    assert links(behind, "item")


def test_units_of_a_category_and_a_label_are_listed(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study, "Units", criterion="clarity", category="Tables", label="5")
    [caption] = [name for name in tables(page) if name.startswith("Clarity: ")]
    rows = tables(page)[caption]
    assert rows
    assert all("5" in row[2:] and len(set(filter(None, row[2:]))) > 1 for row in rows)
    assert all(int(row[0][1:]) % 3 == 1 for row in rows)


def test_somebody_who_still_annotates_sees_figures_but_not_what_others_gave(pages: Pages) -> None:
    made = StudyInUse(pages.db, items=3)
    pages.person("rosa")
    made.label_all(0, "yes")
    made.label_all(1, "no")
    alone = Labelled(made.project_id, made.study_id, made.researcher)
    assert links(opened(pages, alone, "Units"), "item")
    set_member(pages.db, pages.admin, made.project_id, name="rosa", role=Role.RESEARCHER)
    rosa = actor_named(pages, "rosa")
    with pages.db.write() as session:
        session.add(StudyMember(study_id=made.study_id, person_id=rosa.person_id))
    about = {"project": str(made.project_id), "study": str(made.study_id)}
    page = pages.open(pages.token("rosa"), "agreement", show="units", **about)
    assert "have not judged everything yet" in no_problem(page)
    assert not links(page, "item")
    assert "Right" in no_problem(pages.open(pages.token("rosa"), "agreement", **about))


def test_an_adjudicator_sees_no_names(pages: Pages) -> None:
    filled = Filled(pages)
    name = filled.study.annotators[0].name
    for who, seen in (("rosa", True), ("adam", False)):
        shown = no_problem(filled.open(who, "agreement", study=filled.study_id, show="annotators"))
        assert (name in shown) is seen, who


# Annotators -----------------------------------------------------------------------------------------------------------


def choose(page: AppTest, key: str, part: str) -> AppTest:
    """Choose a part of a tab."""
    return page.segmented_control(key=key).set_value(part).run()


def test_each_annotator_stands_beside_the_rest(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study, "Annotators", criterion="right")
    beside = tables(page)["Right: each annotator beside the rest"]
    agreement_of = {row[0]: float(row[3].split(" ")[0]) for row in beside}
    assert agreement_of["dan"] == min(agreement_of.values())
    assert [row[0] for row in tables(page)["Right: use of each label beside the others'"]] == [
        "ada",
        "ben",
        "chloe",
        "dan",
    ]
    choose(page, "agreement-annotators", "Labels")
    assert tables(page)["Right: share of each label by annotator"][-1][0] == "All"
    choose(page, "agreement-annotators", "Who labels like whom")
    pairs = tables(page)["Right: Cohen's κ of each pair"]
    assert len(pairs) == 4
    assert any("first=ada&second=dan" in link for link in links(page, "agreement"))
    choose(page, "agreement-annotators", "Time and drift")
    speed = tables(page)["ratings: time an item"]
    assert all("there are no times" in row[2] for row in speed)  # labels made elsewhere
    assert tables(page)["Right: agreement with the others, first to last"]


def test_time_an_item_is_that_of_the_annotations(pages: Pages) -> None:
    filled = Filled(pages)
    page = filled.open("rosa", "agreement", study=filled.study_id, show="annotators")
    choose(page, "agreement-annotators", "Time and drift")
    rows = tables(page)["study: time an item"]
    assert [row[1:3] for row in rows] == [["4", "2.0 s"]] * 3


def test_rater_models_are_fitted_when_asked_for(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study, "Annotators", criterion="right")
    choose(page, "agreement-annotators", "Rater models")
    assert "models" not in " ".join(tables(page))
    press(page, "Fit rater models")
    shown = no_problem(page)
    assert "converged after" in shown
    models = tables(page)["Right: how good each annotator is, by three models"]
    accuracy = {row[0]: float(row[1]) for row in models}
    assert accuracy["dan"] == min(accuracy.values())
    assert "Right: confusion of ada" in tables(page)
    assert any("of which the models know least" in name for name in tables(page))
    page.selectbox(key="agreement-models-resamples").set_value(100).run()
    assert "Right: confusion of ada" not in tables(page)  # asked for anew
    press(page, "Fit rater models")
    assert all("[" in row[1] for row in tables(page)["Right: how good each annotator is, by three models"])


def test_two_ratings_a_unit_are_said_not_to_identify_a_model(pages: Pages) -> None:
    two = labelled_study(pages.db, items=20, people=("ada", "ben"))
    page = opened(pages, two, "Annotators", criterion="right")
    choose(page, "agreement-annotators", "Rater models")
    press(page, "Fit rater models")
    assert "two ratings a unit do not identify the model" in no_problem(page)


def test_annotators_stand_beside_adjudicated_labels(pages: Pages) -> None:
    filled = Filled(pages)
    page = filled.open("rosa", "agreement", study=filled.study_id, show="annotators")
    choose(page, "agreement-annotators", "Adjudicated labels")
    press(page, "Measure beside adjudicated labels")
    assert "Nobody has adjudicated a unit of it" in no_problem(page)
    decide_all(pages, filled)
    page = filled.open("rosa", "agreement", study=filled.study_id, show="annotators")
    choose(page, "agreement-annotators", "Adjudicated labels")
    press(page, "Measure beside adjudicated labels")
    rows = tables(page)["Right: each annotator beside adjudicated labels"]
    assert [row[3].split(" ")[0] for row in rows] == ["100.0", "0.0", "100.0"]


def decide_all(pages: Pages, filled: Filled) -> None:
    """Take `yes` for every disputed unit."""
    adam = actor_named(pages, "adam")
    for number, dispute in enumerate(disputes(pages.db, adam, filled.study_id)):
        decision = UnitDecision("right", "item", "yes")
        adjudicate(pages.db, adam, dispute.study_item_id, uid=f"d{number}", decisions=[decision])


# Compare and plan -----------------------------------------------------------------------------------------------------


def test_two_studies_of_the_same_items_are_compared_as_pairs(pages: Pages, study: Labelled) -> None:
    other = labelled(pages.db, study.researcher, study.project_id, items=60, name="second", noise=0.6)
    page = opened(pages, study, "Compare", criterion="right")
    assert page.selectbox(key="compare-study").value == other
    assert "Right: ratings and second" not in tables(page)
    press(page, "Compare")
    rows = tables(page)["Right: ratings and second"]
    values = [float(re.split(r" \[", row[1])[0].replace("−", "-").replace("+", "")) for row in rows]
    assert values[2] == pytest.approx(values[0] - values[1], abs=0.0011)
    assert values[2] > 0
    assert "two paired tables" in page.code[0].value


def test_groups_of_annotators_parts_and_criteria_are_compared(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study, "Compare", criterion="clarity")
    choose(page, "agreement-compare", "Groups of annotators")
    page.multiselect(key="compare-second-clarity").set_value(["dan"]).run()
    press(page, "Compare")
    assert "fewer than two annotators" in page.error[0].value.replace("\\", "")
    page.multiselect(key="compare-second-clarity").set_value(["chloe", "dan"]).run()
    press(page, "Compare")
    assert "Clarity: the first group and the second group" in tables(page)
    choose(page, "agreement-compare", "Parts of the items")
    press(page, "Compare")
    assert "Clarity: no category and Tables" in tables(page)
    choose(page, "agreement-compare", "Criteria at once")
    press(page, "Compare")
    assert len(tables(page)["Criteria at once"]) == 6
    assert len(tables(page)["Differences of criteria"]) == 15
    no_problem(page)


def test_a_plan_says_how_many_items_are_needed(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study, "Planning", criterion="right")
    page.text_input(key="plan-items").input("many").run()
    press(page, "Plan")
    assert "'many' is no list of numbers" in page.error[0].value.replace("\\", "")
    page.text_input(key="plan-items").input("50, 200").run()
    press(page, "Plan")
    shown = no_problem(page)
    rows = tables(page)["Right: width of the 95 % interval of Krippendorff's α"]
    assert [row[:2] for row in rows] == [[n, items] for n in ("2", "3", "4") for items in ("50", "200")]
    assert all(float(few[3]) > float(many[3]) for few, many in zip(rows[::2], rows[1::2], strict=True))
    assert re.search(r"4 annotators an item: about [\d,]+ items", shown)
    # The form for a new study begins with what was planned, and says how many of it the project has.
    button = next(button for button in page.button if re.fullmatch(r"[\d,]+ items, 3 annotators each", button.label))
    items = int(button.label.split()[0].replace(",", ""))
    page = button.click().run()
    form = no_problem(page)
    assert "Plan from a pilot" in form
    assert page.number_input(key="study-sample-size").value == items
    assert (f"There are 60 of the {items:,} items." in form) == (items > 60)
    [overlap] = [box for box in page.number_input if (box.key or "").startswith("study-overlap-")]
    people = page.multiselect(key="study-annotators").value
    assert overlap.value == min(3, len(people))


# Names ----------------------------------------------------------------------------------------------------------------


def test_hostile_names_are_shown_as_text_on_every_tab(pages: Pages) -> None:
    people = (HOSTILE, f"{HOSTILE} 2", f"{HOSTILE} 3", f"{HOSTILE} 4")
    made = labelled_study(pages.db, items=20, people=people, titles={"right": HOSTILE})
    for tab in agreement.TABS:
        page = opened(pages, made, tab)
        no_problem(page)
        raw = "".join(str(block.value) for block in page.get("html"))
        assert "<script" not in raw, tab
    page = opened(pages, made, "Annotators")
    for part in ("Labels", "Who labels like whom", "Time and drift", "Rater models"):
        choose(page, "agreement-annotators", part)
        if part == "Rater models":
            press(page, "Fit rater models")
        assert "<script" not in "".join(str(block.value) for block in page.get("html")), part


def test_every_table_and_plot_can_be_taken_away(pages: Pages, study: Labelled) -> None:
    page = opened(pages, study)
    offered = [button.label for button in page.get("download_button")]
    assert {"CSV", "Markdown", "LaTeX", "PNG", "SVG", "HTML"} <= set(offered)


def test_what_is_counted_behind_the_tabs_is_counted_in_a_process_of_its_own(
    pages: Pages, study: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here there is nothing to count with; a process of its own has it."""
    no_problem(opened(pages, study))
    monkeypatch.setattr(agreement_counts, "np", None)
    said = no_problem(opened(pages, study, "One criterion"))
    assert "Confusion of" in said or "how often" in said
    assert "/item?item=" in no_problem(opened(pages, study, "Units"))
