"""The form that makes a study: protocol, annotators, sample, and how many items and slots that would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from annotators.errors import InvalidInput
from annotators.protocol_files import protocol_from_yaml
from annotators.protocols import PROTOCOLS, Protocol
from app import navigation, ui, wording
from app.state import app_state
from app.widgets import protocol_view
from db.items import ItemCounts
from db.people import list_members
from db.permissions import ANNOTATORS, Role
from db.projects import ProjectRow
from db.scores import list_scorers_in
from db.studies import RULES, StudyDesign, create_study

SAMPLES: dict[str, str] = {
    "all": "All items",
    "": "Some items",
    "system": "Some items of each system",
    "category": "Some items of each category",
    "system,category": "Some items of each system and category",
}
ORDERS = {
    "shuffled": "Shuffled, so that systems and categories mix",
    "by_question": "Shuffled by question: the answers to one question follow each other",
    "given": "As imported",
}
_RULES = {"unanimous": "When all annotators agree", "majority": "When more than half agree"}


ITEMS = "study-items"
"""Where another page leaves the external ids of the items that a new study is to take."""

DRAWN = "study-drawn"
"""Where it leaves with what probabilities they were drawn, for the study's settings."""


def draw(project: ProjectRow, counts: ItemCounts) -> None:
    """The form; on success the new study's page opens. Items that another page has chosen are its sample."""
    chosen = _chosen_items()
    left, right = st.columns(2, gap="large")
    with left:
        name = st.text_input("Name of the study", max_chars=100, key="study-name")
        protocol = _protocol()
        if protocol is None:
            return
        show_scores = _scores(project) if protocol.about_scores else ()
        more = _more()
    with right:
        annotators = _annotators(project)
        overlap = st.number_input(
            "Overlap",
            min_value=1,
            max_value=50,
            value=protocol.overlap,
            key=f"study-overlap-{protocol.name}",
            help="How many different annotators judge each item.",
        )
        sample = _Sample(None, None) if chosen else _sample(counts)
    design = StudyDesign(
        name=name,
        annotators=tuple(annotators),
        overlap=int(overlap),
        sample=sample.n,
        per=sample.per,
        seed=more.seed,
        order=more.order,
        rule=more.rule,
        lease_minutes=more.lease_minutes,
        show_scores=tuple(show_scores),
        settings={**more.settings, **(st.session_state.get(DRAWN, {}) if chosen else {})},
        items=chosen,
    )
    _size(len(chosen) if chosen else sample_size(counts, sample.n, sample.per), design)
    if st.button("Create study", type="primary", key="study-create"):
        with ui.problems():
            made = create_study(ui.db(), ui.actor(), project.project_id, protocol=protocol, design=design)
            st.session_state.pop(ITEMS, None)
            st.session_state.pop(DRAWN, None)
            there = {"study": str(made.study_id), "project": str(project.project_id)}
            st.switch_page(navigation.find("study"), query_params=there)
    with st.expander(f"{ui.plain(protocol.title)} as annotators read it"):
        protocol_view.draw(protocol)


def sample_size(counts: ItemCounts, n: int | None, per: str | None) -> int:
    """How many items a sample takes: n of each stratum, or the whole stratum where it is smaller."""
    if n is None:
        return counts.total
    strata: dict[tuple[str, ...], int] = {}
    for system, category, size in counts.cells:
        parts = {"system": system, "category": category}
        stratum = tuple(parts[part] for part in sorted((per or "").split(",")) if part)
        strata[stratum] = strata.get(stratum, 0) + size
    return sum(min(n, size) for size in strata.values())


# Parts ----------------------------------------------------------------------------------------------------------------


def _chosen_items() -> tuple[str, ...]:
    """The items that another page has chosen; a button gives them up."""
    chosen: tuple[str, ...] = st.session_state.get(ITEMS, ())
    if not chosen:
        return ()
    with st.container(horizontal=True, vertical_alignment="center", key="study-chosen"):
        first = ", ".join(chosen[:3]) + (", …" if len(chosen) > 3 else "")
        st.markdown(f"**{wording.count(len(chosen), 'chosen item')}**: {ui.plain(first)}")
        if st.button("Sample from all items instead", key="study-all-items", type="tertiary"):
            st.session_state.pop(ITEMS)
            st.session_state.pop(DRAWN, None)
            st.rerun()
    return chosen


