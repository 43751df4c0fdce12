"""How often 95 % intervals cover the truth: simulated studies with known coefficients.

    python -m tests.annotators.agreement.coverage [--simulations 2000] [--units 30 50 200] [--prevalence .5 .8 .95]

Three raters give one of two labels. A unit's hidden truth is the first label with the prevalence; a rating is the truth
with probability .8, else a label drawn blindly with the same prevalence, so that α and κ are .64 in every design. The
true coefficients are those of the exact probabilities of the eight patterns of ratings.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from itertools import product

import numpy as np

from annotators.agreement.measure import measure
from annotators.agreement.remarks import small_sample_warning
from annotators.agreement.tables.ratings import Ratings
from annotators.intervals.result import BOOTSTRAPS, Interval, Statistic
from annotators.intervals.shares import WILSON

NAMES = ["percent_agreement", "krippendorff_alpha_nominal", "fleiss_kappa", "gwet_ac1", "specific_agreement"]
PATTERNS = np.array(list(product([0, 1], repeat=3)))
FAITHFUL = 0.8


@dataclass(frozen=True)
class Coverage:
    """The share of simulations whose interval covers (0..1), of those that have one; and of all that have none."""

    covered: float
    without: float


def pattern_probabilities(prevalence: float) -> np.ndarray:
    """Of the eight patterns of ratings of one unit."""
    shares = np.array([1 - prevalence, prevalence])
    of_rating = FAITHFUL * np.eye(2) + (1 - FAITHFUL) * shares  # truth × label
    return np.einsum("t,ptr->p", shares, of_rating[:, PATTERNS].transpose(1, 0, 2).prod(axis=2)[:, :, None])


def table(counts: np.ndarray) -> Ratings:
    """The ratings of as many units of each pattern."""
    matrix = np.repeat(PATTERNS, counts, axis=0).T
    raters, units = matrix.shape
    return Ratings.from_triples(
        np.tile(np.arange(units), raters), np.repeat(np.arange(raters), units), matrix.ravel(), labels=[0, 1]
    )


def measured(counts: np.ndarray, *, resamples: int, seed: int) -> dict[str, Statistic]:
    """The statistics of three raters, and Cohen's κ of the first two."""
    found = measure(table(counts), NAMES, resamples, seed)
    named = {
        f"{statistic.name}{'' if statistic.label is None else f' {statistic.label}'}": statistic for statistic in found
    }
    two = counts.reshape(4, 2).sum(axis=1)
    pairs = np.repeat(PATTERNS[::2, :2], two, axis=0).T
    units = pairs.shape[1]
    cross = Ratings.from_triples(np.tile(np.arange(units), 2), np.repeat([0, 1], units), pairs.ravel(), labels=[0, 1])
    named["cohen_kappa"] = measure(cross, ["cohen_kappa"], resamples, seed)[0]
    return named


def simulate(
    units: int, prevalence: float, simulations: int, resamples: int = 1000, seed: int = 0
) -> dict[tuple[str, str], Coverage]:
    """The coverage of every interval of every statistic in one design: (statistic, kind) → coverage."""
    rng = np.random.default_rng([seed, units, round(1000 * prevalence)])
    probabilities = pattern_probabilities(prevalence)
    truth = measured(np.round(probabilities * 2_000_000).astype(np.int64), resamples=0, seed=0)
    covered: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for seed_of_one in range(simulations):
        drawn = measured(rng.multinomial(units, probabilities), resamples=resamples, seed=seed_of_one)
        for name, drawn_value in drawn.items():
            target = truth[name].value
            assert target is not None
            if drawn_value.interval is None or drawn_value.interval.low is None or drawn_value.interval.high is None:
                continue
            made = [drawn_value.interval, *drawn_value.beside]
            for kind, interval in _by_kind(made).items():
                assert interval.low is not None
                assert interval.high is not None
                covered[name, kind].append(interval.low - 1e-12 <= target <= interval.high + 1e-12)
    return {key: Coverage(float(np.mean(hits)), 1 - len(hits) / simulations) for key, hits in covered.items()}


def _by_kind(made: list[Interval]) -> dict[str, Interval]:
    """The interval that is reported, that of the draws (BCa, or what stands for it), and the others."""
    kinds = {"reported": made[0]}
    for interval in made:
        if interval.kind in BOOTSTRAPS:
            kinds["percentile" if "BCa" in kinds else "BCa"] = interval
        elif not interval.kind.startswith(WILSON):
            kinds["jackknife" if interval.kind == "jackknife" else "analytic"] = interval
    return kinds


def warned(units: int, prevalence: float, simulations: int, seed: int = 0) -> float:
    """The share of simulated studies of one design whose report warns of a small sample."""
    rng = np.random.default_rng([seed, units, round(1000 * prevalence)])
    drawn = rng.multinomial(units, pattern_probabilities(prevalence), size=simulations)
    return sum(small_sample_warning(table(counts)) is not None for counts in drawn) / simulations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--units", type=int, nargs="+", default=[30, 50, 200])
    parser.add_argument("--prevalence", type=float, nargs="+", default=[0.5, 0.8, 0.95])
    asked = parser.parse_args()
    print("| units | prevalence | statistic | reported | BCa | percentile | jackknife | analytic | no interval |")
    print("|---|---|---|---|---|---|---|---|---|")
    for units in asked.units:
        for prevalence in asked.prevalence:
            found = simulate(units, prevalence, asked.simulations)
            for name in dict.fromkeys(name for name, _ in found):
                cells = [
                    f"{100 * found[name, kind].covered:.1f}" if (name, kind) in found else "–"
                    for kind in ("reported", "BCa", "percentile", "jackknife", "analytic")
                ]
                without = f"{100 * found[name, 'reported'].without:.1f}"
                print(f"| {units} | {prevalence} | {name} | {' | '.join(cells)} | {without} |", flush=True)


if __name__ == "__main__":
    main()
