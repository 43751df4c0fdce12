"""Scoring without a database: items of any format in, one row a score out (JSON lines or Parquet), streamed."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import orjson

from annotators.errors import Conflict, InvalidInput
from annotators.group_means import Sums
from annotators.item_records import item_view
from annotators.score_tasks import ScoringTask, scoring_task
from annotators.scorers import SCORERS
from annotators.scoring import ItemView, Parameters, ScoreValue
from db.normal import Normal
from db.parsed import Rejected
from db.score_summaries import ScoreCell, ScoreSummary, summary_of_cells
from db.scores import BLOCK, MODEL_BLOCK, Engine, in_this_process
from exports.formats import FORMATS, recognise
from exports.formats.base import FileReading
from exports.sources import open_sources

COLUMNS = (
    "id", "question_key", "system", "category", "language", "scorer", "version", "parameters", "name", "target",
    "value", "reason", "details",
)  # fmt: skip
"""What a row of the output holds, in this order. `parameters` and `details` are objects (in Parquet: JSON texts)."""

ENDINGS = (".jsonl", ".parquet")

Progress = Callable[[int, int], None]
"""Called with how many bytes of the input are read, and of how many."""


@dataclass
class FileScores:
    """What a scoring of files came to: a summary of each value, and the rows that could not be read."""

    summaries: list[ScoreSummary]
    rows: int = 0
    rejected: list[Rejected] = field(default_factory=list)


def score_files(
    paths: Sequence[Path | str],
    output: Path,
    *,
    scorer: str,
    parameters: Mapping[str, Any] | Sequence[str] | Parameters | None = None,
    format_name: str | None = None,
    engine: Engine = in_this_process,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> FileScores:
    """Score the items of some files, folders or archives and write a row for each score to `output`.

    `format_name` None takes the format that recognises the files. Rows stand in the order of the input; the file
    appears only when it is complete. Memory does not grow with the input. Raises InvalidInput for wrong names,
    parameters and endings and (unless `skip_bad`) for the first bad row; Conflict when `output` is there already.
    """
    task = scoring_task(scorer, parameters)
    if output.suffix not in ENDINGS:
        raise InvalidInput(f"{output.name!r} does not say what to write. End it in {' or '.join(ENDINGS)}.")
    if output.exists():
        raise Conflict(f"{output} is there already. Name another file, or move it away.")
    with open_sources(paths) as sources, _written(output) as sink:
        chosen = FORMATS.get(format_name) if format_name else recognise(sources)
        return _score(chosen.read(sources), task, engine, sink, skip_bad, progress or (lambda _done, _of: None))


def _score(  # noqa: PLR0917 - the parts of one pass
    reading: FileReading, task: ScoringTask, engine: Engine, sink: _Sink, skip_bad: bool, progress: Progress
) -> FileScores:
    found = FileScores([])
    waiting: dict[int, Normal] = {}  # the items that are with the engine, by their number

    def blocks() -> Iterator[list[ItemView]]:
        block: list[ItemView] = []
        size = MODEL_BLOCK if SCORERS.get(task.scorer).uses_model else BLOCK
        number = 0
        for one in reading.items():
            if isinstance(one, Rejected):
                if not skip_bad:
                    raise InvalidInput(f"{one.file}, line {one.line}: {one.reason}")
                found.rejected.append(one)
                continue
            number += 1
            waiting[number] = {name: value for name, value in one.item.items() if name in _NAMED}
            block.append(item_view(one.item, number))
            if len(block) == size:
                yield block
                block = []
        if block:
            yield block

    sums: dict[str, dict[tuple[str, str | None], Sums]] = defaultdict(lambda: defaultdict(Sums))
    unscored: dict[str, Counter[tuple[str, str | None]]] = defaultdict(Counter)
    for items, scores in engine(task, blocks()):
        rows = []
        for item, given in zip(items, scores, strict=True):
            about = waiting.pop(item.version_id)
            cell = (item.system, item.category)
            for one in given:
                rows.append(_row(about, task, one))
                if one.target != "item":
                    continue
                if one.value is None:
                    unscored[one.name][cell] += 1
                else:
                    sums[one.name][cell] += Sums(1, one.value, one.value * one.value)
        sink.write(rows)
        found.rows += len(rows)
        progress(reading.meter.done, reading.meter.of)
    progress(reading.meter.of, reading.meter.of)
    if not found.rows:
        raise InvalidInput(f"{reading.source} holds no item to score.")
    names = [kind.name for kind in SCORERS.get(task.scorer).values]
    for name in [name for name in names if name in sums or name in unscored] or names[:1]:
        places = sorted({*sums[name], *unscored[name]}, key=lambda place: (place[0], place[1] or ""))
        cells = [ScoreCell(*place, unscored[name][place], sums[name][place]) for place in places]
        found.summaries.append(summary_of_cells(task.scorer, task.version, task.parameters, name, cells))
    return found


_NAMED = ("id", "question_key", "system", "category", "language")


def _row(about: Normal, task: ScoringTask, score: ScoreValue) -> dict[str, Any]:
    return {
        **{name: about.get(name) for name in _NAMED},
        "scorer": task.scorer,
        "version": task.version,
        "parameters": task.parameters,
        "name": score.name,
        "target": score.target,
        "value": score.value,
        "reason": score.reason,
        "details": score.details,
    }


# Writing --------------------------------------------------------------------------------------------------------------


class _Sink(Protocol):
    """Where rows go."""

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Append some rows."""

    def close(self) -> None:
        """Finish the file."""


class _JsonLines:
    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def write(self, rows: list[dict[str, Any]]) -> None:
        self._file.write(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))

    def close(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


class _Parquet:
    """Row groups of some thousand rows each; what the columns hold is written into the file's schema."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa  # noqa: PLC0415 - 0.2 s that JSON lines need not wait for
        import pyarrow.parquet as pq  # noqa: PLC0415

        self._pa = pa
        self._schema = pa.schema(
            [pa.field(name, pa.float64() if name == "value" else pa.string()) for name in COLUMNS],
        )
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, rows: list[dict[str, Any]]) -> None:
        self._rows += rows
        if len(self._rows) >= _ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        columns = {name: [_cell(name, row[name]) for row in self._rows] for name in COLUMNS}
        self._writer.write_table(self._pa.table(columns, schema=self._schema))
        self._rows = []

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()


_ROW_GROUP = 10_000


def _cell(name: str, value: Any) -> Any:
    if name in ("parameters", "details") and value is not None:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return value


@contextmanager
def _written(output: Path) -> Iterator[_Sink]:
    """A sink into a file beside `output` that takes its name at the end, and is removed when something goes wrong."""
    if not output.parent.is_dir():
        raise InvalidInput(f"There is no folder {str(output.parent)!r}. Make it, or name another.")
    part = output.with_name(f".{output.name}.part")
    sink: _Sink = _Parquet(part) if output.suffix == ".parquet" else _JsonLines(part)
    try:
        yield sink
        sink.close()
        part.rename(output)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
