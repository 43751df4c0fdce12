"""Claim metrics from what the database holds: claims, evidence and verdicts that were imported with the items."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from db.engine import Database
from db.scores.summaries import score_summary
from db.scores.write import run_scorer
from db.studies.revisions import revise_item
from exports.importing.items import import_paths
from exports.scoring.files import score_files
from tests.makers import make_person, make_project

ITEM = {
    "id": "q1:alpha",
    "question": "What was sold?",
    "answer": "Rope, tin, a bell and salt.",
    "references": ["Rope and tin."],
    "system": "alpha",
    "evidence": [
        {"key": "figure", "kind": "figure", "role": "retrieved", "rank": 1},
        {"key": "passage", "kind": "passage", "role": "retrieved", "rank": 2, "text": "Rope was sold."},
    ],
    "claims": [
        *({"key": f"c{number}", "text": f"claim {number}"} for number in range(1, 5)),
        *({"key": f"r{number}", "text": f"claim {number}", "of": "reference"} for number in (1, 2)),
    ],
    "verdicts": [
        *(
            {"claim": claim, "against": "context", "label": label, "source": "people"}
            for claim, label in (("c1", "entailment"), ("c2", "contradiction"), ("c3", "neutral"), ("c4", "entailment"))
        ),
        *(
            {"claim": claim, "evidence": key, "label": label, "source": "judge"}
            for key, labels in (("figure", "EENN"), ("passage", "ENEN"))
            for claim, label in zip(
                ("c1", "c2", "c3", "c4"),
                [{"E": "entailment", "N": "neutral"}[letter] for letter in labels],
                strict=True,
            )
        ),
        *(
            {"claim": claim, "against": against, "label": label, "source": "judge"}
            for claim, against, label in (
                ("c1", "reference", "entailment"),
                ("c2", "reference", "neutral"),
                ("c3", "reference", "neutral"),
                ("c4", "reference", "entailment"),
                ("r1", "answer", "entailment"),
                ("r2", "answer", "neutral"),
            )
        ),
    ],
}
# L from people: c1 E, c2 C, c3 N, c4 E; the judge finds an image for c1 and c2, a passage for c1 and c3.
WANTED = {
    "claim_metrics": {
        "hallucination_rate": 1 / 4, "faithfulness": 2 / 4, "contradiction_rate": 1 / 4, "self_knowledge": 1 / 2,
        "cr_img": 1 / 2, "cp_img": 2 / 3, "cma": 1 / 3, "v_hr": 1 / 2, "d_hr": 1 / 2,
    },
    "ragchecker": {"ragchecker_precision": 2 / 4, "ragchecker_recall": 1 / 2, "ragchecker_f1": 1 / 2},
}  # fmt: skip


@pytest.mark.parametrize("scorer", list(WANTED))
def test_imported_verdicts_are_scored_in_the_project_as_in_the_file(
    scorer: str, database: Database, tmp_path: Path
) -> None:
    source = tmp_path / "items.jsonl"
    source.write_text(json.dumps(ITEM) + "\n")
    admin, project_id = make_person(database, admin=True), make_project(database)
    import_paths(database, admin, project_id, paths=[source])
    given = {"verdicts_from": "judge"} if scorer == "ragchecker" else None
    run_scorer(database, admin, project_id, scorer=scorer, parameters=given)
    found = score_files([source], tmp_path / "scores.jsonl", scorer=scorer, parameters=given)
    of_file = {summary.value: summary.mean for summary in found.summaries}
    for name, value in WANTED[scorer].items():
        of_project = score_summary(database, admin, project_id, scorer=scorer, parameters=given, value=name)
        assert of_project.mean == pytest.approx(value), name
        assert of_file[name] == of_project.mean


def test_a_claim_that_was_reworded_is_not_scored_by_what_was_said_of_the_words_before(
    database: Database, tmp_path: Path
) -> None:
    source = tmp_path / "items.jsonl"
    source.write_text(json.dumps(ITEM) + "\n")
    admin, project_id = make_person(database, admin=True), make_project(database)
    import_paths(database, admin, project_id, paths=[source])

    def scored(scorer: str, value: str, **parameters: str) -> tuple[int, float | None]:
        run_scorer(database, admin, project_id, scorer=scorer, parameters=parameters)
        found = score_summary(database, admin, project_id, scorer=scorer, parameters=parameters, value=value)
        return found.n_scored, found.mean

    faithfulness = ("claim_metrics", "faithfulness")
    assert scored(*faithfulness) == (1, 2 / 4)
    claims = [{**ITEM["claims"][0], "text": "another claim"}, *ITEM["claims"][1:]]  # type: ignore[dict-item, index]
    revise_item(database, admin, project_id, external_id="q1:alpha", fields={"claims": claims}, reason="reworded")
    assert scored(*faithfulness) == (0, None)
    precision = scored("ragchecker", "ragchecker_precision", verdicts_from="judge")
    assert precision == (1, pytest.approx(1 / 3)), "of c2, c3 and c4 one is right"
