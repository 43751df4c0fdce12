"""Worked examples: published ones where there are, else sums that can be followed by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from annotators.alignment import (
    LabelCandidate,
    Pairs,
    alternative_annotator_test,
    anchoring_effect,
    association,
    calibration,
    compare,
    cross_validated,
    differences,
    draw_to_label,
    human_ceiling,
    mean_agreement,
    next_to_label,
    prediction_powered_mean,
    preferred_alike,
    roc_curve,
    steiger_z,
    system_means,
    system_ranking,
    williams_t,
    yielding,
)
from annotators.alignment.statistics.alternative_annotator import benjamini_yekutieli
from annotators.alignment.statistics.base import LEAST_DRAWN
from annotators.alignment.statistics.thresholds import best_threshold
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from tests.annotators.alignment.makers import NO_INTERVALS, by_name

# Correlations --------------------------------------------------------------------------------------------------------


def test_the_three_correlations_of_five_rows() -> None:
    """Human 1 2 3 4 5, metric 2 1 4 3 5.

    Deviations -2..2 and -1 -2 1 0 2: products 2 + 2 + 0 + 0 + 4 = 8, squares 10 and 10: r = .8, and as these are their
    own ranks ρ = .8 (1 - 6·4/(5·24)). Pairs: 8 concordant, 2 discordant of 10: τ = .6.
    """
    found = by_name(association(Pairs.of([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]), NO_INTERVALS))
    values = [found[name].value for name in ("pearson", "spearman", "kendall_tau_b")]
    assert values == pytest.approx([0.8, 0.8, 0.6])


def test_binary_labels_at_the_own_threshold() -> None:
    """Scores .9 .8 .4 .6 .3 .1 of labels 1 1 1 0 0 0: at .5 TP 2, FP 1, FN 1, TN 2.

    Accuracy 4/6, precision 2/3, recall 2/3, F1 2/3, chance .5: κ = (4/6 - .5)/.5 = 1/3. AUROC: of 9 pairs only (.4, .6)
    is the wrong way round: 8/9.
    """
    pairs = Pairs.of([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.4, 0.6, 0.3, 0.1])
    found = by_name(association(pairs, NO_INTERVALS))
    names = ("accuracy", "precision", "recall", "f1", "cohen_kappa", "auroc")
    assert [found[name].value for name in names] == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2 / 3, 1 / 3, 8 / 9])
    assert found["accuracy"].method is not None
    assert "decided at 0.5" in found["accuracy"].method


def test_the_roc_curve_goes_up_by_positives_and_right_by_negatives() -> None:
    curve = roc_curve(Pairs.of([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.4, 0.6, 0.3, 0.1]))
    assert curve.true_positive == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3, 1, 1, 1])
    assert curve.false_positive == pytest.approx([0, 0, 0, 1 / 3, 1 / 3, 2 / 3, 1])
    assert np.trapezoid(curve.true_positive, curve.false_positive) == pytest.approx(8 / 9)


def test_the_best_threshold_lies_between_the_classes() -> None:
    assert best_threshold(np.array([0.1, 0.2, 0.6, 0.8]), np.array([0.0, 0.0, 1.0, 1.0])) == pytest.approx(0.4)


def test_a_metric_that_tells_nothing_gets_no_credit_from_its_threshold() -> None:
    """In-sample the best threshold of noise has κ > 0; chosen without the rows it judges, it has none on average."""
    rng = np.random.default_rng(5)
    kappas, in_sample = [], []
    for _ in range(60):
        pairs = Pairs.of(rng.integers(2, size=40), rng.random(40))
        found = by_name(association(pairs, NO_INTERVALS))
        kappas.append(found["cohen_kappa_best_threshold"].value)
        said = (pairs.metric >= best_threshold(pairs.metric, pairs.human)).astype(float)
        in_sample.append(by_name(association(Pairs.of(pairs.human, said), NO_INTERVALS))["cohen_kappa"].value or 0.0)
    assert np.mean(in_sample) > 0.15
    assert abs(np.mean([kappa or 0.0 for kappa in kappas])) < 0.08


def test_a_question_is_never_on_both_sides_of_the_threshold() -> None:
    """Ten questions of two items; within a question both items share label and score, so a split would give it away."""
    rng = np.random.default_rng(1)
    question = np.repeat(np.arange(10), 2)
    labels, scores = np.repeat(rng.integers(2, size=10), 2), np.repeat(rng.random(10), 2)
    pairs = Pairs.of(labels, scores, clusters=question.tolist())
    made = cross_validated(pairs, folds=10)
    for seed in range(10):
        here = pairs.cluster == seed
        threshold = best_threshold(pairs.metric[~here], pairs.human[~here])
        assert made.said[here] == pytest.approx((pairs.metric[here] >= threshold).astype(float))


# Means ---------------------------------------------------------------------------------------------------------------


def test_table_i_of_fathoms_is_the_unweighted_mean_of_its_groups() -> None:
    """FATHOMS-RAG, table I: (5.00 + 4.44 + 4.42) / 3 = 4.62 and (4.89 + 3.94 + 4.75) / 3 = 4.53.

    The grades are made up to have the table's means: 9 answers of three, 18 of six and 12 of four result files, 3 each.
    """
    correctness = {
        "Docling with EasyOCR": [5] * 9,
        "LlamaIndex RAG": [5] * 14 + [3, 3, 2, 2],
        "Closed": [5] * 10 + [2, 1],
    }
    hallucination = {
        "Docling with EasyOCR": [5] * 8 + [4],
        "LlamaIndex RAG": [5] * 12 + [3, 2, 2, 2, 1, 1],
        "Closed": [5] * 9 + [4] * 3,
    }
    for table, means, overall in (
        (correctness, (5.00, 4.44, 4.42), 4.62),
        (hallucination, (4.89, 3.94, 4.75), 4.53),
    ):
        grades = [grade for group in table.values() for grade in group]
        groups = [name for name, group in table.items() for _ in group]
        found = mean_agreement(grades, groups, scale=(1, 5), by="group")
        by_group = {statistic.group: statistic for statistic in found if statistic.name == "mean_agreement"}
        assert [round(by_group[name].value or 0, 2) for name in table] == list(means)
        assert [by_group[name].n for name in table] == [9, 18, 12]
        [macro] = [statistic for statistic in found if statistic.name == "macro_mean_agreement"]
        assert round(macro.value or 0, 2) == overall
        assert macro.n == 39
        assert macro.low is not None
        assert macro.high is not None
        assert macro.low < (macro.value or 0) < macro.high <= 5
        assert by_group[None].value == pytest.approx(np.mean(grades))


def test_the_interval_of_a_mean_is_students_and_ends_at_the_scale() -> None:
    """Grades 5 5 4 5 3: mean 4.4, s² = .8, standard error .4, t(4) = 2.776: 3.289 to 5.511; 30 of them are cut at 5."""
    [found] = mean_agreement([5, 5, 4, 5, 3])
    assert (found.value, found.low, found.high) == pytest.approx((4.4, 3.2894, 5.5106), abs=1e-4)
    [found] = mean_agreement([5] * 29 + [2], scale=(1, 5))
    assert found.interval is not None
    assert (found.interval.kind, found.high) == ("t", 5.0)


def test_of_few_grades_on_a_scale_the_variance_that_it_allows_counts_as_well() -> None:
    """Grades 5 5 4 5 3 are .85 of the scale; s² = .05, bound (5.25 / 7)(1.75 / 7) = .1875, t(6) = 2.447.

    Variance (4 · .05 + 2 · .1875) / 6 = .0958: 5 · .1875 / .0958 = 9.783 labels. Wilson: middle (.85 + .3060) /
    1.6121 = .7171, reach √(.1275 / 9.783 + .6121 / 39.13) · 2.447 / 1.6121 = .2570: .4601 to .9741.
    """
    [found] = mean_agreement([5, 5, 4, 5, 3], scale=(1, 5))
    assert (found.value, found.low, found.high) == pytest.approx((4.4, 2.8403, 4.8966), abs=1e-3)
    assert found.method == "score interval of a bounded mean over units, 95 %"


def test_grades_that_are_all_alike_have_an_interval_on_a_scale_and_else_none() -> None:
    [three] = mean_agreement([5, 5, 5], scale=(1, 5))
    [many] = mean_agreement([5] * 60, scale=(1, 5))
    assert three.high == many.high == 5.0
    assert three.low is not None
    assert many.low is not None
    assert 2.5 < three.low < 3.5
    assert 4.7 < many.low < 5
    [nowhere] = mean_agreement([5, 5, 5])
    assert (nowhere.value, nowhere.low, nowhere.high) == (5.0, None, None)
    assert nowhere.method == "mean; no interval: all values are equal, which says nothing of others"


def test_the_mean_of_means_has_satterthwaites_degrees_of_freedom() -> None:
    """Two groups of 3 with s² = 1 and s² = 1/3: (1/3 + 1/9)² / ((1/9 + 1/81) / 2) = 3.2 degrees of freedom.

    Where both groups have the same questions they are one part, with 2.
    """
    grades, groups = [1, 2, 3, 4, 4, 5], [*"aaa", *"bbb"]
    apart = mean_agreement(grades, groups)[-1]
    assert apart.interval is not None
    assert apart.interval.freedom == pytest.approx(3.2)
    assert apart.interval.error == pytest.approx(math.sqrt(1 / 3 + 1 / 9) / 2)
    together = mean_agreement(grades, groups, clusters=[0, 1, 2, 0, 1, 2])[-1]
    assert together.interval is not None
    assert together.interval.freedom == pytest.approx(2)


def test_items_of_one_question_count_as_one_for_the_interval() -> None:
    """Every grade twice under one question is no more than every grade once."""
    [once] = mean_agreement([5, 5, 4, 5, 3])
    [twice] = mean_agreement([5, 5, 4, 5, 3] * 2, clusters=[*range(5), *range(5)])
    assert (twice.value, twice.low, twice.high) == pytest.approx((once.value, once.low, once.high))
    assert twice.n == 10


# Two metrics ---------------------------------------------------------------------------------------------------------


def test_williams_t_of_steigers_example() -> None:
    """The example of psych::r.test after Steiger (1980): n 103, r12 .4, r13 .5, r23 .1 gives t = -.89.

    By hand: |R| = 1 - .16 - .25 - .01 + .04 = .62; below 2 · .62 · 102/100 + .45² · .9³ = 1.2648 + .1476 = 1.4124; t =
    -.1 √(102 · 1.1 / 1.4124) = -.8913.
    """
    found = williams_t(0.4, 0.5, 0.1, 103)
    assert found.value == pytest.approx(-0.1 * math.sqrt(102 * 1.1 / 1.4124225), abs=1e-6)
    assert round(found.value or 0, 2) == -0.89
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.8913, 100), abs=1e-4)
    assert williams_t(0.5, 0.4, 0.1, 103).value == pytest.approx(-(found.value or 0))


def test_steigers_z_by_hand() -> None:
    """n 103, r12 .5, r13 .4, r23 .1: r̄² = .2025; ψ = .1 · .595 - .2025 (.595 - .01)/2 = .0595 - .05923 = .00027.

    s = .00027 / .7975² = .00042; z = (.5493 - .4236) √100 / √(2 - 2 s) = 1.2566 / 1.41391 = .8888.
    """
    found = steiger_z(0.5, 0.4, 0.1, 103)
    psi = 0.1 * 0.595 - 0.2025 * 0.585 / 2
    by_hand = (math.atanh(0.5) - math.atanh(0.4)) * 10 / math.sqrt(2 - 2 * psi / 0.7975**2)
    assert found.value == pytest.approx(by_hand)
    assert round(found.value or 0, 3) == 0.889


def test_williams_and_steiger_keep_their_level() -> None:
    """Two equally good metrics of 60 rows: 5 % of 2,000 tests reject, within sampling error (σ = .5 %)."""
    rng = np.random.default_rng(3)
    rejected = np.zeros(2)
    for _ in range(2000):
        human = rng.normal(size=60)
        first, second = human + rng.normal(size=60), human + rng.normal(size=60)
        r = np.corrcoef([human, first, second])
        tests = (williams_t(r[0, 1], r[0, 2], r[1, 2], 60), steiger_z(r[0, 1], r[0, 2], r[1, 2], 60))
        rejected += [(test.p_value or 0) < 0.05 for test in tests]
    assert rejected / 2000 == pytest.approx([0.05, 0.05], abs=0.015)


@pytest.mark.parametrize(("n", "is_there"), [(LEAST_DRAWN - 1, False), (LEAST_DRAWN, True)])
def test_so_many_units_have_an_interval_and_one_less_has_none(n: int, is_there: bool) -> None:
    human, metric = [float(place) for place in range(n)], [float(place % 7) for place in range(n)]
    found = by_name(association(Pairs.of(human, metric), Resampling(resamples=100)))["pearson"]
    assert found.value is not None
    assert (found.low is not None) is is_there


def test_pairwise_accuracy_by_hand() -> None:
    """Of six pairs people prefer one in five: right, right, wrong, equal scores (half), right: 3.5 of 5."""
    human, metric = [2, -1, -2, 1, 0.5, 0], [0.4, -0.1, 0.2, (0.1 + 0.2) - 0.3, 0.3, 0.9]
    found = preferred_alike(Pairs.of(human, metric), metric="m")
    assert (found.name, found.metric, found.value, found.n) == ("pairwise_accuracy", "m", 0.7, 5)
    assert (found.low, found.high) == (None, None)
    assert (found.method or "").startswith("no interval: 6 units are too few, at least 10 are needed")
    twice = preferred_alike(Pairs.of(human * 2, metric * 2))
    assert (twice.value, twice.n) == (0.7, 10)
    assert twice.low is not None
    assert twice.high is not None
    assert twice.low < 0.7 < twice.high
    assert "1 with equal scores, which count by half; 1 without a preference left out" in (found.method or "")
    turned = preferred_alike(Pairs.of([-value for value in human], [-value for value in metric]))
    assert turned.value == 0.7, "which answer of a pair comes first does not matter"


def test_pairwise_accuracy_takes_pairs_of_a_question_together() -> None:
    """Ten pairs of each of 30 questions, all right or all wrong: as uncertain as 30 pairs, not as 300."""
    rng = np.random.default_rng(6)
    said = np.where(rng.random(30) < 0.7, 1.0, -1.0)
    alone = preferred_alike(Pairs.of(np.ones(30), said))
    together = preferred_alike(Pairs.of(np.ones(300), np.repeat(said, 10), clusters=np.repeat(np.arange(30), 10)))
    assert together.value == alone.value == np.mean(said > 0)
    width = [(found.high or 0) - (found.low or 0) for found in (together, alone)]
    assert width[0] == pytest.approx(width[1], rel=0.15)
    assert "over questions" in (together.method or "")


@pytest.mark.parametrize(
    ("human", "reason"),
    [([0, 0, 0], "prefer neither"), ([math.nan] * 3, "no pair has both")],
)
def test_pairwise_accuracy_needs_a_preference(human: list[float], reason: str) -> None:
    found = preferred_alike(Pairs.of(human, [0.1, 0.2, -0.3]))
    assert (found.value, found.n) == (None, 0)
    assert reason in (found.reason or "")


def test_a_metric_compared_with_itself_differs_by_nothing() -> None:
    pairs = Pairs.of([1, 2, 3, 4, 5, 5], [0.1, 0.3, 0.2, 0.6, 0.9, 0.8])
    found = by_name(compare(pairs, pairs.metric, Resampling(resamples=50)))
    assert (found["difference_pearson"].value, found["difference_spearman"].value) == (0, 0)
    assert found["williams_t"].value is None
    assert "perfectly correlated" in (found["williams_t"].reason or "")


def test_the_difference_is_resampled_in_pairs() -> None:
    """Two metrics that are nearly the same: each is uncertain, their difference is not."""
    rng = np.random.default_rng(2)
    human = rng.normal(size=100)
    metric = human + rng.normal(size=100)
    pairs = Pairs.of(human, metric)
    other = pairs.metric + rng.normal(scale=0.01, size=100)
    difference = by_name(compare(pairs, other))["difference_pearson"]
    alone = by_name(association(pairs))["pearson"]
    assert difference.low is not None
    assert difference.high is not None
    assert alone.low is not None
    assert alone.high is not None
    assert difference.high - difference.low < (alone.high - alone.low) / 20


# Systems -------------------------------------------------------------------------------------------------------------


def test_systems_ranked_by_people_and_by_a_metric() -> None:
    """Means by people 1, 2, 3 and by the metric .1, .5, .4: two of three pairs alike, τ = (2 - 1)/3."""
    systems = ["a", "a", "b", "b", "c", "c"]
    pairs = Pairs.of([1, 1, 2, 2, 3, 3], [0.1, 0.1, 0.4, 0.6, 0.4, 0.4], groups=systems)
    assert [(mean.system, mean.human, mean.n) for mean in system_means(pairs)] == [
        ("c", 3, 2),
        ("b", 2, 2),
        ("a", 1, 2),
    ]
    found = by_name(system_ranking(pairs, NO_INTERVALS))
    assert found["system_kendall_tau_b"].value == pytest.approx(1 / 3)
    assert found["system_pairwise_accuracy"].value == pytest.approx(2 / 3)
    assert found["system_pairwise_accuracy"].n == 3


def test_a_tie_of_the_metric_is_half_a_pair() -> None:
    pairs = Pairs.of([1, 1, 2, 2], [0.5, 0.5, 0.5, 0.5], groups=["a", "a", "b", "b"])
    found = by_name(system_ranking(pairs, NO_INTERVALS))
    assert found["system_pairwise_accuracy"].value == pytest.approx(0.5)
    assert found["system_kendall_tau_b"].reason == "people or the metric give all systems the same mean"


# Calibration ---------------------------------------------------------------------------------------------------------


def test_the_calibration_error_by_hand() -> None:
    """Two bins: .2 .2 with labels 0 1 (|.5 - .2| = .3) and .9 .9 with 1 1 (|1 - .9| = .1): (2 · .3 + 2 · .1)/4 = .2."""
    found, curve = calibration(Pairs.of([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9]), Resampling(resamples=100))
    assert found.value == pytest.approx(0.2)
    assert [(bin_.start, bin_.n, bin_.human) for bin_ in curve] == [(0.2, 2, 0.5), (0.9, 2, 1.0)]


def calibrated(n: int, seed: int, *, shift: float = 0.0, alike: int = 1) -> Aligned:
    """The error of a metric whose values are how often people say yes, but for a shift; `alike` labels a question."""
    rng = np.random.default_rng(seed)
    metric = rng.random(n // alike)
    said = (rng.random(n // alike) < metric - shift).astype(float)
    clusters = np.repeat(np.arange(n // alike), alike).tolist()
    rows = Pairs.of(np.repeat(said, alike).tolist(), np.repeat(metric, alike), clusters=clusters)
    return calibration(rows, Resampling(resamples=200, seed=seed))[0]


@pytest.mark.parametrize("alike", [1, 3])
def test_the_interval_of_a_calibrated_metric_holds_0_and_its_test_keeps_its_level(alike: int) -> None:
    """Of 100 metrics that are calibrated 93 do, give or take 5 (two standard errors); the error itself is never 0."""
    found = [calibrated(100 * alike, seed, alike=alike) for seed in range(100)]
    assert sum(one.low == 0 for one in found) >= 88
    assert sum((one.p_value or 0) < 0.05 for one in found) <= 12
    errors = [one.value or 0 for one in found]
    assert np.mean(errors) == pytest.approx(0.1, abs=0.02)
    shown = [float((one.method or "").split("would show ")[1].split()[0]) for one in found]
    assert np.mean(shown) == pytest.approx(np.mean(errors), abs=0.015)


def test_a_metric_that_is_far_off_is_found_out_and_its_error_covered() -> None:
    """People say yes in .25 fewer cases than the metric says, where that can be: an error of .219."""
    found = [calibrated(200, seed, shift=0.25) for seed in range(40)]
    assert all((one.p_value or 1) < 0.05 for one in found)
    assert sum((one.low or 0) <= 0.219 <= (one.high or 0) for one in found) >= 36


def test_grades_are_put_on_the_metrics_scale() -> None:
    found, _ = calibration(Pairs.of([1, 3, 5], [0.0, 0.5, 1.0]), NO_INTERVALS, scale=(1, 5))
    assert found.value == pytest.approx(0.0)


# People --------------------------------------------------------------------------------------------------------------


def test_the_human_ceiling_by_hand() -> None:
    """Three people, four units. Each against the mean of the other two, by NumPy's own correlation."""
    given = {"a": [1, 2, 3, 4], "b": [1, 3, 2, 4], "c": [2, 1, 3, 4]}
    people = {name: dict(enumerate(map(float, labels))) for name, labels in given.items()}
    metric = {0: 0.1, 1: 0.9, 2: 0.3, 3: 0.8}
    found = by_name(human_ceiling(people, metric, NO_INTERVALS))
    ceiling, to_rest = [], []
    for name, own in given.items():
        rest = np.mean([labels for other, labels in given.items() if other != name], axis=0)
        ceiling.append(np.corrcoef(own, rest)[0, 1])
        to_rest.append(np.corrcoef(list(metric.values()), rest)[0, 1])
    assert found["human_ceiling_pearson"].value == pytest.approx(np.mean(ceiling))
    assert found["metric_to_rest_pearson"].value == pytest.approx(np.mean(to_rest))
    assert found["human_ceiling_pearson"].n == 3


