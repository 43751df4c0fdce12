"""The process that reads what strangers upload: started by `exports.importing.apart`, it answers one request and ends.

What it has read it writes into files of one JSON object a line, in the folder that it is told: they are read by the
process that asks, a line at a time.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from annotators.apart import serving
from annotators.apart.serving import Answer, Tell
from annotators.apart.wire import Message
from annotators.errors import AssayError, InvalidInput
from annotators.items import checks
from annotators.items.normal import to_json
from annotators.items.parsed import ParsedDocument, ParsedItem, Rejected, documents_in, items_in
from exports.formats.base import (
    FORMATS,
    FileReading,
    LabelledFormat,
    LabelledReading,
    MappedReading,
    decided_and_left_out,
    inferred,
    labelled_format,
    labels_of,
    passed_over,
    protocol_of_labels,
    read_sources,
    said_of_encodings,
)
from exports.importing.apart import DOCUMENTS, FOUND, ITEMS, LONGEST_LINE
from exports.reading.json_files import Meter, too_many_values
from exports.reading.sources import Sources, open_sources
from exports.reading.tables import Opening, opened_as
from exports.reading.uploaded import reader_named

MOST_UNPACKED = 8 << 30
"""Bytes that uploads may unpack to together, on the disk."""

_TELLS_EVERY = 0.2
_FREE_WRITTEN, _WRITTEN_A_BYTE = 1 << 30, 20
"""Bytes of rows that may be written down, and how many more for each byte of the files."""

_MOST_BAD = 50_000
"""Bad rows after which nothing more is read, even where these are passed over."""

_FREE = 16 << 20
"""Bytes that the values of a short line may take in the memory of the process that asks."""


def _read(request: Message, tell: Tell) -> Message:
    """Read sources as a format does: documents and items go into files, the rest is the answer."""
    folder = Path(request["folder"])
    paths = [Path(path) for path in request["paths"]]
    size = sum(path.stat().st_size for path in paths)
    as_said = opened_as(Opening.of_json(request["opened"]))
    with as_said, open_sources(paths, into=folder, most=MOST_UNPACKED) as opened:
        files = [replace(file, folder="") if file.given else file for file in opened.files]
        named = ", ".join(path.name for path in paths)
        reading = read_sources(Sources(named, named, files), request["format"], request["columns"])
        protocol = _asked(reading) if request["labels"] else None
        _write(folder / DOCUMENTS, map(_document, documents_in(reading)), size)
        _write(folder / ITEMS, _told(map(_item, items_in(reading)), reading.meter, tell), size)
        columns, headings = {}, list[str]()
        if isinstance(reading, MappedReading):
            columns = {name: list(of) for name, of in reading.columns.items()}
            headings = list(reading.headings)
        return {
            "format": reading.format,
            "notes": [
                *reading.notes(),
                *passed_over(reading),
                *said_of_encodings(reading),
                *decided_and_left_out(reading),
            ],
            "columns": columns,
            "headings": headings,
            "protocol": protocol,
        }


def _asked(reading: FileReading) -> Any:
    """What a study asks that is made for the labels of a reading, as JSON."""
    labelled_format(reading.format)
    known = isinstance(reading, LabelledReading) or isinstance(FORMATS.get(reading.format), LabelledFormat)
    found = protocol_of_labels(reading) if known else None
    return (found or inferred(labels_of(reading))).model_dump(mode="json")


def _document(row: ParsedDocument | Rejected) -> Message:
    if isinstance(row, Rejected):
        return {"rejected": row.to_json()}
    path = None if row.path is None else str(row.path)
    return {
        "file": row.file, "line": row.line, "key": row.key, "title": row.title, "metadata": row.metadata, "path": path,
        "kept": row.kept,
    }  # fmt: skip


def _item(row: ParsedItem | Rejected) -> Message:
    if isinstance(row, Rejected):
        return {"rejected": row.to_json()}
    return {"file": row.file, "line": row.line, "item": to_json(row.item), "labels": [list(one) for one in row.labels]}


def _write(path: Path, rows: Iterator[Message], size: int) -> None:
    """Write rows of files of so many bytes; InvalidInput where there is too much of them, or too much is wrong."""
    most, n_bad = min(shutil.disk_usage(path.parent).free // 2, _FREE_WRITTEN + _WRITTEN_A_BYTE * size), 0
    with path.open("wb", buffering=1 << 20) as file:
        for row in rows:
            line = _line(row)
            most -= len(line)
            n_bad += line.startswith(b'{"rejected"')
            if most < 0:
                raise InvalidInput("What is in it takes more room than an upload may. Split it.")
            file.write(line)
            if n_bad > _MOST_BAD:
                return  # whoever reads this stops sooner, unless bad rows are passed over


def _line(row: Message) -> bytes:
    try:
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        if len(line) > LONGEST_LINE:
            reason = f"it comes to {len(line) >> 20} MB. Keep large values as documents of their own."
        elif (said := too_many_values(line, free=_FREE)) is None:
            return line
        else:
            reason = said
    except TypeError as error:
        reason = str(checks.unkept(error, row.get("item", row)))
    file, line_number = str(row.get("file", "")), int(row.get("line", 1))
    rejected = {"file": file, "line": line_number, "reason": reason}
    # A name that is none in UTF-8 is what is wrong with it.
    plain = {
        name: said.encode(errors="replace").decode() if isinstance(said, str) else said
        for name, said in rejected.items()
    }
    return orjson.dumps({"rejected": plain}, option=orjson.OPT_APPEND_NEWLINE)


def _told(rows: Iterator[Message], meter: Meter, tell: Tell) -> Iterator[Message]:
    last = time.monotonic()
    for row in rows:
        yield row
        if time.monotonic() - last > _TELLS_EVERY:
            last = time.monotonic()
            tell({"told": [meter.done, meter.of]})


def _file(request: Message, _tell: Tell) -> Message:
    """Read one file by the reader of this name; what it finds goes into a file."""
    found = reader_named(request["reader"])(Path(request["paths"][0]), *request["given"])
    plain = orjson.dumps(found, default=list, option=orjson.OPT_NON_STR_KEYS)  # a named tuple is a list
    (Path(request["folder"]) / FOUND).write_bytes(plain)
    return {}


_OPERATIONS = {"read": _read, "file": _file}


def answer(request: Message, tell: Tell) -> Answer:
    """The answer to one request; a failure is an answer too. Libraries fail on hostile files with any exception."""
    tempfile.tempdir = request["folder"]
    try:
        return {"ok": True, **_OPERATIONS[request["operation"]](request, tell)}, b""
    except AssayError as error:
        return {"ok": False, "refused": str(error)[:100_000]}, b""
    except MemoryError:
        return {"ok": False, "why": "memory"}, b""
    except Exception as error:
        if "malloc" in str(error) or "alloc" in type(error).__name__.lower():
            return {"ok": False, "why": "memory"}, b""
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return {"ok": False, "why": "fault", "said": said.encode(errors="replace").decode()}, b""


if __name__ == "__main__":
    os.nice(5)  # people who label wait for nobody's upload
    serving.serve(answer, float(sys.argv[1]), int(sys.argv[2]), beyond_itself=True)
