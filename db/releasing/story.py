"""The story of an item: what was done to it and said of it, by whom and why, from its import to its releases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlmodel import Session, col

from annotators.asking.rounds import BLIND
from annotators.errors import NotAllowed, NotFound
from db.engine import Database
from db.items.current import is_published, is_set_aside, item_is_published
from db.models import (
    Adjudication,
    Annotation,
    Batch,
    Event,
    Item,
    ItemEnding,
    ItemVersion,
    ProposalAnswer,
    ProposedRevision,
    Purpose,
    Release,
    ReleaseItem,
    Revision,
    Settlement,
    SettlementState,
    Study,
    StudyItem,
    Withdrawal,
)
from db.people.accounts import names_of
from db.people.pseudonyms import raters_of, sees_names
from db.permissions import READERS, Actor, On, operation
from db.query import pick
from db.releasing.states import Standing, standings
from db.studies.settlements import check_has_judged


@dataclass(frozen=True)
class Chapter:
    """One thing that happened to an item. `details` depend on `did` (`docs/json.md` lists them).

    `who` is a name, R1, R2 … for annotators where names are not for the reader, or None where nobody is known.
    """

    at: datetime
    who: str | None
    did: str
    version: int | None = None
    study: str | None = None
    reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As `assay item --json` prints it; what does not belong to it is left out."""
        told = {"at": self.at.isoformat(), "who": self.who, "did": self.did}
        more = {"version": self.version, "study": self.study, "reason": self.reason}
        return told | {name: value for name, value in more.items() if value is not None} | self.details


@dataclass(frozen=True)
class ItemStory:
    """An item's state now and everything that led to it, in the order of time."""

    item: str
    standing: Standing
    chapters: list[Chapter]

    def to_json(self) -> dict[str, Any]:
        """As `assay item --json` prints it."""
        return {
            "item": self.item,
            "version": self.standing.number,
            "state": self.standing.state.value,
            "by_hand": self.standing.by_hand,
            "studies": {
                there.study.name: None if there.state is None else there.state.value
                for there in self.standing.studies.values()
            },
            "releases": [chapter.details["release"] for chapter in self.chapters if chapter.did == "released"],
            "story": [chapter.to_json() for chapter in self.chapters],
        }


@operation(On.PROJECT, READERS)
def item_story(db: Database, actor: Actor, project_id: int, *, external_id: str) -> ItemStory:
    """Everything that happened to one item; NotFound for an id that the project does not have.

    Of a study in which the reader has yet to judge the item nothing is told but that it is there.
    """
    with db.read() as session:
        mine = (col(Item.project_id) == project_id, col(Item.external_id) == external_id, item_is_published())
        item = session.execute(pick(Item).where(*mine)).scalar_one_or_none()
        if item is None:
            raise NotFound(f"The project has no item {external_id!r}. Look the id up in the list of items.")
        teller = _Teller(session, actor, item)
        chapters = sorted(teller.chapters(), key=lambda chapter: chapter.at)
        standing = standings(session, [item.id or 0])[item.id or 0]
        session.expunge_all()
        return ItemStory(external_id, standing, chapters)


