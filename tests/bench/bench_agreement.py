"""How long α with its bootstrap takes, beside a loop that writes resamples out and calls `krippendorff.alpha` on each.

    python tests/bench/bench_agreement.py [--ratings 1000 10000 100000] [--resamples 1000] [--loop 20] [--check]

Three raters, five labels, 10 % missing; ours starts from the same array as the package. `--loop` resamples of the
naive way are timed in the same process and scaled up. Times are processor time, so that neighbours do not count.
Then interval α of 10,000 units of scores 0-100 in time and memory, every κ of fifty raters, and a million ratings.
`--check` fails unless the ratios are those that are asked for.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from annotators.agreement.measure import measure  # noqa: E402 - runs from anywhere
from annotators.agreement.tables.ratings import Ratings  # noqa: E402 - runs from anywhere
from tests.annotators.agreement.makers import ratings_of  # noqa: E402 - runs from anywhere

LEVELS = ("nominal", "ordinal", "interval", "ratio")
WANTED = {1_000: 20, 10_000: 150, 100_000: 1_000}
Matrix = npt.NDArray[np.float64]


def seconds(act: Callable[[], object], times: int = 1) -> float:
    """The shortest of so many runs."""
    found = []
    for _ in range(times):
        began = time.process_time()
        act()
        found.append(time.process_time() - began)
    return min(found)


def simulated(rng: np.random.Generator, raters: int, units: int, labels: int, missing: float = 0.1) -> Matrix:
    """Raters × units: each label is the hidden truth, or with probability .3 any label; NaN for a gap."""
    truth = rng.integers(1, labels + 1, size=units)
    noise = rng.integers(1, labels + 1, size=(raters, units))
    matrix = np.where(rng.random((raters, units)) < 0.7, truth, noise).astype(np.float64)
    matrix[rng.random(matrix.shape) < missing] = np.nan
    return matrix


def table(matrix: Matrix) -> Ratings:
    return ratings_of(matrix.tolist(), scale="ratio")


def long_table(matrix: Matrix) -> Ratings:
    raters, units = matrix.shape
    return Ratings.from_triples(
        np.tile(np.arange(units), raters), np.repeat(np.arange(raters), units), matrix.ravel(), scale="ratio"
    )


def loop(matrix: Matrix, level: str, resamples: int) -> None:
    rng = np.random.default_rng(0)
    n = matrix.shape[1]
    for _ in range(resamples):
        krippendorff.alpha(reliability_data=matrix[:, rng.integers(n, size=n)], level_of_measurement=level)


def against_the_loop(ratings: int, resamples: int, looped: int) -> dict[str, float]:
    """The time of the naive way over ours, for α on each scale."""
    matrix = simulated(np.random.default_rng(1), 3, round(ratings / 2.7), 5)
    n = table(matrix).n_ratings
    measure(table(matrix), ["krippendorff_alpha_nominal"], 10)  # imports are not what is measured
    found = {}
    for level in LEVELS:
        name = f"krippendorff_alpha_{level}"
        ours = seconds(lambda name=name: measure(table(matrix), [name], resamples), 7)  # type: ignore[misc]
        naive = seconds(lambda level=level: loop(matrix, level, looped)) * resamples / looped  # type: ignore[misc]
        found[level] = naive / ours
        print(f"{n:>10,}  {level:<10} {1000 * ours:10.1f} {1000 * naive:12.1f} {naive / ours:9,.0f}×")
    return found


def scores() -> tuple[float, float]:
    """Interval α of 10,000 units of 0-100 scores: our time and our memory as shares of the package's."""
    rng = np.random.default_rng(2)
    truth = rng.normal(60, 20, size=10_000)
    matrix = np.clip(np.round(truth + rng.normal(0, 8, size=(3, 10_000))), 0, 100)
    acts: dict[str, Callable[[], object]] = {
        "ours": lambda: measure(table(matrix), ["krippendorff_alpha_interval"], 0),
        "krippendorff": lambda: krippendorff.alpha(reliability_data=matrix, level_of_measurement="interval"),
    }
    times, peaks = {}, {}
    for name, act in acts.items():
        times[name] = seconds(act, 5 if name == "ours" else 2)
        tracemalloc.start()
        act()
        peaks[name] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"interval α, 10,000 × 0-100: {name:<13} {1000 * times[name]:9.1f} ms {peaks[name] / 1e6:9.1f} MB")
    shares = times["ours"] / times["krippendorff"], peaks["ours"] / peaks["krippendorff"]
    print(f"{'':<28}share {100 * shares[0]:15.2f} % {100 * shares[1]:9.2f} %")
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratings", type=int, nargs="+", default=list(WANTED))
    for name, default in [("resamples", 1000), ("loop", 20)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    print(f"{'ratings':>10}  {'α':<10} {'ours, ms':>10} {'loop, ms':>12} {'ratio':>10}   ({asked.loop} of the loop's "
          f"{asked.resamples:,} resamples timed)")  # fmt: skip
    short = []
    for ratings in asked.ratings:
        ratios = against_the_loop(ratings, asked.resamples, asked.loop)
        short += [f"{ratings:,} {level}" for level, ratio in ratios.items() if ratio < WANTED.get(ratings, 0)]
    share_of_time, share_of_memory = scores()
    if share_of_time > 0.01 or share_of_memory > 0.01:
        short.append("interval α of scores")
    rng = np.random.default_rng(3)
    fifty = table(simulated(rng, 50, 200, 5, 0))
    print(f"{'50 raters, 1,225 κ':<28} {1000 * seconds(lambda: measure(fifty, ['cohen_kappa'])):10.1f} ms")
    big = simulated(rng, 3, 370_370, 5)
    began = time.process_time()
    million = long_table(big)
    print(f"{'a million: the table':<28} {1000 * (time.process_time() - began):10.1f} ms")
    print(f"{'a million: default':<28} {1000 * seconds(lambda: measure(million)):10.1f} ms")
    print(f"{'a million: all':<28} {1000 * seconds(lambda: measure(million, 'all')):10.1f} ms")
    if asked.check and short:
        sys.exit(f"slower or larger than asked for: {', '.join(short)}")


if __name__ == "__main__":
    main()
