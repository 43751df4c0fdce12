"""All that is wrong with a protocol file is found at once, and nothing that is only wrong because of something else."""

from __future__ import annotations

import pytest

from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.errors import InvalidInput, Problem
from annotators.protocols import PROTOCOLS
from tests.conftest import ROOT

MISTAKES = [1, 2, 5, 6, 11, 14, 15, 16, 18, 24, 26, 31, 32, 37, 40, 45, 45, 46, 46, 47, 50, 52, 53, 54, 56]
"""The lines of the file that have something wrong, one entry a mistake."""


def problems(text: str) -> list[Problem]:
    with pytest.raises(InvalidInput) as caught:
        protocol_from_yaml(text, "mine.yaml")
    return caught.value.problems


def test_a_file_with_many_mistakes_gives_a_message_for_each() -> None:
    found = problems((ROOT / "tests" / "data" / "twenty_mistakes.yaml").read_text())
    assert [problem.line for problem in found] == MISTAKES
    assert all(problem.problem.endswith(".") and problem.remedy for problem in found)
    by_line = {problem.line: problem for problem in found}
    assert by_line[18].remedy.startswith("Known: choice, grade")
    assert by_line[45].remedy
    assert by_line[47] == Problem(47, "two steps are named 'all'.", "Rename one.")


@pytest.mark.parametrize("name", ["qa_verification", "metric_agreement_blind", "answer_grading"])
def test_one_mistake_in_a_built_in_protocol_gives_one_message(name: str) -> None:
    text = protocol_to_yaml(PROTOCOLS.get(name))
    for broken in (text.replace("summary:", "sumary:"), text.replace("kind: ", "kind: x", 1)):
        assert len(problems(broken)) == 1, broken[:300]


def test_a_criterion_of_an_unknown_kind_is_not_missed_by_the_steps_that_ask_it() -> None:
    text = protocol_to_yaml(PROTOCOLS.get("ambiguity")).replace("kind: choice", "kind: choise")
    [problem] = problems(text)
    assert "'choise'" in problem.problem


def test_built_in_protocols_export_and_come_back_the_same() -> None:
    for protocol in PROTOCOLS:
        assert protocol_from_yaml(protocol_to_yaml(protocol)).digest() == protocol.digest()