def test_the_ceiling_of_yes_and_no_is_against_the_majority_of_the_rest() -> None:
    """b and c agree throughout; a is with them on 3 of 4. The rest of b, and of c, splits on unit 2: left out."""
    people = {
        "a": {0: 1.0, 1: 1.0, 2: 0.0, 3: 0.0},
        "b": {0: 1.0, 1: 1.0, 2: 1.0, 3: 0.0},
        "c": {0: 1.0, 1: 1.0, 2: 1.0, 3: 0.0},
    }
    found = by_name(human_ceiling(people, asked=NO_INTERVALS, binary=True))
    assert found["human_ceiling_accuracy"].value == pytest.approx((3 / 4 + 1 + 1) / 3)


def test_the_alternative_annotator_test_by_hand() -> None:
    """40 units, three annotators who say 1 except that each errs on units of their own; the judge never errs.

    On a unit where annotator a errs (10 of 40) the others say 1, 1: the judge wins alone. Where b or c errs (20), the
    others say 1, 0: judge and a both have half of them right, a tie that both win. So the judge wins all 40 and each
    annotator 30: ρ = 1, difference -10/40.
    """
    people = {
        name: {unit: float(unit not in range(10 * place, 10 * place + 10)) for unit in range(40)}
        for place, name in enumerate("abc")
    }
    judge = dict.fromkeys(range(40), 1.0)
    found = alternative_annotator_test(people, judge, epsilon=0.1)
    first = by_name(found)
    assert first["alt_test_winning_rate"].value == 1.0
    assert first["alt_test_advantage"].value == 1.0
    statistic = next(entry for entry in found if entry.against == "a")
    lead = np.r_[np.full(10, -1.0), np.zeros(30)]
    assert statistic.p_value == pytest.approx(stats.ttest_1samp(lead, 0.1, alternative="less").pvalue)


