"""Cells of CSV files: written so that no spreadsheet runs them as a formula, and read back as they were.

A text that begins with = + - @, a tab or a line break gets an apostrophe before it, unless it is a number or a figure
with its interval. So does = + - @ behind a semicolon, a tab or a line break, where a spreadsheet that takes these for
ends of cells would begin one. Apostrophes that stand there already stay, so that taking one away gives back what was.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any

import orjson

SUSPECT = frozenset("=+-@\t\r\n'＝＋－＠")
"""First characters for which a cell has to be looked at."""

NOT_AS_IT_IS = "[,\"\r\n;\t]|^[=+@'＝＋－＠-]"
"""A pattern of texts that may stand otherwise in a line of CSV: quoted, or written so that they do not run."""

_RUNS = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]").match
_WRITTEN = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]").match
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:\s?%)?(?: \[[−+\d,. %-]*\])?").fullmatch
_INNER_RUNS = re.compile(r"(?<=[;\t\r\n])'*[=+\-@＝＋－＠]").sub
_INNER_WRITTEN = re.compile(r"(?<=[;\t\r\n])'('*[=+\-@＝＋－＠])").sub
_ENDS_CELLS = re.compile(r"[;\t\r\n]").search


def safe(text: str) -> str:
    """The text as a cell."""
    starts = text and text[0] in SUSPECT and _RUNS(text) and not _NUMBER(text)
    if _ENDS_CELLS(text):
        text = _INNER_RUNS(r"'\g<0>", text)
    return "'" + text if starts else text


_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def in_xml(text: str) -> str:
    """The text with U+FFFD for each character that no XML can hold, so that no workbook and no drawing can."""
    return _NOT_IN_XML.sub("\ufffd", text)


def original(cell: str) -> str:
    """The text that `safe` made this cell of."""
    if _ENDS_CELLS(cell):
        cell = _INNER_WRITTEN(r"\1", cell)
    return cell[1:] if _WRITTEN(cell) else cell


# Lines end with \n, but cells are quoted as for \r\n: Python 3.11 leaves a lone \r bare unless the line end has one.
_QUOTED_FOR = "\r\n"


def lines_of(rows: Iterable[Iterable[object]], delimiter: str = ",") -> list[str]:
    """Rows of cells as the lines of a CSV file, without their ends."""
    lines: list[str] = []
    csv.writer(_Lines(lines), delimiter=delimiter, lineterminator=_QUOTED_FOR).writerows(rows)
    return [line[:-2] for line in lines]


class _Lines:
    """What the csv module writes to: a list of lines."""

    def __init__(self, lines: list[str]) -> None:
        self.write = lines.append


def value_cell(value: Any) -> str:
    """A label's value as a cell: a word as it is, a number in digits, a list as a JSON array."""
    text = value_text(value)
    return safe(text) if isinstance(value, str) else text


def value_text(value: Any) -> str:
    """The text that `value_cell` makes a cell of."""
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(value).decode()


def vote_text(vote: str) -> str:
    """What was voted for, as the label is written: what is no word or number as JSON without spaces."""
    if not vote.startswith(("[", "{")):
        return vote
    try:
        return value_text(orjson.loads(vote))
    except orjson.JSONDecodeError:
        return vote
