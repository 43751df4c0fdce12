"""Coefficients that are a mean over units of one figure of each: similarity of texts, concordance of rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import Asked, Coefficient, Measurement, Sample, Sampling
from annotators.agreement.tables.patterns import Grouped, Rows
from annotators.agreement.tables.ratings import Label, Ratings
from annotators.arrays import BoolArray, FloatArray, np, ratio
from annotators.intervals.analytic import of_mean
from annotators.intervals.result import Interval


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanOfUnits(Coefficient):
    """The mean over units of `figure`, which gives one number for each pattern of units (P), NaN where it has none.

    Units whose figure is NaN are left out and counted as such; `nowhere` is the reason where all are.
    """

    figure: Callable[[Ratings, Rows], FloatArray]
    estimated: bool = False
    nowhere: str = reasons.NOTHING_LEFT

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        ratings, rows = grouped.ratings, grouped.pairable
        sample = Sample(rows.multiplicity, rows.of_unit, 1)
        for member in members:
            reason = reasons.too_few(ratings) or member.misfit(ratings)
            entry = member.entry(ratings, reason)
            if reason:
                sample.parts.append(Measurement.without_value(entry))
                continue
            figures = member.figure(ratings, rows)
            there = ~np.isnan(figures)
            gone = int(rows.multiplicity[~there].sum())
            entry = replace(
                entry,
                n_units=entry.n_units - gone,
                n_ratings=entry.n_ratings - int(rows.multiplicity[~there] @ rows.lengths[~there]),
                left_out=entry.left_out + gone,
            )
            plain = np.where(there, figures, 0.0)
            sample.parts.append(
                Measurement(
                    [entry],
                    partial(_mean, plain, there),
                    partial(_interval, figures, there, rows),
                    member.nowhere,
                )
            )
        yield sample


def of_pairs(compare: Callable[[Label, Label], float], ratings: Ratings, rows: Rows) -> FloatArray:
    """The mean over the pairs of ratings of each pattern of units (P) of what `compare` gives for their labels."""
    total = np.zeros(len(rows.lengths))
    for pattern, _, a, b in rows.incidences():
        for place, left, right in zip(pattern.tolist(), a.tolist(), b.tolist(), strict=True):
            total[place] += compare(ratings.labels[left], ratings.labels[right])
    return total / np.maximum(rows.lengths * (rows.lengths - 1) / 2, 1)


def _mean(plain: FloatArray, there: BoolArray, weights: FloatArray) -> FloatArray:
    return ratio(weights @ plain, weights @ there.astype(np.float64))


def _interval(figures: FloatArray, there: BoolArray, rows: Rows, _: int, value: float, level: float) -> Interval:
    return of_mean(value, figures[there], rows.multiplicity[there].astype(np.float64), level)
