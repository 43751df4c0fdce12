"""Who may send files to the server."""

from __future__ import annotations

from sqlmodel import Session

from annotators.errors import NotAllowed
from db.engine import Database
from db.permissions import RESEARCHERS, Actor, On, operation, roles_of


@operation(On.APP, anyone_signed_in=True)
def check_may_upload(db: Database, actor: Actor) -> None:
    """Raise NotAllowed unless this person imports anywhere: administrators, and researchers of some project.

    What a file is for is checked when it is used; this decides whether the server takes it at all.
    """
    with db.read() as session:
        if not imports_anywhere(session, actor.person_id):
            raise NotAllowed("Only researchers and administrators upload files. Ask one of them to import yours.")


def imports_anywhere(session: Session, person_id: int) -> bool:
    """Whether this person may import into some project."""
    roles = roles_of(session, person_id)
    return roles.may_create_projects() or any(role in RESEARCHERS for role in roles.memberships.values())
