"""Releases: the accepted items with their final labels, frozen under a name and a hash of what is in them."""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, NamedTuple

import orjson
from sqlalchemy import func
from sqlmodel import Session, col

from annotators.errors import Conflict, InvalidInput, NotFound
from db.engine import Database, dumps, insert_many
from db.items.current import item_is_published
from db.models import Event, Item, ItemVersion, Project, Release, ReleaseItem, ReleaseLabel, Study
from db.people.accounts import names_of
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.releasing.states import BLOCK, Standing, State, sampled_items, standings
from db.studies.design import protocol_of
from db.studies.settlements import SettledUnit, settled_units

_IN_MEMORY = 8 << 20
_LONGEST = 200


class FinalLabel(NamedTuple):
    """One final label of an item in a release; `version` is the number of the item's that it was given for."""

    study_id: int
    study: str
    criterion: str
    target: str
    value: Any
    how: str
    votes: dict[str, int]
    version: int


@dataclass(frozen=True)
class ReleaseRow:
    """A release in a list: what is in it, of which study (None: of all), when and by whom it was made."""

    release_id: int
    name: str
    sha256: str
    items: int
    labels: int
    states: dict[str, int]
    study: str | None
    event: int
    at: datetime
    by: str | None

    def to_json(self) -> dict[str, Any]:
        """As `assay release --json` and `assay releases --json` print it."""
        return {
            "release": self.name,
            "sha256": self.sha256,
            "items": self.items,
            "states": self.states,
            "labels": self.labels,
            "study": self.study,
            "event": self.event,
            "at": self.at.isoformat(),
            "by": self.by,
        }


@operation(On.PROJECT, RESEARCHERS)
def make_release(db: Database, actor: Actor, project_id: int, *, name: str, study_id: int | None = None) -> ReleaseRow:
    """Freeze the accepted items, in their present versions, with their final labels that stand.

    With `study_id` the items that this study accepts, and its labels; without, all items that every study of theirs
    accepts, with the labels of each. All is read in one view of the database and stored in one transaction.
    Raises Conflict for a name that is taken, and where nothing is accepted; InvalidInput for a name that is none;
    NotFound for a study of another project.
    """
    called = name.strip()
    if not called or len(called) > _LONGEST:
        raise InvalidInput(f"A release needs a name of 1 to {_LONGEST} characters, not {name!r}. Give one, such as v1.")
    with db.read() as session:
        _check_free(session, project_id, called)
        _check_study(session, project_id, study_id)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as kept:
        with db.read() as session:
            found = _Found(kept)
            found.read(session, project_id, study_id)
            event: int = session.execute(pick(func.max(Event.id))).scalar_one() or 0
        if not found.items:
            there = ", ".join(f"{n:,} {state.replace('_', ' ')}" for state, n in found.states.items())
            raise Conflict(
                f"No item is accepted yet ({there or 'there is none'}), so that there is nothing to release. An item "
                "is accepted when its labels are settled and its protocol accepts them, or by hand."
            )
        with db.write() as session:
            session.get_one(Project, project_id, with_for_update=True)
            _check_free(session, project_id, called)
            row = Release(
                project_id=project_id,
                name=called,
                study_id=study_id,
                sha256=found.sha256(),
                n_items=found.items,
                n_labels=found.labels,
                states=dict(found.states),
                event_id=event,
                person_id=actor.person_id,
            )
            session.add(row)
            session.flush()
            assert row.id is not None
            found.write(session, row.id)
            details = {"name": called, "sha256": row.sha256, "items": row.n_items, "labels": row.n_labels}
            record(session, actor, "release made", "release", row.id, project_id=project_id, details=details)
            return _row(session, row)


def _check_free(session: Session, project_id: int, name: str) -> None:
    taken = pick(Release.id).where(col(Release.project_id) == project_id, col(Release.name) == name)
    if session.execute(taken).first() is not None:
        raise Conflict(f"The project has a release {name!r}, which stays as it is. Give this one another name.")


def _check_study(session: Session, project_id: int, study_id: int | None) -> None:
    if study_id is not None:
        mine = pick(Study.id).where(col(Study.project_id) == project_id, col(Study.id) == study_id)
        if session.execute(mine).first() is None:
            raise NotFound(f"The project has no study {study_id}.")


