"""How long EM for Dawid–Skene takes on many ratings, beside plain Python loops that do the same iterations.

    python tests/bench/bench_rater_models.py [--ratings 100000] [--raters 50] [--each 3] [--labels 5] [--iterations 20]

Both start from the parameters of the shares of votes and make the same number of iterations in the same process; the
posteriors are compared. Then the time to converge, of MACE, and of the planner's table.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from annotators.agreement.planning import plan  # noqa: E402
from annotators.agreement.rater_models.dawid_skene import DawidSkene, dawid_skene  # noqa: E402
from annotators.agreement.rater_models.mace import mace  # noqa: E402
from annotators.agreement.tables.ratings import Ratings  # noqa: E402 - runs from anywhere

Posterior = dict[int, list[float]]


def seconds(act: Callable[[], object]) -> float:
    """Seconds of processor time, which other programs on the machine disturb less than the clock."""
    began = time.process_time()
    act()
    return time.process_time() - began


def simulated(ratings: int, raters: int, each: int, labels: int) -> Ratings:
    """Units with `each` ratings by raters drawn from all; a rating is the hidden truth or, by rater, any label."""
    rng = np.random.default_rng(1)
    units = ratings // each
    truth = rng.integers(labels, size=units)
    who = np.argsort(rng.random((units, raters)), axis=1)[:, :each]
    knows = rng.random((units, each)) < rng.uniform(0.5, 0.95, size=raters)[who]
    given = np.where(knows, truth[:, None], rng.integers(labels, size=(units, each)))
    return Ratings.from_triples(np.repeat(np.arange(units), each), who.ravel(), given.ravel(), range(labels))


def looped(triples: list[tuple[int, int, int]], labels: int, iterations: int) -> Posterior:
    """Dawid & Skene, eq. 2.3-2.5, with dictionaries and loops; logarithms as in ours."""
    of_unit: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for unit, rater, code in triples:
        of_unit[unit].append((rater, code))
    posterior: Posterior = {}
    for unit, given in of_unit.items():
        votes = [0.0] * labels
        for _, code in given:
            votes[code] += 1 / len(given)
        posterior[unit] = votes
    for _ in range(iterations + 1):  # the first gives the parameters that ours starts from
        prior = [sum(row[k] for row in posterior.values()) / len(posterior) for k in range(labels)]
        counts: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * labels)
        for unit, given in of_unit.items():
            row = posterior[unit]
            for rater, code in given:
                for k in range(labels):
                    counts[rater, k][code] += row[k]
        logs = {}
        for key, row in counts.items():
            total = sum(row)
            logs[key] = [math.log(count / total) if count > 0 else -math.inf for count in row]
        for unit, given in of_unit.items():
            joint = [
                (math.log(prior[k]) if prior[k] > 0 else -math.inf) + sum(logs[rater, k][code] for rater, code in given)
                for k in range(labels)
            ]
            top = max(joint)
            row = [math.exp(part - top) for part in joint]
            total = sum(row)
            posterior[unit] = [part / total for part in row]
    return posterior


def compared(ratings: Ratings, labels: int, iterations: int) -> None:
    """Print how long the same iterations take, ours and in loops, and how far the posteriors differ."""
    triples = list(zip(ratings.unit.tolist(), ratings.rater.tolist(), ratings.code.tolist(), strict=True))
    units, raters = len(ratings.units), len(ratings.raters)
    print(f"{ratings.n_ratings:,} ratings of {units:,} units by {raters} raters, {labels} labels")

    def ours() -> DawidSkene:
        return dawid_skene(ratings, starts=1, most_iterations=iterations, tolerance=0)

    quick = min(seconds(ours) for _ in range(3))
    posterior: Posterior = {}
    loop = seconds(lambda: posterior.update(looped(triples, labels, iterations)))
    rows = np.array([posterior[unit] for unit in range(units)])
    print(f"  {iterations} iterations: ours {quick:.3f} s, loops {loop:.2f} s, ratio {loop / quick:.0f}×")
    print(f"  largest difference of the posteriors {np.abs(rows - ours().posterior).max():.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("ratings", 100_000), ("raters", 50), ("each", 3), ("labels", 5), ("iterations", 20)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    for raters in dict.fromkeys([asked.each, asked.raters]):  # with few raters many units look the same
        ratings = simulated(asked.ratings, raters, asked.each, asked.labels)
        compared(ratings, asked.labels, asked.iterations)
    for act in (dawid_skene, mace):
        began = time.process_time()
        words = act(ratings).in_words()
        print(f"{time.process_time() - began:.2f} s: {words}")
    pilot = simulated(300, 3, 3, asked.labels)
    took = seconds(lambda: plan(pilot, "krippendorff_alpha_nominal", n_annotators=[2, 3, 5]))
    print(f"{took:.2f} s: the planner, 5 numbers of items × 3 of annotators, 200 studies each")


if __name__ == "__main__":
    main()
