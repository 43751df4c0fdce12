"""A protocol while it is written: plain data that a form and a YAML text both change, and what is wrong with it.

Every part (the protocol, a criterion, a label, a step, a consequence) is a dict with an id of its own under `ID`, which
stays when parts are moved, and is in no file. Names that others refer to change everywhere at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, zip_longest
from typing import Any

from annotators.asking.protocol_files import data_to_yaml, line_of, plain_data, protocol_from_yaml, protocol_to_yaml
from annotators.criteria.base import KINDS, USUAL_KIND
from annotators.errors import InvalidInput, Problem
from annotators.protocols import Protocol

ID = "#"
"""The key of a part's id."""

Part = dict[str, Any]

SOURCE = "the YAML"
"""What messages call the text."""

_START = """\
name: my_protocol
title: My protocol
summary: ''
guidelines: |
  Say what is judged, and give an example of each label.

  - **Yes**: an example.
  - **No**: an example.
criteria:
  - name: right
    kind: choice
    title: Right
    labels:
      - {value: 'yes', key: 'y', definition: ''}
      - {value: 'no', key: 'n', definition: ''}
steps:
  - name: everything
    title: Everything
    shows: [question, answer]
    criteria: [right]
overlap: 2
"""

_NUMBERS = count(1)

_LABELLED = frozenset({"labels", "accept", "rest", "positive"})
"""Fields that say something of labels."""


