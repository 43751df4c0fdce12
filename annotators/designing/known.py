"""The parts of a design about items whose right labels are known, and about items that come to somebody again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from annotators.asking.planting import Planting
from annotators.asking.qualifying import Qualifying
from annotators.asking.repairs import Path
from annotators.designing.values import Share, Whole, Word

_PART = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)


class RightLabel(BaseModel):
    """The right label of one unit: of an item, by its id, or of a pair with its `other_item`.

    `target` as annotations have it; empty: the item, or the pair. `value` as the criterion's labels are written.
    `line`: where it stands in the table that it was read from.
    """

    model_config = _PART

    item: Word
    criterion: Word
    target: Word = ""
    value: Any
    explanation: str | None = None
    other_item: Word | None = None
    line: int | None = Field(None, exclude=True)


class KnownItems(BaseModel):
    """Right labels of items that are not in the study's sample: as they are, or those of a table beside the design.

    Where both are there, the labels are those that were read from the `file`.
    """

    model_config = _PART

    file: str | None = None
    labels: tuple[RightLabel, ...] = ()

    @property
    def has_none(self) -> bool:
        """Whether nothing says any right label."""
        return self.file is None and not self.labels


class Gold(KnownItems):
    """Gold items: among what annotators are given at a `rate`; below the `mark` happens what `below` says (`Planting`).

    `settled_in` (in a file `from`) is another study of the project: what it has settled of other items is gold too.
    """

    settled_in: Word | None = Field(None, alias="from")
    rate: Share = 0.1
    mark: Share = Planting.mark
    mark_after: Whole = Planting.mark_after
    below: str = Planting.below

    @property
    def has_none(self) -> bool:
        """Whether nothing says any right label."""
        return super().has_none and self.settled_in is None


class Repeats(BaseModel):
    """Items that come to somebody again: at a `rate`, after so many others (`Planting`)."""

    model_config = _PART

    rate: Share
    after: Whole = Planting.repeat_after


class Qualification(KnownItems):
    """What annotators judge before they get the study's items, and how much of it has to be right (`Qualifying`)."""

    mark: Share = Qualifying.mark
    tries: Whole = Qualifying.tries


def planting_of(gold: Gold | None, repeats: Repeats | None) -> Planting:
    """What is planted, as a study keeps it."""
    asked: dict[str, Any] = {}
    if gold is not None:
        asked = {"gold_rate": gold.rate, "mark": gold.mark, "mark_after": gold.mark_after, "below": gold.below}
    if repeats is not None:
        asked |= {"repeat_rate": repeats.rate, "repeat_after": repeats.after}
    return Planting(**asked)


_FIELDS: dict[str, Path] = {
    "gold_rate": ("gold", "rate"),
    "mark": ("gold", "mark"),
    "mark_after": ("gold", "mark_after"),
    "below": ("gold", "below"),
    "repeat_rate": ("repeats", "rate"),
    "repeat_after": ("repeats", "after"),
}


def known_faults(
    gold: Gold | None, repeats: Repeats | None, qualification: Qualification | None
) -> Iterator[tuple[Path, str]]:
    """What cannot be carried out of these parts of a design: the field, what is wrong with it, and what would do."""
    for name, wrong in planting_of(gold, repeats).faults():
        yield _FIELDS[name], wrong
    if gold is not None and gold.has_none:
        yield (
            ("gold",),
            f"Gold items cannot come in at {gold.rate:g}: no right labels are given. Name a `file` with some, or take "
            "them `from` another study.",
        )
    if qualification is not None:
        for name, wrong in Qualifying(qualification.mark, qualification.tries).faults():
            yield ("qualification", name), wrong
        if qualification.has_none:
            yield ("qualification",), "Nobody can qualify: no right labels are given. Name a `file` with some."
