"""The kinds of criterion: what one decision of an annotator may be, and how its labels are validated.

A new kind is two places: a class here, and its widget in `app/widgets/criteria/<kind>.js`; a test checks that
every kind has one.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    model_validator,
)

from annotators.errors import InvalidInput, shown
from annotators.items.targets import TargetKind

Scale = Literal["nominal", "ordinal", "interval", "set", "ranking", "text"]
Value = str | int | float | list[str]

KINDS: dict[str, type[Criterion]] = {}
"""Kind → class, filled as the classes are defined."""


class Misfit(ValueError):
    """What does not fit in a definition, with the remedy; `path` says where, by field names and positions."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


def _as_label_value(value: object) -> object:
    """Label values are words or whole numbers: YAML's and JSON's `true` is the word "true", 0.5 the word "0.5"."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return int(value) if value.is_integer() else str(value)
    return value


LabelValue = Annotated[str | int, BeforeValidator(_as_label_value)]


ScoreName = Annotated[str, Field(min_length=1)]


def _one_or_several(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Label(BaseModel):
    """One label that can be given: its value in the data, its title on the button, its key, its definition."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    value: LabelValue
    title: str = ""
    key: str = ""
    definition: str = ""


class Condition(BaseModel):
    """Asked only when another criterion of the same target, or of the item, has one of these values."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: str
    values: list[LabelValue] = Field(min_length=1)


class Criterion(BaseModel):
    """One thing an annotator decides. Subclasses are the kinds.

    `name` is the word in the data; `title` and `help` are what people read; `target` is what the label is about;
    `when` asks only under a condition; `accept` lists the labels with which an item passes (empty: any). `score` names
    the scores that are judged by it, the one that is wanted first, each by the name of a value, by what the value
    measures, or by its scorer. `rest` is the label that all units without one get at a key, where most units get the
    same. Both are left out of what is stored where they are not used: the hashes of protocols that are older than the
    fields stay as they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)
    kind: str
    scale: ClassVar[Scale]

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    help: str = ""
    target: TargetKind = TargetKind.ITEM
    required: bool = True
    per_hop: bool = False
    when: Condition | None = None
    accept: list[LabelValue] = []
    rest: LabelValue | None = Field(None, exclude_if=lambda label: label is None)
    tolerance: float = Field(
        0, ge=0, allow_inf_nan=False, description="how far apart labels of an ordered scale may lie and agree"
    )
    score: Annotated[list[ScoreName], BeforeValidator(_one_or_several)] = Field([], exclude_if=lambda names: not names)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        """Enter the kind under its name."""
        super().__pydantic_init_subclass__(**kwargs)
        KINDS[cls.model_fields["kind"].default] = cls

    def label_list(self) -> list[Label]:
        """The declared labels in order, with keys and titles filled in; empty for kinds without labels."""
        return []

    def check(self, value: object) -> Value:
        """The value as it is stored; InvalidInput names a value that is not one of this criterion's."""
        raise NotImplementedError

    def parse(self, text: str) -> Value:
        """The value written as `text` in a table of labels."""
        return self.check(text)

    def write(self, value: Value) -> str:
        """The value as a table of labels has it; `parse` reads it back."""
        return str(value)

    def _reject(self, value: object, allowed: str) -> InvalidInput:
        return InvalidInput(f"{shown(value)} is not a label of criterion {self.name!r}. Allowed: {allowed}.")


def _with_keys(labels: list[Label]) -> list[Label]:
    """Labels without a key get 1, 2, 3 … by position; a missing title is the value in words."""
    return [
        label.model_copy(
            update={
                "key": label.key or (str(position) if position <= 9 else ""),
                "title": label.title or str(label.value).replace("_", " ").capitalize(),
            }
        )
        for position, label in enumerate(labels, start=1)
    ]


def _declared(labels: list[Label], value: object, *, ordered: bool) -> Label | None:
    """The label that `value` writes, or None: letter for letter, or the same number (4.0 in a table is 4).

    Without order, texts that look like numbers are codes: "01" is not "1".
    """
    text = str(value).lower() if isinstance(value, bool) else str(value)
    for label in labels:
        if str(label.value) == text:
            return label
    number = _number(text)
    if number is None:
        return None
    same = (one for one in labels if (ordered or isinstance(one.value, int)) and _number(str(one.value)) == number)
    return next(same, None)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


class Choice(Criterion):
    """One of several labels without order (nominal)."""

    kind: Literal["choice"] = "choice"
    scale: ClassVar[Scale] = "nominal"
    labels: list[Label] = Field(min_length=1)

    def label_list(self) -> list[Label]:
        """The labels with keys and titles."""
        return _with_keys(self.labels)

    def check(self, value: object) -> Value:
        """The label with this value."""
        label = _declared(self.labels, value, ordered=False)
        if label is None:
            raise self._reject(value, ", ".join(str(label.value) for label in self.labels))
        return str(label.value)


