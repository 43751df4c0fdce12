"""What may be shown to whom: the check behind every page image, every search on pages, and every phrase found there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, bindparam
from sqlalchemy import select as sql_select
from sqlmodel import Session

from annotators.errors import NotFound
from annotators.items.item import ItemEvidence, image_side
from annotators.protocols import Material, Protocol
from db.annotating.presentations import Materials, Wire, evidence_at, load_materials, materials_at, next_step
from db.engine import Database
from db.items.current import is_published
from db.items.rows import StoredDocument
from db.models import (
    Assignment,
    AssignmentState,
    Document,
    Evidence,
    Image,
    ItemDocument,
    ItemVersion,
    Membership,
    Person,
    RevisionLease,
    Study,
    StudyItem,
    UtcTime,
    now,
)
from db.permissions import IN_STUDIES, READERS, Actor, On, Role, held_role, operation, role_in
from db.query import table_of
from db.studies.design import asks_of, protocol_of
from db.studies.places import SEES_OWN, may_see_own

_ASSIGNMENT, _STUDY, _STUDY_ITEM = table_of(Assignment), table_of(Study), table_of(StudyItem)
_DOCUMENT, _EVIDENCE, _IMAGE, _ITEM_DOCUMENT = (table_of(table) for table in (Document, Evidence, Image, ItemDocument))
_PERSON, _MEMBERSHIP = table_of(Person), table_of(Membership)
_LEASE, _VERSION = table_of(RevisionLease), table_of(ItemVersion)

_AT_HAND = (AssignmentState.LEASED, AssignmentState.RETURNED)
_HAD = (AssignmentState.SUBMITTED, AssignmentState.SURPLUS, AssignmentState.EXPIRED)


@dataclass(frozen=True)
class PageSource:
    """A document's bytes: where they are known by their SHA-256, of what type, and in which project."""

    document_id: int
    sha256: str | None
    media_type: str | None
    n_pages: int | None
    key: str
    project_id: int


@dataclass(frozen=True)
class VisibleDocument:
    """A document and the pages of it (from 1) that the person may see now, in order."""

    source: PageSource
    pages: tuple[int, ...]


@dataclass(frozen=True)
class Passage:
    """The text of a unit of evidence, under the neutral name that the browser knows it by, and the pages it cites."""

    evidence: str
    text: str
    document_id: int | None
    pages: tuple[int, ...]


@dataclass(frozen=True)
class AssignmentReading:
    """What an assignment puts before its annotator at its present step, as far as it can be looked for on pages.

    answer is empty and references, documents or passages are, when the step does not show them. A reference is a text
    or a list of required phrases.
    """

    project_id: int
    answer: str
    references: tuple[str | list[str], ...]
    documents: tuple[VisibleDocument, ...]
    passages: tuple[Passage, ...]


@operation(On.APP, anyone_signed_in=True)
def may_see_page(db: Database, actor: Actor, *, document_id: int, page: int) -> PageSource:
    """The source of a page image, if this person may see that page now; NotFound otherwise.

    By role in the document's project; or by an assignment whose item is about the document, once the step that shows
    it has been reached, as long as they are an annotator of its study (`db.studies.places`). A person who may not see
    it is told no more than that it is not there.
    """
    with db.glance() as connection:
        source, by_role = _look(connection, actor, document_id)
        # What is at hand is a handful of rows and answers nearly every request; the past is asked only after it.
        if source is None or not (
            by_role
            or any(
                (seen := _disclosed(connection, actor.person_id, document_id, states)) is None or page in seen
                for states in (_AT_HAND, _HAD)
            )
        ):
            raise NotFound(f"There is no page {page} of document {document_id} that {actor.name!r} may see now.")
        return source


@operation(On.APP, anyone_signed_in=True)
def visible_document(db: Database, actor: Actor, *, document_id: int) -> VisibleDocument:
    """The pages of a document that this person may see now, as `may_see_page` decides; NotFound when there are none."""
    with db.glance() as connection:
        source, by_role = _look(connection, actor, document_id)
        refused = NotFound(f"There is no document {document_id} that {actor.name!r} may see now.")
        if source is None:
            raise refused
        if by_role:
            return VisibleDocument(source, _all_pages(source.n_pages))
        pages: set[int] = set()
        for states in (_AT_HAND, _HAD):
            seen = _disclosed(connection, actor.person_id, document_id, states)
            if seen is None:
                return VisibleDocument(source, _all_pages(source.n_pages))
            pages |= seen
        if not pages:
            raise refused
        return VisibleDocument(source, tuple(sorted(pages)))


