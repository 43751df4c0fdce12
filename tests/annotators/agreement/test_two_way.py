"""Which raters an interval is about: these, or raters like these."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.measure import measure
from annotators.agreement.remarks import warnings_about
from annotators.agreement.tables.ratings import Ratings
from annotators.intervals.result import Raters
from tests.annotators.agreement.makers import SHROUT_FLEISS, letters, random_matrix, rated, ratings_of


def uneven(raters: int = 6, units: int = 120) -> Ratings:
    """Raters from careless to careful."""
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=units)
    right = rng.random((raters, units)) < np.linspace(0.55, 1, raters)[:, None]
    return ratings_of(np.where(right, truth, 1 - truth).tolist())


def test_absolute_icc_is_about_raters_like_these_by_mcgraw_and_wong() -> None:
    ratings = ratings_of(SHROUT_FLEISS, scale="interval")
    absolute, consistent = measure(ratings, ["icc_a_1", "icc_c_1"], seed=7, raters="random")
    assert absolute.low == pytest.approx(0.019, abs=6e-4)  # Shrout & Fleiss (1979), table 4
    assert absolute.method == "McGraw & Wong's F (raters like these), 95 %"
    assert absolute.beside[0].in_words().startswith("two-way bootstrap over units and raters (raters like these)")
    assert (consistent.method or "").startswith("two-way bootstrap over units and raters (raters like these)")
    these = measure(ratings, ["icc_a_1"], seed=7)[0]
    assert (these.method or "").startswith("jackknife over units (these raters)")
    assert these.low != absolute.low


def test_all_figures_of_a_table_are_about_the_same_raters() -> None:
    ratings = ratings_of(SHROUT_FLEISS, scale="interval")
    gaps = rated(random_matrix(1, raters=5, units=60, labels=3, missing=0.2))
    for table in (ratings, gaps):
        for which, words in (("fixed", "these raters"), ("random", "raters like these")):
            for statistic in measure(table, "all", 200, raters=which):  # type: ignore[arg-type]
                if statistic.interval is not None and statistic.low is not None and statistic.raters is None:
                    assert statistic.interval.raters == words, (statistic.name, statistic.method)


def test_absolute_icc_with_gaps_is_about_raters_like_these() -> None:
    ratings = rated(random_matrix(1, raters=5, units=60, labels=3, missing=0.2))
    [statistic] = measure(ratings, ["icc_a_1"], seed=3, raters="random")
    assert (statistic.method or "").startswith(
        "generalized confidence interval (raters like these), 95 %; 10,000 draws, seed 3"
    )


@pytest.mark.parametrize("name", [
    "percent_agreement", "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "fleiss_kappa", "conger_kappa",
    "light_kappa", "gwet_ac1", "brennan_prediger", "scott_pi", "icc_1_1", "icc_c_k", "specific_agreement",
])  # fmt: skip
def test_every_coefficient_has_an_interval_about_raters_like_these(name: str) -> None:
    these = measure(uneven(), [name], 300, any_scale=True)[0]
    like = measure(uneven(), [name], 300, any_scale=True, raters="random")[0]
    assert like.value == these.value
    assert "(raters like these)" in (like.method or "")
    assert (like.high or 0) - (like.low or 0) > 1.3 * ((these.high or 0) - (these.low or 0))
    assert like.beside[0].raters == "these raters"


@pytest.mark.parametrize(("raters", "which", "said"), [
    (3, "random", True), (5, "random", True), (6, "random", False), (3, "fixed", False), (3, None, False),
])  # fmt: skip
def test_the_report_warns_that_few_raters_say_little_about_raters_like_these(
    raters: int, which: Raters | None, said: bool
) -> None:
    ratings = rated(random_matrix(4, raters=raters, units=60, labels=3, missing=0.0))
    statistics = measure(ratings, ["krippendorff_alpha_nominal"], 100, raters=which)
    found = [words for words in warnings_about(ratings, statistics) if "raters like these" in words]
    assert [words.startswith(f"Only {raters} raters: ") for words in found] == [True] * said


def test_two_named_raters_stay_who_they_are() -> None:
    fixed, random = (measure(uneven(), ["cohen_kappa"], 100, raters=raters) for raters in ("fixed", "random"))
    assert [statistic.method for statistic in fixed] == [statistic.method for statistic in random]


def test_raters_who_are_alike_add_nothing() -> None:
    # All of them right with probability .8: what one sample of raters differs from another is what units do.
    rng = np.random.default_rng(8)
    widths = []
    for seed in range(12):
        truth = rng.integers(2, size=80)
        ratings = ratings_of(np.where(rng.random((6, 80)) < 0.8, truth, 1 - truth).tolist())
        for raters in ("fixed", "random"):
            statistic = measure(ratings, ["krippendorff_alpha_nominal"], 300, seed, raters=raters)[0]  # type: ignore[arg-type]
            widths.append((statistic.high or 0) - (statistic.low or 0))
    assert np.mean(widths[1::2]) < 1.35 * np.mean(widths[::2])


def test_the_variance_of_a_mean_over_units_and_raters_is_that_of_both() -> None:
    rows = letters("aabbaabb", "aabbaaba", "abababab")
    statistic = measure(ratings_of(rows), ["percent_agreement"], 4000, raters="random")[0]
    # Pairs agree on 7, 4 and 3 of 8 units, and without a rater there is one pair: θ_(r) = 3/8, 4/8, 7/8.
    left_out = np.array([3, 4, 7]) / 8
    of_raters = 2 / 3 * ((left_out - left_out.mean()) ** 2).sum()
    alike = np.array([[a == b for a, b in zip(*pair, strict=True)] for pair in (
        (rows[1], rows[2]), (rows[0], rows[2]), (rows[0], rows[1]))], dtype=float)  # fmt: skip
    mean = alike.mean(axis=0)
    of_units = mean.var() / 8  # what resampling eight units has
    within = (alike - mean) - (alike - mean).mean(axis=1, keepdims=True)
    in_common = 7 * 2 / (8 * 3) * (within**2).sum() / 49  # leaving out a unit moves a mean of eight by 1/7 of it
    assert statistic.interval is not None
    assert statistic.interval.error == pytest.approx(np.sqrt(of_units + max(of_raters - in_common, 0)), rel=0.04)


def test_two_raters_cannot_say_how_raters_differ() -> None:
    ratings = ratings_of(letters("aabbaabb", "aabbaaba"))
    statistic = measure(ratings, ["krippendorff_alpha_nominal"], 100, raters="random")[0]
    assert (statistic.low, statistic.high) == (None, None)
    assert statistic.method == "no interval: 2 raters cannot tell how raters differ; 3 are needed"
    assert statistic.beside[0].in_words().startswith("BCa bootstrap over units (these raters)")


def test_clusters_and_raters_are_resampled_together() -> None:
    ratings = uneven()
    clusters = {unit: place // 4 for place, unit in enumerate(ratings.units)}
    statistic = measure(ratings, ["fleiss_kappa"], 100, raters="random", clusters=clusters)[0]
    assert (statistic.method or "").startswith("two-way bootstrap over questions and raters (raters like these)")


@pytest.mark.parametrize("rare", [0.05, 0.3])
def test_a_claim_about_more_raters_is_on_neither_side_surer(rare: float) -> None:
    """Wilson's and BCa's ends are not symmetric: ± t alone gave .947 where these raters have .900."""
    rng = np.random.default_rng(5)
    truth = rng.random(60) < rare
    ratings = ratings_of(np.where(rng.random((3, 60)) < 0.97, truth, ~truth).astype(int).tolist())
    names = ["percent_agreement", "krippendorff_alpha_nominal", "gwet_ac1", "specific_agreement"]
    these, like = (measure(ratings, names, 300, raters=raters) for raters in ("fixed", "random"))  # type: ignore[arg-type]
    for one, other in zip(these, like, strict=True):
        if one.low is not None and one.high is not None and other.low is not None and other.high is not None:
            assert other.low <= one.low <= one.high <= other.high, one.name
            assert other.low >= 0 or "agreement" not in one.name
    assert any(other.low is not None for other in like)


def test_two_raters_who_have_no_such_interval_are_not_warned_of() -> None:
    ratings = ratings_of([[0, 1] * 20, [0, 1] * 19 + [1, 1]])
    statistics = measure(ratings, ["krippendorff_alpha_nominal"], 100, raters="random")
    assert not any("raters like these covered" in words for words in warnings_about(ratings, statistics))
