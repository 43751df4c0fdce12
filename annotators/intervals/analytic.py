"""Analytic intervals: t with a standard error, found from what every unit contributes to a figure.

A figure is written as a function of means over units; ψ_u is what unit u contributes to its first-order change, and
the variance is Σ (ψ_u - mean)² / (n (n - 1)). Gwet (2014), Handbook of Inter-Rater Reliability, chapter 5.
"""

from __future__ import annotations

from annotators.arrays import FloatArray, np, special
from annotators.intervals.result import Interval

LINEARISED = "linearised"
ROUNDING = 1e-12  # values closer than this are ties
NO_SPREAD = "the standard error is 0, which says nothing of how far others differ"


def t_interval(
    value: float,
    error: float,
    freedom: float,
    level: float,
    kind: str,
    *,
    over: str = "units",
    note: str = "",
    ceiling: float = 1.0,
) -> Interval:
    """The value ± t times its standard error, cut at the ceiling; none without any error."""
    if freedom < 1 or not np.isfinite(error):
        return Interval(None, None, kind, level, note="one unit gives no standard error", over=over)
    if error <= ROUNDING:
        return Interval(None, None, kind, level, note=note or NO_SPREAD, over=over)
    reach = float(special.stdtrit(freedom, (1 + level) / 2)) * error
    low, high = min(value - reach, ceiling), min(value + reach, ceiling)
    return Interval(low, high, kind, level, note=note, over=over, error=error, freedom=freedom)


def of_parts(value: float, parts: FloatArray, multiplicity: FloatArray, level: float) -> Interval:
    """The interval of a figure whose units contribute `parts` (P), `multiplicity` (P) units alike."""
    n = float(multiplicity.sum())
    if n < 2:
        return t_interval(value, np.nan, n - 1, level, LINEARISED)
    mean = float(multiplicity @ parts) / n
    return _of_squares(value, parts - mean, multiplicity, level)


def of_parts_around(value: float, parts: FloatArray, multiplicity: FloatArray, level: float) -> Interval:
    """The same with the variance around the value instead of the parts' mean, as Gwet (2014), chapter 5, has it."""
    return _of_squares(value, parts - value, multiplicity, level)


def of_ratio(value: float, above: FloatArray, below: FloatArray, multiplicity: FloatArray, level: float) -> Interval:
    """Of Σ above / Σ below: raw and specific agreement, mean similarity, F1."""
    n, total = float(multiplicity.sum()), float(multiplicity @ below)
    return of_parts(value, n * (above - value * below) / total, multiplicity, level)


def of_mean(value: float, parts: FloatArray, multiplicity: FloatArray, level: float) -> Interval:
    """Of the mean of `parts` (P) over units."""
    return of_ratio(value, parts, np.ones_like(multiplicity), multiplicity, level)


def _of_squares(value: float, deviations: FloatArray, multiplicity: FloatArray, level: float) -> Interval:
    n = float(multiplicity.sum())
    variance = float(multiplicity @ deviations**2) / (n * (n - 1)) if n > 1 else np.nan
    return t_interval(value, float(np.sqrt(variance)), n - 1, level, LINEARISED)
