"""All statistics of agreement of one criterion, computed together on the same resamples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from annotators.agreement import coefficients
from annotators.agreement.bootstrap import Resampled, resample
from annotators.agreement.pairs import PairSums
from annotators.agreement.patterns import Cells, Counts, Rows
from annotators.agreement.result import IntervalKind, Statistic
from annotators.agreement.table import FloatArray, IntArray, Ratings
from annotators.errors import InvalidInput

MANY_PAIRS = 20  # so many pairs that share all units are quicker resampled at once than one by one
MOST_LABELS = 20  # specific agreement is reported by default up to so many labels
MOST_RATERS = 100  # κ of each pair is listed by default up to so many raters (4,950 pairs)


@dataclass(frozen=True)
class CountCoefficient:
    """A coefficient that is a function of how many raters gave each label.

    `smallest` is the number of ratings a unit needs to count; `chance` says that it is corrected for chance, so that it
    needs two units and two labels; `by_label` that it has one value a label; `needs` what the labels must be.
    """

    evaluate: Callable[[Counts, FloatArray], FloatArray]
    smallest: int = 2
    chance: bool = True
    by_label: bool = False
    needs: Literal["nothing", "order", "numbers"] = "nothing"


COUNT_COEFFICIENTS: dict[str, CountCoefficient] = {
    "percent_agreement": CountCoefficient(coefficients.percent_agreement, chance=False),
    "krippendorff_alpha_nominal": CountCoefficient(coefficients.krippendorff_alpha_nominal),
    "krippendorff_alpha_ordinal": CountCoefficient(coefficients.krippendorff_alpha_ordinal, needs="order"),
    "krippendorff_alpha_interval": CountCoefficient(coefficients.krippendorff_alpha_interval, needs="numbers"),
    "fleiss_kappa": CountCoefficient(coefficients.fleiss_kappa, smallest=1),
    "specific_agreement": CountCoefficient(coefficients.specific_agreement, chance=False, by_label=True),
}
PAIR_COEFFICIENTS = ("cohen_kappa", "light_kappa")
STATISTICS = (*COUNT_COEFFICIENTS, *PAIR_COEFFICIENTS)


def default_statistics(ratings: Ratings) -> tuple[str, ...]:
    """The names of the statistics that are reported for this scale when nothing else is asked for, in their order."""
    alphas = ["krippendorff_alpha_nominal"]
    if ratings.scale != "nominal":
        alphas.append("krippendorff_alpha_ordinal")
        if ratings.numeric:
            alphas.append("krippendorff_alpha_interval")
    cohen = ["cohen_kappa"] if len(ratings.raters) <= MOST_RATERS else []
    light = ["light_kappa"] if len(ratings.raters) > 2 else []
    specific = ["specific_agreement"] if len(ratings.labels) <= MOST_LABELS else []
    return ("percent_agreement", *alphas, *cohen, *light, "fleiss_kappa", *specific)


def measure(
    ratings: Ratings,
    statistics: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    *,
    kind: IntervalKind = "BCa",
) -> list[Statistic]:
    """Statistics of agreement with bootstrap intervals over units, in the order asked for.

    `statistics` are names from `STATISTICS`; by default those of `default_statistics`: for a nominal scale raw
    agreement, α, κ of each pair of raters (up to 100 raters), their mean (three raters and more), Fleiss' κ, and
    specific agreement on each label (up to 20 labels); an ordinal or interval scale adds the ordinal α and, if the
    labels are numbers, the interval α.
    `cohen_kappa` is one entry a pair of raters, in the raters' order, and `specific_agreement` one a label. `level`
    (0..1) is that of the intervals, `kind` "BCa" or "percentile"; 0 `resamples` gives values without intervals. Nothing
    is left out silently: what is undefined has the value None and a reason.

    Raises InvalidInput for an unknown name, a level outside 0..1 or negative resamples.
    """
    names = list(dict.fromkeys(default_statistics(ratings) if statistics is None else statistics))
    unknown = [name for name in names if name not in STATISTICS]
    if unknown:
        raise InvalidInput(f"statistic {unknown[0]!r} is unknown: use some of {', '.join(STATISTICS)}")
    if not 0 < level < 1:
        raise InvalidInput(f"level {level} is not between 0 and 1: give a share such as 0.95")
    if resamples < 0 or seed < 0:
        raise InvalidInput(f"{resamples} resamples and seed {seed}: neither may be negative")
    asked = _Asked(ratings, resamples, seed, level, kind)
    found = asked.of_counts([name for name in names if name in COUNT_COEFFICIENTS])
    if any(name in PAIR_COEFFICIENTS for name in names):
        cells = Rows.of(ratings).cells()
        if "cohen_kappa" in names:
            found["cohen_kappa"] = list(asked.of_pairs(cells))
        if "light_kappa" in names:
            found["light_kappa"] = [asked.of_all_pairs(cells)]
    return [statistic for name in names for statistic in found[name]]


@dataclass(frozen=True)
class _Asked:
    """What `measure` was asked for."""

    ratings: Ratings
    resamples: int
    seed: int
    level: float
    kind: IntervalKind

    def of_counts(self, names: list[str]) -> dict[str, list[Statistic]]:
        """The named coefficients of counts; those that use the same units share their resamples."""
        found: dict[str, list[Statistic]] = {}
        for smallest in (1, 2):
            here = [name for name in names if COUNT_COEFFICIENTS[name].smallest == smallest]
            if not here:
                continue
            table = Counts.of(self.ratings, smallest)
            measured = {}
            for name in here:
                found[name] = self._without_values(name, table)
                if any(statistic.reason is None for statistic in found[name]):
                    measured[name] = COUNT_COEFFICIENTS[name].evaluate
            if measured:
                sampled = self._resampled(measured, table)
                place = 0
                for name in measured:
                    for i, statistic in enumerate(found[name]):
                        found[name][i] = self._with_value(statistic, sampled, place + i)
                    place += len(found[name])
        return found

    def _resampled(self, measured: dict[str, Callable[[Counts, FloatArray], FloatArray]], table: Counts) -> Resampled:
        """All the coefficients on the same resamples of the units of one table."""

        def together(weights: FloatArray) -> FloatArray:
            return np.column_stack([evaluate(table, weights) for evaluate in measured.values()])

        return resample(
            together, table.multiplicity, resamples=self.resamples, seed=self.seed, width=len(table.numbers)
        )

    def _without_values(self, name: str, table: Counts) -> list[Statistic]:
        """The entries of one coefficient, with a reason where it is undefined and otherwise still to be measured."""
        spec, ratings = COUNT_COEFFICIENTS[name], self.ratings
        counting = ratings.counting(spec.smallest)
        entry = Statistic(
            name=name,
            value=None,
            low=None,
            high=None,
            method=None,
            reason=_why_undefined(ratings, table, spec),
            n_units=table.n_units,
            n_raters=len(np.unique(ratings.rater[counting])),
            n_ratings=int(counting.sum()),
            left_out=int((ratings.sizes == 1).sum()) if spec.smallest == 2 else 0,
        )
        if not spec.by_label:
            return [entry]
        used = table.marginals > 0
        return [
            replace(
                entry,
                label=label,
                reason=entry.reason
                or (None if used[i] else f'nobody used the label "{label}" on a unit with two ratings'),
            )
            for i, label in enumerate(ratings.labels)
        ]

    def of_pairs(self, cells: Cells) -> Iterator[Statistic]:
        """Cohen's κ of every pair of raters, one after the other, each with resamples of the units that it shares."""
        raters, too_few = self.ratings.raters, _too_few(self.ratings)
        if len(raters) < 2:
            yield self._pair_entry("cohen_kappa", too_few)
        together, place = self._pairs_together(cells)
        for a, b in combinations(range(len(raters)), 2):
            pair = a * len(raters) + b
            cross = cells.of_pair(pair)
            shared = int(cross.multiplicity.sum())
            entry = Statistic(
                name="cohen_kappa",
                value=None,
                low=None,
                high=None,
                method=None,
                reason=too_few or _why_pair_undefined(self.ratings, cross, shared),
                n_units=shared,
                n_raters=2,
                n_ratings=2 * shared,
                raters=(raters[a], raters[b]),
            )
            if entry.reason is not None:
                yield entry
            elif together is not None and pair in place:
                yield self._with_value(entry, together, place[pair])
            else:
                sums = PairSums.of_cells(cross)
                yield self._with_value(entry, self._resampled_pairs(coefficients.cohen_kappa, sums))

    def _pairs_together(self, cells: Cells) -> tuple[Resampled | None, dict[int, int]]:
        """The pairs that share all units resampled at once, and where each pair is; None when that is not quicker."""
        pairs, shared = cells.shared()
        complete = pairs[shared == (self.ratings.sizes >= 2).sum()]
        if len(complete) < MANY_PAIRS:
            return None, {}
        sums = PairSums.of_ratings(self.ratings, complete, self.seed)
        if sums.blocked:
            return None, {}
        sampled = self._resampled_pairs(coefficients.cohen_kappa, sums)
        return sampled, {int(pair): i for i, pair in enumerate(complete)}

    def of_all_pairs(self, cells: Cells) -> Statistic:
        """Light's κ: the mean over the pairs for which `of_pairs` has a value."""
        reason = _too_few(self.ratings)
        if reason:
            return self._pair_entry("light_kappa", reason)
        defined, left_out = _defined_pairs(self.ratings, cells)
        if not len(defined):
            return self._pair_entry("light_kappa", "Cohen's κ is undefined for every pair of raters")
        sums = PairSums.of_ratings(self.ratings, defined, self.seed)
        entry = self._with_value(
            self._pair_entry("light_kappa", None), self._resampled_pairs(coefficients.light_kappa, sums)
        )
        notes = [entry.method]
        if sums.blocked:
            notes.append(f"units resampled in {len(sums.multiplicity):,} random blocks")
        if left_out:
            notes.append(f"mean of {len(defined):,} pairs of raters, {left_out:,} with an undefined κ left out")
        return replace(entry, method="; ".join(note for note in notes if note))

    def _pair_entry(self, name: str, reason: str | None) -> Statistic:
        """An entry about all raters, with the numbers of the units that at least two of them rated."""
        counting = self.ratings.counting(2)
        return Statistic(
            name=name,
            value=None,
            low=None,
            high=None,
            method=None,
            reason=reason,
            n_units=int((self.ratings.sizes >= 2).sum()),
            n_raters=len(np.unique(self.ratings.rater[counting])),
            n_ratings=int(counting.sum()),
            left_out=int((self.ratings.sizes == 1).sum()),
        )

    def _resampled_pairs(self, evaluate: Callable[[PairSums, FloatArray], FloatArray], sums: PairSums) -> Resampled:
        return resample(
            lambda weights: evaluate(sums, weights),
            sums.multiplicity,
            resamples=self.resamples,
            seed=self.seed,
            width=sums.width,
        )

    def _with_value(self, entry: Statistic, sampled: Resampled, place: int = 0) -> Statistic:
        """The entry with its value, interval and method, unless it has a reason already."""
        if entry.reason is not None:
            return entry
        value = float(sampled.values[place])
        if np.isnan(value):
            return replace(entry, reason="observed and chance agreement leave nothing to measure (0/0)")
        interval = sampled.interval(place, self.level, self.kind)
        method = interval.in_words()
        if entry.left_out:
            units = "unit" if entry.left_out == 1 else "units"
            method += f"; {entry.left_out:,} {units} with a single rating left out"
        return replace(entry, value=value, low=interval.low, high=interval.high, method=method, interval=interval)


