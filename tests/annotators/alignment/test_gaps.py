"""The gap between two conditions: paired by question, with an interval or the reason why there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from annotators.alignment.statistics.gaps import paired_gap
from annotators.intervals.bootstrap import Resampling


def test_only_questions_with_both_count() -> None:
    # a: 1 - 0.5, b: 1 - 1, c: 0 - 0.5; d and e have one of the two. (0.5 + 0 - 0.5) / 3 = 0.
    found = paired_gap("gap", {"a": 1.0, "b": 1.0, "c": 0.0, "d": 1.0}, {"a": 0.5, "b": 1.0, "c": 0.5, "e": 0.0})
    assert (found.value, found.n) == (0.0, 3)
    assert "paired by question" in (found.method or "")


def test_the_interval_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    of = rng.random(60)
    minus = of - rng.normal(0.1, 0.2, size=60)
    found = paired_gap("gap", dict(enumerate(of)), dict(enumerate(minus)), Resampling(resamples=9_999))
    theirs = stats.bootstrap((of - minus,), np.mean, rng=np.random.default_rng(0)).confidence_interval
    assert found.value == pytest.approx((of - minus).mean())
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.005)


def test_pairing_narrows_the_interval_where_questions_differ_more_than_conditions() -> None:
    rng = np.random.default_rng(1)
    of = rng.random(100)
    found = paired_gap("gap", dict(enumerate(of)), dict(enumerate(of - 0.1 + rng.normal(0, 0.02, size=100))))
    assert (found.high or 0) - (found.low or 0) < 0.02


def test_without_a_common_question_there_is_a_reason() -> None:
    found = paired_gap("gap", {"a": 1.0}, {"b": 0.0})
    assert (found.value, found.low, found.n) == (None, None, 0)
    assert found.reason == "no question has a score in both conditions"
    gap = paired_gap("gap", {"a": 1.0}, {"a": 0.0})
    assert (gap.value, gap.low) == (1.0, None)
