"""How items of an import become rows: compared with what is there, and inserted a block at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlmodel import Session

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent, ItemScore
from annotators.items.normal import item_hash
from annotators.items.parsed import ParsedItem, Rejected
from db.engine import dumps, insert_many
from db.items.rows import ItemRows, insert_items, rows_of
from db.items.seen import Seen
from db.query import database_time, fresh_ids, in_clause, is_sqlite, mark, plain_rows

_SCORE = ("run_id", "item_version_id", "name", "target", "value", "reason")
_RUN = (
    "project_id", "kind", "name", "version", "parameters", "parameters_hash", "person_id", "batch_id", "created_at",
)  # fmt: skip
_REMEMBERED = 100_000
_Add = Callable[[Session, Iterable[tuple[int, str]]], None]
RUN_VERSION = "1"
"""The version under which scores of imports are kept."""


@dataclass(frozen=True)
class Origin:
    """What all rows of one import share."""

    project_id: int
    batch_id: int
    person_id: int
    at: datetime


@dataclass(slots=True)
class _There:
    """An item that the project has: its identity, version id by content hash, number and id of the latest version."""

    item_id: int
    question_key: str
    system: str
    withdrawn: bool
    versions: dict[str, int]
    last: int
    latest: int


class NewVersion(NamedTuple):
    """An item to insert: what it is known by, its rows, the hash of its content, and its scores.

    `there`: the id and the last number of the item that it is a version of, None of an item that is not there yet.
    """

    external_id: str
    question_key: str
    system: str
    rows: ItemRows
    digest: str
    scores: tuple[ItemScore, ...]
    there: tuple[int, int] | None

    @property
    def n_rows(self) -> int:
        """About how many rows it takes."""
        return self.rows.n() + len(self.scores)


def _new(item: ItemContent, digest: str, there: tuple[int, int] | None = None) -> NewVersion:
    return NewVersion(item.id, item.question_key, item.system, rows_of(item), digest, item.scores, there)


@dataclass(slots=True)
class Sorted:
    """A block of the source, sorted: what is new, what is there (with its version id), what differs, what is bad.

    `repeated` counts rows that say again what an earlier row of the source says.
    """

    new: list[tuple[ParsedItem, NewVersion]]
    unchanged: list[tuple[ParsedItem, int]]
    revisions: list[tuple[ParsedItem, int]]
    rejected: list[Rejected]
    repeated: int = 0


def sort_block(session: Session, project_id: int, seen: Seen, block: list[ParsedItem], *, has_items: bool) -> Sorted:
    """Compare a block of parsed items with each other, with the blocks before, and with the project's items."""
    hashed: list[tuple[ParsedItem, str]] = []
    result = Sorted([], [], [], [])
    for parsed in block:
        try:
            hashed.append((parsed, item_hash(parsed.item)))
        except InvalidInput as error:
            result.rejected.append(Rejected(parsed.file, parsed.line, str(error)))
    earlier = seen.add((parsed.item.id, digest, parsed.file, parsed.line) for parsed, digest in hashed)
    there = _look_up(session, project_id, [parsed.item.id for parsed, _ in hashed]) if has_items else {}
    for at, (parsed, digest) in enumerate(hashed):
        found = there.get(parsed.item.id)
        if at in earlier:
            before, file, line = earlier[at]
            if before != digest:
                result.rejected.append(_repeated(parsed, file, line))
            else:
                result.repeated += 1
        elif found is None:
            result.new.append((parsed, _new(parsed.item, digest)))
        elif found.withdrawn:
            if found.question_key != parsed.item.question_key or found.system != parsed.item.system:
                result.rejected.append(_other_identity(parsed, found))
            else:
                result.new.append((parsed, _new(parsed.item, digest, (found.item_id, found.last))))
        elif digest in found.versions:
            result.unchanged.append((parsed, found.versions[digest]))
        else:
            result.revisions.append((parsed, found.latest))
    return result


def _repeated(parsed: ParsedItem, file: str, line: int) -> Rejected:
    return Rejected(
        parsed.file,
        parsed.line,
        f"id {parsed.item.id!r} is given twice with different content; the first is {file}, line {line}. Keep one, "
        "or give each its own id.",
    )


