"""How far one metric goes with people: correlations, AUROC, decisions at thresholds, all on the same resamples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from annotators.agreement.table import FloatArray
from annotators.alignment import coefficients
from annotators.alignment.concordance import Tau, can_resample_tau, kendall_tau_b
from annotators.alignment.levels import Levels
from annotators.alignment.pairs import Pairs
from annotators.alignment.resampling import Resampling, Sample, with_interval
from annotators.alignment.result import Aligned, undefined
from annotators.alignment.thresholds import FOLDS, cross_validated, decide

CORRELATIONS = ("pearson", "spearman", "kendall_tau_b")
DECISIONS = ("accuracy", "precision", "recall", "f1", "cohen_kappa")
BEST = tuple(f"{name}_best_threshold" for name in DECISIONS)
STATISTICS = (*CORRELATIONS, "auroc", *DECISIONS, "cohen_kappa_quadratic", *BEST)
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
    """All statistics of `STATISTICS` of one metric against people, each with its interval or its reason.

    Binary human labels: AUROC, and accuracy, precision, recall, F1 and κ of the metric's decisions at `threshold` (its
    own; default 0.5 where the metric lies in 0..1) and, under the names of `BEST`, at the threshold with the highest κ,
    chosen by cross-validation so that no row is judged by a threshold that saw it. Other human labels: accuracy and κ
    of equal labels, where the metric gives the same labels as people. `about` names metric, criterion and group.
    """
    asked = asked or Resampling()
    reason = pairs.why_not()
    if reason:
        return [undefined(name, reason, pairs.n, **about) for name in STATISTICS]
    plan = _Plan.of(pairs, threshold, folds, asked.seed)
    entries = {name: undefined(name, plan.reasons.get(name, ""), pairs.n, **about) for name in STATISTICS}
    measured = [name for name in STATISTICS if name not in plan.reasons]
    found = plan.sample.resampled(plan.together, asked)
    for name in measured:
        entry = with_interval(
            replace(entries[name], reason=None),
            found,
            plan.places[name],
            asked,
            note="; ".join(filter(None, [plan.notes.get(name, ""), _left_out(pairs)])),
            nan=_NAN.get(name.removesuffix("_best_threshold"), "it is not defined for these values (0/0)"),
        )
        entries[name] = entry
    if "kendall_tau_b" in plan.reasons and plan.reasons["kendall_tau_b"] == _TOO_MANY:
        entries["kendall_tau_b"] = _tau_alone(pairs, about)
    return list(entries.values())


_TOO_MANY = "too many different values"
_NAN = {
    "precision": "the metric never decides for the positive label (0/0)",
    "recall": "people never gave the positive label (0/0)",
    "f1": "neither people nor the metric ever gave the positive label (0/0)",
    "cohen_kappa": "people and the metric gave one and the same label throughout (0/0)",
}


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is measured on which rows: formulas with the names of their values, and why the others are not."""

    sample: Sample
    formulas: list[Formula]
    places: dict[str, int]
    reasons: dict[str, str]
    notes: dict[str, str]

    def together(self, weights: FloatArray) -> FloatArray:
        """All values (S × B)."""
        return np.concatenate([np.atleast_2d(formula(weights)) for formula in self.formulas])

    @classmethod
    def of(cls, pairs: Pairs, threshold: float | None, folds: int, seed: int) -> _Plan:
        """Decide what can be measured on these rows."""
        columns, reasons, notes = [pairs.metric, pairs.human], {}, {}
        own = _own_threshold(pairs, threshold)
        if pairs.binary:
            if own is None:
                reason = "the metric has no threshold of its own outside 0 to 1: give one"
                reasons.update(dict.fromkeys(DECISIONS, reason))
            else:
                columns.append(decide(pairs.metric, own))
                notes.update(dict.fromkeys(DECISIONS, f"decided at {own:g}"))
            reasons["cohen_kappa_quadratic"] = "human labels are yes or no, which have no order of more than two"
            if pairs.n_clusters < 4:
                reason = f"{pairs.n_clusters} {'cluster' if pairs.clustered else 'units'} are too few to cross-validate"
                reasons.update(dict.fromkeys(BEST, reason))
            else:
                chosen = cross_validated(pairs, folds, seed)
                columns.append(chosen.said)
                notes.update(dict.fromkeys(BEST, _about_thresholds(chosen.thresholds, chosen.on_all)))
        else:
            kinds = len(np.unique(pairs.human))
            reasons["auroc"] = f"people gave {kinds} different values, and AUROC needs two labels"
            why = f"people gave {kinds} different values, which is no yes or no"
            reasons.update(dict.fromkeys(("precision", "recall", "f1", *BEST), why))
            alike = len(np.union1d(pairs.human, pairs.metric)) == kinds <= MOST_LABELS
            if not alike:
                why = "the metric's values are not the labels that people give"
                reasons.update(dict.fromkeys(("accuracy", "cohen_kappa", "cohen_kappa_quadratic"), why))
        sample = Sample.of(columns, pairs.cluster)
        return cls(sample, *_formulas(pairs, sample, reasons), reasons, notes)


def _formulas(pairs: Pairs, sample: Sample, reasons: dict[str, str]) -> tuple[list[Formula], dict[str, int]]:
    """The formulas over the sample's rows, and the place of every name among their values."""
    metric, human, *said = (np.ascontiguousarray(column) for column in sample.columns.T)
    x, y = Levels.of(metric), Levels.of(human)
    formulas: list[Formula] = []
    places: dict[str, int] = {}

    def add(names: tuple[str, ...], formula: Formula) -> None:
        start = len(places)
        places.update({name: start + i for i, name in enumerate(names)})
        formulas.append(formula)

    add(("pearson",), lambda weights: coefficients.pearson(metric, human, weights))
    add(("spearman",), lambda weights: coefficients.spearman(x, y, weights))
    if can_resample_tau(x, y):
        tau = Tau.of(x, y)
        add(("kendall_tau_b",), lambda weights: kendall_tau_b(tau, weights))
    else:
        reasons["kendall_tau_b"] = _TOO_MANY
    if "auroc" not in reasons:
        add(("auroc",), lambda weights: coefficients.auroc(x, human, weights))
    for names in (DECISIONS, BEST):
        if pairs.binary and names[0] not in reasons:
            decided = said.pop(0)
            add(names, lambda weights, decided=decided: coefficients.decisions(decided, human, weights))  # type: ignore[misc]
    if not pairs.binary and "cohen_kappa" not in reasons:
        add(
            ("accuracy", "cohen_kappa", "cohen_kappa_quadratic"),
            lambda weights: coefficients.label_agreement(metric, human, weights),
        )
    return formulas, places


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
    return Aligned("kendall_tau_b", value, None, None, method, pairs.n, None, **about)
