"""A control of Label Studio for each kind of criterion: how it is written, and how what it gave is read, both ways."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from annotators.criteria import Criterion
from annotators.criteria.place import NOWHERE
from annotators.errors import InvalidInput, shown
from exports.label_studio.xml import Tag

Given = Mapping[str, Any]
"""One entry of `result` of an annotation there: from_name, to_name, type and value."""

ANSWER = "shown-answer"
"""The object that stretches are marked in."""


_JOINER = "\u2060"
"""A sign that nobody sees."""


def inert(text: str) -> str:
    """A text of ours as the value of a tag, in which `$name` and `{{idx}}` mean nothing: a joiner parts their signs.

    Nor do `true` and `false`, which the editor there takes for no text, and fails: a joiner follows them.
    """
    if text.lower() in ("true", "false"):
        return text + _JOINER
    return re.sub(r"\{(?=\{)", "{" + _JOINER, re.sub(r"\$(?=[\w\[{])", "$" + _JOINER, text))


def alias_of(value: object) -> str:
    """What a label is called in the results there, by its value."""
    return inert(str(value))


@dataclass(frozen=True)
class Place:
    """Where a control stands: its name, the object that it is about, the name of its list of data, and its hot keys."""

    name: str
    about: str
    data: str = ""
    keys: frozenset[str] = frozenset()


class Control(ABC):
    """The control of one kind."""

    type: str
    """The `type` of its results."""

    empty_is_a_value: bool = False
    """Whether somebody who gives nothing gives a value, as where none of several labels is chosen."""

    @abstractmethod
    def write(self, into: Tag, criterion: Criterion, place: Place) -> None:
        """Add the control, and what else it needs."""

    @abstractmethod
    def read(self, given: Sequence[Given], criterion: Criterion, answer: str) -> Any:
        """The value of these results (not empty) as `Criterion.check` takes it; InvalidInput where they have none."""

    @abstractmethod
    def values(self, value: Any, criterion: Criterion, answer: str) -> list[dict[str, Any]]:
        """The `value` of each result that says this value."""


def _required(criterion: Criterion) -> dict[str, str]:
    if not criterion.required:
        return {}
    return {"required": "true", "requiredMessage": inert(f"{criterion.title}: give a label.")}


def titles(criterion: Criterion) -> dict[str, str]:
    """Value of each label, written out, → its title, no two of which are alike."""
    found: dict[str, str] = {}
    for label in criterion.label_list():
        title = inert(label.title.strip() or str(label.value))
        found[str(label.value)] = title if title not in found.values() else f"{title} ({label.value})"
    return found


def _part(given: Given, name: str) -> Any:
    value = given.get("value")
    found = value.get(name) if isinstance(value, dict) else None
    if found is None:
        raise InvalidInput(f"the result of {shown(given.get('from_name'))} has no `value.{name}`")
    return found


def _texts(given: Given, name: str) -> list[str]:
    found = _part(given, name)
    return [text_in(given, name, one) for one in (found if isinstance(found, list) else [found])]


def text_in(given: Given, name: str, one: object) -> str:
    """A text, or a number as one, of a result's `value.NAME`; InvalidInput for anything else."""
    if isinstance(one, bool) or not isinstance(one, str | int | float):
        raise InvalidInput(
            f"the result of {shown(given.get('from_name'))} has {shown(one)} in `value.{name}`, which is no text"
        )
    return str(one)


class _Choices(Control):
    """One label of several, or (`many`) any number of them."""

    type = "choices"

    def __init__(self, *, many: bool) -> None:
        self.empty_is_a_value = many

    def write(self, into: Tag, criterion: Criterion, place: Place) -> None:
        many = self.empty_is_a_value
        choices = into.add(
            "Choices",
            name=place.name,
            toName=place.about,
            choice="multiple" if many else "single-radio",
            showInline="true",
            **({} if many else _required(criterion)),
        )
        _add_labels(choices, "Choice", criterion, place)

    def read(self, given: Sequence[Given], criterion: Criterion, answer: str) -> Any:
        chosen = [_known(text, criterion) for one in given for text in _texts(one, "choices")]
        if self.empty_is_a_value:
            return chosen
        if len(chosen) != 1:
            raise InvalidInput(f"{criterion.name!r} has {len(chosen)} labels where one is asked for")
        return chosen[0]

    def values(self, value: Any, criterion: Criterion, answer: str) -> list[dict[str, Any]]:
        chosen = [alias_of(one) for one in (value if isinstance(value, list) else [value])]
        return [{"choices": chosen}] if chosen else []


