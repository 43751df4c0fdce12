"""What a study asks of annotators before they get its items: how many right labels, in how many tries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotators.errors import InvalidInput

_MOST = 20


def reaches(mark: float, right: int, of: int) -> bool:
    """Whether so many right labels, of so many, are the share that is asked for; of none at all they are.

    The share is divided out: 0.56 · 25 is 14.000000000000002, which 14 right labels would fall short of.
    """
    return not of or right / of >= mark


@dataclass(frozen=True)
class Qualifying:
    """The share (0..1) of right labels that is asked for, and how often somebody may try; with a mark of 0 all pass.

    `items` is how many qualification items there are: none asks for nothing.
    """

    mark: float = 0.8
    tries: int = 2
    items: int = 0

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Qualifying:
        """As a study's settings keep it."""
        return cls(**settings.get("qualifying", {}))

    def to_settings(self) -> dict[str, Any]:
        """As a study's settings keep it, under `qualifying`."""
        return asdict(self)

    def faults(self) -> Iterator[tuple[str, str]]:
        """What cannot be: the field, the value with what is wrong with it, and what would do."""
        if not 0 <= self.mark <= 1:
            yield (
                "mark",
                f"A mark of {self.mark:g} is no share of right labels. Give one from 0 (everybody passes) to 1.",
            )
        if not 1 <= self.tries <= _MOST:
            yield "tries", f"{self.tries} tries cannot be. Give a number from 1 to {_MOST}."

    def check(self) -> None:
        """InvalidInput for numbers that cannot be, with the value and what would do."""
        for _, wrong in self.faults():
            raise InvalidInput(wrong)
        if not self.items:
            raise InvalidInput("The study has no qualification items. Give a file with some.")
