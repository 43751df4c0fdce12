"""The form that makes a study: protocol, annotators, sample, and how many items and slots that would be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from html import escape
from itertools import chain, count
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from annotators.asking.asides import ASIDES, asked_beside
from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.asking.protocol_names import PROTOCOL_NAMES
from annotators.asking.rounds import DOUBLE, SINGLE
from annotators.asking.versioned import VersionedName
from annotators.criteria.suggested import PAGE_LABELS, USED, VERDICTS, suggested_by
from annotators.designing.arms import ITEMS as DEAL_ITEMS
from annotators.designing.arms import PEOPLE, Arm
from annotators.designing.design import BALANCED, DYNAMIC, RULES, StudyDesign
from annotators.designing.files import arms_from_yaml, arms_to_yaml, design_to_yaml, phases_from_yaml, phases_to_yaml
from annotators.designing.own_figures import OWN_FIGURES, PROGRESS
from annotators.designing.phases import Phases
from annotators.designing.talk import ALL, DISPUTED, NEVER
from annotators.errors import InvalidInput
from annotators.items.conditions import DESCRIPTIVE, condition
from annotators.items.sampling import BY_SCORE, OF_EVERY_ITEM, ORDERS, strata_fields
from annotators.protocols import PROTOCOLS, Material, Protocol
from app import ui, wording
from app.state import app_state
from app.uploads import chosen_file, read_by_others, text_of
from app.widgets import blocks, forms, protocol_view
from app.widgets.designing import known_items
from db.annotating.status import study_status
from db.designing.drafts import DraftOfStudy, find_draft, save_draft, start_draft
from db.designing.making import create_study, plan_study
from db.items.proposed import judges_by_protocol
from db.items.read import ItemCounts, metadata_fields
from db.libraries import Entry
from db.people.accounts import who_may_annotate
from db.permissions import Role
from db.projects import ProjectRow
from db.scores.summaries import list_scorers_in
from db.studies.design import LONGEST_NAME, list_studies, protocol_of, studies_to_compare, study_facts
from db.studies.library import list_protocols
from exports.reading.item_lists import listed_items

_ALL, _SOME = "all", "some"
_SAMPLES = {_ALL: "All items", _SOME: "Some items"}
FIRSTS = {
    "uncertain": "Those in the middle of the scale",
    "high": "High scores",
    "low": "Low scores",
}
SUGGESTIONS = {
    "never": "Not shown",
    "before": "Shown before the label is given, to be confirmed",
    "after": "Shown after one's own label, which can then be changed",
}
SOURCES = {
    PAGE_LABELS: "the import's evidence pages",
    USED: "the pipeline's used flags",
    VERDICTS: "a judge's verdicts",
}
_ON_PAGES = (Material.EVIDENCE, Material.DOCUMENTS)
_TALKS = {
    NEVER: "Never",
    DISPUTED: "Where they disagree, to resolve it together",
    ALL: "Every item (norming)",
}
QUEUES = {
    DYNAMIC: "Whoever comes first",
    BALANCED: "Allotted beforehand, so that every two people share as many",
}
_RULES = {"unanimous": "When all annotators agree", "majority": "When more than half agree"}


KEPT = (
    "study-name", "study-protocol-from", "study-protocol", "study-overlap-*", "study-annotators", "study-sample",
    "study-sample-size", "study-strata", "study-scores", "study-order", "study-order-score", "study-order-first",
    "study-rule", "study-seed", "study-lease", "study-show-names", "study-talk", "study-review", "study-stop-at",
    "study-own", "study-revisers", "study-own-protocol", "study-deadline", "study-until", "study-double", "study-part",
    "study-part-overlap", "study-most-overlap", "study-outside", "study-quota", "study-queue", "study-ask-*",
    "study-consent", "study-questions", "study-arms", "study-allot", "study-own-figures",
    "study-suggestions-*", "study-suggested-by-*", "study-where", "study-each-question-*", "study-with-documents",
    "study-keep-lacking", "study-pairs",
    *known_items.KEPT,
)  # fmt: skip
"""The widgets whose values are kept; a star stands for the name of a protocol."""

_FILE = "study-protocol-kept"
"""The name and text of the protocol file that was uploaded last: an uploader forgets it with the page."""

PROTOCOL = "study-protocol-wanted"
"""Where another page leaves the name and version (`NAME@VERSION`) of a protocol to make a study of."""

ITEMS = "study-items"
"""Where another page leaves the external ids of the items that a new study is to take."""

LISTED = "study-items-listed"
"""The name and the ids of the list of items that was uploaded last: an uploader forgets its file with the page."""

DRAFT = "study-draft"
"""The name of the draft that the form changes."""

QUOTAS = "study-quotas"
"""The quotas of some annotators that the draft which the form changes has, by name."""

DRAWN = "study-drawn"
"""Where it leaves with what probabilities they were drawn, for the study's settings."""


def draw(project: ProjectRow, counts: ItemCounts) -> None:
    """The form; on success the new study's page opens. Items that another page has chosen are its sample.

    What was typed is kept for this project until the study is made, on other pages as well.
    """
    with forms.kept("study", project.project_id, KEPT):
        made = _drawn(project, counts)
    if made is not None:
        leave(project)
        ui.go("study", **made, project=project.project_id)


