from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from annotators.asking.inferred_protocols import LabelColumn, criterion_name, infer_protocol
from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.criteria import Criterion
from annotators.criteria.number import Number
from annotators.errors import InvalidInput
from annotators.items.targets import TargetKind
from annotators.protocols import Material

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def inferred(values: list[str], scale: Any = "nominal", **fields: Any) -> Criterion:
    return infer_protocol("table", [LabelColumn("right", values, scale, **fields)]).criteria[0]


def labels(criterion: Criterion) -> list[str | int]:
    return [label.value for label in criterion.label_list()]


class TestScales:
    def test_nominal_values_become_the_labels_of_a_choice(self) -> None:
        found = inferred(["yes", "no", "yes ", "Maybe"])
        assert (found.kind, labels(found)) == ("choice", ["Maybe", "no", "yes"])

    def test_nominal_numbers_are_ordered_by_value(self) -> None:
        assert labels(inferred(["10", "2", "-1"])) == [-1, 2, 10]

    def test_json_arrays_become_several_labels(self) -> None:
        found = inferred(['["b", "a"]', "[]", '["c"]'])
        assert (found.kind, labels(found)) == ("several", ["a", "b", "c"])
        assert found.parse('["b", "a"]') == ["a", "b"]

    @pytest.mark.parametrize(
        ("values", "labels"),
        [(["[]"], ["other", "another"]), (['["old"]', "[]"], ["old", "other"]), (['["other"]'], ["other", "another"])],
    )
    def test_sets_of_fewer_than_two_labels_have_another_beside_them(self, values: list[str], labels: list[str]) -> None:
        [criterion] = infer_protocol("t", [LabelColumn("tags", values)]).criteria
        assert [label.value for label in criterion.label_list()] == labels
        assert [criterion.parse(value) for value in values]

    def test_ordinal_values_become_grades_in_numerical_order(self) -> None:
        found = inferred(["10", "2", "-2", "2.0", "0.50"], "ordinal")
        assert (found.kind, labels(found)) == ("grade", [-2, "0.5", 2, 10])
        assert [found.parse(text) for text in ("-2.0", "0.50", "10")] == [-2, "0.5", 10]

    @pytest.mark.parametrize(
        ("values", "low", "high", "step"),
        [
            (["0", "10", "4"], 0, 10, 2),
            (["1", "4.5"], 1, 4.5, 3.5),
            (["0.25", "1", "0.5"], 0.25, 1, 0.25),
            (["-0.1", "0.2"], -0.1, 0.2, 0.3),
            (["0.333", "1"], 0.333, 1, 0.667),
            (["0.333", "0.5", "1"], 0.333, 1, 0.001),
            (["7", "7.0"], 7, 7, 1),
            (["1e3", "1.5e3"], 1000, 1500, 500),
        ],
    )
    def test_interval_values_become_a_range_with_the_largest_step_that_fits(
        self, values: list[str], low: float, high: float, step: float
    ) -> None:
        found = inferred(values, "interval")
        assert isinstance(found, Number)
        assert (found.minimum, found.maximum, found.step) == (low, high, pytest.approx(step))
        for value in values:
            found.parse(value)

    def test_one_value_is_enough(self) -> None:
        assert labels(inferred(["yes"])) == ["yes"]
        assert labels(inferred(["3"], "ordinal")) == [3]


