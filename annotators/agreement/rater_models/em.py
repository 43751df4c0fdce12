"""What the rater models share: units grouped by who gave which label, and EM over the groups from several starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr

from annotators.agreement.rater_models.fitted import Fit
from annotators.agreement.tables.ratings import Label, Ratings
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput

TOLERANCE = 1e-10  # of 1 + |objective|: an iteration that gains less ends the run
MOST_ITERATIONS = 2_000
SAME = 1e-6  # of 1 + |objective|: starts that end as close as this have reached the same maximum


LEAST_SHARED = 10
MOST_COMPARED = 500  # raters up to which every pair is looked at


@dataclass(frozen=True, eq=False)
class Observations:
    """Ratings in coordinate form, in which a rater may have rated a unit more than once.

    `unit`, `rater` and `code` have one entry a rating and index `units`, `raters` and `labels`, sorted by unit.
    """

    units: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    labels: tuple[Label, ...]
    unit: IntArray
    rater: IntArray
    code: IntArray

    @classmethod
    def of(cls, ratings: Ratings) -> Observations:
        """The ratings of a table."""
        return cls(ratings.units, ratings.raters, ratings.labels, ratings.unit, ratings.rater, ratings.code)

    @classmethod
    def from_triples(
        cls,
        units: Iterable[Hashable],
        raters: Iterable[Hashable],
        values: Iterable[object],
        labels: Sequence[Label] | None = None,
    ) -> Observations:
        """As `Ratings.from_triples` for a nominal scale, except that a rater may rate a unit again.

        The ratings of one rater and unit keep their order. Raises InvalidInput as `Ratings.from_triples` does.
        """
        units, raters = list(units), list(raters)
        seen: Counter[tuple[Hashable, Hashable]] = Counter()
        times = []
        for key in zip(units, raters, strict=False):
            times.append(seen[key])
            seen[key] += 1
        names = sorted(dict.fromkeys(raters), key=_order)
        place = {rater: i for i, rater in enumerate(names)}
        again = [(place[rater], time) for rater, time in zip(raters, times, strict=False)]
        table = Ratings.from_triples(units, again, values, labels)
        rater_of = np.array([key[0] for key in table.raters if isinstance(key, tuple)], dtype=np.int64)
        found = rater_of[table.rater] if len(rater_of) else table.rater
        return cls(table.units, tuple(names), table.labels, table.unit, found, table.code)

    @property
    def n_ratings(self) -> int:
        """How many ratings there are."""
        return len(self.code)

    @cached_property
    def raters_of_units(self) -> IntArray:
        """How many different raters rated each unit."""
        keys = np.sort(self.unit * max(1, len(self.raters)) + self.rater)
        first = np.r_[True, keys[1:] != keys[:-1]] if len(keys) else np.empty(0, dtype=bool)
        distinct = keys[first] // max(1, len(self.raters))
        return np.bincount(distinct, minlength=len(self.units)).astype(np.int64)

    @cached_property
    def groups_of_raters(self) -> IntArray:
        """The group (from 0) of each rater: raters who share a unit, directly or by others, are of one group."""
        shape = (len(self.raters), len(self.units))
        rated = sparse.csr_array((np.ones(len(self.code)), (self.rater, self.unit)), shape=shape)
        return np.asarray(connected_components(rated @ rated.T, directed=False)[1], dtype=np.int64)

    @cached_property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Which raters have ratings but share no unit with anybody."""
        rates = np.bincount(self.rater, minlength=len(self.raters)) > 0
        sizes = np.bincount(self.groups_of_raters)
        return np.asarray((sizes[self.groups_of_raters] == 1) & rates)

    def beside_others(self) -> Observations:
        """The ratings of raters who share units; nothing tells how good the others are, nor what their units are."""
        kept = ~self.alone[self.rater]
        return replace(self, unit=self.unit[kept], rater=self.rater[kept], code=self.code[kept])

    def by_group(self) -> list[tuple[IntArray, Observations]]:
        """Each group of raters (their places, ascending) with their ratings, in the order of the groups' first raters.

        The ratings of a group know no other raters, but all units.
        """
        found = []
        groups = self.groups_of_raters
        for group in dict.fromkeys(groups[np.unique(self.rater)].tolist()):
            theirs = np.flatnonzero(groups == group)
            kept = groups[self.rater] == group
            own = replace(
                self,
                raters=tuple(self.raters[place] for place in theirs.tolist()),
                unit=self.unit[kept],
                rater=np.searchsorted(theirs, self.rater[kept]),
                code=self.code[kept],
            )
            found.append((theirs, own))
        return found

    def vote_shares(self) -> FloatArray:
        """The share of each label among a unit's ratings (U × K), NaN without any."""
        votes = np.zeros((len(self.units), len(self.labels)))
        np.add.at(votes, (self.unit, self.code), 1.0)
        total = votes.sum(axis=1, keepdims=True)
        found: FloatArray = np.divide(votes, total, out=np.full_like(votes, np.nan), where=total > 0)
        return found

    def why_undefined(self) -> str | None:
        """Why no rater model can be fitted, or None."""
        if not self.n_ratings:
            return "there are no ratings"
        if np.count_nonzero(np.bincount(self.rater)) == 1:
            return "only one rater has rated, and a rater model needs two"
        if self.raters_of_units.max() < 2:
            return "no unit was rated by two raters"
        used = np.flatnonzero(np.bincount(self.code))
        if len(used) == 1:
            return f'every rating is "{self.labels[used[0]]}", so that nothing tells raters apart'
        return None


