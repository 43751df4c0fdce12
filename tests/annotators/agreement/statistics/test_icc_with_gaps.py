"""ICC with gaps: estimates and intervals, of two-way forms from sums of squares that are adjusted for each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

from annotators.agreement.differences import difference
from annotators.agreement.measure import measure
from annotators.agreement.remarks import warnings_about
from annotators.agreement.statistics import crossed, reasons
from annotators.agreement.statistics.icc import Numbers, f_ends, wald_ends
from annotators.agreement.tables.ratings import Ratings
from annotators.intervals.result import Statistic
from tests.annotators.agreement.makers import SHROUT_FLEISS, rated, ratings_of

TWO_WAY = ["icc_a_1", "icc_c_1", "icc_a_k", "icc_c_k"]
NO_ERROR = "no interval: beside what units and raters differ by there is no error at all"


def sparse_matrix(seed: int, units: int = 40, raters: int = 50, most: int = 4, icc: float = 0.9) -> np.ndarray:
    """Units with one to `most` ratings; variances `icc` of units, 1 of raters, 1 - `icc` of error."""
    rng = np.random.default_rng(seed)
    matrix = np.sqrt(icc) * rng.normal(size=units) + rng.normal(size=(raters, 1))
    matrix = matrix + np.sqrt(1 - icc) * rng.normal(size=(raters, units))
    for unit in range(units):
        matrix[rng.permutation(raters)[rng.integers(1, most + 1) :], unit] = np.nan
    return matrix


def fitted(ratings: Ratings) -> crossed.Fit:
    numbers = Numbers.of(ratings)
    return crossed.fit(crossed.Table.of(numbers.rated, numbers.gave), numbers.rows.multiplicity[None].astype(float))


def found(matrix: object, names: list[str] = TWO_WAY, **asked: object) -> dict[str, Statistic]:
    ratings = matrix if isinstance(matrix, Ratings) else rated(np.asarray(matrix, dtype=float))
    return {statistic.name: statistic for statistic in measure(ratings, names, **asked)}  # type: ignore[arg-type]


def residual(design: np.ndarray, x: np.ndarray, covariance: np.ndarray) -> float:
    """What generalised least squares leave of the squares of x."""
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    design, x = root @ design, root @ x
    return float(((x - design @ np.linalg.lstsq(design, x, rcond=None)[0]) ** 2).sum())


def wald(matrix: np.ndarray, ratio: float, *, of_units: bool = True) -> tuple[float, float, float]:
    """Wald's F at a ratio of variances the slow way, by whole matrices, and its degrees of freedom."""
    matrix = matrix[:, (~np.isnan(matrix)).sum(axis=0) > 1]
    rater, unit = np.nonzero(~np.isnan(matrix))
    x = matrix[rater, unit]
    units, raters = (np.equal.outer(side, np.unique(side)).astype(float) for side in (unit, rater))
    random, fixed = (units, raters) if of_units else (raters, units)
    whole = np.hstack([fixed, random])
    q = np.linalg.matrix_rank(whole) - np.linalg.matrix_rank(fixed)
    f = len(x) - np.linalg.matrix_rank(whole)
    error = residual(whole, x, np.eye(len(x)))
    left = residual(fixed, x, np.eye(len(x)) + ratio * random @ random.T)
    return (left - error) / q / (error / f), float(q), float(f)


# Values and intervals -------------------------------------------------------------------------------------------------


def test_without_gaps_it_is_the_analysis_of_variance_with_mcgraw_and_wongs_interval() -> None:
    ratings = ratings_of(SHROUT_FLEISS, scale="interval")
    fit = fitted(ratings)
    values = found(ratings)
    assert fit.consistency()[0] == pytest.approx(values["icc_c_1"].value, abs=1e-9)
    assert fit.agreement()[0] == pytest.approx(values["icc_a_1"].value, abs=1e-9)
    # Shrout & Fleiss (1979), and psych::ICC: ICC(C,1) .71, .342 to .946.
    assert crossed.consistency_ends(fit, 0.95) == pytest.approx((0.342, 0.946), abs=6e-4)
    low, high = crossed.agreement_ends(fit, 0.95, 0)
    assert (low, high) == pytest.approx((0.019, 0.761), abs=0.03)  # McGraw & Wong's, which approximates too


