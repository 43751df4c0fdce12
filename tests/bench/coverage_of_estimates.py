"""How often the 95 % intervals of `annotators.estimates` cover, and how wide they are beside those of labels alone.

    python -m tests.bench.coverage_of_estimates [--times 500] [--only WORD]

prints the table of docs/fewer-labels.md: splits of real ratings (../shared/data, left out where it is absent), of which
a part counts as labelled and the truth is what all say, and simulated ones.
"""

from __future__ import annotations

import argparse
import json
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from annotators.arrays import FloatArray
from annotators.estimates.coefficients import coefficients
from annotators.estimates.drawing import Batch, draw, expected_error, weighed
from annotators.estimates.means import differences, means, ranks
from annotators.estimates.sample import Estimate, Units
from annotators.estimates.sequence import differences_at_any_time, looked_at, mean_at_any_time

TIMES = 500
SHARED = Path(__file__).parents[3] / "shared" / "data"
ENDLESS = math.inf

Found = tuple[str, float, Estimate]
Split = Callable[[np.random.Generator, int], Iterator[Found]]


@dataclass(frozen=True)
class Row:
    """One figure of a design: how often its interval covers (%), its mean width beside that of labels alone (1)."""

    design: str
    figure: str
    covered: float
    width: float
    effective: float
    none: float


