"""The difference of one coefficient between two tables of ratings: studies, arms, or groups of annotators."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotators.agreement.measure import chosen
from annotators.agreement.statistics.base import Asked, Coefficient, Measurement, Sample, Sampling, samples
from annotators.agreement.tables.ratings import Label, Ratings
from annotators.arrays import FloatArray, IntArray, np, sparse
from annotators.errors import InvalidInput
from annotators.intervals.analytic import ROUNDING
from annotators.intervals.bootstrap import STACKED, Resampled
from annotators.intervals.result import IntervalKind, Statistic

Units = Mapping[Hashable, Hashable]
UNDEFINED_IN_ONE = "it is not defined in one of the two tables"


@dataclass(frozen=True)
class CoefficientDifference:
    """How much a coefficient differs between two tables: `value` = a - b, with its interval and the p of a permutation.

    `paired` says that the two tables rate the same units and were resampled together. `p_value` is None with
    `p_reason` where there is no permutation that fits.
    """

    statistic: str
    a: Statistic
    b: Statistic
    value: float | None
    low: float | None
    high: float | None
    method: str | None
    p_value: float | None
    paired: bool
    reason: str | None = None
    p_reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The difference for JSON."""
        return {
            "name": self.statistic,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_value,
            "method": self.method,
            "reason": self.reason or self.p_reason,
            "paired": self.paired,
            "a": self.a.to_json(),
            "b": self.b.to_json(),
        }


def difference(
    a: Ratings,
    b: Ratings,
    statistic: str = "krippendorff_alpha_nominal",
    *,
    label: Label | None = None,
    paired: bool | None = None,
    clusters: Units | None = None,
    resamples: int = 1000,
    permutations: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    kind: IntervalKind = "BCa",
) -> CoefficientDifference:
    """The difference a - b of one coefficient between two tables on the same labels.

    Unpaired (two studies, two arms): units are resampled in each table by itself, and the permutation deals all units
    out again to two tables of the same sizes. Paired (two groups of annotators, or a second round, on the same units;
    the default when both tables have the same units, or share clusters): the same units are drawn in both, and the
    permutation swaps what the two groups gave to a unit. With `clusters` (the question of each unit) clusters are
    drawn, dealt out and swapped. p is two-sided, (1 + those at least as far from 0) / (1 + permutations): Davison &
    Hinkley (1997), Bootstrap Methods and their Application, section 4.2.

    `label` chooses the entry of `specific_agreement`. A statistic of one pair of raters needs tables of two raters.
    Raises InvalidInput for an unknown statistic, one with several entries, tables on different scales, or ordered
    labels that are not the same. The interval is the jackknife's where units are not drawn (`Sample.once`).
    """
    coefficient = chosen(a, statistic)[0]
    a, b = _on_the_same_labels(a, b)
    if paired is None:
        names = [{clusters.get(unit) for unit in table.units} if clusters else set(table.units) for table in (a, b)]
        paired = bool(names[0] & names[1]) if clusters else bool(names[0]) and names[0] == names[1]
    codes = _clusters(a, b, clusters, paired=paired)
    drawn_from = 1 + max(int(code.max(initial=-1)) for code in codes if code is not None) if paired else 0
    over = "clusters" if clusters else "units"
    samplings = [
        Sampling(resamples, seed + (0 if paired else place), level, kind, over, code, drawn_from)
        for place, code in enumerate(codes)
    ]
    found = [_prepared(table, coefficient, label, sampling) for table, sampling in zip((a, b), samplings, strict=True)]
    if found[0][0].once or found[1][0].once:
        kind = "jackknife"
        samplings = [replace(sampling, kind=kind) for sampling in samplings]
    drawn = [_resampled(*prepared, sampling) for prepared, sampling in zip(found, samplings, strict=True)]
    sides = [
        part.figure(place, sampled, place, sampling)
        for (_, part, place), sampled, sampling in zip(found, drawn, samplings, strict=True)
    ]
    made = CoefficientDifference(coefficient.name, sides[0], sides[1], None, None, None, None, None, paired)
    if sides[0].value is None or sides[1].value is None:
        why = sides[0].reason if sides[0].value is None else sides[1].reason
        return replace(made, reason=f"{UNDEFINED_IN_ONE}: {why}")
    both = _combined(drawn, [place for _, _, place in found], paired=paired)
    interval = both.interval(0, level, kind)
    p, p_reason = None, None
    if permutations:
        p, p_reason = _permuted(
            (a, b), (coefficient, label), codes, permutations=permutations, seed=seed, paired=paired
        )
    words = [f"difference of two {'paired' if paired else 'independent'} tables", interval.in_words()]
    if p is not None:
        words.append(f"two-sided p from {permutations:,} permutations")
    return replace(
        made,
        value=float(both.values[0]),
        low=interval.low,
        high=interval.high,
        method="; ".join(words),
        p_value=p,
        p_reason=p_reason,
    )


