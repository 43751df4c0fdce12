"""What follows from an act before it is done: which items would stand elsewhere, and which releases hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlmodel import Session, col

from annotators.errors import NotFound
from annotators.figures import count, some
from db.annotating.amendments import StudyChange, amend_in
from db.batches import withdraw_in
from db.engine import Database
from db.models import Annotation, Batch, Item, ItemVersion, Release, ReleaseItem, StudyItem
from db.permissions import RESEARCHERS, Actor, On, operation
from db.quality.omissions import leave_out_in, restore_in
from db.query import pick
from db.releasing.states import BLOCK, State, standings

_NAMED = 5
_REASON = "a look at what follows"
_BACK = (State.IN_STUDY, State.NO_STUDY)


@dataclass(frozen=True)
class Consequences:
    """Items whose state an act changes: their ids by (state before, state after); and release → those that it holds.

    `releases` has the releases that hold items which lose their acceptance.
    """

    moves: dict[tuple[State, State], list[str]] = field(default_factory=dict)
    releases: dict[str, int] = field(default_factory=dict)

    def _of(self, wanted: Callable[[State, State], bool]) -> list[str]:
        return sorted(item for move, items in self.moves.items() if wanted(*move) for item in items)

    @property
    def lose_acceptance(self) -> list[str]:
        """The items that are accepted, and would not be."""
        return self._of(lambda before, _: before is State.ACCEPTED)

    @property
    def become_accepted(self) -> list[str]:
        """The items that would be accepted, and are not."""
        return self._of(lambda _, after: after is State.ACCEPTED)

    @property
    def return_to_the_study(self) -> list[str]:
        """The items that would wait for labels again."""
        return self._of(lambda before, after: after in _BACK and before not in _BACK)

    def sentences(self) -> list[str]:
        """What follows, a sentence each; that nothing does, where nothing does."""
        said = []
        for items, verb in (
            (self.return_to_the_study, ("returns to the study", "return to the study")),
            (self.lose_acceptance, ("loses acceptance", "lose acceptance")),
            (self.become_accepted, ("becomes accepted", "become accepted")),
        ):
            if items:
                said.append(f"{count(len(items), 'item')} {verb[len(items) > 1]}: {some(items, _NAMED)}.")
        told = {State.ACCEPTED, *_BACK}
        others = Counter(
            {move: len(items) for move, items in self.moves.items() if move[0] not in told and move[1] not in told}
        )
        for (before, after), n in sorted(others.items()):
            said.append(f"{count(n, 'item')} {'goes' if n == 1 else 'go'} from {_words(before)} to {_words(after)}.")
        said += [f"Release {name!r} holds {n:,} of those that lose acceptance." for name, n in self.releases.items()]
        return said or ["No item changes its state."]

    def to_json(self) -> dict[str, Any]:
        """As `--dry-run --json` prints it."""
        return {
            "return_to_the_study": self.return_to_the_study,
            "lose_acceptance": self.lose_acceptance,
            "become_accepted": self.become_accepted,
            "moves": [
                {"before": before.value, "after": after.value, "items": sorted(items)}
                for (before, after), items in sorted(self.moves.items())
            ],
            "releases": self.releases,
        }


def _words(state: State) -> str:
    return state.value.replace("_", " ")


@operation(On.STUDY, RESEARCHERS)
def if_left_out(db: Database, actor: Actor, study_id: int, *, annotator: str, since: datetime) -> Consequences:
    """What follows from leaving out what an annotator submitted since a moment; raises what `leave_out` does."""
    return _tried(
        db, _items_of([study_id]),
        lambda session: leave_out_in(session, actor, study_id, annotator=annotator, since=since, reason=_REASON),
    )  # fmt: skip


@operation(On.STUDY, RESEARCHERS)
def if_restored(db: Database, actor: Actor, study_id: int, *, annotator: str) -> Consequences:
    """What follows from restoring what was left out of an annotator; raises what `restore` does."""
    act: Callable[[Session], object] = lambda session: restore_in(  # noqa: E731 - one of four alike
        session, actor, study_id, annotator=annotator, reason=_REASON
    )
    return _tried(db, _items_of([study_id]), act)


@operation(On.STUDY, RESEARCHERS)
def if_amended(db: Database, actor: Actor, study_id: int, *, change: StudyChange) -> Consequences:
    """What follows from an amendment; raises what `amend_study` does."""
    return _tried(
        db, _items_of([study_id]), lambda session: amend_in(session, actor, study_id, change=change, reason=_REASON)
    )


@operation(On.PROJECT, RESEARCHERS)
def if_withdrawn(
    db: Database, actor: Actor, project_id: int, batch_id: int, *, reinstates: bool = False
) -> Consequences:
    """What follows from withdrawing a batch, or putting it back; raises what `withdraw_batch` does."""
    with db.read() as session:
        mine = pick(Batch.id).where(col(Batch.id) == batch_id, col(Batch.project_id) == project_id)
        if session.execute(mine).first() is None:
            raise NotFound(f"The project has no batch {batch_id}.")
        labelled = pick(Annotation.study_id).where(col(Annotation.batch_id) == batch_id).distinct()
        studies = list(session.execute(labelled).scalars())

    def touched(session: Session) -> list[int]:
        brought = pick(Item.id).where(col(Item.batch_id) == batch_id)
        return sorted({*session.execute(brought).scalars(), *_items_of(studies)(session)})

    return _tried(
        db, touched,
        lambda session: withdraw_in(session, actor, project_id, batch_id, reason=_REASON, reinstates=reinstates),
    )  # fmt: skip


def _items_of(study_ids: Sequence[int]) -> Callable[[Session], list[int]]:
    """The items of these studies, those of pairs among them."""

    def found(session: Session) -> list[int]:
        items: set[int] = set()
        for version in (StudyItem.item_version_id, StudyItem.other_version_id):
            query = pick(ItemVersion.item_id).join(StudyItem, col(ItemVersion.id) == version)
            items |= set(session.execute(query.where(col(StudyItem.study_id).in_(study_ids))).scalars())
        return sorted(items)

    return found


class _Undone(Exception):
    """The act was only tried."""


def _tried(db: Database, touched: Callable[[Session], list[int]], act: Callable[[Session], object]) -> Consequences:
    """Do it, see what it did, and undo it: nothing else can say for sure what follows."""
    found = Consequences()
    try:
        with db.write() as session:
            items = touched(session)
            before = dict(_states(session, items))
            act(session)
            session.flush()
            session.expire_all()
            for item, (name, state) in _states(session, items):
                if (was := before[item][1]) != state:
                    found.moves.setdefault((was, state), []).append(name)
            found.releases.update(_releases(session, items, before, found.lose_acceptance))
            raise _Undone
    except _Undone:
        return found


def _states(session: Session, items: Sequence[int]) -> Iterable[tuple[int, tuple[str, State]]]:
    for start in range(0, len(items), BLOCK):
        for item_id, there in standings(session, items[start : start + BLOCK]).items():
            yield item_id, (there.external_id, there.state)


def _releases(
    session: Session, items: Sequence[int], before: dict[int, tuple[str, State]], lost: Sequence[str]
) -> dict[str, int]:
    """Release → how many of the items that lose their acceptance it holds, in whichever version."""
    names = set(lost)
    ids = [item for item in items if before[item][0] in names]
    held: Counter[str] = Counter()
    for start in range(0, len(ids), BLOCK):
        query = (
            pick(Release.name, ItemVersion.item_id)
            .join(ReleaseItem, col(ReleaseItem.release_id) == Release.id)
            .join(ItemVersion, col(ItemVersion.id) == ReleaseItem.item_version_id)
            .where(col(ItemVersion.item_id).in_(ids[start : start + BLOCK]))
        )
        held.update(name for name, _ in session.execute(query))
    return dict(sorted(held.items()))
