"""What all charts of reports and pages share: their colours and axes, and how one becomes a file without a browser.

Channels are given as objects, `x=alt.X("a:Q")`: for a text, `x="a:Q"`, Altair looks through its whole schema each time,
for 5 ms of a processor, two hundred times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from annotators.later import Later
from exports.cells import in_xml
from exports.drawing.margins import with_room

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")


ACCENT = "#0072b2"
"""The blue of single series, read on a light and on a dark page."""

LINE = "#d55e00"
QUIET = "#8a949c"
PRINTED = "#31333f"
"""The ink of words in plots that are taken away, which are on white."""

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e3b505", "#56b4e9", "#7a5195", "#8c564b"]
"""Colours that people with any colour vision tell apart (after Okabe and Ito), read on both themes."""

DISAGREE, NEUTRAL, AGREE = "#d55e00", "#9aa3ad", "#0072b2"
"""The ends and the middle of a scale from one pole to the other."""

ON_DARK, ON_LIGHT = "#ffffff", "#10202c"
"""Words over a strong and over a faint colour."""

TICKS = 3
"""What the drawing library is asked for: it draws up to 1.6 times as many round steps, so six ticks at most."""

_FIFTHS = [0, 0.2, 0.4, 0.6, 0.8, 1]


def axis(**more: Any) -> alt.Axis:
    """The axis of a quantity, with `more` of the drawing library's words: the words at its ends stay within the plot.

    They would stand half beyond it, and be cut, on a page whose style says so.
    """
    ticks: dict[str, Any] = {} if "values" in more else {"tickCount": TICKS}
    return alt.Axis(labelFlush=True, labelFlushOffset=-1, **ticks, **more)


def intervals(base: alt.Chart, frame: pd.DataFrame, **style: Any) -> alt.Chart:
    """The rules of intervals from `low` to `high` of a frame; where none has any, nobody is told of a part without."""
    drawn: alt.Chart = base.mark_rule(aria=bool(frame["low"].notna().any()), **style)
    return drawn


def ends(low: float, high: float) -> alt.Axis:
    """The axis of a quantity between two ends: in fifths from 0 to 1, else at round numbers."""
    return axis(values=_FIFTHS) if (low, high) == (0, 1) else axis()


def whole() -> alt.Axis:
    """An axis of whole numbers: a short one, which the drawing library would divide, gets nothing between them."""
    between: Any = {"condition": {"test": "datum.value % 1", "value": 0}, "value": 1}
    words = "datum.value % 1 ? '' : format(datum.value, ',d')"
    return axis(tickMinStep=1, labelExpr=words, labelOverlap=False, gridOpacity=between, tickOpacity=between)


def counts(title: str | None) -> dict[str, Any]:
    """The axis of things that are counted, or of their places: whole numbers from 0."""
    return {"title": title, "axis": whole(), "scale": alt.Scale(zero=True)}


def shares(title: str | None) -> dict[str, Any]:
    """The axis of a share: from 0 to 1, in percent."""
    return {"title": title, "axis": axis(values=_FIFTHS, format="%"), "scale": alt.Scale(domain=[0, 1])}


def values(title: str | None, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    """The axis of any other quantity, between two ends where it has them."""
    if low is None or high is None:
        return {"title": title, "axis": axis(), "scale": alt.Scale(zero=False)}
    return {"title": title, "axis": ends(low, high), "scale": alt.Scale(domain=[low, high], nice=False)}


def above_legend(chart: Any, height: int) -> alt.LayerChart:
    """A chart of this height whose legend stands below it: on a page, whose width it takes, it does not shrink for it.

    A page fits a chart with its legend into both sides; where the height counts too, a long legend leaves no plot.
    """
    drawn: alt.LayerChart = chart.properties(
        height=height, autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
    )
    return drawn


def palette(n: int) -> list[str]:
    """The first n colours, from the beginning again where there are more."""
    return [COLOURS[place % len(COLOURS)] for place in range(max(1, n))]


def poles(n: int) -> list[str]:
    """n colours from one pole of an ordered scale to the other, the middle grey where there is one."""
    low, high, middle = ["#d55e00", "#e8a06a", "#f0c6a2"], ["#0072b2", "#5fa4cf", "#a9cfe6"], [NEUTRAL]
    half = n // 2
    if half > len(low):
        low, high = [DISAGREE] * half, [AGREE] * half
    return [*low[:half], *(middle if n % 2 else []), *reversed(high[:half])]


Ending = Literal["svg", "png", "pdf"]


def drawn(chart: Any, ending: Ending, width: int | None = 460) -> bytes:
    """A chart as a file on white, sharp in print; `width` None keeps the chart's own."""
    return as_file(as_svg(chart, width), ending)


def as_svg(chart: Any, width: int | None = 460) -> str:
    """A chart laid out on white, from which its files are made, with room for its words in wide fonts.

    Altair checks each part of a chart when it is made. To check the whole once more, which its own `save` does for each
    file, takes longer than all the rest.
    """
    import vl_convert  # noqa: PLC0415 - with the charts, which are loaded late as well

    printed = chart.properties(background="white")
    if width is not None:
        printed = printed.properties(width=width, autosize="pad")
    with alt.data_transformers.enable("default"), alt.data_transformers.disable_max_rows():
        spec = _drawable(printed.to_dict(validate=False, context={"pre_transform": False}))
    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    return with_room(str(vl_convert.vegalite_to_svg(spec, vl_version=version)))


def _drawable(part: Any) -> Any:
    """A part of a chart's specification with texts that the drawing library can draw: at others it ends the process."""
    if isinstance(part, dict):
        return {in_xml(name): _drawable(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_drawable(value) for value in part]
    return in_xml(part) if isinstance(part, str) else part


def as_file(svg: str, ending: Ending) -> bytes:
    """The file of this kind of a chart that is laid out."""
    import vl_convert  # noqa: PLC0415 - likewise

    if ending == "svg":
        return svg.encode()
    made: bytes = vl_convert.svg_to_png(svg, ppi=300) if ending == "png" else vl_convert.svg_to_pdf(svg)
    return made
