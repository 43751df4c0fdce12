"""A stopped study that was ordered by a score: what is shown of all items weighs its judged beginning, and says so."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from annotators.intervals.bootstrap import Resampling
from db.designing.by_score import NOT_ALIKE, Beginning, judged_beginning
from db.engine import Database
from db.models import Study
from exports.agreement.report import Report
from exports.agreement.study import agreement_report
from exports.alignment.study import alignment_report
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
from exports.results.document import Results
from tests.db.designing.test_by_score import by_score, rows
from tests.makers import StudyInUse

QUICK = Resampling(resamples=100)
N, JUDGED = 40, 15


@pytest.fixture
def stopped(database: Database) -> StudyInUse:
    """Of 40 items the first 15 are judged by both, and a 17th behind the 16th, which is at hand."""
    study = by_score(database, N, overlap=2, annotators=2, seed=3)
    for who in (0, 1):
        for place in range(JUDGED):
            study.submit(who, study.work(who)["items"][0], {"right": "yes" if place % 3 else "no"})
    ahead = study.work(0)["items"]
    study.submit(0, ahead[1], {"right": "yes"})
    study.submit(1, study.work(1)["items"][1], {"right": "yes"})
    return study


def beginning(study: StudyInUse) -> Beginning:
    with study.db.read() as session:
        found = judged_beginning(session, session.get_one(Study, study.study_id))
    assert found is not None
    return found


def weighed(study: StudyInUse) -> float:
    """Σ y / p divided by Σ 1 / p, by hand."""
    kept = rows(study)
    after = kept[JUDGED].sampling_key or 0
    weights = [1 / min(1, (row.sampling_weight or 0) / after) for row in kept[:JUDGED]]
    return sum(w * bool(place % 3) for place, w in enumerate(weights)) / sum(weights)


def test_results_estimate_all_items_from_the_judged_beginning(stopped: StudyInUse) -> None:
    results = Results.of_study(stopped.db, stopped.researcher, stopped.study_id, QUICK)
    found = {(row.name, row.label): row for row in results.figures if row.name == "estimated_share"}
    yes = found["estimated_share", "yes"]
    assert beginning(stopped).n == JUDGED
    assert yes.value == pytest.approx(weighed(stopped))
    assert yes.n == JUDGED
    assert yes.low is not None
    assert yes.high is not None
    assert yes.low < weighed(stopped) < yes.high
    assert "the first 15 of 40 items, drawn by a score, each weighed by 1 / its probability; Wilson" in (
        yes.method or ""
    )
    plain = next(row for row in results.figures if (row.name, row.label, row.labels) == ("share", "yes", "each"))
    assert plain.value == pytest.approx((10 + 1) / 16)
    assert "Estimated for all 40 items" in results.in_words()
    assert NOT_ALIKE in results.notes


def test_alignment_weighs_the_beginning_and_leaves_out_what_is_behind_it(stopped: StudyInUse) -> None:
    report = alignment_report(stopped.db, stopped.researcher, stopped.study_id, asked=QUICK)
    found = report.find("classical_mean", metric="imported:t", criterion="right")
    assert found is not None
    assert found.value == pytest.approx(weighed(stopped))
    assert found.n == JUDGED
    assert "the mean of these 40 units" in (found.method or "")
    assert any(NOT_ALIKE in words and "first 15 of 40 items" in words for words in report.warnings)


def test_agreement_says_that_items_were_not_drawn_alike(stopped: StudyInUse) -> None:
    report = agreement_report(stopped.db, stopped.researcher, stopped.study_id, resamples=50)
    assert NOT_ALIKE in report.to_json()["criteria"][0]["warnings"]
    assert any(NOT_ALIKE in note for note in Report.of_study(report).notes)


def test_nothing_is_weighed_or_said_when_all_is_judged(database: Database) -> None:
    study = by_score(database, 8, overlap=2, annotators=2)
    study.label_all(0)
    study.label_all(1, "no")
    results = Results.of_study(database, study.researcher, study.study_id, QUICK)
    assert not [row for row in results.figures if row.name.startswith("estimated")]
    report = agreement_report(database, study.researcher, study.study_id, resamples=50)
    assert NOT_ALIKE not in report.to_json()["criteria"][0]["warnings"]
    alignment = alignment_report(database, study.researcher, study.study_id, asked=QUICK)
    assert not any(NOT_ALIKE in words for words in alignment.warnings)


def test_weights_and_keys_are_exported_and_verified(stopped: StudyInUse, tmp_path: Path) -> None:
    to = tmp_path / "export"
    manifest = export_project(stopped.db, stopped.researcher, stopped.project_id, to=to, study_id=stopped.study_id)
    with (to / "sampling.csv").open() as file:
        table = list(csv.DictReader(file))
    kept = rows(stopped)
    assert [int(row["position"]) for row in table] == list(range(1, N + 1))
    assert [float(row["weight"]) for row in table] == [row.sampling_weight for row in kept]
    assert [float(row["key"]) for row in table] == [row.sampling_key for row in kept]
    assert manifest.counts["sampling"] == N
    assert (manifest.studies[0]["order"], manifest.studies[0]["order_score"]) == ("by_score", "risk")
    assert np.all(np.diff([float(row["key"]) for row in table]) <= 0)
    assert verify_against(stopped.db, stopped.researcher, to).ok
