"""Releases: the accepted items with their final labels, frozen under a name and a hash of what is in them."""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import IO, Any, NamedTuple

import orjson
from sqlalchemy import func
from sqlmodel import Session, col

from annotators.asking.submissions import GivenLabel, is_asked
from annotators.errors import Conflict, InvalidInput, NotFound, listed, shown
from annotators.figures import some
from db.engine import Database, dumps, insert_many
from db.items.current import item_is_published
from db.models import (
    Event,
    Item,
    ItemVersion,
    Project,
    Release,
    ReleaseItem,
    ReleaseLabel,
    ReleasePair,
    ReleasePairLabel,
    Study,
)
from db.names import visible_name
from db.people.accounts import names_of
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.releasing.pairs import PairKey, PairStanding, pair_standings, sampled_pairs
from db.releasing.states import BLOCK, Place, Standing, State, sampled_items, standings
from db.studies.asked import units_needed
from db.studies.design import protocol_of
from db.studies.settlements import SettledUnit, settled_units

_IN_MEMORY = 8 << 20
_LONGEST = 200
_NAMED = 5


class FinalLabel(NamedTuple):
    """One final label in a release; `version` is the number of the item's that it was given for.

    Of a pair, `other_version` is the number of the second item's.
    """

    study_id: int
    study: str
    criterion: str
    target: str
    value: Any
    how: str
    votes: dict[str, int]
    version: int
    other_version: int | None = None


@dataclass(frozen=True)
class ReleasedPair:
    """A pair in a release: of which study, its two item versions, which stood left, and its final labels."""

    study_id: int
    version_id: int
    other_version_id: int
    other_left: bool
    labels: list[FinalLabel]


class Lack(StrEnum):
    """What an accepted item may lack. Only one that was accepted by hand can lack a label."""

    NO_LABEL = "no_label"
    OPEN = "open"
    EARLIER_VERSION = "earlier_version"


LEFT_OUT = (Lack.NO_LABEL, Lack.OPEN)
"""What is left out of a release unless it is asked for by name: a unit that its protocol asks has no final label.

Labels that were given for an earlier version and that stand, as the protocol says of what was revised, are final
labels: they are counted, and go in.
"""


@dataclass(frozen=True)
class ReleasePlan:
    """What a release made now would hold: items, pairs and labels, and all items by state.

    `holds` names, by what they lack, the accepted items that go in, `left_out` those that do not.
    """

    items: int
    pairs: int
    labels: int
    states: dict[str, int]
    holds: dict[str, list[str]]
    left_out: dict[str, list[str]]

    def to_json(self) -> dict[str, Any]:
        """As `assay release --dry-run --json` prints it."""
        return {
            "items": self.items,
            "pairs": self.pairs,
            "labels": self.labels,
            "states": self.states,
            "holds": self.holds,
            "left_out": self.left_out,
        }


@dataclass(frozen=True)
class ReleaseRow:
    """A release in a list: what is in it, of which study (None: of all), when and by whom it was made.

    `labels` are those of items and of pairs. `holds` names the items that lack something, `left_out` those that were
    left out for it, by what (`Lack`).
    """

    release_id: int
    name: str
    sha256: str
    items: int
    pairs: int
    labels: int
    states: dict[str, int]
    study: str | None
    event: int
    at: datetime
    by: str | None
    holds: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As `assay release --json` and `assay releases --json` print it."""
        return {
            "release": self.name,
            "sha256": self.sha256,
            "items": self.items,
            "pairs": self.pairs,
            "states": self.states,
            "labels": self.labels,
            "holds": self.holds,
            "left_out": self.left_out,
            "study": self.study,
            "event": self.event,
            "at": self.at.isoformat(),
            "by": self.by,
        }


@operation(On.PROJECT, RESEARCHERS)
def plan_release(
    db: Database, _actor: Actor, project_id: int, *, study_id: int | None = None, keep: Collection[str] = ()
) -> ReleasePlan:
    """What `make_release` would hold, and what it would leave out and why; nothing is written."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as kept, db.read() as session:
        _check_study(session, project_id, study_id)
        found = _Found(kept, _checked_lacks(keep))
        found.read(session, project_id, study_id)
        return ReleasePlan(found.items, found.pairs, found.labels, dict(found.states), found.holds, found.left_out)


