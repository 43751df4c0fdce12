"""The samples of a table of ratings: which statistics are measured together, family by family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from annotators.agreement import coefficients, conger, icc, linearised, reasons, sets, texts
from annotators.agreement.bootstrap import Sampling
from annotators.agreement.count_samples import counts_sample
from annotators.agreement.pair_samples import Pairs
from annotators.agreement.parts import Asked, Part, Sample, entry_of, nothing, ranked_note
from annotators.agreement.patterns import cells_of_pair
from annotators.agreement.result import Interval, Statistic
from annotators.agreement.table import FloatArray, IntArray, Ratings
from annotators.coefficient_names import CATALOGUE


def samples(ratings: Ratings, names: Sequence[str], asked: Asked, sampling: Sampling) -> Iterator[Sample]:
    """All that is to be measured, each statistic in one or several samples."""
    families = {name: CATALOGUE[name].family for name in names}
    for smallest in (1, 2):
        counts = [n for n in names if families[n] == "counts" and CATALOGUE[n].smallest == smallest]
        if counts:
            yield counts_sample(ratings, counts, smallest, asked)
    if "conger_kappa" in names:
        yield _of_conger(ratings)
    forms = [name for name in names if families[name] == "icc"]
    if forms:
        yield _of_icc(ratings, forms, asked)
    if any(family in ("pairs", "light") for family in families.values()):
        yield from Pairs(ratings, asked, sampling).samples(names, families)
    if "pairwise_f1" in names:
        yield from _of_finds(ratings, asked)
    if any(family == "texts" for family in families.values()):
        yield _of_texts(ratings, [name for name in names if families[name] == "texts"])


# Conger's κ, intraclass correlations, texts ---------------------------------------------------------------------------


def _of_conger(ratings: Ratings) -> Sample:
    given = conger.Given.of(ratings)
    entry = CATALOGUE["conger_kappa"]
    marginals = np.bincount(ratings.code, minlength=len(ratings.labels)).astype(np.float64)
    units = int(given.rows.multiplicity.sum())
    reason = reasons.of_counts(ratings, marginals, units, entry, any_scale=False)
    part = Part(
        [entry_of(ratings, "conger_kappa", reason, 1)],
        partial(conger.conger_kappa, given),
        lambda _, value, level: conger.linearised(value, given, level),
    )
    return Sample(given.rows.multiplicity, given.rows.of_unit, given.width, [part])


def _of_icc(ratings: Ratings, forms: Sequence[str], asked: Asked) -> Sample:
    numbers = icc.Numbers.of(ratings)
    used = np.bincount(numbers.rows.code, minlength=len(ratings.labels)).astype(np.float64)
    units = int(numbers.rows.multiplicity.sum())
    level_of: dict[float, dict[str, Interval]] = {}

    def analytic(form: str, _: int, __: float, level: float) -> Interval | None:
        if level not in level_of:
            level_of[level] = icc.f_intervals(numbers, level)
        return level_of[level].get(form)

    sample = Sample(numbers.rows.multiplicity, numbers.rows.of_unit, 4 * len(ratings.raters) + 12)
    for form in forms:
        reason = reasons.of_counts(ratings, used, units, CATALOGUE[form], any_scale=asked.any_scale)
        if reason and reason.endswith("(0/0)"):
            reason = reason.split(",", maxsplit=1)[0] + ", so that there is no variance to share out (0/0)"
        note = ranked_note(ratings, form)
        if form.endswith("_k"):
            k = numbers.rows.lengths @ numbers.rows.multiplicity / max(1, units)
            note = "; ".join(filter(None, [f"k = {k:g}" if numbers.complete else f"k = {k:.3g} on average", note]))
        part = Part(
            [entry_of(ratings, form, reason, 2)],
            partial(_form, numbers, form),
            partial(analytic, form),
            reasons.NO_VARIANCE,
            note,
        )
        sample.parts.append(part)
    return sample


def _form(numbers: icc.Numbers, form: str, weights: FloatArray) -> FloatArray:
    if "_1_" in form:
        return icc.one_way(numbers, weights)[:, ("icc_1_1", "icc_1_k").index(form)]
    return icc.two_way(numbers, weights)[:, ("icc_a_1", "icc_c_1", "icc_a_k", "icc_c_k").index(form)]


def _of_texts(ratings: Ratings, names: Sequence[str]) -> Sample:
    reason = reasons.too_few(ratings) or reasons.misfit(ratings, CATALOGUE["text_identical"], any_scale=False)
    compared = texts.Compared.of(ratings)
    m = compared.multiplicity.astype(np.float64)
    sample = Sample(compared.multiplicity, compared.of_unit, 1)
    for name in names:
        values = compared.identical if name == "text_identical" else compared.similar
        sample.parts.append(
            Part(
                [entry_of(ratings, name, reason, 2)],
                partial(_mean, values),
                partial(_mean_interval, values, m),
            )
        )
    return sample


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    return coefficients.ratio(weights @ values, weights.sum(axis=1))


def _mean_interval(values: FloatArray, m: FloatArray, _: int, value: float, level: float) -> Interval:
    return linearised.of_ratio(value, values, np.ones_like(m), m, level)


# Sets -----------------------------------------------------------------------------------------------------------------


def _of_finds(ratings: Ratings, asked: Asked) -> Iterator[Sample]:
    """F1 over all pairs of raters and, with three raters or more, of each pair."""
    reason = reasons.too_few(ratings) or reasons.misfit(ratings, CATALOGUE["pairwise_f1"], any_scale=False)
    note = f"boxes matched from an intersection over union of {asked.overlap:g}" if sets.is_drawn(ratings) else ""
    finds = sets.Finds.of(ratings, asked.overlap) if ratings.scale == "set" else None
    if finds is None:
        empty = np.empty(0, dtype=np.int64)
        yield Sample(empty, empty, 1, [Part([entry_of(ratings, "pairwise_f1", reason, 2)], partial(nothing, 1))])
        return
    entry = entry_of(ratings, "pairwise_f1", reason, 2)
    if len(ratings.raters) == 2 and reason is None:
        entry = replace(entry, raters=(ratings.raters[0], ratings.raters[1]))
    yield _f1(finds.multiplicity, finds.of_unit, finds.shared, finds.sizes, entry=entry, note=note)
    if len(ratings.raters) < 3 or not asked.each_pair:
        return
    for a, b in combinations(range(len(ratings.raters)), 2):
        cells, of_unit = cells_of_pair(ratings, a, b)
        shared, sizes = sets.compared(ratings, cells.a, cells.b, asked.overlap)
        units = int(cells.multiplicity.sum())
        why = reason or (None if units else "the two raters share no unit")
        one = replace(
            entry,
            reason=why,
            raters=(ratings.raters[a], ratings.raters[b]),
            n_units=units,
            n_raters=2,
            n_ratings=2 * units,
            left_out=0,
        )
        yield _f1(cells.multiplicity, of_unit, shared, sizes, entry=one, note=note)


def _f1(
    multiplicity: IntArray, of_unit: IntArray, shared: FloatArray, sizes: FloatArray, *, entry: Statistic, note: str
) -> Sample:
    m = multiplicity.astype(np.float64)
    part = Part(
        [entry],
        lambda weights: coefficients.ratio(2 * (weights @ shared), weights @ sizes),
        lambda _, value, level: linearised.of_ratio(value, 2 * shared, sizes, m, level),
        reasons.ALL_EMPTY,
        note,
    )
    return Sample(multiplicity, of_unit, 1, [part])