@dataclass
class Draft:
    """What is written so far: the data and the text that says the same, as far as the text can be read.

    `on` is the version of the project's protocol that is being changed, if one is. `unreadable` says why the text is no
    YAML; the data are then those from before. `problems` are what keeps it from being a protocol, `protocol` is it
    where nothing does. `number` tells it from every other draft of this process.
    """

    text: str
    on: int | None = None
    data: Part = field(default_factory=dict)
    unreadable: Problem | None = None
    problems: list[Problem] = field(default_factory=list)
    protocol: Protocol | None = None
    number: int = field(default_factory=lambda: next(_NUMBERS))
    _ids: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.write(self.text)

    @classmethod
    def new(cls) -> Draft:
        """One to begin with: a criterion with two labels."""
        return cls(_START)

    @classmethod
    def of(cls, protocol: Protocol, *, on: int | None) -> Draft:
        """One that changes a protocol; a copy under another name where it is no version of the project's (`on`)."""
        if on is None:
            protocol = protocol.model_copy(update={"name": f"my_{protocol.name}", "version": 1})
        return cls(protocol_to_yaml(protocol), on)

    # Changes ----------------------------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Put another text in place of everything."""
        self.text = text
        try:
            data = plain_data(text, SOURCE)
        except InvalidInput as error:
            self.protocol = None
            self.unreadable = error.problems[0] if error.problems else Problem(None, str(error), "")
            self.problems = [self.unreadable]
            return
        self.unreadable = None
        self.data = self._with_ids(_with_parts(data), self.data)
        self._look()

    def changed(self) -> None:
        """The data were changed: the text says what they say, and it is seen what is wrong."""
        self.text = data_to_yaml(_without_ids(self.data))
        self.unreadable = None
        self._look()

    def put(self, part: Part, name: str, value: Any) -> None:
        """Give a field of a part another value; None, and what is empty, takes it out."""
        before = part.get(name)
        if value in (None, [], {}) or (value == "" and name not in _KEPT_EMPTY):
            part.pop(name, None)
        else:
            part[name] = value
        if name == "name" and isinstance(before, str) and isinstance(value, str) and value:
            self._renamed(part, before, value)
        elif name == "value":
            self._label_renamed(part, before, value)
        elif name == "criterion":
            part.pop("values", None)  # they were another one's
        elif name == "kind":
            _keep_to_the_kind(part)
        self.changed()

    def add_criterion(self) -> Part:
        """A new criterion with two labels, asked in the last step."""
        name = self._free("criterion")
        labels: list[Part] = [{"value": "yes"}, {"value": "no"}]
        made: Part = self._with_ids({"name": name, "kind": USUAL_KIND, "title": "New criterion", "labels": labels})
        self.parts("criteria").append(made)
        steps = self.parts("steps") or [self.add_step()]
        steps[-1].setdefault("criteria", []).append(name)
        self.changed()
        return made

    def add_step(self) -> Part:
        """A new step that asks nothing yet."""
        made: Part = self._with_ids({"name": self._free("step"), "title": "New step", "shows": [], "criteria": []})
        self.parts("steps").append(made)
        self.changed()
        return made

    def add_label(self, criterion: Part) -> Part:
        """A new label at the end of a criterion's."""
        made: Part = self._with_ids({"value": f"label_{len(_list(criterion, 'labels')) + 1}"})
        _list(criterion, "labels").append(made)
        self.changed()
        return made

    def add_consequence(self) -> Part:
        """A new rule that says nothing yet."""
        nothing = {"when": {"criterion": "", "values": []}, "then": {"criterion": "", "values": []}, "says": ""}
        made: Part = self._with_ids(nothing)
        self.parts("consequences").append(made)
        self.changed()
        return made

    def remove(self, parts: list[Part], part: Part) -> None:
        """Take a part out of its list; of a criterion also wherever it is named."""
        parts[:] = [other for other in parts if other is not part]
        if parts is self.data.get("criteria") and isinstance(part.get("name"), str):
            self._forget(part["name"])
        for name in ("consequences", "criteria", "steps", "labels"):
            if self.data.get(name) == []:
                del self.data[name]
        self.changed()

    def move(self, parts: list[Part], part: Part, by: int) -> None:
        """Move a part up or down in its list; labels and criteria are asked in that order."""
        at = next(place for place, other in enumerate(parts) if other is part)
        to = min(max(at + by, 0), len(parts) - 1)
        parts.insert(to, parts.pop(at))
        if parts is self.data.get("criteria"):
            order = [criterion.get("name") for criterion in parts]
            for step in self.parts("steps"):
                asked = step.get("criteria")
                if isinstance(asked, list):
                    asked.sort(key=lambda name: order.index(name) if name in order else len(order))
        self.changed()

    # Looking ----------------------------------------------------------------------------------------------------------

    def parts(self, name: str) -> list[Part]:
        """The criteria, steps or consequences: those that are parts at all."""
        return _list(self.data, name)

    def criterion(self, name: object) -> Part | None:
        """The criterion of this name."""
        return next((part for part in self.parts("criteria") if part.get("name") == name), None)

    def about(self, *path: str | int) -> list[Problem]:
        """The problems of what stands at this path, or in it."""
        return [problem for problem in self.problems if problem.path[: len(path)] == path]

    def line_of(self, *path: str | int) -> int:
        """The line (from 1) on which a field stands in the text."""
        return line_of(self.text, *path)

    def _look(self) -> None:
        self.protocol, self.problems = None, []
        try:
            found = protocol_from_yaml(self.text, SOURCE)
        except InvalidInput as error:
            self.problems = error.problems
            return
        not_yet = [words.partition(". ") for words in found.not_yet()]
        self.problems = [Problem(None, f"{problem}.", remedy) for problem, _, remedy in not_yet]
        if not self.problems:
            self.protocol = found

    # Names ------------------------------------------------------------------------------------------------------------

    def _free(self, noun: str) -> str:
        taken = {part.get("name") for part in (*self.parts("criteria"), *self.parts("steps"))}
        return next(name for number in count(1) if (name := f"{noun}_{number}") not in taken)

    def _conditions(self) -> Iterator[Part]:
        """Every place where a criterion is named with values."""
        for criterion in self.parts("criteria"):
            if isinstance(criterion.get("when"), dict):
                yield criterion["when"]
        for rule in self.parts("consequences"):
            yield from (rule[name] for name in ("when", "then") if isinstance(rule.get(name), dict))

    def _renamed(self, part: Part, before: str, after: str) -> None:
        if not any(part is criterion for criterion in self.parts("criteria")) or self.criterion(before):
            return
        self._names(lambda name: after if name == before else name)

    def _names(self, change: Callable[[Any], Any]) -> None:
        """Change names of criteria wherever they are named; None takes one out."""
        lists = [step["criteria"] for step in self.parts("steps") if isinstance(step.get("criteria"), list)]
        falls = self.data.get("invalidates")
        lists += [names for names in falls.values() if isinstance(names, list)] if isinstance(falls, dict) else []
        for names in lists:
            names[:] = [new for name in names if (new := change(name)) is not None]
        for condition in self._conditions():
            new = change(condition.get("criterion"))
            if new is not None:
                condition["criterion"] = new

    def _forget(self, gone: str) -> None:
        if self.criterion(gone):
            return
        self._names(lambda name: None if name == gone else name)
        for criterion in self.parts("criteria"):
            if isinstance(criterion.get("when"), dict) and criterion["when"].get("criterion") == gone:
                del criterion["when"]
        rules = self.parts("consequences")
        rules[:] = [rule for rule in rules if gone not in {_named(rule, "when"), _named(rule, "then")}]

    def _label_renamed(self, label: Part, before: Any, after: Any) -> None:
        owner = next(
            (part for part in self.parts("criteria") if any(label is other for other in _list(part, "labels"))), None
        )
        if owner is None or any(other.get("value") == before for other in _list(owner, "labels")):
            return
        for name in ("rest", "positive"):
            if owner.get(name) == before:
                owner[name] = after
        lists = [
            owner.get("accept"),
            *(c.get("values") for c in self._conditions() if c.get("criterion") == owner.get("name")),
        ]
        for values in lists:
            if isinstance(values, list):
                values[:] = [after if value == before else value for value in values]

    # Ids --------------------------------------------------------------------------------------------------------------

    def _with_ids(self, data: Any, before: Any = None) -> Any:
        """The data with ids: those of what stood in the same place `before`, else new ones."""
        if isinstance(data, dict):
            old = before if isinstance(before, dict) else {}
            inside = {name: self._with_ids(value, old.get(name)) for name, value in data.items()}
            return {ID: old[ID] if ID in old else next(self._ids)} | inside
        if not isinstance(data, list):
            return data
        known = before if isinstance(before, list) else []
        return [self._with_ids(value, old) for value, old in zip_longest(data, known[: len(data)])]


