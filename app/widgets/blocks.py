"""Small pieces of HTML that several pages draw: tables with links, facts, bars, texts, pages. All escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from annotators.errors import Problem
from app import ui, wording
from exports.drawing.tables import cell_html, identifier_html

_STYLE = """
.assay-table a, .assay-facts a, .assay-links a { color: var(--assay-accent); text-decoration: none; }
.assay-table a:hover, .assay-facts a:hover, .assay-links a:hover { text-decoration: underline; }
.assay-table a:focus-visible, .assay-links a:focus-visible { outline: 2px solid var(--assay-accent);
  outline-offset: 2px; }
.assay-facts { display: grid; grid-template-columns: fit-content(40%) minmax(0, 1fr); gap: 5px 22px; margin: 2px 0;
  padding: 0 !important; }
.assay-facts dt { color: var(--assay-soft); font-weight: 400; }
.assay-facts dd { margin: 0; font-variant-numeric: tabular-nums; }
.assay-hash { font-family: monospace; font-size: 0.84rem; }
.assay-links { display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: center; margin: 2px 0; }
.assay-share { display: grid; grid-template-columns: minmax(70px, 1fr) minmax(8.5ch, max-content); gap: 12px;
  align-items: center; }
.assay-share span { color: var(--assay-soft); font-size: 0.87rem; white-space: nowrap; }
.assay-figures { display: flex; flex-wrap: wrap; gap: 10px 34px; margin: 2px 0 4px; }
.assay-figures div { display: grid; }
.assay-figures b { font-size: 1.3rem; font-weight: 600; line-height: 1.3; font-variant-numeric: tabular-nums; }
.assay-figures div > span { color: var(--assay-soft); font-size: 0.84rem; }
.assay-text { white-space: pre-wrap; overflow-wrap: break-word; line-height: 1.55; max-width: 78ch; margin: 0; }
.assay-difference del { color: var(--assay-warn); }
.assay-difference ins { color: var(--assay-ok); text-decoration-thickness: 2px; text-underline-offset: 3px; }
.assay-marked { --ink: var(--assay-ink); --soft: var(--assay-soft); --line: var(--assay-line);
  --edge: var(--assay-soft); --panel: var(--assay-panel); --accent: var(--assay-accent); }
.assay-panel { background: var(--assay-panel); border: 1px solid var(--assay-line); border-radius: 9px;
  padding: 14px 16px; }