def _add_labels(into: Tag, tag: str, criterion: Criterion, place: Place) -> None:
    by_value = titles(criterion)
    for label in criterion.label_list():
        into.add(
            tag,
            value=by_value[str(label.value)],
            alias=alias_of(label.value),
            hint=inert(label.definition) or None,
            hotkey=label.key if label.key in place.keys else None,
        )


def _known(text: str, criterion: Criterion) -> str:
    """The value of a label by its value or its title: an editor that knows no aliases gives titles."""
    by_value = titles(criterion)
    plain = text.replace(_JOINER, "")
    if text in by_value or plain in by_value:
        return text if text in by_value else plain
    return next((value for value, title in by_value.items() if title.replace(_JOINER, "") == plain), text)


class _Number(Control):
    type = "number"

    def write(self, into: Tag, criterion: Criterion, place: Place) -> None:
        limits = criterion.model_dump()
        into.add(
            "Number",
            name=place.name,
            toName=place.about,
            min=_number(limits["minimum"]),
            max=_number(limits["maximum"]),
            step=_number(limits["step"]),
            **_required(criterion),
        )

    def read(self, given: Sequence[Given], criterion: Criterion, answer: str) -> Any:
        return _part(given[-1], "number")

    def values(self, value: Any, criterion: Criterion, answer: str) -> list[dict[str, Any]]:
        return [{"number": value}]


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


class _Text(Control):
    type = "textarea"

    def write(self, into: Tag, criterion: Criterion, place: Place) -> None:
        into.add(
            "TextArea",
            name=place.name,
            toName=place.about,
            rows=str(max(2, criterion.model_dump()["lines"])),
            maxSubmissions="1",
            editable="true",
            showSubmitButton="false",
            **_required(criterion),
        )

    def read(self, given: Sequence[Given], criterion: Criterion, answer: str) -> Any:
        return "\n".join(text for one in given for text in _texts(one, "text"))

    def values(self, value: Any, criterion: Criterion, answer: str) -> list[dict[str, Any]]:
        return [{"text": [str(value)]}]


class _Spans(Control):
    """Stretches of the answer. Places there count characters, as ours do; old versions counted UTF-16 units."""

    type = "labels"
    empty_is_a_value = True

    def write(self, into: Tag, criterion: Criterion, place: Place) -> None:
        labels = into.add("Labels", name=place.name, toName=ANSWER)
        _add_labels(labels, "Label", criterion, place)

    def read(self, given: Sequence[Given], criterion: Criterion, answer: str) -> Any:
        return [self._stretch(one, criterion, answer) for one in given]

    def _stretch(self, given: Given, criterion: Criterion, answer: str) -> dict[str, Any]:
        labels = [_known(text, criterion) for text in _texts(given, "labels")]
        if len(labels) != 1:
            raise InvalidInput(f"{criterion.name!r} has a stretch with {len(labels)} labels; one is asked for")
        said = values_of(given.get("value")).get("text")
        start, end = stretch_in(answer, _part(given, "start"), _part(given, "end"), said)
        return {"start": start, "end": end, "label": labels[0], "text": answer[start:end]}

    def values(self, value: Any, criterion: Criterion, answer: str) -> list[dict[str, Any]]:
        return [
            {
                "start": stretch["start"],
                "end": stretch["end"],
                "text": answer[stretch["start"] : stretch["end"]],
                "labels": [alias_of(stretch["label"])],
            }
            for stretch in value
        ]


