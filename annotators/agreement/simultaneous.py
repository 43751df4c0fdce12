"""Several criteria at once: intervals that hold together, and differences, from resamples of the items they share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from annotators.agreement.catalogue import headline
from annotators.agreement.measure import chosen
from annotators.agreement.statistics.base import Asked, Sampling, samples
from annotators.agreement.tables.columns import CriterionTable
from annotators.arrays import FloatArray, IntArray, np, special
from annotators.errors import InvalidInput
from annotators.intervals.analytic import ROUNDING
from annotators.intervals.multiplicity import holm


@dataclass(frozen=True)
class SimultaneousMember:
    """One criterion's coefficient, its standard error, and the interval that holds together with the others'."""

    criterion: str
    target: str
    statistic: str
    value: float | None
    error: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Contrast:
    """The difference of two criteria, its percentile interval, p, and p adjusted for how many there are (Holm)."""

    a: str
    b: str
    value: float
    low: float
    high: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True)
class Simultaneous:
    """The coefficients of several criteria with intervals that all cover at once in `level` of the samples.

    `correlation` is that of the coefficients over the resamples, of the defined members in their order.
    """

    members: tuple[SimultaneousMember, ...]
    contrasts: tuple[Contrast, ...]
    correlation: tuple[tuple[float, ...], ...]
    method: str

    def to_json(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "method": self.method,
            "members": [vars(member) for member in self.members],
            "contrasts": [vars(contrast) for contrast in self.contrasts],
            "correlation": [list(row) for row in self.correlation],
        }


def jointly(
    tables: Sequence[CriterionTable],
    statistic: str | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    by_question: bool = False,
) -> Simultaneous:
    """One coefficient of each criterion (its headline, unless named), measured on the same resamples of items.

    The criteria of a study are judged on the same items by the same people, so their coefficients move together. The
    items (with `by_question` the questions) are drawn once for all criteria; every interval is value ± q · standard
    error, with q the `level` quantile of the largest |deviation| / standard error among the criteria (max-t: Romano &
    Wolf 2005, Journal of the American Statistical Association 100, 94-108), so that all of them cover together. p of a
    difference is that of a normal deviate, adjusted by Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    Raises InvalidInput for a statistic with several entries.
    """
    codes, n_items = _items(tables, by_question=by_question)
    over = "questions" if by_question else "items"
    found = [
        _replicates(table, statistic, Sampling(resamples, seed, level, clusters=code, over=over, drawn_from=n_items))
        for table, code in zip(tables, codes, strict=True)
    ]
    defined = [i for i, replicates in enumerate(found) if replicates.value is not None]
    drawn = np.column_stack([found[i].drawn for i in defined]) if defined else np.empty((0, 0))
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    method = f"max-t bootstrap over {over}, {100 * level:g} % for all together, {len(drawn):,} resamples, seed {seed}"
    if len(drawn) < 2:
        members = [_member(table, replicates) for table, replicates in zip(tables, found, strict=True)]
        return Simultaneous(tuple(members), (), (), f"no interval: {len(drawn)} resamples define every coefficient")
    values = np.array([found[i].value for i in defined], dtype=np.float64)
    errors = drawn.std(axis=0, ddof=1)
    moving = errors > ROUNDING
    deviations = np.abs(drawn[:, moving] - values[moving]) / errors[moving]
    reach = float(np.quantile(deviations.max(axis=1), level)) if moving.any() else 0.0
    members = []
    for i, (table, replicates) in enumerate(zip(tables, found, strict=True)):
        place = defined.index(i) if i in defined else None
        members.append(_member(table, replicates, None if place is None else float(errors[place]), reach))
    names = [tables[i].criterion for i in defined]
    with np.errstate(invalid="ignore"):
        correlation = np.nan_to_num(np.corrcoef(drawn, rowvar=False)).reshape(len(defined), len(defined))
    return Simultaneous(
        tuple(members),
        tuple(_contrasts(names, values, drawn, level)),
        tuple(tuple(row) for row in correlation.tolist()),
        method,
    )


def _items(tables: Sequence[CriterionTable], *, by_question: bool) -> tuple[list[IntArray], int]:
    """The item or question of each unit, numbered through all tables, and how many there are."""
    named: list[list[Hashable]] = []
    for table in tables:
        if by_question and table.questions is None:
            raise InvalidInput(f"criterion {table.criterion!r} says no questions: resample items instead")
        by = dict(zip(table.ratings.units, table.items, strict=True))
        named.append([table.questions[unit] if by_question and table.questions else by[unit] for unit in by])
    place = {name: i for i, name in enumerate(sorted({name for names in named for name in names}, key=str))}
    return [np.array([place[name] for name in names], dtype=np.int64) for names in named], len(place)


@dataclass(frozen=True, eq=False)
class _Found:
    """A criterion's statistic: its name, its value, its values on the resamples, or the reason why it has none."""

    name: str
    value: float | None
    drawn: FloatArray
    reason: str | None


def _replicates(table: CriterionTable, statistic: str | None, sampling: Sampling) -> _Found:
    coefficient = chosen(table.ratings, statistic or headline(table.ratings.scale))[0]
    name = coefficient.name
    if coefficient.by_label or (coefficient.by_pair and len(table.ratings.raters) > 2):
        raise InvalidInput(f"{name} has several values a criterion: choose a statistic with one")
    sample = next(samples(table.ratings, [coefficient], Asked(), sampling))
    part = sample.parts[0]
    nothing = np.empty(0)
    if part.entries[0].reason:
        return _Found(name, None, nothing, part.entries[0].reason)
    sampled = sample.resampled([part], sampling)
    if np.isnan(sampled.values[0]):
        return _Found(name, None, nothing, part.undefined)
    return _Found(name, float(sampled.values[0]), sampled.replicates[:, 0], None)


def _member(table: CriterionTable, found: _Found, error: float | None = None, reach: float = 0.0) -> SimultaneousMember:
    low = high = None
    if found.value is not None and error is not None:
        low, high = min(found.value - reach * error, 1.0), min(found.value + reach * error, 1.0)
    return SimultaneousMember(table.criterion, table.target, found.name, found.value, error, low, high, found.reason)


def _contrasts(names: list[str], values: FloatArray, drawn: FloatArray, level: float) -> list[Contrast]:
    """All differences of two criteria."""
    pairs = list(combinations(range(len(names)), 2))
    ends, p_values = [], []
    for i, j in pairs:
        apart = drawn[:, i] - drawn[:, j]
        ends.append(np.quantile(apart, [(1 - level) / 2, (1 + level) / 2]).tolist())
        error, value = float(apart.std(ddof=1)), float(values[i] - values[j])
        certain = 1.0 if abs(value) <= ROUNDING else 0.0
        p_values.append(2 * float(special.ndtr(-abs(value) / error)) if error > ROUNDING else certain)
    return [
        Contrast(names[i], names[j], float(values[i] - values[j]), low, high, p, adjusted)
        for (i, j), (low, high), p, adjusted in zip(pairs, ends, p_values, holm(p_values), strict=True)
    ]