def _checked_lacks(keep: Collection[str]) -> frozenset[Lack]:
    """InvalidInput for what nothing is left out for."""
    for name in keep:
        if name not in LEFT_OUT:
            raise InvalidInput(f"No item is left out of a release for {shown(name)}. Known: {', '.join(LEFT_OUT)}.")
    return frozenset(Lack(name) for name in keep)


@operation(On.PROJECT, RESEARCHERS)
def make_release(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    name: str,
    study_id: int | None = None,
    keep: Collection[str] = (),
) -> ReleaseRow:
    """Freeze the accepted items, in their present versions, with their final labels that stand.

    With `study_id` the items that this study accepts, and its labels; without, all items that every study of theirs
    accepts, with the labels of each. An item that was accepted by hand while a unit that its protocol asks has no
    label, or its votes settle nothing, is left out, unless `keep` names that (`LEFT_OUT`); the release says which those
    are. Of a study that compares two answers the pairs are released whose labels are settled and hold, with their two
    items; without `study_id` those of which no other study wants anything of either item. All is read in one view of
    the database and stored in one transaction.
    Raises Conflict for a name that is taken, and where nothing is accepted; InvalidInput for a name that is none;
    NotFound for a study of another project.
    """
    called = visible_name(name, "release's name", _LONGEST)
    with db.read() as session:
        _check_free(session, project_id, called)
        _check_study(session, project_id, study_id)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as kept:
        with db.read() as session:
            found = _Found(kept, _checked_lacks(keep))
            found.read(session, project_id, study_id)
            event: int = session.execute(pick(func.max(Event.id))).scalar_one() or 0
        if not found.items:
            if found.left_out:
                lacks = "; ".join(
                    f"{lack_in_words(lack)}: {some(names, _NAMED)}" for lack, names in found.left_out.items()
                )
                raise Conflict(
                    f"All accepted items would be left out ({lacks}). Have them labelled, or name what is to be kept."
                )
            there = ", ".join(f"{n:,} {state.replace('_', ' ')}" for state, n in found.states.items())
            whose = "all its studies have" if study_id is None else "the study has"
            raise Conflict(
                f"No item is accepted yet ({there or 'there is none'}), so that there is nothing to release. An item "
                f"is accepted when {whose} settled its labels, and their protocol accepts them, or by hand."
                + (" A release can also be of one study." if study_id is None else "")
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
                n_pairs=found.pairs,
                states=dict(found.states),
                holds={"holds": found.holds, "left_out": found.left_out},
                event_id=event,
                person_id=actor.person_id,
            )
            session.add(row)
            session.flush()
            assert row.id is not None
            found.write(session, row.id)
            details = {"name": called, "sha256": row.sha256, "items": row.n_items, "labels": row.n_labels} | (
                {"pairs": row.n_pairs} if row.n_pairs else {}
            )
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

    def __init__(self, kept: IO[bytes], keep: frozenset[Lack]) -> None:
        self.holds: dict[str, list[str]] = {}
        self.left_out: dict[str, list[str]] = {}
        self._keep_lacking = keep
        self.items = self.labels = self.pairs = 0
        self.states: Counter[str] = Counter()
        self._kept, self._digests = kept, list[bytes]()
        self._names: dict[int, str] = {}
        self._blocks = 0

    def read(self, session: Session, project_id: int, study_id: int | None) -> None:
        """Everything that is accepted in this view of the database."""
        study = None if study_id is None else session.get_one(Study, study_id)
        if study is not None and protocol_of(study).about_pairs:
            self._pairs_of(session, study, alone=True, there=set())
            return
        blocks = _all_items(session, project_id) if study_id is None else sampled_items(session, study_id)
        for block in blocks:
            found = standings(session, block, study_id=study_id)
            self.states.update(item.state.value for item in found.values())
            self._keep(session, [item for item in found.values() if item.state is State.ACCEPTED], [])
        if study_id is None:
            there: set[int] = set()
            for study in session.execute(pick(Study).where(col(Study.project_id) == project_id)).scalars().all():
                if protocol_of(study).about_pairs:
                    self._pairs_of(session, study, alone=False, there=there)

    def _pairs_of(self, session: Session, study: Study, *, alone: bool, there: set[int]) -> None:
        """The pairs of a study, and those of their items that are not `there` yet and that no study of items has.

        `alone`: what this study alone says; else of items that another study has, only accepted ones count.
        """
        assert study.id is not None
        for block in sampled_pairs(session, study.id):
            ids = sorted({item_id for pair in block for item_id in pair})
            items = standings(session, ids, study_id=study.id if alone else None)
            found = pair_standings(session, study, block, items)
            if alone:
                self.states.update(pair.state.value for pair in found.values())
            pairs = [pair for pair in found.values() if pair.state is State.ACCEPTED]
            pairs = [pair for pair in pairs if {pair.first.state, pair.second.state} <= _RELEASABLE]
            without = {
                item.item_id: item
                for pair in pairs
                for item in (pair.first, pair.second)
                if item.item_id not in there and (alone or item.state is State.NO_STUDY)
            }
            there.update(without)
            self._keep(session, list(without.values()), pairs, labelled=False)

    def _keep(
        self, session: Session, items: list[Standing], pairs: list[PairStanding], *, labelled: bool = True
    ) -> None:
        """Put a block aside: items with their labels, if they have any, and pairs with theirs."""
        labels = self._labels(session, items) if labelled else {}
        if labelled:
            items = self._without_lacks(session, items, labels)
        of_pairs = self._labels(session, pairs)
        self._digests += self._digested(session, items, labels)
        self._digests += self._digested(session, pairs, of_pairs)
        rows = [
            ((item.version_id,), *label._replace(value=dumps(label.value)))
            for item in items
            for label in labels.get(_key(item), ())
        ]
        pair_rows = [
            (_versions(pair), *label._replace(value=dumps(label.value)))
            for pair in pairs
            for label in of_pairs.get(_key(pair), ())
        ]
        there = [(pair.study_id, *_versions(pair), pair.other_left) for pair in pairs]
        pickle.dump(([item.version_id for item in items], rows, there, pair_rows), self._kept)
        self._blocks += 1
        self.items += len(items)
        self.pairs += len(pairs)
        self.labels += len(rows) + len(pair_rows)

    def _without_lacks(
        self, session: Session, items: list[Standing], labels: Mapping[_Key, list[FinalLabel]]
    ) -> list[Standing]:
        """The accepted items that go in; what they lack, and what the others do, is noted."""
        lacking = _lacks_of(session, [item for item in items if item.by_hand], labels)
        kept = []
        for item in items:
            lacks = lacking.get(item.item_id, set())
            goes_in = lacks <= self._keep_lacking
            if goes_in and any(label.version < item.number for label in labels.get(_key(item), ())):
                lacks = lacks | {Lack.EARLIER_VERSION}
            for lack in sorted(lacks if goes_in else lacks - self._keep_lacking):
                (self.holds if goes_in else self.left_out).setdefault(lack.value, []).append(item.external_id)
            if goes_in:
                kept.append(item)
        return kept

    def _labels(self, session: Session, items: Iterable[Standing | PairStanding]) -> dict[_Key, list[FinalLabel]]:
        """Item or pair → its final labels that stand: of each criterion those of the last place that asks it."""
        wanted: dict[int, dict[int, tuple[Standing | PairStanding, Place]]] = defaultdict(dict)
        for item in items:
            for of, there in item.studies.items():
                self._names[of] = there.study.name
                for place in there.places:
                    wanted[of][place.study_item_id] = item, place
        found: dict[_Key, list[FinalLabel]] = defaultdict(list)
        for of, places in wanted.items():
            study = next(iter(places.values()))[0].studies[of].study
            sources = {unit.criterion.name: unit.source.name for unit in protocol_of(study).derived_criteria()}
            for unit in settled_units(session, of, list(places)):
                item, place = places[unit.study_item_id]
                if _stands(item, of, unit, sources):
                    final = FinalLabel(
                        of, study.name, unit.criterion, unit.target, unit.value, unit.state, unit.votes, place.number,
                        place.other_number,
                    )  # fmt: skip
                    found[_key(item)].append(final)
        return found

    def _digested(
        self, session: Session, items: Sequence[Standing | PairStanding], labels: Mapping[_Key, list[FinalLabel]]
    ) -> Iterator[bytes]:
        """The digest of each item: its id, version and content, and its labels with how each was reached.

        Of a pair: the study, the same of both items, which stood left, and the labels.
        """
        hashes = pick(ItemVersion.id, ItemVersion.content_hash)
        versions = {part.version_id for item in items for part in _parts(item)}
        of = {row[0]: row[1] for row in session.execute(hashes.where(col(ItemVersion.id).in_(versions)))}
        for item in items:
            said = sorted(
                ([label.study, label.criterion, label.target, label.value, label.how, label.version,
                  *(() if label.other_version is None else (label.other_version,))]
                 for label in labels.get(_key(item), ())),
                key=lambda label: label[:3],
            )  # fmt: skip
            about = [[part.external_id, part.number, of[part.version_id]] for part in _parts(item)]
            line: list[Any]
            if isinstance(item, Standing):
                line = [*about[0], said]
            else:
                line = [item.there.study.name, *about, item.other_left, said]
            yield hashlib.sha256(orjson.dumps(line, option=orjson.OPT_SORT_KEYS)).digest()

    def sha256(self) -> str:
        """The hash of the release: of the digests of its items, sorted, whatever order databases give them in."""
        return hashlib.sha256(b"".join(sorted(self._digests))).hexdigest()

    def write(self, session: Session, release_id: int) -> None:
        """Store the rows, in the caller's transaction."""
        connection = session.connection()
        self._kept.seek(0)
        for _ in range(self._blocks):
            versions, rows, pairs, pair_rows = pickle.load(self._kept)  # noqa: S301 - our own file
            of_items = [(release_id, version) for version in versions]
            insert_many(connection, "release_item", ("release_id", "item_version_id"), of_items)
            for table, columns, labels in (
                ("release_label", _LABEL, rows), ("release_pair_label", _PAIR_LABEL, pair_rows),
            ):  # fmt: skip
                insert_many(
                    connection,
                    table,
                    columns,
                    [
                        (release_id, of, *key, criterion, target, value, how, dumps(votes), *numbers[: len(key)])
                        for key, of, _, criterion, target, value, how, votes, *numbers in labels
                    ],
                )
            insert_many(connection, "release_pair", _PAIR, [(release_id, *pair) for pair in pairs])


