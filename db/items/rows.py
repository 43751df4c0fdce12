"""Items as rows: the one loader and the one writer of what `annotators.items.item` declares.

Columns have the names of the fields. Statements, and the places of values in rows, follow from the declarations, so
that a name and its value cannot part; a field without a column is an error when this module is loaded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import orjson
from sqlalchemy import JSON, Boolean, Table
from sqlmodel import Session

from annotators.items.checks import canonical
from annotators.items.item import (
    FIELDS,
    NOTHING,
    Field,
    ItemClaim,
    ItemContent,
    ItemEvidence,
    ItemImage,
    ItemScore,
    fields_of,
)
from annotators.items.normal import Normal, to_json
from db.engine import dumps, insert_many
from db.models import Claim, Evidence, Image, ItemVersion
from db.query import in_clause, plain_rows, table_of

_NAMES = {"metadata": "extra", "document": "document_id"}
"""Fields whose columns have other names. A document is known by its key, and stored by its id."""

_SHARED = {"id": "i.external_id", "question_key": "q.key", "system": "i.system"}
"""Fields that all versions of an item share, and where they are stored."""

PARTS = frozenset(("documents", "evidence", "claims", "images", "metadata"))
"""The fields of an item that a reader may leave out."""


# Columns --------------------------------------------------------------------------------------------------------------


class _Column:
    """The column of a field: what is stored of its values, and what they are when they are read."""

    def __init__(self, field: Field, table: Table) -> None:
        self.name = field.name
        self.column = _NAMES.get(field.name, field.name)
        self.is_shared = field.name in _SHARED
        if not self.is_shared and self.column not in table.c:
            raise TypeError(f"Field {self.name!r} has no column in the table {table.name}. Add it to db/models.py.")
        kind = None if self.is_shared else table.c[self.column].type
        self.is_json, self.is_flag = isinstance(kind, JSON), isinstance(kind, Boolean)
        empty: tuple[Any, ...] = ()
        if self.is_json and field.default is not None:
            empty = ("[]", []) if field.many else ("{}", {})
        self.empty = empty
        """Stored JSON that says nothing: as SQLite's driver gives it, and as PostgreSQL's does."""
        self.left_out = () if field.rule.always else (field.default, *empty)
        """What of a row does not stand in normal form."""
        self._field = field

    def stored(self, value: Any) -> str | None:
        """JSON as it is stored."""
        if not value:
            return self.empty[0] if self.empty else None
        return dumps([to_json(part) for part in value] if self._field.part else value)

    def value(self, stored: Any) -> Any:
        """The value of a column of JSON or flags; SQLite gives JSON as text and flags as numbers."""
        if stored is None:
            return None
        if self.is_flag:
            return bool(stored)
        found = orjson.loads(stored) if isinstance(stored, str) else stored
        if self._field.part:
            return tuple(self._field.part(**part) for part in found)
        return tuple(found) if self._field.many else found

    def normal(self, stored: Any) -> Any:
        """The same in normal form."""
        if self.is_flag:
            return bool(stored)
        if self._field.part and not isinstance(stored, str):
            names = [field.name for field in fields_of(self._field.part)]
            return [{name: part[name] for name in names if name in part} for part in stored]
        return _passed(stored)


def _passed(stored: Any) -> Any:
    """JSON as it was written, which SQLite keeps; PostgreSQL, which keeps no order of keys, gives it parsed."""
    return orjson.Fragment(stored) if isinstance(stored, str) else canonical(stored)


class _Columns:
    """The columns that hold the fields of an item, or of a kind of part, in the order of the fields."""

    def __init__(self, declared: Any, table: Table, elsewhere: Collection[str] = ()) -> None:
        columns = [_Column(field, table) for field in fields_of(declared) if field.name not in elsewhere]
        own = [column for column in columns if not column.is_shared]
        self.table = table.name
        self.names = tuple(column.name for column in columns)
        self.read = ", ".join(_SHARED.get(column.name, f'v."{column.column}"') for column in columns)
        """What is read, of the table by the name of v."""
        self.written = tuple(column.column for column in own)
        """What is written."""
        self._make = declared._make
        self._own = attrgetter(*(column.name for column in own))
        self._left_out = tuple(column.left_out for column in columns)
        self._json = [(place, column) for place, column in enumerate(own) if column.is_json]
        self._other = [(place, column) for place, column in enumerate(columns) if column.is_json or column.is_flag]
        self._document = self.names.index("document") if "document" in self.names else None

    def row(self, content: Any) -> tuple[Any, ...]:
        """What is written of an item or part, with the key of its document."""
        values = list(self._own(content))
        for place, column in self._json:
            values[place] = column.stored(values[place])
        return tuple(values)

    def cited(self, row: Sequence[Any]) -> Any:
        """The document that a row points at, None if none."""
        return row[self._document] if self._document is not None else None

    def pointing(self, row: Sequence[Any], documents: Mapping[Any, Any]) -> list[Any]:
        """The row with another name of its document: the id for the key, or the key for the id."""
        values = list(row)
        if self._document is not None and (document := values[self._document]) is not None:
            values[self._document] = documents[document]
        return values

    def values(self, row: Sequence[Any]) -> list[Any]:
        """The values of the fields."""
        values = list(row)
        for place, column in self._other:
            values[place] = column.value(values[place])
        return values

    def part(self, row: Sequence[Any]) -> Any:
        """The part that a row holds."""
        return self._make(self.values(row))

    def normal(self, row: Sequence[Any]) -> Normal:
        """What a row holds in normal form."""
        given = zip(self.names, row, self._left_out, strict=True)
        out = {name: value for name, value, left_out in given if value not in left_out}
        for _, column in self._other:
            if column.name in out:
                out[column.name] = column.normal(out[column.name])
        return out


_PARTS = {
    "evidence": _Columns(ItemEvidence, table_of(Evidence)),
    "claims": _Columns(ItemClaim, table_of(Claim)),
    "images": _Columns(ItemImage, table_of(Image)),
}
"""The parts that have tables of their own, by the field of the item."""

_VERSION = _Columns(ItemContent, table_of(ItemVersion), {*_PARTS, "documents", "scores"})


# Reading --------------------------------------------------------------------------------------------------------------


class StoredDocument(NamedTuple):
    """A document as an item or one of its parts points at it."""

    document_id: int
    key: str
    title: str
    sha256: str | None
    media_type: str | None
    n_pages: int | None
    stored_sizes: Any

    @property
    def sizes(self) -> list[Any] | None:
        """Width and height of each page; None while it has no bytes."""
        stored = self.stored_sizes
        sizes: list[Any] | None = orjson.loads(stored) if isinstance(stored, str) else stored
        return sizes


class StoredItem(NamedTuple):
    """An item version as it is stored: what it says, and every document that it or a part of it points at, by key."""

    content: ItemContent
    item_id: int
    number: int
    content_hash: str
    documents: tuple[StoredDocument, ...]


def read_items(session: Session, version_ids: Sequence[int], parts: Collection[str] = PARTS) -> dict[int, StoredItem]:
    """Item version id → the version with these of its parts, in five queries however many are asked for.

    Scores are no part of a version, and not read.
    """
    return _items(_rows(session, _BY_VERSION, version_ids, parts), parts)


def read_study_items(
    session: Session, study_item_ids: Sequence[int], parts: Collection[str] = PARTS
) -> dict[int, StoredItem]:
    """Study item id → the version that the study is frozen with; else as `read_items`."""
    return _items(_rows(session, _BY_STUDY_ITEM, study_item_ids, parts), parts)


def items_as_json(session: Session, version_ids: Sequence[int]) -> dict[int, Normal]:
    """Item version id → the item in normal form (`annotators.items.normal`), with the scores that came with imports.

    On SQLite, JSON columns are passed through as they are stored (`orjson.Fragment`), which is what makes large exports
    quick; so the result is to be written out with orjson, not looked into.
    """
    if not version_ids:
        return {}
    rows = _rows(session, _BY_VERSION, version_ids, PARTS)
    keys = {document.document_id: document.key for document in rows.documents.values()}
    items = {version.version_id: _VERSION.normal(version.fields) for version in rows.versions}
    for version_id, about in rows.about.items():
        items[version_id]["documents"] = sorted(keys[document_id] for document_id in about)
    for name, columns in _PARTS.items():
        for version_id, of_version in rows.parts[name].items():
            items[version_id][name] = [columns.normal(columns.pointing(row, keys)) for row in of_version]
    for version_id, scores in _scores(session, version_ids):
        items[version_id]["scores"] = scores
    return {version_id: {name: item[name] for name in FIELDS if name in item} for version_id, item in items.items()}


_BY_VERSION = "v.id", "item_version v"
_BY_STUDY_ITEM = "s.id", "study_item s JOIN item_version v ON v.id = s.item_version_id"
_VERSIONS = (
    f"SELECT {{by}}, v.id, v.item_id, v.number, v.content_hash, {_VERSION.read} FROM {{versions}} "
    "JOIN item i ON i.id = v.item_id JOIN question q ON q.id = i.question_id WHERE {condition}"
)
_OF_VERSIONS = (
    "SELECT v.item_version_id, {read} FROM {table} v WHERE {condition} ORDER BY v.item_version_id, v.position"
)
_DOCUMENTS = (
    "SELECT d.item_version_id, k.id, k.key, k.title, k.sha256, k.media_type, k.n_pages, k.page_sizes FROM document k "
    "LEFT JOIN item_document d ON d.document_id = k.id AND {about} WHERE k.id IN "
    "(SELECT d.document_id FROM item_document d WHERE {about} UNION SELECT c.id FROM document c WHERE {cited})"
)
_SCORES = (
    "SELECT s.item_version_id, r.name, s.name, s.value, s.target, r.parameters, s.reason FROM score s "
    "JOIN run r ON r.id = s.run_id WHERE r.kind = 'import' AND {} AND (r.batch_id IS NULL OR r.batch_id NOT IN "
    "(SELECT w.batch_id FROM withdrawal w WHERE NOT w.reinstates AND NOT EXISTS "
    "(SELECT 1 FROM withdrawal n WHERE n.batch_id = w.batch_id AND n.id > w.id) "
    "UNION ALL SELECT u.batch_id FROM unpublished_batch u)) ORDER BY s.id"
)


class _Version(NamedTuple):
    """The row of a version, by the id it was asked for."""

    by: int
    version_id: int
    item_id: int
    number: int
    content_hash: str
    fields: Sequence[Any]


class _Rows(NamedTuple):
    """The rows of some versions, those of their parts by field and version, and the documents they point at by id.

    `about`: version → the ids of the documents that it is about by itself.
    """

    versions: list[_Version]
    parts: dict[str, dict[int, list[Sequence[Any]]]]
    documents: dict[int, StoredDocument]
    about: dict[int, list[int]]


def _rows(session: Session, by: tuple[str, str], ids: Sequence[int], parts: Collection[str]) -> _Rows:
    condition, values = in_clause(session, by[0], ids)
    query = _VERSIONS.format(by=by[0], versions=by[1], condition=condition)
    versions = [
        _Version(by_id, version_id, item_id, number, content_hash, fields)
        for by_id, version_id, item_id, number, content_hash, *fields in plain_rows(session, query, values)
    ]
    version_ids = [version.version_id for version in versions]
    condition, values = in_clause(session, "v.item_version_id", version_ids)
    found: dict[str, dict[int, list[Sequence[Any]]]] = {}
    cited: set[Any] = set()
    for name, columns in _PARTS.items():
        if name in parts:
            of_version = found[name] = defaultdict(list)
            query = _OF_VERSIONS.format(read=columns.read, table=columns.table, condition=condition)
            for row in plain_rows(session, query, values):
                of_version[row[0]].append(row[1:])
            cited.update(columns.cited(row) for rows in of_version.values() for row in rows)
    cited.discard(None)
    documents: dict[int, StoredDocument] = {}
    about: dict[int, list[int]] = defaultdict(list)
    if cited or "documents" in parts:
        condition, values = in_clause(session, "d.item_version_id", version_ids)
        others, other_ids = in_clause(session, "c.id", sorted(cited))
        query = _DOCUMENTS.format(about=condition, cited=others)
        for version_id, *document in plain_rows(session, query, (*values, *values, *other_ids)):
            documents[document[0]] = StoredDocument(*document)
            if version_id is not None:
                about[version_id].append(document[0])
    return _Rows(versions, found, documents, about)


def _items(rows: _Rows, parts: Collection[str]) -> dict[int, StoredItem]:
    keys = {document.document_id: document.key for document in rows.documents.values()}
    items = {}
    for version in rows.versions:
        content = dict(zip(_VERSION.names, _VERSION.values(version.fields), strict=True))
        if "metadata" not in parts:
            content["metadata"] = NOTHING
        ids = set(rows.about.get(version.version_id, ()))
        if "documents" in parts:
            content["documents"] = tuple(sorted(keys[document_id] for document_id in ids))
        for name, of_version in rows.parts.items():
            columns, found = _PARTS[name], of_version.get(version.version_id, ())
            ids.update(columns.cited(row) for row in found)
            content[name] = tuple(columns.part(columns.pointing(row, keys)) for row in found)
        documents = [rows.documents[document_id] for document_id in ids if document_id is not None]
        items[version.by] = StoredItem(
            ItemContent(**content, version_id=version.version_id),
            version.item_id,
            version.number,
            version.content_hash,
            tuple(sorted(documents, key=attrgetter("key"))),
        )
    return items


def _scores(session: Session, version_ids: Sequence[int]) -> Iterator[tuple[int, list[Normal]]]:
    """Version id, its imported scores in normal form; of several imports that gave the same score the latest counts."""
    of: dict[int, dict[Any, Normal]] = defaultdict(dict)
    condition, values = in_clause(session, "s.item_version_id", version_ids)
    for version_id, *row in plain_rows(session, _SCORES.format(condition), values):
        score = ItemScore._make(row)
        parameters = NOTHING if score.parameters in ("{}", {}) else _passed(score.parameters)
        same = score.scorer, str(score.parameters), score.name, score.target
        of[version_id][same] = to_json(score._replace(parameters=parameters))
    for version_id, scores in of.items():
        yield version_id, list(scores.values())


# Writing --------------------------------------------------------------------------------------------------------------


class ItemRows(NamedTuple):
    """The rows that hold an item, but for the ids they get. Documents, also those that parts point at, have their keys.

    `parts` are in the order of the tables of parts.
    """

    version: tuple[Any, ...]
    documents: tuple[str, ...]
    parts: tuple[tuple[tuple[Any, ...], ...], ...]

    def n(self) -> int:
        """How many they are, with that of the item itself."""
        return 2 + len(self.documents) + sum(map(len, self.parts))

    def cited(self) -> set[str]:
        """The keys of all documents that they point at."""
        keys: set[Any] = set(self.documents)
        for columns, rows in zip(_PARTS.values(), self.parts, strict=True):
            keys.update(columns.cited(row) for row in rows)
        return keys - {None}


def rows_of(item: ItemContent) -> ItemRows:
    """The rows that hold an item."""
    parts = (tuple(map(columns.row, getattr(item, name))) for name, columns in _PARTS.items())
    return ItemRows(_VERSION.row(item), item.documents, tuple(parts))


VERSION = ("id", "item_id", "number", "content_hash", "batch_id", "person_id", "created_at")
"""The columns of a version that hold no field of the item; its id is the first."""


def insert_items(
    session: Session, items: Sequence[tuple[tuple[Any, ...], ItemRows]], documents: Mapping[str, int]
) -> None:
    """Insert versions with their parts, each by its values of `VERSION` and its rows; `documents` are ids by key."""
    connection = session.connection()
    insert_many(
        connection, "item_version", (*VERSION, *_VERSION.written), [(*own, *rows.version) for own, rows in items]
    )
    insert_many(
        connection,
        "item_document",
        ("item_version_id", "document_id"),
        [(own[0], documents[key]) for own, rows in items for key in rows.documents],
    )
    for place, columns in enumerate(_PARTS.values()):
        insert_many(
            connection,
            columns.table,
            ("item_version_id", "position", *columns.written),
            [
                (own[0], position, *columns.pointing(row, documents))
                for own, rows in items
                for position, row in enumerate(rows.parts[place])
            ],
        )
