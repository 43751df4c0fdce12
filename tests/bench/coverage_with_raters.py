"""How often the 95 % intervals of `annotators.estimates` cover where raters differ, and what one rater an item costs.

    ASSAY_RATED=FOLDER python -m tests.bench.coverage_with_raters [--times 500] [--only WORD]

prints the tables of docs/fewer-labels.md: made-up ratings of few raters, and splits of real ones at equal numbers of
labels. RAGChecker's ratings are read from ../shared/data; in the folder ASSAY_RATED may lie the published ratings
`mturk_cnndm.jsonl` of QAGS (github.com/W4ngatang/qags, data) and `human_judgment.jsonl` with `models_eval_new` of
DialSummEval (github.com/kite99520/DialSummEval, annotation_campus and reproduce/analysis). What is absent is left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import optimize, stats

from annotators.arrays import FloatArray
from annotators.estimates.coefficients import coefficients
from annotators.estimates.means import differences, mean_with_raters_alike, means
from annotators.estimates.raters import LabelsByRater
from annotators.estimates.sample import Estimate, Units
from tests.bench.coverage_of_estimates import ENDLESS, SHARED, TIMES, Found, Split, coefficient, covers, rows_of

RATED = Path(os.environ.get("ASSAY_RATED", ""))

# Made-up ratings ------------------------------------------------------------------------------------------------------

CUTS = {"yes or no": (0.3,), "grades 1 to 5": (-1.2, -0.4, 0.4, 1.2)}
_U = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)


def expected(u: FloatArray, cuts: tuple[float, ...], share: float) -> FloatArray:
    """What raters say on average of units with the latent value u, of which `share` of the variance is theirs."""
    low = 0.0 if len(cuts) == 1 else 1.0
    above = [stats.norm.sf((cut - math.sqrt(share) * u) / math.sqrt(1 - share)) for cut in cuts]
    found: FloatArray = low + np.sum(above, axis=0)
    return found


@cache
def latent_share(cuts: tuple[float, ...], icc: float) -> float:
    """The share of the latent variance that is the units', with which labels have this intraclass correlation."""
    values = np.arange(len(cuts) + 1)
    chance = np.diff(np.r_[0.0, stats.norm.cdf(cuts), 1.0])
    whole = float(chance @ values**2 - (chance @ values) ** 2)
    return float(optimize.brentq(lambda share: expected(_U, cuts, share).var() / whole - icc, 1e-6, 1 - 1e-6))