@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_and_the_ends_are_where_walds_ratio_has_its_quantiles(seed: int) -> None:
    matrix = sparse_matrix(seed, units=40 if seed else 90, raters=25)
    measured = found(matrix, resamples=0)
    statistic = measured["icc_c_1"]
    assert statistic.value is not None
    assert statistic.low is not None
    assert statistic.high is not None
    ratios = [c / (1 - c) for c in (statistic.value, statistic.low, statistic.high)]
    f, *freedom = wald(matrix, ratios[0])
    assert f == pytest.approx(1, rel=1e-6)
    ends = stats.f.ppf([0.975, 0.025], *freedom)
    assert [wald(matrix, ratio)[0] for ratio in ratios[1:]] == pytest.approx(ends.tolist(), rel=1e-6)
    assert (statistic.method or "").startswith("Wald's F (these raters), 95 %")
    of_raters = ratios[0] / (measured["icc_a_1"].value or 0) - ratios[0] - 1
    assert wald(matrix, of_raters, of_units=False)[0] == pytest.approx(1, rel=1e-6)


def test_forms_of_the_mean_are_stepped_up() -> None:
    measured = found(sparse_matrix(3), resamples=0, raters="random")
    for single, mean in (("icc_a_1", "icc_a_k"), ("icc_c_1", "icc_c_k")):
        rated_twice = sparse_matrix(3)
        sizes = (~np.isnan(rated_twice)).sum(axis=0)
        k = sizes[sizes > 1].mean()
        for one, several in zip(*([s.value, s.low, s.high] for s in (measured[single], measured[mean])), strict=True):
            assert several == pytest.approx(k * (one or 0) / (1 + (k - 1) * (one or 0)), abs=1e-9)


def test_large_tables_are_measured_as_small_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = rated(sparse_matrix(5, units=150))
    small = fitted(ratings)
    monkeypatch.setattr(crossed, "DENSE", 0)
    large = fitted(ratings)
    assert sparse.issparse(crossed.Table.of(*(Numbers.of(ratings).rated,) * 2).rated)
    assert large.agreement() == pytest.approx(small.agreement(), abs=1e-9)
    assert crossed.consistency_ends(large, 0.9) == pytest.approx(crossed.consistency_ends(small, 0.9), abs=1e-9)


def test_units_that_are_alike_count_as_often_as_they_are_there() -> None:
    matrix = np.round(sparse_matrix(2, units=20, raters=5))
    once = fitted(rated(np.hstack([matrix, matrix, matrix[:, :7]])))
    numbers = Numbers.of(rated(matrix))
    table = crossed.Table.of(numbers.rated, numbers.gave)
    times = np.bincount(numbers.rows.of_unit[[*range(20), *range(20), *range(7)]] + 1, minlength=len(table.sizes) + 1)
    weighted = crossed.fit(table, times[None, 1:].astype(float))
    assert weighted.agreement() == pytest.approx(once.agreement(), abs=1e-9)
    assert weighted.consistency() == pytest.approx(once.consistency(), abs=1e-9)


# Where there is nothing to tell ---------------------------------------------------------------------------------------


