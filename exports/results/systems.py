"""Systems compared: the means of systems by each criterion and every difference, by mixed models."""

from __future__ import annotations

from dataclasses import replace

from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.protocols import Protocol
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import StudyLabels
from exports.systems.report import section_of
from exports.systems.study import comparable, comparisons


class Systems:
    """Which systems people's labels tell apart, for studies of several systems: about raters like these."""

    name = "systems"
    order = 90
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Protocols that ask something of whole items whose labels are numbers, in order, or two."""
        return any(comparable(criterion) for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A section a criterion; nothing where all items are of one system, or no difference has an interval."""
        if not labels.groups("system"):
            return Findings()
        found = [
            (title, comparison)
            for title, comparison in comparisons(labels.found, level=asked.level)
            if any(entry.low is not None for entry in comparison.differences)
        ]
        figures = [_figure(entry) for _, comparison in found for entry in (*comparison.means, *comparison.differences)]
        sections = [section_of(title, comparison, asked.level) for title, comparison in found]
        return Findings(figures, [replace(part, title=f"Systems by {part.title}") for part in sections])


REPORTS.register(Systems())


def _figure(entry: Aligned) -> Figure:
    return Figure(
        name=entry.name,
        value=entry.value,
        interval=entry.interval,
        method=entry.method,
        reason=entry.reason,
        n=entry.n,
        criterion=entry.criterion,
        group=entry.group,
        by="system",
        against_group=entry.against,
        p_value=entry.p_value,
        p_holm=entry.p_holm,
        labels="each",
        is_share=False,
    )
