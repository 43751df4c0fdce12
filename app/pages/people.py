"""People: who has an account, which role they have where, and how they come in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from html import escape

import streamlit as st

from app import ui, wording
from app.copies import forget_copies
from app.state import app_state
from app.widgets import blocks, copying, forms
from db.people import accounts as people
from db.people.accounts import PersonPlan, PersonRow
from db.people.sign_in import one_time_sign_in
from db.permissions import Actor, Role
from db.projects import ProjectRow, my_projects

ROLES = [None, *Role]
_ADDRESSES = "people-addresses"
"""The sign-in addresses that were made last, as (name, address), until their dialog is closed."""


def page() -> None:
    """Draw the page: the project's people for researchers, all accounts as well for administrators."""
    blocks.style()
    actor = ui.actor()
    ui.heading("People", "Accounts are for the whole installation; roles are for one project.")
    chosen = ui.choose_project(my_projects(ui.db(), actor))
    if not actor.is_admin:
        if chosen is None:
            ui.empty("You have no project.", "A researcher of a project, or an administrator, gives you a role.")
            return
        _of_project(actor, chosen)
    else:
        members, accounts = st.tabs([f"In {chosen.name}" if chosen else "In a project", "Accounts"])
        with members:
            if chosen is None:
                ui.empty("There is no project yet.", "Create one on the page Home; then add people to it.")
            else:
                _of_project(actor, chosen)
        with accounts:
            _accounts(actor)
    if st.session_state.get(_ADDRESSES):
        _addresses()


# In a project ---------------------------------------------------------------------------------------------------------


def _of_project(actor: Actor, project: ProjectRow) -> None:
    _add(actor, project)
    _members(actor, project)


def _add(actor: Actor, project: ProjectRow) -> None:
    """Several people at once, a line each: what is typed is looked at first, and kept until it is done."""
    st.subheader("Add people")
    with forms.kept("people", project.project_id, ("people-lines", "people-role")):
        left, right = st.columns([3, 2], gap="large")
        typed = left.text_area(
            "One a line: name, role",
            key="people-lines",
            height=118,
            placeholder="ada\nben, adjudicator\nchloe, researcher",
            help="The role may be left out. A name that has an account gets the role in this project.",
        )
        roles = list(Role)
        role = right.selectbox("Role of lines without one", roles, index=roles.index(Role.ANNOTATOR), key="people-role")
        right.caption(
            "Who is new gets an account and a sign-in address to send to them."
            if actor.is_admin
            else "Only an administrator makes accounts: name people who have one."
        )
        wanted = _lines(typed, role)
        plan = people.plan_people(ui.db(), actor, project.project_id, people=wanted)
        if plan:
            _previewed(plan)
        wrong = [person for person in plan if person.problem]
        with st.container(horizontal=True, vertical_alignment="center"):
            n = len(plan) - len(wrong)
            label = f"Add {wording.count(len(plan), 'person', 'people')}" if plan else "Add people"
            pressed = st.button(label, type="primary", key="people-add", disabled=not plan or bool(wrong))
            st.button("Preview", key="people-preview", help="Shows what would be made. Ctrl+Enter does as well.")
            if not plan:
                st.html('<span class="assay-soft">Needs names: type one a line, then Preview.</span>')
            elif wrong:
                lines = ", ".join(str(person.line) for person in wrong)
                st.html(
                    f'<span class="assay-need">Line{"s" * (len(wrong) > 1)} {escape(lines)} cannot be done; '
                    f"{n:,} of {len(plan):,} can. Correct or remove {'them' if len(wrong) > 1 else 'it'}.</span>"
                )
    if pressed:
        with ui.problems():
            new = people.add_people(ui.db(), actor, project.project_id, people=wanted)
            forms.forget("people", project.project_id)
            del st.session_state["people-lines"]
            if new:
                _offer(actor, new)
            st.rerun()


def _lines(typed: str, role: Role) -> list[tuple[int, str, str]]:
    """(line from 1, name, role) of every line that is not blank. What follows the last comma is the role."""
    found = []
    for number, line in enumerate(typed.splitlines(), 1):
        name, comma, given = line.rpartition(",")
        if line.strip():
            found.append((number, (name if comma else line).strip(), given.strip().lower() if comma else str(role)))
    return found


def _previewed(plan: Sequence[PersonPlan]) -> None:
    blocks.table(
        "What would be made",
        ("Line", "Name", "Role here", "What happens"),
        [
            (person.line, person.name, person.role, blocks.odd(person.problem) if person.problem else _does(person))
            for person in plan
        ],
    )


def _does(person: PersonPlan) -> str:
    if person.is_new:
        return "new account, with a sign-in address"
    if person.before is None:
        return "has an account; gets the role"
    return "has this role already" if person.before == person.role else f"has an account; was {person.before}"


