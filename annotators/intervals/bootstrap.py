"""The one bootstrap: draws of units or clusters, the jackknife, and the intervals, for agreement and alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from annotators.arrays import FloatArray, IntArray, np, npt, sparse, special
from annotators.errors import InvalidInput, shown
from annotators.intervals.analytic import ROUNDING, t_interval
from annotators.intervals.result import Interval, IntervalKind

ALL_ALIKE = "every resample gives the same value, which says nothing of how far others differ"
Evaluate = Callable[[FloatArray], FloatArray]
FEWEST_KEPT, MOST_KEPT, KEPT_DRAWS = 1_000_000, 32_000_000, 6  # bytes of one set of draws that is kept, and how many

MOST_RESAMPLES = 100_000
"""Ten times what is taken for published figures. The ends of a 95 % interval then stand at the 2.5th percentile of the
draws give or take .05, and each statistic takes 0.8 MB: a hundred at once, as reports have, 80 MB in one array."""

MOST_SEED = 2**63 - 1
"""What JSON and a database keep of a whole number."""

_kept_draws: dict[tuple[int, int, int, int, Layout], list[npt.NDArray[np.uint8]]] = {}


def check_resampling(resamples: int, seed: int, level: float) -> None:
    """InvalidInput for a level outside 0..1, more than `MOST_RESAMPLES`, a seed above `MOST_SEED`, negative numbers."""
    if not 0 < level < 1:
        raise InvalidInput(f"level {shown(level)} is not between 0 and 1: give a share such as 0.95")
    if resamples < 0 or seed < 0:
        raise InvalidInput(f"{shown(resamples)} resamples and seed {shown(seed)}: neither may be negative")
    if resamples > MOST_RESAMPLES:
        raise InvalidInput(
            f"{shown(resamples)} resamples are more than intervals gain from: give up to {MOST_RESAMPLES:,}; 1,000 are "
            "usual, and 10,000 for what is published"
        )
    if seed > MOST_SEED:
        raise InvalidInput(f"seed {shown(seed)} is larger than 64 bits hold: give a smaller one, such as 1")


@dataclass(frozen=True)
class Resampling:
    """How intervals are made: number of resamples, seed, level (0..1), kind, and what a cluster is (`over`, plural).

    Raises InvalidInput as `check_resampling` does. 0 resamples give values without intervals.
    """

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95
    kind: IntervalKind = "BCa"
    over: str = "questions"

    def __post_init__(self) -> None:
        check_resampling(self.resamples, self.seed, self.level)

    def kind_or(self, better: IntervalKind) -> IntervalKind:
        """The kind that covers better for some figure, unless another than BCa, which is for most, was asked for."""
        return better if self.kind == "BCa" else self.kind


@dataclass(frozen=True)
class Layout:
    """How draws are laid out; which draws a seed gives depends on it, so that published figures hold it fast.

    Weights are samples × patterns (B × P), or `side_by_side` patterns × samples (P × B). So many samples are evaluated
    at once that an array of theirs has `cells` numbers, but `together` of them where that takes no more than `most`.
    Above `groups` patterns the jackknife leaves out so many random groups of units. `narrow` draws up to 2¹⁶ units as
    16-bit numbers, and `keeps` draws for the next figures on as many clusters: all metrics of a study are measured on
    the same resamples of its questions, and drawing them again takes longer than most formulas.
    """

    side_by_side: bool
    groups: int
    narrow: bool
    keeps: bool
    cells: int
    together: int = 1
    most: int = 1

    def at_once(self, width: int) -> int:
        """How many samples are evaluated at once when the longest array of one sample has this width."""
        return max(1, self.cells // max(1, width), min(self.together, self.most // max(1, width)))

    def laid(self, weights: FloatArray | IntArray) -> FloatArray:
        """Weights (B × P) as this layout has them."""
        return np.ascontiguousarray(weights.T if self.side_by_side else weights, dtype=np.float64)

    def samples(self, weights: FloatArray) -> int:
        """How many samples these weights hold."""
        return int(weights.shape[1 if self.side_by_side else 0])

    def values(self, found: FloatArray, samples: int) -> FloatArray:
        """What was evaluated for so many samples, as samples × statistics."""
        return found.reshape(-1, samples).T if self.side_by_side else found.reshape(samples, -1)


STACKED = Layout(side_by_side=False, groups=1_000, narrow=False, keeps=False, cells=4_000_000)
"""A sample a row: products with tables of patterns, which agreement is made of, in arrays of up to 32 MB."""

SIDE_BY_SIDE = Layout(
    side_by_side=True, groups=200, narrow=True, keeps=True, cells=100_000, together=64, most=2_000_000
)
"""A sample a column: sums and ranks along rows of the data, which alignment is made of.