def by_raters(ratings: Ratings, groups: Mapping[Hashable, Hashable]) -> dict[Hashable, Ratings]:
    """One table for each group of raters, all with the same units and labels; raters without a group are left out."""
    members: dict[Hashable, list[int]] = {}
    for i, rater in enumerate(ratings.raters):
        if rater in groups:
            members.setdefault(groups[rater], []).append(i)
    return {group: ratings.of_raters(places) for group, places in members.items()}


def _prepared(
    ratings: Ratings, coefficient: Coefficient, label: Label | None, sampling: Sampling
) -> tuple[Sample, Measurement, int]:
    """The sample and the part that measure the coefficient, and the place of its entry."""
    if coefficient.by_pair and len(ratings.raters) > 2:
        raise InvalidInput(f"{coefficient.name} has one value a pair of raters: give tables of two raters each")
    for sample in samples(ratings, [coefficient], Asked(), sampling):
        for part in sample.parts:
            entries = [i for i, entry in enumerate(part.entries) if label in (None, entry.label)]
            if len(entries) > 1:
                raise InvalidInput(f"{coefficient.name} has one value a label: say which label")
            if entries:
                return sample, part, entries[0]
    raise InvalidInput(f"label {label!r} is not one of the labels of {coefficient.name}: use one that is declared")


def _resampled(sample: Sample, part: Measurement, place: int, sampling: Sampling) -> Resampled:
    if part.entries[place].reason is not None:
        nothing = np.full((0, len(part.entries)), np.nan)
        return Resampled(np.full(len(part.entries), np.nan), nothing, nothing, np.empty(0), sampling.seed, 0)
    return sample.resampled([part], sampling)


def _combined(drawn: list[Resampled], places: list[int], *, paired: bool) -> Resampled:
    """The resamples of the difference; the jackknife of independent tables leaves one out in either of them."""
    (a, b), (i, j) = drawn, places
    value = a.values[i : i + 1] - b.values[j : j + 1]
    replicates = a.replicates[:, i : i + 1] - b.replicates[:, j : j + 1]
    if paired:
        jackknife, repeats = a.jackknife[:, i : i + 1] - b.jackknife[:, j : j + 1], a.repeats
    else:
        sides = [
            sign * (side.jackknife[:, [k]] - np.average(side.jackknife[:, k], weights=side.repeats)) + value
            for side, k, sign in ((a, i, 1), (b, j, -1))
            if len(side.repeats)
        ]
        jackknife = np.concatenate([*sides, np.empty((0, 1))])
        repeats = np.concatenate([a.repeats, b.repeats])
    n = min(a.n_units, b.n_units)
    return Resampled(value, replicates, jackknife, repeats, a.seed, n, a.over, ceiling=np.inf)


def _on_the_same_labels(a: Ratings, b: Ratings) -> tuple[Ratings, Ratings]:
    """Both tables with the labels of either, in one order."""
    if a.scale != b.scale:
        raise InvalidInput(f"one table is {a.scale} and the other {b.scale}: compare tables on the same scale")
    if a.labels == b.labels:
        return a, b
    if a.scale == "ordinal" and not (a.numeric and b.numeric):
        raise InvalidInput("the two tables declare different ordered labels: declare the same for both")
    labels = tuple(dict.fromkeys([*a.labels, *b.labels]))
    numeric = a.numeric and b.numeric
    known = dict(zip(a.labels, a.numbers.tolist(), strict=True)) | dict(zip(b.labels, b.numbers.tolist(), strict=True))
    numbers = np.array([known[label] if numeric else i for i, label in enumerate(labels)], dtype=np.float64)
    place = {label: i for i, label in enumerate(labels)}

    def moved(table: Ratings) -> Ratings:
        to = np.array([place[label] for label in table.labels], dtype=np.int64)
        code = to[table.code] if len(to) else table.code
        return replace(table, labels=labels, numbers=numbers, numeric=numeric, code=code)

    return moved(a), moved(b)


def _clusters(
    a: Ratings, b: Ratings, clusters: Units | None, *, paired: bool
) -> tuple[IntArray | None, IntArray | None]:
    """The cluster of each unit of either table, numbered through both; None where units are drawn by themselves."""
    if not paired and clusters is None:
        return None, None
    missing = [unit for unit in (*a.units, *b.units) if clusters is not None and unit not in clusters]
    if missing:
        raise InvalidInput(f"unit {missing[0]!r} has no cluster: give one for every unit, or none at all")
    named: list[list[Hashable]] = [
        [(None if paired else side, clusters[unit] if clusters else unit) for unit in table.units]
        for side, table in enumerate((a, b))
    ]
    place = {name: i for i, name in enumerate(sorted(dict.fromkeys([*named[0], *named[1]]), key=str))}
    codes = [np.array([place[name] for name in names], dtype=np.int64) for names in named]
    return codes[0], codes[1]


