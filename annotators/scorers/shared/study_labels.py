"""Labels of studies in place of what came with an item: what a scorer takes of people or of a judge, and how."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from annotators.items.item import ItemContent
from annotators.items.targets import TargetKind

if TYPE_CHECKING:
    from annotators.criteria import Criterion


class UnitLabel(NamedTuple):
    """What a study says of one target (written out) of an item by one criterion; `value` is None where it is open.

    `source` is `adjudicated` for the final label, as exports have it: what was adjudicated, else what the votes settle;
    `people` for what the votes so far settle alone; and the name of a judge for what that one said. `reason` says why a
    judge left it open.
    """

    criterion: Criterion
    target: str
    value: Any
    source: str
    reason: str | None = None


class Side(NamedTuple):
    """One side of an equation, whose labels may have a source of their own.

    `parameter` is the scorer's parameter that names the source, `targets` are what the side reads labels of, `words`
    says what it is.
    """

    parameter: str
    targets: frozenset[TargetKind]
    words: str


class LabelUse(ABC):
    """What a scorer takes from the labels of studies.

    `needs` says in words which labels these are. `sides` are the sides of the scorer's equations by the name that
    people give them, the main one first; none where all labels are of one source.
    """

    needs: str
    sides: Mapping[str, Side] = {}

    @abstractmethod
    def reads(self, criterion: Criterion) -> bool:
        """Whether this criterion's labels are among them, by what it asks."""

    def suffices(self, criteria: Sequence[Criterion]) -> bool:
        """Whether anything can be scored by these criteria, which are those that it reads of all the studies."""
        return bool(criteria)

    def alone(self, item: ItemContent) -> ItemContent:
        """The item without what came with it and would stand beside the labels of sources that somebody has named."""
        return item

    @abstractmethod
    def put(self, item: ItemContent, labels: Sequence[UnitLabel]) -> ItemContent | str:
        """The item with these labels in place of what people said of it before, or why it cannot be scored by them."""


def is_yes_or_no(criterion: Criterion) -> bool:
    """Whether a criterion gives one label, of which some count as 1 and the others as 0 (`Criterion.as_numbers`)."""
    return criterion.scale == "nominal" and bool(criterion.label_list()) and criterion.as_numbers().binary


def is_yes(label: UnitLabel) -> bool:
    """Whether the label of such a criterion counts as 1; one that is open does not."""
    return label.value is not None and bool(label.criterion.as_numbers().number(label.value))