def test_a_judge_who_guesses_beats_nobody() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=80)
    people = {name: {u: float(t if rng.random() < 0.95 else 1 - t) for u, t in enumerate(truth)} for name in "abcd"}
    judge = {unit: float(rng.integers(2)) for unit in range(80)}
    found = by_name(alternative_annotator_test(people, judge, epsilon=0.1))
    assert found["alt_test_winning_rate"].value == 0.0
    assert 0.4 < (found["alt_test_advantage"].value or 0) < 0.8


@pytest.mark.slow
def test_fewer_than_thirty_units_are_tested_by_wilcoxon() -> None:
    people = {name: dict.fromkeys(range(12), 1.0) for name in "abc"}
    found = alternative_annotator_test(people, dict.fromkeys(range(12), 1.0))
    assert "Wilcoxon" in (found[-1].method or "")


def test_benjamini_yekutieli_by_hand() -> None:
    """m = 3, Σ 1/i = 11/6: thresholds k/3 · .05 / (11/6) = .00909, .01818, .02727. p .005, .02, .027.

    The largest k with p_(k) below its threshold is 3 (.027 ≤ .02727): all three are rejected, .02 too.
    """
    assert benjamini_yekutieli([0.02, 0.005, 0.027], 0.05) == [True, True, True]
    assert benjamini_yekutieli([0.02, 0.005, 0.028], 0.05) == [False, True, False]


