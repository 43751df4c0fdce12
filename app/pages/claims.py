"""Claims: an answer, or its reference answers, written as atomic statements, before a study judges each of them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from annotators.items.item import CLAIM_SIDES, ItemContent
from annotators.items.revising import claims_of, proposed_claims
from app import ui, wording
from app.widgets import blocks, item_texts
from db.items.read import ItemDetails, item_details
from db.people.preferences import my_preferences
from db.studies.remarks import item_place
from db.studies.revisions import plan_revision, revise_item
from db.studies.unclaimed import next_without_claims

_TITLES = {"answer": "Answer", "reference": "Reference answers"}
WHY = "Claims written"
"""The reason that is kept where no other is given."""


def page() -> None:
    """Draw the page: for `?item=ID`, else for the first item that has no claims."""
    blocks.style()
    project_id = ui.project().project_id
    title = st.container()
    side = _side()
    item_id = ui.integer_parameter("item")
    waiting = next_without_claims(ui.db(), ui.actor(), project_id, side=side, after=item_id or 0)
    with title:
        ui.heading("Claims", f"{wording.count(waiting.n, 'item')} without claims of the {_TITLES[side].lower()}")
    if item_id is None and waiting.item_id is not None:
        item_id = waiting.item_id
        waiting = next_without_claims(ui.db(), ui.actor(), project_id, side=side, after=item_id)
    if item_id is None:
        ui.empty("Every item with a text has claims.", "Open an item from Items and documents to change its claims.")
        return
    place = item_place(ui.db(), ui.actor(), item_id=item_id)
    found = item_details(ui.db(), ui.actor(), place.project_id, external_id=place.external_id)
    item_texts.rendering(str(ui.actor().person_id), my_preferences(ui.db(), ui.actor()))
    text, claims = st.columns(2, gap="large")
    with text:
        _text(found.item.content, side)
    with claims:
        _claims(found, place.project_id, side, waiting.item_id)
    blocks.links(blocks.item(place.external_id, item_id, place.project_id))


def _side() -> str:
    given = st.query_params.get("of")
    side = st.segmented_control(
        "Claims of", CLAIM_SIDES, default=given if given in CLAIM_SIDES else CLAIM_SIDES[0],
        format_func=_TITLES.__getitem__, required=True, key="claims-side", label_visibility="collapsed",
    )  # fmt: skip
    return side or CLAIM_SIDES[0]


def _text(item: ItemContent, side: str) -> None:
    """The question, and what the claims are taken from."""
    texts: Sequence[str] = [item.answer]
    if side == "reference":
        texts = [text if isinstance(text, str) else " · ".join(text) for text in item.references]
    st.html(
        blocks.panel("Question", blocks.text_html(item.question))
        + blocks.panel(_TITLES[side], *(item_texts.text_html(text) for text in texts))
    )


def _claims(found: ItemDetails, project_id: int, side: str, following: int | None) -> None:
    item, number = found.item.content, found.item.number
    there = [claim.text for claim in item.claims if claim.of == side]
    if not there:
        st.caption(
            "One claim a line: one fact each, understood by itself. Below stands a sentence a line, to begin from; "
            "split what says two things, and put names for pronouns."
        )
    with st.form(f"claims-{item.id}-{number}-{side}", border=False):
        written = st.text_area(
            "Claims, one a line",
            "\n".join(proposed_claims(item, side)),
            height=300,
            key=f"text-{item.id}-{number}-{side}",
        )
        with st.container(horizontal=True):
            saved = st.form_submit_button("Save and next", type="primary", help="Ctrl + Enter in the text")
            passed = st.form_submit_button("Next without saving")
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    if saved:
        with ui.problems():
            if lines != there:
                _save(found, project_id, side, lines)
            _next(project_id, side, found.item.item_id, following)
    if passed:
        _next(project_id, side, found.item.item_id, following)


def _save(found: ItemDetails, project_id: int, side: str, lines: Sequence[str]) -> None:
    item = found.item.content
    fields = {"claims": claims_of(item, side, lines) or None}
    plan = plan_revision(ui.db(), ui.actor(), project_id, external_id=item.id, fields=fields)
    revise_item(
        ui.db(), ui.actor(), project_id,
        external_id=item.id, fields=fields, reason=f"{WHY}: {side}", from_version=found.item.number,
    )  # fmt: skip
    st.toast(f"{item.id}: {wording.count(len(lines), 'claim')}, version {plan.version}.")


def _next(project_id: int, side: str, item_id: int, following: int | None) -> None:
    if following is not None and following != item_id:
        ui.go("claims", project=project_id, of=side, item=following)
    st.rerun()
