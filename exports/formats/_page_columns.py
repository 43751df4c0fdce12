"""Columns of a table that say document and page: each page becomes a page of evidence of the item."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotators.errors import InvalidInput
from annotators.items.checks import called
from annotators.items.normal import Normal
from annotators.lists import list_in

PAGES = "pages"
"""What the mapping of columns calls a column of pages, beside the fields of an item."""

MOST_OF_A_RANGE = 1_000
"""Pages that `3-5` may stand for: what is longer is a mistake in a cell."""

_PAGES = (
    "pages", "page", "page_number", "page_numbers", "page_no", "page_nr", "evidence_page", "evidence_pages", "seite",
    "seiten",
)  # fmt: skip
_DOCUMENTS = ("doc", "file", "filename", "pdf", "pdf_name", "dokument", "datei")
"""What columns of documents are called that are known as such only beside a column of pages."""

_ONE = re.compile(r"\s*(\d{1,9})(?:\.0+)?\s*")
_RANGE = re.compile(r"\s*(\d{1,9})\s*[-–—]\s*(\d{1,9})\s*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def plain_name(heading: str) -> str:
    """A heading as columns are known by it: small letters, _ for spaces."""
    return heading.casefold().replace(" ", "_").replace("-", "_")


def is_of_pages(heading: str) -> bool:
    """Whether a column of this name may be read as pages, or as the documents beside them."""
    return plain_name(heading) in (*_PAGES, *_DOCUMENTS)


def with_pages(
    headings: Sequence[str], found: dict[str, list[str]], mapping: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The columns of fields, and that of pages where there is one, said or known by its name, beside documents.

    Where no column is known as documents, those are tried that are called so only beside pages. A table with a column
    of evidence keeps its pages as they are, unless they are said: they may be anything there. InvalidInput for pages
    of no document, and for more than one column of them.
    """
    said = [column for column in mapping.get(PAGES, ()) if column]
    if len(said) > 1:
        raise InvalidInput(f"`{PAGES}` is read from one column, not from {' and '.join(map(repr, said))}.")
    taken = {column for columns in found.values() for column in columns}
    column = said[0] if said else None
    if PAGES not in mapping and "evidence" not in found:
        column = _known(_PAGES, headings, taken)
    if column is None:
        return found
    if "documents" not in found and "documents" not in mapping:
        document = _known(_DOCUMENTS, headings, taken | {column})
        found = found if document is None else {**found, "documents": [document]}
    if "documents" in found:
        return {**found, PAGES: [column]}
    if said:
        raise InvalidInput(
            f"the pages in {column!r} are of no document. Say which column names it with --map documents=COLUMN."
        )
    return found


def _known(names: Sequence[str], headings: Sequence[str], taken: set[str]) -> str | None:
    plain = {plain_name(heading): heading for heading in reversed(headings) if heading not in taken}
    return next((plain[name] for name in names if name in plain), None)


def rule_of(columns: Mapping[str, Sequence[str]]) -> str:
    """The rule by which pages are read, for the preview; nothing where no column is one of pages."""
    if PAGES not in columns:
        return ""
    documents = ", ".join(map(repr, columns["documents"]))
    return (
        f"Each page in {columns[PAGES][0]!r} becomes a page of evidence (role gold) of the document in {documents}. "
        "Pages count from 1; 3;5 and 3-5 are several."
    )


def evidence_of(column: str, cell: Any, documents: Sequence[Any]) -> list[Normal]:
    """The units of evidence that a cell of pages stands for, one a page.

    With one document all pages are its; with several there is an entry for each, in their order.
    """
    if not documents:
        raise InvalidInput(f"the column {column!r} is {called(cell)}, and the row names no document that has the page.")
    entries = _entries(cell)
    if len(documents) == 1:
        of_each = [[page for entry in entries for page in _pages(column, cell, entry)]]
    elif len(entries) == len(documents):
        of_each = [_pages(column, cell, entry) for entry in entries]
    else:
        raise InvalidInput(
            f"the column {column!r} is {called(cell)}, and the row names {len(documents)} documents. Write one page, "
            "or one list of pages, for each of them, in their order."
        )
    return [
        {"kind": "page", "role": "gold", "document": document, "pages": [page]}
        for document, pages in zip(documents, of_each, strict=True)
        for page in dict.fromkeys(pages)
    ]


def _entries(cell: Any) -> list[Any]:
    """What a cell lists: of a text what stands between ; or ,."""
    if isinstance(cell, list):
        return cell
    if not isinstance(cell, str):
        return [cell]
    listed = list_in(cell)
    return [part for part in re.split("[;,]", cell) if part.strip()] if listed is None else listed


def _pages(column: str, cell: Any, entry: Any) -> list[int]:
    """The numbers that one entry of a cell stands for."""
    if isinstance(entry, list):
        return [page for part in entry for page in _pages(column, cell, part)]
    if isinstance(entry, str) and (found := _RANGE.fullmatch(entry)):
        first, last = int(found[1]), int(found[2])
        if first < 1 or not first <= last < first + MOST_OF_A_RANGE:
            raise InvalidInput(
                f"the column {column!r} is {called(cell)}. A range of pages goes from 1 on, upwards, over "
                f"{MOST_OF_A_RANGE:,} at most."
            )
        return list(range(first, last + 1))
    number = _number(entry)
    if number is None:
        date = isinstance(entry, str) and _DATE.match(entry.strip())
        advice = " A spreadsheet has made a date of it: format the column as text." if date else ""
        raise InvalidInput(f"the column {column!r} is {called(cell)}. Write pages as 3, as 3;5 or as 3-5.{advice}")
    if number < 1:
        raise InvalidInput(
            f"the column {column!r} is {called(cell)}. Pages count from 1: where a table counts from 0, add 1 to all."
        )
    return [number]


def _number(entry: Any) -> int | None:
    if isinstance(entry, bool):
        return None
    if isinstance(entry, int):
        return entry
    if isinstance(entry, float):
        return int(entry) if math.isfinite(entry) and entry.is_integer() else None
    found = _ONE.fullmatch(entry) if isinstance(entry, str) else None
    return None if found is None else int(found[1])
