"""Data: the project's items and documents, searched, filtered, counted, a page at a time."""

from __future__ import annotations

import streamlit as st

from annotators.pages.documents.kinds import MEDIA_TYPES
from app import ui, wording
from app.pages.data import scans, staying
from app.uploads import attach_upload, chosen_file
from app.widgets import blocks, choices, pager
from db.items.documents import DocumentRow, list_documents
from db.items.read import ItemCounts, item_counts, list_items
from db.permissions import RESEARCHERS
from db.projects import ProjectRow, project_overview
from db.releasing.listed import items_in_state
from db.releasing.states import WANTING, State, item_states
from db.studies.design import StudyRow, list_studies

PAGE = 50

STATES = [
    State.IN_STUDY, State.DISPUTED, State.IN_REVISION, State.IN_RECHECK, State.ACCEPTED, State.REJECTED,
    State.WITHDRAWN, State.NO_STUDY,
]  # fmt: skip


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    overview = project_overview(ui.db(), ui.actor(), project.project_id)
    counts = item_counts(ui.db(), ui.actor(), project.project_id)
    words = [
        wording.count(counts.total, "item"),
        wording.count(overview.questions, "question"),
        f"{wording.count(overview.documents, 'document')} ({overview.supplied_documents:,} supplied)",
    ]
    ui.heading("Data", ", ".join(words))
    if not counts.total and not overview.documents:
        ui.empty("The project has no documents and no items.", "A researcher imports them; they then appear here.")
        if ui.may(project.role, RESEARCHERS):
            ui.link("Import", "imports", key="data-import", primary=True)
        return
    items, documents = st.tabs(["Items", "Documents"])
    with items:
        _items(project, counts)
    with documents:
        _documents(project)


# Items ----------------------------------------------------------------------------------------------------------------


def _items(project: ProjectRow, counts: ItemCounts) -> None:
    search, system, category, state = _filters(counts)
    study = _study(project) if state else None
    about = (project.project_id, search, system, category, state, study and study.study_id)
    after = pager.start("items", about)
    here = (ui.db(), ui.actor(), project.project_id)
    following: str | None
    if state is None:
        rows = list_items(*here, search=search, system=system, category=category, after=after, limit=PAGE)
        following = rows[-1].external_id if len(rows) == PAGE else None
    else:
        of = study.study_id if study else None
        found = items_in_state(
            *here, state=state, study_id=of, search=search, system=system, category=category, after=after, limit=PAGE
        )
        rows, following = found.rows, found.after
    if study is not None:
        st.caption(f"As the study {ui.plain(study.name)} has them.")
    if not rows and following is not None:
        ui.empty("None so far.", "Many items were looked at; go on with Next.")
    elif not rows:
        ui.empty("No item fits.", "Search for another word, or choose all systems, categories and states.")
    else:
        ids = [row.item_id for row in rows]
        states = item_states(ui.db(), ui.actor(), project.project_id, item_ids=ids)
        blocks.table(
            "Items",
            ("Item", "Question", "System", "Category", "Version", "State"),
            [
                (
                    blocks.item(row.external_id, row.item_id, project.project_id),
                    blocks.clip(row.question),
                    blocks.short(row.system),
                    blocks.short(row.category),
                    row.number,
                    blocks.tag(wording.state(states[row.item_id]), quiet=states[row.item_id] not in WANTING),
                )
                for row in rows
            ],
        )
    pager.buttons("items", following)
    with st.expander("Counts by system and category"):
        _counts(counts)
    if ui.may(project.role, RESEARCHERS):
        ui.link("Write claims", "claims", key="data-claims", project=project.project_id)


