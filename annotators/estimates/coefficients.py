"""How far a metric goes with people (correlations, AUROC, F1), of all units, from labels of few of them.

Each coefficient is measured on the labelled units and corrected by what the predictions say of the others: with ψ the
influence of a unit on the coefficient and ψ' what the predictions make of it, it is θ + mean(λ ψ') over all units
- mean(λ ψ') over the labelled ones: one step from the labels' own value (van der Vaart 1998, Asymptotic Statistics,
section 5.7) of prediction-powered inference for any estimand (Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453,
section 3). Influences: Hampel (1974), Journal of the American Statistical Association 69, 383-393.

Where some units have labels of more raters than others, a coefficient is that with the mean (of yes and no: the
majority) of as many raters as most units have: of a unit with more, every so many of its labels count alike. By how
much raters differ on a unit is then the variance of the influences that each label of it would have by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations, islice

from annotators.arrays import BoolArray, FloatArray, IntArray, np, stats
from annotators.estimates.means import CLASSICAL, kinds_of, numbered, why_not
from annotators.estimates.parts import Parts
from annotators.estimates.raters import LabelsByRater, noise_within
from annotators.estimates.sample import Estimate, Units
from annotators.intervals.result import Interval

FEWEST = 10
"""Labelled units with a score that a coefficient needs here: with fewer its influences say too little."""

FITTED = 5
"""What of a coefficient is fitted on the labels: two means, two spreads, and itself."""

MOST_SUBSETS = 60
"""So many subsets of a unit's labels are taken at most; beyond, its first ones by a fixed rule."""

Influence = Callable[[FloatArray, FloatArray, FloatArray], tuple[float, FloatArray]]
"""From labels, scores and weights that sum to 1 (n each) the coefficient and each unit's influence on it (n)."""


