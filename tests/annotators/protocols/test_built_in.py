from __future__ import annotations

import re

import pytest

from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.text import Text
from annotators.protocols import PROTOCOLS, Material, Protocol
from tests.conftest import SHARED

ALL = list(PROTOCOLS)
HIDDEN = {Material.ROLES, Material.USED, Material.SYSTEM, Material.PAGE_LABELS, Material.SUGGESTIONS}


def named(protocol: Protocol) -> str:
    return protocol.name


@pytest.mark.parametrize("protocol", ALL, ids=named)
class TestEveryProtocol:
    def test_it_says_what_people_need(self, protocol: Protocol) -> None:
        assert protocol.summary
        assert protocol.source
        assert protocol.agreement
        assert protocol.on_fail
        assert protocol.invalidates["question"] == ["*"]

    def test_every_label_is_defined_and_has_a_worked_example_in_the_guidelines(self, protocol: Protocol) -> None:
        for criterion in protocol.criteria:
            assert len(criterion.help) <= 60, criterion.name
            for label in criterion.label_list():
                assert label.definition, (criterion.name, label.value)
                assert label.key, (criterion.name, label.value)
                assert label.title in protocol.guidelines, (criterion.name, label.value)
        assert protocol.guidelines.count('*"') >= sum(len(criterion.label_list()) for criterion in protocol.criteria)

    def test_it_hides_what_would_sway_the_annotator(self, protocol: Protocol) -> None:
        shown = protocol.shown_at(len(protocol.steps) - 1)
        assert not shown & HIDDEN
        assert (Material.SCORES in shown) == protocol.about_scores

    def test_its_guidelines_use_only_the_markdown_that_the_page_shows(self, protocol: Protocol) -> None:
        for line in protocol.guidelines.splitlines():
            assert not re.match(r"\s*(\||>|```|<|\d+\.)", line), line

    def test_no_sentence_is_from_a_paper(self, protocol: Protocol) -> None:
        if not (SHARED / "seeds").is_dir():
            pytest.skip("the papers (../shared/seeds) are not here")
        papers = " ".join(_words(path.read_text()) for path in sorted((SHARED / "seeds").glob("*.txt")))
        words = _words(protocol.guidelines).split()
        for start in range(len(words) - 6):
            assert f" {' '.join(words[start : start + 7])} " not in papers


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


class TestQaVerification:
    protocol = PROTOCOLS.get("qa_verification")

    def test_the_question_is_judged_before_anything_else_is_shown(self) -> None:
        assert self.protocol.shown_at(0) == {Material.QUESTION}
        assert [criterion.name for criterion in self.protocol.step_criteria(0)] == ["self_contained", "human_like"]

    def test_then_come_answer_and_evidence_but_no_references(self) -> None:
        assert self.protocol.shown_at(1) == {
            Material.QUESTION,
            Material.ANSWER,
            Material.EVIDENCE,
            Material.DOCUMENTS,
        }
        assert [criterion.name for criterion in self.protocol.step_criteria(1)] == [
            "question_factual",
            "answer_factual",
            "complete",
            "grounding",
        ]

    def test_its_labels_are_those_of_the_paper(self) -> None:
        found = {
            criterion.name: [label.value for label in criterion.label_list()] for criterion in self.protocol.criteria
        }
        assert found == {
            "self_contained": ["true", "false"],
            "human_like": ["true", "false"],
            "question_factual": ["factual", "not_factual"],
            "answer_factual": ["factual", "not_factual"],
            "complete": ["complete", "incomplete"],
            "grounding": ["required", "not_required"],
        }
        assert self.protocol.criterion("grounding").target == "evidence"

    def test_an_item_passes_with_the_positive_labels_and_any_grounding(self) -> None:
        assert {criterion.name: criterion.accept for criterion in self.protocol.criteria} == {
            "self_contained": ["true"],
            "human_like": ["true"],
            "question_factual": ["factual"],
            "answer_factual": ["factual"],
            "complete": ["complete"],
            "grounding": [],
        }

    def test_an_edit_of_the_answer_leaves_the_question_alone_standing(self) -> None:
        assert set(self.protocol.invalidates["answer"]) == {"answer_factual", "complete", "grounding"}
        assert self.protocol.overlap == 3


class TestAmbiguity:
    protocol = PROTOCOLS.get("ambiguity")

    def test_only_the_question_is_shown(self) -> None:
        assert self.protocol.shown_at(0) == {Material.QUESTION}
        assert len(self.protocol.steps) == 1

    def test_an_ambiguous_question_needs_a_reason_of_at_most_thirty_words(self) -> None:
        reason = self.protocol.criterion("reason")
        assert isinstance(reason, Text)
        assert reason.required
        assert reason.max_words == 30
        assert reason.when is not None
        assert (reason.when.criterion, reason.when.values) == ("ambiguity", ["ambiguous"])
        assert isinstance(self.protocol.criterion("ambiguity"), Choice)


class TestMetricAgreement:
    protocol = PROTOCOLS.get("metric_agreement")

    def test_it_asks_how_far_people_agree_with_score_and_flag(self) -> None:
        for name in ("correctness_agreement", "hallucination_agreement"):
            criterion = self.protocol.criterion(name)
            assert isinstance(criterion, Grade)
            assert [label.value for label in criterion.labels] == [1, 2, 3, 4, 5]
            titles = [label.title for label in criterion.labels]
            assert titles == ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]

    def test_it_shows_the_answer_with_references_and_scores(self) -> None:
        assert self.protocol.shown_at(0) == {
            Material.QUESTION,
            Material.REFERENCES,
            Material.ANSWER,
            Material.SCORES,
        }
        assert self.protocol.about_scores
