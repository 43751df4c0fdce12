from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.asking.submissions import MAX_COMMENT, GivenLabel, check_step
from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.number import Number
from annotators.criteria.order import Order
from annotators.criteria.several import Several
from annotators.criteria.text import Text
from annotators.errors import InvalidInput
from annotators.items.targets import TargetKind, Units
from annotators.protocols import PROTOCOLS, Material, Protocol, Step

QA = PROTOCOLS.get("qa_verification")
AMBIGUITY = PROTOCOLS.get("ambiguity")
TWO_UNITS = Units(evidence=("gold-1", "distractor-2"))

STEP_ONE = [GivenLabel("self_contained", value="true"), GivenLabel("human_like", value="false")]
STEP_TWO = [
    GivenLabel("question_factual", value="factual"),
    GivenLabel("answer_factual", value="factual"),
    GivenLabel("complete", value="incomplete"),
    GivenLabel("grounding", "evidence:gold-1", "required"),
    GivenLabel("grounding", "evidence:distractor-2", "not_required"),
]


def refusal(given_labels: list[Any], step: int = 1, protocol: Protocol = QA, units: Units = TWO_UNITS) -> str:
    with pytest.raises(InvalidInput) as caught:
        check_step(protocol, step, units, given_labels)
    return str(caught.value)


def changed(**fields: Any) -> list[GivenLabel]:
    """Step two with its first label changed."""
    return [replace(STEP_TWO[0], **fields), *STEP_TWO[1:]]


class TestACompleteStep:
    def test_is_returned_in_the_order_of_its_criteria(self) -> None:
        assert check_step(QA, 0, TWO_UNITS, STEP_ONE[::-1]) == STEP_ONE
        assert check_step(QA, 1, TWO_UNITS, STEP_TWO[::-1], STEP_ONE) == STEP_TWO

    def test_has_its_values_normalised(self) -> None:
        given_labels = [GivenLabel("self_contained", value=True), GivenLabel("human_like", value="true", comment="  ")]
        assert [(label.value, label.comment) for label in check_step(QA, 0, TWO_UNITS, given_labels)] == [
            ("true", None),
            ("true", None),
        ]

    def test_asks_nothing_about_parts_that_the_item_does_not_have(self) -> None:
        assert len(check_step(QA, 1, Units(), STEP_TWO[:3])) == 3

    def test_may_say_that_something_cannot_be_judged(self) -> None:
        checked = check_step(QA, 1, TWO_UNITS, changed(value=None, cannot_judge=True, reason=" page 4 is blank "))
        assert checked[0] == GivenLabel("question_factual", cannot_judge=True, reason="page 4 is blank")


class TestWhatIsRefused:
    def test_a_missing_label_is_named_by_title_and_place_without_the_key(self) -> None:
        assert refusal(STEP_TWO[:-1]) == (
            "'Evidence needed for this answer' for E2 has no label. Give one, or say that you cannot judge."
        )
        assert refusal(STEP_TWO[1:]).startswith("'Question is factual' has no label.")

    def test_keys_of_the_item_do_not_appear_in_any_message(self) -> None:
        wrong = [
            [*STEP_TWO, STEP_TWO[3]],
            [*STEP_TWO[:3], replace(STEP_TWO[3], value="maybe"), STEP_TWO[4]],
            [*STEP_TWO, GivenLabel("complete", "evidence:gold-1", "complete")],
            [*STEP_TWO[:3], replace(STEP_TWO[3], value=None), STEP_TWO[4]],
        ]
        for wrong_label in wrong:
            assert "E1" in refusal(wrong_label)
            assert "gold" not in refusal(wrong_label)

    def test_a_criterion_of_another_step(self) -> None:
        assert "belongs to step 'Question alone', not to 'With answer and evidence'" in refusal([*STEP_TWO, *STEP_ONE])

    def test_an_unknown_criterion(self) -> None:
        message = refusal([*STEP_TWO, GivenLabel("mood", value="good")])
        assert "no criterion 'mood' in protocol 'qa_verification'" in message

    @pytest.mark.parametrize(
        "target", ["item", "evidence:e9", "claim:c1", "page:a.pdf:1", "", "evidence:gold-1|hop:h1"]
    )
    def test_a_target_that_the_item_does_not_have(self, target: str) -> None:
        assert "which this item does not have" in refusal([*STEP_TWO, GivenLabel("grounding", target, "required")])

    def test_a_label_given_twice(self) -> None:
        assert refusal([*STEP_TWO, STEP_TWO[0]]) == "'Question is factual' has two labels. Send one."

    def test_a_value_of_another_criterion(self) -> None:
        assert "'complete' is not a label of criterion 'question_factual'" in refusal(changed(value="complete"))

    def test_cannot_judge_without_a_reason_or_with_a_value(self) -> None:
        assert refusal(changed(value=None, cannot_judge=True)) == "'Question is factual': say why you cannot judge."
        assert "say why" in refusal(changed(value=None, cannot_judge=True, reason="  "))
        assert "Take one of the two" in refusal(changed(cannot_judge=True, reason="blank page"))

    def test_a_reason_without_cannot_judge(self) -> None:
        assert "Move it to the comment" in refusal(changed(reason="because"))

    def test_a_comment_that_is_too_long(self) -> None:
        assert check_step(QA, 1, TWO_UNITS, changed(comment="x" * MAX_COMMENT))
        assert "has 10001 characters; at most 10000 are kept" in refusal(changed(comment="x" * (MAX_COMMENT + 1)))

    @pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
    def test_a_text_that_no_database_keeps(self, text: str) -> None:
        assert "cannot be stored" in refusal(changed(comment=text))
        assert "cannot be stored" in refusal(changed(value=text))

    @pytest.mark.parametrize(
        "fields",
        [
            {"criterion": 1},
            {"criterion": None},
            {"target": ["item"]},
            {"value": {"a": 1}},
            {"value": ["factual"]},
            {"value": 1},
            {"cannot_judge": "yes"},
            {"cannot_judge": 1},
            {"comment": 3},
            {"reason": {}},
            {"rationale": "page 4"},
            {"rationale": {"page": 4}},
        ],
    )
    def test_values_of_a_wrong_type(self, fields: dict[str, Any]) -> None:
        assert refusal(changed(**fields))

    @pytest.mark.parametrize("step", [-1, 2, 10**6])
    def test_a_step_that_the_protocol_does_not_have(self, step: int) -> None:
        assert "protocol 'qa_verification' has 2" in refusal([], step)


