"""Items as rows: the one loader and the one writer of what `annotators.items.item` declares.

Columns have the names of the fields. Statements, and the places of values in rows, follow from the declarations, so
that a name and its value cannot part; a field without a column is an error when this module is loaded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
from annotators.items.normal import Convert, Normal, Written, object_writer, to_json
from db.engine import dumps, insert_many
from db.models import Claim, Evidence, Image, ItemVersion
from db.query import in_clause, is_sqlite, plain_rows, table_of

_NAMES = {"metadata": "extra", "document": "document_id"}
"""Fields whose columns have other names. A document is known by its key, and stored by its id."""

_SHARED = {"id": "i.external_id", "question_key": "q.key", "system": "i.system"}
"""Fields that all versions of an item share, and where they are stored."""

PARTS = frozenset(("documents", "evidence", "claims", "images", "metadata"))
"""The fields of an item that a reader may leave out."""


# Columns --------------------------------------------------------------------------------------------------------------


class _Column:
    """The column of a field: what is stored of its values, and what they are when they are read.

    Defaults that do not stand in normal form are read as NULL.
    """

    def __init__(self, field: Field, table: Table) -> None:
        self.name, self.default = field.name, field.default
        self.column = _NAMES.get(field.name, field.name)
        if self.column not in table.c:
            raise TypeError(f"Field {self.name!r} has no column in the table {table.name}. Add it to db/models.py.")
        kind = table.c[self.column].type
        self.is_json, self.is_flag = isinstance(kind, JSON), isinstance(kind, Boolean)
        self.empty = None if field.default is None else "[]" if field.many else "{}"
        """What is stored for no JSON."""
        self._field = field

    @property
    def read(self) -> str:
        """The expression that is read, of the table by the name of v and the document by that of k."""
        if self.name == "document":
            return "k.key"
        column, default = f'v."{self.column}"', self.empty if self.is_json else self.default
        if default is None or self._field.rule.always:
            return column
        return f"NULLIF({column}, {default if isinstance(default, int) else repr(default)})"

    @property
    def stored(self) -> Callable[[Any], str]:
        """What gives JSON as it is stored."""
        return (lambda parts: dumps([to_json(part) for part in parts])) if self._field.part else dumps

    def value(self, stored: Any) -> Any:
        """The value of a column of JSON or flags; SQLite gives JSON as text and flags as numbers."""
        if self.is_flag:
            return bool(stored)
        found = orjson.loads(stored) if isinstance(stored, str) else stored
        if self._field.part:
            return tuple(self._field.part(**part) for part in found)
        return tuple(found) if self._field.many else found

    def normal(self, *, sqlite: bool) -> Convert | None:
        """What makes of a stored value the one in normal form, None where they are the same.

        SQLite keeps JSON as it was written. PostgreSQL, which keeps no order of keys, gives it parsed.
        """
        if self.is_flag:
            return bool
        if not self.is_json:
            return None
        if sqlite:
            return orjson.Fragment
        return self._ordered if self._field.part else canonical

    def _ordered(self, stored: list[Normal]) -> list[Normal]:
        names = [field.name for field in fields_of(self._field.part)]
        return [{name: part[name] for name in names if name in part} for part in stored]


def _row_writer(names: Sequence[str], columns: Sequence[_Column]) -> Callable[..., list[Any]]:
    """Made of source for the same reason as `object_writer`."""
    known: dict[str, Any] = {}
    values = []
    for column in columns:
        value = f"value{names.index(column.name)}"
        if column.is_json:
            known |= {f"stored_{value}": column.stored, f"empty_{value}": column.empty}
            value = f"stored_{value}({value}) if {value} else empty_{value}"
        values.append(value)
    arguments = ", ".join(f"value{number}" for number in range(len(names)))
    source = f"lambda {arguments}, *_others: [{', '.join(values)}]"
    write: Callable[..., list[Any]] = eval(source, known)  # noqa: S307 - of places in a row
    return write


class _Columns:
    """The columns that hold the fields of an item, or of a kind of part; what is read has the order of the fields."""

    def __init__(self, declared: Any, table: Table, place: int = 0, elsewhere: Mapping[str, str] = NOTHING) -> None:
        fields = fields_of(declared)
        places = {field.name: at for at, field in enumerate(fields)}
        columns = [_Column(field, table) for field in fields if field.name not in elsewhere]
        read = {column.name: column.read for column in columns} | dict(elsewhere)
        self.table = table.name
        self.place = place
        """The place of these parts among the fields of an item."""
        self.read = ", ".join(read[name] for name in places)
        self.pointing = (
            f"v.document_id, v.item_version_id FROM {table.name} v LEFT JOIN document k ON k.id = v.document_id"
            if "document" in places
            else f"NULL, v.item_version_id FROM {table.name} v"
        )
        """What ends the rows of parts: the id of the document, and of the version."""
        self.written = tuple(column.column for column in columns)
        self._make = declared._make
        self._names = tuple(places)
        self._document = places.get("document")
        self._writers: dict[bool, Callable[..., Normal]] = {}
        self.row = _row_writer(tuple(places), columns)
        """A function of the values of an item or part, which gives what is written; what follows is passed over."""
        self._converted = [(places[column.name], column) for column in columns if column.is_json or column.is_flag]
        self._defaults = [(places[field.name], field.default) for field in fields if field.default is not None]

    def point(self, rows: Iterable[list[Any]], ids: Mapping[str, int]) -> None:
        """Put the ids of documents into rows that are to be written, for their keys."""
        at = self._document
        if at is not None:
            for row in rows:
                row[at] = ids.get(row[at])

    def content(self, row: Sequence[Any], *others: Any) -> Any:
        """The item or part that a row holds, ending with `others`."""
        values = list(row[: len(self._names)])
        for at, column in self._converted:
            if values[at] is not None:
                values[at] = column.value(values[at])
        for at, default in self._defaults:
            if values[at] is None:
                values[at] = default
        return self._make((*values, *others))

    def writer(self, *, sqlite: bool) -> Callable[..., Normal]:
        """What writes the values of a row in normal form, JSON as it is stored."""
        if sqlite not in self._writers:
            converts = {at: column.normal(sqlite=sqlite) for at, column in self._converted}
            written = (Written(name, False, None, converts.get(at)) for at, name in enumerate(self._names))
            self._writers[sqlite] = object_writer(written)
        return self._writers[sqlite]


_DOCUMENTS, _SCORES, _METADATA = map(FIELDS.index, ("documents", "scores", "metadata"))
_PARTS = {
    name: _Columns(declared, table_of(table), FIELDS.index(name))
    for name, declared, table in (
        ("evidence", ItemEvidence, Evidence), ("claims", ItemClaim, Claim), ("images", ItemImage, Image),
    )
}  # fmt: skip
"""The parts that have tables of their own, by the field of the item."""

_VERSION = _Columns(
    ItemContent,
    table_of(ItemVersion),
    elsewhere={**_SHARED, **dict.fromkeys(("documents", *_PARTS, "scores"), "NULL")},
)


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
    session: Session, study_item_ids: Sequence[int], parts: Collection[str] = PARTS, *, second: bool = False
) -> dict[int, StoredItem]:
    """Study item id → the version that the study is frozen with, or the `second` of a pair; else as `read_items`."""
    return _items(_rows(session, _BY_SECOND if second else _BY_STUDY_ITEM, study_item_ids, parts), parts)


def items_as_json(session: Session, version_ids: Sequence[int]) -> dict[int, Normal]:
    """Item version id → the item in normal form (`annotators.items.normal`), with the scores that came with imports.

    On SQLite, JSON columns are passed through as they are stored (`orjson.Fragment`), which is what makes large exports
    quick; so the result is to be written out with orjson, not looked into.
    """
    if not version_ids:
        return {}
    rows, scores = _rows(session, _BY_VERSION, version_ids, PARTS), _scores(session, version_ids)
    sqlite = is_sqlite(session)
    write = _VERSION.writer(sqlite=sqlite)
    parts = [(_PARTS[name].place, found, _PARTS[name].writer(sqlite=sqlite)) for name, found in rows.parts.items()]
    items = {}
    for _, version_id, _, _, _, fields in rows.versions:
        if version_id in rows.about:
            fields[_DOCUMENTS] = sorted([rows.documents[document_id].key for document_id in rows.about[version_id]])
        for place, found, write_part in parts:
            if version_id in found:
                fields[place] = [write_part(*row) for row in found[version_id]]
        if version_id in scores:
            fields[_SCORES] = list(scores[version_id].values())
        items[version_id] = write(*fields)
    return items


_BY_VERSION = "v.id", "item_version v"
_BY_STUDY_ITEM = "s.id", "study_item s JOIN item_version v ON v.id = s.item_version_id"
_BY_SECOND = "s.id", "study_item s JOIN item_version v ON v.id = s.other_version_id"
_OF_VERSIONS = "v.id, v.item_id, v.number, v.content_hash"
_OF_DOCUMENTS = "k.id, k.key, k.title, k.sha256, k.media_type, k.n_pages, k.page_sizes FROM document k"
_OF_SCORES = (
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
    fields: list[Any]


class _StoredItems(NamedTuple):
    """The rows of some versions, those of their parts by field and version, and the documents they point at by id.

    `about`: version → the ids of the documents that it is about by itself.
    """

    versions: list[_Version]
    parts: dict[str, dict[int, list[Sequence[Any]]]]
    documents: dict[int, StoredDocument]
    about: dict[int, list[int]]


def _rows(session: Session, by: tuple[str, str], ids: Sequence[int], parts: Collection[str]) -> _StoredItems:
    condition, values = in_clause(session, by[0], ids)
    query = (
        f"SELECT {by[0]}, {_OF_VERSIONS}, {_VERSION.read} FROM {by[1]} JOIN item i ON i.id = v.item_id "
        f"JOIN question q ON q.id = i.question_id WHERE {condition}"
    )
    versions = [
        _Version(by_id, version_id, item_id, number, digest, fields)
        for by_id, version_id, item_id, number, digest, *fields in plain_rows(session, query, values)
    ]
    version_ids = [version.version_id for version in versions]
    condition, values = in_clause(session, "v.item_version_id", version_ids)
    found: dict[str, dict[int, list[Sequence[Any]]]] = {}
    cited: set[Any] = set()
    for name, columns in _PARTS.items():
        if name in parts:
            of_version = found[name] = defaultdict(list)
            query = (
                f"SELECT {columns.read}, {columns.pointing} WHERE {condition} ORDER BY v.item_version_id, v.position"
            )
            for row in plain_rows(session, query, values):
                of_version[row[-1]].append(row)
                cited.add(row[-2])
    cited.discard(None)
    documents: dict[int, StoredDocument] = {}
    about: dict[int, list[int]] = defaultdict(list)
    if cited or "documents" in parts:
        of_versions, values = in_clause(session, "d.item_version_id", version_ids)
        of_parts, ids = in_clause(session, "k.id", sorted(cited))
        query = (
            f"SELECT d.item_version_id, {_OF_DOCUMENTS} JOIN item_document d ON d.document_id = k.id "
            f"WHERE {of_versions} UNION ALL SELECT NULL, {_OF_DOCUMENTS} WHERE {of_parts}"
        )
        for version_id, document_id, *others in plain_rows(session, query, (*values, *ids)):
            if document_id not in documents:
                documents[document_id] = StoredDocument(document_id, *others)
            if version_id is not None:
                about[version_id].append(document_id)
    return _StoredItems(versions, found, documents, about)


def _items(rows: _StoredItems, parts: Collection[str]) -> dict[int, StoredItem]:
    items = {}
    for by, version_id, item_id, number, digest, fields in rows.versions:
        ids = set(rows.about.get(version_id, ()))
        if "documents" in parts:
            fields[_DOCUMENTS] = tuple(sorted(rows.documents[document_id].key for document_id in ids))
        if "metadata" not in parts:
            fields[_METADATA] = None
        for name, found in rows.parts.items():
            if version_id in found:
                columns = _PARTS[name]
                ids.update(row[-2] for row in found[version_id])
                fields[columns.place] = tuple(map(columns.content, found[version_id]))
        content: ItemContent = _VERSION.content(fields, version_id)
        documents = sorted((rows.documents[document_id] for document_id in ids - {None}), key=attrgetter("key"))
        items[by] = StoredItem(content, item_id, number, digest, tuple(documents))
    return items


def _scores(session: Session, version_ids: Sequence[int]) -> dict[int, dict[Any, Normal]]:
    """Version → its imported scores in normal form; of several imports that gave the same score the latest counts."""
    found: dict[int, dict[Any, Normal]] = defaultdict(dict)
    condition, values = in_clause(session, "s.item_version_id", version_ids)
    for version_id, scorer, name, value, target, stored, reason in plain_rows(
        session, _OF_SCORES.format(condition), values
    ):
        parameters: Any = NOTHING
        if stored not in ("{}", {}):
            parameters = orjson.Fragment(stored) if isinstance(stored, str) else canonical(stored)
        score = ItemScore(scorer, name, value, target, parameters, reason)
        found[version_id][scorer, str(stored), name, target] = to_json(score)
    return found


# Writing --------------------------------------------------------------------------------------------------------------


class ItemRows(NamedTuple):
    """The rows that hold an item, but for the ids they get. Documents, also those that parts point at, have their keys.

    `parts` are in the order of the tables of parts.
    """

    version: list[Any]
    documents: tuple[str, ...]
    parts: tuple[list[list[Any]], ...]
    cited: set[str]

    def n(self) -> int:
        """How many they are, with that of the item itself."""
        return 2 + len(self.documents) + sum(map(len, self.parts))


def rows_of(item: ItemContent) -> ItemRows:
    """The rows that hold an item."""
    parts = tuple([columns.row(*part) for part in getattr(item, name)] for name, columns in _PARTS.items())
    cited = {*item.documents, *[unit.document for unit in item.evidence if unit.document]}
    cited.update([image.document for image in item.images if image.document])
    return ItemRows(_VERSION.row(*item), item.documents, parts, cited)


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
        found = []
        for own, rows in items:
            columns.point(rows.parts[place], documents)
            found += [(own[0], position, *row) for position, row in enumerate(rows.parts[place])]
        insert_many(connection, columns.table, ("item_version_id", "position", *columns.written), found)
