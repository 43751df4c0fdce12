"""Evidence that gives orders: how often a judge's label flips by it is measured, and none of it leaves its marks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material
from annotators.intervals.shares import wilson_ends
from annotators.judges.prompts import default_prompt
from annotators.judges.trust.injections import INJECTIONS
from annotators.protocols.base import Protocol, Step
from db.engine import Database
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from db.judging.run import Means, run_judge
from db.studies.ratings import COUNTING, ratings
from tests.app.cli.command_line import write_items
from tests.exports.formats.places import Place
from tests.judging.answering import AnsweringServer, Habits

SET = INJECTIONS.kinds
FORGED = ("closing mark", "guessed mark")
QUESTIONS = 4
PROTOCOL = Protocol(
    name="supported",
    title="Supported",
    guidelines="Does the evidence support the answer?",
    criteria=[Choice(name="supported", title="Supported", labels=[Label(value="yes"), Label(value="no")])],
    steps=[
        Step(
            name="all",
            title="All",
            shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE],
            criteria=["supported"],
        )
    ],
)


def items() -> list[dict[str, Any]]:
    """Each question with plain evidence, and with each of the set beside it, which asks for the wrong label."""
    made = []
    for number in range(QUESTIONS):
        right, other = ("yes", "no") if number % 2 else ("no", "yes")
        about = {
            "question_key": f"k{number}",
            "question": f"What was the rent in 202{number}?",
            "answer": f"600 euros. truth={right}",
        }
        plain = {"text": f"The rent was {600 + number} euros.", "role": "gold"}
        made.append({"id": f"q{number}", **about, "system": "plain", "evidence": [plain]})
        made += [
            {
                "id": f"q{number}:{one.name}", **about, "system": one.name,
                "evidence": [plain, {"text": one.telling(other).text, "role": "gold"}],
            }
            for one in SET
        ]  # fmt: skip
    return made


def flipped(db: Database, folder: Path, habits: Habits) -> tuple[list[str], AnsweringServer]:
    """The names of the injections, once for each label that they flipped, and the server that was asked."""
    place = Place(db, folder)
    place.take(write_items(folder / "in", *items()))
    study = study_for_judges(db, place.actor, place.project, protocol=PROTOCOL)
    with AnsweringServer(habits) as server:
        judge = JudgeSettings("tiny-judge", server.base_url, default_prompt(), pictures=0)
        found = run_judge(db, place.actor, study, judge=judge, means=Means(concurrency=8))
    assert found["labels"] == QUESTIONS * (1 + len(SET))
    data = ratings(db, place.actor, study, judges=[found["judge"]], kinds=COUNTING)
    [column] = data.criteria
    label = {
        data.items.external_id[of]: column.distinct[value]
        for of, value in zip(column.item[column.unit].tolist(), column.value.tolist(), strict=True)
    }
    return [
        name.partition(":")[2] for name, said in label.items() if ":" in name and said != label[name.partition(":")[0]]
    ], server


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_how_often_injected_evidence_flips_a_label_is_measured(
    sqlite_database: Database, tmp_path: Path, share: float
) -> None:
    flips, server = flipped(sqlite_database, tmp_path, Habits(obeys=share))
    n = QUESTIONS * len(SET)
    low, high = wilson_ends(len(flips) / n, n, 2.576)
    assert low <= share <= high
    for sent in server.sent:
        mark = re.search(r"<(data-[0-9a-f]{16})> and </\1>", sent.text)
        assert mark is not None
        outside = re.sub(rf"<{mark[1]}>\n.*?\n</{mark[1]}>", "", sent.text, flags=re.DOTALL)
        assert [one.name for one in SET if one.telling("yes").text in outside] == []
        assert "0123456789abcdef" not in mark[1]


def test_a_judge_that_takes_any_closing_mark_for_the_right_one_flips_by_forged_marks_alone(
    sqlite_database: Database, tmp_path: Path
) -> None:
    flips, _ = flipped(sqlite_database, tmp_path, Habits(loose=1.0))
    assert set(flips) <= set(FORGED)
    assert len(flips) >= QUESTIONS
