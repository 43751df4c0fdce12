"""Home: what waits for me, each one click away; for researchers, each project's next step and how its studies stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import ui, wording
from app.state import app_state
from app.widgets import blocks, next_steps
from app.widgets.doing import needs
from app.widgets.next_steps import Standing
from db.adjudicating.adjudications import MOST_COUNTED, disputes_for_me
from db.adjudicating.threads import ThreadRow, my_threads
from db.models import StudyState
from db.needs.base import Need
from db.needs.of_studies import my_needs
from db.permissions import Actor, Role, Roles
from db.projects import ProjectRow, create_project, my_projects
from db.releasing.proposals import count_proposals
from db.releasing.revising import MOST, count_to_revise
from db.studies.design import StudyRow, my_studies

_STYLE = """
[class*="st-key-card-"]:not([class*="st-key-card-more"]) { background: var(--assay-panel);
  --assay-bg: var(--assay-panel); }
.assay-card-head { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline; }
.assay-card-head h2 { font-size: 1.1rem; font-weight: 600; margin: 0; padding: 0; overflow-wrap: anywhere; }
.assay-small-head { font-size: 0.84rem; font-weight: 600; color: var(--assay-soft); margin: 0; padding: 0; }
.assay-wait { display: grid; grid-template-columns: minmax(2.2ch, max-content) minmax(0, 1fr); gap: 12px;
  align-items: baseline; }