def leave(project: ProjectRow) -> None:
    """The form begins afresh, with nothing chosen on other pages."""
    forms.forget("study", project.project_id)
    for key in (ITEMS, LISTED, DRAWN, DRAFT, QUOTAS, known_items.READ):
        st.session_state.pop(key, None)


def change(project: ProjectRow, draft: DraftOfStudy) -> None:
    """Open the form with what a draft says; saving it changes that draft."""
    design, protocol = draft.design, draft.protocol
    until = None if design.deadline is None else design.deadline.astimezone(ui.zone())
    usual, one_each = _usual_suggestions(protocol), protocol.shows_only_the_question()
    values: dict[str, Any] = {
        **_values_of_protocol(project, protocol),
        "study-name": design.name,
        "study-annotators": list(design.annotators),
        "study-sample": _ALL if design.sample is None else _SOME,
        "study-sample-size": design.sample,
        "study-strata": [name.strip() for name in (design.per or "").split(",") if name.strip()],
        "study-scores": list(dict.fromkeys(design.show_scores)),
        "study-order": design.order,
        "study-order-score": design.order_score,
        "study-order-first": design.order_first,
        "study-rule": design.rule,
        "study-seed": design.seed,
        "study-lease": design.lease_minutes,
        "study-show-names": design.show_names,
        "study-outside": design.outside,
        "study-quota": design.quota,
        "study-queue": design.queue,
        "study-part-overlap": design.part_overlap,
        "study-most-overlap": design.most_overlap,
        "study-own": design.allow_own_adjudication,
        "study-stop-at": design.stop_at,
        "study-revisers": design.separate_revisers,
        "study-double": design.adjudication == DOUBLE,
        "study-talk": design.talk,
        f"study-suggested-by-{protocol.name}": design.suggested_by or "",
        "study-where": list(dict.fromkeys(design.where)),
        "study-with-documents": design.with_documents,
        "study-keep-lacking": design.keep_lacking,
        **{f"study-ask-{name}": name in design.ask for name in ASIDES},
        "study-pairs": list(design.pairs),
        "study-own-figures": design.own_figures,
        "study-consent": design.phases.consent,
        "study-questions": phases_to_yaml(design.phases),
        "study-arms": arms_to_yaml(design.arms),
        "study-allot": design.allot,
        **known_items.values_of(design),
        "study-deadline": None if until is None else until.date(),
        "study-until": None if until is None else until.time().replace(second=0, microsecond=0),
    }
    exact: dict[str, tuple[Any, Any]] = {
        **known_items.exact_values_of(design),
        f"study-overlap-{protocol.name}": (design.overlap_of(protocol), design.overlap),
        f"study-suggestions-{protocol.name}": (design.suggestions or usual, design.suggestions),
        f"study-each-question-{protocol.name}": (
            one_each if design.one_per_question is None else design.one_per_question,
            design.one_per_question,
        ),
        "study-part": (forms.percent_of(design.part or 0), design.part),
        "study-review": (forms.percent_of(design.review_agreed), design.review_agreed),
        "study-until": ((values["study-deadline"], values["study-until"]), design.deadline),
        "study-strata": (values["study-strata"], design.per),
        "study-scores": (values["study-scores"], design.show_scores),
        "study-where": (values["study-where"], design.where),
        "study-ask": (tuple(name for name in ASIDES if name in design.ask), design.ask),
    }
    shown = {key: what for key, (what, _) in exact.items() if key not in {"study-ask", "study-repeats", *values}}
    _begin_with(project, values | shown, exact)
    st.session_state[DRAFT], st.session_state[QUOTAS] = design.name, design.quotas
    known_items.keep(design)
    if design.items:  # in their order, and with what they were drawn
        drawn = {
            "drawn_with": design.drawn_with,
            "not_drawn_from": design.not_drawn_from,
            "draw_seed": design.draw_seed,
        }
        st.session_state[ITEMS], st.session_state[DRAWN] = design.items, drawn
    ui.go("studies", project=project.project_id, new=1)


def begin_planned(
    project: ProjectRow,
    pilot: int,
    *,
    items: int,
    overlap: int,
    part: float | None = None,
    part_overlap: int | None = None,
) -> None:
    """Open the form for a study like a pilot (a study), with its protocol and annotators, and what a plan found."""
    status = study_status(ui.db(), ui.actor(), pilot)
    protocol = protocol_of(study_facts(ui.db(), ui.actor(), pilot))
    team = [row["annotator"] for row in status["annotators"] if not row["left"]]
    there = {row.name for row in who_may_annotate(ui.db(), ui.actor(), project.project_id)}
    annotators = [name for name in team if name in there]
    sizes = {"study-sample": _SOME, "study-sample-size": items, f"study-overlap-{protocol.name}": overlap}
    if part:
        sizes |= {"study-part": forms.percent_of(part), "study-part-overlap": part_overlap}
    _begin_with(project, {**_values_of_protocol(project, protocol), **sizes, "study-annotators": annotators})
    ui.go("studies", project=project.project_id, new=1)


def _begin_with(project: ProjectRow, values: dict[str, Any], exact: dict[str, tuple[Any, Any]] | None = None) -> None:
    """The form is to begin afresh with these values of its widgets, and with what these cannot show exactly."""
    leave(project)
    there = {key: value for key, value in values.items() if value is not None}
    forms.fill("study", project.project_id, KEPT, there, exact)


