"""YAML files that people write: read as plain data, each part with its line, and what is wrong with it in words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from annotators.asking.repairs import Fault, Path
from annotators.criteria import Misfit
from annotators.errors import InvalidInput, Problem, shown

MAX_CHARACTERS = 256_000
MAX_DEPTH = 16
MAX_ERRORS = 10

_TAG = "tag:yaml.org,2002:"
_NUMBERS = {
    "int": r"^[-+]?(0|[1-9][0-9]{0,17})$",
    "float": r"^[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]+)?$",
}


FieldsAt = Callable[[Path], Sequence[str]]
"""The fields that may stand beside the last part of a path."""


class _Loader(yaml.SafeLoader):
    """YAML with fewer surprises than version 1.1: only `true`, `false`, `null`, plain numbers; `no` is a word."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as in the base class


_Loader.add_implicit_resolver(_TAG + "bool", re.compile("^(true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(_TAG + "null", re.compile("^(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
for _name, _form in _NUMBERS.items():
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(_form), list("-+0123456789"))


# Reading --------------------------------------------------------------------------------------------------------------


class YamlFile:
    """Turns YAML into plain data and remembers on which line each part stands.

    `source` is the file's name and `kind` what it is, for messages; `begins` is how one begins.
    """

    def __init__(self, source: str, *, kind: str, begins: str) -> None:
        self.source, self.kind, self.begins = source, kind, begins
        self.lines: dict[Path, int] = {(): 1}
        self.twice: list[tuple[int, str]] = []

    def wrong(self, line: int, message: str) -> InvalidInput:
        """The error that names this line."""
        return InvalidInput(f"{self.source}, line {line}: {message}", [Problem.of(message, line=line)])

    def read(self, text: str) -> dict[str, Any]:
        """What the file says; InvalidInput for what is no YAML, or no plain data."""
        if len(text) > MAX_CHARACTERS:
            raise InvalidInput(
                f"{self.source} has {len(text)} characters; a {self.kind} may have {MAX_CHARACTERS}. Shorten "
                "its texts, or check that this is the right file."
            )
        try:
            self._refuse_what_plain_data_does_not_need(text)
            root = yaml.compose(text, Loader=_Loader)
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            raise self.wrong(line, "there is a control character in the text. Remove it.") from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise self.wrong(
                mark.line + 1 if mark else 1,
                f"this is not YAML: {error.problem}. Check indentation, colons and quotes there and on the line above.",
            ) from None
        if not isinstance(root, yaml.MappingNode):
            raise self.wrong(1, f"a {self.kind} is a list of fields, beginning like `{self.begins}`.")
        data = self._plain(root, ())
        assert isinstance(data, dict)  # made from a mapping
        return data

    def _refuse_what_plain_data_does_not_need(self, text: str) -> None:
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            anchor = getattr(event, "anchor", None)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                raise self.wrong(line, f"more than {MAX_DEPTH} levels are nested here. Six are needed.")
            if anchor:
                raise self.wrong(line, f"anchors and aliases (&{anchor}, *{anchor}) are not used. Write it out.")

    def _plain(self, node: yaml.Node, path: Path) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return dict(self._entries(node, path))
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self._plain(child, (*path, position)) for position, child in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.tag.removeprefix(_TAG) in {"str", "null", "bool", *_NUMBERS}:
            return _scalar(node.tag.removeprefix(_TAG), node.value, path)
        raise self.wrong(node.start_mark.line + 1, f"the tag {node.tag!r} is not used. Write plain text without it.")

    def _entries(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, Any]]:
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.wrong(line, "a field's name is a word. Write `name: value`.")
            key = key_node.value
            if key in first:
                again = f"`{key}` stands here again; it is on line {first[key]} already. Remove one."
                self.twice.append((line, again))
                continue
            first[key] = line
            self.lines[*path, key] = line
            value = self._plain(value_node, (*path, key))
            if value is not None:
                yield key, value

    # Errors -----------------------------------------------------------------------------------------------------------

    def refused(self, at_once: Sequence[Fault], everything: Sequence[Fault]) -> InvalidInput:
        """What is wrong, in the order of the file: in words what is seen `at_once`, and as problems everything."""
        seen, ordered = self._in_order(at_once), self._in_order(everything)
        messages = [f"{self.source}, line {line}: {message}" for line, message, _ in seen[:MAX_ERRORS]]
        if len(seen) > MAX_ERRORS:
            messages.append(f"… and {len(seen) - MAX_ERRORS} more. Correct these first.")
        return InvalidInput("\n".join(messages), [Problem.of(message, path, line) for line, message, path in ordered])

    def _in_order(self, faults: Sequence[Fault]) -> list[tuple[int, str, Path]]:
        first: dict[Path, str] = {}
        for fault in faults:
            first.setdefault(fault.path, fault.message)
        found = [(self.line_of(path), message, path) for path, message in first.items()]
        twice = [(line, message, ()) for line, message in self.twice]
        return sorted([*twice, *found], key=lambda problem: problem[:2])

    def line_of(self, path: Path) -> int:
        """The line of a part, or of the nearest part around it that stands in the file."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def _scalar(kind: str, text: str, path: Path) -> str | int | float | None:
    match kind:
        case "null":
            return None
        case "int":
            return int(text) if re.match(_NUMBERS["int"], text) else text
        case "float":
            return float(text) if re.match(_NUMBERS["float"], text) else text
        case "bool" if path[-1] in ("value", "rest") or path[-2:-1] in {("accept",), ("values",)}:
            return text.lower()
    return text


def faults_of(error: ValidationError, known: FieldsAt) -> Iterator[Fault]:
    """What pydantic found, in words; `known` says which fields may stand at a path."""
    for problem in error.errors(include_url=False):
        if problem["type"] != "default_factory_not_called":  # a default that goes by a field that is wrong, and named
            path, message = _where_and_what(problem, known)
            yield Fault(path, problem["type"], message)


def _where_and_what(error: ErrorDetails, known: FieldsAt) -> tuple[Path, str]:
    """The path of an error in the file, and its message."""
    path: Path = tuple(part for part in error["loc"] if part not in _NOT_IN_THE_FILE)
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Misfit):
        return (*path, *cause.path), f"{cause}."
    return path, _message(error, path, known)


def _message(error: ErrorDetails, path: Path, known: FieldsAt) -> str:
    what, given = _in_words(path), error["input"]
    match error["type"]:
        case "missing":
            return f"{what} is missing. Add it."
        case "extra_forbidden":
            fields = known(path)
            near = difflib.get_close_matches(str(path[-1]), fields, 1)
            return (
                f"{what} is no field. "
                + (f"Did you mean `{near[0]}`? " if near else "")
                + f"Known: {', '.join(fields)}."
            )
        case "string_type":
            return f"{what} should be a text. Write it on one line, or after `|` on several."
        case "string_pattern_mismatch":
            return f"{what} is {shown(given)}. Use lower-case letters, digits and _, beginning with a letter."
        case "list_type" | "tuple_type":
            return f"{what} should be a list. Write [a, b], or one entry a line after `- `."
        case "dict_type" | "model_type" | "model_attributes_type":
            return f"{what} should be fields with values, like `name: value`."
        case "enum" | "literal_error":
            return f"{what} is {shown(given)}. Allowed: {error.get('ctx', {}).get('expected')}."
        case "bool_parsing" | "bool_type":
            return f"{what} is {shown(given)}. Write true or false."
        case "too_short" | "string_too_short":
            return f"{what} is empty. Give at least one."
        case "value_error":
            return f"{what}: {error['ctx']['error']}"
    return f"{what} is {shown(given)}: {error['msg'][:1].lower()}{error['msg'][1:]}. Change it."


_NOT_IN_THE_FILE = {"str", "int", "function-before[_word(), str]"}
"""What pydantic adds to the place of an error in a value that may be of two types."""

_ONE_OF = {
    "criteria": "criterion",
    "consequences": "consequence",
    "steps": "step",
    "labels": "label",
    "values": "value",
    "accept": "accepted label",
    "derived": "derived unit",
    "bands": "band",
}


def _in_words(path: Path) -> str:
    """("criteria", 1, "labels", 0, "key") → `key` of label 1 of criterion 2."""
    words: list[str] = []
    for position, part in enumerate(path):
        if isinstance(part, int):
            list_name = str(path[position - 1])
            words[-1] = (
                f"{_ONE_OF[list_name]} {part + 1}" if list_name in _ONE_OF else f"entry {part + 1} of `{list_name}`"
            )
        else:
            words.append(f"`{part}`")
    return " of ".join(reversed(words)) or "the file"


# Writing --------------------------------------------------------------------------------------------------------------


def written(data: Any) -> str:
    """Plain data as a YAML file that `YamlFile` reads back as the same."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


class InLine(list[Any]):
    """A list that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Block scalars for texts of several lines, lists indented under their name."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    if re.search("[\r\x85\u2028\u2029]", text):
        style = '"'  # inside a block scalar YAML would read these line ends as others
    return dumper.represent_scalar(_TAG + "str", text, style=style)


_Dumper.add_representer(str, _write_text)
_Dumper.add_representer(InLine, lambda dumper, value: dumper.represent_sequence(_TAG + "seq", value, flow_style=True))
