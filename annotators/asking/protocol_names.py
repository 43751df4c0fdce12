"""Protocols by their names, `NAME` or `NAME@VERSION`: the built-in ones and those of a project's library alike."""

from __future__ import annotations

import re
import typing
from collections.abc import Sequence

from annotators.errors import InvalidInput, NotFound, shown
from annotators.protocols import PROTOCOLS, Protocol

_NAMED = re.compile(r"(?P<name>[^@]*)(?:@(?P<version>[1-9][0-9]{0,8}))?")


class ProtocolName(typing.NamedTuple):
    """What somebody calls a protocol by: its name, and a version where they want a certain one."""

    name: str
    version: int | None = None

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


class Library(typing.Protocol):
    """The protocols that a project has of its own."""

    def names(self) -> Sequence[str]:
        """The names that it knows."""

    def versions(self, name: str) -> Sequence[int]:
        """The versions that it has of one, oldest first; none where it does not know the name."""

    def get(self, name: str, version: int) -> Protocol:
        """One that it has."""


class _Empty:
    def names(self) -> Sequence[str]:
        return ()

    def versions(self, name: str) -> Sequence[int]:
        del name
        return ()

    def get(self, name: str, version: int) -> Protocol:
        raise KeyError(name, version)


def protocol_name(text: str) -> ProtocolName:
    """`NAME` or `NAME@VERSION` in its parts; InvalidInput for a version that is no whole number from 1."""
    found = _NAMED.fullmatch(text)
    if found is None:
        raise InvalidInput(f"{shown(text)} is no name of a protocol. Write NAME, or NAME@VERSION as in tone_check@2.")
    return ProtocolName(found["name"], int(found["version"]) if found["version"] else None)


def find_protocol(text: str, library: Library | None = None) -> Protocol:
    """The protocol of this name: the project's own, else the built-in one; without a version the newest.

    The project's own come first, so that a command keeps its meaning when a later version of Assay brings a built-in
    protocol of the same name. NotFound lists the names, or the versions, that there are.
    """
    library = library or _Empty()
    wanted = protocol_name(text)
    versions = library.versions(wanted.name)
    if not versions:
        known = PROTOCOLS.names()
        if wanted.name not in known:
            own = sorted(set(library.names()) - set(known))
            of_the_project = f" Of this project: {', '.join(own)}." if own else ""
            raise NotFound(
                f"There is no protocol named {shown(wanted.name)}. Known: {', '.join(known)}.{of_the_project} "
                "A file is named with its ending, .yaml."
            )
        found = PROTOCOLS.get(wanted.name)
        if wanted.version not in (None, found.version):
            raise NotFound(
                f"The built-in protocol {found.name!r} has version {found.version} here, and not {wanted.version}. "
                f"Take {found.name} or {found.name}@{found.version}."
            )
        return found
    version = wanted.version or versions[-1]
    if version not in versions:
        raise NotFound(
            f"The project's protocol {wanted.name!r} has no version {version}. It has: {', '.join(map(str, versions))}."
        )
    return library.get(wanted.name, version)


def say_the_same(one: Protocol, other: Protocol) -> bool:
    """Whether two protocols are the same whatever versions they are called."""
    return one.model_copy(update={"version": other.version}).digest() == other.digest()


def taken_name(protocol: Protocol) -> str | None:
    """Why a protocol cannot be one of a project's own under its name, or None: a built-in one has it and differs."""
    if protocol.name not in PROTOCOLS.names() or say_the_same(protocol, PROTOCOLS.get(protocol.name)):
        return None
    return (
        f"`name` is {protocol.name!r}, the name of a built-in protocol, and this one says something else. Give it a "
        f"name of its own, as in my_{protocol.name}."
    )
