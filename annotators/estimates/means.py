"""The mean of all units, of groups of them, and the difference of two groups, from few labels and many predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from annotators.arrays import FloatArray, IntArray, np, stats
from annotators.estimates.limits import Ends, Limits
from annotators.estimates.parts import Parts
from annotators.estimates.raters import joined_freedom
from annotators.estimates.sample import Estimate, Units
from annotators.figures import number
from annotators.intervals.result import Interval

CLASSICAL, POWERED, ACTIVE = "classical", "ppi", "active"
HELPS = 1.02  # by so much a prediction has to stretch the labels before it is said to save any
DRAWS = 20_000


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean of some units (at places `kept`): what it is made of, the λ of each stratum, and why there is none."""

    units: Units
    group: str | None
    limits: Limits | None
    factors: FloatArray
    kept: IntArray
    reason: str | None = None

    @property
    def fitted(self) -> int:
        """How many λ were fitted."""
        return len(np.unique(self.factors[self.factors > 0]))

    def factors_of(self, kind: str) -> FloatArray:
        """The λ of the classical mean (0), or of the others."""
        return np.zeros_like(self.factors) if kind == CLASSICAL else self.factors

    def ends(self, kind: str, level: float, times: float | None = None) -> Ends:
        """Its value and interval; `limits` must be there."""
        assert self.limits is not None
        fitted = 0 if kind == CLASSICAL else self.fitted
        return self.limits.ends(self.factors_of(kind), level, fitted=fitted, times=times)

    def error(self, kind: str) -> float:
        """Its standard error."""
        assert self.limits is not None
        return self.limits.parts.error(self.factors_of(kind))

    def believed(self, kind: str) -> float:
        """The standard error to go by where labels hardly differ (`Limits.believed`)."""
        assert self.limits is not None
        return self.limits.believed(self.factors_of(kind))

    @property
    def says_nothing_of_spread(self) -> bool:
        """Whether labels that are no share are all the same, so that nothing says how far off others may be."""
        return self.limits is not None and self.limits.says_nothing_of_spread

    def influences(self, kind: str) -> FloatArray:
        """What each cluster adds to its error, so that the products of two means' sum to their covariance.

        What raters add goes unit by unit: they differ on one unit as they do on another of its cluster, independently.
        """
        assert self.limits is not None
        most = int(self.units.cluster.max(initial=-1)) + 1
        of = self.limits.parts.influences(self.factors_of(kind))
        found = [np.sqrt(share) * np.pad(each, (0, most - len(each))) for share, each in of]
        if self.units.noise is not None:
            of_raters = np.zeros(self.units.n)
            of_raters[self.kept] = np.sqrt(self.limits.parts.unit_noise)
            found.append(of_raters)
        return np.concatenate(found)

    @property
    def effective(self) -> float | None:
        """How many labels alone, drawn alike, would give as short an interval."""
        return None if self.limits is None else self.limits.worth(self.factors)

    def effective_of(self, stratum: int) -> float | None:
        """The same of the labels of one stratum, for the mean of it."""
        if self.limits is None:
            return None
        parts, here = self.limits.parts, self.limits.parts.stratum == stratum
        only = replace(parts, own=np.where(here, parts.own, 0.0), all=np.where(here, parts.all, 0.0))
        n = float((parts.labelled & here).sum())
        alone, powered = only.error(self.factors_of(CLASSICAL)), only.error(self.factors)
        return n * alone**2 / powered**2 if powered > 0 else n


def mean_of(units: Units, group: int | None = None) -> Mean:
    """The mean of all units, or of one group (its place in `units.groups`).

    Strata are those of the units; of a group with fewer than two labels in one of its strata they count as one. Where
    there is no mean, the reason is in it.
    """
    name = None if group is None else units.groups[group]
    here = np.ones(units.n, dtype=np.bool_) if group is None else units.group == group
    kept = np.flatnonzero(here)
    human, cluster = units.human[kept], units.cluster[kept]
    stratum = numbered(units.stratum[kept])
    labelled = ~np.isnan(human)
    if group is not None and (np.bincount(stratum[labelled], minlength=int(stratum.max(initial=0)) + 1) < 2).any():
        stratum = np.zeros(len(kept), dtype=np.int64)
    n_strata = int(stratum.max(initial=0)) + 1
    of_strata = np.bincount(stratum[labelled], minlength=n_strata)
    clusters = int(np.count_nonzero(np.bincount(cluster[labelled])))
    whom = "" if name is None else f" of {name}"
    reason = None
    n = int(labelled.sum())
    if n < 2:
        reason = f"only {n} labelled unit{'s' * (n != 1)}{whom}; at least 2 are needed"
    elif clusters - n_strata < 1:
        reason = f"the labelled units{whom} are of {clusters} cluster{'s' * (clusters != 1)}; more are needed"
    elif (of_strata < 2).any():
        empty = units.strata[int(units.stratum[kept][np.flatnonzero(stratum == int(of_strata.argmin()))[0]])]
        reason = f"the stratum {empty!r} has fewer than two labelled units: label more of it, or leave strata out"
    if reason:
        return Mean(units, name, None, np.zeros(n_strata), kept, reason)
    predicted = units.predicted.values[kept]
    chance = None if units.probability is None else units.probability[kept]
    open_ = None if units.open is None else units.open[kept]
    noise, freedom = units.noise_of(here)
    parts = Parts.of(
        human,
        predicted,
        cluster=cluster,
        stratum=stratum,
        probabilities=chance,
        open_=open_,
        beyond=units.beyond,
        noise=noise[kept],
        noise_freedom=freedom,
    )
    plain = None if chance is None else _error_if_drawn_alike(parts)
    limits = Limits(parts, clusters - n_strata, units.scale, plain, cautious=True, share=units.binary)
    factors = parts.tuned() if units.predicted.fitted and not labelled.all() else np.zeros(n_strata)
    if limits.few_of_a_label:
        factors = np.zeros(n_strata)
    return Mean(units, name, limits, factors, kept)


