"""Documents: known by their key in a project; their bytes, stored once by SHA-256, may come later."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, text
from sqlmodel import Session, col

from annotators.errors import Conflict, InvalidInput, NotFound
from annotators.files import sync
from annotators.pages import DocumentFacts, Renderer, sniff
from db.engine import Database
from db.items.current import batches_left_out, is_published, item_is_current
from db.models import Document, Evidence, Image, Item, ItemDocument, ItemVersion, KeptDocument
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import is_sqlite, pick

LARGEST = 512 << 20
"""Bytes that one document may have."""

ATTACHED = "bytes attached"
TITLED = "document titled"
DESCRIBED = "document described"
"""Kinds of event by which a document that was there already gains bytes, a title, or metadata."""

KEPT_HERE = "documents kept here"
LET_GO = "documents let go"
"""Kinds of event by which documents are marked as never to leave this machine, and are not any more."""

Inspect = Callable[[Path, str, str], DocumentFacts]
"""(path, media type, name) → facts: `annotators.pages.Renderer.inspect`."""


@dataclass(frozen=True)
class Bytes:
    """The bytes of a document, looked at: where they lie now, their digest, what they are, and their pages.

    `sizes` are (width, height) of every page in points; `note` is empty or says what is damaged.
    """

    path: Path
    sha256: str
    media_type: str
    n_pages: int
    sizes: list[tuple[float, float]] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class DocumentRow:
    """A document in a list. `supplied` says whether its bytes are there."""

    document_id: int
    key: str
    title: str
    supplied: bool
    sha256: str | None
    media_type: str | None
    n_pages: int | None
    metadata: dict[str, Any]


# Bytes ----------------------------------------------------------------------------------------------------------------


def look_at(path: Path, name: str, inspect: Inspect) -> Bytes:
    """What the bytes at `path` are; InvalidInput (naming the document and the remedy) unless they can be shown."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read ({error.strerror}). Check that it is there and readable.") from None
    if size > LARGEST:
        raise InvalidInput(f"{name} has {size:,} bytes, more than the {LARGEST:,} a document may have. Split it.")
    data = path.read_bytes()
    media_type = sniff(data, name)
    facts = inspect(path, media_type, name)
    return Bytes(path, hashlib.sha256(data).hexdigest(), media_type, facts.n_pages, facts.sizes, facts.note)


def document_file(data_folder: Path, sha256: str) -> Path:
    """Where the bytes with this digest are kept in the folder of documents; the caller sees whether they are there."""
    return data_folder / sha256[:2] / sha256


def store(data_folder: Path, found: Bytes) -> Path | None:
    """Copy the bytes into the data folder, whole or not at all; the new file, or None when there was one."""
    return next(iter(list(store_all(data_folder, [found]))), None)


def store_all(data_folder: Path, found: Iterable[Bytes]) -> Iterator[Path]:
    """Copy the bytes of documents into the data folder, each whole or not at all; the files that are new.

    A group of them is written before the disk is waited for, for all of the group at once: a hundred small files take
    little longer than one. When the iteration has ended the disk has everything, names included. A file that was there
    and is not what its name says, because a disk failed, is replaced.
    """
    folders = {data_folder}
    waiting = iter(found)
    with ThreadPoolExecutor(_SYNCED_AT_ONCE, thread_name_prefix="sync") as pool:
        while group := list(islice(waiting, _A_GROUP)):
            copies: list[_Copy] = []
            try:
                for source in group:
                    _copy(data_folder, source, copies)
                for _ in pool.map(sync, [copy.written for copy in copies]):
                    pass
                for copy in copies:
                    copy.written.replace(copy.target)
            except BaseException:
                for copy in copies:
                    copy.written.unlink(missing_ok=True)
                raise
            folders |= {copy.target.parent for copy in copies}
            yield from (copy.target for copy in copies if copy.is_new)
        if len(folders) > 1:
            for _ in pool.map(sync, sorted(folders)):
                pass


def remove_unfinished(data_folder: Path) -> None:
    """Remove copies that were being written when their process was killed, so long ago that nobody writes them."""
    for path in data_folder.glob(f"??/{_NEW}*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > UNFINISHED_SECONDS:
                path.unlink()


UNFINISHED_SECONDS = 24 * 3600.0
"""So long a copy of one document takes at most."""

_NEW = ".new-"
_A_GROUP = 128
_SYNCED_AT_ONCE = 8


@dataclass(frozen=True)
class _Copy:
    """Bytes that are written under a name of their own, and where they belong."""

    written: Path
    target: Path
    is_new: bool


def _copy(data_folder: Path, found: Bytes, copies: list[_Copy]) -> None:
    """Write a copy of the bytes, unless they are there, and note it in `copies` before anything can fail."""
    target = document_file(data_folder, found.sha256)
    was_there = target.exists()
    if was_there and _is_whole(target, found):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_NEW)
    copies.append(_Copy(Path(name), target, not was_there))
    digest = hashlib.sha256()
    with os.fdopen(handle, "wb") as out, found.path.open("rb", buffering=0) as source:
        while block := source.read(1 << 20):
            digest.update(block)
            out.write(block)
    if digest.hexdigest() != found.sha256:
        raise InvalidInput(f"{found.path.name} changed while it was read. Supply it again.")


