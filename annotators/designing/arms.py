"""Arms of a study: sibling studies over one sample that differ in what is named, with people or items dealt out."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from annotators.designing.values import Whole, Word, Words
from annotators.items.sampling import Candidate

PEOPLE, ITEMS = "people", "items"
ALLOTS = (PEOPLE, ITEMS)
"""What is dealt out to the arms at random: people, each arm has all items; or items, everybody is in each arm."""


class Arm(BaseModel):
    """One arm by its name, and what is otherwise in it than in the design; what is None is as the design says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Word
    protocol: Word | None = None
    suggestions: str | None = None
    overlap: Whole | None = None
    order: str | None = None
    rule: str | None = None
    ask: Words | None = None
    talk: str | None = None

    @property
    def differs(self) -> dict[str, object]:
        """What is otherwise in it, but for its protocol, by the names of the design's fields."""
        given = self.model_dump(exclude_none=True, exclude={"name", "protocol"})
        return {name: getattr(self, name) for name in given}


def people_dealt(names: Sequence[str], arms: int, seed: int) -> list[tuple[str, ...]]:
    """The people of each arm, dealt out by the seed: their numbers differ by one at most. In the order of the names."""
    ranked = sorted(names, key=lambda name: hashlib.sha256(f"{seed}\x00arm\x00{name}".encode()).digest())
    of = {name: place % arms for place, name in enumerate(ranked)}
    return [tuple(name for name in names if of[name] == arm) for arm in range(arms)]


def items_dealt(items: Sequence[Candidate], arms: int, per: str, seed: int) -> list[tuple[str, ...]]:
    """The items of each arm, dealt out by the seed within each stratum: their numbers differ by one at most."""
    strata: dict[str, list[Candidate]] = defaultdict(list)
    for item in items:
        strata[item.stratum(per)].append(item)
    dealt: list[list[str]] = [[] for _ in range(arms)]
    n = 0
    for stratum in sorted(strata):
        for item in sorted(
            strata[stratum], key=lambda item: hashlib.sha256(f"{seed}\x00arm\x00{item.external_id}".encode()).digest()
        ):
            dealt[n % arms].append(item.external_id)
            n += 1
    return [tuple(sorted(names)) for names in dealt]
