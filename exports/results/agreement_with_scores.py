"""Metric agreement: mean grades by group and the unweighted mean of the groups, FATHOMS-RAG's Table I, and radars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.protocols import Protocol
from exports.alignment.data import NOTHING, Human, StudyData, study_data
from exports.alignment.scores import Metric, metrics_about
from exports.alignment.sections import means_tables
from exports.alignment.study import HumanRows, mean_agreements
from exports.drawing import charts
from exports.drawing.radar import MOST_LINES, left_undrawn, radar
from exports.drawing.report_files import Section, slug
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import StudyLabels

GROUP = "group"
"""The field of an item's metadata that says to which group its system belongs."""


class AgreementWithScores:
    """Table I of FATHOMS-RAG (section IV.D), for protocols that ask agreement with scores.

    Each item counts once, by the mean of its annotators' grades. The table has the mean of each group with its
    interval, and the unweighted mean of the groups, as in the paper: (5.00 + 4.44 + 4.42) / 3 = 4.62. Groups are
    systems, categories and, where items have such a field, `group`. The radars have the means of grades, and of the
    scores themselves, by category, a line for each system.
    """

    name = "agreement_with_scores"
    order = 20
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Protocols about scores."""
        return any(protocol.scores_judged_by(criterion) for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A table a grouping; the radars are made when they are shown."""
        data = study_data(labels.db, labels.actor, labels.study_id, named=False, by=GROUP, settled=False)
        tables = [HumanRows.of(data, human, "item") for human in data.humans if human.about_score is not None]
        grouped = [
            by
            for by in (GROUP, "system", "category")
            if {facts.groups[by] for facts in data.units.values()} - {NOTHING}
        ]
        means = [mean for table in tables for mean in mean_agreements(table, grouped or ["system"], asked)]
        section = Section("Agreement with scores", means_tables(means), words=[_HOW])
        return Findings(
            [_figure(mean) for mean in means], [section], plots=lambda: _radars(data, [table.human for table in tables])
        )


REPORTS.register(AgreementWithScores())

_HOW = (
    "Each item counts once, by the mean of its annotators' grades. The unweighted mean gives each group the same "
    "weight, as in FATHOMS-RAG, Table I."
)


def _figure(mean: Aligned) -> Figure:
    return Figure(
        name=mean.name,
        value=mean.value,
        interval=mean.interval,
        method=mean.method,
        reason=mean.reason,
        n=mean.n,
        criterion=mean.criterion,
        group=mean.group,
        by=mean.by,
        is_share=False,
    )


# Radars ---------------------------------------------------------------------------------------------------------------

Means = dict[str, dict[str, float | None]]
"""System → category → mean."""


def _radars(data: StudyData, humans: Sequence[Human]) -> Iterator[tuple[str, str, Any]]:
    for human in humans:
        grades = _by_category(data, human.one_each()[0])
        high = human.scale[1] if human.scale is not None else 1.0
        chart = radar(*_drawn(grades), charts.PRINTED, high=high)
        if chart is not None:
            caption = f"{human.criterion.title}: mean grade of each category, from 0 at the centre to {high:g}."
            caption += left_undrawn(len(grades))
            yield f"{slug(human.criterion.name)}-radar", caption, chart
        for metric in metrics_about(data.metrics, human.about_score)[:1]:
            yield from _of_scores(data, metric)


def _of_scores(data: StudyData, metric: Metric) -> Iterator[tuple[str, str, Any]]:
    """The scores themselves, each axis up to its highest mean, as figures 1 and 2 of FATHOMS-RAG have them."""
    means = _by_category(data, metric.values)
    highest = {
        category: max((of.get(category) or 0.0 for of in means.values()), default=0.0) or 1.0
        for category in {category for of in means.values() for category in of}
    }
    shares: Means = {
        system: {name: None if mean is None else mean / highest[name] for name, mean in of.items()}
        for system, of in means.items()
    }
    chart = radar(*_drawn(shares), charts.PRINTED)
    if chart is not None:
        caption = f"{metric.name}: mean of each category as a share of the highest system's, which is at the rim."
        caption += left_undrawn(len(means))
        yield f"{slug(metric.name)}-scores-radar", caption, chart


def _drawn(means: Means) -> tuple[Means, list[str]]:
    """As many systems as a radar has lines, and the categories in their order."""
    systems = dict(sorted(means.items())[:MOST_LINES])
    return systems, sorted({category for of in systems.values() for category in of})


def _by_category(data: StudyData, values: Mapping[str, float]) -> Means:
    given: dict[str, dict[str, list[float]]] = {}
    for unit, value in values.items():
        groups = data.units[unit].groups
        given.setdefault(groups["system"], {}).setdefault(groups["category"], []).append(value)
    return {system: {category: sum(many) / len(many) for category, many in of.items()} for system, of in given.items()}
