"""What the page Fewer labels draws: a criterion's line, its figures, its charts, the items to label next."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotators.estimates.sample import Estimate
from app import wording
from app.widgets import blocks
from app.widgets.plots import plot
from exports.alignment.sections import number
from exports.drawing.tables import TextTable
from exports.estimates.plots import half_widths, while_labelling
from exports.estimates.view import NOTHING_SAVED, REACHED, Shown, Standing

MOST_NEXT = 8

_STYLE = """
.assay-criteria { display: grid; border-top: 1px solid var(--assay-line); }
.assay-criteria a { display: grid; gap: 2px; padding: 8px 6px 9px 12px; color: inherit; text-decoration: none;
  border-bottom: 1px solid var(--assay-line); border-left: 3px solid transparent; line-height: 1.35; }
.assay-criteria a[aria-current] { border-left-color: var(--assay-accent);
  background: color-mix(in srgb, var(--assay-accent) 8%, transparent); }
.assay-criteria a:focus-visible { outline: 2px solid var(--assay-accent); outline-offset: -2px; }
.assay-criteria span:first-child { display: flex; justify-content: space-between; gap: 8px; }
.assay-criteria b { font-weight: 600; }
.assay-criteria small { color: var(--assay-soft); font-size: 0.84rem; }
.assay-criteria i, .assay-state { font-style: normal; font-variant-numeric: tabular-nums; }
.assay-state { justify-self: start; font-size: 0.84rem; border-radius: 10px; padding: 0 8px;
  background: color-mix(in srgb, var(--assay-accent) 8%, var(--assay-panel)); color: var(--assay-accent); }
.assay-state.good { color: var(--assay-ok); background: color-mix(in srgb, var(--assay-ok) 8%, var(--assay-panel)); }
.assay-state.poor { color: var(--assay-warn);
  background: color-mix(in srgb, var(--assay-warn) 8%, var(--assay-panel)); }
.assay-tiles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); border: 1px solid var(--assay-line);
  border-radius: 8px; background: var(--assay-panel); }
