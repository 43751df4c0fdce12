"""Whose error an estimate of a study holds, what is left out of it, and designs of equal cost in words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlmodel import select

from annotators.arrays import FloatArray
from annotators.estimates.designs import planned_designs
from annotators.estimates.raters import LabelsByRater
from annotators.estimates.sample import Units
from db.engine import Database
from db.models import ItemVersion
from db.studies.design import find_study
from exports.estimates.data import study_units
from exports.estimates.features import ANSWER, EVIDENCE, QUESTION, features_of
from exports.estimates.raters import LEFT_OUT, MEASURED, UNKNOWN, WITH_ITEMS, designs_in_words, options_of, raters_part
from exports.estimates.report import estimate_report
from exports.estimates.view import fewer_labels
from tests.annotators.estimates.makers import NAN, correlated
from tests.db.designing.test_by_score import scored
from tests.exports.alignment.test_pairs import write_worked
from tests.exports.formats.places import Place
from tests.exports.judged import make_judged
from tests.makers import StudyInUse, make_person

TABLE = np.array([[1.0, 3.0], [2.0, 2.0], [4.0, NAN], [5.0, NAN], [NAN, 3.0], [NAN, 4.0]] * 4)


def units_of(table: FloatArray = TABLE, **about: Any) -> Units:
    return Units.of(LabelsByRater.of(table), {}, n=len(table), **about)


@pytest.mark.parametrize(
    ("units", "how", "says", "tags"),
    [
        (units_of(), MEASURED, "as 8 items that several rated say it", ["raters' error included"]),
        (units_of(TABLE[:, :1]), LEFT_OUT, "leaves out what another rater would have said", ["raters' error left out"]),
        (units_of(TABLE[:, :1], population=math.inf), WITH_ITEMS, "as part of what items differ by", []),
        (correlated(20, 60, 0.5), UNKNOWN, "", []),
    ],
)
def test_it_is_said_whose_error_an_interval_holds(units: Units, how: str, says: str, tags: list[str]) -> None:
    part = raters_part(units)
    assert (part.how, part.tags) == (how, tags)
    assert says in " ".join(part.in_words)
    assert part.to_json()["error"] == how


def test_raters_who_differ_in_how_high_they_label_are_named_beside_the_figure() -> None:
    strict = np.arange(12.0)
    part = raters_part(units_of(np.stack([strict, strict + 2], axis=1)))
    assert any("differ in how high they label by 1.414" in words for words in part.in_words)
    assert any("±2.000, which its interval leaves out" in words for words in part.in_words)


def one_rater(db: Database, n: int = 60) -> StudyInUse:
    """One rater an item, two for a drawn fifth, of n items with a score; all is labelled."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=n)
    asked: dict[str, Any] = {"annotators": 2, "overlap": 1, "part": 0.2, "part_overlap": 2, "order": "shuffled"}
    study = StudyInUse(db, items=n, prepare=lambda db: scored(db, values.tolist()), **asked)
    turn, waiting = 0, 2
    while waiting:
        items = study.work(turn % 2)["items"]
        waiting = 2 if items else waiting - 1
        if items:
            study.submit(turn % 2, items[0], {"right": "yes" if rng.random() > 0.4 else "no"})
        turn += 1
    return study


def test_a_study_with_a_drawn_part_of_more_has_the_raters_error_in_its_interval(sqlite_database: Database) -> None:
    study = one_rater(sqlite_database)
    about = (sqlite_database, study.researcher, study.study_id)
    report, found = estimate_report(*about, width=0.3)
    units = report.units
    assert (units.n_labelled, units.n_ratings, units.n_several) == (60, 72, 12)
    classical = report.find("mean_classical")
    assert classical is not None
    assert (classical.half_width or 0) > 0.03, "labelled in full, it is no point"
    assert "from 72 labels of 60 items, 12 of them labelled by several" in report.sentence()
    assert report.sentence().endswith("finite population, raters' error included.")
    assert found.beside == (), "what is the same of all items predicts nothing"
    document = report.to_json()
    assert document["raters"]["items_by_several"] == 12
    assert document["designs"]["width"] == 0.3
    assert {row["raters"] for row in document["designs"]["rows"]} == {1, 2, 3}
    assert document["sentence"] == report.sentence()
    [standing] = fewer_labels(*about).standings
    assert standing.half_width
    assert any(section.title == "Designs at equal labels" for section in report.sections())


