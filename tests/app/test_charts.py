"""The plots as they are specified and drawn: axes of the quantity they have, few ticks, colours that tell apart."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest

from annotators.agreement.pace import Drift, Stretch
from annotators.alignment import Pairs
from annotators.intervals.result import Interval, Statistic
from annotators.scorers.base import ValueKind
from app.pages.scores import plots as score_plots
from db.scores.items import BINS, Distribution
from exports.agreement import plots as agreement_plots
from exports.agreement.annotators import drift_plot
from exports.alignment import plots as alignment_plots
from exports.drawing import charts

ROOT = Path(__file__).parent.parent.parent


def ticks(chart: Any) -> list[list[str]]:
    """The labels of each axis, as they are drawn."""
    svg = charts.drawn(chart, "svg", None).decode()
    groups = re.findall(r'class="mark-text role-axis-label"[^>]*>(.*?)</g>', svg, re.DOTALL)
    return [re.findall(r">([^<]+)</text>", group) for group in groups]


def marks(chart: Any) -> set[str]:
    """The kinds of mark in a chart, those of its layers included."""
    spec = chart.to_dict()
    layers = spec.get("layer", [spec])
    return {layer["mark"]["type"] if isinstance(layer["mark"], dict) else layer["mark"] for layer in layers}


def statistic(value: float, n: int = 20) -> Statistic:
    return Statistic(
        name="krippendorff_alpha_nominal",
        value=value,
        interval=Interval(value - 0.1, value + 0.1, "BCa", 0.95),
        n_units=n,
        n_raters=2,
        n_ratings=2 * n,
    )


# Axes -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 3, 7, 12, 93, 280, 1300, 99_999])
def test_what_is_counted_has_whole_numbers_and_six_ticks_at_most(most: int) -> None:
    chart = alt.Chart(alt.Data(values=[{"n": 0}, {"n": most}])).mark_point()
    [labels] = ticks(chart.encode(x=alt.X("n:Q", **charts.counts("n"))))
    assert 1 < len(labels) <= 6
    assert all(re.fullmatch(r"[\d,]+", label) for label in labels), labels
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (0.2, 0.9), (1, 5), (0, 100), (-0.3, 1)])
def test_no_axis_has_more_than_six_ticks(low: float, high: float) -> None:
    chart = alt.Chart(alt.Data(values=[{"v": low}, {"v": high}])).mark_point()
    [labels] = ticks(chart.encode(x=alt.X("v:Q", **charts.values("v", low, high))))
    assert 1 < len(labels) <= 6


def test_a_share_goes_from_nothing_to_all() -> None:
    given = {"ada": {"yes": 0.4, "no": 0.6}, "ben": {"yes": 0.5, "no": 0.5}}
    chart = agreement_plots.shares(given, ["yes", "no"])
    assert chart is not None
    shown, _ = ticks(chart)
    assert (shown[0], shown[-1]) == ("0%", "100%")


# Yes and no -----------------------------------------------------------------------------------------------------------


def flags() -> Distribution:
    counts = {"harbour": [6, *[0] * (BINS - 2), 2], "quay": [1, *[0] * (BINS - 2), 3]}
    return Distribution(0.0, 1 / BINS, counts, [])


def test_a_flag_is_a_bar_a_system_with_its_counts_and_no_histogram() -> None:
    chart = score_plots.distribution(flags(), ValueKind("flag", "Hallucination", "flag"))
    assert chart is not None
    assert marks(chart) == {"bar", "text"}
    assert "bin" not in str(chart.to_dict()["layer"][0]["encoding"])
    svg = charts.drawn(chart, "svg", None).decode()
    assert {"2 of 8", "3 of 4"} <= set(re.findall(r">([^<]*)</text>", svg))


def test_a_number_is_a_histogram_that_counts_in_whole_numbers() -> None:
    counts = {"harbour": [1, *[0] * (BINS - 2), 2]}
    chart = score_plots.distribution(Distribution(0.0, 1 / BINS, counts, []), ValueKind("f1", "F1"))
    assert chart is not None
    assert all(re.fullmatch(r"\d", label) for axis in ticks(chart)[1:] for label in axis)


def test_a_flag_against_people_is_tiles_with_counts_and_a_number_is_points() -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(0, 2, 60)
    flag = Pairs.of(people.tolist(), rng.integers(0, 2, 60).tolist(), binary=True)
    number = Pairs.of(people.tolist(), rng.random(60).tolist(), binary=True)
    assert marks(alignment_plots.scatter(flag, "right", "flag")) == {"rect", "text"}
    assert "fit" not in alignment_plots.scatter_caption(flag, "right", "flag")
    assert marks(alignment_plots.scatter(number, "right", "f1")) == {"circle", "area", "line"}
    assert ["no", "yes"] in ticks(alignment_plots.scatter(number, "right", "f1"))


# Lines ----------------------------------------------------------------------------------------------------------------


def test_no_line_goes_through_two_points() -> None:
    two = agreement_plots.over_time([("1", statistic(0.5)), ("2", statistic(0.6))], "α")
    three = agreement_plots.over_time([(str(n), statistic(0.5)) for n in range(3)], "α")
    assert two is not None
    assert three is not None
    assert "line" not in marks(two)
    assert "line" in marks(three)
    assert agreement_plots.over_time([("1", statistic(0.5))], "α") is None


def drift(rater: str, n: int) -> Drift:
    stretches = tuple(Stretch(10 * number, 10 * number + 10, 0.5, {}, 30.0 + number) for number in range(n))
    return Drift(rater, 10 * n, stretches, statistic(0.0), statistic(1.0))  # type: ignore[arg-type]


def test_only_annotators_with_three_stretches_get_a_line_over_whole_places() -> None:
    chart = drift_plot([drift("ada", 2), drift("ben", 3)], speed=True)
    assert chart is not None
    [line] = [layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "line"]
    assert line["transform"] == [{"filter": {"field": "annotator", "oneOf": ["ben"]}}]
    assert all(re.fullmatch(r"[\d,]+", label) for axis in ticks(chart) for label in axis)


# Tiles and bars -------------------------------------------------------------------------------------------------------


def test_confusion_of_two_says_each_count() -> None:
    chart = agreement_plots.confusion(
        {("1 Low", "1 Low"): 7, ("1 Low", "2 High"): 3}, ("ada", "ben"), ["1 Low", "2 High"]
    )
    assert marks(chart) == {"rect", "text"}
    svg = charts.drawn(chart, "svg", None).decode()
    assert {"7", "3", "0", "ada", "ben"} <= set(re.findall(r">([^<]*)</text>", svg))


def test_grades_part_in_the_middle_with_their_number() -> None:
    counts = {"harbour": {"1": 2, "2": 0, "3": 4, "4": 2, "5": 2}, "quay": {"5": 4}}
    chart = agreement_plots.likert(counts, ["1", "2", "3", "4", "5"])
    assert chart is not None
    rows = chart.to_dict()["datasets"][chart.to_dict()["layer"][0]["data"]["name"]]
    of = {(row["group"], row["label"]): (row["from"], row["to"]) for row in rows}
    assert of["harbour", "1"] == pytest.approx((-0.4, -0.2))
    assert of["harbour", "3"] == pytest.approx((-0.2, 0.2))  # the middle grade stands on both sides
    assert of["harbour", "5"] == pytest.approx((0.4, 0.6))
    assert of["quay", "5"] == pytest.approx((0, 1))
    svg = charts.drawn(chart, "svg", None).decode()
    assert {"n = 10", "n = 4", "100%", "0%"} <= set(re.findall(r">([^<]*)</text>", svg))
    sizes = chart.to_dict()["datasets"][chart.to_dict()["layer"][2]["data"]["name"]]
    assert {row["at"] for row in sizes} == {1.15}, "behind the longest bar, and no bar reaches them"
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"] == [-0.5, 1.15]
    assert agreement_plots.likert({}, ["1", "2"]) is None


def test_channels_are_given_as_objects() -> None:
    """Altair makes an object of a text that names a field in 5 ms, and a page has hundreds of them."""
    texts = []
    for path in [*(ROOT / "exports").rglob("*.py"), *(ROOT / "app").rglob("*.py")]:
        source = path.read_text("utf-8")
        if "alt." not in source:
            continue
        for parent in ast.walk(ast.parse(source)):
            if isinstance(parent, ast.keyword | ast.List | ast.Tuple | ast.IfExp | ast.Assign):  # and not alt.X(…)
                texts += [f"{path.name}:{node.lineno}" for node in ast.iter_child_nodes(parent) if _names_a_field(node)]
    assert texts == []


def _names_a_field(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and bool(re.fullmatch(r"\w*:[QNOT]", str(node.value)))


# Colours --------------------------------------------------------------------------------------------------------------

# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "everybody": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
}


def lab(colour: str, sight: str) -> np.ndarray[Any, Any]:
    """A colour as it is seen, in CIELAB (D65)."""
    given = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SIGHT[sight]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    f = np.cbrt(xyz / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("colours", [charts.COLOURS[:6], charts.poles(2), charts.poles(5)])
def test_colours_are_told_apart_with_any_colour_vision(colours: list[str], sight: str) -> None:
    seen = [lab(colour, sight) for colour in colours]
    apart = [float(np.linalg.norm(a - b)) for place, a in enumerate(seen) for b in seen[place + 1 :]]
    assert min(apart) > 9  # 2.3 is the smallest difference that is noticed
