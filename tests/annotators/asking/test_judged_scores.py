"""What scores are called, how their values read, what they mean, and which criterion is about which."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotators.asking.judged_scores import scores_by_criterion
from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.criteria.grade import Grade
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from annotators.scorers.base import SCORERS, ScoreValue, ValueKind, meaning, scorer_title, value_kind
from annotators.scorers.shared.phrases import (
    Mode,
    counted_behind,
    phrase_recall,
    phrase_sets,
    places_of,
    share_in_words,
)

METRIC = PROTOCOLS.get("metric_agreement")


class TestWords:
    @pytest.mark.parametrize(
        ("scorer", "name", "value", "title", "words"),
        [
            ("phrase_recall", "correctness", 2 / 3, "Correctness", "0.67"),
            ("phrase_recall", "correctness", 0.999, "Correctness", "0.999"),
            ("phrase_recall", "correctness", 1.0, "Correctness", "1.00"),
            ("imported:fathoms", "hallucination", 1.0, "Hallucination", "up"),
            ("imported:native", "suspected_hallucination", 0.0, "Hallucination", "down"),
            ("abstention", "abstention", 1.0, "Abstention", "abstention"),
            ("exact_match", "exact_match", 0.0, "Exact match", "no"),
            ("rouge_l", "rouge_l", 0.5, "ROUGE-L", "0.50"),
            ("imported:rouge_l", "rouge_l", 0.5, "ROUGE-L", "0.50"),
            ("imported:native", "rouge_l", 37.25, "ROUGE-L", "37.250"),
            ("imported:native", "bleu", 12.0, "BLEU", "12"),
            ("imported:native", "rouge_1", 0.25, "ROUGE-1", "0.250"),
            ("imported:native", "answer_length", 1200.0, "Answer length", "1,200"),
            ("bert_score", "bert_score_f1", -0.25, "BERTScore F1", "−0.250"),
        ],
    )
    def test_a_value_is_named_and_written_by_its_scorer(
        self, scorer: str, name: str, value: float, title: str, words: str
    ) -> None:
        kind = value_kind(scorer, name)
        assert (kind.title, kind.in_words(value)) == (title, words)

    def test_a_missing_value_has_its_reason(self) -> None:
        kind = value_kind("phrase_recall", "correctness")
        assert kind.in_words(None, "the item has no reference") == "unscored: the item has no reference"
        assert kind.in_words(None) == "unscored"

    def test_a_label_is_one_of_its_words_and_a_count_a_whole_number(self) -> None:
        assert ValueKind("x", "X", "label", words=("bad", "fair", "good")).in_words(2.0) == "good"
        assert ValueKind("x", "X", "count", high=None).in_words(3.0) == "3"

    def test_every_kind_fits_its_range(self) -> None:
        for scorer in SCORERS:
            for kind in scorer.values:
                assert kind.kind != "share" or (kind.low, kind.high) == (0.0, 1.0), (scorer.name, kind.name)

    def test_what_a_score_means_is_said_by_its_scorer(self) -> None:
        score = phrase_recall("It is copper.", [["copper", "tin", "lead"], ["iron"]])
        assert meaning("phrase_recall", score).startswith("1 of 3: share of the best set’s phrases")
        flag = ScoreValue("hallucination", 1.0, details={"correctness": 1 / 3, "label": "statement"})
        assert meaning("hallucination", flag) == (
            "Up: the answer states something (it does not abstain), and its correctness is 0.33"
        )
        down = ScoreValue("hallucination", 0.0, details={"correctness": 0.0, "label": "abstention"})
        assert meaning("hallucination", down) == "Down: the answer abstains"
        assert meaning("rouge_l", ScoreValue("rouge_l", 0.5)) == SCORERS.get("rouge_l").summary
        assert "did not come with it" in meaning("imported:native", ScoreValue("correctness", 0.5))
        assert scorer_title("imported:fathoms") == "fathoms, imported"


class TestPhraseSets:
    def test_they_show_what_the_scorer_counted(self) -> None:
        sets = phrase_sets("Below 62 % a ban; the hosepipe ban.", [["below 62 %", "ban", "night"], "hosepipe", [" "]])
        assert [(phrases.reference, phrases.best, phrases.recall) for phrases in sets] == [
            (0, False, 2 / 3),
            (1, True, 1.0),
        ]
        assert [(phrase.text, phrase.count) for phrase in sets[0].phrases] == [
            ("below 62 %", 1),
            ("ban", 2),
            ("night", 0),
        ]

    def test_an_error_message_has_none_of_them_but_by_the_paper(self) -> None:
        assert [phrases.recall for phrases in phrase_sets("error: copper", [["copper"]])] == [0.0]
        assert [phrases.recall for phrases in phrase_sets("error: copper", [["copper"]], "paper")] == [1.0]

    @pytest.mark.parametrize(
        ("mode", "phrase", "answer", "expected"),
        [
            ("fathoms_code", "wooden-buoy", "A WOODEN buoy, wooden-buoys.", ["WOODEN buoy", "wooden-buoy"]),
            ("paper", "οδός", "ΟΔΌΣ, ΟΔΌΣ", ["ΟΔΌΣ", "ΟΔΌΣ"]),
            ("paper", "stanbul", "İstanbul and Istanbul", ["stanbul", "stanbul"]),
            ("word_boundary", "62 %", "At  62\n % or 162 %, or 62\u00a0%.", ["62\n %", "62\u00a0%"]),
            ("word_boundary", "x y", "x--y", ["x--y"]),
            ("word_boundary", "fine", "a \ufb01ne day", ["\ufb01ne"]),
            ("word_boundary", "été", "un e\u0301te\u0301 chaud", ["e\u0301te\u0301"]),
            ("word_boundary", "한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8", ["\u1112\u1161\u11ab\u1100\u116e\u11a8"]),
            ("word_boundary", "harbour", "har\u00adbour", ["har\u00adbour"]),
        ],
    )
    def test_a_phrase_is_where_it_stands_in_the_answer_as_it_was_written(
        self, mode: Mode, phrase: str, answer: str, expected: list[str]
    ) -> None:
        [places] = places_of([phrase], answer, mode)
        assert [answer[start:end] for start, end in places] == expected

    def test_it_stands_nowhere_in_an_error_message(self) -> None:
        assert places_of(["copper"], "error: copper") == [[]]

    @pytest.mark.parametrize("mode", ["fathoms_code", "paper", "word_boundary"])
    @given(answer=st.text(max_size=60), at=st.integers(0, 59), length=st.integers(1, 9))
    def test_it_stands_there_as_often_as_it_is_counted(self, mode: Mode, answer: str, at: int, length: int) -> None:
        phrase = answer[at : at + length]
        assume(phrase.strip())
        [counted] = phrase_sets(answer, [[phrase]], mode)
        [places] = places_of([phrase], answer, mode)
        assert len(places) == counted.phrases[0].count
        assert all(0 <= start < end <= len(answer) for start, end in places)

    def test_every_phrase_found_in_a_real_answer_stands_where_it_is_marked(self, shared_data: Path) -> None:
        n = 0
        for path in sorted((shared_data / "fathoms" / "results").rglob("*.json")):
            for row in json.loads(path.read_text())["responses"]:
                answer = row["pred_answer"]
                for phrases in phrase_sets(answer, row["ground_truth"]):
                    texts = [phrase.text for phrase in phrases.phrases]
                    for phrase, places in zip(phrases.phrases, places_of(texts, answer), strict=True):
                        assert len(places) == phrase.count
                        read = phrase.text.lower().replace("-", " ")
                        assert {answer[a:b].lower().replace("-", " ") for a, b in places} <= {read}
                        n += len(places)
        assert n > 1000

    def test_a_score_that_counting_does_not_confirm_is_not_explained_by_it(self) -> None:
        answer, references = "It is copper.", [["copper", "tin"]]
        right = ScoreValue("correctness", 0.5)
        found = counted_behind("imported:fathoms", right, {}, answer, references)
        assert found is not None
        assert found[1] == "fathoms_code"
        assert counted_behind("imported:fathoms", ScoreValue("correctness", 0.7), {}, answer, references) is None
        assert counted_behind("imported:native", right, {}, answer, references) is None
        assert counted_behind("rouge_l", ScoreValue("rouge_l", 0.5), {}, answer, references) is None

    def test_every_real_score_of_fathoms_is_explained_by_its_sets(self, shared_data: Path) -> None:
        n = 0
        for path in sorted((shared_data / "fathoms" / "results").rglob("*.json")):
            for row in json.loads(path.read_text())["responses"]:
                score = ScoreValue("correctness", float(row["correctness_score"]))
                found = counted_behind("imported:fathoms", score, {}, row["pred_answer"], row["ground_truth"])
                assert found is not None, (path.name, row["question"])
                best = next(phrases for phrases in found[0] if phrases.best)
                found_phrases = sum(phrase.found for phrase in best.phrases)
                assert share_in_words(found[0]).startswith(f"{found_phrases} of {len(best.phrases)}: ")
                assert best.recall == pytest.approx(score.value)
                n += 1
        assert n > 900


class TestWhichCriterion:
    def both(self, *there: tuple[str, str]) -> dict[str, list[tuple[str, str]]]:
        return scores_by_criterion(METRIC, there)

    def test_scores_go_to_the_criterion_that_names_them(self) -> None:
        correctness, flag = ("imported:fathoms", "correctness"), ("imported:fathoms", "hallucination")
        assert self.both(flag, correctness) == {
            "correctness_agreement": [correctness],
            "hallucination_agreement": [flag],
        }

    def test_of_several_the_study_s_order_decides(self) -> None:
        phrases, human = ("phrase_recall", "correctness"), ("imported:fathoms", "correctness")
        assert self.both(phrases, human)["correctness_agreement"] == [phrases, human]
        assert self.both(human, phrases)["correctness_agreement"] == [human, phrases]

    def test_what_measures_the_same_is_judged_only_where_nothing_is_named_so(self) -> None:
        rouge, recall = ("rouge_l", "rouge_l"), ("phrase_recall", "correctness")
        assert self.both(rouge, ("rouge_l", "rouge_l_recall"))["correctness_agreement"] == [rouge]
        assert self.both(rouge, recall)["correctness_agreement"] == [recall]
        assert self.both(("imported:native", "answer_length"))["correctness_agreement"] == []

    def test_a_criterion_may_name_a_scorer_and_a_file_says_so(self) -> None:
        grade = METRIC.criteria[0].model_copy(update={"score": ["rouge_l", "correctness"]})
        protocol = Protocol.model_validate({**METRIC.model_dump(), "criteria": [grade, METRIC.criteria[1]]})
        assert protocol_from_yaml(protocol_to_yaml(protocol)) == protocol
        assert "score: [rouge_l, correctness]" in protocol_to_yaml(protocol)
        bare = protocol_from_yaml(protocol_to_yaml(METRIC).replace("score: [correctness]", "score: correctness"))
        assert bare == METRIC

    def test_a_score_is_judged_only_where_scores_are_shown_and_are_the_subject(self) -> None:
        data = METRIC.model_dump()
        with pytest.raises(ValueError, match="add `about_scores: true`"):
            Protocol.model_validate({**data, "about_scores": False})
        with pytest.raises(ValueError, match="needs scores, but step"):
            steps = [
                Step(name="one", title="One", shows=[Material.QUESTION], criteria=["correctness_agreement"]),
                Step(name="two", title="Two", shows=[Material.SCORES], criteria=["hallucination_agreement"]),
            ]
            Protocol.model_validate({**data, "steps": steps})


FROZEN = {
    "metric_agreement": "193b945f4a381e47f764743ac6edc5590910872a6c062ef05beee3d87d3c39a1",
    "metric_agreement_blind": "1e39c1c35903ec2cb8f679a3d2b6165cc94f69bf01ea4cb85002d8346ec09a85",
}


class TestSnapshots:
    @pytest.mark.parametrize("name", sorted(FROZEN))
    def test_a_snapshot_from_before_keeps_its_hash_and_its_criteria_their_scores(self, name: str) -> None:
        data = PROTOCOLS.get(name).model_dump(mode="json")
        data["version"] = 1
        data["guidelines"] = "As they were."
        for criterion in data["criteria"]:
            criterion.pop("score", None)
            criterion.pop("judged_by", None)
        old = Protocol.model_validate(data)
        assert old.digest() == FROZEN[name]
        for criterion in old.criteria:
            wanted = [criterion.name.removesuffix("_agreement")] if criterion.name.endswith("_agreement") else []
            assert old.scores_judged_by(criterion) == wanted

    def test_criteria_without_a_score_say_nothing_of_it(self) -> None:
        assert "score" not in Grade(name="g", title="G", labels=METRIC.criteria[0].labels).model_dump()  # type: ignore[attr-defined]
