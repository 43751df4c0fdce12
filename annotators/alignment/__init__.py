"""Metric or judge against people: the table of pairs, the statistics over it with their intervals, single units."""

from annotators.alignment.alternative_annotator import alternative_annotator_test
from annotators.alignment.anchoring import anchoring_effect, yielding
from annotators.alignment.association import STATISTICS, association
from annotators.alignment.calibration import Bin, calibration
from annotators.alignment.ceiling import human_ceiling
from annotators.alignment.comparison import compare, steiger_z, williams_t
from annotators.alignment.means import mean_agreement
from annotators.alignment.pairs import Pairs
from annotators.alignment.prediction_powered import prediction_powered_mean
from annotators.alignment.resampling import Resampling
from annotators.alignment.result import Aligned, undefined
from annotators.alignment.small_samples import small_sample_warnings
from annotators.alignment.systems import SystemMeans, system_means, system_ranking
from annotators.alignment.thresholds import confusion, cross_validated, decide, roc_curve
from annotators.alignment.units import Candidate, Difference, Drawn, differences, draw_to_label, next_to_label
from annotators.alignment.words import TITLES

__all__ = [
    "STATISTICS",
    "TITLES",
    "Aligned",
    "Bin",
    "Candidate",
    "Difference",
    "Drawn",
    "Pairs",
    "Resampling",
    "SystemMeans",
    "alternative_annotator_test",
    "anchoring_effect",
    "association",
    "calibration",
    "compare",
    "confusion",
    "cross_validated",
    "decide",
    "differences",
    "draw_to_label",
    "human_ceiling",
    "mean_agreement",
    "next_to_label",
    "prediction_powered_mean",
    "roc_curve",
    "small_sample_warnings",
    "steiger_z",
    "system_means",
    "system_ranking",
    "undefined",
    "williams_t",
    "yielding",
]
