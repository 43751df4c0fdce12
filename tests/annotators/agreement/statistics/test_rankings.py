"""Agreement on rankings: against SciPy, sums by hand, and what is not defined."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from annotators.agreement.measure import measure
from annotators.agreement.statistics.rankings import concordance, ranks, spearman
from annotators.agreement.tables.ratings import Label, Ratings
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import ratings_of

THINGS = "abcdef"


@st.composite
def some_rankings(draw: st.DrawFn) -> list[Label]:
    """Rankings of the same three to six things, ties included."""
    things = THINGS[: draw(st.integers(3, 6))]
    found: list[Label] = []
    for _ in range(draw(st.integers(2, 5))):
        order = draw(st.permutations(things))
        cuts = draw(st.lists(st.booleans(), min_size=len(things), max_size=len(things)))
        groups: list[list[str]] = []
        for thing, starts in zip(order, cuts, strict=True):
            if starts or not groups:
                groups.append([])
            groups[-1].append(thing)
        found.append(tuple(tuple(group) if len(group) > 1 else group[0] for group in groups))
    return found


@settings(deadline=None)
@given(some_rankings())
def test_they_are_those_of_scipy_ties_included(rankings: list[Label]) -> None:
    things = sorted(str(thing) for thing in ranks(rankings[0]))
    table = np.array([[ranks(ranking)[thing] for thing in things] for ranking in rankings])
    rho = spearman(*rankings[:2])
    if np.isnan(rho):
        assert min(len(set(row)) for row in table[:2].tolist()) == 1
    else:
        assert rho == pytest.approx(stats.spearmanr(*table[:2]).statistic)
    w = concordance(rankings)
    if np.isnan(w):
        assert all(len(set(row)) == 1 for row in table.tolist())
    else:  # Friedman's statistic with its correction for ties is m (n - 1) W
        friedman = stats.friedmanchisquare(*table.T).statistic
        assert w == pytest.approx(friedman / (len(rankings) * (len(things) - 1)))


def test_the_example_by_hand() -> None:
    """See docs/statistics.md, example E."""
    orders = [list(order) for order in ("abcd", "abdc", "bacd")]
    ratings = Ratings.from_triples([1, 1, 1], "xyz", orders, scale="ranking")
    rho, w = measure(ratings, ["mean_spearman", "kendall_w"], resamples=0)
    assert rho.value == pytest.approx((0.8 + 0.8 + 0.6) / 3)
    assert w.value == pytest.approx(12 * 37 / (9 * 60))
    assert w.value == pytest.approx((1 + 2 * (rho.value or 0)) / 3)  # as it has to be without ties


def test_units_count_alike_and_those_with_one_thing_are_left_out_and_said() -> None:
    values = [["a", "b", "c"], ["a", "b", "c"], ["x", "y"], ["y", "x"], ["p"], ["p"]]
    ratings = Ratings.from_triples([1, 1, 2, 2, 3, 3], "uvuvuv", values, scale="ranking")
    rho, w = measure(ratings, ["mean_spearman", "kendall_w"], resamples=0)
    assert (rho.value, w.value) == (0, 0.5)  # ρ 1 and -1, W 1 and 0
    assert (rho.n_units, rho.n_ratings, rho.left_out) == (2, 4, 1)


def test_what_is_not_defined_says_why() -> None:
    alone = Ratings.from_triples([1, 1], "uv", [["p"], ["p"]], scale="ranking")
    [rho] = measure(alone, ["mean_spearman"])
    assert (rho.value, rho.reason) == (None, "no unit has two things that could be ordered in two ways")
    [alpha] = measure(alone, ["krippendorff_alpha_ordinal"])
    assert alpha.reason == "the labels are rankings, which have no order"
    [other] = measure(ratings_of([[1, 2], [1, 2]]), ["kendall_w"])
    assert other.reason == "the labels are not rankings"
    with pytest.raises(InvalidInput, match="not an order: write each part once"):
        Ratings.from_triples([1], "u", [["a", "a"]], scale="ranking")


def test_both_have_intervals_over_units() -> None:
    rng = random.Random(4)
    values = [rng.sample("abcd", 4) if rng.random() < 0.4 else list("abcd") for _ in range(90)]
    ratings = Ratings.from_triples([n // 3 for n in range(90)], [n % 3 for n in range(90)], values, scale="ranking")
    for one in measure(ratings, resamples=300):
        assert one.low is not None and one.high is not None and one.value is not None
        assert one.low < one.value < one.high
