"""GLAD, an item-response model: every rater has an ability, every unit a difficulty, and one true label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial import hermite_e
from scipy import optimize, sparse
from scipy.special import expit, log_expit

from annotators.agreement.rater_models.em import (
    SAME,
    Observations,
    fit_notes,
    identification_notes,
)
from annotators.agreement.rater_models.fitted import Fit, RaterModel, percentiles, plain
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.intervals.bootstrap import check_resampling

PRIOR_MEAN = 1.0
"""Of abilities, whose variance is 1, and of the logarithms of how easy units are: Whitehill et al., 3.1."""
SPREAD_VARIANCE = 0.25
"""Of the prior of the logarithm of their standard deviation, whose mean is 0: between .4 and 2.7 in 95 %."""
NODES, _WEIGHTS = (np.asarray(part) for part in hermite_e.hermegauss(15))
LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())
"""Where the normal distribution of ease is evaluated, and how much each place counts (Gauss-Hermite)."""
MOST_ITERATIONS = 500
TOLERANCE = 1e-9
TOLD_APART = 0.5
"""Below this reliability most of what difficulties differ by is uncertainty."""
SHORT = "intervals of accuracy are a little short: those of 95 % covered in 85 to 92 % of simulated studies"
FEW_UNITS = 20
"""With fewer units intervals of accuracy are too short: docs/statistics.md."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Glad(RaterModel):
    """A fitted model of R raters, U units and K labels.

    - `ability` (R): α; 0 is a rater who tosses a coin, below 0 one who is mostly wrong; NaN without ratings.
    - `accuracy` (R): how probable the rater's label is to be the true one, over all units that were rated: as if every
      rater had rated them all, so that who had the hard ones is taken less for a bad rater.
    - `ease` (U): log β, with its standard error `ease_error` (U), the raters taken as found; NaN without ratings.
    - `expected` (U): how probable a rater of mean ability is to give the true label: 1 / K where all guess.
    - `reliability`: the share of the variance of `ease` that is not uncertainty; None where nothing was fitted.
    - `prevalence` (K): the share of each class.
    - `ability_interval`, `accuracy_interval` (R × 2): percentile intervals over `resamples` resamples of units.
    """

    ability: FloatArray
    accuracy: FloatArray
    ease: FloatArray
    ease_error: FloatArray
    expected: FloatArray
    prevalence: FloatArray
    reliability: float | None = None
    ability_interval: FloatArray | None = None
    accuracy_interval: FloatArray | None = None

    def in_words(self) -> str:
        """How the model was fitted, or why not, in one line."""
        if self.fit is None:
            return f"no item-response model: {self.reason}"
        return f"Item-response model (GLAD), most probable values, {self.fit.in_words()}"

    @property
    def hardest(self) -> list[int]:
        """The places of the rated units, the hardest first; of equals the one before stays before."""
        rated = np.flatnonzero(~np.isnan(self.ease))
        order: list[int] = rated[np.argsort(self.ease[rated], kind="stable")].tolist()
        return order

    def to_json(self) -> dict[str, Any]:
        """The model for JSON: per rater, per class, per unit; None where there is no number."""
        found = super().to_json()
        for unit, ease, error, expected in zip(found["units"], self.ease, self.ease_error, self.expected, strict=True):
            unit |= {"ease": plain(ease), "ease_error": plain(error), "expected": plain(expected)}
        return {
            "model": "glad",
            **found,
            "prevalence": plain(self.prevalence),
            "reliability": self.reliability,
            "raters": [
                {
                    "rater": rater,
                    "ability": plain(self.ability[i]),
                    "ability_interval": None if self.ability_interval is None else plain(self.ability_interval[i]),
                    "accuracy": plain(self.accuracy[i]),
                    "accuracy_interval": None if self.accuracy_interval is None else plain(self.accuracy_interval[i]),
                }
                for i, rater in enumerate(self.raters)
            ],
        }


