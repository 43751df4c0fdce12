"""The statistics that are functions of how many raters gave each label, measured on one set of resamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from annotators.agreement import coefficients, linearised, reasons, sets
from annotators.agreement.bootstrap import Evaluate
from annotators.agreement.coefficients import Spread
from annotators.agreement.distances import Nominal, Quadratic
from annotators.agreement.parts import Asked, Part, Sample, distance_of, entry_of, nothing, ranked_note
from annotators.agreement.patterns import Counts
from annotators.agreement.result import Interval, Statistic
from annotators.agreement.table import FloatArray, Ratings
from annotators.coefficient_names import CATALOGUE

ALPHAS: dict[str, Callable[[Counts, FloatArray], FloatArray]] = {
    "krippendorff_alpha_nominal": coefficients.krippendorff_alpha_nominal,
    "krippendorff_alpha_ordinal": coefficients.krippendorff_alpha_ordinal,
    "krippendorff_alpha_interval": coefficients.krippendorff_alpha_interval,
}


def counts_sample(ratings: Ratings, names: Sequence[str], smallest: int, asked: Asked) -> Sample:
    """The named coefficients of counts over the units with at least `smallest` ratings."""
    table = Counts.of(ratings, smallest)
    sample = Sample(table.multiplicity, table.of_unit, len(table.numbers))
    for name in names:
        entry = CATALOGUE[name]
        reason = reasons.of_counts(ratings, table.marginals, table.n_units, entry, any_scale=asked.any_scale)
        if name == "krippendorff_alpha_masi" and reason is None and sets.is_drawn(ratings):
            reason = "boxes are never drawn alike to the last digit: read the F1 between raters"
        entries = [entry_of(ratings, name, reason, smallest)]
        if entry.by_label:
            used = table.marginals > 0
            entries = [
                replace(entries[0], label=label, reason=reason or (None if used[i] else reasons.unused(label)))
                for i, label in enumerate(ratings.labels)
            ] or entries
        if all(one.reason is not None for one in entries):
            sample.parts.append(Part(entries, partial(nothing, len(entries))))
        else:
            sample.parts.append(_count_part(name, entries, table, ratings, asked))
    return sample


def _count_part(name: str, entries: list[Statistic], table: Counts, ratings: Ratings, asked: Asked) -> Part:
    m = table.multiplicity.astype(np.float64)
    note = ranked_note(ratings, name)
    if name in ("percent_agreement", "exact_match"):
        return Part(
            entries,
            partial(coefficients.percent_agreement, table),
            lambda _, value, level: linearised.of_ratio(value, table.agreeing / table.pairs, np.ones_like(m), m, level),
        )
    if name == "specific_agreement":
        above = np.asarray((table.counts.power(2) - table.counts).todense())
        below = np.asarray(table.counts.multiply((table.sizes - 1)[:, None]).todense())
        return Part(
            entries,
            partial(coefficients.specific_agreement, table),
            lambda i, value, level: linearised.of_ratio(value, above[:, i], below[:, i], m, level),
        )
    if name in ALPHAS:
        return Part(entries, partial(ALPHAS[name], table), partial(_alpha_interval, name, table, ratings), note=note)
    spread = Spread(table, distance_of(name, ratings, asked))
    if name == "mean_jaccard":
        return Part(
            entries,
            partial(coefficients.mean_agreement, spread),
            lambda _, value, level: linearised.of_ratio(
                value, 1 - spread.apart / table.pairs, np.ones_like(m), m, level
            ),
        )
    if name.startswith("krippendorff"):
        return Part(
            entries,
            partial(coefficients.krippendorff_alpha, spread),
            lambda _, value, level: linearised.of_alpha(value, spread, level),
            note=note,
        )
    if name == "fleiss_kappa":
        evaluate: Evaluate = partial(coefficients.fleiss_kappa, table)
        chance = "shares"
    elif name.startswith("gwet"):
        evaluate, chance = partial(coefficients.gwet_ac, spread), "spread"
    else:
        evaluate, chance = partial(coefficients.brennan_prediger, spread), "labels"
    return Part(
        entries,
        evaluate,
        lambda _, value, level: linearised.of_chance_corrected(value, spread, chance, level),
        note=note,
    )


def _alpha_interval(name: str, table: Counts, ratings: Ratings, _: int, value: float, level: float) -> Interval:
    if name != "krippendorff_alpha_ordinal":
        distance = Nominal(len(ratings.labels)) if name.endswith("nominal") else Quadratic(ratings.numbers)
        return linearised.of_alpha(value, Spread(table, distance), level)
    order = np.argsort(table.numbers, kind="stable")
    ranked = table.marginals[order]
    ranks = np.empty(len(order))
    ranks[order] = (np.cumsum(ranked) - ranked / 2) / ranked.sum()
    return linearised.of_alpha(value, Spread(table, Quadratic(ranks)), level, ordinal=True)
