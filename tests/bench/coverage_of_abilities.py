"""How often 95 % intervals of raters' accuracy by the item-response model cover, and what its difficulties are worth.

    python -m tests.bench.coverage_of_abilities [--simulations 100]

prints the table of docs/rater-models.md. Labels are drawn by the model: abilities 1 ± .6, logarithms of ease 1 ± 1.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import spearmanr

from annotators.agreement.rater_models.em import Observations
from annotators.agreement.rater_models.glad import glad

SIMULATIONS = 100
RESAMPLES = 60


@dataclass(frozen=True)
class Design:
    """So many raters and units, each unit rated by `each` of them; the share of the first of two labels."""

    raters: int
    units: int
    each: int
    share: float = 0.5


@dataclass(frozen=True)
class Row:
    """The share (%) of intervals that cover, their mean width, and Spearman's ρ of difficulties with the truth."""

    covered: float
    width: float
    ordered: float


DESIGNS = {
    "5 raters, 100 units, each by all": Design(5, 100, 5),
    "5 raters, 40 units, each by all": Design(5, 40, 5),
    "10 raters, 100 units, each by 3": Design(10, 100, 3),
    "3 raters, 100 units, each by all, share .3": Design(3, 100, 3, 0.3),
}

_ABILITIES = np.linspace(-1, 4, 101)
_EASE = np.exp(1 + np.random.default_rng(9).normal(size=20_000))
_ACCURACY = np.array([expit(ability * _EASE).mean() for ability in _ABILITIES])


def row_of(design: str, simulations: int = SIMULATIONS) -> Row:
    """One row of the table, by simulations that are the same each time."""
    how = DESIGNS[design]
    rng = np.random.default_rng(zlib.crc32(design.encode()))
    covered: list[bool] = []
    widths: list[float] = []
    ordered: list[float] = []
    for seed in range(simulations):
        ability, ease = rng.normal(1, 0.6, how.raters), rng.normal(1, 1, how.units)
        truth = rng.random(how.units) < how.share
        rater = np.array([rng.permutation(how.raters)[: how.each] for _ in range(how.units)]).ravel()
        unit = np.repeat(np.arange(how.units), how.each)
        right = rng.random(len(unit)) < expit(ability[rater] * np.exp(ease[unit]))
        said = np.where(right, truth[unit], ~truth[unit]).astype(int)
        data = Observations.from_triples(unit.tolist(), rater.tolist(), said.tolist())
        found = glad(data, starts=1, seed=seed, resamples=RESAMPLES)
        if found.accuracy_interval is None:
            continue
        raters = [int(str(name)) for name in found.raters]
        true = np.interp(ability[raters], _ABILITIES, _ACCURACY)
        low, high = found.accuracy_interval.T
        covered += ((low <= true) & (true <= high)).tolist()
        widths += (high - low).tolist()
        order = [int(str(name)) for name in found.units]
        ordered.append(float(spearmanr(found.ease, ease[order])[0]))
    return Row(100 * float(np.mean(covered)), float(np.mean(widths)), float(np.mean(ordered)))


def line(design: str, row: Row) -> str:
    """The row as the document has it."""
    return f"| {design} | {row.covered:.0f} | {row.width:.2f} | {row.ordered:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    print("| design | accuracy covered (%) | mean width | ρ of difficulty with the truth |\n|---|---|---|---|")
    simulations = parser.parse_args().simulations
    for design in DESIGNS:
        print(line(design, row_of(design, simulations)), flush=True)


if __name__ == "__main__":
    main()
