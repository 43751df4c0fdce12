"""How often the 95 % intervals hold the truth, by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotators.alignment import Pairs, association, mean_agreement, prediction_powered_mean
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling
from tests.annotators.alignment.makers import by_name

pytestmark = pytest.mark.slow
TIMES = 400


def covers(found: object, truth: float) -> bool:
    low, high = getattr(found, "low"), getattr(found, "high")  # noqa: B009
    return low is not None and high is not None and low <= truth <= high


def normal(rng: np.random.Generator, n: int, rho: float) -> tuple[FloatArray, FloatArray]:
    x = rng.normal(size=n)
    return x, rho * x + math.sqrt(1 - rho**2) * rng.normal(size=n)


def test_correlations_of_sixty_units() -> None:
    """Bivariate normal, ρ = .6: Spearman's population value is 6/π asin(ρ/2), Kendall's 2/π asin(ρ)."""
    rng = np.random.default_rng(0)
    truth = {
        "pearson": 0.6,
        "spearman": 6 / math.pi * math.asin(0.3),
        "kendall_tau_b": 2 / math.pi * math.asin(0.6),
    }
    hits = dict.fromkeys(truth, 0)
    for seed in range(TIMES):
        x, y = normal(rng, 60, 0.6)
        found = by_name(association(Pairs.of(x, y), Resampling(resamples=500, seed=seed)))
        for name, value in truth.items():
            hits[name] += covers(found[name], value)
    assert {name: n / TIMES for name, n in hits.items()} == pytest.approx(dict.fromkeys(truth, 0.945), abs=0.03)


def test_auroc_of_eighty_units() -> None:
    """Positives one standard deviation above negatives: AUROC = Φ(1/√2)."""
    rng = np.random.default_rng(1)
    truth = 0.5 * (1 + math.erf(0.5))
    hits = 0
    for seed in range(TIMES):
        labels = (rng.random(80) < 0.5).astype(float)
        scores = labels + rng.normal(size=80)
        hits += covers(by_name(association(Pairs.of(labels, scores), Resampling(500, seed)))["auroc"], truth)
    assert hits / TIMES == pytest.approx(0.945, abs=0.03)


def test_clustered_correlations_need_their_clusters() -> None:
    """Forty questions of five systems whose answers share a difficulty: ignoring it covers far too seldom."""
    rng = np.random.default_rng(2)
    question = np.repeat(np.arange(40), 5)
    hits = np.zeros(2)
    for seed in range(TIMES):
        x, y = normal(rng, 40, 0.5)
        human = x[question] + 0.5 * rng.normal(size=200)
        metric = y[question] + 0.5 * rng.normal(size=200)
        truth = 0.5 / 1.25
        for place, keys in enumerate((question.tolist(), None)):
            found = association(Pairs.of(human, metric, clusters=keys), Resampling(500, seed))
            hits[place] += covers(by_name(found)["pearson"], truth)
    clustered, naive = hits / TIMES
    assert clustered == pytest.approx(0.94, abs=0.035)
    assert naive < 0.8


def test_the_mean_of_few_skewed_grades() -> None:
    """Nine, eighteen and twelve grades of three groups, mostly fives, as in FATHOMS."""
    rng = np.random.default_rng(3)
    chances = {"a": (0.02, 0.03, 0.05, 0.2, 0.7), "b": (0.1, 0.1, 0.1, 0.2, 0.5), "c": (0.05, 0.05, 0.1, 0.3, 0.5)}
    sizes = {"a": 9, "b": 18, "c": 12}
    means = {name: float(np.dot(p, range(1, 6))) for name, p in chances.items()}
    hits = {"macro": 0, "b": 0}
    for _ in range(TIMES):
        drawn = {name: rng.choice(5, size=sizes[name], p=p) + 1 for name, p in chances.items()}
        grades = [float(grade) for name in chances for grade in drawn[name]]
        groups = [name for name in chances for _ in range(sizes[name])]
        found = mean_agreement(grades, groups, scale=(1, 5))
        macro = next(statistic for statistic in found if statistic.name == "macro_mean_agreement")
        hits["macro"] += covers(macro, sum(means.values()) / 3)
        hits["b"] += covers(by_name(found, group="b")["mean_agreement"], means["b"])
    assert {name: n / TIMES for name, n in hits.items()} == pytest.approx({"macro": 0.955, "b": 0.94}, abs=0.03)


@pytest.mark.parametrize("clustered", [False, True])
def test_prediction_powered_means_hold_the_truth_and_are_shorter(clustered: bool) -> None:
    """The mean of 1,000 units, 60 of them labelled; a metric is biased by .2 but goes with the labels (ρ = .8)."""
    rng = np.random.default_rng(4)
    names = ("classical_mean", "ppi_mean", "ppi_plus_plus_mean")
    hits, widths = np.zeros(3), np.zeros(3)
    for _ in range(TIMES):
        n_questions = 250
        question = np.repeat(np.arange(n_questions), 4)
        shared = rng.normal(size=n_questions)[question] if clustered else 0.0
        y = 3 + shared + rng.normal(size=1000)
        f = y + 0.2 + rng.normal(scale=0.7, size=1000)
        if clustered:
            labelled = np.isin(question, rng.choice(n_questions, 30, replace=False))
        else:
            labelled = np.isin(np.arange(1000), rng.choice(1000, 60, replace=False))
        found = by_name(
            prediction_powered_mean(
                np.where(labelled, y, math.nan), f, clusters=question.tolist() if clustered else None
            )
        )
        hits += [covers(found[name], float(y.mean())) for name in names]
        widths += [(found[name].high or 0) - (found[name].low or 0) for name in names]
    assert hits / TIMES == pytest.approx([0.95] * 3, abs=0.03)
    assert widths[2] < 0.75 * widths[0]


def test_shares_of_decisions_that_are_hardly_ever_wrong() -> None:
    """Forty units, half of them positive, a metric right with probability .96: BCa covered the recall in 54 %."""
    rng = np.random.default_rng(5)
    names = ("accuracy", "precision", "recall")
    hits = np.zeros(3)
    for seed in range(TIMES):
        labels = (rng.random(40) < 0.5).astype(float)
        said = np.where(rng.random(40) < 0.96, labels, 1 - labels)
        found = by_name(association(Pairs.of(labels, said), Resampling(200, seed)))
        hits += [covers(found[name], 0.96) for name in names]
    assert hits / TIMES == pytest.approx([0.965] * 3, abs=0.03)


def test_a_metric_that_is_never_wrong_has_an_interval() -> None:
    labels = [0.0, 1.0] * 10
    for clusters, high in ((None, 0.84), ([i // 2 for i in range(20)], 0.7)):
        found = by_name(association(Pairs.of(labels, labels, clusters=clusters), Resampling(200)))
        for name in ("accuracy", "precision", "recall"):
            assert (found[name].value, found[name].high) == (1.0, 1.0)
            assert 0.6 < (found[name].low or 0) < high
            assert (found[name].method or "").startswith("Wilson score over ")
