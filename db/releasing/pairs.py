"""Where pairs of a study that compares two answers stand: by their labels, and by what was revised of either item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlmodel import Session

from annotators.items.pairs import in_words, pair_name
from db.models import Purpose, SettlementState, Study
from db.query import in_clause, plain_rows
from db.releasing.states import (
    BLOCK,
    DISCARDED_STATES,
    SPECIAL,
    WITHDRAWN_ONCE,
    Falls,
    InStudy,
    Standing,
    State,
    changes_of,
    in_study,
    places_of,
    standings,
    was_withdrawn,
)
from db.studies.design import protocol_of

PairKey = tuple[int, int]
"""The ids of a pair's two items, in the order in which the study has them."""


@dataclass
class PairStanding:
    """Where a pair stands in its study: its two items as they are now, and its places there.

    A pair is accepted when its labels are settled and hold for both items as they are now; it ends with either of them.
    """

    first: Standing
    second: Standing
    study_id: int
    there: InStudy
    revised: tuple[Standing, ...]
    """Which of the two were revised since the study has them."""

    @property
    def key(self) -> PairKey:
        """By which it is known."""
        return self.first.item_id, self.second.item_id

    @property
    def name(self) -> str:
        """As people read it."""
        return in_words(pair_name(self.first.external_id, self.second.external_id))

    @property
    def studies(self) -> dict[int, InStudy]:
        """Its one study, as an item has several."""
        return {self.study_id: self.there}

    @property
    def state(self) -> State:
        """Where it stands in its study, unless one of its items was withdrawn or rejected."""
        ended = {self.first.state, self.second.state} & set(DISCARDED_STATES)
        return min(ended, key=list(State).index) if ended else self.there.state or State.NO_STUDY

    @property
    def by_hand(self) -> bool:
        """Whether it ended because an item did."""
        return self.state in DISCARDED_STATES

    @property
    def other_left(self) -> bool:
        """Whether the second item stands left."""
        return self.there.places[-1].other_left


def pair_standings(
    session: Session, study: Study, pairs: Sequence[PairKey], items: Mapping[int, Standing] | None = None
) -> dict[PairKey, PairStanding]:
    """Pair → where it stands in a study; of up to `BLOCK` pairs, in the same number of queries as of one.

    `items`: where their items stand, if that is known; else as this study alone has them.
    """
    assert study.id is not None
    protocol, wanted = protocol_of(study), set(pairs)
    ids = sorted({item_id for pair in pairs for item_id in pair})
    known = standings(session, ids, study_id=study.id) if items is None else items
    changes = changes_of(session, ids)
    found: dict[PairKey, PairStanding] = {}
    rows = places_of(session, sorted({first for first, _ in pairs}), study.id, pairs=True)
    for (first, second, _), places in rows.items():
        if second is None or (first, second) not in wanted or first not in known or second not in known:
            continue
        one, other = known[first], known[second]
        falls = Falls(study.id, protocol, changes[first], one.number)
        other_falls = Falls(study.id, protocol, changes[second], other.number)
        fell = {place: {*falls.of(place.number), *other_falls.of(place.other_number or 0)} for place in places}
        was_revised = falls.since(places[0].number) or other_falls.since(places[0].other_number or 0)
        there = in_study(study, protocol, places, fell, revised=was_revised)
        since = ((one, places[0].number), (other, places[0].other_number or 0))
        revised = tuple(item for item, number in since if item.number > number)
        found[first, second] = PairStanding(one, other, study.id, there, revised)
    return found


def sampled_pairs(session: Session, study_id: int) -> Iterator[list[PairKey]]:
    """Blocks of a study's pairs, in the order of its sample; of a study of items none."""
    position = -1
    while rows := session.connection().execute(_SAMPLED, {"study": study_id, "after": position}).all():
        yield [(first, second) for first, second, _ in rows]
        position = rows[-1][2]


_SAMPLED = text(
    "SELECT v.item_id, w.item_id, x.position FROM study_item x JOIN item_version v ON v.id = x.item_version_id "
    "JOIN item_version w ON w.id = x.other_version_id "
    f"WHERE x.study_id = :study AND x.purpose = '{Purpose.SAMPLE}' AND x.position > :after "
    f"ORDER BY x.position LIMIT {BLOCK}"
)


def special_pairs(session: Session, study_id: int) -> Iterator[list[PairKey]]:
    """Blocks of the pairs whose state does not follow from their one settlement: an item was revised, or ended."""
    special = f"{SPECIAL} UNION {WITHDRAWN_ONCE}" if was_withdrawn(session) else SPECIAL
    # In this order of joins, which SQLite takes from CROSS JOIN: few items are special.
    found = " UNION ".join(
        "SELECT a.item_id AS first, b.item_id AS second, x.position AS place "
        f"FROM ({special}) AS w CROSS JOIN item_version v CROSS JOIN study_item x "
        "CROSS JOIN item_version a CROSS JOIN item_version b "
        f"WHERE v.item_id = w.item_id AND x.{column} = v.id AND x.study_id = :study "
        f"AND x.purpose = '{Purpose.SAMPLE}' AND a.id = x.item_version_id AND b.id = x.other_version_id"
        for column in ("item_version_id", "other_version_id")
    )
    rows = session.execute(text(f"SELECT first, second FROM ({found}) AS p ORDER BY place"), {"study": study_id}).all()
    for start in range(0, len(rows), BLOCK):
        yield [(first, second) for first, second in rows[start : start + BLOCK]]


@dataclass(frozen=True, slots=True)
class EarlierPlace:
    """A place in a study that has an earlier version of an item than its latest."""

    item_id: int
    study_item_id: int
    state: str


def earlier_places(session: Session, study_id: int, items: Iterable[Standing]) -> list[EarlierPlace]:
    """The places of a study, in whichever pairs, that have earlier versions of these items."""
    latest = {item.item_id: item.number for item in items}
    found: dict[tuple[int, int], EarlierPlace] = {}
    ids = sorted(latest)
    for start in range(0, len(ids), BLOCK):
        among, values = in_clause(session, "v.item_id", ids[start : start + BLOCK])
        for column in ("item_version_id", "other_version_id"):
            rows = plain_rows(
                session,
                "SELECT v.item_id, v.number, x.id, s.state FROM item_version v "
                f"JOIN study_item x ON x.{column} = v.id LEFT JOIN settlement s ON s.study_item_id = x.id "
                f"WHERE {among} AND x.study_id = {int(study_id)} "
                f"AND x.purpose IN ('{Purpose.SAMPLE}', '{Purpose.RECHECK}')",
                values,
            )
            for item_id, number, place, state in rows:
                if number < latest[item_id]:
                    found[item_id, place] = EarlierPlace(item_id, place, state or SettlementState.PENDING)
    return list(found.values())


def together(pairs: Sequence[PairStanding]) -> list[list[PairStanding]]:
    """Pairs that share an item that was revised, in groups: who met one may not meet the earlier version in another."""
    groups: list[list[PairStanding]] = []
    of_item: dict[int, list[PairStanding]] = defaultdict(list)
    for pair in pairs:
        for item in pair.revised:
            of_item[item.item_id].append(pair)
    seen: set[PairKey] = set()
    for pair in pairs:
        if pair.key in seen:
            continue
        group, waiting = [], [pair]
        while waiting:
            each = waiting.pop()
            if each.key not in seen:
                seen.add(each.key)
                group.append(each)
                waiting += [other for item in each.revised for other in of_item[item.item_id]]
        groups.append(group)
    return groups