def test_perfect_agreement_with_gaps_is_1_and_says_why_it_has_no_interval() -> None:
    perfect = [[1, 2, 3, None, 5, 2], [1, 2, None, 4, 5, 2], [1, None, 3, 4, 5, None]]
    for statistic in found(ratings_of(perfect, scale="interval")).values():
        assert statistic.value == 1
        assert (statistic.low, statistic.high) == (None, None)
        assert (statistic.method or "").startswith(NO_ERROR)
    questions = {unit: unit // 2 for unit in range(6)}
    for statistic in found(ratings_of(perfect, scale="interval"), clusters=questions).values():
        assert statistic.value == 1
        assert (statistic.low, statistic.high) == (None, None)
        assert "the standard error is 0, which says nothing of how far others differ" in (statistic.method or "")


def test_raters_who_differ_by_constants_are_consistent_and_do_not_agree() -> None:
    # Within a rater: deviations of 1, 3, 5 / 1, 3 / 3, 5 from their means, 8 + 2 + 2 on 7 - 3 degrees of freedom: 3.
    # Within a unit: 1, 2 / 3, 4, 5 / 5, 7: .5 + 2 + 2 on 7 - 3: 1.125. Without error these are the variances.
    measured = found([[1, 3, 5], [2, 4, np.nan], [np.nan, 5, 7]])
    assert measured["icc_c_1"].value == 1
    assert measured["icc_a_1"].value == pytest.approx(3 / 4.125)
    assert all((statistic.method or "").startswith(NO_ERROR) for statistic in measured.values())
    rng = np.random.default_rng(0)
    many = np.where(rng.random((40, 300)) < 0.1, rng.normal(size=300) + rng.normal(size=(40, 1)), np.nan)
    assert found(many)["icc_c_1"].value == 1
    assert (found(many)["icc_c_1"].method or "").startswith(NO_ERROR)


def test_units_that_do_not_differ_at_all_are_not_consistent() -> None:
    measured = found([[1, 1, 1, np.nan], [2, 2, np.nan, 2], [np.nan, 3, 3, 3]])
    assert measured["icc_a_1"].value == 0
    assert measured["icc_c_1"].value is None
    assert "do not vary enough" in (measured["icc_c_1"].reason or "")


@pytest.mark.parametrize("matrix", [
    [[1, np.nan], [2, np.nan], [np.nan, 3], [np.nan, 5]],  # every unit has raters of its own
    [[1, 4, 2], [2, np.nan, np.nan], [np.nan, 3, np.nan], [np.nan, np.nan, 5]],  # one rater in common, the other is new
])  # fmt: skip
def test_raters_who_are_not_compared_twice_leave_no_error(matrix: list[list[float]]) -> None:
    for statistic in found(matrix).values():
        assert statistic.value is None
        assert statistic.reason == reasons.NOT_APART


def test_one_rater_a_unit_and_constant_ratings_are_refused_in_words() -> None:
    apart = [[1, 2, np.nan, np.nan], [np.nan, np.nan, 3, 4]]
    assert {statistic.reason for statistic in found(apart).values()} == {"no unit was rated by two raters"}
    constant = [[3, 3, np.nan], [3, np.nan, 3], [np.nan, 3, 3]]
    assert all("there is no variance to share out" in (s.reason or "") for s in found(constant).values())


def test_two_groups_without_a_rater_in_common_are_measured_within_each() -> None:
    block = sparse_matrix(1, units=12, raters=4, most=4)
    both = np.full((8, 24), np.nan)
    both[:4, :12], both[4:, 12:] = block, sparse_matrix(2, units=12, raters=4) + 50
    statistic = found(both)["icc_c_1"]
    far = both.copy()
    far[4:, 12:] += 1000  # how far apart the groups are says nothing of units that the same people rated
    other = found(far)["icc_c_1"]
    assert (statistic.value, statistic.low) == pytest.approx((other.value, other.low), abs=1e-6)


# What else is asked ---------------------------------------------------------------------------------------------------


def test_questions_and_these_raters_are_left_out_one_by_one() -> None:
    matrix = sparse_matrix(7, units=60)
    questions = {unit: unit // 3 for unit in range(60)}
    clustered = found(matrix, clusters=questions)
    assert (clustered["icc_c_1"].method or "").startswith("jackknife over questions (these raters), t with ")
    absolute = found(matrix, clusters=questions, raters="random")["icc_a_1"]
    assert (absolute.method or "").startswith(
        "two-way jackknife over questions and raters (raters like these), t with "
    )
    fixed = found(matrix, raters="fixed")["icc_a_1"]
    assert (fixed.method or "").startswith("jackknife over units (these raters)")
    assert [other.kind for other in fixed.beside] == ["generalized confidence interval"]
    without = found(matrix, clusters=questions, resamples=0)["icc_c_1"]
    assert (without.method or "").startswith("no interval: no resamples were asked for")


def test_the_jackknife_is_there_for_who_asks_for_it() -> None:
    statistic = found(sparse_matrix(7), kind="jackknife")["icc_c_1"]
    assert (statistic.method or "").startswith("jackknife over units (these raters)")
    assert [other.kind for other in statistic.beside] == ["Wald's F"]


def test_consistency_holds_for_raters_like_these_as_it_is() -> None:
    these, like = (found(sparse_matrix(7), raters=raters)["icc_c_1"] for raters in ("fixed", "random"))
    assert (like.low, like.high) == (these.low, these.high)
    assert (like.method or "").startswith("Wald's F (raters like these)")


def test_a_seed_gives_the_same_interval_whatever_the_order() -> None:
    ratings = rated(sparse_matrix(9))
    order = np.random.default_rng(0).permutation(ratings.n_ratings)
    labels = [ratings.labels[code] for code in ratings.code]
    turned = Ratings.from_triples(
        [ratings.units[i] for i in ratings.unit[order]],
        [ratings.raters[i] for i in ratings.rater[order]],
        [labels[i] for i in order],
        scale="interval",
    )
    first, second = (found(table, seed=4)["icc_a_1"] for table in (ratings, turned))
    assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-9)


@pytest.mark.parametrize(("tails", "said"), [(0, False), (1, True)])
def test_the_report_warns_of_units_that_lie_far_from_the_others(tails: int, said: bool) -> None:
    matrix = sparse_matrix(11, units=100, raters=20)
    matrix[:, :3] += 10 * tails
    ratings = rated(matrix)
    for asked in ({}, {"kind": "jackknife", "raters": "fixed"}):
        statistics = measure(ratings, TWO_WAY, **asked)  # type: ignore[arg-type]
        words = [text for text in warnings_about(ratings, statistics) if "take units for normally distributed" in text]
        assert len(words) == (said and not asked)
    assert "jackknife" in [other.kind for other in measure(ratings, ["icc_c_1"])[0].beside]


def test_a_difference_leaves_units_out_and_does_not_draw_them() -> None:
    a, b = (rated(sparse_matrix(seed)) for seed in (1, 2))
    made = difference(a, replace(b, units=tuple(f"other {unit}" for unit in b.units)), "icc_c_1", permutations=19)
    assert made.low is not None
    assert "jackknife over units" in (made.method or "")
    assert made.value == pytest.approx((made.a.value or 0) - (made.b.value or 0))


def test_intervals_of_sparse_crowds_cover_what_they_estimate() -> None:
    # ICC(C,1) is .9, ICC(A,1) .45. By drawing units the intervals of ICC(C,1) covered .9 in half of such studies.
    hits = []
    for seed in range(120):
        measured = found(sparse_matrix(seed), ["icc_c_1", "icc_a_1"], resamples=0, raters="random")
        hits.append([
            (measured[name].low or 0) <= truth <= (measured[name].high or 0)
            for name, truth in (("icc_c_1", 0.9), ("icc_a_1", 0.45))
        ])  # fmt: skip
    assert (np.mean(hits, axis=0) > 0.89).all()


def test_one_way_forms_without_gaps_have_the_ends_of_the_analysis_of_variance() -> None:
    numbers = Numbers.of(rated(np.asarray(SHROUT_FLEISS, dtype=float)))
    of_wald, of_variance = wald_ends(numbers, 0.95), f_ends(numbers, 0.95)
    for form in ("1,1", "1,k"):
        assert of_wald[form] == pytest.approx(of_variance[form])


def test_one_way_forms_with_gaps_have_walds_ends_beside_the_bootstrap() -> None:
    rng = np.random.default_rng(5)
    covered = {"Wald's F": 0, "BCa": 0}
    for _ in range(150):
        matrix = np.full((50, 15), np.nan)
        for unit in range(15):
            n = rng.integers(1, 5)
            matrix[rng.permutation(50)[:n], unit] = np.sqrt(0.9) * rng.normal() + np.sqrt(0.1) * rng.normal(size=n)
        measured = found(matrix, ["icc_1_1"], resamples=200)["icc_1_1"]
        assert measured.interval is not None
        for made in (measured.interval, *measured.beside):
            if made.kind in covered:
                covered[made.kind] += (made.low or 0) <= 0.9 <= (made.high or 0)
    assert covered["Wald's F"] >= 138, "94 %, two standard errors below"
    perfect = found([[1, 2, 3], [1, 2, np.nan], [np.nan, 2, 3]], ["icc_1_1"])["icc_1_1"]
    assert perfect.value == 1
    assert "Wald's F" not in {made.kind for made in perfect.beside}
