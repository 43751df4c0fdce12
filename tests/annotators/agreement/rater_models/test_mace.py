"""MACE: spammers are told from competent raters, no iteration lowers the bound, and what cannot be fitted."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from annotators.agreement.rater_models.mace import Mace, Method, mace
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import ratings_of
from tests.annotators.agreement.rater_models.test_dawid_skene import tables

COMPETENCE = [0.95, 0.85, 0.7, 0.6, 0.0, 0.0]


def simulated(seed: int, units: int = 400, missing: float = 0.3) -> tuple[npt.NDArray[np.int64], Ratings]:
    """The truth, and raters of `COMPETENCE`: the fifth guesses at random, the last says 0 to everything."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=units)
    guesses = rng.integers(4, size=(len(COMPETENCE), units))
    guesses[-1] = 0
    knows = rng.random(guesses.shape) < np.array(COMPETENCE)[:, None]
    rows = np.where(knows, truth, guesses).astype(float)
    rows[rng.random(rows.shape) < missing] = np.nan
    return truth, ratings_of(rows.tolist(), labels=[0, 1, 2, 3])


@pytest.mark.parametrize("method", ["variational", "em"])
def test_spammers_are_told_from_competent_raters(method: Method) -> None:
    truth, ratings = simulated(1)
    found = mace(ratings, method=method)
    assert found.fit is not None
    assert found.fit.converged
    assert found.competence == pytest.approx(COMPETENCE, abs=0.12)
    assert found.competence[:4].min() > found.competence[4:].max() + 0.3
    assert found.strategy[-1, 0] > 0.9
    rated = ratings.sizes > 0
    given_ = [
        label == true
        for label, true, is_rated in zip(found.unit_labels, truth.tolist(), rated, strict=True)
        if is_rated
    ]
    votes = [np.bincount(column[column >= 0], minlength=4).argmax() for column in ratings.matrix().T[rated]]
    assert np.mean(given_) > np.mean(votes == truth[rated]) + 0.03


def test_competence_is_recovered_over_several_data_sets() -> None:
    found = np.array([mace(simulated(seed)[1], starts=3).competence for seed in range(8)])
    assert found.mean(axis=0) == pytest.approx(COMPETENCE, abs=0.06)


@pytest.mark.slow
@given(tables())
@settings(max_examples=60, deadline=None)
def test_no_iteration_lowers_the_bound(rows: list[list[int | None]]) -> None:
    for method in ("variational", "em"):
        found = mace(ratings_of(rows, labels=[0, 1, 2]), method=method, starts=2, most_iterations=100)  # type: ignore[arg-type]
        if found.fit is None:
            assert found.reason
            continue
        assert (np.diff(found.fit.trace) >= -1e-9 * (1 + abs(found.fit.objective))).all()
        assert np.nanmin(found.competence) >= 0
        assert np.nanmax(found.competence) <= 1
        rated = ~np.isnan(found.posterior[:, 0])
        assert found.posterior[rated].sum(axis=1) == pytest.approx(1.0)


def plain_log_likelihood(ratings: Ratings, found: Mace) -> float:
    """Σ_i log Σ_t 1/K Π_j (θ_j [a_ij = t] + (1 - θ_j) ξ_j,a_ij), by loops."""
    k, total = len(ratings.labels), 0.0
    for column in ratings.matrix().T:
        given_ = [(j, int(a)) for j, a in enumerate(column) if a >= 0]
        if given_:
            total += np.log(
                sum(
                    np.prod(
                        [
                            found.competence[j] * (a == t) + (1 - found.competence[j]) * found.strategy[j, a]
                            for j, a in given_
                        ]
                    )
                    / k
                    for t in range(k)
                )
            )
    return float(total)


@pytest.mark.parametrize("method", ["variational", "em"])
def test_the_log_likelihood_is_that_of_the_observed_ratings(method: Method) -> None:
    _, ratings = simulated(2, units=60)
    found = mace(ratings, method=method)
    assert found.fit is not None
    assert found.fit.log_likelihood == pytest.approx(plain_log_likelihood(ratings, found), abs=1e-6)