def _protocol() -> Protocol | None:
    """The chosen protocol; None (and why, on the page) while there is none."""
    built_in = st.segmented_control(
        "Protocol", ["Built-in", "From a file"], default="Built-in", required=True, key="study-protocol-from"
    )
    if built_in == "Built-in":
        names = PROTOCOLS.names()
        name = st.selectbox(
            "Built-in protocol",
            names,
            index=names.index("qa_verification") if "qa_verification" in names else 0,
            format_func=lambda one: PROTOCOLS.get(one).title,
            label_visibility="collapsed",
            key="study-protocol",
        )
        found = PROTOCOLS.get(name)
        st.caption(ui.plain(found.summary))
        return found
    file = st.file_uploader("Protocol file (YAML)", type=["yaml", "yml"], key="study-protocol-file")
    if file is None:
        st.caption("A protocol file says what is shown and asked; the page Help explains its fields.")
        return None
    try:
        found = protocol_from_yaml(file.getvalue().decode("utf-8"), file.name)
    except UnicodeDecodeError:
        st.error(f"{ui.plain(file.name)} is not in UTF\\-8. Save it as UTF\\-8 and upload it again.")
        return None
    except InvalidInput as error:
        st.error("\n\n".join(ui.plain(line) for line in str(error).splitlines()))
        return None
    st.html(
        f'<p><strong>{escape(found.title)}</strong> <span class="assay-soft">version {found.version}, '
        f"{wording.count(len(found.criteria), 'criterion', 'criteria')} in "
        f"{wording.count(len(found.steps), 'step')}</span><br>{escape(found.summary)}</p>"
    )
    return found


def _annotators(project: ProjectRow) -> list[str]:
    members = [one for one in list_members(ui.db(), ui.actor(), project.project_id) if one.role in ANNOTATORS]
    names = [one.name for one in members]
    chosen = st.multiselect(
        "Annotators",
        names,
        default=[one.name for one in members if one.role is Role.ANNOTATOR],
        key="study-annotators",
        help="Members of the project who may annotate. The page People gives somebody a role.",
    )
    if not names:
        st.caption("Nobody may annotate in this project yet. Give somebody a role on the page People.")
    return chosen


@dataclass(frozen=True)
class _Sample:
    n: int | None
    per: str | None


def _sample(counts: ItemCounts) -> _Sample:
    how = st.selectbox("Sample", list(SAMPLES), format_func=SAMPLES.__getitem__, key="study-sample")
    if how == "all":
        return _Sample(None, None)
    most = max(1, counts.total)
    n = st.number_input(
        "Items" if how == "" else "Items of each",
        min_value=1,
        max_value=most,
        value=min(50, most),
        key="study-sample-size",
        help="A stratum that is smaller is taken whole.",
    )
    return _Sample(int(n), how or None)


def _scores(project: ProjectRow) -> Sequence[str]:
    known = sorted({one.scorer for one in list_scorers_in(ui.db(), ui.actor(), project.project_id)})
    chosen = st.multiselect(
        "Scores that are judged",
        known,
        key="study-scores",
        placeholder="The imported ones, else phrase_recall and hallucination",
        help="The latest score of each item is frozen into the study.",
    )
    if not known:
        st.caption("The project has no scores yet. Import some, or compute them on the page Scores.")
    return chosen


@dataclass(frozen=True)
class _More:
    order: str
    rule: str
    seed: int
    lease_minutes: int
    settings: dict[str, bool]


def _more() -> _More:
    with st.expander("Order, settling, blinding"):
        order = st.selectbox("Order of items", list(ORDERS), format_func=ORDERS.__getitem__, key="study-order")
        rule = st.selectbox("A label is settled", list(RULES), format_func=lambda one: _RULES[one], key="study-rule")
        seed = st.number_input(
            "Seed", min_value=0, value=0, key="study-seed", help="The same seed draws and orders the same items."
        )
        lease = st.number_input(
            "Lease in minutes",
            min_value=1,
            value=app_state().settings.lease_minutes,
            key="study-lease",
            help="How long an item is kept for an annotator who does not touch it.",
        )
        show_names = st.checkbox("Adjudicators see who gave which label", key="study-show-names")
        own = st.checkbox("Adjudicators may decide items that they annotated", key="study-own")
    settings = {"show_names": show_names, "allow_own_adjudication": own}
    return _More(order, rule, int(seed), int(lease), {name: True for name, wanted in settings.items() if wanted})


def _size(n_items: int, design: StudyDesign) -> None:
    """What pressing the button would make."""
    slots, people = n_items * design.overlap, len(design.annotators)
    each = f", about {-(-slots // people):,} for each of {wording.count(people, 'annotator')}" if people else ""
    words = f"{wording.count(n_items, 'item')} × {design.overlap} = {wording.count(slots, 'slot')}{each}."
    if people < design.overlap:
        words += f" An overlap of {design.overlap} needs {design.overlap} annotators; {people} chosen."
    st.html(f'<p class="assay-size" aria-live="polite">{escape(words)}</p>')
