"""A protocol as annotators read it: guidelines, then each step with its criteria, labels, keys and definitions."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotators.asking.protocol_files import protocol_to_yaml
from annotators.criteria import Criterion
from annotators.keys import ACTIONS
from annotators.protocols import Protocol
from app.widgets import blocks

TARGETS = {
    "item": "",
    "evidence": "for each evidence unit",
    "claim": "for each claim",
    "claim_evidence": "for each claim and evidence unit",
    "claim_context": "for each claim, against all evidence",
    "claim_answer": "for each claim, against the answer",
    "claim_reference": "for each claim, against the reference",
    "block": "for each paragraph of the answer",
    "page": "for each page",
    "image": "for each image",
    "pair": "for the pair of items",
}
"""Target → what a criterion is asked for, in words; empty of the item."""

MATERIALS = {"used": "used flags", "page_labels": "page labels", "system": "the system's name"}
"""Material → what it is called where that is not its name."""


def download(protocol: Protocol, label: str, *, key: str, about: str | None = None) -> None:
    """A button that gives the protocol as a file to change."""
    st.download_button(
        label,
        data=lambda: protocol_to_yaml(protocol),
        file_name=f"{protocol.name}.yaml",
        mime="application/yaml",
        on_click="ignore",
        key=key,
        help=about,
    )


def draw(protocol: Protocol) -> None:
    """Guidelines at the left, criteria at the right."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(protocol.guidelines)
    with right:
        for number, step in enumerate(protocol.steps):
            _step(protocol, number, f"Step {number + 1}: {step.title}" if len(protocol.steps) > 1 else step.title)
        _keys()


def _step(protocol: Protocol, number: int, title: str) -> None:
    shows = ", ".join(MATERIALS.get(material, material.value) for material in protocol.steps[number].shows)
    body = "".join(_criterion(protocol, criterion) for criterion in protocol.step_criteria(number))
    shown = f'<p class="assay-soft" style="margin:0 0 8px">Shows {escape(shows)}</p>' if shows else ""
    st.html(f"{blocks.panel(title, shown, body)}")


def _criterion(protocol: Protocol, criterion: Criterion) -> str:
    side = f"of the {criterion.side}" if criterion.side else ""
    target = " ".join(filter(None, (TARGETS[criterion.target.value], side and f"({side})", _chosen(criterion))))
    judged_by = f"judged by {' or '.join(criterion.judged_by)}" if criterion.judged_by else ""
    about = [target, judged_by, "" if criterion.required else "may be left out", _condition(criterion)]
    about = [words for words in [criterion.in_words(), *about] if words]
    rows = "".join(
        f'<tr><td style="width:2.4rem">{blocks.key(label.key).html}</td>'
        f'<td><strong style="font-weight:600">{escape(label.title)}</strong>'
        f'<br><span class="assay-soft">{escape(label.definition)}</span></td></tr>'
        for label in criterion.label_list()
    )
    table = f'<table class="assay-table" style="margin:2px 0 14px">{rows}</table>' if rows else ""
    help_text = f"<br>{escape(criterion.help)}" if criterion.help else ""
    return (
        f'<div style="margin:6px 0"><strong>{escape(criterion.title)}</strong>'
        f'<span class="assay-soft">{help_text}<br>{escape("; ".join(about))}</span></div>{table}'
    )


def _chosen(criterion: Criterion) -> str:
    """Which evidence it is about. Roles are for the annotators not to know, and this is what they read."""
    only = criterion.only
    if only is None:
        return ""
    kinds = f"kinds: {', '.join(only.kinds)}" if only.kinds else ""
    most = f"the first {only.per_modality} of text and of images" if only.per_modality else ""
    return f"({'; '.join(filter(None, (kinds, most)))})" if kinds or most else ""


def _condition(criterion: Criterion) -> str:
    if criterion.when is None:
        return ""
    return f"asked when {criterion.when.criterion} is {' or '.join(str(value) for value in criterion.when.values)}"


def _keys() -> None:
    rows = "".join(f"<dt>{blocks.key(key).html}</dt><dd>{escape(title)}</dd>" for key, title in ACTIONS.values() if key)
    with st.expander("Keys of the page"):
        st.html(f'<dl class="assay-facts">{rows}</dl>')
