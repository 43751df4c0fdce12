"""All statistics of a criterion at once: which, in which order, with which numbers, as which JSON."""

from __future__ import annotations

import json
import time
from itertools import combinations

import pytest

from annotators.agreement.measure import measure
from annotators.agreement.tables.ratings import Ratings, Scale
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import KRIPPENDORFF, random_matrix, rated, ratings_of


def names(ratings: Ratings) -> list[str]:
    return list(dict.fromkeys(statistic.name for statistic in measure(ratings, resamples=20)))


def test_a_nominal_scale_reports_raw_agreement_alpha_kappas_and_each_label() -> None:
    ratings = ratings_of(KRIPPENDORFF)
    found = measure(ratings, resamples=20)
    assert names(ratings) == [
        "percent_agreement",
        "krippendorff_alpha_nominal",
        "cohen_kappa",
        "light_kappa",
        "fleiss_kappa",
        "gwet_ac1",
        "specific_agreement",
    ]
    assert [statistic.raters for statistic in found if statistic.name == "cohen_kappa"] == list(
        combinations(range(4), 2)
    )
    assert [statistic.label for statistic in found if statistic.name == "specific_agreement"] == [1, 2, 3, 4, 5]


def test_two_raters_have_one_kappa_and_no_mean_of_it() -> None:
    assert "light_kappa" not in names(ratings_of([[0, 1, 0], [0, 1, 1]]))


def test_an_ordinal_scale_reports_what_weighs_how_far_labels_are_apart() -> None:
    assert names(ratings_of(KRIPPENDORFF, scale="ordinal")) == [
        "percent_agreement",
        "krippendorff_alpha_ordinal",
        "cohen_kappa_linear",
        "cohen_kappa_quadratic",
        "light_kappa_linear",
        "light_kappa_quadratic",
        "gwet_ac2_ordinal",
        "specific_agreement",
    ]


@pytest.mark.parametrize("scale", ["interval", "ratio"])
def test_numbers_report_their_alpha_and_intraclass_correlations(scale: Scale) -> None:
    found = names(ratings_of(KRIPPENDORFF, scale=scale))
    assert found[:5] == ["percent_agreement", f"krippendorff_alpha_{scale}", "icc_1_1", "icc_a_1", "icc_a_k"]


ISSUE = """percent_agreement cohen_kappa cohen_kappa_linear cohen_kappa_quadratic light_kappa scott_pi fleiss_kappa
    conger_kappa krippendorff_alpha_nominal krippendorff_alpha_ordinal krippendorff_alpha_interval
    krippendorff_alpha_ratio gwet_ac1 gwet_ac2_linear gwet_ac2_quadratic gwet_ac2_ordinal brennan_prediger
    icc_1_1 icc_a_1 icc_c_1 icc_1_k icc_a_k icc_c_k specific_agreement"""


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
def test_all_is_every_coefficient_whatever_the_scale(scale: Scale) -> None:
    found = {
        statistic.name: statistic
        for statistic in measure(ratings_of(KRIPPENDORFF, scale=scale), "all", 100, least_shared=7)
    }
    assert set(ISSUE.split()) <= set(found)
    assert all(statistic.value is not None for statistic in found.values())
    assert found["krippendorff_alpha_ratio"].value == pytest.approx(0.797, abs=5e-4)  # numbers go by their value


def test_all_takes_words_by_their_rank_and_says_so() -> None:
    words = {1: "poor", 2: "fair", 3: "good", 4: "better", 5: "best"}
    rows = [[None if x is None else words[x] for x in row] for row in KRIPPENDORFF]
    ratings = ratings_of(rows, labels=list(words.values()))
    found = {statistic.name: statistic for statistic in measure(ratings, "all", resamples=100)}
    assert found["krippendorff_alpha_interval"].value == pytest.approx(0.849, abs=5e-4)
    assert "labels by their rank" in (found["krippendorff_alpha_interval"].method or "")
    assert "rank" not in (found["krippendorff_alpha_nominal"].method or "")


def test_all_lists_neither_hundreds_of_labels_nor_thousands_of_pairs() -> None:
    ratings = ratings_of([[x / 7 for x in range(300)], [x / 7 for x in range(1, 301)]], scale="interval")
    labels = [
        statistic for statistic in measure(ratings, "all", resamples=20) if statistic.name == "specific_agreement"
    ]
    assert [label.reason for label in labels] == [
        "there are 301 labels: ask for specific_agreement by name to list them all"
    ]