def _other_identity(parsed: ParsedItem, found: _There) -> Rejected:
    return Rejected(
        parsed.file,
        parsed.line,
        f"id {parsed.item.id!r} belongs to question {found.question_key!r} and system {found.system!r} (in a batch "
        "that is withdrawn), and an id keeps these. Give the item another id.",
    )


def _look_up(session: Session, project_id: int, ids: list[str]) -> dict[str, _There]:
    condition, values = in_clause(session, "i.external_id", ids)
    no = "0" if is_sqlite(session) else "false"
    rows = session.connection().exec_driver_sql(
        "SELECT i.external_id, i.id, q.key, i.system, v.content_hash, v.id, v.number, coalesce((SELECT NOT w.reinstates"
        f" FROM withdrawal w WHERE w.batch_id = i.batch_id ORDER BY w.id DESC LIMIT 1), {no}) "
        "FROM item i JOIN question q ON q.id = i.question_id JOIN item_version v ON v.item_id = i.id "
        f"WHERE i.project_id = {mark(session.connection())} AND {condition} ORDER BY i.id, v.number",
        (project_id, *values),
    )
    found: dict[str, _There] = {}
    for external_id, item_id, key, system, digest, version_id, number, withdrawn in rows:
        there = found.setdefault(external_id, _There(item_id, key, system, bool(withdrawn), {}, 0, 0))
        there.versions[digest] = version_id
        there.last, there.latest = number, version_id
    return found


