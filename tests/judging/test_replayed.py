"""Real judges replayed: their stored grades and verdicts give the same figures through a judge as through an import."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import orjson
import pytest
from scipy import stats

from annotators.criteria import Label
from annotators.criteria.grade import Grade
from annotators.criteria.material import Material
from annotators.intervals.bootstrap import Resampling
from annotators.judges.prompts import default_prompt
from annotators.protocols.base import Protocol, Step
from db.engine import Database
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from db.judging.run import Means, Sample, run_judge
from db.studies.design import find_study
from exports.agreement.study import agreement_report
from exports.alignment.study import AlignmentReport, Labels, alignment_report
from exports.importing.labels import import_label_table
from tests.exports.formats.places import Place, as_json, write_json
from tests.judging.replaying import ReplayingServer
from tests.judging.wire import ChatServer, Sent

QUICK = Resampling(resamples=0)
STUDY = "mmdocrag_grades by judges"
GRADES = ("Fluency", "Citation Quality", "Text-Image Coherence", "Reasoning Logic", "Factuality")


def judged(place: Place, server: ChatServer, study: int, sample: int | None, seed: int = 0) -> dict[str, Any]:
    settings = JudgeSettings(
        "tiny-judge", server.base_url, default_prompt(), pictures=0, structured="schema", seed=seed
    )
    means = Means(concurrency=8)
    found = run_judge(place.db, place.actor, study, judge=settings, sample=Sample(sample), means=means)
    assert (found["unscored"], found["left"]) == ([], 0)
    return found


def aligned(place: Place, study: int, labels: Labels = "item") -> AlignmentReport:
    return alignment_report(place.db, place.actor, study, labels=labels, asked=QUICK)


def figures(report: AlignmentReport, metric: str, criterion: str) -> dict[str, Any]:
    names = ("pearson", "spearman", "kendall_tau_b")
    found = [report.find(name, metric=metric, criterion=criterion) for name in names]
    return {one.name: (one.value, one.low, one.high, one.n) for one in found if one is not None}


# MMDocRAG: a judge's grades of 600 answers ---------------------------------------------------------------------------


def name_of(grade: str) -> str:
    return grade.lower().replace(" ", "_").replace("-", "_")


def grading() -> Protocol:
    """A protocol of the five grades."""
    labels = [Label(value=str(grade), title=f"Grade {grade}", definition=f"{grade} of 5.") for grade in range(6)]
    return Protocol(
        name="mmdocrag_grades",
        version=1,
        title="Grades of MMDocRAG",
        guidelines="Grade the answer.",
        criteria=[Grade(name=name_of(grade), title=grade, labels=labels) for grade in GRADES],
        steps=[
            Step(
                name="whole",
                title="The whole answer",
                shows=[Material.QUESTION, Material.ANSWER],
                criteria=[name_of(grade) for grade in GRADES],
            )
        ],
    )


def piece(material: str, name: str) -> str:
    """What stands between the marks behind this name."""
    behind = material.partition(f"{name}:\n<data-")[2]
    mark, _, rest = behind.partition(">\n")
    return rest.partition(f"\n</data-{mark}>")[0].strip()


def check_grades(place: Place, shared_data: Path, tmp_path: Path, sample: int | None) -> None:
    folder = shared_data / "mmdocrag"
    place.take(*sorted(folder.glob("*.jsonl")))
    items = as_json(place)
    stored: dict[tuple[str, str], dict[str, Any]] = {}
    for item in items.values():
        grades = {name_of(score["name"]): score.get("value") for score in item["scores"]}
        assert stored.setdefault((item["question"], item["answer"].strip()), grades) == grades

    def said(criterion: str, sent: Sent) -> Any:
        material = sent.texts[-1].rpartition("# Material")[2]
        question, answer = (piece(material, name) for name in ("Question", "Answer"))
        value = stored[question, answer].get(criterion)
        return None if value is None else int(value)

    with ReplayingServer(said) as server:
        study = study_for_judges(place.db, place.actor, place.project, protocol=grading())
        found = judged(place, server, study, sample)
    assert found["items"] == (sample or 600)
    assert found["labels"] + found["cannot_judge"] == 5 * found["items"]
    table = tmp_path / "stored.csv"
    rows = [
        (name, "stored", name_of(score["name"]), int(score["value"]))
        for name, item in items.items()
        for score in item["scores"]
        if score.get("value") is not None
    ]
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("item", "annotator", "criterion", "value"), *rows])
    import_label_table(place.db, place.actor, place.project, study=STUDY, path=table)
    by_judge, by_import = judged_and_imported(place, study, found["judge"])
    assert by_judge == by_import
    report = aligned(place, study)
    for grade in GRADES:
        as_judge = figures(report, f"{found['judge']}: {name_of(grade)}", name_of(grade))
        as_score = figures(report, f"imported:mmdocrag: {name_of(grade)}", name_of(grade))
        assert as_judge["pearson"][0] == pytest.approx(1.0)
        if sample is None:
            assert as_judge == as_score


def judged_and_imported(place: Place, study: int, judge: str) -> tuple[Any, Any]:
    """Unit → label by criterion, of the judge and of who is stored, where the judge judged."""
    report = agreement_report(place.db, place.actor, study, judges=[judge], resamples=0)
    found: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})
    for criterion in report.criteria:
        column = criterion.column
        for unit, person, value in zip(column.units, column.raters, column.value.tolist(), strict=True):
            of = found[0] if report.found.names[person] == judge else found[1]
            of[criterion.criterion.name, unit] = column.distinct[value]
    return found[0], {unit: value for unit, value in found[1].items() if unit in found[0]}


def test_stored_grades_are_the_same_through_a_judge_and_through_an_import(
    sqlite_database: Database, tmp_path: Path, shared_data: Path
) -> None:
    check_grades(Place(sqlite_database, tmp_path), shared_data, tmp_path, 20)


@pytest.mark.nightly
def test_all_600_answers_through_a_judge(sqlite_database: Database, tmp_path: Path, shared_data: Path) -> None:
    check_grades(Place(sqlite_database, tmp_path), shared_data, tmp_path, None)


# RAGChecker: a metric's verdicts on 280 pairs, against 560 ratings ---------------------------------------------------


def check_verdicts(place: Place, shared_data: Path, tmp_path: Path, sample: int | None) -> None:
    """The metric's difference in five steps, as a judge says it and as scores that differ by it."""
    folder = shared_data / "ragchecker"
    ratings, scored = (
        orjson.loads((folder / name).read_bytes()) for name in ("human_labeled_data.json", "baseline_ragchecker.json")
    )
    said: dict[tuple[str, str, str], int] = {}
    for pair in scored:
        first, second = pair["model1"], pair["model2"]
        for label in ("correctness_label", "completeness_label", "overall_label"):
            step = max(-2, min(2, round(4 * (second["ragchecker"][label] - first["ragchecker"][label]))))
            said[first["response"], second["response"], label.removesuffix("_label")] = step
            first["ragchecker"][label], second["ragchecker"][label] = 0.5 - step / 4, 0.5 + step / 4
    stepped = write_json(tmp_path / "in" / "baseline_ragchecker.json", scored)
    place.take(folder / "human_labeled_data.json", stepped, labels_into="Raters")
    study = find_study(place.db, place.actor, place.project, name="Raters")

    def stored(criterion: str, sent: Sent) -> int:
        left, right = (part.partition("\n</data-")[0] for part in sent.texts[-1].split("Answer on the ")[1:3])
        sides = [part.partition(">\n")[2] for part in (left, right)]
        for (first, second, name), step in said.items():
            if name == criterion and first.strip() == sides[0].strip() and second.strip() == sides[1].strip():
                return step
            if name == criterion and second.strip() == sides[0].strip() and first.strip() == sides[1].strip():
                return -step
        raise AssertionError(sides)

    with ReplayingServer(stored) as server:
        found = judged(place, server, study, sample)
    n = sample or 280
    assert (found["items"], found["labels"]) == (n, 3 * n)
    report = aligned(place, study, "each")
    for criterion in ("correctness", "completeness", "overall"):
        as_judge = figures(report, f"{found['judge']}: {criterion}", criterion)
        assert as_judge["pearson"][3] == 2 * n
        if sample is not None:
            continue
        as_score = figures(report, f"imported:ragchecker: {criterion}", criterion)
        assert as_judge == {name: pytest.approx(values) for name, values in as_score.items()}
        people = [rating[f"{criterion}_label"] for rating in ratings]
        pairs = [scored[place // 2] for place in range(len(ratings))]
        steps = [said[pair["model1"]["response"], pair["model2"]["response"], criterion] for pair in pairs]
        assert as_judge["pearson"][0] == pytest.approx(stats.pearsonr(people, steps).statistic)
        assert as_judge["spearman"][0] == pytest.approx(stats.spearmanr(people, steps).statistic)
        print(criterion, as_judge)


def test_stored_verdicts_against_ratings_are_the_same_through_a_judge_and_through_an_import(
    sqlite_database: Database, tmp_path: Path, shared_data: Path
) -> None:
    check_verdicts(Place(sqlite_database, tmp_path), shared_data, tmp_path, 20)


@pytest.mark.nightly
def test_all_560_ratings_against_a_judge(sqlite_database: Database, tmp_path: Path, shared_data: Path) -> None:
    check_verdicts(Place(sqlite_database, tmp_path), shared_data, tmp_path, None)
