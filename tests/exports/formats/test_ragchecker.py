"""RAGChecker: checked answers, pairs with their raters, the metric's scores; and the real files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from sqlmodel import col, func, select

from annotators.items.item import ItemContent
from annotators.protocols import PROTOCOLS
from annotators.scorers.base import SCORERS
from db.engine import Database
from db.models import Item, ItemVersion, Run, Score
from db.studies.revisions import revise_item
from exports.bundles.bundle import export_project
from exports.bundles.manifest import Manifest
from exports.bundles.verify import verify_against
from exports.formats.ragchecker import PAIRS_RATED, PAIRS_SCORED
from tests.conftest import ROOT
from tests.exports.formats.places import Place, write_json
from tests.exports.formats.test_labels_in_files import asking


def checked(**changes: Any) -> dict[str, Any]:
    return {
        "query_id": "0",
        "query": "Which pier is older?",
        "gt_answer": "The north pier, of 1901.",
        "response": "The north pier.",
        "retrieved_context": [{"doc_id": "000", "text": "North: 1901."}, {"doc_id": "001", "text": "South: 1923."}],
        **changes,
    }


def output(**changes: Any) -> dict[str, Any]:
    return checked(
        response_claims=[["north pier", "is", "older"]],
        gt_answer_claims=["The north pier is older.", ["north pier", "built", "1901"]],
        answer2response=["Entailment"],
        response2answer=["Entailment", "Neutral"],
        retrieved2response=[["Neutral", "Contradiction"]],
        retrieved2answer=[["Neutral", "Neutral"], ["Entailment", "Neutral"]],
        metrics={"precision": 1.0, "recall": 0.5},
        **changes,
    )


def pair(**changes: Any) -> dict[str, Any]:
    return {
        "instance_id": 4,
        "dataset": "port/piers",
        "query_id": "9",
        "query": "Which pier is older?",
        "gt_answer": "The north pier.",
        "model1": {"model_name": "alpha", "response": "North.", "critiques": "Short."},
        "model2": {"model_name": "beta", "response": "South.", "critiques": "Wrong."},
        **changes,
    }


def rated(correctness: int, completeness: int, overall: int, **changes: Any) -> dict[str, Any]:
    return pair(
        correctness_label=correctness, completeness_label=completeness, overall_label=overall, **changes
    )  # fmt: skip


def measured() -> dict[str, Any]:
    row = pair()
    for side, value in (("model1", 1.0), ("model2", 0.25)):
        row[side]["ragchecker"] = {"correctness_label": value, "overall_label": value / 2}
    return row


def test_a_checked_answer_has_claims_and_verdicts(place: Place, tmp_path: Path) -> None:
    source = write_json(tmp_path / "out.json", {"results": [output()], "metrics": {"overall": {"f1": 66.7}}})
    report = place.take(source)
    assert (report.format, report.added, report.rejected) == ("ragchecker", 1, [])
    assert report.notes == [
        "9 verdicts of the checker come in with the items, for the claim metrics. They are not labels of a study."
    ]
    [item] = place.items()
    assert (item.system, item.references) == ("unnamed", ("The north pier, of 1901.",))
    assert [(claim.key, claim.of, claim.text, dict(claim.metadata)) for claim in item.claims] == [
        ("c1", "answer", "north pier is older", {"triplet": ["north pier", "is", "older"]}),
        ("r1", "reference", "The north pier is older.", {}),
        ("r2", "reference", "north pier built 1901", {"triplet": ["north pier", "built", "1901"]}),
    ]
    assert [
        (evidence.key, evidence.role, evidence.rank, evidence.document, dict(evidence.metadata))
        for evidence in item.evidence
    ] == [
        ("e1", "retrieved", 1, None, {"doc_id": "000"}),
        ("e2", "retrieved", 2, None, {"doc_id": "001"}),
    ]
    assert item.metadata["file"] == {"metrics": {"overall": {"f1": 66.7}}}
    verdicts = {
        (verdict["claim"], verdict.get("evidence") or verdict["against"]): verdict["label"]
        for verdict in item.metadata["verdicts"]
    }
    assert verdicts == {
        ("c1", "reference"): "entailment", ("r1", "answer"): "entailment", ("r2", "answer"): "neutral",
        ("c1", "e1"): "neutral", ("c1", "e2"): "contradiction", ("r1", "e1"): "neutral", ("r1", "e2"): "neutral",
        ("r2", "e1"): "entailment", ("r2", "e2"): "neutral",
    }  # fmt: skip


def test_verdicts_of_studies_in_lists_that_are_not_whole_are_counted(database: Database, tmp_path: Path) -> None:
    """The answer's one claim has its verdict; of the reference's two one is open, so that the list is not written."""
    place = Place(database, tmp_path / "home")
    place.take(write_json(tmp_path / "out.json", {"results": [output()]}))
    [item] = place.items()
    two = [f"{item.id},{who}," for who in ("ada", "ben")]
    right = "".join(f"{one}correctness,claim:c1|reference,entailment\n" for one in two)
    there = "".join(f"{one}recalled,claim:r1|answer,in_answer\n" for one in two)
    differ = "".join(
        f"{one}recalled,claim:r2|answer,{value}\n"
        for one, value in zip(two, ("in_answer", "not_in_answer"), strict=True)
    )
    asking(place, PROTOCOLS.get("claim_correctness"), item.id, rows=right)
    asking(place, PROTOCOLS.get("claim_recall"), item.id, rows=there + differ)

    def made(to: str, *studies: str, dry_run: bool = False) -> Manifest:
        return export_project(
            place.db, place.actor, place.project, to=tmp_path / to, formats=["ragchecker"], labels_of=studies,
            dry_run=dry_run,
        )  # fmt: skip

    found = made("both", "claim_correctness", "claim_recall")
    [record] = orjson.loads((tmp_path / "both/ragchecker/checking.json").read_bytes())["results"]
    assert (record["answer2response"], "response2answer" in record) == (["Entailment"], False)
    assert found.counts == {"ragchecker": 1, "ragchecker_verdicts": 1, "ragchecker_verdicts_left_out": 1}
    assert verify_against(place.db, place.actor, tmp_path / "both").ok
    told = made("told", "claim_correctness", "claim_recall", dry_run=True)
    assert told.counts == found.counts
    assert [(one.n, one.of) for one in told.lost["ragchecker"] if one.path == "labels.verdicts"] == [(1, 2)]
    assert made("whole", "claim_correctness").counts == {"ragchecker": 1, "ragchecker_verdicts": 1}
    assert made("as it came").counts == {"ragchecker": 1}
    revise_item(place.db, place.actor, place.project, external_id=item.id, fields={"answer": "South."}, reason="wrong")
    later = made("later", "claim_correctness", "claim_recall", dry_run=True)
    assert later.counts == {
        "items_revised": 1, "ragchecker": 1, "ragchecker_verdicts": 0, "ragchecker_final_labels_fell": 2,
    }  # fmt: skip
    assert [(one.n, one.of) for one in later.lost["ragchecker"] if one.path == "labels.fell"] == [(2, 2)]


def test_the_docs_say_which_list_claim_verification_is_written_as() -> None:
    """It asks of the answer's claims alone: `retrieved2answer` has those of the reference."""
    assert {getattr(criterion, "of", None) for criterion in PROTOCOLS.get("claim_verification").criteria} == {"answer"}
    docs = (ROOT / "docs/exporting.md").read_text()
    assert "Labels of `claim_verification` are written as `retrieved2response`; it asks of the answer's" in docs


