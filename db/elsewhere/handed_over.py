"""The items of a study as another program is to show them: what annotators see, under names that say nothing."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, text
from sqlmodel import Session, col, select

from annotators.asking.submissions import GivenLabel
from annotators.protocols import Protocol
from db.allotting.ledger import DISCARDED, WANTED
from db.annotating.presentations import Wire
from db.engine import Database
from db.items.current import counting_annotations
from db.judging.items import read_to_judge, secret_of
from db.models import BESIDE, Annotation, AnnotationKind, Project, Purpose, StoredLabel, Study, StudyItem, StudyMember
from db.people.pseudonyms import pseudonyms, real_names
from db.permissions import RESEARCHERS, Actor, On, operation
from db.query import pick
from db.studies.design import protocol_of
from db.studies.settlements import COUNTING

_DIGITS = 24


class StudyElsewhere(NamedTuple):
    """A study as it is known in another program: by a token that says nothing, and by its name to who runs it.

    `seal` marks a text so that nobody else can make the mark, or tell the text by it. What it has besides protocol and
    sample: its `settings` and item order as its row has them, the items of each `Purpose` beside the sample, how many
    annotators have a quota, and whether it has a deadline.
    """

    study_id: int
    project_id: int
    project: str
    name: str
    protocol: Protocol
    overlap: int
    n_items: int
    n_annotators: int
    token: str
    seal: Callable[[str], str]
    settings: Mapping[str, Any]
    order: str
    beside: Mapping[str, int]
    n_quotas: int
    has_deadline: bool


@dataclass(frozen=True)
class ItemElsewhere:
    """An item of a study: its token there, and of each step what is shown and how its parts are called.

    `overlap`: how many annotators it wants by now; none where it came back in a later version (a recheck). `ended`: it,
    or an item of the pair, was rejected or withdrawn, so that nobody is given it. `kept`: it has a document that must
    not leave this machine.
    """

    study_item_id: int
    token: str
    overlap: int
    materials: Mapping[int, Mapping[str, Any]]
    names: Mapping[int, Wire]
    kept: bool
    ended: bool


@operation(On.STUDY, RESEARCHERS)
def study_elsewhere(db: Database, _actor: Actor, study_id: int) -> StudyElsewhere:
    """The study, and the token under which another program knows it."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        project = session.get_one(Project, study.project_id)
        members = pick(func.count(), func.count(col(StudyMember.quota))).where(
            col(StudyMember.study_id) == study_id, col(StudyMember.left_at).is_(None)
        )
        n, n_quotas = session.execute(members).one()
        purposes = pick(StudyItem.purpose, func.count()).where(
            col(StudyItem.study_id) == study_id, text(BESIDE)
        ).group_by(col(StudyItem.purpose))  # fmt: skip
        beside = dict(session.execute(purposes).all())
        found = study.project_id, project.name, study.name, protocol_of(study), study.overlap, study.n_items, n
        more = study.settings, study.item_order, beside, n_quotas, study.deadline is not None
    secret = secret_of(db, found[0])
    return StudyElsewhere(study_id, *found, token_of(secret, f"study:{study_id}"), partial(token_of, secret), *more)


_ASKED = text(
    f"SELECT o.id, {WANTED.format(item='o.id')} AS wanted, {DISCARDED.format(row='o')} AS ended, "
    "CASE WHEN z.state = 'pending' AND z.n_disputed > 0 THEN z.n_annotations ELSE 0 END AS disagree "
    "FROM study_item o LEFT JOIN settlement z ON z.study_item_id = o.id WHERE o.id IN :ids"
).bindparams(bindparam("ids", expanding=True))


def _asked(session: Session, study: Study, ids: Sequence[int]) -> dict[int, tuple[int, bool]]:
    """Study item → how many annotators it wants by now (none: it came back in a later version), and whether it ended.

    Labels from elsewhere open no slot where they disagree, so that it is asked for one more only here.
    """
    most = int(study.settings.get("most_overlap") or 0)
    found = {}
    for of, wanted, ended, disagree in session.execute(_ASKED, {"ids": ids, "overlap": study.overlap}):
        more = disagree + 1 if wanted and wanted <= disagree < most else 0
        found[of] = max(wanted, more), bool(ended)
    return found