def _exactly(key: str, shown: Any, made: Any) -> Any:
    """What the draft that the form began with says, while this is still what is shown of it; else what is made."""
    return forms.exactly("study", key, shown, made)


def _values_of_protocol(project: ProjectRow, protocol: Protocol) -> dict[str, Any]:
    """How the form's widgets say this protocol: by its name if it has one, else as a file."""
    own = [str(name) for name, entry in _own_protocols(project) if entry.kept.digest() == protocol.digest()]
    if own:
        return {"study-protocol-from": "Own", "study-own-protocol": own[0]}
    if protocol.name in PROTOCOLS.names() and PROTOCOLS.get(protocol.name).digest() == protocol.digest():
        return {"study-protocol-from": "Built-in", "study-protocol": protocol.name}
    st.session_state[_FILE] = (f"{protocol.name}.yaml", protocol_to_yaml(protocol))
    return {"study-protocol-from": "From a file"}


def _drawn(project: ProjectRow, counts: ItemCounts) -> dict[str, int] | None:
    """Draws it; what the page of what was made is addressed by."""
    if (draft := st.session_state.get(DRAFT)) is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="study-of-draft"):
            st.markdown(f"This changes the draft **{ui.plain(draft)}**.")
            if st.button("Leave the draft as it is", key="study-leave-draft", type="tertiary"):
                leave(project)
                st.rerun()
    chosen = _chosen_items()
    left, right = st.columns(2, gap="large")
    with left:
        named = st.container()
        protocol = _protocol(project)
        if protocol is None:
            return None
        name = _name(named, project, protocol)
        show_scores = _scores(project, protocol)
        suggestions, suggested_by = _suggestions(project, protocol)
        more = _more(project, protocol)
        known = known_items.draw(project, protocol)
        phases, arms, allot = _phases(), *_arms()
    with right:
        annotators = _annotators(project)
        outside = int(
            st.number_input(
                "Annotators by invitation",
                min_value=0,
                key="study-outside",
                help="People without an account who come by a link: make it on the study's page, under Design.",
            )
        )
        quota = int(
            st.number_input(
                "Quota",
                min_value=0,
                key="study-quota",
                help="How many items one person judges at most, planted ones among them; 0: as many as there are.",
            )
        )
        queue = st.selectbox(
            "Who gets which item",
            list(QUEUES),
            format_func=QUEUES.__getitem__,
            key="study-queue",
            help="Allotted, everybody has as many items and keeps them; what somebody cannot do is handed on. Not with "
            "invitations, a quota, or more annotations where people disagree.",
        )
        overlap = _overlap(protocol, len(annotators) + outside)
        mixed = _mixed(overlap, len(annotators) + outside)
        sample = _sample(project, len(chosen) or counts.total)
        _how_many(project)
        pairs = _pairs(counts) if protocol.about_pairs else ()
        which = _which(counts, protocol, listed=not chosen)
    if phases is None or arms is None:
        return None
    design = StudyDesign(
        name=name,
        protocol=protocol.name,
        annotators=tuple(annotators),
        outside=outside,
        queue=queue,
        quota=quota or None,
        quotas={name: n for name, n in st.session_state.get(QUOTAS, {}).items() if name in annotators},
        overlap=_exactly(f"study-overlap-{protocol.name}", overlap, overlap),
        **mixed,
        sample=sample.n,
        per=sample.per,
        seed=more.seed,
        order=more.order,
        order_score=more.order_score,
        order_first=more.order_first,
        rule=more.rule,
        lease_minutes=more.lease_minutes,
        deadline=more.deadline,
        show_scores=tuple(show_scores),
        suggestions=suggestions,
        suggested_by=suggested_by,
        ask=more.ask,
        phases=phases,
        items=chosen or which.items,
        where=which.where,
        one_per_question=which.one_per_question,
        with_documents=which.with_documents,
        keep_lacking=which.keep_lacking,
        pairs=pairs,
        **more.adjudication,
        **known,
        arms=arms,
        allot=allot,
        **(st.session_state.get(DRAWN, {}) if chosen else {}),
    )
    plain = not chosen and set(strata_fields(sample.per or "system")) <= set(OF_EVERY_ITEM)
    n_items: int | None = sample_size(counts, sample.n, sample.per) if plain else 0
    notes: tuple[str, ...] = ()
    if (
        not plain
        or which.asked
        or protocol.about_pairs
        or protocol.about_scores
        or protocol.not_yet()
        or suggestions not in (None, "never")
        or known
        or arms
        or more.order == BY_SCORE
        or protocol.first_step_showing(*_ON_PAGES) is not None
        or not protocol.takes_any_item
    ):
        n_items, notes = _what_can_be_drawn(project, protocol, design)
    if not arms and n_items is not None:
        people, slots = len(annotators) + outside, design.n_slots(n_items, protocol)
        _size(n_items, overlap, slots, people, order=more.order, noun=protocol.noun)
    _notes(notes)
    made = _buttons(project, protocol, design, n_items)
    with st.expander(f"{ui.plain(protocol.title)} as annotators read it"):
        protocol_view.draw(protocol)
    return made