.assay-panel + .assay-panel { margin-top: 10px; }
.assay-panel h3 { font-size: 0.84rem; font-weight: 600; color: var(--assay-soft); margin: 0 0 5px; padding: 0; }
.assay-thumb { display: block; width: 46px; height: 60px; object-fit: cover; object-position: top; border-radius: 3px;
  border: 1px solid var(--assay-line); background: #fff; }
.assay-thumb-none { display: grid; place-items: center; width: 46px; height: 60px; border-radius: 3px;
  font-size: 0.7rem; border: 1px dashed var(--assay-line); color: var(--assay-soft); }
.assay-page { position: relative; display: block; border: 1px solid var(--assay-line); border-radius: 4px;
  overflow: hidden; background: #fff; }
.assay-page img { display: block; width: 100%; }
.assay-page i { position: absolute; border: 2px solid var(--assay-box); border-radius: 2px;
  background: color-mix(in srgb, var(--assay-box) 8%, transparent); }
.assay-unit { display: grid; grid-template-columns: minmax(0, 1fr) 260px; gap: 20px; align-items: start; }
.assay-unit.assay-unit-plain { grid-template-columns: minmax(0, 1fr); }
@media (max-width: 900px) { .assay-unit { grid-template-columns: minmax(0, 1fr); } }
.assay-kbd { font-family: monospace; font-size: 0.84rem; background: var(--assay-key); border: 1px solid
  var(--assay-line); border-bottom-width: 2px; border-radius: 4px; padding: 0 6px; white-space: nowrap; }
.assay-odd { color: var(--assay-warn); font-weight: 600; }
.stMultiSelect [data-tag] { background: color-mix(in srgb, var(--assay-accent) 15%, var(--assay-panel));
  color: var(--assay-ink); }
.stMultiSelect [data-tag] button { color: var(--assay-soft); }
.assay-to-mend { max-height: 210px; overflow: auto; }
.assay-to-mend ul { margin: 4px 0 0; padding-left: 18px; }
.assay-example { border-top: 1px solid var(--assay-line); margin-top: 10px; padding-top: 8px !important;
  grid-template-columns: 3.6rem minmax(0, 1fr); }
.assay-example dd { white-space: pre-wrap; overflow-wrap: anywhere; }
.assay-quiet-tag { color: var(--assay-soft); font-size: 0.8rem; border-radius: 8px; padding: 1px 8px;
  border: 1px solid var(--assay-line); white-space: nowrap; }
"""


def style() -> None:
    """The style of these pieces; once at the top of a page that draws them."""
    st.html(f"<style>{_STYLE}</style>")


# Cells ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Html:
    """A cell that is HTML already, made by this module; `text` is what is taken away in files and aligned by."""

    html: str
    text: str = ""

    def __str__(self) -> str:
        return self.text


def address(page: str, /, **parameters: Any) -> str:
    """The address of a page of ours; parameters that are None are left out."""
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"/{page}?{query}" if query else f"/{page}"


def to(label: str, page: str, /, **parameters: Any) -> Html:
    """A link to a page of ours as a cell."""
    return Html(f'<a href="{escape(address(page, **parameters))}" target="_self">{cell_html(label)}</a>', label)


def short(cell: object, most: int = 36) -> Html:
    """A cell that is kept on one line unless it is longer than `most` characters."""
    text = str(cell if cell is not None else "")
    return Html(f'<span class="assay-w">{_cell(cell)}</span>' if len(text) <= most else _cell(cell), text)


def identifier(text: str) -> Html:
    """A name or an id on one line, the middle of a long one hidden (its tooltip and what is copied have it all)."""
    return Html(identifier_html(text), text)


def item(external_id: str, item_id: int, project_id: int | None = None) -> Html:
    """A link to an item by its id."""
    href = address("item", item=item_id, project=project_id)
    return Html(f'<a href="{escape(href)}" target="_self">{identifier_html(external_id)}</a>', external_id)


def button(label: str, page: str, /, **parameters: Any) -> Html:
    """A link to a page of ours that looks like a quiet button, as a cell; it is not taken away in files."""
    href = escape(address(page, **parameters))
    return Html(f'<a class="assay-quiet-button" href="{href}" target="_self">{escape(label)}</a>')


def tag(text: str, *, quiet: bool = False) -> Html:
    """A word that stands out: a warning, or (`quiet`) a state."""
    return Html(f'<span class="assay-{"quiet-tag" if quiet else "tag"}">{escape(text)}</span>', text)


def bar(share: float, words: str) -> Html:
    """A thin bar filled to a share from 0 to 1, with its figures in words."""
    width = min(100.0, max(0.0, 100 * share))
    return Html(
        f'<div class="assay-share"><div class="assay-bar" role="img" aria-label="{escape(words)}">'
        f'<i style="width:{width:.1f}%"></i></div><span>{escape(words)}</span></div>',
        words,
    )


def odd(text: str) -> Html:
    """A label that stands against the others."""
    return Html(f'<span class="assay-odd">{cell_html(text)}</span>', text)


def key(text: str) -> Html:
    """A key of the keyboard."""
    return Html(f'<kbd class="assay-kbd">{escape(text)}</kbd>' if text else "", text)


def clip(text: str, most: int = 160) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


# Blocks ---------------------------------------------------------------------------------------------------------------


table = ui.table


def section(title: str) -> None:
    """The title of a part of the page."""
    st.html(f'<h2 class="assay-section">{escape(title)}</h2>')


def _cell(cell: object) -> str:
    return cell.html if isinstance(cell, Html) else cell_html("" if cell is None else str(cell))


def facts(rows: Sequence[tuple[str, object]]) -> None:
    """Names and values in two columns; empty values are left out."""
    shown = [(name, _cell(value)) for name, value in rows]
    body = "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in shown if value)
    st.html(f'<dl class="assay-facts">{body}</dl>')


def figures(rows: Sequence[tuple[str, object]]) -> None:
    """A row of large figures, each with what it counts."""
    body = "".join(f"<div><b>{_cell(value)}</b><span>{escape(name)}</span></div>" for name, value in rows)
    st.html(f'<div class="assay-figures">{body}</div>')


def text_html(text: str) -> str:
    """A text as it was written: lines kept, its own direction, nothing in it run."""
    return f'<p class="assay-text" dir="auto">{escape(text)}</p>'


def panel(title: str, *bodies: str) -> str:
    """A panel with a small title around HTML made by this module."""
    return f'<div class="assay-panel"><h3>{escape(title)}</h3>{"".join(bodies)}</div>'


def to_mend(problems: Sequence[Problem], fine: str, *, noun: str, testid: str) -> None:
    """What is wrong with something that is written, each with its line and the remedy; or `fine`, that nothing is."""
    if not problems:
        st.html(f'<p class="assay-size" role="status" data-testid="{testid}">{escape(fine)}</p>')
        return
    rows = "".join(
        f"<li><b>{f'Line {problem.line}' if problem.line else noun}</b> {wording.html(problem.problem)} "
        f'<span class="assay-soft">{wording.html(problem.remedy)}</span></li>'
        for problem in problems
    )
    st.html(
        f'<section class="assay-left-out assay-to-mend" role="status" data-testid="{testid}">'
        f"<strong>{wording.count(len(problems), 'thing')} to mend</strong><ul>{rows}</ul></section>"
    )


def what_was_added(named: str, on: int | None, since: Sequence[int], *, new: bool) -> tuple[str, bool]:
    """What saving a version came to, in words, and whether somebody should look at what others did."""
    if not new:
        return f"Nothing was added: {named} says the same.", False
    if not since:
        return f"Saved as {named}.", False
    others = " and ".join(f"version {number}" for number in since)
    return (
        f"Saved as {named}. While you changed version {on}, somebody else added {others}; nothing of that is in yours. "
        "Both are kept: compare them, and save another version if they belong together.",
        True,
    )


def links(*cells: Html) -> None:
    """Links side by side."""
    st.html(f'<div class="assay-links">{"".join(cell.html for cell in cells)}</div>')


def download(target: str, label: str, about: str) -> None:
    """The main button of a page that has made a file: it fetches it from one of our own addresses."""
    st.html(
        f'<p><a class="assay-button" href="{escape(target)}" target="_self" download>{escape(label)}</a>'
        f' <span class="assay-soft">&nbsp; {escape(about)}</span></p>'
    )


# Pages of documents ---------------------------------------------------------------------------------------------------


def page_address(document_id: int, page: int, width: int, sha256: str | None) -> str:
    """The address of a page's picture; with the digest in it the browser may keep it."""
    return address(f"page-images/{document_id}/{page}", w=width, v=sha256[:8] if sha256 else None)


def thumbnail(document_id: int, sha256: str | None, name: str) -> Html:
    """A small picture of a document's first page, or words where its bytes are not supplied."""
    if sha256 is None:
        return Html('<span class="assay-thumb-none" role="img" aria-label="not supplied">none</span>')
    source = escape(page_address(document_id, 1, 160, sha256))
    return Html(f'<img class="assay-thumb" loading="lazy" src="{source}" alt="first page of {escape(name)}">')


def page_link(document_id: int, page: int, sha256: str | None, label: str) -> Html:
    """A link that opens a page's picture in a new tab."""
    large = escape(page_address(document_id, page, 1600, sha256))
    return Html(f'<a href="{large}" target="_blank">{cell_html(label)}</a>', label)


def page_picture(
    document_id: int, page: int, sha256: str | None, name: str, box: Sequence[float] | None = None, *, width: int = 520
) -> str:
    """A page with an evidence unit's box on it (fractions from the top left); opens large in a new tab."""
    large, small = page_address(document_id, page, 1600, sha256), page_address(document_id, page, width, sha256)
    return picture(large, small, f"{name}, page {page}", box)


def picture(large: str, small: str, name: str, box: Sequence[float] | None = None) -> str:
    """A picture of a page with a box on it; a press on it opens it large in a new tab."""
    frame = ""
    if box:
        x0, y0, x1, y1 = (100 * float(edge) for edge in box)
        frame = f'<i style="left:{x0:.2f}%;top:{y0:.2f}%;width:{x1 - x0:.2f}%;height:{y1 - y0:.2f}%"></i>'
    alt = escape(name)
    return (
        f'<a class="assay-page" href="{escape(large)}" target="_blank" title="{alt}">'
        f'<img loading="lazy" src="{escape(small)}" alt="{alt}">{frame}</a>'
    )
