"""`grade`: one of several ordered labels, such as agreement from 1 to 5."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Literal

from annotators.criteria._one_label import OneLabel
from annotators.criteria.base import AsNumbers, Scale, Value
from annotators.items.targets import Units


class Grade(OneLabel):
    """One of several ordered labels, lowest first (ordinal)."""

    kind: Literal["grade"] = "grade"
    scale: ClassVar[Scale] = "ordinal"
    about: ClassVar[str] = "one of these labels, lowest first"
    ordered: ClassVar[bool] = True

    def check(self, value: object, units: Units | None = None) -> Value:
        """The label with this value, as the protocol declares it (a number or a word)."""
        return self._label(value).value

    def as_numbers(self, scored: Collection[str] = ()) -> AsNumbers:
        """The labels' own numbers, or their ranks from 0 where one is a word."""
        labels = [str(label.value) for label in self.labels]
        try:
            numbers = [float(label) for label in labels]
        except ValueError:
            numbers = [float(rank) for rank in range(len(labels))]
        scale = (min(numbers), max(numbers)) if len(set(numbers)) > 1 else None
        return AsNumbers(dict(zip(labels, numbers, strict=True)), scale)
