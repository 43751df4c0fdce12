"""Who may have a project of another program as files."""

from __future__ import annotations

from collections.abc import Collection

from sqlmodel import col

from annotators.errors import NotAllowed
from db.elsewhere.handed_over import token_of
from db.engine import Database
from db.models import DataMark, Study
from db.people.uploads import imports_anywhere
from db.permissions import RESEARCHERS, Actor, On, operation, roles_of
from db.query import pick


@operation(On.APP, anyone_signed_in=True)
def check_may_fetch(db: Database, actor: Actor, *, tokens: Collection[str] = ()) -> None:
    """Raise NotAllowed unless this person may have a project of another program as files.

    Those may who import anywhere; a project whose tasks are of studies of ours, by the tokens of these, who may take
    back their labels.
    """
    with db.read() as session:
        if not imports_anywhere(session, actor.person_id):
            raise NotAllowed("Only researchers and administrators fetch projects. Ask one of them.")
        roles = roles_of(session, actor.person_id)
        marks = pick(Study.id, Study.name, Study.project_id, DataMark.secret).join(
            DataMark, col(DataMark.project_id) == Study.project_id
        )
        for study_id, name, project_id, secret in session.execute(marks) if tokens else ():
            if token_of(bytes.fromhex(secret), f"study:{study_id}") not in tokens:
                continue
            if roles.of(project_id) not in RESEARCHERS:
                raise NotAllowed(
                    f"That project is of the study {name!r}, whose labels {actor.name!r} may not take: its researchers "
                    "may."
                )
