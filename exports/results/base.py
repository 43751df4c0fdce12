"""What a report of a study's results is: it says which protocols it fits, and makes figures, tables and plots of one.

A report is one file of this folder with an object that is entered by `REPORTS.register`. It fits a protocol by what the
protocol asks, not by its name, so that a researcher's own variant of a built-in protocol has its report as well. It
gets the study's labels (`StudyLabels`) and gives `Findings`; what it needs besides (flags of evidence, pages, sides of
pairs) it reads itself with `labels.db`. The page, the command and files show all that fit, in the order of `order`, and
`shares.py`, which fits every protocol, last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Result
from annotators.protocols import Protocol as AskedProtocol
from annotators.registry import Registry
from exports.drawing.report_files import Section
from exports.results.labels import StudyLabels, Whose


@dataclass(frozen=True, kw_only=True)
class Figure(Result):
    """One figure of a report, with what it is about.

    `n` is how many labels or units it rests on. `group` is one group of items and `by` what the groups are (system,
    category, …); None is all of them. `label` is the label that a share is of, and `labels` whose labels they are:
    "settled", "each" of single annotators, or "judge". `against` says beside whose labels it stands: `value` is then
    the difference of `own` and `other`. `against_group` is the group that a difference is from, `p_value` that of the
    difference and `p_holm` adjusted for all of its criterion. Shares are 0 to 1; what is none (a mean, a coefficient)
    says so.
    """

    n: int
    criterion: str | None = None
    group: str | None = None
    by: str | None = None
    label: str | None = None
    labels: Whose | None = None
    against_group: str | None = None
    p_value: float | None = None
    p_holm: float | None = None
    is_share: bool = True
    against: str | None = None
    own: float | None = None
    other: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The figure as a row of `assay results --json`; what only some have (`by`, `label`, …) where there is one."""
        found: dict[str, Any] = {
            "name": self.name,
            "criterion": self.criterion,
            "group": self.group,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "n": self.n,
            "reason": self.reason,
        }
        for name in ("by", "label", "labels", "against", "own", "other", "against_group", "p_value", "p_holm"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        return found


@dataclass(frozen=True)
class Findings:
    """What a report found: its figures, the sections with tables that show them, what a reader must know besides.

    `plots` makes those of the first section (name, caption, chart): where they are shown only, since what draws them
    takes longer to import than the figures take.
    """

    figures: Sequence[Figure] = ()
    sections: Sequence[Section] = ()
    notes: Sequence[str] = ()
    plots: Callable[[], Iterable[tuple[str, str, Any]]] = tuple

    def drawn(self) -> Findings:
        """The same with its plots in the first section."""
        if not self.sections:
            return self
        first, *others = self.sections
        with_plots = replace(first, plots=[*first.plots, *self.plots()])
        return replace(self, sections=[with_plots, *others], plots=tuple)


class ProtocolReport(Protocol):
    """A report of the results of protocols of one sort. `order` is its place among those that fit: low comes first.

    `of_judges`: it is made of a judge's labels as of people's (`StudyLabels.whose`); the others are about people.
    """

    name: str
    order: int
    of_judges: bool

    def fits(self, protocol: AskedProtocol) -> bool:
        """Whether studies of this protocol have this report."""

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """The report; `asked` says the level of intervals, and how those are made that are drawn again."""


REPORTS: Registry[ProtocolReport] = Registry("report", "exports.results", extended=False)
"""All reports of results."""


def fitting(protocol: AskedProtocol, *, judge: bool = False) -> list[ProtocolReport]:
    """The reports that a protocol has, in their order; of a judge's labels those that are made of such."""
    fit = (report for report in REPORTS if report.fits(protocol) and (report.of_judges or not judge))
    return sorted(fit, key=lambda report: report.order)
