"""`several`: any number of labels at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from annotators.criteria.base import Criterion, Scale, Value
from annotators.criteria.labels import Label, entitled, with_keys
from annotators.items.targets import Units


class Several(Criterion):
    """Any number of labels at once, none included (set)."""

    kind: Literal["several"] = "several"
    scale: ClassVar[Scale] = "set"
    about: ClassVar[str] = "any number of these labels"
    labels: list[Label] = Field(min_length=2)

    def label_list(self) -> list[Label]:
        """The labels with keys and titles, in the order of the protocol."""
        return with_keys(self.labels)

    def check(self, value: object, units: Units | None = None) -> Value:
        """The chosen values in declared order, each once."""
        allowed = [str(label.value) for label in self.labels]
        if not isinstance(value, list) or not {str(label) for label in value} <= set(allowed):
            raise self._reject(value, "a list of " + ", ".join(allowed))
        given = {str(label) for label in value}
        return [label for label in allowed if label in given]

    def parse(self, text: str) -> Value:
        """A JSON array of values, or of titles as the screen shows them."""
        found = self._json_list(text)
        known = [str(label.value) for label in self.labels]
        if not isinstance(found, list):
            return self.check(found)
        titled = {str(one): entitled(self.labels, str(one)) for one in found if str(one) not in known}
        return self.check([one if titled.get(str(one)) is None else titled[str(one)] for one in found])

    def reply_schema(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """A list of labels."""
        return {"type": "array", "items": {"type": "string", "enum": [str(label.value) for label in self.labels]}}

    def by_majority(self, values: Sequence[Any], n_annotations: int) -> Any:
        """Label by label what more than half of all annotations say of it; None where they say neither of some label.

        So labels may settle that nobody gave as a set.
        """
        given, most = Counter(label for value in values for label in value), n_annotations / 2
        labels = [str(label.value) for label in self.labels]
        if any(given[label] <= most and len(values) - given[label] <= most for label in labels):
            return None
        return [label for label in labels if given[label] > most]

    def labels_in(self, value: Any) -> list[str]:
        """Those that were chosen."""
        return [str(label) for label in value]

    def stored_labels(self) -> list[str | int | float]:
        """None: a value is a set of labels."""
        return []
