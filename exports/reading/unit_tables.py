"""Tables with a row for each labelled unit, as an adjudicator decided it, or as it is known to be right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotators.errors import InvalidInput, NotFound, Problem
from exports.reading.tables import MOST_BAD, TOO_MANY_BAD, open_table
from exports.reading.uploaded import reads_uploads

NEEDED = ("item", "criterion", "value")
OF_DECISIONS = ("target", "reason", "other_item", "cause", "confidence", "note")
OF_GOLD = ("target", "explanation", "other_item")

Units = tuple[list[tuple[int, dict[str, str]]], list[Problem]]
"""The lines of a table with their cells by column, and the bad ones."""


@reads_uploads
def decided_units(path: Path) -> Units:
    """A table of decisions: `NEEDED`, and perhaps `OF_DECISIONS`; columns may stand in any order, others are ignored.

    Raises NotFound for a path that is not there, InvalidInput for one that is no such table or has no rows.
    """
    return _units(path, "decisions", OF_DECISIONS)


@reads_uploads
def right_units(path: Path) -> Units:
    """A table of right labels: `NEEDED`, and perhaps `OF_GOLD`; else as `decided_units`."""
    return _units(path, "right labels", OF_GOLD)


def _units(path: Path, of: str, optional: Sequence[str]) -> Units:
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    try:
        table = open_table(path)
    except InvalidInput as error:
        raise InvalidInput(f"{path.name}: {error}") from None
    places = {column.lower(): place for place, column in enumerate(table.columns)}
    if missing := [column for column in NEEDED if column not in places]:
        remedy = f"A table of {of} has the columns {', '.join(NEEDED)}, and perhaps {', '.join(optional)}."
        raise InvalidInput(
            f"{path.name}, line 1: the column {missing[0]!r} is missing. {remedy}",
            [Problem(1, f"The column {missing[0]!r} is missing.", remedy)],
        )
    rows: list[tuple[int, dict[str, str]]] = []
    problems: list[Problem] = []
    for line, cells in table.rows:
        if len(problems) == MOST_BAD:
            problems.append(Problem.of(TOO_MANY_BAD, line=line))
            break
        if isinstance(cells, str):
            problem, _, remedy = cells.partition(". ")
            problems.append(Problem(line, f"{problem}.", remedy))
            continue
        found = {column: _text(cells[places[column]]) for column in (*NEEDED, *optional) if column in places}
        if empty := next((column for column in NEEDED if not found[column]), None):
            problems.append(Problem(line, f"`{empty}` is empty.", "Fill it in, or leave the row out."))
            continue
        rows.append((line, found))
    if not rows and not problems:
        raise InvalidInput(f"{path.name} has no rows. Write a row for each unit.")
    return rows, problems


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()
