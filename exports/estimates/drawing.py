"""Which items of a study to label next: drawn by the expected error of their predictions, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotators.errors import InvalidInput, NotFound
from annotators.estimates.drawing import draw, expected_error
from annotators.estimates.means import mean_of
from annotators.items.targets import TargetKind
from db.designing.draws import check_may_draw, keep_draw
from db.engine import Database
from db.permissions import Actor
from exports.estimates.data import StudyUnits, study_units


@dataclass(frozen=True)
class NextItem:
    """An item to label next: its stratum, what is predicted of it (None: nothing), and its probability (0..1)."""

    item: str
    study_item: int
    stratum: str
    predicted: float | None
    probability: float


@dataclass(frozen=True)
class NextItems:
    """What was drawn, and whether it comes before all other items now."""

    items: Sequence[NextItem]
    first: bool


def proposed(found: StudyUnits, n: int, seed: int) -> list[NextItem]:
    """n items as a draw with this seed would take them; nothing is kept. NotFound where no item is left to draw."""
    check_may_draw(found.study)
    if found.human.criterion.target not in {TargetKind.ITEM, TargetKind.PAIR}:
        raise InvalidInput(
            f"{found.human.criterion.name!r} is asked of parts of items; draws are of items. "
            "Name a criterion about the whole item."
        )
    open_items = found.open_items
    if not len(open_items):
        raise NotFound(f"Every item of {found.study.name!r} has a label or was drawn already. There is none to draw.")
    units = found.units(seed=seed)
    chosen, chance = draw(expected_error(units)[open_items], n, seed=seed)
    made = mean_of(units)
    middle = np.zeros(units.n)
    if made.limits is not None:  # what is predicted of an item: its stratum's mean and how far it is off that
        own = np.abs(made.limits.parts.own)
        sums = np.bincount(units.stratum, weights=own * made.limits.parts.human)
        middle = (sums / np.maximum(np.bincount(units.stratum, weights=own), 1e-300))[units.stratum]
    values = middle + units.predicted.values
    if units.scale is not None:
        values = np.clip(values, *units.scale)
    return [
        NextItem(
            found.names[place],
            int(found.study_item[place]),
            units.strata[int(units.stratum[place])],
            float(values[place]) if units.predicted.fitted else None,
            probability,
        )
        for place, probability in zip(open_items[chosen].tolist(), chance.tolist(), strict=True)
    ]


def draw_next(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    n: int,
    seed: int = 0,
    criterion: str | None = None,
    predict: Sequence[str] = (),
) -> NextItems:
    """Draw n items by expected error, keep the draw, and put them before all others; it raises what `proposed` does."""
    found = study_units(db, actor, study_id, criterion=criterion, predict=predict)
    items = proposed(found, n, seed)
    first = keep_draw(
        db,
        actor,
        study_id,
        criterion=found.human.criterion.name,
        seed=seed,
        predictions=list(found.predictions),
        chances={item.study_item: item.probability for item in items},
    )
    return NextItems(items, first)
