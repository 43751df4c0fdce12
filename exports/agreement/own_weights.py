"""A study's own agreement weights from a file, a labels × labels table, and the criteria that they are for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.ratings import COMPOSED, Label, Ratings
from annotators.errors import InvalidInput
from exports.cells import original
from exports.checks import about_and_file
from exports.columns.columns import Cell, read_columns
from exports.reading.uploaded import reads_uploads


def named_weights(given: Iterable[str]) -> dict[str, OwnWeights]:
    """Criterion (or `EVERY`) → weights, from `FILE` and `CRITERION=FILE`."""
    return {about: read_weights(path) for about, path in map(about_and_file, given)}


@reads_uploads
def read_weights(path: Path) -> OwnWeights:
    """A table (.csv, .tsv, .jsonl, .parquet, .xlsx) whose first column and whose heading name the labels.

    The rows may be in another order than the columns. Raises NotFound, and InvalidInput that names the file and the
    line, or the cell by its labels.
    """
    columns = read_columns(path)
    rows = [_word(cell) for cell in next(iter(columns.cells.values()), [])]
    by_label = {_word(name): cells for name, cells in list(columns.cells.items())[1:]}
    labels = list(by_label)
    if not labels or not rows:
        raise InvalidInput(
            f"{columns.name} has no weights. Give a row and a column for each label, as in docs/agreement."
        )
    for row, line in zip(rows, columns.lines, strict=True):
        if row not in labels or rows.count(row) > 1:
            what = "is there twice" if row in labels else f"has no column. The columns are: {', '.join(labels)}"
            raise InvalidInput(f"{columns.name}, line {line}: the label {row!r} {what}.")
    missing = [label for label in labels if label not in rows]
    if missing:
        raise InvalidInput(f"{columns.name} has no row for the label {missing[0]!r}, which has a column. Add it.")
    try:
        places = [rows.index(label) for label in labels]
        return OwnWeights.of([[_weight(by_label, label, at, rows[at]) for label in labels] for at in places], labels)
    except InvalidInput as error:
        raise InvalidInput(f"{columns.name}: {error}.") from None


def weights_for(given: Mapping[str, OwnWeights], tables: Iterable[tuple[str, Ratings | None]]) -> dict[str, OwnWeights]:
    """The weights of each criterion that has some; `tables` are the criteria with their ratings.

    Weights that name no criterion are for each whose labels they all have. Raises InvalidInput when a criterion is
    unknown or has a label without weights, and when weights fit no criterion.
    """
    labels: dict[str, set[Label]] = {}
    for name, table in tables:
        if table is not None and table.scale not in COMPOSED:
            labels.setdefault(name, set()).update(table.labels)
    found: dict[str, OwnWeights] = {}
    for about, weights in given.items():
        if about and about not in labels:
            raise InvalidInput(f"There is no criterion {about!r} to weigh. There are: {', '.join(labels) or 'none'}.")
        lacking = {name: weights.lacks(sorted(labels[name], key=str)) for name in ([about] if about else labels)}
        fitting = [name for name, missing in lacking.items() if not missing]
        if not fitting:
            there = "; ".join(f"{name}: {', '.join(map(str, missing[:5]))}" for name, missing in lacking.items())
            raise InvalidInput(f"The weights lack labels that were given ({there}). Add a row and a column for each.")
        found |= {name: weights for name in fitting if about or name not in given}
    return found


def _word(cell: Cell) -> str:
    return original(cell.strip()) if isinstance(cell, str) else "" if cell is None else str(cell)


def _weight(by_label: Mapping[str, Sequence[Cell]], column: str, place: int, row: str) -> float:
    cell = by_label[column][place]
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        what = "is empty" if cell is None or cell == "" else f"is {str(cell)[:80]!r}, which is no number"
        raise InvalidInput(f"the weight in row {row!r}, column {column!r} {what}: write a number from 0 to 1") from None
