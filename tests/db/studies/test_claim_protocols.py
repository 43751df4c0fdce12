"""RAGChecker's worked outputs, given as labels of the claim protocols, have the shares that its metrics are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.items.parsed import ForeignLabel
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.engine import Database
from db.models import Item, ItemVersion, Run, Score
from db.scores.write import run_scorer
from db.studies.labels import import_labels
from db.studies.ratings import ratings
from exports.importing.items import import_paths
from tests.conftest import SHARED
from tests.makers import make_member, make_person, make_project

FILE = SHARED / "data" / "ragchecker" / "checking_outputs.json"
METRICS = {
    "ragchecker_precision": "precision",
    "ragchecker_recall": "recall",
    "ragchecker_f1": "f1",
    "retriever_claim_recall": "claim_recall",
    "retriever_context_precision": "context_precision",
    "context_utilization": "context_utilization",
    "noise_sensitivity_in_relevant": "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant": "noise_sensitivity_in_irrelevant",
    "unsupported_and_wrong": "hallucination",
    "unsupported_and_right": "self_knowledge",
    "supported": "faithfulness",
}
"""Ours → what the file calls it."""

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="real data (../shared/data) is not here")


def labels_of(result: dict[str, Any], protocol: str, side: str = "c") -> Iterator[tuple[str, str, str]]:
    """Criterion, target and value of each verdict of a result that the protocol asks for; of one side's claims."""
    of_evidence = {"c": "retrieved2response", "r": "retrieved2answer"}
    if protocol == "claim_correctness":
        for number, label in enumerate(result["answer2response"], 1):
            yield "correctness", f"claim:c{number}|reference", label.lower()
    elif protocol == "claim_recall":
        for number, label in enumerate(result["response2answer"], 1):
            value = "in_answer" if label == "Entailment" else "not_in_answer"
            yield "recalled", f"claim:r{number}|answer", value
    else:
        keys = evidence_keys(result)
        for number, labels in enumerate(result[of_evidence[side]], 1):
            for key, label in zip(keys, labels, strict=True):
                yield "verdict", f"claim:{side}{number}|evidence:{key}", label.lower()


def evidence_keys(result: dict[str, Any]) -> list[str]:
    return [f"e{number}" for number in range(1, len(result["retrieved_context"]) + 1)]


@pytest.mark.parametrize(
    ("protocol", "criterion", "share"),
    [
        ("claim_correctness", "correctness", ("entailment", "precision")),
        ("claim_recall", "recalled", ("in_answer", "recall")),
        ("claim_verification", "claim_label", ("entailment", "faithfulness")),
    ],
)
def test_shares_of_labels_are_the_checker_s_metrics(
    sqlite_database: Database, tmp_path: Path, protocol: str, criterion: str, share: tuple[str, str]
) -> None:
    db, (value, metric) = sqlite_database, share
    results = json.loads(FILE.read_text())["results"]
    project, actor = make_project(db), make_person(db, "ann")
    make_member(db, project, actor, "researcher")
    import_paths(db, actor, project, paths=[FILE], format_name="ragchecker", data_folder=tmp_path)
    design = StudyDesign(name="claims", annotators=("ann",), overlap=1, order="given")
    made = create_study(db, actor, project, protocol=PROTOCOLS.get(protocol), design=design)
    assert not [note for note in made.notes if " asked" in note]
    with db.read() as session:
        items = dict(session.exec(select(ItemVersion.question, Item.external_id).join(Item)).all())
    rows = [
        ForeignLabel(number, items[result["query"]], "checker", *label)
        for result in results
        for number, label in enumerate(labels_of(result, protocol), 2)
    ]
    import_labels(db, actor, made.study_id, rows=rows, source="verdicts.csv")
    [column] = [found for found in ratings(db, actor, made.study_id).criteria if found.criterion.name == criterion]
    where = dict(enumerate(column.items.external_id))
    for result in results:
        mine = [
            label
            for label, unit in zip(column.values, column.unit.tolist(), strict=True)
            if where[int(column.item[unit])] == items[result["query"]]
        ]
        assert mine.count(value) / len(mine) == pytest.approx(result["metrics"][metric])


def test_labels_of_three_studies_give_the_checker_s_metrics(sqlite_database: Database, tmp_path: Path) -> None:
    db, results = sqlite_database, json.loads(FILE.read_text())["results"]
    project, actor = make_project(db), make_person(db, "ann")
    make_member(db, project, actor, "researcher")
    import_paths(db, actor, project, paths=[FILE], format_name="ragchecker", data_folder=tmp_path)
    with db.read() as session:
        items = dict(session.exec(select(ItemVersion.question, Item.external_id).join(Item)).all())
    sides = {"claim_correctness": "c", "claim_recall": "r", "claim_verification": "cr"}
    for protocol, of in sides.items():
        design = StudyDesign(name=protocol, annotators=("ann",), overlap=1, order="given")
        made = create_study(db, actor, project, protocol=PROTOCOLS.get(protocol), design=design)
        rows = [
            ForeignLabel(number, items[result["query"]], "checker", *label)
            for result in results
            for number, label in enumerate((label for side in of for label in labels_of(result, protocol, side)), 2)
        ]
        import_labels(db, actor, made.study_id, rows=rows, source="verdicts.csv")
    run_scorer(db, actor, project, scorer="ragchecker", labels_of=tuple(sides))
    for result in results:
        for ours, theirs in METRICS.items():
            query = select(Score.value).join(ItemVersion, col(ItemVersion.id) == Score.item_version_id)
            query = query.join(Run, col(Run.id) == Score.run_id).where(Run.name == "ragchecker")
            with db.read() as session:
                value = session.exec(query.where(Score.name == ours, ItemVersion.question == result["query"])).one()
            assert value == pytest.approx(result["metrics"][theirs], abs=1e-12), ours
