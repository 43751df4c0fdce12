"""The alignment report as sections of tables and plots: what the page, the command and the files show alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotators.alignment import title_of
from annotators.alignment.statistics.calibration import ON_ONE_SCALE
from annotators.alignment.statistics.ceiling import CEILING, TO_REST
from annotators.alignment.statistics.comparison import DIFFERENCES, EQUIVALENCES, STEIGER_Z, WILLIAMS_T
from annotators.figures import p_value
from annotators.intervals.result import Aligned
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable

HEADLINES = (
    "pearson", "spearman", "kendall_tau_b", "pairwise_accuracy", "auroc", "accuracy", "cohen_kappa",
    "cohen_kappa_quadratic", "cohen_kappa_best_threshold",
)  # fmt: skip
"""The columns of the table of metrics; a column that nobody has a value in is left out."""


def number(value: float | None, digits: int = 3) -> str:
    """`0.725`, with a true minus sign; nothing for None."""
    if value is None:
        return ""
    text = f"{value:.{digits}f}"
    return (text.removeprefix("-") if float(text) == 0 else text).replace("-", "−")


def figure(entry: Aligned | None, digits: int = 3, *, reasons: bool = False) -> str:
    """`0.725 [0.641, 0.790]`; an undefined value as a dash, or with its reason in words."""
    if entry is None:
        return ""
    if entry.value is None:
        return f"not defined: {entry.reason}" if reasons else "–"
    text = number(entry.value, digits)
    if entry.low is None or entry.high is None:
        return text
    return f"{text} [{number(entry.low, digits)}, {number(entry.high, digits)}]"


def chosen(statistics: Iterable[Aligned], **about: Any) -> list[Aligned]:
    """The statistics that are about exactly this; a value of ... is anything."""
    wanted = {key: value for key, value in about.items() if value is not ...}
    return [
        statistic for statistic in statistics if all(getattr(statistic, key) == value for key, value in wanted.items())
    ]


def metrics_table(statistics: Sequence[Aligned], criterion: str, digits: int = 3) -> TextTable:
    """One row a metric with every headline coefficient and its interval; the human ceiling is the last row."""
    here = chosen(statistics, criterion=criterion, group=None, against=None)
    metrics = list(
        dict.fromkeys(entry.metric for entry in here if entry.name in HEADLINES and entry.metric is not None)
    )
    cells = {(entry.metric, entry.name): entry for entry in here}
    alone = {ceiling.name: of.name for of, ceiling in CEILING.items()}
    ceilings = {alone[statistic.name]: statistic for statistic in here if statistic.name in alone}
    used = [
        name
        for name in HEADLINES
        if any((entry := cells.get((metric, name))) is not None and entry.value is not None for metric in metrics)
        or name == "spearman"
        or ((ceiling := ceilings.get(name)) is not None and ceiling.value is not None)
    ]
    rows = []
    for metric in metrics:
        first = next(cells[metric, name] for name in HEADLINES if (metric, name) in cells)
        rows.append([metric, f"{first.n:,}", *(figure(cells.get((metric, name)), digits) for name in used)])
    to_rest = {statistic.name: of.name for of, statistic in TO_REST.items()}
    rest = {(entry.metric, to_rest[entry.name]): entry for entry in here if entry.name in to_rest}
    for metric in metrics:
        mine = [rest.get((metric, name)) for name in used]
        if any(entry is not None and entry.value is not None for entry in mine):
            rows.append([f"{metric} against the rest, as one person", "", *(figure(entry, digits) for entry in mine)])
    if any(ceiling.value is not None for ceiling in ceilings.values()):
        n = next(iter(ceilings.values())).n
        rows.append(
            [f"one person against the rest ({n} people)", "", *(figure(ceilings.get(name), digits) for name in used)]
        )
    return TextTable.of(
        f"{criterion}: metrics against people", ["Metric", "n", *(title_of(name) for name in used)], rows
    )


def reasons_of(statistics: Sequence[Aligned], criterion: str) -> list[str]:
    """Why coefficients of this criterion are not defined, each once with the metrics that it is about."""
    found: dict[tuple[str, str], list[str]] = {}
    for entry in chosen(statistics, criterion=criterion, group=None):
        if entry.reason is not None:
            found.setdefault((entry.metric or "", entry.reason), []).append(title_of(entry.name))
    about: dict[tuple[str, str], list[str]] = {}
    for (metric, reason), names in found.items():
        about.setdefault((_listed(names), reason), []).extend([metric] if metric else [])
    return [
        f"{', '.join(metrics) + ': ' if metrics else ''}{names} not defined: {reason}."
        for (names, reason), metrics in about.items()
    ]


def _listed(names: Sequence[str]) -> str:
    short = list(dict.fromkeys(names))
    return ", ".join(short[:4]) + (f" and {len(short) - 4} more" if len(short) > 4 else "")


def matrix_table(statistics: Sequence[Aligned], name: str = "spearman") -> TextTable:
    """Metric × criterion: one coefficient of each, with its interval."""
    here = [entry for entry in chosen(statistics, name=name, group=None, against=None) if entry.metric is not None]
    criteria = list(dict.fromkeys(entry.criterion or "" for entry in here))
    metrics = list(dict.fromkeys(entry.metric for entry in here))
    cells = {(entry.metric, entry.criterion): entry for entry in here}
    rows = [[metric, *(figure(cells.get((metric, criterion)), 2) for criterion in criteria)] for metric in metrics]
    return TextTable.of(f"{title_of(name)} of every metric with every criterion", ["Metric", *criteria], rows)


def means_called(found: Sequence[Aligned]) -> str:
    """What the means of people's values are: of how far they agree with a score, or of what else they judge."""
    return "Mean agreement" if any(entry.metric is not None for entry in found) else "Mean of the human values"