def _is_whole(file: Path, found: Bytes) -> bool:
    if file.stat().st_size != found.path.stat().st_size:
        return False
    with file.open("rb") as there:
        return hashlib.file_digest(there, "sha256").hexdigest() == found.sha256


def claim_bytes(session: Session, *, alone: bool = False) -> None:
    """Before bytes are stored in the transaction that writes their row, or (`alone`) those without a row are removed.

    SQLite has one writer. On PostgreSQL a row that is not committed yet is not seen by whoever looks for rows.
    """
    if not is_sqlite(session):
        kind = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        session.execute(text(f"SELECT {kind}({_BYTES_LOCK})"))


_BYTES_LOCK = 4153534160


def give_bytes(document: Document, found: Bytes) -> bool:
    """Enter the bytes into a document's row; False when it has them already, Conflict when it has others."""
    if document.sha256 == found.sha256:
        return False
    if document.sha256 is not None:
        raise Conflict(
            f"Document {document.key!r} has other bytes already (SHA-256 {document.sha256[:12]}…). What people have "
            "looked at is not replaced: import the new ones under another key."
        )
    document.sha256, document.media_type = found.sha256, found.media_type
    document.n_pages, document.page_sizes = found.n_pages, [list(size) for size in found.sizes]
    return True


# Operations -----------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, RESEARCHERS)
def attach_bytes(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    key: str,
    source: Path,
    data_folder: Path,
    renderer: Renderer | None = None,
) -> bool:
    """Supply the bytes of a document that is known only by its key; False when it has the same ones already.

    Bytes that it has but that were lost are put back. Nothing that points at the document changes. Raises NotFound,
    Conflict for other bytes, InvalidInput for bytes that cannot be shown.
    """
    found = _look(source, key, renderer)
    with db.write() as session:
        query = pick(Document).where(_has_key(project_id, key), is_published(Document.batch_id))
        document = session.execute(query).scalar_one_or_none()
        if document is None:
            raise NotFound(f"The project has no document {key!r}. Add it first, or check the key.")
        is_new = give_bytes(document, found)
        claim_bytes(session)
        store(data_folder, found)
        if not is_new:
            return False
        session.add(document)
        details = {"key": key, "sha256": found.sha256}
        record(session, actor, ATTACHED, "document", document.id, project_id=project_id, details=details)
        return True


@operation(On.PROJECT, READERS)
def list_documents(
    db: Database, _actor: Actor, project_id: int, *, search: str = "", after: str | None = None, limit: int = 100
) -> list[DocumentRow]:
    """The project's documents by key, from the one after the key `after`; `search` is part of a key or title.

    A document of a withdrawn batch is left out unless an item that is current still points at it.
    """
    with db.read() as session:
        query = pick(Document).where(col(Document.project_id) == project_id, document_is_current(session))
        if after is not None:
            query = query.where(col(Document.key) > after)
        if search:
            query = query.where(
                col(Document.key).icontains(search, autoescape=True)
                | col(Document.title).icontains(search, autoescape=True)
            )
        rows = session.execute(query.order_by(col(Document.key)).limit(limit)).scalars()
        return [_row(document) for document in rows]


def document_is_current(session: Session) -> ColumnElement[bool]:
    """The condition on `Document` that its batch counts, or that a current item still points at it."""
    left_out = list(session.execute(batches_left_out()).scalars())
    standing = col(Document.batch_id).is_(None) | col(Document.batch_id).not_in(left_out)
    if not left_out:
        return standing
    return standing | _pointed_at(ItemDocument) | _pointed_at(Evidence) | _pointed_at(Image)


def _pointed_at(table: type[ItemDocument] | type[Evidence] | type[Image]) -> ColumnElement[bool]:
    """Whether a row of `table` that belongs to a current item points at the document."""
    return (
        pick(Item.id)
        .join(ItemVersion, col(ItemVersion.item_id) == col(Item.id))
        .join(table, col(table.item_version_id) == col(ItemVersion.id))
        .where(col(table.document_id) == col(Document.id), item_is_current())
        .exists()
    )


