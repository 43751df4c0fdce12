"""How objects show themselves in a notebook: short, with the network off, in the types they were given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import altair as alt
import pytest

from exports.notebook import open_home
from tests.exports.notebook.test_examples import home, made_home

__all__ = ["home", "made_home"]


@pytest.fixture(autouse=True)
def renderer() -> Iterator[None]:
    """Altair's own, and again afterwards."""
    with alt.renderers.enable("default"):
        yield


@pytest.mark.parametrize("one", [True, False], ids=["plot", "plots"])
def test_a_plot_needs_no_network_to_show_itself(home: Path, one: bool) -> None:
    figures = open_home(home).project("finance").study("grading").agreement(seed=1, resamples=20)
    shown = (figures.plot() if one else figures.plots()["coefficients"])._repr_mimebundle_()
    assert list(shown) == ["image/svg+xml"]
    assert "<svg" in shown["image/svg+xml"]


def test_a_renderer_that_somebody_chose_is_left(home: Path) -> None:
    alt.renderers.enable("json")
    open_home(home).project("finance").study("grading").agreement(seed=1, resamples=20).plot()
    assert alt.renderers.active == "json"


def test_the_report_of_a_dataset_shows_what_is_in_it_and_not_the_whole_of_it(home: Path) -> None:
    report = open_home(home).project("finance").report("grading", resamples=20)
    assert [row[0] for row in report.contents().rows] == [section.title for section in report.sections()]
    html = report._repr_html_()
    assert f"{len(report.numbers):,} numbers" in html
    assert len(html) < 10_000 < len(str(report.numbers))
    assert repr(report).startswith("The dataset finance, study grading\nSection ")


def test_figures_say_how_many_tables_they_leave_out(home: Path) -> None:
    figures = open_home(home).project("finance").study("grading").agreement(seed=1, resamples=20)
    assert f"3 of {len(figures.tables())} tables" in figures._repr_html_()


def test_labels_of_statistics_are_what_they_were_beside_those_that_have_none(home: Path) -> None:
    figures = open_home(home).project("finance").study("grading").agreement(seed=1, resamples=20)
    assert list(figures.table()["label"]) == [row.get("label") for row in figures.rows]
