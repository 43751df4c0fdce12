"""Each figure of an estimate beside its formula, written down anew: strata, clusters, weights, differences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from annotators.arrays import FloatArray
from annotators.estimates.limits import Limits
from annotators.estimates.means import (
    ACTIVE,
    CLASSICAL,
    HELPS,
    POWERED,
    difference,
    differences,
    mean_of,
    means,
    numbered,
    ranks,
    saves,
    what_was_used,
    why_not,
)
from annotators.estimates.sample import Units
from annotators.estimates.sequence import ALIKE, FIRST, differences_at_any_time, mean_at_any_time
from annotators.intervals.shares import wilson_ends
from tests.annotators.estimates.makers import NAN, correlated, named, units_of

N, PART = 200, 80


def strata_of(seed: int = 0, **about: object) -> tuple[Units, FloatArray]:
    """200 units of two strata of unequal size, which differ in their means; and what each would be labelled."""
    rng = np.random.default_rng(seed)
    stratum = np.arange(N) < PART
    y = rng.normal(size=N) + np.where(stratum, 2.0, 0.0)
    score = y + 0.5 * rng.normal(size=N)
    drawn = np.concatenate([np.arange(PART) < 30, np.arange(N - PART) < 25])
    human = np.where(drawn, y, NAN)
    return units_of(human.tolist(), score.tolist(), strata=np.where(stratum, "a", "b").tolist(), **about), y  # type: ignore[arg-type]


@pytest.mark.parametrize("population", [None, math.inf])
def test_a_stratified_mean_with_predictions_by_its_formula(population: float | None) -> None:
    """Σ W (λ f̄ + mean(y - λ f)), variance Σ W² (1 - n/N) S²(y - λ f) / n; without end, the predictions' own as well."""
    units, _ = strata_of(population=population)
    made = mean_of(units)
    assert made.limits is not None
    values, f, whole = units.human, units.predicted.values, 0.0
    variance, names = 0.0, ["a", "b"]
    for place, name in enumerate(units.strata):
        here = np.array([(at < PART) == (name == "a") for at in range(N)])
        known, share, factor = here & ~np.isnan(values), here.sum() / N, made.factors[place]
        residual = values[known] - factor * f[known]
        whole += share * (factor * f[here].mean() + residual.mean())
        n = known.sum()
        if population is None:
            variance += share**2 * (1 - n / here.sum()) * residual.var(ddof=1) / n
        else:
            # the influence of a unit on the mean of all: its residual, where it is labelled, and λ f of every unit
            of_all = factor * (f[here] - f[here].mean()) * math.sqrt(here.sum() / (here.sum() - 1)) / here.sum()
            of_known = np.zeros(N)
            of_known[known] = (residual - residual.mean()) * math.sqrt(n / (n - 1)) / n
            variance += share**2 * float(((of_known[here] + of_all) ** 2).sum())
        names.remove(name)
    assert names == []
    assert 0 < made.factors.min() < made.factors.max() <= 1
    assert made.ends(POWERED, 0.95).value == pytest.approx(whole)
    assert made.error(POWERED) == pytest.approx(math.sqrt(variance))
    assert made.effective == pytest.approx(55 * (made.error(CLASSICAL) / made.error(POWERED)) ** 2)


def test_the_interval_is_t_with_a_degree_of_freedom_less_for_each_stratum_and_each_factor() -> None:
    units, _ = strata_of()
    made = mean_of(units)
    assert made.limits is not None
    plain = made.ends(CLASSICAL, 0.9)
    assert plain.freedom == 55 - 2
    rare = mean_of(units_of([0.0] * 19 + [10.0] + [NAN] * 20, list(range(40)), scale=(0.0, 10.0)))
    assert rare.ends(CLASSICAL, 0.95).freedom == 19, "without predictions it is not cautious"
    reach = stats.t.ppf(0.95, 53) * made.error(CLASSICAL)
    assert (plain.low, plain.high) == pytest.approx((plain.value - reach, plain.value + reach))
    bold = replace(made.limits, cautious=False)
    assert [bold.ends(made.factors, 0.9, fitted=n).freedom for n in (0, 1, 2, 99)] == [53, 52, 51, 1]
    assert made.fitted == 2
    cautious = made.ends(POWERED, 0.9)
    assert cautious.freedom == made.limits.parts.freedom(made.factors, 51) <= 51
    wide = made.ends(CLASSICAL, 0.95, times=3.0)
    reach = stats.t.ppf(0.975, 53) * 3 / stats.norm.ppf(0.975) * made.error(CLASSICAL)
    assert (wide.low, wide.high) == pytest.approx((wide.value - reach, wide.value + reach))


