"""The way to the first label: import, people, study, label; each a button, each unmet need a sentence beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import streamlit as st

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from app import ui, wording
from app.state import app_state
from db.designing.making import create_study
from db.items.read import item_counts
from db.people.accounts import who_may_annotate
from db.permissions import Actor
from db.projects import ProjectRow, count_documents
from db.studies.design import StudyRow, list_studies

DEFAULT_PROTOCOL = "qa_verification"
"""What is asked where nobody has chosen a protocol."""


@dataclass(frozen=True)
class NextStep:
    """One step of a project. `need` is what is missing before it can be done; "" when it can be."""

    name: str
    about: str
    button: str
    act: Callable[[], None]
    done: bool = False
    need: str = ""


@dataclass(frozen=True)
class Standing:
    """What a project has: how many items and documents, who may annotate, its studies."""

    items: int
    documents: int
    people: list[str]
    studies: list[StudyRow]

    @property
    def labelled(self) -> bool:
        """Whether anybody has submitted anything."""
        return any(row.submitted for row in self.studies)

    def in_words(self) -> str:
        """`1,033 items, 93 documents, 6 people`."""
        return ", ".join(
            (
                wording.count(self.items, "item"),
                wording.count(self.documents, "document"),
                f"{wording.count(len(self.people), 'person', 'people')} who may annotate",
            )
        )


def standing(project: ProjectRow, studies: Sequence[StudyRow]) -> Standing:
    """What the project has; `studies` are the reader's, of all projects. All of it is counted in indexes or kept."""
    actor = ui.actor()
    documents = count_documents(ui.db(), actor, project.project_id)
    people = [row.name for row in who_may_annotate(ui.db(), actor, project.project_id)]
    items = item_counts(ui.db(), actor, project.project_id).total
    own = [row for row in studies if row.project_id == project.project_id]
    return Standing(items, documents, people, own)


def steps(project: ProjectRow, found: Standing, actor: Actor) -> list[NextStep]:
    """The four steps of the project for its researcher."""
    here = project.project_id
    others = [name for name in found.people if name != actor.name]
    mine = _mine(found.studies)
    no_items = "" if found.items else "Needs items: import first."
    return [
        NextStep(
            "Import",
            f"{wording.count(found.items, 'item')}, {wording.count(found.documents, 'document')}."
            if found.items or found.documents
            else "Documents, questions and answers, from files. A preview before anything is written.",
            "Import…",
            partial(ui.go, "imports", project=here),
            done=bool(found.items),
        ),
        NextStep(
            "Add people",
            f"{wording.count(len(others), 'person', 'people')} besides you may annotate."
            if others
            else "Name, role and sign-in address, several lines at once. Not needed if you annotate yourself.",
            "Add people…",
            partial(ui.go, "people", project=here),
            done=bool(others),
        ),
        NextStep(
            "Make a study",
            f"{wording.count(len(found.studies), 'study', 'studies')}: {found.studies[-1].name} is the latest."
            if found.studies
            else "A protocol, a sample of the items, annotators.",
            "New study…",
            partial(ui.go, "studies", project=here, new=1),
            done=bool(found.studies),
            need=no_items,
        ),
        NextStep(
            "Label",
            f"{mine.done:,} of about {mine.of:,} done in {mine.name}."
            if mine
            else "You are no annotator of a study here: make one that has you."
            if found.studies
            else "All items, by you alone, with the usual questions (QA verification). Or make a study first.",
            "Annotate myself",
            partial(annotate_myself, project, found.studies),
            done=found.labelled,
            need=no_items,
        ),
    ]


def _mine(studies: Sequence[StudyRow]) -> StudyRow | None:
    """The newest study that has work for me, else the newest in which I annotate."""
    own = [row for row in reversed(studies) if row.is_annotator]
    return next((row for row in own if row.left_for_me), own[0] if own else None)


