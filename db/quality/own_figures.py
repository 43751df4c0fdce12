"""What annotators see of their own figures, where their study says so: of themselves only, and never of one item.

Figures stand as they were when the day began, and of so many labels at least (`FEWEST`): what others gave, or whether
an item was gold, could otherwise be told from how they move when one label changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.designing.own_figures import GOLD, PROGRESS, QUALITY
from annotators.protocols import Protocol
from annotators.times import today_began
from db.annotating.planting import gold_labels_given
from db.engine import Database
from db.items.current import is_set_aside
from db.models import Annotation, AnnotationKind, StoredLabel, Study, StudyMember
from db.permissions import Actor, On, operation
from db.query import pick
from db.studies.design import protocol_of
from db.studies.places import MAY_ANNOTATE

FEWEST = 10
"""Labels below which no share is told."""

LATEST = 500
"""How many of somebody's latest items are looked at."""

_Unit = tuple[int, str, str]
"""A study item, a criterion and a target."""


@dataclass(frozen=True)
class Counted:
    """So many of n labels; `share` is None below `FEWEST`."""

    hits: int
    n: int

    @property
    def share(self) -> float | None:
        """The share (0..1), where there are enough labels."""
        return self.hits / self.n if self.n >= FEWEST else None


@dataclass(frozen=True)
class OwnFigures:
    """One study of mine: how often I gave what most of the rest gave, and what I gave before; right gold labels.

    `gold` is None where the study does not tell it.
    """

    study_id: int
    study: str
    with_rest: Counted
    self_agreement: Counted
    gold: Counted | None


@operation(On.APP, anyone_signed_in=True)
def my_figures(db: Database, actor: Actor, *, before: datetime | None = None) -> list[OwnFigures]:
    """My figures in the studies that tell them, in the order they were made, of what was submitted `before`.

    That is the server's midnight unless told otherwise.
    """
    until = before or today_began()
    with db.read() as session:
        studies = session.execute(
            pick(Study)
            .join(StudyMember, col(StudyMember.study_id) == col(Study.id))
            .where(col(StudyMember.person_id) == actor.person_id, MAY_ANNOTATE)
            .order_by(col(Study.id))
        ).scalars()
        return [
            _figures(session, study, actor.person_id, until)
            for study in studies
            if study.settings.get("own_figures", PROGRESS) in (QUALITY, GOLD)
        ]


def _figures(session: Session, study: Study, person_id: int, until: datetime) -> OwnFigures:
    assert study.id is not None
    protocol = protocol_of(study)
    mine = col(Annotation.person_id) == person_id
    latest = pick(Annotation.study_item_id).where(mine, *_standing(study.id, AnnotationKind.REGULAR, until))
    items = list(session.execute(latest.order_by(col(Annotation.id).desc()).limit(LATEST)).scalars())
    votes = _votes(session, protocol, items, *_standing(study.id, AnnotationKind.REGULAR, until))
    own = {unit: given[person_id] for unit, given in votes.items() if person_id in given}
    rest = {
        unit: most
        for unit, given in votes.items()
        if (most := _most([vote for person, vote in given.items() if person != person_id])) is not None
    }
    repeated = _votes(session, protocol, items, mine, *_standing(study.id, AnnotationKind.REPEAT, until))
    again = {unit: given[person_id] for unit, given in repeated.items()}
    gold = None
    if study.settings.get("own_figures") == GOLD:
        said = [row for row in gold_labels_given(session.connection(), study.id, person_id) if row.at < until]
        gold = Counted(sum(row.is_right(protocol) for row in said), len(said))
    return OwnFigures(study.id, study.name, _alike(own, rest), _alike(again, own), gold)


def _standing(study_id: int, kind: AnnotationKind, until: datetime) -> list[ColumnElement[bool]]:
    """The conditions on an annotation that it counted and was the current one at a moment."""
    newer = aliased(Annotation)
    superseded = pick(newer.id).where(col(newer.supersedes_id) == col(Annotation.id), col(newer.created_at) < until)
    return [
        col(Annotation.study_id) == study_id,
        col(Annotation.kind) == kind.value,
        col(Annotation.created_at) < until,
        ~superseded.exists(),
        ~is_set_aside(col(Annotation.id)),
    ]


def _votes(
    session: Session, protocol: Protocol, items: list[int], *conditions: ColumnElement[bool]
) -> dict[_Unit, dict[int, str]]:
    """Unit of these study items → person → their label as a vote, of the criteria that are compared."""
    compared = {criterion.name: criterion for criterion in protocol.criteria if criterion.compared}
    same = (col(StoredLabel.assignment_id) == col(Annotation.assignment_id)) & (
        col(StoredLabel.sitting) == col(Annotation.sitting)
    )
    rows = session.execute(
        pick(
            Annotation.study_item_id,
            Annotation.person_id,
            StoredLabel.criterion,
            StoredLabel.target,
            StoredLabel.value,
        )
        .join(StoredLabel, same)
        .where(*conditions, col(Annotation.study_item_id).in_(items), ~col(StoredLabel.cannot_judge))
    )
    found: dict[_Unit, dict[int, str]] = {}
    for item, person, criterion, target, value in rows:
        if criterion in compared:
            found.setdefault((item, criterion, target), {})[person] = compared[criterion].vote(value)
    return found


def _most(votes: list[str]) -> str | None:
    """The vote that more of these have than any other; None where there is none, or several have as many."""
    counts = Counter(votes).most_common(2)
    return None if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]) else counts[0][0]


def _alike(given: Mapping[_Unit, str], other: Mapping[_Unit, str]) -> Counted:
    both = [unit for unit in given if unit in other]
    return Counted(sum(given[unit] == other[unit] for unit in both), len(both))
