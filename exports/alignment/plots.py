"""The plots of alignment as Altair charts: for the pages, and drawn without a browser for files."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from annotators.alignment import Bin, Pairs, SystemMeans, confusion, decide, roc_curve
from annotators.alignment.statistics.calibration import calibration
from annotators.intervals.bootstrap import Resampling
from annotators.later import Later
from exports.drawing import charts
from exports.drawing.charts import ACCENT, COLOURS, LINE, QUIET
from exports.drawing.naming_points import SIZE, placed

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

MOST_POINTS = 5_000


def scatter(pairs: Pairs, human: str, metric: str, names: Sequence[str] | None = None) -> alt.LayerChart:
    """Human value against the metric with a straight fit and its band; a flag as tiles with counts, without a fit.

    Units with the same two values are one point, as large as there are many: else those at 0 and 1 would hide each
    other. Human values of single units that are few are shaken a little. `names` names the rows. More than 5,000 points
    are thinned out evenly.
    """
    if is_flag(pairs):
        return tiles_of_flag(pairs, human, metric)
    frame, kinds = _piles(pairs, names), np.unique(pairs.human)
    most = int(frame["n"].max()) if len(frame) else 1
    room = math.sqrt(min(_LARGEST, _SINGLE * most) / math.pi) + 2  # so that no point lies over the words of an axis
    x = alt.X("metric:Q", title=metric, axis=charts.axis(), scale=alt.Scale(zero=False, padding=room))
    few = kinds.tolist()[:: max(1, -(-len(kinds) // 6))]
    axis = charts.axis(values=few, **_said(pairs)) if len(kinds) <= 12 else charts.axis()
    y = alt.Y("shown:Q", title=human, scale=alt.Scale(zero=False, padding=room), axis=axis)
    tips = [
        alt.Tooltip("item:N"), alt.Tooltip("human:Q"), alt.Tooltip("metric:Q", format=".3f"),
        alt.Tooltip("n:Q", title="units", format=",d"),
    ]  # fmt: skip
    points = alt.Chart(frame).mark_circle(color=ACCENT, opacity=0.55).encode(x=x, y=y, tooltip=tips)
    if most > 1:
        area = alt.Scale(domain=[1, most], range=[_SINGLE, min(_LARGEST, _SINGLE * most)])
        legend = alt.Legend(values=sorted({1, (1 + most) // 2, most}), format=",d", symbolFillColor=ACCENT)
        points = points.encode(size=alt.Size("n:Q", title="units", scale=area, legend=legend))
    else:
        points = points.mark_circle(color=ACCENT, size=_SINGLE, opacity=0.55)
    line = _fit(pairs)
    band = (
        alt.Chart(line)
        .mark_area(color=LINE, opacity=0.18)
        .encode(x=alt.X("metric:Q"), y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    )
    fit = alt.Chart(line).mark_line(color=LINE, strokeWidth=2).encode(x=alt.X("metric:Q"), y=alt.Y("fit:Q"))
    layered: alt.LayerChart = (points + band + fit).properties(height=300)
    return layered


_SINGLE, _LARGEST = 34, 700
"""The areas of a point of one unit, and of the most, in square pixels."""


def _piles(pairs: Pairs, names: Sequence[str] | None) -> pd.DataFrame:
    """A row for each pair of values: how many units have it, and where it is shown; single units are shaken."""
    each = np.stack([pairs.metric, pairs.human], axis=1)
    values, first, of = np.unique(each, axis=0, return_index=True, return_counts=True)
    step = max(1, -(-len(values) // MOST_POINTS))
    values, first, of = values[::step], first[::step], of[::step]
    kinds = np.unique(pairs.human)
    spread = 0.12 * float(np.diff(kinds).min()) if 1 < len(kinds) <= 12 else 0.0
    shaken = spread * np.random.default_rng(0).uniform(-1, 1, len(of))
    called = [str(names[place]) if names is not None else str(pairs.units[place]) for place in first.tolist()]
    return pd.DataFrame(
        {
            "metric": values[:, 0],
            "human": values[:, 1],
            "shown": values[:, 1] + np.where(of == 1, shaken, 0.0),
            "item": [
                name if n == 1 else f"{name} and {n - 1:,} more" for name, n in zip(called, of.tolist(), strict=True)
            ],
            "n": of,
        }
    )


def scatter_caption(pairs: Pairs, human: str, metric: str, held: str) -> str:
    """What `scatter` shows of these pairs, with how many of how many units they are (`held`)."""
    if is_flag(pairs):
        return f"{human} against the flag {metric}: how many units have which pair of values; {held}."
    piles = " Units with the same two values are one point, as large as there are many." if _has_piles(pairs) else ""
    return f"{human} against {metric}, with a straight fit and its 95 % band; {held}.{piles}"


def _has_piles(pairs: Pairs) -> bool:
    return len(np.unique(np.stack([pairs.metric, pairs.human], axis=1), axis=0)) < pairs.n


def _said(pairs: Pairs) -> dict[str, Any]:
    """How the labels on an axis of human values read: yes and no where there are two."""
    return {"labelExpr": "datum.value ? 'yes' : 'no'"} if pairs.binary else {"format": "~g"}


def is_flag(pairs: Pairs) -> bool:
    """Whether the metric says only yes or no."""
    return pairs.n > 0 and bool(np.isin(pairs.metric, (0.0, 1.0)).all())


def tiles_of_flag(pairs: Pairs, human: str, metric: str) -> alt.LayerChart:
    """How often each human value met each value of a flag: more than a dozen human values in six ranges."""
    kinds = np.unique(pairs.human)
    if len(kinds) > 12:
        edges = np.linspace(kinds[0], kinds[-1], 7)
        place = np.clip(np.searchsorted(edges, pairs.human, side="right") - 1, 0, 5)
        names = [f"{low:.3g} to {high:.3g}" for low, high in itertools.pairwise(edges.tolist())]
    else:
        place = np.searchsorted(kinds, pairs.human)
        yes_no = ["no" if kind == 0 else "yes" for kind in kinds.tolist()]
        names = yes_no if pairs.binary else [f"{kind:.4g}" for kind in kinds.tolist()]
    said = ["yes" if value else "no" for value in pairs.metric.tolist()]
    return _tiles(Counter(zip((names[bin_] for bin_ in place.tolist()), said, strict=True)), names[::-1], human, metric)


def _tiles(counts: Mapping[tuple[str, str], int], people: Sequence[str], human: str, metric: str) -> alt.LayerChart:
    """(people, the metric's yes or no) → how often, as tiles with their counts."""
    order = ["yes", "no"]
    frame = pd.DataFrame([{"people": h, "said": m, "n": counts.get((h, m), 0)} for h in people for m in order])
    base = alt.Chart(frame).encode(
        x=alt.X("said:N", sort=order, title=metric, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("people:N", sort=list(people), title=human),
    )
    most = max(1, int(frame["n"].max()))
    tiles = base.mark_rect().encode(
        color=alt.Color("n:Q", scale=alt.Scale(domain=[0, most], scheme="blues"), legend=None),
        tooltip=[alt.Tooltip("people:N"), alt.Tooltip("said:N"), alt.Tooltip("n:Q", format=",d")],
    )
    dark = alt.condition(alt.datum.n > 0.55 * most, alt.value(charts.ON_DARK), alt.value(charts.ON_LIGHT))
    words = base.mark_text(fontSize=14).encode(text=alt.Text("n:Q", format=",d"), color=dark)
    layered: alt.LayerChart = (tiles + words).properties(height=alt.Step(64 if len(people) < 4 else 34))
    return layered


def _fit(pairs: Pairs) -> pd.DataFrame:
    """The least-squares line of people on the metric with the pointwise 95 % band of a bootstrap over clusters."""
    grid = np.linspace(pairs.metric[0], pairs.metric[-1], 40) if pairs.n else np.zeros(0)
    if pairs.n < 3 or np.ptp(pairs.metric) == 0:
        return pd.DataFrame({"metric": [], "fit": [], "low": [], "high": []})
    rng, n = np.random.default_rng(0), pairs.n_clusters
    draws = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(300)], axis=1)
    weights = np.concatenate([np.ones((pairs.n, 1)), draws[pairs.cluster]], axis=1).astype(np.float64)
    x, y = pairs.metric, pairs.human
    size, sx, sy, sxx, sxy = np.stack([np.ones_like(x), x, y, x * x, x * y]) @ weights
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = (size * sxy - sx * sy) / (size * sxx - sx * sx)
        lines = (sy - slope * sx) / size + slope * grid[:, None]
    low, high = np.nanquantile(lines[:, 1:], [0.025, 0.975], axis=1)
    return pd.DataFrame({"metric": grid, "fit": lines[:, 0], "low": low, "high": high})


