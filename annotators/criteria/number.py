"""`number`: a number in a range, in steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from annotators.criteria.base import AsNumbers, Criterion, Misfit, Scale, Value
from annotators.items.targets import Units


class Number(Criterion):
    """A number between `minimum` and `maximum` in steps of `step` (interval)."""

    kind: Literal["number"] = "number"
    scale: ClassVar[Scale] = "interval"
    about: ClassVar[str] = "a number"
    ordered: ClassVar[bool] = True
    minimum: float = Field(0, allow_inf_nan=False)
    maximum: float = Field(10, allow_inf_nan=False)
    step: float = Field(1, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if not self.minimum <= self.maximum:
            raise Misfit(f"minimum {self.minimum:g} is above maximum {self.maximum:g}; exchange them", "minimum")
        return self

    def _range(self) -> str:
        return f"{self.minimum:g} to {self.maximum:g} in steps of {self.step:g}"

    def in_words(self) -> str:
        """The range and its steps."""
        return f"{self.about} from {self._range()}"

    def check(self, value: object, units: Units | None = None) -> Value:
        """The number, if it lies in the range and on a step."""
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self._reject(value, self._range())
        try:
            number = float(value)
        except (ValueError, OverflowError):
            raise self._reject(value, self._range()) from None
        if not self.minimum <= number <= self.maximum:
            raise self._reject(value, self._range())
        steps = (number - self.minimum) / self.step
        # Over very many steps doubles lose what tells a step from its half: there any number in the range will do.
        if steps < 1e13 and abs(steps - round(steps)) > 1e-6 + 1e-14 * steps:
            raise self._reject(value, self._range())
        return int(number) if number.is_integer() else number

    def reply_schema(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """A number in the range."""
        return {"type": "number", "minimum": self.minimum, "maximum": self.maximum}

    def turned(self, value: Any) -> Any:
        """The opposite number, where the range lies around zero."""
        return -value if self.minimum == -self.maximum and isinstance(value, int | float) else value

    def as_numbers(self, scored: Collection[str] = ()) -> AsNumbers:
        """The numbers themselves."""
        return AsNumbers(scale=(self.minimum, self.maximum))
