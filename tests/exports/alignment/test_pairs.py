"""Preferences between two answers against the differences of their scores: direction, gaps, and RAGChecker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from scipy import stats

from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from db.engine import Database
from db.studies.design import find_study
from exports.alignment.advice import advice_on
from exports.alignment.report import AlignmentDocument
from exports.alignment.study import AlignmentReport, Labels, alignment_report
from exports.alignment.views import Outline, differing_units
from exports.drawing.report_files import report_file
from tests.exports.formats.places import Place, write_json

METRIC = "imported:ragchecker"
QUICK = Resampling(resamples=100)

# Preferences of two raters, and the scores of the first and the second answer (None: unscored).
WORKED: list[tuple[tuple[int, int], tuple[float | None, float | None]]] = [
    ((2, 1), (0.25, 1.0)),
    ((-1, -2), (0.5, 0.25)),
    ((1, -1), (0.5, 0.75)),
    ((1, 0), (0.5, 0.5)),
    ((-1, -1), (0.25, 0.5)),
    ((2, 2), (0.5, None)),
]


def row(place: int, **changes: Any) -> dict[str, Any]:
    return {
        "dataset": "port",
        "query_id": str(place),
        "query": f"Which pier is older, {place}?",
        "gt_answer": "The north pier.",
        "model1": {"model_name": "alpha", "response": "North."},
        "model2": {"model_name": "beta", "response": "South."},
        **changes,
    }


def write_worked(folder: Path) -> Path:
    """The worked pairs as they come: ratings, and a metric file beside them."""
    ratings, metrics = [], []
    for number, (said, scores) in enumerate(WORKED):
        for value in said:
            about = dict.fromkeys(("correctness_label", "completeness_label"), 0)
            ratings.append(row(number, **about, overall_label=value))
        measured = row(number)
        for side, score in zip(("model1", "model2"), scores, strict=True):
            if score is not None:
                measured[side]["ragchecker"] = {"overall_label": score}
        metrics.append(measured)
    write_json(folder / "human.json", ratings)
    write_json(folder / "metric.json", metrics)
    return folder


@pytest.fixture
def place(sqlite_database: Database, tmp_path: Path) -> Place:
    place = Place(sqlite_database, tmp_path)
    place.take(write_worked(tmp_path / "in"), labels_into="Raters")
    return place


def measured(place: Place, labels: Labels = "item", asked: Resampling = QUICK) -> AlignmentReport:
    study = find_study(place.db, place.actor, place.project, name="Raters")
    return alignment_report(place.db, place.actor, study, labels=labels, asked=asked)


def test_the_difference_is_the_second_answer_less_the_first(place: Place) -> None:
    """Means of the raters 1.5, -1.5, 0, .5, -1 against .75, -.25, .25, 0, .25: right, right, none, half, wrong."""
    report = measured(place)
    [metric] = report.data.metrics
    assert (metric.name, metric.scale, metric.threshold) == (METRIC, (-1.0, 1.0), 0.0)
    assert sorted(metric.values.values()) == [-0.25, 0.0, 0.25, 0.25, 0.75]
    human, apart = [1.5, -1.5, 0, 0.5, -1], [0.75, -0.25, 0.25, 0, 0.25]
    for name, oracle in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall_tau_b", stats.kendalltau),
    ):
        found = report.find(name, metric=METRIC, criterion="overall")
        assert found is not None
        assert found.value == pytest.approx(oracle(human, apart).statistic)
        assert found.n == 5
    accuracy = report.find("pairwise_accuracy", metric=METRIC, criterion="overall")
    assert accuracy is not None
    assert (accuracy.value, accuracy.n) == (2.5 / 4, 4)
    assert report.find("pairwise_accuracy", metric=METRIC, criterion="correctness").value is None  # type: ignore[union-attr]
    assert f"{METRIC}: 1 unscored and left out (only one of the two answers has a score)" in report.notes
    assert any("the second answer of a pair less that of the first" in note for note in report.notes)


def test_every_rater_is_a_row_and_questions_are_drawn(place: Place) -> None:
    """Nine preferences: two and two right, one of two right, one at equal scores, two wrong."""
    accuracy = measured(place, "each").find("pairwise_accuracy", metric=METRIC, criterion="overall")
    assert accuracy is not None
    assert accuracy.value == pytest.approx(5.5 / 9)
    assert accuracy.n == 9
    assert "5 questions are too few, at least 10" in (accuracy.method or "")


def test_pairs_have_no_ranking_of_systems_and_no_calibration(place: Place) -> None:
    report = measured(place)
    names = {statistic.name for statistic in report.statistics}
    assert not {"system_kendall_tau_b", "calibration_error"} & names
    assert {unit.groups["system"] for unit in report.data.units.values()} == {"alpha ⇄ beta"}
    found = differing_units(report, "overall", METRIC, turned=False, most=1)
    assert (found.units[0].system, found.units[0].human, found.units[0].metric) == ("alpha ⇄ beta", -1.0, 0.25)


def test_the_report_has_the_accuracy_beside_the_correlations(place: Place) -> None:
    made = report_file(AlignmentDocument.of_study(measured(place)), "pairs", ".html").decode()
    assert "Pairwise accuracy" in made
    assert "0.625" in made
    assert "alpha ⇄ beta" not in made, "there is one pair of systems only, and so no groups"
    assert all(criterion.about_pairs for criterion in Outline.of(measured(place)).criteria)


def test_there_is_no_advice_about_pairs(place: Place) -> None:
    study = find_study(place.db, place.actor, place.project, name="Raters")
    with pytest.raises(InvalidInput, match="compares pairs of answers"):
        advice_on(place.db, place.actor, study, metric=METRIC)


def test_the_known_values_of_ragchecker(sqlite_database: Database, tmp_path: Path, shared_data: Path) -> None:
    """Correlations: ../shared/data/README.md, all 560 labels. Pairwise accuracy: counted in a loop over the files."""
    place = Place(sqlite_database, tmp_path)
    names = ("human_labeled_data.json", "baseline_ragchecker.json")
    files = [shared_data / "ragchecker" / name for name in names]
    place.take(*files, labels_into="Raters")
    report = measured(place, "each")
    ratings, scored = (orjson.loads(file.read_bytes()) for file in files)
    for criterion, pearson, spearman in (
        ("correctness", 0.4966, 0.4694),
        ("completeness", 0.6067, 0.5809),
        ("overall", 0.6193, 0.6090),
    ):
        name = f"{criterion}_label"
        right = []
        for number, rating in enumerate(ratings):
            first, second = (scored[number // 2][side]["ragchecker"][name] for side in ("model1", "model2"))
            if rating[name]:
                right.append(0.5 if first == second else float((second > first) == (rating[name] > 0)))
        known = {"pearson": pearson, "spearman": spearman, "pairwise_accuracy": round(sum(right) / len(right), 4)}
        for statistic in (*known, "kendall_tau_b"):
            found = report.find(statistic, metric=f"{METRIC}: {criterion}", criterion=criterion)
            assert found is not None
            assert found.value is not None
            assert found.low is not None
            assert found.high is not None
            assert round(found.value, 4) == known.get(statistic, round(found.value, 4))
            assert found.low < found.value < found.high < found.low + 0.3
            assert found.n == (len(right) if statistic == "pairwise_accuracy" else 560)
            assert "over questions" in (found.method or "")
