"""Verdicts that came with an item, in its metadata."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.normal import read_item
from annotators.scorers.shared.verdicts import Verdict, verdicts_of


def with_verdicts(verdicts: Any) -> ItemContent:
    return read_item({"question": "Which metals?", "verdicts": verdicts})


def test_verdicts_stand_in_the_metadata_of_an_item() -> None:
    item = with_verdicts(
        [
            {"claim": "c1", "evidence": "e1", "label": "Entailment", "source": "people"},
            {"claim": "g1", "against": "answer", "label": "neutral"},
        ]
    )
    assert list(verdicts_of(item)) == [
        Verdict("c1", "evidence:e1", "entailment", "people"),
        Verdict("g1", "answer", "neutral"),
    ]
    assert list(verdicts_of(read_item({"question": "Q?"}))) == []


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        ("c1", "Field 'verdicts' is 'c1'. It has to be a list."),
        (["c1"], "Field 'verdicts' has 'c1'. It has to be a list of objects."),
        ([{"claim": 5, "evidence": "e1", "label": "neutral"}], "Field 'claim' is 5. It has to be a text."),
        (
            [{"claim": "c1", "evidence": "e1", "label": "yes"}],
            "'yes' is not the label of a verdict. Allowed: entailment, neutral, contradiction.",
        ),
        (
            [{"claim": "c1", "against": "question", "label": "neutral"}],
            "'question' is nothing to hold a claim against. Allowed: evidence:KEY, context, answer, reference.",
        ),
    ],
)
def test_a_verdict_of_the_wrong_form_is_named(verdicts: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        list(verdicts_of(with_verdicts(verdicts)))
    assert str(caught.value) == message
