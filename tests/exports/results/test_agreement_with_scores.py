"""Table I of FATHOMS-RAG: mean grades of groups, their unweighted mean, and radars by category."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotators.designing.design import StudyDesign
from annotators.intervals.bootstrap import Resampling
from annotators.items.parsed import ForeignLabel
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from exports.importing.items import import_paths
from exports.results.document import Results
from tests.exports.results.verified import AT
from tests.makers import make_member, make_person, make_project

GRADES = {"small": [5] * 6, "medium": [5] * 4 + [4] * 5, "large": [5] * 5 + [4] * 7}
"""Group → grades: means 5.00, 4.44 and 4.42, as in the paper."""


@pytest.fixture
def results(sqlite_database: Database, tmp_path: Path) -> Results:
    db = sqlite_database
    project_id, researcher = make_project(db), make_person(db)
    make_member(db, project_id, researcher, "researcher")
    items, labels = [], []
    for group, grades in GRADES.items():
        for number, grade in enumerate(grades):
            name = f"{group}{number}"
            scores = [
                {"scorer": "imported:native", "name": "correctness", "value": number % 2},
                {"scorer": "imported:native", "name": "hallucination", "value": 0},
            ]
            items.append(
                {
                    "id": name,
                    "question_key": name,
                    "question": f"Of {name}?",
                    "answer": "So.",
                    "system": f"{group} model",
                    "category": ("Text", "Tables", "Images")[number % 3],
                    "references": ["So"],
                    "scores": scores,
                    "metadata": {"group": group},
                }
            )
            for criterion in ("correctness_agreement", "hallucination_agreement"):
                labels.append(ForeignLabel(len(labels) + 2, name, "ada", criterion, "item", str(grade), AT))
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps(item) + "\n" for item in items))
    import_paths(db, researcher, project_id, paths=[file])
    design = StudyDesign(name="grades", annotators=(researcher.name,), overlap=1)
    made = create_study(db, researcher, project_id, protocol=PROTOCOLS.get("metric_agreement"), design=design)
    import_labels(db, researcher, made.study_id, rows=labels, source="labels.csv")
    return Results.of_study(db, researcher, made.study_id, Resampling(50))


def test_it_has_the_papers_means_and_their_unweighted_mean(results: Results) -> None:
    about = {"criterion": "correctness_agreement", "by": "group"}
    found = {
        figure.group: figure
        for figure in results.figures
        if all(getattr(figure, key) == value for key, value in about.items())
    }
    assert {group: round(one.value or 0, 2) for group, one in found.items()} == {
        "small": 5.0,
        "medium": 4.44,
        "large": 4.42,
        None: 4.62,
    }
    assert found[None].name == "macro_mean_agreement"
    assert found["medium"].low is not None
    assert found["medium"].n == 9
    table = next(table for table in results.tables() if table.caption == "Mean agreement by group")
    assert table.rows[-2][0] == "Unweighted mean of the groups"
    assert table.rows[-2][1].startswith("4.62 [")


def test_the_shares_of_grades_follow_without_their_means_again(results: Results) -> None:
    assert [section.title for section in results.sections()] == [
        "Agreement with scores", "Correctness score", "Hallucination flag",
    ]  # fmt: skip
    assert not [figure for figure in results.figures if figure.name in ("mean", "macro_mean")]


@pytest.mark.slow
def test_there_is_a_radar_of_grades_and_one_of_scores_for_each_criterion(results: Results) -> None:
    plots = results.drawn().sections()[0].plots
    assert [name for name, _, _ in plots] == [
        "correctness-agreement-radar", "imported-native--correctness-scores-radar", "hallucination-agreement-radar",
        "imported-native--hallucination-scores-radar",
    ]  # fmt: skip