# Prediction-powered --------------------------------------------------------------------------------------------------


def test_the_prediction_powered_mean_by_hand() -> None:
    """Labelled y 4 1 3 with f 3 2 2, others f 2 3: mean f 2.4 + mean(y - f) (1 - 1 + 1)/3 = .333: 2.733.

    s² of y - f (1, -1, 1) is 4/3; three of these five are known: 4/3 / 3 · (1 - 3/5) = .1778. Of an endless population,
    instead, 4/3 / 3 and what the mean of the five f adds: each unit's influence is (y - f - 1/3) √1.5 / 3 and (f - 2.4)
    √1.25 / 5.
    """
    nan = math.nan
    labels, scores = np.array([4, 1, 3, nan, nan]), np.array([3.0, 2, 2, 2, 3])
    found = by_name(prediction_powered_mean(labels, scores, NO_INTERVALS))
    assert found["classical_mean"].value == pytest.approx(8 / 3)
    assert found["ppi_mean"].value == pytest.approx(2.4 + 1 / 3)
    t = stats.t.ppf(0.975, 2)
    assert found["ppi_mean"].high == pytest.approx(2.4 + 1 / 3 + t * math.sqrt(4 / 3 / 3 * 2 / 5))
    assert found["classical_mean"].high == pytest.approx(8 / 3 + t * math.sqrt(7 / 3 / 3 * 2 / 5))
    assert "the mean of these 5 units" in (found["ppi_mean"].method or "")
    endless = by_name(prediction_powered_mean(labels, scores, NO_INTERVALS, finite=False))["ppi_mean"]
    own = (np.array([1, -1, 1, 0, 0]) - np.array([1, 1, 1, 0, 0]) / 3) * math.sqrt(1.5) / 3
    both = own + (scores - 2.4) * math.sqrt(1.25) / 5
    assert endless.high == pytest.approx(2.4 + 1 / 3 + t * math.sqrt((both**2).sum()))


