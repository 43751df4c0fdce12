"""Labelling configs that are not ours as protocols: what each control asks, what its results say, and what is lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from annotators.asking.inferred_protocols import criterion_name
from annotators.asking.submissions import GivenLabel, is_asked
from annotators.criteria import Criterion
from annotators.criteria.base import KINDS, Misfit
from annotators.errors import InvalidInput, shown
from annotators.figures import count
from annotators.items.targets import TargetKind
from annotators.protocols import ALL_FALLS, Protocol
from exports.label_studio.controls import Given, stretch_in, text_in, values_of
from exports.label_studio.known import part_key
from exports.label_studio.lost import Lost
from exports.label_studio.theirs.displayed import (
    IMAGES,
    TEXTS,
    Data,
    Display,
    Displayed,
    Repeaters,
    index_flag,
    read_displayed,
    with_repeaters,
)
from exports.label_studio.xml import Tag
from exports.naming import distinct
from exports.reading.addressed import Addressed

_LAYOUT = frozenset(
    {"View", "Header", "Style", "Label", "Choice", "Collapse", "Panel", "Filter", "Repeater", "Shortcut", "Relation"}
    | {"Bucket", "Channel", "List"}
)

_OBJECTS_WITH_RESULTS = frozenset({"Chat", "ReactCode", "CustomInterface"})
"""Objects that take something themselves: its results say the object's own name, with `toName` or without."""


@dataclass(frozen=True)
class Said:
    """What an annotation there says for one criterion: a value as text, and perhaps places on pages."""

    value: Any
    rationale: list[dict[str, Any]] | None = None


@dataclass
class Asked:
    """A control of theirs as a criterion of ours, and how its results are read.

    `hidden`: it is shown there under a condition that cannot be said here.
    """

    name: str
    criterion: Criterion
    read: Callable[[Sequence[Given], Data], Said | None]
    hidden: bool = False
    pages: Display | None = None
    """The pages, where it is asked of each of them; `read` then takes what was given for one."""

    def none_of(self, decided: Mapping[tuple[str, str], GivenLabel]) -> bool:
        """Whether nothing given says that no label fits: of sets and stretches that were asked and need none."""
        free = self.criterion.scale in ("set", "spans") and not self.criterion.required
        return (
            free
            and not self.hidden
            and self.pages is None
            and is_asked(self.criterion, self.criterion.target.value, decided)
        )

    def by_target(self, given: Sequence[Given], data: Data) -> Iterator[tuple[str, Sequence[Given]]]:
        """What was given, by what of the item it is about; InvalidInput for a page that the task does not have."""
        if self.pages is None:
            yield self.criterion.target.value, given
            return
        keys = [key for key, _ in self.pages.pages(data)]
        by_page: dict[int, list[Given]] = {}
        for one in given:
            by_page.setdefault(page_of(one, len(keys)), []).append(one)
        for page, of_page in sorted(by_page.items()):
            yield f"evidence:{keys[page]}", of_page


@dataclass
class Theirs:
    """A project of theirs: what it shows of its tasks, and what it asks."""

    displayed: Displayed
    documents: Addressed
    protocol: Protocol | None = None
    asked: list[Asked] = field(default_factory=list)
    lost: Lost = field(default_factory=Lost)
    of_tasks: Lost = field(default_factory=Lost)
    """What of the annotations that were read so far cannot be said here."""
    controls: dict[str, re.Pattern[str]] = field(default_factory=dict)
    """The name of each control, also of those that nothing here is like → the names that its results say."""

    def control_of(self, name: str) -> str | None:
        """The control whose results say this name, as the config calls it; None where it has none."""
        if name in self.controls:
            return name
        return next((control for control, names in self.controls.items() if names.fullmatch(name)), None)


def read_theirs(config: Tag, name: str, documents: Addressed | None = None) -> Theirs:
    """What a config shows and asks. What of it cannot be said here is lost, a line for each part.

    `documents` says which document an address of an image means.
    """
    controls = [tag for tag in config.walk() if tag.get("toName")]
    found = Theirs(read_displayed(config, controls), documents or Addressed())
    titles = _titles(config)
    for tag, around in with_repeaters(config):
        if tag.get("toName") or (tag.name in _OBJECTS_WITH_RESULTS and tag.get("name")):
            _add(found, tag, titles, around)
        elif tag.name not in _LAYOUT | TEXTS | IMAGES:
            about = "it is of no object (`toName`)" if tag.name in _MAKERS else "nothing here is like it"
            found.lost.add(f"<{tag.name}> of line {tag.line}: {about}")
    for tag in found.displayed.unread:
        found.lost.add(f"{_where(tag)}: it is repeated for each part of a task, and its part of a task is not read")
    _add_conditions(found, config)
    if found.asked:
        found.protocol = _protocol(found, name, config)
    return found


