"""The report that every protocol has: shares of labels with intervals, means of numbers, and no gap counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.several import Several
from annotators.intervals.remarks import TAKEN_AS_RIGHT
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from annotators.protocols.base import PROTOCOLS as REGISTERED
from db.engine import Database
from exports.results.base import Figure, fitting
from exports.results.document import Results
from tests.exports.formats.places import Place
from tests.exports.formats.test_peers import study_of_pairs
from tests.exports.labelled import labelled_study
from tests.exports.results.verified import labelled
from tests.makers import tiny_protocol


def own() -> Protocol:
    """A choice, what is asked of one of its labels only, a grade, and a set."""
    criteria = [
        Choice(name="right", title="Right", labels=[Label(value="yes"), Label(value="no")]),
        Choice(
            name="why",
            title="Why",
            labels=[Label(value="old"), Label(value="invented")],
            when=Condition(criterion="right", values=["no"]),
        ),
        Grade(name="clarity", title="Clarity", labels=[Label(value=number) for number in (1, 2, 3)]),
        Several(name="problems", title="Problems", labels=[Label(value="vague"), Label(value="long")]),
    ]
    step = Step(
        name="all",
        title="All",
        shows=[Material.QUESTION, Material.ANSWER],
        criteria=[criterion.name for criterion in criteria],
    )
    return tiny_protocol(name="own", criteria=criteria, steps=[step])


@pytest.fixture
def results(sqlite_database: Database) -> Results:
    right, why, clarity, problems = (
        (name, "item") for name in ("right", "why", "clarity", "problems")
    )  # fmt: skip
    nobody, no = (None,) * 3, ("no",) * 3
    study = labelled(
        sqlite_database,
        {
            "a": {right: ("yes",) * 3, why: nobody, clarity: (3, 3, 3), problems: ("[]",) * 3},
            "b": {right: ("yes", "yes", "no"), why: (None, None, "old"), clarity: (2, 2, 2), problems: ("[]",) * 3},
            "c": {
                right: no,
                why: ("old", "old", "invented"),
                clarity: (1, 2, 3),
                problems: ('["vague"]',) * 3,
            },
            "d": {right: no, why: ("old",) * 3, clarity: (1, 1, 1), problems: ('["vague","long"]',) * 3},
        },
        protocol=own(),
        systems=("heron", "ibis"),
        categories=("Tables", "Text", None),
    )
    return Results.of_study(sqlite_database, study.researcher, study.study_id)


def value(results: Results, criterion: str, label: str | None, labels: str = "settled", **about: object) -> Figure:
    wanted = {"name": "share", "criterion": criterion, "label": label, "labels": labels, "group": None, **about}
    [found] = [
        figure for figure in results.figures if all(getattr(figure, key) == given for key, given in wanted.items())
    ]
    return found


def test_settled_shares_count_settled_units_and_the_others_each_label(results: Results) -> None:
    settled, each = value(results, "right", "yes"), value(results, "right", "yes", "each")
    assert (settled.value, settled.n) == (pytest.approx(1 / 3), 3)
    assert (each.value, each.n) == (pytest.approx(5 / 12), 12)


def test_what_a_condition_left_out_is_in_no_denominator(results: Results) -> None:
    each, settled = value(results, "why", "old", "each"), value(results, "why", "old")
    assert (each.value, each.n) == (pytest.approx(6 / 7), 7)
    assert (settled.value, settled.n) == (1.0, 1)


def test_a_set_has_each_label_that_is_in_it(results: Results) -> None:
    assert [value(results, "problems", label).value for label in ("vague", "long")] == [0.5, 0.25]


def test_settled_shares_say_that_the_errors_of_people_are_not_in_them(results: Results) -> None:
    assert all(TAKEN_AS_RIGHT in section.words for section in results.sections() if section.title == "Right")


def test_grades_have_means_with_the_unweighted_mean_of_the_groups(results: Results) -> None:
    mean = value(results, "clarity", None, name="mean")
    assert (mean.value, mean.n) == (pytest.approx(2.0), 3)
    groups = [value(results, "clarity", None, name="mean", group=name, by="system").value for name in ("heron", "ibis")]
    assert groups == [3.0, 1.5]
    assert value(results, "clarity", None, name="macro_mean", by="system").value == pytest.approx(2.25)


def test_a_group_without_a_settled_label_stands_before_the_mean_of_the_groups(results: Results) -> None:
    [table] = [
        table
        for section in results.sections()
        for table in section.tables
        if table.caption == "Clarity: share of each label by category"
    ]
    means = [row[:2] for row in table.rows if "ean" in row[1]]
    assert means == [
        ("Tables", "Mean"),
        ("Text", "Mean"),
        ("no category", "Mean"),
        ("", "Unweighted mean of the categories"),
    ]


def test_the_bands_of_a_grade_have_their_shares(sqlite_database: Database) -> None:
    grade = ("grade", "item")
    study = labelled(
        sqlite_database,
        {"a": {grade: (10, 9, 9)}, "b": {grade: (3, 3, 3)}, "c": {grade: (7, 7, 8)}},
        protocol="answer_grading",
    )
    results = Results.of_study(sqlite_database, study.researcher, study.study_id)
    bands = {label: value(results, "grade_band", label).value for label in ("incorrect", "partial", "correct")}
    assert bands == {"incorrect": pytest.approx(1 / 3), "partial": 0.0, "correct": pytest.approx(2 / 3)}


def test_items_without_a_category_are_a_group_of_their_own(results: Results) -> None:
    groups = {figure.group for figure in results.figures if figure.by == "category"}
    assert groups == {"Tables", "Text", "no category", None}


def test_items_of_one_question_are_drawn_together(sqlite_database: Database) -> None:
    said = {("right", "item"): ("yes", "yes", "yes")}
    study = labelled(sqlite_database, {"a": said, "b": said}, protocol=tiny_protocol(), same_question=True)
    results = Results.of_study(sqlite_database, study.researcher, study.study_id)
    found = value(results, "right", "yes")
    assert (found.value, found.low) == (1.0, None)
    assert found.method == "no interval: one question gives no standard error"


def test_a_study_without_labels_says_so_in_every_row(sqlite_database: Database) -> None:
    study = labelled(sqlite_database, {"a": {}}, protocol=tiny_protocol())
    results = Results.of_study(sqlite_database, study.researcher, study.study_id)
    assert {figure.reason for figure in results.figures} == {"nobody has given such a label yet"}
    assert {(figure.value, figure.n) for figure in results.figures} == {(None, 0)}


def test_every_kind_of_criterion_has_its_section(sqlite_database: Database) -> None:
    study = labelled_study(sqlite_database, items=6)
    results = Results.of_study(sqlite_database, study.researcher, study.study_id)
    assert [section.title for section in results.sections()] == [
        "Right", "Clarity", "Share", "Problems", "Words", "Ranking",
    ]  # fmt: skip
    assert value(results, "share", None, "each", name="mean").n > 12
    words = {section.title: " ".join(section.words) for section in results.sections()}
    assert "answers were given" in words["Words"]
    assert results.in_words().startswith("Results of study ratings")


@pytest.mark.parametrize("name", REGISTERED.names())
def test_every_protocol_has_the_shares_last(name: str) -> None:
    assert fitting(PROTOCOLS.get(name))[-1].name == "shares"


def test_of_preferences_it_is_said_which_answer_is_a(sqlite_database: Database, tmp_path: Path) -> None:
    place = Place(sqlite_database, tmp_path / "home")
    study = study_of_pairs(place, tmp_path)
    assert study.id is not None
    [section] = [one for one in Results.of_study(place.db, place.actor, study.id).sections() if one.title == "Better"]
    said = "Answer A, the left one, is that of the first of the two systems here, whichever stood left."
    assert said in section.words
    assert [table.caption for table in section.tables] == ["Better: share of each label"]
