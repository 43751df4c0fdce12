"""Labels needed for a width, from a pilot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotators.errors import InvalidInput
from annotators.estimates.means import means
from annotators.estimates.planning import labels_needed, needed_for
from annotators.estimates.sample import Estimate
from annotators.intervals.result import Interval
from tests.annotators.estimates.makers import NAN, correlated, named, units_of


def test_what_a_pilot_says_comes_true() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=2000)
    pilot = units_of(np.where(np.arange(2000) < 100, y, NAN).tolist())
    needed = named(labels_needed(pilot, 0.3))["labels_needed_classical"]
    assert needed.value is not None
    assert (needed.low or 0) < needed.value < (needed.high or 0)
    then = units_of(np.where(np.arange(2000) < int(needed.value), y, NAN).tolist())
    assert 2 * (named(means(then))["mean_classical"].half_width or 0) == pytest.approx(0.3, rel=0.15)


def test_good_predictions_and_a_small_set_take_fewer_and_every_look_takes_more() -> None:
    found = named(labels_needed(correlated(60, 2000, 0.9, scale=(-4.0, 4.0)), 0.2))
    n = {name: entry.value or 0 for name, entry in found.items()}
    assert n["labels_needed_ppi"] < 0.4 * n["labels_needed_classical"] < n["labels_needed_anytime"] * 2
    small = named(labels_needed(correlated(60, 200, 0.9, scale=(-4.0, 4.0)), 0.2))
    assert (small["labels_needed_classical"].value or 0) < n["labels_needed_classical"]


def test_a_width_that_no_number_of_labels_gives_is_said() -> None:
    few = correlated(30, 60, 0.0, population=math.inf)
    assert "it takes more items" in (named(labels_needed(few, 0.01))["labels_needed_classical"].reason or "")
    pilot = correlated(5, 60, 0.0)
    assert "pilot of 5 labels" in (named(labels_needed(pilot, 0.5))["labels_needed_classical"].reason or "")
    for width in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidInput, match="no width"):
            labels_needed(pilot, width)


def test_widths_go_with_the_root_of_the_labels() -> None:
    """Twice as narrow takes four times as many; of 100 in all, of which 50 are known, 1/(1/400 · … ) fewer."""
    entry = Estimate(name="pearson", value=0.5, interval=Interval(0.4, 0.6, "t", 0.95))
    assert needed_for([(entry, 50), (Estimate(name="x"), 3)], 0.1) == [200, None]
    # (1/50 - 1/100) / 4 + 1/100 = 1/80
    assert needed_for([(entry, 50)], 0.1, 100) == [80]