def test_the_tuned_lambda_is_the_slope_of_people_on_the_metric() -> None:
    """λ = cov(y, f) / var(f) of the labelled: the paper's is the same estimate, whose mean of f is over the others."""
    rng = np.random.default_rng(4)
    f = rng.random(2000)
    y = np.where(np.arange(2000) < 100, (rng.random(2000) < f).astype(float), np.nan)
    found = by_name(prediction_powered_mean(y, f))["ppi_plus_plus_mean"]
    best = np.cov(y[:100], f[:100])[0, 1] / f[:100].var(ddof=1)
    assert found.method is not None
    assert float(found.method.split("λ = ")[1].split(",")[0]) == pytest.approx(best, abs=0.005)
    others, n = f[100:].mean(), 100 / 1900
    papers = best / (1 + n) * (others - f[:100].mean()) + y[:100].mean()
    assert found.value == pytest.approx(papers, abs=1e-9)


def test_a_mean_stays_on_its_scale_and_of_rare_labels_it_is_wilsons() -> None:
    y = np.full(1000, np.nan)
    y[:30] = 0.0
    f = np.random.default_rng(0).random(1000)
    found = by_name(prediction_powered_mean(y, f, scale=(0.0, 1.0)))["classical_mean"]
    t = stats.t.ppf(0.975, 29)
    n = 30 / (1 - 30 / 1000)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(t * t / (n + t * t))  # Wilson's upper end of 0 of n
    assert "Wilson interval" in (found.method or "")
    grades = np.full(40, np.nan)
    grades[:4] = (5, 5, 5, 4)
    ends = by_name(prediction_powered_mean(grades, np.linspace(0, 1, 40), scale=(1.0, 5.0)))["classical_mean"]
    assert ends.high == 5.0