def glad(
    data: Ratings | Observations,
    *,
    starts: int = 3,
    seed: int = 0,
    most_iterations: int = MOST_ITERATIONS,
    resamples: int = 0,
    level: float = 0.95,
) -> Glad:
    """The most probable abilities, what units' true labels and difficulties are being summed out; then both of these.

    A rater of ability α gives the true label of a unit with probability 1 / (1 + exp(-α β)), and each other label
    alike; log β is normal with mean 1, and α has a normal prior with mean and variance 1: Whitehill, Ruvolo, Wu,
    Bergsma & Movellan (2009), Whose Vote Should Count More, NIPS 22, 2035-2043, eq. 1 and section 3.1. They climb to
    the most probable values of everything at once, which takes raters for better than they are, because each unit has a
    difficulty of its own to explain its labels away (accuracies .03 too high, intervals that cover in 67 % of simulated
    studies). Here the standard deviation of log β is estimated, and log β integrated over 15 nodes, as Bock & Aitkin
    (1981), Psychometrika 46, 443-459, do; a unit's difficulty is the mean of its posterior and its error that
    posterior's standard deviation. The gradient is that of their EM, climbed by a quasi-Newton search. The shares of
    classes are estimated with one label of each added.

    The first start takes all raters to be equally good, `starts` - 1 others draw them at random; the highest end is
    kept. `resamples` over units give percentile intervals of abilities and accuracies at `level`. Raises InvalidInput
    for numbers out of range.
    """
    check_resampling(resamples, seed, level)
    if starts < 1:
        raise InvalidInput(f"{starts} starts: give one or more")
    data = Observations.of(data) if isinstance(data, Ratings) else data
    reason = data.why_undefined() or data.beside_others().why_undefined()
    r, u, k = len(data.raters), len(data.units), len(data.labels)
    empty = Glad(
        units=data.units,
        raters=data.raters,
        labels=data.labels,
        posterior=np.full((u, k), np.nan),
        ability=np.full(r, np.nan),
        accuracy=np.full(r, np.nan),
        ease=np.full(u, np.nan),
        ease_error=np.full(u, np.nan),
        expected=np.full(u, np.nan),
        prevalence=np.full(k, np.nan),
        fit=None,
        reason=reason,
    )
    if reason is not None:
        return empty
    everything, data = data, data.beside_others()
    rated = _Rated.of(data)
    best, ends = None, []
    for start in rated.starts(starts, seed):
        run = rated.climbed(start, np.ones(len(rated.units)), most_iterations)
        ends.append(run.objective)
        if best is None or run.objective > best.objective + SAME * (1 + abs(run.objective)):
            best = run
    assert best is not None
    fit = Fit(
        log_likelihood=best.log_likelihood,
        objective=best.objective,
        objective_name="log-likelihood plus log prior",
        iterations=best.iterations,
        converged=best.converged,
        change=best.trace[-1] - best.trace[-2] if len(best.trace) > 1 else 0.0,
        starts=tuple(ends),
        reached=sum(end >= best.objective - SAME * (1 + abs(best.objective)) for end in ends),
        seed=seed,
        trace=best.trace,
    )
    found = rated.told(empty, best)
    votes = everything.vote_shares()
    found = replace(found, fit=fit, posterior=np.where(np.isnan(found.posterior), votes, found.posterior))
    notes = [*identification_notes(everything), *fit_notes([data], fit), *_notes(found, rated)]
    found = replace(found, notes=tuple(notes))
    if not resamples:
        return found
    if int(data.raters_of_units.max()) < 3:
        # The two are told apart by chance alone, and resamples that begin where the fit ended would all agree on it.
        return replace(found, notes=(*notes, "there are no intervals of what is not identified"))
    return _with_intervals(found, rated, best, resamples=resamples, seed=seed, level=level)


def _notes(found: Glad, rated: _Rated) -> list[str]:
    """What abilities and difficulties cannot be read for, in words."""
    notes = []
    n_units, n_ratings = len(rated.units), float(rated.rated.sum())
    if found.reliability is not None and found.reliability < TOLD_APART:
        notes.append(
            f"difficulties are hardly told apart: {100 * found.reliability:.0f} % of what they differ by is more than "
            f"uncertainty, with {n_ratings / n_units:.1f} ratings a unit. Take the order as a list of what to look at"
        )
    if n_units < FEW_UNITS:
        notes.append(
            f"{count(n_units, 'unit')} of which raters share some are few: abilities rest on the prior, and their "
            f"intervals are too short below {FEW_UNITS}"
        )
    return notes


