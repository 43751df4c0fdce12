"""What the rater models share: grouping of units, and the example of the user's guide."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from annotators.agreement.rater_models.dawid_skene import dawid_skene
from annotators.agreement.rater_models.em import Observations, UnitPatterns, resampled
from annotators.agreement.rater_models.fitted import entropy_of_units, label_of_units
from annotators.agreement.rater_models.mace import mace
from annotators.agreement.tables.ratings import Ratings
from tests.annotators.agreement.makers import random_matrix, rated, ratings_of

GUIDE = Path(__file__).parents[4] / "docs" / "rater-models.md"


def test_the_example_of_the_guide_gives_its_figures() -> None:
    text = GUIDE.read_text()
    said = dict(re.findall(r"^\| (\w+) \| `([yn]{12})` \|$", text, re.M))
    assert list(said) == ["Ana", "Ben", "Cem", "Dee"]
    triples = [(i, name, letter) for name, word in said.items() for i, letter in enumerate(word, 1)]
    ratings = Ratings.from_triples(*zip(*triples, strict=True), labels=["y", "n"])
    model, other = dawid_skene(ratings), mace(ratings)
    figures = re.findall(r"^\| (\w+) \| (\d\.\d\d) \| (\d\.\d\d) \| (\d\.\d\d) \| (\d\.\d\d) \|$", text, re.M)
    assert [row[0] for row in figures] == list(said)
    for i, row in enumerate(figures):
        ours = [model.accuracy[i], model.confusion[i, 0, 0], model.confusion[i, 1, 1], other.competence[i]]
        assert [f"{number:.2f}" for number in ours] == list(row[1:])
    votes = [word[9] for word in said.values()]
    assert votes.count("y") == votes.count("n") == 2
    assert model.unit_labels[9] == other.unit_labels[9] == "n"


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_grouped_units_hold_every_rating_once(missing: float) -> None:
    ratings = rated(random_matrix(1, raters=3, units=200, labels=2, missing=missing), labels=[0, 1, 9])
    patterns = UnitPatterns.of(Observations.of(ratings))
    assert patterns.multiplicity.sum() == (ratings.sizes > 0).sum()
    assert len(patterns.multiplicity) <= 27
    rows = patterns.incidence.toarray()
    assert len(np.unique(rows, axis=0)) == len(rows)
    for unit, pattern in enumerate(patterns.pattern_of_unit):
        here = np.zeros(rows.shape[1])
        own = ratings.unit == unit
        np.add.at(here, ratings.rater[own] * patterns.n_labels + ratings.code[own], 1)
        if own.any():
            np.testing.assert_array_equal(rows[pattern], here)
        else:
            assert pattern == -1


def test_a_rating_that_was_repeated_counts_twice() -> None:
    data = Observations.from_triples(["u", "u", "u"], ["ann", "ann", "bob"], ["x", "x", "y"])
    patterns = UnitPatterns.of(data)
    assert patterns.incidence.toarray().tolist() == [[2, 0, 0, 1]]
    assert patterns.votes.tolist() == [[2, 1]]


def test_resamples_have_as_many_units_as_the_data() -> None:
    ratings = rated(random_matrix(2, raters=3, units=50, missing=0.3), scale="nominal")
    patterns = UnitPatterns.of(Observations.of(ratings))
    for drawn in resampled(patterns, 5, seed=1):
        assert drawn.multiplicity.sum() == patterns.multiplicity.sum()
        assert (drawn.multiplicity > 0).all()
        assert drawn.incidence.shape[0] == len(drawn.multiplicity) < len(patterns.multiplicity)


def test_a_tie_and_an_unrated_unit_have_no_label() -> None:
    posterior = np.array([[0.5, 0.5, 0.0], [0.2, 0.1, 0.7], [np.nan] * 3])
    assert label_of_units(posterior, ["a", "b", "c"]) == (None, "c", None)
    assert label_of_units(np.empty((2, 0)), []) == (None, None)
    entropy = entropy_of_units(posterior)
    assert entropy[0] == pytest.approx(1.0)
    assert np.isnan(entropy[2])


# What cannot be known -------------------------------------------------------------------------------------------------


def with_a_loner() -> Ratings:
    """Three raters of thirty units, and one who rated six other units alone."""
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=36)
    matrix = np.where(rng.random((4, 36)) < 0.85, truth, 1 - truth).astype(float)
    matrix[:3, 30:] = np.nan
    matrix[3, :30] = np.nan
    return ratings_of(matrix.tolist(), labels=[0, 1])


@pytest.mark.parametrize("seed", range(3))
def test_a_rater_who_shares_no_unit_has_no_accuracy_and_overturns_nothing(seed: int) -> None:
    ratings = with_a_loner()
    given = [int(code) for code in ratings.code[ratings.rater == 3]]
    for found, quality in (
        ((fit := dawid_skene(ratings, seed=seed)), fit.accuracy),
        ((other := mace(ratings, seed=seed)), other.competence),
    ):
        assert np.isnan(quality[3])
        assert not np.isnan(quality[:3]).any()
        assert list(found.unit_labels[30:]) == given
        assert "3 shares no unit with another rater: nothing tells how good they are" in found.notes[0]


def two_groups(seed: int, raters: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """The truth of 80 units, and the labels of two groups of raters, one for each half; all are right in 85 %.

    The first half has the label 1 in a tenth of its units, the second in nine tenths.
    """
    rng = np.random.default_rng(seed)
    truth = (rng.random(80) < np.repeat([0.1, 0.9], 40)).astype(int)
    matrix = np.where(rng.random((2 * raters, 80)) < 0.85, truth, 1 - truth).astype(float)
    matrix[:raters, 40:] = np.nan
    matrix[raters:, :40] = np.nan
    return truth, matrix


@pytest.mark.slow
@pytest.mark.parametrize("raters", [2, 3])
@pytest.mark.parametrize("study", [0, 3, 4])
def test_no_start_overturns_the_labels_of_a_group_that_nothing_ties_to_the_others(study: int, raters: int) -> None:
    """Fitted together, taking one group for liars makes the shares of the classes alike, which is likelier."""
    truth, matrix = two_groups(study, raters)
    ratings = ratings_of(matrix.tolist(), labels=[0, 1])
    for seed in range(2):
        skene = dawid_skene(ratings, seed=seed)
        for found in (skene, mace(ratings, seed=seed)):
            right = np.array(found.unit_labels) == truth
            assert min(right[:40].mean(), right[40:].mean()) > 0.5
        assert min(skene.accuracy[:raters].mean(), skene.accuracy[raters:].mean()) > 0.5


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_what_an_unconnected_group_says_changes_nothing_of_the_others(smoothing: float) -> None:
    _, matrix = two_groups(7)
    both = ratings_of(matrix.tolist(), labels=[0, 1])
    alone = ratings_of(np.where(np.arange(80) < 40, matrix, np.nan).tolist(), labels=[0, 1])
    fit, whole = dawid_skene(alone, smoothing=smoothing), dawid_skene(both, smoothing=smoothing)
    np.testing.assert_array_equal(fit.posterior[:40], whole.posterior[:40])
    np.testing.assert_array_equal(fit.accuracy[:3], whole.accuracy[:3])
    np.testing.assert_array_equal(fit.confusion[:3], whole.confusion[:3])
    np.testing.assert_array_equal(fit.seen[:3], whole.seen[:3])
    first, second = mace(alone), mace(both)
    np.testing.assert_array_equal(first.posterior[:40], second.posterior[:40])
    np.testing.assert_array_equal(first.competence[:3], second.competence[:3])


def test_the_fit_of_groups_is_the_sum_of_theirs_and_their_shares_are_weighed_by_units() -> None:
    _, matrix = two_groups(8)
    matrix[:, 60:] = np.nan
    parts = [dawid_skene(ratings_of(rows.tolist(), labels=[0, 1])) for rows in (matrix[:3], matrix[3:])]
    whole = dawid_skene(ratings_of(matrix.tolist(), labels=[0, 1]), resamples=50)
    fits = [part.fit for part in parts]
    assert whole.fit is not None
    assert fits[0] is not None
    assert fits[1] is not None
    assert whole.fit.log_likelihood == pytest.approx(fits[0].log_likelihood + fits[1].log_likelihood)
    assert whole.fit.objective == pytest.approx(max(fits[0].starts) + max(fits[1].starts), rel=1e-5)
    assert whole.fit.starts == pytest.approx(np.add(fits[0].starts, fits[1].starts))
    assert (whole.fit.iterations, whole.fit.reached) == (
        max(fit.iterations for fit in fits if fit),
        min(fit.reached for fit in fits if fit),
    )
    np.testing.assert_allclose(whole.prevalence, (40 * parts[0].prevalence + 20 * parts[1].prevalence) / 60)
    assert whole.prevalence_interval is not None
    assert (whole.prevalence_interval[:, 0] <= whole.prevalence).all()
    assert (whole.prevalence <= whole.prevalence_interval[:, 1]).all()
    assert whole.accuracy_interval is not None
    assert not np.isnan(whole.accuracy_interval).any()


def test_a_group_of_one_mind_keeps_its_labels() -> None:
    rows = [["a", "b", "a", "b", None, None]] * 3 + [[None] * 4 + ["b", "b"]] * 2
    for found in (dawid_skene(ratings_of(rows, labels=["a", "b", "c"])), mace(ratings_of(rows))):
        assert found.unit_labels == ("a", "b", "a", "b", "b", "b")


def test_groups_of_raters_that_share_no_unit_are_said() -> None:
    _, matrix = two_groups(0)
    matrix[5] = np.nan
    notes = dawid_skene(ratings_of(matrix.tolist())).notes
    assert any("fall into 2 groups that share no unit: each is fitted by itself" in note for note in notes)
    assert any(note.startswith("of 1 of 2 groups no unit was rated by three raters") for note in notes)
    assert not any("groups" in note for note in dawid_skene(ratings_of(matrix[:3, :40].tolist())).notes)


def test_raters_who_share_their_mistakes_are_noticed_and_independent_ones_are_not() -> None:
    def notes(copied: float, seed: int) -> list[str]:
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=300)
        matrix = np.where(rng.random((6, 300)) < 0.75, truth, 1 - truth).astype(float)
        for pair, other in ((0, 1), (2, 3)):
            same = rng.random(300) < copied
            matrix[other, same] = matrix[pair, same]
        found = dawid_skene(ratings_of(matrix.tolist()), seed=seed)
        return [note for note in found.notes if "independent" in note]

    assert all("where the model expects" in notes(0.8, seed)[0] for seed in range(3))
    assert sum(len(notes(0.0, seed)) for seed in range(10)) <= 1