@pytest.mark.parametrize("labels", [[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1], [1, 0, 1, 0, 1, 1] * 5])
def test_what_comes_back_can_be_written_as_json(labels: list[float]) -> None:
    """Wilson's ends, too: a number of numpy's own stopped `assay alignment --json` for yes-no labels."""
    human = np.array([*labels, *[math.nan] * 20])
    metric = np.linspace(0, 1, len(human))
    found = prediction_powered_mean(human, metric, scale=(0, 1))
    assert json.loads(json.dumps([statistic.to_json() for statistic in found]))[0]["low"] is not None


def test_what_is_labelled_throughout_is_known() -> None:
    found = prediction_powered_mean(np.array([1.0, 2, 5]), np.array([1.0, 0, 0]))[0]
    assert (found.low, found.value, found.high) == pytest.approx((8 / 3, 8 / 3, 8 / 3))


def test_each_stratum_has_a_lambda_of_its_own_where_it_has_labels_enough() -> None:
    rng = np.random.default_rng(1)
    strata = ["a"] * 300 + ["b"] * 300
    y = rng.normal(size=600)
    f = np.where(np.arange(600) < 300, y, -y) + 0.3 * rng.normal(size=600)
    labelled = np.isin(np.arange(600) % 300, np.arange(30))
    given = np.where(labelled, y, np.nan)
    own = by_name(prediction_powered_mean(given, f, strata=strata))["ppi_plus_plus_mean"]
    statistic = by_name(prediction_powered_mean(given, f))["ppi_plus_plus_mean"]
    assert "λ by stratum from −0." in (own.method or "")
    assert (own.high or 0) - (own.low or 0) < 0.5 * ((statistic.high or 0) - (statistic.low or 0))
    assert own.n_effective is not None
    assert own.n_effective > 4 * 60
    assert f"worth {own.n_effective:.0f} labels instead of 60" in (own.method or "")


