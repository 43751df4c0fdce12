"""The report of a dataset as files of an export, and what of it can be derived again later."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from db.engine import Database
from db.permissions import Actor
from exports.cells import safe
from exports.checks import DATASET_FORMATS, REPORT_NUMBERS
from exports.csv_file import CsvFile
from exports.dataset.base import Numbers
from exports.dataset.document import STEM, dataset_report
from exports.drawing.charts import drawn
from exports.drawing.report_files import report_files
from exports.sinks import Difference, Out, Sink

FOLDER = "report"

_OF_THE_MOMENT = re.compile(rb"Assay [^\n<]{1,80}?, \d\d \w{3} \d{4} \d\d:\d\d UTC")
_DRAWN = re.compile(rb"<svg.*?</svg>", re.DOTALL)
_PASSING = ("stages.", "items.state.")
"""Parts of the names of numbers that say where items stand: it is kept, and another thing when people went on."""
_LIMITS = "limits"
"""How many limits the report knows of, some of which say how far a study is."""


def write_exported(
    db: Database, actor: Actor, project_id: int, study_id: int | None, sink: Sink, *, moved: bool
) -> None:
    """Write the report in all its forms into the folder `report` of an export, with its numbers as a table.

    Where it is compared with one that is there: texts have to say the same but for when and by which version they were
    made; plots are held to their hashes. Where the database has `moved` on since, all numbers are compared but those of
    where items stand (`_PASSING`), as they follow from rows that are never changed; texts are held to their hashes too.
    """
    made = dataset_report(db, actor, project_id, study_id=study_id)
    with TemporaryDirectory() as place:

        def put(name: str, content: Callable[[Path], int | None], difference: Difference) -> None:
            path = Path(place) / Path(name).name
            rows = content(path)
            sink.put(name, path, rows, difference)

        put(REPORT_NUMBERS, partial(_write_numbers, made.numbers), partial(_other_number, moved=moved))
        draw = drawn if sink.keeps else _not_drawn
        for name, content in report_files(made, STEM, DATASET_FORMATS.values(), draw=draw).items():
            is_text = name in {f"{STEM}{ending}" for ending in DATASET_FORMATS.values()}
            put(f"{FOLDER}/{name}", partial(_write, content), _other_text if is_text and not moved else _never)


def _not_drawn(_chart: object, _kind: str) -> bytes:
    return b"<svg></svg>"


def _write(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def _write_numbers(numbers: Numbers, path: Path) -> int:
    with path.open("wb") as file:
        out = Out(file)
        CsvFile(out, ("name", "value")).add([(safe(name), _said(value)) for name, value in numbers.items()], 0)
        out.flush()
    return len(numbers)


def _said(value: object) -> str:
    """As precise as it is meant: sums of doubles differ in their last digits from machine to machine."""
    if isinstance(value, float):
        return f"{value:.12g}"
    return "" if value is None else safe(value if isinstance(value, str) else json.dumps(value))


def _other_number(there: Path, made: Path, *, moved: bool) -> int | None:
    """The first line in which two tables of numbers say otherwise; where data moved, of those that last."""

    def rows(path: Path) -> Iterator[tuple[str, ...]]:
        with path.open(encoding="utf-8", newline="") as file:
            yield from map(tuple, csv.reader(file))

    if not moved:
        pairs = zip_longest(rows(there), rows(made))
        return next((line for line, (one, other) in enumerate(pairs, 1) if one != other), None)
    now = dict(row for row in rows(made) if len(row) == 2)
    for line, row in enumerate(rows(there), 1):
        if len(row) != 2 or (_lasts(row[0]) and now.get(row[0]) != row[1]):
            return line
    return None


def _lasts(name: str) -> bool:
    """Whether a number follows from what is never changed."""
    return name != _LIMITS and not any(part in name for part in _PASSING)


def _other_text(there: Path, made: Path) -> int | None:
    """The first line in which two reports say otherwise, apart from when they were made, by what, and plots."""
    lines = [_DRAWN.sub(b"", _OF_THE_MOMENT.sub(b"", path.read_bytes())).split(b"\n") for path in (there, made)]
    return next((line for line, (one, other) in enumerate(zip_longest(*lines), 1) if one != other), None)


def _never(_there: Path, _made: Path) -> None:
    return None