def _has_key(project_id: int, key: str) -> ColumnElement[bool]:
    return (col(Document.project_id) == project_id) & (col(Document.key) == key)


def _row(document: Document) -> DocumentRow:
    assert document.id is not None
    return DocumentRow(
        document.id,
        document.key,
        document.title,
        document.sha256 is not None,
        document.sha256,
        document.media_type,
        document.n_pages,
        document.extra,
    )


def _look(source: Path, name: str, renderer: Renderer | None) -> Bytes:
    if renderer is not None:
        return look_at(source, name, renderer.inspect)
    with Renderer(workers=1) as own:
        return look_at(source, name, own.inspect)


# Documents that stay here ---------------------------------------------------------------------------------------------


@operation(On.PROJECT, READERS)
def list_kept_documents(db: Database, _actor: Actor, project_id: int) -> dict[str, tuple[str, ...]]:
    """The documents that must not leave this machine, as of `kept_documents`."""
    with db.read() as session:
        return kept_documents(session, project_id)


def kept_documents(session: Session, project_id: int) -> dict[str, tuple[str, ...]]:
    """The keys, in order, of the documents that must not leave this machine, each with the keys that it stays for.

    A mark holds for the bytes: what has those of a marked document stays as well, and names it. One that is marked
    itself names none.
    """
    found: dict[str, tuple[str, ...]] = dict.fromkeys(marked_documents(session, project_id), ())
    query = pick(Document.key, Document.sha256).where(stays_here(project_id))
    rows = session.execute(query.order_by(col(Document.key))).all()
    marked: dict[str | None, list[str]] = {}
    for key, sha256 in rows:
        if key in found:
            marked.setdefault(sha256, []).append(key)
    found |= {key: tuple(marked[sha256]) for key, sha256 in rows if key not in found}
    return dict(sorted(found.items()))


def stays_here(project_id: int) -> ColumnElement[bool]:
    """The condition on `Document` that it is one of a project that is marked, or has the bytes of one."""
    marks = pick(KeptDocument.key).where(col(KeptDocument.project_id) == project_id)
    of_project = (col(Document.project_id) == project_id) & is_published(Document.batch_id)
    digests = pick(Document.sha256).where(of_project, col(Document.key).in_(marks), col(Document.sha256).is_not(None))
    return of_project & (col(Document.key).in_(marks) | col(Document.sha256).in_(digests))


def marked_documents(session: Session, project_id: int) -> set[str]:
    """The keys of those of them that are marked themselves; a project need not have a document of such a key yet."""
    query = pick(KeptDocument.key).where(col(KeptDocument.project_id) == project_id)
    return set(session.execute(query).scalars())


@operation(On.PROJECT, RESEARCHERS)
def keep_documents(db: Database, actor: Actor, project_id: int, *, keys: Sequence[str], kept: bool = True) -> list[str]:
    """Mark documents as never to leave this machine, or let them go (`kept=False`); the keys that are kept now.

    One with the bytes of another that is marked stays until that is let go too. NotFound for a document that the
    project does not have.
    """
    with db.write() as session:
        there = set(
            session.execute(
                pick(Document.key).where(col(Document.project_id) == project_id, col(Document.key).in_(list(keys)))
            ).scalars()
        )
        missing = [key for key in keys if key not in there]
        if missing and kept:
            raise NotFound(f"The project has no document {missing[0]!r}. `assay documents` lists them.")
        if kept:
            mark_kept(session, actor, project_id, keys)
        else:
            for row in _marks(session, project_id, keys):
                session.delete(row)
            _record_marks(session, actor, LET_GO, project_id, documents=list(keys))
    return list(list_kept_documents(db, actor, project_id))


def mark_kept(session: Session, actor: Actor, project_id: int, keys: Sequence[str], **details: Any) -> None:
    """Mark documents as never to leave this machine and log it, in the caller's transaction.

    `details` are what the event says besides the keys.
    """
    marked = {row.key for row in _marks(session, project_id, keys)}
    for key in dict.fromkeys(keys):
        if key not in marked:
            session.add(KeptDocument(project_id=project_id, key=key, person_id=actor.person_id))
    _record_marks(session, actor, KEPT_HERE, project_id, documents=list(keys), **details)


def _marks(session: Session, project_id: int, keys: Sequence[str]) -> list[KeptDocument]:
    query = pick(KeptDocument).where(col(KeptDocument.project_id) == project_id, col(KeptDocument.key).in_(list(keys)))
    return list(session.execute(query).scalars())


def _record_marks(session: Session, actor: Actor, kind: str, project_id: int, **details: Any) -> None:
    record(session, actor, kind, "project", project_id, project_id=project_id, details=details)
