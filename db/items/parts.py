"""Item versions with everything that hangs on them, read in bulk: as typed parts, and in normal form for exports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from sqlmodel import Session, col

from annotators.items.normal import Normal, canonical
from db.models import Claim, Document, Evidence, Image, Item, ItemDocument, ItemVersion, Question
from db.query import in_clause, is_sqlite, pick, plain_rows


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document as an item or one of its parts points at it."""

    document_id: int
    key: str
    title: str
    sha256: str | None
    media_type: str | None
    n_pages: int | None


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """One evidence unit. Pages count from 1; the box is in fractions of the first page from its top left."""

    key: str
    kind: str
    role: str | None
    document: DocumentPart | None
    pages: list[int]
    box: list[float] | None
    text: str | None
    used: bool | None
    hop: int | None
    rank: int | None
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """One claim of an answer or (`of` = reference) of a reference answer."""

    key: str
    of: str
    text: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImagePart:
    """One image interleaved in an answer."""

    key: str
    document: DocumentPart | None
    page: int
    box: list[float] | None
    caption: str
    metadata: dict[str, Any]


@dataclass(slots=True)
class ItemParts:
    """One item version: what it says, and its parts in their order."""

    version_id: int
    item_id: int
    external_id: str
    number: int
    question_id: int
    question_key: str
    system: str
    question: str
    answer: str
    category: str | None
    language: str | None
    references: list[Any]
    hops: list[dict[str, Any]]
    metadata: dict[str, Any]
    content_hash: str
    documents: list[DocumentPart] = field(default_factory=list)
    evidence: list[EvidencePart] = field(default_factory=list)
    claims: list[ClaimPart] = field(default_factory=list)
    images: list[ImagePart] = field(default_factory=list)


def item_parts(session: Session, version_ids: Sequence[int]) -> dict[int, ItemParts]:
    """Item version id → the version with all its parts, in six queries however many are asked for."""
    ids = list(version_ids)
    v, i = ItemVersion, Item
    rows = session.execute(
        pick(
            v.id, i.id, i.external_id, v.number, i.question_id, Question.key, i.system, v.question, v.answer,
            v.category, v.language, v.references, v.hops, v.extra, v.content_hash,
        )
        .join(i, col(i.id) == v.item_id)
        .join(Question, col(Question.id) == i.question_id)
        .where(col(v.id).in_(ids))
    )  # fmt: skip
    found = {row[0]: ItemParts(*row) for row in rows}
    cited = session.execute(
        pick(ItemDocument.item_version_id, ItemDocument.document_id).where(col(ItemDocument.item_version_id).in_(ids))
    ).all()
    evidence, claims, images = (_rows(session, table, ids) for table in (Evidence, Claim, Image))
    documents = _document_parts(
        session, {d for _, d in cited} | {row.document_id for row in [*evidence, *images] if row.document_id}
    )
    for version_id, document_id in cited:
        found[version_id].documents.append(documents[document_id])
    for parts in found.values():
        parts.documents.sort(key=lambda document: document.key)
    for e in evidence:
        found[e.item_version_id].evidence.append(
            EvidencePart(
                e.key, e.kind, e.role, documents.get(e.document_id), e.pages, e.box, e.text, e.used, e.hop, e.rank,
                e.extra,
            )
        )  # fmt: skip
    for c in claims:
        found[c.item_version_id].claims.append(ClaimPart(c.key, c.of, c.text, c.extra))
    for m in images:
        found[m.item_version_id].images.append(
            ImagePart(m.key, documents.get(m.document_id), m.page, m.box, m.caption, m.extra)
        )
    return found


def _rows(session: Session, table: Any, version_ids: list[int]) -> list[Any]:
    """Plain rows (all columns) of a kind of part, in order."""
    columns = table.__table__.c
    query = pick(*columns).where(columns.item_version_id.in_(version_ids))
    return list(session.execute(query.order_by(columns.item_version_id, columns.position)))


def _document_parts(session: Session, ids: set[int]) -> dict[int, DocumentPart]:
    if not ids:
        return {}
    d = Document
    rows = session.execute(
        pick(d.id, d.key, d.title, d.sha256, d.media_type, d.n_pages).where(col(d.id).in_(sorted(ids)))
    )
    return {row[0]: DocumentPart(*row) for row in rows}


# Normal form ----------------------------------------------------------------------------------------------------------


def normal_items(session: Session, version_ids: Sequence[int]) -> dict[int, Normal]:
    """Item version id → the item in normal form (`annotators.items.normal`), with the scores that came with imports.

    On SQLite, JSON columns are passed through as they are stored (`orjson.Fragment`), which is what makes large exports
    quick; so the result is to be written out with orjson, not looked into.
    """
    if not version_ids:
        return {}
    json = _passed if is_sqlite(session) else _sorted
    items: dict[int, Normal] = {}
    last: dict[int, Any] = {}
    for (
        version_id, external_id, key, question, answer, system, category, language, references, hops, extra
    ) in _query(session, _VERSIONS, "v.id", version_ids):  # fmt: skip
        item: Normal = {
            "id": external_id,
            "question_key": key,
            "question": question,
            "answer": answer,
            "system": system,
        }
        if category:
            item["category"] = category
        if language:
            item["language"] = language
        if references not in _EMPTY:
            item["references"] = json(references)
        items[version_id], last[version_id] = item, (hops, extra)
    for version_id, key in _query(session, _DOCUMENTS, "d.item_version_id", version_ids):
        items[version_id].setdefault("documents", []).append(key)
    for item in items.values():
        if "documents" in item:
            item["documents"].sort()
    _add_evidence(session, items, version_ids, json)
    _add_claims_and_images(session, items, version_ids, json)
    for version_id, (hops, _) in last.items():
        if hops not in _EMPTY:
            items[version_id]["hops"] = json(hops) if isinstance(hops, str) else [_hop(hop) for hop in hops]
    _add_scores(session, items, version_ids, json)
    for version_id, (_, extra) in last.items():
        if extra not in _EMPTY:
            items[version_id]["metadata"] = json(extra)
    return items


