"""95 % intervals cover the truth as often as they say, where they do; docs/statistics.md has all figures."""

from __future__ import annotations

import pytest

from tests.annotators.agreement.coverage import simulate, warned
from tests.annotators.agreement.test_documented import PAGE

SIMULATIONS = 2000
FEW, FEW_RESAMPLES = 100, 300
COLUMNS = (
    "percent_agreement", "krippendorff_alpha_nominal", "fleiss_kappa", "cohen_kappa", "gwet_ac1",
    "specific_agreement 0",
)  # fmt: skip
FALLS_SHORT = {(50, 0.95)}  # 3.9 units on average carry the rare label: the report warns


def documented(units: int, prevalence: float) -> list[float]:
    """The row of a design in the first table of docs/statistics.md."""
    begins = f"| {units} | {prevalence:g}".replace("0.", ".") + " |"
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(begins))
    return [float(cell) for cell in row.removeprefix(begins).strip(" |").split("|")]


DESIGNS = [(units, prevalence) for prevalence in (0.5, 0.8, 0.95) for units in (50, 200)]


@pytest.mark.nightly
@pytest.mark.parametrize(("units", "prevalence"), DESIGNS)
def test_bca_intervals_cover_as_often_as_they_say(units: int, prevalence: float) -> None:
    found = {
        name: units_of
        for (name, kind), units_of in simulate(units, prevalence, SIMULATIONS).items()
        if kind == "reported"
    }
    for name, units_of in found.items():
        if prevalence == 0.5:
            assert 0.93 <= units_of.covered <= 0.97, (name, units_of)
        elif (units, prevalence) in FALLS_SHORT:
            assert units_of.covered >= 0.6, (name, units_of)
        else:
            assert 0.93 <= units_of.covered <= 0.985, (name, units_of)
    if (units, prevalence) in FALLS_SHORT:
        assert found["krippendorff_alpha_nominal"].covered < 0.8
    assert [100 * found[name].covered for name in COLUMNS] == pytest.approx(documented(units, prevalence), abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("units", "prevalence"), [(50, 0.5), (200, 0.8), (50, 0.95)])
def test_few_simulations_do_not_speak_against_what_is_documented(units: int, prevalence: float) -> None:
    """The everyday form of the one above: it finds intervals that are broken, not those that are a little short.

    Each size and each prevalence; the night has all designs.
    """
    found = simulate(units, prevalence, FEW, FEW_RESAMPLES)
    shares = [100 * found[name, "reported"].covered for name in COLUMNS]
    assert shares == pytest.approx(documented(units, prevalence), abs=7)
    if (units, prevalence) not in FALLS_SHORT:
        assert min(shares) >= 87


@pytest.mark.parametrize(("units", "prevalence", "least", "most"), [
    (50, 0.5, 0, 0), (200, 0.5, 0, 0), (50, 0.8, 0, 0.05), (200, 0.8, 0, 0), (50, 0.95, 0.85, 1), (200, 0.95, 0, 0.01),
])  # fmt: skip
def test_the_report_warns_where_intervals_fall_short_and_hardly_elsewhere(
    units: int, prevalence: float, least: float, most: float
) -> None:
    assert least <= warned(units, prevalence, 300) <= most
