"""What every kind of criterion has: its fields, and what is asked of its values wherever they are used.

Code outside this folder never asks of which kind a criterion is: it asks the criterion. Most methods have an answer
that does for most kinds; a kind says what is otherwise with it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny, model_validator

from annotators.criteria.derived.base import WAYS, Derived
from annotators.criteria.labels import Label, LabelValue
from annotators.criteria.material import HELD_AGAINST, NEEDED_BY_TARGET, OF_ITEMS, Material
from annotators.errors import InvalidInput, shown
from annotators.items.item import CLAIM_SIDES, EVIDENCE_KINDS, EVIDENCE_ROLES, IMAGE_SIDES
from annotators.items.targets import BY_EVIDENCE, OF_CLAIMS, OTHER_SIDE, Chosen, TargetKind, Units
from annotators.lists import list_in

Scale = Literal["nominal", "ordinal", "interval", "set", "ranking", "spans", "text"]
"""The scales of values, each of which has coefficients of agreement (annotators/agreement)."""

Value = str | int | float | list[str] | list[dict[str, Any]]

KINDS: dict[str, type[Criterion]] = {}
"""Kind → class, filled as the classes are defined."""

USUAL_KIND = "choice"
"""The kind of a criterion that does not say it."""


class Misfit(ValueError):
    """What does not fit in a definition, with the remedy; `path` says where, by field names and positions."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


ScoreName = Annotated[str, Field(min_length=1)]


def way_named(how: object) -> type[Derived]:
    """The way of deriving units of this name; Misfit lists those that there are."""
    if not isinstance(how, str) or how not in WAYS:
        raise Misfit(f"there is no way of deriving units named {how!r}; known: {', '.join(sorted(WAYS))}", "how")
    return WAYS[how]


def _made_its_way(value: Any) -> Any:
    """Build the class that `how` names."""
    return way_named(value.get("how")).model_validate(value) if isinstance(value, dict) else value


AnyDerived = Annotated[SerializeAsAny[Derived], BeforeValidator(_made_its_way)]
"""A field that holds a derived unit, made in whatever way its data names."""