# Made-up ratings ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """Ratings made up: `n` of `size` labelled, predictions that correlate `r`; labels of two with a share of `rare`."""

    n: int
    size: int
    r: float
    rare: float | None = None
    endless: bool = False
    per_cluster: int = 1
    predictions: int = 2
    systems: int = 0

    def split(self, rng: np.random.Generator, seed: int) -> tuple[Units, FloatArray]:
        """The units of one split, and what all would have been labelled."""
        cluster = np.repeat(np.arange(self.size // self.per_cluster), self.per_cluster)
        latent = rng.normal(size=self.size)
        if self.per_cluster > 1:
            latent = (latent + rng.normal(size=int(cluster[-1]) + 1)[cluster]) / math.sqrt(2)
        if self.systems:
            latent = latent + 0.3 * (np.arange(self.size) % self.systems)
        off = math.sqrt(1 - self.r**2)
        scores = {f"s{k}": self.r * latent + off * rng.normal(size=self.size) for k in range(self.predictions)}
        y = latent
        if self.rare is not None:
            y = (latent > stats.norm.ppf(1 - self.rare)).astype(float)
            scores = {name: stats.norm.cdf(score) for name, score in scores.items()}
        whole = self.per_cluster > 1 and self.endless
        if whole:
            drawn = np.isin(cluster, rng.choice(int(cluster[-1]) + 1, self.n // self.per_cluster, replace=False))
        else:
            drawn = np.isin(np.arange(self.size), rng.choice(self.size, self.n, replace=False))
        units = Units.of(
            np.where(drawn, y, np.nan),
            scores,
            clusters=cluster.tolist() if whole else None,
            groups=[f"g{i % self.systems}" for i in range(self.size)] if self.systems else None,
            population=ENDLESS if self.endless else None,
            scale=None if self.rare is None else (0.0, 1.0),
            seed=seed,
        )
        return units, y


def means_of(made: Made, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """The mean of all."""
    units, y = made.split(rng, seed)
    truth = float(y.mean()) if not made.endless else (made.rare or 0.0)
    yield from ((entry.name, truth, entry) for entry in means(units)[:2])


def systems_of(made: Made, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """The difference of the first two systems, and the rank of the second."""
    units, y = made.split(rng, seed)
    truth = [float(y[units.group == place].mean()) for place in range(made.systems)]
    yield from ((entry.name, truth[0] - truth[1], entry) for entry in differences(units)[:2])
    order = ranks(units)
    yield "rank", 1.0 + sum(value > truth[1] for value in truth), order[1]


def coefficients_of(made: Made, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """Correlation, AUROC and F1 of the first prediction."""
    units, y = made.split(rng, seed)
    yield from of_metric(units, y, "s0")


def of_metric(units: Units, y: FloatArray, name: str) -> Iterator[Found]:
    """The coefficients of one metric beside those of all labels."""
    score = units.predictions[:, units.names.index(name)]
    for entry in coefficients(units):
        if entry.metric == name:
            yield entry.name, coefficient(entry.name.partition("_")[0], y, score), entry


def coefficient(name: str, y: FloatArray, score: FloatArray) -> float:
    """What SciPy makes of all labels."""
    if name == "pearson":
        return float(stats.pearsonr(y, score)[0])
    if name == "spearman":
        return float(stats.spearmanr(y, score)[0])
    if name == "auroc":
        positive = int(y.sum())
        return float(stats.mannwhitneyu(score[y > 0.5], score[y < 0.5])[0]) / positive / (len(y) - positive)
    said = score >= 0.5
    return float(2 * (said * y).sum() / (said.sum() + y.sum()))


def uneven(rng: np.random.Generator, size: int, *, binary: bool) -> tuple[FloatArray, dict[str, FloatArray], list[int]]:
    """Ratings that are predicted well in most units and badly in the others, a stratum of their own."""
    hard = rng.random(size) > 0.7
    base = rng.normal(size=size)
    y = base + np.where(hard, 3.0, 0.4) * rng.normal(size=size)
    if binary:
        y = (y > np.quantile(y, 0.7)).astype(float)
    return y, {"s0": base, "s1": base + 0.5 * rng.normal(size=size)}, hard.astype(int).tolist()


def drawn_actively(
    y: FloatArray, scores: dict[str, FloatArray], first: int, steps: tuple[int, ...], **about: Any
) -> Any:
    """The units after a first random draw and draws by expected error, each with the labels before it."""
    rng: np.random.Generator = about.pop("rng")
    size, seed = len(y), int(about.pop("seed"))
    labelled = np.zeros(size, dtype=np.bool_)
    start = rng.choice(size, first, replace=False)
    labelled[start] = True
    batches = [
        Batch(start, np.full(first, first / size), np.ones(first, dtype=np.bool_), np.zeros(size, dtype=np.bool_))
    ]
    for n in (*steps, 0):
        chance, left = weighed(size, batches)
        human = np.where(labelled, y, np.nan)
        units = Units.of(human, scores, probability=chance, open_=left, seed=seed, **about)
        if not n:
            return units
        there = np.flatnonzero(~labelled)
        chosen, probability = draw(expected_error(units)[there], n, seed=int(rng.integers(2**31)))
        batches.append(Batch(there[chosen], probability, np.ones(len(chosen), dtype=np.bool_), labelled.copy()))
        labelled = labelled.copy()
        labelled[there[chosen]] = True
    return None


def active(binary: bool, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """60 of 1,000 at random, then twice 40 by expected error, beside as many drawn alike."""
    y, scores, strata = uneven(rng, 1000, binary=binary)
    scale = (0.0, 1.0) if binary else None
    units = drawn_actively(y, scores, 60, (40, 40), rng=rng, seed=seed, strata=strata, scale=scale)
    alike = np.isin(np.arange(1000), rng.choice(1000, 140, replace=False))
    plain = Units.of(np.where(alike, y, np.nan), scores, strata=strata, scale=scale, seed=seed)
    truth = float(y.mean())
    yield "mean_classical", truth, means(plain)[0]
    yield "mean_ppi", truth, means(plain)[1]
    yield "mean_active", truth, means(units)[2]


def stopped(binary: bool, drawn: bool, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """Looked at every ten labels until the sequence is narrow enough: at every look, and plain when it stops.

    The sequence that is given is the first that misses the truth, or the last.
    """
    y, scores, strata = uneven(rng, 800, binary=binary)
    truth, scale = float(y.mean()), (0.0, 1.0) if binary else None
    narrow = 0.075 if binary else 0.35
    if drawn:
        for steps in range(1, 20):
            parts = drawn_actively(
                y, scores, 60, (20,) * steps, rng=np.random.default_rng([seed, 7]), seed=0, strata=strata, scale=scale
            )
            entry = mean_at_any_time(parts, narrow)
            if not covers(entry, truth) or (entry.half_width or 9) <= narrow:
                break
        yield "mean_active", truth, means(parts)[2]
        yield "mean_anytime", truth, entry
        return
    order = rng.permutation(800)
    for n in range(20, 800, 10):
        human = np.full(800, np.nan)
        human[order[:n]] = y[order[:n]]
        units = Units.of(human, scores, strata=None, scale=scale, seed=0)
        entry = mean_at_any_time(units, narrow)
        if not covers(entry, truth) or (entry.half_width or 9) <= narrow:
            break
    yield "mean_ppi", truth, means(units)[1]
    yield "mean_anytime", truth, entry


def which_is_better(rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """Two systems that are alike, on the same 300 questions: the difference at every look up to 200 questions."""
    hard = rng.normal(size=300)
    y = np.stack([hard + rng.normal(size=300), hard + rng.normal(size=300)], axis=1).ravel()
    scores = {"s0": y + rng.normal(size=600)}
    truth = float((y[0::2] - y[1::2]).mean())
    order = rng.permutation(300)
    for n in looked_at(200, most=30):
        human = np.where(np.isin(np.arange(600) // 2, order[:n]), y, np.nan)
        units = Units.of(
            human, scores, clusters=(np.arange(600) // 2).tolist(), groups=["a", "b"] * 300, scale=(-4.0, 4.0), seed=0
        )
        entry = differences_at_any_time(units)[0]
        if not covers(entry, truth):
            break
    yield "difference_classical", truth, differences(units)[0]
    yield "difference_anytime", truth, entry


# Real ratings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rated:
    """Real ratings of all units (N), with predictions, what they are of and whose they are."""

    y: FloatArray
    scores: dict[str, FloatArray]
    clusters: list[Any]
    groups: list[str] | None = None
    scale: tuple[float, float] | None = None


@cache
def ragchecker() -> Rated:
    """280 pairs of answers: the mean of two raters' overall preference, and the metric's differences."""
    people = json.loads((SHARED / "ragchecker/human_labeled_data.json").read_text())
    pairs = json.loads((SHARED / "ragchecker/baseline_ragchecker.json").read_text())
    given = np.array([row["overall_label"] for row in people], dtype=float).reshape(-1, 2).mean(axis=1)
    scores = {
        name: np.array([pair["model2"]["ragchecker"][name] - pair["model1"]["ragchecker"][name] for pair in pairs])
        for name in ("correctness_label", "completeness_label", "overall_label")
    }
    scores["length"] = (
        np.array([len(pair["model2"]["response"]) - len(pair["model1"]["response"]) for pair in pairs]) / 1e3
    )
    return Rated(given, scores, [pair["query_id"] for pair in pairs], None, (-2.0, 2.0))


@cache
def refchecker() -> Rated:
    """Claims of two systems: a rare label (not entailed), and what predicts it hardly: lengths and words shared."""
    y, shared, long, clusters, groups = [], [], [], [], []
    for system in ("claude2", "gpt4"):
        for answer in json.loads((SHARED / f"refchecker/msmarco_{system}_answers.json").read_text()):
            words = set(str(answer["response"]).lower().split())
            for claim in next(value for key, value in answer.items() if key.endswith("_kg")):
                own = " ".join(map(str, claim["triplet"])).lower().split()
                y.append(float(claim["human_label"] != "Entailment"))
                shared.append(sum(word in words for word in own) / max(1, len(own)))
                long.append(math.log(1 + len(own)))
                clusters.append(answer["id"])
                groups.append(system)
    return Rated(np.array(y), {"shared": np.array(shared), "long": np.array(long)}, clusters, groups, (0.0, 1.0))


@cache
def mmdocrag() -> Rated:
    """600 answers of two systems to the same questions: one grade, and four others of the same judge beside it."""
    y, clusters, groups = [], [], []
    names = ("Fluency", "Citation Quality", "Text-Image Coherence", "Reasoning Logic")
    scores: dict[str, list[float]] = {name: [] for name in names}
    for system in ("gpt-4.1", "qwen2.5-vl-7b"):
        path = SHARED / f"mmdocrag/{system}_multimodal_quotes15_llm-judge.jsonl"
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if not isinstance(row["response"], dict) or "Factuality" not in row["response"]:
                continue
            y.append(float(row["response"]["Factuality"]))
            clusters.append(row["q_id"])
            groups.append(system)
            for name in names:
                scores[name].append(float(row["response"].get(name, math.nan)))
    made = {name: np.array(values) for name, values in scores.items()}
    return Rated(np.array(y), made, clusters, groups, (0.0, 5.0))


def real(which: Callable[[], Rated], n: int, figure: str, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """A split of real ratings: n of them labelled, drawn one by one; the truth is what all of them say."""
    rated = which()
    size = len(rated.y)
    noise = {"noise": rng.normal(size=size), "more": rng.random(size)}
    scores = noise if figure == "useless" else rated.scores
    if figure == "active":
        units = drawn_actively(
            rated.y, scores, n // 2, (n // 4, n - n // 2 - n // 4), rng=rng, seed=seed, scale=rated.scale
        )
        yield "mean_active", float(rated.y.mean()), means(units)[2]
        return
    drawn = np.isin(np.arange(size), rng.choice(size, n, replace=False))
    human = np.where(drawn, rated.y, np.nan)
    groups = rated.groups if figure == "difference" else None
    units = Units.of(human, scores, groups=groups, scale=rated.scale, seed=seed)
    if figure == "difference":
        truth = [float(rated.y[units.group == place].mean()) for place in range(2)]
        yield from ((entry.name, truth[0] - truth[1], entry) for entry in differences(units))
    elif figure == "coefficients":
        yield from of_metric(units, rated.y, next(iter(rated.scores)))
    else:
        yield from ((entry.name, float(rated.y.mean()), entry) for entry in means(units)[:2])


def resampled(which: Callable[[], Rated], n: int, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """Real questions drawn again with replacement, as a sample of endlessly many, n of them labelled throughout."""
    rated = which()
    keys = list(dict.fromkeys(rated.clusters))
    of_key: dict[Any, list[int]] = {key: [] for key in keys}
    for place, key in enumerate(rated.clusters):
        of_key[key].append(place)
    drawn = rng.integers(len(keys), size=len(keys)).tolist()
    rows = [(copy, place) for copy, key in enumerate(drawn) for place in of_key[keys[key]]]
    places = np.array([place for _, place in rows])
    cluster = [copy for copy, _ in rows]
    # With replacement the mean of all questions is a ratio: its truth is that of the ratings themselves.
    human = np.where(np.array(cluster) < n, rated.y[places], np.nan)
    units = Units.of(
        human, {k: v[places] for k, v in rated.scores.items()}, clusters=cluster, population=ENDLESS,
        scale=rated.scale, seed=seed,
    )  # fmt: skip
    yield from ((entry.name, float(rated.y.mean()), entry) for entry in means(units)[:2])


DESIGNS: dict[str, Split] = {
    **{f"mean, r = {r:g}, 60 of 1,000": partial(means_of, Made(60, 1000, r)) for r in (0.0, 0.3, 0.5, 0.7, 0.9)},
    "mean, r = 0, 20 of 400": partial(means_of, Made(20, 400, 0.0)),
    "mean, r = .7, 20 of 400": partial(means_of, Made(20, 400, 0.7)),
    "mean, r = .7, 300 of 400": partial(means_of, Made(300, 400, 0.7)),
    "mean of a population, r = .7, 100 of 1,000": partial(means_of, Made(100, 1000, 0.7, endless=True)),
    "mean of a population, 25 questions of four, r = .7": partial(
        means_of, Made(100, 1000, 0.7, endless=True, per_cluster=4)
    ),
    "mean of a population, 25 questions of four, r = 0": partial(
        means_of, Made(100, 1000, 0.0, endless=True, per_cluster=4)
    ),
    "share of .5, r = .7, 80 of 1,000": partial(means_of, Made(80, 1000, 0.7, rare=0.5)),
    "share of .05, r = .7, 150 of 2,000": partial(means_of, Made(150, 2000, 0.7, rare=0.05)),
    "share of .05, r = 0, 60 of 2,000": partial(means_of, Made(60, 2000, 0.0, rare=0.05)),
    "two of three systems, r = .7, 120 of 900": partial(systems_of, Made(120, 900, 0.7, systems=3)),
    "two of three systems, r = 0, 60 of 900": partial(systems_of, Made(60, 900, 0.0, systems=3)),
    "coefficients, r = .3, 80 of 800": partial(coefficients_of, Made(80, 800, 0.3)),
    "coefficients, r = .7, 80 of 800": partial(coefficients_of, Made(80, 800, 0.7)),
    "coefficients of a share of .3, r = .7, 100 of 800": partial(coefficients_of, Made(100, 800, 0.7, rare=0.3)),
    "drawn by expected error, 140 of 1,000": partial(active, False),
    "a share drawn by expected error, 140 of 1,000": partial(active, True),
    "stopped at ±.35": partial(stopped, False, False),
    "a share stopped at ±.075": partial(stopped, True, False),
    "a share drawn by expected error, stopped at ±.075": partial(stopped, True, True),
    "which of two systems is better": which_is_better,
}
REAL: dict[str, Split] = {
    "RAGChecker preferences, 60 of 280": partial(real, ragchecker, 60, "mean"),
    "RAGChecker preferences, noise for predictions": partial(real, ragchecker, 60, "useless"),
    "RAGChecker preferences, drawn by expected error": partial(real, ragchecker, 80, "active"),
    "RAGChecker metric, 80 of 280": partial(real, ragchecker, 80, "coefficients"),
    "RAGChecker preferences of a population, 60 questions": partial(resampled, ragchecker, 60),
    "RefChecker claims not entailed, 100 of 1,128": partial(real, refchecker, 100, "mean"),
    "RefChecker claims, two systems, 200": partial(real, refchecker, 200, "difference"),
    "RefChecker claims, drawn by expected error": partial(real, refchecker, 160, "active"),
    "RefChecker claims of a population, 40 questions": partial(resampled, refchecker, 40),
    "MMDocRAG factuality, 60 of 600": partial(real, mmdocrag, 60, "mean"),
    "MMDocRAG factuality, two systems, 100": partial(real, mmdocrag, 100, "difference"),
    "MMDocRAG factuality, drawn by expected error": partial(real, mmdocrag, 100, "active"),
    "MMDocRAG fluency beside factuality, 100": partial(real, mmdocrag, 100, "coefficients"),
}


def covers(entry: Estimate, truth: float) -> bool:
    """Whether the interval holds the truth."""
    return entry.low is not None and entry.high is not None and entry.low - 1e-9 <= truth <= entry.high + 1e-9


def rows_of(design: str, times: int = TIMES, split: Split | None = None) -> list[Row]:
    """The rows of one design; `split` makes one of it, where it is none of those above."""
    rng = np.random.default_rng(zlib.crc32(design.encode()))
    split = split or {**DESIGNS, **REAL}[design]
    found: dict[str, list[tuple[bool, float, float]]] = {}
    asked = dict[str, int]()
    for seed in range(times):
        for name, truth, entry in split(rng, seed):
            asked[name] = asked.get(name, 0) + 1
            if entry.half_width is not None:
                of = found.setdefault(name, [])
                of.append((covers(entry, truth), 2 * entry.half_width, entry.effective_n or math.nan))
    alone = {name: np.mean([width for _, width, _ in values]) for name, values in found.items()}
    rows = []
    for name, values in found.items():
        base = alone.get(f"{name.partition('_')[0]}_classical", alone[name])
        rows.append(
            Row(
                design,
                name,
                round(100 * float(np.mean([hit for hit, *_ in values])), 1),
                round(float(alone[name] / base), 3),
                round(float(np.mean([n for *_, n in values]))),
                round(100 * (1 - len(values) / asked[name]), 1),
            )
        )
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    print("| design | figure | covered, % | width beside labels alone | effective n |\n|---|---|---|---|---|")
    for design in [*DESIGNS, *(REAL if SHARED.exists() else ())]:
        if asked.only in design:
            for row in rows_of(design, asked.times):
                print(f"| {design} | {row.figure} | {row.covered} | {row.width} | {row.effective:g} |", flush=True)


if __name__ == "__main__":
    main()
