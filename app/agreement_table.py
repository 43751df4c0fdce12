"""The table of agreement as people read it: the same rows on the page and on the command line."""

from __future__ import annotations

from annotators.agreement import Statistic
from app import wording
from app.tables import TextTable
from exports.agreement import AgreementReport, CriterionReport

COLUMNS = ("Criterion", "Units", "Raters", "Raw", "Krippendorff's α", "Specific", "Fleiss' κ", "Mean Cohen's κ")


def agreement_table(report: AgreementReport) -> TextTable:
    """One row a criterion: numbers, raw agreement, the coefficients with their intervals, undefined in words."""
    return TextTable.of(f"Agreement in study {report.study}", COLUMNS, [_row(one) for one in report.criteria])


def agreement_lines(report: AgreementReport) -> str:
    """The table in columns of text, then the sentences to paste and the warnings."""
    table = agreement_table(report)
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    right = [table.numeric(place) for place in range(len(widths))]

    def line(cells: tuple[str, ...]) -> str:
        padded = (
            cell.rjust(width) if end else cell.ljust(width)
            for cell, width, end in zip(cells, widths, right, strict=True)
        )
        return "  ".join(padded).rstrip()

    words = [one.sentence for one in report.criteria if one.sentence and one.n_ratings]
    warnings = [f"{one.criterion.title} is skewed: {one.warning}" for one in report.criteria if one.warning]
    blocks = [line(table.columns), *map(line, table.rows), "", *words, *warnings]
    return "\n".join(blocks)


def _row(one: CriterionReport) -> list[str]:
    raw, fleiss = one.find("percent_agreement"), one.find("fleiss_kappa")
    kappa = one.find("light_kappa") or one.find("cohen_kappa")
    coefficient = one.headline
    return [
        one.criterion.title,
        f"{one.n_units:,}",
        str(one.n_raters),
        wording.percent(raw.value) if raw and raw.value is not None else "",
        _in_words(coefficient) if coefficient else f"not measured for {one.criterion.scale} labels",
        " / ".join(_share(stat) for stat in one.statistics if stat.name == "specific_agreement"),
        _in_words(fleiss) if fleiss and fleiss.value is not None else "",
        _in_words(kappa) if kappa and kappa.value is not None else "",
    ]


def _in_words(statistic: Statistic) -> str:
    return wording.interval(statistic.value, statistic.low, statistic.high, reason=statistic.reason)


def _share(statistic: Statistic) -> str:
    return "–" if statistic.value is None else f"{100 * statistic.value:.0f}"