def test_the_parts_of_an_error_say_how_free_it_is() -> None:
    """Satterthwaite: of squares s₁… of n clusters 2 (Σs)² / (Σs² - (Σs)² / n), at least 1, at most what is asked."""
    units, _ = strata_of()
    made = mean_of(units)
    assert made.limits is not None
    parts, zeros = made.limits.parts, np.zeros(2)
    [(share, influence)] = parts.influences(zeros)
    assert share == 1
    squares = influence**2
    free = 2 * squares.sum() ** 2 / ((squares**2).sum() - squares.sum() ** 2 / 55)
    assert [parts.freedom(zeros, most) for most in (1000, 5)] == [int(free), 5]
    same = mean_of(units_of([1.0, -1.0] * 10 + [NAN] * 20))
    assert same.limits is not None
    assert same.limits.parts.freedom(np.zeros(1), 19) == 19, "equal parts are as free as they can be"


def test_the_error_of_clusters_is_that_of_their_sums() -> None:
    """Six questions with two answers each: influences add up within a question before they are squared."""
    y = np.array([1.0, 3, 2, 2, 5, 4, 0, 1, 7, 9, 3, 2])
    clusters = [k // 2 for k in range(12)] + [6 + k // 2 for k in range(12)]
    made = mean_of(units_of([*y, *[NAN] * 12], clusters=clusters))
    sums = (y - y.mean()).reshape(6, 2).sum(axis=1) / 12
    assert made.error(CLASSICAL) == pytest.approx(math.sqrt((sums**2).sum() * 6 / 5 / 2))
    assert made.limits is not None
    assert made.limits.freedom == 5


def test_of_one_stratum_a_prediction_is_worth_what_it_is_there() -> None:
    units, _ = strata_of()
    made = mean_of(units)
    for place, name in enumerate(units.strata):
        rows = slice(0, PART) if name == "a" else slice(PART, N)
        f = units.predicted.values[rows]
        known = ~np.isnan(units.human[rows])
        y = units.human[rows][known]
        residual = y - made.factors[place] * f[known]
        assert made.effective_of(place) == pytest.approx(known.sum() * y.var(ddof=1) / residual.var(ddof=1))
    assert mean_of(units_of([1.0, NAN])).effective_of(0) is None


def test_where_nothing_is_left_open_labels_are_worth_themselves() -> None:
    """All of stratum "a" is labelled, so that its error is 0, with predictions and without."""
    human = [1.0, 2, 3, 4, 2, 5, 4, NAN, NAN, NAN]
    made = mean_of(units_of(human, [1, 2, 3, 4, 2, 5, 4, 3, 3, 1], strata=["a"] * 4 + ["b"] * 6))
    assert made.effective_of(made.units.strata.index("a")) == 4
    whole = mean_of(units_of([1.0, 2, 3, 4], [1, 2, 3, 4]))
    assert whole.effective == 4
    assert whole.effective_of(0) == 4


def test_a_difference_by_its_formula_with_what_two_groups_share() -> None:
    """Pairs of answers to one question: the variance is that of the two means less twice what they share."""
    rng = np.random.default_rng(3)
    hard = np.repeat(rng.normal(size=120), 2)
    y = hard + 0.4 * rng.normal(size=240) + np.tile([0.7, 0.0], 120)
    human = np.where(np.arange(240) < 100, y, NAN)
    units = units_of(
        human.tolist(), (y + 0.3 * rng.normal(size=240)).tolist(),
        groups=["a", "b"] * 120, clusters=(np.arange(240) // 2).tolist(),
    )  # fmt: skip
    a, b = mean_of(units, 0), mean_of(units, 1)
    for kind in (CLASSICAL, POWERED):
        entry = difference(a, b, kind, 0.95)
        shared = float(a.influences(kind) @ b.influences(kind))
        assert shared > 0
        ends = a.ends(kind, 0.95), b.ends(kind, 0.95)
        error = math.sqrt(ends[0].error ** 2 + ends[1].error ** 2 - 2 * shared)
        assert entry.value == pytest.approx(ends[0].value - ends[1].value)
        assert entry.interval is not None
        assert (entry.interval.error, entry.interval.freedom) == (pytest.approx(error), min(e.freedom for e in ends))
        x, z = ends[0].value - ends[0].low, ends[1].high - ends[1].value
        r = shared / (ends[0].error * ends[1].error)
        assert (entry.value or 0) - (entry.low or 0) == pytest.approx(math.sqrt(x * x + z * z - 2 * r * x * z))
        assert (entry.high or 0) - (entry.value or 0) == pytest.approx(math.sqrt(x * x + z * z - 2 * r * x * z))
        assert (entry.n_labelled, entry.n_predicted) == (100, 240)
    plain, powered = (difference(a, b, kind, 0.95) for kind in (CLASSICAL, POWERED))
    assert plain.effective_n == 100
    assert plain.interval is not None
    assert powered.interval is not None
    assert plain.interval.error is not None
    assert powered.interval.error is not None
    assert powered.effective_n == pytest.approx(100 * (plain.interval.error / powered.interval.error) ** 2)
    assert {one.group for one in differences(units)} == {"a - b"}


def test_every_two_of_three_groups_are_compared_once_the_first_less_the_second() -> None:
    human = [1.0, 2, 4, 3, 2, 6, 1, 4, 5, *[NAN] * 9]
    units = units_of(human, groups=["a", "b", "c"] * 6)
    found = [one for one in differences(units) if one.value is not None]
    assert [one.group for one in found] == ["a - b", "a - c", "b - c"]
    mean = {name: sum(human[at:9:3]) / 3 for at, name in enumerate("abc")}
    assert [one.value for one in found] == pytest.approx(
        [mean["a"] - mean["b"], mean["a"] - mean["c"], mean["b"] - mean["c"]]
    )
    assert [one.n_labelled for one in found] == [6, 6, 6]


def test_ranks_count_those_above_and_share_the_place_of_equals() -> None:
    human = [5.0, 1, 1, 3] * 6 + [NAN] * 24
    found = {one.group: one for one in ranks(units_of(human, groups=["a", "b", "c", "d"] * 12))}
    assert {name: one.value for name, one in found.items()} == {"a": 1, "d": 2, "b": 3.5, "c": 3.5}
    assert {one.name for one in found.values()} == {"rank_classical"}
    assert {one.n_labelled for one in found.values()} == {6}
    powered = ranks(correlated(60, 200, 0.9, groups=["a", "b"] * 100))
    assert {one.name for one in powered} == {"rank_ppi"}
    weighed = ranks(correlated(60, 200, 0.9, groups=["a", "b"] * 100, probability=np.full(200, 0.3)))
    assert {one.name for one in weighed} == {"rank_active"}
    some = ranks(units_of([1.0, 2, 3, 2, 4, 6, NAN, NAN], groups=[*"ababab", "c", "c"]))
    assert [one.value is None for one in some] == [False, False, True]
    assert some[2].reason is not None
    assert "2 are needed" in some[2].reason


def test_ranks_that_hold_at_once_are_sure_as_far_apart_as_the_largest_of_all_differences_says() -> None:
    """Three means with one error each: sure are differences above the 95 % point of the range of three (3.31 σ)."""
    rng = np.random.default_rng(4)
    noise = rng.normal(size=40)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    for gap, apart in ((3.9, True), (2.9, False)):
        means_ = [0.0, 0.0, gap / math.sqrt(40)]
        human = [
            value for at in range(40) for value in (m + float(noise[(at + 13 * k) % 40]) for k, m in enumerate(means_))
        ]
        found = {one.group: one for one in ranks(units_of(human, groups=["a", "b", "c"] * 40, population=math.inf))}
        assert (found["c"].high == 1) is apart, gap
        assert found["a"].low == (2 if apart else 1)


def test_which_estimate_there_is_or_why_not() -> None:
    plain, scored = units_of([1, 2, NAN]), units_of([1, 2, NAN], [1, 2, 3])
    drawn, full = units_of([1, 2, NAN], [1, 2, 3], probability=np.full(3, 0.5)), units_of([1, 2, 3], [1, 2, 3])
    there = {
        name: [kind for kind in (CLASSICAL, POWERED, ACTIVE) if why_not(units, kind) is None]
        for name, units in {"plain": plain, "scored": scored, "drawn": drawn, "full": full}.items()
    }
    assert there == {
        "plain": [CLASSICAL],
        "scored": [CLASSICAL, POWERED],
        "drawn": [CLASSICAL, ACTIVE],
        "full": [CLASSICAL],
    }


def test_what_was_used_is_said_in_words() -> None:
    units, _ = strata_of()
    made = mean_of(units)
    low, high = sorted(made.factors.tolist())
    words = what_was_used(made)
    assert f"λ by stratum from {low:.2f} to {high:.2f}" in words
    assert words.startswith("s0 combined, cross-fitted")
    assert f"worth {made.effective:.0f} labels instead of 55" in words
    one = mean_of(correlated(80, 1000, 0.9))
    assert f"λ = {one.factors[0]:.2f}, r = 0." in what_was_used(one)
    assert what_was_used(mean_of(units_of([1, 2, 3, 4, NAN], [1, 1, 1, 1, 1]))) == "nothing saved: no prediction helps"
    rare = units_of([1.0, *[0.0] * 30, *[NAN] * 30], list(range(61)), scale=(0.0, 1.0))
    assert "too few labels of the rarer kind" in what_was_used(mean_of(rare))
    assert not saves(mean_of(rare))
    assert mean_of(rare).effective == pytest.approx(31)


@pytest.mark.parametrize(("times", "does"), [(1.03, True), (1.01, False)])
def test_a_prediction_saves_labels_from_two_in_a_hundred_on(times: float, does: bool) -> None:
    made = mean_of(correlated(40, 200, 0.9))
    assert made.limits is not None
    worth = replace(made, limits=replace(made.limits, plain=made.error(POWERED) * math.sqrt(times)))
    assert worth.effective == pytest.approx(times * 40)
    assert saves(worth) is does
    assert ("worth" in what_was_used(worth)) is does
    assert HELPS == 1.02


# Shares --------------------------------------------------------------------------------------------------------------


def share(ones: int, n: int, size: int, **about: object) -> Limits:
    """What a share of so many ones among n labels of `size` units is made of."""
    human = [float(at < ones) for at in range(n)] + [NAN] * (size - n)
    limits = mean_of(units_of(human, **about)).limits  # type: ignore[arg-type]
    assert limits is not None
    return limits


def test_a_share_has_wilsons_ends_with_as_many_labels_as_its_error_says() -> None:
    limits = share(12, 40, 100)
    found = limits.ends(np.zeros(1), 0.95)
    p = 0.3
    error = math.sqrt(p * (1 - p) * 40 / 39 / 40 * 0.6)
    assert (found.value, found.error) == pytest.approx((p, error))
    t = stats.t.ppf(0.975, found.freedom)
    assert (found.low, found.high) == pytest.approx(wilson_ends(p, p * (1 - p) / error**2, t))
    assert found.how == "Wilson"
    assert found.freedom == 39


def test_a_share_of_few_goes_by_two_labels_more_of_each_kind() -> None:
    """1 of 40: (1 + 2) / 44, and the variance of that with what is not labelled of 100."""
    limits = share(1, 40, 100)
    assert limits.few_of_a_label
    middle = 3 / 44
    believed = math.sqrt(middle * (1 - middle) * 0.6 / 40)
    assert limits.believed(np.zeros(1)) == pytest.approx(max(believed, limits.parts.error(np.zeros(1))))
    found = limits.ends(np.zeros(1), 0.95)
    n = middle * (1 - middle) / limits.believed(np.zeros(1)) ** 2
    assert (found.low, found.high) == pytest.approx(wilson_ends(1 / 40, n, stats.t.ppf(0.975, 39)))


@pytest.mark.parametrize(("ones", "few"), [(4, True), (5, False), (35, False), (36, True)])
def test_five_labels_of_the_rarer_kind_are_enough_of_either(ones: int, few: bool) -> None:
    assert bool(share(ones, 40, 100).few_of_a_label) is few


def test_it_is_a_share_only_with_labels_of_nought_and_one_on_their_scale() -> None:
    assert [share(20, 40, 100, scale=scale).binary for scale in (None, (0.0, 1.0), (0.0, 5.0))] == [True, True, False]
    graded = mean_of(units_of([0.0, 1.0, 0.5, NAN])).limits
    assert graded is not None
    assert not graded.binary


def test_where_all_is_labelled_nothing_is_open_unless_the_population_goes_on() -> None:
    assert [share(20, 40, 40, population=size).open for size in (None, 41, math.inf)] == [False, True, True]
    closed = share(20, 40, 40).ends(np.zeros(1), 0.95)
    assert (closed.low, closed.value, closed.high, closed.how) == (0.5, 0.5, 0.5, "t")


def test_grades_stay_on_their_scale_and_equal_ones_say_nothing_of_their_spread() -> None:
    made = mean_of(units_of([4.0, 5, 5, 5, NAN, NAN], scale=(1.0, 5.0)))
    found = made.ends(CLASSICAL, 0.99)
    assert found.high == 5
    assert 1 < found.low < 4.75
    assert not made.says_nothing_of_spread
    low = mean_of(units_of([1.0, 2, 1, 1, NAN, NAN], scale=(1.0, 5.0))).ends(CLASSICAL, 0.99)
    assert low.low == 1
    assert mean_of(units_of([5.0] * 4 + [NAN], scale=(1.0, 5.0))).says_nothing_of_spread
    assert not mean_of(units_of([5.0] * 4, scale=(1.0, 5.0))).says_nothing_of_spread
    assert not mean_of(units_of([1.0] * 4 + [NAN], scale=(0.0, 1.0))).says_nothing_of_spread


# Drawn with chances --------------------------------------------------------------------------------------------------


def test_a_mean_of_labels_drawn_with_chances_weighs_each_by_one_over_its_chance() -> None:
    """Hájek: Σ y/π over Σ 1/π; the gain is set against as many labels drawn alike."""
    rng = np.random.default_rng(6)
    chance = np.where(np.arange(300) % 2 == 0, 0.6, 0.2)
    drawn = rng.random(300) < chance
    y = rng.normal(size=300)
    made = mean_of(units_of(np.where(drawn, y, NAN).tolist(), probability=chance))
    weight = 1 / chance[drawn]
    value = float((weight * y[drawn]).sum() / weight.sum())
    assert made.ends(CLASSICAL, 0.95).value == pytest.approx(value)
    n, part = int(drawn.sum()), weight / weight.sum()
    clusters = weight.sum() ** 2 / (weight**2).sum()
    influence = part * (y[drawn] - value) * math.sqrt(clusters / (clusters - 1)) * np.sqrt(1 - chance[drawn])
    assert made.error(CLASSICAL) == pytest.approx(math.sqrt((influence**2).sum()))
    spread = float((part * (y[drawn] - value) ** 2).sum()) * n / (n - 1)
    alike = math.sqrt(spread * (1 - n / 300) / n)
    assert made.effective == pytest.approx(n * alike**2 / (influence**2).sum())


# At any time ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [FIRST - 1, FIRST, FIRST + 1])
def test_a_sequence_begins_with_the_twentieth_label_of_a_mean_and_of_a_difference(n: int) -> None:
    rng = np.random.default_rng(7)
    human = [*rng.normal(size=n).tolist(), *[NAN] * 60]
    units = units_of(human, groups=["a", "b"] * ((n + 60) // 2) + ["a"] * (n % 2), scale=(-4.0, 4.0))
    [apart], mean = differences_at_any_time(units), mean_at_any_time(units)
    for entry in (apart, mean):
        assert (entry.value is None) == (n < FIRST)
        assert (entry.interval is None) == (n < FIRST)
        assert (entry.effective_n is None) == (n < FIRST)
        assert (entry.reason or "").startswith(f"{n} labels are too few") == (n < FIRST)


def test_a_difference_is_none_at_any_time_where_one_group_says_nothing_of_its_spread() -> None:
    rng = np.random.default_rng(8)
    for same in (0, 1):
        human = [3.0 if at % 2 == same else float(value) for at, value in enumerate(rng.normal(size=40))] + [NAN] * 40
        [entry] = differences_at_any_time(units_of(human, groups=["a", "b"] * 40, scale=(-5.0, 5.0)))
        assert (entry.value, entry.interval, entry.reason) == (None, None, ALIKE)


def test_a_sequence_uses_predictions_where_they_may_be_used_and_says_how_many_labels_they_are_worth() -> None:
    units = correlated(60, 400, 0.9, groups=["a", "b"] * 200, scale=(-4.0, 4.0))
    entry, powered = mean_at_any_time(units), named(means(units))["mean_ppi"]
    assert (entry.value, entry.effective_n) == (powered.value, powered.effective_n)
    [apart] = differences_at_any_time(units)
    assert apart.value == named(differences(units), "a - b")["difference_ppi"].value
    assert apart.name == "difference_anytime"
    assert apart.interval is not None
    assert apart.interval.kind == "confidence sequence"
    alone = correlated(60, 400, 0.9, groups=["a", "b"] * 200, scale=(-4.0, 4.0), scores=0)
    assert mean_at_any_time(alone).effective_n == 60


def test_strata_are_numbered_without_gaps() -> None:
    assert numbered(np.array([7, 3, 7, 9])).tolist() == [1, 0, 1, 2]
