"""`order`: the right order of the item's images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, ClassVar, Literal

from annotators.criteria.base import Criterion, Scale, Value
from annotators.criteria.material import Material
from annotators.errors import InvalidInput
from annotators.items.item import IMAGE_SIDES
from annotators.items.targets import TargetKind, Units

_IMAGE = f"{TargetKind.IMAGE}:"


class Order(Criterion):
    """The right order of the item's images, of one side (`of`) or all but the question's: their keys (ranking)."""

    kind: Literal["order"] = "order"
    scale: ClassVar[Scale] = "ranking"
    fits_images: ClassVar[bool] = True
    made_of: ClassVar[str] = "images to put in order"
    about: ClassVar[str] = "the order of the item's images"

    def _sides(self) -> tuple[str, ...]:
        """Those of images, whatever it is about."""
        return IMAGE_SIDES

    def needs(self) -> set[Material]:
        """The images, whatever it is about."""
        return super().needs() | {Material.IMAGES}

    def has_material(self, units: Units) -> bool:
        """Where there are two images or more: fewer have no order."""
        return len(self._ordered(units)) > 1

    def says_nothing(self, value: Any) -> bool:
        """An order of fewer than two images, which is the only one there is."""
        return isinstance(value, list) and len(value) < 2

    def check(self, value: object, units: Units | None = None) -> Value:
        """The keys, each once; with the item at hand, of all its images that are put in order."""
        if not isinstance(value, list) or any(not isinstance(key, str) for key in value):
            raise self._reject(value, "a list of image keys")
        if len(set(value)) != len(value):
            raise self._reject(value, "a list of image keys, each once")
        if units is None:
            return value
        ordered = self._ordered(units)
        if set(value) != ordered:
            raise InvalidInput(f"this is no order of the item's {len(ordered)} images. Put all in order.")
        return value

    def _ordered(self, units: Units) -> set[str]:
        """The images that are put in order, by their keys."""
        sides = {key: units.side_of(f"{_IMAGE}{key}") for key in units.images}
        return {key for key, side in sides.items() if (side == self.of if self.of else side != "question")}

    def outlives(self, was: Units, now: Units) -> bool:
        """Where the same images are put in order."""
        return super().outlives(was, now) and self._ordered(was) == self._ordered(now)

    def parse(self, text: str) -> Value:
        """A JSON array of keys."""
        return self.check(self._json_list(text))

    def rekeyed(self, value: Any, renamed: Callable[[str], str | None]) -> Any:
        """The order of the same images by their other keys."""
        if not isinstance(value, list):
            return value
        targets = [renamed(_IMAGE + key) if isinstance(key, str) else key for key in value]
        return [
            target.removeprefix(_IMAGE) if isinstance(target, str) else target
            for target in targets
            if target is not None
        ]

    def reply_schema(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """A list of images by their neutral names."""
        sides = {image["key"]: image.get("of", "answer") for image in material.get("images", ())}
        keys = [key for key, side in sides.items() if (side == self.of if self.of else side != "question")]
        return {
            "type": "array",
            "items": {"type": "string", "enum": keys} if keys else {"type": "string"},
            "minItems": len(keys),
            "maxItems": len(keys),
        }

    def by_majority(self, values: Sequence[Any], n_annotations: int) -> Any:
        """The images by their median rank over those who judged, if they are more than half of all; None with a tie.

        An order that more than half gave is that of the medians.
        """
        if len(values) <= n_annotations / 2 or len({frozenset(value) for value in values}) > 1:
            return None
        ranks = {key: median(value.index(key) for value in values) for key in values[0]}
        return sorted(ranks, key=lambda key: ranks[key]) if len(set(ranks.values())) == len(ranks) else None
