"""The tab Revise: other words for an item, with the difference and the labels that fall before it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import streamlit as st

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.revising import OF_A_VERSION, as_row
from annotators.protocols.ambiguity import REFUSALS
from app import ui
from app.widgets import revision_view
from db.items.read import ItemDetails
from db.studies.remarks import ItemInStudy
from db.studies.revisions import plan_revision, revise_item, why_not_revise

WRITTEN = ("question", "answer", "references")
"""The fields that have a field of their own on the page. Claims have a page of their own."""

_OTHERS = tuple(name for name in OF_A_VERSION if name not in (*WRITTEN, "claims"))


def tab(found: ItemDetails, project_id: int, studies: Sequence[ItemInStudy]) -> None:
    """Draw the tab for the item in its latest version."""
    item, number = found.item.content, found.item.number
    if why_not := why_not_revise(ui.db(), ui.actor(), project_id, external_id=item.id):
        ui.empty("Somebody else has to revise this item.", why_not)
        return
    normal = as_row(item)
    left, right = st.columns(2, gap="large")
    fields: dict[str, Any] | None = None
    with left, ui.problems():
        fields = _fields(item, normal, number, ambiguous=_is_ambiguous(studies))
    with left:
        ui.link(
            f"Claims ({len(item.claims)})" if item.claims else "Write its claims", "claims", key="item-claims",
            project=project_id, item=found.item.item_id,
        )  # fmt: skip
    with right, ui.problems():
        if fields is not None:
            _outcome(found, project_id, fields)


def _fields(item: ItemContent, normal: Mapping[str, Any], number: int, *, ambiguous: bool) -> dict[str, Any]:
    """What is written there, of the fields in which it differs from the item."""

    def key(name: str) -> str:
        return f"revise-{item.id}-{number}-{name}"

    question = st.text_area("Question", item.question, key=key("question"), height=96)
    if ambiguous:
        st.caption("Annotators found the question ambiguous. Two answers may stand where the evidence settles nothing:")
        with st.container(horizontal=True):
            for refusal in REFUSALS:
                st.button(
                    refusal, key=key(refusal), on_click=st.session_state.__setitem__, args=(key("answer"), refusal)
                )
    answer = st.text_area("Answer", item.answer, key=key("answer"), height=160)
    references = st.text_area(
        "Reference answers",
        "\n".join(_reference(reference) for reference in item.references),
        key=key("references"),
        help='One a line; a set of required phrases as a list: ["4.6 million", "2023"].',
        height=96,
    )
    others = {name: normal[name] for name in _OTHERS if name in normal}
    with st.expander("Evidence, documents, images and everything else, as JSON"):
        written = st.text_area(
            "Fields", orjson.dumps(others, option=orjson.OPT_INDENT_2).decode(), key=key("others"), height=320,
            label_visibility="collapsed",
        )  # fmt: skip
    given = {
        "question": question,
        "answer": answer,
        "references": [_parsed(line) for line in references.splitlines() if line.strip()],
        **dict.fromkeys(_OTHERS),
        **_object(written),
    }
    return {name: value for name, value in given.items() if (value or None) != (normal.get(name) or None)}


def _reference(reference: object) -> str:
    # A text with lines, or one that looks like a list, is written as JSON: each stands on a line of its own.
    if isinstance(reference, str) and "\n" not in reference and not reference.lstrip().startswith(("[", '"')):
        return reference
    return orjson.dumps(reference).decode()


def _parsed(line: str) -> Any:
    if not line.lstrip().startswith(("[", '"')):
        return line.strip()
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f'Reference answers: {line.strip()!r} is no list ({error}). Write ["…", "…"].') from None


def _object(written: str) -> dict[str, Any]:
    try:
        found = orjson.loads(written or "{}")
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"Fields, line {error.lineno}: this is no JSON ({error.msg}). Correct it.") from None
    if not isinstance(found, dict):
        raise InvalidInput("Fields: write an object, {…}.")
    return found


def _is_ambiguous(studies: Sequence[ItemInStudy]) -> bool:
    return any(
        label.criterion == "ambiguity" and label.value == "ambiguous" for study in studies for label in study.labels
    )


def _outcome(found: ItemDetails, project_id: int, fields: Mapping[str, Any]) -> None:
    """What the edit changes, what it does to labels, and the way to save it."""
    external_id, number = found.item.content.id, found.item.number
    st.subheader("What changes")
    if not fields:
        ui.empty("Nothing yet.", "Write at the left; the difference appears here. Earlier versions always stay.")
        return
    plan = plan_revision(ui.db(), ui.actor(), project_id, external_id=external_id, fields=fields)
    revision_view.difference(plan)
    st.subheader("Labels")
    revision_view.effects(plan)
    with st.form(f"save-{external_id}-{number}", border=False):
        reason = st.text_input("Why", placeholder="kept with the new version", max_chars=2_000)
        if st.form_submit_button(f"Save version {plan.version}", type="primary"):
            with ui.problems():
                revise_item(
                    ui.db(), ui.actor(), project_id,
                    external_id=external_id, fields=fields, reason=reason, from_version=number,
                )  # fmt: skip
                st.toast(f"Version {plan.version} is saved.")
                st.rerun()
