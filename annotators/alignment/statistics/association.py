"""How far one metric goes with people: correlations, AUROC, decisions at thresholds, all on the same resamples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from annotators.alignment.statistics import coefficients
from annotators.alignment.statistics.base import AlignmentStatistic, derived
from annotators.alignment.statistics.coefficients import (
    ACCURACY,
    AUROC,
    DECISIONS,
    F1,
    KAPPA,
    KENDALL,
    PEARSON,
    PRECISION,
    QUADRATIC_KAPPA,
    RECALL,
    SPEARMAN,
)
from annotators.alignment.statistics.concordance import Tau, can_resample_tau, kendall_tau_b
from annotators.alignment.statistics.thresholds import FOLDS, cross_validated, decide
from annotators.alignment.tables.levels import Levels
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampled, Resampling
from annotators.intervals.result import Aligned
from annotators.intervals.shares import interval_where_few_differ

BEST = tuple(derived("{}_best_threshold", "{}, best threshold", of) for of in DECISIONS)
ASSOCIATION = (PEARSON, SPEARMAN, KENDALL, AUROC, *DECISIONS, QUADRATIC_KAPPA, *BEST)
MOST_LABELS = 50  # up to so many values are labels that can be equal

Formula = Callable[[FloatArray], FloatArray]


def association(
    pairs: Pairs,
    asked: Resampling | None = None,
    *,
    threshold: float | None = None,
    folds: int = FOLDS,
    **about: Any,
) -> list[Aligned]:
    """All statistics of `ASSOCIATION` of one metric against people, each with its interval or its reason.

    Binary human labels: AUROC, and accuracy, precision, recall, F1 and κ of the metric's decisions at `threshold` (its
    own; default 0.5 where the metric lies in 0..1) and, under the names of `BEST`, at the threshold with the highest κ,
    chosen by cross-validation so that no row is judged by a threshold that saw it. Other human labels: accuracy and κ
    of equal labels, where the metric gives the same labels as people. `about` names metric, criterion and group.
    """
    asked = asked or Resampling()
    reason = pairs.why_not()
    if reason:
        return [statistic.without_value(reason, pairs.n, **about) for statistic in ASSOCIATION]
    plan = _Plan.of(pairs, threshold, folds, asked.seed)
    found = plan.sample.resampled(plan.together, asked)
    entries = []
    for statistic in ASSOCIATION:
        why = plan.reasons.get(statistic)
        if why == _TOO_MANY:
            entries.append(_tau_alone(pairs, about))
        elif why is not None:
            entries.append(statistic.without_value(why, pairs.n, **about))
        else:
            note = "; ".join(filter(None, [plan.notes.get(statistic, ""), _left_out(pairs)]))
            entry = statistic.about(pairs.n, **about)
            entry = statistic.measured(entry, found, plan.places[statistic], asked, note=note)
            share = plan.shares.get(statistic)
            entries.append(entry if share is None else _where_few_differ(entry, share, pairs, found, asked))
    return entries


Share = tuple[FloatArray, FloatArray]
"""Of a share the rows that are hits (n: 1 or 0), and those that it is of (n)."""


def _where_few_differ(entry: Aligned, share: Share, pairs: Pairs, found: Resampled, asked: Resampling) -> Aligned:
    """The entry of a share with Wilson's interval, where resamples do not tell how rare the few are that differ."""
    if entry.value is None or not asked.resamples or asked.kind != "BCa":
        return entry
    hits, sizes = (np.bincount(pairs.cluster, weights=column).astype(np.float64) for column in share)
    made = interval_where_few_differ(hits, sizes, asked.level, over=found.over)
    if made is None:
        return entry
    beside = [] if entry.interval is None else [entry.interval]
    return entry.measured(entry.value, [made, *beside], entry.note)


