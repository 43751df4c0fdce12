"""MACE: every rater knows the true label with a probability, their competence, and otherwise guesses their own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.special import digamma, gammaln

from annotators.agreement.rater_models.em import (
    MOST_ITERATIONS,
    TOLERANCE,
    ModelParameters,
    Observations,
    UnitPatterns,
    best_of,
    dependence_note,
    fit_notes,
    identification_notes,
    joined,
    posterior_of,
    resampled,
    run_em,
)
from annotators.agreement.rater_models.fitted import RaterModel, percentiles, plain
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import check_resampling

Method = Literal["variational", "em"]
COMPETENCE_PRIOR = 0.5  # Beta(0.5, 0.5): a rater tries or does not, few try a little (Hovy et al. 2013, section 3)
STRATEGY_PRIOR = 10.0  # Dirichlet(10, …): strategies are near uniform until much speaks against it (the same)
EM_SMOOTHING = 0.01  # divided by the number of labels, added to expected counts by plain EM


@dataclass(frozen=True, eq=False)
class MaceParameters(ModelParameters):
    """`knowing` (R) and `guessing` (R × K): the weights with which a rater knows, and guesses each label.

    `competence` (R) and `strategy` (R × K) are what is reported: posterior means, or estimates by EM. By the
    variational method the weights are exp E[log …] and add up to less than 1.
    """

    knowing: FloatArray
    guessing: FloatArray
    competence: FloatArray
    strategy: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Mace(RaterModel):
    """A fitted MACE model of R raters, U units and K labels.

    - `competence` (R, 0..1): how probable the rater is to know the label instead of guessing; NaN without ratings.
    - `strategy` (R × K): what the rater gives when guessing, 0 for a label that nobody used; NaN without ratings.
    - `competence_interval` (R × 2): percentile interval over `resamples` resamples of units, None if not asked for.
    """

    competence: FloatArray
    strategy: FloatArray
    method: Method
    competence_interval: FloatArray | None = None

    def in_words(self) -> str:
        """How the model was fitted, or why not, in one line."""
        if self.fit is None:
            return f"no MACE model: {self.reason}"
        how = "variational Bayes" if self.method == "variational" else "EM"
        return f"MACE, {how} {self.fit.in_words()}"

    def to_json(self) -> dict[str, Any]:
        """The model for JSON: per rater, per unit; None where there is no number."""
        between = self.competence_interval
        return {
            "model": "mace",
            **super().to_json(),
            "raters": [
                {
                    "rater": rater,
                    "competence": plain(self.competence[i]),
                    "competence_interval": None if between is None else plain(between[i]),
                    "strategy": plain(self.strategy[i]),
                }
                for i, rater in enumerate(self.raters)
            ],
        }


def mace(
    data: Ratings | Observations,
    *,
    method: Method = "variational",
    starts: int = 10,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    most_iterations: int = MOST_ITERATIONS,
    resamples: int = 0,
    level: float = 0.95,
) -> Mace:
    """Fit MACE from several random starts and keep the best by its objective.

    A rater j of unit i knows the true label T_i with probability θ_j and gives it, or else gives label k with
    probability ξ_jk, whatever T_i is; T_i is uniform over the labels that were used. Hovy, Berg-Kirkpatrick, Vaswani &
    Hovy (2013), Learning Whom to Trust with MACE, NAACL-HLT, 1120-1130, sections 2 and 3.

    "variational" is variational Bayes with Beta(0.5, 0.5) on θ and Dirichlet(10) on ξ; its objective is the lower bound
    of the evidence, which no iteration lowers. "em" adds 0.01 / K to the expected counts, a prior too. The first start
    trusts everybody alike, the other `starts` - 1 draw θ and ξ from uniform distributions. The log-likelihood reported
    is that of the observed ratings at the reported θ and ξ. `resamples` over units give percentile intervals at
    `level`, each fitted from where the fit ended. Groups of raters that share no unit are fitted each by itself.

    Raises InvalidInput for numbers out of range and an unknown method.
    """
    if method not in ("variational", "em"):
        raise InvalidInput(f'method {method!r} is unknown: use "variational" or "em"')
    check_resampling(resamples, seed, level)
    if starts < 1:
        raise InvalidInput(f"{starts} starts: give one or more")
    data = Observations.of(data) if isinstance(data, Ratings) else data
    n_raters, n_labels = len(data.raters), len(data.labels)
    found = Mace(
        units=data.units,
        raters=data.raters,
        labels=data.labels,
        posterior=np.full((len(data.units), n_labels), np.nan),
        competence=np.full(n_raters, np.nan),
        strategy=np.full((n_raters, n_labels), np.nan),
        method=method,
        fit=None,
        reason=data.why_undefined() or data.beside_others().why_undefined(),
    )
    if found.reason is not None:
        return found
    everything, data = data, data.beside_others()
    groups = data.by_group()
    maximise = partial(_maximised, _variational if method == "variational" else _by_em)
    patterns = [UnitPatterns.of(own, data.code) for _, own in groups]
    ended = [
        best_of(
            pattern,
            maximise,
            _starts(pattern, starts, seed),
            objective_name=(
                "lower bound of the evidence" if method == "variational" else "log-likelihood plus log prior"
            ),
            seed=seed,
            tolerance=tolerance,
            most=most_iterations,
        )
        for pattern in patterns
    ]
    competence, strategy, posterior = found.competence.copy(), found.strategy.copy(), found.posterior
    fits, dependences = [], []
    for (theirs, group), own, (run, fit) in zip(groups, patterns, ended, strict=True):
        parameters = run.parameters
        competence[theirs] = parameters.competence
        strategy[theirs] = 0.0
        strategy[np.ix_(theirs, own.used)] = parameters.strategy
        posterior = np.where(np.isnan(posterior), own.spread(run.posterior, n_labels), posterior)
        fits.append(replace(fit, log_likelihood=_log_likelihood(own, parameters)))
        at = _at(parameters.competence, parameters.strategy)
        dependences.append(dependence_note(group, own, at, 0.01 / len(groups)))
    fit = joined(fits)
    notes = [*identification_notes(everything), *fit_notes([own for _, own in groups], fit), *filter(None, dependences)]
    found = replace(
        found,
        posterior=np.where(np.isnan(posterior), everything.vote_shares(), posterior),
        competence=competence,
        strategy=strategy,
        fit=fit,
        notes=tuple(notes),
    )
    if not resamples:
        return found
    draws, converged = np.full((resamples, n_raters), np.nan), np.ones(resamples, dtype=bool)
    for place, ((theirs, _), own, (run, _)) in enumerate(zip(groups, patterns, ended, strict=True)):
        for draw, drawn in enumerate(resampled(own, resamples, seed, place)):
            again = run_em(drawn, maximise, run.parameters, tolerance=1e-8)
            here = np.asarray(drawn.incidence.sum(axis=0)).reshape(own.n_raters, -1).sum(axis=1) > 0
            draws[draw, theirs] = np.where(here, again.parameters.competence, np.nan)
            converged[draw] &= again.converged
    said, late = found.notes, int((~converged).sum())
    if late:
        said = (*said, f"{late:,} of {resamples:,} resamples did not converge; they count in the intervals")
    interval = percentiles(draws, level)
    return replace(found, notes=said, competence_interval=interval, resamples=resamples, level=level)


def _table(knowing: FloatArray, guessing: FloatArray) -> FloatArray:
    """log P(label | class) as RK × K: guessing gives the label whatever the class, knowing only its own."""
    r, k = guessing.shape
    table = np.repeat(guessing[:, :, None], k, axis=2)
    diagonal = np.arange(k)
    table[:, diagonal, diagonal] += knowing[:, None]
    with np.errstate(divide="ignore"):
        return np.log(table).reshape(r * k, k)


def _uniform(k: int) -> FloatArray:
    return np.full(k, -np.log(k))


Estimate = Callable[[FloatArray, FloatArray], MaceParameters]


def _maximised(
    estimate: Estimate, expected: FloatArray, classes: FloatArray, previous: MaceParameters
) -> MaceParameters:
    """The M step: split the ratings that fit the class into known and guessed ones, then estimate from both counts."""
    k = len(classes)
    counts = expected.reshape(-1, k, k)  # rater × label given × class
    right = np.diagonal(counts, axis1=1, axis2=2)
    both = previous.knowing[:, None] + previous.guessing
    share = np.divide(previous.knowing[:, None], both, out=np.zeros_like(both), where=both > 0)
    known = right * share
    return estimate(known.sum(axis=1), counts.sum(axis=2) - known)


def _variational(known: FloatArray, guessed: FloatArray) -> MaceParameters:
    """From expected counts of known (R) and guessed labels (R × K): the posteriors of θ and ξ."""
    k = guessed.shape[1]
    total = guessed.sum(axis=1)
    first, second = known + COMPETENCE_PRIOR, total + COMPETENCE_PRIOR
    dirichlet = guessed + STRATEGY_PRIOR
    whole = digamma(first + second)
    knowing = np.exp(digamma(first) - whole)
    chosen = np.exp(digamma(dirichlet) - digamma(dirichlet.sum(axis=1, keepdims=True)))
    guessing = np.exp(digamma(second) - whole)[:, None] * chosen
    cost = _divergence(np.column_stack([first, second]), COMPETENCE_PRIOR) + _divergence(dirichlet, STRATEGY_PRIOR)
    return MaceParameters(
        log_prior=_uniform(k),
        log_table=_table(knowing, guessing),
        penalty=-cost,
        knowing=knowing,
        guessing=guessing,
        competence=first / (first + second),
        strategy=dirichlet / dirichlet.sum(axis=1, keepdims=True),
    )


def _divergence(found: FloatArray, prior: float) -> float:
    """The sum over rows of the divergence of Dirichlet(found) from Dirichlet(prior, …, prior)."""
    k, total = found.shape[1], found.sum(axis=1)
    logs = digamma(found) - digamma(total)[:, None]
    each = (
        gammaln(total)
        - gammaln(found).sum(axis=1)
        - gammaln(k * prior)
        + k * gammaln(prior)
        + ((found - prior) * logs).sum(axis=1)
    )
    return float(each.sum())


def _by_em(known: FloatArray, guessed: FloatArray) -> MaceParameters:
    """From the same counts, smoothed shares. The penalty is the log of the prior that the smoothing stands for."""
    k = guessed.shape[1]
    smoothing = EM_SMOOTHING / k
    total = guessed.sum(axis=1)
    competence = (known + smoothing) / (known + total + 2 * smoothing)
    strategy = (guessed + smoothing) / (total[:, None] + k * smoothing)
    penalty = smoothing * float((np.log(competence) + np.log1p(-competence)).sum() + np.log(strategy).sum())
    return _at(competence, strategy, penalty)


def _at(competence: FloatArray, strategy: FloatArray, penalty: float = 0.0) -> MaceParameters:
    """The model at given competences (R) and strategies (R × K)."""
    guessing = (1 - competence)[:, None] * strategy
    return MaceParameters(
        log_prior=_uniform(strategy.shape[1]),
        log_table=_table(competence, guessing),
        penalty=penalty,
        knowing=competence,
        guessing=guessing,
        competence=competence,
        strategy=strategy,
    )


def _log_likelihood(patterns: UnitPatterns, found: MaceParameters) -> float:
    """The log-likelihood of the observed ratings at the reported competences and strategies."""
    _, each = posterior_of(patterns, _at(found.competence, found.strategy))
    return float(patterns.multiplicity @ each)


def _starts(patterns: UnitPatterns, starts: int, seed: int) -> Iterator[MaceParameters]:
    """First everybody alike, then random competences and strategies."""
    r, k = patterns.n_raters, patterns.n_labels
    yield _at(np.full(r, 0.5), np.full((r, k), 1 / k))
    rng = np.random.default_rng(seed)
    for _ in range(starts - 1):
        yield _at(rng.random(r), rng.dirichlet(np.ones(k), size=r))
