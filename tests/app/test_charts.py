"""The plots as they are specified and drawn: axes of the quantity they have, few ticks, colours that tell apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest

from annotators.agreement.pace import Drift, Stretch
from annotators.alignment import Pairs, SystemMeans
from annotators.intervals.result import Interval, Statistic
from annotators.scorers.base import ValueKind
from app.pages.scores import plots as score_plots
from db.scores.items import BINS, Distribution
from exports.agreement import plots as agreement_plots
from exports.agreement.annotators import drift_plot
from exports.alignment import plots as alignment_plots
from exports.drawing import charts, naming_points
from exports.drawing.margins import text_width

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
    assert all(re.fullmatch(r"\d", label) for axis in ticks(chart)[:-1] for label in axis)


def test_the_histograms_of_all_systems_have_one_scale() -> None:
    counts = {"harbour": [1, *[0] * (BINS - 2), 2], "quay": [40, *[0] * (BINS - 2), 9]}
    chart = score_plots.distribution(Distribution(0.0, 1 / BINS, counts, []), ValueKind("f1", "F1"))
    assert chart is not None
    first, second, _ = ticks(chart)
    assert first == second
    assert int(first[-1]) >= 40, "the largest bar of any system is within it"


def test_words_at_the_ends_of_an_axis_stay_within_the_plot_whatever_the_style_of_the_page() -> None:
    chart = alt.Chart(alt.Data(values=[{"n": 0}, {"n": 1}])).mark_point()
    page = {"axisQuantitative": {"labelFlush": False}}  # as Streamlit's has it
    for about in (charts.counts("n"), charts.shares("n"), charts.values("n"), charts.values("n", 0, 1)):
        svg = charts.drawn(chart.encode(x=alt.X("n:Q", **about)).configure(**page), "svg", None).decode()
        words = re.search(r'class="mark-text role-axis-label"[^>]*>(.*?)</g>', svg, re.DOTALL)
        assert words is not None
        anchors = re.findall(r'text-anchor="(\w+)"', words[1])
        assert (anchors[0], anchors[-1]) == ("start", "end")


# Names and piles ------------------------------------------------------------------------------------------------------


_BASE = ("gemma3:12b", "gemma3:4b", "gpt-oss:120b", "llama3.3:70b")
SYSTEMS = [
    f"{way}/{model}_{way}" for way in ("Docling with easyOCR", "LlamaIndex RAG", "MinerU", "") for model in _BASE
]


def named(chart: Any) -> list[tuple[str, float, float, str]]:
    """(text, x, y, how it is aligned) of the names in a plot, in pixels of the frame."""
    svg = charts.drawn(chart, "svg", 380).decode()
    found = []
    for mark in re.findall(r'class="mark-text role-mark[^"]*"[^>]*>(.*?)</g>', svg, re.DOTALL):
        words = r'text-anchor="(\w+)" transform="translate\(([-\d.]+),([-\d.]+)\)"[^>]*>([^<]+)</text>'
        found += [(text, float(x), float(y), anchor) for anchor, x, y, text in re.findall(words, mark)]
    return found


def boxes(chart: Any) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of each name, in the widest of fonts."""
    found = []
    for text, x, y, anchor in named(chart):
        width = text_width(text, naming_points.SIZE)
        left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        found.append((left, y - naming_points.SIZE, left + width, y))
    return found


def means(places: Sequence[tuple[float, float]], names: Sequence[str]) -> list[SystemMeans]:
    return [SystemMeans(name, 9, human, metric) for name, (human, metric) in zip(names, places, strict=True)]


