"""The items of a study as a judge is to see them: what annotators see, by the same names."""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, func
from sqlmodel import Session, col

from annotators.items.sampling import draw
from annotators.judges.judging import StepToJudge
from db.annotating.presentations import Unassigned, present, units_at
from db.engine import Database
from db.items.documents import marked_documents, stays_here
from db.models import (
    DataMark,
    Document,
    Evidence,
    Image,
    ItemDocument,
    Purpose,
    Study,
    StudyItem,
)
from db.query import pick
from db.studies.design import protocol_of
from db.studies.selection import candidates

_AT_ONCE = 5_000


@dataclass(frozen=True)
class ItemToJudge:
    """An item of a study with its steps. `kept`: it has a document that must not leave this machine."""

    study_item_id: int
    version_id: int
    steps: list[StepToJudge] = field(default_factory=list)
    kept: bool = False


def _of_sample(study: Study, left: ColumnElement[bool] | None) -> list[ColumnElement[bool]]:
    """The conditions of the items that judges are about: the study's sample."""
    found = [col(StudyItem.study_id) == study.id, col(StudyItem.purpose) == Purpose.SAMPLE.value]
    return found if left is None else [*found, left]


def _chunks(among: Sequence[int] | None, size: int, after: int = 0) -> Iterator[Sequence[int] | None]:
    """The ids (in order) behind `after`, so many at a time; None once, where no ids are named."""
    if among is None:
        yield None
        return
    for start in range(bisect_right(among, after), len(among), size):
        yield among[start : start + size]


def count_to_judge(
    session: Session,
    study: Study,
    left: ColumnElement[bool] | None = None,
    among: Sequence[int] | None = None,
    *,
    at_most: int | None = None,
) -> int:
    """How many items of the study (of those `among`, in order) meet `left`; not more than `at_most` are counted."""
    n = 0
    for chunk in _chunks(among, _AT_ONCE):
        conditions = [*_of_sample(study, left), *([] if chunk is None else [col(StudyItem.id).in_(chunk)])]
        found = pick(StudyItem.id).where(*conditions).limit(at_most).subquery()
        n += session.execute(pick(func.count()).select_from(found)).scalar_one()
    return n if at_most is None else min(n, at_most)


def ids_to_judge(session: Session, study: Study) -> list[int]:
    """The ids of all of them, in order."""
    query = pick(StudyItem.id).where(*_of_sample(study, None)).order_by(col(StudyItem.id))
    return list(session.execute(query).scalars())


def read_to_judge(
    session: Session,
    study: Study,
    left: ColumnElement[bool] | None = None,
    among: Sequence[int] | None = None,
    *,
    after: int = 0,
    limit: int = 100,
    elsewhere: bool = True,
) -> list[ItemToJudge]:
    """The next items after this id. Where the judge's server is `elsewhere`, kept documents are looked for."""
    rows: Sequence[Any] = ()
    for chunk in _chunks(among, limit, after):
        conditions = [*_of_sample(study, left), *([] if chunk is None else [col(StudyItem.id).in_(chunk)])]
        rows = session.execute(
            pick(StudyItem.id, StudyItem.item_version_id, StudyItem.other_version_id)
            .where(*conditions, col(StudyItem.id) > after)
            .order_by(col(StudyItem.id))
            .limit(limit)
        ).all()
        if rows:
            break
    if not rows:
        return []
    versions = [version for row in rows for version in row[1:] if version is not None]
    kept = kept_versions(session, study.project_id, versions) if elsewhere else set()
    ids = [row.id for row in rows]
    steps: dict[int, list[StepToJudge]] = defaultdict(list)
    for number in range(len(protocol_of(study).steps)):
        presented = present(session, study, [Unassigned(of, number) for of in ids])
        for of, material in zip(ids, presented, strict=True):
            names, units = units_at(session, study, of, number)
            steps[of].append(StepToJudge(number, material, names, units))
    return [ItemToJudge(row.id, row.item_version_id, steps[row.id], not kept.isdisjoint(row[1:])) for row in rows]


def kept_versions(session: Session, project_id: int, versions: Sequence[int]) -> set[int]:
    """Those of the versions that are about, or cite, a document that must not leave this machine."""
    ids = kept_document_ids(session, project_id)
    if not ids:
        return set()
    found: set[int] = set()
    for query in citing(ids):
        of = query.selected_columns[0]
        found.update(session.execute(query.where(of.in_(versions)).distinct()).scalars())
    return found


def kept_document_ids(session: Session, project_id: int) -> list[int]:
    """The ids of the project's documents that must not leave this machine."""
    if not marked_documents(session, project_id):  # asked for every few items: most projects have none
        return []
    return list(session.execute(pick(Document.id).where(stays_here(project_id))).scalars())


def citing(documents: Sequence[int]) -> list[Select[Any]]:
    """Queries whose rows are, together, the item versions that are about, or cite, one of the documents."""
    return [
        pick(table.item_version_id).where(col(table.document_id).in_(documents))
        for table in (ItemDocument, Evidence, Image)
    ]


def drawn_items(
    session: Session, study: Study, n: int | None, per: str | None, seed: int, *, among: Collection[int] | None = None
) -> list[int] | None:
    """The ids of n of the study's items (of each stratum; of those `among`), drawn by the seed; None: all are meant."""
    if n is None:
        return None
    theirs = [
        pick(of).where(*_of_sample(study, None)) for of in (StudyItem.item_version_id, StudyItem.other_version_id)
    ]
    by_version = {one.version_id: one for of in theirs for one in candidates(session, study.project_id, versions=of)}
    rows = session.execute(
        pick(StudyItem.id, StudyItem.item_version_id, StudyItem.other_version_id).where(*_of_sample(study, None))
    )
    places = {
        replace(by_version[first], other=by_version.get(other)): of
        for of, first, other in rows
        if among is None or of in among
    }
    return sorted(places[one] for one in draw(list(places), n, per, seed))


def secret_of(db: Database, project_id: int) -> bytes:
    """The secret that the project's data is marked by; made where there is none."""
    with db.write() as session:
        mark = session.get(DataMark, project_id)
        if mark is None:
            mark = DataMark(project_id=project_id, secret=secrets.token_hex(16))
            session.add(mark)
            session.flush()
        return bytes.fromhex(mark.secret)
