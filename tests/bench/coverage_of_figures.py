"""How often 95 % intervals cover where studies are awkward: sparse crowds, few clusters, rare labels, and so on.

    python -m tests.bench.coverage_of_figures [--simulations 1000]

prints the table of docs/statistics.md. Each row is a design with a known truth, `before` what was made of it by the
first version or is made without the remedy, `covered` what is made now.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from annotators.agreement.measure import measure
from annotators.agreement.tables.ratings import Ratings
from annotators.alignment import LabelCandidate, Pairs, association, compare, draw_to_label, system_ranking
from annotators.alignment import prediction_powered_mean as powered
from annotators.alignment.statistics.coefficients import pearson
from annotators.alignment.tables.sample import DrawnRows
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import BOOTSTRAPS, Aligned, Interval, Statistic
from tests.annotators.agreement.makers import ratings_of

SIMULATIONS = 1000
RESAMPLES = 400
ALPHA = "krippendorff_alpha_nominal"
UNITIZING = "krippendorff_alpha_unitizing"
OVERLAPS = "pairwise_f1_characters"


@dataclass(frozen=True)
class Row:
    """One design: the share (%) of intervals that cover, without the remedy and with it; how often there is none."""

    design: str
    figure: str
    plain: float | None
    covered: float
    none: float = 0.0


Found = Statistic | Aligned | None
Simulation = Callable[[np.random.Generator, int], tuple[float, Found, Found]]


def _right(rng: np.random.Generator, accuracy: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Raters × units of two labels: right with each rater's accuracy, else the other label."""
    return np.where(rng.random((len(accuracy), len(truth))) < accuracy[:, None], truth, ~truth).astype(float)


def _alpha(accuracy: float, share: float) -> float:
    """α of raters of this mean accuracy with this share of the first label, over units and raters without end."""
    agreed = accuracy**2 + (1 - accuracy) ** 2
    used = share * accuracy + (1 - share) * (1 - accuracy)
    chance = used**2 + (1 - used) ** 2
    return (agreed - chance) / (1 - chance)