@operation(On.STUDY, IN_STUDIES)
def reading(db: Database, actor: Actor, study_id: int, *, assignment_id: int) -> AssignmentReading:
    """What the present step of an assignment shows; NotFound unless it is the actor's own or the role shows all pages.

    One's own assignment shows what its step shows, whatever one's role: nobody is told before they have judged. To
    those who may see every page by their role, somebody else's shows what its last step does.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        assignment = session.get(Assignment, assignment_id)
        refused = NotFound(f"There is no assignment {assignment_id} of this study that {actor.name!r} may see now.")
        if assignment is None or assignment.study_id != study_id:
            raise refused
        protocol = protocol_of(study)
        if assignment.person_id == actor.person_id:
            if assignment.state not in (*_AT_HAND, *_HAD) or not may_see_own(session, study_id, actor.person_id):
                raise refused
            asks = asks_of(session.connection(), study, assignment.study_item_id)
            _, step = next_step(assignment, protocol, asks)
        else:
            if role_in(session, actor.person_id, study.project_id) not in READERS:
                raise refused
            step = len(protocol.steps) - 1
        return reading_at(session, study, assignment.study_item_id, step)


def reading_at(session: Session, study: Study, study_item_id: int, step: int) -> AssignmentReading:
    """What a step (from 0) of an item of a study shows, to be looked for on pages."""
    protocol = protocol_of(study)
    # Everything is loaded, as the names of evidence follow from all of it; `_reading` takes what the step shows.
    everything = protocol.shown_at(len(protocol.steps) - 1)
    [materials] = load_materials(session, [study_item_id], everything, pairs=protocol.about_pairs).values()
    return _reading(study.project_id, protocol, materials_at(materials, protocol, step), step)


def _reading(project_id: int, protocol: Protocol, materials: Materials, step: int) -> AssignmentReading:
    shows, item, ids = protocol.shown_at(step), materials.item, materials.document_ids()
    cited: dict[str | None, set[int]] = {}
    passages = []
    if Material.EVIDENCE in shows:
        units = {unit.key: unit for unit in item.evidence}
        wire = Wire(item, roles_shown=Material.ROLES in shows)
        for number, unit in enumerate((units[key] for key in wire.evidence), 1):
            cited.setdefault(unit.document, set()).update(unit.pages)
            if unit.text:
                passages.append(Passage(f"E{number}", unit.text, ids.get(unit.document), unit.pages))
    if Material.IMAGES in shows:
        for image in item.images:
            cited.setdefault(image.document, set()).add(image.page)
    documents = []
    for document in materials.documents:
        whole = Material.DOCUMENTS in shows
        pages = _all_pages(document.n_pages) if whole else tuple(sorted(cited.get(document.key, ())))
        if pages:
            documents.append(VisibleDocument(_source(document, project_id), pages))
    return AssignmentReading(
        project_id,
        item.answer if Material.ANSWER in shows else "",
        item.references if Material.REFERENCES in shows else (),
        tuple(documents),
        tuple(passages),
    )


def _source(document: StoredDocument, project_id: int) -> PageSource:
    about = (document.sha256, document.media_type, document.n_pages, document.key)
    return PageSource(document.document_id, *about, project_id)


def _all_pages(n_pages: int | None) -> tuple[int, ...]:
    return tuple(range(1, (n_pages or 0) + 1))


def _reached(step: ColumnElement[Any]) -> ColumnElement[bool]:
    """The step of a study (None: there is none) has been reached in this sitting, or was in an earlier one."""
    return (step <= _ASSIGNMENT.c.steps_done) | ((_ASSIGNMENT.c.sitting > 1) & step.is_not(None))


def _of_assignments(part: Table, step: ColumnElement[Any], *columns: ColumnElement[Any]) -> Select[Any]:
    """Columns of those parts about a document that a person's assignments show once `step` is reached."""
    rows = _ASSIGNMENT.join(_STUDY_ITEM, _STUDY_ITEM.c.id == _ASSIGNMENT.c.study_item_id)
    rows = rows.join(_STUDY, _STUDY.c.id == _ASSIGNMENT.c.study_id)
    rows = rows.join(part, part.c.item_version_id.in_((_STUDY_ITEM.c.item_version_id, _STUDY_ITEM.c.other_version_id)))
    return (
        sql_select(*columns)
        .select_from(rows)
        .where(
            _ASSIGNMENT.c.person_id == bindparam("person"),
            _ASSIGNMENT.c.state.in_(bindparam("states", expanding=True)),
            part.c.document_id == bindparam("document"),
            _reached(step),
            SEES_OWN,
        )
    )