_LACKS = {
    Lack.NO_LABEL: "without a label on something that is asked",
    Lack.OPEN: "with something open",
    Lack.EARLIER_VERSION: "with labels given for an earlier version",
}


def lack_in_words(lack: str) -> str:
    """What an item lacks, as it is said behind "items"."""
    return _LACKS[Lack(lack)]


def _lacks_of(
    session: Session, items: Sequence[Standing], labels: Mapping[_Key, list[FinalLabel]]
) -> dict[int, set[Lack]]:
    """Item → what it lacks of a final label in each unit that its studies ask, by its labels that stand."""
    found: dict[int, set[Lack]] = defaultdict(set)
    by_study: dict[int, list[Standing]] = defaultdict(list)
    for item in items:
        for of, there in item.studies.items():
            if there.state is not None:  # a study that was closed before says nothing
                by_study[of].append(item)
    for of, asked in by_study.items():
        study = session.get_one(Study, of)
        protocol, places = protocol_of(study), [place.study_item_id for i in asked for place in i.studies[of].places]
        needed = units_needed(session.connection(), study, protocol, places)
        said = {(unit.study_item_id, unit.criterion, unit.target) for unit in settled_units(session, of, places)}
        for item in asked:
            mine = [label for label in labels.get(_key(item), ()) if label.study_id == of]
            final = {(label.criterion, label.target): GivenLabel(label.criterion, label.target, label.value)
                     for label in mine}  # fmt: skip
            there = item.studies[of]
            for place in there.places:
                for name, target in needed[place.study_item_id]:
                    is_last = there.last.get(name) is place
                    if not is_last or (name, target) in final:
                        continue
                    if name in there.missing:
                        found[item.item_id].add(Lack.NO_LABEL)
                    elif is_asked(protocol.criterion(name), target, final):
                        is_open = (place.study_item_id, name, target) in said
                        found[item.item_id].add(Lack.OPEN if is_open else Lack.NO_LABEL)
    return found


