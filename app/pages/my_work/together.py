"""What I resolve together with the others who labelled an item: the list, and one thread with everybody's labels."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from html import escape

import streamlit as st

from annotators.criteria import Criterion
from app import ui, wording
from app.widgets import blocks
from db.adjudicating.adjudications import DisputedUnit
from db.adjudicating.threads import LONGEST, Said, Thread, ThreadRow, my_threads, thread, write_message

_UID = "thread-uid"
_STYLE = """
.assay-part-head { font-size: 0.84rem; font-weight: 600; color: var(--assay-soft); margin: 0; padding: 0; }
.assay-said { list-style: none; margin: 0; padding: 0; max-width: 46rem; }
.assay-said li { margin: 0 0 0.7rem; padding: 0.55rem 0.8rem; border: 1px solid var(--assay-line); border-radius: 8px; }
.assay-said li.mine { background: var(--assay-panel); margin-inline-start: 2.5rem; }
.assay-said p { margin: 0.15rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
"""


def listed() -> None:
    """The items that I may talk about, those that wait for me first; nothing where there are none."""
    rows = my_threads(ui.db(), ui.actor())
    if not rows:
        return
    waiting = sum(row.waits for row in rows)
    blocks.section("Together with others")
    if waiting:
        st.info(f"{wording.count(waiting, 'item waits', 'items wait')} for you: look at the other labels, and say why.")
    blocks.table(
        "What I talk about with others who labelled it",
        ("Question", "Study", "State", "Messages", ""),
        [_row(row) for row in rows],
    )


def _row(row: ThreadRow) -> tuple[object, ...]:
    state: object = blocks.tag("waits for you") if row.waits else ("open" if row.open else "settled")
    return (
        blocks.clip(row.question),
        blocks.short(row.study),
        blocks.short(state),
        f"{row.messages:,}",
        blocks.short(blocks.to("Look at it", "my_work", thread=row.study_item_id, project=row.project_id)),
    )


def draw(study_item_id: int) -> None:
    """One thread: the item, everybody's labels, what was said, and a place to say something."""
    found = thread(ui.db(), ui.actor(), study_item_id)
    st.html(f"<style>{_STYLE}</style>")
    ui.heading("Together with others", found.study)
    ui.link("All my work", "my_work", key="my-work")
    st.html(
        f'<h2 class="assay-part-head">Question</h2><p dir="auto">{escape(found.question)}</p>'
        + (f'<h2 class="assay-part-head">Answer</h2><p dir="auto">{escape(found.answer)}</p>' if found.answer else "")
    )
    _labels(found)
    if found.open:
        ui.link(
            "Open it again and change my labels", "annotate", primary=True, study=found.study_id, assignment=found.mine
        )
    blocks.section("What was said")
    if found.said:
        st.html(f'<ul class="assay-said" aria-label="What was said">{"".join(map(_message, found.said))}</ul>')
    else:
        st.caption("Nothing yet. Say why you labelled as you did, and what the others may have seen otherwise.")
    if found.open:
        _say(study_item_id)
    else:
        st.caption("This item is settled: nothing more is said about it.")


def _message(said: Said) -> str:
    who = "You" if said.by is None else escape(said.by)
    return (
        f'<li class="{"mine" if said.by is None else "theirs"}"><b dir="auto">{who}</b> '
        f'<span class="assay-soft">{escape(ui.when(said.at))}</span><p dir="auto">{escape(said.text)}</p></li>'
    )


def _say(study_item_id: int) -> None:
    uid = st.session_state.setdefault(_UID, uuid.uuid4().hex)
    # What was typed stays until it is written: the next message has a field of its own.
    with st.form("thread-say", border=False):
        text = st.text_area(
            "Your message",
            max_chars=LONGEST,
            key=f"thread-text-{uid}",
            help="Only those who labelled this item read it.",
        )
        pressed = st.form_submit_button("Send", type="primary")
    if pressed:
        with ui.problems():
            write_message(ui.db(), ui.actor(), study_item_id, uid=uid, text=text)
            del st.session_state[_UID]
            st.rerun()


def _labels(found: Thread) -> None:
    """A row a unit on which people differ or said something, then the others."""
    people = list(dict.fromkeys(vote.rater for unit in found.units for vote in unit.votes))
    people.sort(key=lambda name: name != found.me)
    several = any(unit.target not in ("item", "pair") for unit in found.units)
    columns = ["Criterion", *(["About"] if several else []), *("You" if name == found.me else name for name in people)]
    ordered = sorted(found.units, key=lambda unit: not _differs(unit))
    blocks.table(
        "Everybody's labels",
        columns,
        [
            [
                found.criteria[unit.criterion].title,
                *([unit.target.partition(":")[2]] if several else []),
                *(_vote(found.criteria[unit.criterion], unit, name) for name in people),
            ]
            for unit in ordered
        ],
    )


def _differs(unit: DisputedUnit) -> bool:
    return len(unit.counts) > 1


def _vote(criterion: Criterion, unit: DisputedUnit, name: str) -> str:
    votes: Sequence[str] = [
        ("cannot judge" if vote.cannot_judge else criterion.said(vote.value))
        + "".join(f" ({said})" for said in (vote.reason, vote.comment) if said)
        for vote in unit.votes
        if vote.rater == name
    ]
    return "; ".join(votes) or "–"
