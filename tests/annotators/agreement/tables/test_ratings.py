"""The table of ratings: what it takes, what it keeps, what it refuses."""

from __future__ import annotations

import time

import numpy as np
import pytest

from annotators.agreement.tables.ratings import Box, Ratings
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import ratings_of


def test_triples_become_codes_in_raters_by_units() -> None:
    ratings = Ratings.from_triples(
        ["q2", "q1", "q1", "q3"], ["zoe", "ann", "zoe", "ann"], ["yes", "no", "yes", None], ["yes", "no"]
    )
    assert ratings.units == ("q2", "q1", "q3")
    assert ratings.raters == ("ann", "zoe")
    assert ratings.matrix().tolist() == [[-1, 1, -1], [0, 0, -1]]
    assert ratings.sizes.tolist() == [1, 2, 0]
    assert ratings.n_ratings == 3


def test_the_order_of_the_triples_does_not_matter_to_raters_and_labels() -> None:
    triples = [("u", "b", "x"), ("u", "a", "y"), ("v", "a", "x")]
    ratings = Ratings.from_triples(*zip(*triples, strict=True))
    other = Ratings.from_triples(*zip(*reversed(triples), strict=True))
    assert ratings.raters == other.raters == ("a", "b")
    assert ratings.labels == other.labels == ("x", "y")


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_none_and_nan_are_gaps(gap: float | None) -> None:
    ratings = ratings_of([[1, gap], [1, 2]], scale="interval")
    assert ratings.matrix().tolist() == [[0, -1], [0, 1]]


def test_a_cell_given_twice_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"rater 'ann' rated unit 'q1' more than once \('yes' and 'no'\)"):
        Ratings.from_triples(["q1", "q2", "q1"], ["ann", "ann", "ann"], ["yes", "yes", "no"])


def test_a_cell_given_twice_is_refused_even_if_one_is_missing() -> None:
    with pytest.raises(InvalidInput, match="rater 'ann' rated unit 'q1' more than once"):
        Ratings.from_triples(["q1", "q1"], ["ann", "ann"], ["yes", None])


def test_numbers_keep_their_value_whatever_the_declared_order() -> None:
    ratings = ratings_of([[4, 0]], labels=[4, 2, 0], scale="ordinal")
    assert ratings.numeric
    assert ratings.numbers.tolist() == [4.0, 2.0, 0.0]


def test_texts_that_read_as_numbers_are_numbers() -> None:
    ratings = ratings_of([["10", "9", "0.5"]], scale="interval")
    assert ratings.labels == ("0.5", "9", "10")
    assert ratings.numbers.tolist() == [0.5, 9.0, 10.0]


def test_words_on_an_ordinal_scale_go_by_rank_in_declared_order() -> None:
    ratings = ratings_of([["good", "bad"]], labels=["bad", "fair", "good"], scale="ordinal")
    assert not ratings.numeric
    assert ratings.numbers.tolist() == [0.0, 1.0, 2.0]


def test_truth_values_are_labels_and_not_numbers() -> None:
    ratings = ratings_of([[True, False]])
    assert ratings.labels == (False, True)
    assert not ratings.numeric


def test_labels_are_plain_values_that_json_can_write() -> None:
    ratings = Ratings.from_triples([0, 1], [0, 0], [np.int64(3), np.int64(1)])
    assert [type(label) for label in ratings.labels] == [int, int]


@pytest.mark.parametrize(
    ("rows", "labels", "scale", "message"),
    [
        ([["x"]], ["a", "b"], "nominal", "value 'x' is not among the labels"),
        ([["x"]], ["x", "x"], "nominal", "one label twice"),
        ([["low", "high"]], None, "ordinal", "declare the labels of the ordinal scale in order"),
        ([["low", 3]], None, "interval", "'low' is not a number"),
        ([[1.0, float("inf")]], None, "interval", "inf is not a number"),
        ([["1", "1.0"]], None, "interval", "one number in two ways"),
        ([[1]], None, "continuous", "scale 'continuous' is unknown"),
        ([[-1, 2]], None, "ratio", "label -1 is negative: a ratio scale starts at 0"),
        ([["low", 3]], None, "ratio", "a ratio scale needs numbers"),
        ([[3]], None, "set", "value 3 is not a set"),
        ([[[{"page": 2}]]], None, "set", "has no box"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_value(
    rows: list[list[object]], labels: list[str] | None, scale: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        ratings_of(rows, labels, scale)  # type: ignore[arg-type]


def test_sequences_of_different_length_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2 units, 2 raters and 1 values"):
        Ratings.from_triples(["a", "b"], ["r", "r"], ["x"])


def test_label_shares_count_declared_labels_that_nobody_used() -> None:
    ratings = ratings_of([["a", "a"], ["b", None]], labels=["a", "b", "c"])
    assert ratings.label_shares() == pytest.approx({"a": 2 / 3, "b": 1 / 3, "c": 0.0})


def test_lists_become_sets_and_an_empty_one_is_a_rating() -> None:
    ratings = ratings_of([[[2, 1], [], None], [(1, 2), {3}, None]], scale="set")
    assert ratings.labels == (frozenset(), frozenset({1, 2}), frozenset({3}))
    assert ratings.matrix().tolist() == [[1, 0, -1], [1, 2, -1]]


def test_a_mapping_with_a_box_becomes_one() -> None:
    ratings = ratings_of([[[{"document": "a.pdf", "page": 2, "box": [0, 0, 0.5, 1]}]]], scale="set")
    assert ratings.labels == (frozenset({Box("a.pdf", 2, 0.0, 0.0, 0.5, 1.0)}),)


@pytest.mark.by_the_clock
def test_a_million_ratings_are_read_in_seconds() -> None:
    rng = np.random.default_rng(0)
    units = [f"item-{i}" for i in range(333_334) for _ in range(3)][:1_000_000]
    raters = [f"rater-{i % 3}" for i in range(1_000_000)]
    values = rng.choice(np.array(["yes", "no", "unsure"], dtype=object), size=1_000_000)
    start = time.process_time()
    ratings = Ratings.from_triples(units, raters, values)
    seconds = time.process_time() - start
    assert ratings.n_ratings == 1_000_000
    assert seconds < 5  # 0.6 on the machine it was written on
