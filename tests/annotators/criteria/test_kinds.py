from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from annotators.criteria import KINDS, Condition, Criterion, Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.material import Material
from annotators.criteria.number import Number
from annotators.criteria.order import Order
from annotators.criteria.place import Place
from annotators.criteria.several import Several
from annotators.criteria.spans import Spans
from annotators.criteria.text import Text
from annotators.errors import InvalidInput
from annotators.items.targets import ChosenBy, Units
from exports.cells import original, value_cell

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


class TestOrder:
    """Labels are listed by the scale, whatever was given most often."""

    def test_declared_labels_stand_as_they_are_declared(self) -> None:
        assert grade().in_order(["5", "1", "3"]) == ["1", "3", "5"]
        assert grade(labels=HALVES).in_order(["1", "0", "0.5"]) == ["0", "0.5", "1"]
        assert grade(labels=ONE_TO_FIVE[::-1]).in_order(["1", "5"]) == ["5", "1"], "the scale may go down"
        assert choice().in_order(["no", "yes"]) == ["yes", "no"]

    def test_numbers_stand_by_size_and_not_as_words(self) -> None:
        assert number().in_order(["100", "9", "-2", "0.5"]) == ["-2", "0.5", "9", "100"]

    def test_what_is_not_declared_comes_last_as_it_came(self) -> None:
        assert grade().in_order(["unsure", "4", "10", "9", "2"]) == ["2", "4", "9", "10", "unsure"]
        several = Several(name="problems", title="Problems", labels=YES_NO)
        assert several.in_order(['["no"]', '["yes", "no"]']) == ['["no"]', '["yes", "no"]']


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


class TestAsNumbers:
    def test_the_positive_label_is_the_one_that_is_said_else_the_accepted_ones_else_that_of_two_which_says_yes(
        self,
    ) -> None:
        three = [Label(value=value) for value in ("good", "fair", "bad")]
        for criterion, positive, numbers in (
            (choice(positive="no"), "no", [0, 1]),
            (choice(positive="no", accept=["yes"]), "no", [0, 1]),
            (choice(accept=["no"]), "no", [0, 1]),
            (choice(), "yes", [1, 0]),
            (choice(labels=three, positive="fair"), "fair", [0, 1, 0]),
            (choice(labels=three, accept=["good", "fair"]), "good or fair", [1, 1, 0]),
        ):
            found = criterion.as_numbers()
            assert (found.binary, found.scale, found.positive) == (True, (0.0, 1.0), positive)
            assert [found.number(label.value) for label in criterion.labels] == numbers
        assert choice().as_numbers({"no"}).positive == "no"  # there is a metric of this name
        assert choice(positive="yes").as_numbers({"no"}).positive == "yes"
        reason = choice(labels=three).as_numbers().reason
        assert reason == "3 labels without order cannot be set against a number"

    def test_a_positive_label_is_one_of_the_labels_and_older_choices_say_nothing_of_it(self) -> None:
        with pytest.raises(ValidationError, match="positive is 'maybe', which is none of its labels: yes, no"):
            choice(positive="maybe")
        assert "positive" not in choice().model_dump()
        assert choice(positive=True, labels=[Label(value=True), Label(value=False)]).model_dump()["positive"] == "true"
        assert "positive" not in choice(positive="yes").for_browser()

    def test_ordered_labels_are_their_numbers_or_else_ranks_and_numbers_themselves(self) -> None:
        assert [grade(labels=HALVES).as_numbers().number(value) for value in ("0", "0.5", 1)] == [0, 0.5, 1]
        words = grade(labels=[Label(value="low"), Label(value="high")]).as_numbers()
        assert (words.number("high"), words.number("other"), words.scale) == (1, None, (0, 1))
        assert grade(labels=[Label(value=3)]).as_numbers().scale is None
        found = number(minimum=-1, maximum=1, step=0.5).as_numbers()
        assert (found.number(0.5), found.scale, found.of) == (0.5, (-1, 1), None)

    def test_others_cannot_be_set_against_numbers_and_say_so(self) -> None:
        for criterion in (
            Several(name="s", title="S", labels=YES_NO),
            Order(name="o", title="O"),
            Text(name="t", title="T"),
        ):
            found = criterion.as_numbers()
            assert found.number("1") is None
            assert found.reason == f"labels of the scale {criterion.scale} cannot be set against a number"


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
        problems = Several(name="problems", title="Problems", labels=[Label(value=letter) for letter in "abc"])
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


