"""What every derived unit has: a name, and how its values follow from the labels of the criterion that declares it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from annotators.criteria.base import Criterion

WAYS: dict[str, type[Derived]] = {}
"""How a unit is made → the class that makes it, filled as the classes are defined."""


class Derived(BaseModel):
    """A unit that is never asked, made from the labels of one criterion: the set of an item's evidence pages, for one.

    It is declared by the criterion that it is made from, in `derived`; `how` names the way it is made, and each way is
    a subclass in a file of this folder, which enters itself. A way says three things:

    - `target_of`: which unit a labelled target belongs to, as a written target (`page:report.pdf:4|hop:h2` belongs to
      `hop:h2`), or None for one that belongs to none;
    - `value`: the value of one unit from the labels of its targets;
    - `criterion`: the criterion that its values would be labels of. Its kind brings what a measured value needs: a
      scale, when several people's values agree, what it is as a number, how it is written. It has the unit's name.

    That is all. `Protocol.derived_criteria` lists them; `db.studies.ratings.ratings` gives each person's values as a
    column after the source's; `db.studies.settlements.stream_settled` gives the final values. A value is made of one
    person's labels of one item, or of its final labels, and of nothing else.

    `name` shares its room with the names of criteria: tables have it in the column `criterion`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    how: str
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    help: str = ""

    about: ClassVar[str]
    """What it is, in words: "the set of units with one label"."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        """Enter the way of making units under its name."""
        super().__pydantic_init_subclass__(**kwargs)
        how = cls.model_fields["how"].default
        if how in WAYS:
            raise ValueError(f"two ways of deriving units are named {how!r}")
        WAYS[how] = cls

    def check_source(self, source: Criterion) -> None:
        """Raise Misfit where it cannot be made from the labels of this criterion."""
        raise NotImplementedError

    def target_of(self, target: str) -> str | None:
        """The unit that a target of the source belongs to, written out; None where it belongs to none."""
        raise NotImplementedError

    def value(self, labels: Mapping[str, Any], missing: Collection[str]) -> Any:
        """The value of one unit, or None where it does not follow.

        `labels` has the labels (checked values of the source) of the unit's targets, at least one; `missing` are its
        targets that have none: somebody could not judge them, or they are not settled. Most values need all of them;
        some stand whatever the missing ones are.
        """
        raise NotImplementedError

    def criterion(self, source: Criterion) -> Criterion:
        """The criterion that the values would be labels of, with this unit's name, title and target."""
        raise NotImplementedError

    def in_words(self) -> str:
        """How it is made, as the protocol's page says it."""
        return self.about

    def values(self, labels: Mapping[str, Any], missing: Iterable[str] = ()) -> dict[str, Any]:
        """Every unit that follows from the labels of one item: written target → value; None where it is left open.

        `labels` has the labels of the source by target, `missing` the targets without one. A unit of which nothing is
        known is not there.
        """
        known: dict[str, dict[str, Any]] = defaultdict(dict)
        for target, label in labels.items():
            unit = self.target_of(target)
            if unit is not None:
                known[unit][target] = label
        gaps: dict[str, set[str]] = defaultdict(set)
        for target in missing:
            unit = self.target_of(target)
            if unit is not None:
                gaps[unit].add(target)
        return {unit: self.value(known[unit], gaps[unit]) for unit in known}
