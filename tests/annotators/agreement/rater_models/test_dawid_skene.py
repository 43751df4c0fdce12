"""Dawid and Skene's model: their own example, simulated truth, EM's laws, and what cannot be fitted."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.agreement.rater_models.dawid_skene import DawidSkene, dawid_skene
from annotators.agreement.rater_models.em import Observations
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import ratings_of

# Dawid & Skene (1979), table 1: 45 patients, classes 1-4; the first observer saw each three times, the others once.
PATIENTS = """
111-1111 333-4334 112-2122 222-3121 222-3222 222-3322 122-2111 333-3433 222-2223 232-2223 444-4444 222-3343 111-1111
222-3212 121-1111 111-2111 111-1111 111-1111 222-2221 222-1322 222-2222 222-2221 222-3222 221-2222 111-1111 111-1111
232-2222 111-1111 111-1111 112-1121 111-1111 333-3233 111-1111 222-2222 222-3232 433-4343 221-2232 232-3233 333-3432
111-1111 111-1111 121-2111 232-2222 121-1111 222-2222
"""

# Their tables 2 and 4: class shares, and each observer's error rates (rows: true class 1-4).
PREVALENCE = [0.40, 0.42, 0.11, 0.07]
ERROR_RATES = [
    [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]],
    [[0.83, 0.17, 0, 0], [0.05, 0.63, 0.31, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    [[1, 0, 0, 0], [0.11, 0.79, 0.11, 0], [0, 0.40, 0.20, 0.40], [0, 0, 0.67, 0.33]],
    [[0.94, 0.06, 0, 0], [0.05, 0.84, 0.10, 0], [0, 0, 0.80, 0.20], [0, 0, 0.33, 0.67]],
    [[1, 0, 0, 0], [0.16, 0.73, 0.11, 0], [0, 0.21, 0.79, 0], [0, 0, 0.33, 0.67]],
]


def patients() -> Observations:
    triples = []
    for patient, word in enumerate(PATIENTS.split(), 1):
        first, others = word.split("-")
        triples += [(patient, 1, int(digit)) for digit in first]
        triples += [(patient, observer, int(digit)) for observer, digit in enumerate(others, 2)]
    units, raters, values = zip(*triples, strict=True)
    return Observations.from_triples(units, raters, values)


def simulated(
    seed: int, units: int = 3000, missing: float = 0.0
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], Ratings]:
    """The truth, four raters' confusion matrices over three labels, and their ratings."""
    rng = np.random.default_rng(seed)
    confusion = np.array(
        [
            [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.05, 0.05, 0.9]],
            [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]],
            [[0.6, 0.4, 0.0], [0.0, 0.95, 0.05], [0.0, 0.3, 0.7]],  # says the middle label too often
            [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]],
        ]
    )
    truth = rng.choice(3, p=[0.5, 0.3, 0.2], size=units)
    steps = np.cumsum(confusion[:, truth], axis=2)
    rows = (rng.random((4, units, 1)) >= steps).sum(axis=2).astype(float)
    rows[rng.random(rows.shape) < missing] = np.nan
    return truth, confusion, ratings_of(rows.tolist(), labels=[0, 1, 2])


def test_the_anaesthetists_of_dawid_and_skene() -> None:
    # from their own start (eq. 3.1), the shares of votes
    found = dawid_skene(patients(), starts=1)
    assert found.fit is not None
    assert found.fit.converged
    assert found.prevalence == pytest.approx(PREVALENCE, abs=0.005)
    np.testing.assert_allclose(found.confusion, ERROR_RATES, atol=0.0051)
    by_patient = dict(zip(found.units, found.posterior, strict=True))
    # their table 3: the patients whose class is not certain to two decimals
    assert by_patient[7][:2] == pytest.approx([0.98, 0.02], abs=0.005)
    assert by_patient[35][1:3] == pytest.approx([0.95, 0.05], abs=0.005)
    assert by_patient[38][1:3] == pytest.approx([0.02, 0.98], abs=0.005)
    uncertain = {patient for patient, row in by_patient.items() if row.max() < 0.995}
    assert uncertain == {7, 35, 38}


def test_other_starts_find_a_higher_maximum_than_the_published_one() -> None:
    published, best = dawid_skene(patients(), starts=1), dawid_skene(patients(), starts=10)
    assert published.fit is not None
    assert best.fit is not None
    assert published.fit.log_likelihood == pytest.approx(-192.8909, abs=1e-3)
    assert best.fit.log_likelihood == pytest.approx(-191.5689, abs=1e-3)
    assert best.fit.starts[0] == pytest.approx(published.fit.log_likelihood)
    assert 1 <= best.fit.reached < 10


def plain_log_likelihood(data: Observations, found: DawidSkene) -> float:
    """Dawid & Skene, eq. 2.7, by loops."""
    total = 0.0
    for unit in range(len(data.units)):
        here = np.flatnonzero(data.unit == unit)
        if not len(here):
            continue
        total += np.log(
            sum(
                found.prevalence[label]
                * np.prod([np.nan_to_num(found.confusion[data.rater[i], label, data.code[i]]) for i in here])
                for label in range(len(data.labels))
            )
        )
    return float(total)