@dataclass(frozen=True, eq=False)
class _Run:
    """Where a search ended: abilities (R'), spread of ease, log shares of classes (K'), and how it went."""

    at: FloatArray
    ability: FloatArray
    spread: float
    shares: FloatArray
    objective: float
    log_likelihood: float
    iterations: int
    converged: bool
    trace: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _Rated:
    """The ratings of units, raters and labels that have any (their places), as tables of who said what.

    `said` has for each label a table (U' × R') of how often the rater gave it to the unit. The unknowns are a vector:
    abilities, log of the spread of ease, and logits of the shares of classes (the first is 0).
    """

    units: IntArray
    raters: IntArray
    labels: IntArray
    said: list[sparse.csr_array]
    rated: sparse.csr_array

    @classmethod
    def of(cls, data: Observations) -> _Rated:
        units, unit = np.unique(data.unit, return_inverse=True)
        raters, rater = np.unique(data.rater, return_inverse=True)
        labels, code = np.unique(data.code, return_inverse=True)
        shape = (len(units), len(raters))
        said = []
        for label in range(len(labels)):
            here = code == label
            table = sparse.csr_array((np.ones(int(here.sum())), (unit[here], rater[here])), shape=shape)
            table.sum_duplicates()
            said.append(table)
        return cls(units, raters, labels, said, sum(said[1:], said[0]).tocsr())

    def starts(self, n: int, seed: int) -> Iterator[FloatArray]:
        """First all raters alike, at the prior's mean; then abilities drawn around it."""
        r, rest = len(self.raters), np.zeros(len(self.labels))
        yield np.r_[np.full(r, PRIOR_MEAN), rest]
        rng = np.random.default_rng(seed)
        for _ in range(n - 1):
            yield np.r_[PRIOR_MEAN + rng.normal(size=r), rest]

    def _split(self, at: FloatArray) -> tuple[FloatArray, float, FloatArray]:
        r = len(self.raters)
        logits = np.r_[0.0, at[r + 1 :]]
        logits -= logits.max()
        return at[:r], float(np.exp(at[r])), logits - np.log(np.exp(logits).sum())

    def posterior(
        self, ability: FloatArray, spread: float, log_shares: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The posterior of class and ease of each unit (U' × K' × Q), its log-likelihood, and α β (R' × Q)."""
        product = ability[:, None] * np.exp(PRIOR_MEAN + spread * NODES)
        wrong = log_expit(-product) - np.log(len(self.labels) - 1)
        gain = log_expit(product) - wrong
        joint = np.stack([table @ gain for table in self.said], axis=1)
        joint += np.asarray(self.rated @ wrong)[:, None, :] + log_shares[:, None] + LOG_WEIGHTS
        top = joint.max(axis=(1, 2))
        found = np.exp(joint - top[:, None, None])
        total = found.sum(axis=(1, 2))
        return found / total[:, None, None], top + np.log(total), product

    def minus(self, at: FloatArray, weight: FloatArray) -> tuple[float, FloatArray]:
        """Minus what is climbed, of units that count by their weight (U'), and minus its gradient."""
        ability, spread, log_shares = self._split(at)
        found, each, product = self.posterior(ability, spread, log_shares)
        value = float(weight @ each) + _penalty(ability, at[len(ability)], log_shares)
        found = found * weight[:, None, None]
        right = sum(table.T @ found[:, place] for place, table in enumerate(self.said))
        residual = right - expit(product) * (self.rated.T @ found.sum(axis=1))
        easy = np.exp(PRIOR_MEAN + spread * NODES)
        of_ability = residual @ easy - (ability - PRIOR_MEAN)
        of_spread = float((residual * product) @ NODES @ np.ones(len(ability))) * spread
        of_spread -= at[len(ability)] / SPREAD_VARIANCE
        classes = found.sum(axis=(0, 2)) + 1
        of_classes = (classes - classes.sum() * np.exp(log_shares))[1:]
        return -value, -np.r_[of_ability, of_spread, of_classes]

    @property
    def _bounds(self) -> list[tuple[float | None, float | None]]:
        """Of each unknown: no spread that only overflows, and that its prior excludes."""
        free = (None, None)
        return [*[free] * len(self.raters), (-4.0, 1.5), *[free] * (len(self.labels) - 1)]

    def climbed(
        self,
        start: FloatArray,
        weight: FloatArray,
        most: int = MOST_ITERATIONS,
        tolerance: float = TOLERANCE,
    ) -> _Run:
        """Where the search from here ends."""
        trace: list[float] = []

        def note(intermediate_result: optimize.OptimizeResult) -> None:
            trace.append(-float(intermediate_result.fun))

        found = optimize.minimize(
            self.minus, start, args=(weight,), jac=True, method="L-BFGS-B", callback=note, bounds=self._bounds,
            options={"maxiter": most, "maxfun": 4 * most, "ftol": tolerance, "gtol": 1e-6},
        )  # fmt: skip
        ability, spread, log_shares = self._split(found.x)
        return _Run(
            found.x,
            ability,
            spread,
            log_shares,
            objective=-float(found.fun),
            log_likelihood=-float(found.fun) - _penalty(ability, float(np.log(spread)), log_shares),
            iterations=int(found.nit),
            converged=bool(found.success),
            trace=tuple(trace) or (-float(found.fun),),
        )

    def accuracy(self, run: _Run, weight: FloatArray) -> FloatArray:
        """How probable each rater's label is to be the true one, over all units (R')."""
        found, _, product = self.posterior(run.ability, run.spread, run.shares)
        ease = weight @ found.sum(axis=1) / weight.sum()
        return np.asarray(expit(product) @ ease)

    def told(self, empty: Glad, run: _Run) -> Glad:
        """The model with what was found, by all raters, units and labels."""
        found, _, product = self.posterior(run.ability, run.spread, run.shares)
        u, k = empty.posterior.shape
        whole = np.full((u, k), np.nan)
        whole[self.units] = 0.0
        whole[np.ix_(self.units, self.labels)] = found.sum(axis=2)
        prevalence = np.zeros(k)
        prevalence[self.labels] = np.exp(run.shares)
        nodes, of_ease = PRIOR_MEAN + run.spread * NODES, found.sum(axis=1)
        ease = of_ease @ nodes
        error = np.sqrt(np.maximum(of_ease @ nodes**2 - ease**2, 0.0))
        told, uncertain = float(ease.var()), float((error**2).mean())
        accuracy = self.accuracy(run, np.ones(len(self.units)))
        return replace(
            empty,
            posterior=whole,
            ability=_placed(run.ability, self.raters, len(empty.raters)),
            accuracy=_placed(accuracy, self.raters, len(empty.raters)),
            ease=_placed(ease, self.units, u),
            ease_error=_placed(error, self.units, u),
            expected=_placed(of_ease @ expit(product).mean(axis=0), self.units, u),
            prevalence=prevalence,
            reliability=told / (told + uncertain),
        )


def _penalty(ability: FloatArray, log_spread: float, log_shares: FloatArray) -> float:
    """The log prior, but for a constant."""
    prior = float(((ability - PRIOR_MEAN) ** 2).sum()) / 2 + log_spread**2 / (2 * SPREAD_VARIANCE)
    return float(log_shares.sum()) - prior


def _placed(values: FloatArray, places: IntArray, n: int) -> FloatArray:
    found = np.full(n, np.nan)
    found[places] = values
    return found


def _with_intervals(found: Glad, rated: _Rated, best: _Run, *, resamples: int, seed: int, level: float) -> Glad:
    """The model with percentile intervals over resamples of units, each fitted from where the fit ended."""
    rng = np.random.default_rng([seed, 7])
    n = len(rated.units)
    abilities, accuracies = np.full((2, resamples, len(found.raters)), np.nan)
    late = 0
    for draw in range(resamples):
        weight = rng.multinomial(n, np.full(n, 1 / n)).astype(np.float64)
        run = rated.climbed(best.at, weight, tolerance=1e-7)
        late += not run.converged
        rates = np.asarray(rated.rated.T @ weight) > 0
        abilities[draw, rated.raters[rates]] = run.ability[rates]
        accuracies[draw, rated.raters[rates]] = rated.accuracy(run, weight)[rates]
    notes = (*found.notes, SHORT)
    if late:
        notes = (*notes, f"{late:,} of {resamples:,} resamples did not converge; they count in the intervals")
    return replace(
        found,
        notes=notes,
        ability_interval=percentiles(abilities, level),
        accuracy_interval=percentiles(accuracies, level),
        resamples=resamples,
        level=level,
    )