_Key = int | PairKey
_RELEASABLE = {State.ACCEPTED, State.NO_STUDY}
"""Where the items of a pair may stand that is released."""


def _key(item: Standing | PairStanding) -> _Key:
    return item.item_id if isinstance(item, Standing) else item.key


def _parts(item: Standing | PairStanding) -> tuple[Standing, ...]:
    return (item,) if isinstance(item, Standing) else (item.first, item.second)


def _versions(pair: PairStanding) -> tuple[int, int]:
    return pair.first.version_id, pair.second.version_id


_SAID = ("criterion", "target", "value", "how", "votes", "version")
_LABEL = ("release_id", "study_id", "item_version_id", *_SAID)
_PAIR_LABEL = ("release_id", "study_id", "item_version_id", "other_version_id", *_SAID, "other_version")
_PAIR = ("release_id", "study_id", "item_version_id", "other_version_id", "other_left")


def _stands(item: Standing | PairStanding, study_id: int, unit: SettledUnit, sources: Mapping[str, str]) -> bool:
    """Whether a settled unit is a final label of the item as it is now."""
    criterion = sources.get(unit.criterion, unit.criterion)
    return unit.state != "open" and item.studies[study_id].holds(criterion, unit.study_item_id)


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
        there = listed(known, "none yet; make one with `assay release`")
        raise NotFound(f"The project has no release {shown(name)}. Known: {there}.")
    return release


