"""JSON whose records are the rows of a table, and fields of a row by their path (`context.passages[].text`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import orjson

from annotators.errors import InvalidInput, shown
from annotators.items.parsed import Rejected
from exports.reading.encodings import encoding_of
from exports.reading.json_files import json_file, json_lines
from exports.reading.sources import SourceFile

ROWS = (".json", ".jsonl")
_LOOKED_AT = 2_000
"""Rows by which the columns of JSON lines are known."""

_MOST_PATHS = 200
_SHOWN = 20
_PART = re.compile(r"([^.\[\]]+)|\[(\d*)\]")

Rows = Iterator[tuple[int, list[Any] | str]]


def has_rows(file: SourceFile) -> bool:
    """Whether a file of JSON holds objects in a list or a line each, as rows do, by its beginning."""
    begun = file.beginning()
    if _has_lines(file):
        return begun.startswith(b"{")
    return file.basename.endswith(".json") and begun.startswith(b"[") and begun[1:].lstrip().startswith(b"{")


def rows_of_json(path: Path, *, encoding: str | None, records: str | None) -> tuple[list[str], Rows, list[str]]:
    """The columns, rows and notes of a file of JSON or JSON lines, one object a row.

    JSON is a list of objects, or an object that has one: in the field `records`, else in the only field that is such a
    list. What pandas writes is read in each of its orientations that has names. InvalidInput for anything else.
    """
    file = SourceFile(path.name, path, path.parent.name, given=True)
    note = encoding_of(path, encoding).note(path.name)
    notes = [note] if note else []
    if _has_lines(file):
        columns: dict[str, None] = {}
        first: tuple[int, list[Any] | str] | None = None
        for number, (line, row) in enumerate(_lines(file, encoding)):
            first = first or next(_cells((), iter([(line, row)])))
            if isinstance(row, dict):
                columns |= dict.fromkeys(row)
            if number > _LOOKED_AT and columns:
                break
        if not columns and first is not None:
            raise InvalidInput(f"line {first[0]}: {first[1]}")
        return _named(columns), _cells(list(columns), _lines(file, encoding)), notes
    data = json_file(file, encoding)
    if isinstance(data, Rejected):
        raise InvalidInput(data.reason)
    rows, where = _records(data, records)
    if where:
        notes.append(f"{path.name}: the rows are those of `{where}`.")
    names: dict[str, None] = {}
    for row in rows:
        if isinstance(row, dict):
            names |= dict.fromkeys(row)
    return _named(names), _cells(list(names), enumerate(rows, 1)), notes


def _has_lines(file: SourceFile) -> bool:
    """Whether a file holds an object on each line, whatever its name ends with."""
    if file.basename.endswith(".jsonl"):
        return True
    first, _, others = file.beginning().partition(b"\n")
    try:
        return others.lstrip().startswith(b"{") and isinstance(orjson.loads(first), dict)
    except orjson.JSONDecodeError:
        return False


def _named(columns: Iterable[str]) -> list[str]:
    found = list(columns)
    if not found:
        raise InvalidInput("it has no rows. A table in JSON is a list of objects, or an object on each line.")
    return found


class _Fault(str):
    """Why a line cannot be read, in its place."""


def _lines(file: SourceFile, encoding: str | None) -> Iterator[tuple[int, Any]]:
    for found in json_lines(file, encoding=encoding):
        yield (found.line, _Fault(found.reason)) if isinstance(found, Rejected) else found


def _cells(columns: Sequence[str], rows: Iterable[tuple[int, Any]]) -> Rows:
    """Each row's cells; those of columns that no row had when they were looked for are passed over."""
    for line, row in rows:
        if isinstance(row, dict):
            yield line, [row.get(column) for column in columns]
        else:
            yield line, row if isinstance(row, _Fault) else f"it is {shown(row)}, not an object. Write {{…}} for a row."


