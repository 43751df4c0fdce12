"""Agreement among raters: one table of ratings, the coefficients over it, their intervals, and the words for them."""

from annotators.agreement.report import STATISTICS, default_statistics, measure
from annotators.agreement.result import Interval, IntervalKind, Statistic
from annotators.agreement.table import SCALES, Label, Ratings, Scale
from annotators.agreement.words import TITLES, headline, prevalence_warning, sentence

__all__ = [
    "SCALES",
    "STATISTICS",
    "TITLES",
    "Interval",
    "IntervalKind",
    "Label",
    "Ratings",
    "Scale",
    "Statistic",
    "default_statistics",
    "headline",
    "measure",
    "prevalence_warning",
    "sentence",
]