class Grade(Criterion):
    """One of several ordered labels, such as agreement from 1 to 5 (ordinal)."""

    kind: Literal["grade"] = "grade"
    scale: ClassVar[Scale] = "ordinal"
    labels: list[Label] = Field(min_length=1)

    def label_list(self) -> list[Label]:
        """The labels with keys and titles, lowest first."""
        return _with_keys(self.labels)

    def check(self, value: object) -> Value:
        """The label with this value, as the protocol declares it (a number or a word)."""
        label = _declared(self.labels, value, ordered=True)
        if label is None:
            raise self._reject(value, ", ".join(str(label.value) for label in self.labels))
        return label.value


class Number(Criterion):
    """A number between `minimum` and `maximum` in steps of `step` (interval)."""

    kind: Literal["number"] = "number"
    scale: ClassVar[Scale] = "interval"
    minimum: float = Field(0, allow_inf_nan=False)
    maximum: float = Field(10, allow_inf_nan=False)
    step: float = Field(1, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if not self.minimum <= self.maximum:
            raise Misfit(f"minimum {self.minimum:g} is above maximum {self.maximum:g}; exchange them", "minimum")
        return self

    def check(self, value: object) -> Value:
        """The number, if it lies in the range and on a step."""
        allowed = f"{self.minimum:g} to {self.maximum:g} in steps of {self.step:g}"
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self._reject(value, allowed)
        try:
            number = float(value)
        except (ValueError, OverflowError):
            raise self._reject(value, allowed) from None
        if not self.minimum <= number <= self.maximum:
            raise self._reject(value, allowed)
        steps = (number - self.minimum) / self.step
        # Over very many steps doubles lose what tells a step from its half: there any number in the range will do.
        if steps < 1e13 and abs(steps - round(steps)) > 1e-6 + 1e-14 * steps:
            raise self._reject(value, allowed)
        return int(number) if number.is_integer() else number


class Several(Criterion):
    """Any number of labels at once, none included (set)."""

    kind: Literal["several"] = "several"
    scale: ClassVar[Scale] = "set"
    labels: list[Label] = Field(min_length=2)

    def label_list(self) -> list[Label]:
        """The labels with keys and titles."""
        return _with_keys(self.labels)

    def check(self, value: object) -> Value:
        """The chosen values in declared order, each once."""
        allowed = [str(label.value) for label in self.labels]
        if not isinstance(value, list) or not {str(one) for one in value} <= set(allowed):
            raise self._reject(value, "a list of " + ", ".join(allowed))
        return [one for one in allowed if one in {str(given) for given in value}]

    def parse(self, text: str) -> Value:
        """A JSON array."""
        return self.check(_json_list(text, self))

    def write(self, value: Value) -> str:
        """A JSON array."""
        return json.dumps(value, ensure_ascii=False)


class Order(Criterion):
    """The right order of the item's images, as a list of their keys (ranking)."""

    kind: Literal["order"] = "order"
    scale: ClassVar[Scale] = "ranking"

    def check(self, value: object) -> Value:
        """The keys, each once."""
        if not isinstance(value, list) or any(not isinstance(key, str) for key in value):
            raise self._reject(value, "a list of image keys")
        if len(set(value)) != len(value):
            raise self._reject(value, "a list of image keys, each once")
        return value

    def parse(self, text: str) -> Value:
        """A JSON array."""
        return self.check(_json_list(text, self))

    def write(self, value: Value) -> str:
        """A JSON array."""
        return json.dumps(value, ensure_ascii=False)


class Text(Criterion):
    """Words of the annotator's own: a reason, a rewritten question (text)."""

    kind: Literal["text"] = "text"
    scale: ClassVar[Scale] = "text"
    max_words: int | None = Field(None, ge=1)
    lines: int = Field(2, ge=1, le=40)

    def check(self, value: object) -> Value:
        """The text without surrounding space, if it is there and not too long."""
        if not isinstance(value, str) or not value.strip():
            raise self._reject(value, "a text that is not empty")
        words = len(value.split())
        if self.max_words is not None and words > self.max_words:
            raise InvalidInput(
                f"The text for {self.name!r} has {words} words; at most {self.max_words} are allowed. Shorten it."
            )
        return value.strip()


def _json_list(text: str, criterion: Criterion) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise InvalidInput(
            f'{text!r} is not a value of criterion {criterion.name!r}. Write a JSON array, like ["a", "b"].'
        ) from None


def _of_its_kind(value: Any) -> Any:
    """Build the class that `kind` names."""
    if isinstance(value, dict):
        kind = value.get("kind", "choice")
        if not isinstance(kind, str) or kind not in KINDS:
            raise Misfit(f"there is no kind of criterion named {kind!r}; known: {', '.join(sorted(KINDS))}", "kind")
        return KINDS[kind].model_validate(value)
    return value


AnyCriterion = Annotated[SerializeAsAny[Criterion], BeforeValidator(_of_its_kind)]
"""A field that holds a criterion of whatever kind its data names."""
