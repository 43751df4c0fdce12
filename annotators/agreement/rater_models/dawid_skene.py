"""Dawid and Skene's model: every rater has a confusion matrix, every unit one true label, found together by EM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from annotators.agreement.rater_models.em import (
    MOST_ITERATIONS,
    TOLERANCE,
    EmRun,
    ModelParameters,
    Observations,
    UnitPatterns,
    best_of,
    dependence_note,
    fit_notes,
    identification_notes,
    joined,
    resampled,
    run_em,
)
from annotators.agreement.rater_models.fitted import Fit, RaterModel, percentiles, plain
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import check_resampling

NEVER_SEEN = 1e-6  # a rater with fewer expected units of a class has no row for it in the confusion matrix


@dataclass(frozen=True, eq=False, kw_only=True)
class DawidSkene(RaterModel):
    """A fitted Dawid–Skene model of R raters, U units and K labels.

    - `confusion` (R × K × K): of the units whose true label is the first index, the share that the rater gave the
      second; NaN where the rater is not expected to have seen a unit of that class.
    - `seen` (R × K): how many ratings the rater is expected to have given to units of each class.
    - `prevalence` (K): the share of each class among the units that were rated.
    - `accuracy` (R): the share of the rater's ratings that are expected to be the true label; NaN without ratings.
    - `accuracy_interval` (R × 2), `prevalence_interval` (K × 2): percentile intervals over `resamples` resamples of
      units, None when none were asked for.
    """

    confusion: FloatArray
    seen: FloatArray
    prevalence: FloatArray
    accuracy: FloatArray
    smoothing: float
    accuracy_interval: FloatArray | None = None
    prevalence_interval: FloatArray | None = None

    def in_words(self) -> str:
        """How the model was fitted, or why not, in one line."""
        if self.fit is None:
            return f"no Dawid–Skene model: {self.reason}"
        how = f"smoothing {self.smoothing:g}" if self.smoothing else "maximum likelihood"
        return f"Dawid–Skene, {how}, EM {self.fit.in_words()}"

    def to_json(self) -> dict[str, Any]:
        """The model for JSON: per rater, per class, per unit; None where there is no number."""
        return {
            "model": "dawid_skene",
            **super().to_json(),
            "smoothing": self.smoothing,
            "prevalence": plain(self.prevalence),
            "prevalence_interval": plain(self.prevalence_interval),
            "raters": [
                {
                    "rater": rater,
                    "accuracy": plain(self.accuracy[i]),
                    "accuracy_interval": None if self.accuracy_interval is None else plain(self.accuracy_interval[i]),
                    "confusion": plain(self.confusion[i]),
                    "seen": plain(self.seen[i]),
                }
                for i, rater in enumerate(self.raters)
            ],
        }


def dawid_skene(
    data: Ratings | Observations,
    *,
    smoothing: float = 0.0,
    starts: int = 10,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    most_iterations: int = MOST_ITERATIONS,
    resamples: int = 0,
    level: float = 0.95,
) -> DawidSkene:
    """Fit the model by EM in log space; stop when the log-likelihood of the observed ratings no longer grows.

    Given a unit's true label, ratings are independent, a rater's ratings of one unit included; gaps are no information.
    Dawid & Skene (1979), Applied Statistics 28, 20-28: E step eq. 2.5, M step eq. 2.3 and 2.4, likelihood eq. 2.7, and
    for the first start eq. 3.1 (each unit's shares of votes). The other `starts` - 1 draw each unit's class at random
    around its votes; the highest maximum is kept, and the first start wins ties.

    `smoothing` is added to every expected count of the confusion matrices and of the classes, which makes it a
    Dirichlet (1 + smoothing) prior and the objective a posterior density; 0 is maximum likelihood. Classes are named so
    that as many ratings as possible are expected to be right: the likelihood itself does not name them. A label that
    nobody used is no class. `resamples` over units give percentile intervals at `level`, each fitted from where the fit
    ended. Groups of raters that share no unit are fitted each by itself, and their shares of classes are put together.

    Raises InvalidInput for numbers out of range.
    """
    check_resampling(resamples, seed, level)
    if smoothing < 0 or starts < 1:
        raise InvalidInput(f"smoothing {smoothing}, {starts} starts: give smoothing from 0 on, and one start or more")
    data = Observations.of(data) if isinstance(data, Ratings) else data
    reason = data.why_undefined() or data.beside_others().why_undefined()
    n_raters, n_labels = len(data.raters), len(data.labels)
    if reason is not None:
        return DawidSkene(
            units=data.units,
            raters=data.raters,
            labels=data.labels,
            posterior=np.full((len(data.units), n_labels), np.nan),
            confusion=np.full((n_raters, n_labels, n_labels), np.nan),
            seen=np.full((n_raters, n_labels), np.nan),
            prevalence=np.full(n_labels, np.nan),
            accuracy=np.full(n_raters, np.nan),
            smoothing=smoothing,
            fit=None,
            reason=reason,
        )
    everything, data = data, data.beside_others()
    groups = [
        _ConnectedRaters.fitted(
            theirs, own, smoothing, starts=starts, seed=seed, tolerance=tolerance, most=most_iterations
        )
        for theirs, own in data.by_group()
    ]
    fit = joined([group.fit for group in groups])
    notes = [*identification_notes(everything), *fit_notes([group.data for group in groups], fit)]
    notes += [note for group in groups if (note := group.dependence_note(0.01 / len(groups)))]
    if any((group.order != np.arange(len(group.order))).any() for group in groups):
        notes.append("the classes were renamed so that as many ratings as possible are expected to be right")
    given = np.bincount(everything.rater, minlength=n_raters)
    used = len(np.unique(data.code))
    thin = int(((given < used * (used - 1)) & ~everything.alone).sum())
    if thin:
        notes.append(
            f"{thin:,} of {n_raters:,} raters have fewer ratings than their confusion matrix has free cells: "
            "read their rows as hints"
        )
    found = _together(data, groups, smoothing)
    posterior = np.where(np.isnan(found.posterior), everything.vote_shares(), found.posterior)
    found = replace(found, fit=fit, notes=tuple(notes), posterior=posterior)
    if not resamples:
        return found
    return _with_intervals(found, groups, resamples=resamples, seed=seed, level=level)


@dataclass(frozen=True, eq=False)
class _ConnectedRaters:
    """The model of raters who are connected by units they share.

    Groups share no rater and no unit. Fitted together, the shares of the classes would be all that ties them: a start
    that has taken every rater of a group for one who errs more often than not is kept where it makes the shares alike,
    and overturns labels for no other reason. Fitted apart, each group's classes are named by its own ratings.
    """

    raters: IntArray
    data: Observations
    patterns: UnitPatterns
    run: EmRun[ModelParameters]
    fit: Fit
    order: IntArray
    smoothing: float

    @classmethod
    def fitted(
        cls,
        raters: IntArray,
        data: Observations,
        smoothing: float,
        *,
        starts: int,
        seed: int,
        tolerance: float,
        most: int,
    ) -> _ConnectedRaters:
        """The best of several starts; `raters` are the places of the group's raters among all."""
        patterns = UnitPatterns.of(data)
        run, fit = best_of(
            patterns,
            partial(_maximised, patterns.n_raters, smoothing),
            _starts(patterns, smoothing, starts, seed),
            objective_name="log-likelihood plus log prior" if smoothing else "log-likelihood",
            seed=seed,
            tolerance=tolerance,
            most=most,
        )
        return cls(raters, data, patterns, run, fit, _named(patterns, run), smoothing)

    @property
    def posterior(self) -> FloatArray:
        """The posterior of each pattern, the classes under their names."""
        return self.run.posterior[:, self.order]

    @property
    def n_units(self) -> float:
        """How many units the group has rated."""
        return float(self.patterns.multiplicity.sum())

    def dependence_note(self, level: float) -> str | None:
        """That two of its raters share mistakes, or None."""
        return dependence_note(self.data, self.patterns, self.run.parameters, level)


def _maximised(
    n_raters: int, smoothing: float, expected: FloatArray, classes: FloatArray, _: ModelParameters | None = None
) -> ModelParameters:
    """The M step: expected counts as shares, in logs. A class that a rater never saw gets a uniform row (no data)."""
    counts = expected.reshape(n_raters, -1, len(classes)) + smoothing
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), 1.0 / len(classes))
    prior = (classes + smoothing) / (classes + smoothing).sum()
    with np.errstate(divide="ignore"):
        log_table, log_prior = np.log(shares).reshape(expected.shape), np.log(prior)
    penalty = smoothing * float(log_table.sum() + log_prior.sum()) if smoothing else 0.0
    return ModelParameters(log_prior, log_table, penalty)


