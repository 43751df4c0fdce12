"""What I resolve together with the others who labelled an item: the list, and one thread with everybody's labels."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from annotators.criteria import Criterion
from app import ui, wording
from app.widgets import blocks, item_texts
from db.adjudicating.adjudications import DisputedUnit
from db.adjudicating.threads import LONGEST, Said, Thread, ThreadRow, my_threads, thread, write_message
from db.people.preferences import my_preferences

EVERY = 4.0
"""Seconds after which a thread that is open looks for what others said and changed."""

FEW = 3
"""Units of evidence that stand open together."""

_UID = "thread-uid"
_WHOLE = ("item", "pair")
_EVIDENCE = re.compile(r"evidence:([^|]+)")
_CLAIM = re.compile(r"claim:([^|]+)")
_IMAGE = re.compile(r"image:([^|]+)")
_PAGE = re.compile(r"^page:(.*):(\d+)(?:\|hop:.*)?$", re.DOTALL)
_STYLE = """
.assay-long + .assay-part-head { margin-top: 0.8rem; }
.assay-part-head { font-size: 0.84rem; font-weight: 600; color: var(--assay-soft); margin: 0; padding: 0; }
.assay-said { list-style: none; margin: 0; padding: 0; max-width: 46rem; }
.assay-said li { margin: 0 0 0.7rem; padding: 0.55rem 0.8rem; border: 1px solid var(--assay-line); border-radius: 8px; }
.assay-said li.mine { background: var(--assay-panel); margin-inline-start: 2.5rem; }
.assay-long { max-height: 15rem; max-width: 52rem; overflow: auto; }
.assay-evidence details { margin: 0 0 0.5rem; border: 1px solid var(--assay-line); border-radius: 8px; }
.assay-evidence details { padding: 0 0.8rem; }
.assay-evidence summary { padding: 0.6rem 0; cursor: pointer; font-weight: 600; overflow-wrap: anywhere; }
.assay-evidence .assay-page { display: block; margin: 0.4rem 0 0.8rem; }
.assay-evidence details > .assay-long:last-child { margin-bottom: 0.7rem; }
.assay-parts { list-style: none; margin: 0.2rem 0 0; padding: 0; max-width: 52rem; max-height: 22rem; overflow: auto; }
.assay-parts li { display: flex; gap: 0.7rem; margin: 0 0 0.25rem; padding-inline-start: 0.5rem;
  border-inline-start: 3px solid transparent; overflow-wrap: anywhere; }
.assay-parts li.differs { border-inline-start-color: var(--assay-warn); }
.assay-parts b { flex: none; font-weight: 600; color: var(--assay-soft); }
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
    item_texts.rendering(str(ui.actor().person_id), my_preferences(ui.db(), ui.actor()))
    item, talk = st.columns(2, gap="large")
    with item:
        _item(found)
    with talk:
        _news(study_item_id, found.open)
        if found.open:
            _say(study_item_id)


@st.fragment(run_every=EVERY)
def _news(study_item_id: int, was_open: bool) -> None:
    """Everybody's labels and what was said, as they are now: others write and correct while the page is open."""
    with ui.problems():
        found = thread(ui.db(), ui.actor(), study_item_id)
        if found.open != was_open:
            st.rerun()
        _labels(found)
        if found.open:
            ui.link(
                "Open it again and change my labels",
                "annotate",
                primary=True,
                study=found.study_id,
                assignment=found.mine,
            )
        blocks.section("What was said")
        if found.said:
            st.html(f'<ul class="assay-said" aria-label="What was said">{"".join(map(_message, found.said))}</ul>')
        elif found.open:
            st.caption("Nothing yet. Say why you labelled as you did, and what the others may have seen otherwise.")
        if not found.open:
            st.caption("This item is settled: nothing more is said about it.")


