"""Each annotator beside the others: agreement with the rest and with a reference, bias, similarity."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from annotators.agreement.catalogue import MOST_LABELS
from annotators.agreement.tables.ratings import Label, Ratings
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampled, check_resampling, resample
from annotators.intervals.result import Statistic

MOST_CELLS = 20_000_000  # units × labels of one annotator: above, only agreement is measured
MOST_ORDERED = 300  # so many raters are put into the best order of a tree; more into any order of it


@dataclass(frozen=True, eq=False)
class AnnotatorAgreement:
    """One annotator beside the rest, or beside a reference.

    `agreement` is the mean over units of the share of the others' ratings that carry the annotator's label; `kappa`
    is the same corrected for chance; `bias` has, for each label, the annotator's use of it minus the others' on the
    same units (positive: used more often); `difference` is the mean of the annotator's number minus the others' mean,
    None unless labels are ordered. `n_ratings` counts all ratings of the annotator, the statistics say how many units
    they rest on.
    """

    rater: Hashable
    n_ratings: int
    agreement: Statistic
    kappa: Statistic
    bias: tuple[Statistic, ...]
    difference: Statistic | None


def agreement_with_rest(
    ratings: Ratings, *, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> tuple[AnnotatorAgreement, ...]:
    """Every annotator beside all others who rated the same units, in the order of `ratings.raters`.

    A unit counts once, however many others rated it. κ = (p_o - p_e) / (1 - p_e) with p_e = Σ_k p_k q_k, p the
    annotator's label shares and q the mean over the units of the others' shares: Schouten (1982), Statistica
    Neerlandica 36, 45-61. Intervals are bootstrapped over the annotator's units, the statistics of one annotator on
    the same resamples; among many annotators and labels some intervals miss 0 by chance. Bias is reported up to 20
    labels. Differences of ordered labels that are not numbers are in ranks.
    """
    counts = _label_counts(ratings)
    found = []
    for rater, name in enumerate(ratings.raters):
        own = np.flatnonzero(ratings.rater == rater)
        shared = own[ratings.sizes[ratings.unit[own]] > 1]
        code, rest = _others(counts[ratings.unit[shared]], ratings.code[shared])
        why = "the annotator has no ratings" if not len(own) else "nobody else rated a unit of this annotator"
        beside = _Beside(ratings, name, len(own), code, rest, why)
        found.append(beside.measured("rest", resamples, seed, level))
    return tuple(found)


def agreement_with_reference(
    ratings: Ratings,
    reference: Mapping[Hashable, Label],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[AnnotatorAgreement, ...]:
    """Every annotator beside labels that are taken as right: adjudicated ones or gold.

    `reference` has the label of each unit that has one; the others do not count. `agreement` is then the share of the
    annotator's ratings that are right, and κ is Cohen's. Raises InvalidInput for a label that is not on the scale.
    """
    place = {label: i for i, label in enumerate(ratings.labels)}
    strange = next((label for label in reference.values() if label not in place), None)
    if strange is not None:
        raise InvalidInput(f"reference label {strange!r} is not on the scale of the ratings: declare it there")
    right = np.array([place[reference[unit]] if unit in reference else -1 for unit in ratings.units], dtype=np.int64)
    found = []
    for rater, name in enumerate(ratings.raters):
        own = np.flatnonzero(ratings.rater == rater)
        settled = own[right[ratings.unit[own]] >= 0]
        rest = np.zeros((len(settled), len(ratings.labels)))
        rest[np.arange(len(settled)), right[ratings.unit[settled]]] = 1
        why = "the annotator has no ratings" if not len(own) else "no unit of this annotator has a reference label"
        beside = _Beside(ratings, name, len(own), ratings.code[settled], rest, why)
        found.append(beside.measured("reference", resamples, seed, level))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Beside:
    """An annotator's codes (n), the counts of the other ratings of the same units (n × K), and why there are none."""

    ratings: Ratings
    rater: Hashable
    n_ratings: int
    code: IntArray
    rest: FloatArray
    why: str

    def measured(
        self, other: Literal["rest", "reference"], resamples: int, seed: int, level: float
    ) -> AnnotatorAgreement:
        """The statistics, on the same resamples of units."""
        check_resampling(resamples, seed, level)
        ordered = self.ratings.scale in ("ordinal", "interval", "ratio")
        labels = self.ratings.labels if len(self.ratings.labels) <= MOST_LABELS else ()
        entries = [
            self._entry(f"agreement_with_{other}"),
            self._entry(f"kappa_with_{other}"),
            *(self._entry(f"difference_from_{other}") for _ in range(ordered)),
            *(replace(self._entry(f"bias_against_{other}"), label=label) for label in labels),
        ]
        if len(self.code):
            table = np.column_stack([self.code, self.rest])
            patterns, multiplicity = np.unique(table, axis=0, return_counts=True)
            sampled = resample(
                lambda weights: self._values(patterns, weights, ordered, len(labels)),
                multiplicity.astype(np.int64),
                resamples=resamples,
                seed=seed,
                width=table.shape[1],
            )
            if self.rest.shape[1] < len(self.ratings.labels):
                why = f"{len(self.ratings.labels):,} labels are too many for what is corrected for chance"
                entries[1:] = [entry.undefined(why) for entry in entries[1:]]
            entries = [
                entry if entry.reason else _with_value(entry, sampled, i, level) for i, entry in enumerate(entries)
            ]
            if ordered and entries[2].value is not None:
                entries[2] = _times(entries[2], float(np.ptp(self.ratings.numbers) or 1.0))
        return AnnotatorAgreement(
            rater=self.rater,
            n_ratings=self.n_ratings,
            agreement=entries[0],
            kappa=entries[1],
            bias=tuple(entries[2 + ordered :]),
            difference=entries[2] if ordered else None,
        )

    def _values(self, patterns: FloatArray, weights: FloatArray, ordered: bool, n_labels: int) -> FloatArray:
        """All statistics (B × S) of samples that hold each pattern so often (B × P)."""
        code, rest = patterns[:, 0].astype(np.int64), patterns[:, 1:]
        shares = rest / rest.sum(axis=1, keepdims=True)
        own = np.eye(rest.shape[1])[code]
        n = weights.sum(axis=1, keepdims=True)
        agreed = weights @ shares[np.arange(len(code)), code] / n[:, 0]
        used, others = weights @ own / n, weights @ shares / n
        chance = (used * others).sum(axis=1)
        alike = 1 - chance <= 1e-12
        kappa = np.where(alike, np.nan, (agreed - chance) / np.where(alike, 1.0, 1 - chance))
        reach = np.ptp(self.ratings.numbers) or 1.0  # intervals are cut at 1, so a difference is a share of the range
        numbers = self.ratings.numbers[: rest.shape[1]]
        differences = [(used - others) @ numbers / reach] if ordered else []
        return np.column_stack([agreed, kappa, *differences, (used - others)[:, :n_labels]])

    def _entry(self, name: str) -> Statistic:
        n_units = len(self.code)
        return Statistic(
            name=name,
            reason=None if n_units else self.why,
            n_units=n_units,
            n_raters=len(self.ratings.raters),
            n_ratings=n_units + int(self.rest.sum()),
        )