class _Found:
    """What goes into a release, read block by block and kept in a file, and counted."""

    def __init__(self, kept: IO[bytes]) -> None:
        self.items = self.labels = 0
        self.states: Counter[str] = Counter()
        self._kept, self._digests = kept, list[bytes]()
        self._names: dict[int, str] = {}

    def read(self, session: Session, project_id: int, study_id: int | None) -> None:
        """Everything that is accepted in this view of the database."""
        blocks = _all_items(session, project_id) if study_id is None else sampled_items(session, study_id)
        for block in blocks:
            found = standings(session, block, study_id=study_id)
            self.states.update(item.state.value for item in found.values())
            accepted = [item for item in found.values() if item.state is State.ACCEPTED]
            labels = self._labels(session, accepted)
            self._digests += self._digested(session, accepted, labels)
            rows = [
                (item.version_id, *label._replace(value=dumps(label.value))) for item in accepted
                for label in labels.get(item.item_id, ())
            ]  # fmt: skip
            pickle.dump(([item.version_id for item in accepted], rows), self._kept)
            self.items += len(accepted)
            self.labels += len(rows)

    def _labels(self, session: Session, items: Iterable[Standing]) -> dict[int, list[FinalLabel]]:
        """Item → its final labels that stand: of each criterion those of the last place that asks it."""
        wanted: dict[int, dict[int, tuple[Standing, int]]] = defaultdict(dict)
        for item in items:
            for of, there in item.studies.items():
                self._names[of] = there.study.name
                for place in there.places:
                    wanted[of][place.study_item_id] = item, place.number
        found: dict[int, list[FinalLabel]] = defaultdict(list)
        for of, places in wanted.items():
            study = next(iter(places.values()))[0].studies[of].study
            sources = {unit.criterion.name: unit.source.name for unit in protocol_of(study).derived_criteria()}
            for unit in settled_units(session, of, list(places)):
                item, number = places[unit.study_item_id]
                if _stands(item, of, unit, sources):
                    about = (of, study.name, unit.criterion, unit.target)
                    found[item.item_id].append(FinalLabel(*about, unit.value, unit.state, unit.votes, number))
        return found

    def _digested(
        self, session: Session, items: list[Standing], labels: Mapping[int, list[FinalLabel]]
    ) -> Iterator[bytes]:
        """The digest of each item: its id, version and content, and its labels with how each was reached."""
        hashes = pick(ItemVersion.id, ItemVersion.content_hash)
        versions = [item.version_id for item in items]
        of = {row[0]: row[1] for row in session.execute(hashes.where(col(ItemVersion.id).in_(versions)))}
        for item in items:
            said = sorted(
                ([label.study, label.criterion, label.target, label.value, label.how, label.version]
                 for label in labels.get(item.item_id, ())),
                key=lambda label: label[:3],
            )  # fmt: skip
            line = [item.external_id, item.number, of[item.version_id], said]
            yield hashlib.sha256(orjson.dumps(line, option=orjson.OPT_SORT_KEYS)).digest()

    def sha256(self) -> str:
        """The hash of the release: of the digests of its items, sorted, whatever order databases give them in."""
        return hashlib.sha256(b"".join(sorted(self._digests))).hexdigest()

    def write(self, session: Session, release_id: int) -> None:
        """Store the rows, in the caller's transaction."""
        connection = session.connection()
        self._kept.seek(0)
        written = 0
        while written < self.items:
            versions, rows = pickle.load(self._kept)  # noqa: S301 - our own file
            insert_many(
                connection,
                "release_item",
                ("release_id", "item_version_id"),
                [(release_id, version) for version in versions],
            )
            labels = [
                (release_id, version, of, criterion, target, value, how, dumps(votes), number)
                for version, of, _, criterion, target, value, how, votes, number in rows
            ]
            insert_many(connection, "release_label", _LABEL, labels)
            written += len(versions)


_LABEL = ("release_id", "item_version_id", "study_id", "criterion", "target", "value", "how", "votes", "version")