def test_labels_that_were_drawn_with_known_probabilities_are_weighed_by_them() -> None:
    """Half of the units with y = 1 are drawn and a tenth of those with y = 0: 5 / .5 and 1 / .1 are 10 of each."""
    y = np.array([*[1.0] * 5, 0.0, *[math.nan] * 14])
    drawn = np.array([*[0.5] * 5, 0.1, *[0.3] * 14])
    f = np.random.default_rng(2).random(20)
    found = by_name(prediction_powered_mean(y, f, probabilities=drawn))["classical_mean"]
    assert found.value == pytest.approx(0.5)
    with pytest.raises(InvalidInput, match="no probability between 0 and 1"):
        prediction_powered_mean(y, f, probabilities=np.zeros(20))


def test_a_useless_metric_does_no_harm() -> None:
    rng = np.random.default_rng(8)
    y = np.where(np.arange(1000) < 80, rng.integers(2, size=1000).astype(float), np.nan)
    found = by_name(prediction_powered_mean(y, rng.normal(size=1000)))

    def width(name: str) -> float:
        return (found[name].high or 0) - (found[name].low or 0)

    assert width("ppi_plus_plus_mean") <= width("classical_mean") * 1.001
    assert width("ppi_mean") > width("classical_mean") * 1.5


def test_strata_are_weighed_by_their_size() -> None:
    """Stratum a: 8 units, mean of the labelled 1; b: 2 units... 12 and 4: (12 · 1 + 4 · 0)/16 = .75, not 2/4."""
    human = np.array([1.0, 1.0, *[math.nan] * 10, 0.0, 0.0, math.nan, math.nan])
    metric = np.linspace(0, 1, 16)
    strata = ["a"] * 12 + ["b"] * 4
    assert by_name(prediction_powered_mean(human, metric, strata=strata))["classical_mean"].value == pytest.approx(0.75)
    assert by_name(prediction_powered_mean(human, metric))["classical_mean"].value == pytest.approx(0.5)


# Anchoring -----------------------------------------------------------------------------------------------------------


def test_anchoring_is_the_mean_difference_of_shared_units() -> None:
    seen = {"x": 5.0, "y": 4.0, "z": 5.0, "only": 1.0}
    blind = {"x": 4.0, "y": 4.0, "z": 3.0}
    found = anchoring_effect(seen, blind, Resampling(resamples=200))
    assert (found.value, found.n) == (1.0, 3)
    assert "paired" in (found.method or "")


def test_arms_without_shared_units_are_compared_by_welch() -> None:
    a, b = [5.0, 4.0, 5.0, 5.0], [3.0, 4.0, 2.0, 4.0, 4.0]
    found = anchoring_effect(dict(enumerate(a)), dict(enumerate(b, start=10)))
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_yielding_counts_those_who_agree_with_what_they_had_judged_otherwise() -> None:
    """Distances 0, .5, .5, 1: three far ones, of which two were graded 4 or 5."""
    blind = {1: 1.0, 2: 0.5, 3: 0.5, 4: 0.0}
    score = {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}
    grade = {1: 5.0, 2: 4.0, 3: 2.0, 4: 5.0}
    found = by_name(yielding(blind, score, grade, NO_INTERVALS))
    assert found["blind_distance"].value == pytest.approx(0.5)
    assert (found["yielding"].value, found["yielding"].n) == (pytest.approx(2 / 3), 3)


