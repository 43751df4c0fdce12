"""The names of the alignment statistics in words, for tables and reports."""

from __future__ import annotations

_BASE = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall_tau_b": "Kendall's τ-b",
    "auroc": "AUROC",
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "cohen_kappa": "Cohen's κ",
    "cohen_kappa_quadratic": "Cohen's κ (quadratic)",
}
TITLES = {
    **_BASE,
    **{f"{name}_best_threshold": f"{title}, best threshold" for name, title in _BASE.items()},
    **{f"difference_{name}": f"Difference in {title}" for name, title in _BASE.items()},
    **{f"human_ceiling_{name}": f"Human ceiling, {title}" for name, title in _BASE.items()},
    **{f"metric_to_rest_{name}": f"Metric to the rest, {title}" for name, title in _BASE.items()},
    "mean_agreement": "Mean agreement",
    "macro_mean_agreement": "Mean agreement, unweighted mean of groups",
    "williams_t": "Williams' t",
    "steiger_z": "Steiger's z",
    "system_kendall_tau_b": "Systems: Kendall's τ-b",
    "system_pairwise_accuracy": "Systems: pairwise accuracy",
    "calibration_error": "Calibration error",
    "classical_mean": "Human mean, labels alone",
    "ppi_mean": "Human mean, prediction-powered",
    "ppi_plus_plus_mean": "Human mean, prediction-powered (tuned)",
    "alt_test_winning_rate": "Alternative annotator test: winning rate ω",
    "alt_test_advantage": "Alternative annotator test: advantage ρ",
    "anchoring_effect": "Anchoring effect",
    "blind_distance": "Blind judgement to score, mean distance",
    "yielding": "Agreed with a score unlike the blind judgement",
}
"""Name → title of every statistic that this package gives."""