def _item(found: Thread) -> None:
    """What was judged, as everybody saw it: texts, and the evidence; what labels differ about stands open."""
    shown = found.shown
    parts = [("Question", shown.get("question")), ("Answer", shown.get("answer"))]
    parts += [(f"Answer {side}", one["answer"]) for side, one in zip("AB", shown.get("answers", ()), strict=False)]
    references = [text if isinstance(text, str) else ", ".join(map(str, text)) for text in shown.get("references", ())]
    parts += [("Reference answer", text) for text in references]
    st.html(
        "".join(
            f'<h2 class="assay-part-head">{title}</h2><div class="assay-long">{item_texts.text_html(text)}</div>'
            for title, text in parts
            if text
        )
    )
    differing = [unit.target for unit in found.units if _differs(unit)]
    _parts("Hops", [(hop["key"], hop["question"], False) for hop in shown.get("hops", ())])
    disputed = {key for target in differing for key in _CLAIM.findall(target)}
    _parts("Claims", [(claim["key"], claim["text"], claim["key"] in disputed) for claim in shown.get("claims", ())])
    documents = {document["id"]: document for document in shown.get("documents", ())}
    units = shown.get("evidence", ())
    at_issue = {key for target in differing for key in _EVIDENCE.findall(target)}
    evidence = [
        _evidence(unit, documents.get(unit["document"]), is_open=unit["key"] in at_issue or len(units) <= FEW)
        for unit in sorted(units, key=lambda unit: unit["key"] not in at_issue)
    ]
    by_key = {document["key"]: document for document in documents.values()}
    pages = dict.fromkeys((key, int(page)) for target in differing for key, page in _PAGE.findall(target))
    evidence += [
        _folded(f"Page {page}", _page(by_key[key], page), is_open=True) for key, page in pages if key in by_key
    ]
    evidence += [
        _folded(
            " · ".join(word for word in (image["key"], image["caption"]) if word),
            _page(documents[image["document"]], image["page"], image["box"]),
            is_open=any(_IMAGE.findall(target) == [image["key"]] for target in differing),
        )
        for image in shown.get("images", ())
        if image["document"] in documents and image["page"]
    ]
    whole = [
        f'<a href="{escape(_address(document, 1, 1600))}" target="_blank">{escape(document["title"])}</a>'
        for document in documents.values()
        if document["supplied"]
    ]
    if evidence or whole:
        blocks.section("Evidence")
        listed = f'<p class="assay-soft">Documents: {", ".join(whole)}</p>' if whole else ""
        st.html(f'<div class="assay-evidence">{"".join(evidence)}{listed}</div>')


def _parts(title: str, rows: Sequence[tuple[str, str, bool]]) -> None:
    """What the labels call by a key (C1, hop north), in words; what labels differ about is marked."""
    if rows:
        listed = "".join(
            f'<li class="{"differs" if differs else "alike"}"><b dir="auto">{escape(key)}</b>'
            f'<span dir="auto">{escape(text)}</span></li>'
            for key, text, differs in rows
        )
        st.html(f'<h2 class="assay-part-head">{title}</h2><ul class="assay-parts" aria-label="{title}">{listed}</ul>')


def _evidence(unit: Mapping[str, Any], document: Mapping[str, Any] | None, *, is_open: bool) -> str:
    """A unit of evidence: its text, and its first page with its box."""
    pages = f"p. {', '.join(map(str, unit['pages']))}" if unit["pages"] else ""
    title = (document or {}).get("title", "")
    words = " · ".join(word for word in (unit["key"], unit["kind"], unit["title"], title, pages) if word)
    picture = _page(document, unit["pages"][0], unit["box"]) if document and unit["pages"] else ""
    text = f'<div class="assay-long">{item_texts.text_html(unit["text"])}</div>' if unit["text"] else ""
    return _folded(words, text + picture, is_open=is_open)


def _folded(title: str, body: str, *, is_open: bool) -> str:
    return f'<details{" open" if is_open else ""}><summary dir="auto">{escape(title)}</summary>{body}</details>'


def _page(document: Mapping[str, Any], page: int, box: Sequence[float] | None = None) -> str:
    if not document["supplied"]:
        return ""
    large, small = (_address(document, page, width) for width in (1600, 520))
    return blocks.picture(large, small, f"{document['title']}, page {page}", box)


def _address(document: Mapping[str, Any], page: int, width: int) -> str:
    address: str = document["url"]
    return address.format(page=page, width=width)


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
    """A row a unit on which people differ; the others are folded, where there are any that differ."""
    people = list(dict.fromkeys(vote.rater for unit in found.units for vote in unit.votes))
    people.sort(key=lambda name: name != found.me)
    several = any(unit.target not in _WHOLE for unit in found.units)
    columns = ["Criterion", *(["About"] if several else []), *("You" if name == found.me else name for name in people)]

    def table(name: str, units: Sequence[DisputedUnit]) -> None:
        blocks.table(
            name,
            columns,
            [
                [
                    found.criteria[unit.criterion].title,
                    *([_about(unit.target)] if several else []),
                    *(_vote(found.criteria[unit.criterion], unit, name) for name in people),
                ]
                for unit in units
            ],
        )

    differ = [unit for unit in found.units if _differs(unit)]
    alike = [unit for unit in found.units if not _differs(unit)]
    table("Everybody's labels", differ or alike)
    if differ and alike:
        with st.expander(f"{wording.count(len(alike), 'label')} on which all agree"):
            table("What all agree on", alike)


def _about(target: str) -> str:
    """What a unit is about, in words: "E2", "C1, E2", "p. 4, hop north"; nothing where it is the whole item."""
    if target in _WHOLE:
        return ""
    if page := _PAGE.match(target):
        hop = target.partition("|hop:")[2]
        return f"p. {page[2]}" + (f", hop {hop}" if hop else "")
    return ", ".join(part.partition(":")[2] or part for part in target.split("|"))


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
