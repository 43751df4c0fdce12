"""The item-response model: its likelihood by brute force, another package, simulated truth, what it cannot know."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit

from annotators.agreement.rater_models.em import Observations
from annotators.agreement.rater_models.glad import Glad, _Rated, glad
from annotators.errors import InvalidInput
from tests.bench.coverage_of_abilities import DESIGNS, row_of

GUIDE = Path(__file__).parents[4] / "docs" / "rater-models.md"
SAID = {"Ana": "yyyynnnnynyn", "Ben": "yyyynnnnyynn", "Cem": "yyyyynyyyyyy", "Dee": "yynynnnnynyn"}


def observed(said: dict[str, str]) -> Observations:
    triples = [(place, name, label) for name, word in said.items() for place, label in enumerate(word, 1)]
    return Observations.from_triples(*zip(*triples, strict=True))


def drawn(
    ability: list[float], units: int, labels: int = 2, seed: int = 0
) -> tuple[Observations, np.ndarray, np.ndarray]:
    """Ratings of every unit by raters of these abilities, the logarithm of each unit's ease, and its true label."""
    rng = np.random.default_rng(seed)
    ease, truth = rng.normal(1, 1, units), rng.integers(labels, size=units)
    unit, rater = np.divmod(np.arange(units * len(ability)), len(ability))
    right = rng.random(len(unit)) < expit(np.array(ability)[rater] * np.exp(ease[unit]))
    said = np.where(right, truth[unit], (truth[unit] + rng.integers(1, labels, size=len(unit))) % labels)
    return Observations.from_triples(unit.tolist(), rater.tolist(), said.tolist()), ease, truth


@pytest.fixture(scope="module")
def example() -> Glad:
    return glad(observed(SAID))


def test_the_example_of_the_guide_gives_its_figures(example: Glad) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    figures = re.findall(r"^\| (\w+) \| (−?\d\.\d\d) \| (\d\.\d\d) \|$", text, re.M)
    assert [row[0] for row in figures] == list(SAID)
    for place, (_, ability, accuracy) in enumerate(figures):
        assert f"{example.ability[place]:.2f}" == ability.replace("−", "-")
        assert f"{example.accuracy[place]:.2f}" == accuracy
    hard = re.search(r"hardest are answers (\d+), (\d+) and (\d+)", " ".join(text.split()))
    assert hard is not None
    assert [example.units[place] for place in example.hardest[:3]] == [int(place) for place in hard.groups()]


def test_the_likelihood_is_that_of_an_integral_over_difficulties(example: Glad) -> None:
    rated = _Rated.of(observed(SAID))
    spread, shares = 0.8, np.log([0.4, 0.6])
    _, each, _ = rated.posterior(example.ability, spread, shares)
    for unit in range(12):
        votes = [word[unit] for word in SAID.values()]

        def density(ease: float, votes: list[str] = votes) -> float:
            right = expit(example.ability * np.exp(ease))
            given = [np.prod(np.where([vote == label for vote in votes], right, 1 - right)) for label in "ny"]
            return float(0.4 * given[0] + 0.6 * given[1]) * float(stats.norm.pdf(ease, 1, spread))

        assert np.exp(each[unit]) == pytest.approx(integrate.quad(density, -6, 8)[0], rel=2e-3)


def test_its_gradient_is_that_of_what_it_climbs() -> None:
    rated = _Rated.of(drawn([1.5, 0.5, 0.8], 20, labels=3)[0])
    weight = np.arange(20) % 3 + 1.0
    at = np.random.default_rng(1).normal(size=6) * 0.4
    gradient = optimize.approx_fprime(at, lambda x: rated.minus(x, weight)[0], 1e-6)
    assert rated.minus(at, weight)[1] == pytest.approx(gradient, abs=1e-4)


def test_labels_and_orders_are_those_of_another_package(example: Glad) -> None:
    """crowd-kit 1.4.2, GLAD(n_iter=1000, tol=1e-12) on the same labels: alphas_, betas_, and probas_ of "y".

    It finds difficulties that are the most probable ones together with abilities, and shares of classes of a half.
    """
    ability = [1.375120, 0.815171, 0.209575, 1.101562]
    ease = [
        1.430585, 1.430585, 0.247347, 1.430585, 1.03806, 1.430585, 1.03806, 1.03806, 1.430585, 0.298263, 0.460614,
        1.03806,
    ]  # fmt: skip
    yes = [1, 1, 0.840592, 1, 0.000166, 0, 0.000166, 0.000166, 1, 0.123846, 0.951003, 0.000166]
    assert np.argsort(example.ability).tolist() == np.argsort(ability).tolist()
    assert example.ability == pytest.approx(ability, abs=0.25)
    assert example.hardest[:3] == np.argsort(ease)[:3].tolist()
    assert stats.pearsonr(example.ease, ease)[0] > 0.98
    assert (example.posterior[:, example.labels.index("y")] > 0.5).tolist() == [share > 0.5 for share in yes]