def _from_posterior(patterns: UnitPatterns, smoothing: float, posterior: FloatArray) -> ModelParameters:
    """The parameters that fit a posterior of the patterns."""
    return _maximised(patterns.n_raters, smoothing, patterns.expected(posterior), patterns.classes(posterior))


def _starts(patterns: UnitPatterns, smoothing: float, starts: int, seed: int) -> Iterator[ModelParameters]:
    """First the shares of votes, then draws of each pattern's class around its votes."""
    votes = patterns.votes
    yield _from_posterior(patterns, smoothing, votes / votes.sum(axis=1, keepdims=True))
    rng = np.random.default_rng(seed)
    for _ in range(starts - 1):
        drawn = rng.standard_gamma(votes + 0.5)
        yield _from_posterior(patterns, smoothing, drawn / drawn.sum(axis=1, keepdims=True))


def _named(patterns: UnitPatterns, run: EmRun[ModelParameters]) -> IntArray:
    """Which class of the run is called by each label: the naming by which most ratings are expected to be right."""
    weighted = run.posterior * patterns.multiplicity[:, None]
    given = patterns.votes.T @ weighted  # label × class
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - only labels in disorder need it

    _, order = linear_sum_assignment(given, maximize=True)
    return np.asarray(order, dtype=np.int64)