def means_tables(statistics: Sequence[Aligned]) -> list[TextTable]:
    """Mean agreement by group with n and the unweighted mean, one table a grouping: Table I of FATHOMS."""
    found = chosen(statistics, name="mean_agreement")
    criteria = list(dict.fromkeys(entry.criterion for entry in found))
    tables = []
    for by in dict.fromkeys(entry.by for entry in found if entry.by is not None):
        groups = list(dict.fromkeys(entry.group for entry in found if entry.by == by))
        rows = []
        for group in groups:
            cells = [next(iter(chosen(found, criterion=name, group=group, by=by)), None) for name in criteria]
            rows.append([group or "", *_means(cells)])
        macro = [
            next(iter(chosen(statistics, name="macro_mean_agreement", criterion=c, by=by)), None) for c in criteria
        ]
        if any(macro):
            rows.append(["Unweighted mean of the groups", *_means(macro)])
        everything = [next(iter(chosen(found, criterion=name, group=None, by=None)), None) for name in criteria]
        rows.append(["All units", *_means(everything)])
        columns = [part for name in criteria for part in (f"{name or ''}", "n")]
        tables.append(TextTable.of(f"{means_called(found)} by {by}", [(by or "").capitalize(), *columns], rows))
    if not tables and found:
        rows = [[entry.criterion or "", *_means([entry])] for entry in found]
        tables.append(TextTable.of(means_called(found), ["Criterion", "Mean", "n"], rows))
    return tables


def _means(cells: Sequence[Aligned | None]) -> list[str]:
    return [text for cell in cells for text in (figure(cell, 2), f"{cell.n:,}" if cell else "")]


def groups_table(statistics: Sequence[Aligned], criterion: str, name: str) -> TextTable | None:
    """One coefficient of every metric by group; None without groups."""
    here = [entry for entry in chosen(statistics, criterion=criterion, name=name) if entry.group is not None]
    if not here:
        return None
    metrics = list(dict.fromkeys(entry.metric or "" for entry in here))
    groups = list(dict.fromkeys((entry.by, entry.group) for entry in here))
    cells = {(entry.by, entry.group, entry.metric): entry for entry in here}
    rows = []
    for by, group in groups:
        n = max(cells[by, group, metric].n for metric in metrics if (by, group, metric) in cells)
        rows.append([by, group, f"{n:,}", *(figure(cells.get((by, group, metric)), 2) for metric in metrics)])
    return TextTable.of(f"{criterion}: {title_of(name)} by group", ["By", "Group", "n", *metrics], rows)


def plain_table(
    statistics: Sequence[Aligned], criterion: str, names: Sequence[str], caption: str, digits: int = 3
) -> TextTable | None:
    """The named statistics one below the other, with their methods; None when there are none."""
    here = [entry for entry in chosen(statistics, criterion=criterion, group=None) if entry.name in names]
    if not here:
        return None
    rows = []
    for entry in here:
        whose = (entry.metric or "") + (f" / {entry.against}" if entry.against else "")
        rows.append(
            [whose, title_of(entry.name), figure(entry, digits, reasons=True), f"{entry.n:,}", entry.method or ""]
        )
    return TextTable.of(caption, ["Metric", "Statistic", "Value", "n", "How"], rows)


