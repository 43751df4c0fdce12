"""Which units a protocol asks of an item: the one rule by which work is given, is complete, and is settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from annotators.asking.submissions import GivenLabel, is_asked
from annotators.criteria import Criterion
from annotators.criteria.material import Material
from annotators.items.targets import Units
from annotators.protocols import Protocol


class AskedUnit(NamedTuple):
    """One label that is asked for: of this criterion, about this target of the item."""

    criterion: Criterion
    target: str

    @property
    def name(self) -> tuple[str, str]:
        """Criterion and target as labels are known by."""
        return self.criterion.name, self.target


def units_asked(
    protocol: Protocol, units: Units, decided: Mapping[tuple[str, str], GivenLabel] | None = None
) -> list[AskedUnit]:
    """The units that a protocol asks of an item, step by step, in the order in which annotators meet them.

    `units` are all parts of the item, whatever a step hides, with the pages that its documents have and what a recheck
    asks (`Units.asks`); `db.annotating.presentations.units_at` gives them for a study's item at the last step. Nothing
    is asked of a part that the item does not have, of a claim or an image whose text no step has shown by then, and
    where nothing is there of which a value could be made (an order of one image, stretches of an empty answer).

    `decided` are labels by criterion and target, those of one annotator or the final ones: a unit with a condition
    (`when`) is then asked only where they meet it, and one whose condition is open is not asked. Without `decided`
    every unit that may come to be asked is there. Units of criteria that are not required, and of those whose values
    are never compared (`Criterion.compared`: texts), are among them: the caller says whether it wants these.
    """
    found = []
    for number in range(len(protocol.steps)):
        known = units_known(protocol, units, number)
        for criterion in protocol.step_criteria(number):
            found += [
                AskedUnit(criterion, target)
                for target in criterion.targets(known)
                if decided is None or is_asked(criterion, target, decided)
            ]
    return found


def units_known(protocol: Protocol, units: Units, step: int) -> Units:
    """The parts of an item that a step (from 0) may ask about: of claims and images those of a side shown by then."""
    claims = _shown(protocol, units, step, Material.CLAIMS, units.claims)
    images = _shown(protocol, units, step, Material.IMAGES, units.images)
    return replace(units, claims=claims, images=images)


def _shown(protocol: Protocol, units: Units, step: int, material: Material, keys: tuple[str, ...]) -> tuple[str, ...]:
    of = "claim" if material == Material.CLAIMS else "image"
    sides = {key: units.side_of(f"{of}:{key}") for key in keys}
    first = {side: protocol.first_step_with_parts(material, side) for side in set(sides.values())}
    return tuple(key for key, side in sides.items() if (at := first[side]) is not None and at <= step)