class _Teller:
    """What reads the chapters of one item."""

    def __init__(self, session: Session, actor: Actor, item: Item) -> None:
        assert item.id is not None
        self._session, self._actor, self._item = session, actor, item.id
        versions = session.execute(
            pick(ItemVersion).where(col(ItemVersion.item_id) == item.id, is_published(ItemVersion.batch_id))
        ).scalars()
        self._versions = {row.id or 0: row for row in versions}
        self._people: dict[int, str] = {}

    def chapters(self) -> Iterator[Chapter]:
        """All of them, in no order."""
        yield from self._imports()
        yield from self._revisions()
        yield from self._proposals()
        yield from self._endings()
        yield from self._releases()
        for place, study, number in self._places():
            yield from self._in_study(place, study, number)

    def _who(self, person_id: int | None) -> str | None:
        if person_id is None:
            return None
        if person_id not in self._people:
            self._people |= names_of(self._session, {person_id})
        return self._people[person_id]

    def _imports(self) -> Iterator[Chapter]:
        batches = {version.batch_id for version in self._versions.values() if version.batch_id is not None}
        found = self._session.execute(pick(Batch).where(col(Batch.id).in_(batches))).scalars()
        sources = {batch.id: batch.source for batch in found}
        revised = set(self._session.execute(self._of_item(Revision.to_version_id, Revision)).scalars())
        for version in self._versions.values():
            if version.id not in revised:
                about = {"source": sources[version.batch_id], "batch": version.batch_id} if version.batch_id else {}
                yield Chapter(
                    version.created_at, self._who(version.person_id), "imported", version.number, details=about
                )
        rows = self._session.execute(pick(Withdrawal).where(col(Withdrawal.batch_id).in_(batches))).scalars()
        for row in rows:
            did = "import reinstated" if row.reinstates else "import withdrawn"
            about = {"batch": row.batch_id}
            yield Chapter(row.created_at, self._who(row.person_id), did, reason=row.reason, details=about)

    def _of_item(self, column: Any, table: Any) -> Any:
        return pick(column).where(col(table.item_id) == self._item)

    def _revisions(self) -> Iterator[Chapter]:
        told = pick(Event.details).where(col(Event.thing) == "item", col(Event.thing_id) == self._item)
        told = told.where(col(Event.kind) == "item revised")
        changed = {row["to"]: row.get("changed", []) for row in self._session.execute(told).scalars()}
        for row in self._session.execute(self._of_item(Revision, Revision)).scalars():
            before, after = (self._versions[of].number for of in (row.from_version_id, row.to_version_id))
            falls = {self._study(entry["study"]).name: entry["criteria"] for entry in row.invalidates}
            yield Chapter(
                row.created_at,
                self._who(row.person_id),
                "revised",
                after,
                reason=row.reason,
                details={"from": before, "fields": changed.get(after, []), "falls": falls},
            )

    def _study(self, study_id: int) -> Study:
        return self._session.get_one(Study, study_id)

    def _proposals(self) -> Iterator[Chapter]:
        rows = self._session.execute(
            pick(ProposedRevision, ProposalAnswer)
            .join(ProposalAnswer, col(ProposalAnswer.proposal_id) == ProposedRevision.id, isouter=True)
            .where(col(ProposedRevision.item_id) == self._item)
        )
        for row, answer in rows:
            about = {"source": row.source, "fields": sorted(row.fields)}
            yield Chapter(row.created_at, self._who(row.person_id), "revision proposed", details=about)
            if answer is not None and answer.revision_id is None:
                yield Chapter(
                    answer.created_at,
                    self._who(answer.person_id),
                    "proposal declined",
                    reason=answer.reason,
                    details=about,
                )

    def _endings(self) -> Iterator[Chapter]:
        for row in self._session.execute(self._of_item(ItemEnding, ItemEnding)).scalars():
            number = self._versions[row.item_version_id].number
            did = f"{row.state} by hand" if row.state else "taken up again"
            yield Chapter(row.created_at, self._who(row.person_id), did, number, reason=row.reason)

    def _releases(self) -> Iterator[Chapter]:
        rows = self._session.execute(
            pick(Release, ReleaseItem.item_version_id)
            .join(ReleaseItem, col(ReleaseItem.release_id) == Release.id)
            .where(col(ReleaseItem.item_version_id).in_(self._versions))
        )
        for row, version_id in rows:
            number = self._versions[version_id].number
            yield Chapter(row.created_at, self._who(row.person_id), "released", number, details={"release": row.name})

    # Studies ----------------------------------------------------------------------------------------------------------

    def _places(self) -> Sequence[tuple[StudyItem, Study, int]]:
        either = col(StudyItem.item_version_id).in_(self._versions) | col(StudyItem.other_version_id).in_(
            self._versions
        )
        rows = self._session.execute(
            pick(StudyItem, Study).join(Study, col(Study.id) == StudyItem.study_id).where(either)
        )
        return [
            (place, study, self._versions[_own(place, self._versions)].number)
            for place, study in rows
            if place.purpose in (Purpose.SAMPLE, Purpose.RECHECK)
        ]

    def _in_study(self, place: StudyItem, study: Study, number: int) -> Iterator[Chapter]:
        again = place.purpose == Purpose.RECHECK
        if not again:
            yield Chapter(study.created_at, self._who(study.created_by), "taken into a study", number, study.name)
        assert place.id is not None
        try:
            check_has_judged(self._session, study, place.id, self._actor)
        except NotAllowed:
            return
        given = pick(Annotation).where(col(Annotation.study_item_id) == place.id, ~is_set_aside(col(Annotation.id)))
        annotations = list(self._session.execute(given.order_by(col(Annotation.id))).scalars())
        called = self._called(study, place.id, {row.person_id for row in annotations})
        for row in annotations:
            did = "corrected" if row.supersedes_id is not None else ("rechecked" if again else "labelled")
            about = {"kind": row.kind} if row.kind != "regular" else {}
            yield Chapter(row.created_at, called[row.person_id], did, number, study.name, details=about)
        decisions = list(
            self._session.execute(
                pick(Adjudication).where(col(Adjudication.study_item_id) == place.id).order_by(col(Adjudication.round))
            ).scalars()
        )
        settlement = self._session.get(Settlement, place.id)
        if settlement is None or settlement.state != SettlementState.ADJUDICATED:
            decisions = [row for row in decisions if row.stage not in BLIND]  # the other one is not to know of it
        if settlement is not None and settlement.n_disputed and annotations:
            until = decisions[0].created_at if decisions else None
            last = max(row.created_at for row in annotations if until is None or row.created_at <= until)
            yield Chapter(last, None, "disputed", number, study.name, details={"units": settlement.n_disputed})
        for decision in decisions:
            about = {"round": decision.round}
            who = self._who(decision.person_id)
            yield Chapter(decision.created_at, who, "adjudicated", number, study.name, decision.reason, about)

    def _called(self, study: Study, study_item_id: int, people: Collection[int]) -> dict[int, str]:
        """Annotators by name, or by R1, R2 … for readers who are not told who gave which label."""
        if sees_names(self._session, self._actor, study):
            return names_of(self._session, people)
        return raters_of(study, study_item_id, people)


def _own(place: StudyItem, versions: Collection[int]) -> int:
    """The version of this item that a place has: of a pair it may be the second."""
    if place.item_version_id in versions or place.other_version_id is None:
        return place.item_version_id
    return place.other_version_id
