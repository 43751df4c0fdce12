"""Gaps between retrieval modes: paired by question within a system, over all systems, and where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotators.errors import NotFound
from db.engine import Database
from db.scores.gaps import ScoreGap, score_gaps
from db.scores.write import run_scorer
from exports.importing.items import import_paths
from tests.makers import make_person, make_project

ANSWERS = {
    # question → system → (right with gold only, right with distractors beside it); None: not asked
    "q1": {"alpha": (True, False), "beta": (True, True)},
    "q2": {"alpha": (True, True), "beta": (True, False)},
    "q3": {"alpha": (True, False), "beta": (False, False)},
    "q4": {"alpha": (False, None), "beta": (None, True)},
}


def records() -> list[dict[str, Any]]:
    return [
        {
            "id": f"{question}:{system}:{mode}",
            "question_key": question,
            "question": f"What of {question}?",
            "answer": "copper" if right else "lead",
            "references": ["copper"],
            "system": system,
            "metadata": {"retrieval_mode": mode},
        }
        for question, systems in ANSWERS.items()
        for system, given in systems.items()
        for mode, right in zip(("gold_only", "gold_and_distractors"), given, strict=True)
        if right is not None
    ]


class Modes:
    def __init__(self, db: Database, folder: Path) -> None:
        self.db, self.admin, self.project_id = db, make_person(db, admin=True), make_project(db)
        self.folder = folder

    def add(self, rows: list[dict[str, Any]]) -> None:
        path = self.folder / "items.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_paths(self.db, self.admin, self.project_id, paths=[path])
        run_scorer(self.db, self.admin, self.project_id, scorer="retrieval_mode")

    def gaps(self) -> dict[str | None, ScoreGap]:
        found = score_gaps(self.db, self.admin, self.project_id, scorer="retrieval_mode")
        return {gap.system: gap for gap in found}


@pytest.fixture
def modes(database: Database, tmp_path: Path) -> Modes:
    return Modes(database, tmp_path)


def test_systems_are_compared_with_themselves_on_the_questions_they_answered_in_both_modes(modes: Modes) -> None:
    modes.add(records())
    found = modes.gaps()
    assert list(found) == ["alpha", "beta", None]
    alpha, beta, both = found.values()
    # alpha: q1 1 - 0, q2 1 - 1, q3 1 - 0: 2/3 of three; q4 has one mode. beta: q1 0, q2 1, q3 0: 1/3.
    assert (alpha.gap.value, alpha.gap.n, alpha.n_one_only) == (pytest.approx(2 / 3), 3, 1)
    assert alpha.means == (1.0, pytest.approx(1 / 3))
    assert (beta.gap.value, beta.n_one_only) == (pytest.approx(1 / 3), 1)
    # By question: q1 1 - 1/2, q2 1 - 1/2, q3 1/2 - 0, q4 0 - 1 (alpha's gold only, beta's distractors): 0.5 / 4.
    assert (both.gap.value, both.gap.n, both.n_one_only) == (pytest.approx(0.125), 4, 0)
    for gap in found.values():
        assert gap.gap.low is None, "three questions are too few to draw from"
    document = alpha.to_json()
    assert (document["name"], document["group"]) == ("distractor_susceptibility", "alpha")
    assert document["gold_only"] == 1.0


def test_without_a_pair_there_is_a_reason(modes: Modes) -> None:
    modes.add([record for record in records() if record["id"].endswith("gold_only") == record["id"].startswith("q1")])
    alpha, beta, both = modes.gaps().values()
    for gap in (alpha, beta, both):
        assert (gap.gap.value, gap.gap.reason) == (None, "no question has a score in both conditions")
        assert gap.means == (None, None)
    assert (alpha.n_one_only, beta.n_one_only) == (3, 4)


def test_one_system_alone_stands_for_all(modes: Modes) -> None:
    modes.add([record for record in records() if record["system"] == "alpha"])
    assert list(modes.gaps()) == ["alpha"]


def test_a_scorer_without_differences_has_none_and_scores_that_are_missing_are_said(modes: Modes) -> None:
    with pytest.raises(NotFound, match="no scores"):
        modes.gaps()
    modes.add(records())
    run_scorer(modes.db, modes.admin, modes.project_id, scorer="phrase_recall")
    assert score_gaps(modes.db, modes.admin, modes.project_id, scorer="phrase_recall") == []
