"""What formats of plain files share: where the files came from, how far they are read, the documents beside them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from annotators.items.parsed import ParsedDocument, ParsedItem, Rejected
from exports.formats._described import described
from exports.reading.addressed import Addressed
from exports.reading.json_files import Meter
from exports.reading.sources import SourceFile, Sources


class FilesReading(ABC):
    """The files of one source, and the documents that lie beside them.

    `items` may be read more than once, so what a format counts on the way is put back when it begins.
    """

    format: str

    def __init__(self, sources: Sources, files: list[SourceFile]) -> None:
        self.sources, self.files, self.meter = sources, files, Meter()

    @property
    def source(self) -> str:
        """What was given, by its name."""
        return self.sources.named

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """The documents that are supplied, by their key, and those that are said to stay where they are."""
        said = described(self.sources, elsewhere=True)
        yield from said.told_elsewhere()
        for key, file in self.sources.loose_documents():
            stays = said.stays(file.path, key)
            yield ParsedDocument(file.name, 1, key, PurePosixPath(key).name, path=file.path, kept=stays)

    @cached_property
    def addressed(self) -> Addressed:
        """Which document an address means that stands in the data."""
        return Addressed([key for key, _ in self.sources.loose_documents()])

    @abstractmethod
    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items of every file of the format; any other that only lies beside them is passed over."""

    def notes(self) -> Sequence[str]:
        """Nothing, unless a format has something to say."""
        return ()
