"""Two studies over one sample, or two arms, side by side: how often each label was given, and how far people agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from annotators.agreement.catalogue import headline
from annotators.agreement.differences import CoefficientDifference
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from db.studies.ratings import StudyRatings
from exports.agreement.compare import between_studies, questions_of
from exports.agreement.study import CriterionReport, unmeasured
from exports.drawing.figures import figure, p_value, percent, share
from exports.drawing.tables import TextTable

ABOUT = (
    "Intervals are over items, or questions where several items share one: they say what others would give, not what "
    "other people would. Where people were dealt out to arms, the few of one arm are part of the difference."
)


@dataclass(frozen=True)
class ShareDifference:
    """How often a label was given in two studies (0..1 of its labels), and the difference a - b with its interval."""

    label: str
    a: float
    b: float
    value: float
    low: float | None
    high: float | None
    method: str
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The difference for JSON."""
        return {
            "label": self.label,
            "a": self.a,
            "b": self.b,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "method": self.method,
        }


@dataclass(frozen=True)
class CriterionBeside:
    """One criterion in two studies: its labels, and the coefficient of its scale where it has one.

    `reason` says why no labels stand beside one another, or why there is no coefficient.
    """

    criterion: str
    title: str
    names: tuple[str, str]
    labels: list[ShareDifference]
    agreement: CoefficientDifference | None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The comparison for JSON."""
        return {
            "criterion": self.criterion,
            "a": self.names[0],
            "b": self.names[1],
            "labels": [label.to_json() for label in self.labels],
            "agreement": None if self.agreement is None else self.agreement.to_json(),
            "reason": self.reason,
        }

    def table(self) -> TextTable:
        """Both, and the difference with its interval, a line a label; the coefficient last."""
        a, b = self.names
        rows = [[found.label, share(found.a), share(found.b), percent(found, sign=True), ""] for found in self.labels]
        if (found := self.agreement) is not None:
            p = p_value(found.p_value) if found.p_value is not None else found.p_reason or ""
            rows.append([found.statistic, figure(found.a, 3), figure(found.b, 3), figure(found, 3, sign=True), p])
        return TextTable.of(f"{self.title}: labels in {a} and {b}", ("", a, b, f"{a} − {b}", "p"), rows)


def beside(
    a: StudyRatings,
    b: StudyRatings,
    names: tuple[str, str],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> list[CriterionBeside]:
    """Every criterion that both studies ask; one that somewhere nobody has labelled yet has a reason for labels."""
    shared = [one.criterion.name for one in a.criteria if one.criterion.name in {c.criterion.name for c in b.criteria}]
    found = []
    for name in shared:
        sides = (unmeasured(a, name), unmeasured(b, name))
        without = [study for study, side in zip(names, sides, strict=True) if not side.n_ratings]
        if without:
            unlabelled = f"nobody has labelled it in {' or '.join(without)} yet"
            found.append(CriterionBeside(name, sides[0].title, names, [], None, unlabelled))
            continue
        agreement, reason = None, None
        if all(side.ratings is not None for side in sides):
            try:
                statistic = headline(sides[0].ratings.scale) if sides[0].ratings is not None else ""
                agreement = between_studies(*sides, names, statistic, seed=seed, resamples=resamples).found
            except InvalidInput as problem:
                # On different scales: labels can be set beside each other, a coefficient cannot.
                reason = str(problem).rstrip(".")
        found.append(replace(labels_beside(*sides, names, level), agreement=agreement, reason=reason))
    return found


def labels_beside(
    a: CriterionReport, b: CriterionReport, names: tuple[str, str], level: float = 0.95
) -> CriterionBeside:
    """The shares of the labels of one criterion in two studies, without a coefficient."""
    return CriterionBeside(a.criterion.name, a.title, names, _shares((a, b), level), None)


def _shares(sides: tuple[CriterionReport, CriterionReport], level: float) -> list[ShareDifference]:
    """The share of each label in both: in the order of the scale; without one, those given most often first."""
    questions = questions_of(*sides)
    drawn = questions or tuple(list(side.items()) for side in sides)
    place = {name: number for number, name in enumerate(dict.fromkeys([*drawn[0], *drawn[1]]))}
    codes = [np.array([place[name] for name in names], dtype=np.int64) for names in drawn]
    labels = sides[0].criterion.in_order(dict.fromkeys(label for side in sides for label in side.shares))
    return [
        _difference(
            label,
            [_counted(side, label, code, len(place)) for side, code in zip(sides, codes, strict=True)],
            level,
            "question" if questions else "item",
        )
        for label in labels
    ]


def _counted(side: CriterionReport, label: str, of_unit: IntArray, n: int) -> tuple[FloatArray, FloatArray]:
    """How often each of `n` items, or questions, got the label, of how many labels; `of_unit` is that of each unit."""
    column = side.column
    is_label = np.array([side.criterion.vote(value) == label for value in column.distinct], dtype=float)
    of_label = of_unit[column.unit]
    hits = np.bincount(of_label, weights=is_label[column.value], minlength=n)
    return hits.astype(np.float64), np.bincount(of_label, minlength=n).astype(np.float64)


def _difference(label: str, sides: Sequence[tuple[FloatArray, FloatArray]], level: float, over: str) -> ShareDifference:
    """The difference of two ratios of sums over items, or questions, by their linearised residuals.

    The residual of an item is what it adds to the difference: an item of both studies adds to both, so that what they
    have in common cancels (Woodruff 1971, Journal of the American Statistical Association 66, 411-414); t with one
    degree of freedom less than there are items.
    """
    a, b = (float(hits.sum() / sizes.sum()) for hits, sizes in sides)
    parts = [(hits - p * sizes) / sizes.sum() for (hits, sizes), p in zip(sides, (a, b), strict=True)]
    there = (sides[0][1] > 0) | (sides[1][1] > 0)
    residuals = (parts[0] - parts[1])[there]
    n, value = len(residuals), a - b
    if n < 2:
        return ShareDifference(label, a, b, value, None, None, f"one {over} gives no standard error")
    error = float(np.sqrt((residuals**2).sum() * n / (n - 1)))
    reach = float(special.stdtrit(n - 1, (1 + level) / 2)) * error
    method = f"difference of shares, linearised over {n:,} {over}s, t"
    if error == 0:
        return ShareDifference(label, a, b, value, None, None, f"{method}: all {over}s are alike")
    return ShareDifference(label, a, b, value, max(-1.0, value - reach), min(1.0, value + reach), method)
