"""Readers of files that are uploaded: not whoever wants what is in one opens it, but a process of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, get_type_hints

T = TypeVar("T")
P = ParamSpec("P")

Ask = Callable[[str, Sequence[Any]], bytes]
"""What a reader of this name finds in one upload, as JSON: a process of its own reads it, with what else is given."""

_UPLOADS: ContextVar[Mapping[Path, Ask] | None] = ContextVar("uploads", default=None)
_READERS: dict[str, Callable[..., Any]] = {}


@contextmanager
def uploaded(files: Mapping[Path, Ask]) -> Iterator[None]:
    """In the block these paths stand for uploads, which `Ask` reads; no file need be there."""
    token = _UPLOADS.set(files)
    try:
        yield
    finally:
        _UPLOADS.reset(token)


def reads_uploads(reader: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """Enter a reader of one file. Of a path that stands for an upload it answers what a process of its own has read.

    What else it takes is plain data, by position; what it returns is as well, and its types say how to make it of JSON.
    """
    name = f"{reader.__module__}:{reader.__name__}"
    _READERS[name] = reader

    @wraps(reader)
    def read(path: Path, /, *given: P.args, **named: P.kwargs) -> T:
        ask = (_UPLOADS.get() or {}).get(path)
        return reader(path, *given, **named) if ask is None else _made(reader, ask(name, given))

    return read


def _made(reader: Callable[..., T], found: bytes) -> T:
    from pydantic import TypeAdapter  # noqa: PLC0415 - the process that reads lacks it

    adapter: TypeAdapter[T] = TypeAdapter(get_type_hints(reader)["return"])
    return adapter.validate_json(found)


def reader_named(name: str) -> Callable[..., Any]:
    """The reader that was entered under this name, by the module that enters it."""
    importlib.import_module(name.partition(":")[0])
    return _READERS[name]
