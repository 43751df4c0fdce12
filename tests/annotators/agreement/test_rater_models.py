"""What the rater models share: grouping of units, and the example of the user's guide."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from annotators.agreement import Ratings
from annotators.agreement.dawid_skene import dawid_skene
from annotators.agreement.fitted import entropy_of_units, label_of_units
from annotators.agreement.mace import mace
from annotators.agreement.rater_models import Observations, UnitPatterns, resampled
from tests.annotators.agreement.makers import random_matrix, rated

GUIDE = Path(__file__).parents[3] / "docs" / "rater-models.md"


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
    return Ratings.from_matrix(matrix, labels=[0, 1])


@pytest.mark.parametrize("seed", range(3))
def test_a_rater_who_shares_no_unit_has_no_accuracy_and_overturns_nothing(seed: int) -> None:
    ratings = with_a_loner()
    given = [int(code) for code in ratings.code[ratings.rater == 3]]
    for found, quality in (
        ((one := dawid_skene(ratings, seed=seed)), one.accuracy),
        ((other := mace(ratings, seed=seed)), other.competence),
    ):
        assert np.isnan(quality[3])
        assert not np.isnan(quality[:3]).any()
        assert list(found.unit_labels[30:]) == given
        assert "3 shares no unit with another rater: nothing tells how good they are" in found.notes[0]


def test_groups_of_raters_that_share_no_unit_are_said() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=80)
    matrix = np.where(rng.random((6, 80)) < 0.9, truth, 1 - truth).astype(float)
    matrix[:3, 40:] = np.nan
    matrix[3:, :40] = np.nan
    assert any(
        "fall into 2 groups that share no unit" in note for note in dawid_skene(Ratings.from_matrix(matrix)).notes
    )
    assert not any("groups" in note for note in dawid_skene(Ratings.from_matrix(matrix[:3, :40])).notes)


def test_raters_who_share_their_mistakes_are_noticed_and_independent_ones_are_not() -> None:
    def notes(copied: float, seed: int) -> list[str]:
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=300)
        matrix = np.where(rng.random((6, 300)) < 0.75, truth, 1 - truth).astype(float)
        for one, other in ((0, 1), (2, 3)):
            same = rng.random(300) < copied
            matrix[other, same] = matrix[one, same]
        return [note for note in dawid_skene(Ratings.from_matrix(matrix), seed=seed).notes if "independent" in note]

    assert all("where the model expects" in notes(0.8, seed)[0] for seed in range(3))
    assert sum(len(notes(0.0, seed)) for seed in range(10)) <= 1