def roc(curves: Sequence[tuple[str, Pairs]]) -> alt.LayerChart | None:
    """The ROC curves of metrics of binary labels; None when none has both labels."""
    frames = []
    for name, pairs in curves:
        if pairs.binary and pairs.n and np.ptp(pairs.human) > 0:
            made = roc_curve(pairs)
            frames.append(
                pd.DataFrame(
                    {"metric": name, "fpr": made.false_positive, "tpr": made.true_positive, "at": made.thresholds}
                ).replace([np.inf, -np.inf], None)
            )
    if not frames:
        return None
    frame = pd.concat(frames, ignore_index=True)
    frame["order"] = range(len(frame))
    chance = alt.Chart(pd.DataFrame({"fpr": [0, 1], "tpr": [0, 1]})).mark_line(color=QUIET, strokeDash=[4, 4])
    chance = chance.encode(
        x=alt.X("fpr:Q", **charts.values("False positive rate", 0, 1)),
        y=alt.Y("tpr:Q", **charts.values("True positive rate", 0, 1)),
    )
    legend = alt.Legend(orient="bottom", columns=1, labelLimit=400)
    lines = alt.Chart(frame).mark_line(strokeWidth=2).encode(
        x=alt.X("fpr:Q"), y=alt.Y("tpr:Q"), order=alt.Order("order:Q"),
        color=alt.Color("metric:N", title=None, scale=alt.Scale(range=COLOURS), legend=legend),
        tooltip=[
            alt.Tooltip("metric:N"), alt.Tooltip("fpr:Q", format=".3f"), alt.Tooltip("tpr:Q", format=".3f"),
            alt.Tooltip("at:Q"),
        ],
    )  # fmt: skip
    return charts.above_legend(chance + lines, 320)


