"""hit@k, recall@k, precision@k, visual recall and the split by retrieval mode."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.scorers import SCORERS
from annotators.scorers.base import ScoreValue
from annotators.scorers.shared.group_means import GroupMeans
from annotators.scorers.shared.tasks import scoring_task
from tests.annotators.scorers.records import score_records, sums


def unit(
    role: str, document: str | None, *pages: int, rank: int | None = None, hop: int | None = None, kind: str = "page"
) -> dict[str, Any]:
    return {
        "key": f"{role}-{document}-{pages}-{rank}".replace(" ", ""), "kind": kind, "role": role, "document": document,
        "pages": list(pages), "rank": rank, "hop": hop,
    }  # fmt: skip


def score(scorer: str, *evidence: dict[str, Any], hops: int = 0, **parameters: Any) -> ScoreValue:
    record = {"question": "q", "evidence": list(evidence), "hops": [{"key": f"h{n}"} for n in range(hops)]}
    return score_records(scoring_task(scorer, parameters), [record])[0][0]


GOLD = [unit("gold", "a", 3), unit("gold", "a", 4), unit("gold", "b", 1)]
FOUND = [
    unit("retrieved", "b", 9, rank=2),
    unit("retrieved", "a", 2, 3, rank=1),  # spans a gold page
    unit("retrieved", "a", 1, rank=3),
    unit("retrieved", "b", 1, rank=4),
]


class TestPages:
    def test_a_hit_is_a_gold_page_among_the_first_k_by_rank(self) -> None:
        assert score("hit_at_k", *GOLD, *FOUND, k=1).value == 1.0
        assert score("hit_at_k", GOLD[2], *FOUND, k=3).value == 0.0
        assert score("hit_at_k", GOLD[2], *FOUND, k=4).value == 1.0

    def test_a_multi_hop_hit_needs_a_page_of_every_hop(self) -> None:
        first, second = unit("gold", "a", 3, hop=1), unit("gold", "b", 1, hop=2)
        missed = score("hit_at_k", first, second, *FOUND, k=3)
        assert (missed.value, missed.details) == (
            0.0, {"retrieved": 4, "gold_pages": 2, "hops": 2, "missed_hops": [2]},
        )  # fmt: skip
        assert score("hit_at_k", first, second, *FOUND, k=4).value == 1.0

    def test_a_hop_without_gold_evidence_leaves_the_item_unscored(self) -> None:
        found = score("hit_at_k", unit("gold", "a", 3, hop=1), *FOUND, hops=2)
        assert found.reason == "hop 2 has no gold evidence with document and page"
        assert score("hit_at_k", GOLD[0], *FOUND, hops=2).reason == (
            "gold evidence of a multi-hop question says not which hop it is for"
        )

    def test_each_gold_page_counts_once_in_recall(self) -> None:
        assert score("recall_at_k", *GOLD, *FOUND, k=1).value == pytest.approx(1 / 3)
        assert score("recall_at_k", *GOLD, *FOUND, k=4).value == pytest.approx(2 / 3)
        assert score("recall_at_k", GOLD[0], GOLD[0] | {"key": "again"}, *FOUND, k=1).value == 1.0

    def test_a_unit_of_several_pages_is_right_if_one_overlaps(self) -> None:
        # of the first four two overlap gold pages: a 2-3 and b 1
        assert score("precision_at_k", *GOLD, *FOUND, k=4).value == 0.5
        assert score("precision_at_k", *GOLD, *FOUND, k=10).value == pytest.approx(2 / 10)
        assert score("precision_at_k", *GOLD, *FOUND, k=10, divisor="retrieved").value == 0.5

    def test_the_same_page_of_another_document_is_not_it(self) -> None:
        assert score("hit_at_k", unit("gold", "c", 1), *FOUND, k=4).value == 0.0

    def test_gold_evidence_with_a_rank_was_retrieved(self) -> None:
        assert score("hit_at_k", unit("gold", "a", 3, rank=1), k=1).value == 1.0

    def test_a_unit_retrieved_twice_is_one(self) -> None:
        twice = [
            unit("retrieved", "a", 1, rank=1),
            unit("retrieved", "a", 1, rank=2),
            unit("retrieved", "a", 3, rank=3),
        ]
        assert score("hit_at_k", GOLD[0], *twice, k=2).value == 1.0

    @pytest.mark.parametrize("scorer", ["hit_at_k", "recall_at_k", "precision_at_k"])
    @pytest.mark.parametrize(
        ("evidence", "reason"),
        [
            (GOLD, "the item has no retrieved evidence"),
            (FOUND, "the item has no gold evidence"),
            ([unit("gold", None, 3), *FOUND], "the gold evidence has no document and page"),
            ([*GOLD, unit("retrieved", "a", rank=1)], "the retrieved evidence has no document and page"),
        ],
    )
    def test_without_something_to_compare_it_is_unscored(
        self, scorer: str, evidence: list[dict[str, Any]], reason: str
    ) -> None:
        assert score(scorer, *evidence).reason == reason

    def test_evidence_without_page_is_left_out_and_counted(self) -> None:
        details = score("recall_at_k", *GOLD, *FOUND, unit("retrieved", "a", rank=5)).details
        assert details == {"retrieved": 4, "gold_pages": 3, "without_page": 1}


class TestVisualRecall:
    def test_it_is_the_share_of_gold_images_retrieved(self) -> None:
        gold = [unit("gold", "a", 3, kind="figure"), unit("gold", "b", 1, kind="figure"), unit("gold", "c", 1)]
        found = score("visual_recall", *gold, *FOUND[2:], unit("retrieved", "a", 3, rank=9))
        assert (found.value, found.details) == (0.5 + 0.5, {"gold": 2, "found": 2})
        assert score("visual_recall", *gold, *FOUND, k=1).value == 0.0

    def test_the_reference_answers_images_are_gold_where_no_evidence_is(self) -> None:
        record = {
            "question": "q",
            "images": [{"key": "r1", "document": "a", "page": 1, "of": "reference", "box": [0, 0, 1, 0.5]}],
            "evidence": FOUND,
        }
        assert score_records(scoring_task("visual_recall"), [record])[0][0].value == 1.0

    def test_without_gold_images_it_is_unscored(self) -> None:
        assert score("visual_recall", *GOLD, *FOUND).reason == "the item has no gold image"
        assert (
            score("visual_recall", unit("gold", "a", 1, kind="figure")).reason == "the item has no retrieved evidence"
        )


class TestRetrievalMode:
    def scores(self, answer: str, *roles: str, metadata: dict[str, Any] | None = None, **parameters: Any) -> ScoreValue:
        record = {
            "question": "q", "answer": answer, "references": ["copper"], "metadata": metadata or {},
            "evidence": [unit(role, "a", n) for n, role in enumerate(roles, 1)],
        }  # fmt: skip
        return score_records(scoring_task("retrieval_mode", parameters), [record])[0][0]

    @pytest.mark.parametrize(
        ("roles", "mode"),
        [
            (["gold"], "gold_only"),
            (["gold", "distractor"], "gold_and_distractors"),
            (["distractor", "distractor"], "distractors_only"),
        ],
    )
    def test_the_score_stands_under_the_mode(self, roles: list[str], mode: str) -> None:
        found = self.scores("It is copper.", *roles)
        assert (found.name, found.value) == (mode, 1.0)

    def test_metadata_decide_where_they_speak(self) -> None:
        assert self.scores("tin", "gold", metadata={"retrieval_mode": "gt_plus_distractors"}).name == (
            "gold_and_distractors"
        )

    def test_a_real_retrieval_has_no_mode(self) -> None:
        assert self.scores("copper", "gold", "retrieved").reason is not None
        assert self.scores("copper").reason is not None

    def test_another_score_can_be_split(self) -> None:
        assert self.scores("copper ore", "gold", of="token_f1").value == pytest.approx(2 / 3)

    def test_the_gap_is_the_difference_of_the_groups_means(self) -> None:
        # gold only: category x 1, 0 and y 1: macro (1/2 + 1)/2 = 3/4; with distractors: x 0, y 1/2: 1/4
        means = {"gold_only": GroupMeans(), "gold_and_distractors": GroupMeans()}
        for category, value in [("x", 1.0), ("x", 0.0), ("y", 1.0)]:
            means["gold_only"].add(category, sums(value))
        for category, value in [("x", 0.0), ("y", 0.5)]:
            means["gold_and_distractors"].add(category, sums(value))
        (gap,) = SCORERS.get("retrieval_mode").differences
        found = gap.value({name: mean.macro_mean for name, mean in means.items()})
        assert (found.name, found.value) == ("distractor_susceptibility", 0.5)
        assert gap.value({"gold_only": 1.0}).reason == "the group has no score gold_and_distractors"
