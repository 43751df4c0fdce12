from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from annotators.criteria.kinds import KINDS, Choice, Condition, Criterion, Grade, Label, Number, Order, Several, Text
from annotators.errors import InvalidInput

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

YES_NO = [Label(value="yes"), Label(value="no")]
ONE_TO_FIVE = [Label(value=number) for number in range(1, 6)]
HALVES = [Label(value="0"), Label(value="0.5"), Label(value="1")]


def choice(**changes: Any) -> Choice:
    return Choice(**{"name": "right", "title": "Right", "labels": YES_NO, **changes})


def grade(**changes: Any) -> Grade:
    return Grade(**{"name": "tone", "title": "Tone", "labels": ONE_TO_FIVE, **changes})


def number(**changes: Any) -> Number:
    return Number(**{"name": "score", "title": "Score", **changes})


class TestLabels:
    def test_truth_values_of_json_and_yaml_are_words(self) -> None:
        assert [Label.model_validate({"value": value}).value for value in (True, False)] == ["true", "false"]
        assert Condition.model_validate({"criterion": "a", "values": [True]}).values == ["true"]
        assert choice(labels=[Label(value="true"), Label(value="false")], accept=[True]).accept == ["true"]

    def test_whole_numbers_stay_numbers_and_others_become_words(self) -> None:
        assert [Label.model_validate({"value": value}).value for value in (3, 3.0, 0.5, "3")] == [3, 3, "0.5", "3"]

    def test_keys_and_titles_are_filled_in_by_position(self) -> None:
        labels = choice(labels=[Label(value="not_required"), Label(value="b", key="q", title="Bee")]).label_list()
        assert [(label.key, label.title) for label in labels] == [("1", "Not required"), ("q", "Bee")]

    def test_only_nine_labels_get_a_digit(self) -> None:
        keys = [label.key for label in choice(labels=[Label(value=f"v{n}") for n in range(11)]).label_list()]
        assert keys == [*"123456789", "", ""]


class TestChoice:
    def test_a_value_is_one_of_the_labels(self) -> None:
        assert choice().check("yes") == "yes"
        with pytest.raises(InvalidInput, match=r"'maybe' is not a label of criterion 'right'\. Allowed: yes, no"):
            choice().check("maybe")

    def test_true_is_the_label_true(self) -> None:
        assert choice(labels=[Label(value="true"), Label(value="false")]).check(True) == "true"

    def test_numbers_match_as_numbers_and_codes_as_texts(self) -> None:
        assert choice(labels=[Label(value=1), Label(value=2)]).check("1.0") == "1"
        codes = choice(labels=[Label(value="01"), Label(value="10")])
        assert codes.check("01") == "01"
        with pytest.raises(InvalidInput):
            codes.check("1")

    @pytest.mark.parametrize("value", [None, [], {"a": 1}, float("nan"), "x" * 10_000])
    def test_anything_else_is_refused_in_a_short_message(self, value: object) -> None:
        with pytest.raises(InvalidInput) as caught:
            choice().check(value)
        assert len(str(caught.value)) < 200


class TestGrade:
    def test_a_value_is_what_the_protocol_declares(self) -> None:
        assert [grade().check(value) for value in (4, "4", 4.0, "4.0", " 4 ")] == [4] * 5
        assert grade(labels=HALVES).check(0.5) == "0.5"
        assert grade(labels=HALVES).parse("0.50") == "0.5"

    @pytest.mark.parametrize("value", [0, 6, 4.5, "four", True, "1_0", float("inf")])
    def test_other_values_are_refused(self, value: object) -> None:
        with pytest.raises(InvalidInput, match="Allowed: 1, 2, 3, 4, 5"):
            grade().check(value)


class TestNumber:
    def test_a_value_is_in_the_range_and_on_a_step(self) -> None:
        assert number().check("7") == 7
        quarters = number(minimum=0, maximum=1, step=0.25)
        assert quarters.check(0.75) == 0.75
        for value in (0.3, 1.25, -0.25, "much", None, True, float("nan"), 10**400):
            with pytest.raises(InvalidInput, match=r"Allowed: 0 to 1 in steps of 0\.25"):
                quarters.check(value)

    def test_small_steps_over_a_large_range_are_no_obstacle(self) -> None:
        fine = number(minimum=0, maximum=1_000_000, step=1e-6)
        assert fine.check(123456.789012) == 123456.789012
        assert number(minimum=0, maximum=1e300, step=1e-300).check(3.7) == 3.7

    def test_the_range_is_not_empty(self) -> None:
        with pytest.raises(ValidationError, match="minimum 3 is above maximum 2; exchange them"):
            number(minimum=3, maximum=2)
        with pytest.raises(ValidationError):
            number(maximum=float("inf"))


class TestSeveralOrderText:
    def test_a_set_has_each_label_once_in_declared_order(self) -> None:
        problems = Several(name="problems", title="Problems", labels=[Label(value=one) for one in "abc"])
        assert problems.check(["c", "a", "c"]) == ["a", "c"]
        assert problems.check([]) == []
        assert problems.parse('["b"]') == ["b"]
        for value in ("a", ["d"], [["a"]], None):
            with pytest.raises(InvalidInput):
                problems.check(value)

    def test_an_order_has_each_key_once(self) -> None:
        order = Order(name="order", title="Order")
        assert order.check(["i2", "i1"]) == ["i2", "i1"]
        for value in (["i1", "i1"], "i1", [1]):
            with pytest.raises(InvalidInput):
                order.check(value)

    def test_a_text_is_not_empty_and_not_too_long(self) -> None:
        reason = Text(name="reason", title="Reason", max_words=3)
        assert reason.check("  no year given ") == "no year given"
        with pytest.raises(InvalidInput, match="has 4 words; at most 3 are allowed"):
            reason.check("no year is given")
        with pytest.raises(InvalidInput):
            reason.check("   ")


WRITTEN: dict[str, tuple[Criterion, st.SearchStrategy[Any]]] = {
    "choice": (choice(), st.sampled_from(["yes", "no"])),
    "grade": (grade(), st.sampled_from([1, 2, 3, 4, 5])),
    "number": (number(minimum=-1, maximum=1, step=0.01), st.integers(-100, 100).map(lambda n: n / 100)),
    "several": (
        Several(name="s", title="S", labels=[Label(value="ä b"), Label(value='"')]),
        st.lists(st.sampled_from(["ä b", '"'])),
    ),
    "order": (Order(name="o", title="O"), st.lists(st.text(min_size=1), unique=True)),
    "text": (Text(name="t", title="T"), st.text(min_size=1).filter(str.strip)),
}


@patient
@given(st.data(), st.sampled_from(sorted(WRITTEN)))
def test_what_is_written_to_a_table_is_read_back(data: st.DataObject, kind: str) -> None:
    criterion, values = WRITTEN[kind]
    value = criterion.check(data.draw(values))
    assert criterion.parse(criterion.write(value)) == value


def test_every_kind_has_a_case_above() -> None:
    assert set(WRITTEN) == set(KINDS)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@patient
@given(json_values, st.sampled_from(sorted(WRITTEN)))
def test_any_json_is_a_valid_value_or_refused(value: object, kind: str) -> None:
    criterion, _ = WRITTEN[kind]
    try:
        checked = criterion.check(value)
    except InvalidInput:
        return
    assert criterion.check(checked) == checked
    json.dumps(checked)