def _stands(item: Standing, study_id: int, unit: SettledUnit, sources: Mapping[str, str]) -> bool:
    """Whether a settled unit is a final label of the item as it is now."""
    there = item.studies[study_id]
    criterion = sources.get(unit.criterion, unit.criterion)
    place = there.last.get(criterion)
    holds = place is not None and place.study_item_id == unit.study_item_id
    return holds and unit.state != "open" and criterion not in there.missing


def _all_items(session: Session, project_id: int) -> Iterator[list[int]]:
    """Blocks of the ids of a project's items."""
    query = pick(Item.id).where(col(Item.project_id) == project_id, item_is_published()).order_by(col(Item.id))
    after = 0
    while block := list(session.execute(query.where(col(Item.id) > after).limit(BLOCK)).scalars()):
        yield block
        after = block[-1]


# Reading --------------------------------------------------------------------------------------------------------------


@operation(On.PROJECT, READERS)
def list_releases(db: Database, _actor: Actor, project_id: int) -> list[ReleaseRow]:
    """The releases of a project, latest first."""
    with db.read() as session:
        query = pick(Release).where(col(Release.project_id) == project_id).order_by(col(Release.id).desc())
        return [_row(session, release) for release in session.execute(query).scalars()]


@operation(On.PROJECT, READERS)
def find_release(db: Database, _actor: Actor, project_id: int, *, name: str) -> ReleaseRow:
    """The release of this name; NotFound lists those that there are."""
    with db.read() as session:
        return _row(session, release_named(session, project_id, name))


def release_named(session: Session, project_id: int, name: str) -> Release:
    """The release of this name in a project; NotFound lists those that there are."""
    query = pick(Release).where(col(Release.project_id) == project_id)
    release: Release | None = session.execute(query.where(col(Release.name) == name.strip())).scalar_one_or_none()
    if release is None:
        known = [row.name for row in session.execute(query.order_by(col(Release.id)).limit(_LONGEST)).scalars()]
        listed = ", ".join(known) or "none yet; make one with `assay release`"
        raise NotFound(f"The project has no release {name!r}. Known: {listed}.")
    return release


def _row(session: Session, release: Release) -> ReleaseRow:
    study = None if release.study_id is None else session.get_one(Study, release.study_id).name
    by = None if release.person_id is None else names_of(session, {release.person_id})[release.person_id]
    assert release.id is not None
    return ReleaseRow(
        release.id, release.name, release.sha256, release.n_items, release.n_labels, release.states, study,
        release.event_id, release.created_at, by,
    )  # fmt: skip


def released_versions(session: Session, release_id: int) -> Iterator[list[int]]:
    """Blocks of the ids of the item versions in a release, in the order in which they came."""
    query = pick(ReleaseItem.item_version_id).where(col(ReleaseItem.release_id) == release_id)
    query = query.order_by(col(ReleaseItem.item_version_id))
    after = 0
    while block := list(session.execute(query.where(col(ReleaseItem.item_version_id) > after).limit(BLOCK)).scalars()):
        yield block
        after = block[-1]


def released_labels(session: Session, release_id: int, version_ids: Iterable[int]) -> dict[int, list[FinalLabel]]:
    """Item version → its labels in a release, by study, criterion and target."""
    label = ReleaseLabel
    rows = session.execute(
        pick(
            label.item_version_id, label.study_id, Study.name, label.criterion, label.target, label.value, label.how,
            label.votes, label.version,
        )
        .join(Study, col(Study.id) == label.study_id)
        .where(col(label.release_id) == release_id, col(label.item_version_id).in_(list(version_ids)))
    )  # fmt: skip
    found: dict[int, list[FinalLabel]] = defaultdict(list)
    for version_id, *fields in rows:
        found[version_id].append(FinalLabel(*fields))
    for labels in found.values():
        labels.sort(key=lambda given: (given.study_id, given.criterion, given.target))
    return dict(found)


def labelled_by(session: Session, release_id: int) -> list[int]:
    """The ids of the studies whose labels a release has."""
    query = pick(ReleaseLabel.study_id).where(col(ReleaseLabel.release_id) == release_id).distinct()
    return sorted(session.execute(query).scalars())
