"""More annotations where people disagree: one more slot of an item at a time, up to the study's limit."""

from __future__ import annotations

from sqlalchemy import Connection, text

from db.annotating.assignments import add_slot
from db.models import SettlementState, Study
from db.studies.settlements import DISCARDED
from db.studies.tallies import Tallies

# What all annotators who were asked have submitted, and disagree on; `others`: somebody is left who could be asked.
_DISAGREED = text(
    "SELECT z.n_annotations, EXISTS (SELECT 1 FROM study_member m WHERE m.study_id = z.study_id "
    "AND m.left_at IS NULL AND m.left_out_from IS NULL AND m.paused_at IS NULL AND m.failed_at IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM assignment h WHERE h.study_item_id = z.study_item_id "
    "AND h.person_id = m.person_id)) AS others FROM settlement z WHERE z.study_item_id = :item "
    "AND z.state = 'pending' AND z.n_disputed > 0 "
    "AND z.n_annotations < :most AND z.n_annotations >= :overlap AND NOT EXISTS (SELECT 1 FROM assignment a "
    "WHERE a.study_item_id = z.study_item_id AND a.kind = 'slot' AND a.state IN ('open', 'leased', 'returned')) "
    f"AND NOT EXISTS (SELECT 1 FROM study_item x WHERE x.id = :item AND {DISCARDED.format(row='x')})"
)
_WANTS = text("UPDATE settlement SET wanted = :wanted WHERE study_item_id = :item")
_NOBODY_LEFT = text("UPDATE settlement SET state = 'disputed' WHERE study_item_id = :item")


def ask_one_more(connection: Connection, study: Study, study_item_id: int, counts: Tallies) -> None:
    """Open one more slot of an item whose annotators disagree, in the caller's transaction, which has settled it.

    Nothing where it has a slot that is not submitted, as many annotations as the study takes at most, or was rejected
    or withdrawn by hand. Where nobody is left who has not had it, it goes to an adjudicator.
    """
    if (most := study.settings.get("most_overlap")) is None:
        return
    asked = {"item": study_item_id, "most": most, "overlap": study.overlap}
    found = connection.execute(_DISAGREED, asked).first()
    if found is None:
        return
    if not found.others:
        connection.execute(_NOBODY_LEFT, {"item": study_item_id})
        counts.settle(SettlementState.PENDING, SettlementState.DISPUTED)
        return
    connection.execute(_WANTS, {"item": study_item_id, "wanted": found.n_annotations + 1})
    add_slot(connection, study, study_item_id, counts)
