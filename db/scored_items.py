"""Current items as scorers see them, read in blocks by key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlmodel import Session, SQLModel, col

from annotators.scoring import ClaimView, EvidenceView, ImageView, ItemView, Part
from db.current import item_is_current, version_is_latest
from db.models import Claim, Document, Evidence, Image, Item, ItemDocument, ItemVersion, Run, Score


def without_score(runs: Sequence[int]) -> ColumnElement[bool]:
    """The condition on `ItemVersion` that none of these runs has scored it."""
    there = select(col(Score.id)).where(
        col(Score.item_version_id) == col(ItemVersion.id), col(Score.run_id).in_(list(runs))
    )
    return ~there.exists()


def runs_of(session: Session, project_id: int, name: str, version: str, parameters_hash: str) -> list[int]:
    """The ids of the runs that gave the same scores: same scorer, version and parameters."""
    query = select(col(Run.id)).where(
        col(Run.project_id) == project_id,
        col(Run.kind) == "scorer",
        col(Run.name) == name,
        col(Run.version) == version,
        col(Run.parameters_hash) == parameters_hash,
    )
    return list(session.execute(query).scalars())


def _current(query: Select[Any], project_id: int) -> Select[Any]:
    # The sum keeps the planner from starting at the project's items and sorting them all for every block.
    return (
        query.select_from(ItemVersion)
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(Item.project_id) + 0 == project_id, item_is_current(), version_is_latest())
    )


def count_unscored(session: Session, project_id: int, runs: Sequence[int]) -> int:
    """How many current items none of these runs has scored."""
    query = _current(select(func.count()), project_id).where(without_score(runs))
    return int(session.execute(query).scalar_one())


def read_unscored(
    session: Session, project_id: int, runs: Sequence[int], *, after: int, limit: int, needs: frozenset[Part]
) -> list[ItemView]:
    """The next current items (by the id of their version, from the one after `after`) that no such run has scored."""
    columns = (
        col(ItemVersion.id),
        col(ItemVersion.question),
        col(ItemVersion.answer),
        col(ItemVersion.references),
        col(ItemVersion.hops),
        col(Item.system),
        col(ItemVersion.category),
        col(ItemVersion.language),
    )
    query = (
        _current(select(*columns), project_id)
        .where(col(ItemVersion.id) > after, without_score(runs))
        .order_by(col(ItemVersion.id))
        .limit(limit)
    )
    rows = session.execute(query).all()
    ids = [row[0] for row in rows]
    evidence = _evidence(session, ids) if Part.EVIDENCE in needs else {}
    claims = _claims(session, ids) if Part.CLAIMS in needs else {}
    images = _images(session, ids) if Part.IMAGES in needs else {}
    documents = _documents(session, ids) if Part.DOCUMENTS in needs else {}
    return [
        ItemView(
            version_id=version_id,
            question=question,
            answer=answer,
            references=references,
            hops=hops,
            system=system,
            category=category,
            language=language,
            evidence=tuple(evidence.get(version_id, ())),
            claims=tuple(claims.get(version_id, ())),
            images=tuple(images.get(version_id, ())),
            documents=tuple(documents.get(version_id, ())),
        )
        for version_id, question, answer, references, hops, system, category, language in rows
    ]


def _of_versions(table: type[SQLModel], ids: Sequence[int], *columns: Any) -> Select[Any]:
    """The rows of a part of these item versions in order, each with the key of its document."""
    parts: Any = table
    query = select(parts.item_version_id, *columns).where(parts.item_version_id.in_(ids))
    return query.order_by(parts.item_version_id, parts.position)


def _evidence(session: Session, ids: Sequence[int]) -> dict[int, list[EvidenceView]]:
    query = _of_versions(
        Evidence,
        ids,
        *(col(Evidence.key), col(Evidence.kind), col(Evidence.role), col(Document.key), col(Evidence.pages)),
        *(col(Evidence.text), col(Evidence.used), col(Evidence.hop), col(Evidence.rank)),
    ).outerjoin(Document, col(Document.id) == col(Evidence.document_id))
    found: dict[int, list[EvidenceView]] = defaultdict(list)
    for version_id, key, kind, role, document, pages, *rest in session.execute(query):
        found[version_id].append(EvidenceView(key, kind, role, document, tuple(pages), *rest))
    return found


def _claims(session: Session, ids: Sequence[int]) -> dict[int, list[ClaimView]]:
    found: dict[int, list[ClaimView]] = defaultdict(list)
    for version_id, *rest in session.execute(_of_versions(Claim, ids, col(Claim.key), col(Claim.text), col(Claim.of))):
        found[version_id].append(ClaimView(*rest))
    return found


def _images(session: Session, ids: Sequence[int]) -> dict[int, list[ImageView]]:
    query = _of_versions(Image, ids, col(Image.key), col(Document.key), col(Image.page), col(Image.caption)).outerjoin(
        Document, col(Document.id) == col(Image.document_id)
    )
    found: dict[int, list[ImageView]] = defaultdict(list)
    for version_id, *rest in session.execute(query):
        found[version_id].append(ImageView(*rest))
    return found


def _documents(session: Session, ids: Sequence[int]) -> dict[int, list[str]]:
    query = (
        select(col(ItemDocument.item_version_id), col(Document.key))
        .join(Document, col(Document.id) == col(ItemDocument.document_id))
        .where(col(ItemDocument.item_version_id).in_(ids))
        .order_by(col(ItemDocument.item_version_id), col(Document.key))
    )
    found: dict[int, list[str]] = defaultdict(list)
    for version_id, key in session.execute(query):
        found[version_id].append(key)
    return found