def _order(key: Hashable) -> tuple[str, Any]:
    """Sorts keys by type, then value."""
    return type(key).__name__, key


@dataclass(frozen=True, eq=False)
class UnitPatterns:
    """Units grouped by who gave which label, a single rating included, over the K labels that were used.

    Of P patterns and R raters: `multiplicity` (P) is how many units show the pattern; `incidence` (P × RK) is how often
    each rater gave each label; `pattern_of_unit` has one entry a unit, -1 for a unit without a rating; `used` (K) are
    the places of the used labels among all of them.
    """

    multiplicity: FloatArray
    incidence: sparse.csr_array
    pattern_of_unit: IntArray
    used: IntArray
    n_raters: int

    @classmethod
    def of(cls, data: Observations, labels: IntArray | None = None) -> UnitPatterns:
        """Group the units that have a rating. The order of the patterns does not depend on that of the units.

        `labels` are the codes that count as used, those of the ratings if not given.
        """
        there = np.bincount(data.code if labels is None else labels, minlength=len(data.labels)) > 0
        used, code = np.flatnonzero(there), (np.cumsum(there) - 1)[data.code]
        keys = data.rater * len(used) + code
        order = np.lexsort((keys, data.unit))
        unit, keys = data.unit[order], keys[order]
        starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]])
        lengths = np.diff(np.r_[starts, len(unit)])
        pattern_of_unit = np.full(len(data.units), -1, dtype=np.int64)
        multiplicities, rows, columns, n = [], [], [], 0
        for length in np.flatnonzero(np.bincount(lengths)).tolist():
            here = starts[lengths == length]
            block = keys[here[:, None] + np.arange(length)]
            sorting = np.lexsort(block.T[::-1])
            block = block[sorting]
            new = np.r_[True, (block[1:] != block[:-1]).any(axis=1)]
            first = np.flatnonzero(new)
            pattern_of_unit[unit[here[sorting]]] = n + np.cumsum(new) - 1
            multiplicities.append(np.diff(np.r_[first, len(block)]))
            rows.append(np.repeat(np.arange(n, n + len(first)), length))
            columns.append(block[first].ravel())
            n += len(first)
        row, column = np.concatenate(rows), np.concatenate(columns)
        incidence = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, len(data.raters) * len(used)))
        incidence.sum_duplicates()
        multiplicity = np.concatenate(multiplicities).astype(np.float64)
        return cls(multiplicity, incidence, pattern_of_unit, used, len(data.raters))

    @property
    def n_labels(self) -> int:
        """K, how many labels were used."""
        return len(self.used)

    @cached_property
    def _counted(self) -> sparse.csr_array:
        """How often each rater gave each label to the units of each pattern (RK × P)."""
        transposed = self.incidence.T.tocsr()
        transposed.data *= self.multiplicity[transposed.indices]
        return transposed

    def expected(self, posterior: FloatArray) -> FloatArray:
        """How often each rater is expected to have given each label to units of each class (P × K → RK × K)."""
        return np.asarray(self._counted @ posterior)

    def classes(self, posterior: FloatArray) -> FloatArray:
        """How many units of each class are expected (P × K → K)."""
        return np.asarray(self.multiplicity @ posterior)

    @cached_property
    def votes(self) -> FloatArray:
        """How many ratings of each pattern carry each label (P × K)."""
        label = np.tile(np.eye(self.n_labels), (self.n_raters, 1))
        return np.asarray(self.incidence @ label)

    def spread(self, posterior: FloatArray, n_labels: int) -> FloatArray:
        """A posterior of patterns (P × K) as units × all labels: 0 for an unused label, NaN for an unrated unit."""
        found = np.full((len(self.pattern_of_unit), n_labels), np.nan)
        rated = self.pattern_of_unit >= 0
        found[rated] = 0.0
        found[np.ix_(rated, self.used)] = posterior[self.pattern_of_unit[rated]]
        return found