def test_inputs_are_taken_from_the_outputs_that_have_their_claims(place: Place, tmp_path: Path) -> None:
    write_json(tmp_path / "in/inputs.json", {"results": [checked(), checked(query="Else?")]})
    write_json(tmp_path / "in/outputs.json", {"results": [output()]})
    report = place.take(tmp_path / "in")
    assert (report.added, report.rejected) == (2, [])
    assert report.notes[0].startswith("1 checking input is left out: the checking outputs have the same answers")
    assert sorted(len(item.claims) for item in place.items()) == [0, 3]


def test_the_answers_of_a_pair_are_two_items_that_keep_its_ratings(place: Place, tmp_path: Path) -> None:
    report = place.take(write_json(tmp_path / "human.json", [rated(1, 0, -2), rated(2, 1, 0)]))
    assert (report.added, report.rejected) == (2, [])
    assert report.notes == [
        "2 ratings by 2 raters of 1 pair of answers are kept in the metadata of both items of a pair, in pairs. They "
        "become labels of a study where one is named for them."
    ]
    first, second = place.items()
    assert (first.id, first.category, first.answer, first.references) == (
        "port/piers/9:alpha", "port/piers", "North.", ("The north pier.",),
    )  # fmt: skip
    ratings = [
        {"rater": 1, "correctness_label": 1, "completeness_label": 0, "overall_label": -2},
        {"rater": 2, "correctness_label": 2, "completeness_label": 1, "overall_label": 0},
    ]
    assert first.metadata == {
        "critiques": "Short.",
        "pairs": [{"instance_id": 4, "place": "model1", "other_system": "beta", "ratings": ratings}],
    }
    assert second.metadata["pairs"] == [
        {"instance_id": 4, "place": "model2", "other_system": "alpha", "ratings": ratings}
    ]