def _titles(config: Tag) -> dict[int, str]:
    """Control (by identity) → the header that stands before it."""
    found: dict[int, str] = {}
    last = ""
    for tag in config.walk():
        if tag.name == "Header":
            last = tag.get("value").strip()
        elif tag.get("toName"):
            found[id(tag)] = "" if "$" in last else last
            last = ""
    return found


# Controls -------------------------------------------------------------------------------------------------------------


def _where(tag: Tag) -> str:
    return f"<{tag.name} name={tag.get('name')!r}> of line {tag.line}"


def _names_in_results(tag: Tag, around: Repeaters) -> re.Pattern[str]:
    """The names that results of a control say: in a Repeater with the place in its list.

    Digits are taken all at once (possessive), so that a name of many places in a row is no slow pattern.
    """
    pattern = re.escape(tag.get("name"))
    for repeater in around:
        pattern = pattern.replace(re.escape(index_flag(repeater)), r"\d++")
    return re.compile(pattern)


def _add(found: Theirs, tag: Tag, titles: Mapping[int, str], around: Repeaters) -> None:
    found.controls[tag.get("name")] = _names_in_results(tag, around)
    where = _where(tag)
    if around:
        found.lost.add(f"{where}: it is repeated for each part of a task, and here asked of the item")
        return
    if tag.get("perRegion") == "true":
        found.lost.add(f"{where}: it is asked of each marked region, and here of the item")
        return
    if _of_one_side(found, tag):
        found.lost.add(f"{where}: it is about one of the two texts that are compared, and here about both")
        return
    make, pages = _MAKERS.get(tag.name), _each_page(found, tag)
    if make is None:
        found.lost.add(f"{where}: nothing here is like it")
        return
    try:
        fields, read = make(found, tag)
        taken = {one.criterion.name for one in found.asked}
        name = distinct(criterion_name(tag.get("name") or tag.name), taken)
        fields = {
            "name": name,
            "title": (titles.get(id(tag)) or tag.get("name") or tag.name)[:300],
            "required": tag.get("required") == "true",
            **_target(found, pages, fields["kind"]),
            **fields,
        }
        criterion = KINDS[fields["kind"]].model_validate(fields)
    except (InvalidInput, Misfit, ValueError) as error:
        found.lost.add(f"{where}: {_reason(error)}")
        return
    found.asked.append(Asked(tag.get("name"), criterion, read, pages=pages))


def _target(found: Theirs, pages: Display | None, kind: str) -> dict[str, Any]:
    if pages is not None:
        return {"target": TargetKind.EVIDENCE, "only": {"kinds": ["page"]}}
    return {"target": TargetKind.PAIR} if found.displayed.sides and kind in _OF_PAIRS else {}


_OF_PAIRS = ("choice", "grade", "number", "several", "text")
"""Kinds of criteria that may be asked of a pair."""


def _of_one_side(found: Theirs, tag: Tag) -> bool:
    """Whether a control is of one of two texts that are compared."""
    about = found.displayed.by_name.get(tag.get("toName"))
    return found.displayed.sides is not None and about is not None and about[1] in found.displayed.sides


def _each_page(found: Theirs, tag: Tag) -> Display | None:
    """The pages, where a control is asked of each of several that are shown together."""
    kind, about = _about(found, tag)
    return about if tag.get("perItem") == "true" and kind in IMAGES and about is not None and about.listed else None


def _reason(error: Exception) -> str:
    return str(error).splitlines()[-1].strip() if not isinstance(error, InvalidInput) else str(error)


def _about(found: Theirs, tag: Tag) -> tuple[str, Display | None]:
    """The kind of the object that a control is of, and what it shows of each task."""
    return found.displayed.by_name.get(tag.get("toName"), ("", None))


def page_of(given: Given, n_pages: int) -> int:
    """Which of so many images that are shown together a result is of, from 0."""
    found = given.get("item_index", 0)
    if not isinstance(found, int) or not 0 <= found < n_pages:
        raise InvalidInput(
            f"the result of {shown(given.get('from_name'))} is of page {shown(found)} (`item_index`, from 0), and the "
            f"task shows {count(n_pages, 'page')}"
        )
    return found


