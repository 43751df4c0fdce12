from __future__ import annotations

from annotators.criteria.grade import Grade
from annotators.protocols import PROTOCOLS, Material

PROTOCOL = PROTOCOLS.get("metric_agreement_blind")


def test_scores_come_after_the_blind_judgement_is_committed() -> None:
    assert PROTOCOL.shown_at(0) == {Material.QUESTION, Material.REFERENCES, Material.ANSWER}
    assert PROTOCOL.shown_at(1) - PROTOCOL.shown_at(0) == {Material.SCORES}
    assert [criterion.name for criterion in PROTOCOL.step_criteria(0)] == ["correctness", "abstention"]


def test_the_second_step_asks_what_metric_agreement_asks() -> None:
    other = PROTOCOLS.get("metric_agreement")
    assert PROTOCOL.step_criteria(1) == other.criteria
    assert PROTOCOL.about_scores


def test_correctness_is_graded_in_quarters() -> None:
    criterion = PROTOCOL.criterion("correctness")
    assert isinstance(criterion, Grade)
    assert [float(str(label.value)) for label in criterion.labels] == [0, 0.25, 0.5, 0.75, 1]
    assert criterion.check(0.25) == "0.25"
    assert criterion.check("1.0") == 1