_TOO_MANY = "too many different values"


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is measured on which rows: formulas, where statistics stand among their values, why the others have none."""

    sample: DrawnRows
    formulas: list[Formula]
    places: dict[AlignmentStatistic, int]
    reasons: dict[AlignmentStatistic, str]
    notes: dict[AlignmentStatistic, str]
    shares: dict[AlignmentStatistic, Share]

    def together(self, weights: FloatArray) -> FloatArray:
        """All values (S × B)."""
        return np.concatenate([np.atleast_2d(formula(weights)) for formula in self.formulas])

    @classmethod
    def of(cls, pairs: Pairs, threshold: float | None, folds: int, seed: int) -> _Plan:
        """Decide what can be measured on these rows."""
        columns = [pairs.metric, pairs.human]
        reasons: dict[AlignmentStatistic, str] = {}
        notes: dict[AlignmentStatistic, str] = {}
        shares: dict[AlignmentStatistic, Share] = {}
        own = _own_threshold(pairs, threshold)
        if pairs.binary:
            if own is None:
                reason = "the metric has no threshold of its own outside 0 to 1: give one"
                reasons.update(dict.fromkeys(DECISIONS, reason))
            else:
                columns.append(decide(pairs.metric, own))
                notes.update(dict.fromkeys(DECISIONS, f"decided at {own:g}"))
                shares |= _shares(DECISIONS, columns[-1], pairs.human)
            reasons[QUADRATIC_KAPPA] = "human labels are yes or no, which have no order of more than two"
            if pairs.n_clusters < 4:
                reason = f"{pairs.n_clusters} {'cluster' if pairs.clustered else 'units'} are too few to cross-validate"
                reasons.update(dict.fromkeys(BEST, reason))
            else:
                chosen = cross_validated(pairs, folds, seed)
                columns.append(chosen.said)
                shares |= _shares(BEST, columns[-1], pairs.human)
                notes.update(dict.fromkeys(BEST, _about_thresholds(chosen.thresholds, chosen.on_all)))
        else:
            kinds = len(np.unique(pairs.human))
            reasons[AUROC] = f"people gave {kinds} different values, and AUROC needs two labels"
            why = f"people gave {kinds} different values, which is no yes or no"
            reasons.update(dict.fromkeys((PRECISION, RECALL, F1, *BEST), why))
            alike = len(np.union1d(pairs.human, pairs.metric)) == kinds <= MOST_LABELS
            if not alike:
                why = "the metric's values are not the labels that people give"
                reasons.update(dict.fromkeys((ACCURACY, KAPPA, QUADRATIC_KAPPA), why))
            shares[ACCURACY] = ((pairs.human == pairs.metric).astype(np.float64), np.ones(pairs.n))
        sample = DrawnRows.of(columns, pairs.cluster)
        return cls(sample, *_formulas(pairs, sample, reasons), reasons, notes, shares)


def _formulas(
    pairs: Pairs, sample: DrawnRows, reasons: dict[AlignmentStatistic, str]
) -> tuple[list[Formula], dict[AlignmentStatistic, int]]:
    """The formulas over the sample's rows, and the place of every statistic among their values."""
    metric, human, *said = (np.ascontiguousarray(column) for column in sample.columns.T)
    x, y = Levels.of(metric), Levels.of(human)
    formulas: list[Formula] = []
    places: dict[AlignmentStatistic, int] = {}

    def add(statistics: tuple[AlignmentStatistic, ...], formula: Formula) -> None:
        start = len(places)
        places.update({statistic: start + i for i, statistic in enumerate(statistics)})
        formulas.append(formula)

    add((PEARSON,), lambda weights: coefficients.pearson(metric, human, weights))
    add((SPEARMAN,), lambda weights: coefficients.spearman(x, y, weights))
    if can_resample_tau(x, y):
        tau = Tau.of(x, y)
        add((KENDALL,), lambda weights: kendall_tau_b(tau, weights))
    else:
        reasons[KENDALL] = _TOO_MANY
    if AUROC not in reasons:
        add((AUROC,), lambda weights: coefficients.auroc(x, human, weights))
    for statistics in (DECISIONS, BEST):
        if pairs.binary and statistics[0] not in reasons:
            decided = said.pop(0)
            add(statistics, lambda weights, decided=decided: coefficients.decisions(decided, human, weights))  # type: ignore[misc]
    if not pairs.binary and KAPPA not in reasons:
        add(
            (ACCURACY, KAPPA, QUADRATIC_KAPPA),
            lambda weights: coefficients.label_agreement(metric, human, weights),
        )
    return formulas, places


def _shares(
    statistics: tuple[AlignmentStatistic, ...], said: FloatArray, truth: FloatArray
) -> dict[AlignmentStatistic, Share]:
    """Accuracy, precision and recall of decisions as shares of rows."""
    accuracy, precision, recall = statistics[:3]
    right = (said == truth).astype(np.float64)
    return {
        accuracy: (right, np.ones(len(said))),
        precision: (said * truth, said),
        recall: (said * truth, truth),
    }


def _own_threshold(pairs: Pairs, threshold: float | None) -> float | None:
    if threshold is not None:
        return threshold
    return 0.5 if pairs.metric[0] >= 0 and pairs.metric[-1] <= 1 else None


def _about_thresholds(thresholds: tuple[float, ...], on_all: float) -> str:
    low, high = min(thresholds), max(thresholds)
    span = _shown(low) if low == high else f"{_shown(low)} to {_shown(high)}"
    return f"thresholds of {len(thresholds)} folds: {span}; on all units {_shown(on_all)}"


def _shown(threshold: float) -> str:
    if math.isinf(threshold):
        return "none (never)" if threshold > 0 else "none (always)"
    return f"{threshold:.4g}"


def _left_out(pairs: Pairs) -> str:
    return f"{pairs.left_out:,} without a label or a score left out" if pairs.left_out else ""


def _tau_alone(pairs: Pairs, about: dict[str, Any]) -> Aligned:
    """τ without an interval, for more rows than all pairs of which can be compared a thousand times."""
    value = float(stats.kendalltau(pairs.metric, pairs.human).statistic)
    method = f"no interval: {pairs.n:,} units with {_TOO_MANY} to resample; Spearman's ρ has one"
    return replace(KENDALL.about(pairs.n, **about), value=value, method=method)