@dataclass(frozen=True, eq=False)
class ModelParameters:
    """What a rater model says: `log_prior` (K) of the classes, `log_table` (RK × K) of a rater's label given the class.

    `penalty` is what is added to the log-likelihood to make the objective: a log prior, or minus a divergence.
    """

    log_prior: FloatArray
    log_table: FloatArray
    penalty: float


Model = TypeVar("Model", bound=ModelParameters)
Maximise = Callable[[FloatArray, FloatArray, Model], Model]


@dataclass(frozen=True, eq=False)
class EmRun(Generic[Model]):
    """One run of EM: where it ended, the posterior (P × K) there, and the objective after every iteration."""

    parameters: Model
    posterior: FloatArray
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool

    @property
    def objective(self) -> float:
        """The objective at the end."""
        return self.trace[-1]


def posterior_of(patterns: UnitPatterns, parameters: ModelParameters) -> tuple[FloatArray, FloatArray]:
    """The E step: the posterior of each pattern's class (P × K), and the log-likelihood of one unit of each (P).

    In log space; a label that a class never gets is -inf and is only met where the pattern holds it.
    """
    joint = np.asarray(patterns.incidence @ parameters.log_table)
    joint += parameters.log_prior
    top = reduce(np.maximum, joint.T)  # NumPy is slow along a short last axis: columns, and a product for the sum
    joint -= top[:, None]
    posterior = np.exp(joint, out=joint)
    total = posterior @ np.ones(posterior.shape[1])
    posterior /= total[:, None]
    return posterior, top + np.log(total)


def run_em(
    patterns: UnitPatterns,
    maximise: Maximise[Model],
    start: Model,
    *,
    tolerance: float = TOLERANCE,
    most: int = MOST_ITERATIONS,
) -> EmRun[Model]:
    """EM from one start, until an iteration gains less than `tolerance` · (1 + |objective|), or `most` iterations.

    `maximise(expected, classes, parameters)` is the M step: the expected numbers of labels by class (RK × K) and of
    units by class (K), and the parameters that they were found with, give the next ones. The objective of the start
    itself does not count, so it may have any penalty.
    """
    posterior, _ = posterior_of(patterns, start)
    parameters, converged, total = start, False, -np.inf
    trace: list[float] = []
    while len(trace) < most and not converged:
        parameters = maximise(patterns.expected(posterior), patterns.classes(posterior), parameters)
        posterior, each = posterior_of(patterns, parameters)
        total = float(patterns.multiplicity @ each)
        trace.append(total + parameters.penalty)
        converged = len(trace) > 1 and trace[-1] - trace[-2] <= tolerance * (1 + abs(trace[-1]))
    return EmRun(parameters, posterior, total, tuple(trace), converged)


