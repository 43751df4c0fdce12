"""Agreement: the table of coefficients first, a sentence to paste, plots, then the units behind the numbers."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui, wording
from app.agreement_table import agreement_table
from app.widgets import plots
from db.studies import StudyRow, list_studies
from exports.agreement import AgreementReport, agreement_report

RESAMPLES = 1000


def page() -> None:
    """Draw the page."""
    project = ui.project()
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    if not studies:
        ui.heading("Agreement")
        ui.empty("There is no study yet.", "Make one on the page Studies; agreement is measured on its labels.")
        return
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-choice"):
        study = _chosen(studies)
        report = _report(study)
    with top:
        ui.heading("Agreement", _about(study, report))
    if not any(one.n_ratings for one in report.criteria):
        ui.empty("Nobody has labelled anything in this study yet.", "Agreement appears with the first shared item.")
        return
    coefficients, disagreements, by_label = st.tabs(["Coefficients", "Disagreements", "Labels"])
    with coefficients:
        _coefficients(report)
    with disagreements:
        _disagreements(report)
    with by_label:
        _labels(report)


def _chosen(studies: list[StudyRow]) -> StudyRow:
    """The study of the address (`?study=ID`), else the one picked, else the newest with labels."""
    by_id = {row.study_id: row for row in studies}
    wanted = ui.integer_parameter("study")
    newest = next((row.study_id for row in reversed(studies) if row.submitted), studies[-1].study_id)
    ids = list(by_id)
    picked = st.selectbox(
        "Study",
        ids,
        index=ids.index(wanted if wanted in by_id else newest),
        format_func=lambda study_id: f"{by_id[study_id].name} ({by_id[study_id].protocol})",
        key=f"agreement-study-{project_key(studies)}",
    )
    return by_id[picked]


def project_key(studies: list[StudyRow]) -> int:
    """The project the studies are of: widgets of another project keep their own state."""
    return studies[0].project_id


def _report(study: StudyRow) -> AgreementReport:
    """The report, kept in this browser's session until the study has more labels or the seed changes."""
    with st.popover("How the intervals are made"):
        seed = int(st.number_input("Seed", min_value=0, value=0, step=1, key="agreement-seed"))
        resamples = int(st.number_input("Resamples", min_value=100, max_value=20_000, value=RESAMPLES, step=100))
        st.caption("Units are drawn again with replacement; the same seed gives the same interval.")
    key = (study.study_id, study.submitted, study.disputed, seed, resamples)
    kept = st.session_state.get("agreement-report")
    if kept is None or kept[0] != key or st.button("Measure again", key="agreement-again", type="tertiary"):
        with st.spinner("Measuring"):
            kept = (key, agreement_report(ui.db(), ui.actor(), study.study_id, seed=seed, resamples=resamples))
        st.session_state["agreement-report"] = kept
    report: AgreementReport = kept[1]
    return report


def _about(study: StudyRow, report: AgreementReport) -> str:
    return (
        f'Study "{study.name}", {study.protocol}, {wording.count(study.n_items, "item")}, '
        f"{wording.count(len(report.raters), 'annotator')}, {wording.count(study.submitted, 'annotation')}"
    )


# Coefficients ---------------------------------------------------------------------------------------------------------


def _coefficients(report: AgreementReport) -> None:
    table = agreement_table(report)
    ui.table(table.caption, table.columns, table.rows, name=f"agreement-{report.study}")
    for one in report.criteria:
        if one.warning:
            st.html(
                f'<p><span class="assay-tag">skewed</span> {escape(one.criterion.title)}: {escape(one.warning)}</p>'
            )
    _to_paste(report)
    left, right = st.columns([3, 2])
    with left:
        rows = [(one.criterion.title, one.headline) for one in report.criteria if one.headline is not None]
        chart = plots.forest([(name, stat) for name, stat in rows if stat], "Krippendorff's α, 95 % interval")
        if chart is not None:
            plots.draw(chart, "agreement-forest", "Krippendorff's α of every criterion with its 95 % interval.")
    with right:
        _similarity(report)


def _to_paste(report: AgreementReport) -> None:
    """The sentence for a paper, for one criterion at a time."""
    said = {one.criterion.title: one.sentence for one in report.criteria if one.sentence and one.n_ratings}
    if not said:
        return
    with st.container(border=True):
        picked = st.selectbox("A sentence to paste, for", list(said), key="agreement-sentence")
        st.code(said[picked], language=None, wrap_lines=True)


def _similarity(report: AgreementReport) -> None:
    with_pairs = [one for one in report.criteria if one.find("cohen_kappa")]
    if not with_pairs or len(report.raters) < 2:
        return
    titles = [one.criterion.title for one in with_pairs]
    picked = st.selectbox("Annotators compared on", titles, key="agreement-similarity")
    one = with_pairs[titles.index(picked)]
    chart = plots.similarity([stat for stat in one.statistics if stat.name == "cohen_kappa"])
    if chart is None:
        st.html('<p class="assay-soft">Cohen\'s κ is not defined for any pair of annotators here.</p>')
    else:
        plots.draw(chart, "agreement-annotators", f"Cohen's κ of each pair of annotators on {escape(picked)}.")


# Behind the numbers ---------------------------------------------------------------------------------------------------


def _disagreements(report: AgreementReport) -> None:
    compared = [one for one in report.criteria if one.pairs]
    if not compared:
        ui.empty("No unit was labelled by two annotators yet.", "Disagreements appear when a second one labels it.")
        return
    left, right = st.columns(2)
    titles = [one.criterion.title for one in compared]
    picked = left.selectbox("Criterion", titles, key="disagreement-criterion")
    one = compared[titles.index(picked)]
    pairs = sorted(one.pairs)
    pair = right.selectbox("Annotators", pairs, format_func=" and ".join, key=f"disagreement-{one.criterion.name}")
    labels = [str(label.value) for label in one.criterion.label_list()]
    chart = plots.confusion(one.pairs[pair], pair, labels)
    plots.draw(chart, "agreement-confusion", f"{escape(picked)}: rows {escape(pair[0])}, columns {escape(pair[1])}.")
    differing = [unit for unit in one.units if len(set(unit.labels.values())) > 1]
    ui.table(
        f"Units on which annotators differ: {picked}",
        ["Item", "Target", *report.raters],
        [
            [unit.item, unit.target, *(unit.labels.get(rater, "") for rater in report.raters)]
            for unit in differing[:200]
        ],
        name=f"disagreements-{one.criterion.name}",
    )
    if len(differing) > 200:
        st.caption(f"The first 200 of {len(differing):,} are shown; the export of labels has all.")
    for item_id, name in dict.fromkeys((unit.item_id, unit.item) for unit in differing[:20]):
        ui.link(name, "item", key=f"item-{item_id}", item=item_id)


def _labels(report: AgreementReport) -> None:
    rows = [
        [one.criterion.title, label, f"{round(share * one.n_ratings):,}", wording.percent(share)]
        for one in report.criteria
        for label, share in one.shares.items()
    ]
    ui.table("Share of each label", ["Criterion", "Label", "Labels", "Share"], rows, name=f"labels-{report.study}")
    unjudged = [[one.criterion.title, f"{one.cannot_judge:,}"] for one in report.criteria if one.cannot_judge]
    if unjudged:
        ui.table("Cannot judge (left out of agreement)", ["Criterion", "Count"], unjudged)
