"""The estimates of a study: its finite set, judges as predictions, draws that weigh, and the order of its labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlmodel import col, select

from annotators.errors import InvalidInput, NotFound
from db.designing.draws import draws_of
from db.engine import Database
from db.models import Annotation, AnnotationKind, Assignment, Person, StudyItem
from exports.drawing.report_files import report_html
from exports.estimates.data import study_units
from exports.estimates.drawing import draw_next
from exports.estimates.report import estimate_report
from exports.estimates.view import NO_LABELS, NOT_YET, REACHED, fewer_labels
from tests.db.designing.test_by_score import by_score, scored
from tests.exports.alignment.test_study import model_says
from tests.exports.judged import make_judged
from tests.makers import StudyInUse, make_person


def answers(study: StudyInUse, n: int, say: Any) -> None:
    """Label n items, each as `say` says of its place among the project's items."""
    with study.db.read() as session:
        rows = session.exec(select(StudyItem).where(StudyItem.study_id == study.study_id)).all()
        place = {row.id: number for number, row in enumerate(sorted(rows, key=lambda row: row.item_version_id))}
    for _ in range(n):
        item = study.work(0)["items"][0]
        with study.db.read() as session:
            where = place[session.get_one(Assignment, item["assignment"]).study_item_id]
        study.submit(0, item, {"right": "yes" if say(where) else "no"})


def made(db: Database, n: int = 120, **about: Any) -> tuple[StudyInUse, np.ndarray[Any, Any]]:
    """A study of n items whose score says much of the label, and the truth of each."""
    rng = np.random.default_rng(5)
    latent = rng.normal(size=n)
    values = (latent + 0.4 * rng.normal(size=n)).tolist()
    asked = {"annotators": 1, "overlap": 1, "order": "shuffled", **about}
    study = StudyInUse(db, items=n, prepare=lambda db: scored(db, values), **asked)
    return study, latent > 0


def judge_says(study: StudyInUse, name: str, say: Any) -> None:
    """Labels of a rater of kind model on every item of the study."""
    judge = make_person(study.db, name)
    with study.db.write() as session:
        session.get_one(Person, judge.person_id).kind = "model"
        rows = session.exec(select(StudyItem).where(StudyItem.study_id == study.study_id)).all()
        for place, row in enumerate(sorted(rows, key=lambda row: row.item_version_id)):
            model_says(session, study, judge, row.id or 0, "yes" if say(place) else "no")


def test_the_finite_set_is_the_studys_items_and_scores_predict(sqlite_database: Database) -> None:
    study, truth = made(sqlite_database)
    answers(study, 60, truth.__getitem__)
    report, found = estimate_report(sqlite_database, study.researcher, study.study_id)
    best = report.find("mean_ppi")
    assert best is not None
    assert (best.n_labelled, best.n_predicted, len(found.names)) == (60, 120, 120)
    assert (best.effective_n or 0) > 75
    assert report.saved
    assert best.low is not None
    assert best.high is not None
    assert best.low < truth.mean() < best.high
    assert sorted(found.order[found.labelled].tolist()) == list(range(60))
    population, _ = estimate_report(sqlite_database, study.researcher, study.study_id, of="population")
    wide, narrow = population.find("mean_classical"), report.find("mean_classical")
    assert wide is not None
    assert narrow is not None
    assert (wide.half_width or 0) > 1.2 * (narrow.half_width or 9)
    assert "finite population" in report.sentence()
    assert "labels saved" in report_html(report)


def test_a_judge_is_a_prediction_by_its_name(sqlite_database: Database) -> None:
    study, truth = made(sqlite_database)
    answers(study, 40, truth.__getitem__)
    judge_says(study, "qwen", lambda place: truth[place] if place % 10 else not truth[place])
    about = (sqlite_database, study.researcher, study.study_id)
    chosen = study_units(*about, predict=["judge:qwen"])
    assert list(chosen.predictions) == ["qwen: right"]
    report, _ = estimate_report(*about, predict=["judge:qwen"])
    assert (report.best.effective_n or 0) > 60
    assert set(study_units(*about).predictions) == {"qwen: right", "imported:t"}
    with pytest.raises(NotFound, match=r"Known: .*judge:qwen"):
        study_units(*about, predict=["judge:gpt"])


