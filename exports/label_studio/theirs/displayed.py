"""What a config that is not ours displays of a task: its question and its answer, and the texts and images beside."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotators.errors import InvalidInput, shown
from exports.label_studio.known import part_key
from exports.label_studio.xml import Tag

TEXTS = frozenset({"Text", "HyperText", "Paragraphs"})
IMAGES = frozenset({"Image"})

_VARIABLE = re.compile(r"\$([\w.\[\]]+)")
"""A field of a task in what a tag shows, perhaps a part of it: `$text`, `$doc.pages[0].text`."""

_PLACE = "[{{"
"""How the place in the list of a Repeater begins, in what a tag shows; it says nothing where no such Repeater is."""

_QUESTION = ("question", "query", "prompt", "instruction", "title")
_ANSWER = ("answer", "response", "output", "completion", "summary", "text")
_CONTEXT = re.compile(r"(retrieved_?)?(context|passage|evidence|document|source|article|chunk|snippet)s?(_?\d+)?")
_REFERENCE = re.compile(r"(reference|ground_?truth|gold|expected)(_?(answer|response|output))?s?(_?\d+)?")

Data = Mapping[str, Any]
"""The data of a task."""

Repeaters = tuple[Tag, ...]
"""The Repeaters that a tag stands in, from the outermost."""


@dataclass(frozen=True)
class Display:
    """A tag that shows something of each task: its name, and its value, in which `$…` stands for a field's."""

    name: str = field(compare=False)
    value: str
    listed: bool = False
    """Whether the value is a list of images, a page each."""
    turns: tuple[str, str] = field(default=("author", "text"), compare=False)
    """What the speaker and the words of a turn are called, where a conversation is shown."""
    each: tuple[str, str] | None = None
    """Where a Repeater shows it: the path of the list that this goes through, and what stands for the place in it."""
    of_part: str = field(default="", compare=False)
    """The key of what it shows, where it is one of the parts of such a list."""

    @property
    def key(self) -> str:
        """The key of the evidence unit that it shows."""
        return self.of_part or part_key(self.word)

    @property
    def word(self) -> str:
        """What it shows, in a word: the field, or the last name of the path to it, or to its list."""
        found = _VARIABLE.search(self.value)
        path = self.each[0] if self.each is not None else "" if found is None else found[1]
        steps = re.split(r"[.\[\]]+", path)
        return next((step for step in reversed(steps) if step and not step.isdecimal()), "")

    @property
    def field(self) -> str | None:
        """The field that it shows as it is; None where it shows a part of one, or words around it."""
        found = _VARIABLE.fullmatch(self.value)
        return None if found is None or re.search(r"[.\[]", found[1]) else found[1]

    def of(self, data: Data) -> Any:
        """What it shows of a task; None where the task does not have it."""
        if (whole := _VARIABLE.fullmatch(self.value)) is not None:
            return _at(data, whole[1])
        return _VARIABLE.sub(lambda found: _plain(_at(data, found[1])), self.value)

    def parts(self, data: Data) -> Iterator[Display]:
        """What it shows of a task, one by one: where a Repeater shows it, of each entry of the list."""
        if self.each is None:
            yield self
            return
        path, flag = self.each
        listed = _at(data, path)
        for place in range(len(listed) if isinstance(listed, list) else 0):
            value = self.value.replace(flag, str(place))
            yield replace(self, value=value, each=None, of_part=f"{self.key}-{place + 1}")

    def pages(self, data: Data) -> Iterator[tuple[str, str]]:
        """(key of the evidence unit, address) of each image that it shows; InvalidInput for what is no address."""
        found, key = self.of(data), self.key
        addresses = found if isinstance(found, list) else [found] if found else []
        for number, address in enumerate(addresses, 1):
            if not isinstance(address, str) or not address:
                raise InvalidInput(f"the image `{self.word}` is {shown(address)}, not an address")
            yield f"{key}-{number}" if isinstance(found, list) else key, address


def with_repeaters(tag: Tag, around: Repeaters = ()) -> Iterator[tuple[Tag, Repeaters]]:
    """The tag and all in it, in the order in which they stand, each with the Repeaters around it."""
    yield tag, around
    inner = (*around, tag) if tag.name == "Repeater" else around
    for child in tag.children:
        yield from with_repeaters(child, inner)


def index_flag(repeater: Tag) -> str:
    """What stands in a Repeater for the place in its list, from 0."""
    return repeater.get("indexFlag") or "{{idx}}"


def display_of(tag: Tag, repeater: Tag | None = None) -> Display | None:
    """What a tag, which may stand in a Repeater, shows of each task.

    None where it shows the same words of all, or nothing.
    """
    listed = bool(tag.get("valueList"))
    value = tag.get("valueList") or tag.get("value")
    if not _VARIABLE.search(value):
        return None
    turns = (tag.get("nameKey", "author"), tag.get("textKey", "text"))
    # What says nothing of the place is the same each time.
    repeated = repeater is not None and index_flag(repeater) in value
    each = (repeater.get("on").strip().removeprefix("$"), index_flag(repeater)) if repeater and repeated else None
    return Display(tag.get("name"), value.strip(), listed, turns, each)


