"""Import: files are uploaded, looked through, and only then added; every import can be withdrawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import orjson
import streamlit as st

from annotators.errors import AssayError
from annotators.items.normal import to_json
from app import ui, wording
from app.pages.imports import columns_form, label_form, proposals
from app.state import app_state
from app.uploads import Upload, chosen_files, import_uploads
from app.widgets import blocks, next_steps, pager
from app.widgets.doing import acts
from app.widgets.doing.following import follows
from db.batches import BatchRow, list_batches, withdraw_batch
from db.items.imports import ImportReport
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.releasing.consequences import if_withdrawn
from exports.formats import FORMATS
from exports.formats._losing import losses_of
from exports.formats.base import LOST
from exports.reading.tables import Opening

SHOWN = 200
PAGE = 50
_DONE = "imports-done"
_IMPORTED = "imports-imported"
_UPLOADER = "imports-uploader"


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    ui.heading("Import", "Documents and items from files. Nothing is added before you have seen what it would do.")
    if not ui.may(project.role, RESEARCHERS):
        ui.empty("Only researchers import.", "Ask a researcher of the project.")
        return
    items, labels, proposed, earlier = st.tabs(
        ["Items and documents", "Labels", "Proposed revisions", "Earlier imports"]
    )
    with items:
        _new(project)
    with labels:
        label_form.draw(project)
    with proposed:
        proposals.draw(project)
    with earlier:
        _batches(project)


# New import -----------------------------------------------------------------------------------------------------------


def _new(project: ProjectRow) -> None:
    number = st.session_state.setdefault(_UPLOADER, 0)
    done: ImportReport | None = st.session_state.pop(_DONE, None)
    if done is not None:
        st.session_state[_IMPORTED] = (project.project_id, done)
    kept = st.session_state.get(_IMPORTED)
    if kept is not None and kept[0] == project.project_id:
        _imported(kept[1], project)
    left, right = st.columns([3, 2], gap="large")
    with left:
        files = chosen_files(
            "Files",
            key=f"imports-files-{number}",
            help=f"JSONL, JSON, tables (CSV, TSV, Parquet, XLSX), PDF and pictures, or a zip or tar.gz of a folder. Up "
            f"to {app_state().settings.upload_mb:,} MB each; larger data is imported by the command `assay import`.",
        )
    format_name = right.selectbox(
        "Format",
        [None, *FORMATS.names()],
        format_func=lambda name: "Recognised by itself" if name is None else FORMATS.get(name).title,
        key="imports-format",
    )
    if format_name:
        right.caption(ui.plain(FORMATS.get(format_name).help))
    if not files:
        if kept is None:
            ui.empty("No file is chosen.", "Choose files above. The page Help says how each format is written.")
        return
    st.session_state.pop(_IMPORTED, None)
    known = tuple(file.file_id for file in files)
    labels_into = st.session_state.get(_study_key(known), "").strip() or None
    opening = columns_form.opened(project, [file.name for file in files], known)
    wanted = _WantedImport(files, known, format_name, columns_form.chosen(known), labels_into, opening)
    report = _preview(project, wanted)
    if report is None:
        return
    _preview_drawn(report)
    columns_form.draw(project, known, report, opening)
    _labels(known, report)
    _choice(project, wanted, report)


@dataclass(frozen=True)
class _WantedImport:
    """What is to be imported: the files, what they are known by, as what they are read, and where labels go."""

    files: Sequence[Upload]
    known: tuple[str, ...]
    format_name: str | None
    columns: Mapping[str, Sequence[str]] | None
    labels_into: str | None
    opening: Opening


def _preview(project: ProjectRow, wanted: _WantedImport) -> ImportReport | None:
    """What the import would do, kept until other files, another format or other columns are chosen."""
    about = (project.project_id, wanted.format_name, wanted.known, wanted.columns, wanted.labels_into, wanted.opening)
    kept = st.session_state.get("imports-preview")
    if kept is None or kept[0] != about:
        with (
            ui.problems(say=wording.on_page),
            ui.progress(f"Looking through {wording.count(len(wanted.files), 'file')}") as move,
        ):
            report = import_uploads(
                ui.db(),
                ui.actor(),
                project.project_id,
                wanted.files,
                format_name=wanted.format_name,
                columns=wanted.columns,
                opening=wanted.opening,
                labels_into=wanted.labels_into,
                dry_run=True,
                progress=move,
            )
            kept = st.session_state["imports-preview"] = (about, report)
    if kept is None or kept[0] != about:
        return None
    found: ImportReport = kept[1]
    return found


def _preview_drawn(report: ImportReport) -> None:
    st.subheader("What the import would do")
    _counted(report)
    st.caption(f"Format: {ui.plain(FORMATS.get(report.format).title)}. Nothing is written yet.")
    _notes(report)
    _rejected(report)
    _revisions(report)
    if report.examples:
        with st.expander("The first items as they would be stored"):
            for item in report.examples:
                st.code(
                    orjson.dumps(to_json(item), option=orjson.OPT_INDENT_2).decode(), language="json", wrap_lines=True
                )
    if report.metadata:
        kept = ", ".join(f"{name} ({n:,})" for name, n in report.metadata.most_common())
        st.html(f'<p class="assay-soft">Fields kept in the items\' metadata: {escape(kept)}</p>')
    _not_carried(report.format)


def _counted(report: ImportReport) -> None:
    """The counts of a preview, and of what was then done: the same things in the same words."""
    counts = [(words, f"{n:,}") for words, n in wording.import_counts(report)]
    if counts:
        blocks.figures(counts)
    if said := wording.without_file(report):
        st.warning(ui.plain(said))


def _notes(report: ImportReport) -> None:
    """What is to be known of the files; what of them cannot come in is a list, as it may be long."""
    lost = [note.removeprefix(LOST) for note in report.notes if note.startswith(LOST)]
    said = [ui.plain(wording.on_page(note)) for note in report.notes if not note.startswith(LOST)]
    if lost:
        said.append("\n".join([f"**{ui.plain(LOST.strip())}**", *(f"- {ui.plain(one)}" for one in lost)]))
    if said:
        st.warning("\n\n".join(said))


def _not_carried(format_name: str) -> None:
    """What of the items would be lost, should they leave in the format again."""
    lost = list(losses_of(FORMATS.get(format_name)).values())
    if lost:
        with st.expander(f"Later, on the way out: what an export in this format does not carry ({len(lost)})"):
            st.markdown("\n".join(f"- {ui.plain(one)}" for one in lost))


def _rejected(report: ImportReport) -> None:
    if not report.rejected:
        return
    st.subheader("Bad rows")
    ui.table(
        "Bad rows",
        ("File", "Line", "Why"),
        [(row.file, row.line, wording.on_page(row.reason)) for row in report.rejected[:SHOWN]],
        name="bad-rows",
    )
    if len(report.rejected) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(report.rejected):,} are shown.")


def _revisions(report: ImportReport) -> None:
    if not report.revisions:
        return
    st.subheader("Proposed revisions")
    st.caption(
        "These items are there with other content. An import does not change them: afterwards they wait in the "
        "tab Proposed revisions, to be accepted or declined."
    )
    ui.table(
        "Proposed revisions",
        ("File", "Line", "Item", "What differs"),
        [
            (revision.file, revision.line, revision.external_id, ", ".join(revision.changes))
            for revision in report.revisions[:SHOWN]
        ],
        name="proposed-revisions",
    )
    if len(report.revisions) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(report.revisions):,} are shown.")


def _labels(known: tuple[str, ...], report: ImportReport) -> None:
    """Where what people said in the files goes: into no study, unless one is named."""
    came = report.labels
    if not (came.n or came.study):
        return
    st.subheader("Labels in the files")
    by = f" by {', '.join(ui.plain(name) for name in sorted(came.annotators))}" if came.annotators else ""
    st.caption(f"{wording.count(came.n, 'label')}{by}.")
    st.columns([3, 2])[0].text_input(
        "Study for the labels",
        key=_study_key(known),
        placeholder="No study",
        help="A new name makes a study of the items that have labels. A study that is there takes them if they fit it. "
        "Without a name the items come in alone.",
    )
    if came.study is not None and not came.obstacles:
        made = "a study that is made for them" if came.is_new else "a study that is there"
        st.caption(f"They go into {ui.plain(came.study)}, {made}, as {wording.count(came.annotations, 'annotation')}.")
    if came.obstacles:
        st.error("\n\n".join(["The labels do not fit:", *map(ui.lines, came.obstacles[:SHOWN])]))


def _study_key(known: tuple[str, ...]) -> str:
    return f"imports-study-{known[0]}"


def _choice(project: ProjectRow, wanted: _WantedImport, report: ImportReport) -> None:
    if report.labels.obstacles:
        return
    new = report.added or report.documents or report.supplied or report.kept
    proposed = len(report.revisions)
    into_study = report.labels.study is not None
    if not (new or into_study or proposed):
        st.info("There is nothing new in these files.")
        return
    labels = wording.count(report.labels.n, "label")
    if new:
        label = f"Import {wording.count(report.added, 'item')}" if report.added else "Import documents"
        label += f" and {labels}" if into_study else ""
    elif into_study:
        label = f"Import {labels}"
    else:
        label = f"Propose {wording.count(proposed, 'revision')}"
    if report.rejected:
        label += " and leave the bad rows out"
        st.caption("To import everything, correct the bad rows and upload the files again.")
    if not st.button(label, type="primary", key="imports-go"):
        return
    try:
        with ui.progress(label) as move:
            done = import_uploads(
                ui.db(),
                ui.actor(),
                project.project_id,
                wanted.files,
                format_name=wanted.format_name,
                columns=wanted.columns,
                opening=wanted.opening,
                labels_into=wanted.labels_into,
                skip_bad=bool(report.rejected),
                progress=move,
            )
    except AssayError as error:
        st.error(ui.lines(str(error)))
        return
    st.session_state[_DONE] = done
    st.session_state[_UPLOADER] += 1
    st.session_state.pop("imports-preview", None)
    st.rerun()


def _imported(report: ImportReport, project: ProjectRow) -> None:
    """What was done, and what comes next; it stays until other files are chosen."""
    with st.container(border=True, key="imports-result"):
        batch = f" as batch {report.batch}" if report.batch else ""
        st.html(f'<h2 class="assay-done">Imported{escape(batch)}</h2>')
        _counted(report)
        if report.labels.study is not None:
            st.caption(f"The labels are in the study {ui.plain(report.labels.study)}, as batch {report.labels.batch}.")
        _notes(report)
        if done := report.revisions:
            st.caption(f"{wording.count(len(done), 'revision')} proposed: see the tab Proposed revisions.")
        next_steps.after_an_import(project)


# Earlier imports ------------------------------------------------------------------------------------------------------


def _batches(project: ProjectRow) -> None:
    before = pager.start("batches", project.project_id)
    rows = list_batches(ui.db(), ui.actor(), project.project_id, before=before, limit=PAGE)
    if not rows:
        ui.empty("Nothing has been imported yet.", "Each import appears here and can be withdrawn.")
        return
    blocks.table(
        "Imports",
        ("Batch", "When", "Format", "From", "State", "Reason"),
        [
            (
                row.batch_id,
                ui.when(row.created_at),
                row.format,
                row.source,
                blocks.tag("withdrawn") if row.withdrawn else "in use",
                row.reason,
            )
            for row in rows
        ],
    )
    pager.buttons("batches", rows[-1].batch_id if len(rows) == PAGE else None)
    _withdraw(project, rows)


def _withdraw(project: ProjectRow, rows: list[BatchRow]) -> None:
    st.subheader("Withdraw, or take back a withdrawal")
    st.caption(
        "A withdrawn import is left out of lists, samples and scores. Studies keep the items they were made with."
    )
    by_id = {row.batch_id: row for row in rows}

    def name(batch_id: int) -> str:
        batch = by_id[batch_id]
        return f"{batch_id}: {blocks.clip(batch.source, 60)}{' (withdrawn)' if batch.withdrawn else ''}"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        batch_id = st.selectbox("Import", list(by_id), format_func=name, key="imports-batch")
        withdrawn = by_id[batch_id].withdrawn
        label = "Take the withdrawal back" if withdrawn else "Withdraw"
        # A button that becomes its opposite under the pointer asks first.
        with acts.popover(f"{label}…", key=f"imports-withdraw-{batch_id}"):
            reason = acts.reason("imports-reason", note="It is kept, and the list of imports says it.", blocks=False)
            with st.container(horizontal=True):
                pressed = st.button(label, type="primary", key="imports-withdraw")
                asked = st.button("What would follow?", key="imports-withdraw-look")
            with ui.problems():
                if asked:
                    follows(if_withdrawn(ui.db(), ui.actor(), project.project_id, batch_id, reinstates=withdrawn))
                elif pressed:
                    withdraw_batch(
                        ui.db(), ui.actor(), project.project_id, batch_id, reason=reason, reinstates=withdrawn
                    )
                    acts.done(f"Import {batch_id} is {'in use again' if withdrawn else 'withdrawn'}.")
