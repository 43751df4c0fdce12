"""What to label next: drawn by expected error with known probabilities, in several draws."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.estimates.drawing import Batch, draw, expected_error, neyman, weighed
from annotators.estimates.means import means
from tests.annotators.estimates.makers import NAN, correlated, named, units_of


def test_units_are_expected_to_be_wrong_where_their_like_were() -> None:
    rng = np.random.default_rng(0)
    hard = np.arange(1000) % 4 == 0
    f = rng.normal(size=1000)
    y = f + np.where(hard, 2.0, 0.2) * rng.normal(size=1000)
    human = np.where(rng.random(1000) < 0.2, y, NAN)
    units = units_of(human.tolist(), f.tolist(), strata=hard.tolist())
    worth = expected_error(units)
    assert worth[hard].mean() > 3 * worth[~hard].mean()
    shares = dict(zip(units.strata, neyman(units, 40), strict=True))
    assert sum(shares.values()) == pytest.approx(40)
    assert shares["True"] > 15 > 40 * hard.mean()
    assert (expected_error(units_of([1, 2, *[NAN] * 8])) == 1).all()


def test_a_draw_never_has_probability_zero() -> None:
    worth = np.r_[np.zeros(90), np.full(10, 5.0)]
    chosen, chance = draw(worth, 20, seed=3)
    assert len(chosen) == 20
    assert set(range(90, 100)) <= set(chosen.tolist())
    assert chance.min() >= 0.5 * 20 / 100


def test_what_was_drawn_in_several_draws_weighs_as_much_as_all() -> None:
    """10 of 100 at random, then 20 of the other 90 by worth: over many draws the weighed sum of ones is 100."""
    rng = np.random.default_rng(1)
    y = np.arange(100) / 100
    total, mean = [], []
    for seed in range(2000):
        first = rng.choice(100, 10, replace=False)
        none = np.zeros(100, dtype=np.bool_)
        known = none.copy()
        known[first] = True
        left = np.flatnonzero(~known)
        chosen, chance = draw(1 + y[left] ** 2 * 5, 20, seed=seed)
        batches = [
            Batch(first, np.full(10, 0.1), np.ones(10, dtype=np.bool_), none),
            Batch(left[chosen], chance, np.ones(20, dtype=np.bool_), known),
        ]
        probability, open_ = weighed(100, batches)
        there = known.copy()
        there[left[chosen]] = True
        total.append((1 / probability[there]).sum())
        mean.append((y[there] / probability[there]).sum() / 100)
        assert ((open_ >= 0) & (open_ <= 1)).all()
    assert np.mean(total) == pytest.approx(100, rel=0.01)
    assert np.mean(mean) == pytest.approx(y.mean(), rel=0.02)


def test_of_a_batch_that_is_labelled_in_part_each_label_stands_for_more() -> None:
    done = np.array([True, False, True, False])
    chance, open_ = weighed(8, [Batch(np.arange(4), np.full(4, 0.5), done, np.zeros(8, dtype=np.bool_))])
    assert chance.tolist() == [0.25, 1, 0.25, 1, 1, 1, 1, 1]
    assert open_[:4].tolist() == [0.75, 0, 0.75, 0]


def test_a_single_random_draw_is_the_classical_mean() -> None:
    units = correlated(50, 200, 0.0)
    places = np.flatnonzero(units.labelled)
    none = np.zeros(200, dtype=np.bool_)
    batch = Batch(places, np.full(50, 0.25), np.ones(50, dtype=np.bool_), none)
    chance, open_ = weighed(200, [batch])
    drawn = units_of(units.human.tolist(), probability=chance, open_=open_)
    plain, same = named(means(units))["mean_classical"], named(means(drawn))["mean_classical"]
    assert same.value == pytest.approx(plain.value)
    assert same.half_width == pytest.approx(plain.half_width, rel=0.03)
