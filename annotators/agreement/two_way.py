"""Intervals about raters like these: units are resampled and raters are left out, so that both count as drawn.

A bootstrap that draws raters with replacement lets a rater agree with a copy of themself, which is not what another
sample of raters would do. Raters therefore enter by their jackknife influences, whose ideal bootstrap has a variance in
closed form, and what units and raters have in common is taken off once, since it is in both parts:

    V = V_units + max(V_raters - V_both, 0)

V_units is the variance over resamples of units, or by the jackknife where units are not drawn (`Sample.once`);
V_raters = (R - 1) / R Σ_r (θ_(r) - mean)², θ without rater r; V_both = (n - 1)(R - 1) / (n R) Σ_ir (θ_(ir) - θ_(i) -
θ_(r) + θ)², θ without unit i and rater r. For a mean over a table of units × raters with independent effects of both
and of their product, V is its variance: Efron & Stein (1981), Annals of Statistics 9, 586-596, and Owen (2007), Annals
of Applied Statistics 1, 386-411, section 3, on what each of the two counts twice. That raters are a sample of their
kind: Gwet (2008), Psychometrika 73, 407-430. t has Satterthwaite's (1946, Biometrics Bulletin 2, 110-114) degrees of
freedom from n - 1 and R - 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotators.agreement.statistics.base import Asked, Coefficient, Sampling, samples
from annotators.agreement.tables.ratings import Label, Ratings
from annotators.arrays import FloatArray, IntArray, np, special
from annotators.intervals.analytic import NO_SPREAD, ROUNDING
from annotators.intervals.result import RANDOM_RATERS, TWO_WAY, TWO_WAY_JACKKNIFE, Interval

Key = tuple[str, Label | None]
GROUPS = 400
"""Units (or clusters) are resampled one by one up to so many, above in so many random groups."""
RATER_GROUPS = 20
"""Raters are left out one by one, but above so many in random groups where that takes long (`Sample.once`)."""


@dataclass(frozen=True, eq=False)
class _WithoutEach:
    """A statistic on one table: its value, its bootstrap replicates (B), and without each group of units (G).

    `once`: there are no replicates to speak of, and the groups that are left out say how units vary.
    """

    value: float
    replicates: FloatArray
    without: FloatArray
    once: bool

    def of_units(self) -> float:
        """The variance that units bring, NaN where most samples of them leave the statistic undefined."""
        drawn = self.without if self.once else self.replicates
        defined = drawn[~np.isnan(drawn)]
        if 2 * len(defined) <= len(drawn):
            return np.nan
        return float(defined.var() * (len(defined) - 1) if self.once else defined.var(ddof=1))


def two_way_intervals(
    ratings: Ratings, coefficients: Sequence[Coefficient], asked: Asked, sampling: Sampling
) -> dict[Key, Interval]:
    """The interval about raters like these of each of the coefficients that has no named raters of its own.

    By name and label. An interval without ends says why in its note: two raters cannot say how raters differ.
    """
    wanted = [coefficient for coefficient in coefficients if coefficient.over_all or not coefficient.by_pair]
    counting = np.unique(ratings.rater[ratings.counting(2)])
    groups, n_groups = _groups(ratings, sampling)
    drawn = replace(sampling, clusters=groups, drawn_from=n_groups)
    asked = replace(asked, each_pair=False)
    whole = _measured(ratings, wanted, asked, drawn)
    if len(counting) < 3:
        why = f"{len(counting)} raters cannot tell how raters differ; 3 are needed"
        return {key: _without(sampling, why) for key in whole}
    few = replace(drawn, resamples=1)
    raters = range(len(ratings.raters))
    groups_of_raters = [[rater] for rater in counting.tolist()]
    if any(found.once for found in whole.values()) and len(counting) > RATER_GROUPS:
        shuffled = np.random.default_rng([sampling.seed, 4]).permutation(counting)
        groups_of_raters = [shuffled[start::RATER_GROUPS].tolist() for start in range(RATER_GROUPS)]
    parts = [
        _measured(ratings.of_raters([other for other in raters if other not in left_out]), wanted, asked, few)
        for left_out in groups_of_raters
    ]
    shares = {coefficient.name for coefficient in wanted if getattr(coefficient, "share", None) is not None}
    return {
        key: _interval(found, [part.get(key) for part in parts], sampling, 0.0 if key[0] in shares else -np.inf)
        for key, found in whole.items()
    }


def _interval(
    whole: _WithoutEach, parts: Sequence[_WithoutEach | None], sampling: Sampling, floor: float = -np.inf
) -> Interval:
    """The interval, cut at the `floor` of what is a share."""
    of_units = whole.of_units()
    if np.isnan(of_units):
        return _without(sampling, "no resamples of units define it" if sampling.resamples else "no resamples")
    there = [part for part in parts if part is not None and not np.isnan(part.value)]
    if len(there) < len(parts):
        return _without(sampling, "without one of the raters it is not defined")
    n, r = len(whole.without), len(there)
    left_out = np.array([part.value for part in there])
    of_raters = float((r - 1) / r * ((left_out - left_out.mean()) ** 2).sum())
    both = np.stack([part.without for part in there]) - whole.without - left_out[:, None] + whole.value
    in_common = float((n - 1) * (r - 1) / (n * r) * np.nansum(both**2))
    beyond = max(of_raters - in_common, 0.0)
    total = of_units + beyond
    if total <= ROUNDING**2:
        return _without(sampling, NO_SPREAD)
    shares = of_units**2 / max(n - 1, 1) + beyond**2 / (r - 1)
    freedom = total**2 / shares if shares > 0 else float(n - 1)
    reach = float(special.stdtrit(freedom, (1 + sampling.level) / 2)) * float(np.sqrt(total))
    return Interval(
        max(min(whole.value - reach, 1.0), floor),
        min(whole.value + reach, 1.0),
        TWO_WAY_JACKKNIFE if whole.once else TWO_WAY,
        sampling.level,
        len(whole.replicates),
        int(np.isnan(whole.replicates).sum()),
        sampling.seed,
        over=f"{sampling.over} and raters",
        error=float(np.sqrt(total)),
        freedom=freedom,
        raters=RANDOM_RATERS,
    )


def _without(sampling: Sampling, why: str) -> Interval:
    return Interval(None, None, TWO_WAY, sampling.level, note=why, raters=RANDOM_RATERS)


def _measured(
    ratings: Ratings, coefficients: Sequence[Coefficient], asked: Asked, sampling: Sampling
) -> dict[Key, _WithoutEach]:
    """Every statistic that is defined on the table, on the same resamples of the same groups."""
    found: dict[Key, _WithoutEach] = {}
    for sample in samples(ratings, coefficients, asked, sampling):
        parts = [part for part in sample.parts if part.is_measured]
        if not parts:
            continue
        drawn = sample.resampled(parts, sampling)
        for place, entry in enumerate(entry for part in parts for entry in part.entries):
            if entry.reason is None and not np.isnan(drawn.values[place]) and len(drawn.jackknife):
                found.setdefault(
                    (entry.name, entry.label),
                    _WithoutEach(
                        float(drawn.values[place]), drawn.replicates[:, place], drawn.jackknife[:, place], sample.once
                    ),
                )
    return found


def _groups(ratings: Ratings, sampling: Sampling) -> tuple[IntArray, int]:
    """What is resampled together: clusters, else units, and random groups of them where there are many."""
    codes = sampling.clusters if sampling.clusters is not None else _rank(ratings)
    there, place = np.unique(codes[ratings.sizes > 0], return_inverse=True)
    group = np.arange(len(there))
    if len(there) > GROUPS:
        group = np.random.default_rng([sampling.seed, 3]).permutation(len(there)) % GROUPS
    found = np.zeros(len(ratings.units), dtype=np.int64)  # what nobody rated is in no sample, whatever its group
    found[ratings.sizes > 0] = group[place]
    return found, int(group.max(initial=-1)) + 1


def _rank(ratings: Ratings) -> IntArray:
    """A number for each unit by what its raters gave it, so that a table in another order has the same resamples."""
    key = (ratings.rater * (int(ratings.code.max(initial=0)) + 1) + ratings.code).astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64, Steele et al. (2014)
        key = (key + np.uint64(0x9E3779B97F4A7C15)) ^ (key >> np.uint64(shift))
        key *= np.uint64(factor)
    mixed = np.zeros(len(ratings.units), dtype=np.uint64)
    np.add.at(mixed, ratings.unit, key ^ (key >> np.uint64(31)))
    rank = np.empty(len(mixed), dtype=np.int64)
    rank[np.argsort(mixed, kind="stable")] = np.arange(len(mixed))
    return rank
