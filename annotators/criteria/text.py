"""`text`: words of the annotator's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from annotators.criteria.base import Criterion, Scale, Value
from annotators.errors import InvalidInput
from annotators.items.targets import Units


class Text(Criterion):
    """Words of the annotator's own: a reason, a rewritten question (text)."""

    kind: Literal["text"] = "text"
    scale: ClassVar[Scale] = "text"
    about: ClassVar[str] = "words of the annotator's own"
    compared: ClassVar[bool] = False
    max_words: int | None = Field(None, ge=1)
    lines: int = Field(2, ge=1, le=40)

    def in_words(self) -> str:
        """With the limit, if there is one."""
        return f"at most {self.max_words} {self.about}" if self.max_words else self.about

    def reply_schema(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """A text."""
        return {"type": "string"}

    def check(self, value: object, units: Units | None = None) -> Value:
        """The text without surrounding space, if it is there and not too long."""
        if not isinstance(value, str) or not value.strip():
            raise self._reject(value, "a text that is not empty")
        words = len(value.split())
        if self.max_words is not None and words > self.max_words:
            raise InvalidInput(
                f"The text for {self.name!r} has {words} words; at most {self.max_words} are allowed. Shorten it."
            )
        return value.strip()