def sparse_crowd(rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """40 raters, 150 units, three raters a unit; α, since Light's κ is not defined there."""
    truth = rng.random(150) < 0.3
    matrix = _right(rng, np.full(40, 0.88), truth)
    for unit in range(150):
        matrix[rng.permutation(40)[3:], unit] = np.nan
    alpha, light = measure(ratings_of(matrix.tolist()), [ALPHA, "light_kappa"], RESAMPLES, seed)
    assert light.value is None
    return _alpha(0.88, 0.3), None, alpha


def few_clusters(clusters: int, rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """Ten answers to each question, whose difficulty they share: raw agreement of two raters, units and questions."""
    hard = np.repeat(rng.random(clusters) < 0.4, 10)
    truth = rng.random(10 * clusters) < 0.5
    right = rng.random((2, len(truth))) < np.where(hard, 0.6, 0.97)
    ratings = ratings_of(np.where(right, truth, ~truth).astype(int).tolist())
    questions = {unit: int(str(unit)) // 10 for unit in ratings.units}
    easy, difficult = (a * a + (1 - a) ** 2 for a in (0.97, 0.6))
    plain = measure(ratings, ["percent_agreement"], RESAMPLES, seed)[0]
    clustered = measure(ratings, ["percent_agreement"], RESAMPLES, seed, clusters=questions)[0]
    return 0.6 * easy + 0.4 * difficult, plain, clustered


def few_clusters_of_alignment(rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """Six systems on each of 40 questions: Pearson's r, with rows and with questions resampled."""
    question = np.repeat(np.arange(40), 6)
    x, y = rng.normal(size=(2, 40))
    y = 0.5 * x + np.sqrt(0.75) * y
    human, metric = (side[question] + 0.5 * rng.normal(size=240) for side in (x, y))
    asked = Resampling(RESAMPLES, seed)
    found = [
        next(
            statistic
            for statistic in association(Pairs.of(human, metric, clusters=keys), asked)
            if statistic.name == "pearson"
        )
        for keys in (None, question.tolist())
    ]
    return 0.5 / 1.25, found[0], found[1]


def random_raters(raters: int, rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """Raters of accuracy .8 ± .1 on 100 units: α of raters like these, with units and with both resampled."""
    accuracy = np.clip(0.8 + 0.1 * rng.standard_normal(raters), 0.5, 1)
    ratings = ratings_of(_right(rng, accuracy, rng.random(100) < 0.4).tolist())
    fixed, random = (
        measure(ratings, [ALPHA], RESAMPLES, seed, raters=which)[0]
        for which in ("fixed", "random")  # type: ignore[arg-type]
    )
    return _alpha(0.7963, 0.4), fixed, random  # the mean of a normal that is cut at .5 and 1


def rare_label(which: int, size: int, labelled: int, rng: np.random.Generator, _: int) -> tuple[float, Found, Found]:
    """A share of .05: the mean of these items, classical (0) or tuned (2), by t of an endless population and now."""
    y = (np.arange(size) < 0.05 * size).astype(float)
    f = 1 / (1 + np.exp(-(2 * y + rng.normal(size=size) - 1)))
    given = np.full(size, np.nan)
    chosen = rng.choice(size, labelled, replace=False)
    given[chosen] = y[chosen]
    now = powered(given, f)[which]
    said = y[chosen]
    reach = 1.96 * said.std(ddof=1) / np.sqrt(labelled)
    mean = float(said.mean())
    plain = Aligned(name="t", value=mean, interval=Interval(mean - reach, mean + reach, "t", 0.95), n=labelled)
    return float(y.mean()), plain, now


def advised(rng: np.random.Generator, _: int) -> tuple[float, Found, Found]:
    """60 of 600 items whose score says least: the first of the list, and drawn with known probabilities."""
    f = rng.random(600)
    y = (rng.random(600) < np.where(np.abs(f - 0.5) < 0.2, 0.75, 0.25)).astype(float)
    worth = 1 - np.abs(2 * f - 1)
    order = np.argsort(-worth)
    top, drawn, chance = np.full(600, np.nan), np.full(600, np.nan), np.ones(600)
    top[order[:60]] = y[order[:60]]
    there = [LabelCandidate(int(i), 0.0, float(worth[i]), float(worth[i])) for i in order]
    for unit in draw_to_label(there, 60, seed=int(rng.integers(2**31))):
        place = int(str(unit.unit))
        drawn[place], chance[place] = y[place], unit.probability
    return float(y.mean()), powered(top, f)[2], powered(drawn, f, probabilities=chance)[2]


def sparse_stretches(name: str, rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """40 texts of ten sentences of 20 characters, a fifth of which are wrong; three of 12 raters mark each text.

    A rater finds what a sentence is with probability .9. What is marked is one stretch where sentences touch.
    """
    units, raters, values = [], [], []
    for text in range(40):
        wrong = rng.random(10) < 0.2
        for rater in rng.permutation(12)[:3].tolist():
            said = np.where(rng.random(10) < 0.9, wrong, ~wrong)
            edges = np.flatnonzero(np.diff(np.r_[False, said, False])).tolist()
            units.append(text)
            raters.append(rater)
            values.append(
                [{"start": 20 * a, "end": 20 * b, "label": "x"} for a, b in zip(edges[::2], edges[1::2], strict=True)]
            )
    ratings = Ratings.from_triples(units, raters, values, scale="spans", lengths=dict.fromkeys(range(40), 200))
    found = measure(ratings, [name], RESAMPLES, seed)[0]
    both, one = 0.2 * 0.9**2 + 0.8 * 0.1**2, 0.2 * 0.9 + 0.8 * 0.1
    return _alpha(0.9, 0.2) if name == UNITIZING else both / one, None, found


@cache
def _mean_rho(noise: float) -> float:
    """The mean of Spearman's ρ of two raters of four things that lie 1 apart, with normal noise: by 400,000 pairs."""
    rng = np.random.default_rng(1)
    one, other = (_ranks(np.arange(4) + noise * rng.standard_normal((400_000, 4))) for _ in range(2))
    return float(1 - 6 * ((one - other) ** 2).sum(axis=1).mean() / (4 * 15))


def _ranks(values: np.ndarray) -> np.ndarray:
    return values.argsort(axis=1).argsort(axis=1)


def sparse_orders(rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """60 answers of four images, which lie 1 apart; two of 12 raters order each, with normal noise of 1."""
    units, raters, values = [], [], []
    for answer in range(60):
        for rater in rng.permutation(12)[:2].tolist():
            units.append(answer)
            raters.append(rater)
            values.append(["abcd"[thing] for thing in np.argsort(np.arange(4) + rng.standard_normal(4)).tolist()])
    ratings = Ratings.from_triples(units, raters, values, scale="ranking")
    return _mean_rho(1.0), None, measure(ratings, ["mean_spearman"], RESAMPLES, seed)[0]


def sparse_numbers(
    form: str, sizes: tuple[int, int], variances: tuple[float, float], rng: np.random.Generator, seed: int
) -> tuple[float, Found, Found]:
    """40 units by so many raters, with one to so many ratings each; the variances of units and raters, 1 of units and
    error together; ICC(C,1) or ICC(A,1) by its `form`."""
    (raters, most), (icc, spread) = sizes, variances
    matrix = np.sqrt(icc) * rng.standard_normal(40) + np.sqrt(spread) * rng.standard_normal((raters, 1))
    matrix = matrix + np.sqrt(1 - icc) * rng.standard_normal((raters, 40))
    for unit in range(40):
        matrix[rng.permutation(raters)[rng.integers(1, most + 1) :], unit] = np.nan
    truth = icc if form == "c" else icc / (1 + spread)
    ratings = ratings_of(matrix.tolist(), scale="interval")
    return truth, None, measure(ratings, [f"icc_{form}_1"], RESAMPLES, seed, raters="random")[0]


# Where another interval than BCa covers -------------------------------------------------------------------------------


def _bca(found: Statistic) -> Statistic:
    """The same with its BCa interval, or what stands for it."""
    made = [interval for interval in (found.interval, *found.beside) if interval is not None]
    return replace(found, interval=next((one for one in made if one.kind in BOOTSTRAPS), None))


def few_numbers(rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """Eight units that three raters give numbers; the variances of units and error are .65 and .35."""
    matrix = (
        np.sqrt(0.65) * rng.standard_normal(8)
        + rng.standard_normal((3, 1))
        + np.sqrt(0.35) * rng.standard_normal((3, 8))
    )
    found = measure(ratings_of(matrix.tolist(), scale="interval"), ["icc_c_1"], RESAMPLES, seed)[0]
    return 0.65, _bca(found), found


def rare_kappa(rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """30 units of which a tenth carry the rare label; five raters give the truth or, once in five, draw a label."""
    truth = rng.random(30) < 0.1
    said = np.where(rng.random((5, 30)) < 0.8, truth, rng.random((5, 30)) < 0.1).astype(float)
    found = measure(ratings_of(said.tolist()), ["light_kappa"], RESAMPLES, seed)[0]
    return 0.64, _bca(found), found


def two_correlations(rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """40 units; two metrics, .5 alike, go with people by .6 and .4: the difference of Pearson's r."""
    root = np.linalg.cholesky(np.array([[1, 0.6, 0.4], [0.6, 1, 0.5], [0.4, 0.5, 1]]))
    people, first, second = root @ rng.standard_normal((3, 40))
    sample = Pairs.of(people, first)
    other = second[[int(str(unit)) for unit in sample.units]]
    found = compare(sample, other, Resampling(RESAMPLES, seed))[0]
    drawn = DrawnRows.of([first, people, second], np.arange(40))

    def difference(weights: np.ndarray) -> np.ndarray:
        metric, human, against = drawn.columns.T
        return pearson(metric, human, weights) - pearson(against, human, weights)

    made = drawn.resampled(difference, Resampling(RESAMPLES, seed)).interval()
    return 0.2, replace(found, interval=made), found


def systems(rng: np.random.Generator, seed: int) -> tuple[float, Found, Found]:
    """Eight systems with .3 between neighbours, two of which the metric takes for the other; 60 questions."""
    means = np.arange(8) * 0.3
    of_metric = means[[1, 0, 2, 3, 4, 5, 6, 7]]
    shared = rng.standard_normal(60)
    human = means[:, None] + shared + rng.standard_normal((8, 60))
    metric = of_metric[:, None] + 0.7 * shared + rng.standard_normal((8, 60))
    pairs = Pairs.of(
        human.ravel(),
        metric.ravel(),
        clusters=np.tile(np.arange(60), 8),
        groups=[f"system {place}" for place in range(8) for _ in range(60)],
    )
    found = system_ranking(pairs, Resampling(RESAMPLES, seed))[0]
    return 1 - 2 / 28, None, found


DESIGNS: dict[str, tuple[str, Simulation]] = {
    "sparse crowd: 40 raters, 150 units, 3 ratings each": ("α (Light's κ: undefined)", sparse_crowd),
    "6 questions of 10 units": ("raw agreement", partial(few_clusters, 6)),
    "12 questions of 10 units": ("raw agreement", partial(few_clusters, 12)),
    "20 questions of 10 units": ("raw agreement", partial(few_clusters, 20)),
    "40 questions of 6 systems": ("Pearson's r", few_clusters_of_alignment),
    "8 numbers of 3 raters": ("ICC(C,1) of .65", few_numbers),
    "30 units of 5 raters, a tenth with the rare label": ("Light's κ", rare_kappa),
    "40 units, two metrics": ("difference of Pearson's r", two_correlations),
    "8 systems, 60 questions": ("τ of the systems", systems),
    "3 raters of their kind, 100 units": ("α, raters like these", partial(random_raters, 3)),
    "5 raters of their kind, 100 units": ("α, raters like these", partial(random_raters, 5)),
    "10 raters of their kind, 100 units": ("α, raters like these", partial(random_raters, 10)),
    "share .05, 30 of 1,000 labelled": ("mean, labels alone", partial(rare_label, 0, 1000, 30)),
    "share .05, 30 of 1,000 labelled, scores": ("mean, PPI++", partial(rare_label, 2, 1000, 30)),
    "share .05, 150 of 300 labelled, scores": ("mean, PPI++", partial(rare_label, 2, 300, 150)),
    "60 of 600 by advice, scores": ("mean, PPI++", advised),
    "40 texts of 10 sentences, 3 of 12 raters each": ("α for unitizing", partial(sparse_stretches, UNITIZING)),
    "40 texts of 10 sentences, 3 of 12 raters each, overlap": ("F1 of characters", partial(sparse_stretches, OVERLAPS)),
    "60 orders of 4 images, 2 of 12 raters each": ("mean ρ", sparse_orders),
    "40 numbers, 1 to 4 of 50 raters each": ("ICC(C,1) of .9", partial(sparse_numbers, "c", (50, 4), (0.9, 1.0))),
    "40 numbers, 1 to 4 of 50 raters each, raters alike": (
        "ICC(C,1) of .3",
        partial(sparse_numbers, "c", (50, 4), (0.3, 0.0)),
    ),
    "40 numbers, 1 to 4 of 50 raters each, agreement": (
        "ICC(A,1) of .45",
        partial(sparse_numbers, "a", (50, 4), (0.9, 1.0)),
    ),
    "40 numbers, 1 to 4 of 4 raters each": ("ICC(A,1) of .46", partial(sparse_numbers, "a", (4, 4), (0.6, 0.3))),
}
"""Design → what is estimated, and one simulation of it: the truth, the interval without the remedy, and with it."""


def row_of(design: str, simulations: int = SIMULATIONS) -> Row:
    """One row of the table, by simulations that are the same each time."""
    figure, layout = DESIGNS[design]
    rng = np.random.default_rng(zlib.crc32(design.encode()))
    hits: list[list[bool | None]] = [[], []]
    for seed in range(simulations):
        truth, *found = layout(rng, seed)
        for place, interval in enumerate(found):
            if interval is None or interval.low is None or interval.high is None:
                hits[place].append(None)
            else:
                hits[place].append(interval.low - 1e-9 <= truth <= interval.high + 1e-9)
    plain, covered = ([hit for hit in side if hit is not None] for side in hits)
    return Row(
        design,
        figure,
        100 * float(np.mean(plain)) if plain else None,
        100 * float(np.mean(covered)),
        100 * hits[1].count(None) / simulations,
    )


def line(row: Row) -> str:
    """The row as the document has it."""
    plain = "–" if row.plain is None else f"{row.plain:.0f}"
    return f"| {row.design} | {row.figure} | {plain} | {row.covered:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    print("| design | 95 % interval of | without the remedy | with it |\n|---|---|---|---|")
    simulations = parser.parse_args().simulations
    for design in DESIGNS:
        print(line(row_of(design, simulations)), flush=True)


if __name__ == "__main__":
    main()
