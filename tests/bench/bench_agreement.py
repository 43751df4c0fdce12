"""How long α with its bootstrap takes, beside a loop that writes resamples out and calls `krippendorff.alpha` on each.

    python tests/bench/bench_agreement.py [--units 200] [--raters 3] [--labels 5] [--resamples 1000] [--loop 100]

`--loop` resamples are timed and scaled up. Then the time for all κ of fifty raters and for a million ratings.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from annotators.agreement import SCALES, Ratings, measure  # noqa: E402 - runs from anywhere


def seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def simulated(rng: np.random.Generator, raters: int, units: int, labels: int) -> npt.NDArray[np.float64]:
    """Raters × units: each label is the hidden truth, or with probability .3 any label."""
    truth = rng.integers(labels, size=units)
    noise = rng.integers(labels, size=(raters, units))
    return np.where(rng.random((raters, units)) < 0.7, truth, noise).astype(np.float64)


def table(matrix: npt.NDArray[np.float64]) -> Ratings:
    raters, units = matrix.shape
    return Ratings.from_triples(
        np.tile(np.arange(units), raters), np.repeat(np.arange(raters), units), matrix.ravel(), scale="interval"
    )


def loop(matrix: npt.NDArray[np.float64], level: str, resamples: int) -> None:
    rng = np.random.default_rng(0)
    n = matrix.shape[1]
    for _ in range(resamples):
        krippendorff.alpha(reliability_data=matrix[:, rng.integers(n, size=n)], level_of_measurement=level)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("units", 200), ("raters", 3), ("labels", 5), ("resamples", 1000), ("loop", 100)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    matrix = simulated(rng, asked.raters, asked.units, asked.labels)
    ratings = table(matrix)
    print(f"{asked.units:,} units × {asked.raters} raters, {asked.labels} labels, {asked.resamples:,} resamples")
    print(f"{'':<24} {'ours, ms':>10} {'loop, ms':>10} {'ratio':>8}")
    measure(ratings)  # imports and caches are not what is measured
    for scale in SCALES:
        ours = min(
            seconds(lambda s=scale: measure(ratings, [f"krippendorff_alpha_{s}"], asked.resamples)) for _ in range(3)
        )
        looped = seconds(lambda s=scale: loop(matrix, s, asked.loop)) * asked.resamples / asked.loop
        print(f"{'α ' + scale:<24} {1000 * ours:10.1f} {1000 * looped:10.1f} {looped / ours:7.0f}×")
    everything = seconds(lambda: measure(ratings, None, asked.resamples))
    print(f"{'all statistics':<24} {1000 * everything:10.1f}")
    fifty = table(simulated(rng, 50, 200, asked.labels))
    print(f"{'50 raters, 1,225 κ':<24} {1000 * seconds(lambda: measure(fifty, ['cohen_kappa'])):10.1f}")
    big = simulated(rng, 3, 333_334, asked.labels)
    began = time.perf_counter()
    million = table(big)
    print(f"{'a million: the table':<24} {1000 * (time.perf_counter() - began):10.1f}")
    print(f"{'a million: measured':<24} {1000 * seconds(lambda: measure(million)):10.1f}")


if __name__ == "__main__":
    main()