# Permutations ---------------------------------------------------------------------------------------------------------


def _permuted(
    tables: tuple[Ratings, Ratings],
    about: tuple[Coefficient, Label | None],
    codes: tuple[IntArray | None, IntArray | None],
    *,
    permutations: int,
    seed: int,
    paired: bool,
) -> tuple[float | None, str | None]:
    """The p of the difference of a statistic (and label), or why there is none; `codes` are from `_clusters`."""
    both = _one_table(tables, about[0])
    if isinstance(both, str):
        return None, both
    units, first = len(both.units), len(tables[0].units)
    every_unit = Sampling(0, seed, clusters=np.zeros(units, dtype=np.int64), drawn_from=1)
    sample, part, place = _prepared(both, *about, every_unit)
    patterns = len(sample.multiplicity)
    blocks = np.concatenate(
        [
            code if code is not None else np.arange(units)[side]
            for code, side in zip(codes, (slice(None, first), slice(first, None)), strict=True)
        ]
    )
    contents = [
        _content(blocks[side], sample.of_unit[side], int(blocks.max(initial=0)) + 1, patterns)
        for side in (slice(None, first), slice(first, None))
    ]
    rng = np.random.default_rng([seed, 3])
    deal = _swaps(rng, contents) if paired else _deals(rng, contents)

    def values(weights: FloatArray) -> FloatArray:
        found: FloatArray = part.evaluate(weights).reshape(len(weights), -1)[:, place]
        return found

    sides = [values(np.asarray(content.sum(axis=0), dtype=np.float64)[None, :]) for content in contents]
    observed = float(sides[0][0] - sides[1][0])
    at_once = STACKED.at_once(max(patterns, sample.width, contents[0].shape[0]))
    drawn = []
    for start in range(0, permutations, at_once):
        left, right = deal(min(at_once, permutations - start))
        drawn.append(values(left) - values(right))
    far = np.concatenate(drawn)
    far = far[~np.isnan(far)]
    if 2 * len(far) < permutations:
        return None, "most permutations leave the coefficient undefined"
    return float((1 + (np.abs(far) >= abs(observed) - ROUNDING).sum()) / (1 + len(far))), None


def _one_table(tables: tuple[Ratings, Ratings], coefficient: Coefficient) -> Ratings | str:
    """Both tables as one, the units of the first before those of the second; or why that makes no sense."""
    a, b = tables
    raters: tuple[Hashable, ...]
    if a.raters == b.raters:
        raters, shift = a.raters, 0
    elif not coefficient.who_matters:
        raters, shift = (*((0, rater) for rater in a.raters), *((1, rater) for rater in b.raters)), len(a.raters)
    elif len(a.raters) == len(b.raters) == 2:
        raters, shift = (0, 1), 0
    else:
        return "the coefficient depends on who rated, and the two tables have different raters"
    return replace(
        a,
        units=(*((0, unit) for unit in a.units), *((1, unit) for unit in b.units)),
        raters=raters,
        unit=np.concatenate([a.unit, b.unit + len(a.units)]),
        rater=np.concatenate([a.rater, b.rater + shift]),
        code=np.concatenate([a.code, b.code]),
    )


def _content(blocks: IntArray, of_unit: IntArray, n_blocks: int, patterns: int) -> sparse.csr_array:
    """How many units of each pattern each block has (blocks × patterns)."""
    counting = of_unit >= 0
    place = (blocks[counting], of_unit[counting])
    return sparse.csr_array((np.ones(int(counting.sum())), place), shape=(n_blocks, patterns))


Deal = Callable[[int], tuple[FloatArray, FloatArray]]


def _swaps(rng: np.random.Generator, contents: list[sparse.csr_array]) -> Deal:
    """Swap what the two tables gave to a block, each with probability ½."""
    apart = contents[1] - contents[0]

    def deal(size: int) -> tuple[FloatArray, FloatArray]:
        swap = rng.integers(2, size=(size, apart.shape[0])).astype(np.float64)
        moved = np.asarray(swap @ apart)
        return contents[0].sum(axis=0) + moved, contents[1].sum(axis=0) - moved

    return deal


def _deals(rng: np.random.Generator, contents: list[sparse.csr_array]) -> Deal:
    """Deal the blocks that count out again, as many to each table as it had."""
    both = sparse.csr_array(contents[0] + contents[1])
    counting = np.flatnonzero(both.sum(axis=1))
    first = int((contents[0].sum(axis=1) > 0).sum())
    both = both[counting]

    def deal(size: int) -> tuple[FloatArray, FloatArray]:
        order = rng.random((size, len(counting))).argsort(axis=1)
        left = np.asarray((order < first).astype(np.float64) @ both)
        return left, both.sum(axis=0) - left

    return deal
