"""One annotator at length: beside the rest and beside adjudicated labels, what is taken for what, time and drift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotators.agreement.annotators import AnnotatorAgreement, agreement_with_rest
from annotators.agreement.pace import Drift, Speed, drifts
from annotators.agreement.tables.ratings import COMPOSED
from annotators.errors import NotFound
from annotators.figures import held_in_words
from db.engine import Database
from db.permissions import Actor
from db.quality.team import team_of
from db.studies.ratings import StudyRatings, decided_labels, ratings
from exports.agreement.annotators import MOST_LABELS, item_pace, reference_agreement
from exports.agreement.quality import Beside, compared_criteria
from exports.agreement.study import CriterionReport, unmeasured
from exports.drawing.tables import TextTable


@dataclass(frozen=True)
class OnCriterion:
    """What is known of an annotator on one criterion.

    `beside` is agreement, κ and bias with the rest, `decided` the same with what adjudicators decided (None where
    nothing is to be compared); `confusion` sets their labels against those of most of the rest; `drift` goes over time.
    """

    name: str
    title: str
    beside: AnnotatorAgreement | None
    decided: AnnotatorAgreement | None
    confusion: TextTable | None
    drift: Drift | None


@dataclass(frozen=True)
class OneAnnotator:
    """An annotator's time an item and how it changes (None before the first label), and each criterion that counts."""

    name: str
    speed: Speed | None
    pace: Drift | None
    criteria: list[OnCriterion]


def one_annotator(
    db: Database, actor: Actor, study_id: int, *, annotator: str, resamples: int = 1000, seed: int = 0
) -> OneAnnotator:
    """The annotator of that name; NotFound where there is none in the study. For researchers.

    Intervals are bootstrapped as on the page Agreement.
    """
    member = next((row for row in team_of(db, actor, study_id) if row.name == annotator), None)
    if member is None:
        raise NotFound(f"{annotator!r} is no annotator of the study.")
    found = ratings(db, actor, study_id)
    if member.person_id not in found.annotations.person:
        return OneAnnotator(annotator, None, None, [])
    name = found.names[member.person_id]
    decided = decided_labels(db, actor, study_id)
    speeds, changes = item_pace(found)
    return OneAnnotator(
        name,
        next(speed for speed in speeds if speed.rater == name),
        next(change for change in changes if change.rater == name),
        [
            _on_criterion(found, part, member.person_id, decided.get(part.column.criterion.name, {}), resamples, seed)
            for part in compared_criteria(found)
        ],
    )


def _on_criterion(  # noqa: PLR0917 - what was read
    found: StudyRatings, part: Beside, person_id: int, decided: dict[str, object], resamples: int, seed: int
) -> OnCriterion:
    criterion = part.column.criterion
    report: CriterionReport = unmeasured(found, criterion.name)
    name, table = found.names[person_id], report.ratings
    if table is None or name not in table.raters:
        return OnCriterion(criterion.name, criterion.title, None, None, None, None)

    def mine(rows: tuple[AnnotatorAgreement, ...]) -> AnnotatorAgreement:
        return next(row for row in rows if row.rater == name)

    beside = mine(agreement_with_rest(table, resamples=resamples, seed=seed))
    known = {
        unit: decided[called] for unit, called in enumerate(part.column.unit_names) if decided.get(called) is not None
    }
    settled = None
    if known and table.scale not in COMPOSED:
        settled = mine(reference_agreement(table, known, resamples=resamples, seed=seed))  # type: ignore[arg-type]
    drift = next(row for row in drifts(table, report.times) if row.rater == name)
    return OnCriterion(criterion.name, criterion.title, beside, settled, _confusion(part, person_id), drift)


def _confusion(part: Beside, person_id: int) -> TextTable | None:
    """How often the annotator gave which label where most of the rest gave which; None with too many labels."""
    given = part.own(person_id)
    own = given[part.rest[given] >= 0]
    if not len(own) or len(part.votes) > MOST_LABELS:
        return None
    names = part.column.criterion.in_order(part.votes)
    place = [part.votes.index(label) for label in names]
    counts = np.zeros((len(part.votes), len(part.votes)), dtype=np.int64)
    np.add.at(counts, (part.rest[own], part.code[own]), 1)
    rows = [[label, *(f"{n:,}" for n in counts[row, place].tolist())] for label, row in zip(names, place, strict=True)]
    held = held_in_words(len(own), {"on which most of the rest gave no one label": len(given) - len(own)})
    title = f"{part.column.criterion.title}: what they gave (columns) where most of the rest gave (rows); {held}"
    return TextTable.of(title, ["Most of the rest", *names], rows)