def calibration_plot(bins: Sequence[Bin], human: str, metric: str) -> alt.LayerChart | None:
    """Mean human value against mean metric of each bin, with intervals; None without bins."""
    if not bins:
        return None
    frame = pd.DataFrame(
        [{"metric": bin_.metric, "human": bin_.human, "low": bin_.low, "high": bin_.high, "n": bin_.n} for bin_ in bins]
    )
    perfect = alt.Chart(pd.DataFrame({"metric": [0, 1], "human": [0, 1]})).mark_line(color=QUIET, strokeDash=[4, 4])
    perfect = perfect.encode(
        x=alt.X("metric:Q", **charts.values(metric, 0, 1)),
        y=alt.Y("human:Q", **charts.values(f"{human} (0 to 1)", 0, 1)),
    )
    base = alt.Chart(frame).encode(x=alt.X("metric:Q"))
    bars = charts.intervals(base, frame, color=ACCENT, strokeWidth=2).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    tips = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("metric", "human", "low", "high")]
    points = base.mark_circle(color=ACCENT, opacity=1).encode(
        y=alt.Y("human:Q"), size=alt.Size("n:Q", title="units", legend=None), tooltip=[*tips, alt.Tooltip("n:Q")]
    )
    layered: alt.LayerChart = (perfect + bars + points).properties(height=320)
    return layered


def calibration_of(pairs: Pairs, scale: tuple[float, float], human: str, metric: str) -> alt.LayerChart | None:
    """The calibration plot of a metric."""
    return calibration_plot(calibration(pairs, Resampling(), scale=scale)[1], human, metric)


def confusion_plot(pairs: Pairs, threshold: float, human: str, metric: str) -> alt.LayerChart:
    """How often each human label met each decision of the metric at its threshold."""
    counts = confusion(decide(pairs.metric, threshold), pairs.human)
    named = {("yes" if h else "no", "yes" if m else "no"): n for (h, m), n in counts.items()}
    return _tiles(named, ["yes", "no"], human, f"{metric} ≥ {threshold:g}")


