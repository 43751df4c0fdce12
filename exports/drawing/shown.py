"""How a report shows itself in a notebook: its title, what it was made from, some of its tables, its notes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from exports.drawing.report_files import ReportDocument
from exports.drawing.tables import STYLE, TextTable, as_html, as_text

_SHOWN_AS = """
.assay-shown { overflow-x: auto; }
.assay-shown caption { caption-side: top; text-align: left; font-weight: bold; padding: 0.6em 0 0.3em; }
.assay-shown .assay-table :is(th, td) { padding: 0.25em 0.8em; text-align: left; vertical-align: top; }
.assay-shown .assay-table .n { text-align: right; }
"""
"""Tables as a notebook has them, over its own style, which sets all cells to the right."""


def shown_html(document: ReportDocument, tables: Sequence[TextTable], more: str = "") -> str:
    """As HTML, with these tables; `more` says where the rest is."""
    facts = " · ".join(f"{escape(name)}: {escape(value)}" for name, value in document.facts)
    drawn = "".join(f"<div class=assay-shown>{as_html(table)}</div>" for table in tables)
    notes = "".join(f"<li>{escape(note)}</li>" for note in document.notes)
    return (
        f"<style>{STYLE}{_SHOWN_AS}</style><h4>{escape(document.title)}</h4><p><small>{facts}</small></p>{drawn}"
        + (f"<ul>{notes}</ul>" if notes else "")
        + (f"<p><small>{escape(more)}</small></p>" if more else "")
    )


def shown_text(document: ReportDocument, tables: Sequence[TextTable]) -> str:
    """As text, where there is no HTML."""
    return "\n".join([document.title, *(as_text(table) for table in tables)])
