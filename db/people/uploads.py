"""Who may send files to the server."""

from __future__ import annotations

from sqlmodel import col, select

from annotators.errors import NotAllowed
from db.engine import Database
from db.models import Membership, Person
from db.permissions import RESEARCHERS, Actor, On, operation


@operation(On.APP, anyone_signed_in=True)
def check_may_upload(db: Database, actor: Actor) -> None:
    """Raise NotAllowed unless this person imports anywhere: administrators, and researchers of some project.

    What a file is for is checked when it is used; this decides whether the server takes it at all.
    """
    with db.read() as session:
        person = session.get_one(Person, actor.person_id)
        if person.is_admin or person.default_role in RESEARCHERS:
            return
        member = select(Membership.project_id).where(
            Membership.person_id == actor.person_id, col(Membership.role).in_(RESEARCHERS)
        )
        if session.exec(member.limit(1)).first() is None:
            raise NotAllowed("Only researchers and administrators upload files. Ask one of them to import yours.")
