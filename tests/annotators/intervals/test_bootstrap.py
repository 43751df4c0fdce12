"""One bootstrap for agreement and alignment: both layouts draw units, leave them out and bound figures alike."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.annotators import agreement_with_rest
from annotators.agreement.differences import difference
from annotators.agreement.measure import measure
from annotators.agreement.rater_models.dawid_skene import dawid_skene
from annotators.agreement.rater_models.mace import mace
from annotators.arrays import FloatArray
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import (
    MOST_RESAMPLES,
    SIDE_BY_SIDE,
    STACKED,
    Layout,
    Resampled,
    Resampling,
    resample,
)
from annotators.intervals.result import Interval, Statistic
from tests.annotators.agreement.makers import ratings_of

MULTIPLICITY = np.array([3, 1, 4, 1, 5], dtype=np.int64)
X = np.array([0.1, 0.9, 0.3, 0.2, 0.6])


def mean(layout: Layout, x: FloatArray = X, **asked: int) -> Resampled:
    def stacked(weights: FloatArray) -> FloatArray:
        return np.asarray(weights @ x / weights.sum(axis=1))

    def side_by_side(weights: FloatArray) -> FloatArray:
        return np.asarray(x @ weights / weights.sum(axis=0))

    return resample(side_by_side if layout.side_by_side else stacked, MULTIPLICITY, layout=layout, **asked)


@pytest.mark.parametrize("layout", [STACKED, SIDE_BY_SIDE])
def test_a_layout_gives_the_value_and_leaves_every_unit_out(layout: Layout) -> None:
    found = mean(layout, resamples=40)
    n, total = MULTIPLICITY.sum(), MULTIPLICITY @ X
    assert found.values == pytest.approx([total / n])
    assert found.jackknife[:, 0] == pytest.approx((total - X) / (n - 1))
    assert found.repeats.tolist() == MULTIPLICITY.tolist()
    assert found.replicates.shape == (40, 1)


def test_both_layouts_draw_from_the_same_distribution() -> None:
    draws, other = (mean(layout, resamples=20_000).replicates[:, 0] for layout in (STACKED, SIDE_BY_SIDE))
    spread = np.sqrt(np.average((X - MULTIPLICITY @ X / 14) ** 2, weights=MULTIPLICITY) / 14)
    for drawn in (draws, other):
        assert drawn.mean() == pytest.approx(MULTIPLICITY @ X / 14, abs=5 * spread / np.sqrt(20_000))
        assert drawn.std() == pytest.approx(spread, rel=0.03)


def test_draws_that_are_kept_for_the_next_figure_are_the_ones_that_would_be_drawn() -> None:
    clusters = np.ones(2_000, dtype=np.int64)
    x = np.linspace(0, 1, 2_000)

    def evaluate(weights: FloatArray) -> FloatArray:
        return np.asarray(x @ weights / 2_000)

    drawn, again = (
        resample(evaluate, clusters, resamples=600, seed=11, layout=SIDE_BY_SIDE, jackknife=False) for _ in range(2)
    )
    assert drawn.replicates.tolist() == again.replicates.tolist()


def test_figures_without_a_bound_have_the_interval_of_the_same_figures_in_other_units() -> None:
    small = mean(SIDE_BY_SIDE, resamples=500)
    large = mean(SIDE_BY_SIDE, X * 1_000, resamples=500)
    for kind in ("BCa", "percentile"):
        bounded = small.interval(0, 0.9, kind)
        unbounded = Resampled(**{**vars(large), "ceiling": None}).interval(0, 0.9, kind)
        assert unbounded.low == pytest.approx(1_000 * (bounded.low or 0))
        assert unbounded.high == pytest.approx(1_000 * (bounded.high or 0))
        assert unbounded.kind == bounded.kind == kind


@pytest.mark.parametrize("asked", [{"level": 1.0}, {"level": 0.0}, {"resamples": -1}, {"seed": -1}])
def test_a_resampling_that_makes_no_sense_is_refused(asked: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        Resampling(**asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("many", [MOST_RESAMPLES + 1, 10**12, 2**200])
def test_more_resamples_than_memory_holds_are_refused_wherever_they_are_drawn(many: int) -> None:
    ratings = ratings_of([["a", "b", "a"], ["a", "a", "b"], ["b", "a", "a"]])
    for drawn in (
        lambda: Resampling(many),
        lambda: measure(ratings, resamples=many),
        lambda: dawid_skene(ratings, resamples=many),
        lambda: mace(ratings, resamples=many),
        lambda: agreement_with_rest(ratings, resamples=many),
        lambda: difference(ratings, ratings, "krippendorff_alpha_nominal", resamples=many),
    ):
        with pytest.raises(InvalidInput, match=r"give up to 100,000; 1,000 are usual"):
            drawn()  # type: ignore[no-untyped-call]
    assert Resampling(MOST_RESAMPLES).resamples == MOST_RESAMPLES
    with pytest.raises(InvalidInput, match="64 bits"):
        Resampling(seed=2**63)


def test_a_figure_has_a_value_with_an_interval_or_a_reason() -> None:
    entry = Statistic(name="x", n_units=3, n_raters=2, n_ratings=6, left_out=1)
    assert (entry.low, entry.high) == (None, None)
    undefined = entry.undefined("nobody rated")
    assert (undefined.value, undefined.reason) == (None, "nobody rated")
    made = [Interval(0.1, 0.4, "BCa", 0.95, 10), Interval(None, None, "jackknife", 0.95, note="none")]
    found = entry.measured(0.2, made, "a note")
    assert (found.value, found.low, found.high, found.beside) == (0.2, 0.1, 0.4, ())
    assert found.method == (
        "BCa bootstrap over units, 95 %, 10 resamples, seed 0; 1 unit with a single rating left out; a note"
    )