def _members(actor: Actor, project: ProjectRow) -> None:
    members = people.list_members(ui.db(), actor, project.project_id)
    st.subheader(f"People of {ui.plain(project.name)}")
    if not members:
        ui.empty("Nobody has a role in this project.", "Add people above. Administrators may do everything anyway.")
        return
    ui.table(
        f"People with a role in {project.name}",
        ("Name", "Role", "From"),
        [(row.name, row.role, "this project" if row.explicit else "their default role") for row in members],
        name=f"people-{project.project_id}",
    )
    explicit = [row.name for row in members if row.explicit]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if actor.is_admin:
            name = st.selectbox("Sign-in address of", [row.name for row in members], index=None, key="people-lost")
            if st.button("New sign-in address", disabled=name is None, key="people-new-address") and name:
                with ui.problems():
                    _offer(actor, [name])
                    st.rerun()
    if explicit:
        with st.form("remove-member"), st.container(horizontal=True, vertical_alignment="bottom"):
            leaving = st.selectbox("Take a role away from", explicit, index=None)
            if st.form_submit_button("Take away") and leaving:
                with ui.problems():
                    people.remove_member(ui.db(), actor, project.project_id, name=leaving)
                    st.rerun()


# Sign-in addresses ----------------------------------------------------------------------------------------------------


def _offer(actor: Actor, names: Sequence[str]) -> None:
    """Make these people's addresses and keep them for the dialog."""
    st.session_state[_ADDRESSES] = [(name, _address(actor, name)) for name in names]


def _address(actor: Actor, name: str) -> str:
    settings = app_state().settings
    token = one_time_sign_in(ui.db(), actor, name, lifetime=timedelta(minutes=settings.one_time_minutes))
    return f"{ui.base_url()}/sign-in/{token}"


def _close() -> None:
    st.session_state.pop(_ADDRESSES, None)


@st.dialog("Sign-in addresses", width="large", on_dismiss=_close)
def _addresses() -> None:
    """The addresses, until they are closed: they are not kept anywhere else."""
    rows: list[tuple[str, str]] = st.session_state.get(_ADDRESSES, [])
    hours = f"{app_state().settings.one_time_minutes / 60:g}"
    whom = f"Send it to {rows[0][0]}" if len(rows) == 1 else "Send each person their own"
    st.write(ui.plain(f"{whom}. An address works once, within {hours} hours, and cannot be shown again."))
    copying.addresses(rows, key="people-copy")
    if st.button("Done", key="people-done"):
        _close()
        st.rerun()


# Accounts -------------------------------------------------------------------------------------------------------------


def _accounts(actor: Actor) -> None:
    rows = people.list_people(ui.db(), actor)
    ui.table(
        "People with an account",
        ("Name", "Administrator", "Default role", "Roles in projects", "Password", "Since"),
        [
            (
                row.name,
                "yes" if row.is_admin else "",
                row.default_role or "",
                ", ".join(f"{project}: {role}" for project, role in row.roles.items()),
                "set" if row.has_password else "none yet",
                ui.when(row.created_at),
            )
            for row in rows
        ],
    )
    _change(actor, rows)


def _change(actor: Actor, rows: list[PersonRow]) -> None:
    st.subheader("Change a person")
    note = st.session_state.pop("people-note", None)
    if note is not None:
        st.success(f"{ui.plain(note)}: done.")
    by_name = {row.name: row for row in rows}
    name = st.selectbox("Person", list(by_name), key="people-person")
    row = by_name[name]
    with st.form(f"change-{row.person_id}"):
        role = st.selectbox(
            "Default role in every project", ROLES, ROLES.index(row.default_role), format_func=_role_name
        )
        admin = st.checkbox("Administrator", row.is_admin)
        if st.form_submit_button("Save"):
            with ui.problems():
                people.set_person(ui.db(), actor, name, admin=admin, default_role=role)
                _done(name)
    with st.container(horizontal=True):
        if st.button("One-time sign-in address"):
            with ui.problems():
                _offer(actor, [name])
                st.rerun()
        if st.button("Sign out everywhere", help="Ends their sessions and spoils an unused one-time address."):
            with ui.problems():
                people.revoke_sessions(ui.db(), actor, name)
                _done(name)
        if st.button("Erase…"):
            _erase(actor, name)


@st.dialog("Erase a person")
def _erase(actor: Actor, name: str) -> None:
    st.write(
        f"This deletes the name and login of {ui.plain(name)} and ends their sessions. What they submitted stays, "
        "under a number. It cannot be undone."
    )
    typed = st.text_input("Type the name to confirm")
    if st.button("Erase", type="primary", disabled=typed != name):
        with ui.problems():
            people.erase_person(ui.db(), actor, name)
            forget_copies(app_state().settings, ui.db())
            _done(name)


def _done(name: str) -> None:
    st.session_state["people-note"] = name
    st.rerun()


def _role_name(role: Role | None) -> str:
    return role or "none"
