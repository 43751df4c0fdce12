"""Export: what is to leave, made into one folder with a manifest, and fetched as a zip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from annotators.figures import size_in_words
from app import ui
from app.packed import KEPT_SECONDS
from app.server.routes.downloads import Asked, Packed, look_at_export, pack_export
from app.state import app_state
from app.widgets import blocks, report_menu
from app.worker.report_tasks import DatasetFile
from db.permissions import RESEARCHERS
from db.projects import ProjectRow, project_overview
from db.releasing.releases import list_releases
from db.studies.design import StudyRow, list_studies
from db.studies.ratings import alignment_stamp
from exports.bundles.bundle import DEFAULT_FORMATS, POSTERIOR
from exports.bundles.contents import NOT_RELEASED, REPORT, has_place_for_labels, writers
from exports.bundles.manifest import Manifest
from exports.drawing.report_files import slug
from exports.formats._losing import losses_of
from exports.formats._writing import AskingWriter, takes_pictures

TITLES = {
    "native": "Items and documents (native JSONL)",
    "labels": "Labels of every annotator (labels.csv)",
    "derived": "What each annotator's labels amount to (derived.csv)",
    "adjudicated": "Final labels (adjudicated.csv)",
    "scores": "Scores (scores.csv)",
    "agreement": "Agreement of each criterion (agreement.csv)",
    "alignment": "Metrics and judges against people (alignment.csv)",
    "report": "The report of the dataset (report/)",
    "questionnaires": "Consent and answers to questions (questionnaires.csv)",
    "known": "Labels of gold and qualification items (known.csv)",
    "revisions": "Revisions of the project's items (revisions.csv)",
    "events": "Events of the project (events.csv)",
}
_TYPES = {"parquet": "Parquet", "xlsx": "XLSX", "tsv": "TSV"}
_READY = "exports-ready"


@dataclass(frozen=True)
class _Wanted:
    """What the form asks for."""

    study: StudyRow | None
    release: str | None
    formats: tuple[str, ...]
    names: bool
    documents: bool
    typed: tuple[str, ...]
    labels_of: tuple[str, ...]
    options: Mapping[str, str]
    pictures: bool

    def file_name(self, project: ProjectRow) -> str:
        """The name of the zip, without its ending."""
        part = self.study.name if self.study else self.release
        return f"{project.name} {part}" if part else project.name

    def asked(self) -> Asked:
        """As the export takes it."""
        return Asked(
            study_id=self.study.study_id if self.study else None,
            formats=self.formats,
            names=self.names,
            documents=self.documents,
            release=self.release,
            typed=self.typed,
            labels_of=self.labels_of,
            options=self.options,
            pictures=self.pictures,
        )


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    ui.heading("Export", "Items, labels and scores of one moment, in files, with the hash of each in a manifest.")
    if not ui.may(project.role, RESEARCHERS):
        ui.empty("Only researchers export.", "Ask a researcher of the project.")
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        wanted = _form(project)
        with st.container(horizontal=True):
            pressed = st.button("Make the export", type="primary", key="exports-go", disabled=not wanted.formats)
            looked = st.button(
                "Only look",
                key="exports-look",
                disabled=not wanted.formats,
                help="Makes it and throws it away: what would be in it, how large it is, what its formats lose.",
            )
        if pressed:
            _make(project, wanted)
        ready = _ready(project)
        if ready is not None:  # beneath the button, which the form may have pushed far down
            _offer(ready)
        if looked:
            _look(project, wanted)
    with right:
        if ready is None:
            ui.empty("Nothing has been made yet.", "Choose what is to leave, then make the export.")
        else:
            _what_it_holds(ready.manifest)
        if wanted.release is None:
            _report(project, wanted.study)


def _form(project: ProjectRow) -> _Wanted:
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    by_id = {study.study_id: study for study in studies}
    releases = [row.name for row in list_releases(ui.db(), ui.actor(), project.project_id)]
    choices: list[int | str | None] = [None, *by_id, *releases]
    asked = ui.integer_parameter("study") or st.query_params.get("release")
    chosen = st.selectbox(
        "What",
        choices,
        index=choices.index(asked) if asked in choices else 0,
        format_func=lambda what: _what(what, by_id),
        key=f"exports-study-{project.project_id}",
    )
    release = chosen if isinstance(chosen, str) else None
    st.caption("Files")
    formats = tuple(
        name
        for name in TITLES
        if not (release and name in (*NOT_RELEASED, REPORT))
        and st.checkbox(TITLES[name], value=name in DEFAULT_FORMATS, key=f"exports-format-{name}")
    )
    of_others = {name: writer.title for name, writer in writers().items()}
    formats += tuple(
        st.multiselect(
            "Items in other formats",
            list(of_others),
            format_func=of_others.__getitem__,
            key="exports-others",
            placeholder="None",
            help="An item that a format cannot hold is left out there, and counted.",
        )
    )
    for name in formats:
        if name in of_others:
            lost = "; ".join(losses_of(writers()[name]).values()) or "nothing"
            st.caption(ui.plain(f"{of_others[name]} does not carry: {lost}."))
    posterior = "adjudicated" in formats and st.checkbox(
        "Final labels with the rater model's posterior",
        key="exports-posterior",
        help="Two more columns: each label's share of the votes, and how probable it is by Dawid and Skene's model.",
    )
    licence = ""
    if any(isinstance(writers()[name], AskingWriter) for name in formats if name in of_others):
        licence = st.text_input(
            "Licence",
            key=f"exports-licence-{project.project_id}",
            placeholder="cc-by-4.0",
            help="The short name of the data's licence, which the card of a Hugging Face dataset has.",
        ).strip()
    places = [name for name in formats if name in of_others and has_place_for_labels(writers()[name])]
    labels_of: list[str] = []
    if places and release is None and studies:
        labels_of = st.multiselect(
            "Final labels in them",
            [study.name for study in studies],
            key=f"exports-labels-of-{project.project_id}",
            placeholder="None but those of the study" if isinstance(chosen, int) else "None",
            help="Final labels of these studies go into the formats that have a place for them: "
            f"{', '.join(of_others[name] for name in places)}. Verdicts that came with the items are then left out.",
        )
    typed = st.pills(
        "Tables besides CSV",
        list(_TYPES),
        format_func=_TYPES.__getitem__,
        selection_mode="multi",
        key="exports-typed",
        help="The same cells, in the first two with types (times, numbers, true or false), and a data dictionary.",
    )
    documents = st.checkbox(
        "With the documents' bytes",
        value=True,
        disabled=not _have_documents(formats),
        key="exports-documents",
        help="Documents that are supplied come in the folder documents of each format.",
    )
    pictured = [name for name in formats if name in of_others and takes_pictures(writers()[name])]
    pictures = bool(pictured) and st.checkbox(
        "Pages as pictures",
        disabled=not documents,
        key="exports-pictures",
        help=f"In {', '.join(of_others[name] for name in pictured)} the pages that items point at go along as pictures."
        " Documents that must not leave this machine stay out of it.",
    )
    named = st.segmented_control(
        "People",
        ["Pseudonyms", "Names"],
        default="Pseudonyms",
        required=True,
        key="exports-names",
        help="Pseudonyms stay the same from one export of a study to the next.",
    )
    if named == "Names":
        st.warning("The tables will name people. Give them only to those who may know.")
    options = {**({"licence": licence} if licence else {}), **({POSTERIOR: "dawid_skene"} if posterior else {})}
    study = by_id[chosen] if isinstance(chosen, int) else None
    with_bytes = documents and _have_documents(formats)
    return _Wanted(
        study,
        release,
        formats,
        named == "Names",
        with_bytes,
        tuple(typed),
        tuple(labels_of),
        options,
        pictures and with_bytes,
    )


def _what(chosen: int | str | None, studies: Mapping[int, StudyRow]) -> str:
    if chosen is None:
        return "The whole project"
    return f"Release {chosen}" if isinstance(chosen, str) else f"Study {studies[chosen].name}"


def _have_documents(formats: tuple[str, ...]) -> bool:
    """Whether any of these is a format of items."""
    return not set(formats) <= set(TITLES) - {"native"}


def _make(project: ProjectRow, wanted: _Wanted) -> None:
    st.session_state.pop(_READY, None)
    with ui.problems(), st.spinner("Making the export"):
        packed = pack_export(
            app_state(),
            ui.actor(),
            project.project_id,
            name=wanted.file_name(project),
            asked=wanted.asked(),
        )
        st.session_state[_READY] = (project.project_id, packed)


def _look(project: ProjectRow, wanted: _Wanted) -> None:
    """What an export would hold, without making it."""
    with ui.problems(), st.spinner("Looking"):
        manifest = look_at_export(app_state(), ui.actor(), project.project_id, asked=wanted.asked())
        size = size_in_words(sum(file["bytes"] for file in manifest.files))
        blocks.facts(
            [
                ("Files", f"{len(manifest.files):,}, {size}"),
                *((name.replace("_", " ").capitalize(), f"{n:,}") for name, n in manifest.counts.items()),
            ]
        )
        _versions(manifest)
        for name, lost in manifest.lost.items():
            title = writers()[name].title
            if lost:
                rows = [(one.what, f"{one.n:,}", f"{one.of:,}") for one in lost]
                ui.table(f"What {title} loses of these items", ("Lost", "How many", "Of"), rows)
            else:
                st.caption(ui.plain(f"{title} loses nothing of these items."))


def _versions(manifest: Manifest) -> None:
    """Which versions the items are in, where some were revised."""
    for words in manifest.said_of_versions():
        st.caption(ui.plain(words))


def _report(project: ProjectRow, study: StudyRow | None) -> None:
    """The report of the dataset, made when it is asked for: what a paper says about it."""
    st.subheader("Report of the dataset", anchor=False)
    st.caption(
        "What a paper says about the data and its labels: sizes, protocol, annotators, agreement, metrics, known "
        "limits, a datasheet. The figures are those of the pages. It may take a minute."
    )
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    stamp = (
        project_overview(ui.db(), ui.actor(), project.project_id),
        *(
            (row.study_id, row.state, *alignment_stamp(ui.db(), ui.actor(), row.study_id))
            for row in studies
            if study is None or row.study_id == study.study_id
        ),
    )
    of = (project.project_id, study.study_id if study else None, stamp)
    stem = slug(f"{project.name} {study.name} report" if study else f"{project.name} report")
    report_menu.offer(
        "Report of the dataset",
        partial(DatasetFile, ui.actor(), *of),
        ui.reports(),
        of,
        name="dataset-report",
        stem=stem,
    )


def _ready(project: ProjectRow) -> Packed | None:
    """The last export of this browser."""
    ready = st.session_state.get(_READY)
    return None if ready is None or ready[0] != project.project_id else ready[1]


def _offer(packed: Packed) -> None:
    """The export, to be fetched."""
    blocks.download(packed.address, f"Download {packed.name}", size_in_words(packed.bytes))
    st.caption(
        f"Only you can fetch it, within {KEPT_SECONDS // 60} minutes. Unpacked, it is checked by: assay verify FOLDER"
    )


def _what_it_holds(manifest: Manifest) -> None:
    """The counts and files of the export."""
    blocks.facts(
        [
            *((name.replace("_", " ").capitalize(), f"{n:,}") for name, n in manifest.counts.items()),
            ("People", "named" if manifest.filters["names"] else "pseudonyms"),
            ("As of event", f"{manifest.event:,}"),
            ("Assay", f"{manifest.assay}, schema {manifest.schema}"),
        ]
    )
    _versions(manifest)
    ui.table(
        "Files of the export",
        ("File", "Rows", "Bytes", "SHA-256"),
        [
            (file["path"], file["rows"], f"{file['bytes']:,}", f"{file['sha256'][:16]}…")
            for file in manifest.files[:200]
        ],
    )
    if len(manifest.files) > 200:
        st.caption(f"The first 200 of {len(manifest.files):,} files are shown; manifest.json has all.")