def _buttons(
    project: ProjectRow, protocol: Protocol, design: StudyDesign, n_items: int | None
) -> dict[str, int] | None:
    """What can be made of the design, if it is not refused; by what the page of what was made is addressed."""
    changed: str | None = st.session_state.get(DRAFT)
    made: dict[str, int] | None = None
    needs = _needs(design, n_items)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button("Create study", type="primary", key="study-create", disabled=bool(needs))
        kept = st.button(
            "Save as draft",
            key="study-draft-save",
            disabled=bool(needs),
            help="Nothing is frozen, and nobody gets items until the draft is started.",
        )
        if needs:
            st.html(f'<span class="assay-need">{escape(" ".join(needs))}</span>')
        st.download_button(
            "Design as YAML",
            lambda: _as_yaml(project, protocol, design),
            file_name="design.yaml",
            mime="application/yaml",
            key="study-design-yaml",
            type="tertiary",
            on_click="ignore",
            help="The whole design as a file. `assay study create PROJECT NAME --design design.yaml` makes this study.",
        )
    if pressed:
        with ui.problems(), st.spinner(f"Making the study of {wording.count(n_items or 0, protocol.noun)}"):
            if changed is None:
                started = create_study(ui.db(), ui.actor(), project.project_id, protocol=protocol, design=design)
            else:
                _save_draft(project, protocol, design, changed)
                started = start_draft(ui.db(), ui.actor(), project.project_id, name=design.name)
            made = {"study": started.study_id}
    if kept:
        with ui.problems():
            _save_draft(project, protocol, design, changed)
            draft = find_draft(ui.db(), ui.actor(), project.project_id, name=design.name)
            made = None if draft is None else {"draft": draft.draft_id}
    return made


def _save_draft(project: ProjectRow, protocol: Protocol, design: StudyDesign, changed: str | None) -> None:
    about: dict[str, Any] = {"protocol": protocol, "design": design, "instead_of": changed or ""}
    save_draft(ui.db(), ui.actor(), project.project_id, **about)


def _as_yaml(project: ProjectRow, protocol: Protocol, design: StudyDesign) -> str:
    """The design as a file: a protocol that is not known by its name is written out in it."""
    named = {str(name): entry.kept for name, entry in _own_protocols(project)}
    named |= {
        built_in.name: built_in for built_in in PROTOCOLS if built_in.name not in {p.name for p in named.values()}
    }
    called = next((name for name, known in named.items() if known.digest() == protocol.digest()), None)
    design = design.model_copy(update={"protocol": called or protocol.name})
    return design_to_yaml(design, None if called else protocol)


def _needs(design: StudyDesign, n_items: int | None) -> list[str]:
    """What is missing before the study can be made, a sentence each."""
    needs = []
    if not design.annotators and not design.outside:
        needs.append("Needs annotators: choose at least one.")
    if n_items is None:
        needs.append("Needs what stands above to be mended.")
    elif not n_items:
        needs.append("Needs items: none can be drawn.")
    return needs


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


def _what_can_be_drawn(
    project: ProjectRow, protocol: Protocol, design: StudyDesign
) -> tuple[int | None, tuple[str, ...]]:
    """How many items a study takes of which not all can be drawn, and why, in words; None where it is refused."""
    try:
        plan = plan_study(ui.db(), ui.actor(), project.project_id, protocol=protocol, design=design, people=False)
    except InvalidInput as error:
        return None, tuple(dict.fromkeys(str(error).splitlines()))
    arms = [
        f"Arm {arm.name}: {wording.count(arm.n_items, protocol.noun)}, {wording.count(arm.n_slots, 'slot')}."
        for arm in plan.arms
    ]
    return plan.n_items, (*arms, *plan.notes)


def _notes(notes: Sequence[str]) -> None:
    """What cannot be drawn or judged, a line each."""
    if notes:
        lines = "".join(f'<p style="margin:2px 0">{wording.html(note)}</p>' for note in notes)
        st.html(f'<div class="assay-left-out" data-testid="left-out">{lines}</div>')


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


