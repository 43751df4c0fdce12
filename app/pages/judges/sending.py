"""What asking a judge would send and cost, shown before anything is sent, and the confirmation of what leaves."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotators.figures import money
from annotators.judges.budget import Price
from app import wording
from app.state import app_state
from app.widgets import blocks
from db.judging.planning import JudgePlan


def shown(plan: JudgePlan, server: str, price: Price | None, budget: str | None) -> None:
    """How many requests and tokens, what they cost, what stays here, and the first request in full."""
    blocks.section("What it would send")
    blocks.figures(
        [
            ("items", f"{plan.items:,}"),
            ("requests", f"{plan.requests:,}"),
            ("tokens, about", f"{plan.tokens_in + plan.tokens_out:,}"),
            ("cost, about", "?" if plan.cost is None else money(plan.cost)),
        ]
    )
    kept = wording.count(plan.kept, "item") if plan.kept else ""
    left_out = wording.count(len(plan.examples), "item") if plan.examples else ""
    about = "no price known: prices.toml in the home folder has prices" if price is None else (
        f"{price.sent:g} for a million tokens sent, {price.received:g} received"
    )  # fmt: skip
    blocks.facts(
        [
            ("Tokens", f"about {plan.tokens_in:,} sent and {plan.tokens_out:,} received; {plan.most_tokens:,} at most"),
            ("Price", about),
            ("Budget", budget or "no limit"),
            ("Key", "set" if app_state().settings.key_for(server) else "none is set"),
            ("Pictures", "pages and figures are sent" if plan.pictures else "none"),
            ("Kept here", kept and f"{kept} with documents that must not leave"),
            ("Left out", left_out and f"{left_out}: examples of the prompt"),
        ]
    )
    with st.expander("The first request"):
        st.html("".join(blocks.panel(*part) for part in _parts(plan.first_prompt)))


def _parts(text: str) -> list[tuple[str, str]]:
    """A written request by its messages: who says it, and what."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line in ("[system]", "[user]", "[assistant]"):
            found.append(({"[system]": "Said first", "[user]": "Sent"}.get(line, "Before"), ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return [(who, blocks.text_html(said.strip())) for who, said in found]


def confirmed(plan: JudgePlan, server: str, key: str) -> bool:
    """Whether it may be sent: confirmed under this key, which is another after every change, or nothing leaves."""
    leaves = plan.leaves(server)
    if leaves is None:
        st.html(f'<p class="assay-soft">Nothing leaves this machine: {escape(server)} is on it.</p>')
        return True
    # The words stand by themselves: the label of a box is cut where it is longer than a line.
    st.html(f'<p class="assay-panel">{escape(leaves[0].upper() + leaves[1:])}.</p>')
    return st.checkbox("I confirm that it may leave", key=key)