_EMPTY: tuple[Any, ...] = ("[]", "{}", [], {})
_VERSIONS = (
    'SELECT v.id, i.external_id, q.key, v.question, v.answer, i.system, v.category, v.language, v."references", '
    "v.hops, v.extra FROM item_version v JOIN item i ON i.id = v.item_id JOIN question q ON q.id = i.question_id "
    "WHERE {}"
)
_DOCUMENTS = (
    "SELECT d.item_version_id, k.key FROM item_document d JOIN document k ON k.id = d.document_id "
    "WHERE {} ORDER BY d.item_version_id"
)
_EVIDENCE = (
    "SELECT e.item_version_id, e.key, e.kind, e.role, k.key, e.pages, e.box, e.text, e.used, e.hop, e.rank, e.extra "
    "FROM evidence e LEFT JOIN document k ON k.id = e.document_id WHERE {} ORDER BY e.item_version_id, e.position"
)
_CLAIMS = (
    'SELECT c.item_version_id, c.key, c.text, c."of", c.extra FROM claim c WHERE {} '
    "ORDER BY c.item_version_id, c.position"
)
_IMAGES = (
    "SELECT m.item_version_id, m.key, k.key, m.page, m.box, m.caption, m.extra FROM image m "
    "LEFT JOIN document k ON k.id = m.document_id WHERE {} ORDER BY m.item_version_id, m.position"
)
_SCORES = (
    "SELECT s.item_version_id, r.name, r.parameters, s.name, s.target, s.value, s.reason FROM score s "
    "JOIN run r ON r.id = s.run_id WHERE r.kind = 'import' AND {} AND (r.batch_id IS NULL OR r.batch_id NOT IN "
    "(SELECT w.batch_id FROM withdrawal w WHERE NOT w.reinstates AND NOT EXISTS "
    "(SELECT 1 FROM withdrawal n WHERE n.batch_id = w.batch_id AND n.id > w.id) "
    "UNION ALL SELECT u.batch_id FROM unpublished_batch u)) ORDER BY s.id"
)


def _query(session: Session, sql: str, column: str, version_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    condition, values = in_clause(session, column, version_ids)
    return plain_rows(session, sql.format(condition), values)


def _passed(text: Any) -> Any:
    return orjson.Fragment(text)


def _sorted(value: Any) -> Any:
    return canonical(orjson.loads(value) if isinstance(value, str) else value)


def _hop(hop: dict[str, Any]) -> Normal:
    """A hop with its keys in their order again, which PostgreSQL does not keep."""
    return {name: hop[name] for name in ("key", "question", "answer", "metadata") if name in hop}


def _add_evidence(session: Session, items: dict[int, Normal], version_ids: Sequence[int], json: Any) -> None:
    of: dict[int, list[Normal]] = defaultdict(list)
    for version_id, key, kind, role, document, pages, box, text, used, hop, rank, extra in _query(
        session, _EVIDENCE, "e.item_version_id", version_ids
    ):
        part: Normal = {"key": key, "kind": kind}
        if role is not None:
            part["role"] = role
        if document is not None:
            part["document"] = document
        if pages not in _EMPTY:
            part["pages"] = json(pages)
        if box is not None:
            part["box"] = json(box)
        if text is not None:
            part["text"] = text
        if used is not None:
            part["used"] = bool(used)
        if hop is not None:
            part["hop"] = hop
        if rank is not None:
            part["rank"] = rank
        if extra not in _EMPTY:
            part["metadata"] = json(extra)
        of[version_id].append(part)
    for version_id, parts in of.items():
        items[version_id]["evidence"] = parts


def _add_claims_and_images(session: Session, items: dict[int, Normal], version_ids: Sequence[int], json: Any) -> None:
    for version_id, key, text, side, extra in _query(session, _CLAIMS, "c.item_version_id", version_ids):
        part: Normal = {"key": key, "text": text}
        if side != "answer":
            part["of"] = side
        if extra not in _EMPTY:
            part["metadata"] = json(extra)
        items[version_id].setdefault("claims", []).append(part)
    for version_id, key, document, page, box, caption, extra in _query(
        session, _IMAGES, "m.item_version_id", version_ids
    ):
        part = {"key": key}
        if document is not None:
            part["document"] = document
        if page != 1:
            part["page"] = page
        if box is not None:
            part["box"] = json(box)
        if caption:
            part["caption"] = caption
        if extra not in _EMPTY:
            part["metadata"] = json(extra)
        items[version_id].setdefault("images", []).append(part)


def _add_scores(session: Session, items: dict[int, Normal], version_ids: Sequence[int], json: Any) -> None:
    """Imported scores; of several imports that gave the same score the latest counts."""
    of: dict[int, dict[Any, Normal]] = defaultdict(dict)
    for version_id, scorer, parameters, name, target, value, reason in _query(
        session, _SCORES, "s.item_version_id", version_ids
    ):
        score: Normal = {"scorer": scorer, "name": name}
        if value is not None:
            score["value"] = value
        if target != "item":
            score["target"] = target
        if parameters not in _EMPTY:
            score["parameters"] = json(parameters)
        if reason is not None:
            score["reason"] = reason
        of[version_id][scorer, str(parameters), name, target] = score
    for version_id, scores in of.items():
        items[version_id]["scores"] = list(scores.values())