def ranked_keys(listed: object) -> dict[str, str]:
    """Id of each entry of a list that is put in order → its key here, each one of its own."""
    found: dict[str, str] = {}
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("id") is not None and str(one["id"]) not in found:
            found[str(one["id"])] = distinct(part_key(one["id"]), found.values())
    return found


_Made = tuple[dict[str, Any], Callable[[Sequence[Given], Data], Said | None]]


def _labels(tags: Iterable[Tag], above: str = "") -> Iterable[dict[str, Any]]:
    """The labels of choices, of those in others by their paths."""
    for tag in tags:
        if tag.name not in ("Choice", "Label"):
            continue
        value = tag.get("alias") or tag.get("value")
        if not value or value.startswith("$"):
            raise InvalidInput("its labels are in the tasks, and a protocol's are its own")
        path = f"{above}/{value}" if above else value
        inner = [one for one in tag.children if one.name == "Choice"]
        key = tag.get("hotkey") if len(tag.get("hotkey")) == 1 else ""
        if not inner or above or tag.name == "Choice":
            yield {"value": path, "title": tag.get("value"), "definition": tag.get("hint"), "_key": key}
        yield from _labels(inner, path)


def _declared(tag: Tag, least: int = 1) -> list[dict[str, Any]]:
    if tag.get("value").startswith("$") or tag.get("apiUrl"):
        raise InvalidInput("its labels are in the tasks or on a server, and a protocol's are its own")
    found = {str(one["value"]): {k: v for k, v in one.items() if k != "_key"} for one in _labels(tag.children)}
    if len(found) < least:
        raise InvalidInput(f"it has {len(found)} labels, and {least} are needed")
    return list(found.values())


def _choices(found: Theirs, tag: Tag) -> _Made:
    many = tag.get("choice") == "multiple"
    labels = _declared(tag, 2 if many else 1)
    value_of = _values_of(labels)

    def read(given: Sequence[Given], _data: Data) -> Said:
        chosen = [value_of(one) for one in _all(given, "choices")]
        if many:
            return Said(chosen)
        if len(chosen) != 1:
            raise InvalidInput(f"{tag.get('name')!r} has {len(chosen)} labels where one is asked for")
        return Said(chosen[0])

    return {"kind": "several" if many else "choice", "labels": labels}, read


def _values_of(labels: Sequence[Mapping[str, Any]]) -> Callable[[str], str]:
    """From what a result says to the label's value: it says the alias, or the title where an older editor wrote it.

    The alias comes first: it may be the title of another label.
    """
    values = {str(one["value"]) for one in labels}
    by_title: dict[str, str] = {}
    for one in labels:
        by_title.setdefault(str(one["title"]), str(one["value"]))
    return lambda said: said if said in values else by_title.get(said, said)


def _all(given: Sequence[Given], name: str) -> list[str]:
    found: list[str] = []
    for one in given:
        value = values_of(one.get("value")).get(name)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, list) and name != "text":  # the path of a label
                found.append("/".join(text_in(one, name, piece) for piece in part))
            elif part is None:
                raise InvalidInput(f"the result of {shown(one.get('from_name'))} has no `value.{name}`")
            else:
                found.append(text_in(one, name, part))
    return found


def _taxonomy(found: Theirs, tag: Tag) -> _Made:
    labels = _declared(tag, 2)
    value_of = _values_of(labels)

    def read(given: Sequence[Given], _data: Data) -> Said:
        return Said(list(dict.fromkeys(map(value_of, _all(given, "taxonomy")))))

    return {"kind": "several", "labels": labels}, read


def _rating(_found: Theirs, tag: Tag) -> _Made:
    most = int(tag.get("maxRating") or 5)
    if not 1 <= most <= 100:
        raise InvalidInput(f"its maxRating is {most}")

    def read(given: Sequence[Given], _data: Data) -> Said | None:
        stars = values_of(given[-1].get("value")).get("rating")
        return None if stars == 0 else Said(stars)  # 0: all of them were taken back

    return {"kind": "grade", "labels": [{"value": number} for number in range(1, most + 1)]}, read


_FAR = 1e15
"""Beyond every number that a scale without ends is used for; whole numbers are exact so far."""


def _number(_found: Theirs, tag: Tag) -> _Made:
    def read(given: Sequence[Given], _data: Data) -> Said:
        return Said(values_of(given[-1].get("value")).get("number"))

    limits = {"minimum": float(tag.get("min") or -_FAR), "maximum": float(tag.get("max") or _FAR)}
    step = float(tag.get("step") or 1e-6)
    return {"kind": "number", **limits, "step": step}, read


