"""The planner: how many items and annotators give an interval of a wanted width, simulated from a pilot's ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from annotators.agreement.rater_models.dawid_skene import DawidSkene, dawid_skene
from annotators.agreement.statistics.base import Coefficient, all_coefficients, coefficient_named
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Evaluate

FEW_UNITS = 30  # a pilot with fewer units says little about the next ones
GROUPS = 400  # with more patterns than this the jackknife leaves out random groups of units
CELLS = 4_000_000  # 32 MB of weights at once
SMOOTHING = 0.01  # of the rater model: a label that a rater never gave in the pilot is rare, not impossible
MISFIT = 0.05
UNITS = 100_000  # simulated units at once


def plannable() -> tuple[str, ...]:
    """The names of the coefficients that can be planned. `light_kappa` of two annotators is Cohen's κ."""
    return tuple(coefficient.name for coefficient in all_coefficients() if coefficient.plannable)


@dataclass(frozen=True)
class PlannedStudy:
    """What a study of `n_items` items with `n_annotators` ratings each is expected to give.

    `width` is the mean over simulated studies of the width of the interval (high - low), `width_low` and `width_high`
    its 10 % and 90 % quantiles: with a width of `width_high` nine of ten studies are at least as narrow. `value` is the
    mean coefficient. `undefined` of the simulated studies had no interval and are left out; when they are more than
    half, the numbers are None and `reason` says so. `source` says what was simulated from.
    """

    n_items: int
    n_annotators: int
    source: str
    width: float | None
    width_low: float | None
    width_high: float | None
    value: float | None
    undefined: int
    reason: str | None = None

    @property
    def n_ratings(self) -> int:
        """How many ratings the study takes."""
        return self.n_items * self.n_annotators

    def to_json(self) -> dict[str, Any]:
        """The row for JSON."""
        return {**self.__dict__, "n_ratings": self.n_ratings}


@dataclass(frozen=True)
class Plan:
    """The table of planned studies, by number of annotators, then items, and what is to be known beside it.

    `pilot_value` is the coefficient of the pilot itself. `reason` says why there is no table, when there is none.
    """

    statistic: str
    level: float
    simulations: int
    seed: int
    pilot_value: float | None
    studies: tuple[PlannedStudy, ...]
    notes: tuple[str, ...] = ()
    reason: str | None = None

    def enough(self, width: float, *, assured: bool = False) -> PlannedStudy | None:
        """The study with the fewest ratings whose expected width is at most `width`, or None.

        `assured` asks that nine of ten simulated studies are as narrow, not the mean.
        """
        fit = [
            study
            for study in self.studies
            if study.width is not None
            and study.width_high is not None
            and (study.width_high if assured else study.width) <= width
        ]
        return min(fit, key=lambda study: (study.n_ratings, study.n_items), default=None)

    def items_needed(self, width: float) -> dict[int, int]:
        """About how many items give the width, for each number of annotators: widths shrink with the root of items.

        It reads between and beyond the rows of the table; simulate the number to be sure. Numbers of annotators
        without a width are left out.
        """
        found: dict[int, int] = {}
        for n_annotators in dict.fromkeys(study.n_annotators for study in self.studies):
            rows = [study for study in self.studies if study.n_annotators == n_annotators and study.width]
            if rows:
                nearest = min(rows, key=lambda study: abs(np.log((study.width or 1.0) / width)))
                found[n_annotators] = int(np.ceil(nearest.n_items * ((nearest.width or 0.0) / width) ** 2))
        return found

    def to_json(self) -> dict[str, Any]:
        """The plan for JSON."""
        return {
            "statistic": self.statistic,
            "level": self.level,
            "simulations": self.simulations,
            "seed": self.seed,
            "pilot_value": self.pilot_value,
            "reason": self.reason,
            "notes": list(self.notes),
            "studies": [study.to_json() for study in self.studies],
        }


