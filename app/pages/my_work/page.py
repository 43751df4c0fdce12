"""My work: how far I am and how long it took, and everything I did, searchable, to be opened again."""

from __future__ import annotations

import streamlit as st

from annotators.figures import duration
from app import ui, wording
from app.pages.my_work import together
from app.widgets import blocks, pager
from db.annotating.annotations import MyItem, my_work
from db.annotating.my_progress import MyProgress, my_progress
from db.quality.own_figures import FEWEST, Counted, OwnFigures, my_figures

PAGE = 50
_AGAIN = ("submitted", "returned", "surplus", "expired", "left_out")
"""States in which an item can be opened again."""

_WORDS = {
    "surplus": "submitted late: kept, counts once the item wants more",
    "expired": "time ran out",
    "left_out": "kept, left out for now",
}


def page() -> None:
    """Draw the page."""
    blocks.style()
    if (study_item_id := ui.integer_parameter("thread")) is not None:
        together.draw(study_item_id)
        return
    progress = my_progress(ui.db(), ui.actor())
    today = sum(study.seconds_today for study in progress)
    about = f"{duration(today)} of annotating today" if today else ""
    ui.heading("My work", about)
    if not progress:
        ui.empty("You are in no study.", "A researcher adds you to one; it then appears here and on the page Home.")
        return
    _progress(progress)
    _figures(my_figures(ui.db(), ui.actor()))
    together.listed()
    search = st.text_input("Search", placeholder="part of a question", key="my-work-search").strip()
    rows = my_work(ui.db(), ui.actor(), search=search, before=pager.start("my-work", search), limit=PAGE)
    _returned(rows)
    if not rows:
        text = "No question of yours has this in it." if search else "You have not submitted anything yet."
        ui.empty(text, "Search for another word." if search else "What you submit, skip or get back appears here.")
    else:
        blocks.table(
            "What I did, latest first",
            ("Question", "Study", "State", "When", "Why", ""),
            [_row(row) for row in rows],
        )
    pager.buttons("my-work", rows[-1].assignment_id if len(rows) == PAGE else None)


def _progress(progress: list[MyProgress]) -> None:
    blocks.table(
        "My studies",
        ("Study", "Done", "Returned", "Skipped", "Time", "Time per item"),
        [
            (
                blocks.to(study.study, "annotate", study=study.study_id),
                blocks.bar(study.done / max(1, study.of), f"{study.done:,} of about {study.of:,}"),
                *_sent(study),
                duration(study.seconds) if study.seconds else "",
                duration(study.seconds_per_item),
            )
            if study.told
            else (blocks.to(study.study, "annotate", study=study.study_id), "", *_sent(study), "", "")
            for study in progress
        ],
    )


def _sent(study: MyProgress) -> tuple[str, str]:
    """How many of my items came back, and how many I skipped."""
    return (f"{study.returned:,}" if study.returned else "", f"{study.skipped:,}" if study.skipped else "")


def _figures(found: list[OwnFigures]) -> None:
    """My own figures, where my studies tell them."""
    if not found:
        return
    gold = any(row.gold is not None for row in found)
    blocks.table(
        "My figures until last night",
        ("Study", "As most of the rest", "As I said before", *(("Gold labels right",) if gold else ())),
        [
            (row.study, _counted(row.with_rest), _counted(row.self_agreement))
            + ((_counted(row.gold) if row.gold is not None else "",) if gold else ())
            for row in found
        ],
    )
    st.caption(f"Shares of labels, of your latest items; below {FEWEST} labels none is told.")


def _counted(counted: Counted) -> str:
    return "too few yet" if counted.share is None else f"{wording.percent(counted.share)} of {counted.n:,}"


def _returned(rows: list[MyItem]) -> None:
    returned = sum(row.state == "returned" for row in rows)
    if returned:
        items = wording.count(returned, "item")
        st.warning(f"{items} returned to you: the reason stands beside each. Open it again and correct it.")


def _row(item: MyItem) -> tuple[object, ...]:
    again = item.state in _AGAIN
    state: object = _WORDS.get(item.state, item.state)
    if item.state == "returned":
        state = blocks.tag("returned")
    elif item.sitting > 1 and item.state == "submitted":
        state = f"submitted, version {item.sitting}"
    return (
        blocks.clip(item.question),
        blocks.short(item.study),
        blocks.short(state),
        blocks.short(ui.when(item.when)),
        item.reason,
        blocks.short(blocks.to("Open again", "annotate", study=item.study_id, assignment=item.assignment_id))
        if again
        else "",
    )