CROWDS = {
    "two": [(3.0, 0.5), (4.0, 0.9)],
    "one place": [(1.0, 1.0)] * 10,
    "two places": [(0.0, 0.0)] * 5 + [(1.0, 1.0)] * 5,
    "close": [(4 + 0.001 * n, 0.5 + 0.0005 * n) for n in range(16)],
    "a grid": [(1 + n % 3, 0.25 * (n % 5)) for n in range(16)],
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_no_name_of_a_system_lies_over_another(crowd: str) -> None:
    places = CROWDS[crowd]
    chart = alignment_plots.systems(means(places, SYSTEMS[: len(places)]), "grade", "f1")
    found = boxes(chart)
    assert len(found) == len(places), "every system is named"
    over = [
        (one, other)
        for one, other in combinations(found, 2)
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]
    assert over == []


def test_systems_in_a_crowd_have_numbers_that_a_legend_explains() -> None:
    places = CROWDS["close"]
    chart = alignment_plots.systems(means(places, SYSTEMS), "grade", "f1")
    assert {text for text, *_ in named(chart)} == {str(number) for number in range(1, 17)}
    svg = charts.drawn(chart, "svg").decode()
    assert all(f"{number}  {name}" in svg for number, name in enumerate(SYSTEMS, 1))
    few = alignment_plots.systems(means(CROWDS["two"], ("harbour", "quay")), "grade", "f1")
    assert {text for text, *_ in named(few)} == {"harbour", "quay"}


def test_a_long_legend_takes_no_height_of_its_plot_on_a_page() -> None:
    """A page fits a chart into its width; fitted into its height, ten systems would leave a strip of a plot."""
    chart = alignment_plots.systems(means(CROWDS["close"], SYSTEMS), "grade", "f1")
    assert chart.to_dict()["autosize"] == {"type": "fit-x", "contains": "padding"}
    curve = Pairs.of([0, 1] * 20, np.random.default_rng(0).random(40).tolist(), binary=True)
    assert alignment_plots.roc([("f1", curve)]).to_dict()["autosize"]["type"] == "fit-x"  # type: ignore[union-attr]


def test_units_with_the_same_values_are_one_point_as_large_as_there_are_many() -> None:
    people, metric = [1.0] * 7 + [5.0] * 3 + [2.0, 3.0], [0.0] * 7 + [1.0] * 3 + [0.5, 0.25]
    chart = alignment_plots.scatter(Pairs.of(people, metric), "grade", "recall")
    [points] = [layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "circle"]
    rows = chart.to_dict()["datasets"][points["data"]["name"]]
    assert {(row["human"], row["metric"]): row["n"] for row in rows} == {
        (1, 0): 7, (5, 1): 3, (2, 0.5): 1, (3, 0.25): 1
    }  # fmt: skip
    assert points["encoding"]["size"]["field"] == "n"
    assert all(row["shown"] == row["human"] for row in rows if row["n"] > 1)
    assert "as large as there are many" in alignment_plots.scatter_caption(
        Pairs.of(people, metric), "grade", "recall", "all 12 units"
    )


def test_single_units_are_shaken_and_have_no_legend_of_sizes() -> None:
    people, metric = [float(n % 3) for n in range(30)], [n / 30 for n in range(30)]
    chart = alignment_plots.scatter(Pairs.of(people, metric), "grade", "f1")
    [points] = [layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "circle"]
    rows = chart.to_dict()["datasets"][points["data"]["name"]]
    assert "size" not in points["encoding"]
    assert sum(row["shown"] != row["human"] for row in rows) == 30
    assert "as large" not in alignment_plots.scatter_caption(Pairs.of(people, metric), "grade", "f1", "all 30 units")


def test_a_flag_against_people_is_tiles_with_counts_and_a_number_is_points() -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(0, 2, 60)
    flag = Pairs.of(people.tolist(), rng.integers(0, 2, 60).tolist(), binary=True)
    number = Pairs.of(people.tolist(), rng.random(60).tolist(), binary=True)
    assert marks(alignment_plots.scatter(flag, "right", "flag")) == {"rect", "text"}
    assert "fit" not in alignment_plots.scatter_caption(flag, "right", "flag", "60 of 70 units")
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