class RowWriter:
    """Inserts the items of one import, some at a time, in writing transactions of the caller's."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._documents: dict[str, int] = {}
        self._runs: dict[tuple[str, str], int] = {}

    def write(self, session: Session, new: Sequence[NewVersion]) -> None:
        """Insert these items (or, for one that was withdrawn with its batch, a version of it) with all their parts."""
        if not new:
            return
        documents = self._document_ids(session, documents_of(new))
        item_ids = iter(self._insert_items(session, [version for version in new if version.there is None]))
        version_ids = fresh_ids(session, "item_version", len(new))
        origin, at = self._origin, database_time(session, self._origin.at)
        versions = []
        for version, version_id in zip(new, version_ids, strict=True):
            item_id, number = (next(item_ids), 1) if version.there is None else (version.there[0], version.there[1] + 1)
            own = (version_id, item_id, number, version.digest, origin.batch_id, origin.person_id, at)
            versions.append((own, version.rows))
        insert_items(session, versions, documents)
        self._adopt(session, [version.there[0] for version in new if version.there is not None])
        scored = zip(version_ids, new, strict=True)
        self.add_scores(session, ((version_id, version.scores) for version_id, version in scored))

    def add_scores(self, session: Session, scored: Iterable[tuple[int, Sequence[ItemScore]]]) -> None:
        """Append scores (item version id, its scores)."""
        rows = []
        for version_id, scores in scored:
            for score in scores:
                run_id = self._run(session, score.scorer, dumps(score.parameters) if score.parameters else "{}")
                rows.append((run_id, version_id, score.name, score.target, score.value, score.reason))
        insert_many(session.connection(), "score", _SCORE, rows)

    def _document_ids(self, session: Session, keys: Iterable[str]) -> dict[str, int]:
        """Key → id for these documents; those the project does not have are added without bytes."""
        if len(self._documents) > _REMEMBERED:
            self._documents.clear()
        wanted = set(keys)
        if missing := sorted(wanted - self._documents.keys()):
            self._documents.update(self._find_or_add(session, "document", missing, self._add_documents))
        return self._documents

    def _find_or_add(self, session: Session, table: str, keys: list[str], add: _Add) -> dict[str, int]:
        condition, values = in_clause(session, "key", keys)
        rows = session.connection().exec_driver_sql(
            f"SELECT key, id FROM {table} WHERE project_id = {mark(session.connection())} AND {condition}",
            (self._origin.project_id, *values),
        )
        found: dict[str, int] = {key: row_id for key, row_id in rows}  # noqa: C416 - rows are not plain tuples
        missing = [key for key in keys if key not in found]
        if missing:
            ids = fresh_ids(session, table, len(missing))
            add(session, zip(ids, missing, strict=True))
            found.update(zip(missing, ids, strict=True))
        return found

    def _add_documents(self, session: Session, rows: Iterable[tuple[int, str]]) -> None:
        origin, at = self._origin, database_time(session, self._origin.at)
        columns = ("id", "project_id", "key", "title", "extra", "batch_id", "created_at")
        added = [(i, origin.project_id, key, "", "{}", origin.batch_id, at) for i, key in rows]
        insert_many(session.connection(), "document", columns, added)

    def _add_questions(self, session: Session, rows: Iterable[tuple[int, str]]) -> None:
        added = [(i, self._origin.project_id, key) for i, key in rows]
        insert_many(session.connection(), "question", ("id", "project_id", "key"), added)

    def _insert_items(self, session: Session, items: Sequence[NewVersion]) -> Sequence[int]:
        if not items:
            return ()
        origin = self._origin
        keys = list(dict.fromkeys(item.question_key for item in items))
        questions = self._find_or_add(session, "question", keys, self._add_questions)
        ids = fresh_ids(session, "item", len(items))
        rows = [
            (i, origin.project_id, item.external_id, questions[item.question_key], item.system, origin.batch_id)
            for i, item in zip(ids, items, strict=True)
        ]
        columns = ("id", "project_id", "external_id", "question_id", "system", "batch_id")
        insert_many(session.connection(), "item", columns, rows)
        return ids

    def _adopt(self, session: Session, item_ids: Sequence[int]) -> None:
        """Items of a withdrawn batch that came again belong to this batch from now on."""
        if not item_ids:
            return
        condition, values = in_clause(session, "id", item_ids)
        session.connection().exec_driver_sql(
            f"UPDATE item SET batch_id = {mark(session.connection())} WHERE {condition}",
            (self._origin.batch_id, *values),
        )

    def _run(self, session: Session, name: str, parameters: str) -> int:
        """The run of this import for a scorer with these parameters."""
        if (name, parameters) not in self._runs:
            origin = self._origin
            run_id = fresh_ids(session, "run", 1)[0]
            digest = hashlib.sha256(parameters.encode()).hexdigest()
            row = (
                run_id, origin.project_id, "import", name, RUN_VERSION, parameters, digest, origin.person_id,
                origin.batch_id, database_time(session, origin.at),
            )  # fmt: skip
            insert_many(session.connection(), "run", ("id", *_RUN), [row])
            self._runs[name, parameters] = run_id
        return self._runs[name, parameters]


def missing_scores(
    session: Session, unchanged: Sequence[tuple[ParsedItem, int]]
) -> list[tuple[int, tuple[ItemScore, ...]]]:
    """Item version id → the scores of items that were there already which are not stored as they are given."""
    scored = [(version_id, parsed.item.scores) for parsed, version_id in unchanged if parsed.item.scores]
    if not scored:
        return []
    condition, values = in_clause(session, "s.item_version_id", [version_id for version_id, _ in scored])
    rows = session.connection().exec_driver_sql(
        "SELECT s.item_version_id, r.name, r.parameters, s.name, s.target, s.value, s.reason FROM score s "
        f"JOIN run r ON r.id = s.run_id WHERE r.kind = 'import' AND {condition} ORDER BY s.id",
        values,
    )
    stored = {
        (version_id, run, _same_text(parameters), name, target): (value, reason)
        for version_id, run, parameters, name, target, value, reason in rows
    }

    def is_stored(version_id: int, score: ItemScore) -> bool:
        same = version_id, score.scorer, dumps(score.parameters), score.name, score.target
        return stored.get(same) == (score.value, score.reason)

    missing = []
    for version_id, scores in scored:
        if new := tuple(score for score in scores if not is_stored(version_id, score)):
            missing.append((version_id, new))
    return missing


def _same_text(parameters: Any) -> str:
    """Parameters as they were written; PostgreSQL's driver has parsed them already and keeps no order."""
    value = orjson.loads(parameters) if isinstance(parameters, str) else parameters
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def documents_there(session: Session, project_id: int, keys: Iterable[str]) -> set[str]:
    """Which of these keys are documents of the project."""
    wanted, found = sorted(keys), set[str]()
    for start in range(0, len(wanted), _REMEMBERED):
        condition, values = in_clause(session, "key", wanted[start : start + _REMEMBERED])
        query = f"SELECT key FROM document WHERE project_id = {mark(session.connection())} AND {condition}"
        found.update(key for (key,) in plain_rows(session, query, (project_id, *values)))
    return found


def documents_of(new: Iterable[NewVersion]) -> set[str]:
    """The keys of all documents that these items name."""
    return set().union(*(version.rows.cited for version in new))