def plan(
    pilot: Ratings,
    statistic: str,
    n_items: Sequence[int] = (50, 100, 200, 400, 800),
    n_annotators: Sequence[int] | None = None,
    *,
    simulations: int = 200,
    seed: int = 0,
    level: float = 0.95,
) -> Plan:
    """Simulate studies of each size from the pilot and measure how wide their intervals are.

    `statistic` is one of `plannable()`: a coefficient of agreement with one value for all raters. `n_annotators` are
    ratings an item, by default the pilot's own number (the most frequent). What a study is simulated from:

    - as many annotators as in the pilot: its units, gaps included, drawn with replacement;
    - fewer, for a coefficient that does not ask who gave which label: of each drawn unit with enough ratings, some at
      random;
    - otherwise a Dawid–Skene model fitted to the pilot: labels of new annotators who are each like one of the pilot's,
      all of these in equal numbers as far as that goes, the rest drawn anew for each study. It takes ratings of a unit
      as independent given its true label; where hard items make raters err together, it is too hopeful about more
      annotators.

    The interval is value ± t times the jackknife's standard error over items, cut at 1, which stands for the bootstrap
    interval that `measure` reports (`docs/rater-models.md` compares the two). Only the items vary in it: which
    annotators there are does not. Raises InvalidInput for numbers out of range and a statistic that cannot be planned.
    """
    if statistic not in plannable():
        raise InvalidInput(f"statistic {statistic!r} cannot be planned: use one of {', '.join(plannable())}")
    _checked(n_items, n_annotators, simulations, seed, level)
    sizes = pilot.sizes[pilot.sizes > 0]
    own = int(np.bincount(sizes).argmax()) if len(sizes) else 0
    if own < 2 and (not len(sizes) or sizes.max() < 2):
        return Plan(statistic, level, simulations, seed, None, (), reason="the pilot has no unit with two ratings")
    asked = list(dict.fromkeys([max(own, 2)] if n_annotators is None else n_annotators))
    planned = coefficient_named(statistic)
    source = _Pilot(pilot, planned, max(own, 2), seed)
    value = UnitTable.of(pilot, planned).value
    if value is None:
        return Plan(
            statistic, level, simulations, seed, None, (), reason=f"{statistic} is not defined for the pilot's ratings"
        )
    studies = []
    for annotators in asked:
        for items in dict.fromkeys(n_items):
            rng = np.random.default_rng([seed, items, annotators])
            samples = source.studies(items, annotators, simulations, rng)
            drawn = np.concatenate([_intervals(sample, level) for sample in samples])
            studies.append(_study(items, annotators, source.name(annotators), drawn))
    return Plan(statistic, level, simulations, seed, value, tuple(studies), tuple(source.notes(asked, value)))


def _checked(
    n_items: Sequence[int], n_annotators: Sequence[int] | None, simulations: int, seed: int, level: float
) -> None:
    """Raise InvalidInput for a number that is out of range."""
    small = [n for n in n_items if n < 2]
    if small or not n_items:
        raise InvalidInput(f"{small[0] if small else 'no number of'} items: plan 2 items or more")
    few = [n for n in n_annotators or () if n < 2]
    if few or (n_annotators is not None and not n_annotators):
        raise InvalidInput(f"{few[0] if few else 'no number of'} annotators an item: agreement needs 2 or more")
    if simulations < 1 or seed < 0 or not 0 < level < 1:
        raise InvalidInput(
            f"{simulations} simulations, seed {seed}, level {level}: "
            "give one simulation or more, a seed from 0 on, and a level such as 0.95"
        )


@dataclass(frozen=True, eq=False)
class UnitTable:
    """A coefficient over P patterns of units: `evaluate` takes weights (B × P) and returns B values, NaN undefined.

    `multiplicity` (P) is how many units of the table show the pattern, `of_unit` (U) the pattern of each unit, -1 for
    one that does not count.
    """

    evaluate: Evaluate
    multiplicity: IntArray
    of_unit: IntArray

    @classmethod
    def of(cls, ratings: Ratings, planned: Coefficient) -> UnitTable:
        """The coefficient over the units of a table. Raises InvalidInput when the scale does not fit it."""
        ordered, numeric = planned.needs != "nothing", planned.needs in ("numbers", "ratio")
        if ordered and ratings.scale not in ("ordinal", "interval", "ratio"):
            raise InvalidInput(f"{planned.name} needs ordered labels: the scale is {ratings.scale}")
        if numeric and not ratings.numeric:
            raise InvalidInput(f"{planned.name} needs labels that are numbers: plan krippendorff_alpha_ordinal")
        evaluate, sample = planned.of_units(ratings)
        return cls(evaluate, sample.multiplicity, sample.of_unit)

    @property
    def value(self) -> float | None:
        """The coefficient of the table itself, None where it is undefined or rests on one unit."""
        if self.multiplicity.sum() < 2:
            return None
        found = float(self.evaluate(self.multiplicity[None, :].astype(np.float64))[0])
        return None if np.isnan(found) else found


@dataclass(frozen=True, eq=False)
class _Studies:
    """Simulated studies over the same P patterns: `weights` (S × P) is how often each study holds each pattern."""

    evaluate: Evaluate
    weights: IntArray


