"""Metric or judge against people: the table of pairs, the statistics over it with their intervals, single units."""

from annotators.alignment.small_samples import small_sample_warnings
from annotators.alignment.statistics.alternative_annotator import alternative_annotator_test
from annotators.alignment.statistics.anchoring import anchoring_effect, yielding
from annotators.alignment.statistics.association import ASSOCIATION, association
from annotators.alignment.statistics.base import title_of
from annotators.alignment.statistics.calibration import ERROR, Bin, calibration, on_one_scale
from annotators.alignment.statistics.ceiling import human_ceiling
from annotators.alignment.statistics.comparison import (
    STEIGER_Z,
    WILLIAMS_T,
    compare,
    equivalences,
    steiger_z,
    williams_t,
)
from annotators.alignment.statistics.means import mean_agreement
from annotators.alignment.statistics.prediction_powered import prediction_powered_mean
from annotators.alignment.statistics.preferences import preferred_alike, tie_calibrated_accuracy
from annotators.alignment.statistics.systems import SystemMeans, system_means, system_ranking
from annotators.alignment.statistics.thresholds import confusion, cross_validated, decide, roc_curve
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.units import (
    DrawnUnit,
    LabelCandidate,
    UnitDifference,
    differences,
    draw_to_label,
    next_to_label,
)
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned

TESTS = (WILLIAMS_T.name, STEIGER_Z.name, ERROR.name)
"""The tests of which a report makes several, each over metrics, criteria and groups."""

__all__ = [
    "ASSOCIATION",
    "TESTS",
    "Aligned",
    "Bin",
    "DrawnUnit",
    "LabelCandidate",
    "Pairs",
    "Resampling",
    "SystemMeans",
    "UnitDifference",
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
    "equivalences",
    "human_ceiling",
    "mean_agreement",
    "next_to_label",
    "on_one_scale",
    "prediction_powered_mean",
    "preferred_alike",
    "roc_curve",
    "small_sample_warnings",
    "steiger_z",
    "system_means",
    "system_ranking",
    "tie_calibrated_accuracy",
    "title_of",
    "williams_t",
    "yielding",
]