def best_of(
    patterns: UnitPatterns,
    maximise: Maximise[Model],
    starts: Iterator[Model],
    *,
    objective_name: str,
    seed: int,
    tolerance: float = TOLERANCE,
    most: int = MOST_ITERATIONS,
) -> tuple[EmRun[Model], Fit]:
    """Run EM from every start and keep the first of those that end as high as the highest, as near as rounding goes.

    Raises InvalidInput when there is no start, or no room for two iterations.
    """
    if most < 2 or tolerance < 0:
        raise InvalidInput(f"{most} iterations at tolerance {tolerance}: allow 2 or more, and a tolerance from 0 on")
    kept: EmRun[Model] | None = None
    ends = []
    for start in starts:
        run = run_em(patterns, maximise, start, tolerance=tolerance, most=most)
        ends.append(run.objective)
        if kept is None or run.objective > kept.objective + SAME * (1 + abs(run.objective)):
            kept = run
    if kept is None:
        raise InvalidInput("no start was asked for: give 1 or more")
    highest = kept.objective
    fit = Fit(
        log_likelihood=kept.log_likelihood,
        objective=highest,
        objective_name=objective_name,
        iterations=len(kept.trace),
        converged=kept.converged,
        change=kept.trace[-1] - kept.trace[-2],
        starts=tuple(ends),
        reached=sum(end >= highest - SAME * (1 + abs(highest)) for end in ends),
        seed=seed,
        trace=kept.trace,
    )
    return kept, fit


def identification_notes(data: Observations) -> list[str]:
    """Which raters the model can say nothing about, in words; `data` has all ratings."""
    notes = []
    alone = [str(data.raters[place]) for place in np.flatnonzero(data.alone).tolist()]
    if alone:
        who = ", ".join(alone[:5]) + (f" and {len(alone) - 5:,} more" if len(alone) > 5 else "")
        notes.append(
            f"{who} share{'s' * (len(alone) == 1)} no unit with another rater: nothing tells how good they are, so "
            "that accuracy is undefined, and units that only they rated keep the label that was given"
        )
    groups = len(np.unique(data.groups_of_raters[np.unique(data.rater)])) - len(alone)
    if groups > 1:
        notes.append(
            f"the raters fall into {groups:,} groups that share no unit: each is fitted by itself, and nothing "
            "compares raters of different groups"
        )
    return notes


