"""Releases: what is accepted is frozen under a name, those that there are, and two of them beside each other."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from annotators.criteria.base import written
from app import ui, wording
from app.widgets import blocks
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.releasing.comparing import Comparison, compare_releases
from db.releasing.releases import (
    LEFT_OUT,
    ReleaseRow,
    lack_in_words,
    list_releases,
    make_release,
    plan_release,
)
from db.studies.design import list_studies

SHOWN = 200


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    ui.heading("Releases", "Accepted items with their final labels, frozen under a name and a hash of what is in them.")
    if ui.may(project.role, RESEARCHERS):
        _form(project)
    rows = list_releases(ui.db(), ui.actor(), project.project_id)
    if not rows:
        ui.empty(
            "Nothing has been released yet.",
            "A release takes what is accepted: items with settled labels that their protocol accepts, or by hand.",
        )
        return
    _list(project, rows)
    if len(rows) > 1:
        _comparison(project, [row.name for row in rows])


def _form(project: ProjectRow) -> None:
    studies = {study.study_id: study.name for study in list_studies(ui.db(), ui.actor(), project.project_id)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", key="release-name", placeholder="v1", max_chars=200, required=True)
        study_id = st.selectbox(
            "What",
            [None, *studies],
            format_func=lambda of: "All accepted items" if of is None else f"What {studies[of]} accepts",
            key="release-study",
        )
        pressed = st.button("Make the release", type="primary", key="release-make")
    if not name.strip():
        return
    with ui.problems():
        keep = _plan(project, study_id)
        if pressed:
            with st.spinner("Making the release"):
                made = make_release(ui.db(), ui.actor(), project.project_id, name=name, study_id=study_id, keep=keep)
            pairs = f" and {wording.count(made.pairs, 'pair')}" if made.pairs else ""
            st.success(
                f"Release {ui.plain(made.name)}: {wording.count(made.items, 'item')}{pairs} with "
                f"{wording.count(made.labels, 'final label')}."
            )


def _plan(project: ProjectRow, study_id: int | None) -> list[str]:
    """Say what a release would hold, and ask whether items that lack something are to be kept; which are."""
    about = (ui.db(), ui.actor(), project.project_id)
    plan = plan_release(*about, study_id=study_id)
    keep = [
        lack.value
        for lack in LEFT_OUT
        if (items := plan.left_out.get(lack.value))
        and st.checkbox(
            f"Keep {wording.count(len(items), 'accepted item')} {lack_in_words(lack)}", key=f"release-{lack}"
        )
    ]
    if keep:
        plan = plan_release(*about, study_id=study_id, keep=keep)
    pairs = f" and {wording.count(plan.pairs, 'pair')}" if plan.pairs else ""
    labels = wording.count(plan.labels, "final label")
    st.caption(f"It would hold {wording.count(plan.items, 'item')}{pairs} with {labels}.")
    for line in wording.said_of_lacks(plan.holds, plan.left_out):
        st.caption(ui.plain(line))
    return keep


def _list(project: ProjectRow, rows: Sequence[ReleaseRow]) -> None:
    pairs = any(row.pairs for row in rows)
    blocks.table(
        "Releases",
        ("Release", "Made", "By", "Of", "Items", *(("Pairs",) if pairs else ()), "Labels", "SHA-256", ""),
        [
            (
                blocks.short(row.name),
                ui.when(row.at),
                row.by,
                f"study {row.study}" if row.study else "the project",
                f"{row.items:,}",
                *((f"{row.pairs:,}",) if pairs else ()),
                f"{row.labels:,}",
                blocks.identifier(row.sha256),
                blocks.button("Export", "exports", project=project.project_id, release=row.name)
                if ui.may(project.role, RESEARCHERS)
                else "",
            )
            for row in rows
        ],
        name="releases",
    )


# Two of them ----------------------------------------------------------------------------------------------------------


def _comparison(project: ProjectRow, names: Sequence[str]) -> None:
    blocks.section("What changed")
    with st.container(horizontal=True):
        first = st.selectbox("From", names, index=1, key="release-from")
        second = st.selectbox("To", names, index=0, key="release-to")
    with ui.problems():
        found = compare_releases(ui.db(), ui.actor(), project.project_id, first=first, second=second)
        if found.same_hash:
            ui.empty("They have the same items and labels.", "Their hashes are the same.")
        else:
            _differences(project, found)


def _differences(project: ProjectRow, found: Comparison) -> None:
    blocks.figures(
        [
            ("in both", f"{found.in_both:,}"),
            ("added", f"{len(found.added):,}"),
            ("removed", f"{len(found.removed):,}"),
            ("revised", f"{len(found.changed):,}"),
            ("labels that are others", f"{len(found.labels):,}"),
            *(
                [
                    ("pairs in both", f"{found.pairs_in_both:,}"),
                    ("pairs added", f"{len(found.added_pairs):,}"),
                    ("pairs removed", f"{len(found.removed_pairs):,}"),
                ]
                if found.pairs_in_both or found.added_pairs or found.removed_pairs
                else []
            ),
        ]
    )
    came = [(*row, "added") for row in found.added] + [(*row, "removed") for row in found.removed]
    _table(
        "Items that came and went",
        ("Item", ""),
        [(_item(project, item_id, item), blocks.tag(what, quiet=what == "added")) for item_id, item, what in came],
    )
    pairs = [(row, "added") for row in found.added_pairs] + [(row, "removed") for row in found.removed_pairs]
    _table(
        "Pairs that came and went",
        ("Pair", "Study", ""),
        [
            (_item(project, row.item_id, row.name), row.study, blocks.tag(what, quiet=what == "added"))
            for row, what in pairs
        ],
    )
    _table(
        "Items that were revised",
        ("Item", "From version", "To version", "Fields"),
        [
            (_item(project, row.item_id, row.item), row.before, row.after, ", ".join(row.fields))
            for row in found.changed
        ],
    )
    _table(
        "Labels that are others",
        ("Item", "Study", "Criterion", "Target", found.first, found.second, "How"),
        [
            (
                _item(project, row.item_id, row.name),
                row.study,
                row.criterion,
                "" if row.target in {"item", "pair"} else row.target,
                _value(row.before),
                _value(row.after),
                row.how_after or "",
            )
            for row in found.labels
        ],
    )


def _item(project: ProjectRow, item_id: int, item: str) -> blocks.Html:
    return blocks.item(item, item_id, project.project_id)


def _value(value: object) -> object:
    return blocks.tag("none", quiet=True) if value is None else written(value)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    if not rows:
        return
    st.subheader(title)
    blocks.table(title, columns, rows[:SHOWN], name=title.lower().replace(" ", "-"))
    if len(rows) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(rows):,}; `assay releases --compare` has all.")
