"""The pages that annotators will look at next: the first one of every item that is at hand, or next in the queue."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import Connection, bindparam, func
from sqlalchemy import select as sql_select
from sqlmodel import Session

from annotators.items.sampling import OWN
from annotators.protocols import Material
from db.annotating.assignments import AHEAD
from db.annotating.presentations import Materials, Wire, load_materials, materials_at
from db.engine import Database
from db.models import Assignment, AssignmentState, Study, StudyMember, StudyState, Tally
from db.query import table_of
from db.studies.design import frozen_study, protocol_of, turns_begin
from db.studies.tallies import EVERYBODY

MOST = 400
"""Items of a study that are looked at."""

_SLOT, _MEMBER, _STUDY, _TALLY = (table_of(table).c for table in (Assignment, StudyMember, Study, Tally))
_UNDER_WAY = sql_select(_TALLY.n).where(
    _TALLY.study_id == _STUDY.id,
    _TALLY.person_id == EVERYBODY,
    _TALLY.state.in_((AssignmentState.OPEN, AssignmentState.LEASED)),
    _TALLY.n > 0,
)
_STUDIES = (
    sql_select(_STUDY.id, _STUDY.created_at, _STUDY.protocol_hash, _STUDY.sample_hash, _STUDY.amended)
    .where(
        _STUDY.state == StudyState.RUNNING,
        _STUDY.evidence_step.is_not(None) | _STUDY.documents_step.is_not(None),
        _UNDER_WAY.exists(),
    )
    .order_by(_STUDY.id)
)
_AT_HAND = sql_select(_SLOT.study_item_id).where(
    _SLOT.study_id == bindparam("study"), _SLOT.state == AssignmentState.LEASED
)
_TURNS = sql_select(_MEMBER.person_id, _MEMBER.cursor).where(_MEMBER.study_id == bindparam("study"))
_CURSORS = (
    sql_select(_MEMBER.cursor, func.count()).where(_MEMBER.study_id == bindparam("study")).group_by(_MEMBER.cursor)
)
_NEXT = (
    sql_select(_SLOT.study_item_id)
    .where(
        _SLOT.study_id == bindparam("study"),
        _SLOT.state == AssignmentState.OPEN,
        _SLOT.queue > bindparam("cursor"),
    )
    .order_by(_SLOT.queue)
    .limit(bindparam("most"))
)


StudyItemKey = tuple[int, int]
"""The ids of a study and of an item of it."""


@dataclass(frozen=True)
class QueuedPage:
    """A page to be drawn: a document by its SHA-256, the page from 1."""

    sha256: str
    media_type: str
    page: int


def queued_pages(db: Database, *, known: Container[StudyItemKey] = ()) -> dict[StudyItemKey, QueuedPage | None]:
    """Item that somebody is about to open → the page it begins with, None if it has none; without those `known`.

    Of those who stand at one place in the queue each one gets slots of their own: as many as there are of them come
    next. It is asked by the server itself, which shows nobody anything by it.
    """
    found: dict[StudyItemKey, QueuedPage | None] = {}
    with db.read() as session:
        for study_id, created_at, protocol, sample, amended in session.connection().execute(_STUDIES).all():
            study = frozen_study(session, study_id, created_at, frozen=(protocol, sample), amended=amended)
            items = [item for item in _next_items(session.connection(), study) if (study_id, item) not in known]
            if items:
                found |= _first_pages(session, study, items[:MOST])
    return found


def _next_items(connection: Connection, study: Study) -> Iterable[int]:
    about = {"study": study.id}
    items = dict.fromkeys(connection.execute(_AT_HAND, about).scalars())
    places: list[tuple[int, int]]  # in the queue, and how many slots behind each are wanted next
    if study.item_order == OWN:
        turns = connection.execute(_TURNS, about).all()
        begin = (turns_begin(study, who, last + turn) for who, last in turns for turn in range(1, 2 + AHEAD))
        places = [(place - 1, 1) for place in islice(begin, MOST)]
    else:
        cursors = connection.execute(_CURSORS, about).all()
        places = [(cursor, min(MOST, members * (1 + AHEAD))) for cursor, members in cursors]
    for cursor, most in places:
        items |= dict.fromkeys(connection.execute(_NEXT, about | {"cursor": cursor, "most": most}).scalars())
    return items


def _first_pages(session: Session, study: Study, items: Sequence[int]) -> dict[StudyItemKey, QueuedPage | None]:
    """The page that the browser opens of each item, at the first step that shows pages."""
    protocol = protocol_of(study)
    step = protocol.first_step_showing(Material.EVIDENCE, Material.DOCUMENTS) or 0
    roles_shown = Material.ROLES in protocol.shown_at(step)
    found: dict[StudyItemKey, QueuedPage | None] = {}
    for study_item_id, loaded in load_materials(
        session, items, {Material.EVIDENCE, Material.DOCUMENTS}, pairs=protocol.about_pairs
    ).items():
        materials = materials_at(loaded, protocol, step)
        wire = Wire(materials.item, roles_shown=roles_shown)
        found[study.id or 0, study_item_id] = _first_page(materials, wire)
    return found


def _first_page(materials: Materials, wire: Wire) -> QueuedPage | None:
    """The first page that a unit of evidence cites, else that of the first document, as far as its bytes are there."""
    sources = {
        document.key: (document.sha256, document.media_type)
        for document in materials.documents
        if document.sha256 and document.media_type
    }
    units = {unit.key: unit for unit in materials.item.evidence}
    cited = [(unit.document, unit.pages[0]) for key in wire.evidence if (unit := units[key]).pages]
    for document, page in [*cited, *((key, 1) for key in sources)]:
        if document in sources:
            return QueuedPage(*sources[document], page)
    return None