class _Pilot:
    """The pilot as the source of simulated studies."""

    def __init__(self, ratings: Ratings, planned: Coefficient, own: int, seed: int) -> None:
        self.ratings, self.planned, self.own, self.seed = ratings, planned, own, seed
        self.starts = np.searchsorted(ratings.unit, np.arange(len(ratings.units)))
        self._model: DawidSkene | None = None

    def name(self, annotators: int) -> str:
        """What a study with so many annotators is simulated from, in words."""
        if annotators == self.own:
            return "the pilot's units"
        if self._thinned(annotators):
            return f"{annotators} ratings of each of the pilot's units"
        return "a Dawid–Skene model of the pilot's annotators"

    def _thinned(self, annotators: int) -> bool:
        return annotators < self.own and not self.planned.who_matters

    def studies(self, items: int, annotators: int, simulations: int, rng: np.random.Generator) -> Iterator[_Studies]:
        """The simulated studies, in as few samples as can be."""
        if annotators == self.own:
            table = UnitTable.of(self.ratings, self.planned)
            there = self.ratings.sizes > 0
            drawn = np.bincount(table.of_unit[there] + 1, minlength=len(table.multiplicity) + 1)
            weights = rng.multinomial(items, drawn / drawn.sum(), size=simulations)[:, 1:]
            yield _Studies(table.evaluate, weights)
            return
        make = self._thin if self._thinned(annotators) else self._simulated
        at_once = max(1, UNITS // items)
        for start in range(0, simulations, at_once):
            yield from self._samples(make(min(at_once, simulations - start), items, annotators, rng))

    def _samples(self, codes: IntArray) -> Iterator[_Studies]:
        """The studies with these codes (S × items × annotators): one sample, or one each if they have much in it."""
        studies, items, annotators = codes.shape
        table = UnitTable.of(_rated(self.ratings, codes.reshape(-1, annotators)), self.planned)
        patterns = len(table.multiplicity)
        if studies > 1 and patterns > GROUPS:
            for code in codes:
                yield from self._samples(code[None])
            return
        study = np.repeat(np.arange(studies), items)
        counting = table.of_unit >= 0
        cells = np.bincount(study[counting] * patterns + table.of_unit[counting], minlength=studies * patterns)
        yield _Studies(table.evaluate, cells.reshape(studies, patterns))

    def _thin(self, studies: int, items: int, annotators: int, rng: np.random.Generator) -> IntArray:
        """Codes (S × items × annotators): some of the ratings of drawn units that have enough of them."""
        enough = np.flatnonzero(self.ratings.sizes >= annotators)
        unit = enough[rng.integers(len(enough), size=studies * items)]
        places = rng.random((studies * items, int(self.ratings.sizes.max())))
        places[np.arange(places.shape[1]) >= self.ratings.sizes[unit][:, None]] = 2  # behind all ratings
        chosen = np.argpartition(places, annotators - 1, axis=1)[:, :annotators]
        codes = self.ratings.code[self.starts[unit][:, None] + chosen]
        return np.asarray(codes.reshape(studies, items, annotators))

    def _simulated(self, studies: int, items: int, annotators: int, rng: np.random.Generator) -> IntArray:
        """Codes (S × items × annotators) of new annotators, each like one of the pilot's, in each study others."""
        model = self.model()
        pooled = np.nansum(model.confusion * model.seen[:, :, None], axis=0)
        pooled /= np.maximum(pooled.sum(axis=1, keepdims=True), 1e-300)
        steps = np.cumsum(np.where(np.isnan(model.confusion), pooled, model.confusion), axis=2)
        there = np.unique(self.ratings.rater)
        times, more = divmod(annotators, len(there))
        shuffled = rng.permuted(np.tile(there, (studies, 1)), axis=1)[:, :more]
        who = np.column_stack([np.tile(there, (studies, times)), shuffled])[:, None, :]
        truth = rng.choice(len(model.prevalence), p=model.prevalence, size=(studies, items, 1))
        found = np.zeros((studies, items, annotators), dtype=np.int64)
        drawn = rng.random(found.shape) * steps[who, truth, -1]
        for label in range(steps.shape[2] - 1):
            found += drawn >= steps[who, truth, label]
        return found

    def model(self) -> DawidSkene:
        """The rater model of the pilot, fitted once."""
        if self._model is None:
            self._model = dawid_skene(self.ratings, smoothing=SMOOTHING, starts=5, seed=self.seed)
        return self._model

    def notes(self, asked: Sequence[int], value: float) -> list[str]:
        """What is to be known beside the table."""
        notes = []
        n_units = int((self.ratings.sizes > 0).sum())
        if n_units < FEW_UNITS:
            notes.append(f"the pilot has only {n_units} rated units: the plan is as uncertain as it is")
        if not any(n != self.own and not self._thinned(n) for n in asked):
            return notes
        if self.ratings.sizes.max() < 3:
            notes.append(
                "no unit of the pilot has three ratings, which the rater model needs: "
                f"the rows for other numbers than {self.own} annotators are guesses"
            )
        rng = np.random.default_rng([self.seed, 4])
        values = np.concatenate(
            [_values(studies) for studies in self._samples(self._simulated(50, 200, self.own, rng))]
        )
        modelled = float(np.nanmean(values)) if not np.isnan(values).all() else np.nan
        if not abs(modelled - value) <= MISFIT:
            notes.append(
                f"the rater model gives {modelled:.2f} where the pilot has {value:.2f}: "
                "it fits badly, and so do the rows that rest on it"
            )
        return notes


def _rated(pilot: Ratings, codes: IntArray) -> Ratings:
    """A table on the pilot's scale whose units × raters have these codes, without gaps."""
    items, annotators = codes.shape
    return replace(
        pilot,
        units=tuple(range(items)),
        raters=tuple(range(annotators)),
        unit=np.repeat(np.arange(items), annotators),
        rater=np.tile(np.arange(annotators), items),
        code=codes.ravel().astype(np.int64),
    )


def _values(sample: _Studies) -> FloatArray:
    """The coefficient in each simulated study, NaN where undefined and where it rests on a single unit."""
    weights = sample.weights.astype(np.float64)
    return np.where(weights.sum(axis=1) > 1, sample.evaluate(weights), np.nan)


def _intervals(sample: _Studies, level: float) -> FloatArray:
    """Value, low and high of each simulated study (S × 3), NaN where undefined."""
    values = _values(sample)
    found = np.full((len(values), 3), np.nan)
    defined = np.flatnonzero(~np.isnan(values))
    patterns = sample.weights.shape[1]
    at_once = max(1, CELLS // max(1, min(GROUPS, patterns) * patterns))
    for start in range(0, len(defined), at_once):
        studies = defined[start : start + at_once]
        left = [_left_out(sample.weights[study]) for study in studies]
        without = [sample.weights[study] - rows for study, (rows, _) in zip(studies, left, strict=True)]
        found[studies] = _jackknifed(
            values[studies],
            sample.evaluate(np.concatenate(without)),
            np.concatenate([repeats for _, repeats in left]),
            np.repeat(np.arange(len(studies)), [len(repeats) for _, repeats in left]),
            level,
        )
    return found


def _jackknifed(
    values: FloatArray, without: FloatArray, repeats: FloatArray, owner: IntArray, level: float
) -> FloatArray:
    """Value ± t standard errors, cut at 1 (S × 3), from the values without a unit, how often each counts, and whose."""
    total = np.bincount(owner, weights=repeats)
    mean = np.bincount(owner, weights=repeats * without) / total
    spread = np.bincount(owner, weights=repeats * (without - mean[owner]) ** 2)
    half = stdtrit(total - 1, (1 + level) / 2) * np.sqrt((total - 1) / total * spread)
    return np.column_stack([values, values - half, np.minimum(1.0, values + half)])


def _left_out(drawn: IntArray) -> tuple[FloatArray, FloatArray]:
    """What each row of the jackknife leaves out (rows × P), and how often the row counts: units, or groups of many."""
    there = np.flatnonzero(drawn)
    if len(there) <= GROUPS:
        left = np.zeros((len(there), len(drawn)))
        left[np.arange(len(there)), there] = 1
        return left, drawn[there].astype(np.float64)
    pattern = np.repeat(there, drawn[there])
    group = np.random.default_rng(len(pattern)).permutation(len(pattern)) % GROUPS
    cells = np.bincount(group * len(drawn) + pattern, minlength=GROUPS * len(drawn))
    return cells.reshape(GROUPS, -1).astype(np.float64), np.ones(GROUPS)


def _study(items: int, annotators: int, source: str, drawn: FloatArray) -> PlannedStudy:
    """The row of the table from value, low and high of the simulated studies (S × 3)."""
    defined = drawn[~np.isnan(drawn).any(axis=1)]
    undefined = len(drawn) - len(defined)
    if 2 * undefined > len(drawn):
        reason = f"{undefined:,} of {len(drawn):,} simulated studies leave the coefficient undefined"
        return PlannedStudy(items, annotators, source, None, None, None, None, undefined, reason)
    widths = defined[:, 2] - defined[:, 1]
    low, high = np.quantile(widths, [0.1, 0.9]).tolist()
    return PlannedStudy(
        items, annotators, source, float(widths.mean()), low, high, float(defined[:, 0].mean()), undefined
    )
