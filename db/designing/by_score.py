"""How far a study that is ordered by a score has come, and with what probability each of its items is among those.

Its items are drawn with known probabilities in the order in which they are offered (annotators/items/prioritised.py).
What is judged is its longest beginning in which no item waits for anybody: people finish out of order, and an item
that is judged behind one that is not is left out, as the probability with which it is judged by now is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text
from sqlmodel import Session, col, select

from annotators.arrays import np
from annotators.items.prioritised import chances
from annotators.items.sampling import BY_SCORE
from db.models import Amendment, Study
from db.studies.places import gets_items


@dataclass(frozen=True)
class Beginning:
    """The judged beginning of a study ordered by a score: study item → the probability (0..1) that it is in it.

    `n_items` is how many items the study has.
    """

    chance: Mapping[int, float]
    n_items: int

    @property
    def n(self) -> int:
        """How many items it has."""
        return len(self.chance)

    @property
    def in_words(self) -> str:
        """What figures that go by it are made of."""
        return f"the first {self.n:,} of {self.n_items:,} items, drawn by a score, each weighed by 1 / its probability"


NOT_ALIKE = (
    "The items were not drawn alike: those came first of which a score says that they are informative. Estimates of "
    "all items weigh each label by one over the probability of its item; other figures are of the items as they came."
)
"""What is to be said beside figures that are not weighed."""


def not_alike(study: Study, n_labelled: int) -> bool:
    """Whether so many labelled items of a study are a part of it that was drawn by a score."""
    return study.item_order == BY_SCORE and n_labelled < study.n_items


def judged_beginning(session: Session, study: Study) -> Beginning | None:
    """The beginning of a study that is judged; None for a study that is not ordered by a score.

    An item is judged when it has as many annotations as it was to have (the least overlap that the study has had), or
    is settled, or when all who are in the study have had or skipped it.
    """
    if study.item_order != BY_SCORE:
        return None
    connection = session.connection()
    asked = {"study": study.id, "overlap": _least_overlap(session, study)}
    places, weights, next_key = list[int](), list[float](), None
    for study_item_id, weight, key, is_judged in connection.execute(_IN_ORDER, asked):
        if not is_judged and _waits(connection, study, study_item_id):
            next_key = key
            break
        places.append(study_item_id)
        weights.append(weight)
    found = chances(np.array(weights, dtype=np.float64), next_key)
    return Beginning(dict(zip(places, found.tolist(), strict=True)), study.n_items)


def _least_overlap(session: Session, study: Study) -> int:
    before = select(Amendment.before).where(Amendment.study_id == study.id, Amendment.what == "overlap")
    return min([study.overlap, *(int(overlap) for overlap in session.exec(before.order_by(col(Amendment.id))))])


_IN_ORDER = text(
    "SELECT x.id, x.sampling_weight, x.sampling_key, coalesce(z.state <> 'pending' "
    "OR z.n_annotations >= coalesce(x.overlap, :overlap), false) "
    "FROM study_item x LEFT JOIN settlement z ON z.study_item_id = x.id "
    "WHERE x.study_id = :study AND x.purpose = 'sample' ORDER BY x.position"
)

# Nobody has had it yet, or somebody has it at hand, or a slot is open and somebody who is in the study has not had it.
_WAITS = text(
    "SELECT NOT EXISTS (SELECT 1 FROM assignment a WHERE a.study_item_id = :item AND a.person_id IS NOT NULL) "
    "OR EXISTS (SELECT 1 FROM assignment a WHERE a.study_item_id = :item AND a.kind = 'slot' "
    "AND a.state IN ('leased', 'returned')) OR (EXISTS (SELECT 1 FROM assignment a WHERE a.study_item_id = :item "
    "AND a.kind = 'slot' AND a.state = 'open') AND EXISTS (SELECT 1 FROM study_member m WHERE m.study_id = :study "
    f"AND {gets_items()} "
    "AND NOT EXISTS (SELECT 1 FROM assignment h WHERE h.study_item_id = :item AND h.person_id = m.person_id)))"
)


def _waits(connection: Connection, study: Study, study_item_id: int) -> bool:
    return bool(connection.execute(_WAITS, {"study": study.id, "item": study_item_id}).scalar_one())
