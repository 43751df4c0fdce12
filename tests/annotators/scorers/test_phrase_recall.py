from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from annotators.scorers.shared.group_means import GroupMeans
from annotators.scorers.shared.phrases import Mode, phrase_recall
from tests.annotators.scorers.records import sums

COPPER_TIN = [["copper", "tin"]]


def recall(answer: str, references: list[str | list[str]], mode: Mode = "fathoms_code") -> float | None:
    return phrase_recall(answer, references, mode).value


@pytest.mark.parametrize("mode", ["fathoms_code", "paper", "word_boundary"])
class TestEveryMode:
    def test_the_share_of_phrases_found_is_the_score(self, mode: Mode) -> None:
        assert recall("It is copper.", COPPER_TIN, mode) == 0.5
        assert recall("Tin and COPPER.", COPPER_TIN, mode) == 1.0
        assert recall("Lead.", COPPER_TIN, mode) == 0.0

    def test_the_best_of_several_references_counts(self, mode: Mode) -> None:
        # 1 of 3 against 2 of 3 against 0 of 1
        references: list[str | list[str]] = [["copper", "lead", "zinc"], ["copper", "tin", "iron"], ["gold"]]
        assert recall("copper and tin", references, mode) == pytest.approx(2 / 3)

    def test_a_reference_that_is_a_text_counts_as_one_phrase(self, mode: Mode) -> None:
        assert recall("made of copper and tin", ["copper and tin"], mode) == 1.0
        assert recall("made of tin and copper", ["copper and tin"], mode) == 0.0

    def test_a_phrase_that_stands_twice_in_a_reference_counts_twice(self, mode: Mode) -> None:
        assert recall("copper", [["copper", "copper", "tin"]], mode) == pytest.approx(2 / 3)

    def test_details_say_which_phrases_of_the_best_reference_were_found(self, mode: Mode) -> None:
        score = phrase_recall("copper and tin", [["gold"], ["copper", "tin", "iron"]], mode)
        assert score.details == {"reference": 1, "found": ["copper", "tin"], "missing": ["iron"]}

    def test_of_equally_good_references_the_first_is_reported(self, mode: Mode) -> None:
        score = phrase_recall("copper and gold", [["copper", "tin"], ["gold", "iron"]], mode)
        assert score.details is not None
        assert score.details["reference"] == 0

    def test_an_empty_answer_scores_zero(self, mode: Mode) -> None:
        assert recall("", COPPER_TIN, mode) == 0.0

    def test_without_references_the_item_is_unscored(self, mode: Mode) -> None:
        score = phrase_recall("copper", [], mode)
        assert (score.value, score.reason) == (None, "the item has no reference")

    @pytest.mark.parametrize("references", [[[]], [""], [["", "  "]], [[], "\n"]])
    def test_references_without_a_phrase_leave_the_item_unscored(
        self, mode: Mode, references: list[str | list[str]]
    ) -> None:
        score = phrase_recall("copper", references, mode)
        assert (score.value, score.reason) == (None, "no reference has a phrase to look for")

    def test_an_empty_reference_beside_another_is_left_out(self, mode: Mode) -> None:
        assert recall("copper", [[], ["copper", "tin"]], mode) == 0.5


class TestFathomsCode:
    def test_a_hyphen_is_a_space_on_both_sides(self) -> None:
        assert recall("a state-of-the-art pump", ["state of the art"]) == 1.0
        assert recall("a state of the art pump", ["State-of-the-art"]) == 1.0

    def test_words_have_no_boundary(self) -> None:
        assert recall("18 pumps in a setting", [["8", "tin"]]) == 1.0

    def test_nothing_else_is_normalised(self) -> None:
        assert recall("co\u2011operative", ["co-operative"]) == 0.0  # a non-breaking hyphen is not `-`
        assert recall("two  spaces", ["two spaces"]) == 0.0

    @pytest.mark.parametrize("marker", ["timed out", "TIMED OUT", "rate limit exceeded", "error", "error: copper, tin"])
    def test_an_error_marker_scores_zero(self, marker: str) -> None:
        score = phrase_recall(marker, [[marker]])
        assert score.value == 0.0
        assert score.details is not None
        assert score.details["error_marker"] is True

    @pytest.mark.parametrize("answer", ["Error bars show copper", "It timed out: copper", "Timed Out copper"])
    def test_what_only_looks_like_a_marker_is_an_answer(self, answer: str) -> None:
        assert recall(answer, ["copper"]) == 1.0


class TestPaper:
    def test_a_hyphen_is_a_hyphen(self) -> None:
        assert recall("state-of-the-art", ["state of the art"], "paper") == 0.0

    def test_error_markers_are_answers_like_others(self) -> None:
        assert recall("error: copper", ["copper"], "paper") == 1.0


class TestWordBoundary:
    @pytest.mark.parametrize(
        ("phrase", "answer", "found"),
        [
            ("8", "18", False),
            ("8", "8th", False),
            ("8", "8", True),
            ("8", "(8)", True),
            ("8", "8 %", True),
            ("8", "It has 18 doors, 8 of glass.", True),
            ("8", "There are 8.", True),
            ("8", "8.5", False),
            ("8", "1,800 and 0.8", False),
            ("1,800", "about 1,800, or so", True),
            ("tin", "setting", False),
            ("tin", "tin-plated", True),
            ("état", "L’État, c’est moi", True),
            ("Straße", "STRASSE", True),
            ("co-operative", "co\u2011operative", True),
            ("state of the art", "State\u2013of\n the\u00a0art", True),
            ("ﬁve", "five", True),
            ("{document} What", "Use {document} what for", True),
            ("東京", "首都は東京です", True),
            ("क", "कि", False),
            ("-", "a - b", False),
        ],
    )
    def test_a_phrase_matches_whole_words_only(self, phrase: str, answer: str, found: bool) -> None:
        assert recall(answer, [phrase], "word_boundary") == float(found)


def test_it_never_finds_more_with_word_boundaries_than_without_on_plain_words() -> None:
    chance = random.Random(7)
    words = ["tin", "tins", "1", "18", "8", "copper", "cop"]
    for _ in range(300):
        answer = " ".join(chance.choices(words, k=5))
        phrases: list[str | list[str]] = [chance.choices(words, k=2)]
        plain, bounded = recall(answer, phrases, "paper"), recall(answer, phrases, "word_boundary")
        assert plain is not None
        assert bounded is not None
        assert bounded <= plain
        assert bounded == sum(phrase in answer.split() for phrase in phrases[0]) / 2


def test_every_published_score_of_fathoms_is_reproduced(shared_data: Path) -> None:
    files = sorted((shared_data / "fathoms" / "results").glob("*/*.json"))
    assert len(files) == 10
    for file in files:
        result = json.loads(file.read_text())
        means = GroupMeans()
        for response in result["responses"]:
            score = phrase_recall(response["pred_answer"], response["ground_truth"])
            assert score.value == response["correctness_score"], (file.name, response["question"])
            means.add(response["category"], sums(score.value))
        assert means.all.n == 93
        for category, found in means.by_category.items():
            assert found.mean == pytest.approx(result["scores"][category], abs=1e-15)
        assert means.macro_mean == pytest.approx(result["overall_score"], abs=1e-15)
