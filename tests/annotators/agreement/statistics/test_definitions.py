"""Every coefficient agrees with its definition computed the slow way, on random tables with up to 40 % missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.agreement.measure import measure
from annotators.agreement.statistics import sets as set_agreement
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.intervals.result import Statistic
from tests.annotators.agreement import slow
from tests.annotators.agreement.makers import ratings_of
from tests.annotators.agreement.slow import Matrix

pytestmark = pytest.mark.slow

LABELS = [0.0, 1.0, 2.0, 5.0]


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """2-5 raters × 3-12 units, four labels of unequal steps, up to 40 % missing, two units rated twice at least."""
    raters, units = draw(st.integers(2, 5)), draw(st.integers(3, 12))
    seed, missing, noise = draw(st.integers(0, 2**32 - 1)), draw(st.floats(0, 0.4)), draw(st.floats(0.1, 0.9))
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=units)
    codes = np.where(rng.random((raters, units)) < noise, rng.integers(4, size=(raters, units)), truth)
    matrix = np.array(LABELS)[codes]
    matrix[rng.random(matrix.shape) < missing] = np.nan
    matrix[:2, :2] = np.array(LABELS)[codes[:2, :2]]
    return matrix


def measured(matrix: Matrix) -> dict[tuple[object, object], Statistic]:
    ratings = ratings_of(matrix.tolist(), [0, 1, 2, 5], "ratio")
    found = measure(ratings, "all", resamples=0, least_shared=2)
    return {
        (statistic.name, statistic.raters if statistic.label is None else statistic.label): statistic
        for statistic in found
    }


def assert_is(found: Statistic, expected: float | None) -> None:
    if expected is None:
        assert found.value is None, found
    else:
        assert found.value == pytest.approx(expected, abs=1e-9), found


@given(matrices())
@settings(max_examples=80, deadline=None)
def test_coefficients_of_counts_are_their_definitions(matrix: Matrix) -> None:
    found = measured(matrix)
    assert_is(found["percent_agreement", None], slow.observed(matrix, slow.nominal))
    assert_is(found["fleiss_kappa", None], slow.fleiss(matrix, LABELS))
    assert_is(found["conger_kappa", None], slow.conger(matrix, LABELS))
    for end, weight in [
        ("linear", slow.linear(LABELS)),
        ("quadratic", slow.quadratic(LABELS)),
        ("ordinal", slow.ordinal(LABELS)),
    ]:
        assert_is(found[f"gwet_ac2_{end}", None], slow.gwet(matrix, LABELS, weight))
        assert_is(found[f"brennan_prediger_{end}", None], slow.brennan(matrix, LABELS, weight))
    assert_is(found["gwet_ac1", None], slow.gwet(matrix, LABELS))
    assert_is(found["brennan_prediger", None], slow.brennan(matrix, LABELS))
    for label in LABELS:
        assert_is(found["specific_agreement", label], slow.specific(matrix, label))


@given(matrices())
@settings(max_examples=80, deadline=None)
def test_alphas_are_their_definitions(matrix: Matrix) -> None:
    found = measured(matrix)
    assert_is(found["krippendorff_alpha_nominal", None], slow.alpha(matrix, lambda a, b: float(a != b)))
    assert_is(found["krippendorff_alpha_ordinal", None], slow.alpha(matrix, slow.rank_distance(matrix)))
    assert_is(found["krippendorff_alpha_interval", None], slow.alpha(matrix, lambda a, b: (a - b) ** 2))
    assert_is(found["krippendorff_alpha_ratio", None], slow.alpha(matrix, slow.ratio_distance))


@given(matrices())
@settings(max_examples=60, deadline=None)
def test_statistics_of_pairs_and_their_means_are_their_definitions(matrix: Matrix) -> None:
    found = measured(matrix)
    weights = {"": slow.nominal, "_linear": slow.linear(LABELS), "_quadratic": slow.quadratic(LABELS)}
    pairable = (~np.isnan(matrix)).sum(axis=0) > 1
    beside_others = (~np.isnan(matrix[:, pairable])).any(axis=1)
    for end, weight in weights.items():
        kappas: list[float | None] = []
        for i in range(len(matrix)):
            for j in range(i + 1, len(matrix)):
                expected = slow.cohen(matrix[i], matrix[j], LABELS, weight)
                assert_is(found[f"cohen_kappa{end}", (i, j)], expected)
                kappas += [expected] if beside_others[i] and beside_others[j] else []
        defined = [kappa for kappa in kappas if kappa is not None]
        mean = sum(defined) / len(defined) if kappas and len(defined) == len(kappas) else None
        assert_is(found[f"light_kappa{end}", None], mean)
    for i in range(len(matrix)):
        for j in range(i + 1, len(matrix)):
            assert_is(found["scott_pi", (i, j)], slow.scott(matrix[i], matrix[j], LABELS))


@given(matrices(), st.lists(st.lists(st.floats(0, 0.9), min_size=4, max_size=4), min_size=4, max_size=4))
@settings(max_examples=40, deadline=None)
def test_own_weights_are_used_as_they_are(matrix: Matrix, rows: list[list[float]]) -> None:
    table = [[1.0 if i == j else rows[min(i, j)][max(i, j)] for j in range(4)] for i in range(4)]

    def weight(a: float, b: float) -> float:
        return table[LABELS.index(a)][LABELS.index(b)]

    ratings = ratings_of(matrix.tolist(), [0, 1, 2, 5])
    names = ["cohen_kappa_weighted", "gwet_ac2_weighted", "brennan_prediger_weighted"]
    found = {
        statistic.name: statistic
        for statistic in reversed(
            measure(ratings, names, resamples=0, own_weights=OwnWeights.of(table), least_shared=2)
        )
    }
    assert_is(found["cohen_kappa_weighted"], slow.cohen(matrix[0], matrix[1], LABELS, weight))
    lowest = min(min(row) for row in table)

    def stretched(a: float, b: float) -> float:
        return (weight(a, b) - lowest) / (1 - lowest)  # Gwet's weights go down to 0; κ does not ask

    assert_is(found["gwet_ac2_weighted"], slow.gwet(matrix, LABELS, stretched))
    assert_is(found["brennan_prediger_weighted"], slow.brennan(matrix, LABELS, stretched))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_set_coefficients_are_their_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        [None if rng.random() < 0.2 else [int(e) for e in np.flatnonzero(rng.random(4) < 0.4)] for _ in range(8)]
        for _ in range(3)
    ]
    rows[0][0], rows[1][0], rows[0][1], rows[1][1] = [1], [1, 2], [], [3]
    found = {
        (statistic.name, statistic.raters): statistic
        for statistic in measure(ratings_of(rows, scale="set"), resamples=0)
    }
    columns = [
        [frozenset(count_of) for count_of in column if count_of is not None] for column in zip(*rows, strict=True)
    ]
    pairs = [[(a, b) for i, a in enumerate(c) for j, b in enumerate(c) if i != j] for c in columns]

    def jaccard(a: frozenset[int], b: frozenset[int]) -> float:
        return len(a & b) / len(a | b) if a | b else 1.0

    def masi(a: frozenset[int], b: frozenset[int]) -> float:
        monotonic = 1.0 if a == b else 2 / 3 if a & b and (a <= b or b <= a) else 1 / 3
        return jaccard(a, b) * monotonic

    means = [sum(jaccard(a, b) for a, b in pair) / len(pair) for pair in pairs if pair]
    assert_is(found["mean_jaccard", None], sum(means) / len(means))
    pairable = [c for c in columns if len(c) > 1]
    everything = [value for c in pairable for value in c]
    n = len(everything)
    apart = sum(sum(1 - masi(a, b) for a, b in p) / (len(c) - 1) for p, c in zip(pairs, columns, strict=True) if p) / n
    expected = sum(1 - masi(a, b) for i, a in enumerate(everything) for j, b in enumerate(everything) if i != j)
    assert_is(found["krippendorff_alpha_masi", None], 1 - apart / (expected / (n * (n - 1))))
    together = [value for pair in pairs for value in pair]
    sizes = sum(len(a) + len(b) for a, b in together)
    assert_is(found["pairwise_f1", None], 2 * sum(len(a & b) for a, b in together) / sizes if sizes else None)
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        both = [(set(a), set(b)) for a, b in zip(rows[i], rows[j], strict=True) if a is not None and b is not None]
        sizes = sum(len(a) + len(b) for a, b in both)
        assert_is(found["pairwise_f1", (i, j)], 2 * sum(len(a & b) for a, b in both) / sizes if sizes else None)


def test_boxes_are_matched_one_to_one_by_their_overlap() -> None:
    def box(x0: float, x1: float, page: int = 1) -> dict[str, object]:
        return {"document": "a.pdf", "page": page, "box": [x0, 0, x1, 1]}

    # [0, .5] and [.05, .5]: IoU .9, a match; [.6, 1] and [.9, 1]: IoU .25, none; the third is on another page.
    rows = [[[box(0, 0.5), box(0.6, 1)], []], [[box(0.05, 0.5), box(0.9, 1), box(0.6, 1, page=2)], []]]
    ratings = ratings_of(rows, scale="set")
    found = {statistic.name: statistic for statistic in measure(ratings, resamples=0)}
    assert found["pairwise_f1"].value == pytest.approx(2 * 1 / 5)
    assert "intersection over union of 0.5" in (found["pairwise_f1"].method or "")
    assert "never drawn alike" in (found["krippendorff_alpha_masi"].reason or "")
    looser = measure(ratings, ["pairwise_f1"], resamples=0, overlap=0.2)[0]
    assert looser.value == pytest.approx(2 * 2 / 5)
    assert set_agreement.intersection_over_union(*(next(iter(label)) for label in _single(box(0, 1), box(0, 1)))) == 1


def _single(*boxes: object) -> list[frozenset[object]]:
    from annotators.agreement.tables.ratings import as_set

    return [as_set([box]) for box in boxes]


def test_one_box_is_not_matched_twice() -> None:
    box = {"page": 1, "box": [0, 0, 1, 1]}
    near = [{"page": 1, "box": [0, 0, 1, 0.9]}, {"page": 1, "box": [0, 0, 1, 0.95]}]
    found = measure(ratings_of([[[box]], [near]], scale="set"), ["pairwise_f1"], resamples=0)[0]
    assert found.value == pytest.approx(2 * 1 / 3)


def test_all_empty_sets_agree_and_have_no_f1() -> None:
    found = {
        statistic.name: statistic for statistic in measure(ratings_of([[[], []], [[], []]], scale="set"), resamples=0)
    }
    assert found["mean_jaccard"].value == found["exact_match"].value == 1.0
    assert found["pairwise_f1"].reason == "every set is empty, so that there is nothing to find"
    assert "every rating is {}" in (found["krippendorff_alpha_masi"].reason or "")


def test_texts_agree_after_normalisation_and_by_similarity() -> None:
    rows = [["What  is it?", "When did it end", None], ["what is IT", "Where did it end", "alone"]]
    found = {statistic.name: statistic for statistic in measure(ratings_of(rows, scale="text"), resamples=200)}
    assert found["text_identical"].value == 0.5
    # "when did it end" and "where did it end": 14 letters in common of 15 + 16
    assert found["text_similarity"].value == pytest.approx((1 + 2 * 14 / 31) / 2)
    assert found["text_similarity"].left_out == 1
