"""An item as it was imported: what it says, and its evidence beside the pages it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import orjson
import streamlit as st

from annotators.items.item import DESCRIBED, ItemEvidence, ItemHop, Reference
from app import ui
from app.widgets import blocks, item_texts
from db.items.rows import StoredDocument, StoredItem

SHOWN = 100


def statement(stored: StoredItem) -> None:
    """Question, answer, references and hops at the left, what else is known at the right; then claims and images."""
    item, documents = stored.content, _by_key(stored)
    left, right = st.columns(2, gap="large")
    with left:
        st.html(
            blocks.panel("Question", blocks.text_html(item.question))
            + blocks.panel("Answer", item_texts.text_html(item.answer))
            + _references(item.references)
            + _hops(item.hops)
        )
    with right:
        about = "; ".join(_document(documents[key]) for key in item.documents)
        blocks.facts(
            [
                *((title, getattr(item, name)) for name, title in DESCRIBED),
                ("Question key", item.question_key),
                ("Documents", blocks.Html(about)),
                *((name, _value(value)) for name, value in item.metadata.items()),
            ]
        )
    if item.claims:
        claims = [(claim.key, claim.of, claim.text) for claim in item.claims]
        ui.table("Claims", ("Claim", "Of", "Text"), claims, name="claims")
    if item.images:
        pictures = "".join(
            blocks.panel(
                f"{image.key}: {image.caption}", _picture(documents.get(image.document), image.page, image.box)
            )
            for image in item.images[:SHOWN]
        )
        st.subheader("Images of the answer")
        st.html(f'<div style="max-width:420px">{pictures}</div>')


def _by_key(stored: StoredItem) -> dict[str | None, StoredDocument]:
    return {document.key: document for document in stored.documents}


def _picture(document: StoredDocument | None, page: int, box: Sequence[float] | None) -> str:
    if document is None:
        return ""
    return blocks.page_picture(document.document_id, page, document.sha256, document.key, box)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _document(document: StoredDocument) -> str:
    if document.sha256 is None:
        return f"{escape(document.key)} (not supplied)"
    return blocks.page_link(document.document_id, 1, document.sha256, document.key).html


def _references(references: Sequence[Reference]) -> str:
    if not references:
        return ""
    rows = []
    for reference in references:
        if isinstance(reference, str):
            rows.append(item_texts.text_html(reference))
        else:
            tags = " ".join(blocks.tag(str(phrase), quiet=True).html for phrase in reference)
            rows.append(f'<p style="margin:2px 0" dir="auto">{tags}</p>')
    title = "Reference answers" if len(references) > 1 else "Reference answer"
    return blocks.panel(title, *rows)


def _hops(hops: Sequence[ItemHop]) -> str:
    if not hops:
        return ""
    rows = [
        f'<p class="assay-text" dir="auto"><strong>{escape(hop.key)}</strong> {escape(hop.question)} '
        f'<span class="assay-soft">{escape(hop.answer)}</span></p>'
        for hop in hops
    ]
    return blocks.panel("Hops", *rows)


def evidence(stored: StoredItem) -> None:
    """Every evidence unit with its text and, where its document is supplied, its page with its box."""
    units, documents = stored.content.evidence, _by_key(stored)
    if not units:
        ui.empty("The item has no evidence.", "Evidence comes with the import of an item.")
        return
    for unit in units[:SHOWN]:
        st.html(blocks.panel(_title(unit), _unit(unit, documents.get(unit.document))))
    if len(units) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(units):,} are shown; the export has all.")


def _title(unit: ItemEvidence) -> str:
    pages = f"page {', '.join(map(str, unit.pages))}" if unit.pages else None
    used = {True: "used", False: "not used"}.get(unit.used) if unit.used is not None else None
    hop = f"hop {unit.hop}" if unit.hop is not None else None
    rank = f"rank {unit.rank}" if unit.rank is not None else None
    words = (unit.key, unit.kind, unit.role, unit.document, pages, used, hop, rank)
    return " · ".join(word for word in words if word)


def _unit(unit: ItemEvidence, document: StoredDocument | None) -> str:
    text = item_texts.text_html(unit.text) if unit.text else '<p class="assay-soft">No text; see the page.</p>'
    rows = [f"{name}: {_value(value)}" for name, value in unit.metadata.items()]
    extra = f'<div class="assay-soft">{blocks.text_html(chr(10).join(rows))}</div>' if rows else ""
    if document is None or not unit.pages or document.sha256 is None:
        return f'<div class="assay-unit assay-unit-plain"><div>{text}{extra}</div></div>'
    return f'<div class="assay-unit"><div>{text}{extra}</div>{_picture(document, unit.pages[0], unit.box)}</div>'
