"""What to label next: the items whose label would tell most, and a draw of some of them that can be weighed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotators.alignment import LabelCandidate, draw_to_label, next_to_label
from annotators.errors import InvalidInput, NotFound
from db.engine import Database
from db.permissions import Actor
from exports.alignment.data import Human
from exports.alignment.scores import Metric, ProjectItem, project_items
from exports.alignment.study import AlignmentReport, alignment_in_parts, metrics_of, pairs_of

NOT_OF_PAIRS = "compares pairs of answers, and advice is about single ones. Name a study that judges answer by answer."


@dataclass(frozen=True)
class Advice:
    """The items without a label with what their label is worth, the most telling first, and those left out of it.

    `criterion` is what a label would be on, `metric` what it would tell about.
    """

    criterion: str
    metric: str
    candidates: Sequence[LabelCandidate]
    items: dict[str, ProjectItem]
    labelled: Sequence[str]

    def draw(self, n: int, seed: int) -> tuple[tuple[str, ...], dict[str, Any]]:
        """n items drawn with known probabilities, and what the settings of their study keep of the draw.

        `drawn_with` is item → probability; estimates from the study's labels weigh each by one over it. What was
        labelled before could not be drawn: `not_drawn_from` leaves it out of what the estimates are about.
        """
        drawn = draw_to_label(self.candidates, n, seed=seed)
        settings = {
            "drawn_with": {str(unit.unit): unit.probability for unit in drawn},
            "not_drawn_from": list(self.labelled),
            "draw_seed": seed,
        }
        return tuple(str(unit.unit) for unit in drawn), settings


def advice_on(db: Database, actor: Actor, study_id: int, *, metric: str, criterion: str | None = None) -> Advice:
    """The advice of a study about a metric, without measuring anything else.

    `criterion` None takes the first that the metric can be set against. NotFound lists the metrics, or the criteria;
    InvalidInput for a study about pairs.
    """
    report = next(alignment_in_parts(db, actor, study_id, named=False))
    if report.data.protocol.about_pairs:
        raise InvalidInput(f"The study {report.study!r} {NOT_OF_PAIRS}")
    humans = report.data.humans if criterion is None else [report.data.human(criterion)]
    fitting = [(human, scores) for human in humans for scores in metrics_of(report.data, human)]
    for human, scores in fitting:
        if scores.name == metric:
            return advice(db, report, human, scores)
    known = ", ".join(sorted({scores.name for _, scores in fitting})) or "none"
    raise NotFound(f"There are no scores named {metric!r} to set against people here. Known: {known}.")


def advice(db: Database, report: AlignmentReport, human: Human, metric: Metric) -> Advice:
    """All current items of the project with a score and without a label on this criterion, by what a label is worth."""
    metrics = [metric for metric in report.data.metrics if not metric.judge]
    items = project_items(db, report.data.study.project_id, metrics)
    done = {
        facts.version_id for unit, facts in report.data.units.items() if any(unit in p for p in human.people.values())
    }
    open_items = [item for item in items if item.version_id not in done]
    pairs = pairs_of(report.data, human, metric, "item") if human.about_score is None else None
    found = next_to_label(
        [item.item for item in open_items],
        {metric.name: [item.scores.get(metric.name) for item in open_items] for metric in metrics},
        labelled=pairs,
        chosen=metric.name if not metric.judge else None,
        clusters=[item.question for item in open_items],
        most=len(open_items),
    )
    return Advice(
        human.criterion.name,
        metric.name,
        found,
        {item.item: item for item in open_items},
        [item.item for item in items if item.version_id in done],
    )