def _error_if_drawn_alike(parts: Parts) -> float:
    """The standard error of the mean of as many labels drawn alike: √((1 - n/N) S² / n), S² by the labels' weights.

    Kish (1965), Survey Sampling, section 8.2: what the design effect of a draw is set against.
    """
    n = int(parts.labelled.sum())
    share = parts.own / parts.own.sum()
    middle = float(share @ parts.human)
    spread = float(share @ np.where(parts.labelled, (parts.human - middle) ** 2, 0.0)) * n / max(1, n - 1)
    left = (1 - n / len(parts.human)) * (1 - parts.beyond) + parts.beyond
    return math.sqrt(spread * left / n + parts.of_raters)


def numbered(codes: IntArray) -> IntArray:
    """The same codes without gaps, from 0."""
    _, found = np.unique(codes, return_inverse=True)
    return found.astype(np.int64)


# Estimates -----------------------------------------------------------------------------------------------------------


def kinds_of(units: Units) -> tuple[str, ...]:
    """The kinds of estimate that there are: from labels alone, and with predictions (or a drawing with weights)."""
    return CLASSICAL, (POWERED if units.probability is None else ACTIVE)


def means(units: Units, level: float = 0.95) -> list[Estimate]:
    """The mean of all units and of each group, from labels alone and with the predictions.

    `mean_classical` has labels alone, `mean_ppi` the combined predictions as well (`annotators.estimates.parts`,
    `.combined`), `mean_active` also what the labels were drawn with (Zrnic & Candès 2024, ICML, Active Statistical
    Inference, eq. 3). Each has a value, or the reason why not.
    """
    found = []
    for group in [None, *range(len(units.groups))]:
        made = mean_of(units, group)
        found += [_mean(made, kind, level) for kind in (CLASSICAL, POWERED, ACTIVE)]
    return found


def mean_with_raters_alike(units: Units, level: float = 0.95) -> Estimate:
    """The mean of all units with an interval for raters like these, of whom these are a sample (`mean_alike`).

    How high a rater labels does not average out over units: the variance of the mean has Σ s_j² σ²_r besides, where
    rater j gave a share s_j of the labels (a random effect of raters: Searle, Casella & McCulloch 1992, Variance
    Components, section 5.5). It is taken at its most (`Leniency.at_most`), with one degree of freedom less than
    raters; both variances together have the degrees of freedom of Satterthwaite (1946).
    """
    kind = kinds_of(units)[-1]
    kind = kind if why_not(units, kind) is None else CLASSICAL
    made = mean_of(units)
    best = _mean(made, kind, level)
    entry = replace(best, name="mean_alike")
    if best.value is None or best.interval is None or best.interval.error is None:
        return entry
    found = units.leniency
    if found is None:
        why = "no two raters share units enough to say how far they differ in how high they label"
        return Estimate(name=entry.name, n_labelled=entry.n_labelled, n_predicted=entry.n_predicted).undefined(why)
    of_units = best.interval.error**2
    free = joined_freedom([(of_units, float(best.interval.freedom or 1)), (found.at_most, found.raters - 1.0)])
    freedom = max(1, int(min(free, 1e9)))
    reach = float(stats.t.ppf((1 + level) / 2, max(1.0, free))) * math.sqrt(of_units + found.at_most)
    low, high = min(best.value - reach, best.interval.low or 0.0), max(best.value + reach, best.interval.high or 0.0)
    if units.scale is not None:
        low, high = max(low, units.scale[0]), min(high, units.scale[1])
    words = [f"of {units.whom}, with raters like these {found.raters}", f"t interval, {100 * level:g} %"]
    words.append(f"{freedom:,} degree{'s' * (freedom != 1)} of freedom")
    error = math.sqrt(of_units + found.at_most)
    return replace(
        entry, interval=Interval(low, high, "t", level, error=error, freedom=freedom), method="; ".join(words)
    )


