"""What kinds have in common whose value is one of the labels that the protocol declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from annotators.criteria.base import Criterion, Value
from annotators.criteria.labels import Label, declared, entitled, with_keys


class OneLabel(Criterion):
    """A criterion that is answered by one of its labels."""

    for_the_rest: ClassVar[bool] = True
    labels: list[Label] = Field(min_length=1)

    def label_list(self) -> list[Label]:
        """The labels with keys and titles, in the order of the protocol."""
        return with_keys(self.labels)

    def parse(self, text: str) -> Value:
        """The label with this value, else the one with this title, as the screen shows it."""
        known = declared(self.labels, text, ordered=self.ordered) is not None
        value = None if known else entitled(self.labels, text)
        return self.check(text if value is None else value)

    def reply_schema(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """One of the labels, as a word."""
        return {"type": "string", "enum": [str(label.value) for label in self.labels]}

    def turned(self, value: Any) -> Any:
        """The label with the opposite number, where all labels are numbers around zero."""
        numbers = {label.value for label in self.labels if isinstance(label.value, int)}
        label = declared(self.labels, value, ordered=self.ordered)
        around_zero = len(numbers) == len(self.labels) and numbers == {-number for number in numbers}
        if label is None or not around_zero or not isinstance(label.value, int):
            return value
        return str(-label.value) if isinstance(value, str) else -label.value

    def _label(self, value: object) -> Label:
        """The label with this value; InvalidInput where there is none."""
        label = declared(self.labels, value, ordered=self.ordered)
        if label is None:
            raise self._reject(value, ", ".join(str(label.value) for label in self.labels))
        return label
