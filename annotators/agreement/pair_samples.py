"""The statistics of pairs of raters: each pair on its own units, many pairs at once, and their means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from annotators.agreement import coefficients, cross, linearised, reasons
from annotators.agreement.bootstrap import Evaluate, Sampling
from annotators.agreement.count_samples import counts_sample
from annotators.agreement.cross import CrossTable
from annotators.agreement.distances import Nominal
from annotators.agreement.pairs import PairSums
from annotators.agreement.parts import Asked, Part, Sample, distance_of, entry_of, nothing, ranked_note
from annotators.agreement.patterns import Cells, Rows, cells_of_pair
from annotators.agreement.result import Interval, Statistic
from annotators.agreement.table import FloatArray, Ratings
from annotators.coefficient_names import CATALOGUE

MANY_PAIRS = 20  # so many pairs that share all units are quicker resampled at once than one by one
CORRELATIONS: dict[str, Callable[[CrossTable, FloatArray], FloatArray]] = {
    "pearson": cross.pearson,
    "spearman": cross.spearman,
    "kendall": cross.kendall,
}


class Pairs:
    """The samples of the statistics of pairs: one a pair, all pairs at once where that is quicker, and means."""

    def __init__(self, ratings: Ratings, asked: Asked, sampling: Sampling) -> None:
        self.ratings, self.asked, self.sampling = ratings, asked, sampling
        self.cells = Rows.of(ratings).cells()
        self.too_few = reasons.too_few(ratings)

    def samples(self, names: Sequence[str], families: Mapping[str, str]) -> Iterator[Sample]:
        """The samples of those names whose family is pairs or light."""
        each = [name for name in names if families[name] == "pairs"]
        if "scott_pi" in each and len(self.ratings.raters) > 2:
            yield self._scott_of_all()
            if not self.asked.each_pair:
                each.remove("scott_pi")
        together: dict[int, int] = {}
        if "cohen_kappa" in each:
            all_at_once, together = self._together()
            if all_at_once is not None:
                yield all_at_once
        if each:
            yield from self._each(each, together)
        for name in names:
            if families[name] == "light":
                yield self._mean(name)

    def _each(self, names: Sequence[str], together: dict[int, int]) -> Iterator[Sample]:
        raters = self.ratings.raters
        if len(raters) < 2:
            empty = np.empty(0, dtype=np.int64)
            entries = [entry_of(self.ratings, name, self.too_few, 2) for name in names]
            parts = [Part([entry], partial(nothing, 1)) for entry in entries]
            yield Sample(empty, np.full(len(self.ratings.units), -1), 1, parts)
        for a, b in combinations(range(len(raters)), 2):
            pair = a * len(raters) + b
            here = [name for name in names if name != "cohen_kappa" or pair not in together]
            if here:
                yield self._pair(a, b, here)

    def _pair(self, a: int, b: int, names: Sequence[str]) -> Sample:
        """All statistics of one pair, on resamples of the units that the two share."""
        ratings = self.ratings
        if self.sampling.clusters is None:
            cells = self.cells.of_pair(a * len(ratings.raters) + b)
            of_unit = np.repeat(np.arange(len(cells.a)), cells.multiplicity)
        else:
            cells, of_unit = cells_of_pair(ratings, a, b)
        table = CrossTable.of(cells, ratings.numbers)
        size = len(table.used)
        width = max(size**2 if "kendall" in names and size <= cross.SQUARE else 0, size)
        sample = Sample(cells.multiplicity, of_unit, width)
        for name in names:
            entry = self._pair_entry(name, cells, (a, b))
            sample.parts.append(self._pair_part(name, entry, table))
        return sample

    def _pair_entry(self, name: str, cells: Cells, pair: tuple[int, int]) -> Statistic:
        shared = int(cells.multiplicity.sum())
        reason = self.too_few or reasons.misfit(self.ratings, CATALOGUE[name], any_scale=self.asked.any_scale)
        correlation = name in CORRELATIONS
        return Statistic.pending(
            name,
            reason
            or reasons.of_pair(
                self.ratings,
                cells,
                shared,
                correlation=correlation,
                least_shared=self.asked.least_shared if "kappa" in name else 2,
            ),
            n_units=shared,
            n_raters=2,
            n_ratings=2 * shared,
            raters=(self.ratings.raters[pair[0]], self.ratings.raters[pair[1]]),
        )

    def _pair_part(self, name: str, entry: Statistic, table: CrossTable) -> Part:
        if entry.reason is not None:
            return Part([entry], partial(nothing, 1))
        note = ranked_note(self.ratings, name)
        if name in CORRELATIONS:
            return Part(
                [entry],
                partial(CORRELATIONS[name], table),
                lambda _, value, level: linearised.of_correlation(name, value, table.multiplicity, level),
                reasons.NO_SPREAD,
                note,
            )
        if name == "scott_pi":
            return Part(
                [entry],
                partial(cross.scott, table),
                lambda _, value, level: linearised.of_scott(value, table, level),
            )
        distance = distance_of(name, self.ratings, self.asked, table.used)
        evaluate: Evaluate = partial(cross.cohen, table)
        if name != "cohen_kappa":
            evaluate = partial(cross.weighted_cohen, table, distance=distance)
        return Part(
            [entry],
            evaluate,
            lambda _, value, level: linearised.of_cohen(value, table, distance, level),
            note=note,
        )

    def _together(self) -> tuple[Sample | None, dict[int, int]]:
        """Cohen's κ of the pairs that share all units, at once, and where each is; None when that is not quicker."""
        if self.sampling.clusters is not None:
            return None, {}
        pairs, shared = self.cells.shared()
        complete = pairs[shared == (self.ratings.sizes >= 2).sum()]
        if len(complete) < MANY_PAIRS:
            return None, {}
        sums = PairSums.of_ratings(self.ratings, complete, self.sampling.seed)
        if sums.blocked:
            return None, {}
        n, entries, crosses = len(self.ratings.raters), [], []
        for pair in complete.tolist():
            cells = self.cells.of_pair(pair)
            entries.append(self._pair_entry("cohen_kappa", cells, divmod(pair, n)))
            crosses.append(CrossTable.of(cells, self.ratings.numbers))

        def analytic(i: int, value: float, level: float) -> Interval:
            return linearised.of_cohen(value, crosses[i], Nominal(len(crosses[i].used)), level)

        part = Part(entries, partial(coefficients.cohen_kappa, sums), analytic)
        place = {int(pair): i for i, pair in enumerate(complete)}
        return Sample(sums.multiplicity, sums.of_unit, sums.width, [part]), place

    def _mean(self, name: str) -> Sample:
        """Light's κ: the mean over all pairs, or why one of them has none."""
        empty = np.empty(0, dtype=np.int64)
        reason = self.too_few or reasons.misfit(self.ratings, CATALOGUE[name], any_scale=self.asked.any_scale)
        reason = reason or reasons.pairs_without_kappa(self.ratings, self.cells, self.asked.least_shared)
        entry = entry_of(self.ratings, name, reason, 2)
        if reason:
            return Sample(empty, empty, 1, [Part([entry], partial(nothing, 1))])
        distance = None if name == "light_kappa" else distance_of(name, self.ratings, self.asked)
        sums = PairSums.of_ratings(
            self.ratings,
            self.cells.shared()[0],
            self.sampling.seed,
            distance=distance,
            clusters=self.sampling.clusters,
            blocks=not self.sampling.drawn_from,
        )
        notes = [ranked_note(self.ratings, name)]
        if sums.blocked:
            what = "units" if self.sampling.clusters is None else self.sampling.over
            notes.append(f"{what} resampled in {len(sums.multiplicity):,} random blocks")
        part = Part([entry], partial(coefficients.light_kappa, sums), note="; ".join(filter(None, notes)))
        return Sample(sums.multiplicity, sums.of_unit, sums.width, [part], blocked=sums.blocked)

    def _scott_of_all(self) -> Sample:
        """Scott's π over all raters, which is Fleiss' κ."""
        sample = counts_sample(self.ratings, ["fleiss_kappa"], 1, self.asked)
        part = sample.parts[0]
        entries = [replace(entry, name="scott_pi") for entry in part.entries]
        sample.parts[0] = replace(part, entries=entries, note="over all raters: Fleiss' κ")
        return sample
