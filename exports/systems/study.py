"""The labels of a study's annotators as what systems are compared by."""

from __future__ import annotations

from collections.abc import Iterator

from annotators.criteria import Criterion
from annotators.errors import NotFound
from annotators.intervals.result import Raters
from annotators.items.targets import TargetKind
from annotators.mixed.systems import SystemComparison, SystemLabels, compare_systems
from db.engine import Database
from db.permissions import Actor
from db.studies.ratings import CriterionRatings, StudyItems, StudyRatings, ratings
from exports.systems.report import SystemsReport


def comparable(criterion: Criterion) -> bool:
    """Whether systems can be compared by it: asked of whole items, with labels that are numbers, ordered, or two."""
    return criterion.target == TargetKind.ITEM and criterion.as_numbers().reason is None


def comparisons(
    study: StudyRatings,
    *,
    criterion: str | None = None,
    raters: Raters = "random",
    level: float = 0.95,
    margin: float | None = None,
) -> Iterator[tuple[str, SystemComparison]]:
    """(title, comparison) of each criterion that systems can be compared by, or of the one that is named.

    Raises NotFound for a criterion that the study does not ask, or that systems cannot be compared by.
    """
    # A grade of agreement with a score is about the score, not about the system.
    there = [
        column
        for column in study.criteria
        if comparable(column.criterion) and not study.protocol.scores_judged_by(column.criterion)
    ]
    columns = there
    if criterion is not None:
        columns = [column for column in columns if column.criterion.name == criterion]
        if not columns:
            known = ", ".join(column.criterion.name for column in there)
            raise NotFound(
                f"Systems cannot be compared by {criterion!r}: it is not asked of whole items with labels in order. "
                f"They can by: {known or 'none of the criteria'}."
            )
    for column in columns:
        labels = _labels(column, study.items)
        if len(labels.value):
            made = compare_systems(labels, criterion=column.criterion.name, raters=raters, level=level, margin=margin)
            yield column.criterion.title, made


def _labels(column: CriterionRatings, items: StudyItems) -> SystemLabels:
    """Every label of single annotators; what has no number (cannot judge) is left out."""
    numbers = column.criterion.as_numbers()
    as_number = [numbers.number(value) for value in column.distinct]
    given = [
        (number, item, rater)
        for value, unit, rater in zip(column.value.tolist(), column.unit.tolist(), column.rater.tolist(), strict=True)
        if (number := as_number[value]) is not None
        for item in [int(column.item[unit])]
    ]
    return SystemLabels.of(
        [number for number, _, _ in given],
        [items.system[item] for _, item, _ in given],
        [int(items.question[item]) for _, item, _ in given],
        [rater for _, _, rater in given],
        answers=[item for _, item, _ in given],
        scale=numbers.scale,
    )


def systems_of_study(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    criterion: str | None = None,
    raters: Raters = "random",
    level: float = 0.95,
    margin: float | None = None,
) -> SystemsReport:
    """Systems compared by the labels of a study; permissions are those of reading its labels."""
    study = ratings(db, actor, study_id, named=False)
    found = list(comparisons(study, criterion=criterion, raters=raters, level=level, margin=margin))
    notes = [] if found else ["No criterion of the study is asked of whole items with labels in order, and has labels."]
    facts = [("Study", study.study.name), ("Protocol", study.protocol.title), ("Items", f"{study.study.n_items:,}")]
    about = {"study": study.study.name, "protocol": study.protocol.name}
    return SystemsReport.of(f"Systems in study {study.study.name}", facts, found, level, about, notes=notes)