def _about(units: Units, group: str | None) -> tuple[int, int]:
    if group is None:
        return units.n_labelled, units.n_predicted
    here = units.group == units.groups.index(group)
    return int((units.labelled & here).sum()), int((units.scored & here).sum())


def _mean(made: Mean, kind: str, level: float) -> Estimate:
    units = made.units
    n, predicted = _about(units, made.group)
    entry = Estimate(name=f"mean_{kind}", group=made.group, n_labelled=n, n_predicted=predicted)
    if made.reason is not None:
        return entry.undefined(made.reason)
    if (why := why_not(units, kind)) is not None:
        return entry.undefined(why)
    ends = made.ends(kind, level)
    interval = Interval(ends.low, ends.high, ends.how, level, error=ends.error, freedom=ends.freedom)
    words = [f"of {units.whom}" if made.group is None else f"of {made.group} among {units.whom}"]
    if units.probability is not None:
        words.append("each label weighed by one over the probability that it was drawn with")
    effective: float | None = float(n)
    if kind != CLASSICAL:
        words.append(what_was_used(made))
        effective = made.effective
    words.append(f"{ends.how} interval, {100 * level:g} %, {ends.freedom:,} degrees of freedom")
    return replace(entry, value=ends.value, interval=interval, effective_n=effective, method="; ".join(words))


def why_not(units: Units, kind: str) -> str | None:
    """Why there is no estimate of this kind, None where there is one."""
    if kind == ACTIVE and units.probability is None:
        return "the labels were drawn alike, none with a probability of its own"
    if kind == POWERED and units.probability is not None:
        return "the labels were drawn with probabilities of their own: see the active estimate"
    if kind != CLASSICAL and not units.names:
        return "no score and no judge predicts the label"
    if kind == POWERED and units.labelled.all():
        return "every unit is labelled: there is nothing that predictions could add"
    return None


def saves(made: Mean) -> bool:
    """Whether the predictions and the drawing save labels, rather than none."""
    return made.effective is not None and made.effective >= HELPS * made.units.n_labelled


def what_was_used(made: Mean) -> str:
    """Which predictions were combined with which λ, in words, or that nothing was."""
    units, limits = made.units, made.limits
    assert limits is not None
    if limits.few_of_a_label:
        return "nothing saved: too few labels of the rarer kind to say what predictions are worth"
    if not units.predicted.fitted or not (made.factors > 0).any():
        return "nothing saved: no prediction helps"
    used = [name for name, share in zip(units.names, units.predicted.used.tolist(), strict=True) if share > 0]
    low, high = float(made.factors.min()), float(made.factors.max())
    factor = f"λ = {high:.2f}" if high - low < 0.005 else f"λ by stratum from {low:.2f} to {high:.2f}"
    worth, n = limits.worth(made.factors), limits.n
    bought = f"worth {worth:.0f} labels instead of {n:,}" if worth >= HELPS * n else "nothing saved"
    return f"{', '.join(used)} combined, cross-fitted, {factor}, r = {number(limits.parts.correlation())}; {bought}"


def differences(units: Units, level: float = 0.95) -> list[Estimate]:
    """The difference of every two groups, first less second, with intervals that know what the two share.

    Units of one cluster (the question) go together, so that a question that is hard for both widens nothing. The ends
    are put together from those of the two means (MOVER: Zou & Donner 2008, Statistics in Medicine 27, 1693-1702, eq. 6,
    with the correlation of Newcombe 1998, Statistics in Medicine 17, 2635-2650), so that a share near 0 or 1 is no
    matter.
    """
    made = [mean_of(units, place) for place in range(len(units.groups))]
    both = combinations(made, 2)
    return [difference(one, other, kind, level) for one, other in both for kind in kinds_of(units)]


