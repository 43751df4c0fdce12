"""What models propose for the labels of items: from what was imported with them, their scores, or a judge's labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import bindparam, func
from sqlmodel import Session, col

from annotators.asking.judged_scores import ScoreKey
from annotators.criteria.suggested import Proposals, is_anything_suggested
from annotators.errors import NotFound
from annotators.items.item import ItemContent
from annotators.items.page_labels import labelled_pages
from annotators.items.targets import TargetKind, target_kind
from annotators.protocols import Protocol
from annotators.scorers.shared.verdicts import judged_verdicts
from db.engine import Database
from db.items.rows import read_items
from db.models import Account, Annotation, AnnotationKind, StoredLabel, Study, StudyItem
from db.permissions import READERS, Actor, On, operation
from db.query import pick

_AT_ONCE = 500
READ = frozenset({"evidence", "metadata"})
"""The parts of an item that its proposals are read from."""


@dataclass(frozen=True)
class Suggester:
    """A judge whose labels a study suggests: in these `studies`, up to the annotation `until`."""

    person_id: int
    name: str
    studies: tuple[int, ...]
    until: int

    def to_json(self) -> dict[str, Any]:
        """As it stands in the study's settings."""
        return {"person": self.person_id, "name": self.name, "studies": list(self.studies), "until": self.until}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Suggester:
        """The judge that is frozen with a study."""
        return cls(kept["person"], kept["name"], tuple(kept["studies"]), kept["until"])


@dataclass(frozen=True)
class SuggestionSources:
    """Where a study's suggestions are from besides its items: criterion → scores, or a judge in place of everything."""

    scores: Mapping[str, Sequence[ScoreKey]] = field(default_factory=dict)
    judge: Suggester | None = None


Judged = Mapping[tuple[str, str], Any]
"""(criterion, target) → label."""


def proposals_of(
    item: ItemContent, sources: SuggestionSources, values: Mapping[ScoreKey, float], judged: Judged | None = None
) -> Proposals:
    """What models say of an item that was read with `READ`; verdicts are those of one judge, and never people's.

    `values` are the scores of this item, `judged` what the judge of `sources` said of it.
    """
    if sources.judge is not None:
        return Proposals(judged=judged or {})
    suggested = sources.scores
    return Proposals(
        pages=frozenset(labelled_pages(item)),
        used={f"evidence:{unit.key}": unit.used for unit in item.evidence if unit.used is not None},
        verdicts=judged_verdicts(item),
        scores={
            criterion: next(values[key] for key in keys if key in values)
            for criterion, keys in suggested.items()
            if any(key in values for key in keys)
        },
    )


ItemOrPair = tuple[int, int | None]
"""The item version that is judged; of a pair those of both its items, the first one first."""


def without_proposals(
    session: Session,
    protocol: Protocol,
    places: Sequence[ItemOrPair],
    sources: SuggestionSources,
    values: Mapping[int, Mapping[ScoreKey, float]],
) -> set[ItemOrPair]:
    """The items or pairs for none of whose labels anything is suggested; `values`: version → its scores."""
    asking = [
        criterion
        for step in range(len(protocol.steps))
        if protocol.suggests_at(step, judge=sources.judge is not None)
        for criterion in protocol.step_criteria(step)
    ]
    without: set[ItemOrPair] = set()
    for start in range(0, len(places), _AT_ONCE):
        block = places[start : start + _AT_ONCE]
        judged = {} if sources.judge is None else labels_of_judge(session, sources.judge, protocol, block)
        items = read_items(session, [first for first, _ in block], READ)
        for one in block:
            proposals = proposals_of(items[one[0]].content, sources, values.get(one[0], {}), judged.get(one))
            if not any(is_anything_suggested(criterion, proposals) for criterion in asking):
                without.add(one)
    return without


# Judges ---------------------------------------------------------------------------------------------------------------

# Made once: every item that is shown with what a judge suggests runs it.
_OF_JUDGE = (
    pick(
        StudyItem.item_version_id,
        StudyItem.other_version_id,
        StoredLabel.criterion,
        StoredLabel.target,
        StoredLabel.value,
    )
    .join(Annotation, col(Annotation.study_item_id) == StudyItem.id)
    .join(
        StoredLabel,
        (col(StoredLabel.assignment_id) == Annotation.assignment_id) & (col(StoredLabel.sitting) == Annotation.sitting),
    )
    .where(
        col(StudyItem.item_version_id).in_(bindparam("versions", expanding=True)),
        col(StudyItem.study_id).in_(bindparam("studies", expanding=True)),
        col(Annotation.person_id) == bindparam("person"),
        col(Annotation.kind) == AnnotationKind.MODEL.value,
        col(Annotation.id) <= bindparam("until"),
        ~col(StoredLabel.cannot_judge),
    )
    .order_by(col(Annotation.id))
)


def labels_of_judge(
    session: Session, judge: Suggester, protocol: Protocol, places: Collection[ItemOrPair]
) -> dict[ItemOrPair, dict[tuple[str, str], Any]]:
    """Item or pair → (criterion, target) → what the judge said, the last where it judged in several studies.

    A pair that it judged with its items the other way round has what it said of the two, as seen from the first.
    """
    wanted = set(places)
    given = {
        "versions": sorted({of for pair in wanted for of in pair if of is not None}),
        "studies": list(judge.studies),
        "person": judge.person_id,
        "until": judge.until,
    }
    found: dict[ItemOrPair, dict[tuple[str, str], Any]] = defaultdict(dict)
    for first, second, name, target, value in session.execute(_OF_JUDGE, given):
        if (first, second) in wanted:
            found[first, second][name, target] = value
        elif second is not None and (second, first) in wanted and target_kind(target) == TargetKind.PAIR:
            found[second, first][name, target] = protocol.criterion(name).turned(value)
    return dict(found)


@operation(On.PROJECT, READERS)
def judges_by_protocol(db: Database, _actor: Actor, project_id: int, *, protocol: Protocol) -> list[str]:
    """The names of the raters of kind model that have labelled items of the project by exactly this protocol."""
    with db.read() as session:
        return [judge.name for judge in _suggesters(session, project_id, protocol)]


def suggester(session: Session, project_id: int, protocol: Protocol, name: str) -> Suggester:
    """The judge of this name with what it has labelled by the protocol so far; NotFound lists those that there are."""
    judges = _suggesters(session, project_id, protocol)
    for judge in judges:
        if judge.name == name:
            return judge
    known = ", ".join(repr(judge.name) for judge in judges) or "none yet: run one first, in a study of judges"
    raise NotFound(
        f"No judge {name!r} has labelled items by {protocol.name!r} as it is now, so that it suggests nothing. Judges "
        f"that have: {known}."
    )


def _suggesters(session: Session, project_id: int, protocol: Protocol) -> list[Suggester]:
    rows = session.execute(
        pick(Account.person_id, Account.name, Study.id, func.max(col(Annotation.id)))
        .join(Annotation, col(Annotation.person_id) == Account.person_id)
        .join(Study, col(Study.id) == Annotation.study_id)
        .where(
            col(Study.project_id) == project_id,
            col(Study.protocol_hash) == protocol.digest(),
            col(Annotation.kind) == AnnotationKind.MODEL.value,
        )
        .group_by(col(Account.person_id), col(Account.name), col(Study.id))
        .order_by(col(Account.name), col(Study.id))
    ).all()
    found: dict[int, Suggester] = {}
    for person, name, study, until in rows:
        known = found.get(person, Suggester(person, name, (), 0))
        found[person] = Suggester(person, name, (*known.studies, study), max(known.until, until))
    return list(found.values())
