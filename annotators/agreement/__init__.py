"""Agreement among raters: one table of ratings, the coefficients over it, their intervals, and the words for them."""

from annotators.agreement.catalogue import default_statistics, headline
from annotators.agreement.columns import CriterionTable, tables_of, wide_columns
from annotators.agreement.criteria_report import CriterionAgreement, agreement_report, criterion_agreement
from annotators.agreement.differences import Difference, by_raters, difference
from annotators.agreement.own_weights import OwnWeights
from annotators.agreement.remarks import benchmarks, warnings_about
from annotators.agreement.report import measure
from annotators.agreement.result import Interval, IntervalKind, Statistic
from annotators.agreement.simultaneous import Simultaneous, holm, jointly
from annotators.agreement.table import SCALES, Box, Label, Ratings, Scale
from annotators.agreement.words import prevalence_warning, sentence
from annotators.coefficient_names import STATISTICS, TITLES

__all__ = [
    "SCALES",
    "STATISTICS",
    "TITLES",
    "Box",
    "CriterionAgreement",
    "CriterionTable",
    "Difference",
    "Interval",
    "IntervalKind",
    "Label",
    "OwnWeights",
    "Ratings",
    "Scale",
    "Simultaneous",
    "Statistic",
    "agreement_report",
    "benchmarks",
    "by_raters",
    "criterion_agreement",
    "default_statistics",
    "difference",
    "headline",
    "holm",
    "jointly",
    "measure",
    "prevalence_warning",
    "sentence",
    "tables_of",
    "warnings_about",
    "wide_columns",
]