@pytest.mark.parametrize("labels", [2, 4])
def test_it_finds_who_is_good_and_what_is_hard(labels: int) -> None:
    ability = [2.0, 1.2, 0.8, 0.4, 0.0]
    data, ease, truth = drawn(ability, 300, labels, seed=3)
    found = glad(data, seed=1)
    assert found.fit is not None
    assert found.fit.converged
    assert found.ability == pytest.approx(ability, abs=0.45)
    assert np.argsort(found.ability).tolist() == [4, 3, 2, 1, 0]
    assert found.accuracy[4] == pytest.approx(0.5, abs=0.06)  # who tosses a coin against one other label each time
    assert stats.spearmanr(found.ease, ease)[0] > 0.45
    true = [found.labels.index(label) for label in truth.tolist()]
    hard = np.array(found.hardest)
    right = found.posterior.argmax(axis=1) == true
    assert right[hard[:50]].mean() < right[hard[-50:]].mean()


def test_who_had_the_hard_units_is_taken_less_for_a_bad_rater() -> None:
    """Two alike in ability, one with the harder half, beside eight who rated everything.

    Raw shares of right labels differ by what the halves differ by; accuracy on all units by less, if not by nothing:
    nine labels a unit do not say all of how hard it is.
    """
    rng = np.random.default_rng(5)
    ease = np.r_[np.full(150, -0.5), np.full(150, 1.0)]
    unit = np.repeat(np.arange(300), 9)
    rater = np.concatenate([[*range(8), 8 if place < 150 else 9] for place in range(300)])
    truth = rng.random(300) < 0.5
    right = rng.random(len(unit)) < expit(1.0 * np.exp(ease[unit]))
    said = np.where(right, truth[unit], ~truth[unit]).astype(int)
    found = glad(Observations.from_triples(unit.tolist(), rater.tolist(), said.tolist()))
    raw = right[rater == 9].mean() - right[rater == 8].mean()
    assert raw > 0.2
    assert abs(found.accuracy[9] - found.accuracy[8]) < 0.7 * raw


def test_resamples_give_intervals_and_the_same_ones_again() -> None:
    data = drawn([1.5, 1.0, 0.6], 60, seed=2)[0]
    found, again = (glad(data, resamples=20, seed=4) for _ in range(2))
    assert found.accuracy_interval is not None
    assert again.accuracy_interval is not None
    np.testing.assert_array_equal(found.accuracy_interval, again.accuracy_interval)
    assert (found.accuracy_interval[:, 0] <= found.accuracy_interval[:, 1]).all()
    assert json.loads(json.dumps(found.to_json(), default=str))["raters"][0]["accuracy_interval"] is not None


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"Ana": "ynyn"}, "only one rater"),
        ({"Ana": "yyyy", "Ben": "yyyy"}, 'every rating is "y"'),
    ],
)
def test_what_leaves_nothing_to_fit_has_a_reason(said: dict[str, str], why: str) -> None:
    found = glad(observed(said))
    assert found.fit is None
    assert why in (found.reason or "")
    assert np.isnan(found.ability).all()
    assert json.dumps(found.to_json())


def test_what_it_cannot_know_is_said() -> None:
    found = glad(observed({"Ana": "yynnyynnyn", "Ben": "yynnyynnny"}), resamples=20)
    assert found.accuracy_interval is None
    notes = " ".join(found.notes)
    assert "no intervals of what is not identified" in notes
    assert "two ratings a unit do not identify the model" in notes
    assert "hardly told apart" in notes
    assert "10 units" in notes
    with pytest.raises(InvalidInput, match="starts"):
        glad(observed(SAID), starts=0)


def test_a_unit_that_one_rater_alone_rated_keeps_its_label() -> None:
    data = observed(SAID)
    more = Observations.from_triples(
        [*(data.units[place] for place in data.unit), 99],
        [*(data.raters[place] for place in data.rater), "Eva"],
        [*(data.labels[code] for code in data.code), "n"],
    )
    found = glad(more)
    assert found.unit_labels[found.units.index(99)] == "n"
    assert np.isnan(found.ability[found.raters.index("Eva")])
    assert any("Eva shares no unit" in note for note in found.notes)


@pytest.mark.nightly
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_of_accuracy_cover_as_documented(design: str) -> None:
    begins = f"| {design} | "
    [row] = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith(begins)]
    documented = [float(cell) for cell in row.removeprefix(begins).strip(" |").split(" | ")]
    found = row_of(design)
    assert found.covered >= 83  # short of 95: a note says so
    assert [found.covered, 100 * found.width, 100 * found.ordered] == pytest.approx(
        [documented[0], 100 * documented[1], 100 * documented[2]], abs=1.5
    )