# Every page image asks these, so they are made once.
_ABOUT = _of_assignments(_ITEM_DOCUMENT, _STUDY.c.documents_step, _ASSIGNMENT.c.id).limit(1)
_STANDS = (
    *(_STUDY.c.id, _STUDY.c.protocol_hash, _ASSIGNMENT.c.steps_done),
    (_ASSIGNMENT.c.sitting > 1).label("all_steps"),
)
_CITED = _of_assignments(
    _EVIDENCE,
    _STUDY.c.evidence_step,
    *(_EVIDENCE.c.key, _EVIDENCE.c.pages, _EVIDENCE.c.item_version_id),
    *(_reached(_STUDY.c.documents_step).label("whole"), *_STANDS),
)
_PICTURED = _of_assignments(_IMAGE, _STUDY.c.images_step, _IMAGE.c.page, _IMAGE.c.extra, *_STANDS)
_BESIDE = (
    sql_select(*(_EVIDENCE.c[name] for name in ("key", "kind", "role", "rank")))
    .where(_EVIDENCE.c.item_version_id == bindparam("version"))
    .order_by(_EVIDENCE.c.position)
)
_STANDING = (
    sql_select(
        *(_DOCUMENT.c[name] for name in ("id", "sha256", "media_type", "n_pages", "key", "project_id")),
        _PERSON.c.is_admin,
        held_role().label("role"),
    )
    .select_from(
        _DOCUMENT.join(_PERSON, _PERSON.c.id == bindparam("person")).outerjoin(
            _MEMBERSHIP,
            (_MEMBERSHIP.c.project_id == _DOCUMENT.c.project_id) & (_MEMBERSHIP.c.person_id == _PERSON.c.id),
        )
    )
    .where(_DOCUMENT.c.id == bindparam("document"), is_published(_DOCUMENT.c.batch_id))
)


STILL_BEFORE_THEM = timedelta(hours=2)
"""How long after their lease a reviser who has not moved still sees the pages of an item that nobody else took."""

_LATER = _VERSION.alias("later")
_TO_REVISE = (
    sql_select(_LEASE.c.item_id)
    .select_from(
        _LEASE.join(_VERSION, _VERSION.c.item_id == _LEASE.c.item_id).join(
            _ITEM_DOCUMENT, _ITEM_DOCUMENT.c.item_version_id == _VERSION.c.id
        )
    )
    .where(
        _LEASE.c.person_id == bindparam("person"),
        _LEASE.c.lease_until > bindparam("since", type_=UtcTime()),
        _ITEM_DOCUMENT.c.document_id == bindparam("document"),
        ~sql_select(_LATER.c.id)
        .where(_LATER.c.item_id == _VERSION.c.item_id, _LATER.c.number > _VERSION.c.number)
        .exists(),
    )
    .limit(1)
)


def _look(connection: Connection, actor: Actor, document_id: int) -> tuple[PageSource | None, bool]:
    """The document, None if there is none, and whether the person's role in its project shows all of it.

    A reviser's shows the documents of the items that they have before them to revise.
    """
    found = connection.execute(_STANDING, {"person": actor.person_id, "document": document_id}).first()
    if found is None:
        return None, False
    source = PageSource(found.id, found.sha256, found.media_type, found.n_pages, found.key, found.project_id)
    if found.is_admin or found.role in READERS:
        return source, True
    if found.role != Role.REVISER:
        return source, False
    asked = {"person": actor.person_id, "document": document_id, "since": now() - STILL_BEFORE_THEM}
    return source, connection.execute(_TO_REVISE, asked).first() is not None


def _disclosed(
    connection: Connection, person_id: int, document_id: int, states: tuple[AssignmentState, ...]
) -> set[int] | None:
    """The pages that the person's assignments in these states disclose; None for the whole document."""
    asked = {"person": person_id, "document": document_id, "states": states}
    if connection.execute(_ABOUT, asked).first() is not None:
        return None
    seen: set[int] = set()
    for row in connection.execute(_CITED, asked).all():
        if row.whole:
            return None
        if _is_shown(connection, row):
            seen |= set(row.pages)
    for row in connection.execute(_PICTURED, asked):
        # An image is seen with the text that it belongs to: those of a reference answer not before the references.
        protocol = _frozen(connection, row.id, row.protocol_hash)
        step = protocol.first_step_with_parts(Material.IMAGES, image_side(row.extra))
        if step is not None and (row.all_steps or step <= row.steps_done):
            seen.add(row.page)
    return seen


def _is_shown(connection: Connection, cited: Row[Any]) -> bool:
    """Whether a unit of evidence is among those that are shown, where a protocol asks about some of them only."""
    protocol = _frozen(connection, cited.id, cited.protocol_hash)
    last = len(protocol.steps) - 1
    step = last if cited.all_steps else min(cited.steps_done, last)
    if protocol.evidence_choices(step) is None:
        return True
    beside = connection.execute(_BESIDE, {"version": cited.item_version_id})
    units = [ItemEvidence(unit.key, unit.kind, unit.role, rank=unit.rank) for unit in beside]
    return any(unit.key == cited.key for unit in evidence_at(units, protocol, step))


_FROZEN: dict[str, Protocol] = {}
_KEPT_PROTOCOLS = 200
_SNAPSHOT = sql_select(_STUDY.c.protocol).where(_STUDY.c.id == bindparam("study"))


def _frozen(connection: Connection, study_id: int, protocol_hash: str) -> Protocol:
    """The protocol of a study, kept by its hash."""
    if protocol_hash not in _FROZEN:
        if len(_FROZEN) >= _KEPT_PROTOCOLS:
            _FROZEN.clear()
        _FROZEN[protocol_hash] = Protocol.model_validate(
            connection.execute(_SNAPSHOT, {"study": study_id}).scalar_one()
        )
    return _FROZEN[protocol_hash]
