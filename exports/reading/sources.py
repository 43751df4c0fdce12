"""Where imported data comes from: files, folders and archives, as one list of plain files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from annotators.errors import InvalidInput, listed
from annotators.files import under_way
from exports.checks import check_there, check_utf8
from exports.reading.archives import MOST_BYTES, MOST_MEMBERS, check_depth, is_archive, unpack
from exports.reading.encodings import as_utf8, encoding_of_bytes

HEAD = 64 << 10
"""Bytes of a file that a format may look at to see whether it is its own."""

_TEXTS = (".csv", ".tsv", ".json", ".jsonl")
"""Files whose beginning is shown to formats in UTF-8, in whatever encoding they are."""

DOCUMENT_ENDINGS = (".pdf", ".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")
"""Files that are documents wherever they lie; texts are documents only in a folder called `documents`."""
TEXT_ENDINGS = (".txt", ".md", ".markdown")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One plain file.

    `name` is how people know it: its own name, or its path from the folder or archive that was given, which comes
    first. `folder` is the name of the folder it lies in ("" at the root of an archive). `given` says that the file
    itself was named, not a folder or archive around it.
    """

    name: str
    path: Path
    folder: str
    given: bool

    @property
    def basename(self) -> str:
        """The file's own name, in lower case."""
        return self.path.name.lower()

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size

    def head(self) -> bytes:
        """The first bytes; of a table or JSON in UTF-8, in whatever encoding the file is."""
        with self.path.open("rb") as file:
            head = file.read(HEAD)
        if self.basename.endswith(_TEXTS) and not (encoding := encoding_of_bytes(head)).is_utf8:
            return as_utf8(head, encoding)
        return head

    def beginning(self) -> bytes:
        """The first bytes, from the first that is no byte order mark and no space."""
        return self.head().removeprefix(b"\xef\xbb\xbf").lstrip()


@dataclass(frozen=True)
class Sources:
    """Everything that one import reads, in the order it was given and by name within a folder.

    `description` has the paths as they were given, for errors; `named` what is kept of them: the names of files and
    folders, since where they lay says whose machine it was.
    """

    description: str
    named: str
    files: list[SourceFile]

    def loose_documents(self) -> Iterator[tuple[str, SourceFile]]:
        """(key, file) of the files that are documents: in a folder `documents` by their path below it, else by name."""
        for file in self.files:
            parts = PurePosixPath(file.name).parts
            if "documents" in parts[:-1]:
                below = len(parts) - 1 - parts[::-1].index("documents", 1)
                if file.basename.endswith(DOCUMENT_ENDINGS + TEXT_ENDINGS):
                    yield "/".join(parts[below + 1 :]), file
            elif file.basename.endswith(DOCUMENT_ENDINGS):
                yield file.path.name, file


@contextmanager
def open_sources(paths: Sequence[Path | str], *, into: Path | None = None, most: int = MOST_BYTES) -> Iterator[Sources]:
    """The plain files of some files, folders and archives; archives are unpacked until the block ends.

    What is given twice is read once. With `into` archives are unpacked into folders of that one, which stay; `most` is
    how many bytes they may unpack to together.

    Raises NotFound for a path that is not there, InvalidInput for links inside a folder, for too many files, for names
    that are not UTF-8, and for archives that are not safe to unpack (`exports.reading.archives`).
    """
    if not paths:
        raise InvalidInput("There is nothing to import. Name a file, a folder or an archive.")
    files: list[SourceFile] = []
    with ExitStack() as stack:
        check_there(paths)
        given = {Path(path).resolve(): Path(path) for path in paths}
        for own, path in given.items():
            if path.is_dir():
                files += _walk(own, own.name, own.name)
            elif is_archive(path):
                if into is None:
                    target = stack.enter_context(under_way())
                else:
                    target = Path(tempfile.mkdtemp(prefix="unpacked-", dir=into))
                most -= unpack(own, target, most=most)
                files += _walk(target, path.name, "")
            elif path.is_file():
                files.append(SourceFile(path.name, own, own.parent.name, given=True))
            else:
                raise InvalidInput(f"{str(path)!r} is no plain file, folder or archive.")
        named = ", ".join(path.name or own.name for own, path in given.items())
        check_utf8([named])
        for file in files:
            check_utf8([file.name, file.folder])
        yield Sources(", ".join(map(str, given.values())), named, files)


def _walk(root: Path, name: str, folder: str) -> list[SourceFile]:
    """The plain files below `root`, hidden ones left out; InvalidInput for a link."""
    files: list[SourceFile] = []
    for here, folders, names in walked(root, name):
        folders[:] = sorted(folder for folder in folders if not is_hidden(folder))
        below = here.relative_to(root)
        for entry in [*folders, *sorted(names)]:
            if (here / entry).is_symlink():
                shown = listed([f"{name}/{(below / entry).as_posix()}"])
                raise InvalidInput(f"{shown} is a link. Copy what it points at into the folder, or remove it.")
        for file_name in sorted(names):
            path = here / file_name
            if not is_hidden(file_name) and path.is_file():
                shown = f"{name}/{(below / file_name).as_posix()}"
                files.append(SourceFile(shown, path, here.name if below.parts else folder, given=False))
        if len(files) > MOST_MEMBERS:
            raise InvalidInput(f"{name} has more than {MOST_MEMBERS:,} files. Import its parts one by one.")
    return files


def walked(root: Path, name: str) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Each folder below `root` with the names of folders and files in it, as `os.walk` gives them.

    `name` is how people know `root`. InvalidInput for folders that lie too deep within one another, OSError for one
    that cannot be read: to pass it over, as `os.walk` does, would be to lose what lies there without a word.
    """

    def refuse(error: OSError) -> None:
        raise error

    for here, folders, names in os.walk(root, onerror=refuse):
        below = Path(here).relative_to(root)
        check_depth(f"{name}/{below.as_posix()}", len(below.parts))
        yield Path(here), folders, names


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is none of the data: it begins with a dot, or is one that Macs add.

    Argilla keeps the settings of a dataset in a folder `.argilla`.
    """
    return (name.startswith(".") and name != ".argilla") or name == "__MACOSX"
