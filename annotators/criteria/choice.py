"""`choice`: one of several labels without order."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from annotators.assent import positive_of
from annotators.criteria._one_label import OneLabel
from annotators.criteria.base import AsNumbers, Misfit, Scale, Value
from annotators.criteria.labels import LabelValue
from annotators.items.targets import Units


class Choice(OneLabel):
    """One of several labels without order (nominal).

    `positive` is the label that counts as 1 where labels are set against a metric. Where it is not said the accepted
    labels are, and else the one of two that `annotators.assent.positive_of` finds by their words, which is how it is in
    every protocol that was frozen before a choice could say so: the field is left out of what is stored where it is
    not used.
    """

    kind: Literal["choice"] = "choice"
    scale: ClassVar[Scale] = "nominal"
    about: ClassVar[str] = "one of these labels, without order"
    unsent: ClassVar[frozenset[str]] = OneLabel.unsent | {"positive"}
    positive: LabelValue | None = Field(None, exclude_if=lambda label: label is None)

    @model_validator(mode="after")
    def _positive_is_a_label(self) -> Self:
        known = [str(label.value) for label in self.labels]
        if self.positive is not None and str(self.positive) not in known:
            raise Misfit(
                f"criterion {self.name!r}: positive is {self.positive!r}, which is none of its labels: "
                f"{', '.join(known)}",
                "positive",
            )
        return self

    def check(self, value: object, units: Units | None = None) -> Value:
        """The label with this value, as a word."""
        return str(self._label(value).value)

    def as_numbers(self, scored: Collection[str] = ()) -> AsNumbers:
        """1 for the positive label, or for the accepted ones, 0 for others; of more than two, one has to be said."""
        labels = [str(label.value) for label in self.labels]
        positive = [str(value) for value in self.accept] if self.positive is None else [str(self.positive)]
        if not positive and len(labels) == 2:
            positive = [positive_of(labels, scored)]
        if positive and len(positive) < len(labels):
            numbers = {label: float(label in positive) for label in labels}
            return AsNumbers(numbers, (0.0, 1.0), binary=True, positive=" or ".join(positive))
        return AsNumbers(reason=f"{len(labels)} labels without order cannot be set against a number")
