"""`bands`: stretches of an ordered scale with a name each, such as correct from 7 to 10."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from annotators.criteria.base import Criterion, Misfit
from annotators.criteria.derived.base import Derived
from annotators.criteria.grade import Grade
from annotators.criteria.labels import Label, LabelValue


class Band(BaseModel):
    """One stretch of the scale: its value in the data, its title, and the lowest number that is in it (`low`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    value: LabelValue
    title: str = ""
    definition: str = ""
    low: Annotated[float, Field(allow_inf_nan=False)]


class Bands(Derived):
    """The band that a number lies in. `bands` go from the lowest up; each ends where the next begins.

    The values are ordered labels, so that agreement on bands is measured as that on grades is, by rank.
    """

    how: Literal["bands"] = "bands"
    about: ClassVar[str] = "the band of the scale that the number lies in"
    bands: list[Band] = Field(min_length=2)

    @model_validator(mode="after")
    def _from_the_lowest_up(self) -> Self:
        for place, (band, above) in enumerate(zip(self.bands, self.bands[1:], strict=False), 1):
            if not band.low < above.low:
                raise Misfit(
                    f"{self.name!r}: band {above.value!r} begins at {above.low:g}, which is not above {band.low:g}, "
                    f"where {band.value!r} begins; list bands from the lowest up",
                    "bands",
                    place,
                    "low",
                )
        values = [str(band.value) for band in self.bands]
        if len(set(values)) < len(values):
            raise Misfit(f"{self.name!r}: two bands have the same value; rename one", "bands")
        return self

    def check_source(self, source: Criterion) -> None:
        """See `Derived`: a criterion whose values are numbers, none of them below the first band."""
        numbers = source.as_numbers()
        known = numbers.of or {}
        if not source.ordered or any(str(value) != f"{number:g}" for value, number in known.items()):
            raise Misfit(
                f"{self.name!r} has bands of numbers, but the labels of {source.name!r} are none; make it a "
                "number, or a grade whose labels are numbers",
                "how",
            )
        low, high = numbers.scale or (self.bands[0].low, self.bands[-1].low)
        if low < self.bands[0].low:
            raise Misfit(
                f"{self.name!r}: the first band begins at {self.bands[0].low:g}, but {source.name!r} begins at "
                f"{low:g}; begin the band there",
                *("bands", 0, "low"),
            )
        if high < self.bands[-1].low:
            raise Misfit(
                f"{self.name!r}: the last band begins at {self.bands[-1].low:g}, but {source.name!r} ends at {high:g}; "
                "leave the band out",
                *("bands", len(self.bands) - 1, "low"),
            )

    def in_words(self) -> str:
        """The bands with their beginnings."""
        return "; ".join(f"{band.value} from {band.low:g}" for band in self.bands)

    def target_of(self, target: str) -> str | None:
        """The same: each number has its band."""
        return target

    def value(self, labels: Mapping[str, Any], missing: Collection[str]) -> Any:
        """The band of the number."""
        number = float(next(iter(labels.values())))
        return next((band.value for band in reversed(self.bands) if band.low <= number), None)

    def criterion(self, source: Criterion) -> Criterion:
        """A grade whose labels are the bands, about what the source is about."""
        labels = [Label(value=band.value, title=band.title, definition=band.definition) for band in self.bands]
        return Grade(
            name=self.name,
            title=self.title,
            help=self.help,
            target=source.target,
            per_hop=source.per_hop,
            labels=labels,
        )
