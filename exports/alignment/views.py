"""What the page Alignment shows of a study besides its tables: made where the labels are, small enough to be sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotators.alignment import LabelCandidate, Pairs, differences, system_means
from annotators.intervals.bootstrap import Resampling
from db.engine import Database
from exports.alignment import plots
from exports.alignment.advice import advice
from exports.alignment.data import Human, grade_titles, grades_by_group
from exports.alignment.scores import Metric
from exports.alignment.study import AlignmentReport, HumanRows, Labels, metrics_of, pairs_of


@dataclass(frozen=True)
class MetricOutline:
    """A metric as the page knows it: its name, the ends of its scale where they are known, its own threshold."""

    name: str
    scale: tuple[float, float] | None
    threshold: float | None


@dataclass(frozen=True)
class CriterionOutline:
    """A criterion as the page knows it, with the metrics that it can be set against; `reason` says why with none.

    `about_pairs` says that two answers are judged against each other.
    """

    name: str
    title: str
    labelled: bool
    about_score: str | None
    reason: str | None
    scale: tuple[float, float] | None
    about_pairs: bool
    metrics: tuple[MetricOutline, ...]


@dataclass(frozen=True)
class Outline:
    """A study's alignment without its labels: what is measured of what."""

    study_id: int
    labels: Labels
    asked: Resampling
    n_metrics: int
    criteria: tuple[CriterionOutline, ...]

    @classmethod
    def of(cls, report: AlignmentReport) -> Outline:
        """The outline of a report."""
        data = report.data
        assert data.study.id is not None
        criteria = tuple(
            CriterionOutline(
                name=human.criterion.name,
                title=human.criterion.title,
                labelled=bool(human.people),
                about_score=human.about_score,
                reason=human.reason,
                scale=human.scale,
                about_pairs=human.about_pairs,
                metrics=tuple(
                    MetricOutline(metric.name, metric.scale, metric.threshold)
                    for metric in metrics_of(report.data, human)
                ),
            )
            for human in data.humans
        )
        return cls(data.study.id, report.labels, report.asked, len(data.metrics), criteria)


def _found(report: AlignmentReport, criterion: str, metric: str) -> tuple[Human, Metric]:
    human = report.data.human(criterion)
    return human, next(scores for scores in metrics_of(report.data, human) if scores.name == metric)


# Plots ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MetricPlots:
    """The plots of a criterion and one metric, None where there is none, and the rows behind them without their names.

    `reason` says why there is no scatter, `held` how many of how many units the plots of the metric hold.
    """

    pairs: Pairs
    reason: str | None
    scatter: Any
    scatter_caption: str
    held: str
    systems: Any
    roc: Any
    calibration: Any


def metric_plots(report: AlignmentReport, criterion: str, metric: str) -> MetricPlots:
    """Scatter, systems and calibration of one metric, and the ROC curves of all metrics of the criterion."""
    human, chosen = _found(report, criterion, metric)
    rows = HumanRows.of(report.data, human, report.labels)
    pairs = rows.pairs(chosen)
    reason = pairs.why_not()
    names = [report.data.units[str(unit)].item for unit in pairs.units]
    curves = [
        (scores.name, pairs_of(report.data, human, scores, report.labels)) for scores in metrics_of(report.data, human)
    ]
    scale = human.calibrated_on
    return MetricPlots(
        pairs=replace(pairs, units=()),
        reason=reason,
        scatter=plots.scatter(pairs, criterion, metric, names) if reason is None else None,
        scatter_caption=plots.scatter_caption(pairs, criterion, metric, rows.held(chosen)),
        held=rows.held(chosen),
        systems=plots.systems(system_means(pairs), criterion, metric) if len(pairs.groups) > 1 else None,
        roc=plots.roc(curves),
        calibration=plots.calibration_of(pairs, scale, criterion, metric) if scale is not None else None,
    )


def grade_counts(report: AlignmentReport, criterion: str) -> tuple[list[str], dict[str, dict[str, dict[str, int]]]]:
    """The grades of a criterion about a score, and system and category → group → grade → how often it was given."""
    human = report.data.human(criterion)
    return grade_titles(human), grades_by_group(report.data, human)


# Units ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DifferingUnit:
    """A unit on which metric and people differ: its item, its target and system, both values, and how far apart."""

    item: str
    item_id: int
    target: str
    system: str
    human: float
    metric: float
    difference: float


@dataclass(frozen=True)
class Differing:
    """The units that differ most, how many there are in all, and their items in that order."""

    units: Sequence[DifferingUnit]
    n: int
    items: Sequence[str]


def differing_units(report: AlignmentReport, criterion: str, metric: str, *, turned: bool, most: int) -> Differing:
    """The units on which metric and people differ most; `turned` reads a metric of which little is good."""
    human, chosen = _found(report, criterion, metric)
    pairs = pairs_of(report.data, human, chosen, "item" if report.labels == "each" else report.labels)
    ends = chosen.scale[::-1] if turned and chosen.scale else chosen.scale
    found = differences(pairs, scale=human.scale, metric_scale=ends, turned=turned)
    facts = [report.data.units[str(unit.unit)] for unit in found]
    shown = [
        DifferingUnit(
            item=about.item,
            item_id=about.item_id,
            target=about.target,
            system=about.groups["system"],
            human=unit.human,
            metric=unit.metric,
            difference=unit.difference,
        )
        for unit, about in zip(found[:most], facts[:most], strict=True)
    ]
    return Differing(shown, len(found), list(dict.fromkeys(fact.item for fact in facts)))


@dataclass(frozen=True)
class AdvisedItem:
    """An item without a label: its system, the metric's score of it, and what its label is worth."""

    item: str
    item_id: int
    system: str
    score: float | None
    worth: LabelCandidate


def advised_items(
    db: Database, report: AlignmentReport, criterion: str, metric: str, *, most: int
) -> tuple[list[AdvisedItem], int]:
    """The items whose label would tell most about the metric, and how many there are without one."""
    found = advice(db, report, *_found(report, criterion, metric))
    rows = []
    for candidate in found.candidates[:most]:
        item = found.items[str(candidate.unit)]
        rows.append(AdvisedItem(item.item, item.item_id, item.system, item.scores.get(metric), candidate))
    return rows, len(found.candidates)


def advised_draw(
    db: Database, report: AlignmentReport, criterion: str, metric: str, *, n: int
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """n of these items drawn with known probabilities, and what their study keeps of the draw."""
    return advice(db, report, *_found(report, criterion, metric)).draw(n, seed=report.asked.seed)
