"""Results of a judge's labels: what people's have, and both beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotators.errors import InvalidInput, NotFound
from annotators.protocols import PROTOCOLS
from db.engine import Database
from db.judging.planning import study_for_judges
from exports.results.document import Results
from tests.db.scores.judged import CANNOT, Left, judge_says
from tests.db.scores.test_labels import Place, record

GPT = "gpt plain@1"
SYSTEMS = {"a": "harbour", "b": "harbour", "c": "quay", "d": "quay"}
PEOPLE = {"a": (8, 6), "b": (4, 4), "c": (9, 9), "d": (2, 2)}
JUDGE = {"a": 9, "b": 5, "c": 10}


@pytest.fixture
def place(sqlite_database: Database, tmp_path: Path) -> Place:
    return Place(
        sqlite_database,
        tmp_path,
        *(record(item, system=system, references=["Red."]) for item, system in SYSTEMS.items()),
    )


def graded(place: Place) -> int:
    """Two people's grades of four answers, and a judge's of three; it could not judge the fourth."""
    rows = [
        (item, person, "grade", "item", str(grade))
        for item, grades in PEOPLE.items()
        for person, grade in zip(("ada", "ben"), grades, strict=True)
    ]
    study = place.study("grading", "answer_grading", *rows, overlap=2)
    said: dict[str, Any] = {item: {("grade", "item"): grade} for item, grade in JUDGE.items()}
    assert judge_says(place.db, study, "gpt", {**said, "d": {("grade", "item"): CANNOT}}) == GPT
    return study


def rows(results: Results, **about: Any) -> list[dict[str, Any]]:
    return [row for row in results.to_json()["rows"] if all(row.get(name) == value for name, value in about.items())]


def test_a_judge_has_the_figures_that_people_have(place: Place) -> None:
    study = graded(place)
    results = Results.of_study(place.db, place.researcher, study, by=GPT)
    [mean] = rows(results, criterion="grade", name="mean", group=None)
    assert (mean["value"], mean["n"], mean["labels"]) == (8.0, 3, "judge")  # (9 + 5 + 10) / 3
    bands = {row["label"]: row["value"] for row in rows(results, criterion="grade_band", group=None, name="share")}
    assert bands == pytest.approx({"incorrect": 0.0, "partial": 1 / 3, "correct": 2 / 3})
    [harbour] = rows(results, criterion="grade", name="mean", group="harbour")
    assert harbour["value"] == 7.0
    assert {row["labels"] for row in rows(results)} == {"judge"}
    assert results.notes == [
        f"{GPT} has labels on 3 of 4 items.", "Without a label of the judge, and in no share: cannot judge: 1.",
    ]  # fmt: skip
    assert ("Judge", GPT) in results.facts
    people = Results.of_study(place.db, place.researcher, study)
    assert {row["labels"] for row in rows(people)} == {"settled", "each"}
    kinds = {(row["name"], row["criterion"], row.get("label")) for row in rows(people, group=None, labels="each")}
    assert kinds == {(row["name"], row["criterion"], row.get("label")) for row in rows(results, group=None)}


def test_a_judge_stands_beside_people_on_the_units_that_both_have_labelled(place: Place) -> None:
    study = graded(place)
    results = Results.of_study(place.db, place.researcher, study, by=GPT, against="people")
    [mean] = rows(results, against="people", criterion="grade", name="mean", group=None)
    # People: (7 + 4 + 9) / 3; the judge: (9 + 5 + 10) / 3; the differences are 2, 1 and 1.
    assert (mean["own"], mean["other"], mean["n"]) == (8.0, pytest.approx(20 / 3), 3)
    assert mean["value"] == pytest.approx(4 / 3)
    assert mean["low"] < 4 / 3 < mean["high"]
    [correct] = rows(results, against="people", criterion="grade_band", label="correct", group=None)
    # Of a one of two people says correct: 0.5; b: none; c: both.
    assert (correct["own"], correct["other"]) == (pytest.approx(2 / 3), pytest.approx(1.5 / 3))
    [quay] = rows(results, against="people", criterion="grade", name="mean", group="quay")
    assert (quay["own"], quay["other"], quay["n"]) == (10.0, 9.0, 1)
    # a is not settled: 8 and 6 are two apart.
    settled = Results.of_study(place.db, place.researcher, study, by=GPT, against="settled")
    [mean] = rows(settled, against="settled labels", criterion="grade", name="mean", group=None)
    assert (mean["own"], mean["other"], mean["n"]) == (7.5, 6.5, 2)
    assert (
        f"The difference is {GPT} less settled labels, over units that both labelled."
        in results.of_study(place.db, place.researcher, study, by=GPT, against="settled").in_words()
    )


def test_a_study_of_judges_has_results_by_its_name_alone(place: Place) -> None:
    def made() -> int:
        protocol = PROTOCOLS.get("answer_grading")
        return study_for_judges(place.db, place.researcher, place.project_id, protocol=protocol, called="graded")

    study = made()
    said = {("grade", "item"): 7}
    judge_says(place.db, study, "gpt", {"a": said, "b": {("grade", "item"): Left("cut off")}})
    [mean] = rows(Results.of_study(place.db, place.researcher, study), criterion="grade", name="mean", group=None)
    assert (mean["value"], mean["labels"]) == (7.0, "judge")
    judge_says(place.db, study, "other", {"a": said})
    with pytest.raises(InvalidInput, match=r"Several judges have labelled here: 'gpt plain@1', 'other plain@1'\. Name"):
        Results.of_study(place.db, place.researcher, study)


@pytest.mark.parametrize(
    ("by", "against", "words"),
    [
        ("gtp", None, r"No judge 'gtp' has labelled in the study 'grading'\. Judges there: 'gpt plain@1'"),
        (GPT, "nobody", r"No judge 'nobody' has labelled in the study 'grading'"),
        ("people", "settled", r"The results are of people’s labels already\. Name a judge with --by"),
        (GPT, GPT, r"'gpt plain@1' would stand beside itself\. Name people, settled, or another judge"),
    ],
)
def test_a_name_that_is_nobody_is_refused(place: Place, by: str, against: str | None, words: str) -> None:
    study = graded(place)
    with pytest.raises((InvalidInput, NotFound), match=words):
        Results.of_study(place.db, place.researcher, study, by=by, against=against)