def equivalence_table(statistics: Sequence[Aligned], criterion: str, digits: int = 3) -> TextTable | None:
    """Which differences of two metrics are shown to be within the margin; None where nobody asked."""
    here = [
        entry
        for entry in chosen(statistics, criterion=criterion, group=None)
        if entry.name in {statistic.name for statistic in EQUIVALENCES.values()}
    ]
    if not here:
        return None
    titles = {equivalence.name: equivalence.of for equivalence in EQUIVALENCES.values()}
    rows = []
    for entry in here:
        of = titles[entry.name]
        p = entry.p_value if entry.p_holm is None else entry.p_holm
        rows.append(
            [
                f"{entry.metric or ''} / {entry.against or ''}",
                of.title if of is not None else "",
                entry.verdict or f"not tested: {entry.reason}",
                figure(entry, digits) if entry.value is not None else "",
                "" if p is None else p_value(p),
                f"{entry.n:,}",
                entry.method or "",
            ]
        )
    columns = ("Metrics", "Coefficient", "Verdict", "Difference", "p", "n", "How")
    return TextTable.of(f"{criterion}: are two metrics equivalent within ±{here[0].margin:g}?", columns, rows)


OTHERS = (
    (
        "Two metrics compared",
        tuple(statistic.name for statistic in (*DIFFERENCES, WILLIAMS_T, STEIGER_Z)),
    ),
    ("Do metric and people rank the systems alike", ("system_kendall_tau_b", "system_pairwise_accuracy")),
    ("Do metric and people order the answers to one question alike", ("tie_calibrated_accuracy",)),
    ("Does the metric give the same numbers as people", tuple(statistic.name for statistic in ON_ONE_SCALE)),
    (
        "The metric against the rest of the people, as one person would be",
        tuple(statistic.name for statistic in TO_REST.values()),
    ),
    ("Calibration", ("calibration_error",)),
    ("May it replace an annotator (alternative annotator test)", ("alt_test_winning_rate", "alt_test_advantage")),
    (
        "The human mean over all that the metric has values of (prediction-powered)",
        ("classical_mean", "ppi_mean", "ppi_plus_plus_mean"),
    ),
    ("Anchoring", ("anchoring_effect", "blind_distance", "yielding")),
)  # fmt: skip
"""The further tables of a criterion: caption and the statistics in it."""


def sections(statistics: Sequence[Aligned]) -> list[Section]:
    """The tables of a report, in its order."""
    found: list[Section] = []
    criteria = list(dict.fromkeys(statistic.criterion for statistic in statistics if statistic.criterion is not None))
    compared = [
        criterion for criterion in criteria if any(s.name in HEADLINES for s in chosen(statistics, criterion=criterion))
    ]
    if len(compared) > 1:
        found.append(Section("Metrics and criteria", [matrix_table(statistics)]))
    means = means_tables(statistics)
    if means:
        found.append(Section(means_called(chosen(statistics, name="mean_agreement")), means))
    for criterion in criteria:
        tables: list[TextTable] = []
        if criterion in compared:
            tables.append(metrics_table(statistics, criterion))
            grouped = groups_table(statistics, criterion, "spearman")
            tables += [grouped] if grouped else []
            equivalent = equivalence_table(statistics, criterion)
            tables += [equivalent] if equivalent else []
        for caption, names in OTHERS:
            made = plain_table(statistics, criterion, names, f"{criterion}: {caption}")
            tables += [made] if made else []
        if tables:
            words = reasons_of(statistics, criterion) if criterion in compared else []
            found.append(Section(criterion, tables, words=words))
    return found


def titled(given: TextTable, titles: Mapping[str, str]) -> TextTable:
    """The table with titles of criteria where it heads or begins with their names."""
    about, colon, rest = given.caption.partition(": ")
    caption = f"{titles.get(about, about)}{colon}{rest}"
    columns = [titles.get(column, column) for column in given.columns]
    rows = [[titles.get(row[0], row[0]), *row[1:]] if given.columns[0] == "Criterion" else row for row in given.rows]
    return TextTable.of(caption, columns, rows)