def test_ordered_words_have_no_interval_alpha() -> None:
    found = names(ratings_of([["lo", "hi", "lo"], ["lo", "hi", "hi"]], ["lo", "hi"], "ordinal"))
    assert "krippendorff_alpha_ordinal" in found
    assert "krippendorff_alpha_interval" not in found


def test_hundreds_of_numbers_are_not_listed_one_by_one() -> None:
    ratings = ratings_of([[x / 7 for x in range(300)], [x / 7 for x in range(1, 301)]], scale="interval")
    assert "specific_agreement" not in names(ratings)


def crowd(raters: int = 88, units: int = 200) -> Ratings:
    """Each unit rated by three of the raters, who share one or two units with most others."""
    places = [(unit, (unit * 7 + i * 31) % raters) for unit in range(units) for i in range(3)]
    return Ratings.from_triples(
        [unit for unit, _ in places],
        [rater for _, rater in places],
        [(unit + (rater % 5 == 0)) % 2 for unit, rater in places],
    )


def test_above_ten_raters_pairs_are_made_only_when_asked_for() -> None:
    for statistics in (None, "all"):
        found = measure(crowd(), statistics, resamples=50)
        assert all(statistic.raters is None for statistic in found)
        assert len(found) < 40
    named = {statistic.name: statistic for statistic in found}
    for name in ("cohen_kappa", "light_kappa", "spearman"):
        assert named[name].reason == f"there are 3,828 pairs of raters: ask for {name} by name to list them all"
    assert named["scott_pi"].value == pytest.approx(named["fleiss_kappa"].value)
    asked = measure(crowd(), ["cohen_kappa"], resamples=0)
    assert len(asked) == 3828
    ten, eleven = (rated(random_matrix(0, raters=raters)) for raters in (10, 11))
    of_pairs = [[entry for entry in measure(table, "all", resamples=0) if entry.raters] for table in (ten, eleven)]
    assert [len(entries) for entries in of_pairs] == [45 * 7, 0]


def test_f1_of_sets_lists_no_pairs_of_a_crowd_unasked() -> None:
    rows = [[["a"], ["b"], ["a", "b"]]] * 11
    ratings = ratings_of(rows, scale="set")
    assert [statistic.raters for statistic in measure(ratings, resamples=0) if statistic.name == "pairwise_f1"] == [
        None
    ]
    assert len(measure(ratings, ["pairwise_f1"], resamples=0)) == 56


def test_json_has_the_agreed_keys_and_pairs_and_labels_only_where_they_belong() -> None:
    found = [statistic.to_json() for statistic in measure(ratings_of(KRIPPENDORFF), resamples=50, seed=7)]
    keys = ["name", "value", "low", "high", "method", "reason", "n_units", "n_raters", "n_ratings"]
    by_name = {statistic["name"]: statistic for statistic in found}
    assert list(by_name["fleiss_kappa"]) == [*keys, "intervals"]
    assert list(by_name["cohen_kappa"]) == [*keys, "raters", "intervals"]
    of_labels = [statistic for statistic in found if statistic["name"] == "specific_agreement"]
    assert list(of_labels[0]) == [*keys, "label", "intervals"]
    assert list(of_labels[-1]) == [*keys, "label"]  # one unit carries it
    assert [interval["kind"] for interval in by_name["fleiss_kappa"]["intervals"]] == [
        "linearised",
        "percentile",
        "jackknife",
    ]
    assert by_name["cohen_kappa"]["raters"] == [2, 3]
    assert json.loads(json.dumps(found)) == found