class TestWhatIsAskedOfThem:
    """What code outside the folder asks of a criterion instead of its kind."""

    THREE = Units(images=("i1", "i2", "i3"))

    def test_an_order_is_one_of_all_images_once_the_item_is_at_hand(self) -> None:
        order = Order(name="order", title="Order")
        assert order.check(["i2", "i1", "i3"], self.THREE) == ["i2", "i1", "i3"]
        for value in (["i1", "i2"], ["i1", "i2", "i4"], ["i1", "i2", "i3", "i4"]):
            assert order.check(value) == value
            with pytest.raises(InvalidInput, match="this is no order of the item's 3 images"):
                order.check(value, self.THREE)

    def test_an_order_is_one_of_all_images_but_those_of_the_question(self) -> None:
        units = Units(images=("i1", "q", "i2"), parts={"image:q": ChosenBy(of="question")})
        assert Order(name="order", title="Order").check(["i2", "i1"], units) == ["i2", "i1"]
        with pytest.raises(InvalidInput, match="this is no order of the item's 2 images"):
            Order(name="order", title="Order").check(["i2", "i1", "q"], units)

    def test_an_order_has_other_keys_on_the_wire_and_others_name_no_parts_of_the_item(self) -> None:
        order, names = Order(name="order", title="Order"), {"image:a": "image:I1", "image:b": "image:I2"}
        assert order.rekeyed(["b", "hidden", "a"], names.get) == ["I2", "I1"]
        back = {wire: own for own, wire in names.items()}
        assert order.rekeyed(["I2", "I9", 4], lambda target: back.get(target, target)) == ["b", "I9", 4]
        for value in (None, "I1", []):
            assert order.rekeyed(value, names.get) == value
        for criterion, _ in WRITTEN.values():
            if criterion.kind != "order":
                assert criterion.rekeyed(["a"], names.get) == ["a"]

    def test_a_criterion_needs_what_its_target_its_score_and_its_kind_need(self) -> None:
        assert choice().needs() == set()
        assert choice(target="claim_evidence").needs() == {Material.CLAIMS, Material.EVIDENCE}
        assert grade(score="rouge_l", target="page").needs() == {Material.SCORES, Material.DOCUMENTS}
        assert Order(name="order", title="Order").needs() == {Material.IMAGES}

    def test_what_people_said_agrees_when_it_is_the_same_or_near_enough_on_an_ordered_scale(self) -> None:
        assert choice(tolerance=9).agreed(["yes", "no"]) is None
        assert choice().agreed(["yes", "yes"]) == "yes"
        assert grade(tolerance=1).agreed([4, 3, 4]) == 4
        assert grade(tolerance=1).agreed([4, 3]) == 3  # the lower of the two in the middle
        assert grade(tolerance=1).agreed([4, 2]) is None
        assert grade(labels=HALVES, tolerance=1).agreed(["0.5", 1]) is None  # words have no distance
        assert number(tolerance=0.5, step=0.5).agreed([1.5, 2]) == 1.5
        assert Several(name="s", title="S", labels=YES_NO).agreed([["yes"], ["yes"]]) == ["yes"]

    def test_scales_of_agreement_and_the_labels_that_are_declared_on_them(self) -> None:
        found = {
            kind: (written.measured_scale, written.compared, written.stored_labels())
            for kind, (written, _) in WRITTEN.items()
        }
        assert found == {
            "choice": ("nominal", True, ["yes", "no"]),
            "grade": ("ordinal", True, [1, 2, 3, 4, 5]),
            "number": ("interval", True, []),
            "several": ("set", True, []),
            "order": ("ranking", True, []),
            "place": ("nominal", True, []),
            "spans": ("spans", True, []),
            "text": ("text", False, []),
        }

    def test_what_is_given_is_said_in_words(self) -> None:
        assert number(maximum=1, step=0.25).in_words() == "a number from 0 to 1 in steps of 0.25"
        assert Text(name="t", title="T", max_words=30).in_words() == "at most 30 words of the annotator's own"
        assert Text(name="t", title="T").in_words() == "words of the annotator's own"
        assert choice().in_words() == "one of these labels, without order"

    def test_the_browser_is_told_nothing_of_what_is_made_of_labels(self) -> None:
        told = grade(accept=[5], tolerance=1, score="rouge_l", rest=3).for_browser()
        assert not {"accept", "tolerance", "score"} & set(told)
        assert (told["kind"], told["scale"], told["rest"]) == ("grade", "ordinal", 3)
        assert told["labels"][0] == {"value": 1, "title": "1", "key": "1", "definition": ""}


WRITTEN: dict[str, tuple[Criterion, st.SearchStrategy[Any]]] = {
    "choice": (choice(), st.sampled_from(["yes", "no"])),
    "grade": (grade(), st.sampled_from([1, 2, 3, 4, 5])),
    "number": (number(minimum=-1, maximum=1, step=0.01), st.integers(-100, 100).map(lambda n: n / 100)),
    "several": (
        Several(name="s", title="S", labels=[Label(value="ä b"), Label(value='"')]),
        st.lists(st.sampled_from(["ä b", '"'])),
    ),
    "order": (Order(name="o", title="O"), st.lists(st.text(min_size=1), unique=True)),
    "place": (Place(name="p", title="P"), st.integers(0, 20).map(lambda n: f"block:{n}" if n else "nowhere")),
    "spans": (
        Spans(name="m", title="M", labels=[Label(value="ä b"), Label(value='"')]),
        st.lists(st.tuples(st.text(min_size=1).filter(str.strip), st.sampled_from(["ä b", '"']))).map(
            lambda parts: [
                {"start": 1000 * place, "end": 1000 * place + len(text), "label": label, "text": text}
                for place, (text, label) in enumerate(parts)
            ]
        ),
    ),
    "text": (Text(name="t", title="T"), st.text(min_size=1).filter(str.strip)),
}


@patient
@given(st.data(), st.sampled_from(sorted(WRITTEN)))
def test_what_is_written_to_a_table_is_read_back(data: st.DataObject, kind: str) -> None:
    criterion, values = WRITTEN[kind]
    value = criterion.check(data.draw(values))
    assert criterion.parse(original(value_cell(value))) == value


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


def test_a_value_is_said_by_the_titles_of_its_labels() -> None:
    labels = [Label(value="not_factual", title="Not factual"), Label(value="yes")]
    assert Choice(name="right", title="Right", labels=labels).said("not_factual") == "Not factual"
    assert Several(name="why", title="Why", labels=labels).said(["not_factual", "yes"]) == "Not factual, Yes"
    assert number().said(3) == "3"
    spans = Spans(name="marked", title="Marked", labels=labels)
    assert spans.said([]) == "none"
    assert spans.said([{"start": 0, "end": 3, "label": "yes", "text": "The"}]) == "“The” (Yes)"
