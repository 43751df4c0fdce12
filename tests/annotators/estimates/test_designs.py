"""Designs of equal cost from a pilot: by hand, and what has to hold whatever the pilot is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from annotators.errors import InvalidInput
from annotators.estimates.designs import (
    DESIGNS,
    Components,
    Design,
    agreement_width,
    components_of,
    planned_designs,
)
from annotators.estimates.means import CLASSICAL, POWERED, mean_of
from annotators.estimates.raters import LabelsByRater
from annotators.estimates.sample import Units
from tests.annotators.estimates.makers import NAN


def pilot(
    *, noise: float = 1.0, items: int = 60, size: int = 400, good: float = 0.5, population: float | None = None
) -> Units:
    """Two raters of each of `items` of `size` items, spread 1, and a score that is off by `good`."""
    rng = np.random.default_rng(12)
    expects = rng.normal(size=size)
    table = expects[:, None] + noise * rng.normal(size=(size, 2))
    table[items:] = NAN
    scores = {"s": expects + good * rng.normal(size=size)}
    return Units.of(LabelsByRater.of(table), scores, n=size, population=population)


@pytest.mark.parametrize("population", [None, math.inf, 800.0])
def test_the_pilots_own_design_has_the_pilots_own_error(population: float | None) -> None:
    units = pilot(population=population)
    made = mean_of(units)
    [row] = planned_designs(units, designs=[Design(2)]).rows
    assert (row.items, row.labels) == (60, 120)
    t = 2.0009953781  # of 59 degrees of freedom
    assert row.width == pytest.approx(2 * t * made.error(CLASSICAL))
    assert row.width_predicted == pytest.approx(2 * t * made.error(POWERED))


def test_components_are_those_that_the_pilot_was_made_with() -> None:
    found = components_of(pilot(items=2000, size=4000))
    assert isinstance(found, Components)
    assert found.between == pytest.approx(1, abs=0.1)
    assert found.within == pytest.approx(1, abs=0.1)
    assert found.icc == pytest.approx(0.5, abs=0.05)
    # 1 - r² = 0.25 / 1.25 of what raters say on average is left.
    assert found.residual == pytest.approx(0.2, abs=0.1)


def test_at_equal_labels_one_rater_has_the_shortest_interval_and_three_of_each_the_best_agreement() -> None:
    plan = planned_designs(pilot(), labels=120)
    rows = {row.design: row for row in plan.rows}
    assert [rows[design].items for design in (Design(3), Design(2), Design(1, 0.1, 3), Design(1))] == [40, 60, 100, 120]
    assert all(row.labels <= 120 for row in plan.rows)
    widths = [row.width or 0 for row in plan.rows]
    assert min(widths) == rows[Design(1)].width
    assert max(widths) == rows[Design(3)].width
    assert all((row.width_predicted or 9) < (row.width or 0) for row in plan.rows)
    assert rows[Design(1)].agreement_width is None
    assert (rows[Design(3)].agreement_width or 9) < (rows[Design(1, 0.1, 3)].agreement_width or 0)
    assert plan.best_with_agreement is not None
    assert plan.best_with_agreement.design.raters == 1


def test_the_cheapest_design_of_a_width_has_as_few_labels_as_give_it() -> None:
    units = pilot()
    plan = planned_designs(units, width=0.5)
    cheapest, measured = plan.cheapest, plan.cheapest_with_agreement
    assert cheapest is not None
    assert measured is not None
    assert cheapest.design == Design(1)
    assert measured.design.measures_agreement(measured.items_of_fewest or 0)
    assert (cheapest.fewest or 0) < (measured.fewest or 0) < 240
    assert measured.design.rated_by_several(measured.items_of_fewest or 0)[0] >= 10
    for row in plan.rows:
        need = row.items_needed_predicted
        assert need is not None
        at, below = (
            planned_designs(units, labels=math.ceil(n * row.design.per_item), designs=[row.design]).rows[0]
            for n in (need, need - 1)
        )
        assert (at.width_predicted or 9) <= 0.5 < (below.width_predicted or 0)


def test_a_width_that_not_all_items_give_has_no_design() -> None:
    plan = planned_designs(pilot(), width=0.01)
    assert plan.cheapest is None
    assert plan.cheapest_with_agreement is None
    assert all(row.fewest is None for row in plan.rows)
    with pytest.raises(InvalidInput, match="no width"):
        planned_designs(pilot(), width=0)


def test_a_useless_score_plans_nothing_with_predictions() -> None:
    plan = planned_designs(pilot(good=200.0))
    assert all(row.width_predicted is None for row in plan.rows)


def test_of_a_pilot_that_is_labelled_in_full_predictions_are_planned_with() -> None:
    """Its labels fit one each of its items; what its own mean gains from predictions, nothing, is no matter."""
    plan = planned_designs(pilot(items=60, size=60))
    assert plan.labels == 60
    assert [row.items for row in plan.rows] == [20, 30, 50, 50, 54, 60]
    two = plan.rows[1]
    assert (two.width_predicted or 9) < 0.9 * (two.width or 0)


def test_without_items_that_several_rated_the_pilot_lacks_them() -> None:
    units = pilot()
    assert units.labels is not None
    labels = units.labels
    first = labels.rater == 0
    few = first | (labels.unit < 4)
    for kept, says in ((first, "0 items of the pilot have"), (few, "4 items of the pilot have")):
        some = LabelsByRater(labels.unit[kept], labels.rater[kept], labels.value[kept])
        plan = planned_designs(Units.of(some, {}, n=400))
        assert plan.rows == ()
        assert says in str(plan.reason)
    small = components_of(units.only(np.arange(400) < 7))
    assert "at least 8" in str(small)
    assert planned_designs(Units.of(np.full(5, NAN), {})).reason == "only 0 labelled units; at least 2 are needed"


def test_agreement_is_known_as_the_f_interval_of_icc_1_says() -> None:
    """Ten items, two raters, ICC .6: F = 1.6/.4 = 4, between 4 / 3.779 and 4 · 3.964 (F of 9 and 10, 10 and 9)."""
    low, high = 4 / 3.7790, 4 * 3.9639
    expected = (high - 1) / (high + 1) - (low - 1) / (low + 1)
    assert agreement_width(0.6, 10, 2) == pytest.approx(expected, abs=1e-3)
    assert agreement_width(0.6, 9, 2) is None
    assert agreement_width(None, 50, 2) is None
    widths = [agreement_width(0.6, items, 3) or 0 for items in (10, 40, 160, 640)]
    assert widths == sorted(widths, reverse=True)


def test_designs_say_what_they_are() -> None:
    assert [design.in_words for design in DESIGNS][::3] == ["3 raters", "1 rater, a drawn 10 % with 3"]
    assert Design(1, 0.1, 3).per_item == pytest.approx(1.2)
    assert Design(1, 0.1, 3).noise == pytest.approx(0.9 + 0.1 / 3)
    assert replace(Design(2), raters=1).rated_by_several(50) == (0, 0)
    assert Design(1, 0.1, 3).rated_by_several(101) == (11, 3)
