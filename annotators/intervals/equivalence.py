"""Equivalence: whether a difference is shown to be smaller than a margin, by two one-sided tests (TOST)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from annotators.arrays import special
from annotators.errors import InvalidInput, shown
from annotators.figures import p_in_words
from annotators.intervals.multiplicity import adjusted
from annotators.intervals.result import Aligned, Interval

TOST = "two one-sided tests"
NO_ERROR = (
    "the interval of the difference has no standard error to test with; the jackknife's, which is usual, has: "
    "leave --interval out, and resample"
)


def check_margin(margin: float) -> None:
    """InvalidInput for a margin that is no number above 0."""
    if not math.isfinite(margin) or margin <= 0:
        raise InvalidInput(
            f"{shown(margin)} is no margin of equivalence. Give the largest difference that would not matter, above 0, "
            "such as 0.05."
        )


def two_one_sided(value: float, error: float, freedom: float, margin: float) -> float:
    """p that a difference is at least as far from 0 as the margin: the larger of the two one-sided p values.

    t = (value + margin) / error tests that it is -margin or less, (value - margin) / error that it is margin or more.
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680.
    """
    above, below = (margin + value) / error, (margin - value) / error
    return float(special.stdtr(freedom, -min(above, below)))


def tested(difference: Aligned, margin: float, name: str) -> Aligned:
    """The test that a difference is within ± margin, as an entry of this name, with the error of its own interval.

    Its interval is at 1 - 2 α (90 % beside one of 95 %): the difference is shown to be within the margin exactly where
    this interval is. Without an interval, or where that has no standard error, there is a reason.
    """
    made = difference.interval
    about = replace(
        difference, name=name, value=None, interval=None, beside=(), method=None, note="", p_value=None, margin=margin
    )
    if made is None or made.low is None:
        why = made.note if made is not None else "none was made"
        return about.undefined(f"the difference has no interval: {why}")
    if made.error is None or made.freedom is None or difference.value is None:
        return about.undefined(NO_ERROR)
    alpha = 1 - made.level
    reach = float(special.stdtrit(made.freedom, 1 - alpha)) * made.error
    low, high = difference.value - reach, difference.value + reach
    interval = Interval(
        low, high, made.kind, 1 - 2 * alpha, over=made.over, error=made.error, freedom=made.freedom, raters=made.raters
    )
    p = two_one_sided(difference.value, made.error, made.freedom, margin)
    return replace(about.measured(difference.value, [interval], f"{TOST}, {p_in_words(p)}"), p_value=p)


def with_verdicts(tests: Sequence[Aligned]) -> list[Aligned]:
    """The tests of equivalence with p adjusted for how many there are of each name, and what they show in words."""
    found = adjusted(tests, list(dict.fromkeys(entry.name for entry in tests)))
    return [entry if entry.p_value is None else replace(entry, verdict=_verdict(entry)) for entry in found]


def _verdict(entry: Aligned) -> str:
    """`equivalent within ±0.05`, or `not shown to be equivalent within ±0.05`, by p adjusted by Holm."""
    assert entry.interval is not None
    assert entry.p_value is not None
    alpha = (1 - entry.interval.level) / 2
    p = entry.p_value if entry.p_holm is None else entry.p_holm
    within = f"equivalent within ±{entry.margin:g}"
    return within if p <= alpha else f"not shown to be {within}"