def _records(data: Any, records: str | None) -> tuple[list[Any], str]:
    """The rows in a value of JSON, and the field that they were found in ("" where the value is the list itself)."""
    if records is not None:
        found = value_at(data, records)
        if not isinstance(found, list):
            raise InvalidInput(f"there is no list of rows in {records!r}. Name the field that has it with --records.")
        return found, records
    if isinstance(data, list):
        return _below_heading(data), ""
    if isinstance(data, dict):
        if set(data) >= {"columns", "data"} and isinstance(data["columns"], list):  # pandas, orient="split"
            return [dict(zip(map(str, data["columns"]), row, strict=False)) for row in data["data"]], ""
        if "schema" in data and isinstance(data.get("data"), list):  # pandas, orient="table"
            index = data["schema"].get("primaryKey") if isinstance(data["schema"], dict) else None
            if index == ["index"]:  # what pandas numbers rows by
                return [{name: cell for name, cell in row.items() if name != "index"} for row in data["data"]], ""
            return data["data"], ""
        lists = [name for name, value in data.items() if _is_rows(value)]
        are_rows = bool(data) and all(isinstance(column, dict) for column in data.values())
        if not lists and not (are_rows and _are_alike(list(data.values()))):
            lists = _lists_within(data)
        if len(lists) == 1:
            return value_at(data, lists[0]) if lists[0] not in data else data[lists[0]], lists[0]
        if lists:
            raise InvalidInput(f"it has several lists of rows: {', '.join(lists)[:300]}. Name one with --records.")
        if are_rows:
            return _turned(data), ""
        if (by_columns := _by_columns(data)) is not None:
            return by_columns, ""
    raise InvalidInput("there is no table in it. A table in JSON is a list of objects, or an object that has one.")


def _below_heading(rows: list[Any]) -> list[Any]:
    """The rows of a list of lists whose first names the columns; another list as it is."""
    heading = rows[0] if rows and all(isinstance(row, list) for row in rows) else []
    if not heading or not all(isinstance(name, str) and name for name in heading):
        return rows
    return [dict(zip(heading, row, strict=False)) for row in rows[1:]]


def _by_columns(data: dict[str, Any]) -> list[Any] | None:
    """The rows of an object with a list for each column; None of another."""
    lists = [column for column in data.values() if isinstance(column, list)]
    if not lists or len(lists) < len(data) or len(set(map(len, lists))) > 1:
        return None
    return [dict(zip(data, cells, strict=True)) for cells in zip(*lists, strict=True)]