def _protocol(project: ProjectRow) -> Protocol | None:
    """The chosen protocol; None (and why, on the page) while there is none."""
    own = {str(named): entry.kept for named, entry in _own_protocols(project)}
    origins = ["Built-in", *(["Own"] if own else []), "From a file"]
    wanted = st.session_state.pop(PROTOCOL, None)
    if wanted in own:
        st.session_state["study-protocol-from"], st.session_state["study-own-protocol"] = "Own", wanted
    elif wanted is not None:
        st.session_state["study-protocol-from"] = "Built-in"
        st.session_state["study-protocol"] = PROTOCOL_NAMES.parse(wanted).name
    origin = st.segmented_control("Protocol", origins, default="Built-in", required=True, key="study-protocol-from")
    if origin == "Built-in":
        names = PROTOCOLS.names()
        name = st.selectbox(
            "Built-in protocol",
            names,
            index=names.index("qa_verification") if "qa_verification" in names else 0,
            format_func=lambda protocol: PROTOCOLS.get(protocol).title,
            label_visibility="collapsed",
            key="study-protocol",
        )
        found = PROTOCOLS.get(name)
        st.caption(ui.plain(found.summary))
        return found
    if origin == "Own":
        chosen = st.selectbox(
            "Protocol of the project",
            list(own),
            format_func=lambda named: f"{own[named].title}, version {own[named].version}",
            label_visibility="collapsed",
            key="study-own-protocol",
        )
        st.caption(ui.plain(own[chosen].summary))
        return own[chosen]
    file = chosen_file("Protocol file (YAML)", ["yaml", "yml"], key="study-protocol-file")
    if file is not None:
        with ui.problems():
            st.session_state[_FILE] = (file.name, text_of(file))
    name, text = st.session_state.get(_FILE, ("", ""))
    if not name:
        st.caption("A protocol file says what is shown and asked; the page Help explains its fields.")
        return None
    if file is None:
        st.caption(f"{ui.plain(name)} is kept from before; choose another file to replace it.")
    try:
        found = protocol_from_yaml(text, name)
    except InvalidInput as error:
        st.error(ui.lines(str(error)))
        return None
    st.html(
        f'<p><strong>{escape(found.title)}</strong> <span class="assay-soft">version {found.version}, '
        f"{wording.count(len(found.criteria), 'criterion', 'criteria')} in "
        f"{wording.count(len(found.steps), 'step')}</span><br>{escape(found.summary)}</p>"
    )
    return found


def _own_protocols(project: ProjectRow) -> Iterator[tuple[VersionedName, Entry[Protocol]]]:
    """The project's own, by title; of each the newest version first."""
    entries = list_protocols(ui.db(), ui.actor(), project.project_id)
    titles = {entry.kept.name: entry.kept.title for entry in reversed(entries)}
    for entry in sorted(entries, key=lambda entry: (titles[entry.kept.name], entry.kept.name)):
        yield VersionedName(entry.kept.name, entry.kept.version), entry


def _name(where: DeltaGenerator, project: ProjectRow, protocol: Protocol) -> str:
    """What is typed, else the protocol's title with the first number that is free."""
    taken = {row.name for row in list_studies(ui.db(), ui.actor(), project.project_id)}
    numbered = chain([protocol.title], (f"{protocol.title} {number}" for number in count(2)))
    suggested = next(name for name in numbered if name not in taken)
    typed = where.text_input(
        "Name of the study",
        max_chars=LONGEST_NAME,
        key="study-name",
        placeholder=suggested,
        help="Left empty, it is called as is suggested.",
    )
    return typed.strip() or suggested


