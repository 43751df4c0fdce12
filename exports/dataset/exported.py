"""The report of a dataset as files of an export, and what of it can be derived again later."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

from annotators.files import under_way
from db.engine import Database
from db.permissions import Actor
from exports.cells import safe
from exports.checks import DATASET_FORMATS, REPORT_NUMBERS
from exports.csv_file import CsvFile
from exports.dataset.base import Numbers
from exports.dataset.document import STEM, dataset_report
from exports.drawing.report_files import report_files
from exports.sinks import Out, Sink

FOLDER = "report"

PutTable = Callable[[str, Path, int, Callable[[str], bool] | None], None]
"""Takes a table: its path in the export, the CSV file, its rows; first cells of rows that last, None for all."""

_OF_THE_MOMENT = re.compile(rb"Assay [^\n<]{1,80}?, \d\d \w{3} \d{4} \d\d:\d\d UTC")
_DRAWN = re.compile(rb"<svg(?:[^<]++|<(?!svg|/svg>))*+</svg>")
_PASSING = ("stages.", "items.state.")
"""Parts of the names of numbers that say where items stand: it is kept, and another thing when people went on."""
_LIMITS = "limits"
"""How many limits the report knows of, some of which say how far a study is."""


def write_exported(
    db: Database, actor: Actor, project_id: int, study_id: int | None, sink: Sink, *, moved: bool, put: PutTable
) -> None:
    """Write the report in all its forms into the folder `report` of an export, with its numbers as a table.

    `put` takes the table, and compares it with one that is there.

    Where it is compared with one that is there: texts have to say the same but for when and by which version they were
    made; plots are held to their hashes. Where the database has `moved` on since, all numbers are compared but those of
    where items stand (`_PASSING`), as they follow from rows that are never changed; texts are held to their hashes too.
    """
    made = dataset_report(db, actor, project_id, study_id=study_id)
    with under_way() as place:
        numbers = place / Path(REPORT_NUMBERS).name
        rows = _write_numbers(made.numbers, numbers)
        put(REPORT_NUMBERS, numbers, rows, _lasts if moved else None)
        draw = None if sink.keeps else _not_drawn
        for name, content in report_files(made, STEM, DATASET_FORMATS.values(), draw=draw).items():
            is_text = name in {f"{STEM}{ending}" for ending in DATASET_FORMATS.values()}
            path = place / Path(name).name
            path.write_bytes(content)
            sink.put(f"{FOLDER}/{name}", path, None, _other_text if is_text and not moved else _never)


def _not_drawn(_chart: object, _kind: str) -> bytes:
    return b"<svg></svg>"


def _write_numbers(numbers: Numbers, path: Path) -> int:
    with path.open("wb") as file:
        out = Out(file)
        CsvFile(out, ("name", "value")).add([(safe(name), _said(value)) for name, value in numbers.items()], 0)
        out.flush()
    return len(numbers)


def _said(value: float | None) -> str:
    """As precise as it is meant: sums of doubles differ in their last digits from machine to machine."""
    if isinstance(value, float):
        return f"{value:.12g}"
    return "" if value is None else str(int(value))


def _lasts(name: str) -> bool:
    """Whether a number follows from what is never changed."""
    return name != _LIMITS and not any(part in name for part in _PASSING)


def _other_text(there: Path, made: Path) -> int | None:
    """The first line in which two reports say otherwise, apart from when they were made, by what, and plots."""
    lines = [_DRAWN.sub(b"", _OF_THE_MOMENT.sub(b"", path.read_bytes())).split(b"\n") for path in (there, made)]
    return next((line for line, (one, other) in enumerate(zip_longest(*lines), 1) if one != other), None)


def _never(_there: Path, _made: Path) -> None:
    return None
