"""One item as researchers see it: what it says, its evidence, scores, versions, and labels by study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from annotators.criteria.base import written
from annotators.scorers.base import readable, value_kind
from app import ui, wording
from app.pages.item import ending
from app.widgets import blocks, item_texts, item_view
from db.items.read import ItemDetails, ScoreRow, item_details
from db.people.preferences import my_preferences
from db.permissions import RESEARCHERS
from db.releasing.states import item_state
from db.releasing.story import item_story
from db.studies.remarks import ItemInStudy, ItemLabel, item_labels, item_place


def page() -> None:
    """Draw the page for `?item=ID`."""
    blocks.style()
    item_id = ui.integer_parameter("item")
    if item_id is None:
        ui.heading("Item")
        ui.empty("No item is chosen.", "Open one from the page Data.")
        return
    place = item_place(ui.db(), ui.actor(), item_id=item_id)
    found = item_details(ui.db(), ui.actor(), place.project_id, external_id=place.external_id)
    studies = item_labels(ui.db(), ui.actor(), place.project_id, external_id=place.external_id)
    state = item_state(ui.db(), ui.actor(), place.project_id, item_id=item_id)
    item = found.item.content
    about = [
        wording.state(state.state),
        f"version {found.item.number}",
        item.system,
        item.category or "no category",
        item.language or "",
    ]
    ui.heading(item.id, ", ".join(word for word in about if word))
    if not found.is_current:
        st.warning("The import that brought this item is withdrawn: it is in no list and no new study.")
    may_revise = found.is_current and ui.may(ui.project().role, RESEARCHERS)
    with st.container(horizontal=True, vertical_alignment="center"):
        blocks.links(
            blocks.to("All items", "data", project=place.project_id),
            blocks.to("All answers to this question", "data", project=place.project_id, search=item.question[:120]),
        )
        if may_revise:
            blocks.links(
                blocks.button("Revise", "revise", item=item_id, project=place.project_id),
                blocks.to(
                    f"Claims ({len(item.claims)})" if item.claims else "Write its claims",
                    "claims", project=place.project_id, item=item_id,
                ),
            )  # fmt: skip
            ending.popover(item.id, place.project_id, state)
    item_texts.rendering(str(ui.actor().person_id), my_preferences(ui.db(), ui.actor()))
    names = ["Item", f"Evidence ({len(item.evidence)})", f"Labels ({len(studies)})", "Scores", "History"]
    statement, evidence, labels, scores, history = st.tabs(names)
    with statement:
        item_view.statement(found.item)
    with evidence:
        item_view.evidence(found.item)
    with labels:
        _studies(studies, place.project_id)
    with scores:
        _scores(found)
    with history:
        _history(found, place.project_id)


# Labels ---------------------------------------------------------------------------------------------------------------


def _studies(studies: Sequence[ItemInStudy], project_id: int) -> None:
    if not studies:
        ui.empty("The item is in no study.", "Labels appear here when a study has it in its sample.")
    for study in studies:
        st.subheader(ui.plain(study.study))
        words = f"{study.protocol}, version {study.version} of the item"
        blocks.links(
            blocks.to(words, "study", study=study.study_id, project=project_id),
            blocks.tag(study.state, quiet=study.state != "disputed"),
        )
        if study.hidden:
            st.caption("You annotate in this study and have not judged this item: its labels appear when you have.")
        elif not study.labels:
            st.caption("Nobody has labelled it here yet.")
        else:
            _labels(study)


def _labels(study: ItemInStudy) -> None:
    raters = list(dict.fromkeys(label.rater for label in sorted(study.labels, key=lambda label: label.rater)))
    units: dict[tuple[str, str, str], dict[str, ItemLabel]] = {}
    for label in study.labels:
        units.setdefault((label.criterion, label.title, label.target), {})[label.rater] = label
    rows = []
    for (criterion, title, target), given in units.items():
        decision = study.decided.get((criterion, target))
        votes = Counter(_given(label) for label in given.values())
        cells = [_cell(given.get(rater), votes) for rater in raters]
        rows.append([title, "" if target == "item" else target, *cells, written(decision.value) if decision else ""])
    columns = ["Criterion", "Target", *raters, *(["Decided"] if study.decided else [])]
    shown = [row[: len(columns)] for row in rows]
    blocks.table(f"Labels in {study.study}", columns, shown, name=f"labels-{study.study_id}-{study.version}")
    remarks = [
        (label.rater, label.title, "" if label.target == "item" else label.target, _words(label))
        for label in study.labels
        if label.reason or label.comment
    ]
    if study.flags:
        flags = [(rater, why or wording.NO_REASON) for rater, why in study.flags]
        ui.table(f"Flags in {study.study}", ("Flagged by", "Why"), flags)
    if remarks:
        ui.table(f"Remarks in {study.study}", ("By", "Criterion", "Target", "Reason or comment"), remarks)


def _cell(label: ItemLabel | None, votes: Counter[str]) -> object:
    """A label; in a warm colour where more people gave another one."""
    text = _given(label)
    return blocks.odd(text) if text and votes[text] < max(votes.values()) else text


def _words(label: ItemLabel) -> str:
    return "; ".join(part for part in (label.reason, label.comment) if part)


def _given(label: ItemLabel | None) -> str:
    if label is None:
        return ""
    return "cannot judge" if label.cannot_judge else written(label.value)


# Scores and versions --------------------------------------------------------------------------------------------------


def _scores(found: ItemDetails) -> None:
    if not found.scores:
        ui.empty("The item has no scores.", "Run a scorer on the page Scores, or import scores with the item.")
        return
    numbers = {version.version_id: version.number for version in found.versions}
    ui.table(
        "Scores",
        ("Scorer", "Parameters", "Value", "Target", "Score", "Item version"),
        [
            (
                f"{score.scorer} {score.version}",
                ", ".join(readable(score.parameters)),
                value_kind(score.scorer, score.name).title,
                "" if score.target == "item" else score.target,
                _score(score),
                numbers[score.version_id],
            )
            for score in found.scores
        ],
        name="scores",
    )


def _score(score: ScoreRow) -> str:
    return value_kind(score.scorer, score.name).in_words(score.value, score.reason)


def _history(found: ItemDetails, project_id: int) -> None:
    story = item_story(ui.db(), ui.actor(), project_id, external_id=found.item.content.id)
    ui.table(
        "Story",
        ("When", "What happened"),
        [(blocks.short(ui.when(row.at)), wording.chapter(row)) for row in reversed(story.chapters)],
        name="story",
    )
    st.subheader("Versions")
    ui.table(
        "Versions",
        ("Version", "When", "Why"),
        [
            (version.number, ui.when(version.created_at), version.reason or "as imported")
            for version in reversed(found.versions)
        ],
    )
    blocks.facts(
        [
            ("From", found.source),
            ("Import", f"batch {found.batch_id}" if found.batch_id else ""),
            ("Content SHA-256", blocks.identifier(found.item.content_hash)),
        ]
    )
