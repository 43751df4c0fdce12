"""Claims: an answer, or its reference answers, written as atomic statements, before a study judges each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from annotators.items.item import CLAIM_SIDES, ItemContent
from annotators.items.revising import claims_of, proposed_claims
from app import ui, wording
from app.state import app_state
from app.widgets import blocks, item_texts
from app.worker import drafts
from db.items.read import ItemDetails, item_counts, item_details
from db.jobs import job_facts
from db.judging.drafting import Asked, drafts_taken
from db.people.preferences import my_preferences
from db.studies.remarks import item_place
from db.studies.revisions import plan_revision, revise_item
from db.studies.unclaimed import next_without_claims

_LOOK = 1.5
"""Seconds from one look at claims that are being drafted to the next."""

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
    if item_id is None and not item_counts(ui.db(), ui.actor(), project_id).total:
        ui.empty("The project has no items.", "Claims are taken from answers and reference answers. Import some first.")
        ui.link("Import items", "imports", key="claims-import", primary=True)
        return
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
    drafted = _drafted(found, project_id, side) if side == "answer" else None
    begins = proposed_claims(item, side) if drafted is None else drafted["texts"]
    job = None if drafted is None else drafted["job"]
    with st.form(f"claims-{item.id}-{number}-{side}", border=False):
        written = st.text_area(
            "Claims, one a line",
            "\n".join(begins),
            height=300,
            key=f"text-{item.id}-{number}-{side}-{job or 'own'}",
        )
        with st.container(horizontal=True):
            saved = st.form_submit_button("Save and next", type="primary", help="Ctrl + Enter in the text")
            passed = st.form_submit_button("Next without saving")
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    if saved:
        with ui.problems():
            if lines != there:
                _save(found, project_id, side, lines, job)
            _next(project_id, side, found.item.item_id, following)
    if passed:
        _next(project_id, side, found.item.item_id, following)


def _drafted(found: ItemDetails, project_id: int, side: str) -> dict[str, Any] | None:
    """The claims that a model has split the answer into, once somebody asked for them; None as long as there are none.

    They stand in the field as any others do: they are claims once they are saved.
    """
    item, settings = found.item.content, app_state().settings
    who = drafts.writers(ui.db(), ui.actor(), project_id, settings)
    if not who or not item.answer.strip():
        return None
    slot = f"claims-draft-{project_id}-{item.id}-{found.item.number}-{side}"
    job: int | None = st.session_state.get(slot)
    if job is None:
        _ask(found, project_id, who, slot)
        return None
    state = drafts.outcome(job_facts(ui.db(), ui.actor(), project_id, job_id=job))
    if state["state"] in ("waiting", "running"):
        _wait(project_id, job)
        return None
    draft = state["draft"]
    if draft is None or state["problem"] or not draft["texts"]:
        why = state["problem"] or "it found nothing that is claimed"
        st.warning(ui.plain(f"There is no draft: {why}."))
        if st.button("Ask again", key="claims-draft-again"):
            st.session_state.pop(slot)
            st.rerun()
        return None
    prompt = draft["prompt"]
    n = wording.count(len(draft["texts"]), "claim")
    named = f"{draft['model']} with {prompt['name']}@{prompt['version']}"
    st.info(ui.plain(f"{n} drafted by {named}. Read each: they are claims once you save them."))
    if st.button("Leave the draft", key="claims-draft-leave"):
        st.session_state.pop(slot)
        st.rerun()
    return {**draft, "job": job}


def _ask(found: ItemDetails, project_id: int, who: Sequence[tuple[str, str]], slot: str) -> None:
    """Who is to split the answer, what that sends and costs, and the button that asks."""
    with st.popover("Split into claims by a model…"), ui.problems():
        settings = app_state().settings
        place = st.selectbox(
            "Model", range(len(who)), format_func=lambda place: f"{who[place][1]} ({who[place][0]})", key="claims-model"
        )
        prompts = drafts.writing_prompts(ui.db(), ui.actor(), project_id, "claims")
        prompt = st.selectbox("Prompt", prompts, key="claims-prompt")
        server, model = who[place]
        writer = drafts.writer_of(ui.db(), ui.actor(), project_id, settings, server=server, model=model, prompt=prompt)
        asked = Asked(found.item.content.id, "claims")
        plan = drafts.planned(ui.db(), ui.actor(), project_id, settings, asked=asked, writer=writer)
        cost = "" if plan.cost is None else f", {plan.cost:,.4f}"
        leaves = plan.leaves(server)
        words = f"If you ask, {leaves}" if leaves else "Nothing leaves this machine"
        st.caption(ui.plain(f"{words}: about {plan.tokens_in + plan.tokens_out:,} tokens{cost}."))
        if st.button("Ask", type="primary", key="claims-ask"):
            job = drafts.queue_draft(ui.db(), ui.actor(), project_id, asked=asked, writer=writer)
            st.session_state[slot] = job.job_id
            st.rerun()


@st.fragment(run_every=_LOOK)
def _wait(project_id: int, job: int) -> None:
    with ui.problems():
        found = job_facts(ui.db(), ui.actor(), project_id, job_id=job)
        if not found.is_unfinished:
            st.rerun()
        st.caption(ui.plain(f"{found.parameters['writer']['model']} is splitting the answer…"))


def _save(found: ItemDetails, project_id: int, side: str, lines: Sequence[str], job: int | None) -> None:
    item = found.item.content
    fields = {"claims": claims_of(item, side, lines) or None}
    plan = plan_revision(ui.db(), ui.actor(), project_id, external_id=item.id, fields=fields)
    proposed = drafts_taken(
        ui.db(), ui.actor(), project_id,
        item=item.id, drafts={} if job is None else {"claims": job}, texts={"claims": "\n".join(lines)},
    )  # fmt: skip
    revise_item(
        ui.db(), ui.actor(), project_id,
        external_id=item.id, fields=fields, reason=f"{WHY}: {side}", from_version=found.item.number, proposed=proposed,
    )  # fmt: skip
    fell = f" {wording.fallen_verdicts(plan.verdicts)}" if plan.verdicts else ""
    st.toast(f"{item.id}: {wording.count(len(lines), 'claim')}, version {plan.version}.{fell}")


def _next(project_id: int, side: str, item_id: int, following: int | None) -> None:
    if following is not None and following != item_id:
        ui.go("claims", project=project_id, of=side, item=following)
    st.rerun()