def _others(counts: sparse.csr_array, code: IntArray) -> tuple[IntArray, FloatArray]:
    """The annotator's codes (n) and the counts of the other ratings (n × K), from those of all ratings.

    Where that would be too large, as with texts, all is told by two columns, the annotator's own label and any other.
    """
    n, n_labels = counts.shape
    if n * n_labels <= MOST_CELLS:
        rest = counts.toarray()
        rest[np.arange(n), code] -= 1
        return code, rest
    alike = np.asarray(counts[np.arange(n), code]).ravel()
    total = np.asarray(counts.sum(axis=1)).ravel()
    return np.zeros(n, dtype=np.int64), np.column_stack([alike - 1, total - alike])


def _with_value(entry: Statistic, sampled: Resampled, place: int, level: float) -> Statistic:
    """The entry with its value and interval, or why it has none."""
    value = float(sampled.values[place])
    if np.isnan(value):
        return entry.undefined("everybody gave one and the same label throughout (0/0)")
    return entry.measured(value, [sampled.interval(place, level)])


def _times(entry: Statistic, factor: float) -> Statistic:
    """The entry on a scale that is so many times as long."""

    def longer(number: float | None) -> float | None:
        return None if number is None else number * factor

    interval = entry.interval
    if interval is not None:
        interval = replace(interval, low=longer(interval.low), high=longer(interval.high))
    return replace(entry, value=longer(entry.value), interval=interval)


