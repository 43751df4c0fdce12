"""Items as they are written in fields: what was not touched stays to the letter, and what was is read again."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.items.normal import read_item
from annotators.items.written import PARTS, TEXTS, as_written, from_written

ROW = {
    "id": "q1",
    "question": "Which pier?\nSay why.",
    "answer": "The southern one.",
    "references": ["southern pier", ["south", "pier"], "two\nlines"],
    "category": "sea",
    "claims": [
        {"key": "c1", "text": "It is the\nsouthern one.", "metadata": {"from": "a"}},
        {"key": "r1", "text": "It is in the south.", "of": "reference"},
    ],
    "evidence": [{"key": "e1", "text": "The southern pier is closed.", "role": "gold"}],
}
ITEM = read_item(ROW)


def test_what_is_written_as_it_stands_changes_nothing() -> None:
    written = as_written(ITEM)
    assert tuple(written) == ("question", "answer", "references", "answer_claims", "reference_claims", *PARTS, "others")
    assert set(written) == {*TEXTS, *PARTS}
    assert written["references"] == 'southern pier\n---\n["south","pier"]\n---\ntwo\nlines\n---'
    assert written["answer_claims"] == "It is the southern one."
    assert from_written(ITEM, written) == {}


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"answer": "The northern one."}, {"answer": "The northern one."}),
        ({"answer": ""}, {"answer": None}),
        ({"references": 'southern pier\n\n["south"]'}, {"references": ["southern pier", ["south"]]}),
        ({"references": " "}, {"references": None}),
        (
            {"references": 'two\n\nlines, "more"\n---\n\n["south"]\n ---'},
            {"references": ['two\n\nlines, "more"', ["south"]]},
        ),
        ({"references": "the first\nhas two\n---\nthe last"}, {"references": ["the first\nhas two", "the last"]}),
        ({"others": '{"language": "en"}'}, {"category": None, "language": "en"}),
        (
            {"evidence": [{**ROW["evidence"][0], "role": "retrieved"}]},  # type: ignore[dict-item]
            {"evidence": [{**ROW["evidence"][0], "role": "retrieved"}]},  # type: ignore[dict-item]
        ),
    ],
)
def test_only_what_differs_is_a_field(given: dict[str, Any], fields: dict[str, Any]) -> None:
    assert from_written(ITEM, given) == fields


@pytest.mark.parametrize(
    "references",
    [
        ["one"],
        ["---"],
        ["a\n---\nb", "c"],
        ['["no list', '"quoted"\nand more'],
        ["a\n\nb"],
        [["x\ny"], "z\nw"],
        ["a\nb", "c"],
    ],
)
def test_references_are_read_as_they_were_written(references: list[Any]) -> None:
    item = read_item({**ROW, "references": references})
    other = read_item({**ROW, "references": ["something else"]})
    assert from_written(other, {"references": as_written(item)["references"]}) == {"references": references}


def test_claims_whose_words_stay_keep_their_keys_on_either_side() -> None:
    given = {"answer_claims": "It is closed.\nIt is the southern one.\nIt is closed.", "reference_claims": ""}
    assert from_written(ITEM, given)["claims"] == [
        {"key": "c2", "text": "It is closed."},
        {"key": "c1", "text": "It is the\nsouthern one.", "metadata": {"from": "a"}},
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"title": "x"}, "'title' is nothing that is written"),
        ({"answer": ["x"]}, "'answer' must be a text"),
        ({"evidence": "x"}, "'evidence' must be a list"),
        ({"references": '["4.6'}, "Reference answers: '[\"4.6' is no list"),
        ({"others": "{nothing"}, "Fields, line 1: this is no JSON"),
        ({"others": "[]"}, "Fields: write an object"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_value(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        from_written(ITEM, given)
    assert words in str(raised.value)