def _annotators(project: ProjectRow) -> list[str]:
    """All who are annotators by their role; me where nobody is."""
    me = ui.actor().name
    may = who_may_annotate(ui.db(), ui.actor(), project.project_id)
    names = [row.name for row in may]
    chosen = st.multiselect(
        "Annotators",
        forms.options_with(names, "study-annotators"),
        default=[row.name for row in may if row.role is Role.ANNOTATOR] or [name for name in names if name == me],
        key="study-annotators",
        format_func=lambda name: (
            f"{name} (you)" if name == me else name if name in names else f"{name} (may not annotate here any more)"
        ),
        help="Members of the project who may annotate, and administrators.",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(names) < 2:
            st.caption("Nobody else may annotate in this project yet.")
        if st.button("Add people…", type="tertiary", key="study-people", help="What is typed here is kept."):
            ui.go("people", project=project.project_id)
    return chosen


def _overlap(protocol: Protocol, annotators: int) -> int:
    """How many annotators judge each item: never more than are chosen, and the form says so."""
    key, most = f"study-overlap-{protocol.name}", max(1, annotators)
    st.session_state[key] = min(st.session_state.get(key, protocol.overlap), most)
    overlap = st.number_input(
        "Overlap",
        min_value=1,
        max_value=most,
        key=key,
        help="How many different annotators judge each item.",
    )
    if annotators:
        people = "annotator is chosen" if annotators == 1 else "annotators are chosen"
        usual = f" The protocol suggests {protocol.overlap}." if protocol.overlap > most else ""
        st.caption(f"At most {most}: {annotators:,} {people}, and each judges an item once.{usual}")
    return int(overlap)


def _mixed(overlap: int, annotators: int) -> dict[str, Any]:
    """More annotations of a part of the items, and of those on which people disagree, as far as there are people."""
    if annotators <= overlap:
        return {}
    for key in ("study-part-overlap", "study-most-overlap"):
        if key in st.session_state:
            st.session_state[key] = min(max(st.session_state[key], overlap), annotators)
    with st.expander("More annotations of some items"):
        share = st.number_input(
            "Percent of the items that have more",
            min_value=0.0,
            max_value=100.0,
            step=1.0,
            format="%g",
            key="study-part",
            help="Drawn by the seed, of each system and category in proportion. Agreement is measured on them.",
        )
        of_part = st.number_input(
            "Overlap of these", min_value=overlap, max_value=annotators, key="study-part-overlap", disabled=not share
        )
        most = st.number_input(
            "Up to so many where people disagree",
            min_value=overlap,
            max_value=annotators,
            key="study-most-overlap",
            help="An item on which its annotators disagree is given to one more, and again, up to so many.",
        )
    mixed: dict[str, Any] = {"most_overlap": int(most)} if most > overlap else {}
    part = forms.share("study", "study-part", share)
    return mixed | ({"part": part, "part_overlap": int(of_part)} if share and of_part > overlap else {})


@dataclass(frozen=True)
class _Sample:
    n: int | None
    per: str | None


def _sample(project: ProjectRow, most: int) -> _Sample:
    """How many of so many items at most are drawn, of each stratum where there are any."""
    fields = (*DESCRIPTIVE, *metadata_fields(ui.db(), ui.actor(), project.project_id))
    left, right = st.columns([2, 3])
    how = left.selectbox("Sample", list(_SAMPLES), format_func=_SAMPLES.__getitem__, key="study-sample")
    strata = right.multiselect(
        "Stratify by",
        forms.options_with(fields, "study-strata"),
        key="study-strata",
        accept_new_options=True,
        placeholder="Nothing; choose, or type a field",
        help="A field of the items, anything in their metadata among them. So many are drawn of each of its values. "
        "What is dealt out or drawn besides (arms, a part with more annotations) is in proportion to them.",
    )
    per = _exactly("study-strata", strata, ",".join(strata) or None)
    if how == _ALL:
        return _Sample(None, per)
    n = st.number_input(
        "Items of each" if strata else "Items",
        min_value=1,
        value=max(1, min(50, most)),
        key="study-sample-size",
        help="A stratum that is smaller is taken whole.",
    )
    if not strata and n > most:
        st.caption(f"There are {most:,} of the {n:,} items.")
    return _Sample(int(n), per)


def sample_in_words(n: int | None, per: str | None) -> str:
    """`20 items of each system and category`, or `all items`."""
    items = "all items" if n is None else wording.count(n, "item")
    return items if n is None or not per else f"{items} of each {' and '.join(strata_fields(per))}"


def _how_many(project: ProjectRow) -> None:
    """Where a study can serve as a pilot, the way to a plan of how many items and annotators are needed."""
    pilots = studies_to_compare(ui.db(), ui.actor(), project.project_id)
    if pilots:
        to = blocks.to("Plan from a pilot", "agreement", study=pilots[-1], show="planning", project=project.project_id)
        st.html(f'<div class="assay-links"><span class="assay-soft">How many are needed?</span>{to.html}</div>')


def _pairs(counts: ItemCounts) -> tuple[str, ...]:
    """The systems whose answers are judged against each other."""
    systems = list(counts.by_system())
    chosen = st.multiselect(
        "Systems to compare",
        forms.options_with(systems, "study-pairs"),
        default=systems[:2],
        key="study-pairs",
        help="Each two of them are a pair, where both have an answer to the question. Which stands left is drawn by "
        "the seed; annotators do not see the names.",
    )
    return tuple(chosen)


@dataclass(frozen=True)
class _Which:
    items: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    one_per_question: bool | None = None
    with_documents: bool = False
    keep_lacking: bool = False
    asked: bool = False


def _which(counts: ItemCounts, protocol: Protocol, *, listed: bool) -> _Which:
    """Which items are taken from: conditions, a list of ids, one of each question, only with documents.

    A list is asked for where it may be `listed`: not beside items that were chosen on another page.
    """
    usual = protocol.shows_only_the_question()
    with st.expander("Which items"):
        offered = [f"system={name}" for name in counts.by_system()]
        offered += [f"category={name}" for name in counts.by_category() if name]
        where = st.multiselect(
            "Only items of which this holds",
            forms.options_with(offered, "study-where"),
            key="study-where",
            accept_new_options=True,
            placeholder="Choose, or type FIELD=VALUE",
            help="A field is system, category, language, role or kind of evidence, score:NAME, or anything in the "
            "items' metadata. Numbers can be compared, as in score:rouge_l>=0.5. Several values of one field are "
            "alternatives.",
        )
        with ui.problems():
            for text in where:
                condition(text)
        items = _list_of_items() if listed else ()
        one_each = st.checkbox(
            "One item of each question",
            value=usual,
            key=f"study-each-question-{protocol.name}",
            help="Drawn by the seed. So it is by itself where only the question is shown.",
        )
        with_documents = st.checkbox("Only items with a document that can be looked at", key="study-with-documents")
        keep_lacking = st.checkbox(
            "Also items that lack what they are judged by",
            key="study-keep-lacking",
            help="Such as a reference answer. They are left out by themselves; of those that stay, annotators read in "
            "its place what is missing.",
        )
    asked = bool(where or items or one_each or with_documents)
    each = _exactly(f"study-each-question-{protocol.name}", one_each, None if one_each == usual else one_each)
    return _Which(items, _exactly("study-where", where, tuple(where)), each, with_documents, keep_lacking, asked)


def _list_of_items() -> tuple[str, ...]:
    """The ids of the list that was uploaded last, in its order; none where there is none."""
    with ui.problems():
        file = chosen_file(
            "Only these items",
            ["txt", "csv", "tsv"],
            key="study-items-file",
            help="Ids, one a line, or a table with a column item. The order as they were named is that of the list.",
        )
        if file is not None:
            st.session_state.pop(LISTED, None)
            with read_by_others(file) as path:
                ids = listed_items(path)
            st.session_state[LISTED] = (file.name, ids)
    name, listed = st.session_state.get(LISTED, ("", ()))
    if listed and file is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{wording.count(len(listed), 'item')} of {ui.plain(name)}")
            if st.button("Leave the list out", type="tertiary", key="study-items-out"):
                del st.session_state[LISTED]
                st.rerun()
    return tuple(listed)


def _scores(project: ProjectRow, protocol: Protocol) -> Sequence[str]:
    """The scorers whose scores are judged; of a protocol that is not about scores what a draft says of them."""
    if not protocol.about_scores:
        said: Sequence[str] = _exactly("study-scores", st.session_state.get("study-scores", []), ())
        return said
    known = sorted({used.scorer for used in list_scorers_in(ui.db(), ui.actor(), project.project_id)})
    chosen = st.multiselect(
        "Scores that are judged",
        forms.options_with(known, "study-scores"),
        key="study-scores",
        placeholder="The imported ones, else phrase_recall and hallucination",
        help="The latest score of each item is frozen into the study.",
    )
    if not known:
        st.caption("The project has no scores yet. Import some, or compute them on the page Scores.")
    found: Sequence[str] = _exactly("study-scores", chosen, chosen)
    return found


def _usual_suggestions(protocol: Protocol) -> str:
    """When what models propose is shown where a design does not say it."""
    return "never" if protocol.first_step_showing(Material.SUGGESTIONS) is None else "before"


def _suggestions(project: ProjectRow, protocol: Protocol) -> tuple[str | None, str | None]:
    """When what models propose is shown, and the judge that proposes it, if one does; nothing where nothing is."""
    comes = not protocol.about_pairs and any(protocol.suggests_at(step) for step in range(len(protocol.steps)))
    judges = judges_by_protocol(ui.db(), ui.actor(), project.project_id, protocol=protocol)
    key, by_key = f"study-suggestions-{protocol.name}", f"study-suggested-by-{protocol.name}"
    judges = [judge for judge in forms.options_with(judges, by_key) if judge]
    if not comes and not judges:
        return _exactly(key, st.session_state.get(key), None), None
    sources = dict.fromkeys(
        SOURCES.get(source, f"the score {source}")
        for criterion in protocol.criteria
        if (source := suggested_by(criterion)) is not None
    )
    when: str = st.selectbox(
        "Suggestions of models",
        list(SUGGESTIONS),
        index=list(SUGGESTIONS).index(_usual_suggestions(protocol)),
        format_func=SUGGESTIONS.__getitem__,
        key=key,
        help=f"They come from {' and '.join(sources) or 'a judge'}. People who see them first tend to agree with them: "
        "shown after, both labels are kept. What was shown stands with each label, and stays as it is for the whole "
        "study.",
    )
    said: str | None = _exactly(key, when, when)
    if when == "never" or not judges:
        return said, None
    by: str = st.selectbox(
        "Suggested by",
        ["", *judges] if comes else judges,
        format_func=lambda judge: judge or "what comes with the items",
        key=by_key,
        help="A judge that has labelled items by exactly this protocol: what it has said of them by now is suggested.",
    )
    return when if by else said, by or None


@dataclass(frozen=True)
class _More:
    order: str
    order_score: str | None
    order_first: str | None
    rule: str
    seed: int
    lease_minutes: int
    deadline: datetime | None
    adjudication: dict[str, Any]
    ask: tuple[str, ...]


def _more(project: ProjectRow, protocol: Protocol) -> _More:
    with st.expander("Order, settling, deadline, blinding"):
        order = st.selectbox("Order of items", list(ORDERS), format_func=ORDERS.__getitem__, key="study-order")
        score, first = _order_by_score(project) if order == BY_SCORE else (None, None)
        rule = st.selectbox(
            "A label is settled", list(RULES), format_func=lambda rule_name: _RULES[rule_name], key="study-rule"
        )
        seed = st.number_input(
            "Seed", value=0, step=1, key="study-seed", help="The same seed draws and orders the same items."
        )
        lease = st.number_input(
            "Lease in minutes",
            min_value=1,
            value=app_state().settings.lease_minutes,
            key="study-lease",
            help="How long an item is kept for an annotator who does not touch it.",
        )
        deadline = _deadline()
        double = st.checkbox(
            "Two adjudicators decide each disputed item, blind to each other",
            key="study-double",
            help="What both decide alike is final; the rest goes to a third person. How far they agree is reported.",
        )
        talk = st.selectbox(
            "Annotators of an item talk about it",
            list(_TALKS),
            format_func=_TALKS.__getitem__,
            key="study-talk",
            help="Once all of them have labelled it they see each other's labels, write to each other and may change "
            "theirs. Nobody else reads it, and what each said before is kept.",
        )
        seen = st.selectbox(
            "Annotators see of their own figures",
            list(OWN_FIGURES),
            index=list(OWN_FIGURES).index(PROGRESS),
            format_func=OWN_FIGURES.__getitem__,
            key="study-own-figures",
            help="On their page My work, of themselves only, as of the day before.",
        )
        review = st.number_input(
            "Agreed items that adjudicators look at as well, in percent",
            min_value=0.0,
            max_value=100.0,
            value=0.0,
            step=1.0,
            format="%g",
            key="study-review",
            help="So many of the items on which annotators agree, drawn by the seed, come among the disputed ones. "
            "Which share of their labels is overturned is reported.",
        )
        stop_at = st.number_input(
            "May end when a mean is known to ±",
            min_value=0.0,
            value=None,
            step=0.01,
            format="%.3f",
            key="study-stop-at",
            help="Half the width of the interval that holds at every look, on the labels' scale, such as 0.05. "
            "The page Fewer labels says when it is reached.",
        )
        show_names = st.checkbox("Adjudicators see who gave which label", key="study-show-names")
        own = st.checkbox("Adjudicators may decide items that they annotated", key="study-own")
        others = st.checkbox("Nobody revises an item that they judged, decided or revised before", key="study-revisers")
        ask = tuple(
            name
            for name, aside in ASIDES.items()
            if any(map(asked_beside, protocol.criteria))
            and st.checkbox(f"Ask beside each label: {aside.title}", key=f"study-ask-{name}")
        )
    adjudication = {
        "show_names": show_names,
        "allow_own_adjudication": own,
        "separate_revisers": others,
        "adjudication": DOUBLE if double else SINGLE,
        "review_agreed": forms.share("study", "study-review", review),
        "stop_at": stop_at or None,
        "talk": talk,
        "own_figures": seen,
    }
    ask = _exactly("study-ask", ask, ask)
    return _More(order, score, first, rule, int(seed), int(lease), deadline, adjudication, ask)


def _deadline() -> datetime | None:
    """The moment after which nobody gets items."""
    left, right = st.columns(2)
    day = left.date_input(
        "Last day (optional)",
        value=None,
        max_value=date.max,
        key="study-deadline",
        help="Nobody gets items after this time of it.",
    )
    until = right.time_input("Until", value=time(23, 59), step=60, key="study-until", disabled=day is None)
    last = day if isinstance(day, date) else None
    made = None if last is None else datetime.combine(last, until or time(23, 59), ui.zone())
    found: datetime | None = _exactly("study-until", (last, until), made)
    return found


def _order_by_score(project: ProjectRow) -> tuple[str | None, str | None]:
    """The score that items are ordered by, and which of its values come first."""
    used = list_scorers_in(ui.db(), ui.actor(), project.project_id)
    known = sorted({f"{row.scorer}/{value}" for row in used for value in row.values})
    score = st.selectbox(
        "Score that the order goes by",
        forms.options_with(known, "study-order-score"),
        index=None,
        key="study-order-score",
        placeholder="Choose a score",
    )
    if not known:
        st.caption("The project has no scores yet. Import some, or compute them on the page Scores.")
    first = st.radio(
        "What comes first as a rule", list(FIRSTS), format_func=FIRSTS.__getitem__, key="study-order-first"
    )
    st.caption(
        "You can stop at any time: what is shown of all items then weighs each label by the probability with which its "
        "item came so early."
    )
    return score, first


def _phases() -> Phases | None:
    """What is put to annotators around the items; None while it cannot be read, which is said."""
    with st.expander("Consent and questions"):
        consent = st.text_area(
            "Consent (Markdown)",
            key="study-consent",
            help="Annotators have to agree to it before anything else. Empty asks for none.",
        )
        asked = st.text_area(
            "Questions before the first item and after the last (YAML)",
            key="study-questions",
            height=200,
            placeholder=_QUESTIONS,
            help="Written as the criteria of a protocol file: choice, several, grade, number and text.",
        )
        try:
            return phases_from_yaml(consent, asked)
        except InvalidInput as error:
            st.error(ui.lines(str(error)))
    return None


def _arms() -> tuple[tuple[Arm, ...] | None, str]:
    """The arms, None while they cannot be read, which is said; and what is dealt out to them."""
    with st.expander("Arms"):
        allot = st.selectbox(
            "Dealt out at random",
            list(_ALLOTS),
            format_func=_ALLOTS.__getitem__,
            key="study-allot",
            help="Each arm is a study of its own over the sample; nobody learns which arm is which.",
        )
        text = st.text_area(
            "Arms, and what differs (YAML)",
            key="study-arms",
            placeholder=_ARMS,
            help="An arm may differ in protocol, suggestions, overlap, order, rule, ask and talk. Empty: one study.",
        )
        try:
            return arms_from_yaml(text), allot
        except InvalidInput as error:
            st.error(ui.lines(str(error)))
    return None, allot


_ALLOTS = {PEOPLE: "People: each arm has all items", DEAL_ITEMS: "Items: everybody is in each arm"}
_ARMS = """arms:
  - {name: a, suggestions: before}
  - {name: b, suggestions: never}"""
_QUESTIONS = """before:
  - {name: field, title: "What do you work in?", labels: [{value: energy}, {value: law}]}
after:
  - {name: why, title: "Why?", kind: text, required: false}"""


def _size(n_items: int, overlap: int, slots: int, people: int, *, order: str, noun: str) -> None:
    """What pressing the button would make."""
    each = f", about {-(-slots // people):,} for each of {wording.count(people, 'annotator')}" if people else ""
    more = f" + {slots - n_items * overlap:,}" if slots > n_items * overlap else ""
    words = f"{wording.count(n_items, noun)} × {overlap}{more} = {wording.count(slots, 'slot')}{each}."
    words += f" {ORDERS[order]}."
    st.html(f'<p class="assay-size" aria-live="polite">{escape(words)}</p>')
