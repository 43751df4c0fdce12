"""`place`: the block of the answer that an image belongs after, or nowhere."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from annotators.criteria.base import AsNumbers, Criterion, Misfit, Scale, Value
from annotators.criteria.material import Material
from annotators.errors import InvalidInput
from annotators.items.blocks import blocks_of
from annotators.items.targets import TargetKind, Units

NOWHERE = "nowhere"
"""The value of an image that has no place in the answer: a value of its own, beside those of the blocks."""

_AFTER = re.compile(r"block:([1-9][0-9]{0,5})")


class Place(Criterion):
    """The block that an image belongs after, as `block:N` by its number from 1, or `nowhere` (nominal)."""

    kind: Literal["place"] = "place"
    scale: ClassVar[Scale] = "nominal"
    fits_items: ClassVar[bool] = True
    made_of: ClassVar[str] = "paragraph"
    about: ClassVar[str] = "the paragraph of the answer that the image belongs after, or nowhere"
    target: TargetKind = TargetKind.IMAGE

    @model_validator(mode="after")
    def _is_of_an_image(self) -> Self:
        if self.target != TargetKind.IMAGE:
            raise Misfit(
                f"criterion {self.name!r}: a place is that of an image, not of the target {self.target}; leave it out",
                "target",
            )
        return self

    def needs(self) -> set[Material]:
        """The image, and the answer that it has its place in."""
        return super().needs() | {Material.ANSWER}

    def has_material(self, units: Units) -> bool:
        """Where the answer has a paragraph that an image could stand after."""
        return bool(blocks_of(units.answer))

    def check(self, value: object, units: Units | None = None) -> Value:
        """The place; with the item at hand, one that its answer has."""
        after = _AFTER.fullmatch(value) if isinstance(value, str) else None
        if value != NOWHERE and after is None:
            raise self._reject(value, f"{NOWHERE}, or block:1, block:2 … by the number of the paragraph")
        if units is not None and after is not None:
            n = len(blocks_of(units.answer))
            if int(after[1]) > n:
                raise InvalidInput(f"the answer has {n} paragraphs, so that there is no {value!r}. Give another place.")
        return str(value)

    def reply_schema(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """A paragraph of the answer, or nowhere."""
        n = len(blocks_of(material.get("answer", "")))
        return {"type": "string", "enum": [NOWHERE, *(f"block:{number}" for number in range(1, n + 1))]}

    def as_numbers(self, scored: Collection[str] = ()) -> AsNumbers:
        """None: the number of a paragraph measures nothing."""
        return AsNumbers(reason="places in an answer cannot be set against a number")
