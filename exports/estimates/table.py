"""Estimates of a table that stands alone: few rows with a human value, many with predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotators.errors import InvalidInput
from annotators.estimates.raters import LabelsByRater
from annotators.estimates.sample import ITEMS, POPULATION, Units
from exports.columns.columns import Columns
from exports.columns.mapping import AS_IT_IS, TableMapping, read_mapped, said_of_columns
from exports.columns.together import rows_together
from exports.estimates.report import EstimateReport, report_of


@dataclass(frozen=True)
class EstimateColumns:
    """Which columns of a table are what; `human` has one for each rater, or one with a value a row.

    `weight` is one over the probability with which a row was drawn.
    """

    human: tuple[str, ...]
    predict: tuple[str, ...] = ()
    weight: str | None = None
    stratum: str | None = None
    cluster: str | None = None
    group: str | None = None


def estimate_table(
    path: Path,
    named: EstimateColumns,
    *,
    of: str | None = None,
    population: int | None = None,
    positive: str | None = None,
    scale: tuple[float, float] | None = None,
    width: float | None = None,
    labels: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    mapping: TableMapping = AS_IT_IS,
) -> EstimateReport:
    """Every estimate of a table's rows, of which few have a human value.

    About the population that the rows stand for, or with `of` items about the rows themselves; `population` says that
    they are a sample of so many. `mapping` says how the table is opened and its values are read.
    Raises InvalidInput naming file, line and column for a cell that is no number, and
    NotFound for a column that is not there.
    """
    table = read_mapped(path, mapping)
    columns, notes, words = list[list[float | None]](), list[str](), dict[str, str | None]()
    for name in named.human:
        column, words[name] = table.judgements(name, positive)
        columns.append(column)
        if words[name]:
            notes.append(f'{name}: "{words[name]}" counts as 1, any other value as 0')
    said = np.array([[math.nan if value is None else value for value in column] for column in columns]).T
    by_rater = LabelsByRater.of(said)
    values, known = by_rater.means(len(said)), by_rater.value
    if scale is None and len(known) and np.isin(known, (0.0, 1.0)).all():
        scale = (0.0, 1.0)
    if scale is not None and len(known) and not ((known >= scale[0]) & (known <= scale[1])).all():
        wrong = known[(known < scale[0]) | (known > scale[1])][0]
        raise InvalidInput(
            f"{', '.join(named.human)} has the value {wrong:g}, outside the scale {scale[0]:g} to {scale[1]:g}."
        )
    if of == ITEMS and population is not None and population > len(values):
        raise InvalidInput(
            f"The rows are {len(values):,} of {population:,} items: leave --of out, or leave --population out."
        )
    size: float | None = None if of == ITEMS else math.inf
    if population is not None:
        size = float(population)
    clusters, together = rows_together(table, named.cluster)
    if together is not None:
        notes.append(together.in_words("--cluster"))
    units = Units.of(
        by_rater if len(named.human) > 1 else values,
        {name: _numbers(table, name) for name in named.predict},
        n=len(values),
        clusters=clusters,
        strata=_strata(table, named.stratum),
        groups=table.keys(named.group),
        probability=_chances(table, named, values),
        population=size,
        scale=scale,
        seed=seed,
    )
    about = ITEMS if units.beyond < 1 else POPULATION
    if named.weight is None and 0 < units.n_labelled < units.n:
        notes.append("The rows with a label count as drawn at random; --weight says what else they were drawn with")
    cautions = [f"Caution: {caution}" for caution in table.cautions]
    notes += [*cautions, said_of_columns(vars(named)), *table.what_was_read()]
    return report_of(
        units,
        what=f"table {table.name}",
        criterion=", ".join(named.human),
        of=about,
        level=level,
        width=width,
        labels=labels,
        notes=notes,
    )


def _numbers(table: Columns, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([math.nan if value is None else value for value in table.numbers(name)], dtype=np.float64)


def _strata(table: Columns, name: str | None) -> list[str] | None:
    keys = table.keys(name)
    return None if keys is None else ["(none)" if key is None else key for key in keys]


def _chances(
    table: Columns, named: EstimateColumns, human: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """The probability of each row from its weight; InvalidInput for a row with a label and no weight from 1 on."""
    if named.weight is None:
        return None
    weights = _numbers(table, named.weight)
    for place in np.flatnonzero(~np.isnan(human)).tolist():
        if not weights[place] >= 1:
            said = "no weight" if math.isnan(weights[place]) else f"the weight {weights[place]:g}"
            raise InvalidInput(
                f"{table.name}, line {table.lines[place]}: a row with a label has {said} in {named.weight!r}. Give one "
                "over the probability with which it was drawn, 1 or more."
            )
    return np.where(np.isnan(weights), 1.0, 1 / np.where(weights > 0, weights, 1.0))
