"""Runs: what is computed over a project's items in blocks, whoever computes it; resumed after a kill, each result once.

A kind of run (`RunKind`) says what is read, computed and stored; everything else is here. Scorers are the first kind
(`db/scores/write.py`).
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import orjson
from sqlalchemy import ColumnElement, Select, select, text
from sqlmodel import Session, col

from annotators.errors import InvalidInput
from annotators.progress import Progress
from db.engine import Database
from db.items.scored import count_items
from db.jobs import got_further, keep_run, run_of_job
from db.models import ItemVersion, Run
from db.permissions import Actor, record


class OfAnItem(Protocol):
    """What a kind of run reads of an item, as far as every run has to know it."""

    @property
    def version_id(self) -> int:
        """The item version that the results are of."""


ItemT = TypeVar("ItemT", bound=OfAnItem)
ResultT = TypeVar("ResultT")

Block = tuple[list[ItemT], list[list[ResultT]]]
"""Some items and the results of each, in the same order."""


class RunKind(ABC, Generic[ItemT, ResultT]):
    """One kind of run: which items it reads, what it computes of each, and what it stores.

    An instance says what is computed: by `name` in `version`, with the complete `parameters`. Runs of one project that
    agree in these have the same results, so that an item which one of them has done is left out by the others.

    `kind` is what the runs and the log of events call it (scorer, judge, …), `verb` and `doing` are what it does to
    items (score, scoring), `results` is what it stores (scores). `block` is how many items are read, computed and
    written at a time: what a run keeps in memory, and what is lost when it is interrupted.
    """

    kind: ClassVar[str]
    verb: ClassVar[str]
    doing: ClassVar[str]
    results: ClassVar[str]

    def __init__(self, name: str, version: str, parameters: Mapping[str, Any], *, block: int) -> None:
        self.name, self.version, self.parameters, self.block = name, version, dict(parameters), block

    @abstractmethod
    def results_of(self, runs: Sequence[int]) -> Select[Any]:
        """A query for one column: the `key` of each result that these runs have stored."""

    @property
    def key(self) -> Any:
        """The column that results point at: that of item versions, unless a kind says otherwise."""
        return col(ItemVersion.id)

    def id_of(self, item: ItemT) -> int:
        """The `key` of an item."""
        return item.version_id

    def count(
        self, session: Session, project_id: int, left: ColumnElement[bool] | None = None, *, at_most: int | None = None
    ) -> int:
        """How many items it is about meet `left`; not more than `at_most` are counted."""
        return count_items(session, project_id, left, at_most=at_most)

    @abstractmethod
    def read(
        self, session: Session, project_id: int, left: ColumnElement[bool] | None, *, after: int, limit: int
    ) -> list[ItemT]:
        """The next items it is about that meet `left`, by their `key`, from the one after `after`."""

    @abstractmethod
    def compute(self, blocks: Iterator[list[ItemT]]) -> Iterator[Block[ItemT, ResultT]]:
        """Every block with the results of its items, in the order the blocks came; no transaction is open meanwhile.

        An item without any result counts as still to be done, and another run gets to it.
        """

    @abstractmethod
    def store(self, session: Session, run_id: int, done: Sequence[tuple[ItemT, Sequence[ResultT]]]) -> int:
        """Append the results of some items in the caller's transaction; how many results."""


def parameters_hash(parameters: Mapping[str, Any]) -> str:
    """SHA-256 of the parameters in canonical JSON: what tells two runs of one name and version apart."""
    return hashlib.sha256(orjson.dumps(parameters, option=orjson.OPT_SORT_KEYS)).hexdigest()