.assay-tiles > div { padding: 7px 11px 8px; border-left: 1px solid var(--assay-line); min-width: 0; }
.assay-tiles > div:first-child { border-left: 0; }
.assay-tiles h3 { font-size: 0.8rem; font-weight: 600; color: var(--assay-soft); margin: 0; padding: 0; }
.assay-tiles b { font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.3; }
.assay-tiles b + span { font-size: 0.88rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.assay-tiles small { display: block; color: var(--assay-soft); font-size: 0.84rem; line-height: 1.3; }
.assay-tiles .good b { color: var(--assay-ok); }
.assay-tiles .poor b { color: var(--assay-warn); }
.assay-tiles .first b { color: var(--assay-accent); }
/* Figures have the width that they need; names share the rest, and are shortened: nothing is beyond the edge. */
.assay-next { width: 100%; border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums;
  table-layout: fixed; }
.assay-next th { font-weight: 600; color: var(--assay-soft); text-align: start; font-size: 0.8rem; }
.assay-next :is(td, th) { padding: 3px 6px 3px 0; border-bottom: 1px solid var(--assay-line); }
.assay-next :is(td, th):nth-child(n + 2) { text-align: end; padding-right: 0; padding-left: 6px; width: 4.4rem;
  white-space: nowrap; }
.assay-next :is(td, th):nth-child(3) { width: 5rem; }
.assay-next td :is(span, small) { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.assay-next small { color: var(--assay-soft); font-size: 0.8rem; line-height: 1.3; }
.assay-small { font-size: 0.88rem; line-height: 1.4; margin: 0; }
.assay-section .assay-small { font-weight: 400; }
.assay-said { margin: 0; line-height: 1.5; }
/* Three columns need a laptop; narrower, they are one below the other. */
@media (max-width: 1200px) {
  .assay-tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .st-key-estimates > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"],
  .st-key-estimates > [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
  .st-key-estimates [data-testid="stHorizontalBlock"] > [data-testid="stColumn"] { min-width: 100%; flex: 1 1 100%; }
}
@media (max-width: 520px) { .assay-tiles { grid-template-columns: minmax(0, 1fr); } }
"""


def style() -> None:
    """The style of these pieces; once at the top of the page."""
    st.html(f"<style>{_STYLE}</style>")


def criterion(standing: Standing, href: str, stop: float | None, *, current: bool) -> str:
    """One criterion as a line that leads to it."""
    value = "" if standing.value is None else number(standing.value, 2)
    mark = {REACHED: "good", NOTHING_SAVED: "poor"}.get(standing.state, "")
    tick = "✓ " if standing.state == REACHED else ""
    state = f'<span class="assay-state {mark}">{tick}{escape(standing.state)}</span>' if standing.state else ""
    now = ' aria-current="true"' if current else ""
    title = f'<span><b dir="auto">{escape(standing.title)}</b><i>{value}</i></span>'
    words = f"{state}<small>{escape(standing_in_words(standing, stop))}</small>"
    return f'<a href="{escape(href)}" target="_self"{now}>{title}{words}</a>'


def standing_in_words(standing: Standing, stop: float | None) -> str:
    """How closely it is known, and what it still takes."""
    if standing.reason is not None:
        return f"{standing.reason[0].upper()}{standing.reason[1:]}."
    if standing.half_width is None:
        return f"{wording.count(standing.n, 'label')}; the interval at every look begins at 20."
    half = f"±{number(standing.half_width)}"
    if standing.state == REACHED:
        return f"{half}, within ±{stop:g} since label {standing.since}. You may end; labels given later count too."
    words = f"{half} now"
    if stop is not None:
        more = "no number of labels would do" if standing.more is None else f"about {standing.more:,} more labels"
        words += f", stop at ±{stop:g}: {more}"
    if standing.state == NOTHING_SAVED:
        r = number(standing.correlation, 2)
        words += f". Predictions correlate {r} with people; to gain much they need about 0.7"
    return f"{words}."


def tiles(shown: Shown, stop: float | None) -> str:
    """The figures of a criterion side by side."""
    standing = shown.standing
    saved = round((standing.effective or standing.n) - standing.n)
    bought = f"saves {wording.count(saved, 'label')}" if saved > 0.02 * standing.n else "saves none"
    effective = f"{standing.effective or standing.n:,.0f}"
    best, classical, when = shown.best, shown.classical, ""
    if stop is not None and shown.going and shown.going[-1].powered.value is not None:
        best, classical, when = shown.going[-1].powered, shown.going[-1].classical, ", at every look"
    corrected = f"labels corrected{when}" if shown.predictions else "no score or judge predicts it"
    made = [
        _tile("With predictions", _figure(best) if shown.predictions else ("–", ""), corrected, "first"),
        _tile("Labels alone", _figure(classical), f"people's labels only{when}"),
        _tile("Effective sample size", (effective, ""), f"from {standing.n:,}: {bought}"),
    ]
    if stop is None:
        half = "–" if standing.half_width is None else f"±{number(standing.half_width)}"
        below = "begins at 20 labels" if standing.half_width is None else "95 %; no stop rule"
        made.append(_tile("At every look", (half, ""), below))
    else:
        reached = standing.state == REACHED
        words, mark = ("reached", "good") if reached else ("not reached", "poor")
        made.append(_tile(f"Stop rule ±{stop:g}", (words, ""), _still(shown), mark))
    return f'<div class="assay-tiles">{"".join(made)}</div>'


def _tile(title: str, figure: tuple[str, str], below: str, mark: str = "") -> str:
    large, beside = map(escape, figure)
    return (
        f'<div class="{mark}"><h3>{escape(title)}</h3><b>{large}</b> <span>{beside}</span>'
        f"<small>{escape(below)}</small></div>"
    )


def _figure(entry: Estimate) -> tuple[str, str]:
    beside = "" if entry.low is None or entry.high is None else f"[{number(entry.low)}, {number(entry.high)}]"
    return number(entry.value) or "–", beside


def _still(shown: Shown) -> str:
    """What is still to come: labels, and by the pace so far how long."""
    standing = shown.standing
    if standing.half_width is None:
        return "begins at 20 labels"
    half = f"±{number(standing.half_width)}"
    if standing.state == REACHED:
        return f"{half}, since label {standing.since}"
    if standing.more is None:
        return f"{half}; not with all labels"
    minutes = "" if shown.seconds is None else f", {_time(standing.more * shown.seconds)}"
    return f"{half}; about {standing.more:,} more{minutes}"


def _time(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02}"


def charts(shown: Shown, stop: float | None) -> None:
    """The interval while labelling, and half its width with what is to come."""
    name = shown.standing.name
    last = max([shown.standing.n, *(n for n, _, _ in shown.ahead)])
    plot(
        while_labelling(shown.going, last, shown.stop_with, "mean"),
        f"while-labelling-{name}",
        "Mean while labelling, with its 95 % interval that is valid at every look.",
        otherwise="The course of the mean is drawn from 21 labels on.",
    )
    words, alone = "", shown.classical_stops_with
    if stop is not None:
        words = f" Labels alone need {'more than all' if alone is None else f'about {alone:,}'} to stop."
    plot(
        half_widths(shown.going, shown.ahead, last, stop=stop, stop_with=shown.stop_with),
        f"half-width-{name}",
        f"Half the width of that interval; dotted is foreseen.{words}",
    )


def table(shown: TextTable, name: str) -> None:
    """A table with its files."""
    rows = [[blocks.short(cell, 26) for cell in row] for row in shown.rows]
    blocks.table(shown.caption, shown.columns, shown.rows, name=name, seen=(shown.caption, shown.columns, rows))


def next_table(shown: Shown) -> str:
    """The first items of the draw; how many more there are."""
    rows = "".join(
        f'<tr><td><span dir="auto" title="{escape(item.item)}">{escape(item.item)}</span>'
        f'<small dir="auto" title="{escape(item.stratum)}">{escape(item.stratum)}</small></td>'
        f"<td>{number(item.predicted, 2) or '–'}</td><td>{number(item.probability)}</td></tr>"
        for item in shown.next_items[:MOST_NEXT]
    )
    more = len(shown.next_items) - MOST_NEXT
    after = f'<p class="assay-soft assay-small">and {more} more</p>' if more > 0 else ""
    heads = "".join(f"<th>{head}</th>" for head in ("Item, stratum", "Predicted", "Probability"))
    table_html = f'<table class="assay-next"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return f"{table_html}{after}"
