"""`spans`: marked stretches of the answer, their places, and how they settle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.asking.settling import Outcome, settle
from annotators.asking.submissions import GivenLabel, check_step
from annotators.criteria.labels import Label
from annotators.criteria.material import Material
from annotators.criteria.spans import FARTHEST, MOST, Spans
from annotators.errors import InvalidInput
from annotators.items.targets import TargetKind, Units
from annotators.protocols import Protocol

MARKED = Spans(name="marked", title="Marked", labels=[Label(value="bad"), Label(value="odd")])
ANSWER = "The pier is old. The mill turns."
UNITS = Units(answer=ANSWER)


def stretch(start: int, end: int, label: str = "bad", answer: str = ANSWER) -> dict[str, Any]:
    return {"start": start, "end": end, "label": label, "text": answer[start:end]}


def ends(value: Any) -> list[tuple[int, int, str]]:
    return [(stretch["start"], stretch["end"], stretch["label"]) for stretch in value]


def test_a_value_is_a_list_of_stretches_in_the_order_of_the_answer_or_none_at_all() -> None:
    assert MARKED.check([stretch(17, 25, "odd"), stretch(0, 8)], UNITS) == [stretch(0, 8), stretch(17, 25, "odd")]
    assert MARKED.check([], UNITS) == []
    assert MARKED.check([{"start": 4, "end": 8, "label": "bad"}], UNITS) == [stretch(4, 8)]


def test_stretches_have_no_space_at_their_ends_and_are_one_where_they_touch_with_one_label() -> None:
    assert MARKED.check([stretch(3, 9)], UNITS) == [stretch(4, 8)]
    assert MARKED.check([stretch(0, 4), stretch(4, 8), stretch(8, 11, "odd")], UNITS) == [
        stretch(0, 3), stretch(4, 8), stretch(9, 11, "odd"),
    ]  # fmt: skip
    assert MARKED.check([stretch(5, 8), stretch(4, 5)]) == [stretch(4, 8)]
    assert ends(MARKED.check([stretch(4, 6), stretch(6, 8, "odd")], UNITS)) == [(4, 6, "bad"), (6, 8, "odd")]


def test_places_count_unicode_code_points() -> None:
    answer = "𝄞 بُني 👩‍🔬 done"
    units = Units(answer=answer)
    assert answer[2:6] == "بُني"
    assert MARKED.check([{"start": 2, "end": 6, "label": "bad"}], units)[0]["text"] == "بُني"  # type: ignore[index]
    assert MARKED.check([{"start": 7, "end": 10, "label": "bad"}], units)[0]["text"] == "👩‍🔬"  # type: ignore[index]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("bad", "a list of at most 2,000 stretches"),
        ([["bad"]], "stretches with start, end, label and text"),
        ([{"start": 0, "end": 3}], "stretches with start, end, label and text"),
        ([stretch(0, 3) | {"who": "me"}], "stretches with start, end, label and text"),
        ([stretch(0, 3) | {"start": True}], "the start before the end"),
        ([stretch(0, 3) | {"end": 0}], "the start before the end"),
        ([stretch(0, 3) | {"start": -1}], "the start before the end"),
        ([stretch(0, 3) | {"end": FARTHEST + 1}], "the start before the end"),
        ([stretch(0, 3, "fine")], r"'fine' is not a label of criterion 'marked'\. Allowed: bad, odd"),
        ([stretch(0, 3) | {"label": ["bad"]}], "is not a label of criterion 'marked'"),
        ([stretch(0, 3) | {"text": "Th"}], "has 3 characters, but its text is 'Th'"),
        ([stretch(0, 3) | {"text": 3}], "its text is 3"),
        ([stretch(0, 8), stretch(4, 11, "odd")], "0–8 and 4–11 of 'marked' overlap"),
        ([stretch(0, 3), stretch(0, 3)], "overlap"),
        ([stretch(3, 4)], "nothing but space from 3 to 4"),
        ([stretch(0, 3)] * (MOST + 1), "a list of at most"),
    ],
)
def test_anything_else_is_refused(value: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        MARKED.check(value)


def test_with_the_item_at_hand_stretches_lie_in_its_answer_and_say_what_it_says() -> None:
    with pytest.raises(InvalidInput, match="the answer has 32 characters, so that there is no stretch from 30 to 40"):
        MARKED.check([{"start": 30, "end": 40, "label": "bad"}], UNITS)
    with pytest.raises(InvalidInput, match="from 0 to 3 the answer says 'The', not 'Tha'"):
        MARKED.check([stretch(0, 3) | {"text": "Tha"}], UNITS)


def test_a_step_takes_stretches_and_says_what_does_not_fit() -> None:
    found = protocol()
    [label] = check_step(found, 0, UNITS, [GivenLabel("marked", "item", [stretch(0, 4)])])
    assert label.value == [stretch(0, 3)]
    with pytest.raises(InvalidInput, match="'Marked': the answer has 32 characters"):
        check_step(found, 0, UNITS, [GivenLabel("marked", "item", [{"start": 1, "end": 99, "label": "bad"}])])


def protocol(**changes: Any) -> Protocol:
    fields = {
        "name": "marking",
        "title": "Marking",
        "guidelines": "What is wrong?",
        "criteria": [{"name": "marked", "kind": "spans", "title": "Marked", "labels": [{"value": "bad"}]}],
        "steps": [{"name": "one", "title": "One", "shows": ["answer"], "criteria": ["marked"]}],
    }
    return Protocol.model_validate(fields | changes)


def test_it_is_of_the_item_and_needs_the_answer() -> None:
    assert MARKED.needs() == {Material.ANSWER}
    with pytest.raises(ValidationError, match="marked in the answer of the item, not in the target image"):
        Spans(name="m", title="M", labels=[Label(value="bad")], target=TargetKind.IMAGE)
    with pytest.raises(ValidationError, match="needs answer, but step 'one' does not show it"):
        protocol(steps=[{"name": "one", "title": "One", "shows": ["question"], "criteria": ["marked"]}])
    assert protocol_from_yaml(protocol_to_yaml(protocol())) == protocol()


class TestSettling:
    def test_the_same_stretches_agree_whatever_the_order_of_their_fields(self) -> None:
        turned = [dict(reversed(stretch(0, 3).items()))]
        agreed = settle(MARKED, [[stretch(0, 3)], turned], 2, "unanimity")
        assert (agreed.outcome, agreed.value, agreed.majority) == (Outcome.UNANIMOUS, [stretch(0, 3)], turned)
        assert settle(MARKED, [[], []], 2, "unanimity").value == []
        assert settle(MARKED, [[stretch(0, 3)], []], 2, "unanimity").outcome is Outcome.OPEN

    def test_by_majority_every_character_is_what_more_than_half_say(self) -> None:
        votes = [[stretch(0, 11)], [stretch(4, 15)], [stretch(17, 20)]]
        most = settle(MARKED, votes, 3, "majority")
        assert (most.outcome, most.value) == (Outcome.MAJORITY, [stretch(4, 11)])
        assert settle(MARKED, votes, 3, "unanimity").outcome is Outcome.OPEN

    def test_what_is_left_of_a_majority_has_no_space_at_its_ends(self) -> None:
        assert MARKED.by_majority([[stretch(0, 8)], [stretch(3, 11) | stretch(4, 11)], []], 3) == [stretch(4, 8)]
        assert MARKED.by_majority([[stretch(0, 8)], [stretch(0, 3), stretch(4, 5)], [stretch(0, 5)]], 3) == [
            stretch(0, 5)
        ]

    def test_it_is_disputed_where_no_label_and_not_its_absence_has_a_majority(self) -> None:
        three = [[stretch(0, 3)], [stretch(0, 3, "odd")], []]
        assert settle(MARKED, three, 3, "majority").outcome is Outcome.OPEN
        assert settle(MARKED, three[:2], 3, "majority").outcome is Outcome.OPEN
        assert MARKED.by_majority([[stretch(0, 3)]], 2) is None

    @given(
        st.lists(
            st.lists(st.integers(0, len(ANSWER)), min_size=0, max_size=6, unique=True).map(sorted),
            min_size=1,
            max_size=5,
        )
    )
    def test_the_majority_is_that_of_each_character(self, drawn: list[list[int]]) -> None:
        values = [
            [stretch(a, b) for a, b in zip(places[::2], places[1::2], strict=False) if ANSWER[a:b].strip()]
            for places in drawn
        ]
        checked = [MARKED.check(value, UNITS) for value in values]
        n = len(checked)
        found = MARKED.by_majority(checked, n)
        counts = [sum(any(s["start"] <= i < s["end"] for s in value) for value in checked) for i in range(len(ANSWER))]
        if any(2 * count == n for count in counts):
            assert found is None
            return
        said = {i for stretch in found for i in range(stretch["start"], stretch["end"])}
        shows = {i for i, sign in enumerate(ANSWER) if sign.strip()}
        assert said & shows == {i for i, count in enumerate(counts) if 2 * count > n} & shows
        assert MARKED.check(found, UNITS) == found