def test_labels_of_a_draw_are_weighed_and_both_draws_count(sqlite_database: Database) -> None:
    study, truth = made(sqlite_database)
    answers(study, 30, truth.__getitem__)
    about = (sqlite_database, study.researcher, study.study_id)
    for seed in (1, 2):
        drawn = draw_next(*about, n=15, seed=seed)
        assert drawn.first
        assert all(0 < item.probability < 1 for item in drawn.items)
        answers(study, 15, truth.__getitem__)
    assert len(draws_of(*about)) == 2
    report, found = estimate_report(*about)
    active = report.find("mean_active")
    assert active is not None
    assert active.n_labelled == 60
    assert active.low is not None
    assert active.high is not None
    assert active.low < truth.mean() < active.high
    units = found.units()
    assert units.weights is not None
    assert units.weights.sum() == pytest.approx(120, rel=0.15)
    assert (report.find("mean_ppi") or active).value is None
    with pytest.raises(NotFound, match="none to draw"):
        draw_next(*about, n=200, seed=3)
        draw_next(*about, n=1, seed=4)


def test_a_study_ordered_by_a_score_is_weighed_by_its_own_probabilities(sqlite_database: Database) -> None:
    study = by_score(sqlite_database, 40, annotators=1, overlap=1)
    answers(study, 25, lambda place: place > 20)
    about = (sqlite_database, study.researcher, study.study_id)
    report, _ = estimate_report(*about)
    active = report.find("mean_active")
    assert active is not None
    assert active.n_labelled == 25
    assert any("drawn by a score" in note for note in report.notes)
    with pytest.raises(InvalidInput, match="drawn by its order already"):
        draw_next(*about, n=3)


def test_labels_made_elsewhere_stand_for_the_scored_items_of_the_project(
    sqlite_database: Database, tmp_path: Path
) -> None:
    admin = make_person(sqlite_database, admin=True)
    judged = make_judged(sqlite_database, admin, tmp_path, questions=30, labelled=20)
    about = (sqlite_database, admin, judged.study_id)
    report, found = estimate_report(*about, criterion="quality", by="system")
    assert (report.units.n_labelled, report.units.n) == (60, 90)
    assert (found.study_item < 0).sum() == 30
    assert {entry.group for entry in report.statistics if entry.name == "rank_ppi"} == {"harbour", "lantern", "quay"}
    with pytest.raises(NotFound, match="Known: right, quality"):
        study_units(*about, criterion="nothing")


def test_how_a_criterion_stands(sqlite_database: Database) -> None:
    study, truth = made(sqlite_database, stop_at=0.15)
    about = (sqlite_database, study.researcher, study.study_id)
    [bare] = fewer_labels(*about).standings
    assert (bare.state, bare.n) == (NO_LABELS, 0)
    answers(study, 25, truth.__getitem__)
    page = fewer_labels(*about)
    [standing] = page.standings
    assert (standing.state, standing.n, page.stop) == (NOT_YET, 25, 0.15)
    assert standing.more is not None
    assert 1 <= standing.more < 95
    answers(study, standing.more + 15, truth.__getitem__)
    [then] = fewer_labels(*about).standings
    assert then.state == REACHED
    assert 20 <= (then.since or 0) <= then.n
    assert (then.half_width or 9) <= 0.15


def test_only_counting_kinds_have_a_time(sqlite_database: Database) -> None:
    study, truth = made(sqlite_database, n=30)
    judge_says(study, "early", truth.__getitem__)
    answers(study, 5, truth.__getitem__)
    found = study_units(sqlite_database, study.researcher, study.study_id)
    assert np.isfinite(found.at).sum() == 5
    with sqlite_database.read() as session:
        models = session.exec(select(Annotation).where(col(Annotation.kind) == AnnotationKind.MODEL)).all()
    assert len(models) == 30
