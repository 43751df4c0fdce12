"""RefChecker: labelled claim triplets of answers without their questions; and the real files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.scorers.base import SCORERS
from tests.exports.formats.places import Place, write_json


def triplet(*parts: str, **changes: Any) -> dict[str, Any]:
    return {"triplet": list(parts), "human_label": "Entailment", **changes}


def record(**changes: Any) -> dict[str, Any]:
    return {
        "id": "77",
        "response": "The pier is red.",
        "model9_response_kg": [triplet("pier", "is", "red"), triplet("pier", "is", "old", human_label="Neutral")],
        **changes,
    }


def test_an_answer_has_its_claims_and_what_people_said_of_them(place: Place, tmp_path: Path) -> None:
    report = place.take(write_json(tmp_path / "port_model-8_answers.json", [record(), record(id=78, split="dev")]))
    assert (report.format, report.added, report.rejected) == ("refchecker", 2, [])
    assert report.notes == [
        "The files hold no question and no passage: 2 items are bare, with the question's id for its text.",
        "4 labels of claims (entailment 2, neutral 2) come in with the items as verdicts of people, for the claim "
        "metrics. They become labels of a study where one is named for them.",
    ]
    first, second = place.items()
    assert (first.id, first.question, first.system, first.category) == ("port/77:model-8", "port/77", "model-8", "port")
    assert [(claim.key, claim.of, claim.text, dict(claim.metadata)) for claim in first.claims] == [
        ("c1", "answer", "pier is red", {"triplet": ["pier", "is", "red"]}),
        ("c2", "answer", "pier is old", {"triplet": ["pier", "is", "old"]}),
    ]
    assert first.metadata == {
        "extractor": "model9",
        "verdicts": [
            {"claim": "c1", "against": "context", "label": "entailment", "source": "people"},
            {"claim": "c2", "against": "context", "label": "neutral", "source": "people"},
        ],
    }
    assert (second.question_key, second.metadata["split"]) == ("port/78", "dev")


def test_answers_of_two_systems_share_their_question(place: Place, tmp_path: Path) -> None:
    for system in ("a", "b"):
        write_json(tmp_path / f"in/port_{system}_answers.json", [record()])
    assert place.take(tmp_path / "in").added == 2
    assert {item.question_key for item in place.items()} == {"port/77"}


def test_a_file_of_another_name_names_the_system(place: Place, tmp_path: Path) -> None:
    place.take(write_json(tmp_path / "mine.json", [record(model9_response_kg=[])]))
    [item] = place.items()
    assert (item.id, item.category, item.claims, item.metadata) == ("77:mine", None, (), {"extractor": "model9"})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": None}, "`id` is missing"),
        ({"id": 1.5}, "`id` is 1.5"),
        ({"response": 3}, "`response` is 3, not a text"),
        ({"model9_response_kg": None}, "`model9_response_kg` is None, not a list"),
        ({"model9_response_kg": [["a", "b", "c"]]}, "not an object with a triplet and its label"),
        ({"model9_response_kg": [triplet()]}, "a claim is []"),
        (
            {"model9_response_kg": [triplet("a", human_label="Maybe")]},
            "`human_label` holds 'Maybe'. Allowed: Entailment",
        ),
    ],
)
def test_a_bad_record_is_named(place: Place, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    [bad] = place.take(write_json(tmp_path / "x.json", [record(id="1"), record(**changes)])).rejected
    assert bad.reason.startswith("entry 2: ")
    assert words in bad.reason


def test_the_real_answers_come_in_with_every_label(place: Place, shared_data: Path) -> None:
    report = place.take(shared_data / "refchecker")
    assert (report.format, report.added, report.rejected) == ("refchecker", 200, [])
    items = place.items()
    assert Counter(item.system for item in items) == {"claude2": 100, "gpt4": 100}
    assert len({item.question_key for item in items}) == 100
    labels = Counter(verdict["label"] for item in items for verdict in item.metadata.get("verdicts", ()))
    assert labels == {"entailment": 1002, "neutral": 97, "contradiction": 29}
    for system in ("claude2", "gpt4"):
        rows = orjson.loads((shared_data / f"refchecker/msmarco_{system}_answers.json").read_bytes())
        by_id = {item.question_key: item for item in items if item.system == system}
        for row in rows:
            item = by_id[f"msmarco/{row['id']}"]
            assert item.answer == row["response"]
            assert [claim.metadata["triplet"] for claim in item.claims] == [
                claim["triplet"] for claim in row["claude2_response_kg"]
            ]
            assert [verdict["label"].capitalize() for verdict in item.metadata.get("verdicts", ())] == [
                claim["human_label"] for claim in row["claude2_response_kg"]
            ]


def test_the_real_labels_are_what_the_claim_metrics_read(place: Place, shared_data: Path) -> None:
    place.take(shared_data / "refchecker/msmarco_gpt4_answers.json")
    scorer = SCORERS.get("claim_metrics")
    items = [item for item in place.items() if item.claims]
    for item, values in zip(items, scorer.score(items, scorer.parameters()), strict=True):
        found = {value.name: value.value for value in values}
        labels = Counter(verdict["label"] for verdict in item.metadata["verdicts"])
        assert found["faithfulness"] == pytest.approx(labels["entailment"] / len(item.claims))
        assert found["hallucination_rate"] == pytest.approx(labels["neutral"] / len(item.claims))
        assert found["contradiction_rate"] == pytest.approx(labels["contradiction"] / len(item.claims))