def _text(found: Theirs, tag: Tag) -> _Made:
    if tag.get("maxSubmissions") != "1":
        found.lost.add(f"<TextArea name={tag.get('name')!r}>: several texts of one annotation become one, a line each")

    def read(given: Sequence[Given], _data: Data) -> Said | None:
        text = "\n".join(_all(given, "text"))
        return Said(text) if text.strip() else None

    rows = int(tag.get("rows")) if tag.get("rows").isdecimal() else 2
    return {"kind": "text", "lines": min(40, max(1, rows))}, read


def _datetime(_found: Theirs, tag: Tag) -> _Made:
    """A day or moment, as the text that the control gives."""

    def read(given: Sequence[Given], _data: Data) -> Said | None:
        moment = values_of(given[-1].get("value")).get("datetime")
        return Said(str(moment)) if moment else None

    return {"kind": "text", "lines": 1}, read


def _spans(found: Theirs, tag: Tag) -> _Made:
    kind, about = _about(found, tag)
    if kind != "Text" or about is None:
        raise InvalidInput("it marks something else than a plain text")
    if about != found.displayed.answer:
        raise InvalidInput(f"it marks `{about.word}`, and here only one text, the answer, can be marked")
    labels = _declared(tag)
    value_of = _values_of(labels)

    def read(given: Sequence[Given], data: Data) -> Said:
        text, stretches = str(about.of(data) or ""), list[dict[str, Any]]()
        for one in given:
            value = values_of(one.get("value"))
            marked = _all([one], "labels")
            if len(marked) > 1:
                found.of_tasks.add("More than one label of the same stretch: the first is kept")
            start, end = stretch_in(text, value.get("start"), value.get("end"), value.get("text"))
            stretches.append({"start": start, "end": end, "label": value_of(marked[0]), "text": text[start:end]})
        return Said(_without_overlaps(stretches, found.of_tasks))

    return {"kind": "spans", "labels": labels}, read


def _without_overlaps(stretches: list[dict[str, Any]], lost: Lost) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for one in sorted(stretches, key=lambda stretch: (stretch["start"], stretch["end"])):
        if kept and one["start"] < kept[-1]["end"]:
            lost.add("Stretches that overlap others: the first is kept")
        else:
            kept.append(one)
    return kept


def _boxes(found: Theirs, tag: Tag) -> _Made:
    kind, about = _about(found, tag)
    if kind not in IMAGES or about is None:
        raise InvalidInput("it marks something else than an image")
    labels = _declared(tag)
    value_of = _values_of(labels)
    if len(labels) == 1:
        labels.append({"value": "nothing", "title": "Nothing", "definition": "No region is marked."})

    def read(given: Sequence[Given], data: Data) -> Said:
        pages = [found.documents.key(address) for _, address in about.pages(data)]
        places, marked = [], []
        for one in given:
            value, page = values_of(one.get("value")), page_of(one, len(pages))
            names = list(map(value_of, _all([one], "rectanglelabels")))
            marked += names
            places.append({"document": pages[page], "page": 1, "box": _box(value), "text": ", ".join(names)})
            if value.get("rotation"):
                found.of_tasks.add("The rotation of boxes: they are kept upright")
        return Said(list(dict.fromkeys(marked)), places)

    return {"kind": "several", "labels": labels}, read


def _box(value: Mapping[str, Any]) -> list[float]:
    """Percent of the image, from its top left corner, as fractions [x0, y0, x1, y1] of what of it lies on the image."""
    numbers = [value.get(name) for name in ("x", "y", "width", "height")]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one) for one in numbers):
        raise InvalidInput(f"a box is {shown(dict(value))}, without x, y, width and height")
    x, y, width, height = (float(one) / 100 for one in numbers)  # type: ignore[arg-type]
    x0, y0, x1, y1 = (round(min(1.0, max(0.0, edge)), 6) for edge in (x, y, x + width, y + height))
    if not (x0 < x1 and y0 < y1):
        where = ", ".join(
            f"{name} {number:g}" for name, number in zip(("x", "y", "width", "height"), numbers, strict=True)
        )
        raise InvalidInput(f"nothing of the box with {where} lies on its image, which goes from 0 to 100")
    return [x0, y0, x1, y1]


