from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from pydantic import Field

from annotators.errors import InvalidInput, NotFound
from annotators.items.item import ItemContent
from annotators.scorers import SCORERS
from annotators.scorers.base import (
    Parameters,
    Scorer,
    ScoreValue,
    ValueKind,
    parameters_of,
    readable,
    value_kind,
)
from annotators.scorers.shared.tasks import ScoringTask


class LengthParameters(Parameters):
    unit: Literal["words", "characters"] = "words"
    at_most: int = Field(100, ge=1, le=1000)
    exact: bool = False


class Length(Scorer[LengthParameters]):
    name = "length"
    version = "1"
    title = "Length"
    summary = "How long the answer is."
    source = "This test."
    values = (ValueKind("length", "Length", high=None),)
    parameters = LengthParameters

    def score(self, items: Sequence[ItemContent], parameters: LengthParameters) -> list[list[ScoreValue]]:
        return [[ScoreValue("length", float(len(item.answer.split())))] for item in items]


class TestParameters:
    def test_texts_become_values_of_their_type(self) -> None:
        given = parameters_of(Length(), ["unit=characters", " at_most = 7", "exact=true"])
        assert given == LengthParameters(unit="characters", at_most=7, exact=True)

    def test_none_are_the_defaults(self) -> None:
        assert parameters_of(Length()) == parameters_of(Length(), []) == parameters_of(Length(), {})

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (["unit=lines"], "'lines' is not a value of parameter 'unit'. Allowed: words, characters."),
            (["at_most=0"], "'0' is not a value of parameter 'at_most'. Allowed: a whole number from 1 to 1000."),
            (["exact=perhaps"], "'perhaps' is not a value of parameter 'exact'. Allowed: true or false."),
            (["size=3"], "Scorer 'length' has no parameter 'size'; known: at_most, exact, unit."),
            (["unit"], "'unit' is no parameter. Write NAME=VALUE; known: at_most, exact, unit."),
            (["unit=words", "unit=words"], "Parameter 'unit' is given twice. Give it once."),
        ],
    )
    def test_a_wrong_one_is_named_with_what_is_allowed(self, given: list[str], message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            parameters_of(Length(), given)
        assert str(caught.value) == message

    def test_readable_parameters_are_read_back(self) -> None:
        given = LengthParameters(unit="characters", at_most=7, exact=True)
        assert readable(given.model_dump()) == ["at_most=7", "exact=true", "unit=characters"]
        assert parameters_of(Length(), readable(given.model_dump())) == given


class TestScoreValue:
    def test_a_score_has_a_value_or_a_reason(self) -> None:
        with pytest.raises(ValueError, match="either a value or the reason"):
            ScoreValue("x", None)
        with pytest.raises(ValueError, match="either a value or the reason"):
            ScoreValue("x", 1.0, "because")


class TestRegistry:
    def test_an_unknown_scorer_lists_the_known(self) -> None:
        with pytest.raises(NotFound, match=r"no scorer named 'phrase_recal'\. Known: .*phrase_recall"):
            SCORERS.get("phrase_recal")

    def test_every_scorer_can_be_described(self) -> None:
        for scorer in SCORERS:
            assert scorer.title
            assert scorer.summary
            assert scorer.source
            assert scorer.values
            assert parameters_of(scorer) == scorer.parameters()

    def test_values_of_imports_are_known_by_name(self) -> None:
        assert value_kind("phrase_recall", "correctness").title == "Correctness"
        assert value_kind("imported:fathoms", "hallucination").kind == "flag"
        assert value_kind("imported:native", "answer_length") == ValueKind(
            "answer_length", "Answer length", "number", low=None, high=None
        )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([[ScoreValue("length", 1.0)]], "gave scores of 1 item for a batch of 2"),
        ([ScoreValue("length", 1.0)] * 2, "which is no list of the scores of each item"),
        (None, "gave None, which is no list of the scores of each item"),
        ([[5.0]] * 2, "gave an item 5.0, which is no ScoreValue"),
        ([[ScoreValue("length", 1.0), ScoreValue("length", 2.0)]] * 2, "gave 'length' of 'item' twice"),
        ([[ScoreValue("length", "long")]] * 2, "gave 'length' the value long: it is no number"),  # type: ignore[arg-type]
        ([[ScoreValue("length", 1.0)], []], "gave an item the values none, and says that it gives length"),
        ([[ScoreValue("other", 1.0)]] * 2, "gave an item the values other, and says that it gives length"),
        ([[ScoreValue("length", math.nan)]] * 2, "gave 'length' the value nan: it is no finite number"),
        ([[ScoreValue("length", math.inf)]] * 2, "gave 'length' the value inf: it is no finite number"),
        ([[ScoreValue("length", 1.5)]] * 2, "gave 'length' the value 1.5: a count is a whole number from 0"),
    ],
)
def test_scores_that_are_not_what_the_scorer_says_are_refused(
    given: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = Length()
    kinds = (ValueKind("length", "Length", kind="count", high=None),)
    monkeypatch.setattr(Length, "values", kinds)
    monkeypatch.setattr(scorer, "score", lambda items, parameters: given)
    monkeypatch.setitem(SCORERS._things, scorer.name, scorer)
    task = ScoringTask(scorer.name, scorer.version)
    with pytest.raises(InvalidInput, match=re.escape(words)):
        task.score([ItemContent("a", "", "Q?", "A"), ItemContent("b", "", "Q?", "A")])
