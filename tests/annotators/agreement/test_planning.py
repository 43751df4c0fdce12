"""The planner: its widths are those of real studies, from the pilot's units and from the rater model."""

from __future__ import annotations

import json

import numpy as np
import pytest

from annotators.agreement.measure import measure
from annotators.agreement.planning import Plan, PlannedStudy, UnitTable, plan, plannable
from annotators.agreement.statistics.base import coefficient_named
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import random_matrix, rated, ratings_of


def study(seed: int, units: int, raters: int = 3, right: float = 0.75) -> Ratings:
    """Raters of one kind: a rating is the hidden truth of three labels or else any label."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, p=[0.5, 0.3, 0.2], size=units)
    rows = np.where(rng.random((raters, units)) < right, truth, rng.integers(3, size=(raters, units)))
    return ratings_of(rows.tolist(), labels=[0, 1, 2])


def real_width(statistic: str, units: int, raters: int, studies: int = 40) -> float:
    """The mean width of the interval that `measure` reports for fresh studies of the same kind."""
    widths = []
    for seed in range(studies):
        found = measure(study(1000 + seed, units, raters), [statistic], resamples=400)[0]
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
    return float(np.mean(widths))


def row(found: Plan, items: int, annotators: int) -> PlannedStudy:
    return next(study for study in found.studies if (study.n_items, study.n_annotators) == (items, annotators))


@pytest.mark.parametrize("statistic", ["krippendorff_alpha_nominal", "fleiss_kappa", "percent_agreement"])
def test_the_planned_width_is_that_of_real_studies(statistic: str) -> None:
    # a large pilot, so that what is tested is the planner and not the pilot's own error
    found = plan(study(1, 1500), statistic, [60, 240], [2, 3, 5], simulations=100)
    for items, annotators in [(60, 3), (240, 3), (60, 2), (60, 5)]:
        planned = row(found, items, annotators)
        assert planned.width == pytest.approx(real_width(statistic, items, annotators), rel=0.1)
        assert planned.width_low is not None
        assert planned.width_high is not None
        assert planned.width is not None
        assert planned.width_low < planned.width < planned.width_high


def test_the_rater_model_stands_for_annotators_the_pilot_did_not_have() -> None:
    found = plan(study(2, 1500), "light_kappa", [100], [2, 5], simulations=100)
    assert {study.source for study in found.studies} == {"a Dawid–Skene model of the pilot's annotators"}
    for annotators in (2, 5):
        planned = row(found, 100, annotators)
        assert planned.width == pytest.approx(real_width("light_kappa", 100, annotators), rel=0.12)
        assert planned.value == pytest.approx(0.75**2, abs=0.05)


def test_more_items_and_more_annotators_give_narrower_intervals() -> None:
    found = plan(study(3, 200), "krippendorff_alpha_nominal", [50, 100, 200], [2, 3, 4], simulations=60)
    widths = {(study.n_items, study.n_annotators): study.width or 0.0 for study in found.studies}
    for annotators in (2, 3, 4):
        assert widths[50, annotators] > widths[100, annotators] > widths[200, annotators] > 0
    for items in (50, 100, 200):
        assert widths[items, 2] > widths[items, 3] > widths[items, 4]


def test_the_cheapest_study_that_is_narrow_enough_is_found() -> None:
    found = plan(study(4, 200), "krippendorff_alpha_nominal", [50, 100, 200, 400], [2, 3], simulations=60)
    enough = found.enough(0.2)
    assert enough is not None
    assert enough.width is not None
    assert enough.width <= 0.2
    cheaper = [study for study in found.studies if study.n_ratings < enough.n_ratings]
    assert cheaper
    assert all(study.width is not None and study.width > 0.2 for study in cheaper)
    assured = found.enough(enough.width, assured=True)
    assert assured is None or assured.n_ratings > enough.n_ratings
    assert found.enough(0.0001) is None


def test_the_number_of_items_needed_gives_the_width_asked_for() -> None:
    pilot = study(5, 300)
    needed = plan(pilot, "krippendorff_alpha_nominal", [50, 100, 200], simulations=60).items_needed(0.13)
    assert list(needed) == [3]
    checked = plan(pilot, "krippendorff_alpha_nominal", [needed[3]], simulations=60)
    assert checked.studies[0].width == pytest.approx(0.13, rel=0.05)


def test_gaps_of_the_pilot_stay_in_its_resamples() -> None:
    pilot = rated(random_matrix(6, raters=3, units=300, missing=0.3), scale="nominal")
    complete = rated(random_matrix(6, raters=3, units=300), scale="nominal")
    with_gaps, without = (
        plan(study, "krippendorff_alpha_nominal", [150], [int(np.bincount(study.sizes).argmax())]).studies[0].width
        for study in (pilot, complete)
    )
    assert with_gaps is not None
    assert without is not None
    assert with_gaps > without


def test_the_same_seed_gives_the_same_plan() -> None:
    pilot = study(7, 80)
    first, same, other = (
        plan(pilot, "fleiss_kappa", [60], [2, 4], simulations=30, seed=seed).to_json()["studies"] for seed in (1, 1, 2)
    )
    assert first == same
    assert first != other


@pytest.mark.parametrize("statistic", plannable())
def test_every_coefficient_that_can_be_planned_is_that_of_measure(statistic: str) -> None:
    matrix = random_matrix(8, raters=3, units=60, missing=0.1) + 1
    pilot = rated(matrix, scale="ratio")
    assert UnitTable.of(pilot, coefficient_named(statistic)).value == pytest.approx(
        measure(pilot, [statistic], resamples=0)[0].value
    )
    found = plan(pilot, statistic, [40], [3, 4], simulations=20)
    assert [study.width is not None and 0 < study.width < 1.5 for study in found.studies] == [True, True]


def test_a_pilot_of_two_annotators_is_told_that_more_are_a_guess() -> None:
    found = plan(study(9, 100, raters=2), "krippendorff_alpha_nominal", [100], [2, 3], simulations=20)
    assert any("are guesses" in note for note in found.notes)
    assert not plan(study(9, 100, raters=2), "krippendorff_alpha_nominal", [100], simulations=20).notes


def test_a_pilot_that_the_rater_model_does_not_fit_is_named() -> None:
    # half of the items are so hard that everybody throws a coin: no two classes explain six raters
    rng = np.random.default_rng(10)
    truth = rng.integers(2, size=400)
    easy = np.where(rng.random((6, 400)) < 0.98, truth, 1 - truth)
    rows = np.where(np.arange(400) < 200, rng.integers(2, size=(6, 400)), easy)
    found = plan(ratings_of(rows.tolist()), "light_kappa", [100], [7], simulations=10)
    assert any("it fits badly" in note for note in found.notes)
    assert not plan(study(10, 400, raters=6), "light_kappa", [100], [7], simulations=10).notes


def test_a_small_pilot_is_named() -> None:
    assert any(
        "only 20 rated units" in note for note in plan(study(11, 20), "fleiss_kappa", [50], simulations=10).notes
    )


def test_a_rare_label_leaves_small_studies_undefined_and_says_so() -> None:
    rows = [[1, *[0] * 199]] * 3
    found = plan(ratings_of(rows), "krippendorff_alpha_nominal", [20, 100], simulations=50)
    assert found.studies[0].width is None
    assert "leave the coefficient undefined" in (found.studies[0].reason or "")
    assert found.enough(1.0) is None or found.enough(1.0) != found.studies[0]
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([["a", None], [None, "b"]], "the pilot has no unit with two ratings"),
        ([[None, None]], "the pilot has no unit with two ratings"),
        ([["a", "a"], ["a", "a"]], "krippendorff_alpha_nominal is not defined"),
    ],
)
def test_a_pilot_without_agreement_gives_a_reason(rows: list[list[object]], reason: str) -> None:
    found = plan(ratings_of(rows, labels=["a", "b"]), "krippendorff_alpha_nominal")
    assert found.studies == ()
    assert (found.reason or "").startswith(reason)


@pytest.mark.parametrize(
    "wrong",
    [
        {"statistic": "icc_1_1"},
        {"statistic": "krippendorff_alpha_ordinal"},
        {"n_items": [1]},
        {"n_items": []},
        {"n_annotators": [1]},
        {"simulations": 0},
        {"level": 0.0},
    ],
)
def test_what_cannot_be_planned_is_refused(wrong: dict[str, object]) -> None:
    asked: dict[str, object] = {"statistic": "krippendorff_alpha_nominal", **wrong}
    with pytest.raises(InvalidInput):
        plan(study(12, 40), **asked)  # type: ignore[arg-type]
