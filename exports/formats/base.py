"""What a format is: it can tell its own files, read them into the neutral form, and perhaps write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from annotators.errors import InvalidInput
from annotators.registry import Registry
from db.parsed import Reading
from exports.reading import Meter
from exports.sources import SourceFile, Sources


class FileReading(Reading, Protocol):
    """The files of one source, as a format reads them."""

    @property
    def meter(self) -> Meter:
        """How far the stream of items has come."""


class Format(Protocol):
    """One format. Its reader, and its writer if it has one, share its file.

    `title` and `help` are for people: what it is called and what it takes.
    """

    name: str
    title: str
    help: str

    def claims(self, file: SourceFile) -> bool:
        """Whether the file looks like one of this format's; from its name and first bytes only."""

    def read(self, sources: Sources) -> FileReading:
        """The sources as documents and items; InvalidInput when there is nothing of this format in them."""


FORMATS: Registry[Format] = Registry("format", "exports.formats")
"""All formats that items are imported from, by name."""


def recognise(sources: Sources) -> Format:
    """The one format that claims some of these files; InvalidInput when there is none, or more than one."""
    found = [one for one in FORMATS if any(one.claims(file) for file in sources.files)]
    if len(found) == 1:
        return found[0]
    if not found:
        known = ", ".join(f"{one.name} ({one.title})" for one in FORMATS)
        raise InvalidInput(f"{sources.description}: no format recognises these files. Known: {known}.")
    names = _words([one.name for one in found])
    raise InvalidInput(f"{sources.description}: {names} all recognise these files. Say which with --format.")


def _words(names: Sequence[str]) -> str:
    return " and ".join(", ".join(names).rsplit(", ", 1))
