"""Tables of what an adjudicator decided: read, checked, and stored all or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotators.errors import InvalidInput, NotFound, Problem
from db.adjudicating.tables import DecidedRow, TableDecided, adjudicate_table
from db.engine import Database
from db.permissions import Actor
from exports.reading.tables import open_table

NEEDED = ("item", "criterion", "value")
OPTIONAL = ("target", "reason", "other_item", "cause", "confidence", "note")


def read_decisions(path: Path) -> tuple[list[DecidedRow], list[Problem]]:
    """The rows of a table, and those that are bad: columns item, criterion, value, and perhaps those of `OPTIONAL`.

    Columns may stand in any order, others are ignored. Raises NotFound for a path that is not there, InvalidInput for
    one that is no such table or has no rows.
    """
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    try:
        table = open_table(path)
    except InvalidInput as error:
        raise InvalidInput(f"{path.name}: {error}") from None
    places = {column.lower(): place for place, column in enumerate(table.columns)}
    if missing := [column for column in NEEDED if column not in places]:
        remedy = f"A table of decisions has the columns {', '.join(NEEDED)}, and perhaps {', '.join(OPTIONAL)}."
        raise InvalidInput(
            f"{path.name}, line 1: the column {missing[0]!r} is missing. {remedy}",
            [Problem(1, f"The column {missing[0]!r} is missing.", remedy)],
        )
    rows: list[DecidedRow] = []
    problems: list[Problem] = []
    for line, cells in table.rows:
        if isinstance(cells, str):
            problem, _, remedy = cells.partition(". ")
            problems.append(Problem(line, f"{problem}.", remedy))
            continue
        found = {column: _text(cells[places[column]]) for column in (*NEEDED, *OPTIONAL) if column in places}
        if empty := next((column for column in NEEDED if not found[column]), None):
            problems.append(Problem(line, f"`{empty}` is empty.", "Fill it in, or leave the row out."))
            continue
        other = found.get("other_item") or None
        target = found.get("target") or ("pair" if other else "item")
        said = {name: found.get(name) or None for name in ("reason", "cause", "confidence", "note")}
        rows.append(DecidedRow(line, found["item"], found["criterion"], target, found["value"], other=other, **said))
    if not rows and not problems:
        raise InvalidInput(f"{path.name} has no rows. Write a row for each unit that is decided.")
    return rows, problems


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def import_decisions(db: Database, actor: Actor, study_id: int, *, path: Path, again: bool = False) -> TableDecided:
    """Decide what a table says, in a study; every problem of the file is raised at once, and nothing is stored then."""
    rows, problems = read_decisions(path)
    return adjudicate_table(db, actor, study_id, rows=rows, again=again, problems=problems)