def _label_counts(ratings: Ratings) -> sparse.csr_array:
    """How many ratings of each unit carry each label (U × K)."""
    shape = (len(ratings.units), len(ratings.labels))
    return sparse.csr_array((np.ones(ratings.n_ratings), (ratings.unit, ratings.code)), shape=shape)


@dataclass(frozen=True, eq=False)
class Similarity:
    """How alike annotators label: `value` (R × R, 1 on the diagonal, NaN where undefined), `shared` units (R × R).

    `order` lists the places of the annotators so that those who label alike stand together, for a heat map.
    """

    raters: tuple[Hashable, ...]
    statistic: str
    value: FloatArray
    shared: IntArray
    order: tuple[int, ...]

    def by(self, statistic: str, values: Mapping[tuple[Hashable, Hashable], float]) -> Similarity:
        """The same annotators by another coefficient: pair → value, in either order; pairs that have none are NaN."""
        place = {rater: number for number, rater in enumerate(self.raters)}
        value = np.full(self.value.shape, np.nan)
        for (first, second), found in values.items():
            value[place[first], place[second]] = value[place[second], place[first]] = found
        np.fill_diagonal(value, 1.0)
        return replace(self, statistic=statistic, value=value, order=_order(value))


def similarity(
    ratings: Ratings, statistic: Literal["percent_agreement", "cohen_kappa"] = "percent_agreement"
) -> Similarity:
    """Raw agreement or Cohen's κ of all pairs of annotators over the units that both rated, all at once.

    κ is undefined where both gave one label throughout, and where they share fewer than two units. The order is that
    of average-linkage clustering of 1 - value, undefined pairs taken as the mean of the others.
    Raises InvalidInput for another statistic.
    """
    if statistic not in ("percent_agreement", "cohen_kappa"):
        raise InvalidInput(f'statistic {statistic!r} is no similarity: use "percent_agreement" or "cohen_kappa"')
    r, u = len(ratings.raters), len(ratings.units)
    ones = np.ones(ratings.n_ratings)
    rated = sparse.csr_array((ones, (ratings.rater, ratings.unit)), shape=(r, u))
    shared = (rated @ rated.T).toarray()
    agreed, chance = np.zeros((r, r)), np.zeros((r, r))
    for code in range(len(ratings.labels)):
        here = ratings.code == code
        given = sparse.csr_array((ones[here], (ratings.rater[here], ratings.unit[here])), shape=(r, u))
        agreed += (given @ given.T).toarray()
        used = (given @ rated.T).toarray()  # how often the one gave the label on units shared with the other
        chance += used * used.T
    value = np.full((r, r), np.nan)
    if statistic == "percent_agreement":
        np.divide(agreed, shared, out=value, where=shared > 0)
    else:
        below = shared * shared - chance
        np.divide(shared * agreed - chance, below, out=value, where=(below > 0) & (shared > 1))
    np.fill_diagonal(value, 1.0)
    return Similarity(ratings.raters, statistic, value, shared.astype(np.int64), _order(value))


def _order(value: FloatArray) -> tuple[int, ...]:
    """The places of the annotators in the order of a tree of their distances."""
    r = len(value)
    pairs = value[~np.eye(r, dtype=bool)]
    if r < 3 or np.isnan(pairs).all():
        return tuple(range(r))
    distances = 1 - np.where(np.isnan(value), np.nanmean(pairs), value)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=r <= MOST_ORDERED)
    return tuple(leaves_list(tree).tolist())