def _one_or_several(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Condition(BaseModel):
    """Asked only when another criterion of the same target, or of the item, has one of these values."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: str
    values: list[LabelValue] = Field(min_length=1)


def _one_of_these(*known: str) -> BeforeValidator:
    def check(value: object) -> object:
        if value not in known:
            raise Misfit(f"{shown(value)} is none of {', '.join(known)}; take one of these")
        return value

    return BeforeValidator(check)


class Only(BaseModel):
    """Which evidence units a criterion is about: of these kinds and roles, and of each modality the first by rank.

    Passages and tables are text, figures and pages images. Units that no criterion is about for that reason are not
    shown, so that nobody is told which role a unit has by what is asked of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: list[Annotated[str, _one_of_these(*EVIDENCE_KINDS)]] = Field([], exclude_if=lambda kinds: not kinds)
    roles: list[Annotated[str, _one_of_these(*EVIDENCE_ROLES)]] = Field([], exclude_if=lambda roles: not roles)
    per_modality: int | None = Field(None, ge=1, exclude_if=lambda most: most is None)


@dataclass(frozen=True)
class AsNumbers:
    """How the values of a criterion are set against numbers, as the scores of metrics are.

    `of` has the number of each label, written out; None where the values are numbers themselves. `scale` is the lowest
    and the highest number, None where there is no range. `binary` labels are 1 (the ones that `positive` names) or 0.
    Where values cannot be numbers, `reason` says why.
    """

    of: Mapping[str, float] | None = None
    scale: tuple[float, float] | None = None
    binary: bool = False
    positive: str | None = None
    reason: str | None = None

    def number(self, value: Any) -> float | None:
        """A value as a number; None for a label that has none, and where `reason` says why none has."""
        if self.reason is not None:
            return None
        return float(value) if self.of is None else self.of.get(str(value))


def written(value: Any) -> str:
    """A value as one text: a word as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else json.dumps(value, ensure_ascii=False)


def _number(vote: str) -> float | None:
    try:
        number = float(vote)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class Criterion(BaseModel):
    """One thing an annotator decides. Subclasses are the kinds.

    `name` is the word in the data; `title` and `help` are what people read; `target` is what the label is about, `of`
    whose claims or images, `only` which evidence;
    `when` asks only under a condition; `accept` lists the labels with which an item passes (empty: any). `score` names
    the scores that are judged by it, the one that is wanted first, each by the name of a value, by what the value
    measures, or by its scorer. `rest` is the label that all units without one get at a key, where most units get the
    same. `derived` are units that follow from its labels and are never asked. `suggested_by` names what proposes its
    labels (annotators/criteria/suggested.py). These six are left out of what is stored where they are not used: hashes
    of protocols that are older than the fields stay as they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)
    kind: str

    scale: ClassVar[Scale]
    about: ClassVar[str]
    """What is given, in words: "any number of these labels"."""
    ordered: ClassVar[bool] = False
    """Whether values lie on one line, so that they can be near each other."""
    compared: ClassVar[bool] = True
    """Whether values of several people can be the same, so that they are counted, settled and decided on."""
    fits_items: ClassVar[bool] = False
    """Whether a value made elsewhere has to be checked against the answer of the item that it is about."""
    fits_images: ClassVar[bool] = False
    """Whether it has to be checked against the images of the item."""
    made_of: ClassVar[str] = ""
    """What of the item a value is made of, in words that "no" goes with; empty where every item will do."""
    for_the_rest: ClassVar[bool] = False
    """Whether one of its labels can be given to all units that have none (`rest`)."""
    unsent: ClassVar[frozenset[str]] = frozenset(
        {"accept", "only", "tolerance", "score", "derived", "suggested_by", "judged_by"}
    )
    """The fields that are no business of who judges."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    help: str = ""
    target: TargetKind = TargetKind.ITEM
    of: str | None = Field(None, exclude_if=lambda side: side is None)
    only: Only | None = Field(None, exclude_if=lambda units: units is None)
    required: bool = True
    per_hop: bool = False
    when: Condition | None = None
    accept: list[LabelValue] = []
    rest: LabelValue | None = Field(None, exclude_if=lambda label: label is None)
    tolerance: float = Field(
        0, ge=0, allow_inf_nan=False, description="how far apart labels of an ordered scale may lie and agree"
    )
    score: Annotated[list[ScoreName], BeforeValidator(_one_or_several)] = Field([], exclude_if=lambda names: not names)
    derived: list[AnyDerived] = Field([], exclude_if=lambda units: not units)
    suggested_by: str | None = Field(None, min_length=1, exclude_if=lambda source: source is None)
    judged_by: list[Annotated[Material, _one_of_these(*OF_ITEMS)]] = Field([], exclude_if=lambda shown: not shown)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        """Enter the kind under its name; a class that only shares what kinds have in common names none."""
        super().__pydantic_init_subclass__(**kwargs)
        kind = cls.model_fields["kind"]
        if kind.is_required():
            return
        if kind.default in KINDS:
            raise ValueError(f"two kinds of criterion are named {kind.default!r}")
        KINDS[kind.default] = cls

    @model_validator(mode="after")
    def _is_about_parts_of_its_target(self) -> Self:
        sides = self._sides()
        if self.of is not None and self.of not in sides:
            allowed = (
                f"it may be {' or '.join(sides)}" if sides else f"the target {self.target} has no sides; leave it out"
            )
            raise Misfit(f"criterion {self.name!r}: `of` is {self.of!r}; {allowed}", "of")
        if self.only is not None and self.target not in BY_EVIDENCE:
            raise Misfit(
                f"criterion {self.name!r}: `only` chooses evidence, which the target {self.target} is not about; leave "
                f"it out, or take one of the targets {', '.join(sorted(BY_EVIDENCE))}",
                "only",
            )
        return self

    # What it is about -------------------------------------------------------------------------------------------------

    def _sides(self) -> tuple[str, ...]:
        """What `of` may be."""
        if self.target in OTHER_SIDE:
            return (OTHER_SIDE[self.target],)
        if self.target in OF_CLAIMS:
            return CLAIM_SIDES
        return IMAGE_SIDES if self.target == TargetKind.IMAGE else ()

    @property
    def side(self) -> str | None:
        """Whose claims or images it is about, None: all that are shown. A claim is held against the other text."""
        return self.of or OTHER_SIDE.get(self.target)

    @property
    def chosen(self) -> Chosen:
        """Which parts of an item it is about."""
        if self.only is None:
            return Chosen(self.side)
        return Chosen(self.side, tuple(self.only.kinds), tuple(self.only.roles), self.only.per_modality)

    def targets(self, units: Units) -> list[str]:
        """Every target on this item that it is asked of, written out, in the order of the item's parts.

        None where the item has no such part, nothing that a value could be made of (`has_material`), or is not asked.
        """
        if (units.asks is not None and self.name not in units.asks) or not self.has_material(units):
            return []
        return units.targets(self.target, per_hop=self.per_hop, chosen=self.chosen)

    def has_material(self, units: Units) -> bool:
        """Whether the item has what a value is made of, such as images to put in order; where not, nothing is asked."""
        return True

    def says_nothing(self, value: Any) -> bool:
        """Whether a stored value holds nothing, because nothing could be asked: it is no label, and counts nowhere."""
        return False

    def outlives(self, was: Units, now: Units) -> bool:
        """Whether what its labels are about, and point at, is all there in another version of the item.

        No part may be gone, whether or not the criterion would still choose it, and what points at places in the answer
        is about that answer.
        """
        if (self.fits_items or self.target == TargetKind.BLOCK) and was.answer != now.answer:
            return False
        there, left = (set(units.targets(self.target, per_hop=self.per_hop)) for units in (was, now))
        return there <= left

    # What it needs, and what of it is shown ---------------------------------------------------------------------------

    def needs(self) -> set[Material]:
        """What a step must show, or an earlier one have shown, before this can be asked."""
        return NEEDED_BY_TARGET[self.target] | ({Material.SCORES} if self.score else set())

    @property
    def bases(self) -> list[tuple[Material, ...]]:
        """What it is judged by: an item that has none of one of these gives nothing to judge by."""
        against = HELD_AGAINST.get(self.target)
        return [*([(against,)] if against else []), *([tuple(self.judged_by)] if self.judged_by else [])]

    def label_list(self) -> list[Label]:
        """The declared labels in order, with keys and titles filled in; empty for kinds without labels."""
        return []

    def in_words(self) -> str:
        """What is given, as the protocol's page says it."""
        return self.about

    def said(self, value: object) -> str:
        """A stored value as people read it: labels by their titles."""
        titles: dict[Any, str | None] = {label.value: label.title for label in self.label_list()}
        return ", ".join(str(titles.get(part, part)) for part in (value if isinstance(value, list) else [value]))

    def for_browser(self) -> dict[str, Any]:
        """What the control in the browser needs, labels with their keys and titles filled in."""
        labels = [label.model_dump(mode="json") for label in self.label_list()]
        return self.model_dump(mode="json", exclude=set(self.unsent)) | {"scale": self.scale, "labels": labels}

    # Values -----------------------------------------------------------------------------------------------------------

    def check(self, value: object, units: Units | None = None) -> Value:
        """The value as it is stored; InvalidInput names a value that is not one of this criterion's.

        `units` are the parts of the item that is judged: with them a value has to fit the item too. Without them it may
        be a value for any item.
        """
        raise NotImplementedError

    def parse(self, text: str) -> Value:
        """The value written as `text` in a table of labels."""
        return self.check(text)

    def rekeyed(self, value: Any, renamed: Callable[[str], str | None]) -> Any:
        """The value with other keys of the item's parts that it names; on the wire parts have neutral ones.

        `renamed` takes a target (`image:K`) and gives the target to take its place, or None for one to leave out. A
        value that is none of this criterion's stays as it is.
        """
        return value

    def turned(self, value: Any) -> Any:
        """The value of a criterion about a pair with the two sides exchanged.

        A value says which side by its number: below zero the first, above it the second. One that is no such number
        says nothing of sides, and stays as it is.
        """
        return value

    # Asked of a model ------------------------------------------------------------------------------------------------

    def reply_schema(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON schema of a value in a model's reply; `material` is what is shown as the browser gets it."""
        raise NotImplementedError

    def from_reply(self, value: Any, material: Mapping[str, Any]) -> Any:
        """A value of a reply in the form that `check` takes, by the neutral names of the item's parts."""
        return value

    # Several people's values ------------------------------------------------------------------------------------------

    def vote(self, value: Any) -> str:
        """The value as the key it is counted under: two that are written alike are the same."""
        return value if isinstance(value, str) else written(value)

    def in_order(self, votes: Iterable[str]) -> list[str]:
        """Votes in the order of the scale: labels as they are declared, then numbers by size, the rest as they came."""
        declared = {self.vote(label.value): place for place, label in enumerate(self.label_list())}

        def place(entry: tuple[int, str]) -> tuple[int, float, int]:
            came, vote = entry
            if vote in declared:
                return 0, declared[vote], came
            number = _number(vote) if self.ordered else None
            return (2, 0, came) if number is None else (1, number, came)

        return [vote for _, vote in sorted(enumerate(votes), key=place)]

    def labels_in(self, value: Any) -> list[str]:
        """The declared labels that a value has, as votes: itself; none of a kind without labels."""
        return [self.vote(value)] if self.label_list() else []

    def agreed(self, values: Sequence[Any]) -> Any:
        """The value that all of these (not empty) settle as, or None where they do not agree.

        On an ordered scale numbers that lie within the tolerance agree, and settle as the lower median.
        """
        if len({self.vote(value) for value in values}) == 1:
            return values[0]
        if not self.ordered or not self.tolerance or any(isinstance(value, str) for value in values):
            return None
        return median_low(values) if max(values) - min(values) <= self.tolerance else None

    def by_majority(self, values: Sequence[Any], n_annotations: int) -> Any:
        """The value that these (not empty) settle as by majority, or None: the one that more than half of all gave.

        `n_annotations` counts those who did not judge, too. What has parts may be settled part by part.
        """
        return self.most_given(values, n_annotations)

    def most_given(self, values: Sequence[Any], n_annotations: int) -> Any:
        """The value that more than half of all annotations gave, as a whole, or None."""
        by_vote = {self.vote(value): value for value in values}
        counts = Counter(self.vote(value) for value in values)
        return next((by_vote[vote] for vote, n in counts.items() if n > n_annotations / 2), None)

    def passes(self, value: Any) -> bool:
        """Whether an item passes with this final label: every label in it is accepted, where `accept` names any."""
        if not self.accept:
            return True
        accepted = {str(label) for label in self.accept}
        said = self.labels_in(value) if self.label_list() else [self.vote(value)]
        return all(label in accepted for label in said)

    # Statistics -------------------------------------------------------------------------------------------------------

    @property
    def measured_scale(self) -> Scale | None:
        """The scale, and with it the distance between two values, by which agreement is measured; None: it is not."""
        return self.scale

    def stored_labels(self) -> list[str | int | float]:
        """The declared labels as they are stored, in order, used or not; empty where values are not single labels."""
        found = (self.check(label.value) for label in self.label_list())
        return [value for value in found if not isinstance(value, list)]

    def as_numbers(self, scored: Collection[str] = ()) -> AsNumbers:
        """The values as numbers, to be set against metrics; `scored` names what these are scores of."""
        return AsNumbers(reason=f"labels of the scale {self.scale} cannot be set against a number")

    def _reject(self, value: object, allowed: str) -> InvalidInput:
        return InvalidInput(f"{shown(value)} is not a label of criterion {self.name!r}. Allowed: {allowed}.")

    def _json_list(self, text: str) -> object:
        found = list_in(text)
        if found is None:
            raise InvalidInput(
                f'{text!r} is not a value of criterion {self.name!r}. Write a JSON array, like ["a", "b"].'
            )
        return found


def kind_named(name: object) -> type[Criterion]:
    """The kind of this name; Misfit lists those that there are."""
    if not isinstance(name, str) or name not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise Misfit(f"there is no kind of criterion named {name!r}; known: {known}", "kind")
    return KINDS[name]


def _of_its_kind(value: Any) -> Any:
    """Build the class that `kind` names."""
    if isinstance(value, dict):
        return kind_named(value.get("kind", USUAL_KIND)).model_validate(value)
    return value


AnyCriterion = Annotated[SerializeAsAny[Criterion], BeforeValidator(_of_its_kind)]
"""A field that holds a criterion of whatever kind its data names."""