def _row(session: Session, release: Release) -> ReleaseRow:
    study = None if release.study_id is None else session.get_one(Study, release.study_id).name
    by = None if release.person_id is None else names_of(session, {release.person_id})[release.person_id]
    assert release.id is not None
    return ReleaseRow(
        release.id, release.name, release.sha256, release.n_items, release.n_pairs, release.n_labels,
        release.states, study, release.event_id, release.created_at, by, **(release.holds or {}),
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


def released_pairs(session: Session, release_id: int, version_ids: Iterable[int]) -> list[ReleasedPair]:
    """The pairs of a release whose first item is in one of these versions, by study and version, with their labels."""
    pair, label, ids = ReleasePair, ReleasePairLabel, list(version_ids)
    found: dict[tuple[int, int, int], ReleasedPair] = {}
    rows = session.execute(
        pick(pair.study_id, pair.item_version_id, pair.other_version_id, pair.other_left).where(
            col(pair.release_id) == release_id, col(pair.item_version_id).in_(ids)
        )
    )
    for study_id, version_id, other_id, left in sorted(tuple(row) for row in rows):
        found[study_id, version_id, other_id] = ReleasedPair(study_id, version_id, other_id, left, [])
    said = session.execute(
        pick(
            label.study_id, label.item_version_id, label.other_version_id, Study.name, label.criterion, label.target,
            label.value, label.how, label.votes, label.version, label.other_version,
        )
        .join(Study, col(Study.id) == label.study_id)
        .where(col(label.release_id) == release_id, col(label.item_version_id).in_(ids))
        .order_by(col(label.criterion), col(label.target))
    )  # fmt: skip
    for study_id, version_id, other_id, *fields in said:
        found[study_id, version_id, other_id].labels.append(FinalLabel(study_id, *fields))
    return list(found.values())


def labelled_by(session: Session, release_id: int) -> list[int]:
    """The ids of the studies whose labels a release has."""
    found: set[int] = set()
    for table in (ReleaseLabel, ReleasePair):
        found |= set(
            session.execute(pick(table.study_id).where(col(table.release_id) == release_id).distinct()).scalars()
        )
    return sorted(found)