def _are_alike(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether objects are rows, or columns, of one table: most of their fields are those of the others."""
    every, shared = set(rows[0]), set(rows[0])
    for row in rows[1:_LOOKED_AT]:
        every |= set(row)
        shared &= set(row)
    return len(rows) > 1 and len(shared) * 2 >= len(every) > 0


def _lists_within(data: Any, at: str = "", deep: int = 0) -> list[str]:
    """The paths of lists of rows within an object, but for those that are in rows."""
    if not isinstance(data, dict) or deep > 3:
        return []
    found = []
    for name, value in list(data.items())[:_MOST_PATHS]:
        path = f"{at}.{name}" if at else str(name)
        found += [path] if _is_rows(value) else _lists_within(value, path, deep + 1)
    return found


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _turned(data: dict[str, dict[str, Any]]) -> list[Any]:
    """The rows of what pandas writes by itself, a column a field with a cell for each row, or a row a field."""
    keys = [tuple(column) for column in data.values()]
    by_column = len(set(keys)) == 1 and all(key.isdecimal() for key in keys[0])
    if not by_column:
        return list(data.values())
    return [{name: column[row] for name, column in data.items()} for row in keys[0]]


# Fields of fields -----------------------------------------------------------------------------------------------------


def is_path(name: str) -> bool:
    """Whether the name of a column may be the path of a nested field."""
    return ("." in name or "[" in name) and "*" not in name


def value_at(value: Any, path: str) -> Any:
    """What stands at a path: `a.b` a field of a field, `a[0]` the first of a list, `a[].b` that of each in a list.

    None where there is nothing. A text that holds JSON is read on the way.
    """
    return _at(value, [(name or None, index) for name, index in _PART.findall(path)])


def _at(value: Any, parts: list[tuple[str | None, str]]) -> Any:
    if not parts:
        return value
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
    (name, index), rest = parts[0], parts[1:]
    if name is not None:
        return _at(value.get(name), rest) if isinstance(value, dict) else None
    if not isinstance(value, list):
        return None
    if index:
        return _at(value[int(index)], rest) if int(index) < len(value) else None
    found = [_at(part, rest) for part in value]
    if (None, "") in rest:
        found = [one for many in found for one in (many or [])]
    return [one for one in found if one is not None]


def with_paths(columns: list[str], rows: Rows, paths: Sequence[str]) -> tuple[list[str], Rows]:
    """The columns and rows with a column for each of these paths that begins in a column and is none itself."""
    wanted = [
        path for path in dict.fromkeys(paths) if path not in columns and is_path(path) and _first(path) in columns
    ]
    if not wanted:
        return columns, rows
    places = {path: columns.index(_first(path)) for path in wanted}

    def wider() -> Rows:
        for line, cells in rows:
            if isinstance(cells, str):
                yield line, cells
                continue
            yield line, [*cells, *(value_at(cells[places[path]], path[len(_first(path)) :]) for path in wanted)]

    return [*columns, *wanted], wider()


def _first(path: str) -> str:
    """The name that a path begins with: that of the column."""
    found = re.match(r"[^.\[\]]+", path)
    return found[0] if found else ""


def exploded(columns: list[str], rows: Rows, each: Sequence[str]) -> tuple[list[str], Rows]:
    """The columns and rows with a row for each element of these fields, in place of one for the whole list.

    Of an element that is an object each field becomes a column (`field.name`), any other stands in the field's own;
    `field#` is its place from 1, or its key where the field is an object, and `#` the number of the row it was in.
    """
    rows = (
        (line, cells if isinstance(cells, str) else [number, *cells]) for number, (line, cells) in enumerate(rows, 1)
    )
    columns = ["#", *columns]
    for field in each:
        if field not in columns:
            raise InvalidInput(f"there is no list {field!r} to take apart. There are: {', '.join(columns)[:500]}.")
        columns, rows = _apart(columns, rows, field)
    return columns, rows


def _numbered(rows: Rows) -> Rows:
    for number, (line, cells) in enumerate(rows, 1):
        yield line, cells if isinstance(cells, str) else [number, *cells]


def _apart(columns: list[str], rows: Rows, field: str) -> tuple[list[str], Rows]:
    place = columns.index(field)
    begun = list(islice(rows, _LOOKED_AT))
    names: dict[str, None] = {}
    for _, cells in begun:
        for _, element in () if isinstance(cells, str) else _elements(cells[place]):
            names |= dict.fromkeys(element) if isinstance(element, dict) else {}

    def apart() -> Rows:
        for line, cells in chain(begun, rows):
            if isinstance(cells, str):
                yield line, cells
                continue
            for key, element in _elements(cells[place]):
                kept = [*cells[:place], None if isinstance(element, dict) else element, *cells[place + 1 :]]
                inner = [element.get(name) if isinstance(element, dict) else None for name in names]
                yield line, [*kept, key, *inner]

    return [*columns, f"{field}#", *(f"{field}.{name}" for name in names)], apart()


def _elements(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return []
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value, 1)) if isinstance(value, list) else []


def paths_in(cells: Iterable[Any], column: str) -> list[str]:
    """The paths of the fields that the cells of a column have within them, in the order in which they appear."""
    found: dict[str, None] = {}
    for cell in cells:
        for path in _paths(cell, column, 0):
            found[path] = None
            if len(found) >= _MOST_PATHS:
                return list(found)
    return list(found)


def nested_in(columns: Sequence[str], rows: Rows) -> tuple[list[str], Rows]:
    """The paths of what is nested in the first rows, and the rows as they were."""
    begun = list(islice(rows, _SHOWN))
    there = [cells for _, cells in begun if not isinstance(cells, str)]
    found = [
        path
        for place, column in enumerate(columns)
        for path in paths_in((cells[place] for cells in there if place < len(cells)), column)
    ]
    return list(dict.fromkeys(found)), chain(begun, rows)


def _paths(value: Any, at: str, deep: int) -> Iterator[str]:
    if isinstance(value, dict) and deep < 5:
        for name, part in value.items():
            yield from _paths(part, f"{at}.{name}", deep + 1)
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value) and deep < 5:
        for part in value[:20]:
            yield from _paths(part, f"{at}[]", deep + 1)
    elif deep:
        yield at
