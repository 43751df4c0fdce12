"""What an import says otherwise of items that are there: kept on its way, and stored as proposed revisions."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlmodel import Session, col

from db.engine import dumps, insert_many
from db.models import Item, ProposedRevision
from db.query import database_time, pick

_IN_MEMORY = 8 << 20
_COLUMNS = (
    "project_id", "item_id", "batch_id", "source", "line", "fields", "content_hash", "person_id", "created_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Differing:
    """An item of the source that is there with other content, and the fields that differ; it is not changed.

    `digest` is the hash of what the source says.
    """

    file: str
    line: int
    external_id: str
    changes: tuple[str, ...]
    digest: str = field(default="", compare=False)


class Proposal(NamedTuple):
    """One item that differs, and the fields with the values that the source has."""

    differing: Differing
    fields: Mapping[str, Any]


class KeptProposals:
    """Proposals on their way into the database, block by block; a file when they are many."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `close`
        self._blocks = 0

    def add(self, block: Sequence[Proposal]) -> None:
        """Keep these."""
        if block:
            rows = [
                (row.differing.external_id, row.differing.line, row.differing.digest, dumps(row.fields))
                for row in block
            ]  # fmt: skip
            pickle.dump(rows, self._file, pickle.HIGHEST_PROTOCOL)
            self._blocks += 1

    def store(
        self, session: Session, project_id: int, *, batch_id: int | None, source: str, person_id: int, at: datetime
    ) -> None:
        """Store those that nobody has proposed before, in the caller's transaction."""
        self._file.seek(0)
        moment = database_time(session, at)
        for _ in range(self._blocks):
            rows = pickle.load(self._file)  # noqa: S301 - written by this very object
            ids = _items(session, project_id, [row[0] for row in rows])
            known = _proposed(session, list(ids.values()))
            new = [
                (project_id, ids[item], batch_id, source, line, fields, digest, person_id, moment)
                for item, line, digest, fields in rows
                if (ids[item], digest) not in known
            ]
            insert_many(session.connection(), "proposed_revision", _COLUMNS, new)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _items(session: Session, project_id: int, external_ids: Sequence[str]) -> dict[str, int]:
    query = pick(Item.external_id, Item.id).where(col(Item.project_id) == project_id)
    return {row[0]: row[1] for row in session.execute(query.where(col(Item.external_id).in_(external_ids)))}


def _proposed(session: Session, item_ids: Sequence[int]) -> set[tuple[int, str]]:
    query = pick(ProposedRevision.item_id, ProposedRevision.content_hash)
    return {(row[0], row[1]) for row in session.execute(query.where(col(ProposedRevision.item_id).in_(item_ids)))}
