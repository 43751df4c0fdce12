"""What is kept in versions, by its name, `NAME` or `NAME@VERSION`: built-in and of a project's library alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from annotators.errors import InvalidInput, NotFound, shown
from annotators.registry import Registry

_NAMED = re.compile(r"(?P<name>[^@]*)(?:@(?P<version>[1-9][0-9]{0,8}))?")


class VersionedName(NamedTuple):
    """What somebody calls a thing by: its name, and a version where they want a certain one."""

    name: str
    version: int | None = None

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


class Versioned(Protocol):
    """Anything that has a name and a version, and is one object of data."""

    @property
    def name(self) -> str:
        """The name people type."""

    @property
    def version(self) -> int:
        """Its number, from 1."""

    def model_dump(self, *, mode: str, exclude: Any = None) -> dict[str, Any]:
        """It as data."""


T = TypeVar("T", bound=Versioned)
T_co = TypeVar("T_co", covariant=True)


class Library(Protocol[T_co]):
    """What a project has of its own."""

    def names(self) -> Sequence[str]:
        """The names that it knows."""

    def versions(self, name: str) -> Sequence[int]:
        """The versions that it has of one, oldest first; none where it does not know the name."""

    def get(self, name: str, version: int) -> T_co:
        """One that it has."""


class _Empty:
    def names(self) -> Sequence[str]:
        return ()

    def versions(self, name: str) -> Sequence[int]:
        del name
        return ()

    def get(self, name: str, version: int) -> Any:
        raise KeyError(name, version)


class Names(Generic[T]):
    """The names of one sort of thing: `built_in` has those that every project knows; `example` is one of a project."""

    def __init__(self, built_in: Registry[T], *, example: str) -> None:
        self.built_in, self.example = built_in, example

    @property
    def noun(self) -> str:
        """What it is that is named."""
        return self.built_in.noun

    def parse(self, text: str) -> VersionedName:
        """`NAME` or `NAME@VERSION` in its parts; InvalidInput for a version that is no whole number from 1."""
        found = _NAMED.fullmatch(text)
        if found is None:
            raise InvalidInput(
                f"{shown(text)} is no name of a {self.noun}. Write NAME, or NAME@VERSION as in {self.example}@2."
            )
        return VersionedName(found["name"], int(found["version"]) if found["version"] else None)

    def find(self, text: str, library: Library[T] | None = None) -> T:
        """The one of this name: the project's own, else the built-in one; without a version the newest.

        The project's own come first, so that a command keeps its meaning when a later version of Assay brings a
        built-in one of the same name. NotFound lists the names, or the versions, that there are.
        """
        library = library or _Empty()
        wanted = self.parse(text)
        versions = library.versions(wanted.name)
        if not versions:
            return self._built_in(wanted, library)
        version = wanted.version or versions[-1]
        if version not in versions:
            raise NotFound(
                f"The project's {self.noun} {wanted.name!r} has no version {version}. It has: "
                f"{', '.join(map(str, versions))}."
            )
        return library.get(wanted.name, version)

    def _built_in(self, wanted: VersionedName, library: Library[T]) -> T:
        known = self.built_in.names()
        if wanted.name not in known:
            own = sorted(set(library.names()) - set(known))
            of_the_project = f" Of this project: {', '.join(own)}." if own else ""
            raise NotFound(
                f"There is no {self.noun} named {shown(wanted.name)}. Known: {', '.join(known)}.{of_the_project} "
                "A file is named with its ending, .yaml."
            )
        found = self.built_in.get(wanted.name)
        if wanted.version not in (None, found.version):
            raise NotFound(
                f"The built-in {self.noun} {found.name!r} has version {found.version} here, and not {wanted.version}. "
                f"Take {found.name} or {found.name}@{found.version}."
            )
        return found

    def same(self, one: T, other: T) -> bool:
        """Whether two say the same, whatever versions they are called."""
        first, second = (thing.model_dump(mode="json", exclude={"version"}) for thing in (one, other))
        return first == second

    def taken(self, thing: T) -> str | None:
        """Why one cannot be a project's own under its name, or None: a built-in one has it and differs."""
        if thing.name not in self.built_in.names() or self.same(thing, self.built_in.get(thing.name)):
            return None
        return (
            f"`name` is {thing.name!r}, the name of a built-in {self.noun}, and this one says something else. Give it "
            f"a name of its own, as in my_{thing.name}."
        )