def test_the_posterior_of_a_unit_follows_from_the_competences() -> None:
    # By EM the posterior is Bayes' rule at the estimates: here for the first unit, by hand.
    _, ratings = simulated(3, units=80)
    found = mace(ratings, method="em", tolerance=1e-14)
    column = ratings.matrix()[:, 0]
    weights = [
        np.prod(
            [
                found.competence[j] * (a == t) + (1 - found.competence[j]) * found.strategy[j, a]
                for j, a in enumerate(column)
                if a >= 0
            ]
        )
        for t in range(4)
    ]
    assert found.posterior[0] == pytest.approx(np.array(weights) / sum(weights), abs=1e-6)


def test_restarts_are_real_and_the_best_is_kept() -> None:
    # two camps, each of one mind and neither knowing of the other: whom to trust has two answers
    rng = np.random.default_rng(4)
    camps = rng.integers(3, size=(2, 40))
    found = mace(ratings_of([*[camps[0].tolist()] * 3, *[camps[1].tolist()] * 2]), starts=20)
    assert found.fit is not None
    assert len(found.fit.starts) == 20
    assert len({round(end, 4) for end in found.fit.starts}) > 1
    assert found.fit.objective == pytest.approx(max(found.fit.starts), abs=1e-4)
    assert found.unit_labels == tuple(camps[0].tolist())


def test_every_unit_keeps_its_own_row_when_some_have_no_rating() -> None:
    rows: list[list[object]] = [[None, "a", "b", None, "b"], [None, "a", "b", None, "b"], [None, "a", "b", None, "a"]]
    found = mace(ratings_of(rows))
    assert found.unit_labels == (None, "a", "b", None, "b")
    assert np.isnan(found.posterior[[0, 3]]).all()
    assert np.isnan(found.entropy[[0, 3]]).all()
    assert (found.entropy[[1, 2]] < found.entropy[4]).all()


def test_a_rater_without_ratings_has_no_competence() -> None:
    rows = [["a", "b", "a"], ["a", "b", "b"], ["a", "b", "a"], [None, None, None]]
    found = mace(ratings_of(rows), resamples=20)
    assert np.isnan(found.competence[3])
    assert np.isnan(found.strategy[3]).all()
    assert not np.isnan(found.competence[:3]).any()
    assert found.competence_interval is not None
    assert np.isnan(found.competence_interval[3]).all()


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([["a", "b", "a"]], "only one rater has rated"),
        ([["a", "a"], ["a", "a"]], 'every rating is "a"'),
        ([["a", None], [None, "b"]], "no unit was rated by two raters"),
    ],
)
def test_what_cannot_be_fitted_has_a_reason_and_no_numbers(rows: list[list[object]], reason: str) -> None:
    found = mace(ratings_of(rows))
    assert found.fit is None
    assert (found.reason or "").startswith(reason)
    assert np.isnan(found.competence).all()
    assert set(found.unit_labels) == {None}


def test_intervals_hold_the_competence_and_json_has_no_nan() -> None:
    _, ratings = simulated(5, units=200)
    found = mace(ratings, starts=3, resamples=60)
    assert found.competence_interval is not None
    low, high = found.competence_interval[:4].T
    assert ((low <= found.competence[:4]) & (found.competence[:4] <= high) & (high - low < 0.4)).all()
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["raters"][0]["competence_interval"] == pytest.approx([low[0], high[0]])


def test_stopping_early_is_reported_as_not_converged() -> None:
    _, ratings = simulated(6)
    found = mace(ratings, starts=1, most_iterations=2)
    assert found.fit is not None
    assert not found.fit.converged
    assert "NOT converged after 2 iterations" in found.in_words()


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(InvalidInput, match="unknown"):
        mace(ratings_of([["a", "b"], ["a", "a"]]), method="gibbs")  # type: ignore[arg-type]