Arrays of 0.8 MB keep what a formula makes near the processor, but for 64 samples where they take up to 16 MB.
"""


@dataclass(frozen=True, eq=False)
class Resampled:
    """S statistics of the data (`values`, S), of B resamples (`replicates`, B × S) and with units left out.

    `jackknife` (J × S) has the statistics without one unit, or one group of units, and `repeats` (J) how many units or
    groups give that same row. NaN is undefined. `over` says what was drawn: units, or clusters of them by their name.
    Intervals are cut at `ceiling`; None is for figures without a bound, which are counted in units of the largest.
    """

    values: FloatArray
    replicates: FloatArray
    jackknife: FloatArray
    repeats: FloatArray
    seed: int
    n_units: int
    over: str = "units"
    ceiling: float | None = 1.0

    def interval(self, statistic: int = 0, level: float = 0.95, kind: IntervalKind = "BCa") -> Interval:
        """The bootstrap interval of one of the statistics, cut at the ceiling ("jackknife": that of the jackknife).

        BCa: Efron (1987), Journal of the American Statistical Association 82, 171-185, with the jackknife's
        acceleration; ties with the value count by half in the bias correction. In simulations of α, κ and raw agreement
        (two and three raters, two and five labels, 30 to 200 units) its 95 % intervals covered the truth as often as
        the percentile ones or more often, mostly in 93 to 96 % of the samples; with few units and a rare label both
        cover less. Where BCa is not defined the interval is the percentile one and its note says so. Undefined
        resamples are left out; when they are more than half, there is no interval. Nor is there one where all give the
        same value: units that are all alike do not say how far others differ.
        """
        if self.ceiling is None:
            return self._in_units_of_the_largest(statistic, level, kind)
        if kind == "jackknife":
            return self.jackknife_interval(statistic, level)
        drawn = self.replicates[:, statistic]
        value, defined = float(self.values[statistic]), drawn[~np.isnan(drawn)]
        undefined = len(drawn) - len(defined)

        def made(low: float | None, high: float | None, kind: IntervalKind, note: str = "") -> Interval:
            return Interval(low, high, kind, level, len(drawn), undefined, self.seed, note, self.over)

        if not len(drawn):
            why = "no resamples were asked for" if self.n_units > 1 else f"one {self.over[:-1]} cannot be resampled"
            return made(None, None, kind, why)
        if 2 * undefined > len(drawn):
            return made(None, None, kind, f"{undefined:,} of {len(drawn):,} resamples undefined")
        if np.ptp(defined) <= ROUNDING:
            return made(None, None, kind, ALL_ALIKE)
        ends, note = np.array([(1 - level) / 2, (1 + level) / 2]), ""
        if kind == "BCa":
            corrected, note = _corrected(ends, value, defined, self.jackknife[:, statistic], self.repeats)
            if note:
                kind = "percentile"
            else:
                ends = corrected
        low, high = np.quantile(defined, ends).tolist()
        return made(min(low, self.ceiling), min(high, self.ceiling), kind, note)

    def _in_units_of_the_largest(self, statistic: int, level: float, kind: IntervalKind) -> Interval:
        """The interval of a figure that may be larger than 1, such as a mean of grades: what is a tie goes by size."""
        chosen = slice(statistic, statistic + 1)
        pieces = (self.values[chosen], self.replicates[:, chosen], self.jackknife[:, chosen])
        unit = max(1.0, *(float(np.abs(piece[~np.isnan(piece)]).max(initial=0)) for piece in pieces))
        values, replicates, jackknife = (piece / unit for piece in pieces)
        # The largest of the resamples bounds what is drawn from them, and not what is reckoned with t.
        ceiling = np.inf if kind == "jackknife" else 1.0
        scaled = replace(self, values=values, replicates=replicates, jackknife=jackknife, ceiling=ceiling)
        made = scaled.interval(0, level, kind)
        if made.low is None or made.high is None:
            return made
        return replace(made, low=made.low * unit, high=made.high * unit)

    def jackknife_interval(self, statistic: int = 0, level: float = 0.95) -> Interval:
        """The value ± t times the jackknife's standard error, cut at the ceiling; t has one degree less than units.

        se² = (n - 1) / n Σ (θ_(i) - θ_(.))²: Efron & Tibshirani (1993), An Introduction to the Bootstrap, eq. 11.5.
        """
        value, without = float(self.values[statistic]), self.jackknife[:, statistic]
        n = float(self.repeats.sum())
        if n < 2 or np.isnan(without).any():
            why = "one unit alone makes the coefficient defined" if n >= 2 else "no units were left out"
            return Interval(None, None, "jackknife", level, note=why, over=self.over)
        spread = (self.repeats * (without - np.average(without, weights=self.repeats)) ** 2).sum()
        error, ceiling = float(np.sqrt((n - 1) / n * spread)), np.inf if self.ceiling is None else self.ceiling
        return t_interval(value, error, n - 1, level, "jackknife", over=self.over, ceiling=ceiling)


def resample(
    evaluate: Evaluate,
    multiplicity: IntArray,
    *,
    resamples: int = 1000,
    seed: int = 0,
    width: int = 1,
    layout: Layout = STACKED,
    jackknife: bool = True,
    over: str = "units",
    ceiling: float | None = 1.0,
) -> Resampled:
    """Evaluate statistics on the data, on resamples of units with replacement, and with units left out.

    `multiplicity` (P) is how many units show each of P patterns. `evaluate` takes weights (B × P, or P × B by the
    `layout`), the number of units of each pattern in each of B samples, and returns B, or B × S (S × B) values.
    Resampling n units is drawing the weights from a multinomial distribution, which is exact for any statistic that
    depends on the units through their patterns. `width` is the length of the longest array that `evaluate` makes for
    one sample, so that memory stays bounded.

    The jackknife leaves out every unit in turn or, with many patterns, random groups of units: the groups' influences
    are sums of the units', so that BCa's acceleration estimates the same number.
    """

    def evaluated(weights: FloatArray) -> FloatArray:
        return layout.values(evaluate(weights), layout.samples(weights))

    n, at_once = int(multiplicity.sum()), layout.at_once(max(width, len(multiplicity)))
    values = evaluated(layout.laid(multiplicity[None, :]))
    replicates, without, repeats = values[:0], values[:0], np.empty(0)
    if resamples and n > 1:
        replicates = np.concatenate(
            [evaluated(drawn) for drawn in _draws(multiplicity, resamples, seed, at_once, layout)]
        )
        if jackknife:
            left_out, repeats = _left_out(multiplicity, seed, layout.groups)
            starts = range(0, len(repeats), at_once)
            without = np.concatenate(
                [evaluated(layout.laid(multiplicity - left_out(start, start + at_once))) for start in starts]
            )
    return Resampled(values[0], replicates, without, repeats, seed, n, over, ceiling)


def _draws(multiplicity: IntArray, resamples: int, seed: int, at_once: int, layout: Layout) -> Iterator[FloatArray]:
    """The weights of all resamples, so many `at_once`, as the layout has them."""
    n = int(multiplicity.sum())
    alike = layout.keeps and len(multiplicity) == n  # each cluster once: nothing else of the data matters
    key = (seed, n, at_once, resamples, layout)
    if alike and (kept := _kept_draws.get(key)) is not None:
        yield from (block.astype(np.float64) for block in kept)
        return
    rng, blocks = np.random.default_rng(seed), []
    keeping = alike and FEWEST_KEPT <= n * resamples <= MOST_KEPT
    for start in range(0, resamples, at_once):
        drawn = layout.laid(_drawn(rng, multiplicity, min(at_once, resamples - start), narrow=layout.narrow))
        keeping = keeping and drawn.max(initial=0) < 256
        if keeping:
            blocks.append(drawn.astype(np.uint8))
        yield drawn
    if keeping:
        while len(_kept_draws) >= KEPT_DRAWS:
            _kept_draws.pop(next(iter(_kept_draws)), None)
        _kept_draws[key] = blocks


def _drawn(rng: np.random.Generator, multiplicity: IntArray, size: int, *, narrow: bool) -> FloatArray | IntArray:
    """The weights of so many resamples (size × P), in the quicker of two equivalent ways."""
    patterns, n = len(multiplicity), int(multiplicity.sum())
    if 8 * patterns <= n:
        return rng.multinomial(n, multiplicity / n, size=size)
    drawn = rng.integers(n, size=size * n, dtype=np.uint16 if narrow and n < 2**16 else np.int64)
    if patterns < n:
        drawn = np.repeat(np.arange(patterns), multiplicity)[drawn]
    ones = np.ones(len(drawn), dtype=np.float32)
    return sparse.csr_array((ones, drawn, np.arange(0, len(drawn) + 1, n)), shape=(size, patterns)).toarray()


def _left_out(multiplicity: IntArray, seed: int, groups: int) -> tuple[Callable[[int, int], FloatArray], FloatArray]:
    """The weights to take away for each row of the jackknife (from row, to row), and how often each row counts."""
    patterns, n = len(multiplicity), int(multiplicity.sum())
    if patterns <= groups:

        def one_unit(start: int, stop: int) -> FloatArray:
            return np.eye(min(stop, patterns) - start, patterns, start)

        return one_unit, multiplicity.astype(np.float64)
    pattern_of_unit = np.repeat(np.arange(patterns), multiplicity)
    group = np.random.default_rng([seed, 1]).permutation(n) % groups

    def one_group(start: int, stop: int) -> FloatArray:
        rows = min(stop, groups) - start
        here = (group >= start) & (group < start + rows)
        at = (group[here] - start) * patterns + pattern_of_unit[here]
        return np.bincount(at, minlength=rows * patterns).reshape(rows, patterns).astype(np.float64)

    return one_group, np.ones(groups)


def _corrected(
    ends: FloatArray, value: float, defined: FloatArray, jackknife: FloatArray, repeats: FloatArray
) -> tuple[FloatArray, str]:
    """The quantiles to take instead of `ends` by BCa, or why there are none."""
    if np.isnan(jackknife).any():
        return ends, "BCa is not defined because one unit alone makes the coefficient defined"
    below = ((defined < value - ROUNDING).sum() + (defined <= value + ROUNDING).sum()) / (2 * len(defined))
    if not 0 < below < 1:
        return ends, "BCa is not defined because all resamples lie on one side of the value"
    bias = special.ndtri(below)
    deviations = np.average(jackknife, weights=repeats) - jackknife
    spread = (repeats * deviations**2).sum()
    acceleration = (repeats * deviations**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = bias + special.ndtri(ends)
    stretch = 1 - acceleration * shifted
    if (stretch <= 0).any():
        return ends, "BCa is not defined because the acceleration is too large"
    return special.ndtr(bias + shifted / stretch), ""