@dataclass(frozen=True)
class Raters:
    """`n` of `size` units labelled by `one` rater (so many), a `part` of them by `several`; scores correlate r."""

    kind: str
    icc: float
    n: int
    size: int
    r: float = 0.6
    one: int = 1
    part: float = 0.1
    several: int = 3
    endless: bool = False
    systems: int = 0

    def split(
        self, rng: np.random.Generator, seed: int
    ) -> tuple[Units, FloatArray, FloatArray, Callable[[int], FloatArray]]:
        """The units of one split, what raters say of each on average, the latent values, and labels of fresh raters."""
        cuts = CUTS[self.kind]
        share, low = latent_share(cuts, self.icc), 0.0 if len(cuts) == 1 else 1.0
        u = rng.normal(size=self.size)
        if self.systems:
            hard = np.repeat(rng.normal(size=self.size // self.systems), self.systems)
            u = (u + hard) / math.sqrt(2) + 0.3 * (np.arange(self.size) % self.systems)
        off = math.sqrt(1 - self.r**2)
        scores = {f"s{k}": self.r * u + off * rng.normal(size=self.size) for k in range(2)}

        def said(raters: int) -> FloatArray:
            noisy = math.sqrt(share) * u[:, None] + math.sqrt(1 - share) * rng.normal(size=(self.size, raters))
            return low + np.searchsorted(cuts, noisy).astype(float)

        table = said(max(self.one, self.several))
        order = rng.permutation(self.size)
        table[order[self.n :]] = np.nan
        count = np.full(self.size, self.one)
        count[order[: round(self.part * self.n)]] = self.several
        table[np.arange(table.shape[1])[None, :] >= count[:, None]] = np.nan
        units = Units.of(
            LabelsByRater.of(table),
            scores,
            n=self.size,
            clusters=(np.arange(self.size) // self.systems).tolist() if self.systems and self.endless else None,
            groups=[f"g{i % self.systems}" for i in range(self.size)] if self.systems else None,
            population=ENDLESS if self.endless else None,
            scale=(low, low + len(cuts)),
            seed=seed,
        )
        return units, expected(u, cuts, share), u, said


def means_of(made: Raters, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """The mean of all."""
    units, expects, *_ = made.split(rng, seed)
    truth = float(expects.mean())
    if made.endless:
        truth = float(expected(_U, CUTS[made.kind], latent_share(CUTS[made.kind], made.icc)).mean())
    yield from ((entry.name, truth, entry) for entry in means(units)[:2] if entry.value is not None)


def lenient(rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """Three people, one an item and all three for a tenth, who differ in how high they grade by a spread of 0.3.

    The mean of what these three say on average, and of endlessly many like them, which only `mean_alike` is for.
    """
    size, n, people = 1000, 200, 3
    high = 0.3 * rng.normal(size=people)
    u = rng.normal(size=size)
    table = np.full((size, people), np.nan)
    for place, unit in enumerate(rng.permutation(size)[:n].tolist()):
        who = rng.permutation(people)[: people if place < n // 10 else 1]
        table[unit, who] = u[unit] + high[who] + rng.normal(size=len(who))
    scores = {"s": 0.7 * u + 0.7 * rng.normal(size=size)}
    units = Units.of(LabelsByRater.of(table), scores, n=size, seed=seed)
    made = means(units)[1]
    yield "mean_ppi of these three", float(u.mean() + high.mean()), made
    yield "mean_ppi of others like them", float(u.mean()), made
    yield "mean_alike of others like them", float(u.mean()), mean_with_raters_alike(units)


def systems_of(made: Raters, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """The difference of the first two systems."""
    units, expects, *_ = made.split(rng, seed)
    first, second = (float(expects[units.group == place].mean()) for place in range(2))
    yield from ((entry.name, first - second, entry) for entry in differences(units) if entry.value is not None)


def coefficients_of(made: Raters, rng: np.random.Generator, seed: int) -> Iterator[Found]:
    """Correlations, AUROC and F1 of the first score with one rater's labels: those of 60 fresh raters of every unit."""
    units, _, _, said = made.split(rng, seed)
    score = units.predictions[:, 0]
    fresh = said(60)
    for entry in coefficients(units):
        if entry.metric == "s0" and entry.value is not None and not entry.name.startswith("f1"):
            truth = coefficient(entry.name.partition("_")[0], fresh.ravel(), np.repeat(score, 60))
            yield entry.name, truth, entry


MADE: dict[str, Split] = {}
for _kind in CUTS:
    for _icc in (0.3, 0.5, 0.7):
        MADE[f"{_kind}, ICC {_icc:g}, 200 of 1,000"] = partial(means_of, Raters(_kind, _icc, 200, 1000))
        MADE[f"{_kind}, ICC {_icc:g}, all of 200"] = partial(means_of, Raters(_kind, _icc, 200, 200))
        MADE[f"{_kind}, ICC {_icc:g}, two systems, 300 of 600"] = partial(
            systems_of, Raters(_kind, _icc, 300, 600, systems=2)
        )
    MADE[f"{_kind}, ICC 0.5, of a population, 100 of 1,000"] = partial(
        means_of, Raters(_kind, 0.5, 100, 1000, endless=True)
    )
    MADE[f"{_kind}, ICC 0.5, two raters each, all of 100"] = partial(
        means_of, Raters(_kind, 0.5, 100, 100, one=2, part=0)
    )
    MADE[f"{_kind}, ICC 0.5, coefficients, 150 of 300"] = partial(coefficients_of, Raters(_kind, 0.5, 150, 300))
    MADE[f"{_kind}, ICC 0.5, coefficients, all of 200"] = partial(coefficients_of, Raters(_kind, 0.5, 200, 200))

LENIENT = "three people who differ in how high they grade, 200 of 1,000"
MADE[LENIENT] = lenient

# Real ratings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Set:
    """Real ratings (units × raters, gaps NaN), scores and plain features that predict them, and the labels to spend."""

    table: FloatArray
    scores: dict[str, FloatArray]
    scale: tuple[float, float]
    labels: int

    @property
    def truth(self) -> float:
        """The mean over the units of what their raters said on average."""
        return float(np.nanmean(self.table, axis=1).mean())


@cache
def ragchecker(criterion: str) -> Set:
    """280 pairs of answers, each judged by two raters, with the metric's differences and those of lengths."""
    people = json.loads((SHARED / "ragchecker/human_labeled_data.json").read_text())
    pairs = json.loads((SHARED / "ragchecker/baseline_ragchecker.json").read_text())
    table = np.array([row[f"{criterion}_label"] for row in people], dtype=float).reshape(-1, 2)
    names = ("correctness_label", "completeness_label", "overall_label")
    scores = {
        name: np.array([pair["model2"]["ragchecker"][name] - pair["model1"]["ragchecker"][name] for pair in pairs])
        for name in names
    }
    lengths = [[math.log1p(len(pair[side]["response"])) for side in ("model1", "model2")] for pair in pairs]
    scores["length"] = np.array([second - first for first, second in lengths])
    return Set(table, scores, (-2.0, 2.0), 120)


@cache
def qags(which: str) -> Set:
    """Sentences of summaries, each judged yes or no by three raters; what of a sentence its article has predicts it."""
    rows, features = list[list[float]](), list[dict[str, float]]()
    for line in (RATED / f"mturk_{which}.jsonl").read_text().splitlines():
        article = json.loads(line)
        text = article["article"].lower()
        words = text.split()
        pairs = set(pairwise(words))
        for number, sentence in enumerate(article["summary_sentences"]):
            said = sentence["sentence"].lower()
            own = said.split()
            rows.append([float(response["response"] == "yes") for response in sentence["responses"]][:3])
            features.append({
                "words there": sum(word in words for word in own) / max(1, len(own)),
                "pairs there": sum(pair in pairs for pair in pairwise(own)) / max(1, len(own) - 1),
                "verbatim": float(said.rstrip(" .") in text),
                "length": math.log1p(len(own)),
                "article": math.log1p(len(words)),
                "place": float(number),
            })  # fmt: skip
    table = np.array([row + [math.nan] * (3 - len(row)) for row in rows])
    return Set(table, {name: np.array([row[name] for row in features]) for name in features[0]}, (0.0, 1.0), 150)


@cache
def dialsummeval(criterion: str) -> Set:
    """1,400 summaries of dialogues, each graded 1 to 5 by three raters, with the published metrics and lengths."""
    rows = [json.loads(line) for line in (RATED / "human_judgment.jsonl").read_text().splitlines()]
    table = np.array([[float(given[criterion]) for given in row["annotations"]] for row in rows])
    metrics = dict[str, list[dict[str, str]]]()
    for model in sorted({row["model_id"] for row in rows}):
        with (RATED / f"models_eval_new/{model}/metrics.csv").open() as file:
            metrics[model] = list(csv.DictReader(file))
    seen = dict.fromkeys(metrics, 0)
    scores: dict[str, list[float]] = {name: [] for name in metrics["A"][0]}
    for row in rows:
        given = metrics[row["model_id"]][seen[row["model_id"]]]
        seen[row["model_id"]] += 1
        for name, column in scores.items():
            column.append(float(given[name] or "nan"))
    scores["length"] = [math.log1p(len(row["summary"])) for row in rows]
    scores["dialogue"] = [math.log1p(len(row["dialogue"])) for row in rows]
    columns = {
        name: np.where(np.isfinite(np.array(column)), np.array(column), np.nan) for name, column in scores.items()
    }
    return Set(table, columns, (1.0, 5.0), 300)


REAL: dict[str, Callable[[], Set]] = {}
if (SHARED / "ragchecker").exists():
    REAL |= {f"RAGChecker, {name}": partial(ragchecker, name) for name in ("correctness", "completeness", "overall")}
for _name, _words in (("cnndm", "CNN/DM"), ("xsum", "XSum")):
    if str(RATED) != "." and (RATED / f"mturk_{_name}.jsonl").exists():
        REAL[f"QAGS, {_words} sentences"] = partial(qags, _name)
if str(RATED) != "." and (RATED / "human_judgment.jsonl").exists():
    REAL |= {
        f"DialSummEval, {name}": partial(dialsummeval, name)
        for name in ("consistency", "relevance", "fluency", "coherence")
    }


def drawn(given: Set, rng: np.random.Generator, items: int, each: int, part: float, *, again: bool) -> LabelsByRater:
    """Labels of so many items by `each` raters, a `part` by as many as rated them; `again`: with replacement."""
    size, most = given.table.shape
    chosen = rng.permutation(size)[:items]
    several = set(chosen[: round(part * items)].tolist())
    table = np.full((size, most), np.nan)
    for unit in chosen.tolist():
        said = given.table[unit]
        said = said[~np.isnan(said)]
        count = min(len(said), most if unit in several else each)
        table[unit, :count] = rng.choice(said, count, replace=again)
    return LabelsByRater.of(table)


@dataclass(frozen=True)
class AtEqualLabels:
    """What 500 splits of a set said of one rater an item, with predictions, beside two raters of half the items."""

    icc: float
    correlation: float
    covers: float
    width: float
    no_wider_than_two: float
    no_wider_than_two_predicted: float
    no_wider_than_twice: float


PART = {2: 0.2, 3: 0.1}
"""The share of the items that all raters label, by how many there are."""


def at_equal_labels(given: Set, times: int = TIMES, seed: int = 1) -> AtEqualLabels:
    """One rater an item, a part by all, with predictions, beside two raters of each: labels alone and predicted.

    Widths are of splits of the ratings as they are. Whether the interval covers is of labels drawn from each item's
    ratings with replacement: what raters say of it on average is known then.
    """
    rng = np.random.default_rng(seed)
    size, most = given.table.shape
    part, labels = PART[most], given.labels
    items = round(labels / (1 + part * (most - 1)))
    found = []

    def estimated(said: LabelsByRater, place: int) -> tuple[Estimate, Estimate, Units]:
        units = Units.of(said, given.scores, n=size, scale=given.scale, seed=place)
        classical, powered = means(units)[:2]
        return classical, powered, units

    for place in range(times):
        _, one, units = estimated(drawn(given, rng, items, 1, part, again=False), place)
        two, two_predicted, _ = estimated(drawn(given, rng, labels // 2, 2, 0, again=False), place)
        twice, *_ = estimated(drawn(given, rng, items, 2, 0, again=False), place)
        _, again, _ = estimated(drawn(given, rng, items, 1, part, again=True), place)
        widths = [2 * (entry.half_width or math.inf) for entry in (one, two, two_predicted, twice)]
        found.append((covers(again, given.truth), correlation_of(units), *widths))
    hit, r, own, two_width, predicted, double = np.array(found).T
    noise = LabelsByRater.of(given.table).noise(size)
    of_means = np.nanmean(given.table, axis=1).var(ddof=1)
    within = 0.0 if noise is None else noise.variance
    between = max(0.0, float(of_means - within * np.mean(1 / (~np.isnan(given.table)).sum(axis=1))))
    return AtEqualLabels(
        between / (between + within),
        float(r.mean()),
        100 * float(hit.mean()),
        float((own / two_width).mean()),
        100 * float((own <= two_width).mean()),
        100 * float((own <= predicted).mean()),
        100 * float((own <= double).mean()),
    )


def correlation_of(units: Units) -> float:
    """Of the combined prediction, cross-fitted, and one rater's labels."""
    labelled = np.flatnonzero(units.labelled)
    f = units.predicted.values[labelled]
    return float(np.corrcoef(f, units.human[labelled])[0, 1]) if f.std() > 0 else 0.0


def error_of_share(percent: float, times: int) -> float:
    """The Monte-Carlo standard error (%) of a share of so many splits."""
    return math.sqrt(max(percent * (100 - percent), 0.0) / times)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    print("| ratings | figure | covers, % | width | effective n |\n|---|---|---|---|---|")
    for design, split in MADE.items():
        if asked.only in design:
            for row in rows_of(design, asked.times, split):
                print(f"| {design} | `{row.figure}` | {row.covered} | {row.width} | {row.effective:g} |", flush=True)
    print("| set | ICC | r | covers, % | width | than two | than two, predicted | than two of as many items |")
    for name, of in REAL.items():
        if asked.only in name:
            made = at_equal_labels(of(), asked.times)
            shares = (made.no_wider_than_two, made.no_wider_than_two_predicted, made.no_wider_than_twice)
            cells = [f"{share:.0f} ± {error_of_share(share, asked.times):.0f}" for share in shares]
            said = f"{made.covers:.1f} ± {error_of_share(made.covers, asked.times):.1f}"
            about = f"{name} | {made.icc:.2f} | {made.correlation:.2f} | {said} | {made.width:.2f}"
            print(f"| {about} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