def test_the_log_likelihood_is_that_of_the_observed_ratings() -> None:
    data = patients()
    found = dawid_skene(data, starts=1)
    assert found.fit is not None
    assert found.fit.log_likelihood == pytest.approx(plain_log_likelihood(data, found), abs=1e-6)


def test_a_simulated_truth_is_recovered() -> None:
    truth, confusion, ratings = simulated(1)
    found = dawid_skene(ratings, starts=3)
    np.testing.assert_allclose(found.confusion, confusion, atol=0.06)
    assert found.prevalence == pytest.approx([0.5, 0.3, 0.2], abs=0.04)
    right = np.mean([label == true for label, true in zip(found.unit_labels, truth.tolist(), strict=True)])
    votes = np.array([np.bincount(column, minlength=3).argmax() for column in ratings.matrix().T])
    assert right > np.mean(votes == truth) + 0.005
    accuracy = [np.mean(row == truth) for row in ratings.matrix()]
    assert found.accuracy == pytest.approx(accuracy, abs=0.03)


def test_gaps_are_no_information() -> None:
    _, confusion, ratings = simulated(2, units=8000, missing=0.3)
    found = dawid_skene(ratings, starts=2)
    np.testing.assert_allclose(found.confusion, confusion, atol=0.08)


def test_every_unit_keeps_its_own_row_when_some_have_no_rating() -> None:
    rows: list[list[object]] = [
        [None, "a", "a", None, "b", "b", "a", None],
        [None, "a", "a", None, "b", "b", "b", None],
        [None, "a", "b", None, "b", "b", "a", None],
    ]
    found = dawid_skene(ratings_of(rows), smoothing=0.1)
    assert found.posterior.shape == (8, 2)
    assert found.unit_labels == (None, "a", "a", None, "b", "b", "a", None)
    assert np.isnan(found.posterior[[0, 3, 7]]).all()
    assert found.posterior[[1, 2, 4, 5, 6]].sum(axis=1) == pytest.approx(1.0)


def test_a_declared_label_that_nobody_used_is_no_class() -> None:
    rows = [["a", "b", "a", "b"]] * 3
    found = dawid_skene(ratings_of(rows, labels=["a", "never", "b"]))
    assert found.prevalence == pytest.approx([0.5, 0, 0.5])
    assert np.isnan(found.confusion[:, 1]).all()
    assert found.posterior[:, 1] == pytest.approx(0.0)
    assert found.unit_labels == ("a", "b", "a", "b")


def test_a_class_that_a_rater_never_saw_has_no_row() -> None:
    rows = [["a", "a", "a", "b", "b", "b"]] * 3 + [["a", "a", "a", None, None, None]]
    found = dawid_skene(ratings_of(rows))
    assert found.confusion[3, 0] == pytest.approx([1.0, 0.0])
    assert np.isnan(found.confusion[3, 1]).all()
    assert found.seen[3] == pytest.approx([3.0, 0.0])


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[None, None], [None, None]], "there are no ratings"),
        ([["a", "b", "a"]], "only one rater has rated"),
        ([["a", None], [None, "b"]], "no unit was rated by two raters"),
        ([["a", "a"], ["a", "a"]], 'every rating is "a"'),
    ],
)
def test_what_cannot_be_fitted_has_a_reason_and_no_numbers(rows: list[list[object]], reason: str) -> None:
    found = dawid_skene(ratings_of(rows, labels=["a", "b"]), resamples=10)
    assert found.fit is None
    assert found.reason is not None
    assert found.reason.startswith(reason)
    assert set(found.unit_labels) == {None}
    for numbers in (found.posterior, found.confusion, found.prevalence, found.accuracy, found.seen):
        assert np.isnan(numbers).all()
    assert found.in_words() == f"no Dawid–Skene model: {found.reason}"


def test_two_raters_are_fitted_with_the_warning_that_two_do_not_identify_the_model() -> None:
    _, _, ratings = simulated(3, units=200)
    found = dawid_skene(ratings_of(ratings.matrix()[:2].tolist()))
    assert found.fit is not None
    assert any("do not identify the model" in note for note in found.notes)


def test_stopping_early_is_reported_as_not_converged() -> None:
    _, _, ratings = simulated(4, units=300)
    found = dawid_skene(ratings, starts=1, most_iterations=3)
    assert found.fit is not None
    assert not found.fit.converged
    assert found.fit.iterations == 3
    assert "NOT converged after 3 iterations" in found.in_words()
    assert any("allow more iterations" in note for note in found.notes)


def test_thin_raters_are_named() -> None:
    _, _, ratings = simulated(5, units=30)
    rows = [*ratings.matrix().tolist(), [0, 1, 2, *[None] * 27]]
    assert any(note.startswith("1 of 5 raters have fewer ratings") for note in dawid_skene(ratings_of(rows)).notes)


@st.composite
def tables(draw: st.DrawFn) -> list[list[int | None]]:
    """2-5 raters × 2-12 units with labels 0-2 and gaps."""
    units = draw(st.integers(2, 12))
    cell = st.one_of(st.none(), st.integers(0, 2))
    return draw(st.lists(st.lists(cell, min_size=units, max_size=units), min_size=2, max_size=5))