class TestTheProtocol:
    def test_it_shows_what_its_targets_need(self) -> None:
        protocol = infer_protocol(
            "My table (2024)",
            [
                LabelColumn("Answer correctness", ["1", "2"], "ordinal"),
                LabelColumn("verdict", ["entailment", "neutral"], target=TargetKind.CLAIM_EVIDENCE),
                LabelColumn("is evidence", ["true", "false"], target=TargetKind.PAGE, per_hop=True),
            ],
            overlap=2,
        )
        assert (protocol.name, protocol.title, protocol.overlap) == ("my_table_2024", "My table (2024)", 2)
        assert [(criterion.name, criterion.title) for criterion in protocol.criteria] == [
            ("answer_correctness", "Answer correctness"),
            ("verdict", "Verdict"),
            ("is_evidence", "Is evidence"),
        ]
        assert protocol.criterion("is_evidence").per_hop
        assert protocol.shown_at(0) == {
            Material.QUESTION,
            Material.ANSWER,
            Material.CLAIMS,
            Material.EVIDENCE,
            Material.DOCUMENTS,
        }

    @pytest.mark.parametrize(
        ("text", "name"),
        [("Correctness (1-5)", "correctness_1_5"), ("2nd look", "c_2nd_look"), ("tone", "tone"), ("été", "t")],
    )
    def test_names_are_made_of_titles(self, text: str, name: str) -> None:
        assert criterion_name(text) == name


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("values", "scale", "message"),
        [
            (["low", "high"], "ordinal", "'high' is not a number and the order of words is not in the table"),
            (["1", "n/a"], "interval", "'n/a' is not a number. Correct the table, or read it as nominal"),
            (["1", "inf"], "interval", "'inf' is not a number"),
            (["", " "], "nominal", "has no value in the table"),
            ([f"text {number}" for number in range(201)], "nominal", "has 201 different values"),
            (["ok", "bad\x1b[31m"], "nominal", "the value 'bad\\x1b[31m' has the character U+001B, which is not seen"),
            (["ok", "bad\ufffe"], "nominal", "has the character U+FFFE"),
            (["1"], "ratio", "'ratio' is not a scale that can be inferred"),
        ],
    )
    def test_values_that_do_not_fit_the_scale(self, values: list[str], scale: str, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            inferred(values, scale)
        assert message in str(caught.value)

    def test_names_that_become_the_same(self) -> None:
        columns = [LabelColumn("Is it right?", ["a", "b"]), LabelColumn("is it right", ["a", "b"])]
        with pytest.raises(InvalidInput, match="'Is it right\\?' and 'is it right' would both be named 'is_it_right'"):
            infer_protocol("t", columns)

    def test_a_name_without_letters(self) -> None:
        with pytest.raises(InvalidInput, match="cannot name a criterion"):
            criterion_name("正しい")

    def test_no_columns(self) -> None:
        with pytest.raises(InvalidInput, match="no labels to infer"):
            infer_protocol("t", [])


@patient
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-10, 10), min_size=1, max_size=6))
@example([0.0, 0.5, 2.2250738585072014e-308])  # their common step is finer than any number
def test_every_number_in_the_data_is_a_value_of_the_inferred_criterion(numbers: list[float]) -> None:
    texts = [repr(number) for number in numbers]
    interval, ordinal = inferred(texts, "interval"), inferred(texts, "ordinal")
    for text in texts:
        assert float(str(interval.parse(text))) == float(text)
        assert float(str(ordinal.parse(text))) == float(text)


_SEEN = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff") | st.sampled_from("\t\n\r")


@patient
@given(st.lists(st.text(_SEEN, min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_every_word_in_the_data_is_a_label_of_the_inferred_criterion(words: list[str]) -> None:
    criterion = inferred(words)
    for word in words:
        criterion.parse(word.strip())


@pytest.mark.parametrize(("edited", "falls"), [("answer", ["right"]), ("evidence", ["right"]), ("category", [])])
def test_of_labels_made_elsewhere_none_stands_when_an_item_is_edited(edited: str, falls: list[str]) -> None:
    assert infer_protocol("table", [LabelColumn("right", ["yes", "no"])]).fallen([edited]) == falls


def test_an_inferred_protocol_can_be_written_and_changed() -> None:
    protocol = infer_protocol("t", [LabelColumn("a", ["1", "0.5"], "ordinal"), LabelColumn("b", ["0.1"], "interval")])
    assert protocol_from_yaml(protocol_to_yaml(protocol)) == protocol


def test_a_whole_number_above_a_million_keeps_every_digit() -> None:
    assert inferred(["1000001.0", "2"], "ordinal").parse("1000001.0") == 1_000_001
