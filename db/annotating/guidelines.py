"""Who has read a study's guidelines: they open by themselves until an annotator says so, which is an event.

The server takes submissions without it. It is a matter of the page, which asks; labels that come through the command
line, or from a page that was open before a study was changed, are as good as ever.
"""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session, col, select

from annotators.designing.phases import CONSENT
from annotators.errors import Conflict
from db.annotating.assignments import member_of
from db.engine import Database
from db.models import Event, Study
from db.permissions import ANNOTATORS, Actor, On, operation, record
from db.phases.answers import check_items_are_open, standing_of

READ = "guidelines read"
"""The kind of the event."""


@operation(On.STUDY, ANNOTATORS)
def guidelines_read(db: Database, actor: Actor, study_id: int, *, protocol_hash: str) -> datetime:
    """Keep that this annotator has read the study's guidelines; when they first said so.

    `protocol_hash` is that of the protocol whose guidelines were on the screen. Said twice, it is one event. Raises
    Conflict when the study has another protocol, NotAllowed for somebody who is no annotator of the study.
    """
    with db.write() as session:
        member_of(session, study_id, actor.person_id, alone=True)  # two windows that say it at once make one event
        study = session.get_one(Study, study_id)
        standing = standing_of(session, study, actor.person_id)
        if standing is not None and (standing.declined or standing.before_items == CONSENT):
            check_items_are_open(session, study, actor.person_id)
        if protocol_hash != study.protocol_hash:
            raise Conflict("These are not the guidelines of this study any more. Reload the page to see its own.")
        known = readers(session, study, actor.person_id).get(actor.person_id)
        if known is not None:
            return known
        details = {
            "protocol": study.protocol_name,
            "version": study.protocol_version,
            "protocol_hash": study.protocol_hash,
        }
        record(session, actor, READ, "study", study_id, project_id=study.project_id, details=details)
        session.flush()
        return readers(session, study, actor.person_id)[actor.person_id]


def readers(session: Session, study: Study, person_id: int | None = None) -> dict[int, datetime]:
    """Person → when they said that they have read the guidelines which the study has now; with an id only that one."""
    # Since it was made: SQLite gives the ids of a deleted project out again.
    query = (
        select(Event)
        .where(
            Event.thing == "study", Event.thing_id == study.id, Event.kind == READ, col(Event.at) >= study.created_at
        )
        .order_by(col(Event.id).desc())
    )
    if person_id is not None:
        query = query.where(Event.person_id == person_id)
    return {
        event.person_id: event.at
        for event in session.exec(query)
        if event.person_id is not None and event.details.get("protocol_hash") == study.protocol_hash
    }