@pytest.mark.parametrize("system", ["alpha", "beta"])
def test_ratings_of_an_answer_that_says_something_else_now_are_not_written(
    place: Place, tmp_path: Path, system: str
) -> None:
    place.take(write_json(tmp_path / "human.json", [rated(1, 0, -2)]))
    about: dict[str, Any] = {"external_id": f"port/piers/9:{system}", "fields": {"answer": "West."}, "reason": "wrong"}
    assert revise_item(place.db, place.actor, place.project, **about).verdicts == 1
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=["ragchecker"])
    assert not (tmp_path / "out/ragchecker" / PAIRS_RATED).exists()
    [pair] = orjson.loads((tmp_path / "out/ragchecker" / PAIRS_SCORED).read_bytes())
    assert "West." in {pair[side]["response"] for side in ("model1", "model2")}
    assert "correctness_label" not in pair


def test_one_answer_in_two_pairs_is_one_item(place: Place, tmp_path: Path) -> None:
    other = {"model_name": "gamma", "response": "Both.", "critiques": ""}
    rows = [rated(1, 1, 1), rated(0, 0, 0, instance_id=5, model2=other)]
    assert place.take(write_json(tmp_path / "human.json", rows)).added == 3
    alpha = next(item for item in place.items() if item.system == "alpha")
    assert [(pair["instance_id"], pair["other_system"]) for pair in alpha.metadata["pairs"]] == [
        (4, "beta"),
        (5, "gamma"),
    ]


@pytest.mark.parametrize("names", [("a-human.json", "b-metric.json"), ("b-human.json", "a-metric.json")])
def test_ratings_and_metrics_meet_in_the_same_items(place: Place, tmp_path: Path, names: tuple[str, str]) -> None:
    human, metric = names
    write_json(tmp_path / "in" / human, [rated(1, 0, -2)])
    write_json(tmp_path / "in" / metric, [measured()])
    report = place.take(tmp_path / "in")
    assert (report.added, report.rejected) == (2, [])
    assert all("ratings" in item.metadata["pairs"][0] for item in place.items())
    with place.db.read() as session:
        rows = session.exec(select(Run.name, Score.name, Score.value).join(Run).order_by(Score.name, Score.value)).all()
    assert rows == [
        ("imported:ragchecker", "correctness", 0.25), ("imported:ragchecker", "correctness", 1.0),
        ("imported:ragchecker", "overall", 0.125), ("imported:ragchecker", "overall", 0.5),
    ]  # fmt: skip


