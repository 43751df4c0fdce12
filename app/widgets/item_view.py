"""An item as it was imported: what it says, and its evidence beside the pages it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import orjson
import streamlit as st

from app import ui
from app.widgets import blocks, item_texts
from db.items.parts import DocumentPart, EvidencePart, ItemParts

SHOWN = 100


def statement(parts: ItemParts) -> None:
    """Question, answer, references and hops at the left, what else is known at the right; then claims and images."""
    left, right = st.columns(2, gap="large")
    with left:
        st.html(
            blocks.panel("Question", blocks.text_html(parts.question))
            + blocks.panel("Answer", item_texts.text_html(parts.answer))
            + _references(parts.references)
            + _hops(parts.hops)
        )
    with right:
        documents = "; ".join(_document(one) for one in parts.documents)
        blocks.facts(
            [
                ("System", parts.system),
                ("Category", parts.category),
                ("Language", parts.language),
                ("Question key", parts.question_key),
                ("Documents", blocks.Html(documents)),
                *((name, _value(value)) for name, value in parts.metadata.items()),
            ]
        )
    if parts.claims:
        ui.table(
            "Claims", ("Claim", "Of", "Text"), [(one.key, one.of, one.text) for one in parts.claims], name="claims"
        )
    if parts.images:
        pictures = "".join(
            blocks.panel(
                f"{one.key}: {one.caption}",
                blocks.page_picture(one.document.document_id, one.page, one.document.sha256, one.document.key, one.box)
                if one.document
                else "",
            )
            for one in parts.images[:SHOWN]
        )
        st.subheader("Images of the answer")
        st.html(f'<div style="max-width:420px">{pictures}</div>')


def _value(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _document(one: DocumentPart) -> str:
    if one.sha256 is None:
        return f"{escape(one.key)} (not supplied)"
    return blocks.page_link(one.document_id, 1, one.sha256, one.key).html


def _references(references: Sequence[Any]) -> str:
    if not references:
        return ""
    rows = []
    for one in references:
        if isinstance(one, str):
            rows.append(item_texts.text_html(one))
        else:
            tags = " ".join(blocks.tag(str(phrase), quiet=True).html for phrase in one)
            rows.append(f'<p style="margin:2px 0" dir="auto">{tags}</p>')
    title = "Reference answers" if len(references) > 1 else "Reference answer"
    return blocks.panel(title, *rows)


def _hops(hops: Sequence[dict[str, Any]]) -> str:
    if not hops:
        return ""
    rows = [
        f'<p class="assay-text" dir="auto"><strong>{escape(str(one.get("key", "")))}</strong> '
        f"{escape(str(one.get('question', '')))} "
        f'<span class="assay-soft">{escape(str(one.get("answer") or ""))}</span></p>'
        for one in hops
    ]
    return blocks.panel("Hops", *rows)


def evidence(parts: ItemParts) -> None:
    """Every evidence unit with its text and, where its document is supplied, its page with its box."""
    if not parts.evidence:
        ui.empty("The item has no evidence.", "Evidence comes with the import of an item.")
        return
    for one in parts.evidence[:SHOWN]:
        st.html(blocks.panel(_title(one), _unit(one)))
    if len(parts.evidence) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(parts.evidence):,} are shown; the export has all.")


def _title(one: EvidencePart) -> str:
    pages = f"page {', '.join(map(str, one.pages))}" if one.pages else None
    used = {True: "used", False: "not used"}.get(one.used) if one.used is not None else None
    hop, rank = f"hop {one.hop}" if one.hop is not None else None, f"rank {one.rank}" if one.rank is not None else None
    parts = (one.key, one.kind, one.role, one.document.key if one.document else None, pages, used, hop, rank)
    return " · ".join(part for part in parts if part)


def _unit(one: EvidencePart) -> str:
    text = item_texts.text_html(one.text) if one.text else '<p class="assay-soft">No text; see the page.</p>'
    rows = [f"{name}: {_value(value)}" for name, value in one.metadata.items()]
    extra = f'<div class="assay-soft">{blocks.text_html(chr(10).join(rows))}</div>' if rows else ""
    if one.document is None or not one.pages or one.document.sha256 is None:
        return f'<div class="assay-unit assay-unit-plain"><div>{text}{extra}</div></div>'
    of = one.document
    picture = blocks.page_picture(of.document_id, one.pages[0], of.sha256, of.key, one.box)
    return f'<div class="assay-unit"><div>{text}{extra}</div>{picture}</div>'