class TestConditions:
    def test_a_label_is_required_when_its_condition_holds(self) -> None:
        assert "'What is missing' has no label" in refusal(
            [GivenLabel("ambiguity", value="ambiguous")], 0, AMBIGUITY, Units()
        )
        given_labels = [GivenLabel("ambiguity", value="ambiguous"), GivenLabel("reason", value="no year")]
        assert check_step(AMBIGUITY, 0, Units(), given_labels) == given_labels

    def test_a_label_is_refused_when_its_condition_does_not_hold(self) -> None:
        given_labels = [GivenLabel("reason", value="no year"), GivenLabel("ambiguity", value="clear")]
        assert refusal(given_labels, 0, AMBIGUITY, Units()) == (
            "'What is missing' has a label, but is asked only when 'The question is' is ambiguous. Clear it."
        )
        assert check_step(AMBIGUITY, 0, Units(), given_labels[1:]) == given_labels[1:]

    def test_what_cannot_be_judged_fulfils_no_condition(self) -> None:
        unsure = GivenLabel("ambiguity", cannot_judge=True, reason="no such language")
        assert check_step(AMBIGUITY, 0, Units(), [unsure]) == [unsure]

    def test_labels_of_earlier_steps_count_by_item_and_by_the_same_target(self) -> None:
        shown = [Material.QUESTION, Material.EVIDENCE]
        yes_no = [Label(value="yes"), Label(value="no")]
        each = TargetKind.EVIDENCE
        protocol = Protocol(
            name="staged",
            title="Staged",
            guidelines="Decide.",
            criteria=[
                Choice(name="whole", title="Whole", labels=yes_no),
                Several(name="parts", title="Parts", labels=yes_no, target=each),
                Number(
                    name="by_whole", title="By whole", target=each, when=Condition(criterion="whole", values=["yes"])
                ),
                Text(name="by_part", title="By part", target=each, when=Condition(criterion="parts", values=["no"])),
            ],
            steps=[
                Step(name="one", title="One", shows=shown, criteria=["whole", "parts"]),
                Step(name="two", title="Two", shows=[], criteria=["by_whole", "by_part"]),
            ],
        )
        units = Units(evidence=("a", "b"))
        earlier = [
            GivenLabel("whole", value="no"),
            GivenLabel("parts", "evidence:a", ["yes", "no"]),
            GivenLabel("parts", "evidence:b", []),
        ]
        text = GivenLabel("by_part", "evidence:a", "here")
        assert check_step(protocol, 1, units, [text], earlier) == [text]
        earlier[0] = GivenLabel("whole", value="yes")
        numbers = [GivenLabel("by_whole", f"evidence:{key}", 3) for key in "ab"]
        assert check_step(protocol, 1, units, [text, *numbers], earlier) == [*numbers, text]