_KEPT_EMPTY = frozenset({"name", "title", "guidelines", "value", "criterion"})
"""Texts that stay where they are empty, since they have to be there."""


_MAY_BE_EMPTY = frozenset({"shows", "criteria", "labels", "values"})
"""Lists that say something where they are empty, or have to be there."""


def typed(text: str) -> str | int:
    """The value of a label as YAML would read it: a whole number, or a word."""
    return int(text) if re.fullmatch(r"[-+]?(0|[1-9][0-9]{0,17})", text) else text


def _list(part: Part, name: str) -> list[Part]:
    """The parts in a list of a part: the list itself, to be changed, empty where there was none."""
    found = part.get(name)
    if not isinstance(found, list):
        found = part[name] = []
    return found


def _with_parts(data: Part) -> Part:
    """The data with parts where parts belong: what stands there as a mere word becomes a title."""
    found = data | {name: _parts(data[name]) for name in ("criteria", "steps", "consequences") if name in data}
    for criterion in found["criteria"] if isinstance(found.get("criteria"), list) else ():
        criterion |= {name: _parts(criterion[name]) for name in ("labels", "derived") if name in criterion}
    return found


def _parts(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [dict(inner) if isinstance(inner, dict) else {"title": str(inner)} for inner in value]


def _named(rule: Part, name: str) -> Any:
    condition = rule.get(name)
    return condition.get("criterion") if isinstance(condition, dict) else None


def _without_ids(data: Any) -> Any:
    if isinstance(data, dict):
        plain = {name: _without_ids(value) for name, value in data.items() if name != ID}
        return {name: value for name, value in plain.items() if value != [] or name in _MAY_BE_EMPTY}
    return [_without_ids(value) for value in data] if isinstance(data, list) else data


def _keep_to_the_kind(criterion: Part) -> None:
    """Take out the fields that the criterion's kind does not have, and give labels to one that needs them."""
    kind = KINDS.get(str(criterion.get("kind")))
    if kind is None:
        return
    for name in [name for name in criterion if name != ID and name not in kind.model_fields]:
        del criterion[name]
    if "labels" not in kind.model_fields:
        for name in _LABELLED & set(criterion):
            del criterion[name]
