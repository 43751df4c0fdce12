"""Where all items stand worked out anew, once, as the rule by which they stand has changed since they were settled."""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlmodel import Session, col, select

from db.allotting.settling import fill, update_settlements
from db.models import Study
from db.studies.design import protocol_of
from db.studies.tallies import Tallies

CHANGED_BY = "0015"
"""The revision since which what is open never passes, and imported annotations take slots."""

_LABELLED = text("SELECT study_item_id FROM settlement WHERE study_id = :study ORDER BY study_item_id")
_PLACES = text(
    "SELECT id FROM study_item WHERE study_id = :study AND purpose IN ('sample', 'recheck') ORDER BY position, id"
)


def settle_again(connection: Connection) -> None:
    """Settle every item of every study as its labels and decisions stand, and open and take away slots by that.

    In the caller's transaction, which brings the database up to date.
    """
    with Session(connection, expire_on_commit=False) as session:
        studies = list(session.scalars(select(Study).order_by(col(Study.id))))
        for study in studies:
            assert study.id is not None
            counts = Tallies(study.id)
            labelled = list(connection.execute(_LABELLED, {"study": study.id}).scalars())
            update_settlements(connection, study, protocol_of(study), labelled, counts)
            places = list(connection.execute(_PLACES, {"study": study.id}).scalars())
            fill(connection, study, places, counts)
            counts.write(connection)