def dependence_note(
    data: Observations, patterns: UnitPatterns, parameters: ModelParameters, level: float = 0.01
) -> str | None:
    """That two raters agree more or less often than independent errors allow, or None.

    For every pair that shares ten units: agreements, against n Σ_c p_c Σ_l π_al|c π_bl|c, as a normal deviate, at the
    `level` by Bonferroni over the pairs. Bivariate residuals of a latent class model: Qu, Tan & Kutner (1996),
    Biometrics 52, 797-810, section 5; Vermunt & Magidson (2005). That the parameters were fitted to the same ratings
    makes it say too little rather than too much.
    """
    r, u, k = patterns.n_raters, len(data.units), patterns.n_labels
    if not 3 <= len(np.unique(data.rater)) <= MOST_COMPARED:
        return None
    shared, agreed = np.zeros((r, r)), np.zeros((r, r))
    rated = sparse.csr_array((np.ones(len(data.code)), (data.rater, data.unit)), shape=(r, u))
    rated.sum_duplicates()
    shared = (rated @ rated.T).toarray()
    for code in patterns.used.tolist():
        here = data.code == code
        gave = sparse.csr_array((np.ones(int(here.sum())), (data.rater[here], data.unit[here])), shape=(r, u))
        agreed += (gave @ gave.T).toarray()
    table = np.exp(parameters.log_table).reshape(r, k, -1)
    expected = np.einsum("alc,blc,c->ab", table, table, np.exp(parameters.log_prior))
    spread = np.sqrt(np.maximum(shared * expected * (1 - expected), 1e-12))
    first, second = np.triu_indices(r, 1)
    enough = shared[first, second] >= LEAST_SHARED
    first, second = first[enough], second[enough]
    if not len(first):
        return None
    deviates = ((agreed - shared * expected) / spread)[first, second]
    worst = int(np.abs(deviates).argmax())
    if 2 * float(ndtr(-abs(deviates[worst]))) * len(first) > level:
        return None
    a, b = first[worst], second[worst]
    return (
        f"errors are not independent: {data.raters[a]} and {data.raters[b]} agree on "
        f"{100 * agreed[a, b] / shared[a, b]:.0f} % of their {shared[a, b]:,.0f} units where the model expects "
        f"{100 * expected[a, b]:.0f} %; raters who share mistakes are taken for good ones"
    )


def joined(fits: Sequence[Fit]) -> Fit:
    """The fits of groups that share nothing as one: the sum of what was made as large as possible, the worst end.

    Each keeps the best of its own starts, so that `starts` has what as many common ones would have reached.
    """
    if len(fits) == 1:
        return fits[0]
    longest = max(len(fit.trace) for fit in fits)
    traces = [fit.trace + fit.trace[-1:] * (longest - len(fit.trace)) for fit in fits]
    return replace(
        fits[0],
        log_likelihood=sum(fit.log_likelihood for fit in fits),
        objective=sum(fit.objective for fit in fits),
        iterations=longest,
        converged=all(fit.converged for fit in fits),
        change=max(fit.change for fit in fits),
        starts=tuple(map(sum, zip(*(fit.starts for fit in fits), strict=True))),
        reached=min(fit.reached for fit in fits),
        trace=tuple(map(sum, zip(*traces, strict=True))),
    )


def fit_notes(groups: Sequence[Observations], fit: Fit) -> list[str]:
    """What has to be known beside any rater model's figures, in words."""
    notes = []
    pairs = sum(int(group.raters_of_units.max()) < 3 for group in groups)
    if pairs:
        whose = "no unit was" if pairs == len(groups) else f"of {pairs:,} of {len(groups):,} groups no unit was"
        notes.append(
            f"{whose} rated by three raters: two ratings a unit do not identify the model, and where it ends "
            "depends on where it starts"
        )
    if not fit.converged:
        notes.append(
            f"not converged after {fit.iterations:,} iterations: the last one still gained {fit.change:.3g}; "
            "allow more iterations"
        )
    if len(fit.starts) > 1 and fit.reached == 1:
        notes.append(f"only one of {len(fit.starts)} starts reached the best maximum: there may be better ones")
    return notes


def resampled(patterns: UnitPatterns, resamples: int, seed: int, group: int = 0) -> Iterator[UnitPatterns]:
    """The patterns of each resample of the rated units with replacement; each `group` has draws of its own.

    The units themselves are not followed: `pattern_of_unit` of a resample is empty.
    """
    rng = np.random.default_rng([seed, 3, group])
    n = int(patterns.multiplicity.sum())
    shares = patterns.multiplicity / n
    nobody = np.empty(0, dtype=np.int64)
    for _ in range(resamples):
        weights = rng.multinomial(n, shares)
        drawn = np.flatnonzero(weights)
        yield replace(
            patterns,
            multiplicity=weights[drawn].astype(np.float64),
            incidence=patterns.incidence[drawn],
            pattern_of_unit=nobody,
        )
