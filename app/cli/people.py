"""`assay user …` and `assay member …`: accounts, and roles in a project."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from app.cli.base import (
    AsJson,
    Here,
    PersonName,
    ProjectName,
    command,
    group,
    opened,
    option,
    password_from_stdin,
    project_id_of,
)
from app.cli.output import emit, table

user = group("user", "People with an account: add, list, erase, let in.")
member = group("member", "Roles of people in a project.")

PasswordFromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input (one line).")
]
Role = Annotated[str | None, option("ROLE", "researcher, adjudicator, reviser, annotator or viewer.")]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    app.add_typer(user)
    app.add_typer(member)


@command(
    user,
    "add",
    "assay --home ./assay-home user add ada --role annotator",
    "printf '%s' \"$PASSWORD\" | assay --home ./assay-home user add grace --admin --password-stdin",
)
def add(
    context: typer.Context,
    *,
    name: PersonName,
    admin: Annotated[bool, typer.Option("--admin", help="Make them an administrator of everything.")] = False,
    role: Role = None,
    password_stdin: PasswordFromStdin = False,
    as_json: AsJson = False,
) -> None:
    """Add a person.

    --role is their role in every project that gives them no other. Without --password-stdin they come in by the
    one-time sign-in address that is printed, and can choose a password there.
    """
    from db.people.accounts import add_person

    with opened(context) as here:
        password = password_from_stdin() if password_stdin else None
        person_id = add_person(here.db, here.actor, name, password=password, admin=admin, default_role=role)
        address = None if password_stdin else sign_in_address(here, name)
        words = f"Added {name}." + (f" They sign in once at {address}" if address else "")
        document = {"person": name, "id": person_id, "admin": admin, "default_role": role, "sign_in": address}
        emit(document, words, as_json=as_json)


def sign_in_address(here: Here, name: str, base: str | None = None, *, at_once: bool = False) -> str:
    """An address that signs this person in once; `base` is the server's own address when it is known.

    One that is given to somebody asks for a click first, because the preview of a chat would use it up; `at_once` is
    for the person who reads it off this terminal.
    """
    from app.server.served import served_address
    from db.people.sign_in import one_time_sign_in

    minutes = here.settings.one_time_minutes
    token = one_time_sign_in(here.db, here.actor, name, lifetime=timedelta(minutes=minutes))
    return f"{base or served_address(here.settings)}/sign-in/{token}{'?now' if at_once else ''}"


@command(user, "list", "assay --home ./assay-home user list")
def list_everybody(context: typer.Context, as_json: AsJson = False) -> None:
    """List everybody with an account, with their roles."""
    from db.people.accounts import list_people

    with opened(context) as here:
        rows = list_people(here.db, here.actor)
        document = [
            {
                "person": row.name,
                "id": row.person_id,
                "admin": row.is_admin,
                "default_role": row.default_role,
                "has_password": row.has_password,
                "roles": row.roles,
            }
            for row in rows
        ]
        lines = (
            (
                row.name,
                row.is_admin,
                row.default_role,
                ", ".join(f"{project}: {role}" for project, role in row.roles.items()),
                row.has_password,
            )
            for row in rows
        )
        headers = ("name", "administrator", "default role", "roles in projects", "password")
        emit(document, lambda: table(headers, lines), as_json=as_json)


@command(user, "erase", "assay --home ./assay-home user erase ada")
def erase(context: typer.Context, name: PersonName, as_json: AsJson = False) -> None:
    """Erase a person: name, login, sessions and roles go, what they submitted stays under an opaque id."""
    from app.copies import forget_copies
    from db.people.accounts import erase_person

    with opened(context) as here:
        person_id = erase_person(here.db, here.actor, name)
        forget_copies(here.settings, here.db)
        words = f"Erased {name}. What they submitted stays under the id {person_id}."
        emit({"erased": name, "id": person_id}, words, as_json=as_json)


@command(user, "password", "printf '%s' \"$PASSWORD\" | assay --home ./assay-home user password ada --password-stdin")
def password(
    context: typer.Context, name: PersonName, password_stdin: PasswordFromStdin = False, as_json: AsJson = False
) -> None:
    """Give a person a new password; it signs them out everywhere."""
    from db.people.accounts import set_password

    if not password_stdin:
        raise typer.BadParameter("Give the password on standard input.", param_hint="--password-stdin")
    with opened(context) as here:
        set_password(here.db, here.actor, name, password=password_from_stdin())
        emit({"person": name}, f"{name} has a new password and is signed out everywhere.", as_json=as_json)


@command(user, "sign-in-address", "assay --home ./assay-home user sign-in-address ada")
def make_sign_in_address(context: typer.Context, name: PersonName, as_json: AsJson = False) -> None:
    """Print an address that signs a person in once; unused earlier ones stop working.

    It begins with the address of the server that runs on this home folder, else with the one it will have.
    """
    with opened(context) as here:
        address = sign_in_address(here, name)
        emit({"person": name, "sign_in": address}, address, as_json=as_json)


# Roles in a project ---------------------------------------------------------------------------------------------------


@command(member, "add", "assay --home ./assay-home member add finance ada --role annotator")
def add_member(
    context: typer.Context,
    project: ProjectName,
    name: PersonName,
    role: Annotated[str, option("ROLE", "researcher, adjudicator, reviser, annotator or viewer.")],
    as_json: AsJson = False,
) -> None:
    """Give a person a role in a project; it goes before their default role, and replaces one they had there."""
    from db.people.accounts import set_member

    with opened(context) as here:
        set_member(here.db, here.actor, project_id_of(here, project), name=name, role=role)
        document = {"project": project, "person": name, "role": role}
        emit(document, f"{name} is {role} in {project}.", as_json=as_json)


@command(member, "list", "assay --home ./assay-home member list finance")
def list_everybody_in(context: typer.Context, project: ProjectName, as_json: AsJson = False) -> None:
    """List who has which role in a project, and whether it is their default role."""
    from db.people.accounts import list_members

    with opened(context) as here:
        rows = list_members(here.db, here.actor, project_id_of(here, project))
        document = [{"person": row.name, "role": row.role, "by_default": not row.explicit} for row in rows]
        lines = ((row.name, row.role, not row.explicit) for row in rows)
        emit(document, lambda: table(("name", "role", "by default"), lines), as_json=as_json)


@command(member, "remove", "assay --home ./assay-home member remove finance ada")
def remove_member(context: typer.Context, project: ProjectName, name: PersonName, as_json: AsJson = False) -> None:
    """Take away a person's role in a project; a default role they have applies again."""
    from db.people.accounts import remove_member as remove

    with opened(context) as here:
        remove(here.db, here.actor, project_id_of(here, project), name=name)
        emit({"project": project, "removed": name}, f"{name} has no role of their own in {project}.", as_json=as_json)
