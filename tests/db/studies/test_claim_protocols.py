"""RAGChecker's worked outputs, given as labels of the claim protocols, have the shares that its metrics are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.errors import AssayError, InvalidInput
from annotators.items.parsed import ForeignLabel
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Item, ItemVersion, Run, Score
from db.permissions import Actor
from db.scores.write import run_scorer
from db.studies.ratings import ratings
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
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
    exported_verdicts_give_the_same(db, actor, project, tmp_path / "out", studies=tuple(sides))


def exported_verdicts_give_the_same(
    db: Database, actor: Actor, project: int, folder: Path, *, studies: tuple[str, ...]
) -> None:
    """What RAGChecker computes of an exported file is what the scorers give with the labels of the studies."""
    for result in json.loads(FILE.read_text())["results"]:
        assert computed(result) == pytest.approx(result["metrics"], abs=1e-12)
    run_scorer(db, actor, project, scorer="claim_metrics", labels_of=studies[1:])
    export_project(db, actor, project, to=folder, formats=["ragchecker"], labels_of=studies)
    assert verify_against(db, actor, folder).ok
    results = json.loads((folder / "ragchecker" / "checking.json").read_text())["results"]
    assert len(results) == 2
    for result in results:
        assert result["verdict_source"] == "adjudicated"
        assert "metrics" not in result
        theirs = computed(result)
        with db.read() as session:
            rows = session.exec(
                select(Run.name, Score.name, Score.value)
                .join(Run, col(Run.id) == Score.run_id)
                .join(ItemVersion, col(ItemVersion.id) == Score.item_version_id)
                .where(ItemVersion.question == result["query"], Run.kind != "import")
            ).all()
        ours = {(scorer, name): value for scorer, name, value in rows}
        for name, metric in METRICS.items():
            assert ours["ragchecker", name] == pytest.approx(theirs[metric], abs=1e-12), name
        assert ours["claim_metrics", "faithfulness"] == pytest.approx(theirs["faithfulness"], abs=1e-12)
        assert ours["claim_metrics", "claim_recall"] == pytest.approx(theirs["recall"], abs=1e-12)
    again = make_project(db, "again")
    make_member(db, again, actor, "researcher")
    report = import_paths(db, actor, again, paths=[folder / "ragchecker"], format_name="ragchecker")
    assert (report.added, report.rejected) == (2, [])
    run_scorer(db, actor, again, scorer="ragchecker")
    with db.read() as session:
        of = select(Score.name, Score.value).join(Run).where(Run.name == "ragchecker", Run.kind != "import")
        first, second = (sorted(session.exec(of.where(Run.project_id == place)).all()) for place in (project, again))
    assert first == second


def computed(result: dict[str, Any]) -> dict[str, float]:
    """The metrics of a checked answer as RAGChecker's computation.py computes them, one by one."""
    right = [label == "Entailment" for label in result["answer2response"]]
    recalled = [label == "Entailment" for label in result["response2answer"]]
    in_answer = [[label == "Entailment" for label in row] for row in result["retrieved2response"]]
    in_gold = [[label == "Entailment" for label in row] for row in result["retrieved2answer"]]
    relevant = [any(row[n] for row in in_gold) for n in range(len(result["retrieved_context"]))]
    by_relevant = [any(said and of for said, of in zip(row, relevant, strict=True)) for row in in_answer]
    by_others = [any(said and not of for said, of in zip(row, relevant, strict=True)) for row in in_answer]
    retrieved, supported = [any(row) for row in in_gold], [any(row) for row in in_answer]
    n, wrong = len(right), [not flag for flag in right]
    precision, recall = sum(right) / n, sum(recalled) / len(recalled)
    return {
        "precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall),
        "claim_recall": sum(retrieved) / len(retrieved), "context_precision": sum(relevant) / len(relevant),
        "context_utilization": sum(map(all, zip(retrieved, recalled, strict=True))) / sum(retrieved),
        "noise_sensitivity_in_relevant": sum(map(all, zip(wrong, by_relevant, strict=True))) / n,
        "noise_sensitivity_in_irrelevant":
            sum(bad and other and not of for bad, other, of in zip(wrong, by_others, by_relevant, strict=True)) / n,
        "hallucination": sum(bad and not said for bad, said in zip(wrong, supported, strict=True)) / n,
        "self_knowledge": sum(good and not said for good, said in zip(right, supported, strict=True)) / n,
        "faithfulness": sum(supported) / n,
    }  # fmt: skip


def test_labels_go_where_there_is_a_place_for_them(sqlite_database: Database, tmp_path: Path) -> None:
    db = sqlite_database
    project, actor = make_project(db), make_person(db, "ann")
    make_member(db, project, actor, "researcher")
    import_paths(db, actor, project, paths=[FILE], format_name="ragchecker")
    refused = {
        ("native",): r"none of these formats has a place for final labels of 'claims'\..* have: .*\bragchecker\b",
        ("ragchecker",): "There is no study named 'claims'",
    }
    for formats, why in refused.items():
        with pytest.raises(AssayError, match=why):
            export_project(db, actor, project, to=tmp_path / "out", formats=formats, labels_of=["claims"])
    with pytest.raises(InvalidInput, match="A release has its own final labels"):
        export_project(
            db, actor, project, to=tmp_path / "out", formats=["ragchecker"], labels_of=["claims"], release="v1"
        )
    assert not (tmp_path / "out").exists()
    export_project(db, actor, project, to=tmp_path / "out", formats=["ragchecker"])
    [first, _] = json.loads((tmp_path / "out" / "ragchecker" / "checking.json").read_text())["results"]
    assert first["metrics"] == json.loads(FILE.read_text())["results"][0]["metrics"]
    assert "verdict_source" not in first
