from __future__ import annotations

from typing import get_args

from annotators.criteria.choice import Choice
from annotators.protocols import PROTOCOLS, Material
from annotators.scorers.shared.abstaining.training_sets import AnswerLabel

PROTOCOL = PROTOCOLS.get("abstention")


def test_question_and_answer_are_shown_and_nothing_else() -> None:
    assert PROTOCOL.shown_at(0) == {Material.QUESTION, Material.ANSWER}


def test_its_labels_are_those_the_classifier_learns() -> None:
    assert {str(label.value) for label in PROTOCOL.criterion("abstention").label_list()} == set(get_args(AnswerLabel))


def test_why_is_asked_of_abstentions_only() -> None:
    reason = PROTOCOL.criterion("abstention_reason")
    assert isinstance(reason, Choice)
    assert reason.required
    assert reason.when is not None
    assert (reason.when.criterion, reason.when.values) == ("abstention", ["abstention"])
    assert [label.value for label in reason.labels] == ["not_enough_information", "on_principle"]