def _too_few(ratings: Ratings) -> str | None:
    """Why no agreement at all can be measured, or None."""
    if not ratings.n_ratings:
        return "there are no ratings"
    if len(np.unique(ratings.rater)) == 1:
        return "only one rater has rated, and agreement needs two"
    if ratings.sizes.max() < 2:
        return "no unit was rated by two raters"
    return None


def _why_undefined(ratings: Ratings, table: Counts, spec: CountCoefficient) -> str | None:
    """Why a coefficient of counts is undefined, or None."""
    reason = _too_few(ratings)
    if reason:
        return reason
    if spec.needs != "nothing" and ratings.scale == "nominal":
        return "the scale is nominal, and its labels have no order"
    if spec.needs == "numbers" and not ratings.numeric:
        return "the labels are not numbers"
    if spec.chance:
        if table.n_units == 1:
            return "only one unit was rated by two raters, so that chance agreement cannot be told from agreement"
        used = np.flatnonzero(table.marginals)
        if len(used) == 1:
            label = ratings.labels[used[0]]
            return f'every rating is "{label}", so that agreement and chance agreement are both complete (0/0)'
    return None


def _why_pair_undefined(ratings: Ratings, cross: Cells, shared: int) -> str | None:
    """Why κ of one pair is undefined, or None."""
    if shared == 0:
        return "the two raters share no unit"
    if shared == 1:
        return "the two raters share only one unit, so that chance agreement cannot be told from agreement"
    if len(cross.a) == 1 and cross.a[0] == cross.b[0]:
        return f'both raters gave "{ratings.labels[cross.a[0]]}" to every unit that they share (0/0)'
    return None


def _defined_pairs(ratings: Ratings, cells: Cells) -> tuple[IntArray, int]:
    """The pairs whose κ is defined, by the rules of `_why_pair_undefined`, and how many are not."""
    pairs, shared = cells.shared()
    first = np.searchsorted(cells.pair, pairs)
    one_cell = np.diff(np.r_[first, len(cells.pair)]) == 1
    constant = one_cell & (cells.a[first] == cells.b[first])
    defined = pairs[(shared > 1) & ~constant]
    return defined, len(ratings.raters) * (len(ratings.raters) - 1) // 2 - len(defined)
