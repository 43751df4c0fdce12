"""MM-RAGChecker's claim metrics and RAGChecker's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.scorers import SCORERS
from annotators.scorers.base import ScoreValue
from annotators.scorers.shared.tasks import scoring_task
from tests.annotators.scorers.records import score_records

E, N, C = "entailment", "neutral", "contradiction"


def record(verdicts: list[dict[str, str]], *, answer: int = 4, reference: int = 0) -> dict[str, Any]:
    """Claims c1 … and gold claims g1 …; images i1, i2 and passages t1, t2, in the order of their ranks."""
    return {
        "question": "q",
        "answer": "a",
        "evidence": [
            {"key": "t2", "kind": "passage", "role": "retrieved", "rank": 4},
            {"key": "i1", "kind": "figure", "role": "retrieved", "rank": 1},
            {"key": "t1", "kind": "passage", "role": "retrieved", "rank": 2},
            {"key": "i2", "kind": "page", "role": "retrieved", "rank": 3},
        ],
        "claims": [
            *({"key": f"c{n}", "text": "…"} for n in range(1, answer + 1)),
            *({"key": f"g{n}", "text": "…", "of": "reference"} for n in range(1, reference + 1)),
        ],
        "verdicts": verdicts,
    }


def judged(source: str, table: dict[str, dict[str, str]]) -> list[dict[str, str]]:
    return [
        {"claim": claim, "evidence": evidence, "label": label, "source": source}
        for claim, row in table.items()
        for evidence, label in row.items()
    ]


def scores(scorer: str, item: dict[str, Any], **parameters: Any) -> dict[str, ScoreValue]:
    return {score.name: score for score in score_records(scoring_task(scorer, parameters), [item])[0]}


PEOPLE = judged(
    "people",
    {
        "c1": {"i1": E, "t1": C},  # entailment goes first
        "c2": {"i1": N, "t1": C},  # then contradiction
        "c3": {"i1": N, "t1": N},
        "c4": {"i1": N, "t1": E},
    },
)

JUDGE = judged(
    "judge:small",
    {
        "c1": {"i1": E, "i2": N, "t1": E, "t2": N},
        "c2": {"i1": E, "i2": N, "t1": N, "t2": N},
        "c3": {"i1": N, "i2": N, "t1": E, "t2": N},
        "c4": {"i1": N, "i2": N, "t1": N, "t2": N},
    },
)


class TestClaimMetrics:
    """L from people: c1 E, c2 C, c3 N, c4 E. s from the judge: image c1, c2; text c1, c3."""

    def test_every_equation_by_hand(self) -> None:
        gold = [
            {"claim": "g1", "against": "answer", "label": E, "source": "people"},
            {"claim": "g2", "against": "answer", "label": N, "source": "people"},
        ]
        found = scores("claim_metrics", record([*PEOPLE, *JUDGE, *gold], reference=3), k=2)
        assert {name: score.value for name, score in found.items()} == {
            "hallucination_rate": 1 / 4,  # (1): c3
            "faithfulness": 2 / 4,  # (2): c1, c4
            "contradiction_rate": 1 / 4,  # c2
            "claim_recall": 1 / 2,  # (3): g1 of g1, g2; g3 has no verdict
            "context_precision": 2 / 4,  # (4): i1 and t1 of four
            "self_knowledge": 1 / 2,  # (5): of c1, c4 the judge supports only c1
            "cr_img": 1 / 2,  # (8): of c1, c4 an image supports c1
            "cr_txt": 1 / 2,  # (8): text supports c1
            "cp_img": 2 / 3,  # (9): c1, c2 of c1, c2, c3
            "cp_txt": 2 / 3,  # (9): c1, c3 of the same
            "delta_cr": 0.0,  # (10)
            "delta_cp": 0.0,  # (11)
            "vis_hit_at_k": 1 / 2,  # (12): i1 of i1, i2
            "txt_miss_rate": 1 / 2,  # (13): t2 of t1, t2
            "cma": 1 / 3,  # (14): c1 of c1, c2, c3
            "v_hr": 1 / 2,  # (15): of c2, c3 an image supports c2
            "d_hr": 1 / 2,  # (16): of c2, c3 text supports c3
        }
        assert found["hallucination_rate"].details == {
            "labels_from": "people", "support_from": "judge:small", "claims": 4, "images": 2, "texts": 2,
            "evidence_without_verdict": 0,
        }  # fmt: skip

    def test_with_one_source_what_is_degenerate_is_unscored(self) -> None:
        found = scores("claim_metrics", record(JUDGE))
        unscored = {name for name, score in found.items() if score.reason and score.reason.startswith("same source")}
        assert unscored == {"self_knowledge", "cr_img", "cr_txt", "delta_cr", "v_hr", "d_hr"}
        assert found["faithfulness"].value == 3 / 4
        assert found["cma"].value == 1 / 3

    def test_written_out_the_degenerate_ones_would_be_0_and_cr_equal_to_cp(self) -> None:
        """Why they are unscored: two sources that say the same give exactly that."""
        twin = [{**verdict, "source": "judge:twin"} for verdict in JUDGE]
        found = scores("claim_metrics", record([*JUDGE, *twin]), labels_from="judge:small", support_from="judge:twin")
        assert [found[name].value for name in ("self_knowledge", "v_hr", "d_hr")] == [0.0, 0.0, 0.0]
        assert found["cr_img"].value == found["cp_img"].value
        assert found["cr_txt"].value == found["cp_txt"].value

    def test_adjudicated_verdicts_go_before_those_of_people(self) -> None:
        settled = [{"claim": f"c{n}", "against": "context", "label": E, "source": "adjudicated"} for n in range(1, 5)]
        found = scores("claim_metrics", record([*PEOPLE, *JUDGE, *settled]))
        assert found["faithfulness"].value == 1.0
        assert found["v_hr"].reason == "every claim is entailed"

    def test_sources_can_be_chosen(self) -> None:
        found = scores("claim_metrics", record([*PEOPLE, *JUDGE]), labels_from="judge:small", support_from="people")
        assert found["faithfulness"].value == 3 / 4
        assert found["context_precision"].value == 2 / 2  # people judged i1 and t1 only
        details = found["hallucination_rate"].details
        assert details is not None
        assert details["evidence_without_verdict"] == 2
        found = scores("claim_metrics", record(JUDGE), labels_from="people")
        assert found["faithfulness"].reason == "there are no verdicts from people"

    def test_k_divides_as_written_or_by_what_there_is(self) -> None:
        item = record([*PEOPLE, *JUDGE])
        assert scores("claim_metrics", item, k=5)["vis_hit_at_k"].value == 1 / 5
        assert scores("claim_metrics", item, k=5)["txt_miss_rate"].value == 4 / 5
        assert scores("claim_metrics", item, k=5, divisor="available")["vis_hit_at_k"].value == 1 / 2

    def test_pages_and_tables_count_as_what_is_said(self) -> None:
        found = scores("claim_metrics", record([*PEOPLE, *JUDGE]), pages="text", divisor="available")
        assert found["vis_hit_at_k"].value == 1.0  # only i1 is left
        assert found["txt_miss_rate"].value == pytest.approx(2 / 3)

    def test_a_claim_without_verdict_leaves_the_item_unscored(self) -> None:
        found = scores("claim_metrics", record(JUDGE, answer=5))
        assert found["faithfulness"].reason == "judge:small gave no verdict on 1 of 5 claims (c5 …)"

    @pytest.mark.parametrize(
        ("item", "reason"),
        [
            (record([], answer=0), "the answer has no claims"),
            (record([]), "the claims have no verdicts"),
        ],
    )
    def test_without_claims_or_verdicts_everything_is_unscored(self, item: dict[str, Any], reason: str) -> None:
        found = scores("claim_metrics", item)
        assert {score.reason for score in found.values()} == {reason}
        assert list(found) == [kind.name for kind in SCORERS.get("claim_metrics").values]

    def test_nothing_supported_is_said(self) -> None:
        nothing = judged("judge:small", {f"c{n}": {"i1": N, "t1": N} for n in range(1, 5)})
        found = scores("claim_metrics", record(nothing))
        assert found["cp_img"].reason == "no evidence entails a claim"
        assert found["cma"].reason == "no evidence entails a claim"
        assert found["context_precision"].value == 0.0


def test_a_verdict_has_to_be_one_of_three() -> None:
    with pytest.raises(InvalidInput, match="'maybe' is not the label of a verdict"):
        scores("ragchecker", record([{"claim": "c1", "evidence": "i1", "label": "maybe"}]))
    with pytest.raises(InvalidInput, match="'page' is nothing to hold a claim against"):
        scores("ragchecker", record([{"claim": "c1", "against": "page", "label": E}]))


class TestRagChecker:
    def test_every_metric_by_hand(self) -> None:
        # answer claims: c1 right, c2 and c3 wrong, c4 right; gold: g1 recalled, g2 not
        verdicts = [
            *({"claim": f"c{n}", "against": "reference", "label": label} for n, label in enumerate((E, C, N, E), 1)),
            {"claim": "g1", "against": "answer", "label": E},
            {"claim": "g2", "against": "answer", "label": N},
            # passages: t1 entails g1 and g2 (relevant), t2 neither; c1 and c2 from t1, c3 from t2, c4 from none
            *judged("", {
                "g1": {"t1": E, "t2": N}, "g2": {"t1": E, "t2": N}, "c1": {"t1": E, "t2": N},
                "c2": {"t1": E, "t2": E}, "c3": {"t1": N, "t2": E}, "c4": {"t1": N, "t2": C},
            }),
        ]  # fmt: skip
        found = scores("ragchecker", record(verdicts, reference=2))
        assert {name: score.value for name, score in found.items()} == {
            "ragchecker_precision": 2 / 4,
            "ragchecker_recall": 1 / 2,
            "ragchecker_f1": 1 / 2,
            "retriever_claim_recall": 1.0,  # g1, g2 from t1
            "retriever_context_precision": 1 / 2,  # t1 of t1, t2
            "context_utilization": 1 / 2,  # of the retrieved g1, g2 the answer has g1
            "noise_sensitivity_in_relevant": 1 / 4,  # c2
            "noise_sensitivity_in_irrelevant": 1 / 4,  # c3
            "unsupported_and_wrong": 0.0,
            "unsupported_and_right": 1 / 4,  # c4
            "supported": 3 / 4,
        }

    def test_missing_verdicts_leave_only_their_metrics_unscored(self) -> None:
        found = scores("ragchecker", record([{"claim": "c1", "against": "reference", "label": E}]))
        assert found["ragchecker_precision"].value == 1.0
        assert found["ragchecker_recall"].reason == "the reference has no claims with verdicts"
        assert found["ragchecker_f1"].reason == "the reference has no claims with verdicts"
        assert found["supported"].reason == "no evidence has a verdict"

    def test_the_published_metrics_are_recomputed_from_the_verdicts(self, shared_data: Path) -> None:
        given = json.loads((shared_data / "ragchecker" / "checking_outputs.json").read_text())
        totals: dict[str, float] = {}
        for result in given["results"]:
            found = scores("ragchecker", checked(result))
            for name, expected in result["metrics"].items():
                value = found[OURS[name]].value
                assert value == pytest.approx(expected, abs=1e-12), name
                totals[name] = totals.get(name, 0.0) + expected / len(given["results"])
        published = {name: value for part in given["metrics"].values() for name, value in part.items()}
        assert {name: round(100 * value, 1) for name, value in totals.items()} == published


OURS = {
    "precision": "ragchecker_precision", "recall": "ragchecker_recall", "f1": "ragchecker_f1",
    "claim_recall": "retriever_claim_recall", "context_precision": "retriever_context_precision",
    "context_utilization": "context_utilization", "faithfulness": "supported",
    "noise_sensitivity_in_relevant": "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant": "noise_sensitivity_in_irrelevant",
    "hallucination": "unsupported_and_wrong", "self_knowledge": "unsupported_and_right",
}  # fmt: skip


def checked(result: dict[str, Any]) -> dict[str, Any]:
    """A result of RAGChecker's claim checking as a native item record."""
    answer = [f"c{n}" for n in range(len(result["response_claims"]))]
    gold = [f"g{n}" for n in range(len(result["gt_answer_claims"]))]
    units = [f"e{n}" for n in range(len(result["retrieved_context"]))]
    verdicts = [
        {"claim": claim, "against": against, "label": label.lower()}
        for claims, against, labels in [
            (answer, "reference", result["answer2response"]),
            (gold, "answer", result["response2answer"]),
        ]
        for claim, label in zip(claims, labels, strict=True)
    ] + [
        {"claim": claim, "evidence": unit, "label": label.lower()}
        for claims, table in [(answer, result["retrieved2response"]), (gold, result["retrieved2answer"])]
        for claim, row in zip(claims, table, strict=True)
        for unit, label in zip(units, row, strict=True)
    ]
    return {
        "question": result["query"],
        "answer": result["response"],
        "references": [result["gt_answer"]],
        "evidence": [{"key": key, "kind": "passage", "role": "retrieved"} for key in units],
        "claims": [
            *(
                {"key": key, "text": " ".join(text)}
                for key, text in zip(answer, result["response_claims"], strict=True)
            ),
            *(
                {"key": key, "text": " ".join(text), "of": "reference"}
                for key, text in zip(gold, result["gt_answer_claims"], strict=True)
            ),
        ],
        "verdicts": verdicts,
    }
