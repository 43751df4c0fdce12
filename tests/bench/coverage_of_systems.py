"""How often 95 % intervals of systems' means and differences by mixed models cover, in designs as studies have them.

    python -m tests.bench.coverage_of_systems [--simulations 200]

prints the table of docs/statistics.md. Labels come from normal variables with the variances that stand below; yes or no
and five grades are cut out of them, so that the truth is a share or a mean over questions and raters without end.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass

import numpy as np
from scipy import stats

from annotators.intervals.result import Aligned
from annotators.mixed.linear import Terms, fit_linear
from annotators.mixed.systems import SystemLabels, compare_systems

SIMULATIONS = 200
QUESTION, ANSWER, RATER, ERROR = 1.0, 0.5, 0.3, 0.7
"""Standard deviations."""
GRADES = np.array([-1.5, -0.9, -0.3, 0.4])
"""Where grades part, in standard deviations from 1 below the middle: most are at the top."""


@dataclass(frozen=True)
class Design:
    """So many raters, questions and systems; each answer judged by `each` raters.

    `view` is the standard deviation of how raters see systems. `share` is that of yes for the first system (None:
    numbers, or `graded`); neighbouring systems are .3 apart.
    """

    raters: int
    questions: int
    systems: int
    each: int
    view: float = 0.2
    share: float | None = None
    graded: bool = False


@dataclass(frozen=True)
class Row:
    """The share (%) of intervals that cover: of a difference without the effect of rater × system and with it, and of
    the first system's mean; how many studies had no figure."""

    plain: float
    difference: float
    mean: float
    none: float


DESIGNS = {
    "3 raters, 50 questions, 2 systems, all by all": Design(3, 50, 2, 3),
    "3 raters, 50 questions, 2 systems, one each": Design(3, 50, 2, 1),
    "5 raters, 100 questions, 2 systems, two each": Design(5, 100, 2, 2),
    "5 raters, 100 questions, 2 systems, two each, raters see systems alike": Design(5, 100, 2, 2, 0.0),
    "10 raters, 100 questions, 2 systems, two each": Design(10, 100, 2, 2),
    "5 raters, 20 questions, 4 systems, two each": Design(5, 20, 4, 2),
    "5 raters, 100 questions, 2 systems, two each, grades": Design(5, 100, 2, 2, graded=True),
    "3 raters, 50 questions, 2 systems, all by all, grades": Design(3, 50, 2, 3, graded=True),
    "5 raters, 100 questions, 2 systems, two each, yes .5": Design(5, 100, 2, 2, share=0.5),
    "5 raters, 100 questions, 2 systems, two each, yes .1": Design(5, 100, 2, 2, share=0.0968),
    "5 raters, 60 questions, 2 systems, two each, yes .1": Design(5, 60, 2, 2, share=0.1),
    "5 raters, 100 questions, 2 systems, two each, yes .04": Design(5, 100, 2, 2, share=0.0359),
    "3 raters, 50 questions, 2 systems, all by all, yes .04": Design(3, 50, 2, 3, share=0.0359),
    "3 raters, 30 questions, 2 systems, one each, yes .1": Design(3, 30, 2, 1, share=0.0968),
}
FEW = {
    "3 raters, 50 questions, 2 systems, one each",
    "3 raters, 30 questions, 2 systems, one each, yes .1",
}
"""Designs of which a caution says that their intervals cover less often: few raters, none of whom judged the same."""


def drawn(how: Design, rng: np.random.Generator) -> tuple[SystemLabels, list[float]]:
    """One study's labels, and the true mean of each system."""
    q, s, k = how.questions, how.systems, how.each
    question, system = np.repeat(np.arange(q), s * k), np.tile(np.repeat(np.arange(s), k), q)
    answer = question * s + system
    rater = np.concatenate([rng.permutation(how.raters)[:k] for _ in range(q * s)])
    total = float(np.sqrt(QUESTION**2 + ANSWER**2 + RATER**2 + how.view**2 + ERROR**2))
    value = (
        0.3 * system
        + QUESTION * rng.normal(size=q)[question]
        + ANSWER * rng.normal(size=q * s)[answer]
        + RATER * rng.normal(size=how.raters)[rater]
        + how.view * rng.normal(size=(how.raters, s))[rater, system]
        + ERROR * rng.normal(size=len(question))
    )
    cuts, low = np.empty(0), 0.0
    if how.graded:
        cuts, low = GRADES * total - 1, 1.0
    elif how.share is not None:
        cuts = np.array([stats.norm.isf(how.share) * total])
    truth = [0.3 * at for at in range(s)]
    scale = None
    if len(cuts):
        value = low + (value[:, None] > cuts).sum(axis=1)
        truth = [low + float(stats.norm.sf((cuts - mean) / total).sum()) for mean in truth]
        scale = (low, low + len(cuts))
    names = [f"system {at}" for at in system.tolist()]
    found = SystemLabels.of(value.tolist(), names, question.tolist(), rater.tolist(), scale=scale)
    return found, truth


def row_of(design: str, simulations: int = SIMULATIONS) -> Row:
    """One row of the table, by simulations that are the same each time."""
    how = DESIGNS[design]
    rng = np.random.default_rng(zlib.crc32(design.encode()))
    plain: list[bool] = []
    differences: list[bool] = []
    means: list[bool] = []
    none = 0
    for _ in range(simulations):
        labels, truth = drawn(how, rng)
        pair = labels.chosen(labels.system < 2)
        found = compare_systems(SystemLabels(**{**vars(pair), "systems": labels.systems[:2]}))
        entry = next(iter(found.differences), None)
        if entry is None or entry.low is None or entry.high is None:
            none += 1
            continue
        apart = (truth[1] - truth[0]) * (1 if entry.group == "system 1" else -1)
        differences.append(entry.low <= apart <= entry.high)
        first = next(mean for mean in found.means if mean.group == "system 0")
        means.append(_covers(first, truth[0]))
        plain.append(_without_views(pair, truth[1] - truth[0]))
    covered = [100 * float(np.mean(hits)) for hits in (plain, differences, means)]
    return Row(covered[0], covered[1], covered[2], 100 * none / simulations)


def _covers(entry: Aligned, truth: float) -> bool:
    return entry.low is not None and entry.high is not None and entry.low <= truth <= entry.high


def _without_views(pair: SystemLabels, apart: float) -> bool:
    """Whether the interval of a model without rater × system covers."""
    here = (pair.system == 1).astype(np.float64)
    answer = pair.answer if len(np.unique(pair.answer)) < len(here) else None
    terms = Terms(pair.value, np.column_stack([here, 1 - here]), answer, pair.question, {"rater": pair.rater})
    fit = fit_linear(terms)
    if isinstance(fit, str):
        return False
    value, error, freedom = fit.contrast(np.array([1.0, -1.0]))
    return abs(value - apart) <= float(stats.t.ppf(0.975, max(freedom, 1.0))) * error


def line(design: str, row: Row) -> str:
    """The row as the document has it."""
    return f"| {design} | {row.plain:.0f} | {row.difference:.0f} | {row.mean:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    simulations = parser.parse_args().simulations
    print("| design | difference, without rater × system | difference | mean |\n|---|---|---|---|")
    for design in DESIGNS:
        row = row_of(design, simulations)
        print(line(design, row), f"{row.none:.1f} % none", flush=True)


if __name__ == "__main__":
    main()