class TestOptionalLabels:
    protocol = Protocol(
        name="notes",
        title="Notes",
        guidelines="Write.",
        criteria=[Text(name="note", title="Note", required=False)],
        steps=[Step(name="all", title="All", shows=[Material.QUESTION], criteria=["note"])],
    )

    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_nothing_said_is_nothing_stored(self, value: str | None) -> None:
        assert check_step(self.protocol, 0, Units(), []) == []
        assert check_step(self.protocol, 0, Units(), [GivenLabel("note", value=value)]) == []

    def test_a_comment_is_not_dropped_silently(self) -> None:
        assert "has a comment but no label" in refusal([GivenLabel("note", comment="hm")], 0, self.protocol)


class TestPagesAndImages:
    protocol = Protocol(
        name="parts",
        title="Parts",
        guidelines="Decide.",
        criteria=[
            Choice(
                name="page",
                title="Page",
                target=TargetKind.PAGE,
                per_hop=True,
                labels=[Label(value="evidence"), Label(value="not_evidence")],
            ),
            Order(name="order", title="Order"),
        ],
        steps=[Step(name="all", title="All", shows=[Material.DOCUMENTS, Material.IMAGES], criteria=["page", "order"])],
    )
    units = Units(pages=(("a b.pdf", 1), ("a b.pdf", 2)), images=("i1", "i2"), hops=("h1", "h2"))

    def labels(self, order: list[Any]) -> list[GivenLabel]:
        targets = self.units.targets(TargetKind.PAGE, per_hop=True)
        return [*(GivenLabel("page", target, "evidence") for target in targets), GivenLabel("order", value=order)]

    def test_a_page_is_labelled_once_for_each_hop(self) -> None:
        checked = check_step(self.protocol, 0, self.units, self.labels(["i2", "i1"]))
        assert [label.target for label in checked[:-1]] == [
            "page:a b.pdf:1|hop:h1",
            "page:a b.pdf:2|hop:h1",
            "page:a b.pdf:1|hop:h2",
            "page:a b.pdf:2|hop:h2",
        ]

    @pytest.mark.parametrize("order", [["i1"], ["i1", "i3"], ["i1", "i2", "i3"], ["i1", "i1"], "i1", [1, 2]])
    def test_an_order_is_of_all_images(self, order: list[Any]) -> None:
        assert refusal(self.labels(order), 0, self.protocol, self.units)


class TestRationale:
    @pytest.mark.parametrize(
        "place",
        [
            {"document": "report.pdf", "page": 4, "box": [0, 0.1, 0.5, 1]},
            {"document": 12, "page": 1, "box": [0.25, 0.25, 0.75, 0.75], "text": "69 GWh"},
            {"document": "report.pdf", "page": 4, "text": "69 GWh"},
            {
                "document": "report.pdf",
                "page": 4,
                "boxes": [[0.5, 0.1, 0.9, 0.2], [0.1, 0.2, 0.4, 0.3]],
                "text": "69\nGWh",
            },
            {"text": "69 GWh"},
        ],
    )
    def test_is_a_box_or_a_text(self, place: dict[str, Any]) -> None:
        checked = check_step(QA, 1, TWO_UNITS, changed(rationale=[place, place]))
        assert checked[0].rationale == [place, place]

    def test_an_empty_one_is_none(self) -> None:
        assert check_step(QA, 1, TWO_UNITS, changed(rationale=[]))[0].rationale is None

    @pytest.mark.parametrize(
        "place",
        [
            {},
            "page 4",
            None,
            {"text": " "},
            {"text": 5},
            {"document": "a", "page": 1},
            {"page": 1, "box": [0, 0, 1, 1]},
            {"document": "a", "box": [0, 0, 1, 1]},
            {"document": "", "page": 1, "box": [0, 0, 1, 1]},
            {"document": True, "page": 1, "box": [0, 0, 1, 1]},
            {"document": "a", "page": 0, "box": [0, 0, 1, 1]},
            {"document": "a", "page": 1.5, "box": [0, 0, 1, 1]},
            {"document": "a", "page": True, "box": [0, 0, 1, 1]},
            {"document": "a", "page": 1, "box": [0, 0, 1]},
            {"document": "a", "page": 1, "box": [0, 0, 1, 1.1]},
            {"document": "a", "page": 1, "box": [0.5, 0, 0.5, 1]},
            {"document": "a", "page": 1, "box": [float("nan"), 0, 1, 1]},
            {"document": "a", "page": 1, "box": [False, False, True, True]},
            {"document": "a", "page": 1, "box": "all"},
            {"document": "a", "page": 1, "text": "b", "boxes": []},
            {"document": "a", "page": 1, "text": "b", "boxes": [[0, 0, 1, 1]] * 201},
            {"document": "a", "page": 1, "text": "b", "boxes": [[0, 0, 1, 1.1]]},
            {"document": "a", "page": 1, "text": "b", "boxes": [0, 0, 1, 1]},
            {"page": 1, "text": "b", "boxes": [[0, 0, 1, 1]]},
            {"text": "a", "role": "gold"},
            {"text": "a\x00"},
        ],
    )
    def test_other_shapes_are_refused(self, place: Any) -> None:
        assert "place 1 of the rationale" in refusal(changed(rationale=[place]))

    def test_their_number_is_limited(self) -> None:
        assert "at most 100 places" in refusal(changed(rationale=[{"text": "a"}] * 101))


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["factual", "item"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["document", "page", "box", "text", "x"]), inner, max_size=4)
    ),
    max_leaves=6,
)
names = ["criterion", "target", "value", "cannot_judge", "reason", "comment", "rationale"]
hostile = st.fixed_dictionaries(
    {"criterion": st.sampled_from([criterion.name for criterion in QA.criteria]) | st.text(max_size=5)},
    optional=dict.fromkeys(names[1:], anything),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(hostile, max_size=3), st.integers(-1, 2))