_STYLE = """
.assay-step { display: grid; grid-template-columns: 1.6rem 8.5rem minmax(0, 1fr); gap: 4px 14px; align-items: center; }
.assay-step b { display: grid; place-items: center; width: 1.5rem; height: 1.5rem; border-radius: 50%;
  font-size: 0.84rem; font-weight: 600; border: 1.5px solid var(--assay-line); color: var(--assay-soft); }
.assay-step strong { font-weight: 600; }
.assay-step span, .assay-step-later strong { color: var(--assay-soft); }
.assay-step-now b { background: var(--assay-accent); border-color: var(--assay-accent); color: var(--assay-on-accent); }
.assay-step-done b { border-color: var(--assay-ok); color: var(--assay-ok); }
[class*="st-key-step-"] { border-top: 1px solid var(--assay-line); padding: 0.35rem 0.8rem 0.1rem; }
[class*="st-key-step-now"] { background: color-mix(in srgb, var(--assay-accent) 7%, var(--assay-panel));
  box-shadow: inset 3px 0 var(--assay-accent); }
@media (max-width: 640px) {
  .assay-step { grid-template-columns: 1.6rem minmax(0, 1fr); }
  .assay-step span { grid-column: 2; }
}
"""


def draw(project: ProjectRow, found: Standing) -> None:
    """The steps as one column; the first that is open stands out."""
    st.html(f"<style>{_STYLE}</style>")
    todo = steps(project, found, ui.actor())
    first = next((step for step in todo if not step.done and not step.need and step.name != "Add people"), None)
    for number, step in enumerate(todo, 1):
        mark = "✓" if step.done else str(number)
        state = "done" if step.done else "now" if step is first else "later" if step.need else "open"
        with st.container(
            horizontal=True, vertical_alignment="center", key=f"step-{state}-{project.project_id}-{number}"
        ):
            spoken = "done" if step.done else f"step {number}"
            st.html(
                f'<div class="assay-step assay-step-{state}"><b aria-label="{spoken}">{mark}</b>'
                f"<strong>{escape(step.name)}</strong><span>{escape(step.need or step.about)}</span></div>"
            )
            pressed = st.button(
                step.button,
                type="primary" if step is first else "secondary",
                disabled=bool(step.need),
                key=f"do-{project.project_id}-{number}",
                width=150,
            )
        if pressed:
            with ui.problems():
                step.act()


def after_an_import(project: ProjectRow) -> None:
    """What comes next once items are there: label them oneself, have others do it, or look at them first."""
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    has_items = bool(item_counts(ui.db(), ui.actor(), project.project_id).total)
    here = project.project_id
    with st.container(horizontal=True, vertical_alignment="center", key="after-import"):
        alone = st.button("Annotate myself", type="primary", disabled=not has_items, key="after-import-annotate")
        study = st.button("New study…", disabled=not has_items, key="after-import-study")
        look = st.button("Look at the data", key="after-import-data")
        if not has_items:
            st.html('<span class="assay-need">A study needs items: import them first.</span>')
    with ui.problems():
        if alone:
            annotate_myself(project, studies)
        if study:
            ui.go("studies", project=here, new=1)
        if look:
            ui.go("data", project=here)


def annotate_myself(project: ProjectRow, studies: Sequence[StudyRow]) -> None:
    """Straight to labelling: in the study that has work for me; without any study, in a new one with defaults.

    Where there are studies, but none with me, the form of a new one opens.
    """
    mine = _mine(studies)
    if mine is None and studies:
        ui.go("studies", project=project.project_id, new=1)
    study_id = mine.study_id if mine else _study_of_my_own(project)
    ui.go("annotate", project=project.project_id, study=study_id)


def _study_of_my_own(project: ProjectRow) -> int:
    """A study of all items with the usual protocol and me as its only annotator."""
    actor, protocol = ui.actor(), PROTOCOLS.get(DEFAULT_PROTOCOL)
    design = StudyDesign(
        name=protocol.title,
        annotators=(actor.name,),
        overlap=1,
        lease_minutes=app_state().settings.lease_minutes,
    )
    with st.spinner("Making the study"):
        return create_study(ui.db(), actor, project.project_id, protocol=protocol, design=design).study_id