@operation(On.STUDY, RESEARCHERS)
def items_elsewhere(
    db: Database,
    _actor: Actor,
    study_id: int,
    *,
    after: int = 0,
    limit: int = 100,
    among: Sequence[int] | None = None,
    leaves: bool = True,
) -> list[ItemElsewhere]:
    """The next items of the study's sample after this id (0: from the first), or those `among` (ids in order).

    Where they `leave` this machine it is looked which of them have documents that must not.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        found = read_to_judge(session, study, after=after, limit=limit, among=among, elsewhere=leaves)
        ids = [item.study_item_id for item in found]
        asked = _asked(session, study, ids)
        project_id = study.project_id
    secret = secret_of(db, project_id)
    return [
        ItemElsewhere(
            item.study_item_id,
            token_of(secret, f"item:{study_id}:{item.study_item_id}"),
            wanted,
            {step.step: step.material for step in item.steps},
            {step.step: step.names for step in item.steps if isinstance(step.names, Wire)},
            item.kept,
            ended,
        )
        for item in found
        for wanted, ended in (asked[item.study_item_id],)
    ]


@operation(On.STUDY, RESEARCHERS)
def items_by_token(db: Database, _actor: Actor, study_id: int) -> dict[str, int]:
    """Token → id, of each item of the study's sample."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        query = pick(StudyItem.id).where(
            col(StudyItem.study_id) == study_id, col(StudyItem.purpose) == Purpose.SAMPLE.value
        )
        ids, project_id = list(session.execute(query).scalars()), study.project_id
    secret = secret_of(db, project_id)
    return {token_of(secret, f"item:{study_id}:{of}"): of for of in ids}


@operation(On.STUDY, RESEARCHERS)
def labels_elsewhere(
    db: Database, _actor: Actor, study_id: int, *, item: ItemElsewhere, names: bool = False
) -> dict[str, list[GivenLabel]]:
    """What raters of ours say of an item, people and judges: rater → labels, by the neutral names of the first step.

    People are pseudonymous unless `names`.
    """
    with db.read() as session:
        protocol = protocol_of(session.get_one(Study, study_id))
        called = real_names(session, study_id) if names else pseudonyms(session, study_id)
        found: dict[str, list[GivenLabel]] = {}
        for person_id, label in _current_labels(session, study_id, item.study_item_id):
            step = next((n for n in item.names if label.criterion in protocol.steps[n].criteria), None)
            if step is None or label.cannot_judge:
                continue
            wire = item.names[step]
            if wire.knows(label.target):
                value = wire.value_out(label.value, protocol.criterion(label.criterion))
                rater = called.get(person_id, f"R{person_id}")
                found.setdefault(rater, []).append(GivenLabel(label.criterion, wire.out(label.target), value))
        return found


@operation(On.STUDY, RESEARCHERS)
def raters_otherwise(db: Database, _actor: Actor, study_id: int, *, names: bool) -> dict[str, str]:
    """What raters are called with `names` → their pseudonyms; without, their pseudonyms → what they are called."""
    with db.read() as session:
        named, others = real_names(session, study_id), pseudonyms(session, study_id)
    return {(named if names else others)[of]: (others if names else named)[of] for of in others}


_KINDS = (*COUNTING, AnnotationKind.MODEL)


def _current_labels(session: Session, study_id: int, study_item_id: int) -> list[tuple[int, StoredLabel]]:
    query = (
        select(Annotation.person_id, StoredLabel)
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == Annotation.assignment_id)
            & (col(StoredLabel.sitting) == Annotation.sitting),
        )
        .where(*counting_annotations(study_id, _KINDS, among=[study_item_id]))
        .order_by(col(StoredLabel.id))
    )
    return [(person_id, label) for person_id, label in session.execute(query)]


def token_of(secret: bytes, of: str) -> str:
    """A name that tells nobody what it is of, and is the same each time."""
    return hmac.new(secret, f"elsewhere:{of}".encode(), hashlib.sha256).hexdigest()[:_DIGITS]