def test_hostile_json_is_refused_and_never_breaks_anything(given_labels: list[dict[str, Any]], step: int) -> None:
    good = STEP_ONE if step == 0 else STEP_TWO
    try:
        labels = [GivenLabel(**label) for label in given_labels]
        replaced = {
            (label.criterion, label.target)
            for label in labels
            if isinstance(label.target, str) and isinstance(label.criterion, str)
        }
        rest = [label for label in good if (label.criterion, label.target) not in replaced]
        checked = check_step(QA, step, TWO_UNITS, [*labels, *rest])
    except InvalidInput:
        return
    assert len(checked) == len(good)


class TestConsequences:
    """UniDoc-Bench, C.2: nothing that is said of what is not there has support."""

    protocol = Protocol.model_validate({
        **QA.model_dump(),
        "consequences": [{
            "when": {"criterion": "question_factual", "values": ["not_factual"]},
            "then": {"criterion": "answer_factual", "values": ["not_factual"]},
            "says": "Nothing supports it.",
        }],
    })  # fmt: skip

    def step(self, question: str, answer: str | None) -> list[GivenLabel]:
        said = GivenLabel("answer_factual", value=answer) if answer else None
        unsure = GivenLabel("answer_factual", cannot_judge=True, reason="blurred")
        return [
            GivenLabel("question_factual", value=question),
            said or unsure,
            GivenLabel("complete", value="complete"),
        ]

    def test_a_label_that_cannot_stand_beside_another_one_is_refused_with_a_sentence(self) -> None:
        assert refusal(self.step("not_factual", "factual"), 1, self.protocol, Units()) == (
            "“Answer is factual” can only be Not factual where “Question is factual” is Not factual. Nothing supports "
            "it. Change one of the two."
        )

    @pytest.mark.parametrize(
        ("question", "answer"),
        [("not_factual", "not_factual"), ("factual", "factual"), ("factual", "not_factual"), ("not_factual", None)],
    )
    def test_others_are_kept_as_they_are(self, question: str, answer: str | None) -> None:
        given = self.step(question, answer)
        assert check_step(self.protocol, 1, Units(), given) == given

    def test_what_was_committed_in_an_earlier_step_counts(self) -> None:
        protocol = Protocol.model_validate({
            **QA.model_dump(),
            "consequences": [{
                "when": {"criterion": "self_contained", "values": ["false"]},
                "then": {"criterion": "grounding", "values": ["not_required"]},
            }],
        })  # fmt: skip
        given = [*self.step("factual", "factual"), GivenLabel("grounding", "evidence:gold-1", "required")]
        units, earlier = Units(evidence=("gold-1",)), [GivenLabel("self_contained", value="false")]
        with pytest.raises(InvalidInput, match=r"only be Not required where .* is False\. Change .* \(E1\)$"):
            check_step(protocol, 1, units, given, earlier)
        earlier[0] = GivenLabel("self_contained", value="true")
        assert check_step(protocol, 1, units, given, earlier) == given

    def test_it_is_read_and_written_as_yaml_and_stored_only_where_it_is_used(self) -> None:
        assert protocol_from_yaml(protocol_to_yaml(self.protocol)) == self.protocol
        assert "consequences" not in AMBIGUITY.model_dump(mode="json")
        broken = protocol_to_yaml(self.protocol).replace("values: [not_factual]", "values: [untrue]", 1)
        with pytest.raises(
            InvalidInput, match=r"line \d+: a consequence names the value 'untrue' of 'question_factual'"
        ):
            protocol_from_yaml(broken, "mine.yaml")
