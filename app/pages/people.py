"""People: who has an account, which role they have where, and how they come in."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from app import ui
from app.state import app_state
from db import people
from db.people import PersonRow
from db.permissions import Actor, Role
from db.projects import ProjectRow, my_projects
from db.sign_in import one_time_sign_in

ROLES = [None, *Role]


def page() -> None:
    """Draw the page: the project's members for researchers, all accounts as well for administrators."""
    actor = ui.actor()
    ui.heading("People", "Accounts are for the whole installation; roles are for one project.")
    chosen = ui.choose_project(my_projects(ui.db(), actor))
    if not actor.is_admin:
        if chosen is None:
            ui.empty("You have no project.", "A researcher of a project, or an administrator, gives you a role.")
            return
        _members(actor, chosen)
        return
    accounts, members = st.tabs(["Accounts", f"Roles in {chosen.name}" if chosen else "Roles"])
    with accounts:
        _accounts(actor)
    with members:
        if chosen is None:
            ui.empty("There is no project yet.", "Create one on the page Home; then give people roles in it.")
        else:
            _members(actor, chosen)


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
    add, change = st.columns(2, gap="large")
    with add:
        _add(actor)
    with change:
        _change(actor, rows)


def _add(actor: Actor) -> None:
    st.subheader("Add a person")
    with st.form("add-person", clear_on_submit=True):
        name = st.text_input("Name", max_chars=people.MAX_NAME, help="What they type to sign in.")
        role = st.selectbox("Default role in every project", ROLES, format_func=_role_name)
        admin = st.checkbox("Administrator")
        password = st.text_input(
            "Password", type="password", help="Leave it empty to get a one-time sign-in address to send to them."
        )
        if st.form_submit_button("Add", type="primary"):
            with ui.problems():
                people.add_person(ui.db(), actor, name, password=password or None, admin=admin, default_role=role)
                st.session_state["people-note"] = (name.strip(), None if password else _address(actor, name.strip()))
                st.rerun()
    _note()


def _note() -> None:
    """What the last form did: shown once, because a one-time address is not kept."""
    note = st.session_state.pop("people-note", None)
    if note is None:
        return
    name, address = note
    if address is None:
        st.success(f"{ui.plain(name)}: done.")
        return
    st.success(
        f"Send this address to {ui.plain(name)}. It works once, within "
        f"{app_state().settings.one_time_minutes // 60} hours, and is not shown again."
    )
    st.code(address, language=None, wrap_lines=True)


def _change(actor: Actor, rows: list[PersonRow]) -> None:
    st.subheader("Change a person")
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
                _done(name, _address(actor, name))
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
            _done(name)


def _done(name: str, address: str | None = None) -> None:
    st.session_state["people-note"] = (name, address)
    st.rerun()


def _address(actor: Actor, name: str) -> str:
    settings = app_state().settings
    token = one_time_sign_in(ui.db(), actor, name, lifetime=timedelta(minutes=settings.one_time_minutes))
    return f"{ui.base_url()}/sign-in/{token}"


def _role_name(role: Role | None) -> str:
    return role or "none"


# Roles in a project ---------------------------------------------------------------------------------------------------


def _members(actor: Actor, project: ProjectRow) -> None:
    members = people.list_members(ui.db(), actor, project.project_id)
    if members:
        ui.table(
            f"People with a role in {project.name}",
            ("Name", "Role", "From"),
            [(row.name, row.role, "this project" if row.explicit else "their default role") for row in members],
            name=f"people-{project.project_id}",
        )
    else:
        ui.empty("Nobody has a role in this project.", "Give somebody one below.")
    st.subheader("Give a role")
    with st.form("set-member", clear_on_submit=True), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Person", people.list_names(ui.db(), actor, project.project_id), index=None)
        role = st.selectbox("Role", list(Role), index=list(Role).index(Role.ANNOTATOR))
        if st.form_submit_button("Give", type="primary") and name and role:
            with ui.problems():
                people.set_member(ui.db(), actor, project.project_id, name=name, role=role)
                st.rerun()
    explicit = [row.name for row in members if row.explicit]
    if explicit:
        with st.form("remove-member"), st.container(horizontal=True, vertical_alignment="bottom"):
            leaving = st.selectbox("Take a role away from", explicit, index=None)
            if st.form_submit_button("Take away") and leaving:
                with ui.problems():
                    people.remove_member(ui.db(), actor, project.project_id, name=leaving)
                    st.rerun()
