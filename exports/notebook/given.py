"""What calls of a notebook are given: checked against what their signatures say, and errors in the words of a call.

pydantic's `validate_call` would do the checking, but takes a text for a number where it is not strict, refuses NumPy's
numbers where it is, and its errors are to be put into words all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from inspect import Signature, signature
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Any, Literal, ParamSpec, TypeVar, get_args, get_origin

from annotators.arrays import np
from annotators.errors import AssayError, InvalidInput, refusal_of, shown

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function with its arguments checked against its signature, before it does anything.

    Whole numbers and truths of NumPy become Python's, and whatever has texts in a row a tuple of them. Raises
    InvalidInput for an argument that is missing, unknown or of another type, and where the machine refuses a file.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = _given(function, args, kwargs)
        try:
            return function(*given.args, **given.kwargs)
        except OSError as error:
            if (said := refusal_of(error)) is None:
                raise
            raise InvalidInput(said) from error

    return call


@cache
def _signature(function: Callable[..., Any]) -> Signature:
    return signature(function, eval_str=True)


def _given(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The arguments of a call, each as what its parameter says."""
    of = _signature(function)
    try:
        given = of.bind(*args, **kwargs)
    except TypeError as error:
        known = ", ".join(name for name in of.parameters if name != "self") or "none"
        raise InvalidInput(f"{function.__name__}: {error}. The arguments are: {known}.") from None
    for name, value in given.arguments.items():
        hint = of.parameters[name].annotation
        if name == "self" or of.parameters[name].kind is of.parameters[name].VAR_KEYWORD:
            continue
        taken = _taken(value, hint)
        if taken is _NOT:
            raise InvalidInput(f"{name} is {_said(value)}. Give {_wanted(hint)}.")
        given.arguments[name] = taken
    return given


_NOT = object()
"""In place of a value that is not what was asked for."""


def _taken(value: Any, hint: Any) -> Any:
    """The value as what a type of a signature says, or _NOT."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _taken(value, str)  # which words there are the operation says
    if origin in (Sequence, Mapping):
        return _several(value, parts) if origin is Sequence else _mapping(value, parts)
    if parts:
        return next((taken for part in parts if (taken := _taken(value, part)) is not _NOT), _NOT)
    if hint is str:
        return str.__str__(value) if isinstance(value, str) and is_written(value) else _NOT
    if hint is bool:
        return bool(value) if isinstance(value, bool | np.bool_) else _NOT
    if hint in (int, float):
        if isinstance(value, bool) or not isinstance(value, Real):
            return _NOT
        return int(value) if isinstance(value, Integral) else float(value) if hint is float else _NOT
    return value if isinstance(value, hint) else _NOT


def is_written(text: str) -> bool:
    """Whether a text can be written anywhere: no half of a character, and no end of a text within it."""
    return "\0" not in text and not re.search("[\ud800-\udfff]", text)


def _several(value: Any, parts: Sequence[Any]) -> Any:
    """Several in a row; what has no places, as a set, is in no order that stays."""
    if isinstance(value, str | bytes | Mapping) or getattr(value, "ndim", 1) != 1:
        return _NOT
    if not isinstance(value, Collection) or not hasattr(value, "__getitem__"):
        return _NOT
    taken = tuple(_taken(one, parts[0]) for one in value)
    return _NOT if any(one is _NOT for one in taken) else taken


def _mapping(value: Any, parts: Sequence[Any]) -> Any:
    if not isinstance(value, Mapping):
        return _NOT
    taken = [(_taken(key, parts[0]), _taken(one, parts[1])) for key, one in value.items()]
    return _NOT if any(part is _NOT for pair in taken for part in pair) else dict(taken)


_SHOWN = (NoneType, bool, int, float, str, bytes, list, tuple, dict)


def _said(value: Any) -> str:
    """A wrong value as an error names it; what would not tell it apart by its type."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    name = kind.__qualname__ if package == "builtins" else f"{package}.{kind.__qualname__}"
    try:
        return shown(value) if kind in _SHOWN else f"of the type {name}"
    except Exception:  # what it holds cannot say what it is
        return f"of the type {name}"


_WORDS = {
    str: "a text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    NoneType: "None",
    Path: "a path",
}


def _wanted(hint: Any) -> str:
    """What a type of a signature asks for, in words."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(repr(part) for part in parts)
    if origin is Sequence:
        return f"several in a list, each {_wanted(parts[0])}"
    if origin is Mapping:
        return f"a dict, with {_wanted(parts[0])} → {_wanted(parts[1])}"
    if parts:
        return " or ".join(dict.fromkeys(_wanted(part) for part in parts))
    return _WORDS.get(hint) or f"a {'pandas ' * (hint.__name__ == 'DataFrame')}{hint.__name__}"


def several(given: str | Sequence[Any]) -> tuple[Any, ...]:
    """What may be one name, or several of them."""
    return (given,) if isinstance(given, str) else tuple(given)


def plain(value: Any) -> Any:
    """A number or a truth of NumPy as Python's, in lists and dicts as well, and a row of things as a list of them."""
    if isinstance(value, dict):
        return {plain(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1:
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


_IN_PYTHON = {
    "--map question=COLUMN": "mapping={'question': COLUMN}",
    "--map": "mapping={…}",
    "--scorer": "scorers=[…]",
    "--labels A,B,C": "labels=[A, B, C]",
    "frame.parquet": "the frame",
}
"""What commands say → what stands for it in a call."""

_COMMAND = re.compile(r"(\bassay [a-z][^`\n]*)")
"""A command within a message: up to its closing mark, or the end of the line."""

_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?![\w-])")


@contextmanager
def in_python() -> Iterator[None]:
    """Let errors name the arguments of a call where they name the options of a command; commands stay as they are."""
    try:
        yield
    except AssayError as error:
        said = "".join(part if _COMMAND.match(part) else _argument_for(part) for part in _COMMAND.split(str(error)))
        if said == str(error):
            raise
        raise type(error)(said) from None


def _argument_for(words: str) -> str:
    """Words about options, as words about arguments."""
    for option, argument in _IN_PYTHON.items():
        words = words.replace(option, argument)
    return _OPTION.sub(lambda found: f"{found[1].replace('-', '_')}=…", words)