class RunUnderWay(Generic[ItemT, ResultT]):
    """One run of a kind over a project's items; its row is made when there are first results to store.

    Items are read by key, each block committed on its own: memory does not grow with the project, and what a run that
    stops has left, the next one does. Two at once store the results of each item once. With a `job_id` it is the run
    that the job has begun, if it has, and the job is told of a new one. Raises InvalidInput without an item.
    """

    def __init__(
        self,
        db: Database,
        actor: Actor,
        project_id: int,
        kind: RunKind[ItemT, ResultT],
        *,
        job_id: int | None = None,
    ) -> None:
        self._db, self._actor, self._project_id, self._kind, self._job_id = db, actor, project_id, kind, job_id
        self._digest = parameters_hash(kind.parameters)
        self.added = 0
        """How many results this run has stored."""
        with db.read() as session:
            self.same = self._same(session)
            """The runs whose results are those of this one, itself among them once it has some."""
            begun = run_of_job(session, job_id) if job_id is not None else None
            self._run_id = begun if begun in self.same else None
            if not self.same and not kind.count(session, project_id, at_most=1):
                raise InvalidInput(f"The project has no items to {kind.verb}. Import some first.")

    def has_work(self) -> bool:
        """Whether there is an item without results."""
        with self._db.read() as session:
            return bool(self._kind.read(session, self._project_id, self._left(), after=0, limit=1))

    def n_left(self) -> int:
        """How many items have no results."""
        with self._db.read() as session:
            return self._kind.count(session, self._project_id, self._left())

    def over_all_items(self, progress: Progress) -> None:
        """Do what is left, block by block; `progress` is told how many items have results, and of how many."""
        with self._db.read() as session:
            total = self._kind.count(session, self._project_id)
            done = total - self._kind.count(session, self._project_id, self._left()) if self.same else 0
        progress(done, total)
        for items, results in self._kind.compute(self._blocks()):
            self._store([(item, found) for item, found in zip(items, results, strict=True) if found])
            done += len(items)
            progress(done, max(done, total))
        if self._run_id is not None and self.added:
            with self._db.write() as session:
                self._record(session, self._run_id, "finished", {self._kind.results: self.added})

    def _left(self) -> ColumnElement[bool] | None:
        """The condition that none of these runs has done an item; None when there is none."""
        if not self.same:
            return None
        results = self._kind.results_of(self.same)
        return ~results.where(results.selected_columns[0] == self._kind.key).exists()

    def _blocks(self) -> Iterator[list[ItemT]]:
        """The items that the runs before this one have left, a block at a time."""
        after, left = 0, self._left()
        while True:
            with self._db.read() as session:
                items = self._kind.read(session, self._project_id, left, after=after, limit=self._kind.block)
            if not items:
                return
            after = self._kind.id_of(items[-1])
            yield items

    def _same(self, session: Session) -> list[int]:
        query = select(col(Run.id)).where(
            col(Run.project_id) == self._project_id,
            col(Run.kind) == self._kind.kind,
            col(Run.name) == self._kind.name,
            col(Run.version) == self._kind.version,
            col(Run.parameters_hash) == self._digest,
        )
        return list(session.execute(query).scalars())

    def _store(self, done: Sequence[tuple[ItemT, Sequence[ResultT]]]) -> None:
        """Append the results of a block, but for items that somebody else has done since the block was read.

        That may be another run, or another worker that believed this one to be dead and went on in the same run.
        """
        with self._db.write() as session:
            if not self._db.is_sqlite:  # one of these runs writes at a time, as on SQLite
                session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": int(self._digest[:15], 16)})
            same = self._same(session)
            if same:
                ids = sorted(self._kind.id_of(item) for item, _ in done)
                results = self._kind.results_of(same)
                stored = set(session.execute(results.where(results.selected_columns[0].in_(ids))).scalars())
                done = [(item, found) for item, found in done if self._kind.id_of(item) not in stored]
            if not done:
                return
            run_id = self._run_id
            if run_id is None:
                run_id = self._begin(session)
                same.append(run_id)
            added = self._kind.store(session, run_id, done)
            if self._job_id is not None and added and not self.added:
                got_further(session, self._job_id)
        self._run_id, self.same = run_id, same
        self.added += added

    def _begin(self, session: Session) -> int:
        run = Run(
            project_id=self._project_id,
            kind=self._kind.kind,
            name=self._kind.name,
            version=self._kind.version,
            parameters=self._kind.parameters,
            parameters_hash=self._digest,
            person_id=self._actor.person_id,
        )
        session.add(run)
        session.flush()
        assert run.id is not None
        if self._job_id is not None:
            keep_run(session, self._job_id, run.id)
        self._record(session, run.id, "started", {})
        return run.id

    def _record(self, session: Session, run_id: int, what: str, more: Mapping[str, Any]) -> None:
        kind = self._kind
        details = {kind.kind: kind.name, "version": kind.version, "parameters": kind.parameters, **more}
        event = f"{kind.doing} {what}"
        record(session, self._actor, event, "run", run_id, project_id=self._project_id, details=details)