def _filters(counts: ItemCounts) -> tuple[str, str | None, str | None, State | None]:
    """(search, system, category, state); None is any, "" is without a category. The address may name them."""
    systems, categories = sorted(counts.by_system()), sorted(counts.by_category())
    given = st.query_params.get("search")
    left, middle, right, last = st.columns([3, 2, 2, 2])
    search = left.text_input(
        "Search", given or "", placeholder="part of a question or of an id", key=f"data-search-{given}"
    )
    system = choices.system(middle, systems, "data")
    category = choices.category(right, categories, "data")
    wanted = st.query_params.get("state")
    state = last.selectbox(
        "State", [None, *STATES], index=STATES.index(State(wanted)) + 1 if wanted in STATES else 0,
        format_func=lambda state: "All states" if state is None else wording.state(state), key=f"data-state-{wanted}",
    )  # fmt: skip
    return search.strip(), system, category, state


def _study(project: ProjectRow) -> StudyRow | None:
    """The study of the address whose states are meant, if it is one of the project."""
    wanted = ui.integer_parameter("study")
    studies = list_studies(ui.db(), ui.actor(), project.project_id) if wanted is not None else []
    return next((row for row in studies if row.study_id == wanted), None)


def _counts(counts: ItemCounts) -> None:
    systems, categories = sorted(counts.by_system()), sorted(counts.by_category())
    cells = {(system, category): n for system, category, n in counts.cells}
    rows = [
        [system, *(f"{cells.get((system, category), 0):,}" for category in categories), f"{n:,}"]
        for system, n in sorted(counts.by_system().items())
    ]
    totals = counts.by_category()
    if len(systems) > 1:
        rows.append(["All", *(f"{totals[category]:,}" for category in categories), f"{counts.total:,}"])
    columns = ["System", *(category or choices.NO_CATEGORY for category in categories), "All"]
    ui.table("Items by system and category", columns, rows, name="items-by-system-and-category")


# Documents ------------------------------------------------------------------------------------------------------------


def _documents(project: ProjectRow) -> None:
    search = st.text_input("Search", placeholder="part of a key or title", key="data-documents-search").strip()
    rows = list_documents(
        ui.db(),
        ui.actor(),
        project.project_id,
        search=search,
        after=pager.start("documents", (project.project_id, search)),
        limit=PAGE,
    )
    if not rows:
        ui.empty("No document fits.", "Search for another word; documents come with imports.")
        return
    kept = staying.kept(project)
    blocks.table(
        "Documents",
        ("", "Document", "Title", "Pages", "Kind"),
        [
            (
                blocks.thumbnail(row.document_id, row.sha256, row.key),
                _name(row),
                row.title,
                f"{row.n_pages:,}" if row.n_pages else "",
                _kind(row, row.key in kept),
            )
            for row in rows
        ],
    )
    pager.buttons("documents", rows[-1].key if len(rows) == PAGE else None)
    if ui.may(project.role, RESEARCHERS):
        _attach(project, [row.key for row in rows if not row.supplied])
        scans.draw(project)
        staying.draw(project, [row.key for row in rows], kept)


def _name(document: DocumentRow) -> object:
    """The document's key; its first page opens when its bytes are there."""
    if document.sha256 is None:
        return document.key
    return blocks.page_link(document.document_id, 1, document.sha256, document.key)


def _kind(document: DocumentRow, kept: bool) -> object:
    """What sort of document it is: PDF, PNG, TXT …; that its bytes are not there, or that it stays here."""
    if document.media_type is None:
        return blocks.tag("not supplied, stays here" if kept else "not supplied", quiet=True)
    kind = MEDIA_TYPES.get(document.media_type, document.media_type).upper()
    return blocks.tag(f"{kind}, stays here", quiet=True) if kept else kind


def _attach(project: ProjectRow, missing: list[str]) -> None:
    """A form that supplies the bytes of a document that is known only by its key."""
    if not missing:
        return
    with st.expander("Supply the bytes of a document"), st.form("attach", border=False, clear_on_submit=True):
        key = st.selectbox("Document", missing, key="attach-document")
        file = chosen_file("File", None, key="attach-file")
        if st.form_submit_button("Supply", type="primary") and file is not None:
            with ui.problems():
                attach_upload(ui.db(), ui.actor(), project.project_id, file, key=key)
                st.rerun()