# Units ---------------------------------------------------------------------------------------------------------------


def test_the_units_farthest_apart_come_first() -> None:
    pairs = Pairs.of([1, 5, 3], [0.9, 1.0, 0.5], units=["low", "high", "mid"])
    found = differences(pairs, scale=(1, 5), metric_scale=(0, 1))
    assert [(unit.unit, unit.difference) for unit in found] == [("low", 0.9), ("high", 0.0), ("mid", 0.0)]


def test_without_a_common_scale_ranks_are_compared() -> None:
    pairs = Pairs.of([1, 2, 3, 4], [400, 200, 300, 100], units="abcd")
    found = {difference.unit: difference.difference for difference in differences(pairs)}
    assert found == pytest.approx({"a": 0.75, "b": 0, "c": 0, "d": -0.75})


def test_where_metrics_disagree_a_label_tells_most() -> None:
    scores = {"m": [0.1, 0.2, 0.3, 0.9], "k": [0.1, 0.2, 0.9, 0.3]}
    found = next_to_label(["a", "b", "c", "d"], scores)
    assert found[0].unit == "c"
    assert {unit.unit: unit.disagreement for unit in found} == pytest.approx({"a": 0, "b": 0, "c": 0.25, "d": 0.25})


def test_where_people_disagree_at_a_score_a_label_tells_most() -> None:
    """Labels are 0 below .4, 1 above .6, and mixed between."""
    metric = np.linspace(0, 1, 61)
    human = [float(m > 0.6 or (m >= 0.4 and i % 2)) for i, m in enumerate(metric)]
    found = next_to_label(["low", "middle", "high"], {"m": [0.05, 0.5, 0.95]}, labelled=Pairs.of(human, metric))
    assert found[0].unit == "middle"
    assert found[0].uncertainty > 0.9
    assert found[-1].uncertainty == 0


def test_one_item_of_each_question_comes_first() -> None:
    found = next_to_label(list("abcd"), {"m": [0.5, 0.51, 0.0, 1.0]}, clusters=["q", "q", "r", "s"])
    assert {unit.unit for unit in found[:3]} >= {"c", "d"}


# A draw to label ------------------------------------------------------------------------------------------------------


def candidates(n: int) -> list[LabelCandidate]:
    worth = np.random.default_rng(0).random(n) ** 3
    return [LabelCandidate(i, 0.0, float(w), float(w)) for i, w in enumerate(worth)]


def test_a_draw_takes_units_as_often_as_it_says() -> None:
    there = candidates(40)
    taken, said = np.zeros(40), np.zeros(40)
    for seed in range(3000):
        drawn = draw_to_label(there, 8, seed=seed)
        assert len(drawn) == 8
        for unit in drawn:
            taken[int(str(unit.unit))] += 1
            said[int(str(unit.unit))] = unit.probability
    assert taken / 3000 == pytest.approx(said, abs=0.035)
    assert said.min() >= 0.5 * 8 / 40
    assert said.max() > 2 * said.min()
    assert draw_to_label(there, 8, seed=3) == draw_to_label(there, 8, seed=3)


def test_no_probability_is_above_one_and_all_are_taken_where_there_are_no_more() -> None:
    there = [LabelCandidate(0, 1.0, 1.0, 1.0), *[LabelCandidate(i, 0.0, 0.0, 0.0) for i in range(1, 9)]]
    drawn = draw_to_label(there, 4, seed=1)
    assert (drawn[0].unit, drawn[0].probability, len(drawn)) == (0, 1.0, 4)
    assert [unit.probability for unit in drawn[1:]] == pytest.approx([3 / 8] * 3)
    assert [unit.probability for unit in draw_to_label(there, 20)] == [1.0] * 9
    with pytest.raises(InvalidInput, match="0 units"):
        draw_to_label(there, 0)


@pytest.mark.parametrize("n_strata", [1, 2, 3])
def test_each_stratum_takes_a_degree_of_freedom_of_the_interval_of_a_mean(n_strata: int) -> None:
    """How much wider 95 % is than 50 % tells the degrees of freedom of t, whatever the standard error."""
    rng = np.random.default_rng(0)
    human = np.where(np.arange(60) < 9, rng.normal(size=60), np.nan)
    halves = []
    for level in (0.95, 0.5):
        found = prediction_powered_mean(
            human, rng.normal(size=60), Resampling(level=level), strata=(np.arange(60) % n_strata).tolist()
        )[0]
        assert found.low is not None
        assert found.high is not None
        halves.append(found.high - found.low)
    freedom = 9 - n_strata
    expected = stats.t.ppf(0.975, freedom) / stats.t.ppf(0.75, freedom)
    assert halves[0] / halves[1] == pytest.approx(expected)
