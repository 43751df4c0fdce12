"""documents.jsonl: what it says of documents, by the files that it names, and which of them must not leave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from annotators.errors import InvalidInput
from annotators.items.checks import called, document_key
from annotators.items.parsed import KEPT_HERE, MOST_PAGES, N_PAGES, ParsedDocument, Rejected
from exports.reading.json_files import json_lines
from exports.reading.sources import SourceFile, Sources, is_hidden

DOCUMENTS = "documents.jsonl"

_FIELDS = frozenset(("key", "title", "path", KEPT_HERE, "metadata"))


def describing(sources: Sources) -> list[SourceFile]:
    """The files that describe documents."""
    return [file for file in sources.files if file.basename == DOCUMENTS]


@dataclass(frozen=True)
class Described:
    """What the rows that describe documents say, and of which documents and files that they must not leave.

    A bad row that says so, or says it in a way that cannot be read, is followed by one that has the key and the mark
    alone: whatever else is wrong with it, the document is known, and stays. `named` are the files of good rows,
    `bad` says that there is a bad one.
    """

    rows: list[ParsedDocument | Rejected]
    keys: set[str]
    files: set[Path]
    named: set[Path]
    bad: bool

    def stays(self, file: Path, *keys: str) -> bool:
        """Whether a file that is known by these keys must not leave the machine that it is on.

        Where a row is bad every file that no good one names is held back: it may be that row's, which may have said so.
        """
        unsure = self.bad and file not in self.named
        return unsure or file in self.files or not self.keys.isdisjoint(keys)

    def told_elsewhere(self) -> Iterator[ParsedDocument | Rejected]:
        """What a format that has no such rows takes from them: the bad ones, and the marks."""
        for row in self.rows:
            if isinstance(row, Rejected):
                yield row
            elif row.kept:
                yield ParsedDocument(row.file, row.line, row.key, kept=True)


def described(sources: Sources, *, elsewhere: bool = False) -> Described:
    """What is said of documents in the sources; the files of these are among the sources or beside the rows.

    `elsewhere`: another format reads the sources. Rows with neither a key nor a mark are then of a file that only has
    the same name.
    """
    by_name = {file.name: file for file in sources.files}
    rows: list[ParsedDocument | Rejected] = []
    files: set[Path] = set()
    for file in describing(sources):
        for read in json_lines(file, may_be_empty=True):  # a project without documents exports it so
            if isinstance(read, Rejected):
                rows.append(read)
                continue
            line, row = read
            if elsewhere and not (isinstance(row, dict) and ("key" in row or KEPT_HERE in row)):
                continue
            try:
                rows.append(_document(row, file, line, by_name))
            except InvalidInput as error:
                rows.append(Rejected(file.name, line, str(error)))
                if isinstance(row, dict) and (row.get(KEPT_HERE, False) is not False or _misspelt(row)):
                    with suppress(InvalidInput):
                        rows.append(ParsedDocument(file.name, line, document_key(row.get("key"), "key"), kept=True))
                    with suppress(InvalidInput):
                        files.update(_files_of(row.get("path"), "", file, by_name))
    return _marked(sources, rows, files)


def _marked(sources: Sources, rows: list[ParsedDocument | Rejected], files: set[Path]) -> Described:
    """The rows, of which those that name the file of a marked one are marked as well."""
    documents = [row for row in rows if isinstance(row, ParsedDocument)]
    named = {row.path for row in documents if row.path is not None}
    keys = {row.key for row in documents if row.kept}
    files |= {row.path for row in documents if row.path is not None and row.key in keys}
    files |= {file.path for key, file in sources.loose_documents() if key in keys}
    rows = [replace(row, kept=True) if isinstance(row, ParsedDocument) and row.path in files else row for row in rows]
    keys |= {row.key for row in documents if row.path in files}
    return Described(rows, keys, files, named, len(documents) < len(rows))


def _misspelt(row: dict[str, Any]) -> str | None:
    """What is called as the mark is but for capitals and signs between words, or stands among the metadata."""
    inside = row.get("metadata")
    names = [*(name for name in row if name != KEPT_HERE), *(inside if isinstance(inside, dict) else ())]
    return next((name for name in names if re.sub(r"[\W_]", "", name).casefold() == "kepthere"), None)


def _document(row: Any, file: SourceFile, line: int, by_name: dict[str, SourceFile]) -> ParsedDocument:
    if not isinstance(row, dict):
        raise InvalidInput("the row is not an object. Write one {…} with at least a key a line.")
    key = document_key(row.get("key"), "key")
    title, given = row.get("title") or "", row.get("path")
    metadata = row.get("metadata") or {}
    if not isinstance(title, str) or not isinstance(metadata, dict):
        raise InvalidInput(f"document {key!r}: `title` is a text and `metadata` an object. Correct the row.")
    kept = {**{name: value for name, value in row.items() if name not in _FIELDS}, **metadata}
    pages = kept.get(N_PAGES)
    if pages is not None and (not isinstance(pages, int) or isinstance(pages, bool) or not 1 <= pages <= MOST_PAGES):
        raise InvalidInput(
            f"document {key!r}: `n_pages` is {called(pages)}. Write how many pages it has, from 1 to {MOST_PAGES:,}, "
            "or leave it out."
        )
    if wrong := _misspelt(row):
        raise InvalidInput(
            f"document {key!r}: {wrong!r} would be metadata. Write `{KEPT_HERE}` beside the key if the document must "
            "not leave the machine it is on, or call it otherwise."
        )
    stays = row.get(KEPT_HERE, False)
    if not isinstance(stays, bool):
        raise InvalidInput(
            f"document {key!r}: `{KEPT_HERE}` is {called(stays)}, not true or false. Write true if it must not leave "
            "the machine it is on, or leave it out."
        )
    path = next(iter(_files_of(given, key, file, by_name)), None)
    return ParsedDocument(file.name, line, key, title, kept, path, stays)


def _files_of(given: Any, key: str, file: SourceFile, by_name: dict[str, SourceFile]) -> list[Path]:
    """The file that the path of a row names, none where there is no path; InvalidInput for one that leads to none."""
    if given is None:
        return []
    if not isinstance(given, str) or not given:
        raise InvalidInput(f"document {key!r}: `path` is {given!r}, not a path. Leave it out if it is not supplied.")
    parts = PurePosixPath(given).parts
    if given.startswith("/") or ".." in parts or "\\" in given:
        raise InvalidInput(f"document {key!r}: the path {given!r} leads out of the folder. Put the document into it.")
    if any(is_hidden(part) for part in parts):
        raise InvalidInput(f"document {key!r}: {given!r} is a hidden file. Rename it, or leave `path` out.")
    found = by_name.get(str(PurePosixPath(file.name).parent / given))
    if found is not None:
        return [found.path]
    beside = file.path.parent / given if file.given else None
    if beside is None or not beside.is_file() or beside.is_symlink():
        raise InvalidInput(
            f"document {key!r}: there is no {given!r} beside {file.path.name}. Supply it, or leave `path` out."
        )
    return [beside]
