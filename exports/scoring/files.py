"""Scoring without a database: items of any format in, one row a score out (JSON lines or Parquet), streamed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.parsed import Rejected, items_in
from annotators.progress import Progress, unheard
from annotators.scorers.base import SCORERS, GivenParameters, ScoreValue
from annotators.scorers.shared.group_means import Sums
from annotators.scorers.shared.tasks import Engine, ScoringTask, in_this_process, scoring_task
from db.scores.summaries import ScoreCell, ScoreSummary, summary_of_cells
from exports.formats.base import Columns, FileReading, read_sources, said_of_encodings
from exports.reading.sources import open_sources
from exports.scoring.output import OF_ITEM, GrowingRows, Row, growing_rows


@dataclass
class FileScores:
    """What a scoring of files came to: a summary of each value, and the rows that could not be read.

    `rows` are written; those of the first `earlier` items by an attempt before this one that did not come to its end.
    """

    summaries: list[ScoreSummary]
    rows: int = 0
    earlier: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was read and how."""


def score_files(
    paths: Sequence[Path | str],
    output: Path,
    *,
    scorer: str,
    parameters: GivenParameters = None,
    format_name: str | None = None,
    columns: Columns | None = None,
    engine: Engine = in_this_process,
    skip_bad: bool = False,
    progress: Progress = unheard,
) -> FileScores:
    """Score the items of some files, folders or archives and write a row for each score to `output`.

    A scorer that embeds takes any model on this machine, unlike in a project: nobody but the caller is concerned.

    `format_name` None takes the format that recognises the files, `columns` says which column of a table is which
    field; `progress` is told bytes of the input. Rows stand in
    the order of the input. The file appears only when it is complete, and an attempt that is cut short, even killed, is
    continued by the next one with the same inputs and parameters. Memory does not grow with the input. Raises
    InvalidInput for wrong names, parameters and endings and (unless `skip_bad`) for the first bad row; Conflict when
    `output` is there already.
    """
    task = scoring_task(scorer, parameters)
    about = [task.scorer, task.version, task.parameters, format_name, *([dict(columns)] if columns else [])]
    with open_sources(paths) as sources, growing_rows(output, paths, about) as sink:
        return _score(read_sources(sources, format_name, columns), task, engine, sink, skip_bad, progress)


def _score(  # noqa: PLR0917 - the parts of one pass
    reading: FileReading, task: ScoringTask, engine: Engine, sink: GrowingRows, skip_bad: bool, progress: Progress
) -> FileScores:
    found = FileScores([])
    sums = _SumsOfRows()
    for rows in sink.earlier():
        sums.add(rows)
        found.earlier += 1

    def blocks() -> Iterator[list[ItemContent]]:
        block: list[ItemContent] = []
        number = 0
        for parsed in items_in(reading):
            if isinstance(parsed, Rejected):
                if not skip_bad:
                    raise InvalidInput(f"{parsed.file}, line {parsed.line}: {parsed.reason}")
                found.rejected.append(parsed)
                continue
            number += 1
            if number <= found.earlier:
                continue
            # An item is known by its number, and a scorer sees no scores.
            block.append(parsed.item._replace(version_id=number, scores=()))
            if len(block) == task.block:
                yield block
                block = []
        if block:
            yield block

    for items, scores in engine(task, blocks()):
        rows = [_row(item, task, score) for item, given in zip(items, scores, strict=True) for score in given]
        sink.write(rows)
        sums.add(rows)
        progress(reading.meter.done, reading.meter.of)
    progress(reading.meter.of, reading.meter.of)
    if not sums.rows:
        raise InvalidInput(f"{reading.source} holds no item to score.")
    found.rows, found.summaries = sums.rows, sums.summaries(task)
    found.notes = [*reading.notes(), *said_of_encodings(reading)]
    return found


class _SumsOfRows:
    """The rows that were written, summed up by value, system and category."""

    def __init__(self) -> None:
        self.rows = 0
        self._sums: dict[str, dict[tuple[str, str | None], Sums]] = defaultdict(lambda: defaultdict(Sums))
        self._unscored: dict[str, Counter[tuple[str, str | None]]] = defaultdict(Counter)

    def add(self, rows: Sequence[Row]) -> None:
        self.rows += len(rows)
        for row in rows:
            if row["target"] != "item":
                continue
            name, value, cell = row["name"], row["value"], (row["system"], row["category"])
            if value is None:
                self._unscored[name][cell] += 1
            else:
                self._sums[name][cell] += Sums(1, value, value * value)

    def summaries(self, task: ScoringTask) -> list[ScoreSummary]:
        """One for each of the scorer's values that there are, the main one first."""
        sums, unscored = self._sums, self._unscored
        names = [kind.name for kind in SCORERS.get(task.scorer).values]
        found = []
        for name in [name for name in names if name in sums or name in unscored] or names[:1]:
            places = sorted({*sums[name], *unscored[name]}, key=lambda place: (place[0], place[1] or ""))
            cells = [ScoreCell(*place, unscored[name][place], sums[name][place]) for place in places]
            found.append(summary_of_cells(task.scorer, task.version, task.parameters, name, cells))
        return found


def _row(item: ItemContent, task: ScoringTask, score: ScoreValue) -> Row:
    return {
        "item": item.version_id,
        **{name: getattr(item, name) for name in OF_ITEM},
        "scorer": task.scorer,
        "version": task.version,
        "parameters": task.parameters,
        "name": score.name,
        "target": score.target,
        "value": score.value,
        "reason": score.reason,
        "details": score.details,
    }