def test_numbers_and_what_was_left_out_are_those_of_each_statistic() -> None:
    found = {statistic.name: statistic for statistic in reversed(measure(ratings_of(KRIPPENDORFF), seed=7))}
    alpha, fleiss, kappa = (found[name] for name in ("krippendorff_alpha_nominal", "fleiss_kappa", "cohen_kappa"))
    assert (alpha.n_units, alpha.n_raters, alpha.n_ratings, alpha.left_out) == (11, 4, 40, 1)
    assert (fleiss.n_units, fleiss.n_raters, fleiss.n_ratings, fleiss.left_out) == (12, 4, 41, 0)
    assert (kappa.n_units, kappa.n_raters, kappa.n_ratings) == (9, 2, 18)
    assert alpha.method == (
        "BCa bootstrap over units (these raters), 95 %, 1,000 resamples, seed 7; 1 unit with a single rating left out"
    )
    assert fleiss.method == "BCa bootstrap over units (these raters), 95 %, 1,000 resamples, seed 7"


def test_raters_who_rated_nothing_that_can_be_paired_are_not_counted() -> None:
    rows = [[0, 1, 0, None], [0, 1, 1, None], [None, None, None, 1]]
    found = measure(ratings_of(rows), ["krippendorff_alpha_nominal"], resamples=20)[0]
    assert (found.n_raters, found.left_out) == (2, 1)


def test_the_statistics_come_in_the_order_asked_for() -> None:
    asked = ["light_kappa", "fleiss_kappa", "percent_agreement"]
    assert [statistic.name for statistic in measure(ratings_of(KRIPPENDORFF), asked, resamples=20)] == asked


def test_a_statistic_asked_for_alone_is_the_same_as_among_others() -> None:
    ratings = ratings_of(KRIPPENDORFF, scale="interval")
    together = {(statistic.name, statistic.raters, statistic.label): statistic for statistic in measure(ratings, "all")}
    for name in ("krippendorff_alpha_interval", "fleiss_kappa", "cohen_kappa", "specific_agreement", "light_kappa"):
        for statistic in measure(ratings, [name]):
            assert statistic == together[statistic.name, statistic.raters, statistic.label]


def test_no_resamples_give_values_without_intervals() -> None:
    found = measure(ratings_of(KRIPPENDORFF), ["fleiss_kappa"], resamples=0)[0]
    assert found.value == pytest.approx(0.76117, abs=5e-6)
    assert found.low is None
    assert found.method == "no interval: no resamples were asked for"


def test_a_wider_level_gives_a_wider_interval() -> None:
    ratings = rated(random_matrix(1))
    narrow, wide = (measure(ratings, ["krippendorff_alpha_nominal"], level=level)[0].interval for level in (0.8, 0.99))
    assert narrow is not None
    assert wide is not None
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"statistics": ["kappa"]}, "statistic 'kappa' is unknown: use some of percent_agreement"),
        ({"level": 95}, "level 95 is not between 0 and 1"),
        ({"resamples": -1}, "-1 resamples"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(asked: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        measure(ratings_of(KRIPPENDORFF), **asked)  # type: ignore[arg-type]


@pytest.mark.by_the_clock
def test_fifty_raters_have_1225_kappas_in_seconds() -> None:
    ratings = rated(random_matrix(2, raters=50, units=200, labels=5))
    start = time.process_time()
    found = measure(ratings, ["cohen_kappa", "light_kappa"])
    seconds = time.process_time() - start
    pairs = [statistic for statistic in found if statistic.name == "cohen_kappa"]
    assert len(pairs) == 1225
    assert all(pair.low is not None for pair in pairs)
    assert seconds < 8  # 1 on the machine it was written on


def test_pairs_resampled_together_have_the_intervals_of_pairs_alone() -> None:
    # Eight raters who rated everything are 28 pairs, which are resampled at once; two raters are not.
    matrix = random_matrix(3, raters=8, units=80, labels=3)
    together = measure(rated(matrix), ["cohen_kappa"], resamples=4000)
    for statistic, (a, b) in list(zip(together, combinations(range(8), 2), strict=True))[:6]:
        alone = measure(rated(matrix[[a, b]]), ["cohen_kappa"], resamples=4000)[0]
        assert statistic.value == pytest.approx(alone.value, abs=1e-12)
        assert [statistic.low, statistic.high] == pytest.approx([alone.low, alone.high], abs=0.03)


def test_a_million_ratings_are_measured_in_seconds() -> None:
    ratings = rated(random_matrix(4, raters=3, units=333_334, labels=5), scale="nominal")
    start = time.process_time()
    found = measure(ratings)
    assert time.process_time() - start < 10  # 1 on the machine it was written on
    assert all(statistic.low is not None for statistic in found)