def difference(one: Mean, other: Mean, kind: str, level: float, times: float | None = None) -> Estimate:
    """The first mean less the second; `times` standard errors to either side, for a confidence sequence."""
    units = one.units
    groups = f"{one.group} - {other.group}"
    counts = [_about(units, made.group) for made in (one, other)]
    entry = Estimate(
        name=f"difference_{kind}",
        group=groups,
        n_labelled=counts[0][0] + counts[1][0],
        n_predicted=counts[0][1] + counts[1][1],
    )
    reason = one.reason or other.reason or why_not(units, kind)
    if reason is not None:
        return entry.undefined(reason)
    a, b = one.ends(kind, level, times), other.ends(kind, level, times)
    shared = float(one.influences(kind) @ other.influences(kind))
    together = shared / (a.error * b.error) if a.error * b.error > 0 else 0.0
    value = a.value - b.value
    below, above = (a.value - a.low, b.high - b.value), (a.high - a.value, b.value - b.low)
    low, high = (
        value + sign * math.sqrt(max(0.0, x * x + y * y - 2 * together * x * y))
        for sign, (x, y) in ((-1, below), (1, above))
    )
    error = math.sqrt(max(0.0, a.error**2 + b.error**2 - 2 * shared))
    freedom = min(a.freedom, b.freedom)
    how = f"{a.how} intervals put together, correlation {number(together)}"
    alone = (
        one.error(CLASSICAL) ** 2
        + other.error(CLASSICAL) ** 2
        - 2 * float(one.influences(CLASSICAL) @ other.influences(CLASSICAL))
    )
    effective = entry.n_labelled * alone / error**2 if error > 0 else float(entry.n_labelled)
    words = [f"of {units.whom}", *([what_was_used(one)] if kind != CLASSICAL else []), how, f"{100 * level:g} %"]
    return replace(
        entry,
        value=value,
        interval=Interval(low, high, how, level, error=error, freedom=freedom),
        method="; ".join(words),
        effective_n=float(entry.n_labelled) if kind == CLASSICAL else effective,
    )


def ranks(units: Units, level: float = 0.95) -> list[Estimate]:
    """The rank of each group by its mean (1: the highest), with the ranks that it may have in the population.

    A group's best rank is 1 and one more for each that is surely above it, its worst the number of groups less those
    surely below it (Mogstad, Romano, Shaikh & Wilhelm 2024, Review of Economic Studies 91, 476-518, section 3). Sure
    are differences that many standard errors from 0 which, by the normal distribution with the means' covariance, no
    true difference reaches in `level` of the samples: so all ranks hold at once.
    """
    made = [mean_of(units, place) for place in range(len(units.groups))]
    kind = kinds_of(units)[-1] if units.names and not units.labelled.all() else CLASSICAL
    if units.probability is not None:
        kind = ACTIVE if units.names else CLASSICAL
    there = [mean for mean in made if mean.reason is None]
    found = []
    if len(there) > 1:
        values = np.array([mean.ends(kind, level).value for mean in there])
        influences = np.stack([mean.influences(kind) for mean in there])
        covariance = influences @ influences.T
        errors = _errors(there, kind, covariance)
        sure = _surely_apart(values, errors, covariance, level, units.seed)
    for mean in made:
        n, predicted = _about(units, mean.group)
        entry = Estimate(name=f"rank_{kind}", group=mean.group, n_labelled=n, n_predicted=predicted)
        if mean.reason is not None or len(there) < 2:
            found.append(entry.undefined(mean.reason or "there are no two groups with labels to be ranked"))
            continue
        place = there.index(mean)
        best, worst = 1 + int(sure[:, place].sum()), len(there) - int(sure[place].sum())
        value = 1 + float((values > values[place]).sum()) + 0.5 * float((values == values[place]).sum() - 1)
        words = f"of {units.whom}; ranks of {len(there)} that hold at once, {100 * level:g} %"
        interval = Interval(float(best), float(worst), "simultaneous", level)
        found.append(replace(entry, value=value, interval=interval, method=words, effective_n=mean.effective))
    return found


def _errors(means: Sequence[Mean], kind: str, covariance: FloatArray) -> FloatArray:
    """The standard errors of the differences of every two means, never below what few labels allow."""
    floor = np.array([(e.high - e.low) / 2 / float(stats.norm.ppf(0.975)) for e in (m.ends(kind, 0.95) for m in means)])
    variance = np.maximum(np.diag(covariance), np.where(np.diag(covariance) <= 0, floor**2, 0.0))
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))


def _surely_apart(
    values: FloatArray, errors: FloatArray, covariance: FloatArray, level: float, seed: int
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Whether the row's mean is surely above the column's (G × G)."""
    rng = np.random.default_rng([seed, 16])
    root = np.linalg.cholesky(covariance + 1e-12 * max(1e-12, float(np.trace(covariance))) * np.eye(len(values)))
    drawn = rng.standard_normal((DRAWS, len(values))) @ root.T
    safe = np.where(errors > 0, errors, np.inf)
    most = np.zeros(DRAWS)
    for place in range(len(values)):
        most = np.maximum(most, (np.abs(drawn - drawn[:, [place]]) / safe[place]).max(axis=1))
    reach = float(np.quantile(most, level))
    apart: np.ndarray[tuple[int, int], np.dtype[np.bool_]] = values[:, None] - values[None, :] > reach * errors
    return apart & (errors > 0)