def _at(data: Data, path: str) -> Any:
    """What stands at `doc.pages[0].text` of some data; a field that is called so goes before."""
    if path in data:
        return data[path]
    found: Any = data
    for step in re.findall(r"[^.\[\]]+", path):
        if isinstance(found, Mapping):
            found = found.get(step)
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


@dataclass
class Displayed:
    """What a config shows of each task, by what it is here."""

    question: Display | None = None
    answer: Display | None = None
    sides: tuple[Display, Display] | None = None
    """The two texts that are compared, in place of an answer."""
    contexts: list[Display] = field(default_factory=list)
    """Further texts: evidence."""
    references: list[Display] = field(default_factory=list)
    images: list[Display] = field(default_factory=list)
    ranked: list[Display] = field(default_factory=list)
    by_name: dict[str, tuple[str, Display]] = field(default_factory=dict)
    """Name of a tag → its kind, and what it shows; of those that stand in no Repeater."""
    unread: list[Tag] = field(default_factory=list)
    """Tags that show what is not read: lists to order in a Repeater, all in a second one, places outside of one."""

    def in_words(self) -> str:
        """What of a task is what here: `question = $question, answer = $text`."""
        said = [("question", self.question), ("answer", self.answer)]
        said += [(name, one) for name, one in zip(("left answer", "right answer"), self.sides or (), strict=False)]
        said += [("reference", one) for one in self.references]
        said += [("evidence", one) for one in (*self.contexts, *self.images)]
        return ", ".join(f"{name} = {one.value}" for name, one in said if one is not None)

    @property
    def evidence(self) -> bool:
        """Whether anything is shown beside question and answer that is evidence."""
        return bool(self.contexts or self.images)


def read_displayed(config: Tag, controls: Sequence[Tag]) -> Displayed:
    """What a config shows; the answer is what is marked, else question and answer are what fields are called, or as
    they stand. A text that is called as contexts are, or is one of several that are only numbered, is evidence, and so
    is each that a Repeater shows.
    """
    found, texts = Displayed(), list[Display]()
    repeated: dict[bool, list[Display]] = {True: [], False: []}
    for tag, around in with_repeaters(config):
        display = None if tag.get("toName") else display_of(tag, around[-1] if around else None)
        if display is None:
            continue
        flag = "" if display.each is None else display.each[1]
        nowhere = _PLACE in display.value.replace(flag, "")
        if display.name and not around and not nowhere:
            found.by_name[display.name] = tag.name, display
        if tag.name not in TEXTS | IMAGES | {"Header", "List"}:
            continue
        if nowhere or len(around) > 1 or (around and tag.name == "List"):
            found.unread.append(tag)
        elif display.each is not None:
            repeated[tag.name in IMAGES].append(display)
        elif tag.name in IMAGES:
            found.images.append(display)
        elif tag.name == "List":
            found.ranked.append(display)
        else:
            texts.append(display)
    texts = list({display.value: display for display in reversed(texts)}.values())[::-1]
    found.sides = _sides(controls, found.by_name)
    judged = {found.by_name[tag.get("toName")][1].value for tag in controls if tag.get("toName") in found.by_name}
    rest = [one for one in texts if one not in (found.sides or ())]
    _sort(found, rest, _marked(controls, found.by_name), judged)
    # After all others, whose keys stay as they are.
    found.images += repeated[True]
    found.contexts += repeated[False]
    return found


def _sides(controls: Iterable[Tag], named: Mapping[str, tuple[str, Display]]) -> tuple[Display, Display] | None:
    for tag in controls:
        both = [named[name.strip()] for name in tag.get("toName").split(",") if name.strip() in named]
        if tag.name == "Pairwise" and len(both) == 2 and all(kind in TEXTS for kind, _ in both):
            return both[0][1], both[1][1]
    return None


def _marked(controls: Iterable[Tag], named: Mapping[str, tuple[str, Display]]) -> Display | None:
    about = (named[tag.get("toName")] for tag in controls if tag.name == "Labels" and tag.get("toName") in named)
    return next((display for kind, display in about if kind == "Text"), None)


def _sort(found: Displayed, texts: list[Display], marked: Display | None, judged: Collection[str]) -> None:
    """Say of each text what it is; of several that are called as answers are, the one that is judged is the answer."""
    beside = [one for one in texts if one != marked and _CONTEXT.fullmatch(one.word.lower())]
    found.references = [one for one in texts if one != marked and _REFERENCE.fullmatch(one.word.lower())]
    rest = [one for one in texts if one not in beside and one not in found.references] or texts
    found.question = next((one for one in rest if one.word.lower() in _QUESTION and one != marked), None)
    answers = [one for one in rest if one.word.lower() in _ANSWER and one != found.question]
    answers.sort(key=lambda one: one.value not in judged)
    found.answer = marked or next(iter(answers), None)
    if found.question is None:
        found.question = next((one for one in rest if one != found.answer), None)
    if found.answer is None and found.sides is None:
        others = [one for one in rest if one != found.question]
        numbered = len(others) > 1 and len({one.word.rstrip("0123456789").rstrip("_") for one in others}) == 1
        found.answer = None if numbered else next(iter(others), None)
    found.references = [one for one in found.references if one not in (found.question, found.answer)]
    said = (found.question, found.answer, *found.references)
    found.contexts = [one for one in texts if one not in said]
