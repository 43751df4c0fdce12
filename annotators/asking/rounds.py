"""What stands of an item that is adjudicated: at once, or in two rounds blind to each other and a final one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

SINGLE, DOUBLE = ADJUDICATIONS = ("single", "double")
"""How disputed items are decided: by one adjudicator, or by two who are blind to each other and a third."""


class Stage(StrEnum):
    """Which decision of an item it is: one of two that are blind to each other, or one that stands by itself."""

    FIRST = "first"
    SECOND = "second"
    FINAL = "final"


BLIND = (Stage.FIRST, Stage.SECOND)
"""The rounds of double adjudication whose adjudicators do not see each other's decision."""

Unit = tuple[str, str]
"""Criterion and target."""


def alike(first: Mapping[Unit, Any], second: Mapping[Unit, Any]) -> list[Unit]:
    """The units that two rounds of values both decide, and decide alike: these are final."""
    return [unit for unit, value in first.items() if unit in second and _same(value, second[unit])]


def differing(
    first: Mapping[Unit, Any], second: Mapping[Unit, Any], *, votes: Mapping[Unit, Any], disputed: set[Unit]
) -> list[Unit]:
    """The units for a final round: those that two rounds of values do not leave alike.

    Who leaves a unit to its votes takes the value that these settle (`votes`); a disputed unit that only one of the two
    has decided is open.
    """
    units = dict.fromkeys([*first, *second, *sorted(disputed)])
    one, other = {**votes, **first}, {**votes, **second}
    return [unit for unit in units if unit not in one or unit not in other or not _same(one[unit], other[unit])]


def _same(one: Any, other: Any) -> bool:
    """Whether two values are written alike; what they are kept in may have put their parts in another order."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