def stretch_in(text: str, start: object, end: object, said: object) -> tuple[int, int]:
    """Where a stretch lies in a text, in characters; InvalidInput where it lies nowhere, or the text says otherwise."""
    start_at, end_at = _place(start), _place(end)
    for first, last in ((start_at, end_at), (_in_characters(text, start_at), _in_characters(text, end_at))):
        if first < last <= len(text) and (not isinstance(said, str) or _alike(said, text[first:last])):
            return first, last
    raise InvalidInput(
        f"there is a stretch from {start_at} to {end_at} that says {shown(said)}, and the text says "
        f"{shown(text[start_at:end_at])} there: it was changed"
    )


def _place(said: object) -> int:
    """A place in a text as a whole number: programs without whole numbers write 5.0. InvalidInput for what is none."""
    place = int(said) if isinstance(said, float) and said.is_integer() else said
    if isinstance(place, bool) or not isinstance(place, int) or place < 0:
        raise InvalidInput(f"{shown(said)} is no place in a text")
    return place


def _alike(one: str, other: str) -> bool:
    """Whether two texts are the same but for space and for line ends that are written `\\n`."""
    return "".join(one.replace("\\n", "\n").split()) == "".join(other.split())


def _in_characters(text: str, place: int) -> int:
    """A place in UTF-16 units as one in characters."""
    units = 0
    for at, sign in enumerate(text):
        if units >= place:
            return at
        units += 1 + (sign > "\uffff")
    return len(text) + max(0, place - units)


class _Order(Control):
    type = "ranker"

    def write(self, into: Tag, criterion: Criterion, place: Place) -> None:
        into.add("List", name=f"shown-{place.name}", value=f"${place.data}", title=inert(criterion.title))
        into.add("Ranker", name=place.name, toName=f"shown-{place.name}")

    def read(self, given: Sequence[Given], criterion: Criterion, answer: str) -> Any:
        ranked = _part(given[-1], "ranker")
        if isinstance(ranked, dict):  # by the name of the ranker, or of buckets
            ranked = [key for keys in ranked.values() if isinstance(keys, list) for key in keys]
        return [str(key) for key in ranked] if isinstance(ranked, list) else ranked

    def values(self, value: Any, criterion: Criterion, answer: str) -> list[dict[str, Any]]:
        return [{"ranker": {criterion.name: [str(key) for key in value]}}]


class _Where(Control):
    """The paragraph that an image belongs after: its number, or 0 for nowhere."""

    type = "number"

    def write(self, into: Tag, criterion: Criterion, place: Place) -> None:
        into.add(
            "Header",
            value="Number of the paragraph that it belongs after; 0: nowhere",
            size="6",
            style="font-size: 14px; font-weight: 400; margin: 0",
        )
        into.add("Number", name=place.name, toName=place.about, min="0", max="999999", step="1", **_required(criterion))

    def read(self, given: Sequence[Given], criterion: Criterion, answer: str) -> Any:
        number = _part(given[-1], "number")
        return NOWHERE if number == 0 else f"block:{number:g}" if isinstance(number, int | float) else number

    def values(self, value: Any, criterion: Criterion, answer: str) -> list[dict[str, Any]]:
        return [{"number": 0 if value == NOWHERE else int(str(value).removeprefix("block:"))}]


CONTROLS: Mapping[str, Control] = {
    "choice": _Choices(many=False),
    "grade": _Choices(many=False),
    "several": _Choices(many=True),
    "number": _Number(),
    "text": _Text(),
    "spans": _Spans(),
    "order": _Order(),
    "place": _Where(),
}
"""Kind of criterion → its control. A test holds that every kind of ours has one."""


def control_of(criterion: Criterion) -> Control | None:
    """The control of a criterion; None for a kind that Label Studio has none for (a plug-in's)."""
    return CONTROLS.get(criterion.kind)


def values_of(given: Any) -> dict[str, Any]:
    """The value of a result, which strangers wrote."""
    return cast(dict[str, Any], given) if isinstance(given, dict) else {}
