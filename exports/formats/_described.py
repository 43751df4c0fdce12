"""documents.jsonl: what it says of documents, by the files that it names, and which of them must not leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def described_documents(sources: Sources, files: Sequence[SourceFile]) -> Iterator[ParsedDocument | Rejected]:
    """The rows of `files`, which describe documents; the files of these are among the sources or beside them."""
    by_name = {file.name: file for file in sources.files}
    for file in files:
        for read in json_lines(file, may_be_empty=True):  # a project without documents exports it so
            if isinstance(read, Rejected):
                yield read
                continue
            line, row = read
            try:
                yield _document(row, file, line, by_name)
            except InvalidInput as error:
                yield Rejected(file.name, line, str(error))


def staying(sources: Sources) -> set[Path]:
    """The files of documents that must not leave the machine they are on, whatever format reads the sources."""
    rows = described_documents(sources, describing(sources))
    return {row.path for row in rows if isinstance(row, ParsedDocument) and row.kept and row.path is not None}


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
    stays = row.get(KEPT_HERE, False)
    if not isinstance(stays, bool):
        raise InvalidInput(
            f"document {key!r}: `{KEPT_HERE}` is {called(stays)}, not true or false. Write true if it must not leave "
            "the machine it is on, or leave it out."
        )
    path = None
    if given is not None:
        if not isinstance(given, str) or not given:
            raise InvalidInput(
                f"document {key!r}: `path` is {given!r}, not a path. Leave it out if it is not supplied."
            )
        parts = PurePosixPath(given).parts
        if given.startswith("/") or ".." in parts or "\\" in given:
            raise InvalidInput(
                f"document {key!r}: the path {given!r} leads out of the folder. Put the document into it."
            )
        if any(is_hidden(part) for part in parts):
            raise InvalidInput(f"document {key!r}: {given!r} is a hidden file. Rename it, or leave `path` out.")
        found = by_name.get(str(PurePosixPath(file.name).parent / given))
        beside = file.path.parent / given if file.given else None
        if found is not None:
            path = found.path
        elif beside is not None and beside.is_file() and not beside.is_symlink():
            path = beside
        else:
            raise InvalidInput(
                f"document {key!r}: there is no {given!r} beside {file.path.name}. Supply it, or leave `path` out."
            )
    return ParsedDocument(file.name, line, key, title, kept, path, stays)
