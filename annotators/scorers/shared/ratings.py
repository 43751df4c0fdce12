"""Grades and ratings of studies as numbers: of an answer as a whole, or of each of its images."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from annotators.items.item import ItemContent
from annotators.items.targets import TargetKind
from annotators.scorers.shared.study_labels import LabelUse, UnitLabel

if TYPE_CHECKING:
    from annotators.criteria import Criterion

RATINGS = "ratings"
"""The field of an item's metadata that holds what a study says, as long as the item is scored."""


class Rating(NamedTuple):
    """One rating: of which criterion and target, by whom, as a number on the criterion's scale; None while it is open.

    `word` is the label, where it is a word, and `words` are all that the criterion has, where they are words.
    """

    criterion: str
    target: str
    source: str
    value: float | None
    low: float
    high: float
    word: str | None = None
    words: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """How far up its scale it is, 0 to 1."""
        return None if self.value is None else (self.value - self.low) / (self.high - self.low)


class RatingLabels(LabelUse):
    """Labels that are numbers on a scale, grades, or two of which one is positive; those of some criteria by name.

    `words` says what they are in the sentence that tells people what fits; `takes` says which criteria.
    """

    def __init__(self, words: str, takes: Callable[[Criterion], bool]) -> None:
        self.needs = words
        self._takes = takes

    def reads(self, criterion: Criterion) -> bool:
        """See `LabelUse`."""
        return self._takes(criterion)

    def put(self, item: ItemContent, labels: Sequence[UnitLabel]) -> ItemContent | str:
        """See `LabelUse`."""
        rows = [_rating(label)._asdict() for label in labels]
        return item._replace(metadata={**item.metadata, RATINGS: rows})


def ratings_of(item: ItemContent) -> list[Rating]:
    """What a study says of the item, where it says anything."""
    given = item.metadata.get(RATINGS) or ()
    return [Rating(**row) for row in given if isinstance(row, Mapping)]


def has_scale(criterion: Criterion) -> bool:
    """Whether its values are numbers between two ends."""
    return criterion.as_numbers().scale is not None


def named(target: TargetKind, names: Collection[str]) -> Callable[[Criterion], bool]:
    """Criteria of these names about such a target, with a scale."""
    return lambda criterion: criterion.target == target and criterion.name in names and has_scale(criterion)


def _rating(label: UnitLabel) -> Rating:
    numbers = label.criterion.as_numbers()
    low, high = numbers.scale or (0.0, 1.0)
    value: Any = label.value
    number = None if value is None else numbers.number(value)
    word = value if isinstance(value, str) else None
    words = tuple(one.value for one in label.criterion.label_list() if isinstance(one.value, str))
    return Rating(label.criterion.name, label.target, label.source, number, low, high, word, words)
