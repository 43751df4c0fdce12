"""The rows of a table that stands alone as labels that systems are compared by."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.intervals.result import Raters
from annotators.mixed.systems import SystemLabels, compare_systems
from exports.columns.columns import Columns
from exports.columns.mapping import AS_IT_IS, TableMapping, read_mapped, said_of_columns
from exports.systems.report import SystemsReport


@dataclass(frozen=True)
class SystemColumns:
    """Which columns of a table are what: one row a label."""

    value: str
    system: str
    question: str
    rater: str | None = None
    item: str | None = None

    def said(self) -> str:
        """A sentence that says which column is what."""
        return said_of_columns(vars(self))


def systems_of_table(
    path: Path,
    named: SystemColumns,
    *,
    raters: Raters = "random",
    level: float = 0.95,
    margin: float | None = None,
    positive: str | None = None,
    scale: tuple[float, float] | None = None,
    mapping: TableMapping = AS_IT_IS,
) -> SystemsReport:
    """Systems compared by the labels of a table.

    Labels are numbers, or two words of which `positive` (default: yes, true, correct, …) counts as 1; `scale` has the
    ends of numbers, without which two labels go from 0 to 1 and others have none. Rows without a label, a system or a
    question are left out and counted. Without a rater's column all labels count as of one rater. Raises InvalidInput
    naming file, line and column for a value that is no number or not on the scale, NotFound for a column that is not
    there.
    """
    table = read_mapped(path, mapping)
    value, word = table.judgements(named.value, positive)
    system, question = table.keys(named.system) or [], table.keys(named.question) or []
    rater, item = table.keys(named.rater), table.keys(named.item)
    kept = [
        place
        for place in range(len(value))
        if value[place] is not None and system[place] is not None and question[place] is not None
    ]
    _check_scale(table, named.value, value, scale)
    given = [number for place in kept if (number := value[place]) is not None]
    if scale is None and set(given) <= {0.0, 1.0}:
        scale = (0.0, 1.0)
    answers: list[Hashable] | None = None if item is None else [item[place] or (place,) for place in kept]
    labels = SystemLabels.of(
        given,
        [str(system[place]) for place in kept],
        [question[place] for place in kept],
        ["" if rater is None else (rater[place] or (place,)) for place in kept],
        answers=answers,
        scale=scale,
    )
    found = compare_systems(labels, criterion=named.value, raters=raters, level=level, margin=margin)
    left = len(value) - len(kept)
    notes = [f'{named.value}: "{word}" counts as 1, any other value as 0'] if word else []
    if left:
        notes.append(f"{count(left, 'row')} without a label, a system or a question left out")
    if rater is None:
        notes.append("no column says who judged: all labels count as of one rater")
    facts = [("Table", table.name), ("Rows", f"{len(value):,}")]
    return SystemsReport.of(
        f"Systems in {table.name}",
        facts,
        [(named.value, found)],
        level,
        {"table": table.name, "rows": len(value)},
        read=[named.said(), *table.what_was_read()],
        cautions=table.cautions,
        notes=notes,
    )


def _check_scale(table: Columns, column: str, values: list[float | None], scale: tuple[float, float] | None) -> None:
    if scale is None:
        return
    for value, line in zip(values, table.lines, strict=True):
        if value is not None and not scale[0] <= value <= scale[1]:
            raise InvalidInput(
                f"{table.name}, line {line}: {column!r} is {value:g}, outside the scale {scale[0]:g} to {scale[1]:g}. "
                "Correct the value or --human-scale."
            )