def _pairwise(found: Theirs, tag: Tag) -> _Made:
    if found.displayed.sides is None:
        raise InvalidInput("it compares something else than two texts")
    names = [name.strip() for name in tag.get("toName").split(",")]
    shown_there = tuple(found.displayed.by_name[name][1] for name in names if name in found.displayed.by_name)
    if shown_there != found.displayed.sides:
        raise InvalidInput("it compares other texts than the first, and here two are compared")
    values = {names[0]: -1, names[1]: 1} | {"left": -1, "right": 1}  # a result says the side, whatever texts are called

    def read(given: Sequence[Given], _data: Data) -> Said:
        selected = values_of(given[-1].get("value")).get("selected")
        if selected not in values:
            raise InvalidInput(f"{tag.get('name')!r} chose {shown(selected)}, which is neither side")
        return Said(values[selected])

    labels = [{"value": -1, "title": "The left one"}, {"value": 1, "title": "The right one"}]
    return {"kind": "grade", "labels": labels}, read


def _ranker(found: Theirs, tag: Tag) -> _Made:
    kind, about = _about(found, tag)
    if kind != "List" or about is None or any(child.name == "Bucket" for child in tag.children):
        raise InvalidInput("it sorts into buckets, and here a list is put in order")

    def read(given: Sequence[Given], data: Data) -> Said:
        keys = ranked_keys(about.of(data))
        ranked = values_of(given[-1].get("value")).get("ranker")
        if isinstance(ranked, dict):
            ranked = [key for keys in ranked.values() if isinstance(keys, list) for key in keys]
        if not isinstance(ranked, list):
            raise InvalidInput(f"{tag.get('name')!r} has no `value.ranker`")
        return Said([keys.get(str(one), part_key(one)) for one in ranked])

    return {"kind": "order"}, read


_MAKERS: Mapping[str, Callable[[Theirs, Tag], _Made]] = {
    "Choices": _choices,
    "Taxonomy": _taxonomy,
    "Rating": _rating,
    "Number": _number,
    "TextArea": _text,
    "DateTime": _datetime,
    "Labels": _spans,
    "RectangleLabels": _boxes,
    "Pairwise": _pairwise,
    "Ranker": _ranker,
}


# The protocol ---------------------------------------------------------------------------------------------------------


def _add_conditions(found: Theirs, config: Tag) -> None:
    by_name = {one.name: one for one in found.asked}
    for view in config.walk():
        when_shown = view.get("visibleWhen") or ("choice-selected" if view.get("whenTagName") else "")
        if not when_shown:
            continue
        inner = [by_name[tag.get("name")] for tag in view.walk() if tag.get("name") in by_name]
        other, values = by_name.get(view.get("whenTagName")), view.get("whenChoiceValue")
        for one in inner:
            known = {} if other is None else {str(n.value): n for n in other.criterion.label_list()}
            titles = {label.title: value for value, label in known.items()}
            wanted = [value if value in known else titles.get(value, "") for value in values.split(",")]
            if not values:  # any of them will do
                wanted = list(known)
            before = other is not None and found.asked.index(other) < found.asked.index(one)
            near = other is not None and other.criterion.target in (one.criterion.target, TargetKind.ITEM)
            if one.criterion.when is not None:
                one.hidden = True
                found.lost.add(f"{one.name!r} is shown there under several conditions: here under the first")
            elif when_shown == "choice-selected" and before and near and wanted and all(wanted):
                assert other is not None
                when = {"criterion": other.criterion.name, "values": wanted}
                changed = {**one.criterion.model_dump(), "when": when}
                one.criterion = type(one.criterion).model_validate(changed)
            else:
                one.hidden = True
                found.lost.add(f"{one.name!r} is shown there on a condition ({when_shown}), and here always asked")


def _protocol(found: Theirs, name: str, config: Tag) -> Protocol:
    shows = ["question"]
    shows += ["answer"] if found.displayed.answer or found.displayed.sides else []
    shows += ["evidence"] if found.displayed.evidence else []
    shows += ["images"] if any(one.criterion.kind == "order" for one in found.asked) else []
    headers = [tag.get("value") for tag in config.walk() if tag.name == "Header" and "$" not in tag.get("value")]
    said = "\n\n".join(headers)
    try:
        title = criterion_name(name)
    except InvalidInput:
        title = "label_studio"
    return Protocol.model_validate(
        {
            "name": title,
            "title": name,
            "summary": "A project of Label Studio.",
            "guidelines": said or "A project of Label Studio; its instructions are not part of its config.",
            "criteria": [one.criterion for one in found.asked],
            "steps": [
                {"name": "all", "title": "All", "shows": shows, "criteria": [one.criterion.name for one in found.asked]}
            ],
            "overlap": 1,
            "invalidates": ALL_FALLS,
        }
    )
