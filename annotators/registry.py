"""One door for built-in and third-party protocols, scorers, judges and formats: a folder scan and an entry point."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import re
from collections.abc import Iterator
from threading import RLock
from typing import Generic, Protocol, TypeVar

from annotators.errors import AssayError, NotFound, shown


class Named(Protocol):
    """Anything that carries the name it is registered under."""

    @property
    def name(self) -> str:
        """The name people type."""


T = TypeVar("T", bound=Named)


_NAME = re.compile(r"[a-z][a-z0-9_]*").fullmatch


def import_modules(package: str) -> None:
    """Import every module of a package, so that what they define registers itself."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")


class Registry(Generic[T]):
    """Things of one sort by name, filled on first use.

    `package` is scanned: every module in it is imported once, and registers what it defines by calling `register`.
    Packages of third parties are found through the entry-point group of the same name as the package's registry
    (`assay.protocols`, `assay.scorers`, `assay.formats`, `assay.prompts`, `assay.jobs`): the entry point names a
    module, which registers likewise (docs/plug-ins.md). Not `extended`, only what lies in the package is known.
    `of_words`: names are words, with spaces between them.
    """

    def __init__(self, noun: str, package: str, *, extended: bool = True, of_words: bool = False) -> None:
        self.noun = noun
        self.of_words = of_words
        self.package = package
        self.extended = extended
        self._things: dict[str, T] = {}
        self._loaded = False
        self._lock = RLock()

    def register(self, thing: T) -> T:
        """Add `thing` under its name; a second thing of that name, or a name of other signs, is a programming error."""
        if not _NAME(thing.name.replace(" ", "_") if self.of_words else thing.name):
            raise ValueError(f"a {self.noun} is named {thing.name!r}: a name has small letters, digits and _")
        if thing.name in self._things:
            raise ValueError(f"two {self.noun}s are named {thing.name!r}")
        self._things[thing.name] = thing
        return thing

    def _load(self) -> None:
        with self._lock:
            if self._loaded:
                return
            import_modules(self.package)
            if self.extended:
                for entry in importlib.metadata.entry_points(group=f"assay.{self.noun}s"):
                    self._load_entry(entry)
            self._loaded = True

    def _load_entry(self, entry: importlib.metadata.EntryPoint) -> None:
        """Import what a third party's package adds; AssayError names the package where that fails, whatever it is."""
        try:
            entry.load()
        except Exception as error:
            package = "" if entry.dist is None else f" of the package {entry.dist.name} {entry.dist.version}"
            raise AssayError(
                f"The {self.noun}s{package} ({entry.value}) cannot be loaded: {type(error).__name__}: {error}. Repair "
                "the package, or uninstall it."
            ) from error

    def get(self, name: str) -> T:
        """The thing called `name`; NotFound lists the known names."""
        self._load()
        try:
            return self._things[name]
        except KeyError:
            known = ", ".join(sorted(self._things))
            raise NotFound(f"There is no {self.noun} named {shown(name)}. Known: {known}.") from None

    def names(self) -> list[str]:
        """All names, sorted."""
        self._load()
        return sorted(self._things)

    def __iter__(self) -> Iterator[T]:
        return (self._things[name] for name in self.names())
