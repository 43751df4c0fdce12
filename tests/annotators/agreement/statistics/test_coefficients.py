"""A coefficient is one object: it registers itself, carries what is said of it, and is measured like the others."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from annotators.agreement.catalogue import headline
from annotators.agreement.measure import measure
from annotators.agreement.statistics.base import (
    Asked,
    Coefficient,
    OfCounts,
    Sampling,
    all_coefficients,
    coefficient_named,
    named,
    register,
    samples,
    title_of,
)
from annotators.agreement.statistics.percent import PERCENT
from annotators.agreement.tables.ratings import SCALES
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import ratings_of

ROOT = Path(__file__).parents[4]
TABLE = ratings_of([[1, 2, 3, 1, 2], [1, 2, 3, 2, 2], [1, 1, 3, 1, 2]], scale="interval")


def test_names_are_known_before_numpy_is_imported() -> None:
    code = (
        "import sys\nfrom annotators.agreement.statistics.base import all_coefficients\n"
        "print(len(all_coefficients()), [name for name in ('numpy', 'scipy', 'rapidfuzz') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == f"{len(all_coefficients())} []"


def test_every_coefficient_is_found_by_its_name_and_has_a_title_of_its_own() -> None:
    titles = {coefficient.title for coefficient in all_coefficients()}
    assert len(titles) == len(all_coefficients()) > 40
    for coefficient in all_coefficients():
        assert coefficient_named(coefficient.name) is coefficient
        assert title_of(coefficient.name) == coefficient.title
        assert title_of(coefficient.name, short=True) == (coefficient.short or coefficient.title)


def test_a_wrong_name_is_refused_with_all_that_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"statistic 'kapa' is unknown: use some of percent_agreement, .*similarity"):
        named(["cohen_kappa", "kapa", "other"])


def test_a_second_coefficient_of_a_name_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="two coefficients are named 'percent_agreement'"):
        register(5, PERCENT)


@pytest.mark.parametrize("scale", SCALES)
def test_one_coefficient_stands_for_a_scale(scale: str) -> None:
    [stands] = [coefficient for coefficient in all_coefficients() if coefficient.headline_of == scale]
    assert headline(stands.headline_of or "nominal") == stands.name


FITTING = [
    coefficient
    for coefficient in all_coefficients()
    if coefficient.misfit(TABLE) is None and not coefficient.own_weights
]


@pytest.mark.parametrize("coefficient", FITTING, ids=lambda coefficient: coefficient.name)
def test_what_it_says_of_its_entries_is_what_measuring_gives(coefficient: Coefficient) -> None:
    found = measure(TABLE, coefficient.name, resamples=20, least_shared=2)
    assert [entry.raters for entry in found if entry.raters] == [(0, 1), (0, 2), (1, 2)] * coefficient.by_pair
    assert [entry.label for entry in found if entry.label] == [1, 2, 3] * coefficient.by_label
    over_all = [entry for entry in found if not entry.raters and not entry.label]
    assert len(over_all) == (coefficient.over_all or not (coefficient.by_pair or coefficient.by_label))


def test_a_new_coefficient_is_measured_by_its_object_alone() -> None:
    doubled = replace(
        PERCENT, name="doubled", share=None, value=lambda spread, weights: PERCENT.value(spread, weights) / 2
    )
    assert isinstance(doubled, OfCounts)
    [sample] = samples(TABLE, [PERCENT, doubled], Asked(), Sampling())
    whole, half = sample.measured(Sampling(resamples=50))
    assert (half.name, half.value) == ("doubled", (whole.value or 0) / 2)
    assert half.low is not None
    drawn = next(
        interval for interval in whole.beside if interval.kind == "BCa"
    )  # of so few units a share has Wilson's
    assert half.low == pytest.approx((drawn.low or 0) / 2, abs=0.1)
    assert (half.n_units, half.n_raters, half.n_ratings) == (5, 3, 15)