@given(tables(), st.sampled_from([0.0, 0.01, 1.0]))
@settings(max_examples=80, deadline=None)
def test_no_iteration_lowers_the_objective(rows: list[list[int | None]], smoothing: float) -> None:
    found = dawid_skene(ratings_of(rows, labels=[0, 1, 2]), smoothing=smoothing, starts=2, most_iterations=200)
    if found.fit is None:
        assert found.reason
        return
    gains = np.diff(found.fit.trace)
    assert (gains >= -1e-9 * (1 + abs(found.fit.objective))).all()
    assert found.fit.objective >= max(found.fit.starts) - 1e-5 * (1 + abs(found.fit.objective))
    rated = ~np.isnan(found.posterior[:, 0])
    assert found.posterior[rated].sum(axis=1) == pytest.approx(1.0)
    assert found.prevalence.sum() == pytest.approx(1.0)
    if not smoothing:
        assert found.fit.objective == found.fit.log_likelihood


@given(tables(), st.permutations([0, 1, 2]))
@settings(max_examples=60, deadline=None)
def test_the_names_of_labels_do_not_matter(rows: list[list[int | None]], names: list[int]) -> None:
    renamed = [[None if x is None else names[x] for x in row] for row in rows]
    fit = dawid_skene(ratings_of(rows, labels=[0, 1, 2]), starts=1, smoothing=0.1)
    other = dawid_skene(ratings_of(renamed, labels=[0, 1, 2]), starts=1, smoothing=0.1)
    if fit.fit is None or other.fit is None:
        assert fit.fit is other.fit
        return
    assert fit.fit.objective == pytest.approx(other.fit.objective, abs=1e-5)
    assert np.sort(np.nan_to_num(fit.prevalence)) == pytest.approx(np.sort(np.nan_to_num(other.prevalence)), abs=1e-3)


def test_raters_and_units_may_come_in_any_order_and_labels_by_any_name() -> None:
    _, _, ratings = simulated(6, units=400, missing=0.2)
    rng = np.random.default_rng(0)
    order, names = rng.permutation(ratings.n_ratings), np.array([2, 0, 1])
    fit = dawid_skene(ratings, starts=2)
    other = dawid_skene(
        Ratings.from_triples(
            ratings.unit[order], 10 - ratings.rater[order], names[ratings.code[order]], labels=[0, 1, 2]
        ),
        starts=2,
    )
    here = [i for i, unit in enumerate(fit.units) if unit in other.units]
    place = [other.units.index(fit.units[i]) for i in here]
    np.testing.assert_allclose(other.posterior[place][:, names], fit.posterior[here], atol=1e-4)
    np.testing.assert_allclose(other.confusion[::-1][:, names][:, :, names], fit.confusion, atol=1e-4)


def test_raters_who_err_alike_do_not_turn_the_names_of_the_classes_around() -> None:
    _, _, ratings = simulated(7, units=500)
    found = dawid_skene(ratings, starts=6, seed=3)
    assert (np.einsum("rkk->rk", found.confusion).mean(axis=0) > 0.5).all()


def test_intervals_come_from_resamples_of_units_and_hold_the_value() -> None:
    _, _, ratings = simulated(8, units=300)
    found = dawid_skene(ratings, starts=2, resamples=100, seed=5)
    again = dawid_skene(ratings, starts=2, resamples=100, seed=5)
    assert found.accuracy_interval is not None
    assert again.accuracy_interval is not None
    assert found.prevalence_interval is not None
    np.testing.assert_array_equal(found.accuracy_interval, again.accuracy_interval)
    low, high = found.accuracy_interval.T
    assert ((low < found.accuracy) & (found.accuracy < high) & (high - low < 0.2)).all()
    low, high = found.prevalence_interval.T
    assert ((low < found.prevalence) & (found.prevalence < high)).all()


def test_json_has_no_nan_and_names_every_unit_and_rater() -> None:
    rows = [["a", "a", None, "b"], ["a", "b", None, "b"], ["a", "b", None, None]]
    told = json.loads(json.dumps(dawid_skene(ratings_of(rows), resamples=5).to_json(), allow_nan=False))
    assert told["units"][2] == {"unit": 2, "label": None, "posterior": [None, None]}
    assert [rater["rater"] for rater in told["raters"]] == [0, 1, 2]
    assert told["fit"]["starts"]


def test_repeats_of_one_rater_are_kept_apart_from_other_raters() -> None:
    data = Observations.from_triples([1, 1, 1, 2, 2], ["ann", "bob", "ann", "ann", "bob"], ["x", "x", "y", "y", "y"])
    assert data.raters == ("ann", "bob")
    assert data.raters_of_units.tolist() == [2, 2]
    assert data.n_ratings == 5


@pytest.mark.parametrize("wrong", [{"smoothing": -1.0}, {"starts": 0}, {"level": 1.0}, {"most_iterations": 1}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        dawid_skene(ratings_of([["a", "b"], ["a", "a"]]), **wrong)  # type: ignore[arg-type]
