"""When annotators meet items that say how well they do: gold items, and items that come to them a second time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotators.asking.qualifying import reaches
from annotators.errors import InvalidInput

BELOW = ("warn", "pause", "stop")
"""What happens to an annotator below the mark: a warning for the researcher; no items until they are let go on; or
they are taken out of the study."""

_MOST = 0.5
_DRAWS = 2**64


@dataclass(frozen=True)
class Planting:
    """At which rates gold items and repeats stand among what an annotator is given, and what their gold labels do.

    `gold_rate`, `repeat_rate`: shares (0..0.5 together) of what somebody is given. `repeat_after`: so many items at
    least lie between an item and its repeat. `mark`: the share (0..1) of right gold labels that is asked for, looked at
    once somebody has labelled `mark_after` gold items; below it happens what `below` says (`BELOW`).
    """

    gold_rate: float = 0.0
    repeat_rate: float = 0.0
    repeat_after: int = 20
    mark: float = 0.7
    mark_after: int = 10
    below: str = "warn"

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Planting:
        """As a study's settings keep it; nothing is planted in a study without."""
        return cls(**settings.get("planting", {}))

    def to_settings(self) -> dict[str, Any]:
        """As a study's settings keep it, under `planting`."""
        return asdict(self)

    def faults(self) -> Iterator[tuple[str, str]]:
        """What cannot be: the field, the value with what is wrong with it, and what would do."""
        for name, what, rate in (("gold_rate", "gold", self.gold_rate), ("repeat_rate", "repeats", self.repeat_rate)):
            if not 0 <= rate <= _MOST:
                yield name, f"A rate of {rate:g} for {what} is none. Give a share from 0 to {_MOST:g}, as 0.1."
        if max(self.gold_rate, self.repeat_rate) <= _MOST < self.gold_rate + self.repeat_rate:
            yield (
                "repeat_rate",
                f"Gold items at {self.gold_rate:g} and repeats at {self.repeat_rate:g} are more than half of what "
                f"annotators are given. Lower one of the rates, to at most {_MOST:g} together.",
            )
        if self.repeat_after < 1:
            yield "repeat_after", f"{self.repeat_after} items before a repeat are too few. Give at least 1."
        if not 0 < self.mark <= 1:
            yield "mark", f"A mark of {self.mark:g} is no share of right labels. Give one above 0, up to 1."
        if self.mark_after < 1:
            yield "mark_after", f"{self.mark_after} gold items before the mark counts are too few. Give at least 1."
        if self.below not in BELOW:
            yield "below", f"{self.below!r} is nothing that can happen below the mark. Take {', '.join(BELOW)}."

    def check(self) -> None:
        """InvalidInput for numbers that cannot be, with the value and what would do."""
        for _, wrong in self.faults():
            raise InvalidInput(wrong)

    @property
    def plants(self) -> bool:
        """Whether anything is planted."""
        return self.gold_rate + self.repeat_rate > 0

    def is_below(self, items: int, right: int, labels: int) -> bool:
        """Whether somebody with so many right labels, of those of so many gold items, is below the mark."""
        return items >= self.mark_after and not reaches(self.mark, right, labels)

    def turn(self, seed: int, person_id: int, number: int) -> str | None:
        """What somebody's item of this number (from 1) is to be: `gold`, `repeat`, or None for an item of the sample.

        It follows from seed, person and number, so that it is the same whatever the order of requests; no two people
        meet gold at the same numbers, and nobody at even distances.
        """
        drawn = drawn_number(seed, person_id, number) / _DRAWS
        if drawn < self.gold_rate:
            return "gold"
        return "repeat" if drawn < self.gold_rate + self.repeat_rate else None

    def besides(self, given: int) -> int:
        """About how many of so many items that somebody is given are of the sample."""
        return int(given * (1 - self.gold_rate - self.repeat_rate) + 1e-9)  # 1 - 0.3 - 0.2 is a little below a half

    def added_to(self, items: int, gold_items: int) -> int:
        """About how many planted items come with so many of the sample, for one person."""
        rest = items / (1 - self.gold_rate - self.repeat_rate)
        return round(min(rest * self.gold_rate, gold_items) + min(rest * self.repeat_rate, items))


def drawn_number(seed: int, person_id: int, number: int) -> int:
    """A number below 2**64 that follows from the three and looks like any."""
    drawn = hashlib.sha256(f"{seed}|{person_id}|{number}".encode()).digest()
    return int.from_bytes(drawn[:8])
