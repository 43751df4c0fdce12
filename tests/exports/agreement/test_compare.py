"""Comparisons draw what the reports of their studies draw: questions, where several units are about one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlmodel import col, select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.protocols import Material, Protocol, Step
from db.engine import Database
from db.models import Item
from db.studies.ratings import ratings
from exports.agreement.arms import labels_beside
from exports.agreement.compare import between_annotators, between_parts, between_studies
from exports.agreement.study import CriterionReport, unmeasured
from tests.makers import StudyInUse

QUESTIONS, SYSTEMS, UNITS = 12, 2, 3


def about_evidence() -> Protocol:
    return Protocol(
        name="units",
        title="Units",
        guidelines="Say whether the unit helps.",
        criteria=[
            Choice(name="helps", title="Helps", target="evidence", labels=[Label(value="yes"), Label(value="no")])
        ],
        steps=[Step(name="all", title="All", shows=[Material.QUESTION, Material.EVIDENCE], criteria=["helps"])],
    )


def two_answers_a_question(db: Database) -> None:
    with db.write() as session:
        items = session.exec(select(Item).order_by(col(Item.id))).all()[-QUESTIONS * SYSTEMS :]
        for place, item in enumerate(items):
            item.question_id = items[place - place % SYSTEMS].question_id
            session.add(item)


def labelled(db: Database, shift: int = 0) -> CriterionReport:
    """Each annotator says the same of all that is about a question, so that twelve questions are all that is known."""
    study = StudyInUse(
        db,
        items=QUESTIONS * SYSTEMS,
        annotators=4,
        overlap=4,
        n_evidence=UNITS,
        protocol=about_evidence(),
        categories=("a", "a", "b", "b"),
        prepare=two_answers_a_question,
    )
    for who in range(4):
        number = 0
        while items := study.work(who)["items"]:
            agrees = (number // SYSTEMS * (who + 3) + shift) % 5 > who // 2
            study.submit(who, items[0], {"helps": "yes" if agrees else "no"})
            number += 1
    return unmeasured(ratings(db, study.researcher, study.study_id), "helps")


@pytest.fixture
def report(sqlite_database: Database) -> CriterionReport:
    return labelled(sqlite_database)


def of_annotators(report: CriterionReport, other: CriterionReport) -> tuple[float | None, float | None]:
    assert report.ratings is not None
    people = [str(name) for name in report.ratings.raters]
    groups, names = (people[:2], people[2:]), ("first", "second")
    found = between_annotators(report, groups, names, "percent_agreement", seed=1, resamples=300).found
    return found.low, found.high


def of_parts(report: CriterionReport, other: CriterionReport) -> tuple[float | None, float | None]:
    found = between_parts(report, "category", ("a", "b"), "percent_agreement", seed=1, resamples=300).found
    return found.low, found.high


def of_studies(report: CriterionReport, other: CriterionReport) -> tuple[float | None, float | None]:
    found = between_studies(report, other, ("a", "b"), "percent_agreement", seed=1, resamples=300).found
    return found.low, found.high


def of_shares(report: CriterionReport, other: CriterionReport) -> tuple[float | None, float | None]:
    found = labels_beside(report, other, ("a", "b")).labels[0]
    return found.low, found.high


@pytest.mark.parametrize(
    ("compared", "wider"),
    # Six units are as good as one: √6. Shares were over items already, two a question: √2, with fewer freedoms.
    [(of_annotators, 6**0.5), (of_parts, 6**0.5), (of_studies, 6**0.5), (of_shares, 2**0.5)],
)
def test_an_interval_is_as_wide_as_questions_make_it(
    sqlite_database: Database,
    report: CriterionReport,
    compared: Callable[[CriterionReport, CriterionReport], tuple[float | None, float | None]],
    wider: float,
) -> None:
    other = labelled(sqlite_database, shift=2)
    wide, narrow = (
        compared(replace(report, clustered=clustered), replace(other, clustered=clustered))
        for clustered in (True, False)
    )
    assert None not in (*wide, *narrow)
    widths = [(high or 0) - (low or 0) for low, high in (wide, narrow)]
    assert widths[0] / widths[1] == pytest.approx(wider, rel=0.2)


def test_a_comparison_says_that_questions_were_drawn(sqlite_database: Database, report: CriterionReport) -> None:
    other = labelled(sqlite_database, shift=2)
    found = between_studies(report, other, ("a", "b"), "percent_agreement", seed=1, resamples=50)
    assert found.notes == ("Questions were drawn, with all that is about them.",)
    assert "clusters" in (found.found.method or "")
    assert "questions" in labels_beside(report, other, ("a", "b")).labels[0].method
    same = between_studies(report, report, ("a", "b"), "percent_agreement", seed=1, resamples=50)
    # No question differs from itself, which says nothing of others.
    assert (same.found.value, same.found.low, same.found.high, same.found.paired) == (0, None, None, True)
