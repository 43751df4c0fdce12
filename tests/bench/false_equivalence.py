"""How often two metrics are called equivalent that differ by just the margin: one in twenty may be.

    python -m tests.bench.false_equivalence [--simulations 1000]

prints the table of docs/statistics.md.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass

import numpy as np

from annotators.alignment import Pairs, compare, equivalences
from annotators.intervals.bootstrap import Resampling

SIMULATIONS = 1000


@dataclass(frozen=True)
class Design:
    """So many rows; two metrics, `alike` by Pearson's r, that go with people by .6 and .6 less the margin.

    `together` rows share a question, half of whose variance they have in common.
    """

    n: int
    margin: float
    alike: float
    together: int = 1


DESIGNS = {
    "40 units, r .6 and .4": Design(40, 0.2, 0.5),
    "80 units, r .6 and .4": Design(80, 0.2, 0.5),
    "80 units, r .6 and .5": Design(80, 0.1, 0.8),
    "200 units, r .6 and .5": Design(200, 0.1, 0.8),
    "50 questions of 4 units, r .6 and .5": Design(200, 0.1, 0.8, 4),
    "400 units, r .6 and .55": Design(400, 0.05, 0.9),
}


def share_of(design: str, simulations: int = SIMULATIONS) -> float:
    """The share (%) of simulated studies in which the two are called equivalent by Pearson's r."""
    how = DESIGNS[design]
    rng = np.random.default_rng(zlib.crc32(design.encode()))
    r, less = 0.6, 0.6 - how.margin
    root = np.linalg.cholesky(np.array([[1, r, less], [r, 1, how.alike], [less, how.alike, 1]]))
    groups, called = how.n // how.together, 0
    for seed in range(simulations):
        values = root @ rng.standard_normal((3, how.n))
        if how.together > 1:
            shared = np.repeat(root @ rng.standard_normal((3, groups)), how.together, axis=1)
            values = np.sqrt(0.5) * values + np.sqrt(0.5) * shared
        people, first, second = values
        pairs = Pairs.of(people, first, clusters=np.repeat(np.arange(groups), how.together).tolist())
        other = second[[int(str(unit)) for unit in pairs.units]]
        # The interval is the jackknife's: hardly any resamples are drawn.
        found = equivalences(compare(pairs, other, Resampling(2, seed))[:1], how.margin)
        called += (found[0].verdict or "").startswith("equivalent")
    return 100 * called / simulations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    simulations = parser.parse_args().simulations
    print("| two metrics that differ by the margin | margin | called equivalent (%) |\n|---|---|---|")
    for design, how in DESIGNS.items():
        print(f"| {design} | {how.margin:g} | {share_of(design, simulations):.1f} |", flush=True)


if __name__ == "__main__":
    main()