def pearson(y: FloatArray, x: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Pearson's r with its influences z_x z_y - r (z_x² + z_y²) / 2 (Devlin, Gnanadesikan & Kettenring 1975).

    Biometrika 62, 531-545, eq. 2.3.
    """
    a, b = _standard(y, weights), _standard(x, weights)
    r = float(weights @ (a * b))
    return r, a * b - r * (a * a + b * b) / 2


def spearman(y: FloatArray, x: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Spearman's ρ: Pearson's r of the mid-ranks, whose influences count what a unit does to the others' ranks as well.

    Croux & Dehon (2010), Statistical Methods & Applications 19, 497-515, section 2; with ties by mid-ranks.
    """
    ranks = [_mid_ranks(values, weights) for values in (y, x)]
    r, own = pearson(ranks[0], ranks[1], weights)
    a, b = (_standard(values, weights) for values in ranks)
    spread = [math.sqrt(float(weights @ (rank - weights @ rank) ** 2)) for rank in ranks]
    for values, slope in ((y, (b - r * a) / spread[0]), (x, (a - r * b) / spread[1])):
        above = _sum_above(values, weights * slope)
        own = own + above - float(weights @ above)
    return r, own


def auroc(y: FloatArray, x: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """The area under the ROC curve with its influences (DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44, 837)."""
    positive = y > 0.5
    share = float(weights[positive].sum())
    above = _sum_above(x, weights * positive) / share
    below = 1 - _sum_above(x, weights * ~positive) / (1 - share)
    area = float(weights[positive] @ below[positive]) / share
    return area, np.where(positive, (below - area) / share, (above - area) / (1 - share))


def f1(y: FloatArray, said: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """F1 = 2 TP / (2 TP + FP + FN) of decisions 0 or 1, a ratio of means, with its influences."""
    above, below = 2 * y * said, y + said
    value = float(weights @ above) / float(weights @ below)
    return value, (above - value * below) / float(weights @ below)


def _standard(values: FloatArray, weights: FloatArray) -> FloatArray:
    off = values - float(weights @ values)
    spread = math.sqrt(float(weights @ off**2))
    return off / spread if spread > 0 else np.zeros(len(values))


def _mid_ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The share of all below each, and half of that at it (n)."""
    _, place = np.unique(values, return_inverse=True)
    at = np.bincount(place, weights=weights)
    return (np.cumsum(at) - at / 2)[place]


def _sum_above(values: FloatArray, parts: FloatArray) -> FloatArray:
    """For each unit the sum of the parts of all with a greater value, and half of those with its own (n)."""
    _, place = np.unique(values, return_inverse=True)
    at = np.bincount(place, weights=parts)
    found: FloatArray = (at.sum() - np.cumsum(at) + at / 2)[place]
    return found


CORRELATIONS: dict[str, Influence] = {"pearson": pearson, "spearman": spearman}


def coefficients(units: Units, thresholds: dict[str, float] | None = None, level: float = 0.95) -> list[Estimate]:
    """Of every prediction Pearson's r and Spearman's ρ with the labels, and AUROC and F1 where labels are 0 and 1.

    `thresholds` say from where on a prediction counts as yes (default .5 where it lies in 0..1; else there is no F1).
    Units are those that have the prediction. Intervals are t intervals of Fisher's z (1915) of a correlation and of the
    logit of AUROC and F1.
    """
    named = [name for name in units.names if name not in units.beside]
    return [entry for name in named for entry in _of_metric(units, name, (thresholds or {}).get(name), level)]


def _of_metric(units: Units, name: str, threshold: float | None, level: float) -> Iterable[Estimate]:
    score = units.predictions[:, units.names.index(name)]
    kept = ~np.isnan(score)
    binary = units.binary and units.scale in (None, (0.0, 1.0))
    if threshold is None and kept.any() and score[kept].min() >= 0 and score[kept].max() <= 1:
        threshold = 0.5
    wanted: dict[str, tuple[Influence, FloatArray]] = {key: (of, score) for key, of in CORRELATIONS.items()}
    if binary:
        wanted["auroc"] = auroc, score
        if threshold is not None:
            wanted["f1"] = f1, np.where(kept, (score >= threshold).astype(np.float64), np.nan)
    for key, (influence, values) in wanted.items():
        yield from _coefficient(units, Estimate(name=key, metric=name), influence, values, level)


def _coefficient(
    units: Units, about: Estimate, influence: Influence, score: FloatArray, level: float
) -> Iterable[Estimate]:
    key = about.name
    kept = np.flatnonzero(~np.isnan(score))
    human, x = units.human[kept], score[kept]
    labelled = ~np.isnan(human)
    n = int(labelled.sum())
    said = _Said.of(units, kept, decided=key in {"auroc", "f1"})
    kinds = kinds_of(units)
    about = replace(about, n_labelled=n, n_predicted=len(kept))
    entries = {kind: replace(about, name=f"{key}_{kind}") for kind in kinds}
    reason = None
    if n < FEWEST:
        reason = f"only {n} labelled unit{'s' * (n != 1)} with a score; {FEWEST} are needed"
    elif np.ptp(said.value) == 0 or np.ptp(x[labelled]) == 0:
        who = "people" if np.ptp(said.value) == 0 else "the metric"
        reason = f"{who} gave every labelled unit the same value, so that there is nothing to compare with"
    if reason is not None:
        yield from (entry.undefined(reason) for entry in entries.values())
        return
    stratum = numbered(units.stratum[kept])
    n_strata = int(stratum.max(initial=0)) + 1
    if (np.bincount(stratum[labelled], minlength=n_strata) < 2).any():
        yield from (entry.undefined("a stratum has fewer than two labelled units") for entry in entries.values())
        return
    chance = None if units.probability is None else units.probability[kept]
    parts = Parts.of(
        human,
        np.zeros(len(kept)),
        cluster=units.cluster[kept],
        stratum=stratum,
        probabilities=chance,
        open_=None if units.open is None else units.open[kept],
        beyond=units.beyond,
    )
    value, spread = said.measured(influence, x, parts.own)
    noise, noise_freedom = said.noise(influence, x, parts.own)
    freedom = len(np.unique(parts.cluster[labelled])) - n_strata
    for kind, entry in entries.items():
        if kind != CLASSICAL and (why := why_not(units, kind)) is not None:
            yield entry.undefined(why)
            continue
        factors, used = np.zeros(n_strata), parts.predicting(spread, np.zeros(len(kept)), noise, noise_freedom)
        if kind != CLASSICAL and not labelled.all():
            used = parts.predicting(spread, _predicted(units, kept, spread, labelled, x), noise, noise_freedom)
            factors = used.tuned()
        # The strata's own means of the influences cancel: what is left is the step that the predictions add.
        moved = value + used.value(factors) - used.value(np.zeros(n_strata))
        stretch = math.sqrt(freedom / max(1, freedom - FITTED))
        error, alone = stretch * used.error(factors), stretch * used.error(np.zeros(n_strata))
        most = max(1, freedom - FITTED - int((factors > 0).any()))
        free = used.freedom(factors, most) if used.weighed or factors.any() else most
        t = float(stats.t.ppf((1 + level) / 2, used.with_raters(free, factors)))
        low, high, how = _ends(key, moved, t * error)
        effective = float(n) if kind == CLASSICAL else n * alone**2 / error**2 if error > 0 else float(n)
        words = [f"of {units.whom} with a score", *said.in_words]
        if kind != CLASSICAL:
            words.append(f"worth {effective:.0f} labels instead of {n:,}" if effective > n else "nothing saved")
        words.append(f"t interval {how}, {100 * level:g} %, {most:,} degrees of freedom")
        yield replace(
            entry,
            value=min(max(moved, -1.0 if key in CORRELATIONS else 0.0), 1.0),
            interval=Interval(low, high, "t", level, error=error, freedom=most),
            method="; ".join(words),
            effective_n=effective,
        )


@dataclass(frozen=True, eq=False)
class _Said:
    """What is set beside a score: values (R) of the kept units `unit` (R, places among the kept M), counting `share`.

    One value a unit where it is not known who said what; else one for every so many (`raters`) of its labels. `labels`
    are the single ones.
    """

    n: int
    unit: IntArray
    value: FloatArray
    share: FloatArray
    raters: int
    decided: bool
    labels: LabelsByRater | None

    @classmethod
    def of(cls, units: Units, kept: IntArray, *, decided: bool) -> _Said:
        """Of the kept units; `decided` asks for 0 or 1: the majority of as many labels."""
        human = units.human[kept]
        places = np.flatnonzero(~np.isnan(human))
        if units.labels is None:
            return cls(len(kept), places, human[places], np.ones(len(places)), 1, decided, None)
        place = np.full(units.n, -1)
        place[kept] = np.arange(len(kept))
        there = place[units.labels.unit] >= 0
        labels = LabelsByRater(place[units.labels.unit[there]], units.labels.rater[there], units.labels.value[there])
        counts = labels.counts(len(kept))
        raters = int(np.bincount(counts[counts > 0]).argmax()) if len(labels.value) else 1
        raters -= 1 - raters % 2 if decided else 0
        order = np.argsort(labels.unit, kind="stable")
        having = np.flatnonzero(counts)
        ends = np.cumsum(counts[having])
        unit, value, share = list[IntArray](), list[FloatArray](), list[FloatArray]()
        for n in np.unique(counts[having]).tolist():  # units with as many labels are taken together
            alike = counts[having] == n
            given = labels.value[order][(ends[alike] - n)[:, None] + np.arange(n)]
            size = min(raters, n)
            size -= 1 - size % 2 if decided else 0
            subsets = np.array(list(islice(combinations(range(n), size), MOST_SUBSETS)))
            chosen = given[:, subsets].mean(axis=2)
            unit.append(np.repeat(having[alike], len(subsets)))
            value.append((chosen > 0.5).astype(np.float64).ravel() if decided else chosen.ravel())
            share.append(np.full(chosen.size, 1 / len(subsets)))
        if not unit:
            return cls(len(kept), places[:0], human[:0], np.zeros(0), raters, decided, labels)
        found = np.concatenate(unit)
        by_unit = np.argsort(found, kind="stable")
        return cls(
            len(kept), found[by_unit], np.concatenate(value)[by_unit], np.concatenate(share)[by_unit], raters, decided,
            labels,
        )  # fmt: skip

    @property
    def in_words(self) -> list[str]:
        """With how many raters' labels a score is compared."""
        if self.labels is None:
            return []
        if self.raters == 1:
            return ["with one rater's labels"]
        return [f"with the {'majority' if self.decided else 'mean'} of {self.raters} raters"]

    def measured(self, influence: Influence, x: FloatArray, own: FloatArray) -> tuple[float, FloatArray]:
        """The coefficient with the scores x (M) and each unit's influence on it (M), where units weigh `own` (M)."""
        weights = own[self.unit] * self.share
        value, psi = influence(self.value, x[self.unit], weights / weights.sum())
        of_unit: FloatArray = np.bincount(self.unit, weights=psi * self.share, minlength=self.n).astype(np.float64)
        return value, of_unit

    def noise(self, influence: Influence, x: FloatArray, own: FloatArray) -> tuple[FloatArray, float]:
        """The variance of each unit's influence by what raters differ by (M), and its degrees of freedom."""
        nothing = np.zeros(self.n), math.inf
        if self.labels is None:
            return nothing
        unit, counts = self.labels.unit, self.labels.counts(self.n)
        weights = own[unit] / counts[unit]
        _, psi = influence(self.labels.value, x[unit], weights / weights.sum())
        found = noise_within(unit, psi, self.n)
        return nothing if found is None else (found.variance / np.maximum(counts, 1), found.freedom)


def _predicted(units: Units, kept: IntArray, spread: FloatArray, labelled: BoolArray, x: FloatArray) -> FloatArray:
    """What the predictions make of every unit's influence (M): a cross-fitted regression on them and their products."""
    f = units.predicted.values[kept]
    columns = [x, x * x, f, f * f, f * x]
    middle = np.stack([(column - column.mean()) / (column.std() or 1.0) for column in columns], axis=1)
    target = np.full(units.n, np.nan)
    target[kept] = np.where(labelled, spread, np.nan)
    features = np.full((units.n, middle.shape[1]), np.nan)
    features[kept] = middle
    return units.combined_for(target, features).values[kept]


def _ends(key: str, value: float, reach: float) -> tuple[float, float, str]:
    """The ends of the interval on a scale on which the coefficient is nearer to normal, and which that is."""
    if key in CORRELATIONS:
        inside = min(max(value, -0.999999), 0.999999)
        z, slope = math.atanh(inside), 1 / (1 - inside * inside)
        return math.tanh(z - reach * slope), math.tanh(z + reach * slope), "of Fisher's z"
    inside = min(max(value, 1e-6), 1 - 1e-6)
    z, slope = math.log(inside / (1 - inside)), 1 / (inside * (1 - inside))
    low, high = (1 / (1 + math.exp(-min(max(end, -500), 500))) for end in (z - reach * slope, z + reach * slope))
    return low, high, "of the logit"