def test_scores_of_another_answer_are_not_given_to_the_rated_one(place: Place, tmp_path: Path) -> None:
    other = measured()
    other["model1"]["response"] = "Another text."
    write_json(tmp_path / "in/human.json", [rated(1, 0, -2)])
    write_json(tmp_path / "in/metric.json", [other])
    [bad] = place.take(tmp_path / "in").rejected
    assert bad.file == "in/metric.json"
    assert (
        "'port/piers/9:alpha' is given twice with different content; the first is in/human.json, line 2" in bad.reason
    )


def test_an_output_without_any_claim_is_an_item(place: Place, tmp_path: Path) -> None:
    empty = checked(response_claims=[], gt_answer_claims=[], answer2response=[], response2answer=[])
    write_json(tmp_path / "in/outputs.json", {"results": [empty, output(query="Else?")]})
    write_json(tmp_path / "in/more.json", {"results": [output(query="And?")]})
    assert place.take(tmp_path / "in").added == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gt_answer": None}, "`gt_answer` is missing"),
        ({"retrieved_context": [3]}, "`retrieved_context` holds 3"),
        ({"answer2response": ["Entailment", "Neutral"]}, "`answer2response` has 2 verdicts for 1 claim"),
        ({"retrieved2answer": [["Neutral"], ["Neutral"]]}, "`retrieved2answer` has 1 verdict for 2 contexts"),
        ({"response2answer": ["Entailment", "Maybe"]}, "Allowed: Entailment, Neutral, Contradiction"),
        ({"response_claims": [3]}, "a claim is 3"),
        ({"metrics": [1]}, "`metrics` is [1]"),
    ],
)
def test_a_bad_result_is_named(place: Place, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = write_json(tmp_path / "x.json", {"results": [output(query="Else?"), output() | changes]})
    [bad] = place.take(path).rejected
    assert bad.reason.startswith("entry 2 of `results`: ")
    assert words in bad.reason
    assert place.items() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"query": ""}, "`question` is missing or empty"),
        ({"correctness_label": 3}, "`correctness_label` is 3. Write a whole number from -2 to 2"),
        ({"overall_label": None}, "`overall_label` is None"),
        ({"model1": "alpha"}, "`model1` is 'alpha'"),
        ({"model1": {"model_name": "alpha"}}, "`model1`: `response` is missing"),
        ({"model2": {"model_name": "alpha", "response": "B"}}, "both answers are by 'alpha'"),
        ({"query_id": None}, "`query_id` is missing"),
    ],
)
def test_a_bad_pair_is_named(place: Place, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    rows = [rated(0, 0, 0, query_id="8"), rated(0, 0, 0) | changes]
    report = place.take(write_json(tmp_path / "x.json", rows))
    assert {bad.line for bad in report.rejected} == {report.rejected[0].line}
    assert words in report.rejected[0].reason


def test_a_rater_of_other_texts_is_named_with_the_first_line(place: Place, tmp_path: Path) -> None:
    rows = [rated(0, 0, 0), rated(0, 0, 0, model1={"model_name": "alpha", "response": "Other."})]
    [bad] = place.take(write_json(tmp_path / "x.json", rows)).rejected
    assert "the answer of 'alpha' to question 'port/piers/9' has other texts than on line 2" in bad.reason


OURS = {
    "precision": "ragchecker_precision", "recall": "ragchecker_recall", "f1": "ragchecker_f1",
    "claim_recall": "retriever_claim_recall", "context_precision": "retriever_context_precision",
    "hallucination": "unsupported_and_wrong", "self_knowledge": "unsupported_and_right", "faithfulness": "supported",
    "context_utilization": "context_utilization",
    "noise_sensitivity_in_relevant": "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant": "noise_sensitivity_in_irrelevant",
}  # fmt: skip
"""What each metric of the files is called among the values of our scorer."""


def scores(item: ItemContent) -> dict[str, float | None]:
    scorer = SCORERS.get("ragchecker")
    [values] = scorer.score([item], scorer.parameters())
    return {value.name: value.value for value in values}


def test_the_real_outputs_give_the_metrics_that_they_hold(place: Place, shared_data: Path) -> None:
    source = shared_data / "ragchecker/checking_outputs.json"
    assert place.take(source).added == 2
    given = {row["query"]: row["metrics"] for row in orjson.loads(source.read_bytes())["results"]}
    for item in place.items():
        found = scores(item)
        assert {name: found[OURS[name]] for name in given[item.question]} == pytest.approx(given[item.question])


def test_the_real_ratings_and_scores_give_the_known_correlations(place: Place, shared_data: Path) -> None:
    """Two raters, and the metric's difference (second answer less first) against all 560 rows: the data's README."""
    place.take(shared_data / "ragchecker/human_labeled_data.json", shared_data / "ragchecker/baseline_ragchecker.json")
    items = {(item.question_key, item.metadata["pairs"][0]["place"]): item for item in place.items()}
    with place.db.read() as session:
        rows = session.exec(
            select(Item.external_id, Score.name, Score.value)
            .join(ItemVersion, col(ItemVersion.id) == col(Score.item_version_id))
            .join(Item, col(Item.id) == col(ItemVersion.item_id))
        ).all()
    of_items = {(item, name): value or 0.0 for item, name, value in rows}
    known = {"correctness": (0.6367, 0.4966), "completeness": (0.7191, 0.6067), "overall": (0.7009, 0.6193)}
    for name, (of_raters, of_metric) in known.items():
        ratings, differences = [], []
        for (key, side), item in items.items():
            if side == "model1":
                given = item.metadata["pairs"][0]["ratings"]
                ratings.append([rating[f"{name}_label"] for rating in given])
                first, second = (of_items[items[key, side].id, name] for side in ("model1", "model2"))
                differences.append([second - first] * 2)
        assert len(ratings) == 280
        assert np.corrcoef(np.transpose(ratings))[0, 1] == pytest.approx(of_raters, abs=5e-5)
        assert np.corrcoef(np.ravel(differences), np.ravel(ratings))[0, 1] == pytest.approx(of_metric, abs=5e-5)


def test_the_real_files_come_in_together(place: Place, shared_data: Path) -> None:
    report = place.take(shared_data / "ragchecker")
    assert (report.format, report.added, report.rejected) == ("ragchecker", 562, [])
    assert report.notes[-1].startswith("560 ratings by 2 raters of 280 pairs of answers")
    items = [item for item in place.items() if item.category]
    assert Counter(len(item.metadata["pairs"][0]["ratings"]) for item in items) == {2: 560}
    rows: list[dict[str, Any]] = orjson.loads((shared_data / "ragchecker/human_labeled_data.json").read_bytes())
    by_id = {item.id: item for item in items}
    for number, row in enumerate(rows):  # rows 2i and 2i + 1 are the two raters
        for side in ("model1", "model2"):
            item = by_id[f"{row['dataset']}/{row['query_id']}:{row[side]['model_name']}"]
            [own] = item.metadata["pairs"]
            rating = own["ratings"][number % 2]
            assert {name: row[name] for name in rating if name != "rater"} | {"rater": number % 2 + 1} == rating
            assert (item.answer, item.metadata["critiques"]) == (row[side]["response"], row[side]["critiques"])
            assert (own["instance_id"], own["place"], item.references) == (
                row["instance_id"],
                side,
                (row["gt_answer"],),
            )
    with place.db.read() as session:
        counted = session.exec(
            select(Score.name, func.count()).where(Score.name.in_(("correctness", "completeness", "overall")))  # type: ignore[attr-defined]
            .group_by(Score.name)
        ).all()  # fmt: skip
    assert dict(counted) == {"correctness": 560, "completeness": 560, "overall": 560}