.assay-wait b { font-size: 1.15rem; font-weight: 600; text-align: right; font-variant-numeric: tabular-nums; }
.assay-wait span { overflow-wrap: anywhere; }
"""

SHOWN = 8
"""Studies of a project that are listed; the page Studies has all."""


def page() -> None:
    """Draw the page."""
    blocks.style()
    st.html(f"<style>{_STYLE}</style>")
    actor = ui.actor()
    projects = my_projects(ui.db(), actor)
    studies = my_studies(ui.db(), actor)
    disputed = disputes_for_me(ui.db(), actor)
    may_create = Roles(actor.is_admin, actor.default_role, {}).may_create_projects()
    with st.container(horizontal=True, vertical_alignment="center", key="home-top"):
        with st.container():
            ui.heading("Home", _greeting(actor, studies, disputed))
        if may_create and projects and st.button("New project", key="home-new-project"):
            _new_project_dialog()
    own = [row for row in projects if row.role is Role.RESEARCHER]
    led = {row.project_id for row in own}
    waiting = _waiting([row for row in studies if row.project_id not in led], disputed)
    waiting = _together(my_threads(ui.db(), actor)) or waiting
    waiting = _to_revise([row for row in projects if row.role is Role.REVISER]) or waiting
    for row in studies:
        if row.closed_to_me is not None and row.state == StudyState.RUNNING:
            _closed(row)
    if not projects and may_create:
        ui.empty("There is no project yet.", "Name one; then import documents, questions and answers into it.")
        _new_project(actor)
        return
    if not waiting and not own:
        _nothing(studies, projects)
    needs.dialog("home")
    waits = my_needs(ui.db(), actor, besides=("revision",))  # what is in revision has a row for all of a project
    found = [(row, next_steps.standing(row, studies)) for row in own]
    for project, standing in sorted(
        found, key=lambda of_project: of_project[1].labelled
    ):  # what is to be begun comes first
        with st.container(border=True, key=f"card-{project.project_id}"):
            _project(project, standing, disputed, waits)
    if may_create and actor.is_admin and not any(row.name == _sample() for row in projects):
        _sample_project(actor)


def _greeting(actor: Actor, studies: Sequence[StudyRow], disputed: Mapping[int, int]) -> str:
    left = sum(row.left_for_me for row in studies)
    parts = [wording.count(left, "item") + " to annotate"] if left else []
    decisions = wording.at_least(disputed.values(), "disputed item", most=MOST_COUNTED)
    parts += [f"{decisions} to adjudicate"] if disputed else []
    return f"{actor.name}: {', '.join(parts)}" if parts else actor.name


# What waits -----------------------------------------------------------------------------------------------------------


def _waiting(studies: Sequence[StudyRow], disputed: Mapping[int, int]) -> bool:
    """One row a study in which something waits for me; whether there was any."""
    found = False
    for row in studies:
        if row.waits_for_me:
            found = True
            _annotate(row)
    for row in studies:
        if n := disputed.get(row.study_id, 0):
            found = True
            _adjudicate(row, n)
    return found


def _together(rows: Sequence[ThreadRow]) -> bool:
    """Items that wait for me to say something to the others who labelled them; whether there are any."""
    waiting = [row for row in rows if row.waits]
    if waiting:
        names = ", ".join(dict.fromkeys(row.study for row in waiting))
        with _row("together"):
            st.html(
                f'<div class="assay-row"><div><strong>{wording.count(len(waiting), "item")} to resolve together'
                f'</strong><br><span class="assay-soft">{escape(names)}</span></div></div>'
            )
            ui.link("Look at the other labels", "my_work", key="together", primary=True)
    return bool(waiting)


def _to_revise(projects: Sequence[ProjectRow]) -> bool:
    """One row a project in which items wait for me as a reviser; whether there was any."""
    found = False
    for project in projects:
        if n := count_to_revise(ui.db(), ui.actor(), project.project_id):
            found = True
            with _row(f"revise-{project.project_id}"):
                st.html(
                    f'<div class="assay-row"><div><strong>{wording.at_least([n], "item", most=MOST)} to revise</strong>'
                    f'<br><span class="assay-soft">{escape(project.name)}</span></div></div>'
                )
                ui.link("Revise", "revise", primary=True, project=project.project_id)
    return found


def _annotate(row: StudyRow) -> None:
    returned = f'<span class="assay-tag">{row.returned} returned to you</span>' if row.returned else ""
    with _row(f"annotate-{row.study_id}"):
        _about(row, f"{row.done} of about {row.of} done", row.done / max(1, row.of), returned)
        label = "Continue" if row.done else "Start"
        ui.link(f"{label} annotating", "annotate", key="annotate", primary=True, study=row.study_id)


def _closed(row: StudyRow) -> None:
    """A study that is open to others, and why it is not to me."""
    with _row(f"closed-{row.study_id}"):
        why = {
            "failed": "Thank you for trying. Its qualification was not passed: the study is closed to you unless "
            "its researcher lets you in.",
            "declined": "You declined to take part. You are not asked again.",
        }[row.closed_to_me or "failed"]
        st.html(
            f'<div class="assay-row"><div><strong>{escape(row.name)}</strong> <span class="assay-soft">'
            f"{escape(row.project)}</span><br>{escape(why)}</div></div>"
        )


def _adjudicate(row: StudyRow, n: int) -> None:
    with _row(f"adjudicate-{row.study_id}"):
        _about(row, f"{wording.at_least([n], 'disputed item', most=MOST_COUNTED)} of {row.n_items:,}", None)
        ui.link("Adjudicate", "adjudicate", primary=True, study=row.study_id, project=row.project_id)


def _row(key: str) -> DeltaGenerator:
    return st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", border=True, key=f"row-{key}"
    )


def _about(row: StudyRow, progress: str, share: float | None, tag: str = "") -> None:
    bar = "" if share is None else f'<div class="assay-bar"><i style="width:{min(100, round(100 * share))}%"></i></div>'
    st.html(
        f'<div class="assay-row"><div><strong>{escape(row.name)}</strong> {tag}<br>'
        f'<span class="assay-soft">{escape(row.project)} · {escape(row.protocol)}</span></div>'
        f'<div class="assay-progress">{bar}<span class="assay-soft">{escape(progress)}</span></div></div>'
    )


def _nothing(studies: Sequence[StudyRow], projects: Sequence[ProjectRow]) -> None:
    if any(row.is_annotator for row in studies):
        ui.empty("Nothing waits for you.", "Everything that was yours to do is done. New items appear here.")
    elif projects and all(row.role is Role.VIEWER for row in projects):
        ui.empty("Nothing waits for you.", "You may look at everything in your projects: items, studies and results.")
        ui.link("Studies", "studies", key="home-look", primary=True)
    elif projects and all(row.role is Role.REVISER for row in projects):
        ui.empty("Nothing waits for you.", "Items that fail appear here, but for those that you judged or wrote.")
    else:
        ui.empty("Nothing waits for you.", "A researcher adds you to a study; it then appears here.")


# Projects of a researcher ---------------------------------------------------------------------------------------------


def _project(
    project: ProjectRow, found: Standing, disputed: Mapping[int, int], waits: Mapping[int, Sequence[Need]]
) -> None:
    new = not found.items and not found.studies
    tag = '<span class="assay-quiet-tag">new, empty</span> ' if new else ""
    about = "four steps to the first label" if new else found.in_words()
    st.html(
        f'<div class="assay-card-head"><h2>{escape(project.name)}</h2>{tag}'
        f'<span class="assay-soft">{escape(about)}</span></div>'
    )
    for row in reversed(found.studies):
        study = needs.StudyPlace(row.study_id, row.project_id, row.name)
        needs.draw(waits.get(row.study_id, ()), study, where="home", named=True)
    if not found.labelled:
        next_steps.draw(project, found)
        return
    left, right = st.columns([5, 2], gap="large")
    with left:
        _studies(project, found)
    with right:
        _for_me(project, found.studies, disputed, waits={row.study_id for row in found.studies} & set(waits))
    with st.container(horizontal=True, key=f"card-more-{project.project_id}"):
        for label, name, parameters in (
            ("Import…", "imports", {}),
            ("Add people…", "people", {}),
            ("New study…", "studies", {"new": 1}),
        ):
            if st.button(label, type="tertiary", key=f"card-{project.project_id}-{name}"):
                ui.go(name, project=project.project_id, **parameters)


def _studies(project: ProjectRow, found: Standing) -> None:
    """How each study stands, from counts that are kept: nothing here is measured anew at each look."""
    rows = list(reversed(found.studies))
    blocks.table(
        f"Studies of {project.name}",
        ("Study", "State", "Annotations", "Disputed"),
        [
            (
                blocks.Html(
                    blocks.to(row.name, "study", study=row.study_id, project=row.project_id).html
                    + f'<br><span class="assay-soft">{escape(row.protocol)}</span>',
                    row.name,
                ),
                blocks.tag(_state(row), quiet=True),
                blocks.bar(row.submitted / max(1, row.slots), f"{row.submitted:,} of {row.slots:,}"),
                f"{row.disputed:,}",
            )
            for row in rows[:SHOWN]
        ],
    )
    if len(rows) > SHOWN:
        ui.link(f"All {len(rows):,} studies", "studies", key="all-studies", project=project.project_id)


def _state(row: StudyRow) -> str:
    """Where a study is, in a word or two."""
    if row.state != StudyState.RUNNING:
        return row.state
    if not row.submitted:
        return "not begun"
    return "all labelled" if row.submitted >= row.slots else "running"


def _for_me(
    project: ProjectRow, studies: Sequence[StudyRow], disputed: Mapping[int, int], *, waits: Collection[int]
) -> None:
    """What waits for me in this project, each with its button; `waits` are the studies that need their researcher."""
    st.html('<h3 class="assay-small-head">Waiting for you</h3>')
    found = False
    for row in reversed(studies):
        decisions = disputed.get(row.study_id, 0)
        about = {"project": row.project_id, "study": row.study_id}
        if row.waits_for_me:
            found = True
            what = f"returned to you in {row.name}" if row.returned else f"to annotate in {row.name}"
            _wait(f"{row.returned or row.left_for_me:,}", what, "Annotate", "annotate", about, primary=not decisions)
        if decisions:
            found = True
            n_disputed = wording.at_least([decisions], most=MOST_COUNTED)
            _wait(n_disputed, f"disputed in {row.name}", "Adjudicate", "adjudicate", about, primary=True)
    if n := count_to_revise(ui.db(), ui.actor(), project.project_id):
        _wait(
            wording.at_least([n], most=MOST), "in revision", "Revise", "revise",
            {"project": project.project_id, "queue": 1}, primary=not found,
        )  # fmt: skip
        found = True
    if n := count_proposals(ui.db(), ui.actor(), project.project_id):
        what = f"{'revision' if n == 1 else 'revisions'} that an import proposes"
        _wait(f"{n:,}", what, "Answer", "imports", {"project": project.project_id}, primary=not found)
        found = True
    if not found:
        st.html(f'<p class="assay-soft">Nothing{" but what is above" if waits else ""}.</p>')
        outside = not any(row.is_annotator for row in studies)
        if outside and st.button("Annotate myself", key=f"card-{project.project_id}-annotate"):
            with ui.problems():
                next_steps.annotate_myself(project, studies)


def _wait(n: str, what: str, label: str, name: str, about: Mapping[str, int], *, primary: bool) -> None:
    key = f"{name}-{about.get('study', about['project'])}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"wait-{key}"):
        st.html(f'<div class="assay-wait"><b>{n}</b><span>{escape(what)}</span></div>')
        if st.button(label, type="primary" if primary else "secondary", key=f"waits-{key}", width=112):
            ui.go(name, **about)


# New projects ---------------------------------------------------------------------------------------------------------


def _new_project(actor: Actor) -> None:
    _project_form(actor, horizontal=True)
    if actor.is_admin:
        _sample_project(actor)


@st.dialog("New project")
def _new_project_dialog() -> None:
    _project_form(ui.actor(), horizontal=False)


def _project_form(actor: Actor, *, horizontal: bool) -> None:
    with st.form("new-project", border=False), st.container(horizontal=horizontal, vertical_alignment="bottom"):
        name = st.text_input("Name of the project", max_chars=100, key="new-project-name", required=True)
        pressed = st.form_submit_button("Create project", type="primary")
    if pressed:
        with ui.problems():
            project_id = create_project(ui.db(), actor, name)
            ui.go("home", project=project_id)


def _sample() -> str:
    from app.sample.project import PROJECT  # noqa: PLC0415 - its texts are large, and seldom wanted

    return PROJECT


def _sample_project(actor: Actor) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="home-sample"):
        st.html('<span class="assay-soft">No data at hand?</span>', width="content")
        pressed = st.button("Open the sample project", type="tertiary", key="home-open-sample")
    if not pressed:
        return
    from app.sample.project import make_sample_project  # noqa: PLC0415

    settings = app_state().settings
    with ui.problems():
        with st.spinner("Making the sample project: five documents, 56 items, some labels. It takes a few seconds"):
            make_sample_project(ui.db(), actor, settings.home / "sample", settings.documents_folder)
        made = next(row for row in my_projects(ui.db(), actor) if row.name == _sample())
        ui.go("home", project=made.project_id)
