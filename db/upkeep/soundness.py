"""Whether a database, and the bytes of the documents it names, are whole: what `assay doctor` and `assay backup` ask.

SQLite checks its own file (`quick_check`; `integrity_check` also compares every index with its table). What it cannot
know, a changed letter within a text, shows in the hashes that we keep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import orjson
from sqlalchemy import func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from annotators.items.normal import content_hash
from annotators.items.pairs import pair_name
from annotators.items.sampling import sample_digest, sampled_as
from annotators.judges.prompts.prompt import prompt_hash
from db.engine import Database, connected
from db.faults import DatabaseDamaged, damage_in
from db.items.documents import document_file
from db.items.rows import items_as_json
from db.models import (
    Document,
    Item,
    ItemVersion,
    Project,
    PromptVersion,
    ProtocolVersion,
    Purpose,
    Run,
    Study,
    StudyItem,
    Table,
    TrainingSetVersion,
)
from db.query import pick
from db.runs.run import parameters_hash
from db.scores.training_sets import stored_hash

_BLOCK = 500


# The file -------------------------------------------------------------------------------------------------------------


def damage_of(database: Database, *, deep: bool = False) -> str | None:
    """What the database says is damaged in itself; None when it finds nothing.

    On PostgreSQL, which checks no more than what it reads, nothing is looked at unless `deep`, and then every row.
    """
    if database.is_sqlite:
        return damage_in(Path(str(database.url.database)), deep=deep)
    try:
        return _unreadable_rows(database) if deep else None
    except DatabaseDamaged as error:
        return str(error)


def _unreadable_rows(database: Database) -> str | None:
    with connected(database) as connection:
        for name in Table.metadata.tables:
            connection.exec_driver_sql(f'SELECT sum(length(t::text)) FROM "{name}" t').scalar()
        row = connection.exec_driver_sql("SELECT conname FROM pg_constraint WHERE NOT convalidated LIMIT 1").scalar()
    return f"the constraint {row} was never checked" if row else None


def dangling(database: Database) -> list[str]:
    """Tables with rows that point at rows which are not there, each with how many; PostgreSQL has none."""
    if not database.is_sqlite:
        return []
    with connected(database) as connection:
        rows = sorted((str(row[0]), str(row[2])) for row in connection.exec_driver_sql("PRAGMA foreign_key_check"))
    return [f"{len(list(same)):,} of {table} at {to}" for (table, to), same in groupby(rows)]


# Documents ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DocumentAmiss:
    """Bytes of a document that are missing or not what they were; `keys` are the documents (project: key) with them."""

    sha256: str
    path: Path
    keys: list[str]
    what: str


def documents_amiss(database: Database, folder: Path, *, deep: bool = False) -> Iterator[DocumentAmiss]:
    """Every document whose bytes are missing or empty; with `deep`, all are read, and those that differ are found."""
    with database.read() as session:
        rows = session.exec(
            select(Document.sha256, Project.name, Document.key)
            .join(Project)
            .where(col(Document.sha256).is_not(None))
            .order_by(col(Document.sha256), Project.name, Document.key)
        ).all()
    for sha256, same in groupby(rows, key=lambda row: str(row[0])):
        path = document_file(folder, sha256)
        what = _amiss(path, sha256, deep=deep)
        if what:
            yield DocumentAmiss(sha256, path, [f"{project}: {key}" for _, project, key in same], what)


def _amiss(path: Path, sha256: str, *, deep: bool) -> str | None:
    try:
        if path.stat().st_size == 0:
            return "empty"
        if not deep:
            return None
        with path.open("rb") as file:
            return None if hashlib.file_digest(file, "sha256").hexdigest() == sha256 else "altered"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"unreadable ({error.strerror})"


# Hashes ---------------------------------------------------------------------------------------------------------------


def wrong_hashes(database: Database) -> Iterator[str]:
    """What is not what its hash says: items, protocols and samples of studies, own protocols, training sets, runs."""
    with database.read() as session:
        last = session.exec(select(func.max(ItemVersion.id))).one() or 0
        for first in range(1, last + 1, _BLOCK):
            yield from _wrong_items(session, range(first, first + _BLOCK))
        for study in session.exec(select(Study).order_by(col(Study.id))):
            if _protocol_digest(study) != study.protocol_hash:
                yield f"the protocol of study {study.name!r}"
            if sample_digest(_sample(session, study)) != study.sample_hash:
                yield f"the sample of study {study.name!r}"
        for own in session.exec(select(ProtocolVersion).order_by(col(ProtocolVersion.id))):
            if _protocol_digest(own) != own.protocol_hash:
                yield f"version {own.version} of the protocol {own.name!r}"
        for prompt in session.exec(select(PromptVersion).order_by(col(PromptVersion.id))):
            if prompt_hash(prompt.prompt) != prompt.prompt_hash:
                yield f"version {prompt.version} of the prompt {prompt.name!r}"
        for version in session.exec(select(TrainingSetVersion)):
            if stored_hash(session, version) != version.content_hash:
                yield f"version {version.number} of the training set {version.name!r}"
        for run in session.exec(select(Run)):
            if parameters_hash(run.parameters) != run.parameters_hash:
                yield f"the parameters of run {run.id} ({run.name})"


def _protocol_digest(kept: Study | ProtocolVersion) -> str:
    # Of what is stored, and not of the protocol as this version would write it: a later one may know more fields.
    canonical = json.dumps(kept.protocol, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _sample(session: Session, study: Study) -> list[tuple[str, str]]:
    other, version = aliased(Item), aliased(ItemVersion)
    rows = session.execute(
        pick(
            Item.external_id, ItemVersion.content_hash, other.external_id, version.content_hash, StudyItem.other_left
        )
        .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
        .join(StudyItem, col(StudyItem.item_version_id) == ItemVersion.id)
        .outerjoin(version, col(version.id) == StudyItem.other_version_id)
        .outerjoin(other, col(other.id) == version.item_id)
        .where(col(StudyItem.study_id) == study.id, col(StudyItem.purpose) == Purpose.SAMPLE)
        .order_by(col(StudyItem.position))
    )  # fmt: skip
    return [
        sampled_as(pair_name(item, second), content, second_content, left=left)
        for item, content, second, second_content, left in rows
    ]


def _wrong_items(session: Session, ids: Sequence[int]) -> Iterator[str]:
    kept = {
        int(version_id or 0): (number, external_id, digest)
        for version_id, number, external_id, digest in session.exec(
            select(ItemVersion.id, ItemVersion.number, Item.external_id, ItemVersion.content_hash)
            .join(Item)
            .where(col(ItemVersion.id).between(ids[0], ids[-1]))
        )
    }
    for version_id, item in items_as_json(session, list(kept)).items():
        number, external_id, digest = kept[version_id]
        if content_hash(orjson.loads(orjson.dumps(item))) != digest:
            yield f"version {number} of item {external_id!r}"