_NAMED_IN = (380.0, 300.0)
"""Width and height of the plot of systems in which their names find their places: the narrowest that is drawn."""


def systems(means: Sequence[SystemMeans], human: str, metric: str) -> alt.LayerChart:
    """Each system's mean by people against its mean by the metric, named.

    Names stand where none lies over another; where they find no room, points have numbers, which the legend explains.
    """
    x_ends, y_ends = (_with_room([getattr(mean, side) for mean in means]) for side in ("metric", "human"))
    width, height = _NAMED_IN
    at = [(width * _within(mean.metric, x_ends), height * (1 - _within(mean.human, y_ends))) for mean in means]
    names = [mean.system for mean in means]
    numbers = [str(number) for number in range(1, len(means) + 1)]
    spots = placed(at, names, width, height)
    by_number = spots is None
    if spots is None:
        spots = placed(at, numbers, width, height) or []  # too many for that as well: the legend alone names them
    rows = [
        {
            "system": mean.system, "human": mean.human, "metric": mean.metric, "n": mean.n,
            "known as": f"{number}  {mean.system}",
        }
        for number, mean in zip(numbers, means, strict=True)
    ]  # fmt: skip
    shown = [
        {
            **row,
            "x": x_ends[0] + spot.x / width * (x_ends[1] - x_ends[0]),
            "y": y_ends[1] - spot.y / height * (y_ends[1] - y_ends[0]),
            "align": spot.align,
            "away": spot.away,
            "text": text,
        }
        for row, spot, text in zip(rows, spots, numbers if by_number else names, strict=False)
    ]
    x_axis, y_axis = charts.values(f"{metric}, mean", *x_ends), charts.values(f"{human}, mean", *y_ends)
    base = alt.Chart(pd.DataFrame(rows)).encode(x=alt.X("metric:Q", **x_axis), y=alt.Y("human:Q", **y_axis))
    tips = [
        alt.Tooltip("system:N"),
        alt.Tooltip("n:Q"),
        alt.Tooltip("human:Q", format=".3f"),
        alt.Tooltip("metric:Q", format=".3f"),
    ]
    if by_number:
        known = [str(row["known as"]) for row in rows]
        legend = alt.Legend(orient="bottom", columns=1, direction="vertical", labelLimit=400)
        scale = alt.Scale(domain=known, range=charts.palette(len(known)))
        colour = alt.Color("known as:N", sort=known, title=None, scale=scale, legend=legend)
        points = base.mark_circle(size=80, opacity=1).encode(tooltip=tips, color=colour)
    else:
        points = base.mark_circle(color=ACCENT, size=80, opacity=1).encode(tooltip=tips)
    layers: list[alt.Chart] = []
    if away := [row for row in shown if row["away"]]:
        ends = alt.Chart(pd.DataFrame(away)).mark_rule(color=QUIET, strokeWidth=0.8)
        end = {"x": alt.X("metric:Q", **x_axis), "y": alt.Y("human:Q", **y_axis)}
        layers.append(ends.encode(**end, x2=alt.X2("x:Q"), y2=alt.Y2("y:Q")))
    layers.append(points)
    for align in ("left", "right", "center"):
        if some := [row for row in shown if row["align"] == align]:
            words = alt.Chart(pd.DataFrame(some)).mark_text(align=align, baseline="middle", fontSize=SIZE, color=QUIET)
            spot_of = {"x": alt.X("x:Q", **x_axis), "y": alt.Y("y:Q", **y_axis)}
            layers.append(words.encode(**spot_of, text=alt.Text("text:N")))
    return charts.above_legend(alt.layer(*layers), int(height))


def _with_room(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis with room beyond the lowest and the highest value."""
    low, high = min(values), max(values)
    room = 0.14 * (high - low) or 0.1 * (abs(low) or 1.0)
    return low - room, high + room


def _within(value: float, ends: tuple[float, float]) -> float:
    return (value - ends[0]) / (ends[1] - ends[0])