def test_labels_that_were_asked_for_as_people_disagreed_do_not_count(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=12, annotators=3, overlap=2, most_overlap=3, rule="majority")
    for who in (0, 1):
        for number in range(12):
            item = study.work(who)["items"][0]
            study.submit(who, item, {"right": "no" if who and number < 4 else "yes"})
    assert study.label_all(2) == 4
    found = study_units(sqlite_database, study.researcher, study.study_id)
    assert found.units().n_ratings == 24
    assert sorted(found.label.tolist()) == [0.5] * 4 + [1.0] * 8
    assert any(note.startswith("4 labels that were asked for as people disagreed are left out") for note in found.notes)


def test_preferences_have_the_share_that_the_first_wins(sqlite_database: Database, tmp_path: Path) -> None:
    """Of six pairs the first wins 0, 1, a half (one vote each), a quarter (lost and tied), 1, 0."""
    place = Place(sqlite_database, tmp_path)
    place.take(write_worked(tmp_path / "in"), labels_into="Raters")
    study = find_study(place.db, place.actor, place.project, name="Raters")
    report, found = estimate_report(place.db, place.actor, study, criterion="overall", by="system")
    assert report.units.scale == (0.0, 1.0)
    assert sorted(found.label.tolist()) == [0, 0, 0.25, 0.5, 1, 1]
    assert report.best.value == pytest.approx(2.75 / 6)
    assert report.units.noise is not None
    assert report.best.half_width
    assert any("share of pairs that the first answer wins" in note and "alpha" in note for note in found.notes)


def test_lengths_are_combined_with_scores_and_are_no_metrics(sqlite_database: Database, tmp_path: Path) -> None:
    admin = make_person(sqlite_database, admin=True)
    judged = make_judged(sqlite_database, admin, tmp_path, questions=30, labelled=20)
    about = (sqlite_database, admin, judged.study_id)
    report, found = estimate_report(*about, criterion="quality")
    assert set(found.beside) == {ANSWER, QUESTION}, "there is no evidence"
    assert len(found.predictions[ANSWER]) == 90
    assert not any(entry.metric in found.beside for entry in report.statistics)
    assert report.units.n_predicted == 90
    alone = study_units(*about, criterion="quality", predict=["imported:native: overlap"])
    assert alone.beside == ()


def test_features_are_of_versions_in_their_order(sqlite_database: Database) -> None:
    StudyInUse(sqlite_database, items=3, n_evidence=2)
    with sqlite_database.read() as session:
        versions = session.exec(select(ItemVersion)).all()
    ids = [version.id or 0 for version in versions]
    assert features_of(sqlite_database, ids) == {}, "all are alike"
    with sqlite_database.write() as session:
        longer = ItemVersion(
            item_id=versions[0].item_id,
            number=2,
            question="Why, at all?",
            answer="So it is, and it was always so.",
            content_hash="x",
        )
        session.add(longer)
        session.flush()
        new = longer.id or 0
    found = features_of(sqlite_database, [new, ids[0], new])
    assert set(found) == {ANSWER, QUESTION, EVIDENCE}
    assert found[ANSWER][0] == found[ANSWER][2] == math.log1p(len("So it is, and it was always so."))
    assert found[EVIDENCE][:2] == [0.0, math.log1p(2)]


def test_the_options_of_a_design_make_a_study_of_it() -> None:
    rng = np.random.default_rng(1)
    expects = rng.normal(size=200)
    table = expects[:, None] + rng.normal(size=(200, 2))
    table[50:] = NAN
    units = Units.of(LabelsByRater.of(table), {"s": expects + rng.normal(size=200)}, n=200)
    plan = planned_designs(units, width=0.5)
    three = next(row for row in plan.rows if row.design.several == 3)
    assert list(options_of(three, 90)) == ["--overlap", "1", "--part", "0.1", "--part-overlap", "3", "--sample", "90"]
    words = designs_in_words(plan)
    assert words[0].startswith("The fewest labels for an interval 0.5 wide: 1 rater, ")
    assert "With agreement to be measured: 1 rater, a drawn" in words[0]
    assert designs_in_words(planned_designs(correlated(20, 60, 0.5)))[0].startswith("No designs: 0 items of the pilot")