def _together(data: Observations, groups: Sequence[_ConnectedRaters], smoothing: float) -> DawidSkene:
    """The groups' parameters by rater, class and label, over all labels of the data."""
    n_raters, n_labels = len(data.raters), len(data.labels)
    posterior = np.full((len(data.units), n_labels), np.nan)
    seen, confusion = np.zeros((n_raters, n_labels)), np.full((n_raters, n_labels, n_labels), np.nan)
    accuracy, prevalence = np.full(n_raters, np.nan), np.zeros(n_labels)
    for group in groups:
        patterns, order, theirs = group.patterns, group.order, group.raters
        mine = patterns.spread(group.posterior, n_labels)
        posterior = np.where(np.isnan(posterior), mine, posterior)
        expected = _expected(patterns, group.posterior)
        seen[np.ix_(theirs, patterns.used)] = expected.sum(axis=1)
        table = np.exp(group.run.parameters.log_table).reshape(expected.shape)[:, :, order]
        rows = np.zeros((*expected.shape[:2], n_labels))
        rows[:, :, patterns.used] = np.moveaxis(table, 1, 2)
        rows[expected.sum(axis=1) < NEVER_SEEN] = np.nan
        confusion[np.ix_(theirs, patterns.used)] = rows
        accuracy[theirs] = _accuracy(expected)
        prevalence[patterns.used] += group.n_units * np.exp(group.run.parameters.log_prior)[order]
    return DawidSkene(
        units=data.units,
        raters=data.raters,
        labels=data.labels,
        posterior=posterior,
        confusion=confusion,
        seen=seen,
        prevalence=prevalence / sum(group.n_units for group in groups),
        accuracy=accuracy,
        smoothing=smoothing,
        fit=None,
    )


def _expected(patterns: UnitPatterns, posterior: FloatArray) -> FloatArray:
    """How often each rater is expected to have given each label to units of each class (R × K × K)."""
    return patterns.expected(posterior).reshape(patterns.n_raters, patterns.n_labels, patterns.n_labels)


def _accuracy(expected: FloatArray) -> FloatArray:
    """The share of each rater's ratings that are expected to be right, NaN without ratings."""
    total = expected.sum(axis=(1, 2))
    right = np.trace(expected, axis1=1, axis2=2)
    accuracy: FloatArray = np.divide(right, total, out=np.full(len(total), np.nan), where=total > 0)
    return accuracy


def _with_intervals(
    found: DawidSkene, groups: Sequence[_ConnectedRaters], *, resamples: int, seed: int, level: float
) -> DawidSkene:
    """The model with percentile intervals; units are resampled within each group."""
    accuracies = np.full((resamples, len(found.raters)), np.nan)
    prevalences = np.zeros((resamples, len(found.labels)))
    converged = np.ones(resamples, dtype=bool)
    for place, group in enumerate(groups):
        for draw, (accuracy, shares, ended) in enumerate(_redrawn(group, resamples, seed, place)):
            accuracies[draw, group.raters] = accuracy
            prevalences[draw, group.patterns.used] += group.n_units * shares
            converged[draw] &= ended
    prevalences /= sum(group.n_units for group in groups)
    notes, late = found.notes, int((~converged).sum())
    if late:
        notes = (*notes, f"{late:,} of {resamples:,} resamples did not converge; they count in the intervals")
    return replace(
        found,
        notes=notes,
        accuracy_interval=percentiles(accuracies, level),
        prevalence_interval=percentiles(prevalences, level),
        resamples=resamples,
        level=level,
    )


def _redrawn(
    group: _ConnectedRaters, resamples: int, seed: int, place: int
) -> Iterator[tuple[FloatArray, FloatArray, bool]]:
    """Of each resample of a group's units the accuracies, the shares of its classes, and whether it converged.

    Each starts from the fit mixed with a tenth of the votes: they open cells that are zero in the fit, which EM by
    itself would never leave.
    """
    patterns = group.patterns
    votes = patterns.votes / patterns.votes.sum(axis=1, keepdims=True)
    maximise = partial(_maximised, patterns.n_raters, group.smoothing)
    start = _from_posterior(patterns, group.smoothing, 0.9 * group.posterior + 0.1 * votes)
    for drawn in resampled(patterns, resamples, seed, place):
        run = run_em(drawn, maximise, start, tolerance=1e-8)
        yield _accuracy(_expected(drawn, run.posterior)), np.exp(run.parameters.log_prior), run.converged
