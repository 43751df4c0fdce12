"""Protocols of one question: the parts of QA verification, query review, grading, and ambiguity with an image."""

from __future__ import annotations

import pytest

from annotators.criteria.base import Only
from annotators.criteria.grade import Grade
from annotators.items.targets import ChosenBy
from annotators.protocols import PROTOCOLS, Material, Protocol

QUESTION = {Material.QUESTION}
SOURCES = {Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS}
PARTS = {
    "self_contained": (["self_contained"], QUESTION),
    "human_like": (["human_like"], QUESTION),
    "factuality": (["question_factual", "answer_factual"], SOURCES),
    "completeness": (["complete"], SOURCES),
    "grounding": (["grounding"], SOURCES),
}
HASHES = {
    "qa_verification": ({"version": 2}, "1404cadd9971a009daca005fc5b44e3ebe439f7146fc7e48d621c27302bf22a3"),
    "ambiguity": ({}, "1d4563ec72de0702102dfd536ca4e1456d488884fe49944afbb60793d42c6996"),
}
"""What an earlier version had in other words, and its hash."""


@pytest.mark.parametrize("name", PARTS)
def test_a_part_asks_what_the_whole_asks_and_shows_what_its_paper_shows(name: str) -> None:
    whole, part = PROTOCOLS.get("qa_verification"), PROTOCOLS.get(name)
    asked, shown = PARTS[name]
    assert [criterion.name for criterion in part.criteria] == asked
    assert part.criteria == [whole.criterion(criterion) for criterion in asked]
    assert part.shown_at(0) == shown
    assert part.overlap == 3


def test_the_parts_together_are_the_whole() -> None:
    asked = [criterion for criteria, _ in PARTS.values() for criterion in criteria]
    assert sorted(asked) == sorted(criterion.name for criterion in PROTOCOLS.get("qa_verification").criteria)


@pytest.mark.parametrize("name", HASHES)
def test_studies_of_older_protocols_keep_their_hashes(name: str) -> None:
    earlier, digest = HASHES[name]
    data = PROTOCOLS.get(name).model_dump()
    for criterion in data["criteria"]:
        criterion.pop("judged_by", None)
    protocol = Protocol.model_validate({**data, **earlier, "consequences": []})
    assert protocol.digest() == digest


def test_nothing_is_a_fact_about_a_question_that_is_none() -> None:
    for name in ("qa_verification", "factuality"):
        [rule] = PROTOCOLS.get(name).consequences
        assert (rule.when.values, rule.then.values) == (["not_factual"], ["not_factual"])
        assert (rule.when.criterion, rule.then.criterion) == ("question_factual", "answer_factual")


def test_guidelines_have_two_examples_of_each_label_and_rules_for_hard_cases() -> None:
    for name in (*PARTS, "query_review", "answer_grading", "ambiguity_with_image"):
        protocol = PROTOCOLS.get(name)
        labels = sum(len(criterion.label_list()) for criterion in protocol.criteria)
        assert protocol.guidelines.count('*"') >= 2 * labels, name
        assert "## Hard cases" in protocol.guidelines, name


def test_the_image_is_shown_with_the_question_and_nothing_of_the_answer() -> None:
    protocol = PROTOCOLS.get("ambiguity_with_image")
    assert protocol.shown_at(0) == {Material.QUESTION, Material.IMAGES}
    assert protocol.first_step_with_parts(Material.IMAGES, "question") == 0
    assert protocol.first_step_with_parts(Material.IMAGES, "answer") is None
    assert (
        protocol.criterion("ambiguity").label_list() == PROTOCOLS.get("ambiguity").criterion("ambiguity").label_list()
    )


def test_grades_that_lie_one_apart_settle() -> None:
    [grade] = PROTOCOLS.get("answer_grading").criteria
    assert isinstance(grade, Grade)
    assert (grade.agreed([7, 8]), grade.agreed([6, 8])) == (7, None)


def test_claims_against_all_evidence_may_choose_which_evidence_that_is() -> None:
    asked = PROTOCOLS.get("faithfulness")
    [criterion] = asked.criteria
    assert asked.evidence_choices(0) is None
    of_gold = criterion.model_copy(update={"only": Only(roles=["gold"])})
    choices = asked.model_copy(update={"criteria": [of_gold]}).evidence_choices(0)
    assert choices is not None
    [chosen] = choices
    assert chosen.roles == ("gold",)
    parts = {"evidence:e1": ChosenBy(role="gold"), "evidence:e2": ChosenBy(role="retrieved")}
    assert chosen.of_evidence(parts, parts) == ["evidence:e1"]
